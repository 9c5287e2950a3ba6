/* cmd_explain.c: `mwlvm explain [CODE]`: what a diagnostic or the code of a failure means, or the
 * list of all. */
#include "tools/base/cmd.h"
#include "tools/words/failure_guide.h"
#include "tools/words/guide.h"
#include "tools/base/options.h"
#include "vm/base/suggest.h"

#include <stdio.h>

static const char head[] =
    "usage: mwlvm explain [CODE]\n\n"
    "Prints what a diagnostic means, with an example. CODE is its code (MWL0301) or its name\n"
    "(unknown-step), or the code of a failure (System.Cancelled); without one, all of them are\n"
    "listed.\n\n";

static int operand(void *ctx, const char *word) {
    const char **code = ctx;
    if (*code) return cmd_usage("one CODE is wanted, not '%s' and '%s'", *code, word);
    *code = word;
    return CMD_OK;
}

static int list_all(void) {
    size_t n;
    const mwl__diag_info *rows = mwl__diag_rows(&n);
    for (size_t i = 0; i < n; i++)
        printf("MWL%04d  %-7s  %-26s  %s\n", (int)rows[i].code,
               mwl__severity_name(rows[i].severity), rows[i].name, rows[i].title);
    const struct failure_row *failures = failure_rows(&n);
    for (size_t i = 0; i < n; i++) printf("%-35s  %s\n", failures[i].code, failures[i].title);
    return CMD_OK;
}

static int unknown(const char *code) {
    size_t n;
    char provider[64];
    if (failure_provider(code, provider, sizeof provider))
        return cmd_usage("'%s' is a code of a provider; `mwlvm providers %s` explains its codes",
                         code, provider);
    const mwl__diag_info *rows = mwl__diag_rows(&n);
    mwl__suggest s = mwl__suggest_make(code, strlen(code));
    for (size_t i = 0; i < n; i++) mwl__suggest_offer(&s, rows[i].name, strlen(rows[i].name));
    const struct failure_row *failures = failure_rows(&n);
    for (size_t i = 0; i < n; i++)
        mwl__suggest_offer(&s, failures[i].code, strlen(failures[i].code));
    if (s.best)
        return cmd_usage("there is no code '%s'; did you mean '%.*s'?", code, (int)s.best_len,
                         s.best);
    return cmd_usage("there is no code '%s'; `mwlvm explain` lists them", code);
}

int cmd_explain(int argc, char **argv) {
    const char *code = NULL;
    const struct command_line line = {.head = head,
                                      .foot = "\nExample:\n  mwlvm explain unknown-step\n",
                                      .operand = operand,
                                      .ctx = &code};
    int status = options_parse(&line, argc, argv);
    if (status != CMD_OK) return status;
    if (!code) return list_all();
    const struct failure_row *failure = failure_find(code);
    if (failure) {
        printf("%s: %s\n\n%s", failure->code, failure->title, failure->text);
        return CMD_OK;
    }
    const mwl__diag_info *row = mwl__diag_find(code);
    if (!row) return unknown(code);
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    guide_explain(row, &out);
    status = out.failed ? cmd_no_memory() : CMD_OK;
    if (out.len) fwrite(out.data, 1, out.len, stdout);
    mwl__buf_free(&out);
    return status;
}
