/* fit.c: what must hold between the members of a saved run's records.
 *
 * Owns: the promises on which the machine relies when a frame continues: that it is at a place
 * which the verifier knows (verify_nest.c), with the entries, the call and the Gather of that
 * place, that the values which the machine takes for granted there are present, and that something
 * will wake it. Refuses to know: bytes. Every function refuses with a reason. */
#include "vm/machine/frame.h"
#include "vm/machine/link.h"
#include "vm/machine/rest.h"
#include "vm/snapshot/loader.h"
#include "vm/value/words.h"

#define MUST(condition, reason)                                                                    \
    do {                                                                                           \
        if (!(condition)) return mwl__reader_refuse(r, MWL_E_SNAPSHOT, reason);                    \
    } while (0)

static bool here(mwl_value v) { return !mwl_is_absent(v); }

bool mwl__fit_failure(mwl__reader *r, mwl_value v) {
    MUST(!mwl__failure_error(v), "a failure has no envelope");
    return true;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Arguments of a phase that has run, whichever it was. */
static bool args_fit(const mwl__frame *f, const mwl__entry *e) {
    const mwl__provider *p = e->provider;
    if (!here(e->args)) return true;
    if (!(e->args.tag & MWL_HEAP)) return true; /* a constant of the program */
    for (unsigned phase = 0; phase < 4; phase++)
        if (mwl__link_accepts(mwl__vm_of(f), p->parameters[phase], e->args)) return true;
    return false;
}

static bool verdict_fits(const mwl__entry *e, unsigned state) {
    switch (state) {
    case MWL_ENTRY_ENTERING:
        return e->verdict == MWL_VERDICT_PASS ||
               (e->verdict == MWL_VERDICT_EMIT && here(e->emit.v));
    case MWL_ENTRY_SUCCESS:
    case MWL_ENTRY_FAILURE: return e->verdict != MWL_VERDICT_EMIT;
    default: return true;
    }
}

static bool result_fits(const mwl__entry *e, unsigned state) {
    switch (state) {
    case MWL_ENTRY_SUCCESS: return here(e->res.v) && e->res.ok;
    case MWL_ENTRY_FAILURE: return here(e->res.v) && !e->res.ok;
    case MWL_ENTRY_CLEANING: return here(e->res.v);
    default: return true;
    }
}

/* A phase that was interrupted in its code will not go on: its values do not matter. Only an unwind
 * can be there (mwl__fit_frame). */
static bool is_left(const mwl__entry *e) {
    return !e->waits && !(e->state & MWL_ENTRY_STRUCTURAL) && e->state != MWL_ENTRY_INNER;
}

bool mwl__fit_entry(mwl__reader *r, const mwl__frame *f, const mwl__entry *e) {
    const mwl_program *p = mwl__program_of(f);
    MUST(e->ix < p->tables.n_entries && p->places.entries[e->ix].begun,
         "there is no such middleware entry");
    unsigned state = e->state & ~(unsigned)MWL_ENTRY_STRUCTURAL;
    bool structural = e->state & MWL_ENTRY_STRUCTURAL, established = mwl__entry_established(e);
    MUST(state >= MWL_ENTRY_ENTERING &&
             state <= (structural ? MWL_ENTRY_CLEANING : MWL_ENTRY_INNER),
         "an entry has no such state");
    if (structural) {
        unsigned phase = state - MWL_ENTRY_ENTERING;
        MUST(p->places.actions[e->ix * 4 + phase] &&
                 p->tables.entries[e->ix].struct_pc[phase] != MWL_NONE,
             "an entry has no call in this phase");
    }
    const mwl__provider *m = e->provider;
    bool restores = established && (m->middleware.flags & MWL_MW_RESTORES);
    MUST(here(e->input) && here(e->output) == established, "an entry has no value");
    MUST(here(e->vars) == restores, "an entry has no variables, or too many");
    MUST(is_left(e) || result_fits(e, state), "an entry has no Result");
    MUST(is_left(e) || verdict_fits(e, state), "an entry has a verdict that its phase cannot give");
    MUST(restores || !(e->reenter & MWL_REENTER_RESTORE), "an entry has no variables to restore");
    MUST(here(e->own_state), "an entry has no state");
    MUST(!e->waits || e->state == MWL_ENTRY_ENTERING, "an entry waits outside of onEntry");
    mwl_kind kind = mwl_value_kind(e->contributed);
    MUST(kind == MWL_KIND_ABSENT || (kind == MWL_KIND_INT && m->middleware.deadline) ||
             (kind == MWL_KIND_OBJECT && !mwl__value_odd(e->contributed)),
         "an entry has contributed something else than an object");
    MUST(e->fired == here(e->cancel), "an entry has fired without its cancellation");
    if (e->fired && !mwl__fit_failure(r, mwl__word_get(e->cancel, MWL_WORD_PREVIOUS))) return false;
    MUST(is_left(e) || args_fit(f, e), "the arguments of an entry are not valid");
    return true;
}

/* Are the entries from e on outwards those around this place? */
static bool same_stack(const mwl_program *p, const mwl__entry *e, const mwl__nesting *at) {
    uint32_t ix = at->entry;
    unsigned state = at->entry_state;
    for (; ix != MWL_NONE; e = e->outer) {
        if (!e || e->ix != ix || e->state != state) return false;
        state = p->places.entries[ix].outer.entry_state;
        ix = p->places.entries[ix].outer.entry;
    }
    return !e;
}

/* ---- calls and Gathers ----------------------------------------------------------------------- */

bool mwl__fit_call(mwl__reader *r, const mwl_call *c, uint32_t import) {
    const mwl__link *link = r->link;
    MUST(!link->providers[import]->is_middleware, "there is no such provider");
    MUST(c->number > 0 && c->number <= c->frame->run->next_call && c->attempt > 0,
         "a call has a number that was not given yet");
    MUST(here(c->input) && here(c->state), "a call has no input");
    MUST(c->cancelled == here(c->res.v) && !(c->cancelled && c->res.ok),
         "a call has a Result, or was cancelled without a cancellation");
    MUST(!(c->cancelled && c->held), "a call that has not started cannot be cancelled");
    MUST(mwl_value_kind(c->args) == MWL_KIND_OBJECT &&
             mwl__link_accepts(link->vm, c->provider->parameters[0], c->args),
         "the arguments of a call are not valid");
    return true;
}

uint32_t mwl__fit_slot_call(const mwl__frame *f, const mwl__gather *g, uint32_t i) {
    const mwl__gather_rec *rec = &mwl__tables(f)->gathers[g->ix];
    return mwl__program_of(f)->keys[rec->first_call + (rec->flags & MWL_GATHER_OVER ? 0 : i)];
}

static bool check_slot(mwl__reader *r, const mwl__frame *f, const mwl__gather *g, uint32_t i) {
    const mwl__slot *s = &g->slots[i];
    const mwl__call_rec *c = &mwl__tables(f)->calls[mwl__fit_slot_call(f, g, i)];
    bool over = s->state == MWL_SLOT_SETTLED || s->state == MWL_SLOT_CANCELLED;
    MUST((s->state != MWL_SLOT_WAITING || s->is_frame) && here(s->res.v) == over,
         "a dispatch has no Result"); /* WAITING: its frame follows */
    MUST(s->state != MWL_SLOT_CANCELLED || !s->res.ok, "a cancelled dispatch has succeeded");
    if (!s->record) return true;
    MUST(g->records && (c->flags & MWL_CALL_HAS_ARMS) && s->state != MWL_SLOT_CANCELLED &&
             s->state != MWL_SLOT_SKIPPED,
         "a dispatch has a record that no arm reads");
    MUST(s->record->ix == mwl__fit_slot_call(f, g, i) && s->record->index == i &&
             here(s->record->input),
         "the record of a dispatch is of another call");
    return true;
}

/* How many there are is decided by what is enumerated, or by the calls that are written. */
static bool size_fits(const mwl__gather_rec *rec, const mwl__gather *g) {
    if (!g->enumerated) return g->n == 0 && !here(g->over); /* it was interrupted before that */
    if (here(g->over))
        return (rec->flags & MWL_GATHER_OVER) && mwl_value_kind(g->over) == MWL_KIND_ARRAY &&
               mwl_count(g->over) == g->n;
    if (g->faulted && g->n == 0) return true;
    return !(rec->flags & MWL_GATHER_OVER) && g->n == rec->n_calls;
}

bool mwl__fit_gather(mwl__reader *r, const mwl__frame *f, const mwl__gather *g) {
    const mwl__gather_rec *rec = &mwl__tables(f)->gathers[g->ix];
    uint32_t over = 0;
    MUST(f->step == rec->step && mwl__program_of(f)->places.gathers[g->ix].begun,
         "a Gather is not that of its Step");
    MUST(size_fits(rec, g), "a Gather has another number of dispatches");
    MUST(g->faulted == here(g->raised), "a Gather has failed without a failure");
    MUST(!g->faulted || (g->next == g->n && g->active == 0), "a Gather that failed goes on");
    MUST(g->need >= 0 && g->arm_at <= g->next, "a Gather counts wrongly");
    MUST(g->active <= rec->concurrency, "a Gather has too many dispatches at a time");
    for (uint32_t i = 0; i < g->next; i++) {
        if (!check_slot(r, f, g, i)) return false;
        over += here(g->slots[i].res.v);
    }
    MUST((uint64_t)g->n_ok + g->n_bad == over, "a Gather counts wrongly");
    return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static bool outstanding(const mwl__frame *f) {
    return f->awaits != MWL_AWAITS_NOTHING || (mwl__gather_of(f) && mwl__gather_of(f)->active);
}

/* The interruption that a frame or an entry's cleanup will go on with, given what unwinds: the
 * owner's cancellation has its explanation, unless a cleanup has failed. */
static bool owner_fits(const mwl__frame *f, const mwl__entry *owner, const mwl__result *res) {
    if (!owner) return f->extra && here(f->extra->cancel);
    return owner->fired &&
           (res->cleanup ||
            mwl_value_kind(mwl__word_get(res->v, MWL_WORD_PREVIOUS)) == MWL_KIND_OBJECT);
}

/* An unwind does not pass through a cleanup that is running: it waits for its end. */
static bool passes(const mwl__entry *from, const mwl__entry *owner) {
    for (; from && from != owner; from = from->outer)
        if (mwl__entry_cleaning(from)) return false;
    return !from || !mwl__entry_cleaning(from);
}

static bool check_owners(mwl__reader *r, const mwl__frame *f) {
    for (const mwl__entry *e = f->entries; e; e = e->outer) {
        MUST(!e->outer_owner || e->outer_owner->rank < e->rank,
             "an unwind ends inside what it unwinds");
        MUST(!e->outer_running ||
                 (mwl__entry_cleaning(e) && owner_fits(f, e->outer_owner, &e->res)),
             "an unwind has no cause");
        MUST(!e->outer_running || passes(e->outer, e->outer_owner),
             "an unwind passes through a cleanup");
    }
    return true;
}

/* What a point needs: the place around it, and where the frame continues. */
typedef struct want {
    const mwl__nesting *place; /* NULL: only its entries decide */
    uint32_t pc;
    unsigned wait; /* the state in which it waits there; READY: it does not */
} want;

static bool find_call(mwl__reader *r, mwl__frame *f, uint32_t at, bool direct, want *w) {
    const mwl_program *p = mwl__program_of(f);
    MUST(at < p->tables.n_calls && p->places.calls[at].begun && p->places.calls[at].after &&
             p->tables.calls[at].gather == MWL_NONE,
         "there is no such call");
    const mwl__call_rec *c = &p->tables.calls[at];
    w->place = &p->places.calls[at].outer;
    w->pc = direct ? c->end_pc + 1 : p->places.calls[at].after;
    w->wait = MWL_FRAME_WAIT_CALL;
    if (direct) {
        MUST(f->state == MWL_FRAME_READY || c->import != MWL_NONE,
             "a call without a record has one");
    } else {
        MUST(f->record && f->record->ix == at && f->record->index == -1 && here(f->record->input),
             "the record of a call is of another one");
    }
    MUST(f->state != MWL_FRAME_READY || here(f->res.v), "a call has no Result");
    return true;
}

static bool find_unwind(mwl__reader *r, mwl__frame *f, want *w) {
    const mwl_program *p = mwl__program_of(f);
    const mwl__extra *x = f->extra;
    MUST(x && x->running && x->awaiting != x->resume, "an unwind is not under way");
    MUST(x->resume ? f->queued && !outstanding(f) : outstanding(f), "an unwind waits for nothing");
    MUST(here(f->res.v) && !f->res.ok && owner_fits(f, x->owner, &f->res),
         "an unwind has no cause");
    MUST(passes(f->entries, x->owner), "an unwind passes through a cleanup");
    w->pc = p->tables.flows[f->flow].pc; /* not used */
    if (!f->entries) return true;
    const mwl__nesting *outer = &p->places.entries[f->entries->ix].outer;
    MUST(outer->flow == f->flow && same_stack(p, f->entries->outer, outer) &&
             (outer->step == MWL_NONE || outer->step == f->step),
         "the entries of a frame are not those of a place in its Flow");
    return true;
}

static bool find_point(mwl__reader *r, mwl__frame *f, mwl__point point, uint32_t at, want *w) {
    const mwl_program *p = mwl__program_of(f);
    const mwl__gather *g = mwl__gather_of(f);
    static const mwl__nesting nowhere = {.step = MWL_NONE, .entry = MWL_NONE};
    switch (point) {
    case MWL_POINT_START:
        w->place = &nowhere;
        w->pc = p->tables.flows[f->flow].pc;
        MUST(here(f->in_flight) && f->step == MWL_NONE, "a frame begins without its input");
        return true;
    case MWL_POINT_REFUSED:
        w->place = &nowhere;
        w->pc = MWL_NONE;
        MUST(here(f->res.v) && !f->res.ok && f->step == MWL_NONE,
             "a frame was refused without a failure");
        return true;
    case MWL_POINT_SLEEP:
        MUST(f->step != MWL_NONE && p->places.sleeps[f->step] && p->places.flows[f->flow].begun,
             "there is no such Sleep");
        w->place = &p->places.flows[f->flow].outer; /* and its Step: a Sleep has no middleware */
        w->pc = p->places.sleeps[f->step];
        w->wait = MWL_FRAME_WAIT_TIME;
        return true;
    case MWL_POINT_CALL:
    case MWL_POINT_DIRECT: return find_call(r, f, at, point == MWL_POINT_DIRECT, w);
    case MWL_POINT_GATHER:
        MUST(g && g->ix == at && g->enumerated && !g->arming && !g->faulted && g->arm_at == 0,
             "there is no such Gather");
        w->place = &p->places.gathers[at].outer;
        w->pc = p->tables.gathers[at].run_pc;
        w->wait = MWL_FRAME_WAIT_GATHER;
        MUST(f->state == MWL_FRAME_READY || g->active, "a Gather waits for nothing");
        return true;
    case MWL_POINT_WAIT:
        MUST(f->entries && f->entries->ix == at && f->entries->waits &&
                 p->places.actions[(size_t)at * 4],
             "there is no entry that waits"); /* it enters (mwl__fit_entry) */
        w->place = &p->places.entries[at].outer;
        w->pc = p->places.actions[(size_t)at * 4] - 1;
        w->wait = MWL_FRAME_WAIT_TIME;
        return true;
    case MWL_POINT_REENTER:
        MUST(f->entries && f->entries->ix == at && f->entries->state == MWL_ENTRY_INNER &&
                 p->places.entries[at].after && here(f->in_flight),
             "there is no such gap");
        w->place = &p->places.entries[at].outer;
        w->pc = p->places.entries[at].after;
        w->wait = MWL_FRAME_WAIT_TIME;
        return true;
    default: return find_unwind(r, f, w);
    }
}

static bool check_place(mwl__reader *r, const mwl__frame *f, mwl__point point, const want *w) {
    const mwl_program *p = mwl__program_of(f);
    bool inside = point == MWL_POINT_REENTER || point == MWL_POINT_WAIT;
    const mwl__entry *e = inside ? f->entries->outer : f->entries;
    const mwl__gather *g = mwl__gather_of(f);
    bool started = point != MWL_POINT_START && point != MWL_POINT_REFUSED;
    MUST(!started || w->place->flow == f->flow, "a frame is in another Flow");
    MUST(same_stack(p, e, w->place), "the entries of a frame are not those of its place");
    MUST(w->place->step == MWL_NONE || (w->place->step == f->step && !f->step_done),
         "a frame is in another Step");
    MUST(!g || point == MWL_POINT_GATHER || (w->place->step == MWL_NONE && !g->active),
         "a Gather is still there");
    MUST(!f->extra || !(f->extra->running || f->extra->awaiting || f->extra->resume),
         "a frame goes on in the middle of an unwind");
    MUST(f->state == (f->queued ? MWL_FRAME_READY : w->wait), "a frame has another state");
    bool waits_for_call = f->state == MWL_FRAME_WAIT_CALL;
    MUST((f->awaits != MWL_AWAITS_NOTHING) == waits_for_call, "a frame waits for nothing");
    return true;
}

bool mwl__fit_frame(mwl__reader *r, mwl__frame *f, mwl__point point, uint32_t at) {
    const mwl__flow_tables *t = mwl__tables(f);
    want w = {NULL, 0, MWL_FRAME_READY};
    MUST(f->step == MWL_NONE ||
             (f->step < t->n_steps && t->steps[f->step].flow == f->flow && here(f->step_input)),
         "a frame has no such Step");
    MUST(here(f->vars) && here(f->input), "a frame has no variables or no input");
    MUST(!f->queued || f->awaits == MWL_AWAITS_NOTHING, "a frame can go on and waits");
    MUST(point == MWL_POINT_CALL || !f->record, "a call is open that is over");
    MUST((at == MWL_NONE) == (point < MWL_POINT_CALL || point == MWL_POINT_UNWIND),
         "a point has no index, or one too many");
    if (!check_owners(r, f) || !find_point(r, f, point, at, &w)) return false;
    if (w.place && !check_place(r, f, point, &w)) return false;
    f->pc = w.pc;
    return true;
}

bool mwl__fit_timer(mwl__reader *r, const mwl__frame *f, bool armed, bool bound, int64_t due_ns) {
    bool waits = !f->queued && !(f->extra && f->extra->awaiting);
    const mwl__entry *e = waits ? mwl__frame_bound(f) : NULL;
    MUST(waits || !armed, "a frame that can go on has a timer");
    if (!waits) return true;
    if (f->state == MWL_FRAME_WAIT_TIME) {
        bool woken = f->entries && f->entries->waits; /* by its middleware */
        MUST(armed || woken, "a frame waits for no time");
        if (!armed) return true;
        MUST(bound ? e != NULL : !e || e->bound_ns >= due_ns, "a bound is earlier than the timer");
        return true;
    }
    bool fires = e && e->bound_ns != MWL_NEVER;
    MUST(armed == fires && armed == bound, "a bound has no timer");
    return true;
}

/* Checks that the frame is what the point of its parent calls. */
bool mwl__fit_child(mwl__reader *r, const mwl__frame *parent, const mwl__frame *f) {
    MUST(f->depth < f->run->limits->frame_depth, "there are more frames than the limit allows");
    const mwl__gather *g = mwl__gather_of(parent);
    uint32_t call = MWL_NONE;
    if (f->slot)
        call = mwl__fit_slot_call(parent, g, (uint32_t)(f->slot - g->slots));
    else if (parent->record)
        call = parent->record->ix;
    MUST(call == MWL_NONE ? parent->extra && parent->extra->awaiting
                          : mwl__tables(f)->calls[call].flow == f->flow,
         "a frame is below one that does not call its Flow");
    return true;
}
