/* game_loop.c: a game at 60 frames a second with hundreds of scripted actors and a time budget.
 *
 * Every actor is a run. It sleeps, then asks the game for a path and gets it a few frames later. If
 * that takes too long, a Timeout makes it wander instead. At any moment almost all actors are
 * parked. The game has its own clock. It jumps from frame to frame, so that the example ends sooner
 * than the time that it simulates. Inside a frame it advances with real time, so that the budget is
 * real time.
 *
 *   game_loop [ACTORS [FRAMES]] */
#define _POSIX_C_SOURCE 200809L /* clocks and threads, also with -std=c11 */

#include <mwl_asm.h>
#include <mwl_std.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FRAME_NS INT64_C(16666667)
#define BUDGET_NS INT64_C(1000000)

static const char path_document[] = "{\"$schema\": \"https://mwl.dev/v0.1/provider/schema.json\", "
                                    "\"uri\": \"mwl:provider.call/acme/path/v1\","
                                    " \"codePrefix\": \"Path\", \"description\": \"Finds a way on "
                                    "the map.\", \"parameters\": {\"type\": \"object\"},"
                                    " \"failureCatalog\": {\"closed\": [], \"open\": []}}";

static const char actor_script[] =
    "{\"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\", \"entrypoint\": \"nap\", \"steps\": {"
    "  \"nap\": {\"action\": \"Sleep\", \"for\": \"{{ 'PT' + string(step.input.nap) + 'S' }}\","
    "          \"next\": \"look\"},"
    "  \"look\": {\"action\": \"Call\","
    "    \"middleware\": [{\"provider\": \"mwl:provider.middleware/mwl/timeout/v1\","
    "                    \"onEntry\": {\"with\": {\"duration\": \"PT0.2S\"}}}],"
    "    \"call\": {\"provider\": \"mwl:provider.call/acme/path/v1\"},"
    "    \"output\": \"{{ 'walked ' + string(step.result.value) }}\", \"next\": \"done\","
    "    \"catch\": [{\"match\": {\"types\": [\"timeout\"]}, \"next\": \"wander\"}]},"
    "  \"wander\": {\"action\": \"Sleep\", \"for\": \"PT1S\", \"next\": \"done\"},"
    "  \"done\": {\"action\": \"Return\"}}}";

typedef struct game {
    int64_t frame_ns; /* the game's time when the frame began */
    double frame_ms;  /* the real time then */
    uint64_t rng;
    long paths_found, paths_refused;
} game;

static double real_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double processor_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void read_game_clock(void *ctx, mwl_instant *out) {
    const game *g = ctx;
    int64_t inside = (int64_t)((real_ms() - g->frame_ms) * 1e6);
    out->mono_ns =
        g->frame_ns + (inside < FRAME_NS ? inside : FRAME_NS - 1); /* it must never go back */
    out->wall_ns = out->mono_ns + INT64_C(1767225600000000000);
}

static uint32_t dice(game *g, uint32_t sides) {
    g->rng = g->rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(g->rng >> 33) % sides;
}

/* A path takes one to twenty frames: then the machine calls path_ready. */
static void path_start(mwl_call *call, void *user) {
    mwl_call_wake_after(call, (1 + dice(user, 20)) * FRAME_NS);
}

static void path_ready(mwl_call *call, void *user) {
    game *g = user;
    g->paths_found++;
    mwl_call_succeed(call, mwl_number(1 + dice(g, 40)));
}

static void path_cancel(mwl_call *call, void *user) { /* the Timeout of the actor fired first */
    ((game *)user)->paths_refused++;
    mwl_call_succeed(call, mwl_null());
}

static mwl_program *load_script(void) {
    mwl_asm_provider path = {"path.json", path_document, sizeof path_document - 1};
    mwl_asm_options options = {.providers = &path, .n_providers = 1};
    mwl_asm_result out;
    mwl_program *program = NULL;
    if (mwl_assemble(actor_script, sizeof actor_script - 1, &options, &out) == MWL_OK)
        mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &program, NULL);
    fputs(out.diagnostics, stderr);
    mwl_asm_free(&out);
    return program;
}

static mwl_run *spawn(mwl_vm *vm, mwl_program *program, int id) {
    mwl_heap *h = mwl_vm_heap(vm);
    mwl_run *run = NULL;
    mwl_start start = {.input =
                           mwl_object_set(h, mwl_object(h, 1), "nap", 3, mwl_number(1 + id % 7))};
    mwl_run_start(vm, program, &start, &run, NULL);
    mwl_value_drop(h, start.input);
    return run;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 500, frames = argc > 2 ? atoi(argv[2]) : 1200;
    game g = {0, real_ms(), 42, 0, 0};
    mwl_config config = mwl_config_default();
    config.clock.read = read_game_clock;
    config.clock.ctx = &g;
    static const mwl_call_provider path = {.uri = "mwl:provider.call/acme/path/v1",
                                           .document = path_document,
                                           .start = path_start,
                                           .wake = path_ready,
                                           .cancel = path_cancel};
    mwl_vm *vm = NULL;
    mwl_program *program = load_script();
    mwl_run **actors = calloc((size_t)n, sizeof(mwl_run *));
    if (!program || !actors || mwl_vm_new(&config, &vm) < 0 || mwl_std_register(vm, NULL) < 0 ||
        mwl_vm_provide(vm, &path, 1, &g, NULL) < 0)
        return 1;
    long finished = 0, failed = 0;
    double worst = 0, busiest = 0, all = 0;
    long over = 0;
    for (int frame = 0; frame < frames; frame++, g.frame_ns += FRAME_NS) {
        double busy = processor_ms();
        g.frame_ms = real_ms();
        for (int i = 0; i < n; i++)
            if (!actors[i])
                actors[i] = spawn(vm, program, i); /* an actor that is done gets a new script */
        over += mwl_vm_pump(vm, BUDGET_NS) == 0;   /* 0: work is left for the next frame */
        for (int i = 0; i < n; i++) {
            if (!actors[i] || mwl_run_get_state(actors[i]) < MWL_RUN_DONE) continue;
            finished++;
            failed += !mwl_run_succeeded(actors[i]);
            mwl_run_free(actors[i]);
            actors[i] = NULL;
        }
        double took = real_ms() - g.frame_ms;
        all += took;
        if (took > worst) worst = took;
        if (processor_ms() - busy > busiest) busiest = processor_ms() - busy;
    }
    printf("%d actors, %d frames: %ld scripts done, %ld paths walked, %ld given up\n", n, frames,
           finished, g.paths_found, g.paths_refused);
    printf("worst frame %.3f ms (%.3f ms of processor time), mean %.4f ms; the budget of %.0f ms "
           "ran out %ld times\n",
           worst, busiest, all / frames, (double)BUDGET_NS / 1e6, over);
    for (int i = 0; i < n; i++) mwl_run_free(actors[i]);
    free(actors);
    mwl_program_release(program);
    mwl_vm_free(vm);
    return failed != 0 || finished == 0;
}
