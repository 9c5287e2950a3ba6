/* str.c: makes, hashes and compares strings, bytes and type names.
 *
 * Owns: how a mwl__str is filled. A sealed string never changes. Its hash depends only on its
 * bytes, so a program image can store it. Refuses to know: what text means beyond being UTF-8. */
#include "vm/value/value.h"
#include "vm/base/utf8.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint32_t mwl__str_hash(const char *text, size_t len) { return (uint32_t)XXH3_64bits(text, len); }

uint64_t mwl__str_hash64(const void *data, size_t len, uint64_t seed) {
    return XXH3_64bits_withSeed(data, len, seed);
}

mwl__str *mwl__str_alloc(mwl_heap *h, size_t len) {
    if (len > MWL_STRING_LIMIT) {
        h->why = MWL_E_TOO_BIG;
        return NULL;
    }
    mwl__str *s = mwl__heap_take(h, sizeof *s + len + 1);
    if (!s) return NULL;
    s->rc = 1;
    s->len = (uint32_t)len;
    return s;
}

static mwl_value finish(mwl__str *s, uint32_t kind, size_t n_cp, uint32_t hash) {
    s->s[s->len] = '\0';
    s->n_cp = (uint32_t)n_cp;
    s->hash = hash;
    mwl_value v;
    v.tag = kind | MWL_HEAP | MWL_OWNED;
    v.aux = hash;
    v.as.p = s;
    return v;
}

mwl_value mwl__str_seal_counted(mwl__str *s, uint32_t n_cp) {
    return finish(s, MWL_KIND_STRING, n_cp, mwl__str_hash(s->s, s->len));
}

mwl_value mwl__str_seal(mwl__str *s) {
    return mwl__str_seal_counted(s, (uint32_t)mwl__utf8_count(s->s, s->len));
}

mwl_value mwl__bytes_seal(mwl__str *s) {
    return finish(s, MWL_KIND_BYTES, 0, mwl__str_hash(s->s, s->len));
}

static mwl_value make(mwl_heap *h, uint32_t kind, const char *text, size_t len, size_t n_cp,
                      uint32_t hash) {
    mwl__str *s = mwl__str_alloc(h, len);
    if (!s) return mwl_absent();
    if (len) memcpy(s->s, text, len);
    return finish(s, kind, n_cp, hash);
}

mwl_value mwl__str_new(mwl_heap *h, const char *text, size_t len) {
    return mwl__str_new_hashed(h, text, len, mwl__str_hash(text, len));
}

mwl_value mwl__str_new_hashed(mwl_heap *h, const char *text, size_t len, uint32_t hash) {
    return make(h, MWL_KIND_STRING, text, len, mwl__utf8_count(text, len), hash);
}

mwl_value mwl__str_new_known(mwl_heap *h, const char *text, size_t len, size_t n_cp,
                             uint32_t hash) {
    return make(h, MWL_KIND_STRING, text, len, n_cp, hash);
}

mwl_value mwl__type_new(mwl_heap *h, const char *name, size_t len) {
    return make(h, MWL_KIND_TYPE, name, len, mwl__utf8_count(name, len), mwl__str_hash(name, len));
}

mwl_value mwl__str_concat(mwl_heap *h, mwl_value a, mwl_value b) {
    const mwl__str *x = mwl__as_str(a), *y = mwl__as_str(b);
    if (y->len == 0) return mwl__keep(a);
    if (x->len == 0) return mwl__keep(b);
    mwl__str *s = mwl__str_alloc(h, (size_t)x->len + y->len);
    if (!s) return mwl_absent();
    memcpy(s->s, x->s, x->len);
    memcpy(s->s + x->len, y->s, y->len);
    return finish(s, mwl_value_kind(a), (size_t)x->n_cp + y->n_cp, mwl__str_hash(s->s, s->len));
}

int mwl__str_compare(mwl_value a, mwl_value b) {
    const mwl__str *x = mwl__as_str(a), *y = mwl__as_str(b);
    int c = memcmp(x->s, y->s, x->len < y->len ? x->len : y->len);
    if (c) return c < 0 ? -1 : 1;
    return x->len == y->len ? 0 : x->len < y->len ? -1 : 1;
}

/* UTF-16 order is UTF-8 order with one exception: characters that need surrogates (D800 ..) come
 * before U+E000 .. U+FFFF. If two texts differ inside a sequence, they have the same lead byte, so
 * only lead bytes matter for the exception. */
int mwl__str_compare_utf16(mwl_value a, mwl_value b) {
    const mwl__str *x = mwl__as_str(a), *y = mwl__as_str(b);
    size_t n = x->len < y->len ? x->len : y->len, i = 0;
    while (i < n && x->s[i] == y->s[i]) i++;
    if (i == n) return x->len == y->len ? 0 : x->len < y->len ? -1 : 1;
    unsigned char p = (unsigned char)x->s[i], q = (unsigned char)y->s[i];
    if (p >= 0xF0 && (q == 0xEE || q == 0xEF)) return -1;
    if (q >= 0xF0 && (p == 0xEE || p == 0xEF)) return 1;
    return p < q ? -1 : 1;
}

/* ---- for hosts ------------------------------------------------------------------------------- */

mwl_value mwl_text(mwl_heap *heap, const char *text) {
    return mwl_string(heap, text, strlen(text));
}

mwl_value mwl_string(mwl_heap *heap, const char *text, size_t len) {
    if (!heap) return mwl_absent();
    if (!text && len) return mwl__heap_fail(heap, MWL_E_USAGE);
    size_t n_cp = 0;
    if (len && !mwl__utf8_valid(text, len, &n_cp)) return mwl__heap_fail(heap, MWL_E_UTF8);
    if (!len) text = "";
    return make(heap, MWL_KIND_STRING, text, len, n_cp, mwl__str_hash(text, len));
}

mwl_value mwl_bytes(mwl_heap *heap, const void *data, size_t len) {
    if (!heap) return mwl_absent();
    if (!data && len) return mwl__heap_fail(heap, MWL_E_USAGE);
    const char *text = len ? (const char *)data : "";
    return make(heap, MWL_KIND_BYTES, text, len, 0, mwl__str_hash(text, len));
}

const char *mwl_as_text(mwl_value v, size_t *len) {
    uint32_t kind = mwl_value_kind(v);
    if (kind != MWL_KIND_STRING && kind != MWL_KIND_BYTES) {
        if (len) *len = 0;
        return NULL;
    }
    if (len) *len = mwl__as_str(v)->len;
    return mwl__as_str(v)->s;
}

size_t mwl_string_code_points(mwl_value v) {
    return mwl_value_kind(v) == MWL_KIND_STRING ? mwl__as_str(v)->n_cp : 0;
}

mwl_value mwl__key(mwl_heap *h, const char *text, size_t len) {
    uint32_t hash = mwl__str_hash(text, len);
    const mwl__str *s = h->shares_names ? mwl__atom(h, text, len, hash, true) : NULL;
    if (!s) return mwl__str_new_hashed(h, text, len, hash);
    return (mwl_value){MWL_KIND_STRING, hash, {.p = (void *)(uintptr_t)s}};
}

/* The cache is indexed by the address of the text, which never changes for a literal. Each text has
 * four possible places: with two, three literals of one hot path that met in a set would replace
 * each other for ever, and whether they meet depends on where the linker put them. The content
 * decides, so a buffer whose text changes only costs a few comparisons. */
mwl_value mwl__literal(mwl_heap *h, const char *text) {
    enum { WAYS = 4 };
    uint32_t at = (uint32_t)((uintptr_t)text * 0x9E3779B1u) >> 26 & ~(WAYS - 1u);
    mwl_value *place = h->literals ? &h->literals[at] : NULL;
    for (int i = 0; place && i < WAYS && !mwl_is_absent(place[i]); i++) {
        const char *have = mwl__as_str(place[i])->s;
        if (have[0] == text[0] && strcmp(have, text) == 0) return mwl__keep(place[i]);
    }
    size_t len = strlen(text);
    mwl_value v = mwl_string(h, text, len);
    if (!place || len > MWL__LITERAL_LENGTH || mwl_is_absent(v)) return v;
    mwl__drop(h, place[WAYS - 1]);
    memmove(place + 1, place, (WAYS - 1) * sizeof *place);
    place[0] = mwl__keep(v);
    return v;
}

_Static_assert(MWL__LITERALS == 1u << (32 - 26), "the shift gives a place among them");
