/* drive.h: the command as a host of durable runs: a VM, a driver, a writer thread, the loop. */
#ifndef MWL_TOOLS_DURABLE_DRIVE_H
#define MWL_TOOLS_DURABLE_DRIVE_H

#include "mwl_durable.h"
#include "run_vm.h"

struct drive;
/* What is driven, and until when. */
struct drive_how {
    const struct run_options *options;
    mwl_store *store;        /* joined */
    const char *const *only; /* ids; NULL: every run of the store */
    size_t n_only;
    /* A run is over. Returns whether this was the last one that was wanted. */
    bool (*ended)(void *ctx, mwl_heap *heap, const mwl_durable_ended *run);
    void *ctx;
    bool until_idle; /* also ends when no run is in memory and none is due */
};

/* Drives runs. CMD_OK, or an exit status with a message. After a signal the runs stay in the store;
 * *left is true then, and the command is to end by the signal. */
int drive(const struct drive_how *how, bool *left);

#endif
