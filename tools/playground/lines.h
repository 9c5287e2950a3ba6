/* lines.h: the events of a run as JSON objects, kept until the next reply. */
#ifndef MWL_PLAY_LINES_H
#define MWL_PLAY_LINES_H

#include "mwl.h"
#include "vm/base/mem.h"

enum {
    LINES_VALUE = 16 << 10, /* bytes of one value; a longer one is cut */
    LINES_MOST = 8 << 20    /* bytes between two replies; further events are counted only */
};

struct lines {
    mwl_heap *heap;
    int64_t start_ns; /* that times count from */
    bool wanted;
    mwl__buf text; /* JSON objects with commas between them */
    uint64_t lost;
};

void lines_init(struct lines *l, mwl_heap *heap, bool wanted);
void lines_free(struct lines *l);
/* Adds {"at", "event", "depth", "flow", "step", "provider", "phase", "branch", "index", "total",
 * "position", "counts", "runs", "line", "column", "until", "bound", "failed", "input", "value"};
 * times are in ns, and what is empty is left out. */
void lines_event(struct lines *l, const mwl_trace_event *event);
/* Moves them into a reply: "lines", and "lost" if there were too many. */
void lines_reply(struct lines *l, mwl__buf *out);

#endif
