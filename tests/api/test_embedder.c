/* test_embedder.c: what the authors of three hosts missed or stumbled over, each by its name.
 *
 * What a provider gives to a run, and verdicts that are not allowed, are in test_host_value.c;
 * stacks in test_small_stack.c; other versions of the headers in tests/api/abi. */
#include "utest.h"

#include "tests/unit/run_flow.h"

#include <pthread.h>
#include <stdatomic.h>

#define S INT64_C(1000000000)
#define CALL_URI "mwl:provider.call/acme/work/v1"
#define DOCUMENT                                                                                   \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" CALL_URI               \
    "\",\"codePrefix\":\"Work\",\"description\":\"Works.\",\"parameters\":{\"type\":\"object\"},"  \
    "\"failureCatalog\":{\"closed\":[\"Provider.Call.Work.Bad\"],\"open\":[]}}"
#define MW_URI "mwl:provider.middleware/acme/gate/v1"
#define MW_DOCUMENT                                                                                \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" MW_URI                 \
    "\",\"codePrefix\":\"Gate\",\"description\":\"Waits.\",\"attachment\":[\"step\"],"             \
    "\"phases\":{\"onEntry\":{\"action\":{\"kind\":\"control\",\"description\":\"Waits.\"}},"      \
    "\"onSuccess\":{\"action\":{\"kind\":\"control\",\"description\":\"Replaces.\"}}},"            \
    "\"failureCatalog\":{\"closed\":[\"Provider.Middleware.Gate.Bad\"],\"open\":[]}}"

#define RETURN "'z':{'action':'Return'}"
#define WORK FLOW("'a':{'action':'Call','call':{'provider':'" CALL_URI "'},'next':'z'}," RETURN)
#define WORK_TWICE                                                                                 \
    FLOW("'a':{'action':'Call','call':{'provider':'" CALL_URI "'},'next':'b'},"                    \
         "'b':{'action':'Call','call':{'provider':'" CALL_URI "'},'next':'z'}," RETURN)
#define GATED                                                                                      \
    FLOW("'a':{'action':'Call','middleware':[{'provider':'" MW_URI                                 \
         "'}],'call':{'provider':'" CALL_URI "'},'next':'z'}," RETURN)
#define NAP FLOW("'a':{'action':'Sleep','for':'PT1S','next':'z'}," RETURN)
#define SPIN FLOW("'a':{'action':'Sleep','for':'PT0.0001S','next':'a'}")

/* A VM with virtual time and the provider `work`. The definition is assembled for it. */
static bool open_for(flow *f, void (*start)(mwl_call *, void *), void *user,
                     const char *definition) {
    if (!flow_vm(f, 1)) return false;
    const mwl_call_provider work = {.uri = CALL_URI, .document = DOCUMENT, .start = start};
    char *text = flow_quoted(definition);
    bool good = (!start || mwl_vm_provide(f->vm, &work, 1, user, NULL) == MWL_OK) &&
                mwl_assemble_for(f->vm, text, strlen(text), NULL, &f->program) == MWL_OK;
    if (!good) fprintf(stderr, "%s\n", mwl_vm_diagnostics(f->vm));
    free(text);
    return good;
}

static mwl_run *start_one(flow *f) {
    mwl_run *run = NULL;
    return mwl_run_start(f->vm, f->program, NULL, &run, NULL) == MWL_OK ? run : NULL;
}

/* ---- 3: nobody tells that a run is over ------------------------------------------------------ */

typedef struct ends {
    flow *f;
    int n, left;
} ends;

/* Frees the run, and starts another one. */
static void on_done(void *ctx, mwl_run *run) {
    ends *e = ctx;
    e->n += mwl_run_succeeded(run) && mwl_count(mwl_run_result(run)) > 0;
    mwl_run_free(run);
    if (e->left-- <= 0) return;
    const mwl_start start = {.done = on_done, .done_ctx = e};
    (void)mwl_run_start(e->f->vm, e->f->program, &start, &run, NULL);
}

UTEST(embedder, a_run_that_is_over_is_told_by_a_function) {
    flow f;
    ASSERT_TRUE(open_for(&f, NULL, NULL, NAP));
    ends e = {&f, 0, 9};
    const mwl_start start = {.done = on_done, .done_ctx = &e};
    mwl_run *run;
    ASSERT_EQ((int)mwl_run_start(f.vm, f.program, &start, &run, NULL), (int)MWL_OK);
    EXPECT_EQ(mwl_vm_pump(f.vm, MWL_NO_BUDGET), MWL_NEVER);
    EXPECT_EQ(e.n, 10);
    EXPECT_TRUE(mwl_vm_runs(f.vm, NULL) == NULL);
    EXPECT_TRUE(mwl_vm_next_done(f.vm) == NULL);
    flow_close(&f);
}

UTEST(embedder, a_run_that_is_over_is_in_a_queue) {
    flow f;
    mwl_run *runs[3];
    ASSERT_TRUE(open_for(&f, NULL, NULL, NAP));
    for (int i = 0; i < 3; i++) ASSERT_TRUE((runs[i] = start_one(&f)) != NULL);
    EXPECT_TRUE(mwl_vm_next_done(f.vm) == NULL);
    mwl_run_abort(runs[2]);
    EXPECT_TRUE(mwl_vm_next_done(f.vm) == runs[2]);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_run_free(runs[0]); /* it does not come any more */
    EXPECT_TRUE(mwl_vm_next_done(f.vm) == runs[1]);
    EXPECT_TRUE(mwl_vm_next_done(f.vm) == NULL);
    EXPECT_EQ((int)mwl_run_get_state(runs[1]), (int)MWL_RUN_DONE);
    flow_close(&f);
}

typedef struct nested {
    mwl_program *program;
    mwl_run *child;
    mwl_status st;
} nested;

static void work_nested(mwl_call *call, void *user) {
    nested *n = user;
    if (mwl_run_start(mwl_call_vm(call), n->program, NULL, &n->child, NULL) < 0) return;
    n->st = mwl_await_run(call, n->child);
    if (n->st < 0) return;
    mwl_call_succeed(call, mwl_bool(mwl_run_succeeded(n->child)));
    mwl_run_free(n->child);
}

static bool open_nested(flow *f, nested *n) {
    const mwl_call_provider work = {.uri = CALL_URI, .document = DOCUMENT, .blocking = work_nested};
    char *nap = flow_quoted(NAP), *outer = flow_quoted(WORK);
    bool good = flow_vm(f, 1) && mwl_vm_provide(f->vm, &work, 1, n, NULL) == MWL_OK &&
                mwl_assemble_for(f->vm, nap, strlen(nap), NULL, &n->program) == MWL_OK &&
                mwl_assemble_for(f->vm, outer, strlen(outer), NULL, &f->program) == MWL_OK;
    free(nap);
    free(outer);
    return good;
}

UTEST(embedder, a_blocking_function_awaits_a_run) {
    flow f;
    nested n = {0};
    ASSERT_TRUE(open_nested(&f, &n));
    f.run = start_one(&f);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_EQ((int)n.st, (int)MWL_OK);
    EXPECT_TRUE(mwl_as_bool(mwl_run_value(f.run)));
    mwl_program_release(n.program);
    flow_close(&f);
}

UTEST(embedder, what_awaits_a_run_is_cancelled_or_learns_that_it_was_freed) {
    for (int way = 0; way < 2; way++) {
        flow f;
        nested n = {0};
        ASSERT_TRUE(open_nested(&f, &n));
        f.run = start_one(&f);
        mwl_vm_pump(f.vm, 0);
        ASSERT_TRUE(n.child != NULL);
        if (way)
            mwl_run_cancel(f.run, "enough");
        else
            mwl_run_free(n.child);
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        EXPECT_EQ((int)n.st, (int)(way ? MWL_E_CANCELLED : MWL_E_NOT_FOUND));
        EXPECT_EQ((int)mwl_run_get_state(f.run), (int)MWL_RUN_DONE);
        mwl_program_release(n.program);
        flow_close(&f);
    }
}

/* ---- 4: budget and game time are one clock --------------------------------------------------- */

typedef struct frozen {
    int64_t ns;
    unsigned reads;
} frozen;

static void read_frozen(void *ctx, mwl_instant *out) {
    frozen *t = ctx;
    t->reads++;
    out->mono_ns = t->ns;
    out->wall_ns = S * 1000 + t->ns;
}

static void succeed(mwl_call *call, void *user) {
    if (user) ++*(int *)user;
    mwl_call_succeed(call, mwl_int(1));
}

static bool open_frozen(flow *f, frozen *t, int *calls, const char *definition) {
    memset(f, 0, sizeof *f);
    mwl_config c = {.clock = {read_frozen, t}};
    const mwl_call_provider work = {.uri = CALL_URI, .document = DOCUMENT, .start = succeed};
    char *text = flow_quoted(definition);
    bool good = mwl_vm_new(&c, &f->vm) == MWL_OK && mwl_std_register(f->vm, NULL) == MWL_OK &&
                mwl_vm_provide(f->vm, &work, 1, calls, NULL) == MWL_OK &&
                mwl_assemble_for(f->vm, text, strlen(text), NULL, &f->program) == MWL_OK;
    free(text);
    return good;
}

UTEST(embedder, a_budget_in_fuel_holds_while_the_clock_stands_still) {
    enum { RUNS = 1000 };
    flow f;
    frozen t = {S, 0};
    int calls = 0, pumps = 0;
    ASSERT_TRUE(open_frozen(&f, &t, &calls, WORK));
    for (int i = 0; i < RUNS; i++) ASSERT_TRUE(start_one(&f) != NULL);
    int64_t due = mwl_vm_pump_within(f.vm, S, 100);
    EXPECT_EQ(due, 0); /* work is left, though no time has passed */
    EXPECT_TRUE(calls > 0 && calls <= 100);
    for (pumps = 1; due == 0 && pumps < 2 * RUNS; pumps++) due = mwl_vm_pump_within(f.vm, S, 100);
    EXPECT_EQ(calls, RUNS);
    EXPECT_TRUE(pumps >= RUNS / 100);
    flow_close(&f);
}

UTEST(embedder, timers_that_are_due_together_keep_the_budget_too) {
    enum { RUNS = 1000 };
    flow f;
    frozen t = {S, 0};
    int pumps = 0;
    ASSERT_TRUE(open_frozen(&f, &t, NULL, NAP));
    for (int i = 0; i < RUNS; i++) ASSERT_TRUE(start_one(&f) != NULL);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    t.ns += 2 * S;
    int n = 0;
    for (; n < RUNS && pumps < 2 * RUNS; pumps++) {
        mwl_vm_pump_within(f.vm, MWL_NO_BUDGET, 100);
        int before = n;
        while (mwl_vm_next_done(f.vm)) n++;
        EXPECT_TRUE(n - before <= 100);
    }
    EXPECT_EQ(n, RUNS);
    flow_close(&f);
}

UTEST(embedder, the_clock_is_read_once_a_turn_and_once_after_a_callback) {
    enum { RUNS = 100 };
    flow f;
    frozen t = {S, 0};
    int calls = 0;
    ASSERT_TRUE(open_frozen(
        &f, &t, &calls,
        FLOW("'a':{'action':'Call','middleware':[{'provider':" TIMEOUT
             ",'onEntry':{'with':{'duration':'PT5S'}}}],'call':{'provider':'" CALL_URI "'},"
             "'next':'b'},'b':{'action':'Sleep','for':'PT1S','next':'a'}")));
    for (int i = 0; i < RUNS; i++) ASSERT_TRUE(start_one(&f) != NULL);
    for (int frame = 0; frame < 5; frame++) {
        t.reads = 0;
        mwl_vm_pump(f.vm, S);
        /* a turn of each run, with a call of the host in it, after which the time matters */
        EXPECT_EQ(calls, (frame + 1) * RUNS);
        EXPECT_TRUE(t.reads <= 2 * RUNS + 4);
        t.ns += S;
    }
    flow_close(&f);
}

UTEST(embedder, the_clock_is_read_at_most_once_a_turn) {
    enum { RUNS = 100 };
    flow f;
    frozen t = {S, 0};
    ASSERT_TRUE(open_frozen(&f, &t, NULL, FLOW("'a':{'action':'Sleep','for':'PT1S','next':'a'}")));
    for (int i = 0; i < RUNS; i++) ASSERT_TRUE(start_one(&f) != NULL);
    for (int frame = 0; frame < 5; frame++) {
        t.reads = 0;
        mwl_vm_pump(f.vm, S);
        EXPECT_TRUE(t.reads <= RUNS + 4);
        t.ns += S;
    }
    flow_close(&f);
}

/* Sleeps under a bound, spins, or ends at once. */
#define KINDS                                                                                      \
    FLOW_WITH("'middleware':[{'provider':'mwl:provider.middleware/mwl/timeout/v1',"                \
              "'onEntry':{'with':{'duration':'{{ frame.input.bound }}'}}}],",                      \
              "'a':{'action':'Match','cases':[{'when':'{{ match.input.kind == 1.0 }}',"            \
              "'next':'s'},{'when':'{{ match.input.kind == 2.0 }}','next':'p'}],"                  \
              "'default':{'next':'z'}},'s':{'action':'Sleep','for':'PT1H','next':'z'},"            \
              "'p':{'action':'Pass','next':'p'}," RETURN)
enum { SLEEPS = 1, SPINS, ENDS };

static mwl_run *start_kind(flow *f, int kind, const char *bound) {
    mwl_heap *h = mwl_vm_heap(f->vm);
    const mwl_limits limits = {.fuel = UINT64_MAX};
    mwl_run *run = NULL;
    mwl_start start = {
        .limits = &limits,
        .input = mwl_make_object(h, "kind", mwl_number(kind), "bound", mwl_text(h, bound))};
    mwl_status st = mwl_run_start(f->vm, f->program, &start, &run, NULL);
    mwl_value_drop(h, start.input);
    return st == MWL_OK ? run : NULL;
}

/* Other runs use up the fuel of each frame. */
UTEST(embedder, a_budget_in_fuel_does_not_keep_bounds_from_their_turn) {
    for (int other = SPINS; other <= ENDS; other++) {
        for (int64_t fuel = 1; fuel <= 10000; fuel *= 10) {
            flow f;
            frozen t = {S, 0};
            int frames = 0;
            ASSERT_TRUE(open_frozen(&f, &t, NULL, KINDS));
            mwl_run *sleeper = start_kind(&f, SLEEPS, "PT1S");
            mwl_vm_pump(f.vm, MWL_NO_BUDGET);
            ASSERT_TRUE(sleeper && start_kind(&f, other, "PT9H"));
            for (; frames < 100 && mwl_run_get_state(sleeper) != MWL_RUN_DONE; frames++) {
                if (other == ENDS) ASSERT_TRUE(start_kind(&f, other, "PT9H") != NULL);
                mwl_vm_pump_within(f.vm, MWL_NO_BUDGET, fuel);
                t.ns += S / 10;
            }
            EXPECT_TRUE(frames > 10 && frames < 30);
            flow_close(&f);
        }
    }
}

/* ---- 5: providers are frozen after the first run --------------------------------------------- */

static mwl_call *kept_call;

static void keep(mwl_call *call, void *user) {
    (void)user;
    kept_call = call;
}

static void fail_plainly(mwl_call *call, void *user) {
    mwl_call_failf(call, "Provider.Call.Work.Bad", "%s %d", (const char *)user, 42);
}

UTEST(embedder, a_provider_is_replaced_while_its_call_is_in_flight) {
    flow f;
    int calls = 0;
    ASSERT_TRUE(open_for(&f, keep, NULL, WORK_TWICE));
    f.run = start_one(&f);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    ASSERT_TRUE(kept_call != NULL);
    mwl_call_provider next = {.uri = CALL_URI, .document = DOCUMENT, .start = succeed};
    EXPECT_EQ((int)mwl_vm_provide(f.vm, &next, 1, &calls, NULL), (int)MWL_E_DUPLICATE);
    next.replaces = true;
    EXPECT_EQ((int)mwl_vm_provide(f.vm, &next, 1, &calls, NULL), (int)MWL_OK);
    EXPECT_EQ(mwl_vm_withdrawn(f.vm), 1u); /* the first call */
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_EQ(calls, 0);
    mwl_call_succeed(kept_call, mwl_int(7));
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(mwl_vm_withdrawn(f.vm), 0u);
    EXPECT_TRUE(mwl_run_succeeded(f.run));
    flow_close(&f);
}

UTEST(embedder, a_replacement_that_is_refused_changes_nothing) {
    flow f;
    int calls = 0;
    ASSERT_TRUE(open_for(&f, succeed, &calls, WORK));
    mwl_error error = {MWL_OK, "", 0};
    const mwl_call_provider bad = {
        .uri = CALL_URI, .document = "{}", .start = fail_plainly, .replaces = true};
    EXPECT_EQ((int)mwl_vm_provide(f.vm, &bad, 1, "no", &error), (int)MWL_E_REJECTED);
    EXPECT_TRUE(strstr(error.message, CALL_URI) != NULL);
    f.run = start_one(&f);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_TRUE(mwl_run_succeeded(f.run));
    flow_close(&f);
}

UTEST(embedder, a_provider_is_withdrawn_and_comes_back) {
    flow f;
    int calls = 0;
    mwl_run *run = NULL;
    mwl_error error = {MWL_OK, "", 0};
    ASSERT_TRUE(open_for(&f, keep, NULL, WORK_TWICE));
    f.run = start_one(&f);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_EQ((int)mwl_vm_withdraw(f.vm, "mwl:provider.call/acme/other/v1"), (int)MWL_E_NOT_FOUND);
    EXPECT_EQ((int)mwl_vm_withdraw(f.vm, CALL_URI), (int)MWL_OK);
    EXPECT_EQ((int)mwl_vm_withdraw(f.vm, CALL_URI), (int)MWL_E_NOT_FOUND);
    EXPECT_EQ((int)mwl_run_start(f.vm, f.program, NULL, &run, &error), (int)MWL_E_NOT_FOUND);
    EXPECT_STREQ(error.message, CALL_URI);
    mwl_call_succeed(kept_call, mwl_int(7)); /* in flight: as if nothing had happened */
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_STREQ(mwl_as_text(mwl_get(mwl_run_result(f.run), "code"), NULL),
                 "Mwlvm.ProviderWithdrawn");
    const mwl_call_provider next = {.uri = CALL_URI, .document = DOCUMENT, .start = succeed};
    EXPECT_EQ((int)mwl_vm_provide(f.vm, &next, 1, &calls, NULL), (int)MWL_OK);
    ASSERT_TRUE((run = start_one(&f)) != NULL);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_TRUE(mwl_run_succeeded(run));
    EXPECT_EQ(calls, 2);
    flow_close(&f);
}

static void gate_new(mwl_phase *phase, void *user) {
    (void)user;
    mwl_phase_substitute(phase, true, mwl_text(mwl_phase_heap(phase), "new"));
}
static void gate_old(mwl_phase *phase, void *user) {
    (void)user;
    mwl_phase_substitute(phase, true, mwl_text(mwl_phase_heap(phase), "old"));
}

UTEST(embedder, an_established_entry_keeps_its_middleware) {
    flow f;
    if (!flow_vm(&f, 1)) return;
    mwl_middleware gate = {.uri = MW_URI, .document = MW_DOCUMENT, .success = gate_old};
    const mwl_call_provider work = {.uri = CALL_URI, .document = DOCUMENT, .start = keep};
    char *text = flow_quoted(GATED);
    ASSERT_EQ((int)mwl_vm_provide_middleware(f.vm, &gate, 1, NULL, NULL), (int)MWL_OK);
    ASSERT_EQ((int)mwl_vm_provide(f.vm, &work, 1, NULL, NULL), (int)MWL_OK);
    ASSERT_EQ((int)mwl_assemble_for(f.vm, text, strlen(text), NULL, &f.program), (int)MWL_OK);
    free(text);
    f.run = start_one(&f);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_call *first = kept_call;
    gate.success = gate_new;
    gate.replaces = true;
    ASSERT_EQ((int)mwl_vm_provide_middleware(f.vm, &gate, 1, NULL, NULL), (int)MWL_OK);
    EXPECT_EQ(mwl_vm_withdrawn(f.vm), 1u);
    mwl_run *second = start_one(&f);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_call_succeed(first, mwl_null());
    mwl_call_succeed(kept_call, mwl_null());
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_STREQ(mwl_as_text(mwl_run_value(f.run), NULL), "old");
    EXPECT_STREQ(mwl_as_text(mwl_run_value(second), NULL), "new");
    EXPECT_EQ(mwl_vm_withdrawn(f.vm), 0u);
    ASSERT_EQ((int)mwl_vm_withdraw(f.vm, MW_URI), (int)MWL_OK);
    EXPECT_TRUE(start_one(&f) == NULL);
    flow_close(&f);
}

/* ---- 6: hot reload loses the script's state -------------------------------------------------- */

#define SCRIPT(name)                                                                               \
    FLOW("'a':{'action':'Pass','assign':{'gold':'{{ step.input.gold + 1.0 }}'},'next':'" name      \
         "'},"                                                                                     \
         "'" name "':{'action':'Sleep','for':'PT1H','next':'z'},"                                  \
         "'z':{'action':'Return','value':'{{ vars.gold }}'}")

UTEST(embedder, a_host_looks_into_its_runs_and_carries_their_state_over) {
    flow f;
    if (!flow_vm(&f, 1)) return;
    mwl_program *next = NULL;
    char *text = flow_quoted(SCRIPT("wander")), *other = flow_quoted(SCRIPT("rest"));
    ASSERT_EQ((int)mwl_assemble_for(f.vm, text, strlen(text), NULL, &f.program), (int)MWL_OK);
    ASSERT_EQ((int)mwl_assemble_for(f.vm, other, strlen(other), NULL, &next), (int)MWL_OK);
    free(text);
    free(other);
    ASSERT_TRUE(flow_start(&f, "{'gold':5}"));
    mwl_run *second = NULL;
    ASSERT_EQ((int)mwl_run_start(f.vm, next, NULL, &second, NULL), (int)MWL_OK);
    mwl_run_abort(second);
    mwl_vm_pump(f.vm, 2 * S);
    int n = 0;
    for (mwl_run *run = NULL; (run = mwl_vm_runs(f.vm, run));) {
        n++;
        EXPECT_TRUE(mwl_run_vm(run) == f.vm);
    }
    EXPECT_EQ(n, 2);
    mwl_where w;
    EXPECT_FALSE(mwl_run_where(second, &w));
    EXPECT_TRUE(mwl_is_absent(mwl_run_vars(second, 0)));
    ASSERT_TRUE(mwl_run_where(f.run, &w));
    EXPECT_STREQ(w.step, "wander");
    EXPECT_EQ((int)w.waiting, (int)MWL_WAITING_TIME);
    EXPECT_TRUE(w.line > 0 && w.depth == 0);
    mwl_instant now;
    mwl_vm_now(f.vm, &now);
    EXPECT_TRUE(w.until_ns > now.mono_ns && w.bound_ns == MWL_NEVER);
    EXPECT_TRUE(mwl_is_absent(mwl_run_vars(f.run, 1)));
    /* the new definition goes on with the variables of the old one */
    const mwl_start start = {.input = mwl_run_vars(f.run, 0)};
    mwl_run *carried = NULL;
    ASSERT_EQ((int)mwl_run_start(f.vm, next, &start, &carried, NULL), (int)MWL_OK);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_TRUE(mwl_as_number(mwl_run_value(carried)) == 7);
    mwl_program_release(next);
    flow_close(&f);
}

UTEST(embedder, it_sees_what_a_run_waits_for) {
    flow f;
    ASSERT_TRUE(
        open_for(&f, keep, NULL,
                 FLOW("'a':{'action':'Call','middleware':[{'provider':" TIMEOUT
                      ",'onEntry':{'with':{'duration':'PT5S'}}}],'call':{'provider':'" CALL_URI
                      "'},'next':'z'}," RETURN)));
    f.run = start_one(&f);
    mwl_vm_pump(f.vm, 0);
    mwl_where w;
    ASSERT_TRUE(mwl_run_where(f.run, &w));
    EXPECT_EQ((int)w.waiting, (int)MWL_WAITING_CALL);
    EXPECT_STREQ(w.provider, CALL_URI);
    mwl_instant now;
    mwl_vm_now(f.vm, &now);
    EXPECT_EQ(w.bound_ns - now.mono_ns, 5 * S);
    EXPECT_EQ(w.until_ns, MWL_NEVER);
    mwl_call_succeed(kept_call, mwl_null());
    flow_close(&f);
}

/* Two Flows: the inner one has a variable and naps twice, by a Loop. */
static const char naps[] =
    "{'$schema':'https://mwl.dev/v0.1/flow/schema.json','entrypoint':'all',\n"
    " 'flows':{'nap':{'entrypoint':'keep','middleware':[{'provider':" LOOP
    ",'onSuccess':{'when':'{{ middleware.metadata.iteration < 2.0 }}'}}],'steps':{\n"
    "   'keep':{'action':'Pass','assign':{'mine':'{{ step.input }}'},'next':'sleep'},\n"
    "   'sleep':{'action':'Sleep','for':'PT1H','next':'end'},\n"
    "   'end':{'action':'Return'}}}},\n"
    " 'steps':{\n"
    "   'all':{'action':'Gather','over':[1,2,3],'concurrency':2,'call':{'flow':'nap'},\n"
    "          'assign':{'outer':7},'next':'one'},\n"
    "   'one':{'action':'Call','call':{'flow':'nap','input':5},'next':'z'},\n"
    "   'z':{'action':'Return'}}}";

UTEST(embedder, it_sees_gathers_inner_flows_and_repetitions) {
    flow f;
    mwl_where w;
    ASSERT_TRUE(open_for(&f, NULL, NULL, naps));
    f.run = start_one(&f);
    mwl_vm_pump(f.vm, S);
    ASSERT_TRUE(mwl_run_where(f.run, &w));
    EXPECT_EQ((int)w.waiting, (int)MWL_WAITING_GATHER);
    EXPECT_STREQ(w.step, "all");
    EXPECT_STREQ(w.flow, "");
    EXPECT_EQ((int)w.line, 7);
    EXPECT_EQ((int)w.column, 4); /* its name */
    EXPECT_TRUE(w.total == 3 && w.done == 0 && w.active == 2 && w.depth == 0 && w.runs == 0);
    EXPECT_EQ(mwl_count(mwl_run_vars(f.run, 0)), (size_t)0);
    EXPECT_TRUE(mwl_is_absent(mwl_run_vars(f.run, 1))); /* one of several */
    mwl_vm_pump(f.vm, 2 * 3600 * S);
    ASSERT_TRUE(mwl_run_where(f.run, &w));
    EXPECT_TRUE(w.total == 3 && w.done == 2 && w.active == 1);
    mwl_vm_pump(f.vm, 2 * 3600 * S);
    for (unsigned nap = 1; nap <= 2; nap++) {
        ASSERT_TRUE(mwl_run_where(f.run, &w));
        EXPECT_EQ((int)w.waiting, (int)MWL_WAITING_TIME);
        EXPECT_STREQ(w.flow, "nap");
        EXPECT_STREQ(w.step, "sleep");
        EXPECT_EQ((int)w.line, 4);
        EXPECT_TRUE(w.depth == 1 && w.runs == nap && w.total == 0);
        EXPECT_TRUE(mwl_as_number(mwl_get(mwl_run_vars(f.run, 0), "outer")) == 7);
        EXPECT_TRUE(mwl_as_number(mwl_get(mwl_run_vars(f.run, 1), "mine")) == 5);
        EXPECT_TRUE(mwl_is_absent(mwl_run_vars(f.run, 2)));
        mwl_vm_pump(f.vm, 3600 * S);
    }
    EXPECT_TRUE(mwl_run_succeeded(f.run) && !mwl_run_where(f.run, &w));
    flow_close(&f);
}

/* ---- 7: a middleware cannot wait by itself --------------------------------------------------- */

typedef struct remote {
    mwl_token *token;
    int entered, left;
    mwl_status answered;
    bool poll;
} remote;

static void remote_entry(mwl_phase *phase, void *user) {
    remote *r = user;
    mwl_value found;
    r->entered++;
    r->answered = mwl_phase_answer(phase, &found);
    if (r->answered == MWL_OK) {
        mwl_phase_substitute(phase, true, found);
    } else if (r->answered == MWL_E_FAILED) {
        mwl_value_drop(mwl_phase_heap(phase), found);
        mwl_phase_failf(phase, "Provider.Middleware.Gate.Bad", "the cache is %s", "down");
    } else if (r->entered == 1) {
        mwl_phase_set_state(phase, mwl_bool(true));
        if (!r->poll) mwl_phase_token(phase, &r->token);
        mwl_phase_wait(phase, r->poll ? 3 * S : MWL_NEVER);
    }
}

static void remote_left(mwl_value state, void *user) {
    (void)state;
    ((remote *)user)->left++;
}

static bool open_remote(flow *f, remote *r) {
    if (!flow_vm(f, 1)) return false;
    const mwl_middleware gate = {
        .uri = MW_URI, .document = MW_DOCUMENT, .entry = remote_entry, .left = remote_left};
    const mwl_call_provider work = {.uri = CALL_URI, .document = DOCUMENT, .start = succeed};
    char *text = flow_quoted(GATED);
    bool good = mwl_vm_provide_middleware(f->vm, &gate, 1, r, NULL) == MWL_OK &&
                mwl_vm_provide(f->vm, &work, 1, NULL, NULL) == MWL_OK &&
                mwl_assemble_for(f->vm, text, strlen(text), NULL, &f->program) == MWL_OK;
    free(text);
    f->run = good ? start_one(f) : NULL;
    return f->run != NULL;
}

static void *answer_hit(void *token) {
    (void)mwl_token_succeed(token, "\"cached\"", 8);
    return NULL;
}
static void *answer_down(void *token) {
    (void)mwl_token_fail(token, NULL, "Cache.Down", "down", NULL, 0);
    return NULL;
}

UTEST(embedder, a_middleware_waits_for_another_thread) {
    for (int down = 0; down < 2; down++) {
        flow f;
        remote r = {0};
        ASSERT_TRUE(open_remote(&f, &r));
        EXPECT_EQ(mwl_vm_pump(f.vm, MWL_NO_BUDGET), MWL_NEVER);
        ASSERT_TRUE(r.token != NULL && r.entered == 1);
        mwl_where w;
        EXPECT_TRUE(mwl_run_where(f.run, &w) && w.waiting == MWL_WAITING_ENTRY);
        EXPECT_STREQ(w.phase, "onEntry");
        EXPECT_STREQ(w.provider, MW_URI);
        pthread_t thread;
        pthread_create(&thread, NULL, down ? answer_down : answer_hit, r.token);
        pthread_join(thread, NULL);
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        EXPECT_EQ(r.entered, 2);
        if (down)
            EXPECT_STREQ(mwl_as_text(mwl_get(mwl_run_result(f.run), "message"), NULL),
                         "the cache is down");
        else
            EXPECT_STREQ(mwl_as_text(mwl_run_value(f.run), NULL), "cached");
        EXPECT_EQ(r.left, 1);
        mwl_token_release(r.token);
        flow_close(&f);
    }
}

UTEST(embedder, a_cancellation_ends_the_wait_of_a_middleware) {
    flow f;
    remote r = {0};
    ASSERT_TRUE(open_remote(&f, &r));
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_TRUE(mwl_token_wanted(r.token));
    mwl_run_cancel(f.run, "enough");
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_EQ(r.entered, 1);
    EXPECT_EQ(r.left, 1);
    EXPECT_EQ((int)mwl_run_get_state(f.run), (int)MWL_RUN_DONE);
    EXPECT_FALSE(mwl_token_wanted(r.token));
    EXPECT_EQ((int)mwl_token_succeed(r.token, "1", 1), (int)MWL_E_NOT_FOUND);
    mwl_token_release(r.token);
    flow_close(&f);
}

UTEST(embedder, a_middleware_goes_on_after_a_time) {
    flow f;
    remote r = {.poll = true};
    ASSERT_TRUE(open_remote(&f, &r));
    mwl_instant before, after;
    mwl_vm_now(f.vm, &before);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_vm_now(f.vm, &after);
    EXPECT_EQ(after.mono_ns - before.mono_ns, 3 * S);
    EXPECT_TRUE(mwl_run_succeeded(f.run));
    flow_close(&f);
}

/* ---- 10 to 15: ceremony ---------------------------------------------------------------------- */

UTEST(embedder, c_strings_are_keys_and_objects_are_built_at_once) {
    mwl_heap *h;
    ASSERT_EQ((int)mwl_heap_new(NULL, &h), (int)MWL_OK);
    mwl_value v = mwl_make_object(h, "latitude", mwl_number(38.7), "city", mwl_text(h, "Lisboa"));
    EXPECT_TRUE(mwl_as_number(mwl_get(v, "latitude")) == 38.7);
    EXPECT_STREQ(mwl_as_text(mwl_get(v, "city"), NULL), "Lisboa");
    EXPECT_TRUE(mwl_is_absent(mwl_get(v, "longitude")));
    EXPECT_TRUE(mwl_is_absent(mwl_get(mwl_null(), "city")));
    mwl_value_drop(h, v);
    v = mwl_make_object(h, "bad", mwl_text(h, "\xff"), "good", mwl_text(h, "x"));
    EXPECT_TRUE(mwl_is_absent(v)); /* and nothing leaks */
    EXPECT_EQ((int)mwl_heap_why(h), (int)MWL_E_UTF8);
    EXPECT_EQ(mwl_heap_used(h), 0u);
    mwl_heap_free(h);
}

static mwl_value twice(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)fn;
    (void)n_args;
    return mwl_number(2 * mwl_as_number(args[0]));
}
static const mwl_function_def functions[] = {
    {"acme.twice", twice, 1, 1, MWL_FN_GLOBAL, "acme.twice(double) -> double"}};

UTEST(embedder, one_registration_serves_the_assembler_and_the_vm) {
    flow f;
    if (!flow_vm(&f, 1)) return;
    char *text = flow_quoted(FLOW("'a':{'action':'Return','value':'{{ acme.twice(4.0) }}'}"));
    EXPECT_EQ((int)mwl_assemble_for(f.vm, text, strlen(text), NULL, &f.program),
              (int)MWL_E_REJECTED);
    EXPECT_TRUE(strstr(mwl_vm_diagnostics(f.vm), "acme.twice") != NULL);
    ASSERT_EQ((int)mwl_vm_functions(f.vm, functions, 1), (int)MWL_OK);
    ASSERT_EQ((int)mwl_assemble_for(f.vm, text, strlen(text), NULL, &f.program), (int)MWL_OK);
    EXPECT_STREQ(mwl_vm_diagnostics(f.vm), "");
    f.run = start_one(&f);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_TRUE(mwl_as_number(mwl_run_value(f.run)) == 8);
    free(text);
    flow_close(&f);
}

UTEST(embedder, failures_are_written_like_printf) {
    flow f;
    ASSERT_TRUE(open_for(&f, fail_plainly, "no answer:", WORK));
    f.run = start_one(&f);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_STREQ(mwl_as_text(mwl_get(mwl_run_result(f.run), "message"), NULL), "no answer: 42");
    flow_close(&f);
}

/* A message stays until this thread is refused something else, whoever is freed before. */
UTEST(embedder, error_messages_have_one_lifetime) {
    flow f;
    mwl_run *run;
    mwl_error error = {MWL_OK, "", 0};
    ASSERT_TRUE(open_for(&f, succeed, NULL, WORK));
    ASSERT_EQ((int)mwl_vm_withdraw(f.vm, CALL_URI), (int)MWL_OK);
    ASSERT_EQ((int)mwl_run_start(f.vm, f.program, NULL, &run, &error), (int)MWL_E_NOT_FOUND);
    flow_close(&f); /* the program and the VM */
    EXPECT_STREQ(error.message, CALL_URI);
}

UTEST(embedder, mock_is_apart_and_each_middleware_can_be_picked) {
    char *with_mock = flow_quoted(FLOW("'a':{'action':'Call','call':{'provider':" MOCK
                                       ",'with':{'value':1}},'next':'z'}," RETURN));
    for (int i = 0; i < 2; i++) {
        mwl_vm *vm = NULL;
        mwl_program *program = NULL;
        mwl_run *run = NULL;
        ASSERT_EQ((int)mwl_vm_new(NULL, &vm), (int)MWL_OK);
        ASSERT_EQ((int)mwl_std_register(vm, NULL), (int)MWL_OK);
        if (i) ASSERT_EQ((int)mwl_std_add(vm, MWL_STD_MOCK, NULL), (int)MWL_OK);
        EXPECT_EQ((int)mwl_std_add(vm, MWL_STD_RETRY, NULL), (int)MWL_E_DUPLICATE);
        ASSERT_EQ((int)mwl_assemble_for(vm, with_mock, strlen(with_mock), NULL, &program),
                  (int)MWL_OK);
        EXPECT_EQ((int)mwl_run_start(vm, program, NULL, &run, NULL),
                  (int)(i ? MWL_OK : MWL_E_NOT_FOUND));
        mwl_vm_free(vm);
        mwl_program_release(program);
    }
    free(with_mock);
    mwl_vm *vm = NULL;
    ASSERT_EQ((int)mwl_vm_new(NULL, &vm), (int)MWL_OK);
    EXPECT_EQ((int)mwl_std_add(vm, MWL_STD_RETRY | MWL_STD_FINALLY, NULL), (int)MWL_OK);
    EXPECT_EQ((int)mwl_std_add(vm, MWL_STD_TIMEOUT | MWL_STD_LOOP | MWL_STD_FUNCTIONS, NULL),
              (int)MWL_OK);
    mwl_vm_free(vm);
}

/* A zone that is two hours ahead, in the form of RFC 9636: an empty table and a rule. */
static mwl_status zone_two_hours(void *ctx, const char *name,
                                 void (*put)(void *to, const void *bytes, size_t n), void *to) {
    ++*(int *)ctx;
    if (strcmp(name, "Acme/Base") != 0) return MWL_E_NOT_FOUND;
    unsigned char block[44 + 6 + 4] = {'T', 'Z', 'i', 'f', '2'};
    block[39] = 1; /* typecnt */
    block[43] = 4; /* charcnt */
    block[44 + 2] = 0x1c, block[44 + 3] = 0x20;
    memcpy(block + 50, "ACM", 4);
    put(to, block, sizeof block); /* version 1 */
    put(to, block, sizeof block);
    put(to, "\nACM-2\n", 7);
    return MWL_OK;
}

UTEST(embedder, time_zones_come_from_a_hook) {
    static const char text[] = FLOW("'a':{'action':'Return','value':'{{ string(timestamp("
                                    "step.input.at).getHours(step.input.zone)) }}'}");
    flow f;
    int reads = 0;
    memset(&f, 0, sizeof f);
    const mwl_config c = {.virtual_time = true, .zone = zone_two_hours, .zone_ctx = &reads};
    ASSERT_EQ((int)mwl_vm_new(&c, &f.vm), (int)MWL_OK);
    ASSERT_TRUE(flow_load(&f, text));
    EXPECT_TRUE(strstr(flow_again(&f, "{'at':'2026-01-01T10:00:00Z','zone':'Acme/Base'}"), "'12'"));
    EXPECT_TRUE(strstr(flow_again(&f, "{'at':'2026-01-01T10:00:00Z','zone':'Acme/Base'}"), "'12'"));
    EXPECT_EQ(reads, 1);
    EXPECT_TRUE(strstr(flow_again(&f, "{'at':'2026-01-01T10:00:00Z','zone':'Europe/Lisbon'}"),
                       "'type':'error'"));
    flow_close(&f);
}

/* ---- any thread ------------------------------------------------------------------------------ */

typedef struct stopper {
    mwl_run **runs;
    int n;
    mwl_status st;
    atomic_bool go;
} stopper;

static void *cancel_all(void *ctx) {
    stopper *s = ctx;
    while (!atomic_load(&s->go)) continue;
    for (int i = 0; i < s->n; i++)
        if (mwl_run_cancel(s->runs[i], "from outside") < 0) s->st = MWL_E_NOMEM;
    return NULL;
}

static void count_wake(void *ctx) { atomic_fetch_add((atomic_int *)ctx, 1); }

UTEST(embedder, runs_are_cancelled_from_any_thread_while_the_vm_is_pumped) {
    enum { RUNS = 50, THREADS = 3 };
    flow f;
    memset(&f, 0, sizeof f);
    atomic_int wakes = 0;
    const mwl_config c = {.wake = count_wake, .wake_ctx = &wakes};
    ASSERT_EQ((int)mwl_vm_new(&c, &f.vm), (int)MWL_OK);
    ASSERT_TRUE(flow_load(&f, SPIN));
    mwl_run *runs[RUNS];
    for (int i = 0; i < RUNS; i++) ASSERT_TRUE((runs[i] = start_one(&f)) != NULL);
    pthread_t threads[THREADS];
    stopper s = {runs, RUNS, MWL_OK, false};
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, cancel_all, &s);
    atomic_store(&s.go, true);
    int done = 0;
    for (int i = 0; done < RUNS && i < 10000000; i++) {
        mwl_vm_pump_within(f.vm, MWL_NO_BUDGET, 1000);
        while (mwl_vm_next_done(f.vm)) done++;
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    EXPECT_EQ(done, RUNS);
    EXPECT_EQ((int)s.st, (int)MWL_OK);
    EXPECT_TRUE(atomic_load(&wakes) > 0);
    EXPECT_STREQ(mwl_as_text(mwl_get(mwl_get(mwl_run_result(runs[0]), "details"), "reason"), NULL),
                 "from outside");
    flow_close(&f);
}

UTEST(embedder, a_request_to_cancel_a_run_that_is_freed_first_does_no_harm) {
    flow f;
    ASSERT_TRUE(open_for(&f, NULL, NULL, NAP));
    mwl_run *runs[2] = {start_one(&f), start_one(&f)};
    stopper s = {runs, 2, MWL_OK, true};
    pthread_t thread;
    pthread_create(&thread, NULL, cancel_all, &s);
    pthread_join(thread, NULL);
    mwl_run_free(runs[0]);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_FALSE(mwl_run_succeeded(runs[1]));
    flow_close(&f);
}

UTEST_MAIN()
