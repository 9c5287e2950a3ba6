/* json.c: reads JSON text into values.
 *
 * Owns: what is accepted as data. Strict RFC 8259: no comments, no trailing commas, no byte order
 * mark, valid UTF-8, no lone surrogates. Numbers become the nearest double; one beyond the largest
 * double is refused (MWL_E_RANGE), since the data model has finite numbers only. If an object has
 * the same name twice, the last value wins, at the position of the first. Deeper than
 * MWL_DEPTH_LIMIT is MWL_E_DEPTH. Refuses to know: definitions, which need positions and refuse
 * duplicates; how the text of a value becomes one (json_nodes.c).
 *
 * A value is read as a whole if its text fits into a window. A container that does not fit is
 * opened here, and its parts are read in the same way. So memory for text and nodes is that of a
 * window, however long the text is; it may also come in pieces. A container with a mistake is
 * opened too, until the mistake is in a name, in a scalar or between two values: there it has its
 * place and its message.
 *
 * Values of an opened container wait until it is complete, so that its buffer has the right size at
 * once; of a long container a batch waits at a time. What waits counts against the limit of the
 * heap. */
#include "vm/value/json_nodes.h"
#include "vm/base/utf8.h"

#ifndef MWL_JSON_WINDOW /* in the hostile build, nearly every container is opened */
#ifdef MWL_STRESS
#define MWL_JSON_WINDOW 64
#else
#define MWL_JSON_WINDOW 32768
#endif
#endif

enum {
    WINDOW = MWL_JSON_WINDOW, /* bytes of text that are read as a whole; a longer scalar grows it */
    PIECE = 2 * WINDOW,       /* bytes of text that are held when it comes in pieces */
    ASK = 65536,              /* bytes of text between two questions whether it is late */
    BATCH = 4096,             /* waiting values of one container; even, since members are pairs */
    FEW_BYTES = 1024,         /* of text that is copied without memory of the heap */
    SHARE_FROM = 256,         /* bytes of text; with less, sharing costs more than it saves */
    LONGEST_SIGN = 16,        /* bytes of text: no escape, character or word is longer */
    RUN = 4                   /* scalars that are worth reading together */
};

typedef struct reader {
    mwl__json_nodes nodes;
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

    size_t window;
    char *copy; /* of the text from `copied_from` on, which yyjson writes into; a byte is before it
                   and the padding behind it */
    size_t copy_room, copied;
    const char *copied_from;
    size_t credit; /* bytes that may still be read in vain: twice, where a container did not fit */
    bool searches; /* there is a mistake, or what is too deep: every container is opened */

    mwl_value like; /* lent: the value of another text that this one may resemble, or absent */
    char few_bytes[FEW_BYTES];
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

static bool fail_memory(reader *r) { return fail(r, r->nodes.heap->why, NULL, r->begin); }

static bool fail_end(reader *r) { return fail(r, MWL_E_JSON, "the text ends too early", r->end); }

/* ---- the text -------------------------------------------------------------------------------- */

/* Gets more text. What is held from `at` on stays; it and `at` move. Returns false if there is no
 * more, or the source failed. */
static bool more(reader *r) {
    if (r->ended) return false;
    size_t kept = (size_t)(r->end - r->at);
    r->before += (size_t)(r->at - r->begin);
    r->copied = 0;
    if (kept) memmove(r->piece, r->at, kept);
    r->begin = r->at = r->piece;
    r->end = r->piece + kept;
    if (kept > r->room / 2) {
        char *wider = mwl__heap_resize(r->nodes.heap, r->piece, r->room, r->room * 2);
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

/* Copies the text from `at` on, as much as a window has, unless it is copied already. */
static bool copy_text(reader *r) {
    if (r->copied && r->at < r->copied_from + r->copied) return true;
    size_t n = (size_t)(r->end - r->at);
    if (n > r->window) n = r->window;
    const size_t size = 1 + n + MWL__JSON_PADDING;
    if (size > r->copy_room) {
        mwl_heap *h = r->nodes.heap;
        if (r->copy_room > sizeof r->few_bytes) mwl__heap_give(h, r->copy - 1, r->copy_room);
        r->copy = r->few_bytes + 1;
        r->copy_room = sizeof r->few_bytes;
        char *wider = mwl__heap_take(h, size);
        if (!wider) return fail_memory(r);
        r->copy = wider + 1;
        r->copy_room = size;
    }
    memcpy(r->copy, r->at, n);
    r->copied_from = r->at;
    r->copied = n;
    return true;
}

/* Gets at least as much text as is held from `at` on, or all that a window has, or the rest. */
static bool twice_as_much(reader *r) {
    size_t held = (size_t)(r->end - r->at), want = held * 2 < r->window ? held * 2 : r->window;
    while ((size_t)(r->end - r->at) < want && more(r)) {
    }
    return r->status == MWL_OK;
}

/* ---- scalars with a mistake ------------------------------------------------------------------ */

/* Returns the backslash of the escape that contains the place, or NULL. A pair of surrogates is one
 * escape; the first of a pair contains the place where the second is expected. */
static const char *escape_at(const char *s, const char *place, const char *end) {
    while (s <= place && s < end) {
        if (*s != '\\') {
            s++;
            continue;
        }
        size_t len = end - s >= 2 && s[1] == 'u' ? 6 : 2;
        if (len == 6 && end - s > 3 && (s[2] == 'd' || s[2] == 'D') && s[3] >= '8')
            len = end - s >= 8 && s[6] == '\\' && s[7] == 'u' ? 12 : 7;
        if (place < s + len) return s;
        s += len;
    }
    return NULL;
}

static bool wrong_text(reader *r, const char *place) {
    const char *slash = escape_at(r->at + 1, place, r->end);
    if (slash) return fail(r, MWL_E_JSON, "this escape is not valid", slash);
    if (place < r->end && (unsigned char)*place >= 0x80) return fail(r, MWL_E_UTF8, NULL, place);
    return fail(r, MWL_E_JSON, "a control character in a string needs an escape", place);
}

static bool wrong_number(reader *r, const char *place) {
    const char *digits = r->at + (*r->at == '-');
    if (digits[0] == '0' && r->end - digits >= 2 && digits[1] >= '0' && digits[1] <= '9')
        return fail(r, MWL_E_JSON,
                    r->nodes.depth ? "a comma or the end of the container is expected"
                                   : "there is more text after the value",
                    digits + 1);
    if (place == r->at) return fail(r, MWL_E_RANGE, NULL, r->at);
    return fail(r, MWL_E_JSON, "this is not a number", place);
}

static bool wrong_word(reader *r, int c) {
    const char *word = c == 't' ? "true" : c == 'f' ? "false" : "null", *at = r->at;
    while (at < r->end && *word && *at == *word) at++, word++;
    return fail(r, MWL_E_JSON, "a value is expected", at);
}

static bool wrong_scalar(reader *r, int c, bool cut, size_t used) {
    if (cut) return fail_end(r);
    if (c == '"') return wrong_text(r, r->at + used);
    if (c == '-' || (c >= '0' && c <= '9')) return wrong_number(r, r->at + used);
    return wrong_word(r, c);
}

/* ---- values in a window ---------------------------------------------------------------------- */

/* Is it worth while to read a container as a whole? */
static bool may_fit(const reader *r) {
    if (r->searches || r->credit == 0) return false;
    /* The outermost container has all of the text. */
    return r->nodes.depth || !r->ended || (size_t)(r->end - r->at) <= r->window;
}

/* After a value that did not end in the copy, or may not have: gets it more text. Returns false if
 * a window has no more room for it, or if the text cannot be had. */
static bool widen(reader *r, size_t had, bool container) {
    size_t held = (size_t)(r->end - r->at);
    if (had < held && had < r->window) return true; /* the copy began before it */
    if (!r->ended && held < r->window) return twice_as_much(r);
    if (container) return false;
    r->window = r->ended ? held : r->window * 4;
    return r->ended || twice_as_much(r);
}

/* Reads the value that begins at r->at with the byte c, as a whole. *out is absent, without a
 * mistake, if it is a container that must be opened. name: it is the name of a member. */
static bool read_whole(reader *r, int c, bool name, mwl_value like, bool foreign, mwl_value *out) {
    const bool container = c == '{' || c == '[';
    *out = mwl_absent();
    while (!container || may_fit(r)) {
        size_t used = 0;
        if (!copy_text(r)) return false;
        char *text = r->copy + (r->at - r->copied_from);
        const size_t had = r->copied - (size_t)(r->at - r->copied_from);
        const bool all = r->ended && had == (size_t)(r->end - r->at);
        mwl__json_found found =
            mwl__json_make(&r->nodes, text, had, name, like, foreign, out, &used);
        const bool may_go_on = !container && c != '"' && used == had && !all;
        if (found == MWL__JSON_MADE && !may_go_on) {
            r->at += used;
            r->credit += used;
            r->window = WINDOW;
            return true;
        }
        if (found == MWL__JSON_FAILED) return fail_memory(r);
        *out = mwl_absent();
        r->copied = 0; /* parts of it were changed */
        if (container) r->credit -= r->credit < had ? r->credit : had;
        const bool cut = found != MWL__JSON_WRONG || had - used < LONGEST_SIGN;
        if (cut && !all && widen(r, had, container)) continue;
        if (r->status != MWL_OK) return false;
        if (!container) return wrong_scalar(r, c, found != MWL__JSON_WRONG, used);
        r->searches |= all || !cut;
    }
    return true;
}

/* ---- opened containers ----------------------------------------------------------------------- */

/* Lets a value wait for the end of its container: an element, or names and values in turn. */
static inline bool hold(reader *r, mwl_value take) {
    if (r->nodes.n < r->nodes.cap || mwl__json_nodes_widen(&r->nodes, 1)) {
        r->nodes.waiting[r->nodes.n++] = take;
        return true;
    }
    mwl__drop(r->nodes.heap, take);
    return fail_memory(r);
}

static bool is_late(reader *r) {
    size_t at = r->before + (size_t)(r->at - r->begin);
    if (at - r->asked < ASK) return false;
    r->asked = at;
    return mwl__heap_ask_late(r->nodes.heap);
}

/* Returns how many members or elements of the container that wait are complete. */
static size_t complete(const reader *r, const mwl__json_level *l) {
    return (r->nodes.n - l->base) / (l->object ? 2 : 1);
}

/* Moves what waits for a container into it. */
static bool deliver(reader *r, mwl__json_level *l) {
    mwl_heap *h = r->nodes.heap;
    const mwl_value *take = r->nodes.waiting + l->base;
    const size_t n = complete(r, l);
    const bool alike = n && l->alike == n;
    r->nodes.n = l->base;
    if (l->object) {
        size_t wanted = mwl_count(l->box) + n;
        l->box = mwl_is_absent(l->box)
                     ? mwl__map_of(h, alike ? mwl__as_map(l->like)->keys : NULL, take, n)
                     : mwl__map_extend(h, l->box, take, n, false);
        r->nodes.differs |= mwl_count(l->box) != wanted;
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
    if (r->nodes.depth) {
        const mwl__json_level *around = &r->nodes.levels[r->nodes.depth - 1];
        size_t n = r->nodes.n - around->base;
        *foreign = around->foreign && (around->object || n == 0);
        like = mwl_absent();
        if (around->object && around->alike == n / 2 + 1)
            (void)mwl_object_at(around->like, n / 2, NULL, &like);
        else if (!around->object)
            like = n ? r->nodes.waiting[r->nodes.n - 1] : mwl_array_at(around->like, 0);
    }
    return mwl_value_kind(like) == (object ? MWL_KIND_OBJECT : MWL_KIND_ARRAY) ? like
                                                                               : mwl_absent();
}

static bool open_container(reader *r, bool object, mwl_value like, bool foreign) {
    mwl__json_nodes *j = &r->nodes;
    if (j->depth == MWL_DEPTH_LIMIT) return fail(r, MWL_E_DEPTH, NULL, r->at);
    r->at++;
    j->levels[j->depth++] =
        (mwl__json_level){.like = like, .object = object, .foreign = foreign, .base = r->nodes.n};
    return true;
}

static bool close_container(reader *r, mwl_value *out) {
    mwl__json_level *top = &r->nodes.levels[r->nodes.depth - 1];
    bool batches = !mwl_is_absent(top->box);
    r->at++;
    if (!deliver(r, top)) return false;
    r->nodes.depth--;
    *out = batches && !top->object ? mwl__list_fit(r->nodes.heap, top->box) : top->box;
    return true;
}

/* Moves the parts of a container into the waiting ones of the newest level. */
static bool hold_parts(reader *r, mwl_value parts) {
    const size_t n = mwl_count(parts);
    bool object = mwl_value_kind(parts) == MWL_KIND_OBJECT, fine = true;
    for (size_t i = 0; fine && i < n; i++) {
        if (object) fine = hold(r, mwl__keep(mwl__as_map(parts)->keys->key[i]));
        if (!fine) break;
        fine =
            hold(r, mwl__keep(object ? mwl__as_map(parts)->val[i] : mwl__as_list(parts)->item[i]));
    }
    mwl__drop(r->nodes.heap, parts);
    return fine;
}

/* Returns where the quote is that ends the string whose first quote is at i; n: it is not here. */
static size_t end_of_text(const char *text, size_t i, size_t n) {
    for (;;) {
        const char *quote = i + 1 < n ? memchr(text + i + 1, '"', n - i - 1) : NULL;
        if (!quote) return n;
        i = (size_t)(quote - text);
        size_t slashes = 0;
        while (quote[-1 - (ptrdiff_t)slashes] == '\\') slashes++;
        if (slashes % 2 == 0) return i;
    }
}

/* Returns where the last comma of a run of scalars is, with their names in an object; 0: there are
 * few of them. */
static size_t run_of(const char *text, size_t n) {
    size_t commas = 0, last = 0;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (c == '[' || c == '{' || c == ']' || c == '}') break;
        if (c == ',') commas++, last = i;
        if (c != '"') continue;
        i = end_of_text(text, i, n);
    }
    return commas >= RUN ? last : 0;
}

/* Reads many scalars together, as a container, up to a comma. Returns false if that is not worth
 * while, or with a mistake. */
static bool read_run(reader *r, mwl__json_level *top) {
    if (r->searches || !copy_text(r)) return false;
    char *text = r->copy + (r->at - r->copied_from);
    const size_t had = r->copied - (size_t)(r->at - r->copied_from), n = run_of(text, had);
    if (n == 0) return false;
    mwl_value parts;
    size_t used = 0;
    text[-1] = top->object ? '{' : '[';
    text[n] = top->object ? '}' : ']';
    mwl__json_found found =
        mwl__json_make(&r->nodes, text - 1, had + 1, false, mwl_absent(), false, &parts, &used);
    if (found == MWL__JSON_FAILED) return fail_memory(r);
    if (found != MWL__JSON_MADE) { /* one by one, they show where the mistake is */
        r->copied = 0;
        r->searches = true;
        return false;
    }
    r->at += n;
    r->credit += n;
    if (!hold_parts(r, parts)) return false;
    if (is_late(r)) return fail_memory(r);
    return r->nodes.n - top->base < BATCH || deliver(r, top);
}

/* Passes over a comma, behind which something must follow. */
static bool skip_comma(reader *r) {
    size_t comma = r->before + (size_t)(r->at - r->begin);
    r->at++;
    int c = next_byte(r);
    if (c != ']' && c != '}') return true;
    (void)fail(r, MWL_E_JSON, "a comma before the end of a container", r->at);
    r->offset = comma;
    return false;
}

/* Reads a member's name and the colon. */
static bool read_name(reader *r) {
    mwl__json_level *top = &r->nodes.levels[r->nodes.depth - 1];
    int c = next_byte(r);
    while (c == '"' && read_run(r, top)) c = skip_comma(r) ? next_byte(r) : -1;
    if (r->status != MWL_OK) return false;
    if (c < 0) return fail_end(r);
    if (c != '"') return fail(r, MWL_E_JSON, "the name of a member is expected", r->at);
    const size_t i = complete(r, top);
    mwl_value name;
    if (!read_whole(r, c, true, mwl_absent(), false, &name)) return false;
    if (mwl_is_absent(top->box) && top->alike == i && i < mwl_count(top->like) &&
        mwl__as_map(top->like)->keys->key[i].as.p == name.as.p)
        top->alike++;
    if (!hold(r, name)) return false;
    c = next_byte(r);
    if (c < 0) return fail_end(r);
    if (c != ':') return fail(r, MWL_E_JSON, "a colon is expected", r->at);
    r->at++;
    return true;
}

/* Stores a complete value in its container, which may be complete then as well. Returns false with
 * a mistake. `*out` is absent if another value follows. */
static bool store(reader *r, mwl_value v, mwl_value *out) {
    while (r->nodes.depth) {
        mwl__json_level *top = &r->nodes.levels[r->nodes.depth - 1];
        if (!hold(r, v)) return false;
        if (is_late(r)) return fail_memory(r);
        if (r->nodes.n - top->base >= BATCH && !deliver(r, top)) return false;
        int c = next_byte(r);
        if (c == ',') {
            *out = mwl_absent();
            return skip_comma(r) && (!top->object || read_name(r));
        }
        if (c < 0) return fail_end(r);
        if (c != (top->object ? '}' : ']'))
            return fail(r, MWL_E_JSON, "a comma or the end of the container is expected", r->at);
        if (!close_container(r, &v)) return false;
    }
    *out = v;
    return true;
}

static bool begins_value(int c) {
    return c == '"' || c == '{' || c == '[' || c == 't' || c == 'f' || c == 'n' || c == '-' ||
           (c >= '0' && c <= '9');
}

/* Finds the next value. In an array, many scalars before it may be read together. Returns its first
 * byte, or -1 with a mistake. */
static int find_value(reader *r) {
    const size_t depth = r->nodes.depth;
    mwl__json_level *top = depth ? &r->nodes.levels[depth - 1] : NULL;
    int c = next_byte(r);
    while (top && !top->object && c != '{' && c != '[' && c >= 0 && read_run(r, top))
        c = skip_comma(r) ? next_byte(r) : -1;
    if (c < 0) (void)fail_end(r);
    if (c < 0 || r->status != MWL_OK) return -1;
    if (begins_value(c)) return c;
    (void)fail(r, MWL_E_JSON, "a value is expected", r->at);
    return -1;
}

static bool read_value(reader *r, mwl_value *out) {
    for (;;) {
        mwl_value v;
        int c = find_value(r);
        if (c < 0) return false;
        bool foreign = true, object = c == '{';
        mwl_value like = object || c == '[' ? resembled(r, object, &foreign) : mwl_absent();
        if (!read_whole(r, c, false, like, foreign, &v)) return false;
        if (mwl_is_absent(v)) {
            if (!open_container(r, object, like, foreign)) return false;
            c = next_byte(r);
            if (c != (object ? '}' : ']')) {
                if (object && !read_name(r)) return false;
                continue;
            }
            if (!close_container(r, &v)) return false;
        }
        if (!store(r, v, out)) return false;
        if (!mwl_is_absent(*out)) return true;
    }
}

/* ---- whole texts ----------------------------------------------------------------------------- */

static void release(reader *r) {
    mwl_heap *h = r->nodes.heap;
    if (r->copy_room > sizeof r->few_bytes) mwl__heap_give(h, r->copy - 1, r->copy_room);
    if (r->piece) mwl__heap_give(h, r->piece, r->room);
    mwl__json_nodes_free(&r->nodes);
}

static mwl_status read_document(reader *r, mwl_value *out, mwl_error *error) {
    mwl_value v = mwl_absent();
    if (next_byte(r) < 0 && r->status == MWL_OK)
        (void)fail(r, MWL_E_JSON, "the text is empty", r->end);
    else if (r->status == MWL_OK && read_value(r, &v) && next_byte(r) >= 0)
        (void)fail(r, MWL_E_JSON, "there is more text after the value", r->at);
    if (r->status != MWL_OK) mwl__drop(r->nodes.heap, v);
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
    mwl__json_nodes_init(&r->nodes, heap, source || len >= SHARE_FROM);
    r->begin = r->at = text;
    r->end = text + len;
    r->before = r->asked = 0;
    r->source = source;
    r->ctx = NULL;
    r->piece = NULL;
    r->room = 0;
    r->ended = true;
    r->status = MWL_OK;
    r->message = NULL;
    r->offset = 0;
    r->window = WINDOW;
    r->copy = r->few_bytes + 1;
    r->copy_room = sizeof r->few_bytes;
    r->copied = 0;
    r->credit = 2 * WINDOW;
    r->searches = false;
    r->like = mwl_absent();
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
    *differs = r.nodes.differs;
    return status;
}

mwl_status mwl__json_read_next(mwl_heap *heap, const char *text, size_t len,
                               mwl__json_before *before, mwl_value *out, mwl_error *error) {
    reader r;
    reader_init(&r, heap, NULL, len ? text : "", len);
    r.like = before->value;
    mwl_status status = read_document(&r, out, error);
    if (status < 0) return status;
    mwl__drop(heap, before->value);
    *before = (mwl__json_before){mwl__keep(*out), r.nodes.differs};
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
