/* cmd_explain.c: `mwlvm explain [CODE]`: what a diagnostic means, or the list of all. */
#include "cmd.h"
#include "assembler/source/diag.h"
#include "vm/base/suggest.h"

#include <stdio.h>

static const char help[] =
    "usage: mwlvm explain [CODE]\n\n"
    "Prints what a diagnostic means, with an example. CODE is its code (MWL0301) or its name\n"
    "(unknown-step); without one, all of them are listed.\n";

static int list_all(void) {
    size_t n;
    const mwl__diag_info *rows = mwl__diag_rows(&n);
    for (size_t i = 0; i < n; i++)
        printf("MWL%04d  %-7s  %-26s  %s\n", (int)rows[i].code,
               mwl__severity_name(rows[i].severity), rows[i].name, rows[i].title);
    return CMD_OK;
}

int cmd_explain(int argc, char **argv) {
    if (cmd_help(argc, argv, help)) return CMD_OK;
    if (argc > 2) return cmd_usage("explain takes one CODE");
    if (argc == 1) return list_all();
    const mwl__diag_info *row = mwl__diag_find(argv[1]);
    if (!row) {
        size_t n;
        const mwl__diag_info *rows = mwl__diag_rows(&n);
        mwl__suggest s = mwl__suggest_make(argv[1], strlen(argv[1]));
        for (size_t i = 0; i < n; i++) mwl__suggest_offer(&s, rows[i].name, strlen(rows[i].name));
        if (s.best)
            return cmd_usage("there is no diagnostic '%s'; did you mean '%.*s'?", argv[1],
                             (int)s.best_len, s.best);
        return cmd_usage("there is no diagnostic '%s'; 'mwlvm explain' lists them", argv[1]);
    }
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__diag_explain(row, &out);
    int answer = out.failed ? cmd_fail("%s", mwl_status_text(MWL_E_NOMEM)) : CMD_OK;
    if (out.len) fwrite(out.data, 1, out.len, stdout);
    mwl__buf_free(&out);
    return answer;
}
