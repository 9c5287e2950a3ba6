/* usage.c: see usage.h. */
#include "vm/base/usage.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef NDEBUG
void mwl__usage_failed(const char *message) {
    fprintf(stderr, "mwlvm: wrong use of the library: %s\n", message);
    abort();
}
#else
typedef int mwl__usage_is_not_checked;
#endif
