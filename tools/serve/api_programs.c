/* api_programs.c: programs by name, and their pictures. On the desk's thread. */
#include "tools/serve/serve.h"

#include "tools/base/cmd.h"
#include "tools/words/guide.h"
#include "tools/host/definition_model.h"
#include "tools/durable/store.h"
#include "tools/serve/endpoints.h"
#include "tools/graph/graph.h"
#include "tools/host/io_host.h"
#include "tools/base/json_out.h"
#include "vm/program/program.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 200, WORK = 100000000 };

/* ---- names ----------------------------------------------------------------------------------- */

static bool read_hex(const char *text, uint8_t id[16]) {
    if (strlen(text) != 32 || strspn(text, "0123456789abcdef") != 32) return false;
    for (size_t i = 0; i < 16; i++) {
        char two[3] = {text[2 * i], text[2 * i + 1], '\0'};
        id[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    return true;
}

struct named {
    const char *key;
    char value[33];
};

static bool see_name(void *ctx, const char *key, const char *value) {
    struct named *n = ctx;
    if (strcmp(key, n->key) != 0) return true;
    snprintf(n->value, sizeof n->value, "%s", value);
    return false;
}

static mwl_status find_name(struct desk_tools *t, const char *name, char out[33]) {
    char key[sizeof MWL_STORE_PROGRAM + NAME_MOST + 1];
    snprintf(key, sizeof key, "%s%s", MWL_STORE_PROGRAM, name);
    struct named n = {key, ""};
    mwl_status status = t->store->ops->values(t->store, key, see_name, &n);
    memcpy(out, n.value, sizeof n.value);
    return status;
}

static void see_nothing(void *ctx, const char *name, const void *image, size_t size) {
    (void)ctx, (void)name, (void)image, (void)size;
}

mwl_status program_id(struct desk_tools *t, const char *name, uint8_t id[16]) {
    char text[33] = "";
    mwl_status status = strlen(name) > NAME_MOST ? MWL_OK : find_name(t, name, text);
    if (status != MWL_OK || read_hex(text, id)) return status;
    if (!read_hex(name, id)) return MWL_E_NOT_FOUND;
    return t->store->ops->get_program(t->store, id, see_nothing, NULL);
}

bool program_find(struct ask *a, struct desk_tools *t, const char *name, uint8_t id[16]) {
    mwl_status status = program_id(t, name, id);
    if (status == MWL_E_NOT_FOUND)
        ask_problem(a, 404, "there is no program '%.200s'", name);
    else if (status != MWL_OK)
        ask_refused(a, t, status);
    return status == MWL_OK;
}

struct loading {
    size_t memory;
    mwl_program *program;
};

static void see_image(void *ctx, const char *name, const void *image, size_t size) {
    struct loading *l = ctx;
    (void)name;
    if (mwl_program_load_within(NULL, image, size, MWL_COPY, l->memory, &l->program, NULL) !=
        MWL_OK)
        l->program = NULL;
}

mwl_status program_load(struct desk_tools *t, const uint8_t id[16], mwl_program **out) {
    struct loading l = {t->options->definition.limits.memory, NULL};
    mwl_status status = t->store->ops->get_program(t->store, id, see_image, &l);
    *out = l.program;
    return status;
}

/* ---- putting --------------------------------------------------------------------------------- */

static mwl_status assemble(struct desk_tools *t, const char *name, const char *text, size_t len,
                           mwl_asm_result *out) {
    const struct definition *d = &t->options->definition;
    mwl_asm_options options = d->options;
    options.file = name;
    options.providers = d->providers;
    options.n_providers = d->n_providers;
    options.allow = d->allow;
    options.deny = d->deny;
    options.format = MWL_ASM_JSON;
    options.colour = false;
    options.guide = cmd_guide;
    options.max_work = WORK;
    options.max_memory = d->limits.memory;
    options.library = d->library ? d->library : io_host_documents();
    return mwl_assemble(text, len, &options, out);
}

/* The name is set whatever it was before: the last one counts. */
static mwl_status set_name(struct desk_tools *t, const char *name, const uint8_t id[16]) {
    char key[sizeof MWL_STORE_PROGRAM + NAME_MOST + 1], hex[33], old[33];
    mwl_status status;
    snprintf(key, sizeof key, "%s%s", MWL_STORE_PROGRAM, name);
    put_hex(id, hex);
    do {
        status = find_name(t, name, old);
        if (status == MWL_OK)
            status = t->store->ops->set_value(t->store, key, *old ? old : NULL, hex);
    } while (status == MWL_E_STATE);
    return status;
}

mwl_status program_put(struct desk_tools *t, const char *name, const char *text, size_t len,
                       uint8_t id[16], char **why) {
    mwl_asm_result made;
    mwl_program *program = NULL;
    mwl_error error = {MWL_OK, "", 0};
    mwl_status status = MWL_OK;
    const void *image = text;
    memset(&made, 0, sizeof made);
    *why = NULL;
    if (!definition_is_program(text, len)) {
        status = assemble(t, name, text, len, &made);
        *why = made.diagnostics_len ? strdup(made.diagnostics) : NULL;
        image = made.image;
        len = made.image_size;
    }
    if (status == MWL_OK)
        status = mwl_program_load_within(NULL, image, len, MWL_COPY,
                                         t->options->definition.limits.memory, &program, &error);
    if (status == MWL_OK) {
        mwl_program_id(program, id);
        status = t->store->ops->put_program(t->store, id, name, program->bytes, program->size,
                                            store_now());
        if (status == MWL_OK) status = set_name(t, name, id);
    } else if (!*why) {
        size_t size = 0;
        FILE *to = open_memstream(why, &size);
        if (to) {
            json_out_text(to, error.message && *error.message ? error.message
                                                              : mwl_status_text(status));
            fclose(to);
        }
        status = MWL_E_REJECTED;
    }
    mwl_program_release(program);
    mwl_asm_free(&made);
    return status;
}

static bool is_name(const char *name) {
    uint8_t id[16];
    size_t n = strlen(name);
    return n > 0 && n <= NAME_MOST && !read_hex(name, id);
}

void api_program_put(struct ask *a, struct desk_tools *t) {
    uint8_t id[16];
    char *why = NULL, hex[33];
    if (!is_name(a->words[0])) {
        ask_problem(a, 400, "the name of a program has 1 to %d bytes, and is not an id", NAME_MOST);
        return;
    }
    mwl_status status = program_put(t, a->words[0], a->request->body, a->request->len, id, &why);
    if (status == MWL_OK) {
        put_hex(id, hex);
        putc('{', a->out);
        put_text(a->out, "name", a->words[0], true);
        put_text(a->out, "id", hex, false);
        if (why) put_json(a->out, "diagnostics", (mwl_store_text){why, strlen(why)});
        fputs("}\n", a->out);
    } else if (status == MWL_E_REJECTED) {
        a->request->status = 422;
        a->request->type = "application/problem+json";
        fputs("{\"status\":422,\"title\":\"the definition is rejected\"", a->out);
        if (why) put_json(a->out, "diagnostics", (mwl_store_text){why, strlen(why)});
        fputs("}\n", a->out);
    } else {
        ask_refused(a, t, status);
    }
    free(why);
}

/* ---- looking --------------------------------------------------------------------------------- */

static bool see_program(void *ctx, const char *key, const char *value) {
    FILE *to = ((struct ask *)ctx)->out;
    putc('{', to);
    put_text(to, "name", key + strlen(MWL_STORE_PROGRAM), true);
    put_text(to, "id", value, false);
    fputs("}\n", to);
    return true;
}

void api_programs(struct ask *a, struct desk_tools *t) {
    a->request->type = "application/x-ndjson";
    mwl_status status = t->store->ops->values(t->store, MWL_STORE_PROGRAM, see_program, a);
    if (status != MWL_OK) ask_refused(a, t, status);
}

/* NULL after a problem. Given. */
static mwl_program *load(struct ask *a, struct desk_tools *t, const uint8_t id[16]) {
    mwl_program *program = NULL;
    mwl_status status = program_load(t, id, &program);
    if (status != MWL_OK)
        ask_refused(a, t, status);
    else if (!program || !program->source)
        ask_problem(a, 404, "the program does not have its definition");
    if (program && !program->source) {
        mwl_program_release(program);
        program = NULL;
    }
    return program;
}

void api_program(struct ask *a, struct desk_tools *t) {
    uint8_t id[16];
    char hex[33];
    if (!program_find(a, t, a->words[0], id)) return;
    mwl_program *program = load(a, t, id);
    if (!program) return;
    put_hex(id, hex);
    putc('{', a->out);
    put_text(a->out, "name", a->words[0], true);
    put_text(a->out, "id", hex, false);
    put_json(a->out, "definition", (mwl_store_text){program->source, program->source_size});
    fputs("}\n", a->out);
    mwl_program_release(program);
}

static void draw(struct ask *a, struct desk_tools *t, const char *name, const uint8_t id[16],
                 const mwl_program *program) {
    struct definition how = t->options->definition; /* what this one uses is not counted there */
    struct definition_model m;
    struct graph g;
    how.limits.used = 0;
    how.limits.refused = false;
    if (how.limits.fuel > WORK) how.limits.fuel = WORK;
    how.paid = 0;
    how.quota = NULL;
    int status = definition_model_read(&m, &how, name, program->source, program->source_size, true);
    graph_init(&g, m.alloc, m.source.name ? m.source.name : "");
    g.fuel = m.sink.quota.work;
    mwl_status built = status == CMD_OK ? graph_build(&g, &m.model) : MWL_E_REJECTED;
    if (built == MWL_OK) built = graph_layout(&g);
    mwl__buf out = mwl__buf_make(m.alloc);
    if (built == MWL_OK) graph_svg(&g, &out);
    if (built == MWL_OK && !out.failed) {
        a->request->type = "image/svg+xml";
        fwrite(out.data, 1, out.len, a->out);
        pictures_keep(a->serve->pictures, id, name, out.data, out.len);
    } else {
        ask_problem(a, 500, "the definition cannot be drawn: %s", mwl_status_text(built));
    }
    mwl__buf_free(&out);
    graph_free(&g);
    definition_model_free(&m);
}

static void put_graph(struct ask *a, struct desk_tools *t, const char *name, const uint8_t id[16]) {
    if (pictures_put(a->serve->pictures, id, name, a->out)) {
        a->request->type = "image/svg+xml";
        return;
    }
    mwl_program *program = load(a, t, id);
    if (program) draw(a, t, name, id, program);
    mwl_program_release(program);
}

void api_program_graph(struct ask *a, struct desk_tools *t) {
    uint8_t id[16];
    if (program_find(a, t, a->words[0], id)) put_graph(a, t, a->words[0], id);
}

struct of_run {
    uint8_t id[16];
    char name[NAME_MOST + 1];
    bool there;
};
static bool see_row(void *ctx, const mwl_store_row *row) {
    struct of_run *o = ctx;
    memcpy(o->id, row->program, sizeof o->id);
    snprintf(o->name, sizeof o->name, "%s", row->name);
    o->there = true;
    return false;
}

void api_run_graph(struct ask *a, struct desk_tools *t) {
    const mwl_store_query query = {.id = a->words[0]};
    struct of_run o = {.there = false};
    mwl_status status = t->store->ops->list(t->store, &query, see_row, &o);
    if (status != MWL_OK)
        ask_refused(a, t, status);
    else if (!o.there)
        ask_problem(a, 404, "there is no run '%s'", a->words[0]);
    else
        put_graph(a, t, o.name, o.id);
}
