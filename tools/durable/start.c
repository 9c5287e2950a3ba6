/* start.c: see start.h. The other side, which reads the text, is stdlib/durable/durable_load.c. */
#include "tools/durable/start.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT UINT64_C(9007199254740992) /* from here on a double skips integers */

static void put(mwl_heap *heap, mwl_value *o, const char *name, mwl_value take_v) {
    *o = mwl_object_set(heap, *o, name, strlen(name), take_v);
}

static mwl_value seed_value(mwl_heap *heap, uint64_t seed) {
    char digits[24];
    if (seed < EXACT) return mwl_number((double)seed);
    snprintf(digits, sizeof digits, "%" PRIu64, seed);
    return mwl_text(heap, digits);
}

bool start_seed(mwl_value v, uint64_t *out) {
    char *end = NULL;
    const char *digits = mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, NULL) : NULL;
    double d = mwl_value_kind(v) == MWL_KIND_NUMBER ? mwl_as_number(v) : 0;
    errno = 0;
    *out = digits && *digits >= '0' && *digits <= '9' ? strtoull(digits, &end, 10)
           : d >= 1 && d < (double)EXACT              ? (uint64_t)d
                                                      : 0;
    if (digits) return *out && !*end && !errno;
    return *out && (double)*out == d;
}

char *start_text(mwl_heap *heap, const mwl_start *start, size_t *len) {
    mwl_value limits = mwl_object(heap, 2), all = mwl_object(heap, 4);
    const mwl_limits none = {0}, *l = start->limits ? start->limits : &none;
    char *text = NULL;
    if (l->fuel && l->fuel != UINT64_MAX) put(heap, &limits, "fuel", mwl_number((double)l->fuel));
    if (l->memory_bytes && l->memory_bytes != SIZE_MAX)
        put(heap, &limits, "memory", mwl_number((double)l->memory_bytes));
    if (!mwl_is_absent(start->input)) put(heap, &all, "input", mwl_value_keep(start->input));
    if (mwl_is_absent(start->arguments))
        put(heap, &all, "arguments", mwl_object(heap, 0));
    else
        put(heap, &all, "arguments", mwl_value_keep(start->arguments));
    if (start->seed) put(heap, &all, "seed", seed_value(heap, start->seed));
    put(heap, &all, "limits", limits);
    if (mwl_json_write(heap, all, MWL_JSON_COMPACT, &text, len) != MWL_OK) text = NULL;
    mwl_value_drop(heap, all);
    return text;
}
