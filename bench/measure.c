/* measure.c: one case at a time: choosing the count, repeating, the counters, the line of the
 * report.
 *
 * The result of a case is checked before it is measured. Time is wall time of the monotonic clock.
 * The figure is the median of the samples, the spread is (max - min) / median. Processor time is
 * shown too, because on a busy machine other processes use most of the wall time. Allocations and
 * bytes are those through the case's allocator. Instructions are user-space ones as the processor
 * counts them, if the kernel allows reading them; otherwise '-'. */
#include "bench/harness.h"

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

enum { MAX_SAMPLES = 101 };

/* ---- counters -------------------------------------------------------------------------------- */

struct counter {
    unsigned long long allocations, bytes; /* bytes requested, with the growth by a resize */
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

static double read_clock(clockid_t which) {
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double bench_now_ns(void) { return read_clock(CLOCK_MONOTONIC); }
double bench_cpu_ns(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

double bench_resident(void) {
    long all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

long long bench_live(const struct bench *b) { return ((const struct counter *)b->alloc.ctx)->live; }

int measure_perf_open(void) {
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

static void perf_start(int fd) {
#ifdef __linux__
    if (fd < 0) return;
    ioctl(fd, PERF_EVENT_IOC_RESET, 0);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
#else
    (void)fd;
#endif
}

/* The count since the start, or -1. */
static double perf_stop(int fd) {
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

double bench_median(double *samples, int n) {
    qsort(samples, (size_t)n, sizeof *samples, by_value);
    return samples[n / 2];
}

/* Doubles the count until n operations last so long; this also warms caches up. */
static unsigned long find_count(const struct bench_case *c, struct bench *b, double ms) {
    for (unsigned long n = 1;; n *= 2) {
        double start = bench_now_ns();
        c->run(b, n);
        if (bench_now_ns() - start >= ms * 1e6 || n > (1ul << 40)) return n;
    }
}

static void measure(const struct bench_case *c, struct bench *b, int perf, struct figures *f) {
    double samples[MAX_SAMPLES], cpu[MAX_SAMPLES], ops = (double)(c->ops ? c->ops : 1);
    const struct bench_options *o = b->options;
    struct counter *counter = b->alloc.ctx;
    unsigned long n = find_count(c, b, o->sample_ms);
    for (int i = 0; i < o->samples; i++) {
        double start = bench_now_ns(), busy = bench_cpu_ns();
        c->run(b, n);
        cpu[i] = (bench_cpu_ns() - busy) / ((double)n * ops);
        samples[i] = (bench_now_ns() - start) / ((double)n * ops);
    }
    f->median = bench_median(samples, o->samples);
    f->min = samples[0];
    f->max = samples[o->samples - 1];
    f->cpu = bench_median(cpu, o->samples);
    f->ops = (double)n * ops * o->samples;

    struct counter before =
        *counter; /* a separate pass, because reading a counter must not be timed */
    perf_start(perf);
    c->run(b, n);
    double instructions = perf_stop(perf);
    f->allocations = (double)(counter->allocations - before.allocations) / ((double)n * ops);
    f->bytes = (double)(counter->bytes - before.bytes) / ((double)n * ops);
    f->instructions = instructions < 0 ? -1 : instructions / ((double)n * ops);
}

/* ---- the line of the report ------------------------------------------------------------------ */

static void print_time(double ns) {
    if (ns >= 1e6)
        printf("%10.2f ms", ns / 1e6);
    else if (ns >= 1e3)
        printf("%10.2f us", ns / 1e3);
    else
        printf("%10.2f ns", ns);
}

static void print_figures(const struct bench_case *c, bool json, const struct figures *f) {
    if (json) {
        printf("{\"suite\":\"%s\",\"peer\":\"mwlvm\",\"case\":\"%s\",\"unit\":\"ns/op\","
               "\"median\":%.3f,\"min\":%.3f,\"max\":%.3f,\"cpu\":%.3f,\"n\":%.0f,"
               "\"allocs\":%.3f,\"bytes\":%.1f",
               c->suite, c->name, f->median, f->min, f->max, f->cpu, f->ops, f->allocations,
               f->bytes);
        if (f->instructions >= 0) printf(",\"instructions\":%.1f", f->instructions);
        printf("}\n");
    } else {
        char name[64];
        snprintf(name, sizeof name, "%s/%s", c->suite, c->name);
        printf("%-28s ", name);
        print_time(f->median);
        printf("  %5.1f%% ", (f->max - f->min) / f->median * 100);
        print_time(f->cpu);
        printf("  %9.2f  %11.1f  ", f->allocations, f->bytes);
        if (f->instructions >= 0)
            printf("%10.1f\n", f->instructions);
        else
            printf("%10s\n", "-");
    }
    fflush(stdout);
}

void measure_header(void) {
    printf("%-28s %13s  %6s %13s  %9s  %11s  %10s\n", "case", "median/op", "spread", "cpu/op",
           "allocs/op", "bytes/op", "instr/op");
}

void bench_report(struct bench *b, const char *part, const char *unit, double figure,
                  unsigned long n, const struct bench_extra *extra) {
    const struct bench_case *c = b->which;
    if (b->options->check || b->failed) return;
    if (b->options->json) {
        printf("{\"suite\":\"%s\",\"peer\":\"mwlvm\",\"case\":\"%s%s\",\"unit\":\"%s\","
               "\"median\":%.3f,\"min\":%.3f,\"max\":%.3f,\"n\":%lu",
               c->suite, c->name, part ? part : "", unit, figure, figure, figure, n);
        for (; extra && extra->name; extra++) printf(",\"%s\":%.3f", extra->name, extra->value);
        printf("}\n");
    } else {
        char name[64];
        snprintf(name, sizeof name, "%s/%s%s", c->suite, c->name, part ? part : "");
        printf("%-28s ", name);
        if (strncmp(unit, "ns", 2) == 0)
            print_time(figure);
        else
            printf("%10.1f %s", figure, unit);
        for (; extra && extra->name; extra++) printf("  %s %.4g", extra->name, extra->value);
        printf("\n");
    }
    fflush(stdout);
}

/* ---- doors ----------------------------------------------------------------------------------- */

/* Sets up, does `what`, tears down, and checks for memory that was not freed. */
static bool with_case(const struct bench_case *c, const struct bench_options *o,
                      void (*what)(const struct bench_case *, struct bench *, void *), void *arg) {
    struct counter counter = {0, 0, 0};
    struct bench b = {{counting, &counter}, NULL, false, c, o};
    if (c->setup) c->setup(&b);
    if (!b.failed) what(c, &b, arg);
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

static void do_measure(const struct bench_case *c, struct bench *b, void *arg) {
    struct figures f;
    if (c->report) {
        c->report(b);
        return;
    }
    if (b->options->check) {
        c->run(b, 2);
        return;
    }
    measure(c, b, *(int *)arg, &f);
    if (!b->failed) print_figures(c, b->options->json, &f);
}

bool measure_case(const struct bench_case *c, const struct bench_options *o, int perf) {
    return with_case(c, o, do_measure, &perf);
}

static void do_once(const struct bench_case *c, struct bench *b, void *arg) {
    if (c->report)
        c->report(b);
    else
        c->run(b, *(unsigned long *)arg);
}

bool measure_once(const struct bench_case *c, const struct bench_options *o, unsigned long n) {
    return with_case(c, o, do_once, &n);
}

struct perf_job {
    int fd;
    unsigned long n;
    double count;
};

static void do_perf(const struct bench_case *c, struct bench *b, void *arg) {
    struct perf_job *job = arg;
    c->run(b, 1);
    perf_start(job->fd);
    c->run(b, job->n);
    job->count = perf_stop(job->fd);
}

double measure_perf(const struct bench_case *c, const struct bench_options *o, int perf,
                    unsigned long n) {
    struct perf_job job = {perf, n, -1};
    return with_case(c, o, do_perf, &job) ? job.count : -1;
}

struct count_job {
    double ms;
    unsigned long n;
};

static void do_count(const struct bench_case *c, struct bench *b, void *arg) {
    struct count_job *job = arg;
    job->n = find_count(c, b, job->ms);
}

unsigned long measure_count(const struct bench_case *c, const struct bench_options *o, double ms) {
    struct count_job job = {ms, 0};
    return with_case(c, o, do_count, &job) ? job.n : 0;
}
