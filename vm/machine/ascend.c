/* ascend.c: see ascend.h.
 *
 * Owns: the parts of ASCEND that are rare, or that pass through several entries at once. Refuses to
 * know: the other instructions around phases (entry.c) and interruption (unwind.c). */
#include "vm/machine/ascend.h"

#include "vm/machine/clock.h"
#include "vm/machine/trace.h"
#include "vm/machine/unwind.h"

uint32_t mwl__ascend(mwl__frame *f, mwl_vm *vm) { return mwl__ascend_inline(f, vm); }

/* The instant of the phase, and its trace event. */
void mwl__ascend_note(mwl__frame *f, mwl__entry *e, unsigned phase) {
    mwl_vm *vm = mwl__vm_of(f);
    e->entered_ns = mwl__clock_wall(vm);
    if (mwl__tracing(vm))
        mwl__trace_entry(f, MWL_TRACE_PHASE, (int)phase,
                         phase == MWL_ON_ENTRY ? (mwl__result){.v = e->input, .ok = true} : e->res);
}

/* The entry has a bound, and nothing has noticed yet whether it has elapsed.
 * spec: middleware-providers, Timeout: a Result that is accepted before the bound elapses stands.
 * DECISIONS.md 4: at the very instant of the bound it is accepted. */
uint32_t mwl__ascend_late(mwl__frame *f, mwl_vm *vm) {
    mwl__entry *e = f->entries;
    if (mwl__clock_new(vm) > e->bound_ns) return mwl__unwind_late(f, e);
    e->accepted = true;
    return mwl__ascend_inline(f, vm);
}

/* Something is left of an earlier phase. */
uint32_t mwl__ascend_cleared(mwl__frame *f, mwl_vm *vm) {
    mwl__entry *e = f->entries;
    mwl__frame_put(f, &e->res.v, mwl_absent());
    mwl__frame_put(f, &e->args, mwl_absent());
    return mwl__ascend_inline(f, vm);
}

uint32_t mwl__ascend_noted(mwl__frame *f, mwl__entry *e, unsigned phase) {
    const mwl__entry_rec *rec = e->link->rec;
    mwl__ascend_note(f, e, phase);
    return phase == MWL_ON_SUCCESS ? rec->success_pc : rec->failure_pc;
}

/* Does what REENTER, ALWAYS and UNWIND do where no phase has code and no listener traces: the
 * Result goes on unchanged. Returns false if a bound around the entry may have elapsed. */
static inline bool leave_unseen(mwl__frame *f, mwl_vm *vm) {
    f->construct = MWL_IN_PHASE;
    f->run->owed--;
    mwl__entry_pop_inline(f, &vm->heap);
    const int64_t least_ns = f->entries ? f->entries->least_ns : MWL_NEVER;
    return least_ns == MWL_NEVER || mwl__clock_new(vm) < least_ns;
}

/* The Result passes the innermost entry, and those around it, whose ASCEND is an instruction too.
 */
uint32_t mwl__ascend_pass_on(mwl__frame *f, mwl_vm *vm) {
    const uint32_t silent = f->res.ok ? MWL_ENTRY_PASSES_SUCCESS : MWL_ENTRY_PASSES_FAILURE;
    const mwl__entry_rec *rec = f->entries->link->rec;
    for (;;) {
        const uint32_t pc = rec->leave_pc + 1;
        if (!leave_unseen(f, vm)) return mwl__unwind_after_always(f, pc);
        if (!(rec->flags & MWL_ENTRY_RISES) || !mwl__exec_pay_next(&vm->exec)) return pc;
        rec = f->entries->link->rec; /* of an entry whose bound has not elapsed */
        if (!mwl__ascend_passes(f, vm, rec, silent)) return mwl__ascend(f, vm);
    }
}
