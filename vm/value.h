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
 * MWL_HEAP: there is a counted object behind the payload. Values without it are scalars or immortal:
 * constants inside a loaded program. MWL_OWNED: this very reference carries a count. Everything
 * stored (in a container, a variable, a Result) has OWNED exactly when it has HEAP; registers of
 * the machine may hold HEAP without OWNED: borrowed from something that holds still. So keep and drop
 * never touch memory for scalars, constants and borrowed references.
 *
 * An array is a length over a buffer that versions share: the newest version (its length equals
 * `used`) may claim the next free place. Objects the same; a buffer never holds one key twice. */
#ifndef MWL_VALUE_H
#define MWL_VALUE_H

#include "mem.h"
#include "mwl.h"
#include "mwl_config.h"

#define MWL_HEAP 0x100u
#define MWL_OWNED 0x200u
#define MWL_KINDS(v) ((v).tag & 0xffu)

typedef struct mwl__str {
    uint32_t rc;
    uint32_t len;  /* bytes */
    uint32_t n_cp; /* code points; equal to len exactly when the text is ASCII */
    uint32_t hash; /* low 32 bits of XXH3-64 of the bytes */
    char s[];      /* len bytes and a NUL */
} mwl__str;

typedef struct mwl__list {
    uint32_t rc, used, cap, depth; /* depth: 1 + the deepest element's; an upper bound for old versions */
    uint64_t weight;               /* 1 + the elements' weights, saturating; the same */
    mwl_value item[];
} mwl__list;

typedef struct mwl__member {
    mwl_value key; /* STRING with its hash in aux, or INT, UINT, BOOL with a hash of the value there */
    mwl_value val;
} mwl__member;

typedef struct mwl__map {
    uint32_t rc, used, cap, depth;
    uint64_t weight;
    uint32_t n_index;  /* power of two, or 0: no index yet. uint32_t index[n_index] follows member[cap] */
    uint32_t all_text; /* 1 when every key is a string: the value can be a JSON object */
    mwl__member member[];
} mwl__map;

typedef struct mwl__box {
    uint32_t rc, depth;
    uint64_t weight;
    mwl_value v;
} mwl__box;

typedef struct mwl__ext {
    uint32_t rc, len;
    mwl_value type; /* TYPE */
    unsigned char data[];
} mwl__ext;

/* An expression's fault on its way to a handler. Codes are those of failure.h; where is the position
 * id of the instruction that raised it. */
typedef struct mwl__fault {
    uint32_t rc, code;
    uint32_t where, reserved;
    mwl_value message; /* STRING */
    mwl_value details; /* OBJECT or NULL */
} mwl__fault;

static inline mwl__str *mwl__as_str(mwl_value v) { return (mwl__str *)v.as.p; }
static inline mwl__list *mwl__as_list(mwl_value v) { return (mwl__list *)v.as.p; }
static inline mwl__map *mwl__as_map(mwl_value v) { return (mwl__map *)v.as.p; }
static inline mwl__box *mwl__as_box(mwl_value v) { return (mwl__box *)v.as.p; }
static inline mwl__ext *mwl__as_ext(mwl_value v) { return (mwl__ext *)v.as.p; }
static inline mwl__fault *mwl__as_fault(mwl_value v) { return (mwl__fault *)v.as.p; }

/* ---- heap ------------------------------------------------------------------------------------------ */

/* Small objects come from size classes of 16 bytes, carved out of chunks and kept on free lists; in
 * sanitizer and stress builds (MWL_PLAIN_HEAP) each object is an allocation of its own. */
#define MWL__SMALL 512u
struct mwl_heap {
    mwl_alloc alloc;
    size_t used, limit;  /* live bytes; the machine moves `limit` per run (SIZE_MAX: none) */
    mwl_status why;      /* of the last failure */
    void *doomed;        /* objects waiting to be destroyed: no recursion */
    void *free_list[MWL__SMALL / 16 + 1];
    struct mwl__chunk *chunks;
    char *bump, *bump_end;
};
mwl_status mwl__heap_init(mwl_heap *h, const mwl_alloc *alloc); /* alloc NULL: the default */
void mwl__heap_done(mwl_heap *h);
void *mwl__heap_take(mwl_heap *h, size_t size); /* NULL and `why` set on failure; not zeroed */
void mwl__heap_give(mwl_heap *h, void *p, size_t size);
static inline mwl_value mwl__heap_fail(mwl_heap *h, mwl_status why) {
    h->why = why;
    return mwl_absent();
}

/* ---- counting ------------------------------------------------------------------------------------- */

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
/* v as a counted reference: moved if it carries a count already, kept otherwise. */
static inline mwl_value mwl__own(mwl_value v) { return (v.tag & MWL_OWNED) ? v : mwl__keep(v); }
static inline void mwl__drop(mwl_heap *h, mwl_value v) {
    if ((v.tag & MWL_OWNED) && --*(uint32_t *)v.as.p == 0) mwl__destroy(h, v);
}

/* ---- strings (str.c) -------------------------------------------------------------------------------- */

/* Uninitialised string of len bytes; fill s, then seal (counts code points, hashes, terminates). */
mwl__str *mwl__str_alloc(mwl_heap *h, size_t len);
mwl_value mwl__str_seal(mwl__str *s);       /* bytes must be valid UTF-8 */
mwl_value mwl__bytes_seal(mwl__str *s);
mwl_value mwl__str_new(mwl_heap *h, const char *text, size_t len); /* text known to be valid UTF-8 */
mwl_value mwl__str_concat(mwl_heap *h, mwl_value a, mwl_value b);  /* lent; both strings or both bytes */
mwl_value mwl__type_new(mwl_heap *h, const char *name, size_t len);
uint32_t mwl__str_hash(const char *text, size_t len);
int mwl__str_compare(mwl_value a, mwl_value b); /* by code point, which for UTF-8 is by byte: -1, 0, 1 */
int mwl__str_compare_utf16(mwl_value a, mwl_value b); /* RFC 8785's member order */
static inline bool mwl__str_same(mwl_value a, mwl_value b) { /* both STRING (or both BYTES, TYPE) */
    if (a.as.p == b.as.p) return true;
    if (a.aux != b.aux) return false;
    const mwl__str *x = mwl__as_str(a), *y = mwl__as_str(b);
    return x->len == y->len && memcmp(x->s, y->s, x->len) == 0;
}

/* ---- arrays (list.c) and objects (map.c) ------------------------------------------------------------ */

mwl_value mwl__list_new(mwl_heap *h, size_t cap);
mwl_value mwl__list_push(mwl_heap *h, mwl_value take_list, mwl_value take_item);
mwl_value mwl__list_concat(mwl_heap *h, mwl_value a, mwl_value b); /* lent; O(len b) when a is newest */

mwl_value mwl__map_new(mwl_heap *h, size_t cap);
mwl_value mwl__map_put(mwl_heap *h, mwl_value take_map, mwl_value take_key, mwl_value take_val);
/* Pointer to the member's value or NULL. The string form expects a STRING key (hash in aux). */
const mwl_value *mwl__map_get(mwl_value map, mwl_value str_key);
const mwl_value *mwl__map_find(mwl_value map, mwl_value any_key); /* numeric keys across kinds */
mwl_value mwl__map_without(mwl_heap *h, mwl_value map, mwl_value str_key); /* lent; given: a copy less one */

mwl_value mwl__some(mwl_heap *h, mwl_value take); /* optional.of */
mwl_value mwl__none(void);
mwl_value mwl__ext_new(mwl_heap *h, mwl_value take_type, const void *data, size_t len);

/* ---- whole values (value.c) --------------------------------------------------------------------------- */

uint32_t mwl__value_depth(mwl_value v);  /* 0 for scalars and strings */
uint64_t mwl__value_weight(mwl_value v); /* 1 for scalars and strings */
bool mwl__value_is_json(mwl_value v);    /* in the data model: no CEL-only kind, finite, text keys */

/* Deep equality charging about one fuel per node (fuel NULL: unlimited): MWL_OK or MWL_E_FUEL.
 * mwl__equal_fast answers at once when the top level decides, -1 when a walk is needed. */
mwl_status mwl__value_equal(mwl_value a, mwl_value b, uint64_t *fuel, bool *equal);

/* Order of two values of one ordered kind, numbers across kinds: sets *order to -1, 0, 1, or 2 for
 * unordered (NaN); false when the kinds do not compare. */
bool mwl__value_order(mwl_value a, mwl_value b, int *order);
int mwl__num_order(mwl_value a, mwl_value b); /* INT, UINT, NUMBER in any mix: -1, 0, 1, 2 (NaN) */

/* ---- JSON (json.c) ------------------------------------------------------------------------------------- */

/* Append v's text to out; fuel as above. MWL_E_NOT_JSON, MWL_E_NOMEM, MWL_E_FUEL. */
mwl_status mwl__json_write(mwl_value v, mwl_json_style style, mwl__buf *out, uint64_t *fuel);
void mwl__json_quote(mwl__buf *out, const char *text, size_t len); /* a JSON string literal */

#endif
