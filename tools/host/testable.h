/* testable.h: a definition made ready to be tested: assembled, with a document for every call
 * provider that it names.
 *
 * Owns: which documents the assembler gets: those that are given, and for the rest one that allows
 * everything, because no real provider is asked. Prints nothing: problems are a text. */
#ifndef MWL_TOOLS_TESTABLE_H
#define MWL_TOOLS_TESTABLE_H

#include "mwl_asm.h"
#include "vm/base/mem.h"

struct testable_document {
    char *uri, *file, *text; /* malloc'd; file: of a given one, else NULL */
    size_t len;
    bool of_library; /* the assembler has it already */
};

struct testable {
    char *path; /* of the definition */
    mwl_program *program;
    struct testable_document *documents;
    size_t n_documents;
};

/* Assembles the definition. `files` are documents of providers. Returns MWL_OK; or a status, with
 * the reasons appended to `problems`. *out is to be freed in any case. Any thread. */
mwl_status testable_load(struct testable *out, const char *path, const char *const *files,
                         size_t n_files, mwl__buf *problems);
void testable_free(struct testable *t);

/* The document of a URI, or NULL. */
const struct testable_document *testable_document(const struct testable *t, const char *uri);

/* Names a library of documents, which definitions may use without giving them; NULL: none. Before
 * the first definition is loaded. */
void testable_use(const mwl_asm_document *library);

/* Reads a file: malloc'd text with a NUL behind it, or NULL. */
char *testable_read(const char *path, size_t *len);
/* `name` as seen from the folder of the file `from`; malloc'd, or NULL. */
char *testable_beside(const char *from, const char *name);

#endif
