/* case_names.h: whether the names in a case of `mwlvm test` are names of its definition.
 *
 * A typo in `notRan` or in the name of a call would be an expectation that always holds. */
#ifndef MWL_TOOLS_TEST_CASE_NAMES_H
#define MWL_TOOLS_TEST_CASE_NAMES_H

#include "vm/base/mem.h"
#include "vm/program/program.h"

/* Checks the names in the `answers` and the `expect` of a case. Returns whether all are known; a
 * line for each that is not goes to `out`. */
bool case_names_check(const mwl_program *p, mwl_value spec, mwl__buf *out);

#endif
