/* testable.c: see testable.h. */
#include "tools/host/testable.h"

#include "tools/host/answers.h"
#include "tools/base/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mwl_asm_document *library;

void testable_use(const mwl_asm_document *documents) { library = documents; }

static const char *library_text(const char *uri) {
    for (const mwl_asm_document *d = library; d && d->uri; d++)
        if (strcmp(d->uri, uri) == 0) return d->text;
    return NULL;
}

char *testable_read(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, cap = 0;
    *len = 0;
    if (!f) return NULL;
    for (;;) {
        if (cap - size < 4096) {
            char *grown = realloc(text, cap = cap ? cap * 2 : 8192);
            if (!grown) break;
            text = grown;
        }
        size_t n = fread(text + size, 1, cap - size - 1, f);
        size += n;
        if (n == 0) break;
    }
    bool failed = ferror(f) || !text || cap - size < 1;
    int why = errno;
    fclose(f);
    errno = why;
    if (failed) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    *len = size;
    return text;
}

/* Removes the last folder of "a/b/"; false if it has no name that could be removed. */
static bool shorten(char *folder) {
    size_t n = strlen(folder);
    if (n < 2 || (n >= 3 && strcmp(folder + n - 3, "../") == 0) || strcmp(folder, "./") == 0)
        return false;
    for (n--; n && !path_is_separator(folder[n - 1]);) n--;
    folder[n] = '\0';
    return true;
}

char *testable_beside(const char *from, const char *name) {
    size_t folder = path_is_absolute(name) ? 0 : (size_t)(path_last(from) - from);
    char *path = malloc(folder + strlen(name) + 1);
    if (!path) return NULL;
    memcpy(path, from, folder);
    path[folder] = '\0';
    while (strncmp(name, "../", 3) == 0 && shorten(path)) name += 3;
    memcpy(path + strlen(path), name, strlen(name) + 1);
    return path;
}

const struct testable_document *testable_document(const struct testable *t, const char *uri) {
    for (size_t i = 0; i < t->n_documents; i++)
        if (strcmp(t->documents[i].uri, uri) == 0) return &t->documents[i];
    return NULL;
}

/* Takes over `text`. */
static bool add(struct testable *t, const char *uri, const char *file, char *text, size_t len) {
    struct testable_document *grown =
        realloc(t->documents, (t->n_documents + 1) * sizeof *t->documents);
    if (grown) t->documents = grown;
    char *name = strdup(uri), *path = file ? strdup(file) : NULL;
    if (!grown || !name || !text || (file && !path)) {
        free(name);
        free(path);
        free(text);
        return false;
    }
    t->documents[t->n_documents++] = (struct testable_document){name, path, text, len, false};
    return true;
}

static mwl_status add_file(struct testable *t, mwl_heap *heap, const char *file,
                           mwl__buf *problems) {
    size_t len = 0;
    char *text = testable_read(file, &len);
    mwl_value tree = mwl_absent();
    if (!text) {
        int why = errno;
        mwl__buf_printf(problems, "%s: %s\n", file, strerror(why));
        return why == ENOMEM ? MWL_E_NOMEM : MWL_E_IO;
    }
    mwl_status status = mwl_json_parse(heap, text, len, &tree, NULL);
    const char *uri = mwl_as_text(mwl_get(tree, "uri"), NULL);
    /* what is wrong with it the assembler says */
    if (!add(t, uri ? uri : "", file, text, len)) status = MWL_E_NOMEM;
    mwl_value_drop(heap, tree);
    return status == MWL_E_NOMEM ? status : MWL_OK;
}

/* Finds the call providers that a definition names, at any depth. */
static bool add_named(struct testable *t, mwl_value v) {
    static const char kind[] = "mwl:provider.call/", own[] = "mwl:provider.call/mwl/";
    mwl_value key, value;
    for (size_t i = 0; i < mwl_count(v); i++) {
        if (mwl_value_kind(v) == MWL_KIND_ARRAY) {
            value = mwl_array_at(v, i);
        } else if (mwl_object_at(v, i, &key, &value)) {
            const char *uri = mwl_as_text(value, NULL), *name = mwl_as_text(key, NULL);
            bool names = uri && strcmp(name, "provider") == 0 &&
                         strncmp(uri, kind, sizeof kind - 1) == 0 &&
                         strncmp(uri, own, sizeof own - 1) != 0 && !testable_document(t, uri);
            const char *ready = names ? library_text(uri) : NULL;
            char *text = ready ? strdup(ready) : names ? answers_document(uri) : NULL;
            if (names && !add(t, uri, NULL, text, text ? strlen(text) : 0)) return false;
            if (ready) t->documents[t->n_documents - 1].of_library = true;
        }
        if ((mwl_value_kind(value) == MWL_KIND_ARRAY || mwl_value_kind(value) == MWL_KIND_OBJECT) &&
            !add_named(t, value))
            return false;
    }
    return true;
}

/* The library of the command, and the documents that were made for providers without one; malloc'd,
 * NULL if out of memory. */
static mwl_asm_document *with_made(const struct testable *t) {
    size_t n = 0;
    for (const mwl_asm_document *d = library; d && d->uri; d++) n++;
    mwl_asm_document *all = calloc(n + t->n_documents + 1, sizeof *all);
    if (!all) return NULL;
    if (n) memcpy(all, library, n * sizeof *all);
    for (size_t i = 0; i < t->n_documents; i++)
        if (!t->documents[i].of_library && !t->documents[i].file)
            all[n++] = (mwl_asm_document){
                .uri = t->documents[i].uri, .text = t->documents[i].text, .stands_in = true};
    return all;
}

static mwl_status assemble(struct testable *t, const char *text, size_t len, mwl__buf *problems) {
    mwl_asm_provider *providers = calloc(t->n_documents + 1, sizeof *providers);
    mwl_asm_document *all = with_made(t);
    if (!providers || !all) {
        free(providers);
        free(all);
        return MWL_E_NOMEM;
    }
    size_t n = 0;
    for (size_t i = 0; i < t->n_documents; i++)
        if (t->documents[i].file)
            providers[n++] =
                (mwl_asm_provider){t->documents[i].file, t->documents[i].text, t->documents[i].len};
    const mwl_asm_options options = {
        .file = t->path, .providers = providers, .n_providers = n, .library = all};
    mwl_asm_result result;
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_status status = mwl_assemble(text, len, &options, &result);
    if (status < 0)
        mwl__buf_printf(problems, "%s",
                        result.diagnostics && *result.diagnostics ? result.diagnostics
                                                                  : mwl_status_text(status));
    else
        status =
            mwl_program_load(NULL, result.image, result.image_size, MWL_COPY, &t->program, &error);
    if (error.message) mwl__buf_printf(problems, "%s: %s\n", t->path, error.message);
    mwl_asm_free(&result);
    free(providers);
    free(all);
    return status;
}

mwl_status testable_load(struct testable *out, const char *path, const char *const *files,
                         size_t n_files, mwl__buf *problems) {
    memset(out, 0, sizeof *out);
    size_t len = 0;
    char *text = testable_read(path, &len);
    mwl_heap *heap = NULL;
    mwl_value tree = mwl_absent();
    if (!text) {
        int why = errno;
        mwl__buf_printf(problems, "%s: %s\n", path, strerror(why));
        return why == ENOMEM ? MWL_E_NOMEM : MWL_E_IO;
    }
    out->path = strdup(path);
    mwl_status status = out->path ? mwl_heap_new(NULL, &heap) : MWL_E_NOMEM;
    for (size_t i = 0; i < n_files && status == MWL_OK; i++)
        status = add_file(out, heap, files[i], problems);
    if (status == MWL_OK && mwl_json_parse(heap, text, len, &tree, NULL) == MWL_OK &&
        !add_named(out, tree))
        status = MWL_E_NOMEM;
    if (heap) mwl_value_drop(heap, tree);
    if (status == MWL_OK) status = assemble(out, text, len, problems);
    if (status == MWL_E_NOMEM) mwl__buf_printf(problems, "%s\n", mwl_status_text(status));
    mwl_heap_free(heap);
    free(text);
    return status;
}

void testable_free(struct testable *t) {
    for (size_t i = 0; i < t->n_documents; i++) {
        free(t->documents[i].uri);
        free(t->documents[i].file);
        free(t->documents[i].text);
    }
    free(t->documents);
    free(t->path);
    mwl_program_release(t->program);
    memset(t, 0, sizeof *t);
}
