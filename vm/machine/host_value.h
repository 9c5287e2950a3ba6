/* host_value.h: what hosts give to a run, checked as the product of an expression is. */
#ifndef MWL_HOST_VALUE_H
#define MWL_HOST_VALUE_H

#include "vm/machine/state.h"

/* Returns whether the reason why a constructor returned absent is in what the host gave it, and not
 * in the memory. */
static inline bool mwl__host_value_wrong(mwl_status why) {
    return why != MWL_E_NOMEM && why != MWL_E_TOO_BIG;
}

_Static_assert(offsetof(mwl__list, odd) == offsetof(mwl__map, odd), "read in one way");

/* Returns whether a value is one of the data model. */
static inline bool mwl__host_value_plain(mwl_value v) {
    uint32_t kind = mwl_value_kind(v);
    if ((1u << kind) & (1u << MWL_KIND_NULL | 1u << MWL_KIND_BOOL | 1u << MWL_KIND_STRING))
        return true;
    if (kind == MWL_KIND_NUMBER) return v.as.u << 1 < UINT64_C(0x7ff) << 53; /* finite */
    return (kind == MWL_KIND_OBJECT || kind == MWL_KIND_ARRAY) && !mwl__as_list(v)->odd;
}

/* The slow part of mwl__host_value_either. */
mwl_value mwl__host_value_check(mwl_heap *h, const mwl__provider *from, bool ok, mwl_value take,
                                bool *refused);

/* Returns a Result that a host gave, as values of the data model, given: a success's value (ok), or
 * a failure. `from` is the provider, whose failure catalog must declare the code; NULL: any code.
 * The failures of a trusted one are not checked. If it is refused, *refused becomes true, and the
 * failure Mwlvm.ResultRefused is returned. Absent: out of memory, or at a limit. */
static inline mwl_value mwl__host_value_either(mwl_heap *h, const mwl__provider *from, bool ok,
                                               mwl_value take, bool *refused) {
    bool good = ok ? mwl__host_value_plain(take) : from && from->trusted && !mwl_is_absent(take);
    return good ? take : mwl__host_value_check(h, from, ok, take, refused);
}

/* The slow parts of mwl__host_value_failure. */
mwl_value mwl__host_value_parts(mwl_heap *h, const mwl__provider *from, const char *type,
                                const char *code, const char *message, mwl_value take_details,
                                bool *refused);
mwl_value mwl__host_value_code(mwl_heap *h, const mwl__provider *from, const char *code,
                               mwl_value take, bool *refused);

/* Makes a failure of what a host gave, by the same rules. It is well-formed by construction, so
 * only its parts are checked. */
static inline mwl_value mwl__host_value_failure(mwl_heap *h, const mwl__provider *from,
                                                const char *type, const char *code,
                                                const char *message, mwl_value take_details,
                                                bool *refused) {
    if (type || !(mwl_is_absent(take_details) || mwl__host_value_plain(take_details)))
        return mwl__host_value_parts(h, from, type, code, message, take_details, refused);
    mwl_value v = mwl_failure(h, NULL, code, message, take_details, mwl_absent());
    return from->any_code && !mwl_is_absent(v) ? v
                                               : mwl__host_value_code(h, from, code, v, refused);
}

/* The slow part of mwl__host_value_result. */
void mwl__host_value_check_result(mwl_heap *h, const mwl__provider *from, mwl__result *result);

/* The same, into *out; if it is refused, that is a failure. */
static inline void mwl__host_value_result(mwl_heap *h, const mwl__provider *from, bool ok,
                                          mwl_value take, mwl__result *out) {
    bool good = ok ? mwl__host_value_plain(take) : from && from->trusted && !mwl_is_absent(take);
    out->v = take;
    out->ok = ok;
    if (!good) mwl__host_value_check_result(h, from, out);
}

/* The slow part of mwl__host_value_data. */
mwl_status mwl__host_value_convert(mwl_heap *h, const char *what, mwl_value v, mwl_value *out,
                                   char *text, size_t size);

/* Writes the value as one of the data model to *out, given; v is lent. Returns MWL_OK,
 * MWL_E_NOT_JSON and the reason in text, which begins with `what`, or the heap's reason. A text of
 * NULL: the caller does not need the reason. */
static inline mwl_status mwl__host_value_data(mwl_heap *h, const char *what, mwl_value v,
                                              mwl_value *out, char *text, size_t size) {
    if (!mwl__host_value_plain(v)) return mwl__host_value_convert(h, what, v, out, text, size);
    *out = mwl__keep(v);
    return MWL_OK;
}

/* Returns the failure Mwlvm.ResultRefused. Absent: out of memory. */
mwl_value mwl__host_value_refused(mwl_heap *h, const char *reason);

#endif
