/* json_nodes.c: see json_nodes.h.
 *
 * The walk does not recurse, and allocates a container when its node comes, with its right size. */
#include "vm/value/json_nodes.h"
#include "vm/base/utf8.h"
#include "vm/value/shape.h"

#include <yyjson.h>

enum {
    SHORT = 32, /* bytes of texts that are shared */
};

void mwl__json_nodes_init(mwl__json_nodes *j, mwl_heap *heap, bool sharing) {
    j->heap = heap;
    j->differs = false;
    j->sharing = sharing;
    j->block = j->few_nodes;
    j->room = sizeof j->few_nodes;
    j->waiting = j->few;
    j->n = 0;
    j->cap = MWL__JSON_FEW;
    j->depth = 0;
    if (sharing) memset(j->texts, 0, sizeof j->texts);
}

void mwl__json_nodes_free(mwl__json_nodes *j) {
    mwl_heap *h = j->heap;
    for (size_t i = 0; i < j->n; i++) mwl__drop(h, j->waiting[i]);
    for (size_t i = 0; i < j->depth; i++) mwl__drop(h, j->levels[i].box);
    if (j->waiting != j->few) mwl__heap_give(h, j->waiting, j->cap * sizeof *j->waiting);
    if (j->block != j->few_nodes) mwl__heap_give(h, j->block, j->room);
    for (size_t i = 0; j->sharing && i < MWL__JSON_TEXTS; i++) mwl__drop(h, j->texts[i]);
}

bool mwl__json_nodes_widen(mwl__json_nodes *j, size_t n) {
    if (j->cap - j->n >= n) return true;
    size_t cap = j->cap * 2, size = j->cap * sizeof *j->waiting;
    while (cap - j->n < n) cap *= 2;
    mwl_value *wider = j->waiting == j->few
                           ? mwl__heap_take(j->heap, cap * sizeof *wider)
                           : mwl__heap_resize(j->heap, j->waiting, size, cap * sizeof *wider);
    if (!wider) return false;
    if (j->waiting == j->few) memcpy(wider, j->few, size);
    j->waiting = wider;
    j->cap = cap;
    return true;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static inline uint64_t word_at(const char *s) {
    uint64_t w;
    memcpy(&w, s, 8);
    return w;
}

/* Returns the number of code points. A word can be read at s, also if the text is shorter. */
static inline size_t code_points(const char *s, size_t len) {
    const uint64_t high = 0x8080808080808080u;
    if (len > 8) {
        uint64_t seen = word_at(s + len - 8);
        for (size_t i = 0; i < len - 8; i += 8) seen |= word_at(s + i);
        if (!(seen & high)) return len;
    } else if (len == 0 || (MWL__IN_WORDS && !(word_at(s) << (64 - 8 * len) & high))) {
        return len;
    }
    return mwl__utf8_count(s, len);
}

/* Makes a string; recent equal ones that are short share it. */
static mwl_value make_text(mwl__json_nodes *j, yyjson_val *node) {
    const char *s = unsafe_yyjson_get_str(node);
    const size_t len = unsafe_yyjson_get_len(node);
    const uint32_t hash = mwl__str_hash(s, len);
    mwl_value *place = len <= SHORT && j->sharing ? &j->texts[hash % MWL__JSON_TEXTS] : NULL;
    if (place && !mwl_is_absent(*place) && place->aux == hash) {
        const mwl__str *have = mwl__as_str(*place);
        if (have->len == len && mwl__bytes_same(have->s, s, len)) return mwl__keep(*place);
    }
    mwl_value v = mwl__str_new_known(j->heap, s, len, code_points(s, len), hash);
    if (!place || mwl_is_absent(v)) return v;
    mwl__drop(j->heap, *place);
    *place = mwl__keep(v);
    return v;
}

static mwl_value make_name(mwl__json_nodes *j, yyjson_val *node) {
    return mwl__key(j->heap, unsafe_yyjson_get_str(node), unsafe_yyjson_get_len(node));
}

static inline bool is_name(yyjson_val *node, mwl_value name) {
    const mwl__str *s = mwl__as_str(name);
    return s->len == unsafe_yyjson_get_len(node) &&
           mwl__bytes_same(unsafe_yyjson_get_str(node), s->s, s->len);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* spec: data-model, a single number type: the nearest double, within its range */
static mwl_value make_number(mwl__json_nodes *j, yyjson_val *node) {
    yyjson_subtype kind = unsafe_yyjson_get_subtype(node);
    double d;
    if (kind == YYJSON_SUBTYPE_REAL)
        d = unsafe_yyjson_get_real(node);
    else if (kind == YYJSON_SUBTYPE_UINT)
        d = (double)unsafe_yyjson_get_uint(node);
    else
        d = unsafe_yyjson_get_sint(node) ? (double)unsafe_yyjson_get_sint(node) : -0.0;
    j->differs |= d >= 0x1p53 || d <= -0x1p53; /* 2^53 + 1 becomes 2^53 */
    return mwl_number(d);
}

/* ---- containers ------------------------------------------------------------------------------ */

/* Returns a complete container that a part of l may resemble: the element before it, or what is at
 * its place in the container that l resembles. Absent: there is none. */
static mwl_value resembled(const mwl__json_nodes *j, const mwl__json_level *l, bool object,
                           bool *foreign) {
    mwl_value like = mwl_absent();
    const size_t i = j->n - l->base;
    *foreign = l->foreign;
    if (l->object) {
        if (i < l->alike) like = mwl__as_map(l->like)->val[i];
    } else if (i) {
        *foreign = false;
        like = j->waiting[j->n - 1];
    } else if (mwl_count(l->like)) {
        like = mwl__as_list(l->like)->item[0];
    }
    return mwl_value_kind(like) == (object ? MWL_KIND_OBJECT : MWL_KIND_ARRAY) ? like
                                                                               : mwl_absent();
}

/* Returns how many names of an object are the first ones of the one that it may resemble. */
static uint32_t count_alike(const mwl__json_level *l) {
    if (mwl_is_absent(l->like)) return 0;
    const mwl_value *key = mwl__as_map(l->like)->keys->key;
    const uint32_t most = l->like.aux < l->count ? l->like.aux : l->count;
    yyjson_val *node = unsafe_yyjson_get_first(l->node);
    uint32_t i = 0;
    for (; i < most && is_name(node, key[i]); i++) node = unsafe_yyjson_get_next(node + 1);
    return i;
}

/* Begins the container of a node, which is not empty, in `around`, or with what it may resemble.
 * Returns NULL, with the reason in the heap, at a limit or if out of memory. */
static mwl__json_level *open_level(mwl__json_nodes *j, const mwl__json_level *around,
                                   yyjson_val *node, mwl_value like, bool foreign) {
    const bool object = unsafe_yyjson_get_type(node) == YYJSON_TYPE_OBJ;
    const size_t n = unsafe_yyjson_get_len(node);
    if (n > MWL_COUNT_LIMIT) {
        j->heap->why = MWL_E_TOO_BIG;
        return NULL;
    }
    if (!mwl__json_nodes_widen(j, n)) return NULL;
    if (around) like = resembled(j, around, object, &foreign);
    mwl__json_level *l = &j->levels[j->depth++];
    l->box = mwl_absent();
    l->like = like;
    l->base = j->n;
    l->object = object;
    l->foreign = foreign;
    l->count = (uint32_t)n;
    l->node = node;
    l->alike = object ? count_alike(l) : 0;
    return l;
}

/* Makes the names of an object; those of the one that it may resemble are shared. */
static bool make_names(mwl__json_nodes *j, const mwl__json_level *l, mwl_value *to) {
    yyjson_val *node = unsafe_yyjson_get_first(l->node);
    for (uint32_t i = 0; i < l->count; i++) {
        to[i] = i < l->alike ? mwl__keep(mwl__as_map(l->like)->keys->key[i]) : make_name(j, node);
        if (mwl_is_absent(to[i])) {
            while (i-- > 0) mwl__drop(j->heap, to[i]);
            return false;
        }
        node = unsafe_yyjson_get_next(node + 1);
    }
    return true;
}

/* Makes an object with keys of its own, without values. take_names NULL: they are not made yet.
 * *doubled: a name is there twice. */
static mwl__map *make_named(mwl__json_nodes *j, const mwl__json_level *l,
                            const mwl_value *take_names, bool *doubled) {
    const uint32_t n = l->count;
    mwl__map *m = mwl__map_own(j->heap, n);
    bool fine = m != NULL;
    if (fine && take_names)
        memcpy(m->keys->key, take_names, n * sizeof *take_names);
    else if (fine)
        fine = make_names(j, l, m->keys->key);
    if (fine) {
        *doubled = !mwl__map_index(m, l->alike, n);
        return m;
    }
    for (uint32_t i = 0; take_names && i < n; i++) mwl__drop(j->heap, take_names[i]);
    if (m) mwl__heap_give(j->heap, m, mwl__map_size(n, true));
    return NULL;
}

/* Makes an object with its names, without values. Returns NULL, with the reason in the heap, at a
 * limit or if out of memory. */
static mwl__map *make_map(mwl__json_nodes *j, const mwl__json_level *l, bool *doubled) {
    const uint32_t n = l->count;
    const mwl__keys *like = l->alike == n ? mwl__as_map(l->like)->keys : NULL;
    *doubled = false;
    if (like && !like->own) return mwl__map_bare(j->heap, like, n);
    if (n >= MWL_INDEX_FROM || !j->heap->shares_names) return make_named(j, l, NULL, doubled);
    mwl_value names[MWL_INDEX_FROM];
    if (!make_names(j, l, names)) return NULL;
    const mwl__keys *shape = mwl__shape(j->heap, names, n, 1, true); /* then they are atoms */
    return shape ? mwl__map_bare(j->heap, shape, n) : make_named(j, l, names, doubled);
}

/* Moves the values of an object with a name that is there twice into a new one: the last counts. */
static mwl_value without_doubles(mwl__json_nodes *j, const mwl__json_level *l, mwl__map *m) {
    mwl_heap *h = j->heap;
    const size_t n = l->count, size = n * 2 * sizeof(mwl_value);
    mwl_value *pairs = mwl__heap_take(h, size), *value = j->waiting + l->base;
    j->differs = true;
    for (size_t i = 0; i < n; i++) {
        if (pairs) {
            pairs[2 * i] = m->keys->key[i];
            pairs[2 * i + 1] = value[i];
        } else {
            mwl__drop(h, m->keys->key[i]);
            mwl__drop(h, value[i]);
        }
    }
    j->n = l->base;
    mwl__heap_give(h, m, mwl__map_size(n, true));
    if (!pairs) return mwl_absent();
    mwl_value map = mwl__map_of(h, NULL, pairs, n);
    mwl__heap_give(h, pairs, size);
    return map;
}

/* Returns whether the container has exactly the values of the one that it resembles: equal scalars
 * and shared strings and containers. Others count as different, though they may be equal. */
static bool is_repeated(const mwl__json_nodes *j, const mwl__json_level *l) {
    if (mwl_is_absent(l->like) || l->foreign || l->count != l->like.aux ||
        (l->object && l->alike < l->count))
        return false;
    const mwl_value *mine = j->waiting + l->base, *end = mine + l->count;
    const mwl_value *other = l->object ? mwl__as_map(l->like)->val : mwl__as_list(l->like)->item;
    for (; mine < end; mine++, other++) {
        if (mine->tag != other->tag || mine->aux != other->aux) return false;
        bool points = mwl_value_kind(*mine) >= MWL_KIND_STRING; /* perhaps with half of the bits */
        if (points ? mine->as.p != other->as.p : mine->as.u != other->as.u) return false;
    }
    return true;
}

/* Moves n values into a buffer. Its depth and weight are found then; JSON has nothing odd. A map
 * has these fields at the same places as a list. Returns false if that would weigh too much. */
static inline bool fill(mwl__list *box, mwl_value *to, const mwl_value *take, uint32_t n) {
    uint64_t weight = 1 + (uint64_t)n;
    uint16_t depth = 0;
    for (uint32_t i = 0; i < n; i++) {
        mwl__move(&to[i], &take[i]);
        if (mwl_value_kind(take[i]) < MWL_KIND_ARRAY) continue;
        const mwl__list *part = mwl__as_list(take[i]);
        weight += part->weight - 1;
        if (part->depth > depth) depth = part->depth;
    }
    box->used = n;
    box->depth = (uint16_t)(depth + 1u);
    box->odd = 0;
    box->weight = weight;
    return weight <= MWL_WEIGHT_LIMIT;
}

/* Ends the newest level, whose values are complete. Returns the container, or absent. */
static mwl_value close_level(mwl__json_nodes *j) {
    mwl_heap *h = j->heap;
    const mwl__json_level *l = &j->levels[--j->depth];
    const uint32_t n = l->count;
    if (is_repeated(j, l)) {
        while (j->n > l->base) mwl__drop(h, j->waiting[--j->n]);
        return mwl__keep(l->like);
    }
    mwl_value made = mwl_absent();
    bool fits = false;
    if (l->object) {
        bool doubled;
        mwl__map *m = make_map(j, l, &doubled);
        if (m && doubled) return without_doubles(j, l, m);
        made = (mwl_value){MWL_KIND_OBJECT | MWL_HEAP | MWL_OWNED, n, {.p = m}};
        if (m) fits = fill((mwl__list *)(void *)m, m->val, j->waiting + l->base, n);
        if (!m) return mwl_absent();
    } else {
        made = mwl__list_new(h, n);
        if (mwl_is_absent(made)) return made;
        made.aux = n;
        fits = fill(made.as.p, mwl__as_list(made)->item, j->waiting + l->base, n);
    }
    j->n = l->base;
    if (fits) return made;
    mwl__drop(h, made);
    return mwl__heap_fail(h, MWL_E_TOO_BIG);
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Makes the value of a node that has no nodes in it. */
static inline mwl_value make_leaf(mwl__json_nodes *j, yyjson_val *node) {
    switch (unsafe_yyjson_get_type(node)) {
    case YYJSON_TYPE_STR: return make_text(j, node);
    case YYJSON_TYPE_NUM: return make_number(j, node);
    case YYJSON_TYPE_BOOL: return mwl_bool(unsafe_yyjson_get_bool(node));
    case YYJSON_TYPE_NULL: return mwl_null();
    case YYJSON_TYPE_OBJ: return mwl__map_new(j->heap, 0);
    default: return mwl__list_new(j->heap, 0);
    }
}

/* Drops the values behind n, and leaves the levels above `bottom`: they will not be complete. */
static mwl__json_found leave(mwl__json_nodes *j, size_t bottom, size_t n, mwl__json_found why) {
    while (j->n > n) mwl__drop(j->heap, j->waiting[--j->n]);
    j->depth = bottom;
    return why;
}

/* Ends the newest level and those that end with it, down to `bottom`. Returns the last, or absent.
 */
static mwl_value close_levels(mwl__json_nodes *j, size_t bottom) {
    for (;;) {
        mwl_value made = close_level(j);
        if (mwl_is_absent(made) || j->depth == bottom) return made;
        const mwl__json_level *l = &j->levels[j->depth - 1];
        j->waiting[j->n++] = made;
        if (j->n - l->base != l->count) return made;
    }
}

static mwl__json_found walk(mwl__json_nodes *j, yyjson_val *node, mwl_value like, bool foreign,
                            mwl_value *out) {
    const size_t bottom = j->depth, n = j->n;
    mwl__json_level *l = NULL; /* the newest */
    for (;;) {
        const bool container = unsafe_yyjson_is_ctn(node);
        if (container && j->depth == MWL_DEPTH_LIMIT) return leave(j, bottom, n, MWL__JSON_WRONG);
        if (container && unsafe_yyjson_get_len(node)) {
            l = open_level(j, l, node, like, foreign);
            if (!l) return leave(j, bottom, n, MWL__JSON_FAILED);
            node = unsafe_yyjson_get_first(node) + l->object;
            continue;
        }
        mwl_value made = make_leaf(j, node);
        if (mwl_is_absent(made)) return leave(j, bottom, n, MWL__JSON_FAILED);
        if (l) {
            j->waiting[j->n++] = made;
            if (j->n - l->base != l->count) {
                node += 1 + l->object;
                continue;
            }
            made = close_levels(j, bottom);
            if (mwl_is_absent(made)) return leave(j, bottom, n, MWL__JSON_FAILED);
        }
        if (j->depth == bottom) {
            *out = made;
            return MWL__JSON_MADE;
        }
        l = &j->levels[j->depth - 1]; /* behind it is the one that ended last */
        node = unsafe_yyjson_get_next(l[1].node) + l->object;
    }
}

/* ---- yyjson ---------------------------------------------------------------------------------- */

/* yyjson asks for one block at a time, which serves the next text too. */
static void *pool_resize(void *ctx, void *block, size_t old_size, size_t size) {
    mwl__json_nodes *j = ctx;
    (void)block;
    if (size <= j->room) return j->block;
    size_t room = size + size / 2;
    if (j->block != j->few_nodes) {
        void *wider = mwl__heap_resize(j->heap, j->block, j->room, room);
        if (!wider) return NULL;
        j->block = wider;
    } else {
        void *wider = mwl__heap_take(j->heap, room);
        if (!wider) return NULL;
        memcpy(wider, j->few_nodes, old_size);
        j->block = wider;
    }
    j->room = room;
    return j->block;
}

static void *pool_take(void *ctx, size_t size) { return pool_resize(ctx, NULL, 0, size); }

static void pool_give(void *ctx, void *block) { (void)ctx, (void)block; }

/* Reads the nodes of a value. NULL: *found says why. */
static yyjson_val *nodes_of(mwl__json_nodes *j, char *text, size_t len, size_t *used,
                            mwl__json_found *found) {
    const yyjson_alc pool = {pool_take, pool_resize, pool_give, j};
    yyjson_read_err error;
    memset(text + len, 0, YYJSON_PADDING_SIZE);
    yyjson_doc *doc =
        yyjson_read_opts(text, len, YYJSON_READ_INSITU | YYJSON_READ_STOP_WHEN_DONE, &pool, &error);
    if (doc) {
        *used = yyjson_doc_get_read_size(doc);
        return yyjson_doc_get_root(doc);
    }
    *used = error.pos;
    *found = error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? MWL__JSON_FAILED
             : error.code == YYJSON_READ_ERROR_UNEXPECTED_END  ? MWL__JSON_CUT
                                                               : MWL__JSON_WRONG;
    return NULL;
}

mwl__json_found mwl__json_make(mwl__json_nodes *j, char *text, size_t len, bool name,
                               mwl_value like, bool foreign, mwl_value *out, size_t *used) {
    mwl__json_found found = MWL__JSON_MADE;
    yyjson_val *node = nodes_of(j, text, len, used, &found);
    if (!node) return found;
    if (!name) return walk(j, node, like, foreign, out);
    *out = make_name(j, node);
    return mwl_is_absent(*out) ? MWL__JSON_FAILED : MWL__JSON_MADE;
}
