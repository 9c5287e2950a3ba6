/* resume.h: what saving and loading know of a program, made once for each VM and program. */
#ifndef MWL_RESUME_H
#define MWL_RESUME_H

#include "vm/base/table.h"
#include "vm/machine/state.h"

typedef struct mwl__resume {
    uint8_t id[16];        /* mwl_program_id */
    uint64_t shape;        /* of its tables and its definition; 0: the definition was stripped */
    mwl__table constants;  /* by address */
    uint32_t *constant;    /* index in CONSTS, by the table's numbers */
    uintptr_t first, last; /* the lowest and the highest address of them */
} mwl__resume;

/* NULL: out of memory. */
const mwl__resume *mwl__resume_of(mwl__link *link);
/* False: nothing that is there is a constant of the program. Most values are elsewhere. */
static inline bool mwl__resume_may_be(const mwl__resume *r, const void *p) {
    return (uintptr_t)p - r->first <= r->last - r->first;
}
/* The index of a constant of the program that is not a scalar, or MWL_NONE. */
uint32_t mwl__resume_constant(const mwl__link *link, mwl_value v);
/* Is this value one that a saved run names by its index? */
bool mwl__resume_is_constant(mwl_value v);

#endif
