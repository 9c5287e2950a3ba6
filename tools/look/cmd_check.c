/* cmd_check.c: `mwlvm check FILE...`: the diagnostics of definitions, and of provider documents.
 *
 * Owns: the exit status, which is the highest of those of the files. All files share one list of
 * diagnostics, so that the machine-readable forms are one document. */
#include "tools/look/bounds.h"
#include "tools/base/cmd.h"
#include "tools/words/guide.h"
#include "tools/host/check_files.h"
#include "tools/host/definition_model.h"
#include "tools/base/diff.h"
#include "tools/base/file_out.h"
#include "tools/host/io_host.h"
#include "tools/host/permissions.h"
#include "tools/base/term.h"
#include "assembler/check/model.h"
#include "tools/base/tool_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct check {
    mwl_alloc alloc;
    mwl__diags sink;
    mwl__functions functions;
    mwl__catalog *catalog;
    struct definition how; /* its providers' texts are opened as sources below */
    struct word_list paths;
    struct check_files files;
    mwl__source *providers;
    bool fix, diff, bounds, permissions;
} check;

static const struct option options[] = {
    {"--fix", OPTION_FLAG, offsetof(check, fix), "",
     "make the repairs that are certain, in the files; what was changed is shown on "
     "standard error",
     NULL},
    {"--diff", OPTION_FLAG, offsetof(check, diff), "",
     "print what --fix would change, as `diff -u` does, and change nothing", NULL},
    {"--bounds", OPTION_FLAG, offsetof(check, bounds), "",
     "print how often each Step tries and how long each Step and Flow can take, as far "
     "as literal policies and bounds say",
     NULL},
    {"--permissions", OPTION_FLAG, offsetof(check, permissions), "",
     "print what the definitions ask for when they run: the options of `mwlvm run`", NULL},
};

static const char head[] =
    "usage: mwlvm check [OPTIONS] FILE|FOLDER...\n"
    "       mwlvm check --provider FILE...\n\n"
    "Prints the diagnostics of definitions; without any, those of the provider documents. In a\n"
    "folder, and in those below it, every file is looked at whose name ends in .json and whose\n"
    "\"$schema\" begins with https://mwl.dev/; names that begin with a dot are left out.\n\n";

static const char foot[] =
    "\nExample:\n"
    "  mwlvm check --deny warnings tools/examples/hello.json\n"
    "\nWhat is certain to fail when it runs is a warning, as the language has it: in a build,\n"
    "`--deny warnings` is wanted.\n\n"
    "Exit status, the highest that a file causes: 0 clean or warnings only; 2 wrong usage, or a\n"
    "file that cannot be read; 3 rejected; 6 a limit was reached.\n";

static int operand(void *ctx, const char *word) {
    check *k = ctx;
    return word_list_add(&k->paths, word);
}

static mwl_status set_levels(const check *k, mwl__diags *sink) {
    mwl_status status = MWL_OK;
    for (size_t i = 0; i < k->how.n_allow && status == MWL_OK; i++)
        status = mwl__diags_allow(sink, k->how.allow[i]);
    for (size_t i = 0; i < k->how.n_deny && status == MWL_OK; i++)
        status = mwl__diags_deny(sink, k->how.deny[i]);
    return status;
}

static int open_providers(check *k) {
    k->providers = calloc(k->how.n_providers + 1, sizeof *k->providers);
    if (!k->providers) return cmd_no_memory();
    for (size_t i = 0; i < k->how.n_providers; i++) {
        const mwl_asm_provider *p = &k->how.providers[i];
        mwl_status status = mwl__source_init(&k->providers[i], k->alloc, p->file, p->text, p->len);
        if (status != MWL_OK) return definition_failed(&k->how, p->file, status);
    }
    return CMD_OK;
}

/* ---- checking -------------------------------------------------------------------------------- */

/* MWL_OK, also for a file with errors; else what ended the work. */
static mwl_status check_file(check *k, struct check_file *f, mwl__diags *sink) {
    mwl__tree tree;
    mwl__model model;
    mwl_status status;
    if (f->is_provider) {
        status = mwl__catalog_judge(k->catalog, &f->source, sink);
    } else {
        status = mwl__tree_read(&tree, k->alloc, &f->source, sink);
        if (tree.root && status != MWL_E_NOMEM) {
            mwl_status checked =
                mwl__model_check(&model, &tree, k->catalog, k->functions.defs, k->functions.n_defs);
            if (status == MWL_OK || checked == MWL_E_NOMEM) status = checked;
            mwl__model_free(&model);
        }
        mwl__tree_free(&tree);
    }
    if (status == MWL_E_REJECTED) status = MWL_OK;
    return status < 0 ? status : sink->status;
}

/* Functions and providers: what every file is checked against. */
static int prepare(check *k) {
    const char *path = k->files.n_items ? k->files.items[0]->path : "check";
    definition_begin(&k->how, &k->sink);
    mwl_status status = tool_add_functions(&k->functions);
    k->catalog = mwl__catalog_new(&k->alloc);
    if (!k->catalog) status = MWL_E_NOMEM;
    if (status >= 0) status = set_levels(k, &k->sink);
    if (status >= 0) status = mwl__catalog_library(k->catalog, io_host_documents(), &k->sink);
    for (size_t i = 0; i < k->how.n_providers && status >= 0; i++) {
        /* with no definition there is no catalog that the document would enter */
        mwl_status one = k->paths.count
                             ? mwl__catalog_add(k->catalog, &k->providers[i], &k->sink)
                             : mwl__catalog_judge(k->catalog, &k->providers[i], &k->sink);
        path = k->how.providers[i].file;
        if (one != MWL_E_REJECTED && one < 0) status = one;
    }
    return status < 0 ? definition_failed(&k->how, path, status) : CMD_OK;
}

/* A status that ended the work; what was found by then is still printed. */
static int check_all(check *k) {
    k->how.quota = &k->sink.quota;
    for (size_t i = 0; i < k->files.n_items; i++) {
        mwl_status status = check_file(k, k->files.items[i], &k->sink);
        if (status < 0) return definition_failed(&k->how, k->files.items[i]->path, status);
        int spent = definition_spent(&k->how, k->files.items[i]->path);
        if (spent != CMD_OK) return spent;
    }
    return CMD_OK;
}

/* ---- repairs --------------------------------------------------------------------------------- */

/* One round: the repairs of what is found now. *made is their number. */
static mwl_status repair_once(check *k, struct check_file *f, size_t *made) {
    mwl__diags sink;
    mwl__buf text = mwl__buf_make(k->alloc);
    *made = 0;
    mwl__diags_init(&sink, k->alloc);
    definition_begin(&k->how, &sink);
    mwl_status status = set_levels(k, &sink);
    if (status >= 0) status = check_file(k, f, &sink);
    if (status >= 0 && mwl__diags_fixable(&sink, &f->source)) {
        *made = mwl__diags_repair(&sink, &f->source, &text);
        mwl__diags_free(&sink); /* its reports are about the text that is replaced */
        if (!text.failed) return check_files_replace(f, &text);
        mwl__buf_free(&text);
        return MWL_E_NOMEM;
    }
    mwl__diags_free(&sink);
    mwl__buf_free(&text);
    return status;
}

/* Repairs may overlap, and one may show the next mistake: rounds, until there is nothing to do, or
 * until as many are made as diagnostics are shown: every wrong name is compared with all others. */
static int repair(check *k, struct check_file *f, size_t *made) {
    enum { ROUNDS = 100 };
    size_t now = 1;
    *made = 0;
    for (int round = 0; round < ROUNDS && now && *made < MWL__DIAG_LIMIT; round++) {
        int paid = definition_pay(&k->how, f->path, f->source.len);
        if (paid != CMD_OK) return paid;
        mwl_status status = repair_once(k, f, &now);
        k->how.quota = NULL;
        if (status < 0) return definition_failed(&k->how, f->path, status);
        *made += now;
    }
    return CMD_OK;
}

static int show_changes(check *k, const struct check_file *f) {
    int stream = k->diff ? STDOUT_FILENO : STDERR_FILENO;
    const struct diff_output out = {k->diff ? stdout : stderr, term_colour(stream), isatty(stream)};
    bool made = diff_unified(f->source.name, f->original.data, f->original.size, f->source.text,
                             f->source.len, &k->alloc, &out);
    return made ? CMD_OK : definition_failed(&k->how, f->path, MWL_E_NOMEM);
}

static int repair_all(check *k) {
    int status = CMD_OK;
    for (size_t i = 0; i < k->files.n_items && status == CMD_OK; i++) {
        struct check_file *f = k->files.items[i];
        size_t made = 0;
        status = repair(k, f, &made);
        if (status != CMD_OK || !made) continue;
        status = show_changes(k, f);
        if (status == CMD_OK && made >= MWL__DIAG_LIMIT)
            cmd_note("%s: there may be more repairs than %zu: try again with these", f->path, made);
        if (status != CMD_OK || k->diff) continue;
        status = file_out(f->path, f->source.text, f->source.len);
        if (status == CMD_OK)
            cmd_note("%s: %zu repair%s made", f->path, made, made == 1 ? "" : "s");
    }
    return status;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static int write_bounds(check *k, const struct check_file *f, mwl__buf *out) {
    struct definition_model m;
    struct bounds b;
    mwl_heap *heap = NULL;
    if (mwl_heap_new(&k->alloc, &heap) != MWL_OK)
        return definition_failed(&k->how, f->path, MWL_E_NOMEM);
    int status = definition_model_read(&m, &k->how, f->path, f->source.text, f->source.len, true);
    if (status == CMD_OK) {
        if (bounds_init(&b, &m.model, &m.source, heap))
            bounds_write(&b, file_in_name(f->path), out);
        else
            status = definition_failed(&k->how, f->path, MWL_E_NOMEM);
        bounds_free(&b);
    }
    definition_model_free(&m);
    mwl_heap_free(heap);
    return status;
}

static int print_bounds(check *k) {
    int status = CMD_OK;
    for (size_t i = 0; i < k->files.n_items && status == CMD_OK; i++) {
        const struct check_file *f = k->files.items[i];
        mwl__buf out = mwl__buf_make(mwl_alloc_default());
        if (!f->is_provider) status = write_bounds(k, f, &out);
        if (out.len) term_output(out.data, out.len);
        mwl__buf_free(&out);
    }
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int print(check *k) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__diags_render(&k->sink, (mwl__diag_format)k->how.options.format, term_colour(STDOUT_FILENO),
                      &out);
    int status = out.failed ? cmd_no_memory() : CMD_OK;
    if (out.len) fwrite(out.data, 1, out.len, stdout);
    mwl__buf_free(&out);
    return status;
}

static int worst(int a, int b) { return a > b ? a : b; }

static int list_permissions(const check *k) {
    int status = CMD_OK;
    for (size_t i = 0; i < k->files.n_items; i++) {
        const struct check_file *f = k->files.items[i];
        if (!f->is_provider)
            status = worst(status, permissions_list(f->path, f->source.text, f->source.len));
    }
    return status;
}

static int run(check *k) {
    int status = open_providers(k);
    if (status != CMD_OK) return status;
    for (size_t i = 0; i < k->paths.count; i++)
        status = worst(status, check_files_add(&k->files, &k->how, k->paths.words[i]));
    status = worst(status, prepare(k));
    if (!k->catalog) return status;
    if (k->diff) status = worst(status, check_all(k)); /* the status is that of what there is */
    if (k->fix || k->diff) status = worst(status, repair_all(k));
    if (!k->diff) {
        status = worst(status, check_all(k));
        status = worst(status, print(k));
    }
    if (k->bounds && !k->sink.n_errors && status == CMD_OK) status = print_bounds(k);
    if (k->permissions) status = worst(status, list_permissions(k));
    return worst(status, k->sink.n_errors ? CMD_REJECTED : CMD_OK);
}

int cmd_check(int argc, char **argv) {
    check k;
    memset(&k, 0, sizeof k);
    definition_init(&k.how);
    k.alloc = limits_alloc(&k.how.limits);
    mwl__diags_init(&k.sink, k.alloc);
    k.sink.guide = cmd_guide;
    mwl__functions_init(&k.functions, NULL);
    const struct command_line line = {
        head,    foot, {{options, sizeof options / sizeof *options, &k}, DEFINITION_TABLES(&k.how)},
        operand, &k,   false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK && k.fix && k.diff)
        status = cmd_usage("--fix and --diff exclude each other");
    for (size_t i = 0; i < k.paths.count && status == CMD_OK && k.fix; i++)
        if (strcmp(k.paths.words[i], "-") == 0)
            status = cmd_usage("--fix cannot change standard input; --diff shows the changes");
    if (status == CMD_OK && k.paths.count == 0 && k.how.n_providers == 0)
        status = cmd_usage("no FILE to check");
    if (status == CMD_OK) status = run(&k);
    mwl__catalog_free(k.catalog);
    mwl__functions_done(&k.functions);
    mwl__diags_free(&k.sink);
    check_files_free(&k.files, &k.how);
    for (size_t i = 0; k.providers && i < k.how.n_providers; i++) mwl__source_free(&k.providers[i]);
    word_list_free(&k.paths);
    free(k.providers);
    definition_free(&k.how);
    return status;
}
