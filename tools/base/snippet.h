/* snippet.h: prints a line of a text with a mark under the place, on standard error. */
#ifndef MWL_TOOLS_SNIPPET_H
#define MWL_TOOLS_SNIPPET_H

#include "assembler/source/source.h"

/* words: beside the mark, or NULL. Each line is indented by this many blanks. */
void snippet_show(mwl__source *source, mwl__span span, const char *words, int indent);

/* Returns the byte at a line and column, both from 1, or the line's end if the line is shorter. */
uint32_t snippet_offset(mwl__source *source, uint32_t line, uint32_t column);

#endif
