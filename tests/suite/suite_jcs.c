/* suite_jcs.c: RFC 8785: each file of input/, read and written canonically, is the file of that
 * name in output/, byte for byte. */
#include "tests/suite/suite.h"
#include "mwl.h"

#include <stdlib.h>
#include <string.h>

static void compare(struct suite *s, const char *name, mwl_heap *heap, const char *text, size_t len,
                    const char *wanted, size_t wanted_len) {
    mwl_value v = mwl_absent();
    mwl_error error = {MWL_OK, NULL, 0};
    char *out = NULL;
    size_t out_len = 0;
    if (mwl_json_parse(heap, text, len, &v, &error) < 0)
        suite_fail(s, name, "refused at byte %zu: %s", error.offset, error.message);
    else if (mwl_json_write(heap, v, MWL_JSON_CANONICAL, &out, &out_len) < 0)
        suite_fail(s, name, "could not be written");
    else if (out_len != wanted_len || memcmp(out, wanted, out_len) != 0)
        suite_fail(s, name, "got %s", out);
    else
        suite_pass(s, name);
    mwl_text_free(heap, out, out_len);
    mwl_value_drop(heap, v);
}

static void run_case(struct suite *s, const char *in_dir, const char *out_dir, const char *name) {
    char *in_path = suite_path(in_dir, name), *out_path = suite_path(out_dir, name);
    size_t in_len = 0, out_len = 0;
    char *in = suite_read(in_path, &in_len), *out = suite_read(out_path, &out_len);
    mwl_heap *heap = NULL;
    if (!in || !out)
        suite_fail(s, name, "input or output cannot be read");
    else if (mwl_heap_new(NULL, &heap) < 0)
        suite_fail(s, name, "out of memory");
    else
        compare(s, name, heap, in, in_len, out, out_len);
    mwl_heap_free(heap);
    free(in);
    free(out);
    free(in_path);
    free(out_path);
}

int suite_jcs(struct suite *s, const char *dir) {
    char *in_dir = suite_path(dir, "input"), *out_dir = suite_path(dir, "output");
    struct suite_list list;
    int answer = -1;
    if (suite_list_dir(in_dir, &list)) {
        for (size_t i = 0; i < list.count; i++)
            if (suite_wants(s, list.names[i])) run_case(s, in_dir, out_dir, list.names[i]);
        suite_list_free(&list);
        answer = 0;
    }
    free(in_dir);
    free(out_dir);
    return answer;
}
