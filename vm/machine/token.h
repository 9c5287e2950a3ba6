/* token.h: tokens, seen from the VM's thread: Results that other threads post to executions. */
#ifndef MWL_TOKEN_H
#define MWL_TOKEN_H

#include "vm/machine/state.h"

bool mwl__mail_adopt(mwl_vm *vm);               /* what has been posted; false: nothing */
void mwl__mail_close(mwl_vm *vm);               /* from here on no thread reaches the VM */
void mwl__tokens_unwanted(mwl_call *execution); /* it was cancelled */
void mwl__tokens_free(mwl_call *execution);     /* it will be freed */

#endif
