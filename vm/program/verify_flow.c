/* verify_flow.c: the records of tables.h: every index is in its table, every pc in the code, all
 * flags are known, and calls and Gathers agree on which belongs to which. verify_nest.c checks that
 * the code agrees with the records. */
#include "vm/program/verify.h"

#include "vm/schema/schema_code.h"

#define REFUSE(message, at) return mwl__image_refuse(&p->image, error, MWL_E_IMAGE, message, at)

static bool below(uint32_t v, uint32_t n) { return v < n; }
static bool none_or(uint32_t v, uint32_t n) { return v == MWL_NONE || v < n; }

/* The flags that each record may have. */
enum {
    FLOW_FLAGS = MWL_NEEDS_ENTERED | MWL_NEEDS_EXITED,
    STEP_FLAGS = MWL_NEEDS_ENTERED | MWL_NEEDS_EXITED,
    CALL_FLAGS = MWL_NEEDS_ENTERED | MWL_NEEDS_EXITED | MWL_NEEDS_DISPATCHED | MWL_NEEDS_ACCEPTED |
                 MWL_CALL_KEEPS_WINDOW | MWL_CALL_HAS_ARMS | MWL_CALL_BARE | MWL_CALL_RISES,
    ENTRY_FLAGS = MWL_ENTRY_FLOW_LEVEL | MWL_ENTRY_AROUND_CALL | MWL_ENTRY_PASSES_SUCCESS |
                  MWL_ENTRY_PASSES_FAILURE | MWL_ENTRY_RISES | MWL_NEEDS_PHASE << MWL_ON_ENTRY |
                  MWL_NEEDS_PHASE << MWL_ON_SUCCESS | MWL_NEEDS_PHASE << MWL_ON_FAILURE |
                  MWL_NEEDS_PHASE << MWL_ON_ALWAYS,
    GATHER_FLAGS = MWL_GATHER_OVER | MWL_GATHER_NO_WAIT | MWL_GATHER_RESULTS | MWL_GATHER_NEED
};
static bool only(uint32_t flags, unsigned known) { return (flags & ~known) == 0; }

static bool const_of(const mwl_program *p, uint32_t k, mwl_kind kind) {
    return k < p->n_consts && mwl_value_kind(p->consts[k]) == kind;
}

/* A run in KEYS of string constants or call indexes, behind the last run of the same table, so that
 * reading all runs takes linear time. */
static bool run_in_keys(const mwl_program *p, uint32_t first, uint32_t n, bool calls,
                        uint32_t *last_end) {
    if (n == 0) return true;
    if (first < *last_end || first > p->n_keys || n > p->n_keys - first) return false;
    *last_end = first + n;
    for (uint32_t i = first; i < first + n; i++)
        if (calls ? p->keys[i] >= p->tables.n_calls : !const_of(p, p->keys[i], MWL_KIND_STRING))
            return false;
    return true;
}

/* A schema belongs to one Flow, behind that of the last one, so that reading all takes linear time.
 */
static bool own_schema(const mwl__flow_tables *t, uint32_t at, uint32_t *last_end) {
    if (at == MWL_NONE) return true;
    if (at < *last_end || at > t->n_schema_words || t->n_schema_words - at < MWL__SCHEMA_H_SIZE)
        return false;
    uint32_t n = t->schemas[at + MWL__SCHEMA_H_WORDS];
    if (n < MWL__SCHEMA_H_SIZE || n > t->n_schema_words - at) return false;
    *last_end = at + n;
    return true;
}

static mwl_status check_flows(const mwl_program *p, const mwl__flow_tables *t, mwl_error *error) {
    if (!none_or(t->root_flow, t->n_flows)) REFUSE("there is no root Flow", NULL);
    for (uint32_t i = 0, end = 0; i < t->n_flows; i++) {
        const mwl__flow_rec *f = &t->flows[i];
        if (f->name_k != MWL_NONE && !const_of(p, f->name_k, MWL_KIND_STRING))
            REFUSE("a Flow's name is not a string", f);
        if (!only(f->flags, FLOW_FLAGS)) REFUSE("a Flow has an unknown flag", f);
        if (!below(f->pc, p->n_code) || !below(f->ascend_pc, p->n_code))
            REFUSE("a Flow's code is outside the code", f);
        if (!own_schema(t, f->schema, &end))
            REFUSE("a Flow's schema is not there, or another Flow's", f);
        if (f->defaults_k != MWL_NONE && !const_of(p, f->defaults_k, MWL_KIND_OBJECT))
            REFUSE("a Flow's defaults are not an object", f);
    }
    for (uint32_t i = 0; i < t->n_imports; i++) {
        const mwl__import_rec *m = &t->imports[i];
        if (!const_of(p, m->uri_k, MWL_KIND_STRING)) REFUSE("an import's name is not a string", m);
        if (m->kind != MWL_IMPORT_CALL && m->kind != MWL_IMPORT_MIDDLEWARE)
            REFUSE("an import is of an unknown kind", m);
    }
    return MWL_OK;
}

static mwl_status check_steps(const mwl_program *p, const mwl__flow_tables *t, mwl_error *error) {
    for (uint32_t i = 0, end = 0; i < t->n_steps; i++) {
        const mwl__step_rec *s = &t->steps[i];
        if (!const_of(p, s->name_k, MWL_KIND_STRING)) REFUSE("a Step's name is not a string", s);
        if (!only(s->flags, STEP_FLAGS)) REFUSE("a Step has an unknown flag", s);
        if (!below(s->flow, t->n_flows)) REFUSE("a Step's Flow is not there", s);
        if (!below(s->action, MWL_ACTION_COUNT)) REFUSE("a Step's action is unknown", s);
        if (!below(s->pc, p->n_code)) REFUSE("a Step's code is outside the code", s);
        if (s->n_catch == 0) continue;
        if (s->first_catch < end || !below(s->first_catch, t->n_catches) ||
            s->n_catch > t->n_catches - s->first_catch)
            REFUSE("a Step's catch clauses are not a run after those of the last Step", s);
        end = s->first_catch + s->n_catch;
    }
    for (uint32_t i = 0; i < t->n_catches; i++) {
        const mwl__catch_rec *c = &t->catches[i];
        if (!below(c->matcher, t->n_matchers)) REFUSE("a catch clause's matcher is not there", c);
        if (!below(c->pc, p->n_code)) REFUSE("a catch clause's code is outside the code", c);
    }
    for (uint32_t i = 0, end = 0; i < t->n_matchers; i++) {
        const mwl__matcher_rec *m = &t->matchers[i];
        if (!run_in_keys(p, m->first_code, m->n_codes, false, &end) ||
            !run_in_keys(p, m->first_type, m->n_types, false, &end))
            REFUSE("a matcher's codes or types are not a run of strings after the last one", m);
        if (m->retryable > 1 && m->retryable != MWL_NONE) REFUSE("a matcher's flag is unknown", m);
    }
    return MWL_OK;
}

static mwl_status check_entries(const mwl_program *p, const mwl__flow_tables *t, mwl_error *error) {
    for (uint32_t i = 0; i < t->n_entries; i++) {
        const mwl__entry_rec *e = &t->entries[i];
        if (!below(e->import, t->n_imports) || t->imports[e->import].kind != MWL_IMPORT_MIDDLEWARE)
            REFUSE("an entry's middleware is not imported", e);
        if (!only(e->flags, ENTRY_FLAGS)) REFUSE("an entry has an unknown flag", e);
        if (!below(e->inner_pc, p->n_code) || !below(e->success_pc, p->n_code) ||
            !below(e->failure_pc, p->n_code) || !below(e->always_pc, p->n_code) ||
            !below(e->leave_pc, p->n_code) || !below(e->out_pc, p->n_code))
            REFUSE("an entry's code is outside the code", e);
        for (int phase = 0; phase < 4; phase++)
            if (!none_or(e->struct_pc[phase], p->n_code))
                REFUSE("an entry's own call is outside the code", e);
        for (int phase = 0; phase < 4; phase++)
            if (e->with_k[phase] != MWL_NONE && !const_of(p, e->with_k[phase], MWL_KIND_OBJECT))
                REFUSE("an entry's arguments are not an object", e);
    }
    return MWL_OK;
}

static mwl_status check_calls(const mwl_program *p, const mwl__flow_tables *t, mwl_error *error) {
    for (uint32_t i = 0; i < t->n_calls; i++) {
        const mwl__call_rec *c = &t->calls[i];
        if (!only(c->flags, CALL_FLAGS)) REFUSE("a call has an unknown flag", c);
        if ((c->import == MWL_NONE) == (c->flow == MWL_NONE))
            REFUSE("a call must have exactly one target", c);
        if (!none_or(c->flow, t->n_flows) || !none_or(c->import, t->n_imports) ||
            (c->import != MWL_NONE && t->imports[c->import].kind != MWL_IMPORT_CALL))
            REFUSE("a call's target is not there", c);
        if (c->with_k != MWL_NONE && !const_of(p, c->with_k, MWL_KIND_OBJECT))
            REFUSE("a call's arguments are not an object", c);
        if (!below(c->fields_pc, p->n_code) || !below(c->end_pc, p->n_code) ||
            !none_or(c->success_pc, p->n_code) || !none_or(c->failure_pc, p->n_code))
            REFUSE("a call's code is outside the code", c);
        if ((c->flags & MWL_CALL_HAS_ARMS) &&
            (c->success_pc == MWL_NONE || c->failure_pc == MWL_NONE))
            REFUSE("a call's arms are not there", c);
        if (!none_or(c->gather, t->n_gathers)) REFUSE("a call's Gather is not there", c);
    }
    for (uint32_t i = 0, end = 0; i < t->n_gathers; i++) {
        const mwl__gather_rec *g = &t->gathers[i];
        if (!only(g->flags, GATHER_FLAGS)) REFUSE("a Gather has an unknown flag", g);
        if (!below(g->step, t->n_steps)) REFUSE("a Gather's Step is not there", g);
        if (!run_in_keys(p, g->first_call, g->n_calls, true, &end))
            REFUSE("a Gather's calls are not a run after those of the last Gather", g);
        for (uint32_t k = 0; k < g->n_calls; k++)
            if (t->calls[p->keys[g->first_call + k]].gather != i)
                REFUSE("a Gather's call belongs to another", g);
        if (g->concurrency == 0) REFUSE("a Gather with a concurrency of 0", g);
        if ((g->flags & MWL_GATHER_OVER) && g->n_calls != 1)
            REFUSE("a Gather over an array must have exactly one call", g);
        if (!below(g->run_pc, p->n_code) || !below(g->arms_pc, p->n_code) ||
            !below(g->end_pc, p->n_code))
            REFUSE("a Gather's code is outside the code", g);
    }
    return MWL_OK;
}

mwl_status mwl__verify_flow(const mwl_program *p, mwl_error *error) {
    const mwl__flow_tables *t = &p->tables;
    mwl_status status = check_flows(p, t, error);
    if (status == MWL_OK) status = check_steps(p, t, error);
    if (status == MWL_OK) status = check_entries(p, t, error);
    if (status == MWL_OK) status = check_calls(p, t, error);
    return status;
}
