/* cmd_run.c: `mwlvm run FILE`.
 *
 * Until the machine exists, it reads the file as JSON and prints it canonically. */
#include "cmd.h"
#include "mwl.h"

#include <stdio.h>
#include <stdlib.h>

/* "FILE:LINE:COLUMN: message"; columns count bytes. */
static int complain_at(const char *path, const char *text, const mwl_error *error) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < error->offset && text[i]; i++) {
        column++;
        if (text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    return cmd_fail("%s:%zu:%zu: %s", path, line, column, error->message);
}

int cmd_run(int argc, char **argv) {
    if (argc != 2) return cmd_usage("run takes one FILE");
    size_t size = 0, len = 0;
    char *text = cmd_read_file(argv[1], &size), *canonical = NULL;
    mwl_heap *heap = NULL;
    mwl_value value = mwl_absent();
    mwl_error error = {MWL_OK, NULL, 0};
    int answer = CMD_FAILED;
    if (!text) return CMD_FAILED;
    mwl_status status = mwl_heap_new(NULL, &heap);
    if (status < 0) {
        cmd_fail("%s", mwl_status_text(status));
        goto out;
    }
    status = mwl_json_parse(heap, text, size, &value, &error);
    if (status < 0) {
        if (!error.message) error.message = mwl_status_text(status);
        complain_at(argv[1], text, &error);
        goto out;
    }
    status = mwl_json_write(heap, value, MWL_JSON_CANONICAL, &canonical, &len);
    if (status < 0) {
        cmd_fail("%s: %s", argv[1], mwl_status_text(status));
        goto out;
    }
    fwrite(canonical, 1, len, stdout);
    putchar('\n');
    fprintf(stderr,
            "mwlvm: execution is not built yet; this is the definition in canonical form\n");
    answer = CMD_OK;
out:
    if (canonical) mwl_text_free(heap, canonical, len);
    mwl_value_drop(heap, value);
    mwl_heap_free(heap);
    free(text);
    return answer;
}
