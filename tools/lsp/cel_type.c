/* cel_type.c: types of the gradual type system, as far as deduction needs them.
 *
 * Owns: reading, writing, unifying and joining types (spec: langdef, Gradual Type Checking).
 * Refuses to know: expressions. `dyn` fits everything; null fits a type that may be null; a wrapper
 * fits its primitive. Depth is limited by TYPE_DEPTH; beyond it two types count as different. */
#include "tools/lsp/cel_type.h"

#define TYPE_DEPTH 300 /* the height of an expression limits the types that it can build */

cel_type *cel_type_new(mwl__arena *arena, const char *name, size_t n, cel_type *a, cel_type *b) {
    if ((n > 0 && !a) || (n > 1 && !b)) return NULL;
    cel_type *t = mwl__arena_new(arena, sizeof *t);
    if (!t) return NULL;
    t->name = name;
    t->n_params = (uint32_t)n;
    t->params[0] = a;
    t->params[1] = b;
    return t;
}

cel_type *cel_type_var(mwl__arena *arena) { return cel_type_new(arena, NULL, 0, NULL, NULL); }

cel_type *cel_type_find(cel_type *t) {
    while (t && !t->name && t->bound) t = t->bound;
    return t;
}

bool cel_type_is(cel_type *t, const char *name) {
    t = cel_type_find(t);
    return t && t->name && strcmp(t->name, name) == 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

static cel_type *scope_var(cel_type_scope *s, const char *name, size_t len) {
    for (size_t i = 0; i < s->n; i++)
        if (s->lens[i] == len && memcmp(s->names[i], name, len) == 0) return s->vars[i];
    if (s->n == sizeof s->vars / sizeof *s->vars) return NULL;
    s->names[s->n] = name;
    s->lens[s->n] = len;
    s->vars[s->n] = cel_type_var(s->arena);
    return s->vars[s->n++];
}

static cel_type *read_type(cel_type_scope *s, const char **at, unsigned depth) {
    const char *begin = *at;
    *at += strcspn(*at, "(), ");
    size_t len = (size_t)(*at - begin);
    if (len == 0 || depth > 32) return NULL;
    if (*begin == '$') return scope_var(s, begin, len);
    cel_type *t = cel_type_new(s->arena, mwl__arena_text(s->arena, begin, len), 0, NULL, NULL);
    if (!t || !t->name) return NULL;
    if (strcmp(t->name, "any") == 0) t->name = "dyn";
    if (**at != '(') return t;
    do {
        ++*at;
        *at += strspn(*at, " ");
        if (t->n_params == CEL_TYPE_PARAMS) return NULL;
        t->params[t->n_params] = read_type(s, at, depth + 1);
        if (!t->params[t->n_params++]) return NULL;
    } while (**at == ',');
    if (**at != ')') return NULL;
    ++*at;
    return t;
}

cel_type *cel_type_read(cel_type_scope *scope, const char *text) {
    cel_type *t = read_type(scope, &text, 0);
    return t && *text == '\0' ? t : NULL;
}

void cel_type_write(mwl__buf *out, cel_type *t, unsigned depth) {
    t = cel_type_find(t);
    if (!t || !t->name || depth > TYPE_DEPTH) {
        mwl__buf_puts(out, "dyn"); /* spec: a variable without a constraint is dyn */
        return;
    }
    mwl__buf_puts(out, t->name);
    for (uint32_t i = 0; i < t->n_params; i++) {
        mwl__buf_puts(out, i ? ", " : "(");
        cel_type_write(out, t->params[i], depth + 1);
    }
    if (t->n_params) mwl__buf_puts(out, ")");
}

/* ---- relations ------------------------------------------------------------------------------- */

static bool occurs(const cel_type *var, cel_type *t, unsigned depth) {
    t = cel_type_find(t);
    if (t == var || depth > TYPE_DEPTH) return true;
    for (uint32_t i = 0; i < t->n_params; i++)
        if (occurs(var, t->params[i], depth + 1)) return true;
    return false;
}

/* Returns whether a value of the type may be null: every type except primitives and containers. */
static bool is_nullable(const cel_type *t) {
    static const char *const never[] = {"bool",  "int",  "uint", "double", "string",
                                        "bytes", "list", "map",  "type"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strcmp(t->name, never[i]) == 0) return false;
    return true;
}

static bool is_wrapper_of(cel_type *w, cel_type *t) {
    return strcmp(w->name, "wrapper") == 0 && w->n_params == 1 && t->n_params == 0 &&
           cel_type_is(w->params[0], t->name);
}

bool cel_type_unify(cel_type *a, cel_type *b, unsigned depth) {
    cel_type *va = a, *vb = b;
    a = cel_type_find(a);
    b = cel_type_find(b);
    if (!a || !b || depth > TYPE_DEPTH) return false;
    if (a == b) return true;
    if (!a->name || !b->name) {
        cel_type *var = a->name ? b : a, *other = a->name ? a : b;
        if (occurs(var, other, depth)) return false;
        var->bound = other;
        return true;
    }
    bool dyn_a = strcmp(a->name, "dyn") == 0, dyn_b = strcmp(b->name, "dyn") == 0;
    if (dyn_a || dyn_b) { /* a variable that was int and is now dyn stays dyn */
        if (dyn_a && !vb->name) vb->bound = a;
        if (dyn_b && !va->name) va->bound = b;
        return true;
    }
    if (strcmp(a->name, "null_type") == 0 && is_nullable(b)) return true;
    if (strcmp(b->name, "null_type") == 0 && is_nullable(a)) return true;
    if (is_wrapper_of(a, b) || is_wrapper_of(b, a)) return true;
    if (strcmp(a->name, b->name) != 0 || a->n_params != b->n_params) return false;
    for (uint32_t i = 0; i < a->n_params; i++)
        if (!cel_type_unify(a->params[i], b->params[i], depth + 1)) return false;
    return true;
}

cel_type *cel_type_join(mwl__arena *arena, cel_type *a, cel_type *b, unsigned depth) {
    a = cel_type_find(a);
    b = cel_type_find(b);
    if (!a || !b) return NULL;
    if (a == b) return a;
    if (!cel_type_unify(a, b, depth)) return cel_type_new(arena, "dyn", 0, NULL, NULL);
    a = cel_type_find(a);
    b = cel_type_find(b);
    if (a == b || !b->name || strcmp(a->name, "dyn") == 0) return a;
    if (strcmp(b->name, "dyn") == 0) return b;
    if (strcmp(a->name, "null_type") == 0) return b;
    if (strcmp(b->name, "null_type") == 0 || is_wrapper_of(a, b)) return a;
    if (is_wrapper_of(b, a)) return b;
    cel_type *t = cel_type_new(arena, a->name, 0, NULL, NULL);
    if (!t) return NULL;
    t->n_params = a->n_params;
    for (uint32_t i = 0; i < a->n_params; i++) {
        t->params[i] = cel_type_join(arena, a->params[i], b->params[i], depth + 1);
        if (!t->params[i]) return NULL;
    }
    return t;
}
