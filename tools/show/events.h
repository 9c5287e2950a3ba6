/* events.h: what happens in a run, as spans that begin and end.
 *
 * The listener of the VM hears single events (mwl_trace_event); some scopes have no exit of their
 * own, because an interruption leaves them. The recorder makes spans of them: each has an id, a
 * parent, a begin and an end, and on each track they nest properly. -v, the trace file and the
 * report are its sinks.
 *
 * Owns: which span an event begins and which ones it ends. Refuses to know: what a sink shows. */
#ifndef MWL_TOOLS_EVENTS_H
#define MWL_TOOLS_EVENTS_H

#include "mwl.h"

enum event_kind {
    EVENT_RUN,     /* the whole run */
    EVENT_FLOW,    /* a frame */
    EVENT_STEP,    /* a Step, from its entry to its exit */
    EVENT_ENTRY,   /* a middleware around something: `position` */
    EVENT_PHASE,   /* a phase of that middleware: `phase` */
    EVENT_ATTEMPT, /* one run of its inner scope: `number`, from 1; only of a middleware that counts
                      its runs (`counts`), and of every re-run */
    EVENT_CALL,    /* a call, from its dispatch to the acceptance of its Result */
    EVENT_DISPATCH, /* the same in a Gather: `number` is its index; on a track of its own */
    EVENT_WAIT      /* a Sleep, or the delay before attempt `number` of `provider` */
};

enum event_status {
    EVENT_OPEN,      /* has not ended */
    EVENT_SUCCEEDED, /* with a value */
    EVENT_FAILED,    /* with a failure, which went on */
    EVENT_CAUGHT,    /* a Step: it failed, and a catch clause handled that */
    EVENT_CANCELLED, /* interrupted from outside, or with a cancellation */
    EVENT_LOST       /* the run ended without an end of this */
};

/* Where spans lie. Track 0 is the run's own; every dispatch of a Gather has another. */
struct event_track {
    uint32_t id, parent;
    const char *step; /* the Gather; lent by the program */
    uint32_t line, column;
    int64_t index;
};

/* Names are lent by the program and the VM: they are valid as long as those are. */
struct event_span {
    uint64_t id, parent; /* from 1, in the order in which they began; parent 0: none */
    enum event_kind kind;
    enum event_status status;
    uint32_t track, depth;                      /* depth: number of spans around it */
    uint32_t frame_depth;                       /* number of frames around its frame */
    const char *flow, *step, *provider, *phase; /* "" where there is none */
    const char *position, *counts;              /* see mwl_trace_event */
    int64_t number;                             /* see the kinds; otherwise -1 */
    uint32_t total;                             /* of a dispatch: how many there are */
    uint32_t line, column;                      /* of the Step in the definition; 0: not known */
    mwl_instant begin, end;
    /* Of a wait, and of a call that waits: when it ends by itself, and the earliest bound that
     * would interrupt it; instants of the monotonic clock, or MWL_NEVER. */
    int64_t until_ns, bound_ns;
};

/* What is known where a span begins or ends. Each may be absent; lent for the call. */
struct event_values {
    mwl_value input;     /* at a begin */
    mwl_value arguments; /* at the begin of a call */
    mwl_value result; /* at an end: the value, or the failure (status FAILED, CAUGHT, CANCELLED) */
    mwl_value vars;   /* variables of the frame: at the begin those before, at the end those
                         after */
};

enum event_mark {
    EVENT_MARK_CAUGHT,     /* a catch clause handles the failure `value` */
    EVENT_MARK_INTERRUPTED /* the span's scope is being unwound with the cancellation `value` */
};

/* Who is told. Every function may be NULL. A span begins after its parent and ends before it; of
 * one track the last that began ends first. */
struct event_sink {
    void *ctx;
    void (*track)(void *ctx, const struct event_track *track); /* before its first span */
    void (*begin)(void *ctx, const struct event_span *span, const struct event_values *values);
    void (*end)(void *ctx, const struct event_span *span, const struct event_values *values);
    /* Something happened inside an open span. */
    void (*mark)(void *ctx, const struct event_span *span, enum event_mark mark, mwl_value value,
                 const mwl_instant *at);
};

/* The recorder of one run. */
struct events;

/* NULL if memory runs out. The heap is the VM's. */
struct events *events_new(mwl_heap *heap);
void events_free(struct events *e); /* NULL is ignored */
bool events_add_sink(struct events *e,
                     const struct event_sink *sink); /* copied; false: no memory */
/* The listener for mwl_vm_trace(); ctx is the recorder. */
void events_listen(void *ctx, const mwl_trace_event *event);
/* Begins the spans that are open in a run that began before the recorder listened: one that was
 * loaded. The run is at rest. */
void events_open(struct events *e, mwl_run *run);
/* Ends what is still open, as EVENT_LOST: the run was aborted. Call it before the VM is freed. */
void events_finish(struct events *e, const mwl_instant *now);
/* Memory ran out for the recorder itself: it has recorded nothing since. */
bool events_failed(const struct events *e);

#endif
