/* suite_cel_value.c: values, declarations and macros of the CEL suite. See suite_cel.h. */
#include "tests/suite/suite_cel.h"

#include "tools/base/tool_functions.h"
#include "assembler/cel/cel.h"
#include "tools/lsp/cel_deduce.h"
#include "vm/value/temporal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the context ----------------------------------------------------------------------------- */

bool cel_exec_init(struct cel_suite *c) {
    if (mwl__exec_init(&c->x, c->heap) != MWL_OK) return false;
    c->x.zones = &c->zones;
    return true;
}

bool cel_suite_init(struct cel_suite *c) {
    mwl__functions_init(&c->functions, NULL);
    mwl__zones_init(&c->zones, mwl_alloc_default(), NULL, NULL);
    return mwl_heap_new(NULL, &c->heap) == MWL_OK && cel_exec_init(c) &&
           tool_add_functions(&c->functions) == MWL_OK;
}

void cel_suite_done(struct cel_suite *c) {
    if (c->heap) mwl__exec_done(&c->x);
    mwl__functions_done(&c->functions);
    mwl__zones_free(&c->zones);
    mwl_heap_free(c->heap);
}

bool cel_flag(mwl_value object, const char *name) {
    mwl_value v = mwl_get(object, name);
    return mwl_value_kind(v) == MWL_KIND_BOOL && mwl_as_bool(v);
}

static char *text_copy(mwl_value v) {
    size_t len = 0;
    const char *s = mwl_as_text(v, &len);
    if (!s) return NULL;
    char *copy = suite_alloc(len + 1);
    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *cel_text(mwl_value object, const char *name) { return text_copy(mwl_get(object, name)); }

/* ---- values ---------------------------------------------------------------------------------- */

static int digit64(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *p = c ? strchr(digits, c) : NULL;
    return p ? (int)(p - digits) : -1;
}

static mwl_value bytes_value(mwl_heap *heap, const char *s, size_t len) {
    unsigned char *out = suite_alloc(len + 3);
    size_t n = 0;
    unsigned bits = 0, have = 0;
    for (size_t i = 0; i < len && digit64(s[i]) >= 0; i++) {
        bits = (bits << 6 | (unsigned)digit64(s[i])) & 0xffffffu;
        have += 6;
        if (have >= 8) out[n++] = (unsigned char)(bits >> (have -= 8) & 0xffu);
    }
    mwl_value v = mwl_bytes(heap, out, n);
    free(out);
    return v;
}

static mwl_value list_value(struct cel_suite *c, mwl_value items) {
    mwl_value list = mwl_array(c->heap, mwl_count(items));
    for (size_t i = 0; i < mwl_count(items); i++)
        list = mwl_array_push(c->heap, list, cel_value(c, mwl_array_at(items, i)));
    return list;
}

static mwl_value map_value(struct cel_suite *c, mwl_value pairs) {
    mwl_value map = mwl_object(c->heap, mwl_count(pairs));
    for (size_t i = 0; i < mwl_count(pairs); i++) {
        mwl_value pair = mwl_array_at(pairs, i);
        map = mwl_object_put(c->heap, map, cel_value(c, mwl_array_at(pair, 0)),
                             cel_value(c, mwl_array_at(pair, 1)));
    }
    return map;
}

static mwl_value time_value(const char *s, size_t len, bool is_duration) {
    int64_t ns = 0;
    mwl__instant t = {0, 0};
    if (is_duration)
        return mwl__temporal_parse_cel(s, len, &ns) == MWL_OK ? mwl_duration(ns) : mwl_absent();
    return mwl__temporal_parse_instant(s, len, &t) == MWL_OK ? mwl_timestamp(t.sec, t.ns)
                                                             : mwl_absent();
}

mwl_value cel_value(struct cel_suite *c, mwl_value text) {
    char type[16] = "";
    size_t len = 0;
    const char *t = mwl_as_text(mwl_get(text, "t"), &len);
    if (!t || len >= sizeof type) return mwl_absent();
    memcpy(type, t, len);
    mwl_value v = mwl_get(text, "v");
    const char *s = mwl_as_text(v, &len);
    if (strcmp(type, "null") == 0) return mwl_null();
    if (strcmp(type, "bool") == 0) return mwl_bool(mwl_as_bool(v));
    if (strcmp(type, "list") == 0) return list_value(c, v);
    if (strcmp(type, "map") == 0) return map_value(c, v);
    if (!s) return mwl_absent();
    if (strcmp(type, "int") == 0) return mwl_int(strtoll(s, NULL, 10));
    if (strcmp(type, "uint") == 0) return mwl_uint(strtoull(s, NULL, 10));
    if (strcmp(type, "double") == 0) return mwl_number(strtod(s, NULL));
    if (strcmp(type, "string") == 0) return mwl_string(c->heap, s, len);
    if (strcmp(type, "bytes") == 0) return bytes_value(c->heap, s, len);
    if (strcmp(type, "type") == 0) return mwl__type_new(c->heap, s, len);
    if (strcmp(type, "timestamp") == 0) return time_value(s, len, false);
    if (strcmp(type, "duration") == 0) return time_value(s, len, true);
    return mwl_absent();
}

static bool same_map(mwl_value a, mwl_value b, int depth) {
    for (size_t i = 0; i < mwl_count(a); i++) {
        mwl_value key, val, other_key, other;
        bool found = false;
        mwl_object_at(a, i, &key, &val);
        for (size_t j = 0; j < mwl_count(b) && !found; j++) {
            mwl_object_at(b, j, &other_key, &other);
            found = cel_same(key, other_key, depth - 1) && cel_same(val, other, depth - 1);
        }
        if (!found) return false;
    }
    return true;
}

bool cel_same(mwl_value a, mwl_value b, int depth) {
    if (depth == 0 || mwl_value_kind(a) != mwl_value_kind(b) || mwl_is_absent(a)) return false;
    switch (mwl_value_kind(a)) {
    case MWL_KIND_NUMBER: {
        double x = mwl_as_number(a), y = mwl_as_number(b);
        return (x != x && y != y) || memcmp(&x, &y, sizeof x) == 0;
    }
    case MWL_KIND_ARRAY:
        if (mwl_count(a) != mwl_count(b)) return false;
        for (size_t i = 0; i < mwl_count(a); i++)
            if (!cel_same(mwl_array_at(a, i), mwl_array_at(b, i), depth - 1)) return false;
        return true;
    case MWL_KIND_OBJECT: return mwl_count(a) == mwl_count(b) && same_map(a, b, depth);
    default: return mwl_value_equal(a, b);
    }
}

/* ---- declarations ---------------------------------------------------------------------------- */

static bool has_name(char *const *names, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

char **cel_names(mwl_value test, size_t *n) {
    mwl_value bindings = mwl_get(test, "bindings"), decls = mwl_get(test, "type_env");
    char **names = suite_alloc((mwl_count(bindings) + mwl_count(decls) + 1) * sizeof *names);
    *n = 0;
    for (size_t i = 0; i < mwl_count(bindings); i++) {
        mwl_value key, val;
        mwl_object_at(bindings, i, &key, &val);
        names[(*n)++] = text_copy(key);
    }
    for (size_t i = 0; i < mwl_count(decls); i++) {
        mwl_value decl = mwl_array_at(decls, i);
        if (mwl_is_absent(mwl_get(decl, "type"))) continue;
        char *name = cel_text(decl, "name");
        if (has_name(names, *n, name))
            free(name);
        else
            names[(*n)++] = name;
    }
    return names;
}

void cel_names_free(char **names, size_t n) {
    for (size_t i = 0; i < n; i++) free(names[i]);
    free(names);
}

/* Declarations in an arena, from type_env. */
static cel_decl *declarations(mwl__arena *arena, mwl_value env) {
    cel_decl *decls = mwl__arena_new(arena, (mwl_count(env) + 1) * sizeof *decls);
    for (size_t i = 0; i < mwl_count(env); i++) {
        mwl_value decl = mwl_array_at(env, i), overloads = mwl_get(decl, "overloads");
        size_t n = mwl_count(overloads);
        decls[i].name = mwl_as_text(mwl_get(decl, "name"), NULL);
        decls[i].type = mwl_as_text(mwl_get(decl, "type"), NULL);
        cel_overload *list = mwl__arena_new(arena, (n + 1) * sizeof *list);
        for (size_t j = 0; j < n; j++) {
            mwl_value o = mwl_array_at(overloads, j), params = mwl_get(o, "params");
            const char **texts = mwl__arena_new(arena, (mwl_count(params) + 1) * sizeof *texts);
            for (size_t k = 0; k < mwl_count(params); k++)
                texts[k] = mwl_as_text(mwl_array_at(params, k), NULL);
            list[j].params = texts;
            list[j].n_params = mwl_count(params);
            list[j].result = mwl_as_text(mwl_get(o, "result"), NULL);
            list[j].member = cel_flag(o, "member");
        }
        decls[i].overloads = list;
        decls[i].n_overloads = n;
    }
    return decls;
}

struct scope {
    const struct cel_suite *c;
    mwl_value test;
};

static unsigned lookup(void *ctx, const char *name, size_t len, mwl__cel_lit *lit) {
    const struct scope *s = ctx;
    unsigned is = mwl__cel_standard_name(&s->c->functions, name, len, lit);
    mwl_value decls = mwl_get(s->test, "type_env");
    if (!mwl_is_absent(mwl_object_get(mwl_get(s->test, "bindings"), name, len)))
        is |= MWL__CEL_NAME_VARIABLE;
    for (size_t i = 0; i < mwl_count(decls); i++) {
        mwl_value decl = mwl_array_at(decls, i);
        size_t n = 0;
        const char *declared = mwl_as_text(mwl_get(decl, "name"), &n);
        if (n == len && memcmp(declared, name, len) == 0)
            is |= mwl_is_absent(mwl_get(decl, "type")) ? MWL__CEL_NAME_FUNCTION
                                                       : MWL__CEL_NAME_VARIABLE;
    }
    return is;
}

bool cel_deduced_type(struct cel_suite *c, mwl_value test, char *type, size_t size) {
    mwl__arena arena = mwl__arena_make(mwl_alloc_default());
    struct scope scope = {c, test};
    char *container = cel_text(test, "container");
    mwl__cel_options parse = {.arena = &arena, .macros = cel_test_macros};
    parse.source = mwl_as_text(mwl_get(test, "expr"), &parse.len);
    parse.no_macros = cel_flag(test, "disable_macros");
    const mwl__cel_names names = {lookup, &scope, container};
    mwl__cel_tree tree;
    const char *text = NULL;
    bool ok = mwl__cel_parse(&parse, &tree) == MWL_OK &&
              mwl__cel_resolve(&arena, &tree, &names) == MWL_OK;
    mwl_value env = mwl_get(test, "type_env");
    ok =
        ok && cel_deduce(&arena, &tree, declarations(&arena, env), mwl_count(env), &text) == MWL_OK;
    if (ok) snprintf(type, size, "%s", text);
    free(container);
    mwl__arena_free(&arena);
    return ok;
}

/* ---- macros for tests only ------------------------------------------------------------------- */

static bool small_int(const mwl__cel_node *n, int *out) {
    if (n->kind != MWL__CEL_LIT || n->lit.kind != MWL__CEL_INT || n->lit.as.i < 0 ||
        n->lit.as.i > 999)
        return false;
    *out = (int)n->lit.as.i;
    return true;
}

static mwl__cel_node *expand_index(mwl__cel_parser *p, mwl__cel_node *call) {
    char name[32];
    int i;
    if (!small_int(call->kids[1], &i))
        return mwl__cel_macro_fail(p, call, "cel.index takes a small int");
    snprintf(name, sizeof name, "@index%d", i);
    return mwl__cel_make_ident(p, call, name);
}

static mwl__cel_node *expand_var(mwl__cel_parser *p, mwl__cel_node *call) {
    char name[64];
    int i, j;
    if (!small_int(call->kids[1], &i) || !small_int(call->kids[2], &j))
        return mwl__cel_macro_fail(p, call, "takes two small ints");
    snprintf(name, sizeof name, "@%s:%d:%d", call->name.data[0] == 'i' ? "it" : "ac", i, j);
    return mwl__cel_make_ident(p, call, name);
}

static mwl__cel_node *expand_block(mwl__cel_parser *p, mwl__cel_node *call) {
    enum { LIMIT = 64 };
    mwl__cel_node *kids[LIMIT + 1], *idents[LIMIT], *list = call->kids[1];
    char name[32];
    if (list->kind != MWL__CEL_LIST || list->n_kids > LIMIT)
        return mwl__cel_macro_fail(p, list, "cel.block takes a list of initialisers");
    for (uint32_t i = 0; i < list->n_kids; i++) {
        snprintf(name, sizeof name, "@index%u", i);
        kids[i] = list->kids[i];
        idents[i] = mwl__cel_make_ident(p, list->kids[i], name);
        if (!idents[i]) return NULL;
    }
    kids[list->n_kids] = call->kids[2];
    return mwl__cel_make_scope(p, MWL__CEL_BLOCK, call, list->n_kids + 1, kids, list->n_kids,
                               idents);
}

const mwl__cel_macro cel_test_macros[] = {
    {"block", "cel", true, 2, expand_block},
    {"index", "cel", true, 1, expand_index},
    {"iterVar", "cel", true, 2, expand_var},
    {"accuVar", "cel", true, 2, expand_var},
    {NULL, NULL, false, 0, NULL},
};
