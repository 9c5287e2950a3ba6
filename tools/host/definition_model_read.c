/* definition_model_read.c: the model of a definition that a command names; see definition_model.h.
 */
#include "tools/host/definition_model.h"

#include "tools/base/cmd.h"
#include "tools/words/guide.h"
#include "tools/host/io_host.h"
#include "tools/base/term.h"

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

static void print(struct definition_model *m, const struct definition *d) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__diags_render(&m->sink, (mwl__diag_format)d->options.format, term_colour(STDERR_FILENO),
                      &out);
    if (!out.failed && out.len) fwrite(out.data, 1, out.len, stderr);
    mwl__buf_free(&out);
}

int definition_model_read(struct definition_model *m, struct definition *d, const char *path,
                          const char *text, size_t len, bool quiet) {
    definition_model_init(m, limits_alloc(&d->limits));
    m->sink.guide = cmd_guide;
    int paid = definition_pay(d, path, len);
    if (paid != CMD_OK) return paid;
    definition_begin(d, &m->sink);
    const struct definition_text t = {
        .name = file_in_name(path),
        .text = text,
        .len = len,
        .providers = d->providers,
        .n_providers = d->n_providers,
        .library = d->library ? d->library : io_host_documents(),
    };
    mwl_status status = set_levels(m, d);
    if (status == MWL_OK) status = definition_model_check(m, &t);
    for (size_t i = 0; i < m->n_made && !quiet; i++)
        cmd_note("there is no document of '%s'; it is drawn by its name", m->made[i].uri);
    if (!quiet) print(m, d);
    int ended = definition_spent(d, path);
    if (status != MWL_OK && status != MWL_E_REJECTED) ended = definition_failed(d, path, status);
    d->quota = NULL;
    return status == MWL_E_REJECTED && ended == CMD_OK ? CMD_REJECTED : ended;
}
