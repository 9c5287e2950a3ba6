/* worker_pool.c: a million runs on N threads. Each thread has its own VM; they share one program.
 *
 *   worker_pool [RUNS [THREADS]] */
#define _POSIX_C_SOURCE 200809L /* clocks and threads, also with -std=c11 */

#include <mwl_asm.h>
#include <mwl_std.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_MAX = 64, AT_A_TIME = 64 };

static const char definition[] = "{\"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\", "
                                 "\"entrypoint\": \"order\", \"steps\": {"
                                 "  \"order\": {\"action\": \"Match\", \"cases\": ["
                                 "    {\"when\": \"{{ step.input.total > 100.0 }}\", \"next\": "
                                 "\"large\"}], \"default\": {\"next\": \"small\"}},"
                                 "  \"large\": {\"action\": \"Call\","
                                 "    \"call\": {\"provider\": \"mwl:provider.call/mwl/mock/v1\", "
                                 "\"with\": {\"value\": \"approved\"}},"
                                 "    \"output\": \"{{ step.result.value }}\", \"next\": \"done\"},"
                                 "  \"small\": {\"action\": \"Return\", \"value\": \"booked\"},"
                                 "  \"done\": {\"action\": \"Return\"}}}";

typedef struct pool {
    mwl_program *program;
    atomic_long left, good;
} pool;

/* Starts up to AT_A_TIME runs, pumps them to their end, and counts the successes. */
static int batch(mwl_vm *vm, pool *p, long n) {
    mwl_heap *h = mwl_vm_heap(vm);
    mwl_run *runs[AT_A_TIME];
    int good = 0;
    for (long i = 0; i < n; i++) {
        mwl_start start = {
            .input = mwl_object_set(h, mwl_object(h, 1), "total", 5, mwl_number((double)(i * 10)))};
        mwl_status st = mwl_run_start(vm, p->program, &start, &runs[i], NULL);
        mwl_value_drop(h, start.input);
        if (st < 0) runs[i] = NULL;
    }
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    for (long i = 0; i < n; i++) {
        good += runs[i] && mwl_run_succeeded(runs[i]);
        mwl_run_free(runs[i]);
    }
    return good;
}

static void *work(void *arg) {
    pool *p = arg;
    mwl_vm *vm = NULL;
    if (mwl_vm_new(NULL, &vm) == MWL_OK && mwl_std_add(vm, MWL_STD_ALL, NULL) == MWL_OK) {
        for (;;) {
            long before = atomic_fetch_sub(&p->left, AT_A_TIME);
            if (before <= 0) break;
            atomic_fetch_add(&p->good, batch(vm, p, before < AT_A_TIME ? before : AT_A_TIME));
        }
    }
    mwl_vm_free(vm);
    return NULL;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    long runs = argc > 1 ? atol(argv[1]) : 1000000;
    int n = argc > 2 ? atoi(argv[2]) : 4;
    if (n < 1 || n > THREADS_MAX) return 2;
    mwl_asm_result out;
    pool p;
    p.program = NULL;
    atomic_init(&p.left, runs);
    atomic_init(&p.good, 0);
    if (mwl_assemble(definition, sizeof definition - 1, NULL, &out) == MWL_OK)
        mwl_program_load(NULL, out.image, out.image_size, MWL_BORROW, &p.program, NULL);
    fputs(out.diagnostics, stderr);
    if (!p.program) return 1;
    double from = seconds();
    pthread_t threads[THREADS_MAX];
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, work, &p) != 0) return 1;
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    double took = seconds() - from;
    printf("%ld of %ld runs succeeded on %d threads: %.2f s, %.0f a second\n", atomic_load(&p.good),
           runs, n, took, (double)runs / took);
    mwl_program_release(p.program);
    mwl_asm_free(&out); /* last: the program borrowed the image */
    return atomic_load(&p.good) != runs;
}
