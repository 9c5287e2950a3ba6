/* given.h: what hosts give to a run, checked as the product of an expression is. */
#ifndef MWL_GIVEN_H
#define MWL_GIVEN_H

#include "vm/machine/state.h"

/* Returns whether the reason why a constructor returned absent is in what the host gave it, and not
 * in the memory. */
static inline bool mwl__given_wrong(mwl_status why) {
    return why != MWL_E_NOMEM && why != MWL_E_TOO_BIG;
}

/* The slow part of mwl__given_either. */
mwl_value mwl__given_check(mwl_heap *h, const mwl__provider *from, bool ok, mwl_value take,
                           bool *refused);

/* Returns a Result that a host gave, as values of the data model, given: a success's value (ok), or
 * a failure. `from` is the provider, whose failure catalog must declare the code; NULL: any code.
 * If it is refused, *refused becomes true, and the failure Mwlvm.ResultRefused is returned. Absent:
 * out of memory, or at a limit. */
static inline mwl_value mwl__given_either(mwl_heap *h, const mwl__provider *from, bool ok,
                                          mwl_value take, bool *refused) {
    return ok && !mwl__value_odd(take) ? take : mwl__given_check(h, from, ok, take, refused);
}

/* The slow part of mwl__given_result. */
void mwl__given_check_result(mwl_heap *h, const mwl__provider *from, mwl__result *result);

/* The same, into *out; if it is refused, that is a failure. */
static inline void mwl__given_result(mwl_heap *h, const mwl__provider *from, bool ok,
                                     mwl_value take, mwl__result *out) {
    out->v = take;
    out->ok = ok;
    if (!ok || mwl__value_odd(take)) mwl__given_check_result(h, from, out);
}

/* The slow part of mwl__given_data. */
mwl_status mwl__given_convert(mwl_heap *h, const char *what, mwl_value v, mwl_value *out,
                              char *text, size_t size);

/* Writes the value as one of the data model to *out, given; v is lent. Returns MWL_OK,
 * MWL_E_NOT_JSON and the reason in text, which begins with `what`, or the heap's reason. */
static inline mwl_status mwl__given_data(mwl_heap *h, const char *what, mwl_value v, mwl_value *out,
                                         char *text, size_t size) {
    if (mwl__value_odd(v)) return mwl__given_convert(h, what, v, out, text, size);
    *out = mwl__keep(v);
    return MWL_OK;
}

/* Returns the failure Mwlvm.ResultRefused. Absent: out of memory. */
mwl_value mwl__given_refused(mwl_heap *h, const char *reason);

#endif
