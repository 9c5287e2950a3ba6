/* io_impl.h: the record of a VM's providers, for io.c, policy.c and secret.c. */
#ifndef MWL_IO_RECORD_H
#define MWL_IO_RECORD_H

#include "stdlib/io/io.h"

struct mwl_io {
    mwl_vm *vm;
    uv_loop_t *loop;
    mwl_io_options options;
    mwl_io_policy *nothing;      /* the policy if the options have none */
    mwl_io_secrets *secrets;     /* those of the options, or own_secrets */
    mwl_io_secrets *own_secrets; /* or NULL */
    mwl__io_op *ops;             /* in progress */
    size_t n_ops;
    size_t holds; /* 1 until it is closed, and one for each handle that is being closed */
    size_t busy;  /* callbacks that still use the providers */
    bool closing, states_closed;
    void (*closed)(void *ctx);
    void *closed_ctx;
    void *state[MWL__IO_N_SLOTS + 1];
};

#endif
