/* remote.c: see remote.h. */
#include "tools/host/remote.h"

#include "tools/host/answers.h"
#include "tools/host/bind.h"
#include "tools/base/cmd.h"
#include "tools/host/durable_providers.h"

#include <stdlib.h>
#include <string.h>

#define CALL "mwl:provider.call/"

static int read_one(struct remotes *r, const char *uri, struct definition *d, mwl_heap *heap) {
    if (strncmp(uri, CALL, strlen(CALL)) != 0)
        return cmd_usage("--remote: '%s' is not the URI of a call provider (" CALL "...)", uri);
    if (remotes_has(r, uri)) return cmd_usage("--remote: %s is given twice", uri);
    if (bind_own_document(uri)) return cmd_usage("--remote: %s is one of this command", uri);
    if (!bind_given(heap, d, uri)) {
        char *document = answers_document(uri);
        if (!document) return cmd_no_memory();
        r->documents[r->count] = document;
        int status = definition_add_library(d, uri, document);
        if (status != CMD_OK) return status;
    }
    r->uris[r->count++] = uri;
    return CMD_OK;
}

int remotes_read(struct remotes *r, const struct word_list *words, struct definition *d) {
    mwl_heap *heap = NULL;
    int status = CMD_OK;
    memset(r, 0, sizeof *r);
    if (words->count == 0) return CMD_OK;
    r->uris = calloc(words->count + 1, sizeof *r->uris);
    r->documents = calloc(words->count + 1, sizeof *r->documents);
    if (!r->uris || !r->documents || mwl_heap_new(NULL, &heap) < 0) return cmd_no_memory();
    for (size_t i = 0; i < words->count && status == CMD_OK; i++)
        status = read_one(r, words->words[i], d, heap);
    mwl_heap_free(heap);
    return status;
}

/* One more document than uris if reading stopped half way. */
void remotes_free(struct remotes *r) {
    for (size_t i = 0; r->documents && i <= r->count; i++) free(r->documents[i]);
    free(r->documents);
    free(r->uris);
    memset(r, 0, sizeof *r);
}

bool remotes_has(const struct remotes *r, const char *uri) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->uris[i], uri) == 0) return true;
    return false;
}

int remotes_apply(const struct remotes *r, const struct definition *d, mwl_vm *vm) {
    int status = CMD_OK;
    for (size_t i = 0; i < r->count && status == CMD_OK; i++) {
        const mwl_asm_provider *given =
            r->documents[i] ? NULL : bind_given(mwl_vm_heap(vm), d, r->uris[i]);
        status = durable_remote(vm, r->uris[i], given ? given->text : r->documents[i]);
    }
    return status;
}
