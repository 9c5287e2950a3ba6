/* arguments.h: the arguments of a Flow, a provider or a middleware phase, against its schema. */
#ifndef MWL_ARGUMENTS_H
#define MWL_ARGUMENTS_H

#include "vm/machine/state.h"

/* Checks arguments. Returns next_pc; MWL_PC_FAULT with the validation report as details;
 * MWL_PC_FUEL or MWL_PC_NOMEM. A NULL schema allows no arguments. args may be absent: there are
 * none. `who` begins the message. */
uint32_t mwl__arguments_check(mwl__frame *f, const mwl__schema *schema, mwl_value args,
                              const char *who, uint32_t next_pc);

#endif
