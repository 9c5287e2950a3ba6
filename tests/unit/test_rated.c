/* test_rated.c: the mistakes of new users, with the whole text that they get.
 *
 * Each file of tests/diag/rated is one mistake; the file with .txt in place of .json is what the
 * command prints about it. tests/diag/MISTAKES.md lists them. MWL_RATED_UPDATE=1 writes the
 * texts anew: then read the difference.
 *
 * Where a diagnostic has a repair, the repair is made, and the diagnostic must be gone. */
#include "utest.h"

#include "assembler/check/check_guide.h"
#include "mwl_asm.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *slurp(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = malloc(1u << 16);
    *len = text ? fread(text, 1, (1u << 16) - 1, f) : 0;
    if (text) text[*len] = '\0';
    fclose(f);
    return text;
}

static mwl_status assemble(const char *name, const char *text, size_t len, mwl_asm_format format,
                           mwl_asm_result *out) {
    const mwl_asm_options options = {
        .file = name, .flags = MWL_ASM_CHECK_ONLY, .format = format, .guide = &mwl__guide_all};
    return mwl_assemble(text, len, &options, out);
}

static bool same_text(const char *path, const char *name) {
    char expected[1100];
    size_t len = 0, want_len = 0;
    snprintf(expected, sizeof expected, "%.*s.txt", (int)strlen(path) - 5, path);
    char *text = slurp(path, &len), *want = slurp(expected, &want_len);
    mwl_asm_result got;
    assemble(name, text, len, MWL_ASM_HUMAN, &got);
    if (getenv("MWL_RATED_UPDATE")) {
        FILE *f = fopen(expected, "wb");
        if (f) {
            fwrite(got.diagnostics, 1, got.diagnostics_len, f);
            fclose(f);
        }
        free(want);
        want = slurp(expected, &want_len);
    }
    bool same = want && strcmp(want, got.diagnostics) == 0 && got.diagnostics_len > 0;
    if (!same) printf("%s:\n%s\nexpected:\n%s\n", name, got.diagnostics, want ? want : "(no file)");
    mwl_asm_free(&got);
    free(text);
    free(want);
    return same;
}

/* ---- repairs --------------------------------------------------------------------------------- */

/* The value after `key` in the text of one diagnostic, as far as tests need JSON: a number. */
static unsigned number_after(const char *text, const char *key) {
    const char *at = strstr(text, key);
    return at ? (unsigned)strtoul(at + strlen(key), NULL, 10) : 0;
}

static size_t offset_of(const char *text, unsigned line, unsigned column) {
    const char *p = text;
    for (; line > 1; line--) p = strchr(p, '\n') + 1;
    return (size_t)(p - text) + column - 1;
}

/* Makes the pieces of one "fix" array, last one first. Returns false when there is none. */
static bool make_repair(const char *diag, char *text) {
    const char *fix = strstr(diag, "\"fix\": [{"), *end = fix ? strstr(fix, "}]}") : NULL;
    if (!fix || !end) return false;
    for (const char *piece = end; piece > fix;) {
        while (piece > fix && strncmp(piece, "{\"line\": ", 9) != 0) piece--;
        size_t from = offset_of(text, number_after(piece, "\"line\": "),
                                number_after(piece, "\"column\": ")),
               to = offset_of(text, number_after(piece, "\"endLine\": "),
                              number_after(piece, "\"endColumn\": "));
        const char *s = strstr(piece, "\"text\": \"") + 9;
        char put[1024];
        size_t n = 0;
        for (; *s != '"' && n + 1 < sizeof put; s++) put[n++] = *s == '\\' ? *++s : *s;
        memmove(text + from + n, text + to, strlen(text + to) + 1);
        memcpy(text + from, put, n);
        piece--;
    }
    return true;
}

/* Code and message of a diagnostic: from its code to the end of the line. */
static size_t head_of(const char *diag, char *out, size_t size) {
    size_t n = strcspn(diag, "\n");
    snprintf(out, size, "%.*s", (int)n, diag);
    return n;
}

static unsigned n_repairs;

static bool repaired(const char *path, const char *name) {
    size_t len = 0;
    char *text = slurp(path, &len);
    mwl_asm_result got;
    bool fine = true;
    assemble(name, text, len, MWL_ASM_JSON, &got);
    for (const char *diag = strstr(got.diagnostics, "{\"code\""); diag && fine;) {
        const char *next = strstr(diag + 1, "\n  {\"code\"");
        size_t diag_len = next ? (size_t)(next - diag) : strlen(diag);
        char one[8192], head[1024], fixed[1u << 16];
        snprintf(one, sizeof one, "%.*s", (int)diag_len, diag);
        snprintf(fixed, sizeof fixed, "%s", text);
        if (make_repair(one, fixed)) {
            mwl_asm_result again;
            n_repairs++;
            head_of(one, head, sizeof head);
            assemble(name, fixed, strlen(fixed), MWL_ASM_JSON, &again);
            fine = !strstr(again.diagnostics, head);
            if (!fine) printf("%s: repaired to\n%s\nand still\n%s\n", name, fixed, head);
            mwl_asm_free(&again);
        }
        diag = next ? next + 3 : NULL;
    }
    mwl_asm_free(&got);
    free(text);
    return fine;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int each_file(const char *folder, bool (*fn)(const char *path, const char *name)) {
    char dir[512], path[1024];
    int wrong = 0, n = 0;
    struct dirent **list = NULL;
    snprintf(dir, sizeof dir, "%s/tests/%s", MWL_SOURCE_DIR, folder);
    int count = scandir(dir, &list, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        size_t len = strlen(list[i]->d_name);
        bool json = len > 5 && strcmp(list[i]->d_name + len - 5, ".json") == 0;
        if (json && strncmp(list[i]->d_name, "provider-", 9) != 0) {
            snprintf(path, sizeof path, "%s/%s", dir, list[i]->d_name);
            n++;
            if (!fn(path, list[i]->d_name)) wrong++;
        }
        free(list[i]);
    }
    free(list);
    return n ? wrong : -1;
}

UTEST(rated, exact_text) { EXPECT_EQ(0, each_file("diag/rated", same_text)); }

UTEST(rated, repairs_are_right) {
    EXPECT_EQ(0, each_file("diag/rated", repaired));
    EXPECT_EQ(0, each_file("diag", repaired));
    printf("%u repairs\n", n_repairs);
    EXPECT_TRUE(n_repairs > 60);
}

UTEST_MAIN()
