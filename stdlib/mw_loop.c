/* mw_loop.c: Loop: runs its inner scope again while its condition is true.
 *
 * The two `when` of the author control it: if that of onEntry is false there is no run
 * (MWL_MW_OWNS_RUNS); if that of onSuccess is false the loop ends. So there is no state, and the
 * machine counts the runs. Variables are kept between runs. */
#include "stdlib/documents.h"
#include "mwl_provider.h"

const mwl_middleware mwl__std_loop = {
    .uri = MWL__STD_LOOP,
    .document = mwl__std_doc_loop,
    /* spec: middleware-providers, Loop: a success leads to another run of the inner scope. */
    .flags = MWL_MW_OWNS_RUNS | MWL_MW_CARRIES,
    .run_count = "iteration",
};
