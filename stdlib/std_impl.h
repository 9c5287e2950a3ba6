/* std_impl.h: what the files of the standard library share. */
#ifndef MWL_STD_IMPL_H
#define MWL_STD_IMPL_H

#include "mwl_provider.h"

/* What seldom runs stays out of the function that calls it, which is shorter then. */
#if defined(__GNUC__)
#define MWL__RARE __attribute__((noinline))
#else
#define MWL__RARE
#endif

extern const mwl_call_provider mwl__std_mock;
extern const mwl_middleware mwl__std_retry, mwl__std_timeout, mwl__std_loop, mwl__std_finally;

/* Lets the phase fail because an argument is not a valid duration. `format` in the document refuses
 * it earlier, unless formats are not checked. */
void mwl__std_bad_duration(mwl_phase *phase, const char *parameter);

#endif
