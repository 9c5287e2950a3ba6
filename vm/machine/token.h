/* token.h: what other threads post to a VM: answers to executions and entries, cancellations. */
#ifndef MWL_TOKEN_H
#define MWL_TOKEN_H

#include "vm/machine/state.h"

mwl_status mwl__mail_open(mwl_vm *vm);          /* with the VM */
bool mwl__mail_filled(const mwl_vm *vm);        /* something has been posted */
void mwl__mail_adopt(mwl_vm *vm);               /* what has been posted */
void mwl__mail_close(mwl_vm *vm);               /* from here on no thread reaches the VM */
void mwl__tokens_unwanted(mwl_call *execution); /* it was cancelled */
void mwl__tokens_free(mwl_call *execution);     /* it will be freed */
void mwl__token_left(mwl__entry *entry);        /* it does not wait any more */
/* Makes a token for the innermost entry of a frame; *out is given. MWL_OK or MWL_E_NOMEM. */
mwl_status mwl__token_for_entry(mwl__frame *f, mwl_token **out);
/* Takes the answer to it: MWL_OK and a value, MWL_E_FAILED and a failure, given; MWL_E_NOT_FOUND:
 * there is none; or why there is no value. */
mwl_status mwl__token_answer(mwl__frame *f, mwl_value *out);

/* Any thread: the next pump cancels the run. MWL_OK or MWL_E_NOMEM. */
mwl_status mwl__mail_cancel(mwl_run *run, const char *reason);
void mwl__mail_forget(const mwl_run *run, mwl_vm *vm); /* it is freed */

#endif
