/* provide.h: adds the document and the implementation of a provider to the catalog of a VM.
 *
 * Owns: mwl_vm_provide and mwl_vm_provide_middleware. Refuses to know: what a document may contain
 * (catalog.h) and what a schema is (schema_compile.h). Registration reads JSON, so it belongs to
 * the assembler. A host that only loads images and adds a provider links it too. */
#ifndef MWL_PROVIDE_H
#define MWL_PROVIDE_H

#include "mwl_provider.h"

/* For the language's own providers only: the namespace `mwl` is open, and the document, which must
 * be constant, is compiled when a program that imports the provider is linked. Returns what
 * mwl_vm_provide returns. */
mwl_status mwl__provide_trusted(mwl_vm *vm, const mwl_call_provider *provider, mwl_error *error);
mwl_status mwl__provide_trusted_middleware(mwl_vm *vm, const mwl_middleware *middleware,
                                           mwl_error *error);

#endif
