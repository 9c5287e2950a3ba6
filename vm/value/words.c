/* words.c: see words.h. */
#include "vm/value/words.h"

/* The layout of mwl__str with room for the longest text. */
typedef struct word_text {
    uint32_t rc, len, n_cp, hash;
    char s[36];
} word_text;

static const word_text word_texts[MWL_WORD_COUNT] = {
#define X(name, text, hash) {1, sizeof(text) - 1, sizeof(text) - 1, hash, text},
    MWL_WORDS(X)
#undef X
};

const mwl_value mwl__word_values[MWL_WORD_COUNT] = {
#define X(name, text, hash) {MWL_KIND_STRING, hash, {.p = (void *)&word_texts[MWL_WORD_##name]}},
    MWL_WORDS(X)
#undef X
};

enum { /* a hash has 32 bits, and an enumerator is an int */
#define X(name, text, hash) HASH_##name = (int)(hash),
       MWL_WORDS(X)
#undef X
};

/* The layout of mwl__keys with room for the longest shape. */
typedef struct word_keys {
    uint32_t n_index;
    uint16_t reach;
    uint8_t n;
    bool own : 1, keyed : 1, fixed : 1;
    mwl__keys *next;
    mwl_value key[5];
} word_keys;

#define KEY(name)                                                                                  \
    {                                                                                              \
        MWL_KIND_STRING, (uint32_t)HASH_##name, { .p = (void *)&word_texts[MWL_WORD_##name] }      \
    }
static const word_keys word_shapes[MWL_SHAPE_COUNT] = {
    [MWL_SHAPE_SUCCESS] = {.n = 2, .fixed = true, .key = {KEY(TYPE), KEY(VALUE)}},
    [MWL_SHAPE_FAILURE] = {.n = 5,
                           .fixed = true,
                           .key = {KEY(TYPE), KEY(CODE), KEY(MESSAGE), KEY(DETAILS),
                                   KEY(PREVIOUS)}},
    [MWL_SHAPE_FAILURE_NO_DETAILS] = {.n = 4,
                                      .fixed = true,
                                      .key = {KEY(TYPE), KEY(CODE), KEY(MESSAGE), KEY(PREVIOUS)}},
    [MWL_SHAPE_FAILURE_NO_MESSAGE] = {.n = 4,
                                      .fixed = true,
                                      .key = {KEY(TYPE), KEY(CODE), KEY(DETAILS), KEY(PREVIOUS)}},
    [MWL_SHAPE_FAILURE_OF_PREVIOUS] = {.n = 3,
                                       .fixed = true,
                                       .key = {KEY(TYPE), KEY(CODE), KEY(PREVIOUS)}},
};

_Static_assert(offsetof(word_text, s) == offsetof(mwl__str, s), "a word is laid out as a string");
_Static_assert(offsetof(word_keys, key) == offsetof(mwl__keys, key), "a shape is laid out as keys");

mwl_value mwl__word_get(mwl_value object, mwl__word name) {
    if (mwl_value_kind(object) != MWL_KIND_OBJECT) return mwl_absent();
    const mwl__map *m = mwl__as_map(object);
    if ((uint32_t)name < object.aux) { /* envelopes begin with type and code, the first two words */
        const mwl_value *guess = &m->keys->key[name];
        if (guess->as.p == mwl__word_values[name].as.p && mwl_value_kind(*guess) == MWL_KIND_STRING)
            return mwl__borrow(m->val[name]);
    }
    const mwl_value *v = mwl__map_get(object, mwl__word_value(name));
    return v ? mwl__borrow(*v) : mwl_absent();
}

/* Puts n values into an empty map. Returns how many fit: fewer if one is absent or a limit is
 * reached. */
static size_t fill(mwl_heap *h, mwl__map *m, size_t n, const mwl_value *take) {
    uint64_t weight = 1;
    uint16_t depth = 1, odd = 0;
    for (size_t i = 0; i < n; i++) {
        const mwl_value *v = &take[i];
        if (mwl_value_kind(*v) == MWL_KIND_STRING) {
            weight++;
        } else {
            if (mwl_is_absent(*v)) return i; /* its constructor has set `why` */
            mwl_status status = mwl__value_weigh(*v, &depth, &odd, &weight);
            if (status < 0) {
                h->why = status;
                return i;
            }
        }
        mwl__move(&m->val[i], v);
        if ((v->tag & (MWL_HEAP | MWL_OWNED)) == MWL_HEAP) m->val[i] = mwl__keep(*v);
    }
    m->depth = depth;
    m->odd = odd;
    m->weight = weight;
    m->used = (uint32_t)n;
    return n;
}

mwl_value mwl__words_object(mwl_heap *h, mwl__words_shape shape, size_t n, const mwl_value *take) {
    const mwl__keys *keys = (const mwl__keys *)(const void *)&word_shapes[shape];
    mwl__map *m = mwl__map_bare(h, keys, (uint32_t)n);
    size_t done = m ? fill(h, m, n, take) : 0;
    if (m && done == n)
        return (mwl_value){MWL_KIND_OBJECT | MWL_HEAP | MWL_OWNED, (uint32_t)n, {.p = m}};
    for (size_t i = 0; i < done; i++) mwl__drop(h, m->val[i]);
    if (m) mwl__heap_give(h, m, mwl__map_size(n, false));
    for (; done < n; done++) mwl__drop(h, take[done]);
    return mwl_absent();
}
