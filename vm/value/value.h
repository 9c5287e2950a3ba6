/* value.h: the layout of values, for the files of vm that must be fast.
 *
 * Owns: the tag word, the heap objects behind it, counting. Refuses to know: text forms (json.c,
 * num.c, temporal.c) and the machine.
 *
 * A value is 16 bytes: tag (kind in the low byte, two flags), aux, payload.
 *
 *   kind        aux                  payload
 *   NULL BOOL   0                    0 / 1
 *   NUMBER      0                    double
 *   INT UINT    0                    64 bits
 *   DURATION    0                    int64 nanoseconds
 *   TIMESTAMP   nanoseconds          int64 seconds since the epoch
 *   STRING      low 32 bits of XXH3  mwl__str
 *   BYTES       low 32 bits of XXH3  mwl__str (n_cp is 0)
 *   ARRAY       number of elements   mwl__list
 *   OBJECT      number of members    mwl__map
 *   TYPE        hash of the name     mwl__str, the type's name
 *   OPTIONAL    0                    mwl__box, or NULL for optional.none()
 *   EXT         0                    mwl__ext
 *   FAULT       0                    mwl__fault
 *
 * MWL_HEAP: there is a counted object behind the payload. Values without it are scalars or
 * immortal: constants inside a loaded program. MWL_OWNED: this very reference carries a count.
 * Everything stored (in a container, a variable, a Result) has OWNED exactly when it has HEAP;
 * registers of the machine may hold HEAP without OWNED: borrowed from something that holds still.
 * So keep and drop never touch memory for scalars, constants and borrowed references.
 *
 * An array is a length over a buffer that versions share: the newest version (its length equals
 * `used`) may claim the next free place. Objects the same; a buffer never holds one key twice. A
 * buffer with one counted reference has one version only: what lies beyond its length is cut off
 * before it grows. Buffers of immortal containers are never written. Empty ones need no heap. */
#ifndef MWL_VALUE_H
#define MWL_VALUE_H

#include "vm/base/mem.h"
#include "mwl.h"
#include "mwl_config.h"

#define MWL_HEAP 0x100u
#define MWL_OWNED 0x200u

typedef struct mwl__str {
    uint32_t rc;
    uint32_t len;  /* bytes */
    uint32_t n_cp; /* code points; equal to len exactly when the text is ASCII */
    uint32_t hash; /* low 32 bits of XXH3-64 of the bytes */
    char s[];      /* len bytes and a NUL */
} mwl__str;

/* What may be found below a container, so that most walks need not be made. Bits of the newest
 * version: an older one may have less. */
#define MWL__ODD_KIND                                                                              \
    1u /* something outside the data model: a CEL-only kind, a key that is no text */
#define MWL__ODD_SELF 2u /* something that does not equal itself: NaN, a fault */

typedef struct mwl__list {
    uint32_t rc, used, cap; /* cap 0: immortal and empty */
    uint16_t depth;         /* 1 + the deepest element's; an upper bound for old versions */
    uint16_t odd;
    uint64_t weight; /* 1 + the elements' weights; an upper bound for old versions */
    mwl_value item[];
} mwl__list;

typedef struct mwl__member {
    mwl_value key; /* STRING with its hash in aux, or INT, UINT, BOOL with a hash of the value
                    * there: read it with mwl__map_key, which clears that */
    mwl_value val;
} mwl__member;

typedef struct mwl__map {
    uint32_t rc, used, cap;
    uint16_t depth, odd;
    uint64_t weight;
    uint32_t
        n_index; /* power of two, or 0: a small map, scanned. uint32_t index[n_index] of positions
                  * + 1 follows member[cap] */
    uint16_t reach; /* no member is more than this many steps from its place in the index */
    uint16_t spare;
    uint32_t seed; /* 0: the index is over the keys' own hashes; else over hashes with this seed */
    uint32_t spare2;
    mwl__member member[];
} mwl__map;

typedef struct mwl__box {
    uint32_t rc;
    uint16_t depth, odd;
    uint64_t weight;
    mwl_value v;
} mwl__box;

typedef struct mwl__ext {
    uint32_t rc, len;
    mwl_value type; /* TYPE */
    unsigned char data[];
} mwl__ext;

/* An expression's fault on its way to a handler. Codes are those of failure.h. `where` is the
 * instruction that raised it and `sub` the part of its source: see mwl__program_where. */
typedef struct mwl__fault {
    uint32_t rc, code;
    uint32_t where, sub;
    mwl_value message; /* STRING */
    mwl_value details; /* OBJECT or NULL */
} mwl__fault;

static inline mwl__str *mwl__as_str(mwl_value v) { return (mwl__str *)v.as.p; }
static inline mwl__list *mwl__as_list(mwl_value v) { return (mwl__list *)v.as.p; }
static inline mwl__map *mwl__as_map(mwl_value v) { return (mwl__map *)v.as.p; }
static inline mwl__box *mwl__as_box(mwl_value v) { return (mwl__box *)v.as.p; }
static inline mwl__ext *mwl__as_ext(mwl_value v) { return (mwl__ext *)v.as.p; }
static inline mwl__fault *mwl__as_fault(mwl_value v) { return (mwl__fault *)v.as.p; }

/* ---- heap ------------------------------------------------------------------------------------ */

/* Small objects come from size classes of 16 bytes, carved out of chunks and kept on free lists; in
 * sanitizer and stress builds (MWL_PLAIN_HEAP) each object is an allocation of its own. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MWL__PLAIN 1
#endif
#endif
#if defined(MWL_PLAIN_HEAP) || defined(MWL_STRESS) || defined(__SANITIZE_ADDRESS__)
#undef MWL__PLAIN
#define MWL__PLAIN 1
#endif
#ifndef MWL__PLAIN
#define MWL__PLAIN 0
#endif

#define MWL__SMALL 512u
struct mwl_heap {
    mwl_alloc alloc;
    size_t used,
        limit; /* live bytes, in units of 16; the machine moves `limit` per run (SIZE_MAX: none) */
    uint64_t work;  /* done and not charged yet, in units of fuel: see mwl__heap_work */
    mwl_status why; /* of the last failure */
    uint32_t seed;  /* for the indexes of maps under attack (map.c); never 0 */
    void *free_list[MWL__SMALL / 16 + 1];
    struct mwl__chunk *chunks;
    char *bump, *bump_end;
    mwl_value *keys; /* recent member names, so that equal ones are one string; NULL: not shared */
};
mwl_status mwl__heap_init(mwl_heap *h, const mwl_alloc *alloc); /* alloc NULL: the default */
void mwl__heap_done(mwl_heap *h);
/* From now on short member names are shared (mwl__key). A VM's heap does: rows, envelopes and
 * inputs of many runs have the same few names. Held until mwl__heap_done. MWL_OK or MWL_E_NOMEM. */
mwl_status mwl__heap_share_keys(mwl_heap *h);
#define MWL__KEYS_SHARED                                                                           \
    256u /* a power of two; a name of another hash takes the place of an older one */
#define MWL__LITERALS 64u       /* likewise, for mwl__literal; they lie behind the names */
#define MWL__KEY_SHARED_MAX 40u /* bytes: longer names are rare, and would be held for nothing */
void *mwl__heap_take_more(mwl_heap *h, size_t size); /* the slow way of mwl__heap_take */
void mwl__heap_give_back(mwl_heap *h, void *p, size_t size);
/* Another size for a block; NULL and `why` on failure, and then the block is as it was. */
void *mwl__heap_resize(mwl_heap *h, void *p, size_t old_size, size_t new_size);

/* Notes that n elements were copied where the caller could not know: a list or a map that is not
 * the newest version of its buffer. Whoever has fuel takes `work` and charges it
 * (mwl__exec_settle). */
static inline void mwl__heap_work(mwl_heap *h, size_t n) { h->work += n / 4; }

/* NULL and `why` set on failure (MWL_E_NOMEM, or MWL_E_TOO_BIG for the limit); not zeroed. */
static inline void *mwl__heap_take(mwl_heap *h, size_t size) {
    if (!MWL__PLAIN && size <= MWL__SMALL) {
        size_t units = (size + 15u) >> 4;
        void *p = h->free_list[units];
        if (p && h->used + units * 16u <= h->limit) {
            h->free_list[units] = *(void **)p;
            h->used += units * 16u;
            return p;
        }
    }
    return mwl__heap_take_more(h, size);
}
static inline void mwl__heap_give(mwl_heap *h, void *p, size_t size) {
    if (!MWL__PLAIN && size <= MWL__SMALL) {
        size_t units = (size + 15u) >> 4;
        *(void **)p = h->free_list[units];
        h->free_list[units] = p;
        h->used -= units * 16u;
        return;
    }
    mwl__heap_give_back(h, p, size);
}
static inline mwl_value mwl__heap_fail(mwl_heap *h, mwl_status why) {
    h->why = why;
    return mwl_absent();
}

/* ---- counting -------------------------------------------------------------------------------- */

void mwl__destroy(mwl_heap *h, mwl_value v); /* the count reached zero; iterative */

/* A counted reference to v, whatever kind of reference v is. */
static inline mwl_value mwl__keep(mwl_value v) {
    if (v.tag & MWL_HEAP) {
        ++*(uint32_t *)v.as.p;
        v.tag |= MWL_OWNED;
    }
    return v;
}
/* The same reference without its count: valid while something else holds the value. */
static inline mwl_value mwl__borrow(mwl_value v) {
    v.tag &= ~MWL_OWNED;
    return v;
}
/* *to := *from by its two words: a value that was just written by halves and is then read as a
 * whole makes the processor wait. _lent borrows, _owned counts. The empty statement keeps the
 * compiler from joining them. */
#if defined(__GNUC__)
#define MWL__APART(a, b) __asm__("" : "+r"(a), "+r"(b))
#else
#define MWL__APART(a, b) ((void)0)
#endif
static inline void mwl__move(mwl_value *to, const mwl_value *from) {
    uint64_t head, body;
    memcpy(&head, from, 8);
    memcpy(&body, (const char *)from + 8, 8);
    MWL__APART(head, body);
    memcpy(to, &head, 8);
    memcpy((char *)to + 8, &body, 8);
}
static inline void mwl__move_flag(mwl_value *to, const mwl_value *from, bool owned) {
    const mwl_value flag = {MWL_OWNED, 0, {0}};
    uint64_t head, body, bit;
    memcpy(&bit, &flag, 8);
    memcpy(&head, from, 8);
    memcpy(&body, (const char *)from + 8, 8);
    head = owned ? head | bit : head & ~bit;
    MWL__APART(head, body);
    memcpy(to, &head, 8);
    memcpy((char *)to + 8, &body, 8);
}
/* *to := a reference with this tag, count and object, written by the same two words. */
static inline void mwl__move_new(mwl_value *to, uint32_t tag, uint32_t aux, void *p) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t head = (uint64_t)aux << 32 | tag;
    memcpy(to, &head, 8);
#else
    to->tag = tag;
    to->aux = aux;
#endif
    to->as.p = p;
}
static inline void mwl__move_lent(mwl_value *to, const mwl_value *from) {
    mwl__move_flag(to, from, false);
}
/* The count must have been taken. */
static inline void mwl__move_owned(mwl_value *to, const mwl_value *from) {
    mwl__move_flag(to, from, true);
}
/* *to := what a register holds, counted; the register is null afterwards. */
static inline void mwl__move_in(mwl_value *to, mwl_value *reg) {
    if ((reg->tag & (MWL_HEAP | MWL_OWNED)) == MWL_HEAP) {
        ++*(uint32_t *)reg->as.p;
        mwl__move_owned(to, reg);
    } else {
        mwl__move(to, reg);
    }
    reg->tag = MWL_KIND_NULL;
}
/* v as a counted reference: moved if it carries a count already, kept otherwise. */
static inline mwl_value mwl__own(mwl_value v) { return (v.tag & MWL_OWNED) ? v : mwl__keep(v); }
static inline void mwl__drop(mwl_heap *h, mwl_value v) {
    if ((v.tag & MWL_OWNED) && --*(uint32_t *)v.as.p == 0) mwl__destroy(h, v);
}
/* Put a value where another was, which is dropped. */
static inline void mwl__replace(mwl_heap *h, mwl_value *place, mwl_value take) {
    mwl_value old = *place;
    *place = take;
    mwl__drop(h, old);
}

/* ---- strings (str.c) ------------------------------------------------------------------------- */

/* Uninitialised string of len bytes; fill s, then seal (counts code points, hashes, terminates). */
mwl__str *mwl__str_alloc(mwl_heap *h, size_t len);
mwl_value mwl__str_seal(mwl__str *s); /* bytes must be valid UTF-8 */
mwl_value mwl__str_seal_counted(mwl__str *s,
                                uint32_t n_cp); /* the number of code points is known */
mwl_value mwl__bytes_seal(mwl__str *s);
mwl_value mwl__key(mwl_heap *h, const char *text,
                   size_t len); /* a member's name, valid UTF-8: shared where the heap shares */
/* The string of a C text that is most often a literal of its caller's: codes, types, messages.
 * Absent as mwl_string. */
mwl_value mwl__literal(mwl_heap *h, const char *text);
mwl_value mwl__str_new(mwl_heap *h, const char *text,
                       size_t len); /* text known to be valid UTF-8 */
mwl_value mwl__str_new_hashed(mwl_heap *h, const char *text, size_t len, uint32_t hash);
mwl_value mwl__str_concat(mwl_heap *h, mwl_value a,
                          mwl_value b); /* lent; both strings or both bytes */
mwl_value mwl__type_new(mwl_heap *h, const char *name, size_t len);
uint32_t mwl__str_hash(const char *text, size_t len);
uint32_t mwl__str_hash_seeded(const void *data, size_t len, uint32_t seed);
/* XXH3-64; without a seed (0) its low half is mwl__str_hash. Here alone, because xxHash is large
 * where it is inlined. */
uint64_t mwl__str_hash64(const void *data, size_t len, uint64_t seed);
int mwl__str_compare(mwl_value a,
                     mwl_value b); /* by code point, which for UTF-8 is by byte: -1, 0, 1 */
int mwl__str_compare_utf16(mwl_value a, mwl_value b); /* RFC 8785's member order */
/* memcmp without the call for the lengths that keys have. */
static inline bool mwl__bytes_same(const char *a, const char *b, size_t n) {
    if (n >= 8) {
        uint64_t a0, b0, a1, b1;
        if (n > 16) return memcmp(a, b, n) == 0;
        memcpy(&a0, a, 8), memcpy(&b0, b, 8);
        memcpy(&a1, a + n - 8, 8), memcpy(&b1, b + n - 8, 8);
        return ((a0 ^ b0) | (a1 ^ b1)) == 0;
    }
    if (n >= 4) {
        uint32_t a0, b0, a1, b1;
        memcpy(&a0, a, 4), memcpy(&b0, b, 4);
        memcpy(&a1, a + n - 4, 4), memcpy(&b1, b + n - 4, 4);
        return ((a0 ^ b0) | (a1 ^ b1)) == 0;
    }
    return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}
/* Two strings of one hash, n bytes each, at most 16. The last eight bytes are compared with what
 * may lie before them: the end of the header, code points and hash, which are the same for the same
 * text. */
static inline bool mwl__str_same_short(const mwl__str *x, const mwl__str *y, size_t n) {
    uint64_t a, b;
    memcpy(&a, (const char *)x + offsetof(mwl__str, n_cp) + n, 8);
    memcpy(&b, (const char *)y + offsetof(mwl__str, n_cp) + n, 8);
    if (a != b) return false;
    if (n <= 8) return true;
    memcpy(&a, x->s, 8);
    memcpy(&b, y->s, 8);
    return a == b;
}
/* Two strings of one hash. */
static inline bool mwl__str_same_text(const mwl__str *x, const mwl__str *y) {
    size_t n = x->len;
    if (n != y->len) return false;
    return n <= 16 ? mwl__str_same_short(x, y, n) : memcmp(x->s, y->s, n) == 0;
}
_Static_assert(offsetof(mwl__str, n_cp) + 8 == offsetof(mwl__str, s),
               "mwl__str_same_short relies on it");
static inline bool mwl__str_same(mwl_value a, mwl_value b) { /* both STRING (or both BYTES, TYPE) */
    if (a.as.p == b.as.p) return true;
    return a.aux == b.aux && mwl__str_same_text(mwl__as_str(a), mwl__as_str(b));
}

/* The same, but -1 when the bytes must be compared and are so many that this is charged for. */
#define MWL__STR_FAST_MAX 256u
static inline int mwl__str_equal_fast(mwl_value a, mwl_value b) {
    if (a.as.p == b.as.p) return 1;
    if (a.aux != b.aux) return 0;
    const mwl__str *x = mwl__as_str(a), *y = mwl__as_str(b);
    if (x->len != y->len) return 0;
    if (x->len > MWL__STR_FAST_MAX) return -1;
    return mwl__str_same_text(x, y);
}

/* ---- arrays (list.c) and objects (map.c) ----------------------------------------------------- */

size_t mwl__list_size(size_t cap); /* bytes of a buffer */
size_t mwl__map_size(size_t cap);
mwl_value mwl__list_new(mwl_heap *h, size_t cap);
mwl_value mwl__list_push(mwl_heap *h, mwl_value take_list, mwl_value take_item);
mwl_value mwl__list_concat(mwl_heap *h, mwl_value a,
                           mwl_value b); /* lent; O(len b) when a is newest */
/* For builders that own the newest version of a buffer with room for one more: false (why set,
 * nothing taken) when a limit is met. */
bool mwl__list_add(mwl_heap *h, mwl_value *list, mwl_value take_item);

mwl_value mwl__map_new(mwl_heap *h, size_t cap);
/* A buffer for n members, below MWL_INDEX_FROM, which the caller lays down: used and the books are
 * the caller's to set. NULL and `why` when there is no memory. */
static inline mwl__map *mwl__map_bare(mwl_heap *h, uint32_t n) {
    mwl__map *m = mwl__heap_take(h, sizeof *m + n * sizeof *m->member);
    if (!m) return NULL;
    m->rc = 1;
    m->cap = n;
    m->n_index = 0;
    m->reach = 0;
    m->seed = 0;
    return m;
}
mwl_value mwl__map_put(mwl_heap *h, mwl_value take_map, mwl_value take_key, mwl_value take_val);
/* Pointer to the member's value or NULL. The string form expects a STRING key (hash in aux). */
const mwl_value *mwl__map_get(mwl_value map, mwl_value str_key);
const mwl_value *mwl__map_find(mwl_value map, mwl_value any_key); /* numeric keys across kinds */
/* The value that the first n members of `map` have under the key of a member of another map;
 * `guess` (below n) is where it is when both were made alike. */
const mwl_value *mwl__map_same(const mwl__map *map, uint32_t n, const mwl__member *other,
                               uint32_t guess);
/* The key of a member, lent, without the hash that non-string keys carry in aux. */
static inline mwl_value mwl__map_key(const mwl__member *m) {
    mwl_value k = mwl__borrow(m->key);
    if (mwl_value_kind(k) != MWL_KIND_STRING) k.aux = 0;
    return k;
}
/* For builders that own a fresh map with room: the place of a string key's value, new (then a null)
 * or as it was; and the value's arrival there. Fill answers false, why set, nothing taken, at a
 * limit. */
mwl_value *mwl__map_slot(mwl_heap *h, mwl_value *map, mwl_value take_key);
bool mwl__map_fill(mwl_heap *h, mwl_value map, mwl_value *slot, mwl_value take_val);

mwl_value mwl__some(mwl_heap *h, mwl_value take); /* optional.of */
mwl_value mwl__none(void);
mwl_value mwl__ext_new(mwl_heap *h, mwl_value take_type, const void *data, size_t len);

/* ---- whole values (value.c) ------------------------------------------------------------------ */

static inline uint32_t mwl__value_depth(mwl_value v) { /* 0 for scalars and strings */
    if (mwl_value_kind(v) < MWL_KIND_ARRAY) return 0;
    switch (mwl_value_kind(v)) {
    case MWL_KIND_ARRAY: return mwl__as_list(v)->depth;
    case MWL_KIND_OBJECT: return mwl__as_map(v)->depth;
    case MWL_KIND_OPTIONAL: return v.as.p ? mwl__as_box(v)->depth : 0;
    default: return 0;
    }
}
static inline uint64_t mwl__value_weight(mwl_value v) { /* 1 for scalars and strings */
    if (mwl_value_kind(v) < MWL_KIND_ARRAY) return 1;
    switch (mwl_value_kind(v)) {
    case MWL_KIND_ARRAY: return mwl__as_list(v)->weight;
    case MWL_KIND_OBJECT: return mwl__as_map(v)->weight;
    case MWL_KIND_OPTIONAL: return v.as.p ? mwl__as_box(v)->weight : 1;
    default: return 1;
    }
}
/* Take a part of `weight` that leaves `rest` others. What a part weighs now may be more than what
 * it was entered with, because a version nested in it shares its buffer with newer ones. False:
 * weigh the others again, which is exact; a container of many is only weighed again when the
 * difference cannot be right. */
#define MWL__FEW 64u
static inline bool mwl__weight_less(uint64_t *weight, mwl_value part, uint32_t rest) {
    uint64_t w = mwl__value_weight(part);
    if (w > 1 && (rest <= MWL__FEW || *weight < w + rest + 1)) return false;
    *weight -= w;
    return true;
}
/* The MWL__ODD bits that v brings into a container. */
uint16_t mwl__value_odd_slow(mwl_value v);
static inline uint16_t mwl__value_odd(mwl_value v) {
    uint32_t k = mwl_value_kind(v);
    if (k == MWL_KIND_STRING || k == MWL_KIND_BOOL || k == MWL_KIND_NULL) return 0;
    if (k == MWL_KIND_NUMBER && v.as.d - v.as.d == 0) return 0; /* finite */
    return mwl__value_odd_slow(v);
}
/* Enter v into the books of a container (its depth, odd and weight). MWL_E_DEPTH or MWL_E_TOO_BIG,
 * and nothing changed, when it would pass a limit. */
static inline mwl_status mwl__value_weigh(mwl_value v, uint16_t *depth, uint16_t *odd,
                                          uint64_t *weight) {
    uint32_t below = mwl__value_depth(v);
    uint64_t sum = *weight + mwl__value_weight(v);
    if (below >= MWL_DEPTH_LIMIT) return MWL_E_DEPTH;
    if (sum > MWL_WEIGHT_LIMIT) return MWL_E_TOO_BIG;
    if (below >= *depth) *depth = (uint16_t)(below + 1);
    *weight = sum;
    *odd |= mwl__value_odd(v);
    return MWL_OK;
}
/* The same for one of the kinds that a list mostly collects. False, and nothing changed: ask
 * mwl__value_weigh. */
static inline bool mwl__value_weigh_fast(const mwl_value *v, mwl__list *into) {
    uint32_t kind = mwl_value_kind(*v);
    if (kind == MWL_KIND_NUMBER ? v->as.d - v->as.d == 0 : kind == MWL_KIND_STRING) {
        if (into->weight >= MWL_WEIGHT_LIMIT) return false;
        into->weight++;
        return true;
    }
    if (kind != MWL_KIND_OBJECT && kind != MWL_KIND_ARRAY) return false;
    const mwl__list *c = (const mwl__list *)v->as.p; /* a map's books are at the same place */
    uint64_t sum = into->weight + c->weight;
    if (c->depth >= MWL_DEPTH_LIMIT || sum > MWL_WEIGHT_LIMIT) return false;
    into->weight = sum;
    into->odd |= c->odd;
    if (c->depth >= into->depth) into->depth = (uint16_t)(c->depth + 1u);
    return true;
}
_Static_assert(offsetof(mwl__list, weight) == offsetof(mwl__map, weight) &&
                   offsetof(mwl__list, depth) == offsetof(mwl__map, depth) &&
                   offsetof(mwl__list, odd) == offsetof(mwl__map, odd),
               "mwl__value_weigh_fast relies on it");
/* Append what a register holds to a list in another that is nobody else's and has room; the item's
 * register is null afterwards. A buffer with one reference is held by nothing, so the item cannot
 * hold it either. False, and nothing changed: mwl__list_push. */
static inline bool mwl__list_claim(mwl_value *list, mwl_value *item) {
    mwl__list *l = (mwl__list *)list->as.p;
    if ((list->tag & (MWL_OWNED | 0xffu)) != (MWL_OWNED | MWL_KIND_ARRAY) || l->rc != 1 ||
        l->used != list->aux || l->used >= l->cap || !mwl__value_weigh_fast(item, l))
        return false;
    mwl__move_in(&l->item[l->used++], item);
    list->aux++;
    return true;
}
/* May v hold, at any depth, a version of this buffer (a list's or a map's)? Then it must not go
 * into the buffer in place: it would hold itself, and never be freed. Looks at `nodes` and some;
 * true when that is not enough. */
bool mwl__value_reaches(mwl_value v, const void *buffer, size_t nodes);

/* Deep equality charging about one fuel per node (fuel NULL: unlimited): MWL_OK or MWL_E_FUEL.
 * mwl__equal_fast answers at once (0, 1) when the top level decides, -1 when a walk is needed. */
mwl_status mwl__value_equal(mwl_value a, mwl_value b, uint64_t *fuel, bool *equal);
int mwl__equal_mixed(mwl_value a, mwl_value b); /* the rest of mwl__equal_fast */
static inline int mwl__equal_fast(mwl_value a, mwl_value b) {
    uint32_t k = mwl_value_kind(a);
    if (k == mwl_value_kind(b)) {
        if (k == MWL_KIND_STRING) return mwl__str_equal_fast(a, b);
        if (k == MWL_KIND_NUMBER) return a.as.d == b.as.d;
        if (k < MWL_KIND_TIMESTAMP)
            return a.as.i == b.as.i; /* absent .. duration: 64 bits decide */
    }
    return mwl__equal_mixed(a, b);
}

/* Order of two values of one ordered kind, numbers across kinds: sets *order to -1, 0, 1, or 2 for
 * unordered (NaN); false when the kinds do not compare. */
bool mwl__value_order(mwl_value a, mwl_value b, int *order);
int mwl__num_order(mwl_value a, mwl_value b); /* INT, UINT, NUMBER in any mix: -1, 0, 1, 2 (NaN) */

/* ---- JSON (json.c) --------------------------------------------------------------------------- */

/* Append v's text to out; fuel as above. MWL_E_NOT_JSON, MWL_E_NOMEM, MWL_E_FUEL. */
mwl_status mwl__json_write(mwl_value v, mwl_json_style style, mwl__buf *out, uint64_t *fuel);
void mwl__json_quote(mwl__buf *out, const char *text, size_t len); /* a JSON string literal */

/* The name of a value's type as type(v) answers it: "int", "google.protobuf.Timestamp"; lent. */
const char *mwl__type_name(mwl_value v);

#endif
