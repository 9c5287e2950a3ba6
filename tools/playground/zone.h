/* zone.h: the data of time zones, as mwl_config.zone wants it. */
#ifndef MWL_PLAY_ZONE_H
#define MWL_PLAY_ZONE_H

#include "mwl.h"

/* In WebAssembly JavaScript makes the data, of what Intl knows; else it is the system's. */
#ifdef __EMSCRIPTEN__
mwl_status play_zone(void *ctx, const char *name,
                     void (*put)(void *to, const void *bytes, size_t n), void *to);
#else
#define play_zone NULL
#endif

#endif
