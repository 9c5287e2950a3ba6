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
says "$out" '^  https://mwl.dev/v0.1/conformance/core$'
says "$out" '^  https://mwl.dev/v0.1/conformance/expressions/cel/math$'
expect 0 "$mwlvm" --help
says "$out" '^usage: '
for command in run check explain graph test resume; do
    says "$out" "^  $command "
done
expect 0 "$mwlvm" help --all
for command in run eval check explain graph asm dis decompile; do
    says "$out" "^  $command"
    "$mwlvm" $command --help >"$err" 2>&1 || complain "$command --help: status $?"
    says "$err" "^usage: mwlvm \[*$command"
done
expect 2 "$mwlvm"
says "$out" '^usage: mwlvm FILE'
expect 2 "$mwlvm" --nonsense
says "$err" "there is no option '--nonsense'"
expect 2 "$mwlvm" nonsense
says "$err" "there is no command and no file 'nonsense'"
expect 2 "$mwlvm" run
. "$(dirname "$0")/command_run.sh"
. "$(dirname "$0")/command_files.sh"
. "$(dirname "$0")/command_signals.sh"

# check: 0 clean or warnings only, 3 rejected, 2 usage or unreadable
expect 0 "$mwlvm" check tools/examples/hello.json
[ -s "$out" ] && complain 'check of a clean definition says something'
expect 3 "$mwlvm" check tests/diag/unknown-step.json
says "$out" '^error\[MWL0301\]: '
says "$out" 'unknown-step.json:6:38$'
expect 0 "$mwlvm" check tests/diag/unused-parameter.json
says "$out" '^warning\[MWL0809\]: '
expect 3 "$mwlvm" check --deny unused-parameter tests/diag/unused-parameter.json
expect 3 "$mwlvm" check --deny=warnings tests/diag/unused-parameter.json
expect 0 "$mwlvm" check --ignore MWL0809 tests/diag/unused-parameter.json
[ -s "$out" ] && complain 'an allowed warning is printed'
expect 3 "$mwlvm" check tests/diag/unknown-step.json tools/examples/hello.json tests/diag/unknown-flow.json
says "$out" '^2 errors$'
expect 3 "$mwlvm" check --format=json tests/diag/unknown-step.json
says "$out" 'MWL0301'
expect 3 "$mwlvm" check --format sarif tests/diag/unknown-step.json
says "$out" '2\.1\.0'
expect 3 "$mwlvm" check --provider tests/diag/provider-bad-prefix.json
says "$out" 'MWL0409'
sed 's|acme/cache|acme/store|; s|"step", "call"|"step"|' tests/diag/provider-bad-attachment.json >"$dir/store.json"
expect 0 "$mwlvm" check --provider "$dir/store.json" tools/examples/hello.json
expect 3 "$mwlvm" check --provider "$dir/store.json" --provider "$dir/store.json" tools/examples/hello.json
says "$out" 'MWL0411'
expect 2 "$mwlvm" check
expect 2 "$mwlvm" check --format=xml tools/examples/hello.json
expect 2 "$mwlvm" check --ignore unknown-step tools/examples/hello.json
expect 2 "$mwlvm" check --deny no-such-thing tools/examples/hello.json
expect 2 "$mwlvm" check ./no/such/file.json
expect 2 "$mwlvm" check tools/examples/hello.json --ignore
says "$err" '^mwlvm: --ignore needs a value: NAME$'
expect 0 "$mwlvm" explain mwl0301
says "$out" 'MWL0301'
expect 0 "$mwlvm" explain
says "$out" '^MWL0819  warning  endless-loop '
expect 2 "$mwlvm" explain unknown-stpe
says "$err" "did you mean 'unknown-step'"
expect 0 "$mwlvm" explain System.EmptyRaise
says "$out" '^System.EmptyRaise: A Raise without a failure to raise$'
expect 2 "$mwlvm" explain Mwlvm.NoStak
says "$err" "did you mean 'Mwlvm.NoStack'"
expect 2 "$mwlvm" explain Provider.Middleware.CircuitBreaker.Open
says "$err" 'mwlvm providers circuit-breaker'

expect 0 "$mwlvm" eval 'step.input.a + vars.b' --input '{"a": 1}' --vars '{"b": 2}'
says "$out" '^3$'
expect 0 "$mwlvm" eval '{{ 1 + 2 }}'
says "$out" '^3$'
expect 2 "$mwlvm" eval --vrs '{}' 1
says "$err" "there is no option '--vrs'; did you mean '--vars'?"
expect 2 "$mwlvm" eval vars.x --vars '[1]'
says "$err" 'must be an object'
expect 0 "$mwlvm" eval --cel '[1, 2u, 3.0]'
says "$out" '^\[1, 2u, 3.0\]$'
expect 1 "$mwlvm" eval step.input.features --input '{"id": 1, "name": "x"}'
says "$err" "no such key 'features', column 12, having {id, name}"
says "$err" '^  1 | step.input.features$'
says "$err" '^    |            ^^^^^^^^$'
expect 3 "$mwlvm" eval stpe.input
says "$err" 'did you mean .step.'
expect 2 "$mwlvm" eval
expect 2 "$mwlvm" eval 1 --vars
expect 2 "$mwlvm" eval 1 --vars '{'

expect 0 "$mwlvm" asm tests/golden/steps.json -o "$dir/steps.mwlb"
expect 0 "$mwlvm" decompile "$dir/steps.mwlb"
cmp -s "$out" tests/golden/steps.json || complain "what is decompiled is not what was assembled"
cp "$out" "$dir/back.json"
expect 0 "$mwlvm" asm "$dir/back.json" -o "$dir/again.mwlb"
cmp -s "$dir/steps.mwlb" "$dir/again.mwlb" || complain "assembling what was decompiled gives other bytes"
expect 0 "$mwlvm" asm --strip tests/golden/steps.json -o -
cp "$out" "$dir/small.mwlb"
[ "$(wc -c <"$dir/small.mwlb")" -lt 700 ] || complain "a stripped program is not small"
expect 1 "$mwlvm" decompile "$dir/small.mwlb"
says "$err" 'the definition was stripped'
expect 0 "$mwlvm" dis "$dir/small.mwlb"
says "$out" '^; ---- step0 Pass shape$'
expect 0 "$mwlvm" dis tests/golden/steps.json
says "$out" 'match.input > vars.limit'
cp tests/golden/call.json "$dir/call.json"
expect 0 "$mwlvm" asm "$dir/call.json"
[ -s "$dir/call.mwlb" ] || complain "the program is not beside its definition"
echo '{' | expect 3 "$mwlvm" asm - -o "$dir/none.mwlb"
[ ! -e "$dir/none.mwlb" ] || complain "a rejected definition left a file"
expect 2 "$mwlvm" asm
expect 2 "$mwlvm" asm "$dir/no-such.json"
expect 2 "$mwlvm" asm --ignore no-such-warning "$dir/call.json"
expect 2 "$mwlvm" dis --nonsense
expect 2 "$mwlvm" decompile

expect 0 "$suite" --help
says "$out" 'What is skipped'
expect 2 "$suite"
expect 2 "$suite" nonsense "$dir"
says "$err" 'no such kind: nonsense'
expect 2 "$suite" json /no/such/folder
expect 2 "$suite" --nonsense json "$dir"

[ "$failed" -eq 0 ] && echo "the commands behave"
exit "$failed"
