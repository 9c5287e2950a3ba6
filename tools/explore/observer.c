/* observer.c: see observer.h. */
#include "observer.h"

#include "tools/test/coverage.h"
#include "vm/machine/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *finding_kind_name(enum finding_kind kind) {
    static const char *const names[FINDING_KINDS] = {
        "invariant",  "uncaught",  "fault", "cleanup-fails", "cleanup-skipped",
        "never-ends", "unbounded", "limit", "unreached",     "attempts"};
    return names[kind];
}

/* ---- noting ---------------------------------------------------------------------------------- */

static bool room(void *list, size_t *cap, size_t need, size_t size) {
    void *old;
    if (need <= *cap) return true;
    size_t more = *cap ? 2 * *cap : 64;
    while (more < need) more *= 2;
    memcpy(&old, list, sizeof old);
    void *grown = realloc(old, more * size);
    if (!grown) return false;
    memcpy(list, &grown, sizeof grown);
    *cap = more;
    return true;
}

static uint32_t find(struct observer *w, enum finding_kind kind, const char *text) {
    for (uint32_t i = 0; i < w->n_findings; i++)
        if (w->findings[i].kind == kind && strcmp(w->findings[i].text, text) == 0) return i;
    if (!room(&w->findings, &w->cap_findings, w->n_findings + 1, sizeof *w->findings))
        return MWL_NONE;
    char *copy = strdup(text);
    if (!copy) return MWL_NONE;
    w->findings[w->n_findings] =
        (struct finding){.kind = kind, .text = copy, .edge = MWL_NONE, .state = MWL_NONE};
    return (uint32_t)w->n_findings++;
}

void observer_note(struct observer *w, enum finding_kind kind, uint32_t step, uint32_t edge,
                   uint32_t state, const char *format, ...) {
    char text[900];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    uint32_t at = find(w, kind, text);
    if (at == MWL_NONE ||
        !room(&w->occurrences, &w->cap_occurrences, w->n_occurrences + 1, sizeof *w->occurrences)) {
        w->failed = true;
        return;
    }
    struct finding *f = &w->findings[at];
    f->n++;
    if (!f->line && step != MWL_NONE) {
        mwl__where where = {0, 0, 0, 0};
        mwl__program_where(w->search->program, w->search->program->tables.steps[step].pc, 0,
                           &where);
        f->line = where.line;
        f->column = where.column;
    }
    if (edge != MWL_NONE || state != MWL_NONE)
        w->occurrences[w->n_occurrences++] = (struct occurrence){at, edge, state};
}

/* ---- life ------------------------------------------------------------------------------------ */

static _Thread_local const struct observer *current; /* whose invariants are being evaluated */

static mwl_value count_of(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    const char *name =
        mwl_value_kind(args[0]) == MWL_KIND_STRING ? mwl_as_text(args[0], NULL) : NULL;
    (void)n_args;
    if (!name || !current) return mwl_fn_no_overload(fn);
    for (size_t i = 0; i < current->n_names; i++)
        if (strcmp(current->names[i], name) == 0) return mwl_int((int64_t)current->counts[i]);
    return mwl_fn_fail(fn, "calls() needs a name that is written out: calls('refund')");
}

static const mwl_function_def functions[] = {
    {"calls", count_of, 1, 1, MWL_FN_GLOBAL | MWL_FN_IMPURE, "calls(string) -> int"}};

/* Whether a catch clause takes every failure: its only pattern is `*`. */
static bool takes_all(const mwl_program *p, uint32_t step, uint32_t clause) {
    const mwl__matcher_rec *m =
        &p->tables.matchers[p->tables.catches[p->tables.steps[step].first_catch + clause].matcher];
    return !m->n_types && m->retryable == MWL_NONE && m->n_codes == 1 &&
           strcmp(mwl_as_text(p->consts[p->keys[m->first_code]], NULL), "*") == 0;
}

/* Steps that people write as a cleanup: a call to which both the success and every failure of
 * another Step lead. */
static void find_always(struct observer *w) {
    const struct coverage *c = w->coverage;
    const mwl_program *p = c->program;
    for (uint32_t i = 0; i < p->tables.n_steps; i++) w->always[i] = MWL_NONE;
    for (size_t i = 0; i < c->n_items; i++) {
        const struct coverage_item *item = &c->items[i];
        if (item->kind != COVER_CATCH || !takes_all(p, item->step, item->number)) continue;
        uint32_t action = p->tables.steps[item->to].action;
        if (action != MWL_ACTION_CALL && action != MWL_ACTION_GATHER) continue;
        for (size_t k = 0; k < c->n_items; k++)
            if (c->items[k].kind == COVER_NEXT && c->items[k].step == item->step &&
                c->items[k].to == item->to)
                w->always[item->step] = item->to;
    }
}

bool observer_init(struct observer *w, struct search *s) {
    memset(w, 0, sizeof *w);
    w->search = s;
    w->coverage = coverage_new(s->program);
    w->most_runs = calloc(s->program->tables.n_entries + 1, sizeof *w->most_runs);
    w->hits = w->coverage ? calloc(w->coverage->n_items + 1, sizeof *w->hits) : NULL;
    w->always = malloc((s->program->tables.n_steps + 1) * sizeof *w->always);
    expr_env_init(&w->env, s->heap);
    if (!w->coverage || !w->most_runs || !w->hits || !w->always) return false;
    find_always(w);
    return expr_env_functions(&w->env, functions, 1) == MWL_OK;
}

void observer_free(struct observer *w) {
    for (size_t i = 0; i < w->n_findings; i++) free(w->findings[i].text);
    for (size_t i = 0; i < w->n_invariants; i++) expr_free(&w->invariants[i].expr);
    for (size_t i = 0; i < w->n_names; i++) free(w->names[i]);
    free(w->findings);
    free(w->occurrences);
    free(w->invariants);
    free(w->names);
    free(w->counts);
    free(w->kept_counts);
    free(w->kept_spoiled);
    free(w->hits);
    free(w->most_runs);
    free(w->always);
    coverage_free(w->coverage);
    expr_env_free(&w->env);
}

/* ---- invariants ------------------------------------------------------------------------------ */

enum { ROOT_VARS, ROOT_STEP, ROOT_FLOW, ROOT_ENDED, ROOT_RESULT, N_ROOTS };
static const char *const root_names[N_ROOTS] = {"vars", "step", "flow", "ended", "result"};

/* The names in calls('...'): what is counted is part of a state, so it must be known before. */
static bool add_names(struct observer *w, const char *text) {
    for (const char *at = text; (at = strstr(at, "calls(")) != NULL;) {
        at += 6;
        const char *quote = at + strspn(at, " "), *end;
        if (*quote != '\'' && *quote != '"') continue;
        end = strchr(quote + 1, *quote);
        if (!end) continue;
        char **names = realloc(w->names, (w->n_names + 1) * sizeof *names);
        if (names) w->names = names;
        uint32_t *counts = realloc(w->counts, (w->n_names + 1) * sizeof *counts);
        if (counts) w->counts = counts;
        char *name = strndup(quote + 1, (size_t)(end - quote - 1));
        if (!names || !counts || !name) {
            free(name);
            return false;
        }
        w->counts[w->n_names] = 0;
        w->names[w->n_names++] = name;
    }
    return true;
}

mwl_status observer_invariant(struct observer *w, const char *text, char *why, size_t size) {
    struct invariant *grown = realloc(w->invariants, (w->n_invariants + 1) * sizeof *grown);
    if (!grown) return MWL_E_NOMEM;
    w->invariants = grown;
    struct invariant *i = &w->invariants[w->n_invariants];
    i->text = text;
    mwl_status status =
        expr_compile(&w->env, text, strlen(text), root_names, N_ROOTS, &i->expr, why, size);
    if (status != MWL_OK) return status;
    w->n_invariants++;
    return add_names(w, text) ? MWL_OK : MWL_E_NOMEM;
}

static void check_invariants(struct observer *w, mwl_value vars, const char *flow, const char *step,
                             uint32_t step_ix, mwl_value result) {
    if (!w->n_invariants) return;
    mwl_heap *h = w->search->heap;
    mwl_value roots[N_ROOTS] = {vars, mwl_string(h, step, strlen(step)),
                                mwl_string(h, flow, strlen(flow)), mwl_bool(!mwl_is_absent(result)),
                                result};
    current = w;
    for (size_t i = 0; i < w->n_invariants; i++) {
        char why[200] = "";
        if (expr_holds(&w->env, &w->invariants[i].expr, roots, N_ROOTS, why, sizeof why)) continue;
        observer_note(w, FINDING_INVARIANT, step_ix, w->edge, MWL_NONE,
                      "the invariant does not hold: %s%s%s", w->invariants[i].text,
                      *why ? ": " : "", why);
    }
    current = NULL;
    mwl_value_drop(h, roots[ROOT_STEP]);
    mwl_value_drop(h, roots[ROOT_FLOW]);
}

void observer_begin(struct observer *w, uint32_t from, uint32_t edge) {
    w->edge = edge;
    if (from >= w->cap_kept) return; /* the first one: all zero */
    for (size_t i = 0; i < w->n_names; i++)
        w->counts[i] = w->kept_counts[(size_t)from * w->n_names + i];
    w->spoiled = w->kept_spoiled[from];
}

void observer_keep(struct observer *w, uint32_t state) {
    if (state >= w->cap_kept) {
        size_t cap = w->cap_kept ? w->cap_kept : 1024;
        while (cap <= state) cap *= 2;
        uint64_t *spoiled = realloc(w->kept_spoiled, cap * sizeof *spoiled);
        if (spoiled) w->kept_spoiled = spoiled;
        uint32_t *counts =
            w->n_names ? realloc(w->kept_counts, cap * w->n_names * sizeof *counts) : NULL;
        if (counts) w->kept_counts = counts;
        if (!spoiled || (w->n_names && !counts)) {
            w->failed = true;
            return;
        }
        w->cap_kept = cap;
    }
    w->kept_spoiled[state] = w->spoiled;
    for (size_t i = 0; i < w->n_names; i++)
        w->kept_counts[(size_t)state * w->n_names + i] = w->counts[i];
}

void observer_add_counts(struct observer *w, mwl__fingerprint *print) {
    for (size_t i = 0; i < w->n_names; i++) mwl__fingerprint_add(print, w->counts[i]);
}

void observer_call(struct observer *w, mwl_call *call) {
    if (w->called) w->called(w->called_ctx, call);
    if (!w->n_names) return;
    mwl_place at = {"", "", 0, 0};
    mwl_call_place(call, &at);
    for (size_t i = 0; i < w->n_names; i++)
        w->counts[i] +=
            strcmp(w->names[i], at.step) == 0 || strcmp(w->names[i], call->provider->uri) == 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static const char *text_of(mwl_value object, const char *name) {
    const char *text = mwl_as_text(mwl_object_get(object, name, strlen(name)), NULL);
    return text ? text : "";
}

/* Failures that the engine itself raises because the definition is wrong for the data. */
static bool is_fault(const char *code) {
    return strcmp(code, "System.ExpressionEvaluationError") == 0 ||
           strcmp(code, "System.UnrepresentableValue") == 0 ||
           strcmp(code, "System.ParameterValidationFailed") == 0 ||
           strcmp(code, "System.EmptyRaise") == 0;
}

static void check_fault(struct observer *w, const mwl__frame *f, mwl_value failure) {
    const char *code = text_of(failure, "code");
    if (!is_fault(code) || f->step == MWL_NONE) return;
    const mwl_program *p = w->search->program;
    observer_note(w, FINDING_FAULT, f->step, w->edge, MWL_NONE, "Step '%s': %s: %s",
                  mwl_as_text(p->consts[p->tables.steps[f->step].name_k], NULL), code,
                  text_of(failure, "message"));
}

static const char *around(const struct observer *w, const mwl__frame *f, const mwl__entry *e) {
    const mwl_program *p = w->search->program;
    if ((p->tables.entries[e->ix].flags & MWL_ENTRY_FLOW_LEVEL) || f->step == MWL_NONE) return "";
    return mwl_as_text(p->consts[p->tables.steps[f->step].name_k], NULL);
}

static void check_cleanup(struct observer *w, const mwl__frame *f, const mwl_trace_event *event) {
    const mwl__entry *e = f->entries;
    const mwl__entry_rec *rec = &w->search->program->tables.entries[e->ix];
    uint64_t bit = UINT64_C(1) << e->rank % 64;
    if (rec->struct_pc[MWL_ON_ALWAYS] == MWL_NONE) return;
    const char *step = around(w, f, e), *code = text_of(event->value, "code");
    uint32_t at = *step ? f->step : MWL_NONE;
    char where[200];
    snprintf(where, sizeof where,
             *step ? "the cleanup around Step '%s'" : "the cleanup of the Flow%s", step);
    if (!event->failed) return;
    if (e->gated) {
        observer_note(w, FINDING_CLEANUP_SKIPPED, at, w->edge, MWL_NONE,
                      "%s is skipped after a failure: its `when` is false", where);
    } else if (e->res.cleanup && !(w->spoiled & bit)) {
        const char *hidden = text_of(mwl_object_get(event->value, "previous", 8), "code");
        observer_note(w, FINDING_CLEANUP_FAILS, at, w->edge, MWL_NONE, "%s fails with %s%s%s",
                      where, code, *hidden ? ", and hides " : ", and a success is lost", hidden);
    }
}

/* An interruption of the whole Step takes no catch clause: what was to follow in any case does not.
 * One by the Step's own middleware ends in its Result. */
static void check_interrupted(struct observer *w, const mwl__frame *f) {
    const mwl_program *p = w->search->program;
    const mwl__entry *owner = f->extra ? f->extra->owner : NULL;
    if (f->step == MWL_NONE || w->always[f->step] == MWL_NONE) return;
    if (owner && !(p->tables.entries[owner->ix].flags & MWL_ENTRY_FLOW_LEVEL)) return;
    const char *step = mwl_as_text(p->consts[p->tables.steps[f->step].name_k], NULL);
    observer_note(w, FINDING_CLEANUP_SKIPPED, w->always[f->step], w->edge, MWL_NONE,
                  "Step '%s' follows Step '%s' whether it succeeds or fails, but is skipped when "
                  "that is interrupted",
                  mwl_as_text(p->consts[p->tables.steps[w->always[f->step]].name_k], NULL), step);
}

static void count_runs(struct observer *w, const mwl__entry *e, uint64_t runs) {
    if (w->most_runs[e->ix] < runs) w->most_runs[e->ix] = runs;
}

static void on_entry_event(struct observer *w, const mwl__frame *f, const mwl_trace_event *event) {
    const mwl__entry *e = f->entries;
    uint64_t bit = UINT64_C(1) << e->rank % 64;
    if (event->kind == MWL_TRACE_ENTRY_EXITED) {
        if (mwl__entry_cleaning(e)) check_cleanup(w, f, event);
    } else if (event->kind == MWL_TRACE_ATTEMPT) { /* one that waits first may never begin */
        if (event->until_ns <= event->at.mono_ns) count_runs(w, e, event->runs);
    } else if (strcmp(event->phase, "onAlways") == 0) {
        w->spoiled = e->res.cleanup ? w->spoiled | bit : w->spoiled & ~bit;
    } else if (strcmp(event->phase, "onEntry") != 0) {
        count_runs(w, e, event->runs);
    }
}

void observer_event(void *ctx, const mwl_trace_event *event) {
    struct observer *w = ctx;
    const mwl__frame *f = (const mwl__frame *)(uintptr_t)event->frame;
    coverage_event(w->coverage, w->hits, event);
    switch (event->kind) {
    case MWL_TRACE_PHASE:
    case MWL_TRACE_ATTEMPT:
    case MWL_TRACE_ENTRY_EXITED: on_entry_event(w, f, event); break;
    case MWL_TRACE_INTERRUPTED: check_interrupted(w, f); break;
    case MWL_TRACE_CAUGHT: check_fault(w, f, event->value); break;
    case MWL_TRACE_STEP_EXITED:
        if (event->failed) check_fault(w, f, event->value);
        check_invariants(w, event->vars, event->flow, event->step, f->step, mwl_absent());
        break;
    default: break;
    }
}

void observer_end(struct observer *w, mwl_run *run) {
    mwl_value result = mwl_run_result(run);
    if (mwl_run_why(run) < 0)
        observer_note(w, FINDING_LIMIT, MWL_NONE, w->edge, MWL_NONE,
                      "a limit of the machine ends the run: %s", mwl_status_text(mwl_run_why(run)));
    else
        check_invariants(w, mwl_absent(), "", "", MWL_NONE, result);
}
