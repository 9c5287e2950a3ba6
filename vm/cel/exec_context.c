/* exec_context.c: the context of the interpreter loop, and the faults that it raises.
 *
 * Owns: the memory of the registers, and how a fault and its message are made. Refuses to know:
 * instructions (exec.c). */
#include "vm/cel/exec_context.h"
#include "vm/base/utf8.h"
#include "vm/cel/ops.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- the context ----------------------------------------------------------------------------- */

/* A long copy in the heap, while a turn is under way and a bound is around. */
static bool copy_is_late(void *ctx) {
    mwl__exec *x = ctx;
    return x->poll != INT64_MIN && mwl__exec_poll(x);
}

mwl_status mwl__exec_init(mwl__exec *x, mwl_heap *heap) {
    memset(x, 0, sizeof *x);
    x->heap = heap;
    if (heap && !heap->late) {
        heap->late = copy_is_late;
        heap->late_ctx = x;
    }
    x->slice = INT64_MAX;
    x->poll = INT64_MIN;
    x->budget = UINT64_MAX;
    x->fault = x->product = mwl_absent();
    return MWL_OK;
}

void mwl__exec_done(mwl__exec *x) {
    if (!x->heap) return; /* it was never initialised */
    mwl__exec_clear(x, x->n_regs);
    mwl__drop(x->heap, x->fault);
    mwl__drop(x->heap, x->product);
    x->fault = x->product = mwl_absent();
    mwl__mem_free(&x->heap->alloc, x->regs, x->n_regs * sizeof *x->regs);
    x->regs = NULL;
    x->n_regs = 0;
    mwl__regex_scratch_free(x->regex);
    x->regex = NULL;
    if (x->heap->late_ctx == x) x->heap->late = NULL;
    for (mwl__linked *next; x->own; x->own = next) {
        next = x->own->next;
        mwl__linked_free(x->heap, x->own);
    }
    x->linked = NULL;
}

/* The form of x->program becomes the first of x->own. NULL: out of memory. */
MWL__OUTLINE static mwl__linked *own_link(mwl__exec *x, mwl__labels_fn *labels) {
    enum { KEPT = 16 };
    mwl__linked **at = &x->own, **last = at;
    unsigned n = 0;
    for (; *at && (*at)->program != x->program; at = &(*at)->next, n++) last = at;
    mwl__linked *found = *at;
    if (found) {
        *at = found->next;
    } else if (n >= KEPT) { /* the one that was not used longest makes room */
        mwl__linked_free(x->heap, *last);
        *last = NULL;
    }
    if (!found) found = mwl__linked_new(x->heap, x->program, NULL, labels);
    if (!found) return NULL;
    found->next = x->own;
    return x->own = found;
}

mwl_status mwl__exec_link(mwl__exec *x, mwl__labels_fn *labels) {
    mwl__linked *l = x->own && x->own->program == x->program ? x->own : own_link(x, labels);
    if (!l) return MWL_E_NOMEM;
    x->linked = l;
    x->root = (const char *)x->env;
    if (x->n_env >= x->program->n_env) return MWL_OK;
    for (uint32_t i = 0; i < x->program->n_env; i++)
        l->env[i] = i < x->n_env ? x->env[i] : mwl_absent();
    x->root = (const char *)l->env;
    return MWL_OK;
}

bool mwl__exec_poll(mwl__exec *x) {
    int64_t now;
    mwl__exec_watch(x);
    x->late = x->frame && x->context->bound_in(x, &now) <= 0;
    return x->late;
}

uint64_t mwl__exec_lend_more(mwl__exec *x, uint64_t before) {
    int64_t now, left_ns = x->context->bound_in(x, &now);
    uint64_t more = before < UINT64_MAX / 8 ? before * 4 : UINT64_MAX;
    if (x->tried_ns && left_ns < INT64_MAX && now > x->tried_ns) {
        double rate = (double)before / (double)(now - x->tried_ns), most = rate * (double)left_ns;
        if (most < (double)more) more = (uint64_t)most + MWL_SLICE;
    }
    x->tried_ns = now;
    return more < x->budget ? more : x->budget;
}

mwl_status mwl__exec_reserve(mwl__exec *x, uint32_t n_regs) {
    if (n_regs <= x->n_regs) return MWL_OK;
    size_t cap = x->n_regs;
    mwl_status status =
        mwl__mem_grow(&x->heap->alloc, (void **)&x->regs, &cap, n_regs, sizeof *x->regs);
    if (status != MWL_OK) return status;
    for (size_t i = x->n_regs; i < cap; i++) x->regs[i] = mwl_null();
    x->n_regs = (uint32_t)cap;
    return MWL_OK;
}

void mwl__exec_clear_owned(mwl__exec *x, mwl_value *reg) {
    mwl_value v = *reg;
    reg->tag = MWL_KIND_NULL;
    mwl__drop(x->heap, v);
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* A fault is a message and two records, which no size of an operand shows. An expression can absorb
 * faults without end (`||`, `&&`), so each is charged; if that is more than is left, the next
 * charge ends the run. */
static void charge_fault(mwl__exec *x) {
    enum { UNITS = 16 };
    x->slice -= UNITS;
    if (x->budget != UINT64_MAX) x->budget -= x->budget < UNITS ? x->budget : UNITS;
}

bool mwl__exec_raise(mwl__exec *x, mwl__failure_code code, const char *format, ...) {
    char text[600];
    charge_fault(x);
    va_list args;
    va_start(args, format);
    if (vsnprintf(text, sizeof text, format, args) < 0) text[0] = '\0';
    va_end(args);
    mwl__drop(x->heap, x->fault);
    /* some formats cut keys at a number of bytes, which may be inside a character: repaired */
    x->fault = mwl__fault_new(x->heap, code, x->pc, mwl__message(x->heap, text), mwl_null());
    x->halt = mwl_is_absent(x->fault) ? MWL_EXEC_NOMEM : MWL_EXEC_FAULT;
    return false;
}

void mwl__exec_raise_detail(mwl__exec *x, const char *name, mwl_value take) {
    mwl_heap *h = x->heap;
    if (mwl_value_kind(x->fault) != MWL_KIND_FAULT || mwl_is_absent(take)) {
        mwl__drop(h, take);
        return;
    }
    mwl__fault *f = mwl__as_fault(x->fault);
    mwl_value old = f->details;
    mwl_value base = mwl_value_kind(old) == MWL_KIND_OBJECT ? mwl__keep(old) : mwl__map_new(h, 2);
    mwl_value with = mwl__map_put(h, base, mwl__str_new(h, name, strlen(name)), take);
    if (mwl_is_absent(with)) return;
    f->details = with;
    mwl__drop(h, old);
}

bool mwl__exec_heap_failed(mwl__exec *x) {
    if (x->heap->why == MWL_E_DEPTH)
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "values nested more than %d deep",
                               MWL_DEPTH_LIMIT);
    x->halt = MWL_EXEC_NOMEM;
    return false;
}

void mwl__exec_locate(mwl__exec *x) {
    const mwl_program *p = x->program;
    const mwl__fault *f = mwl__as_fault(x->fault);
    mwl__where w;
    if (f->code == MWL_FAILURE_PARAMETER) return; /* arguments are not an expression */
    if (!p->source || !mwl__program_where(p, f->where, f->sub, &w)) return;
    if (w.offset > p->source_size || w.len > p->source_size - w.offset || w.len == 0) return;
    size_t len = w.len < 200 ? w.len : 200;
    len = mwl__utf8_valid_prefix(p->source + w.offset, len);
    mwl__exec_raise_detail(x, "expression", mwl__str_new(x->heap, p->source + w.offset, len));
}
