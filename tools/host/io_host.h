/* io_host.h: the providers of stdlib/io in the command: what is allowed, and their life on the
 * loop.
 *
 * In a build without that library every function exists and does nothing. */
#ifndef MWL_TOOLS_IO_HOST_H
#define MWL_TOOLS_IO_HOST_H

#include "tools/host/bind.h"
#include "mwl_asm.h"

struct uv_loop_s; /* uv_loop_t of <uv.h> */

/* Documents for mwl_asm_options.library; NULL if the command has none. */
const mwl_asm_document *io_host_documents(void);

/* The providers of one VM. All zero: none. */
struct io_host {
    struct mwl_io *io;
    struct uv_loop_s *loop;
    struct uv_loop_s *own; /* for middleware alone, or NULL */
};

/* What is allowed, and what is bound to something else (--bind). Lent until the end. */
struct permissions;
struct io_host_options {
    const struct binds *binds;
    const struct permissions *allowed;
    size_t memory; /* of a run: what outlives runs may have an eighth of it beside, up to 64 MiB */
    bool rows;     /* runs are kept in a store, with what they mark as secret */
};

/* Adds the providers to the VM if the program imports one of them (or is NULL: not known), or a
 * bound provider is answered by one. CMD_OK, or a status with a message. */
int io_host_open(struct io_host *h, mwl_vm *vm, struct uv_loop_s *loop, const mwl_program *program,
                 const struct io_host_options *how);
/* Adds the middleware alone, if the program imports one: for a run whose calls are scripted. It may
 * touch nothing outside, and logs nothing. MWL_OK, or an error of mwl_io_open(). */
mwl_status io_host_middleware(struct io_host *h, mwl_vm *vm, const mwl_program *program);
/* How many calls are in progress. */
size_t io_host_pending(const struct io_host *h);
/* Ends what is in progress, before the VM is freed. The loop stays. */
void io_host_close(struct io_host *h);

#endif
