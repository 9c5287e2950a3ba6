/* suite_mwl_documents.c: examples of the meta-schemas: definitions and provider documents, each
 * accepted or refused by the assembler. They test the form only: a valid definition may get one
 * error, that it uses a provider which no catalog has. */
#include "tests/suite/suite_mwl.h"

#include "mwl_asm.h"

#include <stdlib.h>
#include <string.h>

static const char minimal_flow[] =
    "{\"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\", \"entrypoint\": \"a\", "
    "\"steps\": {\"a\": {\"action\": \"Return\"}}}";

/* Returns whether every error of the diagnostics (in JSON form) is about an unknown provider. */
static bool only_unknown_providers(const mwl_asm_result *result) {
    mwl_heap *heap = NULL;
    mwl_value all = mwl_absent();
    bool only =
        mwl_heap_new(NULL, &heap) == MWL_OK &&
        mwl_json_parse(heap, result->diagnostics, result->diagnostics_len, &all, NULL) == MWL_OK;
    for (size_t i = 0; only && i < mwl_count(all); i++) {
        mwl_value one = mwl_array_at(all, i);
        const char *severity = mwl_as_text(mwl_get(one, "severity"), NULL);
        const char *name = mwl_as_text(mwl_get(one, "name"), NULL);
        only = severity && name &&
               (strcmp(severity, "error") != 0 || strcmp(name, "unknown-provider") == 0);
    }
    mwl_value_drop(heap, all);
    mwl_heap_free(heap);
    return only;
}

static void one_document(struct suite *s, const char *path, const char *name, bool is_flow,
                         bool is_valid) {
    size_t len = 0;
    char *text = suite_read(path, &len);
    if (!text) {
        suite_fail(s, name, "cannot be read");
        return;
    }
    mwl_asm_provider provider = {"provider.json", text, len};
    mwl_asm_options options = {.flags = MWL_ASM_CHECK_ONLY, .format = MWL_ASM_JSON};
    mwl_asm_result result;
    if (!is_flow) {
        options.providers = &provider;
        options.n_providers = 1;
    }
    mwl_status status = is_flow
                            ? mwl_assemble(text, len, &options, &result)
                            : mwl_assemble(minimal_flow, strlen(minimal_flow), &options, &result);
    bool accepted =
        status == MWL_OK || (status == MWL_E_REJECTED && only_unknown_providers(&result));
    if (accepted == is_valid && (accepted || status == MWL_E_REJECTED))
        suite_pass(s, name);
    else
        suite_fail(s, name, "%s\n%s", accepted ? "it is accepted" : mwl_status_text(status),
                   result.diagnostics ? result.diagnostics : "");
    mwl_asm_free(&result);
    free(text);
}

int suite_mwl_documents(struct suite *s, const char *dir) {
    static const char *const folders[] = {"valid/flow", "valid/provider", "invalid/flow",
                                          "invalid/provider"};
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        char *folder = suite_path(dir, folders[f]);
        struct suite_list list;
        if (suite_is_dir(folder) && suite_list_dir(folder, &list)) {
            for (size_t i = 0; i < list.count; i++) {
                char *path = suite_path(folder, list.names[i]),
                     *name = suite_path(folders[f], list.names[i]);
                if (suite_wants(s, name)) one_document(s, path, name, f % 2 == 0, f < 2);
                free(name);
                free(path);
            }
            suite_list_free(&list);
        }
        free(folder);
    }
    return 0;
}
