/* json.c: reads JSON text into values. The only file of the project that uses yyjson.
 *
 * Owns: what is accepted as data. Strict RFC 8259: no comments, no trailing commas, no byte order
 * mark, valid UTF-8, no lone surrogates. Numbers become the nearest double; one beyond the largest
 * double is refused (MWL_E_RANGE), since the data model has finite numbers only. If an object has
 * the same name twice, the last value wins, at the position of the first. Deeper than
 * MWL_DEPTH_LIMIT is MWL_E_DEPTH. Refuses to know: definitions, which need positions and refuse
 * duplicates.
 *
 * yyjson's memory comes from the heap and counts against its limit while the text is being read. */
#include "vm/value/value.h"
#include "vm/base/num.h"
#include "vm/base/utf8.h"

#include <yyjson.h>

/* ---- yyjson's memory ------------------------------------------------------------------------- */

/* yyjson does not pass the size when it frees a block, so each block begins with its size. */
typedef union block {
    size_t size; /* of the whole block */
    char align[16];
} block;

static void *block_new(void *ctx, size_t size) {
    block *b = size <= SIZE_MAX / 2 ? mwl__heap_take(ctx, sizeof *b + size) : NULL;
    if (!b) return NULL;
    b->size = sizeof *b + size;
    return b + 1;
}

static void *block_resize(void *ctx, void *p, size_t old_size, size_t size) {
    (void)old_size;
    if (!p) return block_new(ctx, size);
    block *b = (block *)p - 1;
    b = size <= SIZE_MAX / 2 ? mwl__heap_resize(ctx, b, b->size, sizeof *b + size) : NULL;
    if (!b) return NULL;
    b->size = sizeof *b + size;
    return b + 1;
}

static void block_free(void *ctx, void *p) {
    if (p) mwl__heap_give(ctx, (block *)p - 1, ((block *)p - 1)->size);
}

/* ---- what went wrong ------------------------------------------------------------------------- */

static mwl_status fail(mwl_error *error, mwl_status status, const char *message, size_t offset) {
    if (error) {
        error->status = status;
        error->message = message ? message : mwl_status_text(status);
        error->offset = offset;
    }
    return status;
}

/* Returns the offset of the first bracket before `end` that opens too many levels; `end` if none
 * does. */
static size_t too_deep_at(const char *text, size_t end) {
    size_t depth = 0;
    for (size_t i = 0; i < end; i++) {
        char c = text[i];
        if (c == '"') {
            for (i++; i < end && text[i] != '"'; i++)
                if (text[i] == '\\') i++;
        } else if (c == '[' || c == '{') {
            if (++depth > MWL_DEPTH_LIMIT) return i;
        } else if ((c == ']' || c == '}') && depth) {
            depth--;
        }
    }
    return end;
}

static mwl_status explain(mwl_heap *h, const char *text, size_t len, const yyjson_read_err *err,
                          mwl_error *error) {
    if (err->code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) return fail(error, h->why, NULL, 0);
    size_t at = err->pos < len ? err->pos : len;
    size_t deep = too_deep_at(text, at);
    if (deep < at) return fail(error, MWL_E_DEPTH, NULL, deep);
    if (err->code == YYJSON_READ_ERROR_INVALID_STRING) {
        size_t valid = mwl__utf8_valid_prefix(text, len);
        if (valid < len) return fail(error, MWL_E_UTF8, err->msg, valid);
    }
    return fail(error, MWL_E_JSON, err->msg, at);
}

/* ---- building -------------------------------------------------------------------------------- */

#define N_CACHED 64u   /* recent keys of this text, so that similar objects share them */
#define CACHE_FROM 24u /* with fewer values, filling the cache costs more than it saves */

typedef struct level {
    mwl_value box;   /* the container being filled, owned */
    mwl_value *slot; /* in an object: where the current value is stored */
    size_t left;     /* values still to come */
} level;

typedef struct builder {
    mwl_heap *heap;
    bool caching;
    size_t offset; /* where in the text a number is out of range */
    const char *pool;
    mwl_value cache[N_CACHED];
    level stack[MWL_DEPTH_LIMIT];
} builder;

static mwl_value read_key(builder *b, yyjson_val *val) {
    const char *s = unsafe_yyjson_get_str(val);
    size_t len = unsafe_yyjson_get_len(val);
    if (!b->caching) return mwl__key(b->heap, s, len);
    uint32_t hash = mwl__str_hash(s, len);
    mwl_value *cached = &b->cache[hash % N_CACHED];
    if (!mwl_is_absent(*cached)) {
        const mwl__str *c = mwl__as_str(*cached);
        if (c->hash == hash && c->len == len && memcmp(c->s, s, len) == 0)
            return mwl__keep(*cached);
    }
    mwl_value key = mwl__str_new_hashed(b->heap, s, len, hash);
    if (mwl_is_absent(key)) return key;
    mwl__drop(b->heap, *cached);
    *cached = mwl__keep(key);
    return key;
}

/* Returns a scalar, or a new container with room for its elements. */
static mwl_value read_one(builder *b, yyjson_val *val) {
    switch (unsafe_yyjson_get_type(val)) {
    case YYJSON_TYPE_NULL: return mwl_null();
    case YYJSON_TYPE_BOOL: return mwl_bool(unsafe_yyjson_get_bool(val));
    case YYJSON_TYPE_NUM:
        /* spec: data-model, a single number type: the nearest double, within its range */
        if (unsafe_yyjson_is_real(val)) return mwl_number(unsafe_yyjson_get_real(val));
        if (unsafe_yyjson_is_uint(val)) return mwl_number((double)unsafe_yyjson_get_uint(val));
        return mwl_number((double)unsafe_yyjson_get_sint(val));
    case YYJSON_TYPE_RAW: { /* an integer of more than 64 bits, or a number beyond the range of
                               doubles */
        double d = 0;
        const char *s = unsafe_yyjson_get_raw(val);
        mwl_status status = mwl__num_parse(s, unsafe_yyjson_get_len(val), &d);
        if (status == MWL_OK) return mwl_number(d);
        b->offset = (size_t)(s - b->pool);
        return mwl__heap_fail(b->heap, status);
    }
    case YYJSON_TYPE_STR:
        return mwl__str_new(b->heap, unsafe_yyjson_get_str(val), unsafe_yyjson_get_len(val));
    case YYJSON_TYPE_ARR: return mwl__list_new(b->heap, unsafe_yyjson_get_len(val));
    case YYJSON_TYPE_OBJ: return mwl__map_new(b->heap, unsafe_yyjson_get_len(val));
    default: return mwl__heap_fail(b->heap, MWL_E_JSON);
    }
}

/* yyjson stores the values one after the other in the order of the text, a key before its value.
 * Its own iteration relies on this too (unsafe_yyjson_get_first). */
static mwl_value build(builder *b, yyjson_val *val) {
    mwl_heap *h = b->heap;
    size_t depth = 0;
    for (;; val++) {
        if (depth && b->stack[depth - 1].slot == NULL &&
            mwl_value_kind(b->stack[depth - 1].box) == MWL_KIND_OBJECT) {
            level *top = &b->stack[depth - 1];
            mwl_value key = read_key(b, val);
            if (mwl_is_absent(key)) break;
            top->slot = mwl__map_slot(h, &top->box, key);
            continue;
        }
        mwl_value v = read_one(b, val);
        if (mwl_is_absent(v)) break;
        size_t n = unsafe_yyjson_is_ctn(val) ? unsafe_yyjson_get_len(val) : 0;
        if (n) {
            if (depth == MWL_DEPTH_LIMIT) {
                mwl__drop(h, v);
                h->why = MWL_E_DEPTH;
                break;
            }
            b->stack[depth++] = (level){v, NULL, n};
            continue;
        }
        bool fits = true;
        while (depth && fits) { /* v is complete: store it in its container, which may now be
                                   complete as well */
            level *top = &b->stack[depth - 1];
            fits = top->slot ? mwl__map_fill(h, top->box, top->slot, v)
                             : mwl__list_add(h, &top->box, v);
            if (!fits) break;
            top->slot = NULL;
            if (--top->left) break;
            v = top->box;
            depth--;
        }
        if (!fits) {
            mwl__drop(h, v);
            break;
        }
        if (depth == 0) return v;
    }
    while (depth) mwl__drop(h, b->stack[--depth].box);
    return mwl_absent();
}

mwl_status mwl_json_parse(mwl_heap *heap, const char *text, size_t len, mwl_value *out,
                          mwl_error *error) {
    if (!heap || !out || (!text && len)) return fail(error, MWL_E_USAGE, NULL, 0);
    if (len == 0) return fail(error, MWL_E_JSON, "the text is empty", 0);
    yyjson_alc alc = {block_new, block_resize, block_free, heap};
    yyjson_read_err err = {0, NULL, 0};
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)text, len, YYJSON_READ_BIGNUM_AS_RAW, &alc,
                         &err); /* it only reads the text, because the flag INSITU is not set */
    if (!doc) return explain(heap, text, len, &err, error);
    builder b;
    b.heap = heap;
    b.offset = 0;
    b.pool = doc->str_pool;
    b.caching = !heap->keys && yyjson_doc_get_val_count(doc) >= CACHE_FROM;
    if (b.caching) memset(b.cache, 0, sizeof b.cache);
    mwl_value v = build(&b, yyjson_doc_get_root(doc));
    for (size_t i = 0; b.caching && i < N_CACHED; i++) mwl__drop(heap, b.cache[i]);
    yyjson_doc_free(doc);
    if (!mwl_is_absent(v)) {
        *out = v;
        return MWL_OK;
    }
    if (heap->why == MWL_E_DEPTH) b.offset = too_deep_at(text, len);
    return fail(error, heap->why, NULL, b.offset);
}
