/* cel_encoders.c: cel-go's encoders library: base64 (RFC 4648, the standard alphabet). Encoding
 * adds padding. Decoding accepts text with and without padding and skips line ends, as Go's decoder
 * does. */
#include "stdlib/std_tables.h"
#include "stdlib/text_buf.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static mwl_value encode(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (mwl_value_kind(args[0]) != MWL_KIND_BYTES) return mwl_fn_no_overload(fn);
    size_t len;
    const unsigned char *s = (const unsigned char *)mwl_as_text(args[0], &len);
    text_buf out = text_buf_make(fn);
    if (text_buf_room(&out, (len + 2) / 3 * 4)) {
        for (size_t i = 0; i < len; i += 3) {
            size_t n = len - i < 3 ? len - i : 3;
            uint32_t word = (uint32_t)s[i] << 16;
            if (n > 1) word |= (uint32_t)s[i + 1] << 8;
            if (n > 2) word |= s[i + 2];
            for (size_t k = 0; k < 4; k++)
                out.data[out.len++] = k <= n ? alphabet[word >> (18 - 6 * k) & 63] : '=';
        }
    }
    return text_buf_finish(&out);
}

static int digit_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static mwl_value decode(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (mwl_value_kind(args[0]) != MWL_KIND_STRING) return mwl_fn_no_overload(fn);
    size_t len, n_digits = 0, n_pad = 0;
    const char *s = mwl_as_text(args[0], &len);
    text_buf out = text_buf_make(fn);
    uint32_t word = 0;
    bool ok = true;
    if (!text_buf_room(&out, len / 4 * 3 + 3)) return text_buf_finish(&out);
    for (size_t i = 0; i < len && ok; i++) {
        if (s[i] == '\n' || s[i] == '\r') continue;
        if (s[i] == '=') {
            n_pad++;
            continue;
        }
        int digit = digit_of(s[i]);
        ok = digit >= 0 && n_pad == 0;
        word = word << 6 | (uint32_t)(digit & 63);
        if (++n_digits % 4 == 0)
            for (int shift = 16; shift >= 0; shift -= 8)
                out.data[out.len++] = (char)(word >> shift & 255);
    }
    size_t tail = n_digits % 4; /* characters of the last, shorter group */
    ok = ok && tail != 1 && (n_pad == 0 || (tail && tail + n_pad == 4));
    if (ok && tail) {
        out.data[out.len++] = (char)(word >> (6 * tail - 8) & 255);
        if (tail == 3) out.data[out.len++] = (char)(word >> 2 & 255);
    }
    mwl_heap *h = mwl_fn_heap(fn);
    mwl_value v = ok ? mwl_bytes(h, out.data, out.len) : mwl_fn_fail(fn, "invalid base64");
    (void)mwl_heap_resize(h, out.data, out.cap, 0);
    return v;
}

const mwl_function_def mwl__encoders_functions[] = {
    {"base64.encode", encode, 1, 1, MWL_FN_GLOBAL, "base64.encode(bytes) -> string"},
    {"base64.decode", decode, 1, 1, MWL_FN_GLOBAL, "base64.decode(string) -> bytes"},
};
const size_t mwl__encoders_count = sizeof mwl__encoders_functions / sizeof *mwl__encoders_functions;
