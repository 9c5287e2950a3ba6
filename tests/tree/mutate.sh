#!/bin/sh
# mutate.sh [NAME...]: breaks the engine on purpose, one edit of mutations.txt at a time, in a copy of the tree, and shows
# which test notices. Fails when an edit goes unnoticed. MUTATE_DIR: where the copy lies (kept); else a temporary one.
# Without NAMEs all are made, and tests/MUTATIONS.md is written. For an edit with a `ctest` line only those entries of ctest
# are run, and only what they need is built; for the others the cases and the unit tests that it names.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=${MUTATE_DIR:-$(mktemp -d)}
suites=${MWL_SUITES:-}
[ -n "${MUTATE_DIR:-}" ] || trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/tree"

# Only what differs is copied, with a new time, so that a kept copy builds again what must be.
parts="CMakeLists.txt CMakePresets.json README.md BUILDING.md CHANGELOG.md CONTRIBUTING.md LICENSE SECURITY.md THIRD-PARTY.md
    vm assembler stdlib tools bench tests"
(cd "$dir/tree" && find . -type f) | while read -r file; do [ -f "$root/$file" ] || rm "$dir/tree/$file"; done
# shellcheck disable=SC2086
(cd "$root" && find $parts -type f) | while read -r file; do
    cmp -s "$root/$file" "$dir/tree/$file" && continue
    mkdir -p "$(dirname "$dir/tree/$file")"
    cp "$root/$file" "$dir/tree/$file"
done
[ -f "$dir/build/build.ninja" ] ||
    cmake -S "$dir/tree" -B "$dir/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS="-O1 -DMWL_CHECKED=1" \
        -DCMAKE_C_FLAGS_RELWITHDEBINFO= -DMWL_SUITES="$suites" ${MWL_CMAKE:-} >"$dir/configure.log" 2>&1 ||
    { cat "$dir/configure.log"; exit 1; }

build() { # build TARGET...
    ninja -C "$dir/build" -j "${JOBS:-2}" "$@" >"$dir/build.log" 2>&1
}

# What became of it, for one that printed no failure of its own.
died() { # died STATUS
    case $1 in 124) echo "does not end" ;; *) echo "stops, status $1" ;; esac
}

# Prints the first test that fails; nothing when all pass.
noticed() { # noticed TEST...
    for cases in "$root/tests/cases" "$suites/mwl/conformance"; do
        [ -d "$cases" ] || continue
        status=0
        timeout 60 "$dir/build/mwl-suite" mwl "$cases" >"$dir/suite.log" 2>&1 || status=$?
        [ "$status" -ne 0 ] || continue
        first=$(sed -n 's/^FAIL[^a-z]*\([^: ]*\).*/\1/p' "$dir/suite.log" | head -n 1)
        echo "cases: ${first:-$(died "$status")}"
        return 0
    done
    for test in "$@"; do
        status=0
        (cd "$root" && exec timeout 60 "$dir/build/$test") >"$dir/test.log" 2>&1 || status=$?
        [ "$status" -ne 0 ] || continue
        first=$(sed -n 's/^\[  FAILED  \] \([a-z_]*\.[a-z_0-9]*\).*/\1/p' "$dir/test.log" | head -n 1)
        echo "$test: ${first:-$(died "$status")}"
        return 0
    done
    return 0
}

# The same for entries of ctest, which are given as a pattern.
noticed_by() { # noticed_by PATTERN
    (cd "$dir/build" && ctest -R "$1" -j "${JOBS:-2}" --timeout 60 --stop-on-failure) \
        >"$dir/ctest.log" 2>&1 && return 0
    first=$(sed -n 's/.*Test *#[0-9]*: \([a-z_0-9]*\) .*\*\*\*.*/\1/p' "$dir/ctest.log" | head -n 1)
    echo "${first:-ctest fails}"
}

edit_of() { awk -v name="$1" '$1 == "name" { on = $2 == name } on && NF' "$root/tests/tree/mutations.txt"; }
field() { echo "$edit" | sed -n "s/^$1 //p"; }
targets() { python3 "$root/tests/tree/mutations.py" --targets "$dir/build" "$1"; }
# The tests of an edit without a `ctest` line.
units() {
    for test in $(field test) test_cancel_everywhere; do
        [ ! -f "$root/tests/unit/$test.c" ] && [ ! -f "$root/tests/api/$test.c" ] || echo "$test"
    done
}

names=$(sed -n 's/^name //p' "$root/tests/tree/mutations.txt")
[ $# -eq 0 ] || names=$*
# Unbroken, all of their tests must pass, and in time: else what follows would show nothing.
plain=
entries=
for name in $names; do
    edit=$(edit_of "$name")
    [ -n "$edit" ] || { echo "no such mutation: $name"; exit 2; }
    if [ -n "$(field ctest)" ]; then entries="$entries $(field ctest)"; else plain="$plain $(units)"; fi
done
plain=$(echo "$plain" | tr ' ' '\n' | sort -u)
entries=$(echo "$entries" | tr ' ' '\n' | sort -u | sed '/^$/d' | paste -sd'|' -)
by=
# shellcheck disable=SC2086
if [ -n "$plain" ]; then
    build mwl-suite $plain || { cat "$dir/build.log"; exit 1; }
    by=$(noticed $plain)
fi
if [ -z "$by" ] && [ -n "$entries" ]; then
    # shellcheck disable=SC2046
    build $(targets "$entries") || { cat "$dir/build.log"; exit 1; }
    by=$(noticed_by "$entries")
fi
[ -z "$by" ] || { echo "nothing is broken, and yet: $by"; exit 1; }

total=0
unnoticed=0
: >"$dir/table"
for name in $names; do
    edit=$(edit_of "$name")
    file=$(field file)
    entries=$(field ctest)
    python3 "$root/tests/tree/mutations.py" "$name" "$root/$file" "$dir/tree/$file" || exit 2
    total=$((total + 1))
    # shellcheck disable=SC2046
    if [ -n "$entries" ]; then
        if build $(targets "$entries"); then by=$(noticed_by "$entries"); else by="the compiler"; fi
    else
        if build mwl-suite $(units); then by=$(noticed $(units)); else by="the compiler"; fi
    fi
    if [ -z "$by" ]; then
        unnoticed=$((unnoticed + 1))
        by="NOBODY"
    fi
    echo "| $name | $by |" | tee -a "$dir/table"
    cp "$root/$file" "$dir/tree/$file"
done
echo "$total mutations, $unnoticed unnoticed"
[ $# -gt 0 ] || {
    echo "# Mutations"
    echo
    echo "Written by \`tests/tree/mutate.sh\`, a part of \`tools/dev soak\`; do not edit. README.md says what it is."
    echo
    echo "$(date -u +%F): $total edits, $unnoticed unnoticed."
    echo
    echo "| broken on purpose | noticed first by |"
    echo "| --- | --- |"
    cat "$dir/table"
} >"$root/tests/MUTATIONS.md"
[ "$unnoticed" -eq 0 ]
