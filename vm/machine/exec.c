/* exec.c: the interpreter loop, and only that.
 *
 * Owns: dispatch, registers, the way of a fault to its handler. The operators are arith.c,
 * compare.c, access.c, build.c and boundary.c; their common cases are decided here before they are
 * called.
 *
 * Registers: writing to a register drops the value that it owned. Loads borrow if the source does
 * not change (a variable, a constant, an iterated list). Instructions whose row says "takes" move
 * what a register owns; the others count a reference. One label raises a fault, one leaves the
 * loop. The loop is one long function, because its labels and its locals in machine registers
 * cannot be shared.
 *
 * Relies on a verified program: operands in range, no way past the end of the code, brackets that
 * nest, and values that are still there in the registers it reads. The kinds of values are not
 * verified, so instructions that need a kind test it. */
#include "vm/machine/exec.h"

#include "vm/cel/functions.h"
#include "vm/cel/linked_op.h"
#include "vm/cel/ops.h"
#include "vm/machine/ascend.h"
#include "vm/machine/call.h"
#include "vm/machine/context.h"
#include "vm/machine/entry.h"
#include "vm/machine/frame.h"
#include "vm/machine/gather.h"
#include "vm/machine/nest.h"
#include "vm/machine/raise.h"
#include "vm/machine/step.h"
#include "vm/program/verify.h"

#include <stdlib.h>

/* ---- what the loop calls --------------------------------------------------------------------- */

/* Makes the memory that a search needs, once. */
MWL__COLD static bool make_scratch(mwl__exec *x) {
    mwl_alloc account = mwl__heap_account(x->heap);
    if (mwl__regex_scratch_new(&account, &x->regex) == MWL_OK) return true;
    x->halt = MWL_EXEC_NOMEM;
    return false;
}

static inline bool match(mwl__exec *x, const mwl__regex *re, mwl_value subject, bool *out) {
    if (mwl_value_kind(subject) != MWL_KIND_STRING)
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "no such overload: %s.matches(string)",
                               mwl__type_name(subject));
    if (!x->regex && !make_scratch(x)) return false;
    uint64_t lent = 0, left;
    const mwl__str *s = mwl__as_str(subject);
    mwl_status status;
    do {
        left = lent = mwl__exec_lend(x, lent);
        status = mwl__regex_search(re, x->regex, s->s, s->len, &left, out);
    } while (mwl__exec_again(x, lent - left, status));
    if (status == MWL_OK) return true;
    x->halt = status == MWL_E_FUEL ? MWL_EXEC_FUEL : MWL_EXEC_NOMEM;
    return false;
}

static bool not_a_bool(mwl__exec *x, mwl_value v) {
    return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION,
                           "no such overload: a condition must be a bool, not a %s",
                           mwl__type_name(v));
}

static bool not_iterable(mwl__exec *x, mwl_value v) {
    return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION,
                           "no such overload: a comprehension needs a list or a map, not a %s",
                           mwl__type_name(v));
}

#if defined(__GNUC__)
#define LIKELY(c) __builtin_expect(!!(c), 1)
#else
#define LIKELY(c) (c)
#endif

static inline bool is_iterator(const mwl_value *it) {
    uint32_t kind = mwl_value_kind(it[0]);
    return (kind == MWL_KIND_ARRAY || kind == MWL_KIND_OBJECT) &&
           mwl_value_kind(it[1]) == MWL_KIND_INT;
}

static inline void set_from(mwl_heap *h, mwl_value *reg, const mwl_value *from) {
    if (reg->tag & MWL_OWNED) {
        mwl_value old = *reg;
        mwl__move(reg, from);
        mwl__drop(h, old);
    } else {
        mwl__move(reg, from);
    }
}

static inline void set(mwl_heap *h, mwl_value *reg, mwl_value v) {
    if (reg->tag & MWL_OWNED) {
        mwl_value old = *reg;
        *reg = v;
        mwl__drop(h, old);
    } else {
        *reg = v;
    }
}

static inline void set_new(mwl_heap *h, mwl_value *reg, uint32_t tag, uint32_t n, void *made) {
    if (reg->tag & MWL_OWNED) mwl__drop(h, *reg);
    mwl__move_new(reg, tag, n, made);
}

static inline void set_bool(mwl_heap *h, mwl_value *reg, bool b) {
    if (reg->tag & MWL_OWNED) mwl__drop(h, *reg);
    reg->tag = MWL_KIND_BOOL;
    reg->aux = 0;
    reg->as.i = b;
}

static inline void set_number(mwl_heap *h, mwl_value *reg, double d) {
    if (reg->tag & MWL_OWNED) mwl__drop(h, *reg);
    reg->tag = MWL_KIND_NUMBER;
    reg->aux = 0;
    reg->as.d = d;
}

/* Borrows: `from` does not change while the register is read. */
static inline void set_lent(mwl_heap *h, mwl_value *reg, const mwl_value *from) {
    if (reg->tag & MWL_OWNED) mwl__drop(h, *reg);
    mwl__move_lent(reg, from);
}

/* Where a name is among the first n members, or n. */
MWL__OUTLINE static uint32_t locate(const mwl__map *m, uint32_t n, const mwl__str *name,
                                    uint32_t hash) {
    if (m->keys->n_index != 0) {
        mwl_value map = {MWL_KIND_OBJECT, n, {.p = (void *)(uintptr_t)m}};
        mwl_value key = {MWL_KIND_STRING, hash, {.p = (void *)(uintptr_t)name}};
        const mwl_value *at = mwl__map_get(map, key);
        return at ? (uint32_t)(at - m->val) : n;
    }
    for (uint32_t i = 0; i < n; i++) {
        const mwl_value *key = &m->keys->key[i];
        if (key->aux == hash && mwl_value_kind(*key) == MWL_KIND_STRING &&
            (key->as.p == name || mwl__str_same_text(key->as.p, name)))
            return i;
    }
    return n;
}

/* Has the object this name where the last one had it? */
static inline bool is_there(const mwl__map *m, uint32_t n, const mwl__linked_key *key) {
    const mwl_value *guess = &m->keys->key[key->at];
    return key->at < n && guess->as.p == key->name && mwl_value_kind(*guess) == MWL_KIND_STRING;
}

/* The member of an object that has not the shape of the last one. */
MWL__OUTLINE static const mwl_value *search(mwl__linked_key *key, const mwl_value *of) {
    const mwl__map *m = of->as.p;
    uint32_t at = is_there(m, of->aux, key) ? key->at : locate(m, of->aux, key->name, key->hash);
    if (at == of->aux) return NULL;
    key->at = at;
    key->shape = m->keys->own ? NULL : m->keys;
    return &m->val[at];
}

static mwl_value name_of(const mwl__linked_key *key) {
    return (mwl_value){MWL_KIND_STRING, key->hash, {.p = (void *)(uintptr_t)key->name}};
}

/* The member of *at, or NULL: it is not an object, or has no such member. */
static inline const mwl_value *member_of(mwl__linked_key *key, const mwl_value *at) {
    if (mwl_value_kind(*at) != MWL_KIND_OBJECT) return NULL;
    const mwl__map *m = at->as.p;
    if (LIKELY(m->keys == key->shape) && LIKELY(key->at < at->aux)) return &m->val[key->at];
    return search(key, at);
}

/* Returns what the keys before `end` lead to from *at; NULL where something is not an object, or
 * has no such member. */
static inline const mwl_value *walk(mwl__linked_key *key, const mwl__linked_key *end,
                                    const mwl_value *at) {
    for (; key != end; key++)
        if (!LIKELY((at = member_of(key, at)) != NULL)) return NULL;
    return at;
}

/* Returns whether an object has the member. Names that are not there have mostly other hashes. */
static inline bool has_member(const mwl__linked_key *key, const mwl_value *of) {
    const mwl__map *m = of->as.p;
    if (m->keys->n_index == 0) {
        const mwl_value *at = m->keys->key, *end = at + of->aux;
        while (at != end && at->aux != key->hash) at++;
        if (at == end) return false;
    }
    return locate(m, of->aux, key->name, key->hash) < of->aux;
}

static inline const mwl_value *slot_of(const mwl__exec *x, const mwl__linked_path *path) {
    return (const mwl_value *)(const void *)(x->root + path->slot);
}

/* LOAD_PATH for what has no slot: the context makes it, or the fault names what is missing. */
static bool load_path(mwl__exec *x, mwl__linked_path *linked, mwl_value *out) {
    const mwl__path_rec *path = &x->program->paths[linked->ix];
    if (path->base < MWL_BASE_ENV && x->frame) {
        mwl_value v = mwl__context_load(x, path->base);
        if (!(v.tag & MWL_OWNED) && x->halt == MWL_EXEC_END) {
            const mwl_value *at = walk(linked->keys, linked->keys + linked->n_keys, &v);
            if (at && !mwl_is_absent(*at)) {
                *out = mwl__borrow(*at);
                return true;
            }
        }
        mwl__drop(x->heap, v);
    }
    return mwl__access_path(x, path, MWL_PATH_LOAD, out);
}

/* Writes what NEXT and NEXT2 write; returns false at the end. it[0] is the container, it[1] the
 * position. */
static inline bool advance(mwl_heap *h, mwl_value *it, bool two) {
    const mwl_value *range = &it[0];
    uint64_t i = it[1].as.u;
    if (i >= range->aux) return false;
    it[1].as.u = i + 1;
    if (LIKELY(mwl_value_kind(*range) == MWL_KIND_ARRAY)) {
        const mwl_value *item = &((const mwl__list *)range->as.p)->item[i];
        if (two) set(h, &it[2], mwl_int((int64_t)i));
        set_lent(h, &it[two ? 3 : 2], item);
    } else {
        const mwl__map *m = range->as.p;
        set(h, &it[2], mwl__map_key(m, (uint32_t)i));
        if (two) set_lent(h, &it[3], &m->val[i]);
    }
    return true;
}

/* Moves the value out of a register and returns it with a counted reference: the register's block
 * ends here. */
static inline mwl_value taken(mwl_value *reg) {
    mwl_value v = mwl__own(*reg);
    *reg = mwl_null();
    return v;
}

#if MWL_CHECKED
/* The program's instruction at a pc of its linked form. */
static mwl__ins made_from(const mwl__linked *linked, size_t pc) {
    return linked->program->code[pc];
}

/* Are the value in flight and the Result there that the instruction's row needs? */
static bool carries(const mwl__frame *f, unsigned op) {
    const unsigned flags = mwl__op_get(op)->flags;
    return !((flags & MWL_OPF_NEEDS_VALUE) && mwl_is_absent(f->in_flight)) &&
           !((flags & MWL_OPF_NEEDS_RESULT) && mwl_is_absent(f->res.v));
}

/* Are the registers that the instruction's row says it takes empty now? */
static bool took(const mwl_program *p, mwl__ins ins, const mwl_value *regs) {
    for (int i = 0; i < 3; i++) {
        if (mwl__operand_get(mwl__op_get(ins.op)->kind[i])->use != MWL_USE_TAKES) continue;
        const mwl_value *first = regs + mwl__op_operand(ins, i);
        for (uint32_t n = mwl__verify_regs_of(p, ins, i); n-- > 0;)
            if ((first[n].tag & (0xffu | MWL_OWNED)) != MWL_KIND_NULL) return false;
    }
    return true;
}
#endif

/* ---- the loop -------------------------------------------------------------------------------- */

#if defined(__GNUC__) && !defined(MWL_STRESS)
#define MWL__GOTO 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic" /* labels as values */
#else
#define MWL__GOTO 0
#endif

/* One line per instruction where one is enough. */
/* clang-format off */
#if MWL__GOTO
#define CASE(name) L_##name
#define DISPATCH() goto *ip->go
#define IS(ins, name) ((ins).go == &&L_##name)
#else
#define CASE(name) case MWL_OP_##name
#define DISPATCH() goto dispatch
#define IS(ins, name) ((uintptr_t)(ins).go == MWL_OP_##name)
#endif
#define NEXT() do { ip++; DISPATCH(); } while (0)
#define GO_TO(pc) do { ip = CODE + (pc); DISPATCH(); } while (0)
/* The target of a jump. */
#define TARGET ((const mwl__linked_ins *)(const void *)((const char *)ip + (int32_t)ip->x))
#define JUMP() do { ip = TARGET; DISPATCH(); } while (0)

/* Read where they are needed: locals would only crowd R and ip out of the machine's registers. */
#define PROGRAM (linked->program)
#define CODE (linked->code)
#define HEAP (x->heap)
#define REG(bytes) (*(mwl_value *)(void *)((char *)R + (bytes)))
#define PART(type) ((type *)(void *)((uintptr_t)CODE + ip->x))
#define A REG(ip->a)
#define B REG(ip->b)
#define C REG(ip->x)
#define KC (*PART(const mwl_value))
#define PATH PART(mwl__linked_path)
#define OPERAND (ip->x)
#define FRAME (x->frame)
/* Registers are dropped before they are written, and written after the operands were read. */
#define SET(reg, value) set(HEAP, &(reg), (value))
#define SET_OUT(reg) set_from(HEAP, &(reg), &out)
/* Operators may raise, and a fault names its instruction. */
#define HERE() (x->pc = (uint32_t)(ip - CODE))
#define TRY(call) do { HERE(); if (!(call)) goto fail; } while (0)
#define NEED(v, kind) do { if (mwl_value_kind(v) != MWL_KIND_##kind) goto malformed; } while (0)
#define COPY(v) (((v).tag & MWL_OWNED) ? mwl__keep(v) : (v))

/* Operands are read through pointers, by the fields that are needed. */
#define ARITH(name, left, right, on_number, on_int)                                                     \
    do {                                                                                                \
        const mwl_value *l_ = &(left), *r_ = &(right);                                                  \
        int64_t i_;                                                                                     \
        if (LIKELY(mwl_value_kind(*l_) == MWL_KIND_NUMBER && mwl_value_kind(*r_) == MWL_KIND_NUMBER)) { \
            set_number(HEAP, &A, on_number);                                                            \
            NEXT();                                                                                     \
        }                                                                                               \
        if (mwl_value_kind(*l_) == MWL_KIND_INT && mwl_value_kind(*r_) == MWL_KIND_INT && !(on_int)) {  \
            SET(A, mwl_int(i_));                                                                        \
            NEXT();                                                                                     \
        }                                                                                               \
        TRY(mwl__arith_##name(x, *l_, *r_, &out));                                                      \
        SET_OUT(A);                                                                                     \
        NEXT();                                                                                         \
    } while (0)
#define ADD(l, r) ARITH(add, l, r, l_->as.d + r_->as.d, __builtin_add_overflow(l_->as.i, r_->as.i, &i_))
#define SUB(l, r) ARITH(sub, l, r, l_->as.d - r_->as.d, __builtin_sub_overflow(l_->as.i, r_->as.i, &i_))
#define MUL(l, r) ARITH(mul, l, r, l_->as.d * r_->as.d, __builtin_mul_overflow(l_->as.i, r_->as.i, &i_))
/* A comparison is mostly there for the jump behind it, which is taken at once. */
#define ANSWER(truth)                                                \
    do {                                                             \
        bool answer_ = (truth);                                      \
        set_bool(HEAP, &A, answer_);                                 \
        if (IS(ip[1], JUMP_UNLESS) && ip[1].a == ip->a) {            \
            ip++;                                                    \
            if (!answer_) JUMP();                                    \
        } else if (answer_ && IS(ip[1], GATE) && ip[1].a == ip->a) { \
            ip++;                                                    \
        }                                                            \
        NEXT();                                                      \
    } while (0)
#define ORDER(rel, left, right, cmp)                                                                                  \
    do {                                                                                                              \
        const mwl_value *l_ = &(left), *r_ = &(right);                                                                \
        const uint32_t k_ = mwl_value_kind(*r_);                                                                      \
        if (LIKELY(mwl_value_kind(*l_) == MWL_KIND_NUMBER)) {                                                         \
            if (LIKELY(k_ == MWL_KIND_NUMBER)) ANSWER(l_->as.d cmp r_->as.d);                                         \
            if (k_ == MWL_KIND_INT) ANSWER(l_->as.d cmp (double)r_->as.i); /* a data-plane number beside a literal */ \
        }                                                                                                             \
        if (mwl_value_kind(*l_) == MWL_KIND_INT && k_ == MWL_KIND_INT)                                                \
            is = l_->as.i cmp r_->as.i;                                                                               \
        else                                                                                                          \
            TRY(mwl__compare_order(x, rel, *l_, *r_, &is));                                                           \
        set_bool(HEAP, &A, is);                                                                                       \
        NEXT();                                                                                                       \
    } while (0)
#define EQUAL(left, right, negate)                                \
    do {                                                          \
        const mwl_value *l_ = &(left), *r_ = &(right);            \
        int fast_ = mwl__equal_fast(*l_, *r_);                    \
        is = fast_ == 1;                                          \
        if (fast_ < 0) TRY(mwl__compare_equal(x, *l_, *r_, &is)); \
        set_bool(HEAP, &A, is != (negate));                       \
        NEXT();                                                   \
    } while (0)
#define LOGIC(is_or, must_raise)                                                                \
    do {                                                                                        \
        if (LIKELY(mwl_value_kind(B) == MWL_KIND_BOOL && mwl_value_kind(C) == MWL_KIND_BOOL)) { \
            set_bool(HEAP, &A, (is_or) ? (B.as.i | C.as.i) != 0 : (B.as.i & C.as.i) != 0);      \
            NEXT();                                                                             \
        }                                                                                       \
        HERE();                                                                                 \
        if (!mwl__compare_logic(x, is_or, B, C, &out)) {                                        \
            if (mwl_is_absent(out)) goto fail;                                                  \
            if (must_raise) {                                                                   \
                mwl__drop(HEAP, x->fault);                                                      \
                x->fault = out;                                                                 \
                x->halt = MWL_EXEC_FAULT;                                                       \
                goto fail;                                                                      \
            }                                                                                   \
        }                                                                                       \
        SET_OUT(A);                                                                             \
        NEXT();                                                                                 \
    } while (0)
/* Each round of a loop charges fuel for the length of its body. */
#define STEP_LOOP(two)                                                          \
    do {                                                                        \
        mwl_value *it_ = &A;                                                    \
        const mwl__linked_ins *to_ = TARGET;                                    \
        int64_t body_ = to_ < ip ? ip - to_ : 1;                                \
        if (!is_iterator(it_)) goto malformed;                                  \
        if (x->slice < 0) goto yield;                                           \
        x->slice -= body_;                                                      \
        if (!LIKELY(x->budget == UINT64_MAX)) {                                 \
            if (x->budget < (uint64_t)body_) {                                  \
                x->budget = 0;                                                  \
                goto out_of_fuel;                                               \
            }                                                                   \
            x->budget -= (uint64_t)body_;                                       \
        }                                                                       \
        uint64_t i_ = it_[1].as.u;                                              \
        if (!(two) && LIKELY(mwl_value_kind(*it_) == MWL_KIND_ARRAY)) {         \
            if (i_ >= it_->aux) NEXT();                                         \
            it_[1].as.u = i_ + 1;                                               \
            set_lent(HEAP, &it_[2], &((const mwl__list *)it_->as.p)->item[i_]); \
        } else if (!advance(HEAP, it_, two)) {                                  \
            NEXT();                                                             \
        }                                                                       \
        ip = to_;                                                               \
        DISPATCH();                                                             \
    } while (0)

/* Its labels are one set of addresses, so there is one copy of it. */
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((noinline, noclone))
#elif defined(__GNUC__)
__attribute__((noinline))
#endif
mwl__outcome mwl__exec_run(mwl__exec *x) {
#if MWL__GOTO
    static const void *const labels[] = {
#define X_LABEL(name, a, b, c, flags, text) &&L_##name,
        MWL_OPCODES(X_LABEL)
#undef X_LABEL
#define X_LABEL(name, first, second, third, text) &&L_##name,
        MWL_LINKED_OPCODES(X_LABEL)
#undef X_LABEL
    };
#endif
    const mwl__linked *const linked = x->linked;
    mwl_value *const R = x->regs;
#if MWL__GOTO
    if (!LIKELY(linked != NULL)) { /* asked by mwl__exec_labels */
        x->labels = labels;
        return MWL_EXEC_END;
    }
#endif
    const mwl__linked_ins *ip = CODE + x->pc;
    mwl_value out;
    bool is;
    uint32_t next;
    x->halt = MWL_EXEC_END;

#if MWL__GOTO
    DISPATCH();
#else
dispatch:
    switch ((uintptr_t)ip->go) {
#endif
    /* -- loading -- */
    CASE(NOP): NEXT();
    CASE(MOVE): SET(A, COPY(B)); NEXT();
    CASE(TAKE):
        out = B;
        B = mwl_null();
        SET_OUT(A);
        NEXT();
    CASE(LOAD_K): set_from(HEAP, &A, &KC); NEXT();
    CASE(LOAD_INT): SET(A, mwl_int((int32_t)OPERAND)); NEXT();
    CASE(LOAD_BASE): {
        const mwl_value *at = slot_of(x, PATH);
        if (!LIKELY(!mwl_is_absent(*at))) goto load_path;
        set_lent(HEAP, &A, at);
        NEXT();
    }
    CASE(LOAD_MEMBER): {
        const mwl_value *at = member_of(PATH->keys, slot_of(x, PATH));
        if (!LIKELY(at != NULL)) goto load_path;
        set_lent(HEAP, &A, at);
        NEXT();
    }
    CASE(LOAD_SLOT): {
        mwl__linked_path *path = PATH;
        const mwl_value *at = walk(path->keys, path->keys + path->n_keys, slot_of(x, path));
        if (!LIKELY(at != NULL)) goto load_path;
        set_lent(HEAP, &A, at);
        NEXT();
    }
    CASE(LOAD_PATH):
    load_path:
        TRY(load_path(x, PATH, &out));
        SET_OUT(A);
        NEXT();
    CASE(LOAD_COUNT): {
        const mwl__entry *e = mwl__entry_reading(FRAME);
        if (LIKELY(e && e->provider->count_name == PATH->keys->name)) {
            set_number(HEAP, &A, (double)(int64_t)e->runs);
            NEXT();
        }
        goto load_path;
    }
    CASE(COUNT_GATE): {
        const mwl__entry *e = mwl__entry_reading(FRAME);
        if (!LIKELY(e && e->provider->count_name == PATH->keys->name)) goto load_path;
        ip++;
        const mwl_value *most = &KC;
        const double runs = (double)(int64_t)e->runs;
        is = runs < (mwl_value_kind(*most) == MWL_KIND_INT ? (double)most->as.i : most->as.d);
        ip++;
        if (LIKELY(is)) NEXT();
        set_bool(HEAP, &A, false);
        DISPATCH();
    }
    CASE(HAS_SLOT): {
        mwl__linked_path *path = PATH;
        mwl__linked_key *last = path->keys + path->n_keys - 1;
        const mwl_value *at = walk(path->keys, last, slot_of(x, path));
        if (LIKELY(at != NULL && mwl_value_kind(*at) == MWL_KIND_OBJECT)) ANSWER(has_member(last, at));
        goto has_path;
    }
    CASE(HAS_PATH):
    has_path:
        TRY(mwl__access_path(x, &PROGRAM->paths[PATH->ix], MWL_PATH_HAS, &out));
        SET_OUT(A);
        NEXT();
    CASE(OPT_PATH): TRY(mwl__access_path(x, &PROGRAM->paths[PATH->ix], MWL_PATH_OPT, &out)); SET_OUT(A); NEXT();
    CASE(SELECT): {
        const mwl_value *of = &B;
        if (LIKELY((of->tag & (MWL_OWNED | 0xffu)) == MWL_KIND_OBJECT)) {
            const mwl_value *at = member_of(PART(mwl__linked_key), of);
            if (LIKELY(at != NULL)) {
                set_lent(HEAP, &A, at);
                NEXT();
            }
        }
        TRY(mwl__access_select(x, *of, name_of(PART(const mwl__linked_key)), &out));
        SET_OUT(A);
        NEXT();
    }
    CASE(SELECT_OPT): TRY(mwl__access_optional(x, B, KC, true, &out)); SET_OUT(A); NEXT();
    CASE(HAS): TRY(mwl__access_has(x, B, KC, &is)); set_bool(HEAP, &A, is); NEXT();
    CASE(INDEX): TRY(mwl__access_index(x, B, C, &out)); SET_OUT(A); NEXT();
    CASE(INDEX_OPT): TRY(mwl__access_optional(x, B, C, false, &out)); SET_OUT(A); NEXT();

    /* -- construction -- */
    CASE(NEW_LIST):
        out = mwl__list_new(HEAP, OPERAND);
        TRY(!mwl_is_absent(out));
        SET_OUT(A);
        NEXT();
    CASE(NEW_LIST_LIKE):
        out = mwl__list_new(HEAP, mwl_count(B));
        TRY(!mwl_is_absent(out));
        SET_OUT(A);
        NEXT();
    CASE(LIST_PUSH):
        NEED(A, ARRAY);
        {
            mwl_value *list = &A, *item = &B;
            if (LIKELY(mwl__list_claim(list, item))) NEXT();
            mwl_value grown = mwl__list_push(HEAP, *list, *item);
            item->tag = MWL_KIND_NULL;
            *list = grown;
            if (LIKELY(!mwl_is_absent(grown))) NEXT();
        }
        A = mwl_null();
        HERE();
        goto fail;
    CASE(LIST_PUSH_OPT):
        NEED(A, ARRAY);
        out = B;
        B = mwl_null();
        TRY(mwl__build_push_optional(x, &A, out));
        NEXT();
    CASE(LIST_OF): {
        if (!LIKELY(OPERAND != 0)) {
            SET(A, mwl__list_new(HEAP, 0));
            NEXT();
        }
        HERE();
        mwl__list *made = mwl__build_list(x, &B, OPERAND);
        if (!LIKELY(made != NULL)) goto fail;
        set_new(HEAP, &A, MWL_KIND_ARRAY | MWL_HEAP | MWL_OWNED, OPERAND, made);
        NEXT();
    }
    CASE(NEW_MAP):
        out = mwl__map_new(HEAP, OPERAND);
        TRY(!mwl_is_absent(out));
        SET_OUT(A);
        NEXT();
    CASE(MAP_PUT):
        NEED(A, OBJECT);
        out = C;
        C = mwl_null();
        {
            mwl_value key = B;
            B = mwl_null();
            TRY(mwl__build_put(x, &A, key, out));
        }
        NEXT();
    CASE(MAP_PUT_OPT):
        NEED(A, OBJECT);
        out = C;
        C = mwl_null();
        {
            mwl_value key = B;
            B = mwl_null();
            TRY(mwl__build_put_optional(x, &A, key, out));
        }
        NEXT();
    CASE(MAP_OF): {
        const mwl__linked_shape *shape = PART(const mwl__linked_shape);
        HERE();
        mwl__map *made = mwl__build_map(x, shape, &B);
        if (!LIKELY(made != NULL)) goto fail;
        set_new(HEAP, &A, shape->tag, shape->n_keys, made);
        NEXT();
    }
    CASE(MAP_DATA): {
        const mwl__linked_shape *shape = PART(const mwl__linked_shape);
        HERE();
        mwl__map *made = mwl__build_map(x, shape, &B);
        if (!LIKELY(made != NULL)) goto fail;
        set_new(HEAP, &A, shape->tag, shape->n_keys, made);
        if (LIKELY(!(made->odd & MWL__ODD_KIND))) ip++;
        NEXT();
    }
    CASE(MAP_MERGE): NEED(A, OBJECT); TRY(mwl__build_merge(x, &A, B)); NEXT();

    /* -- arithmetic and comparison -- */
    CASE(ADD): ADD(B, C);
    CASE(CONCAT): TRY(mwl__arith_concat(x, &B, OPERAND, &out)); SET_OUT(A); NEXT();
    CASE(SUB): SUB(B, C);
    CASE(MUL): MUL(B, C);
    CASE(DIV): TRY(mwl__arith_div(x, B, C, &out)); SET_OUT(A); NEXT();
    CASE(MOD): TRY(mwl__arith_mod(x, B, C, &out)); SET_OUT(A); NEXT();
    CASE(NEG): TRY(mwl__arith_neg(x, B, &out)); SET_OUT(A); NEXT();
    CASE(NOT):
        out = B;
        TRY(mwl_value_kind(out) == MWL_KIND_BOOL || mwl__arith_no_overload(x, "!", out, mwl_absent()));
        SET(A, mwl_bool(!out.as.i));
        NEXT();
    CASE(EQ): EQUAL(B, C, false);
    CASE(NE): EQUAL(B, C, true);
    CASE(LT): ORDER(MWL_LT, B, C, <);
    CASE(LE): ORDER(MWL_LE, B, C, <=);
    CASE(GT): ORDER(MWL_GT, B, C, >);
    CASE(GE): ORDER(MWL_GE, B, C, >=);
    CASE(IN): TRY(mwl__compare_in(x, B, C, &is)); set_bool(HEAP, &A, is); NEXT();
    CASE(ADD_K): ADD(B, KC);
    CASE(SUB_K): SUB(B, KC);
    CASE(MUL_K): MUL(B, KC);
    CASE(EQ_K): EQUAL(B, KC, false);
    CASE(NE_K): EQUAL(B, KC, true);
    CASE(LT_K): ORDER(MWL_LT, B, KC, <);
    CASE(LE_K): ORDER(MWL_LE, B, KC, <=);
    CASE(GT_K): ORDER(MWL_GT, B, KC, >);
    CASE(GE_K): ORDER(MWL_GE, B, KC, >=);

    /* -- functions -- */
    CASE(CALL_FN): {
        unsigned n = PROGRAM->funcs[OPERAND].n_args;
        mwl_value *args = &B;
        if (x->slice < 0) goto yield;
        HERE();
        is = mwl__functions_call(x, x->functions[OPERAND], args, n, &out);
        for (unsigned i = 0; i < n; i++) {
            mwl_value arg = args[i];
            args[i] = mwl_null();
            mwl__drop(HEAP, arg);
        }
        if (!is) goto fail;
        SET_OUT(A);
        NEXT();
    }
    CASE(MATCH): TRY(match(x, PROGRAM->regexes[OPERAND], A, &is)); set_bool(HEAP, &A, is); NEXT();
    CASE(DATA): {
        const mwl_value *v = &A;
        uint32_t kind = mwl_value_kind(*v);
        if (kind == MWL_KIND_OBJECT) {
            if (LIKELY(!(mwl__as_map(*v)->odd & MWL__ODD_KIND))) NEXT();
        } else if (kind == MWL_KIND_STRING || kind == MWL_KIND_NULL || kind == MWL_KIND_BOOL) {
            NEXT();
        } else if (kind == MWL_KIND_NUMBER) {
            if (LIKELY(v->as.d - v->as.d == 0)) NEXT();
        } else if (kind == MWL_KIND_ARRAY) {
            if (LIKELY(!(mwl__as_list(*v)->odd & MWL__ODD_KIND))) NEXT();
        }
        TRY(mwl__boundary_data(x, *v, &out));
        SET_OUT(A);
        NEXT();
    }

    /* -- control inside an expression -- */
    CASE(JUMP): JUMP();
    CASE(JUMP_IF):
        if (!LIKELY(mwl_value_kind(A) == MWL_KIND_BOOL)) TRY(not_a_bool(x, A));
        if (A.as.i) JUMP();
        NEXT();
    CASE(JUMP_UNLESS):
        if (!LIKELY(mwl_value_kind(A) == MWL_KIND_BOOL)) TRY(not_a_bool(x, A));
        if (!A.as.i) JUMP();
        NEXT();
    CASE(AND_TEST):
        if (mwl_value_kind(A) == MWL_KIND_BOOL && !A.as.i) JUMP();
        NEXT();
    CASE(OR_TEST):
        if (mwl_value_kind(A) == MWL_KIND_BOOL && A.as.i) JUMP();
        NEXT();
    CASE(AND): LOGIC(false, false);
    CASE(OR): LOGIC(true, false);
    CASE(AND_END): LOGIC(false, true);
    CASE(OR_END): LOGIC(true, true);
    CASE(RAISE_IF):
        if (mwl_value_kind(A) != MWL_KIND_FAULT) NEXT();
        HERE();
        mwl__drop(HEAP, x->fault);
        x->fault = mwl__keep(A); /* a variable may raise it again */
        x->halt = MWL_EXEC_FAULT;
        goto fail;
    CASE(ITER): {
        mwl_value range = B;
        TRY(mwl_value_kind(range) == MWL_KIND_ARRAY || mwl_value_kind(range) == MWL_KIND_OBJECT ||
            not_iterable(x, range));
        if (ip->a != ip->b) SET(A, COPY(range));
        SET((&A)[1], mwl_int(0));
        NEXT();
    }
    CASE(NEXT): STEP_LOOP(false);
    CASE(NEXT2): STEP_LOOP(true);
    CASE(OPT_TEST):
        TRY(mwl_value_kind(A) == MWL_KIND_OPTIONAL || mwl__access_optional_value(x, A, &out));
        if (!A.as.p) JUMP();
        NEXT();
    CASE(OPT_GET): TRY(mwl__access_optional_value(x, B, &out)); SET_OUT(A); NEXT();
    CASE(OPT_OF):
        out = mwl__some(HEAP, B);
        B = mwl_null();
        TRY(!mwl_is_absent(out));
        SET_OUT(A);
        NEXT();
    CASE(END): {
        mwl_value *v = &A;
        if (x->product.tag & MWL_OWNED) mwl__drop(HEAP, x->product);
        if ((v->tag & (MWL_HEAP | MWL_OWNED)) == MWL_HEAP) {
            ++*(uint32_t *)v->as.p;
            mwl__move_owned(&x->product, v);
        } else {
            mwl__move(&x->product, v);
        }
        v->tag = MWL_KIND_NULL;
        return MWL_EXEC_END;
    }

    /* -- the machine: each instruction is a function of the file that owns it -- */
#define AT_NEXT (x->pc + 1)
#define TARGET_PC ((uint32_t)(TARGET - CODE))
#define MACHINE(call)                        \
    do {                                     \
        NESTS(carries(FRAME, MADE_FROM.op)); \
        HERE();                              \
        next = (call);                       \
        goto machine;                        \
    } while (0)
/* A joined instruction goes on with its next part, after the one that led to `next`. */
#define JOINED(call)                                \
    do {                                            \
        HERE();                                     \
        next = (call);                              \
        if (!LIKELY(next == AT_NEXT)) goto machine; \
        ip++;                                       \
        mwl__exec_pay(x, 1);                        \
    } while (0)
/* Can the Step be entered without a call? */
#define HOPS(step) (!x->vm->listen && mwl__step_hops(FRAME, (step)->a))
/* Proved when the program was loaded (verify_nest.c); checked builds test it again. */
#define MADE_FROM made_from(linked, (size_t)(ip - CODE))
#if MWL_CHECKED
#define NESTS(condition) do { if (!(condition)) abort(); } while (0)
#else
#define NESTS(condition) ((void)0)
#endif
#define PLAIN(statement)                     \
    do {                                     \
        NESTS(carries(FRAME, MADE_FROM.op)); \
        statement;                           \
        NESTS(took(PROGRAM, MADE_FROM, R));  \
        NEXT();                              \
    } while (0)
    CASE(STEP): {
        NESTS(mwl__nest_step(FRAME, OPERAND));
        if (!LIKELY(HOPS(ip))) MACHINE(mwl__step_begin(FRAME, OPERAND, AT_NEXT));
        mwl__step_hop(FRAME, OPERAND, &FRAME->in_flight, HEAP);
        FRAME->in_flight = mwl_absent();
        ip++;
        goto arrived;
    }
    CASE(STEP_EXIT): NESTS(mwl__nest_in_step(FRAME)); PLAIN(mwl__step_exit(FRAME));
    CASE(OUT): PLAIN(mwl__replace_in(HEAP, &FRAME->in_flight, &A));
    CASE(PASS_INPUT): PLAIN(mwl__replace(HEAP, &FRAME->in_flight, mwl__keep(FRAME->step_input)));
    CASE(ASSIGN): MACHINE(mwl__step_assign(FRAME, &A, ip->b, AT_NEXT));
    CASE(OUT_TO): {
        NESTS(carries(FRAME, MADE_FROM.op));
        mwl_value *made = &A;
        ip++;
        const mwl__linked_ins *step = TARGET;
        if (LIKELY(mwl_is_absent(FRAME->in_flight) && HOPS(step))) {
            mwl__step_hop(FRAME, step->x, made, HEAP);
            ip = step + 1;
            goto arrived;
        }
        mwl__replace_in(HEAP, &FRAME->in_flight, made);
        goto to;
    }
    CASE(PASS_TO): {
        ip++;
        const mwl__linked_ins *step = TARGET;
        if (LIKELY(mwl_is_absent(FRAME->in_flight) && HOPS(step))) {
            mwl__step_pass(FRAME, step->x);
            ip = step + 1;
            goto arrived;
        }
        mwl__replace(HEAP, &FRAME->in_flight, mwl__keep(FRAME->step_input));
        goto to;
    }
    CASE(RESULT_TO):
        NESTS(mwl__nest_in_step(FRAME));
        JOINED(mwl__step_result(FRAME, AT_NEXT));
        goto to;
    CASE(MATCH_TO):
        mwl__replace(HEAP, &FRAME->in_flight, mwl__keep(FRAME->res.v));
        ip++;
        goto to;
    CASE(TO):
    to: {
        NESTS(mwl__nest_in_step(FRAME));
        const mwl__linked_ins *step = TARGET;
        if (!LIKELY(HOPS(step))) MACHINE(mwl__step_to(FRAME, step->x, false));
        mwl__step_hop(FRAME, step->x, &FRAME->in_flight, HEAP);
        FRAME->in_flight = mwl_absent();
        ip = step + 1; /* behind the STEP, which is done */
        goto arrived;
    }
    CASE(TO_HANDLER): NESTS(mwl__nest_in_step(FRAME)); MACHINE(mwl__step_to(FRAME, OPERAND, true));
    CASE(STEP_RESULT): NESTS(mwl__nest_in_step(FRAME)); MACHINE(mwl__step_result(FRAME, AT_NEXT));
    CASE(STEP_FAULT): NESTS(mwl__nest_in_step(FRAME)); MACHINE(mwl__step_fault(FRAME));
    CASE(CLAUSE_FAULT): NESTS(mwl__nest_in_step(FRAME)); MACHINE(mwl__step_clause_fault(FRAME));
    CASE(MATCH_INPUT):
        mwl__frame_set_res(FRAME, true, FRAME->in_flight);
        PLAIN(FRAME->in_flight = mwl_absent());
    CASE(PASS_MATCH): PLAIN(mwl__replace(HEAP, &FRAME->in_flight, mwl__keep(FRAME->res.v)));
    CASE(SLEEP_FOR): NESTS(mwl__nest_in_step(FRAME)); MACHINE(mwl__step_sleep(FRAME, A, false, AT_NEXT));
    CASE(SLEEP_UNTIL): NESTS(mwl__nest_in_step(FRAME)); MACHINE(mwl__step_sleep(FRAME, A, true, AT_NEXT));
    CASE(OUT_RETURN):
        out = taken(&A);
        ip++;
        goto leave;
    CASE(PASS_RETURN):
        out = mwl__keep(FRAME->step_input);
        ip++;
        goto leave;
    CASE(RETURN):
        NESTS(carries(FRAME, MADE_FROM.op));
        mwl__move(&out, &FRAME->in_flight);
        FRAME->in_flight = mwl_absent();
    leave:
        NESTS(mwl__nest_in_step(FRAME));
        HERE();
        next = mwl__step_return(FRAME, x->vm, out);
        goto machine;
    CASE(RAISE): NESTS(mwl__nest_in_step(FRAME)); MACHINE(mwl__step_raise(FRAME, &A, ip->b));
    CASE(RERAISE): NESTS(mwl__nest_in_step(FRAME)); MACHINE(mwl__step_reraise(FRAME));
    CASE(COMPLETE): NESTS(mwl__nest_complete(FRAME)); MACHINE(mwl__frame_complete(FRAME, x->vm));
    CASE(OPEN):
        MACHINE(mwl__entry_open(FRAME, x->vm, OPERAND));
    CASE(ENTER): MACHINE(mwl__entry_enter(FRAME, OPERAND, AT_NEXT));
    CASE(GATE):
        NESTS(mwl__nest_in_phase(FRAME));
        if (LIKELY(mwl_value_kind(A) == MWL_KIND_BOOL && A.as.i)) NEXT();
        MACHINE(mwl__entry_gate(FRAME, A, TARGET_PC, AT_NEXT));
    CASE(WITH): NESTS(mwl__nest_in_phase(FRAME)); PLAIN(mwl__entry_with(FRAME, taken(&A)));
    CASE(ACT_REENTER):
        NESTS(mwl__nest_phase(FRAME, OPERAND, ip->a));
        MACHINE(mwl__entry_act_reenter(FRAME, x->vm, ip->a));
    CASE(ACTION):
        NESTS(mwl__nest_phase(FRAME, OPERAND, ip->a));
        MACHINE(mwl__entry_action(FRAME, ip->a, AT_NEXT));
    CASE(ACTION_DONE):
        NESTS(mwl__nest_action_done(FRAME, OPERAND, ip->a));
        MACHINE(mwl__entry_action_done(FRAME, ip->a));
    CASE(ESTABLISH):
        NESTS(mwl__nest_entry(FRAME, OPERAND, MWL_ENTRY_ENTERING));
        MACHINE(mwl__entry_establish(FRAME, AT_NEXT));
    CASE(ENTRY_FAULT):
        NESTS(mwl__nest_entry(FRAME, OPERAND, MWL_ENTRY_ENTERING));
        MACHINE(mwl__entry_fault(FRAME));
    CASE(ASCEND): NESTS(mwl__nest_ascend(FRAME, OPERAND)); MACHINE(mwl__ascend(FRAME, x->vm));
    CASE(SHAPE_SKIP): NESTS(mwl__nest_rises(FRAME)); MACHINE(mwl__entry_skips_shape(FRAME) ? TARGET_PC : AT_NEXT);
    CASE(SHAPE): NESTS(mwl__nest_rises(FRAME)); PLAIN(mwl__entry_shape(FRAME, taken(&A)));
    CASE(ENVELOPE): NESTS(mwl__nest_rises(FRAME)); MACHINE(mwl__entry_envelope(FRAME, &A, ip->b, AT_NEXT));
    CASE(PHASE_FAULT): NESTS(mwl__nest_rises_at(FRAME, OPERAND)); MACHINE(mwl__entry_phase_fault(FRAME));
    CASE(REENTER): NESTS(mwl__nest_rises_at(FRAME, OPERAND)); MACHINE(mwl__entry_reenter(FRAME));
    CASE(ALWAYS): NESTS(mwl__nest_always(FRAME, OPERAND)); MACHINE(mwl__entry_always(FRAME, AT_NEXT));
    CASE(ALWAYS_FAULT):
        NESTS(mwl__nest_entry(FRAME, OPERAND, MWL_ENTRY_CLEANING));
        MACHINE(mwl__entry_always_fault(FRAME));
    CASE(UNWIND):
        NESTS(mwl__nest_entry(FRAME, OPERAND, MWL_ENTRY_CLEANING));
        MACHINE(mwl__entry_unwind(FRAME, AT_NEXT));
    CASE(CALL): {
        const mwl__call_link *call = &x->calls[OPERAND];
        mwl_vm *vm = x->vm;
        if (call->now && !vm->listen) MACHINE(mwl__call_now(FRAME, vm, call));
        if (call->with_ok == MWL_CALL_DIRECT && !vm->listen) MACHINE(mwl__call_start(FRAME, vm, call));
        MACHINE(mwl__call_begin(FRAME, vm, OPERAND, AT_NEXT));
    }
    CASE(CALL_INPUT):
        NESTS(FRAME->record != NULL);
        PLAIN(mwl__replace(HEAP, &FRAME->record->target_input, taken(&A)));
    CASE(CALL_WITH): NESTS(FRAME->record != NULL); PLAIN(mwl__replace(HEAP, &FRAME->record->args, taken(&A)));
    CASE(DISPATCH): NESTS(mwl__nest_dispatch(FRAME, OPERAND)); MACHINE(mwl__call_dispatch(FRAME, OPERAND, AT_NEXT));
    CASE(ARMS): NESTS(mwl__nest_arms(FRAME, OPERAND)); MACHINE(mwl__call_arms(FRAME, OPERAND));
    CASE(ARM_VALUE): PLAIN(mwl__frame_set_res(FRAME, true, taken(&A)));
    CASE(CALL_FAULT): NESTS(mwl__nest_call_fault(FRAME, OPERAND)); MACHINE(mwl__call_fault(FRAME, OPERAND));
    CASE(ARM_FAULT): NESTS(mwl__nest_call(FRAME, OPERAND)); MACHINE(mwl__call_arm_fault(FRAME, OPERAND));
    CASE(CALL_END): NESTS(mwl__nest_call_end(FRAME, OPERAND)); MACHINE(mwl__call_end(FRAME, OPERAND, AT_NEXT));
    CASE(GATHER): NESTS(mwl__nest_gather(FRAME)); MACHINE(mwl__gather_begin(FRAME, OPERAND, AT_NEXT));
    CASE(GATHER_OVER):
        NESTS(mwl__nest_gather_field(FRAME, MWL_GATHER_OVER));
        MACHINE(mwl__gather_over(FRAME, A, AT_NEXT));
    CASE(GATHER_NEED): NESTS(mwl__nest_gather_field(FRAME, 0)); MACHINE(mwl__gather_need(FRAME, A, AT_NEXT));
    CASE(GATHER_RUN): NESTS(mwl__nest_gather_run(FRAME, OPERAND)); MACHINE(mwl__gather_run(FRAME, OPERAND));
    CASE(GATHER_ARMS): NESTS(mwl__nest_gather_end(FRAME, OPERAND)); MACHINE(mwl__gather_arms(FRAME));
    CASE(GATHER_FAULT): NESTS(mwl__nest_gather_fault(FRAME, OPERAND)); MACHINE(mwl__gather_fault(FRAME));
    CASE(GATHER_END): NESTS(mwl__nest_gather_end(FRAME, OPERAND)); MACHINE(mwl__gather_end(FRAME, AT_NEXT));

machine:
    if (!LIKELY(next < MWL_PC_LIMIT)) {
        if (next == MWL_PC_PARK) goto park;
        x->halt = next == MWL_PC_FAULT  ? MWL_EXEC_FAULT
                  : next == MWL_PC_FUEL ? MWL_EXEC_FUEL
                                        : MWL_EXEC_NOMEM;
        goto fail;
    }
    NESTS(took(PROGRAM, MADE_FROM, R));
    ip = CODE + next;
arrived:
    if (LIKELY(--x->slice >= 0)) DISPATCH(); /* charged when the turn ends: frame.c */
    HERE(); /* between blocks: registers hold nothing that is needed */
    mwl__exec_clear(x, PROGRAM->n_regs);
    x->in_block = false;
    return MWL_EXEC_YIELD;

#if !MWL__GOTO
    default: break;
    }
#endif

malformed:
    HERE();
    mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "malformed code: not an expression");
    goto fail;

yield:
    HERE();
    x->in_block = true;
    return MWL_EXEC_YIELD;

park:
    mwl__exec_clear(x, PROGRAM->n_regs);
    return MWL_EXEC_PARK;

out_of_fuel:
    HERE();
    return MWL_EXEC_FUEL;

fail:
    if (x->halt == MWL_EXEC_END) mwl__exec_heap_failed(x);
    if (x->halt == MWL_EXEC_FAULT) {
        NESTS(mwl__op_get(made_from(linked, x->pc).op)->flags & MWL_OPF_FAULTS);
        const mwl__handler_rec *handler = mwl__program_handler(PROGRAM, x->pc);
        x->halt = MWL_EXEC_END;
        if (handler && handler->kind == MWL_HANDLER_EXPR) {
            out = x->fault;
            x->fault = mwl_absent();
            SET(R[handler->reg], out);
            GO_TO(handler->target);
        }
        mwl__exec_locate(x);
        if (handler) { /* a construct's: it continues with the failure made from the fault */
            if (mwl__raised_set(x)) GO_TO(handler->target);
            return MWL_EXEC_NOMEM;
        }
        return MWL_EXEC_FAULT;
    }
    {
        mwl__outcome outcome = (mwl__outcome)x->halt;
        x->halt = MWL_EXEC_END;
        return outcome;
    }
}

#undef LIKELY
#undef CASE
#undef DISPATCH
#undef IS
#undef NEXT
#undef GO_TO
#undef TARGET
#undef JUMP
#undef PROGRAM
#undef CODE
#undef HEAP
#undef REG
#undef PART
#undef A
#undef B
#undef C
#undef KC
#undef PATH
#undef OPERAND
#undef FRAME
#undef SET
#undef SET_OUT
#undef HERE
#undef TRY
#undef NEED
#undef COPY
#undef ARITH
#undef ADD
#undef SUB
#undef MUL
#undef ANSWER
#undef ORDER
#undef EQUAL
#undef LOGIC
#undef STEP_LOOP
#undef AT_NEXT
#undef TARGET_PC
#undef MACHINE
#undef JOINED
#undef HOPS
#undef MADE_FROM
#undef NESTS
#undef PLAIN

/* clang-format on */
#if MWL__GOTO
#pragma GCC diagnostic pop
#endif

const void *const *mwl__exec_labels(void) {
    mwl__exec asks;
    memset(&asks, 0, sizeof asks);
    if (MWL__GOTO) (void)mwl__exec_run(&asks);
    return asks.labels;
}

#undef MWL__GOTO
