/* nest.h: what the interpreter takes for granted at each instruction of the machine.
 *
 * Brackets (ENTER ... ESTABLISH ... ASCEND ... UNWIND, CALL ... CALL_END, GATHER ... GATHER_END,
 * STEP) nest: the records that an instruction works on are there, are the ones it names and are in
 * the phase it belongs to. verify_nest.c proves it when a program is loaded; checked builds
 * (MWL_CHECKED) test it again at every instruction and stop if it is not true. */
#ifndef MWL_NEST_H
#define MWL_NEST_H

#include "vm/machine/gather.h"

static inline bool mwl__nest_in_step(const mwl__frame *f) { return f->step != MWL_NONE; }
static inline bool mwl__nest_no_fan_out(const mwl__frame *f) {
    return !f->extra || !f->extra->gather || f->extra->gather->active == 0;
}
static inline bool mwl__nest_step(const mwl__frame *f, uint32_t ix) {
    return mwl__tables(f)->steps[ix].flow == f->flow && mwl__nest_no_fan_out(f);
}
static inline bool mwl__nest_complete(const mwl__frame *f) {
    return !f->entries && !mwl_is_absent(f->res.v) && mwl__nest_no_fan_out(f);
}

/* The innermost entry is the one named, and in this state. */
static inline bool mwl__nest_entry(const mwl__frame *f, uint32_t ix, unsigned state) {
    return f->entries && f->entries->ix == ix && f->entries->state == state;
}
static inline bool mwl__nest_in_phase(const mwl__frame *f) {
    return f->entries && f->entries->state <= MWL_ENTRY_CLEANING;
}
static inline bool mwl__nest_rises(const mwl__frame *f) {
    return f->entries &&
           (f->entries->state == MWL_ENTRY_SUCCESS || f->entries->state == MWL_ENTRY_FAILURE);
}
static inline bool mwl__nest_rises_at(const mwl__frame *f, uint32_t ix) {
    return mwl__nest_rises(f) && f->entries->ix == ix;
}
static inline bool mwl__nest_phase(const mwl__frame *f, uint32_t ix, unsigned phase) {
    return mwl__nest_entry(f, ix, MWL_ENTRY_ENTERING + phase);
}
static inline bool mwl__nest_action_done(const mwl__frame *f, uint32_t ix, unsigned phase) {
    return mwl__nest_entry(f, ix, (MWL_ENTRY_ENTERING + phase) | MWL_ENTRY_STRUCTURAL) &&
           !mwl_is_absent(f->res.v);
}
static inline bool mwl__nest_ascend(const mwl__frame *f, uint32_t ix) {
    return mwl__nest_entry(f, ix, MWL_ENTRY_INNER) && !mwl_is_absent(f->res.v);
}
/* Before its onAlways, on every way there: an interruption may have ended any earlier phase. */
static inline bool mwl__nest_always(const mwl__frame *f, uint32_t ix) {
    return f->entries && f->entries->ix == ix && mwl__entry_established(f->entries) &&
           !mwl__entry_cleaning(f->entries);
}

static inline bool mwl__nest_call(const mwl__frame *f, uint32_t ix) {
    return f->record && f->record->ix == ix;
}
static inline bool mwl__nest_fans_out(const mwl__frame *f, uint32_t ix) {
    return mwl__tables(f)->calls[ix].gather != MWL_NONE;
}
static inline bool mwl__nest_dispatch(const mwl__frame *f, uint32_t ix) {
    if (!mwl__nest_call(f, ix)) return false;
    return mwl__nest_fans_out(f, ix) ? mwl__gather_starting(f, ix) : mwl__nest_no_fan_out(f);
}
static inline bool mwl__nest_call_fault(const mwl__frame *f, uint32_t ix) {
    return mwl__nest_call(f, ix) && (!mwl__nest_fans_out(f, ix) || mwl__gather_starting(f, ix));
}
static inline bool mwl__nest_arms(const mwl__frame *f, uint32_t ix) {
    return mwl__nest_call(f, ix) && !mwl__nest_fans_out(f, ix) && !mwl_is_absent(f->res.v);
}
static inline bool mwl__nest_call_end(const mwl__frame *f, uint32_t ix) {
    return mwl__nest_call(f, ix) && (!mwl__nest_fans_out(f, ix) || mwl__gather_in_arm(f));
}

static inline bool mwl__nest_gather(const mwl__frame *f) {
    return mwl__nest_in_step(f) && mwl__nest_no_fan_out(f);
}
static inline bool mwl__nest_gather_field(const mwl__frame *f, unsigned flag) {
    const mwl__gather *g = mwl__gather_of(f);
    return g && g->active == 0 && (!flag || (mwl__tables(f)->gathers[g->ix].flags & flag));
}
static inline bool mwl__nest_gather_run(const mwl__frame *f, uint32_t ix) {
    const mwl__gather *g = mwl__gather_of(f);
    return g && g->ix == ix && !g->arming;
}
static inline bool mwl__nest_gather_end(const mwl__frame *f, uint32_t ix) {
    const mwl__gather *g = mwl__gather_of(f);
    return g && g->ix == ix && g->active == 0 && mwl__nest_in_step(f);
}
static inline bool mwl__nest_gather_fault(const mwl__frame *f, uint32_t ix) {
    return mwl__nest_gather_end(f, ix) && !mwl__gather_of(f)->faulted;
}

#endif
