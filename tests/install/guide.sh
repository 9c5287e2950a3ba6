#!/bin/sh
# guide.sh CMAKE BUILD: does what tools/examples/README.md shows, in a new folder: a fenced block with the name of a file
# is written to that file, blocks of sh are run in their order.
set -eu
cmake=$1
build=$2
guide=$(cd "$(dirname "$0")/../.." && pwd)/tools/examples/README.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
pc=$(find "$work/prefix" -name mwlvm.pc)
export PKG_CONFIG_PATH="${pc%/*}"
mkdir "$work/empty"
cd "$work/empty"
awk '
    /^```$/ { to = ""; next }
    /^```sh$/ { to = "steps.sh"; next }
    /^```[a-z]+ [a-z.]+$/ { to = $2; next }
    /^```/ { to = "/dev/null"; next }
    to != "" { print > to }
' "$guide"
[ -s steps.sh ] && [ -s host.c ] || { echo "the guide has no commands"; exit 1; }
sh -eux steps.sh
# The other examples compile as the guide compiles, and say nothing. One is C++.
examples=$(dirname "$guide")
for source in "$examples"/*.c; do
    # shellcheck disable=SC2046  # the flags are words
    cc -std=c11 -Wall -Werror -fsyntax-only $(pkg-config --cflags mwlvm) "$source"
done
# The smallest host greets, and survives a name that is not UTF-8.
# shellcheck disable=SC2046
cc -std=c11 "$examples/hello_host.c" -o hello $(pkg-config --cflags --libs mwlvm) -Wl,-rpath,"${pc%/pkgconfig/*}"
[ "$(./hello Ada)" = 'Hello, Ada!' ] || { echo "the smallest host does not greet"; exit 1; }
[ "$(./hello "$(printf '\377')")" = 'it failed' ] || { echo "the smallest host and a name that is not UTF-8"; exit 1; }
[ "$(wc -l <"$examples/hello_host.c")" -le 25 ] || { echo "the smallest host has grown"; exit 1; }
