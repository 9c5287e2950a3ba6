/* view.h: a program as its author wrote it: providers, Flows, Steps, the ways between Steps,
 * middleware entries, and what expressions read. Private to the tree: for tools, which know no
 * instruction.
 *
 * Owns: which records and which instructions stand for which part of a definition. Refuses to know:
 * what a run does with them (vm/machine). Everything is computed when it is asked for, and lent by
 * the program. */
#ifndef MWL_VIEW_H
#define MWL_VIEW_H

#include "vm/program/program.h"

/* ---- providers, Flows, Steps: indexes from 0 ------------------------------------------------- */

static inline uint32_t mwl__view_n_imports(const mwl_program *p) { return p->tables.n_imports; }
static inline uint32_t mwl__view_n_steps(const mwl_program *p) { return p->tables.n_steps; }
static inline uint32_t mwl__view_n_entries(const mwl_program *p) { return p->tables.n_entries; }

/* Returns the URI of a provider that the program names. */
const char *mwl__view_uri(const mwl_program *p, uint32_t import);
static inline bool mwl__view_is_called(const mwl_program *p, uint32_t import) {
    return p->tables.imports[import].kind == MWL_IMPORT_CALL;
}
/* Returns whether the program names the provider. */
bool mwl__view_names(const mwl_program *p, const char *uri);

/* Return "" for a Flow without a name (the root, one written in place), and for no Step. */
const char *mwl__view_flow_name(const mwl_program *p, uint32_t flow);
const char *mwl__view_step_name(const mwl_program *p, uint32_t step);

typedef struct mwl__view_step {
    const char *flow_name, *name;
    uint32_t flow;
    mwl__action action;
    uint32_t n_catch; /* clauses of its `catch` */
} mwl__view_step;
mwl__view_step mwl__view_step_of(const mwl_program *p, uint32_t step);
/* Returns where it is written. Line 0: positions were stripped. */
mwl__where mwl__view_step_place(const mwl_program *p, uint32_t step);

/* Returns whether a catch clause takes every failure: `*` is its only pattern. */
bool mwl__view_catches_all(const mwl_program *p, uint32_t step, uint32_t clause);
/* Returns whether something in the program tells retryable failures from others. */
bool mwl__view_tells_retryable(const mwl_program *p);

/* ---- ways from Step to Step ------------------------------------------------------------------ */

typedef enum mwl__view_way_kind {
    MWL_VIEW_NEXT, /* `next` */
    MWL_VIEW_CASE, /* a case of a Match, or its default */
    MWL_VIEW_CATCH /* a clause of `catch` */
} mwl__view_way_kind;
typedef struct mwl__view_way {
    mwl__view_way_kind kind;
    uint32_t from, to; /* Steps */
    uint32_t number;   /* of a case or a clause, from 0 */
    uint32_t
        code; /* its instruction: names the way while the program is loaded (vm/explore/look.h) */
    mwl__where at;
} mwl__view_way;

/* All ways of a program: mwl__view_ways ways = {p, MWL_NONE, 0, 0}; while
 * (mwl__view_next_way(&ways, &way)). */
typedef struct mwl__view_ways {
    const mwl_program *program;
    uint32_t step, pc, n_cases;
} mwl__view_ways;
bool mwl__view_next_way(mwl__view_ways *ways, mwl__view_way *out);

/* ---- middleware entries ---------------------------------------------------------------------- */

typedef struct mwl__view_entry {
    const char *uri;
    uint32_t flow, step; /* what it is around; step MWL_NONE: the Flow */
    bool phases[4];      /* mwl__phase_id: it has an action or fields; onEntry always */
    bool cleans;         /* onAlways calls something */
    mwl_value with[4];   /* their arguments, lent; absent: computed, or there are none */
} mwl__view_entry;
mwl__view_entry mwl__view_entry_of(const mwl_program *p, uint32_t entry);
/* Returns where a phase is written that it has. */
mwl__where mwl__view_entry_place(const mwl_program *p, uint32_t entry, unsigned phase);

/* ---- what expressions read ------------------------------------------------------------------- */

typedef enum mwl__view_use {
    MWL_VIEW_READ,    /* anything else */
    MWL_VIEW_TESTED,  /* as a truth value */
    MWL_VIEW_COMPARED /* with a constant */
} mwl__view_use;
typedef struct mwl__view_read {
    mwl__base base;
    const uint32_t *keys; /* the names behind it: mwl__view_key */
    uint32_t n_keys;
    mwl__view_use use;
    mwl_value with; /* of MWL_VIEW_COMPARED, lent */
} mwl__view_read;
static inline mwl_value mwl__view_key(const mwl_program *p, const mwl__view_read *r, uint32_t i) {
    return p->consts[r->keys[i]];
}
/* Finds the next path that is read, from *pc on, which begins at 0. */
bool mwl__view_next_read(const mwl_program *p, uint32_t *pc, mwl__view_read *out);

#endif
