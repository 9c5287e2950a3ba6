/* call_run.c: run: another definition as its own run in the same VM.
 *
 * A pool thread reads the file and assembles it. Then the run is started. While it goes on, the
 * call is not an op: the run may wait for virtual time, which an op would hold up. */
#include "stdlib/io/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PREFIX "Provider.Call.Run"
enum { DEPTH = 16 };

typedef struct call_run {
    mwl__io_job job;
    mwl__file_work file;
    mwl_program *program;
    char *diagnostics; /* of an assembly that failed, or NULL */
    mwl_run *run;
    unsigned depth;
    struct call_run *next, **at; /* in runs.going; at NULL: it has not started */
    char path[];
} call_run;

typedef struct runs {
    call_run *going;
} runs;

static void list(call_run *c, call_run **head) {
    c->next = *head;
    c->at = head;
    if (c->next) c->next->at = &c->next;
    *head = c;
}

static void free_record(call_run *c) {
    if (c->at) {
        *c->at = c->next;
        if (c->next) c->next->at = c->at;
    }
    mwl_run_free(c->run);
    mwl_program_release(c->program);
    mwl__file_work_free(&c->file);
    free(c->diagnostics);
    free(c);
}

/* ---- the end --------------------------------------------------------------------------------- */

static mwl_value execution_member(mwl_heap *heap, mwl_run *run) {
    const char *id = mwl_run_id(run);
    return mwl__io_set(heap, mwl_object(heap, 2), "execution", mwl_string(heap, id, strlen(id)));
}

static void settle_failed(mwl_call *call, call_run *c) {
    mwl_heap *heap = mwl_call_heap(call);
    mwl_value inner = mwl_run_result(c->run), retryable = mwl_get(inner, "retryable");
    mwl_value details = execution_member(heap, c->run);
    char message[300];
    if (mwl_is_absent(inner)) {
        mwl_status why = mwl_run_why(c->run);
        const char *text = why == MWL_OK ? "aborted" : mwl_status_text(why);
        details = mwl__io_set(heap, details, "reason", mwl_string(heap, text, strlen(text)));
        mwl__io_fail(call, PREFIX ".Aborted", false, details, "the run was ended: %s", text);
        return;
    }
    snprintf(message, sizeof message, "the run failed: %s", mwl__io_arg_text(inner, "code", ""));
    mwl_value failure =
        mwl_failure(heap, NULL, PREFIX ".Failed", message, details, mwl_value_keep(inner));
    if (mwl_value_kind(retryable) == MWL_KIND_BOOL)
        failure = mwl__io_set(heap, failure, "retryable", retryable);
    mwl_call_settle(call, failure);
}

static void on_done(void *ctx, mwl_run *run) {
    (void)run;
    call_run *c = ctx;
    mwl_call *call = c->job.op.call;
    mwl_call_set_metadata(call, execution_member(mwl_call_heap(call), c->run));
    if (mwl_run_succeeded(c->run))
        mwl_call_succeed(call, mwl_value_keep(mwl_run_value(c->run)));
    else
        settle_failed(call, c);
    free_record(c);
}

static void run_cancel(mwl_call *call, void *user) {
    call_run *c = mwl_call_user(call);
    if (c && c->run)
        mwl_run_cancel(c->run, "cancelled by its caller");
    else
        mwl__io_op_cancel(call, user);
}

/* ---- the start ------------------------------------------------------------------------------- */

static void run_work(mwl__io_job *job) {
    call_run *c = (call_run *)job;
    mwl__file_do(&c->file);
    if (c->file.error || mwl__io_options(job->op.io)->load) return;
    const mwl_asm_options options = {.library = mwl_io_documents()};
    mwl_asm_result result;
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_status status = mwl_assemble(c->file.bytes.data ? c->file.bytes.data : "",
                                     c->file.bytes.len, &options, &result);
    if (status == MWL_OK)
        status =
            mwl_program_load(NULL, result.image, result.image_size, MWL_COPY, &c->program, &error);
    if (status != MWL_OK)
        c->diagnostics = strdup(result.diagnostics ? result.diagnostics : mwl_status_text(status));
    mwl_asm_free(&result);
}

/* The host's own way to load a program. */
static void load_by_host(call_run *c, mwl_io *io) {
    const mwl_io_options *options = mwl__io_options(io);
    char why[400] = "";
    if (!options->load || c->file.error) return;
    mwl_status status =
        options->load(options->load_ctx, c->path, c->file.bytes.data ? c->file.bytes.data : "",
                      c->file.bytes.len, &c->program, why, sizeof why);
    if (status != MWL_OK) c->diagnostics = strdup(*why ? why : mwl_status_text(status));
}

static void invalid(mwl_call *call, const char *path, const char *text) {
    mwl_heap *heap = mwl_call_heap(call);
    mwl_value details = mwl__io_set(heap, mwl_object(heap, 1), "diagnostics",
                                    mwl__io_text(heap, text, strlen(text)));
    mwl__io_fail(call, PREFIX ".InvalidDefinition", false, details, "%s cannot be run", path);
}

/* EXECUTION/NUMBER: the keys of its calls begin with its id, so that the id must be this call's
 * alone. Returns NULL if out of memory; given. */
static char *id_of(mwl_call *call) {
    mwl_value key = mwl_call_key(call);
    char *id = mwl_is_absent(key) ? NULL : strdup(mwl_as_text(key, NULL));
    mwl_value_drop(mwl_call_heap(call), key);
    char *dot = id ? strrchr(id, '.') : NULL;
    if (dot) *dot = '/';
    return id;
}

static mwl_status start_run(call_run *c, mwl_io *io, mwl_error *error) {
    mwl_call *call = c->job.op.call;
    mwl_value args = mwl_call_arguments(call), input = mwl_get(args, "input");
    char *id = id_of(call);
    const mwl_start start = {.id = id,
                             .input = mwl_is_absent(input) ? mwl_call_input(call) : input,
                             .arguments = mwl_get(args, "arguments"),
                             .seed = 1 + (uint64_t)(mwl_call_random(call) * 0x1p53),
                             .done = on_done,
                             .done_ctx = c};
    mwl_status status = mwl_run_start(mwl__io_vm(io), c->program, &start, &c->run, error);
    free(id);
    return status;
}

static void fail_start(call_run *c, mwl_status status, const char *message) {
    mwl_call *call = c->job.op.call;
    if (c->file.error == EPERM || c->file.error == EXDEV)
        mwl__io_refuse(call, PREFIX, MWL_IO_READ, c->path);
    else if (c->file.error || atomic_load(&c->job.stop))
        mwl__io_fail(call, PREFIX ".Unreadable", false, mwl_absent(), "%s: %s", c->path,
                     c->file.error ? strerror(c->file.error) : "stopped");
    else
        invalid(call, c->path, message ? message : mwl_status_text(status));
    free_record(c);
}

static void run_done(mwl__io_job *job) {
    call_run *c = (call_run *)job;
    mwl_io *io = job->op.io;
    runs *all = mwl__io_state(io, MWL__IO_CALL_run);
    mwl_error error = {MWL_OK, NULL, 0};
    load_by_host(c, io);
    if (!c->program || atomic_load(&job->stop)) {
        fail_start(c, MWL_E_NOMEM, c->diagnostics);
        return;
    }
    mwl_call_leave(job->op.call); /* what the run needs is its own */
    mwl_status status = start_run(c, io, &error);
    if (status != MWL_OK) {
        fail_start(c, status, error.message);
        return;
    }
    mwl_call_set_user(job->op.call, c);
    list(c, &all->going);
}

/* How deep a call is nested in runs of this provider. */
static unsigned depth_of(const runs *all, mwl_run *run) {
    for (const call_run *c = all->going; c; c = c->next)
        if (c->run == run) return c->depth + 1;
    return 1;
}

/* The call that has started the run, or NULL. */
static mwl_call *starter(const runs *all, const mwl_run *run) {
    for (const call_run *c = all ? all->going : NULL; c; c = c->next)
        if (c->run == run) return c->job.op.call;
    return NULL;
}

const char *mwl__io_owner(mwl_io *io, mwl_run *run) {
    const runs *all = mwl__io_state(io, MWL__IO_CALL_run);
    for (mwl_call *call; (call = starter(all, run));) run = mwl_call_run(call);
    return mwl_run_id(run);
}

static runs *runs_of(mwl_io *io) {
    runs *all = mwl__io_state(io, MWL__IO_CALL_run);
    if (all || !(all = calloc(1, sizeof *all))) return all;
    mwl__io_set_state(io, MWL__IO_CALL_run, all);
    return all;
}

static void run_start(mwl_call *call, void *user) {
    mwl_io *io = user;
    runs *all = runs_of(io);
    size_t len = 0;
    const char *path = mwl_as_text(mwl_get(mwl_call_arguments(call), "path"), &len);
    if (strlen(path) != len) {
        mwl__io_fail(call, PREFIX ".Unreadable", false, mwl_absent(),
                     "the path contains a NUL character");
        return;
    }
    call_run *c = all ? calloc(1, sizeof *c + len + 1) : NULL;
    if (!c) {
        mwl__io_fail(call, PREFIX ".Unreadable", true, mwl_absent(), "out of memory");
        return;
    }
    memcpy(c->path, path, len);
    c->depth = depth_of(all, mwl_call_run(call));
    if (c->depth > DEPTH) {
        free(c);
        mwl__io_fail(call, PREFIX ".TooDeep", false, mwl_absent(), "runs are nested too deep");
        return;
    }
    c->file = (mwl__file_work){.io = io,
                               .stop = &c->job.stop,
                               .action = MWL__FILE_READ,
                               .path = c->path,
                               .max_bytes = (size_t)64 << 20};
    c->job.work = run_work;
    c->job.done = run_done;
    mwl__io_job_start(&c->job, io, call);
}

/* Runs that still go on are aborted, and their callers get failures. */
static void run_close(mwl_io *io, void *state) {
    runs *all = state;
    (void)io;
    while (all->going) {
        call_run *c = all->going;
        mwl__io_fail(c->job.op.call, PREFIX ".Aborted", false, mwl_absent(), "the host ends");
        free_record(c);
    }
    free(all);
}

const mwl_call_provider mwl__io_call_run = {MWL__IO_CALL(run, "run"), .start = run_start,
                                            .cancel = run_cancel};
const mwl__io_life mwl__io_call_run_life = {run_close};
