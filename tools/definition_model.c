/* definition_model.c: see definition_model.h. */
#include "definition_model.h"

#include "cmd.h"
#include "io_host.h"
#include "term.h"
#include "tool_functions.h"

#include <stdio.h>
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
    status = mwl__catalog_library(m->catalog, io_host_documents(), &m->sink);
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

static mwl_status read_model(struct definition_model *m, const struct definition *d,
                             const char *path, const char *text, size_t len) {
    mwl_status providers = MWL_OK;
    mwl_status status = mwl__source_init(&m->source, m->alloc, file_in_name(path), text, len);
    if (status == MWL_OK) status = set_levels(m, d);
    if (status == MWL_OK) status = tool_add_functions(&m->functions);
    if (status == MWL_OK) providers = add_providers(m, d);
    if (status != MWL_OK || providers == MWL_E_NOMEM) return status != MWL_OK ? status : providers;
    status = mwl__tree_read(&m->tree, m->alloc, &m->source, &m->sink);
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
    mwl_status status = read_model(m, d, path, text, len);
    if (!quiet) print(m, d);
    if (status == MWL_OK) return CMD_OK;
    return status == MWL_E_REJECTED ? CMD_REJECTED : definition_failed(d, path, status);
}

void definition_model_free(struct definition_model *m) {
    mwl__model_free(&m->model);
    mwl__tree_free(&m->tree);
    mwl__catalog_free(m->catalog);
    mwl__functions_done(&m->functions);
    mwl__diags_free(&m->sink);
    mwl__source_free(&m->source);
    for (size_t i = 0; i < m->n_providers; i++) mwl__source_free(&m->providers[i]);
    mwl__mem_free(&m->alloc, m->providers, m->n_providers * sizeof *m->providers);
}
