/* schema_compile.c: compiles a schema of a document, into an image or into memory.
 *
 * Owns: the order of the work (index, link, write, patch), the language's own rules for
 * `parameters`, and the two forms of the output. */
#include "assembler/schema/schema_build.h"

#include "vm/base/suggest.h"

#define NONE MWL__SCHEMA_NONE

mwl__schema_options mwl__schema_parameters(void) {
    mwl__schema_options o = {.parameters = true, .assert_formats = true};
    return o;
}

/* ---- the language's rules -------------------------------------------------------------------- */

bool mwl__schema_is_bare(const mwl__node *node) {
    if (node->kind != MWL_NODE_OBJECT || node->count == 0) return false;
    for (const mwl__node *c = mwl__node_first(node); c; c = c->next)
        if (c->kind != MWL_NODE_OBJECT || mwl__keyword_find(c->key, c->key_len)) return false;
    return true;
}

/* Reports a name of `required` that no property has. */
static void report_undeclared(mwl__tree *tree, const mwl__node *name, const mwl__node *properties) {
    mwl__diag *d = mwl__node_report(tree, name, MWL_DIAG_REQUIRED_UNDECLARED,
                                    "'%.*s' is required, and not declared", MWL__NODE_TEXT(name));
    if (!d) return; /* it is not shown */
    mwl__suggest s = mwl__suggest_make(name->as.text, name->count);
    for (const mwl__node *p = properties ? mwl__node_first(properties) : NULL; p; p = p->next)
        mwl__suggest_offer(&s, p->key, p->key_len);
    if (!s.best) return;
    mwl__diag_help(d, "did you mean '%.*s'?", (int)s.best_len, s.best);
    mwl__diag_fix_string(d, mwl__node_span(name), s.best, s.best_len);
}

static void check_parameters(mwl__tree *tree, const mwl__node *node) {
    const mwl__node *type = mwl__node_get(node, "type");
    if (node->kind != MWL_NODE_OBJECT) return; /* reported elsewhere, or a boolean */
    if (!type) {
        mwl__diag *d = mwl__node_report(tree, node, MWL_DIAG_PARAMETERS_NOT_OBJECT,
                                        "the schema of parameters has no \"type\": \"object\"");
        if (!d) return;
        if (mwl__schema_is_bare(node)) {
            static const char before[] = "{ \"type\": \"object\", \"properties\": ";
            mwl__diag_help(d, "the parameters stand in 'properties': { \"type\": \"object\", "
                              "\"properties\": { ... } }");
            mwl__diag_fix(d, mwl__span_make(node->offset, node->offset), before, sizeof before - 1);
            mwl__diag_fix(d, mwl__span_make(node->end, node->end), " }", 2);
        } else {
            static const char line[] = " \"type\": \"object\",";
            mwl__diag_help(d, "write \"type\": \"object\"");
            if (node->count)
                mwl__diag_fix(d, mwl__span_make(node->offset + 1, node->offset + 1), line,
                              sizeof line - 1);
        }
    } else if (!mwl__node_is(type, "object")) {
        (void)mwl__node_report(tree, type, MWL_DIAG_PARAMETERS_NOT_OBJECT,
                               "the schema of parameters must be of type \"object\"");
    }
    if (mwl__node_get(node, "additionalProperties") || mwl__node_get(node, "patternProperties"))
        return;
    const mwl__node *required = mwl__node_get(node, "required"),
                    *properties = mwl__node_get(node, "properties");
    for (const mwl__node *c = required ? mwl__node_first(required) : NULL; c; c = c->next)
        if (c->kind == MWL_NODE_STRING && !mwl__node_find(properties, c->as.text, c->count))
            report_undeclared(tree, c, properties);
}

static void check_top(mwl__schema_build *b, mwl__tree *tree, const mwl__node *node) {
    if (!b->options->parameters) return;
    if (node->kind == MWL_NODE_BOOL)
        (void)mwl__node_report(tree, node, MWL_DIAG_PARAMETERS_NOT_OBJECT,
                               "the schema of parameters must be of type \"object\"");
    else
        check_parameters(tree, node);
}

/* ---- building -------------------------------------------------------------------------------- */

static void build_free(mwl__schema_build *b) {
    while (b->docs) {
        mwl__schema_doc *doc = b->docs;
        b->docs = doc->next;
        mwl__tree_free(&doc->own);
        mwl__diags_free(&doc->sink);
        mwl__source_free(&doc->source);
    }
#define FREE_LIST(list) mwl__mem_free(&b->alloc, b->list.at, b->list.cap * sizeof *b->list.at)
    for (size_t i = 0; i < b->consts.n; i++) mwl_value_drop(b->heap, b->consts.at[i]);
    FREE_LIST(consts);
    FREE_LIST(resources);
    FREE_LIST(uris);
    FREE_LIST(anchors);
    FREE_LIST(places);
    FREE_LIST(queue);
    FREE_LIST(words);
    FREE_LIST(node);
    FREE_LIST(fixups);
    FREE_LIST(patterns);
#undef FREE_LIST
    mwl__table_free(&b->place_table, &b->alloc);
    mwl__table_free(&b->const_table, &b->alloc);
    mwl_heap_free(b->heap);
    mwl__arena_free(&b->arena);
}

static void write_scoped(mwl__schema_build *b, mwl__schema_place *p) {
    mwl__schema_ins(b, MWL__SCHEMA_SCOPE);
    mwl__schema_arg(b, p->resource);
    mwl__schema_arg(b, p->offset);
    p->scoped = mwl__schema_close(b, MWL__TYPE_ANY);
}

static void patch(mwl__schema_build *b) {
    for (size_t i = 0; i < b->fixups.n && b->status == MWL_OK; i++) {
        mwl__schema_fixup f = b->fixups.at[i];
        mwl__schema_place *p = &b->places.at[f.place];
        if (f.scoped && p->scoped == NONE) write_scoped(b, p);
        if (b->status == MWL_OK) b->words.at[f.at] = f.scoped ? p->scoped : p->offset;
    }
}

/* Writes the code of every place that can be reached from the root. */
static void write_all(mwl__schema_build *b, uint32_t root) {
    for (int i = 0; i < MWL__SCHEMA_H_SIZE; i++) mwl__schema_put(b, 0);
    b->node_true = mwl__schema_close(b, MWL__TYPE_ANY);
    b->node_false = mwl__schema_close(b, 0);
    b->places.at[root].queued = true;
    b->places.at[root].offset = mwl__schema_write_node(b, root, true);
    for (size_t i = 0; i < b->queue.n && b->status == MWL_OK; i++) {
        uint32_t place = b->queue.at[i];
        if (b->places.at[place].offset == NONE)
            b->places.at[place].offset = mwl__schema_write_node(b, place, false);
    }
    patch(b);
    mwl__schema_place *p = &b->places.at[root];
    if (b->dynamic && b->status == MWL_OK && p->scoped == NONE) write_scoped(b, p);
    if (b->status != MWL_OK) return;
    b->words.at[MWL__SCHEMA_H_MAGIC] = MWL__SCHEMA_MAGIC;
    b->words.at[MWL__SCHEMA_H_FLAGS] =
        (b->options->rfc3339_duration ? MWL__SCHEMA_RFC3339_DURATION : 0u) |
        (b->options->parameters ? MWL__SCHEMA_PARAMETERS : 0u);
    b->words.at[MWL__SCHEMA_H_ROOT] = b->dynamic ? p->scoped : p->offset;
    b->words.at[MWL__SCHEMA_H_CONSTS] = (uint32_t)b->consts.n;
    b->words.at[MWL__SCHEMA_H_PATTERNS] = (uint32_t)b->patterns.n;
}

/* Appends the numbers of the constants, as `number` returns them, and the patterns. Then the words
 * are complete. */
static void finish(mwl__schema_build *b, uint32_t (*number)(void *ctx, mwl_value v, uint32_t i),
                   void *ctx) {
    if (b->status != MWL_OK) return;
    for (size_t i = 0; i < b->consts.n; i++)
        mwl__schema_put(b, number(ctx, b->consts.at[i], (uint32_t)i));
    for (size_t i = 0; i < b->patterns.n; i++) mwl__schema_put(b, b->patterns.at[i]);
    if (b->status == MWL_OK) b->words.at[MWL__SCHEMA_H_WORDS] = (uint32_t)b->words.n;
}

static uint32_t number_in_memory(void *ctx, mwl_value v, uint32_t i) {
    (void)ctx;
    (void)v;
    return i;
}

/* ---- defaults -------------------------------------------------------------------------------- */

static void check_default(mwl__schema_build *b, mwl__schema_eval *e, mwl__tree *tree,
                          const mwl__node *property, const mwl__node *value) {
    uint32_t place = mwl__schema_place_of(b, property);
    mwl_value v = mwl__node_value(b->heap, value), report = mwl_absent();
    size_t len = 0;
    e->fuel = 1000000; /* a longer check is left to the run */
    if (mwl_is_absent(v)) {
        (void)mwl__schema_stop(b, mwl_heap_why(b->heap));
    } else if (place != NONE && !mwl__schema_run(e, b->places.at[place].offset, v) && !e->status) {
        report = mwl__schema_explain(e, b->places.at[place].offset, v);
        const char *why = mwl_as_text(mwl_get(report, "message"), &len);
        mwl__diag *d = why ? mwl__node_report(tree, value, MWL_DIAG_DEFAULT_MISMATCH,
                                              "the default breaks its own schema: %s", why)
                           : NULL;
        mwl__diag_note(d, "a default is bound as it is, without a check");
        mwl__diag_help(d, "change the default, or the schema beside it");
    }
    if (e->status == MWL_E_NOMEM) (void)mwl__schema_stop(b, MWL_E_NOMEM);
    e->status = MWL_OK;
    mwl_value_drop(b->heap, report);
    mwl_value_drop(b->heap, v);
}

/* A default is used without a check at run time, so a default that its own schema refuses is
 * probably a mistake. The compiled code is run here to find that out. */
static void check_defaults(mwl__schema_build *b, mwl__tree *tree, const mwl__node *node) {
    const mwl__node *properties = mwl__node_get(node, "properties");
    size_t n_words = b->words.n, n = 0;
    mwl__schema *schema = NULL;
    mwl__schema_env env = {.heap = b->heap};
    for (const mwl__node *c = properties ? mwl__node_first(properties) : NULL; c; c = c->next)
        n += mwl__node_get(c, "default") != NULL;
    if (n == 0 || !mwl__diags_wants(tree->sink, MWL_DIAG_DEFAULT_MISMATCH)) return;
    finish(b, number_in_memory, NULL);
    mwl_status st = b->status;
    if (st == MWL_OK) st = mwl__regex_scratch_new(&b->alloc, &env.scratch);
    if (st == MWL_OK)
        st = mwl__schema_load(&b->alloc, b->words.at, b->words.n, 0, b->consts.at,
                              (uint32_t)b->consts.n, &schema, NULL);
    if (st == MWL_OK) {
        mwl__schema_eval e = {
            .schema = schema, .words = schema->words, .consts = schema->consts, .env = &env};
        for (const mwl__node *c = mwl__node_first(properties); c; c = c->next) {
            const mwl__node *value = mwl__node_get(c, "default");
            if (value && b->status == MWL_OK) check_default(b, &e, tree, c, value);
        }
    } else {
        (void)mwl__schema_stop(b, st);
    }
    mwl__schema_free(schema);
    mwl__regex_scratch_free(env.scratch);
    b->words.n = n_words;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static mwl_status build(mwl__schema_build *b, mwl__tree *tree, const mwl__node *node,
                        const mwl__schema_options *options, mwl_alloc alloc) {
    size_t errors = tree->sink->n_errors;
    const char *base = options->base_uri ? options->base_uri : "";
    memset(b, 0, sizeof *b);
    b->alloc = alloc;
    b->arena = mwl__arena_make(alloc);
    b->options = options;
    b->main_doc.tree = tree;
    b->main_doc.root = node;
    b->main_doc.main = true;
    if (mwl_heap_new(&b->alloc, &b->heap) < 0) return b->status = MWL_E_NOMEM;
    check_top(b, tree, node);
    mwl__schema_index(b, &b->main_doc, node, base, strlen(base));
    uint32_t root = b->status == MWL_OK ? mwl__schema_place_of(b, node) : NONE;
    if (root != NONE && tree->sink->n_errors == errors) mwl__schema_link(b, root);
    if (b->status == MWL_OK && tree->sink->n_errors != errors) b->status = MWL_E_REJECTED;
    if (b->status == MWL_OK && tree->sink->status < 0) b->status = tree->sink->status;
    if (b->status == MWL_OK) write_all(b, root);
    if (b->status == MWL_OK && options->parameters) check_defaults(b, tree, node);
    if (b->status == MWL_OK && tree->sink->n_errors != errors) b->status = MWL_E_REJECTED;
    return b->status;
}

/* ---- ways out -------------------------------------------------------------------------------- */

static uint32_t number_in_image(void *ctx, mwl_value v, uint32_t i) {
    (void)i;
    return mwl__emit_const(ctx, v);
}

mwl_status mwl__schema_emit(mwl__tree *tree, const mwl__node *node,
                            const mwl__schema_options *options, mwl__emit *e, uint32_t *offset) {
    mwl__schema_build b;
    mwl_status st = build(&b, tree, node, options, tree->arena.alloc);
    if (st == MWL_OK) {
        finish(&b, number_in_image, e);
        st = b.status;
    }
    if (st == MWL_OK) {
        *offset = mwl__emit_record_count(e, MWL_SECTION_SCHEMAS);
        for (size_t i = 0; i < b.words.n; i++)
            (void)mwl__emit_record(e, MWL_SECTION_SCHEMAS, &b.words.at[i], sizeof b.words.at[i]);
        st = mwl__emit_status(e);
    }
    build_free(&b);
    return st;
}

/* Copies words and constants into blocks of exactly their size. */
static mwl_status take_out(mwl__schema_build *b, const mwl_alloc *alloc,
                           struct mwl__schema_own *own) {
    memset(own, 0, sizeof *own);
    own->words = mwl__mem_new(alloc, b->words.n * sizeof *own->words);
    own->consts = mwl__mem_new(alloc, b->consts.n * sizeof *own->consts);
    if (!own->words || (b->consts.n && !own->consts)) {
        mwl__mem_free(alloc, own->words, b->words.n * sizeof *own->words);
        mwl__mem_free(alloc, own->consts, b->consts.n * sizeof *own->consts);
        return MWL_E_NOMEM;
    }
    memcpy(own->words, b->words.at, b->words.n * sizeof *own->words);
    if (b->consts.n) memcpy(own->consts, b->consts.at, b->consts.n * sizeof *own->consts);
    own->n_words = (uint32_t)b->words.n;
    own->n_consts = (uint32_t)b->consts.n;
    own->heap = b->heap;
    b->heap = NULL;
    b->consts.n = 0;
    return MWL_OK;
}

mwl_status mwl__schema_compile(mwl__tree *tree, const mwl__node *node,
                               const mwl__schema_options *options, const mwl_alloc *alloc,
                               mwl__schema **out) {
    mwl__schema_build b;
    struct mwl__schema_own own;
    mwl_status st = build(&b, tree, node, options, *alloc);
    if (st == MWL_OK) {
        finish(&b, number_in_memory, NULL);
        st = b.status;
    }
    if (st == MWL_OK) st = take_out(&b, alloc, &own);
    if (st == MWL_OK) st = mwl__schema_make(alloc, own, out, NULL);
    build_free(&b);
    return st;
}

mwl_value mwl__schema_defaults(mwl_heap *heap, const mwl__node *node) {
    const mwl__node *properties = mwl__node_get(node, "properties");
    mwl_value all = mwl_object(heap, 0);
    for (const mwl__node *c = properties ? mwl__node_first(properties) : NULL;
         c && properties->kind == MWL_NODE_OBJECT; c = c->next) {
        const mwl__node *value = mwl__node_get(c, "default");
        if (value)
            all = mwl_object_set(heap, all, c->key, c->key_len, mwl__node_value(heap, value));
    }
    return all;
}
