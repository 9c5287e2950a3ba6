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

/* Keeps a sample and returns the oldest. */
static struct each_sample sample(struct each_bar *b, uint64_t done, uint64_t position,
                                 int64_t now) {
    struct each_sample first = {b->start_ns, 0, 0};
    if (b->n_samples >= N_SAMPLES) first = b->samples[b->n_samples % N_SAMPLES];
    b->samples[b->n_samples++ % N_SAMPLES] = (struct each_sample){now, done, position};
    return first;
}

static size_t put_gauge(char *out, size_t size, double part) {
    int full = (int)(part * WIDTH);
    char gauge[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++) gauge[i] = i < full ? '#' : i == full ? '>' : ' ';
    gauge[WIDTH] = 0;
    return (size_t)snprintf(out, size, "[" TERM_GREEN "%s" TERM_PLAIN "] %3d%%  ", gauge,
                            (int)(part * 100));
}

void each_bar_draw(struct each_bar *b, uint64_t done, uint64_t failed, uint64_t position) {
    char text[300], a[EACH_NUMBER], c[EACH_NUMBER], r[EACH_NUMBER];
    int64_t now = now_ns();
    struct each_sample first = sample(b, done, position, now);
    double seconds = (double)(now - first.at_ns) / 1e9;
    double rate = seconds > 0 ? (double)(done - first.done) / seconds : 0;
    size_t len = 0;
    if (b->size) {
        double part = (double)position / (double)b->size;
        len = put_gauge(text, sizeof text, part > 1 ? 1 : part);
    }
    len += (size_t)snprintf(text + len, sizeof text - len, "%s done, %s%s failed%s, %s/s",
                            each_number(done, a), failed ? TERM_RED : "", each_number(failed, c),
                            failed ? TERM_PLAIN : "", each_number((uint64_t)rate, r));
    double byte_rate = seconds > 0 ? (double)(position - first.position) / seconds : 0;
    if (b->size > position && byte_rate > 0) {
        int64_t left = (int64_t)((double)(b->size - position) / byte_rate) + 1;
        if (left < 3600)
            snprintf(text + len, sizeof text - len, ", ETA %d:%02d", (int)(left / 60),
                     (int)(left % 60));
        else
            snprintf(text + len, sizeof text - len, ", ETA %" PRId64 ":%02d:%02d", left / 3600,
                     (int)(left / 60 % 60), (int)(left % 60));
    }
    term_status(text);
}

/* ---- the summary ----------------------------------------------------------------------------- */

void each_summary(const struct each_codes *codes, uint64_t done, uint64_t failed, int64_t ns) {
    char a[EACH_NUMBER], b[EACH_NUMBER], c[EACH_NUMBER], r[EACH_NUMBER], took[40];
    event_text_time(ns, took, sizeof took);
    uint64_t rate = ns > 0 ? (uint64_t)((double)done * 1e9 / (double)ns) : 0;
    cmd_note("%s run%s in %s (%s/s): %s succeeded, %s failed", each_number(done, a),
             done == 1 ? "" : "s", took, each_number(rate, r), each_number(done - failed, b),
             each_number(failed, c));
    struct each_codes *sorted = malloc(sizeof *sorted);
    if (!sorted) return;
    *sorted = *codes;
    qsort(sorted->codes, EACH_CODES, sizeof *sorted->codes, more_frequent);
    for (size_t i = 0; i < EACH_CODES && sorted->codes[i].n; i++)
        cmd_note("%10s  %s", each_number(sorted->codes[i].n, a), sorted->codes[i].code);
    if (sorted->others) cmd_note("%10s  other codes", each_number(sorted->others, a));
    free(sorted);
}
