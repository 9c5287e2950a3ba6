# cross.sh: `tools/dev cross TARGET`: installs, builds and runs the suites for another machine. Part of tools/dev, which
# reads it and has say, fail, want_program, configure, build, count.
#
# A target is a preset of CMakePresets.json with a toolchain file in tools/build/cmake/cross. Its libraries are not installed
# in the system: they are unpacked from Debian's packages for that machine, or built from Debian's source packages, in
# build/cross/TARGET/root. The row of the target in tests/CROSS.md is written at the end.

cross_targets="wasm s390x aarch64 i386 musl windows"

# ---- packages ----------------------------------------------------------------------------------

# cross_apt NAME LINE: an apt of our own in build/cross/apt-NAME: what this machine's apt reads, with LINE in front
# ("deb-src", or "deb" and an architecture).
cross_apt() {
    apt=$PWD/build/cross/apt-$1
    [ ! -f "$apt/ready" ] || return 0
    mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
    key=/usr/share/keyrings/debian-archive-keyring.gpg
    apt-get indextargets --format '$(SITE) $(RELEASE)' 'Origin: Debian' 'Created-By: Packages' 'Component: main' |
        sort -u | sed "s|^|$2 [signed-by=$key${3:+ arch=$3}] |; s|\$| main|" >"$apt/sources.list"
    [ -s "$apt/sources.list" ] || fail "this machine's apt knows no Debian"
    cat >"$apt/apt.conf" <<EOF
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State "$apt/state";
Dir::State::status "/dev/null";
Dir::Cache "$apt/cache";
${3:+APT::Architecture "$3"; APT::Architectures { "$3"; \};}
Acquire::Languages "none";
APT::Sandbox::User "";
EOF
    sed -i 's/\\}/}/' "$apt/apt.conf"
    say "reading Debian's list of packages ($1)"
    # One list that is missing may not matter: a package that cannot be had is an error of its own.
    APT_CONFIG=$apt/apt.conf apt-get -q update >"$apt/log" 2>&1 || say "apt-get update failed in part; see $apt/log"
    : >"$apt/ready"
}

# cross_packages ARCHITECTURE PACKAGE...: unpacks Debian's packages for that architecture in $root.
cross_packages() {
    arch=$1
    shift
    [ ! -f "$root/unpacked" ] || return 0
    cross_apt "$arch" deb "$arch"
    for package in "$@"; do
        say "unpacking $package for $arch"
        (cd "$apt" && APT_CONFIG=$apt/apt.conf apt-get -q download "$package" >>log 2>&1) ||
            fail "could not download $package; see $apt/log"
        dpkg-deb -x "$apt/$package"_*.deb "$root"
    done
    : >"$root/unpacked"
}

# Unpacks the source of $package in $sources: the newest version that the mirror has.
cross_unpack() (
    cd "$sources" && export APT_CONFIG="$apt/apt.conf"
    for version in $(apt-cache showsrc "$package" | sed -n 's/^Version: //p' | sort -rVu); do
        rm -f "$package"_*
        apt-get -q source --download-only "$package=$version" >>log 2>&1 &&
            dpkg-source --no-check -x "$package"_*.dsc "$package" >>log 2>&1 && return 0
    done
    return 1
)

# cross_source PACKAGE WHAT CMAKE-OPTION...: builds Debian's source package with the target's toolchain, into $root.
cross_source() {
    package=$1 what=$2
    shift 2
    [ ! -f "$root/built-$package" ] || return 0
    sources=$PWD/build/cross/source
    if [ ! -d "$sources/$package" ]; then
        cross_apt source deb-src
        say "unpacking the source of $package ($what)"
        mkdir -p "$sources"
        cross_unpack || fail "could not get the source of $package; see $sources/log"
    fi
    say "building $package for $target ($what)"
    made=build/cross/$target/$package
    {
        cmake -S "$sources/$package" -B "$made" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/tools/build/cmake/cross/$target.cmake" \
            -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF \
            "$@" && cmake --build "$made" -j "$(jobs)" && DESTDIR=$root cmake --install "$made"
    } >"$made.log" 2>&1 || fail "building $package failed; see $made.log"
    : >"$root/built-$package"
}

# xxHash is used as a header alone, so this machine's will do.
cross_xxhash() {
    mkdir -p "$root/usr/include" "$root/usr/lib/pkgconfig"
    cp /usr/include/xxhash.h "$root/usr/include/"
    [ ! -f /usr/include/xxh3.h ] || cp /usr/include/xxh3.h "$root/usr/include/"
    printf 'prefix=/usr\nName: xxhash\nDescription: the header\nVersion: %s\nCflags: -I${prefix}/include\n' \
        "$(pkg-config --modversion libxxhash)" >"$root/usr/lib/pkgconfig/libxxhash.pc"
}

cross_pcre2() {
    cross_source pcre2 "patterns" -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF
}

# Only the static one: nothing here links the other.
cross_libuv() {
    cross_source libuv1 "the command's event loop" -DLIBUV_BUILD_TESTS=OFF -DLIBUV_BUILD_BENCH=OFF
    rm -f "$root"/usr/lib/libuv.so* "$root"/usr/lib/libuv.dll.a
    [ -f "$root/usr/lib/libuv.a" ] || ln -s libuv_a.a "$root/usr/lib/libuv.a"
    # With the system's libraries that it needs.
    sed 's/-luv_a/-luv/' "$root/usr/lib/pkgconfig/libuv-static.pc" >"$root/usr/lib/pkgconfig/libuv.pc"
}

cross_wasm() {
    want_program emcc emscripten "the compiler for WebAssembly"
    want_program node nodejs "runs WebAssembly"
    want_program dpkg-source dpkg-dev "unpacks sources"
    install_missing
    cross_xxhash
    cross_pcre2
    suites_only=1
    echo "- wasm: the unit tests are not run: they use threads, stacks, files and signals, which are not there" >>"$reasons"
    compiler="emcc $(emcc -dumpversion)"
    emulator="node $(node --version)"
    runner="node --stack-size=4000"
    suffix=.js
}

# cross_linux ARCHITECTURE TRIPLE QEMU: another processor, with Debian's libraries for it.
cross_linux() {
    want_program "$2-gcc" "gcc-$2" "the compiler"
    want_library "libc6-dev-$1-cross" "the C library for $1"
    want_program "$3" qemu-user "runs programs of other processors"
    install_missing
    cross_packages "$1" libxxhash-dev libpcre2-dev libpcre2-8-0 libidn2-dev libidn2-0 \
        libunistring2
    compiler="gcc $("$2-gcc" -dumpversion)"
    emulator="qemu $("$3" --version | sed -n 's/.*version \([0-9.]*\).*/\1/p')"
    case $1 in i386) libraries=i386-linux-gnu ;; *) libraries=$2 ;; esac
    runner="$3 -L /usr/$2 -E LD_LIBRARY_PATH=$root/usr/lib/$libraries"
    suffix=
}

# In qemu, what runs first is translated first.
cross_emulated() {
    cross_linux "$@"
    leave_out test_fuel_cost "it compares times, which in qemu contain those of translating the code"
    leave_out test_timely "it measures milliseconds, and qemu computes floating point in software"
}
cross_s390x() {
    cross_emulated s390x s390x-linux-gnu qemu-s390x
    for edits in test_image test_verify test_verify_places test_verify_ways; do
        leave_out "$edits" "it edits records of files as if these had the machine's byte order"
    done
}
cross_aarch64() { cross_emulated arm64 aarch64-linux-gnu qemu-aarch64; }
cross_i386() {
    cross_linux i386 i686-linux-gnu qemu-i386
    loader=/usr/i686-linux-gnu/lib/ld-linux.so.2
    "$loader" --version >/dev/null 2>&1 || return 0
    emulator="this machine"
    runner="$loader --library-path /usr/i686-linux-gnu/lib:$root/usr/lib/i386-linux-gnu"
}

cross_musl() {
    want_program musl-gcc musl-tools "the compiler with musl's C library"
    want_program dpkg-source dpkg-dev "unpacks sources"
    install_missing
    cross_xxhash
    cross_pcre2
    cross_libuv
    leave_out test_fuel_cost "it compares times; the malloc of musl maps a page for some single blocks, which takes 10 us"
    compiler="musl-gcc $(musl-gcc -dumpversion)"
    emulator="this machine"
    runner=
    suffix=
}

cross_windows() {
    want_program x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64 "the compiler for Windows"
    [ -x /usr/lib/wine/wine64 ] || want wine64 "runs programs of Windows"
    want_program dpkg-source dpkg-dev "unpacks sources"
    install_missing
    cross_xxhash
    cross_pcre2
    cross_libuv
    leave_out test_coro "it forks, to see a stack overflow"
    leave_out test_stack_overflow "there, nothing watches for an overflow"
    leave_out test_small_stack "it gives a thread memory that it has mapped"
    leave_out test_fork "there, a process cannot be forked"
    leave_out test_fuel_cost "it measures times, which wine's are too far from"
    leave_out test_timely "it measures milliseconds by the thread's processor time, which has steps of 10 ms there"
    export WINEPREFIX="$PWD/build/cross/windows/wine" WINEDEBUG=-all
    compiler="mingw gcc $(x86_64-w64-mingw32-gcc -dumpversion | sed 's/-.*//')"
    emulator="$(/usr/lib/wine/wine64 --version | sed 's/ .*//; s/-/ /')"
    runner=/usr/lib/wine/wine64
    suffix=.exe
}

# ---- running -----------------------------------------------------------------------------------

# leave_out TEST WHY: a ctest entry that says nothing about the target; counted as skipped, with its reason.
left_out=
leave_out() {
    left_out="$left_out$1
"
    echo "- $target: \`$1\` is left out: $2" >>"$reasons"
}

# figures: what was counted since the last time, in $cell.
figures() {
    cell="$((passed - was_passed)) passed, $((failed - was_failed)) failed, $((skipped - was_skipped)) skipped"
    was_passed=$passed was_failed=$failed was_skipped=$skipped
}

# Unit tests and example hosts. One that fails, as those that measure the clock may in an emulator, runs once more.
cross_units() {
    status=0
    say "unit tests and example hosts"
    pattern=$(printf '%s' "$left_out" | paste -s -d '|')
    ctest_pass ${pattern:+-E "^($pattern)\$"} --repeat until-pass:2
    [ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || count 0 1 0
    [ -z "$left_out" ] || count 0 0 "$(printf '%s' "$left_out" | grep -c .)"
}

# Every suite; and the programs that this machine has made.
cross_suites() {
    suites=$MWL_SUITES
    if [ -d "$suites" ]; then
        suite json "$suites/json-parsing"
        suite json "$suites/json-parsing" --reader=definition
        suite jcs "$suites/jcs"
        suite json-schema "$suites/json-schema"
        suite mwl-schemas "$suites/mwl"
        suite cel "$suites/cel"
        suite mwl "$suites/mwl/schemas"
    else
        say "no outside test data in $suites (MWL_SUITES names another folder); not run"
    fi
    for folder in tests/cases tests/regression "$suites/mwl/conformance"; do
        [ -d "$folder" ] || continue
        # Assembled there, compared byte by byte with what was assembled here, and those bytes are run.
        suite mwl "$folder" "--images=build/cross/images/$(basename "$folder")"
        # Every run is moved through bytes; the first ones are those that this machine has saved, byte by byte.
        suite mwl "$folder" "--saves=build/cross/saves/$(basename "$folder")"
    done
    # A program or a saved run that this machine did not make was compared with nothing.
    exchanged | LC_ALL=C comm -13 build/cross/exchanged - >build/cross/new
    [ -s build/cross/new ] || return 0
    echo "made by $target alone:" && cat build/cross/new
    count 0 1 0
}

# The command, where there is one: its own tests, and every case through `mwlvm test`. What needs stdlib/io, durable runs
# or a signal of POSIX is left to this machine's tests.
cross_command() {
    say "the command"
    command=$PWD/build/cross/$target/mwlvm
    printf '#!/bin/sh\nexec %s %s/mwlvm%s "$@"\n' "$runner" "$PWD/$tested" "$suffix" >"$command"
    chmod +x "$command"
    conformance=$MWL_SUITES/mwl/conformance
    [ -d "$conformance" ] || conformance=
    # shellcheck disable=SC2086
    "$command" test --dots tests/cases tests/regression $conformance >"$tested/command.log" 2>&1 || cat "$tested/command.log"
    # shellcheck disable=SC2046
    count $(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2 0/p' "$tested/command.log" | tail -n 1)
    set -- "python3 tests/command/each.py $command 2000 order files bad_lines codes fail_fast in_flight streaming slow_head repeatable" \
        "python3 tests/debug/dap.py $command" "python3 tests/lsp/replay.py $command $(echo tests/lsp/logs/*.log)"
    [ "$target" != windows ] || set -- "$@" "python3 tests/cross/windows.py $runner $tested/mwlvm.exe" \
        "sh tests/cross/dll.sh $tested/libmwlvm.dll $tested/example_hello_dll.exe"
    say "building the command of this machine"
    cmake --build build -j "$(jobs)" --target mwlvm >build/build.log 2>&1 || fail "building failed; see build/build.log"
    for script in "sh tests/cross/moved.sh build/mwlvm $command" "$@"; do
        # shellcheck disable=SC2086
        if PYTHONDONTWRITEBYTECODE=1 $script >"$tested/script.log" 2>&1; then
            count 1 0 0
        else
            cat "$tested/script.log"
            count 0 1 0
        fi
    done
}

# The programs and saved runs that targets compare theirs with.
exchanged() { find build/cross/images build/cross/saves -type f | LC_ALL=C sort; }

# What this machine assembles and saves.
cross_images() {
    configure dev
    say "building the suite runner of this machine"
    cmake --build build -j "$(jobs)" --target mwl-suite >build/build.log 2>&1 || fail "building failed; see build/build.log"
    rm -rf build/cross/images build/cross/saves
    for folder in tests/cases tests/regression "$MWL_SUITES/mwl/conformance"; do
        [ -d "$folder" ] || continue
        images=build/cross/images/$(basename "$folder") saves=build/cross/saves/$(basename "$folder")
        mkdir -p "$images" "$saves"
        build/mwl-suite -q "--images=$images" "--saves=$saves" mwl "$folder" >/dev/null || fail "this machine fails $folder"
    done
    exchanged >build/cross/exchanged
}

# cross_report SUITES COMMAND UNITS: the target's lines in tests/CROSS.md.
cross_report() {
    page=tests/CROSS.md
    {
        grep '^| [a-z0-9]* | ' "$page" | grep -v "^| \($target\|target\) |" || true
        echo "| $target | $compiler | $emulator | $1 | $2 | $3 | $(date -u +%F) |"
    } | sort >build/cross/rows
    { grep '^- [a-z0-9]*: ' "$page" | grep -v "^- $target: " || true; cat "$reasons"; } | sort >build/cross/lines
    {
        sed -n '1,/^| ---/p' "$page"
        cat build/cross/rows
        [ ! -s build/cross/lines ] || { echo && cat build/cross/lines; }
    } >build/cross/page
    cp build/cross/page "$page"
}

cross() { # cross TARGET [suites]
    target=${1:-}
    case " $cross_targets " in *" $target "*) ;; *) fail "cross takes one of: $cross_targets" ;; esac
    case ${2:-} in '' | suites) ;; *) fail "after the target there is 'suites' or nothing" ;; esac
    has_apt || fail "cross needs apt: the compilers and libraries are Debian's"
    command_packages
    root=$PWD/build/cross/$target/root
    reasons=$PWD/build/cross/$target/reasons
    tested=build/$target
    was_passed=0 was_failed=0 was_skipped=0 units="not run"
    suites_only=${2:+1} without_units=
    mkdir -p "$root"
    : >"$reasons"
    "cross_$target"
    cross_images
    build "$target" "the library, its tests and the suite runner for $target" ${suites_only:+--target mwl-suite}
    cross_suites
    figures
    suited=$cell
    commanded="not built"
    if [ -z "$suites_only" ] && grep -q 'built as with MWL_STACKS=OFF' "$tested/configure.log"; then
        without_units=1
        echo "- $target: the unit tests are not run: without minicoro.h there are no native stacks, which they use" >>"$reasons"
    fi
    if [ -z "$suites_only" ] && [ -f "$tested/mwlvm$suffix" ]; then
        cross_command
        figures
        commanded=$cell
    fi
    if [ -z "$suites_only$without_units" ]; then
        cross_units
        figures
        units=$cell
    fi
    cross_report "$suited" "$commanded" "$units"
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}
