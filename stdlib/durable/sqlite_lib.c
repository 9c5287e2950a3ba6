/* sqlite_lib.c: see sqlite_lib.h. */
#include "stdlib/durable/sqlite_lib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static mwl__sqlite_lib lib;
static const char *lib_why;

static void load(void) {
    static const char *const names[] = {
#define MWL_X(name) "sqlite3_" #name,
        MWL__SQLITE_LIB(MWL_X)
#undef MWL_X
    };
    enum { N = sizeof names / sizeof *names };
    void *table[N];
    _Static_assert(sizeof table == sizeof lib, "one pointer for each function");
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("libsqlite3.so", RTLD_NOW | RTLD_LOCAL);
    lib_why = library ? NULL : "the library libsqlite3 is not installed";
    for (size_t i = 0; i < N && !lib_why; i++)
        if (!(table[i] = dlsym(library, names[i]))) lib_why = "the library libsqlite3 is too old";
    if (!lib_why) memcpy(&lib, table, sizeof lib);
}

const mwl__sqlite_lib *mwl__sqlite_lib_load(const char **why) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *why = lib_why;
    return lib_why ? NULL : &lib;
}
