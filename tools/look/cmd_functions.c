/* cmd_functions.c: `mwlvm functions [NAME]`: the functions and macros of expressions, from the
 * tables of this build and function_words.h. The value of an example is computed, not written
 * down. */
#include "tools/base/cmd.h"
#include "tools/host/expr.h"
#include "tools/words/function_words.h"
#include "tools/base/json_out.h"
#include "tools/base/options.h"
#include "vm/base/suggest.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct functions {
    const char *name;
    bool json;
};

static const struct option options[] = {
    {"--json", OPTION_FLAG, offsetof(struct functions, json), "", "print JSON", NULL},
};

static const char head[] =
    "usage: mwlvm functions [NAME]\n\n"
    "Lists the functions and macros that expressions can use. With a NAME, shows what it does and\n"
    "an example with its value. `mwlvm eval` evaluates other expressions.\n\n";

static int operand(void *ctx, const char *word) {
    struct functions *f = ctx;
    if (f->name) return cmd_usage("one NAME is wanted, not '%s' and '%s'", f->name, word);
    f->name = word;
    return CMD_OK;
}

/* Appends the value of an example as CEL writes it. Returns false with a reason in `why`. */
static bool put_value(const char *example, mwl__buf *out, char *why, size_t size) {
    mwl_heap *heap = NULL;
    struct expr_env env;
    struct expr e;
    mwl_value value = mwl_absent();
    memset(&e, 0, sizeof e);
    snprintf(why, size, "%s", mwl_status_text(MWL_E_NOMEM));
    if (mwl_heap_new(NULL, &heap) < 0) return false;
    expr_env_init(&env, heap);
    env.now.sec = (int64_t)time(NULL);
    if (expr_compile(&env, example, strlen(example), NULL, 0, &e, why, size) == MWL_OK)
        value = expr_eval(&env, &e, NULL, 0, why, size);
    bool there = !mwl_is_absent(value);
    if (there) mwl__cel_write(out, value);
    mwl_value_drop(heap, value);
    expr_free(&e);
    expr_env_free(&env);
    mwl_heap_free(heap);
    return there && !out->failed;
}

/* One row in full. */
static int show(const struct function_words *row) {
    mwl__buf value = mwl__buf_make(mwl_alloc_default());
    char why[256];
    const char *usage;
    for (size_t i = 0; (usage = function_words_usage(row, i)); i++) printf("%s\n", usage);
    printf("    %s (%s)\n", row->text, row->library);
    bool made = put_value(row->example, &value, why, sizeof why);
    if (made) printf("    %s  =>  %s\n", row->example, mwl__buf_cstr(&value));
    mwl__buf_free(&value);
    return made ? CMD_OK : cmd_fail("%s: %s", row->example, why);
}

static int show_json(const struct functions *f) {
    bool any = false;
    putchar('[');
    for (size_t i = 0; i < n_function_words; i++) {
        const struct function_words *row = &function_words[i];
        const char *usage;
        if (f->name && strcmp(f->name, row->name) != 0) continue;
        for (size_t k = 0; (usage = function_words_usage(row, k)); k++) {
            const char *const members[][2] = {{"library", row->library},
                                              {"name", row->name},
                                              {"usage", usage},
                                              {"description", row->text},
                                              {"example", row->example}};
            fputs(any ? ",\n {" : "\n {", stdout);
            for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
                printf("%s\"%s\": ", m ? ", " : "", members[m][0]);
                json_out_text(stdout, members[m][1]);
            }
            putchar('}');
            any = true;
        }
    }
    puts("\n]");
    return CMD_OK;
}

static int list_all(void) {
    const char *library = "";
    for (size_t i = 0; i < n_function_words; i++) {
        const struct function_words *row = &function_words[i];
        const char *usage;
        if (strcmp(library, row->library) != 0)
            printf("%s%s\n", *library ? "\n" : "", row->library);
        library = row->library;
        for (size_t k = 0; (usage = function_words_usage(row, k)); k++) printf("  %s\n", usage);
    }
    return CMD_OK;
}

/* "greatest" for "math.greatest". */
static const struct function_words *by_last_word(const char *name) {
    for (size_t i = 0; i < n_function_words; i++) {
        const char *dot = strrchr(function_words[i].name, '.');
        if (dot && strcmp(dot + 1, name) == 0) return &function_words[i];
    }
    return NULL;
}

int cmd_functions(int argc, char **argv) {
    struct functions f = {NULL, false};
    const struct command_line line = {.head = head,
                                      .foot = "\nExample:\n  mwlvm functions split\n",
                                      .tables = {{options, sizeof options / sizeof *options, &f}},
                                      .operand = operand,
                                      .ctx = &f};
    int status = options_parse(&line, argc, argv);
    if (status != CMD_OK) return status;
    if (!f.name) return f.json ? show_json(&f) : list_all();
    const struct function_words *row = function_words_find(f.name, strlen(f.name));
    if (!row) row = by_last_word(f.name);
    if (row) {
        f.name = row->name;
        return f.json ? show_json(&f) : show(row);
    }
    mwl__suggest s = mwl__suggest_make(f.name, strlen(f.name));
    for (size_t i = 0; i < n_function_words; i++)
        mwl__suggest_offer(&s, function_words[i].name, strlen(function_words[i].name));
    if (s.best)
        return cmd_usage("there is no function '%s'; did you mean '%.*s'?", f.name, (int)s.best_len,
                         s.best);
    return cmd_usage("there is no function '%s'; `mwlvm functions` lists them", f.name);
}
