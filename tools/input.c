/* input.c: see input.h. Owns: where a value comes from and how its faults are told. */
#include "input.h"

#include "cmd.h"

#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Line and column (in bytes) of an offset. */
static void locate(const char *text, size_t offset, size_t *line, size_t *column) {
    *line = *column = 1;
    for (size_t i = 0; i < offset && text[i]; i++) {
        ++*column;
        if (text[i] != '\n') continue;
        ++*line;
        *column = 1;
    }
}

static int parse(mwl_heap *heap, const char *what, const char *text, size_t len, mwl_value *out) {
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_status status = mwl_json_parse(heap, text, len, out, &error);
    if (status == MWL_OK) return CMD_OK;
    size_t line, column;
    locate(text, error.offset, &line, &column);
    return cmd_usage("%s:%zu:%zu: %s", what, line, column,
                     error.message ? error.message : mwl_status_text(status));
}

static int read_file(mwl_heap *heap, const char *path, mwl_value *out) {
    size_t size = 0;
    char *text = cmd_read_file(path, &size);
    if (!text) return CMD_USAGE;
    int status = parse(heap, strcmp(path, "-") == 0 ? "standard input" : path, text, size, out);
    free(text);
    return status;
}

int input_word(mwl_heap *heap, const char *word, mwl_value *out) {
    if (strcmp(word, "-") == 0) return read_file(heap, word, out);
    const char *first = word + strspn(word, " \t\r\n");
    if (*first && strchr("{[\"", *first)) return parse(heap, "--input", word, strlen(word), out);
    if (access(word, F_OK) == 0) return read_file(heap, word, out);
    if (mwl_json_parse(heap, word, strlen(word), out, NULL) == MWL_OK) return CMD_OK;
    return cmd_usage("--input: '%s' is neither a file nor JSON", word);
}

/* ---- standard input, unasked ----------------------------------------------------------------- */

static bool brings_something(void) {
    struct stat st;
    if (isatty(STDIN_FILENO) || fstat(STDIN_FILENO, &st) != 0) return false;
    if (S_ISREG(st.st_mode)) return true;
    if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)) return false;
    struct pollfd fd = {STDIN_FILENO, POLLIN, 0};
    if (poll(&fd, 1, INPUT_PATIENCE_MS) > 0) return true;
    cmd_note(
        "nothing came on standard input: running with the input null ('--input -' waits for it)");
    return false;
}

static bool is_blank(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r\n", text[i]) || !text[i]) return false;
    return true;
}

int input_stdin(mwl_heap *heap, mwl_value *out) {
    *out = mwl_absent();
    if (!brings_something()) return CMD_OK;
    size_t size = 0;
    char *text = cmd_read_file("-", &size);
    if (!text) return CMD_USAGE;
    int status = CMD_OK;
    if (!is_blank(text, size)) status = parse(heap, "standard input", text, size, out);
    free(text);
    return status;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static int put(mwl_heap *heap, mwl_value *object, const char *name, size_t len, mwl_value take) {
    *object = mwl_object_set(heap, *object, name, len, take);
    if (!mwl_is_absent(*object)) return CMD_OK;
    return cmd_usage("argument '%.*s': %s", (int)len, name, mwl_status_text(mwl_heap_why(heap)));
}

int input_arguments_file(mwl_heap *heap, const char *path, mwl_value *object) {
    mwl_value all = mwl_absent(), key, value;
    int status = read_file(heap, path, &all);
    if (status == CMD_OK && mwl_value_kind(all) != MWL_KIND_OBJECT)
        status = cmd_usage("--args: %s must hold an object: argument names and their values", path);
    for (size_t i = 0; status == CMD_OK && mwl_object_at(all, i, &key, &value); i++) {
        size_t len = 0;
        const char *name = mwl_as_text(key, &len);
        status = put(heap, object, name, len, mwl_value_keep(value));
    }
    mwl_value_drop(heap, all);
    return status;
}

int input_argument(mwl_heap *heap, const char *word, mwl_value *object) {
    const char *equals = strchr(word, '=');
    if (!equals || equals == word) return cmd_usage("--arg needs name=JSON, not '%s'", word);
    size_t len = (size_t)(equals - word);
    mwl_value value = mwl_absent();
    mwl_error error = {MWL_OK, NULL, 0};
    const char *text = equals + 1;
    if (mwl_json_parse(heap, text, strlen(text), &value, &error) == MWL_OK)
        return put(heap, object, word, len, value);
    if (*text && !strpbrk(text, "{[\"'\\"))
        return cmd_usage("--arg %.*s: '%s' is no JSON; a string is written '%.*s=\"%s\"'", (int)len,
                         word, text, (int)len, word, text);
    return cmd_usage("--arg %.*s: not JSON: %s, at byte %zu", (int)len, word, error.message,
                     error.offset);
}
