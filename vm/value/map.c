/* map.c: objects and CEL maps: members in their order over a buffer that versions share.
 *
 * Owns: key equality, the index, claiming the tail, replacement. Refuses to know: text forms.
 * Invariants: member[0 .. used) hold distinct keys; with an index (n_index > 0, exactly when cap is
 * at least MWL_INDEX_FROM) every one of them is in it; a version with length n sees the members
 * before n. Readers never write, so an immortal map may be read from any thread.
 *
 * The index is linear probing over 32-bit hashes, at most half full; `reach` bounds every search.
 * An attacker can choose keys with equal hashes: the hashes are stored in program images, so they
 * have no secret. Therefore an insertion that takes FLOODED steps rebuilds the index with hashes
 * that use the secret of the process (hash.h); an attacker cannot choose keys that collide with
 * those. From then on this buffer and its copies hash every key again when they look it up. Before
 * that no search takes more steps, so a hostile object costs a constant factor and not quadratic
 * time. */
#include "vm/value/value.h"
#include "vm/base/hash.h"

#include <stdarg.h>

#define FLOODED                                                                                    \
    128u /* with a good hash and half load, no search takes this many steps, at any size that fits \
            in memory */
#define MAP_LIMIT (1ull << 30) /* the index is twice as long and must count in 32 bits */

#include <stdarg.h>

/* Not inlined into the functions that every lookup calls. */
#define APART __attribute__((noinline))

static const mwl__map empty_map = {.depth = 1, .weight = 1};

static uint32_t index_length(size_t cap) {
    if (cap < MWL_INDEX_FROM) return 0;
    uint32_t n = 16;
    while (n < cap * 2) n *= 2;
    return n;
}

size_t mwl__map_size(size_t cap) {
    return sizeof(mwl__map) + cap * sizeof(mwl__member) + index_length(cap) * sizeof(uint32_t);
}

static uint32_t *index_of(const mwl__map *m) { return (uint32_t *)(uintptr_t)(m->member + m->cap); }

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

/* Returns a key in the form in which members store it: its hash is in aux, and an int and a uint of
 * equal value have the same hash. Returns absent if the value cannot be a key (or, for a lookup,
 * cannot equal a key). */
static mwl_value as_key(mwl_value k) {
    switch (mwl_value_kind(k)) {
    case MWL_KIND_STRING: return k;
    case MWL_KIND_BOOL: k.aux = mixed(0x5bd1e995u + k.as.u); return k;
    case MWL_KIND_UINT:
    case MWL_KIND_INT: k.aux = mixed(k.as.u); return k;
    case MWL_KIND_NUMBER: {
        double d = k.as.d;
        if (d >= -9223372036854775808.0 && d < 9223372036854775808.0 && (double)(int64_t)d == d)
            return as_key(mwl_int((int64_t)d));
        if (d >= 9223372036854775808.0 && d < 18446744073709551616.0)
            return as_key(mwl_uint((uint64_t)d)); /* every double this large is an integer */
        return mwl_absent();
    }
    default: return mwl_absent();
    }
}

static bool same_key(mwl_value a, mwl_value b) { /* both from as_key */
    if (a.aux != b.aux) return false;
    uint32_t x = mwl_value_kind(a), y = mwl_value_kind(b);
    if (x == MWL_KIND_STRING) return y == MWL_KIND_STRING && mwl__str_same(a, b);
    if (a.as.u != b.as.u) return false;
    if (x == y) return true;
    if (x == MWL_KIND_BOOL || y == MWL_KIND_BOOL || y == MWL_KIND_STRING) return false;
    return a.as.i >=
           0; /* an int and a uint with the same bits: the same number unless the int is negative */
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

/* Returns the hash that the index of m uses. */
static uint32_t index_hash(const mwl__map *m, mwl_value key) {
    return m->keyed ? secret_hash(key) : key.aux;
}

/* ---- the index ------------------------------------------------------------------------------- */

/* Puts member `pos` into the index and returns the number of steps that this took. */
static uint32_t enter(mwl__map *m, uint32_t pos) {
    uint32_t *index = index_of(m), mask = m->n_index - 1, steps = 0;
    uint32_t at = index_hash(m, m->member[pos].key) & mask;
    while (index[at]) {
        at = (at + 1) & mask;
        steps++;
    }
    index[at] = pos + 1;
    if (steps > m->reach) m->reach = steps < UINT16_MAX ? (uint16_t)steps : UINT16_MAX;
    return steps;
}

static uint32_t enter_all(mwl__map *m) {
    uint32_t worst = 0;
    m->reach = 0;
    memset(index_of(m), 0, m->n_index * sizeof(uint32_t));
    for (uint32_t i = 0; i < m->used; i++) {
        uint32_t steps = enter(m, i);
        if (steps > worst) worst = steps;
        if (worst > FLOODED && !m->keyed) break;
    }
    return worst;
}

static void build_index(mwl__map *m) {
    if (m->n_index && enter_all(m) > FLOODED && !m->keyed) {
        m->keyed = true;
        (void)enter_all(m);
    }
}

/* Removes the newest member from the index. It was the last to enter, so it displaced no other. */
static void leave(mwl__map *m, uint32_t pos) {
    uint32_t *index = index_of(m), mask = m->n_index - 1;
    uint32_t at = index_hash(m, m->member[pos].key) & mask;
    while (index[at] != pos + 1) at = (at + 1) & mask;
    index[at] = 0;
}

static bool may_be_at(const mwl__map *m, uint32_t steps) {
    return steps <= m->reach || m->reach == UINT16_MAX;
}

/* Returns the position of a key (from as_key) among the first n members, or n. */
static inline uint32_t locate(const mwl__map *m, uint32_t n, mwl_value key) {
    if (m->n_index == 0) {
        for (uint32_t i = 0; i < n; i++)
            if (same_key(m->member[i].key, key)) return i;
        return n;
    }
    const uint32_t *index = index_of(m);
    uint32_t mask = m->n_index - 1, at = index_hash(m, key) & mask;
    for (uint32_t steps = 0; index[at] && may_be_at(m, steps); steps++, at = (at + 1) & mask) {
        uint32_t i = index[at] - 1;
        if (same_key(m->member[i].key, key)) return i < n ? i : n;
    }
    return n;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static mwl__map *map_alloc(mwl_heap *h, size_t cap) {
    if (cap > MAP_LIMIT || cap > MWL_COUNT_LIMIT) {
        h->why = MWL_E_TOO_BIG;
        return NULL;
    }
    mwl__map *m = mwl__heap_take(h, mwl__map_size(cap));
    if (!m) return NULL;
    m->rc = 1;
    m->used = 0;
    m->cap = (uint32_t)cap;
    m->depth = 1;
    m->odd = 0;
    m->weight = 1;
    m->keyed = false;
    m->reach = 0;
    m->units = mwl__map_units(cap);
    m->n_index = index_length(cap);
    if (m->n_index) memset(index_of(m), 0, m->n_index * sizeof(uint32_t));
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
    mwl__map *m = map_alloc(h, cap);
    return m ? map_value(m, 0) : mwl_absent();
}

static size_t grown(size_t n, size_t need) {
    size_t cap = n * 2 < 4 ? 4 : n * 2;
    if (cap > MAP_LIMIT) cap = MAP_LIMIT;
    if (cap < need) cap = need;
    return cap > MAP_LIMIT || cap > MWL_COUNT_LIMIT ? 0 : cap;
}

static void weigh_again(mwl__map *m) {
    m->weight = 1;
    for (uint32_t i = 0; i < m->used; i++) m->weight += mwl__value_weight(m->member[i].val);
    if (m->weight > MWL_WEIGHT_LIMIT) m->weight = MWL_WEIGHT_LIMIT;
}

/* A value of this depth was taken out: finds the depth again if it may have been the deepest one.
 * If the depth stayed, an object whose member is set again and again to something that contains the
 * object as it was would seem to grow without end. */
static void deepen_again(mwl_heap *h, mwl__map *m, uint32_t depth) {
    if (depth == 0 || depth + 1 < m->depth) return;
    uint32_t i = 0, deepest = 0;
    for (; i < m->used && deepest < depth; i++) {
        uint32_t below = mwl__value_depth(m->member[i].val);
        if (below > deepest) deepest = below;
    }
    mwl__heap_work(h, i);
    m->depth = (uint16_t)(deepest + 1);
}

static void cut(mwl_heap *h, mwl__map *m, uint32_t n) {
    bool known = true;
    while (m->used > n) {
        mwl__member last = m->member[m->used - 1];
        if (m->n_index) leave(m, m->used - 1);
        m->used--;
        known = known && mwl__weight_less(&m->weight, last.val, m->used);
        mwl__drop(h, last.key);
        mwl__drop(h, last.val);
    }
    if (!known) weigh_again(m);
}

static bool weigh(mwl_heap *h, mwl__map *m, mwl_value val) {
    mwl_status status = mwl__value_weigh(val, &m->depth, &m->odd, &m->weight);
    if (status < 0) h->why = status;
    return status == MWL_OK;
}

static void append(mwl__map *m, mwl_value take_key, mwl_value take_val) {
    if (mwl_value_kind(take_key) != MWL_KIND_STRING) m->odd |= MWL__ODD_KIND;
    m->member[m->used].key = take_key;
    m->member[m->used].val = take_val;
    m->used++;
    if (m->n_index && enter(m, m->used - 1) > FLOODED && !m->keyed) {
        m->keyed = true;
        (void)enter_all(m);
    }
}

/* Copies the first n members into a new buffer. */
static mwl__map *copied(mwl_heap *h, const mwl__map *from, uint32_t n, size_t cap) {
    mwl__map *m = map_alloc(h, cap);
    if (!m) return NULL;
    mwl__heap_work(h, 2 * (size_t)n);
    m->keyed = from->keyed;
    for (uint32_t i = 0; i < n; i++) {
        const mwl__member *member = &from->member[i];
        if (mwl__heap_late(h, i)) {
            mwl__drop(h, map_value(m, i));
            return NULL;
        }
        if (mwl_value_kind(member->key) != MWL_KIND_STRING) m->odd |= MWL__ODD_KIND;
        m->member[i].key = mwl__keep(member->key);
        m->member[i].val = mwl__keep(member->val);
        (void)weigh(h, m,
                    member->val); /* cannot fail: it is not more than what was within the limits */
        m->used++;
    }
    build_index(m);
    return m;
}

/* Returns the map; in a new buffer if the value to be added may contain a version of its present
 * buffer. */
static mwl_value apart(mwl_heap *h, mwl_value take_map, mwl_value added) {
    mwl__map *m = mwl__as_map(take_map);
    uint32_t n = take_map.aux;
    if (!(take_map.tag & MWL_HEAP) || m->used != n || ((take_map.tag & MWL_OWNED) && m->rc == 1) ||
        !mwl__value_reaches(h, added, m, 0))
        return take_map;
    mwl__map *copy = copied(h, m, n, n);
    mwl__drop(h, take_map);
    return copy ? map_value(copy, n) : mwl_absent();
}

/* Is it the newest version of a buffer with room for one more member? */
static inline bool has_room(mwl_value map) {
    const mwl__map *m = mwl__as_map(map);
    return (map.tag & MWL_HEAP) && m->used == map.aux && map.aux < m->cap;
}

/* Returns the map as the newest version of a buffer with room for one more member. */
static APART mwl_value with_room(mwl_heap *h, mwl_value take_map) {
    if (mwl_is_absent(take_map)) return take_map;
    mwl__map *m = mwl__as_map(take_map);
    uint32_t n = take_map.aux;
    if ((take_map.tag & MWL_HEAP) && m->used != n && m->rc == 1) cut(h, m, n);
    if (has_room(take_map)) return take_map;
    size_t cap = grown(n, (size_t)n + 1);
    if (cap == 0) {
        mwl__drop(h, take_map);
        return mwl__heap_fail(h, MWL_E_TOO_BIG);
    }
    if ((take_map.tag & MWL_OWNED) && m->rc == 1) { /* so it is the newest version, without room */
        mwl__map *wider = mwl__heap_resize(h, m, mwl__map_size(m->cap), mwl__map_size(cap));
        if (!wider) {
            mwl__drop(h, take_map);
            return mwl_absent();
        }
        wider->cap = (uint32_t)cap;
        wider->units = mwl__map_units(cap);
        wider->n_index = index_length(cap);
        build_index(wider);
        return map_value(wider, n);
    }
    mwl__map *copy = copied(h, m, n, cap);
    mwl__drop(h, take_map);
    return copy ? map_value(copy, n) : mwl_absent();
}

/* ---- putting --------------------------------------------------------------------------------- */

/* Replaces the value at `pos`; the key stays. Takes over the map and the value. */
static mwl_value replace(mwl_heap *h, mwl_value map, uint32_t pos, mwl_value val) {
    mwl__map *m = mwl__as_map(map);
    uint32_t n = map.aux;
    if ((map.tag & MWL_OWNED) && m->rc == 1) {
        if (m->used != n) cut(h, m, n);
    } else {
        mwl__map *copy = copied(h, m, n, n);
        mwl__drop(h, map);
        if (!copy) {
            mwl__drop(h, val);
            return mwl_absent();
        }
        m = copy;
        map = map_value(copy, n);
    }
    if (mwl__map_fill(h, map, &m->member[pos].val, val)) return map;
    mwl__drop(h, val);
    mwl__drop(h, map);
    return mwl_absent();
}

mwl_value mwl__map_put(mwl_heap *h, mwl_value take_map, mwl_value take_key, mwl_value take_val) {
    mwl_value key = as_key(take_key);
    if (mwl_is_absent(take_map) || mwl_is_absent(take_val) || mwl_is_absent(key) ||
        mwl_value_kind(take_key) == MWL_KIND_NUMBER) {
        if (!mwl_is_absent(take_map) && !mwl_is_absent(take_val) && !mwl_is_absent(take_key))
            h->why = MWL_E_USAGE;
        goto refuse;
    }
    uint32_t pos = locate(mwl__as_map(take_map), take_map.aux, key);
    if (pos < take_map.aux) {
        mwl__drop(h, take_key);
        return replace(h, take_map, pos, take_val);
    }
    /* A key that is not a string sets `odd` for older versions of this buffer too. `odd` is only an
     * upper bound, so this costs them a walk later and has no other effect. */
    if (mwl_value_kind(take_val) >= MWL_KIND_ARRAY) take_map = apart(h, take_map, take_val);
    if (mwl_is_absent(take_map)) goto refuse;
    if (!has_room(take_map)) take_map = with_room(h, take_map);
    if (mwl_is_absent(take_map)) goto refuse;
    take_map = mwl__own(take_map);
    mwl__map *m = mwl__as_map(take_map);
    if (!weigh(h, m, take_val)) goto refuse;
    append(m, mwl__own(key), mwl__own(take_val));
    take_map.aux++;
    return take_map;
refuse:
    mwl__drop(h, take_map);
    mwl__drop(h, take_key);
    mwl__drop(h, take_val);
    return mwl_absent();
}

mwl_value *mwl__map_slot(mwl_heap *h, mwl_value *map, mwl_value take_key) {
    mwl__map *m = mwl__as_map(*map);
    uint32_t pos = locate(m, m->used, take_key);
    if (pos < m->used) {
        mwl__drop(h, take_key);
        return &m->member[pos].val;
    }
    append(m, take_key, mwl_null());
    map->aux = m->used;
    m->weight++;
    return &m->member[pos].val;
}

bool mwl__map_fill(mwl_heap *h, mwl_value map, mwl_value *slot, mwl_value take_val) {
    mwl__map *m = mwl__as_map(map);
    mwl_value old = *slot;
    *slot = mwl_null(); /* weighs 1 */
    if (mwl__weight_less(&m->weight, old, m->used - 1))
        m->weight++;
    else
        weigh_again(m);
    m->weight--;
    uint16_t depth = m->depth;
    deepen_again(h, m, mwl__value_depth(old));
    if (!weigh(h, m, take_val)) {
        *slot = old;
        m->depth = depth;
        weigh_again(m);
        return false;
    }
    *slot = mwl__own(take_val);
    mwl__drop(h, old);
    return true;
}

mwl_value mwl__map_extend(mwl_heap *h, mwl_value take_map, const mwl_value *take_pairs, size_t n,
                          bool distinct) {
    const mwl_value *pair = take_pairs, *end = take_pairs + 2 * n;
    for (; pair < end && !mwl_is_absent(take_map); pair += 2) {
        mwl__map *m = mwl__as_map(take_map);
        uint32_t used = m->used, pos = distinct ? used : locate(m, used, pair[0]);
        if (pos < used) {
            if (!mwl__map_fill(h, take_map, &m->member[pos].val, pair[1])) break;
            mwl__drop(h, pair[0]);
            continue;
        }
        if (used == m->cap) {
            take_map = with_room(h, take_map);
            if (mwl_is_absent(take_map)) break;
            m = mwl__as_map(take_map);
        }
        if (!weigh(h, m, pair[1])) break;
        append(m, pair[0], pair[1]);
        take_map.aux++;
    }
    if (pair == end) return take_map;
    for (; pair < end; pair++) mwl__drop(h, *pair);
    mwl__drop(h, take_map);
    return mwl_absent();
}

/* ---- looking up ------------------------------------------------------------------------------ */

const mwl_value *mwl__map_get(mwl_value map, mwl_value str_key) {
    const mwl__map *m = mwl__as_map(map);
    uint32_t n = map.aux;
    if (m->n_index == 0) {
        for (uint32_t i = 0; i < n; i++) {
            const mwl__member *member = &m->member[i];
            if (member->key.aux == str_key.aux && mwl_value_kind(member->key) == MWL_KIND_STRING &&
                mwl__str_same(member->key, str_key))
                return &member->val;
        }
        return NULL;
    }
    uint32_t pos = locate(m, n, str_key);
    return pos < n ? &m->member[pos].val : NULL;
}

const mwl_value *mwl__map_find(mwl_value map, mwl_value any_key) {
    mwl_value key = as_key(any_key);
    if (mwl_is_absent(key)) return NULL;
    uint32_t pos = locate(mwl__as_map(map), map.aux, key);
    return pos < map.aux ? &mwl__as_map(map)->member[pos].val : NULL;
}

const mwl_value *mwl__map_same(const mwl__map *map, uint32_t n, const mwl__member *other,
                               uint32_t guess) {
    if (same_key(map->member[guess].key, other->key)) return &map->member[guess].val;
    uint32_t pos = locate(map, n, other->key);
    return pos < n ? &map->member[pos].val : NULL;
}

static bool same_text(const mwl__member *m, const char *key, size_t len, uint32_t hash) {
    return m->key.aux == hash && mwl_value_kind(m->key) == MWL_KIND_STRING &&
           mwl__as_str(m->key)->len == len && mwl__bytes_same(mwl__as_str(m->key)->s, key, len);
}

static APART const mwl_value *get_text(mwl_value map, const char *key, size_t len, uint32_t hash) {
    const mwl__map *m = mwl__as_map(map);
    uint32_t n = map.aux;
    if (m->n_index == 0) {
        for (uint32_t i = 0; i < n; i++)
            if (same_text(&m->member[i], key, len, hash)) return &m->member[i].val;
        return NULL;
    }
    const uint32_t *index = index_of(m);
    uint32_t mask = m->n_index - 1;
    uint32_t at = (m->keyed ? text_hash(key, len) : hash) & mask;
    for (uint32_t steps = 0; index[at] && may_be_at(m, steps); steps++, at = (at + 1) & mask) {
        uint32_t i = index[at] - 1;
        if (same_text(&m->member[i], key, len, hash)) return i < n ? &m->member[i].val : NULL;
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
    if (m->n_index) {
        const mwl_value *v = get_text(object, key, len, mwl__str_hash(key, len));
        return v ? mwl__borrow(*v) : mwl_absent();
    }
    for (const mwl__member *at = m->member, *end = at + object.aux; at < end; at++)
        if (mwl_value_kind(at->key) == MWL_KIND_STRING && mwl__as_str(at->key)->len == len &&
            mwl__bytes_same(mwl__as_str(at->key)->s, key,
                            len)) /* few members: computing a hash would take longer */
            return mwl__borrow(at->val);
    return mwl_absent();
}

mwl_value mwl_object_find(mwl_value object, mwl_value key) {
    if (mwl_value_kind(object) != MWL_KIND_OBJECT) return mwl_absent();
    const mwl_value *v = mwl__map_find(object, key);
    return v ? mwl__borrow(*v) : mwl_absent();
}

bool mwl_object_at(mwl_value object, size_t i, mwl_value *key, mwl_value *value) {
    if (mwl_value_kind(object) != MWL_KIND_OBJECT || i >= object.aux) return false;
    const mwl__member *member = &mwl__as_map(object)->member[i];
    if (key) *key = mwl__map_key(member);
    if (value) *value = mwl__borrow(member->val);
    return true;
}
