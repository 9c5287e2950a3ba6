/* invariant.c: what is true whenever a run is over, however it ended.
 *
 * Owns: the list of these invariants, and the message about one that is broken. Refuses to know:
 * how the machine keeps them. A run counts two things at all times, because that costs an addition:
 * `live`, its frames and the provider executions it awaits, and `owed`, entries that were
 * established and have not finished their onAlways. Checked builds (sanitizers, MWL_STRESS,
 * MWL_CHECKED) test the invariants after every run and stop at a broken one; tests do so in any
 * build. */
#include "vm/machine/invariant.h"

#include <stdio.h>
#include <stdlib.h>

/* How many records of the VM are walked: enough for a test. With a million parked runs a full walk
 * would take too long. */
#define CROWD 256u

static const char *left_behind(const mwl_run *run) {
    const mwl_vm *vm = run->link->vm;
    uint32_t n = 0;
    for (const mwl_call *c = vm->executions; c && n < CROWD; c = c->next, n++)
        if (c->frame && c->frame->run == run) return "a provider execution is still awaited";
    n = 0;
    for (const mwl__frame *f = vm->ready_head; f && n < CROWD; f = f->next_ready, n++)
        if (f->run == run) return "one of its frames is still queued";
    n = 0;
    const mwl__run_links *l = vm->first_new;
    for (; l != &vm->runs[MWL_RUNS_LINE] && n < CROWD; l = l->next, n++)
        if (l == &run->links) return "it is still in line for its first turn";
    if (vm->round_new == &run->links) return "a round still ends with it";
    return NULL;
}

const char *mwl__invariant_broken(const mwl_run *run) {
    if (run->state != MWL_RUN_DONE && run->state != MWL_RUN_ABORTED) return "it is not over";
    if (run->root) return "its root frame is still there";
    if (run->live) return "a frame or an awaited provider execution is still there";
    if (run->state == MWL_RUN_DONE && run->owed)
        return "an established entry did not run its onAlways";
    if (run->state == MWL_RUN_DONE && mwl_is_absent(run->result)) return "there is no Result";
    const mwl_vm *vm = run->link->vm;
    if (run->memory_used > vm->heap.used + vm->entered.all)
        return "its account is above all memory in use";
    return left_behind(run);
}

#if MWL_CHECKED
void mwl__invariant_over(const mwl_run *run) {
    const char *broken = mwl__invariant_broken(run);
    if (!broken) return;
    fprintf(stderr, "mwlvm: after a run: %s (live %u, owed %u)\n", broken, run->live, run->owed);
    abort();
}
#endif
