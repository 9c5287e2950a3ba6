/* world.h: the simulated world: workers, each with a VM and a driver; a store in memory that can
 * fail; providers that remember what they were asked; and what must hold at every moment.
 *
 * Everything is decided by one random generator, so a history is repeated by its seed. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "tests/durable/committed.h"
#include "mwl_durable.h"
#include "tests/durable/store_memory.h"

#define S INT64_C(1000000000)
enum { WORKERS = 3, RUNS = 4, CALLS = 64, KEYS = 512, ANSWERS = 64 };
#define LEASE (2 * S)

/* The Flows that runs are of. */
typedef struct flows {
    mwl_program **list;
    void **images;
    size_t *sizes;
    size_t n;
} flows;
bool flows_make(flows *f); /* false: after a message */
void flows_free(flows *f);

/* What happens to the next transaction of a worker. */
typedef enum outcome { GOOD, NOT_DONE, UNKNOWN } outcome;

/* Faults on purpose, which the checks must find: a commit is reported before it is made, so that
 * calls are released early; the fence is not heeded. */
typedef enum planted { HONEST, EARLY, NO_FENCE } planted;

/* What has happened, to see that the histories are worth something. */
typedef struct counts {
    unsigned long dispatched, repeated, died, lost, parked, answers, cancelled, ended, failed,
        hungry,  /* memory ran out while a run was copied or loaded */
        drained, /* workers that gave all of their runs back */
        outside; /* calls that were settled by workers outside */
} counts;

struct world;
/* A store that does what the outcome says, around the real one. */
typedef struct faulty_store {
    mwl_store base;
    mwl_store *real;
    outcome next;
    struct world *world;
} faulty_store;

typedef struct worker {
    struct world *world;
    faulty_store store;
    mwl_vm *vm; /* NULL: dead */
    mwl_durable *driver;
    mwl_durable_work *work;
    bool work_done;      /* it was done, and the driver has not heard of it */
    int64_t wall_offset; /* of its clock */
    unsigned asleep;     /* turns that it does not get: stopped, or not reached */
    unsigned hungry;     /* allocations of its VM until one fails; 0: none does */
    bool draining;       /* it is to end, and starts nothing any more */
} worker;

/* A call that a provider works for. */
typedef struct at_work {
    worker *of;
    mwl_call *call;
    uint64_t key; /* index in keys */
} at_work;

typedef struct key_row {
    char key[40];
    char content[120];
    unsigned dispatched;
    bool once, cleanup, known; /* known: a snapshot in the store has contained it */
} key_row;

typedef struct run_row {
    char id[16];
    size_t flow;
    char shown[200]; /* the Result that was announced, or "" */
    bool accepted, cancelled;
    unsigned settled; /* what a worker outside was told that its call is settled with; 0: nothing */
    uint64_t version, epoch; /* the last ones seen in the store */
} run_row;

typedef struct world {
    uint64_t rng, any;
    int64_t time;
    const flows *flows;
    mwl_store_memory *memory;
    mwl_store *asker; /* the handle of everybody else */
    worker workers[WORKERS];
    run_row runs[RUNS];
    key_row keys[KEYS];
    struct committed committed;
    at_work calls[CALLS];
    size_t n_keys, n_calls, n_runs;
    bool faults; /* there may be some */
    planted lie; /* a fault on purpose */
    counts n;
    unsigned answers; /* that were acknowledged */
    unsigned results; /* the last one of a worker outside */
    struct taken {    /* the call that a worker outside has */
        char run[16], key[40];
        uint64_t number;
        uint32_t attempt; /* 0: none */
    } taken;
    char wrong[300]; /* the first violation; "" */
} world;

uint64_t roll(world *w, uint64_t n); /* 0 to n - 1 */
void violation(world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool world_begin(world *w, const flows *f, uint64_t seed, planted lie);
void world_end(world *w);
bool worker_begin(worker *k);
void worker_die(worker *k); /* at once, without a word */
void settle_call(world *w, size_t i);
/* A worker outside takes a call, or settles one that it has taken. */
void outside_turn(world *w);
/* Versions and epochs ascend; a Result that was shown stays. */
void check_rows(world *w);
/* When all is over. */
void check_end(world *w);
bool all_over(world *w);

#endif
