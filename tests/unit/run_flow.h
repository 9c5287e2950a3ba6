/* run_flow.h: for tests that run whole definitions: assemble, run under virtual time, compare the
 * Result.
 *
 * Definitions may use ' instead of ", which is easier to read. RETRY and so on are URIs. */
#ifndef RUN_FLOW_H
#define RUN_FLOW_H

#include "mwl_asm.h"
#include "mwl_std.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef MWL_STRESS
#include "tests/suite/resave.h"
#endif

/* A Flow from its entrypoint `a`. */
#define FLOW(steps) FLOW_WITH("", steps)
#define FLOW_WITH(more, steps)                                                                     \
    "{'$schema':'https://mwl.dev/v0.1/flow/schema.json'," more "'entrypoint':'a','steps':{" steps  \
    "}}"
#define MOCK "'mwl:provider.call/mwl/mock/v1'"
#define RETRY "'mwl:provider.middleware/mwl/retry/v1'"
#define TIMEOUT "'mwl:provider.middleware/mwl/timeout/v1'"
#define LOOP "'mwl:provider.middleware/mwl/loop/v1'"
#define FINALLY "'mwl:provider.middleware/mwl/finally/v1'"

typedef struct flow {
    mwl_vm *vm;
    mwl_program *program;
    mwl_run *run;
    int64_t took_ns;   /* simulated, of the last run */
    char result[8192]; /* canonical JSON of the Result, or an error message */
    const mwl_asm_provider *documents;
    size_t n_documents;
    bool plain;   /* the VM is that of flow_vm */
    mwl_vm *home; /* where the run was started, if it was moved */
} flow;

/* A copy with ' turned into ". Freed by the caller. */
static char *flow_quoted(const char *text) {
    size_t n = strlen(text) + 1;
    char *out = malloc(n);
    for (size_t i = 0; out && i < n; i++) out[i] = text[i] == '\'' ? '"' : text[i];
    return out;
}

static bool flow_vm(flow *f, uint64_t seed) {
    memset(f, 0, sizeof *f);
    mwl_config c = mwl_config_default();
    c.virtual_time = true;
    c.seed = seed;
    mwl_error error = {MWL_OK, "", 0};
    if (mwl_vm_new(&c, &f->vm) < 0) return false;
    f->plain = mwl_std_add(f->vm, MWL_STD_ALL, &error) == MWL_OK;
    if (f->plain) return true;
    fprintf(stderr, "mwl_std_register: %s\n", error.message);
    return false;
}

static bool flow_load(flow *f, const char *definition) {
    char *text = flow_quoted(definition);
    mwl_asm_options options;
    memset(&options, 0, sizeof options);
    options.providers = f->documents;
    options.n_providers = f->n_documents;
    mwl_asm_result out;
    mwl_error error = {MWL_OK, "", 0};
    mwl_status st = mwl_assemble(text, strlen(text), &options, &out);
    if (st == MWL_OK) {
        st = mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &f->program, &error);
        if (st < 0) snprintf(f->result, sizeof f->result, "load: %s", error.message);
    } else {
        snprintf(f->result, sizeof f->result, "%s", out.diagnostics);
    }
    mwl_asm_free(&out);
    free(text);
    return st == MWL_OK;
}

/* Starts a run; the caller pumps. input is JSON, with ' for ". */
static bool flow_start(flow *f, const char *input) {
    mwl_heap *h = mwl_vm_heap(f->vm);
    mwl_error error = {MWL_OK, "", 0};
    mwl_start start;
    memset(&start, 0, sizeof start);
    char *text = flow_quoted(input);
    mwl_status st = mwl_json_parse(h, text, strlen(text), &start.input, &error);
    free(text);
    if (st == MWL_OK) st = mwl_run_start(f->vm, f->program, &start, &f->run, &error);
    mwl_value_drop(h, start.input);
    if (st < 0) snprintf(f->result, sizeof f->result, "start: %s", error.message);
    return st == MWL_OK;
}

static void flow_finish(flow *f) {
    mwl_heap *h = mwl_vm_heap(f->vm);
    mwl_run_state state = mwl_run_get_state(f->run);
    char *text = NULL;
    size_t len = 0;
    if (state != MWL_RUN_DONE)
        snprintf(f->result, sizeof f->result, "state %d, why %d", (int)state,
                 (int)mwl_run_why(f->run));
    else if (mwl_json_write(h, mwl_run_result(f->run), MWL_JSON_CANONICAL, &text, &len) == MWL_OK)
        snprintf(f->result, sizeof f->result, "%s", text);
    if (text) mwl_text_free(h, text, len);
    mwl_run_free(f->run);
    f->run = NULL;
}

static void flow_close(flow *f) {
    mwl_run_free(f->run);
    mwl_program_release(f->program);
    mwl_vm_free(f->vm);
    f->vm = NULL;
    f->program = NULL;
    f->run = NULL;
}

/* Pumps the run to its end. */
#ifdef MWL_STRESS
static mwl_vm *flow_second(void *ctx) {
    flow other;
    (void)ctx;
    return flow_vm(&other, 7) ? other.vm : NULL;
}

/* In a stress build the run is moved through bytes into another VM at every park, if the test has
 * not given its VM providers, functions or a listener of its own, which the other would not have.
 */
static bool flow_moves(const flow *f) {
    const mwl__provider *a = f->vm->providers, *b = NULL;
    mwl_vm *other = f->plain && !f->vm->listen ? flow_second(NULL) : NULL;
    if (!other) return false;
    for (b = other->providers; a && b; a = a->next) b = b->next;
    bool same = !a && !b && f->vm->functions.n_defs == other->functions.n_defs;
    mwl_vm_free(other);
    return same;
}

static bool flow_pump(flow *f) {
    if (!flow_moves(f)) {
        mwl_vm_pump(f->vm, MWL_NO_BUDGET);
        return true;
    }
    struct resave r = {.make = flow_second, .home = f->vm, .program = f->program};
    int64_t due = 0;
    while (due != MWL_NEVER && mwl_run_get_state(f->run) < MWL_RUN_DONE)
        if (!resave_pump(&r, &f->vm, &f->run, MWL_NEVER, &due)) break;
    f->home = r.home;
    if (*r.why) snprintf(f->result, sizeof f->result, "%s", r.why);
    return !*r.why;
}
#else
static bool flow_pump(flow *f) {
    mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    return true;
}
#endif

/* Goes back to the VM where the run was started. */
static void flow_home(flow *f) {
    if (!f->home || f->home == f->vm) return;
    mwl_run_free(f->run);
    f->run = NULL;
    mwl_vm_free(f->vm);
    f->vm = f->home;
    f->home = NULL;
}

/* Runs the loaded program once. Returns the canonical JSON of the Result, with ' instead of ". */
static const char *flow_again(flow *f, const char *input) {
    mwl_instant from, to;
    mwl_vm_now(f->vm, &from);
    if (flow_start(f, input)) {
        if (flow_pump(f)) flow_finish(f);
    }
    mwl_vm_now(f->vm, &to);
    flow_home(f);
    f->took_ns = to.mono_ns - from.mono_ns;
    for (char *p = f->result; *p; p++)
        if (*p == '"') *p = '\'';
    return f->result;
}

/* Assembles and runs once, in a new VM. */
static inline const char *flow_run(flow *f, const char *definition, const char *input) {
    if (!flow_vm(f, 7))
        snprintf(f->result, sizeof f->result, "no VM");
    else if (flow_load(f, definition))
        flow_again(f, input);
    flow_close(f);
    return f->result;
}

#endif
