/* run.h: one run of the playground: its VM, the answers that stand for providers, what is recorded,
 * and going on by a step, to the next timer or to the end.
 *
 * A call that no answer names waits for an answer from outside: from a person, or from JavaScript.
 * Virtual time moves only when it is asked to. */
#ifndef MWL_PLAY_RUN_H
#define MWL_PLAY_RUN_H

#include "tools/playground/subject.h"

struct play_run;

/* Adds a problem for each mistake in the answers and the control of a case. */
void play_run_check(struct subject *s, mwl_value request);

/* Starts a run of a program; *out is given. The subject is lent as long as the run, the request for
 * the call; the program is kept. Returns MWL_OK, or a status with a problem in the subject. */
mwl_status play_run_new(struct subject *s, mwl_program *program, mwl_value request,
                        struct play_run **out);
void play_run_free(struct play_run *r); /* NULL is ignored */

enum play_until {
    PLAY_STEP,  /* to the next event that a person would like to see */
    PLAY_WAIT,  /* until it waits or is over */
    PLAY_TIMER, /* the same, after time has moved to the next timer */
    PLAY_END    /* to its end */
};
/* Goes on. advance: time moves to the next timer by itself, unless a call waits for an answer from
 * outside. fuel: about how much work to do at most; the run stays ready if that was too little. */
void play_run_go(struct play_run *r, enum play_until until, bool advance, int64_t fuel);

/* Answers a call that waits, by its number; the value is JSON text. False if there is no such call,
 * or the text is not JSON. */
bool play_run_answer(struct play_run *r, uint64_t number, bool ok, const char *json, size_t len);
void play_run_cancel(struct play_run *r, const char *reason);

/* Members of a reply: the state; the report. */
void play_run_state(struct play_run *r, mwl__buf *out);
void play_run_report(struct play_run *r, mwl__buf *out);

#endif
