/* test_verify.c: images that must be refused. A valid image with something in every table is
 * damaged in one place at a time, gets a new checksum, and must be refused there. The cases for
 * operands are generated from the opcode table, so a new opcode is tested too. */
#include "utest.h"

#include "assembler/emit/emit.h"
#include "vm/program/verify.h"

#include <stdlib.h>

/* The code of the sample: two Flows of one Step and one of two, and code that the tables name but
 * nothing reaches. */
enum {
    N_REGS = 9,
    PC_TESTED = 0,
    PC_LOADS = 1,
    PC_STEP = 3,
    PC_STUB = 6,
    PC_OTHER = 8,
    PC_LAST = 14,
    N_CODE = 15
};

static uint32_t str(mwl__emit *e, const char *s) { return mwl__emit_string(e, s, strlen(s)); }

static void emit_tables(mwl__emit *e) {
    const uint32_t none = MWL_NONE;
    mwl__import_rec mw = {str(e, "mwl:middleware:retry"), MWL_IMPORT_MIDDLEWARE, 1, 1};
    mwl__import_rec call_import = {str(e, "mwl:call:mock"), MWL_IMPORT_CALL, 1, 1};
    mwl__flow_rec flows[] = {{none, 0, PC_STUB + 1, none, none, 0},
                             {none, PC_OTHER, PC_LAST, none, none, 0}};
    mwl__step_rec steps[] = {{str(e, "first"), 0, MWL_ACTION_CALL, 0, PC_STEP, 0, 1},
                             {str(e, "second"), 1, MWL_ACTION_CALL, 0, PC_OTHER, 0, 0},
                             {str(e, "third"), 1, MWL_ACTION_CALL, 0, PC_OTHER + 3, 0, 0}};
    mwl__catch_rec clause = {0, PC_STEP + 1};
    mwl__entry_rec entry = {
        0, 0, 0, 0, 0, 0, 0, 0, {none, none, none, none}, {none, none, none, none}};
    mwl__call_rec call = {1, none, 0, none, 0, 0, 0, 0, 0};
    uint32_t code_k = str(e, "A.*"), call_index = 0;
    mwl__matcher_rec matcher = {mwl__emit_keys(e, &code_k, 1), 1, 0, 0, none};
    mwl__gather_rec gather = {0, mwl__emit_keys(e, &call_index, 1), 1, none, MWL_GATHER_OVER, 0, 0,
                              0};
    mwl__emit_record(e, MWL_SECTION_IMPORTS, &mw, sizeof mw);
    mwl__emit_record(e, MWL_SECTION_IMPORTS, &call_import, sizeof call_import);
    for (int i = 0; i < 2; i++) mwl__emit_record(e, MWL_SECTION_FLOWS, &flows[i], sizeof flows[i]);
    for (int i = 0; i < 3; i++) mwl__emit_record(e, MWL_SECTION_STEPS, &steps[i], sizeof steps[i]);
    for (int i = 0; i < 4; i++) mwl__emit_record(e, MWL_SECTION_ENTRIES, &entry, sizeof entry);
    for (int i = 0; i < 5; i++) mwl__emit_record(e, MWL_SECTION_CALLS, &call, sizeof call);
    mwl__emit_record(e, MWL_SECTION_CATCHES, &clause, sizeof clause);
    mwl__emit_record(e, MWL_SECTION_MATCHERS, &matcher, sizeof matcher);
    mwl__emit_record(e, MWL_SECTION_GATHERS, &gather, sizeof gather);
    mwl__emit_info(e, MWL_INFO_ROOT_FLOW, 0);
}

static void emit_sample(mwl__emit *e) {
    mwl_heap *h = NULL;
    mwl_value v = mwl_absent();
    (void)mwl_heap_new(NULL, &h);
    (void)mwl_json_parse(h, "{\"a\":[1,2],\"b\":null}", 20, &v, NULL);
    (void)mwl__emit_const(e, v);
    mwl__drop(h, v);
    mwl_heap_free(h);
    (void)mwl__emit_const(e, mwl_bool(true));
    uint32_t keys[3] = {str(e, "k1"), str(e, "k2"), str(e, "k3")};
    (void)mwl__emit_path(e, MWL_BASE_VARS, keys, 2);
    (void)mwl__emit_path(e, MWL_BASE_STEP_INPUT, keys, 1);
    (void)mwl__emit_shape(e, keys, 3);
    (void)mwl__emit_shape(e, keys + 1, 2);
    (void)mwl__emit_func(e, "size", 2, true);
    (void)mwl__emit_func(e, "now", 0, false);
    (void)mwl__emit_regex(e, str(e, "^x+$"));
    emit_tables(e);
    (void)str(e, "the last constant is a string");
    mwl__emit_regs(e, N_REGS);
    mwl__emit_abc(e, MWL_OP_NOP, 0, 0, 0); /* the one that is replaced */
    mwl__emit_ax(e, MWL_OP_LOAD_INT, 1, 5);
    mwl__emit_ax(e, MWL_OP_LOAD_INT, 2, 6);
    mwl__emit_ax(e, MWL_OP_STEP, 0, 0);
    mwl__emit_abc(e, MWL_OP_PASS_INPUT, 0, 0, 0);
    mwl__emit_abc(e, MWL_OP_RETURN, 0, 0, 0);
    mwl__emit_ax(e, MWL_OP_STEP_FAULT, 0, 0);
    mwl__emit_ax(e, MWL_OP_COMPLETE, 0, 0);
    mwl__emit_ax(e, MWL_OP_STEP, 0, 1);
    mwl__emit_abc(e, MWL_OP_PASS_INPUT, 0, 0, 0);
    mwl__emit_ax(e, MWL_OP_TO, 0, 2);
    mwl__emit_ax(e, MWL_OP_STEP, 0, 2);
    mwl__emit_abc(e, MWL_OP_PASS_INPUT, 0, 0, 0);
    mwl__emit_abc(e, MWL_OP_RETURN, 0, 0, 0);
    mwl__emit_ax(e, MWL_OP_COMPLETE, 0, 1);
    mwl__emit_handler(e, 0, 3, 3, 1, MWL_HANDLER_EXPR);
    mwl__emit_handler(e, 1, 2, 3, 1, MWL_HANDLER_EXPR);
    mwl__emit_handler(e, PC_STEP + 1, PC_STEP + 2, PC_STUB, 1, MWL_HANDLER_SITE);
    mwl__emit_where(e, 0, 0, (mwl__where){1, 1, 0, 3});
    mwl__emit_where(e, 2, 0, (mwl__where){2, 1, 9, 3});
}

/* The valid image and a place to damage it. */
struct subject {
    mwl__buf sound, image;
    mwl__image view; /* of `image` */
};

static void subject_reset(struct subject *s) {
    s->image.len = 0;
    mwl__buf_put(&s->image, s->sound.data, s->sound.len);
    (void)mwl__image_open(s->image.data, s->image.len, &s->view, NULL);
}

static struct subject subject_new(void (*emit)(mwl__emit *e)) {
    struct subject s;
    memset(&s, 0, sizeof s);
    s.sound = s.image = mwl__buf_make(mwl_alloc_default());
    mwl__emit *e = mwl__emit_new(NULL);
    emit(e);
    if (mwl__emit_finish(e, 0, &s.sound) < 0) abort();
    mwl__emit_free(e);
    subject_reset(&s);
    return s;
}

static void subject_free(struct subject *s) {
    mwl__buf_free(&s->sound);
    mwl__buf_free(&s->image);
}

static void *section(struct subject *s, unsigned id) {
    return (void *)(uintptr_t)s->view.section[id].data;
}

static mwl_status load(struct subject *s, mwl_error *error) {
    mwl_program *p = NULL;
    mwl_error none = {MWL_OK, "", 0};
    *error = none;
    mwl__image_reseal(s->image.data, s->image.len);
    mwl_status status = mwl__program_load(NULL, s->image.data, s->image.len, false, &p, error);
    mwl__program_release(p);
    return status;
}

/* Loads the damaged image, which must be refused with this message. Then undoes the damage. */
static bool refused(struct subject *s, const char *message) {
    mwl_error error;
    mwl_status status = load(s, &error);
    subject_reset(s);
    if (status == MWL_E_IMAGE && strcmp(error.message, message) == 0) return true;
    printf("wanted \"%s\", got %d \"%s\"\n", message, (int)status, error.message);
    return false;
}

/* ---- operands, from the table ---------------------------------------------------------------- */

struct counts {
    uint32_t of[MWL_OPERAND_COUNT];
};

static struct counts count(struct subject *s) {
    struct counts c;
    mwl_program *p = NULL;
    memset(&c, 0, sizeof c);
    if (mwl__program_load(NULL, s->image.data, s->image.len, false, &p, NULL) < 0) abort();
    for (unsigned k = 0; k < MWL_OPERAND_COUNT; k++) c.of[k] = mwl__verify_bound(p, k);
    mwl__program_release(p);
    return c;
}

static mwl__ins with(mwl__ins ins, int place, bool wide, uint32_t v) {
    if (wide) return mwl__ins_ax((mwl__op)ins.op, ins.a, v);
    uint16_t *at[3] = {&ins.a, &ins.b, &ins.c};
    *at[place] = (uint16_t)v;
    return ins;
}

/* Operands inside their bounds: the first entry of each table, a jump forward. */
static mwl__ins sound_ins(unsigned op) {
    const mwl__op_info *info = mwl__op_get(op);
    mwl__ins ins = mwl__ins_abc((mwl__op)op, 0, 0, 0);
    if (info->kind[1] == MWL_OPERAND_JUMPX) ins = with(ins, 1, true, PC_LAST);
    return ins;
}

/* How many registers the operand names in sound_ins. A run's: of the sample's first shape,
 * function; none for a count. */
static uint32_t regs_of(const mwl__op_info *info, int place) {
    uint32_t n = mwl__operand_get(info->kind[place])->n_regs;
    for (int i = 0; i < 3 && n == MWL_RUN; i++) {
        if (info->kind[i] == MWL_OPERAND_SHAPE) return 3;
        if (info->kind[i] == MWL_OPERAND_FN) return 2;
        if (info->kind[i] == MWL_OPERAND_IMM) return 0;
    }
    return n;
}

static bool try_ins(struct subject *s, mwl__ins ins, const char *bound) {
    mwl_error error;
    mwl__ins *code = section(s, MWL_SECTION_CODE);
    code[PC_TESTED] = ins;
    size_t offset = (size_t)((char *)code - s->image.data) + PC_TESTED * sizeof ins;
    mwl_status status = load(s, &error);
    subject_reset(s);
    bool of_operand = strncmp(error.message, "operand ", 8) == 0;
    bool as_wanted = bound ? status == MWL_E_IMAGE && error.offset == offset && of_operand &&
                                 strstr(error.message, bound) != NULL
                           : status == MWL_OK ||
                                 !of_operand; /* the instruction may not be allowed at this place */
    if (!as_wanted) {
        mwl__buf text = mwl__buf_make(mwl_alloc_default());
        mwl__op_print(&text, ins);
        printf("%s: %d \"%s\", wanted %s\n", mwl__buf_cstr(&text), (int)status, error.message,
               bound ? bound : "its operands to be taken");
        mwl__buf_free(&text);
    }
    return as_wanted;
}

UTEST(verify, every_operand_of_every_opcode) {
    struct subject s = subject_new(emit_sample);
    struct counts c = count(&s);
    for (unsigned op = 0; op < MWL_OP_COUNT; op++) {
        const mwl__op_info *info = mwl__op_get(op);
        mwl__ins sound = sound_ins(op);
        EXPECT_TRUE(try_ins(&s, sound, NULL));
        bool wide_b = mwl__operand_get(info->kind[1])->wide;
        for (int i = 0; i < 3; i++) {
            const mwl__operand_info *kind = mwl__operand_get(info->kind[i]);
            uint32_t bound = c.of[info->kind[i]];
            if (i == 2 && wide_b) continue;                          /* part of b */
            if (i == 1 && kind->wide && bound == MWL_NONE) continue; /* any number */
            if (info->kind[i] == MWL_OPERAND_IMM) {
                /* a count of registers, if the others are a run */
                EXPECT_TRUE(try_ins(&s, with(sound, i, false, N_REGS), NULL));
                EXPECT_TRUE(try_ins(&s, with(sound, i, false, N_REGS + 1), "first of several"));
                continue;
            }
            if (kind->n_regs) bound = N_REGS - regs_of(info, i) + 1;
            ASSERT_GT(bound, 0u);
            EXPECT_TRUE(try_ins(&s, with(sound, i, kind->wide, bound - 1), NULL));
            EXPECT_TRUE(try_ins(&s, with(sound, i, kind->wide, bound), kind->bound));
            EXPECT_TRUE(try_ins(&s, with(sound, i, kind->wide, kind->wide ? 0xffffffffu : 0xffffu),
                                kind->bound));
            if (info->kind[i] == MWL_OPERAND_KEY)
                EXPECT_TRUE(try_ins(&s, with(sound, i, false, 1), kind->bound)); /* a number */
        }
    }
    subject_free(&s);
}

static void emit_nothing(mwl__emit *e) { (void)e; }

UTEST(verify, a_program_without_code) {
    struct subject s = subject_new(emit_nothing);
    EXPECT_TRUE(refused(&s, "a program without code"));
    subject_free(&s);
}

UTEST(verify, opcodes_and_the_end) {
    struct subject s = subject_new(emit_sample);
    mwl__ins *code = section(&s, MWL_SECTION_CODE);
    mwl_error error;
    EXPECT_EQ(load(&s, &error), MWL_OK);
    EXPECT_STREQ(error.message, "");
    code[1].op = MWL_OP_COUNT;
    EXPECT_TRUE(refused(&s, "an unknown opcode"));
    code[1].op = 0xffff;
    EXPECT_TRUE(refused(&s, "an unknown opcode"));
    code[PC_LAST] = mwl__ins_abc(MWL_OP_NOP, 0, 0, 0);
    EXPECT_TRUE(refused(&s, "the code runs over its end"));
    subject_free(&s);
}

/* ---- registers, handlers --------------------------------------------------------------------- */

UTEST(verify, register_count) {
    struct subject s = subject_new(emit_sample);
    uint32_t *info = section(&s, MWL_SECTION_INFO);
    mwl_error error;
    info[MWL_INFO_REGS] = MWL_REGS_LIMIT;
    EXPECT_EQ(load(&s, &error), MWL_OK);
    info[MWL_INFO_REGS] = MWL_REGS_LIMIT + 1;
    EXPECT_TRUE(refused(&s, "the register count is missing or above the limit"));
    info[MWL_INFO_REGS] = MWL_NONE;
    EXPECT_TRUE(refused(&s, "the register count is missing or above the limit"));
    info[MWL_INFO_ROOT_FLOW] = 2;
    EXPECT_TRUE(refused(&s, "there is no root Flow"));
    info[MWL_INFO_ROOT_FLOW] = MWL_NONE;
    mwl__ins *code = section(&s, MWL_SECTION_CODE);
    code[0] = mwl__ins_abc(MWL_OP_PASS_INPUT, 0, 0, 0);
    EXPECT_TRUE(refused(&s, "an expression holds an instruction of the machine"));
    subject_free(&s);
}

static void emit_long_info(mwl__emit *e) {
    mwl__emit_info(e, MWL_INFO_WORDS, 0);
    mwl__emit_ax(e, MWL_OP_LOAD_INT, 0, 0);
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
}

UTEST(verify, words_of_info) {
    struct subject s = subject_new(emit_long_info);
    EXPECT_TRUE(refused(&s, "words of INFO that are not known"));
    subject_free(&s);
}

UTEST(verify, handlers) {
    struct subject s = subject_new(emit_sample);
    mwl__handler_rec *h = section(&s, MWL_SECTION_HANDLERS); /* [1,2) in [0,3); and one apart */
    const char *outside = "a handler's range or target is outside the code";
    h[0].end = 1;
    EXPECT_TRUE(refused(&s, outside));
    h[2].end = N_CODE + 1;
    EXPECT_TRUE(refused(&s, outside));
    h[1].target = N_CODE;
    EXPECT_TRUE(refused(&s, outside));
    h[1].target = 2;
    EXPECT_TRUE(refused(&s, "a handler goes back"));
    h[1].kind = 2;
    EXPECT_TRUE(refused(&s, "a handler's kind or register is unknown"));
    h[1].reg = N_REGS;
    EXPECT_TRUE(refused(&s, "a handler's kind or register is unknown"));
    h[0].parent = MWL_NONE;
    EXPECT_TRUE(refused(&s, "a handler's parent is not the one that encloses it"));
    h[0].parent = 0;
    EXPECT_TRUE(refused(&s, "a handler's parent is not the one that encloses it"));
    h[1].parent = 1;
    EXPECT_TRUE(refused(&s, "a handler's parent is not the one that encloses it"));
    h[0].begin = 0, h[1].begin = 1;
    EXPECT_TRUE(refused(&s, "handler ranges cross"));
    mwl__handler_rec swap = h[0];
    h[0] = h[1], h[1] = swap;
    h[1].parent = MWL_NONE;
    EXPECT_TRUE(refused(&s, "handlers are out of order"));
    subject_free(&s);
}

/* ---- tables ---------------------------------------------------------------------------------- */

UTEST(verify, paths_shapes_functions_patterns) {
    struct subject s = subject_new(emit_sample);
    mwl__path_rec *path = section(&s, MWL_SECTION_PATHS);
    mwl__shape_rec *shape = section(&s, MWL_SECTION_SHAPES);
    mwl__func_rec *fn = section(&s, MWL_SECTION_FUNCS);
    uint32_t *keys = section(&s, MWL_SECTION_KEYS), *re = section(&s, MWL_SECTION_REGEXES);
    const char *path_keys = "a path's keys are not a run of strings after the last path's";
    const char *shape_keys = "a shape's keys are not a run of strings after the last shape's";
    path[0].base = MWL_BASE_COUNT;
    EXPECT_TRUE(refused(&s, "a path begins with an unknown base"));
    path[0].base = MWL_BASE_ENV - 1;
    EXPECT_TRUE(refused(&s, "a path begins with an unknown base"));
    path[1].first_key = 1;
    EXPECT_TRUE(refused(&s, path_keys));
    path[1].n_keys = 1000;
    EXPECT_TRUE(refused(&s, path_keys));
    path[1].first_key = 0xffffffffu;
    EXPECT_TRUE(refused(&s, path_keys));
    keys[path[0].first_key] = 0xffffffffu;
    EXPECT_TRUE(refused(&s, path_keys));
    keys[path[0].first_key] = 1; /* a number */
    EXPECT_TRUE(refused(&s, path_keys));
    keys[shape[0].first_key] = 1;
    EXPECT_TRUE(refused(&s, shape_keys));
    shape[1].first_key = shape[0].first_key;
    EXPECT_TRUE(refused(&s, shape_keys));
    shape[1].n_keys = 0xffffffffu;
    EXPECT_TRUE(refused(&s, shape_keys));
    keys[shape[0].first_key + 2] = keys[shape[0].first_key];
    EXPECT_TRUE(refused(&s, "a shape has a key twice"));
    fn[0].name_k = 1;
    EXPECT_TRUE(refused(&s, "a function's name is not a string"));
    fn[0].name_k = 0xffffffffu;
    EXPECT_TRUE(refused(&s, "a function's name is not a string"));
    fn[0].member = 2;
    EXPECT_TRUE(refused(&s, "a function's call style is unknown or lacks a receiver"));
    fn[1].member = 1;
    EXPECT_TRUE(refused(&s, "a function's call style is unknown or lacks a receiver"));
    re[0] = 1;
    EXPECT_TRUE(refused(&s, "a pattern is not a string"));
    subject_free(&s);
}

static void emit_bad_pattern(mwl__emit *e) {
    (void)mwl__emit_regex(e, str(e, "a("));
    mwl__emit_ax(e, MWL_OP_LOAD_INT, 0, 0);
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
}

static void emit_huge_patterns(mwl__emit *e) {
    char text[64];
    for (int i = 0; i < 1500; i++) {
        snprintf(text, sizeof text, "%d(((abcdefgh){10}){10}){9}", i);
        (void)mwl__emit_regex(e, str(e, text));
    }
    mwl__emit_ax(e, MWL_OP_LOAD_INT, 0, 0);
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
}

/* Two kilobytes that mean millions of ranges and compile to nearly nothing. */
static void emit_slow_patterns(mwl__emit *e) {
    static char text[2000];
    size_t n = 1;
    text[0] = '[';
    for (int i = 0; i < 600; i++) n += (size_t)snprintf(text + n, sizeof text - n, "\\PL");
    for (int i = 0; i < 100; i++) {
        snprintf(text + n, sizeof text - n, "]%d", i);
        (void)mwl__emit_regex(e, str(e, text));
    }
    mwl__emit_ax(e, MWL_OP_LOAD_INT, 0, 0);
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
}

UTEST(verify, patterns_compile_within_a_limit) {
    struct subject s = subject_new(emit_bad_pattern);
    mwl_error error;
    EXPECT_EQ(load(&s, &error), MWL_E_IMAGE);
    EXPECT_TRUE(error.message[0] != '\0');
    subject_free(&s);
    s = subject_new(emit_huge_patterns);
    EXPECT_EQ(load(&s, &error), MWL_E_TOO_BIG);
    subject_free(&s);
    s = subject_new(emit_slow_patterns);
    EXPECT_EQ(load(&s, &error), MWL_E_TOO_BIG);
    EXPECT_STREQ(error.message, "the regular expressions take too long to compile");
    subject_free(&s);
}

/* ---- constants ------------------------------------------------------------------------------- */

static void emit_consts(mwl__emit *e) {
    mwl_heap *h = NULL;
    (void)mwl_heap_new(NULL, &h);
    mwl_value m = mwl__map_new(h, 2);
    m = mwl__map_put(h, m, mwl_string(h, "a", 1), mwl_int(1)); /* k0 "a", k1 1, k2 "b", k3 {..} */
    m = mwl__map_put(h, m, mwl_string(h, "b", 1), mwl_int(1));
    (void)mwl__emit_const(e, m);
    mwl__drop(h, m);
    (void)mwl__emit_const(e, mwl_null());          /* k4 */
    (void)mwl__emit_const(e, mwl_bool(true));      /* k5 */
    (void)mwl__emit_const(e, mwl_timestamp(1, 2)); /* k6 */
    mwl_value b = mwl_bytes(h, "\xff", 1);
    (void)mwl__emit_const(e, b); /* k7 */
    mwl__drop(h, b);
    mwl_heap_free(h);
    mwl__emit_ax(e, MWL_OP_LOAD_INT, 0, 0);
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
}

UTEST(verify, constants) {
    struct subject s = subject_new(emit_consts);
    mwl__const_rec *k = section(&s, MWL_SECTION_CONSTS);
    uint32_t *tree = section(&s, MWL_SECTION_TREES);
    mwl_error error;
    EXPECT_EQ(load(&s, &error), MWL_OK);
    static const uint32_t kinds[] = {
        MWL_KIND_ABSENT, MWL_KIND_OPTIONAL, MWL_KIND_EXT, MWL_KIND_FAULT, 16, 0x108, 0xffffffffu};
    for (int i = 0; i < 7; i++) {
        k[4].kind = kinds[i];
        EXPECT_TRUE(refused(&s, "a constant of an unknown kind"));
    }
    k[4].payload = 1;
    EXPECT_TRUE(refused(&s, "a null with a payload"));
    k[4].aux = 1;
    EXPECT_TRUE(refused(&s, "a reserved field is used"));
    k[5].payload = 2;
    EXPECT_TRUE(refused(&s, "a boolean is neither true nor false"));
    k[6].aux = 1000000000;
    EXPECT_TRUE(refused(&s, "a timestamp is out of range"));
    k[6].payload = UINT64_C(1) << 62;
    EXPECT_TRUE(refused(&s, "a timestamp is out of range"));
    k[2].payload = 0;
    EXPECT_TRUE(refused(&s, "a string is not where it must be"));
    k[7].kind = MWL_KIND_STRING;
    EXPECT_TRUE(refused(&s, "a string record is not UTF-8"));
    k[0].kind = MWL_KIND_BYTES;
    EXPECT_TRUE(refused(&s, "a string record has another number of code points"));
    k[7].kind = MWL_KIND_NUMBER;
    EXPECT_TRUE(refused(&s, "strings that belong to no constant"));
    k[3].payload = 1;
    EXPECT_TRUE(refused(&s, "a container is not where it must be"));
    k[3].kind = MWL_KIND_INT;
    EXPECT_TRUE(refused(&s, "lists that belong to no constant"));
    k[4].kind = MWL_KIND_ARRAY; /* behind the last list */
    k[4].payload = s.view.section[MWL_SECTION_TREES].size / sizeof *tree;
    EXPECT_TRUE(refused(&s, "a container is not where it must be"));
    tree[0] = 3;
    EXPECT_TRUE(refused(&s, "a container's length does not fit"));
    tree[0] = 0x80000001u;
    EXPECT_TRUE(refused(&s, "a container's length does not fit"));
    tree[0] = 1;
    EXPECT_TRUE(refused(&s, "lists that belong to no constant"));
    tree[2] = 3; /* itself */
    EXPECT_TRUE(refused(&s, "a container holds a constant that is not before it"));
    tree[2] = 4;
    EXPECT_TRUE(refused(&s, "a container holds a constant that is not before it"));
    tree[3] = tree[1];
    EXPECT_TRUE(refused(&s, mwl_status_text(MWL_E_DUPLICATE)));
    k[1].kind = MWL_KIND_NUMBER;
    tree[3] = 1;
    EXPECT_TRUE(refused(&s, "an object's key is not a string, int, uint or bool"));
    subject_free(&s);
}

static void emit_doubling(mwl__emit *e) {
    mwl_heap *h = NULL;
    (void)mwl_heap_new(NULL, &h);
    mwl_value v = mwl_array(h, 0);
    for (int i = 0; i < 20; i++) { /* 2^20 nodes made of 20 lists */
        mwl_value l = mwl_array_push(h, mwl_array(h, 2), mwl__keep(v));
        v = mwl_array_push(h, l, v);
    }
    (void)mwl__emit_const(e, v);
    mwl__drop(h, v);
    mwl_heap_free(h);
    mwl__emit_ax(e, MWL_OP_LOAD_INT, 0, 0);
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
}

/* A tree of far too many nodes from a few words is refused when it is built, and not walked. */
UTEST(verify, sharing_cannot_explode) {
    struct subject s = subject_new(emit_doubling);
    mwl_error error;
    EXPECT_EQ(load(&s, &error), MWL_OK);
    EXPECT_LT(s.image.len, (size_t)2000);
    subject_free(&s);
}

/* ---- Flow tables ----------------------------------------------------------------------------- */

/* Which u32 fields of a record may hold any number. */
static bool is_free(unsigned id, size_t word) {
    switch (id) {
    case MWL_SECTION_IMPORTS: return word >= 2;  /* a place in the definition */
    case MWL_SECTION_MATCHERS: return word == 2; /* first_type of no types */
    case MWL_SECTION_GATHERS: return word == 3;  /* concurrency */
    default: return false;
    }
}

UTEST(verify, every_field_of_the_flow_tables) {
    struct subject s = subject_new(emit_sample);
    static const unsigned ids[] = {MWL_SECTION_IMPORTS, MWL_SECTION_FLOWS,    MWL_SECTION_STEPS,
                                   MWL_SECTION_CATCHES, MWL_SECTION_MATCHERS, MWL_SECTION_ENTRIES,
                                   MWL_SECTION_CALLS,   MWL_SECTION_GATHERS};
    static const uint32_t bad[] = {0xfffffffeu, 0x80000000u, 1000};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        size_t n = mwl__image_record_size(ids[i]) / 4;
        for (size_t word = 0; word < n; word++)
            for (size_t b = 0; b < 3; b++) {
                uint32_t *rec = section(&s, ids[i]);
                rec[word] = bad[b];
                mwl_error error;
                mwl_status status = load(&s, &error);
                EXPECT_EQ(status, is_free(ids[i], word) ? MWL_OK : MWL_E_IMAGE);
                if (status != (is_free(ids[i], word) ? MWL_OK : MWL_E_IMAGE))
                    printf("%s word %zu\n", mwl__image_section_name(ids[i]), word);
                subject_reset(&s);
            }
    }
    subject_free(&s);
}

UTEST(verify, calls_gathers_and_arguments_agree) {
    struct subject s = subject_new(emit_sample);
    enum {
        CALL_FLAGS = 2,
        CALL_WITH = 3,
        CALL_SUCCESS = 5,
        CALL_GATHER = 8,
        GATHER_CONCURRENCY = 3,
        ENTRY_WITH = 12
    };
    uint32_t *call = section(&s, MWL_SECTION_CALLS);
    call[CALL_FLAGS] = MWL_CALL_HAS_ARMS;
    call[CALL_SUCCESS] = MWL_NONE;
    EXPECT_TRUE(refused(&s, "a call's arms are not there"));
    call[CALL_SUCCESS] = MWL_NONE;
    ((mwl__ins *)section(&s, MWL_SECTION_CODE))[PC_TESTED] = mwl__ins_ax(MWL_OP_ARMS, 0, 0);
    EXPECT_TRUE(refused(&s, "a call has no arms to go to"));
    call[CALL_GATHER] = MWL_NONE;
    EXPECT_TRUE(refused(&s, "a Gather's call belongs to another"));
    call[CALL_WITH] = 0; /* a number */
    EXPECT_TRUE(refused(&s, "a call's arguments are not an object"));
    ((uint32_t *)section(&s, MWL_SECTION_ENTRIES))[ENTRY_WITH] = 0;
    EXPECT_TRUE(refused(&s, "an entry's arguments are not an object"));
    ((uint32_t *)section(&s, MWL_SECTION_GATHERS))[GATHER_CONCURRENCY] = 0;
    EXPECT_TRUE(refused(&s, "a Gather with a concurrency of 0"));
    ((uint32_t *)section(&s, MWL_SECTION_CATCHES))[0] = MWL_NONE;
    EXPECT_TRUE(refused(&s, "a catch clause's matcher is not there"));
    subject_free(&s);
}

/* ---- positions, versions --------------------------------------------------------------------- */

UTEST(verify, positions) {
    struct subject s = subject_new(emit_sample);
    size_t n = s.view.section[MWL_SECTION_POSITIONS].size;
    static const unsigned char bad[] = {0x80, 0xff, 0x7f};
    const char *damaged = "the positions are damaged";
    uint32_t *word = section(&s, MWL_SECTION_POSITIONS);
    word[0] = 0;
    EXPECT_TRUE(refused(&s, damaged));
    word[0] = 0xffffffffu;
    EXPECT_TRUE(refused(&s, damaged));
    word[1] = 1;
    EXPECT_TRUE(refused(&s, damaged));
    word[2] = 1;
    EXPECT_TRUE(refused(&s, damaged));
    ((unsigned char *)word)[12 + 6] = N_CODE; /* the second row's pc: outside the code */
    EXPECT_TRUE(refused(&s, damaged));
    ((unsigned char *)word)[12 + 6] = 0; /* the same row twice */
    EXPECT_TRUE(refused(&s, damaged));
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < 3; b++) { /* any content is decoded within its bounds */
            mwl_error error;
            ((unsigned char *)section(&s, MWL_SECTION_POSITIONS))[i] = bad[b];
            (void)load(&s, &error);
            subject_reset(&s);
        }
    subject_free(&s);
}

UTEST(verify, another_instruction_set) {
    struct subject s = subject_new(emit_sample);
    mwl_error error;
    s.image.data[8] ^= 1;
    EXPECT_EQ(load(&s, &error), MWL_E_VERSION);
    EXPECT_STREQ(error.message, "the program is for another instruction set; assemble it again");
    subject_free(&s);
}

UTEST(verify, unaligned_bytes_are_copied) {
    struct subject s = subject_new(emit_sample);
    char *odd = malloc(s.sound.len + 1);
    ASSERT_TRUE(odd != NULL);
    memcpy(odd + 1, s.sound.data, s.sound.len);
    mwl_program *p = NULL;
    EXPECT_EQ(mwl_program_load(NULL, odd + 1, s.sound.len, MWL_BORROW, &p, NULL), MWL_OK);
    EXPECT_TRUE(p && p->owns_bytes);
    mwl_program_release(mwl_program_keep(p));
    mwl_program_release(p);
    EXPECT_EQ(mwl_program_load(NULL, NULL, 0, MWL_COPY, &p, NULL), MWL_E_USAGE);
    EXPECT_EQ(mwl_program_load(NULL, odd, 0, MWL_COPY, &p, NULL), MWL_E_IMAGE);
    free(odd);
    subject_free(&s);
}

UTEST_MAIN()
