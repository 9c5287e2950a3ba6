/* keep.c: see keep.h. The desk removes a small piece at a time, so that requests do not wait for
 * it. Several servers of a store may do that. */
#include "tools/serve/keep.h"

#include "tools/base/cmd.h"
#include "tools/durable/store.h"

#include <stdlib.h>

#define SECOND INT64_C(1000000000)
enum { PIECE = 100, USUAL_S = 60, TENTH = 10 };

struct keep {
    struct desk_job job;
    struct serve *serve;
    int64_t every_ns, next_ns;
    bool busy, more, noted;
};

static void on_work(struct desk_job *job, struct desk_tools *t) {
    struct keep *k = (struct keep *)job;
    const struct serve_options *o = k->serve->options;
    int64_t now = store_now();
    size_t n = 0;
    const mwl_store_keep keep = {o->keep_ns < 0 ? 0 : now - o->keep_ns,
                                 o->keep_failed_ns < 0 ? 0 : now - o->keep_failed_ns, PIECE};
    mwl_status status = t->store->ops->prune(t->store, &keep, &n);
    k->more = status == MWL_OK && n == PIECE;
    if (status != MWL_OK && !k->noted) cmd_note("--keep: %s", mwl_store_why(t->store));
    k->noted = status != MWL_OK;
}

static void on_done(struct desk_job *job) {
    struct keep *k = (struct keep *)job;
    k->busy = false;
    if (k->more) k->next_ns = 0;
}

void keep_turn(struct serve *s) {
    struct keep *k = s->keep;
    int64_t now = (int64_t)uv_hrtime();
    if (!k || k->busy || s->closing || now < k->next_ns) return;
    k->busy = true;
    k->next_ns = now + k->every_ns;
    desk_give(s->desk[SERVE_FIRST], &k->job);
}

/* Often enough that a run stays for a tenth of its time longer at most. */
int keep_open(struct serve *s) {
    const struct serve_options *o = s->options;
    int64_t least = o->keep_ns < 0 || (o->keep_failed_ns >= 0 && o->keep_failed_ns < o->keep_ns)
                        ? o->keep_failed_ns
                        : o->keep_ns;
    if (least < 0) return CMD_OK;
    struct keep *k = calloc(1, sizeof *k);
    s->keep = k;
    if (!k) return cmd_no_memory();
    k->serve = s;
    k->job.work = on_work;
    k->job.done = on_done;
    k->every_ns = least / TENTH;
    if (k->every_ns < SECOND) k->every_ns = SECOND;
    if (k->every_ns > USUAL_S * SECOND) k->every_ns = USUAL_S * SECOND;
    return CMD_OK;
}

void keep_close(struct serve *s) {
    free(s->keep);
    s->keep = NULL;
}
