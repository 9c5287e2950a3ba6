/* cmd_eval.c: `mwlvm eval EXPR`: evaluates one expression, without a Flow around it.
 *
 * Owns: the roots that such an expression sees (vars, input, and step with its input), and how a
 * fault or a rejected expression is shown: a sentence, the line, and a mark under the place. */
#include "assembler/cel/cel.h"
#include "cmd.h"
#include "tool_functions.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- pointing -------------------------------------------------------------------------------- */

static bool is_lead(char c) { return ((unsigned char)c & 0xc0u) != 0x80u; }

/* The line that holds byte `at`, and a mark under `width` code points from there. Of a long line,
 * what is around. */
static void point(const char *text, size_t len, size_t at, size_t width) {
    enum { AROUND = 72 };
    size_t begin = at, end = at;
    while (begin && at - begin < AROUND && text[begin - 1] != '\n') begin--;
    while (begin < at && !is_lead(text[begin])) begin++;
    while (end < len && end - at < AROUND && text[end] != '\n') end++;
    while (end > at && end < len && !is_lead(text[end])) end--;
    bool before = begin && text[begin - 1] != '\n', after = end < len && text[end] != '\n';
    fprintf(stderr, "  %s%.*s%s\n  %s", before ? "..." : "", (int)(end - begin), text + begin,
            after ? "..." : "", before ? "   " : "");
    for (size_t i = begin; i < at; i++)
        if (is_lead(text[i])) fputc(text[i] == '\t' ? '\t' : ' ', stderr);
    fputc('^', stderr);
    for (size_t i = 1; i < width && at + i < end; i++)
        if (is_lead(text[at + i])) fputc('~', stderr);
    fputc('\n', stderr);
}

struct source {
    const char *text;
    size_t len;
};

static void place_of(const struct source *s, size_t at, unsigned *line, unsigned *column) {
    *line = *column = 1;
    for (size_t i = 0; i < at && i < s->len; i++) {
        if (s->text[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (is_lead(s->text[i])) {
            ++*column;
        }
    }
}

static void print_place(unsigned line, unsigned column) {
    if (line > 1) fprintf(stderr, "line %u, ", line);
    fprintf(stderr, "column %u", column);
}

static void report(void *ctx, const mwl__cel_problem *problem) {
    const struct source *s = ctx;
    unsigned line, column;
    place_of(s, problem->begin, &line, &column);
    fprintf(stderr, "mwlvm: %s: ", problem->severity == MWL__CEL_ERROR ? "error" : "warning");
    print_place(line, column);
    fprintf(stderr, ": %s%s%s\n", problem->message, problem->note ? "; " : "",
            problem->note ? problem->note : "");
    point(s->text, s->len, problem->begin < s->len ? problem->begin : s->len,
          problem->end > problem->begin ? problem->end - problem->begin : 1);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void print_having(mwl_value having) {
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
        fprintf(stderr, "%s%s", i ? ", " : "", mwl__buf_cstr(&text));
        mwl__buf_free(&text);
    }
    fputc('}', stderr);
}

static size_t offset_of(const struct source *s, unsigned line, unsigned column) {
    size_t i = 0;
    for (; i < s->len && line > 1; i++)
        if (s->text[i] == '\n') line--;
    for (; i < s->len && column > 1; column--) {
        i++;
        while (i < s->len && !is_lead(s->text[i])) i++;
    }
    return i;
}

static void print_fault(const mwl__exec *x, const struct source *s) {
    const mwl__fault *f = mwl__as_fault(x->fault);
    mwl__where w;
    bool placed = mwl__program_where(x->program, f->where, f->sub, &w);
    fprintf(stderr, "mwlvm: %s: %s", mwl__failure_code_text((mwl__failure_code)f->code),
            mwl__as_str(f->message)->s);
    if (placed) {
        fprintf(stderr, " at `%.*s`, ", (int)(w.len < 200 ? w.len : 200), s->text + w.offset);
        print_place(w.line, w.column);
    }
    print_having(mwl_object_get(f->details, "having", 6));
    fputc('\n', stderr);
    if (placed) {
        size_t at = offset_of(s, w.line, w.column), end = (size_t)w.offset + w.len;
        point(s->text, s->len, at, end > at ? end - at : 1);
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

enum { VARS, INPUT, STEP, N_ROOTS };
static const char *const root_names[N_ROOTS] = {"vars", "input", "step"};

struct eval {
    struct source source;
    const char *vars, *input;
    bool as_cel;
    mwl_heap *heap;
    mwl__functions functions;
    mwl__zones zones;
    mwl__exec x;
    mwl_value roots[N_ROOTS];
};

static const char help[] =
    "usage: mwlvm eval EXPR [OPTIONS]\n\n"
    "Evaluates one CEL expression, with or without its {{ }}, and prints its value as JSON.\n\n"
    "  --vars JSON            the object that the expression sees as vars\n"
    "  --input JSON           what it sees as input and as step.input\n"
    "  --cel                  print the CEL value, which need not have a JSON form\n\n"
    "Exit status: 0 a value, 1 a fault, 2 wrong usage, 3 no expression of CEL.\n";

/* Inside of "{{ ... }}", as it stands in a definition: CEL itself has nothing that begins so. */
static struct source inside(const char *text) {
    size_t begin = 0, end = strlen(text);
    while (begin < end && isspace((unsigned char)text[begin])) begin++;
    while (end > begin && isspace((unsigned char)text[end - 1])) end--;
    bool braced = end - begin >= 4 && memcmp(text + begin, "{{", 2) == 0 &&
                  memcmp(text + end - 2, "}}", 2) == 0;
    if (!braced) return (struct source){text, strlen(text)};
    return (struct source){text + begin + 2, end - begin - 4};
}

/* Two dashes and a letter are a mistyped option sooner than a number negated twice. */
static bool is_option(const char *word) {
    return word[0] == '-' && word[1] == '-' && isalpha((unsigned char)word[2]);
}

static int parse_arguments(struct eval *e, int argc, char **argv) {
    const char *expr = NULL;
    for (int i = 1; i < argc; i++) {
        bool has_value = strcmp(argv[i], "--vars") == 0 || strcmp(argv[i], "--input") == 0;
        if (has_value && i + 1 == argc) return cmd_usage("eval: %s needs JSON", argv[i]);
        if (has_value) {
            *(argv[i][2] == 'v' ? &e->vars : &e->input) = argv[i + 1];
            i++;
        } else if (strcmp(argv[i], "--cel") == 0) {
            e->as_cel = true;
        } else if (is_option(argv[i])) {
            return cmd_usage("eval: unknown option '%s'", argv[i]);
        } else if (!expr) {
            expr = argv[i];
        } else {
            return cmd_usage("eval: more than one expression: '%s'", argv[i]);
        }
    }
    if (!expr) return cmd_usage("eval: no expression given");
    e->source = inside(expr);
    return CMD_OK;
}

static int read_json(struct eval *e, const char *what, const char *text, mwl_value *out) {
    mwl_error error = {MWL_OK, "", 0};
    if (!text) *out = mwl_object(e->heap, 0);
    if (!text || mwl_json_parse(e->heap, text, strlen(text), out, &error) == MWL_OK) return CMD_OK;
    return cmd_usage("eval: %s: %s, at byte %zu", what, error.message, error.offset);
}

static int read_roots(struct eval *e) {
    int status = read_json(e, "--vars", e->vars, &e->roots[VARS]);
    if (status == CMD_OK) status = read_json(e, "--input", e->input, &e->roots[INPUT]);
    if (status != CMD_OK) return status;
    if (mwl_value_kind(e->roots[VARS]) != MWL_KIND_OBJECT)
        return cmd_usage("eval: --vars must be an object");
    e->roots[STEP] = mwl_object_set(e->heap, mwl_object(e->heap, 1), "input", 5,
                                    mwl_value_keep(e->roots[INPUT]));
    return CMD_OK;
}

static mwl__clock_pin read_clock(void *ctx) {
    struct timespec t = {0, 0};
    (void)ctx;
    clock_gettime(CLOCK_REALTIME, &t);
    mwl__clock_pin pin = {(int64_t)t.tv_sec, (uint32_t)t.tv_nsec};
    return pin;
}

static int print_value(struct eval *e, mwl_value v) {
    char *text = NULL;
    size_t len = 0;
    if (e->as_cel) {
        mwl__buf out = mwl__buf_make(mwl_alloc_default());
        mwl__cel_write(&out, v);
        puts(mwl__buf_cstr(&out));
        mwl__buf_free(&out);
        return CMD_OK;
    }
    mwl_status status = mwl_json_write(e->heap, v, MWL_JSON_COMPACT, &text, &len);
    if (status != MWL_OK) return cmd_fail("%s", mwl_status_text(status));
    fwrite(text, 1, len, stdout);
    putchar('\n');
    mwl_text_free(e->heap, text, len);
    return CMD_OK;
}

static int evaluate(struct eval *e) {
    const mwl__cel_env env = {
        .functions = &e->functions,
        .vars = root_names,
        .n_vars = N_ROOTS,
        .as_data = !e->as_cel,
        .sink = {report, &e->source},
    };
    mwl__cel_code code = {0};
    mwl_status status = mwl__cel_compile(&env, e->source.text, e->source.len, &code);
    if (status == MWL_E_NOMEM) return cmd_fail("%s", mwl_status_text(status));
    if (status != MWL_OK) {
        fprintf(stderr, "mwlvm: the expression is rejected\n");
        return CMD_REJECTED;
    }
    e->x.zones = &e->zones;
    e->x.wall = read_clock;
    e->x.pin = read_clock(NULL);
    mwl_value result = mwl_absent();
    int answer;
    switch (mwl__cel_eval(&code, &e->x, e->roots, N_ROOTS, &result)) {
    case MWL_EXEC_END: answer = print_value(e, result); break;
    case MWL_EXEC_FAULT:
        print_fault(&e->x, &e->source);
        answer = CMD_FAILED;
        break;
    default: answer = cmd_fail("%s", mwl_status_text(MWL_E_NOMEM)); break;
    }
    mwl_value_drop(e->heap, result);
    mwl__exec_done(&e->x);
    mwl__cel_free(&code);
    return answer;
}

int cmd_eval(int argc, char **argv) {
    if (cmd_help(argc, argv, help)) return CMD_OK;
    struct eval e;
    memset(&e, 0, sizeof e);
    int status = parse_arguments(&e, argc, argv);
    if (status != CMD_OK) return status;
    mwl__functions_init(&e.functions, NULL);
    mwl__zones_init(&e.zones, mwl_alloc_default(), NULL, NULL);
    if (mwl_heap_new(NULL, &e.heap) != MWL_OK || mwl__exec_init(&e.x, e.heap) != MWL_OK ||
        tool_add_functions(&e.functions) != MWL_OK)
        status = cmd_fail("%s", mwl_status_text(MWL_E_NOMEM));
    if (status == CMD_OK) status = read_roots(&e);
    if (status == CMD_OK) status = evaluate(&e);
    for (size_t i = 0; i < N_ROOTS; i++) mwl_value_drop(e.heap, e.roots[i]);
    mwl_heap_free(e.heap);
    mwl__zones_free(&e.zones);
    mwl__functions_done(&e.functions);
    return status;
}
