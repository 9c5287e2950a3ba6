/* foreign.c: see foreign.h. */
#include "vm/native/foreign.h"

#include <stddef.h>
#include <string.h>

#if defined(__linux__) && defined(__GNUC__)

/* Dl_info of <dlfcn.h>, which shows it only where _GNU_SOURCE was defined before. */
typedef struct object {
    const char *file;
    void *base;
    const char *symbol;
    void *at;
} object;
/* Weak: a C library may have it in a library of its own, or not at all. Under another name, because
 * <dlfcn.h> may have declared it. */
extern int look_up(const void *address, object *out) __asm__("dladdr") __attribute__((weak));
extern const char crosscall2[]
    __attribute__((weak)); /* the way from C into Go, in every such program */

static int find(const void *address, object *out) {
    *out = (object){NULL, NULL, NULL, NULL};
    return look_up(address, out) != 0 && out->base;
}

static const void *address_of(void (*fn)(void)) {
    const void *address;
    memcpy(&address, &fn, sizeof address);
    return address;
}

const char *mwl__foreign_why(void (*fn)(void)) {
    object here, there, go;
    static const char known[] = "";
    if (!look_up || !find(known, &here)) return NULL; /* nothing is found in this program */
    if (!find(address_of(fn), &there))
        return "`blocking` is a closure of another language, which cannot run on another stack: "
               "use `start`";
    if (crosscall2 && find(crosscall2, &go) && go.base == there.base && there.at == address_of(fn))
        return "`blocking` is a function of Go, which cannot run on another stack: use `start`";
    return NULL;
}

#else
const char *mwl__foreign_why(void (*fn)(void)) { return (void)fn, NULL; }
#endif
