/* suite_cel.c: the CEL conformance tests: an expression, its variables, and the value, error or
 * type that it must have. The README beside the files describes their form.
 *
 * Owns: values as the files write them, strict comparison (types count, -0 is not 0), and the
 * macros that exist for tests only (cel.block, cel.index, cel.iterVar, cel.accuVar). */
#include "tests/suite/suite_cel.h"
#include "assembler/cel/cel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char suite_cel_skips[] = "tests that need protobuf messages (needs_proto); of a disputed "
                               "pair the one that differs from cel-go";

/* ---- one test -------------------------------------------------------------------------------- */

struct run {
    struct suite *s;
    struct cel_suite c;
    const char *file;
};

static void report(void *ctx, const mwl__cel_problem *problem) {
    struct cel_suite *c = ctx;
    if (problem->severity != MWL__CEL_ERROR || c->why[0]) return;
    snprintf(c->why, sizeof c->why, "%s%s%s", problem->message, problem->note ? "; " : "",
             problem->note ? problem->note : "");
}

static const char *outcome_text(mwl__outcome o) {
    switch (o) {
    case MWL_EXEC_FUEL: return "out of fuel";
    case MWL_EXEC_NOMEM: return "out of memory";
    case MWL_EXEC_YIELD: return "yielded";
    default: return "no expression";
    }
}

/* Compiles and runs. Returns true, and *out is given; or false and the reason. *out may refer to
 * constants of *code, so free *code after it, in both cases. */
static bool evaluate(struct cel_suite *c, mwl_value test, mwl__cel_code *code, mwl_value *out) {
    size_t n_vars = 0;
    char **names = cel_names(test, &n_vars);
    mwl_value *values = suite_alloc((n_vars + 1) * sizeof *values);
    bool ok = true;
    for (size_t i = 0; i < n_vars; i++) {
        mwl_value bound = mwl_get(mwl_get(test, "bindings"), names[i]);
        values[i] = mwl_is_absent(bound) ? mwl_absent() : cel_value(c, bound);
        ok = ok && (mwl_is_absent(bound) || !mwl_is_absent(values[i]));
    }
    char *container = cel_text(test, "container");
    const mwl__cel_env env = {
        .functions = &c->functions,
        .vars = (const char *const *)names,
        .n_vars = n_vars,
        .container = container,
        .macros = cel_test_macros,
        .no_macros = cel_flag(test, "disable_macros"),
        .no_check = cel_flag(test, "disable_check"),
        .sink = {report, c},
    };
    memset(code, 0, sizeof *code);
    size_t len = 0;
    const char *expr = mwl_as_text(mwl_get(test, "expr"), &len);
    c->why[0] = '\0';
    if (!ok) {
        snprintf(c->why, sizeof c->why, "a binding could not be read");
    } else {
        mwl_status status = mwl__cel_compile(&env, expr, len, code);
        ok = status == MWL_OK;
        if (!ok && !c->why[0]) snprintf(c->why, sizeof c->why, "%s", mwl_status_text(status));
    }
    if (ok) {
        mwl__outcome outcome = mwl__cel_eval(code, &c->x, values, n_vars, out);
        ok = outcome == MWL_EXEC_END;
        if (outcome == MWL_EXEC_FAULT)
            snprintf(c->why, sizeof c->why, "%s",
                     mwl__as_str(mwl__as_fault(c->x.fault)->message)->s);
        else if (!ok)
            snprintf(c->why, sizeof c->why, "%s", outcome_text(outcome));
        mwl__exec_done(&c->x); /* the code is freed, and its constants with it */
        (void)cel_exec_init(c);
    }
    for (size_t i = 0; i < n_vars; i++) mwl_value_drop(c->heap, values[i]);
    free(values);
    cel_names_free(names, n_vars);
    free(container);
    return ok;
}

static void expect_value(struct run *r, const char *name, mwl_value test, mwl_value wanted_text) {
    mwl_value got = mwl_absent(), wanted = cel_value(&r->c, wanted_text);
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    mwl__cel_code code;
    if (!evaluate(&r->c, test, &code, &got)) {
        mwl__cel_write(&text, wanted);
        suite_fail(r->s, name, "%s; wanted %s", r->c.why, mwl__buf_cstr(&text));
    } else if (!cel_same(got, wanted, 64)) {
        mwl__cel_write(&text, got);
        mwl__buf_puts(&text, ", wanted ");
        mwl__cel_write(&text, wanted);
        suite_fail(r->s, name, "got %s", mwl__buf_cstr(&text));
    } else {
        suite_pass(r->s, name);
    }
    mwl__buf_free(&text);
    mwl_value_drop(r->c.heap, got);
    mwl_value_drop(r->c.heap, wanted);
    mwl__cel_free(&code);
}

static void expect_error(struct run *r, const char *name, mwl_value test) {
    mwl_value got = mwl_absent();
    mwl__cel_code code;
    if (!evaluate(&r->c, test, &code, &got)) {
        suite_pass(r->s, name);
    } else {
        mwl__buf text = mwl__buf_make(mwl_alloc_default());
        mwl__cel_write(&text, got);
        suite_fail(r->s, name, "got %s, wanted an error", mwl__buf_cstr(&text));
        mwl__buf_free(&text);
    }
    mwl_value_drop(r->c.heap, got);
    mwl__cel_free(&code);
}

static void expect_type(struct run *r, const char *name, mwl_value test, mwl_value typed) {
    char type[256], *wanted = cel_text(typed, "type");
    if (!cel_deduced_type(&r->c, test, type, sizeof type))
        suite_fail(r->s, name, "no type; wanted %s", wanted);
    else if (!wanted || strcmp(type, wanted) != 0)
        suite_fail(r->s, name, "type %s; wanted %s", type, wanted);
    else if (!cel_flag(test, "check_only") && !mwl_is_absent(mwl_get(typed, "value")))
        expect_value(r, name, test, mwl_get(typed, "value"));
    else
        suite_pass(r->s, name);
    free(wanted);
}

static void run_test(struct run *r, mwl_value test) {
    char name[300], *section = cel_text(test, "section"), *own = cel_text(test, "name");
    snprintf(name, sizeof name, "%s/%s/%s", r->file, section ? section : "", own ? own : "");
    free(section);
    free(own);
    if (!suite_wants(r->s, name)) return;
    bool in_ext = strncmp(r->file, "ext/", 4) == 0;
    if (cel_flag(test, "needs_proto")) {
        suite_skip(r->s, name, "needs protobuf messages");
    } else if (!mwl_is_absent(mwl_get(test, "disputed")) && !in_ext) {
        suite_skip(r->s, name, "disputed: cel-go does the opposite");
    } else if (!mwl_is_absent(mwl_get(test, "value"))) {
        expect_value(r, name, test, mwl_get(test, "value"));
    } else if (!mwl_is_absent(mwl_get(test, "typed_result"))) {
        expect_type(r, name, test, mwl_get(test, "typed_result"));
    } else {
        expect_error(r, name, test);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool run_file(void *user, const char *path, const char *relative) {
    struct run *r = user;
    size_t n = strlen(relative), len = 0;
    if (n < 5 || strcmp(relative + n - 5, ".json") != 0) return true;
    char *text = suite_read(path, &len);
    mwl_value file = mwl_absent();
    mwl_error error = {MWL_OK, "cannot be read", 0};
    if (!text || mwl_json_parse(r->c.heap, text, len, &file, &error) != MWL_OK) {
        suite_fail(r->s, relative, "%s", error.message);
    } else {
        mwl_value tests = mwl_get(file, "tests");
        r->file = relative;
        for (size_t i = 0; i < mwl_count(tests); i++) run_test(r, mwl_array_at(tests, i));
    }
    mwl_value_drop(r->c.heap, file);
    free(text);
    return true;
}

int suite_cel(struct suite *s, const char *dir) {
    struct run *r = suite_alloc(sizeof *r);
    memset(r, 0, sizeof *r);
    r->s = s;
    int answer = -1;
    if (!cel_suite_init(&r->c))
        fprintf(stderr, "mwl-suite: the functions could not be registered\n");
    else if (suite_walk(dir, run_file, r))
        answer = 0;
    cel_suite_done(&r->c);
    free(r);
    return answer;
}
