/* map.c: objects and CEL maps: members in their order over a buffer that versions share.
 *
 * Owns: key equality, keys of a buffer's own with their index, claiming the tail, replacement.
 * Refuses to know: text forms; which shapes there are (shape.c).
 * Invariants: the first `used` keys of a buffer are distinct. A version with length n sees the
 * members before n. A shape has at least `used` keys, and may have more; the place behind the last
 * member is free if there is a shape with the new key at its end. Keys of a buffer's own are as
 * many as its members, with as much room; with an index (n_index > 0, exactly when cap is at least
 * MWL_INDEX_FROM) every one of them is in it. Readers never write, so an immortal map may be read
 * from any thread.
 *
 * The index is linear probing over 32-bit hashes, at most half full; `reach` bounds every search.
 * An attacker can choose keys with equal hashes: the hashes are stored in program images, so they
 * have no secret. Therefore an insertion that takes FLOODED steps rebuilds the index with hashes
 * that use the secret of the process (hash.h); an attacker cannot choose keys that collide with
 * those. From then on this buffer and its copies hash every key again when they look it up. Before
 * that no search takes more steps, so a hostile object costs a constant factor and not quadratic
 * time. */
#include "vm/value/shape.h"
#include "vm/base/hash.h"

#include <stdarg.h>

#define FLOODED                                                                                    \
    128u /* with a good hash and half load, no search takes this many steps, at any size that fits \
            in memory */
#define MAP_LIMIT (1ull << 30) /* the index is twice as long and must count in 32 bits */

/* Not inlined into the functions that every lookup calls. */
#define APART __attribute__((noinline))

static const mwl__keys no_keys = {.fixed = true};
static const mwl__map empty_map = {
    .depth = 1, .weight = 1, .keys = (mwl__keys *)(uintptr_t)&no_keys};

static uint32_t index_length(size_t cap) {
    if (cap < MWL_INDEX_FROM) return 0;
    uint32_t n = 16;
    while (n < cap * 2) n *= 2;
    return n;
}

size_t mwl__map_size(size_t cap, bool own) {
    size_t size = sizeof(mwl__map) + cap * sizeof(mwl_value);
    if (!own) return size;
    return size + sizeof(mwl__keys) + cap * sizeof(mwl_value) +
           index_length(cap) * sizeof(uint32_t);
}

/* Where the keys of a buffer's own are. */
static mwl__keys *own_keys(mwl__map *m) { return (mwl__keys *)(void *)(m->val + m->cap); }

static uint32_t *index_of(const mwl__map *m) {
    return (uint32_t *)(uintptr_t)(m->keys->key + m->cap);
}

static mwl_value map_value(mwl__map *m, uint32_t n) {
    mwl_value v;
    v.tag = MWL_KIND_OBJECT | MWL_HEAP | MWL_OWNED;
    v.aux = n;
    v.as.p = m;
    return v;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static uint32_t mixed(uint64_t u) {
    u ^= u >> 32;
    u *= 0xD6E8FEB86659FD93u;
    return (uint32_t)(u >> 32);
}

/* as_key() of what is not a string. */
static APART mwl_value other_key(mwl_value k) {
    switch (mwl_value_kind(k)) {
    case MWL_KIND_BOOL: k.aux = mixed(0x5bd1e995u + k.as.u); return k;
    case MWL_KIND_UINT:
    case MWL_KIND_INT: k.aux = mixed(k.as.u); return k;
    case MWL_KIND_NUMBER: {
        double d = k.as.d;
        if (d >= -9223372036854775808.0 && d < 9223372036854775808.0 && (double)(int64_t)d == d)
            return other_key(mwl_int((int64_t)d));
        if (d >= 9223372036854775808.0 && d < 18446744073709551616.0)
            return other_key(mwl_uint((uint64_t)d)); /* every double this large is an integer */
        return mwl_absent();
    }
    default: return mwl_absent();
    }
}

/* Returns a key in the form in which members store it: its hash is in aux, and an int and a uint of
 * equal value have the same hash. Returns absent if the value cannot be a key (or, for a lookup,
 * cannot equal a key). */
static inline mwl_value as_key(mwl_value k) {
    return mwl_value_kind(k) == MWL_KIND_STRING ? k : other_key(k);
}

/* Are two keys with the same hash the same? They are not both strings. */
static APART bool same_hashed(const mwl_value *a, const mwl_value *b) {
    uint32_t x = mwl_value_kind(*a), y = mwl_value_kind(*b);
    if (x == MWL_KIND_STRING || y == MWL_KIND_STRING || a->as.u != b->as.u) return false;
    if (x == y) return true;
    if (x == MWL_KIND_BOOL || y == MWL_KIND_BOOL) return false;
    return a->as.i >=
           0; /* an int and a uint with the same bits: the same number unless the int is negative */
}

static inline bool same_key(const mwl_value *a, const mwl_value *b) { /* both from as_key */
    if (a->aux != b->aux) return false;
    if (mwl_value_kind(*a) != MWL_KIND_STRING || mwl_value_kind(*b) != MWL_KIND_STRING)
        return same_hashed(a, b);
    return a->as.p == b->as.p || mwl__str_same_text(a->as.p, b->as.p);
}

/* Return the hash that the index of a map under attack uses. */
static APART uint32_t text_hash(const char *s, size_t len) {
    return (uint32_t)mwl__hash_key(s, len);
}
static APART uint32_t secret_hash(mwl_value key) {
    if (mwl_value_kind(key) != MWL_KIND_STRING)
        return (uint32_t)mwl__hash_word(mwl__hash_secret(), key.as.u, 0);
    return text_hash(mwl__as_str(key)->s, mwl__as_str(key)->len);
}

/* Returns the hash that an index uses. */
static uint32_t index_hash(const mwl__keys *k, mwl_value key) {
    return k->keyed ? secret_hash(key) : key.aux;
}

/* ---- the index ------------------------------------------------------------------------------- */

/* Puts key `pos` into the index and returns the number of steps that this took. */
static uint32_t enter(mwl__map *m, uint32_t pos) {
    mwl__keys *k = m->keys;
    uint32_t *index = index_of(m), mask = k->n_index - 1, steps = 0;
    uint32_t at = index_hash(k, k->key[pos]) & mask;
    while (index[at]) {
        at = (at + 1) & mask;
        steps++;
    }
    index[at] = pos + 1;
    if (steps > k->reach) k->reach = steps < UINT16_MAX ? (uint16_t)steps : UINT16_MAX;
    return steps;
}

static uint32_t enter_all(mwl__map *m) {
    uint32_t worst = 0;
    m->keys->reach = 0;
    memset(index_of(m), 0, m->keys->n_index * sizeof(uint32_t));
    for (uint32_t i = 0; i < m->used; i++) {
        uint32_t steps = enter(m, i);
        if (steps > worst) worst = steps;
        if (worst > FLOODED && !m->keys->keyed) break;
    }
    return worst;
}

/* Builds the index, if there is one. */
static void build_index(mwl__map *m) {
    if (m->keys->n_index && enter_all(m) > FLOODED && !m->keys->keyed) {
        m->keys->keyed = true;
        (void)enter_all(m);
    }
}

/* Removes the newest key from the index. It was the last to enter, so it displaced no other. */
static void leave(mwl__map *m, uint32_t pos) {
    uint32_t *index = index_of(m), mask = m->keys->n_index - 1;
    uint32_t at = index_hash(m->keys, m->keys->key[pos]) & mask;
    while (index[at] != pos + 1) at = (at + 1) & mask;
    index[at] = 0;
}

static bool may_be_at(const mwl__keys *k, uint32_t steps) {
    return steps <= k->reach || k->reach == UINT16_MAX;
}

/* locate() with an index. */
static inline uint32_t probe(const mwl__map *m, uint32_t n, const mwl_value *key) {
    const mwl__keys *k = m->keys;
    const uint32_t *index = index_of(m);
    uint32_t mask = k->n_index - 1, at = index_hash(k, *key) & mask;
    for (uint32_t steps = 0; index[at] && may_be_at(k, steps); steps++, at = (at + 1) & mask) {
        uint32_t i = index[at] - 1;
        if (same_key(&k->key[i], key)) return i < n ? i : n;
    }
    return n;
}

/* Returns the position of a key (from as_key) among the first n members, or n. */
static inline uint32_t locate(const mwl__map *m, uint32_t n, const mwl_value *key) {
    if (m->keys->n_index) return probe(m, n, key);
    for (uint32_t i = 0; i < n; i++)
        if (same_key(&m->keys->key[i], key)) return i;
    return n;
}

/* The same, where it is not called as often. */
static APART uint32_t position_of(const mwl__map *m, uint32_t n, const mwl_value *key) {
    return locate(m, n, key);
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* An empty buffer; shape NULL: with keys of its own. */
static mwl__map *map_alloc(mwl_heap *h, const mwl__keys *shape, size_t cap) {
    if (cap > MAP_LIMIT || cap > MWL_COUNT_LIMIT) {
        h->why = MWL_E_TOO_BIG;
        return NULL;
    }
    mwl__map *m = mwl__heap_take(h, mwl__map_size(cap, !shape));
    if (!m) return NULL;
    m->rc = 1;
    m->used = 0;
    m->cap = (uint32_t)cap;
    m->depth = 1;
    m->odd = 0;
    m->weight = 1;
    m->keys = shape ? (mwl__keys *)(uintptr_t)shape : own_keys(m);
    if (shape) return m;
    *m->keys = (mwl__keys){.n_index = index_length(cap), .own = true};
    if (m->keys->n_index) memset(index_of(m), 0, m->keys->n_index * sizeof(uint32_t));
    return m;
}

mwl_value mwl__map_new(mwl_heap *h, size_t cap) {
    if (cap == 0) {
        mwl_value v;
        v.tag = MWL_KIND_OBJECT;
        v.aux = 0;
        v.as.p = (void *)(uintptr_t)&empty_map; /* immortal: never written */
        return v;
    }
    const bool few = cap < MWL_INDEX_FROM && h->shares_names;
    mwl__map *m = map_alloc(h, few ? &no_keys : NULL, cap);
    return m ? map_value(m, 0) : mwl_absent();
}

/* A few members and many are never in the same buffer, unless the caller expected many. */
static size_t grown(size_t n, size_t need) {
    size_t cap = n * 2 < 4 ? 4 : n * 2;
    if (cap >= MWL_INDEX_FROM && need < MWL_INDEX_FROM) cap = MWL_INDEX_FROM - 1;
    if (cap > MAP_LIMIT) cap = MAP_LIMIT;
    if (cap < need) cap = need;
    return cap > MAP_LIMIT || cap > MWL_COUNT_LIMIT ? 0 : cap;
}

static void weigh_again(mwl__map *m) {
    m->weight = 1;
    for (uint32_t i = 0; i < m->used; i++) m->weight += mwl__value_weight(m->val[i]);
    if (m->weight > MWL_WEIGHT_LIMIT) m->weight = MWL_WEIGHT_LIMIT;
}

/* A value of this depth was taken out: finds the depth again if it may have been the deepest one.
 * If the depth stayed, an object whose member is set again and again to something that contains the
 * object as it was would seem to grow without end. */
static void deepen_again(mwl_heap *h, mwl__map *m, uint32_t depth) {
    if (depth == 0 || depth + 1 < m->depth) return;
    uint32_t i = 0, deepest = 0;
    for (; i < m->used && deepest < depth; i++) {
        uint32_t below = mwl__value_depth(m->val[i]);
        if (below > deepest) deepest = below;
    }
    if (i >= MWL_INDEX_FROM) mwl__heap_work(h, i);
    m->depth = (uint16_t)(deepest + 1);
}

static void cut(mwl_heap *h, mwl__map *m, uint32_t n) {
    bool known = true;
    while (m->used > n) {
        const uint32_t last = m->used - 1;
        const mwl_value val = m->val[last];
        if (m->keys->n_index) leave(m, last);
        m->used--;
        known = known && mwl__weight_less(&m->weight, val, m->used);
        if (m->keys->own) mwl__drop(h, m->keys->key[last]);
        mwl__drop(h, val);
    }
    if (!known) weigh_again(m);
}

static APART bool weigh_rare(mwl_heap *h, mwl__map *m, mwl_value val) {
    mwl_status status = mwl__value_weigh(val, &m->depth, &m->odd, &m->weight);
    if (status < 0) h->why = status;
    return status == MWL_OK;
}

static inline bool weigh(mwl_heap *h, mwl__map *m, const mwl_value *val) {
    return mwl__value_weigh_fast(val, (mwl__list *)(void *)m) || weigh_rare(h, m, *val);
}

/* *to := *take, with a count of its own. */
static inline void take_in(mwl_value *to, const mwl_value *take) {
    if ((take->tag & (MWL_HEAP | MWL_OWNED)) == MWL_HEAP) {
        ++*(uint32_t *)take->as.p;
        mwl__move_owned(to, take);
    } else {
        mwl__move(to, take);
    }
}

/* A buffer's own key of the newest member. */
static APART void append_key(mwl__map *m, uint32_t pos, const mwl_value *take_key) {
    if (mwl_value_kind(*take_key) != MWL_KIND_STRING) m->odd |= MWL__ODD_KIND;
    take_in(&m->keys->key[pos], take_key);
    if (m->keys->n_index && enter(m, pos) > FLOODED && !m->keys->keyed) {
        m->keys->keyed = true;
        (void)enter_all(m);
    }
}

/* Adds a member to a buffer with a place for it. Of a shape this key is the next one already. */
static inline void append(mwl__map *m, const mwl_value *take_key, const mwl_value *take_val) {
    const uint32_t pos = m->used++;
    take_in(&m->val[pos], take_val);
    if (m->keys->own) append_key(m, pos, take_key);
}

static void copy_key(mwl__map *m, uint32_t i, const mwl_value *key) {
    if (mwl_value_kind(*key) != MWL_KIND_STRING) m->odd |= MWL__ODD_KIND;
    m->keys->key[i] = mwl__keep(*key);
}

/* Copies the first n members into a new buffer; shape NULL: with keys of its own. A few are not
 * charged: whether they are copied may depend on whether there is a shape, and so on what the heap
 * has seen before, which must not change what a run is charged. */
static mwl__map *copied(mwl_heap *h, const mwl__map *from, uint32_t n, const mwl__keys *shape,
                        size_t cap) {
    mwl__map *m = map_alloc(h, shape, cap);
    if (!m) return NULL;
    if (n >= MWL_INDEX_FROM) mwl__heap_work(h, 2 * (size_t)n);
    if (!shape) m->keys->keyed = from->keys->keyed;
    for (uint32_t i = 0; i < n; i++) {
        if (mwl__heap_late(h, i)) {
            mwl__drop(h, map_value(m, i));
            return NULL;
        }
        if (!shape) copy_key(m, i, &from->keys->key[i]);
        m->val[i] = mwl__keep(from->val[i]);
        (void)weigh(
            h, m, &from->val[i]); /* cannot fail: it is not more than what was within the limits */
        m->used++;
    }
    build_index(m);
    return m;
}

/* The shape of a map, or NULL: it has keys of its own. */
static const mwl__keys *shape_of(const mwl__map *m) { return m->keys->own ? NULL : m->keys; }

/* The same map in a new buffer. Takes the map over. Absent: out of memory. */
static mwl_value moved(mwl_heap *h, mwl_value take_map, const mwl__keys *shape, size_t cap) {
    mwl__map *copy = copied(h, mwl__as_map(take_map), take_map.aux, shape, cap);
    const uint32_t n = take_map.aux;
    mwl__drop(h, take_map);
    return copy ? map_value(copy, n) : mwl_absent();
}

/* Returns the map; in a new buffer if the value to be added may contain a version of its present
 * buffer. A few members are copied without a look, which would be charged. */
static APART mwl_value apart(mwl_heap *h, mwl_value take_map, mwl_value added) {
    const mwl__map *m = mwl__as_map(take_map);
    uint32_t n = take_map.aux;
    if (!(take_map.tag & MWL_HEAP) || m->used != n || ((take_map.tag & MWL_OWNED) && m->rc == 1))
        return take_map;
    if (n < MWL_INDEX_FROM)
        return moved(h, take_map, n + 1 < MWL_INDEX_FROM ? shape_of(m) : NULL, grown(n, n + 1));
    return mwl__value_reaches(h, added, m, 0) ? moved(h, take_map, shape_of(m), n) : take_map;
}

/* Widens the buffer of a map that is its only version. Returns NULL if out of memory. */
static mwl__map *widen(mwl_heap *h, mwl__map *m, size_t cap) {
    const bool own = m->keys->own;
    const uint32_t old_cap = m->cap;
    mwl__map *w = mwl__heap_resize(h, m, mwl__map_size(old_cap, own), mwl__map_size(cap, own));
    if (!w) return NULL;
    w->cap = (uint32_t)cap;
    if (!own) return w;
    w->keys = own_keys(w);
    memmove(w->keys, w->val + old_cap, sizeof *w->keys + w->used * sizeof *w->keys->key);
    w->keys->n_index = index_length(cap);
    build_index(w);
    return w;
}

/* The next key of a buffer's newest version with a shape: stays or becomes one that has it. */
static inline bool next_key(mwl_heap *h, mwl__map *m, uint32_t n, mwl_value key) {
    const mwl__keys *shape = mwl__shape_then(h, m->keys, n, key);
    if (shape) m->keys = (mwl__keys *)(uintptr_t)shape;
    return shape != NULL;
}

/* Is it the newest version of a buffer with a place for this key? */
static inline bool has_place(mwl_heap *h, const mwl_value *map, const mwl_value *key) {
    mwl__map *m = map->as.p;
    return (map->tag & MWL_HEAP) && m->used == map->aux && map->aux < m->cap &&
           (m->keys->own || next_key(h, m, map->aux, *key));
}

/* Returns the map as the newest version of a buffer with a place for this key. */
static APART mwl_value with_place(mwl_heap *h, mwl_value take_map, mwl_value key) {
    if (mwl_is_absent(take_map)) return take_map;
    mwl__map *m = mwl__as_map(take_map);
    uint32_t n = take_map.aux;
    if ((take_map.tag & MWL_HEAP) && m->used != n && m->rc == 1) cut(h, m, n);
    if (has_place(h, &take_map, &key)) return take_map;
    const bool own = m->keys->own, sole = (take_map.tag & MWL_OWNED) && m->rc == 1;
    const size_t cap = sole && n < m->cap ? m->cap : grown(n, (size_t)n + 1);
    if (cap == 0) {
        mwl__drop(h, take_map);
        return mwl__heap_fail(h, MWL_E_TOO_BIG);
    }
    const mwl__keys *shape = own ? NULL : mwl__shape_then(h, m->keys, n, key);
    if (sole && n == m->cap && own == !shape) {
        mwl__map *wider = widen(h, m, cap); /* it is the newest version, without room */
        if (!wider) {
            mwl__drop(h, take_map);
            return mwl_absent();
        }
        if (shape) wider->keys = (mwl__keys *)(uintptr_t)shape;
        return map_value(wider, n);
    }
    return moved(h, take_map, shape, cap);
}

/* ---- putting --------------------------------------------------------------------------------- */

/* Stores a value at its place. At a limit it returns false, sets `why` and takes nothing over. */
static APART bool fill(mwl_heap *h, mwl__map *m, mwl_value *place, mwl_value take_val) {
    mwl_value old = *place;
    *place = mwl_null(); /* weighs 1 */
    if (mwl__weight_less(&m->weight, old, m->used - 1))
        m->weight++;
    else
        weigh_again(m);
    m->weight--;
    uint16_t depth = m->depth;
    deepen_again(h, m, mwl__value_depth(old));
    if (!weigh(h, m, &take_val)) {
        *place = old;
        m->depth = depth;
        weigh_again(m);
        return false;
    }
    *place = mwl__own(take_val);
    mwl__drop(h, old);
    return true;
}

/* Replaces the value at `pos`; the key stays. Takes over the map and the value. */
static APART mwl_value replace(mwl_heap *h, mwl_value map, uint32_t pos, mwl_value val) {
    mwl__map *m = mwl__as_map(map);
    uint32_t n = map.aux;
    if ((map.tag & MWL_OWNED) && m->rc == 1) {
        if (m->used != n) cut(h, m, n);
    } else {
        map = moved(h, map, shape_of(m), n);
        if (mwl_is_absent(map)) {
            mwl__drop(h, val);
            return map;
        }
        m = mwl__as_map(map);
    }
    if (fill(h, m, &m->val[pos], val)) return map;
    mwl__drop(h, val);
    mwl__drop(h, map);
    return mwl_absent();
}

/* Something is absent, is not a key, or does not fit: `why` says so. */
static APART void refuse(mwl_heap *h, mwl_value *map, mwl_value take_key, mwl_value take_val) {
    mwl__drop(h, *map);
    mwl__drop(h, take_key);
    mwl__drop(h, take_val);
    *map = mwl_absent();
}

/* key: take_key in the form of as_key. */
static APART void put(mwl_heap *h, mwl_value *map, const mwl_value *key, const mwl_value *take_key,
                      const mwl_value *take_val) {
    const uint32_t n = map->aux, pos = locate(map->as.p, n, key);
    if (pos < n) {
        mwl__drop(h, *take_key);
        *map = replace(h, *map, pos, *take_val);
        return;
    }
    /* A key that is not a string sets `odd` for older versions of this buffer too. `odd` is only an
     * upper bound, so this costs them a walk later and has no other effect. */
    if (mwl_value_kind(*take_val) >= MWL_KIND_ARRAY) *map = apart(h, *map, *take_val);
    if (!mwl_is_absent(*map) && !has_place(h, map, key)) *map = with_place(h, *map, *key);
    if (mwl_is_absent(*map) || !weigh(h, map->as.p, take_val)) {
        refuse(h, map, *take_key, *take_val);
        return;
    }
    append(map->as.p, key, take_val);
    if (!(map->tag & MWL_OWNED)) *map = mwl__own(*map);
    map->aux = n + 1;
}

/* Something is absent, or the key is not a string. */
static APART void put_other(mwl_heap *h, mwl_value *map, mwl_value take_key, mwl_value take_val) {
    const mwl_value key = as_key(take_key);
    bool all = !mwl_is_absent(*map) && !mwl_is_absent(take_key) && !mwl_is_absent(take_val);
    if (all && (mwl_is_absent(key) || mwl_value_kind(take_key) == MWL_KIND_NUMBER)) {
        h->why = MWL_E_USAGE;
        all = false;
    }
    if (all)
        put(h, map, &key, &take_key, &take_val);
    else
        refuse(h, map, take_key, take_val);
}

void mwl__map_add(mwl_heap *h, mwl_value *map, const mwl_value *take_key,
                  const mwl_value *take_val) {
    if (mwl_value_kind(*take_key) != MWL_KIND_STRING || mwl_is_absent(*map) ||
        mwl_is_absent(*take_val))
        put_other(h, map, *take_key, *take_val);
    else
        put(h, map, take_key, take_key, take_val);
}

mwl_value mwl__map_extend(mwl_heap *h, mwl_value take_map, const mwl_value *take_pairs, size_t n,
                          bool distinct) {
    const mwl_value *pair = take_pairs, *end = take_pairs + 2 * n;
    for (; pair < end && !mwl_is_absent(take_map); pair += 2) {
        mwl__map *m = mwl__as_map(take_map);
        uint32_t used = m->used, pos = distinct ? used : position_of(m, used, &pair[0]);
        if (pos < used) {
            if (!fill(h, m, &m->val[pos], pair[1])) break;
            mwl__drop(h, pair[0]);
            continue;
        }
        if (!has_place(h, &take_map, &pair[0])) {
            take_map = with_place(h, take_map, pair[0]);
            if (mwl_is_absent(take_map)) break;
            m = mwl__as_map(take_map);
        }
        if (!weigh(h, m, &pair[1])) break;
        append(m, &pair[0], &pair[1]);
        take_map.aux++;
    }
    if (pair == end) return take_map;
    for (; pair < end; pair++) mwl__drop(h, *pair);
    mwl__drop(h, take_map);
    return mwl_absent();
}

mwl_value mwl__map_of_keys(mwl_heap *h, const mwl_value *consts, const uint32_t *keys,
                           mwl_value *vals, uint32_t n) {
    mwl__map *m = map_alloc(h, NULL, n);
    for (uint32_t i = 0; m && i < n; i++) {
        if (!weigh(h, m, &vals[i])) {
            mwl__drop(h, map_value(m, i));
            return mwl_absent();
        }
        append(m, &consts[keys[i]], &vals[i]);
        vals[i] = mwl_null();
    }
    return m ? map_value(m, n) : mwl_absent();
}

mwl__map *mwl__map_own(mwl_heap *h, size_t n) { return map_alloc(h, NULL, n); }

bool mwl__map_index(mwl__map *m, uint32_t distinct, uint32_t n) {
    mwl__keys *k = m->keys;
    for (uint32_t i = 0; i < n; i++) {
        if (i >= distinct && position_of(m, i, &k->key[i]) < i) return false;
        m->used = i + 1;
        if (k->n_index && enter(m, i) > FLOODED && !k->keyed) {
            k->keyed = true;
            (void)enter_all(m);
        }
    }
    return true;
}

mwl_value mwl__map_of(mwl_heap *h, const mwl__keys *like, const mwl_value *take_pairs, size_t n) {
    const mwl__keys *shape = like && !like->own ? like : mwl__shape(h, take_pairs, n, 2, true);
    mwl__map *m = n ? map_alloc(h, shape, n) : NULL;
    if (!m || !shape) {
        mwl_value empty = m ? map_value(m, 0) : n ? mwl_absent() : mwl__map_new(h, 0);
        return mwl__map_extend(h, empty, take_pairs, n, like != NULL);
    }
    const mwl_value *pair = take_pairs, *end = take_pairs + 2 * n;
    for (; pair < end && weigh(h, m, &pair[1]); pair += 2) append(m, &pair[0], &pair[1]);
    if (pair == end) return map_value(m, (uint32_t)n);
    for (; pair < end; pair += 2) mwl__drop(h, pair[1]);
    mwl__drop(h, map_value(m, m->used));
    return mwl_absent();
}

/* ---- looking up ------------------------------------------------------------------------------ */

/* mwl__map_get of a map with an index. */
static APART const mwl_value *get_indexed(const mwl__map *m, uint32_t n, mwl_value key) {
    uint32_t pos = probe(m, n, &key);
    return pos < n ? &m->val[pos] : NULL;
}

/* mwl__map_get of a map without an index, from a key on that has the hash. */
static APART const mwl_value *get_from(const mwl__map *m, uint32_t n, mwl_value key, uint32_t i) {
    for (; i < n; i++)
        if (same_key(&m->keys->key[i], &key)) return &m->val[i];
    return NULL;
}

const mwl_value *mwl__map_get(mwl_value map, mwl_value str_key) {
    const mwl__map *m = mwl__as_map(map);
    const mwl__keys *k = m->keys;
    const uint32_t n = map.aux;
    if (k->n_index) return get_indexed(m, n, str_key);
    for (uint32_t i = 0; i < n; i++) {
        if (k->key[i].aux != str_key.aux) continue;
        if (k->key[i].as.p == str_key.as.p && mwl_value_kind(k->key[i]) == MWL_KIND_STRING)
            return &m->val[i];
        return get_from(m, n, str_key, i);
    }
    return NULL;
}

const mwl_value *mwl__map_find(mwl_value map, mwl_value any_key) {
    mwl_value key = as_key(any_key);
    if (mwl_is_absent(key)) return NULL;
    uint32_t pos = position_of(mwl__as_map(map), map.aux, &key);
    return pos < map.aux ? &mwl__as_map(map)->val[pos] : NULL;
}

const mwl_value *mwl__map_same(const mwl__map *map, uint32_t n, const mwl__map *other, uint32_t i) {
    const mwl_value *key = &other->keys->key[i];
    if (map->keys == other->keys || same_key(&map->keys->key[i], key)) return &map->val[i];
    uint32_t pos = position_of(map, n, key);
    return pos < n ? &map->val[pos] : NULL;
}

static bool same_text(mwl_value k, const char *key, size_t len, uint32_t hash) {
    return k.aux == hash && mwl_value_kind(k) == MWL_KIND_STRING && mwl__as_str(k)->len == len &&
           mwl__bytes_same(mwl__as_str(k)->s, key, len);
}

/* The member with this text as its key, in a map with an index. */
static APART const mwl_value *get_text(mwl_value map, const char *key, size_t len, uint32_t hash) {
    const mwl__map *m = mwl__as_map(map);
    const mwl__keys *k = m->keys;
    const uint32_t *index = index_of(m);
    uint32_t mask = k->n_index - 1;
    uint32_t at = (k->keyed ? text_hash(key, len) : hash) & mask;
    for (uint32_t steps = 0; index[at] && may_be_at(k, steps); steps++, at = (at + 1) & mask) {
        uint32_t i = index[at] - 1;
        if (same_text(k->key[i], key, len, hash)) return i < map.aux ? &m->val[i] : NULL;
    }
    return NULL;
}

/* ---- for hosts ------------------------------------------------------------------------------- */

mwl_value mwl_object(mwl_heap *heap, size_t expected) {
    return heap ? mwl__map_new(heap, expected) : mwl_absent();
}

mwl_value mwl_object_put(mwl_heap *heap, mwl_value take_object, mwl_value take_key,
                         mwl_value take_value) {
    if (!heap) return mwl_absent();
    if (mwl_value_kind(take_object) != MWL_KIND_OBJECT && !mwl_is_absent(take_object)) {
        mwl__drop(heap, take_object);
        mwl__drop(heap, take_key);
        mwl__drop(heap, take_value);
        return mwl__heap_fail(heap, MWL_E_USAGE);
    }
    return mwl__map_put(heap, take_object, take_key, take_value);
}

mwl_value mwl_object_set(mwl_heap *heap, mwl_value take_object, const char *key, size_t len,
                         mwl_value take_value) {
    if (!heap) return mwl_absent();
    mwl_value k = mwl_absent();
    if (!mwl_is_absent(take_object) && !mwl_is_absent(take_value))
        k = mwl__key_literal(heap, len ? key : "", len);
    return mwl_object_put(heap, take_object, k, take_value);
}

mwl_value mwl_get(mwl_value object, const char *key) {
    return mwl_object_get(object, key, strlen(key));
}

mwl_value mwl_object_of(mwl_heap *heap, ...) {
    mwl_value object = mwl_object(heap, 4);
    va_list ap;
    va_start(ap, heap);
    for (const char *key; (key = va_arg(ap, const char *));)
        object = mwl_object_set(heap, object, key, strlen(key), va_arg(ap, mwl_value));
    va_end(ap);
    return object;
}

mwl_value mwl_object_get(mwl_value object, const char *key, size_t len) {
    if (mwl_value_kind(object) != MWL_KIND_OBJECT || (!key && len)) return mwl_absent();
    if (!len) key = "";
    const mwl__map *m = mwl__as_map(object);
    const mwl__keys *k = m->keys;
    if (k->n_index) {
        const mwl_value *v = get_text(object, key, len, mwl__str_hash(key, len));
        return v ? mwl__borrow(*v) : mwl_absent();
    }
    for (const mwl_value *at = k->key, *end = at + object.aux; at < end; at++)
        if (mwl_value_kind(*at) == MWL_KIND_STRING && mwl__as_str(*at)->len == len &&
            mwl__bytes_same(mwl__as_str(*at)->s, key,
                            len)) /* few members: computing a hash would take longer */
            return mwl__borrow(m->val[at - k->key]);
    return mwl_absent();
}

mwl_value mwl_object_find(mwl_value object, mwl_value key) {
    if (mwl_value_kind(object) != MWL_KIND_OBJECT) return mwl_absent();
    const mwl_value *v = mwl__map_find(object, key);
    return v ? mwl__borrow(*v) : mwl_absent();
}

bool mwl_object_at(mwl_value object, size_t i, mwl_value *key, mwl_value *value) {
    if (mwl_value_kind(object) != MWL_KIND_OBJECT || i >= object.aux) return false;
    const mwl__map *m = mwl__as_map(object);
    if (key) *key = mwl__map_key(m, (uint32_t)i);
    if (value) *value = mwl__borrow(m->val[i]);
    return true;
}
