/* main.c: `mwl-bench [OPTION...] [FILTER]`: the table of cases and the command line. measure.c
 * measures, instructions.c counts and compares. */
#include "bench/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BENCH_X(area) extern const struct bench_case bench_##area##_cases[] __attribute__((weak));
BENCH_AREAS(BENCH_X)
#undef BENCH_X

static const struct bench_case *const areas[] = {
#define BENCH_X(area) bench_##area##_cases,
    BENCH_AREAS(BENCH_X)
#undef BENCH_X
};
enum { N_AREAS = sizeof areas / sizeof *areas, MAX_SAMPLES = 101 };

const struct bench_case *bench_case_at(size_t i) {
    for (size_t a = 0; a < N_AREAS; a++)
        for (const struct bench_case *c = areas[a]; c && c->name; c++)
            if (i-- == 0) return c;
    return NULL;
}

struct options {
    struct bench_options bench;
    struct counting counting;
    bool list, instructions;
    const char *filter, *once, *alone;
    unsigned long once_n;
};

static int print_help(FILE *to) {
    fprintf(
        to,
        "usage: mwl-bench [--json] [--samples N] [--ms N] [--count N] [FILTER]\n"
        "       mwl-bench --check [FILTER]\n"
        "       mwl-bench --instructions [--write FILE] [FILTER]\n"
        "       mwl-bench --compare FILE [--with FILE] [--threshold PERCENT] [FILTER]\n"
        "       mwl-bench --list [FILTER]\n"
        "       mwl-bench --once SUITE/CASE N\n\n"
        "Measures the cases whose SUITE/CASE contains FILTER. A case's answer is checked first.\n\n"
        "  --json          a JSON line per case instead of a table\n"
        "  --list          name the cases\n"
        "  --check         perform each case once, check its answer, measure nothing\n"
        "  --samples N     samples per case, 5 to %d (7)\n"
        "  --ms N          least milliseconds per sample (45)\n"
        "  --count N       runs in cases that hold many at once (100,000; 1,000,000)\n"
        "  --instructions  instructions per operation, by the processor's counter or callgrind\n"
        "  --write FILE    store what was counted\n"
        "  --compare FILE  count again what FILE holds; status 1 when something got slower\n"
        "  --with FILE     compare that file instead of counting\n"
        "  --threshold P   percent that count as a difference (1)\n"
        "  --once          perform one case N times and report nothing: for callgrind, perf\n",
        MAX_SAMPLES);
    return to == stderr ? 2 : 0;
}

/* Handles an option without a value. Returns false if it is not one. */
static bool read_switch(const char *word, struct options *o) {
    if (strcmp(word, "--json") == 0)
        o->bench.json = true;
    else if (strcmp(word, "--list") == 0)
        o->list = true;
    else if (strcmp(word, "--check") == 0)
        o->bench.check = true;
    else if (strcmp(word, "--instructions") == 0)
        o->instructions = true;
    else
        return false;
    return true;
}

/* The same for an option with a value. */
static bool read_valued(const char *word, const char *value, struct options *o) {
    if (strcmp(word, "--samples") == 0) {
        o->bench.samples = atoi(value);
        if (o->bench.samples < 5) o->bench.samples = 5;
        if (o->bench.samples > MAX_SAMPLES) o->bench.samples = MAX_SAMPLES;
    } else if (strcmp(word, "--ms") == 0) {
        o->bench.sample_ms = atof(value);
    } else if (strcmp(word, "--count") == 0) {
        o->bench.count = strtoul(value, NULL, 10);
    } else if (strcmp(word, "--write") == 0) {
        o->counting.write = value;
        o->instructions = true;
    } else if (strcmp(word, "--compare") == 0) {
        o->counting.compare = value;
        o->instructions = true;
    } else if (strcmp(word, "--with") == 0) {
        o->counting.with = value;
    } else if (strcmp(word, "--threshold") == 0) {
        o->counting.threshold = atof(value);
    } else if (strcmp(word, "--alone") ==
               0) { /* the arguments for a case that runs in its own process */
        o->alone = value;
    } else {
        return false;
    }
    return true;
}

/* Returns 0 to continue, otherwise the exit status plus one. */
static int read_options(int argc, char **argv, struct options *o) {
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return print_help(stdout) + 1;
        if (read_switch(word, o)) continue;
        if (i + 1 < argc && read_valued(word, argv[i + 1], o)) {
            i++;
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

/* The growth of resident memory depends on earlier work, so such a case gets a new process. */
static bool run_alone(const char *name, const struct options *o) {
    char count[32];
    const char *words[8];
    int n = 0;
    snprintf(count, sizeof count, "%lu", o->bench.count);
    if (o->bench.json) words[n++] = "--json";
    if (o->bench.check) words[n++] = "--check";
    words[n++] = "--count";
    words[n++] = count;
    words[n++] = "--alone";
    words[n++] = name;
    words[n] = NULL;
    return bench_spawn(words, false, NULL, 0) == 0;
}

static bool wanted(const char *name, const struct options *o) {
    const char *exactly = o->once ? o->once : o->alone;
    return exactly ? strcmp(name, exactly) == 0 : !o->filter || strstr(name, o->filter);
}

int main(int argc, char **argv) {
    struct options o = {.bench = {.samples = 7, .sample_ms = 45}, .counting = {.threshold = 1}};
    int end = read_options(argc, argv, &o), matched = 0;
    bool wrong = false;
    if (end) return end - 1;
    if (o.instructions) {
        o.counting.options = &o.bench;
        o.counting.filter = o.filter;
        return instructions_main(&o.counting);
    }
    bool table = !o.bench.json && !o.list && !o.once && !o.bench.check && !o.alone;
    int perf = o.list || o.once || o.bench.check ? -1 : measure_perf_open();
    if (table) measure_header();
    const struct bench_case *c;
    for (size_t i = 0; (c = bench_case_at(i)) != NULL; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s/%s", c->suite, c->name);
        if (!wanted(name, &o)) continue;
        matched++;
        if (o.list)
            printf("%s\n", name);
        else if (o.once)
            wrong |= !measure_once(c, &o.bench, o.once_n);
        else if ((c->flags & BENCH_ALONE) && !o.alone)
            wrong |= !run_alone(name, &o);
        else
            wrong |= !measure_case(c, &o.bench, perf);
    }
    if (perf >= 0) close(perf);
    if (!matched) fprintf(stderr, "mwl-bench: no such case\n");
    if (o.bench.check && !o.alone && matched && !wrong)
        printf("%d cases, every answer right\n", matched);
    return wrong || !matched;
}
