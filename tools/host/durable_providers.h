/* durable_providers.h: the providers of stdlib/durable in the command: answer, and those of
 * --remote. In a build without stdlib/durable there is none. */
#ifndef MWL_TOOLS_DURABLE_PROVIDERS_H
#define MWL_TOOLS_DURABLE_PROVIDERS_H

#include "mwl.h"

/* Returns the document of the provider answer, for the assembler, and its URI; NULL: there is none.
 */
const char *durable_document(const char **uri);
/* Adds the provider answer to a VM. */
int durable_provide(mwl_vm *vm);
/* Adds a provider whose calls workers outside take. The texts must outlive the VM. */
int durable_remote(mwl_vm *vm, const char *uri, const char *document);

#endif
