/* trace_file.c: see trace_file.h. */
#include "tools/show/trace_file.h"

#include "tools/base/cmd.h"
#include "tools/show/event_text.h"
#include "tools/base/json_out.h"
#include "tools/base/redact.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    PROCESS = 1,
    /* A value that would take more is shown as a text of its beginning: an input is in the file
     * once for each scope that it passes. */
    VALUE_MOST = 64 << 10
};

struct trace_file {
    FILE *to;
    char *path;
    mwl_heap *heap;
    const char *title;
    mwl_instant start;
    bool virtual_time, any, started;
    size_t secrets; /* when the file was opened */
};

/* ---- parts of an event ----------------------------------------------------------------------- */

static void put_text(struct trace_file *t, const char *text) {
    size_t len = 0;
    char *shown = redact_text(text, strlen(text), &len);
    json_out_text(t->to, shown ? shown : text);
    free(shown);
}

static void open_event(struct trace_file *t, char phase, uint32_t track, const mwl_instant *at) {
    int64_t ns = at ? at->mono_ns - t->start.mono_ns : 0;
    if (ns < 0) ns = 0;
    fprintf(t->to, "%s{\"ph\":\"%c\",\"pid\":%d,\"tid\":%" PRIu32 ",\"ts\":%" PRId64 ".%03" PRId64,
            t->any ? ",\n" : "\n", phase, PROCESS, track, ns / 1000, ns % 1000);
    t->any = true;
}

static void put_value(struct trace_file *t, const char **before, const char *name, mwl_value v) {
    if (mwl_is_absent(v)) return;
    fprintf(t->to, "%s\"%s\":", *before, name);
    (void)json_out_within(t->to, t->heap, v, VALUE_MOST);
    *before = ",";
}

static void put_word(struct trace_file *t, const char **before, const char *name,
                     const char *text) {
    if (!*text) return;
    fprintf(t->to, "%s\"%s\":", *before, name);
    put_text(t, text);
    *before = ",";
}

static void put_number(struct trace_file *t, const char **before, const char *name, int64_t n) {
    fprintf(t->to, "%s\"%s\":%" PRId64, *before, name, n);
    *before = ",";
}

static void put_metadata(struct trace_file *t, uint32_t track, const char *what, const char *name) {
    open_event(t, 'M', track, NULL);
    fprintf(t->to, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    put_text(t, name);
    fputs("}}", t->to);
}

static void put_order(struct trace_file *t, uint32_t track) {
    open_event(t, 'M', track, NULL);
    fprintf(t->to, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}", track);
}

/* ---- the sink -------------------------------------------------------------------------------- */

static void on_track(void *ctx, const struct event_track *track) {
    struct trace_file *t = ctx;
    char name[300];
    snprintf(name, sizeof name, "%.200s #%" PRId64, track->step, track->index);
    put_metadata(t, track->id, "thread_name", name);
    put_order(t, track->id);
}

static void begin_file(struct trace_file *t, const struct event_span *run) {
    t->start = run->begin;
    t->started = true;
    put_metadata(t, 0, "process_name", t->title);
    open_event(t, 'M', 0, NULL);
    mwl_value wall = mwl_timestamp_text(t->heap, run->begin.wall_ns);
    size_t len = 0;
    const char *text = mwl_as_text(wall, &len);
    fprintf(t->to, ",\"name\":\"process_labels\",\"args\":{\"labels\":\"%s time from %s\"}}",
            t->virtual_time ? "virtual" : "real", text ? text : "?");
    mwl_value_drop(t->heap, wall);
    put_metadata(t, 0, "thread_name", "run");
    put_order(t, 0);
}

static const char *const kind_words[] = {"run",     "flow", "step",     "middleware", "phase",
                                         "attempt", "call", "dispatch", "wait"};
static const char *const status_words[] = {"open",   "succeeded", "failed",
                                           "caught", "cancelled", "lost"};

static void on_begin(void *ctx, const struct event_span *s, const struct event_values *v) {
    struct trace_file *t = ctx;
    char name[300];
    const char *before = "";
    if (!t->started) begin_file(t, s);
    event_text_name(s, name, sizeof name);
    open_event(t, 'B', s->track, &s->begin);
    fputs(",\"name\":", t->to);
    put_text(t, name);
    fprintf(t->to, ",\"cat\":\"%s\",\"args\":{", kind_words[s->kind]);
    put_word(t, &before, "flow", s->flow);
    put_word(t, &before, "step", s->step);
    put_word(t, &before, "provider", s->provider);
    if (s->line) {
        put_number(t, &before, "line", s->line);
        put_number(t, &before, "column", s->column);
    }
    if (s->until_ns != MWL_NEVER)
        put_number(t, &before, "untilMicroseconds", (s->until_ns - t->start.mono_ns) / 1000);
    put_value(t, &before, "input", v->input);
    put_value(t, &before, "arguments", v->arguments);
    put_value(t, &before, "variablesBefore", v->vars);
    fputs("}}", t->to);
}

/* Writes an instant, so that a failure is seen on the track without a click. */
static void put_instant(struct trace_file *t, const struct event_span *s, const char *word,
                        mwl_value failure, const mwl_instant *at) {
    char text[200], code[120];
    const char *before = "";
    event_text_code(failure, code, sizeof code);
    snprintf(text, sizeof text, "%s: %s", word, code);
    open_event(t, 'i', s->track, at);
    fputs(",\"s\":\"t\",\"name\":", t->to);
    put_text(t, text);
    fputs(",\"cat\":\"failure\",\"args\":{", t->to);
    put_value(t, &before, "failure", failure);
    fputs("}}", t->to);
}

static void on_end(void *ctx, const struct event_span *s, const struct event_values *v) {
    struct trace_file *t = ctx;
    const char *before = ",";
    bool is_call = s->kind == EVENT_CALL || s->kind == EVENT_DISPATCH;
    if (is_call && s->status == EVENT_FAILED) put_instant(t, s, "failed", v->result, &s->end);
    open_event(t, 'E', s->track, &s->end);
    fprintf(t->to, ",\"args\":{\"status\":\"%s\"", status_words[s->status]);
    put_value(t, &before,
              s->status == EVENT_SUCCEEDED || s->status == EVENT_CAUGHT ? "result" : "failure",
              v->result);
    put_value(t, &before, "variablesAfter", v->vars);
    fputs("}}", t->to);
}

static void on_mark(void *ctx, const struct event_span *s, enum event_mark mark, mwl_value value,
                    const mwl_instant *at) {
    put_instant(ctx, s, mark == EVENT_MARK_CAUGHT ? "caught" : "interrupted", value, at);
}

struct event_sink trace_file_sink(struct trace_file *t) {
    struct event_sink sink = {t, on_track, on_begin, on_end, on_mark};
    return sink;
}

/* ---- the file -------------------------------------------------------------------------------- */

int trace_file_open(const char *path, const char *title, mwl_heap *heap, bool virtual_time,
                    struct trace_file **out) {
    struct trace_file *t = calloc(1, sizeof *t);
    if (t) t->path = strdup(path);
    if (!t || !t->path) {
        free(t);
        return cmd_no_memory();
    }
    t->to = fopen(path, "w");
    if (!t->to) {
        cmd_fail("--trace-file %s: %s", path, strerror(errno));
        free(t->path);
        free(t);
        return CMD_USAGE;
    }
    t->title = title;
    t->secrets = redact_count();
    t->heap = heap;
    t->virtual_time = virtual_time;
    fputc('[', t->to);
    *out = t;
    return CMD_OK;
}

/* Replaces what became secret after it had been written. A pipe or a device keeps nothing. */
static bool hide_late(const struct trace_file *t) {
    struct stat s;
    if (stat(t->path, &s) != 0 || !S_ISREG(s.st_mode)) return true;
    FILE *file = fopen(t->path, "r+");
    if (!file) return false;
    bool good = redact_file(file);
    return fclose(file) == 0 && good;
}

int trace_file_close(struct trace_file *t) {
    if (!t) return CMD_OK;
    fputs("\n]\n", t->to);
    bool failed = ferror(t->to) != 0;
    if (fclose(t->to) != 0) failed = true;
    int status = CMD_OK;
    if (!failed && redact_count() != t->secrets && !hide_late(t)) {
        cmd_fail("--trace-file %s: secrets cannot be replaced; the file is empty now", t->path);
        status = CMD_USAGE;
    }
    if (failed) {
        cmd_fail("--trace-file %s: %s", t->path, strerror(errno ? errno : EIO));
        status = CMD_USAGE;
    }
    free(t->path);
    free(t);
    return status;
}
