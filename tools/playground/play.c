/* play.c: see play.h. */
#include "tools/playground/play.h"

#include "assembler/emit/disasm.h"
#include "tools/graph/graph.h"
#include "tools/playground/reply.h"
#include "tools/playground/run.h"
#include "mwl_config.h"
#include "vm/program/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A definition and its case, checked, with its program. Runs of the same texts share one. */
struct shared {
    size_t uses;
    mwl_value request; /* its texts are used */
    struct subject *subject;
    mwl_program *program; /* NULL: not yet */
};

struct slot {
    uint64_t id;
    struct play_run *run;
    struct shared *shared;
};

struct play {
    mwl_heap *heap; /* of requests */
    mwl__buf reply;
    struct slot *runs; /* by id */
    size_t n_runs, cap_runs;
    uint64_t last_id;
    struct shared *last; /* of the last run that was started, or NULL */
};

struct play *play_new(void) {
    struct play *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->reply = mwl__buf_make(mwl_alloc_default());
    if (mwl_heap_new(NULL, &p->heap) == MWL_OK) return p;
    free(p);
    return NULL;
}

static void release(struct play *p, struct shared *s) {
    if (!s || --s->uses) return;
    mwl_program_release(s->program);
    subject_free(s->subject);
    mwl_value_drop(p->heap, s->request);
    free(s);
}

static void drop_slot(struct play *p, struct slot *s) {
    play_run_free(s->run);
    release(p, s->shared);
}

void play_free(struct play *p) {
    if (!p) return;
    for (size_t i = 0; i < p->n_runs; i++) drop_slot(p, &p->runs[i]);
    free(p->runs);
    release(p, p->last);
    mwl__buf_free(&p->reply);
    mwl_heap_free(p->heap);
    free(p);
}

/* ---- what requests have ---------------------------------------------------------------------- */

static bool is_set(mwl_value request, const char *name) {
    mwl_value v = mwl_get(request, name);
    return mwl_value_kind(v) == MWL_KIND_BOOL && mwl_as_bool(v);
}

static uint64_t number_of(mwl_value request, const char *name) {
    mwl_value v = mwl_get(request, name);
    if (mwl_value_kind(v) != MWL_KIND_NUMBER || !(mwl_as_number(v) >= 1) || mwl_as_number(v) > 9e15)
        return 0;
    return (uint64_t)mwl_as_number(v);
}

static void fail(struct play *p, const char *words) {
    p->reply.len = 0;
    mwl__buf_putc(&p->reply, '{');
    reply_member(&p->reply, "error", words);
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void about(struct play *p, mwl_value request) {
    (void)request;
    reply_member(&p->reply, "version", mwl_version());
    reply_name(&p->reply, "missing");
    mwl__buf_putc(&p->reply, '[');
#if !MWL_PCRE2
    mwl__buf_puts(&p->reply, "\"patterns of JSON Schemas with look-around or back-references\"");
#endif
    mwl__buf_putc(&p->reply, ']');
}

static void check(struct play *p, mwl_value request) {
    struct subject *s = subject_new();
    if (!s) {
        p->reply.failed = true;
        return;
    }
    mwl_status status = subject_read(s, request, NULL);
    static const char *const texts[] = {"input", "arguments"};
    for (size_t i = 0; i < 2 && s->heap; i++) {
        mwl_value v;
        (void)subject_json(s, request, texts[i], s->heap, &v);
        mwl_value_drop(s->heap, v);
    }
    play_run_check(s, request);
    if (s->problems.len && status == MWL_OK) status = MWL_E_REJECTED;
    subject_reply(s, status, &p->reply);
    subject_free(s);
}

static void assemble(struct play *p, mwl_value request) {
    struct subject *s = subject_new();
    if (!s) {
        p->reply.failed = true;
        return;
    }
    mwl_asm_result image = {0};
    mwl_status status = subject_read(s, request, NULL);
    unsigned flags = (is_set(request, "strip") ? MWL_ASM_STRIP : 0u) |
                     (is_set(request, "pack") ? MWL_ASM_PACK : 0u);
    if (status == MWL_OK) status = subject_assemble(s, flags, &image);
    subject_reply(s, status, &p->reply);
    reply_name(&p->reply, "image");
    if (status == MWL_OK)
        reply_base64(&p->reply, image.image, image.image_size);
    else
        mwl__buf_puts(&p->reply, "null");
    mwl_asm_free(&image);
    subject_free(s);
}

static void put_graph(struct subject *s, mwl__buf *out) {
    struct graph g;
    mwl__buf svg = mwl__buf_make(mwl_alloc_default());
    graph_init(&g, mwl_alloc_default(), s->name);
    bool drawn =
        s->drawable && graph_build(&g, &s->model.model) == MWL_OK && graph_layout(&g) == MWL_OK;
    if (drawn) graph_svg(&g, &svg);
    reply_name(out, "svg");
    reply_text(out, drawn && !svg.failed ? svg.data : NULL, svg.len);
    mwl__buf_free(&svg);
    graph_free(&g);
}

static mwl_status load(struct subject *s, mwl_program **out) {
    mwl_asm_result image = {0};
    mwl_status status = subject_assemble(s, 0, &image);
    if (status == MWL_OK)
        status = mwl_program_load(NULL, image.image, image.image_size, MWL_COPY, out, NULL);
    mwl_asm_free(&image);
    return status;
}

static void look(struct play *p, mwl_value request) {
    struct subject *s = subject_new();
    if (!s) {
        p->reply.failed = true;
        return;
    }
    mwl_program *program = NULL;
    mwl__buf listing = mwl__buf_make(mwl_alloc_default());
    mwl_status status = subject_read(s, request, NULL);
    put_graph(s, &p->reply);
    if (s->drawable) (void)load(s, &program);
    bool listed = program && mwl__disasm(program, 0, &listing) == MWL_OK && !listing.failed;
    subject_reply(s, status, &p->reply);
    reply_name(&p->reply, "listing");
    reply_text(&p->reply, listed ? listing.data : NULL, listing.len);
    mwl__buf_free(&listing);
    mwl_program_release(program);
    subject_free(s);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static mwl_status load_image(const char *text, size_t len, mwl_program **out, mwl_error *error) {
    mwl__buf image = mwl__buf_make(mwl_alloc_default());
    mwl_status status = MWL_E_IMAGE;
    error->message = "the image is not base64";
    if (reply_from_base64(&image, text, len))
        status = mwl_program_load(NULL, image.data, image.len, MWL_COPY, out, error);
    mwl__buf_free(&image);
    return status;
}

/* Takes over the run and the use of `shared`. */
static void add_run(struct play *p, struct play_run *run, struct shared *shared) {
    if (p->n_runs == p->cap_runs) {
        size_t cap = p->cap_runs ? p->cap_runs * 2 : 16;
        struct slot *grown = realloc(p->runs, cap * sizeof *grown);
        if (!grown) {
            play_run_free(run);
            release(p, shared);
            p->reply.failed = true;
            return;
        }
        p->runs = grown;
        p->cap_runs = cap;
    }
    p->runs[p->n_runs++] = (struct slot){++p->last_id, run, shared};
    mwl__buf_printf(&p->reply, ",\"run\":%" PRIu64, p->last_id);
    play_run_state(run, &p->reply);
}

/* Do both requests have the same texts of a definition and its case? */
static bool same_subject(mwl_value a, mwl_value b) {
    static const char *const texts[] = {"definition", "name", "case", "image"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t n = 0, m = 0;
        const char *x = mwl_as_text(mwl_get(a, texts[i]), &n),
                   *y = mwl_as_text(mwl_get(b, texts[i]), &m);
        if (!x != !y || (x && (n != m || memcmp(x, y, n) != 0))) return false;
    }
    return true;
}

/* A use of what the request starts: of the last one, or a new one without a program. NULL: out of
 * memory. */
static struct shared *share(struct play *p, mwl_value request) {
    struct shared *s = p->last;
    if (!s || !same_subject(s->request, request)) {
        s = calloc(1, sizeof *s);
        struct subject *subject = s ? subject_new() : NULL;
        if (!subject) {
            free(s);
            return NULL;
        }
        *s = (struct shared){0, mwl_value_keep(request), subject, NULL};
    }
    s->uses++;
    return s;
}

/* Reads and checks the texts, and makes the program. */
static mwl_status prepare(struct shared *s, mwl_error *error) {
    size_t len = 0;
    const char *image = mwl_as_text(mwl_get(s->request, "image"), &len);
    if (s->program) return MWL_OK;
    mwl_status status = image ? load_image(image, len, &s->program, error) : MWL_OK;
    if (status != MWL_OK) {
        if (!error->message) error->message = "the image cannot be loaded";
        return status;
    }
    status = subject_read(s->subject, s->request, s->program);
    error->message = NULL;
    return status == MWL_OK && !s->program ? load(s->subject, &s->program) : status;
}

/* The next run may be of the same texts. One with a problem is not kept: its problems are told
 * once. */
static void remember(struct play *p, struct shared *s) {
    if (s) s->uses++;
    release(p, p->last);
    p->last = s;
}

static void start(struct play *p, mwl_value request) {
    struct play_run *run = NULL;
    mwl_error error = {MWL_OK, NULL, 0};
    struct shared *s = share(p, request);
    if (!s) {
        p->reply.failed = true;
        return;
    }
    mwl_status status = prepare(s, &error);
    if (status == MWL_OK) status = play_run_new(s->subject, s->program, request, &run);
    remember(p, run ? s : NULL);
    if (run) {
        mwl__buf_puts(&p->reply, "\"ok\":true,\"diagnostics\":[],\"problems\":[]");
        add_run(p, run, s);
        return;
    }
    if (error.message) {
        fail(p, error.message);
    } else {
        subject_reply(s->subject, status, &p->reply);
        mwl__buf_puts(&p->reply, ",\"run\":null");
    }
    release(p, s);
}

/* NULL: there is no such run. */
static struct slot *find(const struct play *p, uint64_t id) {
    size_t from = 0, to = p->n_runs;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (p->runs[middle].id < id)
            from = middle + 1;
        else
            to = middle;
    }
    return from < p->n_runs && p->runs[from].id == id ? &p->runs[from] : NULL;
}

static void end(struct play *p, struct slot *s) {
    size_t behind = (size_t)(p->runs + p->n_runs - (s + 1));
    drop_slot(p, s);
    memmove(s, s + 1, behind * sizeof *s);
    p->n_runs--;
}

static void go(struct play *p, mwl_value request, struct play_run *run) {
    static const char *const words[] = {"step", "wait", "timer", "end"};
    const char *until = mwl_as_text(mwl_get(request, "until"), NULL);
    uint64_t fuel = number_of(request, "fuel");
    size_t i = 0;
    while (until && i < 4 && strcmp(words[i], until) != 0) i++;
    if (!until || i == 4) {
        fail(p, "`until` is step, wait, timer or end");
        return;
    }
    play_run_go(run, (enum play_until)i, is_set(request, "advance"),
                fuel ? (int64_t)fuel : 5000000);
    play_run_state(run, &p->reply);
}

static void answer(struct play *p, mwl_value request, struct play_run *run) {
    size_t len = 0;
    bool ok = mwl_is_absent(mwl_get(request, "failure"));
    const char *json = mwl_as_text(mwl_get(request, ok ? "value" : "failure"), &len);
    bool done = json && play_run_answer(run, number_of(request, "number"), ok, json, len);
    mwl__buf_printf(&p->reply, "\"ok\":%s", done ? "true" : "false");
    play_run_state(run, &p->reply);
}

static void of_run(struct play *p, mwl_value request, const char *what) {
    struct slot *s = find(p, number_of(request, "run"));
    if (!s) {
        fail(p, "there is no such run");
    } else if (strcmp(what, "go") == 0) {
        go(p, request, s->run);
    } else if (strcmp(what, "answer") == 0) {
        answer(p, request, s->run);
    } else if (strcmp(what, "cancel") == 0) {
        play_run_cancel(s->run, mwl_as_text(mwl_get(request, "reason"), NULL));
        play_run_state(s->run, &p->reply);
    } else if (strcmp(what, "state") == 0) {
        play_run_state(s->run, &p->reply);
    } else if (strcmp(what, "report") == 0) {
        play_run_report(s->run, &p->reply);
    } else if (strcmp(what, "end") == 0) {
        end(p, s);
    } else {
        fail(p, "`do` is not known");
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

static void serve(struct play *p, mwl_value request) {
    static const struct {
        const char *word;
        void (*serve)(struct play *p, mwl_value request);
    } words[] = {{"about", about},
                 {"check", check},
                 {"assemble", assemble},
                 {"look", look},
                 {"start", start}};
    const char *what = mwl_as_text(mwl_get(request, "do"), NULL);
    mwl__buf_putc(&p->reply, '{');
    for (size_t i = 0; what && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, what) == 0) {
            words[i].serve(p, request);
            return;
        }
    of_run(p, request, what ? what : "");
}

const char *play_request(struct play *p, const char *json, size_t len, size_t *out_len) {
    static const char no_memory[] = "{\"error\":\"out of memory\"}";
    mwl_value request = mwl_absent();
    p->reply.len = 0;
    p->reply.failed = false;
    mwl_status status = mwl_json_parse(p->heap, json, len, &request, NULL);
    if (status == MWL_OK)
        serve(p, request);
    else
        fail(p, "the request is not JSON");
    mwl__buf_putc(&p->reply, '}');
    mwl_value_drop(p->heap, request);
    const char *text = mwl__buf_cstr(&p->reply);
    *out_len = p->reply.failed ? sizeof no_memory - 1 : p->reply.len;
    return p->reply.failed ? no_memory : text;
}
