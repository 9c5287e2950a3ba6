/* styles.h: one call provider of each style, in the namespace `acme`, and a list of jobs (the
 * bench) that settles the slow ones.
 *
 * `at-once` settles before it returns. `later` keeps its call and settles when the bench gets to
 * it, cancelled or not. `given-up` is the same without a cancel callback. `blocking` sleeps a
 * second and then awaits the bench. Every start, settlement and cancellation is counted. */
#ifndef STYLES_H
#define STYLES_H

#include "mwl_asm.h"

#include <stdlib.h>
#include <string.h>

#define STYLES_URI(name) "mwl:provider.call/acme/" name "/v1"
#define STYLES_DOC(name)                                                                           \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" STYLES_URI(            \
        name) "\",\"codePrefix\":\"Acme\",\"description\":\"A "                                    \
              "test.\",\"parameters\":{\"type\":\"object\"},"                                      \
              "\"metadata\":{\"type\":\"object\",\"properties\":{\"by\":{\"type\":\"string\"}}},"  \
              "\"failureCatalog\":{\"closed\":[],\"open\":[\"*\"]}}"

enum { STYLES_JOBS = 64 };

typedef struct styles {
    mwl_token *jobs[STYLES_JOBS]; /* not answered yet, oldest first */
    size_t n_jobs;
    int started, settled, cancelled; /* of calls */
    int answered, refused; /* answers: accepted; refused because the call did not wait any more */
    int blocked, blocked_settled,
        cancelled_inside; /* of the blocking ones: begun; and how they ended */
    int on_stack;         /* blocking functions that have not returned */
} styles;

static bool styles_job(styles *s, mwl_call *call) {
    if (s->n_jobs == STYLES_JOBS || mwl_call_token(call, &s->jobs[s->n_jobs]) < 0) return false;
    s->n_jobs++;
    return true;
}

/* Settles the oldest job. Returns false if there is none. */
static inline bool styles_answer(styles *s) {
    if (!s->n_jobs) return false;
    mwl_token *job = s->jobs[0];
    mwl_status st = mwl_token_succeed(job, "\"answer\"", 8);
    if (st == MWL_E_NOMEM) return true; /* the next time */
    memmove(s->jobs, s->jobs + 1, --s->n_jobs * sizeof *s->jobs);
    if (st == MWL_OK)
        s->answered++;
    else
        s->refused++;
    mwl_token_release(job);
    return true;
}

static void styles_at_once(mwl_call *call, void *user) {
    styles *s = user;
    s->started++;
    if (mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call))) == MWL_OK) s->settled++;
}

static void styles_later(mwl_call *call, void *user) {
    styles *s = user;
    s->started++;
    mwl_call_set_user(call, s);
    if (!styles_job(s, call)) mwl_call_fail(call, NULL, "Acme.Busy", NULL, mwl_absent());
}

static void styles_later_cancel(mwl_call *call, void *user) {
    styles *s = user;
    if (mwl_call_user(call) == user && mwl_call_cancelled(call)) s->cancelled++;
}

static mwl_status styles_wait_twice(mwl_call *call, styles *s, mwl_value *answer) {
    mwl_status st = mwl_sleep(call, INT64_C(1000000000));
    if (st == MWL_OK && !styles_job(s, call)) st = MWL_E_NOMEM;
    return st == MWL_OK ? mwl_await(call, answer) : st;
}

static void styles_blocking(mwl_call *call, void *user) {
    styles *s = user;
    s->started++;
    s->blocked++;
    s->on_stack++;
    char *held = malloc(100); /* a wait that never returned would lose it */
    mwl_value answer = mwl_absent();
    mwl_status st = styles_wait_twice(call, s, &answer);
    if (st == MWL_E_CANCELLED) s->cancelled++, s->cancelled_inside++;
    if (st == MWL_OK) {
        s->blocked_settled++;
        mwl_call_set_metadata(call, mwl_object_set(mwl_call_heap(call),
                                                   mwl_object(mwl_call_heap(call), 1), "by", 2,
                                                   mwl_string(mwl_call_heap(call), "hand", 4)));
        if (mwl_call_succeed(call, answer) == MWL_OK) s->settled++;
    }
    free(held);
    s->on_stack--;
}

static const mwl_call_provider styles_providers[] = {
    {.uri = STYLES_URI("at-once"), .document = STYLES_DOC("at-once"), .start = styles_at_once},
    {.uri = STYLES_URI("later"),
     .document = STYLES_DOC("later"),
     .start = styles_later,
     .cancel = styles_later_cancel},
    {.uri = STYLES_URI("given-up"), .document = STYLES_DOC("given-up"), .start = styles_later},
    {.uri = STYLES_URI("blocking"),
     .document = STYLES_DOC("blocking"),
     .blocking = styles_blocking},
};
#define STYLES_COUNT (sizeof styles_providers / sizeof *styles_providers)

/* Memory that counts, and that can be made to fail once. One thread. */
typedef struct counted {
    size_t bytes;
    long fail_in; /* the allocation that fails, from 1; 0: none */
} counted;

static inline void *counted_fn(void *ctx, void *ptr, size_t old_size, size_t new_size) {
    counted *c = ctx;
    if (!new_size) {
        c->bytes -= old_size;
        free(ptr);
        return NULL;
    }
    if (c->fail_in && --c->fail_in == 0) return NULL;
    void *p = realloc(ptr, new_size);
    if (p) c->bytes += new_size - (ptr ? old_size : 0);
    return p;
}

#endif
