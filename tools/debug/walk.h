/* walk.h: a debugging session: where one is in a run, the ways forward, and the way back.
 *
 * A place is the number of an event. `back` starts the run again and lets it go to an earlier
 * place: in virtual time, with what came from outside kept in the journal, it goes the same way.
 * `mwlvm debug` and `mwlvm dap` are two faces of this.
 *
 * Owns: the machine, the history of stops, why it stopped. Refuses to know: commands and
 * protocols. */
#ifndef MWL_TOOLS_DEBUG_WALK_H
#define MWL_TOOLS_DEBUG_WALK_H

#include "tools/debug/breaks.h"

enum walk_go {
    GO_ON,    /* to the next breakpoint */
    GO_STEP,  /* to the next event, also inside */
    GO_NEXT,  /* to the next Step of this Flow */
    GO_OUT,   /* to the caller, when this Flow has ended */
    GO_PHASE, /* to the next phase of a middleware */
    GO_TO     /* to a place, on the way back */
};

enum walk_why { WHY_BEGIN, WHY_STEP, WHY_BREAK, WHY_PAUSE, WHY_BACK, WHY_OVER };

struct walk {
    struct debug_setup *setup;
    struct journal *journal;
    struct breaks breaks;
    struct machine machine;
    bool started;
    int bell; /* see machine.h */

    enum walk_go go;
    uint64_t target;        /* of GO_TO */
    uint64_t frame, parent; /* where a step began: names of events */
    bool left;              /* GO_OUT: that frame has ended */
    bool scans;             /* on the way to the target, note where breakpoints are met */
    uint64_t scanned;       /* the last such place, or 0 */
    enum walk_why why;      /* why it stands */
    int break_id;           /* with WHY_BREAK */
    uint64_t *stops;        /* the places where it stood, the present one last */
    size_t n_stops, cap_stops;
};

/* CMD_OK, or a status with a message. End it in any case. */
int walk_begin(struct walk *s, struct debug_setup *setup, int bell);
void walk_end(struct walk *s);

/* Goes forward. Returns at once; walk_arrive waits. Does nothing when the run is over. */
void walk_go(struct walk *s, enum walk_go go);
/* Waits until it stands again or is over. CMD_OK, or a status if the run could not begin. */
int walk_arrive(struct walk *s);
/* Goes back to the stop before this one. Returns NULL, or why it cannot. */
const char *walk_back(struct walk *s);
/* Goes back to the last place in front of this one where a breakpoint is met, or to the
 * beginning. */
const char *walk_back_to_break(struct walk *s);
/* Goes back to the event before this one. */
const char *walk_step_back(struct walk *s);
/* Cancels the run from outside, when it goes on. */
void walk_cancel(struct walk *s);

bool walk_over(const struct walk *s);
/* The event in which it stands, or NULL. */
const mwl_trace_event *walk_event(const struct walk *s);

#endif
