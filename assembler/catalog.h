/* catalog.h: what the assembler knows about providers: their definition documents, read once.
 *
 * Owns: the contract of each provider as its document states it. Refuses to know: implementations (the
 * VM's catalog has those). The five spec-defined providers' documents (stdlib/) are in every catalog. */
#ifndef MWL_CATALOG_H
#define MWL_CATALOG_H

#include "read.h"

/* One provider's contract. Text and nodes live as long as the catalog. */
typedef struct mwl__contract {
    const char *uri;
    size_t uri_len;
    bool is_middleware;
    const char *code_prefix;
    const mwl__node *document;      /* its root object */
    const mwl__tree *tree;          /* the document's, for positions */
    const mwl__node *parameters[4]; /* schema nodes: [0] of a call provider; by phase (mwl__phase_id) of a
                                       middleware; NULL: accepts no arguments */
    const mwl__node *metadata;      /* schema node, or NULL */
    bool acts[4];                   /* a middleware's phases with an action */
    /* Structural parameters of a phase: names of `with` members that are definitions. "call" is a call
     * object, "middleware" a stack around it. */
    const mwl__node *structural[4]; /* array node of names, or NULL */
    bool at_step, at_flow;          /* attachment */
    const mwl__node *closed, *open; /* failure catalog: arrays of strings, or NULL */
} mwl__contract;

typedef struct mwl__catalog mwl__catalog;

/* With the spec-defined providers in it; NULL when memory is out. */
mwl__catalog *mwl__catalog_new(const mwl_alloc *alloc);
void mwl__catalog_free(mwl__catalog *c);
/* Add a provider definition document. What is wrong goes to the sink (positions are in `source`): form, the
 * provider meta-schema's rules, reserved namespaces (unless trusted), a URI that is there already. MWL_OK,
 * E_REJECTED, E_NOMEM. The catalog keeps the source: it must outlive it. */
mwl_status mwl__catalog_add(mwl__catalog *c, mwl__source *source, mwl__diags *sink, bool trusted);
const mwl__contract *mwl__catalog_find(const mwl__catalog *c, const char *uri, size_t len); /* or NULL */
size_t mwl__catalog_count(const mwl__catalog *c);
const mwl__contract *mwl__catalog_at(const mwl__catalog *c, size_t i);

#endif
