/* unwind.c: interruption: tearing a scope down, and the seam where forward execution resumes.
 *
 * Owns: who interrupts what and what emerges. An interruption has an owner: an entry whose bound
 * elapsed, or the frame itself (imposed by its parent's unwind, by its Gather, or from outside).
 * What unwinds is its cancellation until a cleanup fails (mwl__result.cleanup); "the owner's own
 * cancellation, unchanged" is that no cleanup has. A bound that has to wait needs no timer: whether
 * it has elapsed is asked when forward execution would resume, and then the earliest begins.
 *
 *   arrives                                        what happens
 *   an onAlways inside the owner is running        it waits (elapsed, or the frame's cancel) until
 *                                                  that phase ends
 *   an unwind to an owner inside is under way      it waits; imposed where that seam would resume
 *   an unwind to an owner outside is under way,    nothing: its scope is torn down anyway
 *   or such an interruption waits already
 *   otherwise                                      outstanding target executions are interrupted;
 *                                                  when all have resolved, established entries run
 *                                                  onAlways, innermost first, up to the owner
 *
 * spec: execution-model, the unwind and the conversion seam. */
#include "vm/machine/unwind.h"

#include "vm/machine/ascend.h"
#include "vm/machine/call.h"
#include "vm/machine/clock.h"
#include "vm/machine/entry.h"
#include "vm/machine/execution.h"
#include "vm/machine/frame.h"
#include "vm/machine/gather.h"
#include "vm/machine/phase.h"
#include "vm/machine/run.h"
#include "vm/machine/timer.h"
#include "vm/machine/trace.h"
#include "vm/value/words.h"

/* Is an onAlways of the frame running? */
static bool cleaning(const mwl__frame *f) {
    for (const mwl__entry *e = f->entries; e; e = e->outer)
        if (mwl__entry_cleaning(e)) return true;
    return false;
}

bool mwl__unwind_cleans(const mwl__frame *f) {
    while (f && !cleaning(f)) f = f->parent;
    return f != NULL;
}

/* ---- failed cleanups ------------------------------------------------------------------------- */

/* In an unwind, a cleanup has failed inside a target execution: its failure takes the place of what
 * is in flight, and no cancellation hides it. */
static void failed_inside(mwl__frame *f, mwl_value take_failure) {
    if (f->res.cleanup) /* another one was in flight already */
        take_failure = mwl__failure_chain(mwl__heap_of(f), take_failure, f->res.v,
                                          f->run->limits->chain_depth);
    if (mwl_is_absent(take_failure)) return;
    mwl__frame_set_res(f, false, take_failure);
    f->res.cleanup = true;
}

/* ---- displaced failures ---------------------------------------------------------------------- */

enum { STAMP_BITS = 20, STAMP_NS = 1 << STAMP_BITS };
static uint64_t stamp(int64_t mono_ns) {
    return (((uint64_t)mono_ns >> STAMP_BITS) + 1) % MWL_ROSE_STAMPS;
}
static void rose_at(mwl__result *failure, int64_t mono_ns) {
    mwl__result_rose(failure, stamp(mono_ns));
}

/* Stamps are coarse. So a failure that rises after a bound around it gets the next stamp: it is
 * never taken for one that was in flight at that bound's instant. */
void mwl__unwind_rises(mwl__frame *f, mwl__result *failure) {
    if (!mwl__unwind_bounded(f)) return;
    const int64_t now = mwl__clock_new(mwl__vm_of(f));
    rose_at(failure, mwl__unwind_due(f) < now ? mwl__clock_add(now, STAMP_NS) : now);
}

/* Was the failure in flight at this instant? One that rose later would not have been there, if the
 * bound of that instant had been noticed in time. */
static bool rose_before(const mwl__result *failure, int64_t at_ns) {
    return failure->rose && (stamp(at_ns) - failure->rose) % MWL_ROSE_STAMPS < MWL_ROSE_STAMPS / 2;
}

/* Is it the cancellation of a bound? Then its explanation is its `previous`. */
static bool explained(mwl_value cancel) {
    return mwl_value_kind(mwl__word_get(cancel, MWL_WORD_PREVIOUS)) == MWL_KIND_OBJECT;
}

/* Returns what a cancellation has displaced, lent: it is beneath the explanation. Absent: nothing.
 * */
static mwl_value displaced(mwl_value cancel) {
    mwl_value v = mwl__word_get(mwl__word_get(cancel, MWL_WORD_PREVIOUS), MWL_WORD_PREVIOUS);
    return mwl_value_kind(v) == MWL_KIND_OBJECT ? v : mwl_absent();
}

/* Sets what unwinds when the cancellation of this instant meets what is in flight (NULL: nothing).
 * The failure of a cleanup stays, with the cancellation at the end of its chain. DECISIONS.md 2:
 * any other failure is linked beneath the explanation of a bound. Otherwise it is the cancellation
 * alone. False: out of memory; then it is the cancellation too. */
static bool impose(mwl__frame *f, const mwl__result *flight, mwl_value cancel, int64_t at_ns) {
    mwl_heap *h = mwl__heap_of(f);
    const uint32_t depth = f->run->limits->chain_depth;
    const bool failed = flight && !flight->ok && !mwl_is_absent(flight->v);
    const bool cleanup = failed && flight->cleanup;
    const bool beneath = failed && !cleanup && explained(cancel) && rose_before(flight, at_ns);
    if (!cleanup && !beneath) {
        mwl__frame_set_res(f, false, mwl__keep(cancel));
        return true;
    }
    const mwl__result was = *flight; /* it may be f->res */
    mwl_value v = cleanup ? mwl__failure_chain(h, mwl__keep(was.v), cancel, depth)
                          : mwl__failure_chain(h, mwl__keep(cancel), was.v, depth);
    const bool good = !mwl_is_absent(v);
    mwl__frame_set_res(f, false, good ? v : mwl__keep(cancel));
    if (!good) return false;
    f->res.rose = was.rose;
    f->res.cleanup = cleanup;
    f->res.severed = cleanup && was.severed;
    return true;
}

/* The Result in flight inside the owner (NULL: the frame), or NULL: rising, or at an entry whose
 * phase is running. */
static const mwl__result *in_flight(const mwl__frame *f, const mwl__entry *owner) {
    if (!mwl_is_absent(f->res.v)) return &f->res;
    const mwl__entry *e = mwl__entry_reading(f);
    if (!e || !mwl__entry_established(e) || (owner && e->rank <= owner->rank)) return NULL;
    if (e->verdict == MWL_VERDICT_REENTER) return NULL; /* consumed */
    return mwl_is_absent(e->emit.v) ? &e->res : &e->emit;
}

/* ---- beginning ------------------------------------------------------------------------------- */

static bool outstanding(const mwl__frame *f) {
    return f->awaits || (mwl__gather_of(f) && mwl__gather_of(f)->active > 0);
}

/* The frame leaves what it was doing: what it waited for is interrupted, what it held is dropped.
 */
static void begin_unwind(mwl__frame *f, mwl__entry *owner, mwl_value cancel) {
    mwl_vm *vm = mwl__vm_of(f);
    mwl__extra *u = f->extra;
    if (f->state == MWL_FRAME_WAIT_TIME && f->entries &&
        f->pc == mwl__tables(f)->entries[f->entries->ix].inner_pc)
        f->entries->runs--; /* it waited to re-enter: that run has not begun */
    u->owner = owner;
    u->running = true;
    u->resume = false;
    u->awaiting = true;
    mwl__timer_cancel(&vm->timers, &f->timer);
    mwl__replace(&vm->heap, &f->in_flight, mwl_absent());
    if (f->record) { /* a cleanup's call begins with a record of its own */
        mwl__call_state_free(&vm->heap, f->record);
        f->record = NULL;
    }
    const int64_t at_ns = owner ? owner->bound_ns : u->cancel_ns;
    (void)impose(f, in_flight(f, owner), cancel, at_ns);
    if (mwl__tracing(vm)) mwl__trace(f, MWL_TRACE_INTERRUPTED, NULL, -1, cancel);
    if (f->awaits == MWL_AWAITS_FRAME)
        mwl__unwind_frame(f->target.frame, cancel, at_ns);
    else if (f->awaits == MWL_AWAITS_EXECUTION)
        mwl__execution_cancel(f->target.execution, cancel);
    else if (mwl__gather_of(f) && mwl__gather_of(f)->active > 0)
        mwl__gather_interrupt(f, cancel, at_ns);
    mwl__unwind_resolved(f);
}

/* When several dispatches' cleanups have failed, the lowest-indexed one's chain unwinds on. */
void mwl__unwind_resolved(mwl__frame *f) {
    mwl__extra *u = f->extra;
    if (!u || !u->awaiting || outstanding(f)) return;
    u->awaiting = false;
    u->resume = true;
    mwl_value v = mwl__gather_superseding(f); /* lent */
    if (!mwl_is_absent(v)) {
        mwl_value head = mwl__keep(v);
        if (mwl__gather_of(f)->cancelling) /* what it chains is its Gather's cancellation */
            head = mwl__failure_chain(mwl__heap_of(f), head, f->res.v, f->run->limits->chain_depth);
        failed_inside(f, head);
    }
    mwl__frame_ready(f, mwl__vm_of(f));
}

void mwl__unwind_returned(mwl__frame *f, mwl__result take) {
    mwl_heap *h = mwl__heap_of(f);
    mwl_value mine = displaced(f->res.v);
    if (take.cleanup) {
        failed_inside(f, take.v);
    } else if (f->res.cleanup || mwl_is_absent(displaced(take.v))) {
        mwl__drop(h, take.v);
    } else { /* the cancellation, with what it displaced there; what it displaced here is older */
        if (!mwl_is_absent(mine))
            take.v = mwl__failure_chain(h, take.v, mine, f->run->limits->chain_depth);
        if (!mwl_is_absent(take.v)) {
            mwl__frame_set_res(f, false, take.v);
            f->res.rose = take.rose;
        }
    }
    mwl__unwind_resolved(f);
}

void mwl__unwind_frame(mwl__frame *f, mwl_value cancel, int64_t at_ns) {
    if (f->state == MWL_FRAME_DONE) return;
    mwl__extra *u = mwl__frame_extra(f);
    if (!u) {
        mwl__run_limit(f->run, MWL_E_NOMEM);
        return;
    }
    if (!mwl_is_absent(u->cancel)) return; /* it is being torn down already */
    u->cancel = mwl__keep(cancel);
    u->cancel_ns = at_ns;
    if (cleaning(f) || u->running) return;
    begin_unwind(f, NULL, cancel);
}

/* The cancellation with this explanation as `previous`, given; absent: out of memory. An
 * explanation that its middleware keeps comes again, so the last one of an entry is remembered. */
static mwl_value cancellation(mwl_heap *h, mwl__entry_link *l, mwl_value take_why) {
    if (take_why.as.p == l->why.as.p) {
        mwl__drop(h, take_why);
        return mwl__keep(l->cancel);
    }
    const bool kept = mwl__as_map(take_why)->rc > 1 && mwl__map_is_full(take_why);
    mwl_value cancel = mwl__failure_over(
        h, MWL_FAILURE_CANCELLED, "interrupted by an enclosing middleware", mwl_absent(), take_why);
    if (kept && !mwl_is_absent(cancel)) {
        mwl__replace(h, &l->why, mwl__keep(mwl__word_get(cancel, MWL_WORD_PREVIOUS)));
        mwl__replace(h, &l->cancel, mwl__keep(cancel));
    }
    return cancel;
}

/* The entry's bound has elapsed: makes its cancellation. False: out of memory. */
static bool fire(mwl__frame *f, mwl__entry *owner) {
    mwl_heap *h = mwl__heap_of(f);
    mwl_value why = mwl__phase_elapsed(f, owner), cancel = mwl_absent();
    if (!mwl_is_absent(why)) cancel = cancellation(h, &f->run->link->entries[owner->ix], why);
    if (mwl_is_absent(cancel)) return false;
    owner->fired = true;
    mwl__replace(h, &owner->cancel, cancel);
    return true;
}

/* A bound of this very instant comes after its completions, and of equal bounds the outermost comes
 * first: it has come when one further inside has fired. */
static bool elapsed(const mwl__entry *e, int64_t now) {
    return e->bound_ns < now || (e->bound_ns == now && e->tied);
}
/* The owner's bound fires: marks the equal ones around it. */
static void tie(const mwl__frame *f, const mwl__entry *owner) {
    for (; f; f = f->bounded ? f->parent : NULL)
        for (mwl__entry *e = f->entries; e && e->least_ns <= owner->bound_ns; e = e->outer)
            if (e->armed && e->rank < owner->rank && e->bound_ns == owner->bound_ns) e->tied = true;
}

void mwl__unwind_bound(mwl__frame *f, mwl__entry *owner) {
    tie(f, owner);
    mwl__extra *u = mwl__frame_extra(f);
    if (!u) {
        mwl__run_limit(f->run, MWL_E_NOMEM);
        return;
    }
    if (u->running)
        return; /* inside the owner: its scope is torn down anyway; outside: the seam checks */
    if (fire(f, owner))
        begin_unwind(f, owner, owner->cancel);
    else
        mwl__run_limit(f->run, MWL_E_NOMEM);
}

/* Fires the frame's bound if it has elapsed. Returns whether the frame has to stop for it. Work
 * that is ready at a bound's very instant comes before it. */
bool mwl__unwind_bounds_due(mwl__frame *f) {
    mwl__entry *e = mwl__frame_bound(f);
    if (!e || mwl__clock_new(mwl__vm_of(f)) <= e->bound_ns) return false;
    mwl__unwind_bound(f, e);
    return f->extra && (f->extra->resume || f->extra->awaiting);
}

/* A cleanup keeps the bounds outside it waiting. */
int64_t mwl__unwind_due(const mwl__frame *f) {
    int64_t first = MWL_NEVER;
    for (; f; f = f->parent) {
        const mwl__entry *e = mwl__frame_bound(f);
        if (e && e->bound_ns < first) first = e->bound_ns;
        if (cleaning(f) || mwl__unwinds(f)) break;
    }
    return first;
}

void mwl__unwind_overdue(mwl__frame *f) {
    int64_t first = mwl__unwind_due(f);
    if (first >= mwl__clock_new(mwl__vm_of(f))) return;
    for (; f; f = f->parent) {
        mwl__entry *e = mwl__frame_bound(f);
        if (!e || e->bound_ns != first) continue;
        mwl__unwind_bound(f, e);
        return;
    }
}

/* ---- going on -------------------------------------------------------------------------------- */

/* Of the interruptions that wait outside `from` and may begin now the one that came first, of equal
 * ones the outermost: an entry, the frame (*frame true), or none. An entry whose onAlways is
 * running keeps those outside it waiting. */
static mwl__entry *waiting(mwl__frame *f, mwl__entry *from, bool *frame) {
    mwl__entry *first = NULL;
    bool imposed_on = f->extra && !mwl_is_absent(f->extra->cancel);
    int64_t least = from ? from->least_ns : MWL_NEVER,
            now = least == MWL_NEVER ? 0 : mwl__clock_new(mwl__vm_of(f));
    *frame = false;
    if (least > now && !imposed_on) return NULL;
    for (mwl__entry *e = from; e; e = e->outer) {
        if (mwl__entry_cleaning(e)) return first;
        if (e->armed && e->state == MWL_ENTRY_INNER && !e->accepted &&
            (!first || e->bound_ns <= first->bound_ns) && elapsed(e, now))
            first = e;
    }
    *frame = imposed_on && (!first || f->extra->cancel_ns <= first->bound_ns);
    return *frame ? NULL : first;
}

static uint32_t run_always(mwl__frame *f, mwl__entry *e) {
    mwl__entry_set_emit(f, e, false, mwl_absent());
    mwl__ascend_accept(f, e);
    return mwl__tables(f)->entries[e->ix].always_pc;
}

/* spec: execution-model, the conversion seam.
 * The arriving Result at the owner's position decides: its own bare cancellation converts to the
 * explanation; a failed cleanup rises as it is. An interruption that waits outside takes over
 * instead of resuming. */
static uint32_t seam(mwl__frame *f, mwl__entry *owner) {
    mwl__extra *u = f->extra;
    bool own = !f->res.cleanup, frame;
    mwl__entry *next = waiting(f, owner->outer, &frame);
    owner->accepted = true;
    if (next && !fire(f, next)) return MWL_PC_NOMEM;
    if (next || frame) {
        mwl__result flight = f->res; /* of a cancellation only what it has displaced */
        flight.v = mwl__keep(own ? displaced(f->res.v) : f->res.v);
        bool good = impose(f, &flight, next ? next->cancel : u->cancel,
                           next ? next->bound_ns : u->cancel_ns);
        mwl__drop(mwl__heap_of(f), flight.v);
        if (!good) return MWL_PC_NOMEM;
        u->owner = next;
    } else {
        if (own) {
            mwl__frame_set_res(f, false, mwl__keep(mwl__word_get(f->res.v, MWL_WORD_PREVIOUS)));
            rose_at(&f->res, owner->bound_ns);
        }
        u->running = false;
        u->owner = NULL;
    }
    return mwl_is_absent(f->res.v) ? MWL_PC_NOMEM : run_always(f, owner);
}

/* spec: execution-model, the unwind: established entries run onAlways only, innermost first. */
uint32_t mwl__unwind_next(mwl__frame *f) {
    while (f->entries) {
        mwl__entry *e = f->entries;
        if (e == f->extra->owner) return seam(f, e);
        if (mwl__entry_established(e)) return run_always(f, e);
        if (mwl__tracing(mwl__vm_of(f))) mwl__trace_entry(f, MWL_TRACE_ENTRY_EXITED, -1, f->res);
        mwl__entry_pop(f);
    }
    return mwl__frame_complete(f, mwl__vm_of(f));
}

/* As if the bound had been noticed in time: nothing of the scope is left to tear down, so this is
 * the seam. */
uint32_t mwl__unwind_late(mwl__frame *f, mwl__entry *owner) {
    mwl__extra *u = mwl__frame_extra(f);
    if (!u || !fire(f, owner)) return MWL_PC_NOMEM;
    if (!impose(f, in_flight(f, owner), owner->cancel, owner->bound_ns)) return MWL_PC_NOMEM;
    u->owner = owner;
    u->running = true;
    if (mwl__tracing(mwl__vm_of(f))) mwl__trace(f, MWL_TRACE_INTERRUPTED, NULL, -1, owner->cancel);
    return seam(f, owner);
}

uint32_t mwl__unwind_after_always(mwl__frame *f, uint32_t next_pc) {
    bool frame;
    mwl__entry *owner = waiting(f, f->entries, &frame);
    if (!owner && !frame) return next_pc;
    mwl__extra *u = mwl__frame_extra(f);
    if (!u || (owner && !fire(f, owner))) return MWL_PC_NOMEM;
    if (!impose(f, &f->res, owner ? owner->cancel : u->cancel,
                owner ? owner->bound_ns : u->cancel_ns))
        return MWL_PC_NOMEM;
    u->owner = owner;
    u->running = true;
    return mwl__unwind_next(f);
}
