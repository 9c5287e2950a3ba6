/* durable_providers.c: see durable_providers.h. */
#include "tools/host/durable_providers.h"

#include "tools/base/cmd.h"

#ifdef MWL_HAVE_DURABLE
#include "mwl_durable.h"

const char *durable_document(const char **uri) {
    *uri = mwl_durable_answer()->uri;
    return mwl_durable_answer()->document;
}

int durable_provide(mwl_vm *vm) {
    mwl_error error = {MWL_OK, "", 0};
    mwl_status status = mwl_vm_provide(vm, mwl_durable_answer(), 1, NULL, &error);
    return status == MWL_OK || status == MWL_E_NOMEM ? cmd_status(status)
                                                     : cmd_fail("%s", error.message);
}

int durable_remote(mwl_vm *vm, const char *uri, const char *document) {
    mwl_error error = {MWL_OK, "", 0};
    mwl_call_provider remote = mwl_durable_remote();
    remote.uri = uri;
    remote.document = document;
    mwl_status status = mwl_vm_provide(vm, &remote, 1, NULL, &error);
    if (status == MWL_OK || status == MWL_E_NOMEM) return cmd_status(status);
    cmd_fail("--remote %s: %s", uri, error.message);
    return CMD_REJECTED;
}

#else

const char *durable_document(const char **uri) {
    *uri = NULL;
    return NULL;
}
int durable_provide(mwl_vm *vm) {
    (void)vm;
    return CMD_OK;
}
int durable_remote(mwl_vm *vm, const char *uri, const char *document) {
    (void)vm, (void)uri, (void)document;
    return cmd_usage(CMD_NO_DURABLE);
}
#endif
