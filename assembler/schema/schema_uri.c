/* schema_uri.c: resolves URI references against a base (RFC 3986, section 5.2).
 *
 * Owns: splitting a reference and building the target. Only dot segments are normalised. A relative
 * or empty base is used unchanged. */
#include "assembler/schema/schema_build.h"
#include "vm/base/ascii.h"

struct part {
    const char *s;
    size_t len;
    bool there;
};
struct uri {
    struct part scheme, authority, path, query;
    size_t fragment; /* where '#' is, or the length */
};

static struct part part(const char *s, size_t len) {
    struct part p = {s, len, true};
    return p;
}

static bool is_scheme(const char *s, size_t len) {
    for (size_t i = 0; i < len; i++) {
        bool alpha = mwl__is_letter(s[i]);
        bool other = mwl__is_digit(s[i]) || s[i] == '+' || s[i] == '-' || s[i] == '.';
        if (!alpha && (i == 0 || !other)) return false;
    }
    return len > 0;
}

static size_t span_to(const char *s, size_t at, size_t len, const char *stops) {
    while (at < len && !(s[at] && strchr(stops, s[at]))) at++;
    return at;
}

static struct uri take_apart(const char *s, size_t len) {
    struct uri u = {0};
    size_t at = 0, end;
    u.fragment = span_to(s, 0, len, "#");
    len = u.fragment;
    end = span_to(s, 0, len, ":/?");
    if (end < len && s[end] == ':' && is_scheme(s, end)) {
        u.scheme = part(s, end);
        at = end + 1;
    }
    if (len - at >= 2 && s[at] == '/' && s[at + 1] == '/') {
        end = span_to(s, at + 2, len, "/?");
        u.authority = part(s + at + 2, end - at - 2);
        at = end;
    }
    end = span_to(s, at, len, "?");
    u.path = part(s + at, end - at);
    if (end < len) u.query = part(s + end + 1, len - end - 1);
    return u;
}

/* Appends the path without its dot segments; `from` is where the path begins in out. */
static void put_path(mwl__buf *out, const char *s, size_t len) {
    size_t from = out->len, at = 0;
    while (at < len) {
        size_t end = at + (s[at] == '/');
        end = span_to(s, end, len, "/");
        const char *segment = s + at + (s[at] == '/');
        size_t n = (size_t)(s + end - segment);
        bool last = end == len;
        if (n == 1 && segment[0] == '.') {
            if (last && s[at] == '/') mwl__buf_putc(out, '/');
        } else if (n == 2 && segment[0] == '.' && segment[1] == '.') {
            while (out->len > from && out->data[out->len - 1] != '/') out->len--;
            if (out->len > from) out->len--;
            if (last) mwl__buf_putc(out, '/');
        } else {
            mwl__buf_put(out, s + at, end - at);
        }
        at = end;
    }
}

static void put_merged(mwl__buf *out, const struct uri *base, const struct uri *ref,
                       mwl__buf *tmp) {
    if (base->authority.there && base->path.len == 0) {
        mwl__buf_putc(tmp, '/');
    } else {
        size_t keep = base->path.len;
        while (keep && base->path.s[keep - 1] != '/') keep--;
        mwl__buf_put(tmp, base->path.s, keep);
    }
    mwl__buf_put(tmp, ref->path.s, ref->path.len);
    if (tmp->failed)
        out->failed = true;
    else if (tmp->len)
        put_path(out, tmp->data, tmp->len);
}

void mwl__uri_resolve(const char *base, size_t base_len, const char *ref, size_t ref_len,
                      mwl__buf *out, size_t *fragment) {
    struct uri b = take_apart(base, base_len), r = take_apart(ref, ref_len);
    mwl__buf tmp = mwl__buf_make(out->alloc);
    *fragment = r.fragment;
    const struct part *scheme = r.scheme.there ? &r.scheme : &b.scheme;
    bool whole = r.scheme.there || r.authority.there;
    const struct part *authority = whole ? &r.authority : &b.authority;
    const struct part *query = &r.query;
    if (scheme->there) {
        mwl__buf_put(out, scheme->s, scheme->len);
        mwl__buf_putc(out, ':');
    }
    if (authority->there) {
        mwl__buf_puts(out, "//");
        mwl__buf_put(out, authority->s, authority->len);
    }
    if (whole || (r.path.len && r.path.s[0] == '/')) {
        if (r.scheme.there && !r.authority.there && (r.path.len == 0 || r.path.s[0] != '/'))
            mwl__buf_put(out, r.path.s, r.path.len); /* urn:...: its path has no hierarchy */
        else
            put_path(out, r.path.s, r.path.len);
    } else if (r.path.len == 0) {
        mwl__buf_put(out, b.path.s, b.path.len);
        if (!r.query.there) query = &b.query;
    } else {
        put_merged(out, &b, &r, &tmp);
    }
    if (query->there) {
        mwl__buf_putc(out, '?');
        mwl__buf_put(out, query->s, query->len);
    }
    mwl__buf_free(&tmp);
}
