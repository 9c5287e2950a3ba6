/* json_out.c: see json_out.h. */
#include "tools/base/json_out.h"

#include "tools/base/redact.h"
#include "tools/base/term.h"
#include "vm/base/utf8.h"
#include "vm/value/value.h"

#include <stdlib.h>
#include <string.h>

/* The state between two pieces. */
struct stream {
    const struct json_out *how;
    size_t left;  /* of `most` */
    char held[4]; /* the beginning of a character that the next piece ends */
    size_t n_held;
};

#define STOP MWL_E_CANCELLED /* from the sink: enough is written */

static void put(const struct stream *s, const char *text, size_t len) {
    if (s->how->escape)
        term_lines(s->how->to, text, len);
    else
        fwrite(text, 1, len, s->how->to);
}

/* Bytes at the end of the text that begin a character without ending it; the text is UTF-8. */
static size_t open_tail(const char *text, size_t len) {
    size_t back = 0;
    while (back < len && back < 3 && ((unsigned char)text[len - 1 - back] & 0xC0u) == 0x80u) back++;
    if (back == len) return 0;
    unsigned char lead = (unsigned char)text[len - 1 - back];
    return lead >= 0xC0u && mwl__utf8_width(lead) > back + 1 ? back + 1 : 0;
}

/* Writes the text up to `most` bytes. Returns false if it was cut. */
static bool bound(struct stream *s, const char *text, size_t *len) {
    bool whole = *len <= s->left;
    if (!whole) {
        *len = s->left;
        *len -= open_tail(text, *len);
    }
    s->left -= *len;
    return whole;
}

static mwl_status take(void *ctx, const char *text, size_t len) {
    struct stream *s = ctx;
    while (s->n_held && len) { /* one byte at a time: there are three at most */
        s->held[s->n_held++] = *text++;
        len--;
        if (s->n_held < mwl__utf8_width((unsigned char)s->held[0])) continue;
        size_t n = s->n_held;
        bool whole = bound(s, s->held, &n);
        put(s, s->held, n);
        s->n_held = 0;
        if (!whole) return STOP;
    }
    size_t tail = open_tail(text, len), shown = len - tail;
    bool whole = bound(s, text, &shown);
    put(s, text, shown);
    if (!whole) return STOP;
    memcpy(s->held, text + len - tail, tail);
    s->n_held = tail;
    return ferror(s->how->to) ? STOP : MWL_OK;
}

static mwl_status write_value(const struct json_out *how, mwl_heap *heap, mwl_value v,
                              bool redact) {
    struct stream s = {how, how->most ? how->most : SIZE_MAX, {0}, 0};
    mwl_status status = redact ? redact_json(heap, v, how->style, take, &s)
                               : mwl_json_write_to(heap, v, how->style, take, &s);
    if (status == STOP && !ferror(how->to)) fputs(" ...", how->to);
    return status == STOP ? MWL_OK : status;
}

mwl_status json_out(const struct json_out *how, mwl_heap *heap, mwl_value v) {
    return write_value(how, heap, v, true);
}

mwl_status json_out_value(const struct json_out *how, mwl_heap *heap, mwl_value v) {
    return write_value(how, heap, v, false);
}

bool json_out_fits(mwl_heap *heap, mwl_value v, mwl_json_style style, size_t most) {
    return mwl_json_write_within(heap, v, style, most, NULL, NULL, NULL) != MWL_E_TOO_BIG;
}

/* ---- inside a larger JSON text --------------------------------------------------------------- */

/* Inside quotation marks. */
static void put_string_part(FILE *to, const char *text, size_t len) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__json_escape(&out, text, len);
    if (out.len) fwrite(out.data, 1, out.len, to);
    mwl__buf_free(&out);
}

void json_out_text(FILE *to, const char *text) {
    fputc('"', to);
    put_string_part(to, text, strlen(text));
    fputc('"', to);
}

struct held {
    char *text;
    size_t len, most;
};

static mwl_status hold(void *ctx, const char *text, size_t len) {
    struct held *h = ctx;
    size_t room = h->most - h->len, n = len < room ? len : room;
    char *grown = realloc(h->text, h->len + n + 1);
    if (!grown) return MWL_E_NOMEM;
    h->text = grown;
    memcpy(h->text + h->len, text, n);
    h->len += n;
    return n < len ? STOP : MWL_OK;
}

bool json_out_within(FILE *to, mwl_heap *heap, mwl_value v, size_t most) {
    enum { SHOWN = 200 };
    struct held h = {NULL, 0, most};
    mwl_status status = redact_json(heap, v, MWL_JSON_COMPACT, hold, &h);
    if (status == MWL_OK) {
        fwrite(h.text, 1, h.len, to);
    } else if (status == STOP) {
        size_t shown = h.len < SHOWN ? h.len : SHOWN;
        fputc('"', to);
        put_string_part(to, h.text, shown - open_tail(h.text, shown));
        fprintf(to, " ... (more than %zu bytes)\"", most);
    } else {
        fprintf(to, "{\"$type\":\"%s\"}", mwl_value_type(v));
    }
    free(h.text);
    return status == MWL_OK;
}
