/* machine.c: see machine.h. */
#include "tools/debug/machine.h"

#include "tools/base/cmd.h"
#include "tools/session/values.h"
#include "vm/machine/state.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000 };

/* ---- the hand-over --------------------------------------------------------------------------- */

/* The machine's thread: stands still until it may go on. */
static void stand(struct machine *m, enum machine_state state) {
    pthread_mutex_lock(&m->lock);
    m->state = state;
    pthread_cond_broadcast(&m->turn);
    ssize_t rung = m->bell >= 0 ? write(m->bell, "!", 1) : 0;
    (void)rung; /* a full pipe has rung already */
    while (m->state != MACHINE_RUNS && !m->quits) pthread_cond_wait(&m->turn, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

static bool quits(struct machine *m) {
    pthread_mutex_lock(&m->lock);
    bool yes = m->quits;
    pthread_mutex_unlock(&m->lock);
    return yes;
}

void machine_go(struct machine *m) {
    pthread_mutex_lock(&m->lock);
    if (m->state == MACHINE_STANDS) m->state = MACHINE_RUNS;
    pthread_cond_broadcast(&m->turn);
    pthread_mutex_unlock(&m->lock);
}

void machine_wait(struct machine *m) {
    pthread_mutex_lock(&m->lock);
    while (m->state == MACHINE_RUNS) pthread_cond_wait(&m->turn, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

bool machine_wait_ms(struct machine *m, int ms) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end); /* pthread_cond_timedwait uses this clock */
    end.tv_nsec += (long)ms * NS_PER_MS;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&m->lock);
    while (m->state == MACHINE_RUNS && pthread_cond_timedwait(&m->turn, &m->lock, &end) == 0) {
    }
    bool stands = m->state != MACHINE_RUNS;
    pthread_mutex_unlock(&m->lock);
    return stands;
}

enum machine_state machine_state(struct machine *m) {
    pthread_mutex_lock(&m->lock);
    enum machine_state state = m->state;
    pthread_mutex_unlock(&m->lock);
    return state;
}

void machine_pause(struct machine *m) {
    pthread_mutex_lock(&m->lock);
    m->paused = true;
    if (m->rings) session_ring(&m->session->loop);
    pthread_mutex_unlock(&m->lock);
}

bool machine_paused(struct machine *m) {
    pthread_mutex_lock(&m->lock);
    bool yes = m->paused;
    m->paused = false;
    pthread_mutex_unlock(&m->lock);
    return yes;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void hear(void *ctx, const mwl_trace_event *event) {
    struct machine *m = ctx;
    if (quits(m)) return;
    m->n_events++;
    journal_event(m->journaled, event);
    m->event = event;
    if (m->decide(m->ctx, m, event)) stand(m, MACHINE_STANDS);
    m->event = NULL;
}

/* Keeps the last thing that is open: what the run waits for. */
static void see_open(void *ctx, const mwl_trace_event *event) {
    mwl_trace_event *last = ctx;
    *last = *event;
    last->branch = NULL; /* lent for this call only */
    last->n_branch = 0;
}

/* A run that waits has no events: it stands between two slices, in what it waits for. */
static void stand_between(struct machine *m) {
    mwl_trace_event open;
    memset(&open, 0, sizeof open);
    mwl_run_look(m->run, see_open, &open);
    if (!open.run) return;
    m->event = &open;
    m->waits = true;
    stand(m, MACHINE_STANDS);
    m->waits = false;
    m->event = NULL;
}

static void set_rings(struct machine *m, bool yes) {
    pthread_mutex_lock(&m->lock);
    m->rings = yes;
    pthread_mutex_unlock(&m->lock);
}

/* Runs until the end. */
static void drive(struct machine *m) {
    enum session_next next = SESSION_AGAIN;
    set_rings(m, true);
    while (next != SESSION_OVER && next != SESSION_STUCK && !quits(m)) {
        int64_t due;
        (void)journal_deliver(m->journaled, m->run);
        next = session_turn(&m->session->turns, m->run, &due);
        if (next == SESSION_STUCK && journal_deliver(m->journaled, m->run)) next = SESSION_AGAIN;
        if (next == SESSION_AGAIN || next == SESSION_WAITS) session_rest(m->session, next, due);
        if (!session_is_over(m->run) && machine_paused(m)) stand_between(m);
    }
    m->stuck = next == SESSION_STUCK;
    set_rings(m, false);
}

static bool is_bound(void *ctx, const char *uri) { return binds_has(ctx, uri); }

static int start_run(struct machine *m) {
    const struct debug_setup *setup = m->setup;
    struct session_turns *turns = &m->session->turns;
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_heap *h = m->session->heap;
    mwl_limits limits;
    int allowed = session_limits(&setup->options.definition.limits, setup->heap, &limits);
    if (allowed != CMD_OK) return allowed;
    mwl_start start = setup->start;
    start.limits = &limits;
    start.input = mwl_is_absent(start.input) ? mwl_null() : mwl_value_copy(h, start.input);
    start.arguments = mwl_value_copy(h, start.arguments);
    turns->cancels = setup->cancel_after_ns >= 0;
    turns->cancel_ns = m->began.mono_ns + setup->cancel_after_ns;
    mwl_status status = mwl_run_start(m->vm, setup->program, &start, &m->run, &error);
    session_drop(h, &start);
    return status >= 0 ? CMD_OK : session_refused(setup->options.definition.path, status, &error);
}

static int prepare(struct machine *m) {
    const struct session_host host = {.silent = true};
    int status = session_open(&m->setup->options, m->setup->program, &host, &m->session);
    if (status != CMD_OK) return status;
    m->vm = m->session->vm;
    m->journaled = journal_attach(m->journal, m->vm, &m->n_events, is_bound,
                                  (void *)(uintptr_t)&m->setup->options.binds);
    if (!m->journaled) return cmd_no_memory();
    mwl_vm_now(m->vm, &m->began);
    mwl_vm_trace(m->vm, hear, m);
    return start_run(m);
}

static void *run_thread(void *ctx) {
    struct machine *m = ctx;
    m->status = prepare(m);
    if (m->status == CMD_OK) drive(m);
    stand(m, MACHINE_OVER);
    if (m->vm) mwl_vm_trace(m->vm, NULL, NULL);
    if (m->run) mwl_run_free(m->run);
    m->run = NULL;
    session_close(m->session);
    journal_detach(m->journaled);
    m->session = NULL;
    m->vm = NULL;
    m->journaled = NULL;
    return NULL;
}

int machine_start(struct machine *m) {
    m->state = MACHINE_RUNS;
    m->quits = m->paused = m->stuck = m->rings = false;
    m->n_events = 0;
    m->event = NULL;
    m->status = CMD_OK;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->turn, NULL);
    int why = pthread_create(&m->thread, NULL, run_thread, m);
    return why ? cmd_fail("a thread for the run: %s", strerror(why)) : CMD_OK;
}

void machine_end(struct machine *m) {
    pthread_mutex_lock(&m->lock);
    m->quits = true;
    if (m->rings) session_ring(&m->session->loop);
    pthread_cond_broadcast(&m->turn);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    pthread_cond_destroy(&m->turn);
    pthread_mutex_destroy(&m->lock);
}
