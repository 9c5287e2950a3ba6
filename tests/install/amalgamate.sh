#!/bin/sh
# amalgamate.sh FOLDER SUITE [MINICORO]: the library as one file. FOLDER/mwl.c compiles without a warning with every
# compiler that is there, also with parts left out; README.md's commands and host work as they stand; each header that a host
# includes stands alone in C and C++. SUITE, which was built with that file, passes the cases of this project, and outside
# suites where they are. MINICORO, a minicoro.h, is a part of mwl.c, and a host that clang compiles has its own copy beside
# it; host_minicoro_one is the same by the compiler of the build.
set -eu
one=$1
suite=$2
minicoro=${3:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
cflags=$(pkg-config --cflags libxxhash libpcre2-8 libidn2 2>/dev/null || true)

# Reading the indentation takes gcc seconds in a file of this length; each source file is checked for it when it is compiled.
warnings="-std=c11 -Wall -Wextra -Werror -Wno-misleading-indentation"
# The build has compiled the file with -O2 and these warnings, by its own compiler. The others read it; with
# AMALGAMATE_LONG each compiles it, because some warnings come from the optimiser.
how=${AMALGAMATE_LONG:+-O2 -O3}
for cc in gcc clang "g++ -x c"; do
    command -v "${cc%% *}" >/dev/null 2>&1 || { echo "no ${cc%% *} here: not compiled by it"; continue; }
    for level in ${how:--fsyntax-only}; do
        # shellcheck disable=SC2086  # the flags are words
        $cc $warnings $level $cflags -c "$one/mwl.c" -o "$one/mwl.o"
        echo "$cc $level: no warning"
    done
done
rm -f "$one/mwl.o"
# README.md's commands and its host as they stand, in an empty folder. Only where tools/ is differs.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$root/tools" "$work/tools"
awk '/^```/ { on = $0 == "```c"; next } on' README.md >"$work/host.c"
sed -n 's/^    \(tools\/build\/amalgamate one\|cc host.c one\)/\1/p' README.md >"$work/steps.sh"
[ "$(wc -l <"$work/steps.sh")" = 2 ] || { echo "README.md does not show how the one file is made and compiled"; exit 1; }
(cd "$work" && sh -eu steps.sh)
[ "$("$work/host")" = 42 ] || { echo "the host of README.md with the one file prints something else"; exit 1; }
# With the parts that README.md leaves out, mwl.c needs nothing but the C library: no other header, and no warning.
parts=$(grep -o -e '-DMWL_[A-Z0-9]*=0' "$work/steps.sh")
# shellcheck disable=SC2086
cc $warnings $parts -H -fsyntax-only "$one/mwl.c" 2>"$work/read" || { cat "$work/read"; exit 1; }
if grep -E '/(xxh|pcre2|idn2|minicoro|ucontext)[a-z0-9_]*\.h$' "$work/read"; then
    echo "the one file still asks for these headers"
    exit 1
fi
# Each public header beside it stands alone.
for header in vm/mwl*.h assembler/mwl*.h stdlib/mwl*.h; do
    alone="#include <$(basename "$header")>
extern int something;"
    echo "$alone" | cc -x c -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$one" -
    if command -v c++ >/dev/null 2>&1; then
        echo "$alone" | c++ -x c++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only -I"$one" -
    fi
done
if [ -n "$minicoro" ] && command -v clang >/dev/null 2>&1; then
    clang -std=gnu11 -O0 -w -DMWL_PCRE2=0 -DMWL_IDN=0 -I"$one" -I"$(dirname "$minicoro")" \
        tests/install/minicoro.c "$one/mwl.c" -o "$one/host" -lm -lpthread
    "$one/host"
    echo "clang: a host with a minicoro of its own"
fi

suites=${MWL_SUITES:-}
check() { # KIND FOLDER
    case $2 in "$suites"*) [ -d "$2" ] || return 0 ;; esac
    "$suite" "$1" "$2" >"$one/log" || { tail -20 "$one/log"; echo "$1 $2 fails with the one file"; exit 1; }
    echo "$1 $2: $(tail -n 1 "$one/log")"
}
check mwl tests/cases
check mwl tests/regression
check mwl "$suites/mwl/conformance"
check cel "$suites/cel"
check json "$suites/json-parsing"
check json-schema "$suites/json-schema"
check jcs "$suites/jcs"
check mwl-schemas "$suites/mwl"
check mwl "$suites/mwl/schemas"
