/* disasm_flow.c: the Flow half of a listing: tables, and what begins where in the code. */
#include "assembler/emit/disasm_impl.h"

#include <stdlib.h>

static const char *const actions[] = {"Call",  "Gather", "Match", "Pass",
                                      "Sleep", "Return", "Raise"};
static const char *const phases[] = {"onEntry", "onSuccess", "onFailure", "onAlways"};

/* ---- notes ----------------------------------------------------------------------------------- */

static bool add(listing *l, uint32_t pc, note_kind kind, uint32_t ix) {
    void *notes = l->notes;
    if (pc == MWL_NONE) return true;
    mwl_status grown =
        mwl__mem_grow(&l->out->alloc, &notes, &l->cap_notes, l->n_notes + 1, sizeof *l->notes);
    l->notes = notes;
    if (grown == MWL_OK) l->notes[l->n_notes++] = (note){pc, kind, ix};
    return grown == MWL_OK;
}

static int order(const void *x, const void *y) {
    const note *a = x, *b = y;
    if (a->pc != b->pc) return a->pc < b->pc ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return a->ix < b->ix ? -1 : a->ix > b->ix;
}

mwl_status mwl__disasm_note_flow(listing *l) {
    const mwl__flow_tables *t = &l->p->tables;
    bool room = true;
    for (uint32_t i = 0; i < t->n_flows; i++)
        room = room && add(l, t->flows[i].pc, NOTE_FLOW, i) &&
               add(l, t->flows[i].ascend_pc, NOTE_ASCENT, i);
    for (uint32_t i = 0; i < t->n_steps; i++) room = room && add(l, t->steps[i].pc, NOTE_STEP, i);
    for (uint32_t i = 0; i < t->n_catches; i++)
        room = room && add(l, t->catches[i].pc, NOTE_CATCH, i);
    for (uint32_t i = 0; i < t->n_entries; i++) {
        const mwl__entry_rec *e = &t->entries[i];
        bool both = e->success_pc == e->failure_pc;
        room = room && add(l, e->inner_pc, NOTE_INNER, i) && add(l, e->always_pc, NOTE_ALWAYS, i) &&
               add(l, e->success_pc, both ? NOTE_BOTH : NOTE_SUCCESS, i) &&
               (both || add(l, e->failure_pc, NOTE_FAILURE, i));
        for (int phase = 0; phase < 4; phase++)
            room = room && add(l, e->struct_pc[phase], NOTE_OWN_CALL, i);
    }
    for (uint32_t i = 0; i < t->n_calls; i++) {
        const mwl__call_rec *c = &t->calls[i];
        if (!(c->flags & MWL_CALL_HAS_ARMS)) continue;
        room = room && (c->success_pc == c->end_pc || add(l, c->success_pc, NOTE_ARM_SUCCESS, i)) &&
               (c->failure_pc == c->end_pc || add(l, c->failure_pc, NOTE_ARM_FAILURE, i));
    }
    if (!room) return MWL_E_NOMEM;
    if (l->n_notes) qsort(l->notes, l->n_notes, sizeof *l->notes, order);
    return MWL_OK;
}

/* ---- matchers -------------------------------------------------------------------------------- */

static void put_run(listing *l, const char *name, uint32_t first, uint32_t n) {
    if (n == 0) return;
    mwl__buf_printf(l->out, " %s", name);
    for (uint32_t i = 0; i < n && i < 8; i++) {
        mwl__buf_puts(l->out, i ? ", " : " ");
        mwl__disasm_name(l, l->p->keys[first + i], "");
    }
    if (n > 8) mwl__buf_puts(l->out, ", ...");
}

static void put_matcher(listing *l, uint32_t ix) {
    if (ix == MWL_NONE) return;
    const mwl__matcher_rec *m = &l->p->tables.matchers[ix];
    put_run(l, "codes", m->first_code, m->n_codes);
    put_run(l, "types", m->first_type, m->n_types);
    if (m->retryable != MWL_NONE)
        mwl__buf_puts(l->out, m->retryable ? " retryable" : " not retryable");
}

/* ---- above an instruction -------------------------------------------------------------------- */

static void put_note(listing *l, const note *n) {
    const mwl__flow_tables *t = &l->p->tables;
    static const char *const texts[] = {
        [NOTE_INNER] = "entry%u inner scope",    [NOTE_SUCCESS] = "entry%u onSuccess",
        [NOTE_FAILURE] = "entry%u onFailure",    [NOTE_BOTH] = "entry%u onSuccess, onFailure",
        [NOTE_ALWAYS] = "entry%u onAlways",      [NOTE_ARM_SUCCESS] = "call%u onSuccess",
        [NOTE_ARM_FAILURE] = "call%u onFailure", [NOTE_OWN_CALL] = "entry%u its own call",
        [NOTE_ASCENT] = "flow%u ascent",         [NOTE_CATCH] = "catch%u"};
    if (n->kind == NOTE_FLOW) {
        mwl__buf_printf(l->out, "\n; ==== flow%u ", (unsigned)n->ix);
        mwl__disasm_flow(l, n->ix);
    } else if (n->kind == NOTE_STEP) {
        mwl__buf_printf(l->out, "\n; ---- step%u %s ", (unsigned)n->ix,
                        actions[t->steps[n->ix].action]);
        mwl__disasm_name(l, t->steps[n->ix].name_k, "");
    } else {
        if (n->kind == NOTE_OWN_CALL || n->kind == NOTE_ASCENT) mwl__buf_putc(l->out, '\n');
        mwl__buf_puts(l->out, ";      ");
        /* the texts have one number each */
        const char *text = texts[n->kind], *number = strstr(text, "%u");
        mwl__buf_put(l->out, text, (size_t)(number - text));
        mwl__buf_printf(l->out, "%u", (unsigned)n->ix);
        mwl__buf_puts(l->out, number + 2);
        if (n->kind == NOTE_CATCH) put_matcher(l, t->catches[n->ix].matcher);
    }
    mwl__buf_putc(l->out, '\n');
}

void mwl__disasm_heads(listing *l, uint32_t pc) {
    for (; l->next_note < l->n_notes && l->notes[l->next_note].pc == pc; l->next_note++)
        put_note(l, &l->notes[l->next_note]);
    if (l->marks[pc]) mwl__buf_printf(l->out, "L%u:\n", (unsigned)pc);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void put_flags(listing *l, uint32_t flags, const char *const *names) {
    for (uint32_t i = 0; i < 32; i++)
        if (flags >> i & 1u && names[i]) mwl__buf_printf(l->out, ", %s", names[i]);
}

static const char *const instants[32] = {"enteredAt",   "exitedAt",      "dispatchedAt",
                                         "acceptedAt",  [12] = "window", [13] = "arms",
                                         [14] = "bare", "rises"};

static void put_imports(listing *l) {
    const mwl__flow_tables *t = &l->p->tables;
    if (t->n_imports) mwl__buf_puts(l->out, "\n; imports\n");
    for (uint32_t i = 0; i < t->n_imports; i++) {
        mwl__buf_printf(l->out, ";   %-10s ",
                        t->imports[i].kind == MWL_IMPORT_CALL ? "call" : "middleware");
        mwl__disasm_name(l, t->imports[i].uri_k, "");
        mwl__buf_putc(l->out, '\n');
    }
}

static void put_flows(listing *l) {
    const mwl__flow_tables *t = &l->p->tables;
    if (t->n_flows) mwl__buf_puts(l->out, "\n; flows\n");
    for (uint32_t i = 0; i < t->n_flows; i++) {
        const mwl__flow_rec *f = &t->flows[i];
        mwl__buf_printf(l->out, ";   flow%-5u ", (unsigned)i);
        mwl__disasm_flow(l, i);
        if (f->schema != MWL_NONE)
            mwl__buf_printf(l->out, ", parameters at %u", (unsigned)f->schema);
        if (f->defaults_k != MWL_NONE) {
            mwl__buf_puts(l->out, ", defaults ");
            mwl__disasm_const(l, f->defaults_k);
        }
        put_flags(l, f->flags, instants);
        mwl__buf_putc(l->out, '\n');
    }
}

static void put_steps(listing *l) {
    const mwl__flow_tables *t = &l->p->tables;
    if (t->n_steps) mwl__buf_puts(l->out, "\n; steps\n");
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const mwl__step_rec *s = &t->steps[i];
        mwl__buf_printf(l->out, ";   step%-5u ", (unsigned)i);
        mwl__disasm_name(l, s->name_k, "");
        mwl__buf_printf(l->out, ", %s of flow%u", actions[s->action], (unsigned)s->flow);
        if (s->n_catch) mwl__buf_printf(l->out, ", %u catch", (unsigned)s->n_catch);
        put_flags(l, s->flags, instants);
        mwl__buf_putc(l->out, '\n');
    }
}

static void put_entries(listing *l) {
    static const char
        *const flags[32] = {"of a Flow",        "around the call", "passes a success",
                            "passes a failure", "rises",           [8] = "pins onEntry",
                            "pins onSuccess",   "pins onFailure",  "pins onAlways"};
    const mwl__flow_tables *t = &l->p->tables;
    if (t->n_entries) mwl__buf_puts(l->out, "\n; entries\n");
    for (uint32_t i = 0; i < t->n_entries; i++) {
        const mwl__entry_rec *e = &t->entries[i];
        mwl__buf_printf(l->out, ";   entry%-4u ", (unsigned)i);
        mwl__disasm_name(l, t->imports[e->import].uri_k, "");
        put_flags(l, e->flags, flags);
        mwl__buf_putc(l->out, '\n');
        for (int phase = 0; phase < 4; phase++) {
            if (e->with_k[phase] == MWL_NONE) continue;
            mwl__buf_printf(l->out, ";             %s with ", phases[phase]);
            mwl__disasm_const(l, e->with_k[phase]);
            mwl__buf_putc(l->out, '\n');
        }
    }
}

static void put_calls(listing *l) {
    const mwl__flow_tables *t = &l->p->tables;
    if (t->n_calls) mwl__buf_puts(l->out, "\n; calls\n");
    for (uint32_t i = 0; i < t->n_calls; i++) {
        const mwl__call_rec *c = &t->calls[i];
        mwl__buf_printf(l->out, ";   call%-5u ", (unsigned)i);
        mwl__disasm_call(l, i);
        if (c->gather != MWL_NONE) mwl__buf_printf(l->out, ", of gather%u", (unsigned)c->gather);
        put_flags(l, c->flags, instants);
        if (c->with_k != MWL_NONE) {
            mwl__buf_puts(l->out, ", with ");
            mwl__disasm_const(l, c->with_k);
        }
        mwl__buf_putc(l->out, '\n');
    }
}

static void put_gathers(listing *l) {
    static const char *const flags[32] = {"over an array", "wait false", "keeps step.results",
                                          "successes written"};
    const mwl__flow_tables *t = &l->p->tables;
    if (t->n_gathers) mwl__buf_puts(l->out, "\n; gathers\n");
    for (uint32_t i = 0; i < t->n_gathers; i++) {
        const mwl__gather_rec *g = &t->gathers[i];
        mwl__buf_printf(l->out, ";   gather%-3u step%u, %u call%s", (unsigned)i, (unsigned)g->step,
                        (unsigned)g->n_calls, g->n_calls == 1 ? "" : "s");
        put_flags(l, g->flags, flags);
        if (g->concurrency != MWL_NONE)
            mwl__buf_printf(l->out, ", at most %u at once", (unsigned)g->concurrency);
        mwl__buf_putc(l->out, '\n');
    }
}

void mwl__disasm_tables(listing *l) {
    put_imports(l);
    put_flows(l);
    put_steps(l);
    put_entries(l);
    put_calls(l);
    put_gathers(l);
}
