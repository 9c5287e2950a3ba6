/* diag_fix.c: exact repairs: collects their pieces, and makes the repaired text. See diag.h. */
#include "assembler/source/diag.h"
#include "vm/value/value.h"

#include "vm/base/utf8.h"

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Do two pieces overlap? They do if they share bytes, or if both insert at one place. */
static bool overlap(mwl__span a, mwl__span b) {
    if (a.begin == b.begin) return true;
    return a.begin < b.end && b.begin < a.end;
}

void mwl__diag_fix(mwl__diag *d, mwl__span span, const char *text, size_t len) {
    if (!d || d->unfixable) return;
    mwl__diag_edit *e = mwl__arena_new(&d->sink->arena, sizeof *e);
    const char *copy = e ? mwl__arena_text(&d->sink->arena, text, len) : NULL;
    mwl__diag_edit **at = &d->edits;
    while (*at && (*at)->span.begin < span.begin && !overlap((*at)->span, span)) at = &(*at)->next;
    bool clash = *at && overlap((*at)->span, span);
    if (!copy) d->sink->status = MWL_E_NOMEM;
    if (!copy || clash || span.end < span.begin || span.end > d->source->len) {
        d->edits = NULL;
        d->unfixable = true;
        return;
    }
    e->span = span;
    e->text = copy;
    e->len = len;
    e->next = *at;
    *at = e;
}

static void fix_escaped(mwl__diag *d, mwl__span span, const char *text, size_t len,
                        const char *quote) {
    if (!d) return;
    mwl__buf b = mwl__buf_make(d->sink->arena.alloc);
    mwl__buf_puts(&b, quote);
    mwl__json_escape(&b, text, len);
    mwl__buf_puts(&b, quote);
    if (b.failed)
        d->sink->status = MWL_E_NOMEM;
    else
        mwl__diag_fix(d, span, b.data ? b.data : "", b.len);
    mwl__buf_free(&b);
}

void mwl__diag_fix_text(mwl__diag *d, mwl__span span, const char *text, size_t len) {
    fix_escaped(d, span, text, len, "");
}

void mwl__diag_fix_string(mwl__diag *d, mwl__span span, const char *text, size_t len) {
    fix_escaped(d, span, text, len, "\"");
}

/* ---- making them ----------------------------------------------------------------------------- */

size_t mwl__diags_fixable(const mwl__diags *sink, const mwl__source *source) {
    size_t n = 0;
    for (size_t i = 0; i < sink->n_items; i++)
        n += sink->items[i]->source == source && sink->items[i]->edits;
    return n;
}

/* The pieces that will be made, in the order of the source. They are copies, so that `next` can
 * link them. */
typedef struct plan {
    mwl__arena arena;
    mwl__diag_edit *first;
} plan;

/* Does no piece of the repair overlap one that is planned? */
static bool fits(const plan *p, const mwl__diag_edit *e) {
    for (const mwl__diag_edit *o = p->first; e; e = e->next) {
        while (o && o->span.begin < e->span.begin && !overlap(o->span, e->span)) o = o->next;
        if (o && overlap(o->span, e->span)) return false;
    }
    return true;
}

static bool enter(plan *p, const mwl__diag_edit *e) {
    mwl__diag_edit **at = &p->first;
    for (; e; e = e->next) {
        mwl__diag_edit *copy = mwl__arena_new(&p->arena, sizeof *copy);
        if (!copy) return false;
        *copy = *e;
        while (*at && (*at)->span.begin < e->span.begin) at = &(*at)->next;
        copy->next = *at;
        *at = copy;
    }
    return true;
}

size_t mwl__diags_repair(mwl__diags *sink, const mwl__source *source, mwl__buf *out) {
    plan p = {mwl__arena_make(out->alloc), NULL};
    size_t made = 0;
    uint32_t at = 0;
    mwl__diags_sort(sink);
    for (size_t i = 0; i < sink->n_items; i++) {
        const mwl__diag *d = sink->items[i];
        if (d->source != source || !d->edits || !fits(&p, d->edits)) continue;
        if (!enter(&p, d->edits)) out->failed = true;
        made++;
    }
    for (const mwl__diag_edit *e = p.first; e; e = e->next) {
        mwl__buf_put(out, source->text + at, e->span.begin - at);
        mwl__buf_put(out, e->text, e->len);
        at = e->span.end;
    }
    mwl__buf_put(out, source->text + at, source->len - at);
    mwl__arena_free(&p.arena);
    return made;
}
