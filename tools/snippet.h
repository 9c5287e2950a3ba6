/* snippet.h: a line of a text with a mark under the place, on standard error. */
#ifndef MWL_TOOLS_SNIPPET_H
#define MWL_TOOLS_SNIPPET_H

#include "assembler/source/source.h"

/* words: beside the mark, or NULL. Each line is indented by so many blanks. */
void snippet_show(mwl__source *source, mwl__span span, const char *words, int indent);

/* The byte at a line and column, both from 1; the line's end when it is shorter. */
uint32_t snippet_offset(mwl__source *source, uint32_t line, uint32_t column);

#endif
