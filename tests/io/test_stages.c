/* test_stages.c: a run that is cancelled, aborted, freed or whose providers are closed at every
 * stage of a call: nothing is left in the loop, no process, no half-written file, no open
 * transaction.
 *
 * test_host.c does the same for http, with a server in its loop. */
#include "utest.h"

#include "mwl_asm.h"
#include "mwl_io.h"
#include "mwl_std.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#define CALL(name) "mwl:provider.call/mwlvm/" name "/v1"
enum { WHOLE = 200000 };

/* What is done, in the folder of the test. */
typedef struct kind {
    const char *name, *provider, *with;
} kind;

static const kind kinds[] = {
    {"exec", CALL("exec"),
     "{\"argv\":[\"sh\",\"-c\",\"cat; sleep 0.01; echo x\"],\"grace\":\"PT0S\"}"},
    {"exec, stubborn", CALL("exec"),
     "{\"argv\":[\"sh\",\"-c\",\"trap '' TERM; sleep 0.02 & wait; echo x\"],\"grace\":\"PT0.01S\"}"},
    {"file, write", CALL("file"), "{\"path\":\"whole\",\"action\":\"write\"}"},
    {"file, append", CALL("file"), "{\"path\":\"lines\",\"action\":\"append\"}"},
    {"file, read", CALL("file"), "{\"path\":\"input\"}"},
    {"file, watch", CALL("file"),
     "{\"path\":\"whole\",\"action\":\"watch\",\"interval\":\"PT0.01S\"}"},
    {"sqlite", CALL("sqlite"),
     "{\"file\":\"a.db\",\"statements\":[{\"sql\":\"CREATE TABLE IF NOT EXISTS t (a)\"},"
     "{\"sql\":\"INSERT INTO t VALUES (1)\"},{\"sql\":\"INSERT INTO t VALUES (2)\"}]}"},
    {"run", CALL("run"), "{\"path\":\"inner.json\"}"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static const char store[] =
    ",\"middleware\":[{\"provider\":\"mwl:provider.middleware/mwlvm/cache/v1\","
    "\"onEntry\":{\"with\":{\"key\":1,\"ttl\":\"PT0.005S\",\"file\":\"cache.db\"}}}]";

/* ---- the host -------------------------------------------------------------------------------- */

typedef struct host {
    uv_loop_t loop;
    mwl_vm *vm;
    mwl_io *io;
    mwl_program *program;
    mwl_run *run;
    mwl_value input;
} host;

static mwl_io_policy *policy;
static char *input; /* a text of WHOLE bytes */

static mwl_program *assemble(const kind *k, bool cached) {
    char text[1200];
    mwl_program *program = NULL;
    mwl_asm_result result;
    mwl_asm_options options = {.library = mwl_io_documents()};
    snprintf(
        text, sizeof text,
        "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\",\"steps\":{"
        "\"a\":{\"action\":\"Call\",\"call\":{\"provider\":\"%s\",\"with\":%s}%s,\"next\":\"b\"},"
        "\"b\":{\"action\":\"Return\"}}}",
        k->provider, k->with, cached ? store : "");
    if (mwl_assemble(text, strlen(text), &options, &result) == MWL_OK)
        mwl_program_load(NULL, result.image, result.image_size, MWL_COPY, &program, NULL);
    else
        fputs(result.diagnostics, stderr);
    mwl_asm_free(&result);
    return program;
}

static void no_log(void *ctx, mwl_io_level level, const char *line, size_t len) {
    (void)ctx, (void)level, (void)line, (void)len;
}

static bool host_open(host *h, const kind *k, bool cached) {
    memset(h, 0, sizeof *h);
    uv_loop_init(&h->loop);
    const mwl_io_options options = {.policy = policy, .log = no_log};
    h->program = assemble(k, cached);
    if (!h->program || mwl_vm_new(NULL, &h->vm) < 0 || mwl_std_register(h->vm, NULL) < 0 ||
        mwl_io_open(h->vm, &h->loop, &options, &h->io, NULL) < 0)
        return false;
    h->input = mwl_string(mwl_vm_heap(h->vm), input, WHOLE);
    const mwl_start start = {.input = h->input};
    return mwl_run_start(h->vm, h->program, &start, &h->run, NULL) == MWL_OK;
}

static bool is_over(const host *h) { return mwl_run_get_state(h->run) >= MWL_RUN_DONE; }

static void turn(host *h) {
    mwl_vm_pump(h->vm, MWL_NO_BUDGET);
    uv_run(&h->loop, UV_RUN_NOWAIT);
}

static void on_closed(void *ctx) { *(bool *)ctx = true; }

static void close_io(host *h) {
    bool closed = false;
    mwl_io_close(h->io, on_closed, &closed);
    h->io = NULL;
    while (!closed) uv_run(&h->loop, UV_RUN_ONCE);
}

/* Returns whether nothing is left in the loop. */
static bool host_close(host *h) {
    if (h->io && h->run && !is_over(h)) mwl_run_abort(h->run);
    if (h->io) close_io(h);
    mwl_run_free(h->run);
    mwl_value_drop(mwl_vm_heap(h->vm), h->input);
    mwl_vm_free(h->vm);
    mwl_program_release(h->program);
    return uv_run(&h->loop, UV_RUN_DEFAULT) == 0 && uv_loop_close(&h->loop) == 0;
}

/* ---- what is left ---------------------------------------------------------------------------- */

static off_t size_of(const char *name) {
    struct stat s;
    return stat(name, &s) == 0 ? s.st_size : -1;
}

/* Returns NULL, or what is left that must not be. */
static const char *left_behind(void) {
    DIR *d = opendir(".");
    bool temporary = false, journal = false;
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        temporary = temporary || (n > 4 && strcmp(e->d_name + n - 4, ".tmp") == 0);
        journal = journal || (n > 8 && strcmp(e->d_name + n - 8, "-journal") == 0);
    }
    if (d) closedir(d);
    off_t whole = size_of("whole"), lines = size_of("lines");
    if (temporary) return "a temporary file";
    if (journal) return "an open transaction";
    if (whole >= 0 && whole != WHOLE) return "a part of a file";
    if (lines > 0 && lines % WHOLE != 0) return "a part of what was appended";
    return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? NULL : "a process";
}

static void put(const char *name, const char *text, size_t len) {
    FILE *f = fopen(name, "w");
    if (!f || fwrite(text, 1, len, f) != len || fclose(f) != 0) abort();
}

/* ---- stopping -------------------------------------------------------------------------------- */

static void cancel(host *h) { mwl_run_cancel(h->run, "test"); }
static void abort_run(host *h) { mwl_run_abort(h->run); }
static void free_run(host *h) {
    mwl_run_free(h->run);
    h->run = NULL;
}

static void stop_at(int *utest_result, const kind *k, bool cached, int turns,
                    void (*stop)(host *h)) {
    host h;
    unlink("whole");
    ASSERT_TRUE(host_open(&h, k, cached));
    for (int i = 0; i < turns && !is_over(&h); i++) {
        turn(&h);
        if (i >= 2) uv_sleep(1);
    }
    stop(&h);
    for (uint64_t until = uv_hrtime() + 60000000000u;
         h.run && h.io && uv_hrtime() < until && !is_over(&h);)
        turn(&h);
    if (h.run && h.io) EXPECT_TRUE(is_over(&h));
    EXPECT_TRUE(host_close(&h));
    const char *left = left_behind();
    EXPECT_EQ_MSG(left != NULL, false, left ? left : k->name);
}

static void stop_everywhere(int *utest_result, void (*stop)(host *h)) {
    static const int stages[] = {0, 1, 2, 3, 5, 8, 14, 30};
    for (size_t i = 0; i < N_KINDS; i++)
        for (size_t s = 0; s < sizeof stages / sizeof *stages; s++)
            stop_at(utest_result, &kinds[i], false, stages[s], stop);
}

/* Providers are not closed while a run is inside a middleware: aborted runs have left it. */
static void stop_cached(int *utest_result, void (*stop)(host *h)) {
    static const int stages[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 40};
    for (size_t s = 0; s < sizeof stages / sizeof *stages; s++)
        stop_at(utest_result, &kinds[0], true, stages[s], stop);
}

/* Each kind succeeds if nothing stops it. */
static void let_end(int *utest_result, const kind *k, bool cached) {
    host h;
    put("whole", input, WHOLE); /* for watch */
    ASSERT_TRUE(host_open(&h, k, cached));
    for (uint64_t until = uv_hrtime() + 60000000000u; uv_hrtime() < until && !is_over(&h);)
        turn(&h);
    EXPECT_EQ_MSG(mwl_run_succeeded(h.run), true, k->name);
    EXPECT_TRUE(host_close(&h));
}

UTEST(stages, not_stopped) {
    for (size_t i = 0; i < N_KINDS; i++) let_end(utest_result, &kinds[i], false);
    let_end(utest_result, &kinds[0], true);
}

UTEST(stages, cancelled) { stop_everywhere(utest_result, cancel); }
UTEST(stages, aborted) { stop_everywhere(utest_result, abort_run); }
UTEST(stages, freed) { stop_everywhere(utest_result, free_run); }
UTEST(stages, closed) { stop_everywhere(utest_result, close_io); }
UTEST(stages, cancelled_in_a_cache) { stop_cached(utest_result, cancel); }
UTEST(stages, aborted_in_a_cache) { stop_cached(utest_result, abort_run); }
UTEST(stages, freed_in_a_cache) { stop_cached(utest_result, free_run); }

UTEST_STATE();

int main(int argc, const char *const argv[]) {
    static const char inner[] =
        "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\",\"steps\":{"
        "\"a\":{\"action\":\"Sleep\",\"for\":\"PT0.01S\",\"next\":\"b\"},\"b\":{\"action\":\"Return\"}}}";
    char folder[] = "/tmp/mwl-stages-XXXXXX", command[64];
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    signal(SIGPIPE, SIG_IGN);
    input = malloc(WHOLE);
    if (!input || mwl_io_policy_new(&policy) < 0) return 1;
    memset(input, 'x', WHOLE);
    put("input", input, WHOLE);
    put("inner.json", inner, sizeof inner - 1);
    mwl_io_policy_allow_all(policy);
    int failed = utest_main(argc, argv);
    mwl_io_policy_free(policy);
    free(input);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? failed : 1;
}
