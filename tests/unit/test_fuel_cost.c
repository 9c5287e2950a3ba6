/* test_fuel_cost.c: fuel bounds time: every function and operator is measured at several sizes.
 *
 * No list of functions stands here: the tables that a VM registers are walked, so that a function
 * which is added is measured the same day. MWL_SOAK=1 measures 16 MiB too. */
#include "fuel_meter.h"
#include "schema_kit.h"
#include "utest.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_TIMES 1 /* a sanitizer slows some operations a hundredfold and others not at all */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SKIP_TIMES 1
#endif
#endif
#ifndef SKIP_TIMES
#define SKIP_TIMES 0
#endif

static const size_t sizes[] = {1u << 10, 1u << 20, 16u << 20};

static size_t n_sizes(void) { return SKIP_TIMES ? 1 : getenv("MWL_SOAK") ? 3 : 2; }

static const char *size_text(size_t size) {
    return size < 1u << 20 ? "1 KiB" : size < 16u << 20 ? "1 MiB" : "16 MiB";
}

static void summary(const struct meter *m, const char *what, size_t size) {
    printf("%s at %s: %zu measured, %.1f ns a unit, worst %.1f times: %s\n", what, size_text(size),
           m->n_measured, m->unit_ns, m->worst, m->worst_what);
}

/* ---- functions ------------------------------------------------------------------------------- */

struct call {
    const mwl_function_def *def;
    mwl_value args[4];
    size_t n_args;
};

static uint64_t run_call(struct meter *m, void *with) {
    struct call *c = with;
    mwl_value out = mwl_absent();
    meter_ready(m);
    (void)mwl__functions_call(&m->x, c->def, c->args, c->n_args, &out);
    meter_forget(m, out);
    return METER_BUDGET - m->x.budget;
}

/* With three arguments the third is one of a few: what is large in it is large in the second. */
static bool is_third(const struct operand *o) {
    static const char *const names[] = {"letters", "numbers", "int", "text", "empty text"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(o->name, names[i]) == 0) return true;
    return false;
}

static void measure_args(struct meter *m, const struct operands *o, struct call *c, size_t filled,
                         const char *what) {
    if (filled == c->n_args) {
        (void)meter_measure(m, run_call, c, what);
        return;
    }
    for (size_t i = 0; i < o->n; i++) {
        char more[160];
        if (filled >= 2 && !is_third(&o->at[i])) continue;
        c->args[filled] = o->at[i].v;
        snprintf(more, sizeof more, "%s%s%s", what, filled ? ", " : "", o->at[i].name);
        measure_args(m, o, c, filled + 1, more);
    }
}

static void measure_function(struct meter *m, const struct operands *o, const mwl_function_def *def,
                             size_t size) {
    char what[100];
    for (size_t n = def->min_args; n <= def->max_args && n <= 3; n++) {
        struct call c = {.def = def, .n_args = n};
        snprintf(what, sizeof what, "%s at %s: ", def->name, size_text(size));
        measure_args(m, o, &c, 0, what);
    }
}

UTEST(fuel, bounds_the_time_of_every_function) {
    for (size_t k = 0; k < n_sizes(); k++) {
        struct meter m;
        struct operands o;
        ASSERT_TRUE(meter_open(&m, SIZE_MAX));
        operands_make(&o, m.heap, sizes[k]);
        mwl_heap_limit(m.heap, mwl_heap_used(m.heap) + 16 * sizes[k]);
        for (size_t i = 0; i < m.functions.n_defs; i++)
            measure_function(&m, &o, m.functions.defs[i], sizes[k]);
        summary(&m, "functions", sizes[k]);
        if (!SKIP_TIMES) EXPECT_EQ(0u, m.n_broken);
        operands_free(&o, m.heap);
        meter_close(&m);
    }
}

/* ---- operators ------------------------------------------------------------------------------- */

static const char *const expressions[] = {
    "a == b",
    "a != b",
    "a < b",
    "a <= b",
    "a > b",
    "a >= b",
    "a + b",
    "a - b",
    "a * b",
    "a / b",
    "a % b",
    "a in b",
    "a[b]",
    "a[?b]",
    "a + b + a",
    "a && b",
    "a || b",
    "a ? b : a",
    "[a, b]",
    "{'k': a, 'l': b}",
    "[a, b] == [b, a]",
    "{'k': a} == {'k': b}",
    "{a: b}",
    "b in {'x': a}",
    "has(a.k1)",
    "a.k1",
    "-a",
    "!a",
    "a.map(x, x)",
    "a.filter(x, x == b)",
    "a.exists(x, x == b)",
    "a.all(x, x != b)",
    "a.exists_one(x, x == b)",
    "a.map(x, x == b, x)",
    "a.k1 == b",
    "[a].exists(x, x == b)",
    "type(a) == type(b)",
    "a.?k1",
    "a.transformList(i, x, x)",
    "a.transformMap(k, x, x)",
    "a.sortBy(x, x)",
    "a.matches('^(x|y)*$')",
    "a.matches('[a-w]*x$')",
};

struct evaluation {
    const mwl__cel_code *code;
    mwl_value values[3];
};

static uint64_t run_evaluation(struct meter *m, void *with) {
    struct evaluation *e = with;
    mwl_value out = mwl_absent();
    meter_ready(m);
    mwl__outcome outcome = mwl__cel_eval(e->code, &m->x, e->values, 3, &out);
    if (outcome != MWL_EXEC_END && outcome != MWL_EXEC_FAULT) mwl__exec_clear(&m->x, m->x.n_regs);
    meter_forget(m, out);
    return METER_BUDGET - m->x.budget;
}

static void measure_expression(struct meter *m, const struct operands *o, const char *text,
                               bool as_data, size_t size) {
    mwl__cel_code code = {0};
    bool two = strchr(text, 'b') != NULL;
    if (!meter_compile(m, text, as_data, &code)) {
        printf("%s does not compile\n", text);
        m->n_broken++;
        return;
    }
    for (size_t i = 0; i < o->n; i++) {
        for (size_t j = 0; j < (two ? o->n : 1); j++) {
            struct evaluation e = {&code, {o->at[i].v, o->at[j].v, mwl_null()}};
            char what[160];
            snprintf(what, sizeof what, "%s%s at %s: %s, %s", text, as_data ? " as data" : "",
                     size_text(size), o->at[i].name, two ? o->at[j].name : "");
            (void)meter_measure(m, run_evaluation, &e, what);
        }
    }
    mwl__cel_free(&code);
}

UTEST(fuel, bounds_the_time_of_every_operator) {
    for (size_t k = 0; k < n_sizes(); k++) {
        struct meter m;
        struct operands o;
        ASSERT_TRUE(meter_open(&m, SIZE_MAX));
        operands_make(&o, m.heap, sizes[k]);
        mwl_heap_limit(m.heap, mwl_heap_used(m.heap) + 16 * sizes[k]);
        for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
            measure_expression(&m, &o, expressions[i], false, sizes[k]);
        measure_expression(&m, &o, "a", true, sizes[k]);
        measure_expression(&m, &o, "[a, 1, b]", true, sizes[k]);
        summary(&m, "operators", sizes[k]);
        if (!SKIP_TIMES) EXPECT_EQ(0u, m.n_broken);
        operands_free(&o, m.heap);
        meter_close(&m);
    }
}

/* ---- schemas --------------------------------------------------------------------------------- */

static const char *const schemas[] = {
    "{'type':'string'}",
    "{'maxLength':5}",
    "{'minLength':5}",
    "{'pattern':'^(x|y)*$'}",
    "{'pattern':'(?=[a-w]*x)[a-w]'}",
    "{'pattern':'(?![a-w]*$)[a-w]'}",
    "{'pattern':'(x+)+$'}",
    "{'pattern':'(x*)\\\\\\\\1y'}",
    "{'pattern':'^[^y]*y'}",
    "{'enum':['a',1,[1],{'a':1}]}",
    "{'const':[1,2,3]}",
    "{'uniqueItems':true}",
    "{'items':{'type':'integer'}}",
    "{'contains':{'const':-1}}",
    "{'contains':{'type':'string'},'maxContains':2}",
    "{'propertyNames':{'pattern':'^k'}}",
    "{'patternProperties':{'^k[0-9]':{'type':'string'}}}",
    "{'additionalProperties':false}",
    "{'unevaluatedProperties':false}",
    "{'unevaluatedItems':false}",
    "{'required':['k1','k2']}",
    "{'minProperties':3}",
    "{'dependentRequired':{'k1':['k2']}}",
    "{'prefixItems':[{'type':'string'}]}",
    "{'anyOf':[{'type':'null'},{'items':{'type':'null'}},{'items':{'type':'string'}}]}",
    "{'not':{'items':{'type':'integer'}}}",
    "{'items':{'$ref':'#'}}",
    "{'multipleOf':3}",
    "{'format':'date-time'}",
    "{'format':'date'}",
    "{'format':'time'}",
    "{'format':'duration'}",
    "{'format':'email'}",
    "{'format':'idn-email'}",
    "{'format':'hostname'}",
    "{'format':'idn-hostname'}",
    "{'format':'ipv4'}",
    "{'format':'ipv6'}",
    "{'format':'uri'}",
    "{'format':'uri-reference'}",
    "{'format':'iri'}",
    "{'format':'iri-reference'}",
    "{'format':'uuid'}",
    "{'format':'uri-template'}",
    "{'format':'json-pointer'}",
    "{'format':'relative-json-pointer'}",
    "{'format':'regex'}",
};

struct validation {
    struct kit *kit;
    mwl_value v;
    bool report;
};

static uint64_t run_validation(struct meter *m, void *with) {
    struct validation *s = with;
    uint64_t fuel = METER_BUDGET;
    mwl__schema_env env = {.heap = m->heap, .scratch = s->kit->scratch, .fuel = &fuel};
    bool valid = false;
    mwl_value report = mwl_absent();
    (void)mwl__schema_check(s->kit->schema, s->v, &env, &valid, s->report ? &report : NULL);
    mwl_value_drop(m->heap, report);
    return METER_BUDGET - fuel;
}

static void measure_schema(struct meter *m, const struct operands *o, const char *text,
                           size_t size) {
    struct kit kit;
    char json[200];
    size_t n = 0;
    for (; text[n] && n + 1 < sizeof json; n++) json[n] = text[n] == '\'' ? '"' : text[n];
    json[n] = '\0';
    kit_open(&kit, json, (mwl__schema_options){.assert_formats = true});
    if (kit.status != MWL_OK) {
        printf("%s is not a schema\n", json);
        m->n_broken++;
        kit_close(&kit);
        return;
    }
    for (size_t i = 0; i < 2 * o->n; i++) {
        struct validation s = {&kit, o->at[i / 2].v, i % 2 != 0};
        char what[160];
        snprintf(what, sizeof what, "%s at %s: %s%s", text, size_text(size), o->at[i / 2].name,
                 s.report ? ", with a report" : "");
        (void)meter_measure(m, run_validation, &s, what);
    }
    kit_close(&kit);
}

UTEST(fuel, bounds_the_time_of_every_schema_keyword) {
    for (size_t k = 0; k < n_sizes(); k++) {
        struct meter m;
        struct operands o;
        ASSERT_TRUE(meter_open(&m, SIZE_MAX));
        operands_make(&o, m.heap, sizes[k]);
        mwl_heap_limit(m.heap, mwl_heap_used(m.heap) + 16 * sizes[k]);
        for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
            measure_schema(&m, &o, schemas[i], sizes[k]);
        summary(&m, "schemas", sizes[k]);
        if (!SKIP_TIMES) EXPECT_EQ(0u, m.n_broken);
        operands_free(&o, m.heap);
        meter_close(&m);
    }
}

UTEST_MAIN()
