/* fuel_meter.h: what one operation costs, in fuel and in processor time.
 *
 * The promise: no operation takes more than FUEL_FACTOR times the average time of a unit of fuel,
 * whatever the size of its operands. The average is measured here, on the same machine and build.
 */
#ifndef FUEL_METER_H
#define FUEL_METER_H

#include "tools/base/tool_functions.h"
#include "assembler/cel/cel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FUEL_FACTOR 100.0
/* Below this the reading of a clock and a cold cache are what is seen. */
#define METER_NOISE_NS 5000.0
/* An operation that would use more ends with its fuel, which is measured as well. */
#define METER_BUDGET (UINT64_C(1) << 22)

/* A sanitizer slows some operations a hundredfold and others not at all: times say nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define METER_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define METER_SANITIZED 1
#endif
#endif
#ifndef METER_SANITIZED
#define METER_SANITIZED 0
#endif

struct meter {
    mwl_heap *heap;
    mwl__functions functions;
    mwl__zones zones;
    mwl__exec x;
    double unit_ns; /* the average time of a unit of fuel */
    double worst;   /* the highest factor that was seen */
    char worst_what[160];
    size_t n_measured, n_broken;
};

static inline double meter_clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline void meter_ready(struct meter *m) {
    m->x.budget = METER_BUDGET;
    m->x.slice = INT64_MAX / 2;
    m->x.halt = MWL_EXEC_END;
}

static inline void meter_forget(struct meter *m, mwl_value out) {
    mwl_value_drop(m->heap, out);
    if (mwl_value_kind(m->x.fault) == MWL_KIND_FAULT) mwl_value_drop(m->heap, m->x.fault);
    m->x.fault = mwl_null();
}

/* An expression over `a`, `b` and `c`. False when it does not compile. */
static inline bool meter_compile(struct meter *m, const char *text, bool as_data,
                                 mwl__cel_code *code) {
    static const char *const names[] = {"a", "b", "c"};
    mwl__cel_env env = {.functions = &m->functions,
                        .vars = names,
                        .n_vars = 3,
                        .no_check = true,
                        .as_data = as_data};
    return mwl__cel_compile(&env, text, strlen(text), code) == MWL_OK;
}

static inline double meter_average(struct meter *m) {
    mwl__cel_code code = {0};
    double best = 1e9;
    mwl_value none[3] = {mwl_null(), mwl_null(), mwl_null()};
    if (!meter_compile(m, "lists.range(300000).map(i, i + 1).filter(i, i % 2 == 0).size()", false,
                       &code))
        return 0;
    for (int i = 0; i < 3; i++) {
        mwl_value out = mwl_absent();
        meter_ready(m);
        double before = meter_clock_ns();
        if (mwl__cel_eval(&code, &m->x, none, 3, &out) != MWL_EXEC_END) return 0;
        double ns = (meter_clock_ns() - before) / (double)(METER_BUDGET - m->x.budget);
        if (ns < best) best = ns;
        meter_forget(m, out);
    }
    mwl__cel_free(&code);
    return best;
}

static inline bool meter_open(struct meter *m, size_t memory_limit) {
    memset(m, 0, sizeof *m);
    mwl__functions_init(&m->functions, NULL);
    if (mwl_heap_new(NULL, &m->heap) != MWL_OK || mwl__exec_init(&m->x, m->heap) != MWL_OK)
        return false;
    mwl__zones_init(&m->zones, mwl_alloc_default(), NULL, NULL);
    m->x.zones = &m->zones;
    m->x.pin = (mwl__clock_pin){1700000000, 5};
    if (tool_add_functions(&m->functions) != MWL_OK) return false;
    m->unit_ns = meter_average(m);
    mwl_heap_limit(m->heap, memory_limit);
    return m->unit_ns > 0;
}

static inline void meter_close(struct meter *m) {
    m->x.zones = NULL;
    mwl__exec_done(&m->x);
    mwl__zones_free(&m->zones);
    mwl__functions_done(&m->functions);
    mwl_heap_free(m->heap);
}

/* One way to spend fuel: returns what it charged. */
typedef uint64_t meter_operation(struct meter *m, void *with);

/* Measures it; up to four times more when it seems too slow, since another process may have been in
 * the way. The smallest time counts. */
static inline bool meter_measure(struct meter *m, meter_operation *run, void *with,
                                 const char *what) {
    double factor = 0, ns = 0;
    uint64_t fuel = 0;
    m->n_measured++;
    for (int i = 0; i < 5; i++) {
        double before = meter_clock_ns();
        fuel = run(m, with);
        double took = meter_clock_ns() - before;
        if (i == 0 || took < ns) ns = took;
        factor = ns / ((double)(fuel ? fuel : 1) * m->unit_ns);
        if (ns < METER_NOISE_NS || factor <= FUEL_FACTOR) break;
    }
    if (ns >= METER_NOISE_NS && factor > m->worst) {
        m->worst = factor;
        snprintf(m->worst_what, sizeof m->worst_what, "%s", what);
    }
    if (ns < METER_NOISE_NS || factor <= FUEL_FACTOR) return true;
    m->n_broken++;
    printf("%s: %.3f ms for %llu units of fuel, %.0f times the average\n", what, ns / 1e6,
           (unsigned long long)fuel, factor);
    return false;
}

/* ---- operands -------------------------------------------------------------------------------- */

struct operand {
    const char *name;
    mwl_value v;
    bool large;
};

#define OPERANDS_MAX 56

struct operands {
    struct operand at[OPERANDS_MAX];
    size_t n;
};

static inline void operand_add(struct operands *o, const char *name, bool large, mwl_value take) {
    if (!mwl_is_absent(take) && o->n < OPERANDS_MAX)
        o->at[o->n++] = (struct operand){name, take, large};
}

/* A text of `size` bytes that repeats `part`, between `head` and `tail`. */
static inline mwl_value operand_text(mwl_heap *h, size_t size, const char *head, const char *part,
                                     const char *tail) {
    size_t n_head = strlen(head), n_part = strlen(part), n_tail = strlen(tail), len = n_head;
    char *text = malloc(size + n_head + n_part + n_tail + 1);
    if (!text) return mwl_absent();
    memcpy(text, head, n_head);
    for (; len + n_part + n_tail <= size; len += n_part) memcpy(text + len, part, n_part);
    memcpy(text + len, tail, n_tail);
    mwl_value v = mwl_string(h, text, len + n_tail);
    free(text);
    return v;
}

static inline mwl_value operand_bytes(mwl_heap *h, size_t size) {
    char *data = malloc(size);
    if (!data) return mwl_absent();
    memset(data, 0xff, size);
    mwl_value v = mwl_bytes(h, data, size);
    free(data);
    return v;
}

/* n times one value. */
static inline mwl_value operand_list(mwl_heap *h, size_t n, mwl_value take_item) {
    mwl_value list = mwl_array(h, n);
    for (size_t i = 0; i < n && !mwl_is_absent(list); i++)
        list = mwl_array_push(h, list, mwl_value_keep(take_item));
    mwl_value_drop(h, take_item);
    return list;
}

static inline mwl_value operand_numbers(mwl_heap *h, size_t n) {
    mwl_value list = mwl_array(h, n);
    for (size_t i = 0; i < n && !mwl_is_absent(list); i++)
        list = mwl_array_push(h, list, mwl_int((int64_t)i));
    return list;
}

static inline mwl_value operand_object(mwl_heap *h, size_t n) {
    mwl_value object = mwl_object(h, n);
    char key[24];
    for (size_t i = 0; i < n && !mwl_is_absent(object); i++) {
        int len = snprintf(key, sizeof key, "k%zu", i);
        object = mwl_object_set(h, object, key, (size_t)len, mwl_int((int64_t)i));
    }
    return object;
}

/* A tree of about `weight` nodes in which each level is one shared list of two: little memory, much
 * to walk. */
static inline mwl_value operand_shared(mwl_heap *h, size_t weight) {
    mwl_value v = mwl_array(h, 0);
    for (size_t n = 1; n < weight; n *= 2) v = operand_list(h, 2, v);
    return v;
}

/* What an expression makes. */
static inline void operand_called(struct operands *o, struct meter *m, const char *name,
                                  const char *text) {
    mwl__cel_code code = {0};
    const mwl_value none[3] = {mwl_null(), mwl_null(), mwl_null()};
    mwl_value out = mwl_absent();
    meter_ready(m);
    if (meter_compile(m, text, false, &code) &&
        mwl__cel_eval(&code, &m->x, none, 3, &out) == MWL_EXEC_END)
        operand_add(o, name, false, out);
    else
        m->n_broken++;
    mwl__cel_free(&code);
}

/* Everything that a function may be given, with `size` bytes or elements where it is large. */
static inline void operands_make(struct operands *o, struct meter *m, size_t size) {
    mwl_heap *h = m->heap;
    static const char *const texts[][4] = {
        {"letters", "", "x", ""},
        {"letters then y", "", "x", "y"},
        {"digits", "", "1", ""},
        {"zeros", "", "0", "1"},
        {"units", "", "1s", ""},
        {"ISO duration", "PT", "1", "S"},
        {"percents", "", "%%", ""},
        {"clauses", "", "%s", ""},
        {"hexadecimal clauses", "", "%x", ""},
        {"exponent clauses", "", "%e", ""},
        {"spaces", "", " ", ""},
        {"wide letters", "", "\xc3\xa9", ""},
        {"JSON lists", "[", "[],", "1]"},
        {"address", "1.1.1.1/", "1", ""},
        {"address v6", "", "1:", ""},
        {"class", "[", "\\pL", "]"},
        {"alternatives", "", "(a|b)*", ""},
        {"fraction", "1.", "3", "e-5"},
        {"date", "2024-01-01T00:00:00.", "1", "Z"},
        {"zone", "Europe/", "x", ""},
    };
    memset(o, 0, sizeof *o);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        operand_add(o, texts[i][0], true,
                    operand_text(h, size, texts[i][1], texts[i][2], texts[i][3]));
    operand_add(o, "bytes", true, operand_bytes(h, size));
    operand_add(o, "numbers", true, operand_numbers(h, size / 16));
    operand_add(o, "object", true, operand_object(h, size / 64));
    operand_add(o, "texts", true, operand_list(h, size / 16, mwl_string(h, "abc", 3)));
    operand_add(o, "large texts", true, operand_list(h, 16, operand_text(h, size, "", "x", "")));
    operand_add(o, "lists of large texts", true,
                operand_list(h, 16, operand_list(h, 1, operand_text(h, size, "", "x", ""))));
    operand_add(o, "shared tree", true, operand_shared(h, size));
    mwl_value old = operand_numbers(h, size / 16);
    mwl_value newer = mwl_array_push(h, mwl_value_keep(old), mwl_int(1));
    operand_add(o, "older version", true, old); /* what is appended to it needs a copy */
    operand_add(o, "newer version", true, newer);
    operand_add(o, "large bytes", true, operand_list(h, 16, operand_bytes(h, size)));
    operand_add(o, "optional", true, mwl__some(h, operand_numbers(h, size / 16)));
    operand_add(o, "type", false, mwl__type_new(h, "int", 3));
    operand_called(o, m, "address of net.IP", "ip('2001:db8::1')");
    operand_called(o, m, "range of net.CIDR", "cidr('2001:db8::/32')");
    operand_add(o, "large int", true, mwl_int((int64_t)size));
    operand_add(o, "int", false, mwl_int(1));
    operand_add(o, "uint", false, mwl_uint(1));
    operand_add(o, "double", false, mwl_number(1.5));
    operand_add(o, "bool", false, mwl_bool(true));
    operand_add(o, "null", false, mwl_null());
    operand_add(o, "text", false, mwl_string(h, "x", 1));
    operand_add(o, "empty text", false, mwl_string(h, "", 0));
    operand_add(o, "duration", false, mwl_duration(1000000000));
    operand_add(o, "timestamp", false, mwl_timestamp(1700000000, 0));
    operand_add(o, "empty list", false, mwl_array(h, 0));
}

static inline void operands_free(struct operands *o, mwl_heap *h) {
    for (size_t i = 0; i < o->n; i++) mwl_value_drop(h, o->at[i].v);
}

#endif
