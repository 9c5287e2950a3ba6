/* emit_const.c: constants. Equal ones share a record: numbers if their bits are equal (so -0 is not
 * 0, and NaN is NaN), containers if they have the same constants in the same order.
 *
 * Each constant is also kept as a value on the emitter's own heap, for callers that compute with
 * constants. Records of STRINGS and TREES have the order of the constants that own them; loading
 * relies on that. */
#include "assembler/emit/emit_impl.h"

#include "vm/base/utf8.h"

#define CONST_WEIGHT_LIMIT                                                                         \
    (1u << 24) /* nodes of one constant; with shared parts, a small value can have 2^64 */

void mwl__emit_const_done(mwl__emit *e) {
    for (size_t i = 0; i < e->n_values; i++) mwl__drop(&e->heap, e->values[i]);
    mwl__mem_free(&e->alloc, e->values, e->cap_values * sizeof *e->values);
    mwl__heap_done(&e->heap);
}

static uint32_t next_const(const mwl__emit *e) {
    return mwl__emit_record_count(e, MWL_SECTION_CONSTS);
}

/* Appends the record and its value, which is taken over. */
static void add_const(mwl__emit *e, mwl__const_rec rec, mwl_value take_v) {
    void *values = e->values;
    if (mwl_is_absent(take_v)) mwl__emit_fail(e, e->heap.why);
    if (next_const(e) >= UINT32_MAX - 1) mwl__emit_fail(e, MWL_E_TOO_BIG);
    if (mwl__mem_grow(&e->alloc, &values, &e->cap_values, e->n_values + 1, sizeof *e->values) < 0)
        mwl__emit_fail(e, MWL_E_NOMEM);
    e->values = values;
    mwl__emit_put(e, MWL_SECTION_CONSTS, &rec, sizeof rec);
    if (e->status < 0) {
        mwl__drop(&e->heap, take_v);
        return;
    }
    e->values[e->n_values++] = take_v;
}

/* ---- scalars and texts ----------------------------------------------------------------------- */

static uint32_t scalar(mwl__emit *e, mwl_value v) {
    mwl__const_rec rec = {mwl_value_kind(v), 0, 0};
    if (rec.kind == MWL_KIND_TIMESTAMP) rec.aux = v.aux;
    if (rec.kind != MWL_KIND_NULL) rec.payload = v.as.u;
    uint32_t k;
    mwl__emit_key(e, 'k');
    mwl__buf_put(&e->key, &rec, sizeof rec);
    if (!mwl__emit_intern(e, next_const(e), &k)) add_const(e, rec, v);
    return k;
}

static mwl_value text_value(mwl__emit *e, uint32_t kind, const char *text, size_t len) {
    if (kind == MWL_KIND_TYPE) return mwl__type_new(&e->heap, text, len);
    mwl__str *s = mwl__str_alloc(&e->heap, len);
    if (!s) return mwl_absent();
    if (len) memcpy(s->s, text, len);
    return kind == MWL_KIND_BYTES ? mwl__bytes_seal(s) : mwl__str_seal(s);
}

static uint32_t text_const(mwl__emit *e, uint32_t kind, const char *text, size_t len) {
    if (len > MWL_STRING_LIMIT) mwl__emit_fail(e, MWL_E_TOO_BIG);
    uint32_t k;
    mwl__emit_key(e, 't');
    mwl__buf_put(&e->key, &kind, sizeof kind);
    mwl__buf_put(&e->key, text, len);
    if (mwl__emit_intern(e, next_const(e), &k) || e->status < 0) return k;
    if (kind != MWL_KIND_BYTES && !mwl__utf8_valid(text, len, NULL)) {
        mwl__emit_fail(e, MWL_E_UTF8);
        return 0;
    }
    mwl_value v = text_value(e, kind, text, len);
    if (mwl_is_absent(v)) {
        mwl__emit_fail(e, e->heap.why);
        return 0;
    }
    mwl__buf *strings = &e->section[MWL_SECTION_STRINGS];
    size_t at = mwl__image_put_string(strings, text, len, kind == MWL_KIND_BYTES);
    if (strings->failed) mwl__emit_fail(e, MWL_E_NOMEM);
    add_const(e, (mwl__const_rec){kind, 0, at}, v);
    return k;
}

uint32_t mwl__emit_string(mwl__emit *e, const char *text, size_t len) {
    return text_const(e, MWL_KIND_STRING, text, len);
}

/* ---- containers ------------------------------------------------------------------------------ */

static mwl_value list_value(mwl__emit *e, const uint32_t *kid, uint32_t n) {
    mwl_value v = mwl__list_new(&e->heap, n);
    for (uint32_t i = 0; i < n; i++) v = mwl__list_push(&e->heap, v, mwl__keep(e->values[kid[i]]));
    return v;
}

static mwl_value map_value(mwl__emit *e, const uint32_t *kid, uint32_t n) {
    mwl_value v = mwl__map_new(&e->heap, n / 2);
    for (uint32_t i = 0; i + 1 < n; i += 2)
        v = mwl__map_put(&e->heap, v, mwl__keep(e->values[kid[i]]),
                         mwl__keep(e->values[kid[i + 1]]));
    return v;
}

static uint32_t container(mwl__emit *e, uint32_t kind, const uint32_t *kid, uint32_t n) {
    uint32_t k, count = kind == MWL_KIND_OBJECT ? n / 2 : n;
    mwl__emit_key(e, 'c');
    mwl__buf_put(&e->key, &kind, sizeof kind);
    mwl__buf_put(&e->key, kid, n * sizeof *kid);
    if (mwl__emit_intern(e, next_const(e), &k) || e->status < 0) return k;
    uint32_t at = mwl__emit_record_count(e, MWL_SECTION_TREES);
    mwl__emit_put(e, MWL_SECTION_TREES, &count, sizeof count);
    mwl__emit_put(e, MWL_SECTION_TREES, kid, n * sizeof *kid);
    add_const(e, (mwl__const_rec){kind, 0, at},
              kind == MWL_KIND_OBJECT ? map_value(e, kid, n) : list_value(e, kid, n));
    return k;
}

/* An explicit walk, children first: open containers, and the constants of their finished children.
 */
typedef struct open_container {
    mwl_value v;
    uint32_t next, n; /* children; of an object key and value in turn */
    size_t first;     /* of its finished children */
} open_container;

typedef struct walk {
    mwl_alloc alloc;
    open_container *open;
    size_t n_open, cap_open;
    uint32_t *kid;
    size_t n_kids, cap_kids;
} walk;

static bool is_container(mwl_value v) {
    return mwl_value_kind(v) == MWL_KIND_ARRAY || mwl_value_kind(v) == MWL_KIND_OBJECT;
}

static mwl_value child(const open_container *o, uint32_t i) {
    if (mwl_value_kind(o->v) == MWL_KIND_ARRAY) return mwl__as_list(o->v)->item[i];
    const mwl__map *m = mwl__as_map(o->v);
    return i % 2 ? m->val[i / 2] : m->keys->key[i / 2];
}

static bool walk_into(walk *w, mwl_value v) {
    void *open = w->open;
    mwl_status grown =
        mwl__mem_grow(&w->alloc, &open, &w->cap_open, w->n_open + 1, sizeof *w->open);
    w->open = open;
    if (grown < 0) return false;
    uint32_t n = mwl_value_kind(v) == MWL_KIND_OBJECT ? v.aux * 2 : v.aux;
    w->open[w->n_open++] = (open_container){v, 0, n, w->n_kids};
    return true;
}

static bool walk_found(walk *w, uint32_t k) {
    void *kid = w->kid;
    mwl_status grown = mwl__mem_grow(&w->alloc, &kid, &w->cap_kids, w->n_kids + 1, sizeof *w->kid);
    w->kid = kid;
    if (grown < 0) return false;
    w->kid[w->n_kids++] = k;
    return true;
}

static uint32_t leaf(mwl__emit *e, mwl_value v) {
    switch (mwl_value_kind(v)) {
    case MWL_KIND_NULL:
    case MWL_KIND_BOOL:
    case MWL_KIND_NUMBER:
    case MWL_KIND_INT:
    case MWL_KIND_UINT:
    case MWL_KIND_DURATION:
    case MWL_KIND_TIMESTAMP: return scalar(e, v);
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES:
    case MWL_KIND_TYPE:
        return text_const(e, mwl_value_kind(v), mwl__as_str(v)->s, mwl__as_str(v)->len);
    default: mwl__emit_fail(e, MWL_E_USAGE); return 0;
    }
}

uint32_t mwl__emit_const(mwl__emit *e, mwl_value v) {
    if (!is_container(v)) return leaf(e, v);
    if (mwl__value_weight(v) > CONST_WEIGHT_LIMIT) mwl__emit_fail(e, MWL_E_TOO_BIG);
    walk w = {e->alloc, NULL, 0, 0, NULL, 0, 0};
    uint32_t k = 0;
    bool room = walk_into(&w, v);
    while (room && w.n_open && e->status == MWL_OK) {
        open_container *o = &w.open[w.n_open - 1];
        if (o->next < o->n) {
            mwl_value c = child(o, o->next++);
            room = is_container(c) ? walk_into(&w, c) : walk_found(&w, leaf(e, c));
            continue;
        }
        k = container(e, mwl_value_kind(o->v), o->n ? w.kid + o->first : NULL, o->n);
        w.n_kids = o->first;
        if (--w.n_open) room = walk_found(&w, k);
    }
    if (!room) mwl__emit_fail(e, MWL_E_NOMEM);
    mwl__mem_free(&w.alloc, w.open, w.cap_open * sizeof *w.open);
    mwl__mem_free(&w.alloc, w.kid, w.cap_kids * sizeof *w.kid);
    return e->status < 0 ? 0 : k;
}

mwl_value mwl__emit_const_value(mwl__emit *e, uint32_t k) {
    return k < e->n_values ? mwl__borrow(e->values[k]) : mwl_absent();
}
