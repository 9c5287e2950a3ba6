/* text_width.h: how wide a text is drawn, by a table of widths.
 *
 * The tables are those of Helvetica, which Arial and Liberation Sans share. A viewer with another
 * font still gets texts of this width, because the SVG states it (textLength). */
#ifndef MWL_TOOLS_TEXT_WIDTH_H
#define MWL_TOOLS_TEXT_WIDTH_H

#include "tools/graph/graph.h"

/* Width in pixels of UTF-8 text at this size. */
double text_width(const char *text, size_t len, enum graph_font font, double px);

#endif
