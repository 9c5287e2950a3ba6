#!/bin/sh
# run.sh CMAKE BUILD CC: install BUILD into a new folder, then build and run outside.c against it
# four ways: pkg-config and find_package, each with the shared and the static library.
set -eu
cmake=$1
build=$2
cc=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

"$cmake" --install "$build" --prefix "$prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$prefix/bin/mwlvm" --version >/dev/null
for file in bash-completion/completions/mwlvm zsh/site-functions/_mwlvm fish/vendor_completions.d/mwlvm.fish man/man1/mwlvm.1 \
    mwlvm/schemas/flow.schema.json mwlvm/schemas/provider.schema.json doc/mwlvm/LICENSE doc/mwlvm/CHANGELOG.md \
    doc/mwlvm/LANGUAGE.md doc/mwlvm/TESTING.md doc/mwlvm/EDITOR.md doc/mwlvm/SERVE.md doc/mwlvm/THIRD-PARTY.md doc/mwlvm/examples/README.md doc/mwlvm/examples/hello_host.c \
    doc/mwlvm/examples/hello.json; do
    [ -s "$prefix/share/$file" ] || { echo "not installed: share/$file"; exit 1; }
done

# Every file that an installed page links to is there. Links are not looked for in code.
for page in $(find "$prefix/share/doc" -name '*.md'); do
    for link in $(awk '/^```/ { code = !code } !code' "$page" | grep -o '](\([^)]*\))' | sed 's/^](//; s/)$//; s/#.*//'); do
        case $link in http*) continue ;; esac
        [ -e "$(dirname "$page")/$link" ] || { echo "${page#"$prefix"/} links to $link, which is not installed"; exit 1; }
    done
done

# The schemas are JSON Schemas, the guide's examples run.
"$prefix/bin/mwlvm" run "$prefix/share/doc/mwlvm/examples/hello.json" --input '{"name": "you"}' >"$work/out"
grep -q 'Hello, you' "$work/out" || { cat "$work/out"; exit 1; }
grep -q '"\$schema": *"https://json-schema.org' "$prefix"/share/mwlvm/schemas/*.json

pc=$(find "$prefix" -name mwlvm.pc)
export PKG_CONFIG_PATH="${pc%/*}${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
config=pkg-config
libdir=$($config --variable=libdir mwlvm)

echo "pkg-config, shared"
# shellcheck disable=SC2046  # the flags are words
$cc "$here/outside.c" -o "$work/shared" $($config --cflags --libs mwlvm) -Wl,-rpath,"$libdir"
"$work/shared"

echo "pkg-config, static"
flags=$($config --static --libs mwlvm | sed "s|-lmwlvm|$libdir/libmwlvm.a|")
# shellcheck disable=SC2046,SC2086
$cc "$here/outside.c" -o "$work/static" $($config --cflags mwlvm) $flags
"$work/static"

echo "find_package, both"
{
    "$cmake" -S "$here" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" &&
        "$cmake" --build "$work/cmake"
} >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/cmake/with_shared"
"$work/cmake/with_static"

# Each public header stands alone, in C and in C++.
for header in "$prefix"/include/*.h; do
    name=${header##*/}
    # The declaration is for headers of macros only: an empty unit is no C.
    echo "#include <$name>
typedef int header_was_read;" | $cc -x c -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
        -I"$prefix/include" - || { echo "$name does not stand alone"; exit 1; }
    if echo "" | $cc -x c++ -fsyntax-only - 2>/dev/null; then
        echo "#include <$name>" | $cc -x c++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only \
            -I"$prefix/include" - || { echo "$name is not C++"; exit 1; }
    fi
done

# Nothing that is not ours may be visible in the shared library.
if command -v nm >/dev/null 2>&1; then
    stray=$(nm -D --defined-only "$libdir/libmwlvm.so" | awk '$3 !~ /^mwl_[^_]/ { print $3 }')
    [ -z "$stray" ] || { echo "symbols that should be hidden: $stray"; exit 1; }
fi
