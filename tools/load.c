/* load.c: see load.h. Owns: telling a program file from a definition, and what is said of a refused
 * one. */
#include "load.h"

#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int load_image(const char *path, const void *bytes, size_t size, mwl_program **out) {
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_status status = mwl_program_load(NULL, bytes, size, MWL_COPY, out, &error);
    if (status == MWL_OK) return CMD_OK;
    const char *why = error.message ? error.message : mwl_status_text(status);
    cmd_fail("%s: %s (byte %zu)", path, why, error.offset);
    if (status == MWL_E_VERSION) cmd_note("assemble its definition again with this mwlvm");
    return CMD_REJECTED;
}

/* The text ends without a newline, or with one; on the screen it ends with one. */
static void print_diagnostics(const mwl_asm_result *result) {
    size_t len = result->diagnostics_len;
    if (len == 0) return;
    fwrite(result->diagnostics, 1, len, stderr);
    if (result->diagnostics[len - 1] != '\n') fputc('\n', stderr);
}

static int assemble(const char *path, const char *text, size_t size,
                    const mwl_asm_provider *providers, size_t n_providers, mwl_program **out) {
    mwl_asm_options options = {.file = strcmp(path, "-") == 0 ? "standard input" : path,
                               .providers = providers,
                               .n_providers = n_providers,
                               .colour = isatty(STDERR_FILENO) && !getenv("NO_COLOR")};
    mwl_asm_result result;
    mwl_status status = mwl_assemble(text, size, &options, &result);
    print_diagnostics(&result);
    int answer = CMD_OK;
    if (status != MWL_OK) {
        cmd_fail("%s: %s", options.file, mwl_status_text(status));
        answer = CMD_REJECTED;
    } else {
        answer = load_image(options.file, result.image, result.image_size, out);
    }
    mwl_asm_free(&result);
    return answer;
}

int load_program(const char *path, const mwl_asm_provider *providers, size_t n_providers,
                 mwl_program **out) {
    size_t size = 0;
    char *bytes = cmd_read_file(path, &size);
    if (!bytes) return CMD_USAGE;
    bool is_image = size >= 4 && memcmp(bytes, "MWLB", 4) == 0;
    int status = is_image ? load_image(path, bytes, size, out)
                          : assemble(path, bytes, size, providers, n_providers, out);
    free(bytes);
    return status;
}
