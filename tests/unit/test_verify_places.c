/* test_verify_places.c: tables and code that do not fit together are refused, each for its reason.
 *
 * A row changes one or two things of a good image so that one rule is broken, and names the rule:
 * so a check that is left out is noticed (tests/tree/left_out.py), also where another one would
 * refuse the image too. */
#include "tests/unit/broken_images.h"
#include "utest.h"

/* A number, or the pc of the nth instruction with this opcode in the unchanged code. */
struct spot {
    int op, nth;
    uint32_t number;
};
#define N(n)                                                                                       \
    { -1, 0, n }
#define PC(op, nth)                                                                                \
    { MWL_OP_##op, nth, 0 }

struct edit {
    unsigned section; /* 0: no edit */
    size_t at;        /* of the word in the section; not for CODE */
    struct spot pc;   /* CODE: the instruction that is replaced */
    unsigned op, a;   /* CODE: by this one */
    struct spot x;    /* the new value of the word, or the wide operand */
};
#define SET(table, type, record, member, ...)                                                      \
    {                                                                                              \
        MWL_SECTION_##table,                                                                       \
            (record) * sizeof(mwl__##type##_rec) + offsetof(mwl__##type##_rec, member), N(0), 0,   \
            0, __VA_ARGS__                                                                         \
    }
#define PUT(pc, op, a, ...)                                                                        \
    { MWL_SECTION_CODE, 0, pc, MWL_OP_##op, a, __VA_ARGS__ }

/* Not an edit: the instruction that the loader must name. */
#define AT(pc)                                                                                     \
    { MWL_SECTION_LIMIT, 0, pc, 0, 0, N(0) }

struct row {
    int program; /* of broken_images.h */
    const char *message;
    struct edit edits[4];
};

static uint32_t number_of(const mwl__ins *code, struct spot s) {
    if (s.op < 0) return s.number;
    for (uint32_t pc = 0;; pc++)
        if (code[pc].op == s.op && s.nth-- == 0) return pc;
}

/* Makes an edit of the image. Its spots are those of the good code. */
static void change(struct image *i, const mwl__ins *code, const struct edit *e) {
    uint32_t x = number_of(code, e->x);
    unsigned char *to = section(i, e->section);
    if (e->section == MWL_SECTION_CODE)
        ((mwl__ins *)(void *)to)[number_of(code, e->pc)] = mwl__ins_ax((mwl__op)e->op, e->a, x);
    else
        memcpy(to + e->at, &x, sizeof x);
}

/* Returns the reason. */
static const char *refused(struct image *i, const struct row *row) {
    mwl__image good;
    mwl_error error;
    const mwl__ins *named = NULL;
    if (mwl__image_open(i->made.image, i->made.image_size, &good, NULL) < 0) return "no image";
    const mwl__ins *code = good.section[MWL_SECTION_CODE].data;
    for (int k = 0; k < 4 && row->edits[k].section; k++) {
        if (row->edits[k].section == MWL_SECTION_LIMIT)
            named = code + number_of(code, row->edits[k].pc);
        else
            change(i, code, &row->edits[k]);
    }
    if (try_it(i, &error) == MWL_OK) return "nothing";
    const unsigned char *at = good.bytes + error.offset;
    return named && (const void *)named != at ? "another place" : error.message;
}

static bool all_are_refused(const struct row *rows, size_t n) {
    struct image images[N_DEFINITIONS];
    bool good = true;
    for (int i = 0; i < N_DEFINITIONS; i++) images[i] = image_new(i);
    for (size_t i = 0; i < n; i++) {
        const char *got = refused(&images[rows[i].program], &rows[i]);
        if (strcmp(got, rows[i].message) == 0) continue;
        printf("row %zu: \"%s\", wanted \"%s\"\n", i, got, rows[i].message);
        good = false;
    }
    for (int i = 0; i < N_DEFINITIONS; i++) image_free(&images[i]);
    return good;
}
#define ALL_ARE_REFUSED(rows) EXPECT_TRUE(all_are_refused(rows, sizeof(rows) / sizeof *(rows)))

UTEST(verify_flow, records_that_name_what_is_not_there) {
    static const char run[] = "a Step's catch clauses are not a run after those of the last Step";
    static const char one[] = "a Gather over an array must have exactly one call";
    static const struct row rows[] = {
        {0, "an import is of an unknown kind", {SET(IMPORTS, import, 0, kind, N(0))}},
        {0, "a Step's code is outside the code", {SET(STEPS, step, 0, pc, N(MWL_NONE))}},
        {0, run, {SET(STEPS, step, 1, n_catch, N(1))}},
        {0, run, {SET(STEPS, step, 0, n_catch, N(2))}},
        {0, "an entry's middleware is not imported", {SET(ENTRIES, entry, 0, import, N(0))}},
        {0, "a call must have exactly one target", {SET(CALLS, call, 0, import, N(MWL_NONE))}},
        {0, "a call must have exactly one target", {SET(CALLS, call, 0, flow, N(0))}},
        {0, "a call's target is not there", {SET(CALLS, call, 0, import, N(1))}},
        {0, "a call's Gather is not there", {SET(CALLS, call, 0, gather, N(0))}},
        {0, "a call has no arms to go to", {SET(CALLS, call, 0, failure_pc, N(MWL_NONE))}},
        {1, one, {SET(GATHERS, gather, 0, n_calls, N(0))}},
        {1, one, {SET(GATHERS, gather, 1, flags, N(MWL_GATHER_OVER))}},
        {0,
         "an expression's handler is around the machine's instructions",
         {SET(HANDLERS, handler, 0, reg, N(MWL_HANDLER_EXPR))}}, /* its kind is behind it */
        {0,
         "a way leads where only the machine may go",
         {SET(FLOWS, flow, 0, pc, PC(STEP_FAULT, 0))}},
        {2,
         "a way leads where only the machine may go",
         {SET(HANDLERS, handler, 4, target, PC(STEP_FAULT, 0))}},
        {2, "a loop holds an instruction of the machine", {PUT(PC(ADD_K, 0), OUT, 0, N(0))}},
        {2, "a table leads into a loop", {SET(ENTRIES, entry, 0, struct_pc[0], PC(ADD_K, 0))}},
    };
    ALL_ARE_REFUSED(rows);
}

/* What the walk in code order relies on: behind it nothing is looked at again. */
UTEST(verify_nest, tables_lead_only_forward) {
    static const char back[] = "a table leads back";
    static const char entry[] = "an entry's code is not where its record says";
    static const char gather[] = "a Gather's code is not where its record says";
    static const struct row rows[] = {
        {0, back, {SET(CATCHES, catch, 0, pc, N(0))}},
        {0, back, {SET(FLOWS, flow, 0, ascend_pc, N(0))}},
        {0, back, {SET(ENTRIES, entry, 0, success_pc, PC(PASS_INPUT, 0))}},
        {0, back, {SET(ENTRIES, entry, 0, failure_pc, PC(ASCEND, 2))}},
        {0, back, {SET(ENTRIES, entry, 0, struct_pc[3], PC(ACTION, 3))}},
        {0, back, {SET(CALLS, call, 0, success_pc, PC(ARMS, 0))}},
        {0, back, {SET(CALLS, call, 0, failure_pc, PC(LOAD_PATH, 0))}},
        {1, back, {SET(CALLS, call, 0, success_pc, PC(STEP, 0))}},
        /* 2 and 3 are not reached, and have what the record of entry 1 names */
        {0,
         entry,
         {PUT(PC(PASS_INPUT, 0), JUMP, 0, PC(ENTER, 1)), PUT(PC(ESTABLISH, 0), ESTABLISH, 0, N(1)),
          SET(ENTRIES, entry, 1, inner_pc, PC(ENTER, 1))}},
        {0,
         entry,
         {PUT(PC(PASS_INPUT, 0), JUMP, 0, PC(ENTER, 1)), PUT(PC(ESTABLISH, 0), ALWAYS, 0, N(1)),
          SET(ENTRIES, entry, 1, always_pc, PC(ESTABLISH, 0))}},
        {0,
         entry,
         {PUT(PC(STEP_RESULT, 0), ALWAYS, 0, N(0)),
          SET(ENTRIES, entry, 0, always_pc, PC(STEP_RESULT, 0))}},
        {0, entry, {SET(ENTRIES, entry, 0, out_pc, N(0))}},
        {1,
         "a call's code is not where its record says",
         {PUT(PC(CALL_FAULT, 1), CALL, 0, N(1)),
          SET(CALLS, call, 1, fields_pc, PC(CALL_FAULT, 1))}},
        {1,
         gather,
         {PUT(PC(ARMS, 0), GATHER_RUN, 0, N(1)), SET(GATHERS, gather, 1, run_pc, PC(ARMS, 0))}},
        {1,
         gather,
         {PUT(PC(ARMS, 0), GATHER_ARMS, 0, N(1)), SET(GATHERS, gather, 1, arms_pc, PC(ARMS, 0))}},
        {1,
         gather,
         {PUT(PC(ARMS, 0), GATHER_END, 0, N(1)), SET(GATHERS, gather, 1, end_pc, PC(ARMS, 0))}},
        {1, gather, {PUT(PC(ARMS, 0), CALL, 0, N(1)), SET(CALLS, call, 1, fields_pc, PC(ARMS, 0))}},
    };
    ALL_ARE_REFUSED(rows);
}

UTEST(verify_nest, a_construct_begins_once_and_in_its_place) {
    static const char flow[] = "a Flow does not begin with its entries and a Step";
    static const char meet[] = "ways that nest differently meet here";
    static const char step[] =
        "this is allowed only in a Step, outside of its calls and middleware";
    static const struct row rows[] = {
        {1,
         flow,
         {PUT(PC(STEP, 0), JUMP, 0, PC(STEP, 2))}}, /* nothing leads to the Step behind it */
        {2, flow, {SET(STEPS, step, 0, flow, N(1))}},
        {2, flow, {PUT(PC(ACTION, 0), JUMP, 0, PC(STEP, 0))}}, /* in a phase */
        {0, meet, {SET(ENTRIES, entry, 0, struct_pc[3], PC(STEP, 1))}},
        {2, step, {PUT(PC(ACTION, 0), PASS_INPUT, 0, N(0))}},
        {1,
         "a Flow completes inside something or as another",
         {PUT(PC(LOAD_PATH, 1), COMPLETE, 0, N(0))}},
        {0, "an entry begins twice", {PUT(PC(ENTER, 1), ENTER, 0, N(0))}},
        {0,
         "a call begins inside a phase, another call or a Gather",
         {PUT(PC(ACTION, 0), JUMP, 0, PC(CALL, 0))}},
        {1, "a Gather begins twice", {PUT(PC(GATHER, 1), GATHER, 0, N(0))}},
        {1, step, {PUT(PC(STEP, 0), NOP, 0, N(0)), AT(PC(GATHER, 0))}},
        {1, meet, {SET(CALLS, call, 0, success_pc, PC(CALL_END, 1))}},
        {0, meet, {SET(ENTRIES, entry, 2, success_pc, PC(SHAPE_SKIP, 1))}},
        /* a Step as the call of an action */
        {2,
         flow,
         {PUT(PC(ENTER, 1), JUMP, 0, PC(STEP, 2)), PUT(PC(ACTION, 1), STEP, 0, N(0)),
          SET(STEPS, step, 0, pc, PC(ACTION, 1)),
          SET(ENTRIES, entry, 0, struct_pc[0], PC(ACTION, 1))}},
    };
    ALL_ARE_REFUSED(rows);
}

UTEST(verify_nest, an_instruction_belongs_to_what_it_names) {
    static const char entry[] = "the innermost entry is another, or in another phase";
    static const char call[] = "the open call is another, or at another point";
    static const char gather[] = "the open Gather is another, or at another point";
    static const struct row rows[] = {
        {0, entry, {PUT(PC(ACTION, 0), ESTABLISH, 0, N(1))}},
        {0, entry, {PUT(PC(ENTRY_FAULT, 0), ENTRY_FAULT, 0, N(0))}},
        {0, entry, {PUT(PC(ENTRY_FAULT, 0), ALWAYS_FAULT, 0, N(0))}},
        {0, entry, {PUT(PC(STEP, 0), JUMP, 0, PC(UNWIND, 0))}},
        {0, entry, {PUT(PC(ACTION, 3), UNWIND, 0, N(0))}},
        {0, call, {PUT(PC(ENTRY_FAULT, 0), CALL_FAULT, 0, N(0))}},
        {0, call, {PUT(PC(ENTRY_FAULT, 0), ARM_FAULT, 0, N(0))}},
        {0, call, {PUT(PC(STEP, 0), JUMP, 0, PC(JUMP, 0))}},
        {1,
         call,
         {PUT(PC(ARMS, 0), CALL_END, 0, N(0)), SET(CALLS, call, 0, failure_pc, PC(ARMS, 0))}},
        {1, gather, {PUT(PC(GATHER_FAULT, 0), GATHER_FAULT, 0, N(1))}},
        {1, gather, {PUT(PC(CALL_FAULT, 0), GATHER_FAULT, 0, N(0))}},
        {1,
         gather,
         {PUT(PC(ARMS, 0), GATHER_RUN, 0, N(0)), SET(GATHERS, gather, 0, run_pc, PC(ARMS, 0))}},
        {1,
         gather,
         {PUT(PC(LOAD_K, 0), GATHER_RUN, 0, N(1)), SET(GATHERS, gather, 1, run_pc, PC(LOAD_K, 0)),
          AT(PC(LOAD_K, 0))}},
    };
    ALL_ARE_REFUSED(rows);
}

UTEST_MAIN()
