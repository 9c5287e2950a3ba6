/* cel_macro.c: calls that are syntax.
 *
 * Owns: which calls are macros, and the shape of their arguments. Refuses to know: how a loop runs.
 * A macro is not rewritten into other expressions. It becomes a node of its own kind, so that
 * lowering can choose a loop, and a diagnostic can use the name that the author wrote. */
#include "assembler/cel/cel_parser.h"

static mwl__cel_node *expand_has(mwl__cel_parser *p, mwl__cel_node *call) {
    mwl__cel_node *arg = call->kids[0];
    if (arg->kind != MWL__CEL_SELECT || (arg->flags & (MWL__CEL_TEST | MWL__CEL_OPTIONAL)))
        return mwl__cel_macro_fail(p, arg, "has() asks for a field: has(a.b)");
    mwl__cel_node *n = mwl__cel_make(p, MWL__CEL_SELECT, call, 1, arg->kids);
    if (!n) return NULL;
    n->at = arg->at;
    n->name = arg->name;
    n->flags = arg->flags | MWL__CEL_TEST;
    return n;
}

/* Makes the part that all member macros have in common: the target, n_vars names, and the other
 * arguments as kids. */
static mwl__cel_node *scope(mwl__cel_parser *p, mwl__cel_node *call, mwl__cel_kind kind,
                            size_t n_vars) {
    mwl__cel_node *const *vars = call->kids + 1;
    for (size_t i = 0; i < n_vars; i++)
        if (!mwl__cel_is_var(vars[i]))
            return mwl__cel_macro_fail(p, vars[i],
                                       "a macro's variable must be a simple name, without dots");
    if (n_vars == 2 && vars[0]->name.len == vars[1]->name.len &&
        memcmp(vars[0]->name.data, vars[1]->name.data, vars[0]->name.len) == 0)
        return mwl__cel_macro_fail(p, vars[1], "the two variables of a macro need different names");
    mwl__cel_node *kids[3] = {call->kids[0]};
    size_t n_bodies = call->n_kids - 1 - n_vars;
    for (size_t i = 0; i < n_bodies; i++) kids[1 + i] = call->kids[1 + n_vars + i];
    mwl__cel_node *n = mwl__cel_make_scope(p, kind, call, 1 + n_bodies, kids, n_vars, vars);
    if (n && n_bodies == 2) n->flags |= MWL__CEL_FILTERED;
    return n;
}

/* The arguments of quantifiers are (x, p) or (i, x, p). */
static size_t quantifier_vars(const mwl__cel_node *call) { return call->n_kids - 2; }

static mwl__cel_node *expand_all(mwl__cel_parser *p, mwl__cel_node *call) {
    return scope(p, call, MWL__CEL_ALL, quantifier_vars(call));
}
static mwl__cel_node *expand_exists(mwl__cel_parser *p, mwl__cel_node *call) {
    return scope(p, call, MWL__CEL_EXISTS, quantifier_vars(call));
}
static mwl__cel_node *expand_exists_one(mwl__cel_parser *p, mwl__cel_node *call) {
    return scope(p, call, MWL__CEL_EXISTS_ONE, quantifier_vars(call));
}
static mwl__cel_node *expand_filter(mwl__cel_parser *p, mwl__cel_node *call) {
    return scope(p, call, MWL__CEL_FILTER, 1);
}
static mwl__cel_node *expand_map(mwl__cel_parser *p, mwl__cel_node *call) {
    return scope(p, call, MWL__CEL_TRANSFORM_LIST, 1);
}
static mwl__cel_node *expand_transform_list(mwl__cel_parser *p, mwl__cel_node *call) {
    return scope(p, call, MWL__CEL_TRANSFORM_LIST, 2);
}
static mwl__cel_node *expand_transform_map(mwl__cel_parser *p, mwl__cel_node *call) {
    return scope(p, call, MWL__CEL_TRANSFORM_MAP, 2);
}
static mwl__cel_node *expand_transform_entry(mwl__cel_parser *p, mwl__cel_node *call) {
    return scope(p, call, MWL__CEL_TRANSFORM_ENTRY, 2);
}
static mwl__cel_node *expand_sort_by(mwl__cel_parser *p, mwl__cel_node *call) {
    return scope(p, call, MWL__CEL_SORT_BY, 1);
}
static mwl__cel_node *expand_opt_map(mwl__cel_parser *p, mwl__cel_node *call) {
    return scope(p, call, MWL__CEL_OPT_MAP, 1);
}
static mwl__cel_node *expand_opt_flat_map(mwl__cel_parser *p, mwl__cel_node *call) {
    return scope(p, call, MWL__CEL_OPT_FLAT_MAP, 1);
}

/* cel.bind(x, init, body): the target is only a name. */
static mwl__cel_node *expand_bind(mwl__cel_parser *p, mwl__cel_node *call) {
    if (!mwl__cel_is_var(call->kids[1]))
        return mwl__cel_macro_fail(p, call->kids[1],
                                   "the variable of cel.bind must be a simple name, without dots");
    return mwl__cel_make_scope(p, MWL__CEL_BIND, call, 2, call->kids + 2, 1, call->kids + 1);
}

const mwl__cel_macro mwl__cel_standard_macros[] = {
    {"has", NULL, false, 1, expand_has},
    {"all", NULL, true, 2, expand_all},
    {"all", NULL, true, 3, expand_all},
    {"exists", NULL, true, 2, expand_exists},
    {"exists", NULL, true, 3, expand_exists},
    {"exists_one", NULL, true, 2, expand_exists_one},
    {"exists_one", NULL, true, 3, expand_exists_one},
    {"existsOne", NULL, true, 2, expand_exists_one},
    {"existsOne", NULL, true, 3, expand_exists_one},
    {"filter", NULL, true, 2, expand_filter},
    {"map", NULL, true, 2, expand_map},
    {"map", NULL, true, 3, expand_map},
    {"transformList", NULL, true, 3, expand_transform_list},
    {"transformList", NULL, true, 4, expand_transform_list},
    {"transformMap", NULL, true, 3, expand_transform_map},
    {"transformMap", NULL, true, 4, expand_transform_map},
    {"transformMapEntry", NULL, true, 3, expand_transform_entry},
    {"transformMapEntry", NULL, true, 4, expand_transform_entry},
    {"sortBy", NULL, true, 2, expand_sort_by},
    {"optMap", NULL, true, 2, expand_opt_map},
    {"optFlatMap", NULL, true, 2, expand_opt_flat_map},
    {"bind", "cel", true, 3, expand_bind},
    {NULL, NULL, false, 0, NULL},
};

static bool text_is(mwl__cel_text t, const char *word) {
    return strlen(word) == t.len && memcmp(t.data, word, t.len) == 0;
}

static bool matches(const mwl__cel_macro *m, const mwl__cel_node *call) {
    bool member = call->kind == MWL__CEL_MEMBER;
    if (m->member != member || !text_is(call->name, m->name)) return false;
    if (m->n_args >= 0 && (uint32_t)m->n_args != call->n_kids - (member ? 1 : 0)) return false;
    if (!m->name_space) return true;
    return mwl__cel_is_var(call->kids[0]) && text_is(call->kids[0]->name, m->name_space);
}

mwl__cel_node *mwl__cel_expand(mwl__cel_parser *p, mwl__cel_node *call) {
    if (p->options->no_macros || (call->flags & MWL__CEL_LEADING_DOT)) return call;
    const mwl__cel_macro *tables[2] = {p->options->macros, mwl__cel_standard_macros};
    for (size_t t = 0; t < 2; t++)
        for (const mwl__cel_macro *m = tables[t]; m && m->name; m++)
            if (matches(m, call)) {
                mwl__cel_node *n = m->expand(p, call);
                if (!n && p->status >= 0) p->status = MWL_E_NOMEM;
                return n;
            }
    return call;
}
