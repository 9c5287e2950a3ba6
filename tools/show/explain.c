/* explain.c: explains a failure Result to a person.
 *
 * Owns: the wording. Refuses to know: how a failure was made. It reads the Result, and gets from
 * the run the Step where the failure began. */
#include "tools/show/explain.h"

#include "tools/base/json_out.h"
#include "tools/base/snippet.h"
#include "tools/base/term.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    SNIPPETS = 3,       /* of a chain of failures; the places of the others are named */
    SHOWN_VALUE = 60,   /* bytes of a value that a schema refused, */
    SHOWN_DETAILS = 300 /* and of details */
};

static const char *text_of(mwl_value object, const char *name) {
    mwl_value v = mwl_get(object, name);
    return mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, NULL) : NULL;
}

static unsigned number_of(mwl_value object, const char *name) {
    mwl_value v = mwl_get(object, name);
    return mwl_value_kind(v) == MWL_KIND_NUMBER && mwl_as_number(v) >= 1 && mwl_as_number(v) < 1e9
               ? (unsigned)mwl_as_number(v)
               : 0;
}

static void indent(int level) { fprintf(stderr, "%*s", 2 * level, ""); }

/* ---- where ----------------------------------------------------------------------------------- */

struct where {
    mwl_place step; /* `known`: the Step where the failure began */
    bool known;
    unsigned line, column;  /* of the expression, or of the Step; 0: not known */
    const char *expression; /* that failed, or NULL */
};

static struct where find_where(const struct explain *e, mwl_value failure) {
    mwl_value details = mwl_get(failure, "details");
    struct where w;
    memset(&w, 0, sizeof w);
    w.known = e->run && mwl_run_failed_at(e->run, failure, &w.step);
    w.line = number_of(details, "line");
    w.column = number_of(details, "column");
    w.expression = text_of(details, "expression");
    if (!w.line && w.known) {
        w.line = w.step.line;
        w.column = w.step.column;
    }
    return w;
}

/* Returns the span at a place: a whole string or name, else one character. */
static mwl__span token_at(const mwl__source *source, uint32_t at) {
    const char *s = source->text;
    uint32_t end = at;
    if (at < source->len && s[at] == '"') {
        for (end++; end < source->len && s[end] != '"' && s[end] != '\n'; end++)
            if (s[end] == '\\') end++;
        end++;
    } else {
        while (end < source->len && (isalnum((unsigned char)s[end]) || s[end] == '_')) end++;
    }
    if (end == at || end > source->len) end = at;
    return mwl__span_make(at, end);
}

static void print_where(const struct explain *e, const struct where *w, int level) {
    if (!w->known && !w->line) return;
    indent(level);
    fputs("at", stderr);
    if (w->known) {
        if (*w->step.flow) term_printf(stderr, " Flow '%s',", w->step.flow);
        term_printf(stderr, " Step '%s'%s", w->step.step, w->line ? "," : "");
    }
    if (w->line) term_printf(stderr, " %s:%u:%u", e->file, w->line, w->column);
    fputc('\n', stderr);
    if (e->source && w->line && level <= SNIPPETS) {
        uint32_t at = snippet_offset(e->source, w->line, w->column);
        snippet_show(e->source, token_at(e->source, at), NULL, 2 * level);
    } else if (w->expression) {
        indent(level);
        term_printf(stderr, "in %s", w->expression);
        fputc('\n', stderr);
    }
}

void explain_where(const struct explain *e, char *out, size_t cap) {
    struct where w = find_where(e, e->result);
    *out = '\0';
    if (!w.known) return;
    int n = snprintf(out, cap, " in Step '%s'", w.step.step);
    if (*w.step.flow && n > 0 && (size_t)n < cap)
        n += snprintf(out + n, cap - (size_t)n, " of Flow '%s'", w.step.flow);
    if (w.line && n > 0 && (size_t)n < cap)
        snprintf(out + n, cap - (size_t)n, " (%s:%u:%u)", e->file, w.line, w.column);
}

/* ---- details --------------------------------------------------------------------------------- */

static void print_value(mwl_heap *heap, mwl_value v, size_t most) {
    const struct json_out how = {stderr, MWL_JSON_COMPACT, true, most};
    json_out(&how, heap, v);
}

/* Writes what a schema refused, one line for each: "/name = "ABC": must match the pattern ...". */
static void print_errors(mwl_heap *heap, mwl_value errors, int level) {
    for (size_t i = 0; i < mwl_count(errors); i++) {
        mwl_value error = mwl_array_at(errors, i);
        const char *where = text_of(error, "instanceLocation"), *why = text_of(error, "message");
        if (!where || !why || (!*where && mwl_count(errors) == 1))
            continue; /* the message has it */
        indent(level);
        if (*where) {
            term_printf(stderr, "%s = ", where);
            print_value(heap, mwl_get(error, "value"), SHOWN_VALUE);
            fputs(": ", stderr);
        }
        term_printf(stderr, "%s", why);
        fputc('\n', stderr);
    }
}

/* Lists the members of the object in which a member is missing. */
static void print_having(mwl_value having, int level) {
    size_t n = mwl_count(having);
    indent(level);
    fputs("having {", stderr);
    for (size_t i = 0; i < n; i++) {
        const char *name = mwl_as_text(mwl_array_at(having, i), NULL);
        term_printf(stderr, "%s%s", i ? ", " : "", name ? name : "...");
    }
    fputs("}\n", stderr);
}

/* Do the details only repeat the message or the place? */
static bool says_nothing_new(mwl_value failure, mwl_value details) {
    const char *reason = text_of(details, "reason"), *message = text_of(failure, "message");
    if (number_of(details, "line")) return true;
    return mwl_count(details) == 1 && reason && message && strcmp(reason, message) == 0;
}

static void print_details(mwl_heap *heap, mwl_value failure, int level) {
    mwl_value details = mwl_get(failure, "details");
    mwl_value having = mwl_get(details, "having");
    mwl_value errors = mwl_get(details, "errors");
    if (mwl_is_absent(details)) return;
    if (mwl_value_kind(having) == MWL_KIND_ARRAY) print_having(having, level);
    if (mwl_value_kind(errors) == MWL_KIND_ARRAY) {
        print_errors(heap, errors, level);
    } else if (!says_nothing_new(failure, details)) {
        indent(level);
        fputs("details ", stderr);
        print_value(heap, details, SHOWN_DETAILS);
        fputc('\n', stderr);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void print_one(const struct explain *e, mwl_value failure, int level) {
    const char *type = text_of(failure, "type"), *code = text_of(failure, "code");
    const char *message = text_of(failure, "message");
    bool colour = level == 1 && term_colour(STDERR_FILENO);
    if (colour) fputs("\033[1;31m", stderr);
    term_printf(stderr, "%s %s", type ? type : "failure", code ? code : "without a code");
    if (colour) fputs("\033[0m", stderr);
    if (message) term_printf(stderr, ": %s", message);
    fputc('\n', stderr);
    struct where w = find_where(e, failure);
    print_where(e, &w, level);
    print_details(e->heap, failure, level);
}

void explain_failure(const struct explain *e) {
    mwl_value failure = e->result;
    fputs("mwlvm: ", stderr);
    for (int level = 1; mwl_value_kind(failure) == MWL_KIND_OBJECT; level++) {
        print_one(e, failure, level);
        failure = mwl_get(failure, "previous");
        if (mwl_value_kind(failure) != MWL_KIND_OBJECT) return;
        indent(level);
        fputs("after ", stderr);
    }
}
