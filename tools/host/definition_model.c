/* definition_model.c: see definition_model.h. */
#include "tools/host/definition_model.h"

#include "tools/host/answers.h"
#include "tools/base/tool_functions.h"

#include <stdlib.h>

static mwl_status add_providers(struct definition_model *m, const struct definition_text *t) {
    mwl_status status = MWL_OK;
    m->catalog = mwl__catalog_new(&m->alloc);
    if (!m->catalog) return MWL_E_NOMEM;
    status = mwl__catalog_library(m->catalog, t->library, &m->sink);
    if (status < 0 || !t->n_providers) return status;
    m->providers = mwl__mem_zero(&m->alloc, t->n_providers, sizeof *m->providers);
    if (!m->providers) return MWL_E_NOMEM;
    m->n_providers = t->n_providers;
    for (size_t i = 0; i < t->n_providers; i++) {
        const mwl_asm_provider *p = &t->providers[i];
        mwl_status one = mwl__source_init(&m->providers[i], m->alloc, p->file, p->text, p->len);
        if (one == MWL_OK) one = mwl__catalog_add(m->catalog, &m->providers[i], &m->sink);
        if (one == MWL_E_NOMEM) return one;
        if (one < 0) status = one;
    }
    return status;
}

/* The next node of the tree: children before brothers. */
static const mwl__node *next_node(const mwl__node *n) {
    if (mwl__node_first(n)) return mwl__node_first(n);
    while (n && !n->next) n = n->parent;
    return n ? n->next : NULL;
}

/* Adds a document for a provider that has none. */
static mwl_status stand_in(struct definition_model *m, const mwl__node *n) {
    char *uri = mwl__arena_text(&m->tree.arena, n->as.text, n->count);
    void *made = m->made;
    if (!uri || mwl__mem_grow(&m->alloc, &made, &m->cap_made, m->n_made + 1, sizeof *m->made) < 0)
        return MWL_E_NOMEM;
    m->made = made;
    char *text = answers_document(uri);
    if (!text) return MWL_OK; /* not the URI of a call provider: the check reports it */
    m->made[m->n_made] = (mwl_asm_document){.uri = uri, .text = text, .stands_in = true};
    const mwl_asm_document list[] = {m->made[m->n_made++], {.uri = NULL}};
    return mwl__catalog_library(m->catalog, list, &m->sink);
}

/* The call providers that nothing describes. One of the namespace `mwl` is a mistake. */
static mwl_status stand_in_all(struct definition_model *m) {
    mwl_status status = MWL_OK;
    for (const mwl__node *n = m->tree.root; n && status == MWL_OK; n = next_node(n)) {
        const mwl__contract *found;
        mwl__uri uri;
        if (n->kind != MWL_NODE_STRING || !mwl__node_key_is(n, "provider")) continue;
        if (mwl__uri_parse(n->as.text, n->count, &uri) != MWL__URI_OK || uri.is_middleware ||
            (uri.ns_len == 3 && memcmp(uri.ns, "mwl", 3) == 0) ||
            mwl__catalog_refused(m->catalog, n->as.text, n->count))
            continue;
        status = mwl__catalog_find(m->catalog, n->as.text, n->count, &found);
        if (status == MWL_E_NOT_FOUND) status = stand_in(m, n);
        if (status == MWL_E_REJECTED) status = MWL_OK; /* the check reports it */
    }
    return status;
}

void definition_model_init(struct definition_model *m, mwl_alloc alloc) {
    memset(m, 0, sizeof *m);
    m->alloc = alloc;
    mwl__diags_init(&m->sink, alloc);
    mwl__functions_init(&m->functions, NULL);
}

mwl_status definition_model_check(struct definition_model *m, const struct definition_text *t) {
    mwl_status providers = MWL_OK;
    mwl_status status = mwl__source_init(&m->source, m->alloc, t->name, t->text, t->len);
    if (status == MWL_OK) status = tool_add_functions(&m->functions);
    if (status == MWL_OK) providers = add_providers(m, t);
    if (status != MWL_OK || providers == MWL_E_NOMEM) return status != MWL_OK ? status : providers;
    status = mwl__tree_read(&m->tree, m->alloc, &m->source, &m->sink);
    if (m->tree.root && stand_in_all(m) == MWL_E_NOMEM) return MWL_E_NOMEM;
    if (m->tree.root && status != MWL_E_NOMEM) {
        mwl_status checked = mwl__model_check(&m->model, &m->tree, m->catalog, m->functions.defs,
                                              m->functions.n_defs);
        if (status == MWL_OK || checked == MWL_E_NOMEM) status = checked;
    }
    if (status == MWL_OK) status = providers;
    if (status == MWL_OK && m->sink.n_errors) status = MWL_E_REJECTED;
    return status == MWL_OK ? m->sink.status : status;
}

void definition_model_free(struct definition_model *m) {
    mwl__model_free(&m->model);
    mwl__tree_free(&m->tree);
    mwl__catalog_free(m->catalog);
    mwl__functions_done(&m->functions);
    mwl__diags_free(&m->sink);
    mwl__source_free(&m->source);
    for (size_t i = 0; i < m->n_providers; i++) mwl__source_free(&m->providers[i]);
    for (size_t i = 0; i < m->n_made; i++) free((char *)(uintptr_t)m->made[i].text);
    mwl__mem_free(&m->alloc, m->made, m->cap_made * sizeof *m->made);
    mwl__mem_free(&m->alloc, m->providers, m->n_providers * sizeof *m->providers);
}
