/* grown.h: structs from hosts that were compiled with another version of the headers.
 *
 * Structs that a host fills grow at their end, and zero in a new member means what the version
 * before did. So a shorter struct is completed with zeros, and a longer one is accepted if what
 * this library does not know is zero. */
#ifndef MWL_GROWN_H
#define MWL_GROWN_H

#include "mwl.h"

#include <string.h>

/* Copies a struct of `size` bytes to one of `room` bytes. `from` NULL means all zero. Returns
 * MWL_OK, or MWL_E_VERSION if a member is set that this library does not have. */
static inline mwl_status mwl__grown_read(void *to, size_t room, const void *from, size_t size) {
    const unsigned char *bytes = from;
    memset(to, 0, room);
    if (!from) return MWL_OK;
    for (size_t i = room; i < size; i++)
        if (bytes[i]) return MWL_E_VERSION;
    memcpy(to, from, size < room ? size : room);
    return MWL_OK;
}

/* Returns element i of an array of structs of `size` bytes. */
static inline const void *mwl__grown_at(const void *array, size_t size, size_t i) {
    return (const unsigned char *)array + size * i;
}

#endif
