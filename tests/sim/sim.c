/* sim.c: histories of a fleet: who moves, what fails, is delayed or unknown, who dies, whose clock
 * jumps. `sim [COUNT [FIRST]]` tries COUNT seeds from FIRST on, and then shows that a
 * release before the commit, and a fence that is not heeded, are found. */
#include "tests/sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 400, QUIET_TURNS = 60000, SHORT = 300 };

/* ---- what can happen ------------------------------------------------------------------------- */

static void pump(worker *k) {
    (void)mwl_vm_pump(k->vm, 0);
    (void)mwl_durable_collect(k->driver);
}

static outcome choose(world *w) {
    uint64_t n = w->faults ? roll(w, 10) : 9;
    return n == 0 ? NOT_DONE : n == 1 ? UNKNOWN : GOOD;
}

/* Its writer: takes work, does it, and the driver hears of it, each in a turn of its own. */
static void write_turn(worker *k) {
    world *w = k->world;
    if (!k->work) {
        k->work = mwl_durable_take(k->driver, roll(w, 2) == 0);
        k->work_done = false;
    } else if (!k->work_done) {
        k->store.next = choose(w);
        mwl_status status = mwl_durable_work_do(k->work, &k->store.base);
        k->work_done = status != MWL_E_IO && status != MWL_E_NOMEM;
        if (k->work_done && status != MWL_OK)
            violation(w, "the store refused a work: %s", mwl_status_text(status));
        check_rows(w);
    } else {
        mwl_durable_work *work = k->work;
        k->work = NULL;
        (void)mwl_durable_done(k->driver, work);
    }
}

/* Its runs have gone back, so it ends. */
static void end_drained(worker *k) {
    if (!k->draining || k->work || mwl_durable_runs(k->driver)) return;
    k->world->n.drained++;
    worker_die(k);
}

static void post(world *w) {
    char body[20];
    const run_row *r = &w->runs[roll(w, w->n_runs)];
    bool cancel = w->faults && roll(w, 60) == 0;
    snprintf(body, sizeof body, cancel ? "\"stop\"" : "%u", w->answers + 1);
    const mwl_store_message m = {.run = r->id,
                                 .kind = cancel ? MWL_STORE_CANCEL : MWL_STORE_ANSWER,
                                 .name = cancel ? "" : "ok",
                                 .body = {body, strlen(body)},
                                 .now_wall_ns = w->time};
    if (!cancel && (r->flow != 4 || w->answers >= ANSWERS)) return;
    if (w->asker->ops->post(w->asker, &m) != MWL_OK) return;
    w->answers += !cancel;
    w->n.answers += !cancel;
    w->n.cancelled += cancel;
}

static void fault(world *w, worker *k) {
    switch (roll(w, 5)) {
    case 4: /* what was released starts; then it is asked to end */
        if (!k->vm || k->draining) break;
        (void)mwl_vm_pump(k->vm, 0);
        mwl_durable_drain(k->driver);
        k->draining = true;
        break;
    case 0: worker_die(k); break;
    case 1: k->asleep = (unsigned)roll(w, 60); break; /* stopped: time goes on without it */
    case 2: w->time += (int64_t)roll(w, (uint64_t)(3 * LEASE)); break;
    default: k->wall_offset = ((int64_t)roll(w, 3) - 1) * 3600 * S; break;
    }
}

/* Time goes on by a little, or to where something may be due. */
static void pass_time(world *w) {
    static const int64_t steps[] = {S / 100, S / 10, S, 3 * S, 30 * S, 3600 * S};
    w->time += steps[roll(w, w->faults ? 5 : 6)];
}

static void resume_stuck(world *w) {
    for (size_t i = 0; i < w->n_runs; i++) {
        const mwl_store_message m = {
            .run = w->runs[i].id, .kind = MWL_STORE_RESUME, .name = "", .now_wall_ns = w->time};
        (void)w->asker->ops->post(w->asker, &m); /* of those that are not, nothing */
    }
}

static void turn(world *w) {
    worker *k = &w->workers[roll(w, WORKERS)];
    uint64_t what = roll(w, 100);
    if (w->faults && what < 4) {
        fault(w, k);
    } else if (what < 12) {
        pass_time(w);
    } else if (what < 16) {
        post(w);
    } else if (what < 18) {
        outside_turn(w);
    } else if (what < 30 && w->n_calls) {
        size_t i = (size_t)roll(w, w->n_calls);
        if (!w->calls[i].of->asleep) settle_call(w, i);
    } else if (!k->vm) {
        if (roll(w, 8) == 0 && !worker_begin(k)) violation(w, "a worker cannot start");
    } else if (k->asleep) {
        k->asleep--;
    } else if (what < 65) {
        pump(k);
    } else {
        write_turn(k);
        end_drained(k);
    }
}

/* ---- histories ------------------------------------------------------------------------------- */

static void add(counts *to, const counts *more) {
    to->dispatched += more->dispatched;
    to->repeated += more->repeated;
    to->died += more->died;
    to->lost += more->lost;
    to->parked += more->parked;
    to->answers += more->answers;
    to->cancelled += more->cancelled;
    to->ended += more->ended;
    to->failed += more->failed;
    to->hungry += more->hungry;
    to->drained += more->drained;
    to->outside += more->outside;
}

static bool history(const flows *f, uint64_t seed, planted lie, counts *all, char *wrong,
                    size_t cap) {
    static world w;
    if (!world_begin(&w, f, seed, lie)) {
        snprintf(wrong, cap, "the world cannot be made");
        return false;
    }
    for (int i = 0; i < TURNS && !*w.wrong; i++) turn(&w);
    w.faults = false;
    for (size_t i = 0; i < WORKERS; i++) w.workers[i].wall_offset = 0;
    for (int i = 0; i < QUIET_TURNS && !*w.wrong && !all_over(&w); i++) {
        turn(&w);
        if (i % 1000 == 0) resume_stuck(&w);
    }
    if (!*w.wrong) check_end(&w);
    snprintf(wrong, cap, "%s", w.wrong);
    add(all, &w.n);
    world_end(&w);
    return !*wrong;
}

static bool find_planted(const flows *f, planted lie, const char *name) {
    char wrong[300];
    counts all = {0};
    for (uint64_t seed = 1; seed <= SHORT; seed++)
        if (!history(f, seed, lie, &all, wrong, sizeof wrong)) {
            printf("%s: found by seed %llu: %s\n", name, (unsigned long long)seed, wrong);
            return true;
        }
    printf("%s: not found in %d histories\n", name, SHORT);
    return false;
}

int main(int argc, char **argv) {
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : SHORT;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, bad = 0;
    char wrong[300];
    counts n = {0};
    flows f;
    if (!flows_make(&f)) return 1;
    for (uint64_t seed = first; seed < first + count && bad < 5; seed++)
        if (!history(&f, seed, HONEST, &n, wrong, sizeof wrong)) {
            printf("seed %llu: %s\n", (unsigned long long)seed, wrong);
            bad++;
        }
    printf("%lu runs ended, %lu of them not well; %lu calls dispatched, %lu of them again; %lu "
           "workers died; %lu changes were another's; %lu runs parked; %lu answers, %lu "
           "cancellations; memory ran out %lu times; %lu workers gave all back; %lu calls settled "
           "outside\n",
           n.ended, n.failed, n.dispatched, n.repeated, n.died, n.lost, n.parked, n.answers,
           n.cancelled, n.hungry, n.drained, n.outside);
    printf("%llu histories, %llu violations\n", (unsigned long long)count, (unsigned long long)bad);
    bool found = find_planted(&f, EARLY, "release before commit");
    found &= find_planted(&f, NO_FENCE, "no fence");
    flows_free(&f);
    return bad || !found ? 1 : 0;
}
