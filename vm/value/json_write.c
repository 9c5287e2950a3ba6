/* json_write.c: writes values as JSON text: compact, pretty, canonical (RFC 8785).
 *
 * Owns: the escaping and the member order of each style. In all styles, strings escape only what
 * RFC 8259 demands, in the form of RFC 8785, and numbers are written as in ECMAScript. Refuses to
 * know: how values outside the data model could be shown (MWL_E_NOT_JSON). */
#include "vm/value/value.h"
#include "vm/base/num.h"
#include "vm/base/utf8.h"

#define PIECE 16384u   /* bytes that a sink gets at a time, about */
#define ASK (1u << 20) /* bytes between two questions whether it is late */

static inline bool room(mwl__buf *b, size_t n) {
    return b->cap - b->len >= n || mwl__buf_reserve(b, n);
}

static inline void put(mwl__buf *b, char c) {
    if (room(b, 1)) b->data[b->len++] = c;
}

/* ---- strings --------------------------------------------------------------------------------- */

#define EACH(byte) (0x0101010101010101u * (byte))

/* Returns whether one of the eight bytes is below 0x20, a quote or a backslash. */
static bool has_special(uint64_t w) {
    uint64_t quote = w ^ EACH('"'), slash = w ^ EACH('\\');
    uint64_t low = (w - EACH(0x20u)) & ~w;
    uint64_t q = (quote - EACH(1u)) & ~quote, s = (slash - EACH(1u)) & ~slash;
    return ((low | q | s) & EACH(0x80u)) != 0;
}

/* Returns how many bytes at the beginning need no escape. */
static size_t plain_run(const char *s, size_t len) {
    size_t i = 0;
    for (uint64_t w; len - i >= 8; i += 8) {
        memcpy(&w, s + i, 8);
        if (has_special(w)) break;
    }
    while (i < len && (unsigned char)s[i] >= 0x20 && s[i] != '"' && s[i] != '\\') i++;
    return i;
}

static void put_escaped(mwl__buf *out, char c) {
    static const char hex[] = "0123456789abcdef";
    if (!room(out, 6)) return;
    char *to = out->data + out->len;
    *to++ = '\\';
    switch (c) {
    case '"':
    case '\\': *to++ = c; break;
    case '\b': *to++ = 'b'; break;
    case '\t': *to++ = 't'; break;
    case '\n': *to++ = 'n'; break;
    case '\f': *to++ = 'f'; break;
    case '\r': *to++ = 'r'; break;
    default:
        memcpy(to, "u00", 3);
        to[3] = hex[(unsigned char)c >> 4];
        to[4] = hex[c & 15];
        to += 5;
    }
    out->len = (size_t)(to - out->data);
}

/* Copies a text of at most 16 bytes to where there is room for it, unless it needs an escape: then
 * returns false. */
static inline bool copy_plain(char *to, const char *s, size_t n) {
    uint64_t a = EACH(' '), b;
    uint32_t c, d;
    if (n >= 8) {
        memcpy(&a, s, 8), memcpy(&b, s + n - 8, 8);
        if (has_special(a) || has_special(b)) return false;
        memcpy(to, &a, 8), memcpy(to + n - 8, &b, 8);
    } else if (n >= 4) {
        memcpy(&c, s, 4), memcpy(&d, s + n - 4, 4);
        if (has_special((uint64_t)c << 32 | d)) return false;
        memcpy(to, &c, 4), memcpy(to + n - 4, &d, 4);
    } else {
        for (size_t i = 0; i < n; i++) a = a << 8 | (unsigned char)(to[i] = s[i]);
        return !has_special(a);
    }
    return true;
}

/* The inside of a string literal. */
static inline void put_text(mwl__buf *out, const char *text, size_t len) {
    while (len) {
        size_t n = plain_run(text, len);
        if (n && room(out, n)) {
            memcpy(out->data + out->len, text, n);
            out->len += n;
        }
        text += n;
        len -= n;
        if (len) {
            put_escaped(out, *text++);
            len--;
        }
    }
}

void mwl__json_escape(mwl__buf *out, const char *text, size_t len) {
    while (len) {
        size_t n = mwl__utf8_valid_prefix(text, len);
        put_text(out, text, n);
        if (n < len) mwl__buf_puts(out, "\xEF\xBF\xBD");
        n += n < len;
        text += n;
        len -= n;
    }
}

void mwl__json_quote(mwl__buf *out, const char *text, size_t len) {
    if (len <= 16 && room(out, len + 2)) { /* most names and words */
        char *to = out->data + out->len;
        if (copy_plain(to + 1, text, len)) {
            to[0] = to[len + 1] = '"';
            out->len += len + 2;
            return;
        }
    }
    put(out, '"');
    put_text(out, text, len);
    put(out, '"');
}

/* ---- member order ---------------------------------------------------------------------------- */

/* spec: expressions, canonical JSON (RFC 8785): members in the order of their names in UTF-16 */
/* The positions of members in canonical order, for all open objects, one object after the other. */
typedef struct order {
    mwl_alloc alloc;
    uint32_t *pos;
    size_t n, cap;
} order;

static bool comes_after(const mwl__map *m, uint32_t a, uint32_t b) {
    return mwl__str_compare_utf16(m->keys->key[a], m->keys->key[b]) > 0;
}

static void sort_few(const mwl__map *m, uint32_t *pos, size_t n) {
    for (size_t i = 1; i < n; i++) {
        uint32_t p = pos[i];
        size_t k = i;
        for (; k && comes_after(m, pos[k - 1], p); k--) pos[k] = pos[k - 1];
        pos[k] = p;
    }
}

#define FEW 16u

/* Merge sort, beginning with runs of length FEW. `spare` is as long as pos. Keys are distinct, so
 * the order is total. */
static void sort_positions(const mwl__map *m, uint32_t *pos, uint32_t *spare, size_t n) {
    for (size_t i = 0; i < n; i += FEW) sort_few(m, pos + i, n - i < FEW ? n - i : FEW);
    uint32_t *from = pos, *to = spare;
    for (size_t run = FEW; run < n; run *= 2) {
        for (size_t start = 0; start < n; start += run * 2) {
            size_t a = start, mid = start + run < n ? start + run : n;
            size_t b = mid, end = start + run * 2 < n ? start + run * 2 : n;
            for (size_t k = start; k < end; k++) {
                bool left = b == end || (a < mid && !comes_after(m, from[a], from[b]));
                to[k] = left ? from[a++] : from[b++];
            }
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != pos) memcpy(pos, from, n * sizeof *pos);
}

/* Append the order of the first n members, all with string keys. */
static bool push_order(order *o, const mwl__map *m, uint32_t n) {
    void *p = o->pos;
    size_t spare = n > FEW ? n : 0;
    mwl_status status = mwl__mem_grow(&o->alloc, &p, &o->cap, o->n + n + spare, sizeof *o->pos);
    o->pos = p;
    if (status < 0) return false;
    uint32_t *pos = o->pos + o->n;
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        pos[i] = i;
        if (i && sorted) sorted = !comes_after(m, i - 1, i);
    }
    if (!sorted) sort_positions(m, pos, pos + n, n);
    o->n += n;
    return true;
}

/* ---- the walk -------------------------------------------------------------------------------- */

typedef struct level {
    const void *box; /* mwl__list or mwl__map */
    uint32_t at, n;
    bool object;
} level;

typedef struct writer {
    mwl__buf *out;
    mwl_json_sink *sink; /* NULL: all stays in `out` */
    void *ctx;
    mwl_heap *heap;      /* with a sink: is asked whether it is late */
    uint64_t sent, most; /* with a sink: bytes that it got, and the most that it may get */
    mwl_status refused;  /* what the sink returned, or why it was not asked */
    mwl_json_style style;
    uint64_t fuel;
    order order; /* canonical style only */
    size_t depth;
    level stack[MWL_DEPTH_LIMIT];
} writer;

/* Hands a piece over. */
static mwl_status hand_over(writer *w, size_t len) {
    if (len > w->most - w->sent) return MWL_E_TOO_BIG;
    if (w->sent / ASK != (w->sent + len) / ASK && mwl__heap_ask_late(w->heap)) return MWL_E_FUEL;
    w->sent += len;
    return w->sink(w->ctx, w->out->data, len);
}

/* With a sink, `out` holds one piece: handed over when it is full, or when `all` is asked for. */
static void spill(writer *w, bool all) {
    if (!w->sink || w->out->len < (all ? 1 : PIECE)) return;
    if (w->refused == MWL_OK && !w->out->failed) w->refused = hand_over(w, w->out->len);
    w->out->len = 0;
}

/* A string literal that is longer than a piece. */
static void put_long(writer *w, const mwl__str *s) {
    put(w->out, '"');
    for (size_t at = 0, n; at < s->len; at += n) {
        n = s->len - at < PIECE ? s->len - at : PIECE;
        put_text(w->out, s->s + at, n);
        spill(w, false);
    }
    put(w->out, '"');
}

static inline void put_string(writer *w, const mwl__str *s) {
    if (w->sink && s->len > PIECE)
        put_long(w, s);
    else
        mwl__json_quote(w->out, s->s, s->len);
}

static void new_line(writer *w) {
    size_t spaces = w->depth * 2;
    if (!room(w->out, spaces + 1)) return;
    w->out->data[w->out->len] = '\n';
    memset(w->out->data + w->out->len + 1, ' ', spaces);
    w->out->len += spaces + 1;
}

static bool all_text(mwl_value v) {
    const mwl__map *m = mwl__as_map(v);
    if (!(m->odd & MWL__ODD_KIND)) return true;
    for (uint32_t i = 0; i < v.aux; i++)
        if (mwl_value_kind(m->keys->key[i]) != MWL_KIND_STRING) return false;
    return true;
}

static mwl_status open_box(writer *w, mwl_value v) {
    bool object = mwl_value_kind(v) == MWL_KIND_OBJECT;
    put(w->out, object ? '{' : '[');
    if (v.aux == 0) {
        put(w->out, object ? '}' : ']');
        return MWL_OK;
    }
    if (object && !all_text(v)) return MWL_E_NOT_JSON;
    if (object && w->style == MWL_JSON_CANONICAL && !push_order(&w->order, v.as.p, v.aux))
        return MWL_E_NOMEM;
    w->stack[w->depth++] = (level){v.as.p, 0, v.aux, object};
    return MWL_OK;
}

static mwl_status write_one(writer *w, mwl_value v) {
    switch (mwl_value_kind(v)) {
    case MWL_KIND_NULL: mwl__buf_put(w->out, "null", 4); return MWL_OK;
    case MWL_KIND_BOOL:
        mwl__buf_put(w->out, v.as.i ? "true" : "false", v.as.i ? 4 : 5);
        return MWL_OK;
    case MWL_KIND_NUMBER:
        if (v.as.d - v.as.d != 0) return MWL_E_NOT_JSON;
        if (room(w->out, MWL__NUM_MAX))
            w->out->len += mwl__num_write(v.as.d, w->out->data + w->out->len);
        return MWL_OK;
    case MWL_KIND_STRING: {
        const mwl__str *s = mwl__as_str(v);
        uint64_t more = s->len >> 6;
        w->fuel -= more < w->fuel ? more : w->fuel;
        put_string(w, s);
        return MWL_OK;
    }
    case MWL_KIND_ARRAY:
    case MWL_KIND_OBJECT: return open_box(w, v);
    default: return MWL_E_NOT_JSON;
    }
}

/* Moves to the next value and closes containers that are complete. Returns NULL after the last
 * value. */
static const mwl_value *next_value(writer *w) {
    while (w->depth) {
        level *top = &w->stack[w->depth - 1];
        if (top->at == top->n) {
            w->depth--;
            if (w->style == MWL_JSON_PRETTY) new_line(w);
            if (w->style == MWL_JSON_CANONICAL && top->object) w->order.n -= top->n;
            put(w->out, top->object ? '}' : ']');
            continue;
        }
        if (top->at) put(w->out, ',');
        if (w->style == MWL_JSON_PRETTY) new_line(w);
        uint32_t i = top->at++;
        if (!top->object) return &((const mwl__list *)top->box)->item[i];
        if (w->style == MWL_JSON_CANONICAL) i = w->order.pos[w->order.n - top->n + i];
        const mwl__map *m = top->box;
        put_string(w, mwl__as_str(m->keys->key[i]));
        put(w->out, ':');
        if (w->style == MWL_JSON_PRETTY) put(w->out, ' ');
        return &m->val[i];
    }
    return NULL;
}

static mwl_status write_all(writer *w, mwl_value v) {
    mwl_status status = MWL_OK;
    const mwl_value *next = &v;
    do {
        if (w->fuel == 0) {
            status = MWL_E_FUEL;
            break;
        }
        w->fuel--;
        status = write_one(w, *next);
        if (w->sink) {
            spill(w, false);
            if (status == MWL_OK) status = w->refused;
        }
    } while (status == MWL_OK && !w->out->failed && (next = next_value(w)));
    if (status == MWL_OK) spill(w, true);
    mwl__mem_free(&w->order.alloc, w->order.pos, w->order.cap * sizeof *w->order.pos);
    if (status == MWL_OK && w->out->failed) status = MWL_E_NOMEM;
    return status == MWL_OK ? w->refused : status;
}

/* ---- a lower bound ----------------------------------------------------------------------------
 */

/* The text of a value that has one part several times can be gigabytes where the value is a few
 * bytes. Its weight tells, but weight is an upper bound: an older version of a list weighs what the
 * newest one does. So where weight says that a text may be too long, its least length is counted:
 * without escapes, a number as one byte. What a container was found to need is remembered, so that
 * parts that many share are counted once. */
#define KNOWN 256u /* containers that are remembered */

typedef struct counted {
    const void *box; /* NULL: none */
    uint32_t n;      /* of this version */
    uint64_t least;
} counted;

typedef struct counter {
    uint64_t sum; /* of all that was counted */
    size_t depth;
    struct {
        level at;
        uint64_t before; /* the sum when it was begun */
    } open[MWL_DEPTH_LIMIT];
    counted known[KNOWN];
} counter;

static counted *known_at(counter *c, const void *box, uint32_t n) {
    return &c->known[((uintptr_t)box / 16 + n) * 0x9E3779B1u % 0x100000000u >> 24];
}

static void count_one(counter *c, mwl_value v) {
    mwl_kind kind = mwl_value_kind(v);
    if (kind == MWL_KIND_STRING) c->sum += (uint64_t)mwl__as_str(v)->len + 1;
    c->sum++;
    if ((kind != MWL_KIND_ARRAY && kind != MWL_KIND_OBJECT) || v.aux == 0) return;
    const counted *k = known_at(c, v.as.p, v.aux);
    if (k->box == v.as.p && k->n == v.aux) {
        c->sum += k->least;
        return;
    }
    c->open[c->depth].before = c->sum;
    c->open[c->depth++].at = (level){v.as.p, 0, v.aux, kind == MWL_KIND_OBJECT};
}

static bool is_longer(mwl_value v, uint64_t most) {
    counter c;
    c.sum = 0;
    c.depth = 0;
    memset(c.known, 0, sizeof c.known);
    count_one(&c, v);
    while (c.depth && c.sum <= most) {
        level *top = &c.open[c.depth - 1].at;
        if (top->at == top->n) {
            uint64_t least = c.sum - c.open[--c.depth].before;
            *known_at(&c, top->box, top->n) = (counted){top->box, top->n, least};
            continue;
        }
        uint32_t i = top->at++;
        c.sum++; /* the comma, or the bracket at the end */
        if (!top->object) {
            count_one(&c, ((const mwl__list *)top->box)->item[i]);
            continue;
        }
        const mwl__map *m = top->box;
        if (mwl_value_kind(m->keys->key[i]) == MWL_KIND_STRING)
            c.sum += (uint64_t)mwl__as_str(m->keys->key[i])->len + 3;
        count_one(&c, m->val[i]);
    }
    return c.sum > most;
}

/* ---- for hosts ------------------------------------------------------------------------------- */

static void writer_init(writer *w, mwl__buf *out, mwl_json_style style) {
    w->out = out;
    w->sink = NULL;
    w->sent = 0;
    w->most = UINT64_MAX;
    w->refused = MWL_OK;
    w->style = style;
    w->fuel = UINT64_MAX;
    w->order = (order){out->alloc, NULL, 0, 0};
    w->depth = 0;
}

mwl_status mwl__json_write(mwl_value v, mwl_json_style style, mwl__buf *out, uint64_t *fuel) {
    writer w;
    size_t start = out->len;
    writer_init(&w, out, style);
    if (fuel) w.fuel = *fuel;
    mwl_status status = write_all(&w, v);
    if (fuel) *fuel = w.fuel;
    if (status < 0) out->len = start;
    return status;
}

mwl_status mwl_json_write(mwl_heap *heap, mwl_value v, mwl_json_style style, char **text,
                          size_t *len) {
    if (!heap || !text || !len || (unsigned)style > MWL_JSON_CANONICAL) return MWL_E_USAGE;
    mwl__buf out = mwl__buf_make(mwl__heap_account(heap));
    mwl_status status = mwl__json_write(v, style, &out, NULL);
    if (status == MWL_OK) mwl__buf_putc(&out, '\0');
    char *exact = NULL; /* mwl_text_free gets only the length */
    if (status == MWL_OK && !out.failed) exact = mwl_heap_resize(heap, out.data, out.cap, out.len);
    if (!exact) {
        mwl__buf_free(&out);
        return status == MWL_OK || status == MWL_E_NOMEM ? heap->why : status;
    }
    *text = exact;
    *len = out.len - 1;
    return MWL_OK;
}

static mwl_status count_only(void *ctx, const char *text, size_t len) {
    (void)ctx, (void)text, (void)len;
    return MWL_OK;
}

mwl_status mwl_json_write_within(mwl_heap *heap, mwl_value v, mwl_json_style style, uint64_t most,
                                 mwl_json_sink *sink, void *ctx, uint64_t *size) {
    if (size) *size = 0;
    if (!heap || (unsigned)style > MWL_JSON_CANONICAL) return MWL_E_USAGE;
    if (mwl__value_weight(v) > most / 2 && is_longer(v, most)) return MWL_E_TOO_BIG;
    mwl__buf out = mwl__buf_make(mwl__heap_account(heap));
    writer w;
    writer_init(&w, &out, style);
    w.sink = sink ? sink : count_only;
    w.ctx = ctx;
    w.heap = heap;
    w.most = most;
    mwl_status status = write_all(&w, v);
    mwl__buf_free(&out);
    if (size) *size = w.sent;
    return status == MWL_E_NOMEM && w.refused == MWL_OK ? heap->why : status;
}

mwl_status mwl_json_write_to(mwl_heap *heap, mwl_value v, mwl_json_style style, mwl_json_sink *sink,
                             void *ctx) {
    if (!sink) return MWL_E_USAGE;
    return mwl_json_write_within(heap, v, style, UINT64_MAX, sink, ctx, NULL);
}

void mwl_text_free(mwl_heap *heap, char *text, size_t len) {
    if (heap && text) (void)mwl_heap_resize(heap, text, len + 1, 0);
}
