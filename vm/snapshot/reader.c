/* reader.c: values from CBOR, with everything that a sender could do wrong checked.
 *
 * Owns: the checks of single items and values. Counts are compared with the bytes that are left
 * before anything is allocated; texts are UTF-8; an object has each key once; a reference goes back
 * to something complete, so there are no cycles. Walks have their own stack. */
#include "vm/snapshot/reader.h"

#include "vm/base/utf8.h"
#include "vm/snapshot/resume.h"

void mwl__reader_free(mwl__reader *r) {
    for (size_t i = 0; i < r->n_shared; i++) mwl__drop(r->heap, r->shared[i].v);
    mwl__mem_free(&r->link->vm->config.alloc, r->shared, r->cap_shared * sizeof *r->shared);
}

bool mwl__reader_refuse(mwl__reader *r, mwl_status status, const char *why) {
    if (r->status < 0) return false;
    r->status = status;
    r->why = why;
    r->offset = (size_t)(r->c.at - r->begin);
    return false;
}

static bool damaged(mwl__reader *r, const char *why) {
    return mwl__reader_refuse(r, MWL_E_SNAPSHOT, why);
}

/* A constructor of the heap has failed. */
static bool no_value(mwl__reader *r) {
    mwl_status st = r->heap->why;
    if (st == MWL_E_NOMEM) return mwl__reader_refuse(r, st, "out of memory");
    if (st == MWL_E_TOO_BIG)
        return mwl__reader_refuse(r, st, "the run needs more memory than its limit allows");
    return damaged(r, st == MWL_E_UTF8 ? "a text is not UTF-8" : "a value is nested too deeply");
}

static bool next(mwl__reader *r, mwl__major *major, uint64_t *n) {
    if (r->status < 0) return false;
    return mwl__cbor_next(&r->c, major, n) || damaged(r, "an item is damaged");
}

bool mwl__reader_uint(mwl__reader *r, uint64_t below, uint64_t *out) {
    mwl__major major;
    uint64_t n;
    if (!next(r, &major, &n)) return false;
    if (major != MWL_CBOR_UINT) return damaged(r, "this is not a number");
    if (below && n >= below) return damaged(r, "a number is too large");
    *out = n;
    return true;
}

bool mwl__reader_is_null(mwl__reader *r) {
    if (r->status < 0 || r->c.at >= r->c.end || *r->c.at != (0xe0 | MWL_CBOR_NULL)) return false;
    r->c.at++;
    return true;
}

bool mwl__reader_index(mwl__reader *r, uint64_t below, uint32_t *out) {
    uint64_t n;
    *out = MWL_NONE;
    if (mwl__reader_is_null(r)) return true;
    if (!mwl__reader_uint(r, below < MWL_NONE ? below : MWL_NONE, &n)) return false;
    *out = (uint32_t)n;
    return below > 0 || damaged(r, "a number is too large");
}

bool mwl__reader_int(mwl__reader *r, int64_t *out) {
    mwl__major major;
    uint64_t n;
    if (!next(r, &major, &n)) return false;
    if (major > MWL_CBOR_NEGATIVE || n > INT64_MAX) return damaged(r, "this is not an integer");
    *out = (int64_t)(major == MWL_CBOR_UINT ? n : ~n);
    return true;
}

static bool left_for(const mwl__reader *r, uint64_t items) {
    return items <= (uint64_t)(r->c.end - r->c.at);
}

bool mwl__reader_list(mwl__reader *r, uint64_t most, uint32_t *n) {
    mwl__major major;
    uint64_t count;
    if (!next(r, &major, &count)) return false;
    if (major != MWL_CBOR_ARRAY) return damaged(r, "this is not an array");
    if (count > most || !left_for(r, count)) return damaged(r, "an array is too long");
    *n = (uint32_t)count;
    return true;
}

bool mwl__reader_array(mwl__reader *r, uint64_t n) {
    uint32_t count = 0;
    if (!mwl__reader_list(r, UINT32_MAX, &count)) return false;
    return count == n || damaged(r, "a record has another number of members");
}

/* ---- what is shared -------------------------------------------------------------------------- */

static bool add_shared(mwl__reader *r, uint32_t *number) {
    void *list = r->shared;
    mwl_status st = mwl__mem_grow(&r->link->vm->config.alloc, &list, &r->cap_shared,
                                  r->n_shared + 1, sizeof *r->shared);
    r->shared = list;
    if (st < 0) return mwl__reader_refuse(r, st, "out of memory");
    r->shared[r->n_shared].v = mwl_absent();
    r->shared[r->n_shared].used = false;
    *number = (uint32_t)r->n_shared++;
    return true;
}

static bool refer(mwl__reader *r, mwl_value *out) {
    uint64_t n = 0;
    if (!mwl__reader_uint(r, 0, &n)) return false;
    if (n >= r->n_shared || mwl_is_absent(r->shared[n].v))
        return damaged(r, "a reference leads to nothing");
    r->shared[n].used = true;
    *out = r->shared[n].v;
    return true;
}

bool mwl__reader_reference(mwl__reader *r, mwl_value *out) {
    mwl__major major;
    uint64_t n;
    if (!next(r, &major, &n)) return false;
    if (major != MWL_CBOR_TAG || n != MWL_TAG_REFERENCE)
        return damaged(r, "this is not a reference");
    return refer(r, out);
}

bool mwl__reader_complete(mwl__reader *r) {
    for (size_t i = 0; i < r->n_shared && r->status == MWL_OK; i++)
        if (!r->shared[i].used) return damaged(r, "something shared is used once only");
    return r->status == MWL_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* An item before it is a value: what its tags say. */
typedef struct item {
    mwl__major major;
    uint64_t n;
    uint32_t share;   /* its number, or MWL_NONE */
    uint32_t version; /* its length, or MWL_NONE */
    mwl_value v;      /* given, of a leaf */
} item;

typedef struct level {
    mwl_value v, key; /* what is being made */
    uint32_t left, share, version;
    bool optional;
} level;

static bool take_text(mwl__reader *r, uint64_t n, const char **text) {
    if (!left_for(r, n)) return damaged(r, "a text is cut off");
    *text = (const char *)r->c.at;
    r->c.at += n;
    return true;
}

static bool read_text(mwl__reader *r, const item *it, bool key, mwl_value *out) {
    const char *text = NULL;
    if (!take_text(r, it->n, &text)) return false;
    if (it->major == MWL_CBOR_BYTES)
        *out = mwl_bytes(r->heap, text, (size_t)it->n);
    else if (key && mwl__utf8_valid(text, (size_t)it->n, NULL))
        *out = mwl__key(r->heap, text, (size_t)it->n); /* names are shared in the heap */
    else
        *out = mwl_string(r->heap, text, (size_t)it->n);
    return !mwl_is_absent(*out) || no_value(r);
}

static bool read_constant(mwl__reader *r, mwl_value *out) {
    uint64_t k;
    const mwl_program *p = r->link->program;
    if (!mwl__reader_uint(r, 0, &k)) return false;
    if (k >= p->n_consts || !mwl__resume_is_constant(p->consts[k]))
        return damaged(r, "there is no such constant");
    *out = p->consts[k];
    return true;
}

static bool read_timestamp(mwl__reader *r, mwl_value *out) {
    int64_t sec;
    uint64_t ns;
    if (!mwl__reader_array(r, 2) || !mwl__reader_int(r, &sec) ||
        !mwl__reader_uint(r, 1000000000, &ns))
        return false;
    *out = mwl_timestamp(sec, (uint32_t)ns);
    return true;
}

static bool read_name(mwl__reader *r, mwl_value *out) {
    item it = {.share = MWL_NONE};
    if (!next(r, &it.major, &it.n)) return false;
    if (it.major != MWL_CBOR_TEXT) return damaged(r, "a type has no name");
    mwl_value name;
    if (!read_text(r, &it, false, &name)) return false;
    *out = mwl__type_new(r->heap, mwl__as_str(name)->s, mwl__as_str(name)->len);
    mwl__drop(r->heap, name);
    return !mwl_is_absent(*out) || no_value(r);
}

static bool read_extension(mwl__reader *r, mwl_value *out) {
    mwl_value type = mwl_absent();
    mwl__major major;
    uint64_t n;
    const char *data = NULL;
    if (!mwl__reader_array(r, 2) || !read_name(r, &type)) return false;
    if (!next(r, &major, &n) ||
        (major != MWL_CBOR_BYTES && !damaged(r, "an extension has no data")) ||
        !take_text(r, n, &data)) {
        mwl__drop(r->heap, type);
        return false;
    }
    *out = mwl__ext_new(r->heap, type, data, (size_t)n);
    return !mwl_is_absent(*out) || no_value(r);
}

static bool read_tagged(mwl__reader *r, uint64_t tag, mwl_value *out) {
    uint64_t n = 0;
    int64_t i = 0;
    switch (tag) {
    case MWL_TAG_CONSTANT: return read_constant(r, out);
    case MWL_TAG_INT:
        if (!mwl__reader_int(r, &i)) return false;
        *out = mwl_int(i);
        return true;
    case MWL_TAG_UINT:
        if (!mwl__reader_uint(r, 0, &n)) return false;
        *out = mwl_uint(n);
        return true;
    case MWL_TAG_DURATION:
        if (!mwl__reader_int(r, &i)) return false;
        *out = mwl_duration(i);
        return true;
    case MWL_TAG_TIMESTAMP: return read_timestamp(r, out);
    case MWL_TAG_TYPE_NAME: return read_name(r, out);
    case MWL_TAG_EXTENSION: return read_extension(r, out);
    default: return damaged(r, "a tag is not known");
    }
}

static bool read_scalar(mwl__reader *r, const item *it, mwl_value *out) {
    if (it->major == MWL_CBOR_FLOAT) {
        double d;
        memcpy(&d, &it->n, 8);
        *out = mwl_number(d);
    } else if (it->major == MWL_CBOR_SIMPLE) {
        *out = it->n == MWL_CBOR_NULL        ? mwl_null()
               : it->n == MWL_CBOR_UNDEFINED ? mwl_absent()
                                             : mwl_bool(it->n == MWL_CBOR_TRUE);
    } else {
        if (it->n > (UINT64_C(1) << 53) - (it->major == MWL_CBOR_NEGATIVE))
            return damaged(r, "a number is out of range");
        *out = mwl_number(it->major == MWL_CBOR_UINT ? (double)it->n : -1.0 - (double)it->n);
    }
    return true;
}

/* An older version of an array or object of which only a reference or the longest version is here.
 */
static bool as_version(mwl__reader *r, uint32_t length, mwl_value *v) {
    if (length == MWL_NONE) return true;
    mwl_kind kind = mwl_value_kind(*v);
    if ((kind != MWL_KIND_ARRAY && kind != MWL_KIND_OBJECT) || length == 0 || length >= v->aux)
        return damaged(r, "a version is not shorter than what it is a version of");
    v->aux = length;
    return true;
}

/* Reads tags and a head. *leaf: it->v is the value. Otherwise a container begins; of an optional
 * major is MWL_CBOR_TAG. */
static bool read_item(mwl__reader *r, bool key, item *it, bool *leaf) {
    it->share = it->version = MWL_NONE;
    it->v = mwl_absent();
    *leaf = true;
    if (!next(r, &it->major, &it->n)) return false;
    if (it->major == MWL_CBOR_TAG && it->n == MWL_TAG_VERSION) {
        uint64_t length = 0;
        if (!mwl__reader_array(r, 2) || !mwl__reader_uint(r, MWL_COUNT_LIMIT, &length) ||
            !next(r, &it->major, &it->n))
            return false;
        it->version = (uint32_t)length;
    }
    if (it->major == MWL_CBOR_TAG && it->n == MWL_TAG_REFERENCE) {
        mwl_value lent = mwl_absent();
        if (!refer(r, &lent) || !as_version(r, it->version, &lent)) return false;
        it->v = mwl__keep(lent);
        return true;
    }
    if (it->major == MWL_CBOR_TAG && it->n == MWL_TAG_SHARED) {
        if (!add_shared(r, &it->share) || !next(r, &it->major, &it->n)) return false;
        if (it->major < MWL_CBOR_TEXT || it->major > MWL_CBOR_MAP || it->n == 0)
            return damaged(r, "this cannot be shared");
    } else if (it->version != MWL_NONE) {
        return damaged(r, "a version of something not shared");
    }
    if (it->major == MWL_CBOR_TAG && it->n == MWL_TAG_OPTIONAL) {
        *leaf = false;
        return true;
    }
    if (it->major == MWL_CBOR_ARRAY || it->major == MWL_CBOR_MAP) {
        *leaf = false;
        uint64_t items = it->major == MWL_CBOR_MAP ? it->n * 2 : it->n;
        return (it->n <= MWL_COUNT_LIMIT && left_for(r, items)) ||
               damaged(r, "an array or object is too long");
    }
    if (it->major == MWL_CBOR_TEXT || it->major == MWL_CBOR_BYTES)
        return read_text(r, it, key, &it->v) &&
               (it->version == MWL_NONE || damaged(r, "a version of a text"));
    return it->major == MWL_CBOR_TAG ? read_tagged(r, it->n, &it->v) : read_scalar(r, it, &it->v);
}

/* A leaf or container is complete: it gets its number. */
static bool complete(mwl__reader *r, uint32_t share, uint32_t version, mwl_value *v) {
    if (share != MWL_NONE) r->shared[share].v = mwl__keep(*v);
    return as_version(r, version, v);
}

static bool open_level(mwl__reader *r, const item *it, level *l) {
    *l = (level){.v = mwl_absent(),
                 .key = mwl_absent(),
                 .left = (uint32_t)it->n,
                 .share = it->share,
                 .version = it->version,
                 .optional = it->major == MWL_CBOR_TAG};
    if (l->optional)
        l->left = 1;
    else if (it->major == MWL_CBOR_ARRAY)
        l->v = mwl__list_new(r->heap, (size_t)it->n);
    else
        l->v = mwl__map_new(r->heap, (size_t)it->n);
    return l->optional || !mwl_is_absent(l->v) || no_value(r);
}

/* The key of the next member, if the level is an object. */
static bool read_key(mwl__reader *r, level *l) {
    item it;
    bool leaf;
    if (l->optional || mwl_value_kind(l->v) != MWL_KIND_OBJECT) return true;
    if (!read_item(r, true, &it, &leaf)) {
        mwl__drop(r->heap, it.v);
        return false;
    }
    mwl_kind kind = leaf ? mwl_value_kind(it.v) : MWL_KIND_ABSENT;
    if (kind != MWL_KIND_STRING && kind != MWL_KIND_INT && kind != MWL_KIND_UINT &&
        kind != MWL_KIND_BOOL) {
        mwl__drop(r->heap, it.v);
        return damaged(r, "this cannot be a key");
    }
    l->key = it.v;
    return complete(r, it.share, MWL_NONE, &it.v);
}

static bool add_to(mwl__reader *r, level *l, mwl_value take) {
    if (l->optional) {
        l->v = mwl_is_absent(take) ? mwl__none() : mwl__some(r->heap, take);
        return !mwl_is_absent(l->v) || no_value(r);
    }
    if (mwl_is_absent(take)) return damaged(r, "a value is missing");
    if (mwl_value_kind(l->v) == MWL_KIND_ARRAY) {
        if (mwl__list_add(r->heap, &l->v, take)) return true;
        mwl__drop(r->heap, take);
        return no_value(r);
    }
    uint32_t n = l->v.aux;
    l->v = mwl__map_put(r->heap, l->v, l->key, take);
    l->key = mwl_absent();
    if (mwl_is_absent(l->v)) return no_value(r);
    return l->v.aux == n + 1 || damaged(r, "an object has a key twice");
}

/* Adds a complete value to the levels that it completes. *depth 0: v is the whole. */
static bool close_levels(mwl__reader *r, level *stack, size_t *depth, mwl_value *v) {
    while (*depth) {
        level *top = &stack[*depth - 1];
        mwl_value part = *v;
        *v = mwl_absent();
        if (!add_to(r, top, part)) return false;
        if (--top->left) return read_key(r, top);
        *v = top->v;
        top->v = mwl_absent();
        --*depth;
        if (!complete(r, top->share, top->version, v)) return false;
    }
    return true;
}

static bool read_value(mwl__reader *r, level *stack, size_t *depth, mwl_value *v) {
    for (;;) {
        item it;
        bool leaf;
        if (!read_item(r, false, &it, &leaf)) {
            *v = it.v;
            return false;
        }
        *v = it.v;
        if (leaf) {
            if (!complete(r, it.share, MWL_NONE, v)) return false;
        } else {
            if (*depth > MWL_DEPTH_LIMIT) return damaged(r, "a value is nested too deeply");
            if (!open_level(r, &it, &stack[*depth])) return false;
            level *top = &stack[*depth];
            ++*depth;
            if (top->left) {
                if (!read_key(r, top)) return false;
                continue;
            }
            *v = top->v;
            --*depth;
        }
        if (!close_levels(r, stack, depth, v)) return false;
        if (*depth == 0) return true;
    }
}

bool mwl__reader_value(mwl__reader *r, mwl_value *out) {
    level stack[MWL_DEPTH_LIMIT + 2];
    size_t depth = 0;
    mwl_value v = mwl_absent();
    *out = v;
    if (read_value(r, stack, &depth, &v)) {
        *out = v;
        return true;
    }
    mwl__drop(r->heap, v);
    while (depth--) {
        mwl__drop(r->heap, stack[depth].key);
        mwl__drop(r->heap, stack[depth].v);
    }
    return false;
}
