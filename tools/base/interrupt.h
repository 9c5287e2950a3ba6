/* interrupt.h: Ctrl-C and its kin: SIGINT, SIGTERM and SIGHUP as requests that the command answers.
 *
 * The first request asks for an end with cleanup, the second for an end without. Signals that come
 * together count as one: `timeout` and shells send each to a process twice. Whatever the machine
 * does, the process ends by the signal at once when a second one finds the first unanswered, and
 * within a second after SIGTERM, SIGHUP or a second one of any kind that is not answered. SIGHUP
 * stays ignored when it was (nohup). */
#ifndef MWL_TOOLS_INTERRUPT_H
#define MWL_TOOLS_INTERRUPT_H

/* Begins to watch. wake is called in a signal handler when there is a request: it must be
 * async-signal-safe. Returns 0, or an errno. One watcher at a time. */
int interrupt_watch(void (*wake)(void *ctx), void *ctx);
void interrupt_unwatch(void);

int interrupt_requests(void);      /* that came so far */
void interrupt_answered(int n);    /* that many of them were acted on */
int interrupt_first(void);         /* the number of the first signal, or 0; also after unwatch */
const char *interrupt_words(void); /* "interrupted", "asked to end", "hung up": by the first */

#endif
