/* test_fuel_cost.c: fuel bounds time: every function and operator is measured at several sizes.
 *
 * No list of functions stands here: the tables that a VM registers are walked, so that a function
 * which is added is measured the same day. MWL_SOAK=1 measures 16 MiB too. */
#include "tests/unit/fuel_cases.h"
#include "assembler/cel/cel_front.h"
#include "utest.h"

static const size_t sizes[] = {1u << 10, 1u << 20, 16u << 20};

static size_t n_sizes(void) { return METER_SANITIZED ? 1 : getenv("MWL_SOAK") ? 3 : 2; }

static const char *size_text(size_t size) {
    return size < 1u << 20 ? "1 KiB" : size < 16u << 20 ? "1 MiB" : "16 MiB";
}

static void summary(const struct meter *m, const char *what, size_t size) {
    printf("%s at %s: %zu measured, %.1f ns a unit, worst %.1f times: %s\n", what, size_text(size),
           m->n_measured, m->unit_ns, m->worst, m->worst_what);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* With three arguments the third is one of a few: what is large in it is large in the second. */
static bool is_third(const struct operand *o) {
    static const char *const names[] = {"letters",   "numbers", "int",
                                        "large int", "text",    "empty text"};
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
    for (size_t i = 0; i < o->n && filled < sizeof c->args / sizeof *c->args; i++) {
        char more[160];
        const bool few = filled >= 2 || (filled == 1 && c->n_args == 4);
        if (few && !is_third(&o->at[i])) continue;
        if (filled == 3 && !strstr(o->at[i].name, "int")) continue;
        c->args[filled] = o->at[i].v;
        int len = snprintf(more, sizeof more, "%s%s%s", what, filled ? ", " : "", o->at[i].name);
        if (len > 0) measure_args(m, o, c, filled + 1, more);
    }
}

static void measure_function(struct meter *m, const struct operands *o, const mwl_function_def *def,
                             size_t size) {
    char what[100];
    for (size_t n = def->min_args; n <= def->max_args && n <= 4; n++) {
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
        operands_make(&o, &m, sizes[k]);
        mwl_heap_limit(m.heap, mwl_heap_used(m.heap) + 16 * sizes[k]);
        for (size_t i = 0; i < m.functions.n_defs; i++)
            measure_function(&m, &o, m.functions.defs[i], sizes[k]);
        summary(&m, "functions", sizes[k]);
        if (!METER_SANITIZED) EXPECT_EQ(0u, m.n_broken);
        operands_free(&o, m.heap);
        meter_close(&m);
    }
}

/* ---- operators ------------------------------------------------------------------------------- */

static void measure_expression(struct meter *m, const struct operands *o, const char *text,
                               bool as_data, size_t size) {
    mwl__cel_code code = {0};
    bool two = strchr(text, 'b') != NULL && !strstr(text, "cel.bind");
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
        operands_make(&o, &m, sizes[k]);
        mwl_heap_limit(m.heap, mwl_heap_used(m.heap) + 16 * sizes[k]);
        for (size_t i = 0; i < FUEL_EXPRESSIONS; i++)
            measure_expression(&m, &o, fuel_expressions[i], false, sizes[k]);
        measure_expression(&m, &o, "a", true, sizes[k]);
        measure_expression(&m, &o, "[a, 1, b]", true, sizes[k]);
        summary(&m, "operators", sizes[k]);
        if (!METER_SANITIZED) EXPECT_EQ(0u, m.n_broken);
        operands_free(&o, m.heap);
        meter_close(&m);
    }
}

/* ---- nothing is left out -----------------------------------------------------------------------
 */

/* Does the text call the macro with so many arguments? Those of the rows have no commas inside
 * other brackets than {} and [] and (). */
static bool calls_macro(const char *text, const char *name, int n_args) {
    char begin[40];
    snprintf(begin, sizeof begin, "%s(", name);
    const char *at = strstr(text, begin);
    for (; at; at = strstr(at + 1, begin)) {
        int depth = 0, n = 1;
        const char *p = at + strlen(name);
        do {
            depth += *p == '(' || *p == '[' || *p == '{';
            depth -= *p == ')' || *p == ']' || *p == '}';
            n += *p == ',' && depth == 1;
        } while (*++p && depth > 0);
        if (n == n_args && (at == text || at[-1] == '.' || at[-1] == ' ')) return true;
    }
    return false;
}

UTEST(fuel, every_macro_has_a_row) {
    for (const mwl__cel_macro *m = mwl__cel_standard_macros; m->name; m++) {
        bool found = false;
        for (size_t i = 0; i < FUEL_EXPRESSIONS && !found; i++)
            found = calls_macro(fuel_expressions[i], m->name, m->n_args);
        if (!found) printf("fuel_cases.h has no %s with %d arguments\n", m->name, m->n_args);
        EXPECT_TRUE(found);
    }
}

/* The keywords are those of the assembler's table; those that check nothing are not measured. */
UTEST(fuel, every_schema_keyword_has_a_row) {
    FILE *f = fopen(MWL_SOURCE_DIR "/assembler/schema/schema_keyword.c", "r");
    char line[200], name[40], quoted[44], vocabulary[20];
    size_t n = 0;
    ASSERT_TRUE(f != NULL);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, " KEYWORD(\"%39[^\"]\", %19[A-Z]", name, vocabulary) != 2) continue;
        if (strcmp(vocabulary, "META") == 0 || strcmp(vocabulary, "CONTENT") == 0) continue;
        if (name[0] == '$' && !strstr(name, "ef")) continue;
        bool found = false;
        snprintf(quoted, sizeof quoted, "'%s'", name);
        for (size_t i = 0; i < FUEL_SCHEMAS && !found; i++)
            found = strstr(fuel_schemas[i], quoted) != NULL;
        if (!found) printf("fuel_cases.h has no %s\n", name);
        EXPECT_TRUE(found);
        n++;
    }
    fclose(f);
    EXPECT_GT(n, (size_t)30);
}

/* ---- schemas --------------------------------------------------------------------------------- */

static void measure_schema(struct meter *m, const struct operands *o, const char *text,
                           size_t size) {
    struct kit kit;
    if (!fuel_schema(&kit, text)) {
        printf("%s is not a schema\n", text);
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
        operands_make(&o, &m, sizes[k]);
        mwl_heap_limit(m.heap, mwl_heap_used(m.heap) + 16 * sizes[k]);
        for (size_t i = 0; i < FUEL_SCHEMAS; i++) measure_schema(&m, &o, fuel_schemas[i], sizes[k]);
        summary(&m, "schemas", sizes[k]);
        if (!METER_SANITIZED) EXPECT_EQ(0u, m.n_broken);
        operands_free(&o, m.heap);
        meter_close(&m);
    }
}

UTEST_MAIN()
