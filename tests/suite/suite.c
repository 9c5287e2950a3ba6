/* suite.c: folders, files and the count of cases, for every kind of suite. Refuses to know: any
 * kind. If out of memory, the program ends with a message. */
#include "tests/suite/suite.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void *suite_alloc(size_t size) {
    void *p = malloc(size ? size : 1);
    if (p) return p;
    fprintf(stderr, "mwl-suite: out of memory\n");
    exit(2);
}

char *suite_path(const char *dir, const char *name) {
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = suite_alloc(size);
    snprintf(path, size, "%s/%s", dir, name);
    return path;
}

bool suite_is_dir(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool suite_exists(const char *path) {
    struct stat st;
    return stat(path, &st) == 0;
}

char *suite_read(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    size_t len = 0, cap = 4096;
    char *data = suite_alloc(cap);
    for (;;) {
        len += fread(data + len, 1, cap - len - 1, file);
        if (len + 1 < cap) break;
        char *grown = suite_alloc(cap * 2);
        memcpy(grown, data, len);
        free(data);
        data = grown;
        cap *= 2;
    }
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed) {
        free(data);
        return NULL;
    }
    data[len] = '\0';
    *size = len;
    return data;
}

/* ---- folders --------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool suite_list_dir(const char *dir, struct suite_list *out) {
    DIR *d = opendir(dir);
    out->names = NULL;
    out->count = 0;
    if (!d) {
        fprintf(stderr, "mwl-suite: %s: %s\n", dir, strerror(errno));
        return false;
    }
    size_t cap = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        if (out->count == cap) {
            cap = cap ? cap * 2 : 64;
            char **grown = suite_alloc(cap * sizeof *grown);
            if (out->count) memcpy(grown, out->names, out->count * sizeof *grown);
            free(out->names);
            out->names = grown;
        }
        size_t size = strlen(e->d_name) + 1;
        out->names[out->count] = suite_alloc(size);
        memcpy(out->names[out->count++], e->d_name, size);
    }
    closedir(d);
    if (out->count) qsort(out->names, out->count, sizeof *out->names, by_name);
    return true;
}

void suite_list_free(struct suite_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->names[i]);
    free(list->names);
    list->names = NULL;
    list->count = 0;
}

enum walk { WALK_ON, WALK_ENDED, WALK_FAILED };

/* A deeper tree of folders must be a cycle of links. */
enum { WALK_MAX_DEPTH = 32 };

static enum walk walk(const char *dir, size_t skip, int depth,
                      bool (*visit)(void *, const char *, const char *), void *user) {
    struct suite_list list;
    enum walk answer = WALK_ON;
    if (depth > WALK_MAX_DEPTH || !suite_list_dir(dir, &list)) return WALK_FAILED;
    for (size_t i = 0; i < list.count && answer == WALK_ON; i++) {
        char *path = suite_path(dir, list.names[i]);
        if (suite_is_dir(path))
            answer = walk(path, skip, depth + 1, visit, user);
        else if (!visit(user, path, path + skip))
            answer = WALK_ENDED;
        free(path);
    }
    suite_list_free(&list);
    return answer;
}

bool suite_walk(const char *dir, bool (*visit)(void *, const char *, const char *), void *user) {
    return walk(dir, strlen(dir) + 1, 0, visit, user) != WALK_FAILED;
}

/* ---- counting -------------------------------------------------------------------------------- */

bool suite_wants(const struct suite *s, const char *name) {
    return !s->filter || strstr(name, s->filter) != NULL;
}

static void report(const char *word, const char *name, const char *format, va_list args) {
    printf("%s %s", word, name);
    if (format && *format) {
        printf(": ");
        vprintf(format, args);
    }
    printf("\n");
}

void suite_pass(struct suite *s, const char *name) {
    s->passed++;
    if (s->verbose) printf("pass %s\n", name);
}

void suite_fail(struct suite *s, const char *name, const char *format, ...) {
    s->failed++;
    if (s->quiet) return;
    va_list args;
    va_start(args, format);
    report("FAIL", name, format, args);
    va_end(args);
}

void suite_skip(struct suite *s, const char *name, const char *format, ...) {
    s->skipped++;
    if (!s->verbose) return;
    va_list args;
    va_start(args, format);
    report("skip", name, format, args);
    va_end(args);
}
