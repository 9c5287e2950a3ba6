/* cmd_eval.c: `mwlvm eval EXPR`: evaluates one expression, without a Flow around it.
 *
 * Owns: the roots that such an expression sees, which are those of a definition's Step that need no
 * run (vars, and step with its input), and how a fault or a rejected expression is shown: a
 * sentence, the line, and a mark under the place. */
#include "assembler/cel/cel.h"
#include "tools/base/member.h"
#include "tools/base/cmd.h"
#include "tools/words/guide.h"
#include "assembler/source/diag.h"
#include "tools/base/input.h"
#include "tools/base/json_out.h"
#include "tools/base/snippet.h"
#include "tools/base/term.h"
#include "tools/base/tool_functions.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- what is shown --------------------------------------------------------------------------- */

/* Writes a place: "1:9", or "column 9" for an expression of one line. */
static void put_place(mwl__place at) {
    if (at.line > 1) fprintf(stderr, "line %u, ", at.line);
    fprintf(stderr, "column %u", at.column);
}

static void report(void *ctx, const mwl__cel_problem *problem) {
    mwl__source *source = ctx;
    fprintf(stderr, "mwlvm: %s: ", problem->severity == MWL__CEL_ERROR ? "error" : "warning");
    put_place(mwl__source_place(source, (uint32_t)problem->begin));
    const char *note = problem->note;
    mwl__span span = mwl__span_make((uint32_t)problem->begin, (uint32_t)problem->end);
    term_printf(stderr, ": %s%s%s%s%s", problem->message, note ? "; " : "", note ? note : "",
                problem->help ? "; " : "", problem->help ? problem->help : "");
    fputc('\n', stderr);
    snippet_show(source, span, NULL, 2);
}

static void put_having(mwl_value having) {
    if (mwl_value_kind(having) != MWL_KIND_ARRAY) return;
    fputs(", having {", stderr);
    for (size_t i = 0; i < mwl_count(having); i++) {
        mwl__buf text = mwl__buf_make(mwl_alloc_default());
        mwl_value key = mwl_array_at(having, i);
        size_t len = 0;
        const char *s = mwl_as_text(key, &len);
        if (s)
            mwl__buf_put(&text, s, len);
        else
            mwl__cel_write(&text, key);
        fputs(i ? ", " : "", stderr);
        term_text(stderr, text.data ? text.data : "", text.len);
        mwl__buf_free(&text);
    }
    fputc('}', stderr);
}

static void show_fault(const mwl__exec *x, mwl__source *source) {
    const mwl__fault *f = mwl__as_fault(x->fault);
    const mwl__str *message = mwl__as_str(f->message);
    mwl__where w;
    bool placed = mwl__program_where(x->program, f->where, f->sub, &w);
    fprintf(stderr, "mwlvm: %s: ", mwl__failure_code_text((mwl__failure_code)f->code));
    term_text(stderr, message->s, message->len);
    if (placed) {
        fputs(", ", stderr);
        put_place((mwl__place){w.line, w.column});
    }
    put_having(mwl_get(f->details, "having"));
    fputc('\n', stderr);
    if (!placed) return;
    uint32_t at = snippet_offset(source, w.line, w.column), end = w.offset + w.len;
    snippet_show(source, mwl__span_make(at, end > at ? end : at), NULL, 2);
}

/* ---- the command ----------------------------------------------------------------------------- */

enum { VARS, STEP, N_ROOTS };
static const char *const root_names[N_ROOTS] = {"vars", "step"};

struct eval {
    const char *expression, *vars, *input;
    bool as_cel;
    struct limits limits;
    mwl__source source;
    mwl_heap *heap;
    mwl__functions functions;
    mwl__zones zones;
    mwl__exec x;
    mwl_value roots[N_ROOTS];
};

static const char head[] =
    "usage: mwlvm eval EXPR [OPTIONS]\n\n"
    "Evaluates one CEL expression, with or without its {{ }}, and prints its value as JSON. It sees\n"
    "`vars` and `step.input`, as an expression of a Step does. An EXPR that begins with two dashes\n"
    "follows the word `--`.\n\n";

static const char foot[] =
    "\nExamples:\n"
    "  mwlvm eval 'step.input.n * 2.0' --input '{\"n\": 21}'\n"
    "      42\n"
    "  mwlvm eval 'vars.names.map(n, n.size())' --vars '{\"names\": [\"Ada\", \"Grace\"]}'\n"
    "      [3,5]\n"
    "\nWithout --input, a file or a pipe on standard input is read, as `mwlvm run` does.\n\n"
    "Exit status: 0 a value; 1 a fault; 2 wrong usage, or a file that cannot be read; 3 not an\n"
    "expression of CEL; 6 a limit was reached.\n";

static const struct option options[] = {
    {"--input", OPTION_WORD, offsetof(struct eval, input), "JSON|@FILE|-",
     "what it sees as step.input: JSON text, a file, or standard input", NULL},
    {"--vars", OPTION_WORD, offsetof(struct eval, vars), "JSON|@FILE|-",
     "the object that it sees as vars", NULL},
    {"--cel", OPTION_FLAG, offsetof(struct eval, as_cel), "",
     "print the CEL value, which need not have a JSON form", NULL},
    {"--color", OPTION_CALL, 0, "WHEN",
     "auto (on a terminal, unless NO_COLOR is set), always or never", term_colour_option},
};

static int operand(void *ctx, const char *word) {
    struct eval *e = ctx;
    if (e->expression)
        return cmd_usage("one EXPR is wanted, not '%s' and '%s'; quote it for the shell",
                         e->expression, word);
    e->expression = word;
    return CMD_OK;
}

/* Removes "{{ ... }}", as a definition has it around an expression. No CEL expression begins so. */
static mwl_status open_source(struct eval *e) {
    const char *text = e->expression;
    size_t begin = 0, end = strlen(text);
    while (begin < end && isspace((unsigned char)text[begin])) begin++;
    while (end > begin && isspace((unsigned char)text[end - 1])) end--;
    bool braced = end - begin >= 4 && memcmp(text + begin, "{{", 2) == 0 &&
                  memcmp(text + end - 2, "}}", 2) == 0;
    if (braced) text += begin + 2;
    return mwl__source_init(&e->source, mwl_alloc_default(), "expression", text,
                            braced ? end - begin - 4 : strlen(text));
}

static int read_roots(struct eval *e) {
    struct input in = {e->heap, &e->limits};
    mwl_value input = mwl_absent();
    int status = CMD_OK;
    e->roots[VARS] = e->vars ? mwl_absent() : mwl_object(e->heap, 0);
    if (e->vars) status = input_word(&in, "--vars", e->vars, &e->roots[VARS]);
    if (status == CMD_OK && mwl_value_kind(e->roots[VARS]) != MWL_KIND_OBJECT)
        status = cmd_usage("--vars must be an object");
    bool taken = e->vars && strcmp(e->vars, "-") == 0; /* standard input is */
    if (status == CMD_OK && e->input)
        status = input_word(&in, "--input", e->input, &input);
    else if (status == CMD_OK && !taken)
        status = input_stdin(&in, &input);
    if (mwl_is_absent(input)) input = mwl_null();
    e->roots[STEP] = member_set(e->heap, mwl_object(e->heap, 1), "input", input);
    return status;
}

static int out_of_memory(const struct eval *e) {
    limits_report(&e->limits, MWL_E_NOMEM, "");
    return CMD_LIMIT;
}

static mwl__clock_pin read_clock(void *ctx) {
    struct timespec t = {0, 0};
    (void)ctx;
    clock_gettime(CLOCK_REALTIME, &t);
    mwl__clock_pin pin = {(int64_t)t.tv_sec, (uint32_t)t.tv_nsec};
    return pin;
}

static int print_value(struct eval *e, mwl_value v) {
    if (e->as_cel) {
        mwl__buf out = mwl__buf_make(limits_alloc(&e->limits));
        mwl__cel_write(&out, v);
        bool failed = out.failed;
        if (!failed) term_output(out.data, out.len);
        mwl__buf_free(&out);
        if (failed) return out_of_memory(e);
        putchar('\n');
        return CMD_OK;
    }
    const struct json_out how = {stdout, MWL_JSON_COMPACT, isatty(STDOUT_FILENO), 0};
    mwl_status status = json_out(&how, e->heap, v);
    if (status == MWL_E_NOT_JSON) return cmd_fail("%s", mwl_status_text(status));
    if (status != MWL_OK) return out_of_memory(e);
    putchar('\n');
    return CMD_OK;
}

static int evaluate(struct eval *e) {
    mwl_alloc alloc = limits_alloc(&e->limits);
    const mwl__cel_env env = {
        .alloc = &alloc,
        .functions = &e->functions,
        .vars = root_names,
        .n_vars = N_ROOTS,
        .as_data = !e->as_cel,
        .function_words = cmd_guide->words[MWL__WORDS_CEL_FUNCTION],
        .name_words = cmd_guide->words[MWL__WORDS_CEL_NAME],
        .sink = {report, &e->source},
    };
    mwl__cel_code code = {0};
    mwl_status status = mwl__cel_compile(&env, e->source.text, e->source.len, &code);
    if (status == MWL_E_NOMEM) return out_of_memory(e);
    if (status != MWL_OK) return CMD_REJECTED;
    e->x.zones = &e->zones;
    e->x.wall = read_clock;
    e->x.pin = read_clock(NULL);
    e->x.budget = e->limits.fuel;
    mwl_value result = mwl_absent();
    int answer = CMD_LIMIT;
    switch (mwl__cel_eval(&code, &e->x, e->roots, N_ROOTS, &result)) {
    case MWL_EXEC_END: answer = print_value(e, result); break;
    case MWL_EXEC_FAULT:
        show_fault(&e->x, &e->source);
        answer = CMD_FAILED;
        break;
    case MWL_EXEC_FUEL: limits_report(&e->limits, MWL_E_FUEL, ""); break;
    default: answer = out_of_memory(e); break;
    }
    mwl_value_drop(e->heap, result);
    mwl__exec_done(&e->x);
    mwl__cel_free(&code);
    return answer;
}

static int eval(struct eval *e) {
    int status = CMD_OK;
    mwl__functions_init(&e->functions, NULL);
    mwl__zones_init(&e->zones, mwl_alloc_default(), NULL, NULL);
    if (mwl_heap_new(NULL, &e->heap) != MWL_OK || mwl__exec_init(&e->x, e->heap) != MWL_OK ||
        tool_add_functions(&e->functions) != MWL_OK)
        status = cmd_no_memory();
    if (status == CMD_OK) status = read_roots(e);
    if (status == CMD_OK) {
        mwl_heap_limit(e->heap, e->limits.memory);
        status = evaluate(e);
    }
    for (size_t i = 0; i < N_ROOTS; i++) mwl_value_drop(e->heap, e->roots[i]);
    mwl_heap_free(e->heap);
    mwl__zones_free(&e->zones);
    mwl__functions_done(&e->functions);
    return status;
}

int cmd_eval(int argc, char **argv) {
    struct eval e;
    memset(&e, 0, sizeof e);
    e.limits = limits_default();
    const struct command_line line = {head,
                                      foot,
                                      {{options, sizeof options / sizeof *options, &e},
                                       {limits_options, LIMITS_OPTIONS, &e.limits}},
                                      operand,
                                      &e,
                                      true};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK && e.vars && e.input && strcmp(e.vars, "-") == 0 &&
        strcmp(e.input, "-") == 0)
        status = cmd_usage("standard input cannot be both vars and the input");
    if (status == CMD_OK && !e.expression) status = cmd_usage("no EXPR to evaluate");
    if (status == CMD_OK && open_source(&e) != MWL_OK)
        status = cmd_fail("the expression is too long");
    if (status == CMD_OK) status = eval(&e);
    mwl__source_free(&e.source);
    return status;
}
