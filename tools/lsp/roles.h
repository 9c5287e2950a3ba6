/* roles.h: what each value of a definition is in the language: a Flow, a Step, a call, the name of
 * a Step ...
 *
 * Owns: the way from an outline to the lists of tools/words/members.h, from which completion, hover
 * and navigation come. Refuses to know: editors. */
#ifndef MWL_TOOLS_LSP_ROLES_H
#define MWL_TOOLS_LSP_ROLES_H

#include "tools/words/members.h"
#include "assembler/provider/catalog.h"
#include "tools/lsp/outline.h"

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

enum role role_of_shape(enum member_shape shape);
/* The members that an object has, by its role: a list, or, of a Step whose action is not known, the
 * list of each action. Returns how many lists there are. */
size_t role_lists(const struct outline_node *object,
                  const struct member_list *lists[MEMBER_ACTIONS]);
/* Returns the row of a member, or NULL. A Step has the members of its action first, then those of
 * the others, so that a name is known also while the action is wrong. */
const struct member *role_member(const struct outline_node *object, const char *name, size_t len);

/* Returns the action of a Step, an index of member_actions and of mwl__action; -1: none that is
 * known. */
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
