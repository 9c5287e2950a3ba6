/* cmd_ps.c: `mwlvm ps`: the runs of a store, and the answers that they wait for. */
#include "tools/base/cmd.h"
#include "tools/base/redact.h"
#include "tools/durable/store.h"
#include "tools/base/term.h"
#include "vm/base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ps {
    struct store_line line;
    bool all, waits;
    const char *state;
    unsigned states;
    size_t n;
    struct store_runs runs; /* that wait */
    int width, width_2;     /* of the columns with names */
};

static const char head[] =
    "usage: mwlvm ps --store FILE|URL [OPTIONS]\n\n"
    "Lists the runs of a store that are not over, the oldest first. States: new (has not begun),\n"
    "live (in the memory of a process, or was when it ended), waiting (for its time or for a\n"
    "message), done, failed, aborted (ended without a Result), stuck (`mwlvm show` has the reason,\n"
    "`mwlvm resume` tries again).\n\n";

static const char foot[] =
    "\nExamples:\n"
    "  mwlvm run tools/examples/hello.json --store runs.db --id hello --detach && \\\n"
    "    mwlvm ps --store runs.db\n"
    "  mwlvm run tools/examples/hello.json --store runs.db --id hello --detach && \\\n"
    "    mwlvm ps --store runs.db --all --json\n" CMD_STATUSES;

static const struct option options[] = {
    {"--all", OPTION_FLAG, offsetof(struct ps, all), "", "all runs, also those that are over",
     NULL},
    {"--state", OPTION_WORD, offsetof(struct ps, state), "STATE", "only those in this state", NULL},
    {"--waits", OPTION_FLAG, offsetof(struct ps, waits), "",
     "list open waits for answers instead of runs", NULL},
};

static int read_state(struct ps *p) {
    static const mwl_store_state all[] = {
#define MWL_X(name, text, number) MWL_STORE_##name,
        MWL_STORE_STATES(MWL_X)
#undef MWL_X
    };
    p->states = p->all ? 0
                       : 1u << MWL_STORE_NEW | 1u << MWL_STORE_LIVE | 1u << MWL_STORE_STORED |
                             1u << MWL_STORE_STUCK;
    if (!p->state) return CMD_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(p->state, mwl_store_state_name(all[i])) == 0) {
            p->states = 1u << all[i];
            return CMD_OK;
        }
    return cmd_usage("there is no state '%s'", p->state);
}

static bool json_row(void *ctx, const mwl_store_row *row) {
    (void)ctx;
    bool over = row->state >= MWL_STORE_DONE && row->state <= MWL_STORE_FAILED;
    putchar('{');
    store_put_text("run", row->id, true);
    store_put_text("state", mwl_store_state_name(row->state), false);
    store_put_text("program", row->name, false);
    store_put_time("created", row->created_wall_ns);
    store_put_time("updated", row->updated_wall_ns);
    store_put_time("due", row->due_wall_ns);
    store_put_time("ended", row->ended_wall_ns);
    printf(",\"waits\":%zu,\"messages\":%zu,\"version\":%llu", row->n_waits, row->n_messages,
           (unsigned long long)row->version);
    if (over) store_put_json("result", row->result);
    if (!over && row->result.at) store_put_text("why", row->result.at, false);
    puts("}");
    return true;
}

/* printf counts bytes, people see letters. */
static int padded(const char *text, int width) {
    size_t len = strlen(text);
    return width + (int)(len - mwl__utf8_count(text, len));
}

static void widen(int *width, const char *text) {
    int n = (int)mwl__utf8_count(text, strlen(text));
    if (n > *width) *width = n;
}

/* Finds how wide the columns are, before anything is printed. */
static bool measure_row(void *ctx, const mwl_store_row *row) {
    struct ps *p = ctx;
    widen(&p->width, row->id);
    widen(&p->width_2, row->name);
    return true;
}

static bool measure_wait(void *ctx, const char *run, const mwl_store_wait *wait) {
    struct ps *p = ctx;
    store_runs_add(&p->runs, run);
    widen(&p->width, run);
    widen(&p->width_2, wait->name);
    return true;
}

static bool text_row(void *ctx, const mwl_store_row *row) {
    struct ps *p = ctx;
    char created[STORE_TIME], due[STORE_TIME];
    size_t len = 0;
    const char *why = row->state == MWL_STORE_STUCK && row->result.at ? row->result.at : "";
    char *hidden = redact_text(why, strlen(why), &len);
    if (hidden) why = hidden;
    if (p->n++ == 0)
        printf("%-*s %-8s %-*s %-19s  %-19s  %s\n", p->width, "RUN", "STATE", p->width_2, "PROGRAM",
               "CREATED (UTC)", "DUE (UTC)", "WAITS");
    store_time(row->due_wall_ns, due);
    term_printf(stdout, "%-*s %-8s %-*s %-19s  %-19s  %zu%s%s", padded(row->id, p->width), row->id,
                mwl_store_state_name(row->state), padded(row->name, p->width_2), row->name,
                store_time(row->created_wall_ns, created), *due ? due : "-", row->n_waits,
                *why ? "  " : "", why);
    putchar('\n');
    free(hidden);
    return true;
}

static bool json_wait(void *ctx, const char *run, const mwl_store_wait *wait) {
    struct ps *p = ctx;
    if (!store_runs_has(&p->runs, run)) return true; /* it has begun to wait just now */
    putchar('{');
    store_put_text("run", run, true);
    store_put_text("name", wait->name, false);
    printf(",\"number\":%llu", (unsigned long long)wait->number);
    store_put_time("since", wait->since_wall_ns);
    store_put_json("question", wait->question);
    puts("}");
    return true;
}

static bool text_wait(void *ctx, const char *run, const mwl_store_wait *wait) {
    struct ps *p = ctx;
    char since[STORE_TIME];
    if (!store_runs_has(&p->runs, run)) return true; /* it has begun to wait just now */
    size_t len = wait->question.len;
    char *hidden = redact_json_text(wait->question.at, len, &len);
    if (p->n++ == 0)
        printf("%-*s %-*s %-19s  %s\n", p->width, "RUN", p->width_2, "NAME", "SINCE (UTC)",
               "QUESTION");
    term_printf(stdout, "%-*s %-*s %-19s  %.*s", padded(run, p->width), run,
                padded(wait->name, p->width_2), wait->name, store_time(wait->since_wall_ns, since),
                (int)len, hidden ? hidden : wait->question.at);
    putchar('\n');
    free(hidden);
    return true;
}

/* Reads what the runs have marked as secret before it shows a question of theirs. */
static mwl_status print_waits(struct ps *p, mwl_store *s) {
    mwl_status status = s->ops->waits(s, 0, measure_wait, p);
    if (status == MWL_OK) status = store_runs_hide(s, NULL, &p->runs);
    if (status == MWL_OK) status = s->ops->waits(s, 0, p->line.json ? json_wait : text_wait, p);
    store_runs_free(&p->runs);
    return status;
}

static int print(struct ps *p, mwl_store *s) {
    const mwl_store_query query = {.states = p->states};
    p->width = p->width_2 = 20;
    if (!p->line.json && !p->waits)
        (void)s->ops->list(s, &query, measure_row, p); /* a failure comes again */
    mwl_status status = p->waits
                            ? print_waits(p, s)
                            : store_list(s, NULL, &query, p->line.json ? json_row : text_row, p);
    if (status != MWL_OK) return store_fail(s, status);
    if (!p->n && !p->line.json) puts(p->waits ? "no run waits for an answer" : "no runs");
    return CMD_OK;
}

int cmd_ps(int argc, char **argv) {
    struct ps p;
    mwl_store *s = NULL;
    memset(&p, 0, sizeof p);
    const struct command_line line = {
        head,          foot,    {{store_options, STORE_OPTIONS, &p.line}, {options, 3, &p}},
        store_operand, &p.line, false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK) status = store_line_check(&p.line, 0, NULL);
    if (status == CMD_OK) status = read_state(&p);
    if (status == CMD_OK) status = store_open(p.line.path, false, &s);
    if (status == CMD_OK) status = print(&p, s);
    mwl_store_close(s);
    return status;
}
