/* findings.h: what the whole graph of a search shows: the shortest ways, states that come again,
 * the longest run, what was never reached. */
#ifndef MWL_TOOLS_EXPLORE_FINDINGS_H
#define MWL_TOOLS_EXPLORE_FINDINGS_H

#include "tools/explore/observer.h"

struct measures {
    bool endless;        /* a state can come again: what follows is of runs that do not repeat */
    int64_t longest_ns;  /* virtual time of the longest run */
    uint64_t most_calls; /* of one run */
    uint32_t most_pending;
    uint64_t most_runs; /* attempts of a Retry */
    uint32_t most_runs_entry;
    size_t n_open; /* states that were not expanded */
};

struct ways {
    const struct search *search;
    uint32_t *via;   /* by state: the edge of a shortest way to it; MWL_NONE */
    uint32_t *steps; /* by state: its length */
    struct measures measures;
};

/* Analyses the graph and adds findings to the watch: uncaught failures, waits without a bound, what
 * comes again and, after a complete search, what was never reached. Then every finding has its
 * nearest occurrence. Returns false if memory runs out. */
bool findings_finish(struct ways *g, struct search *s);
void ways_free(struct ways *g);

/* Writes the edges of the shortest way to a finding, first to last, and returns how many there are.
 * `edges` has room for ways_max. */
size_t ways_to(const struct ways *g, uint32_t edge, uint32_t state, uint32_t *edges);
size_t ways_max(const struct ways *g);

#endif
