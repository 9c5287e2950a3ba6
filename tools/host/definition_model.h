/* definition_model.h: the checked model of a definition, for commands that look at it instead of
 * assembling it. */
#ifndef MWL_TOOLS_DEFINITION_MODEL_H
#define MWL_TOOLS_DEFINITION_MODEL_H

#include "assembler/check/model.h"
#include "tools/host/definition.h"
#include "vm/cel/functions.h"

struct definition_model {
    mwl_alloc alloc;
    mwl__diags sink;
    mwl__functions functions;
    mwl__catalog *catalog;
    mwl__source *providers; /* of the struct definition */
    size_t n_providers;
    mwl_asm_document *made; /* documents of providers that have none */
    size_t n_made, cap_made;
    mwl__source source;
    mwl__tree tree;
    mwl__model model;
};

/* A text, and the documents of the providers that it may use. Lent as long as the model is. */
struct definition_text {
    const char *name, *text;
    size_t len;
    const mwl_asm_provider *providers;
    size_t n_providers;
    const mwl_asm_document *library; /* the last one has the uri NULL; or NULL */
};

/* Makes an empty model. Levels of diagnostics and a quota may be set in its sink. */
void definition_model_init(struct definition_model *m, mwl_alloc alloc);
/* Reads and checks a text, once for each model. Returns MWL_OK, MWL_E_REJECTED or MWL_E_NOMEM; the
 * diagnostics are in the sink. Free the model in any case.
 *
 * A call provider of another namespace than `mwl` needs no document: `made` gets one that allows
 * everything. */
mwl_status definition_model_check(struct definition_model *m, const struct definition_text *t);
void definition_model_free(struct definition_model *m);

/* Does both for a file of the command line, with the providers and levels of `d`. The diagnostics
 * go to standard error, as the other commands print them, and a note for each provider without a
 * document; `quiet` leaves them out. Returns CMD_OK, also with warnings; CMD_REJECTED; or another
 * exit status with a message. */
int definition_model_read(struct definition_model *m, struct definition *d, const char *path,
                          const char *text, size_t len, bool quiet);

#endif
