/* roles.h: what each value of a definition is in the language: a Flow, a Step, a call, the name of
 * a Step ..., and the members that each of these has, with their meaning.
 *
 * Owns: the tables from which completion, hover and navigation come. Refuses to know: editors. */
#ifndef MWL_TOOLS_LSP_ROLES_H
#define MWL_TOOLS_LSP_ROLES_H

#include "assembler/provider/catalog.h"
#include "outline.h"
#include "vm/program/tables.h"

enum role {
    ROLE_NONE,
    ROLE_FLOW,
    ROLE_STEPS,
    ROLE_STEP,
    ROLE_FLOWS,
    ROLE_STACK, /* a list of middleware entries */
    ROLE_ENTRY,
    ROLE_ON_ENTRY, /* these four in the order of mwl__phase_id */
    ROLE_ON_SUCCESS,
    ROLE_ON_FAILURE,
    ROLE_ON_ALWAYS,
    ROLE_CALL,
    ROLE_CALLS,
    ROLE_SUCCESS_ARM,
    ROLE_FAILURE_ARM,
    ROLE_CATCHES,
    ROLE_CATCH,
    ROLE_MATCHER,
    ROLE_CODES,
    ROLE_CODE,
    ROLE_TYPES,
    ROLE_TYPE,
    ROLE_CASES,
    ROLE_CASE,
    ROLE_DEFAULT,
    ROLE_COMPLETION,
    ROLE_RESULT,
    ROLE_ASSIGN,
    ROLE_WITH,   /* arguments, and everything below them */
    ROLE_SCHEMA, /* a JSON Schema, and everything below it */
    ROLE_VALUE,  /* data, which may contain expressions */
    ROLE_CONDITION,
    ROLE_STEP_NAME, /* a string that names a Step of the Flow */
    ROLE_CALLED,    /* a string that names a Flow; an object there is an inline Flow (ROLE_FLOW) */
    ROLE_PROVIDER,
    ROLE_ACTION,
    ROLE_FLAG, /* true or false */
    ROLE_NUMBER,
    ROLE_LANGUAGE, /* the value of $schema */
    ROLE_COMMENT
};

/* A member that values of a role have. */
struct role_member {
    enum role of;
    const char *name;
    enum role value;
    unsigned actions; /* of a Step: which have it, bits by mwl__action; 0: all */
    bool required;
    const char *text; /* what it means */
};
/* Returns all of them, those of a role in the order in which the specification writes them. */
const struct role_member *role_members(size_t *n);
/* Returns the row, or NULL if there is no such member. */
const struct role_member *role_member(enum role of, const char *name, size_t len);

/* The names and meanings of the actions, by mwl__action. */
extern const char *const role_actions[MWL_ACTION_COUNT];
extern const char *const role_action_texts[MWL_ACTION_COUNT];
/* Returns the action of a Step, or -1 if it has none that is known. */
int role_action(const struct outline_node *step);

/* Sets the roles of the whole tree. The catalog knows which arguments of a middleware are calls. */
void roles_set(struct outline *o, mwl__catalog *catalog);

/* Returns the nearest one around the node, or the node itself, that has this role; NULL: none. */
struct outline_node *role_around(const struct outline_node *n, enum role role);
/* Returns the contract of the provider that a call or an entry names, or NULL. */
const mwl__contract *role_contract(mwl__catalog *catalog, const struct outline_node *n);
/* Returns the schema that describes a value in a `with`, or the members of `with` itself: a node of
 * the provider's document, or NULL. */
const mwl__node *role_schema(mwl__catalog *catalog, const struct outline_node *n);
/* Which roots an expression here has: MWL_SITE_* of assembler/check/model.h. */
unsigned role_site(const struct outline_node *n);

#endif
