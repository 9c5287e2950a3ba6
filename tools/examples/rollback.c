/* rollback.c: rollback netcode: a hundred scripts, 60 frames a second, and a ring of snapshots.
 *
 *     rollback [SECONDS]
 *
 * Every frame each script is saved into the ring. Now and then an input turns out to have been
 * another one, some frames ago: the scripts go back to that frame and run forward again with the
 * right input. At the end the scripts are where a game that knew all inputs in time is. */
#define _POSIX_C_SOURCE 200809L /* clocks, also with -std=c11 */

#include "mwl_asm.h"
#include "mwl_std.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SCRIPTS = 100, RING = 8, FRAMES_A_SECOND = 60 };
#define FRAME_NS (INT64_C(1000000000) / FRAMES_A_SECOND)

/* Each script counts the frames in which the button was down, and takes a breath of some frames. */
static const char script[] =
    "{\"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\", \"entrypoint\": \"look\","
    " \"parameters\": {\"type\": \"object\", \"properties\": {\"hits\": {\"type\": \"number\","
    " \"default\": 0}}}, \"steps\": {"
    " \"look\": {\"action\": \"Pass\", \"assign\": {\"hits\": \"{{ vars.hits + game.button() }}\"},"
    "   \"next\": \"rest\"},"
    " \"rest\": {\"action\": \"Sleep\", \"for\": \"{{ frame.input.rest }}\", \"next\": \"decide\"},"
    " \"decide\": {\"action\": \"Match\", \"cases\": [{\"when\": \"{{ vars.hits < 1000000.0 }}\","
    "   \"next\": \"look\"}], \"default\": {\"next\": \"end\"}},"
    " \"end\": {\"action\": \"Return\"}}}";

typedef struct snapshot {
    void *bytes;
    size_t size;
} snapshot;

typedef struct world {
    mwl_vm *vm;
    mwl_program *program;
    mwl_run *scripts[SCRIPTS];
    snapshot ring[RING][SCRIPTS]; /* the scripts before a frame */
    int64_t frame;
    double button; /* in this frame */
    size_t saves, loads, bytes;
} world;

static world *playing; /* what game.button() reads */

static void read_clock(void *ctx, mwl_instant *out) {
    out->mono_ns = out->wall_ns = ((const world *)ctx)->frame * FRAME_NS;
}

static mwl_value button(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)fn, (void)args, (void)n_args;
    return mwl_number(playing->button);
}

static const mwl_function_def functions[] = {
    {"game.button", button, 0, 0, MWL_FN_GLOBAL | MWL_FN_IMPURE, "game.button() -> double"}};

/* The input of a frame. What the other player pressed is known `late` frames afterwards; until then
 * the game guesses that nothing was pressed. */
static double pressed(int64_t frame) { return frame % 7 == 3 || frame % 11 == 0 ? 1 : 0; }
static int64_t late(int64_t frame) { return frame % 5 == 0 ? 3 : 0; }

static bool open_world(world *w) {
    mwl_config config = mwl_config_default();
    config.clock = (mwl_clock){read_clock, w};
    config.seed = 1;
    if (mwl_vm_new(&config, &w->vm) < 0 || mwl_std_register(w->vm, NULL) < 0 ||
        mwl_vm_functions(w->vm, functions, 1) < 0)
        return false;
    for (int i = 0; i < SCRIPTS; i++) {
        char text[64], id[32];
        mwl_start how = {.id = id};
        mwl_error error = {MWL_OK, "", 0};
        snprintf(id, sizeof id, "script-%d", i);
        int n = snprintf(text, sizeof text, "{\"rest\": \"PT0.%03dS\"}", 17 + i % 50);
        if (mwl_json_parse(mwl_vm_heap(w->vm), text, (size_t)n, &how.input, NULL) < 0) return false;
        mwl_status status = mwl_run_start(w->vm, w->program, &how, &w->scripts[i], &error);
        mwl_value_drop(mwl_vm_heap(w->vm), how.input);
        if (status < 0) fprintf(stderr, "%s\n", error.message);
        if (status < 0) return false;
    }
    return true;
}

static bool save_frame(world *w) {
    snapshot *at = w->ring[w->frame % RING];
    for (int i = 0; i < SCRIPTS; i++) {
        mwl_bytes_free(w->vm, at[i].bytes, at[i].size);
        at[i].bytes = NULL;
        if (mwl_run_save(w->scripts[i], &at[i].bytes, &at[i].size, NULL) < 0) return false;
        w->saves++;
        w->bytes += at[i].size;
    }
    return true;
}

/* The clock may go back only while the VM has no runs. */
static bool go_back(world *w, int64_t frame) {
    snapshot *at = w->ring[frame % RING];
    for (int i = 0; i < SCRIPTS; i++) {
        mwl_run_free(w->scripts[i]);
        w->scripts[i] = NULL;
    }
    w->frame = frame;
    for (int i = 0; i < SCRIPTS; i++) {
        const mwl_load how = {.program = w->program};
        if (mwl_run_load(w->vm, at[i].bytes, at[i].size, &how, &w->scripts[i], NULL) < 0)
            return false;
        w->loads++;
    }
    return true;
}

static void run_frame(world *w, bool known) {
    w->button = known ? pressed(w->frame) : 0;
    playing = w;
    mwl_vm_pump(w->vm, MWL_NO_BUDGET);
    w->frame++;
}

/* Plays some frames; rolls: inputs come late, and frames are repeated. */
static bool play(world *w, int64_t frames, bool rolls) {
    bool good = open_world(w);
    while (good && w->frame < frames) {
        int64_t now = w->frame;
        if (rolls) good = save_frame(w);
        if (good) run_frame(w, !rolls || !late(now));
        for (int64_t past = now - RING + 1; rolls && good && past <= now; past++) {
            if (past < 0 || !late(past) || past + late(past) != now) continue;
            good = go_back(w, past); /* its input is known now: run it again */
            while (good && w->frame <= now) {
                good = save_frame(w);
                run_frame(w, w->frame == past || w->frame + late(w->frame) <= now);
            }
        }
    }
    return good;
}

/* The sum of all that the scripts have counted, from their snapshots: they never end. */
static void close_world(world *w, char *out, size_t size) {
    size_t at = 0;
    for (int i = 0; i < SCRIPTS; i++) {
        void *bytes = NULL;
        size_t n = 0;
        uint64_t sum = 0;
        if (mwl_run_save(w->scripts[i], &bytes, &n, NULL) == MWL_OK)
            for (size_t k = 64; k < n; k++) sum = sum * 31 + ((unsigned char *)bytes)[k];
        mwl_bytes_free(w->vm, bytes, n);
        at += (size_t)snprintf(out + at, size - at, "%llx ", (unsigned long long)sum);
        mwl_run_free(w->scripts[i]);
    }
    for (int f = 0; f < RING; f++)
        for (int i = 0; i < SCRIPTS; i++)
            mwl_bytes_free(w->vm, w->ring[f][i].bytes, w->ring[f][i].size);
    mwl_vm_free(w->vm);
}

static mwl_program *assemble(void) {
    const mwl_function_def *const known[] = {&functions[0], NULL};
    mwl_asm_options options;
    mwl_asm_result image;
    mwl_program *program = NULL;
    memset(&options, 0, sizeof options);
    options.functions = known;
    if (mwl_assemble(script, strlen(script), &options, &image) == MWL_OK)
        (void)mwl_program_load(NULL, image.image, image.image_size, MWL_COPY, &program, NULL);
    else
        fprintf(stderr, "%s", image.diagnostics);
    mwl_asm_free(&image);
    return program;
}

int main(int argc, char **argv) {
    static world straight, rolled;
    static char want[SCRIPTS * 20], have[SCRIPTS * 20];
    int64_t frames = (argc > 1 ? atoi(argv[1]) : 10) * FRAMES_A_SECOND - 1;
    straight.program = rolled.program = assemble();
    if (!straight.program) return 1;
    if (!play(&straight, frames, false)) return 1;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    if (!play(&rolled, frames, true)) return 1;
    clock_gettime(CLOCK_MONOTONIC, &to);
    double ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
    printf("%lld frames of %d scripts: %zu saves of %zu bytes, %zu loads, %.3f ms a frame\n",
           (long long)frames, SCRIPTS, rolled.saves, rolled.bytes / rolled.saves, rolled.loads,
           ms / (double)frames);
    close_world(&straight, want, sizeof want);
    close_world(&rolled, have, sizeof have);
    mwl_program_release(straight.program);
    if (strcmp(want, have) == 0) return 0;
    fprintf(stderr, "the scripts are not where they should be\n");
    return 1;
}
