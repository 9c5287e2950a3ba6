/* view.c: see view.h. */
#include "vm/program/view.h"

#include <string.h>

static const char *text_of(const mwl_program *p, uint32_t k) {
    return k == MWL_NONE ? "" : mwl_as_text(p->consts[k], NULL);
}

static mwl__where where(const mwl_program *p, uint32_t pc) {
    mwl__where at = {0, 0, 0, 0};
    (void)mwl__program_where(p, pc, 0, &at);
    return at;
}

/* ---- providers, Flows, Steps ----------------------------------------------------------------- */

const char *mwl__view_uri(const mwl_program *p, uint32_t import) {
    return text_of(p, p->tables.imports[import].uri_k);
}

bool mwl__view_names(const mwl_program *p, const char *uri) {
    for (uint32_t i = 0; i < p->tables.n_imports; i++)
        if (strcmp(mwl__view_uri(p, i), uri) == 0) return true;
    return false;
}

const char *mwl__view_flow_name(const mwl_program *p, uint32_t flow) {
    return text_of(p, p->tables.flows[flow].name_k);
}

const char *mwl__view_step_name(const mwl_program *p, uint32_t step) {
    return step == MWL_NONE ? "" : text_of(p, p->tables.steps[step].name_k);
}

mwl__view_step mwl__view_step_of(const mwl_program *p, uint32_t step) {
    const mwl__step_rec *s = &p->tables.steps[step];
    return (mwl__view_step){.flow_name = mwl__view_flow_name(p, s->flow),
                            .name = text_of(p, s->name_k),
                            .flow = s->flow,
                            .action = (mwl__action)s->action,
                            .n_catch = s->n_catch};
}

mwl__where mwl__view_step_place(const mwl_program *p, uint32_t step) {
    return where(p, p->tables.steps[step].pc);
}

bool mwl__view_catches_all(const mwl_program *p, uint32_t step, uint32_t clause) {
    const mwl__flow_tables *t = &p->tables;
    const mwl__matcher_rec *m =
        &t->matchers[t->catches[t->steps[step].first_catch + clause].matcher];
    return !m->n_types && m->retryable == MWL_NONE && m->n_codes == 1 &&
           strcmp(text_of(p, p->keys[m->first_code]), "*") == 0;
}

bool mwl__view_tells_retryable(const mwl_program *p) {
    for (uint32_t i = 0; i < p->n_consts; i++)
        if (mwl_value_kind(p->consts[i]) == MWL_KIND_STRING &&
            strcmp(mwl_as_text(p->consts[i], NULL), "retryable") == 0)
            return true;
    for (uint32_t i = 0; i < p->tables.n_matchers; i++)
        if (p->tables.matchers[i].retryable != MWL_NONE) return true;
    return false;
}

/* ---- ways ------------------------------------------------------------------------------------ */

/* The clause of the Step's catch whose code contains pc. */
static uint32_t clause_at(const mwl_program *p, const mwl__step_rec *s, uint32_t pc) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < s->n_catch; i++)
        if (p->tables.catches[s->first_catch + i].pc <= pc) best = i;
    return best;
}

bool mwl__view_next_way(mwl__view_ways *ways, mwl__view_way *out) {
    const mwl_program *p = ways->program;
    while (ways->pc < p->n_code) {
        const uint32_t pc = ways->pc++, op = p->code[pc].op, to = mwl__ins_x(p->code[pc]);
        if (op == MWL_OP_STEP) {
            ways->step = to;
            ways->n_cases = 0;
        }
        if ((op != MWL_OP_TO && op != MWL_OP_TO_HANDLER) || ways->step == MWL_NONE) continue;
        const mwl__step_rec *s = &p->tables.steps[ways->step];
        *out = (mwl__view_way){MWL_VIEW_NEXT, ways->step, to, 0, pc, where(p, pc)};
        if (op == MWL_OP_TO_HANDLER) {
            out->kind = MWL_VIEW_CATCH;
            out->number = clause_at(p, s, pc);
        } else if (s->action == MWL_ACTION_MATCH) {
            out->kind = MWL_VIEW_CASE;
            out->number = ways->n_cases++;
        }
        return true;
    }
    return false;
}

/* ---- entries --------------------------------------------------------------------------------- */

static bool has_phase(const mwl_program *p, const mwl__entry_rec *e, unsigned phase) {
    switch (phase) {
    case MWL_ON_SUCCESS: return p->code[e->success_pc].op != MWL_OP_REENTER;
    case MWL_ON_FAILURE: return p->code[e->failure_pc].op != MWL_OP_REENTER;
    case MWL_ON_ALWAYS: return p->code[e->always_pc + 1].op != MWL_OP_UNWIND;
    default: return true;
    }
}

mwl__view_entry mwl__view_entry_of(const mwl_program *p, uint32_t entry) {
    const mwl__entry_rec *e = &p->tables.entries[entry];
    const mwl__nesting *around = &p->places.entries[entry].outer;
    mwl__view_entry v = {.uri = mwl__view_uri(p, e->import),
                         .flow = around->flow,
                         .step = around->step,
                         .cleans = e->struct_pc[MWL_ON_ALWAYS] != MWL_NONE};
    for (unsigned phase = 0; phase < 4; phase++) {
        v.phases[phase] = has_phase(p, e, phase);
        v.with[phase] = e->with_k[phase] == MWL_NONE ? mwl_absent() : p->consts[e->with_k[phase]];
    }
    return v;
}

mwl__where mwl__view_entry_place(const mwl_program *p, uint32_t entry, unsigned phase) {
    const mwl__entry_rec *e = &p->tables.entries[entry];
    const uint32_t pcs[] = {e->always_pc, e->success_pc, e->failure_pc, e->always_pc + 1};
    return where(p, pcs[phase]);
}

/* ---- what expressions read ------------------------------------------------------------------- */

/* Finds what the instruction at pc does with what the one before it has loaded. */
static void use_of(const mwl_program *p, uint32_t pc, mwl__view_read *out) {
    if (pc >= p->n_code) return;
    const mwl__ins *ins = &p->code[pc];
    switch (ins->op) {
    case MWL_OP_JUMP_UNLESS:
    case MWL_OP_NOT: out->use = MWL_VIEW_TESTED; return;
    case MWL_OP_EQ_K:
    case MWL_OP_NE_K:
    case MWL_OP_LT_K:
    case MWL_OP_LE_K:
    case MWL_OP_GT_K:
    case MWL_OP_GE_K:
        out->use = MWL_VIEW_COMPARED;
        out->with = p->consts[ins->c];
        return;
    default: return;
    }
}

bool mwl__view_next_read(const mwl_program *p, uint32_t *pc, mwl__view_read *out) {
    while (*pc < p->n_code) {
        const mwl__ins ins = p->code[(*pc)++];
        if (ins.op != MWL_OP_LOAD_PATH) continue;
        const mwl__path_rec *path = &p->paths[mwl__ins_x(ins)];
        *out = (mwl__view_read){.base = (mwl__base)path->base,
                                .keys = p->keys + path->first_key,
                                .n_keys = path->n_keys,
                                .use = MWL_VIEW_READ,
                                .with = mwl_absent()};
        use_of(p, *pc, out);
        return true;
    }
    return false;
}
