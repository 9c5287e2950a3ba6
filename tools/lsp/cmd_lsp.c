/* cmd_lsp.c: `mwlvm lsp`: the language server, on standard input and output. */
#include "tools/base/cmd.h"
#include "tools/host/io_host.h"
#include "tools/lsp/lsp.h"
#include "tools/base/tool_functions.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const char head[] =
    "usage: mwlvm lsp [OPTIONS]\n\n"
    "Speaks the Language Server Protocol on standard input and output: diagnostics while one\n"
    "types with their repairs, completion, hover, definitions and references, rename, symbols.\n"
    "An editor starts it; tools/EDITOR.md says how for VS Code, Neovim and Emacs.\n\n";

static const char foot[] =
    "\nExample: a session that begins and ends:\n"
    "  printf 'Content-Length: %d\\r\\n\\r\\n%s' \\\n"
    "  75 '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"capabilities\":{}}}' \\\n"
    "  44 '{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"shutdown\"}' \\\n"
    "  33 '{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}' | mwlvm lsp\n"
    "\nExit status: 0 after `shutdown` and `exit`; 1 if the editor left without them; 2 wrong\n"
    "usage, or a file that cannot be read.\n";

static int no_operand(void *ctx, const char *word) {
    (void)ctx;
    return cmd_usage("lsp takes no operand, but got '%s'", word);
}

static int add_providers(struct lsp *s) {
    mwl_status status = mwl__catalog_library(s->catalog, io_host_documents(), &s->library);
    s->providers = mwl__mem_zero(&s->alloc, s->how.n_providers + 1, sizeof *s->providers);
    if (!s->providers) status = MWL_E_NOMEM;
    for (size_t i = 0; i < s->how.n_providers && status == MWL_OK; i++) {
        const mwl_asm_provider *p = &s->how.providers[i];
        status = mwl__source_init(&s->providers[i], s->alloc, p->file, p->text, p->len);
        if (status == MWL_OK) status = mwl__catalog_add(s->catalog, &s->providers[i], &s->library);
        if (status == MWL_E_REJECTED)
            return cmd_fail("%s is not a valid provider document; `mwlvm check --provider %s` "
                            "says why",
                            p->file, p->file);
    }
    return cmd_status(status);
}

static int prepare(struct lsp *s) {
    mwl_status status = mwl_heap_new(NULL, &s->heap);
    if (status == MWL_OK) status = tool_add_functions(&s->functions);
    s->catalog = mwl__catalog_new(&s->alloc);
    if (status != MWL_OK || !s->catalog) return cmd_no_memory();
    return add_providers(s);
}

static void release(struct lsp *s) {
    while (s->documents) open_close(s, s->documents);
    mwl__catalog_free(s->catalog);
    for (size_t i = 0; s->providers && i < s->how.n_providers; i++)
        mwl__source_free(&s->providers[i]);
    mwl__mem_free(&s->alloc, s->providers, (s->how.n_providers + 1) * sizeof *s->providers);
    mwl__functions_done(&s->functions);
    mwl__diags_free(&s->library);
    mwl_heap_free(s->heap);
    rpc_free(&s->rpc);
    definition_free(&s->how);
}

int cmd_lsp(int argc, char **argv) {
    struct lsp s;
    memset(&s, 0, sizeof s);
    s.alloc = mwl_alloc_default();
    definition_init(&s.how);
    mwl__diags_init(&s.library, s.alloc);
    mwl__functions_init(&s.functions, NULL);
    rpc_init(&s.rpc, STDIN_FILENO, stdout);
    const struct command_line line = {.head = head,
                                      .foot = foot,
                                      .tables = {{definition_options, DEFINITION_FORMAT, &s.how}},
                                      .operand = no_operand,
                                      .ctx = &s};
    int status = options_parse(&line, argc, argv);
    signal(SIGPIPE, SIG_IGN); /* an editor that went away is seen when writing */
    if (status == CMD_OK) status = prepare(&s);
    if (status == CMD_OK) status = lsp_serve(&s);
    release(&s);
    return status;
}
