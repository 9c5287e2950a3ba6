/* dap_launch.c: what is debugged, and where it is to stop. See dap.h. */
#include "tools/debug/dap.h"

#include "tools/base/cmd.h"
#include "assembler/source/read.h"
#include "vm/program/view.h"

#include <stdlib.h>

/* ---- launch ---------------------------------------------------------------------------------- */

/* A copy that lives as long as the adapter; NULL: none is left, or out of memory. */
static const char *keep(struct dap *d, const char *text) {
    if (!text || d->n_words == sizeof d->words / sizeof *d->words) return NULL;
    char *copy = strdup(text);
    if (copy) d->words[d->n_words++] = copy;
    return copy;
}

static bool is_true(mwl_value arguments, const char *name) {
    mwl_value v = rpc_get(arguments, name);
    return mwl_value_kind(v) == MWL_KIND_BOOL && mwl_as_bool(v);
}

/* Options as words, as on the command line: "args": ["--allow-http", "--bind", "URI=FILE"]. */
static int take_words(struct dap *d, mwl_value list) {
    char *argv[sizeof d->words / sizeof *d->words + 2];
    int argc = 0;
    argv[argc++] = (char *)(uintptr_t) "launch";
    for (size_t i = 0; i < mwl_count(list); i++) {
        const char *word = keep(d, mwl_as_text(mwl_array_at(list, i), NULL));
        if (!word) return cmd_usage("\"args\" is a list of at most 60 texts");
        argv[argc++] = (char *)(uintptr_t)word;
    }
    argv[argc] = NULL;
    static const struct option binds = {
        "--bind", OPTION_LIST, offsetof(struct run_options, bind_words), "URI=TARGET", "", NULL};
    static const struct option seed = {"--seed", OPTION_CALL, 0, "N", "", session_take_seed};
    const struct command_line line = {
        .head = "",
        .foot = "",
        .tables = {{&binds, 1, &d->setup.options},
                   {&seed, 1, &d->setup.options},
                   {permission_options, n_permission_options, &d->setup.options.permissions},
                   DEFINITION_TABLES(&d->setup.options.definition)},
        .operand = definition_operand,
        .ctx = &d->setup.options.definition};
    return options_parse(&line, argc, argv);
}

/* Where the Steps are: from the names at which the program's code points. */
static void find_steps(struct dap *d) {
    mwl__diags sink;
    mwl__tree tree;
    const mwl_program *p = d->setup.program;
    if (!d->setup.source.text) return;
    mwl__diags_init(&sink, mwl_alloc_default());
    d->steps = calloc(mwl__view_n_steps(p) + 1, sizeof *d->steps);
    if (mwl__tree_read(&tree, mwl_alloc_default(), &d->setup.source, &sink) == MWL_OK && d->steps)
        for (uint32_t i = 0; i < mwl__view_n_steps(p); i++) {
            const mwl__where w = mwl__view_step_place(p, i);
            if (!w.line) continue;
            const mwl__node *n = tree.root;
            while (n && !(n->key && n->key_offset == w.offset)) { /* down to the name */
                const mwl__node *m = mwl__node_first(n);
                while (m && m->end <= w.offset) m = m->next;
                n = m;
            }
            if (!n) continue;
            d->steps[d->n_steps].line = w.line;
            d->steps[d->n_steps++].last_line = mwl__source_place(&d->setup.source, n->end - 1).line;
        }
    mwl__tree_free(&tree);
    mwl__diags_free(&sink);
}

const char *dap_launch(struct dap *d, mwl_value arguments) {
    const char *program = keep(d, rpc_get_text(arguments, "program", NULL));
    if (d->launched) return "it is launched already";
    if (!program) return "`program` is the path of a definition";
    if (mwl_heap_new(NULL, &d->setup.heap) != MWL_OK) return mwl_status_text(MWL_E_NOMEM);
    int status = take_words(d, rpc_get(arguments, "args"));
    if (status != CMD_OK) return "`args` are not valid; standard error says why";
    d->setup.options.definition.path = program;
    mwl_value input = rpc_get(arguments, "input"), given = rpc_get(arguments, "arguments");
    if (!mwl_is_absent(input)) d->setup.start.input = mwl_value_copy(d->setup.heap, input);
    if (mwl_value_kind(given) == MWL_KIND_OBJECT)
        d->setup.start.arguments = mwl_value_copy(d->setup.heap, given);
    d->setup.options.virtual_time = !is_true(arguments, "realTime");
    d->stop_on_entry = is_true(arguments, "stopOnEntry");
    if (setup_load(&d->setup) != CMD_OK) return "it cannot be run; standard error says why";
    if (walk_begin(&d->walk, &d->setup, d->bell[1]) != CMD_OK) return mwl_status_text(MWL_E_NOMEM);
    d->path = realpath(program, NULL);
    if (!d->path) d->path = strdup(program);
    if (!d->path) return mwl_status_text(MWL_E_NOMEM);
    find_steps(d);
    d->launched = true;
    return NULL;
}

/* ---- breakpoints ----------------------------------------------------------------------------- */

/* The innermost Step that a line belongs to, or NULL. */
static const struct dap_step *step_at(const struct dap *d, uint32_t line) {
    const struct dap_step *found = NULL;
    for (size_t i = 0; i < d->n_steps; i++)
        if (line >= d->steps[i].line && line <= d->steps[i].last_line &&
            (!found || d->steps[i].line >= found->line))
            found = &d->steps[i];
    return found;
}

static bool is_ours(const struct dap *d, const char *path) {
    char *real = path ? realpath(path, NULL) : NULL;
    bool same = path && strcmp(real ? real : path, d->path) == 0;
    free(real);
    return same;
}

static void put_answer(int id, uint32_t line, const char *why, size_t i, mwl__buf *out) {
    mwl__buf_printf(out, "%s{\"verified\":%s", i ? "," : "", id ? "true" : "false");
    if (id) mwl__buf_printf(out, ",\"id\":%d", id);
    if (line) mwl__buf_printf(out, ",\"line\":%u", line);
    if (!id) rpc_put_member(out, "message", why);
    mwl__buf_puts(out, "}");
}

const char *dap_set_lines(struct dap *d, mwl_value arguments, mwl__buf *out) {
    mwl_value list = rpc_get(arguments, "breakpoints");
    bool ours = is_ours(d, rpc_get_text(rpc_get(arguments, "source"), "path", NULL));
    if (ours) breaks_remove_kinds(&d->walk.breaks, 1u << BREAK_LINE);
    mwl__buf_puts(out, "{\"breakpoints\":[");
    for (size_t i = 0; i < mwl_count(list); i++) {
        mwl_value b = mwl_array_at(list, i);
        uint32_t line = rpc_get_number(b, "line", 0) + d->lines_from_0;
        const struct dap_step *step = ours ? step_at(d, line) : NULL;
        int id = step ? breaks_add_line(&d->walk.breaks, step->line, step->line,
                                        rpc_get_text(b, "condition", NULL))
                      : 0;
        put_answer(id, step ? step->line - d->lines_from_0 : 0,
                   ours ? "there is no Step on this line" : "this is another file", i, out);
    }
    mwl__buf_puts(out, "]}");
    return NULL;
}

#define FUNCTIONS (1u << BREAK_STEP | 1u << BREAK_PHASE | 1u << BREAK_PROVIDER | 1u << BREAK_WHEN)

const char *dap_set_functions(struct dap *d, mwl_value arguments, mwl__buf *out) {
    mwl_value list = rpc_get(arguments, "breakpoints");
    breaks_remove_kinds(&d->walk.breaks, FUNCTIONS);
    mwl__buf_puts(out, "{\"breakpoints\":[");
    for (size_t i = 0; i < mwl_count(list); i++) {
        mwl_value b = mwl_array_at(list, i);
        const char *name = rpc_get_text(b, "name", NULL);
        char *copy = strdup(name ? name : "");
        int id =
            copy ? breaks_add_text(&d->walk.breaks, copy, rpc_get_text(b, "condition", NULL)) : 0;
        free(copy);
        put_answer(id, 0, "a Step, or `phase`, `provider`, `when` and what to look for", i, out);
    }
    mwl__buf_puts(out, "]}");
    return NULL;
}

/* The filter `failures` stops at each failure; `code` at those whose code its condition names. */
const char *dap_set_failures(struct dap *d, mwl_value arguments, mwl__buf *out) {
    mwl_value filters = rpc_get(arguments, "filters"), more = rpc_get(arguments, "filterOptions");
    size_t n = 0;
    breaks_remove_kinds(&d->walk.breaks, 1u << BREAK_CODE);
    mwl__buf_puts(out, "{\"breakpoints\":[");
    for (size_t i = 0; i < mwl_count(filters); i++) {
        const char *name = mwl_as_text(mwl_array_at(filters, i), NULL);
        bool known = name && (strcmp(name, "failures") == 0 || strcmp(name, "code") == 0);
        put_answer(known ? breaks_add(&d->walk.breaks, BREAK_CODE, "*", NULL) : 0, 0,
                   "there is no such filter", n++, out);
    }
    for (size_t i = 0; i < mwl_count(more); i++) {
        mwl_value o = mwl_array_at(more, i);
        const char *pattern = rpc_get_text(o, "condition", NULL);
        put_answer(
            breaks_add(&d->walk.breaks, BREAK_CODE, pattern && *pattern ? pattern : "*", NULL), 0,
            "out of memory", n++, out);
    }
    mwl__buf_puts(out, "]}");
    return NULL;
}
