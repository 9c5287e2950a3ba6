/* find.c: which files and folders are cases of `mwlvm test`. */
#include "tools/test/test_case.h"

#include "tools/base/cmd.h"
#include "tools/base/path.h"
#include "tools/host/testable.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NESTING_MAX = 32 };

void test_list_free(struct test_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->cases[i].name);
        free(list->cases[i].file);
        free(list->cases[i].dir);
    }
    free(list->cases);
    memset(list, 0, sizeof *list);
}

static char *joined(const char *a, const char *b) {
    size_t n = strlen(a);
    if (strcmp(a, ".") == 0) return strdup(b);
    char *text = malloc(n + strlen(b) + 2);
    if (text) sprintf(text, "%s%s%s", a, n && path_is_separator(a[n - 1]) ? "" : "/", b);
    return text;
}

/* Takes over the texts. */
static int add(struct test_list *list, char *name, char *file, char *dir, bool wants_dir) {
    if (list->count == list->cap) {
        size_t cap = list->cap ? 2 * list->cap : 64;
        struct test_case *grown = realloc(list->cases, cap * sizeof *grown);
        if (grown) {
            list->cases = grown;
            list->cap = cap;
        }
    }
    if (list->count < list->cap && name && file && (dir || !wants_dir)) {
        list->cases[list->count++] = (struct test_case){name, file, dir};
        return CMD_OK;
    }
    free(name);
    free(file);
    free(dir);
    return cmd_no_memory();
}

static bool is_json(const char *name) {
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

/* *are: whether the text of case.json names scenarios; else it is a file like others. */
static int add_scenarios(struct test_list *list, const char *dir, const char *text, size_t len,
                         bool *are) {
    mwl_heap *heap = NULL;
    mwl_value v = mwl_absent(), key;
    if (mwl_heap_new(NULL, &heap) != MWL_OK) return cmd_no_memory();
    (void)mwl_json_parse(heap, text, len, &v, NULL);
    mwl_value scenarios = mwl_get(v, "scenarios");
    int status = CMD_OK;
    *are = mwl_count(scenarios) > 0;
    for (size_t i = 0; status == CMD_OK && mwl_object_at(scenarios, i, &key, NULL); i++) {
        const char *name = mwl_as_text(key, NULL);
        char *scenario = joined("scenarios", name);
        char *folder = scenario ? joined(dir, scenario) : NULL;
        status = add(list, joined(dir, name),
                     folder ? joined(folder, "expected-result.json") : NULL, strdup(dir), true);
        free(scenario);
        free(folder);
    }
    mwl_value_drop(heap, v);
    mwl_heap_free(heap);
    return status;
}

/* A case says which definition it is about. */
static bool is_case(const char *text, size_t len) {
    mwl_heap *heap = NULL;
    mwl_value v = mwl_absent();
    if (!strstr(text, "\"definition\"") || mwl_heap_new(NULL, &heap) != MWL_OK) return false;
    bool is = mwl_json_parse(heap, text, len, &v, NULL) != MWL_OK /* it says what is wrong */ ||
              (mwl_value_kind(mwl_get(v, "definition")) == MWL_KIND_STRING &&
               mwl_is_absent(mwl_get(v, "$schema")));
    mwl_value_drop(heap, v);
    mwl_heap_free(heap);
    return is;
}

static int add_file(struct test_list *list, const char *path, bool named) {
    size_t len = 0;
    char *text = testable_read(path, &len);
    int status = CMD_OK;
    if (!text) return cmd_file(path, errno);
    if (is_case(text, len)) {
        char *name = strdup(path);
        if (name && is_json(name)) name[strlen(name) - 5] = '\0';
        status = add(list, name, strdup(path), NULL, false);
    } else if (named) {
        cmd_fail("%s: this is not a case: it has no `definition`", path);
        status = CMD_REJECTED;
    } else {
        list->n_other++;
    }
    free(text);
    return status;
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int add_folder(struct test_list *list, const char *dir, int depth) {
    char *path = joined(dir, "case.json");
    if (!path) return cmd_no_memory();
    size_t len = 0;
    char *text = testable_read(path, &len);
    free(path);
    if (text) {
        bool are = false;
        int status = add_scenarios(list, dir, text, len, &are);
        free(text);
        if (are || status != CMD_OK) return status;
    }
    struct dirent **names = NULL;
    int n = depth < NESTING_MAX ? scandir(dir, &names, is_visible, alphasort) : 0, status = CMD_OK;
    if (n < 0) return cmd_file(dir, errno);
    for (int i = 0; i < n; i++) {
        struct stat s;
        path = status == CMD_OK ? joined(dir, names[i]->d_name) : NULL;
        if (status == CMD_OK && !path) status = cmd_no_memory();
        if (path && lstat(path, &s) == 0) {
            if (S_ISDIR(s.st_mode))
                status = add_folder(list, path, depth + 1);
            else if (is_json(path))
                status = add_file(list, path, false);
        }
        free(path);
        free(names[i]);
    }
    free(names);
    return status;
}

int test_find(struct test_list *list, const char *path) {
    struct stat s;
    if (stat(path, &s) != 0) return cmd_file(path, errno);
    return S_ISDIR(s.st_mode) ? add_folder(list, path, 0) : add_file(list, path, true);
}
