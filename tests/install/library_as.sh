#!/bin/sh
# library_as.sh CMAKE CC COMPILER WORK KIND: the shared library as people install it (KIND `release`), or as `tools/dev bench`
# measures it (`lto`), built in WORK/KIND; then what library.sh asks of it. COMPILER is what CMake calls CC's kind.
set -eu
cmake=$1
cc=$2
compiler=$3
build=$4/$5
lto=OFF
[ "$5" != lto ] || lto=ON
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$build"
cd "$root"

ccache=$(command -v ccache || true)
{
    "$cmake" -S "$root" -B "$build" -G Ninja -DCMAKE_C_COMPILER="$cc" ${ccache:+-DCMAKE_C_COMPILER_LAUNCHER="$ccache"} \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=$lto -DMWL_COMMAND=OFF -DMWL_BUILD_TESTS=OFF \
        -DMWL_DOWNLOAD=OFF -DMWL_DEPS_DIR="$root/build/deps" &&
        "$cmake" --build "$build" --target mwlvm_shared
} >"$build/log" 2>&1 || {
    tail -n 40 "$build/log"
    echo "the library does not build as $5"
    exit 1
}
exec sh tests/install/library.sh "$build/libmwlvm.so" "" Release OFF "$compiler"
