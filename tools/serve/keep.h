/* keep.h: retention: runs that are over are removed by themselves (`serve --keep`). */
#ifndef MWL_TOOLS_SERVE_KEEP_H
#define MWL_TOOLS_SERVE_KEEP_H

#include "tools/serve/serve.h"

/* CMD_OK, or a status with a message. Without --keep and --keep-failed there is nothing to do. */
int keep_open(struct serve *s);
void keep_turn(struct serve *s);
void keep_close(struct serve *s);

#endif
