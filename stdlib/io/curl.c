/* curl.c: see curl.h. */
#include "stdlib/io/curl.h"

#include "stdlib/io/io.h"

#include <pthread.h>

mwl__curl_table mwl__curl;

static const char *why;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib",
                                        NULL};
    static const char *const functions[] = {
#define MWL_X(name) "curl_" #name,
        MWL__CURL_FUNCTIONS(MWL_X)
#undef MWL_X
    };
    enum { N = sizeof functions / sizeof *functions };
    void *table[N];
    why = mwl__io_load(names, functions, N, table);
    if (why) return;
    memcpy(&mwl__curl, table, sizeof mwl__curl);
    if (mwl__curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) why = "libcurl cannot be started";
}

const char *mwl__curl_load(void) {
    pthread_once(&once, load);
    return why;
}
