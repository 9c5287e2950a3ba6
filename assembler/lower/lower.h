/* lower.h: from a checked definition to code and tables.
 *
 * Owns: the layout of the code that vm/program/tables.h describes. Refuses to know: the
 * specification's static rules (assembler/check/ has checked them), CEL (assembler/cel/) and how an
 * image is written (assembler/emit/). */
#ifndef MWL_LOWER_H
#define MWL_LOWER_H

#include "assembler/emit/emit.h"
#include "vm/cel/functions.h"
#include "assembler/check/model.h"

/* Lowers the whole model into the emitter, with SOURCE and INFO. functions: calls of pure ones with
 * constant arguments are computed here; NULL: there are no functions. Writes the `ix` fields of the
 * model and the notes of the expressions. MWL_OK; MWL_E_REJECTED after a report, if something needs
 * more than instructions can name; MWL_E_NOMEM. */
mwl_status mwl__lower(mwl__model *model, const mwl__functions *functions, mwl__emit *emit);

#endif
