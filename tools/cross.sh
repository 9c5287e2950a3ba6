# cross.sh: `tools/dev cross TARGET`: installs, builds and runs the suites for another machine. Part of tools/dev, which
# reads it and has say, fail, want_program, configure, build, count.
#
# A target is a preset of CMakePresets.json with a toolchain file in tools/cmake/cross. Its libraries are not installed
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
    APT_CONFIG=$apt/apt.conf apt-get -q update >"$apt/log" 2>&1 || fail "apt-get update failed; see $apt/log"
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
        cmake -S "$sources/$package" -B "$made" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/tools/cmake/cross/$target.cmake" \
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

cross_utf8proc() {
    cross_source utf8proc "Unicode" -DUTF8PROC_ENABLE_TESTING=OFF
}

cross_wasm() {
    want_program emcc emscripten "the compiler for WebAssembly"
    want_program node nodejs "runs WebAssembly"
    want_program dpkg-source dpkg-dev "unpacks sources"
    install_missing
    cross_xxhash
    cross_pcre2
    cross_utf8proc
    compiler="emcc $(emcc -dumpversion)"
    emulator="node $(node --version)"
    runner="node --stack-size=4000"
    suffix=.js
}

# ---- running -----------------------------------------------------------------------------------

# leave_out TEST WHY: a ctest entry that says nothing about the target; counted as skipped, with its reason.
left_out=
leave_out() {
    left_out="$left_out$1
"
    echo "- $target: \`$1\` is left out: $2" >>"$reasons"
}

# cross_tests: unit tests, example hosts and every suite; then the programs that this machine has made.
cross_tests() {
    tested=build/$target
    status=0
    say "unit tests and example hosts"
    pattern=$(printf '%s' "$left_out" | paste -s -d '|')
    ctest_pass ${pattern:+-E "^($pattern)\$"} --repeat until-pass:2
    [ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || count 0 1 0
    [ -z "$left_out" ] || count 0 0 "$(printf '%s' "$left_out" | grep -c .)"
    suites=${MWL_SUITES:-../shared/suites}
    if [ -d "$suites" ]; then
        suite json "$suites/json-parsing"
        suite jcs "$suites/jcs"
        suite json-schema "$suites/json-schema"
        suite mwl-schemas "$suites/mwl"
        suite cel "$suites/cel"
    else
        say "no outside test data in $suites (MWL_SUITES names another folder); not run"
    fi
    for folder in tests/cases tests/regression "$suites/mwl/conformance"; do
        [ -d "$folder" ] || continue
        # Assembled there, compared byte by byte with what was assembled here, and those bytes are run.
        suite mwl "$folder" "--images=build/cross/images/$(basename "$folder")"
        suite mwl "$folder" --resave
    done
}

# What this machine assembles.
cross_images() {
    configure dev
    say "building the suite runner of this machine"
    cmake --build build -j "$(jobs)" --target mwl-suite >build/build.log 2>&1 || fail "building failed; see build/build.log"
    rm -rf build/cross/images
    for folder in tests/cases tests/regression "${MWL_SUITES:-../shared/suites}/mwl/conformance"; do
        [ -d "$folder" ] || continue
        images=build/cross/images/$(basename "$folder")
        mkdir -p "$images"
        build/mwl-suite -q "--images=$images" mwl "$folder" >/dev/null || fail "this machine fails $folder"
    done
}

# cross_report: the target's lines in tests/CROSS.md.
cross_report() {
    row="| $target | $compiler | $emulator | $passed | $failed | $skipped | $(date -u +%F) |"
    page=tests/CROSS.md
    { grep "^| \($(echo "$cross_targets" | sed 's/ /\\|/g')\) |" "$page" | grep -v "^| $target |"; echo "$row"; } |
        sort >build/cross/rows
    { grep "^- \($(echo "$cross_targets" | sed 's/ /\\|/g')\): " "$page" | grep -v "^- $target: " || true; cat "$reasons"; } |
        sort >build/cross/lines
    sed '/^| [a-z]/d; /^- [a-z0-9]*: /d; /^| ---/q' "$page" >build/cross/page
    {
        sed -n '1,/^| ---/p' "$page"
        cat build/cross/rows
        [ ! -s build/cross/lines ] || { echo && cat build/cross/lines; }
    } >build/cross/page
    cp build/cross/page "$page"
}

cross() { # cross TARGET
    target=${1:-}
    case " $cross_targets " in *" $target "*) ;; *) fail "cross takes one of: $cross_targets" ;; esac
    has_apt || fail "cross needs apt: the compilers and libraries are Debian's"
    command_packages
    root=$PWD/build/cross/$target/root
    reasons=$PWD/build/cross/$target/reasons
    mkdir -p "$root"
    : >"$reasons"
    "cross_$target"
    cross_images
    build "$target" "the library, its tests and the suite runner for $target"
    cross_tests
    cross_report
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}
