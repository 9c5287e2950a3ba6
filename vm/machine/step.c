/* step.c: the instructions of Steps, except calls: begin, transition, catch, assign, Sleep, the
 * endings.
 *
 * Owns: the failure context of a frame (set when a Step resolves to a failure, cleared by the first
 * one that succeeds) and its chaining. Refuses to know: middleware and calls; they set `res`.
 */
#include "vm/machine/step.h"

#include "vm/machine/account.h"
#include "vm/machine/clock.h"
#include "vm/machine/frame.h"
#include "vm/machine/gather.h"
#include "vm/machine/raise.h"
#include "vm/machine/trace.h"
#include "vm/value/temporal.h"

static const mwl__step_rec *step_of(const mwl__frame *f) { return &mwl__tables(f)->steps[f->step]; }

/* A Step begins with what is in flight. */
static void begin_step(mwl__frame *f, mwl_vm *vm, const mwl__step_rec *rec, uint32_t step) {
    mwl_heap *h = &vm->heap;
    mwl__step_hop(f, step, &f->in_flight, h);
    f->in_flight = mwl_absent();
    if (!mwl_is_absent(f->res.v)) mwl__frame_set_res(f, false, mwl_absent());
    if (f->extra && f->extra->gather) {
        mwl__gather_free(h, f->extra->gather);
        f->extra->gather = NULL;
    }
    if (rec->flags & MWL_NEEDS_ENTERED) mwl__times_of(f)->step_entered_ns = mwl__clock_wall(vm);
    if (mwl__tracing(vm)) mwl__trace(f, MWL_TRACE_STEP_ENTERED, NULL, -1, f->step_input);
}

uint32_t mwl__step_begin(mwl__frame *f, uint32_t step, uint32_t next_pc) {
    const mwl__link *link = f->run->link;
    begin_step(f, link->vm, &link->program->tables.steps[step], step);
    return next_pc;
}

void mwl__step_note_exit(mwl__frame *f) {
    if (step_of(f)->flags & MWL_NEEDS_EXITED)
        mwl__times_of(f)->step_exited_ns = mwl__clock_wall(mwl__vm_of(f));
}

static void trace_exit(mwl__frame *f) {
    if (mwl__tracing(mwl__vm_of(f))) mwl__trace_result(f, MWL_TRACE_STEP_EXITED, -1, f->res);
}

/* spec: execution-context, lifecycle: the first successful Step completion clears the failure. */
uint32_t mwl__step_to(mwl__frame *f, uint32_t step, bool handler) {
    const mwl__link *link = f->run->link;
    const mwl__step_rec *rec = &link->program->tables.steps[step];
    if (mwl__tracing(link->vm))
        mwl__trace_result(f, MWL_TRACE_STEP_EXITED, -1,
                          (mwl__result){.v = f->in_flight, .ok = true});
    if (!handler && f->extra) mwl__frame_set_failure(f, mwl_null());
    begin_step(f, link->vm, rec, step);
    return rec->pc + 1; /* behind its STEP, which is done */
}

/* ---- failure --------------------------------------------------------------------------------- */

void mwl__failure_note(mwl__frame *f, mwl_value failure) {
    mwl_vm *vm = f->run->link->vm;
    if (f->step == MWL_NONE) return;           /* before its first Step */
    bool deeper = mwl__tables(f)->n_flows > 1; /* there may be such frames */
    for (uint32_t i = 0; deeper && i < MWL_FAILURE_SITES && i < vm->n_failure_sites; i++) {
        const mwl__failure_site *b = &vm->failure_sites[i];
        if (b->failure == failure.as.p && b->run == f->run && b->depth > f->depth) return;
    }
    const uint32_t at = vm->n_failure_sites++ % MWL_FAILURE_SITES;
    vm->failure_sites[at] = (mwl__failure_site){f->run, failure.as.p, f->flow, f->step, f->depth};
    f->run->noted = (f->run->noted | 1u << at % 4) & 15u;
}

/* spec: execution-context, chaining, a failed recovery: the failure being handled is linked
 * beneath, unless an author wrote `previous`. */
static bool set_failure(mwl__frame *f) {
    if (!f->res.severed)
        f->res.v = mwl__failure_chain(mwl__heap_of(f), f->res.v, mwl__failure_of(f),
                                      f->run->limits->chain_depth);
    if (mwl_is_absent(f->res.v)) return false;
    mwl__failure_note(f, f->res.v);
    return mwl__frame_set_failure(f, f->res.v);
}

/* Charges what was looked at. Returns false if the fuel is used up, or a bound has elapsed. */
MWL__OUTLINE static bool pay(mwl__frame *f, uint64_t *looks) {
    const uint64_t n = *looks;
    *looks = 0;
    return mwl__account_charge(f, n) == MWL_OK;
}

/* spec: step-mechanics, catch clauses: the first that matches; else the failure leaves the Flow. */
uint32_t mwl__step_failed(mwl__frame *f) {
    mwl_heap *h = mwl__heap_of(f);
    if (!f->step_done) mwl__step_exit(f);
    if (!set_failure(f)) return MWL_PC_NOMEM;
    if (h->work && !mwl__exec_settle(&mwl__vm_of(f)->exec)) return MWL_PC_FUEL;
    mwl__replace(h, &f->in_flight, mwl_absent());
    const mwl__step_rec *rec = step_of(f);
    const mwl__flow_tables *t = mwl__tables(f);
    uint64_t looks = 0;
    for (uint32_t i = 0; i < rec->n_catch; i++) {
        const mwl__catch_rec *c = &t->catches[rec->first_catch + i];
        const bool hit = mwl__failure_matches_rec(mwl__program_of(f), &t->matchers[c->matcher],
                                                  f->res.v, &looks);
        if (looks > MWL__FREE_LOOKS && !pay(f, &looks)) return MWL_PC_FUEL;
        if (!hit) continue;
        f->res.cleanup = false; /* consumed: from here on it is handled, not in flight */
        f->res.rose = 0;
        if (mwl__tracing(mwl__vm_of(f))) mwl__trace_result(f, MWL_TRACE_CAUGHT, -1, f->res);
        return c->pc;
    }
    trace_exit(f);
    return mwl__frame_ascend(f, mwl__vm_of(f));
}

uint32_t mwl__step_fault(mwl__frame *f) {
    mwl__frame_raise(f, mwl__raised_take(f));
    return mwl__step_failed(f);
}

uint32_t mwl__step_clause_fault(mwl__frame *f) {
    mwl__frame_raise(f, mwl__raised_take(f));
    if (!set_failure(f)) return MWL_PC_NOMEM;
    trace_exit(f);
    return mwl__frame_ascend(f, mwl__vm_of(f));
}

uint32_t mwl__step_result(mwl__frame *f, uint32_t next_pc) {
    mwl__step_exit(f);
    if (!f->res.ok) return mwl__step_failed(f);
    mwl__replace(mwl__heap_of(f), &f->in_flight, mwl__keep(f->res.v));
    return next_pc;
}

/* ---- variables ------------------------------------------------------------------------------- */

/* spec: step-mechanics, assign: all expressions saw the state before the block; now it takes
 * effect. In the gap of a re-entry that restores, it takes effect on the restored variables. */
uint32_t mwl__step_assign(mwl__frame *f, mwl_value *regs, uint32_t shape, uint32_t next_pc) {
    mwl_heap *h = mwl__heap_of(f);
    const mwl_program *p = mwl__program_of(f);
    const mwl__shape_rec *s = &p->shapes[shape];
    const mwl_value *names = f->run->link->linked->consts;
    for (uint32_t i = 0; i < s->n_keys; i++)
        regs[i] = mwl__own(regs[i]); /* vars may change while something borrows from it */
    mwl__entry *e = f->construct == MWL_IN_PHASE ? f->entries : NULL;
    if (e && e->verdict == MWL_VERDICT_REENTER && (e->reenter & MWL_REENTER_RESTORE)) {
        mwl__replace(h, &f->vars, mwl__keep(e->vars));
        e->reenter &= (uint8_t)~MWL_REENTER_RESTORE;
    }
    mwl_value vars = f->vars;
    for (uint32_t i = 0; i < s->n_keys; i++) {
        vars = mwl__map_put(h, vars, names[p->keys[s->first_key + i]], regs[i]);
        regs[i] = mwl_null();
    }
    f->vars = vars;
    if (mwl_is_absent(vars)) return MWL_PC_NOMEM;
    return mwl__exec_settle(&mwl__vm_of(f)->exec) ? next_pc : MWL_PC_FUEL;
}

/* ---- Sleep ----------------------------------------------------------------------------------- */

/* How long it is from the wall's reading to an instant; limited to the range of the clock. */
static int64_t left_until(const mwl__instant *t, int64_t wall_ns) {
    int64_t ns;
    if (__builtin_mul_overflow(t->sec, (int64_t)1000000000, &ns) ||
        __builtin_add_overflow(ns, (int64_t)t->ns, &ns))
        return t->sec > 0 ? MWL__CLOCK_LAST : 0;
    return mwl__clock_add(ns, -wall_ns);
}

static uint32_t wait_ns(mwl__frame *f, int64_t left_ns, uint32_t next_pc) {
    if (left_ns <= 0) return next_pc;
    return mwl__frame_park(f, mwl__vm_of(f), MWL_FRAME_WAIT_TIME, next_pc,
                           mwl__clock_add(mwl__clock_mono(mwl__vm_of(f)), left_ns));
}

/* spec: step-actions, Sleep: `for` counts from the Step's entry; what is past completes at once. */
uint32_t mwl__step_sleep(mwl__frame *f, mwl_value v, bool until, uint32_t next_pc) {
    size_t len = 0;
    const char *text = mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, &len) : NULL;
    int64_t wall = mwl__clock_wall(mwl__vm_of(f));
    if (until) {
        mwl__instant t;
        mwl_status st = text ? mwl__temporal_parse_instant(text, len, &t) : MWL_E_SYNTAX;
        if (st < 0 && st != MWL_E_RANGE) /* beyond what expressions can say it is an instant, too */
            return mwl__raise_parameter(f, "/until", v, "`until` must be an RFC 3339 timestamp");
        return wait_ns(f, left_until(&t, wall), next_pc);
    }
    int64_t ns;
    mwl_status st = text ? mwl_duration_parse(text, len, &ns) : MWL_E_SYNTAX;
    if (st == MWL_E_RANGE)
        ns = *text == '-' ? 0 : MWL__CLOCK_LAST; /* well-formed, longer than we can count */
    else if (st < 0)
        return mwl__raise_parameter(f, "/for", v, "`for` must be an ISO 8601 duration");
    /* counted from the Step's begin; where nothing reads that instant, now stands for it */
    if (step_of(f)->flags & MWL_NEEDS_ENTERED)
        ns = mwl__clock_add(ns, mwl__times_of(f)->step_entered_ns - wall);
    return wait_ns(f, ns, next_pc);
}

/* ---- endings --------------------------------------------------------------------------------- */

uint32_t mwl__step_return(mwl__frame *f, mwl_vm *vm, mwl_value take) {
    mwl__step_exit(f);
    mwl__frame_set_res(f, true, take);
    if (f->extra) mwl__frame_set_failure(f, mwl_null());
    if (mwl__tracing(vm)) mwl__trace_result(f, MWL_TRACE_STEP_EXITED, -1, f->res);
    return mwl__frame_ascend(f, vm);
}

static uint32_t end_failing(mwl__frame *f, mwl_value take) {
    if (mwl_is_absent(take)) return MWL_PC_NOMEM;
    mwl__step_exit(f);
    mwl__frame_raise(f, take);
    if (take.as.p != mwl__failure_of(f).as.p)
        mwl__failure_note(f, take); /* else it is raised again */
    if (!mwl__frame_set_failure(f, take)) return MWL_PC_NOMEM;
    trace_exit(f);
    return mwl__frame_ascend(f, mwl__vm_of(f));
}

uint32_t mwl__step_raise(mwl__frame *f, mwl_value *regs, uint32_t shape) {
    mwl_heap *h = mwl__heap_of(f);
    mwl_value failure = mwl_absent();
    bool wrote_previous;
    uint32_t field;
    const char *wrong = mwl__failure_build(h, mwl_absent(), mwl__program_of(f), shape, regs,
                                           &failure, &wrote_previous, &field);
    if (wrong) return mwl__raise_envelope(f, "/result", shape, regs, field, wrong);
    if (!wrote_previous)
        failure = mwl__failure_chain(h, failure, mwl__failure_of(f), f->run->limits->chain_depth);
    return end_failing(f, failure);
}

/* spec: step-actions, bare re-raise: the active failure as it is; without one System.EmptyRaise. */
uint32_t mwl__step_reraise(mwl__frame *f) {
    if (mwl_value_kind(mwl__failure_of(f)) == MWL_KIND_OBJECT)
        return end_failing(f, mwl__keep(mwl__failure_of(f)));
    return end_failing(f,
                       mwl__failure_new(mwl__heap_of(f), MWL_FAILURE_EMPTY_RAISE,
                                        "a bare Raise with no failure to re-raise", mwl_absent()));
}
