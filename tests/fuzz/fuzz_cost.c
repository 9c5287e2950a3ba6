/* Random functions, operators and schema keywords over random values at random sizes, against the
 * clock. No operation may take more than 100 times the average time of a unit of fuel.
 *
 * The fuzzer's goal is the cost: each operation has a counter for every doubling of its time per
 * unit, and an input that reaches a new one is kept. With a sanitizer times say nothing; then only
 * memory is checked. */
#include "tests/unit/fuel_cases.h"

#define LARGEST (1u << 20) /* bytes of a text */
#define MOST (1u << 16)    /* elements of a list or object */
#define LEVELS 16u
#define OPERATIONS 1024u

__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t reached[OPERATIONS * LEVELS];

/* ---- values out of bytes --------------------------------------------------------------------- */

struct input {
    const uint8_t *at, *end;
};

static unsigned byte(struct input *in) { return in->at < in->end ? *in->at++ : 0u; }

/* Small ones and powers of two are as likely as large ones. */
static size_t count(struct input *in, size_t most) {
    unsigned shift = byte(in) % 21, low = byte(in);
    size_t n = ((size_t)1 << shift) + low % 4 - 1;
    return n < most ? n : most;
}

/* A text: head, a part of a few bytes repeated, tail. */
static mwl_value a_text(struct input *in, mwl_heap *h) {
    static const char *const parts[] = {
        "x",  "1",   "0",    "1s",     " ",  "%s", "%%", "\xc3\xa9",
        "[]", "1:",  "\\pL", "(a|b)*", "a?", ".",  "/",  "\xf0\x9f\x98\x80",
        "ab", "[a]", "%41",  "-",      "\"", "{",  "e1", "\\u0061"};
    static const char *const ends[] = {
        "",   "[",         "]",   "PT",      "S",  "1.1.1.1/", "2024-01-01T00:00:00.",
        "Z",  "y",         "e-5", "Europe/", "^",  "$",        "(?i)",
        "1.", "http://a/", "{",   "a@b.",    "0x", "\"",       "%",
        "::", "-",         "+"};
    char own[9];
    const char *head = ends[byte(in) % 24], *tail = ends[byte(in) % 24],
               *part = parts[byte(in) % 24];
    unsigned n_own = byte(in) % 16;
    if (n_own >= 1 && n_own <= 8) {
        for (unsigned i = 0; i < n_own; i++) {
            unsigned c = byte(in) % 128;
            own[i] = (char)(c ? c : 'a');
        }
        own[n_own] = '\0';
        part = own;
    }
    return operand_text(h, count(in, LARGEST), head, part, tail);
}

static mwl_value a_value(struct input *in, mwl_heap *h, unsigned depth);

static mwl_value a_list(struct input *in, mwl_heap *h, unsigned depth) {
    size_t n = count(in, MOST);
    unsigned how = byte(in) % 4;
    if (how == 0) return operand_numbers(h, n);
    if (how == 1) return operand_shared(h, n);
    mwl_value list = operand_list(h, n, a_value(in, h, depth + 1));
    if (how == 2) return list;
    /* an older version: what is appended to it needs a copy */
    mwl_value newer = mwl_array_push(h, mwl_value_keep(list), mwl_int(1));
    mwl_value_drop(h, newer);
    return list;
}

static mwl_value a_value(struct input *in, mwl_heap *h, unsigned depth) {
    switch (byte(in) % 16) {
    case 0:
    case 1:
    case 2:
    case 3: return a_text(in, h);
    case 4:
    case 5: return depth < 3 ? a_list(in, h, depth) : mwl_array(h, 0);
    case 6: return operand_object(h, count(in, MOST));
    case 7: return operand_bytes(h, count(in, LARGEST));
    case 8: return mwl_int((int64_t)count(in, SIZE_MAX) * (byte(in) % 2 ? -1 : 1));
    case 9: return mwl_int((int64_t)(byte(in) % 5) - 1);
    case 10: return mwl_uint(count(in, SIZE_MAX));
    case 11: return mwl_number((double)count(in, SIZE_MAX) / (byte(in) + 1.0));
    case 12: return mwl_duration((int64_t)count(in, SIZE_MAX) * 1000003);
    case 13: return mwl_timestamp((int64_t)count(in, SIZE_MAX) * 4099, 5);
    case 14: return mwl_bool(byte(in) % 2);
    default: return mwl_null();
    }
}

static void stop(const char *why) {
    fprintf(stderr, "fuzz_cost: %s\n", why);
    abort();
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* The least of up to nine times counts, since another process may have been in the way. */
static void measure(struct meter *m, unsigned operation, meter_operation *run, void *with,
                    const char *what) {
    double factor = 0, ns = 0;
    uint64_t fuel = 0;
    for (int i = 0; i < 9; i++) {
        double before = meter_clock_ns();
        fuel = run(m, with);
        double took = meter_clock_ns() - before;
        if (i == 0 || took < ns) ns = took;
        factor = ns / ((double)(fuel ? fuel : 1) * m->unit_ns);
        if (METER_SANITIZED || ns < METER_NOISE_NS) return;
        if (factor <= FUEL_FACTOR) break;
    }
    unsigned level = 0;
    for (double f = factor * 16; f > 1 && level + 1 < LEVELS; f /= 2) level++;
    reached[operation % OPERATIONS * LEVELS + level] = 1;
    if (factor <= FUEL_FACTOR) return;
    fprintf(stderr, "%s: %.3f ms for %llu units of fuel, %.0f times the average\n", what, ns / 1e6,
            (unsigned long long)fuel, factor);
    abort();
}

static void function(struct meter *m, unsigned which, struct input *in) {
    const mwl_function_def *def = m->functions.defs[which];
    struct call c = {.def = def};
    size_t most = def->max_args < 4 ? def->max_args : 4;
    c.n_args = def->min_args + (most > def->min_args ? byte(in) % (most - def->min_args + 1) : 0);
    bool made = true;
    for (size_t i = 0; i < c.n_args; i++) {
        c.args[i] = a_value(in, m->heap, 0);
        if (mwl_is_absent(c.args[i])) made = false;
    }
    if (made) measure(m, which, run_call, &c, def->name);
    for (size_t i = 0; i < c.n_args; i++) mwl_value_drop(m->heap, c.args[i]);
}

static void expression(struct meter *m, unsigned which, unsigned operation, struct input *in) {
    mwl__cel_code code = {0};
    struct evaluation e = {&code, {a_value(in, m->heap, 0), a_value(in, m->heap, 0), mwl_null()}};
    bool made = !mwl_is_absent(e.values[0]) && !mwl_is_absent(e.values[1]);
    if (made && meter_compile(m, fuel_expressions[which], byte(in) % 2, &code))
        measure(m, operation, run_evaluation, &e, fuel_expressions[which]);
    mwl__cel_free(&code);
    mwl_value_drop(m->heap, e.values[0]);
    mwl_value_drop(m->heap, e.values[1]);
}

static void schema(struct meter *m, unsigned which, unsigned operation, struct input *in) {
    struct kit kit;
    struct validation v = {&kit, a_value(in, m->heap, 0), byte(in) % 2};
    if (fuel_schema(&kit, fuel_schemas[which]) && !mwl_is_absent(v.v))
        measure(m, operation, run_validation, &v, fuel_schemas[which]);
    kit_close(&kit);
    mwl_value_drop(m->heap, v.v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct meter m;
    if (!m.heap && !meter_open(&m, SIZE_MAX)) stop("the average cannot be measured");
    struct input in = {data, data + size};
    unsigned functions = (unsigned)m.functions.n_defs, low = byte(&in), high = byte(&in),
             operation = (low + 256 * high) %
                         (functions + (unsigned)FUEL_EXPRESSIONS + (unsigned)FUEL_SCHEMAS);
    size_t before = mwl_heap_used(m.heap);
    mwl_heap_limit(m.heap, before + (256u << 20));
    if (operation < functions)
        function(&m, operation, &in);
    else if (operation - functions < FUEL_EXPRESSIONS)
        expression(&m, operation - functions, operation, &in);
    else
        schema(&m, operation - functions - (unsigned)FUEL_EXPRESSIONS, operation, &in);
    return 0;
}
