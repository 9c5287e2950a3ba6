/* remote.h: --remote URI: a provider whose calls workers outside take from the store of durable
 * runs (mwl_durable_options.remote). Its document is the one that --provider gives, or one that
 * allows everything. */
#ifndef MWL_TOOLS_REMOTE_H
#define MWL_TOOLS_REMOTE_H

#include "tools/host/definition.h"

struct remotes {
    const char **uris; /* then NULL; in argv */
    char **documents;  /* made here, or NULL: --provider gave it */
    size_t count;
};

/* Reads the words and adds documents to the definition. CMD_OK, or an exit status with a message.
 * Free in any case, after what uses the definition. */
int remotes_read(struct remotes *r, const struct word_list *words, struct definition *d);
void remotes_free(struct remotes *r);
bool remotes_has(const struct remotes *r, const char *uri);
/* Adds them to a VM. CMD_OK, or an exit status with a message. */
int remotes_apply(const struct remotes *r, const struct definition *d, mwl_vm *vm);

#endif
