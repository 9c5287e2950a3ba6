/* mw_loop.c: Loop: runs its inner scope again while its condition is true.
 *
 * The two `when` of the author control it: if that of onEntry is false there is no run
 * (MWL_MW_OWNS_RUNS); if that of onSuccess is false the loop ends. So there is no state, and the
 * machine counts the runs. Variables are kept between runs. */
#include "std_impl.h"

/* spec: middleware-providers, Loop: a success leads to another run of the inner scope. */
static void loop_success(mwl_phase *phase, void *user) {
    (void)user;
    mwl_phase_reenter(phase, MWL_REENTER_CARRY, 0);
}

const mwl_middleware mwl__std_loop = {
    .uri = MWL__STD_LOOP,
    .document = mwl__std_doc_loop,
    .flags = MWL_MW_OWNS_RUNS,
    .run_count = "iteration",
    .success = loop_success,
};
