/* test_random_io.c: a host that starts, cancels, aborts and frees runs of the providers and the
 * middleware of this library at random moments, and closes them while calls are in progress. What
 * must hold: every handle of the loop is closed, and no memory of the VM is left. MWL_SOAK=1: many
 * rounds; MWL_SEED: one. */
#include "utest.h"

#include "mwl_io.h"
#include "mwl_std.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

/* Definitions are written with ' for ". */
#define FLOW(step)                                                                                 \
    "{'$schema':'https://mwl.dev/v0.1/flow/schema.json','entrypoint':'a','steps':{'a':{" step      \
    ",'catch':[{'match':{'codes':['*']},'next':'z'}],'next':'z'},'z':{'action':'Return'}}}"
#define CALL(name, with) "'provider':'mwl:provider.call/mwlvm/" name "/v1','with':" with
#define IN_TIME                                                                                    \
    "'middleware':[{'provider':'mwl:provider.middleware/mwl/timeout/v1','onEntry':{'with':{"       \
    "'duration':'PT0.001S'}}}]"
#define ONE(name, with) FLOW("'action':'Call','call':{" CALL(name, with) "}," IN_TIME)
#define EACH(name, with)                                                                           \
    FLOW("'action':'Gather','over':[1,2,3,4,5,6],'call':{" CALL(name, with) "}")
#define INSIDE(name, with)                                                                         \
    "{'$schema':'https://mwl.dev/v0.1/flow/schema.json','entrypoint':'a','flows':{'f':{"           \
    "'entrypoint':'b','steps':{'b':{'action':'Call','call':{'provider':"                           \
    "'mwl:provider.call/mwl/mock/v1','with':{'value':[1],'delay':'PT0.001S'}},'middleware':[{"     \
    "'provider':'mwl:provider.middleware/mwlvm/" name "/v1','onEntry':{'with':" with               \
    "}}],'next':'y'},'y':{'action':'Return'}}}},'steps':{'a':{'action':'Gather','over':"           \
    "[1,2,3,4,5,6],'call':{'flow':'f'},'catch':[{'match':{'codes':['*']},'next':'z'}],"            \
    "'next':'z'},'z':{'action':'Return'}}}"

static const char *const definitions[] = {
    ONE("env", "{'names':['PATH']}"),
    ONE("exec", "{'argv':['/bin/cat'],'stdin':'x'}"),
    ONE("exec", "{'argv':['/bin/sleep','9'],'grace':'PT0S'}"),
    EACH("exec", "{'argv':['/bin/true']}"),
    EACH("file", "{'action':'write','path':'a','value':[1,2]}"),
    ONE("file", "{'action':'watch','path':'never'}"),
    EACH("hash", "{'value':[1],'key':'k'}"),
    EACH("http", "{'url':'http://127.0.0.1:1/','method':'POST','body':[1]}"),
    EACH("log", "{'message':'m','fields':{'a':1}}"),
    EACH("random", "{}"),
    EACH("sqlite", "{'file':'d','statements':[{'sql':'create table if not exists t(a)'},"
                   "{'sql':'insert into t values(?)','params':[{'a':1}]}]}"),
    ONE("sqlite", "{'file':'d','sql':'with recursive n(i) as (select 1 union all select i+1 from "
                  "n) select count(*) from n'}"),
    EACH("template", "{'text':'<a>','delimiters':['<','>'],'values':{'a':[1]}}"),
    EACH("uuid", "{'version':7}"),
    INSIDE("cache", "{'key':[1],'ttl':'PT1S'}"),
    INSIDE("cache", "{'key':[2],'ttl':'PT1S','file':'c'}"),
    INSIDE("circuit-breaker", "{'key':'k','failures':1}"),
    INSIDE("concurrency", "{'key':'k','limit':1}"),
    INSIDE("log", "{'message':'m'}"),
    INSIDE("rate-limit", "{'key':'k','rate':1000}"),
    INSIDE("redact", "{'paths':['*','a.b']}"),
};
enum { PROGRAMS = sizeof definitions / sizeof *definitions, RUNS = 6, DEEDS = 60 };
static mwl_program *programs[PROGRAMS];
static atomic_size_t in_use; /* purses are used by pool threads, too */

static void *count_bytes(void *ctx, void *p, size_t old_size, size_t new_size) {
    (void)ctx;
    void *out = NULL;
    if (new_size)
        out = realloc(p, new_size);
    else
        free(p);
    if (out || !new_size) atomic_fetch_add(&in_use, new_size - (p ? old_size : 0));
    return out;
}

static void no_log(void *ctx, mwl_io_level level, const char *line, size_t len) {
    (void)ctx, (void)level, (void)line, (void)len;
}

static uint32_t next(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

static void assemble_all(void) {
    for (size_t i = 0; i < PROGRAMS; i++) {
        char text[2000];
        mwl_asm_result result;
        const mwl_asm_options options = {.library = mwl_io_documents()};
        snprintf(text, sizeof text, "%s", definitions[i]);
        for (char *p = text; *p; p++)
            if (*p == '\'') *p = '"';
        if (mwl_assemble(text, strlen(text), &options, &result) != MWL_OK) {
            fprintf(stderr, "%s\n%s\n", text, result.diagnostics);
            abort();
        }
        mwl_program_load(NULL, result.image, result.image_size, MWL_COPY, &programs[i], NULL);
        mwl_asm_free(&result);
    }
}

static void deed(mwl_vm *vm, uv_loop_t *loop, mwl_run **runs, uint64_t *seed) {
    mwl_run **run = &runs[next(seed) % RUNS];
    const mwl_limits limits = {.fuel = 200000, .memory_bytes = 8 << 20};
    const mwl_start start = {.limits = &limits};
    switch (next(seed) % 8) {
    case 0:
    case 1:
        if (!*run) mwl_run_start(vm, programs[next(seed) % PROGRAMS], &start, run, NULL);
        break;
    case 2:
        if (*run) mwl_run_cancel(*run, "asked");
        break;
    case 3:
        if (*run && next(seed) % 2) mwl_run_abort(*run);
        break;
    case 4:
        if (*run) mwl_run_free(*run);
        *run = NULL;
        break;
    case 5: usleep(next(seed) % 1000); break;
    default: mwl_vm_pump(vm, MWL_NO_BUDGET); uv_run(loop, UV_RUN_NOWAIT);
    }
}

static void note(void *closed) { *(bool *)closed = true; }

/* Returns false if a handle or memory is left. */
static bool round_of(uint64_t seed, const mwl_io_policy *policy) {
    uv_loop_t loop;
    mwl_vm *vm;
    mwl_io *io;
    mwl_run *runs[RUNS] = {NULL};
    mwl_config config = mwl_config_default();
    config.alloc = (mwl_alloc){count_bytes, NULL};
    const mwl_io_options options = {.policy = policy, .log = no_log, .table_bytes = 1 << 20};
    in_use = 0;
    uv_loop_init(&loop);
    if (mwl_vm_new(&config, &vm) != MWL_OK || mwl_std_add(vm, MWL_STD_ALL, NULL) != MWL_OK ||
        mwl_io_open(vm, &loop, &options, &io, NULL) != MWL_OK)
        abort();
    for (int i = 0; i < DEEDS; i++) deed(vm, &loop, runs, &seed);
    for (int i = 0; i < RUNS; i++)
        if (runs[i]) mwl_run_abort(runs[i]);
    bool closed = false;
    mwl_io_close(io, note, &closed);
    while (!closed) uv_run(&loop, UV_RUN_ONCE);
    for (int i = 0; i < RUNS; i++) mwl_run_free(runs[i]);
    mwl_vm_free(vm);
    const int busy = uv_loop_close(&loop);
    if (busy || in_use) fprintf(stderr, "loop %d, %zu bytes\n", busy, (size_t)in_use);
    return !busy && !in_use;
}

UTEST(random_io, a_host_may_end_runs_and_close_at_any_moment) {
    const char *one = getenv("MWL_SEED");
    const uint64_t rounds = one ? 1 : getenv("MWL_SOAK") ? 20000 : 150;
    mwl_io_policy *policy;
    char folder[] = "/tmp/test_random_ioXXXXXX", rest[64];
    ASSERT_TRUE(mkdtemp(folder) && chdir(folder) == 0 && mwl_io_policy_new(&policy) == MWL_OK);
    mwl_io_policy_allow_all(policy);
    assemble_all();
    for (uint64_t i = 0; i < rounds; i++) {
        const uint64_t seed = one ? strtoull(one, NULL, 10) : i;
        const bool good = round_of(seed, policy);
        if (!good) fprintf(stderr, "MWL_SEED=%llu\n", (unsigned long long)seed);
        ASSERT_TRUE(good);
    }
    printf("%llu rounds\n", (unsigned long long)rounds);
    for (size_t i = 0; i < PROGRAMS; i++) mwl_program_release(programs[i]);
    mwl_io_policy_free(policy);
    snprintf(rest, sizeof rest, "rm -rf %s", folder);
    ASSERT_EQ(system(rest), 0);
}

UTEST_MAIN()
