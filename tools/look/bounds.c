/* bounds.c: see bounds.h. */
#include "tools/look/bounds.h"

#include "stdlib/backoff.h"
#include "stdlib/documents.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32 };
enum { UNKNOWN, OPEN, KNOWN };
#define NEVER_ENDS "it waits for longer than the clock counts"

static struct bound nothing(void) { return (struct bound){0, 0, 0, 0, ""}; }

__attribute__((format(printf, 2, 3))) static struct bound endless(double attempts,
                                                                  const char *format, ...) {
    struct bound out = {INFINITY, 0, attempts, attempts, ""};
    va_list args;
    va_start(args, format);
    vsnprintf(out.why, sizeof out.why, format, args);
    va_end(args);
    return out;
}

/* The same where nothing is known of its cleanup. */
static struct bound unknown(const char *format, const char *name) {
    struct bound out = {INFINITY, INFINITY, INFINITY, INFINITY, ""};
    snprintf(out.why, sizeof out.why, format, name);
    return out;
}

static void keep_why(struct bound *to, const struct bound *from) {
    if (!*to->why) memcpy(to->why, from->why, sizeof to->why);
}

/* A product in which 0 stays 0. */
static double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

/* How long a duration is as a wait. INFINITY: it never ends. Returns false if it is none. */
static bool duration(mwl_value v, double *out) {
    int64_t ns = 0;
    if (!mwl__backoff_duration(v, &ns)) return false;
    *out = ns == INT64_MAX ? INFINITY : (double)ns;
    return true;
}

/* Returns what is written, given. Absent: nothing, or code computes a part of it. */
static mwl_value constant(struct bounds *b, const mwl__node *n) {
    if (!n || mwl__model_computed(b->model, n)) return mwl_absent();
    mwl_value v = mwl__node_value(b->heap, n);
    b->failed |= mwl_is_absent(v);
    return v;
}

static bool is_literal(const mwl__node *n, bool truth) {
    return n && n->kind == MWL_NODE_BOOL && n->boolean == truth;
}

/* Does a `when` decide about the phase? */
static bool is_gated(const mwl__m_phase *p) { return p->when && !is_literal(p->when, true); }

static bool is_named(const mwl__contract *provider, const char *uri) {
    return strlen(uri) == provider->uri_len && memcmp(provider->uri, uri, provider->uri_len) == 0;
}

static bool is_of(const mwl__m_entry *e, const char *uri) { return is_named(e->provider, uri); }

__attribute__((format(printf, 3, 4))) static void warn(struct bounds *b, const mwl__m_entry *at,
                                                       const char *format, ...) {
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const mwl__place w = mwl__source_place(b->source, at->node->offset);
    mwl__buf_printf(&b->warnings, "%u:%u: warning: %s\n", w.line, w.column, text);
}

/* ---- one entry ------------------------------------------------------------------------------- */

struct retry {
    double runs, waits_ns; /* in all; INFINITY: not known, or without an end */
    const char *why;
};

static void add_policy(mwl_value policy, struct retry *out) {
    mwl_value attempts = mwl_get(policy, "attempts"), written = mwl_get(policy, "backoff");
    mwl__backoff backoff;
    if (mwl_value_kind(attempts) != MWL_KIND_NUMBER) return;
    double n = mwl_as_number(attempts) - 1;
    out->runs += n;
    if (mwl_is_absent(written) || !mwl__backoff_read(written, &backoff)) return;
    out->waits_ns += mwl__backoff_most(&backoff, n);
    if (isinf(out->waits_ns)) out->why = NEVER_ENDS;
}

static struct retry read_retry(struct bounds *b, const mwl__m_entry *e) {
    struct retry out = {1, 0, ""};
    const mwl__node *with = e->phase[MWL_ON_ENTRY].with, *override = e->phase[MWL_ON_FAILURE].with;
    double ns = 0;
    if (!with || mwl__model_computed(b->model, with))
        return (struct retry){INFINITY, INFINITY, "its policies are computed"};
    mwl_value written = constant(b, with), policies = mwl_get(written, "policies");
    for (size_t i = 0; i < mwl_count(policies); i++) add_policy(mwl_array_at(policies, i), &out);
    mwl_value_drop(b->heap, written);
    if (override && mwl__model_computed(b->model, override))
        return (struct retry){out.runs, INFINITY, "its delay is computed"};
    written = constant(b, override);
    if (duration(mwl_get(written, "delay"), &ns)) {
        out.waits_ns = times(ns, out.runs - 1);
        out.why = isinf(out.waits_ns) ? NEVER_ENDS : "";
    }
    mwl_value_drop(b->heap, written);
    return out;
}

static struct bound of_stack(struct bounds *b, mwl__m_entry *const *stack, uint32_t n,
                             const mwl__m_call *call);

static struct bound retried(struct bounds *b, const mwl__m_entry *e, struct bound inner,
                            bool *reruns) {
    struct retry r = read_retry(b, e);
    if (*reruns && r.runs > 1)
        warn(b, e,
             "a Retry of %g attempts is around something that is run again itself: up to %g "
             "attempts in all",
             r.runs, times(r.runs, inner.attempts));
    *reruns |= r.runs > 1;
    struct bound out = inner;
    out.attempts = times(inner.attempts, r.runs);
    out.calls = times(inner.calls, r.runs);
    out.ns = times(inner.ns, r.runs) + r.waits_ns;
    if (isinf(out.ns) && !*out.why && r.why) snprintf(out.why, sizeof out.why, "%s", r.why);
    return out;
}

/* Returns the time that must pass before the last attempt begins, if every one fails at once. */
static double waits_inside(struct bounds *b, mwl__m_entry *const *stack, uint32_t n) {
    double all = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_of(stack[i], MWL__STD_RETRY)) continue;
        struct retry r = read_retry(b, stack[i]);
        if (!isinf(r.waits_ns)) all += r.waits_ns;
    }
    return all;
}

/* Returns the bound of a Timeout. INFINITY: it is computed, or never elapses. */
static double bound_of(struct bounds *b, const mwl__m_entry *e) {
    mwl_value with = constant(b, e->phase[MWL_ON_ENTRY].with);
    double ns = INFINITY;
    (void)duration(mwl_get(with, "duration"), &ns);
    mwl_value_drop(b->heap, with);
    return ns;
}

/* spec: middleware-mechanics, interruption: a bound does not cut cleanup short. */
static struct bound timed(struct bounds *b, const mwl__m_entry *e, struct bound inner) {
    const double ns = bound_of(b, e), all = ns + inner.uncut_ns;
    if (isinf(ns)) {
        if (isinf(inner.ns))
            snprintf(inner.why, sizeof inner.why, "its Timeout is computed, or never elapses");
        return inner;
    }
    if (is_gated(&e->phase[MWL_ON_ENTRY])) {
        if (isinf(inner.ns)) snprintf(inner.why, sizeof inner.why, "its Timeout has a `when`");
        return inner;
    }
    if (isinf(all)) {
        snprintf(inner.why, sizeof inner.why, "nothing bounds its cleanup");
    } else if (all <= inner.ns) {
        inner.ns = all;
        inner.why[0] = '\0';
    }
    return inner;
}

/* Returns what the call of a phase takes, with the calls of its own middleware. */
static struct bound of_cleanup(struct bounds *b, const mwl__m_phase *p) {
    if (b->depth == DEPTH_MAX) return unknown("its cleanup is nested too deep to tell", "");
    b->depth++;
    struct bound out = of_stack(b, p->stack, p->n_stack, p->call);
    b->depth--;
    return out;
}

/* spec: middleware-mechanics, ordering: a Timeout outside a Retry bounds all attempts together, one
 * inside bounds each. Both follow from going from the innermost entry to the outermost. */
static struct bound around(struct bounds *b, const mwl__m_entry *e, struct bound inner,
                           bool *reruns) {
    struct bound out = inner;
    if (is_of(e, MWL__STD_RETRY)) {
        out = retried(b, e, inner, reruns);
    } else if (is_of(e, MWL__STD_TIMEOUT)) {
        out = timed(b, e, inner);
    } else if (is_of(e, MWL__STD_LOOP)) {
        if (*reruns) warn(b, e, "a Loop is around something that is run again itself");
        *reruns = true;
        out = endless(INFINITY, "its Loop runs as long as a condition holds");
        out.uncut_ns = inner.uncut_ns;
    }
    for (unsigned phase = 0; phase < 4; phase++) {
        if (!e->phase[phase].call || is_literal(e->phase[phase].when, false)) continue;
        struct bound cleanup = of_cleanup(b, &e->phase[phase]);
        out.ns += cleanup.ns;
        if (phase == MWL_ON_ALWAYS) out.uncut_ns += cleanup.ns;
        out.calls += cleanup.calls;
        keep_why(&out, &cleanup);
    }
    return out;
}

/* ---- calls and Steps ------------------------------------------------------------------------- */

static struct bound of_flow(struct bounds *b, const mwl__m_flow *flow);

static struct bound of_call(struct bounds *b, const mwl__m_call *call) {
    if (call->flow) {
        struct bound out = of_flow(b, call->flow);
        out.attempts = 1;
        return out;
    }
    if (!is_named(call->provider, MWL__STD_MOCK))
        return endless(1, "nothing bounds the wait for %.*s", (int)call->provider->uri_len,
                       call->provider->uri);
    const mwl__node *written = mwl__node_get(call->with, "delay");
    if (mwl__model_computed(b->model, written) ||
        (call->with && call->with->kind != MWL_NODE_OBJECT))
        return endless(1, "the delay of the mock is computed");
    double ns = 0;
    mwl_value delay = constant(b, written);
    (void)duration(delay, &ns);
    mwl_value_drop(b->heap, delay);
    return isinf(ns) ? endless(1, NEVER_ENDS) : (struct bound){ns, 0, 1, 1, ""};
}

/* A call with its middleware. */
static struct bound of_stack(struct bounds *b, mwl__m_entry *const *stack, uint32_t n,
                             const mwl__m_call *call) {
    struct bound out = of_call(b, call);
    bool reruns = call->flow && b->reruns[call->flow->ix];
    for (uint32_t i = n; i-- > 0;) {
        const double waits = waits_inside(b, stack + i + 1, n - i - 1);
        out = around(b, stack[i], out, &reruns);
        const double ns = is_of(stack[i], MWL__STD_TIMEOUT) ? bound_of(b, stack[i]) : INFINITY;
        if (waits >= ns && waits > 0)
            warn(b, stack[i],
                 "the bound of %g s is around a Retry that waits %g s in all: not all attempts can "
                 "be made",
                 ns / 1e9, waits / 1e9);
    }
    return out;
}

static struct bound of_gather(struct bounds *b, const mwl__m_step *s) {
    struct bound out = nothing();
    for (uint32_t i = 0; i < s->n_calls; i++) {
        struct bound one = of_call(b, s->calls[i]);
        if (one.ns > out.ns) out.ns = one.ns;
        if (one.uncut_ns > out.uncut_ns) out.uncut_ns = one.uncut_ns;
        keep_why(&out, &one);
        out.attempts += 1;
        out.calls += one.calls;
    }
    if (s->over) out.attempts = out.calls = INFINITY;
    if (s->concurrency == MWL_NONE || out.ns == 0) return out;
    if (s->over && !isinf(out.ns)) {
        out.ns = INFINITY;
        snprintf(out.why, sizeof out.why, "the number of its dispatches, %u at a time, is computed",
                 s->concurrency);
        return out;
    }
    out.ns *= ceil((double)s->n_calls / s->concurrency);
    return out;
}

static struct bound of_sleep(struct bounds *b, const mwl__m_step *s) {
    double ns = 0;
    if (s->sleep_until) return endless(0, "it sleeps until an instant");
    mwl_value written = constant(b, s->sleep_for);
    const bool known = duration(written, &ns);
    mwl_value_drop(b->heap, written);
    if (!known) return endless(0, "how long it sleeps is computed");
    return isinf(ns) ? endless(0, NEVER_ENDS) : (struct bound){ns, 0, 0, 0, ""};
}

static uint32_t number_of(const struct bounds *b, const mwl__m_step *s) {
    return b->first_of[s->flow->ix] + s->ix;
}

static void find_step(struct bounds *b, const mwl__m_step *s) {
    const uint32_t at = number_of(b, s);
    if (b->step_state[at] != UNKNOWN) return;
    b->step_state[at] = KNOWN;
    b->steps[at] = s->action == MWL_ACTION_CALL     ? of_stack(b, s->stack, s->n_stack, s->calls[0])
                   : s->action == MWL_ACTION_GATHER ? of_gather(b, s)
                   : s->action == MWL_ACTION_SLEEP  ? of_sleep(b, s)
                                                    : nothing();
}

/* ---- Flows ----------------------------------------------------------------------------------- */

/* The n-th place where a Step can lead to; *to is NULL where that is no Step. Returns false behind
 * the last one. */
static bool way_out(const mwl__m_step *s, uint32_t n, const mwl__m_step **to) {
    *to = NULL;
    if (n == 0) {
        *to = s->next;
    } else if (n <= s->n_clauses) {
        const mwl__m_clause *c = &s->clauses[n - 1];
        if (!is_literal(c->when, false)) *to = c->next;
    } else if (n <= s->n_clauses + s->n_catches) {
        *to = s->catches[n - s->n_clauses - 1].next;
    } else {
        return false;
    }
    return true;
}

static void open_step(struct bounds *b, const mwl__m_step *s) {
    const uint32_t at = number_of(b, s);
    b->rest_state[at] = OPEN;
    b->visited[b->n_visited++] = at;
    find_step(b, s);
    b->ways[b->n_ways++] = (struct way){s, 0, 0, 0, ""};
}

static void close_step(struct bounds *b, const struct way *w) {
    const uint32_t at = number_of(b, w->step);
    const struct bound *own = &b->steps[at];
    b->rest[at] = own->ns + w->longest;
    b->rest_calls[at] = own->calls + w->calls;
    char *why = b->rest_why[at];
    if (isinf(own->ns))
        snprintf(why, sizeof *b->rest_why, "Step '%.*s': %.120s", MWL__NODE_KEY(w->step->node),
                 own->why);
    else if (why != w->why)
        snprintf(why, sizeof *b->rest_why, "%s", w->why);
    b->rest_state[at] = KNOWN;
}

/* A Step that is met again on its own way makes that endless. */
static void add_way(struct bounds *b, struct way *w, const mwl__m_step *to) {
    const uint32_t at = number_of(b, to);
    if (b->rest_state[at] == OPEN) {
        b->rest[at] = b->rest_calls[at] = INFINITY;
        snprintf(b->rest_why[at], sizeof *b->rest_why, "its Steps can come again ('%.*s')",
                 MWL__NODE_KEY(to->node));
    }
    if (b->rest[at] > w->longest) w->longest = b->rest[at];
    if (b->rest_calls[at] > w->calls) w->calls = b->rest_calls[at];
    if (isinf(b->rest[at]) && !*w->why) w->why = b->rest_why[at];
}

/* The longest way from a Step to the end, by depth first search. Its stack is `ways`: a Flow may
 * have as many Steps in a row as there are. */
static void find_rest(struct bounds *b, const mwl__m_step *first) {
    const mwl__m_step *to;
    open_step(b, first);
    while (b->n_ways) {
        struct way *w = &b->ways[b->n_ways - 1];
        for (; way_out(w->step, w->next, &to); w->next++) {
            if (!to) continue;
            if (b->rest_state[number_of(b, to)] == UNKNOWN) {
                open_step(b, to); /* then this one goes on here */
                break;
            }
            add_way(b, w, to);
        }
        if (w == &b->ways[b->n_ways - 1]) {
            close_step(b, w);
            b->n_ways--;
        }
    }
}

static bool add_wanted(struct bounds *b, uint32_t flow) {
    const mwl_alloc alloc = mwl_alloc_default();
    void *list = b->wanted;
    if (mwl__mem_grow(&alloc, &list, &b->cap_wanted, b->n_wanted + 1, sizeof *b->wanted) < 0) {
        b->failed = true;
        return false;
    }
    b->wanted = list;
    b->wanted[b->n_wanted++] = flow;
    return true;
}

/* Returns what a call of the Flow takes. If that is not known yet, it is wanted first. */
static struct bound of_flow(struct bounds *b, const mwl__m_flow *flow) {
    if (b->flow_state[flow->ix] == KNOWN) return b->flows[flow->ix];
    if (b->flow_state[flow->ix] == OPEN)
        return unknown("Flow '%s' calls itself", flow->name ? flow->name : "");
    (void)add_wanted(b, flow->ix);
    return nothing();
}

/* Everything about a Flow, from what is known of those that it calls. */
static struct bound find_flow(struct bounds *b, const mwl__m_flow *flow) {
    const uint32_t first = number_of(b, flow->entrypoint);
    struct bound out = nothing();
    bool reruns = false;
    find_rest(b, flow->entrypoint);
    out.ns = b->rest[first];
    out.calls = b->rest_calls[first];
    for (uint32_t i = 0; i < flow->n_steps; i++) { /* a bound interrupts one of them */
        const double uncut_ns = b->steps[number_of(b, flow->steps[i])].uncut_ns;
        if (uncut_ns > out.uncut_ns) out.uncut_ns = uncut_ns;
    }
    snprintf(out.why, sizeof out.why, "%s", isinf(out.ns) ? b->rest_why[first] : "");
    for (uint32_t i = flow->n_stack; i-- > 0;) out = around(b, flow->stack[i], out, &reruns);
    return out;
}

/* Flows in the order of their calls, without recursion: a Flow that wants others is looked at again
 * when they are known. Those that are OPEN are the ones that led here. */
static void find_flows(struct bounds *b, uint32_t root) {
    if (!add_wanted(b, root)) return;
    while (b->n_wanted && !b->failed) {
        size_t n_wanted = b->n_wanted, said = b->warnings.len;
        uint32_t flow = b->wanted[n_wanted - 1];
        if (b->flow_state[flow] == KNOWN) {
            b->n_wanted--;
            continue;
        }
        b->flow_state[flow] = OPEN;
        struct bound found = find_flow(b, b->model->flows[flow]);
        bool whole = b->n_wanted == n_wanted;
        if (!whole) { /* forget it */
            b->warnings.len = said;
            for (uint32_t i = 0; i < b->n_visited; i++)
                b->rest_state[b->visited[i]] = b->step_state[b->visited[i]] = UNKNOWN;
        } else {
            b->flows[flow] = found;
            b->flow_state[flow] = KNOWN;
            b->n_wanted--;
        }
        b->n_visited = 0;
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool reruns_something(const mwl__m_step *s) {
    for (uint32_t i = 0; s->reachable && i < s->n_stack; i++)
        if (is_of(s->stack[i], MWL__STD_RETRY) || is_of(s->stack[i], MWL__STD_LOOP)) return true;
    return false;
}

static uint32_t number_steps(struct bounds *b) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->model->n_flows; i++) {
        const mwl__m_flow *f = b->model->flows[i];
        b->first_of[f->ix] = n;
        n += f->n_steps;
        for (uint32_t k = 0; k < f->n_steps && !b->reruns[f->ix]; k++)
            b->reruns[f->ix] = reruns_something(f->steps[k]);
    }
    return n;
}

bool bounds_init(struct bounds *b, mwl__model *model, mwl__source *source, mwl_heap *heap) {
    const size_t flows = (size_t)model->n_flows + 1;
    memset(b, 0, sizeof *b);
    b->model = model;
    b->source = source;
    b->heap = heap;
    b->warnings = mwl__buf_make(mwl_alloc_default());
    if (!(b->first_of = calloc(flows, sizeof *b->first_of)) || !(b->reruns = calloc(flows, 1)) ||
        !(b->flows = calloc(flows, sizeof *b->flows)) || !(b->flow_state = calloc(flows, 1)))
        return false;
    const size_t steps = (size_t)number_steps(b) + 1;
    if (!(b->steps = calloc(steps, sizeof *b->steps)) || !(b->step_state = calloc(steps, 1)) ||
        !(b->rest_state = calloc(steps, 1)) || !(b->rest = calloc(steps, sizeof *b->rest)) ||
        !(b->rest_calls = calloc(steps, sizeof *b->rest_calls)) ||
        !(b->rest_why = calloc(steps, sizeof *b->rest_why)) ||
        !(b->ways = calloc(steps, sizeof *b->ways)) ||
        !(b->visited = calloc(steps, sizeof *b->visited)))
        return false;
    find_flows(b, model->flows[0]->ix); /* and those that are called */
    return !b->warnings.failed && !b->failed;
}

void bounds_free(struct bounds *b) {
    const mwl_alloc alloc = mwl_alloc_default();
    free(b->steps);
    free(b->flows);
    free(b->flow_state);
    free(b->step_state);
    free(b->rest_state);
    free(b->rest);
    free(b->rest_calls);
    free(b->rest_why);
    free(b->ways);
    free(b->visited);
    free(b->first_of);
    free(b->reruns);
    mwl__mem_free(&alloc, b->wanted, b->cap_wanted * sizeof *b->wanted);
    mwl__buf_free(&b->warnings);
}

static void put_time(double ns, mwl__buf *out) {
    double s = ns / 1e9;
    if (s >= 2 * 86400)
        mwl__buf_printf(out, "%.4g days", s / 86400);
    else if (s >= 2 * 3600)
        mwl__buf_printf(out, "%.4g h", s / 3600);
    else
        mwl__buf_printf(out, "%.9g s", s);
}

static void put_bound(const struct bound *x, double n, const char *count, mwl__buf *out) {
    if (isinf(n))
        mwl__buf_printf(out, "any number of %ss", count);
    else if (n > 0)
        mwl__buf_printf(out, "at most %g %s%s", n, count, n == 1 ? "" : "s");
    if (n > 0) mwl__buf_puts(out, ", ");
    if (isinf(x->ns)) {
        mwl__buf_printf(out, "unbounded time: %s\n", x->why);
        return;
    }
    mwl__buf_puts(out, "at most ");
    put_time(x->ns, out);
    mwl__buf_putc(out, '\n');
}

static void write_steps(const struct bounds *b, const mwl__m_flow *flow, const char *file,
                        mwl__buf *out) {
    for (uint32_t i = 0; i < flow->n_steps; i++) {
        const mwl__m_step *s = flow->steps[i];
        const struct bound *found = &b->steps[number_of(b, s)];
        if (!s->reachable || (found->ns == 0 && found->attempts == 0)) continue;
        const mwl__place w = mwl__source_place(b->source, s->node->key_offset);
        mwl__buf_printf(out, "%s:%u:%u: Step '%s%s%.*s': ", file, w.line, w.column,
                        flow->name ? flow->name : "", flow->name ? "/" : "",
                        MWL__NODE_KEY(s->node));
        put_bound(found, found->attempts, "attempt", out);
    }
}

void bounds_write(const struct bounds *b, const char *file, mwl__buf *out) {
    for (uint32_t i = 0; i < b->model->n_flows; i++) {
        const mwl__m_flow *flow = b->model->flows[i];
        if (b->flow_state[flow->ix] != KNOWN) continue; /* nothing calls it */
        write_steps(b, flow, file, out);
        if (flow->name)
            mwl__buf_printf(out, "%s: Flow '%s': ", file, flow->name);
        else
            mwl__buf_printf(out, "%s: %s: ", file, flow->outer ? "an inline Flow" : "the Flow");
        put_bound(&b->flows[flow->ix], b->flows[flow->ix].calls, "call", out);
    }
    const char *at = b->warnings.data, *end = at + b->warnings.len;
    while (at && at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        mwl__buf_printf(out, "%s:%.*s\n", file, (int)(line - at), at);
        at = line + 1;
    }
}
