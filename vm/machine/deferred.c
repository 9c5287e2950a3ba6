/* deferred.c: see deferred.h. */
#include "vm/machine/deferred.h"

#include "vm/cel/ops.h"
#include "vm/machine/account.h"

struct mwl__deferred {
    struct mwl__deferred *next;
    mwl_run *run;
    void *dead, *blocks;
    uint64_t weight;
};

static struct mwl__deferred **find(mwl_vm *vm, const mwl_run *run) {
    struct mwl__deferred **at = &vm->deferred;
    while (*at && (*at)->run != run) at = &(*at)->next;
    return at;
}

/* Gives the heap what is in the grave, and removes the grave. */
static void reopen(mwl_vm *vm, struct mwl__deferred **at) {
    struct mwl__deferred *g = *at;
    *at = g->next;
    vm->heap.dead = g->dead;
    vm->heap.dead_blocks = g->blocks;
    vm->heap.dead_weight = g->weight;
    mwl__mem_free(&vm->config.alloc, g, sizeof *g);
}

MWL__OUTLINE void mwl__deferred_keep(mwl_vm *vm, mwl_run *run) {
    struct mwl__deferred *g = mwl__mem_new(&vm->config.alloc, sizeof *g);
    if (!g) {
        const size_t used = vm->heap.used;
        mwl__heap_release(&vm->heap, SIZE_MAX);
        mwl__run_account(run, used, vm->heap.used);
        return;
    }
    struct mwl__deferred **last = &vm->deferred; /* the others come first */
    while (*last) last = &(*last)->next;
    *g = (struct mwl__deferred){NULL, run, vm->heap.dead, vm->heap.dead_blocks,
                                vm->heap.dead_weight};
    *last = g;
    vm->heap.dead = vm->heap.dead_blocks = NULL;
    vm->heap.dead_weight = 0;
}

/* Elements. A Flow that makes and drops more than a step in each turn would fill its memory. */
#define MOST (1u << 20)

MWL__OUTLINE void mwl__deferred_turn(mwl_vm *vm, mwl__frame *f) {
    struct mwl__deferred **at = find(vm, f->run);
    if (!*at) return;
    reopen(vm, at);
    const bool unwinds = f->extra && (f->extra->running || f->extra->resume);
    const bool much = !unwinds && vm->heap.dead_weight > MOST;
    do mwl__heap_release(&vm->heap, MWL__RELEASE_STEP);
    while (much && mwl__heap_has_dead(&vm->heap) && !mwl__exec_poll(&vm->exec));
}

MWL__OUTLINE bool mwl__deferred_step(mwl_vm *vm) {
    if (!vm->deferred) return false;
    mwl_run *run = vm->deferred->run;
    const size_t used = vm->heap.used;
    reopen(vm, &vm->deferred);
    mwl__heap_release(&vm->heap, MWL__RELEASE_STEP);
    mwl__run_account(run, used, vm->heap.used);
    if (mwl__heap_has_dead(&vm->heap)) mwl__deferred_keep(vm, run);
    return true;
}

MWL__OUTLINE void mwl__deferred_clear(mwl_vm *vm, const mwl_run *run) {
    struct mwl__deferred **at = find(vm, run);
    if (!*at) return;
    mwl_heap *h = &vm->heap;
    void *dead = h->dead, *blocks = h->dead_blocks; /* of a run whose turn this is */
    const uint64_t weight = h->dead_weight;
    reopen(vm, at);
    mwl__heap_release(h, SIZE_MAX);
    h->dead = dead;
    h->dead_blocks = blocks;
    h->dead_weight = weight;
}
