/* suite_json.c: JSON texts that must be accepted (y_), refused (n_) or only not crash (i_), by the
 * reader of data or, on request, of definitions. What the reader of data accepts must be the same
 * after writing and reading it again. */
#include "tests/suite/suite_json.h"
#include "mwl.h"

#include <stdlib.h>
#include <string.h>

static bool read_data(const char *text, size_t len, const char **why) {
    mwl_heap *heap = NULL;
    mwl_value v = mwl_absent(), again = mwl_absent();
    mwl_error error = {MWL_OK, NULL, 0};
    char *out = NULL;
    size_t out_len = 0;
    bool fine = false;
    *why = "out of memory";
    if (mwl_heap_new(NULL, &heap) < 0) return false;
    if (mwl_json_parse(heap, text, len, &v, &error) < 0) {
        *why = error.message;
    } else if (mwl_json_write(heap, v, MWL_JSON_COMPACT, &out, &out_len) < 0 ||
               mwl_json_parse(heap, out, out_len, &again, &error) < 0 ||
               !mwl_value_equal(v, again)) {
        *why = "accepted, but did not survive writing and reading back";
    } else {
        fine = true;
    }
    mwl_text_free(heap, out, out_len);
    mwl_value_drop(heap, v);
    mwl_value_drop(heap, again);
    mwl_heap_free(heap);
    return fine;
}

static void run_case(struct suite *s, suite_json_reader *read, const char *dir, const char *name) {
    char *path = suite_path(dir, name);
    size_t len = 0;
    char *text = suite_read(path, &len);
    const char *why = "";
    if (!text) {
        suite_fail(s, name, "cannot be read");
    } else {
        bool accepted = read(text, len, &why);
        if (name[0] == 'y' && !accepted)
            suite_fail(s, name, "refused: %s", why);
        else if (name[0] == 'n' && accepted)
            suite_fail(s, name, "accepted");
        else
            suite_pass(s, name);
    }
    free(text);
    free(path);
}

int suite_json_with(struct suite *s, const char *dir, suite_json_reader *read) {
    struct suite_list list;
    if (!suite_list_dir(dir, &list)) return -1;
    for (size_t i = 0; i < list.count; i++) {
        const char *name = list.names[i];
        if (strchr("yni", name[0]) && name[1] == '_' && suite_wants(s, name))
            run_case(s, read, dir, name);
    }
    suite_list_free(&list);
    return 0;
}

int suite_json(struct suite *s, const char *dir) {
    bool definition = s->reader && strcmp(s->reader, "definition") == 0;
    return suite_json_with(s, dir, definition ? suite_json_read_definition : read_data);
}
