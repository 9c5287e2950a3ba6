# command_files.sh: what the commands read and write, and how they are called. Sourced by command.sh, after
# command_run.sh, which has flow, fed, is and quiet.

# ---- standard streams that are closed: as if they were there and failed
"$mwlvm" run $hello <&- >"$out" 2>"$err" || complain "standard input is closed: status $?"
is '{"greeting":"Hello, world!"}'
"$mwlvm" run $hello >&- 2>"$err" </dev/null
[ $? -eq 2 ] || complain "standard output is closed: not status 2"
says "$err" '^mwlvm: standard output: Bad file descriptor$'
flow raises '"steps": {"a": {"action": "Raise", "result": {"code": "A.B"}}}'
"$mwlvm" run "$dir/raises.json" >&- 2>"$err" </dev/null
[ $? -eq 2 ] || complain "standard output is closed, and the run fails: not status 2"
says "$err" '^mwlvm: standard output: Bad file descriptor$'
"$mwlvm" run $hello --trace >"$out" 2>&- </dev/null || complain "standard error is closed: status $?"
is '{"greeting":"Hello, world!"}'
"$mwlvm" run $hello <&- >"$out" 2>&- || complain "two streams are closed: status $?"
"$mwlvm" run $hello --input - <&- >"$out" 2>"$err"
[ $? -eq 2 ] || complain "--input - with a closed standard input: not status 2"
says "$err" '^mwlvm: standard input: Bad file descriptor$'

(ulimit -n 5 && "$mwlvm" run $hello) >"$out" 2>"$err" </dev/null
[ $? -eq 2 ] || complain "five open files are allowed: not status 2"
says "$err" 'open files must be allowed'

# ---- a pipe is waited for, however long it takes. A program that starts the command may give it one and never close it:
# after two seconds there is a word, also without a terminal.
(sleep 2.5; printf '{"name": "slow"}') | "$mwlvm" $hello >"$out" 2>"$err"
is '{"greeting":"Hello, slow!"}'
[ "$(cat "$err")" = 'mwlvm: waiting for the input on standard input; `--input null` runs without it' ] ||
    complain "a pipe that gives nothing is not mentioned"

# ---- the input: JSON before files
flow echo '"steps": {"a": {"action": "Return", "value": "{{ step.input }}"}}'
printf '"from file"' >"$dir/null"
printf '"from file"' >"$dir/word"
(cd "$dir" && "$mwlvm" echo.json --input null </dev/null >"$out" 2>"$err")
is 'null'
(cd "$dir" && "$mwlvm" echo.json --input @null </dev/null >"$out" 2>"$err")
is '"from file"'
(cd "$dir" && "$mwlvm" echo.json --input word </dev/null >"$out" 2>"$err")
is '"from file"'
expect 2 "$mwlvm" "$dir/echo.json" --input @no/such
says "$err" '^mwlvm: no/such: No such file or directory$'
expect 2 "$mwlvm" "$dir/echo.json" --input 1e400
says "$err" '^mwlvm: error: --input:1:1: .*too large for a double'
expect 0 "$mwlvm" "$dir/echo.json" --input 12345678901234567891
is '12345678901234567000'
says "$err" '^mwlvm: note: --input:1:1: this integer becomes 12345678901234567000$'
expect 0 "$mwlvm" "$dir/echo.json" --input '{"a": {"b": 1, "c": [], "b": {}}}'
is '{"a":{"b":{},"c":[]}}'
says "$err" "^mwlvm: note: --input:1:25: the member 'b' appears twice in one object; the last one counts\$"
expect 0 "$mwlvm" "$dir/echo.json" --input '{"a": [1, {}, [ ], "x,y:{\"", 123456789012345], "b": {"c": {"d": null}}}'
quiet
fed 2 '{"a": 1,
  "b": [1, 2,, 3]}' "$mwlvm" "$dir/echo.json"
says "$err" '^mwlvm: error: standard input:2:'
says "$err" '^  2 |   "b": \[1, 2,, 3\]}$'
says "$err" '^    |              ^$'
expect 2 "$mwlvm" "$dir/args.json" --arg 's={"x": '
says "$err" '^mwlvm: error: --arg s:1:'

# ---- eval reads its input as run does
expect 0 "$mwlvm" eval -- '-1'
is '-1'
expect 0 "$mwlvm" eval -1
is '-1'
fed 0 '{"a": 7}' "$mwlvm" eval step.input.a
is '7'
fed 0 '{"a": 7}' "$mwlvm" eval step.input.a --input -
is '7'
expect 0 "$mwlvm" eval step.input.name --input "$dir/input.json"
is '"file"'
expect 0 "$mwlvm" eval vars.name --vars @"$dir/input.json"
is '"file"'
fed 0 '{"a": 7}' "$mwlvm" eval 'vars.a' --vars -
is '7'
expect 2 "$mwlvm" eval vars.a --vars - --input -
says "$err" 'cannot be both vars and the input'
expect 3 "$mwlvm" eval input.a
says "$err" 'did you mean `step.input`'
expect 2 "$mwlvm" eval 1 2
says "$err" "one EXPR is wanted, not '1' and '2'"

# ---- asm -o: never onto its input, whole or not at all, nothing removed
cp $hello "$dir/mine.json"
expect 2 "$mwlvm" asm "$dir/mine.json" -o "$dir/mine.json"
says "$err" 'would overwrite the definition'
ln -s mine.json "$dir/link.json"
expect 2 "$mwlvm" asm "$dir/mine.json" -o "$dir/link.json"
ln "$dir/mine.json" "$dir/hard.json"
expect 2 "$mwlvm" asm "$dir/hard.json" -o "$dir/mine.json"
"$mwlvm" asm - -o "$dir/mine.json" <"$dir/mine.json" >"$out" 2>"$err"
[ $? -eq 2 ] || complain "asm - -o onto its standard input: not status 2"
cmp -s $hello "$dir/mine.json" || complain "the definition was overwritten"
expect 0 "$mwlvm" asm $hello -o "$dir/good.mwlb"
cp "$dir/good.mwlb" "$dir/kept.mwlb"
(
    trap '' XFSZ
    ulimit -f 0
    "$mwlvm" asm tests/golden/steps.json -o "$dir/good.mwlb" 2>/dev/null
)
[ $? -eq 2 ] || complain "a file that cannot be written: not status 2"
cmp -s "$dir/good.mwlb" "$dir/kept.mwlb" || complain "a failure to write lost the earlier program"
[ "$(find "$dir" -name 'good.mwlb*' | wc -l)" -eq 1 ] || complain "a failure to write left a file behind"
chmod 600 "$dir/good.mwlb"
ln -s good.mwlb "$dir/link.mwlb"
ln -s new.mwlb "$dir/dangling.mwlb"
expect 0 "$mwlvm" asm tests/golden/steps.json -o "$dir/link.mwlb"
expect 0 "$mwlvm" asm tests/golden/steps.json -o "$dir/dangling.mwlb"
[ -L "$dir/link.mwlb" ] && [ -L "$dir/dangling.mwlb" ] || complain "asm -o replaced a link"
cmp -s "$dir/good.mwlb" "$dir/new.mwlb" || complain "asm -o does not follow links"
case $(ls -l "$dir/good.mwlb") in -rw-------*) ;; *) complain "asm -o changed the permissions" ;; esac
mkfifo "$dir/pipe"
cat "$dir/pipe" >"$dir/piped.mwlb" &
expect 0 "$mwlvm" asm tests/golden/steps.json -o "$dir/pipe"
wait $!
[ -p "$dir/pipe" ] || complain "asm -o removed a pipe"
cmp -s "$dir/piped.mwlb" "$dir/new.mwlb" || complain "asm -o into a pipe gives other bytes"
if [ -c /dev/full ]; then
    ln -s /dev/full "$dir/full"
    expect 2 "$mwlvm" asm $hello -o "$dir/full"
    says "$err" 'No space left on device'
    [ -c /dev/full ] && [ -L "$dir/full" ] || complain "asm -o removed what it could not write to"
fi
expect 2 "$mwlvm" asm $hello -o "$dir"
says "$err" 'Is a directory'
expect 2 "$mwlvm" asm $hello -o "$dir/no/such.mwlb"

# ---- programs and empty files where a definition is wanted
for command in check asm; do
    expect 3 "$mwlvm" $command "$dir/good.mwlb"
    says "$err" 'good.mwlb: this is a program file'
    [ ! -s "$out" ] || complain "$command of a program prints something"
done
: >"$dir/empty.mwlb"
expect 3 "$mwlvm" run "$dir/empty.mwlb"
says "$err" '^mwlvm: .*/empty.mwlb: the file is empty$'
expect 3 "$mwlvm" run "$dir/empty.mwlb" --input null
: >"$dir/empty.json"
expect 3 "$mwlvm" check "$dir/empty.json"
says "$out" 'the file is empty'
expect 3 "$mwlvm" run "$dir/bad.json"
says "$err" '^error\[MWL0101\]'
grep -q 'rejected' "$err" && complain "what the diagnostics say is said again"

# ---- check goes on, and looks into folders
expect 3 "$mwlvm" check $hello "$dir/no-such.json" tests/diag/unknown-step.json
says "$err" 'no-such.json: No such file'
says "$out" '^error\[MWL0301\]: '
expect 2 "$mwlvm" check $hello "$dir/no-such.json"
tree=$dir/tree
mkdir -p "$tree/b/c" "$tree/.hidden"
cp $hello "$tree/a.json"
cp tests/diag/unknown-step.json "$tree/b/c/z.json"
cp tests/diag/unknown-flow.json "$tree/b/c/y.json"
cp tests/diag/unknown-flow.json "$tree/.hidden/x.json"
cp tests/diag/unknown-flow.json "$tree/text.txt"
cp tests/diag/provider-bad-prefix.json "$tree/b/provider.json"
printf '{"name": "data"}' >"$tree/data.json"
ln -s .. "$tree/b/up"
expect 3 "$mwlvm" check "$tree"
says "$out" '^3 errors$'
says "$out" 'tree/b/c/z.json:6:38$'
says "$out" 'MWL0409'
says "$err" 'tree: 1 JSON file was passed over'
[ "$(grep -- '--> ' "$out" | sed 's/.*tree//; s/:.*//' | tr '\n' ' ')" = '/b/c/y.json /b/c/z.json /b/provider.json ' ] ||
    complain "check of a folder: other files, or another order"
expect 2 "$mwlvm" check "$cases/none"
says "$err" "there is no definition in this folder"

# ---- check --fix: in the file; --diff: only shown, and a patch
cat >"$dir/fix.json" <<'EOF'
{
  "$schema": "https://mwl.dev/v0.1/flow/schema.json",
  "entrypoint": "strat",
  "steps": {
    "start": { "action": "pass", "nxt": "s1" },
    "s1": { "action": "Pass", "next": "s2" },
    "s2": { "action": "Pass", "next": "s3" },
    "s3": { "action": "Pass", "next": "s4" },
    "s4": { "action": "Pass", "next": "s5" },
    "s5": { "action": "Pass", "next": "s6" },
    "s6": { "action": "Pass", "next": "s7" },
    "s7": { "action": "Pass", "next": "s8" },
    "s8": { "action": "Pass", "nxt": "done" },
    "done": { "action": "return" }
  }
}
EOF
cp "$dir/fix.json" "$dir/unfixed.json"
chmod 640 "$dir/fix.json"
expect 3 "$mwlvm" check --diff "$dir/fix.json"
cmp -s "$dir/fix.json" "$dir/unfixed.json" || complain "check --diff changes the file"
says "$out" '^--- .*/fix.json$'
says "$out" '^-  "entrypoint": "strat",$'
says "$out" '^+  "entrypoint": "start",$'
says "$out" '^@@ -1,8 +1,8 @@$'
says "$out" '^@@ -10,7 +10,7 @@$'
[ "$(grep -c '^[-+] ' "$out")" -eq 8 ] || complain "check --diff: other lines than those that change"
cp "$out" "$dir/fix.diff"
expect 0 "$mwlvm" check --fix "$dir/fix.json"
says "$err" 'fix.json: 5 repairs made$'
says "$err" '^+    "done": { "action": "Return" }$'
[ ! -s "$out" ] || complain "check --fix: something is left"
case $(ls -l "$dir/fix.json") in -rw-r-----*) ;; *) complain "check --fix changed the permissions" ;; esac
if command -v patch >/dev/null 2>&1; then
    cp "$dir/unfixed.json" "$dir/patched.json"
    patch -s "$dir/patched.json" <"$dir/fix.diff" && cmp -s "$dir/patched.json" "$dir/fix.json" ||
        complain "check --diff is not the patch that --fix makes"
fi
expect 0 "$mwlvm" check --fix "$dir/fix.json"
quiet
expect 2 "$mwlvm" check --fix -
says "$err" '--fix cannot change standard input'
expect 2 "$mwlvm" check --fix --diff "$dir/fix.json"
fed 3 "$(cat "$dir/unfixed.json")" "$mwlvm" check --diff -

# ---- usage: the right page, near names
expect 2 "$mwlvm"
says "$out" '^usage: mwlvm FILE'
expect 0 "$mwlvm" help --all
says "$out" '^  decompile '
expect 0 "$mwlvm" help run
says "$out" '^  --virtual-time '
expect 0 "$mwlvm" run --help
says "$out" '^  6  a limit was reached'
expect 0 "$mwlvm" -V
says "$out" '^mwlvm [0-9]'
expect 2 "$mwlvm" help runn
says "$err" "did you mean 'run'?"
expect 2 "$mwlvm" runn x.json
says "$err" "there is no command and no file 'runn'; did you mean 'run'?"
expect 2 "$mwlvm" run $hello --inptu 3
says "$err" "there is no option '--inptu'; did you mean '--input'?"
says "$err" '^mwlvm: see `mwlvm run --help`$'
expect 2 "$mwlvm" check --ignore unused-flo $hello
says "$err" "there is no warning 'unused-flo'; did you mean 'unused-flow'?"
says "$err" '^mwlvm: see `mwlvm check --help`$'
expect 2 "$mwlvm" check --provider
says "$err" '^mwlvm: --provider needs a value: FILE$'
expect 2 "$mwlvm" asm -o
says "$err" '^mwlvm: -o needs a value: OUT$'
for command in run eval check asm dis decompile; do
    expect 2 "$mwlvm" $command --color=purple $hello
    says "$err" '--color is auto, always or never'
done

# ---- colour
expect 3 "$mwlvm" check --color always tests/diag/unknown-step.json
says "$out" "$(printf '\033\\[1;31m')"
expect 3 env CLICOLOR_FORCE=1 "$mwlvm" check tests/diag/unknown-step.json
says "$out" "$(printf '\033\\[1;31m')"
expect 3 env FORCE_COLOR=1 NO_COLOR=1 "$mwlvm" check tests/diag/unknown-step.json
grep -q "$(printf '\033')" "$out" && complain "NO_COLOR is not heard"
expect 3 env FORCE_COLOR=1 "$mwlvm" check --color=never tests/diag/unknown-step.json
grep -q "$(printf '\033')" "$out" && complain "--color never is not heard"
expect 3 env NO_COLOR= FORCE_COLOR=1 "$mwlvm" run tests/diag/unknown-step.json
says "$err" "$(printf '\033\\[1;31m')"

# ---- on a terminal: a failure is told once, text of others is escaped, no colour for a dumb one
if command -v script >/dev/null 2>&1 && script -qec true /dev/null >/dev/null 2>&1; then
    # on_tty COMMAND: the output of one command line, on a terminal of its own.
    on_tty() {
        : >"$err"
        script -qec "$1" /dev/null </dev/null 2>&1 | tr -d '\r' >"$out"
    }
    on_tty "TERM=xterm $mwlvm $dir/fault.json --input '{}'"
    grep -q '"type"' "$out" && complain "a failure is shown twice on a terminal"
    says "$out" "error System.ExpressionEvaluationError$(printf '\033')\\[0m: no such key 'missing'"
    on_tty "TERM=dumb $mwlvm $dir/fault.json --input '{}'"
    says "$out" "^mwlvm: error System.ExpressionEvaluationError: no such key 'missing'"
    on_tty "NO_COLOR=1 TERM=xterm $mwlvm $dir/fault.json --input '{}' --result"
    says "$out" '^  "type": "error",$'
    grep -q "$(printf '\033')" "$out" && complain "NO_COLOR is not heard on a terminal"
    on_tty "TERM=xterm $mwlvm $dir/echo.json --input '\"\\u009b31m \\u202e\"'"
    says "$out" '^"\\u009b31m \\u202e"$'
else
    echo "script(1) is not here: what a terminal sees is not tested"
fi

# ---- --bind: who answers for a provider
http=mwl:provider.call/example/http/v1
mock=mwl:provider.call/mwl/mock/v1
retry=tools/examples/patterns/retry.json
answers=tools/examples/patterns/declined.json
expect 0 "$mwlvm" $retry --virtual-time --bind "$http=$answers"
says "$out" '^"the card was declined"$'
expect 3 "$mwlvm" $retry --virtual-time
says "$err" 'example/http'
expect 2 "$mwlvm" $retry --virtual-time --bind "$http=$answers" --bind "mwl:provider.call/example/htpp/v1=$answers"
says "$err" "does not call 'mwl:provider.call/example/htpp/v1'; did you mean '$http'?"
expect 2 "$mwlvm" $hello --bind "$mock=$mock"
says "$err" "does not call '$mock'$"
flow bound '"steps": {"a": {"action": "Call", "call": {"provider": "mwl:provider.call/acme/x/v1",
  "with": {"value": 7}}, "next": "b"}, "b": {"action": "Return"}}'
expect 0 "$mwlvm" "$dir/bound.json" --bind "mwl:provider.call/acme/x/v1=$mock"
[ "$(cat "$out")" = 7 ] || complain "mock does not answer for another provider"
flow mocked '"steps": {"a": {"action": "Call", "call": {"provider": "'$mock'"}, "next": "b"}, "b": {"action": "Return"}}'
printf '[{"value": 1}, {"value": 2}]' >"$dir/two.json"
expect 0 "$mwlvm" "$dir/mocked.json" --bind "$mock=$dir/two.json"
[ "$(cat "$out")" = 1 ] || complain "answers do not come before the provider itself"
expect 2 "$mwlvm" $retry --bind "$http"
says "$err" 'needs URI=URI or URI=FILE.json'
expect 2 "$mwlvm" $retry --bind "$http=no/such.json"
says "$err" 'No such file'
expect 2 "$mwlvm" $retry --bind "$http=mwl:provider.call/acme/none/v1"
says "$err" "has no call provider 'mwl:provider.call/acme/none/v1'"
expect 2 "$mwlvm" $retry --bind "mwl:provider.middleware/mwl/retry/v1=$answers"
says "$err" 'is not the URI of a call provider'
expect 2 "$mwlvm" $retry --bind "$http=$answers" --bind "$http=$mock"
says "$err" 'is bound twice'
printf '{"value": 1' >"$dir/broken.json"
expect 2 "$mwlvm" $retry --bind "$http=$dir/broken.json"
says "$err" 'broken.json: '
printf '{"valu": 1}' >"$dir/odd.json"
expect 2 "$mwlvm" $retry --bind "$http=$dir/odd.json"
says "$err" 'odd.json: '
