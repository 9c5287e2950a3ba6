/* api_runs.c: runs: start, list, look at, answer, cancel. On the desk's thread. */
#include "tools/serve/serve.h"

#include "tools/serve/cut.h"
#include "tools/durable/fits.h"
#include "tools/durable/start.h"
#include "tools/session/seed.h"
#include "tools/durable/store.h"
#include "tools/serve/endpoints.h"
#include "tools/base/json_out.h"
#include "tools/base/redact.h"
#include "tools/show/show_value.h"
#include "vm/snapshot/silent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MOST = 1000, LIST_USUAL = 100, LIST_BYTES = 8 << 20, START_MOST = 10000 };

/* ---- lists ----------------------------------------------------------------------------------- */

static void put_hidden(FILE *to, const char *name, const char *text) {
    size_t len = 0;
    char *hidden = redact_text(text, strlen(text), &len);
    put_text(to, name, hidden ? hidden : text, false);
    free(hidden);
}

/* Without a Result: that may be long. */
static void put_run(FILE *to, const mwl_store_row *row) {
    bool over = row->state == MWL_STORE_DONE || row->state == MWL_STORE_FAILED;
    put_text(to, "run", row->id, true);
    put_text(to, "state", mwl_store_state_name(row->state), false);
    put_text(to, "program", row->name, false);
    put_time(to, "created", row->created_wall_ns);
    put_time(to, "updated", row->updated_wall_ns);
    put_time(to, "due", row->due_wall_ns);
    put_time(to, "ended", row->ended_wall_ns);
    put_count(to, "seq", (uint64_t)row->seq);
    put_count(to, "waits", row->n_waits);
    put_count(to, "messages", row->n_messages);
    put_count(to, "version", row->version);
    if (!over && row->result.at) put_hidden(to, "why", row->result.at);
}

static bool has_result(const mwl_store_row *row) {
    return row->state == MWL_STORE_DONE || row->state == MWL_STORE_FAILED;
}

struct page {
    struct cut cut;
    bool results;
};

static bool see_row(void *ctx, const mwl_store_row *row) {
    struct page *p = ctx;
    FILE *to = p->cut.to;
    putc('{', to);
    put_run(to, row);
    if (p->results && has_result(row)) cut_result(&p->cut, "result", row->result);
    fputs("}\n", to);
    return ftell(to) < LIST_BYTES;
}

/* "open", or the names of states with commas; 0: wrong. */
static unsigned read_states(const char *words) {
    unsigned all = 0;
    while (*words) {
        size_t len = strcspn(words, ",");
        unsigned bit = len == 4 && strncmp(words, "open", 4) == 0
                           ? 1u << MWL_STORE_NEW | 1u << MWL_STORE_LIVE | 1u << MWL_STORE_STORED |
                                 1u << MWL_STORE_STUCK
                           : 0;
        for (int state = 0; state <= MWL_STORE_STUCK; state++) {
            const char *name = mwl_store_state_name((mwl_store_state)state);
            if (strlen(name) == len && strncmp(name, words, len) == 0) bit = 1u << state;
        }
        if (!bit) return 0;
        all |= bit;
        words += len + (words[len] == ',');
    }
    return all;
}

static bool is_set(struct ask *a, const char *name) {
    const char *word = http_parameter(a->request, name);
    return word && strcmp(word, "1") == 0;
}

void api_runs(struct ask *a, struct desk_tools *t) {
    const char *state = http_parameter(a->request, "state");
    const char *order = http_parameter(a->request, "order");
    struct page p = {.cut = cut_make(a->out, t->heap, false), .results = is_set(a, "results")};
    mwl_store_query query = {.name = http_parameter(a->request, "program")};
    uint64_t limit = LIST_USUAL, after = 0;
    p.cut.all = 2 * LIST_BYTES; /* the page ends before: no Result is cut for those before it */
    if (query.name && !*query.name) query.name = NULL;
    if (state && *state && !(query.states = read_states(state))) {
        ask_problem(a, 400, "there is no state '%s'", state);
        return;
    }
    if (!ask_count(a, "after", 0, &after) || !ask_count(a, "limit", 1, &limit)) return;
    query.after = (int64_t)after;
    query.limit = limit < LIST_MOST ? (size_t)limit : LIST_MOST;
    query.newest = order && strcmp(order, "newest") == 0;
    a->request->type = "application/x-ndjson";
    mwl_status status = desk_list(t, &query, see_row, &p);
    if (status != MWL_OK) ask_refused(a, t, status);
}

static void put_wait(struct cut *c, const char *run, const mwl_store_wait *wait) {
    FILE *to = c->to;
    putc('{', to);
    put_text(to, "run", run, true);
    put_text(to, "name", wait->name, false);
    put_count(to, "number", wait->number);
    put_time(to, "since", wait->since_wall_ns);
    if (wait->provider && *wait->provider) put_text(to, "provider", wait->provider, false);
    cut_json(c, "question", wait->question);
    putc('}', to);
}

/* A piece of the open waits: they are in the order of their runs and numbers. */
struct piece {
    struct cut cut;
    const char *after; /* RUN.NUMBER; NULL: from the first on */
    size_t run_len;    /* of `after` */
    uint64_t number;
    size_t left;
    bool found; /* what `after` names was passed */
    bool known; /* false: nothing is written, and `runs` are noted */
    struct store_runs runs;
};

static bool see_line_wait(void *ctx, const char *run, const mwl_store_wait *wait) {
    struct piece *p = ctx;
    bool same = p->after && strlen(run) == p->run_len && strncmp(run, p->after, p->run_len) == 0;
    if (same) p->found = true;
    if (!p->found || (same && wait->number <= p->number)) return true;
    if (!p->known) {
        store_runs_add(&p->runs, run);
        return --p->left > 0;
    }
    if (!store_runs_has(&p->runs, run)) return true; /* it has begun to wait just now */
    put_wait(&p->cut, run, wait);
    putc('\n', p->cut.to);
    return --p->left > 0 && ftell(p->cut.to) < LIST_BYTES;
}

void api_waits(struct ask *a, struct desk_tools *t) {
    const char *after = http_parameter(a->request, "after");
    const char *dot = after ? strrchr(after, '.') : NULL;
    uint64_t limit = LIST_MOST;
    struct piece p = {.cut = cut_make(a->out, t->heap, true), .after = after, .found = !after};
    if (!ask_count(a, "limit", 1, &limit)) return;
    p.left = limit < LIST_MOST ? (size_t)limit : LIST_MOST;
    if (after && !dot) {
        ask_problem(a, 400, "`after` is RUN.NUMBER, of the last wait that came");
        return;
    }
    p.run_len = dot ? (size_t)(dot - after) : 0;
    p.number = dot ? strtoull(dot + 1, NULL, 10) : 0;
    a->request->type = "application/x-ndjson";
    const size_t most = p.left;
    mwl_status status = t->store->ops->waits(t->store, 0, see_line_wait, &p);
    if (status == MWL_OK) status = store_runs_hide(t->store, t->shown, &p.runs);
    p.known = true;
    p.left = most;
    p.found = !after;
    if (status == MWL_OK) status = t->store->ops->waits(t->store, 0, see_line_wait, &p);
    store_runs_free(&p.runs);
    if (status != MWL_OK)
        ask_refused(a, t, status);
    else if (!p.found)
        ask_problem(a, 410, "the run of '%s' waits for nothing any more: begin without `after`",
                    after);
}

/* ---- one run --------------------------------------------------------------------------------- */

struct found {
    struct ask *ask;
    struct cut *cut; /* the run is written with it; NULL: it is only found */
    int64_t seq;
    mwl_store_state state;
    uint8_t program[16];
    void *bytes;
    size_t size;
    bool there, hidden; /* hidden: its secrets are */
};

static bool see_found(void *ctx, const mwl_store_row *row) {
    struct found *f = ctx;
    f->there = true;
    f->hidden = store_row_hidden(row);
    f->seq = row->seq;
    f->state = row->state;
    memcpy(f->program, row->program, sizeof f->program);
    if (row->bytes && (f->bytes = malloc(row->size + 1))) {
        memcpy(f->bytes, row->bytes, row->size);
        f->size = row->size;
    }
    if (!f->cut) return false;
    char id[33];
    put_hex(row->program, id);
    putc('{', f->ask->out);
    put_run(f->ask->out, row);
    put_text(f->ask->out, "programId", id, false);
    if (has_result(row)) cut_result(f->cut, "result", row->result);
    cut_json(f->cut, "start", row->start);
    return false;
}

/* False after a problem. Free bytes in any case. */
static bool find(struct ask *a, struct desk_tools *t, const char *run, struct found *f,
                 bool snapshot) {
    const mwl_store_query query = {.id = run, .snapshots = snapshot};
    f->ask = a;
    mwl_status status = desk_list(t, &query, see_found, f);
    if (status != MWL_OK)
        ask_refused(a, t, status);
    else if (!f->there)
        ask_problem(a, 404, "there is no run '%s'", run);
    return status == MWL_OK && f->there;
}

/* Where the run is, as the snapshot knows it: frames and calls. Nothing if it cannot be read. */
static mwl_value look_inside(struct desk_tools *t, const struct found *f) {
    mwl_program *program = NULL;
    mwl_vm *vm = desk_vm(t);
    mwl_run *run = NULL;
    mwl_saved saved;
    mwl_value value = mwl_absent();
    if (!vm || program_load(t, f->program, &program) != MWL_OK || !program) return value;
    const mwl_limits limits = {.memory_bytes = t->options->definition.limits.memory};
    const mwl_load how = {.program = program, .limits = &limits};
    if (mwl__run_load(vm, f->bytes, f->size, &how, true, &run, NULL) == MWL_OK) {
        if (mwl_saved_read(f->bytes, f->size, &saved) == MWL_OK)
            value = show_value(vm, run, &saved, f->size);
        mwl__run_unload(run);
    }
    mwl_program_release(program);
    return value;
}

/* The members of an object, each cut; those of `vars` one by one. */
static void put_members(struct cut *c, mwl_value object) {
    mwl_value key, value;
    putc('{', c->to);
    for (size_t i = 0; mwl_object_at(object, i, &key, &value) && cut_has_room(c); i++) {
        const char *name = mwl_as_text(key, NULL);
        if (i) putc(',', c->to);
        cut_value(c, key);
        putc(':', c->to);
        if (strcmp(name, "vars") == 0 && mwl_value_kind(value) == MWL_KIND_OBJECT)
            put_members(c, value);
        else
            cut_value(c, value);
    }
    putc('}', c->to);
}

static void put_objects(struct cut *c, mwl_value all, const char *name) {
    mwl_value list = mwl_get(all, name);
    put_name(c->to, name, false);
    putc('[', c->to);
    for (size_t i = 0; i < mwl_count(list) && cut_has_room(c); i++) {
        if (i) putc(',', c->to);
        put_members(c, mwl_array_at(list, i));
    }
    putc(']', c->to);
}

static void put_inside(struct cut *c, struct desk_tools *t, const struct found *f) {
    mwl_value all = look_inside(t, f);
    if (mwl_is_absent(all)) return;
    mwl_heap *heap = c->heap;
    c->heap = t->session->heap;
    put_objects(c, all, "frames");
    put_objects(c, all, "calls");
    mwl_value_drop(c->heap, all);
    c->heap = heap;
}

/* With full=1 a run comes whole or not at all. */
static void end_run(struct ask *a, const struct cut *c) {
    if (c->any && is_set(a, "full")) {
        ask_problem(a, 413, "the run has more than %zu MiB: ask without `full`, or for its result",
                    c->all >> 20);
        return;
    }
    if (c->any) fputs(",\"cut\":true", a->out);
    fputs("}\n", a->out);
}

struct open_waits {
    struct cut *cut;
    size_t n;
};

static bool see_open_wait(void *ctx, const char *run, const mwl_store_wait *wait) {
    struct open_waits *o = ctx;
    if (!cut_has_room(o->cut)) return false;
    if (o->n++) putc(',', o->cut->to);
    put_wait(o->cut, run, wait);
    return true;
}

void api_run(struct ask *a, struct desk_tools *t) {
    struct cut c = cut_make(a->out, t->heap, is_set(a, "full"));
    struct found f = {.cut = &c};
    struct open_waits open = {&c, 0};
    if (find(a, t, a->words[0], &f, true)) {
        fputs(",\"open\":[", a->out);
        mwl_status status =
            f.hidden ? t->store->ops->waits(t->store, f.seq, see_open_wait, &open) : MWL_OK;
        putc(']', a->out);
        if (f.bytes && (f.state < MWL_STORE_DONE || f.state == MWL_STORE_STUCK))
            put_inside(&c, t, &f);
        end_run(a, &c);
        if (status != MWL_OK) ask_refused(a, t, status);
    }
    free(f.bytes);
}

void api_snapshot(struct ask *a, struct desk_tools *t) {
    struct found f = {.there = false};
    if (find(a, t, a->words[0], &f, true)) {
        const char *accept = a->request->accept;
        if (!f.bytes) {
            ask_problem(a, 404, "run '%s' has no snapshot: it has not begun, or is over",
                        a->words[0]);
        } else if (accept && strstr(accept, "application/json")) {
            fputs("{\"state\":\"", a->out);
            fputs(mwl_store_state_name(f.state), a->out);
            putc('"', a->out);
            struct cut c = cut_make(a->out, t->heap, is_set(a, "full"));
            put_inside(&c, t, &f);
            end_run(a, &c);
        } else {
            a->request->type = "application/octet-stream";
            fwrite(f.bytes, 1, f.size, a->out);
        }
    }
    free(f.bytes);
}

/* The event that a listener has seen last: the header is of a client that comes again. */
static bool read_after(struct ask *a, uint64_t *out) {
    if (!ask_count(a, "after", 0, out)) return false;
    if (a->request->last_event) *out = strtoull(a->request->last_event, NULL, 10);
    return true;
}

void api_run_events(struct ask *a, struct desk_tools *t) {
    struct found f = {.there = false};
    uint64_t after = 0;
    if (!read_after(a, &after) || !find(a, t, a->words[0], &f, false)) return;
    a->streams = true;
    a->seq = f.seq;
    a->after = after;
}

void api_events(struct ask *a, struct desk_tools *t) {
    uint64_t after = UINT64_MAX;
    mwl_status status = MWL_OK;
    if (!read_after(a, &after)) return;
    if (after != UINT64_MAX)
        a->after = after;
    else
        status = streams_last(t->store, &a->after);
    a->streams = status == MWL_OK;
    if (status != MWL_OK) ask_refused(a, t, status);
}

/* ---- results --------------------------------------------------------------------------------- */

/* A success is what the run was for, and comes as it is; a failure is for people, too. */
static void put_whole(struct ask *a, const mwl_store_row *row) {
    size_t len = row->result.len;
    char *hidden = NULL;
    if (!row->result.at) {
        ask_problem(a, 500, "the row of run '%s' is damaged", row->id);
        return;
    }
    if (row->state == MWL_STORE_FAILED) hidden = redact_json_text(row->result.at, len, &len);
    fwrite(hidden ? hidden : row->result.at, 1, len, a->out);
    putc('\n', a->out);
    free(hidden);
}

static bool see_result(void *ctx, const mwl_store_row *row) {
    struct ask *a = ctx;
    a->seq = row->seq;
    if (has_result(row) && row->result.len >= ANSWER_MOST) {
        ask_problem(a, 413, "the Result has %zu bytes, and an answer at most %d MiB",
                    row->result.len, ANSWER_MOST >> 20);
    } else if (has_result(row)) {
        put_whole(a, row);
    } else if (row->state >= MWL_STORE_DONE) {
        ask_problem(a, 409, "run '%s' is %s: %s", row->id, mwl_store_state_name(row->state),
                    row->result.at ? row->result.at : "");
    } else if (a->last) {
        a->request->status = 202;
        putc('{', a->out);
        put_run(a->out, row);
        fputs("}\n", a->out);
    } else {
        a->again = true;
    }
    return false;
}

/* Of the run that a->on names. */
static void put_result(struct ask *a, struct desk_tools *t) {
    const char *run = a->on + strlen("run ");
    const mwl_store_query query = {.id = run};
    a->seq = 0;
    mwl_status status = desk_list(t, &query, see_result, a);
    if (status != MWL_OK)
        ask_refused(a, t, status);
    else if (!a->seq)
        ask_problem(a, 404, "there is no run '%s'", run);
}

void api_result(struct ask *a, struct desk_tools *t) {
    snprintf(a->on, sizeof a->on, "run %s", a->words[0]);
    put_result(a, t);
}

/* ---- starting -------------------------------------------------------------------------------- */

/* The limit that the request wants, but not more than the server has; 0: not given. */
static double least(mwl_value limits, const char *name, double most) {
    mwl_value v = mwl_get(limits, name);
    double d = mwl_value_kind(v) == MWL_KIND_NUMBER ? floor(mwl_as_number(v)) : most;
    return d >= 1 && d < most ? d : most;
}

char *run_start_text(struct desk_tools *t, mwl_value request, size_t *len) {
    const struct limits *l = &t->options->definition.limits;
    mwl_value wanted = mwl_get(request, "limits");
    double fuel = least(wanted, "fuel", l->fuel == UINT64_MAX ? 9e15 : (double)l->fuel);
    double memory = least(wanted, "memory", l->memory == SIZE_MAX ? 9e15 : (double)l->memory);
    const mwl_limits limits = {.fuel = fuel < 9e15 ? (uint64_t)fuel : 0,
                               .memory_bytes = memory < 9e15 ? (size_t)memory : 0};
    mwl_start start = {.input = mwl_get(request, "input"),
                       .arguments = mwl_get(request, "arguments"),
                       .limits = &limits};
    (void)seed_read(mwl_get(request, "seed"), &start.seed);
    char *text = start_text(t->heap, &start, len), *copy = text ? strdup(text) : NULL;
    mwl_text_free(t->heap, text, *len);
    return copy;
}

struct starts {
    mwl_store_start *list;
    size_t n;
};

static void free_starts(struct starts *s) {
    for (size_t i = 0; i < s->n; i++) {
        free((void *)(uintptr_t)s->list[i].id);
        free((void *)(uintptr_t)s->list[i].program);
        free((void *)(uintptr_t)s->list[i].name);
        free((void *)(uintptr_t)s->list[i].start.at);
    }
    free(s->list);
}

/* The id that is given, or the key of the request (of an array: and the number in it), or a new
 * one. malloc. */
static char *make_id(const struct ask *a, mwl_value request, bool only, size_t n) {
    const char *given = text_member(request, "id"), *key = a->request->key;
    char made[SERVE_KEY + 30];
    if (given) return strdup(given);
    if (key && only) return strdup(key);
    if (key) {
        snprintf(made, sizeof made, "%s.%zu", key, n);
    } else {
        if (!auth_random(made)) return NULL;
        made[16] = '\0';
    }
    return strdup(made);
}

/* Refuses unknown members: a misspelt one would be ignored, and the run be without its input or its
 * limit. */
static bool is_start(struct ask *a, mwl_value request) {
    static const char *const names[] = {"program", "input", "arguments", "id", "limits", "seed"};
    static const char *const limits[] = {"fuel", "memory"};
    mwl_value wanted = mwl_get(request, "limits"), seed = mwl_get(request, "seed");
    uint64_t number;
    if (!mwl_is_absent(seed) && !seed_read(seed, &number)) {
        ask_problem(a, 400, "`seed` is a number from 1 to 9007199254740991, or a text of digits");
        return false;
    }
    return ask_members(a, "a start", request, names, sizeof names / sizeof *names) &&
           (mwl_is_absent(wanted) ||
            ask_members(a, "`limits`", wanted, limits, sizeof limits / sizeof *limits)) &&
           ask_text_member(a, request, "id", STORE_ID) &&
           ask_text_member(a, request, "program", SERVE_BODY);
}

static bool read_start(struct ask *a, struct desk_tools *t, mwl_value request, bool only,
                       struct starts *s) {
    if (!is_start(a, request)) return false;
    const char *program = text_member(request, "program");
    mwl_value arguments = mwl_get(request, "arguments");
    uint8_t *id = malloc(16);
    if (!id) {
        ask_problem(a, 503, "out of memory");
    } else if (!program) {
        ask_problem(a, 400, "`program` is missing: the name or the id of a program");
    } else if (!mwl_is_absent(arguments) && mwl_value_kind(arguments) != MWL_KIND_OBJECT) {
        ask_problem(a, 400, "`arguments` is not an object");
    } else if (program_find(a, t, program, id)) {
        mwl_store_start *out = &s->list[s->n++];
        size_t len = 0;
        char *text = run_start_text(t, request, &len);
        *out = (mwl_store_start){
            make_id(a, request, only, s->n - 1), id, strdup(program), {text, len}, store_now()};
        if (!out->id || !out->name || !text)
            ask_problem(a, 503, "out of memory");
        else if (!*out->id || strlen(out->id) > STORE_ID)
            ask_problem(a, 400, "an id has 1 to %d bytes", STORE_ID);
        else
            return true;
        return false;
    }
    free(id);
    return false;
}

static void put_started(struct ask *a, const struct starts *s, bool list) {
    a->request->status = 202;
    if (list) putc('[', a->out);
    for (size_t i = 0; i < s->n; i++) {
        if (i) putc(',', a->out);
        putc('{', a->out);
        put_text(a->out, "run", s->list[i].id, true);
        putc('}', a->out);
    }
    fputs(list ? "]\n" : "\n", a->out);
}

static bool start_all(struct ask *a, struct desk_tools *t, mwl_value body, struct starts *s) {
    bool list = mwl_value_kind(body) == MWL_KIND_ARRAY, good = true;
    size_t n = list ? mwl_count(body) : 1, which = 0;
    if (n > START_MOST) {
        ask_problem(a, 413, "at most %d runs can be started at once", START_MOST);
        return false;
    }
    s->list = calloc(n + 1, sizeof *s->list);
    if (!s->list) ask_problem(a, 503, "out of memory");
    good = s->list != NULL;
    for (size_t i = 0; i < n && good; i++)
        good = read_start(a, t, list ? mwl_array_at(body, i) : body, !list, s);
    if (!good) return false;
    mwl_status status = t->store->ops->start_all(t->store, s->list, s->n, &which);
    if (status != MWL_OK) ask_refused(a, t, status);
    a->changed = status == MWL_OK;
    return status == MWL_OK;
}

/* Asked again while it waits, it looks for the Result only. */
void api_start(struct ask *a, struct desk_tools *t) {
    struct starts s = {NULL, 0};
    mwl_value body = mwl_absent();
    if (*a->on) {
        put_result(a, t);
        return;
    }
    if (!ask_body(a, t, &body)) return;
    if (start_all(a, t, body, &s)) {
        bool list = mwl_value_kind(body) == MWL_KIND_ARRAY;
        if (list || a->last) {
            put_started(a, &s, list);
        } else {
            snprintf(a->on, sizeof a->on, "run %s", s.list[0].id);
            a->again = true;
        }
    }
    free_starts(&s);
    mwl_value_drop(t->heap, body);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void post(struct ask *a, struct desk_tools *t, mwl_store_message *m) {
    m->now_wall_ns = store_now();
    mwl_status status = t->store->ops->post(t->store, m);
    a->changed = status == MWL_OK;
    if (status != MWL_OK) ask_refused(a, t, status);
}

void api_answer(struct ask *a, struct desk_tools *t) {
    char why[400] = "";
    bool good = true;
    mwl_value body = mwl_absent();
    if (!ask_names_wait(a, a->words[0], a->words[1]) || !ask_body(a, t, &body)) return;
    mwl_store_message m = {.run = a->words[0],
                           .kind = MWL_STORE_ANSWER,
                           .name = a->words[1],
                           .key = a->request->key,
                           .body = {a->request->body, a->request->len}};
    mwl_status status = fits_wait(t->store, t->heap, m.run, m.name, body, &good, why, sizeof why);
    a->request->status = 204;
    if (status != MWL_OK)
        ask_refused(a, t, status);
    else if (!good)
        ask_problem(a, 422, "%s", why);
    else
        post(a, t, &m);
    mwl_value_drop(t->heap, body);
}

/* The body may have a reason: {"reason": "..."}. */
void api_cancel(struct ask *a, struct desk_tools *t) {
    mwl_value body = mwl_absent();
    char *text = NULL;
    size_t len = 0;
    static const char *const names[] = {"reason"};
    if (a->request->len && !ask_body(a, t, &body)) return;
    if (!mwl_is_absent(body) && !ask_members(a, "a cancellation", body, names, 1)) {
        mwl_value_drop(t->heap, body);
        return;
    }
    const char *reason = text_member(body, "reason");
    if (!reason) reason = "cancelled";
    FILE *to = open_memstream(&text, &len);
    if (to) {
        json_out_text(to, reason);
        fclose(to);
    }
    mwl_store_message m = {
        .run = a->words[0], .kind = MWL_STORE_CANCEL, .name = "", .body = {text, len}};
    a->request->status = 202;
    fputs("{}\n", a->out);
    post(a, t, &m);
    free(text);
    mwl_value_drop(t->heap, body);
}

void api_resume(struct ask *a, struct desk_tools *t) {
    mwl_store_message m = {.run = a->words[0], .kind = MWL_STORE_RESUME, .name = ""};
    a->request->status = 202;
    fputs("{}\n", a->out);
    post(a, t, &m);
}
