/* machine.c: see machine.h. */
#include "tools/debug/machine.h"

#include "tools/base/cmd.h"
#include "tools/run/host_uv.h"
#include "vm/machine/state.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BUDGET_NS = 5000000, NS_PER_MS = 1000000 };

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
    if (m->wakes) uv_async_send(&m->wake);
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

static bool is_over(struct machine *m) { return mwl_run_get_state(m->run) >= MWL_RUN_DONE; }

static void on_timer(uv_timer_t *timer) { uv_stop(timer->loop); }

/* Waits for real work, or for the instant. */
static void wait_real(uv_loop_t *loop, uv_timer_t *timer, int64_t due_ns) {
    if (due_ns != MWL_NEVER) {
        int64_t left = due_ns - (int64_t)uv_hrtime();
        uv_update_time(loop);
        uv_timer_start(timer, on_timer, left <= 0 ? 0 : (uint64_t)(left - 1) / NS_PER_MS + 1, 0);
    }
    uv_run(loop, UV_RUN_ONCE);
    uv_timer_stop(timer);
}

/* One slice in virtual time, which moves no further than `stop_ns`. Returns false if nothing can
 * ever happen. */
static bool turn_virtual(struct machine *m, uv_loop_t *loop, int64_t stop_ns) {
    mwl_instant now;
    int64_t due = mwl_vm_pump(m->vm, 0);
    if (is_over(m)) return true;
    bool busy = run_vm_pending(m->made) > 0; /* real work is not skipped */
    mwl_vm_now(m->vm, &now);
    int64_t to = due < stop_ns ? due : stop_ns;
    if (!busy && due != 0 && to != MWL_NEVER && to > now.mono_ns)
        mwl_vm_pump(m->vm, to - now.mono_ns);
    if (!busy && due == MWL_NEVER && stop_ns == MWL_NEVER) return false;
    uv_run(loop, busy && due != 0 ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    return true;
}

static bool turn_real(struct machine *m, uv_loop_t *loop, uv_timer_t *timer, int64_t stop_ns) {
    int64_t due = mwl_vm_pump(m->vm, BUDGET_NS);
    if (is_over(m)) return true;
    if (due == 0)
        uv_run(loop, UV_RUN_NOWAIT);
    else
        wait_real(loop, timer, due < stop_ns ? due : stop_ns);
    return true;
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

/* Runs until the end. The outside cancellation is applied after all work of that instant. */
static void drive(struct machine *m, uv_loop_t *loop, uv_timer_t *timer) {
    mwl_instant now;
    int64_t stop = MWL_NEVER;
    mwl_vm_now(m->vm, &now);
    if (m->setup->cancel_after_ns >= 0) stop = now.mono_ns + m->setup->cancel_after_ns;
    while (!is_over(m) && !quits(m)) {
        journal_deliver(m->journaled, m->run);
        mwl_vm_now(m->vm, &now);
        if (now.mono_ns >= stop && mwl_vm_pump(m->vm, 0) > now.mono_ns) {
            mwl_run_cancel(m->run, NULL);
            stop = MWL_NEVER;
        }
        bool alive = m->setup->options.virtual_time ? turn_virtual(m, loop, stop)
                                                    : turn_real(m, loop, timer, stop);
        if (!alive && !is_over(m)) {
            m->stuck = true;
            break;
        }
        if (!is_over(m) && machine_paused(m)) stand_between(m);
    }
}

static void limit(const struct machine *m, mwl_limits *out) {
    const struct limits *l = &m->setup->options.definition.limits;
    memset(out, 0, sizeof *out);
    out->fuel = l->fuel;
    out->memory_bytes = l->memory;
}

static bool is_bound(void *ctx, const char *uri) { return binds_has(ctx, uri); }

static int start_run(struct machine *m) {
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_limits limits;
    mwl_heap *h = mwl_vm_heap(m->vm);
    limit(m, &limits);
    mwl_value input =
                  mwl_is_absent(m->setup->input) ? mwl_null() : mwl_value_copy(h, m->setup->input),
              arguments = mwl_value_copy(h, m->setup->arguments);
    const mwl_start start = {
        .id = m->setup->options.id, .input = input, .arguments = arguments, .limits = &limits};
    mwl_status status = mwl_run_start(m->vm, m->setup->program, &start, &m->run, &error);
    mwl_value_drop(h, input);
    mwl_value_drop(h, arguments);
    if (status >= 0) return CMD_OK;
    cmd_fail("%s: %s", m->setup->options.definition.path,
             error.message ? error.message : mwl_status_text(status));
    return CMD_REJECTED;
}

static int prepare(struct machine *m, uv_loop_t *loop) {
    const struct run_vm_host host = {.loop = loop, .silent = true};
    int status = run_vm_new(&m->setup->options, m->setup->program, &host, &m->made);
    if (status != CMD_OK) return status;
    m->vm = m->made->vm;
    m->journaled = journal_attach(m->journal, m->vm, &m->n_events, is_bound,
                                  (void *)(uintptr_t)&m->setup->options.binds);
    if (!m->journaled) return cmd_fail("%s", mwl_status_text(MWL_E_NOMEM));
    mwl_vm_now(m->vm, &m->began);
    mwl_vm_trace(m->vm, hear, m);
    return start_run(m);
}

static void on_wake(uv_async_t *handle) { uv_stop(handle->loop); }
static void on_closed(uv_handle_t *handle) { --*(int *)handle->data; }

static void set_wakes(struct machine *m, bool yes) {
    pthread_mutex_lock(&m->lock);
    m->wakes = yes;
    pthread_mutex_unlock(&m->lock);
}

/* Drives the run with a timer and a bell in the loop. */
static int drive_loop(struct machine *m, uv_loop_t *loop) {
    uv_timer_t timer;
    int open = 2;
    int why = uv_async_init(loop, &m->wake, on_wake);
    if (why) {
        cmd_fail("event loop: %s", uv_strerror(why));
        return CMD_USAGE;
    }
    uv_timer_init(loop, &timer);
    set_wakes(m, true);
    drive(m, loop, &timer);
    set_wakes(m, false);
    timer.data = m->wake.data = &open;
    uv_close((uv_handle_t *)&timer, on_closed);
    uv_close((uv_handle_t *)&m->wake, on_closed);
    while (open) uv_run(loop, UV_RUN_NOWAIT);
    return CMD_OK;
}

static void *run_thread(void *ctx) {
    struct machine *m = ctx;
    uv_loop_t *loop = host_loop();
    m->status = loop ? prepare(m, loop) : CMD_USAGE;
    if (m->status == CMD_OK) m->status = drive_loop(m, loop);
    stand(m, MACHINE_OVER);
    if (m->vm) mwl_vm_trace(m->vm, NULL, NULL);
    if (m->run) mwl_run_free(m->run);
    m->run = NULL;
    run_vm_free(m->made);
    journal_detach(m->journaled);
    m->made = NULL;
    m->vm = NULL;
    m->journaled = NULL;
    return NULL;
}

int machine_start(struct machine *m) {
    m->state = MACHINE_RUNS;
    m->quits = m->paused = m->stuck = m->wakes = false;
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
    if (m->wakes) uv_async_send(&m->wake);
    pthread_cond_broadcast(&m->turn);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    pthread_cond_destroy(&m->turn);
    pthread_mutex_destroy(&m->lock);
}
