/* cel_lower.c: translates a tree into instructions: names, paths, operators, calls, literals.
 *
 * Owns: register allocation. Registers are a stack: `dest` below, temporaries above, freed in
 * order. Loops and binding macros are in cel_loop.c.
 *
 * A left-deep chain is walked down its spine and translated on the way up, so recursion is as deep
 * as the height of the tree, which the parser limits. A register that an instruction takes over
 * (its row says "takes") is always a temporary, never that of a variable. */
#include "assembler/cel/cel_lowerer.h"

#define SPREAD                                                                                     \
    32u /* a literal of up to this many elements uses a register for each; a longer one is built   \
           element by element */
#define PATH_KEYS 64u

/* ---- emitting -------------------------------------------------------------------------------- */

static void record_where(lowerer *l, uint32_t pc, unsigned sub, const mwl__cel_node *n) {
    if (l->o->where)
        mwl__emit_where(l->e, pc, sub, l->o->where(l->o->ctx, n->begin, n->end, n->at));
}

uint32_t mwl__cel_lower_abc(lowerer *l, const mwl__cel_node *n, mwl__op op, unsigned a, unsigned b,
                            unsigned c) {
    uint32_t pc = mwl__emit_abc(l->e, op, a, b, c);
    record_where(l, pc, 0, n);
    return pc;
}

uint32_t mwl__cel_lower_ax(lowerer *l, const mwl__cel_node *n, mwl__op op, unsigned a, uint32_t x) {
    uint32_t pc = mwl__emit_ax(l->e, op, a, x);
    record_where(l, pc, 0, n);
    return pc;
}
#define abc mwl__cel_lower_abc
#define ax mwl__cel_lower_ax

void mwl__cel_lower_fail(lowerer *l, const mwl__cel_node *n, const char *message) {
    if (l->status != MWL_OK) return;
    l->status = MWL_E_TOO_BIG;
    const mwl__cel_problem problem = {.severity = MWL__CEL_ERROR,
                                      .begin = n->begin,
                                      .end = n->end,
                                      .message = message,
                                      .why = MWL__CEL_WHY_SIZE};
    if (l->o->sink.report) l->o->sink.report(l->o->sink.ctx, &problem);
}

unsigned mwl__cel_lower_take(lowerer *l, const mwl__cel_node *n, unsigned count) {
    unsigned r = l->top;
    if (count > MWL_REGS_LIMIT - l->top) {
        mwl__cel_lower_fail(l, n, "the expression needs too many registers; split it up");
        return 0;
    }
    l->top += count;
    if (l->top > l->max) l->max = l->top;
    return r;
}

static bool fits(lowerer *l, const mwl__cel_node *n, uint32_t index, const char *what) {
    if (index <= 0xffffu) return true;
    mwl__cel_lower_fail(l, n, what);
    return false;
}

static void load_constant(lowerer *l, const mwl__cel_node *n, mwl_value v, unsigned d) {
    if (mwl_value_kind(v) == MWL_KIND_INT && v.as.i >= INT32_MIN && v.as.i <= INT32_MAX)
        ax(l, n, MWL_OP_LOAD_INT, d, (uint32_t)(int32_t)v.as.i);
    else
        ax(l, n, MWL_OP_LOAD_K, d, mwl__emit_const(l->e, v));
}

static const mwl_value *constant(const lowerer *l, const mwl__cel_node *n) {
    return mwl__cel_fold_get(&l->fold, n);
}

static bool is_local(const lowerer *l, const mwl__cel_node *n) {
    return n->kind == MWL__CEL_IDENT && n->ref == MWL__CEL_REF_LOCAL && !constant(l, n);
}

/* Returns the register of a variable. Adds code that raises the fault which it may hold. */
static unsigned local(lowerer *l, const mwl__cel_node *n) {
    const mwl__cel_local *v = &l->locals[n->slot];
    if (v->may_fault) abc(l, n, MWL_OP_RAISE_IF, v->reg, 0, 0);
    return v->reg;
}

/* Returns a register with the value of the node: that of a variable, or `hint`, or (hint 0) a new
 * one. */
static unsigned operand(lowerer *l, const mwl__cel_node *n, unsigned hint) {
    if (is_local(l, n)) return local(l, n);
    unsigned r = hint ? hint - 1 : mwl__cel_lower_take(l, n, 1);
    mwl__cel_lower_into(l, n, r);
    return r;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Finds the member that the node selects, if that is a constant text. */
static bool member_of(const lowerer *l, const mwl__cel_node *n, mwl__cel_text *member) {
    if (n->kind == MWL__CEL_SELECT) {
        *member = n->name;
        return true;
    }
    if (n->kind != MWL__CEL_INDEX || (n->flags & MWL__CEL_OPTIONAL)) return false;
    const mwl_value *k = constant(l, n->kids[1]);
    if (!k || mwl_value_kind(*k) != MWL_KIND_STRING) return false;
    member->data = mwl__as_str(*k)->s;
    member->len = mwl__as_str(*k)->len;
    return true;
}

/* Translates a variable and the members selected from it, up to `limit`, into one instruction.
 * Returns the last node that it covers. */
static const mwl__cel_node *path(lowerer *l, const mwl__cel_node *variable,
                                 const mwl__cel_node *limit, unsigned d) {
    mwl__cel_text members[PATH_KEYS];
    const mwl__cel_node *nodes[PATH_KEYS], *n = variable;
    mwl__op op = MWL_OP_LOAD_PATH;
    size_t count = 0, used = 0;
    while (n != limit && count < PATH_KEYS && op == MWL_OP_LOAD_PATH &&
           member_of(l, n->parent, &members[count])) {
        n = n->parent;
        nodes[count++] = n;
        if (n->flags & MWL__CEL_TEST)
            op = MWL_OP_HAS_PATH;
        else if (n->flags & MWL__CEL_OPTIONAL)
            op = MWL_OP_OPT_PATH;
    }
    unsigned base = MWL_BASE_ENV + 0x7fffu; /* no slot: the code raises a fault */
    uint32_t keys[PATH_KEYS];
    if (variable->ref != MWL__CEL_REF_VARIABLE || !l->o->resolve ||
        !l->o->resolve(l->o->ctx, variable, members, count, &base, &used))
        used = 0;
    for (size_t i = used; i < count; i++)
        keys[i - used] = mwl__emit_string(l->e, members[i].data, members[i].len);
    uint32_t p = mwl__emit_path(l->e, base, keys, (unsigned)(count - used));
    uint32_t pc = ax(l, n, op, d, p);
    for (size_t i = used; i < count; i++) record_where(l, pc, (unsigned)(i - used + 1), nodes[i]);
    return n;
}

/* ---- operators ------------------------------------------------------------------------------- */

typedef struct operation {
    uint16_t reg, k,
        mirrored; /* instructions; NOP: does not exist. mirrored: k op x becomes x op' k */
} operation;

static operation operation_of(unsigned kind) {
    static const operation table[] = {
        [MWL__CEL_MUL] = {MWL_OP_MUL, MWL_OP_MUL_K, MWL_OP_NOP},
        [MWL__CEL_DIV] = {MWL_OP_DIV, MWL_OP_NOP, MWL_OP_NOP},
        [MWL__CEL_MOD] = {MWL_OP_MOD, MWL_OP_NOP, MWL_OP_NOP},
        [MWL__CEL_ADD] = {MWL_OP_ADD, MWL_OP_ADD_K, MWL_OP_NOP},
        [MWL__CEL_SUB] = {MWL_OP_SUB, MWL_OP_SUB_K, MWL_OP_NOP},
        [MWL__CEL_LT] = {MWL_OP_LT, MWL_OP_LT_K, MWL_OP_GT_K},
        [MWL__CEL_LE] = {MWL_OP_LE, MWL_OP_LE_K, MWL_OP_GE_K},
        [MWL__CEL_GT] = {MWL_OP_GT, MWL_OP_GT_K, MWL_OP_LT_K},
        [MWL__CEL_GE] = {MWL_OP_GE, MWL_OP_GE_K, MWL_OP_LE_K},
        [MWL__CEL_EQ] = {MWL_OP_EQ, MWL_OP_EQ_K, MWL_OP_EQ_K},
        [MWL__CEL_NE] = {MWL_OP_NE, MWL_OP_NE_K, MWL_OP_NE_K},
        [MWL__CEL_IN] = {MWL_OP_IN, MWL_OP_NOP, MWL_OP_NOP},
    };
    return table[kind];
}

/* `'a' == x` is translated as `x == 'a'` (comparisons raise the same faults in both orders). */
static bool is_mirrored(const lowerer *l, const mwl__cel_node *n) {
    return mwl__cel_is_binary(n) && operation_of(n->kind).mirrored != MWL_OP_NOP &&
           constant(l, n->kids[0]) && !constant(l, n->kids[1]);
}

static void mirrored(lowerer *l, const mwl__cel_node *n, unsigned d) {
    uint32_t k = mwl__emit_const(l->e, *constant(l, n->kids[0]));
    unsigned top = l->top, right = operand(l, n->kids[1], d + 1);
    if (k <= 0xffffu) {
        abc(l, n, (mwl__op)operation_of(n->kind).mirrored, d, right, k);
    } else {
        unsigned left = mwl__cel_lower_take(l, n, 1);
        ax(l, n, MWL_OP_LOAD_K, left, k);
        abc(l, n, (mwl__op)operation_of(n->kind).reg, d, left, right);
    }
    l->top = top;
}

static void binary(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned left) {
    operation op = operation_of(n->kind);
    const mwl_value *right = constant(l, n->kids[1]);
    if (right && op.k != MWL_OP_NOP) {
        uint32_t k = mwl__emit_const(l->e, *right);
        if (k <= 0xffffu) {
            abc(l, n, (mwl__op)op.k, d, left, k);
            return;
        }
    }
    unsigned top = l->top;
    abc(l, n, (mwl__op)op.reg, d, left, operand(l, n->kids[1], 0));
    l->top = top;
}

/* Returns the first register for consecutive values: dest itself if it is the topmost one. */
static unsigned row(lowerer *l, const mwl__cel_node *n, unsigned d) {
    return d + 1 == l->top ? d : mwl__cel_lower_take(l, n, 1);
}

/* ---- strings put together -------------------------------------------------------------------- */

static bool is_text(const lowerer *l, const mwl__cel_node *n) {
    const mwl_value *k = constant(l, n);
    return k && mwl_value_kind(*k) == MWL_KIND_STRING;
}

/* Returns the top of the chain of additions that begins with n, at most `limit`. *n_parts is how
 * many values it adds, and *has_text is whether one of them is a string literal. Then all must be
 * strings, because a string can only be added to a string. */
static const mwl__cel_node *addition_row(const lowerer *l, const mwl__cel_node *n,
                                         const mwl__cel_node *limit, uint32_t *n_parts,
                                         bool *has_text) {
    *n_parts = 2;
    *has_text = is_text(l, n->kids[0]) || is_text(l, n->kids[1]);
    while (n != limit && n->parent->kind == MWL__CEL_ADD) {
        n = n->parent;
        ++*n_parts;
        *has_text = *has_text || is_text(l, n->kids[1]);
    }
    return n;
}

/* Translates `'a' + x + 'b' + y` into one instruction; the first value is in src. */
static void concat(lowerer *l, const mwl__cel_node *n, uint32_t n_parts, unsigned d, unsigned src) {
    unsigned top = l->top, first = row(l, n, d);
    const mwl__cel_node *at = n;
    if (first != src) abc(l, n, src == d ? MWL_OP_TAKE : MWL_OP_MOVE, first, src, 0);
    for (uint32_t i = 1; i < n_parts && l->status == MWL_OK; i++, at = at->parent) {
        mwl__cel_lower_take(l, at, 1);
        mwl__cel_lower_into(l, at->kids[1], first + i);
    }
    uint32_t pc = abc(l, n, MWL_OP_CONCAT, d, first, n_parts);
    at = n;
    for (uint32_t i = 1; i < n_parts; i++, at = at->parent) record_where(l, pc, i, at);
    l->top = top;
}

/* ---- logic ----------------------------------------------------------------------------------- */

/* a && b: if an operand raises a fault, evaluation continues with the next operand, and the fault
 * is kept in its place. It is raised only if no operand decides. Without a fault this costs
 * nothing. */
static void logic(lowerer *l, const mwl__cel_node *n, unsigned d) {
    bool is_or = n->kind == MWL__CEL_OR;
    mwl__op leave = is_or ? MWL_OP_JUMP_IF : MWL_OP_JUMP_UNLESS;
    mwl__op test = is_or ? MWL_OP_OR_TEST : MWL_OP_AND_TEST;
    mwl__op both = is_or ? MWL_OP_OR : MWL_OP_AND, last = is_or ? MWL_OP_OR_END : MWL_OP_AND_END;
    unsigned top = l->top, t = mwl__cel_lower_take(l, n, 1);
    uint32_t *exits = mwl__mem_zero(&l->alloc, n->n_kids, sizeof *exits);
    if (!exits) {
        if (l->status == MWL_OK) l->status = MWL_E_NOMEM;
        return;
    }
    for (uint32_t i = 0; i < n->n_kids; i++) {
        unsigned r = i ? t : d;
        uint32_t begin = mwl__emit_here(l->e);
        mwl__cel_lower_into(l, n->kids[i], r);
        if (i == 0) exits[i] = ax(l, n->kids[i], leave, d, 0);
        uint32_t end = mwl__emit_here(l->e);
        mwl__emit_handler(l->e, begin, end, end, r, MWL_HANDLER_EXPR);
        if (i == 0) continue;
        abc(l, n, i + 1 < n->n_kids ? both : last, d, d, t);
        if (i + 1 < n->n_kids) exits[i] = ax(l, n, test, d, 0);
    }
    for (uint32_t i = 0; i + 1 < n->n_kids; i++)
        mwl__emit_patch(l->e, exits[i], mwl__emit_here(l->e));
    mwl__mem_free(&l->alloc, exits, n->n_kids * sizeof *exits);
    l->top = top;
}

static void conditional(lowerer *l, const mwl__cel_node *n, unsigned d) {
    const mwl_value *c = constant(l, n->kids[0]);
    if (c && mwl_value_kind(*c) == MWL_KIND_BOOL) {
        mwl__cel_lower_into(l, n->kids[mwl_as_bool(*c) ? 1 : 2], d);
        return;
    }
    unsigned r = operand(l, n->kids[0], d + 1);
    uint32_t to_else = ax(l, n->kids[0], MWL_OP_JUMP_UNLESS, r, 0);
    mwl__cel_lower_into(l, n->kids[1], d);
    uint32_t to_end = ax(l, n, MWL_OP_JUMP, 0, 0);
    mwl__emit_patch(l->e, to_else, mwl__emit_here(l->e));
    mwl__cel_lower_into(l, n->kids[2], d);
    mwl__emit_patch(l->e, to_end, mwl__emit_here(l->e));
}

/* ---- calls and literals ---------------------------------------------------------------------- */

/* Translates value i and the following ones; each goes to the topmost register. */
static void fill(lowerer *l, mwl__cel_node *const *kids, uint32_t from, uint32_t n, unsigned first,
                 uint32_t stride) {
    for (uint32_t i = from; i < n && l->status == MWL_OK; i++) {
        if (first + i >= l->top)
            mwl__cel_lower_take(l, kids[(size_t)i * stride], first + i + 1 - l->top);
        mwl__cel_lower_into(l, kids[(size_t)i * stride], first + i);
    }
}

void mwl__cel_lower_call(lowerer *l, const mwl__cel_node *n, const char *name, unsigned d,
                         unsigned first, uint32_t n_args, bool member) {
    if (!fits(l, n, n_args, "the call has too many arguments")) return;
    uint32_t f = mwl__emit_func(l->e, name, n_args, member);
    if (fits(l, n, f, "too many functions are called")) abc(l, n, MWL_OP_CALL_FN, d, first, f);
}

/* `matches` with a constant, valid pattern: it is compiled when the program is loaded. */
static bool match(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned subject,
                  bool is_lowered) {
    const mwl_value *pattern = n->n_kids == 2 ? constant(l, n->kids[1]) : NULL;
    if (!pattern || mwl_value_kind(*pattern) != MWL_KIND_STRING || n->name.len != 7 ||
        memcmp(n->name.data, "matches", 7) != 0)
        return false;
    const mwl__str *text = mwl__as_str(*pattern);
    mwl__regex *re = NULL;
    mwl_status status = mwl__regex_compile(&l->alloc, text->s, text->len, 0, l->o->work, &re, NULL);
    mwl__regex_free(re);
    if (status == MWL_E_NOMEM && l->status == MWL_OK) l->status = status;
    if (status != MWL_OK) return false;
    if (!is_lowered)
        mwl__cel_lower_into(l, n->kids[0], d);
    else if (subject != d)
        abc(l, n, MWL_OP_MOVE, d, subject, 0);
    ax(l, n, MWL_OP_MATCH, d, mwl__emit_regex(l->e, mwl__emit_const(l->e, *pattern)));
    return true;
}

static void global_call(lowerer *l, const mwl__cel_node *n, unsigned d) {
    if (match(l, n, d, 0, false)) return;
    unsigned top = l->top, first = row(l, n, d);
    fill(l, n->kids, 0, n->n_kids, first, 1);
    mwl__cel_lower_call(l, n, n->name.data, d, first, n->n_kids, false);
    l->top = top;
}

static void member_call(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned target) {
    if (match(l, n, d, target, true)) return;
    unsigned top = l->top, first = row(l, n, d);
    if (first != target) abc(l, n, target == d ? MWL_OP_TAKE : MWL_OP_MOVE, first, target, 0);
    fill(l, n->kids, 1, n->n_kids, first, 1);
    mwl__cel_lower_call(l, n, n->name.data, d, first, n->n_kids, true);
    l->top = top;
}

static void list_literal(lowerer *l, const mwl__cel_node *n, unsigned d) {
    unsigned top = l->top;
    if (n->n_kids <= SPREAD && !(n->flags & MWL__CEL_OPTIONAL)) {
        unsigned first = row(l, n, d);
        fill(l, n->kids, 0, n->n_kids, first, 1);
        abc(l, n, MWL_OP_LIST_OF, d, first, n->n_kids);
        l->top = top;
        return;
    }
    unsigned t = mwl__cel_lower_take(l, n, 1);
    ax(l, n, MWL_OP_NEW_LIST, d, n->n_kids);
    for (uint32_t i = 0; i < n->n_kids && l->status == MWL_OK; i++) {
        mwl__cel_lower_into(l, n->kids[i], t);
        abc(l, n->kids[i], n->kids[i]->optional ? MWL_OP_LIST_PUSH_OPT : MWL_OP_LIST_PUSH, d, t, 0);
    }
    l->top = top;
}

/* If all keys are different constant strings and there are few enough, the keys become a shape. */
static bool has_shape(const lowerer *l, const mwl__cel_node *n) {
    if (n->n_kids == 0 || n->n_kids > 2 * SPREAD || (n->flags & MWL__CEL_OPTIONAL)) return false;
    for (uint32_t i = 0; i < n->n_kids; i += 2) {
        const mwl_value *k = constant(l, n->kids[i]);
        if (!k || mwl_value_kind(*k) != MWL_KIND_STRING) return false;
        for (uint32_t j = 0; j < i; j += 2)
            if (mwl__str_same(*k, *constant(l, n->kids[j]))) return false;
    }
    return true;
}

static void map_literal(lowerer *l, const mwl__cel_node *n, unsigned d) {
    unsigned top = l->top;
    if (has_shape(l, n)) {
        uint32_t keys[SPREAD] = {0}, n_keys = n->n_kids / 2;
        for (uint32_t i = 0; i < n_keys; i++)
            keys[i] = mwl__emit_const(l->e, *constant(l, n->kids[(size_t)2 * i]));
        uint32_t shape = mwl__emit_shape(l->e, keys, n_keys);
        if (shape <= 0xffffu) {
            unsigned first = row(l, n, d);
            fill(l, n->kids + 1, 0, n_keys, first, 2);
            abc(l, n, MWL_OP_MAP_OF, d, first, shape);
            l->top = top;
            return;
        }
    }
    unsigned t = mwl__cel_lower_take(l, n, 2);
    ax(l, n, MWL_OP_NEW_MAP, d, n->n_kids / 2);
    for (uint32_t i = 0; i + 1 < n->n_kids && l->status == MWL_OK; i += 2) {
        mwl__cel_lower_into(l, n->kids[i], t);
        mwl__cel_lower_into(l, n->kids[i + 1], t + 1);
        abc(l, n->kids[i], n->kids[i]->optional ? MWL_OP_MAP_PUT_OPT : MWL_OP_MAP_PUT, d, t, t + 1);
    }
    l->top = top;
}

/* A well-known message is a call: "@message"(type name, map of the fields). */
static void message(lowerer *l, const mwl__cel_node *n, unsigned d) {
    unsigned top = l->top, first = mwl__cel_lower_take(l, n, 4), t = first + 2;
    ax(l, n, MWL_OP_LOAD_K, first, mwl__emit_string(l->e, n->name.data, n->name.len));
    ax(l, n, MWL_OP_NEW_MAP, first + 1, n->n_kids);
    for (uint32_t i = 0; i < n->n_kids && l->status == MWL_OK; i++) {
        const mwl__cel_text *field = &n->fields[i];
        ax(l, n, MWL_OP_LOAD_K, t, mwl__emit_string(l->e, field->data, field->len));
        mwl__cel_lower_into(l, n->kids[i], t + 1);
        abc(l, n->kids[i], n->kids[i]->optional ? MWL_OP_MAP_PUT_OPT : MWL_OP_MAP_PUT, first + 1, t,
            t + 1);
    }
    mwl__cel_lower_call(l, n, "@message", d, first, 2, false);
    l->top = top;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void select_member(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned of) {
    uint32_t k = mwl__emit_string(l->e, n->name.data, n->name.len);
    mwl__op op = n->flags & MWL__CEL_TEST       ? MWL_OP_HAS
                 : n->flags & MWL__CEL_OPTIONAL ? MWL_OP_SELECT_OPT
                                                : MWL_OP_SELECT;
    if (k <= 0xffffu) {
        abc(l, n, op, d, of, k);
    } else if (op == MWL_OP_HAS) {
        (void)fits(l, n, k, "too many constants for has()");
    } else {
        unsigned top = l->top, t = mwl__cel_lower_take(l, n, 1);
        ax(l, n, MWL_OP_LOAD_K, t, k);
        abc(l, n, op == MWL_OP_SELECT ? MWL_OP_INDEX : MWL_OP_INDEX_OPT, d, of, t);
        l->top = top;
    }
}

/* Translates the node itself; the value of its first kid is in `src`. The result is in d. */
static void climb(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned src) {
    unsigned top = l->top;
    switch (n->kind) {
    case MWL__CEL_SELECT: select_member(l, n, d, src); break;
    case MWL__CEL_INDEX:
        abc(l, n, n->flags & MWL__CEL_OPTIONAL ? MWL_OP_INDEX_OPT : MWL_OP_INDEX, d, src,
            operand(l, n->kids[1], 0));
        break;
    case MWL__CEL_MEMBER: member_call(l, n, d, src); break;
    default:
        if (mwl__cel_is_binary(n))
            binary(l, n, d, src);
        else
            mwl__cel_lower_loop(l, n, d, src);
        break;
    }
    l->top = top;
}

/* Translates the bottom of a chain. Returns the register of its value: d, or that of a variable. */
static unsigned leaf(lowerer *l, const mwl__cel_node *n, unsigned d) {
    unsigned top = l->top;
    switch (n->kind) {
    case MWL__CEL_IDENT: return local(l, n);
    case MWL__CEL_CALL: global_call(l, n, d); break;
    case MWL__CEL_NOT:
    case MWL__CEL_NEG:
        abc(l, n, n->kind == MWL__CEL_NOT ? MWL_OP_NOT : MWL_OP_NEG, d,
            operand(l, n->kids[0], d + 1), 0);
        break;
    case MWL__CEL_AND:
    case MWL__CEL_OR: logic(l, n, d); break;
    case MWL__CEL_COND: conditional(l, n, d); break;
    case MWL__CEL_LIST: list_literal(l, n, d); break;
    case MWL__CEL_MAP: map_literal(l, n, d); break;
    case MWL__CEL_MESSAGE: message(l, n, d); break;
    case MWL__CEL_BIND:
    case MWL__CEL_BLOCK: mwl__cel_lower_bind(l, n, d); break;
    default: mirrored(l, n, d); break;
    }
    l->top = top;
    return d;
}

void mwl__cel_lower_into(lowerer *l, const mwl__cel_node *n, unsigned d) {
    const mwl__cel_node *at = n;
    unsigned src = d;
    if (l->status != MWL_OK) return;
    while (!constant(l, at) && !is_mirrored(l, at) && mwl__cel_spine(at)) at = mwl__cel_spine(at);
    const mwl_value *k = constant(l, at);
    if (k)
        load_constant(l, at, *k, d);
    else if (at->kind == MWL__CEL_IDENT && at->ref != MWL__CEL_REF_LOCAL)
        at = path(l, at, n, d);
    else
        src = leaf(l, at, d);
    const mwl__cel_node *plain =
        NULL; /* the top of a chain of additions that are translated one by one */
    while (at != n && l->status == MWL_OK) {
        at = at->parent;
        if (at->kind == MWL__CEL_ADD && !plain) {
            uint32_t n_parts;
            bool has_text;
            const mwl__cel_node *last = addition_row(l, at, n, &n_parts, &has_text);
            if (has_text && n_parts > 2 && n_parts <= SPREAD) {
                concat(l, at, n_parts, d, src);
                at = last;
                src = d;
                continue;
            }
            plain = last;
        }
        if (at == plain) plain = NULL;
        climb(l, at, d, src);
        src = d;
    }
    if (src != d) abc(l, n, MWL_OP_MOVE, d, src, 0);
}

mwl_status mwl__cel_lower(const mwl__cel_lowering *options, const mwl__cel_tree *tree) {
    lowerer l;
    memset(&l, 0, sizeof l);
    l.o = options;
    l.e = options->emit;
    l.alloc = options->alloc ? *options->alloc : mwl_alloc_default();
    l.top = l.max = options->first;
    size_t n_locals = (size_t)tree->n_slots + 1;
    l.locals = mwl__mem_zero(&l.alloc, n_locals, sizeof *l.locals);
    if (!l.locals) return MWL_E_NOMEM;
    l.status = mwl__cel_fold_init(&l.fold, &l.alloc, options->functions);
    if (l.status == MWL_OK) {
        uint64_t budget = l.fold.x.budget;
        l.status = mwl__cel_fold_tree(&l.fold, tree);
        if (options->work) *options->work += budget - l.fold.x.budget;
        mwl__cel_lower_into(&l, tree->root, options->dest);
        mwl__emit_regs(l.e, l.max);
        mwl__cel_fold_done(&l.fold);
    }
    mwl__mem_free(&l.alloc, l.locals, n_locals * sizeof *l.locals);
    return l.status != MWL_OK ? l.status : mwl__emit_status(l.e);
}
