/* diag_render.c: diagnostics for people: the source line, the span underlined, text beside it.
 *
 *     error[MWL0301]: unknown Step 'proces-items'
 *       --> flow.json:14:17
 *        |
 *     14 |         "next": "proces-items"
 *        |                 ^^^^^^^^^^^^^^ no Step of this Flow has this name
 *        |
 *        = help: did you mean 'process-items'?
 *        = more: mwlvm explain MWL0301
 *
 * Columns on the screen are not columns of the source: tabs are expanded, wide characters take two
 * places, control characters are shown as pictures. A line that is too wide (a minified definition
 * is one line) is cut around each span; nothing here takes time in proportion to the length of a
 * line. */
#include "assembler/source/diag.h"

#include "vm/base/columns.h"
#include "vm/base/utf8.h"

#include <stdio.h>

#define TAB_WIDTH 4u
#define LINE_WIDTH 100u /* columns of source that are shown */
#define LEAD_WIDTH 36u  /* of these before the span, when the line is cut */

typedef struct painter {
    mwl__buf *out;
    bool colour;
    unsigned gutter; /* digits of the largest line number in this diagnostic */
} painter;

/* A span of one diagnostic, and where it is shown. */
typedef struct mark {
    mwl__span span;
    const char *text;
    mwl__place place;
    bool primary;
} mark;

#define MARKS_MAX 16u /* more spans than anyone would read */

static void paint(painter *p, const char *style) {
    if (p->colour) mwl__buf_printf(p->out, "\033[%sm", style);
}

#define STYLE_OFF "0"
#define STYLE_BOLD "1"
#define STYLE_GUTTER "1;34"

static const char *severity_style(mwl__severity s) {
    return s == MWL_DIAG_ERROR ? "1;31" : s == MWL_DIAG_WARNING ? "1;33" : "1;32";
}

/* ---- characters ------------------------------------------------------------------------------ */

/* Reads the character at `at` as it is shown: its code point, its bytes in the source and its
 * columns. */
static void read_glyph(const mwl__source *src, uint32_t at, uint32_t *c, uint32_t *bytes,
                       unsigned *columns) {
    size_t n = mwl__utf8_decode(src->text + at, src->len - at, c);
    *bytes = n ? (uint32_t)n : 1;
    if (n == 0) *c = 0xFFFD;
    if (*c == '\t') {
        *columns = TAB_WIDTH;
        return;
    }
    if (*c < 0x20) *c += 0x2400; /* control pictures */
    if (*c == 0x7F) *c = 0x2421;
    if ((*c >= 0x80 && *c < 0xA0) || (*c >= 0x202A && *c <= 0x202E) ||
        (*c >= 0x2066 && *c <= 0x2069) || *c == 0x2028 || *c == 0x2029)
        *c = 0xFFFD; /* would move or reorder what follows it on the screen */
    *columns = *c < 0x7F || (*c >= 0x2400 && *c < 0x2440) || *c == 0xFFFD ? 1 : mwl__columns(*c);
}

static void put_glyph(mwl__buf *out, uint32_t c) {
    char utf8[4];
    if (c == '\t')
        mwl__buf_put(out, "    ", TAB_WIDTH);
    else
        mwl__buf_put(out, utf8, mwl__utf8_encode(c, utf8));
}

/* Writes a message, which may quote a definition: as one line, without characters that control the
 * terminal. */
static void put_words(painter *p, const char *text) {
    mwl__source words;
    if (mwl__source_init(&words, p->out->alloc, "", text, strlen(text)) < 0) return;
    for (uint32_t at = 0, bytes; at < words.len; at += bytes) {
        uint32_t c;
        unsigned columns;
        read_glyph(&words, at, &c, &bytes, &columns);
        put_glyph(p->out, c);
    }
}

/* Counts the columns of [from, to), up to `most`. *stopped is where the count ended. */
static unsigned measure(const mwl__source *src, uint32_t from, uint32_t to, unsigned most,
                        uint32_t *stopped) {
    unsigned total = 0;
    while (from < to) {
        uint32_t c, bytes;
        unsigned columns;
        read_glyph(src, from, &c, &bytes, &columns);
        if (total + columns > most) break;
        total += columns;
        from += bytes;
    }
    if (stopped) *stopped = from;
    return total;
}

/* ---- a line of source ------------------------------------------------------------------------ */

/* The part of a line that is shown, and whether something is left off at either side. */
typedef struct excerpt {
    uint32_t begin, end;
    bool cut_before, cut_after;
} excerpt;

static excerpt choose_excerpt(const mwl__source *src, mwl__span line, mwl__span span) {
    excerpt e = {line.begin, line.end, false, false};
    uint32_t stopped;
    measure(src, line.begin, line.end, LINE_WIDTH, &stopped);
    if (stopped >= line.end) return e; /* all of it fits */
    unsigned lead = 0;
    uint32_t at = span.begin < line.end ? span.begin : line.end;
    while (at > line.begin && lead < LEAD_WIDTH) {
        do at--;
        while (at > line.begin && ((unsigned char)src->text[at] & 0xC0u) == 0x80u);
        uint32_t c, bytes;
        unsigned columns;
        read_glyph(src, at, &c, &bytes, &columns);
        lead += columns + (columns == 0);
    }
    e.begin = at;
    e.cut_before = at > line.begin;
    measure(src, at, line.end, LINE_WIDTH, &e.end);
    e.cut_after = e.end < line.end;
    return e;
}

static void put_gutter(painter *p, uint32_t line) {
    paint(p, STYLE_GUTTER);
    if (line)
        mwl__buf_printf(p->out, "%*u |", (int)p->gutter, line);
    else
        mwl__buf_printf(p->out, "%*s |", (int)p->gutter, "");
    paint(p, STYLE_OFF);
}

static void put_blank_gutter(painter *p) {
    put_gutter(p, 0);
    mwl__buf_putc(p->out, '\n');
}

static void put_excerpt(painter *p, const mwl__source *src, uint32_t line, excerpt e) {
    put_gutter(p, line);
    if (e.begin < e.end || e.cut_before || e.cut_after) mwl__buf_putc(p->out, ' ');
    if (e.cut_before) mwl__buf_puts(p->out, "...");
    for (uint32_t at = e.begin, bytes; at < e.end; at += bytes) {
        uint32_t c;
        unsigned columns;
        read_glyph(src, at, &c, &bytes, &columns);
        put_glyph(p->out, c);
    }
    if (e.cut_after) mwl__buf_puts(p->out, "...");
    mwl__buf_putc(p->out, '\n');
}

static void put_underline(painter *p, const mwl__source *src, const mark *m, excerpt e,
                          const char *style) {
    uint32_t begin = m->span.begin < e.end ? m->span.begin : e.end;
    uint32_t end = m->span.end < e.end ? m->span.end : e.end;
    unsigned before = measure(src, e.begin, begin, ~0u, NULL) + (e.cut_before ? 3 : 0);
    unsigned width = begin < end ? measure(src, begin, end, ~0u, NULL) : 0;
    put_gutter(p, 0);
    mwl__buf_printf(p->out, " %*s", (int)before, "");
    paint(p, m->primary ? style : STYLE_GUTTER);
    for (unsigned i = 0; i < (width ? width : 1); i++)
        mwl__buf_putc(p->out, m->primary ? '^' : '-');
    if (m->text) {
        mwl__buf_putc(p->out, ' ');
        put_words(p, m->text);
    }
    paint(p, STYLE_OFF);
    mwl__buf_putc(p->out, '\n');
}

/* ---- one diagnostic -------------------------------------------------------------------------- */

static size_t collect_marks(const mwl__diag *d, mark marks[MARKS_MAX]) {
    size_t n = 0;
    mark primary = {d->span, d->text, mwl__source_place(d->source, d->span.begin), true};
    marks[n++] = primary;
    for (const mwl__diag_mark *l = d->labels; l && n < MARKS_MAX; l = l->next) {
        mark m = {l->span, l->text, mwl__source_place(d->source, l->span.begin), false};
        size_t i = n++;
        for (; i > 0 && marks[i - 1].span.begin > m.span.begin; i--) marks[i] = marks[i - 1];
        marks[i] = m;
    }
    return n;
}

static void put_snippet(painter *p, mwl__source *src, const char *style, const mark *marks,
                        size_t n) {
    uint32_t last_line = 0;
    excerpt shown = {0, 0, false, false};
    for (size_t i = 0; i < n; i++) {
        const mark *m = &marks[i];
        excerpt e = choose_excerpt(src, mwl__source_line(src, m->span.begin), m->span);
        bool again = m->place.line == last_line && e.begin == shown.begin;
        if (!again) {
            if (last_line && m->place.line > last_line + 1) mwl__buf_puts(p->out, "...\n");
            put_excerpt(p, src, m->place.line, e);
        }
        put_underline(p, src, m, e, style);
        last_line = m->place.line;
        shown = e;
    }
}

static void put_remark(painter *p, const char *kind, const char *text) {
    paint(p, STYLE_GUTTER);
    mwl__buf_printf(p->out, "%*s = ", (int)p->gutter, "");
    paint(p, STYLE_OFF);
    paint(p, STYLE_BOLD);
    mwl__buf_puts(p->out, kind);
    paint(p, STYLE_OFF);
    mwl__buf_puts(p->out, ": ");
    put_words(p, text);
    mwl__buf_putc(p->out, '\n');
}

/* Writes where there is more to read, and how to silence a warning. */
static void put_more(painter *p, const mwl__diag *d) {
    char text[128];
    int n = snprintf(text, sizeof text, "mwlvm explain MWL%04d", (int)d->row->code);
    if (d->severity != d->row->severity)
        snprintf(text + n, sizeof text - (size_t)n, " (an error because of --deny %s)",
                 d->row->name);
    else if (d->row->severity == MWL_DIAG_WARNING)
        snprintf(text + n, sizeof text - (size_t)n, " (--ignore %s silences it)", d->row->name);
    put_remark(p, "more", text);
}

static unsigned digits(uint32_t n) {
    unsigned count = 1;
    while (n >= 10) {
        n /= 10;
        count++;
    }
    return count;
}

void mwl__diag_snippet(mwl__source *source, mwl__span span, const char *words, bool colour,
                       mwl__buf *out) {
    mark m = {span, words, mwl__source_place(source, span.begin), true};
    painter p = {out, colour, digits(m.place.line)};
    put_snippet(&p, source, severity_style(MWL_DIAG_ERROR), &m, 1);
}

static void put_diag(painter *p, const mwl__diag *d) {
    mark marks[MARKS_MAX];
    size_t n = collect_marks(d, marks);
    p->gutter = digits(marks[n - 1].place.line); /* they are in order */
    mwl__place at = mwl__source_place(d->source, d->span.begin);

    paint(p, severity_style(d->severity));
    mwl__buf_printf(p->out, "%s[MWL%04d]", mwl__severity_name(d->severity), (int)d->row->code);
    paint(p, STYLE_OFF);
    paint(p, STYLE_BOLD);
    mwl__buf_puts(p->out, ": ");
    put_words(p, d->message);
    paint(p, STYLE_OFF);
    mwl__buf_putc(p->out, '\n');

    paint(p, STYLE_GUTTER);
    mwl__buf_printf(p->out, "%*s--> ", (int)p->gutter, "");
    paint(p, STYLE_OFF);
    put_words(p, d->source->name);
    mwl__buf_printf(p->out, ":%u:%u\n", at.line, at.column);

    put_blank_gutter(p);
    put_snippet(p, d->source, severity_style(d->severity), marks, n);
    put_blank_gutter(p);
    for (const mwl__diag_line *l = d->notes; l; l = l->next) put_remark(p, "note", l->text);
    if (d->help) put_remark(p, "help", d->help);
    put_more(p, d);
    mwl__buf_putc(p->out, '\n');
}

static void put_count(mwl__buf *out, size_t n, const char *word) {
    mwl__buf_printf(out, "%zu %s%s", n, word, n == 1 ? "" : "s");
}

void mwl__diags_human(mwl__diags *sink, bool colour, mwl__buf *out) {
    painter p = {out, colour, 1};
    for (size_t i = 0; i < sink->n_items; i++) put_diag(&p, sink->items[i]);
    size_t all = sink->n_errors + sink->n_others;
    if (all > sink->n_items) mwl__buf_printf(out, "... and %zu more\n", all - sink->n_items);
    if (all == 0) return;
    if (sink->n_errors) put_count(out, sink->n_errors, "error");
    if (sink->n_errors && sink->n_others) mwl__buf_puts(out, ", ");
    if (sink->n_others) put_count(out, sink->n_others, "warning");
    mwl__buf_putc(out, '\n');
}
