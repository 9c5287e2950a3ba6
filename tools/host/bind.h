/* bind.h: --bind URI=URI and --bind URI=FILE.json: replaces a provider by another provider, or by a
 * file of scripted answers (answers.h).
 *
 * A bound provider need not exist: the definition is assembled with a document for it. If another
 * provider replaces it, it has the parameters and failures of that one; if scripted answers do, it
 * has the document that --provider gives, its own, or one that allows everything. */
#ifndef MWL_TOOLS_BIND_H
#define MWL_TOOLS_BIND_H

#include "tools/host/answers.h"
#include "tools/host/definition.h"

struct bind {
    char *uri;          /* what is called */
    const char *target; /* the URI or the file that answers; in argv */
    bool is_file;
    struct file_text text; /* of the file */
    char *document;        /* made here, or NULL */
};

struct binds {
    struct bind *items;
    size_t count;
};

/* Reads the words, and the files that they name, and adds documents to the definition. CMD_OK, or
 * an exit status with a message. Free in any case, before the definition. */
int binds_read(struct binds *b, const struct word_list *words, struct definition *d);
void binds_free(struct binds *b, struct definition *d);
/* Whether the URI is bound. */
bool binds_has(const struct binds *b, const char *uri);
/* A URI that the program does not call would be ignored: an error, with the one that was probably
 * meant. CMD_OK, or CMD_USAGE after a message. */
int binds_check(const struct binds *b, const char *file, const mwl_program *program);
/* Whether one of them is answered by this provider. */
bool binds_uses(const struct binds *b, const char *target);

/* Returns the document that --provider gave for the URI; the text of one that the command has
 * itself; or NULL. */
const mwl_asm_provider *bind_given(mwl_heap *heap, const struct definition *d, const char *uri);
const char *bind_own_document(const char *uri);

/* Adds them to a VM that has the providers which answer. answers[i] is given for item i, or NULL:
 * free it after the runs and before the VM. CMD_OK, or an exit status with a message. */
int binds_apply(const struct binds *b, const struct definition *d, mwl_vm *vm,
                struct answers **answers);

#endif
