/* said.h: the texts of mwl_error that are not constant.
 *
 * Each thread has one, which the next refusal on that thread replaces. So a message has one
 * lifetime, whichever function wrote it. */
#ifndef MWL_SAID_H
#define MWL_SAID_H

#include "mwl.h"

#define MWL__SAID_MAX 512 /* bytes, with the NUL; longer texts are cut */

/* Returns the place of this thread's text, MWL__SAID_MAX bytes. */
char *mwl__said(void);
/* Writes this thread's text, as printf() does, and returns it. */
const char *mwl__say(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

#endif
