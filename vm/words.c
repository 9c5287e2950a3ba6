/* words.c: see words.h. */
#include "words.h"

const mwl__word_text mwl__word_texts[MWL_WORD_COUNT] = {
#define X(name, text, hash) {1, sizeof text - 1, sizeof text - 1, hash, text},
    MWL_WORDS(X)
#undef X
};

_Static_assert(offsetof(mwl__word_text, s) == offsetof(mwl__str, s), "a word is laid out as a string");

mwl_value mwl__word_get(mwl_value object, mwl__word name) {
    if (MWL_KINDS(object) != MWL_KIND_OBJECT) return mwl_absent();
    const mwl_value *v = mwl__map_get(object, mwl__word_value(name));
    return v ? mwl__borrow(*v) : mwl_absent();
}

/* With an index, which only builds of odd limits have for so few: one by one. */
static mwl_value one_by_one(mwl_heap *h, mwl_value o, size_t n, const mwl__word *names, const mwl_value *take) {
    for (size_t i = 0; i < n; i++) o = mwl__map_put(h, o, mwl__word_value(names[i]), take[i]);
    return o;
}

static bool lay_down(mwl_heap *h, mwl_value *o, size_t n, const mwl__word *names, const mwl_value *take) {
    mwl__map *m = mwl__as_map(*o);
    for (size_t i = 0; i < n; i++) {
        mwl_status status = mwl__value_weigh(take[i], &m->depth, &m->odd, &m->weight);
        if (status < 0) {
            h->why = status;
            return false;
        }
    }
    for (size_t i = 0; i < n; i++) {
        m->member[i].key = mwl__word_value(names[i]);
        m->member[i].val = mwl__own(take[i]);
    }
    m->used = o->aux = (uint32_t)n;
    return true;
}

mwl_value mwl__words_object(mwl_heap *h, size_t room, size_t n, const mwl__word *names, const mwl_value *take) {
    bool given = true;
    for (size_t i = 0; i < n; i++) given = given && !mwl_is_absent(take[i]);
    mwl_value o = given ? mwl__map_new(h, room) : mwl_absent();
    if (!mwl_is_absent(o)) {
        if (mwl__as_map(o)->n_index) return one_by_one(h, o, n, names, take);
        if (lay_down(h, &o, n, names, take)) return o;
        mwl__drop(h, o);
    }
    for (size_t i = 0; i < n; i++) mwl__drop(h, take[i]);
    return mwl_absent();
}
