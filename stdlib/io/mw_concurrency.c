/* mw_concurrency.c: concurrency: a semaphore by key for all runs of a VM.
 *
 * A ticket is the turn of one entry: it waits in the queue of its key, or is served. The state of
 * the entry is the number of its ticket, so that `left` finds it in every case. */
#include "stdlib/io/mw.h"

#define PREFIX "Provider.Middleware.Concurrency"

typedef struct gate gate;

typedef struct ticket {
    mwl__keyed_row row; /* by its number */
    gate *gate;
    struct ticket *next, **at; /* in the queue; at: what points to it */
    mwl_waiter *waiter;
    double limit;
    int64_t give_up_ns;
    bool served;
} ticket;

struct gate {
    mwl__keyed_row row; /* by the key */
    size_t served;
    ticket *first, **last; /* who waits */
};

typedef struct gates {
    mwl__keyed keys, tickets;
    uint64_t numbers;
} gates;

static gates *gates_of(mwl_io *io) {
    gates *g = mwl__io_state(io, MWL__IO_MW_concurrency);
    if (g || !(g = calloc(1, sizeof *g))) return g;
    g->keys.most = g->tickets.most = mwl__keyed_eighth(io) / 2;
    mwl__io_set_state(io, MWL__IO_MW_concurrency, g);
    return g;
}

/* The ticket of an entry, or NULL. */
static ticket *ticket_of(const gates *g, mwl_value state) {
    size_t len = 0;
    const char *number = mwl_value_kind(state) == MWL_KIND_STRING ? mwl_as_text(state, &len) : NULL;
    return number ? mwl__keyed_find(&g->tickets, number, len) : NULL;
}

static void take_out(gate *g, ticket *t) {
    *t->at = t->next;
    *(t->next ? &t->next->at : &g->last) = t->at;
    t->next = NULL;
}

static void serve(gate *g) {
    while (g->first && (double)g->served < g->first->limit) {
        ticket *t = g->first;
        take_out(g, t);
        t->served = true;
        g->served++;
        if (t->waiter) mwl_waiter_wake(t->waiter);
    }
}

static void remove_unused(gates *all, gate *g) {
    if (g->served == 0 && !g->first) mwl__keyed_remove(&all->keys, g);
}

/* Draws a ticket and puts it into the queue; false: out of memory. */
static bool draw(gates *all, mwl_phase *phase) {
    mwl_heap *heap = mwl_phase_heap(phase);
    mwl_value args = mwl_phase_arguments(phase);
    size_t len;
    char number[24];
    const char *key = mwl__mw_key(args, &len);
    gate *g = mwl__keyed_get(&all->keys, key, len, sizeof *g);
    if (!g) return false;
    if (!g->last) g->last = &g->first;
    int n = snprintf(number, sizeof number, "%llu", (unsigned long long)++all->numbers);
    ticket *t = mwl__keyed_get(&all->tickets, number, (size_t)n, sizeof *t);
    if (!t) {
        remove_unused(all, g);
        return false;
    }
    int64_t wait = mwl__io_arg_duration(args, "maxWait", -1);
    t->gate = g;
    t->limit = mwl__io_arg_number(args, "limit", 1);
    t->give_up_ns = wait < 0 ? MWL_NEVER : mwl__mw_mono(phase) + wait;
    t->at = g->last;
    *g->last = t;
    g->last = &t->next;
    serve(g);
    if (mwl_phase_set_state(phase, mwl_string(heap, number, (size_t)n)) == MWL_OK) return true;
    if (t->served)
        g->served--;
    else
        take_out(g, t);
    mwl__keyed_remove(&all->tickets, t);
    remove_unused(all, g);
    return false;
}

static void concurrency_entry(mwl_phase *phase, void *user) {
    gates *all = gates_of(user);
    ticket *t = all ? ticket_of(all, mwl_phase_state(phase)) : NULL;
    if (!t && (!all || !draw(all, phase))) {
        mwl__mw_refuse(phase, PREFIX ".OutOfMemory", true, -1, "out of memory");
        return;
    }
    if (!t) t = ticket_of(all, mwl_phase_state(phase));
    t->waiter = NULL;
    if (t->served) return;
    int64_t left = t->give_up_ns == MWL_NEVER ? MWL_NEVER : t->give_up_ns - mwl__mw_mono(phase);
    if (left <= 0) {
        mwl__mw_refuse(phase, PREFIX ".TookTooLong", true, -1, "there was no turn within maxWait");
        return;
    }
    t->waiter = mwl_phase_waiter(phase);
    mwl_phase_wait(phase, left);
}

static void concurrency_left(mwl_value state, void *user) {
    gates *all = gates_of(user);
    ticket *t = all ? ticket_of(all, state) : NULL;
    if (!t) return;
    gate *g = t->gate;
    if (t->served)
        g->served--;
    else
        take_out(g, t);
    mwl__keyed_remove(&all->tickets, t);
    serve(g);
    remove_unused(all, g);
}

static void concurrency_close(mwl_io *io, void *state) {
    gates *g = state;
    (void)io;
    mwl__keyed_empty(&g->keys, NULL);
    mwl__keyed_empty(&g->tickets, NULL);
    free(g);
}

const mwl_middleware mwl__io_mw_concurrency = {
    MWL__IO_MW(concurrency, "concurrency"), .entry = concurrency_entry, .left = concurrency_left};
const mwl__io_life mwl__io_mw_concurrency_life = {concurrency_close};
