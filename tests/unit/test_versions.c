/* Arrays and objects against a model that copies everything: random operations on versions that
 * share buffers, lent and given in every mix. MWL_SEED in the environment repeats a run. */
#include "tests/unit/faulty.h"
#include "utest.h"
#include "vm/value/value.h"

enum { VERSIONS = 12, LONGEST = 60, ROUNDS = 60000, KEYS = 40 };

static uint64_t seed;

static uint32_t draw(uint32_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 32) % below);
}

static void begin(void) {
    const char *given = getenv("MWL_SEED");
    seed = given ? strtoull(given, NULL, 10) : 88172645463325252u;
    printf("MWL_SEED=%llu\n", (unsigned long long)seed);
}

/* An item that contains its number, as a number, a string or a list of one element. */
static mwl_value item(mwl_heap *h, int n) {
    char text[16];
    int len = snprintf(text, sizeof text, "%d", n);
    switch (n % 3) {
    case 0: return mwl_number(n);
    case 1: return mwl_string(h, text, (size_t)len);
    default: return mwl_array_push(h, mwl_array(h, 1), mwl_number(n));
    }
}

static bool is_item(mwl_value v, int n) {
    switch (n % 3) {
    case 0: return mwl_value_kind(v) == MWL_KIND_NUMBER && mwl_as_number(v) == n;
    case 1: return mwl_value_kind(v) == MWL_KIND_STRING && atoi(mwl_as_text(v, NULL)) == n;
    default: return mwl_count(v) == 1 && mwl_as_number(mwl_array_at(v, 0)) == n;
    }
}

static uint64_t item_weight(int n) { return n % 3 == 2 ? 2 : 1; }

struct model {
    mwl_value v;
    int n, key[LONGEST * 2], value[LONGEST * 2];
};

static bool list_agrees(const struct model *m) {
    uint64_t weight = 1;
    if (mwl_count(m->v) != (size_t)m->n) return false;
    for (int i = 0; i < m->n; i++) {
        if (!is_item(mwl_array_at(m->v, (size_t)i), m->value[i])) return false;
        weight += item_weight(m->value[i]);
    }
    /* exact for the newest version, an upper bound for the others */
    if (mwl__as_list(m->v)->used == m->v.aux) return mwl__value_weight(m->v) == weight;
    return mwl__value_weight(m->v) >= weight;
}

UTEST(versions, of_lists) {
    begin();
    struct faulty f;
    mwl_alloc a = faulty_alloc(&f);
    mwl_heap *h = NULL;
    static struct model model[VERSIONS];
    mwl_heap_new(&a, &h);
    for (int i = 0; i < VERSIONS; i++) model[i] = (struct model){.v = mwl_array(h, 0)};
    for (int round = 0; round < ROUNDS; round++) {
        struct model *from = &model[draw(VERSIONS)], *other = &model[draw(VERSIONS)];
        struct model *to = &model[draw(VERSIONS)];
        static struct model next;
        next = *from;
        switch (draw(6)) {
        case 0: /* lent */
            next.value[next.n++] = round;
            next.v = mwl__list_push(h, mwl__borrow(from->v), item(h, round));
            break;
        case 1: /* given: the variable is empty while the new version is made */
            next.value[next.n++] = round;
            next.v = mwl__list_push(h, from->v, item(h, round));
            *from = (struct model){.v = mwl_array(h, draw(5))};
            break;
        case 2:
            next.value[next.n++] = round;
            next.v = mwl_array_push(h, mwl_value_keep(from->v), item(h, round));
            break;
        case 3:
            memcpy(next.value + next.n, other->value, (size_t)other->n * sizeof(int));
            next.n += other->n;
            next.v = mwl__list_concat(h, from->v, other->v);
            break;
        case 4: next.v = mwl_value_keep(from->v); break;
        default: next = (struct model){.v = mwl_array(h, draw(9))};
        }
        ASSERT_TRUE(list_agrees(&next));
        mwl_value_drop(h, to->v);
        *to = next;
        if (to->n > LONGEST - 1) {
            mwl_value_drop(h, to->v);
            *to = (struct model){.v = mwl_array(h, 0)};
        }
        if (round % 16 == 0)
            for (int i = 0; i < VERSIONS; i++) ASSERT_TRUE(list_agrees(&model[i]));
    }
    for (int i = 0; i < VERSIONS; i++) mwl_value_drop(h, model[i].v);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
    ASSERT_EQ(f.live_blocks, (size_t)0);
    ASSERT_FALSE(f.wrong);
}

/* What the keys of a history are: names that objects share (shape.h), others, or both. */
static enum { OTHERS, NAMES, BOTH } keys;

/* Other keys: a string, an int or a uint by their number; every fourth hash is the same, as if
 * forged. */
static mwl_value key_of(mwl_heap *h, int k) {
    char text[16];
    int len = snprintf(text, sizeof text, "k%d", k);
    if (keys == NAMES || (keys == BOTH && k % 2)) return mwl__key(h, text, (size_t)len);
    if (k % 5 == 3) return mwl_int(k);
    if (k % 5 == 4) return mwl_uint((uint64_t)k);
    if (k % 4 == 0) return mwl__str_new_hashed(h, text, (size_t)len, 7);
    return mwl_string(h, text, (size_t)len);
}

static int model_find(const struct model *m, int k) {
    for (int i = 0; i < m->n; i++)
        if (m->key[i] == k) return i;
    return -1;
}

static void model_put(struct model *m, int k, int value) {
    int i = model_find(m, k);
    if (i < 0) m->key[i = m->n++] = k;
    m->value[i] = value;
}

static bool map_agrees(mwl_heap *h, const struct model *m) {
    uint64_t weight = 1;
    if (mwl_count(m->v) != (size_t)m->n) return false;
    for (int k = 0; k < KEYS; k++) {
        mwl_value key = key_of(h, k), at_key, at_value;
        const mwl_value *found = mwl__map_find(m->v, key);
        int i = model_find(m, k);
        bool fine = i < 0 ? found == NULL : found && is_item(*found, m->value[i]);
        if (fine && i >= 0)
            fine = mwl_object_at(m->v, (size_t)i, &at_key, &at_value) &&
                   mwl_value_equal(at_key, key) && is_item(at_value, m->value[i]);
        if (i >= 0) weight += item_weight(m->value[i]);
        mwl_value_drop(h, key);
        if (!fine) return false;
    }
    if (mwl__as_map(m->v)->used == m->v.aux) return mwl__value_weight(m->v) == weight;
    return mwl__value_weight(m->v) >= weight;
}

/* The longest map of a history, which is begun anew now and then. */
static void play_maps(int *utest_result, int longest) {
    begin();
    struct faulty f;
    mwl_alloc a = faulty_alloc(&f);
    mwl_heap *h = NULL;
    static struct model model[VERSIONS];
    mwl_heap_new(&a, &h);
    for (int i = 0; i < VERSIONS; i++) model[i] = (struct model){.v = mwl_object(h, 0)};
    for (int round = 0; round < ROUNDS / 2; round++) {
        struct model *from = &model[draw(VERSIONS)], *to = &model[draw(VERSIONS)];
        static struct model next;
        int k = (int)draw(KEYS);
        if (from->n >= longest) k = from->key[draw((uint32_t)from->n)];
        next = *from;
        switch (draw(7)) {
        case 0:
        case 1:
            model_put(&next, k, round);
            next.v = mwl__map_put(h, mwl__borrow(from->v), key_of(h, k), item(h, round));
            break;
        case 2:
        case 3:
            model_put(&next, k, round);
            next.v = mwl__map_put(h, from->v, key_of(h, k), item(h, round));
            if (draw(16)) {
                *from = next;
                from->v = mwl_value_keep(next.v);
            } else {
                *from = (struct model){.v = mwl_object(h, draw(5))};
            }
            break;
        case 4:
        case 5: next.v = mwl_value_keep(from->v); break;
        default:
            if (draw(40)) {
                next.v = mwl_value_keep(from->v);
                break;
            }
            next = (struct model){.v = mwl_object(h, draw(30))};
        }
        if (round % 4 == 0) ASSERT_TRUE(map_agrees(h, &next));
        mwl_value_drop(h, to->v);
        *to = next;
        if (round % 64 == 0)
            for (int i = 0; i < VERSIONS; i++) ASSERT_TRUE(map_agrees(h, &model[i]));
    }
    for (int i = 0; i < VERSIONS; i++) mwl_value_drop(h, model[i].v);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
    ASSERT_EQ(f.live_blocks, (size_t)0);
    ASSERT_FALSE(f.wrong);
}

UTEST(versions, of_maps) {
    keys = OTHERS;
    play_maps(utest_result, KEYS);
}

UTEST(versions, of_maps_with_names) {
    keys = NAMES;
    play_maps(utest_result, 3); /* their shapes come again */
    play_maps(utest_result, MWL_INDEX_FROM);
}

UTEST(versions, of_maps_with_names_and_other_keys) {
    keys = BOTH;
    play_maps(utest_result, 6);
    play_maps(utest_result, KEYS);
}

UTEST_MAIN()
