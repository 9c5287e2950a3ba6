/* documents.h: the provider definition documents of the five providers that the language defines.
 *
 * Owns: their JSON text; schemas, codes and kinds are the specification's, descriptions are ours.
 * The implementations beside it point to these texts, and the assembler's catalog reads them
 * through mwl__std_document. */
#ifndef MWL_STD_DOCUMENTS_H
#define MWL_STD_DOCUMENTS_H

#include <stddef.h>

extern const char mwl__std_doc_mock[];
extern const char mwl__std_doc_retry[];
extern const char mwl__std_doc_timeout[];
extern const char mwl__std_doc_loop[];
extern const char mwl__std_doc_finally[];

/* The i-th document, NUL-terminated and immortal; NULL past the last. Any thread. */
const char *mwl__std_document(size_t i);

#endif
