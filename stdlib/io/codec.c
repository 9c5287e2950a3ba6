/* codec.c: see codec.h. CSV is in csv.c. */
#include "stdlib/io/codec.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- bytes ----------------------------------------------------------------------------------- */

bool mwl__payer_open(mwl__payer *p, mwl_call *call) {
    *p = (mwl__payer){.purse = mwl_call_purse(call), .call = call};
    return p->purse != NULL;
}

void mwl__payer_close(mwl__payer *p) {
    mwl_purse_release(p->purse);
    *p = (mwl__payer){0};
}

/* Returns false if the run has no fuel left, or a bound around it has elapsed. */
static bool pay(mwl__payer *p, size_t n) {
    enum { PER_UNIT = 8, OFTEN = 64 };
    if (!p || (!p->call && !p->phase)) return true;
    p->unpaid += n;
    if (p->unpaid < OFTEN) return true;
    n = p->unpaid / PER_UNIT;
    p->unpaid %= PER_UNIT;
    return (p->call ? mwl_call_charge(p->call, n) : mwl_phase_charge(p->phase, n)) == MWL_OK;
}

static char *resize(mwl__bytes *b, size_t cap) {
    mwl__payer *p = b->payer;
    if (p && p->heap) return mwl_heap_resize(p->heap, b->data, b->cap, cap);
    if (p && p->purse && cap > b->cap && !mwl_purse_take(p->purse, cap - b->cap)) return NULL;
    char *out = cap ? realloc(b->data, cap) : NULL;
    if (!cap) free(b->data);
    if (p && p->purse && (out ? cap < b->cap : !cap)) mwl_purse_give(p->purse, b->cap - cap);
    if (p && p->purse && !out && cap > b->cap) mwl_purse_give(p->purse, cap - b->cap);
    return out;
}

bool mwl__bytes_room(mwl__bytes *b, size_t n) {
    if (n >= SIZE_MAX / 4 || b->len >= SIZE_MAX / 4) return false;
    if (b->cap > b->len + n) return true;
    size_t cap = b->cap ? b->cap : 256;
    while (cap <= b->len + n) cap *= 2;
    char *grown = resize(b, cap);
    if (!grown) { /* nearly all of the run's memory */
        cap = b->len + n + 1 + b->cap / 16;
        grown = resize(b, cap);
    }
    if (!grown) return false;
    b->data = grown;
    b->cap = cap;
    return true;
}

bool mwl__bytes_add(mwl__bytes *b, const void *data, size_t len) {
    if (!mwl__bytes_room(b, len) || !pay(b->payer, len)) return false;
    if (len) memcpy(b->data + b->len, data, len);
    b->len += len;
    b->data[b->len] = '\0';
    return true;
}

void mwl__bytes_free(mwl__bytes *b) {
    if (b->data) resize(b, 0);
    *b = (mwl__bytes){.payer = b->payer};
}

mwl_status mwl__bytes_sink(void *ctx, const char *text, size_t len) {
    return mwl__bytes_add(ctx, text, len) ? MWL_OK : MWL_E_NOMEM;
}

/* ---- base64 ---------------------------------------------------------------------------------- */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool mwl__bytes_base64(mwl__bytes *b, const void *data, size_t len) {
    const unsigned char *p = data;
    if (len >= SIZE_MAX / 4 || !mwl__bytes_room(b, len / 3 * 4 + 4)) return false;
    if (!pay(b->payer, len)) return false;
    char *out = b->data + b->len;
    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        unsigned v = (unsigned)p[i] << 16;
        if (n > 1) v |= (unsigned)p[i + 1] << 8;
        if (n > 2) v |= p[i + 2];
        *out++ = letters[v >> 18];
        *out++ = letters[v >> 12 & 63];
        *out++ = n > 1 ? letters[v >> 6 & 63] : '=';
        *out++ = n > 2 ? letters[v & 63] : '=';
    }
    b->len = (size_t)(out - b->data);
    return true;
}

static int digit_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

mwl_status mwl__base64_decode(mwl__bytes *b, const char *text, size_t len) {
    unsigned v = 0;
    int bits = 0;
    size_t end = len, before = b->len;
    if (len % 4 == 0 && len && text[len - 1] == '=') end -= text[len - 2] == '=' ? 2 : 1;
    if (end % 4 == 1) return MWL_E_SYNTAX;
    if (!mwl__bytes_room(b, end / 4 * 3 + 3) || !pay(b->payer, len)) return MWL_E_NOMEM;
    for (size_t i = 0; i < end; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0) {
            b->len = before;
            return MWL_E_SYNTAX;
        }
        v = v << 6 | (unsigned)digit;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        b->data[b->len++] = (char)(v >> bits);
        v &= (1u << bits) - 1;
    }
    return MWL_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

mwl__form mwl__form_named(const char *name, mwl__form otherwise) {
    static const char *const names[] = {"json", "text", "lines", "base64", "ndjson", "csv", "none"};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return (mwl__form)i;
    return otherwise;
}

static mwl_value decode_text(mwl_heap *heap, const char *data, size_t len, char why[MWL__WHY]) {
    mwl_value v = mwl_string(heap, data, len);
    if (mwl_is_absent(v) && mwl_heap_why(heap) == MWL_E_UTF8)
        snprintf(why, MWL__WHY, "the text is not UTF-8");
    return v;
}

static mwl_value decode_json(mwl_heap *heap, const char *data, size_t len, char why[MWL__WHY]) {
    mwl_value v = mwl_absent();
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_status status = mwl_json_parse(heap, data, len, &v, &error);
    if (status != MWL_OK && status != MWL_E_NOMEM)
        snprintf(why, MWL__WHY, "not JSON at byte %zu: %s", error.offset,
                 error.message ? error.message : mwl_status_text(status));
    return v;
}

static mwl_value decode_base64(mwl_heap *heap, const char *data, size_t len) {
    mwl__payer payer = {.heap = heap};
    mwl__bytes text = {.payer = &payer};
    mwl_value v = mwl_absent();
    if (mwl__bytes_base64(&text, data, len)) v = mwl_string(heap, text.data, text.len);
    mwl__bytes_free(&text);
    return v;
}

static bool is_blank(const char *line, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (line[i] != ' ' && line[i] != '\t') return false;
    return true;
}

/* Lines end with LF or CR LF; the last one may have no end. Blank lines of NDJSON are left out. */
static mwl_value decode_lines(mwl_heap *heap, bool json, const char *data, size_t len,
                              char why[MWL__WHY]) {
    mwl_value all = mwl_array(heap, 0);
    size_t number = 0;
    for (size_t at = 0; at < len && !mwl_is_absent(all);) {
        const char *end = memchr(data + at, '\n', len - at);
        size_t n = end ? (size_t)(end - data) - at : len - at, next = at + n + 1;
        if (n && data[at + n - 1] == '\r') n--;
        number++;
        char inner[MWL__WHY] = "";
        if (!json || !is_blank(data + at, n)) {
            mwl_value v = json ? decode_json(heap, data + at, n, inner)
                               : decode_text(heap, data + at, n, inner);
            if (*inner) snprintf(why, MWL__WHY, "line %zu: %.150s", number, inner);
            all = mwl_array_push(heap, all, v);
        }
        at = next;
    }
    return all;
}

mwl_value mwl__decode(mwl_heap *heap, mwl__form form, const char *data, size_t len,
                      const mwl__csv *csv, char why[MWL__WHY]) {
    why[0] = '\0';
    if (!data) data = "";
    switch (form) {
    case MWL__FORM_JSON: return decode_json(heap, data, len, why);
    case MWL__FORM_TEXT: return decode_text(heap, data, len, why);
    case MWL__FORM_BASE64: return decode_base64(heap, data, len);
    case MWL__FORM_LINES: return decode_lines(heap, false, data, len, why);
    case MWL__FORM_NDJSON: return decode_lines(heap, true, data, len, why);
    case MWL__FORM_CSV: return mwl__csv_decode(heap, data, len, csv, why);
    case MWL__FORM_NONE: return mwl_null();
    }
    return mwl_null();
}

/* ---- writing --------------------------------------------------------------------------------- */

mwl_status mwl__encode_plain(mwl_heap *heap, mwl_value v, mwl__bytes *out) {
    size_t len;
    if (mwl_value_kind(v) != MWL_KIND_STRING)
        return mwl_json_write_to(heap, v, MWL_JSON_COMPACT, mwl__bytes_sink, out);
    const char *text = mwl_as_text(v, &len);
    return mwl__bytes_add(out, text, len) ? MWL_OK : MWL_E_NOMEM;
}

static mwl_status needs(char why[MWL__WHY], const char *what) {
    snprintf(why, MWL__WHY, "the value is not %s", what);
    return MWL_E_NOT_JSON;
}

static mwl_status encode_lines(mwl_heap *heap, bool json, mwl_value v, mwl__bytes *out,
                               char why[MWL__WHY]) {
    bool many = mwl_value_kind(v) == MWL_KIND_ARRAY;
    if (!many && !json) return needs(why, "an array of texts");
    mwl_status status = MWL_OK;
    for (size_t i = 0; i < (many ? mwl_count(v) : 1) && status == MWL_OK; i++) {
        mwl_value item = many ? mwl_array_at(v, i) : v;
        size_t len = 0;
        const char *text = mwl_value_kind(item) == MWL_KIND_STRING ? mwl_as_text(item, &len) : NULL;
        if (json)
            status = mwl_json_write_to(heap, item, MWL_JSON_COMPACT, mwl__bytes_sink, out);
        else if (!text || memchr(text, '\n', len))
            return needs(why, "an array of texts without line breaks");
        else if (!mwl__bytes_add(out, text, len))
            status = MWL_E_NOMEM;
        if (status == MWL_OK && !mwl__bytes_add(out, "\n", 1)) status = MWL_E_NOMEM;
    }
    return status;
}

mwl_status mwl__encode(mwl_heap *heap, mwl__form form, mwl_value v, const mwl__csv *csv,
                       mwl__bytes *out, char why[MWL__WHY]) {
    size_t len = 0;
    const char *text = mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, &len) : NULL;
    mwl_status status = MWL_OK;
    why[0] = '\0';
    switch (form) {
    case MWL__FORM_JSON:
        status = mwl_json_write_to(heap, v, MWL_JSON_PRETTY, mwl__bytes_sink, out);
        return status == MWL_OK && !mwl__bytes_add(out, "\n", 1) ? MWL_E_NOMEM : status;
    case MWL__FORM_TEXT:
        if (!text) return needs(why, "a text");
        return mwl__bytes_add(out, text, len) ? MWL_OK : MWL_E_NOMEM;
    case MWL__FORM_BASE64:
        status = text ? mwl__base64_decode(out, text, len) : MWL_E_SYNTAX;
        return status == MWL_E_SYNTAX ? needs(why, "a base64 text") : status;
    case MWL__FORM_LINES: return encode_lines(heap, false, v, out, why);
    case MWL__FORM_NDJSON: return encode_lines(heap, true, v, out, why);
    case MWL__FORM_CSV: return mwl__csv_encode(heap, v, csv, out, why);
    case MWL__FORM_NONE: break;
    }
    return status;
}
