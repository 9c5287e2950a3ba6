/* access.c: reads parts of values: selection, indexing, presence, optionals, whole paths.
 *
 * Owns: the messages for a missing key or a wrong kind, with the keys that exist. Refuses to know:
 * where bases come from (context.c). */
#include "vm/cel/ops.h"

#include <stdio.h>

#define CLIP 80u   /* bytes of a key that a message shows */
#define HAVING 10u /* keys that the details of a missing key list */

/* ---- faults ---------------------------------------------------------------------------------- */

static int clip(mwl_value text) { /* cut at the end of a code point */
    const mwl__str *s = mwl__as_str(text);
    uint32_t n = s->len;
    if (n <= CLIP) return (int)n;
    for (n = CLIP; n && ((unsigned char)s->s[n] & 0xc0u) == 0x80u;) n--;
    return (int)n;
}

/* Returns a key as details of a failure list it, given: a text, or a number that JSON has. */
static mwl_value listed_key(mwl_heap *h, mwl_value key) {
    char text[32];
    int n;
    switch (mwl_value_kind(key)) {
    case MWL_KIND_INT:
        if (key.as.i >= -MWL__EXACT && key.as.i <= MWL__EXACT) return mwl_number((double)key.as.i);
        n = snprintf(text, sizeof text, "%lld", (long long)key.as.i);
        break;
    case MWL_KIND_UINT:
        if (key.as.u <= (uint64_t)MWL__EXACT) return mwl_number((double)key.as.u);
        n = snprintf(text, sizeof text, "%llu", (unsigned long long)key.as.u);
        break;
    case MWL_KIND_BOOL: n = snprintf(text, sizeof text, "%s", key.as.i ? "true" : "false"); break;
    default: return mwl__keep(key); /* a text */
    }
    return mwl__str_new(h, text, (size_t)n);
}

static mwl_value having(mwl_heap *h, mwl_value map) {
    mwl_value list = mwl__list_new(h, map.aux < HAVING ? map.aux : HAVING);
    for (uint32_t i = 0; i < map.aux && i < HAVING; i++) {
        mwl_value key = mwl__map_key(mwl__as_map(map), i);
        list = mwl__list_push(h, list, listed_key(h, key));
    }
    return list;
}

static bool no_such_key(mwl__exec *x, mwl_value map, mwl_value key) {
    const mwl__failure_code code = MWL_FAILURE_EXPRESSION;
    switch (mwl_value_kind(key)) {
    case MWL_KIND_STRING:
        mwl__exec_raise(x, code, "no such key '%.*s'", clip(key), mwl__as_str(key)->s);
        break;
    case MWL_KIND_INT: mwl__exec_raise(x, code, "no such key %lld", (long long)key.as.i); break;
    case MWL_KIND_UINT:
        mwl__exec_raise(x, code, "no such key %lluu", (unsigned long long)key.as.u);
        break;
    case MWL_KIND_NUMBER: mwl__exec_raise(x, code, "no such key %g", key.as.d); break;
    case MWL_KIND_BOOL:
        mwl__exec_raise(x, code, "no such key %s", key.as.i ? "true" : "false");
        break;
    default:
        mwl__exec_raise(x, code, "no such key: a %s cannot be one", mwl__type_name(key));
        break;
    }
    if (x->halt == MWL_EXEC_FAULT) mwl__exec_raise_detail(x, "having", having(x->heap, map));
    return false;
}

static bool not_a_map(mwl__exec *x, mwl_value of, mwl_value key) {
    if (mwl_value_kind(of) == MWL_KIND_NULL)
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "cannot select '%.*s' of null", clip(key),
                               mwl__as_str(key)->s);
    return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "cannot select '%.*s' of a value of type %s",
                           clip(key), mwl__as_str(key)->s, mwl__type_name(of));
}

/* ---- one step -------------------------------------------------------------------------------- */

/* As described in ops.h: the part is counted if the whole is counted. */
static mwl_value part(mwl_value whole, const mwl_value *p) {
    return (whole.tag & MWL_OWNED) ? mwl__keep(*p) : mwl__borrow(*p);
}

/* Returns the value inside an optional, borrowed; absent if it is empty. */
static mwl_value content(mwl_value optional) {
    if (!optional.as.p) return mwl_absent();
    return mwl__borrow(mwl__as_box(optional)->v);
}

bool mwl__access_select(mwl__exec *x, mwl_value of, mwl_value key, mwl_value *out) {
    if (mwl_value_kind(of) == MWL_KIND_OBJECT) {
        const mwl_value *p = mwl__map_get(of, key);
        if (!p) return no_such_key(x, of, key);
        *out = part(of, p);
        return true;
    }
    if (mwl_value_kind(of) == MWL_KIND_OPTIONAL) return mwl__access_optional(x, of, key, true, out);
    return not_a_map(x, of, key);
}

/* Finds an index from an int, a uint or an integral double. Returns 1 if it was found, 0 if it is
 * out of range, -1 if the value is not an index. */
static int element_at(mwl_value index, uint32_t n, uint32_t *at) {
    uint64_t i;
    switch (mwl_value_kind(index)) {
    case MWL_KIND_INT: i = index.as.i < 0 ? UINT64_MAX : (uint64_t)index.as.i; break;
    case MWL_KIND_UINT: i = index.as.u; break;
    case MWL_KIND_NUMBER:
        if (!(index.as.d >= -9007199254740992.0 && index.as.d <= 9007199254740992.0)) return 0;
        if ((double)(int64_t)index.as.d != index.as.d) return -1;
        i = index.as.d < 0 ? UINT64_MAX : (uint64_t)index.as.d;
        break;
    default: return -1;
    }
    if (i >= n) return 0;
    *at = (uint32_t)i;
    return 1;
}

static bool no_index(mwl__exec *x, mwl_value of, mwl_value index) {
    if (mwl_value_kind(index) == MWL_KIND_NUMBER && mwl_value_kind(of) == MWL_KIND_ARRAY)
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "a list index must be a whole number: %g",
                               index.as.d);
    return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "no such overload: %s[%s]",
                           mwl__type_name(of), mwl__type_name(index));
}

static bool out_of_range(mwl__exec *x, mwl_value of, mwl_value index) {
    char text[32];
    if (mwl_value_kind(index) == MWL_KIND_INT)
        snprintf(text, sizeof text, "%lld", (long long)index.as.i);
    else if (mwl_value_kind(index) == MWL_KIND_UINT)
        snprintf(text, sizeof text, "%llu", (unsigned long long)index.as.u);
    else
        snprintf(text, sizeof text, "%.0f",
                 index.as.d > 1e17    ? 1e17
                 : index.as.d < -1e17 ? -1e17
                                      : index.as.d);
    return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION,
                           "index %s out of range: the list has %u element%s", text, of.aux,
                           of.aux == 1 ? "" : "s");
}

bool mwl__access_index(mwl__exec *x, mwl_value of, mwl_value index, mwl_value *out) {
    uint32_t at = 0;
    const mwl_value *p;
    switch (mwl_value_kind(of)) {
    case MWL_KIND_ARRAY:
        switch (element_at(index, of.aux, &at)) {
        case 1: *out = part(of, &mwl__as_list(of)->item[at]); return true;
        case 0: return out_of_range(x, of, index);
        default: return no_index(x, of, index);
        }
    case MWL_KIND_OBJECT:
        p = mwl__map_find(of, index);
        if (!p) return no_such_key(x, of, index);
        *out = part(of, p);
        return true;
    case MWL_KIND_OPTIONAL: return mwl__access_optional(x, of, index, false, out);
    default: return no_index(x, of, index);
    }
}

/* spec: expressions, defensive constructs; langdef: has() is the presence of a member. */
bool mwl__access_has(mwl__exec *x, mwl_value of, mwl_value key, bool *out) {
    while (mwl_value_kind(of) == MWL_KIND_OPTIONAL) {
        of = content(of);
        if (mwl_is_absent(of)) {
            *out = false;
            return true;
        }
    }
    if (mwl_value_kind(of) != MWL_KIND_OBJECT) return not_a_map(x, of, key);
    *out = mwl__map_get(of, key) != NULL;
    return true;
}

bool mwl__access_optional(mwl__exec *x, mwl_value of, mwl_value index, bool is_select,
                          mwl_value *out) {
    const mwl_value *p = NULL;
    uint32_t at = 0;
    if (mwl_value_kind(of) == MWL_KIND_OPTIONAL) of = content(of);
    if (mwl_value_kind(of) == MWL_KIND_OBJECT) {
        p = is_select ? mwl__map_get(of, index) : mwl__map_find(of, index);
    } else if (mwl_value_kind(of) == MWL_KIND_ARRAY && !is_select) {
        int found = element_at(index, of.aux, &at);
        if (found < 0) return no_index(x, of, index);
        if (found) p = &mwl__as_list(of)->item[at];
    } else if (!mwl_is_absent(of)) {
        return is_select ? not_a_map(x, of, index) : no_index(x, of, index);
    }
    *out = p ? mwl__some(x->heap, mwl__keep(*p)) : mwl__none();
    return mwl_is_absent(*out) ? mwl__exec_heap_failed(x) : true;
}

bool mwl__access_optional_value(mwl__exec *x, mwl_value optional, mwl_value *out) {
    if (mwl_value_kind(optional) != MWL_KIND_OPTIONAL)
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "not an optional but a value of type %s",
                               mwl__type_name(optional));
    if (!optional.as.p)
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "optional.none() has no value");
    *out = part(optional, &mwl__as_box(optional)->v);
    return true;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static const char *const base_texts[] = {
#define X(name, text) text,
    MWL_BASES(X)
#undef X
};

static bool load_base(mwl__exec *x, unsigned base, mwl__path_mode mode, mwl_value *out) {
    mwl_value v = mwl_absent();
    x->heap->why = MWL_OK;
    if (base < MWL_BASE_ENV)
        v = x->context ? x->context->load(x, base) : mwl_absent();
    else if (base - MWL_BASE_ENV < x->n_env)
        v = mwl__borrow(x->env[base - MWL_BASE_ENV]);
    if (x->heap->why != MWL_OK) { /* it does not exist, or is not complete */
        mwl__drop(x->heap, v);
        *out = mwl_absent();
        return mwl__exec_heap_failed(x);
    }
    *out = v;
    if (!mwl_is_absent(v) || mode != MWL_PATH_LOAD) return x->halt == MWL_EXEC_END;
    if (x->halt != MWL_EXEC_END) return false;
    if (base < MWL_BASE_COUNT)
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "%s is not there at this point",
                               base_texts[base]);
    return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "the variable has no value");
}

/* v := the member of v. Drops the old v if it is counted. */
static bool step(mwl__exec *x, mwl_value *v, mwl_value key) {
    mwl_value next = mwl_absent();
    bool ok = mwl__access_select(x, *v, key, &next);
    mwl__drop(x->heap, *v);
    *v = next;
    return ok;
}

bool mwl__access_path(mwl__exec *x, const mwl__path_rec *path, mwl__path_mode mode,
                      mwl_value *out) {
    const mwl_program *p = x->program;
    const uint32_t *keys = p->keys + path->first_key;
    unsigned n = path->n_keys, last = n && mode != MWL_PATH_LOAD ? n - 1 : n;
    mwl_value v = mwl_absent();
    bool ok = load_base(x, path->base, n ? MWL_PATH_LOAD : mode, &v), has = false;
    for (unsigned i = 0; ok && i < last; i++) {
        ok = step(x, &v, p->consts[keys[i]]);
        if (!ok) mwl__exec_raise_sub(x, i + 1);
    }
    if (!ok) {
        mwl__drop(x->heap, v);
        return false;
    }
    if (mode == MWL_PATH_LOAD) {
        *out = v;
        return true;
    }
    if (n == 0) { /* the base itself is the requested member */
        if (mode == MWL_PATH_HAS) {
            *out = mwl_bool(!mwl_is_absent(v));
            mwl__drop(x->heap, v);
            return true;
        }
        *out = mwl_is_absent(v) ? mwl__none() : mwl__some(x->heap, mwl__own(v));
        return mwl_is_absent(*out) ? mwl__exec_heap_failed(x) : true;
    }
    mwl_value key = p->consts[keys[last]];
    if (mode == MWL_PATH_HAS) {
        ok = mwl__access_has(x, v, key, &has);
        *out = mwl_bool(has);
    } else {
        ok = mwl__access_optional(x, v, key, true, out);
    }
    if (!ok) mwl__exec_raise_sub(x, n);
    mwl__drop(x->heap, v);
    return ok;
}
