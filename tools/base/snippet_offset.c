/* snippet_offset.c: the byte at a line and column; see snippet.h. Apart from snippet.c, because it
 * needs no terminal. */
#include "tools/base/snippet.h"

#include "vm/base/utf8.h"

#include <string.h>

uint32_t snippet_offset(mwl__source *source, uint32_t line, uint32_t column) {
    const char *at = source->text, *end = source->text + source->len;
    for (; line > 1 && at < end; line--) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        at = feed ? feed + 1 : end;
    }
    mwl__span all = mwl__source_line(source, (uint32_t)(at - source->text));
    return all.begin + (uint32_t)mwl__utf8_offset(source->text + all.begin, all.end - all.begin,
                                                  column ? column - 1 : 0);
}
