# package.sh: `tools/dev package [deb|static|npm]`: what people install. Part of tools/dev, which reads it and has say,
# fail, want_program, want_library, install_missing, jobs.
#
# Everything is made below build/package and ends in build/package/out; then tests/install/package.sh uses each package
# in a root of its own.

package_version() { sed -n 's/^#define MWL_VERSION "\(.*\)"/\1/p' vm/mwl.h; }

# The tree without build folders and dot files, as FOLDER.
package_tree() { # FOLDER
    rm -rf "$1"
    mkdir -p "$1"
    tar cf - --exclude=__pycache__ CMakeLists.txt LICENSE [A-Z]*.md assembler bench stdlib tests tools vm | tar xf - -C "$1"
}

# What a package compiles into the library, before it is built without a network.
package_yyjson() {
    [ -f build/deps/yyjson/yyjson.c ] || configure command
}

# ---- .deb: libmwlvm0.2, libmwlvm-dev, mwlvm -------------------------------------------------------

package_deb() {
    has_apt || fail "package deb needs Debian's tools"
    want_program dh debhelper "makes packages"
    want_program dpkg-buildpackage dpkg-dev "makes packages"
    want_program lintian lintian "checks packages"
    want_program mmdebstrap mmdebstrap "a new root to use the packages in"
    want_library libedit-dev "the prompt of \`mwlvm debug\`"
    install_missing
    version=$(package_version)
    changelog=$(sed -n '1s/.*(\(.*\)-.*).*/\1/p' tools/build/package/debian/changelog)
    [ "$changelog" = "$version" ] || fail "tools/build/package/debian/changelog is of $changelog, the library of $version"
    work=build/package/deb
    tree=$work/mwlvm-$version
    package_tree "$tree"
    cp -r tools/build/package/debian "$tree/debian"
    package_yyjson
    mkdir -p "$tree/build/deps"
    cp -r build/deps/yyjson "$tree/build/deps/"
    say "building the Debian packages"
    rm -f "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo
    # debhelper builds with a home of its own, where ccache finds nothing.
    ccache_dir=$(ccache --get-config cache_dir 2>/dev/null || true)
    (
        [ -z "$ccache_dir" ] || export CCACHE_DIR="$ccache_dir" PATH="/usr/lib/ccache:$PATH"
        unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
        cd "$tree" && DEB_BUILD_OPTIONS="parallel=$(jobs) noautodbgsym" dpkg-buildpackage -b -us -uc
    ) >"$work/log" 2>&1 || {
        tail -n 30 "$work/log" >&2
        fail "building the packages failed; see $work/log"
    }
    # The first packages close no bug of Debian's, because they are not uploaded there.
    lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$work"/*.changes ||
        fail "lintian is not content"
    rm -f build/package/out/*.deb
    cp "$work"/*.deb build/package/out/
}

# ---- the command alone, static, with musl ---------------------------------------------------------

# Debian's source of PACKAGE in build/package/source: through an apt of our own, because sources are seldom in the
# system's list.
package_source() { # PACKAGE
    source=$PWD/build/package/source
    [ ! -d "$source/$1" ] || return 0
    mkdir -p "$source/apt/lists/partial" "$source/apt/archives/partial"
    cat >"$source/apt.conf" <<EOF2
Dir::Etc::SourceList "$source/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$source/apt/lists";
Dir::Cache "$source/apt";
APT::Sandbox::User "";
EOF2
    apt-get indextargets --format '$(SITE) $(RELEASE)' 'Origin: Debian' 'Created-By: Packages' 'Component: main' |
        sort -u | sed 's|^|deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] |; s|$| main|' >"$source/sources.list"
    say "unpacking the source of $1"
    (
        cd "$source" && export APT_CONFIG="$source/apt.conf"
        [ -f ready ] || { apt-get -q update && : >ready; }
        for version in $(apt-cache showsrc "$1" | sed -n 's/^Version: //p' | sort -rVu); do
            rm -rf "${1:?}"_* "$1"
            apt-get -q source --download-only "$1=$version" && dpkg-source --no-check -x "$1"_*.dsc "$1" && break
        done
        [ -d "$1" ]
    ) >"$source/log" 2>&1 || fail "could not get the source of $1; see $source/log"
}

package_library() { # PACKAGE CMAKE-OPTION...: built by musl-gcc, into $root
    name=$1
    shift
    [ ! -f "$root/built-$name" ] || return 0
    package_source "$name"
    say "building $name with musl"
    {
        cmake -S "$source/$name" -B "$work/$name" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$work/musl.cmake" \
            -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF "$@" &&
            cmake --build "$work/$name" -j "$(jobs)" && DESTDIR=$root cmake --install "$work/$name"
    } >"$work/$name.log" 2>&1 || fail "building $name failed; see $work/$name.log"
    : >"$root/built-$name"
}

package_static() {
    has_apt || fail "package static needs apt: the libraries are built from Debian's sources"
    want_program musl-gcc musl-tools "the C library that is linked in"
    want_program dpkg-source dpkg-dev "unpacks sources"
    want_library linux-libc-dev "the kernel's headers"
    install_missing
    package_yyjson
    work=$PWD/build/package/static
    root=$work/root
    source=$PWD/build/package/source
    mkdir -p "$root/usr/include" "$root/usr/lib/pkgconfig"
    # The kernel's headers, and those of libraries that are loaded when they are needed (or not at all).
    for folder in linux asm-generic sqlite3.h xxhash.h; do cp -r "/usr/include/$folder" "$root/usr/include/"; done
    cp -rL "/usr/include/$(gcc -print-multiarch)/asm" "$root/usr/include/"
    version=$(package_version)
    printf 'Name: xxhash\nDescription: the header\nVersion: %s\n' "$(pkg-config --modversion libxxhash)" \
        >"$root/usr/lib/pkgconfig/libxxhash.pc"
    printf 'Name: sqlite3\nDescription: the header\nVersion: %s\n' "$(pkg-config --modversion sqlite3)" \
        >"$root/usr/lib/pkgconfig/sqlite3.pc"
    cat >"$work/musl.cmake" <<EOF2
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_C_FLAGS_INIT "-isystem $root/usr/include")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
set(CMAKE_FIND_ROOT_PATH $root)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} $root/usr/lib/pkgconfig:$root/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} $root)
EOF2
    package_library libuv1 -DLIBUV_BUILD_TESTS=OFF -DLIBUV_BUILD_BENCH=OFF
    package_library pcre2 -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF
    # Whoever asks for libuv gets the archive.
    cp "$root/usr/lib/pkgconfig/libuv-static.pc" "$root/usr/lib/pkgconfig/libuv.pc"
    say "building the static command"
    {
        cmake -S . -B "$work/mwlvm" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$work/musl.cmake" -DCMAKE_BUILD_TYPE=Release \
            -DMWL_BUILD_TESTS=OFF -DMWL_DOWNLOAD=OFF -DMWL_DEPS_DIR="$PWD/build/deps" -DMWL_IDN=OFF -DMWL_IO=OFF \
            -DMWL_DURABLE=OFF -DMWL_INSTALL=OFF && cmake --build "$work/mwlvm" -j "$(jobs)" --target mwlvm
    } >"$work/log" 2>&1 || {
        tail -n 30 "$work/log" >&2
        fail "building the static command failed; see $work/log"
    }
    file=mwlvm-$version-linux-$(uname -m)
    rm -rf "${work:?}/$file"
    mkdir -p "$work/$file"
    strip -o "$work/$file/mwlvm" "$work/mwlvm/mwlvm"
    "$work/$file/mwlvm" manual >"$work/$file/mwlvm.1"
    cp LICENSE THIRD-PARTY.md CHANGELOG.md "$work/$file/"
    tar czf "build/package/out/$file.tar.gz" -C "$work" "$file"
}

# ---- the npm package ------------------------------------------------------------------------------

package_npm() {
    [ -x tools/playground/make ] || fail "there is no tools/playground/make, which makes the npm package"
    if has_apt; then
        want_program emcc emscripten "the compiler for WebAssembly"
        want_program node nodejs "uses the package"
        want_program npm npm "installs the package"
        install_missing
    fi
    mkdir -p build/playground
    say "building the npm package"
    for part in wasm npm; do tools/playground/make $part build/playground || fail "the npm package was not made"; done
    rm -f build/package/out/*.tgz
    cp build/playground/mwlvm-"$(package_version)".tgz build/package/out/
}

package() { # package [WHAT]
    kinds=${1:-deb static npm}
    case $kinds in deb | static | npm | 'deb static npm') ;; *) fail "package takes one of: deb static npm" ;; esac
    command_packages
    mkdir -p build/package/out
    for kind in $kinds; do
        if [ $kind = npm ] && [ -z "${1:-}" ] && [ ! -x tools/playground/make ]; then
            say "no tools/playground/make: the npm package is left out"
            continue
        fi
        "package_$kind"
        sh tests/install/package.sh "$kind" build/package/out || fail "the package does not work"
    done
    ls -l build/package/out
}
