/* keyed.c: see keyed.h. A table with chains, which doubles when it is full. */
#include "keyed.h"

static uint64_t seed;

static void make_seed(void) {
    if (uv_random(NULL, NULL, &seed, sizeof seed, 0, NULL) != 0) seed = 1;
}

/* FNV-1a. Keys come from the author of the definition and from data; a chain that somebody makes
 * long costs this VM's time alone, which fuel does not limit, so the seed is of this process. VMs
 * of several threads share it. */
static uint64_t hash_of(const char *key, size_t len) {
    static uv_once_t once = UV_ONCE_INIT;
    uv_once(&once, make_seed);
    uint64_t h = 0xcbf29ce484222325u ^ seed;
    for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)key[i]) * 0x100000001b3u;
    return h ^ h >> 32;
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

void *mwl__keyed_get(mwl__keyed *t, const char *key, size_t len, size_t size) {
    if (t->n >= t->cap && !grow(t)) return NULL;
    uint64_t hash = hash_of(key, len);
    mwl__keyed_row **at = place(t, hash, key, len);
    if (*at) return *at;
    mwl__keyed_row *row = calloc(1, size + len + 1);
    if (!row) return NULL;
    row->hash = hash;
    row->len = len;
    row->key = (char *)row + size;
    memcpy(row->key, key, len);
    *at = row;
    t->n++;
    return row;
}

void mwl__keyed_remove(mwl__keyed *t, void *record) {
    mwl__keyed_row *row = record, **at = &t->buckets[row->hash & (t->cap - 1)];
    while (*at != row) at = &(*at)->next;
    *at = row->next;
    t->n--;
    free(row);
}

void mwl__keyed_sweep(mwl__keyed *t, bool (*idle)(const void *record, int64_t now_ns),
                      int64_t now_ns) {
    enum { FEW = 64 };
    if (t->n < FEW || t->n < t->sweep_at) return;
    for (size_t i = 0; i < t->cap; i++)
        for (mwl__keyed_row **at = &t->buckets[i]; *at;) {
            mwl__keyed_row *row = *at;
            if (!idle(row, now_ns)) {
                at = &row->next;
                continue;
            }
            *at = row->next;
            t->n--;
            free(row);
        }
    t->sweep_at = t->n * 2 + t->cap / 4; /* a sweep costs as much as the table is large */
}

void mwl__keyed_empty(mwl__keyed *t, void (*drop)(void *record)) {
    for (size_t i = 0; i < t->cap; i++)
        for (mwl__keyed_row *row = t->buckets[i], *next; row; row = next) {
            next = row->next;
            if (drop) drop(row);
            free(row);
        }
    free(t->buckets);
    *t = (mwl__keyed){NULL, 0, 0, 0};
}
