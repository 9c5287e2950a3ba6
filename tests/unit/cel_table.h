/* cel_table.h: tables of function calls. Each call is made normally, with little fuel and with
 * failing allocations.
 *
 * A row has the name of a function and its arguments as a CEL list. The call is made normally, with
 * every small amount of fuel, and with each of its allocations failing in turn. The result must be
 * that of the row, or the right error, and nothing may be left on the heap. */
#ifndef CEL_TABLE_H
#define CEL_TABLE_H

#include "tools/base/tool_functions.h"
#include "assembler/cel/cel.h"
#include "tests/unit/faulty.h"

struct row {
    const char *fn, *args;
    const char *want; /* as mwl__cel_write shows it; NULL: a fault */
};

struct table {
    struct faulty faulty;
    mwl_alloc alloc;
    mwl_heap *heap;
    mwl__functions functions;
    mwl__exec x;
    mwl__zones zones;
};

static inline bool table_open(struct table *t) {
    memset(t, 0, sizeof *t);
    t->alloc = faulty_alloc(&t->faulty);
    mwl__functions_init(&t->functions, &t->alloc);
    if (mwl_heap_new(&t->alloc, &t->heap) != MWL_OK) return false;
    if (mwl__exec_init(&t->x, t->heap) != MWL_OK) return false;
    mwl__zones_init(&t->zones, t->alloc, NULL, NULL);
    t->x.zones = &t->zones;
    t->x.pin = (mwl__clock_pin){1700000000, 5};
    return tool_add_functions(&t->functions) == MWL_OK;
}

static inline bool table_close(struct table *t) {
    t->x.zones = NULL;
    mwl__exec_done(&t->x);
    mwl__zones_free(&t->zones);
    mwl__functions_done(&t->functions);
    mwl_heap_free(t->heap);
    return t->faulty.live_blocks == 0 && !t->faulty.wrong;
}

enum { TABLE_NO_FUNCTION = 100 };

/* Makes one call. Returns its mwl__outcome; the text of the result is in `got`. */
static inline int table_call(struct table *t, const char *name, mwl_value list, char *got,
                             size_t size) {
    mwl_value args[8], out = mwl_absent();
    size_t n = mwl_count(list), len = strlen(name);
    const mwl_function_def *def = mwl__functions_find(&t->functions, name, len, n, false);
    if (!def) def = mwl__functions_find(&t->functions, name, len, n, true);
    got[0] = '\0';
    if (!def || n > 8) return TABLE_NO_FUNCTION;
    for (size_t i = 0; i < n; i++) args[i] = mwl_array_at(list, i);
    t->x.halt = MWL_EXEC_END;
    if (mwl__functions_call(&t->x, def, args, n, &out)) {
        size_t fail_at = t->faulty.fail_at;
        t->faulty.fail_at = 0;
        mwl__buf b = mwl__buf_make(mwl_alloc_default());
        mwl__cel_write(&b, out);
        snprintf(got, size, "%s", mwl__buf_cstr(&b));
        mwl__buf_free(&b);
        mwl_value_drop(t->heap, out);
        t->faulty.fail_at = fail_at;
    }
    if (mwl_value_kind(t->x.fault) == MWL_KIND_FAULT) {
        snprintf(got, size, "%s", mwl__as_str(mwl__as_fault(t->x.fault)->message)->s);
        mwl_value_drop(t->heap, t->x.fault);
    }
    t->x.fault = mwl_null();
    return t->x.halt;
}

static inline bool table_row(struct table *t, const struct row *r) {
    char got[1000], again[1000];
    mwl__cel_env env = {.alloc = &t->alloc, .functions = &t->functions, .no_check = true};
    mwl__cel_code code;
    mwl_value list = mwl_absent();
    if (mwl__cel_compile(&env, r->args, strlen(r->args), &code) != MWL_OK) {
        printf("not compiled: %s\n", r->args);
        return false;
    }
    if (mwl__cel_eval(&code, &t->x, NULL, 0, &list) != MWL_EXEC_END) return false;
    mwl__regex_scratch_free(t->x.regex);
    t->x.regex = NULL;
    size_t before = mwl_heap_used(t->heap);
    int wanted = r->want ? MWL_EXEC_END : MWL_EXEC_FAULT;
    int outcome = table_call(t, r->fn, list, got, sizeof got);
    bool ok = outcome == wanted && (!r->want || strcmp(got, r->want) == 0);
    for (uint64_t fuel = 0; ok && fuel < 64; fuel++) {
        t->x.budget = fuel;
        outcome = table_call(t, r->fn, list, again, sizeof again);
        ok = outcome == MWL_EXEC_FUEL || (outcome == wanted && strcmp(got, again) == 0);
    }
    t->x.budget = UINT64_MAX;
    for (size_t k = 1; ok && k < 200; k++) {
        t->faulty.fail_at = t->faulty.calls + k;
        outcome = table_call(t, r->fn, list, again, sizeof again);
        bool reached = t->faulty.calls >= t->faulty.fail_at;
        t->faulty.fail_at = 0;
        ok = outcome == MWL_EXEC_NOMEM || (outcome == wanted && strcmp(got, again) == 0);
        if (!reached) break;
    }
    mwl__regex_scratch_free(t->x.regex); /* a cache of the context, which the heap counts */
    t->x.regex = NULL;
    if (mwl_heap_used(t->heap) != before) ok = false;
    mwl_value_drop(t->heap, list);
    mwl__cel_free(&code);
    if (!ok) printf("%s%s: outcome %d, got %s | %s\n", r->fn, r->args, outcome, got, again);
    return ok;
}

static inline bool table_rows(const struct row *rows, size_t n) {
    struct table t;
    bool ok = table_open(&t);
    for (size_t i = 0; ok && i < n; i++)
        if (!table_row(&t, &rows[i])) ok = false;
    return table_close(&t) && ok;
}

#define TABLE(suite, name, ...)                                                                    \
    UTEST(suite, name) {                                                                           \
        static const struct row rows[] = {__VA_ARGS__};                                            \
        ASSERT_TRUE(table_rows(rows, sizeof rows / sizeof *rows));                                 \
    }

#endif
