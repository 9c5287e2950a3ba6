/* check_step.c: Steps: their actions, clauses, matchers. See check.h. */
#include "assembler/check/check.h"
#include "assembler/check/members.h"

#include "vm/base/code_pattern.h"
#include "vm/base/suggest.h"

#include <math.h>
#include <stdio.h>

/* ---- forms ----------------------------------------------------------------------------------- */

static const mwl__form_field call_fields[] = {MWL__MEMBERS_CALL_STEP(MWL__MEMBER_FIELD)};
static const mwl__form_field gather_fields[] = {MWL__MEMBERS_GATHER_STEP(MWL__MEMBER_FIELD)};
static const mwl__form_field match_fields[] = {MWL__MEMBERS_MATCH_STEP(MWL__MEMBER_FIELD)};
static const mwl__form_field pass_fields[] = {MWL__MEMBERS_PASS_STEP(MWL__MEMBER_FIELD)};
static const mwl__form_field sleep_fields[] = {MWL__MEMBERS_SLEEP_STEP(MWL__MEMBER_FIELD)};
static const mwl__form_field return_fields[] = {MWL__MEMBERS_RETURN_STEP(MWL__MEMBER_FIELD)};
static const mwl__form_field raise_fields[] = {MWL__MEMBERS_RAISE_STEP(MWL__MEMBER_FIELD)};

static const char *const action_names[MWL_ACTION_COUNT] = {"Call",  "Gather", "Match", "Pass",
                                                           "Sleep", "Return", "Raise"};
static mwl__diag_code member_code(const mwl__node *m);
#define STEP(what, fields, words)                                                                  \
    {                                                                                              \
        what, fields, sizeof(fields) / sizeof *(fields), (mwl__diag_code)0,                        \
            {words, MWL__WORDS_STEP}, member_code                                                  \
    }
static const mwl__form step_forms[MWL_ACTION_COUNT] = {
    STEP("a Call Step", call_fields, MWL__WORDS_CALL_STEP),
    STEP("a Gather Step", gather_fields, MWL__WORDS_GATHER),
    STEP("a Match Step", match_fields, MWL__WORDS_MATCH),
    STEP("a Pass Step", pass_fields, MWL__WORDS_PASS),
    STEP("a Sleep Step", sleep_fields, MWL__WORDS_SLEEP),
    STEP("a Return Step", return_fields, MWL__WORDS_RETURN),
    STEP("a Raise Step", raise_fields, MWL__WORDS_RAISE)};

/* Returns the code for a member that the Step's action does not have: does another action have it?
 */
static mwl__diag_code member_code(const mwl__node *m) {
    for (int a = 0; a < MWL_ACTION_COUNT; a++)
        for (size_t i = 0; i < step_forms[a].n_fields; i++)
            if (mwl__node_key_is(m, step_forms[a].fields[i].name))
                return MWL_DIAG_MEMBER_NOT_OF_ACTION;
    return MWL_DIAG_UNKNOWN_MEMBER;
}

static const mwl__form_field catch_fields[] = {MWL__MEMBERS_CLAUSE(MWL__MEMBER_FIELD)};
static const mwl__form_field case_fields[] = {MWL__MEMBERS_CASE(MWL__MEMBER_FIELD)};
/* A default has no `when`; one that is written gets a report of its own. */
static const mwl__form_field default_fields[] = {{"when", MWL__FORM_ANY, MWL__FORM_EXPR},
                                                 MWL__MEMBERS_DEFAULT(MWL__MEMBER_FIELD)};
static const mwl__form_field matcher_fields[] = {MWL__MEMBERS_MATCHER(MWL__MEMBER_FIELD)};
static const mwl__form_field completion_fields[] = {MWL__MEMBERS_COMPLETION(MWL__MEMBER_FIELD)};
static const mwl__form_field result_fields[] = {MWL__MEMBERS_RESULT(MWL__MEMBER_FIELD)};

static const mwl__form catch_form =
    MWL__FORM_WORDS("a catch clause", catch_fields, MWL__WORDS_CATCH);
static const mwl__form case_form = MWL__FORM_WORDS("a case", case_fields, MWL__WORDS_CASE);
static const mwl__form default_form =
    MWL__FORM_WORDS("the default of a Match", default_fields, MWL__WORDS_CASE);
static const mwl__form matcher_form =
    MWL__FORM_WORDS("a failure matcher", matcher_fields, MWL__WORDS_MATCHER);
static const mwl__form completion_form =
    MWL__FORM_WORDS("a completion policy", completion_fields, MWL__WORDS_COMPLETION);
static const mwl__form result_form =
    MWL__FORM_WORDS("the result of a Raise", result_fields, MWL__WORDS_RESULT);

/* ---- names ----------------------------------------------------------------------------------- */

static void suggest_step(mwl__diag *d, const mwl__flow *f, const mwl__node *n) {
    mwl__suggest s = mwl__suggest_make(n->as.text, n->count);
    for (const mwl__node *m = mwl__node_first(f->step_nodes); m; m = m->next)
        mwl__suggest_offer(&s, m->key, m->key_len);
    const mwl__node *outer = NULL;
    for (const mwl__m_flow *o = f->m.outer; o && !outer; o = o->outer)
        outer = mwl__node_find(((const mwl__flow *)o)->step_nodes, n->as.text, n->count);
    if (outer) {
        mwl__diag_label(d, mwl__node_key_span(outer), "a Step of an outer Flow");
        mwl__diag_note(d, "routing stays inside one Flow");
        mwl__diag_help(d, "end this Flow with a Return; the Step that calls it goes on to '%.*s'",
                       MWL__NODE_TEXT(n));
    }
    if (s.best && !outer) {
        mwl__diag_help(d, "did you mean '%.*s'?", (int)s.best_len, s.best);
        mwl__diag_fix_string(d, mwl__node_span(n), s.best, s.best_len);
    } else {
        mwl__check_list_names(d, "the Steps of this Flow are ", f->step_nodes);
    }
}

mwl__m_step *mwl__check_step_ref(mwl__checker *c, mwl__flow *f, const mwl__node *n) {
    const mwl__node *found = mwl__node_find(f->step_nodes, n->as.text, n->count);
    if (found) return f->m.steps[found->index];
    mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_UNKNOWN_STEP,
                                    "this Flow has no Step '%.*s'", MWL__NODE_TEXT(n));
    if (d) suggest_step(d, f, n);
    return NULL;
}

static mwl__m_step *next_of(mwl__checker *c, mwl__flow *f, const mwl__node *next) {
    return next ? mwl__check_step_ref(c, f, next) : NULL;
}

/* ---- matchers -------------------------------------------------------------------------------- */

/* Suggests the pattern that was probably meant: "A.*" for "A*" and "A."; nothing for "*.A". */
static void suggest_pattern(mwl__diag *d, const mwl__node *p) {
    char text[120];
    size_t len = p->count;
    while (len > 0 && (p->as.text[len - 1] == '*' || p->as.text[len - 1] == '.')) len--;
    if (len == 0 || len + 3 > sizeof text || memchr(p->as.text, '*', len)) return;
    snprintf(text, sizeof text, "%.*s.*", (int)len, p->as.text);
    mwl__diag_help(d, "did you mean '%s'?", text);
    mwl__diag_fix_string(d, mwl__node_span(p), text, len + 2);
}

bool mwl__check_pattern(mwl__checker *c, const mwl__node *p) {
    if (mwl__is_code_pattern(p->as.text, p->count)) return true;
    mwl__diag *d = mwl__node_report(c->tree, p, MWL_DIAG_INVALID_CODE_PATTERN,
                                    "'%.*s' is not a code pattern", MWL__NODE_TEXT(p));
    mwl__diag_note(d, "a pattern is a code, a prefix of whole segments with '.*' after it, or '*'");
    if (d) suggest_pattern(d, p);
    return false;
}

static void check_codes(mwl__checker *c, const mwl__node *list) {
    for (const mwl__node *p = mwl__node_first(list); p; p = p->next) {
        static const mwl__form_field entry = {"codes", MWL__FORM_STRING, 0};
        if (!mwl__form_value(c->tree, p, &entry, (mwl__diag_code)0)) continue;
        if (!mwl__check_pattern(c, p)) continue;
        if (mwl__node_is(p, "System.ExpressionEvaluationError")) {
            mwl__diag *d = mwl__node_report(c->tree, p, MWL_DIAG_CATCH_EVALUATION_ERROR,
                                            "this catches mistakes in expressions");
            mwl__diag_help(d, "guard the expression with has() or a conditional");
        }
    }
}

static const char *const own_types[] = {"error", "cancellation", "timeout", "skipped"};
#define N_TYPES (sizeof own_types / sizeof *own_types)

/* Warns about a type that is similar to one of the language, or that is in lower case and not one
 * of the language. */
static void check_matched_type(mwl__checker *c, const mwl__node *t) {
    for (size_t i = 0; i < N_TYPES; i++)
        if (mwl__node_is(t, own_types[i])) return;
    const char *near = mwl__suggest_among(t->as.text, t->count, own_types, N_TYPES);
    bool lower = t->count && t->as.text[0] >= 'a' && t->as.text[0] <= 'z';
    bool same = near && strlen(near) == t->count && (t->as.text[0] | 32) == near[0] &&
                memcmp(t->as.text + 1, near + 1, t->count - 1) == 0;
    if (!lower && !same) return;
    mwl__diag *d = mwl__node_report(c->tree, t, MWL_DIAG_UNDECLARED_TYPE,
                                    "the language has no type '%.*s'", MWL__NODE_TEXT(t));
    mwl__diag_note(d, "its types are error, cancellation, timeout and skipped; those of a workflow "
                      "begin with a capital");
    if (!near) return;
    mwl__diag_help(d, "did you mean '%s'?", near);
    mwl__diag_fix_string(d, mwl__node_span(t), near, strlen(near));
}

static void check_types(mwl__checker *c, const mwl__node *list) {
    for (const mwl__node *t = mwl__node_first(list); t; t = t->next) {
        static const mwl__form_field entry = {"types", MWL__FORM_STRING, 0};
        if (!mwl__form_value(c->tree, t, &entry, (mwl__diag_code)0)) continue;
        if (mwl__node_is(t, "success"))
            mwl__node_report(c->tree, t, MWL_DIAG_SUCCESS_IN_MATCHER,
                             "a matcher chooses among failures only");
        else
            check_matched_type(c, t);
    }
}

/* Checks the object of a matcher. Returns false after a report. */
static bool check_matcher(mwl__checker *c, const mwl__node *n) {
    size_t before = c->sink->n_broken;
    uint32_t bad;
    mwl__form_check(c->tree, n, &matcher_form, &bad);
    if (n->kind == MWL_NODE_OBJECT && n->count == 0) {
        mwl__diag *d =
            mwl__node_report(c->tree, n, MWL_DIAG_EMPTY_MATCHER, "a failure matcher has no member");
        mwl__diag_help(d, "to match every failure, write { \"codes\": [\"*\"] }");
    }
    for (int i = 0; i < 2; i++) {
        const mwl__node *list = mwl__form_member(n, &matcher_form, bad, matcher_fields[i].name);
        if (!list) continue;
        if (list->count == 0)
            mwl__node_report(c->tree, list, MWL_DIAG_EMPTY_MATCHER_LIST,
                             "'%s' is empty and matches nothing", matcher_fields[i].name);
        else if (i == 0)
            check_codes(c, list);
        else
            check_types(c, list);
    }
    return c->sink->n_broken == before;
}

static void check_catch(mwl__checker *c, mwl__flow *f, mwl__m_step *step, const mwl__node *list,
                        const mwl__site *around) {
    mwl__site at = *around, *site = &at;
    at.caught = true;
    step->catches = mwl__check_new(c, list->count, sizeof *step->catches);
    if (!step->catches) return;
    for (const mwl__node *n = mwl__node_first(list); n; n = n->next) {
        uint32_t bad;
        mwl__m_catch k = {.node = n};
        at.exit = n;
        mwl__form_check(c->tree, n, &catch_form, &bad);
        const mwl__node *match = mwl__form_member(n, &catch_form, bad, "match");
        bool matcher = match && check_matcher(c, match);
        k.codes = mwl__node_get(match, "codes");
        k.types = mwl__node_get(match, "types");
        k.retryable = mwl__node_get(match, "retryable");
        k.output = mwl__form_member(n, &catch_form, bad, "output");
        k.assign = mwl__form_member(n, &catch_form, bad, "assign");
        if (k.output) mwl__check_value(c, k.output, site);
        if (k.assign) mwl__check_assign(c, k.assign, site);
        k.next = next_of(c, f, mwl__form_member(n, &catch_form, bad, "next"));
        if (matcher && k.next) step->catches[step->n_catches++] = k;
    }
}

/* ---- envelopes ------------------------------------------------------------------------------- */

static void check_type_name(mwl__checker *c, const mwl__node *n) {
    if (mwl__node_is(n, "success")) {
        mwl__node_report(c->tree, n, MWL_DIAG_FAILURE_OF_TYPE_SUCCESS,
                         "a failure cannot have the type 'success'");
        return;
    }
    for (size_t i = 0; i < N_TYPES; i++)
        if (mwl__node_is(n, own_types[i])) return;
    if (n->count == 0 || n->as.text[0] < 'a' || n->as.text[0] > 'z') return;
    mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_LOWERCASE_TYPE,
                                    "types in lower case belong to the language");
    if (!d) return;
    const char *near = mwl__suggest_among(n->as.text, n->count, own_types, N_TYPES);
    if (near) {
        mwl__diag_help(d, "did you mean '%s'?", near);
        mwl__diag_fix_string(d, mwl__node_span(n), near, strlen(near));
    } else
        mwl__diag_help(d, "write '%c%.*s'", n->as.text[0] - 'a' + 'A', (int)n->count - 1,
                       n->as.text + 1);
}

static void check_code(mwl__checker *c, const mwl__node *n) {
    const char *owner = n->count >= 7 && memcmp(n->as.text, "System.", 7) == 0     ? "the engine"
                        : n->count >= 9 && memcmp(n->as.text, "Provider.", 9) == 0 ? "providers"
                                                                                   : NULL;
    if (!owner) return;
    mwl__diag *d =
        mwl__node_report(c->tree, n, MWL_DIAG_RESERVED_CODE, "this code belongs to %s", owner);
    mwl__diag_note(d, "readers and matchers take it for a failure of the engine or of a provider");
}

static const unsigned field_kinds[6] = {MWL__FORM_STRING,
                                        MWL__FORM_STRING,
                                        MWL__FORM_STRING,
                                        MWL__FORM_ANY,
                                        MWL__FORM_BOOL | MWL__FORM_KIND(NULL),
                                        MWL__FORM_OBJECT | MWL__FORM_KIND(NULL)};
static const char *const field_wants[6] = {
    "a string", "a string", "a string", "", "true, false or null", "a failure or null"};

static void note_invalid(mwl__diag *d) {
    mwl__diag_note(d, "it fails with System.ParameterValidationFailed when it runs");
}

/* Returns false after it has reported the wrong kind of a literal. */
static bool check_field_kind(mwl__checker *c, const mwl__node *n, int field) {
    if (field_kinds[field] & (1u << n->kind)) return true;
    note_invalid(mwl__node_report(c->tree, n, MWL_DIAG_INVALID_ENVELOPE,
                                  "'%s' of a failure is %s, not %s", result_fields[field].name,
                                  field_wants[field], mwl__node_kind_name(n)));
    return false;
}

/* spec: call-interface, the failure envelope: every failure that a written `previous` chains is a
 * whole envelope. Parts that are computed are checked when they run. */
static void check_links(mwl__checker *c, const mwl__node *n) {
    for (; n && n->kind == MWL_NODE_OBJECT; n = mwl__node_get(n, "previous")) {
        for (const mwl__node *m = mwl__node_first(n); m; m = m->next) {
            int field = 0;
            while (field < 6 && !mwl__node_key_is(m, result_fields[field].name)) field++;
            if (field == 6)
                note_invalid(mwl__node_report_key(c->tree, m, MWL_DIAG_INVALID_ENVELOPE,
                                                  "a failure has no '%.*s'", MWL__NODE_KEY(m)));
            else if (!mwl__form_looks_computed(m) && check_field_kind(c, m, field) && field == 0 &&
                     mwl__node_is(m, "success"))
                note_invalid(mwl__node_report(c->tree, m, MWL_DIAG_INVALID_ENVELOPE,
                                              "a failure cannot have the type 'success'"));
        }
        if (!mwl__node_get(n, "type") || !mwl__node_get(n, "code"))
            note_invalid(mwl__node_report(c->tree, n, MWL_DIAG_INVALID_ENVELOPE,
                                          "a 'previous' failure needs 'type' and 'code'"));
    }
}

void mwl__check_envelope(mwl__checker *c, const mwl__node *const fields[6], const mwl__site *site) {
    for (int i = 0; i < 6; i++) {
        const mwl__node *n = fields[i];
        if (!n) continue;
        mwl__check_value(c, n, site);
        if (mwl__form_looks_computed(n) || !check_field_kind(c, n, i)) continue;
        if (i == 0) check_type_name(c, n);
        if (i == 1) check_code(c, n);
        if (i == 5) check_links(c, n);
    }
}

static void check_raise(mwl__checker *c, mwl__m_step *step, const mwl__node *n,
                        const mwl__site *site) {
    uint32_t bad;
    mwl__form_check(c->tree, n, &result_form, &bad);
    const mwl__node *fields[6];
    for (int i = 0; i < 6; i++) fields[i] = mwl__node_get(n, result_fields[i].name);
    if (!fields[1])
        mwl__form_guide(c->tree,
                        mwl__node_report(c->tree, n, MWL_DIAG_RAISE_WITHOUT_CODE,
                                         "the result of a Raise needs 'code'"),
                        MWL__WORDS_MISSING, "code");
    mwl__check_envelope(c, fields, site);
    step->result = n;
}

/* ---- Match ----------------------------------------------------------------------------------- */

static void check_clause(mwl__checker *c, mwl__flow *f, mwl__m_step *step, const mwl__node *n,
                         const mwl__form *form, const mwl__site *site) {
    uint32_t bad;
    mwl__m_clause k = {.node = n};
    mwl__form_check(c->tree, n, form, &bad);
    k.when = mwl__form_member(n, form, bad, "when");
    if (k.when && form == &default_form) {
        mwl__node_report_key(c->tree, k.when, MWL_DIAG_WHEN_ON_DEFAULT,
                             "the default of a Match has no 'when'");
        k.when = NULL;
    } else if (k.when && !mwl__form_looks_computed(k.when)) {
        mwl__diag *d = mwl__node_report(c->tree, k.when, MWL_DIAG_LITERAL_CASE,
                                        "the 'when' of a case is an expression");
        if (k.when->kind == MWL_NODE_BOOL)
            mwl__diag_help(d, k.when->boolean ? "what always happens is the 'default'"
                                              : "a case that is never chosen can be removed");
        mwl__check_suggest_braces(c, d, k.when);
    } else if (k.when) {
        mwl__check_condition(c, k.when, site);
    }
    k.output = mwl__form_member(n, form, bad, "output");
    k.assign = mwl__form_member(n, form, bad, "assign");
    if (k.output) mwl__check_value(c, k.output, site);
    if (k.assign) mwl__check_assign(c, k.assign, site);
    k.next = next_of(c, f, mwl__form_member(n, form, bad, "next"));
    if (k.next && (k.when || form == &default_form)) step->clauses[step->n_clauses++] = k;
}

static bool same_text(const mwl__node *a, const mwl__node *b) {
    return a->count == b->count && memcmp(a->as.text, b->as.text, a->count) == 0;
}

/* Warns about cases that can never be chosen because of an earlier one. Each is compared by text
 * with a few cases before it, so that the time stays linear. */
static void check_cases_reached(mwl__checker *c, const mwl__m_step *step) {
    for (uint32_t i = 0; i < step->n_clauses; i++) {
        const mwl__m_clause *k = &step->clauses[i];
        if (!k->when) continue;
        int constant = mwl__check_constant(c, k->when);
        if (constant == 0)
            mwl__node_report(c->tree, k->when, MWL_DIAG_UNREACHABLE_CASE,
                             "this case is never chosen");
        for (uint32_t j = i > 32 ? i - 32 : 0; j < i && constant < 0; j++) {
            const mwl__m_clause *e = &step->clauses[j];
            if (!e->when || !same_text(e->when, k->when)) continue;
            mwl__diag *d = mwl__node_report(c->tree, k->when, MWL_DIAG_UNREACHABLE_CASE,
                                            "an earlier case has the same condition");
            mwl__diag_label(d, mwl__node_span(e->when), "the earlier one");
            mwl__diag_help(d, "change one of the two conditions, or remove this case");
            break;
        }
        if (constant != 1 || i + 1 >= step->n_clauses) continue;
        const mwl__m_clause *after = &step->clauses[i + 1];
        if (!after->when) return; /* only the default follows, which is required */
        mwl__diag *d = mwl__node_report(c->tree, after->when, MWL_DIAG_UNREACHABLE_CASE,
                                        "this case and those after it are never tried");
        mwl__diag_label(d, mwl__node_span(k->when), "always true");
        return;
    }
}

static void check_match(mwl__checker *c, mwl__flow *f, mwl__m_step *step, const mwl__node *cases,
                        const mwl__node *fallback, const mwl__site *around) {
    mwl__site site = *around;
    site.roots |= MWL_SITE_MATCH;
    site.exited = true;
    step->clauses =
        mwl__check_new(c, (size_t)(cases ? cases->count : 0) + 1, sizeof *step->clauses);
    if (!step->clauses) return;
    for (const mwl__node *n = cases ? mwl__node_first(cases) : NULL; n; n = n->next) {
        site.exit = n;
        check_clause(c, f, step, n, &case_form, &site);
    }
    check_cases_reached(c, step);
    site.exit = fallback;
    if (fallback) check_clause(c, f, step, fallback, &default_form, &site);
}

/* ---- Gather ---------------------------------------------------------------------------------- */

static void check_concurrency(mwl__checker *c, mwl__m_step *step, const mwl__node *n) {
    if (n->kind == MWL_NODE_NULL) return;
    double v = n->kind == MWL_NODE_NUMBER ? n->as.number : 0;
    if (v < 1 || floor(v) != v) {
        mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_INVALID_CONCURRENCY,
                                        "'concurrency' is a whole number from 1 on, or null");
        mwl__diag_note(d, "null, or leaving it out, means no limit");
    } else if (v < MWL_NONE) {
        step->concurrency = (uint32_t)v;
    }
}

static void check_completion(mwl__checker *c, mwl__m_step *step, const mwl__node *n,
                             const mwl__site *around) {
    uint32_t bad;
    mwl__site site = *around;
    site.enumerated = true;
    mwl__form_check(c->tree, n, &completion_form, &bad);
    const mwl__node *wait = mwl__form_member(n, &completion_form, bad, "wait"),
                    *s = mwl__form_member(n, &completion_form, bad, "successes");
    if (wait) step->wait = wait->boolean;
    if (!s) return;
    step->successes = s;
    mwl__check_value(c, s, &site);
    if (s->kind != MWL_NODE_NUMBER) return;
    if (floor(s->as.number) != s->as.number)
        mwl__node_report(c->tree, s, MWL_DIAG_INVALID_SUCCESSES, "'successes' is a whole number");
    else if (!step->over && step->n_calls && s->as.number > step->n_calls)
        mwl__node_report(c->tree, s, MWL_DIAG_INVALID_SUCCESSES,
                         "%u dispatches cannot have this many successes", step->n_calls);
}

/* Checks that a Gather has exactly one form: `over` with `call`, or `calls`. */
static void check_gather_form(mwl__checker *c, const mwl__node *n) {
    const mwl__node *over = mwl__node_get(n, "over"), *call = mwl__node_get(n, "call"),
                    *calls = mwl__node_get(n, "calls");
    if (calls && (over || call)) {
        const mwl__node *other = over ? over : call;
        const mwl__node *at = calls->index > other->index ? calls : other;
        mwl__diag *d =
            mwl__node_report_key(c->tree, at, MWL_DIAG_GATHER_WITH_TWO_FORMS,
                                 "a Gather has 'over' with 'call', or 'calls', not both");
        mwl__diag_label(d, mwl__node_key_span(at == calls ? other : calls), "the other form");
    } else if (!calls && !(over && call)) {
        mwl__node_report(c->tree, n, MWL_DIAG_GATHER_WITHOUT_FORM,
                         over   ? "'over' needs a 'call' to dispatch"
                         : call ? "'call' needs an 'over' to take its elements from"
                                : "a Gather needs 'over' with 'call', or 'calls'");
    }
}

static void check_gather(mwl__checker *c, mwl__flow *f, mwl__m_step *step, uint32_t bad,
                         const mwl__site *site) {
    const mwl__node *n = step->node;
    const mwl__form *form = &step_forms[MWL_ACTION_GATHER];
    check_gather_form(c, n);
    step->over = mwl__form_member(n, form, bad, "over");
    if (step->over) {
        mwl__check_value(c, step->over, site);
        if (!mwl__form_looks_computed(step->over) && step->over->kind != MWL_NODE_ARRAY) {
            mwl__diag *d =
                mwl__node_report(c->tree, step->over, MWL_DIAG_OVER_NOT_ARRAY,
                                 "'over' is %s, not an array", mwl__node_kind_name(step->over));
            mwl__diag_note(d,
                           "the Gather fails with System.ParameterValidationFailed when it runs");
            mwl__check_suggest_braces(c, d, step->over);
        }
    }
    const mwl__node *call = mwl__form_member(n, form, bad, "call"),
                    *calls = mwl__form_member(n, form, bad, "calls");
    mwl__site inside = *site;
    inside.enumerated = true;
    step->calls = mwl__check_new(c, calls ? calls->count : 1, sizeof *step->calls);
    if (!step->calls) return;
    if (calls && calls->count == 0)
        mwl__node_report(c->tree, calls, MWL_DIAG_EMPTY_CALLS,
                         "'calls' is empty: there is nothing to dispatch");
    for (const mwl__node *k = calls ? mwl__node_first(calls) : call; k;
         k = calls ? k->next : NULL) {
        mwl__m_call *m = mwl__check_call(c, f, k, &inside, true);
        if (m) step->calls[step->n_calls++] = m;
    }
    const mwl__node *m = mwl__form_member(n, form, bad, "completion");
    if (m) check_completion(c, step, m, site);
    m = mwl__form_member(n, form, bad, "concurrency");
    if (m) check_concurrency(c, step, m);
}

/* ---- Sleep ----------------------------------------------------------------------------------- */

static void check_sleep(mwl__checker *c, mwl__m_step *step, const mwl__site *site) {
    const mwl__node *n = step->node;
    step->sleep_for = mwl__node_get(n, "for");
    step->sleep_until = mwl__node_get(n, "until");
    if (step->sleep_for && step->sleep_until) {
        const mwl__node *at =
            step->sleep_for->index > step->sleep_until->index ? step->sleep_for : step->sleep_until;
        mwl__node_report_key(c->tree, at, MWL_DIAG_SLEEP_WITH_TWO_TIMES,
                             "a Sleep has 'for' or 'until', not both");
    }
    if (!step->sleep_for && !step->sleep_until)
        mwl__node_report(c->tree, n, MWL_DIAG_SLEEP_WITHOUT_TIME, "a Sleep needs 'for' or 'until'");
    if (step->sleep_for) {
        mwl__check_value(c, step->sleep_for, site);
        mwl__check_duration(c, step->sleep_for, "for");
    }
    if (step->sleep_until) {
        mwl__check_value(c, step->sleep_until, site);
        mwl__check_timestamp(c, step->sleep_until, "until");
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static int find_action(const char *name, size_t len) {
    for (int i = 0; i < MWL_ACTION_COUNT; i++)
        if (strlen(action_names[i]) == len && memcmp(action_names[i], name, len) == 0) return i;
    return -1;
}

/* Returns the action that was probably meant: by the words of other languages, or by the spelling;
 * or -1. */
static int guess_action(const mwl__checker *c, const mwl__node *n) {
    if (n->kind != MWL_NODE_STRING) return -1;
    int exact = find_action(n->as.text, n->count);
    if (exact >= 0) return exact;
    mwl__named w;
    if (mwl__word_find(mwl__diags_words(c->sink, MWL__WORDS_ACTION), n->as.text, n->count, &w))
        return find_action(w.name, w.name_len);
    const char *near = mwl__suggest_among(n->as.text, n->count, action_names, MWL_ACTION_COUNT);
    return near ? find_action(near, strlen(near)) : -1;
}

/* Returns a member that other languages have instead of `action`, or NULL. */
static const mwl__node *find_discriminator(const mwl__node *step) {
    static const char *const names[] = {"type", "Type", "kind", "Action", "op", "state", "step"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const mwl__node *n = mwl__node_get(step, names[i]);
        if (n && n->kind == MWL_NODE_STRING) return n;
    }
    return NULL;
}

static void list_actions(mwl__diag *d) {
    mwl__diag_help(d, "the actions are Call, Gather, Match, Pass, Sleep, Return and Raise");
}

/* Returns the only action that has all these members, or -1 if there is not exactly one. */
static int action_by_members(const mwl__node *n) {
    int found = -1;
    for (int a = 0; a < MWL_ACTION_COUNT; a++) {
        bool all = n->count > 0;
        for (const mwl__node *m = mwl__node_first(n); m && all; m = m->next) {
            size_t i = 0;
            while (i < step_forms[a].n_fields && !mwl__node_key_is(m, step_forms[a].fields[i].name))
                i++;
            all = i < step_forms[a].n_fields;
        }
        for (size_t i = 0; i < step_forms[a].n_fields && all; i++)
            if ((step_forms[a].fields[i].flags & MWL__FORM_REQUIRED) &&
                !mwl__node_get(n, step_forms[a].fields[i].name))
                all = false;
        if (!all) continue;
        if (found >= 0) return -1;
        found = a;
    }
    return found;
}

/* Checks the members of a Step whose action is a guess. Only the members that are written are
 * checked, because another action may need other members. `instead`: the member in the place of
 * 'action', which was reported, or NULL. */
static void check_guessed(mwl__checker *c, const mwl__node *n, int action,
                          const mwl__node *instead) {
    mwl__form form = step_forms[action];
    mwl__form_field fields[24];
    char name[16];
    memcpy(fields, form.fields, form.n_fields * sizeof *fields);
    for (size_t i = 0; i < form.n_fields; i++) fields[i].flags &= ~(unsigned)MWL__FORM_REQUIRED;
    if (instead) {
        snprintf(name, sizeof name, "%.*s", MWL__NODE_KEY(instead));
        fields[form.n_fields++] = (mwl__form_field){name, MWL__FORM_ANY, MWL__FORM_LITERAL};
    }
    form.fields = fields;
    mwl__form_check(c->tree, n, &form, NULL);
}

static void missing_action(mwl__checker *c, const mwl__node *n) {
    const mwl__node *other = find_discriminator(n);
    int action = other ? guess_action(c, other) : action_by_members(n);
    const char *name = action >= 0 ? action_names[action] : NULL;
    mwl__diag *d;
    if (other) {
        d = mwl__node_report_key(c->tree, other, MWL_DIAG_MISSING_MEMBER,
                                 "a Step needs 'action' and has no member '%.*s'",
                                 MWL__NODE_KEY(other));
        mwl__diag_fix_string(d, mwl__node_key_span(other), "action", 6);
        if (name) mwl__diag_fix_string(d, mwl__node_span(other), name, strlen(name));
    } else {
        d = mwl__node_report(c->tree, n, MWL_DIAG_MISSING_MEMBER, "a Step needs 'action'");
        char text[48];
        int len = snprintf(text, sizeof text, " \"action\": \"%s\",", name ? name : "");
        if (name) mwl__diag_fix(d, mwl__span_make(n->offset + 1, n->offset + 1), text, (size_t)len);
    }
    if (name)
        mwl__diag_help(d, "write \"action\": \"%s\"", name);
    else
        list_actions(d);
    if (name) check_guessed(c, n, action, other);
}

/* Returns the Step's action, or -1 after a report. Then the members were checked as those of the
 * action that was probably meant. */
static int check_action(mwl__checker *c, const mwl__node *n) {
    static const mwl__form_field field = {"action", MWL__FORM_STRING, 0};
    if (n->kind != MWL_NODE_OBJECT) {
        mwl__node_report(c->tree, n, MWL_DIAG_WRONG_TYPE, "a Step is an object, not %s",
                         mwl__node_kind_name(n));
        return -1;
    }
    const mwl__node *a = mwl__node_get(n, "action");
    if (!a) {
        missing_action(c, n);
        return -1;
    }
    if (!mwl__form_value(c->tree, a, &field, (mwl__diag_code)0)) return -1;
    int action = guess_action(c, a);
    const char *name = action >= 0 ? action_names[action] : NULL;
    if (name && mwl__node_is(a, name)) return action;
    mwl__diag *d = mwl__node_report(c->tree, a, MWL_DIAG_UNKNOWN_ACTION,
                                    "there is no action '%.*s'", MWL__NODE_TEXT(a));
    if (name) {
        mwl__diag_help(d, "did you mean '%s'?", name);
        mwl__diag_fix_string(d, mwl__node_span(a), name, strlen(name));
        check_guessed(c, n, action, NULL);
    } else {
        list_actions(d);
    }
    return -1;
}

static void check_next(mwl__checker *c, mwl__flow *f, mwl__m_step *step, const mwl__form *form,
                       uint32_t bad) {
    const mwl__node *next = mwl__node_get(step->node, "next");
    if (!next && mwl__form_is_bad(form, bad, "next")) return; /* reported under another name */
    if (!next) {
        mwl__diag *d = mwl__node_report_key(c->tree, step->node, MWL_DIAG_STEP_WITHOUT_EXIT,
                                            "%s needs 'next': where does it go?", form->what);
        mwl__diag_note(d, "only Return and Raise end a Flow");
        mwl__diag_help(d, "write \"next\": with the name of the Step that comes after it");
        return;
    }
    step->next = next_of(c, f, mwl__form_member(step->node, form, bad, "next"));
}

static void check_tail(mwl__checker *c, mwl__flow *f, mwl__m_step *step, const mwl__form *form,
                       uint32_t bad, const mwl__site *around) {
    mwl__site site = *around;
    site.tail = site.exited = site.enumerated = true;
    step->output = mwl__form_member(step->node, form, bad, "output");
    step->assign = mwl__form_member(step->node, form, bad, "assign");
    site.exit = step->node;
    if (step->output) mwl__check_value(c, step->output, &site);
    if (step->assign) mwl__check_assign(c, step->assign, &site);
    const mwl__node *list = mwl__form_member(step->node, form, bad, "catch");
    if (list) check_catch(c, f, step, list, &site);
}

static void check_call_step(mwl__checker *c, mwl__flow *f, mwl__m_step *step, uint32_t bad,
                            const mwl__site *site) {
    const mwl__form *form = &step_forms[MWL_ACTION_CALL];
    const mwl__node *stack = mwl__form_member(step->node, form, bad, "middleware"),
                    *call = mwl__form_member(step->node, form, bad, "call");
    if (stack) mwl__check_stack(c, f, stack, site, false, &step->stack, &step->n_stack);
    step->calls = mwl__check_new(c, 1, sizeof *step->calls);
    if (!call || !step->calls) return;
    mwl__site inside = *site;
    inside.inner = stack && stack->count; /* a middleware may run the call again */
    step->calls[0] = mwl__check_call(c, f, call, &inside, false);
    step->n_calls = step->calls[0] ? 1 : 0;
}

void mwl__check_step(mwl__checker *c, mwl__flow *f, mwl__m_step *step) {
    const mwl__node *n = step->node;
    if (!mwl__check_work(c, n, 16 + n->count)) return;
    int action = check_action(c, n);
    uint32_t bad;
    if (action < 0) return;
    step->action = (mwl__action)action;
    const mwl__form *form = &step_forms[action];
    mwl__site site = {.roots = MWL_SITE_STEP, .flow = f, .step = step};
    mwl__form_check(c->tree, n, form, &bad);
    step->input = mwl__form_member(n, form, bad, "input");
    if (step->input) mwl__check_value(c, step->input, &site);
    switch (action) {
    case MWL_ACTION_CALL: check_call_step(c, f, step, bad, &site); break;
    case MWL_ACTION_GATHER: check_gather(c, f, step, bad, &site); break;
    case MWL_ACTION_MATCH:
        check_match(c, f, step, mwl__form_member(n, form, bad, "cases"),
                    mwl__form_member(n, form, bad, "default"), &site);
        return;
    case MWL_ACTION_SLEEP: check_sleep(c, step, &site); break;
    case MWL_ACTION_RETURN:
        site.exited = true;
        step->value = mwl__form_member(n, form, bad, "value");
        if (step->value) mwl__check_value(c, step->value, &site);
        return;
    case MWL_ACTION_RAISE:
        site.exited = true;
        n = mwl__form_member(n, form, bad, "result");
        if (n) check_raise(c, step, n, &site);
        return;
    default: break;
    }
    check_tail(c, f, step, form, bad, &site);
    check_next(c, f, step, form, bad);
}
