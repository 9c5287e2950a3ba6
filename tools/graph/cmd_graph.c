/* cmd_graph.c: `mwlvm graph FILE`: a definition as a picture. */
#include "tools/base/cmd.h"
#include "tools/host/definition_model.h"
#include "tools/base/file_out.h"
#include "tools/graph/graph.h"
#include "tools/base/input.h"
#include "tools/base/term.h"
#include "vm/program/program.h"

#include <unistd.h>

struct drawing {
    struct definition how;
    const char *out, *coverage;
    void (*write)(const struct graph *g, mwl__buf *out);
};

static int take_format(void *base, const char *name) {
    static const struct {
        const char *name;
        void (*write)(const struct graph *g, mwl__buf *out);
    } formats[] = {{"svg", graph_svg}, {"mermaid", graph_mermaid}, {"dot", graph_dot}};
    struct drawing *w = base;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(name, formats[i].name) == 0) {
            w->write = formats[i].write;
            return CMD_OK;
        }
    return cmd_usage("--format is svg, mermaid or dot, not '%s'", name);
}

static const struct option options[] = {
    {"--format", OPTION_CALL, 0, "FORM", "svg (the default), mermaid or dot", take_format},
    {"-o", OPTION_WORD, offsetof(struct drawing, out), "OUT",
     "write to this file instead of standard output", NULL},
    {"--coverage", OPTION_WORD, offsetof(struct drawing, coverage), "FILE",
     "colour what cases took and missed: a file of `mwlvm test --coverage-file` (svg)", NULL},
};

static const char head[] =
    "usage: mwlvm graph FILE [OPTIONS]\n\n"
    "Draws a definition, or the definition that a program file was made of: its Steps with what\n"
    "they do, the edges of next, match and catch, middleware as frames around what they wrap. A\n"
    "Flow that one call alone names is drawn inside that call; others by themselves. What only a\n"
    "catch leads to lies to the right.\n\n";

static const char foot[] = "\nExample:\n"
                           "  mwlvm graph tools/examples/hello.json -o hello.svg\n" CMD_STATUSES;

static int write_out(const struct drawing *w, const struct graph *g) {
    mwl__buf out = mwl__buf_make(g->arena.alloc);
    int status = CMD_OK;
    w->write(g, &out);
    if (out.failed)
        status = definition_failed(&w->how, w->how.path, MWL_E_NOMEM);
    else if (w->out)
        status = file_out(w->out, out.data, out.len);
    else
        term_output(out.data, out.len);
    mwl__buf_free(&out);
    return status;
}

static int mark(struct drawing *w, struct graph *g, mwl__source *source) {
    mwl_heap *heap = NULL;
    mwl_value coverage = mwl_absent();
    if (!w->coverage) return CMD_OK;
    if (mwl_heap_new(NULL, &heap) != MWL_OK) return cmd_no_memory();
    struct input in = {heap, &w->how.limits};
    int status = input_word(&in, "--coverage", w->coverage, &coverage);
    if (status == CMD_OK && !graph_mark(g, source, coverage))
        cmd_note("%s says nothing about %s", w->coverage, file_in_name(w->how.path));
    mwl_value_drop(heap, coverage);
    mwl_heap_free(heap);
    return status;
}

static int draw(struct drawing *w, const char *text, size_t len) {
    struct definition_model m;
    struct graph g;
    int status = definition_model_read(&m, &w->how, w->how.path, text, len, false);
    graph_init(&g, m.alloc, m.source.name ? m.source.name : "");
    if (status == CMD_OK) {
        g.fuel = m.sink.quota.work;
        mwl_status built = graph_build(&g, &m.model);
        if (built == MWL_OK) built = graph_layout(&g);
        status = built == MWL_OK ? mark(w, &g, &m.source)
                                 : definition_failed(&w->how, w->how.path, built);
        if (status == CMD_OK) status = write_out(w, &g);
    }
    graph_free(&g);
    definition_model_free(&m);
    return status;
}

static int draw_program(struct drawing *w) {
    mwl_program *program = NULL;
    int status = definition_load(&w->how, w->how.path, &program);
    if (status == CMD_OK && !program->source)
        status = cmd_fail("%s: the definition was stripped from this program",
                          file_in_name(w->how.path));
    if (status == CMD_OK) status = draw(w, program->source, program->source_size);
    mwl_program_release(program);
    return status;
}

static int run(struct drawing *w) {
    struct file_text text;
    if (w->out && file_out_is_input(w->out, w->how.path))
        return cmd_usage("-o would overwrite the definition");
    int status = file_in(&w->how.limits, w->how.path, &text);
    if (status != CMD_OK) return status;
    if (definition_is_program(text.data, text.size))
        status = draw_program(w);
    else
        status = draw(w, text.data, text.size);
    file_in_free(&w->how.limits, &text);
    return status;
}

int cmd_graph(int argc, char **argv) {
    struct drawing w = {.write = graph_svg};
    definition_init(&w.how);
    /* the definition's options without its --format */
    const struct command_line line = {head,
                                      foot,
                                      {{options, sizeof options / sizeof *options, &w},
                                       {definition_options, DEFINITION_FORMAT, &w.how},
                                       {definition_options + DEFINITION_FORMAT + 1,
                                        DEFINITION_OPTIONS - DEFINITION_FORMAT - 1, &w.how},
                                       {limits_options, LIMITS_OPTIONS, &w.how.limits}},
                                      definition_operand,
                                      &w.how,
                                      false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK && !w.how.path) status = cmd_usage("no FILE to draw");
    if (status == CMD_OK) status = run(&w);
    definition_free(&w.how);
    return status;
}
