/* cel_loop.c: translates comprehensions into loops, and the macros that bind variables.
 *
 * Every loop has the same form, in one register window:
 *
 *           ITER i, range
 *           JUMP next
 *     body: ...               i+2, i+3: the variables
 *     next: NEXT i, body
 *
 * `all` and `exists` absorb faults as && and || do: faults of the body go to an instruction after
 * it, which keeps the first one and continues. It is raised if the range ends without a
 * decision. */
#include "assembler/cel/cel_lowerer.h"

#define abc mwl__cel_lower_abc
#define ax mwl__cel_lower_ax
#define take mwl__cel_lower_take
#define into mwl__cel_lower_into

typedef struct loop {
    unsigned it;
    uint32_t body;
    uint32_t to_next[2]; /* jumps to NEXT: the one before the body, and a filter's */
    unsigned n_to_next;
} loop;

static loop begin_loop(lowerer *l, const mwl__cel_node *n, unsigned range) {
    loop p;
    p.it = take(l, n, 4);
    abc(l, n->kids[0], MWL_OP_ITER, p.it, range, 0);
    for (uint32_t i = 0; i < n->n_vars; i++) {
        mwl__cel_local *v = &l->locals[n->vars[i].slot];
        v->reg = (uint16_t)(p.it + 2 + i);
        v->may_fault = false;
    }
    p.body = 0;
    p.n_to_next = 0;
    return p;
}

/* Begins the loop. Code that must run before the first round comes before this. */
static void begin_body(lowerer *l, const mwl__cel_node *n, loop *p) {
    p->to_next[p->n_to_next++] = ax(l, n, MWL_OP_JUMP, 0, 0);
    p->body = mwl__emit_here(l->e);
}

/* Jumps to the next element if the test in t demands it. */
static void skip(lowerer *l, const mwl__cel_node *test, loop *p, mwl__op op, unsigned t) {
    p->to_next[p->n_to_next++] = ax(l, test, op, t, 0);
}

static void end_loop(lowerer *l, const mwl__cel_node *n, const loop *p) {
    uint32_t next = ax(l, n, n->n_vars == 2 ? MWL_OP_NEXT2 : MWL_OP_NEXT, p->it, p->body);
    for (unsigned i = 0; i < p->n_to_next; i++) mwl__emit_patch(l->e, p->to_next[i], next);
}

/* The body with an optional filter: kids 1 and 2, or kid 1 alone. */
static const mwl__cel_node *filtered(lowerer *l, const mwl__cel_node *n, loop *p, unsigned t) {
    if (!(n->flags & MWL__CEL_FILTERED)) return n->kids[1];
    into(l, n->kids[1], t);
    skip(l, n->kids[1], p, MWL_OP_JUMP_UNLESS, t);
    return n->kids[2];
}

static void quantifier(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned src) {
    bool is_all = n->kind == MWL__CEL_ALL;
    uint32_t k_neutral = mwl__emit_const(l->e, mwl_bool(is_all));
    uint32_t k_decided = mwl__emit_const(l->e, mwl_bool(!is_all));
    loop p = begin_loop(l, n, src);
    unsigned t = take(l, n, 1);
    ax(l, n, MWL_OP_LOAD_K, d, k_neutral);
    begin_body(l, n, &p);
    uint32_t begin = mwl__emit_here(l->e);
    into(l, n->kids[1], t);
    skip(l, n->kids[1], &p, is_all ? MWL_OP_JUMP_IF : MWL_OP_JUMP_UNLESS, t);
    uint32_t end = mwl__emit_here(l->e);
    ax(l, n, MWL_OP_LOAD_K, d, k_decided);
    uint32_t out = ax(l, n, MWL_OP_JUMP, 0, 0);
    mwl__emit_handler(l->e, begin, end, mwl__emit_here(l->e), t, MWL_HANDLER_EXPR);
    abc(l, n, is_all ? MWL_OP_AND : MWL_OP_OR, d, d, t);
    end_loop(l, n, &p);
    abc(l, n, MWL_OP_RAISE_IF, d, 0, 0);
    mwl__emit_patch(l->e, out, mwl__emit_here(l->e));
}

static void exists_one(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned src) {
    mwl_value one = mwl_int(1);
    uint32_t k = mwl__emit_const(l->e, one);
    loop p = begin_loop(l, n, src);
    unsigned t = take(l, n, 2), count = t + 1;
    ax(l, n, MWL_OP_LOAD_INT, count, 0);
    begin_body(l, n, &p);
    into(l, n->kids[1], t);
    skip(l, n->kids[1], &p, MWL_OP_JUMP_UNLESS, t);
    if (k > 0xffffu) {
        mwl__cel_lower_fail(l, n, "too many constants for exists_one()");
        return;
    }
    abc(l, n, MWL_OP_ADD_K, count, count, k);
    end_loop(l, n, &p);
    abc(l, n, MWL_OP_EQ_K, d, count, k);
}

static void filter(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned src) {
    loop p = begin_loop(l, n, src);
    unsigned t = take(l, n, 1);
    ax(l, n, MWL_OP_NEW_LIST, d, 0);
    begin_body(l, n, &p);
    into(l, n->kids[1], t);
    skip(l, n->kids[1], &p, MWL_OP_JUMP_UNLESS, t);
    abc(l, n, MWL_OP_LIST_PUSH, d, p.it + 2,
        0); /* an element is borrowed; storing it makes a counted reference */
    end_loop(l, n, &p);
}

static void transform_list(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned src) {
    loop p = begin_loop(l, n, src);
    unsigned t = take(l, n, 1);
    if (n->flags & MWL__CEL_FILTERED)
        ax(l, n, MWL_OP_NEW_LIST, d, 0);
    else
        abc(l, n, MWL_OP_NEW_LIST_LIKE, d, p.it, 0);
    begin_body(l, n, &p);
    into(l, filtered(l, n, &p, t), t);
    abc(l, n, MWL_OP_LIST_PUSH, d, t, 0);
    end_loop(l, n, &p);
}

static void transform_map(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned src) {
    loop p = begin_loop(l, n, src);
    unsigned t = take(l, n, 2);
    ax(l, n, MWL_OP_NEW_MAP, d, 0);
    begin_body(l, n, &p);
    into(l, filtered(l, n, &p, t), t);
    if (n->kind == MWL__CEL_TRANSFORM_ENTRY) {
        abc(l, n, MWL_OP_MAP_MERGE, d, t, 0);
    } else {
        abc(l, n, MWL_OP_MOVE, t + 1, p.it + 2, 0);
        abc(l, n, MWL_OP_MAP_PUT, d, t + 1, t);
    }
    end_loop(l, n, &p);
}

/* The keys are collected first; then "@sortByKeys"(list, keys). */
static void sort_by(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned src) {
    unsigned list = take(l, n, 2), keys = list + 1;
    abc(l, n, src == d ? MWL_OP_TAKE : MWL_OP_MOVE, list, src, 0);
    loop p = begin_loop(l, n, list);
    unsigned t = take(l, n, 1);
    abc(l, n, MWL_OP_NEW_LIST_LIKE, keys, p.it, 0);
    begin_body(l, n, &p);
    into(l, n->kids[1], t);
    abc(l, n, MWL_OP_LIST_PUSH, keys, t, 0);
    end_loop(l, n, &p);
    mwl__cel_lower_call(l, n, "@sortByKeys", d, list, 2, false);
}

static void with_optional(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned src) {
    if (src != d) abc(l, n, MWL_OP_MOVE, d, src, 0);
    uint32_t out = ax(l, n, MWL_OP_OPT_TEST, d, 0);
    unsigned v = take(l, n, 2), t = v + 1;
    l->locals[n->vars[0].slot].reg = (uint16_t)v;
    l->locals[n->vars[0].slot].may_fault = false;
    abc(l, n, MWL_OP_OPT_GET, v, d, 0);
    if (n->kind == MWL__CEL_OPT_MAP) {
        into(l, n->kids[1], t);
        abc(l, n, MWL_OP_OPT_OF, d, t, 0);
    } else {
        into(l, n->kids[1], d);
    }
    mwl__emit_patch(l->e, out, mwl__emit_here(l->e));
}

void mwl__cel_lower_loop(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned src) {
    switch (n->kind) {
    case MWL__CEL_ALL:
    case MWL__CEL_EXISTS: quantifier(l, n, d, src); break;
    case MWL__CEL_EXISTS_ONE: exists_one(l, n, d, src); break;
    case MWL__CEL_FILTER: filter(l, n, d, src); break;
    case MWL__CEL_TRANSFORM_LIST: transform_list(l, n, d, src); break;
    case MWL__CEL_TRANSFORM_MAP:
    case MWL__CEL_TRANSFORM_ENTRY: transform_map(l, n, d, src); break;
    case MWL__CEL_SORT_BY: sort_by(l, n, d, src); break;
    default: with_optional(l, n, d, src); break;
    }
}

/* Initialisers run once, in order, before the body. But the fault of an initialiser is raised where
 * its variable is used, as if it were evaluated there: `cel.bind(x, 1 / 0, true || x > 0)` is
 * true. */
void mwl__cel_lower_bind(lowerer *l, const mwl__cel_node *n, unsigned d) {
    uint32_t n_init = n->n_kids - 1;
    for (uint32_t i = 0; i < n_init && i < n->n_vars; i++) {
        const mwl__cel_node *init = n->kids[i];
        mwl__cel_local *v = &l->locals[n->vars[i].slot];
        if (n->vars[i].n_uses == 0) continue;
        unsigned r = take(l, n, 1);
        v->reg = (uint16_t)r;
        v->may_fault = !init->note;
        uint32_t begin = mwl__emit_here(l->e);
        into(l, init, r);
        uint32_t end = mwl__emit_here(l->e);
        if (v->may_fault) mwl__emit_handler(l->e, begin, end, end, r, MWL_HANDLER_EXPR);
    }
    into(l, n->kids[n_init], d);
}
