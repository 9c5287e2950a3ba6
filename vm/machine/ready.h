/* ready.h: the queue of frames that can run, first come, first served, and the round that takes it.
 *
 * The links lie in the frames: a queued frame awaits nothing and has no timer, so they take the
 * place of both (state.h). A round of the pump is all that was queued when it began: the queue up
 * to a mark, vm->round_end. So many short runs cost a link each, and nothing is counted. */
#ifndef MWL_READY_H
#define MWL_READY_H

#include "vm/machine/state.h"

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

/* Removes a frame, wherever it is in the queue. */
static inline void mwl__ready_remove(mwl_vm *vm, mwl__frame *f) {
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

#endif
