/* bounds.c: see bounds.h. */
#include "tools/look/bounds.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_MAX = 64, DEPTH_MAX = 32 };
enum { UNKNOWN, OPEN, KNOWN };

static struct bound nothing(void) { return (struct bound){0, 0, 0, ""}; }

__attribute__((format(printf, 2, 3))) static struct bound endless(double attempts,
                                                                  const char *format, ...) {
    struct bound out = {INFINITY, attempts, attempts, ""};
    va_list args;
    va_start(args, format);
    vsnprintf(out.why, sizeof out.why, format, args);
    va_end(args);
    return out;
}

static void keep_why(struct bound *to, const struct bound *from) {
    if (!*to->why) memcpy(to->why, from->why, sizeof to->why);
}

static const char *text_k(const mwl_program *p, uint32_t k) {
    return k == MWL_NONE ? "" : mwl_as_text(p->consts[k], NULL);
}

static const char *uri_of(const mwl_program *p, uint32_t import) {
    return text_k(p, p->tables.imports[import].uri_k);
}

static bool duration(mwl_value v, double *out) {
    size_t len = 0;
    int64_t ns = 0;
    const char *text = mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, &len) : NULL;
    if (!text || mwl_duration_parse(text, len, &ns) != MWL_OK) return false;
    *out = ns > 0 ? (double)ns : 0;
    return true;
}

__attribute__((format(printf, 3, 4))) static void warn(struct bounds *b, uint32_t pc,
                                                       const char *format, ...) {
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mwl__where w = {0, 0, 0, 0};
    mwl__program_where(b->program, pc, 0, &w);
    mwl__buf_printf(&b->warnings, "%u:%u: warning: %s\n", w.line, w.column, text);
}

/* ---- one entry ------------------------------------------------------------------------------- */

/* Whether a `when` decides about the phase whose code begins at pc. */
static bool is_gated(const mwl_program *p, uint32_t pc, unsigned end_op) {
    for (; pc < p->n_code && p->code[pc].op != end_op; pc++)
        if (p->code[pc].op == MWL_OP_GATE) return true;
    return false;
}

struct retry {
    double runs, waits_ns; /* in all; INFINITY: not known */
    const char *why;
};

static void add_policy(mwl_value policy, struct retry *out) {
    mwl_value attempts = mwl_get(policy, "attempts"), backoff = mwl_get(policy, "backoff"),
              rate = mwl_get(backoff, "rate"), jitter = mwl_get(backoff, "jitter");
    double wait = 0, most = INFINITY, grows = 1;
    if (mwl_value_kind(attempts) != MWL_KIND_NUMBER) return;
    double n = mwl_as_number(attempts) - 1;
    out->runs += n;
    if (mwl_is_absent(backoff) || !duration(mwl_get(backoff, "initial"), &wait)) return;
    (void)duration(mwl_get(backoff, "max"), &most);
    if (mwl_value_kind(rate) == MWL_KIND_NUMBER) grows = mwl_as_number(rate);
    const char *how = mwl_as_text(jitter, NULL);
    if (how && strcmp(how, "decorrelated") == 0) grows = 3; /* at most */
    for (int i = 0; i < n && i < 10000; i++) {
        out->waits_ns += wait < most ? wait : most;
        wait *= grows;
    }
}

static struct retry read_retry(const mwl_program *p, const mwl__entry_rec *e) {
    struct retry out = {1, 0, ""};
    uint32_t with = e->with_k[MWL_ON_ENTRY];
    mwl_value delay = mwl_absent();
    double ns = 0;
    if (with == MWL_NONE) return (struct retry){INFINITY, INFINITY, "its policies are computed"};
    mwl_value policies = mwl_get(p->consts[with], "policies");
    for (size_t i = 0; i < mwl_count(policies); i++) add_policy(mwl_array_at(policies, i), &out);
    if (e->with_k[MWL_ON_FAILURE] != MWL_NONE)
        delay = mwl_get(p->consts[e->with_k[MWL_ON_FAILURE]], "delay");
    else
        for (uint32_t pc = e->failure_pc; p->code[pc].op != MWL_OP_REENTER; pc++)
            if (p->code[pc].op == MWL_OP_WITH)
                return (struct retry){out.runs, INFINITY, "its delay is computed"};
    if (duration(delay, &ns)) out.waits_ns = ns * (out.runs - 1);
    return out;
}

static struct bound around(struct bounds *b, uint32_t ix, uint32_t enter_pc, struct bound inner,
                           bool *reruns);
static struct bound of_code(struct bounds *b, uint32_t pc);

static struct bound retried(struct bounds *b, const mwl__entry_rec *e, uint32_t enter_pc,
                            struct bound inner, bool *reruns) {
    struct retry r = read_retry(b->program, e);
    if (*reruns && r.runs > 1)
        warn(b, enter_pc,
             "a Retry of %g attempts is around something that is run again itself: up to %g "
             "attempts in all",
             r.runs, r.runs * inner.attempts);
    *reruns |= r.runs > 1;
    struct bound out = inner;
    out.attempts = inner.attempts * r.runs;
    out.calls = inner.calls * r.runs;
    out.ns = inner.ns * r.runs + r.waits_ns;
    if (isinf(out.ns) && !*out.why && r.why) snprintf(out.why, sizeof out.why, "%s", r.why);
    return out;
}

/* Returns the time that must pass before the last attempt begins, if every one fails at once. */
static double waits_inside(const struct bounds *b, const uint32_t *entries, size_t n) {
    double all = 0;
    for (size_t i = 0; i < n; i++) {
        const mwl__entry_rec *e = &b->program->tables.entries[entries[i]];
        if (!strstr(uri_of(b->program, e->import), "/mwl/retry/")) continue;
        struct retry r = read_retry(b->program, e);
        if (!isinf(r.waits_ns)) all += r.waits_ns;
    }
    return all;
}

static struct bound timed(struct bounds *b, const mwl__entry_rec *e, uint32_t enter_pc,
                          struct bound inner) {
    const mwl_program *p = b->program;
    uint32_t with = e->with_k[MWL_ON_ENTRY];
    double ns = 0;
    if (with == MWL_NONE || !duration(mwl_get(p->consts[with], "duration"), &ns)) {
        if (isinf(inner.ns))
            snprintf(inner.why, sizeof inner.why, "the duration of its Timeout is computed");
        return inner;
    }
    if (is_gated(p, enter_pc, MWL_OP_ESTABLISH)) {
        if (isinf(inner.ns)) snprintf(inner.why, sizeof inner.why, "its Timeout has a `when`");
        return inner;
    }
    if (ns <= inner.ns) {
        inner.ns = ns;
        inner.why[0] = '\0';
    }
    return inner;
}

/* spec: middleware-mechanics, ordering: a Timeout outside a Retry bounds all attempts together, one
 * inside bounds each. Both follow from going from the innermost entry to the outermost. */
static struct bound around(struct bounds *b, uint32_t ix, uint32_t enter_pc, struct bound inner,
                           bool *reruns) {
    const mwl_program *p = b->program;
    const mwl__entry_rec *e = &p->tables.entries[ix];
    const char *uri = uri_of(p, e->import);
    struct bound out = inner;
    if (strstr(uri, "/mwl/retry/")) {
        out = retried(b, e, enter_pc, inner, reruns);
    } else if (strstr(uri, "/mwl/timeout/")) {
        out = timed(b, e, enter_pc, inner);
    } else if (strstr(uri, "/mwl/loop/")) {
        if (*reruns) warn(b, enter_pc, "a Loop is around something that is run again itself");
        *reruns = true;
        out = endless(INFINITY, "its Loop runs as long as a condition holds");
    }
    for (unsigned phase = 0; phase < 4; phase++) {
        if (e->struct_pc[phase] == MWL_NONE) continue;
        struct bound cleanup = of_code(b, e->struct_pc[phase]);
        out.ns += cleanup.ns;
        out.calls += cleanup.calls;
        keep_why(&out, &cleanup);
    }
    return out;
}

/* ---- calls and Steps ------------------------------------------------------------------------- */

static struct bound of_flow(struct bounds *b, uint32_t flow);

static struct bound of_call(struct bounds *b, uint32_t call) {
    const mwl__call_rec *c = &b->program->tables.calls[call];
    if (c->flow != MWL_NONE) {
        struct bound out = of_flow(b, c->flow);
        out.attempts = 1;
        return out;
    }
    if (strstr(uri_of(b->program, c->import), "/mwl/mock/")) {
        double ns = 0;
        mwl_value with = c->with_k == MWL_NONE ? mwl_absent() : b->program->consts[c->with_k];
        (void)duration(mwl_get(with, "delay"), &ns);
        return (struct bound){ns, 1, 1, ""};
    }
    return endless(1, "nothing bounds the wait for %s", uri_of(b->program, c->import));
}

/* Whether the Flow that a call runs has middleware of its own that runs things again. */
static bool reruns_inside(const struct bounds *b, uint32_t call) {
    uint32_t flow = b->program->tables.calls[call].flow;
    return flow != MWL_NONE && b->reruns[flow];
}

/* The stack and the call whose code begins at pc. */
static struct bound of_stack(struct bounds *b, uint32_t pc) {
    const mwl_program *p = b->program;
    uint32_t entries[STACK_MAX], pcs[STACK_MAX];
    size_t n = 0;
    for (; pc < p->n_code && p->code[pc].op != MWL_OP_CALL; pc++) {
        if (p->code[pc].op == MWL_OP_TO || p->code[pc].op == MWL_OP_COMPLETE) return nothing();
        if (p->code[pc].op != MWL_OP_ENTER || n == STACK_MAX) continue;
        pcs[n] = pc;
        entries[n++] = mwl__ins_x(p->code[pc]);
    }
    if (pc == p->n_code) return nothing();
    uint32_t call = mwl__ins_x(p->code[pc]);
    struct bound out = of_call(b, call);
    bool reruns = reruns_inside(b, call);
    for (size_t i = n; i-- > 0;) {
        double waits = waits_inside(b, entries + i + 1, n - i - 1);
        out = around(b, entries[i], pcs[i], out, &reruns);
        if (strstr(uri_of(p, p->tables.entries[entries[i]].import), "/mwl/timeout/") &&
            !isinf(out.ns) && waits >= out.ns && waits > 0)
            warn(b, pcs[i],
                 "the bound of %g s is around a Retry that waits %g s in all: not all attempts can "
                 "be made",
                 out.ns / 1e9, waits / 1e9);
    }
    return out;
}

/* The same; calls of phases may have calls of phases of their own. */
static struct bound of_code(struct bounds *b, uint32_t pc) {
    if (b->depth == DEPTH_MAX) return endless(INFINITY, "its cleanup is nested too deep to tell");
    b->depth++;
    struct bound out = of_stack(b, pc);
    b->depth--;
    return out;
}

static struct bound of_gather(struct bounds *b, const mwl__step_rec *s) {
    const mwl_program *p = b->program;
    uint32_t ix = b->gather_of[s - p->tables.steps];
    if (!ix) return nothing();
    const mwl__gather_rec *g = &p->tables.gathers[ix - 1];
    struct bound out = nothing();
    for (uint32_t i = 0; i < g->n_calls; i++) {
        struct bound one = of_call(b, p->keys[g->first_call + i]);
        if (one.ns > out.ns) out.ns = one.ns;
        keep_why(&out, &one);
        out.attempts += 1;
        out.calls += one.calls;
    }
    bool over = g->flags & MWL_GATHER_OVER;
    if (over) out.attempts = out.calls = INFINITY;
    if (g->concurrency == MWL_NONE || out.ns == 0) return out;
    if (over && !isinf(out.ns))
        return endless(INFINITY, "the number of its dispatches, %u at a time, is computed",
                       g->concurrency);
    out.ns *= ceil((double)g->n_calls / g->concurrency);
    return out;
}

static struct bound of_sleep(struct bounds *b, const mwl__step_rec *s) {
    const mwl_program *p = b->program;
    double ns = 0;
    for (uint32_t pc = s->pc; pc < p->n_code; pc++) {
        unsigned op = p->code[pc].op;
        if (op == MWL_OP_SLEEP_UNTIL) return endless(0, "it sleeps until an instant");
        if (op != MWL_OP_SLEEP_FOR) continue;
        const mwl__ins *before = &p->code[pc - 1];
        if (before->op == MWL_OP_LOAD_K && duration(p->consts[mwl__ins_x(*before)], &ns))
            return (struct bound){ns, 0, 0, ""};
        return endless(0, "how long it sleeps is computed");
    }
    return nothing();
}

static void find_step(struct bounds *b, uint32_t step) {
    const mwl__step_rec *s = &b->program->tables.steps[step];
    if (b->step_state[step] != UNKNOWN) return;
    b->step_state[step] = KNOWN;
    b->steps[step] = s->action == MWL_ACTION_CALL     ? of_code(b, s->pc)
                     : s->action == MWL_ACTION_GATHER ? of_gather(b, s)
                     : s->action == MWL_ACTION_SLEEP  ? of_sleep(b, s)
                                                      : nothing();
}

/* ---- Flows ----------------------------------------------------------------------------------- */

/* The end of the code of a Step: the next Step, or the ascent of its Flow. */
static uint32_t end_of(const struct bounds *b, uint32_t step) {
    const mwl_program *p = b->program;
    const mwl__step_rec *s = &p->tables.steps[step];
    uint32_t low = 0, high = p->tables.n_steps, ascend = p->tables.flows[s->flow].ascend_pc;
    while (low < high) { /* the first that begins behind it */
        uint32_t middle = low + (high - low) / 2;
        if (b->begins[middle] > s->pc)
            high = middle;
        else
            low = middle + 1;
    }
    uint32_t end = low < p->tables.n_steps ? b->begins[low] : p->n_code;
    return ascend > s->pc && ascend < end ? ascend : end;
}

static void open_step(struct bounds *b, uint32_t step) {
    b->rest_state[step] = OPEN;
    b->visited[b->n_visited++] = step;
    find_step(b, step);
    b->ways[b->n_ways++] =
        (struct way){step, b->program->tables.steps[step].pc, end_of(b, step), 0, 0, ""};
}

static void close_step(struct bounds *b, const struct way *w) {
    const struct bound *own = &b->steps[w->step];
    b->rest[w->step] = own->ns + w->longest;
    b->rest_calls[w->step] = own->calls + w->calls;
    char *why = b->rest_why[w->step];
    if (isinf(own->ns))
        snprintf(why, sizeof *b->rest_why, "Step '%s': %.120s",
                 text_k(b->program, b->program->tables.steps[w->step].name_k), own->why);
    else if (why != w->why)
        snprintf(why, sizeof *b->rest_why, "%s", w->why);
    b->rest_state[w->step] = KNOWN;
}

/* A Step that is met again on its own way makes that endless. */
static void add_way(struct bounds *b, struct way *w, uint32_t to) {
    if (b->rest_state[to] == OPEN) {
        b->rest[to] = b->rest_calls[to] = INFINITY;
        snprintf(b->rest_why[to], sizeof *b->rest_why, "its Steps can come again ('%s')",
                 text_k(b->program, b->program->tables.steps[to].name_k));
    }
    if (b->rest[to] > w->longest) w->longest = b->rest[to];
    if (b->rest_calls[to] > w->calls) w->calls = b->rest_calls[to];
    if (isinf(b->rest[to]) && !*w->why) w->why = b->rest_why[to];
}

/* The longest way from a Step to the end, by depth first search. Its stack is `ways`: a Flow may
 * have as many Steps in a row as there are. */
static void find_rest(struct bounds *b, uint32_t first) {
    const mwl_program *p = b->program;
    open_step(b, first);
    while (b->n_ways) {
        struct way *w = &b->ways[b->n_ways - 1];
        for (; w->pc < w->end; w->pc++) {
            if (p->code[w->pc].op != MWL_OP_TO && p->code[w->pc].op != MWL_OP_TO_HANDLER) continue;
            uint32_t to = mwl__ins_x(p->code[w->pc]);
            if (b->rest_state[to] == UNKNOWN) {
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
static struct bound of_flow(struct bounds *b, uint32_t flow) {
    if (b->flow_state[flow] == KNOWN) return b->flows[flow];
    if (b->flow_state[flow] == OPEN)
        return endless(INFINITY, "Flow '%s' calls itself",
                       text_k(b->program, b->program->tables.flows[flow].name_k));
    (void)add_wanted(b, flow);
    return nothing();
}

/* Everything about a Flow, from what is known of those that it calls. */
static struct bound find_flow(struct bounds *b, uint32_t flow) {
    const mwl_program *p = b->program;
    uint32_t entries[STACK_MAX], pcs[STACK_MAX], pc = p->tables.flows[flow].pc;
    size_t n = 0;
    for (; pc < p->n_code && p->code[pc].op != MWL_OP_STEP; pc++)
        if (p->code[pc].op == MWL_OP_ENTER && n < STACK_MAX) {
            pcs[n] = pc;
            entries[n++] = mwl__ins_x(p->code[pc]);
        }
    struct bound out = nothing();
    if (pc < p->n_code) {
        uint32_t first = mwl__ins_x(p->code[pc]);
        find_rest(b, first);
        out.ns = b->rest[first];
        out.calls = b->rest_calls[first];
        snprintf(out.why, sizeof out.why, "%s", isinf(out.ns) ? b->rest_why[first] : "");
    }
    bool reruns = false;
    for (size_t i = n; i-- > 0;) out = around(b, entries[i], pcs[i], out, &reruns);
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
        struct bound found = find_flow(b, flow);
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

static bool reruns_something(const mwl_program *p, const mwl__step_rec *s) {
    for (uint32_t pc = s->pc; pc < p->n_code && p->code[pc].op != MWL_OP_CALL; pc++) {
        if (p->code[pc].op != MWL_OP_ENTER) continue;
        const char *uri = uri_of(p, p->tables.entries[mwl__ins_x(p->code[pc])].import);
        if (strstr(uri, "/mwl/retry/") || strstr(uri, "/mwl/loop/")) return true;
    }
    return false;
}

static int compare_places(const void *a, const void *b) {
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
    return p < q ? -1 : p > q;
}

/* Tables of what would else be searched for. */
static void fill_tables(struct bounds *b) {
    const mwl__flow_tables *t = &b->program->tables;
    uint32_t *fill = b->first_of;
    for (uint32_t i = 0; i < t->n_gathers; i++) b->gather_of[t->gathers[i].step] = i + 1;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const mwl__step_rec *s = &t->steps[i];
        b->begins[i] = s->pc;
        fill[s->flow + 1]++;
        if (s->action == MWL_ACTION_CALL && !b->reruns[s->flow])
            b->reruns[s->flow] = reruns_something(b->program, s);
    }
    qsort(b->begins, t->n_steps, sizeof *b->begins, compare_places);
    for (uint32_t i = 0; i < t->n_flows; i++) fill[i + 1] += fill[i];
    for (uint32_t i = t->n_steps; i-- > 0;) b->by_flow[--fill[t->steps[i].flow + 1]] = i;
    for (uint32_t i = 0; i < t->n_flows; i++) fill[i] = fill[i + 1];
    fill[t->n_flows] = t->n_steps;
}

bool bounds_init(struct bounds *b, const mwl_program *program) {
    const mwl__flow_tables *t = &program->tables;
    size_t steps = (size_t)t->n_steps + 1, flows = (size_t)t->n_flows + 2;
    memset(b, 0, sizeof *b);
    b->program = program;
    b->warnings = mwl__buf_make(mwl_alloc_default());
    if (!(b->steps = calloc(steps, sizeof *b->steps)) ||
        !(b->flows = calloc(flows, sizeof *b->flows)) || !(b->flow_state = calloc(flows, 1)) ||
        !(b->step_state = calloc(steps, 1)) || !(b->rest_state = calloc(steps, 1)) ||
        !(b->rest = calloc(steps, sizeof *b->rest)) ||
        !(b->rest_calls = calloc(steps, sizeof *b->rest_calls)) ||
        !(b->rest_why = calloc(steps, sizeof *b->rest_why)) ||
        !(b->ways = calloc(steps, sizeof *b->ways)) ||
        !(b->visited = calloc(steps, sizeof *b->visited)) ||
        !(b->begins = calloc(steps, sizeof *b->begins)) ||
        !(b->gather_of = calloc(steps, sizeof *b->gather_of)) ||
        !(b->by_flow = calloc(steps, sizeof *b->by_flow)) ||
        !(b->first_of = calloc(flows, sizeof *b->first_of)) || !(b->reruns = calloc(flows, 1)))
        return false;
    fill_tables(b);
    for (uint32_t i = 0; i < t->n_flows; i++) find_flows(b, i);
    for (uint32_t i = 0; i < t->n_steps; i++) find_step(b, i);
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
    free(b->begins);
    free(b->gather_of);
    free(b->by_flow);
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

void bounds_write(const struct bounds *b, const char *file, mwl__buf *out) {
    const mwl_program *p = b->program;
    for (uint32_t i = 0; i < p->tables.n_flows; i++) {
        const char *name = text_k(p, p->tables.flows[i].name_k);
        mwl__where w = {1, 1, 0, 0};
        for (uint32_t at = b->first_of[i]; at < b->first_of[i + 1]; at++) {
            uint32_t k = b->by_flow[at];
            const mwl__step_rec *s = &p->tables.steps[k];
            bool says = b->steps[k].ns > 0 || b->steps[k].attempts > 0;
            if (!says) continue;
            mwl__program_where(p, s->pc, 0, &w);
            mwl__buf_printf(out, "%s:%u:%u: Step '%s%s%s': ", file, w.line, w.column, name,
                            *name ? "/" : "", text_k(p, s->name_k));
            put_bound(&b->steps[k], b->steps[k].attempts, "attempt", out);
        }
        if (*name)
            mwl__buf_printf(out, "%s: Flow '%s': ", file, name);
        else
            mwl__buf_printf(out, "%s: %s: ", file,
                            i == p->tables.root_flow ? "the Flow" : "an inline Flow");
        put_bound(&b->flows[i], b->flows[i].calls, "call", out);
    }
    const char *at = b->warnings.data, *end = at + b->warnings.len;
    while (at && at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        mwl__buf_printf(out, "%s:%.*s\n", file, (int)(line - at), at);
        at = line + 1;
    }
}
