/* test_accounts.c: who pays at the border: what a provider brings, builds, keeps outside the heap,
 * and how long it works; what it costs to match failures. */
#include "utest.h"

#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

#define URI "mwl:provider.call/acme/act/v1"
#define ACT "{'provider':'" URI "'}"
#define ONE FLOW("'a':{'action':'Call','call':" ACT ",'next':'z'},'z':{'action':'Return'}")
#define MEMORY (1u << 20)
#define FAILS "'a':{'action':'Call','call':{'provider':" MOCK ",'with':{'failure':{'code':'A.B'}}}"
#define LIMIT(name) "'details':{'limit':'" name "'}"

typedef struct stage stage;
typedef void act(stage *s, mwl_call *call);
struct stage {
    flow f;
    mwl_call *call; /* the last that began */
    act *starts;    /* NULL: it only waits */
    mwl_status seen;
    size_t built;
};

static void start(mwl_call *call, void *user) {
    stage *s = user;
    s->call = call;
    if (s->starts) s->starts(s, call);
}

static bool open_with(stage *s, act *starts, const char *definition, mwl_limits limits) {
    memset(s, 0, sizeof *s);
    mwl_config c = mwl_config_default();
    c.virtual_time = true;
    c.limits = limits;
    static const char document[] = STYLES_DOC("act");
    mwl_asm_provider documents[] = {{"act", document, sizeof document - 1}};
    mwl_call_provider p = {.uri = URI, .document = document, .start = start};
    s->starts = starts;
    s->f.documents = documents;
    s->f.n_documents = 1;
    return mwl_vm_new(&c, &s->f.vm) == MWL_OK &&
           mwl_std_add(s->f.vm, MWL_STD_ALL, NULL) == MWL_OK &&
           mwl_vm_provide(s->f.vm, &p, 1, s, NULL) == MWL_OK && flow_load(&s->f, definition) &&
           flow_start(&s->f, "[]") && mwl_vm_pump(s->f.vm, MWL_NO_BUDGET) != 0;
}

static bool open_stage(stage *s, act *starts, const char *definition) {
    return open_with(s, starts, definition, (mwl_limits){.memory_bytes = MEMORY});
}

static const char *finish(stage *s) {
    mwl_vm_pump(s->f.vm, MWL_NO_BUDGET);
    flow_finish(&s->f);
    for (char *p = s->f.result; *p; p++)
        if (*p == '"') *p = '\'';
    return s->f.result;
}

static mwl_value text(stage *s, size_t n) {
    char *letters = malloc(n);
    if (!letters) return mwl_absent();
    memset(letters, 'x', n);
    mwl_value v = mwl_string(mwl_vm_heap(s->f.vm), letters, n);
    free(letters);
    return v;
}

/* ---- memory ---------------------------------------------------------------------------------- */

UTEST(accounts, a_result_from_outside_is_refused_above_the_limit) {
    for (int how = 0; how < 3; how++) {
        stage s;
        ASSERT_TRUE(open_stage(&s, NULL, ONE));
        mwl_value v = text(&s, 2 * MEMORY);
        const size_t before = mwl_heap_used(mwl_vm_heap(s.f.vm));
        if (how == 0)
            (void)mwl_call_succeed(s.call, v);
        else if (how == 1)
            (void)mwl_call_fail(s.call, NULL, "Acme.Large", NULL, v);
        else
            (void)mwl_run_answer(s.f.run, mwl_call_number(s.call), true, v);
        EXPECT_LT(mwl_heap_used(mwl_vm_heap(s.f.vm)), before - MEMORY); /* it is not kept */
        EXPECT_TRUE(strstr(finish(&s), LIMIT("memory")) != NULL);
        flow_close(&s.f);
    }
}

UTEST(accounts, what_the_host_keeps_too_is_not_the_runs) {
    stage s;
    ASSERT_TRUE(open_stage(&s, NULL, ONE));
    mwl_value v = text(&s, 2 * MEMORY);
    mwl_value list =
        mwl_array_push(mwl_vm_heap(s.f.vm), mwl_array(mwl_vm_heap(s.f.vm), 1), mwl_value_keep(v));
    EXPECT_EQ((int)mwl_call_succeed(s.call, list), (int)MWL_OK);
    mwl_vm_pump(s.f.vm, MWL_NO_BUDGET);
    EXPECT_TRUE(mwl_run_succeeded(s.f.run));
    mwl_run_free(s.f.run);
    s.f.run = NULL;
    mwl_value_drop(mwl_vm_heap(s.f.vm), v);
    flow_close(&s.f);
}

/* Each Result is dropped by the next: that must not make room for what the run builds itself. */
UTEST(accounts, what_was_never_paid_is_no_credit) {
    stage s;
    ASSERT_TRUE(open_stage(
        &s, NULL,
        FLOW_WITH("'parameters':{'type':'object','properties':{'n':{'default':0},'keep':{'default':"
                  "[]}}},",
                  "'a':{'action':'Call','call':" ACT ",'assign':{'n':'{{ vars.n + 1.0 }}'},'next':"
                  "'m'},'m':{'action':'Match','cases':[{'when':'{{ vars.n < 20.0 }}','next':'a'}],"
                  "'default':{'next':'b'}},'b':{'action':'Call','call':{'provider':" MOCK
                  "},'assign':{"
                  "'keep':'{{ vars.keep + [\\'0123456789\\' + string(size(vars.keep))] }}'},'next':"
                  "'b'}")));
    for (int i = 0; i < 20 && mwl_run_get_state(s.f.run) == MWL_RUN_PARKED; i++) {
        EXPECT_EQ((int)mwl_call_succeed(s.call, text(&s, MEMORY / 2)), (int)MWL_OK);
        mwl_vm_pump_within(s.f.vm, MWL_NO_BUDGET, 1000);
    }
    size_t most = 0;
    while (mwl_run_get_state(s.f.run) < MWL_RUN_DONE) {
        mwl_vm_pump_within(s.f.vm, MWL_NO_BUDGET, 1000);
        const size_t used = mwl_heap_used(mwl_vm_heap(s.f.vm));
        most = used > most ? used : most;
    }
    EXPECT_LT(most, MEMORY + MEMORY / 2);
    EXPECT_TRUE(strstr(finish(&s), LIMIT("memory")) != NULL);
    flow_close(&s.f);
}

UTEST(accounts, a_host_builds_under_the_limit_of_the_run) {
    stage s;
    ASSERT_TRUE(open_stage(&s, NULL, ONE));
    mwl_heap *h = mwl_vm_heap(s.f.vm);
    mwl_call_enter(s.call);
    EXPECT_TRUE(mwl_is_absent(text(&s, 2 * MEMORY)));
    mwl_value half = text(&s, MEMORY / 2);
    EXPECT_FALSE(mwl_is_absent(half));
    EXPECT_TRUE(mwl_is_absent(text(&s, MEMORY * 2 / 3)));
    mwl_call_leave(s.call);
    mwl_value own = text(&s, 2 * MEMORY); /* the host's own */
    EXPECT_FALSE(mwl_is_absent(own));
    mwl_value_drop(h, own);
    mwl_value_drop(h, half);
    flow_close(&s.f);
    ASSERT_TRUE(open_stage(&s, NULL, ONE));
    mwl_call_enter(s.call);
    EXPECT_EQ((int)mwl_call_succeed(s.call, text(&s, MEMORY / 2)), (int)MWL_OK);
    own = text(&s, 2 * MEMORY); /* settling has left it */
    EXPECT_FALSE(mwl_is_absent(own));
    mwl_value_drop(mwl_vm_heap(s.f.vm), own);
    mwl_vm_pump(s.f.vm, MWL_NO_BUDGET);
    EXPECT_TRUE(mwl_run_succeeded(s.f.run));
    flow_close(&s.f);
}

/* ---- memory outside the heap ----------------------------------------------------------------- */

UTEST(accounts, a_purse_is_a_part_of_the_runs_memory) {
    stage s;
    ASSERT_TRUE(open_stage(&s, NULL, ONE));
    mwl_purse *p = mwl_call_purse(s.call), *other = mwl_call_purse(s.call);
    ASSERT_TRUE(p != NULL && other != NULL);
    EXPECT_FALSE(mwl_purse_take(p, MEMORY));
    EXPECT_TRUE(mwl_purse_take(p, MEMORY / 2));
    EXPECT_FALSE(mwl_purse_take(other, MEMORY / 2));
    mwl_alloc a = mwl_purse_alloc(other);
    void *block = a.fn(a.ctx, NULL, 0, MEMORY / 4), *grown;
    ASSERT_TRUE(block != NULL);
    EXPECT_TRUE((grown = a.fn(a.ctx, block, MEMORY / 4, MEMORY)) == NULL);
    mwl_call_enter(s.call); /* what is outside leaves a quarter for the heap */
    EXPECT_TRUE(mwl_is_absent(text(&s, MEMORY / 2)));
    mwl_call_leave(s.call);
    mwl_purse_give(p, MEMORY / 4);
    a.fn(a.ctx, block, MEMORY / 4, 0);
    mwl_purse_release(p);
    EXPECT_TRUE(mwl_purse_take(other, MEMORY / 2 + MEMORY / 4));
    EXPECT_EQ((int)mwl_call_succeed(s.call, mwl_null()), (int)MWL_OK);
    finish(&s);
    EXPECT_FALSE(mwl_purse_take(other, 1)); /* there is no run any more */
    mwl_purse_release(other);
    flow_close(&s.f);
}

/* ---- fuel ------------------------------------------------------------------------------------ */

#define FUEL 5000u

static void work(stage *s, mwl_call *call) {
    s->seen = mwl_call_charge(call, 1000);
    if (s->seen == MWL_OK) s->seen = mwl_call_charge(call, 10 * FUEL);
    mwl_call_succeed(call, mwl_number(1));
}

UTEST(accounts, a_provider_charges_in_its_start) {
    stage s;
    ASSERT_TRUE(open_with(&s, work, ONE, (mwl_limits){.fuel = FUEL}));
    EXPECT_EQ((int)s.seen, (int)MWL_E_FUEL);
    EXPECT_TRUE(strstr(finish(&s), LIMIT("fuel")) != NULL);
    flow_close(&s.f);
    ASSERT_TRUE(open_with(&s, work, ONE, (mwl_limits){.fuel = 20 * FUEL}));
    EXPECT_EQ((int)s.seen, (int)MWL_OK);
    EXPECT_STREQ(finish(&s), "{'type':'success','value':1}");
    flow_close(&s.f);
}

UTEST(accounts, a_provider_charges_outside_its_callbacks) {
    stage s;
    ASSERT_TRUE(open_with(&s, NULL, ONE, (mwl_limits){.fuel = FUEL}));
    EXPECT_EQ((int)mwl_call_charge(s.call, 1000), (int)MWL_OK);
    work(&s, s.call);
    EXPECT_EQ((int)s.seen, (int)MWL_E_FUEL);
    EXPECT_TRUE(strstr(finish(&s), LIMIT("fuel")) != NULL);
    flow_close(&s.f);
}

static int working_now(mwl_heap *heap, mwl_value input, mwl_value args, mwl_value *out,
                       void *user) {
    (void)input, (void)args, (void)user;
    mwl_heap_work(heap, 10 * FUEL);
    *out = mwl_number(1);
    return MWL_NOW_SUCCEEDED;
}

UTEST(accounts, a_provider_without_a_call_charges_through_the_heap) {
    flow f;
    memset(&f, 0, sizeof f);
    static const char document[] = STYLES_DOC("act");
    mwl_asm_provider documents[] = {{"act", document, sizeof document - 1}};
    mwl_call_provider p = {.uri = URI, .document = document, .now = working_now};
    mwl_config c = mwl_config_default();
    c.limits.fuel = FUEL;
    ASSERT_EQ((int)mwl_vm_new(&c, &f.vm), (int)MWL_OK);
    ASSERT_EQ((int)mwl_vm_provide(f.vm, &p, 1, NULL, NULL), (int)MWL_OK);
    f.documents = documents;
    f.n_documents = 1;
    ASSERT_TRUE(flow_load(&f, ONE));
    EXPECT_TRUE(strstr(flow_again(&f, "[]"), LIMIT("fuel")) != NULL);
    flow_close(&f);
}

#define MW_URI "mwl:provider.middleware/acme/careful/v1"
static const char careful_document[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" MW_URI
    "\",\"codePrefix\":\"Careful\",\"description\":\"A test.\",\"attachment\":[\"step\"],"
    "\"phases\":{\"onFailure\":{\"action\":{\"kind\":\"control\",\"description\":\"Acts.\"}}},"
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}";

typedef struct careful {
    uint64_t work;
    mwl_status any, none, charged;
} careful;

static void careful_failure(mwl_phase *phase, void *user) {
    careful *c = user;
    mwl_heap *h = mwl_phase_heap(phase);
    mwl_value codes = mwl_array_push(h, mwl_array(h, 1), mwl_string(h, "No.*", 4));
    mwl_value matcher = mwl_object_set(h, mwl_object(h, 1), "codes", 5, codes);
    c->any = mwl_phase_match(phase, mwl_null());
    c->none = mwl_phase_match(phase, matcher);
    c->charged = mwl_phase_charge(phase, c->work);
    mwl_value_drop(h, matcher);
}

UTEST(accounts, a_middleware_matches_and_charges) {
    for (uint64_t work = 100; work <= 100 * FUEL; work *= 100 * FUEL / 100) {
        flow f;
        careful c = {.work = work};
        mwl_config config = mwl_config_default();
        mwl_asm_provider documents[] = {{MW_URI, careful_document, sizeof careful_document - 1}};
        mwl_middleware m = {
            .uri = MW_URI, .document = careful_document, .failure = careful_failure};
        memset(&f, 0, sizeof f);
        config.limits.fuel = FUEL;
        ASSERT_EQ((int)mwl_vm_new(&config, &f.vm), (int)MWL_OK);
        ASSERT_EQ((int)mwl_std_add(f.vm, MWL_STD_ALL, NULL), (int)MWL_OK);
        ASSERT_EQ((int)mwl_vm_provide_middleware(f.vm, &m, 1, &c, NULL), (int)MWL_OK);
        f.documents = documents;
        f.n_documents = 1;
        EXPECT_TRUE(flow_load(&f, FLOW(FAILS ",'middleware':[{'provider':'" MW_URI
                                             "'}],'next':'z'},'z':{'action':'Return'}")));
        EXPECT_TRUE(strstr(flow_again(&f, "[]"), work > FUEL ? LIMIT("fuel") : "A.B") != NULL);
        EXPECT_EQ((int)c.any, (int)MWL_OK);
        EXPECT_EQ((int)c.none, (int)MWL_E_NOT_FOUND);
        EXPECT_EQ((int)c.charged, (int)(work > FUEL ? MWL_E_FUEL : MWL_OK));
        flow_close(&f);
    }
}

/* ---- what a definition makes the machine do -------------------------------------------------- */

static const char *with_fuel(const char *definition, uint64_t fuel, flow *f) {
    mwl_config c = mwl_config_default();
    memset(f, 0, sizeof *f);
    c.virtual_time = true;
    c.limits.fuel = fuel;
    if (mwl_vm_new(&c, &f->vm) < 0 || mwl_std_add(f->vm, MWL_STD_ALL, NULL) < 0) return "no VM";
    if (flow_load(f, definition)) flow_again(f, "[]");
    flow_close(f);
    return f->result;
}

enum { MANY = 4000 };

/* A definition in whose middle `item`, with a number, stands MANY times. */
static char *repeated(const char *before, const char *item, const char *after) {
    size_t cap = strlen(before) + strlen(after) + MANY * (strlen(item) + 12) + 1;
    char *out = malloc(cap);
    int at = out ? snprintf(out, cap, "%s", before) : 0;
    for (int i = 0; out && i < MANY; i++) {
        if (i) at += snprintf(out + at, cap - (size_t)at, ",");
        for (const char *p = item; *p; p++)
            if (*p == '#')
                at += snprintf(out + at, cap - (size_t)at, "%d", i);
            else
                out[at++] = *p;
    }
    if (out) snprintf(out + at, cap - (size_t)at, "%s", after);
    return out;
}

#define HEAD "{'$schema':'https://mwl.dev/v0.1/flow/schema.json','entrypoint':'a','steps':{"

UTEST(accounts, matching_of_failures_costs_fuel) {
    const struct {
        const char *before, *item, *after;
    } rows[] = {
        {HEAD FAILS ",'catch':[", "{'match':{'codes':['X.Y#']},'next':'z'}",
         ",{'match':{'codes':['*']},'next':'z'}],'next':'z'},'z':{'action':'Return','value':1}}}"},
        {HEAD FAILS ",'catch':[{'match':{'codes':[", "'X.Y#'",
         "]},'next':'z'},{'match':{'codes':['*']},'next':'z'}],'next':'z'},'z':{'action':'Return','value':1}}}"},
        {HEAD FAILS ",'catch':[{'match':{'types':[", "'t#'",
         "]},'next':'z'},{'match':{'codes':['*']},'next':'z'}],'next':'z'},'z':{'action':'Return','value':1}}}"},
        {HEAD FAILS
         ",'catch':[{'match':{'codes':['*']},'next':'z'}],'middleware':[{'provider':" RETRY
         ",'onEntry':{'with':{'policies':[{'attempts':3,'match':{'codes':[",
         "'X.Y#'", "]}}]}}}],'next':'z'},'z':{'action':'Return','value':1}}}"},
        {HEAD FAILS
         ",'catch':[{'match':{'codes':['*']},'next':'z'}],'middleware':[{'provider':" RETRY
         ",'onEntry':{'with':{'policies':[",
         "{'attempts':3,'match':{'codes':['X.Y#']}}",
         "]}}}],'next':'z'},'z':{'action':'Return','value':1}}}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        flow f;
        char *definition = repeated(rows[i].before, rows[i].item, rows[i].after);
        ASSERT_TRUE(definition != NULL);
        EXPECT_STREQ(with_fuel(definition, 100 * MANY, &f), "{'type':'success','value':1}");
        EXPECT_TRUE(strstr(with_fuel(definition, MANY, &f), LIMIT("fuel")) != NULL);
        free(definition);
    }
}

/* A state that has all policies would be copied at each failure. */
UTEST(accounts, computed_policies_of_retry_cost_fuel) {
    flow f;
    static const char definition[] = FLOW(
        FAILS ",'catch':[{'match':{'codes':['*']},'next':'z'}],'middleware':[{'provider':" RETRY
              ",'onEntry':{'with':{'policies':'{{ lists.range(4000).map(i, {\\'attempts\\': 3.0, "
              "\\'match\\': {\\'codes\\': [i == 3999 ? \\'A.B\\' : \\'X.Y\\']}}) }}'}}}],"
              "'next':'z'},'z':{'action':'Return','value':'{{ failure.details.attempts }}'}");
    EXPECT_STREQ(with_fuel(definition, 1000000, &f), "{'type':'success','value':3}");
    EXPECT_TRUE(strstr(with_fuel(definition, 50 * MANY / 2, &f), LIMIT("fuel")) != NULL);
}

UTEST(accounts, a_chain_of_failures_costs_fuel) {
    flow f;
    static const char definition[] = FLOW_WITH(
        "'parameters':{'type':'object','properties':{'n':{'default':0}}},",
        "'a':{'action':'Call','call':{'provider':" MOCK ",'with':{'failure':{'code':'{{ vars.n < "
        "500.0 ? \\'A.B\\' : \\'A.C\\' }}'}}},'catch':[{'match':{'codes':['A.C']},'next':'z'},{"
        "'match':{'codes':['*']},'assign':{'n':'{{ vars.n + 1.0 }}'},'next':'a'}],'next':'z'},"
        "'z':{'action':'Return','value':1}");
    EXPECT_STREQ(with_fuel(definition, 10000000, &f), "{'type':'success','value':1}");
    EXPECT_TRUE(strstr(with_fuel(definition, 60000, &f), LIMIT("fuel")) != NULL);
}

UTEST_MAIN()
