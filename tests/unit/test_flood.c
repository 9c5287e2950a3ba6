/* Hostile keys cost the same as other keys of the same size: in data, in a definition and in a
 * program. Quadratic time would be seconds at these sizes, so the limit on CPU time may be
 * generous. */
#include "flood.h"
#include "mwl_asm.h"
#include "utest.h"
#include "vm/value/value.h"

#include <stdlib.h>
#include <time.h>

enum { KEYS = 20000 };

/* A key that no attacker chose, as long as one of flood.h. */
static void plain_key(unsigned i, char key[FLOOD_LEN]) {
    memset(key, '.', FLOOD_LEN);
    char digits[16];
    int n = snprintf(digits, sizeof digits, "%u", i * 2654435761u);
    memcpy(key, digits, (size_t)n);
    memcpy(key + 300, digits, (size_t)n);
}

/* before, then each key with its quotes and `after_key`, with commas between, then after. */
static char *write_keys(bool flood, const char *before, const char *after_key, const char *after) {
    mwl__buf b = mwl__buf_make(mwl_alloc_default());
    mwl__buf_puts(&b, before);
    for (unsigned i = 0; i < KEYS; i++) {
        char key[FLOOD_LEN];
        if (flood)
            flood_key(i, key);
        else
            plain_key(i, key);
        mwl__buf_puts(&b, i ? ",\"" : "\"");
        mwl__buf_put(&b, key, sizeof key);
        mwl__buf_putc(&b, '"');
        mwl__buf_puts(&b, after_key);
    }
    mwl__buf_puts(&b, after);
    char *text = strdup(mwl__buf_cstr(&b));
    mwl__buf_free(&b);
    return text;
}

static double seconds(clock_t since) { return (double)(clock() - since) / CLOCKS_PER_SEC; }

/* A second of CPU time is far less than the attack would take, and a hundred times what is
 * needed. */
static bool alike(double hostile, double plain) {
    if (hostile < 4 * plain + 0.3) return true;
    printf("%.3f s of CPU for hostile keys, %.3f s for others\n", hostile, plain);
    return false;
}

static double parse_seconds(bool flood, bool *good) {
    char *text = write_keys(flood, "{", ":0", "}");
    mwl_heap *h = NULL;
    mwl_value v = mwl_absent();
    clock_t start = clock();
    *good = text && mwl_heap_new(NULL, &h) == MWL_OK &&
            mwl_json_parse(h, text, strlen(text), &v, NULL) == MWL_OK && mwl_count(v) == KEYS;
    double took = seconds(start);
    if (*good) { /* short searches, with hashes that the sender does not know */
        const mwl__map *m = mwl__as_map(v);
        *good = m->reach < 128 && (m->secret != 0) == flood;
    }
    mwl_value_drop(h, v);
    mwl_heap_free(h);
    free(text);
    return took;
}

UTEST(flood, data) {
    bool good;
    double hostile = parse_seconds(true, &good);
    ASSERT_TRUE(good);
    double plain = parse_seconds(false, &good);
    ASSERT_TRUE(good);
    EXPECT_TRUE(alike(hostile, plain));
}

static double assemble_and_load_seconds(bool flood, bool *good) {
    char *text = write_keys(flood,
                            "{\"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\","
                            "\"entrypoint\": \"a\", \"steps\": {\"a\": {\"action\": \"Return\", "
                            "\"value\": {",
                            ":0", "}}}}");
    mwl_asm_result made;
    mwl_program *program = NULL;
    memset(&made, 0, sizeof made);
    clock_t start = clock();
    *good = text && mwl_assemble(text, strlen(text), NULL, &made) == MWL_OK &&
            mwl_program_load(NULL, made.image, made.image_size, MWL_COPY, &program, NULL) == MWL_OK;
    double took = seconds(start);
    mwl_program_release(program);
    mwl_asm_free(&made);
    free(text);
    return took;
}

UTEST(flood, definition_and_program) {
    bool good;
    double hostile = assemble_and_load_seconds(true, &good);
    ASSERT_TRUE(good);
    double plain = assemble_and_load_seconds(false, &good);
    ASSERT_TRUE(good);
    EXPECT_TRUE(alike(hostile, plain));
}

UTEST_MAIN()
