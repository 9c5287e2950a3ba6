/* value.c: whole values: destruction, equality, order, and the small kinds.
 *
 * Owns: the walks over nested values. None recurses: destruction threads a list through the dead
 * objects themselves and so needs no memory; the others keep a stack of MWL_DEPTH_LIMIT records,
 * which containers never exceed. Refuses to know: text forms. */
#include "vm/value/value.h"

/* ---- destruction ----------------------------------------------------------------------------- */

/* The count and weight of a dead container are not needed any more. Its kind and the link to the
 * next dead one are stored there. */
static void set_next(void *p, uint32_t kind, void *next) {
    *(uint32_t *)p = kind;
    if (kind == MWL_KIND_FAULT)
        memcpy(&((mwl__fault *)p)->where, &next, sizeof next);
    else if (kind == MWL_KIND_OPTIONAL)
        memcpy(&((mwl__box *)p)->weight, &next, sizeof next);
    else
        memcpy(&((mwl__list *)p)->weight, &next, sizeof next); /* a map has it at the same place */
}

static void *get_next(const void *p) {
    void *next;
    uint32_t kind = *(const uint32_t *)p;
    if (kind == MWL_KIND_FAULT)
        memcpy(&next, &((const mwl__fault *)p)->where, sizeof next);
    else if (kind == MWL_KIND_OPTIONAL)
        memcpy(&next, &((const mwl__box *)p)->weight, sizeof next);
    else
        memcpy(&next, &((const mwl__list *)p)->weight, sizeof next);
    return next;
}

_Static_assert(offsetof(mwl__list, weight) == offsetof(mwl__map, weight), "set_next relies on it");
_Static_assert(offsetof(mwl__fault, sub) == offsetof(mwl__fault, where) + 4, "room for a pointer");

static inline void give_str(mwl_heap *h, mwl__str *s) {
    mwl__heap_give(h, s, sizeof *s + s->len + 1);
}

#if defined(__GNUC__)
#define APART __attribute__((noinline))
#else
#define APART
#endif

/* Puts a dead list or map on the list. */
static inline void *doom(void *p, uint32_t kind, void *doomed) {
    *(uint32_t *)p = kind;
    memcpy(&((mwl__list *)p)->weight, &doomed, sizeof doomed);
    return p;
}

/* The count of v is zero. Frees it at once if it is not a container, otherwise puts it on the
 * list. */
static void *bury(mwl_heap *h, mwl_value v, void *doomed) {
    switch (mwl_value_kind(v)) {
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES:
    case MWL_KIND_TYPE: give_str(h, v.as.p); return doomed;
    case MWL_KIND_EXT: {
        mwl__ext *e = mwl__as_ext(v);
        mwl_value type = e->type;
        mwl__heap_give(h, e, sizeof *e + e->len);
        if ((type.tag & MWL_OWNED) && --*(uint32_t *)type.as.p == 0) give_str(h, type.as.p);
        return doomed;
    }
    default: set_next(v.as.p, mwl_value_kind(v), doomed); return v.as.p;
    }
}

/* The same, without a call for those that containers mostly hold. */
static inline void *lay(mwl_heap *h, const mwl_value *v, void *doomed) {
    const uint32_t kind = mwl_value_kind(*v);
    if (kind == MWL_KIND_OBJECT || kind == MWL_KIND_ARRAY) return doom(v->as.p, kind, doomed);
    return bury(h, *v, doomed);
}

/* Reads the tag first: most members are constants and scalars, and need nothing else. */
static inline void *release(mwl_heap *h, const mwl_value *v, void *doomed) {
    if (!(v->tag & MWL_OWNED)) return doomed;
    uint32_t *rc = v->as.p;
    if (--*rc) return doomed;
    return lay(h, v, doomed);
}

/* Frees a container and drops what it holds. Returns the list, with the containers whose count
 * reached zero. */
static void *open_grave(mwl_heap *h, void *p, uint32_t kind, void *doomed) {
    switch (kind) {
    case MWL_KIND_ARRAY: {
        mwl__list *l = p;
        for (const mwl_value *v = l->item, *end = v + l->used; v != end; v++)
            doomed = release(h, v, doomed);
        mwl__heap_give(h, l, mwl__list_size(l->cap));
        return doomed;
    }
    case MWL_KIND_OPTIONAL: {
        mwl__box *b = p;
        doomed = release(h, &b->v, doomed);
        mwl__heap_give(h, b, sizeof *b);
        return doomed;
    }
    default: {
        mwl__fault *f = p;
        doomed = release(h, &f->message, doomed);
        doomed = release(h, &f->details, doomed);
        mwl__heap_give(h, f, sizeof *f);
        return doomed;
    }
    }
}

/* Frees a map with keys of its own; its members have been dropped before. Keys are no containers.
 */
APART static void give_keys(mwl_heap *h, mwl__map *m) {
    for (uint32_t i = 0; i < m->used; i++) (void)release(h, &m->keys->key[i], NULL);
    mwl__heap_give(h, m, mwl__map_size(m->cap, true));
}

static inline void give_map(mwl_heap *h, mwl__map *m) {
    if (m->keys->own)
        give_keys(h, m);
    else
        mwl__heap_give_units(h, m, mwl__map_units(m->cap));
}

/* Frees a map and drops its values from v on. */
static void *open_map(mwl_heap *h, mwl__map *m, const mwl_value *v, void *doomed) {
    for (const mwl_value *end = m->val + m->used; v != end; v++) doomed = release(h, v, doomed);
    give_map(h, m);
    return doomed;
}

static void open_all(mwl_heap *h, void *doomed) {
    while (doomed) {
        void *p = doomed;
        uint32_t kind = *(uint32_t *)p;
        doomed = get_next(p);
        doomed = kind == MWL_KIND_OBJECT ? open_map(h, p, ((mwl__map *)p)->val, doomed)
                                         : open_grave(h, p, kind, doomed);
    }
}

/* The count of the value v of a map that is being freed is zero. */
APART static void destroy_from(mwl_heap *h, mwl__map *m, const mwl_value *v) {
    open_all(h, open_map(h, m, v + 1, lay(h, v, NULL)));
}

/* Is it so large that the heap defers it? */
static inline bool is_deferred(const mwl_heap *h, mwl_value v) {
    return mwl__value_weight(v) >= h->defers_from;
}

APART static void defer(mwl_heap *h, mwl_value v) {
    const uint64_t weight = mwl__value_weight(v);
    set_next(v.as.p, mwl_value_kind(v), h->dead);
    h->dead = v.as.p;
    h->dead_weight += weight;
}

APART static void destroy_other(mwl_heap *h, mwl_value v) {
    if (is_deferred(h, v)) {
        defer(h, v);
        return;
    }
    void *doomed = bury(h, v, NULL);
    if (doomed) open_all(h, doomed);
}

static inline bool dies(const mwl_value *v) {
    return (v->tag & MWL_OWNED) && --*(uint32_t *)v->as.p == 0;
}

/* Most are objects whose members are all scalars, or held elsewhere too. */
void mwl__destroy(mwl_heap *h, mwl_value v) {
    if (mwl_value_kind(v) != MWL_KIND_OBJECT) {
        destroy_other(h, v);
        return;
    }
    mwl__map *m = v.as.p;
    if (m->weight >= h->defers_from) {
        defer(h, v);
        return;
    }
    for (const mwl_value *at = m->val, *end = at + m->used; at != end; at++)
        if (dies(at)) {
            destroy_from(h, m, at);
            return;
        }
    give_map(h, m);
}

/* Frees at most n elements of the first dead container, from its end, and the container with the
 * last. Returns how many. */
static size_t release_some(mwl_heap *h, size_t n) {
    void *p = h->dead;
    const uint32_t kind = *(uint32_t *)p;
    if (kind != MWL_KIND_ARRAY && kind != MWL_KIND_OBJECT) {
        h->dead = open_grave(h, p, kind, get_next(p));
        return 1;
    }
    mwl__list *l = p; /* a map has `used` at the same place */
    mwl__map *m = p;
    if (n > l->used) n = l->used;
    if (n == 0) { /* it may not be the first any more when its last element goes: then later */
        h->dead = get_next(p);
        if (kind == MWL_KIND_ARRAY)
            mwl__heap_give(h, l, mwl__list_size(l->cap));
        else
            give_map(h, m);
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t last = --l->used;
        if (kind == MWL_KIND_ARRAY) {
            h->dead = release(h, &l->item[last], h->dead);
        } else {
            if (m->keys->own) h->dead = release(h, &m->keys->key[last], h->dead);
            h->dead = release(h, &m->val[last], h->dead);
        }
    }
    return n;
}

void mwl__heap_release(mwl_heap *h, size_t elements) {
    const bool all = elements == SIZE_MAX;
    const uint64_t before = h->defers_from;
    h->defers_from = all ? UINT64_MAX : MWL__LARGE; /* large blocks in it are freed in steps too */
    while (elements && mwl__heap_has_dead(h)) {
        size_t done = MWL__RELEASE_STEP / 4;
        if (!mwl__heap_release_block(h, all)) done = release_some(h, elements);
        elements -= all ? 0 : done < elements ? done : elements;
    }
    h->defers_from = before;
    if (!mwl__heap_has_dead(h)) h->dead_weight = 0;
}

/* ---- the small kinds ------------------------------------------------------------------------- */

mwl_value mwl__none(void) { return mwl__scalar(MWL_KIND_OPTIONAL, 0); }

mwl_value mwl__some(mwl_heap *h, mwl_value take) {
    if (mwl_is_absent(take)) return take;
    mwl__box *b = NULL;
    if (mwl__value_depth(take) >= MWL_DEPTH_LIMIT)
        h->why = MWL_E_DEPTH;
    else if (mwl__value_weight(take) >= MWL_WEIGHT_LIMIT)
        h->why = MWL_E_TOO_BIG;
    else
        b = mwl__heap_take(h, sizeof *b);
    if (!b) {
        mwl__drop(h, take);
        return mwl_absent();
    }
    b->rc = 1;
    b->depth = (uint16_t)(mwl__value_depth(take) + 1);
    b->weight = mwl__value_weight(take) + 1;
    b->odd = (uint16_t)(mwl__value_odd(take) | MWL__ODD_KIND);
    b->v = mwl__own(take);
    mwl_value v;
    v.tag = MWL_KIND_OPTIONAL | MWL_HEAP | MWL_OWNED;
    v.aux = 0;
    v.as.p = b;
    return v;
}

mwl_value mwl__ext_new(mwl_heap *h, mwl_value take_type, const void *data, size_t len) {
    if (mwl_is_absent(take_type)) return take_type;
    mwl__ext *e = NULL;
    if (len > MWL_STRING_LIMIT)
        h->why = MWL_E_TOO_BIG;
    else
        e = mwl__heap_take(h, sizeof *e + len);
    if (!e) {
        mwl__drop(h, take_type);
        return mwl_absent();
    }
    e->rc = 1;
    e->len = (uint32_t)len;
    e->type = mwl__own(take_type);
    if (len) memcpy(e->data, data, len);
    mwl_value v;
    v.tag = MWL_KIND_EXT | MWL_HEAP | MWL_OWNED;
    v.aux = 0;
    v.as.p = e;
    return v;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int order_i(int64_t a, int64_t b) { return a < b ? -1 : a > b; }
static int order_u(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }
static int order_d(double a, double b) { return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2; }

/* Compares as doubles, like the reference implementation: 2^63 - 1 and 2^63 are the same double, so
 * neither is less. The conformance tests check both directions. */
static int order_i_d(int64_t i, double d) { return order_d((double)i, d); }
static int order_u_d(uint64_t u, double d) { return order_d((double)u, d); }

static int reversed(int order) { return order == 2 ? 2 : -order; }

int mwl__num_order(mwl_value a, mwl_value b) {
    uint32_t x = mwl_value_kind(a), y = mwl_value_kind(b);
    if (x == MWL_KIND_NUMBER && y == MWL_KIND_NUMBER) return order_d(a.as.d, b.as.d);
    if (x == MWL_KIND_INT && y == MWL_KIND_INT) return order_i(a.as.i, b.as.i);
    if (x == MWL_KIND_UINT && y == MWL_KIND_UINT) return order_u(a.as.u, b.as.u);
    if (x == MWL_KIND_INT && y == MWL_KIND_NUMBER) return order_i_d(a.as.i, b.as.d);
    if (x == MWL_KIND_UINT && y == MWL_KIND_NUMBER) return order_u_d(a.as.u, b.as.d);
    if (x == MWL_KIND_INT) return a.as.i < 0 ? -1 : order_u(a.as.u, b.as.u);
    return reversed(mwl__num_order(b, a));
}

static bool is_number(uint32_t kind) {
    return kind == MWL_KIND_NUMBER || kind == MWL_KIND_INT || kind == MWL_KIND_UINT;
}

bool mwl__value_order(mwl_value a, mwl_value b, int *order) {
    uint32_t kind = mwl_value_kind(a);
    if (is_number(kind) && is_number(mwl_value_kind(b))) {
        *order = mwl__num_order(a, b);
        return true;
    }
    if (kind != mwl_value_kind(b)) return false;
    switch (kind) {
    case MWL_KIND_BOOL:
    case MWL_KIND_DURATION: *order = order_i(a.as.i, b.as.i); return true;
    case MWL_KIND_TIMESTAMP:
        *order = order_i(a.as.i, b.as.i);
        if (*order == 0) *order = order_u(a.aux, b.aux);
        return true;
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES: *order = mwl__str_compare(a, b); return true;
    default: return false;
    }
}

/* ---- equality -------------------------------------------------------------------------------- */

uint16_t mwl__value_odd_slow(mwl_value v) {
    switch (mwl_value_kind(v)) {
    case MWL_KIND_NULL:
    case MWL_KIND_BOOL:
    case MWL_KIND_STRING: return 0;
    case MWL_KIND_NUMBER:
        if (v.as.d - v.as.d == 0) return 0; /* finite */
        return v.as.d == v.as.d ? MWL__ODD_KIND : MWL__ODD_KIND | MWL__ODD_SELF;
    case MWL_KIND_ARRAY: return mwl__as_list(v)->odd;
    case MWL_KIND_OBJECT: return mwl__as_map(v)->odd;
    case MWL_KIND_OPTIONAL: return v.as.p ? mwl__as_box(v)->odd : MWL__ODD_KIND;
    case MWL_KIND_FAULT: return MWL__ODD_KIND | MWL__ODD_SELF;
    default: return MWL__ODD_KIND;
    }
}

static bool same_ext(const mwl__ext *x, const mwl__ext *y) {
    return mwl__str_same(x->type, y->type) && x->len == y->len &&
           (x->len == 0 || memcmp(x->data, y->data, x->len) == 0);
}

/* An object compared with itself: nothing inside can differ, unless there may be a NaN. */
static int same_container(mwl_value a, mwl_value b) {
    if (a.aux != b.aux) return 0;
    if (a.aux == 0) return 1;
    return a.as.p == b.as.p && !(mwl__value_odd_slow(a) & MWL__ODD_SELF) ? 1 : -1;
}

int mwl__equal_mixed(mwl_value a, mwl_value b) {
    uint32_t kind = mwl_value_kind(a);
    if (kind != mwl_value_kind(b))
        return is_number(kind) && is_number(mwl_value_kind(b)) && mwl__num_order(a, b) == 0;
    switch (kind) {
    case MWL_KIND_NUMBER: return a.as.d == b.as.d;
    case MWL_KIND_TIMESTAMP: return a.as.i == b.as.i && a.aux == b.aux;
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES:
    case MWL_KIND_TYPE: return mwl__str_equal_fast(a, b);
    case MWL_KIND_ARRAY:
    case MWL_KIND_OBJECT: return same_container(a, b);
    case MWL_KIND_OPTIONAL:
        if (!a.as.p || !b.as.p) return a.as.p == b.as.p;
        return mwl__equal_fast(mwl__as_box(a)->v, mwl__as_box(b)->v);
    case MWL_KIND_EXT: return same_ext(mwl__as_ext(a), mwl__as_ext(b));
    case MWL_KIND_FAULT: return 0;
    default: return a.as.i == b.as.i;
    }
}

/* Two containers that are compared. The left one is walked; in the right one the walk advances
 * along (arrays) or looks up keys (objects). */
typedef struct pair {
    const mwl_value *left, *left_end;
    const void *right;  /* arrays: the next mwl_value; objects: the mwl__map */
    const mwl__map *of; /* objects: the left one; arrays: NULL */
    uint32_t n;         /* members of an object */
} pair;

/* Of two optionals, the values inside are compared. */
static void look_through(mwl_value *a, mwl_value *b) {
    while (mwl_value_kind(*a) == MWL_KIND_OPTIONAL) {
        *a = mwl__as_box(*a)->v;
        *b = mwl__as_box(*b)->v;
    }
}

static void open_pair(pair *p, mwl_value a, mwl_value b) {
    if (mwl_value_kind(a) == MWL_KIND_ARRAY) {
        p->left = mwl__as_list(a)->item;
        p->left_end = mwl__as_list(a)->item + a.aux;
        p->right = mwl__as_list(b)->item;
        p->of = NULL;
    } else {
        p->left = mwl__as_map(a)->val;
        p->left_end = mwl__as_map(a)->val + a.aux;
        p->right = b.as.p;
        p->of = a.as.p;
        p->n = b.aux;
    }
}

/* Finds the next two values to compare. Returns false if the right side does not have a key of the
 * left side. */
static bool next_pair(pair *p, const mwl_value **a, const mwl_value **b) {
    *a = p->left++;
    if (!p->of) {
        *b = p->right;
        p->right = *b + 1;
        return true;
    }
    *b = mwl__map_same(p->right, p->n, p->of, (uint32_t)(*a - p->of->val));
    return *b != NULL;
}

/* The walk of mwl__value_equal. */
typedef struct walk {
    pair stack[MWL_DEPTH_LIMIT];
    size_t level;
    uint64_t left; /* fuel */
    mwl_status status;
} walk;

static inline bool pay(walk *w, uint64_t n) {
    if (w->left < n) {
        w->left = 0;
        w->status = MWL_E_FUEL;
        return false;
    }
    w->left -= n;
    return true;
}

/* Two values for which mwl__equal_fast returned -1. Returns 0 if they are not equal or the fuel is
 * used up. Returns 1 if they are equal, or if they are containers whose elements must still be
 * compared; the walk has then entered them. Long texts with the same hash are compared byte by
 * byte, and charged by their length. */
static int enter_pair(walk *w, mwl_value a, mwl_value b) {
    look_through(&a, &b);
    uint32_t kind = mwl_value_kind(a);
    if (kind == MWL_KIND_ARRAY || kind == MWL_KIND_OBJECT) {
        open_pair(&w->stack[w->level++], a, b);
        return 1;
    }
    return pay(w, mwl__as_str(a)->len / 64) && mwl__str_same(a, b);
}

mwl_status mwl__value_equal(mwl_value a, mwl_value b, uint64_t *fuel, bool *equal) {
    walk w;
    w.level = 0;
    w.left = fuel ? *fuel : UINT64_MAX;
    w.status = MWL_OK;
    int same = mwl__equal_fast(a, b);
    if (same < 0) same = enter_pair(&w, a, b);
    while (w.level && same) {
        pair *top = &w.stack[w.level - 1];
        if (top->left == top->left_end) {
            w.level--;
            continue;
        }
        const mwl_value *x, *y;
        if (!pay(&w, 1) || !next_pair(top, &x, &y)) {
            same = 0;
            break;
        }
        same = mwl__equal_fast(*x, *y);
        if (same < 0) same = enter_pair(&w, *x, *y);
    }
    if (fuel) *fuel = w.left;
    if (w.status == MWL_OK) *equal = same != 0;
    return w.status;
}

bool mwl_value_equal(mwl_value a, mwl_value b) {
    bool equal = false;
    (void)mwl__value_equal(a, b, NULL, &equal);
    return equal;
}

/* ---- what holds what ------------------------------------------------------------------------- */

enum { REACH_NODES = 4096 };

/* *left is how many more nodes may be looked at. */
static bool reaches(mwl_value v, const void *buffer, size_t *left) {
    enum { LEVELS = 32 };
    struct {
        mwl_value v;
        uint32_t at;
    } path[LEVELS];
    size_t depth = 0;
    for (;;) {
        uint32_t kind = mwl_value_kind(v);
        if (*left == 0) return true;
        --*left;
        if ((v.tag & MWL_HEAP) && kind >= MWL_KIND_ARRAY) {
            if (v.as.p == buffer || depth == LEVELS) return true;
            path[depth].v = v;
            path[depth++].at = 0;
        }
        for (;; depth--) { /* the next value, of the innermost container that has more */
            if (depth == 0) return false;
            v = path[depth - 1].v;
            uint32_t i = path[depth - 1].at++;
            kind = mwl_value_kind(v);
            if (kind == MWL_KIND_ARRAY && i < mwl__as_list(v)->used)
                v = mwl__as_list(v)->item[i];
            else if (kind == MWL_KIND_OBJECT && i < mwl__as_map(v)->used)
                v = mwl__as_map(v)->val[i];
            else if (kind == MWL_KIND_OPTIONAL && i == 0)
                v = mwl_optional_get(v);
            else
                continue;
            break;
        }
    }
}

bool mwl__value_reaches(mwl_heap *h, mwl_value v, const void *buffer, size_t nodes) {
    size_t left = nodes + REACH_NODES;
    bool found = reaches(v, buffer, &left);
    mwl__heap_work(h, nodes + REACH_NODES - left);
    return found;
}

/* ---- for hosts ------------------------------------------------------------------------------- */

mwl_value mwl_value_keep(mwl_value v) { return mwl__keep(v); }

void mwl_value_drop(mwl_heap *heap, mwl_value take) {
    if (heap) mwl__drop(heap, take);
}

size_t mwl_count(mwl_value v) {
    uint32_t kind = mwl_value_kind(v);
    return kind == MWL_KIND_ARRAY || kind == MWL_KIND_OBJECT ? v.aux : 0;
}
