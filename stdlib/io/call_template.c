/* call_template.c: template: a text whose places are filled from a value. */
#include "stdlib/io/codec.h"

#include <stdio.h>
#include <stdlib.h>

#define PREFIX "Provider.Call.Template"

typedef struct text_part {
    const char *p;
    size_t n;
} text_part;

static text_part part_of(mwl_value v) {
    text_part t = {"", 0};
    if (mwl_value_kind(v) == MWL_KIND_STRING) t.p = mwl_as_text(v, &t.n);
    return t;
}

static text_part trimmed(text_part t) {
    while (t.n && strchr(" \t\r\n", *t.p) && *t.p) t.p++, t.n--;
    while (t.n && strchr(" \t\r\n", t.p[t.n - 1]) && t.p[t.n - 1]) t.n--;
    return t;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* A member, or the element of an array with this index. */
static mwl_value inside(mwl_value v, text_part name) {
    if (mwl_value_kind(v) == MWL_KIND_OBJECT) return mwl_object_get(v, name.p, name.n);
    if (mwl_value_kind(v) != MWL_KIND_ARRAY || name.n == 0 || name.n > 9) return mwl_absent();
    size_t i = 0;
    for (size_t k = 0; k < name.n; k++) {
        if (name.p[k] < '0' || name.p[k] > '9') return mwl_absent();
        i = i * 10 + (size_t)(name.p[k] - '0');
    }
    return mwl_array_at(v, i);
}

static mwl_value find(mwl_value v, text_part path) {
    if (path.n == 1 && *path.p == '.') return v;
    while (!mwl_is_absent(v)) {
        const char *dot = memchr(path.p, '.', path.n);
        size_t n = dot ? (size_t)(dot - path.p) : path.n;
        v = inside(v, (text_part){path.p, n});
        if (!dot) return v;
        path = (text_part){dot + 1, path.n - n - 1};
    }
    return v;
}

/* ---- escaping -------------------------------------------------------------------------------- */

static bool escape_html(mwl__bytes *out, char c) {
    const char *text = c == '&'    ? "&amp;"
                       : c == '<'  ? "&lt;"
                       : c == '>'  ? "&gt;"
                       : c == '"'  ? "&quot;"
                       : c == '\'' ? "&#39;"
                                   : NULL;
    return text ? mwl__bytes_add(out, text, strlen(text)) : mwl__bytes_add(out, &c, 1);
}

static bool escape_url(mwl__bytes *out, char c) {
    char text[4];
    bool plain =
        (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c && strchr("-._~", c));
    if (plain) return mwl__bytes_add(out, &c, 1);
    snprintf(text, sizeof text, "%%%02X", (unsigned char)c);
    return mwl__bytes_add(out, text, 3);
}

/* Adds a text as the inside of a JSON string. */
static bool escape_json(mwl_heap *heap, mwl__bytes *out, const mwl__bytes *text) {
    mwl_value v = mwl_string(heap, text->data ? text->data : "", text->len);
    mwl__bytes quoted = {.payer = out->payer};
    bool ok = !mwl_is_absent(v) &&
              mwl_json_write_to(heap, v, MWL_JSON_COMPACT, mwl__bytes_sink, &quoted) == MWL_OK;
    ok = ok && mwl__bytes_add(out, quoted.data + 1, quoted.len - 2);
    mwl__bytes_free(&quoted);
    mwl_value_drop(heap, v);
    return ok;
}

static bool put_value(mwl_heap *heap, mwl__bytes *out, mwl_value v, const char *escape) {
    mwl__bytes text = {.payer = out->payer};
    bool ok = mwl_value_kind(v) == MWL_KIND_NULL || mwl__encode_plain(heap, v, &text) == MWL_OK;
    if (ok && strcmp(escape, "json") == 0) {
        ok = escape_json(heap, out, &text);
    } else if (ok && strcmp(escape, "none") == 0) {
        ok = mwl__bytes_add(out, text.data, text.len);
    } else {
        bool html = strcmp(escape, "html") == 0;
        for (size_t i = 0; i < text.len && ok; i++)
            ok = html ? escape_html(out, text.data[i]) : escape_url(out, text.data[i]);
    }
    mwl__bytes_free(&text);
    return ok;
}

/* ---- the text -------------------------------------------------------------------------------- */

typedef struct filling {
    mwl_call *call;
    mwl_value values;
    text_part open, close;
    const char *missing, *escape;
    mwl__bytes out;
} filling;

static bool wrong(filling *f, const char *code, mwl_value details, const char *what,
                  text_part name) {
    mwl__io_fail(f->call, code, false, details, "%s%.*s", what, name.n > 200 ? 200 : (int)name.n,
                 name.p);
    return false;
}

static bool no_memory(filling *f) {
    mwl__io_fail(f->call, PREFIX ".OutOfMemory", true, mwl_absent(), "out of memory");
    return false;
}

/* Fills one place; `whole` is the place with its delimiters. false: the call has been settled. */
static bool fill_place(filling *f, text_part name, text_part whole) {
    mwl_heap *heap = mwl_call_heap(f->call);
    if (name.n == 0)
        return wrong(f, PREFIX ".InvalidTemplate", mwl_absent(), "a place has no name", name);
    mwl_value v = find(f->values, name);
    if (!mwl_is_absent(v)) return put_value(heap, &f->out, v, f->escape) || no_memory(f);
    if (strcmp(f->missing, "empty") == 0) return true;
    if (strcmp(f->missing, "keep") == 0)
        return mwl__bytes_add(&f->out, whole.p, whole.n) || no_memory(f);
    mwl_value details =
        mwl__io_set(heap, mwl_object(heap, 1), "name", mwl__io_text(heap, name.p, name.n));
    return wrong(f, PREFIX ".MissingValue", details, "there is no value for ", name);
}

static bool fill(filling *f, text_part text) {
    while (text.n) {
        size_t at = mwl_text_find(text.p, text.n, f->open.p, f->open.n);
        bool found = at < text.n;
        if (!mwl__bytes_add(&f->out, text.p, found ? at : text.n)) return no_memory(f);
        if (!found) break;
        text_part rest = {text.p + at + f->open.n, text.n - at - f->open.n};
        size_t end = rest.n ? mwl_text_find(rest.p, rest.n, f->close.p, f->close.n) : rest.n;
        if (end >= rest.n)
            return wrong(f, PREFIX ".InvalidTemplate", mwl_absent(), "a place is not closed: ",
                         (text_part){text.p + at, text.n - at > 40 ? 40 : text.n - at});
        text_part whole = {text.p + at, f->open.n + end + f->close.n};
        if (!fill_place(f, trimmed((text_part){rest.p, end}), whole)) return false;
        text = (text_part){whole.p + whole.n, text.n - at - whole.n};
    }
    return true;
}

static void template_start(mwl_call *call, void *user) {
    (void)user;
    mwl_value args = mwl_call_arguments(call), values = mwl_get(args, "values");
    mwl_value delimiters = mwl_get(args, "delimiters");
    mwl__payer payer = MWL__PAID_BY_CALL(call);
    filling f = {.call = call,
                 .out = {.payer = &payer},
                 .values = mwl_is_absent(values) ? mwl_call_input(call) : values,
                 .open = {"{{", 2},
                 .close = {"}}", 2},
                 .missing = mwl__io_arg_text(args, "missing", "fail"),
                 .escape = mwl__io_arg_text(args, "escape", "none")};
    if (!mwl_is_absent(delimiters)) {
        f.open = part_of(mwl_array_at(delimiters, 0));
        f.close = part_of(mwl_array_at(delimiters, 1));
    }
    if (fill(&f, part_of(mwl_get(args, "text"))))
        mwl_call_succeed(call,
                         mwl_string(mwl_call_heap(call), f.out.data ? f.out.data : "", f.out.len));
    mwl__bytes_free(&f.out);
}

const mwl_call_provider mwl__io_call_template = {MWL__IO_CALL(template, "template"),
                                                 .start = template_start};
const mwl__io_life mwl__io_call_template_life = {NULL};
