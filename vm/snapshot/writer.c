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

void mwl__writer_free(mwl__writer *w) {
    const mwl_alloc *a = &w->out.alloc;
    mwl__table_free(&w->table, a);
    mwl__mem_free(a, w->shared, w->cap_shared * sizeof *w->shared);
}

void mwl__writer_fail(mwl__writer *w, mwl_status status) {
    if (w->status == MWL_OK) w->status = status;
}

/* ---- what is shared -------------------------------------------------------------------------- */

static mwl__shared *add(mwl__writer *w, const mwl__probe *probe, const void *p, bool text) {
    w->shared[w->n_shared] = (mwl__shared){p, 0, 0, MWL_NONE, text};
    mwl__table_put(&w->table, probe, (uint32_t)w->n_shared);
    return &w->shared[w->n_shared++];
}

static bool make_room(mwl__writer *w) {
    void *list = w->shared;
    mwl_status st =
        mwl__mem_grow(&w->out.alloc, &list, &w->cap_shared, w->n_shared + 1, sizeof *w->shared);
    w->shared = list;
    if (st == MWL_OK) st = mwl__table_reserve(&w->table, &w->out.alloc, w->n_shared + 1);
    if (st < 0) mwl__writer_fail(w, st);
    return st == MWL_OK;
}

/* NULL: not there and not added. */
static mwl__shared *find_buffer(mwl__writer *w, const void *p, bool adds) {
    if (adds && !make_room(w)) return NULL;
    mwl__probe probe = mwl__probe_make(&w->table, mwl__hash_address(p));
    for (uint32_t i; mwl__table_next(&w->table, &probe, &i);)
        if (w->shared[i].p == p) return &w->shared[i];
    return adds ? add(w, &probe, p, false) : NULL;
}

static mwl__shared *find_text(mwl__writer *w, const mwl__str *s, bool adds) {
    if (adds && !make_room(w)) return NULL;
    uint64_t word = (uint64_t)s->len << 32 | s->hash;
    mwl__probe probe =
        mwl__probe_make(&w->table, mwl__hash_word(w->link->vm->heap.secret, word, 0));
    unsigned same = 0;
    for (uint32_t i; mwl__table_next(&w->table, &probe, &i);) {
        if (!w->shared[i].text) continue;
        const mwl__str *other = w->shared[i].p;
        if (other->hash != s->hash || other->len != s->len) continue;
        if (memcmp(other->s, s->s, s->len) == 0) return &w->shared[i];
        same++;
    }
    return adds && same < SAME_HASH ? add(w, &probe, s, true) : NULL;
}

uint32_t mwl__writer_number(mwl__writer *w, const void *buffer) {
    const mwl__shared *s = find_buffer(w, buffer, false);
    return s ? s->number : MWL_NONE;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void put_bytes(mwl__writer *w, mwl__major major, const void *data, size_t len) {
    mwl__cbor_head(&w->out, major, len);
    mwl__buf_put(&w->out, data, len);
}

static void put_tag(mwl__writer *w, unsigned tag) { mwl__cbor_head(&w->out, MWL_CBOR_TAG, tag); }

static void put_reference(mwl__writer *w, const mwl__shared *s) {
    put_tag(w, MWL_TAG_REFERENCE);
    mwl__cbor_head(&w->out, MWL_CBOR_UINT, s->number);
}

static void put_text(mwl__writer *w, const mwl__str *s) {
    mwl__shared *shared = s->len >= SHARED_FROM ? find_text(w, s, w->counting) : NULL;
    if (w->counting) {
        if (shared) shared->uses++;
        return;
    }
    if (shared && shared->uses > 1) {
        if (shared->number != MWL_NONE) {
            put_reference(w, shared);
            return;
        }
        shared->number = w->n_numbers++;
        put_tag(w, MWL_TAG_SHARED);
    }
    put_bytes(w, MWL_CBOR_TEXT, s->s, s->len);
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static void put_scalar(mwl__writer *w, mwl_value v) {
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
    put_bytes(w, MWL_CBOR_TEXT, type->s, type->len);
    put_bytes(w, MWL_CBOR_BYTES, e->data, e->len);
}

static void put_leaf(mwl__writer *w, mwl_value v) {
    if (mwl_value_kind(v) == MWL_KIND_STRING) {
        put_text(w, mwl__as_str(v));
        return;
    }
    if (w->counting) return;
    switch (mwl_value_kind(v)) {
    case MWL_KIND_BYTES:
        put_bytes(w, MWL_CBOR_BYTES, mwl__as_str(v)->s, mwl__as_str(v)->len);
        break;
    case MWL_KIND_TYPE:
        put_tag(w, MWL_TAG_TYPE_NAME);
        put_bytes(w, MWL_CBOR_TEXT, mwl__as_str(v)->s, mwl__as_str(v)->len);
        break;
    case MWL_KIND_EXT: put_ext(w, mwl__as_ext(v)); break;
    case MWL_KIND_ARRAY:
    case MWL_KIND_OBJECT: /* an empty one */
        mwl__cbor_head(&w->out, mwl_value_kind(v) == MWL_KIND_ARRAY ? MWL_CBOR_ARRAY : MWL_CBOR_MAP,
                       0);
        break;
    default: put_scalar(w, v); break;
    }
}

static bool put_constant(mwl__writer *w, mwl_value v) {
    if (!mwl__resume_is_constant(v)) return false;
    uint32_t k = mwl__resume_constant(w->link, v);
    if (k == MWL_NONE) return false; /* a text of the library */
    if (w->counting) return true;
    put_tag(w, MWL_TAG_CONSTANT);
    mwl__cbor_head(&w->out, MWL_CBOR_UINT, k);
    return true;
}

/* ---- containers ------------------------------------------------------------------------------ */

typedef struct level {
    const void *at; /* mwl_value of an array or an optional, mwl__member of an object */
    uint32_t left;
    bool object;
} level;

static level level_of(mwl_value v, uint32_t from, uint32_t to) {
    if (mwl_value_kind(v) == MWL_KIND_OBJECT)
        return (level){mwl__as_map(v)->member + from, to - from, true};
    return (level){mwl__as_list(v)->item + from, to - from, false};
}

/* Of each buffer every element that some version shows is visited once. */
static level count_container(mwl__writer *w, mwl_value v) {
    mwl__shared *s =
        *(const uint32_t *)v.as.p > 1 && (v.tag & MWL_HEAP) ? find_buffer(w, v.as.p, true) : NULL;
    if (!s) return level_of(v, 0, v.aux);
    uint32_t seen = s->longest;
    s->uses++;
    if (v.aux > seen) s->longest = v.aux;
    return level_of(v, seen, s->longest);
}

static level write_container(mwl__writer *w, mwl_value v) {
    mwl__shared *s =
        *(const uint32_t *)v.as.p > 1 && (v.tag & MWL_HEAP) ? find_buffer(w, v.as.p, false) : NULL;
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

/* Begins a value; a leaf is done then, and the level is empty. */
static level begin(mwl__writer *w, mwl_value v) {
    static const level nothing = {NULL, 0, false};
    mwl_kind kind = mwl_value_kind(v);
    if (put_constant(w, v)) return nothing;
    if ((kind == MWL_KIND_ARRAY || kind == MWL_KIND_OBJECT) && v.aux > 0)
        return w->counting ? count_container(w, v) : write_container(w, v);
    if (kind == MWL_KIND_OPTIONAL) {
        if (!w->counting) put_tag(w, MWL_TAG_OPTIONAL);
        if (v.as.p) return (level){&mwl__as_box(v)->v, 1, false};
        if (!w->counting) mwl__cbor_simple(&w->out, MWL_CBOR_UNDEFINED);
        return nothing;
    }
    put_leaf(w, v);
    return nothing;
}

void mwl__writer_value(mwl__writer *w, mwl_value v) {
    if (mwl_value_kind(v) < MWL_KIND_STRING) { /* the most common ones, without a stack */
        if (!w->counting) put_scalar(w, v);
        return;
    }
    level stack[MWL_DEPTH_LIMIT + 1];
    size_t depth = 1;
    for (stack[0] = begin(w, v); depth;) {
        level *top = &stack[depth - 1];
        if (top->left == 0 || w->status < 0) {
            depth--;
            continue;
        }
        top->left--;
        if (top->object) {
            const mwl__member *m = top->at;
            top->at = m + 1;
            mwl_value key = mwl__map_key(m);
            if (!put_constant(w, key)) put_leaf(w, key);
            v = m->val;
        } else {
            const mwl_value *item = top->at;
            top->at = item + 1;
            v = *item;
        }
        stack[depth] = begin(w, v);
        if (stack[depth].left) depth++;
    }
}
