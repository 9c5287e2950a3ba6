/* stub_provider.c: see stub_provider.h. */
#include "tools/host/stub_provider.h"

#include "tools/base/cmd.h"
#include "mwl_provider.h"

#include <string.h>

#define STUB_CODE "Mwlvm.NotImplemented"
#define STUB_MESSAGE "nothing implements this provider here; only its document was given"

static void fail_call(mwl_call *call, void *user) {
    (void)user;
    mwl_call_fail(call, NULL, STUB_CODE, STUB_MESSAGE, mwl_absent());
}

static void fail_phase(mwl_phase *phase, void *user) {
    (void)user;
    mwl_phase_fail(phase, NULL, STUB_CODE, STUB_MESSAGE, mwl_absent());
}

int stub_provider_add(mwl_vm *vm, const mwl_asm_provider *given, const struct binds *binds,
                      const struct remotes *remotes, bool silent) {
    const char *file = given->file, *document = given->text;
    static const char middleware[] = "mwl:provider.middleware/";
    mwl_heap *heap = mwl_vm_heap(vm);
    mwl_value tree = mwl_absent();
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_status status = mwl_json_parse(heap, document, given->len, &tree, &error);
    if (status == MWL_OK) {
        mwl_value v = mwl_get(tree, "uri");
        const char *uri = mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, NULL) : "";
        if (binds_has(binds, uri) || remotes_has(remotes, uri)) {
            silent = true;
        } else if (strncmp(uri, middleware, sizeof middleware - 1) == 0) {
            mwl_middleware m = {.uri = uri, .document = document, .entry = fail_phase};
            status = mwl_vm_provide_middleware(vm, &m, 1, NULL, &error);
        } else {
            mwl_call_provider p = {.uri = uri, .document = document, .start = fail_call};
            status = mwl_vm_provide(vm, &p, 1, NULL, &error);
        }
        if (status == MWL_OK && !silent)
            cmd_note("%s: nothing implements %s here; a call of it fails", file, uri);
    }
    mwl_value_drop(heap, tree);
    if (status == MWL_OK) return CMD_OK;
    cmd_fail("%s: %s", file, error.message ? error.message : mwl_status_text(status));
    return CMD_REJECTED;
}
