/* functions.c: the registry of functions, linking, and the mwl_fn_* functions of the extension API.
 *
 * Owns: how a name, a style and a number of arguments select a definition. Refuses to know: what
 * any function does. */
#include "vm/cel/functions.h"
#include "vm/base/hash.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- the registry ---------------------------------------------------------------------------- */

void mwl__functions_init(mwl__functions *f, const mwl_alloc *alloc) {
    memset(f, 0, sizeof *f);
    f->alloc = alloc ? *alloc : mwl_alloc_default();
}

void mwl__functions_done(mwl__functions *f) {
    mwl__mem_free(&f->alloc, f->defs, f->cap_defs * sizeof *f->defs);
    mwl__mem_free(&f->alloc, f->next, f->cap_next * sizeof *f->next);
    mwl__table_free(&f->names, &f->alloc);
    memset(f, 0, sizeof *f);
}

/* Returns the first def of a name + 1, or 0; then the probe is where the name would go. */
static uint32_t first_of(const mwl__functions *f, const char *name, size_t len, mwl__probe *probe) {
    *probe = mwl__probe_make(&f->names, mwl__hash_key(name, len));
    for (uint32_t i; mwl__table_next(&f->names, probe, &i);)
        if (strlen(f->defs[i]->name) == len && memcmp(f->defs[i]->name, name, len) == 0)
            return i + 1;
    return 0;
}

static bool overlap(const mwl_function_def *a, const mwl_function_def *b) {
    unsigned style = a->style & b->style & (MWL_FN_GLOBAL | MWL_FN_MEMBER);
    return style && a->min_args <= b->max_args && b->min_args <= a->max_args;
}

static mwl_status add_one(mwl__functions *f, const mwl_function_def *def) {
    if (!def->name || !def->call || !(def->style & (MWL_FN_GLOBAL | MWL_FN_MEMBER)) ||
        def->min_args > def->max_args)
        return MWL_E_USAGE;
    mwl_status status = mwl__table_reserve(&f->names, &f->alloc, f->n_defs + 1);
    if (status == MWL_OK)
        status = mwl__mem_grow(&f->alloc, (void **)&f->defs, &f->cap_defs, f->n_defs + 1,
                               sizeof *f->defs);
    if (status == MWL_OK)
        status = mwl__mem_grow(&f->alloc, (void **)&f->next, &f->cap_next, f->n_defs + 1,
                               sizeof *f->next);
    if (status != MWL_OK) return status;
    mwl__probe probe;
    uint32_t first = first_of(f, def->name, strlen(def->name), &probe), last = 0;
    for (uint32_t i = first; i; last = i, i = f->next[i - 1])
        if (overlap(f->defs[i - 1], def)) return MWL_E_DUPLICATE;
    uint32_t number = (uint32_t)f->n_defs++;
    f->defs[number] = def;
    f->next[number] = 0;
    if (last)
        f->next[last - 1] = number + 1;
    else
        mwl__table_put(&f->names, &probe, number);
    return MWL_OK;
}

mwl_status mwl__functions_add(mwl__functions *f, const mwl_function_def *defs, size_t n) {
    mwl_status status = MWL_OK;
    for (size_t i = 0; i < n && status == MWL_OK; i++) status = add_one(f, &defs[i]);
    return status;
}

const mwl_function_def *mwl__functions_find(const mwl__functions *f, const char *name, size_t len,
                                            size_t n_args, bool member) {
    unsigned style = member ? MWL_FN_MEMBER : MWL_FN_GLOBAL;
    mwl__probe probe;
    for (uint32_t i = first_of(f, name, len, &probe); i; i = f->next[i - 1]) {
        const mwl_function_def *def = f->defs[i - 1];
        if ((def->style & style) && n_args >= def->min_args &&
            (n_args <= def->max_args || def->max_args == 255))
            return def;
    }
    return NULL;
}

unsigned mwl__functions_styles(const mwl__functions *f, const char *name, size_t len) {
    unsigned styles = 0;
    mwl__probe probe;
    for (uint32_t i = first_of(f, name, len, &probe); i; i = f->next[i - 1])
        styles |= f->defs[i - 1]->style;
    return styles;
}

mwl_status mwl__functions_link(const mwl__functions *f, const mwl_alloc *alloc,
                               const mwl_program *p, const mwl_function_def ***out,
                               const char **missing) {
    *out = NULL;
    if (p->n_funcs == 0) return MWL_OK;
    const mwl_function_def **defs = mwl__mem_zero(alloc, p->n_funcs, sizeof *defs);
    if (!defs) return MWL_E_NOMEM;
    for (uint32_t i = 0; i < p->n_funcs; i++) {
        const mwl__func_rec *rec = &p->funcs[i];
        const mwl__str *name = mwl__as_str(p->consts[rec->name_k]);
        defs[i] = mwl__functions_find(f, name->s, name->len, rec->n_args, rec->member != 0);
        if (defs[i]) continue;
        if (missing) *missing = name->s;
        mwl__mem_free(alloc, defs, p->n_funcs * sizeof *defs);
        return MWL_E_NOT_FOUND;
    }
    *out = defs;
    return MWL_OK;
}

bool mwl__functions_call(mwl__exec *x, const mwl_function_def *def, const mwl_value *args,
                         size_t n_args, mwl_value *out) {
    mwl_fn fn = {x, def, args, n_args};
    if (!mwl__exec_charge(x, 1)) {
        x->halt = MWL_EXEC_FUEL;
        return false;
    }
    x->heap->why = MWL_OK;
    *out = def->call(&fn, args, n_args);
    if (!mwl__exec_settle(x) && x->halt == MWL_EXEC_END) x->halt = MWL_EXEC_FUEL;
    if (!mwl_is_absent(*out)) {
        if (x->halt == MWL_EXEC_END) return true;
        mwl__drop(x->heap, *out); /* it failed in the middle and did not notice */
        return false;
    }
    if (x->halt != MWL_EXEC_END) return false;
    mwl_status why = x->heap->why;
    if (why == MWL_E_UTF8 ||
        why == MWL_E_USAGE) /* a constructor refused what the function gave it */
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "%s() has made no value: %s", def->name,
                               mwl_status_text(why));
    return mwl__exec_heap_failed(x);
}

/* ---- the extension API ----------------------------------------------------------------------- */

mwl_heap *mwl_fn_heap(mwl_fn *fn) { return fn->x->heap; }

mwl_value mwl_fn_fail(mwl_fn *fn, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)mwl__exec_raise(fn->x, MWL_FAILURE_EXPRESSION, "%s", text);
    return mwl_absent();
}

mwl_value mwl_fn_no_overload(mwl_fn *fn) {
    char text[400];
    size_t len = 0, i = 0;
    bool member = !(fn->def->style & MWL_FN_GLOBAL) && fn->n_args;
    text[0] = '\0';
    if (member) {
        len = (size_t)snprintf(text, sizeof text, "%s.", mwl__type_name(fn->args[0]));
        i = 1;
    }
    if (len < sizeof text)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s(", fn->def->name);
    for (size_t first = i; i < fn->n_args && len < sizeof text; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i > first ? ", " : "",
                                mwl__type_name(fn->args[i]));
    (void)mwl__exec_raise(fn->x, MWL_FAILURE_EXPRESSION, "no such overload: %s)", text);
    return mwl_absent();
}

bool mwl_fn_charge(mwl_fn *fn, uint64_t n) {
    if (mwl__exec_charge(fn->x, n)) return true;
    fn->x->halt = MWL_EXEC_FUEL;
    return false;
}

mwl_value mwl_fn_now(mwl_fn *fn) {
    if (!fn->x->frame) return mwl_timestamp(fn->x->pin.sec, fn->x->pin.ns);
    int64_t ns = fn->x->context->now(fn->x), part = ns % 1000000000;
    if (part < 0) part += 1000000000;
    return mwl_timestamp((ns - part) / 1000000000, (uint32_t)part);
}

mwl_value mwl_fn_wall_time(mwl_fn *fn) {
    mwl__exec *x = fn->x;
    mwl__clock_pin t = x->wall ? x->wall(x->wall_ctx) : x->pin;
    return mwl_timestamp(t.sec, t.ns);
}
