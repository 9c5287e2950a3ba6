/* context.c: what the binding roots (vars, step, call, middleware ...) contain at this moment.
 *
 * Owns: the members of each root and when they are there. Values that a record holds are lent (the
 * caller's register borrows); metadata records, Results as objects and whole roots are built when
 * they are read, so what is not read costs nothing. Absent: the member does not exist now.
 *
 * spec: execution-context. */
#include "vm/machine/context.h"

#include "vm/machine/entry.h"
#include "vm/machine/gather.h"
#include "vm/machine/run.h"
#include "vm/machine/clock.h"
#include "vm/machine/unwind.h"

#include <stdio.h>

static mwl_value put(mwl_heap *h, mwl_value o, const char *key, mwl_value take) {
    return mwl_is_absent(take) ? o : mwl__map_put(h, o, mwl__key(h, key, strlen(key)), take);
}

static mwl_value text(mwl_heap *h, const char *s) { return mwl_string(h, s, strlen(s)); }

static mwl_value stamp(mwl_heap *h, int64_t wall_ns) { return mwl_timestamp_text(h, wall_ns); }

static mwl_value lent(mwl_value v) { return mwl__borrow(v); }

/* Returns the value of a success, lent; absent for a failure or if there is no Result yet. */
static mwl_value result_value(const mwl__result *r) { return r->ok ? lent(r->v) : mwl_absent(); }

static mwl_value result_whole(mwl_heap *h, const mwl__result *r) {
    return mwl_is_absent(r->v) ? mwl_absent() : mwl__result_value(h, r);
}

/* ---- execution and frame --------------------------------------------------------------------- */

static mwl_value frame_entered(mwl_heap *h, const mwl__frame *f) {
    const mwl__times *t = mwl__times_of(f);
    return t ? stamp(h, t->entered_ns) : mwl_absent();
}

static mwl_value execution_whole(mwl_heap *h, mwl_run *run) {
    mwl_value o = put(h, mwl_object(h, 3), "id", mwl__keep(mwl__run_id(run)));
    mwl_value meta = put(h, mwl_object(h, 1), "enteredAt", frame_entered(h, run->root));
    o = put(h, o, "metadata", meta);
    return put(h, o, "platform", mwl_object(h, 0));
}

static mwl_value frame_whole(mwl_heap *h, const mwl__frame *f) {
    mwl_value meta = put(h, mwl_object(h, 1), "enteredAt", frame_entered(h, f));
    mwl_value o = put(h, mwl_object(h, 2), "input", mwl__keep(f->input));
    return put(h, o, "metadata", meta);
}

/* ---- step and match -------------------------------------------------------------------------- */

static const mwl__step_rec *step_of(const mwl__frame *f) {
    return f->step == MWL_NONE ? NULL : &mwl__tables(f)->steps[f->step];
}

static mwl_value step_name(const mwl__frame *f) {
    const mwl__step_rec *s = step_of(f);
    return s ? mwl__program_of(f)->consts[s->name_k] : mwl_absent();
}

/* spec: execution-context, step: an id for each Step execution, unique in the run. */
static mwl_value step_id(mwl_heap *h, const mwl__frame *f) {
    char id[24];
    snprintf(id, sizeof id, "%llu", (unsigned long long)f->step_id + 1);
    return text(h, id);
}

static mwl_value step_action(mwl_heap *h, const mwl__frame *f) {
    static const char *const names[] = {"Call",  "Gather", "Match", "Pass",
                                        "Sleep", "Return", "Raise"};
    const mwl__step_rec *s = step_of(f);
    return s ? text(h, names[s->action]) : mwl_absent();
}

static mwl_value step_times(mwl_heap *h, const mwl__frame *f) {
    const mwl__times *t = mwl__times_of(f);
    mwl_value o = mwl_object(h, 3);
    if (!t) return o;
    o = put(h, o, "enteredAt", stamp(h, t->step_entered_ns));
    if (f->step_done && t->step_exited_ns) o = put(h, o, "exitedAt", stamp(h, t->step_exited_ns));
    return o;
}

static mwl_value step_meta(mwl_heap *h, const mwl__frame *f) {
    mwl_value o = step_times(h, f);
    const mwl__step_rec *s = step_of(f);
    if (s && s->action == MWL_ACTION_GATHER && mwl__gather_of(f) && mwl__gather_of(f)->enumerated)
        o = put(h, o, "dispatchCount", mwl_number((double)mwl__gather_of(f)->n));
    return o;
}

static bool has_result(const mwl__frame *f) {
    const mwl__step_rec *s = step_of(f);
    return s && s->action == MWL_ACTION_CALL && f->step_done;
}

static mwl_value step_result(mwl_heap *h, const mwl__frame *f) {
    return has_result(f) ? result_whole(h, &f->res) : mwl_absent();
}

static mwl_value step_whole(mwl_heap *h, mwl__frame *f) {
    mwl_value o = put(h, mwl_object(h, 7), "name", step_name(f));
    o = put(h, o, "id", step_id(h, f));
    o = put(h, o, "action", step_action(h, f));
    o = put(h, o, "input", mwl__keep(f->step_input));
    o = put(h, o, "result", step_result(h, f));
    const mwl__step_rec *s = step_of(f);
    if (s && s->action == MWL_ACTION_GATHER)
        o = put(h, o, "results", mwl__keep(mwl__gather_results(f)));
    return put(h, o, "metadata", step_meta(h, f));
}

static mwl_value match_whole(mwl_heap *h, const mwl__frame *f) {
    mwl_value o = put(h, mwl_object(h, 2), "input", mwl__keep(f->res.v));
    return put(h, o, "metadata", step_times(h, f));
}

/* ---- call and its windows -------------------------------------------------------------------- */

static bool in_arm(const mwl__call_state *r) { return r && !mwl_is_absent(r->res.v); }

static mwl_value call_meta(mwl_heap *h, const mwl__call_state *r) {
    mwl_value o = put(h, mwl_object(h, 4), "enteredAt", stamp(h, r->entered_ns));
    if (r->dispatched_ns) o = put(h, o, "dispatchedAt", stamp(h, r->dispatched_ns));
    if (r->accepted_ns) o = put(h, o, "acceptedAt", stamp(h, r->accepted_ns));
    return r->exited_ns ? put(h, o, "exitedAt", stamp(h, r->exited_ns)) : o;
}

static mwl_value call_whole(mwl_heap *h, const mwl__call_state *r) {
    mwl_value o = put(h, mwl_object(h, 4), "input", mwl__keep(r->input));
    if (r->index >= 0) o = put(h, o, "index", mwl_number((double)r->index));
    o = put(h, o, "result", result_whole(h, &r->res));
    return put(h, o, "metadata", call_meta(h, r));
}

static mwl_value received(const mwl__call_state *r) {
    return mwl_is_absent(r->target_input) ? r->input : r->target_input;
}

static mwl_value provider_meta(mwl_heap *h, const mwl__call_state *r) {
    return mwl_is_absent(r->metadata) ? mwl_object(h, 0) : lent(r->metadata);
}

static mwl_value provider_whole(mwl_heap *h, const mwl__call_state *r) {
    mwl_value o = put(h, mwl_object(h, 3), "input", mwl__keep(received(r)));
    o = put(h, o, "result", result_whole(h, &r->res));
    return put(h, o, "metadata", mwl__own(provider_meta(h, r)));
}

static mwl_value flow_meta(mwl_heap *h, const mwl__call_state *r) {
    mwl_value o = put(h, mwl_object(h, 2), "enteredAt", stamp(h, r->flow_entered_ns));
    return put(h, o, "exitedAt", stamp(h, r->flow_exited_ns));
}

static mwl_value flow_whole(mwl_heap *h, const mwl__call_state *r) {
    mwl_value o = put(h, mwl_object(h, 4), "input", mwl__keep(received(r)));
    o = put(h, o, "metadata", flow_meta(h, r));
    o = put(h, o, "vars", mwl__keep(r->flow_vars));
    return put(h, o, "result", result_whole(h, &r->res));
}

static mwl_value load_call(mwl_heap *h, const mwl__call_state *r, unsigned base) {
    if (!r) return mwl_absent();
    switch (base) {
    case MWL_BASE_CALL_INPUT: return lent(r->input);
    case MWL_BASE_CALL_RESULT_VALUE: return result_value(&r->res);
    case MWL_BASE_CALL: return call_whole(h, r);
    case MWL_BASE_CALL_INDEX: return r->index < 0 ? mwl_absent() : mwl_number((double)r->index);
    case MWL_BASE_CALL_RESULT:
    case MWL_BASE_PROVIDER_RESULT:
    case MWL_BASE_FLOW_RESULT: return result_whole(h, &r->res);
    case MWL_BASE_CALL_META: return call_meta(h, r);
    default: break;
    }
    if (!in_arm(r)) return mwl_absent();
    switch (base) {
    case MWL_BASE_PROVIDER_INPUT:
    case MWL_BASE_FLOW_INPUT: return lent(received(r));
    case MWL_BASE_PROVIDER_META: return provider_meta(h, r);
    case MWL_BASE_PROVIDER: return provider_whole(h, r);
    case MWL_BASE_FLOW_VARS: return lent(r->flow_vars);
    case MWL_BASE_FLOW: return flow_whole(h, r);
    case MWL_BASE_FLOW_META: return flow_meta(h, r);
    default: return mwl_absent();
    }
}

/* ---- middleware ------------------------------------------------------------------------------ */

/* Finds what the middleware contributes, lent, or absent. Returns false if out of memory. */
static bool contributes(mwl__frame *f, mwl__entry *e, mwl_value *out) {
    const mwl__provider *p = e->provider;
    *out = mwl__entry_contributed(f, e);
    return !mwl_is_absent(*out) || (mwl_is_absent(e->contributed) && !p->middleware.run_count);
}

static mwl_value mw_meta(mwl_heap *h, mwl__frame *f, mwl__entry *e) {
    mwl_value key, value, contributed;
    if (!contributes(f, e, &contributed)) return mwl_absent();
    mwl_value o = put(h, mwl_object(h, 2), "enteredAt", stamp(h, e->entered_ns));
    for (size_t i = 0; mwl_object_at(contributed, i, &key, &value); i++)
        o = mwl__map_put(h, o, mwl__keep(key), mwl__keep(value));
    return o;
}

static mwl_value mw_whole(mwl_heap *h, mwl__frame *f, mwl__entry *e) {
    mwl_value o = put(h, mwl_object(h, 3), "input", mwl__keep(e->input));
    o = put(h, o, "result", result_whole(h, &e->res));
    return put(h, o, "metadata", mw_meta(h, f, e));
}

static mwl_value mw_contributed(mwl_heap *h, mwl__frame *f, mwl__entry *e) {
    mwl_value o;
    if (!contributes(f, e, &o)) return o;
    return mwl_is_absent(o) ? mwl_object(h, 0) : lent(o);
}

static mwl_value load_middleware(mwl_heap *h, mwl__frame *f, mwl__entry *e, unsigned base) {
    if (!e) return mwl_absent();
    switch (base) {
    case MWL_BASE_MW_INPUT: return lent(e->input);
    case MWL_BASE_MW_RESULT_VALUE: return result_value(&e->res);
    case MWL_BASE_MW_CONTRIBUTED: return mw_contributed(h, f, e);
    case MWL_BASE_MIDDLEWARE: return mw_whole(h, f, e);
    case MWL_BASE_MW_RESULT: return result_whole(h, &e->res);
    case MWL_BASE_MW_META: return mw_meta(h, f, e);
    case MWL_BASE_MW_ENTERED: return stamp(h, e->entered_ns);
    default: return mwl_absent();
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static mwl_value load_step(mwl_heap *h, mwl__frame *f, unsigned base) {
    switch (base) {
    case MWL_BASE_STEP_INPUT: return lent(f->step_input);
    case MWL_BASE_STEP_RESULT_VALUE: return has_result(f) ? result_value(&f->res) : mwl_absent();
    case MWL_BASE_STEP_RESULTS: return lent(mwl__gather_results(f));
    case MWL_BASE_STEP: return step_whole(h, f);
    case MWL_BASE_STEP_NAME: return step_name(f);
    case MWL_BASE_STEP_ID: return step_id(h, f);
    case MWL_BASE_STEP_ACTION: return step_action(h, f);
    case MWL_BASE_STEP_RESULT: return step_result(h, f);
    case MWL_BASE_STEP_META: return step_meta(h, f);
    case MWL_BASE_MATCH_INPUT: return lent(f->res.v);
    case MWL_BASE_MATCH: return match_whole(h, f);
    case MWL_BASE_MATCH_META: return step_times(h, f);
    default: return mwl_absent();
    }
}

mwl_value mwl__context_load(mwl__exec *x, unsigned base) {
    mwl__frame *f = x->frame;
    if (!f) return mwl_absent();
    mwl_heap *h = x->heap;
    switch (base) {
    case MWL_BASE_VARS: return lent(f->vars);
    case MWL_BASE_FRAME_INPUT: return lent(f->input);
    case MWL_BASE_FAILURE: return lent(mwl__failure_of(f));
    case MWL_BASE_EXECUTION: return execution_whole(h, f->run);
    case MWL_BASE_EXECUTION_ID: return lent(mwl__run_id(f->run));
    case MWL_BASE_EXECUTION_ENTERED: return frame_entered(h, f->run->root);
    case MWL_BASE_FRAME: return frame_whole(h, f);
    case MWL_BASE_FRAME_ENTERED: return frame_entered(h, f);
    case MWL_BASE_STEP_INPUT:
    case MWL_BASE_STEP_RESULT_VALUE:
    case MWL_BASE_STEP_RESULTS:
    case MWL_BASE_STEP:
    case MWL_BASE_STEP_NAME:
    case MWL_BASE_STEP_ID:
    case MWL_BASE_STEP_ACTION:
    case MWL_BASE_STEP_RESULT:
    case MWL_BASE_STEP_META:
    case MWL_BASE_MATCH_INPUT:
    case MWL_BASE_MATCH:
    case MWL_BASE_MATCH_META: return load_step(h, f, base);
    case MWL_BASE_MW_INPUT:
    case MWL_BASE_MW_RESULT_VALUE:
    case MWL_BASE_MW_CONTRIBUTED:
    case MWL_BASE_MIDDLEWARE:
    case MWL_BASE_MW_RESULT:
    case MWL_BASE_MW_META:
    case MWL_BASE_MW_ENTERED: return load_middleware(h, f, mwl__entry_reading(f), base);
    default: return load_call(h, f->record, base);
    }
}

uint32_t mwl__context_slot(unsigned base) {
    switch (base) {
    case MWL_BASE_VARS: return offsetof(mwl__frame, vars);
    case MWL_BASE_FRAME_INPUT: return offsetof(mwl__frame, input);
    case MWL_BASE_STEP_INPUT: return offsetof(mwl__frame, step_input);
    case MWL_BASE_MATCH_INPUT: return offsetof(mwl__frame, res) + offsetof(mwl__result, v);
    default: return MWL_NONE;
    }
}

/* spec: execution-model, the clock pin: the entry instant of the construct that evaluates. */
static int64_t now_ns(const mwl__exec *x) {
    const mwl__frame *f = x->frame;
    const mwl__times *t = mwl__times_of(f);
    const mwl__entry *e = f->construct == MWL_IN_PHASE ? mwl__entry_reading(f) : NULL;
    if (e) return e->entered_ns;
    if (f->construct == MWL_IN_CALL && f->record) return f->record->entered_ns;
    return t ? f->construct == MWL_IN_FRAME ? t->entered_ns : t->step_entered_ns : 0;
}

static int64_t bound_in(const mwl__exec *x, int64_t *now) {
    *now = mwl__clock_new(x->vm);
    int64_t at = mwl__unwind_due(x->frame);
    return at == MWL_NEVER ? INT64_MAX : at < *now ? 0 : at - *now + 1;
}

const mwl__context_ops mwl__context = {mwl__context_load, now_ns, bound_in};
