/* io_host.h: the providers of stdlib/io in the command: what is allowed, and their life on the
 * loop.
 *
 * In a build without that library every function exists and does nothing. */
#ifndef MWL_TOOLS_IO_HOST_H
#define MWL_TOOLS_IO_HOST_H

#include "mwl_asm.h"

/* Documents for mwl_asm_options.library; NULL if the command has none. */
const mwl_asm_document *io_host_documents(void);

/* Adds the providers to the VM if the program imports one of them: their loop is the default loop
 * of libuv. CMD_OK, or a status with a message. */
int io_host_open(mwl_vm *vm, const mwl_program *program);
/* How many calls are in progress. */
size_t io_host_pending(void);
/* Ends what is in progress, before the VM is freed. */
void io_host_close(void);

#endif
