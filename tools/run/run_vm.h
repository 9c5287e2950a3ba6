/* run_vm.h: a VM of `mwlvm run`, with everything that its programs may call: the standard library,
 * the providers of stdlib/io, stubs of --provider, and what --bind says. `run` has one, `run
 * --each` one for each thread. */
#ifndef MWL_TOOLS_RUN_VM_H
#define MWL_TOOLS_RUN_VM_H

#include "tools/host/io_host.h"
#include "tools/run/run_options.h"

#include <uv.h>

struct run_vm {
    mwl_vm *vm;
    struct io_host io;
    struct answers **answers;   /* by item of the options' binds; NULL: none */
    size_t n_answers, n_hidden; /* failures that no Result shows and that were printed */
};

/* Where it lives. */
struct run_vm_host {
    uv_loop_t *loop;
    void (*wake)(void *ctx); /* see mwl_config.wake; may be NULL */
    void *ctx;
    bool silent;              /* notes about stubs were printed before */
    bool hold;                /* see mwl_config.hold */
    mwl_clock clock;          /* read NULL: host_clock() */
    const mwl_limits *limits; /* of runs that set none themselves; NULL: the VM's own */
};

/* CMD_OK and *out, given; or an exit status with a message. program NULL: it is not known which
 * programs will run. */
int run_vm_new(const struct run_options *o, const mwl_program *program,
               const struct run_vm_host *host, struct run_vm **out);
/* Ends what is in progress and frees. The loop stays. NULL is ignored. */
void run_vm_free(struct run_vm *v);

/* How many calls do real work, which virtual time does not skip. */
size_t run_vm_pending(const struct run_vm *v);
/* The run is over and will be freed. */
void run_vm_ended(struct run_vm *v, const mwl_run *run);

#endif
