/* walk.c: see walk.h. */
#include "tools/debug/walk.h"

#include "tools/base/cmd.h"

/* The events at which one can stand. The others are moments between these. */
static bool is_place(mwl_trace_kind kind) {
    switch (kind) {
    case MWL_TRACE_RUN_STARTED:
    case MWL_TRACE_RUN_DONE:
    case MWL_TRACE_TIMER:
    case MWL_TRACE_WAITING:
    case MWL_TRACE_ESTABLISHED:
    case MWL_TRACE_ENTRY_EXITED: return false;
    default: return true;
    }
}

/* ---- on the machine's thread ----------------------------------------------------------------- */

/* Has the step come to its end? */
static bool is_there(struct walk *s, const mwl_trace_event *e) {
    switch (s->go) {
    case GO_STEP: return true;
    case GO_PHASE: return e->kind == MWL_TRACE_PHASE;
    case GO_NEXT:
        return e->frame == s->frame &&
               (e->kind == MWL_TRACE_STEP_ENTERED || e->kind == MWL_TRACE_FRAME_EXITED);
    case GO_OUT:
        if (s->left) return e->frame == s->parent;
        s->left = e->kind == MWL_TRACE_FRAME_EXITED && e->frame == s->frame;
        return s->left && !s->parent;
    default: return false;
    }
}

static bool decide(void *ctx, struct machine *m, const mwl_trace_event *e) {
    struct walk *s = ctx;
    if (!is_place(e->kind)) return false;
    if (s->go == GO_TO) {
        bool there = m->n_events >= s->target;
        if (s->scans && !there && breaks_met(&s->breaks, m, e)) s->scanned = m->n_events;
        s->why = WHY_BACK;
        return there;
    }
    int met = breaks_met(&s->breaks, m, e);
    bool there = is_there(s, e), paused = machine_paused(m);
    s->why = met ? WHY_BREAK : there ? WHY_STEP : WHY_PAUSE;
    s->break_id = met;
    return met || there || paused;
}

/* ---- the session ----------------------------------------------------------------------------- */

static int start(struct walk *s) {
    breaks_reset(&s->breaks);
    memset(&s->machine, 0, sizeof s->machine);
    s->machine.setup = s->setup;
    s->machine.journal = s->journal;
    s->machine.decide = decide;
    s->machine.ctx = s;
    s->machine.bell = s->bell;
    int status = machine_start(&s->machine);
    s->started = status == CMD_OK;
    return status;
}

static void stop(struct walk *s) {
    if (s->started) machine_end(&s->machine);
    s->started = false;
}

int walk_begin(struct walk *s, struct debug_setup *setup, int bell) {
    memset(s, 0, sizeof *s);
    s->setup = setup;
    s->bell = bell;
    breaks_init(&s->breaks);
    s->journal = journal_new(setup->heap);
    if (!s->journal) return cmd_no_memory();
    return CMD_OK;
}

void walk_end(struct walk *s) {
    const mwl_alloc alloc = mwl_alloc_default();
    if (!s->setup) return; /* it did not begin */
    stop(s);
    breaks_free(&s->breaks);
    journal_free(s->journal);
    mwl__mem_free(&alloc, s->stops, s->cap_stops * sizeof *s->stops);
    memset(s, 0, sizeof *s);
}

bool walk_over(const struct walk *s) {
    return s->started && machine_state((struct machine *)(uintptr_t)&s->machine) == MACHINE_OVER;
}

const mwl_trace_event *walk_event(const struct walk *s) {
    bool stands =
        s->started && machine_state((struct machine *)(uintptr_t)&s->machine) == MACHINE_STANDS;
    return stands ? s->machine.event : NULL;
}

void walk_go(struct walk *s, enum walk_go go) {
    const mwl_trace_event *e = walk_event(s);
    s->go = go;
    s->left = false;
    s->frame = e ? e->frame : 0;
    s->parent = e ? e->parent : 0;
    if (e && e->kind == MWL_TRACE_FRAME_EXITED && go == GO_NEXT) s->go = GO_STEP;
    if (e && e->kind == MWL_TRACE_FRAME_EXITED && go == GO_OUT) s->left = true;
    if (!s->started)
        start(s);
    else
        machine_go(&s->machine);
}

static void remember(struct walk *s) {
    const mwl_alloc alloc = mwl_alloc_default();
    uint64_t at = s->machine.n_events + walk_over(s);
    if (s->n_stops && s->stops[s->n_stops - 1] == at) return;
    if (mwl__mem_grow(&alloc, (void **)&s->stops, &s->cap_stops, s->n_stops + 1,
                      sizeof *s->stops) == MWL_OK)
        s->stops[s->n_stops++] = at;
}

int walk_arrive(struct walk *s) {
    if (!s->started) return CMD_FAILED; /* after a message */
    machine_wait(&s->machine);
    if (walk_over(s)) s->why = WHY_OVER;
    if (s->machine.waits) s->why = WHY_PAUSE;
    if (s->machine.status == CMD_OK) remember(s);
    return s->machine.status;
}

/* ---- back ------------------------------------------------------------------------------------ */

/* Starts again and goes to this place. */
static const char *go_to(struct walk *s, uint64_t place, bool scans) {
    stop(s);
    journal_back(s->journal, place);
    s->go = GO_TO;
    s->target = place;
    s->scans = scans;
    s->scanned = 0;
    while (s->n_stops && s->stops[s->n_stops - 1] >= place) s->n_stops--;
    if (start(s) != CMD_OK || walk_arrive(s) != CMD_OK) return "the run cannot be started again";
    s->scans = false;
    if (s->machine.n_events + walk_over(s) != place)
        return "the run went another way this time: something in it is not repeatable";
    return NULL;
}

static const char *refuse(const struct walk *s) {
    if (!s->setup->options.virtual_time) return "going back needs virtual time";
    return s->n_stops < 1 ? "this is the beginning" : NULL;
}

const char *walk_back(struct walk *s) {
    const char *why = refuse(s);
    if (why) return why;
    if (s->n_stops < 2) return "this is the beginning";
    return go_to(s, s->stops[s->n_stops - 2], false);
}

/* The last event in front of this one at which one can stand. */
const char *walk_step_back(struct walk *s) {
    const char *why = refuse(s);
    if (why) return why;
    uint64_t now = s->stops[s->n_stops - 1], before = 0;
    stop(s);
    s->go = GO_STEP;
    if (start(s) != CMD_OK) return "the run cannot be started again";
    for (machine_wait(&s->machine);
         machine_state(&s->machine) == MACHINE_STANDS && s->machine.n_events < now;) {
        before = s->machine.n_events;
        machine_go(&s->machine);
        machine_wait(&s->machine);
    }
    const char *failed = go_to(s, before ? before : now, false);
    return failed ? failed : before ? NULL : "this is the beginning";
}

const char *walk_back_to_break(struct walk *s) {
    const char *why = refuse(s);
    if (why) return why;
    uint64_t now = s->stops[s->n_stops - 1], first = s->stops[0];
    if (s->n_stops < 2) return "this is the beginning";
    why = go_to(s, now, true);
    return why ? why : go_to(s, s->scanned && s->scanned > first ? s->scanned : first, false);
}

void walk_cancel(struct walk *s) { journal_cancel(s->journal, s->machine.n_events); }
