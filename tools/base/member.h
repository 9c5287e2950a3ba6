/* member.h: members of an object by their names; mwl_get() finds one. */
#ifndef MWL_TOOLS_MEMBER_H
#define MWL_TOOLS_MEMBER_H

#include "mwl.h"

#include <string.h>

/* Returns the text of a member, lent; "" if there is none, or it is not a text. */
static inline const char *member_text(mwl_value object, const char *name) {
    const char *text = mwl_as_text(mwl_get(object, name), NULL);
    return text ? text : "";
}

/* The same as mwl_object_set(), with a name that ends with NUL. */
static inline mwl_value member_set(mwl_heap *heap, mwl_value take_object, const char *name,
                                   mwl_value take_value) {
    return mwl_object_set(heap, take_object, name, strlen(name), take_value);
}

#endif
