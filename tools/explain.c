/* explain.c: a failure Result in words.
 *
 * Owns: the wording. Refuses to know: how a failure arose; it reads the Result, and asks the run
 * for the Step where it was born. */
#include "explain.h"

#include <stdio.h>
#include <string.h>

static const char *text_of(mwl_value object, const char *name) {
    mwl_value v = mwl_object_get(object, name, strlen(name));
    return mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, NULL) : NULL;
}

static unsigned number_of(mwl_value object, const char *name) {
    mwl_value v = mwl_object_get(object, name, strlen(name));
    return mwl_value_kind(v) == MWL_KIND_NUMBER && mwl_as_number(v) >= 1 && mwl_as_number(v) < 1e9
               ? (unsigned)mwl_as_number(v)
               : 0;
}

static void indent(int level) { fprintf(stderr, "%*s", 2 * level, ""); }

/* "at Flow 'f', Step 's', file:line:column", of what is known. */
static void print_place(const mwl_run *run, mwl_value failure, const char *file, int level) {
    mwl_value details = mwl_object_get(failure, "details", 7);
    mwl_place place;
    bool known = mwl_run_failed_at(run, failure, &place);
    unsigned line = number_of(details, "line"), column = number_of(details, "column");
    if (!line && known) {
        line = place.line;
        column = place.column;
    }
    if (!known && !line) return;
    indent(level);
    fputs("at", stderr);
    if (known) {
        if (*place.flow) fprintf(stderr, " Flow '%s',", place.flow);
        fprintf(stderr, " Step '%s'%s", place.step, line ? "," : "");
    }
    if (line) fprintf(stderr, " %s:%u:%u", file, line, column);
    fputc('\n', stderr);
    const char *expression = text_of(details, "expression");
    if (!expression) return;
    indent(level);
    fprintf(stderr, "in %s\n", expression);
}

/* The value as JSON, cut at a character after `most` bytes; longer ones end with "...". */
static void print_value(mwl_heap *heap, mwl_value v, size_t most) {
    char *text = NULL;
    size_t len = 0;
    if (mwl_json_write(heap, v, MWL_JSON_COMPACT, &text, &len) < 0) return;
    size_t shown = len < most ? len : most;
    while (shown < len && shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80) shown--;
    fprintf(stderr, "%.*s%s", (int)shown, text, shown < len ? " ..." : "");
    mwl_text_free(heap, text, len);
}

/* What a schema refused, a line each: "/name = "ABC": must match the pattern ...". */
static void print_errors(mwl_heap *heap, mwl_value errors, int level) {
    for (size_t i = 0; i < mwl_count(errors); i++) {
        mwl_value error = mwl_array_at(errors, i);
        const char *where = text_of(error, "instanceLocation"), *why = text_of(error, "message");
        if (!where || !why || (!*where && mwl_count(errors) == 1))
            continue; /* the message has it */
        indent(level);
        if (*where) {
            fprintf(stderr, "%s = ", where);
            print_value(heap, mwl_object_get(error, "value", 5), 60);
            fputs(": ", stderr);
        }
        fprintf(stderr, "%s\n", why);
    }
}

/* The members that the object has of which one was missed. */
static void print_having(mwl_value having, int level) {
    size_t n = mwl_count(having);
    indent(level);
    fputs("having {", stderr);
    for (size_t i = 0; i < n; i++) {
        const char *name = mwl_as_text(mwl_array_at(having, i), NULL);
        fprintf(stderr, "%s%s", i ? ", " : "", name ? name : "...");
    }
    fputs("}\n", stderr);
}

static void print_details(mwl_heap *heap, mwl_value failure, int level) {
    mwl_value details = mwl_object_get(failure, "details", 7);
    mwl_value having = mwl_object_get(details, "having", 6);
    mwl_value errors = mwl_object_get(details, "errors", 6);
    if (mwl_is_absent(details)) return;
    if (mwl_value_kind(having) == MWL_KIND_ARRAY) print_having(having, level);
    if (mwl_value_kind(errors) == MWL_KIND_ARRAY) {
        print_errors(heap, errors, level);
    } else if (!number_of(details, "line")) { /* else a place: told already */
        indent(level);
        fputs("details ", stderr);
        print_value(heap, details, 300);
        fputc('\n', stderr);
    }
}

static void print_one(mwl_heap *heap, const mwl_run *run, mwl_value failure, const char *file,
                      int level) {
    const char *type = text_of(failure, "type"), *code = text_of(failure, "code");
    const char *message = text_of(failure, "message");
    fprintf(stderr, "%s %s%s%s\n", type ? type : "failure", code ? code : "without a code",
            message ? ": " : "", message ? message : "");
    print_place(run, failure, file, level);
    print_details(heap, failure, level);
}

void explain_failure(mwl_heap *heap, const mwl_run *run, const char *file) {
    mwl_value failure = mwl_run_result(run);
    fputs("mwlvm: ", stderr);
    for (int level = 1; mwl_value_kind(failure) == MWL_KIND_OBJECT; level++) {
        print_one(heap, run, failure, file, level);
        failure = mwl_object_get(failure, "previous", 8);
        if (mwl_value_kind(failure) != MWL_KIND_OBJECT) return;
        indent(level);
        fputs("after ", stderr);
    }
}
