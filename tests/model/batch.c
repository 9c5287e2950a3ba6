/* batch.c: mwl-batch, many small runs in one process, for the comparison with the model.
 *
 * Standard input: one JSON object a line with `definition`, and perhaps `input`, `arguments`,
 * `seed` (of the VM), `cancelAfter` (nanoseconds after the start), `listen` (false: without a trace
 * listener, so the VM takes its short ways, and there are no events). Standard output, a line for
 * each: `{"result": …, "took": ns, "events": [[ns, step], …]}`,
 * `{"rejected": diagnostics}` or `{"broken": why}`. Every run has its own VM. Without
 * `cancelAfter`, time is the virtual time of the VM. With it, time is a clock that this program
 * moves: from one instant that the VM waits for to the next, and the cancellation comes after all
 * work of its instant.
 *
 * `mwl-batch --resave`: resave.h. */
#include "mwl_asm.h"
#include "mwl_std.h"
#include "tests/suite/resave.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_NS 1767225600000000000 /* 2026-01-01T00:00:00Z */

typedef struct job {
    mwl_heap *heap; /* of the line, not of the VM */
    mwl_value line;
    mwl_vm *vm;
    mwl_run *run;
    mwl_instant now; /* the clock that this program moves */
    mwl_instant start;
    unsigned n_events;
    FILE *events;
    mwl_config config;
    struct resave resave;
} job;

static bool resaves; /* --resave: every run is moved through bytes whenever it is at rest */

static void read_clock(void *ctx, mwl_instant *out) { *out = ((const job *)ctx)->now; }

static void listen(void *ctx, const mwl_trace_event *event) {
    job *j = ctx;
    if (event->kind != MWL_TRACE_STEP_ENTERED) return;
    fprintf(j->events, "%s[%lld,\"%s\"]", j->n_events++ ? "," : "",
            (long long)(event->at.mono_ns - j->start.mono_ns),
            event->step); /* names need no escapes */
}

static mwl_value member(const job *j, const char *name) { return mwl_get(j->line, name); }

static bool listens(const job *j) {
    mwl_value v = member(j, "listen");
    return mwl_value_kind(v) != MWL_KIND_BOOL || mwl_as_bool(v);
}

/* Copies a value from the heap of the line to the heap of the VM. */
static mwl_value carried(const job *j, const char *name) {
    char *text = NULL;
    size_t len = 0;
    mwl_value out = mwl_absent();
    if (mwl_is_absent(member(j, name))) return out;
    if (mwl_json_write(j->heap, member(j, name), MWL_JSON_COMPACT, &text, &len) == MWL_OK)
        (void)mwl_json_parse(mwl_vm_heap(j->vm), text, len, &out, NULL);
    if (text) mwl_text_free(j->heap, text, len);
    return out;
}

static void print_text(const job *j, const char *name, const char *text) {
    mwl_value v = mwl_string(j->heap, text, strlen(text));
    char *out = NULL;
    size_t len = 0;
    if (mwl_json_write(j->heap, v, MWL_JSON_COMPACT, &out, &len) == MWL_OK) {
        printf("{\"%s\":%s}\n", name, out);
        mwl_text_free(j->heap, out, len);
    } else {
        printf("{\"%s\":\"?\"}\n", name);
    }
    mwl_value_drop(j->heap, v);
}

static mwl_program *load(const job *j) {
    char *text = NULL;
    size_t len = 0;
    mwl_program *program = NULL;
    mwl_asm_result out;
    mwl_error error = {MWL_OK, "", 0};
    if (mwl_json_write(j->heap, member(j, "definition"), MWL_JSON_COMPACT, &text, &len) != MWL_OK) {
        print_text(j, "broken", "the line has no definition");
        return NULL;
    }
    if (mwl_assemble(text, len, NULL, &out) != MWL_OK)
        print_text(j, "rejected", out.diagnostics ? out.diagnostics : "");
    else if (mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &program, &error) !=
             MWL_OK)
        print_text(j, "broken", error.message);
    mwl_asm_free(&out);
    mwl_text_free(j->heap, text, len);
    return program;
}

static mwl_vm *make_vm(void *ctx) {
    job *j = ctx;
    mwl_vm *vm = NULL;
    if (mwl_vm_new(&j->config, &vm) != MWL_OK || mwl_std_add(vm, MWL_STD_ALL, NULL) != MWL_OK)
        abort();
    if (listens(j)) mwl_vm_trace(vm, listen, j);
    return vm;
}

/* Under virtual time. */
static void pump_and_move(job *j) {
    int64_t due = 0;
    while (mwl_run_get_state(j->run) < MWL_RUN_DONE && due != MWL_NEVER)
        if (!resave_pump(&j->resave, &j->vm, &j->run, MWL_NEVER, &due)) return;
}

/* Moves the clock from instant to instant, and cancels at the right time. */
static void pump_by_hand(job *j, int64_t cancel_ns) {
    bool cancelled = false;
    while (mwl_run_get_state(j->run) != MWL_RUN_DONE &&
           mwl_run_get_state(j->run) != MWL_RUN_ABORTED) {
        int64_t next = mwl_vm_pump(j->vm, MWL_NO_BUDGET);
        if (resaves && !resave_move(&j->resave, &j->vm, &j->run)) return;
        if (next == 0) continue;
        if (next > j->now.mono_ns) {
            int64_t cancel_at = j->start.mono_ns + cancel_ns;
            if (!cancelled && next > cancel_at) {
                if (j->now.mono_ns < cancel_at) {
                    j->now.mono_ns = cancel_at;
                    j->now.wall_ns = START_NS + cancel_ns;
                    continue; /* what is due at that instant comes first */
                }
                cancelled = true;
                mwl_run_cancel(j->run, "from outside");
                if (resaves && !resave_move(&j->resave, &j->vm, &j->run)) return;
                continue;
            }
            if (next == MWL_NEVER) return;
            j->now.mono_ns = next;
            j->now.wall_ns = START_NS + next - j->start.mono_ns;
        }
    }
}

static void print_result(const job *j, const char *events) {
    mwl_heap *heap = mwl_vm_heap(j->vm);
    char *text = NULL;
    size_t len = 0;
    if (*j->resave.why) {
        print_text(j, "broken", j->resave.why);
    } else if (mwl_run_get_state(j->run) != MWL_RUN_DONE) {
        char why[64];
        snprintf(why, sizeof why, "state %d, why %d", (int)mwl_run_get_state(j->run),
                 (int)mwl_run_why(j->run));
        print_text(j, "broken", why);
    } else if (mwl_json_write(heap, mwl_run_result(j->run), MWL_JSON_COMPACT, &text, &len) ==
               MWL_OK) {
        mwl_instant end;
        mwl_vm_now(j->vm, &end);
        printf("{\"result\":%s,\"took\":%lld,\"events\":[%s]}\n", text,
               (long long)(end.mono_ns - j->start.mono_ns), events);
        mwl_text_free(heap, text, len);
    } else {
        print_text(j, "broken", "the Result has no JSON form");
    }
}

static void run(job *j) {
    mwl_value cancel = member(j, "cancelAfter");
    mwl_config config = mwl_config_default();
    mwl_error error = {MWL_OK, "", 0};
    mwl_start start;
    char *events = NULL;
    size_t size = 0;
    mwl_program *program = load(j);
    if (!program) return;
    memset(&start, 0, sizeof start);
    config.virtual_time = mwl_value_kind(cancel) != MWL_KIND_NUMBER;
    config.virtual_start_ns = START_NS;
    config.clock.read = read_clock;
    config.clock.ctx = j;
    mwl_value seed = member(j, "seed");
    config.seed = mwl_value_kind(seed) == MWL_KIND_NUMBER ? (uint64_t)mwl_as_number(seed) : 1;
    config.limits.fuel = 500000; /* programs of the tests are small */
    j->now.mono_ns = 1000000000;
    j->now.wall_ns = START_NS;
    j->n_events = 0;
    j->events = open_memstream(&events, &size);
    if (!j->events) abort();
    j->config = config;
    mwl_vm *home = j->vm = make_vm(j);
    j->resave = (struct resave){.make = make_vm, .ctx = j, .home = home, .program = program};
    mwl_vm_now(j->vm, &j->start);
    start.input = carried(j, "input");
    start.arguments = carried(j, "arguments");
    if (mwl_run_start(j->vm, program, &start, &j->run, &error) != MWL_OK) {
        print_text(j, "broken", error.message);
    } else {
        if (config.virtual_time && resaves)
            pump_and_move(j);
        else if (config.virtual_time)
            mwl_vm_pump(j->vm, MWL_NO_BUDGET);
        else
            pump_by_hand(j, (int64_t)mwl_as_number(cancel));
        fflush(j->events);
        print_result(j, events);
    }
    mwl_run_free(j->run);
    if (j->vm != home) mwl_vm_free(j->vm);
    mwl_value_drop(mwl_vm_heap(home), start.input);
    mwl_value_drop(mwl_vm_heap(home), start.arguments);
    mwl_vm_free(home);
    mwl_program_release(program);
    fclose(j->events);
    free(events);
    j->vm = NULL;
    j->run = NULL;
}

int main(int argc, char **argv) {
    resaves = argc > 1 && strcmp(argv[1], "--resave") == 0;
#ifdef MWL_STRESS
    resaves = true;
#endif
    char *text = NULL;
    size_t room = 0;
    ssize_t len = 0;
    while ((len = getline(&text, &room, stdin)) > 0) {
        job j;
        memset(&j, 0, sizeof j);
        if (mwl_heap_new(NULL, &j.heap) != MWL_OK) return 2;
        if (mwl_json_parse(j.heap, text, (size_t)len, &j.line, NULL) == MWL_OK)
            run(&j);
        else
            print_text(&j, "broken", "the line is not JSON");
        fflush(stdout);
        mwl_value_drop(j.heap, j.line);
        mwl_heap_free(j.heap);
    }
    free(text);
    return 0;
}
