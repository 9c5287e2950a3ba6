/* outline.c: see outline.h. */
#include "tools/lsp/outline.h"

#include "vm/base/ascii.h"
#include "vm/base/utf8.h"

/* Containers inside each other. The assembler allows fewer; deeper ones are not looked at. */
#define DEPTH_MAX 1000

struct reader {
    struct outline *o;
    const char *s;
    uint32_t at, len, depth;
    struct outline_node *open; /* the innermost container */
    bool has_key, key_closed;  /* a name was read, and its value was not; it has both quotes */
    uint32_t key_begin, key_end, key_len, key_end_colon;
    const char *key;
};

/* ---- strings --------------------------------------------------------------------------------- */

static int hex4(const char *p) {
    int v = 0;
    for (int i = 0; i < 4; i++) {
        int d = mwl__hex_value(p[i]);
        if (d < 0) return -1;
        v = v * 16 + d;
    }
    return v;
}

/* Decodes one character of a string. Returns how many bytes it has in the text; *n is how many are
 * in `out`. A wrong escape stands for itself. */
static uint32_t decode_one(const char *p, const char *end, char out[4], uint32_t *n) {
    static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    out[0] = *p;
    *n = 1;
    if (*p != '\\' || end - p < 2) return 1;
    const char *known = p[1] ? strchr(plain, p[1]) : NULL;
    if (known) {
        out[0] = meant[known - plain];
        return 2;
    }
    int high = p[1] == 'u' && end - p >= 6 ? hex4(p + 2) : -1;
    if (high < 0) return 1;
    uint32_t c = (uint32_t)high, width = 6;
    if (!mwl__utf8_is_scalar(c)) {
        int low = end - p >= 12 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8) : -1;
        if (high >= 0xDC00 || low < 0xDC00 || low > 0xDFFF) return 1;
        c = 0x10000u + ((c - 0xD800u) << 10) + ((uint32_t)low - 0xDC00u);
        width = 12;
    }
    *n = (uint32_t)mwl__utf8_encode(c, out);
    return width;
}

/* Decodes the inside of a string. */
static const char *decode(struct reader *r, uint32_t from, uint32_t to, uint32_t *len) {
    const char *p = r->s + from, *end = r->s + to;
    *len = to - from;
    if (!memchr(p, '\\', to - from)) return p;
    char *copy = mwl__arena_new(&r->o->arena, to - from + 4);
    if (!copy) {
        r->o->failed = true;
        *len = 0;
        return "";
    }
    uint32_t n = 0;
    while (p < end) {
        char out[4];
        uint32_t bytes;
        p += decode_one(p, end, out, &bytes);
        memcpy(copy + n, out, bytes);
        n += bytes;
    }
    *len = n;
    return copy;
}

/* Returns where the string that begins here ends, behind its quote; without one, its line's end. */
static uint32_t string_end(const struct reader *r, uint32_t at, bool *closed) {
    *closed = false;
    for (at++; at < r->len; at++) {
        char c = r->s[at];
        if (c == '\n' || c == '\r') return at;
        if (c == '\\' && at + 1 < r->len && r->s[at + 1] != '\n' && r->s[at + 1] != '\r') at++;
        if (c == '"') {
            *closed = true;
            return at + 1;
        }
    }
    return r->len;
}

/* The inside of a string node, without its quotes. */
static void inside(const struct outline_node *n, uint32_t *from, uint32_t *to) {
    *from = n->begin + 1;
    *to = n->closed ? n->end - 1 : n->end;
}

uint32_t outline_text_offset_on(const struct outline *o, const struct outline_node *n, uint32_t at,
                                struct outline_walk *w) {
    uint32_t from, to;
    inside(n, &from, &to);
    if (w->offset < from || w->decoded > at) *w = (struct outline_walk){0, from};
    while (w->offset < to && w->decoded < at) {
        char out[4];
        uint32_t bytes, width = decode_one(o->text + w->offset, o->text + to, out, &bytes);
        if (w->decoded + bytes > at) break;
        w->decoded += bytes;
        w->offset += width;
    }
    return w->offset;
}

uint32_t outline_text_offset(const struct outline *o, const struct outline_node *n, uint32_t at) {
    struct outline_walk w = {0, 0};
    return outline_text_offset_on(o, n, at, &w);
}

uint32_t outline_text_index(const struct outline *o, const struct outline_node *n,
                            uint32_t offset) {
    uint32_t from, to, decoded = 0;
    inside(n, &from, &to);
    while (from < to && from < offset) {
        char out[4];
        uint32_t bytes;
        from += decode_one(o->text + from, o->text + to, out, &bytes);
        decoded += bytes;
    }
    return decoded;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Adds a value to the open container, with the name that waits for one. */
static struct outline_node *add(struct reader *r, enum outline_kind kind, uint32_t begin,
                                uint32_t end) {
    struct outline_node *n = mwl__arena_new(&r->o->arena, sizeof *n);
    if (!n) {
        r->o->failed = true;
        return NULL;
    }
    n->kind = (uint8_t)kind;
    n->begin = begin;
    n->end = end;
    n->parent = r->open;
    if (r->has_key) {
        n->key = r->key;
        n->key_len = r->key_len;
        n->key_begin = r->key_begin;
        n->key_end = r->key_end;
        n->key_closed = r->key_closed;
        r->has_key = false;
    }
    if (!r->open) {
        if (!r->o->root) r->o->root = n;
        return n;
    }
    n->index = r->open->count++;
    if (r->open->last)
        r->open->last->next = n;
    else
        r->open->first = n;
    r->open->last = n;
    return n;
}

/* A name without a value ends where its colon, or the name itself, does. */
static void add_missing(struct reader *r) {
    if (r->has_key) add(r, OUTLINE_MISSING, r->key_end_colon, r->key_end_colon);
}

static void open_container(struct reader *r, enum outline_kind kind) {
    if (r->depth >= DEPTH_MAX || (r->o->root && !r->open)) {
        r->at++;
        return;
    }
    struct outline_node *n = add(r, kind, r->at, r->len);
    r->at++;
    if (!n) return;
    r->open = n;
    r->depth++;
}

static void close_container(struct reader *r, enum outline_kind kind) {
    struct outline_node *n = r->open;
    add_missing(r);
    while (n && n->kind != kind) n = n->parent;
    uint32_t at = r->at++;
    if (!n) return; /* it closes nothing */
    for (; r->open != n; r->open = r->open->parent, r->depth--) r->open->end = at;
    n->end = at + 1;
    n->closed = true;
    r->open = n->parent;
    r->depth--;
}

static uint32_t skip_blanks(const struct reader *r, uint32_t at) {
    while (at < r->len && strchr(" \t\r\n", r->s[at]) && r->s[at]) at++;
    return at;
}

static void read_string(struct reader *r) {
    bool closed;
    uint32_t begin = r->at, end = string_end(r, begin, &closed);
    uint32_t behind = skip_blanks(r, end);
    bool colon = behind < r->len && r->s[behind] == ':';
    bool object = r->open && r->open->kind == OUTLINE_OBJECT;
    r->at = end;
    if (object && (colon || !r->has_key)) {
        add_missing(r);
        r->key = decode(r, begin + 1, closed ? end - 1 : end, &r->key_len);
        r->key_begin = begin;
        r->key_end = end;
        r->key_closed = closed;
        r->has_key = true;
        r->key_end_colon = colon ? behind + 1 : end;
        if (colon)
            r->at = behind + 1;
        else
            add_missing(r);
        return;
    }
    if (r->o->root && !r->open) return;
    struct outline_node *n = add(r, OUTLINE_STRING, begin, end);
    if (!n) return;
    n->closed = closed;
    n->text = decode(r, begin + 1, closed ? end - 1 : end, &n->text_len);
}

static void read_word(struct reader *r) {
    uint32_t begin = r->at;
    while (r->at < r->len && !strchr(" \t\r\n,:{}[]\"", r->s[r->at])) r->at++;
    if (r->at == begin) r->at++; /* a NUL */
    if (r->open && r->open->kind == OUTLINE_OBJECT && !r->has_key) return;
    if (r->o->root && !r->open) return;
    add(r, OUTLINE_SCALAR, begin, r->at);
}

void outline_read(struct outline *o, const char *text, uint32_t len) {
    memset(o, 0, sizeof *o);
    o->arena = mwl__arena_make(mwl_alloc_default());
    o->text = text;
    o->len = len;
    struct reader r = {.o = o, .s = text, .len = len};
    while (r.at < len && !o->failed) {
        switch (text[r.at]) {
        case ' ':
        case '\t':
        case '\r':
        case '\n':
        case ':': r.at++; break;
        case ',':
            add_missing(&r);
            r.at++;
            break;
        case '{': open_container(&r, OUTLINE_OBJECT); break;
        case '[': open_container(&r, OUTLINE_ARRAY); break;
        case '}': close_container(&r, OUTLINE_OBJECT); break;
        case ']': close_container(&r, OUTLINE_ARRAY); break;
        case '"': read_string(&r); break;
        default: read_word(&r); break;
        }
    }
    add_missing(&r);
}

void outline_free(struct outline *o) {
    mwl__arena_free(&o->arena);
    memset(o, 0, sizeof *o);
}

/* ---- looking --------------------------------------------------------------------------------- */

struct outline_node *outline_next(const struct outline_node *n) {
    if (n->first) return n->first;
    while (n && !n->next) n = n->parent;
    return n ? n->next : NULL;
}

struct outline_node *outline_find(const struct outline_node *n, const char *name, size_t len) {
    if (!n || n->kind != OUTLINE_OBJECT) return NULL;
    for (struct outline_node *m = n->first; m; m = m->next)
        if (m->key && m->key_len == len && memcmp(m->key, name, len) == 0) return m;
    return NULL;
}

struct outline_node *outline_get(const struct outline_node *n, const char *name) {
    return outline_find(n, name, strlen(name));
}

bool outline_key_is(const struct outline_node *n, const char *name) {
    return n->key && n->key_len == strlen(name) && memcmp(n->key, name, n->key_len) == 0;
}

bool outline_text_is(const struct outline_node *n, const char *text) {
    return n && n->kind == OUTLINE_STRING && n->text_len == strlen(text) &&
           memcmp(n->text, text, n->text_len) == 0;
}

/* Does the cursor touch the value? A closed container, or a closed string, ends in front of it. */
static bool touches(const struct outline_node *n, uint32_t offset) {
    if (n->kind == OUTLINE_SCALAR) return offset >= n->begin && offset <= n->end;
    return offset > n->begin && (n->closed ? offset < n->end : offset <= n->end);
}

static bool in_name(const struct outline_node *n, uint32_t offset) {
    return n->key && offset > n->key_begin &&
           (n->key_closed ? offset < n->key_end : offset <= n->key_end);
}

struct outline_node *outline_at(const struct outline *o, uint32_t offset, bool *in_key) {
    struct outline_node *found = NULL;
    *in_key = false;
    struct outline_node *n = o->root && touches(o->root, offset) ? o->root : NULL;
    while (n) {
        found = n;
        for (n = n->first; n; n = n->next) {
            if (in_name(n, offset)) {
                *in_key = true;
                return n;
            }
            if (touches(n, offset)) break;
        }
    }
    return found;
}
