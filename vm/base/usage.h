/* usage.h: wrong use by the host, after which it would be dangerous to continue. Builds without
 * NDEBUG write a message to stderr and abort the process. Other builds return a status where they
 * can detect it. */
#ifndef MWL_USAGE_H
#define MWL_USAGE_H

#ifdef NDEBUG
#define mwl__usage(ok, message) ((void)0)
#else
void mwl__usage_failed(const char *message);
#define mwl__usage(ok, message) ((ok) ? (void)0 : mwl__usage_failed(message))
#endif

#endif
