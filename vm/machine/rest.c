/* rest.c: runs at rest: nothing of them is in the interpreter or in a callback.
 *
 * Owns: whether a run can be saved, the names of the points where its frames continue, and the
 * order in which its frames and executions are visited. Refuses to know: bytes (vm/snapshot).
 *
 * A frame that gave up its turn in the middle of its code is not at rest, unless its pc happens to
 * be that of a point: what a point promises holds on every way to its pc (verify_nest.c). */
#include "vm/machine/rest.h"

#include "vm/machine/run.h"

/* ---- points ---------------------------------------------------------------------------------- */

static bool point_before(const mwl__frame *f, mwl__point *point, uint32_t *index) {
    const mwl_program *p = mwl__program_of(f);
    if (f->pc == 0 || f->pc > p->n_code) return false;
    mwl__ins last = p->code[f->pc - 1];
    uint32_t x = mwl__ins_x(last);
    switch (last.op) {
    case MWL_OP_SLEEP_FOR:
    case MWL_OP_SLEEP_UNTIL: *point = MWL_POINT_SLEEP; return true;
    case MWL_OP_DISPATCH: *point = MWL_POINT_CALL; break;
    case MWL_OP_CALL_END: *point = MWL_POINT_DIRECT; break;
    default: return false;
    }
    *index = x;
    return p->tables.calls[x].gather == MWL_NONE; /* else the fan-out leads there */
}

bool mwl__rest_point(const mwl__frame *f, mwl__point *point, uint32_t *index) {
    const mwl__flow_tables *t = mwl__tables(f);
    const mwl__gather *g = mwl__gather_of(f);
    const mwl__entry *e = f->entries;
    *index = MWL_NONE;
    if (f->state == MWL_FRAME_RUNNING || f->state == MWL_FRAME_DONE) return false;
    if (f->extra && f->extra->saved_regs) return false;
    if (f->extra && (f->extra->awaiting || f->extra->resume)) {
        *point = MWL_POINT_UNWIND;
    } else if (f->pc == MWL_NONE) {
        *point = MWL_POINT_REFUSED;
    } else if (!e && f->step == MWL_NONE && f->pc == t->flows[f->flow].pc) {
        *point = MWL_POINT_START;
    } else if (e && e->state == MWL_ENTRY_INNER && f->pc == t->entries[e->ix].inner_pc) {
        *point = MWL_POINT_REENTER;
        *index = e->ix;
    } else if (e && e->waits && e->state == MWL_ENTRY_ENTERING) {
        *point = MWL_POINT_WAIT;
        *index = e->ix;
    } else if (g && !g->arming && f->pc == t->gathers[g->ix].run_pc) {
        *point = MWL_POINT_GATHER;
        *index = g->ix;
    } else {
        return point_before(f, point, index);
    }
    return true;
}

/* ---- visiting -------------------------------------------------------------------------------- */

static bool has_frame(const mwl__slot *s) { return s->state == MWL_SLOT_ACTIVE && s->is_frame; }

/* The first frame in the slots of f's Gather from this index on. */
static mwl__frame *frame_from(const mwl__frame *f, uint32_t i) {
    const mwl__gather *g = mwl__gather_of(f);
    for (; g && i < g->next; i++)
        if (has_frame(&g->slots[i])) return g->slots[i].as.frame;
    return NULL;
}

static uint32_t slot_index(const mwl__frame *f, const mwl__slot *s) {
    return (uint32_t)(s - mwl__gather_of(f)->slots);
}

mwl__frame *mwl__rest_next_frame(const mwl__frame *f) {
    mwl__frame *below = f->awaits == MWL_AWAITS_FRAME ? f->target.frame : frame_from(f, 0);
    for (; !below && f->parent; f = f->parent)
        if (f->slot) below = frame_from(f->parent, slot_index(f->parent, f->slot) + 1);
    return below;
}

static mwl_call *call_from(const mwl__frame *f, uint32_t i) {
    const mwl__gather *g = mwl__gather_of(f);
    for (; g && i < g->next; i++) {
        const mwl__slot *s = &g->slots[i];
        if (s->state == MWL_SLOT_ACTIVE && !s->is_frame && s->as.execution) return s->as.execution;
    }
    return NULL;
}

mwl_call *mwl__rest_next_call(const mwl_run *run, const mwl_call *last) {
    const mwl__frame *f = last ? last->frame : run->root;
    mwl_call *next = NULL;
    if (last) {
        if (last->slot) next = call_from(f, slot_index(f, last->slot) + 1);
        if (!next) f = mwl__rest_next_frame(f);
    }
    for (; !next && f; f = next ? f : mwl__rest_next_frame(f))
        next = f->awaits == MWL_AWAITS_EXECUTION ? f->target.execution : call_from(f, 0);
    return next;
}

/* ---- at rest --------------------------------------------------------------------------------- */

static bool frame_rests(const mwl__frame *f) {
    mwl__point point;
    uint32_t index;
    const mwl__gather *g = mwl__gather_of(f);
    for (uint32_t i = 0; g && i < g->next; i++) {
        const mwl__slot *s = &g->slots[i];
        if (s->state == MWL_SLOT_ACTIVE && !s->is_frame && !s->as.execution)
            return false; /* its fields are being evaluated */
    }
    return mwl__rest_point(f, &point, &index);
}

bool mwl_run_at_rest(const mwl_run *run) {
    if (!run || run->busy || run->cancel_asked || run->free_asked || run->frozen ||
        run->state == MWL_RUN_ABORTED)
        return false;
    for (const mwl__frame *f = run->root; f; f = mwl__rest_next_frame(f))
        if (!frame_rests(f)) return false;
    for (const mwl_call *c = NULL; (c = mwl__rest_next_call(run, c));)
        if (c->starting || c->settled) return false;
    return run->state == MWL_RUN_DONE || run->root;
}
