/* check.h: what the files that build the model agree on.
 *
 *   check.c         Flows: their members, names, Steps in order; the passes
 *   check_step.c    Steps: actions, clauses, matchers
 *   check_call.c    call objects, middleware entries, phases
 *   check_expr.c    what is an expression; parsing, scope, certain faults
 *   check_text.c    what is nearly an expression
 *   check_path.c    which members a path can find at its site
 *   check_types.c   operators that do not take what a variable is
 *   check_graph.c   reachable Steps, cycles between Flows
 *   check_vars.c    which variables are bound where they are read; `failure`
 *   check_args.c    literal arguments against schemas
 *   check_code.c    failure codes: who can emit them, which matcher can meet them
 *   check_mw.c      whose arguments; compositions of middleware
 *   scope.c         names: of Flows, Steps, variables, roots
 *
 * A check reports a mistake and continues. A part that is broken is left out of the model (it is
 * NULL, or not in its list), so that it is not reported twice. Warnings that need a whole Flow
 * (reachability, codes, variables) are left out if the Flow has an error. Recursion follows the
 * nesting of the definition, which the reader limits (MWL_DEPTH_LIMIT). */
#ifndef MWL_CHECK_H
#define MWL_CHECK_H

#include "assembler/schema/check_schema.h"
#include "assembler/source/form.h"
#include "assembler/check/model.h"
#include "assembler/check/scope.h"

typedef struct mwl__flow mwl__flow;
typedef struct mwl__checker mwl__checker;

/* A call or an entry. The list has all of them in the order written, for the checks that need all
 * Flows. */
typedef struct mwl__listed {
    struct mwl__listed *next;
    const mwl__m_call *call;
    const mwl__m_entry *entry;
} mwl__listed;

/* A report about a name that nothing declares. */
typedef struct mwl__unknown {
    struct mwl__unknown *next;
    mwl__diag *diag;
    mwl__flow *flow;
    const char *name;
    size_t len;
} mwl__unknown;

/* A read of a variable, or of a member of `failure`, in an expression of a Flow. */
typedef struct mwl__read {
    struct mwl__read *next;
    const mwl__m_step *step; /* NULL: the Flow's own middleware */
    uint32_t var;            /* mwl__name.id */
    const char *name;        /* of the variable */
    size_t len;
    const mwl__node *node; /* the expression, and which bytes of its text */
    uint32_t begin, end;
    bool inner, tail;    /* where in the Step (mwl__site) */
    bool certain;        /* it is evaluated whenever the expression is */
    bool null;           /* it is compared with null */
    bool failure;        /* of `failure` */
    const char *instead; /* the failure that the expression probably means, or NULL */
} mwl__read;

/* An `assign` of a variable. */
typedef struct mwl__write {
    struct mwl__write *next;
    uint32_t var;
    const mwl__m_step *step; /* NULL: the Flow's own middleware */
    const mwl__node *exit;   /* as in mwl__site */
    const mwl__node *key;
} mwl__write;

/* An expression that operates on variables. */
typedef struct mwl__typed {
    struct mwl__typed *next;
    const mwl__m_expr *e;
    bool condition; /* of a `when` */
} mwl__typed;

/* An edge between Flows: which Flow is called, and where that is written. */
typedef struct mwl__edge {
    struct mwl__edge *next;
    mwl__flow *to;
    const mwl__node *at;     /* the value of `flow` */
    const mwl__m_call *call; /* the call in the model */
} mwl__edge;

/* A Flow of the model, with what only checking needs. */
struct mwl__flow {
    mwl__m_flow m; /* first: the model's pointers point here */
    const mwl__node *flows, *step_nodes;
    mwl__flow **named; /* by the index of the member of `flows` */
    mwl__edge *edges, **last_edge;
    mwl__names vars; /* MWL__VAR_* */
    mwl__read *reads, *failures;
    mwl__write *writes;
    mwl__typed *typed; /* all four lists: the latest first */
    size_t errors;     /* reported in this Flow itself, not in those inside it */
    bool all_read;     /* `vars` is used whole somewhere */
    bool open;         /* its parameters admit names that they do not list */
    bool called;
    uint8_t colour;           /* for walks over the calls */
    struct mwl__codes *codes; /* what it can fail with; check_code.c */
    const mwl__flow *caller;  /* the last one whose set these codes were added to */
    mwl__schema *schema;      /* of its parameters; NULL: there is none, or it is wrong */
    bool broken_schema;
    bool runs_known;
    double runs; /* how many times its innermost work can run, by Retry and Loop; check_mw.c */
};

/* The place of an expression, and what exists there. */
typedef struct mwl__site {
    unsigned roots; /* MWL_SITE_* */
    mwl__flow *flow;
    const mwl__m_step *step;
    const mwl__contract *middleware; /* of the phase */
    const mwl__m_call *call;         /* of the call whose member it is */
    bool tail;                       /* after the Step's action: its product is there */
    bool exited;                     /* step.metadata.exitedAt is there */
    bool enumerated;                 /* step.metadata.dispatchCount is there */
    bool inner;                      /* in the Step's stack, or in an arm of its call */
    bool caught;                     /* in a catch clause */
    /* The exit of the Step that an `assign` at this site belongs to: a clause, or the Step's own
     * node for `next`. NULL: all exits. */
    const mwl__node *exit;
    int rising;  /* `middleware.result` is 1 a success, -1 a failure, 0 either */
    int settled; /* the same of `call.result` */
} mwl__site;

struct mwl__checker {
    mwl__model *m;
    mwl__arena *arena; /* the model's */
    mwl__tree *tree;
    mwl__diags *sink;
    mwl__catalog *catalog;
    const mwl_function_def *const *functions;
    size_t n_functions;
    mwl__names function_names;
    size_t flows_cap;
    mwl__listed *listed, **last_listed;
    mwl__unknown *unknown;
    mwl__judge judge;
    uint32_t visits;     /* edges visited by check_vars.c */
    bool refused;        /* a call or an entry names a provider whose document was refused */
    mwl_status status;   /* MWL_E_NOMEM is sticky */
    size_t inner_errors; /* in Flows inside the one that is being filled */
};

/* Adds a note with the names of the members, if they are few enough to read. */
void mwl__check_list_names(mwl__diag *d, const char *intro, const mwl__node *map);
void mwl__check_list(mwl__checker *c, const mwl__m_call *call, const mwl__m_entry *entry);
/* Charges units of work for the node. Returns false if they are used up; then the check stops. */
bool mwl__check_work(mwl__checker *c, const mwl__node *n, uint64_t units);
/* Returns zeroed memory of the arena, or NULL if out of memory; then the check fails. */
void *mwl__check_new(mwl__checker *c, size_t n, size_t size);

/* check.c */
mwl__flow *mwl__check_flow(mwl__checker *c, const mwl__node *n, mwl__flow *outer,
                           const mwl__node *key);

/* check_step.c */
void mwl__check_step(mwl__checker *c, mwl__flow *f, mwl__m_step *step);
/* Returns the Step of this name, or NULL after a report. */
mwl__m_step *mwl__check_step_ref(mwl__checker *c, mwl__flow *f, const mwl__node *n);
/* Checks that a string is a code pattern. Returns false after a report. */
bool mwl__check_pattern(mwl__checker *c, const mwl__node *p);
/* Checks the envelope's members of a Raise or an onFailure. */
void mwl__check_envelope(mwl__checker *c, const mwl__node *const fields[6], const mwl__site *site);

/* check_call.c */
mwl__m_call *mwl__check_call(mwl__checker *c, mwl__flow *f, const mwl__node *n,
                             const mwl__site *around, bool gathered);
/* Checks the array of a stack. Entries that are broken are left out. around: what expressions of
 * the stack can read besides `middleware`. */
void mwl__check_stack(mwl__checker *c, mwl__flow *f, const mwl__node *n, const mwl__site *around,
                      bool flow_level, mwl__m_entry ***out, uint32_t *n_out);
bool mwl__contract_is(const mwl__contract *p,
                      const char *name); /* mwl:provider.middleware/mwl/<name>/v1 */

/* check_expr.c */
/* Checks every string of the value: is it an expression or a literal? */
void mwl__check_value(mwl__checker *c, const mwl__node *n, const mwl__site *site);
/* Checks the values of an `assign`, and the names that it binds. */
void mwl__check_assign(mwl__checker *c, const mwl__node *n, const mwl__site *site);
/* Checks a `when`, also whether its value is a boolean and whether it depends on any data. */
void mwl__check_condition(mwl__checker *c, const mwl__node *n, const mwl__site *site);
/* The options by which expressions are checked, without roots and sink. */
mwl__cel_check_options mwl__check_cel_options(mwl__checker *c);
/* Reports a problem of the expression. Returns NULL if it is not shown. */
mwl__diag *mwl__check_report_cel(mwl__checker *c, const mwl__m_expr *e, const mwl__cel_problem *p);
/* Adds help to the reports about unknown names that are names of variables. Call it after all
 * Steps. */
void mwl__check_unknown_names(mwl__checker *c);
/* Returns 1 or 0 if the condition is literally true or false; else -1. */
int mwl__check_constant(const mwl__checker *c, const mwl__node *n);

/* check_text.c */
/* Warn about texts that were probably meant as expressions. A template has `{{ ... }}` somewhere
 * inside; a literal has no such part. */
void mwl__check_template(mwl__checker *c, const mwl__node *n);
void mwl__check_literal(mwl__checker *c, const mwl__node *n);
/* Adds the help for a literal text where an expression should be. */
void mwl__check_suggest_braces(mwl__checker *c, mwl__diag *d, const mwl__node *n);

/* check_path.c */
mwl_status mwl__check_paths(mwl__checker *c, mwl__m_expr *e, const mwl__site *site);

/* check_types.c */
/* Reports operators that the kinds of the Flow's variables do not have. Call it after all Steps of
 * a Flow that has no error. */
void mwl__check_types(mwl__checker *c, mwl__flow *f);
/* Reports a condition whose value is of this kind. *out (or NULL): the report. */
void mwl__check_not_boolean(mwl__checker *c, const mwl__m_expr *e, mwl__cel_known known,
                            mwl__diag **out);

/* check_graph.c */
void mwl__check_graph(mwl__checker *c, mwl__flow *f); /* of Steps */
bool mwl__check_cycles(mwl__checker *c);              /* of Flows; returns true if there is none */
/* Returns the Flows in the arena, callees before callers (n_flows pointers), or NULL on failure.
 * There must be no cycle. */
mwl__flow **mwl__check_order(mwl__checker *c);

/* check_args.c */
/* Checks the literal parts of a `with` (NULL: not written) against a schema (NULL: no arguments).
 * Missing arguments are reported at `at`. target: "the Flow 'A'", for messages. */
void mwl__check_args(mwl__checker *c, const mwl__node *with, const mwl__node *at,
                     const mwl__node *schema, const mwl__schema *compiled, const char *target);
void mwl__check_duration(mwl__checker *c, const mwl__node *n, const char *name);
void mwl__check_timestamp(mwl__checker *c, const mwl__node *n, const char *name);

void mwl__check_all_args(mwl__checker *c); /* of all calls and entries */

/* check_code.c, check_mw.c: over the whole model, callees first */
void mwl__check_codes(mwl__checker *c, mwl__flow **order);
void mwl__check_compositions(mwl__checker *c, mwl__flow **order);

/* check_vars.c */
/* Record a read or a write at the site. mwl__check_read fills in the members step, inner and tail.
 */
void mwl__check_read(mwl__checker *c, const mwl__site *site, mwl__read use);
void mwl__check_write(mwl__checker *c, const mwl__site *site, uint32_t var, const mwl__node *key);
/* Reports variables that nothing binds, or that are not bound on every path, and reads of `failure`
 * where there is no failure. If `parameters` is true, also parameters that nothing reads; set it
 * only if every expression was parsed. Call it after mwl__check_graph. */
void mwl__check_variables(mwl__checker *c, mwl__flow *f, bool parameters);

static inline mwl__flow *mwl__flow_of(mwl__m_flow *m) { return (mwl__flow *)m; }

#endif
