/* process.c: see process.h. */
#include "vm/base/process.h"

#include "vm/base/hash.h"

#if defined(_WIN32) || defined(__EMSCRIPTEN__) || defined(__wasi__)
#define CAN_FORK 0
#else
#define CAN_FORK 1
#include <pthread.h>
#endif

_Atomic uint64_t mwl__process_known;

#if CAN_FORK
/* In the child, where only this thread exists. */
static void forked(void) { atomic_store_explicit(&mwl__process_known, 0, memory_order_relaxed); }
static void watch(void) { (void)pthread_atfork(NULL, NULL, forked); }
#endif

uint64_t mwl__process_make(void) {
#if CAN_FORK
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, watch);
#endif
    uint64_t fresh = mwl__hash_fresh(), known = 0;
    return atomic_compare_exchange_strong(&mwl__process_known, &known, fresh) ? fresh : known;
}
