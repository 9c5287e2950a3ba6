#!/usr/bin/perl
# gen_scripts.pl: prints vm/regex/regex_scripts.h, the table of Unicode scripts, from the Unicode data
# that comes with perl. Run: perl tools/build/gen_scripts.pl > vm/regex/regex_scripts.h
#
# One 32-bit word per run of code points with the same script: start << 8 | index of the script in
# the list of names. A run ends where the next one starts.
use strict;
use warnings;
use Unicode::UCD qw(prop_invmap prop_value_aliases);

my ($starts, $names) = prop_invmap("Script");

# What version 15 added, for a perl that is older; without effect on a newer one.
my @later = (
    [0x11F00, 0x11F10, "Kawi", "Kawi"], [0x11F12, 0x11F3A, "Kawi", "Kawi"],
    [0x11F3E, 0x11F59, "Kawi", "Kawi"], [0x1E4D0, 0x1E4F9, "Nag_Mundari", "Nagm"],
    [0x31350, 0x323AF, "Han", "Hani"],
);
my %later_short;
for my $add (@later) {
    my ($lo, $hi, $name, $short) = @$add;
    my $i = 0;
    $i++ while $i < $#$starts && $starts->[$i + 1] <= $lo;
    next if $names->[$i] ne "Unknown";
    my $end = $i < $#$starts ? $starts->[$i + 1] : 0x110000;
    die "not a gap" if $end <= $hi;
    my @s = ($lo);
    my @n = ($name);
    if ($hi + 1 < $end) { push @s, $hi + 1; push @n, "Unknown"; }
    if ($starts->[$i] == $lo) { splice @$starts, $i, 1, @s; splice @$names, $i, 1, @n; }
    else { splice @$starts, $i + 1, 0, @s; splice @$names, $i + 1, 0, @n; }
    $later_short{$name} = $short;
}
my %seen;
$seen{$_} = 1 for @$names;
my @list = sort keys %seen;
die "an index has eight bits" if @list > 256;
my %ix = map { $list[$_] => $_ } 0 .. $#list;

print "/* regex_scripts.h: Unicode scripts, version 15, or later where perl's data (here " . Unicode::UCD::UnicodeVersion() . ")\n * is. Made by tools/build/gen_scripts.pl; do not edit. Each name has its\n * short alias beside it; a run is start << 8 | index of name. */\n";
print "#ifndef MWL_REGEX_SCRIPTS_H\n#define MWL_REGEX_SCRIPTS_H\n\n#include <stdint.h>\n\n";
print "#define MWL__N_SCRIPTS " . scalar(@list) . "\n\n";
print "static const char *const script_names[MWL__N_SCRIPTS][2] = {\n";
for my $name (@list) {
    my @alias = prop_value_aliases("Script", $name);
    my $short = @alias ? $alias[0] : $later_short{$name};
    print "    {\"$name\", \"$short\"},\n";
}
print "};\n\nstatic const uint32_t script_runs[] = {\n";
my $line = "   ";
for my $i (0 .. $#$starts) {
    my $word = sprintf(" 0x%x,", $starts->[$i] << 8 | $ix{$names->[$i]});
    if (length($line) + length($word) > 100) {
        print "$line\n";
        $line = "   ";
    }
    $line .= $word;
}
print "$line\n};\n\n#endif\n";
