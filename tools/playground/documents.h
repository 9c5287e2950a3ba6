/* documents.h: the documents of the call providers of stdlib/io. Their code cannot run in a
 * browser, but a definition that uses them is checked against them, and answers stand for them. */
#ifndef MWL_PLAY_DOCUMENTS_H
#define MWL_PLAY_DOCUMENTS_H

#include "mwl_asm.h"
#include "stdlib/io/providers.h"

/* Made by the build from stdlib/io (MwlEmbed.cmake). */
#define MWL_X(name, uri_name, rights) extern const char mwl__io_doc_call_##name[];
MWL__IO_CALLS(MWL_X)
#undef MWL_X

/* The list; the last one has the uri NULL. play_n_documents does not count it. */
extern const mwl_asm_document play_documents[];
extern const size_t play_n_documents;

#endif
