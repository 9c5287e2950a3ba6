/* regex_cache.c: a cache of patterns that are computed at run time, so that they are not compiled
 * at every use.
 *
 * Owns: which patterns are kept. Invariant: the slots hold programs of distinct texts, the last
 * used one first. So a loop over a few patterns compiles each of them once, and many patterns need
 * limited memory. */
#include "vm/base/mem.h"
#include "vm/regex/regex_prog.h"

#define SLOTS                                                                                      \
    16u /* enough for two loops over a few patterns each; a compiled program has kilobytes */

typedef struct store {
    mwl_alloc alloc;
    mwl__regex *re[SLOTS];
} store;

static void release(void *data) {
    store *c = data;
    mwl_alloc a = c->alloc;
    for (size_t i = 0; i < SLOTS; i++) mwl__regex_free(c->re[i]);
    mwl__mem_free(&a, c, sizeof *c);
}

static store *store_of(mwl__regex_scratch *s) {
    mwl__regex_guest *g = mwl__regex_scratch_store(s);
    if (g->data) return g->data;
    mwl_alloc a = mwl__regex_scratch_guest(s)->alloc;
    store *c = mwl__mem_zero(&a, 1, sizeof *c);
    if (!c) return NULL;
    c->alloc = a;
    g->alloc = a;
    g->data = c;
    g->release = release;
    return c;
}

static bool pay(uint64_t *fuel, uint64_t n) {
    if (!fuel) return true;
    if (*fuel < n) {
        *fuel = 0;
        return false;
    }
    *fuel -= n;
    return true;
}

static void to_front(store *c, size_t i, mwl__regex *re) {
    memmove(&c->re[1], &c->re[0], i * sizeof c->re[0]);
    c->re[0] = re;
}

mwl_status mwl__regex_cached(mwl__regex_scratch *s, const char *pattern, size_t len, uint64_t *fuel,
                             const mwl__regex **out, mwl_error *err) {
    store *c = store_of(s);
    if (!c) return MWL_E_NOMEM;
    if (!pay(fuel, len / 64)) return MWL_E_FUEL; /* for the comparison with one that is there */
    for (size_t i = 0; i < SLOTS && c->re[i]; i++)
        if (c->re[i]->len == len && (!len || memcmp(c->re[i]->text, pattern, len) == 0)) {
            to_front(c, i, c->re[i]);
            *out = c->re[0];
            return MWL_OK;
        }
    if (!pay(fuel, 64 + (uint64_t)len)) return MWL_E_FUEL;
    mwl__regex *re = NULL;
    uint64_t work = 0, most = fuel && *fuel < UINT64_MAX / 8 ? *fuel * 8 : UINT64_MAX;
    mwl_status status =
        mwl__regex_compile_within(&c->alloc, pattern, len, 0, most, &work, &re, err);
    if (!pay(fuel, work / 8) && status == MWL_OK) {
        mwl__regex_free(re);
        return MWL_E_FUEL;
    }
    if (status == MWL_E_FUEL) *fuel = 0;
    if (status != MWL_OK) return status;
    mwl__regex_free(c->re[SLOTS - 1]);
    to_front(c, SLOTS - 1, re);
    *out = re;
    return MWL_OK;
}
