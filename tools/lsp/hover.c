/* hover.c: what is under the cursor, as Markdown. See lsp.h.
 *
 * Owns: the words around the facts. The facts come from the tables of roles.c and paths.c, from
 * documents of providers, from the function libraries and from `mwlvm explain`. */
#include "tools/lsp/lsp.h"

#include "tools/base/cmd.h"
#include "tools/words/guide.h"
#include "tools/words/function_words.h"
#include "assembler/source/form.h"
#include "assembler/cel/cel.h"
#include "assembler/check/scope.h"
#include "tools/lsp/cel_deduce.h"
#include "tools/lsp/paths.h"

/* Deducing a type takes long for some artificial expressions: only those of a usual size are
 * asked. */
#define DEDUCE_NODES 60

static void line(mwl__buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(mwl__buf *out, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (out->len) mwl__buf_puts(out, "\n\n");
    mwl__buf_puts(out, text);
}

static void paragraph(mwl__buf *out, const char *text, size_t len) {
    if (out->len) mwl__buf_puts(out, "\n\n");
    mwl__buf_put(out, text, len);
}

/* ---- documents ------------------------------------------------------------------------------- */

static void put_description(const mwl__node *of, mwl__buf *out) {
    const mwl__node *text = mwl__node_get(of, "description");
    if (text && text->kind == MWL_NODE_STRING) paragraph(out, text->as.text, text->count);
}

static void put_arguments(const mwl__node *schema, const char *where, mwl__buf *out) {
    const mwl__node *p = schema ? mwl__node_get(schema, "properties") : NULL;
    if (!p || !p->count) return;
    line(out, "Arguments%s:\n", where);
    for (const mwl__node *m = mwl__node_first(p); m; m = m->next) {
        const mwl__node *text = mwl__node_get(m, "description");
        mwl__buf_printf(out, "\n- `%.*s`", MWL__NODE_KEY(m));
        if (text && text->kind == MWL_NODE_STRING) {
            mwl__buf_puts(out, ": ");
            mwl__buf_put(out, text->as.text, text->count);
        }
    }
}

static void put_contract(const mwl__contract *c, mwl__buf *out) {
    static const char *const phases[] = {" of onEntry", " of onSuccess", " of onFailure",
                                         " of onAlways"};
    line(out, "**%.*s**", (int)c->uri_len, c->uri);
    put_description(c->document, out);
    for (int i = 0; i < 4; i++) {
        put_arguments(c->parameters[i], c->is_middleware ? phases[i] : "", out);
        if (!c->is_middleware) break;
    }
}

/* ---- names of members ------------------------------------------------------------------------ */

static void hover_step(const struct outline_node *step, mwl__buf *out) {
    int action = role_action(step);
    const struct outline_node *note = outline_get(step, "comment");
    line(out, "**Step `%.*s`**", (int)step->key_len, step->key);
    if (action >= 0)
        line(out, "`%s`: %s", member_actions[action].name, member_actions[action].text);
    if (note && note->kind == OUTLINE_STRING) paragraph(out, note->text, note->text_len);
}

static void hover_flow(const struct outline_node *flow, mwl__buf *out) {
    const struct outline_node *note = outline_get(flow, "comment"),
                              *steps = outline_get(flow, "steps");
    line(out, "**Flow `%.*s`** with %u Steps", (int)flow->key_len, flow->key,
         steps ? steps->count : 0);
    if (note && note->kind == OUTLINE_STRING) paragraph(out, note->text, note->text_len);
}

static void hover_key(struct lsp *s, const struct outline_node *n, mwl__buf *out) {
    const struct outline_node *up = n->parent;
    const struct member *m = role_member(up, n->key, n->key_len);
    if (n->role == ROLE_STEP) {
        hover_step(n, out);
    } else if (up->role == ROLE_FLOWS) {
        hover_flow(n, out);
    } else if (up->role == ROLE_ASSIGN) {
        line(out, "The variable `%.*s`, read as `vars.%.*s`.", (int)n->key_len, n->key,
             (int)n->key_len, n->key);
    } else if (up->role == ROLE_WITH) {
        const mwl__node *schema = role_schema(s->catalog, n);
        line(out, "**%.*s**", (int)n->key_len, n->key);
        if (schema) put_description(schema, out);
        if (n->role == ROLE_CALL) line(out, "A call that the middleware itself makes.");
        if (n->role == ROLE_STACK) line(out, "Middleware around the call that it makes.");
    } else if (m) {
        line(out, "**%s**%s", m->name, m->flags & MWL__FORM_REQUIRED ? " (required)" : "");
        line(out, "%s", m->text);
    }
}

/* ---- expressions ----------------------------------------------------------------------------- */

struct wanted {
    const struct path *path;
    mwl__buf *out;
};

static void see_wanted(void *ctx, const struct path_member *m) {
    const struct wanted *w = ctx;
    size_t last = w->path->n - 1;
    if (m->name_len != w->path->lens[last] ||
        memcmp(m->name, w->path->names[last], m->name_len) != 0)
        return;
    line(w->out, "**%.*s**", (int)m->name_len, m->name);
    if (m->text) paragraph(w->out, m->text, m->text_len);
}

static void put_function_words(const char *name, mwl__buf *out) {
    const struct function_words *w = function_words_find(name, strlen(name));
    if (!w) return;
    if (w->usage) line(out, "```\n%s\n```", w->usage);
    line(out, "%s", w->text);
    if (w->example) line(out, "Example: `%s`", w->example);
}

static void hover_function(const struct lsp *s, const struct path *p, mwl__buf *out) {
    char full[200];
    size_t n = 0, last = p->n - 1;
    for (size_t i = 0; i < p->n && n + p->lens[i] + 2 < sizeof full; i++) {
        memcpy(full + n, p->names[i], p->lens[i]);
        n += p->lens[i];
        full[n++] = i == last ? '\0' : '.';
    }
    if (n == 0 || full[n - 1] != '\0') return;
    const char *own = full + n - 1 - p->lens[last];
    for (size_t i = 0; i < s->functions.n_defs; i++) {
        const mwl_function_def *f = s->functions.defs[i];
        bool global = (f->style & MWL_FN_GLOBAL) && strcmp(f->name, full) == 0;
        bool member = p->member && (f->style & MWL_FN_MEMBER) && strcmp(f->name, own) == 0;
        if (!global && !member) continue;
        line(out, "```\n%s\n```", f->usage);
        put_function_words(f->name, out);
        return;
    }
    put_function_words(full, out); /* a macro */
}

static unsigned lookup(void *ctx, const char *name, size_t len, mwl__cel_lit *lit) {
    return mwl__scope_lookup(ctx, name, len, lit);
}

static void put_type(struct lsp *s, const struct outline_node *n, mwl__buf *out) {
    mwl__arena arena = mwl__arena_make(mwl_alloc_default());
    mwl__names functions;
    mwl__cel_tree tree;
    const char *type = NULL;
    size_t end = n->text_len;
    memset(&functions, 0, sizeof functions);
    if (end < 4 || memcmp(n->text + end - 2, "}}", 2) != 0) return;
    const mwl__cel_options parse = {.arena = &arena, .source = n->text + 2, .len = end - 4};
    mwl_status status = MWL_OK;
    for (size_t i = 0; i < s->functions.n_defs && status == MWL_OK; i++) {
        const mwl_function_def *f = s->functions.defs[i];
        if (!mwl__names_put(&functions, &arena, f->name, strlen(f->name), f->style))
            status = MWL_E_NOMEM;
    }
    const mwl__cel_names names = {lookup, &functions, NULL};
    if (status == MWL_OK) status = mwl__cel_parse(&parse, &tree);
    if (status == MWL_OK) status = mwl__cel_resolve(&arena, &tree, &names);
    if (status == MWL_OK && tree.n_nodes <= DEDUCE_NODES)
        status = cel_deduce(&arena, &tree, NULL, 0, &type);
    if (status == MWL_OK && type)
        line(out, "The expression's type: `%s`%s", type,
             strcmp(type, "dyn") == 0 ? " (known when it runs)" : "");
    mwl__arena_free(&arena);
}

static void hover_expression(struct lsp *s, struct open_document *d, const struct outline_node *n,
                             uint32_t at, mwl__buf *out) {
    struct path path;
    if (path_at(n, at, &path) && path.end > path.begin) {
        struct wanted w = {&path, out};
        path_members(s, d, n, &path, see_wanted, &w);
        if (!out->len) hover_function(s, &path, out);
    }
    put_type(s, n, out);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void hover_value(struct lsp *s, struct open_document *d, const struct outline_node *n,
                        uint32_t at, mwl__buf *out) {
    const mwl__contract *c = NULL;
    const struct outline_node *found = NULL;
    if (n->kind != OUTLINE_STRING) return;
    switch (n->role) {
    case ROLE_PROVIDER:
        if (mwl__catalog_find(s->catalog, n->text, n->text_len, &c) == MWL_OK) put_contract(c, out);
        break;
    case ROLE_STEP_NAME:
        found = outline_find(outline_get(role_around(n->parent, ROLE_FLOW), "steps"), n->text,
                             n->text_len);
        if (found) hover_step(found, out);
        break;
    case ROLE_CALLED:
        found = names_flow(n, n->text, n->text_len);
        if (found) hover_flow(found, out);
        break;
    case ROLE_ACTION: {
        int action = role_action(n->parent);
        if (action >= 0)
            line(out, "**%s**: %s", member_actions[action].name, member_actions[action].text);
        break;
    }
    default:
        if (names_computed(n))
            hover_expression(s, d, n, outline_text_index(&d->outline, n, at), out);
        break;
    }
}

/* Writes what `mwlvm explain` says about the diagnostics at the place. */
static void put_explanations(struct lsp *s, struct open_document *d, uint32_t at, mwl__buf *out) {
    mwl__diags *sink = open_check(s, d);
    size_t n;
    const mwl__diag_info *rows = mwl__diag_rows(&n);
    for (size_t i = 0; i < sink->n_items; i++) {
        const mwl__diag *g = sink->items[i];
        uint32_t end = g->span.end > g->span.begin ? g->span.end : g->span.begin + 1;
        if (g->source != &d->source || at < g->span.begin || at >= end) continue;
        const char *text = cmd_guide->texts[g->row - rows];
        line(out, "---\n\n**MWL%04d %s**: %s", (int)g->row->code, g->row->name, g->row->title);
        paragraph(out, text, strlen(text));
    }
}

void lsp_hover(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out) {
    const struct outline *o = open_outline(s, d);
    uint32_t at = open_offset(s, d, params);
    bool in_key;
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    const struct outline_node *n = outline_at(o, at, &in_key);
    if (n && in_key)
        hover_key(s, n, &text);
    else if (n)
        hover_value(s, d, n, at, &text);
    put_explanations(s, d, at, &text);
    if (text.len && !text.failed) {
        mwl__buf_puts(out, "{\"contents\":{\"kind\":\"markdown\",\"value\":");
        rpc_put_text(out, text.data, text.len);
        mwl__buf_puts(out, "}}");
    } else {
        mwl__buf_puts(out, "null");
    }
    mwl__buf_free(&text);
}
