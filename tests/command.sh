#!/bin/sh
# command.sh MWLVM MWL_SUITE: the commands' outside behaviour: statuses, streams, closing lines.
mwlvm=$1
suite=$2
failed=0
out=$(mktemp)
err=$(mktemp)
dir=$(mktemp -d)
trap 'rm -rf "$out" "$err" "$dir"' EXIT

# expect STATUS COMMAND...: runs it, keeps its streams in $out and $err.
expect() {
    want=$1
    shift
    "$@" >"$out" 2>"$err" </dev/null
    got=$?
    [ "$got" -eq "$want" ] || complain "$*: status $got instead of $want"
}
complain() {
    echo "FAIL $*"
    cat "$out" "$err"
    failed=1
}
says() { grep -q -- "$2" "$1" || complain "'$2' is missing"; }

expect 0 "$mwlvm" --version
says "$out" '^mwlvm [0-9]*\.[0-9]*\.[0-9]*$'
says "$out" '^program format: [0-9]*$'
says "$out" '^instruction set: [0-9a-f]\{8\}$'
says "$out" '^coroutines: \(minicoro\|ucontext\)$'
expect 0 "$mwlvm" --help
says "$out" '^usage: '
expect 2 "$mwlvm"
says "$err" 'no command'
expect 2 "$mwlvm" --nonsense
says "$err" "unknown option '--nonsense'"
expect 2 "$mwlvm" nonsense
says "$err" "no such command: 'nonsense'"
expect 2 "$mwlvm" run
. "$(dirname "$0")/command_run.sh"

expect 0 "$mwlvm" eval 'step.input.a + vars.b' --input '{"a": 1}' --vars '{"b": 2}'
says "$out" '^3$'
expect 0 "$mwlvm" eval --cel '[1, 2u, 3.0]'
says "$out" '^\[1, 2u, 3.0\]$'
expect 1 "$mwlvm" eval step.input.features --input '{"id": 1, "name": "x"}'
says "$err" "no such key 'features' at .step.input.features., column 12, having {id, name}"
says "$err" '^             ^~~~~~~~$'
expect 3 "$mwlvm" eval stpe.input
says "$err" 'did you mean .step.'
expect 2 "$mwlvm" eval
expect 2 "$mwlvm" eval 1 --vars
expect 2 "$mwlvm" eval 1 --vars '{'

expect 0 "$suite" --help
says "$out" 'What is skipped'
expect 2 "$suite"
expect 2 "$suite" nonsense "$dir"
says "$err" 'no such kind: nonsense'
expect 2 "$suite" json /no/such/folder
expect 2 "$suite" --nonsense json "$dir"

[ "$failed" -eq 0 ] && echo "the commands behave"
exit "$failed"
