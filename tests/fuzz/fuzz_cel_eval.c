/* Any bytes as an expression, evaluated: it ends within its fuel, in a value or a fault whose place
 * lies in the text; in slices it ends the same way; nothing is left in memory. */
#include "tools/base/tool_functions.h"
#include "assembler/cel/cel.h"

#include <stdlib.h>

static const char *const names[] = {"vars", "a"};
static const char vars_text[] = "{\"s\":\"text\",\"n\":5,\"l\":[1,2,{\"k\":[true,null]}],\"o\":{"
                                "\"k\":\"v\",\"z\":{}},\"t\":true}";

static mwl__functions *functions(void) {
    static mwl__functions f;
    if (f.n_defs == 0) {
        mwl__functions_init(&f, NULL);
        if (tool_add_functions(&f) != MWL_OK) abort();
    }
    return &f;
}

static void check_fault(const mwl__exec *x, size_t size) {
    const mwl__fault *f = mwl__as_fault(x->fault);
    mwl__where w;
    if (!mwl__program_where(x->program, f->where, f->sub, &w)) abort();
    if (w.offset > size || w.len > size - w.offset || w.line == 0 || w.column == 0) abort();
}

/* The outcome as text, in slices of `slice`. */
static mwl__buf outcome_of(const mwl__cel_code *code, mwl_heap *heap, const mwl_value *values,
                           int64_t slice, size_t size) {
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    mwl__zones zones;
    mwl__exec x;
    mwl_value out = mwl_absent();
    mwl__zones_init(&zones, mwl_alloc_default(), NULL, NULL);
    if (mwl__exec_init(&x, heap) != MWL_OK) abort();
    x.zones = &zones;
    x.budget = 200000;
    x.slice = slice;
    mwl__outcome outcome = mwl__cel_eval(code, &x, values, 2, &out);
    while (outcome == MWL_EXEC_YIELD) {
        x.slice = slice;
        outcome = mwl__cel_resume(&x, &out);
    }
    if (outcome == MWL_EXEC_END) {
        mwl__cel_write(&text, out);
        mwl_value_drop(heap, out);
    } else if (outcome == MWL_EXEC_FAULT) {
        check_fault(&x, size);
        mwl__buf_puts(&text, mwl__as_str(mwl__as_fault(x.fault)->message)->s);
    } else {
        mwl__buf_printf(&text, "outcome %d", (int)outcome);
    }
    mwl__exec_done(&x);
    mwl__zones_free(&zones);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const mwl__cel_env env = {.functions = functions(),
                              .vars = names,
                              .n_vars = 2,
                              .no_check = true,
                              .as_data = size % 2 == 0};
    mwl__cel_code code = {0};
    mwl_heap *heap = NULL;
    if (mwl__cel_compile(&env, (const char *)data, size, &code) != MWL_OK) return 0;
    if (mwl_heap_new(NULL, &heap) != MWL_OK) abort();
    mwl_heap_limit(heap, 64u << 20);
    mwl_value values[2] = {mwl_absent(), mwl_int(3)};
    if (mwl_json_parse(heap, vars_text, sizeof vars_text - 1, &values[0], NULL) != MWL_OK) abort();
    size_t before = mwl_heap_used(heap);
    mwl__buf whole = outcome_of(&code, heap, values, INT64_MAX, size);
    mwl__buf sliced = outcome_of(&code, heap, values, 7, size);
    if (whole.len != sliced.len || memcmp(whole.data, sliced.data, whole.len) != 0) abort();
    if (mwl_heap_used(heap) != before) abort();
    mwl__buf_free(&whole);
    mwl__buf_free(&sliced);
    mwl_value_drop(heap, values[0]);
    mwl_heap_free(heap);
    mwl__cel_free(&code);
    return 0;
}
