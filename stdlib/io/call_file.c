/* call_file.c: file: reads, writes and looks at files on a pool thread.
 *
 * Here are the arguments, the form of the content and the failures; file_work.c has the actions. A
 * watch looks again and again: a job, then a timer, then a job. */
#include "stdlib/io/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PREFIX "Provider.Call.File"

typedef struct call_file {
    mwl__io_job job;
    mwl__file_work work;
    mwl__form form;
    mwl__csv csv;
    uv_timer_t timer; /* of a watch */
    uint64_t interval_ms;
    char path[];
} call_file;

/* ---- the Result ------------------------------------------------------------------------------ */

static void file_fail(mwl_call *call, const mwl__file_work *w) {
    static const struct {
        int error;
        const char *code;
        bool retryable;
    } codes[] = {
        {ENOENT, PREFIX ".NotFound", false},     {EEXIST, PREFIX ".AlreadyExists", false},
        {EACCES, PREFIX ".AccessDenied", false}, {EROFS, PREFIX ".AccessDenied", false},
        {EISDIR, PREFIX ".WrongType", false},    {ENOTDIR, PREFIX ".WrongType", false},
        {ENOTEMPTY, PREFIX ".WrongType", false}, {ENOTSUP, PREFIX ".WrongType", false},
        {ENXIO, PREFIX ".WrongType", false},     {EFBIG, PREFIX ".TooLarge", false},
        {ENOSPC, PREFIX ".IoFailed", true},      {EDQUOT, PREFIX ".IoFailed", true},
        {EMFILE, PREFIX ".IoFailed", true},      {ENFILE, PREFIX ".IoFailed", true},
        {ENOMEM, PREFIX ".IoFailed", true},      {EAGAIN, PREFIX ".IoFailed", true},
        {ECANCELED, PREFIX ".IoFailed", true},
    };
    if (w->error == EPERM || w->error == EXDEV) {
        mwl__io_refuse(call, PREFIX, mwl__file_right(w->action), w->path);
        return;
    }
    const char *code = PREFIX ".IoFailed";
    bool retryable = false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].error == w->error) code = codes[i].code, retryable = codes[i].retryable;
    if (w->error == EFBIG)
        mwl__io_fail(call, code, false, mwl_absent(), "%s has more than %zu bytes", w->path,
                     w->max_bytes);
    else
        mwl__io_fail(call, code, retryable, mwl_absent(), "%s: %s", w->path,
                     w->error == ENOTSUP ? "not a regular file" : strerror(w->error));
}

static mwl_value facts_value(mwl_heap *heap, mwl_value object, const mwl__file_facts *f) {
    object = mwl__io_set(heap, object, "type", mwl_string(heap, f->type, strlen(f->type)));
    object = mwl__io_set(heap, object, "size", mwl_number((double)f->size));
    return mwl__io_set(heap, object, "modified", mwl_timestamp_text(heap, f->modified_ns));
}

static mwl_value list_value(mwl_heap *heap, const mwl__file_work *w) {
    mwl_value all = mwl_array(heap, w->n_entries);
    for (size_t i = 0; i < w->n_entries; i++) {
        const char *name = w->bytes.data + w->entries[i].name_at;
        mwl_value entry =
            mwl__io_set(heap, mwl_object(heap, 4), "name", mwl__io_text(heap, name, strlen(name)));
        all = mwl_array_push(heap, all, facts_value(heap, entry, &w->entries[i]));
    }
    return all;
}

static void succeed_read(mwl_call *call, call_file *f) {
    char why[MWL__WHY];
    (void)mwl_call_charge(call, f->work.bytes.len / 4);
    mwl_value v = mwl__decode(mwl_call_heap(call), f->form, f->work.bytes.data, f->work.bytes.len,
                              &f->csv, why);
    if (mwl_is_absent(v) && *why)
        mwl__io_fail(call, PREFIX ".DecodeFailed", false, mwl_absent(), "%s: %s", f->path, why);
    else
        mwl_call_succeed(call, v);
}

static void file_settle(call_file *f) {
    mwl_call *call = f->job.op.call;
    mwl_heap *heap = mwl_call_heap(call);
    mwl__file_work *w = &f->work;
    if (atomic_load(&f->job.stop) && !w->error) w->error = ECANCELED;
    if (w->error)
        file_fail(call, w);
    else if (w->action == MWL__FILE_READ)
        succeed_read(call, f);
    else if (w->action == MWL__FILE_LIST)
        mwl_call_succeed(call, list_value(heap, w));
    else if (w->action == MWL__FILE_STAT || w->action == MWL__FILE_WATCH)
        mwl_call_succeed(call, facts_value(heap, mwl_object(heap, 3), &w->facts));
    else if (w->action == MWL__FILE_REMOVE)
        mwl_call_succeed(call, mwl_bool(w->removed));
    else
        mwl_call_succeed(call, mwl_number((double)w->bytes.len));
    mwl__file_work_free(w);
}

/* ---- jobs and watches ------------------------------------------------------------------------ */

static void file_work(mwl__io_job *job) { mwl__file_do(&((call_file *)job)->work); }

static void file_done(mwl__io_job *job) {
    call_file *f = (call_file *)job;
    file_settle(f);
    free(f);
}

static void watch_closed(uv_handle_t *handle) {
    call_file *f = handle->data;
    mwl_io *io = f->job.op.io;
    free(f);
    mwl__io_release(io);
}

/* The end of a watch, whose timer is not running. */
static void watch_end(call_file *f) {
    mwl__io_hold(f->job.op.io);
    uv_close((uv_handle_t *)&f->timer, watch_closed);
    file_settle(f);
}

static void watch_stop(mwl__io_op *op) {
    call_file *f = (call_file *)op;
    uv_timer_stop(&f->timer);
    f->work.error = ECANCELED;
    mwl__io_hold(op->io);
    watch_end(f);
    mwl_io *io = op->io;
    mwl__io_op_end(op);
    mwl__io_release(io);
}

static void watch_again(uv_timer_t *timer) {
    call_file *f = timer->data;
    mwl_io *io = f->job.op.io;
    mwl_call *call = f->job.op.call;
    mwl__io_hold(io);
    mwl__io_op_end(&f->job.op); /* of the wait; the job has its own */
    mwl__io_job_start(&f->job, io, call);
    mwl__io_release(io);
}

static void watch_done(mwl__io_job *job) {
    call_file *f = (call_file *)job;
    if (f->work.error != ENOENT || atomic_load(&job->stop)) {
        watch_end(f);
        return;
    }
    mwl_call_leave(job->op.call);
    mwl__io_op_begin(&job->op, job->op.io, job->op.call, watch_stop);
    uv_timer_start(&f->timer, watch_again, f->interval_ms, 0);
}

/* ---- the start ------------------------------------------------------------------------------- */

static mwl__form form_of_name(const char *path) {
    static const struct {
        const char *end;
        mwl__form form;
    } ends[] = {{".json", MWL__FORM_JSON},
                {".ndjson", MWL__FORM_NDJSON},
                {".jsonl", MWL__FORM_NDJSON},
                {".csv", MWL__FORM_CSV}};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t k = strlen(ends[i].end);
        if (n > k && strcmp(path + n - k, ends[i].end) == 0) return ends[i].form;
    }
    return MWL__FORM_TEXT;
}

static mwl__file_action action_named(const char *name) {
    static const char *const names[] = {"read", "write",  "append", "list",
                                        "stat", "remove", "watch"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return (mwl__file_action)i;
    return MWL__FILE_READ;
}

/* The first row alone: what an empty file gets before the rows. */
static mwl_status encode_appended(call_file *f, mwl_heap *heap, mwl_value v, char why[MWL__WHY]) {
    mwl__csv rows = {f->csv.separator, false};
    if (f->form == MWL__FORM_JSON) {
        snprintf(why, MWL__WHY, "JSON cannot be appended to JSON; ndjson can");
        return MWL_E_NOT_JSON;
    }
    mwl_status status = mwl__encode(heap, f->form, v, &rows, &f->work.bytes, why);
    if (status != MWL_OK || f->form != MWL__FORM_CSV || !f->csv.header) return status;
    mwl__bytes whole = {.payer = &f->work.payer};
    status = mwl__encode(heap, f->form, v, &f->csv, &whole, why);
    if (status == MWL_OK &&
        !mwl__bytes_add(&f->work.header, whole.data, whole.len - f->work.bytes.len))
        status = MWL_E_NOMEM;
    mwl__bytes_free(&whole);
    return status;
}

/* Makes the bytes that will be written. Returns false if the call has been settled. */
static bool encode_value(call_file *f, mwl_call *call, mwl_value args) {
    char why[MWL__WHY] = "";
    mwl_value v = mwl_get(args, "value");
    mwl_heap *heap = mwl_call_heap(call);
    mwl_status status = MWL_OK;
    if (mwl_is_absent(v)) v = mwl_call_input(call);
    if (f->work.action == MWL__FILE_WRITE)
        status = mwl__encode(heap, f->form, v, &f->csv, &f->work.bytes, why);
    else if (f->work.action == MWL__FILE_APPEND)
        status = encode_appended(f, heap, v, why);
    if (status == MWL_OK) return true;
    bool memory = status == MWL_E_NOMEM || status == MWL_E_TOO_BIG;
    mwl__io_fail(call, memory ? PREFIX ".IoFailed" : PREFIX ".InvalidValue", memory, mwl_absent(),
                 "%s", *why ? why : mwl_status_text(status));
    return false;
}

static void read_arguments(call_file *f, mwl_io *io, mwl_value args) {
    f->form = mwl__form_named(mwl__io_arg_text(args, "as", NULL), form_of_name(f->path));
    f->csv.header = mwl__io_arg_bool(args, "header", true);
    f->csv.separator = *mwl__io_arg_text(args, "separator", ",");
    f->work.io = io;
    f->work.stop = &f->job.stop;
    f->work.path = f->path;
    f->work.action = action_named(mwl__io_arg_text(args, "action", "read"));
    f->work.max_bytes = (size_t)mwl__io_arg_number(args, "maxBytes", 16777216);
    f->work.exclusive = mwl__io_arg_bool(args, "exclusive", false);
}

/* Returns false if the call has been settled. */
static bool open_payer(call_file *f, mwl_call *call) {
    f->work.header.payer = f->work.bytes.payer = &f->work.payer;
    if (mwl__payer_open(&f->work.payer, call)) return true;
    mwl__io_fail(call, PREFIX ".IoFailed", true, mwl_absent(), "out of memory");
    return false;
}

static void file_start(mwl_call *call, void *user) {
    mwl_io *io = user;
    mwl_value args = mwl_call_arguments(call);
    size_t len = 0;
    const char *path = mwl_as_text(mwl_get(args, "path"), &len);
    if (strlen(path) != len) {
        mwl__io_fail(call, PREFIX ".NotFound", false, mwl_absent(),
                     "the path contains a NUL character");
        return;
    }
    call_file *f = calloc(1, sizeof *f + len + 1);
    if (!f) {
        mwl__io_fail(call, PREFIX ".IoFailed", true, mwl_absent(), "out of memory");
        return;
    }
    memcpy(f->path, path, len + 1);
    read_arguments(f, io, args);
    if (!open_payer(f, call)) {
        free(f);
        return;
    }
    if (!encode_value(f, call, args)) {
        mwl__file_work_free(&f->work);
        free(f);
        return;
    }
    mwl__payer_pool(&f->work.payer);
    bool watch = f->work.action == MWL__FILE_WATCH;
    f->job.work = file_work;
    f->job.done = watch ? watch_done : file_done;
    if (watch) {
        int64_t ms = mwl__io_arg_duration(args, "interval", 200000000) / 1000000;
        f->interval_ms = ms < 10 ? 10 : (uint64_t)ms;
        uv_timer_init(mwl__io_loop(io), &f->timer);
        f->timer.data = f;
    }
    mwl__io_job_start(&f->job, io, call);
}

const mwl_call_provider mwl__io_call_file = {MWL__IO_CALL(file, "file"), .start = file_start,
                                             .cancel = mwl__io_op_cancel};
const mwl__io_life mwl__io_call_file_life = {NULL};
