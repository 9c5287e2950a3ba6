/* said.c: see said.h. */
#include "vm/base/said.h"

#include <stdarg.h>
#include <stdio.h>

char *mwl__said(void) {
    static _Thread_local char text[MWL__SAID_MAX];
    return text;
}

const char *mwl__say(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    vsnprintf(mwl__said(), MWL__SAID_MAX, format, ap);
    va_end(ap);
    return mwl__said();
}
