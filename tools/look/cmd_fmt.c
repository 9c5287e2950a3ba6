/* cmd_fmt.c: `mwlvm fmt FILE...`: definitions in their canonical layout (fmt.h).
 *
 * Owns: which files are changed, and the exit status: the highest that a file causes. A file that
 * is not JSON gets its diagnostic and stays as it is; the other files are still formatted. */
#include "tools/host/check_files.h"
#include "tools/base/cmd.h"
#include "tools/words/guide.h"
#include "tools/host/definition.h"
#include "tools/base/diff.h"
#include "tools/base/file_out.h"
#include "tools/words/fmt.h"
#include "tools/base/term.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct fmt {
    struct definition how;
    struct word_list paths;
    struct check_files files;
    mwl_alloc alloc;
    bool check, diff, standard;
};

static const struct option options[] = {
    {"--check", OPTION_FLAG, offsetof(struct fmt, check), "",
     "change nothing; print the names of files that would change, and end with status 1 "
     "if there are any",
     NULL},
    {"--diff", OPTION_FLAG, offsetof(struct fmt, diff), "",
     "change nothing; print what would change, as `diff -u` does", NULL},
    {"--stdin", OPTION_FLAG, offsetof(struct fmt, standard), "",
     "read standard input and write the result to standard output", NULL},
};

static const char head[] =
    "usage: mwlvm fmt [OPTIONS] FILE|FOLDER...\n"
    "       mwlvm fmt --stdin\n\n"
    "Writes definitions in one canonical layout: members in the order of the specification's\n"
    "pages, two spaces for each level, short objects on one line of at most 100 columns. Comments\n"
    "and unknown members are kept; numbers and strings are not touched. In a folder, the files\n"
    "that `mwlvm check` reads are formatted. Other JSON files, if they are named, get the same\n"
    "layout and keep the order of their members.\n\n";

static const char foot[] =
    "\nExample:\n"
    "  mwlvm fmt --stdin <tools/examples/hello.json\n"
    "\nExit status, the highest that a file causes: 0 done; 1 with --check, a file would change; 2\n"
    "wrong usage, or a file that cannot be read or written; 3 not JSON; 6 a limit was reached.\n";

static int operand(void *ctx, const char *word) {
    struct fmt *f = ctx;
    return word_list_add(&f->paths, word);
}

static int print_reports(struct fmt *f, mwl__diags *sink) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__diags_render(sink, (mwl__diag_format)f->how.options.format, term_colour(STDERR_FILENO),
                      &out);
    if (out.len) fwrite(out.data, 1, out.len, stderr);
    mwl__buf_free(&out);
    return CMD_REJECTED;
}

static int show_changes(struct fmt *f, const struct check_file *file, const mwl__buf *text) {
    const struct diff_output to = {stdout, term_colour(STDOUT_FILENO), isatty(STDOUT_FILENO)};
    bool made = diff_unified(file->source.name, file->source.text, file->source.len, text->data,
                             text->len, &f->alloc, &to);
    return made ? CMD_OK : definition_failed(&f->how, file->path, MWL_E_NOMEM);
}

/* Writes, prints or compares the new text, as the options ask. */
static int deliver(struct fmt *f, const struct check_file *file, const mwl__buf *text) {
    if (f->standard) {
        fwrite(text->data, 1, text->len, stdout);
        return CMD_OK; /* main.c looks for errors of standard output */
    }
    if (text->len == file->source.len && memcmp(text->data, file->source.text, text->len) == 0)
        return CMD_OK;
    if (f->diff) {
        int status = show_changes(f, file, text);
        return status == CMD_OK && f->check ? CMD_FAILED : status;
    }
    if (f->check) {
        term_output(file->path, strlen(file->path));
        putchar('\n');
        return CMD_FAILED;
    }
    int status = file_out(file->path, text->data, text->len);
    if (status == CMD_OK) cmd_note("%s: formatted", file->path);
    return status;
}

static int format_file(struct fmt *f, struct check_file *file) {
    mwl__diags sink;
    mwl__buf text;
    int status = definition_pay(&f->how, file->path, file->source.len);
    if (status != CMD_OK) return status;
    mwl__diags_init(&sink, f->alloc);
    sink.guide = cmd_guide;
    mwl_status made = fmt_source(&file->source, f->alloc, &sink, &text);
    if (made == MWL_E_REJECTED)
        status = print_reports(f, &sink);
    else if (made != MWL_OK)
        status = definition_failed(&f->how, file->path, made);
    else
        status = deliver(f, file, &text);
    mwl__buf_free(&text);
    mwl__diags_free(&sink);
    return status;
}

static int run(struct fmt *f) {
    int worst = CMD_OK;
    if (f->standard) worst = check_files_add(&f->files, &f->how, "-");
    for (size_t i = 0; i < f->paths.count; i++) {
        int status = check_files_add(&f->files, &f->how, f->paths.words[i]);
        if (status > worst) worst = status;
    }
    for (size_t i = 0; i < f->files.n_items; i++) {
        int status = format_file(f, f->files.items[i]);
        if (status > worst) worst = status;
    }
    return worst;
}

static int usage(const struct fmt *f) {
    if (f->standard && (f->paths.count || f->check || f->diff))
        return cmd_usage("--stdin stands alone");
    if (!f->standard && !f->paths.count) return cmd_usage("no FILE to format");
    for (size_t i = 0; i < f->paths.count; i++)
        if (strcmp(f->paths.words[i], "-") == 0) return cmd_usage("--stdin formats standard input");
    return CMD_OK;
}

int cmd_fmt(int argc, char **argv) {
    struct fmt f;
    memset(&f, 0, sizeof f);
    definition_init(&f.how);
    f.alloc = limits_alloc(&f.how.limits);
    const struct command_line line = {
        head,
        foot,
        {{options, sizeof options / sizeof *options, &f},
         {definition_options + DEFINITION_FORMAT, DEFINITION_OPTIONS - DEFINITION_FORMAT, &f.how},
         {limits_options, LIMITS_OPTIONS, &f.how.limits}},
        operand,
        &f,
        false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK) status = usage(&f);
    if (status == CMD_OK) status = run(&f);
    check_files_free(&f.files, &f.how);
    word_list_free(&f.paths);
    definition_free(&f.how);
    return status;
}
