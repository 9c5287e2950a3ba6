/* expr.c: see expr.h. */
#include "tools/host/expr.h"

#include "tools/base/tool_functions.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* An expression of a test is small: one that works longer than a second or so is a mistake. */
#define EXPR_FUEL 100000000u

void expr_env_init(struct expr_env *env, mwl_heap *heap) {
    memset(env, 0, sizeof *env);
    env->heap = heap;
    mwl__functions_init(&env->functions, NULL);
    mwl__zones_init(&env->zones, mwl_alloc_default(), NULL, NULL);
}

void expr_env_free(struct expr_env *env) {
    if (!env->heap) return;
    if (env->ready) mwl__exec_done(&env->x);
    mwl__zones_free(&env->zones);
    mwl__functions_done(&env->functions);
    memset(env, 0, sizeof *env);
}

mwl_status expr_env_functions(struct expr_env *env, const mwl_function_def *table, size_t n) {
    return mwl__functions_add(&env->functions, table, n);
}

static mwl__clock_pin read_clock(void *ctx) { return ((const struct expr_env *)ctx)->now; }

static mwl_status make_ready(struct expr_env *env) {
    if (env->ready) return MWL_OK;
    mwl_status status = tool_add_functions(&env->functions);
    if (status == MWL_OK) status = mwl__exec_init(&env->x, env->heap);
    env->ready = status == MWL_OK;
    return status;
}

struct reason {
    char *why;
    size_t size;
};

static void report(void *ctx, const mwl__cel_problem *problem) {
    struct reason *r = ctx;
    if (problem->severity != MWL__CEL_ERROR || *r->why) return; /* the first one counts */
    snprintf(r->why, r->size, "column %u: %s%s%s", problem->begin + 1, problem->message,
             problem->help ? "; " : "", problem->help ? problem->help : "");
}

static void strip(const char **text, size_t *len) {
    const char *s = *text;
    size_t n = *len;
    for (; n && isspace((unsigned char)*s); s++) n--;
    while (n && isspace((unsigned char)s[n - 1])) n--;
    if (n < 4 || memcmp(s, "{{", 2) != 0 || memcmp(s + n - 2, "}}", 2) != 0) return;
    *text = s + 2;
    *len = n - 4;
}

mwl_status expr_compile(struct expr_env *env, const char *text, size_t len,
                        const char *const *names, size_t n_names, struct expr *out, char *why,
                        size_t size) {
    memset(out, 0, sizeof *out);
    *why = '\0';
    strip(&text, &len);
    mwl_status status = make_ready(env);
    struct reason reason = {why, size};
    const mwl__cel_env cel = {
        .functions = &env->functions, .vars = names, .n_vars = n_names, .sink = {report, &reason}};
    if (status == MWL_OK) status = mwl__cel_compile(&cel, text, len, &out->code);
    out->set = status == MWL_OK;
    if (status != MWL_OK && !*why) snprintf(why, size, "%s", mwl_status_text(status));
    return status;
}

void expr_free(struct expr *e) {
    if (e->set) mwl__cel_free(&e->code);
    memset(e, 0, sizeof *e);
}

mwl_value expr_eval(struct expr_env *env, const struct expr *e, const mwl_value *values,
                    size_t n_values, char *why, size_t size) {
    mwl_value out = mwl_absent();
    *why = '\0';
    env->x.zones = &env->zones;
    env->x.wall = read_clock;
    env->x.wall_ctx = env;
    env->x.pin = env->now;
    env->x.budget = EXPR_FUEL;
    env->x.slice = env->x.turn = EXPR_FUEL;
    switch (mwl__cel_eval(&e->code, &env->x, values, n_values, &out)) {
    case MWL_EXEC_END: return out;
    case MWL_EXEC_FAULT: {
        const mwl__str *message = mwl__as_str(mwl__as_fault(env->x.fault)->message);
        snprintf(why, size, "%.*s", (int)message->len, message->s);
        break;
    }
    case MWL_EXEC_YIELD:
    case MWL_EXEC_FUEL: snprintf(why, size, "it works too long"); break;
    default: snprintf(why, size, "%s", mwl_status_text(MWL_E_NOMEM)); break;
    }
    mwl__exec_clear(&env->x, env->x.n_regs);
    mwl__replace(env->heap, &env->x.fault, mwl_absent());
    return mwl_absent();
}

bool expr_holds(struct expr_env *env, const struct expr *e, const mwl_value *values,
                size_t n_values, char *why, size_t size) {
    mwl_value v = expr_eval(env, e, values, n_values, why, size);
    bool holds = mwl_value_kind(v) == MWL_KIND_BOOL && mwl_as_bool(v);
    if (!*why && mwl_value_kind(v) != MWL_KIND_BOOL)
        snprintf(why, size, "its value is not true or false but of type %s", mwl_value_type(v));
    mwl_value_drop(env->heap, v);
    return holds;
}
