/* check_files.c: see check_files.h. */
#include "tools/host/check_files.h"

#include "tools/base/cmd.h"
#include "tools/host/definition.h"
#include "tools/base/path.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int worse(int a, int b) { return a > b ? a : b; }

/* Returns the value of the first "$schema" of a text if it is one of this language; else NULL. The
 * rest of the text need not be JSON. */
static const char *schema_of(const char *text) {
    static const char key[] = "\"$schema\"", ours[] = "\"https://mwl.dev/";
    const char *at = strstr(text, key);
    if (!at) return NULL;
    at += sizeof key - 1;
    at += strspn(at, " \t\r\n");
    if (*at != ':') return NULL;
    at++;
    at += strspn(at, " \t\r\n");
    return strncmp(at, ours, sizeof ours - 1) == 0 ? at + 1 : NULL;
}

static bool is_provider(const char *schema) {
    const char *end = strchr(schema, '"'), *word = strstr(schema, "/provider/");
    return end && word && word < end;
}

static struct check_file *append(struct check_files *f, const char *path) {
    if (f->n_items == f->cap) {
        size_t cap = f->cap ? f->cap * 2 : 8;
        struct check_file **grown = realloc(f->items, cap * sizeof *grown);
        if (!grown) return NULL;
        f->items = grown;
        f->cap = cap;
    }
    struct check_file *file = calloc(1, sizeof *file);
    if (!file) return NULL;
    file->path = strdup(path);
    if (!file->path) {
        free(file);
        return NULL;
    }
    f->items[f->n_items++] = file;
    return file;
}

static void free_last(struct check_files *f, struct definition *d) {
    struct check_file *file = f->items[--f->n_items];
    mwl__source_free(&file->source);
    mwl__buf_free(&file->text);
    file_in_free(&d->limits, &file->original);
    free(file->path);
    free(file);
}

static int add_file(struct check_files *f, struct definition *d, const char *path, bool named) {
    struct check_file *file = append(f, path);
    if (!file) return cmd_no_memory();
    int status = file_in(&d->limits, path, &file->original);
    const char *text = file->original.data;
    size_t len = file->original.size;
    const char *schema = text ? schema_of(text) : NULL;
    if (status == CMD_OK && !named && !schema) {
        f->n_others++;
        free_last(f, d);
        return CMD_OK;
    }
    if (status == CMD_OK) status = definition_expect(path, text, len);
    if (status == CMD_OK) status = definition_pay(d, path, len);
    if (status == CMD_OK) {
        mwl_status made = mwl__source_init(&file->source, limits_alloc(&d->limits),
                                           file_in_name(file->path), text, len);
        file->is_provider = !named && is_provider(schema);
        if (made == MWL_OK) return CMD_OK;
        status = definition_failed(d, path, made);
    }
    free_last(f, d);
    return status;
}

/* ---- folders --------------------------------------------------------------------------------- */

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static bool is_json(const char *path) {
    size_t len = strlen(path);
    return len > 5 && strcmp(path + len - 5, ".json") == 0;
}

static int add_folder(struct check_files *f, struct definition *d, const char *folder);

static int add_entry(struct check_files *f, struct definition *d, const char *path) {
    struct stat st;
    if (lstat(path, &st) != 0) return cmd_file(path, errno);
    if (S_ISDIR(st.st_mode)) return add_folder(f, d, path);
    if (!is_json(path)) return CMD_OK;
    if (S_ISLNK(st.st_mode) && stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return CMD_OK;
    return S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) ? add_file(f, d, path, false) : CMD_OK;
}

static int add_folder(struct check_files *f, struct definition *d, const char *folder) {
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_visible, alphasort), status = CMD_OK;
    if (n < 0) return cmd_file(folder, errno);
    size_t len = strlen(folder);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        const char *slash = len && path_is_separator(folder[len - 1]) ? "" : "/";
        int need = snprintf(path, sizeof path, "%s%s%s", folder, slash, entries[i]->d_name);
        if (need > 0 && (size_t)need < sizeof path) {
            status = worse(status, add_entry(f, d, path));
        } else {
            cmd_fail("%s: %s", folder, strerror(ENAMETOOLONG));
            status = worse(status, CMD_USAGE);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

int check_files_add(struct check_files *f, struct definition *d, const char *path) {
    struct stat st;
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return add_file(f, d, path, true);
    size_t before = f->n_items, others = f->n_others;
    int status = add_folder(f, d, path);
    if (f->n_others > others)
        cmd_note("%s: %zu JSON file%s passed over: without a \"$schema\" of https://mwl.dev", path,
                 f->n_others - others, f->n_others - others == 1 ? " was" : "s were");
    if (status == CMD_OK && f->n_items == before) {
        cmd_fail("%s: there is no definition in this folder", path);
        status = CMD_USAGE;
    }
    return status;
}

mwl_status check_files_replace(struct check_file *file, mwl__buf *take_text) {
    mwl__source source;
    mwl_status status = mwl__source_init(&source, take_text->alloc, file->source.name,
                                         take_text->data, take_text->len);
    if (status == MWL_OK) {
        mwl__source_free(&file->source);
        mwl__buf_free(&file->text);
        file->source = source;
        file->text = *take_text;
    } else {
        mwl__buf_free(take_text);
    }
    return status;
}

void check_files_free(struct check_files *f, struct definition *d) {
    while (f->n_items) free_last(f, d);
    free(f->items);
    memset(f, 0, sizeof *f);
}
