/* cel_fold.c: constant folding. See cel_fold.h.
 *
 * One walk from the leaves up, by the parent links, without recursion. Comprehensions are not
 * folded, because their work belongs to run time; nor is a call whose result would be large. */
#include "assembler/cel/cel_fold.h"

#include "vm/cel/ops.h"

/* How much work all calls of one expression may do while it is assembled; and how many nodes and
 * bytes the result of a call may have. A larger result is computed at run time instead of
 * stored. */
#define FOLD_FUEL 100000u
#define FOLD_NODES 1024u
#define FOLD_BYTES 4096u
#define FOLD_ARGS 16u
#define FOLD_DEPTH 16

mwl_status mwl__cel_fold_init(mwl__cel_fold *f, const mwl_alloc *alloc,
                              const mwl__functions *functions) {
    memset(f, 0, sizeof *f);
    mwl_status status = mwl__heap_init(&f->heap, alloc);
    if (status != MWL_OK) return status;
    status = mwl__exec_init(&f->x, &f->heap);
    f->x.budget = FOLD_FUEL;
    f->functions = functions;
    return status;
}

void mwl__cel_fold_done(mwl__cel_fold *f) {
    for (size_t i = 0; i < f->n; i++) mwl__drop(&f->heap, f->values[i]);
    mwl__mem_free(&f->heap.alloc, f->values, f->cap * sizeof *f->values);
    mwl__exec_done(&f->x);
    mwl__heap_done(&f->heap);
}

static void keep(mwl__cel_fold *f, mwl__cel_node *n, mwl_value take) {
    if (mwl_is_absent(take) || mwl__mem_grow(&f->heap.alloc, (void **)&f->values, &f->cap, f->n + 1,
                                             sizeof *f->values) != MWL_OK) {
        mwl__drop(&f->heap, take);
        f->failed = true;
        return;
    }
    f->values[f->n++] = mwl__own(take);
    n->note = (void *)(uintptr_t)f->n;
}

/* Stores the result of an operator: a constant, or nothing if it raised a fault, which is left to
 * run time. */
static void settle(mwl__cel_fold *f, mwl__cel_node *n, bool ok, mwl_value out) {
    if (ok) {
        keep(f, n, out);
        return;
    }
    if (f->x.halt == MWL_EXEC_NOMEM) f->failed = true;
    f->x.halt = MWL_EXEC_END;
    mwl__drop(&f->heap, f->x.fault);
    f->x.fault = mwl_absent();
}

static mwl_value value_of(const mwl__cel_fold *f, const mwl__cel_node *n) {
    return mwl__borrow(*mwl__cel_fold_get(f, n));
}

static bool all_constant(const mwl__cel_node *n) {
    for (uint32_t i = 0; i < n->n_kids; i++)
        if (!n->kids[i]->note) return false;
    return true;
}

static mwl_value literal(mwl_heap *h, const mwl__cel_lit *lit) {
    switch (lit->kind) {
    case MWL__CEL_BOOL: return mwl_bool(lit->as.b);
    case MWL__CEL_INT: return mwl_int(lit->as.i);
    case MWL__CEL_UINT: return mwl_uint(lit->as.u);
    case MWL__CEL_DOUBLE: return mwl_number(lit->as.d);
    case MWL__CEL_STRING: return mwl__str_new(h, lit->as.text, lit->len);
    case MWL__CEL_BYTES: return mwl_bytes(h, lit->as.text, lit->len);
    default: return mwl_null();
    }
}

static bool binary(mwl__cel_fold *f, const mwl__cel_node *n, mwl_value *out) {
    mwl__exec *x = &f->x;
    mwl_value a = value_of(f, n->kids[0]), b = value_of(f, n->kids[1]);
    bool is = false, ok;
    switch (n->kind) {
    case MWL__CEL_ADD: return mwl__arith_add(x, a, b, out);
    case MWL__CEL_SUB: return mwl__arith_sub(x, a, b, out);
    case MWL__CEL_MUL: return mwl__arith_mul(x, a, b, out);
    case MWL__CEL_DIV: return mwl__arith_div(x, a, b, out);
    case MWL__CEL_MOD: return mwl__arith_mod(x, a, b, out);
    case MWL__CEL_LT: ok = mwl__compare_order(x, MWL_LT, a, b, &is); break;
    case MWL__CEL_LE: ok = mwl__compare_order(x, MWL_LE, a, b, &is); break;
    case MWL__CEL_GT: ok = mwl__compare_order(x, MWL_GT, a, b, &is); break;
    case MWL__CEL_GE: ok = mwl__compare_order(x, MWL_GE, a, b, &is); break;
    case MWL__CEL_IN: ok = mwl__compare_in(x, a, b, &is); break;
    default:
        ok = mwl__compare_equal(x, a, b, &is);
        is = is == (n->kind == MWL__CEL_EQ);
        break;
    }
    *out = mwl_bool(is);
    return ok;
}

/* false && x is false, whatever x is. */
static void logic(mwl__cel_fold *f, mwl__cel_node *n) {
    bool is_or = n->kind == MWL__CEL_OR, all = true;
    for (uint32_t i = 0; i < n->n_kids; i++) {
        mwl_value v = n->kids[i]->note ? value_of(f, n->kids[i]) : mwl_null();
        bool is_bool = mwl_value_kind(v) == MWL_KIND_BOOL;
        if (is_bool && mwl_as_bool(v) == is_or) {
            keep(f, n, v);
            return;
        }
        all = all && is_bool;
    }
    if (all) keep(f, n, mwl_bool(!is_or));
}

static void conditional(mwl__cel_fold *f, mwl__cel_node *n) {
    if (!n->kids[0]->note) return;
    mwl_value c = value_of(f, n->kids[0]);
    if (mwl_value_kind(c) != MWL_KIND_BOOL) return;
    n->note = n->kids[mwl_as_bool(c) ? 1 : 2]->note;
}

static void list(mwl__cel_fold *f, mwl__cel_node *n) {
    mwl_value v = mwl__list_new(&f->heap, n->n_kids);
    for (uint32_t i = 0; i < n->n_kids && !mwl_is_absent(v); i++)
        v = mwl__list_push(&f->heap, v, mwl__keep(value_of(f, n->kids[i])));
    settle(f, n, !mwl_is_absent(v) || mwl__exec_heap_failed(&f->x), v);
}

static bool map(mwl__cel_fold *f, const mwl__cel_node *n, mwl_value *out) {
    mwl_value v = mwl__map_new(&f->heap, n->n_kids / 2);
    if (mwl_is_absent(v)) return mwl__exec_heap_failed(&f->x);
    for (uint32_t i = 0; i + 1 < n->n_kids; i += 2)
        if (!mwl__build_put(&f->x, &v, mwl__keep(value_of(f, n->kids[i])),
                            mwl__keep(value_of(f, n->kids[i + 1])))) {
            mwl__drop(&f->heap, v);
            return false;
        }
    *out = v;
    return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Returns whether the value can be a constant of a program and is not too large. */
static bool storable(mwl_value v, int depth) {
    switch (mwl_value_kind(v)) {
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES: return mwl__as_str(v)->len <= FOLD_BYTES;
    case MWL_KIND_OPTIONAL:
    case MWL_KIND_EXT:
    case MWL_KIND_FAULT: return false;
    case MWL_KIND_ARRAY:
        if (depth == 0 || mwl__value_weight(v) > FOLD_NODES) return false;
        for (uint32_t i = 0; i < v.aux; i++)
            if (!storable(mwl__as_list(v)->item[i], depth - 1)) return false;
        return true;
    case MWL_KIND_OBJECT:
        if (depth == 0 || mwl__value_weight(v) > FOLD_NODES) return false;
        for (uint32_t i = 0; i < v.aux; i++)
            if (!storable(mwl__as_map(v)->val[i], depth - 1)) return false;
        return true;
    default: return true;
    }
}

static void call(mwl__cel_fold *f, mwl__cel_node *n, const mwl_function_def *def,
                 const mwl_value *args, size_t n_args) {
    mwl_value out = mwl_absent();
    if (!def || (def->style & MWL_FN_IMPURE)) return;
    bool ok = mwl__functions_call(&f->x, def, args, n_args, &out);
    if (ok && !storable(out, FOLD_DEPTH))
        mwl__drop(&f->heap, out);
    else
        settle(f, n, ok, out);
}

static void call_node(mwl__cel_fold *f, mwl__cel_node *n) {
    mwl_value args[FOLD_ARGS];
    if (!f->functions || n->n_kids > FOLD_ARGS) return;
    for (uint32_t i = 0; i < n->n_kids; i++) args[i] = value_of(f, n->kids[i]);
    call(f, n,
         mwl__functions_find(f->functions, n->name.data, n->name.len, n->n_kids,
                             n->kind == MWL__CEL_MEMBER),
         args, n->n_kids);
}

static void message(mwl__cel_fold *f, mwl__cel_node *n) {
    if (!f->functions || (n->flags & MWL__CEL_OPTIONAL)) return;
    mwl_heap *h = &f->heap;
    mwl_value args[2] = {mwl__str_new(h, n->name.data, n->name.len), mwl__map_new(h, n->n_kids)};
    bool ok = !mwl_is_absent(args[0]) && !mwl_is_absent(args[1]);
    for (uint32_t i = 0; i < n->n_kids && ok; i++)
        ok = mwl__build_put(&f->x, &args[1], mwl__str_new(h, n->fields[i].data, n->fields[i].len),
                            mwl__keep(value_of(f, n->kids[i])));
    if (ok)
        call(f, n, mwl__functions_find(f->functions, "@message", 8, 2, false), args, 2);
    else
        settle(f, n, false, mwl_absent());
    mwl__drop(h, args[0]);
    mwl__drop(h, args[1]);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void fold_access(mwl__cel_fold *f, mwl__cel_node *n) {
    mwl_value of = value_of(f, n->kids[0]), out = mwl_absent();
    bool has = false, ok;
    if (n->flags & MWL__CEL_OPTIONAL) return;
    if (n->kind == MWL__CEL_INDEX) {
        ok = mwl__access_index(&f->x, of, value_of(f, n->kids[1]), &out);
    } else {
        mwl_value key = mwl__str_new(&f->heap, n->name.data, n->name.len);
        ok = !mwl_is_absent(key);
        if (!ok)
            f->x.halt = MWL_EXEC_NOMEM;
        else if (n->flags & MWL__CEL_TEST)
            ok = mwl__access_has(&f->x, of, key, &has), out = mwl_bool(has);
        else
            ok = mwl__access_select(&f->x, of, key, &out);
        mwl__drop(&f->heap, key);
    }
    settle(f, n, ok, out);
}

static void fold_node(mwl__cel_fold *f, mwl__cel_node *n) {
    mwl_value out = mwl_absent();
    n->note = NULL;
    switch (n->kind) {
    case MWL__CEL_LIT: keep(f, n, literal(&f->heap, &n->lit)); return;
    case MWL__CEL_IDENT:
        if (n->ref == MWL__CEL_REF_TYPE)
            keep(f, n, mwl__type_new(&f->heap, n->name.data, n->name.len));
        return;
    case MWL__CEL_AND:
    case MWL__CEL_OR: logic(f, n); return;
    case MWL__CEL_COND: conditional(f, n); return;
    default: break;
    }
    if (!all_constant(n)) return;
    bool ok = true;
    switch (n->kind) {
    case MWL__CEL_SELECT:
    case MWL__CEL_INDEX: fold_access(f, n); return;
    case MWL__CEL_CALL:
    case MWL__CEL_MEMBER: call_node(f, n); return;
    case MWL__CEL_MESSAGE: message(f, n); return;
    case MWL__CEL_LIST:
        if (!(n->flags & MWL__CEL_OPTIONAL)) list(f, n);
        return;
    case MWL__CEL_MAP:
        if (n->flags & MWL__CEL_OPTIONAL) return;
        ok = map(f, n, &out);
        break;
    case MWL__CEL_NOT:
        out = value_of(f, n->kids[0]);
        if (mwl_value_kind(out) != MWL_KIND_BOOL) return;
        out = mwl_bool(!mwl_as_bool(out));
        break;
    case MWL__CEL_NEG: ok = mwl__arith_neg(&f->x, value_of(f, n->kids[0]), &out); break;
    default:
        if (!mwl__cel_is_binary(n)) return;
        ok = binary(f, n, &out);
        break;
    }
    settle(f, n, ok, out);
}

mwl_status mwl__cel_fold_tree(mwl__cel_fold *f, const mwl__cel_tree *tree) {
    mwl__cel_node *n = tree->root;
    while (n->n_kids) n = n->kids[0];
    for (;;) {
        fold_node(f, n);
        if (f->failed) return MWL_E_NOMEM;
        if (n == tree->root) return MWL_OK;
        mwl__cel_node *up = n->parent;
        if (n->ix + 1 < up->n_kids) {
            n = up->kids[n->ix + 1];
            while (n->n_kids) n = n->kids[0];
        } else {
            n = up;
        }
    }
}
