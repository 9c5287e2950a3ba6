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
 * MWL_HEAP: the payload points to a counted object. Values without this flag are scalars or
 * immortal (constants inside a loaded program). MWL_OWNED: this reference has a count of its own. A
 * value that is stored (in a container, a variable, a Result) has OWNED exactly when it has HEAP.
 * Registers of the machine may have HEAP without OWNED: they borrow from something that does not
 * change meanwhile. So keep and drop touch no memory for scalars, constants and borrowed
 * references.
 *
 * An array is a length and a buffer, which several versions share. The newest version (its length
 * equals `used`) may use the next free place. Objects work in the same way; a buffer never holds
 * the same key twice. Their keys are apart from their values (mwl__keys). If only one counted
 * reference to a buffer is left, there is only one version: what lies beyond its length is dropped
 * before it grows. Buffers of immortal containers are never written. Empty containers need no heap.
 */
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

/* What a container may contain at any depth. Most walks can be skipped because of these bits. They
 * are right for the newest version, and an upper bound for older ones. */
#define MWL__ODD_KIND                                                                              \
    1u /* something outside the data model: a CEL-only kind, a key that is not a string */
#define MWL__ODD_SELF 2u /* something that does not equal itself: NaN, a fault */

typedef struct mwl__list {
    uint32_t rc, used, cap; /* cap 0: immortal and empty */
    uint16_t depth;         /* 1 + the deepest element's; an upper bound for old versions */
    uint16_t odd;
    uint64_t weight; /* 1 + the elements' weights; an upper bound for old versions */
    mwl_value item[];
} mwl__list;

/* The keys of an object, in their order. Either a shape (shape.c), which many objects share and
 * which lives as long as its heap, or the keys of one buffer alone (`own`), which are behind its
 * values. An object of n members has the first n of them. */
typedef struct mwl__keys {
    uint32_t n_index; /* a power of two; 0: they are few and are scanned, as those of a shape. Else
                         uint32_t index[n_index] follows key[cap]; it holds positions + 1 */
    uint16_t reach;   /* no key is more than this many steps from its place in the index */
    uint8_t n;        /* the keys of a shape */
    bool own : 1;
    bool keyed : 1; /* the index uses hashes with the secret, not those stored in the keys */
    bool fixed : 1; /* a shape of the library, which is never written */
    struct mwl__keys *next; /* the shape that last followed this one, with one key more; or NULL */
    mwl_value key[]; /* STRING with its hash in aux, or INT, UINT, BOOL with a hash of the value in
                        aux. Read it with mwl__map_key, which clears that hash */
} mwl__keys;

typedef struct mwl__map {
    uint32_t rc, used, cap;
    uint16_t depth, odd;
    uint64_t weight;
    mwl__keys *keys;
    mwl_value val[];
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

/* The fault of an expression, until a handler gets it. The codes are those of failure.h. `where` is
 * the instruction that raised it and `sub` the part of its source: see mwl__program_where. */
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

/* Small objects come from size classes of 16 bytes. They are cut from chunks and kept on free
 * lists. With MWL_PLAIN_HEAP each object is a separate allocation. */
#define MWL__SMALL 512u
struct mwl_heap {
    mwl_alloc alloc;
    size_t used,
        limit; /* live bytes, in units of 16; the machine moves `limit` per run (SIZE_MAX: none) */
    uint64_t
        work; /* work that was done but not charged yet, in units of fuel; see mwl__heap_work */
    mwl_status why;  /* the reason of the last failure */
    uint64_t secret; /* for hashes of values; never 0 */
    void *free_list[MWL__SMALL / 16 + 1];
    struct mwl__chunk *chunks;
    char *bump, *bump_end;
    struct mwl__atoms *atoms;   /* member names (atoms.c); NULL before the first */
    struct mwl__shapes *shapes; /* keys that objects share (shape.c); NULL before the first */
    bool shares_names;          /* names of data are atoms too */
    mwl_value *literals;        /* of mwl__literal; NULL: they are not kept */
    struct mwl__made *made;     /* values made of literals alone; NULL: they are not kept */
    /* What is dead and not freed yet (mwl__heap_release), and the weight from which a container is
     * put there instead of being freed at once; UINT64_MAX: none is. */
    void *dead, *dead_blocks;
    uint64_t dead_weight, defers_from;
    /* Asked now and then by what takes long: true if it should be given up. NULL: never. */
    bool (*late)(void *ctx);
    void *late_ctx;
};
/* Elements of a long copy between two questions. */
#define MWL__COPY_BLOCK 16384u
/* Is it time to give up what takes long? Then sets `why`. */
static inline bool mwl__heap_ask_late(mwl_heap *h) {
    if (!h->late || !h->late(h->late_ctx)) return false;
    h->why = MWL_E_FUEL;
    return true;
}
/* The same for a copy that has come to this element. */
static inline bool mwl__heap_late(mwl_heap *h, uint32_t at) {
    return at % MWL__COPY_BLOCK == 0 && at != 0 && mwl__heap_ask_late(h);
}
/* To free millions of elements takes milliseconds, and so does the system to take back the pages of
 * a large block. Nothing should wait for that when a bound has elapsed. While a heap defers, large
 * containers and blocks are only marked as dead, and freed in steps. Their memory stays counted
 * until then. If memory runs out or the limit is reached, they are freed at once. */
#define MWL__LARGE 16384u            /* elements */
#define MWL__LARGE_BLOCK (1u << 20)  /* bytes */
#define MWL__RELEASE_STEP MWL__LARGE /* elements that are freed in one step, about 0.1 ms */
static inline bool mwl__heap_has_dead(const mwl_heap *h) { return h->dead || h->dead_blocks; }
/* Frees dead values of about so many elements; SIZE_MAX: all. */
void mwl__heap_release(mwl_heap *h, size_t elements);
/* Frees a dead block, or a part of it. Returns false if there is none. */
bool mwl__heap_release_block(mwl_heap *h, bool whole);
mwl_status mwl__heap_init(mwl_heap *h, const mwl_alloc *alloc); /* alloc NULL: the default */
void mwl__heap_done(mwl_heap *h);
/* From now on the texts of literals are kept (mwl__literal), and the names of data are shared
 * (mwl__key). A VM uses this, because the objects, envelopes and inputs of many runs have the same
 * few names. Returns MWL_OK or MWL_E_NOMEM. */
mwl_status mwl__heap_share(mwl_heap *h);
#define MWL__LITERALS 64u
/* A value that was made of literals alone, so that the next use of the same ones need not make it
 * again; failure.c does so. Found by the addresses of the texts; their content decides. */
typedef struct mwl__made {
    const char *code, *message; /* compared only, never followed */
    mwl_value value;            /* absent: none */
} mwl__made;
#define MWL__MADE 16u
static inline mwl__made *mwl__made_at(const mwl_heap *h, const char *code) {
    return h->made ? &h->made[(uint32_t)((uintptr_t)code * 0x9E3779B1u) >> 28] : NULL;
}
#define MWL__LITERAL_LENGTH 40u                      /* bytes; longer ones are rare */
void *mwl__heap_take_more(mwl_heap *h, size_t size); /* the slow part of mwl__heap_take */
void mwl__heap_give_back(mwl_heap *h, void *p, size_t size);
/* Resizes a block. On failure returns NULL, sets `why` and leaves the block unchanged. */
void *mwl__heap_resize(mwl_heap *h, void *p, size_t old_size, size_t new_size);

/* An allocator whose memory counts against the heap's limit: for what is made on behalf of a run
 * and is not a value (texts, tables, compiled patterns). A failure sets `why`. */
mwl_alloc mwl__heap_account(mwl_heap *h);

/* Records that n elements were copied where the caller could not expect it: the list or map was not
 * the newest version of its buffer. mwl__exec_settle charges the recorded `work`. */
static inline void mwl__heap_work(mwl_heap *h, size_t n) { h->work += n / 4; }

/* Allocates a block, which is not zeroed. On failure returns NULL and sets `why` (MWL_E_NOMEM, or
 * MWL_E_TOO_BIG for the limit). */
static inline void *mwl__heap_take(mwl_heap *h, size_t size) {
    if (!MWL_PLAIN_HEAP && size <= MWL__SMALL) {
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
    if (!MWL_PLAIN_HEAP && size <= MWL__SMALL) {
        size_t units = (size + 15u) >> 4;
        *(void **)p = h->free_list[units];
        h->free_list[units] = p;
        h->used -= units * 16u;
        return;
    }
    mwl__heap_give_back(h, p, size);
}
/* Returns a block of so many units of 16 bytes, at most MWL__SMALL / 16, if one is free and the
 * limit allows it. NULL, also for 0 units: mwl__heap_take_more decides. */
static inline void *mwl__heap_take_free(mwl_heap *h, uint32_t units) {
    void *p = h->free_list[units];
    if (!p || h->used + (size_t)units * 16 > h->limit) return NULL;
    h->free_list[units] = *(void **)p;
    h->used += (size_t)units * 16;
    return p;
}
static inline void mwl__heap_give_units(mwl_heap *h, void *p, uint32_t units) {
    if (MWL_PLAIN_HEAP) {
        mwl__heap_give_back(h, p, (size_t)units * 16);
        return;
    }
    *(void **)p = h->free_list[units];
    h->free_list[units] = p;
    h->used -= (size_t)units * 16;
}
static inline mwl_value mwl__heap_fail(mwl_heap *h, mwl_status why) {
    h->why = why;
    return mwl_absent();
}

/* ---- counting -------------------------------------------------------------------------------- */

void mwl__destroy(mwl_heap *h,
                  mwl_value v); /* frees a value whose count is zero; does not recurse */

/* Both read and write a value as two words. If its tag alone is written and it is then read as a
 * whole, the processor waits. On machines of the other byte order the tag is in the other half of
 * the first word. */
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MWL__IN_WORDS 1
#else
#define MWL__IN_WORDS 0
#endif
static inline mwl_value mwl__of_words(uint64_t head, uint64_t body) {
    mwl_value v;
#if MWL__IN_WORDS
    __asm__("" : "+r"(head)); /* so that the compiler does not take it apart again */
#endif
    memcpy(&v, &head, 8);
    memcpy((char *)&v + 8, &body, 8);
    return v;
}
/* Returns a counted reference to v. v may be counted or borrowed. */
static inline mwl_value mwl__keep(mwl_value v) {
    if (!MWL__IN_WORDS) {
        if (v.tag & MWL_HEAP) {
            ++*(uint32_t *)v.as.p;
            v.tag |= MWL_OWNED;
        }
        return v;
    }
    uint64_t head, body;
    memcpy(&head, &v, 8);
    memcpy(&body, (const char *)&v + 8, 8);
    if (head & MWL_HEAP) {
        ++*(uint32_t *)v.as.p;
        head |= MWL_OWNED;
    }
    return mwl__of_words(head, body);
}
/* Returns the reference without its count. It is valid while something else holds the value. */
static inline mwl_value mwl__borrow(mwl_value v) {
    if (!MWL__IN_WORDS) {
        v.tag &= ~MWL_OWNED;
        return v;
    }
    uint64_t head, body;
    memcpy(&head, &v, 8);
    memcpy(&body, (const char *)&v + 8, 8);
    return mwl__of_words(head & ~(uint64_t)MWL_OWNED, body);
}
/* *to := *from, copied as two words. If a value was just written in two halves and is then read as
 * a whole, the processor waits; this avoids it. _lent borrows, _owned counts. The empty asm
 * statements keep the compiler from joining the two. They are two, because clang 14 with coverage
 * for fuzzing put both operands of one into the same register. */
#if defined(__GNUC__)
#define MWL__APART(a, b)                                                                           \
    do {                                                                                           \
        __asm__("" : "+r"(a));                                                                     \
        __asm__("" : "+r"(b));                                                                     \
    } while (0)
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
/* *to := a reference with this tag, count and object, written as the same two words. */
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
/* The caller must have counted the reference. */
static inline void mwl__move_owned(mwl_value *to, const mwl_value *from) {
    mwl__move_flag(to, from, true);
}
/* *to := the value of a register, counted. The register becomes null. */
static inline void mwl__move_in(mwl_value *to, mwl_value *reg) {
    if ((reg->tag & (MWL_HEAP | MWL_OWNED)) == MWL_HEAP) {
        ++*(uint32_t *)reg->as.p;
        mwl__move_owned(to, reg);
    } else {
        mwl__move(to, reg);
    }
    reg->tag = MWL_KIND_NULL;
}
/* Returns v as a counted reference: v itself if it is counted, otherwise a new reference. */
static inline mwl_value mwl__own(mwl_value v) {
    if ((v.tag & (MWL_HEAP | MWL_OWNED)) == MWL_HEAP) {
        ++*(uint32_t *)v.as.p;
        v.tag |= MWL_OWNED;
    }
    return v;
}
static inline void mwl__drop(mwl_heap *h, mwl_value v) {
    if ((v.tag & MWL_OWNED) && --*(uint32_t *)v.as.p == 0) mwl__destroy(h, v);
}
/* The same as mwl__move_in where another value was, which is dropped. */
static inline void mwl__replace_in(mwl_heap *h, mwl_value *place, mwl_value *reg) {
    mwl_value old = *place; /* the register may borrow from it */
    mwl__move_in(place, reg);
    mwl__drop(h, old);
}
/* Put a value where another was, which is dropped. */
static inline void mwl__replace(mwl_heap *h, mwl_value *place, mwl_value take) {
    mwl_value old = *place;
    *place = take;
    mwl__drop(h, old);
}

/* ---- strings (str.c) ------------------------------------------------------------------------- */

/* A string of len bytes without content. Fill s, then seal it; this counts code points, computes
 * the hash and adds the NUL. */
mwl__str *mwl__str_alloc(mwl_heap *h, size_t len);
mwl_value mwl__str_seal(mwl__str *s); /* bytes must be valid UTF-8 */
mwl_value mwl__str_seal_counted(mwl__str *s,
                                uint32_t n_cp); /* the number of code points is known */
mwl_value mwl__bytes_seal(mwl__str *s);
/* Names (atoms.c): the heap's own string for a name, immortal until the heap is freed. NULL: the
 * name is too long, the bound of the heap is reached, or out of memory. data: of data, not of a
 * program. */
#define MWL__ATOMS 4096u
#define MWL__ATOM_LENGTH 40u
const mwl__str *mwl__atom(mwl_heap *h, const char *text, size_t len, uint32_t hash, bool data);
void mwl__atoms_free(mwl_heap *h);
mwl_value mwl__key(mwl_heap *h, const char *text,
                   size_t len); /* a member name, valid UTF-8; shared if the heap shares names */
/* The same from a text that is usually a literal of the caller. Returns absent when mwl_string
 * would. */
mwl_value mwl__key_literal(mwl_heap *h, const char *text, size_t len);
/* A string from a C text that is usually a literal of the caller: codes, types, messages. Returns
 * absent when mwl_string would. */
mwl_value mwl__literal(mwl_heap *h, const char *text);
mwl_value mwl__str_new(mwl_heap *h, const char *text,
                       size_t len); /* text known to be valid UTF-8 */
mwl_value mwl__str_new_hashed(mwl_heap *h, const char *text, size_t len, uint32_t hash);
/* The same if the number of code points is known too. */
mwl_value mwl__str_new_known(mwl_heap *h, const char *text, size_t len, size_t n_cp, uint32_t hash);
mwl_value mwl__str_concat(mwl_heap *h, mwl_value a,
                          mwl_value b); /* lent; both strings or both bytes */
mwl_value mwl__type_new(mwl_heap *h, const char *name, size_t len);
/* The hash that a string carries and a program file stores: the same in every process, so anyone
 * can make texts that share it. Not for tables: those use hash.h. */
uint32_t mwl__str_hash(const char *text, size_t len);
/* XXH3-64, for checksums. With seed 0, its low half is mwl__str_hash. Only str.c contains it,
 * because xxHash is large when it is inlined. */
uint64_t mwl__str_hash64(const void *data, size_t len, uint64_t seed);
int mwl__str_compare(mwl_value a,
                     mwl_value b); /* by code point, which for UTF-8 is by byte: -1, 0, 1 */
int mwl__str_compare_utf16(mwl_value a, mwl_value b); /* RFC 8785's member order */
/* Like memcmp, without a call for lengths that are common for keys. */
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
/* Compares two strings with the same hash and n bytes each, at most 16. For a short string the last
 * eight bytes include the end of the header (code points and hash), which is equal if the texts are
 * equal. */
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
/* Compares two strings with the same hash. */
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

/* The same, but returns -1 if so many bytes must be compared that this must be charged. */
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
/* Bytes of a buffer; own: with keys of its own. */
size_t mwl__map_size(size_t cap, bool own);
mwl_value mwl__list_new(mwl_heap *h, size_t cap);
/* Returns the units of a buffer for n elements; 0: it is not a small one, or beyond the limit. */
static inline uint32_t mwl__list_units(uint32_t n) {
    const uint32_t most = (MWL__SMALL - sizeof(mwl__list)) / sizeof(mwl_value);
    return n <= most && n <= MWL_COUNT_LIMIT ? (uint32_t)((sizeof(mwl__list) + 15u) / 16u) + n : 0;
}
mwl_value mwl__list_push(mwl_heap *h, mwl_value take_list, mwl_value take_item);
mwl_value mwl__list_concat(mwl_heap *h, mwl_value a,
                           mwl_value b); /* lent; O(len b) when a is newest */
/* For builders that own the newest version of a buffer with room for one more element. At a limit
 * it returns false, sets `why` and takes nothing over. */
bool mwl__list_add(mwl_heap *h, mwl_value *list, mwl_value take_item);
/* For builders that own the only version of a list: appends n items, all counted. Returns absent,
 * with `why`, at a limit or if out of memory; list and items are dropped then. */
mwl_value mwl__list_extend(mwl_heap *h, mwl_value take_list, const mwl_value *take_items, size_t n);
/* Returns the same list in a buffer without free places, if memory for one can be had. */
mwl_value mwl__list_fit(mwl_heap *h, mwl_value take_list);

mwl_value mwl__map_new(mwl_heap *h, size_t cap);
/* A new map of n members with keys of its own: string constants, which are distinct, by their
 * numbers. Takes over the values, which become null. Returns absent, with `why`, at a limit or if
 * out of memory. */
mwl_value mwl__map_of_keys(mwl_heap *h, const mwl_value *consts, const uint32_t *keys,
                           mwl_value *vals, uint32_t n);
/* Returns the units of a buffer for n members whose keys are a shape. */
static inline uint32_t mwl__map_units(uint32_t n) {
    return (uint32_t)((sizeof(mwl__map) + 15u) / 16u) + n;
}
_Static_assert((sizeof(mwl__map) + 15u) / 16u + MWL_INDEX_FROM <= MWL__SMALL / 16u,
               "an object with a shape is a small block");
/* A buffer of n members with these keys. The caller fills it and sets used, weight, depth and odd.
 * Returns NULL and sets `why` if out of memory. */
static inline mwl__map *mwl__map_bare(mwl_heap *h, const mwl__keys *shape, uint32_t n) {
    mwl__map *m = mwl__heap_take(h, sizeof *m + n * sizeof *m->val);
    if (!m) return NULL;
    m->rc = 1;
    m->cap = n;
    m->keys = (mwl__keys *)(uintptr_t)shape;
    return m;
}
/* The same with keys of its own, in keys->key, which the caller fills before the values: strings,
 * all counted. Then mwl__map_index makes them ready; the first `distinct` are known to be so. It
 * returns false if one of the others comes again. */
mwl__map *mwl__map_own(mwl_heap *h, size_t n);
bool mwl__map_index(mwl__map *m, uint32_t distinct, uint32_t n);
/* Puts a member into *map, which becomes absent, with `why`, if that fails. Takes over map, key and
 * value; the three are passed by address, because values in registers are taken apart. */
void mwl__map_add(mwl_heap *h, mwl_value *map, const mwl_value *take_key,
                  const mwl_value *take_val);
static inline mwl_value mwl__map_put(mwl_heap *h, mwl_value take_map, mwl_value take_key,
                                     mwl_value take_val) {
    mwl__map_add(h, &take_map, &take_key, &take_val);
    return take_map;
}
/* Is there no room behind the last member? Then no later version grows in its buffer, and the map
 * can be kept beyond the run that made it without keeping what a run adds. */
static inline bool mwl__map_is_full(mwl_value map) { return mwl__as_map(map)->cap == map.aux; }
/* Returns a pointer to the member's value, or NULL. The string form needs a STRING key (hash in
 * aux). */
const mwl_value *mwl__map_get(mwl_value map, mwl_value str_key);
const mwl_value *mwl__map_find(mwl_value map, mwl_value any_key); /* numeric keys across kinds */
/* Looks up key i of another map among the first n members of `map`. It is at the same place if both
 * were built in the same way. */
const mwl_value *mwl__map_same(const mwl__map *map, uint32_t n, const mwl__map *other, uint32_t i);
/* Returns the key of a member, lent, without the hash that non-string keys have in aux. */
static inline mwl_value mwl__map_key(const mwl__map *m, uint32_t i) {
    mwl_value k = mwl__borrow(m->keys->key[i]);
    if (mwl_value_kind(k) != MWL_KIND_STRING) k.aux = 0;
    return k;
}
/* A new map of n members, given as string keys and values in turn, all counted. like: its first n
 * keys are these; or NULL. If a key comes again, the later value replaces the earlier one. Returns
 * absent, with `why`, at a limit or if out of memory; the members are dropped then. */
mwl_value mwl__map_of(mwl_heap *h, const mwl__keys *like, const mwl_value *take_pairs, size_t n);
/* The same for a builder that owns the only version of a map: adds the members to it. distinct: it
 * is known that no key comes again. The map is dropped too if it returns absent. */
mwl_value mwl__map_extend(mwl_heap *h, mwl_value take_map, const mwl_value *take_pairs, size_t n,
                          bool distinct);

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
/* Subtracts a part of `weight`; `rest` other parts remain. The part may weigh more now than when it
 * was added, because a version inside it shares its buffer with newer versions. Returns false if
 * the others must be weighed again, which is exact; a large container is weighed again only if the
 * difference cannot be right. */
#define MWL__FEW 64u
static inline bool mwl__weight_less(uint64_t *weight, mwl_value part, uint32_t rest) {
    uint64_t w = mwl__value_weight(part);
    if (w > 1 && (rest <= MWL__FEW || *weight < w + rest + 1)) return false;
    *weight -= w;
    return true;
}
/* Returns the MWL__ODD bits that v adds to a container. */
uint16_t mwl__value_odd_slow(mwl_value v);
static inline uint16_t mwl__value_odd(mwl_value v) {
    uint32_t k = mwl_value_kind(v);
    if (k == MWL_KIND_STRING || k == MWL_KIND_BOOL || k == MWL_KIND_NULL) return 0;
    if (k == MWL_KIND_NUMBER && v.as.d - v.as.d == 0) return 0; /* finite */
    return mwl__value_odd_slow(v);
}
/* Returns how many bytes of the heap would come back if this reference to v were dropped. Counts
 * each shared part once, and takes time for what it counts only. */
size_t mwl__value_exclusive(mwl_heap *h, mwl_value v);
/* Adds v to the depth, odd and weight of a container. Returns MWL_E_DEPTH or MWL_E_TOO_BIG, and
 * changes nothing, if that would exceed a limit. */
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
/* The same for the most common kinds in a list. If it returns false it has changed nothing: use
 * mwl__value_weigh. */
static inline bool mwl__value_weigh_fast(const mwl_value *v, mwl__list *into) {
    uint32_t kind = mwl_value_kind(*v);
    if (kind == MWL_KIND_NUMBER ? v->as.d - v->as.d == 0 : kind == MWL_KIND_STRING) {
        if (into->weight >= MWL_WEIGHT_LIMIT) return false;
        into->weight++;
        return true;
    }
    if (kind != MWL_KIND_OBJECT && kind != MWL_KIND_ARRAY) return false;
    const mwl__list *c = (const mwl__list *)v->as.p; /* a map has these fields at the same place */
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
/* Appends the value of a register to the list in another register, if that list has one reference
 * and room. The item's register becomes null. With one reference, nothing else holds the buffer, so
 * the item cannot contain it either. If it returns false it has changed nothing: use
 * mwl__list_push. */
static inline bool mwl__list_claim(mwl_value *list, mwl_value *item) {
    mwl__list *l = (mwl__list *)list->as.p;
    if ((list->tag & (MWL_OWNED | 0xffu)) != (MWL_OWNED | MWL_KIND_ARRAY) || l->rc != 1 ||
        l->used != list->aux || l->used >= l->cap || !mwl__value_weigh_fast(item, l))
        return false;
    mwl__move_in(&l->item[l->used++], item);
    list->aux++;
    return true;
}
/* Returns whether v may contain, at any depth, a version of this buffer (of a list or a map). Then
 * v must not be added to the buffer in place: the buffer would contain itself and would never be
 * freed. Looks at about `nodes` nodes; returns true if that is not enough. */
bool mwl__value_reaches(mwl_heap *h, mwl_value v, const void *buffer, size_t nodes);

/* Hashes v under a secret: equal values have the same hash (value_hash.c). Charges one fuel per
 * node and per 8 bytes of text (fuel NULL: unlimited). Returns MWL_OK, or MWL_E_FUEL with *fuel 0.
 */
mwl_status mwl__value_hash(uint64_t secret, mwl_value v, uint64_t *fuel, uint64_t *hash);

/* Deep equality, which charges about one unit of fuel per node (fuel NULL: no limit). Returns
 * MWL_OK or MWL_E_FUEL. mwl__equal_fast returns 0 or 1 if the top level decides, and -1 if a walk
 * is needed. */
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

/* Compares two values of one ordered kind, or two numbers of any kinds: sets *order to -1, 0, 1, or
 * 2 for unordered (NaN). Returns false if the kinds cannot be compared. */
bool mwl__value_order(mwl_value a, mwl_value b, int *order);
int mwl__num_order(mwl_value a, mwl_value b); /* INT, UINT, NUMBER in any mix: -1, 0, 1, 2 (NaN) */

/* ---- JSON (json.c) --------------------------------------------------------------------------- */

/* mwl_json_read() of a source, or mwl_json_parse() of a text if the source is NULL. Sets *differs
 * if the text may contain what the value does not keep: a member name twice, or an integer that is
 * too large for a double to be exact. */
mwl_status mwl__json_read(mwl_heap *heap, mwl_json_source *source, void *ctx, const char *text,
                          size_t len, mwl_value *out, mwl_error *error, bool *differs);
/* What was read before, from a text that the next one probably resembles. All zero: nothing. */
typedef struct mwl__json_before {
    mwl_value value; /* owned: drop it at the end */
    bool differs;    /* as in mwl__json_read */
} mwl__json_before;
/* mwl_json_parse() of one of many texts with mostly the same member names in the same order, as the
 * lines of a file: such names are not looked up again. The values share nothing else, so that what
 * happens to one of them costs the same as if it had been read alone. */
mwl_status mwl__json_read_next(mwl_heap *heap, const char *text, size_t len,
                               mwl__json_before *before, mwl_value *out, mwl_error *error);
/* Appends the JSON text of v to out; fuel as above. Returns MWL_OK, MWL_E_NOT_JSON, MWL_E_NOMEM or
 * MWL_E_FUEL. */
mwl_status mwl__json_write(mwl_value v, mwl_json_style style, mwl__buf *out, uint64_t *fuel);
void mwl__json_quote(mwl__buf *out, const char *text, size_t len); /* a JSON string literal */
/* The inside of one, of any bytes: what is not UTF-8 becomes U+FFFD. */
void mwl__json_escape(mwl__buf *out, const char *text, size_t len);

/* Returns the name of a value's type as type(v) shows it: "int", "google.protobuf.Timestamp".
 * Lent. */
const char *mwl__type_name(mwl_value v);

#endif
