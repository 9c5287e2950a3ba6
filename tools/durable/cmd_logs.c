/* cmd_logs.c: `mwlvm logs [RUN]`: what happened to the runs of a store. Only what is committed is
 * there, so a crash takes nothing back that was shown. */
#include "tools/base/cmd.h"
#include "tools/durable/store.h"
#include "tools/base/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char head[] =
    "usage: mwlvm logs --store FILE|URL [RUN] [OPTIONS]\n\n"
    "Prints what happened to the runs of a store, or to one of them: accepted, each Step, each\n"
    "call, failures that were caught, those of cleanups that are in no Result (hidden),\n"
    "answers, recoveries, the end.\n\n";

static const char foot[] =
    "\nExample:\n"
    "  mwlvm run tools/examples/hello.json --store runs.db --id hello --detach && \\\n"
    "    mwlvm logs --store runs.db hello\n" CMD_STATUSES;

struct logs {
    struct store_line line;
    bool follow;
    uint64_t last;
};

static int take_after(void *base, const char *word) {
    return option_number("--after", word, 0, UINT64_MAX, &((struct logs *)base)->last);
}

static const struct option options[] = {
    {"--after", OPTION_CALL, 0, "N", "only those after number N", take_after},
    {"--follow", OPTION_FLAG, offsetof(struct logs, follow), "",
     "go on with what happens, until Ctrl-C", NULL},
};

static void print_json(uint64_t n, const char *run, const mwl_store_event *e, const char *text,
                       const char *flow) {
    printf("{\"n\":%llu", (unsigned long long)n);
    store_put_text("run", run, false);
    store_put_time("at", e->at_wall_ns);
    store_put_text("kind", e->kind, false);
    if (text) store_put_text("text", text, false);
    if (flow) store_put_text("flow", flow, false);
    puts("}");
}

static bool see(void *ctx, uint64_t n, const char *run, const mwl_store_event *e) {
    struct logs *l = ctx;
    char at[STORE_TIME];
    const char *flow;
    char *text = store_event_text(e, &flow);
    l->last = n;
    if (l->line.json) {
        print_json(n, run, e, text, flow);
    } else {
        term_printf(stdout, "%s  %-20s %-11s %s%s%s", store_time(e->at_wall_ns, at), run, e->kind,
                    text ? text : "", flow && *flow ? " of " : "", flow ? flow : "");
        putchar('\n');
    }
    free(text);
    return true;
}

static int print(struct logs *l, mwl_store *s) {
    int status = CMD_OK;
    int64_t seq = l->line.n_words ? store_find(s, l->line.words[0], &status) : 0;
    while (status == CMD_OK) {
        mwl_status got = s->ops->events(s, seq, l->last, see, l);
        if (got != MWL_OK) status = store_fail(s, got);
        if (!l->follow || status != CMD_OK || fflush(stdout) != 0) break;
        nanosleep(&(struct timespec){0, 200000000}, NULL);
    }
    return status;
}

int cmd_logs(int argc, char **argv) {
    struct logs l;
    mwl_store *s = NULL;
    memset(&l, 0, sizeof l);
    l.line.most = 1;
    const struct command_line line = {
        head,          foot,    {{store_options, STORE_OPTIONS, &l.line}, {options, 2, &l}},
        store_operand, &l.line, false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK) status = store_line_check(&l.line, 0, NULL);
    if (status == CMD_OK) status = store_open(l.line.path, false, &s);
    if (status == CMD_OK) status = print(&l, s);
    mwl_store_close(s);
    return status;
}
