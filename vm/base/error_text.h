/* error_text.h: the texts of mwl_error that are not constant.
 *
 * Each thread has one, which the next refusal on that thread replaces. So a message has one
 * lifetime, whichever function wrote it. */
#ifndef MWL_ERROR_TEXT_H
#define MWL_ERROR_TEXT_H

#include "mwl.h"

#define MWL__ERROR_TEXT_MAX 512 /* bytes, with the NUL; longer texts are cut */

/* Returns the place of this thread's text, MWL__ERROR_TEXT_MAX bytes. */
char *mwl__error_text(void);
/* Writes this thread's text, as printf() does, and returns it. */
const char *mwl__error_text_set(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

#endif
