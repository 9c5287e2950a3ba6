/* programs.c: the definitions that cases share; see test_case.h. */
#include "tools/test/programs.h"
#include "tools/host/testable.h"

#include <stdlib.h>
#include <string.h>

struct test_programs {
    pthread_mutex_t lock;
    struct test_program **items;
    size_t n, cap;
    const char *const *documents;
    size_t n_documents;
    bool coverage;
};

struct test_programs *test_programs_new(const char *const *documents, size_t n_documents,
                                        bool coverage) {
    struct test_programs *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    pthread_mutex_init(&p->lock, NULL);
    p->documents = documents;
    p->n_documents = n_documents;
    p->coverage = coverage;
    return p;
}

void test_programs_free(struct test_programs *p) {
    if (!p) return;
    for (size_t i = 0; i < p->n; i++) {
        struct test_program *t = p->items[i];
        coverage_free(t->coverage);
        testable_free(&t->testable);
        mwl__buf_free(&t->problems);
        pthread_mutex_destroy(&t->lock);
        free(t->hits);
        free(t->key);
        free(t);
    }
    free(p->items);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

const struct test_program *test_programs_at(const struct test_programs *p, size_t i) {
    return i < p->n ? p->items[i] : NULL;
}

/* The record of a key, new or old. The caller has the lock. */
static struct test_program *find(struct test_programs *p, const char *key) {
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->items[i]->key, key) == 0) return p->items[i];
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 16;
        struct test_program **grown = realloc(p->items, cap * sizeof *grown);
        if (!grown) return NULL;
        p->items = grown;
        p->cap = cap;
    }
    struct test_program *t = calloc(1, sizeof *t);
    if (!t || !(t->key = strdup(key))) {
        free(t);
        return NULL;
    }
    pthread_mutex_init(&t->lock, NULL);
    t->problems = mwl__buf_make(mwl_alloc_default());
    return p->items[p->n++] = t;
}

static void load(struct test_programs *p, struct test_program *t, const char *path,
                 const char *const *files, size_t n_files) {
    const char **all = calloc(p->n_documents + n_files + 1, sizeof *all);
    t->loaded = true;
    t->status = MWL_E_NOMEM;
    if (!all) return;
    for (size_t i = 0; i < p->n_documents; i++) all[i] = p->documents[i];
    for (size_t i = 0; i < n_files; i++) all[p->n_documents + i] = files[i];
    t->status = testable_load(&t->testable, path, all, p->n_documents + n_files, &t->problems);
    free(all);
    if (t->status != MWL_OK || !p->coverage) return;
    t->coverage = coverage_new(t->testable.program);
    if (t->coverage) t->hits = calloc(t->coverage->n_items + 1, sizeof *t->hits);
    if (!t->hits) t->status = MWL_E_NOMEM;
}

struct test_program *test_programs_get(struct test_programs *p, const char *path,
                                       const char *const *files, size_t n_files) {
    mwl__buf key = mwl__buf_make(mwl_alloc_default());
    mwl__buf_puts(&key, path);
    for (size_t i = 0; i < n_files; i++) mwl__buf_printf(&key, "\n%s", files[i]);
    pthread_mutex_lock(&p->lock);
    const char *name = mwl__buf_cstr(&key);
    struct test_program *t = key.failed ? NULL : find(p, name);
    pthread_mutex_unlock(&p->lock);
    mwl__buf_free(&key);
    if (!t) return NULL;
    pthread_mutex_lock(&t->lock); /* the second thread waits for the assembly */
    if (!t->loaded) load(p, t, path, files, n_files);
    pthread_mutex_unlock(&t->lock);
    return t;
}

void test_program_took(struct test_program *t, const uint64_t *hits) {
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < t->coverage->n_items; i++) t->hits[i] += hits[i];
    pthread_mutex_unlock(&t->lock);
}
