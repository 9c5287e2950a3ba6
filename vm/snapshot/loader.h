/* loader.h: what the files that load a run share. */
#ifndef MWL_LOADER_H
#define MWL_LOADER_H

#include "vm/snapshot/reader.h"
#include "vm/machine/rest.h"

/* Something that gets its place in an order when everything is read. */
typedef struct mwl__placed {
    void *p; /* mwl__timer or mwl__frame */
    uint64_t order;
    bool bound;     /* of a timer: its frame's bound has the instant */
    int64_t due_ns; /* else */
} mwl__placed;
typedef struct mwl__placing {
    mwl__placed *list;
    size_t n, cap;
} mwl__placing;

typedef struct mwl__loader {
    mwl__reader r;
    mwl_vm *vm;
    mwl_run *run;
    bool copies;      /* the run gets a new id: MWL_LOAD_NEW_ID */
    bool limited;     /* the limits are the caller's, not those in the bytes */
    int64_t shift_ns; /* of instants */
    int64_t due_ns;   /* as the bytes say; MWL_NEVER */
    mwl__placing timers, queue;
    uint32_t n_calls, n_held; /* as the bytes say */
} mwl__loader;

/* Reads the body into l->run, which is in vm->runs and has no frames. */
bool mwl__load_records(mwl__loader *l);

/* Checks what must hold for a frame whose own record is complete (fit.c). Sets its pc and what else
 * follows from its point. What it awaits is checked when that is there. */
bool mwl__fit_frame(mwl__reader *r, mwl__frame *f, mwl__point point, uint32_t at);
/* The frame was made below its parent: it may be there. */
bool mwl__fit_child(mwl__reader *r, const mwl__frame *parent, const mwl__frame *f);
/* The frame has the timer that wakes it: none (not armed), that of its bound, or one of its own. */
bool mwl__fit_timer(mwl__reader *r, const mwl__frame *f, bool armed, bool bound, int64_t due_ns);
/* The Gather of a frame is complete. */
bool mwl__fit_gather(mwl__reader *r, const mwl__frame *f, const mwl__gather *g);
bool mwl__fit_call(mwl__reader *r, const mwl_call *c, uint32_t import);
bool mwl__fit_entry(mwl__reader *r, const mwl__frame *f, const mwl__entry *e);
/* A Result that is a failure has an envelope. */
bool mwl__fit_failure(mwl__reader *r, mwl_value v);

/* The call of CALLS that a slot dispatches. */
uint32_t mwl__fit_slot_call(const mwl__frame *f, const mwl__gather *g, uint32_t i);

/* Everything is in place: arms the timers, queues the frames, takes up calls and middleware
 * (restart.c). */
bool mwl__load_place(mwl__loader *l);
void mwl__load_restart(mwl__loader *l, unsigned flags);

#endif
