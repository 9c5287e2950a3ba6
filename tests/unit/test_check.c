/* test_check.c: every file of tests/diag gets exactly the diagnostics that it names, each at its
 * place; every file of tests/accept gets none. A file's expectation is a text "expect: MWL0301
 * 5:20, ..." in it (a root's comment, a provider document's description), or a file beside it.
 * Files called provider-* are checked as provider documents. */
#include "utest.h"

#include "tests/unit/checked.h"
#include "tests/unit/faulty.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static char *slurp(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = malloc(1u << 20);
    *len = text ? fread(text, 1, (1u << 20) - 1, f) : 0;
    if (text) text[*len] = '\0';
    fclose(f);
    return text;
}

static void judge(struct checked *k, const char *name, const char *text, size_t len) {
    mwl_alloc alloc = mwl_alloc_default();
    memset(k, 0, sizeof *k);
    mwl__diags_init(&k->sink, alloc);
    mwl__source_init(&k->source, alloc, name, text, len);
    k->catalog = mwl__catalog_new(&alloc);
    k->status = mwl__catalog_judge(k->catalog, &k->source, &k->sink);
}

/* "MWL0301 5:20, MWL0302 7:1": all of them in order. */
static void found(struct checked *k, char *out, size_t size) {
    size_t at = 0;
    out[0] = '\0';
    mwl__diags_sort(&k->sink);
    for (size_t i = 0; i < k->sink.n_items && at + 40 < size; i++) {
        const mwl__diag *d = k->sink.items[i];
        mwl__place p = mwl__source_place(d->source, d->span.begin);
        at += (size_t)snprintf(out + at, size - at, "%sMWL%04d %u:%u", i ? ", " : "",
                               (int)d->row->code, p.line, p.column);
    }
}

/* The expectation of a file: in its text, or in NAME.expect. */
static void wanted(const char *path, const char *text, char *out, size_t size) {
    const char *at = strstr(text, "\"expect: ");
    out[0] = '\0';
    if (at) {
        snprintf(out, size, "%.*s", (int)strcspn(at + 9, "\""), at + 9);
        return;
    }
    char beside[1024];
    size_t len;
    snprintf(beside, sizeof beside, "%.*s.expect", (int)strlen(path) - 5, path);
    char *other = slurp(beside, &len);
    if (other) snprintf(out, size, "%.*s", (int)strcspn(other, "\n"), other);
    free(other);
}

static int each_file(const char *folder, bool (*fn)(const char *path, const char *name)) {
    char dir[1024];
    int wrong = 0, n = 0;
    struct dirent **list = NULL;
    snprintf(dir, sizeof dir, "%s/tests/%s", MWL_SOURCE_DIR, folder);
    int count = scandir(dir, &list, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        size_t len = strlen(list[i]->d_name);
        if (len > 5 && strcmp(list[i]->d_name + len - 5, ".json") == 0) {
            char path[2048];
            snprintf(path, sizeof path, "%s/%s", dir, list[i]->d_name);
            n++;
            if (!fn(path, list[i]->d_name)) wrong++;
        }
        free(list[i]);
    }
    free(list);
    return n ? wrong : -1;
}

static bool check_one(const char *path, const char *name) {
    size_t len = 0;
    char *text = slurp(path, &len);
    struct checked k;
    char want[512], got[512];
    if (!text) return false;
    if (strncmp(name, "provider-", 9) == 0)
        judge(&k, name, text, len);
    else
        checked_make(&k, mwl_alloc_default(), name, text, len);
    wanted(path, text, want, sizeof want);
    found(&k, got, sizeof got);
    bool same = strcmp(want, got) == 0 && (k.status < 0) == (k.sink.n_errors > 0);
    if (!same) {
        printf("%s: expected '%s', found '%s', %s\n", name, want, got, mwl_status_text(k.status));
        mwl__buf out = mwl__buf_make(mwl_alloc_default());
        mwl__diags_render(&k.sink, MWL_DIAG_HUMAN, false, &out);
        printf("%s\n", mwl__buf_cstr(&out));
        mwl__buf_free(&out);
    }
    checked_free(&k);
    free(text);
    return same;
}

UTEST(check, refused_and_warned) { EXPECT_EQ(0, each_file("diag", check_one)); }
UTEST(check, accepted) { EXPECT_EQ(0, each_file("accept", check_one)); }

/* ---- the model ------------------------------------------------------------------------------- */

static const char sample[] =
    "{ \"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\", \"entrypoint\": \"a\",\n"
    "  \"parameters\": { \"type\": \"object\", \"properties\": { \"n\": { \"type\": \"number\","
    " \"default\": 1 } } },\n"
    "  \"middleware\": [ { \"provider\": \"mwl:provider.middleware/mwl/finally/v1\", \"onAlways\": "
    "{ "
    "\"with\": { \"call\": { \"flow\": \"F\" } } } } ],\n"
    "  \"flows\": { \"F\": { \"entrypoint\": \"r\", \"steps\": { \"r\": { \"action\": \"Return\" } "
    "} } },\n"
    "  \"steps\": {\n"
    "    \"a\": { \"action\": \"Call\", \"call\": { \"provider\": "
    "\"mwl:provider.call/mwl/mock/v1\", "
    "\"with\": { \"value\": [1, \"{{ vars.n }}\"] } },\n"
    "      \"middleware\": [ { \"provider\": \"mwl:provider.middleware/mwl/retry/v1\", "
    "\"onEntry\": { "
    "\"with\": { \"policies\": [ { \"match\": { \"codes\": [\"*\"] }, \"attempts\": 2, "
    "\"backoff\": { "
    "\"initial\": \"PT1S\" } } ] } } } ],\n"
    "      \"catch\": [ { \"match\": { \"codes\": [\"A.B\"], \"types\": [\"error\"] }, \"next\": "
    "\"b\" } ], "
    "\"next\": \"b\" },\n"
    "    \"b\": { \"action\": \"Gather\", \"calls\": [ { \"flow\": \"F\" }, { \"flow\": { "
    "\"entrypoint\": "
    "\"x\", \"steps\": { \"x\": { \"action\": \"Return\" } } } } ],\n"
    "      \"completion\": { \"successes\": 1, \"wait\": false }, \"concurrency\": 3, \"next\": "
    "\"z\" },\n"
    "    \"z\": { \"action\": \"Return\", \"value\": \"{{ string(step.input) + 'x' }}\" } } }";

UTEST(model, everything_is_resolved) {
    struct checked k;
    ASSERT_EQ(MWL_OK, checked_make(&k, mwl_alloc_default(), "t.json", sample, sizeof sample - 1));
    const mwl__m_flow *root = k.model.flows[0];
    ASSERT_EQ(3u, k.model.n_flows);
    ASSERT_EQ(3u, root->n_steps);
    EXPECT_TRUE(root->name == NULL && root->outer == NULL);
    const mwl__m_step *a = root->steps[0], *b = root->steps[1], *z = root->steps[2];
    EXPECT_TRUE(root->entrypoint == a && a->next == b && b->next == z && z->next == NULL);
    EXPECT_TRUE(a->catches[0].next == b && a->n_catches == 1 && a->catches[0].retryable == NULL);
    EXPECT_EQ(1u, root->n_stack);
    EXPECT_TRUE(root->stack[0]->flow_level &&
                root->stack[0]->phase[MWL_ON_ALWAYS].call->flow->outer == root);
    EXPECT_EQ(1u, a->n_stack);
    EXPECT_FALSE(a->stack[0]->flow_level);
    EXPECT_EQ(2u, b->n_calls);
    EXPECT_TRUE(b->calls[0]->gathered &&
                b->calls[0]->flow == root->stack[0]->phase[MWL_ON_ALWAYS].call->flow);
    EXPECT_STREQ("F", b->calls[0]->flow->name);
    EXPECT_TRUE(b->calls[1]->flow->name == NULL && b->calls[1]->flow->outer == root);
    EXPECT_EQ(3u, b->concurrency);
    EXPECT_FALSE(b->wait);
    EXPECT_TRUE(a->wait);
    EXPECT_EQ(MWL_NONE, a->concurrency);
    const mwl__node *with = a->calls[0]->with;
    EXPECT_TRUE(mwl__model_computed(&k.model, with));
    EXPECT_FALSE(mwl__model_computed(&k.model, a->stack[0]->phase[0].with));
    const mwl__node *list = mwl__node_get(with, "value");
    EXPECT_FALSE(mwl__model_computed(&k.model, mwl__node_first(list)));
    const mwl__m_expr *e = mwl__model_expr(&k.model, mwl__node_first(list)->next);
    ASSERT_TRUE(e != NULL);
    EXPECT_EQ((unsigned)(MWL_SITE_STEP | MWL_SITE_CALL), e->site);
    EXPECT_TRUE(mwl__model_expr(&k.model, list) == NULL);
    checked_free(&k);
}

static bool check_sample(mwl_alloc alloc) {
    struct checked k;
    mwl_status status = checked_make(&k, alloc, "t.json", sample, sizeof sample - 1);
    checked_free(&k);
    return status != MWL_E_NOMEM;
}

/* Every kind of report, too. */
static bool check_broken(mwl_alloc alloc) {
    static const char broken[] =
        "{ \"entrypoint\": \"q\", \"x\": 1, \"parameters\": { \"type\": \"object\", "
        "\"properties\": { \"p\": "
        "{ \"default\": \"x\", \"type\": \"number\" } } },\n"
        " \"steps\": { \"a\": { \"action\": \"Call\", \"call\": { \"provider\": "
        "\"mwl:provider.call/mwl/mock/v1\", \"with\": { \"delay\": \"x\", \"u\": \"{{ nope + "
        "vars.y + 1 }}\" } },"
        " \"next\": \"b\" },\n"
        " \"b\": { \"action\": \"Return\", \"value\": \"{{ step.result.x }} {{ }}\" } } }";
    struct checked k;
    mwl_status status = checked_make(&k, alloc, "t.json", broken, sizeof broken - 1);
    checked_free(&k);
    return status != MWL_E_NOMEM;
}

UTEST(model, memory_may_run_out_anywhere) {
    EXPECT_TRUE(faulty_sweep(check_sample, 20000));
    EXPECT_TRUE(faulty_sweep(check_broken, 20000));
}

/* ---- time ------------------------------------------------------------------------------------ */

/* A chain of n Steps, each with an expression, a call and a catch. */
static double seconds_for(unsigned n) {
    mwl__buf b = mwl__buf_make(mwl_alloc_default());
    mwl__buf_puts(
        &b,
        "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"first\",\"steps\":{"
        "\"first\":{\"action\":\"Pass\",\"assign\":{\"v0\":1},\"next\":\"s0\"},");
    for (unsigned i = 0; i < n; i++)
        mwl__buf_printf(
            &b,
            "\"s%u\":{\"action\":\"Call\",\"call\":{\"provider\":\"mwl:provider.call/mwl/mock/v1\","
            "\"with\":{\"value\":\"{{ step.input.a + vars.v%u }}\"}},\"assign\":{\"v%u\":1},"
            "\"catch\":[{\"match\":{\"codes\":[\"System.*\"]},\"next\":\"end\"}],\"next\":\"s%u\"}"
            ",",
            i, i, i + 1, i + 1);
    mwl__buf_printf(
        &b, "\"s%u\":{\"action\":\"Pass\",\"next\":\"end\"},\"end\":{\"action\":\"Return\"}}}", n);
    struct checked k;
    clock_t begin = clock();
    mwl_status status = checked_make(&k, mwl_alloc_default(), "t.json", b.data, b.len);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (status != MWL_OK || k.sink.n_items) seconds = 1e9;
    checked_free(&k);
    mwl__buf_free(&b);
    return seconds;
}

/* Four times the Steps take about four times the time; a quadratic pass would take sixteen. */
UTEST(check, time_is_linear) {
    double small = seconds_for(2500), large = seconds_for(10000);
    printf("2500 Steps %.3f s, 10000 Steps %.3f s\n", small, large);
    EXPECT_TRUE(large < 8 * small + 0.05);
}

UTEST_MAIN()
