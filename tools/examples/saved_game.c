/* saved_game.c: a game that saves: twenty quest scripts in the middle of dialogues and timers are
 * written to one save file, the game ends, and another VM continues them, as another process would:
 * nothing but the file and the program is handed on.
 *
 *     saved_game [FILE]
 *
 * A script says a line and waits for the player's answer, rests for some hours of game time, and
 * says another one. Game time is a counter that the game moves: it stands still while the game is
 * saved. The program plays once without saving and once with, and compares the Results. */
#include "mwl_asm.h"
#include "mwl_std.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPTS = 20, HOUR = 3600 };
#define S INT64_C(1000000000)
#define SAY_URI "mwl:provider.call/game/say/v1"

static const char say_document[] =
    "{\"$schema\": \"https://mwl.dev/v0.1/provider/schema.json\", \"uri\": \"" SAY_URI "\","
    " \"codePrefix\": \"Say\", \"description\": \"Shows a line and waits for the answer.\","
    " \"parameters\": {\"type\": \"object\", \"properties\": {\"line\": {\"type\": \"string\"}},"
    " \"required\": [\"line\"]}, \"failureCatalog\": {\"closed\": [], \"open\": []}}";

static const char quest[] =
    "{\"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\", \"entrypoint\": \"greet\","
    " \"parameters\": {\"type\": \"object\", \"properties\": {\"answers\":"
    " {\"type\": \"array\", \"default\": []}}},"
    " \"steps\": {"
    " \"greet\": {\"action\": \"Call\", \"call\": {\"provider\": \"" SAY_URI "\","
    "   \"with\": {\"line\": \"{{ 'Will you help ' + frame.input.name + '?' }}\"}},"
    "   \"assign\": {\"answers\": \"{{ vars.answers + [step.result.value] }}\"}, \"next\": \"rest\"},"
    " \"rest\": {\"action\": \"Sleep\", \"for\": \"{{ frame.input.rest }}\", \"next\": \"thank\"},"
    " \"thank\": {\"action\": \"Call\", \"call\": {\"provider\": \"" SAY_URI "\","
    "   \"with\": {\"line\": \"Did you find it?\"}},"
    "   \"assign\": {\"answers\": \"{{ vars.answers + [step.result.value] }}\"}, \"next\": \"end\"},"
    " \"end\": {\"action\": \"Return\", \"value\": \"{{ vars.answers }}\"}}}";

typedef struct game {
    mwl_vm *vm;
    mwl_program *quest;
    mwl_run *scripts[SCRIPTS];
    int64_t now_s;     /* game time, seconds */
    unsigned lines;    /* shown */
    unsigned repeated; /* of these, shown again because the game was loaded */
} game;

static void game_clock(void *ctx, mwl_instant *out) {
    out->mono_ns = out->wall_ns = ((const game *)ctx)->now_s * S;
}

/* Shows the line. The answer comes from the player, by the number of the call (mwl_run_answer).
 * After loading a game the line is shown again: `start` is all that is needed. */
static void say(mwl_call *call, void *user) {
    game *g = user;
    g->lines++;
    if (mwl_call_attempt(call) > 1) g->repeated++;
}

static const mwl_call_provider say_provider = {
    .uri = SAY_URI, .document = say_document, .start = say};

static bool open_game(game *g) {
    mwl_config config = mwl_config_default();
    mwl_error error = {MWL_OK, "", 0};
    config.clock = (mwl_clock){game_clock, g};
    config.seed = 1;
    if (mwl_vm_new(&config, &g->vm) < 0) return false;
    if (mwl_std_register(g->vm, &error) == MWL_OK &&
        mwl_vm_provide(g->vm, &say_provider, 1, g, &error) == MWL_OK)
        return true;
    fprintf(stderr, "%s\n", error.message);
    return false;
}

static void close_game(game *g) {
    for (int i = 0; i < SCRIPTS; i++) mwl_run_free(g->scripts[i]);
    mwl_vm_free(g->vm);
    memset(g->scripts, 0, sizeof g->scripts);
    g->vm = NULL;
}

static bool start_scripts(game *g) {
    for (int i = 0; i < SCRIPTS; i++) {
        char id[32], text[96];
        mwl_start how = {.id = id};
        mwl_error error = {MWL_OK, "", 0};
        snprintf(id, sizeof id, "quest-%02d", i);
        int n = snprintf(text, sizeof text, "{\"name\": \"villager %d\", \"rest\": \"PT%dH\"}", i,
                         1 + i % 7);
        if (mwl_json_parse(mwl_vm_heap(g->vm), text, (size_t)n, &how.input, NULL) < 0) return false;
        mwl_status status = mwl_run_start(g->vm, g->quest, &how, &g->scripts[i], &error);
        mwl_value_drop(mwl_vm_heap(g->vm), how.input);
        if (status < 0) fprintf(stderr, "%s\n", error.message);
        if (status < 0) return false;
    }
    return true;
}

/* The player answers the open lines of some scripts, and an hour passes. */
static void play_hour(game *g, int hour) {
    mwl_wait line;
    mwl_vm_pump(g->vm, MWL_NO_BUDGET);
    for (int i = 0; i < SCRIPTS; i++)
        if ((i + hour) % 3 == 0 && mwl_run_waits(g->scripts[i], 0, &line))
            (void)mwl_run_answer(g->scripts[i], line.number, true,
                                 mwl_number((double)(i * 100 + hour)));
    mwl_vm_pump(g->vm, MWL_NO_BUDGET);
    g->now_s += HOUR;
}

/* A save file: of each script its length and its bytes. A real game adds its own world. */
static bool save_game(game *g, const char *path) {
    FILE *file = fopen(path, "wb");
    bool good = file != NULL;
    size_t total = 0;
    for (int i = 0; i < SCRIPTS && good; i++) {
        void *bytes = NULL;
        size_t size = 0;
        good = mwl_run_save(g->scripts[i], &bytes, &size, NULL) == MWL_OK &&
               fwrite(&size, sizeof size, 1, file) == 1 && fwrite(bytes, size, 1, file) == 1;
        mwl_bytes_free(g->vm, bytes, size);
        total += size;
    }
    if (file && fclose(file) != 0) good = false;
    if (good) printf("saved %d scripts, %zu bytes each on average\n", SCRIPTS, total / SCRIPTS);
    return good;
}

static bool load_game(game *g, const char *path) {
    FILE *file = fopen(path, "rb");
    bool good = file != NULL;
    for (int i = 0; i < SCRIPTS && good; i++) {
        static char bytes[65536];
        size_t size = 0;
        mwl_error error = {MWL_OK, "", 0};
        const mwl_load how = {.program = g->quest, .flags = MWL_LOAD_TIME_STOOD};
        good = fread(&size, sizeof size, 1, file) == 1 && size <= sizeof bytes &&
               fread(bytes, size, 1, file) == 1 &&
               mwl_run_load(g->vm, bytes, size, &how, &g->scripts[i], &error) == MWL_OK;
        if (!good) fprintf(stderr, "script %d: %s\n", i, error.message);
    }
    if (file) fclose(file);
    return good;
}

static void print_results(game *g, char *out, size_t size) {
    size_t at = 0;
    for (int i = 0; i < SCRIPTS && at < size; i++) {
        char *text = NULL;
        size_t len = 0;
        mwl_value v = mwl_run_value(g->scripts[i]);
        if (mwl_json_write(mwl_vm_heap(g->vm), v, MWL_JSON_COMPACT, &text, &len) != MWL_OK)
            continue;
        at += (size_t)snprintf(out + at, size - at, "%s %s\n", mwl_run_id(g->scripts[i]), text);
        mwl_text_free(mwl_vm_heap(g->vm), text, len);
    }
}

/* Plays 24 hours; with a path, saves and loads after the sixth. */
static bool play(game *g, const char *path, char *results, size_t size) {
    bool good = open_game(g) && start_scripts(g);
    for (int hour = 0; hour < 24 && good; hour++) {
        play_hour(g, hour);
        if (!path || hour != 6) continue;
        good = save_game(g, path);
        close_game(g);       /* the process could end here */
        g->now_s += 1000000; /* whatever the clock shows afterwards */
        good = good && open_game(g) && load_game(g, path);
    }
    if (good) print_results(g, results, size);
    if (g->vm) close_game(g);
    return good;
}

int main(int argc, char **argv) {
    static char straight[4096], saved[4096];
    const char *path = argc > 1 ? argv[1] : "saved_game.save";
    game g;
    memset(&g, 0, sizeof g);
    mwl_asm_provider document = {SAY_URI, say_document, strlen(say_document)};
    mwl_asm_options options;
    memset(&options, 0, sizeof options);
    options.providers = &document;
    options.n_providers = 1;
    mwl_asm_result image;
    if (mwl_assemble(quest, strlen(quest), &options, &image) == MWL_OK)
        (void)mwl_program_load(NULL, image.image, image.image_size, MWL_COPY, &g.quest, NULL);
    else
        fprintf(stderr, "%s", image.diagnostics);
    mwl_asm_free(&image);
    bool good = g.quest && play(&g, NULL, straight, sizeof straight);
    unsigned lines = g.lines;
    g.lines = 0;
    g.now_s = 0;
    good = good && play(&g, path, saved, sizeof saved);
    mwl_program_release(g.quest);
    remove(path);
    if (!good) return 1;
    printf("%u lines without saving; %u with, %u of them shown again\n", lines, g.lines,
           g.repeated);
    if (strcmp(straight, saved) != 0 || !*straight || g.repeated == 0) {
        fprintf(stderr, "the saved game went another way:\n%s--\n%s", straight, saved);
        return 1;
    }
    printf("the same Results:\n%.60s...\n", saved);
    return 0;
}
