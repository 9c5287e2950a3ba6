/* call.c: the instructions of a call: its fields, dispatch, arms.
 *
 * Owns: the record of a call execution, which arms read. Refuses to know: provider executions
 * (execution.c) and fan-out (gather.c), which handles the same instructions of a Gather's calls. */
#include "vm/machine/call.h"

#include "vm/machine/arguments.h"
#include "vm/machine/ascend.h"
#include "vm/machine/clock.h"
#include "vm/machine/entry.h"
#include "vm/machine/execution.h"
#include "vm/machine/frame.h"
#include "vm/machine/gather.h"
#include "vm/machine/raise.h"
#include "vm/machine/trace.h"
#include "vm/machine/unwind.h"

static const mwl__call_rec *rec_of(const mwl__frame *f, uint32_t ix) {
    return &mwl__tables(f)->calls[ix];
}

/* ---- records --------------------------------------------------------------------------------- */

mwl__call_state *mwl__call_state_new(mwl_heap *h) {
    mwl__call_state *r = mwl__heap_take(h, sizeof *r);
    if (r) mwl__record_blank(r, sizeof *r);
    return r;
}

static inline void clear(mwl_heap *h, mwl_value *place) {
    if (mwl_is_absent(*place)) return;
    mwl__replace(h, place, mwl_absent());
}

void mwl__call_state_clear(mwl_heap *h, mwl__call_state *r) {
    clear(h, &r->input);
    clear(h, &r->target_input);
    clear(h, &r->args);
    clear(h, &r->res.v);
    clear(h, &r->metadata);
    clear(h, &r->flow_vars);
    if (r->dispatched_ns | r->accepted_ns | r->exited_ns | r->flow_entered_ns)
        r->dispatched_ns = r->accepted_ns = r->exited_ns = r->flow_entered_ns = r->flow_exited_ns =
            0;
}

void mwl__call_state_free(mwl_heap *h, mwl__call_state *r) {
    mwl__call_state_clear(h, r);
    mwl__heap_give(h, r, sizeof *r);
}

void mwl__call_state_window(mwl__call_state *r, mwl__frame *child) {
    mwl_vm *vm = mwl__vm_of(child);
    mwl__replace(&vm->heap, &r->flow_vars, mwl__keep(child->vars));
    const mwl__times *t = mwl__times_of(child);
    if (!t) return;
    r->flow_entered_ns = t->entered_ns;
    r->flow_exited_ns = mwl__clock_wall(vm);
}

void mwl__call_state_accepted(mwl__frame *f, mwl__call_state *r, unsigned needs) {
    if (!(needs & (MWL_NEEDS_ACCEPTED | MWL_NEEDS_EXITED))) return;
    r->exited_ns = r->accepted_ns = mwl__clock_wall(mwl__vm_of(f));
}

MWL__OUTLINE static void free_record(mwl__frame *f, mwl_heap *h) {
    mwl__call_state_free(h, f->record);
    f->record = NULL;
}

static uint32_t await_directly(mwl__frame *f, mwl_vm *vm, mwl_call *execution, uint32_t next_pc) {
    if (f->record)
        free_record(f, &vm->heap); /* an earlier call's: the delivery would write there */
    f->target.execution = execution;
    f->awaits = MWL_AWAITS_EXECUTION;
    return mwl__frame_park(f, vm, MWL_FRAME_WAIT_CALL, next_pc, MWL_NEVER);
}

/* Such a call has settled: control continues behind its CALL_END, mostly in the entry around it,
 * which is an instruction of its own. */
MWL__INLINE uint32_t behind(mwl__frame *f, mwl_vm *vm, const mwl__call_link *c) {
    if (!c->rises || !mwl__exec_pay_next(&vm->exec)) return c->rec->end_pc + 1;
    return mwl__ascend_inline(f, vm);
}

/* The Result of such a call is in the frame. */
MWL__INLINE uint32_t settled(mwl__frame *f, mwl_vm *vm, const mwl__call_link *c) {
    if (mwl_is_absent(f->res.v)) return MWL_PC_NOMEM;
    (void)mwl__call_commit(f, vm); /* the entry around it asks again */
    if (!f->res.ok && mwl__unwind_bounded(f)) mwl__unwind_rises(f, &f->res);
    return behind(f, vm, c);
}

/* Its provider has answered, but not with a success's value as it is. */
MWL__OUTLINE static uint32_t answered(mwl__frame *f, mwl_vm *vm, const mwl__call_link *c, int how,
                                      mwl_value take) {
    mwl_heap *h = &vm->heap;
    if (how == MWL_NOW_START) {
        mwl__drop(h, take);
        return mwl__call_start(f, vm, c);
    }
    mwl__result res;
    mwl__frame_put(f, &f->in_flight, mwl_absent());
    mwl__host_value_result(h, c->provider, how == MWL_NOW_SUCCEEDED, take, &res);
    mwl__frame_set_res(f, res.ok, res.v);
    return settled(f, vm, c);
}

uint32_t mwl__call_now(mwl__frame *f, mwl_vm *vm, const mwl__call_link *c) {
    mwl_heap *h = &vm->heap;
    mwl__exec *x = &vm->exec;
    const uint32_t at = x->pc;
    for (;;) {
        mwl_value input, out = mwl_absent(), v;
        mwl__move_lent(&input, &f->in_flight);
        int how = c->now(h, input, c->args, &out, c->provider->user);
        if (how != MWL_NOW_SUCCEEDED || !mwl__host_value_plain(out))
            return answered(f, vm, c, how, out);
        if (h->work && !mwl__exec_settle(x)) { /* mwl_heap_work */
            mwl__drop(h, out);
            return MWL_PC_FUEL;
        }
        (void)mwl__call_commit(f, vm);
        mwl__drop(h, f->res.v);
        mwl__drop(h, f->in_flight);
        f->in_flight = mwl_absent();
        mwl__move(&v, &out);
        mwl__result_set(&f->res, true, v);
        uint32_t pc = behind(f, vm, c);
        /* the entry around it may have led to this instruction again */
        if (pc != at || !c->now || vm->listen || !mwl__exec_pay_next(x)) return pc;
    }
}

uint32_t mwl__call_start(mwl__frame *f, mwl_vm *vm, const mwl__call_link *c) {
    mwl_value input;
    mwl__move(&input, &f->in_flight);
    f->in_flight = mwl_absent();
    mwl_call *execution = mwl__execution_run(f, vm, NULL, c, &input, &f->res);
    if (execution) return await_directly(f, vm, execution, c->rec->end_pc + 1);
    return settled(f, vm, c);
}

/* ---- fields ---------------------------------------------------------------------------------- */

uint32_t mwl__call_begin(mwl__frame *f, mwl_vm *vm, uint32_t ix, uint32_t next_pc) {
    if (!f->record) {
        f->record = mwl__call_state_new(&vm->heap);
        if (!f->record) return MWL_PC_NOMEM;
        f->record->index = -1;
    }
    mwl__call_state *r = f->record;
    r->ix = ix;
    mwl__replace(&vm->heap, &r->input, f->in_flight);
    f->in_flight = mwl_absent();
    f->construct = MWL_IN_CALL;
    if (rec_of(f, ix)->flags & MWL_NEEDS_ENTERED) r->entered_ns = mwl__clock_wall(vm);
    return next_pc;
}

uint32_t mwl__call_arguments(mwl__frame *f, uint32_t ix, mwl_value *args, uint32_t next_pc) {
    const mwl__call_link *c = &f->run->link->calls[ix];
    const mwl__provider *p = c->provider;
    *args = mwl_is_absent(c->args) ? f->record->args : c->args;
    if (p && !c->with_ok) {
        uint32_t pc = mwl__arguments_check(f, p->parameters[0], *args, p->uri, next_pc);
        if (pc != next_pc) return pc;
    }
    *args = mwl_is_absent(*args) ? mwl__keep(mwl__vm_of(f)->empty) : mwl__keep(*args);
    return next_pc;
}

mwl_value mwl__call_refused(mwl__frame *f) {
    return mwl__raised_set(&mwl__vm_of(f)->exec) ? mwl__raised_take(f) : mwl_absent();
}

/* Returns what the target receives: the written input, or call.input unchanged. */
static mwl_value target_input(const mwl__call_state *r) {
    return mwl__keep(mwl_is_absent(r->target_input) ? r->input : r->target_input);
}

/* ---- dispatch -------------------------------------------------------------------------------- */

void mwl__call_accepted(mwl__frame *f) {
    mwl__call_state_accepted(f, f->record, rec_of(f, f->record->ix)->flags);
}

/* The call has settled while its frame runs: its arms are next, unless it comes too late. */
static uint32_t accept_now(mwl__frame *f, mwl_vm *vm, bool ok, mwl_value take, uint32_t next_pc) {
    if (mwl__call_accept(f, vm, ok, take)) return next_pc;
    free_record(f, &vm->heap); /* no arm runs */
    return mwl__unwind_late(f, f->entries);
}

static uint32_t dispatch_provider(mwl__frame *f, mwl_vm *vm, uint32_t ix, mwl_value args,
                                  uint32_t next_pc) {
    const mwl__provider *p = f->run->link->calls[ix].provider;
    mwl_call *execution = mwl__execution_start(f, vm, NULL, p, target_input(f->record), args);
    if (!execution) return MWL_PC_NOMEM;
    if (!execution->settled) {
        f->target.execution = execution;
        f->awaits = MWL_AWAITS_EXECUTION;
        return mwl__frame_park(f, vm, MWL_FRAME_WAIT_CALL, next_pc, MWL_NEVER);
    }
    if (!mwl_is_absent(execution->metadata)) {
        mwl__replace(&vm->heap, &f->record->metadata, execution->metadata);
        execution->metadata = mwl_absent();
    }
    mwl__result res = mwl__execution_take(execution);
    if (mwl_is_absent(res.v)) return MWL_PC_NOMEM;
    return accept_now(f, vm, res.ok, res.v, next_pc);
}

static uint32_t dispatch_flow(mwl__frame *f, mwl_vm *vm, uint32_t ix, mwl_value args,
                              uint32_t next_pc) {
    const mwl__call_rec *c = rec_of(f, ix);
    if (f->depth + 1u >= f->run->limits->frame_depth) {
        mwl__drop(&vm->heap, args);
        vm->heap.why = MWL_E_DEPTH;
        return MWL_PC_NOMEM;
    }
    uint32_t at = vm->exec.pc;
    mwl__frame *child = mwl__frame_new(f->run, f, NULL, c->flow, target_input(f->record), args);
    vm->exec.pc = at;
    if (!child) return MWL_PC_NOMEM;
    f->target.frame = child;
    f->awaits = MWL_AWAITS_FRAME;
    mwl__frame_ready(child, vm);
    return mwl__frame_park(f, vm, MWL_FRAME_WAIT_CALL, next_pc, MWL_NEVER);
}

/* spec: call-interface: a `with` that fails validation fails the call's execution, of a provider as
 * of a Flow: the failure arm runs. DECISIONS.md 32. */
static uint32_t refused(mwl__frame *f, mwl_vm *vm, uint32_t next_pc) {
    mwl_value failure = mwl__call_refused(f);
    return mwl_is_absent(failure) ? MWL_PC_NOMEM : accept_now(f, vm, false, failure, next_pc);
}

uint32_t mwl__call_dispatch(mwl__frame *f, uint32_t ix, uint32_t next_pc) {
    mwl_vm *vm = mwl__vm_of(f);
    const mwl__call_rec *c = rec_of(f, ix);
    if (c->gather != MWL_NONE) return mwl__gather_dispatch(f, ix);
    mwl_value args;
    if (c->flags & MWL_NEEDS_DISPATCHED) f->record->dispatched_ns = mwl__clock_wall(vm);
    uint32_t pc = mwl__call_arguments(f, ix, &args, next_pc);
    if (pc == MWL_PC_FAULT) return refused(f, vm, next_pc);
    if (pc != next_pc) return pc;
    if (mwl__tracing(vm))
        mwl__trace(f, MWL_TRACE_CALL_DISPATCHED,
                   c->import != MWL_NONE ? f->run->link->providers[c->import]->uri : NULL, -1,
                   args);
    return c->import != MWL_NONE ? dispatch_provider(f, vm, ix, args, next_pc)
                                 : dispatch_flow(f, vm, ix, args, next_pc);
}

void mwl__call_frame_done(mwl__frame *f, mwl__frame *child) {
    mwl__result res = child->res;
    child->res.v = mwl_absent();
    if (f->extra && f->extra->awaiting) { /* no Step handles it */
        mwl__unwind_returned(f, res);
        return;
    }
    if (rec_of(f, f->record->ix)->flags & MWL_CALL_KEEPS_WINDOW)
        mwl__call_state_window(f->record, child);
    mwl_vm *vm = mwl__vm_of(f);
    const bool in_time = mwl__call_accept(f, vm, res.ok, res.v);
    f->res.cleanup = res.cleanup; /* what an author severed ends with the target execution */
    f->res.rose = res.rose;
    mwl__frame_fetch(f);
    mwl__call_go_on(f, vm, in_time);
}

/* ---- arms ------------------------------------------------------------------------------------ */

/* spec: call-interface, when the arms run: at the settled Result, before it rises. */
uint32_t mwl__call_arms(mwl__frame *f, uint32_t ix) {
    mwl__call_state *r = f->record;
    mwl__replace(mwl__heap_of(f), &r->res.v, mwl__keep(f->res.v));
    r->res.ok = f->res.ok;
    r->res.cleanup = f->res.cleanup;
    r->res.rose = f->res.rose;
    f->construct = MWL_IN_CALL;
    return r->res.ok ? rec_of(f, ix)->success_pc : rec_of(f, ix)->failure_pc;
}

/* spec: call-interface, faults in the call object's fields: the fault is the call's Result. */
uint32_t mwl__call_fault(mwl__frame *f, uint32_t ix) {
    const mwl__call_rec *c = rec_of(f, ix);
    if (c->gather != MWL_NONE) return mwl__gather_field_fault(f);
    mwl__frame_raise(f, mwl__raised_take(f));
    return c->end_pc;
}

/* spec: call-interface, faults in the call object's fields: the fault of an arm supersedes the
 * target's Result, and chains it if that was a failure. */
uint32_t mwl__call_arm_fault(mwl__frame *f, uint32_t ix) {
    mwl__call_state *r = f->record;
    mwl_value newer = mwl__raised_take(f);
    if (!r->res.ok)
        newer = mwl__failure_chain(mwl__heap_of(f), newer, r->res.v, f->run->limits->chain_depth);
    if (mwl_is_absent(newer)) return MWL_PC_NOMEM;
    mwl__frame_raise(f, newer);
    if (!r->res.ok) { /* it has taken the place of that one */
        f->res.cleanup = r->res.cleanup;
        f->res.rose = r->res.rose;
    }
    return rec_of(f, ix)->end_pc;
}

uint32_t mwl__call_end(mwl__frame *f, uint32_t ix, uint32_t next_pc) {
    if (rec_of(f, ix)->gather != MWL_NONE) return mwl__gather_arm_end(f);
    mwl__call_state_clear(mwl__heap_of(f), f->record);
    f->record->index = -1;
    return next_pc;
}
