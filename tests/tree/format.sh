#!/bin/sh
# format.sh CLANG-FORMAT [--fix]: checks that every C and C++ source has the layout of .clang-format.
# With --fix it changes the sources.
set -eu
version=14 # Debian 12's; another one lays out the same file in another way
cd "$(dirname "$0")/../.."
clang_format=$1
"$clang_format" --version | grep -q " version $version\." || {
    echo "not checked: this is not clang-format $version"
    echo "[  SKIPPED ] 1 tests"
    exit 0
}
mode="--dry-run -Werror"
[ "${2:-}" != --fix ] || mode=-i
# shellcheck disable=SC2086  # options, two words
find vm assembler stdlib tools bench tests \
    \( -name '*.c' -o -name '*.h' -o -name '*.cpp' \) -print0 | xargs -0 "$clang_format" --style=file $mode
