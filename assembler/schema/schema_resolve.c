/* schema_resolve.c: documents, resources, anchors, and the targets of references.
 *
 * Owns: the walk over every schema of a document (during which each keyword is checked), base URIs,
 * the search for the target of a reference, and documents that the hook returns. Refuses to know:
 * code.
 *
 * Only keywords decide where a schema is. A `$id` inside `enum` or under an unknown keyword has no
 * meaning, unless a JSON Pointer leads there. */
#include "assembler/schema/schema_build.h"
#include "vm/base/ascii.h"
#include "vm/base/hash.h"
#include "vm/base/suggest.h"

#define NONE MWL__SCHEMA_NONE

/* ---- places ---------------------------------------------------------------------------------- */

/* The place of a node, or NONE; then the probe is where it would go. */
static uint32_t seek_place(const mwl__schema_build *b, const mwl__node *node, mwl__probe *probe) {
    *probe = mwl__probe_make(&b->place_table, mwl__hash_address(node));
    for (uint32_t i; mwl__table_next(&b->place_table, probe, &i);)
        if (b->places.at[i].node == node) return i;
    return NONE;
}

static uint32_t find_place(const mwl__schema_build *b, const mwl__node *node) {
    mwl__probe probe;
    return seek_place(b, node, &probe);
}

/* Returns the place of a node. *fresh is true if it was not known before. */
static uint32_t add_place(mwl__schema_build *b, const mwl__node *node, uint32_t resource,
                          bool *fresh) {
    *fresh = false;
    if (!MWL__ROOM(b, b->places)) return NONE;
    mwl_status st = mwl__table_reserve(&b->place_table, &b->alloc, b->places.n + 1);
    if (st < 0) {
        (void)mwl__schema_stop(b, st);
        return NONE;
    }
    mwl__probe probe;
    uint32_t known = seek_place(b, node, &probe);
    if (known != NONE) return known;
    mwl__table_put(&b->place_table, &probe, (uint32_t)b->places.n);
    mwl__schema_place p = {.node = node,
                           .resource = resource,
                           .offset = NONE,
                           .scoped = NONE,
                           .ref = NONE,
                           .dynamic = NONE};
    b->places.at[b->places.n] = p;
    *fresh = true;
    return (uint32_t)b->places.n++;
}

uint32_t mwl__schema_place_of(mwl__schema_build *b, const mwl__node *node) {
    uint32_t place = find_place(b, node);
    if (place == NONE) (void)mwl__schema_stop(b, MWL_E_REJECTED);
    return place;
}

/* ---- children -------------------------------------------------------------------------------- */

typedef void visit_fn(mwl__schema_build *b, uint32_t parent, const mwl__node *schema);

/* Visits the schemas directly below the value of a keyword. A value of the wrong kind has been
 * reported. */
static void visit_below(mwl__schema_build *b, uint32_t parent, const mwl__keyword *k,
                        const mwl__node *value, visit_fn *visit) {
    switch ((mwl__schema_rule)k->rule) {
    case MWL__RULE_SCHEMA: visit(b, parent, value); break;
    case MWL__RULE_ITEMS:
        if (value->kind != MWL_NODE_ARRAY) {
            visit(b, parent, value);
            break;
        }
        for (const mwl__node *c = mwl__node_first(value); c; c = c->next) visit(b, parent, c);
        break;
    case MWL__RULE_SCHEMAS:
    case MWL__RULE_SCHEMA_MAP:
    case MWL__RULE_PATTERN_MAP:
        for (const mwl__node *c = mwl__node_first(value); c; c = c->next) visit(b, parent, c);
        break;
    case MWL__RULE_DEPENDENCIES:
        if (value->kind != MWL_NODE_OBJECT) break;
        for (const mwl__node *c = mwl__node_first(value); c; c = c->next)
            if (c->kind != MWL_NODE_ARRAY) visit(b, parent, c);
        break;
    default: break;
    }
}

/* ---- resources and dialects ------------------------------------------------------------------ */

static mwl__schema_doc *load_doc(mwl__schema_build *b, const char *uri, size_t len, bool *usable);

static uint32_t find_uri(const mwl__schema_build *b, const char *uri, size_t len) {
    for (size_t i = 0; i < b->uris.n; i++)
        if (b->uris.at[i].len == len && memcmp(b->uris.at[i].text, uri, len) == 0)
            return b->uris.at[i].resource;
    return NONE;
}

static void name_resource(mwl__schema_build *b, uint32_t resource, const char *uri, size_t len) {
    char *text = mwl__arena_text(&b->arena, len ? uri : "", len);
    if (!text || !MWL__ROOM(b, b->uris)) {
        (void)mwl__schema_stop(b, MWL_E_NOMEM);
        return;
    }
    mwl__schema_uri row = {text, len, resource};
    b->uris.at[b->uris.n++] = row;
    b->resources.at[resource].uri = text;
    b->resources.at[resource].uri_len = len;
}

static uint32_t add_resource(mwl__schema_build *b, mwl__schema_doc *doc, const mwl__node *root,
                             uint32_t vocabularies, const char *uri, size_t len) {
    if (!MWL__ROOM(b, b->resources)) return NONE;
    mwl__schema_resource r = {"", 0, root, doc, vocabularies};
    b->resources.at[b->resources.n++] = r;
    name_resource(b, (uint32_t)b->resources.n - 1, uri, len);
    return b->status == MWL_OK ? (uint32_t)b->resources.n - 1 : NONE;
}

/* Returns the vocabularies that `$vocabulary` of a meta-schema names. */
static bool read_vocabularies(const mwl__node *root, uint32_t *out) {
    const mwl__node *list = mwl__node_get(root, "$vocabulary");
    if (!list || list->kind != MWL_NODE_OBJECT) return true;
    *out = MWL__VOC_CORE | MWL__VOC_PREFIX | MWL__VOC_DEPENDENT;
    for (const mwl__node *c = mwl__node_first(list); c; c = c->next) {
        uint32_t bit = mwl__schema_vocabulary(c->key, c->key_len);
        if (!bit && c->kind == MWL_NODE_BOOL && c->boolean) return false;
        *out |= bit;
    }
    return true;
}

static const struct {
    const char *uri;
    uint32_t vocabularies;
} dialects[] = {
    {"https://json-schema.org/draft/2020-12/schema", MWL__VOC_DIALECT},
    {"https://json-schema.org/draft/2019-09/schema",
     (MWL__VOC_DIALECT & ~MWL__VOC_PREFIX) | MWL__VOC_TUPLES},
    {"http://json-schema.org/draft-07/schema",
     (MWL__VOC_DIALECT & ~MWL__VOC_PREFIX & ~MWL__VOC_DEPENDENT) | MWL__VOC_TUPLES},
};

/* Reads `$schema` at the root of a resource, the only place where it is allowed. Documents of
 * others may use older dialects; the schemas of a definition may not. */
static void read_dialect(mwl__schema_build *b, mwl__schema_doc *doc, const mwl__node *at,
                         uint32_t *vocabularies) {
    size_t len = at->count;
    bool usable = false;
    if (len && at->as.text[len - 1] == '#') len--;
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        if (strlen(dialects[i].uri) != len || memcmp(dialects[i].uri, at->as.text, len) != 0)
            continue;
        if (i > 0 && !b->options->resolve) break;
        *vocabularies = dialects[i].vocabularies;
        return;
    }
    uint32_t known = find_uri(b, at->as.text, len);
    const mwl__node *root = known == NONE ? NULL : b->resources.at[known].root;
    if (!root) {
        mwl__schema_doc *meta = load_doc(b, at->as.text, len, &usable);
        if (meta && usable) root = meta->root;
    }
    if (root && read_vocabularies(root, vocabularies)) return;
    mwl__diag *d = mwl__node_report(doc->tree, at, MWL_DIAG_UNSUPPORTED_DIALECT,
                                    "unsupported dialect '%.*s'", MWL__NODE_TEXT(at));
    mwl__diag_help(d, "schemas are JSON Schema 2020-12: "
                      "https://json-schema.org/draft/2020-12/schema");
}

/* `$id` makes the place a resource, or gives the root of the document another name. */
static void read_id(mwl__schema_build *b, uint32_t place, const mwl__node *id) {
    const mwl__node *node = b->places.at[place].node;
    uint32_t resource = b->places.at[place].resource;
    mwl__schema_resource *r = &b->resources.at[resource];
    mwl__buf uri = mwl__buf_make(b->alloc);
    size_t fragment = 0;
    mwl__uri_resolve(r->uri, r->uri_len, id->as.text, id->count, &uri, &fragment);
    if (uri.failed)
        (void)mwl__schema_stop(b, MWL_E_NOMEM);
    else if (r->root == node)
        name_resource(b, resource, uri.data, uri.len);
    else
        b->places.at[place].resource =
            add_resource(b, r->doc, node, r->vocabularies, uri.data, uri.len);
    mwl__buf_free(&uri);
}

static void add_anchor(mwl__schema_build *b, uint32_t place, const mwl__node *name, bool dynamic) {
    if (!name || name->kind != MWL_NODE_STRING || !MWL__ROOM(b, b->anchors)) return;
    mwl__schema_anchor a = {name->as.text, name->count, b->places.at[place].resource,
                            b->places.at[place].node, dynamic};
    b->anchors.at[b->anchors.n++] = a;
}

/* ---- walking a document ---------------------------------------------------------------------- */

static void visit_new(mwl__schema_build *b, uint32_t parent, const mwl__node *schema) {
    bool fresh = false;
    uint32_t place = add_place(b, schema, b->places.at[parent].resource, &fresh);
    if (place == NONE || !fresh || !MWL__ROOM(b, b->queue)) return;
    b->queue.at[b->queue.n++] = place;
}

static void read_schema(mwl__schema_build *b, uint32_t place) {
    const mwl__node *node = b->places.at[place].node;
    mwl__schema_doc *doc = b->resources.at[b->places.at[place].resource].doc;
    if (node->kind == MWL_NODE_BOOL) return;
    if (node->kind != MWL_NODE_OBJECT) {
        mwl__diag *d = mwl__node_report(doc->tree, node, MWL_DIAG_INVALID_SCHEMA,
                                        "a schema must be an object, true or false");
        mwl__diag_text(d, "this is %s", mwl__node_kind_name(node));
        return;
    }
    const mwl__node *id = mwl__node_get(node, "$id");
    if (id && id->kind == MWL_NODE_STRING) read_id(b, place, id);
    uint32_t resource = b->places.at[place].resource;
    if (b->status != MWL_OK) return;
    const mwl__node *dialect = mwl__node_get(node, "$schema");
    if (dialect && dialect->kind == MWL_NODE_STRING && b->resources.at[resource].root == node) {
        uint32_t vocabularies = b->resources.at[resource].vocabularies;
        read_dialect(b, doc, dialect, &vocabularies);
        b->resources.at[resource].vocabularies = vocabularies;
    }
    add_anchor(b, place, mwl__node_get(node, "$anchor"), false);
    add_anchor(b, place, mwl__node_get(node, "$dynamicAnchor"), true);
    uint32_t vocabularies = b->resources.at[resource].vocabularies;
    for (const mwl__node *c = mwl__node_first(node); c && b->status == MWL_OK; c = c->next) {
        const mwl__keyword *k = mwl__keyword_find(c->key, c->key_len);
        if (!k) {
            bool reported = b->options->parameters && node == doc->root && doc->main &&
                            mwl__schema_is_bare(node);
            if (!reported) mwl__keyword_unknown(doc, c);
        } else if (k->vocabulary & vocabularies) {
            mwl__keyword_check(b, doc, k, c, vocabularies);
            visit_below(b, place, k, c, visit_new);
        }
    }
}

/* Visits everything below a new place. The queue is used as a stack above its present end. */
static uint32_t read_below(mwl__schema_build *b, const mwl__node *node, uint32_t resource) {
    size_t bottom = b->queue.n;
    bool fresh = false;
    uint32_t place = add_place(b, node, resource, &fresh);
    if (place == NONE || !fresh) return place;
    read_schema(b, place);
    while (b->queue.n > bottom && b->status == MWL_OK) read_schema(b, b->queue.at[--b->queue.n]);
    b->queue.n = bottom;
    return place;
}

void mwl__schema_index(mwl__schema_build *b, mwl__schema_doc *doc, const mwl__node *root,
                       const char *uri, size_t uri_len) {
    uint32_t r = add_resource(b, doc, root, MWL__VOC_DIALECT, uri, uri_len);
    if (r != NONE) (void)read_below(b, root, r);
}

/* ---- documents of others --------------------------------------------------------------------- */

/* Returns NULL if it does not exist. It stays in the list even if it cannot be used. */
static mwl__schema_doc *load_doc(mwl__schema_build *b, const char *uri, size_t len, bool *usable) {
    size_t text_len = 0;
    const char *text = mwl__schema_meta(uri, len, &text_len);
    *usable = false;
    if (!text && b->options->resolve &&
        b->options->resolve(b->options->ctx, uri, len, &text, &text_len) != MWL_OK)
        text = NULL;
    if (!text) return NULL;
    mwl__schema_doc *doc = mwl__arena_new(&b->arena, sizeof *doc);
    char *name = mwl__arena_text(&b->arena, uri, len);
    if (!doc || !name || mwl__source_init(&doc->source, b->alloc, name, text, text_len) < 0) {
        (void)mwl__schema_stop(b, MWL_E_NOMEM);
        return NULL;
    }
    mwl__diags_init(&doc->sink, b->alloc);
    doc->next = b->docs;
    b->docs = doc;
    doc->tree = &doc->own;
    mwl_status st = mwl__tree_read(&doc->own, b->alloc, &doc->source, &doc->sink);
    if (st == MWL_E_NOMEM) (void)mwl__schema_stop(b, st);
    doc->root = doc->own.root;
    if (st != MWL_OK) return doc;
    mwl__schema_index(b, doc, doc->root, name, len);
    if (doc->sink.status < 0) (void)mwl__schema_stop(b, doc->sink.status);
    *usable = doc->sink.n_errors == 0 && b->status == MWL_OK;
    return doc;
}

/* ---- references ------------------------------------------------------------------------------ */

static void percent_decode(const char *s, size_t len, mwl__buf *out) {
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '%' && i + 2 < len && mwl__hex_value(s[i + 1]) >= 0 &&
            mwl__hex_value(s[i + 2]) >= 0) {
            mwl__buf_putc(out, (char)(mwl__hex_value(s[i + 1]) * 16 + mwl__hex_value(s[i + 2])));
            i += 2;
        } else {
            mwl__buf_putc(out, s[i]);
        }
    }
}

static const mwl__node *child_named(const mwl__node *n, const char *name, size_t len) {
    if (n->kind == MWL_NODE_OBJECT) return mwl__node_find(n, name, len);
    if (n->kind != MWL_NODE_ARRAY || len == 0 || len > 9 || (len > 1 && name[0] == '0'))
        return NULL;
    uint32_t at = 0;
    for (size_t i = 0; i < len; i++) {
        if (!mwl__is_digit(name[i])) return NULL;
        at = at * 10 + (uint32_t)(name[i] - '0');
    }
    const mwl__node *c = mwl__node_first(n);
    while (c && at--) c = c->next;
    return c;
}

/* Follows a JSON Pointer from the root of a resource; *resource becomes the innermost resource on
 * the way. Returns NULL if there is no such node; then *last is the last node on the way and
 * `token` is the name that was not found. */
static const mwl__node *follow(mwl__schema_build *b, uint32_t *resource, const char *s, size_t len,
                               const mwl__node **last, mwl__buf *token) {
    const mwl__node *n = b->resources.at[*resource].root;
    size_t at = 0;
    while (at < len) {
        token->len = 0;
        for (at++; at < len && s[at] != '/'; at++) {
            bool escaped = s[at] == '~' && at + 1 < len && (s[at + 1] == '0' || s[at + 1] == '1');
            mwl__buf_putc(token, !escaped ? s[at] : s[++at] == '1' ? '/' : '~');
        }
        if (token->failed) return NULL;
        const mwl__node *next = child_named(n, token->len ? token->data : "", token->len);
        *last = n;
        if (!next) return NULL;
        n = next;
        uint32_t place = find_place(b, n);
        if (place != NONE && b->resources.at[b->places.at[place].resource].root == n)
            *resource = b->places.at[place].resource;
    }
    return n;
}

static void unresolved(mwl__schema_build *b, mwl__schema_doc *doc, const mwl__node *ref,
                       const char *why, const mwl__node *among, const mwl__buf *token) {
    mwl__diag *d = mwl__node_report(doc->tree, ref, MWL_DIAG_UNRESOLVED_REFERENCE,
                                    "'%.*s' leads nowhere", MWL__NODE_TEXT(ref));
    if (!d) return;
    (void)b;
    mwl__diag_text(d, "%s", why);
    if (!among || !token || !token->len) return;
    mwl__suggest s = mwl__suggest_make(token->data, token->len);
    for (const mwl__node *c = mwl__node_first(among); c; c = c->next)
        if (c->key) mwl__suggest_offer(&s, c->key, c->key_len);
    if (s.best) mwl__diag_help(d, "did you mean '%.*s'?", (int)s.best_len, s.best);
}

static const mwl__schema_anchor *find_anchor(const mwl__schema_build *b, uint32_t resource,
                                             const char *name, size_t len) {
    for (size_t i = 0; i < b->anchors.n; i++) {
        const mwl__schema_anchor *a = &b->anchors.at[i];
        if (a->resource == resource && a->name_len == len && memcmp(a->name, name, len) == 0)
            return a;
    }
    return NULL;
}

/* Returns the resource that a URI names; gets its document if it is new. */
static uint32_t need_resource(mwl__schema_build *b, mwl__schema_doc *from, const mwl__node *ref,
                              const mwl__buf *uri) {
    const char *text = uri->len ? uri->data : "";
    uint32_t r = find_uri(b, text, uri->len);
    bool usable = false;
    if (r != NONE) return r;
    mwl__schema_doc *doc = load_doc(b, text, uri->len, &usable);
    if (b->status != MWL_OK) return NONE;
    if (!doc) {
        unresolved(b, from, ref,
                   b->options->resolve ? "there is no such document"
                                       : "it is another document, and nothing is fetched",
                   NULL, NULL);
    } else if (!usable) {
        mwl__diags_sort(&doc->sink);
        const char *why = doc->sink.n_items ? doc->sink.items[0]->message : "it has errors";
        unresolved(b, from, ref, why, NULL, NULL);
    }
    return doc && usable ? find_uri(b, text, uri->len) : NONE;
}

/* Returns the place that a reference leads to, or NONE after a report. *anchor is the dynamic
 * anchor that it names. */
static uint32_t resolve(mwl__schema_build *b, uint32_t place, const mwl__node *ref,
                        const mwl__schema_anchor **anchor) {
    mwl__schema_resource *base = &b->resources.at[b->places.at[place].resource];
    mwl__schema_doc *doc = base->doc;
    mwl__buf uri = mwl__buf_make(b->alloc), fragment = mwl__buf_make(b->alloc);
    mwl__buf token = mwl__buf_make(b->alloc);
    const mwl__node *target = NULL, *last = NULL;
    size_t hash = 0;
    uint32_t found = NONE;
    mwl__uri_resolve(base->uri, base->uri_len, ref->as.text, ref->count, &uri, &hash);
    if (hash < ref->count)
        percent_decode(ref->as.text + hash + 1, ref->count - hash - 1, &fragment);
    uint32_t r = uri.failed || fragment.failed ? NONE : need_resource(b, doc, ref, &uri);
    if (r == NONE) goto out;
    if (fragment.len == 0 || fragment.data[0] == '/') {
        target = follow(b, &r, fragment.data, fragment.len, &last, &token);
        if (!target && !token.failed)
            unresolved(b, doc, ref, "there is no such place", last, &token);
    } else {
        const mwl__schema_anchor *a = find_anchor(b, r, fragment.data, fragment.len);
        if (!a) unresolved(b, doc, ref, "there is no such anchor", NULL, NULL);
        if (a) target = a->node;
        if (a && a->dynamic) *anchor = a;
    }
    if (!target) goto out;
    if (target->kind != MWL_NODE_OBJECT && target->kind != MWL_NODE_BOOL)
        unresolved(b, doc, ref, "what is there is no schema", NULL, NULL);
    else
        found = read_below(b, target, r);
out:
    if (uri.failed || fragment.failed || token.failed) (void)mwl__schema_stop(b, MWL_E_NOMEM);
    mwl__buf_free(&uri);
    mwl__buf_free(&fragment);
    mwl__buf_free(&token);
    return found;
}

/* ---- linking --------------------------------------------------------------------------------- */

static void make_live(mwl__schema_build *b, uint32_t place) {
    if (place == NONE || b->places.at[place].live || !MWL__ROOM(b, b->queue)) return;
    b->places.at[place].live = true;
    b->queue.at[b->queue.n++] = place;
}

static void visit_live(mwl__schema_build *b, uint32_t parent, const mwl__node *schema) {
    (void)parent;
    make_live(b, find_place(b, schema));
}

static void link_place(mwl__schema_build *b, uint32_t place) {
    const mwl__node *node = b->places.at[place].node;
    if (node->kind != MWL_NODE_OBJECT) return;
    uint32_t resource = b->places.at[place].resource;
    uint32_t vocabularies = b->resources.at[resource].vocabularies;
    bool main = b->resources.at[resource].doc->main;
    const mwl__schema_anchor *anchor = NULL;
    const mwl__node *ref = mwl__node_get(node, "$ref");
    if (ref && ref->kind == MWL_NODE_STRING) {
        uint32_t target = resolve(b, place, ref, &anchor);
        b->places.at[place].ref = target;
        make_live(b, target);
    }
    ref = mwl__node_get(node, "$dynamicRef");
    if (ref && ref->kind == MWL_NODE_STRING && (vocabularies & MWL__VOC_PREFIX)) {
        anchor = NULL;
        uint32_t target = resolve(b, place, ref, &anchor);
        b->places.at[place].dynamic = target;
        b->places.at[place].anchored = anchor != NULL;
        b->dynamic = b->dynamic || anchor;
        make_live(b, target);
    }
    for (const mwl__node *c = mwl__node_first(node); c && b->status == MWL_OK; c = c->next) {
        const mwl__keyword *k = mwl__keyword_find(c->key, c->key_len);
        if (k && (k->vocabulary & vocabularies) && (main || !k->definitions))
            visit_below(b, place, k, c, visit_live);
    }
}

void mwl__schema_link(mwl__schema_build *b, uint32_t place) {
    size_t n_anchors = 0;
    b->queue.n = 0;
    make_live(b, place);
    for (;;) {
        while (b->queue.n && b->status == MWL_OK) link_place(b, b->queue.at[--b->queue.n]);
        if (b->status != MWL_OK || !b->dynamic || n_anchors == b->anchors.n) break;
        n_anchors = b->anchors.n; /* a dynamic reference may lead to any of them */
        for (size_t i = 0; i < n_anchors; i++)
            if (b->anchors.at[i].dynamic) make_live(b, find_place(b, b->anchors.at[i].node));
    }
    b->queue.n = 0;
}
