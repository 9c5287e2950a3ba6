/* io_impl.h: the record of a VM's providers, for io.c, policy.c and secret.c. */
#ifndef MWL_IO_RECORD_H
#define MWL_IO_RECORD_H

#include "io.h"

typedef struct mwl__secrets mwl__secrets; /* secret.c */

struct mwl_io {
    mwl_vm *vm;
    uv_loop_t *loop;
    mwl_io_options options;
    mwl_io_policy *nothing; /* the policy if the options have none */
    mwl__secrets *secrets;  /* NULL before the first one */
    mwl__io_op *ops;        /* in progress */
    size_t n_ops;
    size_t holds; /* 1 until it is closed, and one for each handle that is being closed */
    size_t busy;  /* callbacks that still use the providers */
    bool closing, states_closed;
    void (*closed)(void *ctx);
    void *closed_ctx;
    void *state[MWL__IO_N_SLOTS + 1];
};

void mwl__secrets_free(mwl__secrets *secrets); /* NULL is ignored */

#endif
