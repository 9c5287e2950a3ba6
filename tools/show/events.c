/* events.c: see events.h.
 *
 * Every frame has a stack of open spans: the Flow, its middleware, the Step, the middleware of the
 * Step, the call. What happens in a frame happens at the top of its stack; an event about something
 * further down ends what is above it. The spans of a frame that is called lie above the call. */
#include "tools/show/events.h"

#include "vm/base/hash.h"
#include "vm/base/table.h"

#include <stdlib.h>
#include <string.h>

struct level {
    struct event_span span;
    int32_t rank; /* of an ENTRY: mwl_trace_event.entry */
};

/* A frame that has not ended. */
struct frame {
    uint64_t name;
    struct frame *next; /* with the same hash */
    struct level *stack;
    size_t n_stack, stack_cap;
    uint64_t outer_id; /* the span that its Flow lies in, */
    uint32_t outer_depth, track;
    struct event_span **dispatches; /* of the present Gather, by index; NULL: not open */
    uint32_t n_dispatches;
    int64_t target;   /* what the frame dispatched last: an index, or -1 for its call */
    uint64_t pending; /* the attempt that follows the wait now open, or 0 */
    mwl_value pending_input;
};

struct events {
    mwl_heap *heap;
    struct event_sink *sinks;
    size_t n_sinks;
    struct frame **buckets;
    size_t n_buckets, n_frames; /* buckets: a power of two */
    struct event_track *tracks;
    size_t n_tracks, tracks_cap;
    mwl__table track_table;
    struct event_span run;
    uint64_t next_id;
    bool failed;
};

static const struct event_values no_values;

/* ---- sinks ----------------------------------------------------------------------------------- */

static void tell_begin(struct events *e, const struct event_span *s, const struct event_values *v) {
    for (size_t i = 0; i < e->n_sinks; i++)
        if (e->sinks[i].begin) e->sinks[i].begin(e->sinks[i].ctx, s, v);
}

static void tell_end(struct events *e, const struct event_span *s, const struct event_values *v) {
    for (size_t i = 0; i < e->n_sinks; i++)
        if (e->sinks[i].end) e->sinks[i].end(e->sinks[i].ctx, s, v);
}

static void tell_mark(struct events *e, const struct event_span *s, enum event_mark mark,
                      const mwl_trace_event *event) {
    for (size_t i = 0; i < e->n_sinks; i++)
        if (e->sinks[i].mark) e->sinks[i].mark(e->sinks[i].ctx, s, mark, event->value, &event->at);
}

/* ---- tracks ---------------------------------------------------------------------------------- */

/* The same Gather, run again on the same track, uses its tracks again. Returns false if memory runs
 * out. */
static bool find_track(struct events *e, uint32_t parent, const mwl_trace_event *event,
                       uint32_t *out) {
    struct event_track t = {0, parent, event->step, event->line, event->column, event->index};
    const uint64_t key[] = {parent, event->line, event->column, (uint64_t)event->index};
    mwl_alloc alloc = mwl_alloc_default();
    if (mwl__table_reserve(&e->track_table, &alloc, e->n_tracks + 1) < 0) return false;
    mwl__probe p = mwl__probe_make(&e->track_table, mwl__hash_key(key, sizeof key));
    for (uint32_t i; mwl__table_next(&e->track_table, &p, &i);) {
        const struct event_track *old = &e->tracks[i];
        if (old->parent != parent || old->index != t.index || old->line != t.line ||
            old->column != t.column || strcmp(old->step, t.step) != 0)
            continue;
        *out = old->id;
        return true;
    }
    if (e->n_tracks == e->tracks_cap) {
        size_t cap = e->tracks_cap ? 2 * e->tracks_cap : 16;
        struct event_track *grown = realloc(e->tracks, cap * sizeof *grown);
        if (!grown) return false;
        e->tracks = grown;
        e->tracks_cap = cap;
    }
    t.id = *out = (uint32_t)e->n_tracks + 1; /* 0 is the run's */
    e->tracks[e->n_tracks] = t;
    mwl__table_put(&e->track_table, &p, (uint32_t)e->n_tracks++);
    for (size_t i = 0; i < e->n_sinks; i++)
        if (e->sinks[i].track) e->sinks[i].track(e->sinks[i].ctx, &t);
    return true;
}

/* ---- spans ----------------------------------------------------------------------------------- */

static struct level *top(struct frame *f) { return f->n_stack ? &f->stack[f->n_stack - 1] : NULL; }

/* A span that begins with the event; where it lies is the caller's. */
static void make_span(struct events *e, struct event_span *s, enum event_kind kind,
                      const mwl_trace_event *event) {
    memset(s, 0, sizeof *s);
    s->id = ++e->next_id;
    s->kind = kind;
    s->flow = event->flow;
    s->step = event->step;
    s->provider = event->provider;
    s->phase = event->phase;
    s->position = event->position;
    s->counts = event->counts;
    s->number = -1;
    s->frame_depth = event->depth;
    s->line = event->line;
    s->column = event->column;
    s->begin = event->at;
    s->until_ns = s->bound_ns = MWL_NEVER;
}

/* Puts a span on the stack, or returns NULL if memory runs out. The caller completes it and tells
 * the sinks. */
static struct level *push(struct events *e, struct frame *f, enum event_kind kind,
                          const mwl_trace_event *event) {
    if (f->n_stack == f->stack_cap) {
        size_t cap = f->stack_cap ? 2 * f->stack_cap : 8;
        struct level *grown = realloc(f->stack, cap * sizeof *grown);
        if (!grown) {
            e->failed = true;
            return NULL;
        }
        f->stack = grown;
        f->stack_cap = cap;
    }
    const struct level *below = top(f);
    struct level *l = &f->stack[f->n_stack++];
    make_span(e, &l->span, kind, event);
    l->rank = -1;
    l->span.parent = below ? below->span.id : f->outer_id;
    l->span.depth = below ? below->span.depth + 1 : f->outer_depth + 1;
    l->span.track = f->track;
    return l;
}

static void end_top(struct events *e, struct frame *f, enum event_status status,
                    const struct event_values *values, const mwl_instant *at) {
    struct event_span *s = &f->stack[f->n_stack - 1].span;
    if (s->status != EVENT_CAUGHT || status != EVENT_SUCCEEDED) s->status = status;
    s->end = *at;
    tell_end(e, s, values);
    f->n_stack--;
}

static bool is_cancellation(mwl_value failure) {
    size_t len = 0;
    const char *type = mwl_as_text(mwl_get(failure, "type"), &len);
    return type && len == 12 && memcmp(type, "cancellation", 12) == 0;
}

static enum event_status status_of(const mwl_trace_event *event) {
    if (!event->failed) return EVENT_SUCCEEDED;
    return is_cancellation(event->value) ? EVENT_CANCELLED : EVENT_FAILED;
}

static struct event_values result_of(const mwl_trace_event *event) {
    struct event_values v = {.result = event->value, .vars = event->vars};
    return v;
}

static struct event_values input_of(const mwl_trace_event *event) {
    struct event_values v = {.input = event->value, .vars = event->vars};
    return v;
}

/* Ends what is above the first `keep` spans: the lowest of them with this status and what the event
 * brought, those inside it as interrupted. */
static void end_above(struct events *e, struct frame *f, size_t keep, enum event_status status,
                      const struct event_values *values, const mwl_trace_event *event) {
    struct event_values inside = {.vars = event->vars};
    while (f->n_stack > keep + 1) end_top(e, f, EVENT_CANCELLED, &inside, &event->at);
    if (f->n_stack > keep) end_top(e, f, status, values, &event->at);
}

/* The number of spans up to the topmost of this kind, with it; 0 if there is none. */
static size_t up_to(const struct frame *f, enum event_kind kind) {
    size_t n = f->n_stack;
    while (n && f->stack[n - 1].span.kind != kind) n--;
    return n;
}

static size_t up_to_entry(const struct frame *f, int32_t rank) {
    size_t n = f->n_stack;
    while (n && (f->stack[n - 1].span.kind != EVENT_ENTRY || f->stack[n - 1].rank != rank)) n--;
    return n;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static struct frame **bucket(const struct events *e, uint64_t name) {
    return &e->buckets[mwl__hash_key(&name, sizeof name) & (e->n_buckets - 1)];
}

static struct frame *find_frame(const struct events *e, uint64_t name) {
    struct frame *f = e->n_buckets ? *bucket(e, name) : NULL;
    while (f && f->name != name) f = f->next;
    return f;
}

static bool grow_buckets(struct events *e) {
    size_t n = e->n_buckets ? 2 * e->n_buckets : 16, n_old = e->n_buckets;
    struct frame **old = e->buckets, **grown = calloc(n, sizeof(struct frame *));
    if (!grown) return false;
    e->buckets = grown;
    e->n_buckets = n;
    for (size_t i = 0; i < n_old; i++)
        for (struct frame *f = old[i], *next; f; f = next) {
            next = f->next;
            struct frame **b = bucket(e, f->name);
            f->next = *b;
            *b = f;
        }
    free(old);
    return true;
}

static void drop_dispatches(struct frame *f) {
    for (uint32_t i = 0; f->dispatches && i < f->n_dispatches; i++) free(f->dispatches[i]);
    free(f->dispatches);
    f->dispatches = NULL;
    f->n_dispatches = 0;
}

static void drop_pending(struct events *e, struct frame *f) {
    mwl_value_drop(e->heap, f->pending_input);
    f->pending_input = mwl_absent();
    f->pending = 0;
}

static void free_frame(struct events *e, struct frame *f) {
    drop_dispatches(f);
    drop_pending(e, f);
    free(f->stack);
    free(f);
}

static void remove_frame(struct events *e, struct frame *f) {
    struct frame **b = bucket(e, f->name);
    while (*b != f) b = &(*b)->next;
    *b = f->next;
    e->n_frames--;
    free_frame(e, f);
}

/* Where a frame's Flow lies: in the span that its parent dispatched last. */
static void place_frame(struct events *e, struct frame *f, struct frame *parent) {
    const struct event_span *outer = &e->run;
    if (parent && parent->target >= 0 && parent->dispatches)
        outer = parent->dispatches[parent->target];
    else if (parent && top(parent))
        outer = &top(parent)->span;
    f->outer_id = outer->id;
    f->outer_depth = outer->depth;
    f->track = outer->track;
}

static void enter_frame(struct events *e, const mwl_trace_event *event) {
    struct frame *parent = find_frame(e, event->parent);
    if ((event->parent && !parent) || find_frame(e, event->frame)) return;
    struct frame *f = NULL;
    if (e->n_frames < e->n_buckets || grow_buckets(e)) f = calloc(1, sizeof *f);
    if (!f) {
        e->failed = true;
        return;
    }
    struct frame **b = bucket(e, event->frame);
    f->name = event->frame;
    f->next = *b;
    *b = f;
    e->n_frames++;
    f->target = -1;
    place_frame(e, f, parent);
    struct level *l = push(e, f, EVENT_FLOW, event);
    struct event_values values = input_of(event);
    if (l) tell_begin(e, &l->span, &values);
}

static void exit_frame(struct events *e, struct frame *f, const mwl_trace_event *event) {
    struct event_values values = result_of(event);
    end_above(e, f, 0, status_of(event), &values, event);
    remove_frame(e, f);
}

/* ---- Steps and middleware -------------------------------------------------------------------- */

static void enter_step(struct events *e, struct frame *f, const mwl_trace_event *event) {
    size_t n = up_to(f, EVENT_STEP);
    struct event_values inside = {.vars = event->vars}, values = input_of(event);
    if (n) end_above(e, f, n - 1, EVENT_CANCELLED, &inside, event); /* interrupted: no exit */
    drop_dispatches(f);
    struct level *l = push(e, f, EVENT_STEP, event);
    if (l) tell_begin(e, &l->span, &values);
}

static void exit_step(struct events *e, struct frame *f, const mwl_trace_event *event) {
    size_t n = up_to(f, EVENT_STEP);
    struct event_values values = result_of(event);
    if (n) end_above(e, f, n - 1, status_of(event), &values, event);
    drop_dispatches(f);
}

static void catch_failure(struct events *e, struct frame *f, const mwl_trace_event *event) {
    size_t n = up_to(f, EVENT_STEP);
    if (!n) return;
    f->stack[n - 1].span.status = EVENT_CAUGHT;
    tell_mark(e, &f->stack[n - 1].span, EVENT_MARK_CAUGHT, event);
}

/* Ends what lies directly inside an entry, because its next phase begins or because it exits. */
static void end_inside_entry(struct events *e, struct frame *f, size_t n,
                             const mwl_trace_event *event, bool exits) {
    struct event_values values = result_of(event), none = {.vars = event->vars};
    if (f->n_stack == n) return;
    const struct event_span *s = &f->stack[n].span;
    bool unwound = strcmp(event->phase, "onAlways") == 0;
    if (s->kind != EVENT_PHASE) {
        end_above(e, f, n, unwound || exits ? EVENT_CANCELLED : status_of(event), &values, event);
        return;
    }
    bool failed = event->failed &&
                  (exits ? strcmp(s->phase, "onEntry") == 0 : strcmp(s->phase, "onSuccess") == 0);
    end_above(e, f, n, failed ? EVENT_FAILED : EVENT_SUCCEEDED, failed ? &values : &none, event);
}

static void begin_phase(struct events *e, struct frame *f, const mwl_trace_event *event) {
    struct event_values values = input_of(event);
    size_t n = up_to_entry(f, event->entry);
    if (n) {
        end_inside_entry(e, f, n, event, false);
    } else {
        struct level *entry = push(e, f, EVENT_ENTRY, event);
        if (!entry) return;
        entry->rank = event->entry;
        entry->span.phase = "";
        tell_begin(e, &entry->span, &values);
    }
    struct level *l = push(e, f, EVENT_PHASE, event);
    if (l) tell_begin(e, &l->span, &values);
}

static void exit_entry(struct events *e, struct frame *f, const mwl_trace_event *event) {
    size_t n = up_to_entry(f, event->entry);
    struct event_values values = result_of(event);
    if (!n) return;
    end_inside_entry(e, f, n, event, true);
    end_top(e, f, status_of(event), &values, &event->at);
}

static void begin_attempt(struct events *e, struct frame *f, const mwl_trace_event *event,
                          uint64_t number, mwl_value input) {
    struct event_values values = {.input = input, .vars = event->vars};
    struct level *l = push(e, f, EVENT_ATTEMPT, event);
    if (!l) return;
    const struct level *entry = f->n_stack > 1 ? &f->stack[f->n_stack - 2] : NULL;
    l->span.number = (int64_t)number;
    if (entry && entry->span.kind == EVENT_ENTRY) { /* TIMER does not say whose it is */
        l->span.provider = entry->span.provider;
        l->span.position = entry->span.position;
        l->span.counts = entry->span.counts;
    }
    tell_begin(e, &l->span, &values);
}

static void establish(struct events *e, struct frame *f, const mwl_trace_event *event) {
    size_t n = up_to_entry(f, event->entry);
    if (!n) return;
    end_inside_entry(e, f, n, event, false);
    if (*event->counts) begin_attempt(e, f, event, 1, event->value);
}

static void run_again(struct events *e, struct frame *f, const mwl_trace_event *event) {
    size_t n = up_to_entry(f, event->entry);
    if (!n) return;
    end_inside_entry(e, f, n, event, false);
    if (event->until_ns <= event->at.mono_ns) {
        begin_attempt(e, f, event, event->runs, event->value);
    } else { /* its WAITING follows */
        drop_pending(e, f);
        f->pending = event->runs;
        f->pending_input = mwl_value_keep(event->value);
    }
}

/* ---- calls and waits ------------------------------------------------------------------------- */

static bool reserve_dispatches(struct frame *f, const mwl_trace_event *event) {
    if (f->dispatches) return event->index < f->n_dispatches;
    f->dispatches = calloc(event->total ? event->total : 1, sizeof *f->dispatches);
    if (f->dispatches) f->n_dispatches = event->total;
    return f->dispatches && event->index < event->total;
}

static void dispatch(struct events *e, struct frame *f, const mwl_trace_event *event) {
    struct event_values values = {
        .input = event->input, .arguments = event->value, .vars = event->vars};
    f->target = event->index;
    if (event->index < 0) {
        struct level *l = push(e, f, EVENT_CALL, event);
        if (l) tell_begin(e, &l->span, &values);
        return;
    }
    const struct level *below = top(f);
    struct event_span *s = NULL;
    uint32_t track = 0;
    if (reserve_dispatches(f, event) && find_track(e, f->track, event, &track))
        s = malloc(sizeof *s);
    if (!s || !below) {
        free(s);
        e->failed = true;
        return;
    }
    make_span(e, s, EVENT_DISPATCH, event);
    s->parent = below->span.id;
    s->depth = below->span.depth + 1;
    s->track = track;
    s->number = event->index;
    s->total = event->total;
    f->dispatches[event->index] = s;
    tell_begin(e, s, &values);
}

static void accept(struct events *e, struct frame *f, const mwl_trace_event *event) {
    struct event_values values = result_of(event);
    if (event->index < 0) {
        size_t n = up_to(f, EVENT_CALL);
        if (n) end_above(e, f, n - 1, status_of(event), &values, event);
        return;
    }
    if (!reserve_dispatches(f, event)) return;
    struct event_span *s = f->dispatches[event->index];
    if (!s) return; /* it ended before it was dispatched */
    s->status = status_of(event);
    s->end = event->at;
    tell_end(e, s, &values);
    free(s);
    f->dispatches[event->index] = NULL;
}

static void begin_wait(struct events *e, struct frame *f, const mwl_trace_event *event) {
    struct level *l = top(f);
    if (l && l->span.kind == EVENT_CALL) { /* the call is the wait */
        l->span.until_ns = event->until_ns;
        l->span.bound_ns = event->bound_ns;
    }
    if (event->until_ns == MWL_NEVER || (l && l->span.kind == EVENT_CALL)) return;
    l = push(e, f, EVENT_WAIT, event);
    if (!l) return;
    struct event_values values = {.vars = event->vars};
    l->span.until_ns = event->until_ns;
    l->span.bound_ns = event->bound_ns;
    if (f->pending) l->span.number = (int64_t)f->pending;
    tell_begin(e, &l->span, &values);
}

/* The wait is over: by itself, unless a bound comes first; then INTERRUPTED follows. */
static void end_wait(struct events *e, struct frame *f, const mwl_trace_event *event) {
    const struct level *l = top(f);
    struct event_values values = {.vars = event->vars};
    if (!l || l->span.kind != EVENT_WAIT || l->span.bound_ns < l->span.until_ns) return;
    end_top(e, f, EVENT_SUCCEEDED, &values, &event->at);
    if (f->pending) {
        begin_attempt(e, f, event, f->pending, f->pending_input);
        drop_pending(e, f);
    }
}

static void interrupt(struct events *e, struct frame *f, const mwl_trace_event *event) {
    struct event_values values = {.vars = event->vars};
    struct level *l = top(f);
    drop_pending(e, f);
    if (l && l->span.kind == EVENT_WAIT) end_top(e, f, EVENT_CANCELLED, &values, &event->at);
    size_t n = event->entry >= 0 ? up_to_entry(f, event->entry) : 1;
    if (n && n <= f->n_stack) tell_mark(e, &f->stack[n - 1].span, EVENT_MARK_INTERRUPTED, event);
}

/* ---- the listener ---------------------------------------------------------------------------- */

static void begin_run(struct events *e, const mwl_trace_event *event) {
    struct event_values values = {.input = event->value};
    make_span(e, &e->run, EVENT_RUN, event);
    tell_begin(e, &e->run, &values);
}

static void end_run(struct events *e, const mwl_trace_event *event) {
    struct event_values values = {.result = event->value};
    if (!e->run.id || e->run.status != EVENT_OPEN) return;
    e->run.status = status_of(event);
    e->run.end = event->at;
    tell_end(e, &e->run, &values);
}

static void in_frame(struct events *e, struct frame *f, const mwl_trace_event *event) {
    switch (event->kind) {
    case MWL_TRACE_FRAME_EXITED: exit_frame(e, f, event); break;
    case MWL_TRACE_STEP_ENTERED: enter_step(e, f, event); break;
    case MWL_TRACE_STEP_EXITED: exit_step(e, f, event); break;
    case MWL_TRACE_PHASE: begin_phase(e, f, event); break;
    case MWL_TRACE_ATTEMPT: run_again(e, f, event); break;
    case MWL_TRACE_CALL_DISPATCHED: dispatch(e, f, event); break;
    case MWL_TRACE_CALL_ACCEPTED: accept(e, f, event); break;
    case MWL_TRACE_TIMER:
        if (!*event->provider) end_wait(e, f, event);
        break;
    case MWL_TRACE_INTERRUPTED: interrupt(e, f, event); break;
    case MWL_TRACE_ESTABLISHED: establish(e, f, event); break;
    case MWL_TRACE_ENTRY_EXITED: exit_entry(e, f, event); break;
    case MWL_TRACE_CAUGHT: catch_failure(e, f, event); break;
    case MWL_TRACE_WAITING: begin_wait(e, f, event); break;
    case MWL_TRACE_RUN_STARTED:
    case MWL_TRACE_RUN_DONE:
    case MWL_TRACE_HIDDEN: /* its dispatch has shown it */
    case MWL_TRACE_FRAME_ENTERED: break;
    }
}

void events_listen(void *ctx, const mwl_trace_event *event) {
    struct events *e = ctx;
    if (e->failed) return;
    if (event->kind == MWL_TRACE_RUN_STARTED) {
        begin_run(e, event);
    } else if (event->kind == MWL_TRACE_RUN_DONE) {
        end_run(e, event);
    } else if (event->kind == MWL_TRACE_FRAME_ENTERED) {
        enter_frame(e, event);
    } else {
        struct frame *f = find_frame(e, event->frame);
        if (f) in_frame(e, f, event);
    }
}

/* ---- the recorder ---------------------------------------------------------------------------- */

struct events *events_new(mwl_heap *heap) {
    struct events *e = calloc(1, sizeof *e);
    if (e) e->heap = heap;
    return e;
}

bool events_add_sink(struct events *e, const struct event_sink *sink) {
    struct event_sink *grown = realloc(e->sinks, (e->n_sinks + 1) * sizeof *grown);
    if (!grown) return false;
    e->sinks = grown;
    e->sinks[e->n_sinks++] = *sink;
    return true;
}

static void lose_frame(struct events *e, struct frame *f, const mwl_instant *now) {
    for (uint32_t i = 0; f->dispatches && i < f->n_dispatches; i++) {
        struct event_span *s = f->dispatches[i];
        if (!s) continue;
        s->status = EVENT_LOST;
        s->end = *now;
        tell_end(e, s, &no_values);
    }
    while (f->n_stack) end_top(e, f, EVENT_LOST, &no_values, now);
    remove_frame(e, f);
}

static int deepest_first(const void *a, const void *b) {
    const struct frame *x = *(struct frame *const *)a, *y = *(struct frame *const *)b;
    return (x->outer_depth < y->outer_depth) - (x->outer_depth > y->outer_depth);
}

void events_finish(struct events *e, const mwl_instant *now) {
    struct frame **frames = malloc((e->n_frames + 1) * sizeof(struct frame *));
    size_t n = 0;
    for (size_t i = 0; frames && i < e->n_buckets; i++)
        for (struct frame *f = e->buckets[i]; f; f = f->next) frames[n++] = f;
    if (n) qsort(frames, n, sizeof *frames, deepest_first);
    for (size_t i = 0; i < n; i++) lose_frame(e, frames[i], now);
    free(frames);
    if (!frames) e->failed = true;
    if (!e->run.id || e->run.status != EVENT_OPEN) return;
    e->run.status = EVENT_LOST;
    e->run.end = *now;
    tell_end(e, &e->run, &no_values);
}

bool events_failed(const struct events *e) { return e->failed; }

void events_free(struct events *e) {
    if (!e) return;
    for (size_t i = 0; i < e->n_buckets; i++)
        for (struct frame *f = e->buckets[i], *next; f; f = next) {
            next = f->next;
            free_frame(e, f);
        }
    mwl_alloc alloc = mwl_alloc_default();
    mwl__table_free(&e->track_table, &alloc);
    free(e->tracks);
    free(e->buckets);
    free(e->sinks);
    free(e);
}
