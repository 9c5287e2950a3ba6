/* coverage.c: see coverage.h. */
#include "tools/test/coverage.h"

#include "assembler/source/diag.h"
#include "stdlib/documents.h"
#include "vm/explore/look.h"
#include "vm/program/view.h"
#include "vm/value/value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list -------------------------------------------------------------------------------- */

static uint32_t add(struct coverage *c, struct coverage_item item, mwl__where at) {
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
    item.line = at.line;
    item.column = at.column;
    c->items[c->n_items] = item;
    return (uint32_t)c->n_items++;
}

static void add_steps(struct coverage *c) {
    for (uint32_t i = 0; i < mwl__view_n_steps(c->program); i++) {
        const mwl__view_step step = mwl__view_step_of(c->program, i);
        (void)add(c, (struct coverage_item){COVER_STEP, step.flow, i, MWL_NONE, MWL_NONE, 0, 0, 0},
                  mwl__view_step_place(c->program, i));
    }
}

static void add_ways(struct coverage *c) {
    static const enum coverage_kind kinds[] = {COVER_NEXT, COVER_CASE, COVER_CATCH};
    mwl__view_ways ways = {c->program, MWL_NONE, 0, 0};
    mwl__view_way way;
    while (mwl__view_next_way(&ways, &way)) {
        const struct coverage_item item = {.kind = kinds[way.kind],
                                           .flow = mwl__view_step_of(c->program, way.from).flow,
                                           .step = way.from,
                                           .to = way.to,
                                           .entry = MWL_NONE,
                                           .number = way.number};
        c->of_code[way.code] = add(c, item, way.at);
    }
}

static mwl_value policies_of(const mwl__view_entry *e) {
    bool retries = strcmp(e->uri, MWL__STD_RETRY) == 0;
    return retries ? mwl_get(e->with[MWL_ON_ENTRY], "policies") : mwl_absent();
}

static void add_entry(struct coverage *c, uint32_t ix) {
    const mwl__view_entry e = mwl__view_entry_of(c->program, ix);
    struct coverage_item item = {
        .kind = COVER_PHASE, .flow = e.flow, .step = e.step, .to = MWL_NONE, .entry = ix};
    for (unsigned phase = 0; phase < 4; phase++) {
        item.number = phase;
        if (e.phases[phase])
            c->of_phase[ix * 4 + phase] =
                add(c, item, mwl__view_entry_place(c->program, ix, phase));
    }
    const mwl__where at = mwl__view_entry_place(c->program, ix, MWL_ON_ENTRY);
    item.kind = COVER_BOUND;
    item.number = 0;
    if (strcmp(e.uri, MWL__STD_TIMEOUT) == 0) c->of_bound[ix] = add(c, item, at);
    item.kind = COVER_POLICY;
    for (size_t n = mwl_count(policies_of(&e)); item.number < n; item.number++) {
        uint32_t first = add(c, item, at);
        if (item.number == 0) c->of_policy[ix] = first;
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
    const uint32_t n_entries = mwl__view_n_entries(program);
    c->program = mwl_program_keep(program);
    c->of_code = nones(program->n_code);
    c->of_phase = nones((size_t)n_entries * 4);
    c->of_bound = nones(n_entries);
    c->of_policy = nones(n_entries);
    if (!c->of_code || !c->of_phase || !c->of_bound || !c->of_policy) {
        coverage_free(c);
        return NULL;
    }
    add_steps(c);
    add_ways(c);
    for (uint32_t i = 0; i < n_entries; i++) add_entry(c, i);
    if (!c->failed) return c;
    coverage_free(c);
    return NULL;
}

void coverage_free(struct coverage *c) {
    if (!c) return;
    free(c->items);
    free(c->of_code);
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

static void hit_policy(const struct coverage *c, uint64_t *hits, uint32_t entry,
                       mwl_value failure) {
    uint32_t first = c->of_policy[entry];
    if (first == MWL_NONE) return;
    const mwl__view_entry e = mwl__view_entry_of(c->program, entry);
    mwl_value policies = policies_of(&e);
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
    const struct mwl__frame *f = mwl__look_frame(event);
    if (!f) return;
    const mwl__look at = mwl__look_at(f);
    if (at.program != c->program) return; /* another run of this VM */
    switch (event->kind) {
    case MWL_TRACE_STEP_ENTERED: hits[at.step]++; break; /* Steps are the first items */
    case MWL_TRACE_STEP_EXITED: /* by a way to another Step, or by the end of the Flow */
        if (at.code < c->program->n_code) hit(hits, c->of_code[at.code]);
        break;
    case MWL_TRACE_PHASE: {
        unsigned phase = phase_of(event->phase);
        hit(hits, c->of_phase[at.entry * 4 + phase]);
        if (phase == MWL_ON_FAILURE) hit_policy(c, hits, at.entry, event->value);
        break;
    }
    case MWL_TRACE_INTERRUPTED:
        if (mwl__look_owner(f) != MWL_NONE) hit(hits, c->of_bound[mwl__look_owner(f)]);
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

static const char *provider_name(const struct coverage *c, uint32_t entry, size_t *len) {
    const char *uri = mwl__view_entry_of(c->program, entry).uri;
    const char *name = strchr(uri, '/');
    name = name ? strchr(name + 1, '/') : NULL;
    name = name ? name + 1 : uri;
    *len = strcspn(name, "/");
    return name;
}

static void put_of(const struct coverage *c, const struct coverage_item *item, mwl__buf *out) {
    const char *flow = mwl__view_flow_name(c->program, item->flow);
    if (item->step == MWL_NONE && !*flow)
        mwl__buf_puts(out, " of the Flow");
    else if (item->step == MWL_NONE)
        mwl__buf_printf(out, " of Flow '%s'", flow);
    else
        mwl__buf_printf(out, " of Step '%s%s%s'", flow, *flow ? "/" : "",
                        mwl__view_step_name(c->program, item->step));
}

void coverage_text(const struct coverage *c, const struct coverage_item *item, mwl__buf *out) {
    static const char *const phases[] = {"onEntry", "onSuccess", "onFailure", "onAlways"};
    const char *flow = mwl__view_flow_name(c->program, item->flow);
    size_t len = 0;
    const char *name = item->entry == MWL_NONE ? "" : provider_name(c, item->entry, &len);
    switch (item->kind) {
    case COVER_STEP:
        mwl__buf_printf(out, "Step '%s%s%s'", flow, *flow ? "/" : "",
                        mwl__view_step_name(c->program, item->step));
        return;
    case COVER_NEXT:
        mwl__buf_printf(out, "the way to '%s'", mwl__view_step_name(c->program, item->to));
        break;
    case COVER_CATCH: mwl__buf_printf(out, "catch clause %u", item->number + 1); break;
    case COVER_CASE:
        mwl__buf_printf(out, "case %u, to '%s',", item->number + 1,
                        mwl__view_step_name(c->program, item->to));
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
    const char *flow = mwl__view_flow_name(c->program, item->flow),
               *step = mwl__view_step_name(c->program, item->step),
               *to = mwl__view_step_name(c->program, item->to);
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
