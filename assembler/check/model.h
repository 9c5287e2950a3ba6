/* model.h: a checked definition: Flows, Steps, entries, calls, with every reference resolved.
 *
 * Owns: the tree between checking (check.c builds it and reports every broken rule) and lowering
 * (lower.c turns it into code and needs no rule of its own). All of it lies in one arena. Nodes are
 * those of the definition's tree (read.h), so that everything keeps its position; a NULL node is a
 * field not written. */
#ifndef MWL_MODEL_H
#define MWL_MODEL_H

#include "assembler/provider/catalog.h"
#include "assembler/cel/cel_front.h"
#include "mwl_provider.h"
#include "vm/program/tables.h"

typedef struct mwl__m_flow mwl__m_flow;
typedef struct mwl__m_step mwl__m_step;
typedef struct mwl__m_entry mwl__m_entry;
typedef struct mwl__m_call mwl__m_call;

/* Which roots an expression's site has; vars, execution, frame and failure are everywhere. */
enum {
    MWL_SITE_STEP = 1,  /* `step` */
    MWL_SITE_CALL = 2,  /* `call` */
    MWL_SITE_INDEX = 4, /* `call.index`: a Gather's dispatch */
    MWL_SITE_ARM = 8,   /* `call.result` and a window: */
    MWL_SITE_WINDOW_FLOW = 16,
    MWL_SITE_WINDOW_PROVIDER = 32,
    MWL_SITE_MATCH = 64,       /* `match` */
    MWL_SITE_MIDDLEWARE = 128, /* `middleware` */
    MWL_SITE_ASCENT = 256      /* `middleware.result` is there */
};

/* An expression: the value of one string node. mwl__model_expr finds it by its node. */
typedef struct mwl__m_expr {
    const mwl__node *node;
    mwl__cel_tree tree; /* parsed and resolved; tree.source is the body, `body_at` bytes into the
                           decoded text */
    uint32_t body_at;
    unsigned site;        /* MWL_SITE_* */
    mwl__cel_known known; /* what its value is, whatever the variables are */
    bool depends;         /* it reads variables: what they are may say more */
} mwl__m_expr;

/* A failure matcher (catch clause). */
typedef struct mwl__m_catch {
    const mwl__node *node, *codes, *types, *retryable, *output, *assign;
    mwl__m_step *next;
} mwl__m_catch;

typedef struct mwl__m_clause { /* of a Match; the default has when NULL */
    const mwl__node *node, *when, *output, *assign;
    mwl__m_step *next;
} mwl__m_clause;

struct mwl__m_call {
    const mwl__node *node;
    const mwl__contract *provider; /* exactly one of provider and flow */
    mwl__m_flow *flow;
    const mwl__node *input, *with;
    const mwl__node *on_success, *success_value, *success_assign; /* on_success: the arm's object */
    const mwl__node *on_failure, *failure_assign;
    bool gathered; /* one of a Gather's dispatches */
    uint32_t ix;   /* for lowering */
};

typedef struct mwl__m_phase {
    const mwl__node *node; /* the block, or NULL */
    const mwl__node *when, *with, *assign;
    const mwl__node *shape;   /* onEntry.output, onSuccess.value */
    const mwl__node **fields; /* onFailure, 6: type, code, message, details, retryable, previous;
                                 NULL: it has no block */
    mwl__m_call *call;        /* structural call, or NULL */
    mwl__m_entry **stack;     /* its own middleware, outermost first */
    uint32_t n_stack;
} mwl__m_phase;

struct mwl__m_entry {
    const mwl__node *node;
    const mwl__contract *provider;
    bool flow_level;
    mwl__m_phase phase[4]; /* by mwl__phase_id */
    uint32_t ix;
};

struct mwl__m_step {
    const mwl__node *node; /* the member of `steps`: its key is the name */
    mwl__m_flow *flow;
    mwl__action action;
    const mwl__node *input, *output, *assign;
    mwl__m_step *next;    /* NULL for terminal Steps and Match */
    mwl__m_entry **stack; /* Call */
    uint32_t n_stack;
    mwl__m_catch *catches; /* Call, Gather */
    uint32_t n_catches;
    mwl__m_call **calls; /* Call: one; Gather: the template, or one per entry of `calls` */
    uint32_t n_calls;
    const mwl__node *over, *successes; /* Gather */
    bool wait;
    uint32_t concurrency;   /* MWL_NONE: unlimited */
    mwl__m_clause *clauses; /* Match: cases, then the default */
    uint32_t n_clauses;
    const mwl__node *sleep_for, *sleep_until;
    const mwl__node *value;  /* Return */
    const mwl__node *result; /* Raise: the object, or NULL: re-raise */
    bool reachable;
    uint32_t ix;
};

struct mwl__m_flow {
    const mwl__node *node;
    const char *name; /* decoded, NUL-terminated; NULL: root or inline */
    size_t name_len;
    mwl__m_flow *outer; /* the Flow it is declared or written in */
    mwl__m_step *entrypoint;
    mwl__m_step **steps; /* in the order written */
    uint32_t n_steps;
    mwl__m_entry **stack; /* outermost first */
    uint32_t n_stack;
    const mwl__node *parameters;
    uint32_t ix;
};

typedef struct mwl__model {
    mwl__arena arena;
    mwl__tree *tree;
    mwl__m_flow **flows; /* [0] is the root; callees anywhere */
    uint32_t n_flows;
    struct mwl__m_exprs *exprs; /* by node */
} mwl__model;

/* Returns the expression in this string node. NULL: it is a literal. */
const mwl__m_expr *mwl__model_expr(const mwl__model *m, const mwl__node *n);
/* Adds an expression. Returns false if out of memory. */
bool mwl__model_put(mwl__model *m, mwl__m_expr *e);
/* Does the subtree contain an expression? Then code computes it; else it is a constant. */
bool mwl__model_computed(const mwl__model *m, const mwl__node *n);

/* Builds the model of a definition, and reports every mistake that can be known without running it.
 * functions: what expressions may call. Returns MWL_OK (perhaps with warnings), E_REJECTED or
 * E_NOMEM. Free the model in any case. */
mwl_status mwl__model_check(mwl__model *m, mwl__tree *tree, mwl__catalog *catalog,
                            const mwl_function_def *const *functions, size_t n_functions);
void mwl__model_free(mwl__model *m);

#endif
