/* members.c: see members.h. */
#include "tools/words/members.h"

#include "assembler/check/members.h"
#include "mwl_config.h"
#include "stdlib/documents.h"

#include <string.h>

/* ---- the lists ------------------------------------------------------------------------------- */

#define ROW(name, kinds, flags, shape, text) {name, kinds, flags, SHAPE_##shape, text},
#define LIST(id, what) static const struct member rows_##id[] = {MWL__MEMBERS_##id(ROW)};
MEMBER_LISTS(LIST)
#undef LIST
#undef ROW

static const struct member_list lists[SHAPE_LISTS] = {
#define LIST(id, what) {what, rows_##id, sizeof rows_##id / sizeof *rows_##id},
    MEMBER_LISTS(LIST)
#undef LIST
};

const struct member_action member_actions[MEMBER_ACTIONS] = {
    {"Call", "Calls a provider or a Flow.", SHAPE_CALL_STEP},
    {"Gather", "Makes many calls at the same time and collects their Results.", SHAPE_GATHER_STEP},
    {"Match", "Chooses the next Step by conditions.", SHAPE_MATCH_STEP},
    {"Pass", "Computes a value, sets variables, and goes on.", SHAPE_PASS_STEP},
    {"Sleep", "Waits for a time, or until an instant.", SHAPE_SLEEP_STEP},
    {"Return", "Ends the Flow with a success.", SHAPE_RETURN_STEP},
    {"Raise", "Ends the Flow with a failure.", SHAPE_RAISE_STEP},
};

const struct member_list *members_of(enum member_shape shape) {
    return shape < SHAPE_LISTS ? &lists[shape] : NULL;
}

const struct member *members_find(const struct member_list *list, const char *name, size_t len) {
    for (size_t i = 0; list && i < list->n_rows; i++)
        if (strlen(list->rows[i].name) == len && memcmp(list->rows[i].name, name, len) == 0)
            return &list->rows[i];
    return NULL;
}

/* ---- from nodes to shapes -------------------------------------------------------------------- */

enum member_shape members_root(const mwl__node *root) {
    static const char address[] = "https://mwl.dev/";
    const mwl__node *key = mwl__node_get(root, "$schema");
    if (!root || root->kind != MWL_NODE_OBJECT) return SHAPE_VALUE;
    if (!key || key->kind != MWL_NODE_STRING)
        return mwl__node_get(root, "steps") || mwl__node_get(root, "entrypoint") ? SHAPE_FLOW
                                                                                 : SHAPE_VALUE;
    static const char flow[] = "/flow/";
    bool ours =
        key->count >= sizeof address - 1 && memcmp(key->as.text, address, sizeof address - 1) == 0;
    for (uint32_t i = 0; ours && i + sizeof flow - 1 <= key->count; i++)
        if (memcmp(key->as.text + i, flow, sizeof flow - 1) == 0) return SHAPE_FLOW;
    return SHAPE_VALUE;
}

static enum member_shape step_shape(const mwl__node *step) {
    const mwl__node *action = mwl__node_get(step, "action");
    for (size_t i = 0; i < MEMBER_ACTIONS; i++)
        if (mwl__node_is(action, member_actions[i].name)) return member_actions[i].shape;
    return SHAPE_VALUE;
}

/* Returns what the parts of a container are. */
static enum member_shape part_shape(enum member_shape around) {
    switch (around) {
    case SHAPE_STEPS: return SHAPE_STEP;
    case SHAPE_FLOWS: return SHAPE_FLOW;
    case SHAPE_CALLS: return SHAPE_CALL;
    case SHAPE_ENTRIES: return SHAPE_ENTRY;
    case SHAPE_CATCHES: return SHAPE_CLAUSE;
    case SHAPE_CASES: return SHAPE_CASE;
    default: return SHAPE_VALUE;
    }
}

/* The `call` and `middleware` in the arguments of a Finally are parts of the definition. */
static enum member_shape argument_shape(const mwl__node *argument) {
    const mwl__node *phase = argument->parent->parent, *entry = phase ? phase->parent : NULL;
    if (!entry || !mwl__node_key_is(phase, "onAlways") ||
        !mwl__node_is(mwl__node_get(entry, "provider"), MWL__STD_FINALLY))
        return SHAPE_VALUE;
    return mwl__node_key_is(argument, "call")         ? SHAPE_CALL
           : mwl__node_key_is(argument, "middleware") ? SHAPE_ENTRIES
                                                      : SHAPE_VALUE;
}

static bool fits(enum member_shape shape, const mwl__node *n) {
    switch (shape) {
    case SHAPE_STEP:
    case SHAPE_STEPS:
    case SHAPE_FLOWS: return n->kind == MWL_NODE_OBJECT;
    case SHAPE_CALLS:
    case SHAPE_ENTRIES:
    case SHAPE_CATCHES:
    case SHAPE_CASES: return n->kind == MWL_NODE_ARRAY;
    default: return shape >= SHAPE_LISTS || n->kind == MWL_NODE_OBJECT;
    }
}

enum member_shape members_child(enum member_shape around, const mwl__node *child) {
    const struct member_list *list = members_of(around);
    enum member_shape shape = part_shape(around);
    if (list) {
        const struct member *row =
            child->key ? members_find(list, child->key, child->key_len) : NULL;
        shape = row ? row->shape : SHAPE_VALUE;
    }
    if (around == SHAPE_ARGUMENTS) shape = argument_shape(child);
    if (shape == SHAPE_FLOW_REF && child->kind == MWL_NODE_OBJECT) shape = SHAPE_FLOW;
    if (!fits(shape, child)) return SHAPE_VALUE;
    return shape == SHAPE_STEP ? step_shape(child) : shape;
}

enum member_shape members_shape(const mwl__node *n) {
    const mwl__node *path[MWL_DEPTH_LIMIT + 1];
    size_t depth = 0;
    for (; n->parent && depth < MWL_DEPTH_LIMIT; n = n->parent) path[depth++] = n;
    enum member_shape shape = members_root(n);
    while (depth) shape = members_child(shape, path[--depth]);
    return shape;
}
