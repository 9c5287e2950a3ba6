/* The interpreter on hand-written code: registers, counts, faults, handlers, malformed code. */
#include "assembler/emit/emit.h"
#include "tests/unit/faulty.h"
#include "utest.h"
#include "vm/cel/functions.h"
#include "vm/machine/exec.h"

/* ---- a program from a few instructions ------------------------------------------------------- */

struct machine {
    struct faulty memory;
    mwl_alloc alloc;
    mwl_heap *heap;
    mwl__emit *emit;
    mwl_program *program;
    mwl__exec x;
    mwl_value env[2];
};

static void open_machine(struct machine *m) {
    memset(m, 0, sizeof *m);
    m->alloc = faulty_alloc(&m->memory);
    (void)mwl_heap_new(&m->alloc, &m->heap);
    m->emit = mwl__emit_new(&m->alloc);
    (void)mwl__exec_init(&m->x, m->heap);
    m->env[0] = m->env[1] = mwl_absent();
}

static bool load(struct machine *m) {
    mwl__buf image = mwl__buf_make(m->alloc);
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_status status = mwl__emit_finish(m->emit, 0, &image);
    if (status == MWL_OK)
        status = mwl__program_load(&m->alloc, image.data, image.len, true, &m->program, &error);
    mwl__buf_free(&image);
    if (status != MWL_OK) printf("not loaded: %s\n", error.message ? error.message : "");
    return status == MWL_OK;
}

static mwl__outcome run(struct machine *m) {
    if (!m->program && !load(m)) return MWL_EXEC_PARK;
    m->x.program = m->program;
    m->x.env = m->env;
    m->x.n_env = 2;
    m->x.pc = 0;
    if (mwl__exec_reserve(&m->x, m->program->n_regs) != MWL_OK) return MWL_EXEC_NOMEM;
    if (mwl__exec_link(&m->x, mwl__exec_labels) != MWL_OK) return MWL_EXEC_NOMEM;
    return mwl__exec_run(&m->x);
}

/* Returns true if nothing is left in memory. */
static bool close_machine(struct machine *m) {
    mwl__exec_done(&m->x);
    mwl_value_drop(m->heap, m->env[0]);
    mwl_value_drop(m->heap, m->env[1]);
    bool clean = mwl_heap_used(m->heap) == 0;
    mwl__program_release(m->program);
    mwl__emit_free(m->emit);
    mwl_heap_free(m->heap);
    return clean && m->memory.live_blocks == 0 && !m->memory.wrong;
}

#define ABC(op, a, b, c) mwl__emit_abc(m.emit, MWL_OP_##op, a, b, c)
#define AX(op, a, x) mwl__emit_ax(m.emit, MWL_OP_##op, a, x)

static uint32_t env_path(struct machine *m, unsigned slot) {
    return mwl__emit_path(m->emit, MWL_BASE_ENV + slot, NULL, 0);
}

static const char *fault_text(const struct machine *m) {
    return mwl_value_kind(m->x.fault) == MWL_KIND_FAULT
               ? mwl__as_str(mwl__as_fault(m->x.fault)->message)->s
               : "";
}

/* ---- registers ------------------------------------------------------------------------------- */

UTEST(exec, the_product_is_counted_the_load_is_not) {
    struct machine m;
    open_machine(&m);
    m.env[0] = mwl_array_push(m.heap, mwl_array(m.heap, 1), mwl_number(1));
    AX(LOAD_PATH, 0, env_path(&m, 0));
    ABC(END, 0, 0, 0);
    ASSERT_EQ(run(&m), MWL_EXEC_END);
    EXPECT_EQ(mwl__as_list(m.env[0])->rc, 2u);
    EXPECT_TRUE(mwl_value_equal(m.x.product, m.env[0]));
    EXPECT_TRUE(close_machine(&m));
}

UTEST(exec, moving_and_taking) {
    struct machine m;
    open_machine(&m);
    AX(NEW_LIST, 0, 4);
    ABC(MOVE, 1, 0, 0);
    ABC(TAKE, 2, 0, 0);
    AX(LOAD_INT, 3, 7);
    ABC(LIST_PUSH, 2, 3, 0);
    ABC(LIST_OF, 0, 1, 2);
    ABC(END, 0, 0, 0);
    ASSERT_EQ(run(&m), MWL_EXEC_END);
    ASSERT_EQ(mwl_count(m.x.product), (size_t)2);
    EXPECT_EQ(mwl_count(mwl_array_at(m.x.product, 0)),
              (size_t)0); /* the older version did not change */
    EXPECT_EQ(mwl_count(mwl_array_at(m.x.product, 1)), (size_t)1);
    EXPECT_TRUE(close_machine(&m));
}

UTEST(exec, a_part_outlives_the_temporary_it_came_from) {
    struct machine m;
    open_machine(&m);
    uint32_t k = mwl__emit_string(m.emit, "k", 1);
    AX(NEW_LIST, 1, 1);
    AX(LOAD_INT, 2, 5);
    ABC(LIST_PUSH, 1, 2, 0);
    uint32_t shape = mwl__emit_shape(m.emit, &k, 1);
    ABC(MAP_OF, 0, 1, shape);
    ABC(SELECT, 0, 0, k); /* overwrites the map it selects from */
    ABC(END, 0, 0, 0);
    ASSERT_EQ(run(&m), MWL_EXEC_END);
    EXPECT_EQ(mwl_as_int(mwl_array_at(m.x.product, 0)), 5);
    EXPECT_TRUE(close_machine(&m));
}

/* A name is looked for where it was last. An older version in the same buffer has not got it. */
UTEST(exec, a_member_that_only_a_newer_version_has) {
    struct machine m;
    open_machine(&m);
    m.heap->shares_names = true; /* as that of a VM */
    uint32_t b = mwl__emit_string(m.emit, "b", 1);
    mwl_value older = mwl_object_set(m.heap, mwl_object(m.heap, 2), "a", 1, mwl_number(1));
    mwl_value newer = mwl_object_set(m.heap, mwl_value_keep(older), "b", 1, mwl_number(2));
    ASSERT_TRUE(older.as.p == newer.as.p);
    m.env[0] = mwl_array_push(m.heap, mwl_array(m.heap, 2), newer);
    m.env[0] = mwl_array_push(m.heap, m.env[0], older);
    mwl__emit_regs(m.emit, 8);
    AX(LOAD_PATH, 1, env_path(&m, 0));
    AX(LOAD_K, 0, mwl__emit_const(m.emit, mwl_number(0)));
    ABC(ITER, 2, 1, 0);
    uint32_t enter = AX(JUMP, 0, 0);
    uint32_t body = ABC(SELECT, 5, 4, b);
    ABC(ADD, 0, 0, 5);
    uint32_t next = AX(NEXT, 2, body);
    mwl__emit_patch(m.emit, enter, next);
    ABC(END, 0, 0, 0);
    EXPECT_EQ(run(&m), MWL_EXEC_FAULT);
    EXPECT_STREQ(fault_text(&m), "no such key 'b'");
    EXPECT_TRUE(close_machine(&m));
}

/* ---- faults ---------------------------------------------------------------------------------- */

UTEST(exec, the_innermost_handler_gets_the_fault) {
    struct machine m;
    open_machine(&m);
    uint32_t zero = mwl__emit_const(m.emit, mwl_int(0));
    AX(LOAD_INT, 0, 1);
    AX(LOAD_K, 1, zero);
    uint32_t begin = ABC(DIV, 2, 0, 1);
    AX(LOAD_INT, 3, 10); /* skipped */
    uint32_t target = ABC(RAISE_IF, 3, 0, 0);
    uint32_t end = ABC(END, 0, 0, 0);
    uint32_t outer = AX(LOAD_INT, 0, 20);
    ABC(END, 0, 0, 0);
    mwl__emit_handler(m.emit, begin, begin + 1, target, 3, MWL_HANDLER_EXPR);
    mwl__emit_handler(m.emit, 0, end, outer, 4, MWL_HANDLER_EXPR);
    ASSERT_EQ(run(&m), MWL_EXEC_END);
    EXPECT_EQ(mwl_as_int(m.x.product), 20);
    EXPECT_EQ(mwl__as_fault(m.x.regs[4])->where,
              begin); /* raised again, it still has its first place */
    EXPECT_TRUE(close_machine(&m));
}

UTEST(exec, an_unhandled_fault_leaves) {
    struct machine m;
    open_machine(&m);
    AX(LOAD_INT, 0, 1);
    AX(LOAD_INT, 1, 0);
    ABC(MOD, 0, 0, 1);
    ABC(END, 0, 0, 0);
    ASSERT_EQ(run(&m), MWL_EXEC_FAULT);
    EXPECT_STREQ(fault_text(&m), "modulus by zero");
    EXPECT_EQ(m.x.pc, 2u);
    EXPECT_TRUE(close_machine(&m));
}

UTEST(exec, a_variable_without_a_value) {
    struct machine m;
    open_machine(&m);
    AX(LOAD_PATH, 0, env_path(&m, 1));
    ABC(END, 0, 0, 0);
    ASSERT_EQ(run(&m), MWL_EXEC_FAULT);
    EXPECT_STREQ(fault_text(&m), "the variable has no value");
    EXPECT_TRUE(close_machine(&m));
}

/* ---- what the verifier cannot see: the kinds in registers ------------------------------------ */

UTEST(exec, instructions_ask_for_the_kinds_they_need) {
    static const mwl__op ops[] = {
        MWL_OP_LIST_PUSH, MWL_OP_LIST_PUSH_OPT, MWL_OP_MAP_PUT, MWL_OP_MAP_PUT_OPT,
        MWL_OP_MAP_MERGE, MWL_OP_OPT_GET,       MWL_OP_NEG,     MWL_OP_INDEX,
        MWL_OP_INDEX_OPT, MWL_OP_ADD,           MWL_OP_LT,      MWL_OP_IN,
        MWL_OP_ITER,      MWL_OP_CONCAT};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        struct machine m;
        open_machine(&m);
        uint32_t k = mwl__emit_const(m.emit, mwl_bool(true));
        AX(LOAD_K, 0, k);
        AX(LOAD_K, 1, k);
        AX(LOAD_K, 2, k);
        const mwl__op_info *info = mwl__op_get(ops[i]);
        mwl__emit_regs(m.emit, 8);
        mwl__emit_abc(m.emit, ops[i], 0, 1, info->kind[2] == MWL_OPERAND_NONE ? 0 : 2);
        ABC(END, 0, 0, 0);
        mwl__outcome outcome = run(&m);
        if (ops[i] == MWL_OP_LT)
            EXPECT_EQ(outcome, MWL_EXEC_END); /* bools are ordered */
        else
            EXPECT_EQ(outcome, MWL_EXEC_FAULT);
        EXPECT_TRUE(close_machine(&m));
    }
}

UTEST(exec, a_loop_without_an_iterator) {
    struct machine m;
    open_machine(&m);
    mwl__emit_regs(m.emit, 8);
    AX(LOAD_INT, 0, 1);
    AX(LOAD_INT, 1, 1);
    uint32_t to_next = AX(JUMP, 0, 0);
    uint32_t body = ABC(NOP, 0, 0, 0);
    mwl__emit_patch(m.emit, to_next, AX(NEXT, 0, body));
    ABC(END, 0, 0, 0);
    ASSERT_EQ(run(&m), MWL_EXEC_FAULT);
    EXPECT_TRUE(strstr(fault_text(&m), "malformed") != NULL);
    EXPECT_TRUE(close_machine(&m));
}

UTEST(exec, a_constant_that_is_no_name) {
    struct machine m;
    open_machine(&m);
    m.env[0] = mwl_object_set(m.heap, mwl_object(m.heap, 1), "a", 1, mwl_null());
    uint32_t k = mwl__emit_const(m.emit, mwl_number(1));
    AX(LOAD_PATH, 0, env_path(&m, 0));
    ABC(SELECT, 0, 0, k);
    ABC(END, 0, 0, 0);
    mwl__outcome outcome = run(&m); /* refused when loaded, or when run */
    EXPECT_TRUE(outcome == MWL_EXEC_PARK || outcome == MWL_EXEC_FAULT);
    EXPECT_TRUE(close_machine(&m));
}

/* ---- fuel ------------------------------------------------------------------------------------ */

UTEST(exec, a_yield_is_before_a_round_and_loses_nothing) {
    struct machine m;
    open_machine(&m);
    mwl_value list = mwl_array(m.heap, 10);
    for (int i = 0; i < 10; i++) list = mwl_array_push(m.heap, list, mwl_number(i));
    m.env[0] = list;
    mwl__emit_regs(m.emit, 8);
    AX(LOAD_PATH, 1, env_path(&m, 0));
    AX(LOAD_K, 0, mwl__emit_const(m.emit, mwl_number(0)));
    ABC(ITER, 2, 1, 0);
    uint32_t enter = AX(JUMP, 0, 0);
    uint32_t body = ABC(ADD, 0, 0, 4);
    uint32_t next = AX(NEXT, 2, body);
    mwl__emit_patch(m.emit, enter, next);
    ABC(END, 0, 0, 0);
    m.x.slice = 0;
    mwl__outcome outcome = run(&m);
    unsigned yields = 0;
    while (outcome == MWL_EXEC_YIELD) {
        yields++;
        EXPECT_EQ(m.x.pc, next);
        m.x.slice = 0;
        outcome = mwl__exec_run(&m.x);
    }
    ASSERT_EQ(outcome, MWL_EXEC_END);
    EXPECT_EQ(yields,
              10u); /* one for each round except the first, and one before the end is noticed */
    EXPECT_EQ(mwl_as_number(m.x.product), 45.0);
    EXPECT_TRUE(close_machine(&m));
}

/* ---- the registry ---------------------------------------------------------------------------- */

static mwl_value answer(mwl_fn *fn, const mwl_value *args, size_t n) {
    (void)fn;
    (void)args;
    return mwl_int((int64_t)n);
}
static mwl_value fails(mwl_fn *fn, const mwl_value *args, size_t n) {
    (void)args;
    return n == 1 ? mwl_fn_no_overload(fn) : mwl_fn_fail(fn, "no %s", "luck");
}

UTEST(exec, functions_are_found_by_name_style_and_count) {
    static const mwl_function_def defs[] = {
        {"f", answer, 1, 1, MWL_FN_GLOBAL, ""},
        {"f", fails, 2, 3, MWL_FN_GLOBAL, ""},
        {"f", answer, 1, 2, MWL_FN_MEMBER, ""},
        {"g.h", answer, 0, 255, MWL_FN_GLOBAL, ""},
    };
    static const mwl_function_def again = {"f", answer, 3, 4, MWL_FN_GLOBAL | MWL_FN_MEMBER, ""};
    mwl__functions f;
    mwl__functions_init(&f, NULL);
    ASSERT_EQ(mwl__functions_add(&f, defs, 4), MWL_OK);
    EXPECT_EQ(mwl__functions_add(&f, &again, 1), MWL_E_DUPLICATE);
    EXPECT_TRUE(mwl__functions_find(&f, "f", 1, 1, false) == &defs[0]);
    EXPECT_TRUE(mwl__functions_find(&f, "f", 1, 3, false) == &defs[1]);
    EXPECT_TRUE(mwl__functions_find(&f, "f", 1, 2, true) == &defs[2]);
    EXPECT_TRUE(mwl__functions_find(&f, "f", 1, 3, true) == NULL);
    EXPECT_TRUE(mwl__functions_find(&f, "f", 1, 0, false) == NULL);
    EXPECT_TRUE(mwl__functions_find(&f, "g.h", 3, 300, false) == &defs[3]);
    EXPECT_TRUE(mwl__functions_find(&f, "g", 1, 0, false) == NULL);
    EXPECT_EQ(mwl__functions_styles(&f, "f", 1), (unsigned)(MWL_FN_GLOBAL | MWL_FN_MEMBER));
    mwl__functions_done(&f);
}

UTEST(exec, a_function_that_fails_says_why) {
    static const mwl_function_def def = {"f", fails, 1, 2, MWL_FN_GLOBAL, ""};
    struct machine m;
    open_machine(&m);
    mwl__functions f;
    mwl__functions_init(&f, &m.alloc);
    ASSERT_EQ(mwl__functions_add(&f, &def, 1), MWL_OK);
    AX(LOAD_INT, 0, 1);
    ABC(CALL_FN, 0, 0, mwl__emit_func(m.emit, "f", 1, false));
    ABC(END, 0, 0, 0);
    const mwl_function_def **linked = NULL;
    const char *missing = NULL;
    ASSERT_TRUE(load(&m));
    ASSERT_EQ(mwl__functions_link(&f, &m.alloc, m.program, &linked, &missing), MWL_OK);
    m.x.functions = linked;
    ASSERT_EQ(run(&m), MWL_EXEC_FAULT);
    EXPECT_STREQ(fault_text(&m), "no such overload: f(int)");
    mwl__mem_free(&m.alloc, linked, m.program->n_funcs * sizeof *linked);
    mwl__functions_done(&f);
    EXPECT_TRUE(close_machine(&m));
}

UTEST_MAIN()
