/* control.c: see control.h. */
#include "tools/test/control.h"

#include "tools/session/seed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- control --------------------------------------------------------------------------------- */

static bool set_number(mwl_value v, uint64_t *out) {
    if (mwl_value_kind(v) != MWL_KIND_NUMBER || mwl_as_number(v) < 1 || mwl_as_number(v) > 9e15)
        return false;
    *out = (uint64_t)mwl_as_number(v);
    return true;
}

static bool set_member(struct control *c, const char *name, mwl_value v) {
    size_t len = 0;
    const char *text = mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, &len) : NULL;
    uint64_t n = 0;
    if (strcmp(name, "cancelAfter") == 0)
        return text && mwl_duration_parse(text, len, &c->cancel_after_ns) == MWL_OK;
    if (strcmp(name, "reason") == 0) {
        c->reason = text;
        return text != NULL;
    }
    if (strcmp(name, "seed") == 0) return seed_read(v, &c->seed);
    if (!set_number(v, &n)) return false;
    if (strcmp(name, "fuel") == 0)
        c->limits.fuel = n;
    else if (strcmp(name, "memory") == 0)
        c->limits.memory_bytes = (size_t)n;
    else
        return false;
    return true;
}

bool control_read(mwl_value v, struct control *out, char *why, size_t size) {
    mwl_value key, value;
    memset(out, 0, sizeof *out);
    out->cancel_after_ns = -1;
    if (mwl_is_absent(v)) return true;
    if (mwl_value_kind(v) != MWL_KIND_OBJECT) {
        snprintf(why, size, "control is not an object");
        return false;
    }
    for (size_t i = 0; mwl_object_at(v, i, &key, &value); i++) {
        if (set_member(out, mwl_as_text(key, NULL), value)) continue;
        snprintf(why, size, "control: '%s' is unknown or wrong", mwl_as_text(key, NULL));
        return false;
    }
    return true;
}

void control_cancels(const struct control *c, struct session_turns *out) {
    mwl_instant now;
    mwl_vm_now(out->vm, &now);
    out->cancels = c->cancel_after_ns >= 0;
    out->cancel_ns = now.mono_ns + c->cancel_after_ns;
    out->reason = c->reason;
}

/* ---- the trace ------------------------------------------------------------------------------- */

static const char *text_at(mwl_value array, size_t i) {
    const char *text = mwl_as_text(mwl_array_at(array, i), NULL);
    return text ? text : "";
}

static bool is_named(mwl_value expected, const char *kind) {
    size_t len = strlen(kind);
    for (size_t i = 0; i < mwl_count(expected); i++) {
        const char *line = text_at(expected, i);
        if (strncmp(line, kind, len) == 0 && (line[len] == ' ' || !line[len])) return true;
    }
    return false;
}

static void append(char *line, size_t size, const char *word) {
    size_t len = strlen(line);
    if (*word) snprintf(line + len, size - len, " %s", word);
}

void trace_lines_event(struct trace_lines *t, const mwl_trace_event *e) {
    const char *kind = mwl_trace_name(e->kind);
    if (mwl_is_absent(t->expected) || *t->why || !is_named(t->expected, kind)) return;
    char line[256], index[24];
    bool of_flow = e->kind == MWL_TRACE_FRAME_ENTERED || e->kind == MWL_TRACE_FRAME_EXITED;
    snprintf(line, sizeof line, "%s", kind);
    append(line, sizeof line, of_flow ? e->flow : e->step);
    append(line, sizeof line, e->phase);
    append(line, sizeof line, e->provider);
    if (e->index >= 0) {
        snprintf(index, sizeof index, "#%" PRId64, e->index);
        append(line, sizeof line, index);
    }
    const char *want = text_at(t->expected, t->at);
    if (strcmp(want, line) != 0)
        snprintf(t->why, sizeof t->why, "trace event %zu: expected '%s', got '%.120s'", t->at, want,
                 line);
    t->at++;
}

void trace_lines_end(struct trace_lines *t) {
    if (*t->why || t->at >= mwl_count(t->expected)) return;
    snprintf(t->why, sizeof t->why, "trace event %zu is missing: '%s'", t->at,
             text_at(t->expected, t->at));
}
