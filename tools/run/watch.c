/* watch.c: see watch.h. */
#include "tools/run/watch.h"

#include "tools/base/cmd.h"
#include "tools/show/event_lines.h"
#include "tools/base/term.h"
#include "tools/test/record.h"
#include "tools/show/trace_file.h"
#include "vm/program/program.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void hear(void *ctx, const mwl_trace_event *event) {
    struct watch *w = ctx;
    if (w->trace.form) trace_event(&w->trace, event);
    if (w->events) events_listen(w->events, event);
    if (w->coverage) coverage_event(w->coverage, w->hits, event);
    if (w->record) record_event(w->record, event);
}

static int add_lines(struct watch *w, mwl_heap *heap) {
    w->lines = event_lines_new(heap);
    if (!w->lines) return cmd_no_memory();
    struct event_sink sink = event_lines_sink(w->lines);
    return events_add_sink(w->events, &sink) ? CMD_OK : cmd_no_memory();
}

static int add_file(struct watch *w, const struct run_options *o, mwl_heap *heap) {
    int status = trace_file_open(o->trace_file, file_in_name(o->definition.path), heap,
                                 o->virtual_time, &w->file);
    if (status != CMD_OK) return status;
    struct event_sink sink = trace_file_sink(w->file);
    return events_add_sink(w->events, &sink) ? CMD_OK : cmd_no_memory();
}

static int add_report(struct watch *w, mwl_heap *heap, mwl_program *program) {
    w->report = report_new(heap);
    w->coverage = coverage_new(program);
    w->hits = w->coverage ? calloc(w->coverage->n_items + 1, sizeof *w->hits) : NULL;
    if (!w->report || !w->hits) return cmd_no_memory();
    struct event_sink sink = report_sink(w->report);
    return events_add_sink(w->events, &sink) ? CMD_OK : cmd_no_memory();
}

static void add_live(struct watch *w, const struct run_options *o) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    w->live = (struct live){NULL, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, o->virtual_time};
    w->shows = true;
}

int watch_begin(struct watch *w, const struct run_options *o, mwl_vm *vm, mwl_program *program) {
    bool live = !o->quiet && !o->verbose && !o->trace && term_status_possible();
    mwl_heap *heap = mwl_vm_heap(vm);
    int status = CMD_OK;
    memset(w, 0, sizeof *w);
    w->vm = vm;
    if (o->verbose || o->trace_file || o->report) {
        w->events = events_new(heap);
        if (!w->events) return cmd_no_memory();
    }
    if (o->verbose) status = add_lines(w, heap);
    if (status == CMD_OK && o->trace_file) status = add_file(w, o, heap);
    if (status == CMD_OK && o->report) status = add_report(w, heap, program);
    if (live) add_live(w, o);
    w->trace.heap = heap;
    w->trace.form = o->trace;
    mwl_vm_now(vm, &w->trace.start);
    if (status == CMD_OK && o->record) {
        w->record = record_new(heap, &w->trace.start);
        if (!w->record) status = cmd_no_memory();
    }
    if (w->trace.form || w->events || w->record) mwl_vm_trace(vm, hear, w);
    return status;
}

void watch_loaded(struct watch *w, mwl_run *run) {
    if (w->events) events_open(w->events, run);
}

void watch_stop(struct watch *w) {
    if (w->shows) term_status_clear();
    if (!w->events) return;
    mwl_instant now;
    mwl_vm_now(w->vm, &now);
    events_finish(w->events, &now);
    if (events_failed(w->events)) cmd_note("out of memory: not all that happened was recorded");
}

int watch_report(struct watch *w, struct run_options *o, const mwl_program *program,
                 const mwl_run *run) {
    if (!w->report) return CMD_OK;
    struct definition_model model;
    int read = CMD_REJECTED;
    if (program->source)
        read = definition_model_read(&model, &o->definition, o->definition.path, program->source,
                                     program->source_size, true);
    const struct report_about about = {.file = file_in_name(o->definition.path),
                                       .model = read == CMD_OK ? &model : NULL,
                                       .source = program->source,
                                       .source_len = program->source_size,
                                       .run = run,
                                       .virtual_time = o->virtual_time,
                                       .coverage = w->coverage,
                                       .hits = w->hits};
    int status = report_write(w->report, &about, o->report);
    if (program->source) definition_model_free(&model);
    return status;
}

int watch_end(struct watch *w) {
    if (w->vm) mwl_vm_trace(w->vm, NULL, NULL);
    int status = trace_file_close(w->file);
    event_lines_free(w->lines);
    record_free(w->record);
    report_free(w->report);
    coverage_free(w->coverage);
    free(w->hits);
    events_free(w->events);
    memset(w, 0, sizeof *w);
    return status;
}
