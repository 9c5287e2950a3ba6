# command_run.sh: `mwlvm run`, seen from outside. Sourced by command.sh, which has expect, says and complain.

# is TEXT: standard output is exactly this line.
is() { [ "$(cat "$out")" = "$1" ] || complain "standard output is not $1"; }
quiet() { [ ! -s "$err" ] || complain "standard error is not empty"; }
# fed STATUS INPUT COMMAND...: like expect, with INPUT on a pipe.
fed() {
    want=$1
    text=$2
    shift 2
    printf '%s' "$text" | "$@" >"$out" 2>"$err"
    got=$?
    [ "$got" -eq "$want" ] || complain "$*: status $got instead of $want"
}
flow() { # flow NAME STEPS: a definition whose entrypoint is the Step a
    printf '{"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a",\n%s}' "$2" >"$dir/$1.json"
}

# ---- files and the input
hello=tools/examples/hello.json
expect 0 "$mwlvm" $hello
is '{"greeting":"Hello, world!"}'
quiet
expect 0 "$mwlvm" run $hello --input '{"name": "Ada"}'
is '{"greeting":"Hello, Ada!"}'
expect 0 "$mwlvm" --input='{"name": "Ada"}' $hello
is '{"greeting":"Hello, Ada!"}'
printf '{"name": "file"}' >"$dir/input.json"
expect 0 "$mwlvm" $hello --input "$dir/input.json"
is '{"greeting":"Hello, file!"}'
fed 0 '{"name": "pipe"}' "$mwlvm" $hello --input -
is '{"greeting":"Hello, pipe!"}'
fed 0 '{"name": "pipe"}' "$mwlvm" $hello
is '{"greeting":"Hello, pipe!"}'
fed 0 '' "$mwlvm" $hello
is '{"greeting":"Hello, world!"}'
fed 2 '{"name": ' "$mwlvm" $hello
says "$err" 'standard input:1:'
fed 0 "$(cat $hello)" "$mwlvm" - --input '{"name": "both"}'
is '{"greeting":"Hello, both!"}'
"$mwlvm" $hello <"$dir/input.json" >"$out" 2>"$err"
is '{"greeting":"Hello, file!"}'
expect 0 "$mwlvm" $hello --result
is '{"type":"success","value":{"greeting":"Hello, world!"}}'
expect 0 "$mwlvm" $hello --pretty
says "$out" '^  "greeting": "Hello, world!"$'
expect 0 "$mwlvm" $hello --trace
says "$err" 'Step entered greet'
is '{"greeting":"Hello, world!"}'
cp $hello "$dir/bare"
(cd "$dir" && "$mwlvm" bare </dev/null >"$out" 2>"$err")
is '{"greeting":"Hello, world!"}'

# ---- arguments
flow args '"parameters": {"type": "object", "properties": {"n": {"type": "number"}, "s": {"default": "d"}}},
"steps": {"a": {"action": "Return", "value": "{{ vars }}"}}'
expect 0 "$mwlvm" "$dir/args.json" --arg n=1 --arg 's={"x": [true]}'
is '{"s":{"x":[true]},"n":1}'
printf '{"n": 5, "s": "file"}' >"$dir/a.json"
expect 0 "$mwlvm" "$dir/args.json" --args "$dir/a.json" --arg n=6
is '{"s":"file","n":6}'
expect 1 "$mwlvm" "$dir/args.json" --arg 'n="text"'
says "$out" 'System.ParameterValidationFailed'
says "$err" '^  /n = "text": must be a number, is a string$'
expect 1 "$mwlvm" "$dir/args.json" --arg 'n="text"' --arg nn=1
says "$err" "^  /nn = 1: 'nn' is not a declared parameter\$"
expect 2 "$mwlvm" "$dir/args.json" --arg s=word
says "$err" "a string is written 's=\"word\"'"
expect 2 "$mwlvm" "$dir/args.json" --arg word
says "$err" 'NAME=JSON'
printf '[1]' >"$dir/list.json"
expect 2 "$mwlvm" "$dir/args.json" --args "$dir/list.json"
says "$err" '--args must be an object'
expect 0 "$mwlvm" "$dir/args.json" --args '{"n": 7}'
is '{"s":"d","n":7}'
fed 0 '{"n": 8}' "$mwlvm" "$dir/args.json" --args -
is '{"s":"d","n":8}'
expect 2 "$mwlvm" "$dir/args.json" --args - --input -
says "$err" 'standard input cannot be both the arguments and the input'

flow echo '"steps": {"a": {"action": "Return", "value": "{{ step.input }}"}}'

# ---- failures in words
flow raise '"steps": {"a": {"action": "Call", "call": {"flow": "sub"}, "next": "b"}, "b": {"action": "Return"}},
"flows": {"sub": {"entrypoint": "x", "steps": {"x": {"action": "Call",
  "call": {"provider": "mwl:provider.call/mwl/mock/v1", "with": {"failure": {"code": "My.First"}}}, "next": "y",
  "catch": [{"match": {"codes": ["*"]}, "next": "z"}]},
 "y": {"action": "Return"},
 "z": {"action": "Raise", "result": {"code": "My.Second", "message": "in words"}}}}}'
expect 1 "$mwlvm" "$dir/raise.json"
says "$out" '^{"type":"error","code":"My.Second","message":"in words","previous":{.*"My.First".*}}$'
says "$err" '^mwlvm: error My.Second: in words$'
says "$err" "^  at Flow 'sub', Step 'z', .*raise.json:7:"
says "$err" '^  after error My.First$'
says "$err" "^    at Flow 'sub', Step 'x', .*raise.json:3:"
flow fault '"steps": {"a": {"action": "Return",
 "value": "{{ step.input.missing }}"}}'
expect 1 "$mwlvm" "$dir/fault.json" --input '{}'
says "$err" 'error System.ExpressionEvaluationError: '
says "$err" "Step 'a', .*fault.json:3:"
says "$err" '^  3 |  "value": "{{ step.input.missing }}"}}}$'
says "$err" '^    |                          ^^^^^^^$'
expect 1 "$mwlvm" "$dir/fault.json" --input '{"id": 1, "name": 2}'
says "$err" '^  having {id, name}$'
expect 0 "$mwlvm" tests/diag/unused-parameter.json --arg used=1
says "$err" 'MWL0809'
expect 0 "$mwlvm" tests/diag/unused-parameter.json --arg used=1 --ignore unused-parameter
quiet
expect 3 "$mwlvm" tests/diag/unused-parameter.json --arg used=1 --deny warnings

# ---- text of others cannot steer the terminal: messages, codes, names, values
esc=$(printf '\033')
flow esc '"steps": {"a\u001b]0;owned\u0007": {"action": "Raise", "result": {"code": "A.B",
  "message": "{{ step.input }}", "details": {"text": "\u009b31m"}}}}'
sed -i 's/"entrypoint": "a"/"entrypoint": "a\\u001b]0;owned\\u0007"/' "$dir/esc.json"
expect 1 "$mwlvm" "$dir/esc.json" --input '"line1\nline2 \u001b[31mRED\u001b[0m \u0007bell \u202e"'  --trace
grep -q "$esc" "$err" && complain "a control character goes to the terminal"
says "$err" '^mwlvm: error A.B: line1\\nline2 \\u001b\[31mRED\\u001b\[0m \\u0007bell \\u202e$'
says "$err" "Step 'a\\\\u001b\]0;owned\\\\u0007'"
says "$err" '\\u009b31m'
expect 1 "$mwlvm" eval 'step.input.x' --input '{"\u001b[31m": 1}'
grep -q "$esc" "$err" && complain "a control character goes to the terminal"
says "$err" 'having {\\u001b\[31m}$'
expect 2 "$mwlvm" run "$(printf 'no\033such.json')"
says "$err" '^mwlvm: no\\u001bsuch.json: No such file'

# ---- the trace
flow gather '"steps": {"a": {"action": "Gather", "over": [10, 20], "call": {"flow": "sub", "input": "{{ call.input * 2.0 }}"},
  "next": "b"}, "b": {"action": "Return"}}, "flows": {"sub": {"entrypoint": "c", "steps": {
 "c": {"action": "Sleep", "for": "PT1S", "next": "d"}, "d": {"action": "Return", "value": "{{ step.input }}"}}}}'
expect 0 "$mwlvm" "$dir/gather.json" --virtual-time --trace
says "$err" '^ *0.000000 run started'
[ "$(sed -n 1p "$err" | cut -c15-)" = 'run started  null' ] || complain "the trace does not begin with the run"
[ "$(sed -n 2p "$err" | cut -c15-)" = 'Flow entered  null' ] || complain "the Flow does not come second"
says "$err" '^ *0.000000 call dispatched #1 a  input 40'
says "$err" '^ *0.000000   Flow entered #1 sub'
says "$err" '^ *1.000000   Step exited #0 c'
says "$err" '^ *1.000000 run done  {'
expect 0 "$mwlvm" "$dir/echo.json" --trace --input "\"$(printf '%0200d' 0)\""
says "$err" 'Step entered a  "0* ...$'
expect 0 "$mwlvm" "$dir/echo.json" --trace=full --input "\"$(printf '%0200d' 0)\""
says "$err" 'Step entered a  "0\{200\}"$'
expect 0 "$mwlvm" "$dir/gather.json" --virtual-time --trace=json
says "$err" '"event":"STEP_ENTERED","run":"[^"]*","depth":1,"flow":"sub","step":"c","branch":\[1\],"line":[0-9]*,"column":[0-9]*,"value":40}$'
says "$err" '^{"seconds":1.000000000,"time":"2026-01-01T00:00:01Z","event":"RUN_DONE"'
while read -r line; do
    "$mwlvm" eval 'has(step.input.event)' --input "$line" </dev/null >"$out" 2>&1
    [ "$(cat "$out")" = true ] || complain "not a JSON object: $line"
done <<EOT
$(cat "$err")
EOT
expect 2 "$mwlvm" "$dir/echo.json" --trace=loud
# the phases of the Flow's own middleware are those of no Step
flow above '"middleware": [{"provider": "mwl:provider.middleware/mwl/finally/v1", "onSuccess": {"value": 2},
  "onAlways": {"with": {"call": {"provider": "mwl:provider.call/mwl/mock/v1"}}}}],
  "steps": {"a": {"action": "Return", "value": 1}}'
expect 0 "$mwlvm" "$dir/above.json" --virtual-time --trace
for event in 'phase onEntry' 'Step exited a' 'phase onSuccess' 'phase onAlways' 'call dispatched mwl' 'middleware exited mwl'; do
    says "$err" " $event"
done
# arguments that are refused are not an expression
flow refused '"steps": {"a": {"action": "Call", "call": {"provider": "mwl:provider.call/mwl/mock/v1",
  "with": {"delay": "{{ 2 + 3 }}"}}, "next": "b"}, "b": {"action": "Return"}}'
expect 1 "$mwlvm" "$dir/refused.json"
says "$out" 'ParameterValidationFailed.*"line":'
if grep -q '"expression"' "$out"; then complain "refused arguments have an expression"; fi

# ---- statuses 3 to 6
expect 2 "$mwlvm" ./no/such/file.json
says "$err" 'no/such/file.json: No such file'
[ ! -s "$out" ] || complain "something on standard output"
expect 2 "$mwlvm" run "$dir"
printf '{\n  "a": [1, 2,, 3]\n}' >"$dir/bad.json"
expect 3 "$mwlvm" run "$dir/bad.json"
says "$err" 'bad.json:2:14'
flow unknown '"steps": {"a": {"action": "Call", "call": {"provider": "mwl:provider.call/acme/geo/v1"}, "next": "b"},
"b": {"action": "Return"}}'
expect 3 "$mwlvm" "$dir/unknown.json"
says "$err" 'acme/geo'
cat >"$dir/geo.json" <<'EOF'
{"$schema": "https://mwl.dev/v0.1/provider/schema.json", "uri": "mwl:provider.call/acme/geo/v1", "codePrefix": "Geo",
 "description": "Finds places.", "failureCatalog": {"closed": [], "open": ["*"]}, "parameters": {"type": "object"}}
EOF
expect 1 "$mwlvm" "$dir/unknown.json" --provider "$dir/geo.json"
says "$err" 'nothing implements mwl:provider.call/acme/geo/v1'
says "$out" 'Mwlvm.NotImplemented'
printf 'MWLB damaged' >"$dir/damaged.mwlb"
expect 3 "$mwlvm" "$dir/damaged.mwlb"
says "$err" 'damaged.mwlb: '
printf 'no program' >"$dir/text.mwlb"
expect 3 "$mwlvm" "$dir/text.mwlb"
says "$err" 'text.mwlb: not a program'
flow timeout '"steps": {"a": {"action": "Call", "middleware": [{"provider": "mwl:provider.middleware/mwl/timeout/v1",
  "onEntry": {"with": {"duration": "PT1M"}}}],
  "call": {"provider": "mwl:provider.call/mwl/mock/v1", "with": {"delay": "PT1H"}}, "next": "b"}, "b": {"action": "Return"}}'
expect 5 "$mwlvm" "$dir/timeout.json" --virtual-time
says "$out" 'Provider.Middleware.Timeout.Exceeded'

# several cleanups of a Gather fail: what is in no Result is printed, and a durable run has it in its log
flow hidden '"middleware": [{"provider": "mwl:provider.middleware/mwl/timeout/v1", "onEntry": {"with": {"duration": "PT0.05S"}}}],
  "steps": {"a": {"action": "Gather", "over": ["U.One", "U.Two", "U.Three"], "call": {"flow": "w"}, "next": "b"},
  "b": {"action": "Return"}}, "flows": {"w": {"middleware": [{"provider": "mwl:provider.middleware/mwl/finally/v1",
  "onAlways": {"with": {"call": {"flow": {"entrypoint": "u", "steps": {"u": {"action": "Raise", "result": {
  "code": "{{ frame.input }}", "message": "not undone"}}}}, "input": "{{ frame.input }}"}}}}], "entrypoint": "s",
  "steps": {"s": {"action": "Sleep", "for": "PT1H", "next": "r"}, "r": {"action": "Return"}}}}'
expect 1 "$mwlvm" "$dir/hidden.json" --virtual-time --id h
says "$err" "^mwlvm: run h: the cleanup of dispatch #1 of Step 'a' failed too: U.Two: not undone"
says "$err" "^mwlvm: run h: the cleanup of dispatch #2 of Step 'a' failed too: U.Three: not undone"
if "$mwlvm" run --help | grep -q durable; then
    expect 1 "$mwlvm" "$dir/hidden.json" --store "$dir/hidden.db" --id h
    says "$err" 'dispatch #1 .*: U.Two'
    "$mwlvm" logs --store "$dir/hidden.db" h >"$out"
    says "$out" 'hidden  *U.Two'
    says "$out" 'hidden  *U.Three'
fi

# ---- virtual time cannot pass when nothing can come: that is said, and nothing sleeps
ask=mwl:provider.call/acme/ask/v1
flow never '"steps": {"a": {"action": "Call", "call": {"provider": "'$ask'"}, "next": "b"}, "b": {"action": "Return"}}'
printf '{"a": [{"never": true}]}' >"$dir/never.answers"
expect 1 timeout 20 "$mwlvm" "$dir/never.json" --virtual-time --bind $ask="$dir/never.answers"
says "$err" '^mwlvm: the run waits for something that never comes, and virtual time cannot pass$'
says "$err" "^mwlvm: it is in Step 'a' (.*/never.json:2:11) and waits for $ask\$"
flow ages '"steps": {"a": {"action": "Sleep", "for": "P300Y", "next": "b"}, "b": {"action": "Return"}}'
expect 1 timeout 20 "$mwlvm" "$dir/ages.json" --virtual-time
says "$err" 'never comes'
flow spin '"steps": {"a": {"action": "Pass", "assign": {"n": "{{ step.input }}"}, "next": "a"}}'
expect 6 "$mwlvm" "$dir/spin.json" --fuel 100000
says "$err" "^mwlvm: --fuel 100000 was used up in Step 'a' (.*/spin.json:2:11)\$"
[ "$(grep -c '^mwlvm: ' "$err")" -eq 1 ] || complain "a limit is reported more than once"
flow grow '"steps": {"a": {"action": "Pass", "output": "{{ [step.input, step.input] }}", "assign": {"n": "{{ toJson(step.input) }}"}, "next": "a"}}'
expect 6 "$mwlvm" "$dir/grow.json" --memory 1M
says "$err" "^mwlvm: --memory 1M was used up in Step 'a' (.*/grow.json:2:11)\$"
says "$out" '"details":{"limit":"memory"}'
expect 6 "$mwlvm" eval 'lists.range(1000000)' --memory 100K
says "$err" '^mwlvm: --memory 100K was used up$'
expect 6 "$mwlvm" eval 'lists.range(1000).map(x, lists.range(1000).map(y, y)).size()' --fuel 10K
says "$err" '^mwlvm: --fuel 10K was used up$'
expect 6 "$mwlvm" eval 'lists.range(1000000000)'
says "$err" '^mwlvm: --memory 1G, the default, was used up; `--memory SIZE` or `--memory unlimited` allows more$'
for command in check asm run dis; do
    expect 6 "$mwlvm" $command tests/golden/steps.json --memory 2K
    says "$err" '^mwlvm: --memory 2K was used up by tests/golden/steps.json$'
done
for command in check asm dis; do
    expect 6 "$mwlvm" $command tests/golden/steps.json --fuel 1K
    says "$err" '^mwlvm: --fuel 1K was used up by the length of tests/golden/steps.json$'
done
expect 0 "$mwlvm" $hello --fuel 1K
awk 'BEGIN { printf "[0"; for (i = 0; i < 200000; i++) printf ",0"; print "]" }' >"$dir/long.json"
expect 6 "$mwlvm" "$dir/echo.json" --memory 1M --input "$dir/long.json"
says "$err" '^mwlvm: --memory 1M was used up by .*/long.json$'
expect 6 "$mwlvm" check --memory 100K "$dir/long.json"
says "$err" '^mwlvm: --memory 100K was used up by .*/long.json$'
"$mwlvm" run "$dir/echo.json" --memory 1M <"$dir/long.json" >"$out" 2>"$err"
[ $? -eq 6 ] || complain "a long standard input: not status 6"
says "$err" '^mwlvm: --memory 1M was used up by standard input$'

# ---- usage
expect 0 "$mwlvm" run --help
says "$out" '--virtual-time'
for words in '--nonsense' '--input' '--seed x' '--seed 0' '--fuel -1' '--memory 1X' '--pretty --compact' \
    'other.json' '--result=1' '--id a --id b' '--input no/such'; do
    # shellcheck disable=SC2086
    expect 2 "$mwlvm" run $hello $words
    says "$err" '^mwlvm: see `mwlvm run --help`$'
    [ "$(wc -l <"$err")" -eq 2 ] || complain "$words: not one line and the hint"
done

# ---- a program file, and a pipe that is slow
expect 0 "$mwlvm" asm $hello -o "$dir/hello.mwlb"
expect 0 "$mwlvm" "$dir/hello.mwlb" --input '{"name": "program"}'
is '{"greeting":"Hello, program!"}'
quiet
(sleep 0.3; printf '{"name": "slow"}') | "$mwlvm" $hello >"$out" 2>"$err"
is '{"greeting":"Hello, slow!"}'
quiet

# ---- the runner of cases tells what differs, and passes over what is no case
cases=$dir/cases
mkdir -p "$cases/none" "$cases/group/one/scenarios/base"
base=$cases/group/one/scenarios/base
printf '{"description": "", "profiles": [], "marks": [], "scenarios": {"base": {}}}' >"$cases/group/one/case.json"
flow sleep '"middleware": [{"provider": "mwl:provider.middleware/mwl/finally/v1", "onAlways": {"with":
  {"call": {"provider": "mwl:provider.call/mwl/mock/v1", "with": {"delay": "PT0.05S"}}}}}],
"steps": {"a": {"action": "Sleep", "for": "PT1H", "next": "b"}, "b": {"action": "Return"}}'
cp "$dir/sleep.json" "$cases/group/one/definition.json"
printf '{"cancelAfter": "PT5S", "reason": "because"}' >"$base/control.json"
printf '{"type": "cancellation", "code": "System.Cancelled", "previous": null}' >"$base/expected-result.json"
printf '["STEP_ENTERED a", "PHASE onEntry mwl:provider.middleware/mwl/finally/v1"]' >"$base/expected-trace.json"
expect 1 "$suite" mwl "$cases"
says "$out" "^FAIL group/one/base: trace: trace event 0: expected 'STEP_ENTERED a', got 'PHASE onEntry"
rm "$base/expected-trace.json"
expect 0 "$suite" mwl "$cases"
says "$out" '^1 passed, 0 failed, 0 skipped$'
printf '{"type": "cancellation", "code": "System.Cancelled", "previous": {"type": "error"}}' >"$base/expected-result.json"
expect 1 "$suite" mwl "$cases"
says "$out" '^FAIL group/one/base: previous: expected {"type":"error"}, got nothing$'
printf '{"cancelAfter": "soon"}' >"$base/control.json"
expect 1 "$suite" mwl "$cases"
says "$out" "'cancelAfter' is unknown or wrong"

# ---- ids: a seed repeats them under virtual time only
flow id '"steps": {"a": {"action": "Return", "value": "{{ execution.id }}"}}'
for _ in 1 2; do "$mwlvm" "$dir/id.json" --seed 5 --input null; done >"$out" 2>"$err"
[ "$(sort -u "$out" | wc -l)" -eq 2 ] || complain "--seed repeats an id in real time: $(cat "$out")"
for _ in 1 2; do "$mwlvm" "$dir/id.json" --seed 5 --input null --virtual-time; done >"$out" 2>"$err"
[ "$(sort -u "$out" | wc -l)" -eq 1 ] || complain "--seed does not repeat an id under virtual time: $(cat "$out")"
for _ in 1 2; do "$mwlvm" "$dir/id.json" --id one --input null; done >"$out" 2>"$err"
[ "$(sort -u "$out")" = '"one"' ] || complain "--id is not the id: $(cat "$out")"

# ---- ids
expect 2 "$mwlvm" $hello --id ''
says "$err" '^mwlvm: --id must not be empty$'
expect 2 "$mwlvm" $hello --id "$(printf 'a\377')"
says "$err" '^mwlvm: --id is not UTF-8$'

# ---- outputs that cannot be written are found before the run has effects
flow effect '"steps": {"a": {"action": "Call", "call": {"provider": "mwl:provider.call/mwlvm/file/v1", "with":
 {"path": "'"$dir"'/effect", "action": "write", "value": "done"}}, "next": "b"}, "b": {"action": "Return"}}'
for option in --record --report --save --trace-file; do
    for where in "$dir/no-folder/x" "$dir"; do
        expect 2 "$mwlvm" "$dir/effect.json" --input null --allow-write="$dir" $option "$where"
        [ ! -e "$dir/effect" ] || complain "$option $where: the effect came before the message"
    done
done
expect 0 "$mwlvm" "$dir/effect.json" --input null --allow-write="$dir" --record "$dir/effect.case.json"
[ -s "$dir/effect" ] && [ -s "$dir/effect.case.json" ] || complain "an output that can be written is not written"
[ "$(ls "$dir" | grep -c 'effect.case.json')" = 1 ] || complain "looking whether a file can be written leaves something"

# ---- integers that a double does not hold: 2^53 is one, 2^53 + 1 is the first that is not
expect 0 "$mwlvm" $hello --input '{"name": "a", "n": [9007199254740992, -9007199254740992]}'
quiet
for n in 9007199254740993 -9007199254740993; do
    expect 0 "$mwlvm" $hello --input '{"name": "a", "n": '$n'}'
    says "$err" "this integer becomes ${n%3}2$"
done
