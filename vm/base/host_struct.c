/* host_struct.c: see host_struct.h. */
#include "vm/base/host_struct.h"

#include <assert.h>
#include <string.h>

bool mwl__host_struct_cuts(const mwl__host_struct *g, size_t size) {
    size_t end = 0;
    bool cuts = false;
    for (size_t i = 0; i < g->n; i++) {
        assert(g->members[i].from >= end && g->members[i].from - end < 8); /* none is left out */
        end = g->members[i].to;
        cuts |= size > g->members[i].from && size < end;
    }
    assert(g->size >= end && g->size - end < 8);
    return cuts;
}

mwl_status mwl__host_struct_read(void *to, const mwl__host_struct *g, const void *from,
                                 size_t size) {
    const unsigned char *bytes = from;
    memset(to, 0, g->size);
    if (!from) return MWL_OK;
    if (size != g->size && mwl__host_struct_cuts(g, size)) return MWL_E_USAGE;
    for (size_t i = g->size; i < size; i++)
        if (bytes[i]) return MWL_E_VERSION;
    memcpy(to, from, size < g->size ? size : g->size);
    return MWL_OK;
}
