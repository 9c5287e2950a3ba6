/* look.c: see look.h. */
#include "vm/explore/look.h"

#include "vm/machine/context.h"
#include "vm/machine/providers.h"
#include "vm/machine/rest.h"
#include "vm/machine/state.h"
#include "vm/program/view.h"

mwl__frame *mwl__look_frame(const mwl_trace_event *event) {
    return (mwl__frame *)(uintptr_t)event->frame;
}

mwl__frame *mwl__look_root(const mwl_run *run) { return run->root; }

bool mwl__look_is_in(const mwl_run *run, const char *step) {
    for (const mwl__frame *f = run->root; f; f = mwl__rest_next_frame(f))
        if (strcmp(mwl__view_step_name(mwl__program_of(f), f->step), step) == 0) return true;
    return false;
}

mwl__look mwl__look_at(const mwl__frame *f) {
    return (mwl__look){.program = mwl__program_of(f),
                       .flow = f->flow,
                       .step = f->step,
                       .called = f->parent != NULL,
                       .entry = f->entries ? f->entries->ix : MWL_NONE,
                       .code = mwl__vm_of(f)->exec.pc};
}

uint32_t mwl__look_owner(const mwl__frame *f) {
    return f->extra && f->extra->owner ? f->extra->owner->ix : MWL_NONE;
}

static bool is_of_flow(const mwl__frame *f, const mwl__entry *e) {
    return (mwl__tables(f)->entries[e->ix].flags & MWL_ENTRY_FLOW_LEVEL) != 0;
}

mwl__look_entry mwl__look_entry_of(const mwl__frame *f) {
    const mwl__entry *e = f->entries;
    return (mwl__look_entry){.rank = e->rank,
                             .of_flow = is_of_flow(f, e),
                             .cleans = mwl__tables(f)->entries[e->ix].struct_pc[MWL_ON_ALWAYS] !=
                                       MWL_NONE,
                             .runs_cleanup = mwl__entry_cleaning(e),
                             .gated = e->gated,
                             .cleanup_failed = e->res.cleanup};
}

/* The outermost onAlways that the frame works for, or NULL; *at is its frame. */
static const mwl__entry *cleaning(const mwl__frame *f, const mwl__frame **at) {
    const mwl__entry *found = NULL;
    for (; f; f = f->parent)
        for (const mwl__entry *e = f->entries; e; e = e->outer)
            if (mwl__entry_cleaning(e)) {
                found = e;
                *at = f;
            }
    return found;
}

bool mwl__look_in_cleanup(const mwl__frame *f) {
    const mwl__frame *at;
    return cleaning(f, &at) != NULL;
}

mwl_value mwl__look_step(mwl__frame *f) {
    mwl__exec x;
    if (f->step == MWL_NONE) return mwl_null();
    memset(&x, 0, sizeof x); /* only these two are read */
    x.frame = f;
    x.heap = mwl__heap_of(f);
    mwl_value v = mwl__context_load(&x, MWL_BASE_STEP);
    return mwl_is_absent(v) ? mwl_null() : mwl__own(v);
}

mwl_value mwl__look_failure(const mwl__frame *f) { return mwl__failure_of(f); }

mwl_value mwl__look_vars(const mwl__frame *f) { return f->vars; }

mwl_value mwl__look_metadata(const mwl__frame *f, int64_t index) {
    const mwl__gather *g = mwl__gather_of(f);
    const mwl__call_state *r = index < 0 ? f->record : g ? g->slots[index].record : NULL;
    return r ? r->metadata : mwl_absent();
}

bool mwl__look_provides(const mwl_vm *vm, const char *uri) {
    return mwl__providers_find(vm, uri, strlen(uri)) != NULL;
}

mwl__look_call mwl__look_call_of(const mwl_call *call) {
    const mwl__frame *f = call->frame, *at = NULL;
    const mwl__entry *e = cleaning(f, &at);
    const mwl__link *link = f->run->link;
    mwl__look_call c = {.uri = call->provider->uri, .step = f->step, .cleanup = e != NULL};
    while (c.import < mwl__tables(f)->n_imports && link->providers[c.import] != call->provider)
        c.import++;
    if (e && at == f && is_of_flow(f, e)) c.step = MWL_NONE;
    return c;
}

bool mwl__look_starts(const mwl_call *call, void (*start)(mwl_call *call, void *user)) {
    return call->provider->call.start == start;
}
