/* over.c: see over.h. */
#include "vm/machine/over.h"

#include "vm/cel/ops.h"
#include "vm/machine/blocking.h"
#include "vm/machine/run.h"

/* ---- lists ----------------------------------------------------------------------------------- */

static mwl_run *run_at(mwl__run_links *l) {
    return (mwl_run *)(void *)((char *)l - offsetof(mwl_run, links));
}

static void enlist(mwl_run *run, mwl__run_links *list) {
    mwl__run_links *last = list->prev;
    run->links.next = list;
    run->links.prev = last;
    last->next = list->prev = &run->links;
}

static void unlist(mwl_run *run) {
    mwl__run_links *next = run->links.next, *prev = run->links.prev;
    prev->next = next;
    next->prev = prev;
}

static mwl_run *first_of(mwl__run_links *list) {
    return list->next == list ? NULL : run_at(list->next);
}

void mwl__over_open(mwl_vm *vm) {
    for (unsigned i = 0; i < MWL_RUNS_LISTS; i++)
        vm->runs[i].next = vm->runs[i].prev = &vm->runs[i];
}

void mwl__over_close(mwl_vm *vm) {
    for (unsigned i = 0; i < MWL_RUNS_LISTS; i++)
        while (vm->runs[i].prev != &vm->runs[i]) mwl_run_free(run_at(vm->runs[i].prev));
}

void mwl__over_add(mwl_run *run, mwl_vm *vm) { enlist(run, &vm->runs[MWL_RUNS_ALL]); }

mwl_run *mwl_vm_runs(const mwl_vm *vm, const mwl_run *after) {
    mwl__run_links *at = after ? after->links.next : vm->runs[0].next;
    for (unsigned i = 0; i < MWL_RUNS_LISTS; i++) { /* the end of a list leads to the next one */
        if (at != &vm->runs[i]) continue;
        if (i + 1 == MWL_RUNS_LISTS) return NULL;
        at = vm->runs[i + 1].next;
    }
    return run_at(at);
}

mwl_run *mwl_vm_next_done(mwl_vm *vm) {
    mwl_run *run = first_of(&vm->runs[MWL_RUNS_DONE]);
    if (!run) return NULL;
    unlist(run);
    enlist(run, &vm->runs[MWL_RUNS_ALL]);
    return run;
}

/* ---- who awaits a run ------------------------------------------------------------------------ */

static void link_awaiting(mwl__awaiting **head, mwl__awaiting *w) {
    w->at = head;
    w->next = *head;
    if (w->next) w->next->at = &w->next;
    *head = w;
}

void mwl__over_forget(mwl__awaiting *w) {
    if (!w->at) return;
    *w->at = w->next;
    if (w->next) w->next->at = w->at;
    w->at = NULL;
}

bool mwl__over_await(mwl_run *run, mwl__awaiting *w) {
    mwl__aside *a = mwl__run_aside(run);
    if (a) link_awaiting(&a->awaited_by, w);
    return a != NULL;
}

MWL__OUTLINE static void wake_awaiting(mwl_run *run) {
    for (mwl__awaiting *w; (w = run->aside->awaited_by);) {
        mwl__over_forget(w);
        link_awaiting(&run->link->vm->woken, w);
        run->link->vm->to_tell = true;
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

void mwl__over_ended(mwl_run *run, mwl_vm *vm) {
    const mwl__run_own *own = mwl__run_own_of(run, vm);
    mwl__run_links *list = &vm->runs[MWL_RUNS_DONE];
    if (own && own->done) {
        list = &vm->runs[MWL_RUNS_TELL];
        vm->to_tell = true;
    }
    unlist(run);
    enlist(run, list);
    if (run->aside) wake_awaiting(run);
}

MWL__OUTLINE static void forget_woken(const mwl_run *run, mwl_vm *vm) {
    for (mwl__awaiting *w = vm->woken; w; w = w->next)
        if (w->run == run) w->st = MWL_E_NOT_FOUND;
}

void mwl__over_remove(mwl_run *run, mwl_vm *vm) {
    unlist(run);
    if (vm->woken) forget_woken(run, vm);
}

static void tell(mwl_run *run) {
    mwl_vm *vm = run->link->vm;
    const mwl__run_own *own = mwl__run_own_of(run, vm);
    unlist(run);
    enlist(run, &vm->runs[MWL_RUNS_ALL]);
    own->done(own->done_ctx, run);
}

void mwl__over_tell(mwl_vm *vm) {
    while (vm->to_tell) {
        mwl__awaiting *w = vm->woken;
        mwl_run *run = first_of(&vm->runs[MWL_RUNS_TELL]);
        if (w) {
            mwl__over_forget(w);
            mwl__blocking_go_on(w->call);
        } else if (run) {
            tell(run);
        } else {
            vm->to_tell = false;
        }
    }
}
