/* roles.c: see roles.h. */
#include "roles.h"

#include "assembler/check/model.h"

/* ---- members --------------------------------------------------------------------------------- */

#define A(name) (1u << MWL_ACTION_##name)

static const char assign_text[] =
    "Variables to set: each name gets the value beside it. They are read as `vars.name`.";
static const char catch_text[] =
    "What to do when the Step fails: clauses, tried in their order. The first one that matches the "
    "failure decides.";
static const char when_text[] = "The phase acts only if this condition is true.";
static const char with_text[] = "Arguments, as the provider's document describes them.";

static const struct role_member members[] = {
    {ROLE_FLOW, "$schema", ROLE_LANGUAGE, 0, false,
     "The version of the language. Only the root document has it."},
    {ROLE_FLOW, "comment", ROLE_COMMENT, 0, false, "A note for people."},
    {ROLE_FLOW, "parameters", ROLE_SCHEMA, 0, false,
     "A JSON Schema of the arguments of this Flow. Each property is a variable: `vars.name`."},
    {ROLE_FLOW, "entrypoint", ROLE_STEP_NAME, 0, true, "The Step with which the Flow begins."},
    {ROLE_FLOW, "middleware", ROLE_STACK, 0, false,
     "Middleware around the whole Flow, the outermost first."},
    {ROLE_FLOW, "steps", ROLE_STEPS, 0, true, "The Steps of the Flow, by their names."},
    {ROLE_FLOW, "flows", ROLE_FLOWS, 0, false,
     "Flows that calls in this Flow, and in Flows inside it, can name."},

    {ROLE_STEP, "action", ROLE_ACTION, 0, true,
     "What the Step does: Call, Gather, Match, Pass, Sleep, Return or Raise."},
    {ROLE_STEP, "comment", ROLE_COMMENT, 0, false, "A note for people."},
    {ROLE_STEP, "input", ROLE_VALUE, A(CALL) | A(MATCH), false,
     "What the action works on. Without it, the input of the Step."},
    {ROLE_STEP, "over", ROLE_VALUE, A(GATHER), false,
     "A list: the `call` is dispatched once for each element, which is its input."},
    {ROLE_STEP, "middleware", ROLE_STACK, A(CALL), false,
     "Middleware around the call, the outermost first: Retry, Timeout, Loop, Finally and others."},
    {ROLE_STEP, "call", ROLE_CALL, A(CALL) | A(GATHER), false,
     "What is called: a provider or a Flow, with its arguments."},
    {ROLE_STEP, "calls", ROLE_CALLS, A(GATHER), false,
     "The calls that are dispatched side by side, instead of `over` and `call`."},
    {ROLE_STEP, "concurrency", ROLE_NUMBER, A(GATHER), false,
     "How many dispatches may be in flight at a time. Without it, all of them."},
    {ROLE_STEP, "completion", ROLE_COMPLETION, A(GATHER), false,
     "When the Gather is complete: how many successes are needed."},
    {ROLE_STEP, "cases", ROLE_CASES, A(MATCH), true,
     "Clauses, tried in their order: the first whose `when` is true decides."},
    {ROLE_STEP, "default", ROLE_DEFAULT, A(MATCH), true, "What happens if no case is true."},
    {ROLE_STEP, "for", ROLE_VALUE, A(SLEEP), false, "How long to sleep: an ISO 8601 duration."},
    {ROLE_STEP, "until", ROLE_VALUE, A(SLEEP), false, "Until when to sleep: a timestamp."},
    {ROLE_STEP, "value", ROLE_VALUE, A(RETURN), false,
     "The value of the Flow. Without it, the input of the Step."},
    {ROLE_STEP, "result", ROLE_RESULT, A(RAISE), false,
     "The failure to raise. Without it, the failure that was caught is raised again."},
    {ROLE_STEP, "output", ROLE_VALUE, A(CALL) | A(GATHER) | A(PASS), false,
     "What the next Step gets. Without it, the product of the action."},
    {ROLE_STEP, "assign", ROLE_ASSIGN, A(CALL) | A(GATHER) | A(PASS), false, assign_text},
    {ROLE_STEP, "next", ROLE_STEP_NAME, A(CALL) | A(GATHER) | A(PASS) | A(SLEEP), false,
     "The Step that follows."},
    {ROLE_STEP, "catch", ROLE_CATCHES, A(CALL) | A(GATHER), false, catch_text},

    {ROLE_CALL, "provider", ROLE_PROVIDER, 0, false,
     "The provider that is called, by its URI: `mwl:provider.call/NAMESPACE/NAME/VERSION`."},
    {ROLE_CALL, "flow", ROLE_CALLED, 0, false,
     "The Flow that is called: a name in `flows`, or a Flow written here."},
    {ROLE_CALL, "input", ROLE_VALUE, 0, false, "The input of what is called."},
    {ROLE_CALL, "with", ROLE_WITH, 0, false, with_text},
    {ROLE_CALL, "onSuccess", ROLE_SUCCESS_ARM, 0, false,
     "When the call succeeds: variables to set, and another value. `provider` or `flow` shows what "
     "happened inside."},
    {ROLE_CALL, "onFailure", ROLE_FAILURE_ARM, 0, false,
     "When the call fails: variables to set. `call.result` is the failure."},
    {ROLE_CALL, "comment", ROLE_COMMENT, 0, false, "A note for people."},
    {ROLE_SUCCESS_ARM, "assign", ROLE_ASSIGN, 0, false, assign_text},
    {ROLE_SUCCESS_ARM, "value", ROLE_VALUE, 0, false, "The value of the call, instead of its own."},
    {ROLE_FAILURE_ARM, "assign", ROLE_ASSIGN, 0, false, assign_text},

    {ROLE_ENTRY, "provider", ROLE_PROVIDER, 0, true,
     "The middleware, by its URI: `mwl:provider.middleware/NAMESPACE/NAME/VERSION`."},
    {ROLE_ENTRY, "comment", ROLE_COMMENT, 0, false, "A note for people."},
    {ROLE_ENTRY, "onEntry", ROLE_ON_ENTRY, 0, false, "On the way in, before what is inside runs."},
    {ROLE_ENTRY, "onSuccess", ROLE_ON_SUCCESS, 0, false, "When what is inside has succeeded."},
    {ROLE_ENTRY, "onFailure", ROLE_ON_FAILURE, 0, false, "When what is inside has failed."},
    {ROLE_ENTRY, "onAlways", ROLE_ON_ALWAYS, 0, false,
     "At the end in every case, also after a cancellation: cleanup belongs here."},
    {ROLE_ON_ENTRY, "when", ROLE_CONDITION, 0, false, when_text},
    {ROLE_ON_ENTRY, "with", ROLE_WITH, 0, false, with_text},
    {ROLE_ON_ENTRY, "assign", ROLE_ASSIGN, 0, false, assign_text},
    {ROLE_ON_ENTRY, "output", ROLE_VALUE, 0, false, "What is passed down, instead of the input."},
    {ROLE_ON_SUCCESS, "when", ROLE_CONDITION, 0, false, when_text},
    {ROLE_ON_SUCCESS, "with", ROLE_WITH, 0, false, with_text},
    {ROLE_ON_SUCCESS, "assign", ROLE_ASSIGN, 0, false, assign_text},
    {ROLE_ON_SUCCESS, "value", ROLE_VALUE, 0, false, "What is passed up, instead of the value."},
    {ROLE_ON_FAILURE, "when", ROLE_CONDITION, 0, false, when_text},
    {ROLE_ON_FAILURE, "with", ROLE_WITH, 0, false, with_text},
    {ROLE_ON_FAILURE, "assign", ROLE_ASSIGN, 0, false, assign_text},
    {ROLE_ON_FAILURE, "type", ROLE_TYPE, 0, false, "Another type for the failure."},
    {ROLE_ON_FAILURE, "code", ROLE_CODE, 0, false, "Another code for the failure."},
    {ROLE_ON_FAILURE, "message", ROLE_VALUE, 0, false, "Another message for the failure."},
    {ROLE_ON_FAILURE, "details", ROLE_VALUE, 0, false, "Other details for the failure."},
    {ROLE_ON_FAILURE, "retryable", ROLE_FLAG, 0, false,
     "Whether to try again could help: true, false or null."},
    {ROLE_ON_FAILURE, "previous", ROLE_VALUE, 0, false, "The failure that led to this one."},
    {ROLE_ON_ALWAYS, "when", ROLE_CONDITION, 0, false, when_text},
    {ROLE_ON_ALWAYS, "with", ROLE_WITH, 0, false, with_text},
    {ROLE_ON_ALWAYS, "assign", ROLE_ASSIGN, 0, false, assign_text},

    {ROLE_CATCH, "match", ROLE_MATCHER, 0, true, "Which failures the clause is for."},
    {ROLE_CATCH, "output", ROLE_VALUE, 0, false,
     "What the next Step gets. `failure` is what was caught."},
    {ROLE_CATCH, "assign", ROLE_ASSIGN, 0, false, assign_text},
    {ROLE_CATCH, "next", ROLE_STEP_NAME, 0, true, "The Step that handles the failure."},
    {ROLE_CATCH, "comment", ROLE_COMMENT, 0, false, "A note for people."},
    {ROLE_MATCHER, "codes", ROLE_CODES, 0, false,
     "Codes: exact, or with `.*` at the end, or `*` for all of them."},
    {ROLE_MATCHER, "types", ROLE_TYPES, 0, false, "Types: error, timeout, cancellation, skipped."},
    {ROLE_MATCHER, "retryable", ROLE_FLAG, 0, false, "Only failures that say so."},
    {ROLE_CASE, "when", ROLE_CONDITION, 0, true, "The condition: `{{ match.input.x == 'y' }}`."},
    {ROLE_CASE, "output", ROLE_VALUE, 0, false, "What the next Step gets."},
    {ROLE_CASE, "assign", ROLE_ASSIGN, 0, false, assign_text},
    {ROLE_CASE, "next", ROLE_STEP_NAME, 0, true, "The Step that follows."},
    {ROLE_CASE, "comment", ROLE_COMMENT, 0, false, "A note for people."},
    {ROLE_DEFAULT, "output", ROLE_VALUE, 0, false, "What the next Step gets."},
    {ROLE_DEFAULT, "assign", ROLE_ASSIGN, 0, false, assign_text},
    {ROLE_DEFAULT, "next", ROLE_STEP_NAME, 0, true, "The Step that follows."},
    {ROLE_DEFAULT, "comment", ROLE_COMMENT, 0, false, "A note for people."},
    {ROLE_COMPLETION, "successes", ROLE_NUMBER, 0, true, "How many dispatches must succeed."},
    {ROLE_COMPLETION, "wait", ROLE_FLAG, 0, false,
     "Whether the Gather waits for the other dispatches; false cancels them."},
    {ROLE_RESULT, "type", ROLE_TYPE, 0, false,
     "The type of the failure: error, timeout, or one of yours with a capital."},
    {ROLE_RESULT, "code", ROLE_CODE, 0, false, "The code of the failure, such as `Order.Invalid`."},
    {ROLE_RESULT, "message", ROLE_VALUE, 0, false, "A sentence for people."},
    {ROLE_RESULT, "details", ROLE_VALUE, 0, false, "Data about the failure."},
    {ROLE_RESULT, "retryable", ROLE_FLAG, 0, false,
     "Whether to try again could help: true, false or null."},
    {ROLE_RESULT, "previous", ROLE_VALUE, 0, false, "The failure that led to this one."},
};
#define N_MEMBERS (sizeof members / sizeof *members)

const struct role_member *role_members(size_t *n) {
    *n = N_MEMBERS;
    return members;
}

const struct role_member *role_member(enum role of, const char *name, size_t len) {
    for (size_t i = 0; i < N_MEMBERS; i++)
        if (members[i].of == of && strlen(members[i].name) == len &&
            memcmp(members[i].name, name, len) == 0)
            return &members[i];
    return NULL;
}

const char *const role_actions[MWL_ACTION_COUNT] = {"Call",  "Gather", "Match", "Pass",
                                                    "Sleep", "Return", "Raise"};
const char *const role_action_texts[MWL_ACTION_COUNT] = {
    "Calls a provider or a Flow, with middleware around the call.",
    "Dispatches several calls side by side and collects their Results.",
    "Chooses the next Step by conditions.",
    "Passes its input on, and may shape it and set variables.",
    "Waits for a time.",
    "Ends the Flow with a value.",
    "Ends the Flow with a failure."};

int role_action(const struct outline_node *step) {
    const struct outline_node *n = outline_get(step, "action");
    for (int a = 0; a < MWL_ACTION_COUNT; a++)
        if (outline_text_is(n, role_actions[a])) return a;
    return -1;
}

/* ---- the roles of a tree --------------------------------------------------------------------- */

/* Is it an argument that is a part of the definition: a call, or a stack around it? */
static enum role structural(mwl__catalog *catalog, const struct outline_node *n) {
    const struct outline_node *phase = n->parent->parent;
    if (!phase || phase->role < ROLE_ON_ENTRY || phase->role > ROLE_ON_ALWAYS) return ROLE_WITH;
    const mwl__contract *c = role_contract(catalog, phase->parent);
    const mwl__node *names = c ? c->structural[phase->role - ROLE_ON_ENTRY] : NULL;
    for (const mwl__node *m = names ? mwl__node_first(names) : NULL; m; m = m->next) {
        if (m->kind != MWL_NODE_STRING || m->count != n->key_len ||
            memcmp(m->as.text, n->key, n->key_len) != 0)
            continue;
        return outline_key_is(n, "middleware") ? ROLE_STACK : ROLE_CALL;
    }
    return ROLE_WITH;
}

static enum role element_role(enum role list) {
    switch (list) {
    case ROLE_STACK: return ROLE_ENTRY;
    case ROLE_CALLS: return ROLE_CALL;
    case ROLE_CATCHES: return ROLE_CATCH;
    case ROLE_CASES: return ROLE_CASE;
    case ROLE_CODES: return ROLE_CODE;
    case ROLE_TYPES: return ROLE_TYPE;
    case ROLE_WITH:
    case ROLE_VALUE:
    case ROLE_SCHEMA: return list;
    default: return ROLE_NONE;
    }
}

static enum role member_role(mwl__catalog *catalog, const struct outline_node *n) {
    const struct outline_node *up = n->parent;
    switch (up->role) {
    case ROLE_STEPS: return ROLE_STEP;
    case ROLE_FLOWS: return ROLE_FLOW;
    case ROLE_ASSIGN: return ROLE_VALUE;
    case ROLE_VALUE:
    case ROLE_SCHEMA: return (enum role)up->role;
    case ROLE_WITH: /* only the members of `with` itself, not those below them */
        return up->parent->role == ROLE_WITH ? ROLE_WITH : structural(catalog, n);
    default: break;
    }
    const struct role_member *m = role_member((enum role)up->role, n->key, n->key_len);
    if (!m) return ROLE_NONE;
    return m->value == ROLE_CALLED && n->kind == OUTLINE_OBJECT ? ROLE_FLOW : m->value;
}

void roles_set(struct outline *o, mwl__catalog *catalog) {
    for (struct outline_node *n = o->root; n; n = outline_next(n)) {
        if (!n->parent)
            n->role = ROLE_FLOW;
        else if (n->parent->kind == OUTLINE_ARRAY)
            n->role = (uint8_t)element_role((enum role)n->parent->role);
        else
            n->role = (uint8_t)(n->key ? member_role(catalog, n) : ROLE_NONE);
    }
}

/* ---- around a node --------------------------------------------------------------------------- */

struct outline_node *role_around(const struct outline_node *n, enum role role) {
    while (n && n->role != role) n = n->parent;
    return (struct outline_node *)(uintptr_t)n;
}

const mwl__contract *role_contract(mwl__catalog *catalog, const struct outline_node *n) {
    const struct outline_node *uri = outline_get(n, "provider");
    const mwl__contract *found = NULL;
    if (!uri || uri->kind != OUTLINE_STRING || !uri->text_len) return NULL;
    return mwl__catalog_find(catalog, uri->text, uri->text_len, &found) == MWL_OK ? found : NULL;
}

/* The schema of a member or an element, or NULL. */
static const mwl__node *below(const mwl__node *schema, const struct outline_node *n) {
    if (!n->key) return mwl__node_get(schema, "items");
    const mwl__node *m = mwl__node_find(mwl__node_get(schema, "properties"), n->key, n->key_len);
    const mwl__node *others = mwl__node_get(schema, "additionalProperties");
    return m ? m : others && others->kind == MWL_NODE_OBJECT ? others : NULL;
}

const mwl__node *role_schema(mwl__catalog *catalog, const struct outline_node *n) {
    const struct outline_node *path[64];
    size_t depth = 0;
    while (n && n->role == ROLE_WITH &&
           !(outline_key_is(n, "with") && n->parent->role != ROLE_WITH)) {
        if (depth == sizeof path / sizeof *path) return NULL;
        path[depth++] = n;
        n = n->parent;
    }
    if (!n || n->role != ROLE_WITH || !n->parent) return NULL;
    const struct outline_node *up = n->parent;
    bool phase = up->role >= ROLE_ON_ENTRY && up->role <= ROLE_ON_ALWAYS;
    const mwl__contract *c = role_contract(catalog, phase ? up->parent : up);
    const mwl__node *schema =
        c && c->is_middleware == phase ? c->parameters[phase ? up->role - ROLE_ON_ENTRY : 0] : NULL;
    while (schema && depth) schema = below(schema, path[--depth]);
    return schema;
}

/* The roots that one value around an expression brings. */
static unsigned site_of(const struct outline_node *n, const struct outline_node *from) {
    switch (n->role) {
    case ROLE_STEP: return MWL_SITE_STEP;
    case ROLE_CASE:
    case ROLE_DEFAULT: return MWL_SITE_MATCH;
    case ROLE_ON_ENTRY: return MWL_SITE_MIDDLEWARE;
    case ROLE_ON_SUCCESS:
    case ROLE_ON_FAILURE:
    case ROLE_ON_ALWAYS: return MWL_SITE_MIDDLEWARE | MWL_SITE_ASCENT;
    case ROLE_SUCCESS_ARM:
    case ROLE_FAILURE_ARM: return MWL_SITE_ARM;
    case ROLE_CALL: {
        unsigned site = MWL_SITE_CALL;
        const struct outline_node *step =
            n->parent && n->parent->role == ROLE_CALLS ? n->parent->parent : n->parent;
        if (step && step->role == ROLE_STEP && role_action(step) == MWL_ACTION_GATHER)
            site |= MWL_SITE_INDEX;
        if (from && (from->role == ROLE_SUCCESS_ARM || from->role == ROLE_FAILURE_ARM))
            site |= outline_get(n, "flow") ? MWL_SITE_WINDOW_FLOW : MWL_SITE_WINDOW_PROVIDER;
        return site;
    }
    default: return 0;
    }
}

unsigned role_site(const struct outline_node *n) {
    unsigned site = 0;
    for (const struct outline_node *from = NULL; n && n->role != ROLE_FLOW; n = n->parent) {
        site |= site_of(n, from);
        from = n;
    }
    return site;
}
