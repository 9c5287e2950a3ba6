/* test_lower.c: the code and the tables of each construct, as vm/program/tables.h describes
 * them. */
#include "tests/unit/assembled.h"
#include "utest.h"

/* A Flow whose first Step is this object's inside; `z` returns. */
#define STEP_A(inside)                                                                             \
    FLOW_HEAD "\"steps\": {\"a\": {" inside "}, \"z\": {\"action\": \"Return\"}}}"
#define TO_Z "\"next\": \"z\""
#define TAIL " step pass_input return complete"

struct shape {
    const char *text, *ops;
};

static void expect_ops(int *utest_result, const struct shape *shapes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct assembled a;
        assembled_make(&a, shapes[i].text, MWL_ASM_STRIP);
        ASSERT_EQ(MWL_OK, (int)a.status);
        EXPECT_STREQ(shapes[i].ops, a.ops);
        assembled_free(&a);
    }
}
#define EXPECT_OPS(...)                                                                            \
    do {                                                                                           \
        static const struct shape shapes_[] = {__VA_ARGS__};                                       \
        expect_ops(utest_result, shapes_, sizeof shapes_ / sizeof *shapes_);                       \
    } while (0)

UTEST(lower, defaults_evaluate_nothing) {
    EXPECT_OPS({FLOW_HEAD "\"steps\": {\"a\": {\"action\": \"Return\"}}}",
                "step pass_input return complete"},
               {STEP_A("\"action\": \"Pass\", " TO_Z), "step pass_input to" TAIL},
               {STEP_A("\"action\": \"Call\", \"call\": {" MOCK "}, " TO_Z),
                "step pass_input call dispatch call_end step_result to call_fault" TAIL},
               {STEP_A("\"action\": \"Gather\", \"calls\": [{" MOCK "}], " TO_Z),
                "step gather gather_run call dispatch call_end gather_arms gather_end to "
                "call_fault" TAIL});
}

UTEST(lower, values) {
    EXPECT_OPS(/* a constant is loaded; nothing in it can fault */
               {STEP_A("\"action\": \"Pass\", \"output\": {\"b\": [1, 2]}, " TO_Z),
                "step load_k out to" TAIL},
               /* a path is one instruction, and what it finds is data */
               {STEP_A("\"action\": \"Pass\", \"output\": \"{{ step.input.b.c }}\", " TO_Z),
                "step load_path out to step_fault" TAIL},
               /* an int becomes the number it is in data, at assembly */
               {STEP_A("\"action\": \"Pass\", \"output\": \"{{ 7 }}\", " TO_Z),
                "step load_k out to" TAIL},
               /* what is computed is made data */
               {STEP_A("\"action\": \"Pass\", \"output\": \"{{ step.input + 1.0 }}\", " TO_Z),
                "step load_path add_k data out to step_fault" TAIL},
               /* a test is a boolean */
               {STEP_A("\"action\": \"Pass\", \"output\": \"{{ has(step.input.b) }}\", " TO_Z),
                "step has_path out to step_fault" TAIL},
               /* leaves in registers side by side */
               {STEP_A("\"action\": \"Pass\", \"output\": {\"b\": 1, \"c\": [\"{{ step.input }}\", "
                       "2]}, " TO_Z),
                "step load_k load_path load_k list_of map_of out to step_fault" TAIL});
}

UTEST(lower, assign) {
    EXPECT_OPS(
        {STEP_A("\"action\": \"Pass\", \"assign\": {\"b\": \"{{ step.input }}\", \"c\": 1}, " TO_Z),
         "step pass_input load_path load_k assign to step_fault" TAIL},
        {STEP_A("\"action\": \"Pass\", \"assign\": {}, " TO_Z), "step pass_input to" TAIL});
}

UTEST(lower, exit_is_recorded_where_it_is_read) {
    EXPECT_OPS(
        {STEP_A(
             "\"action\": \"Pass\", \"assign\": {\"b\": \"{{ step.metadata.exitedAt }}\"}, " TO_Z),
         "step step_exit pass_input load_path assign to step_fault" TAIL},
        {STEP_A("\"action\": \"Pass\", \"output\": \"{{ step }}\", " TO_Z),
         "step step_exit load_path out to step_fault" TAIL},
        {STEP_A("\"action\": \"Pass\", \"output\": \"{{ step.metadata.enteredAt }}\", " TO_Z),
         "step load_path out to step_fault" TAIL});
}

UTEST(lower, match) {
    EXPECT_OPS(
        {STEP_A("\"action\": \"Match\", \"cases\": [{\"when\": \"{{ match.input > 1.0 }}\", " TO_Z
                "}], \"default\": {\"output\": 1, \"assign\": {\"b\": 2}, " TO_Z "}"),
         "step pass_input match_input load_path gt_k jump_unless pass_match to "
         "load_k out load_k assign to step_fault" TAIL},
        /* what follows a clause that always holds is left out, as is one that never does */
        {STEP_A("\"action\": \"Match\", \"cases\": [{\"when\": \"{{ false }}\", " TO_Z
                "}, {\"when\": \"{{ true }}\", " TO_Z "}], \"default\": {" TO_Z "}"),
         "step pass_input match_input pass_match to" TAIL});
}

UTEST(lower, sleep_return_raise) {
    EXPECT_OPS(
        {STEP_A("\"action\": \"Sleep\", \"for\": \"PT1S\", " TO_Z),
         "step load_k sleep_for pass_input to step_fault" TAIL},
        {STEP_A("\"action\": \"Sleep\", \"until\": \"{{ vars.x }}\", " TO_Z),
         "step load_path sleep_until pass_input to step_fault" TAIL},
        {FLOW_HEAD "\"steps\": {\"a\": {\"action\": \"Return\", \"value\": \"{{ step.input }}\"}}}",
         "step load_path out return step_fault complete"},
        {FLOW_HEAD "\"steps\": {\"a\": {\"action\": \"Raise\"}}}", "step reraise complete"},
        {FLOW_HEAD "\"steps\": {\"a\": {\"action\": \"Raise\", \"result\": {\"code\": \"A.B\", "
                   "\"details\": \"{{ step.input }}\"}}}}",
         "step load_k load_path raise step_fault complete"});
}

UTEST(lower, call) {
    EXPECT_OPS(
        {STEP_A("\"action\": \"Call\", \"input\": 1, \"output\": \"{{ step.result.value.b }}\", "
                "\"call\": {" MOCK ", \"input\": 2, \"with\": {\"value\": \"{{ call.input }}\"}, "
                "\"onSuccess\": {\"value\": 3, \"assign\": {\"b\": 4}}, \"onFailure\": "
                "{\"assign\": {\"b\": "
                "\"{{ call.result.code }}\"}}}, " TO_Z),
         "step load_k out call load_k call_input load_path map_of call_with dispatch arms "
         "load_k arm_value load_k assign jump load_path assign call_end step_result load_path out "
         "to "
         "step_fault call_fault arm_fault" TAIL},
        /* an empty arm has no code */
        {STEP_A("\"action\": \"Call\", \"call\": {" MOCK
                ", \"onSuccess\": {}, \"onFailure\": {}}, " TO_Z),
         "step pass_input call dispatch call_end step_result to call_fault" TAIL},
        {STEP_A("\"action\": \"Call\", \"call\": {" MOCK
                "}, \"catch\": [{\"match\": {\"codes\": [\"*\"]}, "
                "\"output\": \"{{ failure.code }}\", " TO_Z "}], " TO_Z),
         "step pass_input call dispatch call_end step_result to load_path out to_handler "
         "call_fault clause_fault" TAIL});
}

UTEST(lower, entries) {
    EXPECT_OPS(
        {STEP_A("\"action\": \"Call\", \"call\": {" MOCK "}, \"middleware\": [{" MW(
             "timeout") ", \"onEntry\": {\"with\": {\"duration\": \"PT1S\"}}}], " TO_Z),
         "step pass_input enter action establish call dispatch call_end ascend reenter always "
         "unwind "
         "step_result to entry_fault call_fault" TAIL},
        /* when, with, action, shaping, assign */
        {STEP_A("\"action\": \"Call\", \"call\": {" MOCK "}, \"middleware\": [{" MW(
             "retry") ", \"onEntry\": {\"when\": \"{{ vars.on }}\", \"with\": {\"policies\": \"{{ "
                      "vars.p }}\"}, "
                      "\"output\": 1, \"assign\": {\"b\": 2}}, "
                      "\"onSuccess\": {\"value\": 3}, \"onFailure\": {\"code\": \"A.B\", "
                      "\"assign\": {\"b\": 4}}}], " TO_Z),
         "step pass_input enter load_path gate load_path map_of with action load_k out load_k "
         "assign "
         "establish call dispatch call_end ascend shape_skip load_k shape reenter "
         "action shape_skip load_k envelope load_k assign reenter always unwind step_result to "
         "entry_fault call_fault phase_fault" TAIL},
        /* an action whose `when` is always false has no code */
        {STEP_A("\"action\": \"Call\", \"call\": {" MOCK
                "}, \"middleware\": [{" MW("timeout") ", \"onEntry\": {\"when\": false, \"with\": "
                                                      "{\"duration\": \"{{ vars.d }}\"}}}], " TO_Z),
         "step pass_input enter load_k gate establish call dispatch call_end ascend reenter always "
         "unwind "
         "step_result to entry_fault call_fault" TAIL});
}

UTEST(lower, structural_calls_are_code) {
    struct assembled a;
    assembled_make(
        &a,
        STEP_A("\"action\": \"Call\", \"call\": {" MOCK "}, \"middleware\": [{" MW(
            "finally") ", \"onAlways\": {\"with\": {\"call\": {" MOCK
                       ", \"input\": \"{{ middleware.result }}\"}, "
                       "\"middleware\": [{" MW("timeout") ", \"onEntry\": {\"with\": "
                                                          "{\"duration\": \"PT1S\"}}}]}}}], " TO_Z),
        MWL_ASM_STRIP);
    ASSERT_EQ(MWL_OK, (int)a.status);
    EXPECT_STREQ("step pass_input enter establish call dispatch call_end ascend reenter always "
                 "action unwind "
                 "step_result to call_fault always_fault step pass_input return complete "
                 "enter action establish call load_path call_input dispatch call_end ascend "
                 "reenter always unwind "
                 "action_done entry_fault call_fault",
                 a.ops);
    const mwl__flow_tables *t = &a.program->tables;
    ASSERT_EQ(2u, t->n_entries);
    EXPECT_EQ(20u, t->entries[0].struct_pc[MWL_ON_ALWAYS]);
    EXPECT_EQ(MWL_NONE, t->entries[0].with_k[MWL_ON_ALWAYS]);
    const uint32_t of_code = MWL_ENTRY_PASSES_SUCCESS | MWL_ENTRY_PASSES_FAILURE | MWL_ENTRY_RISES;
    EXPECT_EQ(0u, (t->entries[0].flags & of_code));
    EXPECT_EQ(
        (unsigned)(MWL_ENTRY_AROUND_CALL | MWL_ENTRY_PASSES_SUCCESS | MWL_ENTRY_PASSES_FAILURE),
        t->entries[1].flags);
    EXPECT_EQ((unsigned)(MWL_CALL_BARE | MWL_CALL_RISES), t->calls[0].flags);
    EXPECT_EQ((unsigned)MWL_CALL_RISES, t->calls[1].flags); /* it has an input */
    EXPECT_EQ(32u, t->entries[1].out_pc);
    assembled_free(&a);
}

UTEST(lower, flow_level_entries_bracket_the_graph) {
    struct assembled a;
    assembled_make(&a,
                   FLOW_HEAD "\"middleware\": [{" MW(
                       "loop") ", \"onSuccess\": {\"when\": \"{{ vars.go }}\"}}], "
                               "\"steps\": {\"a\": {\"action\": \"Return\"}}}",
                   MWL_ASM_STRIP);
    ASSERT_EQ(MWL_OK, (int)a.status);
    EXPECT_STREQ("enter action establish step pass_input return entry_fault ascend load_path gate "
                 "action reenter "
                 "always unwind complete phase_fault",
                 a.ops);
    const mwl__flow_tables *t = &a.program->tables;
    EXPECT_EQ(0u, t->flows[0].pc);
    EXPECT_EQ(7u, t->flows[0].ascend_pc);
    EXPECT_EQ(3u, t->entries[0].inner_pc);
    EXPECT_EQ(3u, t->steps[0].pc);
    EXPECT_EQ(8u, t->entries[0].success_pc);
    EXPECT_EQ(11u,
              t->entries[0].failure_pc); /* it has no code of its own: it is where the phases end */
    EXPECT_EQ(12u, t->entries[0].always_pc);
    EXPECT_EQ(13u, t->entries[0].leave_pc);
    EXPECT_EQ(14u, t->entries[0].out_pc);
    EXPECT_EQ((unsigned)(MWL_ENTRY_FLOW_LEVEL | MWL_ENTRY_PASSES_FAILURE), t->entries[0].flags);
    assembled_free(&a);
}

UTEST(lower, gather) {
    struct assembled a;
    assembled_make(
        &a,
        STEP_A("\"action\": \"Gather\", \"over\": \"{{ step.input }}\", \"call\": {" MOCK
               ", \"onSuccess\": {\"assign\": {\"b\": \"{{ call.index }}\"}}}, \"concurrency\": 3, "
               "\"completion\": {\"successes\": 1, \"wait\": false}, "
               "\"output\": \"{{ step.results }}\", " TO_Z),
        MWL_ASM_STRIP);
    ASSERT_EQ(MWL_OK, (int)a.status);
    EXPECT_STREQ("step gather load_path gather_over load_k gather_need gather_run call dispatch "
                 "arms load_path assign "
                 "call_end gather_arms gather_end load_path out to step_fault gather_fault "
                 "call_fault arm_fault" TAIL,
                 a.ops);
    const mwl__gather_rec *g = &a.program->tables.gathers[0];
    EXPECT_EQ(
        (unsigned)(MWL_GATHER_OVER | MWL_GATHER_NO_WAIT | MWL_GATHER_RESULTS | MWL_GATHER_NEED),
        g->flags);
    EXPECT_EQ(3u, g->concurrency);
    EXPECT_EQ(6u, g->run_pc);
    EXPECT_EQ(13u, g->arms_pc);
    EXPECT_EQ(14u, g->end_pc);
    EXPECT_EQ(0u, a.program->tables.calls[0].gather);
    assembled_free(&a);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static void make_reader(struct assembled *a, const char *where, const char *expression) {
    char text[4096];
    snprintf(
        text, sizeof text,
        FLOW_HEAD
        "\"flows\": {\"F\": {\"entrypoint\": \"r\", \"steps\": {\"r\": {\"action\": "
        "\"Return\"}}}}, "
        "\"steps\": {\"a\": {\"action\": \"Call\", \"call\": {\"flow\": \"F\"%s%s%s}, "
        "\"middleware\": [{" MW(
            "timeout") ", \"onEntry\": {\"with\": {\"duration\": \"PT1S\"}%s%s%s}}], "
                       "\"output\": \"%s\", \"next\": \"z\"}, \"z\": {\"action\": \"Return\"}}}",
        strcmp(where, "arm") == 0 ? ", \"onSuccess\": {\"value\": \"" : "",
        strcmp(where, "arm") == 0 ? expression : "", strcmp(where, "arm") == 0 ? "\"}" : "",
        strcmp(where, "phase") == 0 ? ", \"output\": \"" : "",
        strcmp(where, "phase") == 0 ? expression : "", strcmp(where, "phase") == 0 ? "\"" : "",
        strcmp(where, "step") == 0 ? expression : "x");
    assembled_make(a, text, MWL_ASM_STRIP);
}

struct need {
    const char *where, *expression;
    uint32_t root, callee, step, entry, call;
};

UTEST(lower, only_what_is_read_is_kept) {
    enum {
        IN = MWL_NEEDS_ENTERED,
        OUT = MWL_NEEDS_EXITED,
        ALL = 15,
        ARMS = MWL_CALL_HAS_ARMS,
        WIN = MWL_CALL_KEEPS_WINDOW,
        PIN = MWL_NEEDS_PHASE
    };
    static const struct need needs[] = {
        {"step", "{{ step.input }}", 0, 0, 0, 0, 0},
        {"step", "{{ step.id + step.name }}", 0, 0, 0, 0, 0},
        {"step", "{{ string(now()) }}", 0, 0, IN, 0, 0},
        {"step", "{{ string(wallTime()) }}", 0, 0, 0, 0, 0},
        {"step", "{{ step.metadata.exitedAt }}", 0, 0, OUT, 0, 0},
        {"step", "{{ step.metadata }}", 0, 0, IN | OUT, 0, 0},
        {"step", "{{ toJson(step) }}", 0, 0, IN | OUT, 0, 0},
        {"step", "{{ step['metadata'].enteredAt }}", 0, 0, IN, 0, 0},
        {"step", "{{ execution.metadata.enteredAt }}", IN, 0, 0, 0, 0},
        {"step", "{{ execution.id }}", 0, 0, 0, 0, 0},
        {"step", "{{ execution }}", IN, 0, 0, 0, 0},
        {"step", "{{ frame }}", IN, 0, 0, 0, 0},
        {"step", "{{ frame.input }}", 0, 0, 0, 0, 0},
        {"phase", "{{ string(now()) }}", 0, 0, 0, PIN, 0},
        {"phase", "{{ middleware.metadata.enteredAt }}", 0, 0, 0, PIN, 0},
        {"phase", "{{ middleware.metadata.deadline }}", 0, 0, 0, 0, 0},
        {"phase", "{{ middleware.metadata }}", 0, 0, 0, PIN, 0},
        {"phase", "{{ middleware }}", 0, 0, 0, PIN, 0},
        {"phase", "{{ step.metadata.enteredAt }}", 0, 0, IN, 0, 0},
        {"arm", "{{ call.result.value }}", 0, 0, 0, 0, ARMS},
        {"arm", "{{ flow.result.value }}", 0, 0, 0, 0, ARMS},
        {"arm", "{{ flow.vars.x }}", 0, 0, 0, 0, ARMS | WIN},
        {"arm", "{{ flow.metadata.enteredAt }}", 0, IN, 0, 0, ARMS | WIN},
        {"arm", "{{ flow }}", 0, IN | OUT, 0, 0, ARMS | WIN},
        {"arm", "{{ string(now()) }}", 0, 0, 0, 0, ARMS | IN},
        {"arm", "{{ call.metadata.acceptedAt }}", 0, 0, 0, 0, ARMS | MWL_NEEDS_ACCEPTED},
        {"arm", "{{ call.metadata.dispatchedAt }}", 0, 0, 0, 0, ARMS | MWL_NEEDS_DISPATCHED},
        {"arm", "{{ call }}", 0, 0, 0, 0, ARMS | ALL},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        const struct need *n = &needs[i];
        struct assembled a;
        make_reader(&a, n->where, n->expression);
        ASSERT_EQ_MSG(MWL_OK, (int)a.status, n->expression);
        const mwl__flow_tables *t = &a.program->tables;
        EXPECT_EQ_MSG(n->root, t->flows[0].flags, n->expression);
        EXPECT_EQ_MSG(n->callee, t->flows[1].flags, n->expression);
        EXPECT_EQ_MSG(n->step, t->steps[0].flags, n->expression);
        const uint32_t of_code =
            MWL_ENTRY_PASSES_SUCCESS | MWL_ENTRY_PASSES_FAILURE | MWL_ENTRY_RISES;
        EXPECT_EQ_MSG((n->entry | MWL_ENTRY_AROUND_CALL), (t->entries[0].flags & ~of_code),
                      n->expression);
        EXPECT_EQ_MSG(n->call, (t->calls[0].flags & ~(uint32_t)(MWL_CALL_BARE | MWL_CALL_RISES)),
                      n->expression);
        assembled_free(&a);
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

static const mwl__path_rec *only_path(const struct assembled *a) {
    return a->program->n_paths == 1 ? &a->program->paths[0] : NULL;
}

UTEST(lower, paths_begin_at_the_nearest_base) {
    static const struct {
        const char *where, *expression;
        unsigned base, n_keys;
    } rows[] = {
        {"step", "{{ vars.a.b }}", MWL_BASE_VARS, 2},
        {"step", "{{ step }}", MWL_BASE_STEP, 0},
        {"step", "{{ step.result.value.x }}", MWL_BASE_STEP_RESULT_VALUE, 1},
        {"step", "{{ step.result.code }}", MWL_BASE_STEP_RESULT, 1},
        {"step", "{{ has(step.result.value) }}", MWL_BASE_STEP_RESULT, 1},
        {"step", "{{ has(step.result) }}", MWL_BASE_STEP_RESULT, 0},
        {"step", "{{ step.metadata.enteredAt }}", MWL_BASE_STEP_META, 1},
        {"step", "{{ frame.metadata.enteredAt }}", MWL_BASE_FRAME_ENTERED, 0},
        {"step", "{{ frame.metadata }}", MWL_BASE_FRAME, 1},
        {"step", "{{ execution.platform.x }}", MWL_BASE_EXECUTION, 2},
        {"step", "{{ failure.code }}", MWL_BASE_FAILURE, 1},
        {"phase", "{{ middleware.metadata.deadline }}", MWL_BASE_MW_CONTRIBUTED, 1},
        {"phase", "{{ middleware.metadata.enteredAt }}", MWL_BASE_MW_ENTERED, 0},
        {"phase", "{{ middleware.metadata }}", MWL_BASE_MW_META, 0},
        {"phase", "{{ middleware.input['a b'] }}", MWL_BASE_MW_INPUT, 1},
        {"arm", "{{ call.result.value }}", MWL_BASE_CALL_RESULT_VALUE, 0},
        {"arm", "{{ flow.vars.x }}", MWL_BASE_FLOW_VARS, 1},
        {"arm", "{{ flow.result.value }}", MWL_BASE_FLOW_RESULT, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct assembled a;
        make_reader(&a, rows[i].where, rows[i].expression);
        ASSERT_EQ_MSG(MWL_OK, (int)a.status, rows[i].expression);
        const mwl__path_rec *p = only_path(&a);
        ASSERT_TRUE(p != NULL);
        EXPECT_EQ_MSG(rows[i].base, (unsigned)p->base, rows[i].expression);
        EXPECT_EQ_MSG(rows[i].n_keys, (unsigned)p->n_keys, rows[i].expression);
        assembled_free(&a);
    }
}

/* ---- what is left out ------------------------------------------------------------------------ */

UTEST(lower, unreachable_steps_and_flows_are_left_out) {
    struct assembled a;
    assembled_make(
        &a,
        FLOW_HEAD
        "\"flows\": {\"F\": {\"entrypoint\": \"r\", \"steps\": {\"r\": {\"action\": "
        "\"Return\"}}}}, "
        "\"steps\": {\"b\": {\"action\": \"Call\", \"call\": {\"flow\": \"F\"}, \"next\": \"b\"}, "
        "\"a\": {\"action\": \"Return\"}}}",
        MWL_ASM_STRIP);
    ASSERT_EQ(MWL_OK, (int)a.status);
    EXPECT_EQ(1u, a.program->tables.n_flows);
    EXPECT_EQ(1u, a.program->tables.n_steps);
    EXPECT_STREQ("step pass_input return complete", a.ops);
    assembled_free(&a);
}

UTEST(lower, parameters) {
    struct assembled a;
    assembled_make(
        &a,
        FLOW_HEAD
        "\"parameters\": {\"type\": \"object\", \"properties\": {\"n\": {\"type\": \"number\", "
        "\"default\": 3}, \"m\": {}}}, \"steps\": {\"a\": {\"action\": \"Return\", "
        "\"value\": \"{{ vars.n + vars.m }}\"}}}",
        MWL_ASM_STRIP);
    ASSERT_EQ(MWL_OK, (int)a.status);
    const mwl__flow_rec *f = &a.program->tables.flows[0];
    EXPECT_NE(MWL_NONE, f->schema);
    ASSERT_NE(MWL_NONE, f->defaults_k);
    EXPECT_EQ(1u, a.program->consts[f->defaults_k].aux);
    assembled_free(&a);
}

UTEST(lower, deep_and_wide_templates_need_few_registers) {
    static char text[200000];
    size_t at = (size_t)snprintf(
        text, sizeof text, FLOW_HEAD "\"steps\": {\"a\": {\"action\": \"Return\", \"value\": ");
    for (int i = 0; i < 400; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "{\"a\": 1, \"b\": ");
    at += (size_t)snprintf(text + at, sizeof text - at, "[");
    for (int i = 0; i < 2000; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "\"{{ vars.v%d }}\", ", i);
    at += (size_t)snprintf(text + at, sizeof text - at, "1]");
    for (int i = 0; i < 400; i++) at += (size_t)snprintf(text + at, sizeof text - at, "}");
    snprintf(text + at, sizeof text - at, "}}}");
    struct assembled a;
    assembled_make(&a, text, MWL_ASM_STRIP);
    ASSERT_EQ(MWL_OK, (int)a.status);
    EXPECT_LT(a.program->n_regs, 1024u);
    assembled_free(&a);
}

UTEST(lower, too_many_names_at_once_are_refused) {
    static char text[200000];
    size_t at = (size_t)snprintf(
        text, sizeof text, FLOW_HEAD "\"steps\": {\"a\": {\"action\": \"Pass\", \"assign\": {");
    for (int i = 0; i < 3000; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s\"v%d\": 1", i ? ", " : "", i);
    snprintf(text + at, sizeof text - at, "}, \"next\": \"z\"}, \"z\": {\"action\": \"Return\"}}}");
    mwl_asm_result result;
    EXPECT_EQ(MWL_E_REJECTED, (int)mwl_assemble(text, strlen(text), NULL, &result));
    EXPECT_TRUE(strstr(result.diagnostics, "too many names at once") != NULL);
    EXPECT_TRUE(result.image == NULL);
    mwl_asm_free(&result);
}

UTEST(lower, every_instruction_has_its_place) {
    static const char text[] = FLOW_HEAD
        "\n\"steps\": {\n\"a\": {\"action\": \"Return\",\n\"value\": \"{{ vars.a + 1.0 }}\"}}}";
    struct assembled a;
    assembled_make(&a, text, 0);
    ASSERT_EQ(MWL_OK, (int)a.status);
    EXPECT_STREQ("step load_path add_k data out return step_fault complete", a.ops);
    static const struct {
        uint32_t line;
        const char *words;
    } places[] = {{3, "\"a\""},
                  {4, "vars.a"},
                  {4, "vars.a + 1.0"},
                  {4, "\"{{ vars.a + 1.0 }}\""},
                  {4, "\"{{ vars.a + 1.0 }}\""},
                  {3, "\"a\""},
                  {3, "\"a\""},
                  {1, "{"}};
    for (uint32_t pc = 0; pc < 8; pc++) {
        mwl__where w;
        ASSERT_TRUE(mwl__program_where(a.program, pc, 0, &w));
        EXPECT_EQ(places[pc].line, w.line);
        EXPECT_EQ(strlen(places[pc].words), (size_t)w.len);
        EXPECT_EQ(0, strncmp(text + w.offset, places[pc].words, w.len));
    }
    assembled_free(&a);
}

UTEST_MAIN()
