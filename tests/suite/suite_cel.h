/* suite_cel.h: what the files of the CEL suite share. */
#ifndef MWL_SUITE_CEL_H
#define MWL_SUITE_CEL_H

#include "assembler/cel/cel_front.h"
#include "tests/suite/suite.h"
#include "vm/cel/exec_context.h"
#include "vm/cel/functions.h"
#include "vm/value/zone.h"

struct cel_suite {
    mwl_heap *heap;
    mwl__exec x;
    mwl__zones zones;
    mwl__functions functions;
    char why[400]; /* of the last failure */
};

bool cel_suite_init(struct cel_suite *c);
void cel_suite_done(struct cel_suite *c);
bool cel_exec_init(struct cel_suite *c); /* a fresh c->x */

bool cel_flag(mwl_value object, const char *name);
/* The text of a member, malloc'd, to its first NUL; NULL if it is none. */
char *cel_text(mwl_value object, const char *name);

/* Makes a value from a VALUE of the README, given; absent if it has another form. */
mwl_value cel_value(struct cel_suite *c, mwl_value text);
/* Same type and value, NaN equals NaN, -0 differs from 0. */
bool cel_same(mwl_value a, mwl_value b, int depth);

/* Names of the variables: bound or declared. */
char **cel_names(mwl_value test, size_t *n);
void cel_names_free(char **names, size_t n);

/* Finds the type that the checker deduces. Returns false if it cannot, or if it rejects the
 * expression. */
bool cel_deduced_type(struct cel_suite *c, mwl_value test, char *type, size_t size);

extern const mwl__cel_macro cel_test_macros[];

#endif
