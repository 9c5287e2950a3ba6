/* json.c: reads JSON text into values, straight from the text: there is no tree in between.
 *
 * Owns: what is accepted as data. Strict RFC 8259: no comments, no trailing commas, no byte order
 * mark, valid UTF-8, no lone surrogates. Numbers become the nearest double; one beyond the largest
 * double is refused (MWL_E_RANGE), since the data model has finite numbers only. If an object has
 * the same name twice, the last value wins, at the position of the first. Deeper than
 * MWL_DEPTH_LIMIT is MWL_E_DEPTH. Refuses to know: definitions, which need positions and refuse
 * duplicates.
 *
 * The text is whole, or comes in pieces; then only the piece that is being read is held. Values
 * wait until their container is complete, so that its buffer has the right size at once; of a long
 * container a batch waits at a time. What waits counts against the limit of the heap. */
#include "vm/value/value.h"
#include "vm/base/num.h"
#include "vm/base/utf8.h"

enum {
    PIECE =
        65536,    /* bytes of text that are held when it comes in pieces; a longer token grows it */
    ASK = 65536,  /* bytes of text between two questions whether it is late */
    BATCH = 4096, /* waiting values of one container; even, since members are pairs */
    FEW = 32,     /* values that wait without memory of the heap */
    SHORT = 32,   /* bytes of texts that are shared */
    N_NAMES = 64, /* recent member names of this text, so that similar objects share them */
    N_TEXTS = 128,    /* recent short strings: kinds, states, units are the same in many records */
    SHARE_FROM = 256, /* bytes of text; with less, filling the tables costs more than it saves */
};

typedef struct level {
    mwl_value box;  /* owned: what has left `waiting` already; absent: nothing has */
    mwl_value like; /* lent: a complete container that this one may resemble; absent: none */
    size_t base;    /* where its values begin in `waiting` */
    bool object;
    bool alike;   /* its names are, so far, the first ones of `like` */
    bool foreign; /* `like` is of another text: only its names are shared */
} level;

typedef struct reader {
    mwl_heap *heap;
    const char *begin, *at, *end; /* the text that is held, and where reading is */
    size_t before;                /* bytes of the text before `begin` */
    size_t asked;                 /* at which byte it was asked last whether it is late */
    mwl_json_source *source;      /* NULL: the text is whole */
    void *ctx;
    char *piece; /* with a source: where the text is held */
    size_t room;
    bool ended; /* the source has no more */

    mwl_status status; /* the first mistake */
    const char *message;
    size_t offset;
    bool differs; /* a name was there twice, or a number is larger than integers can be exact */

    mwl_value like;     /* lent: the value of another text that this one may resemble, or absent */
    bool plain_names;   /* no name had an escape, so a name and its text are the same bytes */
    bool sharing;       /* the tables are in use */
    mwl_value *waiting; /* elements, or names and values in turn, of all open containers */
    size_t n, cap;
    char *unescaped;
    size_t unescaped_room;
    size_t depth;
    mwl_value few[FEW], names[N_NAMES], texts[N_TEXTS];
    level stack[MWL_DEPTH_LIMIT];
} reader;

/* ---- mistakes -------------------------------------------------------------------------------- */

static bool fail(reader *r, mwl_status status, const char *message, const char *at) {
    if (r->status == MWL_OK) {
        r->status = status;
        r->message = message;
        r->offset = r->before + (size_t)(at - r->begin);
    }
    return false;
}

static bool fail_memory(reader *r) { return fail(r, r->heap->why, NULL, r->begin); }

static bool fail_end(reader *r) { return fail(r, MWL_E_JSON, "the text ends too early", r->end); }

/* ---- the text -------------------------------------------------------------------------------- */

/* Gets more text. What is held from `at` on stays; it and `at` move. Returns false if there is no
 * more, or the source failed. */
static bool more(reader *r) {
    if (r->ended) return false;
    size_t kept = (size_t)(r->end - r->at);
    r->before += (size_t)(r->at - r->begin);
    if (kept) memmove(r->piece, r->at, kept);
    r->begin = r->at = r->piece;
    r->end = r->piece + kept;
    if (kept > r->room / 2) {
        char *wider = mwl__heap_resize(r->heap, r->piece, r->room, r->room * 2);
        if (!wider) return fail_memory(r);
        r->begin = r->at = r->piece = wider;
        r->end = wider + kept;
        r->room *= 2;
    }
    size_t got = 0;
    mwl_status status = r->source(r->ctx, r->piece + kept, r->room - kept, &got);
    r->ended = status < 0 || got == 0 || got > r->room - kept;
    if (status < 0) return fail(r, status, NULL, r->end);
    if (r->ended) return got ? fail(r, MWL_E_USAGE, NULL, r->end) : false;
    r->end += got;
    return true;
}

/* Skips blanks. Returns the next byte, or -1 at the end of the text. */
static inline int next_byte(reader *r) {
    for (;;) {
        const char *p = r->at, *end = r->end;
        if (p < end && (unsigned char)*p > ' ') return (unsigned char)*p;
        while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
        r->at = p;
        if (p < end) return (unsigned char)*p;
        if (!more(r)) return -1;
    }
}

/* ---- strings --------------------------------------------------------------------------------- */

#define EACH(byte) (0x0101010101010101u * (byte))

/* Returns a word whose lowest set bit is in the first byte (of lowest value) that is below 0x20, a
 * quote or a backslash; 0 if there is no such byte. */
static inline uint64_t special_in(uint64_t w) {
    uint64_t quote = w ^ EACH('"'), slash = w ^ EACH('\\');
    uint64_t low = (w - EACH(0x20u)) & ~w;
    uint64_t q = (quote - EACH(1u)) & ~quote, s = (slash - EACH(1u)) & ~slash;
    return (low | q | s) & EACH(0x80u);
}

/* Returns how many bytes from s on are plain: neither below 0x20, nor a quote, nor a backslash.
 * Adds their bits to *seen. */
static inline size_t plain(const char *s, size_t len, uint64_t *seen) {
    size_t i = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (uint64_t w; len - i >= 8; i += 8) {
        memcpy(&w, s + i, 8);
        uint64_t stop = special_in(w);
        if (stop) {
            *seen |= w & ((stop & -stop) - 1);
            return i + ((size_t)__builtin_ctzll(stop) >> 3);
        }
        *seen |= w;
    }
#endif
    for (; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c < 0x20 || c == '"' || c == '\\') break;
        *seen |= c;
    }
    return i;
}

typedef struct span {
    size_t len; /* bytes between the quotes; they begin at r->at + 1 */
    bool escaped, ascii;
} span;

/* Finds the end of the string whose first quote is at r->at. All of it is held then. */
static inline bool find_end(reader *r, span *out) {
    uint64_t seen = 0;
    size_t i = 1;
    out->escaped = false;
    for (;;) {
        size_t n = (size_t)(r->end - r->at);
        i += plain(r->at + i, n - i, &seen);
        char c = i < n ? r->at[i] : '\\';
        if (c == '"') break;
        if (c != '\\')
            return fail(r, MWL_E_JSON, "a control character in a string needs an escape",
                        r->at + i);
        if (n - i >= 2) {
            out->escaped = true;
            i += 2;
        } else if (!more(r)) {
            return fail_end(r);
        }
    }
    out->len = i - 1;
    out->ascii = !(seen & EACH(0x80u));
    return true;
}

/* Reads the four hexadecimal digits of an escape at s, before `end`. Returns -1 if they are not. */
static int32_t hex4(const char *s, const char *end) {
    int32_t v = 0;
    if (end - s < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = s[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        v = v << 4 | digit;
    }
    return v;
}

/* Writes the character of the escape at *s (behind its backslash) and moves *s behind it. Returns
 * the bytes written, 0 for a mistake. */
static size_t unescape_one(const char **s, const char *end, char *to) {
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    char c = *(*s)++;
    if (c != 'u') {
        const char *found = c ? strchr(from, c) : NULL;
        if (!found) return 0;
        *to = into[found - from];
        return 1;
    }
    int32_t unit = hex4(*s, end);
    if (unit < 0) return 0;
    *s += 4;
    uint32_t code = (uint32_t)unit;
    if (code >= 0xD800 && code < 0xDC00 && end - *s >= 6 && (*s)[0] == '\\' && (*s)[1] == 'u') {
        int32_t low = hex4(*s + 2, end);
        if (low < 0xDC00 || low > 0xDFFF) return 0;
        *s += 6;
        code = 0x10000 + ((code - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
    }
    return mwl__utf8_encode(code, to); /* 0 for a lone surrogate */
}

/* Makes room for the text of a string without its escapes: at most as long as with them. */
static bool unescape_room(reader *r, size_t len) {
    if (len <= r->unescaped_room) return true;
    char *wider = r->unescaped
                      ? mwl__heap_resize(r->heap, r->unescaped, r->unescaped_room, len + len / 2)
                      : mwl__heap_take(r->heap, len + len / 2);
    if (!wider) return fail_memory(r);
    r->unescaped = wider;
    r->unescaped_room = len + len / 2;
    return true;
}

static bool unescape(reader *r, const char *s, size_t *len) {
    if (!unescape_room(r, *len)) return false;
    const char *end = s + *len;
    char *to = r->unescaped;
    while (s < end) {
        const char *slash = memchr(s, '\\', (size_t)(end - s));
        size_t n = (size_t)((slash ? slash : end) - s);
        memcpy(to, s, n);
        to += n;
        s += n;
        if (!slash) break;
        s++;
        size_t width = unescape_one(&s, end, to);
        if (width == 0) return fail(r, MWL_E_JSON, "this escape is not valid", slash);
        to += width;
    }
    *len = (size_t)(to - r->unescaped);
    return true;
}

/* Returns the text as a string that recent equal ones of the table share. */
static mwl_value shared(reader *r, mwl_value *table, size_t size, const char *s, size_t len,
                        size_t n_cp) {
    uint32_t hash = mwl__str_hash(s, len);
    mwl_value *place = &table[hash % size];
    if (!mwl_is_absent(*place) && place->aux == hash) {
        const mwl__str *have = mwl__as_str(*place);
        if (have->len == len && memcmp(have->s, s, len) == 0) return mwl__keep(*place);
    }
    mwl_value v = mwl__str_new_known(r->heap, s, len, n_cp, hash);
    if (mwl_is_absent(v)) return v;
    mwl__drop(r->heap, *place);
    *place = mwl__keep(v);
    return v;
}

static mwl_value make_string(reader *r, bool name, const char *s, size_t len, size_t n_cp) {
    if (name && r->heap->shares_names) return mwl__key(r->heap, s, len);
    if (len > SHORT || !r->sharing)
        return mwl__str_new_known(r->heap, s, len, n_cp, mwl__str_hash(s, len));
    return name ? shared(r, r->names, N_NAMES, s, len, n_cp)
                : shared(r, r->texts, N_TEXTS, s, len, n_cp);
}

/* Reads the string whose first quote is at r->at. */
static bool read_string(reader *r, bool name, mwl_value *out) {
    span found = {0};
    if (!find_end(r, &found)) return false;
    const char *s = r->at + 1;
    size_t len = found.len, n_cp = len;
    if (!found.ascii && !mwl__utf8_valid(s, len, &n_cp))
        return fail(r, MWL_E_UTF8, NULL, s + mwl__utf8_valid_prefix(s, len));
    r->at = s + len + 1;
    if (found.escaped) {
        if (!unescape(r, s, &len)) return false;
        s = r->unescaped;
        n_cp = mwl__utf8_count(s, len);
        r->plain_names &= !name;
    }
    *out = make_string(r, name, s, len, n_cp);
    return !mwl_is_absent(*out) || fail_memory(r);
}

/* ---- the other scalars ----------------------------------------------------------------------- */

/* spec: data-model, a single number type: the nearest double, within its range */
static bool read_number(reader *r, mwl_value *out) {
    for (;;) {
        double d = 0;
        mwl_status status;
        size_t n = (size_t)(r->end - r->at), used = mwl__num_json(r->at, n, &d, &status);
        if (used == n && more(r)) continue; /* it may go on */
        if (r->status != MWL_OK) return false;
        if (status == MWL_E_SYNTAX && used == n) return fail_end(r);
        if (status == MWL_E_SYNTAX)
            return fail(r, MWL_E_JSON, "this is not a number", r->at + used);
        if (status < 0) return fail(r, status, NULL, r->at);
        r->at += used;
        r->differs |= d >= 0x1p53 || d <= -0x1p53; /* 2^53 + 1 becomes 2^53 */
        *out = mwl_number(d);
        return true;
    }
}

static bool read_word(reader *r, const char *word, size_t len, mwl_value v, mwl_value *out) {
    while ((size_t)(r->end - r->at) < len && more(r)) {
    }
    for (size_t i = 0; i < len; i++) {
        if (r->at + i == r->end) return fail_end(r);
        if (r->at[i] != word[i]) return fail(r, MWL_E_JSON, "a value is expected", r->at + i);
    }
    r->at += len;
    *out = v;
    return true;
}

static bool read_scalar(reader *r, int c, mwl_value *out) {
    switch (c) {
    case '"': return read_string(r, false, out);
    case 't': return read_word(r, "true", 4, mwl_bool(true), out);
    case 'f': return read_word(r, "false", 5, mwl_bool(false), out);
    case 'n': return read_word(r, "null", 4, mwl_null(), out);
    case -1: return fail_end(r);
    default:
        if (c == '-' || (c >= '0' && c <= '9')) return read_number(r, out);
        return fail(r, MWL_E_JSON, "a value is expected", r->at);
    }
}

/* ---- containers ------------------------------------------------------------------------------ */

/* Lets a value wait for the end of its container. */
static inline bool hold(reader *r, mwl_value take) {
    if (r->n == r->cap) {
        size_t size = r->cap * sizeof *r->waiting;
        mwl_value *wider = r->waiting == r->few
                               ? mwl__heap_take(r->heap, size * 2)
                               : mwl__heap_resize(r->heap, r->waiting, size, size * 2);
        if (!wider) {
            mwl__drop(r->heap, take);
            return fail_memory(r);
        }
        if (r->waiting == r->few) memcpy(wider, r->few, size);
        r->waiting = wider;
        r->cap *= 2;
    }
    r->waiting[r->n++] = take;
    return true;
}

/* Returns whether the container that ends here has exactly the values of the one that it resembles:
 * equal scalars and shared strings and containers. Others count as different, though they may be
 * equal. */
static bool is_repeated(const reader *r, const level *l) {
    const mwl_value *mine = r->waiting + l->base;
    size_t n = (r->n - l->base) / (l->object ? 2 : 1);
    if (n == 0 || mwl_is_absent(l->like) || l->foreign || !mwl_is_absent(l->box) ||
        n != mwl_count(l->like) || (l->object && !l->alike))
        return false;
    for (size_t i = 0; i < n; i++) {
        mwl_value a = l->object ? mine[2 * i + 1] : mine[i];
        mwl_value b = l->object ? mwl__as_map(l->like)->val[i] : mwl__as_list(l->like)->item[i];
        if (a.tag != b.tag || a.aux != b.aux) return false;
        bool points = mwl_value_kind(a) >= MWL_KIND_STRING; /* perhaps with half of the bits */
        if (points ? a.as.p != b.as.p : a.as.u != b.as.u) return false;
    }
    return true;
}

static bool is_late(reader *r) {
    size_t at = r->before + (size_t)(r->at - r->begin);
    if (at - r->asked < ASK) return false;
    r->asked = at;
    return mwl__heap_ask_late(r->heap);
}

/* Moves what waits for a container into it. A container that repeats another one shares it. */
static bool deliver(reader *r, level *l) {
    if (is_late(r)) return fail_memory(r);
    mwl_heap *h = r->heap;
    const mwl_value *take = r->waiting + l->base;
    size_t n = r->n - l->base;
    bool repeated = is_repeated(r, l);
    r->n = l->base;
    if (repeated) {
        for (size_t i = 0; i < n; i++) mwl__drop(h, take[i]);
        l->box = mwl__keep(l->like);
        return true;
    }
    if (l->object) {
        size_t wanted = mwl_count(l->box) + n / 2;
        l->box = mwl_is_absent(l->box)
                     ? mwl__map_of(h, l->alike ? mwl__as_map(l->like)->keys : NULL, take, n / 2)
                     : mwl__map_extend(h, l->box, take, n / 2, false);
        r->differs |= mwl_count(l->box) != wanted;
    } else {
        mwl_value list = mwl_is_absent(l->box) ? mwl__list_new(h, n) : l->box;
        l->box = mwl__list_extend(h, list, take, n);
    }
    return !mwl_is_absent(l->box) || fail_memory(r);
}

/* Returns a complete container that the one that begins here may resemble: the element before it,
 * or what is at its place in the container that the one around it resembles. Absent: there is none.
 * Sets *foreign if it is part of another text. */
static mwl_value resembled(const reader *r, bool object, bool *foreign) {
    mwl_value like = r->like;
    *foreign = true;
    if (r->depth) {
        const level *around = &r->stack[r->depth - 1];
        size_t n = r->n - around->base;
        *foreign = around->foreign && (around->object || n == 0);
        like = mwl_absent();
        if (around->object && around->alike)
            (void)mwl_object_at(around->like, n / 2, NULL, &like);
        else if (!around->object)
            like = n ? r->waiting[r->n - 1] : mwl_array_at(around->like, 0);
    }
    return mwl_value_kind(like) == (object ? MWL_KIND_OBJECT : MWL_KIND_ARRAY) ? like
                                                                               : mwl_absent();
}

static bool open_container(reader *r, bool object) {
    if (r->depth == MWL_DEPTH_LIMIT) return fail(r, MWL_E_DEPTH, NULL, r->at);
    bool foreign;
    mwl_value like = resembled(r, object, &foreign);
    r->at++;
    r->stack[r->depth++] =
        (level){mwl_absent(), like, r->n, object, object && !mwl_is_absent(like), foreign};
    return true;
}

static bool close_container(reader *r, mwl_value *out) {
    level *top = &r->stack[r->depth - 1];
    bool batches = !mwl_is_absent(top->box);
    r->at++;
    if (!deliver(r, top)) return false;
    r->depth--;
    *out = batches && !top->object ? mwl__list_fit(r->heap, top->box) : top->box;
    return true;
}

/* Reads the name at r->at if it is the next one of the object that this one resembles. */
static inline bool read_same_name(reader *r, mwl_value *out) {
    level *top = &r->stack[r->depth - 1];
    size_t i = (r->n - top->base) / 2;
    if (!top->alike) return false;
    top->alike = false;
    if (!r->plain_names || i >= mwl_count(top->like) || !mwl_is_absent(top->box)) return false;
    mwl_value name = mwl__as_map(top->like)->keys->key[i];
    const mwl__str *s = mwl__as_str(name);
    if ((size_t)(r->end - r->at) < s->len + 2u || r->at[s->len + 1] != '"' ||
        !mwl__bytes_same(r->at + 1, s->s, s->len))
        return false;
    r->at += s->len + 2u;
    top->alike = true;
    *out = mwl__keep(name);
    return true;
}

/* Reads a member's name and the colon. */
static bool read_name(reader *r) {
    int c = next_byte(r);
    mwl_value name;
    if (c < 0) return fail_end(r);
    if (c != '"') return fail(r, MWL_E_JSON, "the name of a member is expected", r->at);
    if (!read_same_name(r, &name) && !read_string(r, true, &name)) return false;
    if (!hold(r, name)) return false;
    c = next_byte(r);
    if (c < 0) return fail_end(r);
    if (c != ':') return fail(r, MWL_E_JSON, "a colon is expected", r->at);
    r->at++;
    return true;
}

/* Reads what follows a value in a container: a comma, and a name in an object. */
static bool read_comma(reader *r, const level *top) {
    size_t comma = r->before + (size_t)(r->at - r->begin);
    r->at++;
    int c = next_byte(r);
    if (c == ']' || c == '}') {
        (void)fail(r, MWL_E_JSON, "a comma before the end of a container", r->at);
        r->offset = comma;
        return false;
    }
    return !top->object || read_name(r);
}

/* Stores a complete value in its container, which may be complete then as well. Returns false with
 * a mistake. `*out` is absent if another value follows. */
static bool store(reader *r, mwl_value v, mwl_value *out) {
    while (r->depth) {
        level *top = &r->stack[r->depth - 1];
        if (!hold(r, v)) return false;
        if (r->n - top->base >= BATCH && !deliver(r, top)) return false;
        int c = next_byte(r);
        if (c == ',') {
            *out = mwl_absent();
            return read_comma(r, top);
        }
        if (c < 0) return fail_end(r);
        if (c != (top->object ? '}' : ']'))
            return fail(r, MWL_E_JSON, "a comma or the end of the container is expected", r->at);
        if (!close_container(r, &v)) return false;
    }
    *out = v;
    return true;
}

static bool read_value(reader *r, mwl_value *out) {
    for (;;) {
        mwl_value v;
        int c = next_byte(r);
        if (c == '{' || c == '[') {
            bool object = c == '{';
            if (!open_container(r, object)) return false;
            c = next_byte(r);
            if (c != (object ? '}' : ']')) {
                if (object && !read_name(r)) return false;
                continue;
            }
            if (!close_container(r, &v)) return false;
        } else if (!read_scalar(r, c, &v)) {
            return false;
        }
        if (!store(r, v, out)) return false;
        if (!mwl_is_absent(*out)) return true;
    }
}

/* ---- whole texts ----------------------------------------------------------------------------- */

static void release(reader *r) {
    mwl_heap *h = r->heap;
    for (size_t i = 0; i < r->n; i++) mwl__drop(h, r->waiting[i]);
    for (size_t i = 0; i < r->depth; i++) mwl__drop(h, r->stack[i].box);
    if (r->waiting != r->few) mwl__heap_give(h, r->waiting, r->cap * sizeof *r->waiting);
    if (r->unescaped) mwl__heap_give(h, r->unescaped, r->unescaped_room);
    if (r->piece) mwl__heap_give(h, r->piece, r->room);
    if (!r->sharing) return;
    for (size_t i = 0; i < N_NAMES; i++) mwl__drop(h, r->names[i]);
    for (size_t i = 0; i < N_TEXTS; i++) mwl__drop(h, r->texts[i]);
}

static mwl_status read_document(reader *r, mwl_value *out, mwl_error *error) {
    mwl_value v = mwl_absent();
    if (next_byte(r) < 0 && r->status == MWL_OK)
        (void)fail(r, MWL_E_JSON, "the text is empty", r->end);
    else if (r->status == MWL_OK && read_value(r, &v) && next_byte(r) >= 0)
        (void)fail(r, MWL_E_JSON, "there is more text after the value", r->at);
    if (r->status != MWL_OK) mwl__drop(r->heap, v);
    release(r);
    if (r->status == MWL_OK) {
        *out = v;
    } else if (error) {
        error->status = r->status;
        error->message = r->message ? r->message : mwl_status_text(r->status);
        error->offset = r->offset;
    }
    return r->status;
}

/* Prepares a reader, with a source or a text. */
static void reader_init(reader *r, mwl_heap *heap, mwl_json_source *source, const char *text,
                        size_t len) {
    r->heap = heap;
    r->begin = r->at = text;
    r->end = text + len;
    r->before = r->asked = 0;
    r->source = source;
    r->ctx = NULL;
    r->piece = r->unescaped = NULL;
    r->room = r->unescaped_room = 0;
    r->ended = true;
    r->status = MWL_OK;
    r->message = NULL;
    r->offset = 0;
    r->differs = false;
    r->like = mwl_absent();
    r->plain_names = true;
    r->waiting = r->few;
    r->n = r->depth = 0;
    r->cap = FEW;
    r->sharing = source || len >= SHARE_FROM;
    if (!r->sharing) return;
    memset(r->names, 0, sizeof r->names);
    memset(r->texts, 0, sizeof r->texts);
}

mwl_status mwl__json_read(mwl_heap *heap, mwl_json_source *source, void *ctx, const char *text,
                          size_t len, mwl_value *out, mwl_error *error, bool *differs) {
    reader r;
    reader_init(&r, heap, source, len ? text : "", len);
    if (source) {
        r.ctx = ctx;
        r.piece = mwl__heap_take(heap, PIECE);
        if (!r.piece) (void)fail_memory(&r);
        r.room = r.piece ? PIECE : 0;
        r.ended = !r.piece;
    }
    mwl_status status = read_document(&r, out, error);
    *differs = r.differs;
    return status;
}

mwl_status mwl__json_read_next(mwl_heap *heap, const char *text, size_t len,
                               mwl__json_before *before, mwl_value *out, mwl_error *error) {
    reader r;
    reader_init(&r, heap, NULL, len ? text : "", len);
    if (before->plain_names) r.like = before->value;
    mwl_status status = read_document(&r, out, error);
    if (status < 0) return status;
    mwl__drop(heap, before->value);
    *before = (mwl__json_before){mwl__keep(*out), r.plain_names, r.differs};
    return status;
}

/* ---- for hosts ------------------------------------------------------------------------------- */

static mwl_status misused(mwl_error *error) {
    if (error) *error = (mwl_error){MWL_E_USAGE, mwl_status_text(MWL_E_USAGE), 0};
    return MWL_E_USAGE;
}

mwl_status mwl_json_parse(mwl_heap *heap, const char *text, size_t len, mwl_value *out,
                          mwl_error *error) {
    bool differs;
    if (!heap || !out || (!text && len)) return misused(error);
    return mwl__json_read(heap, NULL, NULL, text, len, out, error, &differs);
}

mwl_status mwl_json_read(mwl_heap *heap, mwl_json_source *source, void *ctx, mwl_value *out,
                         mwl_error *error) {
    bool differs;
    if (!heap || !source || !out) return misused(error);
    return mwl__json_read(heap, source, ctx, NULL, 0, out, error, &differs);
}
