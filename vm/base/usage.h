/* usage.h: misuse by the host that would be dangerous to go on with. In builds without NDEBUG the
 * message goes to stderr and the process aborts; others answer with a status where they can tell.
 */
#ifndef MWL_USAGE_H
#define MWL_USAGE_H

#ifdef NDEBUG
#define mwl__usage(ok, message) ((void)0)
#else
void mwl__usage_failed(const char *message);
#define mwl__usage(ok, message) ((ok) ? (void)0 : mwl__usage_failed(message))
#endif

#endif
