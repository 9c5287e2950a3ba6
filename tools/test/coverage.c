/* coverage.c: see coverage.h. */
#include "tools/test/coverage.h"

#include "assembler/source/diag.h"
#include "vm/value/value.h"
#include "vm/machine/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RETRY "mwl:provider.middleware/mwl/retry/v1"
#define TIMEOUT "mwl:provider.middleware/mwl/timeout/v1"

/* ---- the list -------------------------------------------------------------------------------- */

static uint32_t add(struct coverage *c, struct coverage_item item, uint32_t pc) {
    if (c->n_items == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 64;
        struct coverage_item *grown = realloc(c->items, cap * sizeof *grown);
        if (!grown) {
            c->failed = true;
            return MWL_NONE;
        }
        c->items = grown;
        c->cap = cap;
    }
    mwl__where w = {0, 0, 0, 0};
    mwl__program_where(c->program, pc, 0, &w);
    item.line = w.line;
    item.column = w.column;
    c->items[c->n_items] = item;
    return (uint32_t)c->n_items++;
}

/* The Step whose code contains pc: the last that begins before it. */
static uint32_t step_at(const mwl_program *p, uint32_t pc) {
    uint32_t best = MWL_NONE;
    for (uint32_t i = 0; i < p->tables.n_steps; i++)
        if (p->tables.steps[i].pc <= pc &&
            (best == MWL_NONE || p->tables.steps[i].pc > p->tables.steps[best].pc))
            best = i;
    return best;
}

static uint32_t flow_at(const mwl_program *p, uint32_t pc) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < p->tables.n_flows; i++)
        if (p->tables.flows[i].pc <= pc && p->tables.flows[i].pc >= p->tables.flows[best].pc)
            best = i;
    return best;
}

static uint32_t clause_at(const mwl_program *p, const mwl__step_rec *s, uint32_t pc) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < s->n_catch; i++)
        if (p->tables.catches[s->first_catch + i].pc <= pc) best = i;
    return best;
}

static void add_ways(struct coverage *c) {
    const mwl_program *p = c->program;
    uint32_t step = MWL_NONE, n_cases = 0;
    for (uint32_t pc = 0; pc < p->n_code; pc++) {
        unsigned op = p->code[pc].op;
        if (op == MWL_OP_STEP) {
            step = mwl__ins_x(p->code[pc]);
            n_cases = 0;
        }
        if ((op != MWL_OP_TO && op != MWL_OP_TO_HANDLER) || step == MWL_NONE) continue;
        const mwl__step_rec *s = &p->tables.steps[step];
        struct coverage_item item = {.kind = COVER_NEXT,
                                     .flow = s->flow,
                                     .step = step,
                                     .to = mwl__ins_x(p->code[pc]),
                                     .entry = MWL_NONE};
        if (op == MWL_OP_TO_HANDLER) {
            item.kind = COVER_CATCH;
            item.number = clause_at(p, s, pc);
        } else if (s->action == MWL_ACTION_MATCH) {
            item.kind = COVER_CASE;
            item.number = n_cases++;
        }
        c->of_pc[pc] = add(c, item, pc);
    }
}

static bool imports(const mwl_program *p, const mwl__entry_rec *e, const char *uri) {
    return strcmp(mwl_as_text(p->consts[p->tables.imports[e->import].uri_k], NULL), uri) == 0;
}

static bool has_phase(const mwl_program *p, const mwl__entry_rec *e, unsigned phase) {
    switch (phase) {
    case MWL_ON_SUCCESS: return p->code[e->success_pc].op != MWL_OP_REENTER;
    case MWL_ON_FAILURE: return p->code[e->failure_pc].op != MWL_OP_REENTER;
    case MWL_ON_ALWAYS: return p->code[e->always_pc + 1].op != MWL_OP_UNWIND;
    default: return true;
    }
}

static void add_entry(struct coverage *c, uint32_t ix) {
    const mwl_program *p = c->program;
    const mwl__entry_rec *e = &p->tables.entries[ix];
    bool of_flow = e->flags & MWL_ENTRY_FLOW_LEVEL;
    uint32_t step = of_flow ? MWL_NONE : step_at(p, e->always_pc);
    struct coverage_item item = {.kind = COVER_PHASE,
                                 .flow =
                                     of_flow ? flow_at(p, e->inner_pc) : p->tables.steps[step].flow,
                                 .step = step,
                                 .to = MWL_NONE,
                                 .entry = ix};
    const uint32_t pcs[] = {e->always_pc, e->success_pc, e->failure_pc, e->always_pc + 1};
    for (unsigned phase = 0; phase < 4; phase++) {
        item.number = phase;
        if (has_phase(p, e, phase)) c->of_phase[ix * 4 + phase] = add(c, item, pcs[phase]);
    }
    item.kind = COVER_BOUND;
    item.number = 0;
    if (imports(p, e, TIMEOUT)) c->of_bound[ix] = add(c, item, e->always_pc);
    if (!imports(p, e, RETRY) || e->with_k[MWL_ON_ENTRY] == MWL_NONE) return;
    item.kind = COVER_POLICY;
    mwl_value policies = mwl_get(p->consts[e->with_k[MWL_ON_ENTRY]], "policies");
    for (uint32_t i = 0; i < mwl_count(policies); i++) {
        item.number = i;
        uint32_t at = add(c, item, e->always_pc);
        if (i == 0) c->of_policy[ix] = at;
    }
}

static uint32_t *nones(size_t n) {
    uint32_t *list = calloc(n + 1, sizeof *list);
    for (size_t i = 0; list && i < n; i++) list[i] = MWL_NONE;
    return list;
}

struct coverage *coverage_new(mwl_program *program) {
    struct coverage *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    const mwl__flow_tables *t = &program->tables;
    c->program = mwl_program_keep(program);
    c->of_pc = nones(program->n_code);
    c->of_phase = nones((size_t)t->n_entries * 4);
    c->of_bound = nones(t->n_entries);
    c->of_policy = nones(t->n_entries);
    if (!c->of_pc || !c->of_phase || !c->of_bound || !c->of_policy) {
        coverage_free(c);
        return NULL;
    }
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const struct coverage_item item = {.kind = COVER_STEP,
                                           .flow = t->steps[i].flow,
                                           .step = i,
                                           .to = MWL_NONE,
                                           .entry = MWL_NONE};
        (void)add(c, item, t->steps[i].pc);
    }
    add_ways(c);
    for (uint32_t i = 0; i < t->n_entries; i++) add_entry(c, i);
    if (!c->failed) return c;
    coverage_free(c);
    return NULL;
}

void coverage_free(struct coverage *c) {
    if (!c) return;
    free(c->items);
    free(c->of_pc);
    free(c->of_phase);
    free(c->of_bound);
    free(c->of_policy);
    mwl_program_release((mwl_program *)(uintptr_t)c->program);
    free(c);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void hit(uint64_t *hits, uint32_t item) {
    if (item != MWL_NONE) hits[item]++;
}

static void hit_policy(const struct coverage *c, uint64_t *hits, const mwl__entry *e,
                       mwl_value failure) {
    uint32_t first = c->of_policy[e->ix];
    const mwl_program *p = c->program;
    if (first == MWL_NONE) return;
    mwl_value policies =
        mwl_get(p->consts[p->tables.entries[e->ix].with_k[MWL_ON_ENTRY]], "policies");
    for (uint32_t i = 0; i < mwl_count(policies); i++)
        if (mwl_failure_matches(mwl_get(mwl_array_at(policies, i), "match"), failure)) {
            hits[first + i]++;
            return;
        }
}

static unsigned phase_of(const char *name) {
    return strcmp(name, "onEntry") == 0     ? MWL_ON_ENTRY
           : strcmp(name, "onSuccess") == 0 ? MWL_ON_SUCCESS
           : strcmp(name, "onFailure") == 0 ? MWL_ON_FAILURE
                                            : MWL_ON_ALWAYS;
}

void coverage_event(const struct coverage *c, uint64_t *hits, const mwl_trace_event *event) {
    const mwl__frame *f = (const mwl__frame *)(uintptr_t)event->frame;
    if (!f || mwl__tables(f) != &c->program->tables) return; /* another run of this VM */
    switch (event->kind) {
    case MWL_TRACE_STEP_ENTERED: hits[f->step]++; break; /* Steps are the first items */
    case MWL_TRACE_STEP_EXITED: { /* by a TO instruction, or by the end of the Flow */
        uint32_t pc = mwl__vm_of(f)->exec.pc;
        if (pc < c->program->n_code) hit(hits, c->of_pc[pc]);
        break;
    }
    case MWL_TRACE_PHASE: {
        unsigned phase = phase_of(event->phase);
        hit(hits, c->of_phase[f->entries->ix * 4 + phase]);
        if (phase == MWL_ON_FAILURE) hit_policy(c, hits, f->entries, event->value);
        break;
    }
    case MWL_TRACE_INTERRUPTED:
        if (f->extra && f->extra->owner) hit(hits, c->of_bound[f->extra->owner->ix]);
        break;
    default: break;
    }
}

/* ---- for people and programs ----------------------------------------------------------------- */

const char *coverage_kind_name(enum coverage_kind kind) {
    static const char *const names[COVER_KINDS] = {"step",  "next",  "catch", "case",
                                                   "phase", "bound", "policy"};
    return names[kind];
}

static const char *step_name(const struct coverage *c, uint32_t step) {
    const mwl_program *p = c->program;
    return step == MWL_NONE ? "" : mwl_as_text(p->consts[p->tables.steps[step].name_k], NULL);
}

static const char *flow_name(const struct coverage *c, uint32_t flow) {
    uint32_t k = c->program->tables.flows[flow].name_k;
    return k == MWL_NONE ? "" : mwl_as_text(c->program->consts[k], NULL);
}

static const char *provider_name(const struct coverage *c, uint32_t entry, size_t *len) {
    const mwl_program *p = c->program;
    const char *uri =
        mwl_as_text(p->consts[p->tables.imports[p->tables.entries[entry].import].uri_k], NULL);
    const char *name = strchr(uri, '/');
    name = name ? strchr(name + 1, '/') : NULL;
    name = name ? name + 1 : uri;
    *len = strcspn(name, "/");
    return name;
}

static void put_of(const struct coverage *c, const struct coverage_item *item, mwl__buf *out) {
    const char *flow = flow_name(c, item->flow);
    if (item->step == MWL_NONE && !*flow)
        mwl__buf_puts(out, " of the Flow");
    else if (item->step == MWL_NONE)
        mwl__buf_printf(out, " of Flow '%s'", flow);
    else
        mwl__buf_printf(out, " of Step '%s%s%s'", flow, *flow ? "/" : "", step_name(c, item->step));
}

void coverage_text(const struct coverage *c, const struct coverage_item *item, mwl__buf *out) {
    static const char *const phases[] = {"onEntry", "onSuccess", "onFailure", "onAlways"};
    const char *flow = flow_name(c, item->flow);
    size_t len = 0;
    const char *name = item->entry == MWL_NONE ? "" : provider_name(c, item->entry, &len);
    switch (item->kind) {
    case COVER_STEP:
        mwl__buf_printf(out, "Step '%s%s%s'", flow, *flow ? "/" : "", step_name(c, item->step));
        return;
    case COVER_NEXT: mwl__buf_printf(out, "the way to '%s'", step_name(c, item->to)); break;
    case COVER_CATCH: mwl__buf_printf(out, "catch clause %u", item->number + 1); break;
    case COVER_CASE:
        mwl__buf_printf(out, "case %u, to '%s',", item->number + 1, step_name(c, item->to));
        break;
    case COVER_PHASE:
        mwl__buf_printf(out, "%s of %.*s", phases[item->number], (int)len, name);
        break;
    case COVER_BOUND: mwl__buf_printf(out, "the bound of %.*s", (int)len, name); break;
    case COVER_POLICY:
        mwl__buf_printf(out, "policy %u of %.*s", item->number + 1, (int)len, name);
        break;
    case COVER_KINDS: return;
    }
    put_of(c, item, out);
}

static void put_string(mwl__buf *out, const char *name, const char *text, size_t len) {
    mwl__buf_printf(out, "\"%s\":\"", name);
    mwl__json_escape(out, text, len);
    mwl__buf_puts(out, "\",");
}

static void write_item(const struct coverage *c, const struct coverage_item *item, uint64_t hits,
                       mwl__buf *out) {
    const char *flow = flow_name(c, item->flow), *step = step_name(c, item->step),
               *to = step_name(c, item->to);
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    coverage_text(c, item, &text);
    mwl__buf_printf(out, "{\"kind\":\"%s\",", coverage_kind_name(item->kind));
    put_string(out, "flow", flow, strlen(flow));
    put_string(out, "step", step, strlen(step));
    if (*to) put_string(out, "to", to, strlen(to));
    put_string(out, "text", text.data ? text.data : "", text.len);
    mwl__buf_printf(out,
                    "\"number\":%" PRIu32 ",\"line\":%" PRIu32 ",\"column\":%" PRIu32
                    ",\"hits\":%" PRIu64 "}",
                    item->number, item->line, item->column, hits);
    mwl__buf_free(&text);
}

void coverage_write(const struct coverage *c, const char *path, const uint64_t *hits,
                    mwl__buf *out) {
    size_t taken = 0;
    for (size_t i = 0; i < c->n_items; i++) taken += hits[i] > 0;
    mwl__buf_putc(out, '{');
    put_string(out, "definition", path, strlen(path));
    mwl__buf_printf(out, "\"taken\":%zu,\"places\":%zu,\"items\":[", taken, c->n_items);
    for (size_t i = 0; i < c->n_items; i++) {
        mwl__buf_puts(out, i ? ",\n" : "\n");
        write_item(c, &c->items[i], hits[i], out);
    }
    mwl__buf_puts(out, "]}");
}
