/* diag.h: diagnostics. Collected while a definition is read and checked, sorted, rendered.
 *
 * Owns: the list of codes with their explanations (diag_codes.h), severities and their settings,
 * the three output forms. Refuses to know: JSON trees and what the rules mean; a caller gives a
 * span of a source and a message.
 *
 * A check reports like this:
 *
 *     mwl__diag *d =
 *         mwl__diag_report(sink, MWL_DIAG_UNKNOWN_STEP, src, span, "unknown Step '%s'", name);
 *     mwl__diag_text(d, "no Step of this Flow has this name");
 *     mwl__diag_label(d, other_span, "the Steps of this Flow are here");
 *     mwl__diag_help(d, "did you mean '%s'?", near);
 *
 * A report returns NULL if the diagnostic is not kept (silenced, reported before, above the limit,
 * out of memory). Every function accepts that NULL. Costly help (a search for a similar name)
 * belongs inside `if (d)`. Messages begin in lower case, quote names in ' ', and end without a full
 * stop. */
#ifndef MWL_DIAG_H
#define MWL_DIAG_H

#include "vm/base/mem.h"
#include "assembler/source/source.h"

#include <stdarg.h>

typedef enum mwl__severity { MWL_DIAG_ERROR, MWL_DIAG_WARNING, MWL_DIAG_NOTE } mwl__severity;

/* MWL_DIAG_UNKNOWN_STEP and so on; the value is the number in the code, 301 for MWL0301. */
typedef enum mwl__diag_code {
#define MWL_X(number, ident, name, severity, title, text) MWL_DIAG_##ident = (number),
#include "assembler/source/diag_codes.h"
#undef MWL_X
} mwl__diag_code;

enum {
#define MWL_X(number, ident, name, severity, title, text) MWL__DIAG_IX_##ident,
#include "assembler/source/diag_codes.h"
#undef MWL_X
    MWL__DIAG_COUNT
};

/* A row of the list. */
typedef struct mwl__diag_info {
    mwl__diag_code code;
    const char *name; /* kebab case: what --ignore and --deny take */
    mwl__severity severity;
    const char *title; /* one line */
} mwl__diag_info;

const mwl__diag_info *mwl__diag_rows(size_t *count); /* in the order of their numbers */
const mwl__diag_info *mwl__diag_row(mwl__diag_code code);
/* Finds a row by "MWL0301", "mwl0301", "0301", "301" or "unknown-step". NULL: there is no such row.
 */
const mwl__diag_info *mwl__diag_find(const char *text);

/* ---- texts for people ------------------------------------------------------------------------ */

/* Groups of words of other languages: words in the place of a member, and others. */
typedef enum mwl__words {
    MWL__WORDS_NONE,
    MWL__WORDS_FLOW,
    MWL__WORDS_STEP,
    MWL__WORDS_CALL_STEP,
    MWL__WORDS_GATHER,
    MWL__WORDS_MATCH,
    MWL__WORDS_PASS,
    MWL__WORDS_SLEEP,
    MWL__WORDS_RETURN,
    MWL__WORDS_RAISE,
    MWL__WORDS_CATCH,
    MWL__WORDS_CASE,
    MWL__WORDS_MATCHER,
    MWL__WORDS_COMPLETION,
    MWL__WORDS_RESULT,
    MWL__WORDS_CALL,
    MWL__WORDS_ARM,
    MWL__WORDS_ENTRY,
    MWL__WORDS_ON_ENTRY,
    MWL__WORDS_PHASE,
    MWL__WORDS_ARGUMENTS,
    MWL__WORDS_ACTION,
    MWL__WORDS_MISSING,      /* members that are needed: how they are written */
    MWL__WORDS_KIND,         /* members whose value is of the wrong kind: what they hold */
    MWL__WORDS_COMPUTED,     /* members that take no expression: what to do instead */
    MWL__WORDS_CEL_FUNCTION, /* functions and macros of expressions */
    MWL__WORDS_CEL_NAME,     /* data in expressions: a name is a root, perhaps with members */
    MWL__WORDS_COUNT
} mwl__words;

/* Texts that the library does not contain, because they are large: check_guide.h has them. */
typedef struct mwl__guide {
    const char *const *texts; /* explanations, by the order of mwl__diag_rows */
    const char *const *words; /* by mwl__words; each for mwl__word_find, or NULL */
} mwl__guide;

/* ---- one diagnostic -------------------------------------------------------------------------- */

typedef struct mwl__diag_mark { /* a secondary span with its text, in the same source */
    struct mwl__diag_mark *next;
    mwl__span span;
    const char *text;
} mwl__diag_mark;

typedef struct mwl__diag_line {
    struct mwl__diag_line *next;
    const char *text;
} mwl__diag_line;

/* One piece of an exact repair: the bytes of `span` become `text`. The pieces of a diagnostic
 * belong together: all are applied or none. They do not overlap, and they are in the diagnostic's
 * source.
 */
typedef struct mwl__diag_edit {
    struct mwl__diag_edit *next;
    mwl__span span;
    const char *text; /* NUL-terminated after `len` */
    size_t len;
} mwl__diag_edit;

typedef struct mwl__diag {
    struct mwl__diags *sink;
    const mwl__diag_info *row;
    mwl__severity severity; /* after --deny */
    uint32_t source_ix;     /* sources in the order of their first report */
    uint32_t serial;        /* the order of reports: keeps sorting stable */
    mwl__source *source;
    mwl__span span;
    const char *message;
    const char *text;    /* beside the carets, or NULL */
    const char *pointer; /* RFC 6901, or NULL */
    const char *help;    /* the suggestion, or NULL */
    mwl__diag_mark *labels;
    mwl__diag_line *notes;
    mwl__diag_edit *edits; /* in the order of the source; NULL: no repair is known to be right */
    bool unfixable;        /* pieces of its repair overlapped */
} mwl__diag;

/* ---- limits ---------------------------------------------------------------------------------- */

/* What one assembly may use, and where it works now. It is part of the sink, which every stage has.
 */
typedef struct mwl__quota {
    uint64_t bytes;      /* of one text */
    uint64_t work;       /* units that are left */
    uint64_t given;      /* units at the beginning */
    bool spent;          /* the work was used up, and that was reported */
    mwl__source *source; /* where work was done last; NULL: nowhere yet */
    uint32_t at;
} mwl__quota;

/* ---- the sink -------------------------------------------------------------------------------- */

#define MWL__DIAG_LIMIT                                                                            \
    100 /* errors that are kept, and other diagnostics, unless the caller sets another limit */

/* Sources given to reports must outlive the sink's last rendering. */
typedef struct mwl__diags {
    mwl__arena arena;
    mwl__diag **items; /* sorted by mwl__diag_sort */
    size_t n_items, cap;
    size_t limit;              /* errors that are kept, and as many warnings and notes; 0: no limit
                                */
    size_t n_errors, n_others; /* all that were reported, kept or not kept */
    size_t kept_errors, kept_others;
    size_t n_broken; /* reports of rules that are errors by themselves, not by --deny */
    mwl__source **sources;
    size_t n_sources, source_cap;
    uint32_t serial;
    mwl_status status;       /* MWL_E_NOMEM once something could not be kept */
    const mwl__guide *guide; /* NULL: none */
    mwl__quota quota;
    uint8_t level[MWL__DIAG_COUNT];
} mwl__diags;

void mwl__diags_init(mwl__diags *sink, mwl_alloc alloc);
void mwl__diags_free(mwl__diags *sink);

/* Silence a warning, or make it an error, by name or code; "warnings" means all of them. Of two
 * settings for one warning the later one counts, and a name counts more than "warnings". Return
 * MWL_E_NOT_FOUND if there is no such name, and MWL_E_USAGE if it is an error, which cannot be
 * silenced. */
mwl_status mwl__diags_allow(mwl__diags *sink, const char *name);
mwl_status mwl__diags_deny(mwl__diags *sink, const char *name);

/* Charges units of work for this place. Returns false if they are used up; this is reported once,
 * at the place, and the caller stops with MWL_E_REJECTED. */
bool mwl__diags_work(mwl__diags *sink, mwl__source *source, uint32_t at, uint64_t units);

/* Returns a group of words of other languages, or NULL. */
static inline const char *mwl__diags_words(const mwl__diags *sink, mwl__words which) {
    return sink->guide ? sink->guide->words[which] : NULL;
}

/* Is this code not silenced? If it is, a check can skip costly analysis. */
bool mwl__diags_wants(const mwl__diags *sink, mwl__diag_code code);

/* Would one more report of this code be kept? If not, a check can skip a costly search for a
 * suggestion. */
bool mwl__diags_room(const mwl__diags *sink, mwl__diag_code code);

/* Adds a diagnostic. Returns NULL if it is not kept; an error is counted even then. */
mwl__diag *mwl__diag_report(mwl__diags *sink, mwl__diag_code code, mwl__source *source,
                            mwl__span span, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
mwl__diag *mwl__diag_vreport(mwl__diags *sink, mwl__diag_code code, mwl__source *source,
                             mwl__span span, const char *format, va_list ap)
    __attribute__((format(printf, 5, 0)));

/* Each accepts NULL for d. */
void mwl__diag_text(mwl__diag *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mwl__diag_label(mwl__diag *d, mwl__span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void mwl__diag_note(mwl__diag *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mwl__diag_help(mwl__diag *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mwl__diag_pointer(mwl__diag *d, const char *pointer, size_t len);

/* ---- repairs -------------------------------------------------------------------------------- */

/* Adds a piece to the repair. Use it only if the help says exactly this, and the repair is right in
 * every case. An empty span inserts. If a piece overlaps an earlier one of the diagnostic, the
 * whole repair is dropped. Each accepts NULL for d. */
void mwl__diag_fix(mwl__diag *d, mwl__span span, const char *text, size_t len);
/* The same with the text as JSON writes it inside a string: quotes and controls escaped. */
void mwl__diag_fix_text(mwl__diag *d, mwl__span span, const char *text, size_t len);
/* The same as a whole JSON string, quotes included. */
void mwl__diag_fix_string(mwl__diag *d, mwl__span span, const char *text, size_t len);

/* Returns how many diagnostics of this source have a repair. */
size_t mwl__diags_fixable(const mwl__diags *sink, const mwl__source *source);
/* Appends the text of the source with the repairs of its diagnostics. Of two that overlap, the
 * first in the source is made; another round (read and check the new text) finds the second again.
 * Returns how many were made. If memory runs out, out->failed is set. */
size_t mwl__diags_repair(mwl__diags *sink, const mwl__source *source, mwl__buf *out);

/* Sorts by source, position, code. Rendering does this too. */
void mwl__diags_sort(mwl__diags *sink);

/* ---- rendering ------------------------------------------------------------------------------- */

typedef enum mwl__diag_format { MWL_DIAG_HUMAN, MWL_DIAG_JSON, MWL_DIAG_SARIF } mwl__diag_format;

/* Appends all diagnostics in this form. If memory runs out, out->failed is set. Only the human form
 * uses `colour`. */
void mwl__diags_render(mwl__diags *sink, mwl__diag_format format, bool colour, mwl__buf *out);

/* The three forms, for diag.c (which sorts first). */
void mwl__diags_human(mwl__diags *sink, bool colour, mwl__buf *out);
void mwl__diags_json(mwl__diags *sink, mwl__buf *out);
void mwl__diags_sarif(mwl__diags *sink, mwl__buf *out);

/* Appends the line of the span, underlined as in the human form, for something that is not a
 * diagnostic: a failure of a run, an expression on the command line. words: text beside the carets,
 * or NULL. */
void mwl__diag_snippet(mwl__source *source, mwl__span span, const char *words, bool colour,
                       mwl__buf *out);

static inline const char *mwl__severity_name(mwl__severity s) {
    return s == MWL_DIAG_ERROR ? "error" : s == MWL_DIAG_WARNING ? "warning" : "note";
}

#endif
