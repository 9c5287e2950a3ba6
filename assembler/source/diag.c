/* diag.c: the list of codes, and the sink that collects diagnostics. See diag.h.
 *
 * Everything that is kept is in the sink's arena. Errors and other diagnostics have separate
 * limits, so that many warnings never hide an error. */
#include "assembler/source/diag.h"

#include "mwl_config.h"

#include <stdio.h>
#include <stdlib.h>

/* Bytes of one message that are kept: a definition can hold names of any length. */
#define MESSAGE_MAX 600u

/* ---- the list -------------------------------------------------------------------------------- */

static const mwl__diag_info ROWS[MWL__DIAG_COUNT] = {
#define MWL_X(number, ident, name, severity, title, text)                                          \
    {MWL_DIAG_##ident, name, MWL_DIAG_##severity, title},
#include "assembler/source/diag_codes.h"
#undef MWL_X
};

const mwl__diag_info *mwl__diag_rows(size_t *count) {
    *count = MWL__DIAG_COUNT;
    return ROWS;
}

const mwl__diag_info *mwl__diag_row(mwl__diag_code code) {
    size_t low = 0, high = MWL__DIAG_COUNT; /* the list is in order; a unit test checks that */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (ROWS[mid].code == code) return &ROWS[mid];
        if (ROWS[mid].code < code)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

const mwl__diag_info *mwl__diag_find(const char *text) {
    for (size_t i = 0; i < MWL__DIAG_COUNT; i++)
        if (strcmp(ROWS[i].name, text) == 0) return &ROWS[i];
    if ((text[0] | 0x20) == 'm' && (text[1] | 0x20) == 'w' && (text[2] | 0x20) == 'l') text += 3;
    size_t len = strlen(text);
    if (len < 3 || len > 4 || strspn(text, "0123456789") != len) return NULL;
    return mwl__diag_row((mwl__diag_code)strtol(text, NULL, 10));
}

/* ---- settings -------------------------------------------------------------------------------- */

enum { LEVEL_DEFAULT, LEVEL_ALLOW, LEVEL_DENY };

void mwl__diags_init(mwl__diags *sink, mwl_alloc alloc) {
    memset(sink, 0, sizeof *sink);
    sink->arena = mwl__arena_make(alloc);
    sink->limit = MWL__DIAG_LIMIT;
    sink->quota = (mwl__quota){.bytes = MWL_ASM_BYTES, .work = MWL_ASM_WORK, .given = MWL_ASM_WORK};
}

void mwl__diags_free(mwl__diags *sink) {
    mwl_alloc alloc = sink->arena.alloc;
    mwl__mem_free(&alloc, sink->items, sink->cap * sizeof(mwl__diag *));
    mwl__mem_free(&alloc, sink->sources, sink->source_cap * sizeof(mwl__source *));
    mwl__arena_free(&sink->arena);
    memset(sink, 0, sizeof *sink);
    sink->arena = mwl__arena_make(alloc);
}

static mwl_status set_level(mwl__diags *sink, const char *name, uint8_t level) {
    if (strcmp(name, "warnings") == 0) {
        for (size_t i = 0; i < MWL__DIAG_COUNT; i++)
            if (ROWS[i].severity != MWL_DIAG_ERROR && !(sink->level[i] & 4)) sink->level[i] = level;
        return MWL_OK;
    }
    const mwl__diag_info *row = mwl__diag_find(name);
    if (!row) return MWL_E_NOT_FOUND;
    if (row->severity == MWL_DIAG_ERROR) return level == LEVEL_ALLOW ? MWL_E_USAGE : MWL_OK;
    sink->level[row - ROWS] = (uint8_t)(level | 4); /* 4: set by its own name */
    return MWL_OK;
}

mwl_status mwl__diags_allow(mwl__diags *sink, const char *name) {
    return set_level(sink, name, LEVEL_ALLOW);
}

mwl_status mwl__diags_deny(mwl__diags *sink, const char *name) {
    return set_level(sink, name, LEVEL_DENY);
}

bool mwl__diags_wants(const mwl__diags *sink, mwl__diag_code code) {
    const mwl__diag_info *row = mwl__diag_row(code);
    return row && (sink->level[row - ROWS] & 3) != LEVEL_ALLOW;
}

bool mwl__diags_room(const mwl__diags *sink, mwl__diag_code code) {
    const mwl__diag_info *row = mwl__diag_row(code);
    uint8_t level = sink->level[row - ROWS] & 3;
    bool error = level == LEVEL_DENY || row->severity == MWL_DIAG_ERROR;
    size_t kept = error ? sink->kept_errors : sink->kept_others;
    return level != LEVEL_ALLOW && (!sink->limit || kept < sink->limit);
}

/* ---- collecting ------------------------------------------------------------------------------ */

/* Returns formatted text in the arena, cut at a code point after MESSAGE_MAX bytes, or NULL if out
 * of memory. */
static const char *format_text(mwl__diags *sink, const char *format, va_list ap) {
    char text[MESSAGE_MAX + 4];
    int n = vsnprintf(text, MESSAGE_MAX + 2, format, ap);
    size_t len = n < 0 ? 0 : (size_t)n;
    if (len > MESSAGE_MAX) {
        len = MESSAGE_MAX;
        while (len > 0 && ((unsigned char)text[len] & 0xC0u) == 0x80u) len--;
        memcpy(text + len, "...", 3);
        len += 3;
    }
    const char *copy = mwl__arena_text(&sink->arena, text, len);
    if (!copy) sink->status = MWL_E_NOMEM;
    return copy;
}

static bool source_index(mwl__diags *sink, mwl__source *source, uint32_t *ix) {
    for (size_t i = sink->n_sources; i-- > 0;) {
        if (sink->sources[i] != source) continue;
        *ix = (uint32_t)i;
        return true;
    }
    void *p = sink->sources;
    if (mwl__mem_grow(&sink->arena.alloc, &p, &sink->source_cap, sink->n_sources + 1,
                      sizeof(mwl__source *)) < 0)
        return false;
    sink->sources = p;
    sink->sources[sink->n_sources] = source;
    *ix = (uint32_t)sink->n_sources++;
    return true;
}

/* Was the same diagnostic reported before? Code, place and message are compared. */
static bool said_before(const mwl__diags *sink, const mwl__diag *d) {
    for (size_t i = sink->n_items; i-- > 0;) {
        const mwl__diag *o = sink->items[i];
        if (o->row == d->row && o->source == d->source && o->span.begin == d->span.begin &&
            o->span.end == d->span.end && strcmp(o->message, d->message) == 0)
            return true;
    }
    return false;
}

static void count_up(mwl__diags *sink, bool error, bool kept) {
    if (error) {
        sink->n_errors++;
        sink->kept_errors += kept;
    } else {
        sink->n_others++;
        sink->kept_others += kept;
    }
}

mwl__diag *mwl__diag_vreport(mwl__diags *sink, mwl__diag_code code, mwl__source *source,
                             mwl__span span, const char *format, va_list ap) {
    const mwl__diag_info *row = mwl__diag_row(code);
    uint8_t level = sink->level[row - ROWS] & 3;
    if (level == LEVEL_ALLOW) return NULL;
    mwl__severity severity = level == LEVEL_DENY ? MWL_DIAG_ERROR : row->severity;
    bool error = severity == MWL_DIAG_ERROR;
    if (row->severity == MWL_DIAG_ERROR) sink->n_broken++;
    size_t kept = error ? sink->kept_errors : sink->kept_others;
    if (sink->limit && kept >= sink->limit) {
        count_up(sink, error, false);
        return NULL;
    }
    mwl__diag *d = mwl__arena_new(&sink->arena, sizeof *d);
    const char *message = d ? format_text(sink, format, ap) : NULL;
    void *p = sink->items;
    if (!message || !source_index(sink, source, &d->source_ix) ||
        mwl__mem_grow(&sink->arena.alloc, &p, &sink->cap, sink->n_items + 1, sizeof(mwl__diag *)) <
            0) {
        sink->status = MWL_E_NOMEM;
        count_up(sink, error, false);
        return NULL;
    }
    sink->items = p;
    if (span.end < span.begin) span.end = span.begin;
    d->sink = sink;
    d->row = row;
    d->severity = severity;
    d->source = source;
    d->span = span;
    d->message = message;
    if (said_before(sink, d)) return NULL;
    d->serial = sink->serial++;
    sink->items[sink->n_items++] = d;
    count_up(sink, error, true);
    return d;
}

mwl__diag *mwl__diag_report(mwl__diags *sink, mwl__diag_code code, mwl__source *source,
                            mwl__span span, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    mwl__diag *d = mwl__diag_vreport(sink, code, source, span, format, ap);
    va_end(ap);
    return d;
}

bool mwl__diags_work(mwl__diags *sink, mwl__source *source, uint32_t at, uint64_t units) {
    mwl__quota *q = &sink->quota;
    if (q->spent) return false;
    q->source = source;
    q->at = at;
    if (units <= q->work) {
        q->work -= units;
        return true;
    }
    q->spent = true;
    mwl__diag *d = mwl__diag_report(sink, MWL_DIAG_ASSEMBLY_LIMIT, source, mwl__span_make(at, at),
                                    "the work of the assembler is used up here");
    mwl__diag_note(d, "its limit is %llu units", (unsigned long long)q->given);
    mwl__diag_help(d, "split the definition, or allow more work");
    return false;
}

void mwl__diag_text(mwl__diag *d, const char *format, ...) {
    if (!d) return;
    va_list ap;
    va_start(ap, format);
    d->text = format_text(d->sink, format, ap);
    va_end(ap);
}

void mwl__diag_help(mwl__diag *d, const char *format, ...) {
    if (!d) return;
    va_list ap;
    va_start(ap, format);
    d->help = format_text(d->sink, format, ap);
    va_end(ap);
}

void mwl__diag_label(mwl__diag *d, mwl__span span, const char *format, ...) {
    if (!d) return;
    va_list ap;
    va_start(ap, format);
    const char *text = format_text(d->sink, format, ap);
    va_end(ap);
    mwl__diag_mark *m = text ? mwl__arena_new(&d->sink->arena, sizeof *m) : NULL;
    if (!m) {
        d->sink->status = MWL_E_NOMEM;
        return;
    }
    m->span = span;
    m->text = text;
    mwl__diag_mark **end = &d->labels;
    while (*end) end = &(*end)->next;
    *end = m;
}

void mwl__diag_note(mwl__diag *d, const char *format, ...) {
    if (!d) return;
    va_list ap;
    va_start(ap, format);
    const char *text = format_text(d->sink, format, ap);
    va_end(ap);
    mwl__diag_line *line = text ? mwl__arena_new(&d->sink->arena, sizeof *line) : NULL;
    if (!line) {
        d->sink->status = MWL_E_NOMEM;
        return;
    }
    line->text = text;
    mwl__diag_line **end = &d->notes;
    while (*end) end = &(*end)->next;
    *end = line;
}

void mwl__diag_pointer(mwl__diag *d, const char *pointer, size_t len) {
    if (!d) return;
    d->pointer = mwl__arena_text(&d->sink->arena, pointer, len);
    if (!d->pointer) d->sink->status = MWL_E_NOMEM;
}

/* ---- order ----------------------------------------------------------------------------------- */

#define COMPARE(x, y)                                                                              \
    if ((x) != (y)) return (x) < (y) ? -1 : 1

static int compare(const mwl__diag *a, const mwl__diag *b) {
    COMPARE(a->source_ix, b->source_ix);
    COMPARE(a->span.begin, b->span.begin);
    COMPARE(a->row->code, b->row->code);
    COMPARE(a->serial, b->serial);
    return 0;
}

static void sift_down(mwl__diag **item, size_t at, size_t n) {
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && compare(item[child], item[child + 1]) < 0) child++;
        if (compare(item[at], item[child]) >= 0) return;
        mwl__diag *d = item[at];
        item[at] = item[child];
        item[child] = d;
    }
}

/* A heap sort: in place, because qsort may allocate memory from the C library. */
void mwl__diags_sort(mwl__diags *sink) {
    mwl__diag **item = sink->items;
    for (size_t i = sink->n_items / 2; i-- > 0;) sift_down(item, i, sink->n_items);
    for (size_t n = sink->n_items; n > 1; n--) {
        mwl__diag *d = item[0];
        item[0] = item[n - 1];
        item[n - 1] = d;
        sift_down(item, 0, n - 1);
    }
}

void mwl__diags_render(mwl__diags *sink, mwl__diag_format format, bool colour, mwl__buf *out) {
    mwl__diags_sort(sink);
    switch (format) {
    case MWL_DIAG_HUMAN: mwl__diags_human(sink, colour, out); break;
    case MWL_DIAG_JSON: mwl__diags_json(sink, out); break;
    case MWL_DIAG_SARIF: mwl__diags_sarif(sink, out); break;
    }
}
