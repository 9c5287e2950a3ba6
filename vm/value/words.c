/* words.c: see words.h. */
#include "vm/value/words.h"

/* The layout of mwl__str with room for the longest text. */
typedef struct word_text {
    uint32_t rc, len, n_cp, hash;
    char s[16];
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
    const mwl_value *v = mwl__map_get(object, mwl__word_value(name));
    return v ? mwl__borrow(*v) : mwl_absent();
}

mwl_value mwl__words_object(mwl_heap *h, size_t room, size_t n, const mwl__word *names,
                            const mwl_value *take) {
    mwl__map *m = mwl__map_bare(h, (uint32_t)room);
    size_t done = 0;
    if (m) {
        uint64_t weight = 1;
        uint16_t depth = 1, odd = 0;
        for (; done < n; done++) {
            mwl_value v = take[done];
            if (mwl_value_kind(v) == MWL_KIND_STRING) {
                weight++;
            } else if (mwl_is_absent(v)) {
                break; /* its constructor has set `why` */
            } else {
                mwl_status status = mwl__value_weigh(v, &depth, &odd, &weight);
                if (status < 0) {
                    h->why = status;
                    break;
                }
            }
            m->member[done].key = mwl__word_value(names[done]);
            m->member[done].val = mwl__own(v);
        }
        if (done == n) {
            m->depth = depth;
            m->odd = odd;
            m->weight = weight;
            m->used = (uint32_t)n;
            return (mwl_value){MWL_KIND_OBJECT | MWL_HEAP | MWL_OWNED, (uint32_t)n, {.p = m}};
        }
        for (size_t i = 0; i < done; i++) mwl__drop(h, m->member[i].val);
        mwl__heap_give(h, m, sizeof *m + room * sizeof *m->member);
    }
    for (; done < n; done++) mwl__drop(h, take[done]);
    return mwl_absent();
}
