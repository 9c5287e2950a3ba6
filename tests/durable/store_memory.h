/* store_memory.h: a store in memory, for tests. */
#ifndef MWL_STORE_MEMORY_H
#define MWL_STORE_MEMORY_H
#include "mwl_store.h"

/* In memory, for tests: any number of workers in one process. Time is what now() returns. */
typedef struct mwl_store_memory mwl_store_memory;
mwl_status mwl_store_memory_new(int64_t (*now)(void *ctx), void *ctx, int64_t lease_ns,
                                mwl_store_memory **out);
void mwl_store_memory_free(mwl_store_memory *m); /* after its handles */
/* A handle; *out is given. To let a worker die without a word, forget its handle:
 * mwl_store_memory_free() frees it. */
mwl_status mwl_store_memory_open(mwl_store_memory *m, mwl_store **out);

#endif
