/* check_files.c: see check_files.h. */
#include "check_files.h"

#include "cmd.h"
#include "definition.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int worse(int a, int b) { return a > b ? a : b; }

/* The value of the first "$schema" of a text that need not be JSON otherwise, when it is one of
 * this language; NULL otherwise. */
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

static void free_last(struct check_files *f) {
    struct check_file *file = f->items[--f->n_items];
    mwl__source_free(&file->source);
    free(file->text);
    free(file->original);
    free(file->path);
    free(file);
}

static int add_file(struct check_files *f, const char *path, bool named, mwl_alloc alloc) {
    struct check_file *file = append(f, path);
    if (!file) return cmd_fail("out of memory");
    size_t len = 0;
    int status = CMD_OK;
    file->text = cmd_read_file(path, &len);
    const char *schema = file->text ? schema_of(file->text) : NULL;
    if (!file->text) {
        status = CMD_USAGE;
    } else if (!named && !schema) {
        f->n_others++;
    } else if ((status = definition_expect(path, file->text, len)) == CMD_OK) {
        mwl_status made =
            mwl__source_init(&file->source, alloc, definition_name(file->path), file->text, len);
        file->is_provider = !named && is_provider(schema);
        if (made == MWL_OK) return CMD_OK;
        cmd_fail("%s: %s", definition_name(path), mwl_status_text(made));
        status = CMD_USAGE;
    }
    free_last(f);
    return status;
}

/* ---- folders --------------------------------------------------------------------------------- */

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static bool is_json(const char *path) {
    size_t len = strlen(path);
    return len > 5 && strcmp(path + len - 5, ".json") == 0;
}

static int add_folder(struct check_files *f, const char *folder, mwl_alloc alloc);

static int add_entry(struct check_files *f, const char *path, mwl_alloc alloc) {
    struct stat st;
    if (lstat(path, &st) != 0) {
        cmd_fail("%s: %s", path, strerror(errno));
        return CMD_USAGE;
    }
    if (S_ISDIR(st.st_mode)) return add_folder(f, path, alloc);
    if (!is_json(path)) return CMD_OK;
    if (S_ISLNK(st.st_mode) && stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return CMD_OK;
    return S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) ? add_file(f, path, false, alloc) : CMD_OK;
}

static int add_folder(struct check_files *f, const char *folder, mwl_alloc alloc) {
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_visible, alphasort), status = CMD_OK;
    if (n < 0) {
        cmd_fail("%s: %s", folder, strerror(errno));
        return CMD_USAGE;
    }
    size_t len = strlen(folder);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        const char *slash = len && folder[len - 1] == '/' ? "" : "/";
        int need = snprintf(path, sizeof path, "%s%s%s", folder, slash, entries[i]->d_name);
        if (need > 0 && (size_t)need < sizeof path) {
            status = worse(status, add_entry(f, path, alloc));
        } else {
            cmd_fail("%s: %s", folder, strerror(ENAMETOOLONG));
            status = worse(status, CMD_USAGE);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

int check_files_add(struct check_files *f, const char *path, mwl_alloc alloc) {
    struct stat st;
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return add_file(f, path, true, alloc);
    size_t before = f->n_items, others = f->n_others;
    int status = add_folder(f, path, alloc);
    if (f->n_others > others)
        cmd_note("%s: %zu JSON file%s passed over: without a \"$schema\" of https://mwl.dev", path,
                 f->n_others - others, f->n_others - others == 1 ? " was" : "s were");
    if (status == CMD_OK && f->n_items == before) {
        cmd_fail("%s: there is no definition in this folder", path);
        status = CMD_USAGE;
    }
    return status;
}

mwl_status check_files_replace(struct check_file *file, const char *text, size_t len,
                               mwl_alloc alloc) {
    char *copy = malloc(len + 1);
    mwl__source source;
    if (!copy) return MWL_E_NOMEM;
    memcpy(copy, text, len);
    copy[len] = '\0';
    mwl_status status = mwl__source_init(&source, alloc, file->source.name, copy, len);
    if (status != MWL_OK) {
        free(copy);
        return status;
    }
    if (file->original) {
        free(file->text);
    } else {
        file->original = file->text;
        file->original_len = file->source.len;
    }
    mwl__source_free(&file->source);
    file->text = copy;
    file->source = source;
    return MWL_OK;
}

void check_files_free(struct check_files *f) {
    while (f->n_items) free_last(f);
    free(f->items);
    memset(f, 0, sizeof *f);
}
