#!/bin/sh
# types.sh PACKAGE: the types of the npm package, by TypeScript's compiler: uses.ts, and the README's example, compile in a
# project of modules and in one that uses require(); what they must refuse is refused. Skipped, with a word, without tsc.
set -eu
package=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
command -v tsc >/dev/null 2>&1 || {
    echo "types: there is no tsc (node-typescript), not checked"
    exit 0
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/node_modules"
cp -r "$package" "$work/node_modules/mwlvm"
cp "$here/uses.ts" "$work/uses.mts"
cp "$here/uses.ts" "$work/uses.cts"
sed -n '/^```js$/,/^```$/{//!p}' "$package/README.md" >"$work/readme.mts"
cat >"$work/tsconfig.json" <<'END'
{"compilerOptions": {"strict": true, "noEmit": true, "target": "es2022", "module": "nodenext", "moduleResolution": "nodenext",
 "lib": ["es2022", "dom"], "types": []}, "files": ["uses.mts", "uses.cts", "readme.mts"]}
END
tsc -p "$work"
echo "types: $(tsc --version) accepts them for import and for require()"
