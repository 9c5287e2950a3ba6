/* drive.c: see drive.h.
 *
 * The VM's thread pumps, collects changes and gives them to the writer; the writer wakes the loop
 * when it has committed them. About twenty times a second the store is asked for messages and for
 * runs that are due. That costs next to nothing on SQLite when there is nothing new; on PostgreSQL
 * it is some statements, so it is asked less and less often (idle_ns) until something happens. */
#include "tools/durable/drive.h"

#include "tools/base/cmd.h"
#include "tools/durable/fits.h"
#include "tools/base/interrupt.h"
#include "tools/base/redact.h"
#include "tools/base/term.h"
#include "tools/show/live.h"
#include "tools/durable/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum {
    POLL_NS = 50000000,
    IDLE_NS = 250000000,
    IDLE_PART = 16, /* of the lease */
    LOOK_NS = 250000000,
    DRAW_NS = 100000000,
    CLOCK_NS = 1000000000 /* how much two clocks may differ without a word */
};

/* Several threads may drive; what they make at first is shared. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

struct drive {
    const struct drive_how *how;
    struct session *session;
    mwl_durable *driver;
    mwl_durable_writer *writer;
    mwl_limits limits; /* the most that a run may have */
    int64_t next_poll_ns, next_look_ns, drained_ns;
    int64_t pause_ns;                   /* between two polls */
    uint64_t happened;                  /* runs, messages and changes when the last one was asked */
    unsigned polls;                     /* that were done */
    uint64_t given_ns, last_ns, all_ns; /* of works: see drive_times */
    bool asks;                          /* the present work has a poll */
    int64_t polled_ns;                  /* when the last one was answered */
    struct live live;
    int64_t next_draw_ns; /* of the live line; MWL_NEVER: there is none */
    bool over, left, in_trouble, odd_clock;
    int status;
};

/* ---- what is shown --------------------------------------------------------------------------- */

static void on_ended(void *ctx, const mwl_durable_ended *run) {
    struct drive *d = ctx;
    if (run->run) session_forget(d->session, run->run);
    if (d->next_draw_ns != MWL_NEVER) term_status_clear(); /* the Result may come there */
    if (d->how->ended(d->how->ctx, d->session->heap, run)) d->over = true;
}

/* A store that refuses is reported once, and once when it accepts again. */
static void report_trouble(struct drive *d) {
    char why[300];
    bool now = mwl_durable_writer_trouble(d->writer, why, sizeof why) > 0;
    if (now && !d->in_trouble) cmd_note("%s; nothing is lost, trying again", why);
    if (!now && d->in_trouble) cmd_note("the store accepts changes again");
    d->in_trouble = now;
}

/* The clock of this machine and that of the store differ. It is said once, and again after it was
 * mended. */
static void report_clock(struct drive *d) {
    int64_t ns = store_clock_offset(), most = d->odd_clock ? CLOCK_NS / 2 : CLOCK_NS;
    bool odd = ns > most || ns < -most;
    if (odd && !d->odd_clock)
        cmd_note("the clock of this machine is %.1f s %s that of the database; the database's is "
                 "used",
                 (double)(ns < 0 ? -ns : ns) / 1e9, ns < 0 ? "ahead of" : "behind");
    d->odd_clock = odd;
}

/* ---- the live line --------------------------------------------------------------------------- */

/* Of the one run that is waited for. */
static void begin_live(struct drive *d) {
    const struct run_options *o = d->how->options;
    bool shown = d->how->n_only == 1 && !o->quiet && !o->verbose && !o->trace && !o->detach &&
                 term_status_possible();
    d->live = (struct live){NULL, session_now_ns(), o->virtual_time};
    d->next_draw_ns = shown ? d->live.start_ns + LIVE_AFTER_NS : MWL_NEVER;
}

static void draw_live(struct drive *d) {
    int64_t now = session_now_ns();
    if (d->over || now < d->next_draw_ns) return;
    d->live.run = mwl_vm_runs(d->session->vm, NULL); /* NULL: it waits in the store alone */
    if (d->live.run && mwl_run_get_state(d->live.run) < MWL_RUN_DONE) live_draw(&d->live);
    d->next_draw_ns = now + DRAW_NS;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void take_result(struct drive *d) {
    char why[300];
    mwl_durable_work *work = mwl_durable_writer_get(d->writer);
    if (!work) return;
    d->last_ns = uv_hrtime() - d->given_ns;
    d->all_ns += d->last_ns;
    mwl_status status = mwl_durable_done(d->driver, work);
    d->polls++;
    store_clock_set(d->how->store);
    if (d->asks && status == MWL_OK) d->polled_ns = session_now_ns();
    if (mwl_durable_more(d->driver)) d->next_poll_ns = 0;
    if (status == MWL_OK) return;
    (void)mwl_durable_writer_trouble(d->writer, why, sizeof why);
    cmd_fail("%s", *why ? why : mwl_status_text(status));
    d->status = store_exit(status);
    d->over = true;
}

/* Twice as long after a poll that has found nothing, and short again when something happens. Not
 * longer than until a run is due. */
static void choose_pause(struct drive *d, int64_t now) {
    const mwl_durable_counts n = mwl_durable_count(d->driver);
    uint64_t happened = n.started + n.answers + n.changes;
    int64_t due = mwl_durable_next_wall_ns(d->driver);
    mwl_instant at;
    mwl_vm_now(d->session->vm, &at);
    d->pause_ns = happened != d->happened || !d->pause_ns ? POLL_NS : 2 * d->pause_ns;
    if (d->pause_ns > d->how->idle_ns) d->pause_ns = d->how->idle_ns;
    if (d->pause_ns < POLL_NS) d->pause_ns = POLL_NS;
    d->happened = happened;
    int64_t pause = d->pause_ns;
    if (due > at.wall_ns && due - at.wall_ns < pause) pause = due - at.wall_ns;
    d->next_poll_ns = now + pause;
}

static void give_work(struct drive *d) {
    int64_t now = session_now_ns();
    bool poll = now >= d->next_poll_ns;
    if (mwl_durable_writer_busy(d->writer)) return;
    mwl_durable_work *work = mwl_durable_take(d->driver, poll);
    if (!work) return;
    if (poll) choose_pause(d, now);
    d->asks = poll;
    d->given_ns = uv_hrtime();
    mwl_durable_writer_give(d->writer, work);
}

int64_t drive_idle_ns(const char *store, int64_t lease_ns) {
    if (!store_is_shared(store)) return 0;
    return lease_ns && lease_ns / IDLE_PART < IDLE_NS ? lease_ns / IDLE_PART : IDLE_NS;
}

void drive_poll_soon(struct drive *d) { d->next_poll_ns = 0; }

void drive_times(const struct drive *d, uint64_t *last_ns, uint64_t *all_ns) {
    *last_ns = d->last_ns;
    *all_ns = d->all_ns;
}

int64_t drive_poll_age_ns(const struct drive *d) { return session_now_ns() - d->polled_ns; }

/* Nothing is in memory, nothing is on its way, and nothing is due. */
static bool is_idle(const struct drive *d) {
    mwl_instant now;
    mwl_vm_now(d->session->vm, &now);
    return d->how->until_idle && d->polls && !mwl_durable_writer_busy(d->writer) &&
           !mwl_durable_runs(d->driver) && !mwl_durable_waiting(d->driver) &&
           !mwl_durable_more(d->driver) && mwl_durable_next_wall_ns(d->driver) > now.wall_ns;
}

/* Somebody else may have ended what is waited for. */
static void look(struct drive *d) {
    int64_t now = session_now_ns();
    if (d->over || !d->how->look || now < d->next_look_ns) return;
    d->next_look_ns = now + LOOK_NS;
    if (d->how->look(d->how->ctx)) d->over = true;
}

/* After a request to end. */
static void drain(struct drive *d) {
    int64_t now = session_now_ns();
    if (!d->drained_ns) {
        mwl_durable_drain(d->driver);
        d->drained_ns = now + d->how->worker->drain_ns;
    }
    bool gone = !mwl_durable_writer_busy(d->writer) && !mwl_durable_runs(d->driver) &&
                !mwl_durable_waiting(d->driver);
    if (gone || now > d->drained_ns || interrupt_requests() > 1) d->over = true;
}

/* When the store is asked next; the other part of the loop has its turn as often as always. Not
 * while the writer works: it wakes the loop when it is done, and a poll that is overdue must not
 * keep the loop turning until then. */
static int64_t next_poll(const struct drive *d) {
    int64_t soon = session_now_ns() + POLL_NS;
    bool waits = mwl_durable_writer_busy(d->writer) && d->next_poll_ns < soon;
    bool early = d->how->part && d->next_poll_ns > soon;
    return waits || early ? soon : d->next_poll_ns;
}

/* Takes the store's result before the turn, so that claimed runs and released calls get theirs now,
 * and not after the next poll. */
static void turn(struct drive *d) {
    int64_t due;
    take_result(d);
    enum session_next vm = session_turn(&d->session->turns, NULL, &due);
    int64_t next = mwl_durable_collect(d->driver);
    report_trouble(d);
    report_clock(d);
    look(d);
    if (d->how->worker && interrupt_requests() > 0) drain(d);
    draw_live(d);
    if (d->over) return;
    if (d->how->part) d->how->part->turn(d->how->part->ctx);
    if (is_idle(d)) {
        d->over = true;
        return;
    }
    give_work(d);
    int64_t poll = next_poll(d);
    if (next < due) due = next;
    if (poll < due) due = poll;
    if (d->next_draw_ns < due) due = d->next_draw_ns;
    session_rest(d->session, next == 0 ? SESSION_AGAIN : vm, due);
}

/* The runs stay in the store. What was committed is enough: the rest is done again. */
static void leave(struct drive *d) {
    cmd_note("%s: the runs stay in the store; `mwlvm resume` goes on", interrupt_words());
    interrupt_answered(interrupt_requests());
    d->left = true;
}

static void run(struct drive *d) {
    if (d->how->worker) {
        while (!d->over) turn(d);
        return;
    }
    int why = interrupt_watch(session_ring, &d->session->loop);
    if (why) {
        d->status = cmd_fail("signals: %s", strerror(why));
        return;
    }
    begin_live(d);
    while (!d->over && !d->left) {
        turn(d);
        if (interrupt_requests() > 0) leave(d);
    }
    if (d->next_draw_ns != MWL_NEVER) term_status_clear();
    interrupt_unwatch();
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool on_answer(void *ctx, mwl_value arguments, mwl_value answer, char *why, size_t cap) {
    const struct drive *d = ctx;
    return fits(d->session->heap, arguments, answer, why, cap);
}

static bool on_allowed(void *ctx, const mwl_program *program, const char *name) {
    const struct drive *d = ctx;
    return d->how->worker->allowed(d->how->worker->ctx, program, name);
}

static mwl_status write_secrets(void *ctx, mwl_run *run, mwl_json_sink *sink, void *to) {
    (void)ctx;
    return redact_save(mwl_run_id(run), sink, to);
}

static mwl_status read_secrets(void *ctx, const char *run, const char *json, size_t len) {
    (void)ctx;
    return redact_load(run, json, len);
}

/* A command for one run shows more of it afterwards. */
static void end_secrets(void *ctx, const char *run) {
    const struct drive *d = ctx;
    if (d->how->worker) redact_end(run);
}

static char *hide(void *ctx, const char *text) {
    size_t len = 0;
    (void)ctx;
    return redact_text(text, strlen(text), &len);
}

static int make(struct drive *d) {
    const struct drive_how *how = d->how;
    const struct session_host host = {.loop = how->loop, .hold = true, .clock = store_clock()};
    const mwl_durable_options options = {.only = how->only,
                                         .n_only = how->n_only,
                                         .events = true,
                                         .ended = on_ended,
                                         .allowed = how->worker ? on_allowed : NULL,
                                         .ctx = d,
                                         .remote = how->options->remotes.uris,
                                         .fits = on_answer,
                                         .limits = &d->limits,
                                         .secrets_write = write_secrets,
                                         .secrets_read = read_secrets,
                                         .secrets_end = end_secrets,
                                         .hide = hide};
    d->limits.fuel = how->options->definition.limits.fuel;
    d->limits.memory_bytes = how->options->definition.limits.memory;
    pthread_mutex_lock(&making);
    int status = session_open(how->options, NULL, &host, &d->session);
    pthread_mutex_unlock(&making);
    if (status != CMD_OK) return status;
    mwl_status made = mwl_durable_new(d->session->vm, &options, &d->driver);
    if (made == MWL_OK)
        made = mwl_durable_writer_new(how->store, session_ring, &d->session->loop, &d->writer);
    if (made == MWL_OK && how->keep) mwl_durable_writer_keep(d->writer, how->keep);
    return cmd_status(made);
}

int drive(const struct drive_how *how, bool *left) {
    struct drive d = {.next_draw_ns = MWL_NEVER, .how = how, .polled_ns = session_now_ns()};
    *left = false;
    d.status = make(&d);
    const struct drive_view view = {&d, d.session ? d.session->loop.loop : NULL, d.driver,
                                    d.writer};
    bool opened = d.status == CMD_OK && how->part;
    if (opened) d.status = how->part->open(how->part->ctx, &view);
    if (d.status == CMD_OK) run(&d);
    if (opened) how->part->close(how->part->ctx);
    mwl_durable_writer_stop(d.writer);
    mwl_durable_free(d.driver);
    pthread_mutex_lock(&making);
    session_close(d.session);
    pthread_mutex_unlock(&making);
    if (how->loop) uv_loop_close(how->loop);
    *left = d.left;
    if (d.left) cmd_end_by_signal(interrupt_first());
    return d.status;
}
