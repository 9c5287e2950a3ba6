#!/bin/sh
# options.sh CMAKE CC COMMAND WORK NAME: the library with a part left out, built in WORK/NAME.
#
# NAME is an option of the build (stacks, pcre2, idn, command, assembler: MWL_STACKS and so on), which is off alone, or
# `smallest`: all of them are. Only the libraries that are needed then can be found when it is configured. The cases, the
# suites that use the part, and hosts are run; with OPTIONS_LONG=1 in the environment every suite is.
set -eu
cmake=$1
cc=$2
command=$3
work=$4
name=$5
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$work/$name
mkdir -p "$build"
cd "$root"

fail() {
    echo "$*"
    exit 1
}

# pkg-config knows these modules and no other.
only() { # MODULE...
    rm -rf "$build/pkgconfig"
    mkdir "$build/pkgconfig"
    for module in "$@"; do
        from=$(pkg-config --variable=pcfiledir "$module")
        cp "$from/$module.pc" "$build/pkgconfig"
    done
    export PKG_CONFIG_LIBDIR="$build/pkgconfig"
    unset PKG_CONFIG_PATH
}

# A size is told of the smallest one; of the others it is the quick build that is wanted.
type=None
[ "$name" != smallest ] && [ -z "${OPTIONS_LONG:-}" ] || type=MinSizeRel

configure() { # OPTIONS...
    ccache=$(command -v ccache || true)
    "$cmake" -S "$root" -B "$build" -G Ninja -DCMAKE_C_COMPILER="$cc" ${ccache:+-DCMAKE_C_COMPILER_LAUNCHER="$ccache"} \
        -DCMAKE_BUILD_TYPE=$type -DMWL_WERROR=ON -DMWL_DOWNLOAD=OFF -DMWL_DEPS_DIR="$root/build/deps" -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-z,defs "$@" \
        >"$build/log" 2>&1
}

build() { # OPTIONS...: those of `cmake --build`
    "$cmake" --build "$build" "$@" >"$build/log" 2>&1 || {
        tail -n 40 "$build/log"
        fail "$name does not build"
    }
}

# What the shared library needs is libc and these.
needs_only() { # LIBRARY...
    for needed in $(readelf -d "$build/libmwlvm.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
        case " libc libm libpthread ld-linux-x86-64 $* " in
            *" ${needed%%.so*} "*) ;;
            *) case $needed in ld-linux*) ;; *) fail "the library needs $needed" ;; esac ;;
        esac
    done
}

host() { # SOURCE FLAGS...: compiled with the static library and run
    source=$1
    shift
    # shellcheck disable=SC2046,SC2086  # the flags are words
    "$cc" -std=c11 -I"$root/vm" -I"$root/stdlib" -I"$root/assembler" "$root/tests/install/$source.c" -o "$build/host" \
        "$build/libmwlvm.a" "$@" -lm -pthread -Wl,--gc-sections
}

libraries() { pkg-config --libs "$@"; }

suite() { # KIND FOLDER: no case fails
    [ -d "$2" ] || return 0
    "$build/mwl-suite" "$1" "$2" >"$build/log" 2>&1 || {
        tail -n 20 "$build/log"
        fail "$1 $2 fails without $name"
    }
    echo "$1 $2: $(tail -n 1 "$build/log")"
}

run_program() { # a host runs a program that COMMAND has assembled
    "$command" asm "$root/tests/install/options.json" -o "$build/options.mwlb"
    host options "$@"
    "$build/host" "$build/options.mwlb"
}

# A library with the assembler, the runner of the suites, and some tests.
with_tests() { # TESTS
    configure -DMWL_BUILD_TESTS=ON -DMWL_IO=OFF -DMWL_DURABLE=OFF "-DMWL_$(echo "$name" | tr a-z A-Z)=OFF" ||
        { tail -n 20 "$build/log"; fail "$name cannot be left out"; }
    # shellcheck disable=SC2086  # a list of words
    build --target mwlvm_static mwlvm_shared mwl-suite $1
    for test in $1; do
        "$build/$test" >"$build/log" 2>&1 || { grep -A3 FAILED "$build/log"; fail "$test fails without $name"; }
        echo "$test: $(grep -E 'PASSED.*tests?' "$build/log" | sed 's/.*\] *//')"
    done
}

suites=${MWL_SUITES:-}
case $name in
    smallest)
        only libxxhash
        # The options that BUILDING.md shows.
        # shellcheck disable=SC2046  # a list of words
        configure $(sed -n '/^## The smallest/,/^## Other/p' BUILDING.md | grep -o -e '-DMWL_[A-Z0-9_]*=OFF') || { tail -n 20 "$build/log"; fail "$name cannot be configured"; }
        build
        needs_only
        strip -o "$build/stripped" "$build/libmwlvm.so"
        echo "the smallest library: $(($(wc -c <"$build/stripped") / 1024)) KiB, stripped"
        run_program -DWITHOUT_STACKS
        strip -o "$build/stripped" "$build/host"
        echo "a host with it inside: $(($(wc -c <"$build/stripped") / 1024)) KiB, stripped"
        ;;
    command)
        # libuv is asked for by the command, and by nothing else.
        only libxxhash libpcre2-8 libidn2
        rm -f "$build/CMakeCache.txt"
        configure -DMWL_COMMAND=ON -DMWL_BUILD_TESTS=OFF && fail "the command was configured without libuv"
        grep -q 'packages are: libuv1-dev$' "$build/log" || { cat "$build/log"; fail "not libuv alone is missed"; }
        rm -f "$build/CMakeCache.txt"
        configure -DMWL_COMMAND=OFF -DMWL_BUILD_TESTS=OFF ||
            { tail -n 20 "$build/log"; fail "the library asks for what the command needs"; }
        build
        needs_only libpcre2-8
        # shellcheck disable=SC2046
        host outside $(libraries libpcre2-8) -ldl
        "$build/host"
        ;;
    assembler)
        only libxxhash libpcre2-8 libidn2
        configure -DMWL_ASSEMBLER=OFF ||
            { tail -n 20 "$build/log"; fail "$name cannot be left out"; }
        build
        needs_only libpcre2-8
        ! nm -D --defined-only "$build/libmwlvm.so" | grep -w mwl_assemble_sized || fail "the assembler is there"
        # shellcheck disable=SC2046
        run_program $(libraries libpcre2-8) -ldl
        ;;
    stacks)
        with_tests "test_surface test_host_middleware test_reload test_start_many"
        run_program -DWITHOUT_STACKS $(libraries libpcre2-8) -ldl
        suite mwl tests/cases
        suite mwl "$suites/mwl/conformance"
        ;;
    pcre2)
        only libxxhash libidn2 libuv
        with_tests "test_surface"
        needs_only
        suite mwl tests/cases
        suite json-schema "$suites/json-schema"
        ;;
    idn)
        only libxxhash libpcre2-8 libuv
        with_tests "test_surface"
        needs_only libpcre2-8
        suite mwl tests/cases
        suite json-schema "$suites/json-schema"
        ;;
    *) fail "no such option: $name" ;;
esac
if [ -n "${OPTIONS_LONG:-}" ] && [ -x "$build/mwl-suite" ]; then
    suite mwl tests/regression
    suite mwl "$suites/mwl/conformance"
    suite cel "$suites/cel"
    suite json "$suites/json-parsing"
    suite jcs "$suites/jcs"
    suite json-schema "$suites/json-schema"
fi
