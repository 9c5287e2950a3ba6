/* test_diag.c: the list of codes, the sink's rules, and the exact text of the three forms. */
#include "utest.h"
#include "assembler/check/check_guide.h"
#include "assembler/source/read.h"

#include <stdlib.h>
#include <string.h>

typedef struct setup {
    mwl__source source;
    mwl__diags sink;
    mwl__buf out;
} setup;

static void begin(setup *t, const char *name, const char *text) {
    mwl_alloc alloc = mwl_alloc_default();
    mwl__source_init(&t->source, alloc, name, text, strlen(text));
    mwl__diags_init(&t->sink, alloc);
    t->out = mwl__buf_make(alloc);
}

static void end(setup *t) {
    mwl__buf_free(&t->out);
    mwl__diags_free(&t->sink);
    mwl__source_free(&t->source);
}

static const char *render(setup *t, mwl__diag_format format, bool colour) {
    t->out.len = 0;
    mwl__diags_render(&t->sink, format, colour, &t->out);
    return mwl__buf_cstr(&t->out);
}

/* The span of the first `word` in the text. */
static mwl__span find(const setup *t, const char *word) {
    uint32_t at = (uint32_t)(strstr(t->source.text, word) - t->source.text);
    return mwl__span_make(at, at + (uint32_t)strlen(word));
}

/* ---- the list -------------------------------------------------------------------------------- */

UTEST(diag, list_is_in_order_and_complete) {
    size_t n;
    const mwl__diag_info *rows = mwl__diag_rows(&n);
    for (size_t i = 0; i < n; i++) {
        const mwl__diag_info *r = &rows[i];
        if (i) EXPECT_TRUE(rows[i - 1].code < r->code);
        EXPECT_TRUE(r->code > 100 && r->code < 900);
        EXPECT_TRUE(mwl__diag_row(r->code) == r);
        EXPECT_TRUE(mwl__diag_find(r->name) == r);
        EXPECT_EQ(strlen(r->name), strspn(r->name, "abcdefghijklmnopqrstuvwxyz0123456789-"));
        EXPECT_TRUE(strlen(mwl__guide_texts[i]) > 40);
        EXPECT_TRUE(strchr(r->title, '\n') == NULL && strlen(r->title) < 60);
        if (r->code >= 700) EXPECT_EQ(MWL_DIAG_WARNING, r->severity);
        for (const char *line = mwl__guide_texts[i]; *line;) { /* fits a terminal */
            size_t width = strcspn(line, "\n");
            EXPECT_TRUE(width <= 90);
            EXPECT_TRUE(width == 0 || line[width - 1] != ' ');
            line += width + (line[width] == '\n');
        }
        for (size_t j = 0; j < i; j++) EXPECT_STRNE(rows[j].name, r->name);
    }
    EXPECT_TRUE(mwl__diag_row((mwl__diag_code)999) == NULL);
}

UTEST(diag, find_by_code_or_name) {
    const mwl__diag_info *r = mwl__diag_row(MWL_DIAG_UNKNOWN_STEP);
    EXPECT_TRUE(mwl__diag_find("MWL0301") == r);
    EXPECT_TRUE(mwl__diag_find("mwl0301") == r);
    EXPECT_TRUE(mwl__diag_find("0301") == r);
    EXPECT_TRUE(mwl__diag_find("301") == r);
    EXPECT_TRUE(mwl__diag_find("unknown-step") == r);
    EXPECT_TRUE(mwl__diag_find("unknown") == NULL);
    EXPECT_TRUE(mwl__diag_find("") == NULL);
    EXPECT_TRUE(mwl__diag_find("m") == NULL);
    EXPECT_TRUE(mwl__diag_find("MWL0999") == NULL);
}

UTEST(diag, explain) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__diag_explain(mwl__diag_find("unreachable-step"), &out);
    EXPECT_STREQ("MWL0803 unreachable-step (warning)\n"
                 "No path leads to a Step\n\n"
                 "From the entrypoint, along every `next`, clause and `catch`, this Step is never\n"
                 "reached. Remove it, or route to it.\n\n"
                 "Silence it with --ignore unreachable-step; make it an error with --deny "
                 "unreachable-step.\n",
                 mwl__buf_cstr(&out));
    mwl__buf_free(&out);
}

/* ---- the sink -------------------------------------------------------------------------------- */

UTEST(diag, sorted_and_said_once) {
    setup t;
    begin(&t, "a.json", "0123456789");
    mwl__diag_report(&t.sink, MWL_DIAG_WRONG_TYPE, &t.source, mwl__span_make(5, 6), "five");
    mwl__diag_report(&t.sink, MWL_DIAG_UNKNOWN_STEP, &t.source, mwl__span_make(2, 3),
                     "two, later code");
    mwl__diag_report(&t.sink, MWL_DIAG_WRONG_TYPE, &t.source, mwl__span_make(2, 3), "two");
    EXPECT_TRUE(mwl__diag_report(&t.sink, MWL_DIAG_WRONG_TYPE, &t.source, mwl__span_make(5, 6),
                                 "five") == NULL);
    mwl__diags_sort(&t.sink);
    ASSERT_EQ((size_t)3, t.sink.n_items);
    EXPECT_STREQ("two", t.sink.items[0]->message);
    EXPECT_STREQ("two, later code", t.sink.items[1]->message);
    EXPECT_STREQ("five", t.sink.items[2]->message);
    EXPECT_EQ((size_t)3, t.sink.n_errors);
    end(&t);
}

UTEST(diag, bounded) {
    setup t;
    begin(&t, "a.json", "[]");
    for (int i = 0; i < 250; i++) {
        mwl__diag_report(&t.sink, MWL_DIAG_UNREACHABLE_STEP, &t.source, mwl__span_make(0, 1), "w%d",
                         i);
        if (i < 3)
            mwl__diag_report(&t.sink, MWL_DIAG_WRONG_TYPE, &t.source, mwl__span_make(1, 2), "e%d",
                             i);
    }
    EXPECT_EQ((size_t)103, t.sink.n_items); /* warnings do not crowd out errors */
    const char *text = render(&t, MWL_DIAG_HUMAN, false);
    EXPECT_TRUE(strstr(text, "... and 150 more\n3 errors, 250 warnings\n") != NULL);
    end(&t);
}

UTEST(diag, allow_and_deny) {
    setup t;
    begin(&t, "a.json", "[]");
    mwl__span s = mwl__span_make(0, 1);
    EXPECT_EQ(MWL_OK, mwl__diags_allow(&t.sink, "unused-flow"));
    EXPECT_EQ(MWL_OK, mwl__diags_deny(&t.sink, "warnings"));
    EXPECT_EQ(MWL_E_NOT_FOUND, mwl__diags_allow(&t.sink, "unused"));
    EXPECT_EQ(MWL_E_USAGE, mwl__diags_allow(&t.sink, "unknown-step"));
    EXPECT_EQ(MWL_OK, mwl__diags_deny(&t.sink, "unknown-step"));
    EXPECT_TRUE(mwl__diag_report(&t.sink, MWL_DIAG_UNUSED_FLOW, &t.source, s, "u") == NULL);
    EXPECT_FALSE(mwl__diags_wants(&t.sink, MWL_DIAG_UNUSED_FLOW));
    EXPECT_TRUE(mwl__diags_wants(&t.sink, MWL_DIAG_NESTED_RETRY));
    mwl__diag *d = mwl__diag_report(&t.sink, MWL_DIAG_NESTED_RETRY, &t.source, s, "r");
    ASSERT_TRUE(d != NULL);
    EXPECT_EQ(MWL_DIAG_ERROR, d->severity);
    EXPECT_EQ((size_t)1, t.sink.n_errors);
    EXPECT_TRUE(
        strstr(render(&t, MWL_DIAG_HUMAN, false),
               "error[MWL0804]: r\n --> a.json:1:1\n  |\n1 | []\n  | ^\n  |\n"
               "  = more: mwlvm explain MWL0804 (an error because of --deny nested-retry)\n") !=
        NULL);
    /* everything accepts the NULL of a silenced report */
    mwl__diag_text(NULL, "x");
    mwl__diag_label(NULL, s, "x");
    mwl__diag_note(NULL, "x");
    mwl__diag_help(NULL, "x");
    mwl__diag_pointer(NULL, "x", 1);
    mwl__diag_fix(NULL, s, "x", 1);
    mwl__diag_fix_string(NULL, s, "x", 1);
    end(&t);
}

UTEST(diag, very_long_messages_are_cut) {
    setup t;
    begin(&t, "a.json", "[]");
    char name[2000];
    for (size_t i = 0; i < sizeof name; i += 2) memcpy(name + i, "\xC3\xA9", 2);
    mwl__diag *d = mwl__diag_report(&t.sink, MWL_DIAG_UNKNOWN_STEP, &t.source, mwl__span_make(0, 1),
                                    "x%.*s", (int)sizeof name, name);
    ASSERT_TRUE(d != NULL);
    EXPECT_EQ((size_t)602, strlen(d->message)); /* 1 + 299 * 2 + 3 */
    EXPECT_STREQ("\xC3\xA9...", d->message + 597);
    end(&t);
}

/* ---- for people ------------------------------------------------------------------------------ */

static const char FLOW[] = "{\n  \"entrypoint\": \"load\",\n  \"steps\": {\n    \"load\": {\n"
                           "      \"action\": \"Pass\",\n      \"next\": \"proces-items\"\n    },\n"
                           "    \"process-items\": { \"action\": \"Return\" }\n  }\n}\n";

static void report_step(setup *t) {
    mwl__diag *d =
        mwl__diag_report(&t->sink, MWL_DIAG_UNKNOWN_STEP, &t->source, find(t, "\"proces-items\""),
                         "unknown Step '%s'", "proces-items");
    mwl__diag_text(d, "no Step of this Flow has this name");
    mwl__diag_label(d, find(t, "\"steps\""), "the Steps of this Flow");
    mwl__diag_note(d, "a `next` names a Step of the same `steps` map");
    mwl__diag_help(d, "did you mean '%s'?", "process-items");
    mwl__diag_pointer(d, "/steps/load/next", 16);
    mwl__diag_fix(d, find(t, "proces-items"), "process-items", 13);
}

UTEST(diag, human) {
    setup t;
    begin(&t, "flow.json", FLOW);
    report_step(&t);
    EXPECT_STREQ("error[MWL0301]: unknown Step 'proces-items'\n"
                 " --> flow.json:6:15\n"
                 "  |\n"
                 "3 |   \"steps\": {\n"
                 "  |   ------- the Steps of this Flow\n"
                 "...\n"
                 "6 |       \"next\": \"proces-items\"\n"
                 "  |               ^^^^^^^^^^^^^^ no Step of this Flow has this name\n"
                 "  |\n"
                 "  = note: a `next` names a Step of the same `steps` map\n"
                 "  = help: did you mean 'process-items'?\n"
                 "  = more: mwlvm explain MWL0301\n"
                 "\n"
                 "1 error\n",
                 render(&t, MWL_DIAG_HUMAN, false));
    end(&t);
}

UTEST(diag, human_colour) {
    setup t;
    begin(&t, "f.json", "[1]");
    mwl__diag *d =
        mwl__diag_report(&t.sink, MWL_DIAG_UNUSED_FLOW, &t.source, mwl__span_make(1, 2), "m");
    mwl__diag_text(d, "here");
    EXPECT_STREQ(
        "\033[1;33mwarning[MWL0811]\033[0m\033[1m: m\033[0m\n"
        "\033[1;34m --> \033[0mf.json:1:2\n"
        "\033[1;34m  |\033[0m\n"
        "\033[1;34m1 |\033[0m [1]\n"
        "\033[1;34m  |\033[0m  \033[1;33m^ here\033[0m\n"
        "\033[1;34m  |\033[0m\n"
        "\033[1;34m  = \033[0m\033[1mmore\033[0m: mwlvm explain MWL0811 (--ignore unused-flow "
        "silences it)\n"
        "\n"
        "1 warning\n",
        render(&t, MWL_DIAG_HUMAN, true));
    end(&t);
}

UTEST(diag, human_wide_characters_and_tabs) {
    setup t;
    /* a tab, two ideographs, an e with a combining acute */
    begin(&t, "f.json", "[\n\t\"\xE6\x97\xA5\xE6\x9C\xAC\", \"e\xCC\x81\", xyz]\n");
    mwl__diag *d = mwl__diag_report(&t.sink, MWL_DIAG_JSON_SYNTAX, &t.source, find(&t, "xyz"), "m");
    mwl__diag_label(d, find(&t, "\xE6\x97\xA5\xE6\x9C\xAC"), "wide");
    EXPECT_STREQ("error[MWL0101]: m\n"
                 " --> f.json:2:14\n"
                 "  |\n"
                 "2 |     \"\xE6\x97\xA5\xE6\x9C\xAC\", \"e\xCC\x81\", xyz]\n"
                 "  |      ---- wide\n"
                 "  |                  ^^^\n"
                 "  |\n"
                 "  = more: mwlvm explain MWL0101\n"
                 "\n"
                 "1 error\n",
                 render(&t, MWL_DIAG_HUMAN, false));
    end(&t);
}

UTEST(diag, human_controls_are_shown_not_sent) {
    setup t;
    begin(&t, "f\033.json", "[\"\033[31m\x7F\"]\r\n");
    mwl__diag_report(&t.sink, MWL_DIAG_JSON_SYNTAX, &t.source, mwl__span_make(2, 3), "bad '\033'");
    EXPECT_STREQ("error[MWL0101]: bad '\xE2\x90\x9B'\n"
                 " --> f\xE2\x90\x9B.json:1:3\n"
                 "  |\n"
                 "1 | [\"\xE2\x90\x9B[31m\xE2\x90\xA1\"]\n"
                 "  |   ^\n"
                 "  |\n"
                 "  = more: mwlvm explain MWL0101\n"
                 "\n"
                 "1 error\n",
                 render(&t, MWL_DIAG_HUMAN, false));
    end(&t);
}

UTEST(diag, human_long_line_is_cut_around_the_span) {
    size_t n = 1000000;
    char *text = malloc(n + 1);
    for (size_t i = 0; i < n; i++) text[i] = (char)('0' + i % 10);
    text[n] = '\0';
    memcpy(text + 500000, "WRONG", 5);
    setup t;
    begin(&t, "min.json", text);
    mwl__diag *d = mwl__diag_report(&t.sink, MWL_DIAG_UNKNOWN_STEP, &t.source,
                                    mwl__span_make(500000, 500005), "m");
    mwl__diag_text(d, "here");
    mwl__diag_label(d, mwl__span_make(10, 12), "there");
    const char *out = render(&t, MWL_DIAG_HUMAN, false);
    EXPECT_TRUE(strstr(out, "\n1 | 0123456789") != NULL);
    EXPECT_TRUE(strstr(out, "90123456789...\n  |           -- there\n") != NULL);
    EXPECT_TRUE(strstr(out, "\n1 | ...456789012345678901234567890123456789WRONG5678901") != NULL);
    EXPECT_TRUE(strstr(out, "\n  |                                        ^^^^^ here\n") != NULL);
    for (const char *line = out; *line; line += strcspn(line, "\n") + 1)
        EXPECT_TRUE(strcspn(line, "\n") <= 4 + 3 + 100 + 3);
    end(&t);
    free(text);
}

UTEST(diag, human_spans_over_lines_and_at_the_end) {
    setup t;
    begin(&t, "f.json", "{\n \"a\": [\n  1\n ]\n");
    mwl__diag_report(&t.sink, MWL_DIAG_WRONG_TYPE, &t.source, mwl__span_make(8, 16), "first");
    mwl__diag_report(&t.sink, MWL_DIAG_JSON_SYNTAX, &t.source, mwl__span_make(17, 17), "last");
    EXPECT_STREQ("error[MWL0203]: first\n"
                 " --> f.json:2:7\n"
                 "  |\n"
                 "2 |  \"a\": [\n"
                 "  |       ^\n"
                 "  |\n"
                 "  = more: mwlvm explain MWL0203\n"
                 "\n"
                 "error[MWL0101]: last\n"
                 " --> f.json:5:1\n"
                 "  |\n"
                 "5 |\n"
                 "  | ^\n"
                 "  |\n"
                 "  = more: mwlvm explain MWL0101\n"
                 "\n"
                 "2 errors\n",
                 render(&t, MWL_DIAG_HUMAN, false));
    end(&t);
}

/* ---- for programs ---------------------------------------------------------------------------- */

UTEST(diag, json) {
    setup t;
    begin(&t, "flow.json", FLOW);
    EXPECT_STREQ("[]\n", render(&t, MWL_DIAG_JSON, false));
    report_step(&t);
    mwl__diag_report(&t.sink, MWL_DIAG_UNUSED_FLOW, &t.source, mwl__span_make(0, 1),
                     "a \"b\"\\\n\t\xFF");
    EXPECT_STREQ(
        "[\n"
        "  {\"code\": \"MWL0811\", \"name\": \"unused-flow\", \"severity\": \"warning\", "
        "\"message\": "
        "\"a \\\"b\\\"\\\\\\n\\t\xEF\xBF\xBD\",\n"
        "   \"file\": \"flow.json\", \"line\": 1, \"column\": 1, \"endLine\": 1, \"endColumn\": "
        "2,\n"
        "   \"pointer\": null, \"label\": null, \"labels\": [],\n"
        "   \"notes\": [], \"suggestion\": null, \"fix\": []},\n"
        "  {\"code\": \"MWL0301\", \"name\": \"unknown-step\", \"severity\": \"error\", "
        "\"message\": "
        "\"unknown Step 'proces-items'\",\n"
        "   \"file\": \"flow.json\", \"line\": 6, \"column\": 15, \"endLine\": 6, \"endColumn\": "
        "29,\n"
        "   \"pointer\": \"/steps/load/next\", \"label\": \"no Step of this Flow has this name\", "
        "\"labels\": [{\"line\": 3, \"column\": 3, \"endLine\": 3, \"endColumn\": 10, \"text\": "
        "\"the "
        "Steps of this Flow\"}],\n"
        "   \"notes\": [\"a `next` names a Step of the same `steps` map\"], \"suggestion\": \"did "
        "you "
        "mean 'process-items'?\", \"fix\": [{\"line\": 6, \"column\": 16, \"endLine\": 6, "
        "\"endColumn\": 28, \"text\": \"process-items\"}]}\n"
        "]\n",
        render(&t, MWL_DIAG_JSON, false));
    end(&t);
}

UTEST(diag, sarif) {
    setup t;
    begin(&t, "my flow.json", "[1]");
    t.sink.guide = &mwl__guide_all;
    mwl__diag *d = mwl__diag_report(&t.sink, MWL_DIAG_DEFINITION_TOO_LARGE, &t.source,
                                    mwl__span_make(1, 2), "too large");
    mwl__diag_text(d, "here");
    mwl__diag_label(d, mwl__span_make(0, 1), "one");
    mwl__diag_label(d, mwl__span_make(2, 3), "two");
    mwl__diag_note(d, "why");
    mwl__diag_help(d, "how");
    mwl__diag_pointer(d, "/0", 2);
    mwl__diag_fix(d, mwl__span_make(1, 2), "2", 1);
    mwl__diag_fix(d, mwl__span_make(0, 0), " ", 1);
    EXPECT_STREQ(
        "{\n"
        "  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
        "  \"version\": \"2.1.0\",\n"
        "  \"runs\": [\n"
        "    {\n"
        "      \"tool\": {\"driver\": {\"name\": \"mwlvm\", \"version\": \"" MWL_VERSION "\",\n"
        "        \"rules\": [\n"
        "          {\"id\": \"MWL0108\", \"name\": \"definition-too-large\", \"shortDescription\": "
        "{\"text\": \"The definition is too large\"},\n"
        "           \"fullDescription\": {\"text\": \"A definition has a limit of bytes: 64 MiB "
        "unless the host allows more or less\\n(mwl_asm_options). Data does not belong in a "
        "definition; pass it as input.\"},\n"
        "           \"defaultConfiguration\": {\"level\": \"error\"}}]}},\n"
        "      \"columnKind\": \"unicodeCodePoints\",\n"
        "      \"results\": [\n"
        "        {\"ruleId\": \"MWL0108\", \"ruleIndex\": 0, \"level\": \"error\",\n"
        "         \"message\": {\"text\": \"too large: here\\nnote: why\\nhelp: how\"},\n"
        "         \"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": "
        "\"my%20flow.json\"}, \"region\": {\"startLine\": 1, \"startColumn\": 2, \"endLine\": 1, "
        "\"endColumn\": 3}},\n"
        "           \"logicalLocations\": [{\"fullyQualifiedName\": \"/0\"}]}],\n"
        "         \"relatedLocations\": [{\"id\": 1, \"message\": {\"text\": \"one\"}, "
        "\"physicalLocation\": {\"artifactLocation\": {\"uri\": \"my%20flow.json\"}, \"region\": "
        "{\"startLine\": 1, \"startColumn\": 1, \"endLine\": 1, \"endColumn\": 2}}},\n"
        "           {\"id\": 2, \"message\": {\"text\": \"two\"}, \"physicalLocation\": "
        "{\"artifactLocation\": {\"uri\": \"my%20flow.json\"}, \"region\": {\"startLine\": 1, "
        "\"startColumn\": 3, \"endLine\": 1, \"endColumn\": 4}}}],\n"
        "         \"fixes\": [{\"description\": {\"text\": \"how\"},\n"
        "           \"artifactChanges\": [{\"artifactLocation\": {\"uri\": \"my%20flow.json\"}, "
        "\"replacements\": [{\"deletedRegion\": {\"startLine\": 1, \"startColumn\": 1, "
        "\"endLine\": 1, \"endColumn\": 1}, \"insertedContent\": {\"text\": \" \"}}, "
        "{\"deletedRegion\": {\"startLine\": 1, \"startColumn\": 2, \"endLine\": 1, "
        "\"endColumn\": 3}, \"insertedContent\": {\"text\": \"2\"}}]}]}]}]\n"
        "    }\n"
        "  ]\n"
        "}\n",
        render(&t, MWL_DIAG_SARIF, false));
    end(&t);
}

/* ---- repairs --------------------------------------------------------------------------------- */

static mwl__diag *report_at(setup *t, uint32_t begin, uint32_t end, const char *message) {
    return mwl__diag_report(&t->sink, MWL_DIAG_WRONG_TYPE, &t->source, mwl__span_make(begin, end),
                            "%s", message);
}

static const char *repair(setup *t, size_t *made) {
    t->out.len = 0;
    *made = mwl__diags_repair(&t->sink, &t->source, &t->out);
    return mwl__buf_cstr(&t->out);
}

UTEST(diag, repairs_are_made_in_the_order_of_the_source) {
    setup t;
    size_t made;
    begin(&t, "a.json", "0123456789");
    mwl__diag_fix(report_at(&t, 8, 9, "late"), mwl__span_make(8, 9), "eight", 5);
    mwl__diag *two = report_at(&t, 2, 3, "two pieces");
    mwl__diag_fix(two, mwl__span_make(5, 5), "+", 1);
    mwl__diag_fix(two, mwl__span_make(2, 4), "", 0);
    report_at(&t, 0, 1, "no repair");
    EXPECT_EQ((size_t)2, mwl__diags_fixable(&t.sink, &t.source));
    EXPECT_STREQ("014+567eight9", repair(&t, &made));
    EXPECT_EQ((size_t)2, made);
    end(&t);
}

/* Of two that overlap only the first is made, and the second is not made in part. */
UTEST(diag, overlapping_repairs) {
    setup t;
    size_t made;
    begin(&t, "a.json", "0123456789");
    mwl__diag_fix(report_at(&t, 2, 5, "first"), mwl__span_make(2, 5), "abc", 3);
    mwl__diag *second = report_at(&t, 3, 4, "second");
    mwl__diag_fix(second, mwl__span_make(0, 1), "x", 1);
    mwl__diag_fix(second, mwl__span_make(4, 6), "y", 1);
    mwl__diag_fix(report_at(&t, 5, 6, "beside"), mwl__span_make(5, 6), "z", 1);
    EXPECT_STREQ("01abcz6789", repair(&t, &made));
    EXPECT_EQ((size_t)2, made);
    /* pieces of one repair that overlap are a mistake of the check: it has no repair then */
    mwl__diag *clash = report_at(&t, 7, 8, "clash");
    mwl__diag_fix(clash, mwl__span_make(7, 9), "a", 1);
    mwl__diag_fix(clash, mwl__span_make(8, 9), "b", 1);
    mwl__diag_fix(clash, mwl__span_make(0, 1), "c", 1);
    EXPECT_TRUE(clash->edits == NULL);
    end(&t);
}

UTEST(diag, repairs_are_json) {
    setup t;
    size_t made;
    begin(&t, "a.json", "[\"a\", \"b\"]");
    mwl__diag_fix_string(report_at(&t, 1, 4, "whole"), mwl__span_make(1, 4), "x\"\\\n\x01", 5);
    mwl__diag_fix_text(report_at(&t, 7, 8, "part"), mwl__span_make(7, 8), "\"", 1);
    EXPECT_STREQ("[\"x\\\"\\\\\\n\\u0001\", \"\\\"\"]", repair(&t, &made));
    EXPECT_EQ((size_t)2, made);
    end(&t);
}

UTEST_MAIN()
