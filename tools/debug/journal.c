/* journal.c: see journal.h. */
#include "tools/debug/journal.h"

#include "vm/machine/execution.h"
#include "vm/machine/state.h"

#include <stdlib.h>
#include <string.h>

#define REAL "mwl:provider.call/mwlvm/" /* the namespace of stdlib/io */

/* What one call was answered. Calls are numbered in their run (mwl_call_number). */
struct answer {
    uint64_t number, at; /* at: events that the run had heard */
    bool ok;
    mwl_value value, metadata; /* of the journal's heap */
};

struct journal {
    mwl_heap *heap;
    struct answer *answers;
    size_t n_answers, cap_answers;
    uint64_t *cancels;
    size_t n_cancels, cap_cancels;
    bool failed; /* out of memory: something was not noted */
};

/* A call that has started: a real one that is not accepted yet, or one that the journal answers. */
struct open_call {
    mwl_call *call;
    const mwl__frame *frame;
    int64_t index; /* in a Gather, or -1 */
    uint64_t number;
    const struct answer *answer; /* or NULL: a real one */
};

struct real_provider {
    mwl_call_provider call; /* its own functions and their pointer */
    void *user;
    mwl__provider original; /* with these, for calls that are passed on; made with the first one */
    struct journaled *owner;
};

struct journaled {
    struct journal *journal;
    mwl_vm *vm;
    const uint64_t *n_events;
    struct real_provider *providers;
    size_t n_providers;
    struct open_call *open;
    size_t n_open, cap_open;
    size_t n_cancelled; /* of the journal's cancels, how many were given */
};

static bool room(void *list, size_t *cap, size_t need, size_t size) {
    const mwl_alloc alloc = mwl_alloc_default();
    return mwl__mem_grow(&alloc, list, cap, need, size) == MWL_OK;
}

/* ---- the journal ----------------------------------------------------------------------------- */

struct journal *journal_new(mwl_heap *heap) {
    struct journal *j = calloc(1, sizeof *j);
    if (j) j->heap = heap;
    return j;
}

void journal_free(struct journal *j) {
    const mwl_alloc alloc = mwl_alloc_default();
    if (!j) return;
    for (size_t i = 0; i < j->n_answers; i++) {
        mwl_value_drop(j->heap, j->answers[i].value);
        mwl_value_drop(j->heap, j->answers[i].metadata);
    }
    mwl__mem_free(&alloc, j->answers, j->cap_answers * sizeof *j->answers);
    mwl__mem_free(&alloc, j->cancels, j->cap_cancels * sizeof *j->cancels);
    free(j);
}

void journal_cancel(struct journal *j, uint64_t n_events) {
    if (room((void **)&j->cancels, &j->cap_cancels, j->n_cancels + 1, sizeof *j->cancels))
        j->cancels[j->n_cancels++] = n_events;
}

void journal_back(struct journal *j, uint64_t n_events) {
    while (j->n_cancels && j->cancels[j->n_cancels - 1] >= n_events) j->n_cancels--;
}

static const struct answer *find(const struct journal *j, uint64_t number) {
    for (size_t i = 0; i < j->n_answers; i++)
        if (j->answers[i].number == number) return &j->answers[i];
    return NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Settles a call with what the journal has. */
static void settle(mwl_call *call, const struct answer *a) {
    mwl_heap *h = &call->vm->heap;
    if (!mwl_is_absent(a->metadata)) mwl_call_set_metadata(call, mwl_value_copy(h, a->metadata));
    if (a->ok)
        mwl_call_succeed(call, mwl_value_copy(h, a->value));
    else
        mwl__execution_fail(call, mwl_value_copy(h, a->value));
}

/* A place has one call at a time: an older one there was cancelled. */
static void forget(struct journaled *a, const mwl__frame *frame, int64_t index) {
    for (size_t i = 0; i < a->n_open; i++)
        if (a->open[i].frame == frame && a->open[i].index == index) {
            a->open[i] = a->open[--a->n_open];
            return;
        }
}

static bool add_open(struct journaled *a, mwl_call *call, const struct answer *known) {
    const mwl__gather *g = call->slot ? mwl__gather_of(call->frame) : NULL;
    int64_t index = g ? call->slot - g->slots : -1;
    forget(a, call->frame, index);
    if (!room((void **)&a->open, &a->cap_open, a->n_open + 1, sizeof *a->open)) return false;
    a->open[a->n_open++] =
        (struct open_call){call, call->frame, index, mwl_call_number(call), known};
    return true;
}

static void start(mwl_call *call, void *user) {
    struct real_provider *r = user;
    struct journaled *a = r->owner;
    const struct answer *known = find(a->journal, mwl_call_number(call));
    if (known && known->at <= *a->n_events) {
        settle(call, known);
        return;
    }
    if (!add_open(a, call, known)) {
        mwl_call_succeed(call, mwl_absent()); /* out of memory: the run ends */
        return;
    }
    if (known) return; /* journal_deliver settles it */
    if (!r->original.uri) {
        r->original = *call->provider;
        r->original.call = r->call;
        r->original.user = r->user;
    }
    call->provider = &r->original;
    r->call.start(call, r->user);
}

static void cancel(mwl_call *call, void *user) {
    struct real_provider *r = user;
    struct journaled *a = r->owner;
    for (size_t i = 0; i < a->n_open; i++)
        if (a->open[i].call == call) a->open[i] = a->open[--a->n_open];
    mwl_call_succeed(call, mwl_null()); /* the Result of a cancelled call is not used */
}

void journal_event(struct journaled *a, const mwl_trace_event *event) {
    if (event->kind != MWL_TRACE_CALL_ACCEPTED) return;
    const mwl__frame *f = (const mwl__frame *)(uintptr_t)event->frame;
    for (size_t i = 0; i < a->n_open; i++) {
        struct open_call o = a->open[i];
        if (o.frame != f || o.index != event->index || o.answer) continue;
        a->open[i] = a->open[--a->n_open];
        struct journal *j = a->journal;
        if (!room((void **)&j->answers, &j->cap_answers, j->n_answers + 1, sizeof *j->answers)) {
            j->failed = true;
            return;
        }
        mwl_value metadata = f->record ? f->record->metadata : mwl_absent();
        j->answers[j->n_answers++] = (struct answer){
            o.number, *a->n_events - 1, !event->failed, mwl_value_copy(j->heap, event->value),
            mwl_is_absent(metadata) ? metadata : mwl_value_copy(j->heap, metadata)};
        return;
    }
}

bool journal_deliver(struct journaled *a, mwl_run *run) {
    bool any = false;
    for (size_t i = 0; i < a->n_open;) {
        struct open_call o = a->open[i];
        if (!o.answer || o.answer->at > *a->n_events) {
            i++;
            continue;
        }
        a->open[i] = a->open[--a->n_open];
        settle(o.call, o.answer);
        any = true;
    }
    const struct journal *j = a->journal;
    for (; a->n_cancelled < j->n_cancels && j->cancels[a->n_cancelled] <= *a->n_events;
         a->n_cancelled++, any = true)
        mwl_run_cancel(run, "cancelled by the debugger");
    return any;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static bool is_real(const mwl__provider *p) {
    return !p->is_middleware && !p->call.blocking && strncmp(p->uri, REAL, sizeof REAL - 1) == 0;
}

struct journaled *journal_attach(struct journal *j, mwl_vm *vm, const uint64_t *n_events,
                                 bool (*skip)(void *ctx, const char *uri), void *ctx) {
    struct journaled *a = calloc(1, sizeof *a);
    size_t n = 0;
    for (const mwl__provider *p = vm->providers; p; p = p->next) n += is_real(p);
    if (a) a->providers = calloc(n + 1, sizeof *a->providers);
    if (!a || !a->providers) {
        free(a);
        return NULL;
    }
    a->journal = j;
    a->vm = vm;
    a->n_events = n_events;
    for (mwl__provider *p = vm->providers; p; p = p->next) {
        if (!is_real(p) || skip(ctx, p->uri)) continue;
        struct real_provider *r = &a->providers[a->n_providers++];
        r->call = p->call;
        r->user = p->user;
        r->owner = a;
        p->call.start = start;
        p->call.wake = NULL;
        p->call.cancel = cancel;
        p->now = p->call.now = NULL;
        p->user = r;
    }
    return a;
}

void journal_detach(struct journaled *a) {
    const mwl_alloc alloc = mwl_alloc_default();
    if (!a) return;
    mwl__mem_free(&alloc, a->open, a->cap_open * sizeof *a->open);
    free(a->providers);
    free(a);
}
