/* io_host.c: see io_host.h. */
#include "tools/host/io_host.h"

#include "tools/base/cmd.h"
#include "tools/host/durable_providers.h"
#include "tools/host/permissions.h"
#include "tools/base/redact.h"
#include "vm/program/view.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#if defined(MWL_HAVE_IO)
#include "mwl_io.h"

static const mwl_asm_document *io_documents(void) { return mwl_io_documents(); }

static bool answers_one(const struct binds *binds) {
    const mwl_io_provider *p;
    for (size_t k = 0; (p = mwl_io_provider_at(k)); k++)
        if (binds_uses(binds, p->uri)) return true;
    return false;
}

static bool is_bound(const void *ctx, const char *uri) { return binds_has(ctx, uri); }

static bool imports_one(const mwl_program *program) {
    for (uint32_t i = 0; i < mwl__view_n_imports(program); i++) {
        const char *uri = mwl__view_uri(program, i);
        const mwl_io_provider *p;
        for (size_t k = 0; (p = mwl_io_provider_at(k)); k++)
            if (strcmp(uri, p->uri) == 0) return true;
    }
    return false;
}

static size_t tables_of(size_t memory) {
    const size_t least = 1 << 20, most = 64 << 20;
    return memory / 8 < least ? least : memory / 8 < most ? memory / 8 : most;
}

enum { RUN_SECRETS = 1 << 20 }; /* with each save they are written again */

int io_host_open(struct io_host *h, mwl_vm *vm, uv_loop_t *loop, const mwl_program *program,
                 const struct io_host_options *how) {
    mwl_error error = {MWL_OK, NULL, 0};
    h->loop = loop;
    if (program && !imports_one(program) && !answers_one(how->binds)) return CMD_OK;
    const mwl_io_options options = {.policy = how->allowed->policy,
                                    .without = is_bound,
                                    .without_ctx = how->binds,
                                    .secrets = redact_secrets(),
                                    .table_bytes = tables_of(how->memory),
                                    .run_secrets = how->rows ? RUN_SECRETS : 0};
    if (!options.secrets) return cmd_no_memory();
    signal(SIGXFSZ, SIG_IGN); /* an error of write instead */
    mwl_status status = mwl_io_open(vm, loop, &options, &h->io, &error);
    if (status == MWL_OK) return CMD_OK;
    cmd_fail("%s", error.message ? error.message : mwl_status_text(status));
    return CMD_LIMIT;
}

static bool is_call(const void *ctx, const char *uri) {
    static const char call[] = "mwl:provider.call/";
    (void)ctx;
    return strncmp(uri, call, sizeof call - 1) == 0;
}

static void no_log(void *ctx, mwl_io_level level, const char *line, size_t len) {
    (void)ctx, (void)level, (void)line, (void)len;
}

mwl_status io_host_middleware(struct io_host *h, mwl_vm *vm, const mwl_program *program) {
    const mwl_io_options options = {.without = is_call, .log = no_log};
    if (!imports_one(program)) return MWL_OK;
    h->loop = h->own = malloc(sizeof *h->own);
    if (!h->own || uv_loop_init(h->own) != 0) {
        free(h->own);
        h->own = NULL;
        return MWL_E_NOMEM;
    }
    return mwl_io_open(vm, h->loop, &options, &h->io, NULL);
}

size_t io_host_pending(const struct io_host *h) { return h->io ? mwl_io_pending(h->io) : 0; }

static void on_closed(void *ctx) { *(bool *)ctx = true; }

void io_host_close(struct io_host *h) {
    bool closed = !h->io;
    if (h->io) mwl_io_close(h->io, on_closed, &closed);
    h->io = NULL;
    while (!closed) uv_run(h->loop, UV_RUN_ONCE);
    if (h->own) uv_loop_close(h->own);
    free(h->own);
    h->own = NULL;
}
#else
static const mwl_asm_document *io_documents(void) { return NULL; }
int io_host_open(struct io_host *h, mwl_vm *vm, uv_loop_t *loop, const mwl_program *program,
                 const struct io_host_options *how) {
    (void)h, (void)vm, (void)loop, (void)program, (void)how;
    return CMD_OK;
}
mwl_status io_host_middleware(struct io_host *h, mwl_vm *vm, const mwl_program *program) {
    (void)h, (void)vm, (void)program;
    return MWL_OK;
}
size_t io_host_pending(const struct io_host *h) {
    (void)h;
    return 0;
}
void io_host_close(struct io_host *h) { (void)h; }
#endif

/* Those of stdlib/io, and the one of durable runs. Made once: the first caller is the only thread.
 */
const mwl_asm_document *io_host_documents(void) {
    static mwl_asm_document *all;
    const mwl_asm_document *io = io_documents();
    const char *uri, *text = durable_document(&uri);
    size_t n = 0;
    if (all || !text) return all ? all : io;
    while (io && io[n].uri) n++;
    all = calloc(n + 2, sizeof *all);
    if (!all) return io;
    if (n) memcpy(all, io, n * sizeof *all);
    all[n] = (mwl_asm_document){.uri = uri, .text = text};
    return all;
}
