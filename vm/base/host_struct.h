/* host_struct.h: structs from hosts that were compiled with another version of the headers.
 *
 * Structs that a host fills grow at their end, and zero in a new member means what the version
 * before did. So a shorter struct is completed with zeros, and a longer one is accepted if what
 * this library does not know is zero. */
#ifndef MWL_HOST_STRUCT_H
#define MWL_HOST_STRUCT_H

#include "mwl.h"

/* A member of such a struct, as its place. */
typedef struct mwl__member {
    uint16_t from, to;
} mwl__member;
#define MWL__MEMBER(type, name)                                                                    \
    { offsetof(type, name), offsetof(type, name) + sizeof(((type *)0)->name) }
/* The members of one struct: a host's struct never ends inside one of them. */
typedef struct mwl__host_struct {
    size_t size; /* of the struct */
    const mwl__member *members;
    size_t n;
} mwl__host_struct;
#define MWL__HOST_STRUCT(type, list)                                                               \
    { sizeof(type), list, sizeof(list) / sizeof *(list) }

#define MWL__CUT "the size of a struct ends inside a member"

/* Returns whether a struct of `size` bytes ends inside a member. */
bool mwl__host_struct_cuts(const mwl__host_struct *g, size_t size);

/* Copies a struct of `size` bytes to one of this library. `from` NULL means all zero. Returns
 * MWL_OK, MWL_E_VERSION if a member is set that this library does not have, or MWL_E_USAGE if it
 * ends inside a member. */
mwl_status mwl__host_struct_read(void *to, const mwl__host_struct *g, const void *from,
                                 size_t size);

/* Returns the message for a status of mwl__host_struct_read; `unknown` is that of MWL_E_VERSION. */
static inline const char *mwl__host_struct_why(mwl_status st, const char *unknown) {
    return st == MWL_E_USAGE ? MWL__CUT : unknown;
}

/* Returns element i of an array of structs of `size` bytes. */
static inline const void *mwl__host_struct_at(const void *array, size_t size, size_t i) {
    return (const unsigned char *)array + size * i;
}

#endif
