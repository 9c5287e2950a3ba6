/* cmd_dap.c: `mwlvm dap`: the debugger for editors, on standard input and output. */
#include "tools/base/cmd.h"
#include "tools/debug/dap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char head[] =
    "usage: mwlvm dap\n\n"
    "Speaks the Debug Adapter Protocol on standard input and output: what `mwlvm debug` does, for\n"
    "editors. The arguments of `launch` are `program` (a definition), `input`, `arguments`,\n"
    "`stopOnEntry`, `realTime`, and `args` (options as `mwlvm debug` has them). An editor starts it;\n"
    "tools/EDITOR.md says how for VS Code, Neovim and Emacs.\n\n";

static const char foot[] =
    "\nExample: what it can do:\n"
    "  printf 'Content-Length: %d\\r\\n\\r\\n%s' 49 '{\"seq\":1,\"type\":\"request\",\"command\":"
    "\"initialize\"}' | mwlvm dap\n"
    "\nExit status: 0 the editor has ended the session; 1 it cannot be reached; 2 wrong usage.\n";

static int no_operand(void *ctx, const char *word) {
    (void)ctx;
    return cmd_usage("dap takes no operand, but got '%s'", word);
}

/* The protocol gets copies of standard input and output; what else writes to the output writes to
 * standard error, and nothing else reads the input. */
static int take_pipes(struct dap *d) {
    int in = dup(STDIN_FILENO), out = dup(STDOUT_FILENO), none = open("/dev/null", O_RDONLY);
    FILE *file = out < 0 ? NULL : fdopen(out, "w");
    if (file) rpc_init(&d->rpc, in, file); /* release closes them */
    if (in < 0 || !file || none < 0 || pipe(d->bell) < 0 || dup2(none, STDIN_FILENO) < 0 ||
        dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return cmd_fail("pipes: %s", strerror(errno));
    close(none);
    return CMD_OK;
}

static void release(struct dap *d) {
    const mwl_alloc alloc = mwl_alloc_default();
    if (d->begun && !d->running) dap_forget(d);
    walk_end(&d->walk);
    setup_free(&d->setup);
    mwl_heap_free(d->heap);
    if (d->rpc.out) {
        fclose(d->rpc.out);
        close(d->rpc.in);
        rpc_free(&d->rpc);
    }
    for (size_t i = 0; i < d->n_threads; i++) free(d->threads[i]);
    for (size_t i = 0; i < d->n_words; i++) free(d->words[i]);
    for (int i = 0; i < 2; i++)
        if (d->bell[i] >= 0) close(d->bell[i]);
    mwl__mem_free(&alloc, d->threads, d->cap_threads * sizeof *d->threads);
    mwl__mem_free(&alloc, d->values, d->cap_values * sizeof *d->values);
    mwl__mem_free(&alloc, d->frames, d->cap_frames * sizeof *d->frames);
    free(d->steps);
    free(d->path);
}

int cmd_dap(int argc, char **argv) {
    struct dap d;
    const struct command_line line = {.head = head, .foot = foot, .operand = no_operand};
    int status = options_parse(&line, argc, argv);
    if (status != CMD_OK) return status;
    memset(&d, 0, sizeof d);
    d.bell[0] = d.bell[1] = -1;
    setup_init(&d.setup);
    signal(SIGPIPE, SIG_IGN);
    status = take_pipes(&d);
    if (status == CMD_OK && mwl_heap_new(NULL, &d.heap) != MWL_OK) status = cmd_no_memory();
    if (status == CMD_OK) status = dap_serve(&d);
    release(&d);
    return status;
}
