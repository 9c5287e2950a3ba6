/* definition_model.h: the checked model of a definition, for commands that look at it instead of
 * assembling it. */
#ifndef MWL_TOOLS_DEFINITION_MODEL_H
#define MWL_TOOLS_DEFINITION_MODEL_H

#include "assembler/check/model.h"
#include "definition.h"
#include "vm/cel/cel_lib.h"

struct definition_model {
    mwl_alloc alloc;
    mwl__diags sink;
    mwl__functions functions;
    mwl__catalog *catalog;
    mwl__source *providers; /* of the struct definition */
    size_t n_providers;
    char **made; /* documents of providers that have none */
    size_t n_made, cap_made;
    mwl__source source;
    mwl__tree tree;
    mwl__model model;
};

/* Reads and checks the text, with the providers and levels of `d`. The diagnostics go to standard
 * error, as the other commands print them; `quiet` leaves them out. Returns CMD_OK, also with
 * warnings; CMD_REJECTED; or another exit status with a message. Free in any case; the text and `d`
 * must outlive it.
 *
 * A call provider of another namespace than `mwl` needs no document here: what it accepts does not
 * change the picture. A note names it. */
int definition_model_read(struct definition_model *m, struct definition *d, const char *path,
                          const char *text, size_t len, bool quiet);
void definition_model_free(struct definition_model *m);

#endif
