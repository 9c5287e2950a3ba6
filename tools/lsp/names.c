/* names.c: see names.h. */
#include "tools/lsp/names.h"

#include "assembler/cel/cel_lex.h"

static void add(struct names *list, struct name name) {
    const mwl_alloc alloc = mwl_alloc_default();
    if (mwl__mem_grow(&alloc, (void **)&list->items, &list->cap, list->n_items + 1,
                      sizeof *list->items) < 0) {
        list->failed = true;
        return;
    }
    list->items[list->n_items++] = name;
}

void names_free(struct names *list) {
    const mwl_alloc alloc = mwl_alloc_default();
    mwl__mem_free(&alloc, list->items, list->cap * sizeof *list->items);
    memset(list, 0, sizeof *list);
}

/* The Flow that a value lies in; of a Flow, the one around it. */
static struct outline_node *flow_of(const struct outline_node *n) {
    return role_around(n->parent, ROLE_FLOW);
}

static void add_key(struct names *list, enum name_kind kind, const struct outline_node *n,
                    const struct outline_node *scope) {
    if (!scope || !n->key) return;
    uint32_t end = n->key_closed ? n->key_end - 1 : n->key_end;
    add(list, (struct name){kind, true, n->key, n->key_len, scope, n, n->key_begin + 1, end, true});
}

static void add_text(struct names *list, enum name_kind kind, const struct outline_node *n,
                     const struct outline_node *scope) {
    if (!scope || n->kind != OUTLINE_STRING) return;
    uint32_t end = n->closed ? n->end - 1 : n->end;
    add(list, (struct name){kind, false, n->text, n->text_len, scope, n, n->begin + 1, end, true});
}

struct outline_node *names_flow(const struct outline_node *from, const char *text, size_t len) {
    for (struct outline_node *f = role_around(from, ROLE_FLOW); f; f = flow_of(f)) {
        struct outline_node *found = outline_find(outline_get(f, "flows"), text, len);
        if (found) return found;
    }
    return NULL;
}

/* ---- expressions ----------------------------------------------------------------------------- */

bool names_computed(const struct outline_node *n) {
    if (n->kind != OUTLINE_STRING || n->text_len < 2 || memcmp(n->text, "{{", 2) != 0) return false;
    switch (n->role) {
    case ROLE_VALUE:
    case ROLE_WITH:
    case ROLE_CONDITION:
    case ROLE_CODE:
    case ROLE_TYPE:
    case ROLE_FLAG:
    case ROLE_NUMBER: return true;
    default: return false;
    }
}

struct scan {
    struct names *list;
    const struct outline *o;
    const struct outline_node *n, *flow, *called; /* called: the Flow whose window it is, or NULL */
    struct outline_walk walk;                     /* names come in the order of the text */
};

static bool token_is(const struct outline_node *n, const mwl__cel_token *t, const char *word) {
    return t->kind == MWL__CEL_T_NAME && t->end - t->begin == strlen(word) &&
           memcmp(n->text + t->begin, word, strlen(word)) == 0;
}

/* Adds bytes [from, to) of the decoded text as the name of a variable. */
static void add_variable(struct scan *s, const struct outline_node *scope, uint32_t from,
                         uint32_t to) {
    if (!scope || to <= from) return;
    add(s->list, (struct name){NAME_VARIABLE, false, s->n->text + from, to - from, scope, s->n,
                               outline_text_offset_on(s->o, s->n, from, &s->walk),
                               outline_text_offset_on(s->o, s->n, to, &s->walk), false});
}

/* Behind `vars`: a member, or a constant index. Returns where to go on. */
static uint32_t read_member(struct scan *s, uint32_t at, const struct outline_node *scope) {
    const struct outline_node *n = s->n;
    mwl__cel_token dot = mwl__cel_lex(n->text, n->text_len, at);
    if (dot.kind != MWL__CEL_T_DOT && dot.kind != MWL__CEL_T_LBRACKET) return at;
    mwl__cel_token name = mwl__cel_lex(n->text, n->text_len, dot.end);
    if (name.kind == MWL__CEL_T_QUESTION) name = mwl__cel_lex(n->text, n->text_len, name.end);
    if (dot.kind == MWL__CEL_T_DOT && name.kind == MWL__CEL_T_NAME)
        add_variable(s, scope, name.begin, name.end);
    else if (name.kind == MWL__CEL_T_STRING && name.end - name.begin >= 2 &&
             strchr("\"'", n->text[name.begin]) &&
             !memchr(n->text + name.begin, '\\', name.end - name.begin))
        add_variable(s, scope, name.begin + 1, name.end - 1);
    else
        return dot.end;
    return name.end;
}

static void scan_expression(struct scan *s) {
    const struct outline_node *n = s->n;
    bool member = false, window = false; /* behind a dot; behind `flow.` */
    for (uint32_t at = 2; at < n->text_len;) {
        mwl__cel_token t = mwl__cel_lex(n->text, n->text_len, at);
        if (t.kind == MWL__CEL_T_END) break;
        at = t.end > at ? t.end : at + 1;
        if (token_is(n, &t, "vars") && (!member || window))
            at = read_member(s, at, window ? s->called : s->flow);
        if (t.kind == MWL__CEL_T_DOT) {
            member = true;
            continue;
        }
        window = !member && token_is(n, &t, "flow");
        member = false;
    }
}

/* The Flow that the call around an expression calls, or NULL. */
static const struct outline_node *called_flow(const struct outline_node *n) {
    const struct outline_node *call = role_around(n, ROLE_CALL);
    const struct outline_node *flow = outline_get(call, "flow");
    if (!flow) return NULL;
    return flow->kind == OUTLINE_OBJECT   ? flow
           : flow->kind == OUTLINE_STRING ? names_flow(flow, flow->text, flow->text_len)
                                          : NULL;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void add_parameters(struct names *list, const struct outline_node *schema) {
    const struct outline_node *p = outline_get(schema, "properties");
    for (const struct outline_node *m = p ? p->first : NULL; m; m = m->next)
        add_key(list, NAME_VARIABLE, m, schema->parent);
}

static void add_node(struct names *list, const struct outline *o, const struct outline_node *n) {
    switch (n->role) {
    case ROLE_STEP:
        if (n->parent->role == ROLE_STEPS) add_key(list, NAME_STEP, n, flow_of(n));
        break;
    case ROLE_FLOW:
        if (n->parent && n->parent->role == ROLE_FLOWS) add_key(list, NAME_FLOW, n, n);
        break;
    case ROLE_STEP_NAME: add_text(list, NAME_STEP, n, flow_of(n)); break;
    case ROLE_CALLED:
        if (n->kind == OUTLINE_STRING)
            add_text(list, NAME_FLOW, n, names_flow(n, n->text, n->text_len));
        break;
    case ROLE_SCHEMA:
        if (n->parent->role == ROLE_FLOW) add_parameters(list, n);
        break;
    default: break;
    }
    if (n->parent && n->parent->role == ROLE_ASSIGN) add_key(list, NAME_VARIABLE, n, flow_of(n));
    if (!names_computed(n)) return;
    struct scan s = {list, o, n, flow_of(n), called_flow(n), {0, 0}};
    scan_expression(&s);
}

void names_collect(struct names *list, const struct outline *o) {
    memset(list, 0, sizeof *list);
    for (const struct outline_node *n = o->root; n && !list->failed; n = outline_next(n))
        add_node(list, o, n);
}

const struct name *names_at(const struct names *list, uint32_t offset) {
    for (size_t i = 0; i < list->n_items; i++)
        if (offset >= list->items[i].begin && offset <= list->items[i].end) return &list->items[i];
    return NULL;
}

bool names_same(const struct name *a, const struct name *b) {
    return a->kind == b->kind && a->scope == b->scope && a->len == b->len &&
           memcmp(a->text, b->text, a->len) == 0;
}
