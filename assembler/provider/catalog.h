/* catalog.h: what the assembler knows about providers: their definition documents, read once.
 *
 * Owns: the contract of each provider as its document states it. Refuses to know: implementations
 * (the VM's catalog has those). The five spec-defined providers' documents (stdlib/) are in every
 * catalog. */
#ifndef MWL_CATALOG_H
#define MWL_CATALOG_H

#include "assembler/source/read.h"
#include "vm/schema/schema.h"

/* ---- provider URIs --------------------------------------------------------------------------- */

typedef enum mwl__uri_fault {
    MWL__URI_OK,
    MWL__URI_SCHEME,    /* another scheme than mwl */
    MWL__URI_MALFORMED, /* why and where: `text`, bytes begin to end */
    MWL__URI_TYPE       /* well-formed, of a type that does not exist */
} mwl__uri_fault;

typedef struct mwl__uri {
    bool is_middleware;
    const char *ns; /* namespace; into the text */
    size_t ns_len;
    uint32_t begin, end; /* of the fault */
    const char *text;    /* of MALFORMED, constant */
} mwl__uri;

mwl__uri_fault mwl__uri_parse(const char *text, size_t len, mwl__uri *out);
/* The same for a string node; what is wrong is reported, and the answer is false. */
bool mwl__uri_check(mwl__tree *tree, const mwl__node *n, mwl__uri *uri);

/* ---- contracts ------------------------------------------------------------------------------- */

/* One provider's contract. Text and nodes live as long as the catalog. */
typedef struct mwl__contract {
    const char *uri;
    size_t uri_len;
    bool is_middleware;
    const char *code_prefix;
    size_t code_prefix_len;
    const mwl__node *document; /* its root object */
    const mwl__tree *tree;     /* the document's, for positions */
    const mwl__node
        *parameters[4];       /* schema nodes: [0] of a call provider; by phase (mwl__phase_id) of a
                                 middleware; NULL: accepts no arguments */
    mwl__schema *compiled[4]; /* of these; the catalog's */
    const mwl__node *metadata; /* schema node, or NULL */
    bool acts[4];              /* a middleware's phases with an action */
    /* Structural parameters of a phase: names of `with` members that are definitions. "call" is a
     * call object, "middleware" a stack around it. */
    const mwl__node *structural[4]; /* array node of names, or NULL */
    bool at_step, at_flow;          /* attachment */
    const mwl__node *closed, *open; /* failure catalog: arrays of strings, or NULL */
} mwl__contract;

typedef struct mwl__catalog mwl__catalog;

/* With the spec-defined providers in it; NULL when memory is out. */
mwl__catalog *mwl__catalog_new(const mwl_alloc *alloc);
void mwl__catalog_free(mwl__catalog *c);
/* Add a provider definition document. What is wrong goes to the sink (positions are in `source`):
 * form, the provider meta-schema's rules, reserved namespaces (unless trusted), a URI that is there
 * already. MWL_OK, E_REJECTED, E_NOMEM. The catalog keeps the source: it must outlive it. */
mwl_status mwl__catalog_add(mwl__catalog *c, mwl__source *source, mwl__diags *sink, bool trusted);
/* Judge a document as such: its form alone. It enters no catalog, so that a document in the
 * namespace `example` is fine, as is one that states a spec-defined provider again. */
mwl_status mwl__catalog_judge(const mwl__catalog *c, mwl__source *source, mwl__diags *sink);
const mwl__contract *mwl__catalog_find(const mwl__catalog *c, const char *uri,
                                       size_t len); /* or NULL */
/* Whether a document of this URI was refused: about what names it there is no more to say. */
bool mwl__catalog_refused(const mwl__catalog *c, const char *uri, size_t len);
size_t mwl__catalog_count(const mwl__catalog *c);
const mwl__contract *mwl__catalog_at(const mwl__catalog *c, size_t i);

#endif
