/* mwl_provider.h: the extension API of mwlvm: CEL functions, call providers, middleware providers.
 *
 * Everything in stdlib/ is written on this header and mwl.h alone. */
#ifndef MWL_PROVIDER_H
#define MWL_PROVIDER_H

#include "mwl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- CEL functions ------------------------------------------------------------------------------- */

/* One evaluation of a function: its heap, its clock, its way to fail. Lent for the call. */
typedef struct mwl_fn mwl_fn;

/* Arguments are lent (a receiver is args[0]); the answer is given. Absent means failed, after one of
 * the functions below said why. Must not keep pointers to its arguments. */
typedef mwl_value (*mwl_function)(mwl_fn *fn, const mwl_value *args, size_t n_args);

enum {
    MWL_FN_GLOBAL = 1,  /* f(a, b) */
    MWL_FN_MEMBER = 2,  /* a.f(b) */
    MWL_FN_IMPURE = 4   /* depends on more than its arguments: never folded */
};

typedef struct mwl_function_def {
    const char *name;  /* "size", or with its namespace: "math.greatest" */
    mwl_function call;
    uint8_t min_args, max_args; /* the receiver counts; max 255: any number */
    uint8_t style;              /* MWL_FN_* */
    const char *usage;          /* one line: "string.split(separator [, limit]) -> list" */
} mwl_function_def;

MWL_API mwl_heap *mwl_fn_heap(mwl_fn *fn);
/* Fail with a reason; answers absent, for `return mwl_fn_fail(...)`. */
MWL_API mwl_value mwl_fn_fail(mwl_fn *fn, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* Fail because no form of the function takes arguments of these kinds. */
MWL_API mwl_value mwl_fn_no_overload(mwl_fn *fn);
/* Charge work of about n steps (bytes / 8, elements). False when the run has used up its fuel: return
 * absent at once. Call it before long work, with its size. */
MWL_API bool mwl_fn_charge(mwl_fn *fn, uint64_t n);
/* The construct's pinned instant and the wall clock, as timestamp values. */
MWL_API mwl_value mwl_fn_now(mwl_fn *fn);
MWL_API mwl_value mwl_fn_wall_time(mwl_fn *fn);

#ifdef __cplusplus
}
#endif
#endif
