/* io.c: a VM's providers: opened, closed, and the calls that are in progress between.
 *
 * Owns: struct mwl_io, the list of ops, jobs on pool threads. Refuses to know: what a provider does
 * (providers.h lists them), what is allowed (policy.c), what is secret (secret.c). */
#include "stdlib/io/io_impl.h"

#include <stdlib.h>

/* ---- the list -------------------------------------------------------------------------------- */

typedef struct row {
    mwl_io_provider shown;
    const mwl_call_provider *call;
    const mwl_middleware *middleware;
    const mwl__io_life *life;
} row;

static const row rows[] = {
#define MWL_X(name, uri_name, rights)                                                              \
    {{MWL__IO_CALL_URI(uri_name), mwl__io_doc_call_##name, rights},                                \
     &mwl__io_call_##name,                                                                         \
     NULL,                                                                                         \
     &mwl__io_call_##name##_life},
    MWL__IO_CALLS(MWL_X)
#undef MWL_X
#define MWL_X(name, uri_name, rights)                                                              \
    {{MWL__IO_MW_URI(uri_name), mwl__io_doc_mw_##name, rights},                                    \
     NULL,                                                                                         \
     &mwl__io_mw_##name,                                                                           \
     &mwl__io_mw_##name##_life},
        MWL__IO_MIDDLEWARE(MWL_X)
#undef MWL_X
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static const mwl_asm_document documents[] = {
#define MWL_X(name, uri_name, rights) {MWL__IO_CALL_URI(uri_name), mwl__io_doc_call_##name, false},
    MWL__IO_CALLS(MWL_X)
#undef MWL_X
#define MWL_X(name, uri_name, rights) {MWL__IO_MW_URI(uri_name), mwl__io_doc_mw_##name, false},
        MWL__IO_MIDDLEWARE(MWL_X)
#undef MWL_X
            {NULL, NULL, false}};

const mwl_io_provider *mwl_io_provider_at(size_t i) { return i < N_ROWS ? &rows[i].shown : NULL; }
const mwl_asm_document *mwl_io_documents(void) { return documents; }

/* ---- opening --------------------------------------------------------------------------------- */

static mwl_status add_all(mwl_io *io, mwl_error *error) {
    mwl_status status = MWL_OK;
    const mwl_io_options *o = &io->options;
    for (size_t i = 0; i < N_ROWS && status == MWL_OK; i++) {
        if (o->without && o->without(o->without_ctx, rows[i].shown.uri)) continue;
        status = rows[i].call ? mwl_vm_provide(io->vm, rows[i].call, 1, io, error)
                              : mwl_vm_provide_middleware(io->vm, rows[i].middleware, 1, io, error);
    }
    return status;
}

static void free_record(mwl_io *io) {
    mwl_io_policy_free(io->nothing);
    mwl_io_secrets_free(io->own_secrets);
    free(io);
}

mwl_status mwl_io_open(mwl_vm *vm, uv_loop_t *loop, const mwl_io_options *options, mwl_io **out,
                       mwl_error *error) {
    *out = NULL;
    mwl_io *io = calloc(1, sizeof *io);
    if (!io) return MWL_E_NOMEM;
    io->vm = vm;
    io->loop = loop;
    io->holds = 1;
    if (options) io->options = *options;
    mwl_status status = MWL_OK;
    if (!io->options.policy) {
        status = mwl_io_policy_new(&io->nothing);
        io->options.policy = io->nothing;
    }
    if (status == MWL_OK && !io->options.secrets) status = mwl_io_secrets_new(&io->own_secrets);
    io->secrets = io->own_secrets ? io->own_secrets : io->options.secrets;
    if (status == MWL_OK) status = add_all(io, error);
    if (status == MWL_OK)
        *out = io;
    else
        free_record(io);
    return status;
}

/* ---- closing --------------------------------------------------------------------------------- */

void mwl__io_hold(mwl_io *io) { io->holds++; }

/* The end: nothing is in progress and nothing is being closed. */
static void maybe_end(mwl_io *io) {
    if (io->holds || io->ops) return;
    void (*closed)(void *ctx) = io->closed;
    void *ctx = io->closed_ctx;
    free_record(io);
    if (closed) closed(ctx);
}

/* Closes the providers, once, when no call of theirs is in progress. */
static void close_states(mwl_io *io) {
    if (!io->closing || io->ops || io->busy || io->states_closed) return;
    io->states_closed = true;
    for (size_t i = 0; i < N_ROWS; i++) {
        void *state = io->state[i];
        io->state[i] = NULL;
        if (state && rows[i].life->close) rows[i].life->close(io, state);
    }
    mwl__io_release(io);
}

void mwl__io_release(mwl_io *io) {
    io->holds--;
    maybe_end(io);
}

void mwl_io_close(mwl_io *io, void (*closed)(void *ctx), void *ctx) {
    if (!io) {
        if (closed) closed(ctx);
        return;
    }
    io->closing = true;
    io->closed = closed;
    io->closed_ctx = ctx;
    io->busy++; /* until every op was asked */
    for (mwl__io_op *op = io->ops, *next; op; op = next) {
        next = op->next; /* an op may end inside its stop, and only that one */
        if (op->stopping) continue;
        op->stopping = true;
        op->stop(op);
    }
    io->busy--;
    close_states(io);
}

size_t mwl_io_pending(const mwl_io *io) { return io ? io->n_ops : 0; }

/* ---- ops ------------------------------------------------------------------------------------- */

void mwl__io_op_begin(mwl__io_op *op, mwl_io *io, mwl_call *call,
                      void (*stop)(struct mwl__io_op *op)) {
    op->io = io;
    op->call = call;
    op->stop = stop;
    op->stopping = false;
    op->next = io->ops;
    op->at = &io->ops;
    if (op->next) op->next->at = &op->next;
    io->ops = op;
    io->n_ops++;
    if (call) mwl_call_set_user(call, op);
}

void mwl__io_op_end(mwl__io_op *op) {
    mwl_io *io = op->io;
    *op->at = op->next;
    if (op->next) op->next->at = op->at;
    op->next = NULL;
    io->n_ops--;
    if (io->options.settled)
        io->options.settled(io->options.settled_ctx);
    else
        uv_stop(io->loop); /* the loop could wait for ever now */
    close_states(io);
}

void mwl__io_op_cancel(mwl_call *call, void *user) {
    (void)user;
    mwl__io_op *op = mwl_call_user(call);
    if (!op || op->stopping) return;
    op->stopping = true;
    op->stop(op);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void job_work(uv_work_t *request) {
    mwl__io_job *job = request->data;
    if (!atomic_load(&job->stop)) job->work(job);
}

static void job_done(uv_work_t *request, int status) {
    (void)status; /* UV_ECANCELED: `stop` is set then */
    mwl__io_job *job = request->data;
    mwl_io *io = job->op.io;
    io->busy++;
    mwl__io_op_end(&job->op);
    if (job->op.call) mwl_call_enter(job->op.call); /* what `done` makes is paid by the run */
    job->done(job);
    io->busy--;
    close_states(io);
}

static void job_stop(mwl__io_op *op) {
    mwl__io_job *job = (mwl__io_job *)op;
    if (job->finishes) return;
    atomic_store(&job->stop, true);
    if (uv_cancel((uv_req_t *)&job->request) != 0 && job->interrupt) job->interrupt(job);
}

void mwl__io_job_start(mwl__io_job *job, mwl_io *io, mwl_call *call) {
    atomic_init(&job->stop, false);
    job->request.data = job;
    mwl__io_op_begin(&job->op, io, call, job_stop);
    uv_queue_work(io->loop, &job->request, job_work, job_done); /* fails only without a function */
}

/* ---- readers --------------------------------------------------------------------------------- */

void *mwl__io_state(const mwl_io *io, mwl__io_slot slot) { return io->state[slot]; }
void mwl__io_set_state(mwl_io *io, mwl__io_slot slot, void *state) { io->state[slot] = state; }
uv_loop_t *mwl__io_loop(const mwl_io *io) { return io->loop; }
mwl_vm *mwl__io_vm(const mwl_io *io) { return io->vm; }
const mwl_io_options *mwl__io_options(const mwl_io *io) { return &io->options; }
