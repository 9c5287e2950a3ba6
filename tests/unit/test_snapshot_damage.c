/* test_snapshot_damage.c: loading finds each damage of a saved run.
 *
 * Every row changes one item of a good snapshot and names the reason with which loading must refuse
 * it: so a check that is left out is noticed. Then every item of every snapshot is replaced by
 * others; whatever loads is run to its end. */
#include "utest.h"

#include "cbor_tree.h"
#include "run_flow.h"
#include "vm/machine/invariant.h"
#include "vm/machine/link.h"
#include "vm/snapshot/reader.h"
#include "vm/snapshot/resume.h"

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

#define GATE_URI "mwl:provider.middleware/test/gate/v1"
static const char gate_document[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" GATE_URI
    "\",\"codePrefix\":\"Gate\",\"description\":\"d\",\"attachment\":[\"step\"],\"phases\":{\"onEntry\":{"
    "\"action\":{\"kind\":\"control\",\"description\":\"d\"}}},\"failureCatalog\":{\"closed\":[],\"open\":[]}}";

/* Nobody gets in before a minute has passed. */
static void gate_entry(mwl_phase *phase, void *user) {
    (void)user;
    (void)mwl_phase_wait(phase, 60 * S);
}
static const mwl_middleware gate = {
    .uri = GATE_URI, .document = gate_document, .entry = gate_entry};

#define RETRY_ENTRY                                                                                \
    "{'provider':" RETRY                                                                           \
    ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},'attempts':3,'backoff':{'initial':'PT9S'}}]}}}"
#define TIMEOUT_ENTRY "{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT30S'}}}"
#define DELAYED "{'provider':" MOCK ",'with':{'delay':'PT5S'}}"
#define ARMED                                                                                      \
    "{'provider':" MOCK                                                                            \
    ",'with':{'delay':'PT5S'},'onSuccess':{'assign':{'x':'{{ call.result.value }}'}}}"
#define END "'z':{'action':'Return'}"

#define FINALLY_ENTRY(call) "{'provider':" FINALLY ",'onAlways':{'with':{'call':" call "}}}"

typedef enum source {
    SLEEP,
    CALL,
    GATHER,
    CALLS,
    GAP,
    BELOW,
    CLEANUP,
    NESTED,
    AWAIT,
    UNWIND,
    INSIDE,
    WAIT,
    START,
    DONE,
    N_SOURCES
} source;

static const mwl_limits own_limits = {.fuel = 150000}, slow_cleanup = {.cleanup_ns = 3600 * S};

static const struct {
    const char *definition;
    bool cancel; /* after it has parked */
    bool waits;  /* it is not pumped: nothing has begun */
    const mwl_limits *limits;
} sources[N_SOURCES] = {
    [SLEEP] = {FLOW("'a':{'action':'Sleep','for':'PT1H','next':'z'}," END), false, false, NULL},
    [CALL] = {FLOW_WITH("'parameters':{'type':'object','properties':{'x':{'default':0}}},",
                        "'a':{'action':'Call','middleware':[" TIMEOUT_ENTRY "," RETRY_ENTRY
                        "],'call':" ARMED ",'next':'b'},'b':{'action':'Call','call':" SLOW
                        ",'next':'z'}," END),
              false, false, NULL},
    [GATHER] = {FLOW_WITH(
                    "'parameters':{'type':'object','properties':{'x':{'default':0}}},",
                    "'a':{'action':'Gather','over':'{{ [1, 2, 3] }}','concurrency':2,'call':" ARMED
                    ",'next':'z'}," END),
                false, false, NULL},
    [CALLS] =
        {FLOW_WITH(
             "'parameters':{'type':'object','properties':{'x':{'default':0}}},'middleware':[" RETRY_ENTRY
             "],",
             "'a':{'action':'Gather','calls':[" ARMED "," DELAYED "],'next':'z'}," END),
         false, false, NULL},
    [GAP] = {FLOW("'a':{'action':'Call','middleware':[" RETRY_ENTRY "],'call':{'provider':" MOCK
                  ",'with':{'failure':{'code':'X.Y'}}},'next':'z'}," END),
             false, false, NULL},
    [BELOW] =
        {FLOW(
             "'a':{'action':'Call','call':{'flow':{'entrypoint':'b','steps':{'b':{'action':'Sleep','for':"
             "'PT1H','next':'c'},'c':{'action':'Return'}}}},'next':'z'}," END),
         false, false, NULL},
    [CLEANUP] = {FLOW_WITH("'middleware':[{'provider':" FINALLY
                           ",'onAlways':{'with':{'call':" DELAYED "}}}],",
                           "'a':{'action':'Sleep','for':'PT1H','next':'z'}," END),
                 true, false, &slow_cleanup},
    [NESTED] = {FLOW_WITH("'middleware':[{'provider':" FINALLY
                          ",'onAlways':{'with':{'middleware':[" FINALLY_ENTRY(
                              SLOW) "],'call':{'provider':" MOCK "}}}}],",
                          "'a':{'action':'Sleep','for':'PT1H','next':'z'}," END),
                true, false, NULL},
    [AWAIT] = {FLOW("'a':{'action':'Call','call':" SLOW ",'next':'z'}," END), true, false, NULL},
    [UNWIND] = {FLOW("'a':{'action':'Call','middleware':[" TIMEOUT_ENTRY "," RETRY_ENTRY
                     "],'call':" SLOW ",'next':'z'}," END),
                true, false, NULL},
    [INSIDE] = {FLOW("'a':{'action':'Call','call':{'flow':{'middleware':[" TIMEOUT_ENTRY
                     "],'entrypoint':'b','steps':{'b':{'action':'Call','call':" SLOW
                     ",'next':'c'},'c':{'action':'Return'}}}},'next':'z'}," END),
                true, false, NULL},
    [WAIT] = {FLOW("'a':{'action':'Call','middleware':[{'provider':'" GATE_URI "'}],'call':" DELAYED
                   ",'next':'z'}," END),
              false, false, NULL},
    [START] = {FLOW("'a':{'action':'Sleep','for':'PT1H','next':'z'}," END), false, true,
               &own_limits},
    [DONE] = {FLOW(END), false, false, NULL},
};
#undef END

typedef struct bench {
    mwl_vm *vm;
    mwl_program *program[N_SOURCES];
    unsigned char *bytes[N_SOURCES];
    size_t size[N_SOURCES];
} bench;

static bool prepare(bench *b, source k) {
    const mwl_asm_provider documents[] = {{"slow", slow_document, sizeof slow_document - 1},
                                          {"gate", gate_document, sizeof gate_document - 1}};
    const mwl_start how = {.limits = sources[k].limits};
    flow f;
    memset(&f, 0, sizeof f);
    f.documents = documents;
    f.n_documents = 2;
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
    if (mwl_run_start(b->vm, f.program, &how, &run, NULL) < 0) return false;
    while (!sources[k].waits && mwl_vm_pump(b->vm, 0) == 0) continue;
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
    if (mwl_vm_new(&c, &b->vm) < 0 || mwl_std_add(b->vm, MWL_STD_ALL, NULL) < 0 ||
        mwl_vm_provide(b->vm, &slow, 1, NULL, NULL) < 0 ||
        mwl_vm_provide_middleware(b->vm, &gate, 1, NULL, NULL) < 0)
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

#define FAR 0x0fffffff /* so far that whoever reads there without a check does not survive it */

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
    X(call, CALL, tree_uint(of_frame(r, "pc", MWL_FIELD_AT), FAR), "there is no such call")        \
    X(direct, CALL, tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 4),                              \
      "a call is open that is over")                                                               \
    X(record, CALL, NULLED(of_frame(r, "record", -1)), "the record of a call is of another one")   \
    X(record_ix, CALL, tree_uint(of_record(r, "ix"), FAR), "there is no such call")                \
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
    X(entry_ix, CALL, tree_uint(of_entry(r, 0, "ix"), FAR), "there is no such middleware entry")   \
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
    X(entry_args, CALL, *of_entry(r, 0, "args") = *of_delay(),                                     \
      "the arguments of an entry are not valid")                                                   \
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
    X(provider, CALL, tree_uint(&of_frame(r, "target", MWL_FIELD_TARGET)->kid[0], FAR),            \
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
    X(gather_ix, GATHER, tree_uint(&gather_of(r)->kid[0], FAR), "there is no such Gather")         \
    X(gather_n, GATHER, tree_uint(&gather_of(r)->kid[1], FAR),                                     \
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
    X(gap, GAP, tree_uint(of_frame(r, "pc", MWL_FIELD_AT), FAR), "there is no such gap")           \
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
    X(rose, AWAIT, raised(of_frame(r, "res", -1), 0, 0), "a success does not rise")                \
    X(rose_ok, AWAIT, raised(of_frame(r, "res", -1), 1, 5), "a success does not rise")             \
    X(res_nothing, AWAIT,                                                                          \
      (*of_frame(r, "res", -1) = *of_result(), UNDEFINED(&of_frame(r, "res", -1)->kid[1])),        \
      "a Result has no value")                                                                     \
    X(res_nothing_failed, AWAIT,                                                                   \
      (failed(of_frame(r, "res", -1)), UNDEFINED(&of_frame(r, "res", -1)->kid[1])),                \
      "a Result has no value")                                                                     \
    X(depth, BELOW, limit_depth(r, 1), "there are more frames than the limit allows")              \
    X(timer_of_its_own, CALL, timed(of_frame(r, "timer", -1)), "a bound has no timer")             \
    X(res_odd, AWAIT,                                                                              \
      (*of_frame(r, "res", -1) = *of_result(),                                                     \
       of_frame(r, "res", -1)->kid[1] =                                                            \
           (node){.major = MWL_CBOR_BYTES, .n = 1, .text = (const unsigned char *)"x"}),           \
      "a Result has no value")                                                                     \
    X(number_zero, CALL, tree_uint(of_call(r, "number"), 0),                                       \
      "a call has a number that was not given yet")                                                \
    X(call_state, CALL, UNDEFINED(of_call(r, "state")), "a call has no input")                     \
    X(call_schema, CALL, *of_call(r, "args") = *of_delay(),                                        \
      "the arguments of a call are not valid")                                                     \
    X(cancelled_ok, AWAIT, tree_uint(&of_call(r, "res")->kid[0], 1),                               \
      "a call has a Result, or was cancelled without a cancellation")                              \
    X(cancelled_held, AWAIT, tree_uint(&of_frame(r, "target", MWL_FIELD_TARGET)->kid[1], 3),       \
      "a call that has not started cannot be cancelled")                                           \
    X(record_other, CALL, tree_uint(of_record(r, "ix"), 1),                                        \
      "the record of a call is of another one")                                                    \
    X(other_provider, CALL,                                                                        \
      (tree_uint(&of_frame(r, "target", MWL_FIELD_TARGET)->kid[0], 3),                             \
       *of_call(r, "args") = (node){.major = MWL_CBOR_MAP}),                                       \
      "a call has another provider")                                                               \
    X(waits_inside, CALL, tree_uint(of_entry(r, 1, "accepted"), 2 + 32),                           \
      "an entry waits outside of onEntry")                                                         \
    X(call_of_gather, GATHER,                                                                      \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 3),                                           \
       tree_uint(of_frame(r, "pc", MWL_FIELD_AT), 0)),                                             \
      "there is no such call")                                                                     \
    X(direct_flow, BELOW,                                                                          \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 4), NULLED(of_frame(r, "record", -1))),       \
      "a call without a record has one")                                                           \
    X(slot_waits, GATHER, (tree_uint(of_slot(r, 0, "state"), 0), NULLED(of_slot(r, 0, "as"))),     \
      "a dispatch has no Result")                                                                  \
    X(slot_cancelled_ok, GATHER,                                                                   \
      (over(r, 0, 3), *of_slot(r, 0, "res") = *of_result(), NULLED(of_slot(r, 0, "record"))),      \
      "a cancelled dispatch has succeeded")                                                        \
    X(gather_no_records, GATHER, tree_uint(of_gather(r, "determined"), 64),                        \
      "a dispatch has a record that no arm reads")                                                 \
    X(slot_no_arm, CALLS, (*of_slot(r, 1, "record") = *of_slot(r, 0, "record")),                   \
      "a dispatch has a record that no arm reads")                                                 \
    X(slot_cancelled_record, GATHER, (over(r, 0, 3), failed(of_slot(r, 0, "res"))),                \
      "a dispatch has a record that no arm reads")                                                 \
    X(slot_skipped_record, GATHER, over(r, 0, 4), "a dispatch has a record that no arm reads")     \
    X(slot_other_call, CALLS,                                                                      \
      tree_uint(tree_field(of_slot(r, 0, "record"), MWL_RECORD_RECORD, "ix", -1), 1),              \
      "the record of a dispatch is of another call")                                               \
    X(slot_no_input, GATHER,                                                                       \
      UNDEFINED(tree_field(of_slot(r, 0, "record"), MWL_RECORD_RECORD, "input", -1)),              \
      "the record of a dispatch is of another call")                                               \
    X(gather_step, GATHER, tree_uint(of_frame(r, "step", -1), 1),                                  \
      "a Gather is not that of its Step")                                                          \
    X(gather_goes_on, GATHER,                                                                      \
      (tree_uint(of_gather(r, "determined"), 4 + 32 + 64),                                         \
       *of_gather(r, "raised") = *of_failure()),                                                   \
      "a Gather that failed goes on")                                                              \
    X(gather_negative, GATHER, (*of_gather(r, "need") = (node){.major = MWL_CBOR_NEGATIVE}),       \
      "a Gather counts wrongly")                                                                   \
    X(gather_no_count, GATHER, tree_uint(of_gather(r, "n_ok"), UINT32_MAX),                        \
      "a number is too large")                                                                     \
    X(gather_many, GATHER, more_slots(of_gather(r, "next")),                                       \
      "a Gather has too many dispatches at a time")                                                \
    X(gather_at, GATHER, tree_uint(of_frame(r, "pc", MWL_FIELD_AT), FAR),                          \
      "there is no such Gather")                                                                   \
    X(gather_not_counted, GATHER, (empty_gather(r), tree_uint(of_gather(r, "determined"), 32)),    \
      "there is no such Gather")                                                                   \
    X(gather_faulted, GATHER,                                                                      \
      (empty_gather(r), tree_uint(of_gather(r, "determined"), 4 + 32 + 64),                        \
       *of_gather(r, "raised") = *of_failure()),                                                   \
      "there is no such Gather")                                                                   \
    X(gather_armed, GATHER, tree_uint(of_gather(r, "arm_at"), 1), "there is no such Gather")       \
    X(gather_idle, GATHER, (of_gather(r, "next")->n_kids = 0), "a Gather waits for nothing")       \
    X(gap_state, GAP, tree_uint(of_entry(r, 0, "state"), 3), "there is no such gap")               \
    X(gap_nothing, SLEEP,                                                                          \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 6),                                           \
       tree_uint(of_frame(r, "pc", MWL_FIELD_AT), 0)),                                             \
      "there is no such gap")                                                                      \
    X(wait_nothing, SLEEP,                                                                         \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 7),                                           \
       tree_uint(of_frame(r, "pc", MWL_FIELD_AT), 0)),                                             \
      "there is no entry that waits")                                                              \
    X(wait_at, WAIT, tree_uint(of_frame(r, "pc", MWL_FIELD_AT), FAR),                              \
      "there is no entry that waits")                                                              \
    X(wait_goes, WAIT, tree_uint(of_entry(r, 0, "accepted"), 0), "there is no entry that waits")   \
    X(wait_verdict, WAIT, tree_uint(of_entry(r, 0, "verdict"), 1),                                 \
      "an entry has a verdict that its phase cannot give")                                         \
    X(gather_left, CALLS,                                                                          \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 6),                                           \
       tree_uint(of_frame(r, "pc", MWL_FIELD_AT), 0), tree_uint(of_frame(r, "in_flight", -1), 0)), \
      "a Gather is still there")                                                                   \
    X(other_flow, BELOW,                                                                           \
      (tree_uint(tree_field(frame_at(r, 1), MWL_RECORD_FRAME, "pc", MWL_FIELD_POINT), 3),          \
       tree_uint(tree_field(frame_at(r, 1), MWL_RECORD_FRAME, "pc", MWL_FIELD_AT), 0),             \
       *tree_field(frame_at(r, 1), MWL_RECORD_FRAME, "record", -1) = *of_frame(r, "record", -1)),  \
      "a frame is in another Flow")                                                                \
    X(cleanup_in_cleanup, NESTED, tree_uint(of_entry(r, 0, "accepted"), 1 + 16),                   \
      "an unwind passes through a cleanup")                                                        \
    X(deadline, CLEANUP, tree_uint(of_run(r, "aside"), 1), "a deadline has no instant")            \
    X(unwind_in_cleanup, CLEANUP,                                                                  \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 8), NULLED(of_frame(r, "pc", MWL_FIELD_AT)),  \
       NULLED(of_frame(r, "record", -1)), tree_uint(of_extra(r, "running"), 3),                    \
       failed(of_frame(r, "res", -1))),                                                            \
      "an unwind passes through a cleanup")                                                        \
    X(await_both, AWAIT, tree_uint(of_extra(r, "running"), 7), "an unwind is not under way")       \
    X(await_no_result, AWAIT,                                                                      \
      (UNDEFINED(of_frame(r, "res", -1)), *of_extra(r, "cancel") = *of_failure(),                  \
       failed(of_call(r, "res"))),                                                                 \
      "an unwind has no cause")                                                                    \
    X(await_no_cause, AWAIT, UNDEFINED(of_extra(r, "cancel")), "an unwind has no cause")           \
    X(unwind_stack, UNWIND, (of_frame(r, "entries", -1)->n_kids = 1),                              \
      "the entries of a frame are not those of a place in its Flow")                               \
    X(unwind_step, UNWIND, tree_uint(of_frame(r, "step", -1), 1),                                  \
      "the entries of a frame are not those of a place in its Flow")                               \
    X(unwind_flow, INSIDE,                                                                         \
      (tree_uint(tree_field(frame_at(r, 1), MWL_RECORD_FRAME, "flow", -1), 0),                     \
       NULLED(tree_field(frame_at(r, 1), MWL_RECORD_FRAME, "step", -1))),                          \
      "the entries of a frame are not those of a place in its Flow")                               \
    X(owner_far, UNWIND, tree_uint(of_extra(r, "owner"), 7),                                       \
      "an owner is not an entry of the frame")                                                     \
    X(start_input, START, UNDEFINED(of_frame(r, "in_flight", -1)),                                 \
      "a frame begins without its input")                                                          \
    X(start_step, START, in_step(r), "a frame begins without its input")                           \
    X(refused_nothing, START, tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 1),                    \
      "a frame was refused without a failure")                                                     \
    X(refused_success, START,                                                                      \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 1), *of_frame(r, "res", -1) = *of_result()),  \
      "a frame was refused without a failure")                                                     \
    X(refused_step, START,                                                                         \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 1), in_step(r),                               \
       failed(of_frame(r, "res", -1))),                                                            \
      "a frame was refused without a failure")                                                     \
    X(limit_zero, START, tree_uint(&of_run(r, "limits")->kid[0], 0), "a limit is 0")               \
    X(limit_chain, START, tree_uint(&of_run(r, "limits")->kid[5], 129), "a limit is too large")    \
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

static void text(node *t, const char *s) {
    *t = (node){.major = MWL_CBOR_TEXT, .n = strlen(s), .text = (const unsigned char *)s};
}

/* {"type": "error", "code": "X.Y"} */
static const node *of_failure(void) {
    static node kids[4], failure;
    static const char *const words[] = {"type", "error", "code", "X.Y"};
    for (size_t i = 0; i < 4; i++) text(&kids[i], words[i]);
    failure = (node){.major = MWL_CBOR_MAP, .kid = kids, .n_kids = 4};
    return &failure;
}

/* {"delay": 5}: what mock does not accept. */
static const node *of_delay(void) {
    static node kids[2], map;
    text(&kids[0], "delay");
    tree_uint(&kids[1], 5);
    map = (node){.major = MWL_CBOR_MAP, .kid = kids, .n_kids = 2};
    return &map;
}

static void failed(node *res) {
    *res = *of_result();
    tree_uint(&res->kid[0], 0);
    res->kid[1] = *of_failure();
}

/* [flags, failure, rose] */
static void raised(node *res, unsigned flags, unsigned rose) {
    static node kids[3];
    tree_uint(&kids[0], flags);
    kids[1] = *of_failure();
    tree_uint(&kids[2], rose);
    *res = (node){.major = MWL_CBOR_ARRAY, .kid = kids, .n_kids = 3};
}

/* The dispatch is over, in this state. */
static void over(node *r, size_t i, unsigned state) {
    tree_uint(of_slot(r, i, "state"), state);
    NULLED(of_slot(r, i, "as"));
}

/* A third dispatch at the same time. */
static void more_slots(node *slots) {
    static node all[3], record[32], slot[32];
    memcpy(all, slots->kid, 2 * sizeof *all);
    all[2] = all[1];
    memcpy(slot, all[1].kid, all[1].n_kids * sizeof *slot);
    all[2].kid = slot;
    node *copied = tree_field(&all[2], MWL_RECORD_SLOT, "record", -1);
    memcpy(record, copied->kid, copied->n_kids * sizeof *record);
    copied->kid = record;
    tree_uint(tree_field(copied, MWL_RECORD_RECORD, "index", -1), 2);
    slots->kid = all;
    slots->n_kids = 3;
}

static void empty_gather(node *r) {
    tree_uint(&gather_of(r)->kid[1], 0);
    UNDEFINED(&gather_of(r)->kid[2]);
    of_gather(r, "next")->n_kids = 0;
}

/* The run's own limits, which allow so many frames. */
static void limit_depth(node *r, unsigned frames) {
    static node kids[7];
    for (size_t i = 0; i < 7; i++) tree_uint(&kids[i], i < 2 ? 1000000 : i == 2 ? frames : 64);
    *of_run(r, "limits") = (node){.major = MWL_CBOR_ARRAY, .kid = kids, .n_kids = 7};
}

static void in_step(node *r) {
    tree_uint(of_frame(r, "step", -1), 0);
    tree_uint(of_frame(r, "step_input", -1), 0);
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

/* ---- single items ---------------------------------------------------------------------------- */

typedef enum reading { VALUE, UINT, INT, ARRAY, LIST, INDEX, REFERENCE, COMPLETE } reading;
#define VERSION "\xd9\x4d\x56\x82"
#define SHARED "\xd8\x1c"
#define REFER "\xd8\x1d"

static const struct item_row {
    reading as;
    const char *bytes;
    size_t size;
    const char *reason;
} items[] = {
#define BYTES(s) s, sizeof(s) - 1
    {UINT,
     BYTES("\x61"
           "a"),
     "this is not a number"},
    {UINT, BYTES("\x18\x64"), "a number is too large"},
    {INT,
     BYTES("\x61"
           "a"),
     "this is not an integer"},
    {INT, BYTES("\x1b\x80\0\0\0\0\0\0\0"), "this is not an integer"},
    {INT, BYTES("\x3b\x80\0\0\0\0\0\0\0"), "this is not an integer"},
    {ARRAY, BYTES("\x02"), "this is not an array"},
    {ARRAY, BYTES("\x81\0"), "a record has another number of members"},
    {LIST, BYTES("\x83\0\0\0"), "an array is too long"},
    {LIST, BYTES("\x82\0"), "an array is too long"},
    {INDEX, BYTES("\0"), "a number is too large"},
    {REFERENCE, BYTES("\0"), "this is not a reference"},
    {REFERENCE, BYTES(SHARED "\0"), "this is not a reference"},
    {REFERENCE, BYTES(REFER "\0"), "a reference leads to nothing"},
    {VALUE, BYTES(REFER "\x1a\x0f\xff\xff\xff"), "a reference leads to nothing"},
    {VALUE, BYTES(SHARED "\x81" REFER "\0"), "a reference leads to nothing"},
    {COMPLETE,
     BYTES(SHARED "\x63"
                  "abc"),
     "something shared is used once only"},
    {VALUE,
     BYTES("\x65"
           "ab"),
     "a text is cut off"},
    {VALUE, BYTES("\x62\xff\xff"), "a text is not UTF-8"},
    {VALUE, BYTES("\xd9\x4d\x43\x1a\x0f\xff\xff\xff"), "there is no such constant"},
    {VALUE, BYTES("\xd9\x4d\x59\x05"), "a type has no name"},
    {VALUE, BYTES("\xd9\x4d\x45\x82\x61t\x05"), "an extension has no data"},
    {VALUE, BYTES("\xd9\x4d\x7a\x05"), "a tag is not known"},
    {VALUE, BYTES("\x1b\0\x20\0\0\0\0\0\x01"), "a number is out of range"},
    {VALUE, BYTES("\x3b\0\x20\0\0\0\0\0\0"), "a number is out of range"},
    {VALUE,
     BYTES("\x82" SHARED "\x63"
           "abc" VERSION "\x01" REFER "\0"),
     "a version is not shorter than what it is a version of"},
    {VALUE, BYTES("\x82" SHARED "\x82\x01\x02" VERSION "\0" REFER "\0"),
     "a version is not shorter than what it is a version of"},
    {VALUE, BYTES("\x82" SHARED "\x82\x01\x02" VERSION "\x02" REFER "\0"),
     "a version is not shorter than what it is a version of"},
    {VALUE, BYTES(VERSION "\x01\x05"), "a version of something not shared"},
    {VALUE, BYTES(VERSION "\x01\xd9\x4d\x49\x05"), "a version of something not shared"},
    {VALUE,
     BYTES(VERSION "\x01" SHARED "\x63"
                   "abc"),
     "a version of a text"},
    {VALUE, BYTES(SHARED "\x05"), "this cannot be shared"},
    {VALUE, BYTES(SHARED "\xf6"), "this cannot be shared"},
    {VALUE, BYTES(SHARED "\x80"), "this cannot be shared"},
    {VALUE, BYTES("\x81\xf7"), "a value is missing"},
    {VALUE, BYTES("\x9a\0\x01\0\0\x01"), "an array or object is too long"},
    {VALUE, BYTES("\xa2\x01\x02\x03"), "an array or object is too long"},
    {VALUE, BYTES("\xa1\x80\x01"), "this cannot be a key"},
    {VALUE,
     BYTES("\xa2\x61"
           "a\x01\x61"
           "a\x02"),
     "an object has a key twice"},
    {REFERENCE, BYTES("\x18\x1d\0"), "this is not a reference"},
#undef BYTES
};

static void read_item(mwl__reader *r, reading as) {
    uint64_t n;
    int64_t i;
    uint32_t count;
    mwl_value v = mwl_absent();
    switch (as) {
    case UINT: (void)mwl__reader_uint(r, 100, &n); break;
    case INT: (void)mwl__reader_int(r, &i); break;
    case ARRAY: (void)mwl__reader_array(r, 2); break;
    case LIST: (void)mwl__reader_list(r, 2, &count); break;
    case INDEX: (void)mwl__reader_index(r, 0, &count); break;
    case REFERENCE: (void)mwl__reader_reference(r, &v); break;
    default:
        if (mwl__reader_value(r, &v)) mwl__drop(r->heap, v);
        if (as == COMPLETE) (void)mwl__reader_complete(r);
        break;
    }
}

static mwl__reader reader_of(bench *b, const void *bytes, size_t size) {
    mwl__reader r;
    memset(&r, 0, sizeof r);
    (void)mwl__link_program(b->vm, b->program[CALL], &r.link, NULL);
    r.heap = mwl_vm_heap(b->vm);
    r.begin = bytes;
    r.c = (mwl__cbor){r.begin, r.begin + size};
    return r;
}

UTEST(damage, of_single_items) {
    bench b;
    ASSERT_TRUE(open_bench(&b));
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        size_t used = mwl_heap_used(mwl_vm_heap(b.vm));
        mwl__reader r = reader_of(&b, items[i].bytes, items[i].size);
        read_item(&r, items[i].as);
        if (!r.why || strcmp(r.why, items[i].reason) != 0) printf("row %zu\n", i);
        EXPECT_STREQ(r.why ? r.why : "nothing", items[i].reason);
        mwl__reader_free(&r);
        EXPECT_LE(mwl_heap_used(mwl_vm_heap(b.vm)), used + 4096); /* names are kept */
    }
    enum { DEEP = 200000 };
    unsigned char *deep = malloc(DEEP);
    memset(deep, 0x81, DEEP);
    mwl__reader r = reader_of(&b, deep, DEEP);
    read_item(&r, VALUE);
    EXPECT_STREQ(r.why, "a value is nested too deeply");
    mwl__reader_free(&r);
    free(deep);
    const mwl_program *p = b.program[CALL];
    for (uint32_t k = 0; k < p->n_consts && k < 24; k++) { /* numbers are not named by an index */
        unsigned char constant[] = {0xd9, 0x4d, 0x43, (unsigned char)k};
        bool named = mwl__resume_is_constant(p->consts[k]);
        r = reader_of(&b, constant, sizeof constant);
        read_item(&r, VALUE);
        EXPECT_STREQ(r.why ? r.why : "", named ? "" : "there is no such constant");
        mwl__reader_free(&r);
    }
    close_bench(&b);
}

/* Places that no code of the program leads to. The assembler writes none, but an image from
 * somewhere else may have them: then nothing can be there. */
UTEST(damage, places_that_no_code_reaches) {
    bench b;
    ASSERT_TRUE(open_bench(&b));
    const mwl__places *sleep = &b.program[SLEEP]->places, *call = &b.program[CALL]->places,
                      *fan = &b.program[GATHER]->places, *gap = &b.program[GAP]->places,
                      *wait = &b.program[WAIT]->places, *clean = &b.program[CLEANUP]->places;
    const struct {
        source from;
        void *place;
        size_t size;
        const char *reason;
    } rows[] = {
        {SLEEP, &sleep->flows[0].begun, sizeof sleep->flows[0].begun, "there is no such Sleep"},
        {SLEEP, &sleep->sleeps[0], sizeof sleep->sleeps[0], "there is no such Sleep"},
        {CALL, &call->entries[1].begun, sizeof call->entries[1].begun,
         "there is no such middleware entry"},
        {CALL, &call->calls[0].begun, sizeof call->calls[0].begun, "there is no such call"},
        {CALL, &call->calls[0].after, sizeof call->calls[0].after, "there is no such call"},
        {GATHER, &fan->gathers[0].begun, sizeof fan->gathers[0].begun,
         "a Gather is not that of its Step"},
        {GAP, &gap->entries[0].after, sizeof gap->entries[0].after, "there is no such gap"},
        {WAIT, &wait->actions[0], sizeof wait->actions[0], "there is no entry that waits"},
        {CLEANUP, &clean->actions[3], sizeof clean->actions[3],
         "an entry has no call of its own in this phase"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char kept[8];
        mwl_run *run;
        mwl_error error;
        memcpy(kept, rows[i].place, rows[i].size);
        memset(rows[i].place, 0, rows[i].size);
        EXPECT_EQ((int)try_load(&b, rows[i].from, b.bytes[rows[i].from], b.size[rows[i].from], &run,
                                &error),
                  (int)MWL_E_SNAPSHOT);
        EXPECT_STREQ(error.message, rows[i].reason);
        memcpy(rows[i].place, kept, rows[i].size);
        EXPECT_EQ((int)try_load(&b, rows[i].from, b.bytes[rows[i].from], b.size[rows[i].from], &run,
                                &error),
                  (int)MWL_OK);
        mwl_run_free(run);
    }
    close_bench(&b);
}

UTEST(damage, of_the_whole) {
    bench b;
    ASSERT_TRUE(open_bench(&b));
    mwl_run *run;
    mwl_error error;
    size_t size = b.size[SLEEP] + 1;
    unsigned char *longer = malloc(size);
    memcpy(longer, b.bytes[SLEEP], size - 1);
    longer[size - 1] = 0;
    uint64_t body = size - MWL_SAVED_HEADER;
    for (int i = 0; i < 8; i++) longer[16 + i] = (unsigned char)(body >> (8 * i));
    mwl__saved_reseal(longer, size);
    EXPECT_EQ((int)try_load(&b, SLEEP, longer, size, &run, &error), (int)MWL_E_SNAPSHOT);
    EXPECT_STREQ(error.message, "there is something behind the run");
    free(longer);
    b.bytes[SLEEP][6] |= 2;
    mwl__saved_reseal(b.bytes[SLEEP], b.size[SLEEP]);
    EXPECT_EQ((int)try_load(&b, SLEEP, b.bytes[SLEEP], b.size[SLEEP], &run, &error),
              (int)MWL_E_SNAPSHOT);
    EXPECT_STREQ(error.message, "the saved run has flags that are not known");
    b.bytes[SLEEP][6] = 0;
    mwl__saved_reseal(b.bytes[SLEEP], b.size[SLEEP]);
    uint32_t root = b.program[SLEEP]->tables.root_flow;
    b.program[SLEEP]->tables.root_flow = MWL_NONE;
    EXPECT_EQ((int)try_load(&b, SLEEP, b.bytes[SLEEP], b.size[SLEEP], &run, &error),
              (int)MWL_E_USAGE);
    b.program[SLEEP]->tables.root_flow = root;
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
        memset(bytes + 1, 0xff, sizeof bytes - 1); /* now the longer forms are the shortest ones */
        c.at = bytes;
        EXPECT_EQ(mwl__cbor_next(&c, &major, &n), good || (!simple && low >= 24 && low <= 27));
    }
}

UTEST(damage, heads_that_are_cut_off) {
    static const unsigned char bytes[] = {0x19, 0x01, 0x02, 0x05};
    mwl__major major;
    uint64_t n;
    for (size_t size = 0; size < 3; size++) {
        mwl__cbor c = {bytes, bytes + size};
        EXPECT_FALSE(mwl__cbor_next(&c, &major, &n));
    }
    mwl__cbor nothing = {bytes + 3, bytes + 3};
    EXPECT_FALSE(mwl__cbor_next(&nothing, &major, &n));
}

/* A double has one form, the shortest that is exact; every other one is refused. */
UTEST(damage, numbers_have_one_form) {
    static const struct {
        double value;
        unsigned size;
        const char *bytes;
    } forms[] = {
        {1.5, 3, "\xf9\x3e\0"},
        {0x1p-24, 3, "\xf9\0\x01"},
        {0x1p-25, 5, "\xfa\x33\0\0\0"},
        {0x1p-33, 5, "\xfa\x2f\0\0\0"},
        {0x1p54, 5, "\xfa\x5a\x80\0\0"},
        {65536.5, 5, "\xfa\x47\x80\0\x40"},
        {0.1, 9, "\xfb\x3f\xb9\x99\x99\x99\x99\x99\x9a"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        mwl__buf out = mwl__buf_make(mwl_alloc_default());
        mwl__cbor_double(&out, forms[i].value);
        EXPECT_EQ(out.len, (size_t)forms[i].size);
        EXPECT_EQ(memcmp(out.data, forms[i].bytes, out.len), 0);
        mwl__buf_free(&out);
    }
    static const struct {
        unsigned size;
        const char *bytes;
    } refused[] = {
        {5, "\xfa\x3f\xc0\0\0"},         /* 1.5 in single precision */
        {9, "\xfb\x3f\xf8\0\0\0\0\0\0"}, /* and in double precision */
        {9, "\xfb\x43\x50\0\0\0\0\0\0"}, /* 2 to the 54th */
        {3, "\xf9\x7e\x01"},             /* another NaN */
        {3, "\xf9\xfe\0"},               /* a negative one */
        {3, "\xf9\x40\0"},               /* 2, which is an integer */
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const unsigned char *bytes = (const unsigned char *)refused[i].bytes;
        mwl__cbor c = {bytes, bytes + refused[i].size};
        mwl__major major;
        uint64_t n;
        EXPECT_FALSE(mwl__cbor_next(&c, &major, &n));
    }
}

/* What mwl_saved_read() looks at, without the program: when it is due, its calls, those held. */
UTEST(damage, of_what_is_read_without_a_program) {
    bench b;
    ASSERT_TRUE(open_bench(&b));
    static const struct {
        mwl_status status;
        unsigned size;
        const char *body;
    } rows[] = {
        {MWL_OK, 4, "\x83\xf6\x02\x01"},
        {MWL_OK, 8, "\x83\0\x1a\xff\xff\xff\xff\0"},
        {MWL_E_SNAPSHOT, 4, "\xa3\xf6\x02\x01"},                  /* not a record */
        {MWL_E_SNAPSHOT, 4, "\x83\x40\x02\x01"},                  /* due: not an instant */
        {MWL_E_SNAPSHOT, 4, "\x83\xf6\x22\x01"},                  /* a negative number of calls */
        {MWL_E_SNAPSHOT, 12, "\x83\xf6\x1b\0\0\0\x01\0\0\0\0\0"}, /* too many calls */
        {MWL_E_SNAPSHOT, 4, "\x83\xf6\x02\x20"}, /* a negative number of held ones */
        {MWL_E_SNAPSHOT, 4, "\x83\xf6\x02\x03"}, /* more held than there are */
        {MWL_E_SNAPSHOT, 3, "\x83\xf6\x02"},     /* cut off */
    };
    mwl_saved saved;
    EXPECT_EQ((int)mwl_saved_read(NULL, 0, &saved), (int)MWL_E_USAGE);
    EXPECT_EQ((int)mwl_saved_read(b.bytes[SLEEP], b.size[SLEEP], NULL), (int)MWL_E_USAGE);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char bytes[MWL_SAVED_HEADER + 16];
        memcpy(bytes, b.bytes[SLEEP], MWL_SAVED_HEADER);
        memset(bytes + 16, 0, 8);
        bytes[16] = (unsigned char)rows[i].size;
        memcpy(bytes + MWL_SAVED_HEADER, rows[i].body, rows[i].size);
        size_t size = MWL_SAVED_HEADER + rows[i].size;
        mwl__saved_reseal(bytes, size);
        mwl_status st = mwl_saved_read(bytes, size, &saved);
        if (st != rows[i].status) printf("row %zu\n", i);
        EXPECT_EQ((int)st, (int)rows[i].status);
    }
    close_bench(&b);
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

/* Returns false if it has a Result that has no JSON form. */
static bool run_out(bench *b, mwl_run *run) {
    for (int i = 0; i < 200 && mwl_run_get_state(run) < MWL_RUN_DONE; i++)
        if (mwl_vm_pump(b->vm, 3600 * S) == MWL_NEVER) break;
    char *text = NULL;
    size_t len = 0;
    bool good = mwl_run_get_state(run) != MWL_RUN_DONE ||
                mwl_json_write(mwl_vm_heap(b->vm), mwl_run_result(run), MWL_JSON_COMPACT, &text,
                               &len) == MWL_OK;
    if (text) mwl_text_free(mwl_vm_heap(b->vm), text, len);
    mwl_run_free(run);
    return good;
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
                    EXPECT_TRUE(run_out(&b, run));
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
