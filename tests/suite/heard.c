/* heard.c: see heard.h. */
#include "tests/suite/heard.h"

#include <stdio.h>

static mwl_status add_piece(void *ctx, const char *text, size_t len) {
    mwl__buf_put(ctx, text, len);
    return MWL_OK;
}

static void add_value(struct heard *h, const char *name, mwl_value v) {
    if (mwl_is_absent(v)) return;
    mwl__buf_printf(&h->text, " %s=", name);
    if (mwl_json_write_to(h->heap, v, MWL_JSON_COMPACT, add_piece, &h->text) != MWL_OK)
        mwl__buf_puts(&h->text, "?");
}

void heard_event(struct heard *h, const mwl_trace_event *e) {
    mwl__buf *b = &h->text;
    mwl__buf_printf(b, "%d at %lld/%lld depth %u %u:%u '%s' '%s'", (int)e->kind,
                    (long long)e->at.mono_ns, (long long)e->at.wall_ns, e->depth, e->line,
                    e->column, e->flow, e->step);
    mwl__buf_printf(b, " '%s' '%s' index %lld of %u/%u/%u branch", e->provider, e->phase,
                    (long long)e->index, e->total, e->done, e->active);
    for (uint32_t i = 0; i < e->n_branch; i++) mwl__buf_printf(b, " %u", e->branch[i]);
    mwl__buf_printf(b, " entry %d '%s' %s %llu until %lld bound %lld%s", (int)e->entry, e->position,
                    e->counts, (unsigned long long)e->runs, (long long)e->until_ns,
                    (long long)e->bound_ns, e->failed ? " failed" : "");
    add_value(h, "value", e->value);
    add_value(h, "input", e->input);
    add_value(h, "vars", e->vars);
    mwl__buf_putc(b, '\n');
}

bool heard_same(struct heard *want, struct heard *have, char *why, size_t size) {
    const char *a = mwl__buf_cstr(&want->text), *b = mwl__buf_cstr(&have->text);
    unsigned line = 1;
    if (want->text.failed || have->text.failed) {
        snprintf(why, size, "out of memory");
        return false;
    }
    for (; *a == *b && *a; a++, b++)
        if (*a == '\n') line++;
    if (*a == *b) return true;
    while (a > want->text.data && a[-1] != '\n') a--, b--;
    snprintf(why, size, "event %u: expected\n%.*s\ngot\n%.*s", line, (int)strcspn(a, "\n"), a,
             (int)strcspn(b, "\n"), b);
    return false;
}
