/* shape.h: keys that many objects share.
 *
 * Owns: for each heap, the sequences of names that its objects have, each once. An object literal,
 * the objects of a JSON text and what a host builds member by member get the same shape if they
 * have the same names in the same order: then they need no memory for their keys, and to compare
 * their keys is to compare two pointers. Refuses to know: values.
 *
 * A shape has only atoms (atoms.c) and fewer than MWL_INDEX_FROM of them. It is never changed and
 * lives as long as its heap. Where there is no shape, an object has keys of its own, and behaves in
 * the same way:
 *   - other keys, or more of them;
 *   - a heap has at most MWL__SHAPE_KEYS keys in shapes, and data, and what is built member by
 *     member, bring at most half of them: hostile data can neither fill the memory nor keep a
 *     program's object literals from having shapes;
 *   - a search looks at a few places only, so that names whose hashes meet cost nothing more. */
#ifndef MWL_SHAPE_H
#define MWL_SHAPE_H

#include "vm/value/value.h"

#define MWL__SHAPE_KEYS 8192u

/* Is it an atom? Those of a heap and the words of the library have a count, which nothing changes;
 * a program's strings have none (image.c checks that). */
static inline bool mwl__is_atom(mwl_value key) {
    return (key.tag & (MWL_HEAP | 0xffu)) == MWL_KIND_STRING && mwl__as_str(key)->rc != 0;
}

/* The shape of n keys, which are `step` values apart. data: of data, not of a program. NULL: there
 * is none, or one key is there twice. */
const mwl__keys *mwl__shape(mwl_heap *h, const mwl_value *keys, size_t n, size_t step, bool data);

/* The rest of mwl__shape_then. */
const mwl__keys *mwl__shape_more(mwl_heap *h, mwl__keys *shape, uint32_t n, mwl_value key);

/* The shape of the first n keys of a shape and a further one, which is not among them. NULL: there
 * is none. It may have more keys than n + 1. */
static inline const mwl__keys *mwl__shape_then(mwl_heap *h, mwl__keys *shape, uint32_t n,
                                               mwl_value key) {
    if (!mwl__is_atom(key)) return NULL;
    if (n < shape->n && shape->key[n].as.p == key.as.p) return shape;
    if (n == shape->n && shape->next && shape->next->key[n].as.p == key.as.p) return shape->next;
    return mwl__shape_more(h, shape, n, key);
}

void mwl__shapes_free(mwl_heap *h);

#endif
