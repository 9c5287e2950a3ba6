/* cel_front.h: from the text of an expression to a tree with resolved and checked names.
 *
 * Order of use: mwl__cel_parse (text to tree, macros expanded, local variables bound), then
 * mwl__cel_resolve (names of the environment), then mwl__cel_check (diagnostics), and as needed
 * mwl__cel_reach. All memory comes from the caller's arena; nothing here keeps state between
 * calls. */
#ifndef MWL_CEL_FRONT_H
#define MWL_CEL_FRONT_H

#include "assembler/cel/cel_ast.h"

#include "mwl_provider.h"

/* ---- problems -------------------------------------------------------------------------------- */

typedef enum mwl__cel_severity { MWL__CEL_WARNING, MWL__CEL_ERROR } mwl__cel_severity;

/* The kind of a problem, so that the caller can sort them. */
typedef enum mwl__cel_why {
    MWL__CEL_WHY_SYNTAX,
    MWL__CEL_WHY_LITERAL,  /* a literal without a value */
    MWL__CEL_WHY_MACRO,    /* a macro used wrongly */
    MWL__CEL_WHY_SIZE,     /* too deep or too large */
    MWL__CEL_WHY_NAME,     /* a name that is not declared */
    MWL__CEL_WHY_SCOPE,    /* a root that does not exist at this place */
    MWL__CEL_WHY_FUNCTION, /* an unknown function */
    MWL__CEL_WHY_ARITY,    /* a function called with other arguments, or in the other style */
    MWL__CEL_WHY_TYPE,     /* an unknown message type */
    MWL__CEL_WHY_KIND,     /* an operation that operands of these kinds do not have */
    MWL__CEL_WHY_PATTERN   /* of matches */
} mwl__cel_why;

/* Text is lent for the duration of the callback. */
typedef struct mwl__cel_problem {
    mwl__cel_severity severity;
    uint32_t begin, end;
    const char *message;
    const char *note; /* a reason, or NULL */
    mwl__cel_why why;
    const char *help; /* what to write, or NULL */
    /* An exact repair: these bytes become `fix`; NULL: none is known to be right. */
    uint32_t fix_begin, fix_end;
    const char *fix;
} mwl__cel_problem;

typedef struct mwl__cel_sink {
    void (*report)(void *ctx,
                   const mwl__cel_problem *problem); /* NULL: problems are not reported */
    void *ctx;
} mwl__cel_sink;

/* ---- parsing --------------------------------------------------------------------------------- */

/* Bytes of one expression: offsets are 32 bits wide. */
#define MWL__CEL_SOURCE_LIMIT 0x7fffffffu

typedef struct mwl__cel_parser mwl__cel_parser; /* what an expander uses to build nodes */

/* A macro: a call with that name and number of arguments is passed to `expand` as the CALL or
 * MEMBER node. The expander returns the node that replaces it, or the same node to leave the call
 * unchanged, or NULL after mwl__cel_macro_fail or if out of memory. It may take kids from `call`,
 * but must use each at most once. */
typedef struct mwl__cel_macro {
    const char *name;       /* "exists"; NULL ends a table */
    const char *name_space; /* member macros only: the target must be this name ("cel"), or NULL */
    bool member;
    int n_args; /* without the target; -1: any number */
    mwl__cel_node *(*expand)(mwl__cel_parser *p, mwl__cel_node *call);
} mwl__cel_macro;

typedef struct mwl__cel_options {
    mwl__arena *arena;
    const char *source; /* borrowed by the tree */
    size_t len;
    bool no_macros;               /* calls stay calls */
    const mwl__cel_macro *macros; /* tried before the standard ones; NULL: none */
    uint32_t depth;               /* 0: MWL_CEL_DEPTH */
    mwl__cel_sink sink;
} mwl__cel_options;

/* MWL_OK and a tree, or MWL_E_SYNTAX after at least one report, MWL_E_DEPTH after one report,
 * MWL_E_TOO_BIG for a source over the limit, MWL_E_NOMEM. */
mwl_status mwl__cel_parse(const mwl__cel_options *options, mwl__cel_tree *tree);

/* For expanders. Each returns NULL if out of memory or if it gets NULL, so an expander may nest
 * them and test once. Spans are copied from `like`. */
mwl__cel_node *mwl__cel_make(mwl__cel_parser *p, mwl__cel_kind kind, const mwl__cel_node *like,
                             size_t n_kids, mwl__cel_node *const *kids);
mwl__cel_node *mwl__cel_make_ident(mwl__cel_parser *p, const mwl__cel_node *like, const char *name);
/* Makes a node of `kind` with one variable for each entry of `idents`, which must be an IDENT that
 * the expander has checked with mwl__cel_is_var. */
mwl__cel_node *mwl__cel_make_scope(mwl__cel_parser *p, mwl__cel_kind kind,
                                   const mwl__cel_node *like, size_t n_kids,
                                   mwl__cel_node *const *kids, size_t n_vars,
                                   mwl__cel_node *const *idents);
bool mwl__cel_is_var(
    const mwl__cel_node *node); /* whether it is a simple name that can be declared */
/* Reports an error at the node. Returns NULL, so that the expander can return it. */
mwl__cel_node *mwl__cel_macro_fail(mwl__cel_parser *p, const mwl__cel_node *at,
                                   const char *message);

extern const mwl__cel_macro mwl__cel_standard_macros[]; /* ends with a NULL name */

/* ---- names ----------------------------------------------------------------------------------- */

/* What a full dotted name is; a name may be several (`int` is a type and a function). */
enum {
    MWL__CEL_NAME_VARIABLE = 1,
    MWL__CEL_NAME_TYPE = 2,
    MWL__CEL_NAME_FUNCTION = 4, /* a global function */
    MWL__CEL_NAME_CONST = 8     /* an enumerator; *lit was written */
};

typedef struct mwl__cel_names {
    /* `lit` is NULL if an enumerator is not wanted. */
    unsigned (*lookup)(void *ctx, const char *name, size_t len, mwl__cel_lit *lit);
    void *ctx;
    const char *container; /* "a.b", or NULL or "" for none */
} mwl__cel_names;

/* Resolves every IDENT, also dotted names (the longest declared prefix wins, in the innermost
 * container that has it), turns `math.greatest(x)` into a CALL, and completes type names of
 * messages. A name that is not declared stays MWL__CEL_REF_NONE. Returns MWL_OK or MWL_E_NOMEM. */
mwl_status mwl__cel_resolve(mwl__arena *arena, mwl__cel_tree *tree, const mwl__cel_names *names);

/* ---- checking -------------------------------------------------------------------------------- */

typedef struct mwl__cel_root {
    const char *name;
    const char *absent; /* NULL: in scope; otherwise the reason why not: "there is no Step around a
                           Flow's input" */
} mwl__cel_root;

/* What is known about the value of an expression. Timestamps, durations and optionals are
 * MWL__KNOWN_ANY, and so is what comes from outside unless the caller knows it. */
typedef enum mwl__cel_known {
    MWL__KNOWN_ANY,
    MWL__KNOWN_NULL,
    MWL__KNOWN_BOOL,
    MWL__KNOWN_INT,
    MWL__KNOWN_UINT,
    MWL__KNOWN_DOUBLE,
    MWL__KNOWN_STRING,
    MWL__KNOWN_BYTES,
    MWL__KNOWN_LIST,
    MWL__KNOWN_MAP
} mwl__cel_known;

typedef struct mwl__cel_check_options {
    mwl__arena *arena;
    const mwl__cel_root *roots;
    size_t n_roots;
    const mwl_function_def *const
        *functions; /* several may have the same name, with different numbers of arguments */
    size_t n_functions;
    bool (*is_message)(void *ctx, const char *name, size_t len); /* NULL: none exists */
    /* Returns NULL if the pattern is valid, otherwise a constant text that says why not. The
     * function pointer may be NULL. */
    const char *(*pattern_fault)(void *ctx, const char *pattern, size_t len);
    void *ctx;
    const char *function_words, *name_words; /* of other languages (mwl__word_find), or NULL */
    bool no_hints; /* what is suggested will not be shown: do not search for it */
    /* What the value of a path such as `vars.count` (a SELECT) certainly is. May be NULL. */
    mwl__cel_known (*known)(void *ctx, const mwl__cel_node *path);
    mwl__cel_known *root; /* what the value of the whole is; NULL: not wanted */
    mwl__cel_sink sink;
} mwl__cel_check_options;

/* Reports errors: unknown names, functions and types, wrong numbers of arguments. An operation that
 * does not exist for these kinds, or a pattern that is not valid, is an error if it is certainly
 * evaluated, and a warning if a condition, && or ||, or a loop may skip it. Needs a resolved tree.
 * Returns MWL_OK if there was no error (there may be warnings), MWL_E_REJECTED or MWL_E_NOMEM. */
mwl_status mwl__cel_check(const mwl__cel_tree *tree, const mwl__cel_check_options *options);

/* "compare it: x > 0.0": how a condition is made of an expression whose value is of this kind.
 * NULL: that is not known, or out of memory. */
const char *mwl__cel_as_condition(mwl__arena *arena, mwl__cel_text text, mwl__cel_known known);

/* Calls `fn` for every maximal static path from a root: `step.metadata.exitedAt` is root "step",
 * members {metadata, exitedAt}. If a root is used as a whole, or is indexed by something that is
 * not constant, the path ends there. `tested` means that the expression only asks whether the last
 * member exists (has). A constant string index counts as a member. The order is not defined. If
 * `fn` returns false the walk stops. */
typedef struct mwl__cel_path {
    const mwl__cel_node *root; /* IDENT, a VARIABLE or undeclared */
    const mwl__cel_text *members;
    size_t n_members;
    bool tested;
} mwl__cel_path;
typedef bool (*mwl__cel_reach_fn)(void *ctx, const mwl__cel_path *path);
mwl_status mwl__cel_reach(mwl__arena *arena, const mwl__cel_tree *tree, mwl__cel_reach_fn fn,
                          void *ctx);

#endif
