/* set.h: which values a list has, found by hash.
 *
 * Owns: membership by CEL's equality without comparing with every element, for uniqueItems,
 * distinct and the sets library. Its memory is the heap's and counts against its limit. Its work is
 * charged: the nodes and texts of a value that is hashed, and each element that it is compared
 * with. A value that does not equal itself (NaN) is never found. */
#ifndef MWL_SET_H
#define MWL_SET_H

#include "vm/base/table.h"
#include "vm/value/value.h"

#define MWL__SET_NONE UINT32_MAX

typedef struct mwl_set {
    mwl_heap *heap;
    mwl_value list; /* lent */
    mwl__table table;
} mwl_set;

/* Makes an empty set with room for all elements of the list. The list is lent, and must be there as
 * long as the set. Returns MWL_OK, MWL_E_NOMEM, or MWL_E_TOO_BIG for the heap's limit; then there
 * is nothing to free. */
mwl_status mwl__set_init(mwl_set *set, mwl_heap *heap, mwl_value list);
void mwl__set_free(mwl_set *set);
/* Finds the element that equals v: its index in *at, or MWL__SET_NONE. Returns MWL_OK or MWL_E_FUEL
 * (fuel NULL: no limit). */
mwl_status mwl__set_find(const mwl_set *set, mwl_value v, uint64_t *fuel, uint32_t *at);
/* Adds element i of the list, if no equal one is in the set; *at and the status as above. Adds an
 * element once at most. */
mwl_status mwl__set_add(mwl_set *set, uint32_t i, uint64_t *fuel, uint32_t *at);

#endif
