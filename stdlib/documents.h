/* documents.h: the provider definition documents of the five providers that the language defines.
 *
 * Owns: their URIs and their JSON text. The schemas, codes and kinds are those of the
 * specification; the descriptions are our own. The implementations in this folder point to these
 * texts, and the assembler's catalog reads them when a definition uses the provider. */
#ifndef MWL_STD_DOCUMENTS_H
#define MWL_STD_DOCUMENTS_H

#include <stddef.h>

#define MWL__STD_MOCK "mwl:provider.call/mwl/mock/v1"
#define MWL__STD_RETRY "mwl:provider.middleware/mwl/retry/v1"
#define MWL__STD_TIMEOUT "mwl:provider.middleware/mwl/timeout/v1"
#define MWL__STD_LOOP "mwl:provider.middleware/mwl/loop/v1"
#define MWL__STD_FINALLY "mwl:provider.middleware/mwl/finally/v1"

extern const char mwl__std_doc_mock[];
extern const char mwl__std_doc_retry[];
extern const char mwl__std_doc_timeout[];
extern const char mwl__std_doc_loop[];
extern const char mwl__std_doc_finally[];

typedef struct mwl__std_document {
    const char *uri, *text;
} mwl__std_document;

/* Returns document i, which is constant; NULL after the last one. Any thread. */
const mwl__std_document *mwl__std_document_at(size_t i);

#endif
