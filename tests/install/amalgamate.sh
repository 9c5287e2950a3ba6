#!/bin/sh
# amalgamate.sh FOLDER SUITE [MINICORO]: the library as one file. FOLDER/mwl.c compiles without a warning with every
# compiler that is there, also with parts left out; mwl.h stands alone in C and C++. SUITE, which was built with that file,
# passes the cases of this project, and outside suites where they are. MINICORO, a minicoro.h, is a part of mwl.c, and a
# host that clang compiles has its own copy beside it; host_minicoro_one is the same by the compiler of the build.
set -eu
one=$1
suite=$2
minicoro=${3:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
cflags=$(pkg-config --cflags libxxhash libpcre2-8 libutf8proc libidn2 2>/dev/null || true)

# Reading the indentation takes gcc seconds in a file of this length; each source file is checked for it when it is compiled.
warnings="-Wall -Wextra -Werror -Wno-misleading-indentation"
for cc in gcc clang "g++ -x c"; do
    command -v "${cc%% *}" >/dev/null 2>&1 || { echo "no ${cc%% *} here"; continue; }
    # shellcheck disable=SC2086  # the flags are words
    $cc -std=c11 $warnings -fsyntax-only $cflags "$one/mwl.c"
    echo "$cc: no warning"
done
# shellcheck disable=SC2086
cc -std=c11 $warnings -fsyntax-only -DMWL_PCRE2=0 -DMWL_IDN=0 -DMWL_UTF8PROC=0 -DMWL_STACKS=0 "$one/mwl.c"
echo '#include "mwl.h"' | cc -x c -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$one" -
if command -v c++ >/dev/null 2>&1; then
    echo '#include "mwl.h"' | c++ -x c++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only -I"$one" -
fi
if [ -n "$minicoro" ] && command -v clang >/dev/null 2>&1; then
    clang -std=gnu11 -O0 -w -DMWL_PCRE2=0 -DMWL_IDN=0 -DMWL_UTF8PROC=0 -I"$one" -I"$root/vm" -I"$(dirname "$minicoro")" \
        tests/install/minicoro.c "$one/mwl.c" -o "$one/host" -lm -lpthread
    "$one/host"
    echo "clang: a host with a minicoro of its own"
fi

suites=${MWL_SUITES:-../shared/suites}
check() { # KIND FOLDER
    [ -d "$2" ] || return 0
    "$suite" "$1" "$2" >"$one/log" || { tail -20 "$one/log"; echo "$1 $2 fails with the one file"; exit 1; }
    echo "$1 $2: $(tail -n 1 "$one/log")"
}
check mwl tests/cases
check mwl tests/regression
check mwl "$suites/mwl/conformance"
check cel "$suites/cel"
check json "$suites/json-parsing"
check json-schema "$suites/json-schema"
