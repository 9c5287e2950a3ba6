/* input.c: see input.h. Owns: where a value comes from and how its mistakes are shown. */
#include "tools/base/input.h"

#include "assembler/source/read.h"
#include "tools/base/cmd.h"
#include "tools/base/file_in.h"
#include "tools/base/snippet.h"
#include "vm/value/value.h"

#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- mistakes and notes ---------------------------------------------------------------------- */

/* Prints what the reader of definitions found, with its place: "mwlvm: KIND: FILE:1:2: ...". */
static void show(const char *kind, mwl__diag *d, const char *more) {
    mwl__place at = mwl__source_place(d->source, d->span.begin);
    cmd_note("%s: %s:%u:%u: %s%s", kind, d->source->name, at.line, at.column, d->message, more);
    snippet_show(d->source, d->span, d->text, 2);
}

/* Reads the text again, with the reader that keeps places. Returns true if that found the mistake.
 */
static bool explain(struct input *in, const char *name, const char *text, size_t len,
                    bool accepted) {
    enum { SHOWN = 3 };
    mwl_alloc alloc = limits_alloc(in->limits);
    mwl__source source;
    mwl__diags sink;
    mwl__tree tree;
    size_t shown = 0, found = 0;
    if (mwl__source_init(&source, alloc, name, text, len) != MWL_OK) return false;
    size_t held = mwl_heap_used(in->heap);
    if (held > in->limits->memory - in->limits->used) return false;
    in->limits->used += held; /* the value, and the tree that is made of it once more */
    mwl__diags_init(&sink, alloc);
    mwl__tree_read(&tree, alloc, &source, &sink);
    mwl__diags_sort(&sink);
    for (size_t i = 0; i < sink.n_items; i++) {
        mwl__diag *d = sink.items[i];
        bool doubled = d->row->code == MWL_DIAG_DUPLICATE_MEMBER;
        bool note = doubled || d->severity != MWL_DIAG_ERROR;
        if (note != accepted) continue;
        found++;
        if (shown == SHOWN) continue;
        shown++;
        show(note ? "note" : "error", d, doubled ? "; the last one counts" : "");
    }
    if (accepted && found > shown) cmd_note("note: %s: %zu more of this", name, found - shown);
    mwl__tree_free(&tree);
    mwl__diags_free(&sink);
    mwl__source_free(&source);
    in->limits->used -= held;
    return found > 0;
}

bool input_note(mwl_heap *heap, const char *name, const char *text, size_t len) {
    struct limits limits = {.memory = SIZE_MAX};
    struct input in = {heap, &limits};
    return explain(&in, name, text, len, true);
}

/* ---- parsing --------------------------------------------------------------------------------- */

static int too_large(const struct input *in, const char *name) {
    char where[300];
    snprintf(where, sizeof where, " by %s", name);
    limits_report(in->limits, MWL_E_NOMEM, where);
    return CMD_LIMIT;
}

/* What mwl__json_read returned. */
struct reading {
    mwl_status status;
    mwl_error error;
    bool differs; /* the text may contain what the value does not keep */
};

/* Reports what was found in a text. */
static int finish(struct input *in, const char *name, const char *text, size_t len,
                  const struct reading *got) {
    if (got->status == MWL_OK) {
        if (got->differs) explain(in, name, text, len, true);
        return CMD_OK;
    }
    if (got->status == MWL_E_TOO_BIG || got->status == MWL_E_NOMEM) return too_large(in, name);
    if (!explain(in, name, text, len, false))
        cmd_fail("%s: %s, at byte %zu", name,
                 got->error.message ? got->error.message : mwl_status_text(got->status),
                 got->error.offset);
    return CMD_USAGE;
}

/* Reads a text, or the text of a file if there is one, with the heap's limit lowered by the texts
 * that are in memory. */
static struct reading read_within(struct input *in, FILE *file, const char *text, size_t len,
                                  mwl_value *out) {
    struct reading got = {MWL_OK, {MWL_OK, NULL, 0}, false};
    size_t left = in->limits->memory - in->limits->used;
    mwl_heap_limit(in->heap, left ? left : 1);
    got.status = mwl__json_read(in->heap, file ? file_in_piece : NULL, file, text, len, out,
                                &got.error, &got.differs);
    mwl_heap_limit(in->heap, 0);
    return got;
}

/* Reads a file whose text can be read again, so that it need not be in memory. Returns false if the
 * text is needed after all: to show a mistake in it, or what the value does not keep. */
static bool read_pieces(struct input *in, FILE *file, mwl_value *out) {
    off_t start = ftello(file);
    struct reading got = read_within(in, file, NULL, 0, out);
    size_t left = in->limits->memory - in->limits->used;
    if (got.status == MWL_OK) {
        size_t size = (size_t)(ftello(file) - start), held = mwl_heap_used(in->heap);
        if (!got.differs || held > left || size > left - held) return true;
        mwl_value_drop(in->heap, *out);
        *out = mwl_absent();
    }
    (void)fseeko(file, start, SEEK_SET);
    return false;
}

static bool is_blank(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r\n", text[i]) || !text[i]) return false;
    return true;
}

/* Reads the value of a file, or of standard input. `optional`: blanks alone are an absent value. */
static int read_file(struct input *in, const char *path, bool optional, mwl_value *out) {
    FILE *file = file_in_open(path);
    bool done = file && file_in_again(file) && read_pieces(in, file, out);
    if (file && file != stdin) fclose(file);
    if (done) return CMD_OK;
    struct file_text text;
    int status = file_in(in->limits, path, &text);
    if (status != CMD_OK) return status;
    if (!optional || !is_blank(text.data, text.size)) {
        struct reading got = read_within(in, NULL, text.data, text.size, out);
        status = finish(in, file_in_name(path), text.data, text.size, &got);
    }
    file_in_free(in->limits, &text);
    return status;
}

/* Does the word begin like a JSON text? Names of files seldom do. */
static bool begins_like_json(const char *word) {
    return *word && (strchr("{[\"-", *word) || isdigit((unsigned char)*word));
}

int input_word(struct input *in, const char *option, const char *word, mwl_value *out) {
    size_t len = strlen(word);
    if (strcmp(word, "-") == 0) return read_file(in, word, false, out);
    if (word[0] == '@') return read_file(in, word + 1, false, out);
    struct reading got = read_within(in, NULL, word, len, out);
    if (got.status != MWL_OK && access(word, F_OK) == 0) return read_file(in, word, false, out);
    if (got.status == MWL_OK || begins_like_json(word + strspn(word, " \t\r\n")))
        return finish(in, option, word, len, &got);
    return cmd_usage("%s: '%s' is neither JSON nor a file; a string is written '\"%s\"'", option,
                     word, word);
}

/* ---- standard input, unasked ----------------------------------------------------------------- */

static bool brings_something(void) {
    struct stat st;
    if (isatty(STDIN_FILENO) || fstat(STDIN_FILENO, &st) != 0) return false;
    if (S_ISREG(st.st_mode)) return true;
    if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)) return false;
    struct pollfd fd = {STDIN_FILENO, POLLIN, 0};
    if (poll(&fd, 1, INPUT_PATIENCE_MS) == 0)
        cmd_note("waiting for the input on standard input; `--input null` runs without it");
    return true;
}

int input_stdin(struct input *in, mwl_value *out) {
    *out = mwl_absent();
    if (!brings_something()) return CMD_OK;
    return read_file(in, "-", true, out);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static int put(struct input *in, mwl_value *object, const char *name, size_t len, mwl_value take) {
    *object = mwl_object_set(in->heap, *object, name, len, take);
    if (!mwl_is_absent(*object)) return CMD_OK;
    if (mwl_heap_why(in->heap) == MWL_E_TOO_BIG) return too_large(in, "the arguments");
    return cmd_usage("argument '%.*s': %s", (int)len, name,
                     mwl_status_text(mwl_heap_why(in->heap)));
}

int input_arguments(struct input *in, const char *word, mwl_value *object) {
    mwl_value all = mwl_absent(), key, value;
    int status = input_word(in, "--args", word, &all);
    if (status == CMD_OK && mwl_value_kind(all) != MWL_KIND_OBJECT)
        status = cmd_usage("--args must be an object: argument names and their values");
    for (size_t i = 0; status == CMD_OK && mwl_object_at(all, i, &key, &value); i++) {
        size_t len = 0;
        const char *name = mwl_as_text(key, &len);
        status = put(in, object, name, len, mwl_value_keep(value));
    }
    mwl_value_drop(in->heap, all);
    return status;
}

int input_argument(struct input *in, const char *word, mwl_value *object) {
    const char *equals = strchr(word, '=');
    if (!equals || equals == word) return cmd_usage("--arg needs NAME=JSON, not '%s'", word);
    const char *text = equals + 1;
    int len = (int)(equals - word);
    char name[80];
    snprintf(name, sizeof name, "--arg %.*s", len < 60 ? len : 60, word);
    mwl_value value = mwl_absent();
    struct reading got = read_within(in, NULL, text, strlen(text), &value);
    if (got.status != MWL_OK && *text && !begins_like_json(text))
        return cmd_usage("%s: '%s' is not JSON; a string is written '%.*s=\"%s\"'", name, text, len,
                         word, text);
    int answer = finish(in, name, text, strlen(text), &got);
    return answer == CMD_OK ? put(in, object, word, (size_t)len, value) : answer;
}
