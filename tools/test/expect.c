/* expect.c: see expect.h. */
#include "tools/test/expect.h"

#include "tools/base/member.h"
#include "tools/host/names.h"

#include <stdio.h>
#include <string.h>

static bool is_operator(mwl_value v) {
    mwl_value key;
    return mwl_value_kind(v) == MWL_KIND_OBJECT && mwl_count(v) == 1 &&
           mwl_object_at(v, 0, &key, NULL) && *mwl_as_text(key, NULL) == '$';
}

static bool complain(struct matcher *m, const char *name, const char *what) {
    mwl__buf_printf(m->out, "  %s: %s\n", name, what);
    m->n_shown++;
    return false;
}

/* ---- the Result ------------------------------------------------------------------------------ */

static bool no_result(struct matcher *m, const struct outcome *o, const char *name) {
    return complain(m, name, o->ended ? o->ended : "the run has no Result");
}

static bool check_result(struct matcher *m, mwl_value expected, const struct outcome *o) {
    if (mwl_is_absent(o->result)) return no_result(m, o, "result");
    if (is_operator(expected))
        return match_value(m, MATCHES_EXACTLY, expected, o->result, "result");
    char why[600];
    if (match_result(m->heap, expected, o->result, why, sizeof why)) return true;
    unsigned before = m->n_shown;
    match_value(m, MATCHES_SUBSET, expected, o->result, "result");
    return m->n_shown > before ? false : complain(m, "result", why);
}

static bool check_value(struct matcher *m, mwl_value expected, const struct outcome *o) {
    if (mwl_is_absent(o->result)) return no_result(m, o, "value");
    mwl_value value = mwl_get(o->result, "value");
    if (!mwl_is_absent(value)) return match_value(m, MATCHES_EXACTLY, expected, value, "value");
    mwl__buf_puts(m->out, "  value: the Result is a failure: ");
    match_put(m, o->result, 400);
    mwl__buf_putc(m->out, '\n');
    m->n_shown++;
    return false;
}

/* A code alone is enough to name a failure. */
static bool check_failure(struct matcher *m, mwl_value expected, const struct outcome *o) {
    if (mwl_is_absent(o->result)) return no_result(m, o, "failure");
    const char *type = mwl_as_text(mwl_get(o->result, "type"), NULL);
    if (!type || strcmp(type, "success") == 0) {
        match_differ(m, "failure", expected, o->result);
        return false;
    }
    if (mwl_value_kind(expected) == MWL_KIND_STRING)
        return match_value(m, MATCHES_EXACTLY, expected, mwl_get(o->result, "code"),
                           "failure.code");
    if (is_operator(expected) || mwl_value_kind(expected) != MWL_KIND_OBJECT)
        return match_value(m, MATCHES_EXACTLY, expected, o->result, "failure");
    bool good = true;
    mwl_value key, value;
    for (size_t i = 0; mwl_object_at(expected, i, &key, &value); i++) {
        char path[120];
        mwl_value actual = mwl_object_find(o->result, key);
        if (mwl_value_kind(value) == MWL_KIND_NULL && mwl_is_absent(actual)) continue;
        snprintf(path, sizeof path, "failure.%s", mwl_as_text(key, NULL));
        good &= match_value(m, MATCHES_SUBSET, value, actual, path);
    }
    return good;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool is_text(mwl_value v, const char *text) {
    const char *s = mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, NULL) : NULL;
    return s && strcmp(s, text) == 0;
}

static bool is_step(mwl_value step, const char *name) {
    return mwl_value_kind(step) == MWL_KIND_STRING && names_whole(name, mwl_as_text(step, NULL));
}

/* The calls of a Step or a URI, given. */
static mwl_value calls_of(mwl_heap *h, mwl_value calls, const char *name) {
    mwl_value list = mwl_array(h, 4);
    for (size_t i = 0; i < mwl_count(calls); i++) {
        mwl_value c = mwl_array_at(calls, i);
        if (is_step(mwl_get(c, "step"), name) || is_text(mwl_get(c, "provider"), name))
            list = mwl_array_push(h, list, mwl_value_keep(c));
    }
    return list;
}

static bool check_count(struct matcher *m, mwl_value expected, size_t n, const char *path) {
    mwl_value least = mwl_get(expected, "atLeast"), most = mwl_get(expected, "atMost");
    mwl_value actual = mwl_number((double)n);
    char inner[300];
    bool good = true;
    if (mwl_value_kind(expected) == MWL_KIND_NUMBER)
        return match_value(m, MATCHES_EXACTLY, expected, actual, path);
    if (mwl_value_kind(least) == MWL_KIND_NUMBER && (double)n < mwl_as_number(least)) {
        snprintf(inner, sizeof inner, "%s (at least)", path);
        match_differ(m, inner, least, actual);
        good = false;
    }
    if (mwl_value_kind(most) == MWL_KIND_NUMBER && (double)n > mwl_as_number(most)) {
        snprintf(inner, sizeof inner, "%s (at most)", path);
        match_differ(m, inner, most, actual);
        good = false;
    }
    return good;
}

static bool is_count(mwl_value v) {
    return mwl_value_kind(v) == MWL_KIND_NUMBER || !mwl_is_absent(mwl_get(v, "atLeast")) ||
           !mwl_is_absent(mwl_get(v, "atMost"));
}

/* A number, a list, bounds, or one of these for each Step or URI. */
static bool check_calls(struct matcher *m, const char *name, mwl_value expected, mwl_value calls) {
    bool good = true;
    mwl_value key, value;
    if (is_count(expected)) return check_count(m, expected, mwl_count(calls), name);
    if (mwl_value_kind(expected) != MWL_KIND_OBJECT || is_operator(expected))
        return match_value(m, MATCHES_SUBSET, expected, calls, name);
    for (size_t i = 0; mwl_object_at(expected, i, &key, &value); i++) {
        char path[300];
        mwl_value some = calls_of(m->heap, calls, mwl_as_text(key, NULL));
        snprintf(path, sizeof path, "%s of %s", name, mwl_as_text(key, NULL));
        good &= is_count(value) ? check_count(m, value, mwl_count(some), path)
                                : match_value(m, MATCHES_SUBSET, value, some, path);
        mwl_value_drop(m->heap, some);
    }
    return good;
}

static bool check_cleanup(struct matcher *m, mwl_value expected, const struct outcome *o) {
    mwl_value calls = seen_calls(o->seen, true);
    bool good;
    if (mwl_value_kind(expected) == MWL_KIND_BOOL)
        good = match_value(m, MATCHES_EXACTLY, expected, mwl_bool(mwl_count(calls) > 0),
                           "cleanup ran");
    else
        good = check_calls(m, "cleanup", expected, calls);
    mwl_value_drop(m->heap, calls);
    return good;
}

/* ---- time, Steps, variables ------------------------------------------------------------------ */

static bool duration_of(mwl_value v, int64_t *ns) {
    size_t len = 0;
    const char *text = mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, &len) : NULL;
    return text && mwl_duration_parse(text, len, ns) == MWL_OK;
}

static bool check_time(struct matcher *m, mwl_value expected, const struct outcome *o) {
    int64_t ns, took = o->seen->end.mono_ns - o->seen->start.mono_ns;
    mwl_value least = mwl_get(expected, "atLeast"), most = mwl_get(expected, "atMost"),
              actual = seen_duration(m->heap, took);
    bool good = true;
    if (duration_of(expected, &ns)) {
        good = ns == took;
    } else if (is_operator(expected)) {
        good = match_value(m, MATCHES_EXACTLY, expected, actual, "time");
        mwl_value_drop(m->heap, actual);
        return good;
    } else if (!mwl_is_absent(least) || !mwl_is_absent(most)) {
        good = (mwl_is_absent(least) || (duration_of(least, &ns) && took >= ns)) &&
               (mwl_is_absent(most) || (duration_of(most, &ns) && took <= ns));
    } else {
        good = complain(m, "time", "a duration is wanted, or {\"atLeast\": ..., \"atMost\": ...}");
        mwl_value_drop(m->heap, actual);
        return good;
    }
    if (!good) match_differ(m, "time", expected, actual);
    mwl_value_drop(m->heap, actual);
    return good;
}

static bool ran(mwl_value steps, mwl_value name) {
    const char *text = mwl_value_kind(name) == MWL_KIND_STRING ? mwl_as_text(name, NULL) : NULL;
    for (size_t i = 0; text && i < mwl_count(steps); i++)
        if (is_step(mwl_array_at(steps, i), text)) return true;
    return false;
}

static bool check_steps(struct matcher *m, mwl_value expected, const struct outcome *o) {
    mwl_value yes = mwl_get(expected, "ran"), no = mwl_get(expected, "notRan");
    bool good = true;
    if (mwl_value_kind(expected) != MWL_KIND_OBJECT || is_operator(expected))
        return match_value(m, MATCHES_EXACTLY, expected, o->seen->steps, "steps");
    for (size_t i = 0; i < mwl_count(yes); i++)
        if (!ran(o->seen->steps, mwl_array_at(yes, i))) {
            match_differ(m, "steps that ran", mwl_array_at(yes, i), o->seen->steps);
            good = false;
        }
    for (size_t i = 0; i < mwl_count(no); i++)
        if (ran(o->seen->steps, mwl_array_at(no, i)))
            good = complain(m, "steps that must not run", mwl_as_text(mwl_array_at(no, i), NULL));
    return good;
}

/* ---- all ------------------------------------------------------------------------------------- */

enum { ROOT_RESULT, ROOT_VALUE, ROOT_INPUT, ROOT_CALLS, ROOT_STEPS, ROOT_VARS, ROOT_TIME, N_ROOTS };
static const char *const root_names[N_ROOTS] = {"result", "value", "input", "calls",
                                                "steps",  "vars",  "time"};

static bool check_cel(struct matcher *m, mwl_value expected, const struct outcome *o,
                      mwl_value calls) {
    const mwl_value roots[N_ROOTS] = {o->result,
                                      mwl_get(o->result, "value"),
                                      mwl_is_absent(o->input) ? mwl_null() : o->input,
                                      calls,
                                      o->seen->steps,
                                      o->seen->vars,
                                      mwl_duration(o->seen->end.mono_ns - o->seen->start.mono_ns)};
    bool list = mwl_value_kind(expected) == MWL_KIND_ARRAY, good = true;
    for (size_t i = 0; i < (list ? mwl_count(expected) : 1); i++)
        good &= match_condition(m, "cel", list ? mwl_array_at(expected, i) : expected, root_names,
                                roots, N_ROOTS);
    return good;
}

static bool check_member(struct matcher *m, const char *name, mwl_value v, const struct outcome *o,
                         mwl_value calls) {
    if (strcmp(name, "result") == 0) return check_result(m, v, o);
    if (strcmp(name, "value") == 0) return check_value(m, v, o);
    if (strcmp(name, "failure") == 0) return check_failure(m, v, o);
    if (strcmp(name, "calls") == 0) return check_calls(m, "calls", v, calls);
    if (strcmp(name, "cleanup") == 0) return check_cleanup(m, v, o);
    if (strcmp(name, "time") == 0) return check_time(m, v, o);
    if (strcmp(name, "steps") == 0) return check_steps(m, v, o);
    if (strcmp(name, "vars") == 0) return match_value(m, MATCHES_SUBSET, v, o->seen->vars, "vars");
    if (strcmp(name, "cel") == 0) return check_cel(m, v, o, calls);
    if (strcmp(name, "trace") == 0 || strcmp(name, "comment") == 0) return true;
    return complain(m, name,
                    "this is not an expectation; they are result, value, failure, calls, cleanup, "
                    "time, steps, vars, cel and trace");
}

/* A case that expects nothing expects a success. */
static bool check_success(struct matcher *m, const struct outcome *o) {
    if (!mwl_is_absent(mwl_get(o->result, "value"))) return true;
    mwl__buf_puts(m->out, "  the case has no `expect`, so a success is expected; the Result is ");
    match_put(m, o->result, 400);
    mwl__buf_putc(m->out, '\n');
    m->n_shown++;
    return false;
}

bool expect_check(struct matcher *m, mwl_value expect, const struct outcome *o) {
    bool good = true, about_result = false;
    mwl_value key, value, calls = seen_calls(o->seen, false);
    for (size_t i = 0; mwl_object_at(expect, i, &key, &value); i++) {
        const char *name = mwl_as_text(key, NULL);
        about_result |= strcmp(name, "result") == 0 || strcmp(name, "value") == 0 ||
                        strcmp(name, "failure") == 0 || strcmp(name, "cel") == 0;
        good &= check_member(m, name, value, o, calls);
    }
    if (good && !about_result && mwl_is_absent(o->result)) good = no_result(m, o, "run");
    if (mwl_is_absent(expect) && good) good = check_success(m, o);
    mwl_value_drop(m->heap, calls);
    return good;
}

/* ---- updating -------------------------------------------------------------------------------- */

/* Returns what was seen, in the form of the old expectation; absent if it cannot be written so. */
static mwl_value seen_member(mwl_heap *h, const char *name, mwl_value old,
                             const struct outcome *o) {
    if (is_operator(old)) return mwl_absent();
    mwl_value value = mwl_get(o->result, "value");
    bool whole = strcmp(name, "result") == 0;
    if (whole || (strcmp(name, "failure") == 0 && mwl_is_absent(value)))
        return mwl_is_absent(o->result)                 ? mwl_absent()
               : mwl_value_kind(old) == MWL_KIND_STRING ? mwl_value_keep(mwl_get(o->result, "code"))
                                                        : mwl_value_keep(o->result);
    if (strcmp(name, "value") == 0 && !mwl_is_absent(value)) return mwl_value_keep(value);
    if (strcmp(name, "time") == 0 && mwl_value_kind(old) == MWL_KIND_STRING)
        return seen_duration(h, o->seen->end.mono_ns - o->seen->start.mono_ns);
    if (strcmp(name, "steps") == 0 && mwl_value_kind(old) == MWL_KIND_ARRAY)
        return mwl_value_keep(o->seen->steps);
    if (strcmp(name, "calls") == 0 && mwl_value_kind(old) == MWL_KIND_ARRAY)
        return seen_calls(o->seen, false);
    if (strcmp(name, "calls") == 0 && mwl_value_kind(old) == MWL_KIND_NUMBER)
        return mwl_number((double)o->seen->n_calls);
    return mwl_absent();
}

mwl_value expect_update(mwl_heap *h, mwl_value expect, const struct outcome *o) {
    mwl_value key, value, out = mwl_object(h, 4);
    bool success = !mwl_is_absent(mwl_get(o->result, "value"));
    for (size_t i = 0; mwl_object_at(expect, i, &key, &value); i++) {
        const char *name = mwl_as_text(key, NULL);
        /* a success that became a failure, or the other way round, changes its name too */
        bool other = strcmp(name, success ? "failure" : "value") == 0;
        if (other) name = success ? "value" : "failure";
        mwl_value seen = seen_member(h, name, other ? mwl_null() : value, o);
        if (mwl_is_absent(seen)) seen = mwl_value_keep(value);
        out = member_set(h, out, name, seen);
    }
    if (mwl_count(expect) == 0 && !mwl_is_absent(o->result))
        out = member_set(h, out, "result", mwl_value_keep(o->result));
    return out;
}
