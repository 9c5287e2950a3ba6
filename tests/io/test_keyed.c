/* test_keyed.c: records by key do not stay for ever: the table, and the middleware that uses it. */
#include "utest.h"

#include "mwl_io.h"
#include "mwl_std.h"
#include "stdlib/io/keyed.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct record {
    mwl__keyed_row row;
    int64_t until_ns;
} record;

static bool is_idle(const void *r, int64_t now_ns) {
    return ((const record *)r)->until_ns <= now_ns;
}

static record *get(mwl__keyed *t, int i) {
    char key[16];
    int n = snprintf(key, sizeof key, "%d", i);
    return mwl__keyed_get(t, key, (size_t)n, sizeof(record));
}

UTEST(keyed, idle_records_go) {
    mwl__keyed t = {0};
    size_t most = 0;
    for (int i = 0; i < 100000; i++) { /* each is in use for a hundred turns */
        mwl__keyed_sweep(&t, is_idle, i);
        get(&t, i)->until_ns = i + 100;
        if (t.n > most) most = t.n;
    }
    EXPECT_LT(most, 500u);
    mwl__keyed_empty(&t, NULL);
}

UTEST(keyed, records_in_use_stay) {
    mwl__keyed t = {0};
    for (int i = 0; i < 10000; i++) {
        mwl__keyed_sweep(&t, is_idle, i);
        get(&t, i)->until_ns = i % 3 ? i : INT64_MAX;
    }
    for (int i = 0; i < 10000; i += 3) EXPECT_TRUE(get(&t, i)->until_ns == INT64_MAX);
    mwl__keyed_empty(&t, NULL);
}

static bool give_up(void *ctx, void *r) {
    (void)ctx;
    return ((const record *)r)->until_ns == 0;
}

UTEST(keyed, a_table_stays_within_its_bytes) {
    mwl__keyed t = {.most = 100000, .give_up = give_up};
    for (int i = 0; i < 100000; i++) {
        ASSERT_TRUE(get(&t, i) != NULL);
        ASSERT_LE(t.bytes, t.most);
        if (i > 0) ASSERT_TRUE(get(&t, 0) != NULL); /* is the newest each time */
    }
    EXPECT_GT(t.n, 100u);
    EXPECT_TRUE(mwl__keyed_find(&t, "0", 1) && mwl__keyed_find(&t, "99999", 5));
    EXPECT_FALSE(mwl__keyed_find(&t, "1", 1));
    mwl__keyed_empty(&t, NULL);
    EXPECT_EQ(t.bytes, 0u);
}

UTEST(keyed, what_is_in_use_stays_and_more_is_refused) {
    mwl__keyed t = {.most = 100000, .give_up = give_up};
    int n = 0;
    for (record *r; (r = get(&t, n)); n++) r->until_ns = 1;
    EXPECT_GT(n, 100);
    EXPECT_LE(t.bytes, t.most);
    EXPECT_EQ(t.n, (size_t)n);
    EXPECT_FALSE(mwl__keyed_more(&t, get(&t, 5), t.most - t.bytes + 1));
    get(&t, 7)->until_ns = 0;
    int tries = 0;
    while (!get(&t, n) && tries < n) tries++;
    EXPECT_LE(tries, n / 32 + 1); /* each looks at 32 records, and 7 was the newest */
    EXPECT_FALSE(mwl__keyed_find(&t, "7", 1));
    mwl__keyed_empty(&t, NULL);
}

/* The hash of a key must not follow from that of another, or a sender could learn to choose keys
 * that share a chain. With FNV-1a it does: the state before the last byte can be computed. */
UTEST(keyed, a_hash_does_not_follow_from_another) {
    const uint64_t prime = 0x100000001b3u;
    uint64_t inverse = prime; /* modulo 2^64 */
    for (int i = 0; i < 6; i++) inverse *= 2 - prime * inverse;
    mwl__keyed t = {0};
    record *a = mwl__keyed_get(&t, "the same a", 10, sizeof *a);
    record *b = mwl__keyed_get(&t, "the same b", 10, sizeof *b);
    uint64_t state = (a->row.hash ^ (a->row.hash >> 32)) * inverse ^ 'a';
    uint64_t next = (state ^ 'b') * prime;
    EXPECT_NE(b->row.hash, next ^ (next >> 32));
    EXPECT_NE(a->row.hash, b->row.hash);
    mwl__keyed_empty(&t, NULL);
}

/* ---- middleware ------------------------------------------------------------------------------ */

/* Runs a Loop over n keys, one after the other and a second apart, in virtual time. Returns
 * how many records are left. */
static size_t left_by(const char *middleware, mwl__io_slot slot, const char *action, int n) {
    char text[1600];
    uv_loop_t loop;
    mwl_config config = mwl_config_default();
    mwl_vm *vm;
    mwl_io *io;
    mwl_run *run;
    mwl_program *program = NULL;
    mwl_asm_result result;
    mwl_asm_options options = {.library = mwl_io_documents()};
    config.virtual_time = true;
    snprintf(
        text, sizeof text,
        "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"i\",\"steps\":{"
        "\"i\":{\"action\":\"Pass\",\"assign\":{\"n\":0},\"next\":\"a\"},"
        "\"a\":{\"action\":\"Call\",\"call\":{\"provider\":\"mwl:provider.call/mwl/mock/v1\","
        "\"with\":%s},\"middleware\":[{\"provider\":\"mwl:provider.middleware/mwlvm/%s/v1\","
        "\"onEntry\":{\"with\":{\"key\":\"{{ string(vars.n) }}\"%s}}}],"
        "\"catch\":[{\"match\":{\"codes\":[\"*\"]},\"next\":\"s\"}],\"next\":\"s\"},"
        "\"s\":{\"action\":\"Sleep\",\"for\":\"PT1S\",\"next\":\"p\"},"
        "\"p\":{\"action\":\"Pass\",\"assign\":{\"n\":\"{{ vars.n + 1.0 }}\"},"
        "\"next\":\"m\"},"
        "\"m\":{\"action\":\"Match\",\"cases\":[{\"when\":\"{{ vars.n < %d.0 }}\",\"next\":\"a\"}],"
        "\"default\":{\"next\":\"e\"}},\"e\":{\"action\":\"Return\"}}}",
        action, middleware, slot == MWL__IO_MW_rate_limit ? ",\"rate\":1" : "", n);
    if (mwl_assemble(text, strlen(text), &options, &result) != MWL_OK) {
        fputs(result.diagnostics, stderr);
        abort();
    }
    mwl_program_load(NULL, result.image, result.image_size, MWL_COPY, &program, NULL);
    mwl_asm_free(&result);
    uv_loop_init(&loop);
    if (mwl_vm_new(&config, &vm) < 0 || mwl_std_add(vm, MWL_STD_ALL, NULL) < 0 ||
        mwl_io_open(vm, &loop, NULL, &io, NULL) < 0 ||
        mwl_run_start(vm, program, NULL, &run, NULL) < 0)
        abort();
    while (mwl_run_get_state(run) < MWL_RUN_DONE) mwl_vm_pump(vm, MWL_NO_BUDGET);
    size_t left = ((mwl__keyed *)mwl__io_state(io, slot))->n;
    if (!mwl_run_succeeded(run)) abort();
    mwl_run_free(run);
    mwl_io_close(io, NULL, NULL);
    mwl_vm_free(vm);
    mwl_program_release(program);
    uv_loop_close(&loop);
    return left;
}

UTEST(keyed, rate_limit_forgets_full_buckets) {
    EXPECT_LT(left_by("rate-limit", MWL__IO_MW_rate_limit, "{}", 20000), 300u);
}

UTEST(keyed, circuit_breaker_forgets_what_succeeds) {
    EXPECT_LT(left_by("circuit-breaker", MWL__IO_MW_circuit_breaker, "{}", 20000), 300u);
}

/* A key that failed once is remembered for an hour, which is 3,600 keys. */
UTEST(keyed, circuit_breaker_forgets_old_failures) {
    size_t left = left_by("circuit-breaker", MWL__IO_MW_circuit_breaker,
                          "{\"failure\":{\"code\":\"X.Y\"}}", 20000);
    EXPECT_GE(left, 3600u);
    EXPECT_LT(left, 7300u);
}

UTEST_MAIN()
