/* postgres_lib.c: see postgres_lib.h. */
#include "stdlib/durable/postgres_lib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static mwl__postgres_lib lib;
static const char *lib_why;

static void load(void) {
    static const char *const names[] = {
#define MWL_X(result, name, parameters) "PQ" #name,
        MWL__POSTGRES_LIB(MWL_X)
#undef MWL_X
    };
    enum { N = sizeof names / sizeof *names };
    void *table[N];
    _Static_assert(sizeof table == sizeof lib, "one pointer for each function");
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    lib_why = library ? NULL : "the library libpq is not installed (Debian: libpq5)";
    for (size_t i = 0; i < N && !lib_why; i++)
        if (!(table[i] = dlsym(library, names[i]))) lib_why = "the library libpq is too old";
    if (!lib_why) memcpy(&lib, table, sizeof lib);
}

const mwl__postgres_lib *mwl__postgres_lib_load(const char **why) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *why = lib_why;
    return lib_why ? NULL : &lib;
}
