/* coverage.h: what of a definition a run took: Steps, ways between them, catch clauses, match
 * cases, phases of middleware, bounds and Retry policies.
 *
 * Owns: the list of these places in a program, and which event means which place. `mwlvm test`
 * adds up the hits of its cases, `mwlvm explore` those of its search, and a graph can colour by
 * them (coverage_write). */
#ifndef MWL_TOOLS_TEST_COVERAGE_H
#define MWL_TOOLS_TEST_COVERAGE_H

#include "vm/program/program.h"

enum coverage_kind {
    COVER_STEP,
    COVER_NEXT,   /* from a Step to its `next` */
    COVER_CATCH,  /* a catch clause */
    COVER_CASE,   /* a case of a Match, or its default */
    COVER_PHASE,  /* a phase that has an action or fields */
    COVER_BOUND,  /* a Timeout: its bound elapsed */
    COVER_POLICY, /* a Retry policy that matched a failure */
    COVER_KINDS
};

struct coverage_item {
    enum coverage_kind kind;
    uint32_t flow, step; /* indexes; step MWL_NONE: of the Flow */
    uint32_t to;         /* the Step that a way leads to, or MWL_NONE */
    uint32_t entry;      /* of a phase, bound or policy; else MWL_NONE */
    uint32_t number;     /* of a clause, a case, a policy from 0; a phase: mwl__phase_id */
    uint32_t line, column;
};

/* The places of one program. It does not change after it was made: threads may share it. */
struct coverage {
    const mwl_program *program; /* kept */
    struct coverage_item *items;
    size_t n_items, cap;
    bool failed;                    /* while it is made: memory ran out */
    uint32_t *of_code;              /* the item of a way, by mwl__view_way.code, or MWL_NONE */
    uint32_t *of_phase;             /* by entry * 4 + phase */
    uint32_t *of_bound, *of_policy; /* by entry; the first policy's */
};

/* Returns NULL if memory runs out. */
struct coverage *coverage_new(mwl_program *program);
void coverage_free(struct coverage *c);

/* Counts what an event means in `hits`, which has an element for each item. */
void coverage_event(const struct coverage *c, uint64_t *hits, const mwl_trace_event *event);

/* Writes what an item is: "catch clause 2 of Step 'pay'". */
void coverage_text(const struct coverage *c, const struct coverage_item *item, mwl__buf *out);
const char *coverage_kind_name(enum coverage_kind kind); /* "step", "next", ... */

/* Appends a JSON object: {"definition", "taken", "places", "items": [{"kind", "flow", "step", "to",
 * "number", "line", "column", "text", "hits"}]}. */
void coverage_write(const struct coverage *c, const char *path, const uint64_t *hits,
                    mwl__buf *out);

#endif
