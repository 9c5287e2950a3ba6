/* fmt.h: a definition in its one canonical layout.
 *
 * Owns: the layout. Members are in the order of assembler/check/members.h, unknown ones behind them
 * in the order in which they were written; Steps, variables, arguments, the result of a Raise and
 * all other data keep their order, in which they are evaluated. Two spaces for each level. An
 * object or an array is on one line if it fits into 100 columns, except Flows, maps of Steps and
 * Flows, and Steps that call, gather or match: these have a line for each member. Numbers, strings
 * and names are copied byte for byte. The text ends with one line feed.
 *
 * A document that is not a definition (a provider document, a case, any JSON) gets the same layout,
 * and its members keep their order. Refuses to know: whether a definition is right. */
#ifndef MWL_TOOLS_FMT_H
#define MWL_TOOLS_FMT_H

#include "assembler/source/read.h"

#define FMT_COLUMNS 100

/* Appends the canonical text of a tree that was read without an error. */
void fmt_tree(const mwl__tree *tree, mwl__buf *out);

/* Formats a text. MWL_OK: *out has the new text. MWL_E_REJECTED: it is not JSON, or a name is in an
 * object twice; the sink has the reports, *out is empty. MWL_E_NOMEM: out of memory. *out is given,
 * to be freed with mwl__buf_free in any case. */
mwl_status fmt_source(mwl__source *source, mwl_alloc alloc, mwl__diags *sink, mwl__buf *out);

#endif
