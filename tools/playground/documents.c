/* documents.c: see documents.h. */
#include "tools/playground/documents.h"

const mwl_asm_document play_documents[] = {
#define MWL_X(name, uri_name, rights)                                                              \
    {"mwl:provider.call/mwlvm/" uri_name "/v1", mwl__io_doc_call_##name, false},
    MWL__IO_CALLS(MWL_X)
#undef MWL_X
        {NULL, NULL, false}};

const size_t play_n_documents = sizeof play_documents / sizeof *play_documents - 1;
