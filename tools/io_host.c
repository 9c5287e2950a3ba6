/* io_host.c: see io_host.h. */
#include "io_host.h"

#include "cmd.h"
#include "vm/program/program.h"

#include <string.h>

#if defined(MWL_HAVE_IO)
#include "mwl_io.h"

static mwl_io *io; /* of the one VM that the command has */

const mwl_asm_document *io_host_documents(void) { return mwl_io_documents(); }

static bool imports_one(const mwl_program *program) {
    const mwl__flow_tables *t = &program->tables;
    for (uint32_t i = 0; i < t->n_imports; i++) {
        const char *uri = mwl_as_text(program->consts[t->imports[i].uri_k], NULL);
        const mwl_io_provider *p;
        for (size_t k = 0; (p = mwl_io_provider_at(k)); k++)
            if (strcmp(uri, p->uri) == 0) return true;
    }
    return false;
}

int io_host_open(mwl_vm *vm, const mwl_program *program) {
    mwl_error error = {MWL_OK, NULL, 0};
    if (!imports_one(program)) return CMD_OK;
    uv_loop_t *loop = uv_default_loop();
    if (!loop) return cmd_fail("event loop: out of memory");
    mwl_status status = mwl_io_open(vm, loop, NULL, &io, &error);
    if (status == MWL_OK) return CMD_OK;
    cmd_fail("%s", error.message ? error.message : mwl_status_text(status));
    return CMD_LIMIT;
}

size_t io_host_pending(void) { return mwl_io_pending(io); }

void io_host_close(void) {
    if (!io) return;
    mwl_io_close(io, NULL, NULL);
    io = NULL;
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    uv_loop_close(uv_default_loop());
}
#else
const mwl_asm_document *io_host_documents(void) { return NULL; }
int io_host_open(mwl_vm *vm, const mwl_program *program) {
    (void)vm, (void)program;
    return CMD_OK;
}
size_t io_host_pending(void) { return 0; }
void io_host_close(void) {}
#endif
