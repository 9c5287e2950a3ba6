/* schema_keyword.c: the keywords of JSON Schema 2020-12 and what their values may be.
 *
 * Owns: the table, and the diagnostics about single values. schema_meta.c has the same rules as
 * JSON Schema; a test compares the two. Refuses to know: references. */
#include "assembler/schema/schema_build.h"
#include "vm/schema/format.h"
#include "vm/base/ascii.h"
#include "vm/base/hash.h"
#include "vm/base/suggest.h"

#include <math.h>

static const mwl__keyword keywords[] = {
#define KEYWORD(name, vocabulary, rule)                                                            \
    { name, sizeof(name) - 1, MWL__VOC_##vocabulary, MWL__RULE_##rule, false }
    KEYWORD("type", VALIDATION, TYPE),
    KEYWORD("properties", APPLICATOR, SCHEMA_MAP),
    KEYWORD("required", VALIDATION, NAMES),
    KEYWORD("additionalProperties", APPLICATOR, SCHEMA),
    KEYWORD("items", APPLICATOR, ITEMS),
    KEYWORD("enum", VALIDATION, ARRAY),
    KEYWORD("const", VALIDATION, ANY),
    KEYWORD("default", META, ANY),
    KEYWORD("title", META, STRING),
    KEYWORD("description", META, STRING),
    KEYWORD("format", FORMAT, FORMAT),
    KEYWORD("pattern", VALIDATION, PATTERN),
    KEYWORD("minLength", VALIDATION, COUNT),
    KEYWORD("maxLength", VALIDATION, COUNT),
    KEYWORD("minimum", VALIDATION, NUMBER),
    KEYWORD("maximum", VALIDATION, NUMBER),
    KEYWORD("exclusiveMinimum", VALIDATION, NUMBER),
    KEYWORD("exclusiveMaximum", VALIDATION, NUMBER),
    KEYWORD("multipleOf", VALIDATION, POSITIVE),
    KEYWORD("minItems", VALIDATION, COUNT),
    KEYWORD("maxItems", VALIDATION, COUNT),
    KEYWORD("uniqueItems", VALIDATION, BOOL),
    KEYWORD("minProperties", VALIDATION, COUNT),
    KEYWORD("maxProperties", VALIDATION, COUNT),
    KEYWORD("minContains", VALIDATION, COUNT),
    KEYWORD("maxContains", VALIDATION, COUNT),
    KEYWORD("dependentRequired", VALIDATION, NAMES_MAP),
    KEYWORD("patternProperties", APPLICATOR, PATTERN_MAP),
    KEYWORD("propertyNames", APPLICATOR, SCHEMA),
    KEYWORD("dependentSchemas", APPLICATOR, SCHEMA_MAP),
    KEYWORD("dependencies", APPLICATOR, DEPENDENCIES),
    KEYWORD("prefixItems", APPLICATOR, SCHEMAS),
    KEYWORD("contains", APPLICATOR, SCHEMA),
    KEYWORD("allOf", APPLICATOR, SCHEMAS),
    KEYWORD("anyOf", APPLICATOR, SCHEMAS),
    KEYWORD("oneOf", APPLICATOR, SCHEMAS),
    KEYWORD("not", APPLICATOR, SCHEMA),
    KEYWORD("if", APPLICATOR, SCHEMA),
    KEYWORD("then", APPLICATOR, SCHEMA),
    KEYWORD("else", APPLICATOR, SCHEMA),
    KEYWORD("unevaluatedItems", UNEVALUATED, SCHEMA),
    KEYWORD("unevaluatedProperties", UNEVALUATED, SCHEMA),
    KEYWORD("$ref", CORE, STRING),
    KEYWORD("$dynamicRef", CORE, STRING),
    KEYWORD("$id", CORE, ID),
    KEYWORD("$schema", CORE, STRING),
    KEYWORD("$anchor", CORE, ANCHOR),
    KEYWORD("$dynamicAnchor", CORE, ANCHOR),
    KEYWORD("$vocabulary", CORE, VOCABULARY),
    KEYWORD("$comment", CORE, STRING),
    KEYWORD("deprecated", META, BOOL),
    KEYWORD("readOnly", META, BOOL),
    KEYWORD("writeOnly", META, BOOL),
    KEYWORD("examples", META, ARRAY),
    KEYWORD("contentEncoding", CONTENT, STRING),
    KEYWORD("contentMediaType", CONTENT, STRING),
#undef KEYWORD
    {"contentSchema", 13, MWL__VOC_CONTENT, MWL__RULE_SCHEMA, true},
    {"$defs", 5, MWL__VOC_CORE, MWL__RULE_SCHEMA_MAP, true},
    {"definitions", 11, MWL__VOC_CORE, MWL__RULE_SCHEMA_MAP, true},
};
enum { N_KEYWORDS = sizeof keywords / sizeof *keywords };

const mwl__keyword *mwl__keyword_find(const char *name, size_t len) {
    for (size_t i = 0; i < N_KEYWORDS; i++)
        if (keywords[i].len == len && memcmp(keywords[i].name, name, len) == 0) return &keywords[i];
    return NULL;
}

void mwl__keyword_unknown(mwl__schema_doc *doc, const mwl__node *member) {
    if (member->key_len >= 2 && memcmp(member->key, "x-", 2) == 0)
        return; /* probably an extension */
    mwl__diag *d = mwl__node_report_key(doc->tree, member, MWL_DIAG_UNKNOWN_KEYWORD,
                                        "unknown keyword '%.*s'", MWL__NODE_KEY(member));
    if (!d) return;
    mwl__diag_text(d, "this has no effect");
    mwl__suggest s = mwl__suggest_make(member->key, member->key_len);
    for (size_t i = 0; i < N_KEYWORDS; i++)
        mwl__suggest_offer(&s, keywords[i].name, keywords[i].len);
    if (!s.best) return;
    mwl__diag_help(d, "did you mean '%.*s'?", (int)s.best_len, s.best);
    mwl__diag_fix_string(d, mwl__node_key_span(member), s.best, s.best_len);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void wrong(mwl__schema_doc *doc, const mwl__node *at, const char *keyword,
                  const char *must) {
    mwl__diag *d =
        mwl__node_report(doc->tree, at, MWL_DIAG_INVALID_SCHEMA, "'%s' must be %s", keyword, must);
    mwl__diag_text(d, "this is %s", mwl__node_kind_name(at));
}

static bool is_kind(mwl__schema_doc *doc, const mwl__node *v, const char *keyword,
                    mwl__node_kind kind, const char *must) {
    if (v->kind == kind) return true;
    wrong(doc, v, keyword, must);
    return false;
}

static bool same_text(const mwl__node *a, const mwl__node *b) {
    return a->kind == MWL_NODE_STRING && b->kind == MWL_NODE_STRING && a->count == b->count &&
           memcmp(a->as.text, b->as.text, a->count) == 0;
}

/* The names of one array that were seen. */
struct seen {
    mwl__schema_build *b;
    const mwl__node *first, **name; /* name: by index, if there are many */
    mwl__table table;
};

#define FEW_NAMES 16u /* up to which comparing with all is faster than hashing */

static bool seen_make(struct seen *s, mwl__schema_build *b, const mwl__node *v) {
    *s = (struct seen){.b = b, .first = mwl__node_first(v)};
    if (v->count <= FEW_NAMES) return true;
    mwl_status st = mwl__table_reserve(&s->table, &b->alloc, v->count);
    s->name = mwl__arena_new(&b->arena, (size_t)v->count * sizeof(mwl__node *));
    return (st == MWL_OK && s->name) || mwl__schema_stop(b, MWL_E_NOMEM);
}

/* Adds c. Returns the equal name that comes before it, or NULL. */
static const mwl__node *seen_add(struct seen *s, const mwl__node *c) {
    if (!s->name) {
        const mwl__node *o = s->first;
        while (o != c && !same_text(o, c)) o = o->next;
        return o != c ? o : NULL;
    }
    mwl__probe probe = mwl__probe_make(&s->table, mwl__hash_key(c->as.text, c->count));
    for (uint32_t i; mwl__table_next(&s->table, &probe, &i);)
        if (same_text(s->name[i], c)) return s->name[i];
    s->name[c->index] = c;
    mwl__table_put(&s->table, &probe, c->index);
    return NULL;
}

static void check_names(mwl__schema_build *b, mwl__schema_doc *doc, const mwl__node *v,
                        const char *keyword) {
    struct seen seen;
    if (!is_kind(doc, v, keyword, MWL_NODE_ARRAY, "an array of names")) return;
    bool room = seen_make(&seen, b, v);
    for (const mwl__node *c = room ? mwl__node_first(v) : NULL; c; c = c->next) {
        if (c->kind != MWL_NODE_STRING) {
            wrong(doc, c, keyword, "an array of names, each a string");
            continue;
        }
        const mwl__node *o = seen_add(&seen, c);
        if (!o) continue;
        mwl__diag *d = mwl__node_report(doc->tree, c, MWL_DIAG_INVALID_SCHEMA,
                                        "'%s' has '%.*s' twice", keyword, MWL__NODE_TEXT(c));
        mwl__diag_label(d, mwl__node_span(o), "first here");
    }
    mwl__table_free(&seen.table, &b->alloc);
}

static const char *const type_names[] = {"null",  "boolean", "number", "string",
                                         "array", "object",  "integer"};
enum { N_TYPES = sizeof type_names / sizeof *type_names };

static void check_type_name(mwl__schema_doc *doc, const mwl__node *v) {
    if (v->kind != MWL_NODE_STRING) {
        wrong(doc, v, "type", "the name of a type, or an array of such names");
        return;
    }
    for (size_t i = 0; i < N_TYPES; i++)
        if (mwl__node_is(v, type_names[i])) return;
    mwl__diag *d = mwl__node_report(doc->tree, v, MWL_DIAG_INVALID_SCHEMA, "unknown type '%.*s'",
                                    MWL__NODE_TEXT(v));
    if (!d) return;
    static const char words[] =
        "int long > integer\nfloat double decimal > number\nbool > boolean\n"
        "str text char > string\nlist > array\nmap dict hash > object\n"
        "none nil > null\n";
    mwl__named w = {.name = mwl__suggest_among(v->as.text, v->count, type_names, N_TYPES)};
    if (w.name) w.name_len = strlen(w.name);
    if (w.name || mwl__word_find(words, v->as.text, v->count, &w)) {
        mwl__diag_help(d, "did you mean '%.*s'?", (int)w.name_len, w.name);
        mwl__diag_fix_string(d, mwl__node_span(v), w.name, w.name_len);
    }
    mwl__diag_note(d, "the types are null, boolean, number, integer, string, array and object");
}

static void check_type(mwl__schema_build *b, mwl__schema_doc *doc, const mwl__node *v) {
    if (v->kind != MWL_NODE_ARRAY) {
        check_type_name(doc, v);
        return;
    }
    if (v->count == 0) wrong(doc, v, "type", "at least one type");
    for (const mwl__node *c = mwl__node_first(v); c; c = c->next) check_type_name(doc, c);
    if (v->count <= 32) check_names(b, doc, v, "type");
}

static void check_pattern(mwl__schema_build *b, mwl__schema_doc *doc, const mwl__node *v,
                          const char *text, size_t len, bool name) {
    mwl__pattern *p = NULL;
    mwl_error error = {MWL_OK, NULL, 0};
    uint64_t work = 0;
    mwl_status st = mwl__pattern_compile(&b->alloc, text, len, &work, &p, &error);
    mwl__pattern_free(p);
    if (!mwl__node_work(doc->tree, v, (uint64_t)len * 16 + work / 4))
        (void)mwl__schema_stop(b, MWL_E_REJECTED);
    if (st == MWL_OK) return;
    if (st == MWL_E_NOMEM) {
        (void)mwl__schema_stop(b, st);
        return;
    }
    const char *why = error.message ? error.message : mwl_status_text(st);
    uint32_t at = error.offset < len ? (uint32_t)error.offset : (uint32_t)len;
    if (name)
        (void)mwl__node_report_key(doc->tree, v, MWL_DIAG_INVALID_PATTERN, "wrong pattern: %s",
                                   why);
    else
        (void)mwl__node_report_text(doc->tree, v, at, at, MWL_DIAG_INVALID_PATTERN,
                                    "wrong pattern: %s", why);
}

static void check_format(mwl__schema_doc *doc, const mwl__node *v) {
    if (mwl__format_find(v->as.text, v->count) >= 0) return;
    mwl__diag *d = mwl__node_report(doc->tree, v, MWL_DIAG_UNKNOWN_FORMAT, "unknown format '%.*s'",
                                    MWL__NODE_TEXT(v));
    if (!d) return;
    mwl__diag_text(d, "every string passes this");
    mwl__suggest s = mwl__suggest_make(v->as.text, v->count);
    for (int i = 0; i < MWL__N_FORMATS; i++)
        mwl__suggest_offer(&s, mwl__format_name(i), strlen(mwl__format_name(i)));
    if (s.best) mwl__diag_help(d, "did you mean '%.*s'?", (int)s.best_len, s.best);
}

static void check_anchor(mwl__schema_doc *doc, const mwl__node *v, const char *keyword) {
    bool good = v->count > 0;
    for (uint32_t i = 0; i < v->count && good; i++) {
        char c = v->as.text[i];
        bool first = mwl__is_letter(c) || c == '_';
        good = first || (i > 0 && (mwl__is_digit(c) || c == '-' || c == '.'));
    }
    if (!good)
        wrong(doc, v, keyword,
              "a name of letters, digits, '-', '_' and '.', not beginning with a "
              "digit, '-' or '.'");
}

static void check_id(mwl__schema_doc *doc, const mwl__node *v) {
    const char *hash = memchr(v->as.text, '#', v->count);
    if (hash && hash + 1 != v->as.text + v->count)
        wrong(doc, v, "$id", "a URI reference without a fragment");
}

static void check_children(mwl__schema_build *b, mwl__schema_doc *doc, const mwl__node *v,
                           const mwl__keyword *k) {
    if (k->rule == MWL__RULE_VOCABULARY) {
        for (const mwl__node *c = mwl__node_first(v); c; c = c->next)
            (void)is_kind(doc, c, k->name, MWL_NODE_BOOL, "an object of booleans");
        return;
    }
    for (const mwl__node *c = mwl__node_first(v); c; c = c->next)
        if (k->rule == MWL__RULE_NAMES_MAP || c->kind == MWL_NODE_ARRAY)
            check_names(b, doc, c, k->name);
}

static void check_pattern_names(mwl__schema_build *b, mwl__schema_doc *doc, const mwl__node *v) {
    for (const mwl__node *c = mwl__node_first(v); c; c = c->next)
        check_pattern(b, doc, c, c->key, c->key_len, true);
}

/* Values that are schemas are checked when they are visited. */
void mwl__keyword_check(mwl__schema_build *b, mwl__schema_doc *doc, const mwl__keyword *k,
                        const mwl__node *v, uint32_t vocabularies) {
    const char *name = k->name;
    switch ((mwl__schema_rule)k->rule) {
    case MWL__RULE_ANY:
    case MWL__RULE_SCHEMA: break;
    case MWL__RULE_ITEMS:
        if (v->kind == MWL_NODE_ARRAY && !(vocabularies & MWL__VOC_TUPLES)) {
            mwl__diag *d =
                mwl__node_report(doc->tree, v, MWL_DIAG_INVALID_SCHEMA, "'items' must be a schema");
            mwl__diag_text(d, "this is an array");
            mwl__diag_help(d, "schemas for the first elements stand in 'prefixItems'");
        }
        break;
    case MWL__RULE_SCHEMAS:
        if (is_kind(doc, v, name, MWL_NODE_ARRAY, "an array of schemas") && v->count == 0)
            wrong(doc, v, name, "an array of at least one schema");
        break;
    case MWL__RULE_SCHEMA_MAP: (void)is_kind(doc, v, name, MWL_NODE_OBJECT, "an object"); break;
    case MWL__RULE_PATTERN_MAP:
        if (is_kind(doc, v, name, MWL_NODE_OBJECT, "an object")) check_pattern_names(b, doc, v);
        break;
    case MWL__RULE_DEPENDENCIES:
    case MWL__RULE_NAMES_MAP:
    case MWL__RULE_VOCABULARY:
        if (is_kind(doc, v, name, MWL_NODE_OBJECT, "an object")) check_children(b, doc, v, k);
        break;
    case MWL__RULE_STRING: (void)is_kind(doc, v, name, MWL_NODE_STRING, "a string"); break;
    case MWL__RULE_ID:
        if (is_kind(doc, v, name, MWL_NODE_STRING, "a string")) check_id(doc, v);
        break;
    case MWL__RULE_ANCHOR:
        if (is_kind(doc, v, name, MWL_NODE_STRING, "a string")) check_anchor(doc, v, name);
        break;
    case MWL__RULE_PATTERN:
        if (is_kind(doc, v, name, MWL_NODE_STRING, "a string"))
            check_pattern(b, doc, v, v->as.text, v->count, false);
        break;
    case MWL__RULE_FORMAT:
        if (is_kind(doc, v, name, MWL_NODE_STRING, "a string")) check_format(doc, v);
        break;
    case MWL__RULE_BOOL: (void)is_kind(doc, v, name, MWL_NODE_BOOL, "true or false"); break;
    case MWL__RULE_NUMBER: (void)is_kind(doc, v, name, MWL_NODE_NUMBER, "a number"); break;
    case MWL__RULE_POSITIVE:
        if (v->kind != MWL_NODE_NUMBER || !(v->as.number > 0))
            wrong(doc, v, name, "a number greater than 0");
        break;
    case MWL__RULE_COUNT:
        if (v->kind != MWL_NODE_NUMBER || v->as.number < 0 || floor(v->as.number) != v->as.number)
            wrong(doc, v, name, "an integer from 0");
        break;
    case MWL__RULE_ARRAY: (void)is_kind(doc, v, name, MWL_NODE_ARRAY, "an array"); break;
    case MWL__RULE_NAMES: check_names(b, doc, v, name); break;
    case MWL__RULE_TYPE: check_type(b, doc, v); break;
    }
}
