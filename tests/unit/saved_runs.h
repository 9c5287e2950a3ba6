/* saved_runs.h: runs in every state that can be saved, as bytes, for tests that damage them. */
#ifndef SAVED_RUNS_H
#define SAVED_RUNS_H

#include "tests/unit/cbor_tree.h"
#include "tests/unit/run_flow.h"

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

static inline bool prepare(bench *b, source k) {
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

static inline bool open_bench(bench *b) {
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

static inline void close_bench(bench *b) {
    mwl_vm_free(b->vm);
    for (int k = 0; k < N_SOURCES; k++) {
        mwl_program_release(b->program[k]);
        free(b->bytes[k]);
    }
}

static inline mwl_status try_load(bench *b, source k, const unsigned char *bytes, size_t size,
                                  mwl_run **run, mwl_error *error) {
    const mwl_load how = {.program = b->program[k]};
    *run = NULL;
    *error = (mwl_error){MWL_OK, "", 0};
    return mwl_run_load(b->vm, bytes, size, &how, run, error);
}

#define UNDEFINED(t) tree_simple(t, MWL_CBOR_UNDEFINED)
#define NULLED(t) tree_simple(t, MWL_CBOR_NULL)

#endif
