/* account.c: windows outside turns, what a host builds for a call, and fuel for providers.
 *
 * Owns: who pays. account.h has the rule. Refuses to know: what is done with what was paid. */
#include "vm/machine/account.h"

#include "vm/base/usage.h"
#include "vm/machine/clock.h"
#include "vm/machine/run.h"
#include "vm/machine/unwind.h"

size_t mwl__run_clamp(mwl_run *run, size_t back) {
    run->link->vm->unpaid += back - run->memory_used;
    return run->memory_used;
}

size_t mwl__run_memory_of(const mwl_run *run) {
    size_t limit = run->limits->memory_bytes, outside = mwl__purse_taken(run);
    if (run->limit_hit)
        limit = limit > SIZE_MAX - MWL_RUN_RESERVE ? SIZE_MAX : limit + MWL_RUN_RESERVE;
    if (limit == SIZE_MAX) return limit;
    return outside < limit ? limit - outside : 0;
}

void mwl__run_uncharge(mwl_vm *vm, size_t before) {
    size_t after = vm->heap.used, limit = vm->heap.limit;
    vm->mark += after - before; /* unsigned wrap-around is intended */
    if (limit != SIZE_MAX)
        vm->heap.limit = after > before && limit > SIZE_MAX - (after - before)
                             ? SIZE_MAX
                             : limit + (after - before);
}

/* Moves the open account to where the heap is. What a host frees between mwl_call_enter and
 * mwl_call_leave is its own. */
static void move(mwl_vm *vm, mwl_run *payer) {
    const size_t used = vm->heap.used;
    if (!vm->entered.call || vm->entered.run != payer) {
        mwl__run_account(payer, vm->mark, used);
    } else if (used > vm->mark) {
        payer->memory_used += used - vm->mark;
        vm->entered.paid += used - vm->mark;
        vm->entered.all += used - vm->mark;
    }
    vm->mark = used;
}

mwl_run *mwl__run_open_inside(mwl_run *run, mwl_vm *vm, mwl_run *was) {
    move(vm, was);
    vm->payer = run;
    vm->heap.limit = mwl__run_memory_limit(run, vm->heap.used);
    return was;
}

void mwl__run_close_inside(mwl_vm *vm, mwl_run *was) {
    vm->payer = was == vm->executing ? NULL : was;
    vm->mark = vm->heap.used;
    vm->heap.limit = mwl__run_memory_limit(was, vm->heap.used);
}

/* ---- values from outside --------------------------------------------------------------------- */

static bool receive(mwl_run *run, mwl_vm *vm, mwl_value v, size_t paid) {
    size_t n = mwl__value_exclusive(&vm->heap, v);
    n = n > paid ? n - paid : 0;
    const size_t limit =
        run->limit_hit || run->aside ? mwl__run_memory_of(run) : run->limits->memory_bytes;
    if (n && (n > limit || run->memory_used > limit - n)) {
        vm->heap.why = MWL_E_TOO_BIG;
        return false;
    }
    run->memory_used += n;
    return true;
}

bool mwl__run_receive(mwl_run *run, mwl_vm *vm, mwl_value v) {
    return !(v.tag & MWL_HEAP) || mwl__run_payer(vm) == run || receive(run, vm, v, 0);
}

void mwl__run_adopt(mwl_run *run, mwl_vm *vm, mwl_value v) {
    if ((v.tag & MWL_HEAP) && mwl__run_payer(vm) != run)
        run->memory_used += mwl__value_exclusive(&vm->heap, v);
}

/* ---- what a host builds for a call ----------------------------------------------------------- */

/* Has a bound around the call that is entered elapsed? */
static bool entered_is_late(void *ctx) {
    mwl_vm *vm = ctx;
    const mwl__frame *f = vm->entered.call->frame;
    return f && mwl__unwind_bounded(f) && mwl__unwind_due(f) <= mwl__clock_new(vm);
}

void mwl_call_enter(mwl_call *c) {
    mwl_vm *vm = c->vm;
    mwl__usage(c->alive, "mwl_call_enter: the call has settled and was freed");
    mwl__usage(mwl__vm_is_here(vm), "mwl_call_enter: on another thread than the VM's");
    mwl__usage(!vm->entered.call, "mwl_call_enter: a call is entered already");
    mwl__account_leave(vm);
    mwl_run *run = c->frame ? c->frame->run : NULL;
    if (!run || mwl__run_payer(vm) == run) return;
    mwl__run_enter(run); /* so it stays until mwl_call_leave */
    vm->entered.was = mwl__run_open(run, vm);
    vm->entered.call = c;
    vm->entered.run = run;
    vm->entered.paid = 0;
    vm->entered.late = vm->heap.late;
    vm->entered.late_ctx = vm->heap.late_ctx;
    vm->heap.late = entered_is_late;
    vm->heap.late_ctx = vm;
}

/* The account stays open. */
static void forget_call(mwl_vm *vm) {
    move(vm, vm->entered.run);
    vm->entered.call = NULL;
    vm->heap.late = vm->entered.late;
    vm->heap.late_ctx = vm->entered.late_ctx;
}

void mwl__account_leave(mwl_vm *vm) {
    if (!vm->entered.call) return;
    mwl_run *run = vm->entered.run;
    forget_call(vm);
    mwl__run_close(run, vm, vm->entered.was);
    mwl__run_leave(run);
}

void mwl_call_leave(mwl_call *c) {
    mwl_vm *vm = c->vm;
    if (vm->entered.call == c) mwl__account_leave(vm);
}

void mwl__account_settle(mwl_call *c, void (*deliver)(mwl_call *call)) {
    mwl_vm *vm = c->vm;
    mwl_run *run = vm->entered.run, *was = vm->entered.was;
    forget_call(vm);
    if (c->frame && (c->res.v.tag & MWL_HEAP) && !receive(run, vm, c->res.v, vm->entered.paid))
        mwl__replace(&vm->heap, &c->res.v, mwl_absent());
    deliver(c);
    mwl__run_close(run, vm, was);
    mwl__run_leave(run);
}

/* ---- fuel ------------------------------------------------------------------------------------ */

static mwl_status charge_in_turn(mwl__exec *x, uint64_t n) {
    if (mwl__exec_charge(x, n)) return MWL_OK;
    mwl__exec_stop(x);
    return x->late ? MWL_E_CANCELLED : MWL_E_FUEL;
}

mwl_status mwl__account_charge(mwl__frame *f, uint64_t n) {
    mwl_vm *vm = mwl__vm_of(f);
    mwl_run *run = f->run;
    if (vm->executing == run) return charge_in_turn(&vm->exec, n);
    if (run->budget != UINT64_MAX) run->budget = n < run->budget ? run->budget - n : 0;
    if (run->budget == 0) return MWL_E_FUEL; /* its next turn ends it */
    if (!mwl__unwind_bounded(f)) return MWL_OK;
    vm->unasked += n < MWL_SLICE ? (uint32_t)n : MWL_SLICE;
    if (vm->unasked < MWL_SLICE) return MWL_OK;
    vm->unasked = 0;
    return mwl__unwind_due(f) <= mwl__clock_new(vm) ? MWL_E_CANCELLED : MWL_OK;
}

void mwl_heap_work(mwl_heap *heap, uint64_t n) { heap->work += n; }
