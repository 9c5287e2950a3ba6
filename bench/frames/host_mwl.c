/* host_mwl.c: the scripts as runs of mwlvm, npc.json. The clock stands still during a frame. */
#include "bench/frames/game.h"

#include <mwl_asm.h>
#include <mwl_std.h>
#include <stdio.h>
#include <stdlib.h>

#define DOCUMENT(name, prefix, properties)                                                                 \
    "{\"$schema\": \"https://mwl.dev/v0.1/provider/schema.json\", \"uri\": \"mwl:provider.call/game/" name \
    "/v1\", \"codePrefix\": \"" prefix                                                                     \
    "\", \"description\": \"Of the game.\", \"parameters\": {\"type\": \"object\","                        \
    "\"additionalProperties\": false, \"required\": [\"actor\"], \"properties\": {" properties             \
    "}}, \"failureCatalog\": {\"closed\": [], \"open\": []}}"

static mwl_vm *vm;
static mwl_program *program;

const char host_name[] = "mwlvm";

static uint32_t actor_of(mwl_value arguments) {
    return (uint32_t)mwl_as_number(mwl_get(arguments, "actor"));
}

static int look(mwl_heap *heap, mwl_value input, mwl_value arguments, mwl_value *out, void *user) {
    (void)input;
    sight s = game_look(user, actor_of(arguments));
    *out = mwl_make_object(heap, "threat", mwl_number(s.threat), "x", mwl_number(s.x), "y",
                           mwl_number(s.y));
    return MWL_NOW_SUCCEEDED;
}

static void walk(mwl_call *call, void *user) {
    mwl_value with = mwl_call_arguments(call);
    game_walk(user, actor_of(with), mwl_as_number(mwl_get(with, "x")),
              mwl_as_number(mwl_get(with, "y")), call);
}

static void stop_walk(mwl_call *call, void *user) {
    game_stop(user, actor_of(mwl_call_arguments(call)));
    mwl_call_succeed(call, mwl_null());
}

void host_arrived(game *g, void *walk) {
    (void)g;
    mwl_call_succeed(walk, mwl_null());
}

static void read_clock(void *ctx, mwl_instant *out) {
    const game *g = ctx;
    out->mono_ns = (int64_t)g->frame * FRAME_NS;
    out->wall_ns = out->mono_ns + INT64_C(1767225600000000000);
}

static bool load(const char *folder) {
    char path[4096];
    static char text[65536];
    snprintf(path, sizeof path, "%s/npc.json", folder);
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof text, f) : 0;
    if (f) fclose(f);
    if (mwl_assemble_for(vm, text, n, NULL, &program) == MWL_OK) return true;
    fputs(mwl_vm_diagnostics(vm), stderr);
    return false;
}

bool host_open(game *g, const char *folder) {
    static const mwl_call_provider providers[] = {
        {.uri = "mwl:provider.call/game/look/v1",
         .document = DOCUMENT("look", "Look", "\"actor\": {\"type\": \"number\"}"),
         .now = look},
        {.uri = "mwl:provider.call/game/walk/v1",
         .document = DOCUMENT("walk", "Walk",
                              "\"actor\": {\"type\": \"number\"}, \"x\": {\"type\": \"number\"},"
                              "\"y\": {\"type\": \"number\"}"),
         .start = walk,
         .cancel = stop_walk}};
    mwl_config config = {.clock = {.read = read_clock, .ctx = g}};
    if (mwl_vm_new(&config, &vm) < 0 || mwl_std_register(vm, NULL) < 0 ||
        mwl_vm_provide(vm, providers, 2, g, NULL) < 0 || !load(folder))
        return false;
    mwl_heap *heap = mwl_vm_heap(vm);
    for (uint32_t i = 0; i < g->n_actors; i++) {
        char pause[32];
        mwl_run *run = NULL;
        snprintf(pause, sizeof pause, "PT%.3fS", game_pause_ms(i) / 1000.0);
        mwl_start start = {.arguments = mwl_make_object(heap, "actor", mwl_number(i), "pause",
                                                        mwl_text(heap, pause))};
        mwl_status status = mwl_run_start(vm, program, &start, &run, NULL);
        mwl_value_drop(heap, start.arguments);
        if (status < 0) return false;
    }
    return true;
}

bool host_frame(game *g) {
    (void)g;
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    return mwl_vm_next_done(vm) == NULL; /* no script ends */
}

void host_close(game *g) {
    (void)g;
    mwl_vm_free(vm);
    mwl_program_release(program);
}
