/* format_bidi.h: Bidi classes of what labels of host names may have, but for marks (Mn),
 * Unicode 15.0.0. Made by tools/build/gen_unicode.py, which explains them; do not edit. */
#ifndef MWL_FORMAT_BIDI_H
#define MWL_FORMAT_BIDI_H

#include <stdint.h>

typedef enum bidi_class { BIDI_R, BIDI_AN, BIDI_L, BIDI_EN, BIDI_NEUTRAL, BIDI_NSM } bidi_class;
enum { CATEGORY_MN = 6 };

static const uint32_t bidi_runs[42] = {
    0x3003,    0x6102,    0xb704,    0xba02,    0x2b904,   0x2bb02,   0x2c604,
    0x2d002,   0x2ec04,   0x2ee02,   0x37404,   0x37702,   0x5d000,   0x66001,
    0x66e00,   0x6f003,   0x6fa00,   0x90302,   0x200c04,  0x207102,  0x2e2f04,
    0x300502,  0x30fb04,  0x30fc02,  0xa67f04,  0xa68102,  0xa71704,  0xa72302,
    0xa78804,  0xa78c02,  0xfb1d00,  0xff1003,  0xff4102,  0x1080000, 0x10d3001,
    0x10e8000, 0x1100002, 0x1d7ce03, 0x1df0002, 0x1e80000, 0x1fbf003, 0x2000002,
};

#endif
