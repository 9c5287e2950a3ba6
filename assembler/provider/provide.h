/* provide.h: adds the document and the implementation of a provider to the catalog of a VM.
 *
 * Owns: mwl_vm_provide and mwl_vm_provide_middleware. Refuses to know: what a document may contain
 * (catalog.h) and what a schema is (schema_compile.h). Registration reads JSON, so it belongs to
 * the assembler. A host that only loads images and adds a provider links it too. */
#ifndef MWL_PROVIDE_H
#define MWL_PROVIDE_H

#include "mwl_asm.h"

/* For the language's own providers only: the namespace `mwl` is open, and the document, which must
 * be constant, is compiled when a program that imports the provider is linked. Returns what
 * mwl_vm_provide returns. */
mwl_status mwl__provide_trusted(mwl_vm *vm, const mwl_call_provider *provider, void *user,
                                mwl_error *error);
mwl_status mwl__provide_trusted_middleware(mwl_vm *vm, const mwl_middleware *middleware,
                                           mwl_error *error);
/* As mwl_vm_provide, for answers that a tool gives in place of a provider. The namespace `example`
 * is open too, so that what documentation shows can be run. */
mwl_status mwl__provide_stand_in(mwl_vm *vm, const mwl_call_provider *provider, void *user,
                                 mwl_error *error);

/* What a VM offers to the definitions that are assembled for it. */
typedef struct mwl__offer {
    mwl_asm_document *documents;              /* the last one with the uri NULL */
    size_t n_documents;                       /* room */
    const mwl_function_def *const *functions; /* lent by the VM */
    size_t n_functions;
} mwl__offer;

/* With the documents of `more`, or NULL. MWL_OK or MWL_E_NOMEM. */
mwl_status mwl__offer_make(const mwl_vm *vm, const mwl_asm_document *more, mwl__offer *out);
void mwl__offer_free(const mwl_vm *vm, mwl__offer *offer);
void mwl__offer_say(mwl_vm *vm, const char *text); /* for mwl_vm_diagnostics */

#endif
