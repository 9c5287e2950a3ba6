/* test_op.c: the opcode table and what is made from it: writing and reading text, widths, the
 * number of the set. */
#include "utest.h"

#include "tests/unit/op_parse.h"

static bool round_trip(mwl__ins ins) {
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    mwl__op_print(&text, ins);
    mwl__ins back = {0xffff, 0, 0, 0};
    bool same = op_parse(mwl__buf_cstr(&text), &back) && memcmp(&ins, &back, sizeof ins) == 0;
    if (!same) printf("not the same: %s\n", mwl__buf_cstr(&text));
    mwl__buf_free(&text);
    return same;
}

UTEST(op, print_and_parse_every_opcode) {
    static const uint32_t values[] = {0, 1, 9, 10, 0xffff, 0x10000, 0xffffffffu};
    for (unsigned op = 0; op < MWL_OP_COUNT; op++) {
        const mwl__op_info *info = mwl__op_get(op);
        bool wide = mwl__operand_get(info->kind[1])->wide;
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            unsigned a = info->kind[0] ? values[i] & 0xffffu : 0;
            if (wide) {
                EXPECT_TRUE(round_trip(mwl__ins_ax((mwl__op)op, a, values[i])));
                continue;
            }
            unsigned b = info->kind[1] ? (values[i] ^ 1) & 0xffffu : 0;
            unsigned c = info->kind[2] ? (values[i] ^ 2) & 0xffffu : 0;
            EXPECT_TRUE(round_trip(mwl__ins_abc((mwl__op)op, a, b, c)));
        }
    }
}

UTEST(op, text_as_written) {
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    mwl__op_print(&text, mwl__ins_ax(MWL_OP_LOAD_PATH, 1, 70000));
    EXPECT_STREQ(mwl__buf_cstr(&text), "load_path r1, p70000");
    text.len = 0;
    mwl__op_print(&text, mwl__ins_abc(MWL_OP_NOP, 0, 0, 0));
    EXPECT_STREQ(mwl__buf_cstr(&text), "nop");
    text.len = 0;
    mwl__op_print(&text, mwl__ins_abc(MWL_OP_CALL_FN, 1, 2, 3));
    EXPECT_STREQ(mwl__buf_cstr(&text), "call_fn r1, r2, f3");
    text.len = 0;
    mwl__op_print(&text, (mwl__ins){0xfffe, 1, 2, 3});
    EXPECT_STREQ(mwl__buf_cstr(&text), "op_65534 1, 2, 3");
    mwl__buf_free(&text);
}

UTEST(op, names_are_distinct_and_there_are_no_more) {
    for (unsigned i = 0; i < MWL_OP_COUNT; i++)
        for (unsigned j = 0; j < i; j++) EXPECT_STRNE(mwl__op_get(i)->name, mwl__op_get(j)->name);
    EXPECT_TRUE(mwl__op_get(MWL_OP_COUNT) == NULL);
    EXPECT_TRUE(mwl__operand_get(MWL_OPERAND_COUNT) == NULL);
}

/* A 32-bit operand stands in b, alone; a run has one thing that gives its length; what is written
 * is a. A flag is there only where it can mean something. */
UTEST(op, rows_are_well_formed) {
    for (unsigned op = 0; op < MWL_OP_COUNT; op++) {
        const mwl__op_info *info = mwl__op_get(op);
        EXPECT_FALSE(mwl__operand_get(info->kind[0])->wide);
        EXPECT_FALSE(mwl__operand_get(info->kind[2])->wide);
        if (mwl__operand_get(info->kind[1])->wide) EXPECT_EQ(info->kind[2], MWL_OPERAND_NONE);
        int runs = 0, lengths = 0, regs = 0;
        for (int i = 0; i < 3; i++) {
            const mwl__operand_info *kind = mwl__operand_get(info->kind[i]);
            runs += kind->n_regs == MWL_RUN;
            regs += kind->n_regs != 0;
            EXPECT_EQ(kind->n_regs != 0, kind->use != MWL_USE_NOTHING);
            if (i > 0) EXPECT_TRUE(kind->use <= MWL_USE_READS || kind->use == MWL_USE_TAKES);
            lengths += info->kind[i] == MWL_OPERAND_SHAPE || info->kind[i] == MWL_OPERAND_FN ||
                       info->kind[i] == MWL_OPERAND_IMM;
        }
        EXPECT_LE(runs, 1);
        if (runs) EXPECT_EQ(lengths, 1);
        EXPECT_NE(mwl__operand_get(info->kind[2])->n_regs, MWL_RUN);
        bool jumps = info->kind[1] == MWL_OPERAND_JUMPX;
        if (info->flags & MWL_OPF_LENDS) EXPECT_GT(regs, 0);
        if (info->flags & MWL_OPF_LOOP) EXPECT_TRUE(jumps);
        if (info->flags & ~(unsigned)(MWL_OPF_END | MWL_OPF_LOOP | MWL_OPF_FAULTS | MWL_OPF_LENDS))
            EXPECT_GE(op, MWL_OP_MACHINE);
        if (info->flags & MWL_OPF_RAISED) EXPECT_TRUE(info->flags & MWL_OPF_END);
        EXPECT_NE(info->meaning[0], '\0');
    }
}

/* Any change of a row that matters for an image gives another number; a change of the description
 * does not. */
UTEST(op, the_sets_number) {
    mwl__op_info rows[MWL_OP_COUNT];
    for (unsigned i = 0; i < MWL_OP_COUNT; i++) rows[i] = *mwl__op_get(i);
    EXPECT_EQ(mwl__op_isa_of(rows, MWL_OP_COUNT), mwl__op_isa());
    EXPECT_NE(mwl__op_isa_of(rows, MWL_OP_COUNT - 1), mwl__op_isa());
    for (unsigned i = 0; i < MWL_OP_COUNT; i++) {
        mwl__op_info row = rows[i];
        rows[i].meaning = "something else";
        EXPECT_EQ(mwl__op_isa_of(rows, MWL_OP_COUNT), mwl__op_isa());
        rows[i].name = "OTHER";
        EXPECT_NE(mwl__op_isa_of(rows, MWL_OP_COUNT), mwl__op_isa());
        rows[i] = row;
        for (unsigned bit = 1; bit <= MWL_OPF_LEAVES_RESULT; bit <<= 1) {
            rows[i].flags = (uint16_t)(row.flags ^ bit);
            EXPECT_NE(mwl__op_isa_of(rows, MWL_OP_COUNT), mwl__op_isa());
        }
        rows[i] = row;
        for (int k = 0; k < 3; k++) {
            rows[i].kind[k] ^= 1;
            EXPECT_NE(mwl__op_isa_of(rows, MWL_OP_COUNT), mwl__op_isa());
            rows[i] = row;
        }
        if (i == 0) continue;
        rows[i] = rows[i - 1], rows[i - 1] = row; /* another order */
        EXPECT_NE(mwl__op_isa_of(rows, MWL_OP_COUNT), mwl__op_isa());
        rows[i - 1] = rows[i], rows[i] = row;
    }
}

UTEST_MAIN()
