/* over.c: see over.h. */
#include "vm/machine/over.h"

#include "vm/machine/blocking.h"
#include "vm/machine/run.h"

/* ---- lists ----------------------------------------------------------------------------------- */

static void enlist(mwl_run *run, unsigned which) {
    mwl__run_list *l = &run->link->vm->runs[which];
    run->list = which & 3u;
    run->next = NULL;
    run->prev = l->last;
    if (l->last)
        l->last->next = run;
    else
        l->first = run;
    l->last = run;
}

static void unlist(mwl_run *run) {
    mwl__run_list *l = &run->link->vm->runs[run->list];
    if (run->prev)
        run->prev->next = run->next;
    else
        l->first = run->next;
    if (run->next)
        run->next->prev = run->prev;
    else
        l->last = run->prev;
}

void mwl__over_add(mwl_run *run) { enlist(run, MWL_RUNS_ALL); }

mwl_run *mwl_vm_runs(const mwl_vm *vm, const mwl_run *after) {
    mwl_run *run = after ? after->next : vm->runs[0].first;
    for (unsigned which = after ? after->list : 0; !run && ++which < MWL_RUNS_LISTS;)
        run = vm->runs[which].first;
    return run;
}

mwl_run *mwl_vm_next_done(mwl_vm *vm) {
    mwl_run *run = vm->runs[MWL_RUNS_DONE].first;
    if (!run) return NULL;
    unlist(run);
    enlist(run, MWL_RUNS_ALL);
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

static void wake_awaiting(mwl_run *run) {
    for (mwl__awaiting *w; run->aside && (w = run->aside->awaited_by);) {
        mwl__over_forget(w);
        link_awaiting(&run->link->vm->woken, w);
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

void mwl__over_ended(mwl_run *run) {
    const mwl__run_own *own = mwl__run_own_of(run);
    unlist(run);
    enlist(run, own && own->done ? MWL_RUNS_TELL : MWL_RUNS_DONE);
    wake_awaiting(run);
}

void mwl__over_remove(mwl_run *run) {
    unlist(run);
    for (mwl__awaiting *w = run->link->vm->woken; w; w = w->next)
        if (w->run == run) w->st = MWL_E_NOT_FOUND;
}

static void tell(mwl_run *run) {
    const mwl__run_own *own = mwl__run_own_of(run);
    unlist(run);
    enlist(run, MWL_RUNS_ALL);
    own->done(own->done_ctx, run);
}

void mwl__over_tell(mwl_vm *vm) {
    while (mwl__over_waits(vm)) {
        mwl__awaiting *w = vm->woken;
        if (w) {
            mwl__over_forget(w);
            mwl__blocking_go_on(w->call);
        } else {
            tell(vm->runs[MWL_RUNS_TELL].first);
        }
    }
}
