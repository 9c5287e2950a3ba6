/* catalog.h: what the assembler knows about providers: their definition documents, read once.
 *
 * Owns: the contract of each provider as its document states it. Refuses to know: implementations
 * (the VM has those). The five spec-defined providers' documents (stdlib/) are in every catalog. */
#ifndef MWL_CATALOG_H
#define MWL_CATALOG_H

#include "assembler/source/read.h"
#include "vm/schema/schema.h"

/* ---- provider URIs --------------------------------------------------------------------------- */

typedef enum mwl__uri_fault {
    MWL__URI_OK,
    MWL__URI_SCHEME,    /* another scheme than mwl */
    MWL__URI_MALFORMED, /* the reason is `text`, the place is bytes begin to end */
    MWL__URI_TYPE       /* well-formed, but of a type that does not exist */
} mwl__uri_fault;

typedef struct mwl__uri {
    bool is_middleware;
    const char *ns; /* namespace; into the text */
    size_t ns_len;
    uint32_t begin, end; /* of the fault */
    const char *text;    /* for MALFORMED; constant */
} mwl__uri;

mwl__uri_fault mwl__uri_parse(const char *text, size_t len, mwl__uri *out);
/* The same for a string node. On an error, reports it and returns false. */
bool mwl__uri_check(mwl__tree *tree, const mwl__node *n, mwl__uri *uri);

/* ---- contracts ------------------------------------------------------------------------------- */

/* One provider's contract. Text and nodes are those of its document's tree. */
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
    mwl__schema *compiled[4]; /* of these */
    const mwl__node *metadata; /* schema node, or NULL */
    mwl__schema *compiled_metadata;
    bool acts[4]; /* a middleware's phases with an action */
    /* Structural parameters of a phase: names of `with` members that are part of the definition.
     * "call" is a call object, "middleware" a stack around it. */
    const mwl__node *structural[4]; /* array node of names, or NULL */
    bool at_step, at_flow;          /* attachment */
    const mwl__node *closed, *open; /* failure catalog: arrays of strings, or NULL */
} mwl__contract;

/* Reads a provider definition document. Errors go to the sink (positions are in `source`): form,
 * the rules of the provider meta-schema, reserved namespaces (unless trusted). Returns MWL_OK,
 * MWL_E_REJECTED (`uri` is set if the document has a valid one) or MWL_E_NOMEM. Free both in any
 * case, the contract first; the source must outlive them. */
mwl_status mwl__contract_read(mwl__contract *out, mwl__tree *tree, mwl_alloc alloc,
                              mwl__source *source, mwl__diags *sink, bool trusted);
void mwl__contract_free(mwl__contract *contract); /* its compiled schemas */

/* ---- catalogs -------------------------------------------------------------------------------- */

/* Belongs to one thread, because a lookup changes it. */
typedef struct mwl__catalog mwl__catalog;

/* Makes a catalog with the spec-defined providers. Their documents are read when they are first
 * looked up. Returns NULL if out of memory. */
mwl__catalog *mwl__catalog_new(const mwl_alloc *alloc);
void mwl__catalog_free(mwl__catalog *c);
/* Adds a provider definition document. Errors go to the sink: what mwl__contract_read reports, and
 * a URI that the catalog already has. Returns MWL_OK, MWL_E_REJECTED or MWL_E_NOMEM. The source
 * must outlive the catalog. */
mwl_status mwl__catalog_add(mwl__catalog *c, mwl__source *source, mwl__diags *sink);
/* Adds documents of a library of providers, the last one with the uri NULL; list may be NULL. Each
 * is read when it is first looked up; its errors go to the sink then, and it counts as refused. A
 * URI that the catalog already has is left out. Lists, texts and sink must outlive the catalog.
 * Returns MWL_OK or MWL_E_NOMEM. */
struct mwl_asm_document;
mwl_status mwl__catalog_library(mwl__catalog *c, const struct mwl_asm_document *list,
                                mwl__diags *sink);
/* Checks only the form of a document. It is not added to a catalog, so a document in the namespace
 * `example`, or of a spec-defined provider, is allowed. */
mwl_status mwl__catalog_judge(const mwl__catalog *c, mwl__source *source, mwl__diags *sink);
/* Finds the contract of a provider, which lives as long as the catalog. Returns MWL_OK,
 * MWL_E_NOT_FOUND or MWL_E_NOMEM. */
mwl_status mwl__catalog_find(mwl__catalog *c, const char *uri, size_t len,
                             const mwl__contract **out);
/* Returns whether a document with this URI was refused. Then nothing more is reported about
 * references to it. */
bool mwl__catalog_refused(const mwl__catalog *c, const char *uri, size_t len);
/* Only the names, for suggestions; reads no document. */
typedef struct mwl__provider_name {
    const char *uri;
    size_t uri_len;
    bool is_middleware;
} mwl__provider_name;
size_t mwl__catalog_count(const mwl__catalog *c);
const mwl__provider_name *mwl__catalog_at(const mwl__catalog *c, size_t i);

#endif
