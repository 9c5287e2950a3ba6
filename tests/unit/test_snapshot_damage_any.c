/* test_snapshot_damage_any.c: every item of every saved run is replaced by others; whatever loads
 * is run to its end. */
#include "utest.h"

#include "tests/unit/saved_runs.h"

static size_t count_nodes(const node *t) {
    size_t n = 1;
    for (size_t i = 0; i < t->n_kids; i++) n += count_nodes(&t->kid[i]);
    return n;
}

static node *nth(node *t, size_t *at) {
    if ((*at)-- == 0) return t;
    for (size_t i = 0; i < t->n_kids; i++) {
        node *found = nth(&t->kid[i], at);
        if (found) return found;
    }
    return NULL;
}

/* What a hostile sender would try first. */
static void mutate(node *t, unsigned how) {
    static node nulls[40];
    const node many = {.major = MWL_CBOR_ARRAY, .kid = nulls, .n_kids = 40};
    for (size_t i = 0; i < 40; i++) NULLED(&nulls[i]);
    switch (how) {
    case 0: NULLED(t); break;
    case 1: UNDEFINED(t); break;
    case 2: tree_simple(t, MWL_CBOR_TRUE); break;
    case 3: tree_uint(t, 0); break;
    case 4: tree_uint(t, 1); break;
    case 5: tree_uint(t, 2); break;
    case 6: tree_uint(t, UINT64_MAX); break;
    case 7: *t = (node){.major = MWL_CBOR_NEGATIVE, .n = INT64_MAX}; break;
    case 8: *t = (node){.major = MWL_CBOR_ARRAY}; break;
    case 9: *t = (node){.major = MWL_CBOR_MAP}; break;
    case 10:
        if (t->n_kids) t->n_kids--;
        if (t->major == MWL_CBOR_MAP && t->n_kids) t->n_kids--;
        break;
    case 11: t->n ^= 1; break;
    case 12: t->n += 1; break;
    case 13: t->n = 5; break;
    default: *t = many; break;
    }
}
enum { MUTATIONS = 15 };

/* Returns false if it has a Result that has no JSON form. */
static bool run_out(bench *b, mwl_run *run) {
    for (int i = 0; i < 200 && mwl_run_get_state(run) < MWL_RUN_DONE; i++)
        if (mwl_vm_pump(b->vm, 3600 * S) == MWL_NEVER) break;
    char *text = NULL;
    size_t len = 0;
    bool good = mwl_run_get_state(run) != MWL_RUN_DONE ||
                mwl_json_write(mwl_vm_heap(b->vm), mwl_run_result(run), MWL_JSON_COMPACT, &text,
                               &len) == MWL_OK;
    if (text) mwl_text_free(mwl_vm_heap(b->vm), text, len);
    mwl_run_free(run);
    return good;
}

UTEST(damage, whatever_loads_runs) {
    bench b;
    ASSERT_TRUE(open_bench(&b));
    unsigned loaded = 0, tried = 0;
    for (int k = 0; k < N_SOURCES; k++) {
        size_t n = SIZE_MAX;
        for (size_t i = 0; i < n; i++)
            for (unsigned how = 0; how < MUTATIONS; how++) {
                mwl__arena memory = mwl__arena_make(mwl_alloc_default());
                mwl__cbor c = {b.bytes[k] + MWL_SAVED_HEADER, b.bytes[k] + b.size[k]};
                node tree;
                ASSERT_TRUE(tree_read(&c, &memory, &tree));
                if (n == SIZE_MAX) n = count_nodes(&tree);
                size_t at = i, size;
                mutate(nth(&tree, &at), how);
                unsigned char *bytes = tree_bytes(b.bytes[k], &tree, &size);
                mwl_run *run;
                mwl_error error;
                tried++;
                if (try_load(&b, (source)k, bytes, size, &run, &error) == MWL_OK) {
                    loaded++;
                    EXPECT_TRUE(run_out(&b, run));
                }
                free(bytes);
                mwl__arena_free(&memory);
            }
    }
    printf("%u damaged snapshots, %u of them could be loaded\n", tried, loaded);
    EXPECT_GT(loaded, 10u);
    EXPECT_GT(tried - loaded, loaded);
    close_bench(&b);
}

UTEST_MAIN()
