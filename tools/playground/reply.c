/* reply.c: see reply.h. */
#include "tools/playground/reply.h"

#include "assembler/source/diag.h"
#include "vm/value/value.h"

#include <inttypes.h>
#include <string.h>

void reply_text(mwl__buf *out, const char *text, size_t len) {
    if (!text) {
        mwl__buf_puts(out, "null");
        return;
    }
    mwl__buf_putc(out, '"');
    mwl__json_escape(out, text, len);
    mwl__buf_putc(out, '"');
}

void reply_name(mwl__buf *out, const char *name) {
    bool first = !out->len || out->data[out->len - 1] == '{';
    mwl__buf_printf(out, "%s\"%s\":", first ? "" : ",", name);
}

void reply_member(mwl__buf *out, const char *name, const char *text) {
    reply_name(out, name);
    reply_text(out, text, text ? strlen(text) : 0);
}

struct piece {
    mwl__buf *out;
    size_t begin, most;
};

static mwl_status put(void *ctx, const char *text, size_t len) {
    struct piece *p = ctx;
    mwl__buf_put(p->out, text, len);
    if (p->out->failed) return MWL_E_NOMEM;
    return p->most && p->out->len - p->begin > p->most ? MWL_E_TOO_BIG : MWL_OK;
}

/* The beginning of a text that is too long, as a string. */
static void put_cut(struct piece *p) {
    mwl__buf begin = mwl__buf_make(p->out->alloc);
    size_t len = p->out->len - p->begin < p->most ? p->out->len - p->begin : p->most;
    mwl__buf_put(&begin, p->out->data + p->begin, len);
    while (begin.len && ((unsigned char)begin.data[begin.len - 1] & 0xC0u) == 0x80u) begin.len--;
    if (begin.len && (unsigned char)begin.data[begin.len - 1] >= 0xC0u) begin.len--;
    p->out->len = p->begin;
    mwl__buf_puts(p->out, "{\"$cut\":");
    reply_text(p->out, begin.failed ? "" : begin.data, begin.failed ? 0 : begin.len);
    mwl__buf_putc(p->out, '}');
    mwl__buf_free(&begin);
}

void reply_value(mwl__buf *out, mwl_heap *heap, mwl_value v, size_t most) {
    if (mwl_is_absent(v)) {
        mwl__buf_puts(out, "null");
        return;
    }
    struct piece p = {out, out->len, most};
    mwl_status status = mwl_json_write_to(heap, v, MWL_JSON_COMPACT, put, &p);
    if (status == MWL_E_TOO_BIG) {
        put_cut(&p);
    } else if (status != MWL_OK && !out->failed) {
        out->len = p.begin;
        mwl__buf_printf(out, "{\"$type\":\"%s\"}", mwl_value_type(v));
    }
}

void reply_ns(mwl__buf *out, int64_t ns) {
    if (ns == MWL_NEVER)
        mwl__buf_puts(out, "null");
    else
        mwl__buf_printf(out, "%" PRId64, ns);
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void reply_base64(mwl__buf *out, const unsigned char *bytes, size_t len) {
    mwl__buf_putc(out, '"');
    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t word = (uint32_t)bytes[i] << 16;
        if (n > 1) word |= (uint32_t)bytes[i + 1] << 8;
        if (n > 2) word |= bytes[i + 2];
        for (size_t k = 0; k < 4; k++)
            mwl__buf_putc(out, k > n ? '=' : alphabet[word >> (18 - 6 * k) & 63u]);
    }
    mwl__buf_putc(out, '"');
}

bool reply_from_base64(mwl__buf *out, const char *text, size_t len) {
    if (len % 4 != 0) return false;
    for (size_t i = 0; i < len; i += 4) {
        uint32_t word = 0;
        size_t n = 0;
        for (; n < 4 && text[i + n] != '='; n++) {
            const char *at = memchr(alphabet, text[i + n], 64);
            if (!at) return false;
            word |= (uint32_t)(at - alphabet) << (18 - 6 * n);
        }
        if (n < 2 || (n < 4 && i + 4 != len) || (n == 2 && text[i + 3] != '=')) return false;
        for (size_t k = 0; k + 1 < n; k++) mwl__buf_putc(out, (char)(word >> (16 - 8 * k) & 255u));
    }
    return !out->failed;
}
