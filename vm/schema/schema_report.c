/* schema_report.c: explains why a value is not valid.
 *
 * Owns: locations and messages. Refuses to know: what instructions mean. It runs each instruction
 * with schema_check.c and then looks inside those that refuse the value. This repeats earlier
 * checks once per level, but only for values that are not valid. Fuel limits the work; if it runs
 * out, the report ends with the errors found so far.
 *
 * The walk keeps two paths: the place in the schema and the place in the value. Of several
 * alternatives (anyOf, oneOf) all are examined, and only the errors of the closest one are kept. */
#include "vm/schema/format.h"
#include "vm/schema/schema_code.h"
#include "vm/base/suggest.h"
#include "vm/base/utf8.h"

#include <stdio.h>

#define NONE MWL__SCHEMA_NONE

enum { LEVELS = 160 };        /* of the walk; its frames are larger than those of a check */
enum { SHOWN_NAMES = 8 };     /* alternatives named in a message */
enum { WEIGHT_SHOWN = 1000 }; /* nodes of a value that is shown; a larger one is only described */

struct error {
    mwl_value keyword, instance, value, message;
    uint32_t cost; /* how far from valid: for the choice among alternatives */
};

struct report {
    mwl__schema_eval *e;
    mwl_heap *heap;
    mwl__buf keyword, instance, text;
    struct error
        errors[2 * MWL__SCHEMA_ERRORS]; /* the errors that are kept, then those of an alternative */
    uint32_t n, limit;
    uint32_t level;
    size_t branch; /* length of the instance path where the innermost alternative began */
};

/* ---- paths ----------------------------------------------------------------------------------- */

static void push_token(mwl__buf *path, const char *s, size_t len) {
    mwl__buf_putc(path, '/');
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '~')
            mwl__buf_puts(path, "~0");
        else if (s[i] == '/')
            mwl__buf_puts(path, "~1");
        else
            mwl__buf_putc(path, s[i]);
    }
}
static void push_name(mwl__buf *path, const char *name) { push_token(path, name, strlen(name)); }
static void push_number(mwl__buf *path, uint32_t n) { mwl__buf_printf(path, "/%u", n); }
static void push_key(mwl__buf *path, mwl_value key) {
    if (mwl_value_kind(key) == MWL_KIND_STRING)
        push_token(path, mwl__as_str(key)->s, mwl__as_str(key)->len);
    else
        push_name(path, "?"); /* the key is not a string: a JSON pointer cannot name it */
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *kind_name(mwl_value v) {
    switch (mwl_value_kind(v)) {
    case MWL_KIND_NULL: return "null";
    case MWL_KIND_BOOL: return "a boolean";
    case MWL_KIND_NUMBER:
    case MWL_KIND_INT:
    case MWL_KIND_UINT: return "a number";
    case MWL_KIND_STRING: return "a string";
    case MWL_KIND_ARRAY: return "an array";
    case MWL_KIND_OBJECT: return "an object";
    case MWL_KIND_BYTES: return "bytes";
    case MWL_KIND_DURATION: return "a duration";
    case MWL_KIND_TIMESTAMP: return "a timestamp";
    default: return "no JSON value";
    }
}

/* Writes a constant as JSON; a long one is cut. */
static void put_json(struct report *r, mwl_value v) {
    size_t from = r->text.len;
    if (mwl__value_weight(v) > 40) {
        mwl__buf_puts(&r->text, mwl_value_kind(v) == MWL_KIND_ARRAY ? "[...]" : "{...}");
        return;
    }
    if (mwl__json_write(v, MWL_JSON_COMPACT, &r->text, NULL) == MWL_E_NOT_JSON) {
        r->text.len = from;
        mwl__buf_puts(&r->text, kind_name(v));
    }
    if (r->text.failed || r->text.len - from <= 80) return;
    size_t keep = from + 77;
    while (keep > from && ((unsigned char)r->text.data[keep] & 0xC0) == 0x80) keep--;
    r->text.len = keep;
    mwl__buf_puts(&r->text, "...");
}

static void put_quoted(struct report *r, mwl_value key) {
    if (mwl_value_kind(key) != MWL_KIND_STRING) {
        put_json(r, key);
        return;
    }
    const mwl__str *s = mwl__as_str(key);
    size_t len = s->len > 80 ? mwl__utf8_offset(s->s, s->len, 60) : s->len;
    mwl__buf_putc(&r->text, '\'');
    mwl__buf_put(&r->text, s->s, len);
    mwl__buf_puts(&r->text, len < s->len ? "...'" : "'");
}

static void put_count(struct report *r, uint32_t n, const char *one, const char *many) {
    mwl__buf_printf(&r->text, "%u %s", n, n == 1 ? one : many);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static mwl_value observed(struct report *r, mwl_value v) {
    if (mwl__value_weight(v) <= WEIGHT_SHOWN) return mwl__keep(v);
    char text[64];
    bool array = mwl_value_kind(v) == MWL_KIND_ARRAY;
    int n = snprintf(text, sizeof text, "(%s of %u %s)", array ? "an array" : "an object", v.aux,
                     array ? "elements" : "members");
    return mwl_string(r->heap, text, (size_t)n);
}

static void drop_errors(struct report *r, uint32_t from) {
    while (r->n > from) {
        struct error *x = &r->errors[--r->n];
        mwl__drop(r->heap, x->keyword);
        mwl__drop(r->heap, x->instance);
        mwl__drop(r->heap, x->value);
        mwl__drop(r->heap, x->message);
    }
}

static bool full(const struct report *r) { return r->n >= r->limit || r->e->status != MWL_OK; }

/* The text so far is the message. */
static void add_error(struct report *r, mwl_value v, uint32_t cost) {
    if (r->text.failed || r->keyword.failed || r->instance.failed) r->e->status = MWL_E_NOMEM;
    if (full(r)) return;
    struct error *x = &r->errors[r->n++];
    x->keyword = mwl_string(r->heap, r->keyword.len ? r->keyword.data : "", r->keyword.len);
    x->instance = mwl_string(r->heap, r->instance.len ? r->instance.data : "", r->instance.len);
    x->value = observed(r, v);
    x->message = mwl_string(r->heap, r->text.len ? r->text.data : "", r->text.len);
    x->cost = cost;
    if (mwl_is_absent(x->keyword) || mwl_is_absent(x->instance) || mwl_is_absent(x->value) ||
        mwl_is_absent(x->message))
        r->e->status = mwl_heap_why(r->heap);
}

/* Adds an error of one keyword of the current schema. The text so far is its message. */
static void add_keyword(struct report *r, const char *keyword, mwl_value v) {
    size_t at = r->keyword.len;
    push_name(&r->keyword, keyword);
    add_error(r, v, 1);
    r->keyword.len = at;
}

#define TEXT(r, ...) ((r)->text.len = 0, mwl__buf_printf(&(r)->text, __VA_ARGS__))

/* ---- going down ------------------------------------------------------------------------------ */

static void explain(struct report *r, uint32_t node, mwl_value v);

/* Explains a schema under the keyword (and under a name or number below it; NULL, absent or NONE if
 * there is none), for the same value. */
static void below(struct report *r, const char *keyword, uint32_t number, mwl_value key,
                  uint32_t node, mwl_value v) {
    size_t at = r->keyword.len;
    push_name(&r->keyword, keyword);
    if (number != NONE) push_number(&r->keyword, number);
    if (!mwl_is_absent(key)) push_key(&r->keyword, key);
    if (!mwl__schema_run(r->e, node, v)) explain(r, node, v);
    r->keyword.len = at;
}

/* Member i of an object. */
static void into_member(struct report *r, const char *keyword, mwl_value name, const mwl__map *m,
                        uint32_t i, uint32_t node) {
    size_t at = r->instance.len;
    push_key(&r->instance, mwl__map_key(m, i));
    below(r, keyword, NONE, name, node, m->val[i]);
    r->instance.len = at;
}

static void into_element(struct report *r, const char *keyword, uint32_t number, uint32_t i,
                         uint32_t node, mwl_value v) {
    size_t at = r->instance.len;
    push_number(&r->instance, i);
    below(r, keyword, number, mwl_absent(), node, mwl__as_list(v)->item[i]);
    r->instance.len = at;
}

static bool is_false(const struct report *r, uint32_t node) {
    const uint32_t *p = r->e->words + node;
    return p[0] >> 8 == 0 && (p[2] & 0xff) == MWL__SCHEMA_END;
}

/* ---- scalars --------------------------------------------------------------------------------- */

static void explain_type(struct report *r, uint32_t mask, mwl_value v) {
    static const struct {
        uint32_t bits;
        const char *name;
    } types[] = {
        {MWL__TYPE_STRING, "a string"},    {MWL__TYPE_NUMBER, "a number"},
        {MWL__TYPE_INTEGER, "an integer"}, {MWL__TYPE_BOOL, "a boolean"},
        {MWL__TYPE_OBJECT, "an object"},   {MWL__TYPE_ARRAY, "an array"},
        {MWL__TYPE_NULL, "null"},
    };
    unsigned n = 0, done = 0;
    if (mask & MWL__TYPE_NUMBER) mask &= ~(uint32_t)MWL__TYPE_INTEGER;
    for (uint32_t m = mask; m; m &= m - 1) n++;
    TEXT(r, "must be ");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!(mask & types[i].bits)) continue;
        mwl__buf_printf(&r->text, "%s%s",
                        done == 0       ? ""
                        : done + 1 == n ? " or "
                                        : ", ",
                        types[i].name);
        done++;
    }
    mwl__buf_puts(&r->text, ", is ");
    if (mwl__schema_type_of(v) == MWL__TYPE_NUMBER && (mask & MWL__TYPE_INTEGER))
        put_json(r, v);
    else
        mwl__buf_puts(&r->text, kind_name(v));
    size_t at = r->keyword.len;
    push_name(&r->keyword, "type");
    add_error(r, v, r->instance.len == r->branch ? 100 : 1);
    r->keyword.len = at;
}

/* The allowed value after the constant `last` (NONE: the first), in the order of the document: that
 * is the order in which constants were made. */
static uint32_t next_allowed(const uint32_t *t, uint32_t last) {
    uint32_t n = t[2], all = t[2] + t[3], next = NONE;
    for (uint32_t i = 0; i < all; i++) {
        uint32_t k = t[4 + n + i];
        if ((last == NONE || k > last) && k < next) next = k;
    }
    return next;
}

static void explain_enum(struct report *r, const uint32_t *t, mwl_value v) {
    uint32_t n = t[2], all = t[2] + t[3], shown = all > SHOWN_NAMES + 1 ? SHOWN_NAMES : all;
    mwl__suggest s = mwl__suggest_make("", 0);
    if (mwl_value_kind(v) == MWL_KIND_STRING)
        s = mwl__suggest_make(mwl__as_str(v)->s, mwl__as_str(v)->len);
    TEXT(r, all ? "must be " : "has no allowed value");
    for (uint32_t i = 0, k = NONE; i < shown && (k = next_allowed(t, k)) != NONE; i++) {
        if (i) mwl__buf_puts(&r->text, i + 1 == all ? " or " : ", ");
        put_json(r, r->e->consts[k]);
    }
    if (shown < all) mwl__buf_printf(&r->text, " or one of %u others", all - shown);
    for (uint32_t i = 0; i < all; i++) {
        mwl_value k = r->e->consts[t[4 + n + i]];
        if (mwl_value_kind(k) == MWL_KIND_STRING)
            mwl__suggest_offer(&s, mwl__as_str(k)->s, mwl__as_str(k)->len);
    }
    if (s.best) mwl__buf_printf(&r->text, "; did you mean \"%.*s\"?", (int)s.best_len, s.best);
    size_t at = r->keyword.len;
    push_name(&r->keyword, "enum");
    add_error(r, v, 10);
    r->keyword.len = at;
}

static void explain_const(struct report *r, mwl_value k, mwl_value v) {
    TEXT(r, "must be ");
    put_json(r, k);
    size_t at = r->keyword.len;
    push_name(&r->keyword, "const");
    add_error(r, v, 10);
    r->keyword.len = at;
}

static void explain_bound(struct report *r, const uint32_t *p, bool least, mwl_value v) {
    static const char *const words[2][2] = {{"at most", "less than"}, {"at least", "greater than"}};
    static const char *const names[2][2] = {{"maximum", "exclusiveMaximum"},
                                            {"minimum", "exclusiveMinimum"}};
    TEXT(r, "must be %s ", words[least][p[2]]);
    put_json(r, r->e->consts[p[1]]);
    mwl__buf_puts(&r->text, ", is ");
    put_json(r, v);
    add_keyword(r, names[least][p[2]], v);
}

static void explain_counts(struct report *r, const uint32_t *p, uint32_t n, mwl_value v) {
    static const struct {
        const char *least, *most, *one, *many;
    } names[] = {{"minLength", "maxLength", "character", "characters"},
                 {"minItems", "maxItems", "element", "elements"},
                 {"minProperties", "maxProperties", "member", "members"}};
    uint32_t i = (*p & 0xff) - MWL__SCHEMA_LENGTH;
    bool few = n < p[1];
    TEXT(r, "must have at %s ", few ? "least" : "most");
    put_count(r, few ? p[1] : p[2], names[i].one, names[i].many);
    mwl__buf_printf(&r->text, ", has %u", n);
    add_keyword(r, few ? names[i].least : names[i].most, v);
}

static void explain_format(struct report *r, uint32_t format, mwl_value v) {
    static const struct {
        int format;
        const char *words;
    } known[] = {
        {MWL__FORMAT_DATE_TIME, "an instant such as 2026-01-31T12:00:00Z"},
        {MWL__FORMAT_DATE, "a date such as 2026-01-31"},
        {MWL__FORMAT_TIME, "a time of day such as 12:00:00Z"},
        {MWL__FORMAT_DURATION, "an ISO 8601 duration such as PT15M"},
        {MWL__FORMAT_EMAIL, "an e-mail address"},
        {MWL__FORMAT_URI, "an absolute URI"},
        {MWL__FORMAT_UUID, "a UUID"},
        {MWL__FORMAT_REGEX, "a regular expression"},
    };
    const char *words = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].format == (int)format) words = known[i].words;
    if (words)
        TEXT(r, "must be %s (format '%s')", words, mwl__format_name((int)format));
    else
        TEXT(r, "must have the format '%s'", mwl__format_name((int)format));
    add_keyword(r, "format", v);
}

/* ---- members --------------------------------------------------------------------------------- */

static const uint32_t *entries_of(const uint32_t *t) {
    return t + MWL__PROPS_SLOTS + (1u << (32 - t[MWL__PROPS_SHIFT]));
}

static void explain_missing(struct report *r, const uint32_t *t, mwl_value v) {
    const uint32_t *entry = entries_of(t);
    for (uint32_t i = 0; i < t[MWL__PROPS_ENTRIES] && !full(r); i++, entry += MWL__ENTRY_SIZE) {
        mwl_value key = r->e->consts[entry[MWL__ENTRY_KEY]];
        if (!entry[MWL__ENTRY_REQUIRED] || mwl__map_get(v, key)) continue;
        r->text.len = 0;
        put_quoted(r, key);
        mwl__buf_puts(&r->text, " is required");
        add_keyword(r, "required", v);
    }
}

/* Member i, which no keyword names, if the schema for other members is `false`. */
static void explain_undeclared(struct report *r, const char *keyword, const uint32_t *t,
                               const mwl__map *m, uint32_t at_member) {
    size_t at = r->instance.len, path = r->keyword.len;
    mwl_value key = mwl__map_key(m, at_member);
    bool parameter = at == 0 && (r->e->words[MWL__SCHEMA_H_FLAGS] & MWL__SCHEMA_PARAMETERS);
    mwl__suggest s = mwl__suggest_make("", 0);
    if (mwl_value_kind(key) == MWL_KIND_STRING)
        s = mwl__suggest_make(mwl__as_str(key)->s, mwl__as_str(key)->len);
    const uint32_t *entry = t ? entries_of(t) : NULL;
    for (uint32_t i = 0; t && i < t[MWL__PROPS_ENTRIES]; i++, entry += MWL__ENTRY_SIZE) {
        const mwl__str *name = mwl__as_str(r->e->consts[entry[MWL__ENTRY_KEY]]);
        mwl__suggest_offer(&s, name->s, name->len);
    }
    r->text.len = 0;
    put_quoted(r, key);
    mwl__buf_puts(&r->text, parameter ? " is not a declared parameter" : " is not allowed here");
    if (s.best) mwl__buf_printf(&r->text, "; did you mean '%.*s'?", (int)s.best_len, s.best);
    push_key(&r->instance, key);
    push_name(&r->keyword, keyword);
    add_error(r, m->val[at_member], 2);
    r->keyword.len = path;
    r->instance.len = at;
}

static void explain_member(struct report *r, const uint32_t *t, const mwl__map *m, uint32_t i) {
    mwl__schema_eval *e = r->e;
    const mwl_value key = m->keys->key[i];
    const uint32_t *entry = mwl__schema_entry(e, t, key);
    const uint32_t *p = entries_of(t) + (size_t)t[MWL__PROPS_ENTRIES] * MWL__ENTRY_SIZE;
    bool named = entry && entry[MWL__ENTRY_NODE] != NONE;
    if (named) into_member(r, "properties", mwl__map_key(m, i), m, i, entry[MWL__ENTRY_NODE]);
    for (uint32_t j = 0; j < t[MWL__PROPS_PATTERNS] && !full(r); j++, p += 2) {
        if (mwl_value_kind(key) != MWL_KIND_STRING) break;
        const mwl__str *s = mwl__as_str(key);
        bool matched = false;
        mwl_status st = mwl__pattern_search(e->schema->patterns[p[0]], e->env->scratch, s->s,
                                            s->len, &e->fuel, &matched);
        if (st < 0) e->status = st;
        if (!matched) continue;
        uint32_t n_words = e->words[MWL__SCHEMA_H_WORDS], n = e->words[MWL__SCHEMA_H_PATTERNS];
        into_member(r, "patternProperties", e->consts[e->words[n_words - n + p[0]]], m, i, p[1]);
        named = true;
    }
    if (named || t[MWL__PROPS_REST] == NONE || full(r)) return;
    if (is_false(r, t[MWL__PROPS_REST]))
        explain_undeclared(r, "additionalProperties", t, m, i);
    else
        into_member(r, "additionalProperties", mwl_absent(), m, i, t[MWL__PROPS_REST]);
}

static void explain_props(struct report *r, const uint32_t *ins, mwl_value v) {
    const uint32_t *t = r->e->words + ins[1];
    const uint64_t cost = v.aux / 4; /* most members are looked up, and are right */
    r->e->fuel -= cost < r->e->fuel ? cost : r->e->fuel;
    explain_missing(r, t, v);
    for (uint32_t i = 0; i < v.aux && !full(r); i++) explain_member(r, t, mwl__as_map(v), i);
}

static void explain_names(struct report *r, uint32_t node, mwl_value v) {
    for (uint32_t i = 0; i < v.aux && !full(r); i++)
        below(r, "propertyNames", NONE, mwl_absent(), node, mwl__map_key(mwl__as_map(v), i));
}

static void explain_needs(struct report *r, const uint32_t *t, mwl_value v) {
    const mwl_value *k = r->e->consts;
    for (const uint32_t *p = t + 2, *end = t + t[1]; p < end; p += 2 + p[1]) {
        if (!mwl__map_get(v, k[p[0]])) continue;
        for (uint32_t i = 0; i < p[1] && !full(r); i++) {
            if (mwl__map_get(v, k[p[2 + i]])) continue;
            r->text.len = 0;
            put_quoted(r, k[p[2 + i]]);
            mwl__buf_puts(&r->text, " is required when ");
            put_quoted(r, k[p[0]]);
            mwl__buf_puts(&r->text, " is given");
            size_t at = r->keyword.len;
            push_name(&r->keyword, "dependentRequired");
            push_key(&r->keyword, k[p[0]]);
            add_error(r, v, 1);
            r->keyword.len = at;
        }
    }
}

static void explain_whens(struct report *r, const uint32_t *t, mwl_value v) {
    for (uint32_t i = 2; i < t[1] && !full(r); i += 2)
        if (mwl__map_get(v, r->e->consts[t[i]]))
            below(r, "dependentSchemas", NONE, r->e->consts[t[i]], t[i + 1], v);
}

/* ---- elements -------------------------------------------------------------------------------- */

static void explain_items(struct report *r, const uint32_t *t, mwl_value v) {
    uint32_t n_prefix = t[1] - 3;
    for (uint32_t i = 0; i < v.aux && !full(r); i++) {
        if (i < n_prefix) {
            into_element(r, "prefixItems", i, i, t[3 + i], v);
        } else if (t[2] == NONE) {
            return;
        } else if (is_false(r, t[2])) {
            TEXT(r, "must have at most %u elements, has %u", n_prefix, v.aux);
            add_keyword(r, "items", v);
            return;
        } else {
            into_element(r, "items", NONE, i, t[2], v);
        }
    }
}

static void explain_contains(struct report *r, const uint32_t *p, mwl_value v) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < v.aux && !r->e->status; i++)
        n += mwl__schema_run(r->e, p[1], mwl__as_list(v)->item[i]);
    bool few = n < p[2];
    TEXT(r, "must contain at %s ", few ? "least" : "most");
    put_count(r, few ? p[2] : p[3], "element that matches 'contains'",
              "elements that match 'contains'");
    mwl__buf_printf(&r->text, ", has %u", n);
    add_keyword(r, !few ? "maxContains" : p[2] == 1 ? "contains" : "minContains", v);
}

static void explain_unique(struct report *r, mwl_value v) {
    bool found = false;
    uint32_t at[2] = {0, 0};
    mwl_status st = mwl__schema_find_equal(r->heap, v, &r->e->fuel, &found, at);
    if (st < 0) r->e->status = st;
    TEXT(r, "must have different elements; those at %u and %u are equal", at[0], at[1]);
    add_keyword(r, "uniqueItems", v);
}

/* ---- alternatives ---------------------------------------------------------------------------- */

/* Adds the errors of one alternative after those that are kept. Returns how far the value is from
 * valid. */
static uint32_t try_branch(struct report *r, const char *keyword, uint32_t i, uint32_t node,
                           mwl_value v) {
    uint32_t from = r->n, limit = r->limit, cost = 0;
    size_t outer = r->branch;
    r->branch = r->instance.len;
    r->limit = from + 8 < 2 * MWL__SCHEMA_ERRORS ? from + 8 : 2 * MWL__SCHEMA_ERRORS;
    below(r, keyword, i, mwl_absent(), node, v);
    for (uint32_t j = from; j < r->n; j++) cost += r->errors[j].cost;
    r->limit = limit;
    r->branch = outer;
    return cost ? cost : UINT32_MAX;
}

static void explain_none(struct report *r, const char *keyword, const uint32_t *t, mwl_value v) {
    uint32_t best = 0, least = UINT32_MAX, from = r->n, n = t[1] - 2;
    for (uint32_t i = 0; i < n && !r->e->status; i++) {
        uint32_t cost = try_branch(r, keyword, i, t[2 + i], v);
        drop_errors(r, from);
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    if (r->e->status) return;
    TEXT(r, "matches none of %u alternatives", n);
    if (n > 1)
        mwl__buf_printf(&r->text, "; number %u (%s/%u) comes closest", best + 1, keyword, best);
    add_keyword(r, keyword, v);
    if (full(r)) return;
    r->errors[r->n - 1].cost = least < 100 ? least : 100;
    (void)try_branch(r, keyword, best, t[2 + best], v);
    if (r->n > r->limit) drop_errors(r, r->limit);
    for (uint32_t i = from + 1; i < r->n; i++) r->errors[i].cost = 0; /* counted by the first */
}

static void explain_one(struct report *r, const uint32_t *t, mwl_value v) {
    uint32_t n = t[1] - 2, first = NONE, second = NONE;
    for (uint32_t i = 0; i < n && second == NONE && !r->e->status; i++) {
        if (!mwl__schema_run(r->e, t[2 + i], v)) continue;
        second = first == NONE ? NONE : i;
        first = first == NONE ? i : first;
    }
    if (first == NONE) {
        explain_none(r, "oneOf", t, v);
        return;
    }
    TEXT(r, "must match exactly one of %u alternatives; numbers %u and %u match", n, first + 1,
         second + 1);
    add_keyword(r, "oneOf", v);
}

static void explain_if(struct report *r, const uint32_t *p, mwl_value v) {
    bool yes = mwl__schema_run(r->e, p[1], v);
    uint32_t next = yes ? p[2] : p[3];
    if (r->e->status || next == NONE) return;
    if (is_false(r, next)) {
        TEXT(r, "is not allowed, as it %s 'if'", yes ? "matches" : "does not match");
        add_keyword(r, yes ? "then" : "else", v);
    } else {
        below(r, yes ? "then" : "else", NONE, mwl_absent(), next, v);
    }
}

static void explain_unevaluated(struct report *r, uint32_t node, const uint32_t *p, mwl_value v) {
    bool array = mwl_value_kind(v) == MWL_KIND_ARRAY;
    const char *keyword = array ? "unevaluatedItems" : "unevaluatedProperties";
    mwl__schema_marks m;
    for (uint32_t i = 0; i < v.aux && !full(r); i++) {
        if (i % MWL__MARKS == 0) {
            memset(&m, 0, sizeof m);
            m.first = i;
            mwl__schema_mark_before(r->e, node, p, v, &m);
        }
        if (mwl__schema_marked(&m, i)) continue;
        if (!is_false(r, p[1])) {
            if (array)
                into_element(r, keyword, NONE, i, p[1], v);
            else
                into_member(r, keyword, mwl_absent(), mwl__as_map(v), i, p[1]);
        } else if (!array) {
            explain_undeclared(r, keyword, NULL, mwl__as_map(v), i);
        } else {
            size_t at = r->instance.len;
            push_number(&r->instance, i);
            TEXT(r, "is not allowed: no schema describes this element");
            add_keyword(r, keyword, mwl__as_list(v)->item[i]);
            r->instance.len = at;
        }
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void explain_scope(struct report *r, const uint32_t *p, mwl_value v) {
    struct mwl__schema_scope scope;
    bool entered = mwl__schema_enter(r->e, p[1], &scope);
    if (entered) r->e->scope = &scope;
    explain(r, p[2], v);
    if (entered) r->e->scope = scope.outer;
}

static void explain_ins(struct report *r, uint32_t node, const uint32_t *p, mwl_value v) {
    const uint32_t *t = r->e->words + p[1];
    switch ((mwl__schema_op)(*p & 0xff)) {
    case MWL__SCHEMA_CONST: explain_const(r, r->e->consts[p[1]], v); break;
    case MWL__SCHEMA_ENUM: explain_enum(r, t, v); break;
    case MWL__SCHEMA_MIN: explain_bound(r, p, true, v); break;
    case MWL__SCHEMA_MAX: explain_bound(r, p, false, v); break;
    case MWL__SCHEMA_MULTIPLE:
        TEXT(r, "must be a multiple of ");
        put_json(r, r->e->consts[p[1]]);
        mwl__buf_puts(&r->text, ", is ");
        put_json(r, v);
        add_keyword(r, "multipleOf", v);
        break;
    case MWL__SCHEMA_LENGTH: explain_counts(r, p, mwl__as_str(v)->n_cp, v); break;
    case MWL__SCHEMA_COUNT:
    case MWL__SCHEMA_MEMBERS: explain_counts(r, p, v.aux, v); break;
    case MWL__SCHEMA_PATTERN: {
        const uint32_t *w = r->e->words;
        uint32_t k = w[w[MWL__SCHEMA_H_WORDS] - w[MWL__SCHEMA_H_PATTERNS] + p[1]];
        TEXT(r, "must match the pattern ");
        put_quoted(r, r->e->consts[k]);
        add_keyword(r, "pattern", v);
        break;
    }
    case MWL__SCHEMA_FORMAT: explain_format(r, p[1], v); break;
    case MWL__SCHEMA_PROPS: explain_props(r, p, v); break;
    case MWL__SCHEMA_NEEDS: explain_needs(r, t, v); break;
    case MWL__SCHEMA_NAMES: explain_names(r, p[1], v); break;
    case MWL__SCHEMA_ITEMS: explain_items(r, t, v); break;
    case MWL__SCHEMA_CONTAINS: explain_contains(r, p, v); break;
    case MWL__SCHEMA_UNIQUE: explain_unique(r, v); break;
    case MWL__SCHEMA_WHENS: explain_whens(r, t, v); break;
    case MWL__SCHEMA_ALL:
        for (uint32_t i = 2; i < t[1] && !full(r); i++)
            below(r, "allOf", i - 2, mwl_absent(), t[i], v);
        break;
    case MWL__SCHEMA_ANY: explain_none(r, "anyOf", t, v); break;
    case MWL__SCHEMA_ONE: explain_one(r, t, v); break;
    case MWL__SCHEMA_NOT:
        TEXT(r, "must not match the schema under 'not'");
        add_keyword(r, "not", v);
        break;
    case MWL__SCHEMA_IF: explain_if(r, p, v); break;
    case MWL__SCHEMA_SCOPE: explain_scope(r, p, v); break;
    case MWL__SCHEMA_DYNAMIC:
        below(r, "$dynamicRef", NONE, mwl_absent(), mwl__schema_dynamic(r->e, t), v);
        break;
    case MWL__SCHEMA_REF: below(r, "$ref", NONE, mwl_absent(), p[1], v); break;
    case MWL__SCHEMA_UNEVALUATED_ITEMS:
    case MWL__SCHEMA_UNEVALUATED_PROPS: explain_unevaluated(r, node, p, v); break;
    case MWL__SCHEMA_END:
    case MWL__N_SCHEMA_OPS: break;
    }
}

/* Explains why the value is not valid against the node. Adds at least one error, unless there is no
 * room. */
static void explain(struct report *r, uint32_t node, mwl_value v) {
    const uint32_t *p = r->e->words + node;
    uint32_t type = mwl__schema_type_of(v), from = r->n;
    if (full(r)) return;
    if (is_false(r, node) || r->level >= LEVELS) {
        TEXT(r, is_false(r, node) ? "is not allowed" : "does not match its schema");
        add_error(r, v, 5);
        return;
    }
    if (!mwl__schema_type_fits(p[0] >> 8, v)) {
        explain_type(r, p[0] >> 8, v);
        return;
    }
    r->level++;
    for (p += 2; (*p & 0xff) != MWL__SCHEMA_END && !full(r); p += *p >> 16) {
        if (!(*p >> 8 & type) || mwl__schema_step(r->e, node, p, v) || r->e->status) continue;
        bool unevaluated = (*p & 0xff) >= MWL__SCHEMA_UNEVALUATED_ITEMS;
        if (!unevaluated || r->n == from) explain_ins(r, node, p, v);
    }
    r->level--;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static mwl_value put(mwl_heap *h, mwl_value object, const char *key, mwl_value lent) {
    return mwl_object_set(h, object, key, strlen(key), mwl__keep(lent));
}

static mwl_value put_error(mwl_heap *h, mwl_value object, const struct error *x) {
    object = put(h, object, "keywordLocation", x->keyword);
    object = put(h, object, "instanceLocation", x->instance);
    object = put(h, object, "value", x->value);
    return put(h, object, "message", x->message);
}

static mwl_value build(struct report *r) {
    mwl_value list = mwl_array(r->heap, r->n);
    for (uint32_t i = 0; i < r->n; i++)
        list = mwl_array_push(r->heap, list,
                              put_error(r->heap, mwl_object(r->heap, 4), &r->errors[i]));
    mwl_value all = put_error(r->heap, mwl_object(r->heap, 5), &r->errors[0]);
    return mwl_object_set(r->heap, all, "errors", 6, list);
}

mwl_value mwl__schema_explain(mwl__schema_eval *e, uint32_t node, mwl_value v) {
    struct report r = {.e = e, .heap = e->env->heap, .limit = MWL__SCHEMA_ERRORS};
    r.keyword = r.instance = r.text = mwl__buf_make(mwl__heap_account(e->env->heap));
    explain(&r, node, v);
    if (e->status == MWL_E_FUEL || e->status == MWL_E_DEPTH) e->status = MWL_OK; /* what there is */
    if (e->status == MWL_OK && r.n == 0) {
        TEXT(&r, "does not match its schema");
        add_error(&r, v, 1);
    }
    mwl_value report = mwl_absent();
    if (e->status == MWL_OK) {
        report = build(&r);
        if (mwl_is_absent(report)) e->status = mwl_heap_why(e->env->heap);
    }
    drop_errors(&r, 0);
    mwl__buf_free(&r.keyword);
    mwl__buf_free(&r.instance);
    mwl__buf_free(&r.text);
    return report;
}
