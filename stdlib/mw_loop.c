/* mw_loop.c: Loop: runs its inner scope again while its continuation holds.
 *
 * The whole of it is the author's two `when`s: a gated onEntry means no run at all
 * (MWL_MW_OWNS_RUNS), a gated onSuccess the end. So there is no state, and the machine counts the
 * runs. Variables persist. */
#include "std_impl.h"

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
