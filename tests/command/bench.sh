#!/bin/sh
# bench.sh MWL-BENCH: tests mwl-bench itself. Every case performs its work once and its result is checked. The line that
# other programs read has its members. Comparing stored counts finds slower, faster and equal cases.
set -u
bench=$1
here=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0
bad() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

"$bench" --check >"$dir/check" 2>&1 || { cat "$dir/check"; bad "--check"; }

"$bench" --json --ms 1 expr/e1_select >"$dir/line" 2>/dev/null || bad "--json"
for part in '"suite":"expr"' '"peer":"mwlvm"' '"case":"e1_select"' '"unit":"ns/op"' '"median":' '"min":' '"max":'; do
    grep -qF -- "$part" "$dir/line" || bad "the JSON line has no $part"
done
"$bench" --json --count 1000 wf/g_parked >"$dir/line" 2>/dev/null || bad "g_parked"
for part in '"case":"g_parked"' '"unit":"bytes/run"' '"rss":' '"startNs":'; do
    grep -qF -- "$part" "$dir/line" || bad "the line of parked runs has no $part"
done
"$bench" no-such-case >/dev/null 2>&1 && bad "a filter that matches nothing is a failure"

# The table of README.md is what PEERS.md says.
(cd "$here" && awk -f bench/peers/summary.awk bench/PEERS.md bench/README.md) | cmp -s - "$here/bench/README.md" ||
    bad "bench/README.md is not what bench/peers/summary.awk makes of bench/PEERS.md"

# The stored baseline names only cases that there are, and equals itself.
stored=$here/bench/baseline.json
"$bench" --list | sort >"$dir/cases"
sed -n 's/^    "\([a-z]*\/[a-zA-Z0-9_]*\)": {$/\1/p' "$stored" | sort >"$dir/stored"
[ -s "$dir/stored" ] || bad "bench/baseline.json holds no case"
missing=$(comm -13 "$dir/cases" "$dir/stored")
[ -z "$missing" ] || bad "bench/baseline.json holds cases that are gone:" $missing
"$bench" --compare "$stored" --with "$stored" >"$dir/same" || bad "the baseline differs from itself"
grep -q '^0 slower, 0 faster' "$dir/same" || bad "the baseline differs from itself"

# 1.2 % more is slower and 1.2 % fewer faster, 0.9 % neither.
write() { # write FILE COUNT
    printf '{"compiler":"c","counter":"callgrind","date":"2026-01-01","cases":{"wf/a_min":{"n":8,"instructions":%s}}}\n' \
        "$2" >"$dir/$1"
}
write old 1000
write more 1012
write fewer 988
write near 1009
"$bench" --compare "$dir/old" --with "$dir/more" a_min >"$dir/out" && bad "slower must fail"
grep -q 'SLOWER' "$dir/out" || bad "slower is not said"
"$bench" --compare "$dir/old" --with "$dir/fewer" a_min >"$dir/out" || bad "faster must not fail"
grep -q 'faster' "$dir/out" || bad "faster is not said"
"$bench" --compare "$dir/old" --with "$dir/near" a_min >"$dir/out" || bad "a small difference must not fail"
grep -q '^0 slower, 0 faster, of 1' "$dir/out" || bad "a small difference counts"
"$bench" --compare "$dir/old" --with "$dir/near" --threshold 0.5 a_min >/dev/null && bad "the threshold is not used"
echo 'nonsense' >"$dir/broken"
"$bench" --compare "$dir/broken" >/dev/null 2>&1 && bad "a file that holds no counts is a failure"
"$bench" --compare "$dir/none" >/dev/null 2>&1 && bad "a file that is not there is a failure"

[ "$failures" -eq 0 ] && echo "bench: passed"
exit "$failures"
