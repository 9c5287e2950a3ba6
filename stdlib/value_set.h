/* value_set.h: a hash set of the elements of a list, which finds a value without comparing it with
 * every element. */
#ifndef MWL_VALUE_SET_H
#define MWL_VALUE_SET_H

#include "mwl_provider.h"

typedef struct mwl__value_set {
    mwl_fn *fn;
    mwl_value list;  /* lent */
    uint32_t *place; /* open addressing: index of an element + 1, or 0 */
    uint64_t *hash;  /* the hash of the element in that place */
    size_t n_places; /* a power of two */
} mwl__value_set;

/* Makes an empty set with room for the elements of the list. Returns false after a failure; then
 * there is nothing to free. */
bool mwl__value_set_init(mwl__value_set *set, mwl_fn *fn, mwl_value list);
void mwl__value_set_free(mwl__value_set *set);
/* Finds whether an element equals v. Returns false if out of fuel. */
bool mwl__value_set_has(const mwl__value_set *set, mwl_value v, bool *found);
/* Adds element i of the list, unless the set has an equal one; *added is whether it was added.
 * Returns false if out of fuel. */
bool mwl__value_set_add(mwl__value_set *set, size_t i, bool *added);
/* Adds every element of the list. Returns false after a failure. */
bool mwl__value_set_add_all(mwl__value_set *set);

#endif
