/* desk.c: see desk.h. */
#include "tools/serve/desk.h"

#include "tools/base/cmd.h"
#include "tools/base/redact.h"
#include "tools/durable/store.h"
#include "tools/host/io_host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct clerk { /* one thread */
    struct desk *desk;
    struct desk_tools tools;
    pthread_t thread;
    bool started;
};

struct desk {
    struct clerk clerks[DESK_THREADS];
    size_t n_clerks;
    pthread_mutex_t lock;
    pthread_cond_t change;
    struct desk_job *jobs, **jobs_end, *done, **done_end;
    size_t n;
    uv_loop_t *loop;
    uv_async_t wake;
    bool stop, has_wake;
};

mwl_vm *desk_vm(struct desk_tools *t) {
    if (!t->has_loop) {
        if (uv_loop_init(&t->loop) != 0) return NULL;
        t->has_loop = true;
    }
    const mwl_limits limits = {.memory_bytes = t->options->definition.limits.memory};
    const struct session_host host = {.loop = &t->loop, .silent = true, .limits = &limits};
    if (!t->session && session_open(t->options, NULL, &host, &t->session) != CMD_OK) {
        session_close(t->session);
        t->session = NULL;
    }
    return t->session ? t->session->vm : NULL;
}

static void free_tools(struct desk_tools *t) {
    session_close(t->session);
    if (t->has_loop) {
        uv_run(&t->loop, UV_RUN_NOWAIT);
        uv_loop_close(&t->loop);
    }
    mwl_store_close(t->store);
    mwl_heap_free(t->heap);
}

static void *run(void *ctx) {
    struct clerk *c = ctx;
    struct desk *d = c->desk;
    pthread_mutex_lock(&d->lock);
    while (!d->stop) {
        struct desk_job *job = d->jobs;
        if (!job) {
            pthread_cond_wait(&d->change, &d->lock);
            continue;
        }
        d->jobs = job->next;
        if (!d->jobs) d->jobs_end = &d->jobs;
        pthread_mutex_unlock(&d->lock);
        job->work(job, &c->tools);
        redact_end(c->tools.shown);
        pthread_mutex_lock(&d->lock);
        job->next = NULL;
        *d->done_end = job;
        d->done_end = &job->next;
        uv_async_send(&d->wake);
    }
    pthread_mutex_unlock(&d->lock);
    free_tools(&c->tools); /* on the thread that used them */
    return NULL;
}

/* Calls `done` of all jobs of a list that was taken out. */
static void finish(struct desk *d, struct desk_job *list) {
    while (list) {
        struct desk_job *job = list;
        list = job->next;
        d->n--;
        job->done(job);
    }
}

static void on_wake(uv_async_t *handle) {
    struct desk *d = handle->data;
    pthread_mutex_lock(&d->lock);
    struct desk_job *list = d->done;
    d->done = NULL;
    d->done_end = &d->done;
    pthread_mutex_unlock(&d->lock);
    finish(d, list);
    uv_stop(handle->loop); /* the driver has its turn */
}

void desk_give(struct desk *d, struct desk_job *job) {
    job->next = NULL;
    job->skipped = false;
    d->n++;
    pthread_mutex_lock(&d->lock);
    *d->jobs_end = job;
    d->jobs_end = &job->next;
    pthread_cond_signal(&d->change);
    pthread_mutex_unlock(&d->lock);
}

size_t desk_waiting(const struct desk *d) { return d->n; }

mwl_status desk_list(struct desk_tools *t, const mwl_store_query *query,
                     bool (*see)(void *ctx, const mwl_store_row *row), void *ctx) {
    return store_list(t->store, t->shown, query, see, ctx);
}

/* The thread starts when all of them have their store. */
static int open_clerk(struct desk *d, const struct run_options *options) {
    struct clerk *c = &d->clerks[d->n_clerks++];
    c->desk = d;
    c->tools.options = options;
    snprintf(c->tools.shown, sizeof c->tools.shown, "\n%p", (void *)c); /* no run has this id */
    int status = store_open(options->durable, false, &c->tools.store);
    if (status == CMD_OK && mwl_heap_new(NULL, &c->tools.heap) != MWL_OK) status = cmd_no_memory();
    return status;
}

int desk_open(struct desk **out, uv_loop_t *loop, const struct run_options *options,
              size_t n_threads) {
    struct desk *d = calloc(1, sizeof *d);
    int status = CMD_OK;
    *out = d;
    if (!d) return cmd_no_memory();
    d->jobs_end = &d->jobs;
    d->done_end = &d->done;
    d->loop = loop;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->change, NULL);
    (void)io_host_documents(); /* made once, before there are threads */
    while (d->n_clerks < n_threads && status == CMD_OK) status = open_clerk(d, options);
    if (status != CMD_OK) return status;
    d->has_wake = uv_async_init(loop, &d->wake, on_wake) == 0;
    d->wake.data = d;
    for (size_t i = 0; i < n_threads; i++) {
        struct clerk *c = &d->clerks[i];
        c->started = d->has_wake && pthread_create(&c->thread, NULL, run, c) == 0;
        if (!c->started) return cmd_fail("a thread cannot be started");
    }
    return CMD_OK;
}

static void on_closed(uv_handle_t *handle) { *(bool *)handle->data = true; }

void desk_close(struct desk *d) {
    bool closed = false;
    if (!d) return;
    pthread_mutex_lock(&d->lock);
    d->stop = true;
    pthread_cond_broadcast(&d->change);
    pthread_mutex_unlock(&d->lock);
    for (size_t i = 0; i < d->n_clerks; i++) {
        struct clerk *c = &d->clerks[i];
        if (c->started)
            pthread_join(c->thread, NULL);
        else
            free_tools(&c->tools);
    }
    finish(d, d->done);
    for (struct desk_job *job = d->jobs; job; job = job->next) job->skipped = true;
    finish(d, d->jobs);
    if (d->has_wake) {
        d->wake.data = &closed;
        uv_close((uv_handle_t *)&d->wake, on_closed);
        while (!closed) uv_run(d->loop, UV_RUN_NOWAIT);
    }
    pthread_mutex_destroy(&d->lock);
    pthread_cond_destroy(&d->change);
    free(d);
}
