/* journal.h: what came into a run from outside: what real providers answered, and cancellations. A
 * run that is repeated (`back`) gets the same again, and no call with effects is made twice.
 *
 * Moments are counted in events of the run: with the same journal and virtual time, a repeated run
 * hears the same events in the same order. */
#ifndef MWL_TOOLS_DEBUG_JOURNAL_H
#define MWL_TOOLS_DEBUG_JOURNAL_H

#include "mwl.h"

struct journal;   /* of a session */
struct journaled; /* the part of one run */

/* Values that are noted live in `heap`. NULL if memory runs out. */
struct journal *journal_new(mwl_heap *heap);
void journal_free(struct journal *j);

/* Puts the journal before the call providers of a VM that touch the world, those of stdlib/io that
 * `skip` does not name. *n_events is the number of events that the run has heard. NULL if memory
 * runs out. Free it after the VM. */
struct journaled *journal_attach(struct journal *j, mwl_vm *vm, const uint64_t *n_events,
                                 bool (*skip)(void *ctx, const char *uri), void *ctx);
void journal_detach(struct journaled *a);
/* Notes what an event says: a call was accepted. */
void journal_event(struct journaled *a, const mwl_trace_event *event);
/* Between two slices of the run: gives it what is due. Returns whether there was something. */
bool journal_deliver(struct journaled *a, mwl_run *run);

/* Cancels the run at the end of the present slice, now and when it is repeated. */
void journal_cancel(struct journal *j, uint64_t n_events);
/* The session goes back to this moment: later cancellations are forgotten. Answers stay: what was
 * done outside was done. */
void journal_back(struct journal *j, uint64_t n_events);

#endif
