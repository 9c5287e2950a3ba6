/* cel_deduce.c: deduces the type of an expression before it runs, as far as that is possible.
 *
 * Owns: typing rules of operators, macros and the standard functions. Refuses to know: message
 * schemas; a selection from a message is dyn. Neither the assembler nor the machine needs types:
 * an editor shows them, and the suite compares them. For some artificial expressions the time is
 * exponential in their length. */
#include "tools/lsp/cel_deduce.h"

#include "tools/lsp/cel_type.h"

typedef cel_type type;

typedef struct deducer {
    mwl__arena *arena;
    const cel_decl *decls;
    size_t n_decls;
    type **locals; /* by slot */
    bool rejected; /* no overload fits; a NULL result without this means out of memory */
} deducer;

static type *walk(deducer *d, const mwl__cel_node *n);

static type *simple(deducer *d, const char *name) {
    return cel_type_new(d->arena, name, 0, NULL, NULL);
}
static type *of(deducer *d, const char *name, type *param) {
    return cel_type_new(d->arena, name, 1, param, NULL);
}

/* Operators and standard functions: name, member or global or both, parameters, result. The target
 * of a member is its first parameter. */
typedef struct overload {
    const char *name, *params[3], *result;
} overload;

static const overload standard[] = {
    {"+", {"int", "int"}, "int"},
    {"+", {"uint", "uint"}, "uint"},
    {"+", {"double", "double"}, "double"},
    {"+", {"string", "string"}, "string"},
    {"+", {"bytes", "bytes"}, "bytes"},
    {"+", {"list($A)", "list($A)"}, "list($A)"},
    {"+", {"timestamp", "duration"}, "timestamp"},
    {"+", {"duration", "timestamp"}, "timestamp"},
    {"+", {"duration", "duration"}, "duration"},
    {"-", {"int", "int"}, "int"},
    {"-", {"uint", "uint"}, "uint"},
    {"-", {"double", "double"}, "double"},
    {"-", {"timestamp", "timestamp"}, "duration"},
    {"-", {"timestamp", "duration"}, "timestamp"},
    {"-", {"duration", "duration"}, "duration"},
    {"-", {"int"}, "int"},
    {"-", {"double"}, "double"},
    {"*", {"int", "int"}, "int"},
    {"*", {"uint", "uint"}, "uint"},
    {"*", {"double", "double"}, "double"},
    {"/", {"int", "int"}, "int"},
    {"/", {"uint", "uint"}, "uint"},
    {"/", {"double", "double"}, "double"},
    {"%", {"int", "int"}, "int"},
    {"%", {"uint", "uint"}, "uint"},
    {"!", {"bool"}, "bool"},
    {"[]", {"list($A)", "int"}, "$A"},
    {"[]", {"map($A, $B)", "$A"}, "$B"},
    {"[]", {"optional_type(list($A))", "int"}, "optional_type($A)"},
    {"[]", {"optional_type(map($A, $B))", "$A"}, "optional_type($B)"},
    {"size", {"string"}, "int"},
    {"size", {"bytes"}, "int"},
    {"size", {"list($A)"}, "int"},
    {"size", {"map($A, $B)"}, "int"},
    {"contains", {"string", "string"}, "bool"},
    {"startsWith", {"string", "string"}, "bool"},
    {"endsWith", {"string", "string"}, "bool"},
    {"matches", {"string", "string"}, "bool"},
    {"int", {"dyn"}, "int"},
    {"uint", {"dyn"}, "uint"},
    {"double", {"dyn"}, "double"},
    {"string", {"dyn"}, "string"},
    {"bytes", {"dyn"}, "bytes"},
    {"bool", {"dyn"}, "bool"},
    {"duration", {"dyn"}, "duration"},
    {"timestamp", {"dyn"}, "timestamp"},
    {"dyn", {"$A"}, "dyn"},
    {"type", {"$A"}, "type($A)"},
    {"optional.none", {NULL}, "optional_type($A)"},
    {"optional.of", {"$A"}, "optional_type($A)"},
    {"optional.ofNonZeroValue", {"$A"}, "optional_type($A)"},
    {"hasValue", {"optional_type($A)"}, "bool"},
    {"value", {"optional_type($A)"}, "$A"},
    {"or", {"optional_type($A)", "optional_type($A)"}, "optional_type($A)"},
    {"orValue", {"optional_type($A)", "$A"}, "$A"},
};

/* ---- overloads ------------------------------------------------------------------------------- */

/* The candidates so far: their common result, and whether any fitted or was tried. */
typedef struct choice {
    type *result;
    bool asked, fits, failed;
} choice;

static void try_overload(deducer *d, choice *ch, const char *const *params, size_t n_params,
                         const char *result, type *const *args, size_t n_args) {
    if (n_params != n_args) return;
    ch->asked = true;
    cel_type_scope scope = {.arena = d->arena};
    type *types[8];
    if (n_args > 8) return;
    for (size_t i = 0; i < n_args; i++) {
        types[i] = cel_type_read(&scope, params[i]);
        if (!types[i]) {
            ch->failed = true;
            return;
        }
        if (!cel_type_unify(types[i], args[i], 0)) return;
    }
    type *r = cel_type_read(&scope, result);
    if (!r) {
        ch->failed = true;
        return;
    }
    ch->result = ch->fits ? cel_type_join(d->arena, ch->result, r, 0) : r;
    if (!ch->result) ch->failed = true;
    ch->fits = true;
}

static bool same(mwl__cel_text t, const char *name) {
    return strlen(name) == t.len && memcmp(name, t.data, t.len) == 0;
}

/* Returns the result type of `name` for these arguments; dyn for an unknown function. */
static type *resolve(deducer *d, mwl__cel_text name, bool member, type *const *args, size_t n) {
    choice ch = {0};
    for (size_t i = 0; i < n; i++)
        if (!args[i]) return NULL;
    for (size_t i = 0; i < d->n_decls; i++)
        for (size_t k = 0; same(name, d->decls[i].name) && k < d->decls[i].n_overloads; k++) {
            const cel_overload *o = &d->decls[i].overloads[k];
            if (o->member == member)
                try_overload(d, &ch, o->params, o->n_params, o->result, args, n);
        }
    for (size_t i = 0; i < sizeof standard / sizeof *standard; i++) {
        if (!same(name, standard[i].name)) continue;
        size_t count = 0;
        while (count < 3 && standard[i].params[count]) count++;
        try_overload(d, &ch, standard[i].params, count, standard[i].result, args, n);
    }
    if (ch.failed) return NULL;
    if (ch.fits) return ch.result;
    if (ch.asked) d->rejected = true;
    return ch.asked ? NULL : simple(d, "dyn");
}

static type *operate(deducer *d, const mwl__cel_node *n, type *const *args, size_t n_args) {
    const char *op = mwl__cel_kind_text((mwl__cel_kind)n->kind);
    mwl__cel_text name = {op, strlen(op)};
    return resolve(d, name, false, args, n_args);
}

/* ---- expressions ----------------------------------------------------------------------------- */

static type *ident_type(deducer *d, const mwl__cel_node *n) {
    if (n->ref == MWL__CEL_REF_LOCAL) return d->locals[n->slot];
    if (n->ref == MWL__CEL_REF_TYPE) {
        static const char *const aliases[][2] = {{"google.protobuf.Timestamp", "timestamp"},
                                                 {"google.protobuf.Duration", "duration"}};
        const char *name = n->name.data;
        for (size_t i = 0; i < 2; i++)
            if (same(n->name, aliases[i][0])) name = aliases[i][1];
        if (same(n->name, "list")) return of(d, "type", of(d, "list", cel_type_var(d->arena)));
        return of(d, "type", simple(d, name));
    }
    cel_type_scope scope = {.arena = d->arena};
    for (size_t i = 0; i < d->n_decls; i++)
        if (d->decls[i].type && same(n->name, d->decls[i].name))
            return cel_type_read(&scope, d->decls[i].type);
    return simple(d, "dyn");
}

/* Returns the join of the types of kids `from`, from + step, ...; a new variable if there are
 * none. */
static type *join_kids(deducer *d, const mwl__cel_node *n, uint32_t from, uint32_t step) {
    type *t = cel_type_var(d->arena);
    for (uint32_t i = from; t && i < n->n_kids; i += step) {
        type *kid = walk(d, n->kids[i]);
        bool optional = n->kids[i - from]->optional;
        kid = cel_type_find(kid);
        if (kid && optional && cel_type_is(kid, "optional_type")) kid = kid->params[0];
        t = kid ? cel_type_join(d->arena, t, kid, 0) : NULL;
    }
    return t;
}

static type *call_type(deducer *d, const mwl__cel_node *n, type *target) {
    type *args[8];
    size_t count = 0;
    if (target) args[count++] = target;
    for (uint32_t i = target ? 1 : 0; i < n->n_kids; i++) {
        type *t = walk(d, n->kids[i]);
        if (!t) return NULL;
        if (count < 8) args[count] = t;
        count++;
    }
    if (count > 8) return simple(d, "dyn");
    return resolve(d, n->name, target != NULL, args, count);
}

static type *message_type(deducer *d, const mwl__cel_node *n) {
    static const char *const known[][2] = {
        {"google.protobuf.Int32Value", "int"},    {"google.protobuf.Int64Value", "int"},
        {"google.protobuf.UInt32Value", "uint"},  {"google.protobuf.UInt64Value", "uint"},
        {"google.protobuf.FloatValue", "double"}, {"google.protobuf.DoubleValue", "double"},
        {"google.protobuf.BoolValue", "bool"},    {"google.protobuf.StringValue", "string"},
        {"google.protobuf.BytesValue", "bytes"}};
    for (uint32_t i = 0; i < n->n_kids; i++)
        if (!walk(d, n->kids[i])) return NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (same(n->name, known[i][0])) return of(d, "wrapper", simple(d, known[i][1]));
    if (same(n->name, "google.protobuf.Timestamp")) return simple(d, "timestamp");
    if (same(n->name, "google.protobuf.Duration")) return simple(d, "duration");
    if (same(n->name, "google.protobuf.Value")) return simple(d, "dyn");
    if (same(n->name, "google.protobuf.ListValue")) return of(d, "list", simple(d, "dyn"));
    if (same(n->name, "google.protobuf.Struct"))
        return cel_type_new(d->arena, "map", 2, simple(d, "string"), simple(d, "dyn"));
    return simple(d, n->name.data);
}

/* A node that does not continue a spine. */
static type *base_type(deducer *d, const mwl__cel_node *n) {
    static const char *const literals[] = {"null_type", "bool",   "int",  "uint",
                                           "double",    "string", "bytes"};
    type *a, *b;
    switch (n->kind) {
    case MWL__CEL_LIT: return simple(d, literals[n->lit.kind]);
    case MWL__CEL_IDENT: return ident_type(d, n);
    case MWL__CEL_CALL: return call_type(d, n, NULL);
    case MWL__CEL_MESSAGE: return message_type(d, n);
    case MWL__CEL_LIST: return of(d, "list", join_kids(d, n, 0, 1));
    case MWL__CEL_MAP:
        a = join_kids(d, n, 0, 2);
        b = join_kids(d, n, 1, 2);
        return cel_type_new(d->arena, "map", 2, a, b);
    case MWL__CEL_NOT:
    case MWL__CEL_NEG: a = walk(d, n->kids[0]); return operate(d, n, &a, 1);
    case MWL__CEL_AND:
    case MWL__CEL_OR:
        for (uint32_t i = 0; i < n->n_kids; i++)
            if (!walk(d, n->kids[i])) return NULL;
        return simple(d, "bool");
    case MWL__CEL_COND: return walk(d, n->kids[0]) ? join_kids(d, n, 1, 1) : NULL;
    default: /* BIND, BLOCK */
        for (uint32_t i = 0; i < n->n_vars; i++) {
            d->locals[n->vars[i].slot] = walk(d, n->kids[i]);
            if (!d->locals[n->vars[i].slot]) return NULL;
        }
        return walk(d, n->kids[n->n_kids - 1]);
    }
}

static type *select_type(deducer *d, const mwl__cel_node *n, type *operand) {
    if (n->flags & MWL__CEL_TEST) return simple(d, "bool");
    operand = cel_type_find(operand);
    bool optional = (n->flags & MWL__CEL_OPTIONAL) != 0;
    if (cel_type_is(operand, "optional_type")) {
        optional = true;
        operand = cel_type_find(operand->params[0]);
    }
    type *field = cel_type_is(operand, "map") ? operand->params[1] : simple(d, "dyn");
    return optional ? of(d, "optional_type", field) : field;
}

static type *index_type(deducer *d, const mwl__cel_node *n, type *operand) {
    type *args[2] = {operand, walk(d, n->kids[1])};
    type *t = operate(d, n, args, 2);
    if (!t || !(n->flags & MWL__CEL_OPTIONAL) || cel_type_is(t, "optional_type")) return t;
    return of(d, "optional_type", t);
}

/* Finds the types of one or two loop variables from the type of the range. */
static bool bind_vars(deducer *d, const mwl__cel_node *n, type *range) {
    type *first = simple(d, "dyn"), *second = simple(d, "dyn");
    range = cel_type_find(range);
    if (cel_type_is(range, "list")) {
        first = n->n_vars == 1 ? range->params[0] : simple(d, "int");
        second = range->params[0];
    } else if (cel_type_is(range, "map")) {
        first = range->params[0];
        second = range->params[1];
    } else if (cel_type_is(range, "optional_type")) {
        first = range->params[0];
    }
    d->locals[n->vars[0].slot] = first;
    if (n->n_vars == 2) d->locals[n->vars[1].slot] = second;
    return first && second;
}

static type *macro_type(deducer *d, const mwl__cel_node *n, type *range) {
    if (!bind_vars(d, n, range)) return NULL;
    type *last = NULL;
    for (uint32_t i = 1; i < n->n_kids; i++) {
        last = walk(d, n->kids[i]);
        if (!last) return NULL;
    }
    switch (n->kind) {
    case MWL__CEL_ALL:
    case MWL__CEL_EXISTS:
    case MWL__CEL_EXISTS_ONE: return simple(d, "bool");
    case MWL__CEL_FILTER: return of(d, "list", d->locals[n->vars[0].slot]);
    case MWL__CEL_TRANSFORM_LIST: return of(d, "list", last);
    case MWL__CEL_TRANSFORM_MAP:
        return cel_type_new(d->arena, "map", 2, d->locals[n->vars[0].slot], last);
    case MWL__CEL_OPT_MAP: return of(d, "optional_type", last);
    case MWL__CEL_SORT_BY: return range;
    default:
        return last; /* TRANSFORM_ENTRY's entry and OPT_FLAT_MAP's body have the result's type */
    }
}

static type *link_type(deducer *d, const mwl__cel_node *n, type *left) {
    if (mwl__cel_is_binary(n)) {
        type *args[2] = {left, walk(d, n->kids[1])};
        if (!args[1]) return NULL;
        if (n->kind >= MWL__CEL_LT && n->kind <= MWL__CEL_IN) return simple(d, "bool");
        return operate(d, n, args, 2);
    }
    if (n->kind == MWL__CEL_SELECT) return select_type(d, n, left);
    if (n->kind == MWL__CEL_INDEX) return index_type(d, n, left);
    if (n->kind == MWL__CEL_MEMBER) return call_type(d, n, left);
    return macro_type(d, n, left);
}

static type *walk(deducer *d, const mwl__cel_node *n) {
    const mwl__cel_node *top = n;
    while (mwl__cel_spine(n)) n = mwl__cel_spine(n);
    type *t = base_type(d, n);
    while (t && n != top) {
        n = n->parent;
        t = link_type(d, n, t);
    }
    return t;
}

mwl_status cel_deduce(mwl__arena *arena, const mwl__cel_tree *tree, const cel_decl *decls,
                      size_t n_decls, const char **text) {
    deducer d = {arena, decls, n_decls, NULL, false};
    if (tree->n_slots) {
        d.locals = mwl__arena_new(arena, tree->n_slots * sizeof *d.locals);
        if (!d.locals) return MWL_E_NOMEM;
    }
    type *t = walk(&d, tree->root);
    if (!t) return d.rejected ? MWL_E_REJECTED : MWL_E_NOMEM;
    mwl__buf out = mwl__buf_make(arena->alloc);
    cel_type_write(&out, t, 0);
    char *copy = out.failed ? NULL : mwl__arena_text(arena, out.data, out.len);
    mwl__buf_free(&out);
    if (!copy) return MWL_E_NOMEM;
    *text = copy;
    return MWL_OK;
}
