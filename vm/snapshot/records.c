/* records.c: the records of a run from bytes.
 *
 * Owns: the order in which records are made and linked, so that what exists can be freed at any
 * moment. Everything is read under the run's memory limit. An execution counts as settled until the
 * run is complete, so that freeing it calls no callback. Refuses to know: what must hold between
 * members (fit.c). */
#include "vm/machine/call.h"
#include "vm/machine/clock.h"
#include "vm/machine/execution.h"
#include "vm/machine/frame.h"
#include "vm/machine/gather.h"
#include "vm/machine/run.h"
#include "vm/snapshot/fields.h"
#include "vm/snapshot/loader.h"

static bool get_record(mwl__loader *l, enum mwl__record_id id, void *record, mwl__frame *f);

static bool damaged(mwl__loader *l, const char *why) {
    return mwl__reader_refuse(&l->r, MWL_E_SNAPSHOT, why);
}

static bool no_memory(mwl__loader *l) {
    return mwl__reader_refuse(&l->r, l->r.heap->why == MWL_E_TOO_BIG ? MWL_E_TOO_BIG : MWL_E_NOMEM,
                              "there is not enough memory for the run");
}

static void *make(mwl__loader *l, size_t size) {
    void *p = mwl__heap_take(l->r.heap, size);
    if (p)
        memset(p, 0, size);
    else
        (void)no_memory(l);
    return p;
}

static bool place_later(mwl__loader *l, mwl__placing *o, mwl__placed placed) {
    void *list = o->list;
    mwl_status st = mwl__mem_grow(&l->vm->config.alloc, &list, &o->cap, o->n + 1, sizeof *o->list);
    o->list = list;
    if (st < 0) return mwl__reader_refuse(&l->r, st, "out of memory");
    o->list[o->n++] = placed;
    return true;
}

/* ---- single members -------------------------------------------------------------------------- */

static bool get_instant(mwl__loader *l, int64_t *out) {
    if (!mwl__reader_int(&l->r, out)) return false;
    if (*out != MWL_NEVER) *out = mwl__clock_add(*out, l->shift_ns);
    return true;
}

static bool get_value(mwl__loader *l, const mwl__field *field, mwl_value *out) {
    if (!mwl__reader_value(&l->r, out)) return false;
    mwl_kind kind = mwl_value_kind(*out);
    if (kind == MWL_KIND_ABSENT || field->kind == MWL_FIELD_ANY) return true;
    if (mwl__value_odd(*out)) return damaged(l, "a value is not of the data model");
    if (field->kind == MWL_FIELD_OBJECT && kind != MWL_KIND_OBJECT)
        return damaged(l, "this is not an object");
    if (field->kind == MWL_FIELD_FAILURE && !(field->limit && kind == MWL_KIND_NULL))
        return mwl__fit_failure(&l->r, *out);
    return true;
}

static bool get_result(mwl__loader *l, mwl__result *out) {
    uint64_t flags, rose = 0;
    uint32_t n;
    if (l->r.c.at < l->r.c.end && *l->r.c.at == (0xe0 | MWL_CBOR_UNDEFINED)) {
        l->r.c.at++;
        return true;
    }
    if (!mwl__reader_list(&l->r, 3, &n) || (n < 2 && !damaged(l, "a Result has no value")) ||
        !mwl__reader_uint(&l->r, 8, &flags) || !mwl__reader_value(&l->r, &out->v))
        return false;
    out->ok = flags & 1;
    out->cleanup = flags & 2;
    out->severed = flags & 4;
    if (n == 3) {
        if (!mwl__reader_uint(&l->r, MWL_ROSE_STAMPS, &rose)) return false;
        if (rose == 0 || out->ok) return damaged(l, "a success does not rise");
        rose = (rose + (uint64_t)(l->shift_ns >> 20)) % MWL_ROSE_STAMPS;
        out->rose = (rose ? rose : 1) & (MWL_ROSE_STAMPS - 1);
    }
    if (mwl__value_odd(out->v)) return damaged(l, "a Result has no value"); /* or absent */
    return out->ok || mwl__fit_failure(&l->r, out->v);
}

static bool get_flags(mwl__loader *l, enum mwl__record_id id, void *record) {
    const mwl__record *r = &mwl__records[id];
    uint64_t flags, known = id == MWL_RECORD_FRAME ? 1 : r->n_flags;
    if (!mwl__reader_uint(&l->r, UINT64_C(1) << known, &flags)) return false;
    for (unsigned i = 0; i < r->n_flags; i++)
        *(bool *)((char *)record + r->flags[i].offset) = flags >> i & 1;
    if (id == MWL_RECORD_FRAME) ((mwl__frame *)record)->step_done = flags & 1;
    return true;
}

/* null; an order: a bound; [order, due]. */
static bool get_timer(mwl__loader *l, mwl__timer *t, bool *armed, bool *bound, int64_t *due_ns) {
    uint64_t order;
    *armed = !mwl__reader_is_null(&l->r);
    *bound = false;
    *due_ns = MWL_NEVER;
    if (!*armed) return l->r.status == MWL_OK;
    *bound = l->r.c.at < l->r.c.end && *l->r.c.at >> 5 == MWL_CBOR_UINT;
    if (!*bound && !mwl__reader_array(&l->r, 2)) return false;
    if (!mwl__reader_uint(&l->r, MWL_TIMER_ORDERS, &order)) return false;
    if (!*bound && !get_instant(l, due_ns)) return false;
    return place_later(l, &l->timers, (mwl__placed){t, order, *bound, *due_ns});
}

/* ---- entries and extra ----------------------------------------------------------------------- */

/* The entry at this distance from the outermost one; MWL_NONE: the frame. */
static bool set_owner(mwl__loader *l, mwl__entry *const *entries, uint32_t n, uint32_t at,
                      mwl__entry **owner) {
    *owner = NULL;
    if (at == MWL_NONE) return true;
    if (at >= n) return damaged(l, "an owner is not an entry of the frame");
    *owner = entries[at];
    return true;
}

/* Sets what follows from the program and from the entries around this one. */
static void complete_entry(mwl__frame *f, mwl__entry *e, uint32_t at, int64_t *least_ns) {
    const mwl__places *places = &mwl__program_of(f)->places;
    e->rank = f->entries_around + at;
    if (!e->armed) e->bound_ns = 0; /* no instant was moved */
    e->around_call = mwl__tables(f)->entries[e->ix].flags & MWL_ENTRY_AROUND_CALL;
    if (e->state & MWL_ENTRY_STRUCTURAL)
        e->resume_pc = places->actions[e->ix * 4 + (e->state & 7u) - MWL_ENTRY_ENTERING];
    if (mwl__entry_established(e)) {
        f->run->owed++;
        if (e->armed && e->bound_ns < *least_ns) *least_ns = e->bound_ns;
    }
    e->least_ns = *least_ns;
}

/* While the entries of a frame are read, `rank` of each has its outer_owner's distance. */
static bool link_entries(mwl__loader *l, mwl__frame *f, uint32_t n) {
    const mwl_alloc *a = &l->vm->config.alloc;
    mwl__entry **entries = mwl__mem_new(a, n * sizeof *entries);
    if (!entries) return mwl__reader_refuse(&l->r, MWL_E_NOMEM, "out of memory");
    uint32_t at = n;
    bool good = true;
    int64_t least = MWL_NEVER;
    for (mwl__entry *e = f->entries; e; e = e->outer) entries[--at] = e;
    for (; at < n && good; at++) {
        mwl__entry *e = entries[at];
        good = set_owner(l, entries, n, e->rank, &e->outer_owner) && mwl__fit_entry(&l->r, f, e);
        if (good) complete_entry(f, e, at, &least);
    }
    mwl__mem_free(a, entries, n * sizeof *entries);
    return good;
}

static bool get_entries(mwl__loader *l, mwl__frame *f) {
    uint32_t n;
    mwl__entry **last = &f->entries;
    if (!mwl__reader_list(&l->r, f->run->limits->entry_depth, &n)) return false;
    if (n && !mwl__tables(f)->n_entries) return damaged(l, "the program has no middleware");
    for (uint32_t i = 0; i < n; i++) {
        mwl__entry *e = make(l, sizeof *e);
        if (!e) return false;
        const mwl__flow_tables *t = mwl__tables(f);
        *last = e;
        last = &e->outer;
        e->link = &l->r.link->entries[0]; /* if it is refused */
        e->provider = l->r.link->providers[t->entries[0].import];
        if (!mwl__reader_array(&l->r, mwl__records[MWL_RECORD_ENTRY].n_fields) ||
            !get_record(l, MWL_RECORD_ENTRY, e, f))
            return false;
        if (e->ix >= t->n_entries) continue;
        e->link = &l->r.link->entries[e->ix];
        e->provider = l->r.link->providers[t->entries[e->ix].import];
    }
    return n == 0 || link_entries(l, f, n);
}

static bool get_owner(mwl__loader *l, mwl__frame *f) {
    uint32_t at;
    if (!mwl__reader_index(&l->r, MWL_NONE, &at)) return false;
    if (at == MWL_NONE) return true;
    mwl__entry *e = f->entries;
    while (e && e->rank - f->entries_around != at) e = e->outer;
    f->extra->owner = e;
    return e || damaged(l, "an owner is not an entry of the frame");
}

static bool get_extra(mwl__loader *l, mwl__frame *f) {
    if (mwl__reader_is_null(&l->r)) return true;
    if (!mwl__frame_extra(f)) return no_memory(l);
    if (!mwl__reader_array(&l->r, mwl__records[MWL_RECORD_EXTRA].n_fields) ||
        !get_record(l, MWL_RECORD_EXTRA, f->extra, f))
        return false;
    if (mwl_is_absent(f->extra->cancel)) f->extra->cancel_ns = 0;
    return !mwl_is_absent(f->extra->failure) || damaged(l, "there is no failure context");
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool get_call_state(mwl__loader *l, mwl__frame *f, mwl__call_state **out) {
    if (mwl__reader_is_null(&l->r)) return true;
    *out = mwl__call_state_new(l->r.heap);
    if (!*out) return no_memory(l);
    if (!mwl__reader_array(&l->r, mwl__records[MWL_RECORD_RECORD].n_fields) ||
        !get_record(l, MWL_RECORD_RECORD, *out, f))
        return false;
    return (*out)->ix < mwl__tables(f)->n_calls || damaged(l, "there is no such call");
}

static bool get_call(mwl__loader *l, mwl__frame *f, mwl__slot *slot, mwl_call **out) {
    const mwl__link *link = l->r.link;
    uint64_t import, flags;
    bool armed, bound;
    int64_t due;
    if (!mwl__reader_array(&l->r, mwl__records[MWL_RECORD_CALL].n_fields + 2u) ||
        !mwl__reader_uint(&l->r, 0, &import) || !mwl__reader_uint(&l->r, 4, &flags))
        return false;
    if (import >= link->program->tables.n_imports) return damaged(l, "there is no such provider");
    uint64_t held = flags & 2 ? UINT64_MAX - 1 : 0;
    mwl_call *c = mwl__execution_load(f, slot, link->providers[import], held);
    if (!c) return no_memory(l);
    *out = c;
    c->settled = true; /* until the run is complete */
    c->cancelled = flags & 1;
    c->state = mwl_absent();
    if (!get_record(l, MWL_RECORD_CALL, c, f)) return false;
    if (!get_timer(l, &c->timer, &armed, &bound, &due)) return false;
    if (armed && (bound || c->cancelled || c->held))
        return damaged(l, "a call that does not wait for a time has a timer");
    return mwl__fit_call(&l->r, c, (uint32_t)import);
}

/* null, true: a frame that follows, or a call. */
static bool get_target(mwl__loader *l, mwl__frame *f, mwl__slot *slot, bool *frame,
                       mwl_call **execution) {
    *frame = false;
    if (mwl__reader_is_null(&l->r)) return true;
    if (l->r.c.at < l->r.c.end && *l->r.c.at == (0xe0 | MWL_CBOR_TRUE)) {
        l->r.c.at++;
        *frame = true;
        return true;
    }
    return get_call(l, f, slot, execution);
}

static bool get_frame_target(mwl__loader *l, mwl__frame *f) {
    bool frame;
    mwl_call *execution = NULL;
    bool good = get_target(l, f, NULL, &frame, &execution);
    if (execution) {
        f->target.execution = execution;
        f->awaits = MWL_AWAITS_EXECUTION;
    } else if (frame) {
        f->target.frame = NULL; /* it follows */
        f->awaits = MWL_AWAITS_FRAME;
    }
    return good;
}

/* ---- Gathers --------------------------------------------------------------------------------- */

/* A slot whose frame has not been read yet is WAITING with is_frame set, so that what is there can
 * be freed. */
static bool get_slot(mwl__loader *l, mwl__frame *f, mwl__gather *g) {
    mwl__slot *s = &g->slots[g->next];
    *s = (mwl__slot){.state = MWL_SLOT_SKIPPED};
    g->next++;
    if (!mwl__reader_array(&l->r, mwl__records[MWL_RECORD_SLOT].n_fields)) return false;
    bool good = get_record(l, MWL_RECORD_SLOT, s, f);
    bool active = s->state == MWL_SLOT_ACTIVE;
    if (!s->is_frame && !s->as.execution) {
        if (active) s->state = MWL_SLOT_SKIPPED;
        return good && (!active || damaged(l, "a dispatch has no target"));
    }
    s->state = s->is_frame ? MWL_SLOT_WAITING : MWL_SLOT_ACTIVE;
    g->active++;
    return good && (active || damaged(l, "a dispatch that is over has a target"));
}

static bool get_gather(mwl__loader *l, mwl__frame *f) {
    uint64_t ix, n;
    if (mwl__reader_is_null(&l->r)) return true;
    mwl_value over = mwl_absent();
    const mwl__field any = {"over", 0, MWL_FIELD_DATA, 0};
    if (!mwl__reader_array(&l->r, mwl__records[MWL_RECORD_GATHER].n_fields + 3u) ||
        !mwl__reader_uint(&l->r, 0, &ix) || !mwl__reader_uint(&l->r, 0, &n))
        return false;
    bool good = get_value(l, &any, &over);
    if (good && ix >= mwl__tables(f)->n_gathers) good = damaged(l, "there is no such Gather");
    uint64_t most = mwl_value_kind(over) == MWL_KIND_ARRAY ? mwl_count(over)
                    : good                                 ? mwl__tables(f)->gathers[ix].n_calls
                                                           : 0;
    if (good && (n > most || n > f->run->limits->fan_out))
        good = damaged(l, "a Gather has another number of dispatches");
    if (good && !mwl__gather_make(f, (uint32_t)ix, (uint32_t)n)) good = no_memory(l);
    if (!good) {
        mwl__drop(l->r.heap, over);
        return false;
    }
    mwl__gather *g = mwl__gather_of(f);
    g->over = over;
    return get_record(l, MWL_RECORD_GATHER, g, f);
}

static bool get_slots(mwl__loader *l, mwl__frame *f, mwl__gather *g) {
    uint32_t next;
    if (!mwl__reader_list(&l->r, g->n, &next)) return false;
    while (g->next < next)
        if (!get_slot(l, f, g)) return false;
    return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static bool get_times(mwl__loader *l, mwl__frame *f) {
    mwl__times *t = mwl__times_of(f);
    if (!t) return mwl__reader_is_null(&l->r) || damaged(l, "a frame keeps no instants");
    return mwl__reader_array(&l->r, 3) && mwl__reader_int(&l->r, &t->entered_ns) &&
           mwl__reader_int(&l->r, &t->step_entered_ns) &&
           mwl__reader_int(&l->r, &t->step_exited_ns);
}

/* An execution is of the provider that its call names, and was cancelled exactly when what awaits
 * it was. call MWL_NONE: an unwind, which does not know its call any more. */
static bool check_execution(mwl__loader *l, const mwl__frame *f, const mwl_call *c, uint32_t call,
                            bool cancelled) {
    uint32_t import = call == MWL_NONE ? MWL_NONE : mwl__tables(f)->calls[call].import;
    if (c->cancelled != cancelled) return damaged(l, "a call was not cancelled as its frame was");
    return call == MWL_NONE ||
           (import != MWL_NONE && f->run->link->providers[import] == c->provider) ||
           damaged(l, "a call has another provider");
}

/* They were read before what awaits them was known. */
static bool check_executions(mwl__loader *l, const mwl__frame *f, mwl__point point, uint32_t at) {
    const mwl__gather *g = mwl__gather_of(f);
    bool awaiting = f->extra && f->extra->awaiting;
    uint32_t call = point == MWL_POINT_CALL || point == MWL_POINT_DIRECT ? at : MWL_NONE;
    if (f->awaits == MWL_AWAITS_EXECUTION &&
        !check_execution(l, f, f->target.execution, call, awaiting))
        return false;
    for (uint32_t i = 0; g && i < g->next; i++) {
        const mwl__slot *s = &g->slots[i];
        if (s->state == MWL_SLOT_ACTIVE && !s->is_frame &&
            !check_execution(l, f, s->as.execution, mwl__fit_slot_call(f, g, i),
                             awaiting || g->cancelling))
            return false;
    }
    return true;
}

/* Reads the record of a frame that was made and linked. */
static bool get_frame(mwl__loader *l, mwl__frame *f) {
    uint64_t point;
    uint32_t at, order;
    bool armed, bound;
    int64_t due;
    uint64_t below = mwl__tables(f)->n_steps;
    if (!mwl__reader_index(&l->r, below, &f->step) ||
        !mwl__reader_uint(&l->r, MWL_POINT_COUNT, &point) ||
        !mwl__reader_index(&l->r, MWL_NONE, &at) || !get_record(l, MWL_RECORD_FRAME, f, f) ||
        !get_timer(l, &f->timer, &armed, &bound, &due) ||
        !mwl__reader_index(&l->r, MWL_NONE, &order))
        return false;
    f->queued = order != MWL_NONE;
    bool good = (!mwl__gather_of(f) || mwl__fit_gather(&l->r, f, mwl__gather_of(f))) &&
                mwl__fit_frame(&l->r, f, (mwl__point)point, at) &&
                check_executions(l, f, (mwl__point)point, at) &&
                mwl__fit_timer(&l->r, f, armed, bound, due) &&
                (!f->queued || place_later(l, &l->queue, (mwl__placed){f, order, false, 0}));
    f->queued = false; /* until it is in the queue */
    return good;
}

/* The next place for a frame behind `last`: below it, or below one around it. */
static mwl__frame *place_for(mwl__frame *last, mwl__slot **slot) {
    mwl__frame *f = last;
    uint32_t i = 0;
    for (;;) {
        mwl__gather *g = mwl__gather_of(f);
        *slot = NULL;
        if (f->awaits == MWL_AWAITS_FRAME && !f->target.frame) return f;
        for (; g && i < g->next; i++) {
            *slot = &g->slots[i];
            if (g->slots[i].state == MWL_SLOT_WAITING && g->slots[i].is_frame) return f;
        }
        if (!f->parent) return NULL;
        i = f->slot ? (uint32_t)(f->slot - mwl__gather_of(f->parent)->slots) + 1 : 0;
        f = f->parent;
    }
}

static mwl__frame *make_frame(mwl__loader *l, mwl__frame *parent, mwl__slot *slot) {
    uint64_t flow;
    if (!mwl__reader_array(&l->r, mwl__records[MWL_RECORD_FRAME].n_fields) ||
        !mwl__reader_uint(&l->r, l->r.link->program->tables.n_flows, &flow))
        return NULL;
    if (!parent && flow != l->r.link->program->tables.root_flow) { /* its place has a size */
        (void)damaged(l, "the first frame is not that of the root Flow");
        return NULL;
    }
    if (!parent && l->r.heap->used > l->r.heap->limit) { /* it was made with the run */
        l->r.heap->why = MWL_E_TOO_BIG;
        (void)no_memory(l);
        return NULL;
    }
    mwl__frame *f = mwl__frame_bare(l->run, parent, slot, (uint32_t)flow);
    if (!f) {
        (void)no_memory(l);
        return NULL;
    }
    if (slot) {
        slot->as.frame = f;
        slot->state = MWL_SLOT_ACTIVE;
    } else if (parent) {
        parent->target.frame = f;
    } else {
        l->run->root = f;
    }
    return f;
}

static bool get_frames(mwl__loader *l) {
    uint32_t n;
    mwl__frame *last = NULL, *parent = NULL;
    mwl__slot *slot = NULL;
    if (!mwl__reader_list(&l->r, UINT32_MAX, &n)) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (last && !(parent = place_for(last, &slot))) return damaged(l, "a frame has no place");
        last = make_frame(l, parent, slot);
        if (!last) return false;
        if (parent && !mwl__fit_child(&l->r, parent, last)) return false;
        if (!get_frame(l, last)) return false;
    }
    return !last || !place_for(last, &slot) || damaged(l, "a frame is missing");
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool get_limits(mwl__loader *l) {
    uint64_t n[6];
    mwl_limits own = l->vm->config.limits;
    if (mwl__reader_is_null(&l->r)) return true;
    if (!mwl__reader_array(&l->r, 7)) return false;
    for (int i = 0; i < 6; i++) {
        if (!mwl__reader_uint(&l->r, i < 2 ? 0 : UINT32_MAX, &n[i])) return false;
        if (n[i] == 0) return damaged(l, "a limit is 0");
    }
    own.fuel = n[0];
    own.memory_bytes = n[1] < SIZE_MAX ? (size_t)n[1] : SIZE_MAX;
    own.frame_depth = (uint32_t)n[2];
    own.entry_depth = (uint32_t)n[3];
    own.fan_out = (uint32_t)n[4];
    own.chain_depth = (uint32_t)n[5];
    if (own.chain_depth > MWL_CHAIN_LIMIT_MAX) return damaged(l, "a limit is too large");
    if (!mwl__reader_int(&l->r, &own.cleanup_ns)) return false;
    if (l->limited) return true;
    mwl__run_own *block = make(l, sizeof *block);
    if (!block) return false;
    block->limits = own;
    l->run->limits = &block->limits;
    return true;
}

static bool get_fuel(mwl__loader *l) {
    uint64_t used, all = l->run->limit_hit ? MWL_RUN_RESERVE_FUEL : l->run->limits->fuel;
    if (!mwl__reader_uint(&l->r, 0, &used)) return false;
    l->run->budget = used < all ? all - used : 0;
    return true;
}

static bool get_deadline(mwl__loader *l) {
    bool armed, bound;
    int64_t due;
    if (mwl__reader_is_null(&l->r)) return true;
    mwl__aside *a = mwl__run_aside(l->run);
    if (!a) return no_memory(l);
    a->deadline = true;
    if (!get_timer(l, &a->timer, &armed, &bound, &due)) return false;
    return (armed && !bound) || damaged(l, "a deadline has no instant");
}

static bool get_unused(mwl__loader *l) {
    uint32_t number;
    return mwl__reader_index(&l->r, MWL_NONE, &number);
}

static bool get_sites(mwl__loader *l) {
    uint32_t n;
    mwl_vm *vm = l->vm;
    const mwl__flow_tables *t = &l->r.link->program->tables;
    if (!mwl__reader_list(&l->r, MWL_FAILURE_SITES, &n)) return false;
    for (uint32_t i = 0; i < n; i++) {
        mwl_value failure;
        uint64_t flow, step, depth;
        if (!mwl__reader_array(&l->r, 4) || !mwl__reader_reference(&l->r, &failure) ||
            !mwl__reader_uint(&l->r, t->n_flows, &flow) ||
            !mwl__reader_uint(&l->r, t->n_steps, &step) ||
            !mwl__reader_uint(&l->r, UINT32_MAX, &depth))
            return false;
        const uint32_t at = vm->n_failure_sites++ % MWL_FAILURE_SITES;
        vm->failure_sites[at] = (mwl__failure_site){l->run, failure.as.p, (uint32_t)flow,
                                                    (uint32_t)step, (uint32_t)depth};
        l->run->noted = (l->run->noted | 1u << at % 4) & 15u;
    }
    return true;
}

static bool get_due(mwl__loader *l) {
    l->due_ns = MWL_NEVER;
    return mwl__reader_is_null(&l->r) || get_instant(l, &l->due_ns);
}

static bool get_number32(mwl__loader *l, uint32_t *out) {
    uint64_t n;
    if (!mwl__reader_uint(&l->r, UINT32_MAX, &n)) return false;
    *out = (uint32_t)n;
    return true;
}

static bool get_id(mwl__loader *l) {
    mwl_value v;
    if (!mwl__reader_value(&l->r, &v)) return false;
    mwl__replace(l->r.heap, &l->run->id, v);
    return mwl_value_kind(v) == MWL_KIND_STRING || damaged(l, "the id of a run is a text");
}

static bool get_run_part(mwl__loader *l, const mwl__field *field) {
    switch (field->kind) {
    case MWL_FIELD_DUE: return get_due(l);
    case MWL_FIELD_COUNT: return get_number32(l, &l->n_calls);
    case MWL_FIELD_HELD: return get_number32(l, &l->n_held);
    case MWL_FIELD_ID: return get_id(l);
    case MWL_FIELD_LIMITS: {
        bool good = get_limits(l);
        size_t most = l->run->limits->memory_bytes;
        size_t used = l->r.heap->used - (l->run->link->run_size - sizeof(mwl_run)); /* its root */
        l->r.heap->limit = most > SIZE_MAX - used ? SIZE_MAX : used + most;
        return good;
    }
    case MWL_FIELD_FUEL: return get_fuel(l);
    case MWL_FIELD_TIMER: return get_deadline(l);
    case MWL_FIELD_UNUSED: return get_unused(l);
    case MWL_FIELD_FRAMES: return get_frames(l);
    default: return get_sites(l);
    }
}

/* ---- records --------------------------------------------------------------------------------- */

/* FLOW, STEP, POINT, AT, TIMER and QUEUED of a frame, and the TIMER of a call, are read by the
 * functions for those records. */
static bool get_part(mwl__loader *l, enum mwl__record_id id, const mwl__field *field, void *record,
                     mwl__frame *f) {
    mwl__slot *slot = record;
    bool frame = false;
    mwl_call *execution = NULL;
    switch (field->kind) {
    case MWL_FIELD_ENTRIES: return get_entries(l, f);
    case MWL_FIELD_EXTRA: return get_extra(l, f);
    case MWL_FIELD_GATHER: return get_gather(l, f);
    case MWL_FIELD_SLOTS: return get_slots(l, f, record);
    case MWL_FIELD_TIMES: return get_times(l, f);
    case MWL_FIELD_RECORD:
        return get_call_state(l, f, id == MWL_RECORD_FRAME ? &f->record : &slot->record);
    case MWL_FIELD_TARGET:
        if (id == MWL_RECORD_FRAME) return get_frame_target(l, f);
        if (!get_target(l, f, slot, &frame, &execution)) {
            slot->as.execution = execution;
            return false;
        }
        slot->is_frame = frame;
        slot->as.execution = execution;
        return true;
    case MWL_FIELD_OWNER:
        if (id == MWL_RECORD_ENTRY)
            return mwl__reader_index(&l->r, MWL_NONE, &((mwl__entry *)record)->rank);
        return get_owner(l, f);
    default: return id != MWL_RECORD_RUN || get_run_part(l, field);
    }
}

static bool get_number(mwl__loader *l, enum mwl__record_id id, const mwl__field *field, void *at) {
    uint64_t n;
    if (!mwl__reader_uint(&l->r, field->limit, &n)) return false;
    if (field->kind == MWL_FIELD_NUMBER64) {
        *(uint64_t *)at = n;
    } else if (field->kind == MWL_FIELD_NUMBER8) {
        if (id == MWL_RECORD_RUN)
            l->run->why = (int8_t) - (int)n;
        else
            *(uint8_t *)at = (uint8_t)n;
    } else if (id == MWL_RECORD_CALL) {
        *(uint16_t *)at = (uint16_t)n;
    } else {
        if (n >= MWL_NONE) return damaged(l, "a number is too large");
        *(uint32_t *)at = (uint32_t)n;
    }
    return true;
}

static bool get_field(mwl__loader *l, enum mwl__record_id id, const mwl__field *field, void *record,
                      mwl__frame *f) {
    void *at = (char *)record + field->offset;
    mwl_value v;
    switch (field->kind) {
    case MWL_FIELD_NUMBER8:
    case MWL_FIELD_NUMBER32:
    case MWL_FIELD_NUMBER64:
        if (id == MWL_RECORD_FRAME && field->offset == offsetof(mwl__frame, flow)) return true;
        return get_number(l, id, field, at);
    case MWL_FIELD_INDEX32: return true; /* the Step of a frame */
    case MWL_FIELD_SIGNED: return mwl__reader_int(&l->r, at);
    case MWL_FIELD_INSTANT: return get_instant(l, at);
    case MWL_FIELD_DOUBLE:
        if (!mwl__reader_value(&l->r, &v)) return false;
        if (mwl_value_kind(v) != MWL_KIND_NUMBER) {
            mwl__drop(l->r.heap, v);
            return damaged(l, "this is not a number");
        }
        *(double *)at = v.as.d;
        return true;
    case MWL_FIELD_DATA:
    case MWL_FIELD_OBJECT:
    case MWL_FIELD_FAILURE:
    case MWL_FIELD_ANY: return get_value(l, field, at);
    case MWL_FIELD_RESULT: return get_result(l, at);
    case MWL_FIELD_FLAGS: return get_flags(l, id, record);
    default: return get_part(l, id, field, record, f);
    }
}

static bool get_record(mwl__loader *l, enum mwl__record_id id, void *record, mwl__frame *f) {
    const mwl__record *r = &mwl__records[id];
    for (unsigned i = 0; i < r->n_fields; i++)
        if (!get_field(l, id, &r->fields[i], record, f)) return false;
    return true;
}

bool mwl__load_records(mwl__loader *l) {
    if (!mwl__reader_array(&l->r, mwl__records[MWL_RECORD_RUN].n_fields) ||
        !get_record(l, MWL_RECORD_RUN, l->run, NULL))
        return false;
    if (l->r.c.at != l->r.c.end) return damaged(l, "there is something after the run");
    return mwl__reader_complete(&l->r);
}
