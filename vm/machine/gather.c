/* gather.c: fan-out and fan-in.
 *
 * Owns: the dispatch slots, the completion policy, deferred arms, step.results. A dispatch's call
 * fields are evaluated in the frame when it starts (GATHER_RUN leads to them, DISPATCH leads back).
 * The targets run concurrently. Arms run after all have resolved, in dispatch order.
 *
 *   WAITING -> ACTIVE -> SETTLED            (its arm runs once)
 *      |          \--> CANCELLED            (interrupted: no arm)
 *      \--> SKIPPED                         (never started: nothing evaluates)
 *
 * Records that no arm reads are not kept, so memory is bounded by the slots and what arms need. */
#include "vm/machine/gather.h"

#include "vm/machine/call.h"
#include "vm/machine/clock.h"
#include "vm/machine/execution.h"
#include "vm/machine/frame.h"
#include "vm/machine/raise.h"
#include "vm/machine/step.h"
#include "vm/machine/trace.h"
#include "vm/machine/unwind.h"

#include <math.h>
#include <stdio.h>

#define FAILURES_LISTED 1000u /* in details.failures; failureCount counts all */

static const mwl__gather_rec *rec_of(const mwl__frame *f) {
    return &mwl__tables(f)->gathers[mwl__gather_of(f)->ix];
}

static uint32_t call_ix(const mwl__frame *f, uint32_t slot) {
    const mwl__gather_rec *g = rec_of(f);
    uint32_t nth = g->flags & MWL_GATHER_OVER ? 0 : slot;
    return mwl__program_of(f)->keys[g->first_call + nth];
}

static size_t size_of(uint32_t n) { return sizeof(mwl__gather) + (size_t)n * sizeof(mwl__slot); }

void mwl__gather_free(mwl_heap *h, mwl__gather *g) {
    for (uint32_t i = 0; i < g->next; i++) {
        mwl__slot *s = &g->slots[i];
        mwl__drop(h, s->res.v);
        if (s->record) mwl__call_state_free(h, s->record);
    }
    mwl__drop(h, g->over);
    mwl__drop(h, g->raised);
    mwl__drop(h, g->results);
    mwl__heap_give(h, g, size_of(g->n));
}

bool mwl__gather_make(mwl__frame *f, uint32_t ix, uint32_t n) {
    mwl_heap *h = mwl__heap_of(f);
    mwl__gather *g = mwl__frame_extra(f) ? mwl__heap_take(h, size_of(n)) : NULL;
    if (!g) return false;
    memset(g, 0, sizeof *g); /* a slot is made when its dispatch starts or is skipped */
    g->ix = ix;
    g->n = n;
    g->need = n;
    if (mwl__gather_of(f)) mwl__gather_free(h, mwl__gather_of(f));
    f->extra->gather = g;
    return true;
}

/* ---- enumeration ----------------------------------------------------------------------------- */

/* spec: step-actions, the dispatch model: the fan-out limit is the platform's (mwl_limits.fan_out),
 * not the language's. */
static const char too_many[] = "more dispatches than this platform allows";

static mwl_value too_many_details(mwl__frame *f, size_t n) {
    mwl_heap *h = mwl__heap_of(f);
    mwl_value d = mwl_object_set(h, mwl_object(h, 2), "dispatchCount", 13, mwl_number((double)n));
    return mwl_object_set(h, d, "limit", 5, mwl_number((double)f->run->limits->fan_out));
}

/* More calls are written than the limit allows: nothing starts, and the Gather ends with that
 * failure. */
static uint32_t refuse_calls(mwl__frame *f, uint32_t ix, uint32_t n) {
    mwl_value d = too_many_details(f, n);
    if (mwl_is_absent(d) || !mwl__gather_make(f, ix, 0)) {
        mwl__drop(mwl__heap_of(f), d);
        return MWL_PC_NOMEM;
    }
    mwl__gather *g = mwl__gather_of(f);
    g->faulted = g->enumerated = g->determined = true;
    g->raised = mwl__failure_new(mwl__heap_of(f), MWL_FAILURE_FAN_OUT_LIMIT, too_many, d);
    return mwl_is_absent(g->raised) ? MWL_PC_NOMEM : rec_of(f)->arms_pc;
}

uint32_t mwl__gather_begin(mwl__frame *f, uint32_t ix, uint32_t next_pc) {
    const mwl__gather_rec *g = &mwl__tables(f)->gathers[ix];
    uint32_t n = g->flags & MWL_GATHER_OVER ? 0 : g->n_calls;
    if (n > f->run->limits->fan_out) return refuse_calls(f, ix, n);
    if (!mwl__gather_make(f, ix, n)) return MWL_PC_NOMEM;
    mwl__gather_of(f)->enumerated = !(g->flags & MWL_GATHER_OVER);
    return next_pc;
}

uint32_t mwl__gather_over(mwl__frame *f, mwl_value v, uint32_t next_pc) {
    if (mwl_value_kind(v) != MWL_KIND_ARRAY)
        return mwl__raise_parameter(f, "/over", v, "`over` must be an array");
    size_t n = mwl_count(v);
    if (n > f->run->limits->fan_out) {
        mwl_value d = too_many_details(f, n);
        return mwl_is_absent(d) ? MWL_PC_NOMEM
                                : mwl__raise(f, MWL_FAILURE_FAN_OUT_LIMIT, too_many, d);
    }
    mwl_value over = mwl__keep(v);
    if (!mwl__gather_make(f, mwl__gather_of(f)->ix, (uint32_t)n)) {
        mwl__drop(mwl__heap_of(f), over);
        return MWL_PC_NOMEM;
    }
    mwl__gather_of(f)->over = over;
    mwl__gather_of(f)->enumerated = true;
    return next_pc;
}

/* spec: step-actions, completion, `successes`: a whole number; negative counts as 0. */
uint32_t mwl__gather_need(mwl__frame *f, mwl_value v, uint32_t next_pc) {
    double d = mwl_value_kind(v) == MWL_KIND_NUMBER ? mwl_as_number(v) : NAN;
    if (!(floor(d) == d))
        return mwl__raise_parameter(f, "/completion/successes", v,
                                    "`successes` must be an integer");
    mwl__gather_of(f)->need = d > 0 ? d : 0;
    return next_pc;
}

/* ---- running --------------------------------------------------------------------------------- */

static void skip_rest(mwl__frame *f) {
    mwl__gather *g = mwl__gather_of(f);
    for (; g->next < g->n; g->next++) {
        g->slots[g->next] =
            (mwl__slot){.state = MWL_SLOT_SKIPPED}; /* its failure is made when it is read */
    }
}

/* spec: step-actions, completion: determined when `successes` is reached or out of reach. */
static inline bool is_decided(const mwl__gather *g, uint64_t need) {
    return g->n_ok >= need || g->n - g->n_bad < need;
}

/* `need` as a whole number; more than there can be dispatches is all the same. */
static uint64_t whole_need(const mwl__gather *g) {
    if (!(g->need > 0)) return 0;
    return g->need <= (double)UINT32_MAX ? (uint64_t)g->need : UINT64_C(1) << 32;
}

/* The outcome is determined. False: out of memory.
 * spec: step-actions, completion, `wait` false: active dispatches are cancelled, the rest skipped.
 */
static bool determine(mwl__frame *f) {
    mwl__gather *g = mwl__gather_of(f);
    g->determined = true;
    if (!(rec_of(f)->flags & MWL_GATHER_NO_WAIT)) return true;
    skip_rest(f);
    if (g->active == 0) return true;
    mwl_value cancel = mwl__failure_new(mwl__heap_of(f), MWL_FAILURE_GATHER_CANCELLED,
                                        "the Gather no longer needed this dispatch", mwl_absent());
    if (mwl_is_absent(cancel)) return false;
    g->cancelling = true;
    mwl__gather_interrupt(f, cancel, mwl__clock_mono(mwl__vm_of(f)));
    mwl__drop(mwl__heap_of(f), cancel);
    return true;
}

/* Leads to the next dispatch's call fields. */
static uint32_t start_next(mwl__frame *f) {
    mwl__gather *g = mwl__gather_of(f);
    if (!f->record) {
        f->record = mwl__call_state_new(mwl__heap_of(f));
        if (!f->record) return MWL_PC_NOMEM;
    }
    uint32_t i = g->next++;
    uint32_t c = call_ix(f, i);
    f->record->index = i;
    g->active++;
    g->slots[i] = (mwl__slot){.state = MWL_SLOT_ACTIVE};
    mwl_value in = mwl_is_absent(g->over) ? f->step_input : mwl_array_at(g->over, i);
    mwl__replace(mwl__heap_of(f), &f->in_flight, mwl__keep(in));
    return mwl__tables(f)->calls[c].fields_pc;
}

/* A dispatch whose call has no code of its own, done at once. False: out of memory. */
static inline bool start_directly(mwl__frame *f, mwl_vm *vm, mwl__gather *g,
                                  const mwl__call_link *c) {
    uint32_t i = g->next++;
    mwl__slot *slot = &g->slots[i];
    mwl_value in = mwl_is_absent(g->over) ? f->step_input : mwl__as_list(g->over)->item[i];
    *slot = (mwl__slot){.state = MWL_SLOT_ACTIVE};
    g->active++;
    const mwl__provider *p = c->provider;
    if (!p->now || !mwl__execution_ask(&vm->heap, p, in, c->args, &slot->res)) {
        const mwl_value input = mwl__keep(in);
        slot->as.execution = mwl__execution_run(f, vm, slot, c, &input, &slot->res);
    }
    if (slot->as.execution) return true;
    if (mwl_is_absent(slot->res.v)) return false;
    slot->state = MWL_SLOT_SETTLED;
    g->active--;
    if (slot->res.ok)
        g->n_ok++;
    else
        g->n_bad++;
    return true;
}

/* Starts as many dispatches as may start now, within the frame's turn.
 * spec: step-actions, the dispatch model: at most `concurrency` of them are active. */
uint32_t mwl__gather_run(mwl__frame *f, uint32_t ix) {
    const mwl__link *link = f->run->link;
    mwl_vm *vm = link->vm;
    mwl__gather *g = mwl__gather_of(f);
    const mwl__gather_rec *rec = &link->program->tables.gathers[ix];
    const uint32_t *calls = &link->program->keys[rec->first_call];
    const bool one = (rec->flags & MWL_GATHER_OVER) != 0;
    const uint64_t need = whole_need(g);
    for (;;) {
        if (!g->determined && is_decided(g, need) && !determine(f)) return MWL_PC_NOMEM;
        if (g->next >= g->n || g->active >= rec->concurrency) break;
        const mwl__call_link *call = &link->calls[calls[one ? 0 : g->next]];
        if (call->with_ok != MWL_DISPATCH_DIRECT || mwl__tracing(vm)) return start_next(f);
        if (!start_directly(f, vm, g, call)) return MWL_PC_NOMEM;
        if (--vm->exec.slice < 0) return rec->run_pc;
    }
    if (g->active > 0) return mwl__frame_park(f, vm, MWL_FRAME_WAIT_GATHER, rec->run_pc, MWL_NEVER);
    return rec->arms_pc;
}

/* The record of a dispatch whose arm will read it leaves the frame with it; else it is used again.
 */
static mwl__call_state *take_record(mwl__frame *f, const mwl__call_rec *c) {
    mwl__call_state *r = f->record;
    if (!(c->flags & MWL_CALL_HAS_ARMS)) return NULL;
    f->record = NULL;
    mwl__gather_of(f)->records = true;
    return r;
}

static uint32_t run_provider(mwl__frame *f, mwl__slot *slot, const mwl__call_rec *c,
                             mwl_value input, mwl_value args) {
    mwl__call_state *r = f->record;
    mwl_call *execution = mwl__execution_start(f, mwl__vm_of(f), slot,
                                               f->run->link->providers[c->import], input, args);
    if (!execution) return MWL_PC_NOMEM;
    if (!execution->settled) {
        slot->as.execution = execution;
        slot->record = take_record(f, c);
        return rec_of(f)->run_pc;
    }
    if (r && (c->flags & MWL_CALL_KEEPS_WINDOW)) {
        mwl__replace(mwl__heap_of(f), &r->metadata, execution->metadata);
        execution->metadata = mwl_absent();
    }
    mwl__result res = mwl__execution_take(execution);
    if (mwl_is_absent(res.v)) return MWL_PC_NOMEM;
    slot->record = take_record(f, c);
    mwl__gather_resolved(f, slot, MWL_SLOT_SETTLED, res);
    return rec_of(f)->run_pc;
}

static uint32_t run_flow(mwl__frame *f, mwl__slot *slot, const mwl__call_rec *c, mwl_value input,
                         mwl_value args) {
    if (f->depth + 1u >= f->run->limits->frame_depth) {
        mwl__drop(mwl__heap_of(f), input);
        mwl__drop(mwl__heap_of(f), args);
        mwl__heap_of(f)->why = MWL_E_DEPTH;
        return MWL_PC_NOMEM;
    }
    mwl__frame *child = mwl__frame_new(f->run, f, slot, c->flow, input, args);
    if (!child) return MWL_PC_NOMEM;
    slot->record = take_record(f, c);
    slot->as.frame = child;
    slot->is_frame = true;
    mwl__frame_ready(child, mwl__vm_of(child));
    return rec_of(f)->run_pc;
}

/* The provider's arguments were refused: its arm runs, as that of a call (call.c). */
static uint32_t refused(mwl__frame *f, mwl__slot *slot, const mwl__call_rec *c) {
    mwl__result res = {.v = mwl__call_refused(f)};
    if (mwl_is_absent(res.v)) return MWL_PC_NOMEM;
    slot->record = take_record(f, c);
    if (!slot->record) mwl__call_state_clear(mwl__heap_of(f), f->record);
    mwl__gather_resolved(f, slot, MWL_SLOT_SETTLED, res);
    return rec_of(f)->run_pc;
}

uint32_t mwl__gather_dispatch(mwl__frame *f, uint32_t ix) {
    const mwl__call_rec *c = &mwl__tables(f)->calls[ix];
    mwl__call_state *r = f->record;
    mwl__slot *slot = &mwl__gather_of(f)->slots[r->index];
    mwl_value args;
    if (c->flags & MWL_NEEDS_DISPATCHED) r->dispatched_ns = mwl__clock_wall(mwl__vm_of(f));
    uint32_t pc = mwl__call_arguments(f, ix, &args, 0);
    if (pc == MWL_PC_FAULT) return refused(f, slot, c);
    if (pc != 0) return pc;
    if (mwl__tracing(mwl__vm_of(f)))
        mwl__trace(f, MWL_TRACE_CALL_DISPATCHED,
                   c->import != MWL_NONE ? f->run->link->providers[c->import]->uri : NULL, r->index,
                   args);
    mwl_value input = mwl__keep(mwl_is_absent(r->target_input) ? r->input : r->target_input);
    if (!(c->flags & MWL_CALL_HAS_ARMS)) { /* nothing reads the record again */
        int64_t index = r->index;
        mwl__call_state_clear(mwl__heap_of(f), r);
        r->index = index;
    }
    return c->import != MWL_NONE ? run_provider(f, slot, c, input, args)
                                 : run_flow(f, slot, c, input, args);
}

bool mwl__gather_starting(const mwl__frame *f, uint32_t ix) {
    const mwl__gather *g = mwl__gather_of(f);
    int64_t at = f->record ? f->record->index : -1;
    if (!g || at < 0 || at >= g->next || call_ix(f, (uint32_t)at) != ix) return false;
    const mwl__slot *s = &g->slots[at];
    return s->state == MWL_SLOT_ACTIVE && !s->is_frame && !s->as.execution;
}

bool mwl__gather_in_arm(const mwl__frame *f) {
    const mwl__gather *g = mwl__gather_of(f);
    return g && g->arming && g->arm_at < g->next && g->slots[g->arm_at].state == MWL_SLOT_SETTLED &&
           !mwl_is_absent(f->res.v);
}

uint32_t mwl__gather_field_fault(mwl__frame *f) {
    mwl__slot *slot = &mwl__gather_of(f)->slots[f->record->index];
    mwl__result res = {.v = mwl__raised_take(f)};
    slot->no_arm = true;
    mwl__call_state_clear(mwl__heap_of(f), f->record);
    mwl__gather_resolved(f, slot, MWL_SLOT_SETTLED, res);
    return rec_of(f)->run_pc;
}

void mwl__gather_resolved(mwl__frame *f, mwl__slot *slot, mwl__slot_state state, mwl__result take) {
    mwl__gather *g = mwl__gather_of(f);
    uint32_t i = (uint32_t)(slot - g->slots);
    slot->state = (uint8_t)state;
    slot->is_frame = false;
    slot->res = take;
    slot->as.execution = NULL;
    if (slot->record && state != MWL_SLOT_SETTLED) {
        mwl__call_state_free(mwl__heap_of(f), slot->record);
        slot->record = NULL;
    } else if (slot->record) {
        mwl__call_state_accepted(f, slot->record, mwl__tables(f)->calls[call_ix(f, i)].flags);
    }
    g->active--;
    if (take.ok)
        g->n_ok++;
    else
        g->n_bad++;
    if (mwl__tracing(mwl__vm_of(f))) mwl__trace_result(f, MWL_TRACE_CALL_ACCEPTED, i, take);
    if (f->extra && f->extra->awaiting)
        mwl__unwind_resolved(f);
    else if (f->state == MWL_FRAME_WAIT_GATHER)
        mwl__frame_ready(f, mwl__vm_of(f));
}

void mwl__gather_interrupt(mwl__frame *f, mwl_value cancel, int64_t at_ns) {
    mwl__gather *g = mwl__gather_of(f);
    g->interrupted = true;
    for (uint32_t i = 0; i < g->next; i++) {
        mwl__slot *s = &g->slots[i];
        s->superseded = false; /* what resolved before is data in its slot */
        if (s->state != MWL_SLOT_ACTIVE) continue;
        if (s->is_frame)
            mwl__unwind_frame(s->as.frame, cancel, at_ns);
        else if (s->as.execution)
            mwl__execution_cancel(s->as.execution, cancel);
        else /* its fields were being evaluated */
            mwl__gather_resolved(f, s, MWL_SLOT_CANCELLED, (mwl__result){.v = mwl__keep(cancel)});
    }
}

mwl_value mwl__gather_superseding(mwl__frame *f) {
    mwl__gather *g = mwl__gather_of(f);
    mwl_value first = mwl_absent();
    if (!g || !g->interrupted) return first;
    g->interrupted = false;
    for (uint32_t i = 0; i < g->next; i++) {
        if (!g->slots[i].superseded) continue;
        if (mwl_is_absent(first))
            first = g->slots[i].res.v;
        else /* DECISIONS.md 7 */
            mwl__trace_hidden(f, i, g->slots[i].res.v);
    }
    return first;
}

/* ---- the arms -------------------------------------------------------------------------------- */

/* spec: step-actions, the arms at fan-out completion: in dispatch order, once for each dispatch
 * that settled; none for one that was cancelled or skipped. */
uint32_t mwl__gather_arms(mwl__frame *f) {
    mwl__gather *g = mwl__gather_of(f);
    g->arming = true;
    if (!g->records) g->arm_at = g->next;
    for (; g->arm_at < g->next; g->arm_at++) {
        mwl__slot *s = &g->slots[g->arm_at];
        if (s->state != MWL_SLOT_SETTLED || s->no_arm || !s->record) continue;
        const mwl__call_rec *c = &mwl__tables(f)->calls[call_ix(f, g->arm_at)];
        if (f->record) mwl__call_state_free(mwl__heap_of(f), f->record);
        f->record = s->record;
        s->record = NULL;
        f->record->res.ok = s->res.ok;
        f->record->res.cleanup = false; /* in its slot it is data */
        mwl__replace(mwl__heap_of(f), &f->record->res.v, mwl__keep(s->res.v));
        mwl__frame_set_res(f, s->res.ok, mwl__keep(s->res.v));
        f->construct = MWL_IN_CALL;
        return s->res.ok ? c->success_pc : c->failure_pc;
    }
    return rec_of(f)->end_pc;
}

uint32_t mwl__gather_arm_end(mwl__frame *f) {
    mwl__gather *g = mwl__gather_of(f);
    mwl__slot *s = &g->slots[g->arm_at++];
    mwl__replace(mwl__heap_of(f), &s->res.v, f->res.v);
    s->res.ok = f->res.ok;
    f->res.v = mwl_absent();
    mwl__call_state_clear(mwl__heap_of(f), f->record);
    return rec_of(f)->arms_pc;
}

/* ---- the end --------------------------------------------------------------------------------- */

uint32_t mwl__gather_fault(mwl__frame *f) {
    mwl__gather *g = mwl__gather_of(f);
    g->faulted = g->enumerated = true;
    g->determined = true;
    g->raised = mwl__raised_take(f);
    skip_rest(f);
    return rec_of(f)->arms_pc;
}

/* The Result that a slot holds, given; a skipped dispatch's is made here. */
static mwl_value slot_result(mwl__frame *f, const mwl__slot *s) {
    if (s->state == MWL_SLOT_SKIPPED)
        return mwl__failure_new(mwl__heap_of(f), MWL_FAILURE_GATHER_SKIPPED,
                                "the dispatch was never started", mwl_absent());
    return mwl__result_value(mwl__heap_of(f), &s->res);
}

static bool slot_ok(const mwl__slot *s) { return s->state == MWL_SLOT_SETTLED && s->res.ok; }

static mwl_value unmet(mwl__frame *f, uint32_t n_failed) {
    mwl_heap *h = mwl__heap_of(f);
    const mwl__gather *g = mwl__gather_of(f);
    mwl_value list = mwl_array(h, n_failed < FAILURES_LISTED ? n_failed : FAILURES_LISTED);
    for (uint32_t i = 0; i < g->next && mwl_count(list) < FAILURES_LISTED; i++) {
        if (slot_ok(&g->slots[i])) continue;
        mwl_value o = mwl_object(h, 2);
        o = mwl_object_set(h, o, "index", 5, mwl_number((double)i));
        o = mwl_object_set(h, o, "result", 6, slot_result(f, &g->slots[i]));
        list = mwl_array_push(h, list, o);
    }
    mwl_value d = mwl_object_set(h, mwl_object(h, 2), "failures", 8, list);
    d = mwl_object_set(h, d, "failureCount", 12, mwl_number((double)n_failed));
    char message[96];
    snprintf(message, sizeof message, "%u of %u dispatches succeeded, %.0f were needed",
             g->n - n_failed, g->n, g->need);
    return mwl_is_absent(d) ? d : mwl__failure_new(h, MWL_FAILURE_GATHER_UNMET, message, d);
}

/* The values of the successes, in dispatch order. Absent, with heap.why set: out of memory, or a
 * limit. */
static mwl_value successes(mwl_heap *h, const mwl__gather *g, uint32_t n_ok) {
    mwl_value values = mwl__list_new(h, n_ok);
    if (mwl_is_absent(values) || n_ok == 0) return values;
    mwl__list *l = mwl__as_list(values);
    for (const mwl__slot *s = g->slots, *end = s + g->next; s != end; s++) {
        if (!slot_ok(s)) continue;
        const mwl_value *v = &s->res.v;
        mwl_status st = mwl__value_weigh_fast(v, l)
                            ? MWL_OK
                            : mwl__value_weigh(*v, &l->depth, &l->odd, &l->weight);
        if (st < 0) {
            mwl__drop(h, values);
            return mwl__heap_fail(h, st);
        }
        l->item[l->used++] = mwl__keep(*v);
    }
    values.aux = n_ok;
    return values;
}

/* spec: step-actions, completion: the final Results decide, after the arms have run. */
uint32_t mwl__gather_end(mwl__frame *f, uint32_t next_pc) {
    mwl_heap *h = mwl__heap_of(f);
    mwl__gather *g = mwl__gather_of(f);
    uint32_t n_ok = 0;
    for (uint32_t i = 0; i < g->next; i++) n_ok += slot_ok(&g->slots[i]);
    if (f->record) f->record->index = -1; /* the next call is not a dispatch */
    mwl__step_exit(f);
    if (g->faulted || n_ok < g->need) {
        mwl_value failure = g->faulted ? mwl__keep(g->raised) : unmet(f, g->n - n_ok);
        if (mwl_is_absent(failure)) return MWL_PC_NOMEM;
        mwl__frame_raise(f, failure);
        return mwl__step_failed(f);
    }
    mwl__frame_set_res(f, false, mwl_absent());
    mwl_value values = successes(h, g, n_ok);
    mwl__replace(h, &f->in_flight, values);
    return mwl_is_absent(values) ? MWL_PC_NOMEM : next_pc;
}

mwl_value mwl__gather_results(mwl__frame *f) {
    mwl_heap *h = mwl__heap_of(f);
    mwl__gather *g = mwl__gather_of(f);
    if (!g || !f->step_done) return mwl_absent();
    if (!mwl_is_absent(g->results)) return g->results;
    mwl_value list = mwl_array(h, g->next);
    for (uint32_t i = 0; i < g->next; i++)
        list = mwl_array_push(h, list, slot_result(f, &g->slots[i]));
    return g->results = list;
}
