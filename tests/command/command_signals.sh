# command_signals.sh: signals, and readers that are gone. Sourced by command.sh, after command_run.sh, which has flow.

# ---- Ctrl-C: cancelled with cleanup, in real time, busy, and under virtual time
flow nap '"middleware": [{"provider": "mwl:provider.middleware/mwl/finally/v1", "onAlways": {"with":
  {"call": {"provider": "mwl:provider.call/mwl/mock/v1"}}}}],
"steps": {"a": {"action": "Sleep", "for": "PT0.6S", "next": "b"}, "b": {"action": "Return"}}'
# interrupt SIGNAL STATUS TEXT COMMAND...: starts it, waits until TEXT is on standard error, signals.
interrupt() {
    signal=$1
    want=$2
    text=$3
    shift 3
    : >"$err"
    "$@" >"$out" 2>"$err" </dev/null &
    pid=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        grep -q "$text" "$err" && break
        sleep 0.1
    done
    kill "-$signal" "$pid"
    wait "$pid" 2>/dev/null
    got=$?
    [ "$got" -eq "$want" ] || complain "$*: status $got instead of $want"
}
interrupt INT 130 'Step entered a' "$mwlvm" "$dir/sleep.json" --trace
says "$out" '"code":"System.Cancelled"'
says "$err" 'phase.* onAlways'
interrupt TERM 143 'Step entered a' "$mwlvm" "$dir/sleep.json" --trace
says "$out" '"code":"System.Cancelled"'
says "$err" 'phase.* onAlways'
interrupt HUP 129 'Step entered a' "$mwlvm" "$dir/sleep.json" --trace
says "$out" '"code":"System.Cancelled"'
says "$err" 'phase.* onAlways'
interrupt INT 130 'Step entered a' "$mwlvm" "$dir/spin.json" --trace
interrupt INT 130 'Step entered a' "$mwlvm" "$dir/spin.json" --trace --virtual-time
says "$out" '"code":"System.Cancelled"'
flow hang '"middleware": [{"provider": "mwl:provider.middleware/mwl/finally/v1", "onAlways": {"with":
  {"call": {"provider": "mwl:provider.call/mwl/mock/v1", "with": {"delay": "PT1H"}}}}}],
"steps": {"a": {"action": "Sleep", "for": "PT1H", "next": "b"}, "b": {"action": "Return"}}'
: >"$err"
"$mwlvm" "$dir/hang.json" --trace >"$out" 2>"$err" </dev/null &
pid=$!
for text in 'Step entered a' 'cancelling'; do
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        grep -q "$text" "$err" && break
        sleep 0.1
    done
    sleep 0.2 # signals that come together are one
    kill -INT "$pid"
done
wait "$pid" 2>/dev/null
got=$?
[ "$got" -eq 130 ] || complain "two signals: status $got instead of 130"
says "$err" 'ended without a Result'


# ---- what is sent twice at once, as timeout(1) does, is one request: cleanup runs
: >"$err" # what the last command wrote would be found at once
"$mwlvm" "$dir/sleep.json" --trace >"$out" 2>"$err" </dev/null &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    grep -q 'Step entered a' "$err" && break
    sleep 0.1
done
kill -TERM "$pid" "$pid" # in one command: the machine may be busy between two
wait "$pid" 2>/dev/null
[ $? -eq 143 ] || complain "SIGTERM twice at once: not status 143"
says "$out" '"code":"System.Cancelled"'
says "$err" 'phase.* onAlways'

# ---- nohup is heard
(
    trap '' HUP
    exec "$mwlvm" "$dir/nap.json" --trace
) >"$out" 2>"$err" </dev/null &
pid=$!
sleep 0.3
kill -HUP "$pid"
wait "$pid"
[ $? -eq 0 ] || complain "SIGHUP is ignored, and ends the run"

# ---- a machine that does not answer: it is held up in a write to a pipe that nobody reads
mkfifo "$dir/stuck"
# stuck SIGNALS STATUS: sends them 0.2 s apart; the command must be gone within a second of the last.
stuck() {
    sleep 5 <"$dir/stuck" &
    reader=$!
    "$mwlvm" "$dir/spin.json" --trace >"$out" 2>"$dir/stuck" </dev/null &
    pid=$!
    sleep 0.5
    for signal in $1; do
        sleep 0.2
        kill "-$signal" "$pid"
    done
    (
        sleep 1
        kill -KILL "$pid" 2>/dev/null
    ) &
    killer=$!
    wait "$pid" 2>/dev/null
    got=$?
    kill "$reader" "$killer" 2>/dev/null
    wait "$reader" "$killer" 2>/dev/null
    [ "$got" -eq "$2" ] || complain "a machine that does not answer, $1: status $got instead of $2"
}
stuck 'INT INT' 130
stuck TERM 143
stuck HUP 129
stuck 'INT TERM' 143

# ---- the reader of the trace, or of the Result, is gone: the run goes on, its cleanup runs, the status tells
# A run waits for its input, so that the reader is gone before there is something to write.
mkfifo "$dir/gone" "$dir/feed"
flow finally '"middleware": [{"provider": "mwl:provider.middleware/mwl/finally/v1", "onAlways": {"with":
  {"call": {"provider": "mwl:provider.call/mwl/mock/v1"}}}}],
"steps": {"a": {"action": "Return"}}'
"$mwlvm" "$dir/finally.json" --trace >"$out" 2>"$dir/gone" <"$dir/feed" &
pid=$!
exec 3<"$dir/gone" 4>"$dir/feed"
exec 3<&-
exec 4>&-
wait "$pid"
[ $? -eq 2 ] || complain "nobody reads the trace: not status 2"
is 'null'
"$mwlvm" "$dir/finally.json" --trace >"$dir/gone" 2>"$err" <"$dir/feed" &
pid=$!
exec 3<"$dir/gone" 4>"$dir/feed"
exec 3<&-
exec 4>&-
wait "$pid"
[ $? -eq 2 ] || complain "nobody reads the Result: not status 2"
says "$err" '^mwlvm: standard output: Broken pipe$'
says "$err" 'call accepted'
