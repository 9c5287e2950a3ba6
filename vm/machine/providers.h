/* providers.h: the providers of a VM: added, replaced and withdrawn at any time.
 *
 * A call in flight and an established entry keep the record that they began with. A record that was
 * replaced or withdrawn is retired: it is freed when nothing uses it any more. A withdrawn provider
 * leaves a record in its place, whose calls and phases fail. */
#ifndef MWL_PROVIDERS_H
#define MWL_PROVIDERS_H

#include "vm/machine/state.h"

mwl__provider *mwl__providers_find(const mwl_vm *vm, const char *uri, size_t len); /* or NULL */
/* Adds a provider; `replaces`: instead of the one with the same URI, if there is one. Not taken
 * over when it fails: MWL_E_DUPLICATE, or MWL_E_NOMEM. */
mwl_status mwl__providers_put(mwl_vm *vm, mwl__provider *take, bool replaces);
void mwl__providers_drop(mwl_vm *vm, mwl__provider *p);
void mwl__providers_free(mwl_vm *vm); /* all of it */

#endif
