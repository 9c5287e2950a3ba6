/* durable.c: a VM whose host stores runs: runs that have changed, calls that are held.
 *
 * Owns: the version of a run's state, and the list of runs that have a new one. Refuses to know:
 * how a run is saved (vm/snapshot) and where it is stored. A version ends when the run is no longer
 * busy; a call that is held belongs to the version that ends next, so a snapshot of that version,
 * or of a later one, contains it. */
#include "vm/machine/durable.h"

#include "vm/machine/account.h"
#include "vm/machine/blocking.h"
#include "vm/machine/execution.h"
#include "vm/machine/rest.h"
#include "vm/machine/run.h"

/* ---- versions -------------------------------------------------------------------------------- */

bool mwl__durable_add(mwl_run *run) {
    mwl__aside *a = mwl__run_aside(run);
    if (a) a->durable = true;
    return a != NULL;
}

static void unlist(mwl_vm *vm, mwl__aside *a) {
    if (!a->listed) return;
    a->listed = false;
    if (a->prev)
        a->prev->aside->next = a->next;
    else
        vm->changed = a->next;
    if (a->next)
        a->next->aside->prev = a->prev;
    else
        vm->changed_last = a->prev;
}

static void enlist(mwl_vm *vm, mwl_run *run) {
    mwl__aside *a = run->aside;
    if (a->listed) return;
    a->listed = true;
    a->next = NULL;
    a->prev = vm->changed_last;
    if (a->prev)
        a->prev->aside->next = run;
    else
        vm->changed = run;
    vm->changed_last = run;
}

void mwl__durable_remove(mwl_run *run) {
    if (run->aside) unlist(run->link->vm, run->aside);
}

void mwl__durable_changed(mwl_run *run) {
    if (!run->aside->durable) return;
    run->aside->version++;
    enlist(run->link->vm, run);
}

uint64_t mwl__durable_version(const mwl_run *run) {
    return run->aside && run->aside->durable ? run->aside->version : 0;
}

mwl_run *mwl_vm_changed(mwl_vm *vm) {
    for (mwl_run *run = vm ? vm->changed : NULL; run; run = run->aside->next) {
        if (!mwl_run_at_rest(run)) continue;
        unlist(vm, run->aside);
        return run;
    }
    return NULL;
}

/* ---- held calls ------------------------------------------------------------------------------ */

void mwl_run_release(mwl_run *run, uint64_t version) {
    if (!run || !run->root) return;
    for (mwl_call *c = NULL; (c = mwl__rest_next_call(run, c));)
        if (c->held && c->held <= version) mwl__execution_release(c);
}

uint32_t mwl_run_held(const mwl_run *run) {
    uint32_t n = 0;
    for (const mwl_call *c = NULL; run->root && (c = mwl__rest_next_call(run, c));)
        n += c->held != 0;
    return n;
}

void mwl__durable_start(mwl_vm *vm) {
    for (mwl_call *c; (c = vm->released);) {
        mwl_run *run = c->frame->run; /* there is one: a held call that is not awaited is freed */
        mwl__run_enter(run);
        mwl_run *was = mwl__run_open(run, vm);
        mwl__execution_begin(c, false);
        if (c->settled && !c->native) mwl__execution_deliver(c);
        mwl__run_close(run, vm, was);
        mwl__run_leave(run);
    }
}

/* ---- answers --------------------------------------------------------------------------------- */

mwl_status mwl_run_answer(mwl_run *run, uint64_t number, bool ok, mwl_value take) {
    mwl_call *c = NULL;
    mwl_status st = MWL_OK;
    if (!run || mwl_is_absent(take))
        st = MWL_E_USAGE;
    else if (run->busy)
        st = MWL_E_STATE;
    while (st == MWL_OK && run->root && (c = mwl__rest_next_call(run, c)) && c->number != number)
        continue;
    if (st == MWL_OK && !c)
        st = MWL_E_NOT_FOUND;
    else if (st == MWL_OK && (c->held || c->cancelled))
        st = MWL_E_STATE;
    if (st < 0) {
        if (run) mwl__drop(&run->link->vm->heap, take);
        return st;
    }
    mwl__vm_here(run->link->vm);
    return c->native ? mwl__blocking_give(c, ok, take) : mwl__execution_settle(c, ok, take);
}

static mwl_wait describe(const mwl_call *c) {
    mwl_value name = mwl_object_get(c->args, "name", 4);
    const char *text = mwl_value_kind(name) == MWL_KIND_STRING ? mwl_as_text(name, NULL) : NULL;
    const mwl_wait out = {.number = c->number,
                          .attempt = c->attempt,
                          .provider = c->provider->uri,
                          .name = text ? text : "",
                          .held = c->held != 0,
                          .cancelled = c->cancelled,
                          .outside = mwl__execution_is_outside(c),
                          .arguments = c->args,
                          .input = c->input,
                          .once = (c->provider->call.flags & MWL_CALL_ONCE) != 0};
    return out;
}

void mwl_run_each_wait(const mwl_run *run, bool (*see)(void *ctx, const mwl_wait *wait),
                       void *ctx) {
    for (const mwl_call *c = NULL; run->root && (c = mwl__rest_next_call(run, c));) {
        mwl_wait wait = describe(c);
        if (!see(ctx, &wait)) return;
    }
}

bool mwl_run_waits(const mwl_run *run, uint32_t i, mwl_wait *out) {
    const mwl_call *c = NULL;
    do {
        c = run->root ? mwl__rest_next_call(run, c) : NULL;
    } while (c && i-- > 0);
    if (c) { /* the last members are newer than hosts that allocate the struct */
        const mwl_wait all = describe(c);
        memcpy(out, &all, offsetof(mwl_wait, input));
    }
    return c != NULL;
}
