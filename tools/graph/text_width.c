/* text_width.c: see text_width.h. */
#include "tools/graph/text_width.h"

#include "vm/base/utf8.h"
#include "mwl_config.h"

#if MWL_UTF8PROC
#include <utf8proc.h>
#endif

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

/* 2 for East Asian characters and emoji, 0 for what is not drawn. */
static int columns_of(uint32_t c) {
#if MWL_UTF8PROC
    return utf8proc_charwidth((utf8proc_int32_t)c);
#else /* by blocks */
    static const uint32_t wide[][2] = {{0x1100, 0x115F},   {0x2E80, 0x303E},  {0x3041, 0xA4CF},
                                       {0xA960, 0xA97F},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},  {0xFFE0, 0xFFE6},
                                       {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (c >= wide[i][0] && c <= wide[i][1]) return 2;
    bool hidden = c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x300 && c <= 0x36F) ||
                  (c >= 0x200B && c <= 0x200F) || (c >= 0xFE00 && c <= 0xFE0F);
    return hidden ? 0 : 1;
#endif
}

static unsigned width_of(uint32_t c, enum graph_font font) {
    int columns = columns_of(c);
    if (c >= 0x20 && c < 0x7F)
        return font == GRAPH_MONO ? MONO : font == GRAPH_BOLD ? bold[c - 0x20] : plain[c - 0x20];
    return columns <= 0 ? 0 : columns > 1 ? WIDE : NARROW;
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
