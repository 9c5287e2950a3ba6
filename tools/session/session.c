/* session.c: see session.h. */
#include "tools/session/session.h"

#include "tools/base/member.h"
#include "tools/base/cmd.h"
#include "tools/base/interrupt.h"
#include "tools/host/durable_providers.h"
#include "tools/host/stub_provider.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK_NS (SESSION_TICK_MS * INT64_C(1000000))

/* ---- life ------------------------------------------------------------------------------------ */

static size_t outside(const void *ctx) {
    return io_host_pending(&((const struct session *)ctx)->io);
}

enum { HIDDEN_MOST = 20 };

/* Prints a failure that no Result shows; of many the first ones. */
static void print_hidden(void *ctx, const mwl_trace_event *e) {
    struct session *s = ctx;
    if (s->n_hidden++ < HIDDEN_MOST)
        cmd_note("run %s: the cleanup of dispatch #%" PRId64 " of Step '%s' failed too: %s: %s",
                 mwl_run_id((mwl_run *)(uintptr_t)e->run), e->index, e->step,
                 member_text(e->value, "code"), member_text(e->value, "message"));
    else if (s->n_hidden == HIDDEN_MOST + 1)
        cmd_note("more cleanups failed; they are not shown");
}

static mwl_status make_vm(struct session *s, const struct run_options *o,
                          const struct session_host *host) {
    mwl_config config = mwl_config_default();
    config.clock = host->clock.read ? host->clock : session_clock();
    config.virtual_time = o->virtual_time;
    config.virtual_start_ns = o->virtual_start_ns;
    config.seed = o->seed;
    config.wake = session_ring;
    config.wake_ctx = &s->loop;
    config.hold = host->hold;
    if (host->limits) config.limits = *host->limits;
    if (!config.seed && !config.virtual_time) { /* else ids and jitter would repeat, unasked */
        mwl_instant now;
        config.clock.read(config.clock.ctx, &now);
        config.seed = (uint64_t)now.wall_ns ^ (uint64_t)getpid() << 40 ^
                      (uint64_t)now.mono_ns << 20 ^ (uint64_t)(uintptr_t)s;
    }
    mwl_status status = session_vm(&config, &s->turns);
    s->vm = s->turns.vm;
    s->turns.outside = outside;
    s->turns.ctx = s;
    if (status != MWL_OK) return status;
    s->heap = mwl_vm_heap(s->vm);
    mwl_vm_trace_hidden(s->vm, print_hidden, s);
    return MWL_OK;
}

static int add_stubs(const struct run_options *o, mwl_vm *vm, bool silent) {
    const struct definition *d = &o->definition;
    int status = CMD_OK;
    for (size_t i = 0; i < d->n_providers && status == CMD_OK; i++)
        status = stub_provider_add(vm, &d->providers[i], &o->binds, &o->remotes, silent);
    return status;
}

static int add_providers(struct session *s, const struct run_options *o, const mwl_program *program,
                         const struct session_host *host) {
    const bool silent = host->silent;
    const struct io_host_options how = {&o->binds, &o->permissions, o->definition.limits.memory,
                                        host->hold};
    int status = io_host_open(&s->io, s->vm, s->loop.loop, program, &how);
    const char *answer = NULL;
    if (durable_document(&answer) && !binds_has(&o->binds, answer) && status == CMD_OK)
        status = durable_provide(s->vm);
    if (status == CMD_OK) status = add_stubs(o, s->vm, silent);
    if (status == CMD_OK) status = remotes_apply(&o->remotes, &o->definition, s->vm);
    if (status == CMD_OK) status = binds_apply(&o->binds, &o->definition, s->vm, s->answers);
    return status;
}

int session_open(const struct run_options *o, const mwl_program *program,
                 const struct session_host *host, struct session **out) {
    struct session *s = calloc(1, sizeof *s);
    *out = s;
    if (!s) return cmd_no_memory();
    s->n_answers = o->binds.count;
    s->answers = calloc(s->n_answers + 1, sizeof *s->answers);
    if (!s->answers) return cmd_no_memory();
    uv_loop_t *loop = host->loop;
    int status = loop ? CMD_OK : session_own_loop(&loop);
    if (status == CMD_OK) status = session_loop_open(&s->loop, loop);
    if (status != CMD_OK) return status;
    s->owns_loop = !host->loop;
    mwl_status made = make_vm(s, o, host);
    return made == MWL_OK ? add_providers(s, o, program, host) : cmd_status(made);
}

void session_close(struct session *s) {
    if (!s) return;
    io_host_close(&s->io);
    for (size_t i = 0; s->answers && i < s->n_answers; i++) answers_free(s->answers[i]);
    free(s->answers);
    mwl_vm_free(s->vm);
    session_loop_close(&s->loop);
    if (s->owns_loop) uv_loop_close(s->loop.loop);
    free(s);
}

void session_forget(struct session *s, const mwl_run *run) {
    for (size_t i = 0; i < s->n_answers; i++)
        if (s->answers[i]) answers_forget(s->answers[i], run);
}

/* ---- driving --------------------------------------------------------------------------------- */

void session_rest(struct session *s, enum session_next next, int64_t due_ns) {
    if (next == SESSION_WAITS)
        session_wait(&s->loop, due_ns);
    else
        session_look(&s->loop);
}

/* Acts on signals that have come. Returns how many were answered. */
static int heed(mwl_run *run, int n_answered) {
    while (n_answered < interrupt_requests()) {
        if (n_answered++ == 0) {
            cmd_note("%s: cancelling the run; a second signal ends it without cleanup",
                     interrupt_words());
            mwl_run_cancel(run, interrupt_first() == SIGINT ? "interrupted" : "terminated");
        } else {
            mwl_run_abort(run);
        }
        interrupt_answered(n_answered);
    }
    return n_answered;
}

static enum session_next drive(struct session *s, mwl_run *run,
                               const struct session_beside *beside) {
    bool ticks = beside->tick || beside->pause;
    int64_t tick_ns = ticks ? session_now_ns() + TICK_NS : MWL_NEVER;
    for (int n_answered = 0;;) {
        int64_t due;
        n_answered = heed(run, n_answered);
        enum session_next next = session_turn(&s->turns, run, &due);
        if (next == SESSION_OVER) return next;
        if (beside->pause && beside->pause(beside->pause_ctx, run)) return SESSION_WAITS;
        if (next == SESSION_STUCK) return next;
        session_rest(s, next, due < tick_ns ? due : tick_ns);
        if (!ticks || session_now_ns() < tick_ns) continue;
        tick_ns = session_now_ns() + TICK_NS;
        if (beside->tick) beside->tick(beside->tick_ctx);
    }
}

int session_drive(struct session *s, mwl_run *run, const struct session_beside *beside,
                  enum session_next *next, int *signal_number) {
    int why = interrupt_watch(session_ring, &s->loop);
    *signal_number = 0;
    if (why) {
        cmd_fail("signals: %s", strerror(why));
        return CMD_USAGE;
    }
    *next = drive(s, run, beside);
    interrupt_unwatch();
    *signal_number = interrupt_first();
    return CMD_OK;
}
