/* cel_strings.c: cel-go's strings library, except format (cel_format.c).
 *
 * Owns: functions on strings by character (code point). Indexes count characters, an index may be
 * equal to the length, and searching past the end finds nothing rather than failing, as cel-go
 * documents. */
#include "stdlib/std_tables.h"
#include "stdlib/text_buf.h"

/* A lent string argument. */
typedef struct str {
    const char *s;
    size_t len, n; /* bytes and characters */
} str;

static bool get_str(mwl_value v, str *out) {
    if (mwl_value_kind(v) != MWL_KIND_STRING) return false;
    out->s = mwl_as_text(v, &out->len);
    out->n = mwl_string_code_points(v);
    return true;
}

static bool get_int(mwl_value v, int64_t *out) {
    if (mwl_value_kind(v) != MWL_KIND_INT) return false;
    *out = mwl_as_int(v);
    return true;
}

static size_t offset_of(const str *s, size_t k) {
    return k >= s->n ? s->len : char_offset(s->s, k, s->n == s->len);
}

static mwl_value out_of_range(mwl_fn *fn, int64_t i) {
    return mwl_fn_fail(fn, "index out of range: %lld", (long long)i);
}

static mwl_value make(mwl_fn *fn, const char *s, size_t len) {
    if (!mwl_fn_charge(fn, len / 8)) return mwl_absent();
    return mwl_string(mwl_fn_heap(fn), s, len);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static mwl_value char_of(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    str s;
    int64_t i;
    if (!get_str(args[0], &s) || !get_int(args[1], &i)) return mwl_fn_no_overload(fn);
    if (i < 0 || (uint64_t)i > s.n) return out_of_range(fn, i);
    if (!mwl_fn_charge(fn, s.len / 8)) return mwl_absent();
    size_t at = offset_of(&s, (size_t)i);
    return make(fn, s.s + at, at == s.len ? 0 : char_width(s.s[at]));
}

static mwl_value substring(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    str s;
    int64_t start, end;
    if (!get_str(args[0], &s) || !get_int(args[1], &start)) return mwl_fn_no_overload(fn);
    end = (int64_t)s.n;
    if (n_args == 3 && !get_int(args[2], &end)) return mwl_fn_no_overload(fn);
    if (n_args == 3 && start > end)
        return mwl_fn_fail(fn, "invalid substring range. start: %lld, end: %lld", (long long)start,
                           (long long)end);
    if (start < 0 || (uint64_t)start > s.n) return out_of_range(fn, start);
    if (end < 0 || (uint64_t)end > s.n) return out_of_range(fn, end);
    if (!mwl_fn_charge(fn, s.len / 8)) return mwl_absent();
    size_t from = offset_of(&s, (size_t)start), to = offset_of(&s, (size_t)end);
    return make(fn, s.s + from, to - from);
}

/* Unicode's White_Space property. */
static bool is_space(uint32_t c) {
    return c == ' ' || (c >= 9 && c <= 13) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

static mwl_value trim(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    str s;
    if (!get_str(args[0], &s)) return mwl_fn_no_overload(fn);
    if (!mwl_fn_charge(fn, s.len / 8)) return mwl_absent();
    size_t from = 0, to = s.len;
    while (from < to) {
        size_t w = char_width(s.s[from]);
        if (!is_space(char_at(s.s + from, w))) break;
        from += w;
    }
    while (to > from) {
        size_t at = to - 1;
        while (((unsigned char)s.s[at] & 0xc0u) == 0x80u) at--;
        if (!is_space(char_at(s.s + at, to - at))) break;
        to = at;
    }
    return make(fn, s.s + from, to - from);
}

/* ---- searching ------------------------------------------------------------------------------- */

static mwl_value index_of(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    str s, part;
    int64_t from = 0;
    if (!get_str(args[0], &s) || !get_str(args[1], &part)) return mwl_fn_no_overload(fn);
    if (n_args == 3 && !get_int(args[2], &from)) return mwl_fn_no_overload(fn);
    if (from < 0) return out_of_range(fn, from);
    size_t start = (uint64_t)from > s.n ? s.n : (size_t)from;
    if (part.len == 0) return mwl_int((int64_t)start);
    if (start >= s.n) return mwl_int(-1);
    if (!mwl_fn_charge(fn, s.len / 8)) return mwl_absent();
    size_t skip = offset_of(&s, start);
    size_t at = mwl_text_find(s.s + skip, s.len - skip, part.s, part.len);
    if (at == SIZE_MAX) return mwl_int(-1);
    return mwl_int((int64_t)(start + char_count(s.s + skip, at)));
}

static mwl_value last_index_of(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    str s, part;
    if (!get_str(args[0], &s) || !get_str(args[1], &part)) return mwl_fn_no_overload(fn);
    int64_t from = (int64_t)s.n;
    if (n_args == 3) {
        if (!get_int(args[2], &from)) return mwl_fn_no_overload(fn);
        if (from < 0) return out_of_range(fn, from);
    }
    if (part.len == 0) return mwl_int((uint64_t)from > s.n ? (int64_t)s.n : from);
    if (n_args == 3 && (uint64_t)from >= s.n) return mwl_int(-1);
    if (!mwl_fn_charge(fn, s.len / 8)) return mwl_absent();
    size_t last = offset_of(&s, (size_t)from); /* the last place where a match can begin */
    size_t len = part.len < s.len - last ? last + part.len : s.len;
    size_t at = mwl_text_find_last(s.s, len, part.s, part.len);
    if (at == SIZE_MAX) return mwl_int(-1);
    return mwl_int((int64_t)char_count(s.s, at));
}

/* ---- replace, split, join -------------------------------------------------------------------- */

/* Returns the length of the next piece at the front of s, up to the next separator, whose length is
 * *skip; SIZE_MAX if there is no separator. An empty separator matches between any two
 * characters. */
static size_t next_piece(const char *s, size_t len, const str *separator, size_t *skip) {
    *skip = separator->len;
    if (separator->len) return mwl_text_find(s, len, separator->s, separator->len);
    if (len == 0) return SIZE_MAX;
    size_t w = char_width(s[0]);
    return w < len ? w : SIZE_MAX;
}

static mwl_value replace(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    str s, old, new;
    int64_t limit = -1;
    if (!get_str(args[0], &s) || !get_str(args[1], &old) || !get_str(args[2], &new))
        return mwl_fn_no_overload(fn);
    if (n_args == 4 && !get_int(args[3], &limit)) return mwl_fn_no_overload(fn);
    uint64_t left = limit < 0 ? UINT64_MAX : (uint64_t)limit;
    if (left == 0) return mwl_value_keep(args[0]);
    if (!mwl_fn_charge(fn, s.len / 8)) return mwl_absent();
    text_buf out = text_buf_make(fn);
    size_t at = 0;
    if (old.len == 0) { /* before every character, and at the end */
        for (; left; left--) {
            text_buf_put(&out, new.s, new.len);
            if (at == s.len || out.failed) break;
            size_t w = char_width(s.s[at]);
            text_buf_put(&out, s.s + at, w);
            at += w;
        }
    }
    for (; old.len && left && !out.failed; left--) {
        size_t hit = mwl_text_find(s.s + at, s.len - at, old.s, old.len);
        if (hit == SIZE_MAX) break;
        text_buf_put(&out, s.s + at, hit);
        text_buf_put(&out, new.s, new.len);
        at += hit + old.len;
        if (!mwl_fn_charge(fn, 1)) out.failed = true;
    }
    text_buf_put(&out, s.s + at, s.len - at);
    return text_buf_finish(&out);
}

static mwl_value split(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    str s, separator;
    int64_t limit = -1;
    if (!get_str(args[0], &s) || !get_str(args[1], &separator)) return mwl_fn_no_overload(fn);
    if (n_args == 3 && !get_int(args[2], &limit)) return mwl_fn_no_overload(fn);
    if (!mwl_fn_charge(fn, s.len / 8)) return mwl_absent();
    mwl_heap *h = mwl_fn_heap(fn);
    mwl_value list = mwl_array(h, 0);
    if (limit == 0 || (s.len == 0 && separator.len == 0)) return list;
    size_t at = 0;
    for (uint64_t left = limit < 0 ? UINT64_MAX : (uint64_t)limit; left > 1; left--) {
        size_t skip, n = next_piece(s.s + at, s.len - at, &separator, &skip);
        if (n == SIZE_MAX || mwl_is_absent(list)) break;
        if (!mwl_fn_charge(fn, 2)) {
            mwl_value_drop(h, list);
            return mwl_absent();
        }
        list = mwl_array_push(h, list, mwl_string(h, s.s + at, n));
        at += n + skip;
    }
    return mwl_array_push(h, list, mwl_string(h, s.s + at, s.len - at));
}

static mwl_value join(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    str separator = {"", 0, 0}, s;
    if (mwl_value_kind(args[0]) != MWL_KIND_ARRAY) return mwl_fn_no_overload(fn);
    if (n_args == 2 && !get_str(args[1], &separator)) return mwl_fn_no_overload(fn);
    size_t n = mwl_count(args[0]);
    if (!mwl_fn_charge(fn, n)) return mwl_absent();
    for (size_t i = 0; i < n; i++)
        if (!get_str(mwl_array_at(args[0], i), &s))
            return mwl_fn_fail(fn, "join: element %zu is not a string but %s", i,
                               mwl_value_type(mwl_array_at(args[0], i)));
    text_buf out = text_buf_make(fn);
    for (size_t i = 0; i < n && !out.failed; i++) {
        if (i) text_buf_put(&out, separator.s, separator.len);
        (void)get_str(mwl_array_at(args[0], i), &s);
        text_buf_put(&out, s.s, s.len);
    }
    return text_buf_finish(&out);
}

/* ---- whole strings --------------------------------------------------------------------------- */

static mwl_value map_ascii(mwl_fn *fn, mwl_value v, char from, char to) {
    str s;
    if (!get_str(v, &s)) return mwl_fn_no_overload(fn);
    text_buf out = text_buf_make(fn);
    if (text_buf_room(&out, s.len)) {
        for (size_t i = 0; i < s.len; i++) {
            char c = s.s[i];
            out.data[i] = c >= from && c <= from + 25 ? (char)(c - from + to) : c;
        }
        out.len = s.len;
    }
    return text_buf_finish(&out);
}

static mwl_value lower_ascii(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    return map_ascii(fn, args[0], 'A', 'a');
}
static mwl_value upper_ascii(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    return map_ascii(fn, args[0], 'a', 'A');
}

static mwl_value reverse(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    str s;
    if (mwl_value_kind(args[0]) == MWL_KIND_ARRAY) return mwl__lists_reverse(fn, args[0]);
    if (!get_str(args[0], &s)) return mwl_fn_no_overload(fn);
    text_buf out = text_buf_make(fn);
    if (text_buf_room(&out, s.len)) {
        for (size_t at = 0, w; at < s.len; at += w) {
            w = char_width(s.s[at]);
            memcpy(out.data + s.len - at - w, s.s + at, w);
        }
        out.len = s.len;
    }
    return text_buf_finish(&out);
}

static mwl_value quote(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    static const char special[] = "\a\b\f\n\r\t\v\\\"", letter[] = "abfnrtv\\\"";
    str s;
    if (!get_str(args[0], &s)) return mwl_fn_no_overload(fn);
    if (!mwl_fn_charge(fn, s.len / 8)) return mwl_absent();
    text_buf out = text_buf_make(fn);
    text_buf_puts(&out, "\"");
    size_t from = 0;
    for (size_t i = 0; i < s.len && !out.failed; i++) {
        const char *hit = s.s[i] ? strchr(special, s.s[i]) : NULL;
        if (!hit) continue;
        char escape[2] = {'\\', letter[hit - special]};
        text_buf_put(&out, s.s + from, i - from);
        text_buf_put(&out, escape, 2);
        from = i + 1;
    }
    text_buf_put(&out, s.s + from, s.len - from);
    text_buf_puts(&out, "\"");
    return text_buf_finish(&out);
}

const mwl_function_def mwl__strings_functions[] = {
    {"charAt", char_of, 2, 2, MWL_FN_MEMBER, "string.charAt(index) -> string"},
    {"format", mwl__format_string, 2, 2, MWL_FN_MEMBER, "string.format(list) -> string"},
    {"indexOf", index_of, 2, 3, MWL_FN_MEMBER, "string.indexOf(string [, from]) -> int"},
    {"join", join, 1, 2, MWL_FN_MEMBER, "list.join([separator]) -> string"},
    {"lastIndexOf", last_index_of, 2, 3, MWL_FN_MEMBER,
     "string.lastIndexOf(string [, from]) -> int"},
    {"lowerAscii", lower_ascii, 1, 1, MWL_FN_MEMBER, "string.lowerAscii() -> string"},
    {"replace", replace, 3, 4, MWL_FN_MEMBER, "string.replace(old, new [, limit]) -> string"},
    {"reverse", reverse, 1, 1, MWL_FN_MEMBER, "string.reverse() -> string; list.reverse() -> list"},
    {"split", split, 2, 3, MWL_FN_MEMBER, "string.split(separator [, limit]) -> list"},
    {"strings.quote", quote, 1, 1, MWL_FN_GLOBAL, "strings.quote(string) -> string"},
    {"substring", substring, 2, 3, MWL_FN_MEMBER, "string.substring(start [, end]) -> string"},
    {"trim", trim, 1, 1, MWL_FN_MEMBER, "string.trim() -> string"},
    {"upperAscii", upper_ascii, 1, 1, MWL_FN_MEMBER, "string.upperAscii() -> string"},
};
const size_t mwl__strings_count = sizeof mwl__strings_functions / sizeof *mwl__strings_functions;
