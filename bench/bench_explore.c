/* The search of `mwlvm explore`: (x) transitions of a Flow of 20 Steps, each a call under a Timeout
 * that can succeed in two ways, fail in two, be late or be cancelled; (y) a Flow of five calls
 * under Retry of three attempts, explored completely. One operation of (x) is a transition, of (y)
 * a whole search. */
#include "bench/bench.h"

#include "mwl_std.h"
#include "tools/explore/observer.h"

#include <stdlib.h>
#include <string.h>

#define FOLDER MWL_SOURCE_DIR "/bench/explore/"
enum { TRANSITIONS = 19841 }; /* of a search through 2,000 states of twenty.json */

struct loaded {
    struct testable testable;
    uint64_t states;
};

/* Explores once; returns the number of transitions, 0 if something is wrong. */
static uint64_t explore(struct bench *b, uint64_t states, bool *complete) {
    struct loaded *l = b->state;
    struct search s;
    struct observer o;
    char why[200] = "";
    mwl_config config = mwl_config_default();
    memset(&s, 0, sizeof s);
    config.alloc = b->alloc;
    config.virtual_time = true;
    s.testable = &l->testable;
    s.program = l->testable.program;
    s.cancels = true;
    s.budget = (struct budget){states, MWL_NEVER, INT64_C(100000000000000)};
    s.observer = &o;
    bool good =
        mwl_vm_new(&config, &s.vm) == MWL_OK && mwl_std_add(s.vm, MWL_STD_ALL, NULL) == MWL_OK;
    s.heap = mwl_vm_heap(s.vm);
    good = good && search_bind(&s, NULL) == MWL_OK && observer_init(&o, &s);
    s.menus = menus_new(&l->testable, s.heap, mwl_absent());
    mwl_vm_trace(s.vm, observer_event, &o);
    good = good && s.menus && search_run(&s, NULL, why, sizeof why) == MWL_OK;
    uint64_t n = good ? s.n_transitions : 0;
    *complete = !s.stopped;
    mwl_vm_trace(s.vm, NULL, NULL);
    search_free(&s);
    menus_free(s.menus);
    observer_free(&o);
    mwl_vm_free(s.vm);
    return n;
}

static void load(struct bench *b, const char *path) {
    static const char *const documents[] = {FOLDER "work.json"};
    struct loaded *l = calloc(1, sizeof *l);
    mwl__buf problems = mwl__buf_make(mwl_alloc_default());
    b->state = l;
    if (!l || testable_load(&l->testable, path, documents, 1, &problems) != MWL_OK)
        bench_fail(b, "%s: %s", path, mwl__buf_cstr(&problems));
    mwl__buf_free(&problems);
}

static void unload(struct bench *b) {
    struct loaded *l = b->state;
    if (l) testable_free(&l->testable);
    free(l);
}

static void open_twenty(struct bench *b) {
    bool complete;
    load(b, FOLDER "twenty.json");
    if (b->failed) return;
    uint64_t n = explore(b, 2000, &complete);
    if (n != TRANSITIONS) bench_fail(b, "%llu transitions", (unsigned long long)n);
}

static void run_twenty(struct bench *b, unsigned long n) {
    bool complete;
    for (unsigned long i = 0; i < n; i++)
        if (explore(b, 2000, &complete) != TRANSITIONS) bench_fail(b, "the search went otherwise");
}

static void open_five(struct bench *b) {
    bool complete;
    load(b, FOLDER "five.json");
    if (!b->failed && (!explore(b, 1000000, &complete) || !complete))
        bench_fail(b, "the search is not complete");
}

static void run_five(struct bench *b, unsigned long n) {
    bool complete;
    for (unsigned long i = 0; i < n; i++)
        if (!explore(b, 1000000, &complete)) bench_fail(b, "the search failed");
}

const struct bench_case bench_explore_cases[] = {
    {"explore", "(x) a transition, Flow of 20 Steps", open_twenty, run_twenty, unload, TRANSITIONS,
     0, NULL},
    {"explore", "(y) five calls under Retry, all of it", open_five, run_five, unload, 0, 0, NULL},
    {0}};
