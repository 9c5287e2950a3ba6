/* cel_value.c: writes values as CEL text, for people: `mwlvm eval --cel`, test reports.
 *
 * Containers nested deeper than WRITE_DEPTH are written as `...`, which limits the recursion. */
#include "assembler/cel/cel.h"

#include "vm/base/num.h"
#include "vm/value/temporal.h"
#include "vm/base/utf8.h"

#define WRITE_DEPTH 64

static void write_value(mwl__buf *out, mwl_value v, int depth);

static void write_string(mwl__buf *out, const char *s, size_t len) {
    mwl__buf_putc(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') {
            mwl__buf_putc(out, '\\');
            mwl__buf_putc(out, (char)c);
        } else if (c == '\n') {
            mwl__buf_puts(out, "\\n");
        } else if (c == '\t') {
            mwl__buf_puts(out, "\\t");
        } else if (c < 0x20 || c == 0x7f) {
            mwl__buf_printf(out, "\\x%02x", c);
        } else {
            mwl__buf_putc(out, (char)c);
        }
    }
    mwl__buf_putc(out, '"');
}

static void write_bytes(mwl__buf *out, const char *s, size_t len) {
    mwl__buf_puts(out, "b\"");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            mwl__buf_printf(out, "\\x%02x", c);
        else
            mwl__buf_putc(out, (char)c);
    }
    mwl__buf_putc(out, '"');
}

static void write_double(mwl__buf *out, double d) {
    if (d - d != 0) {
        mwl__buf_puts(out, d != d  ? "double(\"NaN\")"
                           : d > 0 ? "double(\"Infinity\")"
                                   : "double(\"-Infinity\")");
        return;
    }
    char text[MWL__NUM_MAX];
    size_t n = mwl__num_write(d, text);
    if (d == 0 && 1 / d < 0) mwl__buf_putc(out, '-');
    mwl__buf_put(out, text, n);
    if (!memchr(text, '.', n) && !memchr(text, 'e', n)) mwl__buf_puts(out, ".0");
}

static void write_list(mwl__buf *out, mwl_value v, int depth) {
    mwl__buf_putc(out, '[');
    for (uint32_t i = 0; i < v.aux; i++) {
        if (i) mwl__buf_puts(out, ", ");
        write_value(out, mwl__as_list(v)->item[i], depth - 1);
    }
    mwl__buf_putc(out, ']');
}

static void write_map(mwl__buf *out, mwl_value v, int depth) {
    mwl__buf_putc(out, '{');
    for (uint32_t i = 0; i < v.aux; i++) {
        const mwl__map *m = mwl__as_map(v);
        if (i) mwl__buf_puts(out, ", ");
        write_value(out, mwl__map_key(m, i), depth - 1);
        mwl__buf_puts(out, ": ");
        write_value(out, m->val[i], depth - 1);
    }
    mwl__buf_putc(out, '}');
}

static void write_time(mwl__buf *out, mwl_value v) {
    char text[MWL__INSTANT_TEXT_MAX + MWL__DURATION_TEXT_MAX];
    size_t n;
    if (mwl_value_kind(v) == MWL_KIND_DURATION) {
        mwl__buf_puts(out, "duration(\"");
        n = mwl__temporal_write_cel(v.as.i, text);
    } else {
        mwl__instant t = {v.as.i, v.aux};
        mwl__buf_puts(out, "timestamp(\"");
        n = mwl__temporal_write_instant(t, text);
    }
    mwl__buf_put(out, text, n);
    mwl__buf_puts(out, "\")");
}

static void write_optional(mwl__buf *out, mwl_value v, int depth) {
    if (!v.as.p) {
        mwl__buf_puts(out, "optional.none()");
        return;
    }
    mwl__buf_puts(out, "optional.of(");
    write_value(out, mwl__as_box(v)->v, depth - 1);
    mwl__buf_putc(out, ')');
}

static void write_value(mwl__buf *out, mwl_value v, int depth) {
    if (depth == 0) {
        mwl__buf_puts(out, "...");
        return;
    }
    switch (mwl_value_kind(v)) {
    case MWL_KIND_NULL: mwl__buf_puts(out, "null"); break;
    case MWL_KIND_BOOL: mwl__buf_puts(out, v.as.i ? "true" : "false"); break;
    case MWL_KIND_NUMBER: write_double(out, v.as.d); break;
    case MWL_KIND_INT: mwl__buf_printf(out, "%lld", (long long)v.as.i); break;
    case MWL_KIND_UINT: mwl__buf_printf(out, "%lluu", (unsigned long long)v.as.u); break;
    case MWL_KIND_DURATION:
    case MWL_KIND_TIMESTAMP: write_time(out, v); break;
    case MWL_KIND_STRING: write_string(out, mwl__as_str(v)->s, mwl__as_str(v)->len); break;
    case MWL_KIND_BYTES: write_bytes(out, mwl__as_str(v)->s, mwl__as_str(v)->len); break;
    case MWL_KIND_ARRAY: write_list(out, v, depth); break;
    case MWL_KIND_OBJECT: write_map(out, v, depth); break;
    case MWL_KIND_TYPE: mwl__buf_put(out, mwl__as_str(v)->s, mwl__as_str(v)->len); break;
    case MWL_KIND_OPTIONAL: write_optional(out, v, depth); break;
    default: mwl__buf_printf(out, "<%s>", mwl__type_name(v)); break;
    }
}

void mwl__cel_write(mwl__buf *out, mwl_value v) { write_value(out, v, WRITE_DEPTH); }
