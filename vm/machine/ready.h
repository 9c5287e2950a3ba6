/* ready.h: what can run, and the round of the pump that takes it.
 *
 * There are two queues, in each of which the first comes first. Frames that were woken are linked
 * by themselves: a queued frame awaits nothing and has no timer, so the links take the place of
 * both (state.h). New runs stand in the list of runs that they are in anyway (run_list.h), from
 * vm->first_new on; so a run that ends in its first turn is put into no queue and taken out of
 * none.
 *
 * A round is all that was queued when it began: the woken frames up to a mark, vm->round_end, then
 * the new runs up to another, vm->round_new. */
#ifndef MWL_READY_H
#define MWL_READY_H

#include "vm/machine/run_list.h"

#include <assert.h>

/* Adds a frame at the end. It must not be queued, and its timer must not be armed. */
static inline void mwl__ready_push(mwl_vm *vm, mwl__frame *f) {
    assert(f->awaits == MWL_AWAITS_NOTHING);
    f->queued = true;
    f->next_ready = NULL;
    f->target.queued_behind = vm->ready_tail;
    if (vm->ready_head)
        vm->ready_tail->next_ready = f;
    else
        vm->ready_head = f;
    vm->ready_tail = f;
}

/* Removes and returns the first frame. The queue must not be empty. */
static inline mwl__frame *mwl__ready_pop(mwl_vm *vm) {
    mwl__frame *f = vm->ready_head;
    vm->ready_head = f->next_ready;
    if (f == vm->round_end) vm->round_end = NULL;
    f->queued = false;
    return f;
}

/* Removes a frame, wherever it is in the queue. (The place of a new one is its run's.) */
static inline void mwl__ready_remove(mwl_vm *vm, mwl__frame *f) {
    if (f->fresh) {
        f->queued = f->fresh = false;
        return;
    }
    if (f == vm->ready_head) {
        (void)mwl__ready_pop(vm);
        return;
    }
    mwl__frame *before = f->target.queued_behind;
    before->next_ready = f->next_ready;
    if (f->next_ready) f->next_ready->target.queued_behind = before;
    if (f == vm->ready_tail) vm->ready_tail = before;
    if (f == vm->round_end) vm->round_end = before;
    f->queued = false;
}

/* Queues a new run, which is in no list. */
static inline void mwl__ready_new(mwl_vm *vm, mwl_run *run) {
    mwl__run_links *line = &vm->runs[MWL_RUNS_LINE];
    mwl__run_list_add(run, line);
    if (vm->first_new == line) vm->first_new = &run->links;
    run->root->queued = run->root->fresh = true;
}

/* A new run ends before its first turn. If it is the round's last one, the one before it is, unless
 * that has had its turn, or has it now. */
static inline void mwl__ready_skip(mwl_vm *vm, const mwl_run *run) {
    if (vm->round_new != &run->links) return;
    vm->round_new = NULL;
    if (vm->first_new == &run->links) return;
    const mwl_run *before = mwl__run_list_at(run->links.prev);
    if (before->root && before->root->fresh) vm->round_new = run->links.prev;
}

/* Is there a new run? */
static inline bool mwl__ready_has_new(const mwl_vm *vm) {
    return vm->first_new != &vm->runs[MWL_RUNS_LINE];
}

/* Can anything run? (Not to be asked during a turn.) */
static inline bool mwl__ready_any(const mwl_vm *vm) {
    return vm->ready_head || mwl__ready_has_new(vm);
}

/* Is something of the round still to run? */
static inline bool mwl__ready_in_round(const mwl_vm *vm) { return vm->round_end || vm->round_new; }

/* Begins a round with all that is queued. The last one is over. */
static inline void mwl__ready_open_round(mwl_vm *vm) {
    if (vm->ready_head) vm->round_end = vm->ready_tail;
    if (mwl__ready_has_new(vm)) vm->round_new = vm->runs[MWL_RUNS_LINE].prev;
}

/* Returns the next frame of the round for its turn; NULL: the round is over. A new run stays the
 * first one during its first turn. */
static inline mwl__frame *mwl__ready_take(mwl_vm *vm) {
    if (vm->round_end) return mwl__ready_pop(vm);
    if (!vm->round_new) return NULL;
    if (vm->round_new == vm->first_new) vm->round_new = NULL;
    mwl__frame *root = mwl__run_list_at(vm->first_new)->root;
    root->queued = root->fresh = false;
    return root;
}

/* The turn of one of the run's frames has just ended. If it was the first one, and the run goes on,
 * the run leaves the line. A run that is over, or was freed, is not the first new one any more;
 * only its address is compared, and since it was freed no other one was started. */
static inline void mwl__ready_taken(mwl_vm *vm, mwl_run *run) {
    if (vm->first_new != &run->links) return;
    vm->first_new = run->links.next;
    mwl__run_list_move(run, &vm->runs[MWL_RUNS_OTHER]);
}

#endif
