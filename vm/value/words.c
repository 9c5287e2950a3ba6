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

_Static_assert(offsetof(word_text, s) == offsetof(mwl__str, s), "a word is laid out as a string");
_Static_assert(MWL__WORDS_ROOM < MWL_INDEX_FROM, "an object of words has no index");

mwl_value mwl__word_get(mwl_value object, mwl__word name) {
    if (mwl_value_kind(object) != MWL_KIND_OBJECT) return mwl_absent();
    if ((uint32_t)name < object.aux) { /* envelopes begin with type and code, the first two words */
        const mwl__member *guess = &mwl__as_map(object)->member[name];
        if (guess->key.as.p == mwl__word_values[name].as.p &&
            mwl_value_kind(guess->key) == MWL_KIND_STRING)
            return mwl__borrow(guess->val);
    }
    const mwl_value *v = mwl__map_get(object, mwl__word_value(name));
    return v ? mwl__borrow(*v) : mwl_absent();
}

/* Puts n members into an empty map. Returns how many fit: fewer if one is absent or a limit is
 * reached. */
static size_t fill(mwl_heap *h, mwl__map *m, size_t n, const mwl__word *names,
                   const mwl_value *take) {
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
        mwl__member *member = &m->member[i];
        mwl__move(&member->key, &mwl__word_values[names[i]]);
        mwl__move(&member->val, v);
        if ((v->tag & (MWL_HEAP | MWL_OWNED)) == MWL_HEAP) member->val = mwl__keep(*v);
    }
    m->depth = depth;
    m->odd = odd;
    m->weight = weight;
    m->used = (uint32_t)n;
    return n;
}

mwl_value mwl__words_object(mwl_heap *h, size_t room, size_t n, const mwl__word *names,
                            const mwl_value *take) {
    mwl__map *m = mwl__map_bare(h, (uint32_t)room);
    size_t done = m ? fill(h, m, n, names, take) : 0;
    if (m && done == n)
        return (mwl_value){MWL_KIND_OBJECT | MWL_HEAP | MWL_OWNED, (uint32_t)n, {.p = m}};
    for (size_t i = 0; i < done; i++) mwl__drop(h, m->member[i].val);
    if (m) mwl__heap_give(h, m, sizeof *m + room * sizeof *m->member);
    for (; done < n; done++) mwl__drop(h, take[done]);
    return mwl_absent();
}
