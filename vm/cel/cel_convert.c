/* cel_convert.c: CEL's conversions between types, and values as text.
 *
 * Owns: bool, bytes, double, duration, int, string, timestamp, uint, with the ranges and forms of
 * cel-go; mwl_value_text and mwl_number_text. Refuses to know: how numbers and instants are read
 * and written (num.c, temporal.c). */
#include "vm/cel/cel_lib.h"
#include "vm/base/num.h"
#include "vm/value/temporal.h"

#include <math.h>

/* Reading a text is charged by its length, also when the text is refused. */
static bool pay_for(mwl_fn *fn, const mwl__str *text) { return mwl_fn_charge(fn, text->len / 8); }

static mwl_value bad_text(mwl_fn *fn, mwl_value text, const char *to) {
    return mwl_fn_fail(fn, "cannot convert '%.60s' to %s", mwl__as_str(text)->s, to);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static mwl_value to_int(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    mwl_value v = args[0];
    switch (mwl_value_kind(v)) {
    case MWL_KIND_INT: return v;
    case MWL_KIND_UINT:
        if (v.as.u > INT64_MAX) return mwl_fn_fail(fn, "range error: uint too large for int");
        return mwl_int((int64_t)v.as.u);
    case MWL_KIND_NUMBER: /* open at both ends, as in cel-go: -2^63 is out of range too. Comparisons
                             with NaN are false */
        if (!(v.as.d > -0x1p63 && v.as.d < 0x1p63))
            return mwl_fn_fail(fn, "range error: double out of int's range");
        return mwl_int((int64_t)v.as.d);
    case MWL_KIND_STRING: {
        int64_t i;
        const mwl__str *s = mwl__as_str(v);
        if (!pay_for(fn, s)) return mwl_absent();
        if (mwl__num_parse_i64(s->s, s->len, &i) != MWL_OK) return bad_text(fn, v, "int");
        return mwl_int(i);
    }
    case MWL_KIND_TIMESTAMP:
    case MWL_KIND_DURATION: return mwl_int(v.as.i);
    default: return mwl_fn_no_overload(fn);
    }
}

static mwl_value to_uint(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    mwl_value v = args[0];
    switch (mwl_value_kind(v)) {
    case MWL_KIND_UINT: return v;
    case MWL_KIND_INT:
        if (v.as.i < 0) return mwl_fn_fail(fn, "range error: negative int to uint");
        return mwl_uint((uint64_t)v.as.i);
    case MWL_KIND_NUMBER:
        if (!(v.as.d >= 0 && v.as.d < 0x1p64))
            return mwl_fn_fail(fn, "range error: double out of uint's range");
        return mwl_uint((uint64_t)v.as.d);
    case MWL_KIND_STRING: {
        uint64_t u;
        const mwl__str *s = mwl__as_str(v);
        if (!pay_for(fn, s)) return mwl_absent();
        if (mwl__num_parse_u64(s->s, s->len, &u) != MWL_OK) return bad_text(fn, v, "uint");
        return mwl_uint(u);
    }
    default: return mwl_fn_no_overload(fn);
    }
}

static mwl_value to_double(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    mwl_value v = args[0];
    switch (mwl_value_kind(v)) {
    case MWL_KIND_NUMBER: return v;
    case MWL_KIND_INT: return mwl_number((double)v.as.i);
    case MWL_KIND_UINT: return mwl_number((double)v.as.u);
    case MWL_KIND_STRING: {
        double d;
        const mwl__str *s = mwl__as_str(v);
        if (!pay_for(fn, s)) return mwl_absent();
        if (mwl__num_parse_cel(s->s, s->len, &d) != MWL_OK) return bad_text(fn, v, "double");
        return mwl_number(d);
    }
    default: return mwl_fn_no_overload(fn);
    }
}

/* ---- bool and bytes -------------------------------------------------------------------------- */

static bool is_one_of(const mwl__str *s, const char *const *words) {
    for (; *words; words++)
        if (strlen(*words) == s->len && memcmp(*words, s->s, s->len) == 0) return true;
    return false;
}

static mwl_value to_bool(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True", NULL};
    static const char *const no[] = {"0", "f", "F", "false", "FALSE", "False", NULL};
    mwl_value v = args[0];
    if (mwl_value_kind(v) == MWL_KIND_BOOL) return v;
    if (mwl_value_kind(v) != MWL_KIND_STRING) return mwl_fn_no_overload(fn);
    if (is_one_of(mwl__as_str(v), yes)) return mwl_bool(true);
    if (is_one_of(mwl__as_str(v), no)) return mwl_bool(false);
    return bad_text(fn, v, "bool");
}

static mwl_value to_bytes(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    mwl_value v = args[0];
    if (mwl_value_kind(v) == MWL_KIND_BYTES) return mwl_value_keep(v);
    if (mwl_value_kind(v) != MWL_KIND_STRING) return mwl_fn_no_overload(fn);
    const mwl__str *s = mwl__as_str(v);
    if (!pay_for(fn, s)) return mwl_absent();
    return mwl_bytes(mwl_fn_heap(fn), s->s, s->len);
}

/* ---- instants and durations ------------------------------------------------------------------ */

static mwl_value to_timestamp(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    mwl_value v = args[0];
    mwl__instant t = {0, 0};
    mwl_status status = MWL_OK;
    switch (mwl_value_kind(v)) {
    case MWL_KIND_TIMESTAMP: return v;
    case MWL_KIND_INT:
        t.sec = v.as.i;
        if (!mwl__temporal_in_range(t)) status = MWL_E_RANGE;
        break;
    case MWL_KIND_STRING:
        if (!pay_for(fn, mwl__as_str(v))) return mwl_absent();
        status = mwl__temporal_parse_instant(mwl__as_str(v)->s, mwl__as_str(v)->len, &t);
        break;
    default: return mwl_fn_no_overload(fn);
    }
    if (status == MWL_E_RANGE) return mwl_fn_fail(fn, "range error: timestamp out of range");
    if (status != MWL_OK) return bad_text(fn, v, "timestamp");
    return mwl_timestamp(t.sec, t.ns);
}

static mwl_value to_duration(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    mwl_value v = args[0];
    if (mwl_value_kind(v) == MWL_KIND_DURATION) return v;
    if (mwl_value_kind(v) != MWL_KIND_STRING) return mwl_fn_no_overload(fn);
    if (!pay_for(fn, mwl__as_str(v))) return mwl_absent();
    int64_t ns;
    mwl_status status = mwl__temporal_parse_cel(mwl__as_str(v)->s, mwl__as_str(v)->len, &ns);
    if (status == MWL_E_RANGE) return mwl_fn_fail(fn, "range error: duration out of range");
    if (status != MWL_OK) return bad_text(fn, v, "duration");
    return mwl_duration(ns);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Writes the shortest digits without an exponent: 1e21 as 1000000000000000000000. */
static size_t write_plain(double d, char *out, size_t cap) {
    char digits[20], *p = out;
    int point;
    size_t n = mwl__num_digits(d, digits, &point), need;
    need = n + (size_t)(point < 0 ? -point : point) + 4;
    if (need > cap) return 0;
    if (signbit(d)) *p++ = '-';
    if (point <= 0) {
        *p++ = '0';
        if (d != 0) {
            *p++ = '.';
            for (int i = point; i < 0; i++) *p++ = '0';
            memcpy(p, digits, n), p += n;
        }
    } else {
        for (size_t i = 0; i < n || i < (size_t)point; i++) {
            if (i == (size_t)point) *p++ = '.';
            *p++ = i < n ? digits[i] : '0';
        }
    }
    *p = '\0';
    return (size_t)(p - out);
}

/* Writes the shortest digits as d.ddde+xx. The exponent has at least two digits. */
static size_t write_scientific(double d, char *out, size_t cap) {
    char digits[20], *p = out;
    int point;
    size_t n = mwl__num_digits(d, digits, &point);
    if (n + 10 > cap) return 0;
    if (signbit(d)) *p++ = '-';
    *p++ = digits[0];
    if (n > 1) {
        *p++ = '.';
        memcpy(p, digits + 1, n - 1), p += n - 1;
    }
    int e = d == 0 ? 0 : point - 1;
    *p++ = 'e';
    *p++ = e < 0 ? '-' : '+';
    if (e < 0) e = -e;
    if (e >= 100) *p++ = (char)('0' + e / 100);
    *p++ = (char)('0' + e / 10 % 10);
    *p++ = (char)('0' + e % 10);
    *p = '\0';
    return (size_t)(p - out);
}

size_t mwl_number_text(double d, mwl_number_form form, int precision, char *out, size_t cap) {
    if (!isfinite(d)) {
        const char *word = isnan(d) ? "NaN" : d > 0 ? "Infinity" : "-Infinity";
        if (strlen(word) >= cap) return 0;
        memcpy(out, word, strlen(word) + 1);
        return strlen(word);
    }
    switch (form) {
    case MWL_NUMBER_FIXED:
        return precision < 0 ? write_plain(d, out, cap)
                             : mwl__num_write_fixed(d, precision, out, cap);
    case MWL_NUMBER_EXPONENT:
        return precision < 0 ? write_scientific(d, out, cap)
                             : mwl__num_write_exp(d, precision, out, cap);
    case MWL_NUMBER_GENERAL: {
        char digits[20];
        int point;
        (void)mwl__num_digits(d, digits, &point);
        bool plain = d == 0 || (point - 1 >= -4 && point - 1 < 6); /* the rule of Go's %g */
        return plain ? write_plain(d, out, cap) : write_scientific(d, out, cap);
    }
    }
    return 0;
}

static mwl_value text(mwl_heap *h, const char *s, size_t len) { return mwl__str_new(h, s, len); }

mwl_value mwl_value_text(mwl_heap *heap, mwl_value v) {
    char buf[64];
    const mwl__str *s;
    switch (mwl_value_kind(v)) {
    case MWL_KIND_BOOL: return v.as.i ? text(heap, "true", 4) : text(heap, "false", 5);
    case MWL_KIND_INT: return text(heap, buf, mwl__num_write_i64(v.as.i, buf));
    case MWL_KIND_UINT: return text(heap, buf, mwl__num_write_u64(v.as.u, buf));
    case MWL_KIND_NUMBER:
        if (isinf(v.as.d)) return text(heap, v.as.d > 0 ? "+Inf" : "-Inf", 4);
        if (isnan(v.as.d)) return text(heap, "NaN", 3);
        return text(heap, buf, mwl__num_write(v.as.d, buf));
    case MWL_KIND_DURATION: return text(heap, buf, mwl__temporal_write_cel(v.as.i, buf));
    case MWL_KIND_TIMESTAMP:
        return text(heap, buf, mwl__temporal_write_instant((mwl__instant){v.as.i, v.aux}, buf));
    case MWL_KIND_STRING: return mwl_value_keep(v);
    case MWL_KIND_BYTES: s = mwl__as_str(v); return mwl_string(heap, s->s, s->len);
    case MWL_KIND_TYPE: s = mwl__as_str(v); return text(heap, s->s, s->len);
    case MWL_KIND_EXT:
        return mwl_string(heap, (const char *)mwl__as_ext(v)->data, mwl__as_ext(v)->len);
    default: return mwl__heap_fail(heap, MWL_E_USAGE);
    }
}

static mwl_value to_string(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    mwl_heap *h = mwl_fn_heap(fn);
    mwl_kind kind = mwl_value_kind(args[0]);
    if (kind == MWL_KIND_TYPE) return mwl_fn_no_overload(fn);
    if (kind == MWL_KIND_BYTES && !pay_for(fn, mwl__as_str(args[0]))) return mwl_absent();
    mwl_value v = mwl_value_text(h, args[0]);
    if (!mwl_is_absent(v)) return v;
    if (h->why == MWL_E_USAGE) return mwl_fn_no_overload(fn);
    if (h->why == MWL_E_UTF8) return mwl_fn_fail(fn, "invalid UTF-8 in bytes, no string");
    return v;
}

const mwl_function_def mwl__convert_functions[] = {
    {"bool", to_bool, 1, 1, MWL_FN_GLOBAL, "bool(bool | string) -> bool"},
    {"bytes", to_bytes, 1, 1, MWL_FN_GLOBAL, "bytes(bytes | string) -> bytes"},
    {"double", to_double, 1, 1, MWL_FN_GLOBAL, "double(double | int | uint | string) -> double"},
    {"duration", to_duration, 1, 1, MWL_FN_GLOBAL, "duration(duration | string) -> duration"},
    {"int", to_int, 1, 1, MWL_FN_GLOBAL,
     "int(int | uint | double | string | timestamp | duration) -> int"},
    {"string", to_string, 1, 1, MWL_FN_GLOBAL,
     "string(bool | int | uint | double | string | bytes | timestamp | duration) -> string"},
    {"timestamp", to_timestamp, 1, 1, MWL_FN_GLOBAL,
     "timestamp(timestamp | string | int) -> timestamp"},
    {"uint", to_uint, 1, 1, MWL_FN_GLOBAL, "uint(uint | int | double | string) -> uint"},
};
const size_t mwl__convert_count = sizeof mwl__convert_functions / sizeof *mwl__convert_functions;
