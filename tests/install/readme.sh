#!/bin/sh
# readme.sh CMAKE BUILD: the commands that README.md's "In your program" shows, in their order, as they stand.
# host.c is the program in that section. Only building is not done again: the configuring line runs in a new folder and must not ask for what
# tests need; what is installed is BUILD.
set -eu
real=$1
build=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
deps=$(sed -n 's/^MWL_DEPS_DIR:[A-Z]*=//p' "$build/CMakeCache.txt")

cmake() {
    case $1 in
        -S)
            (cd "$root" && "$real" "$@" -B "$work/configured" -DMWL_DEPS_DIR="$deps" -DMWL_DOWNLOAD=OFF) >"$work/log" 2>&1 ||
                { cat "$work/log"; exit 1; }
            asked=$(grep -E '^(Python3|CMAKE_CXX_COMPILER|MWL_CLANG|MWL_UTEST)' "$work/configured/CMakeCache.txt" || true)
            [ -z "$asked" ] || { echo "configured without tests, this was looked for: $asked"; exit 1; }
            ;;
        --build) ;;
        --install) shift 2 && "$real" --install "$build" "$@" >"$work/log" || { cat "$work/log"; exit 1; } ;;
    esac
}

section() { # section PATTERN: its lines of code that begin so
    awk '/^## / { on = $0 == "## In your program" } on && /^    /' "$root/README.md" | sed -n "s/^    \($1.*\)/\1/p"
}
# The one file is compiled by amalgamate.sh.
section '\(cmake\|export\|cc\) ' | grep -v one/mwl.c >"$work/steps.sh"
for word in 'cmake -S' 'cmake --build' 'cmake --install' 'export PKG_CONFIG_PATH' 'cc host.c'; do
    grep -q "^$word" "$work/steps.sh" || { echo "README.md does not show: $word"; exit 1; }
done

export HOME="$work/home"
unset PKG_CONFIG_PATH
mkdir -p "$work/mine" "$HOME"
awk '/^```/ { on = $0 == "```c"; next } on' "$root/README.md" >"$work/mine/host.c"
cd "$work/mine"
set -x
. "$work/steps.sh"
[ "$(./host)" = 42 ]
"$HOME/mwlvm/bin/mwlvm" --version

{
    echo 'cmake_minimum_required(VERSION 3.20)
project(host LANGUAGES C)
add_executable(host host.c)'
    section 'find_package'
    section 'target_link'
} >CMakeLists.txt
"$real" -S . -B build -G Ninja -DCMAKE_PREFIX_PATH="$HOME/mwlvm" >"$work/log" && "$real" --build build >>"$work/log" ||
    { cat "$work/log"; exit 1; }
[ "$(build/host)" = 42 ]
