/* mhd_lib.c: see mhd_lib.h. */
#include "tools/serve/mhd_lib.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

const struct mhd_lib *mhd_lib_load(const char **why) {
    static struct mhd_lib lib;
    static const char *const names[] = {
#define X(name) "MHD_" #name,
        MHD_LIB(X)
#undef X
    };
    enum { N = sizeof names / sizeof *names };
    void *table[N];
    _Static_assert(sizeof table == sizeof lib, "one pointer for each function");
    if (lib.run) return &lib;
    void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("libmicrohttpd.so", RTLD_NOW | RTLD_LOCAL);
    *why = "the library libmicrohttpd is not installed (Debian: libmicrohttpd12)";
    if (!library) return NULL;
    *why = "the library libmicrohttpd is too old";
    for (size_t i = 0; i < N; i++)
        if (!(table[i] = dlsym(library, names[i]))) return NULL;
    memcpy(&lib, table, sizeof lib);
    return &lib;
}
