/* bind.c: see bind.h. */
#include "tools/host/bind.h"

#include "tools/base/member.h"
#include "assembler/provider/provide.h"
#include "tools/base/cmd.h"
#include "tools/host/io_host.h"
#include "stdlib/documents.h"
#include "vm/base/suggest.h"
#include "vm/machine/state.h"
#include "vm/machine/providers.h"
#include "vm/program/view.h"

#include <stdlib.h>
#include <string.h>

#define CALL "mwl:provider.call/"

/* ---- documents ------------------------------------------------------------------------------- */

/* The URI of a document of --provider; malloc'd, NULL if it has none. */
static char *uri_of(mwl_heap *heap, const char *text, size_t len) {
    mwl_value tree = mwl_absent();
    char *uri = NULL;
    if (mwl_json_parse(heap, text, len, &tree, NULL) == MWL_OK) {
        const char *found = mwl_as_text(mwl_get(tree, "uri"), NULL);
        if (found) uri = strdup(found);
    }
    mwl_value_drop(heap, tree);
    return uri;
}

const mwl_asm_provider *bind_given(mwl_heap *heap, const struct definition *d, const char *uri) {
    for (size_t i = 0; i < d->n_providers; i++) {
        char *found = uri_of(heap, d->providers[i].text, d->providers[i].len);
        bool same = found && strcmp(found, uri) == 0;
        free(found);
        if (same) return &d->providers[i];
    }
    return NULL;
}

const char *bind_own_document(const char *uri) {
    const mwl__std_document *s;
    for (size_t i = 0; (s = mwl__std_document_at(i)); i++)
        if (strcmp(s->uri, uri) == 0) return s->text;
    for (const mwl_asm_document *l = io_host_documents(); l && l->uri; l++)
        if (strcmp(l->uri, uri) == 0) return l->text;
    return NULL;
}

/* The document of the provider that answers, for the URI that is called. */
static char *renamed(mwl_heap *heap, const char *text, const char *uri) {
    mwl_value tree = mwl_absent();
    char *json = NULL, *copy = NULL;
    size_t len = 0;
    if (mwl_json_parse(heap, text, strlen(text), &tree, NULL) < 0) return NULL;
    tree = member_set(heap, tree, "uri", mwl_string(heap, uri, strlen(uri)));
    if (mwl_json_write(heap, tree, MWL_JSON_COMPACT, &json, &len) == MWL_OK) copy = strdup(json);
    mwl_text_free(heap, json, len);
    mwl_value_drop(heap, tree);
    return copy;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int split(struct bind *b, const char *word) {
    const char *equals = strchr(word, '=');
    if (!equals || equals == word || !equals[1])
        return cmd_usage("--bind needs URI=URI or URI=FILE.json, not '%s'", word);
    b->uri = strndup(word, (size_t)(equals - word));
    if (!b->uri) return cmd_no_memory();
    b->target = equals + 1;
    b->is_file = strncmp(b->target, "mwl:", 4) != 0;
    if (strncmp(b->uri, CALL, strlen(CALL)) != 0)
        return cmd_usage("--bind: '%s' is not the URI of a call provider (" CALL "...)", b->uri);
    return CMD_OK;
}

static int read_file(struct bind *b, struct definition *d, mwl_heap *heap) {
    int status = file_in(&d->limits, b->target, &b->text);
    if (status != CMD_OK || bind_given(heap, d, b->uri) || bind_own_document(b->uri)) return status;
    b->document = answers_document(b->uri);
    return b->document ? CMD_OK : cmd_no_memory();
}

static int read_uri(struct bind *b, const struct definition *d, mwl_heap *heap) {
    const char *text = bind_own_document(b->target);
    if (!text || strncmp(b->target, CALL, strlen(CALL)) != 0)
        return cmd_usage("--bind: this command has no call provider '%s'", b->target);
    if (bind_given(heap, d, b->uri))
        return cmd_usage("--bind: %s has the document of %s; --provider gives another one", b->uri,
                         b->target);
    if (bind_own_document(b->uri))
        return CMD_OK; /* the definition was already checked against its own document */
    b->document = renamed(heap, text, b->uri);
    return b->document ? CMD_OK : cmd_no_memory();
}

static int read_one(struct binds *b, const char *word, struct definition *d, mwl_heap *heap) {
    struct bind *item = &b->items[b->count++];
    int status = split(item, word);
    for (size_t i = 0; status == CMD_OK && i + 1 < b->count; i++)
        if (strcmp(b->items[i].uri, item->uri) == 0)
            status = cmd_usage("--bind: %s is bound twice", item->uri);
    if (status != CMD_OK) return status;
    status = item->is_file ? read_file(item, d, heap) : read_uri(item, d, heap);
    if (status == CMD_OK && item->document)
        status = definition_add_library(d, item->uri, item->document);
    return status;
}

int binds_read(struct binds *b, const struct word_list *words, struct definition *d) {
    mwl_heap *heap = NULL;
    int status = CMD_OK;
    memset(b, 0, sizeof *b);
    if (words->count == 0) return CMD_OK;
    b->items = calloc(words->count, sizeof *b->items);
    if (!b->items || mwl_heap_new(NULL, &heap) < 0) return cmd_no_memory();
    for (size_t i = 0; i < words->count && status == CMD_OK; i++)
        status = read_one(b, words->words[i], d, heap);
    mwl_heap_free(heap);
    return status;
}

void binds_free(struct binds *b, struct definition *d) {
    for (size_t i = 0; i < b->count; i++) {
        free(b->items[i].uri);
        free(b->items[i].document);
        file_in_free(&d->limits, &b->items[i].text);
    }
    free(b->items);
    memset(b, 0, sizeof *b);
}

bool binds_has(const struct binds *b, const char *uri) {
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->items[i].uri, uri) == 0) return true;
    return false;
}

int binds_check(const struct binds *b, const char *file, const mwl_program *program) {
    for (size_t i = 0; i < b->count; i++) {
        const char *uri = b->items[i].uri;
        mwl__suggest near = mwl__suggest_make(uri, strlen(uri));
        bool called = false;
        for (uint32_t k = 0; k < mwl__view_n_imports(program) && !called; k++) {
            const char *import = mwl__view_uri(program, k);
            called = strcmp(import, uri) == 0;
            if (strncmp(import, CALL, strlen(CALL)) == 0)
                mwl__suggest_offer(&near, import, strlen(import));
        }
        if (called) continue;
        if (near.best)
            return cmd_usage("--bind: %s does not call '%s'; did you mean '%.*s'?", file, uri,
                             (int)near.best_len, near.best);
        return cmd_usage("--bind: %s does not call '%s'", file, uri);
    }
    return CMD_OK;
}

bool binds_uses(const struct binds *b, const char *target) {
    for (size_t i = 0; i < b->count; i++)
        if (!b->items[i].is_file && strcmp(b->items[i].target, target) == 0) return true;
    return false;
}

/* ---- a VM ------------------------------------------------------------------------------------ */

static int refused(const struct bind *b, mwl_status status, const mwl_error *error) {
    cmd_fail("--bind %s: %s", b->uri, error->message ? error->message : mwl_status_text(status));
    return status == MWL_E_NOMEM ? CMD_LIMIT : CMD_REJECTED;
}

/* Never called: the answers come first. */
static void no_answer(mwl_call *call, void *user) {
    (void)user;
    mwl_call_fail(call, NULL, ANSWERS_UNEXPECTED, "nothing answers this call", mwl_absent());
}

static int apply_file(const struct bind *b, const struct definition *d, mwl_vm *vm,
                      struct answers **out) {
    mwl_heap *heap = mwl_vm_heap(vm);
    mwl_value spec = mwl_absent();
    mwl_error error = {MWL_OK, NULL, 0};
    char why[300] = "";
    mwl_status status = mwl_json_parse(heap, b->text.data, b->text.size, &spec, &error);
    if (status < 0) {
        cmd_fail("%s: %s, at byte %zu", file_in_name(b->target),
                 error.message ? error.message : mwl_status_text(status), error.offset);
        return CMD_USAGE;
    }
    status = answers_new(vm, spec, b->uri, out, why, sizeof why);
    mwl_value_drop(heap, spec);
    if (status < 0) {
        cmd_fail("%s: %s", file_in_name(b->target), *why ? why : mwl_status_text(status));
        return CMD_USAGE;
    }
    status = MWL_OK;
    const mwl_asm_provider *document = b->document ? NULL : bind_given(heap, d, b->uri);
    if (b->document) {
        const mwl_call_provider none = {.uri = b->uri, .document = b->document, .start = no_answer};
        status = mwl__provide_trusted(vm, &none, NULL, &error);
    }
    if (status == MWL_OK)
        status = answers_bind(*out, b->uri, document ? document->text : NULL, &error);
    return status == MWL_OK ? CMD_OK : refused(b, status, &error);
}

static int apply_uri(const struct bind *b, mwl_vm *vm) {
    mwl_error error = {MWL_OK, NULL, 0};
    const mwl__provider *p = mwl__providers_find(vm, b->target, strlen(b->target));
    mwl__provider *own = mwl__providers_find(vm, b->uri, strlen(b->uri));
    if (!p) return refused(b, MWL_E_NOT_FOUND, &error);
    if (own) { /* the VM has both: the code of one stands for that of the other */
        own->call.start = p->call.start;
        own->call.wake = p->call.wake;
        own->call.cancel = p->call.cancel;
        own->call.blocking = p->call.blocking;
        own->call.now = p->call.now;
        own->now = p->now;
        own->user = p->user;
        return CMD_OK;
    }
    mwl_call_provider call = p->call;
    call.uri = b->uri;
    call.document = b->document;
    mwl_status status = mwl__provide_trusted(vm, &call, p->user, &error);
    return status < 0 ? refused(b, status, &error) : CMD_OK;
}

int binds_apply(const struct binds *b, const struct definition *d, mwl_vm *vm,
                struct answers **answers) {
    int status = CMD_OK;
    for (size_t i = 0; i < b->count && status == CMD_OK; i++)
        status = b->items[i].is_file ? apply_file(&b->items[i], d, vm, &answers[i])
                                     : apply_uri(&b->items[i], vm);
    return status;
}
