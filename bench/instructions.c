/* instructions.c: counts instructions per operation, and compares them with a baseline.
 *
 * Times on a shared machine differ by a third from run to run; instruction counts differ by a
 * fraction of a per cent, so changes are compared by them. A case is performed N and 3 N times. The
 * difference of the two counts is 2 N operations; setup, the check of the result and start-up
 * cancel out. The processor's counter is used if the kernel allows it, otherwise callgrind. N is
 * stored with the figure, so that amortised work is the same in a comparison. Only counts with the
 * same compiler and options can be compared. */
#include "bench/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Native time of the smaller count. callgrind takes fifty times as long; most of it is start-up and
 * setup. */
#define COUNT_MS 0.25
enum { TEXT_SIZE = 1 << 16 };

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif
#ifdef NDEBUG
#define ASSERTIONS "off"
#else
#define ASSERTIONS "on"
#endif

struct job {
    const struct counting *how;
    mwl_heap *heap;
    mwl_value stored, fresh; /* the files' documents; absent when there is none */
    int perf;
    unsigned slower, faster, counted, failed;
};

static double number_of(mwl_value object, const char *name) {
    mwl_value v = mwl_get(object, name);
    return mwl_value_kind(v) == MWL_KIND_NUMBER ? mwl_as_number(v) : -1;
}

static mwl_value text_value(struct job *j, const char *text) {
    return mwl_string(j->heap, text, strlen(text));
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Returns all instructions of a process that performs the case n times, or -1. */
static double by_callgrind(const char *name, unsigned long n) {
    char count[32], *text = malloc(TEXT_SIZE);
    const char *words[] = {"--once", name, count, NULL};
    double answer = -1;
    snprintf(count, sizeof count, "%lu", n);
    int status = text ? bench_spawn(words, true, text, TEXT_SIZE) : -1;
    const char *line = status == 0 ? strstr(text, "Collected : ") : NULL;
    if (line)
        answer = strtod(line + strlen("Collected : "), NULL);
    else if (status == 127)
        fprintf(stderr, "mwl-bench: no counter here, and no valgrind\n");
    else if (text)
        fprintf(stderr, "%s", text);
    free(text);
    return answer;
}

/* Returns the instructions per operation, or -1. *n is the smaller count; if it is 0, it is chosen
 * here. */
static double count_case(struct job *j, const struct bench_case *c, const char *name,
                         unsigned long *n) {
    double small, large, ops = (double)(c->ops ? c->ops : 1);
    if (*n == 0) *n = measure_count(c, j->how->options, COUNT_MS);
    if (*n == 0) return -1;
    if (j->perf >= 0) {
        small = measure_perf(c, j->how->options, j->perf, *n);
        large = measure_perf(c, j->how->options, j->perf, *n * 3);
    } else {
        small = by_callgrind(name, *n);
        large = small < 0 ? -1 : by_callgrind(name, *n * 3);
    }
    if (small < 0 || large < 0) return -1;
    return (large - small) / (2 * (double)*n * ops);
}

/* ---- the stored form: {"compiler", "counter", "date", "cases": {NAME: {"n", "instructions"}}}  */

static mwl_value read_stored(struct job *j, const char *path) {
    char *text = malloc(1 << 20);
    mwl_value v = mwl_absent();
    mwl_error error = {MWL_OK, "cannot be read", 0};
    FILE *f = fopen(path, "rb");
    size_t len = f && text ? fread(text, 1, 1 << 20, f) : 0;
    if (f) fclose(f);
    if (len == 0 || mwl_json_parse(j->heap, text, len, &v, &error) < 0 ||
        mwl_value_kind(mwl_get(v, "cases")) != MWL_KIND_OBJECT) {
        fprintf(stderr, "mwl-bench: %s: no stored counts: %s\n", path,
                mwl_is_absent(v) ? error.message : "no cases");
        mwl_value_drop(j->heap, v);
        v = mwl_absent();
    }
    free(text);
    return v;
}

static mwl_value new_document(struct job *j) {
    char date[16];
    time_t now = time(NULL);
    struct tm day;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &day));
    mwl_value v = mwl_object(j->heap, 5);
    v = mwl_object_set(j->heap, v, "compiler", 8, text_value(j, COMPILER));
    v = mwl_object_set(j->heap, v, "assertions", 10, text_value(j, ASSERTIONS));
    v = mwl_object_set(j->heap, v, "counter", 7,
                       text_value(j, j->perf >= 0 ? "processor" : "callgrind"));
    return mwl_object_set(j->heap, v, "date", 4, text_value(j, date));
}

static bool write_stored(struct job *j, mwl_value cases) {
    char *text = NULL;
    size_t len = 0;
    mwl_value v = mwl_object_set(j->heap, new_document(j), "cases", 5, mwl_value_keep(cases));
    bool done = mwl_json_write(j->heap, v, MWL_JSON_PRETTY, &text, &len) == MWL_OK;
    FILE *f = done ? fopen(j->how->write, "wb") : NULL;
    done = f && fwrite(text, 1, len, f) == len && fputc('\n', f) == '\n';
    if (f && fclose(f) != 0) done = false;
    if (text) mwl_text_free(j->heap, text, len);
    mwl_value_drop(j->heap, v);
    if (!done) fprintf(stderr, "mwl-bench: %s cannot be written\n", j->how->write);
    return done;
}

static void tell_difference(struct job *j, const char *what) {
    char here[256];
    const char *then = mwl_as_text(mwl_get(j->stored, what), NULL);
    mwl_value fresh = j->how->with ? mwl_value_keep(j->fresh) : new_document(j);
    const char *now = mwl_as_text(mwl_get(fresh, what), NULL);
    snprintf(here, sizeof here, "%s", now ? now : "?");
    mwl_value_drop(j->heap, fresh);
    if (then && strcmp(then, here) != 0)
        printf("note: %s was %s, is %s: the counts do not mean the same\n", what, then, here);
}

/* ---- one line each --------------------------------------------------------------------------- */

static void compare_line(struct job *j, const char *name, double was, double is) {
    double change = (is - was) / (was > 0 ? was : 1) * 100;
    const char *word = "";
    if (change > j->how->threshold) {
        word = "SLOWER";
        j->slower++;
    } else if (change < -j->how->threshold) {
        word = "faster";
        j->faster++;
    }
    printf("%-28s %14.1f %14.1f %+8.1f%%  %s\n", name, was, is, change, word);
    fflush(stdout);
}

/* Counts or looks up the case, prints its line, adds it to `take_cases` and returns that. */
static mwl_value do_case(struct job *j, const struct bench_case *c, mwl_value take_cases) {
    char name[128];
    snprintf(name, sizeof name, "%s/%s", c->suite, c->name);
    if (j->how->filter && !strstr(name, j->how->filter)) return take_cases;
    if (!c->run || c->report || (c->flags & (BENCH_LONG | BENCH_ALONE))) return take_cases;
    mwl_value then = mwl_get(mwl_get(j->stored, "cases"), name);
    double was = number_of(then, "instructions"), is;
    if (j->how->compare && was < 0) {
        printf("%-28s %14s\n", name, "not stored");
        return take_cases;
    }
    unsigned long n =
        was >= 0 && number_of(then, "n") >= 1 ? (unsigned long)number_of(then, "n") : 0;
    if (j->how->with)
        is = number_of(mwl_get(mwl_get(j->fresh, "cases"), name), "instructions");
    else
        is = count_case(j, c, name, &n);
    if (is < 0) {
        printf("%-28s %14s\n", name, "not counted");
        j->failed++;
        return take_cases;
    }
    j->counted++;
    if (j->how->compare)
        compare_line(j, name, was, is);
    else
        printf("%-28s %14.1f\n", name, is);
    fflush(stdout);
    mwl_value row = mwl_object_set(j->heap, mwl_object(j->heap, 2), "n", 1, mwl_number((double)n));
    double tenths = (double)(long long)(is * 10 + 0.5) / 10;
    row = mwl_object_set(j->heap, row, "instructions", 12, mwl_number(tenths));
    return mwl_object_set(j->heap, take_cases, name, strlen(name), row);
}

static int count_all(struct job *j) {
    const struct bench_case *c;
    if (j->how->compare) {
        printf("%-28s %14s %14s %9s\n", "case, instructions/op", "stored", "now", "change");
        tell_difference(j, "compiler");
        tell_difference(j, "assertions");
        tell_difference(j, "counter");
    } else {
        printf("%-28s %14s\n", "case", "instructions/op");
    }
    mwl_value cases = mwl_object(j->heap, 64);
    for (size_t i = 0; (c = bench_case_at(i)) != NULL; i++) cases = do_case(j, c, cases);
    bool written = !j->how->write || write_stored(j, cases);
    mwl_value_drop(j->heap, cases);
    if (j->how->compare)
        printf("%u slower, %u faster, of %u (threshold %g %%)\n", j->slower, j->faster, j->counted,
               j->how->threshold);
    if (j->counted == 0) fprintf(stderr, "mwl-bench: nothing was counted\n");
    return j->slower || j->failed || !written || j->counted == 0;
}

int instructions_main(const struct counting *how) {
    struct job j = {.how = how, .perf = -1};
    int answer = 1;
    j.stored = j.fresh = mwl_absent();
    if (mwl_heap_new(NULL, &j.heap) < 0) return 1;
    if (how->compare) j.stored = read_stored(&j, how->compare);
    if (how->with) j.fresh = read_stored(&j, how->with);
    if (!how->with) j.perf = measure_perf_open();
    bool ready =
        (!how->compare || !mwl_is_absent(j.stored)) && (!how->with || !mwl_is_absent(j.fresh));
    if (ready) answer = count_all(&j);
    if (j.perf >= 0) close(j.perf);
    mwl_value_drop(j.heap, j.fresh);
    mwl_value_drop(j.heap, j.stored);
    mwl_heap_free(j.heap);
    return answer;
}
