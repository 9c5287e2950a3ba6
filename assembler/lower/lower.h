/* lower.h: from a checked definition to code and tables.
 *
 * Owns: the layout that vm/tables.h describes. Refuses to know: the specification's static rules
 * (check.c saw to them), CEL (cel_lower.c) and how an image is written (emit.c). */
#ifndef MWL_LOWER_H
#define MWL_LOWER_H

#include "assembler/emit/emit.h"
#include "vm/cel/functions.h"
#include "assembler/check/model.h"

/* Lower the whole model into the emitter, SOURCE and INFO included. functions: folded where pure;
 * NULL: none. The model's `ix` fields and the expressions' notes are used and left behind. MWL_OK;
 * MWL_E_REJECTED after a report (something needs more than instructions can name); MWL_E_NOMEM. */
mwl_status mwl__lower(mwl__model *model, const mwl__functions *functions, mwl__emit *emit);

#endif
