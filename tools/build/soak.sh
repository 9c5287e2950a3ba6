# soak.sh: `tools/dev soak [PART...]`: the tests that take long. Part of tools/dev, which reads it and has say, fail,
# count, configure, run_tests, suite, model.
#
# A part is a function soak_PART that counts its passes and failures and makes rows by figure. The rows of a part are
# kept in tests/FIGURES.md until that part runs again, each with the commit that it was measured at.

soak_parts="tests model bytes cancel host cost each reader editor simulation crashes kills fleet serve protocol options mutations fuzz"

# figure WHAT TEXT: a row of tests/FIGURES.md, with the seconds since the last one.
figure() {
    now=$(date +%s)
    echo "| $part | $1 | $2 | $((now - since)) s | $(date -u +%F) $(git rev-parse --short HEAD 2>/dev/null) |" >>build/figures
    since=$now
}

# passes LOG COMMAND...: counts one test; its output is kept in build/LOG.log and shown.
passes() {
    log=build/$1.log
    shift
    if "$@" >"$log" 2>&1; then count 1 0 0; else count 0 1 0; fi
    cat "$log"
}

# asan_target TARGET: builds it under AddressSanitizer.
asan_target() {
    (configure asan && cmake --build --preset asan -j "$(jobs)" --target "$1") >build/asan-target.log 2>&1 ||
        fail "building $1 failed; build/asan-target.log"
}

soak_conformance=$MWL_SUITES/mwl/conformance

soak_tests() {
    run_tests build || true
    figure "what \`tools/dev test\` does" "$passed passed, $failed failed, $skipped skipped"
    cases=$(find tests/cases -name case.json | wc -l)
    scenarios=$(find tests/cases -path '*/scenarios/*' -name expected-result.json | wc -l)
    regressions=$(find tests/regression -name case.json | wc -l)
    figure "cases of our own" "$cases, with $scenarios scenarios; $regressions regressions"
}

soak_model() {
    programs=${MODEL_COUNT:-100000}
    model "$programs"
    figure "the VM and the model, $programs programs" "$(grep ' agreed, ' build/model.log)"
}

# Every run moved through bytes.
soak_bytes() {
    programs=$((${MODEL_COUNT:-100000} / 10))
    suite mwl "$soak_conformance" --resave
    figure "the conformance cases, moved through bytes" "$passed passed, $failed failed since the soak began"
    passes moved env MWL_SOAK=1 MWL_RESAVE=1 build/test_cancel_everywhere
    figure "cancelled and aborted everywhere, moved through bytes" \
        "$(sed -n 's/^\([0-9]* scenarios: .*\)/\1/p' build/moved.log | paste -s -d '+' | sed 's/+/; /')"
    model_run compare.py --count "$programs" --batch "$tested/mwl-batch --resave" --keep "$tested/disagreements"
    figure "moved through bytes, $programs programs" "$(grep ' agreed, ' build/model.log)"
}

# Every case cancelled and aborted after every turn.
soak_cancel() {
    passes cancel env MWL_SOAK=1 build/test_cancel_everywhere
    figure "our cases and the conformance cases, cancelled and aborted everywhere" \
        "$(sed -n 's/^\([0-9]* scenarios: .*\)/\1/p' build/cancel.log | paste -s -d '+' | sed 's/+/; /')"
}

soak_host() {
    asan_target test_random_host
    passes host env MWL_SOAK=1 ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0 build/asan/test_random_host
    figure "a random host under AddressSanitizer" "$(grep ' rounds: ' build/host.log)"
    asan_target test_random_io
    passes random-io env MWL_SOAK=1 ASAN_OPTIONS=detect_leaks=1 build/asan/test_random_io
    figure "a random host with the providers of stdlib/io" "$(grep ' rounds' build/random-io.log)"
}

# What every function, operator and schema keyword costs, up to 16 MiB.
soak_cost() {
    passes cost env MWL_SOAK=1 build/test_fuel_cost
    figure "the dearest unit of fuel, in times of the average" \
        "$(sed -n 's/^\(.*\): .* worst \([0-9.]*\) times.*/\1 \2/p' build/cost.log | paste -s -d ';' | sed 's/;/; /g')"
    passes default-fuel sh -c "$(sed -n '/^soak_default_fuel()/,/^}/p' tools/build/soak.sh); soak_default_fuel"
    figure "two Steps that go to each other, without a flag" "$(tail -n 1 build/default-fuel.log)"
}

# The default of --fuel ends a Flow without waits, in about a minute, and the message names it.
soak_default_fuel() {
    step() { printf '"%s": {"action": "Pass", "assign": {"n": "{{ step.input }}"}, "next": "%s"}' "$1" "$2"; }
    printf '{"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a", "steps": {%s, %s}}' \
        "$(step a b)" "$(step b a)" >build/default-fuel.json
    code=0
    (ulimit -t 240 && build/mwlvm run build/default-fuel.json --input null 2>build/default-fuel.err) || code=$?
    # seconds of processor time of what this shell has started, which is this command alone
    times >build/default-fuel.times # not in a pipe, whose shell has started nothing
    took=$(sed -n '2s/^\([0-9]*\)m\([0-9]*\).*/\1 \2/p' build/default-fuel.times | awk '{ print $1 * 60 + $2 }')
    cat build/default-fuel.err
    echo "status $code after $took s of processor time"
    [ "$code" -eq 6 ] && grep -q -e '--fuel 5G, the default' build/default-fuel.err && [ "$took" -ge 20 ] && [ "$took" -le 180 ]
}

soak_each() {
    passes each python3 tests/command/each.py build/mwlvm 1000000 memory
    figure "a million lines of \`run --each\` in limited memory" "$(tail -n 1 build/each.log)"
    passes trace env EVERY=1 python3 tests/command/trace_file.py build/mwlvm
    figure "the trace of every case" "$(tail -n 1 build/trace.log)"
}

soak_reader() {
    passes checks python3 tests/tree/left_out.py build
    figure "checks of saved runs and of programs, left out" "$(tail -n 1 build/checks.log)"
}

soak_editor() {
    asan_target mwlvm
    passes edits env MWL_SANITIZED=1 python3 tests/lsp/edits.py build/asan/mwlvm --count 10000
    figure "random edits of \`mwlvm lsp\` under AddressSanitizer" "$(grep ' edits; ' build/edits.log)"
    passes debug python3 tests/debug/cases.py build/mwlvm --all tests/cases tests/regression "$soak_conformance"
    figure "the debugger, \`back\` after every stop" "$(grep ' scenarios with ' build/debug.log)"
}

soak_simulation() {
    passes simulation build/mwl-sim 100000
    figure "histories of a fleet, simulated" "$(grep ' histories, ' build/simulation.log | paste -s -d ';')"
}

soak_crashes() {
    passes crashes python3 tests/crash/crash.py build/mwl-crash --all
    figure "a crash at every operation of SQLite" "$(grep ' histories, ' build/crashes.log | paste -s -d ';')"
}

soak_kills() {
    passes kills python3 tests/durable/kills.py build/mwlvm 10000
    figure "processes killed, SQLite" "$(grep ' kills in ' build/kills.log)"
}

soak_fleet() {
    passes fleet python3 tests/durable/fleet.py build/mwlvm build/test_store 500
    figure "faults of a fleet, PostgreSQL" "$(grep ' faults ' build/fleet.log)"
}

soak_serve() {
    passes sleepers python3 tests/serve/sleepers.py build/mwlvm 1000000
    figure "sleepers of a server" "$(grep ' sleepers: ' build/sleepers.log)"
    passes bad python3 tests/serve/bad.py build/mwlvm 15000
    passes serve-kills python3 tests/serve/kills.py build/mwlvm 2000
    figure "kills of a server" "$(grep ' kills of a server ' build/serve-kills.log)"
    figure "connections and bad requests" "$(tail -n 1 build/bad.log)"
}

soak_protocol() {
    passes protocol python3 tests/spin/run.py --long
    figure "the model of the protocol, three workers" "$(tail -n 1 build/protocol.log)"
}

# The library with parts left out: every suite.
soak_options() {
    for option in stacks pcre2 idn; do
        passes "options-$option" env OPTIONS_LONG=1 \
            sh tests/install/options.sh cmake "${CC:-cc}" build/mwlvm "$PWD/build/options" $option
    done
    cmake --build build -j "$(jobs)" --target mwl-suite-one >build/build.log 2>&1 || fail "building failed; see build/build.log"
    passes amalgamate env AMALGAMATE_LONG=1 sh tests/install/amalgamate.sh build/generated/one build/mwl-suite-one
    figure "the suites without stacks, PCRE2, IDN" "$(tail -q -n 1 build/options-stacks.log build/options-pcre2.log build/options-idn.log | paste -s -d ';')"
}

soak_mutations() {
    { MWL_CMAKE="-DMWL_DEPS_DIR=$PWD/build/deps ${MWL_CMAKE:-}" tests/tree/mutate.sh || echo "mutate.sh failed"; } | tee build/mutate.log
    if grep -q '^mutate.sh failed' build/mutate.log; then count 0 1 0; else count 1 0 0; fi
    figure "[mutations](MUTATIONS.md)" "$(grep ' mutations, ' build/mutate.log)"
}

# Every door of tests/fuzz, FUZZ_SECONDS each (300), under AddressSanitizer and UndefinedBehaviorSanitizer.
soak_fuzz() {
    seconds=${FUZZ_SECONDS:-300}
    fuzz_build
    for source in tests/fuzz/fuzz_*.c; do
        target=$(basename "$source" .c)
        if (fuzz_one "$target" "$seconds"); then count 1 0 0; else count 0 1 0; fi
        log=build/fuzz/$target.log
        [ "$target" != fuzz_cost ] || log=build/cost/$target.log
        runs=$(sed -n 's/^Done \([0-9]*\) runs.*/\1 inputs, nothing found/p' "$log" | tail -n 1)
        figure "fuzzing: ${target#fuzz_}" "${runs:-found something; $log}"
    done
}

# The rows of this run in place of the older ones of the same parts, in the order of soak_parts.
soak_write() {
    grep '^| [a-z]* | ' tests/FIGURES.md | grep -v '^| part ' >build/figures.old || true
    {
        echo "# Figures of the tests"
        echo
        echo "Written by \`tools/dev soak [PART...]\`; do not edit. README.md explains the words. \`tools/dev soak PART\` measures the"
        echo "rows of a part again."
        echo
        echo "| part | what | figure | time | measured |"
        echo "| --- | --- | --- | ---: | --- |"
        for part in $soak_parts; do
            grep "^| $part | " build/figures || grep "^| $part | " build/figures.old || true
        done
    } >build/FIGURES.md
    mv build/FIGURES.md tests/FIGURES.md
}

soak() { # soak [PART...]
    for part in "$@"; do
        case " $soak_parts " in *" $part "*) ;; *) fail "soak has no part '$part'; the parts are: $soak_parts" ;; esac
    done
    # shellcheck disable=SC2086 # a list of words
    [ $# -gt 0 ] || set -- $soak_parts
    : >build/figures
    tested=build
    for part in "$@"; do
        say "soak: $part"
        since=$(date +%s)
        "soak_$part"
        soak_write
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}
