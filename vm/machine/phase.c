/* phase.c: the middleware contract: one callback at one phase of one entry, and its verdict.
 *
 * Owns: mwl_phase and what its functions may do when. Refuses to know: any middleware. A phase
 * object lives on the C stack for the time of the callback; a middleware keeps nothing but its
 * entry state. */
#include "vm/machine/phase.h"

#include "vm/base/random.h"
#include "vm/machine/clock.h"
#include "vm/machine/entry.h"
#include "vm/machine/raise.h"
#include "vm/value/words.h"

struct mwl_phase {
    mwl__frame *frame;
    mwl__entry *entry;
    unsigned phase;
    mwl__result instead; /* the action's failure, or what `elapsed` emits; or absent */
    bool dispatch, elapsed;
    bool nomem; /* an absent value was given: its constructor was out of memory */
};

static const mwl__provider *provider_of(const mwl__frame *f, const mwl__entry *e) {
    return f->run->link->providers[mwl__tables(f)->entries[e->ix].import];
}

/* ---- running --------------------------------------------------------------------------------- */

static uint32_t fail_phase(mwl__frame *f, mwl__entry *e, unsigned phase, mwl_value take) {
    mwl__replace(mwl__heap_of(f), &mwl__vm_of(f)->raised, take);
    if (phase == MWL_ON_ENTRY) return mwl__entry_fault(f, e->ix);
    return phase == MWL_ON_ALWAYS ? mwl__entry_always_fault(f, e->ix)
                                  : mwl__entry_phase_fault(f, e->ix);
}

static uint32_t dispatch_structural(mwl__frame *f, mwl__entry *e, unsigned phase,
                                    uint32_t next_pc) {
    const mwl__entry_rec *rec = &mwl__tables(f)->entries[e->ix];
    if (rec->struct_pc[phase] == MWL_NONE)
        return mwl__raise_parameter(f, "/required", mwl__vm_of(f)->empty,
                                    "`with` has no `call` to dispatch");
    e->resume_pc = next_pc;
    e->state |= MWL_ENTRY_STRUCTURAL;
    mwl__replace(mwl__heap_of(f), &f->in_flight, mwl__keep(e->input));
    return rec->struct_pc[phase];
}

/* The callback failed, dispatched its call, or was out of memory. */
static uint32_t apply_verdict(mwl__frame *f, mwl__entry *e, const mwl_phase *ph, uint32_t next_pc) {
    if (ph->nomem) {
        mwl__drop(mwl__heap_of(f), ph->instead.v);
        return MWL_PC_NOMEM;
    }
    if (!mwl_is_absent(ph->instead.v)) return fail_phase(f, e, ph->phase, ph->instead.v);
    return dispatch_structural(f, e, ph->phase, next_pc);
}

uint32_t mwl__phase_act(mwl__frame *f, mwl__entry *e, const mwl__provider *p, unsigned phase,
                        uint32_t next_pc) {
    if (!p->act[phase]) return next_pc;
    mwl_phase ph = {f, e, phase, {.v = mwl_absent()}, false, false, false};
    p->act[phase](&ph, p->user);
    bool said = ph.nomem | ph.dispatch | !mwl_is_absent(ph.instead.v);
    return said ? apply_verdict(f, e, &ph, next_pc) : next_pc;
}

mwl__result mwl__phase_elapsed(mwl__frame *f, mwl__entry *e) {
    const mwl__provider *p = provider_of(f, e);
    mwl_phase ph = {f, e, MWL_ON_ENTRY, {.v = mwl_absent()}, false, true, false};
    if (p->middleware.elapsed) p->middleware.elapsed(&ph, p->user);
    if (ph.nomem)
        mwl__replace(mwl__heap_of(f), &ph.instead.v, mwl_absent());
    else if (mwl_is_absent(ph.instead.v)) /* the middleware sets bounds and has no explanation */
        ph.instead.v = mwl_failure(mwl__heap_of(f), "timeout", "Mwlvm.BoundElapsed",
                                   "a bound elapsed", mwl_absent(), mwl_absent());
    return ph.instead;
}

/* ---- what a middleware reads ----------------------------------------------------------------- */

mwl_heap *mwl_phase_heap(mwl_phase *p) { return mwl__heap_of(p->frame); }
mwl_value mwl_phase_arguments(const mwl_phase *p) {
    return mwl_is_absent(p->entry->args) ? mwl__vm_of(p->frame)->empty : p->entry->args;
}
mwl_value mwl_phase_prepared(const mwl_phase *p) {
    return mwl__borrow(p->frame->run->link->prepared[p->entry->ix]);
}
mwl_value mwl_phase_input(const mwl_phase *p) { return p->entry->input; }
bool mwl_phase_succeeded(const mwl_phase *p) { return p->entry->res.ok; }
mwl_value mwl_phase_result_value(const mwl_phase *p) { return p->entry->res.v; }
uint64_t mwl_phase_runs(const mwl_phase *p) { return p->entry->runs; }
void mwl_phase_now(const mwl_phase *p, mwl_instant *out) { mwl_vm_now(mwl__vm_of(p->frame), out); }
double mwl_phase_random(mwl_phase *p) {
    return (double)(mwl__random(&p->frame->run->rng) >> 11) * 0x1p-53;
}
mwl_value mwl_phase_state(const mwl_phase *p) { return p->entry->own_state; }

/* A value that a middleware gives. An absent one ends the run after the callback has returned. */
static mwl_value given(mwl_phase *p, mwl_value take) {
    if (mwl_is_absent(take)) p->nomem = true;
    return take;
}

void mwl_phase_set_state(mwl_phase *p, mwl_value take) {
    mwl__replace(mwl__heap_of(p->frame), &p->entry->own_state, given(p, take));
}

/* spec: middleware-providers, contributed metadata: nothing beyond the declared schema, and not the
 * universal pair. Those of the specification's own documents are known to keep it. */
static bool may_contribute(mwl_phase *p, const mwl__provider *owner, const char *name,
                           mwl_value contributed) {
    if (strcmp(name, "enteredAt") == 0 || strcmp(name, "exitedAt") == 0 || !owner->metadata)
        return false;
    bool valid = false;
    mwl__schema_env env = {mwl__heap_of(p->frame), mwl__vm_of(p->frame)->regex, NULL};
    mwl_status st = mwl__schema_check(owner->metadata, contributed, &env, &valid, NULL);
    if (st == MWL_E_NOMEM) p->nomem = true;
    return st == MWL_OK && valid;
}

void mwl_phase_contribute(mwl_phase *p, const char *name, mwl_value take_value) {
    mwl_heap *h = mwl__heap_of(p->frame);
    const mwl__provider *owner = provider_of(p->frame, p->entry);
    if (!mwl__entry_write_deadline(p->frame, p->entry)) {
        p->nomem = true;
        mwl__drop(h, take_value);
        return;
    }
    mwl_value o = p->entry->contributed, before = mwl_absent();
    if (mwl_value_kind(o) != MWL_KIND_OBJECT) o = mwl_object(h, 1);
    if (!owner->trusted) before = mwl__keep(o);
    o = given(p, mwl_object_set(h, o, name, strlen(name), take_value));
    if (!owner->trusted && !mwl_is_absent(o) && !may_contribute(p, owner, name, o))
        mwl__replace(h, &o, mwl__keep(before));
    mwl__drop(h, before);
    p->entry->contributed = o;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static void set_instead(mwl_phase *p, bool ok, mwl_value take) {
    mwl__replace(mwl__heap_of(p->frame), &p->instead.v, given(p, take));
    p->instead.ok = ok;
}

void mwl_phase_fail(mwl_phase *p, const char *type, const char *code, const char *message,
                    mwl_value take_details) {
    set_instead(
        p, false,
        mwl_failure(mwl__heap_of(p->frame), type, code, message, take_details, mwl_absent()));
}

static void interrupt(mwl_phase *p, bool ok, mwl_value take) {
    if (p->elapsed)
        set_instead(p, ok, take);
    else
        mwl__drop(mwl__heap_of(p->frame), take); /* there is nothing to interrupt */
}

void mwl_phase_interrupt(mwl_phase *p, mwl_value take_failure) {
    interrupt(p, false, take_failure);
}
void mwl_phase_interrupt_with(mwl_phase *p, mwl_value take_value) {
    interrupt(p, true, take_value);
}

void mwl_phase_substitute(mwl_phase *p, bool is_success, mwl_value take) {
    mwl__entry *e = p->entry;
    if (p->phase == MWL_ON_ENTRY)
        e->verdict = MWL_VERDICT_EMIT;
    else if (!is_success && !e->res.ok && mwl_is_absent(mwl__word_get(take, MWL_WORD_PREVIOUS)))
        take = mwl__failure_chain(mwl__heap_of(p->frame), take, e->res.v,
                                  p->frame->run->limits->chain_depth);
    mwl__entry_set_emit(p->frame, e, is_success, given(p, take));
    if (p->phase == MWL_ON_ENTRY || is_success || e->res.ok) return;
    e->emit.cleanup = e->res.cleanup; /* the failure in flight, in another form */
    e->emit.severed = e->res.severed;
}

/* spec: middleware-mechanics, the phase block: shaping comes after the action and sees a
 * transform's effect. So onEntry's `output`, whose default is middleware.input, reads the
 * transformed value there. */
void mwl_phase_transform(mwl_phase *p, mwl_value take_value) {
    take_value = given(p, take_value);
    if (p->phase == MWL_ON_ENTRY)
        mwl__replace(mwl__heap_of(p->frame), &p->entry->input, take_value);
    else
        mwl__replace(mwl__heap_of(p->frame), &p->entry->res.v, take_value);
}

void mwl_phase_reenter(mwl_phase *p, unsigned flags, int64_t delay_ns) {
    if (p->phase != MWL_ON_SUCCESS && p->phase != MWL_ON_FAILURE) return;
    p->entry->verdict = MWL_VERDICT_REENTER;
    p->entry->reenter = (uint8_t)flags;
    p->entry->delay_ns = delay_ns;
}

void mwl_phase_dispatch(mwl_phase *p) { p->dispatch = true; }

void mwl_phase_arm(mwl_phase *p, int64_t bound_mono_ns) {
    if (p->phase != MWL_ON_ENTRY) return;
    p->entry->armed = true;
    p->entry->bound_ns = bound_mono_ns;
}

/* spec: middleware-providers, Timeout: the deadline is establishment plus duration, also where that
 * is in the past. */
void mwl_phase_arm_for(mwl_phase *p, int64_t ns) {
    if (p->phase != MWL_ON_ENTRY) return;
    mwl_instant now;
    mwl_phase_now(p, &now);
    mwl_phase_arm(p, mwl__clock_add(now.mono_ns, ns));
    const char *name = provider_of(p->frame, p->entry)->middleware.deadline;
    mwl_value deadline = mwl_int(mwl__clock_add(now.wall_ns, ns));
    if (!name) return;
    if (mwl_is_absent(p->entry->contributed))
        p->entry->contributed = deadline; /* alone; its text is made when it is read */
    else
        mwl_phase_contribute(p, name, mwl_timestamp_text(mwl__heap_of(p->frame), deadline.as.i));
}
