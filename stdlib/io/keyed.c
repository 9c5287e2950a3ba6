/* keyed.c: see keyed.h. A table with chains, which doubles when it is full. Not vm/base/table.h,
 * because this library uses public functions only; and records leave it, as they never leave a
 * table there. */
#include "stdlib/io/keyed.h"

static uint64_t seed[2];

static void make_seed(void) {
    if (uv_random(NULL, NULL, seed, sizeof seed, 0, NULL) != 0) seed[0] = uv_hrtime();
}

static uint64_t turned(uint64_t x, unsigned by) { return x << by | x >> (64 - by); }

static void mix(uint64_t v[4]) {
    v[0] += v[1], v[2] += v[3];
    v[1] = turned(v[1], 13) ^ v[0], v[3] = turned(v[3], 16) ^ v[2];
    v[0] = turned(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = turned(v[1], 17) ^ v[2], v[3] = turned(v[3], 21) ^ v[0];
    v[2] = turned(v[2], 32);
}

static void take(uint64_t v[4], uint64_t word) {
    v[3] ^= word;
    mix(v);
    v[0] ^= word;
}

/* SipHash-1-3, as vm/base/hash.h has it, which only the library uses. Keys come from the author of
 * the definition and from data. Without the key of this process a sender cannot choose texts that
 * share a chain, whose time fuel does not limit. VMs of several threads share the key. */
static uint64_t hash_of(const char *key, size_t len) {
    static uv_once_t once = UV_ONCE_INIT;
    uv_once(&once, make_seed);
    uint64_t v[4] = {seed[0] ^ 0x736f6d6570736575u, seed[1] ^ 0x646f72616e646f6du,
                     seed[0] ^ 0x6c7967656e657261u, seed[1] ^ 0x7465646279746573u};
    uint64_t word;
    size_t at = 0;
    for (; len - at >= 8; at += 8) {
        memcpy(&word, key + at, 8);
        take(v, word);
    }
    word = 0;
    if (at < len) memcpy(&word, key + at, len - at);
    take(v, word ^ (uint64_t)len << 56);
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) mix(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static mwl__keyed_row **place(const mwl__keyed *t, uint64_t hash, const char *key, size_t len) {
    mwl__keyed_row **at = &t->buckets[hash & (t->cap - 1)];
    while (*at && ((*at)->hash != hash || (*at)->len != len || memcmp((*at)->key, key, len) != 0))
        at = &(*at)->next;
    return at;
}

void *mwl__keyed_find(const mwl__keyed *t, const char *key, size_t len) {
    return t->cap ? *place(t, hash_of(key, len), key, len) : NULL;
}

static bool grow(mwl__keyed *t) {
    size_t cap = t->cap ? t->cap * 2 : 16;
    mwl__keyed_row **buckets = calloc(cap, sizeof *buckets);
    if (!buckets) return false;
    for (size_t i = 0; i < t->cap; i++)
        for (mwl__keyed_row *row = t->buckets[i], *next; row; row = next) {
            next = row->next;
            row->next = buckets[row->hash & (cap - 1)];
            buckets[row->hash & (cap - 1)] = row;
        }
    free(t->buckets);
    t->buckets = buckets;
    t->cap = cap;
    return true;
}

/* ---- what they count for --------------------------------------------------------------------- */

size_t mwl__keyed_eighth(const mwl_io *io) {
    enum { DEFAULT = 64 << 20, LEAST = 64 << 10 };
    size_t all = mwl__io_options(io)->table_bytes;
    if (!all) all = DEFAULT;
    return all / 8 > LEAST ? all / 8 : LEAST;
}

static void unlink_use(mwl__keyed *t, mwl__keyed_row *row) {
    *(row->older ? &row->older->newer : &t->oldest) = row->newer;
    *(row->newer ? &row->newer->older : &t->newest) = row->older;
}

static void link_use(mwl__keyed *t, mwl__keyed_row *row) {
    row->older = t->newest;
    row->newer = NULL;
    *(t->newest ? &t->newest->newer : &t->oldest) = row;
    t->newest = row;
}

static void use(mwl__keyed *t, mwl__keyed_row *row) {
    if (t->newest == row) return;
    unlink_use(t, row);
    link_use(t, row);
}

/* Those in use that it meets become the newest, so it looks at each of them once. */
static bool make_room(mwl__keyed *t, size_t n, const mwl__keyed_row *stays) {
    enum { LOOKS = 32 };
    if (!t->most) return true;
    if (n > t->most) return false;
    for (int i = 0; t->bytes > t->most - n && i < LOOKS && t->oldest; i++) {
        mwl__keyed_row *row = t->oldest;
        if (row != stays && t->give_up && t->give_up(t->ctx, row)) {
            mwl__keyed_remove(t, row);
            i--;
        } else {
            use(t, row);
        }
    }
    return t->bytes <= t->most - n;
}

bool mwl__keyed_more(mwl__keyed *t, void *record, size_t n) {
    mwl__keyed_row *row = record;
    if (!make_room(t, n, row)) return false;
    t->bytes += n;
    row->bytes += n;
    return true;
}

void mwl__keyed_less(mwl__keyed *t, void *record, size_t n) {
    mwl__keyed_row *row = record;
    t->bytes -= n;
    row->bytes -= n;
}

/* ---- records --------------------------------------------------------------------------------- */

void *mwl__keyed_get(mwl__keyed *t, const char *key, size_t len, size_t size) {
    const uint64_t hash = hash_of(key, len);
    mwl__keyed_row *row = t->cap ? *place(t, hash, key, len) : NULL;
    if (row) {
        use(t, row);
        return row;
    }
    const size_t bytes = size + len + 1 + 4 * sizeof(void *); /* and its places in the table */
    if (!make_room(t, bytes, NULL) || (t->n >= t->cap && !grow(t))) return NULL;
    row = calloc(1, size + len + 1);
    if (!row) return NULL;
    row->hash = hash;
    row->len = len;
    row->key = (char *)row + size;
    memcpy(row->key, key, len);
    row->bytes = bytes;
    t->bytes += bytes;
    t->n++;
    *place(t, hash, key, len) = row;
    link_use(t, row);
    return row;
}

/* *at is the place of the row in its bucket. */
static void remove_at(mwl__keyed *t, mwl__keyed_row **at) {
    mwl__keyed_row *row = *at;
    *at = row->next;
    unlink_use(t, row);
    t->bytes -= row->bytes;
    t->n--;
    free(row);
}

void mwl__keyed_remove(mwl__keyed *t, void *record) {
    mwl__keyed_row *row = record, **at = &t->buckets[row->hash & (t->cap - 1)];
    while (*at != row) at = &(*at)->next;
    remove_at(t, at);
}

void mwl__keyed_sweep(mwl__keyed *t, bool (*idle)(const void *record, int64_t now_ns),
                      int64_t now_ns) {
    enum { FEW = 64 };
    if (t->n < FEW || t->n < t->sweep_at) return;
    for (size_t i = 0; i < t->cap; i++)
        for (mwl__keyed_row **at = &t->buckets[i]; *at;)
            if (idle(*at, now_ns))
                remove_at(t, at);
            else
                at = &(*at)->next;
    t->sweep_at = t->n * 2 + t->cap / 4; /* a sweep costs as much as the table is large */
}

void mwl__keyed_empty(mwl__keyed *t, void (*drop)(void *record)) {
    for (mwl__keyed_row *row = t->oldest, *newer; row; row = newer) {
        newer = row->newer;
        if (drop) drop(row);
        free(row);
    }
    free(t->buckets);
    *t = (mwl__keyed){.most = t->most, .give_up = t->give_up, .ctx = t->ctx};
}
