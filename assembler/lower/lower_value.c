/* lower_value.c: values into registers: constants, templates with expressions in their leaves,
 * assign.
 *
 * Registers are a stack: a value is computed into `d`, with registers from `top` on that are free
 * again afterwards. A subtree without expressions is one constant. DATA converts the value of an
 * expression to the data model, unless its tree shows that it is in the data model already.
 * Recursion is as deep as the definition is nested, which the reader limits (MWL_DEPTH_LIMIT). */
#include "assembler/lower/lower_impl.h"

#include <math.h>

/* ---- registers and constants ----------------------------------------------------------------- */

static unsigned take(mwl__lowerer *l, const mwl__node *n, unsigned count) {
    unsigned r = l->top;
    if (count > MWL_REGS_LIMIT - r) {
        mwl__lower_too_big(l, n, "this needs too many registers; split it up");
        return 0;
    }
    l->top += count;
    mwl__emit_regs(l->e, l->top);
    return r;
}

static uint32_t const_of(mwl__lowerer *l, mwl_value take_v) {
    if (mwl_is_absent(take_v)) {
        mwl__lower_fail(l, l->heap.why);
        return 0;
    }
    uint32_t k = mwl__emit_const(l->e, take_v);
    mwl__drop(&l->heap, take_v);
    return k;
}

uint32_t mwl__lower_const(mwl__lowerer *l, const mwl__node *n) {
    return const_of(l, mwl__node_value(&l->heap, n));
}

/* ---- expressions ----------------------------------------------------------------------------- */

/* Functions that always return a string or a boolean. */
static bool answers_data(mwl__cel_text name) {
    static const char *const names[] = {"string",   "toJson",           "startsWith", "endsWith",
                                        "contains", "matches",          "lowerAscii", "upperAscii",
                                        "trim",     "durationToIso8601"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == name.len && memcmp(names[i], name.data, name.len) == 0) return true;
    return false;
}

static bool yields_data(const mwl__cel_node *n);

static bool parts_are_data(const mwl__cel_node *n, uint32_t from, uint32_t stride) {
    if (n->flags & MWL__CEL_OPTIONAL) return false;
    for (uint32_t i = from; i < n->n_kids; i += stride)
        if (!yields_data(n->kids[i])) return false;
    return true;
}

static bool keys_are_text(const mwl__cel_node *map) {
    for (uint32_t i = 0; i < map->n_kids; i += 2)
        if (map->kids[i]->kind != MWL__CEL_LIT || map->kids[i]->lit.kind != MWL__CEL_STRING)
            return false;
    return true;
}

/* Is the value of the tree, if it has one, in the data model? Roots and their parts are, and tests
 * are booleans. */
static bool yields_data(const mwl__cel_node *n) {
    for (;;) {
        switch (n->kind) {
        case MWL__CEL_LIT:
            return n->lit.kind == MWL__CEL_NULL || n->lit.kind == MWL__CEL_BOOL ||
                   n->lit.kind == MWL__CEL_STRING ||
                   (n->lit.kind == MWL__CEL_DOUBLE && isfinite(n->lit.as.d));
        case MWL__CEL_IDENT: return n->ref == MWL__CEL_REF_VARIABLE;
        case MWL__CEL_SELECT:
            if (n->flags & MWL__CEL_TEST) return true; /* fall through */
        case MWL__CEL_INDEX:
            if (n->flags & MWL__CEL_OPTIONAL) return false;
            n = n->kids[0];
            continue;
        case MWL__CEL_NOT:
        case MWL__CEL_LT:
        case MWL__CEL_LE:
        case MWL__CEL_GT:
        case MWL__CEL_GE:
        case MWL__CEL_EQ:
        case MWL__CEL_NE:
        case MWL__CEL_IN:
        case MWL__CEL_AND:
        case MWL__CEL_OR:
        case MWL__CEL_ALL:
        case MWL__CEL_EXISTS:
        case MWL__CEL_EXISTS_ONE: return true;
        case MWL__CEL_FILTER: n = n->kids[0]; continue;
        case MWL__CEL_LIST: return parts_are_data(n, 0, 1);
        case MWL__CEL_MAP: return keys_are_text(n) && parts_are_data(n, 1, 2);
        case MWL__CEL_COND:
            if (!yields_data(n->kids[1])) return false;
            n = n->kids[2];
            continue;
        case MWL__CEL_CALL:
        case MWL__CEL_MEMBER: return answers_data(n->name);
        default: return false;
        }
    }
}

static void report(void *ctx, const mwl__cel_problem *problem) {
    mwl__lowerer *l = ctx;
    const mwl__m_expr *x = l->expr;
    if (problem->severity != MWL__CEL_ERROR || l->status != MWL_OK) return;
    mwl__node_report_text(l->model->tree, x->node, x->body_at + problem->begin,
                          x->body_at + problem->end, MWL_DIAG_EXPRESSION_TOO_LARGE, "%s",
                          problem->message);
    mwl__lower_fail(l, MWL_E_REJECTED);
}

/* An int literal is a number of the data model, unless it is beyond 2^53. */
static bool int_literal(mwl__lowerer *l, const mwl__m_expr *x, unsigned d) {
    const mwl__cel_node *n = x->tree.root;
    const int64_t exact = (int64_t)1 << 53;
    if (n->kind != MWL__CEL_LIT || n->lit.kind != MWL__CEL_INT) return false;
    if (n->lit.as.i > exact || n->lit.as.i < -exact) return false;
    mwl__lower_ax(l, x->node, MWL_OP_LOAD_K, d,
                  mwl__emit_const(l->e, mwl_number((double)n->lit.as.i)));
    return true;
}

static void expression(mwl__lowerer *l, const mwl__m_expr *x, unsigned d, bool as_data) {
    mwl__lower_reach(l, x);
    if (as_data && int_literal(l, x, d)) return;
    l->expr = x;
    uint64_t work = 0;
    mwl__cel_lowering o = {.alloc = &l->alloc,
                           .emit = l->e,
                           .functions = l->functions,
                           .resolve = mwl__lower_resolve,
                           .where = mwl__lower_where,
                           .ctx = l,
                           .dest = d,
                           .first = l->top,
                           .work = &work,
                           .sink = {report, l}};
    mwl_status status = mwl__cel_lower(&o, &x->tree);
    if (status < 0) mwl__lower_fail(l, status);
    if (!mwl__node_work(l->model->tree, x->node, x->tree.n_nodes * UINT64_C(8) + work * 2))
        mwl__lower_fail(l, MWL_E_REJECTED);
    if (as_data && !yields_data(x->tree.root)) mwl__lower_abc(l, x->node, MWL_OP_DATA, d, 0, 0);
}

int mwl__lower_known(const mwl__lowerer *l, const mwl__node *n) {
    if (n->kind == MWL_NODE_BOOL) return n->boolean;
    const mwl__m_expr *x = n->kind == MWL_NODE_STRING ? mwl__model_expr(l->model, n) : NULL;
    if (!x || x->tree.root->kind != MWL__CEL_LIT || x->tree.root->lit.kind != MWL__CEL_BOOL)
        return -1;
    return x->tree.root->lit.as.b;
}

/* ---- templates ------------------------------------------------------------------------------- */

/* Writes code for the values of a row: `count` children from `first` on, each in its register. */
static void fill(mwl__lowerer *l, const mwl__node *parent, unsigned first) {
    for (const mwl__node *c = mwl__node_first(parent); c; c = c->next)
        mwl__lower_value(l, c, first++);
}

static bool fits_row(const mwl__lowerer *l, const mwl__node *n) {
    return n->count <= MWL__LOWER_SPREAD && l->top + n->count <= MWL__LOWER_ROWS;
}

static void array(mwl__lowerer *l, const mwl__node *n, unsigned d) {
    if (fits_row(l, n)) {
        unsigned first = take(l, n, n->count);
        fill(l, n, first);
        mwl__lower_abc(l, n, MWL_OP_LIST_OF, d, first, n->count);
        return;
    }
    unsigned item = take(l, n, 1);
    mwl__lower_ax(l, n, MWL_OP_NEW_LIST, d, n->count);
    for (const mwl__node *c = mwl__node_first(n); c; c = c->next) {
        mwl__lower_value(l, c, item);
        mwl__lower_abc(l, c, MWL_OP_LIST_PUSH, d, item, 0);
    }
}

static void object(mwl__lowerer *l, const mwl__node *n, unsigned d) {
    if (fits_row(l, n)) {
        uint32_t keys[MWL__LOWER_SPREAD], n_keys = 0;
        for (const mwl__node *c = mwl__node_first(n); c; c = c->next)
            keys[n_keys++] = mwl__lower_name(l, c);
        uint32_t shape = mwl__emit_shape(l->e, keys, n_keys);
        if (mwl__emit_fits16(shape)) {
            unsigned first = take(l, n, n_keys);
            fill(l, n, first);
            mwl__lower_abc(l, n, MWL_OP_MAP_OF, d, first, shape);
            return;
        }
    }
    unsigned pair = take(l, n, 2);
    mwl__lower_ax(l, n, MWL_OP_NEW_MAP, d, n->count);
    for (const mwl__node *c = mwl__node_first(n); c; c = c->next) {
        mwl__lower_value(l, c, pair + 1);
        mwl__lower_ax(l, c, MWL_OP_LOAD_K, pair, mwl__lower_name(l, c));
        mwl__lower_abc(l, c, MWL_OP_MAP_PUT, d, pair, pair + 1);
    }
}

void mwl__lower_value(mwl__lowerer *l, const mwl__node *n, unsigned d) {
    if (l->status != MWL_OK) return;
    unsigned top = l->top;
    if (!mwl__model_computed(l->model, n))
        mwl__lower_ax(l, n, MWL_OP_LOAD_K, d, mwl__lower_const(l, n));
    else if (n->kind == MWL_NODE_STRING)
        expression(l, mwl__model_expr(l->model, n), d, true);
    else if (n->kind == MWL_NODE_ARRAY)
        array(l, n, d);
    else
        object(l, n, d);
    l->top = top;
}

void mwl__lower_field(mwl__lowerer *l, const mwl__node *n, mwl__op op) {
    unsigned top = l->top, d = take(l, n, 1);
    mwl__lower_value(l, n, d);
    mwl__lower_abc(l, n, op, d, 0, 0);
    l->top = top;
}

uint32_t mwl__lower_condition(mwl__lowerer *l, const mwl__node *n, mwl__op jump) {
    unsigned top = l->top, d = take(l, n, 1);
    const mwl__m_expr *x = n->kind == MWL_NODE_STRING ? mwl__model_expr(l->model, n) : NULL;
    if (x)
        expression(l, x, d, false);
    else
        mwl__lower_value(l, n, d);
    uint32_t pc = mwl__lower_ax(l, n, jump, d, 0);
    l->top = top;
    return pc;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_skipped(const mwl__node *c, const char *const *skip) {
    for (; skip && *skip; skip++)
        if (mwl__node_key_is(c, *skip)) return true;
    return false;
}

bool mwl__lower_row(mwl__lowerer *l, const mwl__node *object_node, const char *const *skip,
                    unsigned *first, uint32_t *shape) {
    uint32_t n = 0;
    for (const mwl__node *c = mwl__node_first(object_node); c; c = c->next)
        n += !is_skipped(c, skip);
    if (n > MWL__LOWER_ROWS) {
        mwl__lower_too_big(l, object_node, "this binds too many names at once");
        return false;
    }
    uint32_t *keys = mwl__mem_zero(&l->alloc, n ? n : 1, sizeof *keys);
    if (!keys) {
        mwl__lower_fail(l, MWL_E_NOMEM);
        return false;
    }
    *first = take(l, object_node, n);
    uint32_t i = 0;
    for (const mwl__node *c = mwl__node_first(object_node); c; c = c->next) {
        if (is_skipped(c, skip)) continue;
        keys[i] = mwl__lower_name(l, c);
        mwl__lower_value(l, c, *first + i++);
    }
    *shape = mwl__emit_shape(l->e, keys, n);
    mwl__mem_free(&l->alloc, keys, (n ? n : 1) * sizeof *keys);
    return l->status == MWL_OK;
}

void mwl__lower_assign(mwl__lowerer *l, const mwl__node *assign) {
    unsigned top = l->top, first;
    uint32_t shape;
    if (!assign || assign->count == 0) return;
    if (mwl__lower_row(l, assign, NULL, &first, &shape))
        mwl__lower_abc(l, assign, MWL_OP_ASSIGN, first, shape, 0);
    l->top = top;
}
