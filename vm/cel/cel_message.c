/* cel_message.c: the functions that literals and macros are translated to.
 *
 * Owns: "@message", a literal of a well-known protobuf type, which becomes the value that it means
 * (google.protobuf.Int32Value{value: 1} is the int 1); "@sortByKeys", the last part of list.sortBy.
 * An expression cannot contain these names. */
#include "vm/cel/cel_lib.h"
#include "vm/value/temporal.h"

#define EXACT INT64_C(9007199254740992) /* 2^53 */

typedef mwl_value (*maker)(mwl_fn *fn, mwl_value fields);

static mwl_value field(mwl_value fields, const char *name) {
    return mwl_object_get(fields, name, strlen(name));
}

static mwl_value bad_field(mwl_fn *fn, const char *name, mwl_value v) {
    return mwl_fn_fail(fn, "field '%s' does not take a value of type %s", name, mwl__type_name(v));
}

/* ---- wrappers -------------------------------------------------------------------------------- */

/* Returns the `value` field if it has that kind, the default if the message does not have the
 * field, or absent after a failure. */
static mwl_value wrapped(mwl_fn *fn, mwl_value fields, mwl_kind kind, mwl_value unset) {
    mwl_value v = field(fields, "value");
    if (mwl_is_absent(v)) return unset;
    if (mwl_value_kind(v) != kind) return bad_field(fn, "value", v);
    return mwl_value_keep(v);
}

static mwl_value make_bool(mwl_fn *fn, mwl_value f) {
    return wrapped(fn, f, MWL_KIND_BOOL, mwl_bool(false));
}
static mwl_value make_double(mwl_fn *fn, mwl_value f) {
    return wrapped(fn, f, MWL_KIND_NUMBER, mwl_number(0));
}
static mwl_value make_int64(mwl_fn *fn, mwl_value f) {
    return wrapped(fn, f, MWL_KIND_INT, mwl_int(0));
}
static mwl_value make_uint64(mwl_fn *fn, mwl_value f) {
    return wrapped(fn, f, MWL_KIND_UINT, mwl_uint(0));
}
static mwl_value make_float(mwl_fn *fn, mwl_value f) {
    mwl_value v = make_double(fn, f);
    if (!mwl_is_absent(v)) v.as.d = (double)(float)v.as.d;
    return v;
}
static mwl_value make_int32(mwl_fn *fn, mwl_value f) {
    mwl_value v = make_int64(fn, f);
    if (!mwl_is_absent(v) && (v.as.i < INT32_MIN || v.as.i > INT32_MAX))
        return mwl_fn_fail(fn, "range error: %lld does not fit in 32 bits", (long long)v.as.i);
    return v;
}
static mwl_value make_uint32(mwl_fn *fn, mwl_value f) {
    mwl_value v = make_uint64(fn, f);
    if (!mwl_is_absent(v) && v.as.u > UINT32_MAX)
        return mwl_fn_fail(fn, "range error: %llu does not fit in 32 bits",
                           (unsigned long long)v.as.u);
    return v;
}
static mwl_value make_string(mwl_fn *fn, mwl_value f) {
    if (mwl_count(f)) return wrapped(fn, f, MWL_KIND_STRING, mwl_absent());
    return mwl__str_new(mwl_fn_heap(fn), "", 0);
}
static mwl_value make_bytes(mwl_fn *fn, mwl_value f) {
    if (mwl_count(f)) return wrapped(fn, f, MWL_KIND_BYTES, mwl_absent());
    return mwl_bytes(mwl_fn_heap(fn), "", 0);
}

/* ---- JSON values ----------------------------------------------------------------------------- */

/* Converts a CEL value to protobuf's JSON value. An integer becomes a number if that is exact, and
 * text otherwise. Containers nest at most MWL_DEPTH_LIMIT deep, which limits the recursion. */
static mwl_value json_value(mwl_fn *fn, mwl_value v) {
    mwl_heap *h = mwl_fn_heap(fn);
    switch (mwl_value_kind(v)) {
    case MWL_KIND_NULL:
    case MWL_KIND_BOOL:
    case MWL_KIND_NUMBER:
    case MWL_KIND_STRING: return mwl_value_keep(v);
    case MWL_KIND_INT:
        if (v.as.i >= -EXACT && v.as.i <= EXACT) return mwl_number((double)v.as.i);
        return mwl_value_text(h, v);
    case MWL_KIND_UINT:
        if (v.as.u <= (uint64_t)EXACT) return mwl_number((double)v.as.u);
        return mwl_value_text(h, v);
    case MWL_KIND_TIMESTAMP:
    case MWL_KIND_DURATION: return mwl_value_text(h, v);
    case MWL_KIND_ARRAY: {
        size_t n = mwl_count(v);
        mwl_value list = mwl_array(h, n);
        for (size_t i = 0; i < n && !mwl_is_absent(list); i++)
            list = mwl_array_push(h, list, json_value(fn, mwl_array_at(v, i)));
        return list;
    }
    case MWL_KIND_OBJECT: {
        size_t n = mwl_count(v);
        mwl_value map = mwl_object(h, n), key = mwl_absent(), val = mwl_absent();
        for (size_t i = 0; i < n && !mwl_is_absent(map); i++) {
            (void)mwl_object_at(v, i, &key, &val);
            if (mwl_value_kind(key) != MWL_KIND_STRING) {
                mwl_value_drop(h, map);
                return mwl_fn_fail(fn, "a Struct's keys must be strings");
            }
            map = mwl_object_put(h, map, mwl_value_keep(key), json_value(fn, val));
        }
        return map;
    }
    default: return mwl_fn_fail(fn, "a value of type %s has no JSON form", mwl__type_name(v));
    }
}

static mwl_value make_struct(mwl_fn *fn, mwl_value f) {
    mwl_value v = field(f, "fields");
    if (mwl_is_absent(v)) return mwl_object(mwl_fn_heap(fn), 0);
    if (mwl_value_kind(v) != MWL_KIND_OBJECT) return bad_field(fn, "fields", v);
    if (!mwl_fn_charge(fn, mwl__value_weight(v))) return mwl_absent();
    return json_value(fn, v);
}

static mwl_value make_list(mwl_fn *fn, mwl_value f) {
    mwl_value v = field(f, "values");
    if (mwl_is_absent(v)) return mwl_array(mwl_fn_heap(fn), 0);
    if (mwl_value_kind(v) != MWL_KIND_ARRAY) return bad_field(fn, "values", v);
    if (!mwl_fn_charge(fn, mwl__value_weight(v))) return mwl_absent();
    return json_value(fn, v);
}

/* It has one of its fields, or none. The constant of an enum is an int, so null_value accepts an
 * int too. */
static mwl_value make_value(mwl_fn *fn, mwl_value f) {
    static const struct {
        const char *name;
        mwl_kind kind;
    } alternatives[] = {{"null_value", MWL_KIND_NULL},     {"number_value", MWL_KIND_NUMBER},
                        {"string_value", MWL_KIND_STRING}, {"bool_value", MWL_KIND_BOOL},
                        {"struct_value", MWL_KIND_OBJECT}, {"list_value", MWL_KIND_ARRAY}};
    if (mwl_count(f) == 0) return mwl_null();
    if (mwl_count(f) > 1) return mwl_fn_fail(fn, "a Value has one field at most");
    for (size_t i = 0; i < sizeof alternatives / sizeof *alternatives; i++) {
        mwl_value v = field(f, alternatives[i].name);
        if (mwl_is_absent(v)) continue;
        if (i == 0 && mwl_value_kind(v) == MWL_KIND_INT && v.as.i == 0) return mwl_null();
        if (mwl_value_kind(v) != alternatives[i].kind)
            return bad_field(fn, alternatives[i].name, v);
        if (!mwl_fn_charge(fn, mwl__value_weight(v))) return mwl_absent();
        return json_value(fn, v);
    }
    return mwl_absent(); /* not reached, because the names were checked */
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool int_field(mwl_fn *fn, mwl_value f, const char *name, int64_t *out) {
    mwl_value v = field(f, name);
    *out = 0;
    if (mwl_is_absent(v)) return true;
    if (mwl_value_kind(v) != MWL_KIND_INT) {
        (void)bad_field(fn, name, v);
        return false;
    }
    *out = v.as.i;
    return true;
}

static mwl_value make_duration(mwl_fn *fn, mwl_value f) {
    int64_t sec, ns, total;
    if (!int_field(fn, f, "seconds", &sec) || !int_field(fn, f, "nanos", &ns)) return mwl_absent();
    if (ns < INT32_MIN || ns > INT32_MAX || __builtin_mul_overflow(sec, MWL__NS_PER_SEC, &total) ||
        __builtin_add_overflow(total, ns, &total))
        return mwl_fn_fail(fn, "range error: duration out of range");
    return mwl_duration(total);
}

static mwl_value make_timestamp(mwl_fn *fn, mwl_value f) {
    int64_t sec, ns;
    if (!int_field(fn, f, "seconds", &sec) || !int_field(fn, f, "nanos", &ns)) return mwl_absent();
    mwl__instant t = {sec, (uint32_t)ns};
    if (ns < 0 || ns >= MWL__NS_PER_SEC || !mwl__temporal_in_range(t))
        return mwl_fn_fail(fn, "range error: timestamp out of range");
    return mwl_timestamp(t.sec, t.ns);
}

/* ---- the table of types ---------------------------------------------------------------------- */

static const struct {
    const char *name; /* after google.protobuf. */
    maker make;
    const char *fields; /* a space follows each name */
} messages[] = {
    {"BoolValue", make_bool, "value "},
    {"BytesValue", make_bytes, "value "},
    {"DoubleValue", make_double, "value "},
    {"Duration", make_duration, "seconds nanos "},
    {"FloatValue", make_float, "value "},
    {"Int32Value", make_int32, "value "},
    {"Int64Value", make_int64, "value "},
    {"ListValue", make_list, "values "},
    {"StringValue", make_string, "value "},
    {"Struct", make_struct, "fields "},
    {"Timestamp", make_timestamp, "seconds nanos "},
    {"UInt32Value", make_uint32, "value "},
    {"UInt64Value", make_uint64, "value "},
    {"Value", make_value,
     "null_value number_value string_value bool_value struct_value list_value "},
};

static bool has_field(const char *fields, const mwl__str *name) {
    for (const char *end; (end = strchr(fields, ' ')); fields = end + 1)
        if ((size_t)(end - fields) == name->len && memcmp(fields, name->s, name->len) == 0)
            return true;
    return false;
}

static mwl_value message(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    static const char prefix[] = "google.protobuf.";
    if (mwl_value_kind(args[0]) != MWL_KIND_STRING || mwl_value_kind(args[1]) != MWL_KIND_OBJECT)
        return mwl_fn_no_overload(fn);
    const char *name = mwl__as_str(args[0])->s;
    mwl_value key, val;
    if (strncmp(name, prefix, sizeof prefix - 1) == 0)
        for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
            if (strcmp(name + sizeof prefix - 1, messages[i].name) != 0) continue;
            for (size_t k = 0; mwl_object_at(args[1], k, &key, &val); k++)
                if (mwl_value_kind(key) != MWL_KIND_STRING ||
                    !has_field(messages[i].fields, mwl__as_str(key)))
                    return mwl_fn_fail(fn, "%s has no such field", name);
            return messages[i].make(fn, args[1]);
        }
    return mwl_fn_fail(fn, "unknown type '%.80s'", name);
}

/* ---- sortBy ---------------------------------------------------------------------------------- */

static mwl_value sort_by_keys(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    return mwl_fn_sort(fn, args[0], args[1]);
}

const mwl_function_def mwl__message_functions[] = {
    {"@message", message, 2, 2, MWL_FN_GLOBAL, "a literal of a well-known type"},
    {"@sortByKeys", sort_by_keys, 2, 2, MWL_FN_GLOBAL, "list.sortBy(x, key) -> list"},
};
const size_t mwl__message_count = sizeof mwl__message_functions / sizeof *mwl__message_functions;
