/* columns.h: how wide characters are on a terminal. */
#ifndef MWL_COLUMNS_H
#define MWL_COLUMNS_H

#include <stdint.h>

/* Returns how many columns a character takes: 0 for what is not drawn, 2 for East Asian characters
 * and emoji, else 1. */
unsigned mwl__columns(uint32_t c);

#endif
