/* observer.h: looks at what happens in every transition of a search, and notes what is wrong.
 *
 * Owns: findings that one event shows (a fault, a cleanup that fails, an invariant that does not
 * hold), coverage, the most attempts, and the counts that invariants read. What the whole graph
 * shows is in findings.h. */
#ifndef MWL_TOOLS_EXPLORE_OBSERVER_H
#define MWL_TOOLS_EXPLORE_OBSERVER_H

#include "tools/host/expr.h"
#include "tools/explore/search.h"

enum finding_kind {
    FINDING_INVARIANT,
    FINDING_UNCAUGHT, /* a failure that nothing catches */
    FINDING_FAULT,    /* an expression fails */
    FINDING_CLEANUP_FAILS,
    FINDING_CLEANUP_SKIPPED,
    FINDING_NEVER_ENDS, /* a state comes again */
    FINDING_UNBOUNDED,  /* a wait that nothing bounds */
    FINDING_LIMIT,      /* a limit of the machine ends the run */
    FINDING_UNREACHED,  /* a Step, clause, case, policy that nothing can reach */
    FINDING_ATTEMPTS,   /* a policy allows more attempts than can be made */
    FINDING_KINDS
};
const char *finding_kind_name(enum finding_kind kind); /* "uncaught", ... */

/* How much a finding matters. An error is a mistake of the definition. A warning may be one. A note
 * is a failure that simply leaves the Flow: it is a Result, and listed there. */
enum finding_rank { RANK_ERROR, RANK_WARNING, RANK_NOTE, FINDING_RANKS };
const char *finding_rank_name(enum finding_rank rank); /* "error", ... */

struct finding {
    enum finding_kind kind;
    enum finding_rank rank;
    uint32_t step; /* or MWL_NONE: of a Flow, of no Step */
    char *text;
    uint32_t line, column;
    uint64_t n;           /* occurrences */
    uint32_t edge, state; /* the nearest one (findings_finish): an edge, or a state; MWL_NONE */
};

/* Where a finding was seen: at the end of an edge, or in a state. */
struct occurrence {
    uint32_t finding, edge, state;
};

struct invariant {
    const char *text;
    struct expr expr;
    bool at_end; /* checked at the end alone */
};

/* What invariants count on the way to a state: calls('NAME'), succeeded, failed; of before('X',
 * 'Y'), which of the two was called first. A name is a Step, "Flow/Step" or a URI. */
enum count_kind { COUNT_CALLS, COUNT_SUCCEEDED, COUNT_FAILED, COUNT_BEFORE, COUNT_KINDS };

struct counter {
    enum count_kind kind;
    char *name, *other; /* other: of before() */
};
enum { BEFORE_NONE, BEFORE_FIRST, BEFORE_OTHER }; /* the counts of a before() */

struct observer {
    struct search *search;
    struct coverage *coverage;
    uint64_t *hits;
    uint64_t *most_runs; /* by entry */
    uint32_t *always; /* by Step: the one that follows it whether it succeeds or fails; MWL_NONE */
    struct finding *findings;
    size_t n_findings, cap_findings;
    struct occurrence *occurrences;
    size_t n_occurrences, cap_occurrences;
    uint32_t edge; /* that is being made */
    bool failed;   /* out of memory */

    struct expr_env env;
    struct invariant *invariants;
    size_t n_invariants;
    mwl_value last[4]; /* what invariants read of the root Flow: vars, step, failure, flow */
    struct counter *counters;
    size_t n_counters;
    uint32_t *counts;      /* by counter, on the way to here */
    uint64_t spoiled;      /* by entry rank: a failed cleanup was in flight already */
    uint32_t *kept_counts; /* by state * n_counters */
    uint64_t *kept_spoiled;
    size_t cap_kept;
    void (*called)(void *ctx, mwl_call *call); /* for a replay, or NULL */
    void *called_ctx;
};

/* Returns false if memory runs out. */
bool observer_init(struct observer *w, struct search *s);
void observer_free(struct observer *w);
/* Adds an invariant, checked after every Step and at the end, or at the end alone. Returns MWL_OK,
 * or a status and `why`: it does not compile, or names what the definition does not have. */
mwl_status observer_invariant(struct observer *w, const char *text, bool at_end, char *why,
                              size_t size);

/* A transition begins in this state, of which `run` is a copy; NULL: the first one. */
void observer_begin(struct observer *w, uint32_t from, uint32_t edge, const mwl_run *run);
void observer_call(struct observer *w, mwl_call *call);
void observer_event(void *ctx, const mwl_trace_event *event); /* the listener */
void observer_end(struct observer *w, mwl_run *run);
void observer_keep(struct observer *w, uint32_t state);
void observer_add_counts(struct observer *w, mwl__fingerprint *print);

/* Notes a finding; the same text is one finding. At a Step: its index; otherwise MWL_NONE. */
void observer_note(struct observer *w, enum finding_kind kind, uint32_t step, uint32_t edge,
                   uint32_t state, const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
