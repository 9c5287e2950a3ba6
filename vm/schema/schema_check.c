/* schema_check.c: checks a value against a compiled schema.
 *
 * Owns: the meaning of every instruction; the report uses it too. Refuses to know: messages
 * (schema_report.c), and whether the code is valid (schema_load.c has checked it).
 *
 * Recursion follows schemas, not only data, and is limited by MWL_SCHEMA_DEPTH. The check does not
 * collect what was evaluated (annotations). An UNEVALUATED instruction finds that out afterwards
 * (mwl__schema_mark_before), for 512 members or elements at a time. So schemas without it cost
 * nothing, and nothing is allocated. */
#include "vm/schema/format.h"
#include "vm/schema/schema_code.h"

#define NONE MWL__SCHEMA_NONE
#define REPORT_FUEL 300000u /* of one report: it may visit a value many times */
#define REPORT_COST 128u    /* for the texts of a report */

/* Not inlined, so that the frame of mwl__schema_run stays small: there may be a thousand of
 * them. */
#define APART __attribute__((noinline))

static bool stop(mwl__schema_eval *e, mwl_status why) {
    if (e->status == MWL_OK) e->status = why;
    return false;
}

static inline bool charge(mwl__schema_eval *e, uint64_t amount) {
    if (e->fuel < amount) {
        e->fuel = 0;
        return stop(e, MWL_E_FUEL);
    }
    e->fuel -= amount;
    return true;
}

static bool equal(mwl__schema_eval *e, mwl_value a, mwl_value b) {
    int quick = mwl__equal_fast(a, b);
    if (quick >= 0) return quick;
    bool same = false;
    mwl_status st = mwl__value_equal(a, b, &e->fuel, &same);
    if (st < 0) return stop(e, st);
    return same;
}

/* ---- scalars --------------------------------------------------------------------------------- */

bool mwl__schema_type_fits(uint32_t mask, mwl_value v) {
    uint32_t type = mwl__schema_type_of(v);
    if (mask & type) return true;
    return type == MWL__TYPE_NUMBER && (mask & MWL__TYPE_INTEGER) && mwl__schema_is_integer(v);
}

static APART bool in_enum(mwl__schema_eval *e, const uint32_t *t, mwl_value v) {
    uint32_t n = t[2], m = t[3];
    if (mwl_value_kind(v) != MWL_KIND_STRING) {
        for (uint32_t i = 0; i < m; i++)
            if (equal(e, e->consts[t[4 + 2 * n + i]], v)) return true;
        return charge(e, m / 8) && false;
    }
    const uint32_t *hash = t + 4, *key = hash + n;
    if (mwl__as_str(v)->len >= 64 && !charge(e, mwl__as_str(v)->len / 64)) return false;
    uint32_t lo = 0, hi = n;
    while (hi - lo > 16) { /* the first that is not before v is one of lo .. hi */
        uint32_t mid = lo + (hi - lo) / 2;
        if (mwl__schema_name_order(e->consts[key[mid]], v) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (uint32_t i = lo; i <= hi && i < n; i++)
        if (hash[i] == v.aux && mwl__str_same(e->consts[key[i]], v)) return true;
    return false;
}

static bool above(mwl_value v, mwl_value bound, bool excluded) {
    if (mwl_value_kind(v) == MWL_KIND_NUMBER)
        return excluded ? v.as.d > bound.as.d : v.as.d >= bound.as.d;
    int order = mwl__num_order(v, bound);
    return order == 1 || (order == 0 && !excluded);
}

static bool below(mwl_value v, mwl_value bound, bool excluded) {
    if (mwl_value_kind(v) == MWL_KIND_NUMBER)
        return excluded ? v.as.d < bound.as.d : v.as.d <= bound.as.d;
    int order = mwl__num_order(v, bound);
    return order == -1 || (order == 0 && !excluded);
}

static APART bool search(mwl__schema_eval *e, uint32_t pattern, mwl_value text) {
    const mwl__str *s = mwl__as_str(text);
    bool matched = false;
    mwl_status st = mwl__pattern_search(e->schema->patterns[pattern], e->env->scratch, s->s, s->len,
                                        &e->fuel, &matched);
    if (st < 0) return stop(e, st);
    return matched;
}

static bool regex_valid(void *ctx, const char *s, size_t len) {
    return mwl__pattern_valid(&((mwl_heap *)ctx)->alloc, s, len);
}

static APART bool has_format(mwl__schema_eval *e, uint32_t format, mwl_value text) {
    const mwl__str *s = mwl__as_str(text);
    mwl__format_env env = {
        .rfc3339_duration = e->words[MWL__SCHEMA_H_FLAGS] & MWL__SCHEMA_RFC3339_DURATION,
        .regex_valid = regex_valid,
        .ctx = e->env->heap,
    };
    /* compiling a pattern takes much longer than reading it */
    uint64_t cost = format == MWL__FORMAT_REGEX ? s->len : s->len / 2;
    return charge(e, cost) && mwl__format_check((int)format, s->s, s->len, &env);
}

/* ---- objects --------------------------------------------------------------------------------- */

/* Finds a name among slots in the order of mwl__schema_name_order: for names that collide. */
static APART const uint32_t *find_sorted(const mwl__schema_eval *e, const uint32_t *slots,
                                         const uint32_t *entries, uint32_t n, mwl_value key) {
    for (uint32_t lo = 0; lo < n;) {
        uint32_t mid = lo + (n - lo) / 2;
        const uint32_t *entry = entries + (size_t)(slots[mid] - 1) * MWL__ENTRY_SIZE;
        int order = mwl__schema_name_order(e->consts[entry[MWL__ENTRY_KEY]], key);
        if (order == 0) return entry;
        if (order < 0)
            lo = mid + 1;
        else
            n = mid;
    }
    return NULL;
}

const uint32_t *mwl__schema_entry(const mwl__schema_eval *e, const uint32_t *t, mwl_value key) {
    if (mwl_value_kind(key) != MWL_KIND_STRING) return NULL;
    uint32_t shift = t[MWL__PROPS_SHIFT];
    uint32_t mask = (1u << (32 - shift)) - 1;
    const uint32_t *slots = t + MWL__PROPS_SLOTS, *entries = slots + mask + 1;
    if (t[MWL__PROPS_FACTOR] == 0)
        return find_sorted(e, slots, entries, t[MWL__PROPS_ENTRIES], key);
    uint32_t place = key.aux * t[MWL__PROPS_FACTOR] >> shift;
    for (uint32_t n; (n = slots[place]); place = (place + 1) & mask) {
        const uint32_t *entry = entries + (size_t)(n - 1) * MWL__ENTRY_SIZE;
        if (entry[MWL__ENTRY_HASH] == key.aux &&
            mwl__str_same(e->consts[entry[MWL__ENTRY_KEY]], key))
            return entry;
    }
    return NULL;
}

static inline const uint32_t *props_patterns(const uint32_t *t) {
    return t + MWL__PROPS_SLOTS + (1u << (32 - t[MWL__PROPS_SHIFT])) +
           (size_t)t[MWL__PROPS_ENTRIES] * MWL__ENTRY_SIZE;
}

/* `properties`, `patternProperties`, `additionalProperties` and `required` in one pass: names in a
 * value are distinct, so it is enough to count the required ones. */
static APART bool run_props(mwl__schema_eval *e, const uint32_t *t, mwl_value v) {
    const mwl_value *const keys = mwl__as_map(v)->keys->key, *const vals = mwl__as_map(v)->val;
    const uint32_t n_patterns = t[MWL__PROPS_PATTERNS], rest = t[MWL__PROPS_REST];
    const uint32_t *guess = t + MWL__PROPS_SLOTS + (1u << (32 - t[MWL__PROPS_SHIFT]));
    const uint32_t *const end = guess + (size_t)t[MWL__PROPS_ENTRIES] * MWL__ENTRY_SIZE;
    uint32_t required = t[MWL__PROPS_REQUIRED];
    if (v.aux < required) return false;
    uint32_t i = 0;
    for (; i < v.aux; i++) {
        const mwl_value key = keys[i];
        const uint32_t *entry = guess; /* members usually have the order of their declarations */
        if (guess == end || guess[MWL__ENTRY_HASH] != key.aux ||
            mwl_value_kind(key) != MWL_KIND_STRING ||
            !mwl__str_same(e->consts[guess[MWL__ENTRY_KEY]], key))
            entry = mwl__schema_entry(e, t, key);
        bool named = false;
        if (entry) {
            guess = entry + MWL__ENTRY_SIZE;
            required -= entry[MWL__ENTRY_REQUIRED];
            if (entry[MWL__ENTRY_NODE] != NONE) {
                if (!mwl__schema_run(e, entry[MWL__ENTRY_NODE], vals[i])) goto refused;
                named = true;
            }
        }
        if (n_patterns && mwl_value_kind(key) == MWL_KIND_STRING) {
            const uint32_t *p = props_patterns(t);
            for (uint32_t j = 0; j < n_patterns; j++, p += 2) {
                if (!search(e, p[0], key)) {
                    if (e->status) goto refused;
                    continue;
                }
                named = true;
                if (!mwl__schema_run(e, p[1], vals[i])) goto refused;
            }
        }
        if (!named && rest != NONE && !mwl__schema_run(e, rest, vals[i])) goto refused;
    }
    return charge(e, v.aux / 4) && required == 0;
refused: /* what was looked at is charged too */
    return charge(e, i / 4) && false;
}

static APART bool run_needs(mwl__schema_eval *e, const uint32_t *t, mwl_value v) {
    const uint32_t *end = t + t[1];
    for (const uint32_t *p = t + 2; p < end; p += 2 + p[1]) {
        if (!mwl__map_get(v, e->consts[p[0]])) continue;
        for (uint32_t i = 0; i < p[1]; i++)
            if (!mwl__map_get(v, e->consts[p[2 + i]])) return false;
    }
    return charge(e, t[1] / 8);
}

static APART bool run_whens(mwl__schema_eval *e, const uint32_t *t, mwl_value v) {
    for (const uint32_t *p = t + 2, *end = t + t[1]; p < end; p += 2)
        if (mwl__map_get(v, e->consts[p[0]]) && !mwl__schema_run(e, p[1], v)) return false;
    return true;
}

static APART bool run_names(mwl__schema_eval *e, uint32_t node, mwl_value v) {
    for (uint32_t i = 0; i < v.aux; i++)
        if (!mwl__schema_run(e, node, mwl__map_key(mwl__as_map(v), i))) return false;
    return true;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static APART bool run_items(mwl__schema_eval *e, const uint32_t *t, mwl_value v) {
    const mwl_value *item = mwl__as_list(v)->item;
    uint32_t n_prefix = t[1] - 3, rest = t[2], i = 0;
    for (; i < v.aux && i < n_prefix; i++)
        if (!mwl__schema_run(e, t[3 + i], item[i])) return false;
    if (rest == NONE) return true;
    for (; i < v.aux; i++)
        if (!mwl__schema_run(e, rest, item[i])) return false;
    return true;
}

static APART bool run_contains(mwl__schema_eval *e, const uint32_t *ins, mwl_value v) {
    const mwl_value *item = mwl__as_list(v)->item;
    uint32_t least = ins[2], most = ins[3], n = 0;
    if (least == 0 && most == NONE) return true;
    for (uint32_t i = 0; i < v.aux; i++) {
        if (mwl__schema_run(e, ins[1], item[i])) {
            if (++n > most) return false;
            if (n >= least && most == NONE) return true;
        }
        if (e->status) return false;
    }
    return n >= least;
}

static APART bool run_unique(mwl__schema_eval *e, mwl_value v) {
    bool found = false;
    uint32_t at[2];
    mwl_status st = mwl__schema_find_equal(e->env->heap, v, &e->fuel, &found, at);
    if (st < 0) return stop(e, st);
    return !found;
}

/* ---- several schemas on one value ------------------------------------------------------------ */

static APART bool run_all(mwl__schema_eval *e, const uint32_t *t, mwl_value v) {
    for (uint32_t i = 2; i < t[1]; i++)
        if (!mwl__schema_run(e, t[i], v)) return false;
    return true;
}

static APART bool run_any(mwl__schema_eval *e, const uint32_t *t, mwl_value v) {
    for (uint32_t i = 2; i < t[1]; i++) {
        if (mwl__schema_run(e, t[i], v)) return true;
        if (e->status) return false;
    }
    return false;
}

static APART bool run_one(mwl__schema_eval *e, const uint32_t *t, mwl_value v) {
    bool one = false;
    for (uint32_t i = 2; i < t[1]; i++) {
        if (mwl__schema_run(e, t[i], v)) {
            if (one) return false;
            one = true;
        }
        if (e->status) return false;
    }
    return one;
}

static APART bool run_if(mwl__schema_eval *e, const uint32_t *ins, mwl_value v) {
    uint32_t next = mwl__schema_run(e, ins[1], v) ? ins[2] : ins[3];
    if (e->status) return false;
    return next == NONE || mwl__schema_run(e, next, v);
}

/* ---- references ------------------------------------------------------------------------------ */

bool mwl__schema_enter(const mwl__schema_eval *e, uint32_t resource,
                       struct mwl__schema_scope *scope) {
    for (const struct mwl__schema_scope *s = e->scope; s; s = s->outer)
        if (s->resource == resource) return false;
    scope->outer = e->scope;
    scope->resource = resource;
    return true;
}

uint32_t mwl__schema_dynamic(const mwl__schema_eval *e, const uint32_t *t) {
    uint32_t found = t[2]; /* the outermost resource that has the anchor decides */
    for (const struct mwl__schema_scope *s = e->scope; s; s = s->outer)
        for (uint32_t i = 3; i < t[1]; i += 2)
            if (t[i] == s->resource) found = t[i + 1];
    return found;
}

static APART bool run_scope(mwl__schema_eval *e, const uint32_t *ins, mwl_value v) {
    struct mwl__schema_scope scope;
    if (!mwl__schema_enter(e, ins[1], &scope)) return mwl__schema_run(e, ins[2], v);
    e->scope = &scope;
    bool valid = mwl__schema_run(e, ins[2], v);
    e->scope = scope.outer;
    return valid;
}

/* ---- what was evaluated ---------------------------------------------------------------------- */

static void mark(mwl__schema_eval *e, uint32_t node, mwl_value v, mwl__schema_marks *m);

static void set_marks(mwl__schema_marks *m, uint32_t from, uint32_t to) {
    for (uint32_t i = from > m->first ? from : m->first; i < to && i - m->first < MWL__MARKS; i++)
        m->bit[(i - m->first) / 64] |= 1ull << ((i - m->first) & 63);
}

static void mark_if(mwl__schema_eval *e, uint32_t node, mwl_value v, mwl__schema_marks *m) {
    if (mwl__schema_run(e, node, v)) mark(e, node, v, m);
}

static bool matches_some(mwl__schema_eval *e, const uint32_t *t, mwl_value key) {
    const uint32_t *p = props_patterns(t);
    if (mwl_value_kind(key) != MWL_KIND_STRING) return false;
    for (uint32_t j = 0; j < t[MWL__PROPS_PATTERNS] && !e->status; j++, p += 2)
        if (search(e, p[0], key)) return true;
    return false;
}

static void mark_props(mwl__schema_eval *e, const uint32_t *t, mwl_value v, mwl__schema_marks *m) {
    if (t[MWL__PROPS_REST] != NONE) {
        set_marks(m, 0, v.aux);
        return;
    }
    for (uint32_t i = m->first; i < v.aux && i - m->first < MWL__MARKS && !e->status; i++) {
        const mwl_value key = mwl__as_map(v)->keys->key[i];
        const uint32_t *entry = mwl__schema_entry(e, t, key);
        if ((entry && entry[MWL__ENTRY_NODE] != NONE) || matches_some(e, t, key))
            set_marks(m, i, i + 1);
    }
}

static void mark_contained(mwl__schema_eval *e, uint32_t node, mwl_value v, mwl__schema_marks *m) {
    for (uint32_t i = m->first; i < v.aux && i - m->first < MWL__MARKS && !e->status; i++)
        if (mwl__schema_run(e, node, mwl__as_list(v)->item[i])) set_marks(m, i, i + 1);
}

static void mark_scope(mwl__schema_eval *e, const uint32_t *ins, mwl_value v,
                       mwl__schema_marks *m) {
    struct mwl__schema_scope scope;
    if (!mwl__schema_enter(e, ins[1], &scope)) {
        mark(e, ins[2], v, m);
        return;
    }
    e->scope = &scope;
    mark(e, ins[2], v, m);
    e->scope = scope.outer;
}

static void mark_ins(mwl__schema_eval *e, const uint32_t *p, mwl_value v, mwl__schema_marks *m) {
    const uint32_t *t = e->words + p[1];
    switch ((mwl__schema_op)(*p & 0xff)) {
    case MWL__SCHEMA_PROPS: mark_props(e, t, v, m); break;
    case MWL__SCHEMA_ITEMS: set_marks(m, 0, t[2] == NONE ? t[1] - 3 : v.aux); break;
    case MWL__SCHEMA_CONTAINS: mark_contained(e, p[1], v, m); break;
    case MWL__SCHEMA_WHENS:
        for (uint32_t i = 2; i < t[1]; i += 2)
            if (mwl__map_get(v, e->consts[t[i]])) mark(e, t[i + 1], v, m);
        break;
    case MWL__SCHEMA_ALL:
        for (uint32_t i = 2; i < t[1]; i++) mark(e, t[i], v, m);
        break;
    case MWL__SCHEMA_ANY:
    case MWL__SCHEMA_ONE:
        for (uint32_t i = 2; i < t[1] && !e->status; i++) mark_if(e, t[i], v, m);
        break;
    case MWL__SCHEMA_IF:
        if (mwl__schema_run(e, p[1], v)) {
            mark(e, p[1], v, m);
            if (p[2] != NONE) mark(e, p[2], v, m);
        } else if (p[3] != NONE && !e->status) {
            mark(e, p[3], v, m);
        }
        break;
    case MWL__SCHEMA_SCOPE: mark_scope(e, p, v, m); break;
    case MWL__SCHEMA_DYNAMIC: mark(e, mwl__schema_dynamic(e, t), v, m); break;
    case MWL__SCHEMA_REF: mark(e, p[1], v, m); break;
    case MWL__SCHEMA_UNEVALUATED_ITEMS:
    case MWL__SCHEMA_UNEVALUATED_PROPS: set_marks(m, 0, v.aux); break;
    default: break;
    }
}

void mwl__schema_mark_before(mwl__schema_eval *e, uint32_t node, const uint32_t *until, mwl_value v,
                             mwl__schema_marks *m) {
    uint32_t type = mwl__schema_type_of(v);
    if (e->depth >= MWL_SCHEMA_DEPTH) {
        (void)stop(e, MWL_E_DEPTH);
        return;
    }
    e->depth++;
    for (const uint32_t *p = e->words + node + 2; p != until && (*p & 0xff) != MWL__SCHEMA_END;
         p += *p >> 16) {
        if (!(*p >> 8 & type)) continue;
        if (!charge(e, 1)) break;
        mark_ins(e, p, v, m);
        if (e->status) break;
    }
    e->depth--;
}

static void mark(mwl__schema_eval *e, uint32_t node, mwl_value v, mwl__schema_marks *m) {
    mwl__schema_mark_before(e, node, NULL, v, m);
}

/* Members or elements that nothing in the node has evaluated must be valid against the node of
 * `ins`. */
static APART bool run_unevaluated(mwl__schema_eval *e, uint32_t node, const uint32_t *ins,
                                  mwl_value v) {
    bool array = mwl_value_kind(v) == MWL_KIND_ARRAY;
    for (uint32_t first = 0; first < v.aux; first += MWL__MARKS) {
        mwl__schema_marks m = {.first = first};
        mwl__schema_mark_before(e, node, ins, v, &m);
        for (uint32_t i = first; i < v.aux && i - first < MWL__MARKS; i++) {
            if (e->status) return false;
            if (mwl__schema_marked(&m, i)) continue;
            mwl_value child = array ? mwl__as_list(v)->item[i] : mwl__as_map(v)->val[i];
            if (!mwl__schema_run(e, ins[1], child)) return false;
        }
    }
    return true;
}

/* ---- a node ---------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) bool step(mwl__schema_eval *e, uint32_t node,
                                                       const uint32_t *p, mwl_value v) {
    const uint32_t *w = e->words;
    switch ((mwl__schema_op)(*p & 0xff)) {
    case MWL__SCHEMA_CONST: return equal(e, e->consts[p[1]], v);
    case MWL__SCHEMA_ENUM: return in_enum(e, w + p[1], v);
    case MWL__SCHEMA_MIN: return above(v, e->consts[p[1]], p[2] != 0);
    case MWL__SCHEMA_MAX: return below(v, e->consts[p[1]], p[2] != 0);
    case MWL__SCHEMA_MULTIPLE: return mwl__schema_is_multiple(v, e->consts[p[1]].as.d);
    case MWL__SCHEMA_LENGTH: {
        uint32_t n = mwl__as_str(v)->n_cp;
        return n >= p[1] && n <= p[2];
    }
    case MWL__SCHEMA_COUNT:
    case MWL__SCHEMA_MEMBERS: return v.aux >= p[1] && v.aux <= p[2];
    case MWL__SCHEMA_PATTERN: return search(e, p[1], v);
    case MWL__SCHEMA_FORMAT: return has_format(e, p[1], v);
    case MWL__SCHEMA_PROPS: return run_props(e, w + p[1], v);
    case MWL__SCHEMA_NEEDS: return run_needs(e, w + p[1], v);
    case MWL__SCHEMA_NAMES: return run_names(e, p[1], v);
    case MWL__SCHEMA_ITEMS: return run_items(e, w + p[1], v);
    case MWL__SCHEMA_CONTAINS: return run_contains(e, p, v);
    case MWL__SCHEMA_UNIQUE: return run_unique(e, v);
    case MWL__SCHEMA_WHENS: return run_whens(e, w + p[1], v);
    case MWL__SCHEMA_ALL: return run_all(e, w + p[1], v);
    case MWL__SCHEMA_ANY: return run_any(e, w + p[1], v);
    case MWL__SCHEMA_ONE: return run_one(e, w + p[1], v);
    case MWL__SCHEMA_NOT: return !mwl__schema_run(e, p[1], v) && !e->status;
    case MWL__SCHEMA_IF: return run_if(e, p, v);
    case MWL__SCHEMA_SCOPE: return run_scope(e, p, v);
    case MWL__SCHEMA_DYNAMIC: return mwl__schema_run(e, mwl__schema_dynamic(e, w + p[1]), v);
    case MWL__SCHEMA_REF: return mwl__schema_run(e, p[1], v);
    case MWL__SCHEMA_UNEVALUATED_ITEMS:
    case MWL__SCHEMA_UNEVALUATED_PROPS: return run_unevaluated(e, node, p, v);
    case MWL__SCHEMA_END:
    case MWL__N_SCHEMA_OPS: break;
    }
    return true;
}

bool mwl__schema_step(mwl__schema_eval *e, uint32_t node, const uint32_t *ins, mwl_value v) {
    return step(e, node, ins, v);
}

/* Runs the instructions of the node; the type of the value has been checked. A reference at the end
 * is a jump. It may be taken as often as schemas may nest, so a reference to itself ends. */
static bool run_node(mwl__schema_eval *e, uint32_t node, uint32_t type, mwl_value v) {
    const uint32_t depth = e->depth;
    const uint32_t *p = e->words + node + 2;
    bool valid = true;
    for (;;) {
        const uint32_t head = *p, op = head & 0xff;
        if (op == MWL__SCHEMA_END) break;
        if (!(head >> 8 & type)) {
            p += head >> 16;
            continue;
        }
        if (op == MWL__SCHEMA_REF && (p[2] & 0xff) == MWL__SCHEMA_END) {
            if (++e->depth >= MWL_SCHEMA_DEPTH) {
                valid = stop(e, MWL_E_DEPTH);
                break;
            }
            node = p[1];
            p = e->words + node;
            if (!(*p >> 8 & type) && !mwl__schema_type_fits(*p >> 8, v)) {
                valid = false;
                break;
            }
            p += 2;
            continue;
        }
        if (!step(e, node, p, v)) {
            valid = false;
            break;
        }
        p += head >> 16;
    }
    e->depth = depth;
    return valid;
}

bool mwl__schema_run(mwl__schema_eval *e, uint32_t node, mwl_value v) {
    const uint32_t *p = e->words + node;
    uint32_t type = mwl__schema_type_of(v);
    if (e->fuel == 0) return stop(e, MWL_E_FUEL);
    e->fuel--;
    if (!(*p >> 8 & type) && !mwl__schema_type_fits(*p >> 8, v)) return false;
    if ((p[2] & 0xff) == MWL__SCHEMA_END) return true;
    if (e->depth >= MWL_SCHEMA_DEPTH) return stop(e, MWL_E_DEPTH);
    e->depth++;
    bool valid = run_node(e, node, type, v);
    e->depth--;
    return valid;
}

mwl_status mwl__schema_check(const mwl__schema *schema, mwl_value instance,
                             const mwl__schema_env *env, bool *valid, mwl_value *report) {
    mwl__schema_eval e = {
        .schema = schema,
        .words = schema->words,
        .consts = schema->consts,
        .env = env,
        .fuel = env->fuel ? *env->fuel : UINT64_MAX,
    };
    *valid = mwl__schema_run(&e, schema->words[MWL__SCHEMA_H_ROOT], instance);
    if (e.status == MWL_OK && !*valid && report && charge(&e, REPORT_COST)) {
        uint64_t left = e.fuel, lent = left < REPORT_FUEL ? left : REPORT_FUEL;
        e.fuel = lent;
        *report = mwl__schema_explain(&e, schema->words[MWL__SCHEMA_H_ROOT], instance);
        e.fuel = left - (lent - e.fuel);
    }
    if (env->fuel) *env->fuel = e.fuel;
    if (e.status != MWL_OK) *valid = false;
    return e.status;
}
