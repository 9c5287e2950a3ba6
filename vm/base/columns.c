/* columns.c: see columns.h. */
#include "vm/base/columns.h"

#include "vm/base/columns_table.h" /* columns_runs */

#include <stddef.h>

unsigned mwl__columns(uint32_t c) {
    size_t lo = 0, hi = sizeof columns_runs / sizeof *columns_runs;
    while (hi - lo > 1) { /* the last run that does not begin after c */
        size_t mid = (lo + hi) / 2;
        if (columns_runs[mid] >> 8 <= c)
            lo = mid;
        else
            hi = mid;
    }
    return columns_runs[lo] & 0xFF;
}
