/* members.h: what the parts of a definition are: their members, in order, with words for people.
 *
 * Owns: the lists of assembler/check/members.h as tables, and the way from a node of a definition's
 * tree to its list. Used by `fmt`, `schema`, `actions`, and by editors. Refuses to know: whether a
 * definition is right. */
#ifndef MWL_TOOLS_MEMBERS_H
#define MWL_TOOLS_MEMBERS_H

#include "assembler/source/read.h"

/* What a value is. assembler/check/members.h says what each of them means. The first ones are
 * objects with a list. */
#define MEMBER_LISTS(X)                                                                            \
    X(FLOW, "a Flow")                                                                              \
    X(CALL_STEP, "a Call Step")                                                                    \
    X(GATHER_STEP, "a Gather Step")                                                                \
    X(MATCH_STEP, "a Match Step")                                                                  \
    X(PASS_STEP, "a Pass Step")                                                                    \
    X(SLEEP_STEP, "a Sleep Step")                                                                  \
    X(RETURN_STEP, "a Return Step")                                                                \
    X(RAISE_STEP, "a Raise Step")                                                                  \
    X(CALL, "a call")                                                                              \
    X(SUCCESS_ARM, "the success arm of a call")                                                    \
    X(FAILURE_ARM, "the failure arm of a call")                                                    \
    X(CLAUSE, "a catch clause")                                                                    \
    X(CASE, "a case")                                                                              \
    X(DEFAULT, "the default of a Match")                                                           \
    X(MATCHER, "a failure matcher")                                                                \
    X(COMPLETION, "a completion policy")                                                           \
    X(RESULT, "the result of a Raise")                                                             \
    X(ENTRY, "a middleware entry")                                                                 \
    X(ON_ENTRY, "an onEntry block")                                                                \
    X(ON_SUCCESS, "an onSuccess block")                                                            \
    X(ON_FAILURE, "an onFailure block")                                                            \
    X(ON_ALWAYS, "an onAlways block")

enum member_shape {
#define MEMBER_SHAPE(id, what) SHAPE_##id,
    MEMBER_LISTS(MEMBER_SHAPE)
#undef MEMBER_SHAPE
        SHAPE_LISTS, /* their number */
    SHAPE_STEP = SHAPE_LISTS,
    SHAPE_STEPS,
    SHAPE_FLOWS,
    SHAPE_CALLS,
    SHAPE_ENTRIES,
    SHAPE_CATCHES,
    SHAPE_CASES,
    SHAPE_VALUE,
    SHAPE_ARGUMENTS,
    SHAPE_ASSIGN,
    SHAPE_CONDITION,
    SHAPE_LIST,
    SHAPE_COUNT,
    SHAPE_DURATION,
    SHAPE_INSTANT,
    SHAPE_STEP_NAME,
    SHAPE_CALL_URI,
    SHAPE_MIDDLEWARE_URI,
    SHAPE_FLOW_REF,
    SHAPE_CODES,
    SHAPE_TYPES,
    SHAPE_LIMIT,
    SHAPE_SCHEMA,
    SHAPE_SCHEMA_URI,
    SHAPE_ACTION,
    SHAPE_TEXT,
    SHAPE_FLAG,
    SHAPE_FAILURE_TYPE,
    SHAPE_FAILURE_TEXT,
    SHAPE_FAILURE_FLAG,
    SHAPE_FAILURE_LINK
};

struct member {
    const char *name;
    unsigned kinds, flags; /* as in assembler/source/form.h */
    enum member_shape shape;
    const char *text; /* one or two sentences; expressions in it are written {{ ... }} */
};

struct member_list {
    const char *what; /* "a Flow" */
    const struct member *rows;
    size_t n_rows;
};

/* Returns the list of an object; NULL if the shape has none. */
const struct member_list *members_of(enum member_shape shape);
/* Returns the row of a name, or NULL; also if the list is NULL. */
const struct member *members_find(const struct member_list *list, const char *name, size_t len);

/* Returns what the root of a document is: SHAPE_FLOW, or SHAPE_VALUE for anything else, a provider
 * document too. A document without "$schema" is a Flow if it has "steps" or "entrypoint". */
enum member_shape members_root(const mwl__node *root);
/* Returns what a child is, from what its parent is. Steps get the shape of their action. If the
 * value is not of the kind that its shape needs, and for unknown members: SHAPE_VALUE. */
enum member_shape members_child(enum member_shape around, const mwl__node *child);
/* The same for any node, from the root on. */
enum member_shape members_shape(const mwl__node *n);

/* The seven actions, in the order of the specification. */
struct member_action {
    const char *name, *text;
    enum member_shape shape;
};
#define MEMBER_ACTIONS 7
extern const struct member_action member_actions[MEMBER_ACTIONS];

#endif
