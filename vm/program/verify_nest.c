/* verify_nest.c: the brackets of the machine's code nest.
 *
 * Every instruction that can be reached has one place: its Flow, the Step that has begun, the
 * innermost middleware entry and its state, the open call, the open Gather, whether a value is in
 * flight (in_flight) and whether there is a Result (res). An instruction of the machine is allowed
 * in some places and leads to others. All ways to an instruction must have the same place;
 * in_flight and res are true if they are on all of them. The records of an entry, a call, a Gather
 * and a Step are checked where it begins: each pc must be after that, and have the instruction that
 * it stands for. So one walk in code order is enough, and the interpreter relies on what nest.h
 * lists.
 *
 * An entry, a call and a Gather begin at one instruction each, so their index determines everything
 * around them. Code that nothing leads to is not checked. */
#include "vm/program/entry_state.h"
#include "vm/program/verify.h"

#define REFUSE_AT(pc, message)                                                                     \
    return mwl__image_refuse(&w->p->image, w->error, MWL_E_IMAGE, message, &w->p->code[pc])
#define MUST(condition, message)                                                                   \
    do {                                                                                           \
        if (!(condition)) REFUSE_AT(pc, message);                                                  \
    } while (0)

typedef enum call_state { NO_CALL, FIELDS, ANSWERED, ARM } call_state;
typedef enum gather_state { NO_GATHER, ENUMERATING, RUNNING, ARMING } gather_state;

typedef mwl__nesting place;
typedef mwl__known known;

typedef struct walk {
    const mwl_program *p;
    const mwl__flow_tables *t;
    mwl__loops *loops;
    mwl_error *error;
    uint32_t *open; /* per instruction: 1 + the place on the ways to it that were seen, or 0 */
    place *places;
    size_t n_places, cap_places;
    mwl__places at; /* for a Flow: the place inside its entries, before a Step */
    place now;
    bool live;
} walk;

/* ---- places ---------------------------------------------------------------------------------- */

static bool same(const place *a, const place *b) {
    return a->flow == b->flow && a->entry == b->entry && a->call == b->call &&
           a->gather == b->gather && a->entry_state == b->entry_state &&
           a->call_state == b->call_state && a->gather_state == b->gather_state &&
           a->step == b->step;
}

/* Some instructions may be reached in two states; then the place has the state for both. */
static place as_seen_by(place at, unsigned op) {
    if ((op == MWL_OP_REENTER || op == MWL_OP_PHASE_FAULT) &&
        (at.entry_state == MWL_ENTRY_SUCCESS || at.entry_state == MWL_ENTRY_FAILURE))
        at.entry_state = MWL_ENTRY_EITHER;
    if (op == MWL_OP_CALL_END && at.call_state == ARM) at.call_state = ANSWERED;
    if (op == MWL_OP_GATHER_RUN && at.gather_state == ENUMERATING) at.gather_state = RUNNING;
    return at;
}

static const char *const disagree = "ways that nest differently meet here";

/* Can this instruction be reached only from the handler of a construct? */
static bool takes_raised(unsigned op) { return (mwl__op_get(op)->flags & MWL_OPF_RAISED) != 0; }

/* Can this instruction be reached only from the machine, not from a jump or the instruction before
 * it? The machine also begins the calls of a Gather. */
static bool only_tables_lead_to(const walk *w, mwl__ins ins) {
    if (mwl__op_get(ins.op)->flags & (MWL_OPF_RAISED | MWL_OPF_TABLE)) return true;
    return ins.op == MWL_OP_CALL && w->t->calls[mwl__ins_x(ins)].gather != MWL_NONE;
}

static mwl_status join(walk *w, uint32_t pc, uint32_t target, place from) {
    from = as_seen_by(from, w->p->code[target].op);
    if (w->open[target]) {
        place *at = &w->places[w->open[target] - 1];
        MUST(same(at, &from), disagree);
        at->in_flight = at->in_flight && from.in_flight;
        at->res = at->res && from.res;
        return MWL_OK;
    }
    void *places = w->places;
    mwl_status status =
        mwl__mem_grow(&w->p->alloc, &places, &w->cap_places, w->n_places + 1, sizeof *w->places);
    w->places = places;
    if (status < 0) return mwl__image_refuse(&w->p->image, w->error, status, "out of memory", NULL);
    w->places[w->n_places] = from;
    w->open[target] = (uint32_t)++w->n_places;
    return MWL_OK;
}

/* The tables or a jump lead from pc to the target, in this place. */
static mwl_status lead(walk *w, uint32_t pc, uint32_t target, place from) {
    MUST(target > pc, "a table leads back");
    MUST(!only_tables_lead_to(w, w->p->code[target]), "a way leads where only the machine may go");
    return join(w, pc, target, from);
}

static bool is_at(const walk *w, uint32_t pc, unsigned op, uint32_t x) {
    return pc < w->p->n_code && w->p->code[pc].op == op && mwl__ins_x(w->p->code[pc]) == x;
}

/* Is an ASCEND there? Of which entry does not matter: where it is reached, ascend() checks that. */
static bool is_ascent(const walk *w, uint32_t pc) {
    return pc < w->p->n_code && w->p->code[pc].op == MWL_OP_ASCEND;
}

/* In a Step, inside the Flow's own entries and nothing else. */
static bool is_plain(const walk *w) {
    const known *f = &w->at.flows[w->now.flow];
    return w->now.step != MWL_NONE && f->begun && w->now.entry == f->outer.entry &&
           w->now.entry_state == f->outer.entry_state && w->now.call_state == NO_CALL &&
           w->now.gather_state == NO_GATHER;
}

/* Where a call, or another entry, may begin. */
static bool is_open_ground(const walk *w) {
    return w->now.call_state == NO_CALL && w->now.gather_state == NO_GATHER &&
           (w->now.entry_state == MWL_ENTRY_NONE || w->now.entry_state == MWL_ENTRY_INNER ||
            (w->now.entry_state & MWL_ENTRY_STRUCTURAL));
}

static bool in_phase(const walk *w) {
    return w->now.call_state == NO_CALL && w->now.entry_state >= MWL_ENTRY_ENTERING &&
           w->now.entry_state <= MWL_ENTRY_CLEANING;
}

static bool rises(const walk *w) {
    return w->now.call_state == NO_CALL &&
           (w->now.entry_state == MWL_ENTRY_SUCCESS || w->now.entry_state == MWL_ENTRY_FAILURE);
}

static bool at_entry(const walk *w, uint32_t e, unsigned state) {
    return w->now.entry == e && w->now.entry_state == state && w->now.call_state == NO_CALL &&
           w->now.gather_state == NO_GATHER;
}

static known begun_at(place outer) {
    outer.in_flight = outer.res = false;
    return (known){outer, true, 0};
}

static place inside(const walk *w, uint32_t e, unsigned state) {
    place at = w->at.entries[e].outer;
    at.entry = e;
    at.entry_state = (uint8_t)state;
    return at;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static const char *const not_plain =
    "this is allowed only in a Step, outside of its calls and middleware";
static const char *const no_value = "no value is in flight here";
static const char *const no_result = "there is no Result here";

/* The first Step of a Flow is what its entries lead to; then the others, and its ascent, are known.
 */
static mwl_status begin_step(walk *w, uint32_t pc, uint32_t step) {
    const mwl__step_rec *s = &w->t->steps[step];
    known *f = &w->at.flows[s->flow];
    MUST(s->pc == pc, "a Step is not where its record says");
    if (!f->begun) {
        MUST(w->live && w->now.flow == s->flow && is_open_ground(w) && w->now.step == MWL_NONE &&
                 !(w->now.entry_state & MWL_ENTRY_STRUCTURAL),
             "a Flow does not begin with its entries and a Step");
        *f = begun_at(w->now);
        place rising = f->outer;
        rising.res = true;
        mwl_status status = lead(w, pc, w->t->flows[s->flow].ascend_pc, rising);
        if (status < 0) return status;
    } else if (w->live) {
        w->now.step = MWL_NONE;
        MUST(same(&w->now, &f->outer), disagree);
    }
    w->now = f->outer;
    w->now.step = step;
    w->live = true;
    place caught = w->now;
    caught.res = true;
    for (uint32_t i = 0; i < s->n_catch; i++) {
        mwl_status status = lead(w, pc, w->t->catches[s->first_catch + i].pc, caught);
        if (status < 0) return status;
    }
    return MWL_OK;
}

static mwl_status visit_step(walk *w, uint32_t pc, unsigned op, uint32_t x) {
    switch (op) {
    case MWL_OP_STEP: return begin_step(w, pc, x);
    case MWL_OP_OUT:
    case MWL_OP_ASSIGN: return MWL_OK;
    case MWL_OP_PASS_INPUT: MUST(w->now.step != MWL_NONE, not_plain); return MWL_OK;
    case MWL_OP_COMPLETE:
        MUST(w->now.flow == x && w->now.entry_state == MWL_ENTRY_NONE && is_open_ground(w),
             "a Flow completes inside something or as another");
        return MWL_OK;
    default: MUST(is_plain(w), not_plain); break;
    }
    if (op == MWL_OP_TO || op == MWL_OP_TO_HANDLER)
        MUST(w->t->steps[x].flow == w->now.flow && is_at(w, w->t->steps[x].pc, MWL_OP_STEP, x),
             "a Step leads to something else than a Step of its Flow");
    return MWL_OK;
}

/* ---- middleware entries ---------------------------------------------------------------------- */

/* Returns whether MWL_ENTRY_PASSES_SUCCESS or _FAILURE holds for the phase that begins there. */
static bool passes(const walk *w, uint32_t x, uint32_t phase_pc) {
    const mwl__entry_rec *e = &w->t->entries[x];
    return is_at(w, phase_pc, MWL_OP_REENTER, x) && e->leave_pc == e->always_pc + 1;
}

static mwl_status enter(walk *w, uint32_t pc, uint32_t x) {
    const mwl__entry_rec *e = &w->t->entries[x];
    MUST(is_open_ground(w), "an entry begins inside a phase, a call or a Gather");
    MUST(!w->at.entries[x].begun, "an entry begins twice");
    MUST(e->inner_pc > pc && is_at(w, e->inner_pc - 1, MWL_OP_ESTABLISH, x) && e->always_pc > pc &&
             is_at(w, e->always_pc, MWL_OP_ALWAYS, x) && e->leave_pc > e->always_pc &&
             is_at(w, e->leave_pc, MWL_OP_UNWIND, x) && e->out_pc == e->leave_pc + 1,
         "an entry's code is not where its record says");
    MUST(passes(w, x, e->success_pc) == ((e->flags & MWL_ENTRY_PASSES_SUCCESS) != 0) &&
             passes(w, x, e->failure_pc) == ((e->flags & MWL_ENTRY_PASSES_FAILURE) != 0) &&
             (is_ascent(w, e->leave_pc + 1) || !(e->flags & MWL_ENTRY_RISES)),
         "an entry's flags do not agree with its code");
    w->at.entries[x] = begun_at(w->now);
    w->now = inside(w, x, MWL_ENTRY_ENTERING);
    return MWL_OK;
}

static mwl_status act(walk *w, uint32_t pc, unsigned phase, uint32_t x) {
    unsigned state = MWL_ENTRY_ENTERING + phase;
    MUST(at_entry(w, x, state), "an action is not in its phase");
    uint32_t call_pc = w->t->entries[x].struct_pc[phase];
    if (call_pc == MWL_NONE) return MWL_OK;
    place at = inside(w, x, state | MWL_ENTRY_STRUCTURAL);
    at.in_flight = true;
    return lead(w, pc, call_pc, at);
}

static mwl_status ascend(walk *w, uint32_t pc, uint32_t x) {
    MUST(at_entry(w, x, MWL_ENTRY_INNER), "the ascent is not at the entry it names");
    mwl_status status = lead(w, pc, w->t->entries[x].success_pc, inside(w, x, MWL_ENTRY_SUCCESS));
    if (status < 0) return status;
    return lead(w, pc, w->t->entries[x].failure_pc, inside(w, x, MWL_ENTRY_FAILURE));
}

static mwl_status visit_entry(walk *w, uint32_t pc, mwl__ins ins, uint32_t x) {
    static const char *const no_phase = "this is allowed only in a phase of a middleware entry";
    static const char *const other = "the innermost entry is another, or in another phase";
    switch (ins.op) {
    case MWL_OP_ENTER: return enter(w, pc, x);
    case MWL_OP_GATE:
    case MWL_OP_WITH: MUST(in_phase(w), no_phase); return MWL_OK;
    case MWL_OP_ACTION: return act(w, pc, ins.a, x);
    case MWL_OP_ACTION_DONE:
        MUST(at_entry(w, x, (MWL_ENTRY_ENTERING + ins.a) | MWL_ENTRY_STRUCTURAL),
             "an action's own call ends elsewhere");
        return MWL_OK;
    case MWL_OP_ESTABLISH:
        MUST(at_entry(w, x, MWL_ENTRY_ENTERING) && w->t->entries[x].inner_pc == pc + 1, other);
        w->now = inside(w, x, MWL_ENTRY_INNER);
        return MWL_OK;
    case MWL_OP_ASCEND: return ascend(w, pc, x);
    case MWL_OP_SHAPE_SKIP:
    case MWL_OP_SHAPE:
    case MWL_OP_ENVELOPE: MUST(rises(w), no_phase); return MWL_OK;
    case MWL_OP_ENTRY_FAULT: MUST(at_entry(w, x, MWL_ENTRY_ENTERING), other); return MWL_OK;
    case MWL_OP_PHASE_FAULT:
    case MWL_OP_REENTER: MUST(at_entry(w, x, MWL_ENTRY_EITHER), other); return MWL_OK;
    case MWL_OP_UNWIND:
        MUST(at_entry(w, x, MWL_ENTRY_CLEANING) && w->t->entries[x].leave_pc == pc, other);
        w->now = w->at.entries[x].outer;
        return MWL_OK;
    default:
        MUST(at_entry(w, x, MWL_ENTRY_CLEANING), other);
        return MWL_OK; /* ALWAYS, ALWAYS_FAULT */
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool at_call(const walk *w, uint32_t c, call_state s) {
    return w->now.call == c && w->now.call_state == s;
}

static place in_call(const walk *w, uint32_t c, call_state s) {
    place at = w->at.calls[c].outer;
    at.call = c;
    at.call_state = (uint8_t)s;
    at.res = s != FIELDS;
    if (w->t->calls[c].gather != MWL_NONE) at.gather_state = s == FIELDS ? RUNNING : ARMING;
    return at;
}

static mwl_status lead_to_arms(walk *w, uint32_t pc, uint32_t c) {
    mwl_status status = lead(w, pc, w->t->calls[c].success_pc, in_call(w, c, ARM));
    return status < 0 ? status : lead(w, pc, w->t->calls[c].failure_pc, in_call(w, c, ARM));
}

static mwl_status begin_call(walk *w, uint32_t pc, uint32_t c) {
    const mwl__call_rec *rec = &w->t->calls[c];
    MUST(rec->fields_pc == pc && rec->end_pc > pc && is_at(w, rec->end_pc, MWL_OP_CALL_END, c),
         "a call's code is not where its record says");
    bool bare = (rec->flags & ~(uint32_t)(MWL_CALL_BARE | MWL_CALL_RISES)) == 0 &&
                rec->end_pc == pc + 2 && is_at(w, pc + 1, MWL_OP_DISPATCH, c);
    MUST(bare == ((rec->flags & MWL_CALL_BARE) != 0) &&
             (is_ascent(w, rec->end_pc + 1) || !(rec->flags & MWL_CALL_RISES)),
         "a call's flags do not agree with its code");
    if (rec->gather == MWL_NONE)
        MUST(is_open_ground(w), "a call begins inside a phase, another call or a Gather");
    w->at.calls[c] = begun_at(w->now);
    w->now = in_call(w, c, FIELDS);
    if (rec->gather == MWL_NONE || !(rec->flags & MWL_CALL_HAS_ARMS)) return MWL_OK;
    return lead_to_arms(w, pc, c); /* as GATHER_ARMS does */
}

static mwl_status visit_call(walk *w, uint32_t pc, unsigned op, uint32_t x) {
    static const char *const other = "the open call is another, or at another point";
    bool fans_out = op != MWL_OP_CALL_INPUT && op != MWL_OP_CALL_WITH && op != MWL_OP_ARM_VALUE &&
                    w->t->calls[x].gather != MWL_NONE;
    switch (op) {
    case MWL_OP_CALL: return begin_call(w, pc, x);
    case MWL_OP_CALL_INPUT:
    case MWL_OP_CALL_WITH: MUST(w->now.call_state == FIELDS, other); return MWL_OK;
    case MWL_OP_DISPATCH:
        MUST(at_call(w, x, FIELDS), other);
        w->now = in_call(w, x, ANSWERED);
        w->live = !fans_out; /* a Gather continues with the next call */
        return MWL_OK;
    case MWL_OP_ARMS:
        MUST(at_call(w, x, ANSWERED) && !fans_out, other);
        return lead_to_arms(w, pc, x);
    case MWL_OP_ARM_VALUE: MUST(w->now.call_state == ARM, other); return MWL_OK;
    case MWL_OP_CALL_FAULT: MUST(at_call(w, x, FIELDS), other); return MWL_OK;
    case MWL_OP_ARM_FAULT: MUST(at_call(w, x, ARM), other); return MWL_OK;
    default: /* CALL_END */
        MUST(at_call(w, x, ANSWERED) && w->t->calls[x].end_pc == pc, other);
        w->now = w->at.calls[x].outer;
        w->live = !fans_out;
        return MWL_OK;
    }
}

/* ---- Gather ---------------------------------------------------------------------------------- */

static place in_gather(const walk *w, uint32_t g, gather_state s) {
    place at = w->at.gathers[g].outer;
    at.gather = g;
    at.gather_state = (uint8_t)s;
    return at;
}

static mwl_status begin_gather(walk *w, uint32_t pc, uint32_t g) {
    static const char *const astray = "a Gather's code is not where its record says";
    const mwl__gather_rec *rec = &w->t->gathers[g];
    MUST(is_plain(w), not_plain);
    MUST(!w->at.gathers[g].begun, "a Gather begins twice");
    MUST(rec->run_pc > pc && is_at(w, rec->run_pc, MWL_OP_GATHER_RUN, g) && rec->arms_pc > pc &&
             is_at(w, rec->arms_pc, MWL_OP_GATHER_ARMS, g) && rec->end_pc > pc &&
             is_at(w, rec->end_pc, MWL_OP_GATHER_END, g),
         astray);
    for (uint32_t i = 0; i < rec->n_calls; i++) {
        uint32_t c = w->p->keys[rec->first_call + i], at = w->t->calls[c].fields_pc;
        MUST(at > pc && is_at(w, at, MWL_OP_CALL, c), astray);
    }
    w->at.gathers[g] = begun_at(w->now);
    w->now = in_gather(w, g, ENUMERATING);
    return MWL_OK;
}

static mwl_status visit_gather(walk *w, uint32_t pc, unsigned op, uint32_t x) {
    static const char *const other = "the open Gather is another, or at another point";
    switch (op) {
    case MWL_OP_GATHER: return begin_gather(w, pc, x);
    case MWL_OP_GATHER_OVER:
    case MWL_OP_GATHER_NEED:
        MUST(w->now.gather_state == ENUMERATING, other);
        MUST(op == MWL_OP_GATHER_NEED || (w->t->gathers[w->now.gather].flags & MWL_GATHER_OVER),
             "a Gather enumerates that has its calls written");
        return MWL_OK;
    case MWL_OP_GATHER_FAULT:
        MUST(w->now.gather == x && w->now.gather_state == ENUMERATING, other);
        return MWL_OK;
    case MWL_OP_GATHER_END: w->now = w->at.gathers[x].outer; return MWL_OK;
    case MWL_OP_GATHER_RUN:
        MUST(w->now.gather == x && w->now.gather_state == RUNNING && w->now.call_state == NO_CALL &&
                 w->t->gathers[x].run_pc == pc,
             other);
        return MWL_OK;
    default: return MWL_OK; /* GATHER_ARMS: its place is from the tables */
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Finds the place here if the tables determine it; else returns false. */
static bool place_from_tables(const walk *w, uint32_t pc, place *out) {
    mwl__ins ins = w->p->code[pc];
    uint32_t x = mwl__ins_x(ins);
    switch (ins.op) {
    case MWL_OP_ALWAYS:
    case MWL_OP_UNWIND: {
        uint32_t at =
            ins.op == MWL_OP_ALWAYS ? w->t->entries[x].always_pc : w->t->entries[x].leave_pc;
        if (!w->at.entries[x].begun || at != pc) return false;
        *out = inside(w, x, MWL_ENTRY_CLEANING);
        return true;
    }
    case MWL_OP_CALL: {
        uint32_t g = w->t->calls[x].gather;
        if (g == MWL_NONE || !w->at.gathers[g].begun || w->t->calls[x].fields_pc != pc)
            return false;
        *out = in_gather(w, g, RUNNING);
        out->in_flight = true;
        return true;
    }
    case MWL_OP_CALL_END:
        if (!w->at.calls[x].begun || w->t->calls[x].end_pc != pc) return false;
        *out = in_call(w, x, ANSWERED);
        return true;
    case MWL_OP_GATHER_RUN:
    case MWL_OP_GATHER_ARMS:
    case MWL_OP_GATHER_END: {
        const mwl__gather_rec *g = &w->t->gathers[x];
        uint32_t at = ins.op == MWL_OP_GATHER_RUN    ? g->run_pc
                      : ins.op == MWL_OP_GATHER_ARMS ? g->arms_pc
                                                     : g->end_pc;
        if (!w->at.gathers[x].begun || at != pc) return false;
        *out = in_gather(w, x, ins.op == MWL_OP_GATHER_RUN ? RUNNING : ARMING);
        return true;
    }
    default: return false;
    }
}

/* Finds the place at pc, on all ways to it. */
static mwl_status arrive(walk *w, uint32_t pc) {
    mwl__ins ins = w->p->code[pc];
    uint32_t loop = w->loops->at[pc];
    place at;
    if (w->live && only_tables_lead_to(w, ins))
        REFUSE_AT(pc, "control runs into where only the machine may go");
    if (w->live) w->now = as_seen_by(w->now, ins.op);
    uint32_t open = w->open[pc];
    if (loop != MWL_NONE && w->loops->loop[loop].body == pc)
        open = w->open[w->loops->loop[loop].next];
    if (open) {
        at = w->places[open - 1];
        MUST(!w->live || same(&w->now, &at), disagree);
        at.in_flight = at.in_flight && (!w->live || w->now.in_flight);
        at.res = at.res && (!w->live || w->now.res);
        w->now = at;
        w->live = true;
    }
    if (place_from_tables(w, pc, &at)) {
        MUST(!w->live || same(&w->now, &at), disagree);
        MUST(!w->live || !at.res || w->now.res, no_result);
        w->now = at;
        w->live = true;
    }
    return MWL_OK;
}

static mwl_status to_handler(walk *w, uint32_t pc) {
    uint32_t i = w->loops->handler[pc];
    if (i == MWL_NONE) return MWL_OK;
    const mwl__handler_rec *h = &w->p->handlers[i];
    unsigned op = w->p->code[h->target].op;
    if (h->kind == MWL_HANDLER_SITE) {
        MUST(takes_raised(op),
             "a construct's handler does not lead to the instruction for its failure");
    } else {
        MUST(w->p->code[pc].op < MWL_OP_MACHINE,
             "an expression's handler is around the machine's instructions");
        MUST(!only_tables_lead_to(w, w->p->code[h->target]),
             "a way leads where only the machine may go");
    }
    return join(w, pc, h->target, w->now);
}

/* Keeps what saved runs need: that a way leads to pc, and so behind it. */
static void note(walk *w, uint32_t pc, mwl__ins ins, uint32_t x) {
    switch (ins.op) {
    case MWL_OP_SLEEP_FOR:
    case MWL_OP_SLEEP_UNTIL: w->at.sleeps[w->now.step] = pc + 1; break;
    case MWL_OP_ACTION: w->at.actions[x * 4 + ins.a] = pc + 1; break;
    case MWL_OP_ESTABLISH: w->at.entries[x].after = pc + 1; break;
    case MWL_OP_DISPATCH: w->at.calls[x].after = pc + 1; break;
    default: break;
    }
}

static mwl_status visit(walk *w, uint32_t pc) {
    mwl__ins ins = w->p->code[pc];
    const mwl__op_info *info = mwl__op_get(ins.op);
    uint32_t x = mwl__ins_x(ins);
    mwl_status status = arrive(w, pc);
    if (status < 0) return status;
    if (!w->live && !(ins.op == MWL_OP_STEP && w->t->steps[x].pc == pc)) {
        w->loops->dead[pc] = 1;
        return MWL_OK;
    }
    if (w->live && (status = to_handler(w, pc)) < 0) return status;
    const bool was_live = w->live, had_value = w->now.in_flight, had_result = w->now.res;
    MUST(ins.op != MWL_OP_END, "a Flow holds the end of an expression");
    if (ins.op >= MWL_OP_GATHER)
        status = visit_gather(w, pc, ins.op, x);
    else if (ins.op >= MWL_OP_CALL)
        status = visit_call(w, pc, ins.op, x);
    else if (ins.op >= MWL_OP_ENTER)
        status = visit_entry(w, pc, ins, x);
    else if (ins.op >= MWL_OP_MACHINE)
        status = visit_step(w, pc, ins.op, x);
    if (status < 0) return status;
    MUST(!was_live || had_value || !(info->flags & MWL_OPF_NEEDS_VALUE), no_value);
    MUST(!was_live || had_result || !(info->flags & MWL_OPF_NEEDS_RESULT), no_result);
    if (was_live) note(w, pc, ins, x);
    if (info->flags & MWL_OPF_NEEDS_VALUE) w->now.in_flight = false;
    if (info->flags & MWL_OPF_LEAVES_VALUE) w->now.in_flight = true;
    if (info->flags & MWL_OPF_LEAVES_RESULT) w->now.res = true;
    if (info->kind[1] == MWL_OPERAND_JUMPX && x > pc) status = lead(w, pc, x, w->now);
    if (info->flags & MWL_OPF_END) w->live = false;
    return status;
}

static mwl_status walk_code(walk *w) {
    for (uint32_t i = 0; i < w->t->n_flows; i++) {
        uint32_t pc = w->t->flows[i].pc;
        place begins = {.flow = i,
                        .step = MWL_NONE,
                        .entry = MWL_NONE,
                        .call = MWL_NONE,
                        .gather = MWL_NONE,
                        .in_flight = true};
        MUST(!only_tables_lead_to(w, w->p->code[pc]), "a way leads where only the machine may go");
        mwl_status status = join(w, pc, pc, begins);
        if (status < 0) return status;
    }
    for (uint32_t pc = 0; pc < w->p->n_code; pc++) {
        mwl_status status = visit(w, pc);
        if (status < 0) return status;
    }
    return MWL_OK;
}

static mwl_status walk_program(walk *w) {
    const mwl__flow_tables *t = w->t;
    const mwl_alloc *a = &w->p->alloc;
    mwl__places *at = &w->at;
    w->open = mwl__mem_zero(a, w->p->n_code, sizeof *w->open);
    at->entries = mwl__mem_zero(a, t->n_entries, sizeof *at->entries);
    at->calls = mwl__mem_zero(a, t->n_calls, sizeof *at->calls);
    at->gathers = mwl__mem_zero(a, t->n_gathers, sizeof *at->gathers);
    at->flows = mwl__mem_zero(a, t->n_flows, sizeof *at->flows);
    at->sleeps = mwl__mem_zero(a, t->n_steps, sizeof *at->sleeps);
    at->actions = mwl__mem_zero(a, (size_t)t->n_entries * 4, sizeof *at->actions);
    bool have = w->open && at->flows && at->sleeps &&
                ((at->entries && at->actions) || !t->n_entries) && (at->calls || !t->n_calls) &&
                (at->gathers || !t->n_gathers);
    if (have) return walk_code(w);
    return mwl__image_refuse(&w->p->image, w->error, MWL_E_NOMEM, "out of memory", NULL);
}

mwl_status mwl__verify_nest(mwl_program *p, mwl__loops *l, mwl_error *error) {
    if (p->tables.root_flow == MWL_NONE) return MWL_OK; /* a single expression has no such code */
    walk w;
    memset(&w, 0, sizeof w);
    w.p = p;
    w.t = &p->tables;
    w.loops = l;
    w.error = error;
    mwl_status status = walk_program(&w);
    mwl__mem_free(&p->alloc, w.places, w.cap_places * sizeof *w.places);
    mwl__mem_free(&p->alloc, w.open, p->n_code * sizeof *w.open);
    p->places = w.at;
    return status;
}
