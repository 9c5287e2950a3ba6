/* test_timely.c: a Timeout is late by no more than one slice, whatever runs inside it. A slice is
 * counted in fuel, and a unit of fuel may take 100 times the average, so that is the time that is
 * allowed. The clock is the thread's processor time: what other processes do does not count. */
#include "utest.h"

#include "tests/unit/fuel_meter.h"
#include "tests/unit/run_flow.h"

static void read_cpu(void *ctx, mwl_instant *out) {
    (void)ctx;
    out->mono_ns = (int64_t)meter_clock_ns();
    out->wall_ns = INT64_C(1767225600) * 1000000000 + out->mono_ns;
}

/* `x` is made before the bound races; `again` goes on for much longer than the bound. */
static const struct {
    const char *name, *x, *again;
} rows[] = {
    {"a loop", "[]", "lists.range(1000).all(i, lists.range(1000).all(j, j >= 0)) ? 1 : 0"},
    {"sort", "lists.range(1000000).map(i, i * 7919 % 1000003)", "vars.x.sort().sort().size()"},
    {"sort of texts",
     "lists.range(200000).map(i, string(i * 7919 % 1000003) + \\'xxxxxxxxxxxxxxxx\\')",
     "vars.x.sort().sort().size()"},
    {"distinct", "lists.range(1000000)", "vars.x.distinct().size()"},
    {"concatenation", "lists.range(1000000)", "size(vars.x + [1]) + size(vars.x + [2])"},
    {"a large copy", "lists.range(5000000)", "size(vars.x + [1]) + size(vars.x + [2])"},
    {"a large copy of texts", "lists.range(3000000).map(i, string(i))",
     "size(vars.x + [1]) + size(vars.x + [2])"},
    /* what is dropped, meanwhile and at the end, is large */
    {"texts, dropped", "[]", "lists.range(300000).map(i, string(i)).size()"},
    {"objects, dropped", "[]", "lists.range(30000).map(i, {\\'a\\': [i]}).size()"},
    {"a large variable", "lists.range(1000000)",
     "size([vars.x.map(i, [i])].map(y, lists.range(1000000).map(j, j).size() + y.size()))"},
    {"format", "lists.range(300000)", "\\'%s\\'.format([vars.x]).size()"},
    {"toJson", "lists.range(500000)", "toJson(vars.x).size()"},
    {"fromJson", "\\'[\\' + lists.range(1000000).map(i, \\'1\\').join(\\',\\') + \\']\\'",
     "fromJson(vars.x).size()"},
    {"a constant pattern", "lists.range(1000000).map(i, \\'x\\').join()",
     "vars.x.matches(\\'(x|xx|xxx)*[a-z]{1,20}y\\') ? 1 : 0"},
    {"a pattern", "lists.range(1000000).map(i, \\'x\\').join()",
     "vars.x.matches(\\'(x|xx|xxx)*[a-z]{1,20}\\' + string(k % 3)) ? 1 : 0"},
    {"a pattern, compiled", "lists.range(600).map(i, \\'\\\\\\\\PL\\').join()",
     "\\'x\\'.matches(\\'[\\' + vars.x + string(k) + \\']\\') ? 1 : 0"},
    {"equality", "lists.range(1000000)", "vars.x == vars.y ? 1 : 0"},
    {"a search", "lists.range(300000)", "-1 in vars.x ? 1 : 0"},
    {"join", "lists.range(500000).map(i, \\'abc\\')", "vars.x.join(\\',\\').size()"},
    {"split", "lists.range(500000).map(i, \\'x\\').join(\\',\\')", "vars.x.split(\\',\\').size()"},
    {"replace", "lists.range(1000000).map(i, \\'x\\').join()",
     "vars.x.replace(\\'x\\', \\'yy\\').size()"},
    {"base64", "lists.range(500000).map(i, \\'abc\\').join()",
     "base64.encode(bytes(vars.x)).size()"},
    {"flatten", "lists.range(500000).map(i, [i])", "vars.x.flatten().size()"},
};

/* The work is in a called Flow, so that the bound is a caller's. */
#define DEFINITION                                                                                              \
    FLOW(                                                                                                       \
        "'a':{'action':'Pass','assign':{'x':'{{ %s }}','y':'{{ %s }}'},'next':'c'},"                            \
        "'c':{'action':'Call','middleware':[{'provider':" TIMEOUT                                               \
        ",'onEntry':{'with':{'duration':'PT0.02S'}},'onAlways':{'assign':{'at':'{{ string(wallTime() - "        \
        "timestamp(middleware.metadata.deadline)) }}'}}}],"                                                     \
        "'call':{'flow':{'parameters':{'type':'object','properties':{'x':{},'y':{}}},'entrypoint':'w','steps':" \
        "{'w':{'action':'Return','value':'{{ lists.range(100000).map(k, %s).size() }}'}}},"                     \
        "'with':{'x':'{{ vars.x }}','y':'{{ vars.y }}'}},'next':'r',"                                           \
        "'catch':[{'match':{'codes':['Provider.Middleware.Timeout.Exceeded']},'next':'r'}]},"                   \
        "'r':{'action':'Return','value':'{{ vars.at }}'}")

/* Arguments that are checked for long: by patterns and by uniqueItems. */
#define CHECKED(schema, x)                                                                               \
    FLOW(                                                                                                \
        "'a':{'action':'Pass','assign':{'x':'{{ " x " }}'},'next':'c'},"                                 \
        "'c':{'action':'Call','middleware':[{'provider':" TIMEOUT                                        \
        ",'onEntry':{'with':{'duration':'PT0.02S'}},'onAlways':{'assign':{'at':'{{ string(wallTime() - " \
        "timestamp(middleware.metadata.deadline)) }}'}}}],"                                              \
        "'call':{'flow':{'entrypoint':'w','steps':{'w':{'action':'Call','call':{'flow':{'parameters':"   \
        "{'type':'object','properties':{'x':" schema                                                     \
        "}},'entrypoint':'v','steps':{'v':{'action':'Return'}}},"                                        \
        "'with':{'x':'{{ vars.x }}'}},'next':'w2'},'w2':{'action':'Pass','next':'w'}},"                  \
        "'parameters':{'type':'object','properties':{'x':{}}}},'with':{'x':'{{ vars.x }}'}},'next':'r'," \
        "'catch':[{'match':{'codes':['Provider.Middleware.Timeout.Exceeded']},'next':'r'}]},"            \
        "'r':{'action':'Return','value':'{{ vars.at }}'}")

/* How late the bound was noticed, in nanoseconds of processor time; below 0: the run said something
 * else. */
static double lateness(const char *definition, char *said, size_t size) {
    mwl_config c = mwl_config_default();
    flow f;
    memset(&f, 0, sizeof f);
    c.clock.read = read_cpu;
    double late = -1, seconds;
    if (mwl_vm_new(&c, &f.vm) == MWL_OK && mwl_std_add(f.vm, MWL_STD_ALL, NULL) == MWL_OK &&
        flow_load(&f, definition) && flow_start(&f, "null")) {
        while (mwl_run_get_state(f.run) != MWL_RUN_DONE) (void)mwl_vm_pump(f.vm, 1000000);
        size_t len;
        const char *text = mwl_as_text(mwl_get(mwl_run_result(f.run), "value"), &len);
        const char *code = mwl_as_text(mwl_get(mwl_run_result(f.run), "message"), &len);
        snprintf(said, size, "%s", text ? text : code ? code : "no lateness");
        if (text && sscanf(text, "%lfs", &seconds) == 1) late = seconds * 1e9;
    } else {
        snprintf(said, size, "%.300s", f.result);
    }
    flow_close(&f);
    return late;
}

/* The least of three, since caches and the memory's first use are not the machine's doing. */
static bool in_time(const char *name, const char *definition, double allowed) {
    char said[400];
    double best = 1e18;
    for (int i = 0; i < 3 && (i == 0 || best > allowed); i++) {
        double late = lateness(definition, said, sizeof said);
        if (late < 0) {
            printf("%s: %s\n", name, said);
            return false;
        }
        if (late < best) best = late;
    }
    printf("%-20s %.3f ms late, %.3f allowed\n", name, best / 1e6, allowed / 1e6);
    return METER_SANITIZED || best <= allowed;
}

static double allowed_ns(void) {
    struct meter m;
    if (!meter_open(&m, SIZE_MAX)) return 0;
    double ns = 2 * MWL_SLICE * FUEL_FACTOR * m.unit_ns; /* twice: what was made is freed first */
    meter_close(&m);
    return ns;
}

UTEST(timely, every_operation) {
    double allowed = allowed_ns();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char definition[4000];
        snprintf(definition, sizeof definition, DEFINITION, rows[i].x,
                 strcmp(rows[i].name, "equality") ? "0.0" : rows[i].x, rows[i].again);
        EXPECT_TRUE(in_time(rows[i].name, definition, allowed));
    }
}

UTEST(timely, schema_checks) {
    double allowed = allowed_ns();
    EXPECT_TRUE(in_time("a schema's pattern",
                        CHECKED("{'pattern':'^(x|xx|xxx)*[a-z]{1,20}$'}",
                                "lists.range(1000000).map(i, \\'x\\').join()"),
                        allowed));
    EXPECT_TRUE(in_time("a PCRE2 pattern",
                        CHECKED("{'pattern':'^(?=(x|xx|xxx)*$)(?=x*y)'}",
                                "lists.range(100000).map(i, \\'x\\').join()"),
                        allowed));
    EXPECT_TRUE(
        in_time("uniqueItems", CHECKED("{'uniqueItems':true}", "lists.range(100000)"), allowed));
    EXPECT_TRUE(in_time(
        "items",
        CHECKED("{'items':{'type':['string','number'],'multipleOf':1}}", "lists.range(500000)"),
        allowed));
}

/* ---- a Loop over a provider that answers at once --------------------------------------------- */

#define QUICK_URI "mwl:provider.call/acme/quick/v1"
static const char quick_document[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" QUICK_URI "\","
    "\"codePrefix\":\"Quick\",\"description\":\"Counts.\",\"parameters\":{\"type\":\"object\"},"
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}";

static int quick(mwl_heap *heap, mwl_value input, mwl_value args, mwl_value *out, void *user) {
    (void)heap, (void)args;
    ++*(uint64_t *)user;
    *out = mwl_value_keep(input);
    return MWL_NOW_SUCCEEDED;
}

/* 10^9 iterations would take minutes. The Step's catch gives how late the bound was noticed. */
#define LONG_LOOP                                                                                  \
    FLOW("'a':{'action':'Call','call':{'provider':'" QUICK_URI                                     \
         "'},'middleware':[{'provider':" TIMEOUT                                                   \
         ",'onEntry':{'with':{'duration':'PT0.2S'}},'onAlways':{'assign':{'at':'{{ string("        \
         "wallTime() - timestamp(middleware.metadata.deadline)) }}'}}},{'provider':" LOOP          \
         ",'onSuccess':{'when':'{{ middleware.metadata.iteration < 1000000000 }}'}}],'next':'r',"  \
         "'catch':[{'match':{'codes':['Provider.Middleware.Timeout.Exceeded']},'next':'late'}]},"  \
         "'r':{'action':'Return','value':'not interrupted'},"                                      \
         "'late':{'action':'Return','value':'{{ vars.at }}'}")

UTEST(timely, a_loop_over_now) {
    const mwl_call_provider p = {.uri = QUICK_URI, .document = quick_document, .now = quick};
    const mwl_asm_provider document = {QUICK_URI, quick_document, sizeof quick_document - 1};
    mwl_config c = mwl_config_default();
    flow f = {.documents = &document, .n_documents = 1};
    uint64_t calls = 0;
    c.clock.read = read_cpu;
    ASSERT_EQ(mwl_vm_new(&c, &f.vm), MWL_OK);
    ASSERT_EQ(mwl_std_add(f.vm, MWL_STD_ALL, NULL), MWL_OK);
    ASSERT_EQ(mwl_vm_provide(f.vm, &p, 1, &calls, NULL), MWL_OK);
    ASSERT_TRUE(flow_load(&f, LONG_LOOP));
    const double allowed = allowed_ns(), from = meter_clock_ns();
    const char *result = flow_again(&f, "0");
    const double took = meter_clock_ns() - from;
    double seconds = -1;
    EXPECT_EQ(sscanf(result, "{'type':'success','value':'%lfs'}", &seconds), 1);
    EXPECT_GT(calls, UINT64_C(1000));
    EXPECT_GE(seconds, 0.0);
    EXPECT_GE(took, 0.2e9);
    printf("%-20s %.3f ms late, %.3f allowed\n", "a Loop over now", seconds * 1e3, allowed / 1e6);
    EXPECT_TRUE(METER_SANITIZED || seconds * 1e9 <= allowed);
    flow_close(&f);
}

UTEST_MAIN()
