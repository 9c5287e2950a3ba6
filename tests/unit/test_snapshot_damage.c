/* test_snapshot_damage.c: loading finds each damage of a saved run.
 *
 * Every row changes one item of a good snapshot and names the reason with which loading must refuse
 * it: so a check that is left out is noticed. Then every item of every snapshot is replaced by
 * others; whatever loads is run to its end. */
#include "utest.h"

#include "cbor_tree.h"
#include "run_flow.h"
#include "vm/machine/invariant.h"

#define S INT64_C(1000000000)
#define SLOW_URI "mwl:provider.call/test/slow/v1"
#define SLOW "{'provider':'" SLOW_URI "'}"

static const char slow_document[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" SLOW_URI
    "\",\"codePrefix\":\"Slow\",\"description\":\"d\",\"parameters\":{\"type\":\"object\",\"properties\":{}},"
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}";

/* Never settles by itself; asked to stop, it takes its time. */
static void slow_start(mwl_call *c, void *user) { (void)c, (void)user; }
static void slow_cancel(mwl_call *c, void *user) { (void)c, (void)user; }
static const mwl_call_provider slow = {
    .uri = SLOW_URI, .document = slow_document, .start = slow_start, .cancel = slow_cancel};

#define RETRY_ENTRY                                                                                \
    "{'provider':" RETRY                                                                           \
    ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},'attempts':3,'backoff':{'initial':'PT9S'}}]}}}"
#define TIMEOUT_ENTRY "{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT30S'}}}"
#define DELAYED "{'provider':" MOCK ",'with':{'delay':'PT5S'}}"
#define ARMED                                                                                      \
    "{'provider':" MOCK                                                                            \
    ",'with':{'delay':'PT5S'},'onSuccess':{'assign':{'x':'{{ call.result.value }}'}}}"
#define END "'z':{'action':'Return'}"

typedef enum source { SLEEP, CALL, GATHER, GAP, BELOW, CLEANUP, AWAIT, DONE, N_SOURCES } source;

static const struct {
    const char *definition;
    bool cancel; /* after it has parked */
} sources[N_SOURCES] = {
    [SLEEP] = {FLOW("'a':{'action':'Sleep','for':'PT1H','next':'z'}," END), false},
    [CALL] = {FLOW_WITH("'parameters':{'type':'object','properties':{'x':{'default':0}}},",
                        "'a':{'action':'Call','middleware':[" TIMEOUT_ENTRY "," RETRY_ENTRY
                        "],'call':" ARMED ",'next':'z'}," END),
              false},
    [GATHER] = {FLOW_WITH(
                    "'parameters':{'type':'object','properties':{'x':{'default':0}}},",
                    "'a':{'action':'Gather','over':'{{ [1, 2, 3] }}','concurrency':2,'call':" ARMED
                    ",'next':'z'}," END),
                false},
    [GAP] = {FLOW("'a':{'action':'Call','middleware':[" RETRY_ENTRY "],'call':{'provider':" MOCK
                  ",'with':{'failure':{'code':'X.Y'}}},'next':'z'}," END),
             false},
    [BELOW] =
        {FLOW(
             "'a':{'action':'Call','call':{'flow':{'entrypoint':'b','steps':{'b':{'action':'Sleep','for':"
             "'PT1H','next':'c'},'c':{'action':'Return'}}}},'next':'z'}," END),
         false},
    [CLEANUP] = {FLOW_WITH("'middleware':[{'provider':" FINALLY
                           ",'onAlways':{'with':{'call':" DELAYED "}}}],",
                           "'a':{'action':'Sleep','for':'PT1H','next':'z'}," END),
                 true},
    [AWAIT] = {FLOW("'a':{'action':'Call','call':" SLOW ",'next':'z'}," END), true},
    [DONE] = {FLOW(END), false},
};
#undef END

typedef struct bench {
    mwl_vm *vm;
    mwl_program *program[N_SOURCES];
    unsigned char *bytes[N_SOURCES];
    size_t size[N_SOURCES];
} bench;

static bool prepare(bench *b, source k) {
    const mwl_asm_provider document = {"slow", slow_document, sizeof slow_document - 1};
    flow f;
    memset(&f, 0, sizeof f);
    f.documents = &document;
    f.n_documents = 1;
    const char *definition = sources[k].definition;
    char last[512];
    if (k == DONE) {
        snprintf(
            last, sizeof last,
            "{'$schema':'https://mwl.dev/v0.1/flow/schema.json','entrypoint':'z','steps':{'z':{'action':'Return'}}}");
        definition = last;
    }
    if (!flow_load(&f, definition)) {
        fprintf(stderr, "%d: %s\n", (int)k, f.result);
        return false;
    }
    b->program[k] = f.program;
    mwl_run *run = NULL;
    void *bytes = NULL;
    if (mwl_run_start(b->vm, f.program, NULL, &run, NULL) < 0) return false;
    while (mwl_vm_pump(b->vm, 0) == 0) continue;
    if (sources[k].cancel) {
        mwl_run_cancel(run, "enough");
        while (mwl_vm_pump(b->vm, 0) == 0) continue;
    }
    mwl_status st = mwl_run_save(run, &bytes, &b->size[k], NULL);
    b->bytes[k] = malloc(b->size[k]);
    if (st == MWL_OK) memcpy(b->bytes[k], bytes, b->size[k]);
    mwl_bytes_free(b->vm, bytes, b->size[k]);
    mwl_run_free(run);
    return st == MWL_OK;
}

static bool open_bench(bench *b) {
    mwl_config c = mwl_config_default();
    memset(b, 0, sizeof *b);
    c.virtual_time = true;
    c.limits.fuel = 200000;
    if (mwl_vm_new(&c, &b->vm) < 0 || mwl_std_register(b->vm, NULL) < 0 ||
        mwl_vm_provide(b->vm, &slow, 1, NULL, NULL) < 0)
        return false;
    for (int k = 0; k < N_SOURCES; k++)
        if (!prepare(b, (source)k)) return false;
    return true;
}

static void close_bench(bench *b) {
    mwl_vm_free(b->vm);
    for (int k = 0; k < N_SOURCES; k++) {
        mwl_program_release(b->program[k]);
        free(b->bytes[k]);
    }
}

/* ---- one damage for each check --------------------------------------------------------------- */

static node *frame_at(node *run, size_t i) {
    return &tree_field(run, MWL_RECORD_RUN, "root", -1)->kid[i];
}
static node *of_frame(node *run, const char *name, int kind) {
    return tree_field(frame_at(run, 0), MWL_RECORD_FRAME, name, kind);
}
static node *of_entry(node *run, size_t i, const char *name) {
    return tree_field(&of_frame(run, "entries", -1)->kid[i], MWL_RECORD_ENTRY, name, -1);
}
static node *of_call(node *run, const char *name) {
    return tree_field(of_frame(run, "target", MWL_FIELD_TARGET), MWL_RECORD_CALL, name, -1);
}
static node *of_record(node *run, const char *name) {
    return tree_field(of_frame(run, "record", -1), MWL_RECORD_RECORD, name, -1);
}
static node *of_extra(node *run, const char *name) {
    return tree_field(of_frame(run, "extra", -1), MWL_RECORD_EXTRA, name, -1);
}
static node *gather_of(node *run) { return of_extra(run, "gather"); }
static node *of_gather(node *run, const char *name) {
    return tree_field(gather_of(run), MWL_RECORD_GATHER, name, -1);
}
static node *of_slot(node *run, size_t i, const char *name) {
    return tree_field(&of_gather(run, "next")->kid[i], MWL_RECORD_SLOT, name, -1);
}
static node *of_run(node *run, const char *name) {
    return tree_field(run, MWL_RECORD_RUN, name, -1);
}

#define UNDEFINED(t) tree_simple(t, MWL_CBOR_UNDEFINED)
#define NULLED(t) tree_simple(t, MWL_CBOR_NULL)

/* X(name, source, change, reason) */
#define DAMAGES(X)                                                                                 \
    X(flow, SLEEP, tree_uint(of_frame(r, "flow", -1), 9), "a number is too large")                 \
    X(step, SLEEP, tree_uint(of_frame(r, "step", -1), 1), "there is no such Sleep")                \
    X(no_step, SLEEP, NULLED(of_frame(r, "step", -1)), "there is no such Sleep")                   \
    X(point, SLEEP, tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 9), "a number is too large")     \
    X(index, SLEEP, tree_uint(of_frame(r, "pc", MWL_FIELD_AT), 0),                                 \
      "a point has no index, or one too many")                                                     \
    X(start, SLEEP, tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 0),                              \
      "a frame begins without its input")                                                          \
    X(refused, SLEEP, tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 1),                            \
      "a frame was refused without a failure")                                                     \
    X(unwind, SLEEP, tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 8),                             \
      "an unwind is not under way")                                                                \
    X(state, SLEEP, tree_uint(of_frame(r, "state", -1), 3), "a frame has another state")           \
    X(frame_state, SLEEP, tree_uint(of_frame(r, "state", -1), 5), "a number is too large")         \
    X(vars, SLEEP, UNDEFINED(of_frame(r, "vars", -1)), "a frame has no variables or no input")     \
    X(vars_kind, SLEEP, tree_uint(of_frame(r, "vars", -1), 1), "this is not an object")            \
    X(input, SLEEP, UNDEFINED(of_frame(r, "input", -1)), "a frame has no variables or no input")   \
    X(step_input, SLEEP, UNDEFINED(of_frame(r, "step_input", -1)), "a frame has no such Step")     \
    X(no_timer, SLEEP, NULLED(of_frame(r, "timer", -1)), "a frame waits for no time")              \
    X(bound_timer, SLEEP, tree_uint(of_frame(r, "timer", -1), 0),                                  \
      "a bound is earlier than the timer")                                                         \
    X(timer_order, SLEEP, tree_uint(&of_frame(r, "timer", -1)->kid[0], 1),                         \
      "an order is not complete")                                                                  \
    X(queued, SLEEP, tree_uint(of_frame(r, "target", MWL_FIELD_QUEUED), 0),                        \
      "a frame has another state")                                                                 \
    X(times, SLEEP, tree_uint(of_frame(r, "depth", -1), 0), "a frame keeps no instants")           \
    X(target, SLEEP, tree_simple(of_frame(r, "target", MWL_FIELD_TARGET), MWL_CBOR_TRUE),          \
      "a frame waits for nothing")                                                                 \
    X(due, SLEEP, NULLED(of_run(r, "link")), "the head of the run is wrong")                       \
    X(count, SLEEP, tree_uint(of_run(r, "live"), 1), "the head of the run is wrong")               \
    X(id, SLEEP, tree_uint(of_run(r, "id"), 1), "the id of a run is a text")                       \
    X(result, SLEEP, tree_uint(of_run(r, "result"), 1),                                            \
      "a run has no frames and no Result, or both")                                                \
    X(no_frames, SLEEP, (of_run(r, "root")->n_kids = 0),                                           \
      "a run has no frames and no Result, or both")                                                \
    X(too_many, SLEEP, (r->n_kids--), "a record has another number of members")                    \
    X(flags, SLEEP, tree_uint(of_frame(r, "awaits", -1), 2), "a number is too large")              \
    X(not_data, SLEEP,                                                                             \
      (of_frame(r, "input", -1)->major = MWL_CBOR_BYTES, of_frame(r, "input", -1)->n = 1,          \
       of_frame(r, "input", -1)->text = (const unsigned char *)"x"),                               \
      "a value is not of the data model")                                                          \
    X(call, CALL, tree_uint(of_frame(r, "pc", MWL_FIELD_AT), 5), "there is no such call")          \
    X(direct, CALL, tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 4),                              \
      "a call is open that is over")                                                               \
    X(record, CALL, NULLED(of_frame(r, "record", -1)), "the record of a call is of another one")   \
    X(record_ix, CALL, tree_uint(of_record(r, "ix"), 5), "there is no such call")                  \
    X(record_index, CALL, tree_uint(of_record(r, "index"), 0),                                     \
      "the record of a call is of another one")                                                    \
    X(record_input, CALL, UNDEFINED(of_record(r, "input")),                                        \
      "the record of a call is of another one")                                                    \
    X(ready, CALL,                                                                                 \
      (tree_uint(of_frame(r, "state", -1), 0), NULLED(of_frame(r, "target", MWL_FIELD_TARGET)),    \
       NULLED(of_frame(r, "timer", -1)), tree_uint(of_frame(r, "target", MWL_FIELD_QUEUED), 0),    \
       tree_uint(of_run(r, "live"), 0)),                                                           \
      "a call has no Result")                                                                      \
    X(no_target, CALL, NULLED(of_frame(r, "target", MWL_FIELD_TARGET)),                            \
      "a frame waits for nothing")                                                                 \
    X(no_bound, CALL, NULLED(of_frame(r, "timer", -1)), "a bound has no timer")                    \
    X(entries, CALL, (of_frame(r, "entries", -1)->n_kids = 1),                                     \
      "the entries of a frame are not those of its place")                                         \
    X(entry_ix, CALL, tree_uint(of_entry(r, 0, "ix"), 9), "there is no such middleware entry")     \
    X(entry_order, CALL, tree_uint(of_entry(r, 0, "ix"), 0),                                       \
      "an entry has no variables, or too many")                                                    \
    X(entry_state, CALL, tree_uint(of_entry(r, 0, "state"), 6), "an entry has no such state")      \
    X(entry_none, CALL, tree_uint(of_entry(r, 0, "state"), 0), "an entry has no such state")       \
    X(entry_phase, CALL, tree_uint(of_entry(r, 1, "state"), 4),                                    \
      "the entries of a frame are not those of its place")                                         \
    X(entry_result, CLEANUP, UNDEFINED(of_entry(r, 0, "res")), "an entry has no Result")           \
    X(structural, CALL, tree_uint(of_entry(r, 1, "state"), 9),                                     \
      "an entry has no call of its own in this phase")                                             \
    X(entering, CALL, tree_uint(of_entry(r, 1, "state"), 1), "an entry has no value")              \
    X(entry_input, CALL, UNDEFINED(of_entry(r, 1, "input")), "an entry has no value")              \
    X(entry_vars, CALL, UNDEFINED(of_entry(r, 0, "vars")),                                         \
      "an entry has no variables, or too many")                                                    \
    X(entry_own, CALL, UNDEFINED(of_entry(r, 0, "own_state")), "an entry has no state")            \
    X(verdict, CALL, tree_uint(of_entry(r, 0, "verdict"), 3), "a number is too large")             \
    X(restores, CALL, tree_uint(of_entry(r, 1, "reenter"), 2),                                     \
      "an entry has no variables to restore")                                                      \
    X(fired, CALL, tree_uint(of_entry(r, 1, "accepted"), 6),                                       \
      "an entry has fired without its cancellation")                                               \
    X(running, CALL, tree_uint(of_entry(r, 1, "accepted"), 18), "an unwind has no cause")          \
    X(owner, CALL, tree_uint(of_entry(r, 1, "outer_owner"), 7),                                    \
      "an owner is not an entry of the frame")                                                     \
    X(owner_inside, CALL, tree_uint(of_entry(r, 1, "outer_owner"), 1),                             \
      "an unwind ends inside what it unwinds")                                                     \
    X(contributed, CALL, tree_uint(of_entry(r, 0, "contributed"), 3),                              \
      "an entry has contributed something else than an object")                                    \
    X(provider, CALL, tree_uint(&of_frame(r, "target", MWL_FIELD_TARGET)->kid[0], 9),              \
      "there is no such provider")                                                                 \
    X(middleware, CALL, tree_uint(&of_frame(r, "target", MWL_FIELD_TARGET)->kid[0], 1),            \
      "there is no such provider")                                                                 \
    X(cancelled, CALL, tree_uint(&of_frame(r, "target", MWL_FIELD_TARGET)->kid[1], 1),             \
      "a call that does not wait for a time has a timer")                                          \
    X(call_flags, CALL, tree_uint(&of_frame(r, "target", MWL_FIELD_TARGET)->kid[1], 4),            \
      "a number is too large")                                                                     \
    X(number, CALL, tree_uint(of_call(r, "number"), 2),                                            \
      "a call has a number that was not given yet")                                                \
    X(attempt, CALL, tree_uint(of_call(r, "attempt"), 0),                                          \
      "a call has a number that was not given yet")                                                \
    X(call_input, CALL, UNDEFINED(of_call(r, "input")), "a call has no input")                     \
    X(call_args, CALL, tree_uint(of_call(r, "args"), 1), "the arguments of a call are not valid")  \
    X(call_res, CALL, *of_call(r, "res") = *of_result(),                                           \
      "a call has a Result, or was cancelled without a cancellation")                              \
    X(step_done, CALL, tree_uint(of_frame(r, "awaits", -1), 1), "a frame is in another Step")      \
    X(constant, CALL, tree_uint(&of_call(r, "args")->kid[0], 999), "there is no such constant")    \
    X(gather_ix, GATHER, tree_uint(&gather_of(r)->kid[0], 3), "there is no such Gather")           \
    X(gather_n, GATHER, tree_uint(&gather_of(r)->kid[1], 4),                                       \
      "a Gather has another number of dispatches")                                                 \
    X(gather_less, GATHER, tree_uint(&gather_of(r)->kid[1], 2),                                    \
      "a Gather has another number of dispatches")                                                 \
    X(gather_ok, GATHER, tree_uint(of_gather(r, "n_ok"), 1), "a Gather counts wrongly")            \
    X(gather_arm, GATHER, tree_uint(of_gather(r, "arm_at"), 3), "a Gather counts wrongly")         \
    X(gather_need, GATHER, UNDEFINED(of_gather(r, "need")), "this is not a number")                \
    X(gather_flags, GATHER, tree_uint(of_gather(r, "determined"), 4 + 64),                         \
      "a Gather has failed without a failure")                                                     \
    X(gather_arming, GATHER, tree_uint(of_gather(r, "determined"), 8 + 32 + 64),                   \
      "there is no such Gather")                                                                   \
    X(gather_gone, GATHER, NULLED(gather_of(r)), "there is no such Gather")                        \
    X(slot_state, GATHER, tree_uint(of_slot(r, 0, "state"), 2),                                    \
      "a dispatch that is over has a target")                                                      \
    X(slot_target, GATHER, NULLED(of_slot(r, 0, "as")), "a dispatch has no target")                \
    X(slot_frame, GATHER, tree_simple(of_slot(r, 0, "as"), MWL_CBOR_TRUE), "a frame is missing")   \
    X(slot_res, GATHER, *of_slot(r, 0, "res") = *of_result(), "a dispatch has no Result")          \
    X(slot_record, GATHER,                                                                         \
      tree_uint(tree_field(of_slot(r, 0, "record"), MWL_RECORD_RECORD, "index", -1), 1),           \
      "the record of a dispatch is of another call")                                               \
    X(slot_provider, GATHER, tree_uint(of_gather(r, "determined"), 1 + 2 + 32 + 64),               \
      "a call was not cancelled as its frame was")                                                 \
    X(gap, GAP, tree_uint(of_frame(r, "pc", MWL_FIELD_AT), 4), "there is no such gap")             \
    X(gap_value, GAP, UNDEFINED(of_frame(r, "in_flight", -1)), "there is no such gap")             \
    X(child_missing, BELOW, (of_run(r, "root")->n_kids = 1), "a frame is missing")                 \
    X(child_flow, BELOW, tree_uint(tree_field(frame_at(r, 1), MWL_RECORD_FRAME, "flow", -1), 0),   \
      "a frame is below one that does not call its Flow")                                          \
    X(root_flow, BELOW, tree_uint(of_frame(r, "flow", -1), 1),                                     \
      "the first frame is not that of the root Flow")                                              \
    X(extra_failure, CLEANUP, UNDEFINED(of_extra(r, "failure")), "there is no failure context")    \
    X(extra_running, CLEANUP, tree_uint(of_extra(r, "running"), 1),                                \
      "a frame goes on in the middle of an unwind")                                                \
    X(extra_cancel, CLEANUP, UNDEFINED(of_extra(r, "cancel")), "an unwind has no cause")           \
    X(envelope, CLEANUP, tree_uint(of_extra(r, "cancel"), 1), "a failure has no envelope")         \
    X(await_nothing, AWAIT, NULLED(of_frame(r, "target", MWL_FIELD_TARGET)),                       \
      "an unwind waits for nothing")                                                               \
    X(await_result, AWAIT, tree_uint(&of_frame(r, "res", -1)->kid[0], 1),                          \
      "an unwind has no cause")                                                                    \
    X(await_running, AWAIT, tree_uint(of_extra(r, "running"), 2), "an unwind is not under way")    \
    X(await_timer, AWAIT, timed(of_frame(r, "timer", -1)), "a frame that can go on has a timer")   \
    X(no_result, DONE, UNDEFINED(of_run(r, "result")),                                             \
      "a run has no frames and no Result, or both")                                                \
    X(done_flags, DONE, tree_uint(of_run(r, "limit_hit"), 4),                                      \
      "a run has no frames and no Result, or both")                                                \
    X(done_failure, DONE, tree_uint(of_run(r, "limit_hit"), 0), "a failure has no envelope")       \
    X(done_whole, DONE, tree_uint(of_run(r, "limit_hit"), 2), "a Result is not a success")

/* [1, null]: a success. */
static const node *of_result(void) {
    static node kids[2], result;
    tree_uint(&kids[0], 1);
    NULLED(&kids[1]);
    result = (node){.major = MWL_CBOR_ARRAY, .n = 2, .kid = kids, .n_kids = 2};
    return &result;
}

/* [0, 0] */
static void timed(node *t) {
    static node kids[2];
    tree_uint(&kids[0], 0);
    tree_uint(&kids[1], 0);
    *t = (node){.major = MWL_CBOR_ARRAY, .n = 2, .kid = kids, .n_kids = 2};
}

#define X(name, from, change, reason)                                                              \
    static void damage_##name(node *r) { change; }
DAMAGES(X)
#undef X

static const struct damage {
    const char *name;
    source from;
    void (*change)(node *run);
    const char *reason;
} damages[] = {
#define X(name, from, change, reason) {#name, from, damage_##name, reason},
    DAMAGES(X)
#undef X
};

static mwl_status try_load(bench *b, source k, const unsigned char *bytes, size_t size,
                           mwl_run **run, mwl_error *error) {
    const mwl_load how = {.program = b->program[k]};
    *run = NULL;
    *error = (mwl_error){MWL_OK, "", 0};
    return mwl_run_load(b->vm, bytes, size, &how, run, error);
}

UTEST(damage, each_is_refused_with_its_reason) {
    bench b;
    ASSERT_TRUE(open_bench(&b));
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const struct damage *d = &damages[i];
        mwl__arena memory = mwl__arena_make(mwl_alloc_default());
        mwl__cbor c = {b.bytes[d->from] + MWL_SAVED_HEADER, b.bytes[d->from] + b.size[d->from]};
        node tree;
        ASSERT_TRUE(tree_read(&c, &memory, &tree));
        d->change(&tree);
        size_t size, used = mwl_heap_used(mwl_vm_heap(b.vm));
        unsigned char *bytes = tree_bytes(b.bytes[d->from], &tree, &size);
        mwl_run *run;
        mwl_error error;
        mwl_status st = try_load(&b, d->from, bytes, size, &run, &error);
        if (st != MWL_E_SNAPSHOT || strcmp(error.message, d->reason) != 0)
            printf("%s: status %d, '%s'\n", d->name, (int)st, error.message);
        EXPECT_EQ((int)st, (int)MWL_E_SNAPSHOT);
        EXPECT_STREQ(error.message, d->reason);
        if (run) mwl_run_free(run);
        EXPECT_LE(mwl_heap_used(mwl_vm_heap(b.vm)), used + 4096); /* names are kept */
        free(bytes);
        mwl__arena_free(&memory);
    }
    close_bench(&b);
}

/* Reserved heads and indefinite lengths, and numbers that are not in their shortest form. */
UTEST(damage, heads_that_are_not_used) {
    unsigned char bytes[128];
    mwl__major major;
    uint64_t n;
    for (unsigned first = 0; first < 256; first++) {
        memset(bytes, 0, sizeof bytes);
        bytes[0] = (unsigned char)first;
        mwl__cbor c = {bytes, bytes + sizeof bytes};
        unsigned low = first & 31;
        bool simple = first >> 5 == MWL_CBOR_SIMPLE;
        bool good = simple ? low >= MWL_CBOR_FALSE && low <= MWL_CBOR_UNDEFINED : low < 24;
        EXPECT_EQ(mwl__cbor_next(&c, &major, &n), good);
        EXPECT_EQ((size_t)(c.at - bytes), good ? 1u : 0u);
    }
}

/* ---- everything else ------------------------------------------------------------------------- */

static size_t count_nodes(const node *t) {
    size_t n = 1;
    for (size_t i = 0; i < t->n_kids; i++) n += count_nodes(&t->kid[i]);
    return n;
}

static node *nth(node *t, size_t *at) {
    if ((*at)-- == 0) return t;
    for (size_t i = 0; i < t->n_kids; i++) {
        node *found = nth(&t->kid[i], at);
        if (found) return found;
    }
    return NULL;
}

/* What a hostile sender would try first. */
static void mutate(node *t, unsigned how) {
    static node nulls[40];
    const node many = {.major = MWL_CBOR_ARRAY, .kid = nulls, .n_kids = 40};
    for (size_t i = 0; i < 40; i++) NULLED(&nulls[i]);
    switch (how) {
    case 0: NULLED(t); break;
    case 1: UNDEFINED(t); break;
    case 2: tree_simple(t, MWL_CBOR_TRUE); break;
    case 3: tree_uint(t, 0); break;
    case 4: tree_uint(t, 1); break;
    case 5: tree_uint(t, 2); break;
    case 6: tree_uint(t, UINT64_MAX); break;
    case 7: *t = (node){.major = MWL_CBOR_NEGATIVE, .n = INT64_MAX}; break;
    case 8: *t = (node){.major = MWL_CBOR_ARRAY}; break;
    case 9: *t = (node){.major = MWL_CBOR_MAP}; break;
    case 10:
        if (t->n_kids) t->n_kids--;
        if (t->major == MWL_CBOR_MAP && t->n_kids) t->n_kids--;
        break;
    case 11: t->n ^= 1; break;
    case 12: t->n += 1; break;
    case 13: t->n = 5; break;
    default: *t = many; break;
    }
}
enum { MUTATIONS = 15 };

static void run_out(bench *b, mwl_run *run) {
    for (int i = 0; i < 200 && mwl_run_get_state(run) < MWL_RUN_DONE; i++)
        if (mwl_vm_pump(b->vm, 3600 * S) == MWL_NEVER) break;
    mwl_run_free(run);
}

UTEST(damage, whatever_loads_runs) {
    bench b;
    ASSERT_TRUE(open_bench(&b));
    unsigned loaded = 0, tried = 0;
    for (int k = 0; k < N_SOURCES; k++) {
        size_t n = SIZE_MAX;
        for (size_t i = 0; i < n; i++)
            for (unsigned how = 0; how < MUTATIONS; how++) {
                mwl__arena memory = mwl__arena_make(mwl_alloc_default());
                mwl__cbor c = {b.bytes[k] + MWL_SAVED_HEADER, b.bytes[k] + b.size[k]};
                node tree;
                ASSERT_TRUE(tree_read(&c, &memory, &tree));
                if (n == SIZE_MAX) n = count_nodes(&tree);
                size_t at = i, size;
                mutate(nth(&tree, &at), how);
                unsigned char *bytes = tree_bytes(b.bytes[k], &tree, &size);
                mwl_run *run;
                mwl_error error;
                tried++;
                if (try_load(&b, (source)k, bytes, size, &run, &error) == MWL_OK) {
                    loaded++;
                    run_out(&b, run);
                }
                free(bytes);
                mwl__arena_free(&memory);
            }
    }
    printf("%u damaged snapshots, %u of them could be loaded\n", tried, loaded);
    EXPECT_GT(loaded, 10u);
    EXPECT_GT(tried - loaded, loaded);
    close_bench(&b);
}

UTEST_MAIN()
