/* definition_model.c: see definition_model.h. */
#include "definition_model.h"

#include "answers.h"
#include "cmd.h"
#include "io_host.h"
#include "term.h"
#include "tool_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static mwl_status set_levels(struct definition_model *m, const struct definition *d) {
    mwl_status status = MWL_OK;
    for (size_t i = 0; i < d->n_allow && status == MWL_OK; i++)
        status = mwl__diags_allow(&m->sink, d->allow[i]);
    for (size_t i = 0; i < d->n_deny && status == MWL_OK; i++)
        status = mwl__diags_deny(&m->sink, d->deny[i]);
    return status;
}

static mwl_status add_providers(struct definition_model *m, const struct definition *d) {
    mwl_status status = MWL_OK;
    m->catalog = mwl__catalog_new(&m->alloc);
    if (!m->catalog) return MWL_E_NOMEM;
    status =
        mwl__catalog_library(m->catalog, d->library ? d->library : io_host_documents(), &m->sink);
    if (status < 0 || !d->n_providers) return status;
    m->providers = mwl__mem_zero(&m->alloc, d->n_providers, sizeof *m->providers);
    if (!m->providers) return MWL_E_NOMEM;
    m->n_providers = d->n_providers;
    for (size_t i = 0; i < d->n_providers; i++) {
        const mwl_asm_provider *p = &d->providers[i];
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
static mwl_status stand_in(struct definition_model *m, const mwl__node *n, bool quiet) {
    char *uri = mwl__arena_text(&m->tree.arena, n->as.text, n->count);
    void *made = m->made;
    if (!uri || mwl__mem_grow(&m->alloc, &made, &m->cap_made, m->n_made + 1, sizeof *m->made) < 0)
        return MWL_E_NOMEM;
    m->made = made;
    char *text = answers_document(uri);
    if (!text) return MWL_OK; /* not the URI of a call provider: the check reports it */
    m->made[m->n_made++] = text;
    const mwl_asm_document list[] = {{.uri = uri, .text = text, .stands_in = true}, {.uri = NULL}};
    if (!quiet) cmd_note("there is no document of '%s'; it is drawn by its name", uri);
    return mwl__catalog_library(m->catalog, list, &m->sink);
}

/* The call providers that nothing describes. One of the namespace `mwl` is a mistake. */
static mwl_status stand_in_all(struct definition_model *m, bool quiet) {
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
        if (status == MWL_E_NOT_FOUND) status = stand_in(m, n, quiet);
        if (status == MWL_E_REJECTED) status = MWL_OK; /* the check reports it */
    }
    return status;
}

static mwl_status read_model(struct definition_model *m, const struct definition *d,
                             const char *path, const char *text, size_t len, bool quiet) {
    mwl_status providers = MWL_OK;
    mwl_status status = mwl__source_init(&m->source, m->alloc, file_in_name(path), text, len);
    if (status == MWL_OK) status = set_levels(m, d);
    if (status == MWL_OK) status = tool_add_functions(&m->functions);
    if (status == MWL_OK) providers = add_providers(m, d);
    if (status != MWL_OK || providers == MWL_E_NOMEM) return status != MWL_OK ? status : providers;
    status = mwl__tree_read(&m->tree, m->alloc, &m->source, &m->sink);
    if (m->tree.root && stand_in_all(m, quiet) == MWL_E_NOMEM) return MWL_E_NOMEM;
    if (m->tree.root && status != MWL_E_NOMEM) {
        mwl_status checked = mwl__model_check(&m->model, &m->tree, m->catalog, m->functions.defs,
                                              m->functions.n_defs);
        if (status == MWL_OK || checked == MWL_E_NOMEM) status = checked;
    }
    if (status == MWL_OK) status = providers;
    if (status == MWL_OK && m->sink.n_errors) status = MWL_E_REJECTED;
    return status == MWL_OK ? m->sink.status : status;
}

static void print(struct definition_model *m, const struct definition *d) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__diags_render(&m->sink, (mwl__diag_format)d->options.format, term_colour(STDERR_FILENO),
                      &out);
    if (!out.failed && out.len) fwrite(out.data, 1, out.len, stderr);
    mwl__buf_free(&out);
}

int definition_model_read(struct definition_model *m, struct definition *d, const char *path,
                          const char *text, size_t len, bool quiet) {
    memset(m, 0, sizeof *m);
    m->alloc = limits_alloc(&d->limits);
    mwl__diags_init(&m->sink, m->alloc);
    m->sink.guide = cmd_guide;
    mwl__functions_init(&m->functions, NULL);
    int paid = definition_pay(d, path, len);
    if (paid != CMD_OK) return paid;
    definition_begin(d, &m->sink);
    mwl_status status = read_model(m, d, path, text, len, quiet);
    if (!quiet) print(m, d);
    int ended = definition_spent(d, path);
    if (status != MWL_OK && status != MWL_E_REJECTED) ended = definition_failed(d, path, status);
    d->quota = NULL;
    return status == MWL_E_REJECTED && ended == CMD_OK ? CMD_REJECTED : ended;
}

void definition_model_free(struct definition_model *m) {
    mwl__model_free(&m->model);
    mwl__tree_free(&m->tree);
    mwl__catalog_free(m->catalog);
    mwl__functions_done(&m->functions);
    mwl__diags_free(&m->sink);
    mwl__source_free(&m->source);
    for (size_t i = 0; i < m->n_providers; i++) mwl__source_free(&m->providers[i]);
    for (size_t i = 0; i < m->n_made; i++) free(m->made[i]);
    mwl__mem_free(&m->alloc, m->made, m->cap_made * sizeof *m->made);
    mwl__mem_free(&m->alloc, m->providers, m->n_providers * sizeof *m->providers);
}
