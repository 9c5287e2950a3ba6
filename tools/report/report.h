/* report.h: --report: a run as one HTML page that needs nothing else.
 *
 * record.c is a sink of the events (events.h): it keeps every span with the texts of its values.
 * data.c makes the graph of the definition and the data as JSON; the playground shows both while a
 * run goes on. write.c writes the page when the run has ended, however it ended: the parts of the
 * page (page.html, page.css, page.js, which the build makes into C data), the graph and the data.
 * Nothing in the page is fetched from anywhere. */
#ifndef MWL_TOOLS_REPORT_H
#define MWL_TOOLS_REPORT_H

#include "tools/host/definition_model.h"
#include "tools/show/events.h"
#include "tools/test/coverage.h"

struct report;

/* NULL if memory runs out. The heap is the VM's. */
struct report *report_new(mwl_heap *heap);
void report_free(struct report *r); /* NULL is ignored */
/* The sink; lent by the report. */
struct event_sink report_sink(struct report *r);

/* What the page says about the run besides its events. */
struct report_about {
    const char *file;               /* the name of the definition */
    struct definition_model *model; /* for the graph; NULL: there is none */
    const char *source;             /* the definition's text, or NULL: stripped */
    size_t source_len;
    const mwl_run *run;
    bool virtual_time;
    const struct coverage *coverage; /* the ways that were taken; NULL: not known */
    const uint64_t *hits;
};

/* Appends the graph as SVG and the data of the page as JSON. A run that goes on is in it as far as
 * it is. If memory runs out, the buffer has failed. */
void report_data(struct report *r, const struct report_about *about, mwl__buf *svg, mwl__buf *data);

/* Writes the page to a file; events_finish was called. CMD_OK, or an exit status with a message. */
int report_write(struct report *r, const struct report_about *about, const char *path);

#endif
