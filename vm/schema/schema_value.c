/* schema_value.c: properties of values that the keywords of JSON Schema need: types, multiples,
 * equal elements.
 *
 * Owns: arithmetic and hashing for keywords. Refuses to know: compiled schemas. */
#include "vm/base/num.h"
#include "vm/schema/schema_code.h"

#include <math.h>

const uint8_t mwl__schema_type_bits[16] = {
    [MWL_KIND_NULL] = MWL__TYPE_NULL,       [MWL_KIND_BOOL] = MWL__TYPE_BOOL,
    [MWL_KIND_NUMBER] = MWL__TYPE_NUMBER,   [MWL_KIND_INT] = MWL__TYPE_NUMBER,
    [MWL_KIND_UINT] = MWL__TYPE_NUMBER,     [MWL_KIND_STRING] = MWL__TYPE_STRING,
    [MWL_KIND_ARRAY] = MWL__TYPE_ARRAY,     [MWL_KIND_OBJECT] = MWL__TYPE_OBJECT,
    [MWL_KIND_ABSENT] = MWL__TYPE_OTHER,    [MWL_KIND_DURATION] = MWL__TYPE_OTHER,
    [MWL_KIND_TIMESTAMP] = MWL__TYPE_OTHER, [MWL_KIND_BYTES] = MWL__TYPE_OTHER,
    [MWL_KIND_TYPE] = MWL__TYPE_OTHER,      [MWL_KIND_OPTIONAL] = MWL__TYPE_OTHER,
    [MWL_KIND_EXT] = MWL__TYPE_OTHER,       [MWL_KIND_FAULT] = MWL__TYPE_OTHER,
};

bool mwl__schema_is_integer(mwl_value v) {
    uint32_t k = mwl_value_kind(v);
    if (k != MWL_KIND_NUMBER) return k == MWL_KIND_INT || k == MWL_KIND_UINT;
    double d = v.as.d;
    if (d >= -9.0e15 && d <= 9.0e15) return (double)(int64_t)d == d;
    return isfinite(d); /* beyond 2^53 every double is an integer */
}

/* ---- multiples ----------------------------------------------------------------------------------
 */

__extension__ typedef unsigned __int128 u128;

struct decimal {
    uint64_t digits; /* below 10^17 */
    int exponent;
};

static struct decimal decimal_of(double d) {
    char text[20];
    int point = 0;
    size_t n = mwl__num_digits(d, text, &point);
    struct decimal r = {0, point - (int)n};
    for (size_t i = 0; i < n; i++) r.digits = r.digits * 10 + (uint64_t)(text[i] - '0');
    return r;
}

static uint64_t pow10_mod(unsigned e, uint64_t m) {
    u128 r = 1 % m, base = 10 % m;
    for (; e; e >>= 1) {
        if (e & 1) r = r * base % m;
        base = base * base % m;
    }
    return (uint64_t)r;
}

/* Numbers count as the decimals that are written for them: 0.0075 is a multiple of 0.0001, although
 * the quotient of the two doubles is not an integer. Integers are exact as doubles. */
bool mwl__schema_is_multiple(mwl_value v, double of) {
    if (mwl_value_kind(v) == MWL_KIND_INT || mwl_value_kind(v) == MWL_KIND_UINT) {
        bool negative = mwl_value_kind(v) == MWL_KIND_INT && v.as.i < 0;
        uint64_t u = negative ? 0 - v.as.u : v.as.u;
        if (of >= 1 && of < 0x1p63 && (double)(uint64_t)of == of) return u % (uint64_t)of == 0;
        v = mwl_number((double)u);
    }
    double d = fabs(v.as.d);
    if (!isfinite(d)) return false;
    if (d == 0) return true;
    if (floor(d) == d && floor(of) == of) return fmod(d, of) == 0;
    struct decimal a = decimal_of(d), b = decimal_of(of);
    if (b.digits == 0) return false;
    if (a.exponent >= b.exponent) {
        uint64_t scale = pow10_mod((unsigned)(a.exponent - b.exponent), b.digits);
        return (u128)(a.digits % b.digits) * scale % b.digits == 0;
    }
    int shift = b.exponent - a.exponent;
    if (shift > 18) return false; /* a.digits is below 10^17 and not 0 */
    u128 divisor = b.digits;
    while (shift-- > 0) divisor *= 10;
    return a.digits % divisor == 0;
}

/* ---- equal elements -------------------------------------------------------------------------- */

/* How many levels of a value are hashed; below, only sizes count. Values rarely differ only in
 * deeper levels, and the C stack stays small. */
enum { HASH_LEVELS = 6 };

static uint64_t mix(uint64_t h) {
    h ^= h >> 32;
    h *= 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

/* Equal values have equal hashes: numbers of any kind by value, objects with members in any
 * order. */
static uint64_t hash_value(mwl_value v, int levels, uint64_t *visited) {
    uint32_t k = mwl_value_kind(v);
    uint64_t h = 0;
    double d;
    ++*visited;
    switch (k) {
    case MWL_KIND_INT: d = (double)v.as.i; break;
    case MWL_KIND_UINT: d = (double)v.as.u; break;
    case MWL_KIND_NUMBER: d = v.as.d; break;
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES:
    case MWL_KIND_TYPE: return mix(v.aux + ((uint64_t)k << 40));
    case MWL_KIND_ARRAY:
        h = mix(v.aux + ((uint64_t)k << 40));
        for (uint32_t i = 0; levels && i < v.aux; i++)
            h = mix(h ^ hash_value(mwl__as_list(v)->item[i], levels - 1, visited));
        return h;
    case MWL_KIND_OBJECT:
        for (uint32_t i = 0; levels && i < v.aux; i++) {
            const mwl__member *m = &mwl__as_map(v)->member[i];
            uint64_t key = mwl_value_kind(m->key) == MWL_KIND_STRING ? m->key.aux : 1;
            h += mix(mix(key) ^ hash_value(m->val, levels - 1, visited));
        }
        return mix(h + v.aux + ((uint64_t)k << 40));
    case MWL_KIND_NULL:
    case MWL_KIND_BOOL:
    case MWL_KIND_DURATION: return mix(v.as.u + ((uint64_t)k << 40));
    default: return mix((uint64_t)k << 40);
    }
    if (d == 0) d = 0; /* -0 */
    memcpy(&h, &d, sizeof h);
    return mix(h + 1);
}

static mwl_status find_by_pairs(mwl_value array, uint64_t *fuel, bool *found, uint32_t at[2]) {
    const mwl_value *item = mwl__as_list(array)->item;
    for (uint32_t i = 1; i < array.aux; i++) {
        for (uint32_t j = 0; j < i; j++) {
            bool same = false;
            int quick = mwl__equal_fast(item[j], item[i]);
            if (quick < 0) {
                mwl_status st = mwl__value_equal(item[j], item[i], fuel, &same);
                if (st < 0) return st;
            }
            if (quick > 0 || same) {
                *found = true;
                at[0] = j;
                at[1] = i;
                return MWL_OK;
            }
        }
    }
    return MWL_OK;
}

/* slot: hash in the high half, element + 1 in the low. n_slots is a power of two, at least twice
 * the elements, and all zero. */
static mwl_status find_by_hash(mwl_value array, uint64_t *slot, size_t n_slots, uint64_t *fuel,
                               bool *found, uint32_t at[2]) {
    const mwl_value *item = mwl__as_list(array)->item;
    for (uint32_t i = 0; i < array.aux; i++) {
        uint64_t visited = 0;
        uint64_t h = hash_value(item[i], HASH_LEVELS, &visited);
        if (fuel) {
            if (*fuel < visited) return MWL_E_FUEL;
            *fuel -= visited;
        }
        size_t place = (size_t)h & (n_slots - 1);
        for (; slot[place]; place = (place + 1) & (n_slots - 1)) {
            if (slot[place] >> 32 != h >> 32) continue;
            uint32_t other = (uint32_t)slot[place] - 1;
            bool same = false;
            mwl_status st = mwl__value_equal(item[other], item[i], fuel, &same);
            if (st < 0) return st;
            if (!same) continue;
            *found = true;
            at[0] = other;
            at[1] = i;
            return MWL_OK;
        }
        slot[place] = (h & 0xffffffff00000000u) | (i + 1);
    }
    return MWL_OK;
}

mwl_status mwl__schema_find_equal(mwl_heap *heap, mwl_value array, uint64_t *fuel, bool *found,
                                  uint32_t at[2]) {
    uint64_t few[256];
    size_t n_slots = sizeof few / sizeof *few;
    *found = false;
    if (array.aux <= 8) return find_by_pairs(array, fuel, found, at);
    if (array.aux <= n_slots / 2) {
        memset(few, 0, sizeof few);
        return find_by_hash(array, few, n_slots, fuel, found, at);
    }
    while (n_slots / 2 < array.aux) n_slots *= 2;
    uint64_t *slot = mwl__mem_zero(&heap->alloc, n_slots, sizeof *slot);
    if (!slot) return MWL_E_NOMEM;
    mwl_status st = find_by_hash(array, slot, n_slots, fuel, found, at);
    mwl__mem_free(&heap->alloc, slot, n_slots * sizeof *slot);
    return st;
}
