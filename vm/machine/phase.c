/* phase.c: the middleware contract: one callback at one phase of one entry, and its verdict.
 *
 * Owns: mwl_phase and what its functions may do when. Refuses to know: any middleware. A phase
 * object lives on the C stack for the time of the callback; a middleware keeps nothing but its
 * entry state. */
#include "vm/machine/phase.h"

#include "vm/base/random.h"
#include "vm/base/usage.h"
#include "vm/machine/account.h"
#include "vm/machine/clock.h"
#include "vm/machine/entry.h"
#include "vm/machine/frame.h"
#include "vm/machine/host_value.h"
#include "vm/machine/raise.h"
#include "vm/machine/token.h"
#include "vm/machine/where.h"
#include "vm/value/words.h"

#include <stdarg.h>
#include <stdio.h>

struct mwl_phase {
    mwl__frame *frame;
    mwl__entry *entry;
    unsigned phase;
    mwl_value instead; /* the action's failure, or what `elapsed` emits; or absent */
    uint16_t may;      /* the verdicts that are allowed now; GIVEN after the first */
    bool said;         /* `instead`, or one of the next three, is set */
    bool dispatch;
    bool nomem; /* an absent value was given: its constructor was out of memory */
    bool spent; /* the fuel is used up, or a bound has elapsed */
    bool waits; /* the callback is called again after wait_ns */
    int64_t wait_ns;
    uint64_t looks; /* of mwl_phase_match, not charged yet */
};

/* ---- running --------------------------------------------------------------------------------- */

static uint32_t fail_phase(mwl__frame *f, unsigned phase, mwl_value take) {
    mwl__replace(mwl__heap_of(f), &mwl__vm_of(f)->raised, take);
    if (phase == MWL_ON_ENTRY) return mwl__entry_fault(f);
    return phase == MWL_ON_ALWAYS ? mwl__entry_always_fault(f) : mwl__entry_phase_fault(f);
}

static uint32_t dispatch_structural(mwl__frame *f, mwl__entry *e, unsigned phase,
                                    uint32_t next_pc) {
    const mwl__entry_rec *rec = e->link->rec;
    if (rec->struct_pc[phase] == MWL_NONE)
        return mwl__raise_parameter(f, "/required", mwl__vm_of(f)->empty,
                                    "`with` has no `call` to dispatch");
    e->resume_pc = next_pc;
    e->state |= MWL_ENTRY_STRUCTURAL;
    mwl__replace(mwl__heap_of(f), &f->in_flight, mwl__keep(e->input));
    return rec->struct_pc[phase];
}

/* The frame waits at the ACTION instruction, which then runs once more. */
static uint32_t wait_at_entry(mwl__frame *f, mwl__entry *e, int64_t ns, uint32_t next_pc) {
    int64_t due = ns == MWL_NEVER ? MWL_NEVER
                                  : mwl__clock_add(mwl__clock_mono(mwl__vm_of(f)), ns > 0 ? ns : 0);
    e->waits = true;
    return mwl__frame_park(f, mwl__vm_of(f), MWL_FRAME_WAIT_TIME, next_pc - 1, due);
}

/* The callback failed, dispatched its call, waits, or was out of memory. */
MWL__OUTLINE static uint32_t apply_verdict(const mwl_phase *ph, uint32_t next_pc) {
    mwl__frame *f = ph->frame;
    mwl__entry *e = ph->entry;
    if (ph->nomem) {
        mwl__drop(mwl__heap_of(f), ph->instead);
        return MWL_PC_NOMEM;
    }
    if (ph->spent) {
        mwl__drop(mwl__heap_of(f), ph->instead);
        return MWL_PC_FUEL;
    }
    if (!mwl_is_absent(ph->instead)) return fail_phase(f, ph->phase, ph->instead);
    if (ph->waits) return wait_at_entry(f, e, ph->wait_ns, next_pc);
    return dispatch_structural(f, e, ph->phase, next_pc);
}

uint32_t mwl__phase_act(mwl__frame *f, mwl__entry *e, const mwl__provider *p, unsigned phase,
                        uint32_t next_pc) {
    mwl_phase ph = {
        .frame = f, .entry = e, .phase = phase, .instead = mwl_absent(), .may = p->verdicts[phase]};
    e->waits = false;
    p->act[phase](&ph, p->user);
    if (!p->trusted) mwl__clock_stale(mwl__vm_of(ph.frame));
    return ph.said ? apply_verdict(&ph, next_pc) : next_pc;
}

mwl_value mwl__phase_elapsed(mwl__frame *f, mwl__entry *e) {
    const mwl__provider *p = e->provider;
    mwl_phase ph = {.frame = f,
                    .entry = e,
                    .phase = MWL_ON_ENTRY,
                    .instead = mwl_absent(),
                    .may = p->verdicts[4]};
    if (p->middleware.elapsed) p->middleware.elapsed(&ph, p->user);
    if (ph.nomem)
        mwl__replace(mwl__heap_of(f), &ph.instead, mwl_absent());
    else if (mwl_is_absent(ph.instead)) /* the middleware sets bounds and has no explanation */
        ph.instead = mwl_failure(mwl__heap_of(f), "timeout", "Mwlvm.BoundElapsed",
                                 "a bound elapsed", mwl_absent(), mwl_absent());
    return ph.instead;
}

void mwl__phase_restore(mwl__frame *f, mwl__entry *e) {
    const mwl__provider *p = e->provider;
    mwl_phase ph = {.frame = f, .entry = e, .phase = MWL_ON_ENTRY, .instead = mwl_absent()};
    if (p->middleware.restore && mwl__entry_established(e)) p->middleware.restore(&ph, p->user);
    mwl__drop(mwl__heap_of(f), ph.instead); /* it gives no verdict */
}

/* ---- what a middleware reads ----------------------------------------------------------------- */

mwl_heap *mwl_phase_heap(mwl_phase *p) { return mwl__heap_of(p->frame); }
mwl_value mwl_phase_arguments(const mwl_phase *p) {
    return mwl_is_absent(p->entry->args) ? mwl__vm_of(p->frame)->empty : p->entry->args;
}
mwl_value mwl_phase_prepared(const mwl_phase *p) {
    const mwl__entry_link *l = p->entry->link;
    return l->provider == p->entry->provider ? mwl__borrow(l->prepared) : mwl_absent();
}
mwl_run *mwl_phase_run(const mwl_phase *p) { return p->frame->run; }
mwl_value mwl_phase_input(const mwl_phase *p) { return p->entry->input; }
bool mwl_phase_succeeded(const mwl_phase *p) { return p->entry->res.ok; }
mwl_value mwl_phase_result_value(const mwl_phase *p) { return p->entry->res.v; }
size_t mwl_phase_inside(const mwl_phase *p, char *out, size_t cap) {
    return mwl__where_inside(p->frame, p->entry, out, cap);
}
uint64_t mwl_phase_runs(const mwl_phase *p) { return p->entry->runs; }
void mwl_phase_now(const mwl_phase *p, mwl_instant *out) { mwl_vm_now(mwl__vm_of(p->frame), out); }
mwl_status mwl_phase_charge(mwl_phase *p, uint64_t n) {
    mwl_status st = mwl__account_charge(p->frame, n);
    if (st < 0) p->spent = p->said = true;
    return st;
}
mwl_status mwl_phase_match(mwl_phase *p, mwl_value matcher) {
    const mwl_value failure = p->entry->res.v;
    const bool hit = mwl_value_kind(matcher) == MWL_KIND_BYTES
                         ? mwl__matcher_matches(matcher, failure, &p->looks)
                         : mwl__failure_matches(matcher, failure, &p->looks);
    if (p->looks > MWL__FREE_LOOKS) {
        const uint64_t n = p->looks;
        p->looks = 0;
        const mwl_status st = mwl_phase_charge(p, n);
        if (st < 0) return st;
    }
    return hit ? MWL_OK : MWL_E_NOT_FOUND;
}
double mwl_phase_random(mwl_phase *p) { return mwl__random_unit(&p->frame->run->rng); }
mwl_value mwl_phase_state(const mwl_phase *p) { return p->entry->own_state; }

/* The run ends after the callback has returned. */
static void no_memory(mwl_phase *p) { p->nomem = p->said = true; }

/* A middleware gave an absent value. If its constructor was out of memory, or at a limit, the run
 * ends after the callback has returned. Returns the constructor's reason. */
MWL__OUTLINE static mwl_status absent(mwl_phase *p) {
    mwl_status why = mwl__heap_of(p->frame)->why;
    if (mwl__host_value_wrong(why)) return why < 0 ? why : MWL_E_USAGE;
    no_memory(p);
    return why;
}

mwl_status mwl_phase_set_state(mwl_phase *p, mwl_value take) {
    if (mwl_is_absent(take)) return absent(p);
    mwl__frame_put(p->frame, &p->entry->own_state, take);
    return MWL_OK;
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
    if (st == MWL_E_NOMEM) no_memory(p);
    return st == MWL_OK && valid;
}

mwl_status mwl_phase_contribute(mwl_phase *p, const char *name, mwl_value take_value) {
    mwl_heap *h = mwl__heap_of(p->frame);
    const mwl__provider *owner = p->entry->provider;
    mwl_value data = mwl_absent();
    mwl__usage(name, "mwl_phase_contribute: name is NULL");
    if (mwl_is_absent(take_value)) return absent(p);
    mwl_status st = name ? mwl__host_value_data(h, "", take_value, &data, NULL, 0) : MWL_E_USAGE;
    mwl__drop(h, take_value);
    if (st == MWL_OK && !mwl__entry_write_deadline(p->frame, p->entry)) st = MWL_E_NOMEM;
    if (st < 0) {
        if (st != MWL_E_USAGE && st != MWL_E_NOT_JSON) no_memory(p);
        mwl__drop(h, data);
        return st;
    }
    mwl_value o = p->entry->contributed, before = mwl_absent();
    if (mwl_value_kind(o) != MWL_KIND_OBJECT) o = mwl_object(h, 1);
    if (!owner->trusted) before = mwl__keep(o);
    o = mwl_object_set(h, o, name, strlen(name), data);
    if (mwl_is_absent(o)) {
        st = absent(p);
        if (!p->nomem) o = mwl__keep(before); /* the name is not UTF-8 */
    } else if (!owner->trusted && !may_contribute(p, owner, name, o)) {
        st = p->nomem ? MWL_E_NOMEM : MWL_E_REJECTED;
        mwl__replace(h, &o, mwl__keep(before));
    }
    mwl__drop(h, before);
    p->entry->contributed = o;
    return st;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* The verdicts, as bits. */
enum {
    FAIL = 1,
    SUCCESS = 2, /* substitute a success */
    FAILURE = 4, /* substitute a failure */
    TRANSFORM = 8,
    RESTORE = 16, /* re-enter with MWL_REENTER_RESTORE */
    REENTER = 32,
    DISPATCH = 64,
    ARM = 128,
    INTERRUPT = 256,
    WAIT = 512,
    GIVEN = 1024
};

/* spec: middleware-mechanics, phases: no phase crosses the boundary between success and failure,
 * and onAlways cannot change what rises; the three kinds of actions. */
void mwl__phase_allow(mwl__provider *p, const uint8_t kinds[4]) {
    unsigned again = REENTER | (p->middleware.flags & MWL_MW_RESTORES ? RESTORE : 0u);
    const unsigned control[4] = {SUCCESS | FAILURE | ARM, SUCCESS | again, FAILURE | again, 0};
    for (unsigned i = 0; i < 4; i++) {
        unsigned may = FAIL | DISPATCH | (i == MWL_ON_ENTRY ? WAIT : 0u);
        if (kinds[i] == MWL_ACTION_CONTROL) may |= control[i];
        if (kinds[i] == MWL_ACTION_TRANSFORM && i != MWL_ON_ALWAYS) may |= TRANSFORM;
        p->verdicts[i] = (uint16_t)may;
    }
    p->carries = (p->middleware.flags & MWL_MW_CARRIES) && (p->verdicts[MWL_ON_SUCCESS] & REENTER);
    p->verdicts[4] = kinds[MWL_ON_ENTRY] == MWL_ACTION_CONTROL ? INTERRUPT : 0;
}

MWL__OUTLINE static mwl_status misuse(const mwl_phase *p, unsigned verdict) {
    bool restores = (verdict & RESTORE) && (p->may & REENTER);
    mwl__usage(!(p->may & GIVEN), "mwl_phase: a second verdict in one callback");
    mwl__usage(!restores, "mwl_phase_reenter: MWL_REENTER_RESTORE without MWL_MW_RESTORES");
    mwl__usage(false,
               "mwl_phase: a verdict that the phase, or the kind of action that the document "
               "declares for it, does not allow");
    return restores && !(p->may & GIVEN) ? MWL_E_USAGE : MWL_E_STATE;
}

/* The one verdict of the callback. Otherwise than MWL_OK: it is not allowed here, or is the second
 * one. */
static inline mwl_status decide(mwl_phase *p, unsigned verdict) {
    if ((p->may & verdict) != verdict) return misuse(p, verdict);
    p->may = GIVEN;
    return MWL_OK;
}

/* The phase fails, or `elapsed` explains itself, with this. */
static inline mwl_status fail_with(mwl_phase *p, const mwl_value *take, mwl_status st) {
    if (mwl_is_absent(*take)) return absent(p);
    mwl__move(&p->instead, take); /* it was absent: there is one verdict */
    p->said = true;
    return st;
}

/* A failure that rises may rise on with its own code. */
static bool same_code(const mwl_phase *p, mwl_value failure) {
    if (p->phase != MWL_ON_FAILURE) return false;
    mwl_value code = mwl__word_get(failure, MWL_WORD_CODE);
    return mwl_value_equal(mwl__word_get(p->entry->res.v, MWL_WORD_CODE), code);
}

/* Checks a Result that a verdict brings. If it is refused, the phase fails. */
static mwl_status accept(mwl_phase *p, bool ok, mwl_value *v) {
    mwl_heap *h = mwl__heap_of(p->frame);
    bool refused = false;
    const mwl__provider *from = p->entry->provider;
    *v = mwl__host_value_either(h, !ok && same_code(p, *v) ? NULL : from, ok, *v, &refused);
    if (mwl_is_absent(*v)) return absent(p);
    return refused ? fail_with(p, v, MWL_E_NOT_JSON) : MWL_OK;
}

static mwl_status refuse(mwl_phase *p, mwl_value take, mwl_status st) {
    mwl__drop(mwl__heap_of(p->frame), take);
    return st;
}

mwl_status mwl_phase_fail(mwl_phase *p, const char *type, const char *code, const char *message,
                          mwl_value take_details) {
    mwl__usage(code, "mwl_phase_fail: code is NULL");
    if (!code) return refuse(p, take_details, MWL_E_USAGE);
    mwl_status st = decide(p, FAIL);
    if (st < 0) return refuse(p, take_details, st);
    bool refused = false;
    mwl_value v = mwl__host_value_failure(mwl__heap_of(p->frame), p->entry->provider, type, code,
                                          message, take_details, &refused);
    return fail_with(p, &v, refused ? MWL_E_NOT_JSON : MWL_OK);
}

mwl_status mwl_phase_failf(mwl_phase *p, const char *code, const char *format, ...) {
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return mwl_phase_fail(p, NULL, code, text, mwl_absent());
}

mwl_status mwl_phase_interrupt(mwl_phase *p, mwl_value take_failure) {
    mwl_status st = decide(p, INTERRUPT);
    if (st < 0) return refuse(p, take_failure, st);
    st = accept(p, false, &take_failure);
    return st < 0 ? st : fail_with(p, &take_failure, MWL_OK);
}

mwl_status mwl_phase_substitute(mwl_phase *p, bool is_success, mwl_value take) {
    mwl__entry *e = p->entry;
    mwl_status st = decide(p, is_success ? SUCCESS : FAILURE);
    if (st < 0) return refuse(p, take, st);
    st = accept(p, is_success, &take);
    if (st < 0) return st;
    if (p->phase == MWL_ON_ENTRY)
        e->verdict = MWL_VERDICT_EMIT;
    else if (!is_success && mwl_is_absent(mwl__word_get(take, MWL_WORD_PREVIOUS)))
        take = mwl__failure_chain(mwl__heap_of(p->frame), take, e->res.v,
                                  p->frame->run->limits->chain_depth);
    if (mwl_is_absent(take)) st = absent(p);
    mwl__entry_set_emit(p->frame, e, is_success, take);
    if (p->phase == MWL_ON_ENTRY || is_success) return st;
    e->emit.rose = e->res.rose;
    e->emit.cleanup = e->res.cleanup; /* the failure in flight, in another form */
    e->emit.severed = e->res.severed;
    return st;
}

/* spec: middleware-mechanics, the phase block: shaping comes after the action and sees a
 * transform's effect. So onEntry's `output`, whose default is middleware.input, reads the
 * transformed value there. */
mwl_status mwl_phase_transform(mwl_phase *p, mwl_value take_value) {
    mwl_status st = decide(p, TRANSFORM);
    if (st < 0) return refuse(p, take_value, st);
    st = accept(p, p->phase != MWL_ON_FAILURE, &take_value);
    if (st < 0) return st;
    if (p->phase == MWL_ON_ENTRY)
        mwl__replace(mwl__heap_of(p->frame), &p->entry->input, take_value);
    else
        mwl__replace(mwl__heap_of(p->frame), &p->entry->res.v, take_value);
    return MWL_OK;
}

mwl_status mwl_phase_reenter(mwl_phase *p, unsigned flags, int64_t delay_ns) {
    bool known = flags <= (MWL_REENTER_CARRY | MWL_REENTER_RESTORE);
    mwl__usage(known, "mwl_phase_reenter: an unknown flag");
    if (!known) return MWL_E_USAGE;
    mwl_status st =
        decide(p, REENTER | (flags & MWL_REENTER_RESTORE) * (RESTORE / MWL_REENTER_RESTORE));
    if (st < 0) return st;
    p->entry->verdict = MWL_VERDICT_REENTER;
    p->entry->reenter = (uint8_t)flags;
    p->entry->delay_ns = delay_ns;
    return MWL_OK;
}

mwl_status mwl_phase_dispatch(mwl_phase *p) {
    mwl_status st = decide(p, DISPATCH);
    if (st == MWL_OK) p->dispatch = p->said = true;
    return st;
}

mwl_status mwl_phase_wait(mwl_phase *p, int64_t ns) {
    mwl_status st = decide(p, WAIT);
    if (st < 0) return st;
    p->waits = p->said = true;
    p->wait_ns = ns;
    return MWL_OK;
}

/* The frame is what waits; the entry is its innermost one. */
mwl_waiter *mwl_phase_waiter(mwl_phase *p) { return (mwl_waiter *)(void *)p->frame; }

void mwl_waiter_wake(mwl_waiter *waiter) {
    mwl__frame *f = (mwl__frame *)(void *)waiter;
    if (f->state == MWL_FRAME_WAIT_TIME && f->entries && f->entries->waits)
        mwl__frame_ready(f, mwl__vm_of(f));
}

mwl_status mwl_phase_token(mwl_phase *p, mwl_token **out) {
    bool may =
        p->phase == MWL_ON_ENTRY && (p->may & (WAIT | GIVEN)) && p->frame->entries == p->entry;
    mwl__usage(may, "mwl_phase_token: only at onEntry");
    return may ? mwl__token_for_entry(p->frame, out) : MWL_E_STATE;
}

mwl_status mwl_phase_answer(mwl_phase *p, mwl_value *out) {
    *out = mwl_absent();
    if (p->phase != MWL_ON_ENTRY || p->frame->entries != p->entry) return MWL_E_NOT_FOUND;
    return mwl__token_answer(p->frame, out);
}

mwl_status mwl_phase_arm(mwl_phase *p, int64_t bound_mono_ns) {
    mwl_status st = decide(p, ARM);
    if (st < 0) return st;
    p->entry->armed = true;
    p->entry->bound_ns = bound_mono_ns;
    return MWL_OK;
}

/* A deadline beside what is contributed already. */
MWL__OUTLINE static mwl_status contribute_deadline(mwl_phase *p, int64_t wall_ns) {
    return mwl_phase_contribute(p, p->entry->provider->middleware.deadline,
                                mwl_timestamp_text(mwl__heap_of(p->frame), wall_ns));
}

/* spec: middleware-providers, Timeout: the deadline is establishment plus duration, also where that
 * is in the past. */
mwl_status mwl_phase_arm_for(mwl_phase *p, int64_t ns) {
    mwl_vm *vm = mwl__vm_of(p->frame);
    mwl__entry *e = p->entry;
    mwl_status st = mwl_phase_arm(p, mwl__clock_add(mwl__clock_mono(vm), ns));
    if (st < 0 || !e->provider->middleware.deadline) return st;
    const int64_t deadline_ns = mwl__clock_add(vm->now.wall_ns, ns);
    if (!mwl_is_absent(e->contributed)) return contribute_deadline(p, deadline_ns);
    e->contributed = mwl_int(deadline_ns); /* alone; its text is made when it is read */
    return MWL_OK;
}
