/* cel_format.c: string.format, as in cel-go's strings library since version 4: no locale, and the
 * fewest digits if no precision is given.
 *
 * A clause is %[.precision]letter: s d f e b x X o. Every clause uses one argument; there may be
 * more arguments than clauses. Bytes in %s that are not UTF-8 become U+FFFD, because a string
 * cannot contain them. */
#include "stdlib/std_tables.h"
#include "stdlib/text_buf.h"

#define MAX_PRECISION 100 /* cel-go's limit */
#define DEFAULT_PRECISION 6
#define NUMBER_ROOM 512 /* mwl_number_text: 352 and the precision */

static bool fail_clause(text_buf *out, const char *clause, mwl_value v) {
    (void)mwl_fn_fail(out->fn, "%%%s of format does not take a value of type %s", clause,
                      mwl_value_type(v));
    return !(out->failed = true);
}

/* ---- %s -------------------------------------------------------------------------------------- */

static void put_bytes(text_buf *out, mwl_value v) {
    size_t len, from = 0;
    const char *s = mwl_as_text(v, &len);
    if (!mwl_fn_charge(out->fn, len / 8)) out->failed = true;
    for (size_t at = 0, w; at < len && !out->failed; at += w ? w : 1) {
        w = char_valid(s + at, len - at);
        if (w) continue;
        text_buf_put(out, s + from, at - from);
        text_buf_puts(out, "\xef\xbf\xbd");
        from = at + 1;
    }
    text_buf_put(out, s + from, len - from);
}

static bool put_value(text_buf *out, mwl_value v);

static bool put_list(text_buf *out, mwl_value v) {
    text_buf_puts(out, "[");
    for (size_t i = 0, n = mwl_count(v); i < n && !out->failed; i++) {
        if (i) text_buf_puts(out, ", ");
        if (!put_value(out, mwl_array_at(v, i))) return false;
    }
    text_buf_puts(out, "]");
    return !out->failed;
}

/* Sorts members by the texts of their keys. */
static bool put_map(text_buf *out, mwl_value v) {
    mwl_heap *h = mwl_fn_heap(out->fn);
    size_t n = mwl_count(v);
    mwl_value keys = mwl_array(h, n), places = mwl_array(h, n), key, val;
    for (size_t i = 0; i < n && !mwl_is_absent(keys) && !mwl_is_absent(places); i++) {
        (void)mwl_object_at(v, i, &key, &val);
        keys = mwl_array_push(h, keys, mwl_value_text(h, key));
        places = mwl_array_push(h, places, mwl_int((int64_t)i));
    }
    mwl_value sorted = mwl_absent();
    if (!mwl_is_absent(keys) && !mwl_is_absent(places)) sorted = mwl_fn_sort(out->fn, places, keys);
    if (mwl_is_absent(sorted)) out->failed = true;
    text_buf_puts(out, "{");
    for (size_t i = 0; i < n && !out->failed; i++) {
        size_t place = (size_t)mwl_as_int(mwl_array_at(sorted, i)), len;
        const char *name = mwl_as_text(mwl_array_at(keys, place), &len);
        if (i) text_buf_puts(out, ", ");
        text_buf_put(out, name, len);
        text_buf_puts(out, ": ");
        (void)mwl_object_at(v, place, &key, &val);
        if (!put_value(out, val)) break;
    }
    text_buf_puts(out, "}");
    mwl_value_drop(h, sorted);
    mwl_value_drop(h, keys);
    mwl_value_drop(h, places);
    return !out->failed;
}

/* A separate function, because put_value recurses and its C frame must stay small. */
static __attribute__((noinline)) void put_double(text_buf *out, double d) {
    char number[NUMBER_ROOM];
    (void)mwl_number_text(d, MWL_NUMBER_FIXED, -1, number, sizeof number);
    text_buf_puts(out, number);
}

/* Recursive; values nest at most MWL_DEPTH_LIMIT (mwl_config.h) deep. */
static bool put_value(text_buf *out, mwl_value v) {
    mwl_heap *h = mwl_fn_heap(out->fn);
    switch (mwl_value_kind(v)) {
    case MWL_KIND_NULL: text_buf_puts(out, "null"); break;
    case MWL_KIND_BYTES: put_bytes(out, v); break;
    case MWL_KIND_NUMBER: put_double(out, mwl_as_number(v)); break;
    case MWL_KIND_ARRAY: return put_list(out, v);
    case MWL_KIND_OBJECT: return put_map(out, v);
    case MWL_KIND_OPTIONAL:
    case MWL_KIND_EXT: return fail_clause(out, "s", v);
    default: {
        size_t len = 0;
        mwl_value text = mwl_value_text(h, v);
        if (mwl_is_absent(text)) out->failed = true;
        const char *s = mwl_as_text(text, &len);
        text_buf_put(out, s, len);
        mwl_value_drop(h, text);
    }
    }
    return !out->failed;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Digits of u in base 2, 8, 10 or 16. */
static void put_digits(text_buf *out, uint64_t u, bool negative, unsigned base, bool upper) {
    char digits[66], *p = digits + sizeof digits;
    const char *letters = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    do {
        *--p = letters[u % base];
        u /= base;
    } while (u);
    if (negative) *--p = '-';
    text_buf_put(out, p, (size_t)(digits + sizeof digits - p));
}

static bool put_integer(text_buf *out, mwl_value v, unsigned base, bool upper, const char *clause) {
    if (mwl_value_kind(v) == MWL_KIND_UINT) {
        put_digits(out, mwl_as_uint(v), false, base, upper);
    } else if (mwl_value_kind(v) == MWL_KIND_INT) {
        int64_t i = mwl_as_int(v);
        put_digits(out, i < 0 ? 0 - (uint64_t)i : (uint64_t)i, i < 0, base, upper);
    } else {
        return fail_clause(out, clause, v);
    }
    return !out->failed;
}

static bool put_float(text_buf *out, mwl_value v, mwl_number_form form, int precision) {
    char number[NUMBER_ROOM];
    double d;
    switch (mwl_value_kind(v)) {
    case MWL_KIND_INT: d = (double)mwl_as_int(v); break;
    case MWL_KIND_UINT: d = (double)mwl_as_uint(v); break;
    case MWL_KIND_NUMBER: d = mwl_as_number(v); break;
    default: return fail_clause(out, form == MWL_NUMBER_FIXED ? "f" : "e", v);
    }
    (void)mwl_number_text(d, form, precision, number, sizeof number);
    text_buf_puts(out, number);
    return !out->failed;
}

static bool put_hex(text_buf *out, mwl_value v, bool upper) {
    size_t len;
    if (mwl_value_kind(v) != MWL_KIND_STRING && mwl_value_kind(v) != MWL_KIND_BYTES)
        return put_integer(out, v, 16, upper, "x");
    const char *s = mwl_as_text(v, &len),
               *letters = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    for (size_t i = 0; i < len && !out->failed; i++) {
        unsigned char c = (unsigned char)s[i];
        char pair[2] = {letters[c >> 4], letters[c & 15]};
        text_buf_put(out, pair, 2);
    }
    return !out->failed;
}

/* ---- clauses --------------------------------------------------------------------------------- */

static bool put_clause(text_buf *out, char letter, int precision, mwl_value v) {
    switch (letter) {
    case 's': return put_value(out, v);
    case 'd':
        if (mwl_value_kind(v) == MWL_KIND_NUMBER) return put_float(out, v, MWL_NUMBER_FIXED, -1);
        return put_integer(out, v, 10, false, "d");
    case 'f': return put_float(out, v, MWL_NUMBER_FIXED, precision);
    case 'e': return put_float(out, v, MWL_NUMBER_EXPONENT, precision);
    case 'b':
        if (mwl_value_kind(v) == MWL_KIND_BOOL) {
            text_buf_puts(out, mwl_as_bool(v) ? "1" : "0");
            return !out->failed;
        }
        return put_integer(out, v, 2, false, "b");
    case 'x':
    case 'X': return put_hex(out, v, letter == 'X');
    case 'o': return put_integer(out, v, 8, false, "o");
    default: (void)mwl_fn_fail(out->fn, "unrecognized formatting clause \"%%%c\"", letter);
    }
    return !(out->failed = true);
}

/* Reads .digits at s. Returns the number of bytes, or SIZE_MAX after a failure. */
static size_t read_precision(mwl_fn *fn, const char *s, size_t len, int *precision) {
    *precision = DEFAULT_PRECISION;
    if (len == 0 || s[0] != '.') return 0;
    size_t i = 1;
    int p = 0;
    for (; i < len && s[i] >= '0' && s[i] <= '9'; i++)
        if (p <= MAX_PRECISION) p = p * 10 + (s[i] - '0');
    if (i == 1 || i == len || p > MAX_PRECISION) {
        (void)mwl_fn_fail(
            fn, p > MAX_PRECISION ? "precision exceeds %d" : "a precision is .%d or alike",
            p > MAX_PRECISION ? MAX_PRECISION : 2);
        return SIZE_MAX;
    }
    *precision = p;
    return i;
}

mwl_value mwl__format_string(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (mwl_value_kind(args[0]) != MWL_KIND_STRING || mwl_value_kind(args[1]) != MWL_KIND_ARRAY)
        return mwl_fn_no_overload(fn);
    size_t len, next = 0;
    const char *s = mwl_as_text(args[0], &len);
    text_buf out = text_buf_make(fn);
    for (size_t i = 0; i < len && !out.failed;) {
        const char *percent = memchr(s + i, '%', len - i);
        size_t n = percent ? (size_t)(percent - s) - i : len - i;
        text_buf_put(&out, s + i, n);
        i += n + 1;
        if (!percent) break;
        if (i < len && s[i] == '%') {
            text_buf_puts(&out, "%");
            i++;
            continue;
        }
        int precision;
        size_t read = read_precision(fn, s + i, i < len ? len - i : 0, &precision);
        if (read == SIZE_MAX) {
            out.failed = true;
        } else if (i + read >= len) {
            (void)mwl_fn_fail(fn, "unexpected end of format string");
            out.failed = true;
        } else if (next >= mwl_count(args[1])) {
            (void)mwl_fn_fail(fn, "format: index %zu out of range", next);
            out.failed = true;
        } else {
            (void)put_clause(&out, s[i + read], precision, mwl_array_at(args[1], next++));
            i += read + 1;
        }
    }
    return text_buf_finish(&out);
}
