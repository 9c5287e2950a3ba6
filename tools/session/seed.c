/* seed.c: see seed.h. */
#include "tools/session/seed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define EXACT UINT64_C(9007199254740992) /* from here on a double skips integers */

bool seed_read(mwl_value v, uint64_t *out) {
    *out = 0;
    if (mwl_value_kind(v) == MWL_KIND_STRING) {
        size_t len = 0;
        const char *digits = mwl_as_text(v, &len);
        char *end = NULL;
        errno = 0;
        uint64_t n = *digits >= '0' && *digits <= '9' ? strtoull(digits, &end, 10) : 0;
        if (n && !errno && end == digits + len) *out = n;
    } else if (mwl_value_kind(v) == MWL_KIND_NUMBER) {
        double d = mwl_as_number(v);
        if (d >= 1 && d < (double)EXACT && d == (double)(uint64_t)d) *out = (uint64_t)d;
    }
    return *out != 0;
}

mwl_value seed_value(mwl_heap *heap, uint64_t seed) {
    char digits[24];
    if (seed < EXACT) return mwl_number((double)seed);
    snprintf(digits, sizeof digits, "%" PRIu64, seed);
    return mwl_text(heap, digits);
}
