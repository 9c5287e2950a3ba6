/* complete.c: completion of names and values. See lsp.h.
 *
 * Owns: what stands at the cursor (a name, a value, a place for one), also in a text that is not
 * finished, and what the language has there. Refuses to know: expressions (complete_expr.c). */
#include "tools/lsp/complete.h"

#include "assembler/source/form.h"
#include "tools/lsp/paths.h"

#define FLOW_SCHEMA "https://mwl.dev/v0.1/flow/schema.json"

void items_add(struct items *list, const struct item *item) {
    mwl__buf *out = list->out;
    mwl__buf_puts(out, list->n++ ? ",{\"label\":" : "{\"label\":");
    rpc_put_text(out, item->label, item->label_len);
    mwl__buf_printf(out, ",\"kind\":%d", item->kind);
    if (item->detail) rpc_put_member(out, "detail", item->detail);
    if (item->words) {
        mwl__buf_puts(out, ",\"documentation\":{\"kind\":\"markdown\",\"value\":");
        rpc_put_text(out, item->words, item->words_len);
        mwl__buf_puts(out, "}");
    }
    bool snippet = item->snippet && list->s->snippets;
    size_t len = strlen(item->text);
    mwl__buf plain = mwl__buf_make(mwl_alloc_default());
    if (item->snippet && !snippet) { /* without the places to fill in */
        for (const char *p = item->text; *p; p++) {
            if (*p != '$') {
                mwl__buf_putc(&plain, *p);
            } else if (p[1] == '{') {
                p = strchr(p, '}') ? strchr(p, '}') : p;
            } else if (p[1]) {
                p++;
            }
        }
        len = plain.len;
    }
    const char *text = item->snippet && !snippet ? plain.data : item->text;
    mwl__buf_printf(out, ",\"insertTextFormat\":%d,\"textEdit\":{\"range\":", snippet ? 2 : 1);
    put_range(list->s, list->d, list->begin, list->end, out);
    mwl__buf_puts(out, ",\"newText\":");
    rpc_put_text(out, text ? text : "", len);
    mwl__buf_puts(out, "},\"filterText\":");
    mwl__buf filter = mwl__buf_make(mwl_alloc_default());
    bool quoted = text && text[0] == '"';
    mwl__buf_printf(&filter, quoted ? "\"%.*s\"" : "%.*s", (int)item->label_len, item->label);
    rpc_put_text(out, filter.data ? filter.data : "", filter.len);
    mwl__buf_puts(out, "}");
    mwl__buf_free(&filter);
    mwl__buf_free(&plain);
}

/* ---- the cursor ------------------------------------------------------------------------------ */

enum where {
    NOWHERE,
    IN_NAME, /* node: the member whose name it is */
    AT_NAME, /* node: the object that can have another member */
    IN_TEXT, /* node: the string */
    AT_VALUE /* node: the member without a value, or the array */
};

struct cursor {
    enum where where;
    struct outline_node *node;
    uint32_t at;
    bool comma; /* AT_NAME: a comma is missing in front */
};

static uint32_t before(const struct outline *o, uint32_t at) {
    while (at > 0 && strchr(" \t\r\n", o->text[at - 1])) at--;
    return at;
}

/* The member of the object whose value is missing at the cursor, or NULL. */
static struct outline_node *valueless(const struct outline_node *object, uint32_t at) {
    struct outline_node *found = NULL;
    for (struct outline_node *m = object->first; m && m->key_end <= at; m = m->next) found = m;
    return found && found->kind == OUTLINE_MISSING ? found : NULL;
}

static struct cursor cursor_at(const struct outline *o, uint32_t at) {
    struct cursor c = {.at = at};
    bool in_key;
    c.node = outline_at(o, at, &in_key);
    if (!c.node) return c;
    if (in_key) {
        c.where = IN_NAME;
        return c;
    }
    if (c.node->kind == OUTLINE_STRING) {
        c.where = IN_TEXT;
        return c;
    }
    if (c.node->kind == OUTLINE_SCALAR) {
        c.where = AT_VALUE;
        return c;
    }
    uint32_t last = before(o, at);
    char previous = last ? o->text[last - 1] : '\0';
    if (c.node->kind == OUTLINE_ARRAY) {
        c.where = previous == '[' || previous == ',' ? AT_VALUE : NOWHERE;
    } else if (previous == ':') {
        c.node = valueless(c.node, at);
        c.where = c.node ? AT_VALUE : NOWHERE;
    } else {
        c.where = AT_NAME;
        c.comma = previous != '{' && previous != ',';
    }
    return c;
}

/* ---- names of members ------------------------------------------------------------------------ */

/* Returns what to write after a name, by what the member is; with places to fill in. */
static const char *value_of(enum role role) {
    switch (role) {
    case ROLE_STEPS:
    case ROLE_FLOWS:
    case ROLE_ASSIGN:
    case ROLE_WITH:
    case ROLE_CALL:
    case ROLE_DEFAULT:
    case ROLE_RESULT:
    case ROLE_MATCHER:
    case ROLE_COMPLETION:
    case ROLE_SUCCESS_ARM:
    case ROLE_FAILURE_ARM:
    case ROLE_ON_ENTRY:
    case ROLE_ON_SUCCESS:
    case ROLE_ON_FAILURE:
    case ROLE_ON_ALWAYS: return "{ $1 }";
    case ROLE_STACK:
    case ROLE_CALLS:
    case ROLE_CATCHES:
    case ROLE_CASES: return "[{ $1 }]";
    case ROLE_CODES:
    case ROLE_TYPES: return "[\"$1\"]";
    case ROLE_SCHEMA: return "{ \"type\": \"object\", \"properties\": { $1 } }";
    case ROLE_CONDITION: return "\"{{ $1 }}\"";
    case ROLE_FLAG: return "${1:true}";
    case ROLE_NUMBER: return "${1:1}";
    case ROLE_LANGUAGE: return "\"" FLOW_SCHEMA "\"";
    default: return "\"$1\"";
    }
}

struct naming {
    struct items *list;
    const struct outline_node *object, *self; /* self: the member whose name is typed, or NULL */
    bool value;                               /* a value is to be written too */
    bool comma;
};

static void add_name(struct naming *g, const char *name, size_t len, const char *value,
                     const char *detail, const char *words, size_t words_len) {
    const struct outline_node *old = outline_find(g->object, name, len);
    if (old && old != g->self) return;
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    if (g->comma) mwl__buf_puts(&text, ", ");
    rpc_put_text(&text, name, len);
    if (g->value) mwl__buf_printf(&text, ": %s", value);
    mwl__buf_putc(&text, '\0');
    const struct item item = {.kind = ITEM_PROPERTY,
                              .label = name,
                              .label_len = len,
                              .text = text.data,
                              .detail = detail,
                              .words = words,
                              .words_len = words_len,
                              .snippet = g->value};
    if (!text.failed) items_add(g->list, &item);
    mwl__buf_free(&text);
}

static void add_list(struct naming *g, const struct member_list *list) {
    for (size_t i = 0; i < list->n_rows; i++) {
        const struct member *m = &list->rows[i];
        if (m->shape == SHAPE_SCHEMA_URI && g->object->parent) continue; /* of the root alone */
        add_name(g, m->name, strlen(m->name), value_of(role_of_shape(m->shape)),
                 m->flags & MWL__FORM_REQUIRED ? "required" : NULL, m->text, strlen(m->text));
    }
}

/* The members of an object. Of a Step without an action, those that actions share come once. */
static void add_table(struct naming *g) {
    const struct member_list *lists[MEMBER_ACTIONS];
    size_t n = role_lists(g->object, lists);
    if (n == 1) add_list(g, lists[0]);
    for (size_t i = 0; n > 1 && i < n; i++) {
        struct member kept[32];
        struct member_list rest = {lists[i]->what, kept, 0};
        for (size_t k = 0; k < lists[i]->n_rows && rest.n_rows < 32; k++) {
            bool seen = false;
            for (size_t j = 0; j < i && !seen; j++)
                seen = members_find(lists[j], lists[i]->rows[k].name,
                                    strlen(lists[i]->rows[k].name)) != NULL;
            if (!seen) kept[rest.n_rows++] = lists[i]->rows[k];
        }
        add_list(g, &rest);
    }
}

/* "[]", "{}", "\"\"" or nothing, by the type that a schema names. */
static const char *schema_value(const mwl__node *schema) {
    const mwl__node *type = mwl__node_get(schema, "type");
    if (mwl__node_is(type, "array")) return "[$1]";
    if (mwl__node_is(type, "object")) return "{ $1 }";
    if (mwl__node_is(type, "string")) return "\"$1\"";
    if (mwl__node_is(type, "boolean")) return "${1:true}";
    return "$1";
}

static bool is_required(const mwl__node *schema, const mwl__node *member) {
    const mwl__node *list = mwl__node_get(schema, "required");
    for (const mwl__node *m = list ? mwl__node_first(list) : NULL; m; m = m->next)
        if (m->kind == MWL_NODE_STRING && m->count == member->key_len &&
            memcmp(m->as.text, member->key, m->count) == 0)
            return true;
    return false;
}

static void add_arguments(struct naming *g, const mwl__node *schema) {
    const mwl__node *p = mwl__node_get(schema, "properties");
    for (const mwl__node *m = p ? mwl__node_first(p) : NULL; m; m = m->next) {
        const mwl__node *words = mwl__node_get(m, "description");
        bool has = words && words->kind == MWL_NODE_STRING;
        add_name(g, m->key, m->key_len, schema_value(m), is_required(schema, m) ? "required" : NULL,
                 has ? words->as.text : NULL, has ? words->count : 0);
    }
}

/* Steps that something names and that do not exist yet. */
static void add_wanted_steps(struct naming *g) {
    const struct names *list = open_names(g->list->s, g->list->d);
    const struct outline_node *flow = g->object->parent;
    for (size_t i = 0; i < list->n_items && g->list->n < 50; i++) {
        const struct name *n = &list->items[i];
        if (n->kind != NAME_STEP || n->declares || n->scope != flow || !n->len) continue;
        if (!outline_find(g->object, n->text, n->len))
            add_name(g, n->text, n->len, "{ \"action\": \"$1\" }", "a Step that is named elsewhere",
                     NULL, 0);
    }
}

/* Arguments of a Flow: its parameters, from the same document. */
static void add_parameters(struct naming *g) {
    const struct outline_node *call = g->object->parent, *flow = outline_get(call, "flow");
    if (!flow || call->role != ROLE_CALL) return;
    if (flow->kind == OUTLINE_STRING) flow = names_flow(flow, flow->text, flow->text_len);
    const struct outline_node *p = outline_get(outline_get(flow, "parameters"), "properties");
    for (const struct outline_node *m = p ? p->first : NULL; m; m = m->next) {
        const struct outline_node *words = outline_get(m, "description");
        bool has = words && words->kind == OUTLINE_STRING;
        if (m->key)
            add_name(g, m->key, m->key_len, "$1", "a parameter of the Flow",
                     has ? words->text : NULL, has ? words->text_len : 0);
    }
}

static void see_variable(void *ctx, const struct path_member *m) {
    add_name(ctx, m->name, m->name_len, "$1", NULL, m->text, m->text_len);
}

static void complete_name(struct naming *g) {
    switch (g->object->role) {
    case ROLE_WITH: {
        const mwl__node *schema = role_schema(g->list->s->catalog, g->object);
        if (schema)
            add_arguments(g, schema);
        else
            add_parameters(g);
        break;
    }
    case ROLE_STEPS: add_wanted_steps(g); break;
    case ROLE_ASSIGN:
        path_variables(open_names(g->list->s, g->list->d), role_around(g->object, ROLE_FLOW),
                       see_variable, g);
        break;
    case ROLE_VALUE:
    case ROLE_NONE: break;
    default: add_table(g); break;
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static void add_string(struct items *list, enum item_kind kind, const char *value, size_t len,
                       const char *detail, const char *words, size_t words_len) {
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    rpc_put_text(&text, value, len);
    mwl__buf_putc(&text, '\0');
    const struct item item = {.kind = kind,
                              .label = value,
                              .label_len = len,
                              .text = text.data,
                              .detail = detail,
                              .words = words,
                              .words_len = words_len};
    if (!text.failed) items_add(list, &item);
    mwl__buf_free(&text);
}

static void add_steps(struct items *list, const struct outline_node *n) {
    const struct outline_node *flow = role_around(n->parent, ROLE_FLOW);
    const struct outline_node *steps = outline_get(flow, "steps");
    for (const struct outline_node *m = steps ? steps->first : NULL; m; m = m->next) {
        const struct outline_node *note = outline_get(m, "comment");
        bool has = note && note->kind == OUTLINE_STRING;
        int action = role_action(m);
        if (m->key)
            add_string(list, ITEM_REFERENCE, m->key, m->key_len,
                       action < 0 ? NULL : member_actions[action].name, has ? note->text : NULL,
                       has ? note->text_len : 0);
    }
}

static void add_flows(struct items *list, const struct outline_node *n) {
    for (const struct outline_node *f = role_around(n, ROLE_FLOW); f;
         f = role_around(f->parent, ROLE_FLOW)) {
        const struct outline_node *flows = outline_get(f, "flows");
        for (const struct outline_node *m = flows ? flows->first : NULL; m; m = m->next)
            if (m->key) add_string(list, ITEM_REFERENCE, m->key, m->key_len, "Flow", NULL, 0);
    }
}

static void add_providers(struct items *list, const struct outline_node *n) {
    mwl__catalog *catalog = list->s->catalog;
    bool middleware = n->parent && n->parent->role == ROLE_ENTRY;
    for (size_t i = 0; i < mwl__catalog_count(catalog); i++) {
        const mwl__provider_name *p = mwl__catalog_at(catalog, i);
        const mwl__contract *c = NULL;
        if (p->is_middleware != middleware) continue;
        if (mwl__catalog_find(catalog, p->uri, p->uri_len, &c) != MWL_OK) continue;
        const mwl__node *words = mwl__node_get(c->document, "description");
        bool has = words && words->kind == MWL_NODE_STRING;
        add_string(list, ITEM_MODULE, p->uri, p->uri_len, middleware ? "middleware" : "provider",
                   has ? words->as.text : NULL, has ? words->count : 0);
    }
}

/* Codes that the provider of the call says it can fail with. */
static void add_declared_codes(struct items *list, const mwl__contract *c) {
    const mwl__node *lists[] = {c->closed, c->open};
    for (size_t i = 0; i < 2; i++)
        for (const mwl__node *m = lists[i] ? mwl__node_first(lists[i]) : NULL; m; m = m->next) {
            if (m->kind == MWL_NODE_STRING && !mwl__node_is(m, "*"))
                add_string(list, ITEM_VALUE, m->as.text, m->count, "code", NULL, 0);
        }
}

static void add_codes(struct items *list, const struct outline_node *n) {
    static const char *const codes[] = {"*", "System.*", "System.ParameterValidationFailed",
                                        "System.UnrepresentableValue"};
    const struct outline_node *step = role_around(n, ROLE_STEP);
    const struct outline_node *call = step ? outline_get(step, "call") : NULL;
    const mwl__contract *c = call ? role_contract(list->s->catalog, call) : NULL;
    if (c) add_declared_codes(list, c);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        add_string(list, ITEM_VALUE, codes[i], strlen(codes[i]), "code", NULL, 0);
}

static void add_choices(struct items *list, const struct outline_node *n) {
    const mwl__node *schema = role_schema(list->s->catalog, n);
    const mwl__node *choices = schema ? mwl__node_get(schema, "enum") : NULL;
    for (const mwl__node *m = choices ? mwl__node_first(choices) : NULL; m; m = m->next)
        if (m->kind == MWL_NODE_STRING)
            add_string(list, ITEM_ENUM, m->as.text, m->count, NULL, NULL, 0);
}

static void add_actions(struct items *list) {
    for (size_t i = 0; i < MEMBER_ACTIONS; i++)
        add_string(list, ITEM_ENUM, member_actions[i].name, strlen(member_actions[i].name), NULL,
                   member_actions[i].text, strlen(member_actions[i].text));
}

static void add_types(struct items *list) {
    static const char *const types[] = {"error", "timeout", "cancellation", "skipped"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        add_string(list, ITEM_ENUM, types[i], strlen(types[i]), NULL, NULL, 0);
}

static void add_braces(struct items *list) {
    const struct item item = {.kind = ITEM_SNIPPET,
                              .label = "{{ }}",
                              .label_len = 5,
                              .text = "\"{{ $1 }}\"",
                              .detail = "an expression",
                              .snippet = true};
    items_add(list, &item);
}

/* n: the value, or the member or the array that can have one; `role`: of the value */
static void complete_value(struct items *list, const struct outline_node *n, enum role role) {
    switch (role) {
    case ROLE_STEP_NAME: add_steps(list, n); break;
    case ROLE_CALLED: add_flows(list, n); break;
    case ROLE_PROVIDER: add_providers(list, n); break;
    case ROLE_ACTION: add_actions(list); break;
    case ROLE_TYPE: add_types(list); break;
    case ROLE_CODE: add_codes(list, n); break;
    case ROLE_LANGUAGE:
        add_string(list, ITEM_VALUE, FLOW_SCHEMA, strlen(FLOW_SCHEMA), NULL, NULL, 0);
        break;
    case ROLE_WITH:
        add_choices(list, n);
        add_braces(list);
        break;
    case ROLE_CONDITION:
    case ROLE_VALUE: add_braces(list); break;
    default: break;
    }
}

static enum role element(enum role list) {
    return list == ROLE_CODES ? ROLE_CODE : list == ROLE_TYPES ? ROLE_TYPE : ROLE_NONE;
}

/* ---- the request ----------------------------------------------------------------------------- */

static void complete_at(struct items *list, const struct outline *o, struct cursor *c) {
    list->begin = list->end = c->at;
    switch (c->where) {
    case IN_NAME: {
        struct naming g = {list, c->node->parent, c->node, c->node->kind == OUTLINE_MISSING, false};
        list->begin = c->node->key_begin;
        list->end = c->node->key_end;
        complete_name(&g);
        break;
    }
    case AT_NAME: {
        struct naming g = {list, c->node, NULL, true, c->comma};
        complete_name(&g);
        break;
    }
    case IN_TEXT:
        if (names_computed(c->node)) {
            complete_expression(list, c->node, outline_text_index(o, c->node, c->at));
            break;
        }
        list->begin = c->node->begin;
        list->end = c->node->end;
        complete_value(list, c->node, (enum role)c->node->role);
        break;
    case AT_VALUE:
        if (c->node->kind == OUTLINE_SCALAR) {
            list->begin = c->node->begin;
            list->end = c->node->end;
        }
        complete_value(list, c->node,
                       c->node->kind == OUTLINE_ARRAY ? element((enum role)c->node->role)
                                                      : (enum role)c->node->role);
        break;
    case NOWHERE: break;
    }
}

void lsp_complete(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out) {
    const struct outline *o = open_outline(s, d);
    struct cursor c = cursor_at(o, open_offset(s, d, params));
    struct items list = {.s = s, .d = d, .out = out};
    mwl__buf_puts(out, "{\"isIncomplete\":false,\"items\":[");
    if (c.where != NOWHERE) complete_at(&list, o, &c);
    mwl__buf_puts(out, "]}");
}
