/* cmd_prune.c: `mwlvm prune` and `mwlvm backup`: what is removed from a store, and a copy of it. */
#include "tools/base/cmd.h"
#include "tools/durable/store.h"

#include <stdio.h>
#include <string.h>

struct prune {
    struct store_line line;
    const char *keep, *keep_failed;
};

static const char prune_head[] =
    "usage: mwlvm prune --store FILE|URL [OPTIONS]\n\n"
    "Removes runs that are over, with their Results and logs, and programs that no run needs.\n"
    "Runs that are not over stay.\n\n";
static const char prune_foot[] =
    "\nExample:\n"
    "  mwlvm run tools/examples/hello.json --store runs.db --id hello --detach && \\\n"
    "    mwlvm prune --store runs.db --keep P7D\n" CMD_STATUSES;
static const struct option prune_options[] = {
    {"--keep", OPTION_WORD, offsetof(struct prune, keep), "DURATION",
     "how long runs that are done stay in the store; P7D unless given", NULL},
    {"--keep-failed", OPTION_WORD, offsetof(struct prune, keep_failed), "DURATION",
     "how long failed ones stay; P30D unless given", NULL},
};

static const char backup_head[] =
    "usage: mwlvm backup --store FILE|URL COPY\n\n"
    "Copies a store as it is at one instant into a new file, while runs go on. The copy is a store.\n\n";
static const char backup_foot[] =
    "\nExample:\n"
    "  mwlvm run tools/examples/hello.json --store runs.db --id hello --detach && \\\n"
    "    mwlvm backup --store runs.db runs-copy.db\n" CMD_STATUSES;

static int prune(const struct prune *p, mwl_store *s) {
    mwl_durable_keep kept;
    int64_t now = store_now();
    size_t n = 0, all = 0;
    int status = store_keep_read(p->keep, p->keep_failed, &kept);
    if (status != CMD_OK) return status;
    mwl_store_keep keep = {now - kept.done_ns, now - kept.failed_ns, 1000};
    do {
        mwl_status got = s->ops->prune(s, &keep, &n);
        if (got != MWL_OK) return store_fail(s, got);
        all += n;
    } while (n == keep.most);
    printf(p->line.json ? "{\"removed\":%zu}\n" : "%zu removed\n", all);
    return CMD_OK;
}

int cmd_prune(int argc, char **argv) {
    struct prune p;
    mwl_store *s = NULL;
    memset(&p, 0, sizeof p);
    const struct command_line line = {
        prune_head,
        prune_foot,
        {{store_options, STORE_OPTIONS, &p.line}, {prune_options, 2, &p}},
        store_operand,
        &p.line,
        false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK) status = store_line_check(&p.line, 0, NULL);
    if (status == CMD_OK) status = store_open(p.line.path, false, &s);
    if (status == CMD_OK) status = prune(&p, s);
    mwl_store_close(s);
    return status;
}

int cmd_backup(int argc, char **argv) {
    static const char *const names[] = {"COPY"};
    struct store_line l;
    mwl_store *s = NULL;
    memset(&l, 0, sizeof l);
    l.most = 1;
    const struct command_line line = {
        backup_head, backup_foot, {{store_options, STORE_PLACE, &l}}, store_operand, &l, false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK) status = store_line_check(&l, 1, names);
    if (status == CMD_OK) status = store_open(l.path, false, &s);
    if (status == CMD_OK) {
        mwl_status got = s->ops->backup(s, l.words[0]);
        if (got != MWL_OK) status = store_fail(s, got);
    }
    mwl_store_close(s);
    return status;
}
