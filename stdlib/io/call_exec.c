/* call_exec.c: exec: runs a program in a process group of its own, on the loop.
 *
 * Owns: the life of a process from its start until it and its group have ended. exec_start.c makes
 * what the start needs: the program's path, its environment, its input.
 *
 * A call ends when the process has ended and both outputs have ended. A call that must stop (it was
 * cancelled, or wrote too much) sends SIGTERM to the group, looks from time to time whether
 * somebody of the group is left, and sends SIGKILL when the grace time is over.
 *
 * So many programs run at a time; further calls wait in a queue, where they hold nothing. */
#include "stdlib/io/exec.h"
#include "stdlib/io/codec.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define PREFIX "Provider.Call.Exec"
enum { TAIL = 8192, LOOK_MS = 20 };

typedef enum ending { NOT_ENDING, CANCELLED, TOO_LARGE, NO_MEMORY } ending;

typedef struct exec {
    mwl__io_op op;
    uv_process_t process;
    uv_pipe_t out, err;
    uv_timer_t timer;
    int handles; /* that are not closed */
    bool exited, killed, out_ended, err_ended;
    bool cut; /* the beginning of standard error is lost */
    ending ending;
    int64_t code;
    int signal;
    uint64_t started_ms, deadline_ms;
    mwl__form form;
    size_t max_bytes;
    int64_t grace_ms;
    mwl__payer payer;
    mwl__bytes output;
    char tail[2 * TAIL]; /* the last TAIL bytes of standard error are in its end */
    size_t n_tail;
    char chunk[65536]; /* what the loop reads into */
} exec;

static void group(const exec *e, int sig) { kill(-e->process.pid, sig); }
static bool group_is_empty(const exec *e) { return kill(-e->process.pid, 0) < 0 && errno == ESRCH; }

/* ---- the end --------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle) {
    exec *e = handle->data;
    mwl_io *io = e->op.io;
    if (--e->handles == 0) {
        mwl__bytes_free(&e->output);
        mwl__payer_close(&e->payer);
        free(e);
    }
    mwl__io_release(io);
}

static void close_handle(exec *e, uv_handle_t *handle) {
    mwl__io_hold(e->op.io);
    uv_close(handle, on_closed);
}

static const char *signal_name(int sig) {
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
                 {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
                 {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
                 {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
                 {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
                 {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == sig) return names[i].name;
    return "another signal";
}

/* The members code, signal and stderr. */
static mwl_value how_it_ended(const exec *e, mwl_heap *heap) {
    size_t n = e->n_tail < TAIL ? e->n_tail : TAIL;
    const char *shown = e->tail + e->n_tail - n;
    const char *nl = e->cut || n < e->n_tail ? memchr(shown, '\n', n) : NULL;
    if (nl && nl + 1 < shown + n) { /* not in the middle of a line, which may have a secret */
        n -= (size_t)(nl + 1 - shown);
        shown = nl + 1;
    }
    const char *name = e->signal ? signal_name(e->signal) : "";
    mwl_value v = mwl_object(heap, 4);
    v = mwl__io_set(heap, v, "code", e->signal ? mwl_null() : mwl_number((double)e->code));
    v = mwl__io_set(heap, v, "signal",
                    e->signal ? mwl_string(heap, name, strlen(name)) : mwl_null());
    return mwl__io_set(heap, v, "stderr", mwl__io_text(heap, shown, n));
}

static bool is_success(const exec *e, mwl_value codes) {
    if (e->signal) return false;
    if (mwl_is_absent(codes)) return e->code == 0;
    for (size_t i = 0; i < mwl_count(codes); i++)
        if (mwl_as_number(mwl_array_at(codes, i)) == (double)e->code) return true;
    return false;
}

static void settle_exited(exec *e) {
    mwl_call *call = e->op.call;
    mwl_heap *heap = mwl_call_heap(call);
    char why[MWL__WHY];
    if (!is_success(e, mwl_get(mwl_call_arguments(call), "successCodes"))) {
        char message[80];
        if (e->signal)
            snprintf(message, sizeof message, "ended by %s", signal_name(e->signal));
        else
            snprintf(message, sizeof message, "ended with code %d", (int)e->code);
        /* whether trying again helps is not known: no `retryable` */
        mwl_call_fail(call, NULL, PREFIX ".NonZeroExit", message, how_it_ended(e, heap));
        return;
    }
    (void)mwl_call_charge(call, e->output.len / 4);
    mwl_value v = mwl__decode(heap, e->form, e->output.data, e->output.len, NULL, why);
    if (mwl_is_absent(v) && *why)
        mwl__io_fail(call, PREFIX ".DecodeFailed", false, mwl_absent(), "%s", why);
    else
        mwl_call_succeed(call, v);
}

static void settle(exec *e) {
    mwl_call *call = e->op.call;
    mwl_heap *heap = mwl_call_heap(call);
    uint64_t ms = uv_now(mwl__io_loop(e->op.io)) - e->started_ms;
    mwl_call_enter(call);
    mwl_call_set_metadata(
        call, mwl__io_set(heap, how_it_ended(e, heap), "milliseconds", mwl_number((double)ms)));
    if (e->ending == TOO_LARGE)
        mwl__io_fail(call, PREFIX ".TooLarge", false, mwl_absent(),
                     "the output has more than %zu bytes", e->max_bytes);
    else if (e->ending == NO_MEMORY)
        mwl__io_fail(call, PREFIX ".StartFailed", true, mwl_absent(), "out of memory");
    else
        settle_exited(e);
}

/* Frees the record when the loop has closed them. */
static void close_all(exec *e) {
    close_handle(e, (uv_handle_t *)&e->process);
    close_handle(e, (uv_handle_t *)&e->out);
    close_handle(e, (uv_handle_t *)&e->err);
    close_handle(e, (uv_handle_t *)&e->timer);
}

static void start_next(mwl_io *io);

static void finish(exec *e) {
    mwl_io *io = e->op.io;
    mwl__io_hold(io);
    close_all(e);
    settle(e);
    start_next(io); /* the state of this provider lives at least as long as the op */
    mwl__io_op_end(&e->op);
    mwl__io_release(io);
}

/* ---- stopping -------------------------------------------------------------------------------- */

/* While the group is ending: is somebody left, is the time over? */
static void look(uv_timer_t *timer) {
    exec *e = timer->data;
    bool gone = e->exited && (e->killed || group_is_empty(e));
    if (!gone && !e->killed && uv_now(timer->loop) >= e->deadline_ms) {
        group(e, SIGKILL);
        e->killed = true;
        gone = e->exited;
    }
    if (gone) {
        finish(e);
        return;
    }
    /* a killed process reports its end by on_exit */
    if (!e->killed) uv_timer_start(timer, look, LOOK_MS, 0);
}

static void end_group(exec *e, ending why) {
    if (e->ending) return;
    e->ending = why;
    uv_read_stop((uv_stream_t *)&e->out);
    uv_read_stop((uv_stream_t *)&e->err);
    uv_update_time(mwl__io_loop(e->op.io));
    e->deadline_ms = uv_now(mwl__io_loop(e->op.io)) + (uint64_t)e->grace_ms;
    group(e, SIGTERM);
    group(e, SIGCONT); /* a stopped process would not see it */
    uv_timer_start(&e->timer, look, 1, 0);
}

static void exec_stop(mwl__io_op *op) { end_group((exec *)op, CANCELLED); }

/* ---- events ---------------------------------------------------------------------------------- */

/* The process ended long ago, but another one holds its output. */
static void left_behind(uv_timer_t *timer) {
    exec *e = timer->data;
    group(e, SIGKILL);
    finish(e);
}

static void maybe_finish(exec *e) {
    if (e->ending || !e->exited) return;
    if (e->out_ended && e->err_ended)
        finish(e);
    else if (!uv_is_active((uv_handle_t *)&e->timer))
        uv_timer_start(&e->timer, left_behind, (uint64_t)e->grace_ms, 0);
}

static void on_exit_of(uv_process_t *process, int64_t status, int sig) {
    exec *e = process->data;
    e->exited = true;
    e->code = status;
    e->signal = sig;
    if (e->ending)
        look(&e->timer);
    else
        maybe_finish(e);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf) {
    (void)suggested;
    exec *e = handle->data;
    *buf = uv_buf_init(e->chunk, sizeof e->chunk);
}

static void on_out(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
    exec *e = stream->data;
    if (n < 0) {
        e->out_ended = true;
        uv_read_stop(stream);
        maybe_finish(e);
    } else if (e->form != MWL__FORM_NONE) {
        if ((size_t)n > e->max_bytes - e->output.len)
            end_group(e, TOO_LARGE);
        else if (!mwl__bytes_add(&e->output, buf->base, (size_t)n))
            end_group(e, NO_MEMORY);
    }
}

/* Keeps the last bytes: what does not fit moves the newest TAIL bytes to the front. */
static void keep_tail(exec *e, const char *data, size_t n) {
    if (n > TAIL) data += n - TAIL, n = TAIL, e->cut = true;
    if (e->n_tail + n > sizeof e->tail) {
        size_t keep = TAIL - n;
        memmove(e->tail, e->tail + e->n_tail - keep, keep);
        e->n_tail = keep;
        e->cut = true;
    }
    memcpy(e->tail + e->n_tail, data, n);
    e->n_tail += n;
}

static void on_err(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
    exec *e = stream->data;
    if (n < 0) {
        e->err_ended = true;
        uv_read_stop(stream);
        maybe_finish(e);
    } else {
        keep_tail(e, buf->base, (size_t)n);
    }
}

/* ---- the start ------------------------------------------------------------------------------- */

static void refuse_start(mwl_call *call, const char *program, int error) {
    bool later = error == UV_EAGAIN || error == UV_ENOMEM || error == UV_EMFILE ||
                 error == UV_ENFILE || error == UV_ETXTBSY;
    bool missing = error == UV_ENOENT;
    mwl__io_fail(call, missing ? PREFIX ".NotFound" : PREFIX ".StartFailed", later, mwl_absent(),
                 "%s: %s", program, missing ? "no such program" : uv_strerror(error));
}

static exec *new_exec(mwl_io *io, mwl_value args) {
    exec *e = malloc(sizeof *e);
    if (!e) return NULL;
    memset(e, 0, offsetof(exec, tail));
    e->n_tail = 0;
    e->op.io = io;
    e->handles = 4;
    e->form = mwl__form_named(mwl__io_arg_text(args, "as", "text"), MWL__FORM_TEXT);
    e->max_bytes = (size_t)mwl__io_arg_number(args, "maxBytes", 16777216);
    int64_t ns = mwl__io_arg_duration(args, "grace", 5000000000);
    e->grace_ms = ns < 0 ? 0 : ns / 1000000;
    uv_loop_t *loop = mwl__io_loop(io);
    uv_pipe_init(loop, &e->out, 0);
    uv_pipe_init(loop, &e->err, 0);
    uv_timer_init(loop, &e->timer);
    e->process.data = e->out.data = e->err.data = e->timer.data = e;
    return e;
}

/* Returns whether a program was started. If not, the call has been settled. */
static bool start_program(mwl_io *io, mwl_call *call) {
    mwl_value args = mwl_call_arguments(call);
    mwl__exec_plan plan;
    if (!mwl__exec_plan_make(&plan, io, call)) return false;
    exec *e = new_exec(io, args);
    if (!e) {
        refuse_start(call, plan.argv[0], UV_ENOMEM);
        mwl__exec_plan_free(&plan);
        return false;
    }
    uv_stdio_container_t stdio[3] = {{.flags = UV_INHERIT_FD, .data.fd = plan.stdin_fd},
                                     {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE},
                                     {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE}};
    if (plan.stdin_fd < 0) stdio[0].flags = UV_IGNORE;
    stdio[1].data.stream = (uv_stream_t *)&e->out;
    stdio[2].data.stream = (uv_stream_t *)&e->err;
    const uv_process_options_t options = {
        .exit_cb = on_exit_of,
        .file = plan.path,
        .args = plan.argv,
        .env = plan.env,
        .cwd = plan.cwd,
        .flags = UV_PROCESS_DETACHED, /* a session, and so a group, of its own */
        .stdio_count = 3,
        .stdio = stdio,
    };
    int failed = uv_spawn(mwl__io_loop(io), &e->process, &options);
    if (failed) {
        close_all(e);
        refuse_start(call, plan.argv[0], failed);
    } else {
        mwl__io_op_begin(&e->op, io, call, exec_stop);
        e->payer = plan.payer;
        e->output.payer = &e->payer;
        plan.payer = (mwl__payer){0};
        e->started_ms = uv_now(mwl__io_loop(io));
        uv_read_start((uv_stream_t *)&e->out, on_alloc, on_out);
        uv_read_start((uv_stream_t *)&e->err, on_alloc, on_err);
    }
    mwl__exec_plan_free(&plan);
    return !failed;
}

/* ---- the queue ------------------------------------------------------------------------------- */

typedef struct queued {
    mwl__io_op op;
    struct queued *next, **at;
} queued;

typedef struct execs {
    size_t running, most;
    queued *first, **last;
} execs;

/* A program needs two pipes, and more while it is started; half of what the process may have stays
 * for others. */
static size_t programs_most(void) {
    enum { MOST = 256, EACH = 4 };
    struct rlimit files, processes;
    size_t most = MOST;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / 2 / EACH < most)
        most = (size_t)(files.rlim_cur / 2 / EACH);
    if (getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur / 2 < most)
        most = (size_t)(processes.rlim_cur / 2);
    return most ? most : 1;
}

static execs *execs_of(mwl_io *io) {
    execs *all = mwl__io_state(io, MWL__IO_CALL_exec);
    if (all || !(all = calloc(1, sizeof *all))) return all;
    all->most = programs_most();
    all->last = &all->first;
    mwl__io_set_state(io, MWL__IO_CALL_exec, all);
    return all;
}

/* Takes a call off the queue. */
static mwl_call *unqueue(execs *all, queued *q) {
    mwl_call *call = q->op.call;
    *q->at = q->next;
    if (q->next)
        q->next->at = q->at;
    else
        all->last = q->at;
    return call;
}

static void queued_stop(mwl__io_op *op) {
    queued *q = (queued *)op;
    mwl_call *call = unqueue(mwl__io_state(op->io, MWL__IO_CALL_exec), q);
    mwl__io_fail(call, PREFIX ".StartFailed", true, mwl_absent(), "stopped");
    mwl__io_op_end(op);
    free(q);
}

static void start_next(mwl_io *io) {
    execs *all = mwl__io_state(io, MWL__IO_CALL_exec);
    all->running--;
    while (all->first && all->running < all->most) {
        queued *q = all->first;
        mwl_call *call = unqueue(all, q);
        mwl__io_op_end(&q->op); /* the program has its own */
        free(q);
        if (start_program(io, call)) all->running++;
    }
}

static void exec_start(mwl_call *call, void *user) {
    execs *all = execs_of(user);
    queued *q = NULL;
    if (all && all->running < all->most) {
        if (start_program(user, call)) all->running++;
        return;
    }
    if (!all || !(q = malloc(sizeof *q))) {
        refuse_start(call, "exec", UV_ENOMEM);
        return;
    }
    mwl__io_op_begin(&q->op, user, call, queued_stop);
    q->next = NULL;
    q->at = all->last;
    *all->last = q;
    all->last = &q->next;
}

static void exec_close(mwl_io *io, void *state) {
    (void)io;
    free(state);
}

const mwl_call_provider mwl__io_call_exec = {MWL__IO_CALL(exec, "exec"), .start = exec_start,
                                             .cancel = mwl__io_op_cancel};
const mwl__io_life mwl__io_call_exec_life = {exec_close};
