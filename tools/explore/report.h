/* report.h: what `mwlvm explore` prints. */
#ifndef MWL_TOOLS_EXPLORE_REPORT_H
#define MWL_TOOLS_EXPLORE_REPORT_H

#include "tools/explore/findings.h"

struct explore_report {
    struct search *search;
    struct ways *graph;
    const char *file;
    double seconds;
    const char *const *allow; /* kinds of findings that are not reported */
    size_t n_allow;
    bool all; /* each finding by itself, and the notes */
    bool colour;
};

/* Whether finding i is reported by itself: it is not allowed, not a note that is only counted, and
 * the nearest of those of its Step and kind. */
bool explore_report_shows(const struct explore_report *r, size_t i);
/* Prints it; counts what was reported, by rank. */
void explore_report(const struct explore_report *r, size_t shown[FINDING_RANKS]);

#endif
