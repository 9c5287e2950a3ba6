/* suite_mwl.c: MWL cases: a definition and its scenarios. Each is run to its Result.
 *
 * A case is a folder with case.json and definition.json. case.json names its scenarios, which are
 * in scenarios/<name>/. Folders that are not a case are searched for cases. Every scenario has its
 * own VM, with virtual time unless the option asks for the real clock. */
#include "tests/suite/suite_mwl.h"

#include "tests/suite/heard.h"
#include "tests/suite/images.h"
#include "mwl_asm.h"
#include "mwl_std.h"
#include "tests/suite/resave.h"
#include "tools/test/match.h"
#include "vm/program/swap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NESTING_MAX = 8, WHY_SIZE = 2000, SAVES_MOST = 8 };

struct scenario {
    mwl_vm *home;   /* of the values below */
    mwl_vm *vm;     /* of the run: the same, or another one (resave.h) */
    mwl_heap *heap; /* of home */
    mwl_run *run;
    mwl_value input, arguments, expected;
    struct control control;
    mwl_value control_value; /* lends to control */
    mwl_heap *control_heap;
    struct trace_lines trace;
    struct resave resave;
    struct heard *heard; /* what the listener hears, or NULL */
    bool real_time, resaves;
    const char *saves, *name; /* the folder of --saves, or NULL; the scenario */
    unsigned n_saves;
    char why[WHY_SIZE]; /* what is wrong, or "" */
};

/* ---- one scenario ---------------------------------------------------------------------------- */

static bool complain(struct scenario *c, const char *what, const char *why) {
    snprintf(c->why, sizeof c->why, "%s: %s", what, why);
    return false;
}

/* Reads a file of the scenario; absent if it does not exist. */
static bool read_value(struct scenario *c, const char *dir, const char *name, mwl_value *out) {
    char *path = suite_path(dir, name);
    size_t len = 0;
    char *text = suite_read(path, &len);
    mwl_error error = {MWL_OK, NULL, 0};
    *out = mwl_absent();
    mwl_status status = text ? mwl_json_parse(c->heap, text, len, out, &error) : MWL_OK;
    free(text);
    free(path);
    return status == MWL_OK ||
           complain(c, name, error.message ? error.message : mwl_status_text(status));
}

static bool read_files(struct scenario *c, const char *dir) {
    if (!suite_is_dir(dir)) return complain(c, "scenario", "it has no folder");
    if (!read_value(c, dir, "input.json", &c->input) ||
        !read_value(c, dir, "arguments.json", &c->arguments) ||
        !read_value(c, dir, "expected-result.json", &c->expected) ||
        !read_value(c, dir, "expected-trace.json", &c->trace.expected))
        return false;
    return !mwl_is_absent(c->expected) || complain(c, "expected-result.json", "it is not there");
}

static void listen(void *ctx, const mwl_trace_event *event) {
    struct scenario *c = ctx;
    if (!mwl_is_absent(c->trace.expected)) trace_lines_event(&c->trace, event);
    if (c->heard) heard_event(c->heard, event);
}

static void begin_listening(struct scenario *c, mwl_vm *vm) {
    if (!mwl_is_absent(c->trace.expected) || c->heard) mwl_vm_trace(vm, listen, c);
}

static mwl_vm *make_vm(void *ctx) {
    struct scenario *c = ctx;
    mwl_config config = mwl_config_default();
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_vm *vm = NULL;
    config.virtual_time = !c->real_time;
    config.limits = c->control.limits;
    config.seed = c->control.seed;
    mwl_status status = mwl_vm_new(&config, &vm);
    if (status == MWL_OK) status = mwl_std_add(vm, MWL_STD_ALL, &error);
    if (status < 0) {
        complain(c, "VM", error.message ? error.message : mwl_status_text(status));
        mwl_vm_free(vm);
        return NULL;
    }
    begin_listening(c, vm);
    return vm;
}

/* Are runs moved through bytes? */
static bool resaves(const struct suite *s) {
#ifdef MWL_STRESS
    return s->resave || !s->real_time;
#else
    return s->resave;
#endif
}

static bool make_home(struct scenario *c, const struct suite *s) {
    c->real_time = s->real_time;
    c->home = c->vm = make_vm(c);
    if (!c->vm) return false;
    c->heap = mwl_vm_heap(c->vm);
    return true;
}

static bool is_over(const mwl_run *run) {
    mwl_run_state state = mwl_run_get_state(run);
    return state == MWL_RUN_DONE || state == MWL_RUN_ABORTED;
}

static void sleep_until(mwl_vm *vm, int64_t due_ns) {
    mwl_instant now;
    mwl_vm_now(vm, &now);
    int64_t left = due_ns - now.mono_ns;
    if (left <= 0) return;
    struct timespec t = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
    nanosleep(&t, NULL);
}

/* Pumps until the run has ended, nothing is left to wait for, or the instant has come. */
static void pump_until(struct scenario *c, int64_t stop_ns, bool real_time) {
    mwl_instant now;
    while (!is_over(c->run)) {
        mwl_vm_now(c->vm, &now);
        if (now.mono_ns >= stop_ns) return;
        int64_t due;
        if (!c->resaves)
            due = mwl_vm_pump(c->vm, stop_ns == MWL_NEVER ? MWL_NO_BUDGET : stop_ns - now.mono_ns);
        else if (!resave_pump(&c->resave, &c->vm, &c->run, stop_ns, &due))
            return;
        if (due == MWL_NEVER) return;
        if (real_time && due > 0) sleep_until(c->vm, due < stop_ns ? due : stop_ns);
    }
}

static bool drive(struct scenario *c, bool real_time) {
    if (c->control.cancel_after_ns >= 0) {
        mwl_instant now;
        mwl_vm_now(c->vm, &now);
        pump_until(c, now.mono_ns + c->control.cancel_after_ns, real_time);
        mwl_run_cancel(c->run, c->control.reason);
    }
    pump_until(c, MWL_NEVER, real_time);
    if (*c->resave.why) return complain(c, "resave", c->resave.why);
    if (mwl_run_get_state(c->run) == MWL_RUN_DONE) return true;
    return complain(c, "run",
                    is_over(c->run) ? mwl_status_text(mwl_run_why(c->run)) : "it waits for ever");
}

/* For resave.h: the first saves of a scenario. */
static const char *exchange_save(void *ctx, const void *bytes, size_t size, char **other) {
    struct scenario *c = ctx;
    char file[WHY_SIZE];
    *other = NULL;
    if (!c->saves || c->n_saves == SAVES_MOST) return NULL;
    snprintf(file, sizeof file, "%s.%u.run", c->name, ++c->n_saves);
    return images_exchange(c->saves, file, bytes, size, other);
}

static bool run_scenario(struct scenario *c, mwl_program *program, bool real_time) {
    mwl_error error = {MWL_OK, NULL, 0};
    begin_listening(c, c->vm); /* the expected trace was read after the VM was made */
    c->resave = (struct resave){
        .make = make_vm, .ctx = c, .home = c->home, .program = program, .exchange = exchange_save};
    const mwl_start start = {.input = c->input, .arguments = c->arguments};
    mwl_status status = mwl_run_start(c->vm, program, &start, &c->run, &error);
    if (status < 0)
        return complain(c, "start", error.message ? error.message : mwl_status_text(status));
    if (!drive(c, real_time)) return false;
    if (!match_result(c->heap, c->expected, mwl_run_result(c->run), c->why, sizeof c->why))
        return false;
    trace_lines_end(&c->trace);
    return !*c->trace.why || complain(c, "trace", c->trace.why);
}

/* Runs it once; heard may be NULL. Returns true, or false and the reason. */
static bool run_once(const struct suite *s, const char *name, const char *dir, mwl_program *program,
                     bool moves, struct heard *heard, char why[WHY_SIZE]) {
    struct scenario c;
    memset(&c, 0, sizeof c);
    c.saves = heard ? NULL : s->saves;
    c.name = name;
    c.resaves = moves;
    c.heard = heard;
    char *control = suite_path(dir, "control.json");
    bool good = mwl_heap_new(NULL, &c.control_heap) == MWL_OK &&
                suite_mwl_control_read(c.control_heap, control, &c.control_value, &c.control, c.why,
                                       sizeof c.why) &&
                make_home(&c, s) && read_files(&c, dir) && run_scenario(&c, program, s->real_time);
    free(control);
    memcpy(why, c.why, sizeof c.why);
    if (c.home) {
        const mwl_value held[] = {c.input, c.arguments, c.expected, c.trace.expected};
        for (size_t i = 0; i < sizeof held / sizeof *held; i++) mwl_value_drop(c.heap, held[i]);
        mwl_run_free(c.run);
        if (c.vm != c.home) mwl_vm_free(c.vm);
        mwl_vm_free(c.home);
    }
    if (c.control_heap) mwl_value_drop(c.control_heap, c.control_value);
    mwl_heap_free(c.control_heap);
    return good;
}

/* A run that is moved through bytes tells its listeners what it tells them when it stays. */
static bool same_events(const struct suite *s, const char *name, const char *dir,
                        mwl_program *program, char why[WHY_SIZE]) {
    struct heard stays = {NULL, mwl__buf_make(mwl_alloc_default())}, moves = stays;
    bool good = mwl_heap_new(NULL, &stays.heap) == MWL_OK;
    moves.heap = stays.heap;
    good = good && run_once(s, name, dir, program, false, &stays, why) &&
           run_once(s, name, dir, program, true, &moves, why) && stays.text.len > 0 &&
           heard_same(&stays, &moves, why, WHY_SIZE);
    mwl__buf_free(&stays.text);
    mwl__buf_free(&moves.text);
    mwl_heap_free(stays.heap);
    return good;
}

static void one_scenario(struct suite *s, const char *name, const char *dir, mwl_program *program) {
    char why[WHY_SIZE] = "";
    if (run_once(s, name, dir, program, resaves(s), NULL, why) &&
        (!resaves(s) || s->real_time || same_events(s, name, dir, program, why)))
        suite_pass(s, name);
    else
        suite_fail(s, name, "%s", why);
}

/* ---- one case -------------------------------------------------------------------------------- */

/* Loads the assembled program, or the same one from the folder of images. */
static mwl_program *load(const struct suite *s, const char *name, const mwl_asm_result *made,
                         char *why, size_t size) {
    mwl_program *program = NULL;
    mwl_error error = {MWL_OK, NULL, 0};
    char *other = NULL;
    const char *wrong = NULL;
    if (s->images) {
        char file[WHY_SIZE];
        snprintf(file, sizeof file, "%s.mwlb", name);
        wrong = images_exchange(s->images, file, made->image, made->image_size, &other);
    }
    mwl__image view;
    if (s->swap && mwl__image_open(made->image, made->image_size, &view, NULL) == MWL_OK)
        mwl__image_swap(made->image, &view);
    if (wrong)
        snprintf(why, size, "%s", wrong);
    else if (mwl_program_load(NULL, other ? other : (const void *)made->image, made->image_size,
                              MWL_COPY, &program, &error) < 0)
        snprintf(why, size, "the image is refused: %s", error.message);
    if (!wrong) free(other);
    return program;
}

/* Returns the program, or NULL and the reason. */
static mwl_program *assemble(const struct suite *s, const char *dir, const char *name, char *why,
                             size_t size) {
    char *path = suite_path(dir, "definition.json");
    size_t len = 0;
    char *text = suite_read(path, &len);
    mwl_program *program = NULL;
    free(path);
    if (!text) {
        snprintf(why, size, "definition.json cannot be read");
        return NULL;
    }
    const mwl_asm_options options = {.file = "definition.json"};
    mwl_asm_result result;
    mwl_status status = mwl_assemble(text, len, &options, &result);
    if (status < 0)
        snprintf(why, size, "%s\n%s", mwl_status_text(status),
                 result.diagnostics ? result.diagnostics : "");
    else
        program = load(s, name, &result, why, size);
    mwl_asm_free(&result);
    free(text);
    return program;
}

static void run_case(struct suite *s, const char *dir, const char *relative, mwl_value scenarios) {
    char why[WHY_SIZE] = "";
    mwl_program *program = NULL;
    mwl_value key, value;
    for (size_t i = 0; mwl_object_at(scenarios, i, &key, &value); i++) {
        char *name = suite_path(relative, mwl_as_text(key, NULL));
        if (suite_wants(s, name)) {
            if (!program && !*why) program = assemble(s, dir, relative, why, sizeof why);
            char *folder = suite_path(dir, "scenarios"),
                 *scenario = suite_path(folder, mwl_as_text(key, NULL));
            if (program)
                one_scenario(s, name, scenario, program);
            else
                suite_fail(s, name, "%s", why);
            free(scenario);
            free(folder);
        }
        free(name);
    }
    mwl_program_release(program);
}

/* Returns false if case.json does not have the right form. */
static bool read_case(struct suite *s, const char *dir, const char *relative, const char *text,
                      size_t len) {
    mwl_heap *heap = NULL;
    mwl_value v = mwl_absent();
    if (mwl_heap_new(NULL, &heap) != MWL_OK) return false;
    bool good = mwl_json_parse(heap, text, len, &v, NULL) == MWL_OK;
    mwl_value scenarios = mwl_get(v, "scenarios");
    good = good && mwl_count(scenarios) > 0;
    if (good) run_case(s, dir, relative, scenarios);
    mwl_value_drop(heap, v);
    mwl_heap_free(heap);
    return good;
}

static int look_into(struct suite *s, const char *dir, const char *relative, int depth) {
    char *path = suite_path(dir, "case.json");
    size_t len = 0;
    char *text = suite_read(path, &len);
    free(path);
    if (text) {
        if (!read_case(s, dir, relative, text, len))
            suite_fail(s, relative, "case.json names no scenarios");
        free(text);
        return 0;
    }
    struct suite_list list;
    if (depth >= NESTING_MAX) return 0;
    if (!suite_list_dir(dir, &list)) return -1;
    int answer = 0;
    for (size_t i = 0; i < list.count && answer == 0; i++) {
        char *child = suite_path(dir, list.names[i]);
        char *name = depth ? suite_path(relative, list.names[i]) : suite_path(list.names[i], "");
        if (!depth) name[strlen(list.names[i])] = '\0';
        if (suite_is_dir(child)) answer = look_into(s, child, name, depth + 1);
        free(name);
        free(child);
    }
    suite_list_free(&list);
    return answer;
}

int suite_mwl(struct suite *s, const char *dir) {
    char *valid = suite_path(dir, "valid"), *invalid = suite_path(dir, "invalid");
    bool documents = suite_is_dir(valid) || suite_is_dir(invalid);
    free(valid);
    free(invalid);
    return documents ? suite_mwl_documents(s, dir) : look_into(s, dir, "case", 0);
}
