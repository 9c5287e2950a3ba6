/* test_golden.c: compares the definitions of tests/golden with their listings, line by line. With
 * MWL_GOLDEN_UPDATE set, it writes the listings again; review them like any other change. */
#include "tests/unit/assembled.h"
#include "assembler/emit/disasm.h"
#include "utest.h"

#include <stdlib.h>

static char *read_all(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = malloc(1u << 20);
    *len = text ? fread(text, 1, (1u << 20) - 1, file) : 0;
    if (text) text[*len] = '\0';
    fclose(file);
    return text;
}

/* The first line contains the instruction set, which changes with every new opcode. */
static const char *behind_first_line(const char *text) {
    const char *end = strchr(text, '\n');
    return end ? end + 1 : text;
}

static void update(const char *path, const mwl__buf *listing) {
    FILE *file = fopen(path, "wb");
    if (!file) return;
    const char *body = behind_first_line(listing->data);
    fwrite(body, 1, listing->len - (size_t)(body - listing->data), file);
    fclose(file);
}

/* Returns 0 if they are the same, otherwise the number of the first line that differs. */
static unsigned first_difference(const char *a, const char *b) {
    unsigned line = 1;
    for (; *a && *a == *b; a++, b++) line += *a == '\n';
    return *a == *b ? 0 : line;
}

static void compare(int *utest_result, const char *name) {
    char definition[512], listing[512];
    size_t len = 0, list_len = 0;
    snprintf(definition, sizeof definition, MWL_SOURCE_DIR "/tests/golden/%s.json", name);
    snprintf(listing, sizeof listing, MWL_SOURCE_DIR "/tests/golden/%s.lst", name);
    char *text = read_all(definition, &len);
    ASSERT_TRUE(text != NULL);
    struct assembled a;
    assembled_make(&a, text, 0);
    ASSERT_EQ(MWL_OK, (int)a.status);
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    ASSERT_EQ(MWL_OK, (int)mwl__disasm(a.program, 0, &out));
    (void)mwl__buf_cstr(&out);
    if (getenv("MWL_GOLDEN_UPDATE")) update(listing, &out);
    char *expected = read_all(listing, &list_len);
    ASSERT_TRUE(expected != NULL);
    EXPECT_EQ_MSG(0u, first_difference(expected, behind_first_line(out.data)), name);
    mwl__buf_free(&out);
    free(expected);
    free(text);
    assembled_free(&a);
}

UTEST(golden, steps) { compare(utest_result, "steps"); }
UTEST(golden, call) { compare(utest_result, "call"); }
UTEST(golden, middleware) { compare(utest_result, "middleware"); }
UTEST(golden, gather) { compare(utest_result, "gather"); }

UTEST_MAIN()
