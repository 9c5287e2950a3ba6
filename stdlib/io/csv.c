/* csv.c: tables in CSV (RFC 4180): quoted fields, doubled quotes, line breaks inside quotes. */
#include "stdlib/io/codec.h"

#include <stdio.h>

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reader {
    mwl_heap *heap;
    const char *p, *end;
    char separator;
    size_t line;
    char *why;
    mwl__bytes field; /* of a quoted one */
} reader;

static mwl_value wrong(reader *r, const char *what) {
    snprintf(r->why, MWL__WHY, "line %zu: %s", r->line, what);
    return mwl_absent();
}

static mwl_value text_of(reader *r, const char *text, size_t len) {
    mwl_value v = mwl_string(r->heap, text, len);
    if (mwl_is_absent(v) && mwl_heap_why(r->heap) == MWL_E_UTF8)
        return wrong(r, "the text is not UTF-8");
    return v;
}

static bool at_field_end(const reader *r) {
    return r->p == r->end || *r->p == r->separator || *r->p == '\n' ||
           (*r->p == '\r' && (r->p + 1 == r->end || r->p[1] == '\n'));
}

static mwl_value quoted_field(reader *r) {
    r->field.len = 0;
    for (r->p++; r->p < r->end; r->p++) {
        if (*r->p == '"') {
            if (r->p + 1 == r->end || r->p[1] != '"') break;
            r->p++;
        }
        if (*r->p == '\n') r->line++;
        if (!mwl__bytes_add(&r->field, r->p, 1)) return mwl_absent();
    }
    if (r->p == r->end) return wrong(r, "a quote is not closed");
    r->p++;
    if (!at_field_end(r)) return wrong(r, "text after a closing quote");
    return text_of(r, r->field.data ? r->field.data : "", r->field.len);
}

static mwl_value next_field(reader *r) {
    if (r->p < r->end && *r->p == '"') return quoted_field(r);
    const char *from = r->p;
    while (!at_field_end(r)) r->p++;
    return text_of(r, from, (size_t)(r->p - from));
}

/* One row as an array; r->p is after its line break. */
static mwl_value next_row(reader *r) {
    mwl_value row = mwl_array(r->heap, 0);
    for (;;) {
        row = mwl_array_push(r->heap, row, next_field(r));
        if (mwl_is_absent(row)) return row;
        if (r->p == r->end || *r->p != r->separator) break;
        r->p++;
    }
    if (r->p < r->end && *r->p == '\r') r->p++;
    if (r->p < r->end && *r->p == '\n') r->p++;
    return row;
}

static mwl_value row_object(reader *r, mwl_value names, mwl_value row) {
    size_t n = mwl_count(names);
    if (mwl_count(row) != n) {
        char what[80];
        snprintf(what, sizeof what, "%zu fields, but the header has %zu", mwl_count(row), n);
        return wrong(r, what);
    }
    mwl_value object = mwl_object(r->heap, n);
    for (size_t i = 0; i < n; i++)
        object = mwl_object_put(r->heap, object, mwl_value_keep(mwl_array_at(names, i)),
                                mwl_value_keep(mwl_array_at(row, i)));
    return object;
}

static bool blank_row(mwl_value row) {
    size_t len = 0;
    return mwl_count(row) == 1 && mwl_as_text(mwl_array_at(row, 0), &len) && len == 0;
}

mwl_value mwl__csv_decode(mwl_heap *heap, const char *data, size_t len, const mwl__csv *csv,
                          char why[MWL__WHY]) {
    mwl__payer payer = {.heap = heap};
    reader r = {heap, data, data + len, csv->separator, 1, why, {.payer = &payer}};
    mwl_value all = mwl_array(heap, 0), names = mwl_absent();
    if (len >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) r.p += 3; /* a byte order mark */
    while (r.p < r.end && !mwl_is_absent(all)) {
        const char *from = r.p;
        mwl_value row = next_row(&r);
        if (mwl_is_absent(row)) {
            mwl_value_drop(heap, all);
            all = row;
        } else if (blank_row(row) && *from != '"') {
            mwl_value_drop(heap, row); /* an empty line */
        } else if (csv->header && mwl_is_absent(names)) {
            names = row;
        } else if (csv->header) {
            all = mwl_array_push(heap, all, row_object(&r, names, row));
            mwl_value_drop(heap, row);
        } else {
            all = mwl_array_push(heap, all, row);
        }
        r.line++;
    }
    mwl_value_drop(heap, names);
    mwl__bytes_free(&r.field);
    return all;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool put_quoted(mwl__bytes *out, const char *text, size_t len) {
    bool ok = mwl__bytes_add(out, "\"", 1);
    for (size_t at = 0; at < len && ok;) {
        const char *quote = memchr(text + at, '"', len - at);
        size_t n = quote ? (size_t)(quote - text) + 1 - at : len - at;
        ok = mwl__bytes_add(out, text + at, n) && (!quote || mwl__bytes_add(out, "\"", 1));
        at += n;
    }
    return ok && mwl__bytes_add(out, "\"", 1);
}

/* A text as it is, null as an empty field, any other value as JSON. */
static mwl_status put_field(mwl_heap *heap, mwl_value v, const mwl__csv *csv, bool first,
                            mwl__bytes *out) {
    mwl__bytes text = {.payer = out->payer};
    mwl_kind kind = mwl_value_kind(v);
    mwl_status status = kind == MWL_KIND_NULL || kind == MWL_KIND_ABSENT
                            ? MWL_OK
                            : mwl__encode_plain(heap, v, &text);
    bool ok = first || mwl__bytes_add(out, &csv->separator, 1), quote = false;
    for (size_t i = 0; i < text.len && !quote; i++)
        quote = text.data[i] == csv->separator || strchr("\"\r\n", text.data[i]);
    if (text.len == 0 && kind == MWL_KIND_STRING) quote = true; /* an empty text is not null */
    if (status == MWL_OK && ok)
        ok = quote ? put_quoted(out, text.data ? text.data : "", text.len)
                   : mwl__bytes_add(out, text.data ? text.data : "", text.len);
    mwl__bytes_free(&text);
    return status == MWL_OK && !ok ? MWL_E_NOMEM : status;
}

/* The names of all rows, in the order in which they first appear; absent if a row is not an
 * object. */
static mwl_value all_names(mwl_heap *heap, mwl_value rows) {
    mwl_value names = mwl_object(heap, 8), key;
    for (size_t i = 0; i < mwl_count(rows); i++) {
        mwl_value row = mwl_array_at(rows, i);
        if (mwl_value_kind(row) != MWL_KIND_OBJECT) {
            mwl_value_drop(heap, names);
            return mwl_absent();
        }
        for (size_t k = 0; mwl_object_at(row, k, &key, NULL); k++)
            names = mwl_object_put(heap, names, mwl_value_keep(key), mwl_null());
    }
    return names;
}

static mwl_status put_row(mwl_heap *heap, mwl_value names, mwl_value row, const mwl__csv *csv,
                          mwl__bytes *out) {
    mwl_status status = MWL_OK;
    mwl_value key;
    size_t n = mwl_is_absent(names) ? mwl_count(row) : mwl_count(names);
    for (size_t i = 0; i < n && status == MWL_OK; i++) {
        mwl_value v = mwl_array_at(row, i);
        if (!mwl_is_absent(names)) {
            mwl_object_at(names, i, &key, NULL);
            v = mwl_is_absent(row) ? key : mwl_object_find(row, key);
        }
        status = put_field(heap, v, csv, i == 0, out);
    }
    return status == MWL_OK && !mwl__bytes_add(out, "\r\n", 2) ? MWL_E_NOMEM : status;
}

mwl_status mwl__csv_encode(mwl_heap *heap, mwl_value rows, const mwl__csv *csv, mwl__bytes *out,
                           char why[MWL__WHY]) {
    mwl_value names = mwl_absent();
    bool right = mwl_value_kind(rows) == MWL_KIND_ARRAY;
    for (size_t i = 0; right && !mwl_is_absent(mwl_array_at(rows, i)); i++)
        right = mwl_value_kind(mwl_array_at(rows, i)) ==
                (mwl_value_kind(mwl_array_at(rows, 0)) == MWL_KIND_ARRAY ? MWL_KIND_ARRAY
                                                                         : MWL_KIND_OBJECT);
    if (!right) {
        snprintf(why, MWL__WHY, "the value is not an array of objects or an array of arrays");
        return MWL_E_NOT_JSON;
    }
    mwl_status status = MWL_OK;
    if (mwl_value_kind(mwl_array_at(rows, 0)) == MWL_KIND_OBJECT) {
        names = all_names(heap, rows);
        if (mwl_is_absent(names)) return MWL_E_NOMEM;
        if (csv->header) status = put_row(heap, names, mwl_absent(), csv, out);
    }
    for (size_t i = 0; i < mwl_count(rows) && status == MWL_OK; i++)
        status = put_row(heap, names, mwl_array_at(rows, i), csv, out);
    mwl_value_drop(heap, names);
    return status;
}
