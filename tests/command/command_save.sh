#!/bin/sh
# command_save.sh MWLVM: `run --save`, `resume` and `show`, as a person uses them.
set -eu
mwlvm=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
same() { # same WHAT WANTED GOT
    [ "$2" = "$3" ] && return 0
    echo "$1: expected"; echo "$2"; echo "got"; echo "$3"
    failed=1
}

cat >flow.json <<'EOF'
{"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "ask",
 "parameters": {"type": "object", "properties": {"who": {"default": "Ada"}}},
 "steps": {
  "ask": {"action": "Call", "call": {"provider": "mwl:provider.call/mwl/mock/v1", "with": {"delay": "PT0.1S", "value": 5}},
          "assign": {"who": "Bob"}, "next": "nap"},
  "nap": {"action": "Sleep", "for": "PT0.2S", "next": "end"},
  "end": {"action": "Return", "value": "{{ [vars.who, step.input, frame.input] }}"}}}
EOF
"$mwlvm" asm flow.json -o flow.mwlb

"$mwlvm" run flow.mwlb --input 7 --id job --save saved --save-at nap 2>note || same "status of --save-at" 0 $?
same "the note" 'mwlvm: saved; `mwlvm resume saved` goes on with it' "$(cat note)"
same "show: where it is" "  Step nap of the root Flow: sleep" "$("$mwlvm" show saved | grep Step | sed 's/, until.*//')"
same "show: the id" "run job" "$("$mwlvm" show saved | head -n 1 | cut -d, -f1)"
same "show --json" '"step": "nap",' "$("$mwlvm" show --json saved | grep '"step"' | tr -s ' ' | sed 's/^ //')"
python3 -m json.tool >/dev/null 2>&1 <<EOT || same "show --json is JSON" yes no
$("$mwlvm" show --json saved)
EOT
same "show: variables" 1 "$("$mwlvm" show saved | grep -c '"who":"Bob"\|who.*Bob')"
"$mwlvm" run flow.json --input 7 --save waits --save-at ask 2>/dev/null || same "status of --save-at, a call" 0 $?
# a Gather of a called Flow and a call, in the middle: everything that `show` tells, as text and as JSON
cat >both.json <<'EOF'
{"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "first", "steps": {
 "first": {"action": "Pass", "assign": {"who": "{{ 'Bob \"B\" ' + string(step.input) }}"}, "next": "both"},
 "both": {"action": "Gather", "next": "end", "calls": [
  {"flow": {"entrypoint": "in", "steps": {
   "in": {"action": "Call", "next": "out", "call": {"provider": "mwl:provider.call/mwl/mock/v1", "with": {"delay": "PT1H"}},
    "middleware": [{"provider": "mwl:provider.middleware/mwl/timeout/v1", "onEntry": {"with": {"duration": "PT2H"}}}]},
   "out": {"action": "Return"}}}},
  {"provider": "mwl:provider.call/mwl/mock/v1", "with": {"delay": "PT3H"}}]},
 "end": {"action": "Return", "value": "{{ vars.who }}"}}}
EOF
"$mwlvm" run both.json --input 7 --id two --save both --save-at in 2>/dev/null || same "status of --save-at, in a called Flow" 0 $?
same "show: all of it" 'run two, saved at TIME
has work at TIME
  Step both of the root Flow: gather (line 3)
    input: 7
    vars: {"who":"Bob \"B\" 7"}
  Step in of a Flow without a name: call, until TIME (line 5)
    in mwl:provider.middleware/mwl/timeout/v1
    input: 7
    vars: {}
  waits for call 1: mwl:provider.call/mwl/mock/v1
  waits for call 2: mwl:provider.call/mwl/mock/v1' \
    "$("$mwlvm" show both | sed 's/20[0-9-]*T[0-9:.]*Z/TIME/')"
"$mwlvm" show --json both >both.shown
cat >look.py <<'EOF'
import datetime, json
shown = json.load(open("both.shown"))
when = lambda text: datetime.datetime.fromisoformat(text[:19])
hours = lambda text: round((when(text) - when(shown["savedAt"])).total_seconds() / 3600, 2)
print(sorted(shown), shown["id"], len(bytes.fromhex(shown["program"])), hours(shown["due"]))
for f in shown["frames"]:
    print(f["depth"], f["step"], f["line"], f["at"], f["due"] and hours(f["due"]), f["middleware"], f["input"], f["vars"])
for c in shown["calls"]:
    print(c)
EOF
same "show --json: all of it" "['bytes', 'calls', 'due', 'frames', 'id', 'program', 'savedAt'] two 16 1.0
0 both 3 gather None [] 7 {'who': 'Bob \"B\" 7'}
1 in 5 call 2.0 [{'provider': 'mwl:provider.middleware/mwl/timeout/v1', 'runs': 1}] 7 {}
{'number': 1, 'attempt': 1, 'provider': 'mwl:provider.call/mwl/mock/v1', 'held': False, 'cancelled': False, 'input': 7}
{'number': 2, 'attempt': 1, 'provider': 'mwl:provider.call/mwl/mock/v1', 'held': False, 'cancelled': False, 'input': 7}" \
    "$(python3 look.py)"
# what is open in a run that was saved began before: its ends are heard
same "resume -v" '  run  7
  both  7
    #1 dispatch mock  7
    #0 dispatch
    #0 in  7
      #0 call mock  7
      #0 call mock done  7
    #0 out  7
    #0 dispatch done  7
    #1 dispatch mock done  7
  end  [7,7]
  run done  {"type":"success","value":"Bob \"B\" 7"}' \
    "$("$mwlvm" resume both --virtual-time -v 2>&1 >/dev/null | sed 's/^ *[0-9.]*//; s/ done, [0-9:.]* [a-z]*/ done/')"
same "show changes nothing: resume" '"Bob \"B\" 7"' "$("$mwlvm" resume both --virtual-time)"
# a run that cannot be saved is not lost: it goes on, and the status says that there is no file
if [ -e /dev/full ]; then
    status=0; "$mwlvm" run both.json --input 7 --save /dev/full --save-at in --virtual-time >value 2>note || status=$?
    same "--save to a full disk" '2 "Bob \"B\" 7"
mwlvm: /dev/full: No space left on device
mwlvm: the run was not saved and goes on' "$status $(cat value note)"
fi
# a run that is over: a store has it, if this build has stores
cat >short.json <<'EOF'
{"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "end", "steps": {
 "end": {"action": "Return", "value": ["Bob", "{{ step.input }}"]}}}
EOF
if "$mwlvm" run short.json --input 8 --id over --store store.db >/dev/null 2>&1; then
    same "show: a run that is over" '  result: {"type":"success","value":["Bob",8]}' \
        "$("$mwlvm" show --store store.db over | tail -n 1)"
    same "show --json: a run that is over" "over done ['Bob', 8]" "$("$mwlvm" show --store store.db over --json |
        python3 -c 'import json, sys; o = json.load(sys.stdin); print(o["id"], o["state"], o["result"]["value"])')"
fi
# a run that was saved with much memory is shown within the limits of the command, not of its sender
cat >large.json <<'EOF'
{"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "make", "steps": {
 "make": {"action": "Pass", "assign": {"l": "{{ lists.range(200000).map(i, [i]) }}"}, "next": "nap"},
 "nap": {"action": "Sleep", "for": "PT1H", "next": "end"}, "end": {"action": "Return"}}}
EOF
"$mwlvm" run large.json --save much --save-at nap 2>/dev/null || same "status of --save-at, much" 0 $?
for command in show resume; do
    status=0; "$mwlvm" $command much --memory 8M >/dev/null 2>note || status=$?
    [ "$status" -ne 0 ] || same "$command within --memory 8M" refused "$status"
done
# only the owner may read the file, also where another file was
touch quit && chmod 644 quit
"$mwlvm" run flow.json --input 7 --save quit --save-at nap 2>/dev/null
same "who may read it" "-rw-------" "$(ls -l quit | cut -c1-10)"
"$mwlvm" run flow.json --input 7 --save never --save-at end 2>note >/dev/null || same "status of a Step without a wait" 0 $?
same "--save-at a Step that never waits" "mwlvm: not saved: the run never waited in Step end" "$(cat note)"
[ ! -e never ] || same "--save-at a Step that never waits" "no file" "a file"
"$mwlvm" run flow.json --input 7 --save saved --save-at nap --report page.html 2>/dev/null
same "--report of a run that was saved" 1 "$(grep -c -i '<!doctype html>' page.html)"
rm flow.json flow.mwlb # the saved run has its program
same "resume" '["Bob",5,7]' "$("$mwlvm" resume saved)"
same "resume again, with the clock skipping" '["Bob",5,7]' "$("$mwlvm" resume saved --virtual-time)"

# virtual time goes on from the instant of saving, not from its beginning
cat >times.json <<'EOF'
{"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "wait", "steps": {
 "wait": {"action": "Sleep", "for": "PT5H", "next": "note"},
 "note": {"action": "Pass", "assign": {"then": "{{ string(now()) }}"}, "next": "nap"},
 "nap": {"action": "Sleep", "for": "PT2S", "next": "end"},
 "end": {"action": "Return", "value": "{{ [vars.then, string(now())] }}"}}}
EOF
"$mwlvm" run times.json --input 1 --virtual-time --save times --save-at nap 2>/dev/null
same "resume --virtual-time" "$("$mwlvm" run times.json --input 1 --virtual-time)" "$("$mwlvm" resume times --virtual-time)"

# Ctrl-\
cat >long.json <<'EOF'
{"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "nap", "steps": {
 "nap": {"action": "Sleep", "for": "PT1H", "next": "end"}, "end": {"action": "Return"}}}
EOF
"$mwlvm" run long.json --input 1 --save quit 2>/dev/null &
process=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do # its handler may not be there yet
    sleep 0.3
    kill -QUIT "$process" 2>/dev/null || break
done
kill -9 "$process" 2>/dev/null || true # only if it did not end
wait "$process" || same "status of Ctrl-\\" 0 $?
same "resume after Ctrl-\\" 1 "$("$mwlvm" resume quit --virtual-time)"

# what is refused
status=0; "$mwlvm" resume long.json 2>note || status=$?
same "a definition is not a saved run" "3 mwlvm: long.json: this is not a saved run" "$status $(cat note)"
head -c 200 quit >cut
status=0; "$mwlvm" resume cut 2>note || status=$?
same "a file that was cut" "3 mwlvm: cut: the saved run is not complete" "$status $(cat note)"
status=0; "$mwlvm" show cut 2>note || status=$?
same "show of a file that was cut" "3 mwlvm: cut: the saved run is not complete" "$status $(cat note)"
{ head -c $(($(wc -c <quit) - 1)) quit; printf '\377'; } >changed
for command in resume show; do
    status=0; "$mwlvm" $command changed 2>note || status=$?
    same "$command of a file that was changed" "3 mwlvm: changed: the checksum of the saved run is wrong" "$status $(cat note)"
done
for command in run check; do
    status=0; "$mwlvm" $command quit 2>note || status=$?
    same "$command of a saved run" "3 mwlvm: quit: this is a saved run; \`mwlvm resume\` goes on with it, \`mwlvm show\` describes it" "$status $(cat note)"
done
status=0; "$mwlvm" run long.json --input 1 --save x --save-at nab 2>note || status=$?
same "--save-at a Step that does not exist" "2 mwlvm: --save-at: there is no Step 'nab'; did you mean 'nap'?" "$status $(head -n 1 note)"
status=0; "$mwlvm" run long.json --input 1 --save long.json --save-at nap 2>note || status=$?
same "--save onto the definition" "2 mwlvm: --save would overwrite long.json" "$status $(head -n 1 note)"
status=0; "$mwlvm" resume quit --virtual-time --fuel 1 >/dev/null 2>note || status=$?
same "the limits of resume" "6 mwlvm: --fuel 1 was used up" "$status $(grep -o 'mwlvm: --fuel 1 was used up' note)"
same "show says the same each time" "$("$mwlvm" show quit)" "$("$mwlvm" show quit)"
same "the usage of resume" "usage: mwlvm resume FILE [OPTIONS]" "$("$mwlvm" resume --help | head -n 1)"
status=0; "$mwlvm" run long.json --save-at nap 2>/dev/null || status=$?
same "--save-at without --save" 2 "$status"
for option in --input --id --seed; do
    status=0; "$mwlvm" resume quit $option 1 2>note || status=$?
    same "resume with $option" "2 mwlvm: there is no option '$option'" "$status $(head -n 1 note | cut -d';' -f1)"
done
# a case of `mwlvm test` begins with an input and ends with a Result
status=0; "$mwlvm" resume quit --record case.json 2>note || status=$?
same "resume --record" "2 mwlvm: there is no option '--record'; did you mean '--report'?" "$status $(head -n 1 note)"
status=0; "$mwlvm" run long.json --save x --record case.json 2>note || status=$?
same "--save with --record" "2 mwlvm: --record is for a whole run, not for --save" "$status $(head -n 1 note)"
exit $failed
