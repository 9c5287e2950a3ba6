/* mw_finally.c: Finally: dispatches a cleanup call on every exit.
 *
 * The call and its stack are structural parameters: code of the program, which the machine runs for
 * mwl_phase_dispatch. A failed cleanup fails the phase, and so supersedes the Result in flight. */
#include "stdlib/std_impl.h"

#include "stdlib/documents.h"

/* spec: middleware-providers, Finally: the cleanup call, whatever the Result is. */
static void finally_always(mwl_phase *phase, void *user) {
    (void)user;
    mwl_phase_dispatch(phase);
}

const mwl_middleware mwl__std_finally = {
    .uri = MWL__STD_FINALLY,
    .document = mwl__std_doc_finally,
    .always = finally_always,
};
