/* boundary.c: converts the result of an expression, or what a host gives, to a value of the data
 * model.
 *
 * Owns: the rules of the specification's "Result values" and "Numbers": which CEL types have a JSON
 * form, and how the others can be converted. A container of data passes unchanged. Any other
 * container is rebuilt, without recursion; containers nest at most MWL_DEPTH_LIMIT deep. */
#include "vm/cel/ops.h"

#include <stdio.h>

typedef struct level {
    mwl_value from, to; /* from is borrowed; to is owned */
    uint32_t at;        /* the child that is being converted */
} level;

typedef struct walk {
    mwl_heap *heap;
    level *stack; /* MWL_DEPTH_LIMIT of them */
    uint32_t n;
    mwl__refusal *why;
} walk;

/* Writes the place of the error in the value: "" or " at ['a'][2]". Returns its length. */
static size_t place_text(const walk *w, char *text, size_t size) {
    size_t len = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < w->n && len + 1 < size; i++) {
        const level *l = &w->stack[i];
        const char *lead = i ? "" : " at ";
        if (mwl_value_kind(l->from) == MWL_KIND_ARRAY) {
            len += (size_t)snprintf(text + len, size - len, "%s[%u]", lead, l->at);
        } else {
            mwl_value key =
                l->at < l->from.aux ? mwl__as_map(l->from)->keys->key[l->at] : mwl_null();
            len += (size_t)snprintf(text + len, size - len, "%s['%.40s']", lead,
                                    mwl_value_kind(key) == MWL_KIND_STRING ? mwl__as_str(key)->s
                                                                           : "?");
        }
    }
    return len < size ? len : size - 1;
}

static mwl_status refuse(const walk *w, const char *what, const char *instead) {
    char *text = w->why->text;
    size_t len = place_text(w, text, MWL__REFUSAL_PLACE);
    snprintf(text + len, sizeof w->why->text - len, " is %s, which has no JSON form", what);
    w->why->instead = instead;
    return MWL_E_NOT_JSON;
}

/* Converts a value that is not a container. spec: expressions, result values, numbers: an int or
 * uint must be representable exactly. */
static mwl_status convert_leaf(const walk *w, mwl_value v, mwl_value *out) {
    char what[160];
    switch (mwl_value_kind(v)) {
    case MWL_KIND_NULL:
    case MWL_KIND_BOOL:
    case MWL_KIND_STRING: *out = mwl__keep(v); return MWL_OK;
    case MWL_KIND_NUMBER:
        if (v.as.d - v.as.d == 0) {
            *out = v;
            return MWL_OK;
        }
        return refuse(w,
                      v.as.d != v.as.d ? "NaN"
                      : v.as.d > 0     ? "infinity"
                                       : "negative infinity",
                      "only finite numbers have one");
    case MWL_KIND_INT:
        if (v.as.i >= -MWL__EXACT && v.as.i <= MWL__EXACT) {
            *out = mwl_number((double)v.as.i);
            return MWL_OK;
        }
        snprintf(what, sizeof what, "the int %lld, beyond 2^53", (long long)v.as.i);
        return refuse(w, what, "use double(n) to round or string(n) to keep it exact");
    case MWL_KIND_UINT:
        if (v.as.u <= (uint64_t)MWL__EXACT) {
            *out = mwl_number((double)v.as.u);
            return MWL_OK;
        }
        snprintf(what, sizeof what, "the uint %llu, beyond 2^53", (unsigned long long)v.as.u);
        return refuse(w, what, "use double(n) to round or string(n) to keep it exact");
    case MWL_KIND_BYTES: return refuse(w, "bytes", "use base64.encode(b)");
    case MWL_KIND_TIMESTAMP: return refuse(w, "a timestamp", "use string(t)");
    case MWL_KIND_DURATION: return refuse(w, "a duration", "use durationToIso8601(d) or string(d)");
    case MWL_KIND_TYPE: return refuse(w, "a type", "compare it instead");
    case MWL_KIND_OPTIONAL: return refuse(w, "an optional", "use orValue(v) or value()");
    default:
        snprintf(what, sizeof what, "a value of type %.80s", mwl__type_name(v));
        return refuse(w, what, "use string(v)");
    }
}

static bool is_container(mwl_value v) {
    return mwl_value_kind(v) == MWL_KIND_ARRAY || mwl_value_kind(v) == MWL_KIND_OBJECT;
}

static bool is_data(mwl_value v) { return is_container(v) && !(mwl__value_odd(v) & MWL__ODD_KIND); }

static mwl_status open_level(walk *w, mwl_value v) {
    mwl_heap *h = w->heap;
    level *l = &w->stack[w->n];
    bool is_list = mwl_value_kind(v) == MWL_KIND_ARRAY;
    l->to = is_list ? mwl__list_new(h, v.aux) : mwl__map_new(h, v.aux);
    if (mwl_is_absent(l->to)) return h->why;
    l->from = v;
    l->at = 0;
    w->n++;
    return MWL_OK;
}

/* Adds the converted child to the container that is being built. */
static mwl_status place(walk *w, mwl_value take) {
    mwl_heap *h = w->heap;
    level *l = &w->stack[w->n - 1];
    if (mwl_value_kind(l->from) == MWL_KIND_ARRAY)
        l->to = mwl__list_push(h, l->to, take);
    else
        l->to = mwl__map_put(h, l->to, mwl__keep(mwl__as_map(l->from)->keys->key[l->at]), take);
    l->at++;
    return mwl_is_absent(l->to) ? h->why : MWL_OK;
}

static mwl_status next_child(walk *w, mwl_value *child) {
    level *l = &w->stack[w->n - 1];
    if (mwl_value_kind(l->from) == MWL_KIND_ARRAY) {
        *child = mwl__as_list(l->from)->item[l->at];
        return MWL_OK;
    }
    const mwl__map *m = mwl__as_map(l->from);
    const mwl_value key = m->keys->key[l->at];
    *child = m->val[l->at];
    if (mwl_value_kind(key) == MWL_KIND_STRING) return MWL_OK;
    w->n--; /* the map itself is what the message is about */
    char what[80];
    snprintf(what, sizeof what, "a map with a key of type %s", mwl__type_name(key));
    mwl_status st = refuse(w, what, "build it with string keys");
    w->n++;
    return st;
}

static mwl_status convert(walk *w, mwl_value v, mwl_value *out) {
    if (!is_container(v)) return convert_leaf(w, v, out);
    mwl_status st = open_level(w, v);
    while (st == MWL_OK) {
        level *l = &w->stack[w->n - 1];
        mwl_value done;
        if (l->at == l->from.aux) {
            done = l->to;
            l->to = mwl_absent();
            if (--w->n == 0) {
                *out = done;
                return MWL_OK;
            }
        } else {
            mwl_value child;
            st = next_child(w, &child);
            if (st < 0) return st;
            if (is_data(child)) {
                done = mwl__keep(child);
            } else if (is_container(child)) {
                st = open_level(w, child);
                continue;
            } else {
                st = convert_leaf(w, child, &done);
                if (st < 0) return st;
            }
        }
        st = place(w, done);
    }
    return st;
}

mwl_status mwl__boundary_convert(mwl_heap *h, mwl_value v, mwl_value *out, mwl__refusal *why) {
    level stack[MWL_DEPTH_LIMIT];
    walk w = {h, stack, 0, why};
    mwl_status st = convert(&w, v, out);
    while (w.n) mwl__drop(h, stack[--w.n].to);
    return st;
}

bool mwl__boundary_data(mwl__exec *x, mwl_value v, mwl_value *out) {
    if (is_data(v)) {
        *out = mwl__keep(v);
        return true;
    }
    if (!mwl__exec_charge(x, mwl__value_weight(v) / 2)) {
        x->halt = MWL_EXEC_FUEL;
        return false;
    }
    mwl__refusal why;
    mwl_status st = mwl__boundary_convert(x->heap, v, out, &why);
    if (st == MWL_OK) return true;
    if (st != MWL_E_NOT_JSON) return mwl__exec_heap_failed(x);
    return mwl__exec_raise(x, MWL_FAILURE_UNREPRESENTABLE, "the result%s; %s", why.text,
                           why.instead);
}
