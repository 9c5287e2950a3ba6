/* watch.h: who watches a run: --trace, -v, --trace-file, --record, --report and the live line, as
 * the options ask.
 *
 * Owns: the one listener of the VM and what it is connected to. Refuses to know: what each of them
 * shows. */
#ifndef MWL_TOOLS_WATCH_H
#define MWL_TOOLS_WATCH_H

#include "tools/show/events.h"
#include "tools/show/live.h"
#include "tools/report/report.h"
#include "tools/run/run_options.h"
#include "tools/show/trace.h"

struct watch {
    mwl_vm *vm;
    struct trace trace;
    struct events *events; /* NULL: only --trace, or nothing, watches */
    struct event_lines *lines;
    struct trace_file *file;
    struct record *record; /* of --record, or NULL */
    struct report *report;
    struct coverage *coverage; /* the ways taken, for the report; or NULL */
    uint64_t *hits;
    struct live live;
    bool shows; /* the live line is to be drawn */
};

/* Begins to watch the run that is started next. CMD_OK, or an exit status with a message; end it in
 * any case. */
int watch_begin(struct watch *w, const struct run_options *o, mwl_vm *vm, mwl_program *program);
/* The run was loaded: what is open in it began before. */
void watch_loaded(struct watch *w, mwl_run *run);
/* The run is over. Removes the live line; what was recorded is complete. */
void watch_stop(struct watch *w);
/* Writes the page of --report, if there is one. The run has ended and watch_stop was called.
 * CMD_OK, or an exit status with a message. */
int watch_report(struct watch *w, struct run_options *o, const mwl_program *program,
                 const mwl_run *run);
/* Writes what is left and frees. CMD_OK, or an exit status with a message. */
int watch_end(struct watch *w);

#endif
