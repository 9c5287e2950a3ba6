/* cmd_check.c: `mwlvm check FILE...`: the diagnostics of definitions, and of provider documents.
 *
 * Owns: options and exit statuses (0 clean or warnings only, 3 rejected, 2 usage or unreadable).
 * All files share one list of diagnostics, so that the machine-readable forms are one document. */
#include "cmd.h"
#include "model.h"
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
    file *files, *providers; /* argc of each */
    int n_files, n_providers;
    mwl__diag_format format;
    bool colour;
} check;

static int parse_format(check *k, const char *word) {
    static const char *const words[] = {"human", "json", "sarif"};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            k->format = (mwl__diag_format)i;
            return CMD_OK;
        }
    return cmd_usage("--format is human, json or sarif, not '%s'", word);
}

static int parse_colour(check *k, const char *word) {
    k->colour = strcmp(word, "always") == 0;
    if (strcmp(word, "auto") == 0) k->colour = isatty(1) && !getenv("NO_COLOR");
    if (k->colour || strcmp(word, "never") == 0 || strcmp(word, "auto") == 0) return CMD_OK;
    return cmd_usage("--color is auto, always or never, not '%s'", word);
}

static int set_level(check *k, bool deny, const char *name) {
    mwl_status status = deny ? mwl__diags_deny(&k->sink, name) : mwl__diags_allow(&k->sink, name);
    if (status == MWL_E_NOT_FOUND)
        return cmd_usage("there is no diagnostic '%s'; 'mwlvm explain' lists them", name);
    if (status == MWL_E_USAGE) return cmd_usage("'%s' is an error and cannot be allowed", name);
    return status < 0 ? cmd_fail("%s", mwl_status_text(status)) : CMD_OK;
}

/* The option's value: behind `=`, or the next argument. NULL when argv[*i] is another option. */
static const char *option(int argc, char **argv, int *i, const char *name, bool *missing) {
    size_t len = strlen(name);
    if (strncmp(argv[*i], name, len) != 0) return NULL;
    if (argv[*i][len] == '=') return argv[*i] + len + 1;
    if (argv[*i][len] != '\0') return NULL;
    if (*i + 1 < argc) return argv[++*i];
    *missing = true;
    return NULL;
}

static int parse(check *k, int argc, char **argv) {
    bool only_files = false, missing = false;
    const char *v;
    int status = parse_colour(k, "auto");
    for (int i = 1; i < argc && status == CMD_OK; i++) {
        const char *word = argv[i];
        if (only_files || word[0] != '-' || word[1] == '\0')
            k->files[k->n_files++].path = word;
        else if (strcmp(word, "--") == 0)
            only_files = true;
        else if ((v = option(argc, argv, &i, "--provider", &missing)))
            k->providers[k->n_providers++].path = v;
        else if ((v = option(argc, argv, &i, "--allow", &missing)))
            status = set_level(k, false, v);
        else if ((v = option(argc, argv, &i, "--deny", &missing)))
            status = set_level(k, true, v);
        else if ((v = option(argc, argv, &i, "--format", &missing)))
            status = parse_format(k, v);
        else if ((v = option(argc, argv, &i, "--color", &missing)))
            status = parse_colour(k, v);
        else
            status = missing ? cmd_usage("%s needs a value", word)
                             : cmd_usage("unknown option '%s'", word);
    }
    if (status == CMD_OK && k->n_files + k->n_providers == 0)
        status = cmd_usage("check takes one FILE or more");
    return status;
}

static int open_file(check *k, file *f) {
    size_t len = 0;
    f->text = cmd_read_file(f->path, &len);
    if (!f->text) return CMD_USAGE;
    mwl_status status = mwl__source_init(
        &f->source, k->alloc, strcmp(f->path, "-") == 0 ? "standard input" : f->path, f->text, len);
    if (status == MWL_OK) return CMD_OK;
    cmd_fail("%s: %s", f->path, mwl_status_text(status));
    return CMD_USAGE;
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

static int run(check *k) {
    int answer = CMD_OK;
    for (int i = 0; i < k->n_providers && answer == CMD_OK; i++)
        answer = open_file(k, &k->providers[i]);
    for (int i = 0; i < k->n_files && answer == CMD_OK; i++) answer = open_file(k, &k->files[i]);
    if (answer != CMD_OK) return answer;
    mwl_status status = tool_add_functions(&k->functions);
    k->catalog = mwl__catalog_new(&k->alloc);
    if (!k->catalog) status = MWL_E_NOMEM;
    for (int i = 0; i < k->n_providers && status >= 0; i++) {
        /* with no definition there is no catalog that the document would enter */
        mwl_status one =
            k->n_files ? mwl__catalog_add(k->catalog, &k->providers[i].source, &k->sink, false)
                       : mwl__catalog_judge(k->catalog, &k->providers[i].source, &k->sink);
        if (one != MWL_E_REJECTED && one < 0) status = one;
    }
    for (int i = 0; i < k->n_files && status >= 0; i++) {
        mwl_status one = check_file(k, &k->files[i]);
        if (one != MWL_E_REJECTED && one < 0) status = one;
    }
    if (status >= 0 && k->sink.status < 0) status = k->sink.status;
    if (status < 0) return cmd_fail("%s", mwl_status_text(status));
    mwl__buf out = mwl__buf_make(k->alloc);
    mwl__diags_render(&k->sink, k->format, k->colour, &out);
    if (out.failed) answer = cmd_fail("%s", mwl_status_text(MWL_E_NOMEM));
    if (out.len) fwrite(out.data, 1, out.len, stdout);
    mwl__buf_free(&out);
    return answer != CMD_OK ? answer : k->sink.n_errors ? CMD_REJECTED : CMD_OK;
}

int cmd_check(int argc, char **argv) {
    check k = {.alloc = mwl_alloc_default()};
    mwl__diags_init(&k.sink, k.alloc);
    mwl__functions_init(&k.functions, NULL);
    k.files = calloc((size_t)argc, sizeof *k.files);
    k.providers = calloc((size_t)argc, sizeof *k.providers);
    int answer = k.files && k.providers ? parse(&k, argc, argv) : cmd_fail("out of memory");
    if (answer == CMD_OK) answer = run(&k);
    mwl__catalog_free(k.catalog);
    mwl__functions_done(&k.functions);
    mwl__diags_free(&k.sink);
    for (int i = 0; i < argc && k.files && k.providers; i++) {
        mwl__source_free(&k.files[i].source);
        mwl__source_free(&k.providers[i].source);
        free(k.files[i].text);
        free(k.providers[i].text);
    }
    free(k.files);
    free(k.providers);
    return answer;
}
