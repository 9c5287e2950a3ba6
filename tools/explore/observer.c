/* observer.c: see observer.h. */
#include "tools/explore/observer.h"

#include "tools/base/member.h"
#include "tools/host/names.h"
#include "tools/test/coverage.h"
#include "vm/explore/look.h"
#include "vm/program/view.h"

#include <ctype.h>
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

const char *finding_rank_name(enum finding_rank rank) {
    static const char *const names[FINDING_RANKS] = {"error", "warning", "note"};
    return names[rank];
}

/* A failure that leaves a Step uncaught may be meant. It is probably not if the Step catches other
 * failures: then this one was forgotten. */
static enum finding_rank rank_of(const struct observer *w, enum finding_kind kind, uint32_t step) {
    if (kind == FINDING_UNBOUNDED) return RANK_WARNING;
    if (kind != FINDING_UNCAUGHT) return RANK_ERROR;
    return mwl__view_step_of(w->search->program, step).n_catch ? RANK_WARNING : RANK_NOTE;
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
    if (f->n++ == 0) {
        f->rank = rank_of(w, kind, step);
        f->step = step;
    }
    if (!f->line && step != MWL_NONE) {
        const mwl__where where = mwl__view_step_place(w->search->program, step);
        f->line = where.line;
        f->column = where.column;
    }
    if (edge != MWL_NONE || state != MWL_NONE)
        w->occurrences[w->n_occurrences++] = (struct occurrence){at, edge, state};
}

/* ---- life ------------------------------------------------------------------------------------ */

static _Thread_local const struct observer *current; /* whose invariants are being evaluated */

static const char *const count_names[COUNT_KINDS] = {"calls", "succeeded", "failed", "before"};

static const uint32_t *find_count(enum count_kind kind, const char *name, const char *other) {
    for (size_t i = 0; current && i < current->n_counters; i++) {
        const struct counter *c = &current->counters[i];
        if (c->kind == kind && strcmp(c->name, name) == 0 && strcmp(c->other, other) == 0)
            return &current->counts[i];
    }
    return NULL;
}

static mwl_value count_of(mwl_fn *fn, enum count_kind kind, const mwl_value *args, size_t n_args) {
    const char *texts[2] = {"", ""};
    for (size_t i = 0; i < n_args; i++) {
        if (mwl_value_kind(args[i]) != MWL_KIND_STRING) return mwl_fn_no_overload(fn);
        texts[i] = mwl_as_text(args[i], NULL);
    }
    const uint32_t *n = find_count(kind, texts[0], texts[1]);
    if (!n) return mwl_fn_fail(fn, "a name must be written out, as in calls('refund')");
    return kind == COUNT_BEFORE ? mwl_bool(*n != BEFORE_OTHER) : mwl_int((int64_t)*n);
}

static mwl_value fn_calls(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    return count_of(fn, COUNT_CALLS, args, n_args);
}

static mwl_value fn_succeeded(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    return count_of(fn, COUNT_SUCCEEDED, args, n_args);
}

static mwl_value fn_failed(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    return count_of(fn, COUNT_FAILED, args, n_args);
}

static mwl_value fn_before(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    return count_of(fn, COUNT_BEFORE, args, n_args);
}

#define COUNTS (MWL_FN_GLOBAL | MWL_FN_IMPURE)
static const mwl_function_def functions[] = {
    {"calls", fn_calls, 1, 1, COUNTS, "calls(string) -> int"},
    {"succeeded", fn_succeeded, 1, 1, COUNTS, "succeeded(string) -> int"},
    {"failed", fn_failed, 1, 1, COUNTS, "failed(string) -> int"},
    {"before", fn_before, 2, 2, COUNTS, "before(string, string) -> bool"}};

/* Steps that people write as a cleanup: a call to which both the success and every failure of
 * another Step lead. */
static void find_always(struct observer *w) {
    const struct coverage *c = w->coverage;
    const mwl_program *p = c->program;
    for (uint32_t i = 0; i < mwl__view_n_steps(p); i++) w->always[i] = MWL_NONE;
    for (size_t i = 0; i < c->n_items; i++) {
        const struct coverage_item *item = &c->items[i];
        if (item->kind != COVER_CATCH || !mwl__view_catches_all(p, item->step, item->number))
            continue;
        const mwl__action action = mwl__view_step_of(p, item->to).action;
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
    for (size_t i = 0; i < sizeof w->last / sizeof *w->last; i++) w->last[i] = mwl_null();
    w->coverage = coverage_new(s->program);
    w->most_runs = calloc(mwl__view_n_entries(s->program) + 1, sizeof *w->most_runs);
    w->hits = w->coverage ? calloc(w->coverage->n_items + 1, sizeof *w->hits) : NULL;
    w->always = malloc((mwl__view_n_steps(s->program) + 1) * sizeof *w->always);
    expr_env_init(&w->env, s->heap);
    if (!w->coverage || !w->most_runs || !w->hits || !w->always) return false;
    find_always(w);
    return expr_env_functions(&w->env, functions, sizeof functions / sizeof *functions) == MWL_OK;
}

void observer_free(struct observer *w) {
    for (size_t i = 0; i < w->n_findings; i++) free(w->findings[i].text);
    for (size_t i = 0; i < w->n_invariants; i++) expr_free(&w->invariants[i].expr);
    for (size_t i = 0; i < w->n_counters; i++) {
        free(w->counters[i].name);
        free(w->counters[i].other);
    }
    for (size_t i = 0; i < sizeof w->last / sizeof *w->last; i++)
        mwl_value_drop(w->search->heap, w->last[i]);
    free(w->findings);
    free(w->occurrences);
    free(w->invariants);
    free(w->counters);
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

enum { ROOT_VARS, ROOT_STEP, ROOT_FAILURE, ROOT_FLOW, ROOT_RESULT, ROOT_ENDED, N_ROOTS };
static const char *const root_names[N_ROOTS] = {"vars", "step",   "failure",
                                                "flow", "result", "ended"};

/* A name in quotes at *at, given; moves *at behind it. NULL: there is none. */
static char *read_name(const char **at) {
    const char *quote = *at + strspn(*at, " \t\n"), *end;
    if (*quote != '\'' && *quote != '"') return NULL;
    end = strchr(quote + 1, *quote);
    if (!end) return NULL;
    *at = end + 1;
    return strndup(quote + 1, (size_t)(end - quote - 1));
}

static mwl_status add_counter(struct observer *w, enum count_kind kind, char *take_name,
                              char *take_other) {
    struct counter *counters = realloc(w->counters, (w->n_counters + 1) * sizeof *counters);
    if (counters) w->counters = counters;
    uint32_t *counts = realloc(w->counts, (w->n_counters + 1) * sizeof *counts);
    if (counts) w->counts = counts;
    if (!counters || !counts) {
        free(take_name);
        free(take_other);
        return MWL_E_NOMEM;
    }
    w->counts[w->n_counters] = 0;
    w->counters[w->n_counters++] = (struct counter){kind, take_name, take_other};
    return MWL_OK;
}

/* Reads what one use counts, from the text after its "(". */
static mwl_status read_counter(struct observer *w, enum count_kind kind, const char *at, char *why,
                               size_t size) {
    char *name = read_name(&at), *other = NULL;
    if (name && kind == COUNT_BEFORE) {
        at += strspn(at, " \t\n");
        if (*at++ == ',') other = read_name(&at);
    } else if (name) {
        other = strdup("");
    }
    mwl_status status = MWL_E_REJECTED;
    if (!name || !other)
        snprintf(why, size, "%s() needs %s written out, as in %s", count_names[kind],
                 kind == COUNT_BEFORE ? "two names" : "a name",
                 kind == COUNT_BEFORE ? "before('hold', 'commit')" : "calls('refund')");
    else if (names_check(w->search->program, NAMES_STEP | NAMES_URI, name, why, size) &&
             (!*other || names_check(w->search->program, NAMES_STEP | NAMES_URI, other, why, size)))
        return add_counter(w, kind, name, other);
    free(name);
    free(other);
    return status;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* Adds the counters of a text. They are part of a state, so they must be known before the search
 * begins. */
static mwl_status add_counters(struct observer *w, const char *text, char *why, size_t size) {
    for (int kind = 0; kind < COUNT_KINDS; kind++) {
        size_t len = strlen(count_names[kind]);
        for (const char *at = text; (at = strstr(at, count_names[kind])) != NULL; at += len) {
            const char *open = at + len + strspn(at + len, " ");
            if (*open != '(' || (at > text && is_word(at[-1]))) continue;
            mwl_status status = read_counter(w, (enum count_kind)kind, open + 1, why, size);
            if (status != MWL_OK) return status;
        }
    }
    return MWL_OK;
}

mwl_status observer_invariant(struct observer *w, const char *text, bool at_end, char *why,
                              size_t size) {
    struct invariant *grown = realloc(w->invariants, (w->n_invariants + 1) * sizeof *grown);
    if (!grown) return MWL_E_NOMEM;
    w->invariants = grown;
    struct invariant *i = &w->invariants[w->n_invariants];
    i->text = text;
    i->at_end = at_end;
    mwl_status status =
        expr_compile(&w->env, text, strlen(text), root_names, N_ROOTS, &i->expr, why, size);
    if (status != MWL_OK) return status;
    w->n_invariants++;
    return add_counters(w, text, why, size);
}

static void set(struct observer *w, int root, mwl_value take) {
    mwl_value_drop(w->search->heap, w->last[root]);
    w->last[root] = take;
}

static mwl_value kept(mwl_value v) { return mwl_is_absent(v) ? mwl_null() : mwl_value_keep(v); }

/* Notes what the roots are in this frame; `vars` is lent. */
static void look(struct observer *w, struct mwl__frame *f, mwl_value vars, const char *flow) {
    mwl_heap *h = w->search->heap;
    set(w, ROOT_VARS, kept(vars));
    set(w, ROOT_STEP, mwl__look_step(f));
    set(w, ROOT_FAILURE, kept(mwl__look_failure(f)));
    set(w, ROOT_FLOW, member_set(h, mwl_object(h, 1), "name", mwl_string(h, flow, strlen(flow))));
}

static void check_invariants(struct observer *w, uint32_t step_ix, mwl_value result) {
    mwl_value roots[N_ROOTS];
    bool ended = !mwl_is_absent(result);
    memcpy(roots, w->last, sizeof w->last);
    roots[ROOT_RESULT] = ended ? result : mwl_null();
    roots[ROOT_ENDED] = mwl_bool(ended);
    current = w;
    for (size_t i = 0; i < w->n_invariants; i++) {
        char why[200] = "";
        if (w->invariants[i].at_end && !ended) continue;
        if (expr_holds(&w->env, &w->invariants[i].expr, roots, N_ROOTS, why, sizeof why)) continue;
        observer_note(w, FINDING_INVARIANT, step_ix, w->edge, MWL_NONE, "the invariant %s: %s%s%s",
                      *why ? "cannot be evaluated" : "does not hold", w->invariants[i].text,
                      *why ? ": " : "", why);
    }
    current = NULL;
}

void observer_begin(struct observer *w, uint32_t from, uint32_t edge, const mwl_run *run) {
    w->edge = edge;
    struct mwl__frame *root = run ? mwl__look_root(run) : NULL;
    if (w->n_invariants && root) look(w, root, mwl__look_vars(root), "");
    if (from >= w->cap_kept) return; /* the first one: all zero */
    for (size_t i = 0; i < w->n_counters; i++)
        w->counts[i] = w->kept_counts[(size_t)from * w->n_counters + i];
    w->spoiled = w->kept_spoiled[from];
}

void observer_keep(struct observer *w, uint32_t state) {
    if (state >= w->cap_kept) {
        size_t cap = w->cap_kept ? w->cap_kept : 1024;
        while (cap <= state) cap *= 2;
        uint64_t *spoiled = realloc(w->kept_spoiled, cap * sizeof *spoiled);
        if (spoiled) w->kept_spoiled = spoiled;
        uint32_t *counts =
            w->n_counters ? realloc(w->kept_counts, cap * w->n_counters * sizeof *counts) : NULL;
        if (counts) w->kept_counts = counts;
        if (!spoiled || (w->n_counters && !counts)) {
            w->failed = true;
            return;
        }
        w->cap_kept = cap;
    }
    w->kept_spoiled[state] = w->spoiled;
    for (size_t i = 0; i < w->n_counters; i++)
        w->kept_counts[(size_t)state * w->n_counters + i] = w->counts[i];
}

void observer_add_counts(struct observer *w, mwl__fingerprint *print) {
    for (size_t i = 0; i < w->n_counters; i++) mwl__fingerprint_add(print, w->counts[i]);
}

/* Counts what happened to a call of this Step and provider. */
static void count(struct observer *w, enum count_kind kind, const char *flow, const char *step,
                  const char *uri) {
    for (size_t i = 0; i < w->n_counters; i++) {
        const struct counter *c = &w->counters[i];
        bool first = names_step(c->name, flow, step) || strcmp(c->name, uri) == 0;
        if (c->kind == kind) w->counts[i] += first;
        if (kind != COUNT_CALLS || c->kind != COUNT_BEFORE || w->counts[i] != BEFORE_NONE) continue;
        bool other = names_step(c->other, flow, step) || strcmp(c->other, uri) == 0;
        w->counts[i] = first ? BEFORE_FIRST : other ? BEFORE_OTHER : BEFORE_NONE;
    }
}

void observer_call(struct observer *w, mwl_call *call) {
    mwl_place at = {"", "", 0, 0};
    if (w->called) w->called(w->called_ctx, call);
    if (!w->n_counters) return;
    mwl_call_place(call, &at);
    count(w, COUNT_CALLS, at.flow, at.step, mwl__look_call_of(call).uri);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Failures that the engine itself raises because the definition is wrong for the data. */
static bool is_fault(const char *code) {
    return strcmp(code, "System.ExpressionEvaluationError") == 0 ||
           strcmp(code, "System.UnrepresentableValue") == 0 ||
           strcmp(code, "System.ParameterValidationFailed") == 0 ||
           strcmp(code, "System.EmptyRaise") == 0;
}

static void check_fault(struct observer *w, uint32_t step, mwl_value failure) {
    const char *code = member_text(failure, "code");
    if (!is_fault(code) || step == MWL_NONE) return;
    observer_note(w, FINDING_FAULT, step, w->edge, MWL_NONE, "Step '%s': %s: %s",
                  mwl__view_step_name(w->search->program, step), code,
                  member_text(failure, "message"));
}

static void check_cleanup(struct observer *w, uint32_t in_step, const mwl__look_entry *e,
                          const mwl_trace_event *event) {
    uint64_t bit = UINT64_C(1) << e->rank % 64;
    if (!e->cleans) return;
    uint32_t at = e->of_flow ? MWL_NONE : in_step;
    const char *step = mwl__view_step_name(w->search->program, at),
               *code = member_text(event->value, "code");
    char where[200];
    snprintf(where, sizeof where,
             *step ? "the cleanup around Step '%s'" : "the cleanup of the Flow%s", step);
    if (!event->failed) return;
    if (e->gated) {
        observer_note(w, FINDING_CLEANUP_SKIPPED, at, w->edge, MWL_NONE,
                      "%s is skipped after a failure: its `when` is false", where);
    } else if (e->cleanup_failed && !(w->spoiled & bit)) {
        const char *hidden = member_text(mwl_get(event->value, "previous"), "code");
        observer_note(w, FINDING_CLEANUP_FAILS, at, w->edge, MWL_NONE, "%s fails with %s%s%s",
                      where, code, *hidden ? ", and hides " : ", and a success is lost", hidden);
    }
}

/* An interruption of the whole Step takes no catch clause: what was to follow in any case does not.
 * One by the Step's own middleware ends in its Result. */
static void check_interrupted(struct observer *w, const mwl__look *at, uint32_t owner) {
    const mwl_program *p = w->search->program;
    if (at->step == MWL_NONE || w->always[at->step] == MWL_NONE) return;
    if (owner != MWL_NONE && mwl__view_entry_of(p, owner).step != MWL_NONE) return;
    const char *step = mwl__view_step_name(p, at->step);
    observer_note(w, FINDING_CLEANUP_SKIPPED, w->always[at->step], w->edge, MWL_NONE,
                  "Step '%s' follows Step '%s' whether it succeeds or fails, but is skipped when "
                  "that is interrupted",
                  mwl__view_step_name(p, w->always[at->step]), step);
}

static void count_runs(struct observer *w, uint32_t entry, uint64_t runs) {
    if (w->most_runs[entry] < runs) w->most_runs[entry] = runs;
}

static void on_entry_event(struct observer *w, const mwl__look *at, const mwl_trace_event *event) {
    const mwl__look_entry e = mwl__look_entry_of(mwl__look_frame(event));
    uint64_t bit = UINT64_C(1) << e.rank % 64;
    if (event->kind == MWL_TRACE_ENTRY_EXITED) {
        if (e.runs_cleanup) check_cleanup(w, at->step, &e, event);
    } else if (event->kind == MWL_TRACE_ATTEMPT) { /* one that waits first may never begin */
        if (event->until_ns <= event->at.mono_ns) count_runs(w, at->entry, event->runs);
    } else if (strcmp(event->phase, "onAlways") == 0) {
        w->spoiled = e.cleanup_failed ? w->spoiled | bit : w->spoiled & ~bit;
    } else if (strcmp(event->phase, "onEntry") != 0) {
        count_runs(w, at->entry, event->runs);
    }
}

/* Looks at a Step of a called Flow now, because the end of the run sees only the root Flow. */
static void step_ended(struct observer *w, const mwl__look *at, const mwl_trace_event *event) {
    mwl_value root[ROOT_RESULT];
    const bool called = at->called;
    for (int i = 0; called && i < ROOT_RESULT; i++) root[i] = mwl_value_keep(w->last[i]);
    look(w, mwl__look_frame(event), event->vars, event->flow);
    check_invariants(w, at->step, mwl_absent());
    for (int i = 0; called && i < ROOT_RESULT; i++) set(w, i, root[i]);
}

void observer_event(void *ctx, const mwl_trace_event *event) {
    struct observer *w = ctx;
    const struct mwl__frame *f = mwl__look_frame(event);
    mwl__look at = {.step = MWL_NONE};
    if (f) at = mwl__look_at(f);
    coverage_event(w->coverage, w->hits, event);
    switch (event->kind) {
    case MWL_TRACE_PHASE:
    case MWL_TRACE_ATTEMPT:
    case MWL_TRACE_ENTRY_EXITED: on_entry_event(w, &at, event); break;
    case MWL_TRACE_INTERRUPTED: check_interrupted(w, &at, mwl__look_owner(f)); break;
    case MWL_TRACE_CAUGHT: check_fault(w, at.step, event->value); break;
    case MWL_TRACE_CALL_DISPATCHED: /* a provider is counted when it is started: observer_call */
        if (!*event->provider) count(w, COUNT_CALLS, event->flow, event->step, "");
        break;
    case MWL_TRACE_CALL_ACCEPTED:
        count(w, event->failed ? COUNT_FAILED : COUNT_SUCCEEDED, event->flow, event->step,
              event->provider);
        break;
    case MWL_TRACE_STEP_EXITED:
        if (event->failed) check_fault(w, at.step, event->value);
        if (w->n_invariants) step_ended(w, &at, event);
        break;
    default: break;
    }
}

void observer_end(struct observer *w, mwl_run *run) {
    mwl_value result = mwl_run_result(run);
    if (mwl_run_why(run) < 0)
        observer_note(w, FINDING_LIMIT, MWL_NONE, w->edge, MWL_NONE,
                      "a limit of the machine ends the run: %s", mwl_status_text(mwl_run_why(run)));
    else if (w->n_invariants)
        check_invariants(w, MWL_NONE, result);
}
