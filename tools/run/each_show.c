/* each_show.c: see each_show.h. */
#include "tools/run/each_show.h"

#include "tools/base/cmd.h"
#include "tools/show/event_text.h"
#include "tools/base/term.h"
#include "vm/base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- codes ----------------------------------------------------------------------------------- */

void each_codes_add(struct each_codes *codes, const char *code, size_t len, uint64_t n) {
    if (len == 0) code = "(no code)", len = 9;
    if (len >= EACH_CODE_LEN) len = EACH_CODE_LEN - 1;
    size_t at = mwl__hash_key(code, len) % EACH_CODES;
    for (size_t i = 0; i < EACH_CODES; i++, at = (at + 1) % EACH_CODES) {
        struct each_code *c = &codes->codes[at];
        if (!*c->code) memcpy(c->code, code, len); /* the rest is zero */
        if (strlen(c->code) != len || memcmp(c->code, code, len) != 0) continue;
        c->n += n;
        return;
    }
    codes->others += n;
}

void each_codes_merge(struct each_codes *into, const struct each_codes *from) {
    for (size_t i = 0; i < EACH_CODES; i++) {
        const struct each_code *c = &from->codes[i];
        if (c->n) each_codes_add(into, c->code, strlen(c->code), c->n);
    }
    into->others += from->others;
}

static int more_frequent(const void *a, const void *b) {
    const struct each_code *x = a, *y = b;
    if (x->n != y->n) return x->n < y->n ? 1 : -1;
    return strcmp(x->code, y->code);
}

/* ---- numbers --------------------------------------------------------------------------------- */

const char *each_number(uint64_t n, char out[EACH_NUMBER]) {
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0) out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = 0;
    return out;
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- the bar --------------------------------------------------------------------------------- */

enum { N_SAMPLES = sizeof((struct each_bar *)0)->samples / sizeof(struct each_sample), WIDTH = 20 };
#define BAR_AFTER_NS INT64_C(1000000000)

/* Keeps a sample and returns the oldest. */
static struct each_sample sample(struct each_bar *b, uint64_t done, uint64_t position,
                                 int64_t now) {
    struct each_sample first = {b->start_ns, 0, 0};
    if (b->n_samples >= N_SAMPLES) first = b->samples[b->n_samples % N_SAMPLES];
    b->samples[b->n_samples++ % N_SAMPLES] = (struct each_sample){now, done, position};
    return first;
}

/* Puts the gauge and its percents in `room` columns, or less; the gauge is left out if it would be
 * too short. */
static size_t put_gauge(char *out, size_t size, double part, size_t room) {
    enum {
        BESIDES = 9,
        SHORTEST = 5
    }; /* columns: of the brackets and the percents; of the gauge */
    int percent = (int)(part * 100);
    size_t width = room < BESIDES + WIDTH ? room - BESIDES : WIDTH;
    if (room < BESIDES + SHORTEST) return (size_t)snprintf(out, size, "%3d%%  ", percent);
    size_t full = (size_t)(part * (double)width);
    char gauge[WIDTH + 1];
    for (size_t i = 0; i < width; i++) gauge[i] = i < full ? '#' : i == full ? '>' : ' ';
    gauge[width] = 0;
    return (size_t)snprintf(out, size, "[" TERM_GREEN "%s" TERM_PLAIN "] %3d%%  ", gauge, percent);
}

static void put_left(char *out, size_t size, int64_t s) {
    if (s < 3600)
        snprintf(out, size, ", ETA %d:%02d", (int)(s / 60), (int)(s % 60));
    else
        snprintf(out, size, ", ETA %" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60),
                 (int)(s % 60));
}

void each_bar_draw(struct each_bar *b, const struct each_totals *t, uint64_t position) {
    char words[200], text[300], left[40] = "", a[EACH_NUMBER], c[EACH_NUMBER], r[EACH_NUMBER];
    int64_t now = now_ns();
    struct each_sample first = sample(b, t->done, position, now);
    if (now - b->start_ns < BAR_AFTER_NS) return;
    double seconds = (double)(now - first.at_ns) / 1e9;
    double rate = seconds > 0 ? (double)(t->done - first.done) / seconds : 0;
    double byte_rate = seconds > 0 ? (double)(position - first.position) / seconds : 0;
    if (b->size > position && byte_rate > 0)
        put_left(left, sizeof left, (int64_t)((double)(b->size - position) / byte_rate) + 1);
    int len =
        snprintf(words, sizeof words, "%s done, %s%s failed%s, %s/s%s", each_number(t->done, a),
                 t->failed ? TERM_RED : "", each_number(t->failed, c), t->failed ? TERM_PLAIN : "",
                 each_number((uint64_t)rate, r), left);
    size_t at = 0, columns = term_columns(STDERR_FILENO),
           used = (size_t)len + 1; /* the last stays free */
    if (b->size) {
        double part = (double)position / (double)b->size;
        at = put_gauge(text, sizeof text, part > 1 ? 1 : part, columns > used ? columns - used : 0);
    }
    snprintf(text + at, sizeof text - at, "%s", words);
    term_status(text);
}

/* ---- the summary ----------------------------------------------------------------------------- */

void each_summary(const struct each_totals *t, const char *stopped, int64_t ns) {
    char a[EACH_NUMBER], b[EACH_NUMBER], c[EACH_NUMBER], d[EACH_NUMBER], e[EACH_NUMBER], took[40];
    event_text_time(ns, took, sizeof took);
    each_number(t->done, a);
    each_number(t->done - t->failed, b);
    each_number(t->failed, c);
    if (stopped) {
        cmd_note("%s at line %s: %s done in %s (%s succeeded, %s failed), %s cancelled", stopped,
                 each_number(t->last_line, d), a, took, b, c, each_number(t->cancelled, e));
        return;
    }
    uint64_t rate = ns > 0 ? (uint64_t)((double)t->done * 1e9 / (double)ns) : 0;
    cmd_note("%s run%s in %s (%s/s): %s succeeded, %s failed", a, t->done == 1 ? "" : "s", took,
             each_number(rate, d), b, c);
}

void each_summary_codes(const struct each_codes *codes) {
    char a[EACH_NUMBER];
    struct each_codes *sorted = malloc(sizeof *sorted);
    if (!sorted) return;
    *sorted = *codes;
    qsort(sorted->codes, EACH_CODES, sizeof *sorted->codes, more_frequent);
    for (size_t i = 0; i < EACH_CODES && sorted->codes[i].n; i++)
        cmd_note("%10s  %s", each_number(sorted->codes[i].n, a), sorted->codes[i].code);
    if (sorted->others) cmd_note("%10s  other codes", each_number(sorted->others, a));
    free(sorted);
}
