/* cmd_check.c: `mwlvm check FILE...`: the diagnostics of definitions, and of provider documents.
 *
 * Owns: options and exit statuses (0 clean or warnings only, 3 rejected, 2 usage or unreadable).
 * All files share one list of diagnostics, so that the machine-readable forms are one document. */
#include "cmd.h"
#include "definition.h"
#include "assembler/check/model.h"
#include "tool_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct file {
    const char *path;
    char *text;
    mwl__source source;
} file;

typedef struct check {
    mwl_alloc alloc;
    mwl__diags sink;
    mwl__functions functions;
    mwl__catalog *catalog;
    struct definition how; /* its providers' texts are opened as sources below */
    file *files;           /* argc of them */
    mwl__source *providers;
    size_t n_files;
    bool colour;
} check;

static const char help[] =
    "usage: mwlvm check [OPTIONS] FILE...\n"
    "       mwlvm check --provider FILE...\n\n"
    "Prints the diagnostics of definitions; without any, those of the provider "
    "documents.\n\n" DEFINITION_HELP
    "  --color WHEN           auto (on a terminal, unless NO_COLOR is set), always or never\n\n"
    "Exit status: 0 clean or warnings only, 2 wrong usage or a file that cannot be read,\n"
    "3 rejected.\n";

static int parse_colour(check *k, const char *word) {
    k->colour = strcmp(word, "always") == 0;
    if (strcmp(word, "auto") == 0) k->colour = definition_colour(STDOUT_FILENO);
    if (k->colour || strcmp(word, "never") == 0 || strcmp(word, "auto") == 0) return CMD_OK;
    return cmd_usage("--color is auto, always or never, not '%s'", word);
}

static int parse(check *k, int argc, char **argv) {
    bool only_files = false;
    const char *v;
    int status = parse_colour(k, "auto"), taken;
    for (int i = 1; i < argc && status == CMD_OK; i++) {
        const char *word = argv[i];
        if (only_files || word[0] != '-' || word[1] == '\0')
            k->files[k->n_files++].path = word;
        else if (strcmp(word, "--") == 0)
            only_files = true;
        else if ((taken = definition_option(&k->how, argc, argv, &i)))
            status = taken > 0 ? CMD_OK : CMD_USAGE;
        else if ((v = definition_value("--color", argc, argv, &i)))
            status = parse_colour(k, v);
        else
            status = cmd_usage("check: '%s' is no option, or lacks its value", word);
    }
    if (status == CMD_OK && k->n_files == 0 && k->how.n_providers == 0)
        status = cmd_usage("check takes one FILE or more");
    return status;
}

static mwl_status set_levels(check *k) {
    mwl_status status = MWL_OK;
    for (size_t i = 0; i < k->how.n_allow && status == MWL_OK; i++)
        status = mwl__diags_allow(&k->sink, k->how.allow[i]);
    for (size_t i = 0; i < k->how.n_deny && status == MWL_OK; i++)
        status = mwl__diags_deny(&k->sink, k->how.deny[i]);
    return status;
}

static int open_source(check *k, const char *path, const char *text, size_t len, mwl__source *out) {
    mwl_status status = mwl__source_init(out, k->alloc, definition_name(path), text, len);
    if (status == MWL_OK) return CMD_OK;
    cmd_fail("%s: %s", path, mwl_status_text(status));
    return CMD_USAGE;
}

static int open_files(check *k) {
    int answer = CMD_OK;
    k->providers = calloc(k->how.n_providers + 1, sizeof *k->providers);
    if (!k->providers) return cmd_fail("out of memory");
    for (size_t i = 0; i < k->how.n_providers && answer == CMD_OK; i++) {
        const mwl_asm_provider *p = &k->how.providers[i];
        answer = open_source(k, p->file, p->text, p->len, &k->providers[i]);
    }
    for (size_t i = 0; i < k->n_files && answer == CMD_OK; i++) {
        file *f = &k->files[i];
        size_t len = 0;
        f->text = cmd_read_file(f->path, &len);
        answer = f->text ? open_source(k, f->path, f->text, len, &f->source) : CMD_USAGE;
    }
    return answer;
}

static mwl_status check_file(check *k, file *f) {
    mwl__tree tree;
    mwl__model model;
    mwl_status status = mwl__tree_read(&tree, k->alloc, &f->source, &k->sink);
    if (tree.root && status != MWL_E_NOMEM) {
        mwl_status checked =
            mwl__model_check(&model, &tree, k->catalog, k->functions.defs, k->functions.n_defs);
        if (status == MWL_OK || checked == MWL_E_NOMEM) status = checked;
        mwl__model_free(&model);
    }
    mwl__tree_free(&tree);
    return status;
}

static mwl_status check_all(check *k) {
    mwl_status status = tool_add_functions(&k->functions);
    k->catalog = mwl__catalog_new(&k->alloc);
    if (!k->catalog) status = MWL_E_NOMEM;
    if (status >= 0) status = set_levels(k);
    for (size_t i = 0; i < k->how.n_providers && status >= 0; i++) {
        /* with no definition there is no catalog that the document would enter */
        mwl_status one = k->n_files
                             ? mwl__catalog_add(k->catalog, &k->providers[i], &k->sink, false)
                             : mwl__catalog_judge(k->catalog, &k->providers[i], &k->sink);
        if (one != MWL_E_REJECTED && one < 0) status = one;
    }
    for (size_t i = 0; i < k->n_files && status >= 0; i++) {
        mwl_status one = check_file(k, &k->files[i]);
        if (one != MWL_E_REJECTED && one < 0) status = one;
    }
    return status < 0 ? status : k->sink.status;
}

static int run(check *k) {
    int answer = open_files(k);
    if (answer != CMD_OK) return answer;
    mwl_status status = check_all(k);
    if (status < 0) return cmd_fail("%s", mwl_status_text(status));
    mwl__buf out = mwl__buf_make(k->alloc);
    mwl__diags_render(&k->sink, (mwl__diag_format)k->how.options.format, k->colour, &out);
    if (out.failed) answer = cmd_fail("%s", mwl_status_text(MWL_E_NOMEM));
    if (out.len) fwrite(out.data, 1, out.len, stdout);
    mwl__buf_free(&out);
    return answer != CMD_OK ? answer : k->sink.n_errors ? CMD_REJECTED : CMD_OK;
}

int cmd_check(int argc, char **argv) {
    if (cmd_help(argc, argv, help)) return CMD_OK;
    check k = {.alloc = mwl_alloc_default()};
    mwl__diags_init(&k.sink, k.alloc);
    mwl__functions_init(&k.functions, NULL);
    k.files = calloc((size_t)argc, sizeof *k.files);
    int answer = k.files ? parse(&k, argc, argv) : cmd_fail("out of memory");
    if (answer == CMD_OK) answer = run(&k);
    mwl__catalog_free(k.catalog);
    mwl__functions_done(&k.functions);
    mwl__diags_free(&k.sink);
    for (size_t i = 0; i < k.n_files; i++) {
        mwl__source_free(&k.files[i].source);
        free(k.files[i].text);
    }
    for (size_t i = 0; k.providers && i < k.how.n_providers; i++) mwl__source_free(&k.providers[i]);
    free(k.files);
    free(k.providers);
    definition_free(&k.how);
    return answer;
}
