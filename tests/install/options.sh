#!/bin/sh
# options.sh CMAKE CC COMMAND WORK: the library with parts left out.
#
# The smallest one, which runs programs only, is built with everything off: it needs libc and nothing else, and prints
# its size. A host runs a program with it that COMMAND has assembled.
set -eu
cmake=$1
cc=$2
command=$3
work=$4
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$work"

configure() { # NAME OPTIONS...
    name=$1
    shift
    "$cmake" -S "$root" -B "$work/$name" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=MinSizeRel -DMWL_WERROR=ON \
        -DMWL_DOWNLOAD=OFF -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-z,defs "$@" >"$work/log" 2>&1 && "$cmake" --build "$work/$name" >"$work/log" 2>&1 ||
        { tail -40 "$work/log"; echo "$name does not build"; exit 1; }
}

configure smallest -DMWL_ASSEMBLER=OFF -DMWL_STACKS=OFF -DMWL_PCRE2=OFF -DMWL_IDN=OFF -DMWL_COMMAND=OFF -DMWL_BUILD_TESTS=OFF
needed=$(readelf -d "$work/smallest/libmwlvm.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for name in $needed; do
    case $name in
        libc.so.* | libm.so.* | libpthread.so.* | ld-linux*.so.*) ;;
        *) echo "the smallest library needs $name"; exit 1 ;;
    esac
done
strip -o "$work/stripped" "$work/smallest/libmwlvm.so"
echo "the smallest library: $(($(wc -c <"$work/stripped") / 1024)) KiB, stripped"

"$command" asm "$root/tests/install/options.json" -o "$work/options.mwlb"
"$cc" -std=c11 -I"$root/vm" -I"$root/stdlib" -I"$root/assembler" "$root/tests/install/options.c" -o "$work/host" \
    "$work/smallest/libmwlvm.a" -lm -pthread -Wl,--gc-sections
strip -o "$work/stripped" "$work/host"
echo "a host with it inside: $(($(wc -c <"$work/stripped") / 1024)) KiB, stripped"
"$work/host" "$work/options.mwlb"
