/* failure.c: failure codes, envelopes, `previous` chains, the failure matcher.
 *
 * Owns: the shape of a failure and what may be written into one. Refuses to know: when a failure
 * happens. An envelope is an object with type, code and, if they are known, message, details,
 * retryable and previous. It is a value: supersession makes a new one and does not change the old
 * one. */
#include "vm/cel/failure.h"

#include "vm/base/code_pattern.h"
#include "vm/base/utf8.h"
#include "mwl_provider.h" /* mwl_failure is public */
#include "vm/cel/exec_context.h"
#include "vm/cel/ops.h"
#include "vm/program/tables.h"
#include "vm/value/words.h"

#include <stdio.h>

static const struct {
    mwl__word code, type;
} codes[] = {
#define X(name, type) {MWL_WORD_CODE_##name, MWL_WORD_##type},
    MWL_FAILURE_CODES(X)
#undef X
};

static const char *text_of(mwl__word word) { return mwl__as_str(mwl__word_value(word))->s; }

const char *mwl__failure_code_text(mwl__failure_code code) { return text_of(codes[code].code); }
const char *mwl__failure_code_type(mwl__failure_code code) { return text_of(codes[code].type); }

mwl_value mwl__fault_new(mwl_heap *h, mwl__failure_code code, uint32_t where,
                         mwl_value take_message, mwl_value take_details) {
    mwl__fault *f = mwl_is_absent(take_message) ? NULL : mwl__heap_take(h, sizeof *f);
    if (!f) {
        mwl__drop(h, take_message);
        mwl__drop(h, take_details);
        return mwl_absent();
    }
    f->rc = 1;
    f->code = (uint32_t)code;
    f->where = where;
    f->sub = 0;
    f->message = take_message;
    f->details = take_details;
    mwl_value v = {MWL_KIND_FAULT | MWL_HEAP | MWL_OWNED, 0, {.p = f}};
    return v;
}

/* ---- building -------------------------------------------------------------------------------- */

static mwl_value repaired(mwl_heap *h, const char *text) {
    mwl_value v = mwl_absent();
    if (h->why != MWL_E_UTF8) return v;
    mwl__buf out = mwl__buf_make(mwl__heap_account(h));
    for (size_t len = strlen(text); len;) {
        size_t good = mwl__utf8_valid_prefix(text, len);
        mwl__buf_put(&out, text, good);
        if (good < len) {
            mwl__buf_put(&out, "\xEF\xBF\xBD", 3); /* U+FFFD for each byte that does not fit */
            good++;
        }
        text += good;
        len -= good;
    }
    if (!out.failed) v = mwl_string(h, out.data, out.len);
    mwl__buf_free(&out);
    return v;
}

static inline mwl_value message_of(mwl_heap *h, const char *text) {
    mwl_value v = mwl__literal(h, text);
    return mwl_is_absent(v) ? repaired(h, text) : v;
}

mwl_value mwl__message(mwl_heap *h, const char *text) { return message_of(h, text); }

/* Takes over the values; message, details and previous may be absent. Type and code are passed by
 * address, because a value that comes in registers is written in halves and then read as a whole.
 */
static mwl_value envelope(mwl_heap *h, const mwl_value *type, const mwl_value *code,
                          const char *message, mwl_value details, mwl_value previous) {
    const bool detailed = !mwl_is_absent(details), chained = !mwl_is_absent(previous);
    mwl__words_shape shape = MWL_SHAPE_FAILURE;
    mwl_value values[5];
    size_t n = 2;
    mwl__move(&values[0], type);
    mwl__move(&values[1], code);
    if (message)
        values[n++] = message_of(h, message);
    else if (detailed || chained)
        shape = detailed ? MWL_SHAPE_FAILURE_NO_MESSAGE : MWL_SHAPE_FAILURE_OF_PREVIOUS;
    if (detailed)
        values[n++] = details;
    else if (message && chained)
        shape = MWL_SHAPE_FAILURE_NO_DETAILS;
    if (chained) values[n++] = previous;
    return mwl__words_object(h, shape, n, values);
}

/* Returns whether this is the failure of that code and message. */
static inline bool is_made_of(const mwl__made *m, const char *code, const char *message) {
    if (m->code != code || m->message != message || mwl_is_absent(m->value)) return false;
    const mwl_value *val = mwl__as_map(m->value)->val;
    return strcmp(mwl__as_str(val[1])->s, code) == 0 &&
           (!message || strcmp(mwl__as_str(val[2])->s, message) == 0);
}

/* Keeps a failure of code and message for the next use of the same texts. */
MWL__OUTLINE static void remember(mwl_heap *h, mwl__made *m, const char *code, const char *message,
                                  mwl_value failure) {
    if (mwl_is_absent(failure) || strlen(code) > MWL__LITERAL_LENGTH) return;
    if (message && strlen(message) > (size_t)3 * MWL__LITERAL_LENGTH) return;
    mwl__drop(h, m->value);
    *m = (mwl__made){code, message, mwl__keep(failure)};
}

/* Providers fail again and again with the same literals. A failure of code and message alone is
 * made once; nothing that a definition sees depends on that. */
mwl_value mwl_failure(mwl_heap *h, const char *type, const char *code, const char *message,
                      mwl_value take_details, mwl_value take_previous) {
    if (!code) {
        mwl__drop(h, take_details);
        mwl__drop(h, take_previous);
        return mwl__heap_fail(h, MWL_E_USAGE);
    }
    const bool plain = !type && mwl_is_absent(take_details) && mwl_is_absent(take_previous);
    mwl__made *made = plain ? mwl__made_at(h, code) : NULL;
    if (made && is_made_of(made, code, message)) return mwl__keep(made->value);
    const mwl_value of_type = type ? mwl__literal(h, type) : mwl_absent(),
                    text = mwl__literal(h, code);
    mwl_value v = envelope(h, type ? &of_type : &mwl__word_values[MWL_WORD_ERROR], &text, message,
                           take_details, take_previous);
    if (made) remember(h, made, code, message, v);
    return v;
}

mwl_value mwl__failure_over(mwl_heap *h, mwl__failure_code code, const char *message,
                            mwl_value take_details, mwl_value take_previous) {
    return envelope(h, &mwl__word_values[codes[code].type], &mwl__word_values[codes[code].code],
                    message, take_details, take_previous);
}

mwl_value mwl__failure_new(mwl_heap *h, mwl__failure_code code, const char *message,
                           mwl_value take_details) {
    return mwl__failure_over(h, code, message, take_details, mwl_absent());
}

/* Adds a member to an object, or replaces it. */
static mwl_value put(mwl_heap *h, mwl_value take_object, mwl__word name, mwl_value take) {
    return mwl__map_put(h, take_object, mwl__word_value(name), take);
}

/* Adds the place of the fault, for people and tools: the text of the expression, line and
 * column. */
static mwl_value with_position(mwl__exec *x, mwl_value details, const mwl__fault *f) {
    mwl_heap *h = x->heap;
    mwl__where w;
    if (f->where == MWL_NONE)
        return details; /* not caused by an instruction: the arguments of a frame */
    if (!mwl__program_where(x->program, f->where, f->sub, &w)) return details;
    if (mwl_value_kind(details) != MWL_KIND_OBJECT) {
        mwl__drop(h, details);
        details = mwl_object(h, 3);
    }
    const mwl_program *p = x->program;
    /* arguments are not an expression: their place is that of the call */
    if (f->code != MWL_FAILURE_PARAMETER && p->source && w.len &&
        (size_t)w.offset + w.len <= p->source_size &&
        mwl_is_absent(mwl__word_get(details, MWL_WORD_EXPRESSION)))
        details = put(h, details, MWL_WORD_EXPRESSION, mwl_string(h, p->source + w.offset, w.len));
    details = put(h, details, MWL_WORD_LINE, mwl_number((double)w.line));
    return put(h, details, MWL_WORD_COLUMN, mwl_number((double)w.column));
}

mwl_value mwl__failure_from_fault(mwl__exec *x, mwl_value take_fault) {
    if (mwl_value_kind(take_fault) != MWL_KIND_FAULT) return mwl_absent();
    mwl__fault *f = mwl__as_fault(take_fault);
    mwl_value details = mwl__keep(f->details);
    if (mwl_value_kind(details) == MWL_KIND_NULL) details = mwl_absent();
    details = with_position(x, details, f);
    const mwl_value values[] = {mwl__word_value(codes[f->code].type),
                                mwl__word_value(codes[f->code].code), mwl__keep(f->message),
                                details};
    mwl_value o =
        mwl__words_object(x->heap, MWL_SHAPE_FAILURE, mwl_is_absent(details) ? 3 : 4, values);
    mwl__drop(x->heap, take_fault);
    return o;
}

mwl_value mwl__result_value(mwl_heap *h, const mwl__result *r) {
    if (!r->ok) return mwl__keep(r->v);
    const mwl_value values[] = {mwl__word_value(MWL_WORD_SUCCESS), mwl__keep(r->v)};
    return mwl__words_object(h, MWL_SHAPE_SUCCESS, 2, values);
}

/* ---- chains ---------------------------------------------------------------------------------- */

static mwl_value previous_of(mwl_value failure) {
    mwl_value p = mwl__word_get(failure, MWL_WORD_PREVIOUS);
    return mwl_value_kind(p) == MWL_KIND_OBJECT ? p : mwl_absent();
}

/* Links of a chain that are not charged, and the elements that the others count as. */
enum { CHEAP_CHAIN = 4, CHAIN_WORK = 32 };
/* Histories that are larger are not compared to their end, and count as different. */
#define HISTORY_NODES (UINT64_C(1) << 22)

static uint32_t chain_length(mwl_value failure) {
    uint32_t n = 0;
    for (; !mwl_is_absent(failure); failure = previous_of(failure)) n++;
    return n;
}

/* Returns the first `keep` failures of the chain, then `tail` (taken over). The chain is rebuilt
 * from its end, because every link is inside the one before it. The stack is explicit because the
 * author decides the depth. */
static mwl_value relink(mwl_heap *h, mwl_value head, uint32_t keep, mwl_value tail) {
    mwl_value links[MWL_CHAIN_LIMIT_MAX];
    uint32_t n = 0;
    for (mwl_value f = head; !mwl_is_absent(f) && n < keep; f = previous_of(f)) links[n++] = f;
    while (n > 0) tail = put(h, mwl__keep(links[--n]), MWL_WORD_PREVIOUS, tail);
    return tail;
}

/* Whether the history of `newer`, which has `a` links, contains `older`, which has `b`, by value.
 * Only the part of equal length can be equal. The head is not history: a handler may fail with the
 * failure that it handles, and that is another one. */
static bool has_history(mwl_heap *h, mwl_value newer, uint32_t a, mwl_value older, uint32_t b) {
    if (a <= b) return false;
    for (; a > b; a--) newer = previous_of(newer);
    uint64_t left = HISTORY_NODES;
    bool equal = false;
    (void)mwl__value_equal(newer, older, &left, &equal);
    h->work += HISTORY_NODES - left;
    return equal;
}

mwl_value mwl__failure_chain(mwl_heap *h, mwl_value take_newer, mwl_value older, uint32_t limit) {
    if (mwl_is_absent(take_newer) || mwl_value_kind(older) != MWL_KIND_OBJECT) return take_newer;
    if (limit > MWL_CHAIN_LIMIT_MAX) limit = MWL_CHAIN_LIMIT_MAX;
    uint32_t a = chain_length(take_newer), b = chain_length(older);
    if (a + b > CHEAP_CHAIN) mwl__heap_work(h, (size_t)CHAIN_WORK * (a + b));
    /* spec: execution-context, chaining: supersession preserves the superseded failure as it is;
     * one that the chain has already is not linked again. DECISIONS.md 10. */
    if (has_history(h, take_newer, a, older, b)) b = 0;
    if (b == 0 && a <= limit) return take_newer;
    mwl_value tail = mwl__keep(older);
    if (a + b > limit) { /* the last link that is kept says that older failures were dropped */
        uint32_t left = limit - 1;
        mwl_value cut = mwl__failure_new(h, MWL_FAILURE_CHAIN_TRUNCATED,
                                         "older failures were dropped", mwl_absent());
        if (a > left) {
            mwl__drop(h, tail);
            tail = cut;
            a = left;
        } else {
            mwl__drop(h, tail);
            tail = relink(h, older, left - a, cut);
        }
    }
    mwl_value out = relink(h, take_newer, a, tail);
    mwl__drop(h, take_newer);
    return out;
}

/* ---- what an author writes ------------------------------------------------------------------- */

static inline bool is_word(mwl_value v, mwl__word word) {
    return mwl_value_kind(v) == MWL_KIND_STRING && mwl__word_is(v, word);
}

static bool is_failure(mwl_value v) {
    if (mwl_value_kind(v) != MWL_KIND_OBJECT) return false;
    mwl_value type = mwl__word_get(v, MWL_WORD_TYPE), code = mwl__word_get(v, MWL_WORD_CODE);
    return mwl_value_kind(type) == MWL_KIND_STRING && !is_word(type, MWL_WORD_SUCCESS) &&
           mwl_value_kind(code) == MWL_KIND_STRING;
}

/* Returns what is wrong with one member of an envelope, or NULL. Of `previous` only whether it is a
 * failure: chain_error looks at its members. */
static const char *member_error(mwl_value key, mwl_value v) {
    mwl_kind kind = mwl_value_kind(v);
    if (is_word(key, MWL_WORD_TYPE)) {
        if (kind != MWL_KIND_STRING) return "a failure's `type` must be a string";
        return is_word(v, MWL_WORD_SUCCESS) ? "a failure's `type` must not be 'success'" : NULL;
    }
    if (is_word(key, MWL_WORD_CODE))
        return kind == MWL_KIND_STRING ? NULL : "a failure's `code` must be a string";
    if (is_word(key, MWL_WORD_MESSAGE))
        return kind == MWL_KIND_STRING ? NULL : "a failure's `message` must be a string";
    if (is_word(key, MWL_WORD_RETRYABLE))
        return kind == MWL_KIND_BOOL || kind == MWL_KIND_NULL
                   ? NULL
                   : "a failure's `retryable` must be a boolean or null";
    if (is_word(key, MWL_WORD_PREVIOUS))
        return kind == MWL_KIND_NULL || is_failure(v)
                   ? NULL
                   : "a failure's `previous` must be a non-success Result or null";
    return is_word(key, MWL_WORD_DETAILS) /* anything */
               ? NULL
               : "a failure has only `type`, `code`, `message`, `details`, `retryable` and "
                 "`previous`";
}

/* spec: call-interface, the failure envelope. Returns what is wrong with a failure, or with one in
 * its chain, or NULL. One walk over the members, because every failure that a host gives passes
 * here; not recursive, because the author decides the depth. */
static const char *chain_error(mwl_value failure) {
    for (; !mwl_is_absent(failure); failure = previous_of(failure)) {
        const mwl__map *m = mwl__as_map(failure);
        bool type = false, code = false;
        for (uint32_t i = 0; i < failure.aux; i++) {
            mwl_value key = m->keys->key[i];
            const char *wrong = member_error(key, m->val[i]);
            if (wrong) return wrong;
            type = type || is_word(key, MWL_WORD_TYPE);
            code = code || is_word(key, MWL_WORD_CODE);
        }
        if (!type) return "a failure's `type` must be a string";
        if (!code) return "a failure's `code` must be a string";
    }
    return NULL;
}

/* Returns what is wrong with one field that the author wrote, or NULL. */
static const char *field_error(mwl_value key, mwl_value v) {
    const char *wrong = member_error(key, v);
    if (wrong || !is_word(key, MWL_WORD_PREVIOUS) || mwl_value_kind(v) == MWL_KIND_NULL)
        return wrong;
    return chain_error(v);
}

const char *mwl__failure_error(mwl_value v) {
    return mwl_value_kind(v) == MWL_KIND_OBJECT ? chain_error(v) : "a failure must be an object";
}

const char *mwl__failure_build(mwl_heap *h, mwl_value base, const mwl_program *p, uint32_t shape,
                               const mwl_value *values, mwl_value *out, bool *wrote_previous,
                               uint32_t *field) {
    static const mwl__word order[] = {MWL_WORD_TYPE,    MWL_WORD_CODE,      MWL_WORD_MESSAGE,
                                      MWL_WORD_DETAILS, MWL_WORD_RETRYABLE, MWL_WORD_PREVIOUS};
    const uint32_t *key = &p->keys[p->shapes[shape].first_key], n = p->shapes[shape].n_keys;
    *wrote_previous = false;
    for (uint32_t i = 0; i < n; i++) {
        const char *wrong = field_error(p->consts[key[i]], values[i]);
        *field = i;
        if (wrong) return wrong;
        if (is_word(p->consts[key[i]], MWL_WORD_PREVIOUS)) *wrote_previous = true;
    }
    mwl_value o = mwl_object(h, 6);
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        mwl_value v = mwl_absent();
        for (uint32_t i = 0; i < n; i++)
            if (is_word(p->consts[key[i]], order[k])) v = mwl__keep(values[i]);
        if (mwl_is_absent(v) && k < 5 && !mwl_is_absent(base))
            v = mwl__keep(mwl__word_get(base, order[k]));
        if (mwl_is_absent(v) && k == 0) v = mwl__word_value(MWL_WORD_ERROR);
        if (!mwl_is_absent(v)) o = put(h, o, order[k], v);
    }
    *out = o;
    return NULL;
}

/* ---- the matcher ----------------------------------------------------------------------------- */

/* spec: step-mechanics, failure matching. "*" any; "Prefix.*" a longer code under the prefix; else
 * exact. */
static bool code_matches(mwl_value pattern, mwl_value code) {
    if (mwl_value_kind(pattern) != MWL_KIND_STRING || mwl_value_kind(code) != MWL_KIND_STRING)
        return false;
    const mwl__str *p = mwl__as_str(pattern), *c = mwl__as_str(code);
    size_t n = p->len;
    if (n == 0 || p->s[n - 1] != '*') return mwl__str_same(pattern, code);
    if (n == 1) return true;
    if (p->s[n - 2] != '.') return mwl__str_same(pattern, code);
    return c->len >= n && mwl__bytes_same(p->s, c->s, n - 1);
}

static bool type_matches(mwl_value wanted, mwl_value type) {
    return mwl_value_kind(wanted) == MWL_KIND_STRING && mwl_value_kind(type) == MWL_KIND_STRING &&
           mwl__str_same(wanted, type);
}

static bool retryable_is(mwl_value failure, bool want) {
    mwl_value r = mwl__word_get(failure, MWL_WORD_RETRYABLE);
    return mwl_value_kind(r) == MWL_KIND_BOOL && mwl_as_bool(r) == want;
}

/* A look at a text of a matcher, in units of fuel. */
static inline uint64_t look(uint32_t len) { return 1 + len / 64; }
static inline uint64_t look_at(mwl_value text) {
    return mwl_value_kind(text) == MWL_KIND_STRING ? look(mwl__as_str(text)->len) : 1;
}

bool mwl__failure_matches_rec(const mwl_program *p, const mwl__matcher_rec *m, mwl_value failure,
                              uint64_t *looks) {
    bool hit = m->n_codes == 0;
    mwl_value code = hit ? mwl_absent() : mwl__word_get(failure, MWL_WORD_CODE);
    *looks += 1;
    for (uint32_t i = 0; i < m->n_codes && !hit; i++) {
        const mwl_value pattern = p->consts[p->keys[m->first_code + i]];
        *looks += look_at(pattern);
        hit = code_matches(pattern, code);
    }
    if (!hit) return false;
    hit = m->n_types == 0;
    mwl_value type = hit ? mwl_absent() : mwl__word_get(failure, MWL_WORD_TYPE);
    for (uint32_t i = 0; i < m->n_types && !hit; i++) {
        const mwl_value one = p->consts[p->keys[m->first_type + i]];
        *looks += look_at(one);
        hit = type_matches(one, type);
    }
    return hit && (m->retryable == MWL_NONE || retryable_is(failure, m->retryable == 1));
}

static bool any_of(mwl_value list, mwl_value text, bool (*matches)(mwl_value, mwl_value),
                   uint64_t *looks) {
    const uint32_t n = mwl_value_kind(list) == MWL_KIND_ARRAY ? list.aux : 0;
    for (uint32_t i = 0; i < n; i++) {
        const mwl_value one = mwl__as_list(list)->item[i];
        *looks += look_at(one);
        if (matches(one, text)) return true;
    }
    return false;
}

/* One look at each member: most matchers have one. */
bool mwl__failure_matches(mwl_value matcher, mwl_value failure, uint64_t *looks) {
    *looks += 1;
    if (mwl_value_kind(matcher) != MWL_KIND_OBJECT) return true;
    const mwl__map *m = mwl__as_map(matcher);
    for (uint32_t i = 0; i < matcher.aux; i++) {
        const mwl_value key = m->keys->key[i], val = m->val[i];
        bool hit = true;
        if (is_word(key, MWL_WORD_CODES))
            hit = any_of(val, mwl__word_get(failure, MWL_WORD_CODE), code_matches, looks);
        else if (is_word(key, MWL_WORD_TYPES))
            hit = any_of(val, mwl__word_get(failure, MWL_WORD_TYPE), type_matches, looks);
        else if (is_word(key, MWL_WORD_RETRYABLE))
            hit = mwl_value_kind(val) == MWL_KIND_BOOL && retryable_is(failure, mwl_as_bool(val));
        if (!hit) return false;
    }
    return true;
}

bool mwl_failure_matches(mwl_value matcher, mwl_value failure) {
    uint64_t looks = 0;
    return mwl__failure_matches(matcher, failure, &looks);
}

mwl_value mwl_matcher_wrong(mwl_value matcher) {
    mwl_value list = mwl__word_get(matcher, MWL_WORD_CODES);
    for (size_t i = 0, n = mwl_count(list); i < n; i++) {
        size_t len = 0;
        mwl_value pattern = mwl_array_at(list, i);
        const char *text = mwl_as_text(pattern, &len);
        if (text && !mwl__is_code_pattern(text, len)) return pattern;
    }
    return mwl_absent();
}

/* ---- matchers made ready --------------------------------------------------------------------- */

/* A text of a matcher. A failure's has it if it is at least so long and begins so; or, with
 * `whole`, is the same. */
typedef struct ready_text {
    const char *s; /* lent by the matcher */
    uint32_t len, least;
    bool whole;
} ready_text;

/* The content of what mwl_matcher_prepare returns. */
typedef struct ready {
    bool codes, types;  /* it has them: one of those below must be the failure's */
    signed char wanted; /* `retryable`; below 0: any */
    bool never;         /* what is written cannot match */
    uint32_t n_codes, n_texts;
    ready_text text[]; /* codes, then types */
} ready;

static ready_text ready_code(mwl_value pattern) {
    const mwl__str *p = mwl__as_str(pattern);
    const uint32_t n = p->len;
    if (n == 1 && p->s[0] == '*') return (ready_text){p->s, 0, 0, false};
    const bool under = n > 1 && p->s[n - 1] == '*' && p->s[n - 2] == '.';
    return under ? (ready_text){p->s, n - 1, n, false} : (ready_text){p->s, n, n, true};
}

static ready_text ready_type(mwl_value type) {
    const mwl__str *t = mwl__as_str(type);
    return (ready_text){t->s, t->len, t->len, true};
}

/* Adds the texts of a list; what is not a text matches nothing. */
static void ready_list(ready *r, mwl_value list, ready_text (*one)(mwl_value)) {
    const size_t n = mwl_value_kind(list) == MWL_KIND_ARRAY ? list.aux : 0;
    for (size_t i = 0; i < n; i++) {
        mwl_value v = mwl__as_list(list)->item[i];
        if (mwl_value_kind(v) == MWL_KIND_STRING) r->text[r->n_texts++] = one(v);
    }
}

mwl_value mwl_matcher_prepare(mwl_heap *h, mwl_value matcher) {
    const mwl_value any_of = mwl__word_get(matcher, MWL_WORD_CODES),
                    types = mwl__word_get(matcher, MWL_WORD_TYPES),
                    wanted = mwl__word_get(matcher, MWL_WORD_RETRYABLE);
    const size_t size = sizeof(ready) + (mwl_count(any_of) + mwl_count(types)) * sizeof(ready_text);
    mwl__str *made = mwl__str_alloc(h, size);
    if (!made) return mwl_absent();
    memset(made->s, 0, size);
    ready *r = (ready *)(void *)made->s;
    r->codes = !mwl_is_absent(any_of);
    r->types = !mwl_is_absent(types);
    r->wanted = mwl_is_absent(wanted) ? -1 : (signed char)mwl_as_bool(wanted);
    r->never = !mwl_is_absent(wanted) && mwl_value_kind(wanted) != MWL_KIND_BOOL;
    ready_list(r, any_of, ready_code);
    r->n_codes = r->n_texts;
    ready_list(r, types, ready_type);
    return mwl__bytes_seal(made);
}

static bool has_text(const ready_text *t, const ready_text *end, mwl_value text, uint64_t *looks) {
    if (mwl_value_kind(text) != MWL_KIND_STRING) return false;
    const mwl__str *s = mwl__as_str(text);
    for (; t < end; *looks += look(t->len), t++)
        if (s->len >= t->least && (!t->whole || s->len == t->len) &&
            mwl__bytes_same(t->s, s->s, t->len))
            return true;
    return false;
}

bool mwl__matcher_matches(mwl_value prepared, mwl_value failure, uint64_t *looks) {
    const ready *r = (const ready *)(const void *)mwl__as_str(prepared)->s;
    const ready_text *types = r->text + r->n_codes;
    if (r->never) return false;
    if (r->codes && !has_text(r->text, types, mwl__word_get(failure, MWL_WORD_CODE), looks))
        return false;
    if (r->types &&
        !has_text(types, r->text + r->n_texts, mwl__word_get(failure, MWL_WORD_TYPE), looks))
        return false;
    return r->wanted < 0 || retryable_is(failure, r->wanted == 1);
}

bool mwl_matcher_matches(mwl_value prepared, mwl_value failure) {
    uint64_t looks = 0;
    return mwl__matcher_matches(prepared, failure, &looks);
}
