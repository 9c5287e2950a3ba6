/* answers_read.c: scripted answers from JSON to records, and whether a value fits. */
#include "tools/host/answers_read.h"

#include "tools/host/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const answer_names[ANSWER_NAMES] = {"with", "input", "step", "flow", "number"};

static bool fail(struct answer_reader *r, const char *where, const char *what) {
    if (!*r->why) snprintf(r->why, r->size, "%s: %s", where, what);
    return false;
}

static bool compile(struct answer_reader *r, const char *where, mwl_value text,
                    const char *const *names, size_t n_names, struct expr *out) {
    size_t len = 0;
    const char *s = mwl_value_kind(text) == MWL_KIND_STRING ? mwl_as_text(text, &len) : NULL;
    char why[300];
    if (!s) return fail(r, where, "a CEL expression is wanted, as text");
    return expr_compile(r->env, s, len, names, n_names, out, why, sizeof why) == MWL_OK ||
           fail(r, where, why);
}

static bool read_match(struct answer_reader *r, mwl_value spec, const char *name,
                       struct answer_match *out) {
    static const char *const names[] = {"this"};
    mwl_value exact = mwl_get(spec, "$exact"), cel = mwl_get(spec, "$cel");
    out->kind = MATCH_ANY;
    if (mwl_is_absent(spec)) return true;
    out->kind = MATCH_SUBSET;
    out->value = spec;
    if (mwl_value_kind(spec) != MWL_KIND_OBJECT || mwl_count(spec) != 1) return true;
    if (!mwl_is_absent(exact)) {
        out->kind = MATCH_EXACT;
        out->value = exact;
    } else if (!mwl_is_absent(cel)) {
        out->kind = MATCH_CEL;
        return compile(r, name, cel, names, 1, &out->condition);
    }
    return true;
}

static bool read_times(struct answer_reader *r, mwl_value v, uint64_t absent, uint64_t *out) {
    const char *text = mwl_as_text(v, NULL);
    *out = absent;
    if (mwl_is_absent(v)) return true;
    if (text && strcmp(text, "any") == 0) {
        *out = UINT64_MAX;
        return true;
    }
    double n = mwl_value_kind(v) == MWL_KIND_NUMBER ? mwl_as_number(v) : 0;
    if (n < 1 || n > 1e9 || n != (double)(uint64_t)n)
        return fail(r, "times", "a whole number from 1 on, or \"any\", is wanted");
    *out = (uint64_t)n;
    return true;
}

static bool read_delay(struct answer_reader *r, mwl_value v, int64_t *out) {
    size_t len = 0;
    const char *text = mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, &len) : NULL;
    if (mwl_is_absent(v)) return true;
    if (text && mwl_duration_parse(text, len, out) == MWL_OK && *out >= 0) return true;
    return fail(r, "delay", "a duration is wanted, such as \"PT5S\"");
}

static bool read_says(struct answer_reader *r, mwl_value spec, struct answer *out) {
    mwl_value value = mwl_get(spec, "value"), failure = mwl_get(spec, "failure"),
              compute = mwl_get(spec, "compute"), never = mwl_get(spec, "never");
    int n = !mwl_is_absent(value) + !mwl_is_absent(failure) + !mwl_is_absent(compute) +
            !mwl_is_absent(never);
    if (n > 1)
        return fail(r, "answer",
                    "only one of `value`, `failure`, `compute` and `never` can be said");
    if (!mwl_is_absent(value)) {
        out->kind = ANSWER_VALUE;
        out->value = value;
    } else if (!mwl_is_absent(failure)) {
        out->kind = ANSWER_FAILURE;
        out->value = failure;
        if (mwl_value_kind(mwl_get(failure, "code")) != MWL_KIND_STRING)
            return fail(r, "failure", "an object with a `code` is wanted");
    } else if (!mwl_is_absent(never)) {
        out->kind = ANSWER_NEVER;
        if (mwl_value_kind(never) != MWL_KIND_BOOL || !mwl_as_bool(never))
            return fail(r, "never", "only true is possible");
    } else if (!mwl_is_absent(compute)) {
        out->kind = ANSWER_COMPUTED;
        return compile(r, "compute", compute, answer_names, ANSWER_NAMES, &out->compute);
    }
    return true;
}

static bool read_answer(struct answer_reader *r, mwl_value spec, uint64_t times,
                        struct answer *out) {
    const char *word = mwl_value_kind(spec) == MWL_KIND_STRING ? mwl_as_text(spec, NULL) : NULL;
    out->times = times;
    out->value = out->metadata = mwl_absent();
    if (word && strcmp(word, "never") == 0) {
        out->kind = ANSWER_NEVER;
        return true;
    }
    if (mwl_value_kind(spec) != MWL_KIND_OBJECT)
        return fail(r, "answer", "an object or \"never\" is wanted");
    out->metadata = mwl_get(spec, "metadata");
    if (!mwl_is_absent(out->metadata) && mwl_value_kind(out->metadata) != MWL_KIND_OBJECT)
        return fail(r, "metadata", "an object is wanted");
    return read_says(r, spec, out) && read_delay(r, mwl_get(spec, "delay"), &out->delay_ns);
}

static bool known_members(struct answer_reader *r, mwl_value spec, bool whole) {
    static const char *const names[] = {"value", "failure",  "compute", "never",
                                        "delay", "metadata", "times",   "comment",
                                        "with",  "input",    "when",    "sequence"};
    mwl_value key;
    for (size_t i = 0; mwl_object_at(spec, i, &key, NULL); i++) {
        const char *name = mwl_as_text(key, NULL);
        size_t n = whole ? sizeof names / sizeof *names : 8, at = 0;
        while (at < n && strcmp(name, names[at]) != 0) at++;
        if (at < n) continue;
        char text[160];
        snprintf(text, sizeof text, "'%.80s' is not a member of an answer", name);
        return fail(r, "answer", text);
    }
    return true;
}

static bool read_sequence(struct answer_reader *r, mwl_value list, struct answer_rule *out) {
    if (mwl_value_kind(list) != MWL_KIND_ARRAY || mwl_count(list) == 0)
        return fail(r, "sequence", "a list of answers is wanted");
    out->answers = calloc(mwl_count(list), sizeof *out->answers);
    if (!out->answers) return fail(r, "sequence", mwl_status_text(MWL_E_NOMEM));
    for (size_t i = 0; i < mwl_count(list); i++) {
        mwl_value item = mwl_array_at(list, i);
        uint64_t times;
        out->n_answers++;
        if (!known_members(r, item, false) || !read_times(r, mwl_get(item, "times"), 1, &times) ||
            !read_answer(r, item, times, &out->answers[i]))
            return false;
    }
    return true;
}

static bool read_rule(struct answer_reader *r, mwl_value spec, bool in_list,
                      struct answer_rule *out) {
    mwl_value when = mwl_get(spec, "when"), sequence = mwl_get(spec, "sequence");
    uint64_t times;
    out->counter = r->n_counters++;
    if (!known_members(r, spec, true) ||
        !read_match(r, mwl_get(spec, "with"), "with", &out->with) ||
        !read_match(r, mwl_get(spec, "input"), "input", &out->input))
        return false;
    if (!mwl_is_absent(when) && !compile(r, "when", when, answer_names, ANSWER_NAMES, &out->when))
        return false;
    if (!mwl_is_absent(sequence)) return read_sequence(r, sequence, out);
    if (!read_times(r, mwl_get(spec, "times"), in_list ? 1 : UINT64_MAX, &times)) return false;
    out->answers = calloc(1, sizeof *out->answers);
    if (!out->answers) return fail(r, "answer", mwl_status_text(MWL_E_NOMEM));
    out->n_answers = 1;
    return read_answer(r, spec, times, out->answers);
}

bool answers_read(struct answer_reader *r, mwl_value spec, struct answer_group *out) {
    bool list = mwl_value_kind(spec) == MWL_KIND_ARRAY;
    size_t n = list ? mwl_count(spec) : 1;
    out->counter = r->n_counters++;
    out->rules = calloc(n ? n : 1, sizeof *out->rules);
    if (!out->rules) return fail(r, out->name, mwl_status_text(MWL_E_NOMEM));
    for (size_t i = 0; i < n; i++) {
        char inner[400] = "";
        struct answer_reader nested = {r->env, r->n_counters, inner, sizeof inner};
        out->n_rules++;
        bool good = read_rule(&nested, list ? mwl_array_at(spec, i) : spec, list, &out->rules[i]);
        r->n_counters = nested.n_counters;
        if (good) continue;
        if (list)
            snprintf(r->why, r->size, "answers of '%s', number %zu: %s", out->name, i + 1, inner);
        else
            snprintf(r->why, r->size, "answers of '%s': %s", out->name, inner);
        return false;
    }
    return true;
}

void answers_group_free(struct answer_group *g) {
    for (size_t i = 0; i < g->n_rules; i++) {
        struct answer_rule *rule = &g->rules[i];
        expr_free(&rule->with.condition);
        expr_free(&rule->input.condition);
        expr_free(&rule->when);
        for (size_t k = 0; k < rule->n_answers; k++) expr_free(&rule->answers[k].compute);
        free(rule->answers);
    }
    free(g->rules);
    memset(g, 0, sizeof *g);
}

/* ---- fitting --------------------------------------------------------------------------------- */

bool answers_contains(mwl_value expected, mwl_value actual) {
    mwl_kind kind = mwl_value_kind(expected);
    mwl_value key, value;
    if (kind != mwl_value_kind(actual) || (kind != MWL_KIND_OBJECT && kind != MWL_KIND_ARRAY))
        return mwl_value_equal(expected, actual);
    if (kind == MWL_KIND_ARRAY) {
        if (mwl_count(expected) != mwl_count(actual)) return false;
        for (size_t i = 0; i < mwl_count(expected); i++)
            if (!answers_contains(mwl_array_at(expected, i), mwl_array_at(actual, i))) return false;
        return true;
    }
    for (size_t i = 0; mwl_object_at(expected, i, &key, &value); i++) {
        mwl_value other = mwl_object_find(actual, key);
        if (mwl_is_absent(other) || !answers_contains(value, other)) return false;
    }
    return true;
}

bool answers_part_fits(struct expr_env *env, const struct answer_match *m, const char *name,
                       mwl_value actual, char *why, size_t size) {
    char reason[200] = "";
    bool fits = true;
    switch (m->kind) {
    case MATCH_ANY: break;
    case MATCH_SUBSET: fits = answers_contains(m->value, actual); break;
    case MATCH_EXACT: fits = mwl_value_equal(m->value, actual); break;
    case MATCH_CEL: fits = expr_holds(env, &m->condition, &actual, 1, reason, sizeof reason); break;
    }
    if (!fits) snprintf(why, size, "`%s` does not fit%s%s", name, *reason ? ": " : "", reason);
    return fits;
}
