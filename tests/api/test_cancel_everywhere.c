/* Cancelling and aborting at every point: each case of tests/cases, and of the conformance suite
 * when it is there, is run again and again with a slice of one instruction, and stopped after its
 * first, second, ... turn. Wherever it is stopped, it ends with exactly one Result, every
 * established entry has run its onAlways once, and no memory is left.
 *
 * A point is before a turn: the next instruction of a frame, or the jump to the next timer. An
 * await point is one where a frame of the run waits: for time, a provider, a subflow or its
 * dispatches. The conformance cases are cancelled and aborted at every point, without exception;
 * our own at some points, evenly, and with MWL_SOAK in the environment at every one of the first
 * POINTS_MAX. MWL_ONLY selects the cases whose path contains that text. With MWL_RESAVE, and in
 * stress builds, runs are moved through bytes: where they are stopped, after the cancellation, and
 * on the way. */
#include "mwl_asm.h"
#include "mwl_std.h"
#include "tests/suite/resave.h"
#include "utest.h"
#include "vm/machine/invariant.h"
#include "vm/machine/state.h"
#include "vm/machine/timer.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* POINTS_MAX: stopping at every point is quadratic in the points. Beyond it lies only the end of
 * loop/1213-many-iterations, whose 10,000 iterations of a few points are all alike and await
 * nothing. */
enum {
    PATH_SIZE = 1024,
    TURNS_MAX = 200000,
    NESTING_MAX = 6,
    POINTS_SOME = 12,
    POINTS_MAX = 10000
};

typedef enum stop { CANCEL, ABORT } stop;

static struct totals {
    unsigned scenarios, points, awaits; /* scenarios, and the points in them */
    unsigned cancels, cancelled_awaits, aborts, left_out, broken;
} totals;

/* The current case, for a message if the program stops. */
static char now_at[2 * PATH_SIZE];
static void died(int signal_number) {
    (void)signal_number;
    (void)!write(2, now_at, (unsigned)strlen(now_at));
    signal(SIGABRT, SIG_DFL);
}

static unsigned events_done;
static void listen(void *ctx, const mwl_trace_event *e) {
    (void)ctx;
    if (e->kind == MWL_TRACE_RUN_DONE) events_done++;
}

static char *read_file(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = NULL;
    *len = 0;
    for (size_t cap = 0, got = 1; got; *len += got) {
        if (*len + 65536 > cap) {
            cap = *len + 65536;
            text = realloc(text, cap + 1);
            if (!text) abort();
        }
        got = fread(text + *len, 1, cap - *len, f);
    }
    text[*len] = 0;
    fclose(f);
    return text;
}

static mwl_program *assemble(const char *dir) {
    char path[PATH_SIZE];
    size_t len = 0;
    snprintf(path, sizeof path, "%s/definition.json", dir);
    char *text = read_file(path, &len);
    mwl_program *program = NULL;
    mwl_asm_result out;
    if (!text) return NULL;
    if (mwl_assemble(text, len, NULL, &out) == MWL_OK)
        (void)mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &program, NULL);
    mwl_asm_free(&out);
    free(text);
    return program;
}

static mwl_value read_value(mwl_heap *h, const char *dir, const char *name) {
    char path[PATH_SIZE];
    size_t len = 0;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    char *text = read_file(path, &len);
    mwl_value v = mwl_absent();
    if (text) (void)mwl_json_parse(h, text, len, &v, NULL);
    free(text);
    return v;
}

static bool is_over(const mwl_run *run) {
    mwl_run_state s = mwl_run_get_state(run);
    return s == MWL_RUN_DONE || s == MWL_RUN_ABORTED;
}

/* One turn: a slice of what is ready, or a skip to the next timer. Returns false if nothing happens
 * any more. */
static bool turn(mwl_vm *vm) {
    int64_t due = mwl_vm_pump(vm, 0);
    if (due == 0) return true;
    mwl_instant now;
    mwl_vm_now(vm, &now);
    if (due == MWL_NEVER) return false;
    if (due > now.mono_ns) (void)mwl_vm_pump(vm, due - now.mono_ns);
    return true;
}

struct scene {
    const char *name;
    mwl_program *program;
    const char *dir;
    uint32_t slice;
};

static void complain(const struct scene *s, stop how, unsigned at, const char *what) {
    if (totals.broken++ < 20)
        printf("%s: %s after turn %u (slice %u): %s\n", s->name,
               how == CANCEL ? "cancelled" : "aborted", at, s->slice, what);
}

/* How far a run came: turns, and how many of them began while something was awaited. */
typedef struct went {
    unsigned turns, awaits;
    bool stopped, at_await; /* it was stopped; where it awaited something */
} went;

/* The VM has only this run, so whatever exists and is not ready waits. */
static bool awaits(const mwl_run *run) {
    uint32_t n_ready = run->root && run->root->fresh;
    for (const mwl__frame *f = run->link->vm->ready_head; f; f = f->next_ready) n_ready++;
    return run->live > n_ready;
}

/* The VM that the run is in now, and how to move it to another one. */
typedef struct stage {
    mwl_vm *vm;
    mwl_run *run;
    uint32_t slice;
    unsigned moves_at; /* of 16 turns; another one for each point, so that all have their turn */
    struct resave resave;
} stage;

static mwl_vm *make_vm(void *ctx) {
    mwl_config config = mwl_config_default();
    mwl_vm *vm = NULL;
    config.virtual_time = true;
    config.seed = 7;
    config.slice = ((const stage *)ctx)->slice;
    if (mwl_vm_new(&config, &vm) < 0 || mwl_std_add(vm, MWL_STD_ALL, NULL) < 0) abort();
    mwl_vm_trace(vm, listen, NULL);
    return vm;
}

static void move(stage *g) {
    static int resaves = -1;
#ifdef MWL_STRESS
    resaves = 1;
#endif
    if (resaves < 0) resaves = getenv("MWL_RESAVE") != NULL;
    if (resaves && !*g->resave.why) (void)resave_move(&g->resave, &g->vm, &g->run);
}

static went go(stage *g, unsigned at) {
    went w = {0, 0, false, false};
    while (w.turns < at && !is_over(g->run)) {
        bool at_await = awaits(g->run);
        if (!turn(g->vm)) break;
        w.turns++;
        w.awaits += at_await;
        if (w.turns % 16 == g->moves_at) move(g);
    }
    w.stopped = !is_over(g->run) && w.turns == at;
    w.at_await = w.stopped && awaits(g->run);
    return w;
}

static void judge(const struct scene *s, stop how, unsigned at, const mwl_run *run, const went *w) {
    mwl_run_state state = mwl_run_get_state(run);
    const char *broken = w->stopped || is_over(run) ? mwl__invariant_broken(run) : NULL;
    if (broken)
        complain(s, how, at, broken);
    else if (is_over(run) && events_done != (state == MWL_RUN_DONE))
        complain(s, how, at, "not one Result");
    else if (w->stopped && how == CANCEL && state != MWL_RUN_DONE)
        complain(s, how, at, mwl_status_text(mwl_run_why(run)));
    if (is_over(run) && mwl__timers_count(&run->link->vm->timers))
        complain(s, how, at, "a timer is left");
}

/* Runs it, stops it after `at` turns, and checks what must be true at the end of every run. */
static went stop_after(const struct scene *s, stop how, unsigned at) {
    stage g = {.slice = s->slice, .moves_at = at % 16};
    mwl_vm *home = g.vm = make_vm(&g);
    g.resave = (struct resave){.make = make_vm, .ctx = &g, .home = home, .program = s->program};
    mwl_heap *h = mwl_vm_heap(home);
    const mwl_start start = {.input = read_value(h, s->dir, "input.json"),
                             .arguments = read_value(h, s->dir, "arguments.json")};
    went w = {0, 0, false, false};
    snprintf(now_at, sizeof now_at, "%s: %s after turn %u, slice %u\n", s->name,
             how == CANCEL ? "cancel" : "abort", at, s->slice);
    events_done = 0;
    if (mwl_run_start(home, s->program, &start, &g.run, NULL) == MWL_OK) {
        w = go(&g, at);
        if (w.stopped) move(&g);
        if (w.stopped && how == CANCEL) {
            mwl_run_cancel(g.run, "everywhere");
            move(&g);
            mwl_run_cancel(g.run, "twice is once");
            (void)go(&g, TURNS_MAX);
        } else if (w.stopped) {
            mwl_run_abort(g.run);
        }
        judge(s, how, at, g.run, &w);
        if (*g.resave.why) complain(s, how, at, g.resave.why);
    }
    mwl_run_free(g.run);
    if (g.vm != home) mwl_vm_free(g.vm);
    mwl_value_drop(h, start.input);
    mwl_value_drop(h, start.arguments);
    mwl_vm_free(home);
    return w;
}

/* `limit`: about so many points, evenly, and a fourth of the aborts; 0: every one of the first
 * `most`. */
static void whole_scenario(const struct scene *s, unsigned limit, unsigned most) {
    went all = stop_after(s, CANCEL, TURNS_MAX);
    unsigned last = all.turns < most ? all.turns : most - 1, step = limit ? last / limit + 1 : 1;
    totals.scenarios++;
    totals.points += all.turns;
    totals.awaits += all.awaits;
    if (!limit && all.turns > most) totals.left_out += all.turns - most;
    for (unsigned at = 0, n = 0; at <= last; at += step, n++) {
        went w = stop_after(s, CANCEL, at);
        totals.cancels += w.stopped;
        totals.cancelled_awaits += w.at_await;
        if (!limit || n % 4 == 0) totals.aborts += stop_after(s, ABORT, at).stopped;
    }
}

static void whole_case(const char *dir, unsigned limit, unsigned most) {
    char path[PATH_SIZE];
    const char *only = getenv("MWL_ONLY");
    mwl_program *program = only && !strstr(dir, only) ? NULL : assemble(dir);
    if (!program) return;
    snprintf(path, sizeof path, "%s/scenarios", dir);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/scenarios/%s", dir, e->d_name);
        struct scene s = {path, program, path, 1};
        whole_scenario(&s, limit, most);
        s.slice = 7;                   /* yields elsewhere */
        struct totals before = totals; /* the points are counted once */
        whole_scenario(&s, POINTS_SOME / 4 + 1, most);
        before.broken = totals.broken;
        totals = before;
    }
    if (d) closedir(d);
    mwl_program_release(program);
}

static void look_into(const char *dir, unsigned limit, unsigned most, int depth) {
    char path[PATH_SIZE];
    struct stat st;
    snprintf(path, sizeof path, "%s/case.json", dir);
    if (stat(path, &st) == 0) {
        whole_case(dir, limit, most);
        return;
    }
    DIR *d = depth < NESTING_MAX ? opendir(dir) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) look_into(path, limit, most, depth + 1);
    }
    if (d) closedir(d);
}

static void print_figures(void) {
    printf(
        "%u scenarios: %u points, %u of them awaits; cancelled at %u (%u awaits), aborted at %u; beyond the cap: %u\n",
        totals.scenarios, totals.points, totals.awaits, totals.cancels, totals.cancelled_awaits,
        totals.aborts, totals.left_out);
}

UTEST(cancel_everywhere, our_cases) {
    memset(&totals, 0, sizeof totals);
    signal(SIGABRT, died);
    look_into(MWL_SOURCE_DIR "/tests/cases", getenv("MWL_SOAK") ? 0 : POINTS_SOME, POINTS_MAX, 0);
    print_figures();
    EXPECT_TRUE(totals.scenarios > 200 || getenv("MWL_ONLY"));
    if (getenv("MWL_SOAK")) {
        EXPECT_EQ(totals.cancelled_awaits, totals.awaits);
    }
    EXPECT_EQ(totals.broken, 0u);
}

UTEST(cancel_everywhere, conformance_cases) {
    const char *suites = getenv("MWL_SUITES");
    char path[PATH_SIZE];
    struct stat st;
    snprintf(path, sizeof path, "%s/mwl/conformance", suites ? suites : "");
    if (!suites || stat(path, &st) != 0)
        UTEST_SKIP("no conformance cases (MWL_SUITES names their folder)");
    memset(&totals, 0, sizeof totals);
    signal(SIGABRT, died);
    look_into(path, 0, TURNS_MAX, 0);
    print_figures();
    EXPECT_EQ(totals.broken, 0u);
    EXPECT_EQ(totals.left_out, 0u);
    EXPECT_EQ(totals.cancels, totals.points); /* before every turn, */
    EXPECT_EQ(totals.aborts, totals.points);
    EXPECT_EQ(totals.cancelled_awaits, totals.awaits); /* so at every await */
    EXPECT_TRUE(totals.scenarios >= 60 || getenv("MWL_ONLY"));
}

UTEST_MAIN()
