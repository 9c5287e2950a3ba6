/* report.h: what `mwlvm explore` prints. */
#ifndef MWL_TOOLS_EXPLORE_REPORT_H
#define MWL_TOOLS_EXPLORE_REPORT_H

#include "findings.h"

struct explore_report {
    struct search *search;
    struct ways *graph;
    const char *file;
    double seconds;
    const char *const *allow; /* kinds of findings that are not reported */
    size_t n_allow;
    bool colour;
};

/* Whether a finding is reported. */
bool explore_report_shows(const struct explore_report *r, const struct finding *f);
/* Prints it; returns how many findings were reported. */
size_t explore_report(const struct explore_report *r);

#endif
