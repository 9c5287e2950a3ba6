#!/bin/sh
# run.sh SCRIPT MWLVM FOLDER: runs SCRIPT with node and the packages of package.json, which npm installs into FOLDER.
# Exit status 77 (skipped) where node or npm is missing, or the packages cannot be had.
script=$1
mwlvm=$2
folder=$3
here=$(dirname "$0")

skip() {
    echo "skipped: $*"
    exit 77
}

command -v node >/dev/null 2>&1 || skip "there is no node"
command -v npm >/dev/null 2>&1 || skip "there is no npm"
mkdir -p "$folder" || exit 1
if ! cmp -s "$here/package.json" "$folder/installed.json"; then
    cp "$here/package.json" "$folder/package.json" || exit 1
    (cd "$folder" && timeout 100 npm install --silent --no-audit --no-fund --ignore-scripts --fetch-retries 1 \
        --fetch-timeout 20000 >npm.log 2>&1) ||
        skip "npm could not install the packages ($folder/npm.log)"
    cp "$here/package.json" "$folder/installed.json" || exit 1
fi
NODE_PATH=$folder/node_modules exec node "$here/$script" "$mwlvm"
