/* report.h: how the outcomes of cases are shown: names, dots, TAP, annotations of GitHub, and a
 * JUnit file. */
#ifndef MWL_TOOLS_TEST_REPORT_H
#define MWL_TOOLS_TEST_REPORT_H

#include "tools/test/test_case.h"

enum report_form { REPORT_DOTS, REPORT_NAMES, REPORT_TAP };

struct report {
    enum report_form form;
    bool github, colour;
    const char *junit; /* the file's name, or NULL */
    mwl__buf xml;      /* its test cases */
    size_t n, passed, failed, column;
    mwl__buf failures; /* of dots: shown at the end */
};

void report_begin(struct report *r, size_t n_cases);
/* In the order of the cases. */
void report_case(struct report *r, const struct test_case *c, const struct test_outcome *o);
/* Returns CMD_OK, or a status if the JUnit file could not be written. */
int report_end(struct report *r, double seconds);

#endif
