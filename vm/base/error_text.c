/* error_text.c: see error_text.h. */
#include "vm/base/error_text.h"

#include <stdarg.h>
#include <stdio.h>

char *mwl__error_text(void) {
    static _Thread_local char text[MWL__ERROR_TEXT_MAX];
    return text;
}

const char *mwl__error_text_set(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    vsnprintf(mwl__error_text(), MWL__ERROR_TEXT_MAX, format, ap);
    va_end(ap);
    return mwl__error_text();
}
