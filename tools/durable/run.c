/* run.c: `mwlvm run --store FILE` and `mwlvm resume --store FILE`: runs that are in a store
 * before they begin, and what their ends mean for the shell. */
#include "tools/durable/durable.h"

#include "tools/base/cmd.h"
#include "tools/durable/drive.h"
#include "tools/durable/start.h"
#include "tools/durable/store.h"
#include "tools/base/file_in.h"
#include "tools/base/path.h"
#include "tools/session/end.h"
#include "vm/program/program.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct job {
    const struct run_options *options;
    mwl_store *store, *watch; /* watch: see look_elsewhere; or NULL */
    const char *only;         /* the run; NULL: all */
    const char *name;         /* its definition; NULL: not known */
    mwl__source source;       /* the text of it, or none */
    int status;               /* of the run */
    size_t n_good, n_bad, n_stuck;
};

/* ---- Results --------------------------------------------------------------------------------- */

/* A run without a Result, which is not in memory: the store has the reason as a text. */
static int report_aborted(const struct session_shown *how, const char *text) {
    static const mwl_status limits[] = {MWL_E_FUEL, MWL_E_TOO_BIG, MWL_E_DEPTH, MWL_E_NOMEM};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (strcmp(text, mwl_status_text(limits[i])) == 0) return session_no_result(how, limits[i]);
    cmd_fail("the run was ended without a Result: %s", text);
    return CMD_CANCELLED;
}

/* The end of one run, as the store has it; run NULL: it is not in memory. */
static int report(struct job *j, mwl_heap *heap, mwl_store_state state, mwl_store_text text,
                  const mwl_run *run) {
    const struct session_shown how = {j->options, heap, j->name ? j->name : "the definition",
                                      j->source.text ? &j->source : NULL};
    mwl_value result = mwl_absent();
    if (state == MWL_STORE_STUCK) return cmd_fail("the run is stuck: %s", text.at);
    if (run && mwl_run_get_state(run) >= MWL_RUN_DONE)
        return session_end(&how, run, mwl_run_result(run));
    if (state == MWL_STORE_ABORTED) return report_aborted(&how, text.at);
    if (mwl_json_parse(heap, text.at, text.len, &result, NULL) != MWL_OK)
        return cmd_fail("the Result in the store is damaged");
    int status = session_end(&how, NULL, result);
    mwl_value_drop(heap, result);
    return status;
}

/* Sets what the places in failures refer to. The program is lent until the end. */
static void show_places(struct job *j, const char *name, const mwl_program *program) {
    j->name = name;
    if (program && program->source)
        mwl__source_init(&j->source, mwl_alloc_default(), name, program->source,
                         program->source_size);
}

void drive_print_end(const mwl_durable_ended *run) {
    flockfile(stdout);
    putchar('{');
    store_put_text("run", run->id, true);
    store_put_text("state", mwl_store_state_name(run->state), false);
    if (run->state == MWL_STORE_DONE) /* a value is not changed */
        printf(",\"result\":%.*s", (int)run->result.len, run->result.at);
    else if (run->state == MWL_STORE_FAILED)
        store_put_json("result", run->result);
    else
        store_put_text("why", run->result.at, false);
    puts("}");
    (void)cmd_flush();
    funlockfile(stdout);
}

/* With --unfinished each end is a line of JSON. */
static bool on_ended(void *ctx, mwl_heap *heap, const mwl_durable_ended *run) {
    struct job *j = ctx;
    if (j->only) {
        j->status = report(j, heap, run->state, run->result, run->run);
        return true;
    }
    j->n_good += run->state == MWL_STORE_DONE;
    j->n_bad += run->state == MWL_STORE_FAILED || run->state == MWL_STORE_ABORTED;
    j->n_stuck += run->state == MWL_STORE_STUCK;
    drive_print_end(run);
    return false;
}

/* ---- one run --------------------------------------------------------------------------------- */

struct elsewhere {
    struct job *j;
    bool over;
};

static bool see_elsewhere(void *ctx, const mwl_store_row *row) {
    struct elsewhere *e = ctx;
    mwl_heap *heap = NULL;
    if (row->state < MWL_STORE_DONE || mwl_heap_new(NULL, &heap) != MWL_OK) return false;
    e->j->status = report(e->j, heap, row->state, row->result, NULL);
    e->over = true;
    mwl_heap_free(heap);
    return false;
}

/* In a store with a fleet, another worker may have the run: its end is shown all the same. */
static bool look_elsewhere(void *ctx) {
    struct job *j = ctx;
    struct elsewhere e = {j, false};
    const mwl_store_query query = {.id = j->only};
    (void)store_list(j->watch, NULL, &query, see_elsewhere, &e); /* a failure passes */
    return e.over;
}

static int go(struct job *j, bool until_idle) {
    bool left = false;
    const char *where = j->options->durable;
    bool watches = j->only && store_is_shared(where);
    int status = watches ? store_open(where, false, &j->watch) : CMD_OK;
    const struct drive_how how = {.options = j->options,
                                  .store = j->store,
                                  .only = j->only ? &j->only : NULL,
                                  .n_only = j->only != NULL,
                                  .ended = on_ended,
                                  .look = watches ? look_elsewhere : NULL,
                                  .ctx = j,
                                  .until_idle = until_idle,
                                  .idle_ns = drive_idle_ns(where, 0)};
    signal(SIGPIPE, SIG_IGN);
    if (status == CMD_OK) status = drive(&how, &left);
    mwl_store_close(j->watch);
    return status != CMD_OK || left ? status : j->status;
}

struct found {
    bool there, same;
    char *start; /* what it was started with, as JSON */
    size_t start_len;
    uint8_t program[16];
    mwl_store_state state;
    char *result;
    size_t len;
};

static bool see_found(void *ctx, const mwl_store_row *row) {
    struct found *f = ctx;
    f->there = true;
    f->state = row->state;
    f->same = memcmp(f->program, row->program, sizeof f->program) == 0;
    f->start = row->start.at ? strndup(row->start.at, row->start.len) : NULL;
    f->start_len = f->start ? row->start.len : 0;
    f->result = row->result.at ? strdup(row->result.at) : NULL;
    f->len = row->result.len;
    return false;
}

/* 60 random bits as 12 letters and digits. */
static int make_id(char out[16]) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        return cmd_fail("random numbers: %s", strerror(errno));
    for (int i = 0; i < 12; i++, bits >>= 5) out[i] = letters[bits & 31];
    out[12] = '\0';
    return CMD_OK;
}

static int accept_run(struct job *j, const mwl_program *program, const uint8_t id[16],
                      mwl_store_text start) {
    const char *name = path_last(j->options->definition.path);
    const mwl_store_start row = {j->only, id, name, start, store_now()};
    mwl_status status = j->store->ops->put_program(j->store, id, name, program->bytes,
                                                   program->size, row.now_wall_ns);
    if (status == MWL_OK) status = j->store->ops->start(j->store, &row);
    return status == MWL_OK ? CMD_OK : store_fail(j->store, status);
}

/* Whether two values are the same. One that is not there is null. */
static bool is_same(mwl_value x, mwl_value y) {
    return mwl_value_equal(mwl_is_absent(x) ? mwl_null() : x, mwl_is_absent(y) ? mwl_null() : y);
}

/* The run keeps what it was started with: what differs is the name of that, or NULL. */
static const char *other_start(const struct found *f, mwl_heap *heap, const mwl_start *start) {
    mwl_value kept = mwl_absent();
    if (mwl_json_parse(heap, f->start, f->start_len, &kept, NULL) != MWL_OK) return NULL;
    const char *other = !is_same(mwl_get(kept, "input"), start->input)           ? "another input"
                        : !is_same(mwl_get(kept, "arguments"), start->arguments) ? "other arguments"
                                                                                 : NULL;
    mwl_value_drop(heap, kept);
    return other;
}

/* --id names a run that there is: the command was repeated, perhaps after a crash. */
static int again(struct job *j, const struct found *f, mwl_heap *heap, const mwl_start *start) {
    const char *where = j->options->durable;
    const char *other = f->same ? other_start(f, heap, start) : NULL;
    if (!f->same)
        return cmd_fail(
            "run '%s' is of another program; `mwlvm resume %s --store %s` goes on with it", j->only,
            j->only, store_shown(where));
    if (other)
        return cmd_fail(
            "run '%s' was started with %s; `mwlvm resume %s --store %s` goes on with it, "
            "another --id starts another run",
            j->only, other, j->only, store_shown(where));
    if (j->options->detach) {
        printf("%s\n", j->only);
        return CMD_OK;
    }
    if (f->state >= MWL_STORE_DONE)
        return report(j, heap, f->state, (mwl_store_text){f->result, f->len}, NULL);
    cmd_note("run %s is in the store already; going on with it", j->only);
    return go(j, false);
}

static int join(struct job *j, const char *who) {
    mwl_status status = j->store->ops->join(j->store, who);
    return status == MWL_OK ? CMD_OK : store_fail(j->store, status);
}

/* The run is new: it is in the store before it begins. */
static int begin(struct job *j, const mwl_program *program, const uint8_t id[16], mwl_heap *heap,
                 const mwl_start *start) {
    const struct run_options *o = j->options;
    size_t len = 0;
    char *text = start_text(heap, start, &len);
    int status = text ? accept_run(j, program, id, (mwl_store_text){text, len}) : cmd_no_memory();
    mwl_text_free(heap, text, len);
    if (status != CMD_OK) return status;
    if (o->detach) {
        printf("%s\n", j->only);
        return CMD_OK;
    }
    if (!o->quiet) cmd_note("run %s is in %s", j->only, store_shown(o->durable));
    return go(j, false);
}

int durable_run(const struct run_options *o, const mwl_program *program, mwl_heap *heap,
                const mwl_start *start) {
    const mwl_limits limits = {.fuel = o->definition.limits.fuel,
                               .memory_bytes = o->definition.limits.memory};
    struct job j = {.options = o, .only = o->id};
    struct found f = {.there = false};
    mwl_start limited = *start;
    char made[16];
    limited.limits = &limits;
    if (o->id && strlen(o->id) > STORE_ID)
        return cmd_usage("--id has at most %d bytes in a store", STORE_ID);
    int status = store_open(o->durable, true, &j.store);
    if (status == CMD_OK && !o->detach) status = join(&j, "mwlvm run");
    if (status == CMD_OK && !o->id) status = make_id(made);
    if (!o->id) j.only = made;
    mwl_program_id(program, f.program);
    show_places(&j, file_in_name(o->definition.path), program);
    const mwl_store_query query = {.id = j.only};
    if (status == CMD_OK) {
        mwl_status got = store_list(j.store, NULL, &query, see_found, &f);
        if (got != MWL_OK) status = store_fail(j.store, got);
    }
    if (status == CMD_OK)
        status =
            f.there ? again(&j, &f, heap, start) : begin(&j, program, f.program, heap, &limited);
    free(f.start);
    free(f.result);
    mwl__source_free(&j.source);
    mwl_store_close(j.store);
    return status;
}

/* ---- resume ---------------------------------------------------------------------------------- */

/* The programs of runs that are not over: each is asked what it wants to touch. */
struct programs {
    const struct run_options *options;
    const char *only;
    uint8_t (*ids)[16];
    size_t n, n_runs;
    char *one, *name;     /* of the last run seen: its id; its definition */
    mwl_program *program; /* of one of them */
    mwl_store_state state;
    char *result;
    bool failed;
    int status;
};

static bool see_program(void *ctx, const mwl_store_row *row) {
    struct programs *p = ctx;
    p->n_runs++;
    free(p->one);
    p->one = strdup(row->id);
    p->state = row->state;
    if (p->only && row->result.at) p->result = strdup(row->result.at);
    for (size_t i = 0; i < p->n; i++)
        if (memcmp(p->ids[i], row->program, 16) == 0) return true;
    uint8_t(*grown)[16] = realloc(p->ids, (p->n + 1) * sizeof *grown);
    p->failed |= !grown || !p->one;
    if (!grown) return false;
    p->ids = grown;
    memcpy(p->ids[p->n++], row->program, 16);
    return true;
}

static void see_image(void *ctx, const char *name, const void *image, size_t size) {
    struct programs *p = ctx;
    mwl_program *program = NULL;
    mwl_error error = {MWL_OK, "", 0};
    if (mwl_program_load(NULL, image, size, MWL_COPY, &program, &error) != MWL_OK) return;
    int status = permissions_check(&p->options->permissions, name, program, &p->options->binds);
    if (status != CMD_OK) p->status = status;
    free(p->name);
    p->name = strdup(name);
    mwl_program_release(p->program);
    p->program = program;
}

static int check_programs(struct job *j, struct programs *p) {
    const unsigned open = 1u << MWL_STORE_NEW | 1u << MWL_STORE_LIVE | 1u << MWL_STORE_STORED;
    const mwl_store_query query = {.id = p->only, .states = p->only ? 0 : open};
    mwl_status got = store_list(j->store, NULL, &query, see_program, p);
    if (got != MWL_OK) return store_fail(j->store, got);
    if (p->failed) return cmd_no_memory();
    for (size_t i = 0; i < p->n; i++)
        (void)j->store->ops->get_program(j->store, p->ids[i], see_image, p);
    return p->status;
}

static int resume_one(struct job *j, const struct programs *p) {
    mwl_heap *heap = NULL;
    if (!p->n_runs) return cmd_fail("there is no run '%s'", j->only);
    if (p->state == MWL_STORE_STUCK) {
        const mwl_store_message m = {
            .run = j->only, .kind = MWL_STORE_RESUME, .name = "", .now_wall_ns = store_now()};
        mwl_status got = j->store->ops->post(j->store, &m);
        if (got != MWL_OK) return store_fail(j->store, got);
    } else if (p->state >= MWL_STORE_DONE) {
        if (mwl_heap_new(NULL, &heap) != MWL_OK) return cmd_no_memory();
        int status = report(j, heap, p->state,
                            (mwl_store_text){p->result, p->result ? strlen(p->result) : 0}, NULL);
        mwl_heap_free(heap);
        return status;
    }
    return go(j, false);
}

static int resume_all(struct job *j) {
    int status = go(j, true);
    if (!j->options->quiet)
        cmd_note("%zu done, %zu failed, %zu stuck; `mwlvm ps` lists what waits", j->n_good,
                 j->n_bad, j->n_stuck);
    if (status == CMD_OK && (j->n_bad || j->n_stuck)) status = CMD_FAILED;
    return status;
}

int durable_resume(const struct run_options *o) {
    struct job j = {.options = o, .only = o->definition.path};
    struct programs p = {.options = o, .only = j.only};
    int status = store_open(o->durable, false, &j.store);
    if (status == CMD_OK) status = join(&j, "mwlvm resume");
    if (status == CMD_OK) status = check_programs(&j, &p);
    if (status == CMD_OK && !j.only && !o->unfinished && p.n_runs != 1)
        status = cmd_usage("%zu runs are not over; name one, or use --unfinished", p.n_runs);
    if (status == CMD_OK && !j.only && !o->unfinished) j.only = p.one;
    if (j.only && p.name) show_places(&j, p.name, p.program);
    if (status == CMD_OK) status = j.only ? resume_one(&j, &p) : resume_all(&j);
    free(p.ids);
    free(p.one);
    free(p.name);
    free(p.result);
    mwl__source_free(&j.source);
    mwl_program_release(p.program);
    mwl_store_close(j.store);
    return status;
}
