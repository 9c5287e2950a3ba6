/* test_disasm.c: the listing: its content, that its instructions can be read back, that it is
 * stable. */
#include "utest.h"

#include "assembler/emit/disasm.h"
#include "assembler/emit/emit.h"
#include "tests/unit/faulty.h"
#include "tests/unit/op_parse.h"

static uint32_t str(mwl__emit *e, const char *s) { return mwl__emit_string(e, s, strlen(s)); }

static const char source[] = "{{ step.input.user.name != '' && size(x) > 3 }}";

static void emit_sample(mwl__emit *e) {
    uint32_t keys[2] = {str(e, "user"), str(e, "first name")};
    mwl__emit_ax(e, MWL_OP_LOAD_PATH, 0, mwl__emit_path(e, MWL_BASE_STEP_INPUT, keys, 2));
    mwl__emit_abc(e, MWL_OP_NE_K, 0, 0, str(e, ""));
    uint32_t test = mwl__emit_ax(e, MWL_OP_AND_TEST, 0, 0);
    mwl__emit_ax(e, MWL_OP_LOAD_PATH, 1, mwl__emit_path(e, MWL_BASE_ENV + 2, NULL, 0));
    mwl__emit_abc(e, MWL_OP_CALL_FN, 1, 1, mwl__emit_func(e, "size", 1, true));
    mwl__emit_abc(e, MWL_OP_GT_K, 1, 1, mwl__emit_const(e, mwl_int(3)));
    mwl__emit_abc(e, MWL_OP_AND, 0, 0, 1);
    mwl__emit_patch(e, test, mwl__emit_here(e));
    mwl__emit_abc(e, MWL_OP_MAP_OF, 0, 0, mwl__emit_shape(e, keys, 1));
    mwl__emit_ax(e, MWL_OP_LOAD_INT, 1, 0xfffffffeu);
    mwl__emit_ax(e, MWL_OP_MATCH, 1, mwl__emit_regex(e, str(e, "^a\"")));
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
    mwl__emit_regs(e, 4);
    mwl__emit_handler(e, 3, 6, 6, 1, MWL_HANDLER_EXPR);
    mwl__emit_where(e, 0, 0, (mwl__where){1, 4, 3, 20});
    mwl__emit_where(e, 4, 0, (mwl__where){1, 34, 33, 7});
    mwl__emit_where(e, 7, 0, (mwl__where){1, 1, 0, 1000}); /* not inside the source */
    mwl__emit_source(e, source, sizeof source - 1);
}

static mwl_program *made(mwl_alloc alloc, void (*emit)(mwl__emit *e)) {
    mwl__buf image = mwl__buf_make(alloc);
    mwl_program *p = NULL;
    mwl__emit *e = mwl__emit_new(&alloc);
    if (!e) return NULL;
    emit(e);
    if (mwl__emit_finish(e, 0, &image) == MWL_OK)
        (void)mwl__program_load(&alloc, image.data, image.len, true, &p, NULL);
    mwl__buf_free(&image);
    mwl__emit_free(e);
    return p;
}

static const char wanted[] =
    "     0  load_path r0, p0                  ; step.input.user[\"first name\"] | 1:4 "
    "step.input.user.name\n"
    "     1  ne_k r0, r0, k2                   ; \"\"\n"
    "     2  and_test r0, @7                   ; L7\n"
    "     3  load_path r1, p1                  ; env2\n"
    "     4  call_fn r1, r1, f0                ; size/1 member | 1:34 size(x)\n"
    "     5  gt_k r1, r1, k4                   ; int 3\n"
    "L6:\n"
    "     6  and r0, r0, r1\n"
    "L7:\n"
    "     7  map_of r0, r0, s0                 ; {user} | 1:1\n"
    "     8  load_int r1, #4294967294          ; -2\n"
    "     9  match r1, g0                      ; \"^a\\\"\"\n"
    "    10  end r0\n";

UTEST(disasm, code_as_written) {
    mwl_program *p = made(mwl_alloc_default(), emit_sample);
    ASSERT_TRUE(p != NULL);
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    ASSERT_EQ(mwl__disasm(p, MWL_DISASM_CODE_ONLY, &text), MWL_OK);
    EXPECT_STREQ(mwl__buf_cstr(&text), wanted);
    text.len = 0;
    ASSERT_EQ(mwl__disasm(p, 0, &text), MWL_OK);
    EXPECT_TRUE(strstr(mwl__buf_cstr(&text), "\n; handlers\n;   3 to 5: L6, r1\n") != NULL);
    EXPECT_TRUE(strstr(mwl__buf_cstr(&text), ";   k4     int 3\n") != NULL);
    EXPECT_TRUE(strstr(mwl__buf_cstr(&text), "; 4 registers, 3 slots, an expression\n") != NULL);
    EXPECT_TRUE(strstr(mwl__buf_cstr(&text), ";   CODE             88 bytes       11 records\n") !=
                NULL);
    mwl__buf_free(&text);
    mwl__program_release(p);
}

/* ---- every kind of constant ------------------------------------------------------------------ */

static void emit_consts(mwl__emit *e) {
    mwl_heap *h = NULL;
    char text[200];
    (void)mwl_heap_new(NULL, &h);
    memset(text, 'x', sizeof text);
    memcpy(text + 58, "\xF0\x9F\x98\x80", 4); /* the cut falls into it */
    mwl_value type = mwl__type_new(h, "int", 3), bytes = mwl_bytes(h, "\x01\xfe", 2);
    mwl_value map = mwl__map_put(h, mwl__map_new(h, 1), mwl_int(1), mwl_bool(true));
    mwl_value list = mwl_array(h, 100);
    for (int i = 0; i < 100; i++) list = mwl_array_push(h, list, mwl_number(i));
    (void)mwl__emit_const(e, mwl_null());
    (void)mwl__emit_const(e, mwl_bool(false));
    (void)mwl__emit_const(e, mwl_number(-0.0));
    (void)mwl__emit_const(e, mwl_number(1e300 * 1e10));
    (void)mwl__emit_const(e, mwl_number(1.5));
    (void)mwl__emit_const(e, mwl_uint(7));
    (void)mwl__emit_const(e, mwl_timestamp(5, 6));
    (void)mwl__emit_const(e, type);
    (void)mwl__emit_const(e, bytes);
    (void)mwl__emit_const(e, map);
    (void)mwl__emit_const(e, list);
    (void)mwl__emit_string(e, text, sizeof text);
    mwl__drop(h, type), mwl__drop(h, bytes), mwl__drop(h, map), mwl__drop(h, list);
    mwl_heap_free(h);
    mwl__emit_ax(e, MWL_OP_LOAD_INT, 0, 0);
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
}

UTEST(disasm, constants) {
    mwl_program *p = made(mwl_alloc_default(), emit_consts);
    ASSERT_TRUE(p != NULL);
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    ASSERT_EQ(mwl__disasm(p, 0, &text), MWL_OK);
    static const char *const lines[] = {"null\n",
                                        "false\n",
                                        "-0.0\n",
                                        "Infinity\n",
                                        "1.5\n",
                                        "uint 7\n",
                                        "timestamp 5.000000006\n",
                                        "type int\n",
                                        "b'01fe'\n",
                                        "map of 1\n",
                                        "list of 100\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        EXPECT_TRUE(strstr(mwl__buf_cstr(&text), lines[i]) != NULL);
    EXPECT_TRUE(strstr(mwl__buf_cstr(&text), "xxx\xF0") == NULL);
    EXPECT_TRUE(strstr(mwl__buf_cstr(&text), "...") != NULL);
    mwl__buf_free(&text);
    mwl__program_release(p);
}

/* ---- every opcode ---------------------------------------------------------------------------- */

/* Something in every table, a Flow, and after it (in code that is never reached) each opcode with
 * the first entry of each table. */
static void emit_all(mwl__emit *e) {
    const uint32_t none = MWL_NONE;
    uint32_t key = str(e, "key");
    (void)mwl__emit_path(e, MWL_BASE_VARS, &key, 1);
    (void)mwl__emit_shape(e, &key, 1);
    (void)mwl__emit_func(e, "f", 1, false);
    (void)mwl__emit_regex(e, key);
    mwl__import_rec mw = {str(e, "mwl:retry"), MWL_IMPORT_MIDDLEWARE, 1, 1};
    mwl__import_rec call_import = {str(e, "mwl:mock"), MWL_IMPORT_CALL, 1, 1};
    mwl__flow_rec flow = {none, 0, 3, none, none, 0};
    mwl__step_rec step = {str(e, "first"), 0, MWL_ACTION_CALL, 0, 0, 0, 0};
    mwl__matcher_rec matcher = {0, 0, 0, 0, 1};
    mwl__catch_rec clause = {0, 0};
    mwl__entry_rec entry = {
        0, 0, 0, 0, 0, 0, 0, 0, {none, none, none, none}, {none, none, none, none}};
    mwl__call_rec call = {1, none, MWL_CALL_HAS_ARMS, none, 0, 0, 0, 0, none};
    mwl__gather_rec gather = {0, 0, 0, none, 0, 0, 0, 0};
    mwl__emit_record(e, MWL_SECTION_IMPORTS, &mw, sizeof mw);
    mwl__emit_record(e, MWL_SECTION_IMPORTS, &call_import, sizeof call_import);
    mwl__emit_record(e, MWL_SECTION_FLOWS, &flow, sizeof flow);
    mwl__emit_record(e, MWL_SECTION_STEPS, &step, sizeof step);
    mwl__emit_record(e, MWL_SECTION_ENTRIES, &entry, sizeof entry);
    mwl__emit_record(e, MWL_SECTION_CALLS, &call, sizeof call);
    mwl__emit_record(e, MWL_SECTION_MATCHERS, &matcher, sizeof matcher);
    mwl__emit_record(e, MWL_SECTION_CATCHES, &clause, sizeof clause);
    mwl__emit_record(e, MWL_SECTION_GATHERS, &gather, sizeof gather);
    mwl__emit_info(e, MWL_INFO_ROOT_FLOW, 0);
    mwl__emit_regs(e, 8);
    mwl__emit_ax(e, MWL_OP_STEP, 0, 0);
    mwl__emit_abc(e, MWL_OP_PASS_INPUT, 0, 0, 0);
    mwl__emit_abc(e, MWL_OP_RETURN, 0, 0, 0);
    mwl__emit_ax(e, MWL_OP_COMPLETE, 0, 0);
    for (unsigned op = 0; op < MWL_OP_COUNT; op++) {
        bool jumps = mwl__op_get(op)->kind[1] == MWL_OPERAND_JUMPX;
        uint32_t here = mwl__emit_here(e);
        if (op == MWL_OP_NEXT || op == MWL_OP_NEXT2) { /* round a body */
            mwl__emit_ax(e, MWL_OP_JUMP, 0, here + 2);
            mwl__emit_abc(e, MWL_OP_NOP, 0, 0, 0);
            mwl__emit_ax(e, (mwl__op)op, 0, here + 1);
        } else if (jumps)
            mwl__emit_ax(e, (mwl__op)op, 0, here + 1);
        else
            mwl__emit_abc(e, (mwl__op)op, 0, 0, 0);
    }
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
}

/* Reads back the instructions of a listing. Returns how many are those of the program, in order. */
static uint32_t read_back(const mwl_program *p, char *text) {
    uint32_t pc = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (line[0] == ';' || line[0] == 'L') continue;
        char *comment = strchr(line, ';'), *start = line + strspn(line, " 0123456789");
        char *end = comment ? comment : line + strlen(line);
        while (end > start && end[-1] == ' ') end--;
        *end = '\0';
        mwl__ins ins;
        if (pc >= p->n_code || !op_parse(start, &ins) ||
            memcmp(&ins, &p->code[pc], sizeof ins) != 0)
            return pc;
        pc++;
    }
    return pc;
}

UTEST(disasm, every_opcode_reads_back) {
    mwl_program *p = made(mwl_alloc_default(), emit_all);
    ASSERT_TRUE(p != NULL);
    mwl__buf text = mwl__buf_make(mwl_alloc_default()), again = text;
    ASSERT_EQ(mwl__disasm(p, 0, &text), MWL_OK);
    ASSERT_EQ(mwl__disasm(p, 0, &again), MWL_OK);
    EXPECT_STREQ(mwl__buf_cstr(&text), mwl__buf_cstr(&again));
    EXPECT_TRUE(strstr(text.data, "\n; ==== flow0 root Flow\n") != NULL);
    EXPECT_TRUE(strstr(text.data, "\n; ---- step0 Call first\n") != NULL);
    EXPECT_TRUE(strstr(text.data, "; onEntry, mwl:retry\n") != NULL);
    EXPECT_EQ(read_back(p, text.data), p->n_code);
    mwl__buf_free(&text);
    mwl__buf_free(&again);
    mwl__program_release(p);
}

static bool list_it(mwl_alloc alloc) {
    mwl_program *p = made(mwl_alloc_default(), emit_sample);
    mwl__buf text = mwl__buf_make(alloc);
    bool through = mwl__disasm(p, 0, &text) == MWL_OK;
    mwl__buf_free(&text);
    mwl__program_release(p);
    return through;
}

UTEST(disasm, every_allocation_may_fail) { EXPECT_TRUE(faulty_sweep(list_it, 100)); }

UTEST_MAIN()
