#!/usr/bin/env python3
"""unicode.py: the tables that tools/build/gen_unicode.py has written agree with the data that Python has of Unicode.

Compared are the characters that both versions of Unicode know. Some characters were moved between versions; a table must
not have more of them than a few.
"""
import os
import re
import sys
import unicodedata

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
CATEGORIES = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co".split()
MOVED = 10  # characters whose data another version of Unicode has changed, at most
BIDI = ["R AL", "AN", "L", "EN", "ES CS ET ON BN"]
problems = []


def text_of(path):
    return open(os.path.join(ROOT, path)).read()


def values_of(path, name):
    """A table of runs as a list with a value for each code point."""
    numbers = re.search(r"\b%s\[\d+\] = \{(.*?)\}" % name, text_of(path), re.S).group(1)
    runs = [int(word, 16) for word in re.findall(r"0x[0-9a-f]+", numbers)]
    values = []
    for run, following in zip(runs, runs[1:] + [0x110000 << 8]):
        values += [run & 0xFF] * ((following >> 8) - max(run >> 8, len(values)))
    first = runs[0] >> 8
    return [None] * first + values


def compare(what, known, is_so):
    wrong = [c for c in known if not is_so(c)]
    if len(wrong) > MOVED:
        problems.append(f"{what}: {len(wrong)} characters, {', '.join(f'U+{c:04X}' for c in wrong[:20])}")


def check_categories():
    ours = values_of("vm/regex/regex_unicode.h", "unicode_runs")
    if len(ours) != 0x110000:
        problems.append(f"unicode_runs has {len(ours)} characters")
    known = [c for c in range(0x110000) if unicodedata.category(chr(c)) != "Cn" and ours[c] != 0]
    compare("categories", known, lambda c: CATEGORIES[ours[c]] == unicodedata.category(chr(c)))
    return known


def check_cases(known):
    moves = {}
    rows = re.findall(r"\{(0x[0-9a-f]+), (0x[0-9a-f]+), (\d+), (-?\d+), (-?\d+), (-?\d+)\}", text_of("vm/regex/regex_unicode.h"))
    for first, last, step, *by in rows:
        for c in range(int(first, 16), int(last, 16) + 1, int(step)):
            moves[c] = [c + int(n) for n in by]

    def is_so(c):
        ours = moves.get(c, [c, c, c])
        theirs = (chr(c).lower(), chr(c).upper(), chr(c).title())  # longer ones are not simple mappings
        return all(len(text) > 1 or ord(text) == n for text, n in zip(theirs, ours))
    compare("case mappings", known, is_so)


def check_columns(known):
    ours = values_of("vm/base/columns_table.h", "columns_runs")
    zero, wide = ("Mn", "Me", "Cc", "Zl", "Zp"), ("W", "F")
    compare("wide characters", [c for c in known if unicodedata.east_asian_width(chr(c)) in wide and ours[c] != 0],
            lambda c: ours[c] == 2)
    compare("narrow characters", [c for c in known if unicodedata.east_asian_width(chr(c)) in ("Na", "H")
                                  and unicodedata.category(chr(c)) not in zero], lambda c: ours[c] in (0, 1))
    compare("what is not drawn", [c for c in known if unicodedata.category(chr(c)) in zero], lambda c: ours[c] == 0)


def check_bidi(known):
    ours = values_of("vm/schema/format_bidi.h", "bidi_runs")
    letters = [c for c in known if c >= 0x80 and unicodedata.category(chr(c)) in ("Ll", "Lm", "Lo", "Mc", "Nd")]
    compare("Bidi classes", letters, lambda c: unicodedata.bidirectional(chr(c)) in BIDI[ours[c]].split())


known = check_categories()
check_cases(known)
check_columns(known)
check_bidi(known)
for problem in problems:
    print("FAIL", problem)
print(f"{len(known)} characters, {len(problems)} problems")
sys.exit(1 if problems or len(known) < 100000 else 0)
