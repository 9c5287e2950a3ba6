/* roles.c: see roles.h. */
#include "tools/lsp/roles.h"

#include "assembler/check/model.h"

/* ---- members --------------------------------------------------------------------------------- */

/* The role of a value with this shape. */
static const uint8_t shape_roles[] = {
    [SHAPE_FLOW] = ROLE_FLOW,
    [SHAPE_CALL] = ROLE_CALL,
    [SHAPE_SUCCESS_ARM] = ROLE_SUCCESS_ARM,
    [SHAPE_FAILURE_ARM] = ROLE_FAILURE_ARM,
    [SHAPE_CLAUSE] = ROLE_CATCH,
    [SHAPE_CASE] = ROLE_CASE,
    [SHAPE_DEFAULT] = ROLE_DEFAULT,
    [SHAPE_MATCHER] = ROLE_MATCHER,
    [SHAPE_COMPLETION] = ROLE_COMPLETION,
    [SHAPE_RESULT] = ROLE_RESULT,
    [SHAPE_ENTRY] = ROLE_ENTRY,
    [SHAPE_ON_ENTRY] = ROLE_ON_ENTRY,
    [SHAPE_ON_SUCCESS] = ROLE_ON_SUCCESS,
    [SHAPE_ON_FAILURE] = ROLE_ON_FAILURE,
    [SHAPE_ON_ALWAYS] = ROLE_ON_ALWAYS,
    [SHAPE_STEP] = ROLE_STEP,
    [SHAPE_STEPS] = ROLE_STEPS,
    [SHAPE_FLOWS] = ROLE_FLOWS,
    [SHAPE_CALLS] = ROLE_CALLS,
    [SHAPE_ENTRIES] = ROLE_STACK,
    [SHAPE_CATCHES] = ROLE_CATCHES,
    [SHAPE_CASES] = ROLE_CASES,
    [SHAPE_VALUE] = ROLE_VALUE,
    [SHAPE_ARGUMENTS] = ROLE_WITH,
    [SHAPE_ASSIGN] = ROLE_ASSIGN,
    [SHAPE_CONDITION] = ROLE_CONDITION,
    [SHAPE_LIST] = ROLE_VALUE,
    [SHAPE_COUNT] = ROLE_NUMBER,
    [SHAPE_DURATION] = ROLE_VALUE,
    [SHAPE_INSTANT] = ROLE_VALUE,
    [SHAPE_STEP_NAME] = ROLE_STEP_NAME,
    [SHAPE_CALL_URI] = ROLE_PROVIDER,
    [SHAPE_MIDDLEWARE_URI] = ROLE_PROVIDER,
    [SHAPE_FLOW_REF] = ROLE_CALLED,
    [SHAPE_CODES] = ROLE_CODES,
    [SHAPE_TYPES] = ROLE_TYPES,
    [SHAPE_LIMIT] = ROLE_NUMBER,
    [SHAPE_SCHEMA] = ROLE_SCHEMA,
    [SHAPE_SCHEMA_URI] = ROLE_LANGUAGE,
    [SHAPE_ACTION] = ROLE_ACTION,
    [SHAPE_TEXT] = ROLE_COMMENT,
    [SHAPE_FLAG] = ROLE_FLAG,
    [SHAPE_FAILURE_TYPE] = ROLE_TYPE,
    [SHAPE_FAILURE_TEXT] = ROLE_VALUE,
    [SHAPE_FAILURE_FLAG] = ROLE_FLAG,
    [SHAPE_FAILURE_LINK] = ROLE_VALUE,
};

enum role role_of_shape(enum member_shape shape) { return (enum role)shape_roles[shape]; }

size_t role_lists(const struct outline_node *object,
                  const struct member_list *lists[MEMBER_ACTIONS]) {
    if (object->role == ROLE_STEP) {
        int action = role_action(object);
        for (int i = 0; i < MEMBER_ACTIONS; i++)
            lists[i] = members_of(member_actions[action < 0 ? i : action].shape);
        return action < 0 ? MEMBER_ACTIONS : 1;
    }
    for (int shape = 0; shape < SHAPE_LISTS; shape++)
        if (shape_roles[shape] == object->role && object->role != ROLE_NONE) {
            lists[0] = members_of((enum member_shape)shape);
            return 1;
        }
    return 0;
}

const struct member *role_member(const struct outline_node *object, const char *name, size_t len) {
    const struct member_list *lists[MEMBER_ACTIONS];
    const struct member *found = NULL;
    size_t n = role_lists(object, lists);
    for (size_t i = 0; i < n && !found; i++) found = members_find(lists[i], name, len);
    for (int i = 0; i < MEMBER_ACTIONS && !found && object->role == ROLE_STEP; i++)
        found =
            members_find(members_of(member_actions[i].shape), name, len); /* of another action */
    return found;
}

int role_action(const struct outline_node *step) {
    const struct outline_node *n = outline_get(step, "action");
    for (int a = 0; a < MEMBER_ACTIONS; a++)
        if (outline_text_is(n, member_actions[a].name)) return a;
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
    const struct member *m = role_member(up, n->key, n->key_len);
    if (!m) return ROLE_NONE;
    enum role role = role_of_shape(m->shape);
    return role == ROLE_CALLED && n->kind == OUTLINE_OBJECT ? ROLE_FLOW : role;
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
