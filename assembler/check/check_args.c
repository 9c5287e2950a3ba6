/* check_args.c: compares literal values with their types, as far as these are known. See check.h.
 *
 * What is wrong here fails when the Flow runs, with System.ParameterValidationFailed; so these are
 * warnings. */
#include "assembler/check/check.h"

#include "vm/base/ascii.h"
#include "vm/base/num.h"
#include "vm/base/suggest.h"
#include "vm/value/temporal.h"

#include <math.h>
#include <stdio.h>

#define NAMES_MAX 64 /* parameters and members of `with` that are compared */
#define AT_RUN_TIME "it fails with System.ParameterValidationFailed when it runs"

/* ---- durations and timestamps ---------------------------------------------------------------- */

/* Converts a duration as other languages write it ("30s", "1h 30m", "500 ms") to ISO 8601. */
static bool iso_duration(const char *s, size_t len, char *out, size_t size) {
    static const struct {
        const char *name;
        char part; /* of the order below; m: thousandths of a second */
    } units[] = {
        {"ms", 'm'},  {"millis", 'm'}, {"millisecond", 'm'}, {"milliseconds", 'm'}, {"s", 'S'},
        {"sec", 'S'}, {"secs", 'S'},   {"second", 'S'},      {"seconds", 'S'},      {"m", 'M'},
        {"min", 'M'}, {"mins", 'M'},   {"minute", 'M'},      {"minutes", 'M'},      {"h", 'H'},
        {"hr", 'H'},  {"hrs", 'H'},    {"hour", 'H'},        {"hours", 'H'},        {"d", 'D'},
        {"day", 'D'}, {"days", 'D'},   {"w", 'W'},           {"week", 'W'},         {"weeks", 'W'}};
    static const char order[] = "WDHMSm";
    size_t at = 0, n = 0, last = 0;
    bool time = false;
    n = (size_t)snprintf(out, size, "P");
    while (at < len) {
        unsigned value = 0;
        size_t digits = 0, word, i = 0;
        char name[16];
        while (at < len && s[at] == ' ') at++;
        for (; at < len && mwl__is_digit(s[at]) && digits < 8; at++, digits++)
            value = value * 10 + (unsigned)(s[at] - '0');
        while (at < len && s[at] == ' ') at++;
        for (word = 0; at < len && mwl__is_letter(s[at]); at++) {
            if (word + 1 == sizeof name) return false;
            name[word++] = (char)(s[at] | 32);
        }
        name[word] = '\0';
        while (i < sizeof units / sizeof *units && strcmp(units[i].name, name) != 0) i++;
        if (digits == 0 || word == 0 || i == sizeof units / sizeof *units) return false;
        size_t rank = (size_t)(strchr(order, units[i].part) - order) + 1;
        if (rank <= last) return false; /* each unit once, the larger first */
        last = rank;
        if (rank > 2 && !time) n += (size_t)snprintf(out + n, size - n, "T");
        time |= rank > 2;
        if (units[i].part == 'm')
            n += (size_t)snprintf(out + n, size - n, "%u.%03uS", value / 1000, value % 1000);
        else
            n += (size_t)snprintf(out + n, size - n, "%u%c", value, units[i].part);
        if (n + 16 > size) return false;
    }
    int64_t ns;
    return last && mwl_duration_parse(out, n, &ns) == MWL_OK;
}

/* "PT1S" for "P1S": hours and seconds stand behind a T. */
static bool with_time(const char *s, size_t len, char *out, size_t size) {
    int64_t ns;
    if (len < 3 || s[0] != 'P' || s[1] == 'T' || len + 2 > size) return false;
    int n = snprintf(out, size, "PT%.*s", (int)len - 1, s + 1);
    return n > 0 && mwl_duration_parse(out, (size_t)n, &ns) == MWL_OK;
}

static void suggest_duration(mwl__diag *d, const mwl__node *n) {
    char text[64];
    if (n->kind == MWL_NODE_NUMBER && n->as.number >= 0 && n->as.number < 1e9 &&
        floor(n->as.number) == n->as.number) {
        mwl__diag_help(d, "write \"PT%.0fS\" for %.0f second%s", n->as.number, n->as.number,
                       n->as.number == 1 ? "" : "s");
    } else if (n->kind == MWL_NODE_STRING && n->count < 40 &&
               (iso_duration(n->as.text, n->count, text, sizeof text) ||
                with_time(n->as.text, n->count, text, sizeof text))) {
        mwl__diag_help(d, "write \"%s\"", text);
        mwl__diag_fix_string(d, mwl__node_span(n), text, strlen(text));
    } else {
        mwl__diag_help(d, "thirty seconds are written \"PT30S\"");
    }
}

void mwl__check_duration(mwl__checker *c, const mwl__node *n, const char *name) {
    int64_t ns;
    if (mwl__form_looks_computed(n)) return;
    if (n->kind == MWL_NODE_STRING && mwl_duration_parse(n->as.text, n->count, &ns) != MWL_E_SYNTAX)
        return;
    mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_INVALID_DURATION,
                                    "'%s' is not an ISO 8601 duration", name);
    mwl__diag_note(d, AT_RUN_TIME);
    if (d) suggest_duration(d, n);
}

static void suggest_timestamp(mwl__diag *d, const mwl__node *n) {
    char text[64];
    mwl__instant t;
    int len = n->kind == MWL_NODE_STRING && n->count < 40
                  ? snprintf(text, sizeof text, "%.*sZ", MWL__NODE_TEXT(n))
                  : 0;
    if (len > 0 && mwl__temporal_parse_instant(text, (size_t)len, &t) == MWL_OK)
        mwl__diag_help(d, "the offset is missing: write \"%s\" for UTC", text);
    else
        mwl__diag_help(d, "a timestamp is written \"2026-01-31T12:00:00Z\"");
}

void mwl__check_timestamp(mwl__checker *c, const mwl__node *n, const char *name) {
    if (mwl__form_looks_computed(n)) return;
    if (n->kind == MWL_NODE_STRING && mwl__temporal_is_date_time(n->as.text, n->count)) return;
    mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_INVALID_TIMESTAMP,
                                    "'%s' is not an RFC 3339 timestamp", name);
    mwl__diag_note(d, AT_RUN_TIME);
    if (d) suggest_timestamp(d, n);
}

/* ---- names of arguments ---------------------------------------------------------------------- */

/* Does the schema's top level refuse a member of this name? */
static bool is_refused(const mwl__node *schema, const mwl__node *m) {
    const mwl__node *more = mwl__node_get(schema, "additionalProperties");
    if (!schema) return true;
    if (mwl__node_get(schema, "patternProperties")) return false;
    if (more && !(more->kind == MWL_NODE_BOOL && !more->boolean)) return false;
    return !mwl__node_find(mwl__node_get(schema, "properties"), m->key, m->key_len);
}

/* Returns the property that was probably meant by an undeclared member of the object, or NULL. It
 * is found in the table of words, by its spelling, or because one member is undeclared and one
 * property is missing. */
static const mwl__node *meant_by(const mwl__checker *c, const mwl__node *schema,
                                 const mwl__node *m) {
    const mwl__node *properties = mwl__node_get(schema, "properties");
    if (!properties || properties->kind != MWL_NODE_OBJECT || properties->count > NAMES_MAX ||
        m->parent->count > NAMES_MAX)
        return NULL;
    const mwl__node *p;
    mwl__named w = {.rest = mwl__diags_words(c->sink, MWL__WORDS_ARGUMENTS)};
    while (mwl__word_find(w.rest, m->key, m->key_len, &w)) {
        p = mwl__node_find(properties, w.name, w.name_len);
        if (p) return mwl__node_find(m->parent, w.name, w.name_len) ? NULL : p;
    }
    mwl__suggest s = mwl__suggest_make(m->key, m->key_len);
    for (p = mwl__node_first(properties); p; p = p->next)
        if (!mwl__node_find(m->parent, p->key, p->key_len))
            mwl__suggest_offer(&s, p->key, p->key_len);
    if (s.best) return mwl__node_find(properties, s.best, s.best_len);
    const mwl__node *missing = NULL, *required = mwl__node_get(schema, "required");
    size_t n_missing = 0, n_unknown = 0;
    for (const mwl__node *r = required ? mwl__node_first(required) : NULL; r; r = r->next)
        if (r->kind == MWL_NODE_STRING && !mwl__node_find(m->parent, r->as.text, r->count)) {
            missing = mwl__node_find(properties, r->as.text, r->count);
            n_missing++;
        }
    for (const mwl__node *o = mwl__node_first(m->parent); o && n_unknown < 2; o = o->next)
        if (is_refused(schema, o)) n_unknown++;
    return n_missing == 1 && n_unknown == 1 ? missing : NULL;
}

/* Was this property probably meant by an undeclared member of the object? Compares only a few
 * members. */
static bool is_covered(const mwl__checker *c, const mwl__node *schema, const mwl__node *object,
                       const char *name, size_t len) {
    unsigned looked = 0;
    const mwl__node *required = mwl__node_get(schema, "required");
    if (required && required->count > NAMES_MAX) return false;
    for (const mwl__node *m = object ? mwl__node_first(object) : NULL; m && looked < 16;
         m = m->next) {
        if (!is_refused(schema, m)) continue;
        looked++;
        const mwl__node *p = meant_by(c, schema, m);
        if (p && p->key_len == len && memcmp(p->key, name, len) == 0) return true;
    }
    return false;
}

static bool is_required(const mwl__node *schema, const mwl__node *property) {
    const mwl__node *list = mwl__node_get(schema, "required");
    for (const mwl__node *r = list ? mwl__node_first(list) : NULL; r; r = r->next)
        if (r->kind == MWL_NODE_STRING && r->count == property->key_len &&
            memcmp(r->as.text, property->key, r->count) == 0)
            return true;
    return false;
}

/* Adds the help about an undeclared member: the name that was probably meant, or all names that
 * exist. */
static void suggest_argument(mwl__diag *d, const mwl__node *schema, const mwl__node *m,
                             const mwl__node *meant) {
    const mwl__node *properties = mwl__node_get(schema, "properties");
    if (meant) {
        mwl__diag_help(d, "did you mean '%.*s'?", MWL__NODE_KEY(meant));
        mwl__suggest s = mwl__suggest_make(m->key, m->key_len);
        mwl__suggest_offer(&s, meant->key, meant->key_len);
        if (s.best) mwl__diag_fix_string(d, mwl__node_key_span(m), meant->key, meant->key_len);
    } else if (properties && properties->kind == MWL_NODE_OBJECT) {
        mwl__check_list_names(d, "the names here are ", properties);
    }
}

static void undeclared(mwl__checker *c, const mwl__node *schema, const mwl__node *m,
                       const char *target) {
    const mwl__node *meant =
        mwl__diags_room(c->sink, MWL_DIAG_UNDECLARED_ARGUMENT) ? meant_by(c, schema, m) : NULL;
    mwl__diag *d =
        meant && is_required(schema, meant)
            ? mwl__node_report_key(c->tree, m, MWL_DIAG_UNDECLARED_ARGUMENT,
                                   "%s needs '%.*s' and has no parameter '%.*s'", target,
                                   MWL__NODE_KEY(meant), MWL__NODE_KEY(m))
            : mwl__node_report_key(c->tree, m, MWL_DIAG_UNDECLARED_ARGUMENT,
                                   "%s has no parameter '%.*s'", target, MWL__NODE_KEY(m));
    if (!d) return;
    if (!mwl__node_get(schema, "properties")) mwl__diag_note(d, "it takes no arguments");
    mwl__diag_note(d, AT_RUN_TIME);
    suggest_argument(d, schema, m, meant);
}

/* ---- the whole schema ------------------------------------------------------------------------ */

typedef struct args {
    mwl__checker *c;
    const mwl__node *schema;
    bool partly; /* some of it is computed */
    bool said;   /* an argument is missing or undeclared */
} args;

static bool has(const char *text, size_t len, const char *part) {
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= len; i++)
        if (memcmp(text + i, part, n) == 0) return true;
    return false;
}

static bool ends(const char *text, size_t len, const char *with) {
    size_t n = strlen(with);
    return len >= n && memcmp(text + len - n, with, n) == 0;
}

/* Returns the schema that contains the keyword, or NULL if the path to it has a reference. */
static const mwl__node *holder_of(const args *a, const mwl__judged *e) {
    size_t len = e->keyword_len;
    while (len > 0 && e->keyword[len - 1] != '/') len--;
    return len ? mwl__node_follow(a->schema, e->keyword, len - 1) : NULL;
}

/* The name in "'attempts' is required". */
static bool quoted_name(const mwl__judged *e, const char **name, size_t *len) {
    const char *end = e->message_len > 2 ? memchr(e->message + 1, '\'', e->message_len - 1) : NULL;
    if (!end || e->message[0] != '\'') return false;
    *name = e->message + 1;
    *len = (size_t)(end - *name);
    return true;
}

/* Does this refusal only repeat another one that is reported? */
static bool is_repeated(const mwl__checker *c, const mwl__judged *e, const mwl__node *holder) {
    const char *name;
    size_t len;
    return ends(e->keyword, e->keyword_len, "/required") && holder && quoted_name(e, &name, &len) &&
           is_covered(c, holder, e->node, name, len);
}

/* Suggests 3 for "3", where the schema has a number. */
static void suggest_number(mwl__diag *d, const mwl__node *n, const mwl__node *holder) {
    const mwl__node *type = mwl__node_get(holder, "type");
    double number;
    if (n->kind != MWL_NODE_STRING || n->count > 32 ||
        (!mwl__node_is(type, "integer") && !mwl__node_is(type, "number")) ||
        mwl__num_parse(n->as.text, n->count, &number) != MWL_OK)
        return;
    mwl__diag_help(d, "write it without quotes: %.*s", MWL__NODE_TEXT(n));
    mwl__diag_fix(d, mwl__node_span(n), n->as.text, n->count);
}

/* How a member that is required deep in the arguments is written. */
static void suggest_member(const mwl__checker *c, mwl__diag *d, const mwl__judged *e) {
    const char *name;
    size_t len;
    mwl__named w;
    if (quoted_name(e, &name, &len) &&
        mwl__word_find(mwl__diags_words(c->sink, MWL__WORDS_MISSING), name, len, &w) && w.help)
        mwl__diag_help(d, "%.*s", (int)w.help_len, w.help);
}

static void suggest_value(const mwl__checker *c, mwl__diag *d, const mwl__judged *e,
                          const mwl__node *holder, bool key) {
    const mwl__node *format = mwl__node_get(holder, "format"),
                    *list = mwl__node_get(holder, "enum");
    if (key && holder) suggest_argument(d, holder, e->node, meant_by(c, holder, e->node));
    if (key) return;
    if (ends(e->keyword, e->keyword_len, "/type")) suggest_number(d, e->node, holder);
    if (ends(e->keyword, e->keyword_len, "/required")) suggest_member(c, d, e);
    if (mwl__node_is(format, "duration")) suggest_duration(d, e->node);
    if (mwl__node_is(format, "date-time")) suggest_timestamp(d, e->node);
    if (!list || e->node->kind != MWL_NODE_STRING) return;
    mwl__suggest s = mwl__suggest_make(e->node->as.text, e->node->count);
    for (const mwl__node *n = mwl__node_first(list); n; n = n->next)
        if (n->kind == MWL_NODE_STRING) mwl__suggest_offer(&s, n->as.text, n->count);
    if (s.best) mwl__diag_fix_string(d, mwl__node_span(e->node), s.best, s.best_len);
}

/* Reports one refusal of the schema. Undeclared and missing arguments have their own reports, so
 * they are left out here; so is what may depend on a part that is computed. */
static void refused(void *ctx, const mwl__judged *e) {
    static const char *const inside[] = {"/if",    "/then", "/else",    "/anyOf",
                                         "/oneOf", "/not",  "/contains"};
    static const char *const anywhere[] = {"/dependent", "/unevaluated"};
    static const char suggestion[] = "; did you mean ";
    args *a = ctx;
    bool top = e->keyword_len && !memchr(e->keyword + 1, '/', e->keyword_len - 1);
    if (top && (has(e->keyword, e->keyword_len, "/additionalProperties") ||
                has(e->keyword, e->keyword_len, "/required")))
        return;
    if (mwl__model_computed(a->c->m, e->node) || (e->keyword_len == 0 && a->said)) return;
    size_t last = e->keyword_len; /* the keyword itself judges this value, which is literal */
    while (last > 0 && e->keyword[last - 1] != '/') last--;
    for (size_t i = 0; i < sizeof inside / sizeof *inside && a->partly; i++)
        if (has(e->keyword, last, inside[i])) return;
    for (size_t i = 0; i < sizeof anywhere / sizeof *anywhere && a->partly; i++)
        if (has(e->keyword, e->keyword_len, anywhere[i])) return;
    const mwl__node *holder = holder_of(a, e);
    if (is_repeated(a->c, e, holder)) return;
    bool key = e->node->key && (ends(e->keyword, e->keyword_len, "/additionalProperties") ||
                                ends(e->keyword, e->keyword_len, "/unevaluatedProperties"));
    size_t said = e->message_len; /* the suggestion becomes the help */
    for (size_t i = 0; i + sizeof suggestion <= e->message_len && said == e->message_len; i++)
        if (memcmp(e->message + i, suggestion, sizeof suggestion - 1) == 0) said = i;
    mwl__diag *d = (key ? mwl__node_report_key
                        : mwl__node_report)(a->c->tree, e->node, MWL_DIAG_INVALID_ARGUMENTS,
                                            "the schema refuses this: %.*s", (int)said, e->message);
    if (!d) return;
    mwl__diag_note(d, "by %.*s of the parameter schema", (int)e->keyword_len, e->keyword);
    mwl__diag_note(d, AT_RUN_TIME);
    if (said < e->message_len)
        mwl__diag_help(d, "%.*s", (int)(e->message_len - said - 2), e->message + said + 2);
    suggest_value(a->c, d, e, holder, key);
}

/* Adds the help about a missing argument, with an example if it is a duration. */
static void suggest_missing(mwl__diag *d, const mwl__node *schema, const mwl__node *with,
                            const mwl__node *at, const mwl__node *r) {
    const mwl__node *property =
        mwl__node_find(mwl__node_get(schema, "properties"), r->as.text, r->count);
    const char *value =
        mwl__node_is(mwl__node_get(property, "format"), "duration") ? "\"PT30S\"" : "...";
    bool entry = at->key && mwl__node_key_is(at, "provider") &&
                 mwl__node_get(at->parent, "provider") && !mwl__node_get(at->parent, "with") &&
                 at->parent->key == NULL;
    if (with)
        mwl__diag_help(d, "write \"%.*s\": %s in 'with'", MWL__NODE_TEXT(r), value);
    else
        mwl__diag_help(d, "write %s\"with\": { \"%.*s\": %s }%s", entry ? "\"onEntry\": { " : "",
                       MWL__NODE_TEXT(r), value, entry ? " }" : "");
}

void mwl__check_args(mwl__checker *c, const mwl__node *with, const mwl__node *at,
                     const mwl__node *schema, const mwl__schema *compiled, const char *target) {
    size_t before = c->sink->n_errors + c->sink->n_others;
    if (with && with->kind != MWL_NODE_OBJECT) return;
    for (const mwl__node *m = with ? mwl__node_first(with) : NULL; m; m = m->next)
        if (is_refused(schema, m)) undeclared(c, schema, m, target);
    const mwl__node *required = mwl__node_get(schema, "required");
    for (const mwl__node *r = required ? mwl__node_first(required) : NULL; r; r = r->next) {
        if (r->kind != MWL_NODE_STRING || mwl__node_find(with, r->as.text, r->count) ||
            is_covered(c, schema, with, r->as.text, r->count))
            continue;
        mwl__diag *d = mwl__node_report(c->tree, with ? with : at, MWL_DIAG_MISSING_ARGUMENT,
                                        "%s needs the argument '%.*s'", target, MWL__NODE_TEXT(r));
        mwl__diag_note(d, AT_RUN_TIME);
        suggest_missing(d, schema, with, at, r);
    }
    if (!with || !with->count || !compiled) return;
    args a = {c, schema, mwl__model_computed(c->m, with),
              c->sink->n_errors + c->sink->n_others > before};
    if (mwl__judge_value(&c->judge, compiled, with, refused, &a) == MWL_E_NOMEM)
        c->status = MWL_E_NOMEM;
    mwl__check_work(c, with, with->count + c->judge.used / 4);
}
