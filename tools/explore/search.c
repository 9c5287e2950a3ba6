/* search.c: see search.h. */
#include "tools/explore/search.h"

#include "tools/base/member.h"
#include "assembler/provider/provide.h"
#include "vm/explore/clone.h"
#include "tools/explore/observer.h"
#include "tools/session/turn.h"
#include "vm/explore/look.h"
#include "vm/explore/steer.h"
#include "vm/program/view.h"

#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PENDING_MAX = 256 };
#define SEED 1 /* of jitter: every wait is computed with the same draw */
/* Work of one transition: a loop that never waits uses it up and is found. */
#define FUEL UINT64_C(20000000)

/* ---- the provider ---------------------------------------------------------------------------- */

/* It answers when the search says so. */
static void start(mwl_call *call, void *user) {
    struct search *s = user;
    s->n_calls++;
    observer_call(s->observer, call);
}

static void cancel(mwl_call *call, void *user) {
    (void)user;
    mwl_call_succeed(call, mwl_null()); /* the Result of a cancelled call is not used */
}

static mwl_status bind_one(struct search *s, const char *uri, mwl_error *error) {
    const struct testable_document *d = testable_document(s->testable, uri);
    if (mwl__look_provides(s->vm, uri)) return MWL_OK; /* mock: its arguments say what it answers */
    const mwl_call_provider p = {
        .uri = uri, .document = d ? d->text : NULL, .start = start, .cancel = cancel};
    return mwl__provide_stand_in(s->vm, &p, s, error);
}

mwl_status search_bind(struct search *s, mwl_error *error) {
    mwl_status status = MWL_OK;
    for (uint32_t i = 0; i < mwl__view_n_imports(s->program) && status == MWL_OK; i++)
        if (mwl__view_is_called(s->program, i))
            status = bind_one(s, mwl__view_uri(s->program, i), error);
    return status;
}

struct listing {
    mwl_call **list;
    size_t n, most;
};

static void add_pending(void *ctx, mwl_call *call) {
    struct listing *l = ctx;
    if (!mwl__look_starts(call, start)) return; /* it has its own timer */
    if (l->n < l->most) l->list[l->n] = call;
    l->n++;
}

size_t search_pending(mwl_run *run, mwl_call **list, size_t most) {
    struct listing l = {list, 0, most};
    mwl__run_executions(run, add_pending, &l);
    return l.n;
}

/* ---- one choice ------------------------------------------------------------------------------ */

void search_lend(mwl_run *run) { mwl__steer_lend(run, SEED, FUEL); }

static int64_t now_of(const struct search *s) {
    mwl_instant now;
    mwl_vm_now(s->vm, &now);
    return now.mono_ns;
}

static void answer(struct search *s, mwl_run *run, const struct choice *c) {
    mwl_call *pending[PENDING_MAX];
    size_t n = search_pending(run, pending, PENDING_MAX);
    int64_t due;
    if (c->pending >= n) return;
    if (c->late && mwl__steer_due(s->vm, &due) && due - 1 > now_of(s)) {
        session_pass(s->vm, due - 1);
        n = search_pending(run, pending, PENDING_MAX);
        if (c->pending >= n) return;
    }
    const struct menu_item *item = &menus_at(s->menus, c->menu)->items[c->item];
    if (item->failure)
        mwl_call_settle(pending[c->pending], mwl_value_keep(item->value));
    else
        mwl_call_succeed(pending[c->pending], mwl_value_keep(item->value));
}

bool search_step(struct search *s, mwl_run *run, const mwl_instant *now,
                 const struct choice *choice) {
    int64_t due;
    mwl__steer_set_now(s->vm, now);
    s->n_calls = 0;
    search_lend(run);
    if (mwl__run_thaw(run) != MWL_OK) return false;
    switch (choice->kind) {
    case CHOICE_ANSWER: answer(s, run, choice); break;
    case CHOICE_CANCEL: mwl_run_cancel(run, "explored"); break;
    default:
        if (mwl__steer_due(s->vm, &due)) session_pass(s->vm, due);
    }
    (void)session_settle(s->vm);
    return true;
}

/* ---- states and edges ------------------------------------------------------------------------ */

static bool grow(void *list, size_t *cap, size_t need, size_t size) {
    void *old;
    if (need <= *cap) return true;
    size_t more = *cap ? 2 * *cap : 256;
    memcpy(&old, list, sizeof old);
    void *grown = realloc(old, more * size);
    if (!grown) return false;
    memcpy(list, &grown, sizeof grown);
    *cap = more;
    return true;
}

static uint32_t new_state(struct search *s, mwl__fingerprint print) {
    if (!grow(&s->states, &s->cap_states, s->n_states + 1, sizeof *s->states)) return MWL_NONE;
    s->states[s->n_states] = (struct state){.print = print};
    mwl_vm_now(s->vm, &s->states[s->n_states].now);
    return (uint32_t)s->n_states++;
}

/* The state with this fingerprint; *is_new says whether it was made. MWL_NONE: out of memory. */
static uint32_t find_state(struct search *s, mwl__fingerprint print, bool *is_new) {
    const mwl_alloc alloc = mwl_alloc_default();
    *is_new = false;
    if (mwl__table_reserve(&s->table, &alloc, s->n_states + 1) != MWL_OK) return MWL_NONE;
    mwl__probe p = mwl__probe_make(&s->table, print.a);
    for (uint32_t i; mwl__table_next(&s->table, &p, &i);)
        if (!s->no_merge && s->states[i].print.a == print.a && s->states[i].print.b == print.b)
            return i;
    uint32_t at = new_state(s, print);
    if (at != MWL_NONE) mwl__table_put(&s->table, &p, at);
    *is_new = true;
    return at;
}

static bool add_edge(struct search *s, uint32_t from, uint32_t to, const struct choice *c) {
    if (!grow(&s->edges, &s->cap_edges, s->n_edges + 1, sizeof *s->edges)) return false;
    s->edges[s->n_edges++] =
        (struct edge){from, to, *c, now_of(s) - s->states[from].now.mono_ns, s->n_calls};
    s->states[from].n_edges++;
    return true;
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* The Step that failed, if no catch clause of it handled that and it is no Raise. */
static void place_of(struct search *s, mwl_run *run, mwl_value result, struct outcome *o) {
    mwl_place at;
    o->step = o->flow = MWL_NONE;
    if (!mwl_run_failed_at(run, result, &at)) return;
    for (uint32_t i = 0; i < mwl__view_n_steps(s->program); i++) {
        const mwl__view_step step = mwl__view_step_of(s->program, i);
        if (strcmp(step.name, at.step) != 0 || strcmp(step.flow_name, at.flow) != 0 ||
            step.action == MWL_ACTION_RAISE)
            continue;
        o->step = i;
        o->flow = step.flow;
        return;
    }
}

static uint32_t find_outcome(struct search *s, const char *type, const char *code,
                             const struct outcome *at) {
    for (uint32_t i = 0; i < s->n_outcomes; i++)
        if (strcmp(s->outcomes[i].type, type) == 0 && strcmp(s->outcomes[i].code, code) == 0 &&
            s->outcomes[i].step == at->step)
            return i;
    struct outcome *grown = realloc(s->outcomes, (s->n_outcomes + 1) * sizeof *grown);
    if (!grown) return MWL_NONE;
    s->outcomes = grown;
    struct outcome o = *at;
    o.type = strdup(type);
    o.code = strdup(code);
    o.n_edges = 0;
    o.state = new_state(s, (mwl__fingerprint){0, 0});
    if (!o.type || !o.code || o.state == MWL_NONE) {
        free(o.type);
        free(o.code);
        return MWL_NONE;
    }
    s->states[o.state].kind = STATE_ENDED;
    s->states[o.state].outcome = (uint32_t)s->n_outcomes;
    s->outcomes[s->n_outcomes] = o;
    return (uint32_t)s->n_outcomes++;
}

/* The state that stands for the end of this run, or MWL_NONE: out of memory. */
static uint32_t end_state(struct search *s, mwl_run *run) {
    struct outcome at = {.flow = MWL_NONE, .step = MWL_NONE};
    mwl_value result = mwl_run_result(run);
    uint32_t o;
    if (mwl_is_absent(result)) {
        o = find_outcome(s, "limit", mwl_status_text(mwl_run_why(run)), &at);
    } else {
        if (!mwl_run_succeeded(run)) place_of(s, run, result, &at);
        o = find_outcome(s, member_text(result, "type"), member_text(result, "code"), &at);
    }
    if (o == MWL_NONE) return o;
    s->outcomes[o].n_edges++;
    return s->outcomes[o].state;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* The run stands still in a new state: keeps it there. */
static bool keep_state(struct search *s, uint32_t at, mwl_run *run) {
    struct state *state = &s->states[at];
    mwl_call *none[1];
    int64_t due;
    state->n_pending = (uint32_t)search_pending(run, none, 0);
    state->bounded = mwl__steer_due(s->vm, &due);
    state->endless = !state->bounded && !state->n_pending && mwl__steer_is_armed(s->vm);
    state->cancelled = mwl__steer_is_cancelled(run);
    if (mwl__run_freeze(run) != MWL_OK) {
        state->kind = STATE_STUCK;
        mwl_run_free(run);
        return true;
    }
    state->frozen = run;
    if (now_of(s) - s->began.mono_ns > s->budget.virtual_ns) {
        s->n_too_long++;
        return true;
    }
    if (!grow(&s->stack, &s->cap_stack, s->n_stack + 1, sizeof *s->stack)) return false;
    s->stack[s->n_stack++] = at;
    return true;
}

/* The run is parked or over: an edge to the state that it is in. Takes over the run. */
static bool arrive(struct search *s, uint32_t from, const struct choice *c, mwl_run *run) {
    s->n_transitions++;
    if (mwl_run_get_state(run) >= MWL_RUN_DONE) {
        observer_end(s->observer, run);
        uint32_t at = end_state(s, run);
        mwl_run_free(run);
        return at != MWL_NONE && add_edge(s, from, at, c);
    }
    mwl__fingerprint print = mwl__run_fingerprint(run, &s->readable);
    observer_add_counts(s->observer, &print);
    bool is_new;
    uint32_t at = find_state(s, print, &is_new);
    if (at == MWL_NONE || !add_edge(s, from, at, c)) {
        mwl_run_free(run);
        return false;
    }
    if (is_new) {
        observer_keep(s->observer, at);
        return keep_state(s, at, run);
    }
    mwl_run_free(run);
    return true;
}

/* `last`: the state's own run is used up, instead of a copy of it. */
static bool make_choice(struct search *s, uint32_t from, const struct choice *c, bool last) {
    mwl_run *run = last ? s->states[from].frozen : mwl__run_clone(s->states[from].frozen);
    if (last) s->states[from].frozen = NULL;
    mwl_instant now = s->states[from].now;
    if (!run) return false;
    observer_begin(s->observer, from, (uint32_t)s->n_edges, run);
    if (search_step(s, run, &now, c)) return arrive(s, from, c, run);
    mwl_run_free(run);
    return false;
}

static uint32_t menu_of(struct search *s, const mwl_call *call) {
    mwl_place at = {"", "", 0, 0};
    const mwl__look_call c = mwl__look_call_of(call);
    const struct menu key = {.step = c.step, .import = c.import, .cleanup = c.cleanup};
    mwl_call_place(call, &at);
    const struct menu *menu = menus_get(s->menus, &key, c.uri, at.flow, at.step);
    for (uint32_t i = 0; menu; i++)
        if (menus_at(s->menus, i) == menu) return i;
    return MWL_NONE;
}

static bool expand(struct search *s, uint32_t at) {
    struct state state = s->states[at];
    mwl_call *pending[PENDING_MAX];
    size_t n = search_pending(state.frozen, pending, PENDING_MAX);
    uint32_t menus[PENDING_MAX];
    if (n > PENDING_MAX) n = PENDING_MAX;
    for (size_t i = 0; i < n; i++)
        if ((menus[i] = menu_of(s, pending[i])) == MWL_NONE) return false;
    s->states[at].first_edge = (uint32_t)s->n_edges;
    s->states[at].kind = STATE_EXPANDED;
    if (s->cancels && !state.cancelled &&
        !make_choice(s, at, &(struct choice){.kind = CHOICE_CANCEL}, false))
        return false;
    for (size_t i = n; i-- > 0;)
        for (size_t k = menus_at(s->menus, menus[i])->n_items; k-- > 0;)
            for (int late = state.bounded; late >= 0; late--) {
                const struct choice c = {CHOICE_ANSWER, late, (uint16_t)i, (uint16_t)k, menus[i]};
                bool last = !state.bounded && i == 0 && k == 0;
                if (!make_choice(s, at, &c, last)) return false;
            }
    if (state.bounded) return make_choice(s, at, &(struct choice){.kind = CHOICE_TIME}, true);
    if (s->states[at].frozen) { /* nothing can be answered here, and nothing is due */
        s->states[at].kind = STATE_STUCK;
        mwl_run_free(s->states[at].frozen);
        s->states[at].frozen = NULL;
    }
    return true;
}

static int64_t wall_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) { interrupted = number; }

int search_interrupted(void) { return interrupted; }

/* The first Ctrl-C ends the search, and what was found is shown; a second one ends the process. */
static void watch_interrupts(void) {
    const struct sigaction ends = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &ends, NULL);
    sigaction(SIGTERM, &ends, NULL);
}

static mwl_status explore(struct search *s) {
    int64_t stop = s->budget.wall_ns == MWL_NEVER ? MWL_NEVER : wall_ns() + s->budget.wall_ns;
    for (uint64_t n = 0; s->n_stack; n++) {
        if (s->n_states >= s->budget.states) s->stopped = "the budget of states is used up";
        if (n % 64 == 0 && wall_ns() > stop) s->stopped = "the budget of time is used up";
        if (interrupted) s->stopped = "it was interrupted";
        if (s->stopped) return MWL_OK;
        if (!expand(s, s->stack[--s->n_stack])) return MWL_E_NOMEM;
    }
    return MWL_OK;
}

mwl_status search_run(struct search *s, const mwl_start *start_with, char *why, size_t size) {
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_run *run = NULL;
    watch_interrupts();
    s->readable = mwl__readable_of(s->program);
    mwl_vm_now(s->vm, &s->began);
    uint32_t root = new_state(s, (mwl__fingerprint){0, 0}); /* before anything happens */
    if (root == MWL_NONE) return MWL_E_NOMEM;
    s->states[root].kind = STATE_EXPANDED;
    observer_begin(s->observer, root, 0, NULL);
    observer_keep(s->observer, root);
    mwl_status status = mwl_run_start(s->vm, s->program, start_with, &run, &error);
    if (status != MWL_OK) {
        snprintf(why, size, "%s", error.message ? error.message : mwl_status_text(status));
        return status;
    }
    search_lend(run);
    (void)session_settle(s->vm);
    if (arrive(s, root, &(struct choice){.kind = CHOICE_TIME}, run))
        status = explore(s);
    else
        status = MWL_E_NOMEM;
    if (status != MWL_OK) snprintf(why, size, "%s", mwl_status_text(status));
    return status;
}

void search_free(struct search *s) {
    for (size_t i = 0; i < s->n_states; i++)
        if (s->states[i].frozen) mwl_run_free(s->states[i].frozen);
    for (size_t i = 0; i < s->n_outcomes; i++) {
        free(s->outcomes[i].type);
        free(s->outcomes[i].code);
    }
    const mwl_alloc alloc = mwl_alloc_default();
    mwl__table_free(&s->table, &alloc);
    free(s->states);
    free(s->edges);
    free(s->outcomes);
    free(s->stack);
}
