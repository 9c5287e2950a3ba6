/* main.c: the measuring instrument, `mwl-bench [OPTION...] [FILTER]`.
 *
 * Owns: choosing the count, repeating, the counters, the report. A case's answer is checked before
 * it is measured; a wrong one is reported and fails the program. Time is wall time of the monotonic
 * clock, the figure is the median of the samples, the spread is (max - min) / median. Allocations
 * and bytes are those through the case's allocator. Instructions are user-space ones as the
 * processor counts them, where the kernel lets us read that; else '-'. */
#include "bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#endif

#define BENCH_X(area) extern const struct bench_case bench_##area##_cases[] __attribute__((weak));
BENCH_AREAS(BENCH_X)
#undef BENCH_X

static const struct bench_case *const areas[] = {
#define BENCH_X(area) bench_##area##_cases,
    BENCH_AREAS(BENCH_X)
#undef BENCH_X
};
enum { N_AREAS = sizeof areas / sizeof *areas, MAX_SAMPLES = 101 };

struct options {
    bool json, list;
    int samples;
    double sample_ms;
    const char *filter, *once;
    unsigned long once_n;
};

/* ---- counters -------------------------------------------------------------------------------- */

struct counter {
    unsigned long long allocations, bytes; /* bytes asked for, growth of a resize included */
    long long live;
};

static void *counting(void *ctx, void *p, size_t old_size, size_t new_size) {
    struct counter *c = ctx;
    if (new_size == 0) {
        free(p);
        c->live -= (long long)old_size;
        return NULL;
    }
    void *q = realloc(p, new_size);
    if (!q) return NULL;
    c->allocations++;
    if (new_size > old_size) c->bytes += new_size - old_size;
    c->live += (long long)new_size - (long long)old_size;
    return q;
}

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A file descriptor that counts this thread's user-space instructions, or -1. */
static int instructions_open(void) {
#ifdef __linux__
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_HARDWARE;
    attr.config = PERF_COUNT_HW_INSTRUCTIONS;
    attr.disabled = 1;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
#else
    return -1;
#endif
}

static void instructions_start(int fd) {
#ifdef __linux__
    if (fd < 0) return;
    ioctl(fd, PERF_EVENT_IOC_RESET, 0);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
#else
    (void)fd;
#endif
}

/* The count since the start, or -1. */
static double instructions_stop(int fd) {
#ifdef __linux__
    unsigned long long count = 0;
    if (fd < 0) return -1;
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    if (read(fd, &count, sizeof count) == (ssize_t)sizeof count) return (double)count;
#else
    (void)fd;
#endif
    return -1;
}

/* ---- one case -------------------------------------------------------------------------------- */

struct figures {
    double median, min, max;                 /* ns per operation */
    double allocations, bytes, instructions; /* per operation; instructions -1: unknown */
    double ops;                              /* measured, in all samples */
};

void bench_fail(struct bench *b, const char *format, ...) {
    va_list args;
    b->failed = true;
    fputs("mwl-bench: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct bench_case *c, struct bench *b, const struct options *o, int perf,
                    struct figures *f) {
    double samples[MAX_SAMPLES], ops = (double)(c->ops ? c->ops : 1);
    struct counter *counter = b->alloc.ctx;
    unsigned long n = 1;
    for (;;) { /* this also warms caches up */
        double start = now_ns();
        c->run(b, n);
        if (now_ns() - start >= o->sample_ms * 1e6 || n > (1ul << 40)) break;
        n *= 2;
    }
    for (int i = 0; i < o->samples; i++) {
        double start = now_ns();
        c->run(b, n);
        samples[i] = (now_ns() - start) / ((double)n * ops);
    }
    qsort(samples, (size_t)o->samples, sizeof *samples, by_value);
    f->median = samples[o->samples / 2];
    f->min = samples[0];
    f->max = samples[o->samples - 1];
    f->ops = (double)n * ops * o->samples;

    struct counter before = *counter; /* a pass of its own: reading a counter must not be timed */
    instructions_start(perf);
    c->run(b, n);
    double instructions = instructions_stop(perf);
    f->allocations = (double)(counter->allocations - before.allocations) / ((double)n * ops);
    f->bytes = (double)(counter->bytes - before.bytes) / ((double)n * ops);
    f->instructions = instructions < 0 ? -1 : instructions / ((double)n * ops);
}

static void print_time(double ns) {
    if (ns >= 1e6)
        printf("%10.2f ms", ns / 1e6);
    else if (ns >= 1e3)
        printf("%10.2f us", ns / 1e3);
    else
        printf("%10.2f ns", ns);
}

static void print_figures(const struct bench_case *c, const struct options *o,
                          const struct figures *f) {
    if (o->json) {
        printf(
            "{\"suite\":\"%s\",\"peer\":\"mwlvm\",\"case\":\"%s\",\"unit\":\"ns/op\","
            "\"median\":%.3f,\"min\":%.3f,\"max\":%.3f,\"n\":%.0f,\"allocs\":%.3f,\"bytes\":%.1f",
            c->suite, c->name, f->median, f->min, f->max, f->ops, f->allocations, f->bytes);
        if (f->instructions >= 0) printf(",\"instructions\":%.1f", f->instructions);
        printf("}\n");
    } else {
        char name[64];
        snprintf(name, sizeof name, "%s/%s", c->suite, c->name);
        printf("%-32s ", name);
        print_time(f->median);
        printf("  %5.1f%%  %9.2f  %11.1f  ", (f->max - f->min) / f->median * 100, f->allocations,
               f->bytes);
        if (f->instructions >= 0)
            printf("%12.1f\n", f->instructions);
        else
            printf("%12s\n", "-");
    }
    fflush(stdout);
}

/* False when the answer was wrong or memory was not given back. */
static bool run_case(const struct bench_case *c, const struct options *o, int perf) {
    struct counter counter = {0, 0, 0};
    struct bench b = {{counting, &counter}, NULL, false};
    if (c->setup) c->setup(&b);
    if (!b.failed && o->once) {
        c->run(&b, o->once_n);
    } else if (!b.failed) {
        struct figures f;
        measure(c, &b, o, perf, &f);
        if (!b.failed) print_figures(c, o, &f);
    }
    if (c->teardown) c->teardown(&b);
    if (!b.failed && counter.live != 0) bench_fail(&b, "%lld bytes were not freed", counter.live);
    if (b.failed) {
        if (o->json)
            printf("{\"suite\":\"%s\",\"peer\":\"mwlvm\",\"case\":\"%s\",\"error\":\"wrong "
                   "answer\"}\n",
                   c->suite, c->name);
        fprintf(stderr, "mwl-bench: %s/%s: WRONG\n", c->suite, c->name);
    }
    return !b.failed;
}

/* ---- command line ---------------------------------------------------------------------------- */

static int print_help(FILE *to) {
    fprintf(
        to,
        "usage: mwl-bench [--json] [--samples N] [--ms N] [FILTER]\n"
        "       mwl-bench --list [FILTER]\n"
        "       mwl-bench --once SUITE/CASE N\n\n"
        "Measures the cases whose SUITE/CASE contains FILTER. A case's answer is checked first.\n\n"
        "  --json       a JSON line per case instead of a table\n"
        "  --list       name the cases\n"
        "  --samples N  samples per case, 5 to %d (7)\n"
        "  --ms N       least milliseconds per sample (45)\n"
        "  --once       perform one case N times and report nothing: for callgrind, perf\n",
        MAX_SAMPLES);
    return to == stderr ? 2 : 0;
}

/* 0 to go on, otherwise the exit status plus one. */
static int read_options(int argc, char **argv, struct options *o) {
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return print_help(stdout) + 1;
        if (strcmp(word, "--json") == 0) {
            o->json = true;
        } else if (strcmp(word, "--list") == 0) {
            o->list = true;
        } else if (strcmp(word, "--samples") == 0 && i + 1 < argc) {
            o->samples = atoi(argv[++i]);
            if (o->samples < 5) o->samples = 5;
            if (o->samples > MAX_SAMPLES) o->samples = MAX_SAMPLES;
        } else if (strcmp(word, "--ms") == 0 && i + 1 < argc) {
            o->sample_ms = atof(argv[++i]);
        } else if (strcmp(word, "--once") == 0 && i + 2 < argc) {
            o->once = argv[++i];
            o->once_n = strtoul(argv[++i], NULL, 10);
        } else if (word[0] == '-' || o->filter) {
            fprintf(stderr, "mwl-bench: unexpected '%s'\n", word);
            return print_help(stderr) + 1;
        } else {
            o->filter = word;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    struct options o = {.samples = 7, .sample_ms = 45};
    int end = read_options(argc, argv, &o), matched = 0;
    bool wrong = false;
    if (end) return end - 1;
    int perf = o.list || o.once ? -1 : instructions_open();
    bool table = !o.json && !o.list && !o.once;
    if (table)
        printf("%-32s %13s  %6s  %9s  %11s  %12s\n", "case", "median/op", "spread", "allocs/op",
               "bytes/op", "instr/op");
    for (size_t a = 0; a < N_AREAS; a++) {
        for (const struct bench_case *c = areas[a]; c && c->name; c++) {
            char name[128];
            snprintf(name, sizeof name, "%s/%s", c->suite, c->name);
            if (o.once ? strcmp(name, o.once) != 0 : o.filter && !strstr(name, o.filter)) continue;
            matched++;
            if (o.list)
                printf("%s\n", name);
            else if (!run_case(c, &o, perf))
                wrong = true;
        }
    }
    if (perf >= 0) close(perf);
    if (!matched) fprintf(stderr, "mwl-bench: no case matches '%s'\n", o.once ? o.once : o.filter);
    return wrong || !matched;
}
