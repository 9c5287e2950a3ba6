#!/bin/sh
# package.sh KIND FOLDER: uses the packages that `tools/dev package` made in FOLDER, in a root of its own each.
#
#   deb     a new Debian (mmdebstrap) with the packages installed by apt; the command runs a Flow, and hosts are compiled
#           against libmwlvm-dev by pkg-config and by CMake. Where no such root can be made, the packages are extracted.
#   static  the command in a root that has nothing else in it
#   npm     the package installed by npm in an empty folder, and used from JavaScript
set -eu
kind=$1
out=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER # a new root does not have the program

fail() {
    echo "package $kind: $*"
    exit 1
}

# What a user does with the command; $in runs a command in the root.
use_command() { # MWLVM FOLDER: as the root sees them
    greeting=$($in "$1" run "$2/hello.json" --input '{"name": "Ada"}')
    [ "$greeting" = '{"greeting":"Hello, Ada!"}' ] || fail "hello.json gives $greeting"
    shown=$($in "$1" --version | head -n 1)
    [ "$shown" = "mwlvm $version" ] || fail "its version is $shown, not $version"
    $in "$1" asm "$2/hello.json" -o "$2/hello.mwlb"
    [ "$($in "$1" run "$2/hello.mwlb" --input '{"name": "you"}')" = '{"greeting":"Hello, you!"}' ] || fail "the program"
    [ "$($in "$1" eval '"Zürich".matches("^\\p{Lu}")')" = true ] || fail "an expression"
}

how="installed in a new root"
version=$(sed -n 's/^#define MWL_VERSION "\(.*\)"/\1/p' "$root/vm/mwl.h")

use_deb() {
    mkdir "$work/in"
    cp "$out"/*.deb "$root/tools/examples/hello.json" "$root/tools/examples/hello_host.c" "$root/tests/install/outside.c" "$work/in"
    cp "$root/tests/install/CMakeLists.txt" "$work/in/CMakeLists.txt"
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    sources=$(find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.sources' -o -name '*.list' 2>/dev/null | head -n 1)
    if [ "$(id -u)" -eq 0 ] && command -v mmdebstrap >/dev/null 2>&1 &&
        mmdebstrap --quiet --variant=apt --mode=root --include=gcc,libc6-dev,cmake,ninja-build,pkg-config \
            --setup-hook='mkdir -p "$1/in"' --customize-hook="cp -r '$work/in/.' \"\$1/in\"" \
            --customize-hook='chroot "$1" sh -c "apt-get install -q -y --no-install-recommends /in/*.deb"' \
            "$suite" "$work/root" - <"$sources" >"$work/log" 2>&1; then
        in="chroot $work/root"
    else
        tail -n 3 "$work/log" 2>/dev/null || true
        how="no new root could be made here; extracted"
        for deb in "$out"/*.deb; do dpkg -x "$deb" "$work/root"; done
        use_extracted
        return
    fi
    use_command mwlvm /in
    for file in man/man1/mwlvm.1.gz bash-completion/completions/mwlvm zsh/vendor-completions/_mwlvm \
        fish/vendor_completions.d/mwlvm.fish mwlvm/schemas/flow.schema.json doc/mwlvm/LANGUAGE.md.gz \
        doc/libmwlvm-dev/examples/README.md doc/libmwlvm0.2/copyright; do
        [ -e "$work/root/usr/share/$file" ] || [ -e "$work/root/usr/share/${file%.gz}" ] || fail "no /usr/share/$file"
    done
    $in sh -ec 'cd /in
        cc hello_host.c -o shared $(pkg-config --cflags --libs mwlvm)
        ./shared you
        readelf -d shared | grep -q "NEEDED.*libmwlvm.so.0.2"
        cc hello_host.c -o static -Wl,-Bstatic $(pkg-config --cflags --libs mwlvm) -Wl,-Bdynamic $(pkg-config --static --libs mwlvm | sed s/-lmwlvm//)
        ./static you
        ! readelf -d static | grep libmwlvm
        cmake -S . -B cmake -G Ninja >log && cmake --build cmake >>log
        cmake/with_shared
        cmake/with_static' || fail "a host does not build in the new root"
    $in sh -c 'dpkg --purge libmwlvm-dev libmwlvm0.2 mwlvm >/dev/null 2>&1' || fail "the packages cannot be removed"
    [ -z "$(find "$work/root/usr" -name '*mwlvm*')" ] || fail "left behind: $(find "$work/root/usr" -name '*mwlvm*')"
}

# Without a new root: the files of the packages, with the libraries of this machine.
use_extracted() {
    in=
    mkdir "$work/use"
    cp "$root/tools/examples/hello.json" "$work/use"
    use_command "$work/root/usr/bin/mwlvm" "$work/use"
    libdir=$(dirname "$(find "$work/root" -name libmwlvm.a)")
    export PKG_CONFIG_PATH="$libdir/pkgconfig"
    # shellcheck disable=SC2046  # the flags are words
    cc "$root/tools/examples/hello_host.c" -o "$work/host" $(pkg-config --cflags --libs mwlvm) -Wl,-rpath,"$libdir"
    "$work/host" you
    cmake -S "$root/tests/install" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$work/root/usr" >"$work/log" &&
        cmake --build "$work/cmake" >>"$work/log" || { cat "$work/log"; fail "a host does not build"; }
    "$work/cmake/with_shared"
    "$work/cmake/with_static"
}

use_static() {
    tar xzf "$out"/mwlvm-"$version"-linux-*.tar.gz -C "$work"
    mkdir -p "$work/root/bin" "$work/root/flows"
    cp "$work"/mwlvm-"$version"-linux-*/mwlvm "$work/root/bin/"
    cp "$root/tools/examples/hello.json" "$work/root/flows/"
    ! readelf -d "$work/root/bin/mwlvm" | grep NEEDED || fail "it needs a library"
    if [ "$(id -u)" -eq 0 ]; then # a root with this file and a Flow alone
        in="chroot $work/root"
        use_command /bin/mwlvm /flows
    else
        in=
        use_command "$work/root/bin/mwlvm" "$work/root/flows"
    fi
    # Time works with this C library too; `tools/dev cross musl` runs the tests of stacks.
    cat >"$work/root/flows/wait.json" <<'END'
{"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a", "steps": {
 "a": {"action": "Sleep", "for": "PT0.05S", "next": "b"}, "b": {"action": "Return", "value": "awake"}}}
END
    [ "$("$work/root/bin/mwlvm" run "$work/root/flows/wait.json" --input null)" = '"awake"' ] || fail "a Sleep"
    echo "$(wc -c <"$work/root/bin/mwlvm") bytes"
    for folder in tests/cases; do
        "$work/root/bin/mwlvm" check "$root/$folder" >"$work/log" 2>&1 || [ $? -le 3 ] || fail "check $folder"
    done
}

use_npm() {
    mkdir "$work/app"
    cd "$work/app"
    echo '{"name": "app", "private": true}' >package.json
    npm install --silent --offline --no-audit --no-fund "$out/mwlvm-$version.tgz" >"$work/log" 2>&1 || { cat "$work/log"; fail "npm"; }
    [ "$(node -p 'require("mwlvm/package.json").version')" = "$version" ] || fail "it is not $version"
    cp "$root/tools/examples/hello.json" .
    cat >use.mjs <<'END'
import fs from "node:fs";
import {run} from "mwlvm";
console.log(JSON.stringify(await run(fs.readFileSync("hello.json", "utf8"), {input: {name: "Ada"}})));
END
    node use.mjs | grep -q 'Hello, Ada!' || fail "hello.json"
    [ ! -f "$root/tests/playground/npm.mjs" ] || node "$root/tests/playground/npm.mjs" node_modules/mwlvm
}

"use_$kind"
echo "package $kind: $how, and used"
