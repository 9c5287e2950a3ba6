/* words.c: see words.h. */
#include "words.h"

const mwl__word_text mwl__word_texts[MWL_WORD_COUNT] = {
#define X(name, text, hash) {1, sizeof text - 1, sizeof text - 1, hash, text},
    MWL_WORDS(X)
#undef X
};

_Static_assert(offsetof(mwl__word_text, s) == offsetof(mwl__str, s), "a word is laid out as a string");
_Static_assert(MWL__WORDS_ROOM < MWL_INDEX_FROM, "an object of words has no index");

mwl_value mwl__word_get(mwl_value object, mwl__word name) {
    if (MWL_KINDS(object) != MWL_KIND_OBJECT) return mwl_absent();
    const mwl_value *v = mwl__map_get(object, mwl__word_value(name));
    return v ? mwl__borrow(*v) : mwl_absent();
}

/* The members' weight and the rest of the books. False, why set: one of them is absent or too much. */
static bool weigh(mwl_heap *h, size_t n, const mwl_value *values, mwl__map *into) {
    into->depth = 1;
    into->odd = 0;
    into->weight = 1 + n;
    for (size_t i = 0; i < n; i++) {
        if (MWL_KINDS(values[i]) == MWL_KIND_STRING) continue;
        if (mwl_is_absent(values[i])) return false; /* whoever should have made it has said why */
        into->weight--;
        mwl_status status = mwl__value_weigh(values[i], &into->depth, &into->odd, &into->weight);
        if (status == MWL_OK) continue;
        h->why = status;
        return false;
    }
    return true;
}

mwl_value mwl__words_object(mwl_heap *h, size_t room, size_t n, const mwl__word *names, const mwl_value *take) {
    mwl__map *m = mwl__map_bare(h, (uint32_t)room);
    if (m && weigh(h, n, take, m)) {
        for (size_t i = 0; i < n; i++) {
            m->member[i].key = mwl__word_value(names[i]);
            m->member[i].val = mwl__own(take[i]);
        }
        m->used = (uint32_t)n;
        return (mwl_value){MWL_KIND_OBJECT | MWL_HEAP | MWL_OWNED, (uint32_t)n, {.p = m}};
    }
    if (m) mwl__heap_give(h, m, sizeof *m + room * sizeof *m->member);
    for (size_t i = 0; i < n; i++) mwl__drop(h, take[i]);
    return mwl_absent();
}
