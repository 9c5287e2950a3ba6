/* show_value.c: see show_value.h. */
#include "tools/show/show_value.h"

#include "tools/base/member.h"
#include "vm/machine/rest.h"
#include "vm/machine/run.h"

#include <stdio.h>
#include <string.h>

struct show {
    mwl_vm *vm;
    mwl_heap *heap;
};

static const char *const points[] = {
#define X(name, text) text,
    MWL_POINTS(X)
#undef X
};

static mwl_value put(const struct show *s, mwl_value o, const char *name, mwl_value take) {
    return member_set(s->heap, o, name, take);
}
static mwl_value text(const struct show *s, const char *t) {
    return mwl_string(s->heap, t, strlen(t));
}

static mwl_value call_value(const struct show *s, const mwl_call *c) {
    mwl_value o = mwl_object(s->heap, 5);
    o = put(s, o, "number", mwl_number((double)c->number));
    o = put(s, o, "attempt", mwl_number(c->attempt));
    o = put(s, o, "provider", text(s, c->provider->uri));
    o = put(s, o, "held", mwl_bool(c->held != 0));
    o = put(s, o, "cancelled", mwl_bool(c->cancelled));
    return put(s, o, "input", mwl_value_keep(c->input));
}

static mwl_value due_of(const struct show *s, const mwl__timer *t) {
    int64_t due = mwl__timer_due(&s->vm->timers, t);
    const mwl_instant now = s->vm->now; /* the reading by which loading moved the instants */
    if (due == MWL_NEVER) return mwl_null();
    return mwl_timestamp_text(s->heap, now.wall_ns + (due - now.mono_ns));
}

static mwl_value entries_value(const struct show *s, const mwl__frame *f) {
    mwl_value list = mwl_array(s->heap, 4);
    for (const mwl__entry *e = f->entries; e; e = e->outer) {
        mwl_value o = mwl_object(s->heap, 3);
        uint32_t import = mwl__tables(f)->entries[e->ix].import;
        o = put(s, o, "provider", text(s, f->run->link->providers[import]->uri));
        o = put(s, o, "runs", mwl_number((double)e->runs));
        list = mwl_array_push(s->heap, list, o);
    }
    return list;
}

static mwl_value frame_value(const struct show *s, const mwl__frame *f) {
    mwl__point point = MWL_POINT_START;
    mwl_place place;
    uint32_t at;
    (void)mwl__rest_point(f, &point, &at);
    mwl__run_place(mwl__program_of(f), f->flow, f->step, &place);
    mwl_value o = mwl_object(s->heap, 10);
    o = put(s, o, "depth", mwl_number(f->depth));
    o = put(s, o, "flow", text(s, place.flow));
    o = put(s, o, "step", f->step == MWL_NONE ? mwl_null() : text(s, place.step));
    if (place.line) { /* else the positions were stripped */
        o = put(s, o, "line", mwl_number(place.line));
        o = put(s, o, "column", mwl_number(place.column));
    }
    if (point == MWL_POINT_DIRECT)
        point = MWL_POINT_CALL; /* how it is called is not its business */
    o = put(s, o, "at", text(s, points[point]));
    o = put(s, o, "due", f->queued ? mwl_null() : due_of(s, &f->timer));
    o = put(s, o, "middleware", entries_value(s, f));
    o = put(s, o, "input", mwl_value_keep(f->input));
    return put(s, o, "vars", mwl_value_keep(f->vars));
}

mwl_value show_value(mwl_vm *vm, mwl_run *run, const mwl_saved *saved, size_t size) {
    const struct show shown = {vm, mwl_vm_heap(vm)}, *s = &shown;
    char id[33];
    mwl_value frames = mwl_array(s->heap, 4), calls = mwl_array(s->heap, 4), o;
    for (size_t i = 0; i < 16; i++) snprintf(id + 2 * i, 3, "%02x", saved->program[i]);
    for (const mwl__frame *f = run->root; f; f = mwl__rest_next_frame(f))
        frames = mwl_array_push(s->heap, frames, frame_value(s, f));
    for (const mwl_call *c = NULL; run->root && (c = mwl__rest_next_call(run, c));)
        calls = mwl_array_push(s->heap, calls, call_value(s, c));
    o = put(s, mwl_object(s->heap, 8), "id", text(s, mwl_run_id(run)));
    o = put(s, o, "program", text(s, id));
    o = put(s, o, "savedAt", mwl_timestamp_text(s->heap, saved->at.wall_ns));
    o = put(s, o, "due",
            saved->due_wall_ns == MWL_NEVER ? mwl_null()
                                            : mwl_timestamp_text(s->heap, saved->due_wall_ns));
    o = put(s, o, "bytes", mwl_number((double)size));
    if (saved->done) o = put(s, o, "result", mwl_value_keep(mwl_run_result(run)));
    o = put(s, o, "frames", frames);
    return put(s, o, "calls", calls);
}
