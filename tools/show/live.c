/* live.c: see live.h. */
#include "tools/show/live.h"

#include "tools/show/event_text.h"
#include "tools/base/term.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LINE = 1024 };

struct line {
    char text[LINE];
    size_t len;
};

static void add(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *l, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(l->text + l->len, sizeof l->text - l->len, format, args);
    va_end(args);
    if (n > 0) l->len += (size_t)n;
    if (l->len >= sizeof l->text) l->len = sizeof l->text - 1;
}

static int64_t now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* " until 14:03:05 (8.1 s left)"; a wait of more than a day has its date. */
static void add_until(struct line *l, const char *word, int64_t until_ns, int64_t mono_ns) {
    char when[40], left[40];
    int64_t wall = now_ns(CLOCK_REALTIME) + (until_ns - mono_ns);
    time_t seconds = (time_t)(wall / 1000000000);
    struct tm tm;
    if (until_ns <= mono_ns || !localtime_r(&seconds, &tm)) return;
    bool far = until_ns - mono_ns > INT64_C(86400) * 1000000000;
    strftime(when, sizeof when, far ? "%Y-%m-%d %H:%M" : "%H:%M:%S", &tm);
    int64_t s = (until_ns - mono_ns + 999999999) / 1000000000; /* tenths would only flicker */
    if (s < 60)
        snprintf(left, sizeof left, "%d s", (int)s);
    else
        event_text_time(s * 1000000000, left, sizeof left);
    add(l, "%s %s (%s left)", word, when, left);
}

/* ---- what the run does ----------------------------------------------------------------------- */

/* Filled by mwl_run_look: from the root frame inwards. */
enum { COUNTS = 4 };
struct view {
    const struct live *live;
    struct line path; /* "order/fetch" */
    size_t n_steps;
    struct {
        const char *word;
        uint64_t n;
    } counts[COUNTS]; /* of the innermost frame that has some, innermost first */
    size_t n_counts;
    size_t hidden; /* of the counts: the wait names it */
    struct line wait;
};

static void add_wait(struct line *l, const struct live *live, const mwl_trace_event *e) {
    size_t len = 0;
    const char *provider = event_text_provider(e->provider, &len);
    if (e->total)
        add(l, ", %" PRIu32 " of %" PRIu32 " dispatches done, %" PRIu32 " in flight", e->done,
            e->total, e->active);
    else if (e->entry >= 0)
        add(l, ", waits for %s %" PRIu64, *e->counts ? e->counts : "run", e->runs);
    else if (len)
        add(l, ", waits for %.*s", (int)len, provider);
    else
        add(l, ", sleeps");
    if (live->virtual_time) return;
    if (e->until_ns != MWL_NEVER && e->until_ns <= e->bound_ns)
        add_until(l, " until", e->until_ns, e->at.mono_ns);
    else if (e->bound_ns != MWL_NEVER)
        add_until(l, ", times out at", e->bound_ns, e->at.mono_ns);
}

static void see(void *ctx, const mwl_trace_event *e) {
    struct view *v = ctx;
    switch (e->kind) {
    case MWL_TRACE_STEP_ENTERED:
        add(&v->path, "%s%s", v->n_steps++ ? "/" : "", e->step);
        v->n_counts = 0;
        break;
    case MWL_TRACE_ESTABLISHED:
        if (v->n_counts == COUNTS || !*e->counts || !e->runs) break;
        v->counts[v->n_counts].word = e->counts;
        v->counts[v->n_counts++].n = e->runs;
        break;
    case MWL_TRACE_WAITING:
        v->hidden = e->entry >= 0 && *e->counts ? 1 : 0;
        add_wait(&v->wait, v->live, e);
        break;
    default: break;
    }
}

void live_draw(void *ctx) {
    const struct live *live = ctx;
    int64_t elapsed = now_ns(CLOCK_MONOTONIC) - live->start_ns, s = elapsed / 1000000000;
    if (elapsed < LIVE_AFTER_NS || !live->run) return;
    struct view v;
    memset(&v, 0, sizeof v);
    v.live = live;
    mwl_run_look(live->run, see, &v);
    struct line l = {{0}, 0};
    add(&l, "[%" PRId64 ":%02d] %s", s / 60, (int)(s % 60),
        *v.path.text ? v.path.text : "cleanup of the Flow");
    for (size_t i = v.n_counts; i-- > v.hidden;)
        add(&l, ", %s %" PRIu64, v.counts[i].word, v.counts[i].n);
    add(&l, "%s", v.wait.text);
    term_status(l.text);
}
