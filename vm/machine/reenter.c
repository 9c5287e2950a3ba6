/* reenter.c: see reenter.h. */
#include "vm/machine/reenter.h"

#include "vm/machine/clock.h"
#include "vm/machine/trace.h"
#include "vm/machine/unwind.h"
#include "vm/value/words.h"

uint32_t mwl__reenter_slowly(mwl__frame *f, mwl_vm *vm, int64_t delay_ns) {
    const mwl__entry_rec *rec = f->entries->link->rec;
    if (rec->flags & MWL_ENTRY_FLOW_LEVEL) mwl__frame_set_failure(f, mwl_null());
    if (mwl__tracing(vm))
        mwl__trace_entry(f, MWL_TRACE_ATTEMPT, -1, (mwl__result){.v = f->in_flight, .ok = true});
    if (delay_ns <= 0) return rec->inner_pc;
    return mwl__frame_park(f, vm, MWL_FRAME_WAIT_TIME, rec->inner_pc,
                           mwl__clock_add(mwl__clock_mono(vm), delay_ns));
}

/* Inside a bound, the code of a failure stays until the next Result rises: what explains an
 * interruption says why the scope runs again (mwl_phase_inside). No expression can read it. */
void mwl__reenter_consume(mwl__frame *f, mwl__entry *e) {
    mwl_heap *h = mwl__heap_of(f);
    mwl_value code = mwl_absent();
    if (!e->res.ok && mwl__unwind_bounded(f))
        code = mwl_failure(h, NULL, mwl_as_text(mwl__word_get(e->res.v, MWL_WORD_CODE), NULL), NULL,
                           mwl_absent(), mwl_absent());
    mwl__drop(h, e->res.v);
    e->res.v = code;
}
