/* text_width.c: see text_width.h. */
#include "tools/graph/text_width.h"

#include "vm/base/columns.h"
#include "vm/base/utf8.h"

/* Thousandths of the size, for U+0020 to U+007E. */
static const uint16_t plain[] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};
static const uint16_t bold[] = {
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667,
    611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556,
    278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584};

enum { MONO = 602, NARROW = 600, WIDE = 1000 };

static unsigned width_of(uint32_t c, enum graph_font font) {
    unsigned columns = mwl__columns(c);
    if (c >= 0x20 && c < 0x7F)
        return font == GRAPH_MONO ? MONO : font == GRAPH_BOLD ? bold[c - 0x20] : plain[c - 0x20];
    return columns == 0 ? 0 : columns > 1 ? WIDE : NARROW;
}

double text_width(const char *text, size_t len, enum graph_font font, double px) {
    uint64_t total = 0;
    for (size_t at = 0; at < len;) {
        uint32_t c = 0xFFFD;
        size_t n = mwl__utf8_decode(text + at, len - at, &c);
        total += width_of(c, font);
        at += n ? n : 1;
    }
    return (double)total * px / 1000;
}
