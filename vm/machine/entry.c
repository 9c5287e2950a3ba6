/* entry.c: middleware entries: their records, and the instructions around their phases.
 *
 * Owns: establishment, the Result in flight at a position, re-entry, emission, onAlways exactly
 * once. Refuses to know: what any middleware does (phase.c asks it) and interruption (unwind.c).
 *
 * An entry's life; every arrow is one instruction or an interruption. entry_state.h has the states:
 *
 *   ENTER -> onEntry -> ESTABLISH -> inner scope -> ASCEND -> onSuccess | onFailure -> REENTER --+
 *              |            |            ^                          |      (the action re-enters) |
 *              |            |            +--------------------------|-----------------------------+
 *         ENTRY_FAULT       | (emits without running)          PHASE_FAULT
 *         pop, rise         v                                       v
 *                        ALWAYS ----------------------------> UNWIND: pop, rise or unwind on
 *
 * While a phase runs, `res` is the Result as it rose (what middleware.result reads) and `emit` what
 * a substitution or shaping made of it. */
#include "vm/machine/entry.h"

#include "vm/machine/arguments.h"
#include "vm/machine/ascend.h"
#include "vm/machine/clock.h"
#include "vm/machine/frame.h"
#include "vm/machine/phase.h"
#include "vm/machine/raise.h"
#include "vm/machine/reenter.h"
#include "vm/machine/trace.h"
#include "vm/machine/unwind.h"

static void put_result(const mwl__frame *f, mwl__result *place, mwl__result take) {
    if (place->v.tag & MWL_OWNED) mwl__drop(mwl__heap_of(f), place->v);
    *place = take;
}

void mwl__entry_set_res(mwl__frame *f, mwl__entry *e, bool ok, mwl_value take) {
    if (e->res.v.tag & MWL_OWNED) mwl__drop(mwl__heap_of(f), e->res.v);
    mwl__result_set(&e->res, ok, take);
}

void mwl__entry_set_emit(mwl__frame *f, mwl__entry *e, bool ok, mwl_value take) {
    if (e->emit.v.tag & MWL_OWNED) mwl__drop(mwl__heap_of(f), e->emit.v);
    mwl__result_set(&e->emit, ok, take);
}

/* ---- descent --------------------------------------------------------------------------------- */

static inline mwl__entry *enter(mwl__frame *f, mwl_vm *vm, uint32_t ix) {
    const mwl__link *link = f->run->link;
    mwl_heap *h = &vm->heap;
    uint32_t rank = mwl__entries_around(f), depth = rank - f->entries_around;
    mwl__entry *e = depth < f->run->limits->entry_depth ? mwl__heap_take(h, sizeof *e) : NULL;
    if (!e) {
        if (depth >= f->run->limits->entry_depth) h->why = MWL_E_DEPTH;
        return NULL;
    }
    const mwl__entry_link *l = &link->entries[ix];
    mwl__record_blank(e, sizeof *e);
    e->outer = f->entries;
    e->provider = l->provider;
    e->link = l;
    e->ix = ix;
    e->rank = rank;
    e->around_call = (l->rec->flags & MWL_ENTRY_AROUND_CALL) != 0;
    mwl__move(&e->input, &f->in_flight);
    e->own_state = mwl_null();
    e->least_ns = e->outer ? e->outer->least_ns : MWL_NEVER;
    f->in_flight = mwl_absent();
    f->entries = e;
    mwl__ascend_phase(f, vm, e, l->rec, MWL_ON_ENTRY);
    return e;
}

uint32_t mwl__entry_enter(mwl__frame *f, uint32_t ix, uint32_t next_pc) {
    return enter(f, mwl__vm_of(f), ix) ? next_pc : MWL_PC_NOMEM;
}

/* spec: middleware-mechanics, when: false leaves out `with` and the action; shaping still runs. */
uint32_t mwl__entry_gate(mwl__frame *f, mwl_value when, uint32_t off_pc, uint32_t next_pc) {
    if (mwl_value_kind(when) != MWL_KIND_BOOL)
        return mwl__raise(f, MWL_FAILURE_EXPRESSION, "`when` must be true or false", mwl_absent());
    if (mwl_as_bool(when)) return next_pc;
    f->entries->gated = true;
    return off_pc;
}

void mwl__entry_with(mwl__frame *f, mwl_value take) {
    mwl__replace(mwl__heap_of(f), &f->entries->args, take);
}

static inline uint32_t act_checked(mwl__frame *f, mwl__entry *e, unsigned phase, uint32_t next_pc) {
    const mwl__provider *p = e->provider;
    if (phase == MWL_ON_SUCCESS && p->carries) {
        e->verdict = MWL_VERDICT_REENTER;
        e->reenter = MWL_REENTER_CARRY;
        e->delay_ns = 0;
        return next_pc;
    }
    return p->act[phase] ? mwl__phase_act(f, e, p, phase, next_pc) : next_pc;
}

/* The same with arguments that are not known to be valid. */
MWL__OUTLINE static uint32_t check_and_act(mwl__frame *f, mwl__entry *e, unsigned phase,
                                           uint32_t next_pc) {
    const mwl__provider *p = e->provider;
    uint32_t pc = mwl__arguments_check(f, p->parameters[phase], e->args, p->uri, next_pc);
    return pc == next_pc ? act_checked(f, e, phase, next_pc) : pc;
}

/* The phase's action: declared, a callback, or none. */
static inline uint32_t act(mwl__frame *f, mwl__entry *e, unsigned phase, uint32_t next_pc) {
    const mwl__entry_link *l = e->link;
    if (!mwl_is_absent(l->with[phase])) e->args = l->with[phase]; /* nothing was computed */
    if (l->with_ok[phase] && l->provider == e->provider) return act_checked(f, e, phase, next_pc);
    return check_and_act(f, e, phase, next_pc);
}

uint32_t mwl__entry_action(mwl__frame *f, unsigned phase, uint32_t next_pc) {
    return act(f, f->entries, phase, next_pc);
}

/* onEntry emits a Result, and the inner scope does not run: only onAlways does. */
static uint32_t emit_at_entry(mwl__frame *f, mwl__entry *e, bool ok, mwl_value take) {
    mwl__replace(mwl__heap_of(f), &f->in_flight, mwl_absent());
    mwl__entry_set_res(f, e, ok, take);
    if (!ok) mwl__unwind_rises(f, &e->res);
    e->accepted = true;
    return e->link->rec->always_pc;
}

static inline uint32_t establish(mwl__frame *f, mwl_vm *vm, mwl__entry *e, uint32_t next_pc) {
    const mwl__provider *p = e->provider;
    if (mwl_is_absent(f->in_flight)) f->in_flight = mwl__keep(e->input);
    e->output = mwl__keep(f->in_flight);
    if (p->middleware.flags & MWL_MW_RESTORES) e->vars = mwl__keep(f->vars);
    e->state = MWL_ENTRY_INNER;
    if (e->armed) {
        if (e->bound_ns < e->least_ns) e->least_ns = e->bound_ns;
        mwl__exec_watch(&vm->exec);
    }
    f->run->owed++;
    if (e->verdict == MWL_VERDICT_EMIT) {
        mwl_value v = e->emit.v;
        e->emit.v = mwl_absent();
        return emit_at_entry(f, e, e->emit.ok, v);
    }
    if (e->gated && (p->middleware.flags & MWL_MW_OWNS_RUNS))
        return emit_at_entry(f, e, true, mwl__keep(e->output));
    if (e->armed &&
        e->bound_ns <= mwl__clock_mono(vm)) { /* elapsed before the inner scope starts */
        mwl_value why = mwl__phase_elapsed(f, e);
        if (mwl_is_absent(why)) return MWL_PC_NOMEM;
        if (mwl__tracing(vm))
            mwl__trace_entry(f, MWL_TRACE_INTERRUPTED, -1, (mwl__result){.v = why});
        return emit_at_entry(f, e, false, why);
    }
    e->runs = 1;
    if (mwl__tracing(vm))
        mwl__trace_entry(f, MWL_TRACE_ESTABLISHED, -1,
                         (mwl__result){.v = f->in_flight, .ok = true});
    return next_pc;
}

uint32_t mwl__entry_establish(mwl__frame *f, uint32_t next_pc) {
    return establish(f, mwl__vm_of(f), f->entries, next_pc);
}

/* A part of a joined instruction is done: the next one has a pc and a charge of its own. */
static inline uint32_t next_part(mwl__exec *x) {
    mwl__exec_pay(x, 1);
    return ++x->pc + 1;
}

uint32_t mwl__entry_open(mwl__frame *f, mwl_vm *vm, uint32_t ix) {
    mwl__exec *x = &vm->exec;
    mwl__entry *e = enter(f, vm, ix);
    if (!e) return MWL_PC_NOMEM;
    uint32_t behind = next_part(x), pc = act(f, e, MWL_ON_ENTRY, behind);
    return pc == behind ? establish(f, vm, e, next_part(x)) : pc;
}

/* ---- ascent (ascend.c has ASCEND) ----------------------------------------------------------- */

/* spec: middleware-mechanics, re-execution: a consumed Result's shaping evaluates only where its
 * product has a destination. */
bool mwl__entry_skips_shape(const mwl__frame *f) {
    const mwl__entry *e = f->entries;
    bool carries = e->state == MWL_ENTRY_SUCCESS && (e->reenter & MWL_REENTER_CARRY);
    return e->verdict == MWL_VERDICT_REENTER && !carries;
}

void mwl__entry_shape(mwl__frame *f, mwl_value take) {
    mwl__entry_set_emit(f, f->entries, true, take);
}

uint32_t mwl__entry_envelope(mwl__frame *f, mwl_value *regs, uint32_t shape, uint32_t next_pc) {
    mwl_heap *h = mwl__heap_of(f);
    mwl__entry *e = f->entries;
    const mwl__result base = mwl_is_absent(e->emit.v) ? e->res : e->emit;
    mwl_value failure = mwl_absent();
    bool wrote_previous;
    uint32_t field;
    const char *wrong = mwl__failure_build(h, base.v, mwl__program_of(f), shape, regs, &failure,
                                           &wrote_previous, &field);
    if (wrong) return mwl__raise_envelope(f, "/onFailure", shape, regs, field, wrong);
    if (!wrote_previous)
        failure = mwl__failure_chain(h, failure, base.v, f->run->limits->chain_depth);
    if (mwl_is_absent(failure)) return MWL_PC_NOMEM;
    put_result(f, &e->emit,
               (mwl__result){.v = failure,
                             .cleanup = base.cleanup,
                             .severed = base.severed || wrote_previous,
                             .rose = base.rose});
    return next_pc;
}

/* The failure takes the place of the Result in flight, as it rose: what the phase would have made
 * of that (emit) was never emitted. It chains that one if it was a failure, unless an author wrote
 * the failure's own `previous`. */
static bool supersede(mwl__frame *f, mwl__entry *e, mwl__result newer) {
    const mwl__result *flight = &e->res;
    if (!flight->ok) {
        if (!newer.severed)
            newer.v = mwl__failure_chain(mwl__heap_of(f), newer.v, flight->v,
                                         f->run->limits->chain_depth);
        newer.cleanup |= flight->cleanup;
        newer.severed |= flight->severed;
        newer.rose = flight->rose;
    }
    mwl__entry_set_emit(f, e, false, mwl_absent());
    put_result(f, &e->res, newer);
    e->verdict = MWL_VERDICT_PASS;
    return !mwl_is_absent(newer.v);
}

/* The innermost entry ends with this Result. */
static void trace_exit(mwl__frame *f, mwl__result res) {
    if (mwl__tracing(mwl__vm_of(f))) mwl__trace_entry(f, MWL_TRACE_ENTRY_EXITED, -1, res);
}

/* A phase of the innermost entry has failed. */
static uint32_t fail_phase(mwl__frame *f, unsigned phase, mwl__result take) {
    const mwl__entry_rec *rec = f->entries->link->rec;
    if (phase == MWL_ON_ENTRY) { /* not established, so it has no onAlways */
        trace_exit(f, take);
        mwl__entry_pop(f);
        mwl__frame_put(f, &f->in_flight, mwl_absent());
        put_result(f, &f->res, take);
        return rec->out_pc;
    }
    if (phase == MWL_ON_ALWAYS) take.cleanup = true;
    if (!supersede(f, f->entries, take)) return MWL_PC_NOMEM;
    return phase == MWL_ON_ALWAYS ? rec->leave_pc : rec->always_pc;
}

/* Returns what was raised, given, as a Result. */
static mwl__result raised(mwl__frame *f) {
    mwl__result r = {.v = mwl__raised_take(f)};
    mwl__unwind_rises(f, &r);
    return r;
}

/* spec: middleware-mechanics, when a phase fails: an entry whose onEntry fails is not established,
 * so it has no onAlways; later it stays established, and its onAlways runs. */
uint32_t mwl__entry_fault(mwl__frame *f) { return fail_phase(f, MWL_ON_ENTRY, raised(f)); }
uint32_t mwl__entry_phase_fault(mwl__frame *f) { return fail_phase(f, MWL_ON_FAILURE, raised(f)); }
uint32_t mwl__entry_always_fault(mwl__frame *f) { return fail_phase(f, MWL_ON_ALWAYS, raised(f)); }

static inline uint32_t after_action(mwl__frame *f, mwl_vm *vm, mwl__entry *e) {
    if (e->verdict == MWL_VERDICT_REENTER) return mwl__reenter(f, vm, e, e->reenter, e->delay_ns);
    if (!mwl_is_absent(e->emit.v)) {
        mwl__ascend_move(f, &e->res, &e->emit);
    }
    return e->link->rec->always_pc;
}

uint32_t mwl__entry_reenter(mwl__frame *f) { return after_action(f, mwl__vm_of(f), f->entries); }

uint32_t mwl__entry_act_reenter(mwl__frame *f, mwl_vm *vm, unsigned phase) {
    mwl__exec *x = &vm->exec;
    uint32_t behind = x->pc + 1, pc = act(f, f->entries, phase, behind);
    if (pc != behind) return pc;
    (void)next_part(x);
    return after_action(f, vm, f->entries);
}

/* ---- onAlways -------------------------------------------------------------------------------- */

/* spec: middleware-mechanics, onAlways: once for each established entry, however its scope ended.
 */
uint32_t mwl__entry_always(mwl__frame *f, uint32_t next_pc) {
    mwl__entry *e = f->entries;
    if (f->extra) { /* the cleanup runs forward; a bound inside it starts an unwind of its own */
        e->outer_running = f->extra->running;
        e->outer_owner = f->extra->owner;
        f->extra->running = false;
    }
    mwl__frame_put(f, &e->args, mwl_absent());
    mwl__ascend_phase(f, mwl__vm_of(f), e, e->link->rec, MWL_ON_ALWAYS);
    return next_pc;
}

uint32_t mwl__entry_action_done(mwl__frame *f, unsigned phase) {
    mwl__entry *e = f->entries;
    e->state &= (uint8_t)~MWL_ENTRY_STRUCTURAL;
    f->construct = MWL_IN_PHASE;
    if (f->res.ok) { /* the cleanup's own Result is discarded */
        mwl__frame_set_res(f, false, mwl_absent());
        return e->resume_pc;
    }
    mwl__result failure = f->res;
    f->res.v = mwl_absent();
    return fail_phase(f, phase, failure);
}

uint32_t mwl__entry_unwind(mwl__frame *f, uint32_t next_pc) {
    mwl__entry *e = f->entries;
    f->run->owed--;
    mwl__ascend_move(f, &f->res, &e->res);
    trace_exit(f, f->res);
    if (f->extra) {
        f->extra->running = e->outer_running;
        f->extra->owner = e->outer_owner;
    }
    mwl__entry_pop(f);
    if (!f->extra && !f->entries) return next_pc;
    return mwl__unwinds(f) ? mwl__unwind_next(f) : mwl__unwind_after_always(f, next_pc);
}

/* ---- records --------------------------------------------------------------------------------- */

void mwl__entry_pop(mwl__frame *f) { mwl__entry_pop_inline(f, mwl__heap_of(f)); }

void mwl__entry_drop_rare(mwl_heap *h, const mwl__entry *e) {
    mwl__drop(h, e->args);
    mwl__drop(h, e->vars);
    mwl__drop(h, e->res.v);
    mwl__drop(h, e->emit.v);
    mwl__drop(h, e->cancel);
}

bool mwl__entry_write_deadline(mwl__frame *f, mwl__entry *e) {
    if (mwl_value_kind(e->contributed) != MWL_KIND_INT) return true;
    mwl_heap *h = mwl__heap_of(f);
    const char *name = e->provider->middleware.deadline;
    mwl_value o = mwl_object_set(h, mwl_object(h, 1), name, strlen(name),
                                 mwl_timestamp_text(h, e->contributed.as.i));
    if (mwl_is_absent(o)) return false;
    e->contributed = o;
    return true;
}

/* The count of runs is written when it is read, so that a re-run costs an addition only. */
mwl_value mwl__entry_contributed(mwl__frame *f, mwl__entry *e) {
    const char *name = e->provider->middleware.run_count;
    if (!mwl__entry_write_deadline(f, e)) return mwl_absent();
    if (!name) return e->contributed;
    mwl_heap *h = mwl__heap_of(f);
    mwl_value o = e->contributed, runs = mwl_number((double)e->runs);
    mwl_value now = mwl_object_get(o, name, strlen(name));
    if (mwl_value_kind(now) == MWL_KIND_NUMBER && now.as.d == runs.as.d) return o;
    mwl_value next = mwl_object_set(h, mwl_is_absent(o) ? mwl_object(h, 1) : mwl__keep(o), name,
                                    strlen(name), runs);
    if (!mwl_is_absent(next)) mwl__replace(h, &e->contributed, next);
    return next;
}
