/* writer.c: values as CBOR, each shared thing once.
 *
 * Owns: what is shared, and how. Arrays and objects are shared by identity: a value of 2^64 nodes
 * that is made of 64 objects has 64 objects in the bytes too. Texts are shared by content, because
 * which equal texts are one object depends on what the VM did before; so equal states have equal
 * bytes. Walks have their own stack, as deep as values may be. */
#include "vm/snapshot/writer.h"

#include "vm/base/hash.h"
#include "vm/snapshot/resume.h"

#define SHARED_FROM                                                                                \
    8u               /* bytes of a text; a shorter one is hardly longer than a reference to it     \
                      */
#define SAME_HASH 8u /* texts with one public hash that are compared; a sender can make many */

void mwl__writer_open(mwl__writer *w, mwl__link *link) {
    w->link = link;
    w->out = mwl__buf_make(link->vm->config.alloc);
    w->counting = w->same_texts = false;
    w->status = MWL_OK;
    w->table = (mwl__table){NULL, 0, 0};
    w->shared = w->few;
    w->n_shared = 0;
    w->cap_shared = MWL_SHARED_FEW;
    w->n_numbers = 0;
}

void mwl__writer_free(mwl__writer *w) {
    const mwl_alloc *a = &w->out.alloc;
    mwl__table_free(&w->table, a);
    if (w->shared != w->few) mwl__mem_free(a, w->shared, w->cap_shared * sizeof *w->shared);
}

void mwl__writer_fail(mwl__writer *w, mwl_status status) {
    if (w->status == MWL_OK) w->status = status;
}

/* ---- what is shared -------------------------------------------------------------------------- */

static uint64_t hash_of(const mwl__writer *w, const void *p, bool text) {
    const mwl__str *s = p;
    if (!text) return mwl__hash_address(p);
    return mwl__hash_word(w->link->vm->heap.secret, (uint64_t)s->len << 32 | s->hash, 0);
}

/* Makes a longer list, and a table with what the list has. */
static mwl_status leave_few(mwl__writer *w) {
    void *list = NULL;
    size_t cap = 0;
    mwl_status st =
        mwl__mem_grow(&w->out.alloc, &list, &cap, (size_t)4 * MWL_SHARED_FEW, sizeof *w->shared);
    if (st == MWL_OK) st = mwl__table_reserve(&w->table, &w->out.alloc, w->n_shared + 1);
    if (st < 0) {
        mwl__mem_free(&w->out.alloc, list, cap * sizeof *w->shared);
        return st;
    }
    memcpy(list, w->few, sizeof w->few);
    w->shared = list;
    w->cap_shared = cap;
    for (uint32_t i = 0, other; i < w->n_shared; i++) {
        mwl__probe probe =
            mwl__probe_make(&w->table, hash_of(w, w->shared[i].p, w->shared[i].text));
        while (mwl__table_next(&w->table, &probe, &other)) continue;
        mwl__table_put(&w->table, &probe, i);
    }
    return MWL_OK;
}

static bool make_room(mwl__writer *w) {
    void *list = w->shared;
    mwl_status st = MWL_OK;
    if (w->n_shared < MWL_SHARED_FEW) return true;
    if (w->shared == w->few) {
        st = leave_few(w);
    } else {
        st =
            mwl__mem_grow(&w->out.alloc, &list, &w->cap_shared, w->n_shared + 1, sizeof *w->shared);
        w->shared = list;
        if (st == MWL_OK) st = mwl__table_reserve(&w->table, &w->out.alloc, w->n_shared + 1);
    }
    if (st < 0) mwl__writer_fail(w, st);
    return st == MWL_OK;
}

static bool is_same(const mwl__shared *shared, const void *p, bool text) {
    if (shared->p == p || !text || !shared->text) return shared->p == p;
    const mwl__str *a = shared->p, *b = p;
    return a->hash == b->hash && a->len == b->len && memcmp(a->s, b->s, a->len) == 0;
}

/* An array or object by its address, a text by its content. NULL: not there and not added. */
static mwl__shared *find(mwl__writer *w, const void *p, bool text, bool adds) {
    mwl__probe probe;
    unsigned same = 0;
    if (adds && !make_room(w)) return NULL;
    if (w->shared == w->few) {
        for (size_t i = 0; i < w->n_shared; i++)
            if (is_same(&w->few[i], p, text)) return &w->few[i];
    } else {
        probe = mwl__probe_make(&w->table, hash_of(w, p, text));
        for (uint32_t i; mwl__table_next(&w->table, &probe, &i); same += text && w->shared[i].text)
            if (is_same(&w->shared[i], p, text)) return &w->shared[i];
    }
    if (!adds || same >= SAME_HASH) return NULL;
    w->shared[w->n_shared] = (mwl__shared){p, 0, 0, MWL_NONE, text};
    if (w->shared != w->few) mwl__table_put(&w->table, &probe, (uint32_t)w->n_shared);
    return &w->shared[w->n_shared++];
}

uint32_t mwl__writer_number(mwl__writer *w, const void *buffer) {
    const mwl__shared *s = find(w, buffer, false, false);
    return s ? s->number : MWL_NONE;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void put_tag(mwl__writer *w, unsigned tag) { mwl__cbor_head(&w->out, MWL_CBOR_TAG, tag); }

static void put_reference(mwl__writer *w, const mwl__shared *s) {
    put_tag(w, MWL_TAG_REFERENCE);
    mwl__cbor_head(&w->out, MWL_CBOR_UINT, s->number);
}

static void count_text(mwl__writer *w, const mwl__str *s) {
    mwl__shared *shared = find(w, s, true, true);
    if (shared && ++shared->uses == 2) w->same_texts = true;
}

static void put_shared_text(mwl__writer *w, const mwl__str *s) {
    mwl__shared *shared = find(w, s, true, false);
    if (shared && shared->uses > 1) {
        if (shared->number != MWL_NONE) {
            put_reference(w, shared);
            return;
        }
        shared->number = w->n_numbers++;
        put_tag(w, MWL_TAG_SHARED);
    }
    mwl__cbor_bytes(&w->out, MWL_CBOR_TEXT, s->s, s->len);
}

/* ---- leaves ---------------------------------------------------------------------------------- */

void mwl__writer_scalar(mwl__writer *w, mwl_value v) {
    switch (mwl_value_kind(v)) {
    case MWL_KIND_ABSENT: mwl__cbor_simple(&w->out, MWL_CBOR_UNDEFINED); break;
    case MWL_KIND_NULL: mwl__cbor_simple(&w->out, MWL_CBOR_NULL); break;
    case MWL_KIND_BOOL: mwl__cbor_simple(&w->out, v.as.i ? MWL_CBOR_TRUE : MWL_CBOR_FALSE); break;
    case MWL_KIND_NUMBER: mwl__cbor_double(&w->out, v.as.d); break;
    case MWL_KIND_INT:
        put_tag(w, MWL_TAG_INT);
        mwl__cbor_int(&w->out, v.as.i);
        break;
    case MWL_KIND_UINT:
        put_tag(w, MWL_TAG_UINT);
        mwl__cbor_head(&w->out, MWL_CBOR_UINT, v.as.u);
        break;
    case MWL_KIND_DURATION:
        put_tag(w, MWL_TAG_DURATION);
        mwl__cbor_int(&w->out, v.as.i);
        break;
    case MWL_KIND_TIMESTAMP:
        put_tag(w, MWL_TAG_TIMESTAMP);
        mwl__cbor_head(&w->out, MWL_CBOR_ARRAY, 2);
        mwl__cbor_int(&w->out, v.as.i);
        mwl__cbor_head(&w->out, MWL_CBOR_UINT, v.aux);
        break;
    default: mwl__writer_fail(w, MWL_E_NOT_JSON); break;
    }
}

static void put_ext(mwl__writer *w, const mwl__ext *e) {
    const mwl__str *type = mwl__as_str(e->type);
    put_tag(w, MWL_TAG_EXTENSION);
    mwl__cbor_head(&w->out, MWL_CBOR_ARRAY, 2);
    mwl__cbor_bytes(&w->out, MWL_CBOR_TEXT, type->s, type->len);
    mwl__cbor_bytes(&w->out, MWL_CBOR_BYTES, e->data, e->len);
}

/* Of those that are not texts. */
static void put_leaf(mwl__writer *w, mwl_value v) {
    switch (mwl_value_kind(v)) {
    case MWL_KIND_BYTES:
        mwl__cbor_bytes(&w->out, MWL_CBOR_BYTES, mwl__as_str(v)->s, mwl__as_str(v)->len);
        break;
    case MWL_KIND_TYPE:
        put_tag(w, MWL_TAG_TYPE_NAME);
        mwl__cbor_bytes(&w->out, MWL_CBOR_TEXT, mwl__as_str(v)->s, mwl__as_str(v)->len);
        break;
    case MWL_KIND_EXT: put_ext(w, mwl__as_ext(v)); break;
    case MWL_KIND_ARRAY:
    case MWL_KIND_OBJECT: /* an empty one */
        mwl__cbor_head(&w->out, mwl_value_kind(v) == MWL_KIND_ARRAY ? MWL_CBOR_ARRAY : MWL_CBOR_MAP,
                       0);
        break;
    default: mwl__writer_scalar(w, v); break;
    }
}

/* Of a text, bytes, or an array or object that is not empty. */
static inline bool put_constant(mwl__writer *w, mwl_value v) {
    if ((v.tag & MWL_HEAP) || !mwl__resume_may_be(w->link->resume, v.as.p)) return false;
    uint32_t k = mwl__resume_constant(w->link, v);
    if (k == MWL_NONE) return false; /* a text of the library */
    if (w->counting) return true;
    put_tag(w, MWL_TAG_CONSTANT);
    mwl__cbor_head(&w->out, MWL_CBOR_UINT, k);
    return true;
}

/* ---- containers ------------------------------------------------------------------------------ */

typedef struct level {
    const mwl_value *at;
    const mwl_value *key; /* of an object: the key of what is at `at`; else NULL */
    uint32_t left;
} level;

static level level_of(mwl_value v, uint32_t from, uint32_t to) {
    if (mwl_value_kind(v) == MWL_KIND_OBJECT)
        return (level){mwl__as_map(v)->val + from, mwl__as_map(v)->keys->key + from, to - from};
    return (level){mwl__as_list(v)->item + from, NULL, to - from};
}

/* Of each buffer every element that some version shows is visited once. */
static level count_container(mwl__writer *w, mwl_value v) {
    mwl__shared *s =
        *(const uint32_t *)v.as.p > 1 && (v.tag & MWL_HEAP) ? find(w, v.as.p, false, true) : NULL;
    if (!s) return level_of(v, 0, v.aux);
    uint32_t seen = s->longest;
    s->uses++;
    if (v.aux > seen) s->longest = v.aux;
    return level_of(v, seen, s->longest);
}

static level write_container(mwl__writer *w, mwl_value v) {
    mwl__shared *s =
        *(const uint32_t *)v.as.p > 1 && (v.tag & MWL_HEAP) ? find(w, v.as.p, false, false) : NULL;
    uint32_t n = v.aux;
    if (s && s->uses > 1) {
        if (n < s->longest) {
            put_tag(w, MWL_TAG_VERSION);
            mwl__cbor_head(&w->out, MWL_CBOR_ARRAY, 2);
            mwl__cbor_head(&w->out, MWL_CBOR_UINT, n);
        }
        if (s->number != MWL_NONE) {
            put_reference(w, s);
            return level_of(v, 0, 0);
        }
        s->number = w->n_numbers++;
        put_tag(w, MWL_TAG_SHARED);
        n = s->longest;
    }
    mwl__cbor_head(&w->out, mwl_value_kind(v) == MWL_KIND_ARRAY ? MWL_CBOR_ARRAY : MWL_CBOR_MAP, n);
    return level_of(v, 0, n);
}

static inline void put_string(mwl__writer *w, mwl_value v) {
    const mwl__str *s = mwl__as_str(v);
    if (put_constant(w, v)) return;
    if (w->counting) {
        if (s->len >= SHARED_FROM) count_text(w, s);
    } else if (w->same_texts && s->len >= SHARED_FROM) {
        put_shared_text(w, s);
    } else {
        mwl__cbor_bytes(&w->out, MWL_CBOR_TEXT, s->s, s->len);
    }
}

/* Begins a value that is not a text; a leaf is done then, and the level is empty. */
static level begin(mwl__writer *w, mwl_value v) {
    static const level nothing = {NULL, NULL, 0};
    switch (mwl_value_kind(v)) {
    case MWL_KIND_ARRAY:
    case MWL_KIND_OBJECT:
        if (v.aux == 0) break;
        if (put_constant(w, v)) return nothing;
        return w->counting ? count_container(w, v) : write_container(w, v);
    case MWL_KIND_BYTES:
        if (put_constant(w, v)) return nothing;
        break;
    case MWL_KIND_OPTIONAL:
        if (!w->counting) put_tag(w, MWL_TAG_OPTIONAL);
        if (v.as.p) return (level){&mwl__as_box(v)->v, NULL, 1};
        if (!w->counting) mwl__cbor_simple(&w->out, MWL_CBOR_UNDEFINED);
        return nothing;
    default: break;
    }
    if (!w->counting) put_leaf(w, v);
    return nothing;
}

/* Writes the key of a member, and returns the next value. */
static inline mwl_value next_value(mwl__writer *w, level *at) {
    if (at->key) {
        mwl_value key = mwl__borrow(*at->key++);
        if (mwl_value_kind(key) == MWL_KIND_STRING)
            put_string(w, key);
        else if (!w->counting)
            mwl__writer_scalar(w, key);
    }
    return *at->at++;
}

void mwl__writer_walk(mwl__writer *w, mwl_value v) {
    level stack[MWL_DEPTH_LIMIT + 1];
    size_t depth = 0;
    level at = {&v, NULL, 1};
    for (;;) {
        while (at.left == 0) {
            if (depth == 0) return;
            at = stack[--depth];
        }
        if (w->status < 0) return;
        at.left--;
        mwl_value inner = next_value(w, &at);
        if (mwl_value_kind(inner) < MWL_KIND_STRING) { /* the most common ones */
            if (!w->counting) mwl__writer_scalar(w, inner);
        } else if (mwl_value_kind(inner) == MWL_KIND_STRING) {
            put_string(w, inner);
        } else {
            level below = begin(w, inner);
            if (below.left == 0) continue;
            if (at.left) stack[depth++] = at;
            at = below;
        }
    }
}
