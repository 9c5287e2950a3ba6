/* start.c: see start.h. The other side, which reads the text, is stdlib/durable/durable_load.c. */
#include "tools/durable/start.h"

#include "tools/base/member.h"
#include "tools/session/seed.h"

static void put(mwl_heap *heap, mwl_value *o, const char *name, mwl_value take_v) {
    *o = member_set(heap, *o, name, take_v);
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
