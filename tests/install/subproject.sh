#!/bin/sh
# subproject.sh CMAKE CC WORK: mwlvm inside another project (parent/), by add_subdirectory and by FetchContent. Its
# parent's flags, build type, options, folders, tests and installation stay what they were.
set -eu
cmake=$1
cc=$2
work=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
ccache=$(command -v ccache || true)
mkdir -p "$work"
# What options.sh has compiled is the same; only the folder differs.
export CCACHE_NOHASHDIR=1

step() { # WHAT COMMAND...
    what=$1
    shift
    "$@" >"$work/log" 2>&1 || { tail -n 30 "$work/log"; echo "$what"; exit 1; }
}

for how in subdirectory fetch; do
    build=$work/$how
    rm -rf "$build/CMakeCache.txt" "$build/prefix"
    set -- -S "$here/parent" -B "$build" -G Ninja -DCMAKE_C_COMPILER="$cc" -DMWLVM="$root" -DHOW=$how -DMWL_DOWNLOAD=OFF \
        -DMWL_WERROR=ON
    # The parent chooses no build type: there is none afterwards. Then it chooses one.
    step "$how: it cannot be configured" "$cmake" "$@"
    grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=$' "$build/CMakeCache.txt" || { echo "$how: the parent has another build type"; exit 1; }
    step "$how: it cannot be configured with a build type" "$cmake" "$@" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG= \
        ${ccache:+-DCMAKE_C_COMPILER_LAUNCHER="$ccache"}
    if "$cmake" --build "$build" --target help | grep -qE '(^|[: ])(mwl-suite|mwl-bench|test_[a-z]+)(:|$)'; then
        echo "$how: tests or tools of mwlvm are in the build"
        exit 1
    fi
    step "$how: it does not build" "$cmake" --build "$build" --target parent parent_shared
    "$build/ours/bin/parent"
    "$build/ours/bin/parent_shared"
    # What is the parent's is compiled with the parent's flags.
    ninja -C "$build" -t commands parent | grep -- '-c .*/outside\.c$' >"$work/commands"
    grep -q -- '-std=gnu99' "$work/commands" || { echo "$how: not the C of the parent"; exit 1; }
    if grep -E -- '-Wall|-Wconversion|-Werror|-ffunction-sections|visibility' "$work/commands"; then
        echo "$how: flags of mwlvm reach the parent"
        exit 1
    fi
    # Its tests and its installation are the parent's.
    (cd "$build" && ctest -N) | grep -q '^Total Tests: 1$' || { echo "$how: other tests than the parent's"; exit 1; }
    step "$how: it cannot be installed" "$cmake" --install "$build" --prefix "$build/prefix"
    installed=$(cd "$build/prefix" && find . -type f)
    [ "$installed" = ./bin/parent ] || { echo "$how: installed with the parent: $installed"; exit 1; }
    echo "$how: the parent's settings are as they were"
done
