/* run_list.h: the runs of a VM: which there are, which are over, and who is told of that.
 *
 * A run is in one of the VM's lists. When it ends, it moves to the list of those whose function is
 * called, or to the line of mwl_vm_next_done. The new runs stand behind those in line (ready.h):
 * one that ends in its first turn is the first of them, so it stays where it is, and the next one
 * becomes the first. Nothing is called in the middle of a turn: the pump calls mwl__run_list_tell
 * between two turns. */
#ifndef MWL_RUN_LIST_H
#define MWL_RUN_LIST_H

#include "vm/machine/state.h"

void mwl__run_list_open(mwl_vm *vm);  /* a new VM: no runs */
void mwl__run_list_close(mwl_vm *vm); /* frees all runs */
/* Adds a run, which is in no list, at the end of a list, or before a run of it. */
static inline void mwl__run_list_add(mwl_run *run, mwl__run_links *before) {
    mwl__run_links *last = before->prev;
    run->links.next = before;
    run->links.prev = last;
    last->next = before->prev = &run->links;
}
/* Removes it from its list, whichever that is. */
static inline void mwl__run_list_take(mwl_run *run) {
    mwl__run_links *next = run->links.next, *prev = run->links.prev;
    prev->next = next;
    next->prev = prev;
}
static inline void mwl__run_list_move(mwl_run *run, mwl__run_links *before) {
    mwl__run_list_take(run);
    mwl__run_list_add(run, before);
}
static inline mwl_run *mwl__run_list_at(mwl__run_links *l) {
    return (mwl_run *)(void *)((char *)l - offsetof(mwl_run, links));
}
/* It is over and will be freed; who awaited it learns that. */
void mwl__run_list_remove(mwl_run *run, mwl_vm *vm);
void mwl__run_list_ended(mwl_run *run, mwl_vm *vm); /* it is done, or aborted */
void mwl__run_list_tell(mwl_vm *vm);                /* callbacks may free runs */
/* Is somebody to be told? */
static inline bool mwl__run_list_must_tell(const mwl_vm *vm) { return vm->to_tell; }

/* The execution of a blocking provider waits until the run is over. False: out of memory. */
bool mwl__run_list_await(mwl_run *run, mwl__awaiting *w);
void mwl__run_list_forget(mwl__awaiting *w); /* it does not wait any more */

#endif
