/* trace_file.h: --trace-file: a run as Chrome trace-event JSON, which Perfetto and chrome://tracing
 * open.
 *
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU has the format.
 * The file is a JSON array with an event on each line: metadata (M), begin and end of spans (B, E),
 * instants (i). The run is process 1; every track (events.h) is a thread. Times are microseconds
 * since the run began, on the clock of the VM: real, or virtual. It is written as the run goes on,
 * so a viewer also opens what a process that was killed has left. */
#ifndef MWL_TOOLS_TRACE_FILE_H
#define MWL_TOOLS_TRACE_FILE_H

#include "tools/show/events.h"

struct trace_file;

/* Creates the file. `title` names the process in the viewer. CMD_OK and *out, given; or
 * an exit status with a message. */
int trace_file_open(const char *path, const char *title, mwl_heap *heap, bool virtual_time,
                    struct trace_file **out);
/* The sink; lent by the file. */
struct event_sink trace_file_sink(struct trace_file *t);
/* Ends the array and frees. CMD_OK, or CMD_USAGE with a message if something was not written. NULL
 * is ignored. */
int trace_file_close(struct trace_file *t);

#endif
