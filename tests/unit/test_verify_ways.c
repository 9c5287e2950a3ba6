/* test_verify_ways.c: code that must be refused: wrong loops, registers that may hold nothing,
 * brackets that do not nest. Each rule has hand-written code; then every instruction of real
 * programs is put in every place of them. */
#include "assembler/emit/emit.h"
#include "tests/unit/broken_images.h"
#include "utest.h"

#include <stdlib.h>

#define ABC(op, a, b, c)                                                                           \
    { MWL_OP_##op, a, b, c }
#define AX(op, a, x)                                                                               \
    { MWL_OP_##op, a, (uint16_t)(x), 0 }

/* ---- expressions ----------------------------------------------------------------------------- */

struct code {
    const char *message; /* NULL: it loads */
    uint32_t at;         /* the instruction, or the handler, that is named */
    mwl__ins ins[16];
    mwl__handler_rec handler; /* end 0: none */
};

static mwl_status load_code(const struct code *c, mwl_error *error, size_t *code_at) {
    mwl__emit *e = mwl__emit_new(NULL);
    mwl__buf image = mwl__buf_make(mwl_alloc_default());
    mwl_program *p = NULL;
    uint32_t key = mwl__emit_string(e, "key", 3);
    (void)mwl__emit_const(e, mwl_bool(true)); /* k1 */
    (void)mwl__emit_shape(e, &key, 1);
    (void)mwl__emit_func(e, "size", 1, false);
    mwl__emit_regs(e, 12);
    for (int i = 0; i < 16 && (i == 0 || c->ins[i - 1].op != MWL_OP_END || c->ins[i].op); i++) {
        mwl__ins ins = c->ins[i];
        if (mwl__operand_get(mwl__op_get(ins.op)->kind[1])->wide)
            mwl__emit_ax(e, (mwl__op)ins.op, ins.a, ins.b);
        else
            mwl__emit_abc(e, (mwl__op)ins.op, ins.a, ins.b, ins.c);
    }
    if (c->handler.end)
        mwl__emit_handler(e, c->handler.begin, c->handler.end, c->handler.target, c->handler.reg,
                          MWL_HANDLER_EXPR);
    *error = (mwl_error){MWL_OK, "", 0};
    if (mwl__emit_finish(e, 0, &image) < 0) abort();
    mwl_status status = mwl__program_load(NULL, image.data, image.len, true, &p, error);
    mwl__image view;
    (void)mwl__image_open(image.data, image.len, &view, NULL);
    *code_at = (size_t)((const char *)view.section[MWL_SECTION_CODE].data - image.data);
    mwl__program_release(p);
    mwl__buf_free(&image);
    mwl__emit_free(e);
    return status;
}

static bool as_said(const struct code *c) {
    mwl_error error;
    size_t code_at;
    mwl_status status = load_code(c, &error, &code_at);
    bool ok = c->message
                  ? status == MWL_E_IMAGE && strcmp(error.message, c->message) == 0 &&
                        (c->handler.end || error.offset == code_at + c->at * sizeof(mwl__ins))
                  : status == MWL_OK;
    if (!ok)
        printf("wanted \"%s\" at %u, got %d \"%s\" at %ld\n", c->message ? c->message : "", c->at,
               (int)status, error.message, (long)(error.offset - code_at) / 8);
    return ok;
}

static const char nothing[] = "a register is read that may hold nothing here";
static const char outlives[] = "a register would borrow from one that is replaced";

UTEST(verify_regs, written_before_read_on_every_way) {
    static const struct code cases[] = {
        {nothing, 0, {ABC(MOVE, 0, 1, 0), ABC(END, 0, 0, 0)}, {0}},
        {nothing, 0, {ABC(END, 0, 0, 0)}, {0}},
        {nothing, 1, {AX(LOAD_INT, 1, 7), ABC(LIST_OF, 0, 1, 2), ABC(END, 0, 0, 0)}, {0}},
        {nothing, 0, {ABC(CALL_FN, 0, 1, 0), ABC(END, 0, 0, 0)}, {0}},
        {nothing, 1, {AX(LOAD_INT, 1, 7), ABC(ADD, 0, 1, 2), ABC(END, 0, 0, 0)}, {0}},
        {nothing, 1, {AX(LOAD_INT, 2, 7), ABC(LIST_PUSH, 0, 2, 0), ABC(END, 0, 0, 0)}, {0}},
        {nothing,
         3,
         {AX(LOAD_K, 0, 1), AX(JUMP_IF, 0, 3), AX(LOAD_INT, 1, 7), ABC(END, 1, 0, 0)},
         {0}},
        {NULL,
         0,
         {AX(LOAD_K, 0, 1), AX(JUMP_IF, 0, 4), AX(LOAD_INT, 1, 7), AX(JUMP, 0, 5),
          AX(LOAD_INT, 1, 8), ABC(END, 1, 0, 0)},
         {0}},
        /* taken: null, and so readable */
        {NULL, 0, {AX(LOAD_INT, 1, 7), ABC(LIST_OF, 0, 1, 1), ABC(END, 1, 0, 0)}, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) EXPECT_TRUE(as_said(&cases[i]));
}

UTEST(verify_regs, a_handler_knows_what_was_before_its_range) {
    struct code c = {NULL,
                     3,
                     {AX(LOAD_INT, 1, 7), ABC(ADD, 2, 1, 1), ABC(NOP, 0, 0, 0), ABC(END, 1, 0, 0)},
                     {1, 2, 3, 0, 5, 0}};
    EXPECT_TRUE(as_said(&c));
    c.ins[3].a = 5; /* the fault, but only by one of two ways */
    c.message = nothing;
    EXPECT_TRUE(as_said(&c));
    c.ins[2] = (mwl__ins)AX(LOAD_INT, 5, 1);
    c.message = NULL;
    EXPECT_TRUE(as_said(&c));
    c.ins[3].a = 2; /* written in the range: a fault comes before it */
    c.message = nothing;
    EXPECT_TRUE(as_said(&c));
}

/* 0: NEW_LIST r1; 1: ITER r3; 2: JUMP next; body 3, 4, 5; 6: NEXT; 7: END. The element is r5. */
#define LOOP(a, b, c)                                                                              \
    {                                                                                              \
        AX(NEW_LIST, 1, 0), ABC(ITER, 3, 1, 0), AX(JUMP, 0, 6), a, b, c, AX(NEXT, 3, 3),           \
            ABC(END, 1, 0, 0)                                                                      \
    }
#define NOTHING ABC(NOP, 0, 0, 0)

UTEST(verify_regs, what_a_loop_lends) {
    static const struct code cases[] = {
        {NULL, 0, LOOP(ABC(MOVE, 7, 5, 0), ABC(SELECT, 8, 7, 0), ABC(LIST_PUSH, 1, 8, 0)), {0}},
        {NULL,
         0,
         LOOP(ABC(MOVE, 7, 5, 0), ABC(MOVE, 6, 7, 0), NOTHING),
         {0}}, /* down, but above the lender */
        {outlives, 3, LOOP(ABC(MOVE, 2, 5, 0), NOTHING, NOTHING), {0}},
        {outlives, 3, LOOP(ABC(MOVE, 3, 5, 0), NOTHING, NOTHING), {0}},
        {outlives, 4, LOOP(ABC(MOVE, 7, 5, 0), ABC(SELECT, 0, 7, 0), NOTHING), {0}},
        {outlives, 3, LOOP(ABC(ITER, 0, 5, 0), NOTHING, NOTHING), {0}},
        /* the iterator's register, or one below it, gets another value */
        {nothing, 4, LOOP(AX(LOAD_INT, 3, 0), ABC(MOVE, 7, 5, 0), NOTHING), {0}},
        {nothing, 4, LOOP(AX(LOAD_INT, 0, 0), ABC(MOVE, 7, 5, 0), NOTHING), {0}},
        {nothing, 4, LOOP(ABC(TAKE, 7, 3, 0), ABC(MOVE, 8, 5, 0), NOTHING), {0}},
        {nothing, 5, LOOP(ABC(MOVE, 7, 5, 0), ABC(LIST_PUSH, 3, 1, 0), ABC(MOVE, 8, 7, 0)), {0}},
        {nothing,
         4,
         LOOP(ABC(LIST_PUSH, 1, 5, 0), ABC(EQ, 7, 6, 6), NOTHING),
         {0}}, /* r6 is NEXT2's */
        /* what the next round finds is not what the first one found */
        {nothing,
         3,
         {AX(NEW_LIST, 1, 0), ABC(ITER, 3, 1, 0), AX(JUMP, 0, 6), ABC(MOVE, 8, 7, 0), NOTHING,
          NOTHING, AX(NEXT, 3, 3), ABC(END, 1, 0, 0)},
         {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) EXPECT_TRUE(as_said(&cases[i]));
}

UTEST(verify_regs, a_second_round_knows_less) {
    struct code c = {NULL,
                     4,
                     {AX(NEW_LIST, 1, 0), AX(LOAD_INT, 7, 0), ABC(ITER, 3, 1, 0), AX(JUMP, 0, 7),
                      ABC(MOVE, 8, 7, 0), ABC(MOVE, 7, 5, 0), NOTHING, AX(NEXT, 3, 4),
                      ABC(END, 1, 0, 0)},
                     {0}};
    EXPECT_TRUE(as_said(&c)); /* the last element, which NEXT has not given up */
    c.ins[6] = (mwl__ins)AX(LOAD_INT, 1, 0);
    c.message = nothing; /* writing r1 made r7 invalid */
    EXPECT_TRUE(as_said(&c));
    c.ins[4] = (mwl__ins)AX(LOAD_INT, 8, 0);
    c.message = NULL; /* it is never read */
    EXPECT_TRUE(as_said(&c));
    c.ins[8] = (mwl__ins)ABC(END, 7, 0, 0);
    c.at = 8;
    c.message = nothing;
    EXPECT_TRUE(as_said(&c));
}

UTEST(verify_regs, nobody_takes_what_it_changes) {
    static const char changes[] = "an instruction takes what it changes";
    static const struct code cases[] = {
        {changes, 1, {AX(NEW_LIST, 1, 0), ABC(LIST_PUSH, 1, 1, 0), ABC(END, 1, 0, 0)}, {0}},
        {changes, 1, {AX(NEW_LIST, 1, 0), ABC(LIST_PUSH_OPT, 1, 1, 0), ABC(END, 1, 0, 0)}, {0}},
        {changes, 1, {AX(NEW_MAP, 1, 0), ABC(MAP_MERGE, 1, 1, 0), ABC(END, 1, 0, 0)}, {0}},
        {changes,
         2,
         {AX(NEW_MAP, 1, 0), AX(LOAD_K, 2, 0), ABC(MAP_PUT, 1, 2, 1), ABC(END, 1, 0, 0)},
         {0}},
        {changes,
         2,
         {AX(NEW_MAP, 1, 0), AX(LOAD_K, 2, 0), ABC(MAP_PUT, 1, 1, 2), ABC(END, 1, 0, 0)},
         {0}},
        {"an instruction takes a register twice",
         2,
         {AX(NEW_MAP, 1, 0), AX(LOAD_K, 2, 0), ABC(MAP_PUT, 1, 2, 2), ABC(END, 1, 0, 0)},
         {0}},
        {NULL,
         0,
         {AX(LOAD_INT, 1, 0), ABC(TAKE, 1, 1, 0), ABC(OPT_OF, 1, 1, 0), ABC(END, 1, 0, 0)},
         {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) EXPECT_TRUE(as_said(&cases[i]));
}

UTEST(verify_loops, the_shape_of_control) {
    static const struct code cases[] = {
        {"a jump goes back and is not a loop",
         1,
         {NOTHING, AX(JUMP, 0, 0), ABC(END, 0, 0, 0)},
         {0}},
        {"a jump goes back and is not a loop", 0, {AX(JUMP, 0, 0), ABC(END, 0, 0, 0)}, {0}},
        {"a loop's body is not before its end", 0, {AX(NEXT, 0, 1), ABC(END, 0, 0, 0)}, {0}},
        {"a loop's body is not before its end", 0, {AX(NEXT, 0, 0), ABC(END, 0, 0, 0)}, {0}},
        {"a loop is entered by its body",
         1,
         {NOTHING, NOTHING, AX(NEXT, 0, 1), ABC(END, 0, 0, 0)},
         {0}},
        {"a loop is entered by its body", 0, {NOTHING, AX(NEXT, 0, 0), ABC(END, 0, 0, 0)}, {0}},
        {"two loops have the same body",
         3,
         {AX(JUMP, 0, 2), NOTHING, AX(NEXT, 0, 1), AX(NEXT, 0, 1), ABC(END, 0, 0, 0)},
         {0}},
        {"loops cross",
         3,
         {AX(JUMP, 0, 4), NOTHING, AX(JUMP, 0, 4), NOTHING, AX(NEXT, 0, 1), AX(NEXT, 0, 3),
          ABC(END, 0, 0, 0)},
         {0}},
        {"a jump goes into a loop",
         0,
         {AX(JUMP, 0, 2), NOTHING, NOTHING, AX(NEXT, 0, 1), ABC(END, 0, 0, 0)},
         {0}},
        {"a jump goes into a loop",
         0,
         {AX(JUMP, 0, 1), NOTHING, AX(NEXT, 0, 1), ABC(END, 0, 0, 0)},
         {0}},
        {"a handler goes into a loop",
         0,
         {NOTHING, AX(JUMP, 0, 4), NOTHING, NOTHING, AX(NEXT, 0, 2), ABC(END, 0, 0, 0)},
         {0, 1, 3, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) EXPECT_TRUE(as_said(&cases[i]));
}

/* ---- bounds of the walk itself --------------------------------------------------------------- */

static void refused_whole(mwl__emit *e, const char *message, int *utest_result) {
    mwl__buf image = mwl__buf_make(mwl_alloc_default());
    mwl_program *p = NULL;
    mwl_error error = {MWL_OK, "", 0};
    ASSERT_EQ(mwl__emit_finish(e, 0, &image), MWL_OK);
    EXPECT_EQ(mwl__program_load(NULL, image.data, image.len, true, &p, &error), MWL_E_IMAGE);
    EXPECT_STREQ(error.message, message);
    mwl__buf_free(&image);
    mwl__emit_free(e);
}

UTEST(verify_regs, too_many_open_ways) {
    mwl__emit *e = mwl__emit_new(NULL);
    uint32_t n = 5000, k = mwl__emit_const(e, mwl_bool(true));
    mwl__emit_ax(e, MWL_OP_LOAD_K, 0, k);
    for (uint32_t i = 0; i < n; i++) mwl__emit_ax(e, MWL_OP_JUMP_IF, 0, n + 1 + i);
    for (uint32_t i = 0; i < n; i++) mwl__emit_abc(e, MWL_OP_NOP, 0, 0, 0);
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
    refused_whole(e, "too many ways are open here to be followed", utest_result);
}

UTEST(verify_regs, too_tangled) {
    mwl__emit *e = mwl__emit_new(NULL);
    for (uint32_t i = 0; i < MWL_REGS_LIMIT; i++) mwl__emit_ax(e, MWL_OP_LOAD_INT, i, 0);
    for (uint32_t i = 0; i < 60000; i++) mwl__emit_ax(e, MWL_OP_JUMP_IF, 0, MWL_REGS_LIMIT + 60000);
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
    refused_whole(e, "the code is too tangled to be followed", utest_result);
}

/* ---- brackets: real programs, changed -------------------------------------------------------- */

/* Replaces the first instruction with this opcode by another one. Returns the reason of the
 * refusal, or NULL if there is no such instruction. */
static const char *reason(struct image *i, unsigned op, mwl__ins with) {
    mwl_error error;
    uint32_t pc = first_of(i, op);
    if (pc == MWL_NONE) return NULL;
    ((mwl__ins *)section(i, MWL_SECTION_CODE))[pc] = with;
    return try_it(i, &error) == MWL_OK ? "" : error.message;
}

UTEST(verify_nest, brackets_that_do_not_nest) {
    static const struct {
        int program;
        unsigned op;
        mwl__ins with;
        const char *message;
    } cases[] = {
        {0, MWL_OP_RETURN, AX(COMPLETE, 0, 1),
         "operand FLOWX is not as it must be: below the Flow count"},
        {0, MWL_OP_PASS_INPUT, NOTHING, "no value is in flight here"},
        {0, MWL_OP_OUT, NOTHING, ""}, /* of an onEntry: its input goes on */
        {0, MWL_OP_STEP, NOTHING,
         "this is allowed only in a Step, outside of its calls and middleware"},
        {0, MWL_OP_ESTABLISH, NOTHING, "an entry's code is not where its record says"},
        {0, MWL_OP_ALWAYS, NOTHING, "an entry's code is not where its record says"},
        {0, MWL_OP_UNWIND, NOTHING, "an entry's code is not where its record says"},
        {0, MWL_OP_UNWIND, AX(UNWIND, 0, 0), "an entry's code is not where its record says"},
        {0, MWL_OP_ENTER, NOTHING, "the innermost entry is another, or in another phase"},
        {0, MWL_OP_ENTER, AX(ENTER, 0, 1), "the innermost entry is another, or in another phase"},
        {0, MWL_OP_ASCEND, AX(ASCEND, 0, 0), "the ascent is not at the entry it names"},
        {0, MWL_OP_ACTION, AX(ACTION, 1, 0), "an action is not in its phase"},
        {0, MWL_OP_ACTION, AX(ACTION, 0, 0), "an action is not in its phase"},
        {0, MWL_OP_SHAPE, ABC(OUT, 0, 0, 0), ""}, /* OUT has a place everywhere */
        {0, MWL_OP_STEP_RESULT, ABC(SHAPE, 0, 0, 0),
         "this is allowed only in a phase of a middleware entry"},
        {0, MWL_OP_STEP_RESULT, ABC(GATE, 0, 0, 0), "a jump goes back and is not a loop"},
        {0, MWL_OP_STEP_RESULT, ABC(WITH, 0, 0, 0),
         "this is allowed only in a phase of a middleware entry"},
        {0, MWL_OP_STEP_RESULT, ABC(CALL_INPUT, 0, 0, 0),
         "the open call is another, or at another point"},
        {0, MWL_OP_STEP_RESULT, AX(STEP_FAULT, 0, 0),
         "control runs into where only the machine may go"},
        {0, MWL_OP_STEP_RESULT, AX(GATHER_RUN, 0, 0),
         "operand GATHERX is not as it must be: below the Gather count"},
        {0, MWL_OP_CALL, NOTHING, "the open call is another, or at another point"},
        {0, MWL_OP_CALL_INPUT, AX(ENTER, 0, 0),
         "an entry begins inside a phase, a call or a Gather"},
        {0, MWL_OP_CALL_INPUT, AX(CALL, 0, 0), "a call's code is not where its record says"},
        {0, MWL_OP_DISPATCH, NOTHING, "the open call is another, or at another point"},
        {0, MWL_OP_DISPATCH, AX(DISPATCH, 0, 1), "the open call is another, or at another point"},
        {0, MWL_OP_CALL_END, NOTHING, "a call's code is not where its record says"},
        {0, MWL_OP_ARM_VALUE, ABC(CALL_WITH, 0, 0, 0),
         "the open call is another, or at another point"},
        {0, MWL_OP_CALL_INPUT, ABC(ARM_VALUE, 0, 0, 0),
         "the open call is another, or at another point"},
        {0, MWL_OP_ACTION_DONE, AX(ACTION_DONE, 3, 1), "an action's own call ends elsewhere"},
        {0, MWL_OP_ACTION_DONE, AX(COMPLETE, 0, 0),
         "a Flow completes inside something or as another"},
        {0, MWL_OP_REENTER, AX(REENTER, 0, 0),
         "the innermost entry is another, or in another phase"},
        {0, MWL_OP_PHASE_FAULT, AX(ENTRY_FAULT, 0, 2), "ways that nest differently meet here"},
        {0, MWL_OP_ALWAYS_FAULT, AX(PHASE_FAULT, 0, 0),
         "the innermost entry is another, or in another phase"},
        {0, MWL_OP_ALWAYS_FAULT, AX(STEP_FAULT, 0, 0),
         "this is allowed only in a Step, outside of its calls and middleware"},
        {0, MWL_OP_PHASE_FAULT, NOTHING,
         "a construct's handler does not lead to the instruction for its failure"},
        {0, MWL_OP_RETURN, ABC(END, 0, 0, 0), "a Flow holds the end of an expression"},
        {1, MWL_OP_GATHER_RUN, NOTHING, "a Gather's code is not where its record says"},
        {1, MWL_OP_GATHER_ARMS, NOTHING, "a Gather's code is not where its record says"},
        {1, MWL_OP_GATHER_END, NOTHING, "a Gather's code is not where its record says"},
        {1, MWL_OP_CALL, NOTHING, "a Gather's code is not where its record says"},
        {1, MWL_OP_GATHER, NOTHING, "the open Gather is another, or at another point"},
        {1, MWL_OP_GATHER, AX(GATHER, 0, 1), "a Gather enumerates that has its calls written"},
        {1, MWL_OP_TO, ABC(GATHER_NEED, 0, 0, 0),
         "the open Gather is another, or at another point"},
        {1, MWL_OP_MATCH_INPUT, AX(GATHER_RUN, 0, 0),
         "the open Gather is another, or at another point"},
        {1, MWL_OP_MATCH_INPUT, NOTHING, "there is no Result here"},
        {1, MWL_OP_TO, AX(GATHER_ARMS, 0, 0), "control runs into where only the machine may go"},
        {2, MWL_OP_COMPLETE, AX(COMPLETE, 0, 1), "a Flow completes inside something or as another"},
        {2, MWL_OP_TO, AX(TO, 0, 3), "a Step leads to something else than a Step of its Flow"},
        {2, MWL_OP_STEP, AX(STEP, 0, 1), "a Step is not where its record says"},
    };
    struct image images[N_DEFINITIONS];
    for (int i = 0; i < N_DEFINITIONS; i++) images[i] = image_new(i);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = reason(&images[cases[i].program], cases[i].op, cases[i].with);
        EXPECT_TRUE(got && strcmp(got, cases[i].message) == 0);
        if (!got || strcmp(got, cases[i].message) != 0)
            printf("case %zu (%s): \"%s\", wanted \"%s\"\n", i, mwl__op_get(cases[i].op)->name,
                   got ? got : "no such instruction", cases[i].message);
    }
    for (int i = 0; i < N_DEFINITIONS; i++) image_free(&images[i]);
}

/* A flag about the code, changed in a record: refused, except that RISES may be missing. */
static void change_flag(int *utest_result, struct image *image, uint32_t *flags, uint32_t flag,
                        uint32_t optional, const char *message) {
    mwl_error error;
    bool missing = (*flags & flag & optional) != 0;
    *flags ^= flag;
    mwl_status status = try_it(image, &error); /* puts the image back */
    EXPECT_EQ(status, missing ? MWL_OK : MWL_E_IMAGE);
    if (status < 0) EXPECT_STREQ(error.message, message);
}

UTEST(verify_nest, flags_that_do_not_agree_with_the_code) {
    static const uint32_t of_entries[] = {MWL_ENTRY_PASSES_SUCCESS, MWL_ENTRY_PASSES_FAILURE,
                                          MWL_ENTRY_RISES},
                          of_calls[] = {MWL_CALL_BARE, MWL_CALL_RISES};
    uint32_t entries_on = 0, calls_on = 0, entries_off = 0, calls_off = 0; /* both were tried */
    for (int i = 0; i < N_DEFINITIONS; i++) {
        struct image image = image_new(i);
        size_t n_entries = image.view.section[MWL_SECTION_ENTRIES].size / sizeof(mwl__entry_rec),
               n_calls = image.view.section[MWL_SECTION_CALLS].size / sizeof(mwl__call_rec);
        for (size_t k = 0; k < 3 * n_entries; k++) {
            mwl__entry_rec *e = (mwl__entry_rec *)section(&image, MWL_SECTION_ENTRIES) + k / 3;
            entries_on |= e->flags;
            entries_off |= ~e->flags;
            change_flag(utest_result, &image, &e->flags, of_entries[k % 3], MWL_ENTRY_RISES,
                        "an entry's flags do not agree with its code");
        }
        for (size_t k = 0; k < 2 * n_calls; k++) {
            mwl__call_rec *c = (mwl__call_rec *)section(&image, MWL_SECTION_CALLS) + k / 2;
            calls_on |= c->flags;
            calls_off |= ~c->flags;
            change_flag(utest_result, &image, &c->flags, of_calls[k % 2], MWL_CALL_RISES,
                        "a call's flags do not agree with its code");
        }
        image_free(&image);
    }
    for (int i = 0; i < 3; i++) EXPECT_TRUE(entries_on & entries_off & of_entries[i]);
    for (int i = 0; i < 2; i++) EXPECT_TRUE(calls_on & calls_off & of_calls[i]);
}

/* Runs an image with so much fuel. *out: its Result as JSON, or "". Returns whether the fuel was
 * enough. */
static bool result_of(const struct image *i, uint64_t fuel, char *out, size_t cap) {
    mwl_config config = mwl_config_default();
    mwl_vm *vm = NULL;
    mwl_program *p = NULL;
    mwl_run *run = NULL;
    char *text = NULL;
    size_t len = 0;
    config.virtual_time = true;
    config.limits.fuel = fuel;
    *out = '\0';
    if (mwl_vm_new(&config, &vm) < 0 || mwl_std_add(vm, MWL_STD_ALL, NULL) < 0) abort();
    if (mwl_program_load(NULL, i->bytes, i->made.image_size, MWL_COPY, &p, NULL) < 0) abort();
    if (mwl_run_start(vm, p, NULL, &run, NULL) < 0) abort();
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    if (mwl_run_get_state(run) == MWL_RUN_DONE &&
        mwl_json_write(mwl_vm_heap(vm), mwl_run_result(run), MWL_JSON_COMPACT, &text, &len) ==
            MWL_OK)
        snprintf(out, cap, "%s", text);
    bool enough = mwl_run_why(run) == MWL_OK;
    mwl_text_free(mwl_vm_heap(vm), text, len);
    mwl_run_free(run);
    mwl_program_release(p);
    mwl_vm_free(vm);
    return enough;
}

/* As earlier assemblers wrote it: the same Result for the same fuel. */
UTEST(verify_nest, without_the_flags_that_may_be_missing) {
    for (int i = 0; i < N_DEFINITIONS; i++) {
        struct image now = image_new(i), before = image_new(i);
        mwl__entry_rec *e = section(&before, MWL_SECTION_ENTRIES);
        mwl__call_rec *c = section(&before, MWL_SECTION_CALLS);
        size_t n_entries = before.view.section[MWL_SECTION_ENTRIES].size / sizeof *e,
               n_calls = before.view.section[MWL_SECTION_CALLS].size / sizeof *c, ended = 0;
        for (size_t k = 0; k < n_entries; k++) e[k].flags &= ~(uint32_t)MWL_ENTRY_RISES;
        for (size_t k = 0; k < n_calls; k++) c[k].flags &= ~(uint32_t)MWL_CALL_RISES;
        mwl__image_reseal(before.bytes, before.made.image_size);
        for (uint64_t fuel = 1; fuel < 400; fuel++) {
            char one[2048], two[2048];
            bool enough = result_of(&now, fuel, one, sizeof one);
            EXPECT_EQ(enough, result_of(&before, fuel, two, sizeof two));
            EXPECT_STREQ(one, two);
            ended += enough;
        }
        EXPECT_TRUE(ended > 0 && ended < 399);
        image_free(&now);
        image_free(&before);
    }
}

/* Every opcode, with the first of each table and with the operands of what was there, in every
 * place of real programs: refused with a reason, or run. Checked builds ask nest.h at every
 * instruction then. */
UTEST(verify_nest, every_opcode_in_every_place) {
    size_t refused = 0, taken = 0;
    for (int i = 0; i < N_DEFINITIONS; i++) {
        struct image image = image_new(i);
        for (uint32_t pc = 0; pc < n_code(&image); pc++)
            for (unsigned op = 0; op < MWL_OP_COUNT; op++)
                for (int kept = 0; kept < 2; kept++) {
                    mwl__ins *at = &((mwl__ins *)section(&image, MWL_SECTION_CODE))[pc];
                    mwl_error error;
                    if (kept)
                        at->op = (uint16_t)op;
                    else
                        *at = mwl__op_get(op)->kind[1] == MWL_OPERAND_JUMPX
                                  ? mwl__ins_ax((mwl__op)op, 0, pc + 1)
                                  : mwl__ins_abc((mwl__op)op, 0, 0, 0);
                    mwl_status status = try_it(&image, &error);
                    EXPECT_TRUE(status == MWL_OK || (status == MWL_E_IMAGE && error.message[0]));
                    ++*(status == MWL_OK ? &taken : &refused);
                }
        image_free(&image);
    }
    EXPECT_GT(refused, taken);
    EXPECT_GT(taken, (size_t)0);
}

/* Every byte of a program, changed and sealed again. */
UTEST(verify_nest, every_byte_changed) {
    size_t refused = 0, taken = 0;
    for (int i = 0; i < N_DEFINITIONS; i++) {
        struct image image = image_new(i);
        for (size_t at = 0; at < image.made.image_size; at++) {
            const unsigned char was = image.bytes[at];
            const unsigned char bad[] = {(unsigned char)(was + 1), (unsigned char)(was - 1), 0xff,
                                         (unsigned char)(was ^ 8)};
            for (size_t b = 0; b < sizeof bad; b++) {
                mwl_error error;
                image.bytes[at] = bad[b];
                mwl_status status = try_it(&image, &error);
                EXPECT_TRUE(status == MWL_OK || error.message[0]);
                ++*(status == MWL_OK ? &taken : &refused);
            }
        }
        image_free(&image);
    }
    EXPECT_GT(refused, (size_t)0);
    EXPECT_GT(taken, (size_t)0);
}

/* ---- parameters' patterns -------------------------------------------------------------------- */

/* Flows whose parameters have large patterns, each called once. */
static void put_flows(mwl__buf *b, int n_flows, int n_patterns) {
    mwl__buf_puts(b, HEAD "\"flows\":{");
    for (int f = 0; f < n_flows; f++) {
        mwl__buf_printf(b, "%s\"f%d\":{\"parameters\":{\"type\":\"object\",\"properties\":{",
                        f ? "," : "", f);
        for (int i = 0; i < n_patterns; i++)
            mwl__buf_printf(
                b, "%s\"p%d\":{\"type\":\"string\",\"pattern\":\"%d_%d(((abcdefgh){10}){10}){9}\"}",
                i ? "," : "", i, f, i);
        mwl__buf_puts(b, "}},\"entrypoint\":\"r\",\"steps\":{\"r\":{\"action\":\"Return\"}}}");
    }
    mwl__buf_puts(b, "},\"steps\":{");
    for (int f = 0; f < n_flows; f++)
        mwl__buf_printf(
            b, "\"%c%d\":{\"action\":\"Call\",\"call\":{\"flow\":\"f%d\"},\"next\":\"s%d\"},", 's',
            f, f, f + 1);
    mwl__buf_printf(b,
                    "\"a\":{\"action\":\"Pass\",\"next\":\"s0\"},\"s%d\":{\"action\":\"Return\"}}}",
                    n_flows);
}

static mwl_status start_flows(int n_flows, int n_patterns, mwl_error *error) {
    mwl__buf b = mwl__buf_make(mwl_alloc_default());
    mwl_asm_result made;
    mwl_program *p = NULL;
    mwl_vm *vm = NULL;
    mwl_run *run = NULL;
    memset(&made, 0, sizeof made);
    put_flows(&b, n_flows, n_patterns);
    if (mwl_assemble(b.data, b.len, NULL, &made) < 0)
        fprintf(stderr, "%s\n", made.diagnostics), abort();
    if (mwl_vm_new(NULL, &vm) < 0 || mwl_std_add(vm, MWL_STD_ALL, NULL) < 0) abort();
    mwl_status status = mwl_program_load(NULL, made.image, made.image_size, MWL_COPY, &p, error);
    if (status == MWL_OK) status = mwl_run_start(vm, p, NULL, &run, error);
    mwl_run_free(run);
    mwl_vm_free(vm);
    mwl_program_release(p);
    mwl_asm_free(&made);
    mwl__buf_free(&b);
    return status;
}

UTEST(verify_flow, the_patterns_of_all_parameters_are_bounded) {
    mwl_error error = {MWL_OK, "", 0};
    EXPECT_EQ(start_flows(2, 3, &error), MWL_OK);
    EXPECT_EQ(start_flows(30, 60, &error), MWL_E_TOO_BIG);
    EXPECT_STREQ(error.message, "the patterns of the Flows' parameters need too much memory");
}

UTEST_MAIN()
