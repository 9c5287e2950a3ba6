/* test_op_facts.c: what an opcode does is what its row says. Every opcode of expressions is run
 * alone on values of every kind, borrowed and owned, and what it did to its registers is compared
 * with the operand columns and the flags of opcodes.h. A row that says too little, or too much,
 * fails. The machine's opcodes are watched by the loop itself in checked builds (exec.c). */
#include "utest.h"

#include "assembler/emit/emit.h"
#include "tests/unit/faulty.h"
#include "vm/cel/functions.h"
#include "vm/machine/exec.h"

/* Registers: a, b and c are the first three, so a run of two from b on is b and c; an iterator has
 * four of its own; LAST is what the code ends with. */
enum { A, B, C, ITERATOR, LAST = ITERATOR + 4, N_REGS };
enum { N_VALUES = 15, FELL = 5, JUMPED = 9 };

struct lab {
    struct faulty memory;
    mwl_alloc alloc;
    mwl_heap *heap;
    mwl_program *program;
    mwl__functions functions;
    const mwl_function_def **linked;
    mwl__exec x;
    mwl_value value[N_VALUES];
    mwl_value env[1];
    uint32_t pc; /* of the instruction */
    mwl__ins ins;
    const mwl__op_info *info;
    bool faulted, lent, wrote;                      /* wrote: something new into a */
    uint64_t seen[2][N_VALUES][N_VALUES][N_VALUES]; /* what came out; by ownership, a, b, c */
};

/* ---- values ---------------------------------------------------------------------------------- */

static mwl_value parse(struct lab *l, const char *json) {
    mwl_value v = mwl_absent();
    (void)mwl_json_parse(l->heap, json, strlen(json), &v, NULL);
    return v;
}

static void make_values(struct lab *l) {
    mwl_heap *h = l->heap;
    mwl_value deep = mwl_array(h, 0);
    while (mwl__value_depth(deep) < MWL_DEPTH_LIMIT)
        deep = mwl_array_push(h, mwl_array(h, 1), deep);
    mwl_value values[N_VALUES] = {
        mwl_null(),
        mwl_bool(false),
        mwl_bool(true),
        mwl_int(1),
        mwl_number(0.5),
        mwl_uint(1),
        mwl_string(h, "k", 1),
        mwl_bytes(h, "k", 1),
        parse(l, "[[1],[2,{\"k\":3}]]"),
        parse(l, "{\"k\":{\"k\":[4]}}"),
        parse(l, "{}"),
        mwl_optional_none(),
        mwl_optional(h, parse(l, "{\"k\":[5]}")),
        mwl__fault_new(h, MWL_FAILURE_EXPRESSION, 0, mwl_string(h, "a fault", 7), mwl_absent()),
        deep,
    };
    memcpy(l->value, values, sizeof values);
}

/* ---- a program with the one instruction ------------------------------------------------------ */

static mwl_value swap(mwl_fn *fn, const mwl_value *args, size_t n) {
    if (mwl_value_kind(args[0]) == MWL_KIND_NULL) return mwl_fn_fail(fn, "no null");
    return mwl_array_push(mwl_fn_heap(fn), mwl_array(mwl_fn_heap(fn), n), mwl_value_keep(args[1]));
}
static const mwl_function_def functions[] = {{"swap", swap, 2, 2, MWL_FN_GLOBAL, ""}};

/* The operand at this place, by its kind: registers as the enum has them, and something of each
 * table. */
static uint32_t operand_for(mwl__emit *e, const mwl__op_info *info, int place, uint32_t pc) {
    uint32_t keys[2] = {mwl__emit_string(e, "k", 1), mwl__emit_string(e, "l", 1)};
    bool loop = (info->flags & MWL_OPF_LOOP) != 0;
    switch ((mwl__operand)info->kind[place]) {
    case MWL_OPERAND_ITER: return ITERATOR;
    case MWL_OPERAND_IMM:
    case MWL_OPERAND_IMMX: return 2;
    case MWL_OPERAND_K: return mwl__emit_const(e, mwl_int(1));
    case MWL_OPERAND_KEY: return keys[0];
    case MWL_OPERAND_KX: return keys[1];
    case MWL_OPERAND_FN: return mwl__emit_func(e, "swap", 2, false);
    case MWL_OPERAND_SHAPE: return mwl__emit_shape(e, keys, 2);
    case MWL_OPERAND_PATHX: return mwl__emit_path(e, MWL_BASE_ENV, keys, 1);
    case MWL_OPERAND_JUMPX: return loop ? pc - 1 : pc + 2;
    case MWL_OPERAND_REGEXX: return mwl__emit_regex(e, keys[0]);
    default: return mwl__operand_get(info->kind[place])->n_regs ? (uint32_t)place : 0;
    }
}

static bool make_program(struct lab *l, unsigned op) {
    mwl__emit *e = mwl__emit_new(&l->alloc);
    mwl__buf image = mwl__buf_make(l->alloc);
    const mwl__op_info *info = mwl__op_get(op);
    for (unsigned r = 0; r < N_REGS; r++) mwl__emit_ax(e, MWL_OP_LOAD_INT, r, 0);
    l->pc = N_REGS;
    if (info->flags & MWL_OPF_LOOP) { /* its body is one instruction, into which nothing falls */
        l->pc = N_REGS + 2;
        mwl__emit_ax(e, MWL_OP_JUMP, 0, l->pc);
        mwl__emit_abc(e, MWL_OP_NOP, 0, 0, 0);
    }
    uint32_t v[3];
    for (int i = 0; i < 3; i++) v[i] = operand_for(e, info, i, l->pc);
    if (mwl__operand_get(info->kind[1])->wide)
        mwl__emit_ax(e, (mwl__op)op, v[0], v[1]);
    else
        mwl__emit_abc(e, (mwl__op)op, v[0], v[1], v[2]);
    mwl__emit_ax(e, MWL_OP_LOAD_INT, LAST, FELL);
    mwl__emit_abc(e, MWL_OP_END, LAST, 0, 0);
    mwl_error error = {MWL_OK, "", 0};
    const char *missing = NULL;
    bool made =
        mwl__emit_finish(e, 0, &image) == MWL_OK &&
        mwl__program_load(&l->alloc, image.data, image.len, true, &l->program, &error) == MWL_OK &&
        mwl__functions_link(&l->functions, &l->alloc, l->program, &l->linked, &missing) == MWL_OK;
    if (!made) printf("%s: %s\n", info->name, error.message);
    mwl__buf_free(&image);
    mwl__emit_free(e);
    l->x.program = l->program;
    l->x.functions = l->linked;
    l->info = info;
    if (made) l->ins = l->program->code[l->pc];
    return made && mwl__exec_reserve(&l->x, N_REGS) == MWL_OK;
}

static void free_program(struct lab *l) {
    if (l->linked) mwl__mem_free(&l->alloc, l->linked, l->program->n_funcs * sizeof *l->linked);
    l->linked = NULL;
    mwl__program_release(l->program);
    l->program = NULL;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* What the row says about a register. */
static mwl__use use_of(const struct lab *l, unsigned r) {
    for (int i = 0; i < 3; i++) {
        const mwl__operand_info *kind = mwl__operand_get(l->info->kind[i]);
        unsigned first = mwl__op_operand(l->ins, i), n = kind->n_regs == MWL_RUN ? 2 : kind->n_regs;
        if (n && r >= first && r < first + n) return (mwl__use)kind->use;
    }
    return MWL_USE_NOTHING;
}

static mwl_value placed(const struct lab *l, int i, bool owned) {
    return owned ? mwl__keep(l->value[i]) : mwl__borrow(l->value[i]);
}

/* A number for what came out: how it ended, and what the registers and the product hold. */
static uint64_t digest(const struct lab *l, mwl__outcome outcome) {
    uint64_t d = (uint64_t)outcome + 1;
    if (outcome == MWL_EXEC_FAULT) return d;
    for (unsigned r = 0; r <= N_REGS; r++) {
        mwl_value v = r < N_REGS ? l->x.regs[r] : l->x.product;
        mwl__use use = r < N_REGS ? use_of(l, r) : MWL_USE_FILLS;
        if (use != MWL_USE_FILLS && use != MWL_USE_CHANGES && use != MWL_USE_ITERATES) continue;
        uint64_t kind = mwl_value_kind(v);
        d = d * 1000003u + kind;
        if (kind != MWL_KIND_FAULT) d = d * 1000003u + mwl_value_hash(l->heap, v);
        if (kind == MWL_KIND_ARRAY && v.aux == 0)
            d = d * 1000003u + mwl__as_list(v)->cap; /* room */
    }
    return d;
}

static bool same_bits(mwl_value a, mwl_value b) {
    return a.tag == b.tag && a.aux == b.aux && a.as.u == b.as.u;
}

/* NULL, or what the register had done to it that the row does not say. */
static const char *wrong_with(const struct lab *l, unsigned r, mwl_value before, bool faulted) {
    mwl_value after = l->x.regs[r];
    switch (use_of(l, r)) {
    case MWL_USE_NOTHING:
    case MWL_USE_READS:
        return same_bits(before, after) ? NULL : "a register changes that is not written";
    case MWL_USE_TAKES:
        return faulted || (after.tag & (0xffu | MWL_OWNED)) == MWL_KIND_NULL ? NULL : "not taken";
    case MWL_USE_FILLS:
        if (faulted) return same_bits(before, after) ? NULL : "a fault comes after the write";
        break;
    default: break;
    }
    return mwl_is_absent(after) ? "left without a value" : NULL;
}

/* Whether a register that is written borrows from what the operands hold. */
static bool borrows(const struct lab *l, unsigned r) {
    mwl__use use = use_of(l, r);
    bool from_regs = use != MWL_USE_FILLS;
    for (int i = 1; i < 3; i++) from_regs |= mwl__operand_get(l->info->kind[i])->n_regs != 0;
    return from_regs && use != MWL_USE_NOTHING && use != MWL_USE_READS && use != MWL_USE_TAKES &&
           (l->x.regs[r].tag & (MWL_HEAP | MWL_OWNED)) == MWL_HEAP;
}

static const char *check(struct lab *l, const mwl_value *before, mwl__outcome outcome) {
    const unsigned flags = l->info->flags;
    bool faulted = outcome == MWL_EXEC_FAULT, yielded = outcome == MWL_EXEC_YIELD;
    const char *wrong = NULL;
    if (outcome != MWL_EXEC_END && !faulted && !(yielded && flags & MWL_OPF_LOOP))
        return "neither done nor faulted";
    if (faulted && !(flags & MWL_OPF_FAULTS)) return "it faults";
    l->faulted |= faulted;
    for (unsigned r = 0; r < LAST && !wrong; r++) {
        wrong = wrong_with(l, r, before[r], faulted);
        l->wrote |= r == A && !faulted && !same_bits(before[r], l->x.regs[r]) &&
                    mwl_value_kind(l->x.regs[r]) != MWL_KIND_NULL;
        if (faulted || !borrows(l, r)) continue;
        l->lent = true;
        if (!(flags & MWL_OPF_LENDS)) wrong = "it lends";
    }
    bool fell = mwl_value_kind(l->x.product) == MWL_KIND_INT && l->x.product.as.i == FELL;
    if (!wrong && !faulted && fell && (flags & MWL_OPF_END)) wrong = "control goes on";
    return wrong;
}

static const char *run_one(struct lab *l, int a, int b, int c, bool owned) {
    mwl__exec *x = &l->x;
    mwl_value *regs = x->regs, before[N_REGS];
    for (unsigned r = 0; r < N_REGS; r++) regs[r] = mwl_null();
    regs[A] = placed(l, a, owned);
    regs[B] = placed(l, b, owned);
    regs[C] = placed(l, c, owned);
    regs[ITERATOR] = placed(l, a, owned);
    regs[ITERATOR + 1] = mwl_int(0);
    regs[LAST] = mwl_int(JUMPED);
    memcpy(before, regs, sizeof before);
    l->env[0] = l->value[b];
    x->env = l->env;
    x->n_env = 1;
    x->pc = l->pc;
    x->slice = l->info->flags & MWL_OPF_LOOP ? 0 : 1000000; /* one round */
    mwl__outcome outcome =
        mwl__exec_link(x, mwl__exec_labels) == MWL_OK ? mwl__exec_run(x) : MWL_EXEC_NOMEM;
    const char *wrong = check(l, before, outcome);
    l->seen[owned][a][b][c] = digest(l, outcome);
    for (unsigned r = 0; r < N_REGS; r++) mwl__drop(l->heap, regs[r]), regs[r] = mwl_null();
    mwl__drop(l->heap, x->product), x->product = mwl_absent();
    mwl__drop(l->heap, x->fault), x->fault = mwl_absent();
    return wrong;
}

/* ---- an opcode ------------------------------------------------------------------------------- */

/* Does the value at this place make a difference anywhere? */
static bool matters(struct lab *l, int place) {
    for (int a = 0; a < N_VALUES; a++)
        for (int b = 0; b < N_VALUES; b++)
            for (int c = 0; c < N_VALUES; c++) {
                uint64_t first =
                    l->seen[0][place == 0 ? 0 : a][place == 1 ? 0 : b][place == 2 ? 0 : c];
                if (l->seen[0][a][b][c] != first) return true;
            }
    return false;
}

/* Of a register that is read some value must matter; of one that is filled, none may. A loop's
 * container is in the same place as a. */
static const char *wrong_reads(struct lab *l) {
    for (int place = 0; place < 3; place++) {
        mwl__use use = place == 0 && l->info->kind[0] == MWL_OPERAND_ITER
                           ? l->info->flags & MWL_OPF_LOOP ? MWL_USE_READS : MWL_USE_FILLS
                           : use_of(l, (unsigned)place);
        bool differs = matters(l, place);
        if (use == MWL_USE_FILLS && differs) return "it reads what it fills";
        if (use == MWL_USE_NOTHING && differs && l->info->kind[1] != MWL_OPERAND_PATHX)
            return "it reads what its row does not name";
        if (use != MWL_USE_FILLS && use != MWL_USE_NOTHING && !differs) return "it does not read";
    }
    return NULL;
}

static const char *wrong_row(struct lab *l, char *at, size_t size) {
    const unsigned flags = l->info->flags;
    l->faulted = l->lent = l->wrote = false;
    memset(l->seen, 0, sizeof l->seen);
    for (int owned = 0; owned < 2; owned++)
        for (int a = 0; a < N_VALUES; a++)
            for (int b = 0; b < N_VALUES; b++)
                for (int c = 0; c < N_VALUES; c++) {
                    const char *wrong = run_one(l, a, b, c, owned);
                    snprintf(at, size, " (values %d, %d, %d%s)", a, b, c, owned ? ", owned" : "");
                    if (wrong) return wrong;
                }
    *at = '\0';
    if ((flags & MWL_OPF_FAULTS) && !l->faulted) return "it never faults";
    if ((flags & MWL_OPF_LENDS) && !l->lent) return "it never lends";
    if (use_of(l, A) == MWL_USE_CHANGES && !l->wrote) return "it never changes";
    if (memcmp(l->seen[0], l->seen[1], sizeof l->seen[0]) != 0)
        return "ownership changes what it does";
    return wrong_reads(l);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static struct lab *lab_new(void) {
    struct lab *l = calloc(1, sizeof *l);
    if (!l) abort();
    l->alloc = faulty_alloc(&l->memory);
    mwl__functions_init(&l->functions, &l->alloc);
    if (mwl_heap_new(&l->alloc, &l->heap) < 0 || mwl__exec_init(&l->x, l->heap) < 0 ||
        mwl__functions_add(&l->functions, functions, 1) < 0)
        abort();
    make_values(l);
    return l;
}

/* True when nothing is left in memory. */
static bool lab_free(struct lab *l) {
    for (int i = 0; i < N_VALUES; i++) mwl__drop(l->heap, l->value[i]);
    mwl__exec_done(&l->x);
    mwl__functions_done(&l->functions);
    bool clean = mwl_heap_used(l->heap) == 0;
    mwl_heap_free(l->heap);
    clean = clean && l->memory.live_blocks == 0 && !l->memory.wrong;
    free(l);
    return clean;
}

UTEST(op_facts, rows_say_what_opcodes_do) {
    struct lab *l = lab_new();
    for (unsigned op = 0; op < MWL_OP_MACHINE; op++) {
        char at[64] = "";
        const char *wrong = make_program(l, op) ? wrong_row(l, at, sizeof at) : "not loaded";
        if (wrong) printf("%s: %s%s\n", mwl__op_get(op)->name, wrong, at);
        EXPECT_TRUE(wrong == NULL);
        free_program(l);
    }
    EXPECT_TRUE(lab_free(l));
}

static bool noticed(struct lab *l, const mwl__op_info *row, const char *how) {
    char at[64];
    l->info = row;
    if (wrong_row(l, at, sizeof at)) return true;
    printf("%s, %s: not noticed\n", row->name, how);
    return false;
}

/* The test above, tested: every row with one fact changed. */
UTEST(op_facts, a_wrong_fact_is_noticed) {
    static const uint8_t single[] = {MWL_OPERAND_REG, MWL_OPERAND_TAKEN, MWL_OPERAND_OUT,
                                     MWL_OPERAND_INOUT},
                         run[] = {MWL_OPERAND_REGS, MWL_OPERAND_TAKENS};
    struct lab *l = lab_new();
    for (unsigned op = 0; op < MWL_OP_MACHINE; op++) {
        const mwl__op_info *right = mwl__op_get(op);
        mwl__op_info row = *right;
        ASSERT_TRUE(make_program(l, op));
        row.flags = right->flags ^ MWL_OPF_FAULTS;
        EXPECT_TRUE(noticed(l, &row, "faults or not"));
        row.flags = right->flags ^ MWL_OPF_LENDS;
        EXPECT_TRUE(noticed(l, &row, "lends or not"));
        row.flags = right->flags;
        for (int i = 0; i < 3; i++) {
            unsigned n = mwl__operand_get(right->kind[i])->n_regs;
            const uint8_t *kinds = n == MWL_RUN ? run : single;
            size_t n_kinds = n == MWL_RUN || i > 0 ? 2 : 4; /* only a is written */
            if (n != 1 && n != MWL_RUN) continue;
            for (size_t k = 0; k < n_kinds; k++) {
                if (kinds[k] == right->kind[i]) continue;
                row.kind[i] = kinds[k];
                EXPECT_TRUE(noticed(l, &row, mwl__operand_get(kinds[k])->name));
                row.kind[i] = right->kind[i];
            }
        }
        free_program(l);
    }
    EXPECT_TRUE(lab_free(l));
}

UTEST_MAIN()
