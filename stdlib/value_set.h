/* value_set.h: which values a list holds, by hash: membership without comparing with every element.
 */
#ifndef MWL_VALUE_SET_H
#define MWL_VALUE_SET_H

#include "mwl_provider.h"

typedef struct mwl__value_set {
    mwl_fn *fn;
    mwl_value list;  /* lent */
    uint32_t *place; /* open addressing: index of an element + 1, or 0 */
    uint64_t *hash;  /* of the element in that place */
    size_t n_places; /* a power of two */
} mwl__value_set;

/* An empty set with room for the list's elements. False after a failure; then there is nothing to
 * free. */
bool mwl__value_set_init(mwl__value_set *set, mwl_fn *fn, mwl_value list);
void mwl__value_set_free(mwl__value_set *set);
/* Is there an element that equals v? False: out of fuel. */
bool mwl__value_set_has(const mwl__value_set *set, mwl_value v, bool *found);
/* Add element i of the list unless an equal one is there; *added says. False: out of fuel. */
bool mwl__value_set_add(mwl__value_set *set, size_t i, bool *added);
/* Every element of the list. False after a failure. */
bool mwl__value_set_add_all(mwl__value_set *set);

#endif
