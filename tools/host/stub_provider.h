/* stub_provider.h: providers that a document describes and nothing here implements.
 *
 * They let a definition be assembled and run up to the place where one is called: a call of a stub
 * fails, and so does the onEntry phase of a stub middleware. */
#ifndef MWL_TOOLS_STUB_PROVIDER_H
#define MWL_TOOLS_STUB_PROVIDER_H

#include "tools/host/bind.h"
#include "tools/host/remote.h"

/* Registers a stub for the document, with a note on standard error unless `silent`. A provider that
 * is bound or remote gets none. Returns CMD_OK, or CMD_REJECTED after a message. The text must
 * outlive the VM.
 */
int stub_provider_add(mwl_vm *vm, const mwl_asm_provider *document, const struct binds *binds,
                      const struct remotes *remotes, bool silent);

#endif
