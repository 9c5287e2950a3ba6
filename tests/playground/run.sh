#!/bin/sh
# run.sh npm|page BUILD: the test of the npm package in node, or of the page in Chromium, where `tools/dev playground` has
# built them. Exit status 77 (skipped) with a reason otherwise: emscripten is large, so the other tests do not install it.
part=$1
made=$2/playground
here=$(dirname "$0")
root=$here/../..

skip() {
    echo "skipped: $*"
    exit 77
}

command -v emcc >/dev/null 2>&1 || skip "there is no emcc; 'tools/dev playground --test' installs emscripten and tests this"
module=$made/wasm/mwl-play.wasm
[ -f "$module" ] || skip "the module is not built; 'tools/dev playground --test' builds and tests it"
newer=$(find "$root/vm" "$root/assembler" "$root/stdlib" "$root/tools" -name '*.[ch]' -newer "$module" | head -n 1)
[ -z "$newer" ] || skip "$newer is newer than the module; 'tools/dev playground --test' builds and tests it"
"$root/tools/playground/make" "$part" "$made" || exit 1
if [ "$part" = page ]; then
    exec python3 "$here/page.py" "$made/index.html" "$made/pictures"
fi
command -v node >/dev/null 2>&1 || skip "there is no node"
rm -rf "$made/package"
tar -C "$made" -xzf "$made"/mwlvm-*.tgz || exit 1
sh "$here/types.sh" "$made/package" || exit 1
mwlvm=$2/mwlvm
[ -x "$mwlvm" ] || mwlvm=
exec node "$here/npm.mjs" "$made/package" $mwlvm
