/* run_list.c: see run_list.h. */
#include "vm/machine/run_list.h"

#include "vm/cel/ops.h"
#include "vm/machine/blocking.h"
#include "vm/machine/run.h"

/* ---- lists ----------------------------------------------------------------------------------- */

void mwl__run_list_open(mwl_vm *vm) {
    for (unsigned i = 0; i < MWL_RUNS_LISTS; i++)
        vm->runs[i].next = vm->runs[i].prev = &vm->runs[i];
    vm->first_new = &vm->runs[MWL_RUNS_LINE];
}

void mwl__run_list_close(mwl_vm *vm) {
    for (unsigned i = 0; i < MWL_RUNS_LISTS; i++)
        while (vm->runs[i].prev != &vm->runs[i]) mwl_run_free(mwl__run_list_at(vm->runs[i].prev));
}

mwl_run *mwl_vm_runs(const mwl_vm *vm, const mwl_run *after) {
    mwl__run_links *at = after ? after->links.next : vm->runs[0].next;
    for (unsigned i = 0; i < MWL_RUNS_LISTS; i++) { /* the end of a list leads to the next one */
        if (at != &vm->runs[i]) continue;
        if (i + 1 == MWL_RUNS_LISTS) return NULL;
        at = vm->runs[i + 1].next;
    }
    return mwl__run_list_at(at);
}

mwl_run *mwl_vm_next_done(mwl_vm *vm) {
    mwl__run_links *first = vm->runs[MWL_RUNS_LINE].next;
    if (first == vm->first_new) return NULL;
    mwl_run *run = mwl__run_list_at(first);
    mwl__run_list_move(run, &vm->runs[MWL_RUNS_OTHER]);
    return run;
}

/* ---- who awaits a run ------------------------------------------------------------------------ */

static void link_awaiting(mwl__awaiting **head, mwl__awaiting *w) {
    w->at = head;
    w->next = *head;
    if (w->next) w->next->at = &w->next;
    *head = w;
}

void mwl__run_list_forget(mwl__awaiting *w) {
    if (!w->at) return;
    *w->at = w->next;
    if (w->next) w->next->at = w->at;
    w->at = NULL;
}

bool mwl__run_list_await(mwl_run *run, mwl__awaiting *w) {
    mwl__aside *a = mwl__run_aside(run);
    if (a) link_awaiting(&a->awaited_by, w);
    return a != NULL;
}

MWL__OUTLINE static void wake_awaiting(mwl_run *run) {
    for (mwl__awaiting *w; (w = run->aside->awaited_by);) {
        mwl__run_list_forget(w);
        link_awaiting(&run->link->vm->woken, w);
        run->link->vm->to_tell = true;
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

void mwl__run_list_ended(mwl_run *run, mwl_vm *vm) {
    const mwl__run_own *own = mwl__run_own_of(run, vm);
    const bool is_first = vm->first_new == &run->links;
    if (is_first) vm->first_new = run->links.next;
    if (own && own->done) {
        vm->to_tell = true;
        mwl__run_list_move(run, &vm->runs[MWL_RUNS_TELL]);
    } else if (!is_first) {
        mwl__run_list_move(run, vm->first_new);
    }
    if (run->aside) wake_awaiting(run);
}

MWL__OUTLINE static void forget_woken(const mwl_run *run, mwl_vm *vm) {
    for (mwl__awaiting *w = vm->woken; w; w = w->next)
        if (w->run == run) w->st = MWL_E_NOT_FOUND;
}

void mwl__run_list_remove(mwl_run *run, mwl_vm *vm) {
    mwl__run_list_take(run);
    if (vm->woken) forget_woken(run, vm);
}

static void tell(mwl_run *run) {
    mwl_vm *vm = run->link->vm;
    const mwl__run_own *own = mwl__run_own_of(run, vm);
    mwl__run_list_move(run, &vm->runs[MWL_RUNS_OTHER]);
    own->done(own->done_ctx, run);
}

void mwl__run_list_tell(mwl_vm *vm) {
    while (vm->to_tell) {
        mwl__awaiting *w = vm->woken;
        mwl__run_links *first = vm->runs[MWL_RUNS_TELL].next;
        if (w) {
            mwl__run_list_forget(w);
            mwl__blocking_go_on(w->call);
        } else if (first != &vm->runs[MWL_RUNS_TELL]) {
            tell(mwl__run_list_at(first));
        } else {
            vm->to_tell = false;
        }
    }
}
