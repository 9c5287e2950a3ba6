/* atoms.c: member names: one string for each name of a heap.
 *
 * Owns: the strings, which are immortal (not counted) until the heap is freed, and the table that
 * finds them. So two names of one heap are mostly the same string, and to compare them is to
 * compare two pointers. "Mostly": code that compares names falls back to their texts, because
 *   - a heap has at most MWL__ATOMS names, and data brings at most half of them: hostile data can
 *     neither fill the memory nor keep a program's names out;
 *   - a search looks at PROBES places only. Hashes have no secret (they are stored in programs), so
 *     anyone can make names that meet in one place; those are ordinary strings then.
 * The words of the library (words.h) are the atoms of their texts. */
#include "vm/value/value.h"
#include "vm/value/words.h"
#include "vm/base/utf8.h"

enum { PROBES = 8, FIRST_PLACES = 64, RECENT = 64 };

struct mwl__atoms {
    mwl__arena memory;
    const mwl__str **place;
    uint32_t n_places; /* a power of two, at least twice n */
    uint32_t n, n_data;
    const mwl__str *recent[RECENT]; /* by the address of the caller's text */
};

static void put(struct mwl__atoms *t, const mwl__str *s) {
    for (uint32_t i = 0; i < PROBES; i++) {
        const mwl__str **place = &t->place[(s->hash + i) & (t->n_places - 1)];
        if (*place) continue;
        *place = s;
        return;
    }
}

static bool grow(mwl_heap *h, struct mwl__atoms *t) {
    uint32_t old_n = t->n_places, n = old_n ? old_n * 2 : FIRST_PLACES;
    const mwl__str **old = t->place, **place = mwl__mem_zero(&h->alloc, n, sizeof *place);
    if (!place) return false;
    t->place = place;
    t->n_places = n;
    for (uint32_t i = 0; i < old_n; i++)
        if (old[i]) put(t, old[i]);
    for (uint32_t i = 0; old_n == 0 && i < MWL_WORD_COUNT; i++, t->n++)
        put(t, mwl__as_str(mwl__word_value((mwl__word)i)));
    mwl__mem_free(&h->alloc, old, old_n * sizeof *old);
    return true;
}

static struct mwl__atoms *make(mwl_heap *h) {
    struct mwl__atoms *t = mwl__mem_zero(&h->alloc, 1, sizeof *t);
    if (!t) return NULL;
    t->memory = mwl__arena_make(h->alloc);
    return h->atoms = t;
}

void mwl__atoms_free(mwl_heap *h) {
    struct mwl__atoms *t = h->atoms;
    if (!t) return;
    mwl__arena_free(&t->memory);
    mwl__mem_free(&h->alloc, t->place, t->n_places * sizeof *t->place);
    mwl__mem_free(&h->alloc, t, sizeof *t);
    h->atoms = NULL;
}

/* A new atom, or NULL: the bound is reached, or out of memory. */
static const mwl__str *add(mwl_heap *h, const char *text, size_t len, uint32_t hash, bool data) {
    struct mwl__atoms *t = h->atoms ? h->atoms : make(h);
    if (!t || t->n >= MWL__ATOMS || (data && t->n_data >= MWL__ATOMS / 2)) return NULL;
    if (t->n * 2 >= t->n_places && !grow(h, t)) return NULL;
    mwl__str *s = mwl__arena_new(&t->memory, sizeof *s + len + 1);
    if (!s) return NULL;
    s->rc = 1;
    s->len = (uint32_t)len;
    s->n_cp = (uint32_t)mwl__utf8_count(text, len);
    s->hash = hash;
    memcpy(s->s, text, len);
    put(t, s);
    t->n++;
    t->n_data += data;
    return s;
}

const mwl__str *mwl__atom(mwl_heap *h, const char *text, size_t len, uint32_t hash, bool data) {
    const struct mwl__atoms *t = h->atoms;
    if (len > MWL__ATOM_LENGTH) return NULL;
    if (!t || !t->n_places) return add(h, text, len, hash, data);
    for (uint32_t i = 0; i < PROBES; i++) {
        const mwl__str *s = t->place[(hash + i) & (t->n_places - 1)];
        if (!s) return add(h, text, len, hash, data);
        if (s->hash == hash && s->len == len && mwl__bytes_same(s->s, text, len)) return s;
    }
    return NULL;
}

/* The address of a literal never changes. The content decides, so a buffer whose text changes only
 * costs a comparison. */
mwl_value mwl__key_literal(mwl_heap *h, const char *text, size_t len) {
    uint32_t at = (uint32_t)((uintptr_t)text * 0x9E3779B1u) >> 26;
    const mwl__str *s = h->atoms ? h->atoms->recent[at] : NULL;
    if (s && s->len == len && mwl__bytes_same(s->s, text, len))
        return (mwl_value){MWL_KIND_STRING, s->hash, {.p = (void *)(uintptr_t)s}};
    if (!mwl__utf8_valid(text, len, NULL)) return mwl__heap_fail(h, MWL_E_UTF8);
    mwl_value v = mwl__key(h, text, len);
    if (h->atoms && !mwl_is_absent(v) && !(v.tag & MWL_OWNED))
        h->atoms->recent[at] = mwl__as_str(v);
    return v;
}

_Static_assert(RECENT == 1u << (32 - 26), "the shift gives a place among them");
