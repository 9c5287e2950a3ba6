/* trace.c: see trace.h. */
#include "vm/machine/trace.h"

void mwl_vm_trace(mwl_vm *vm, void (*listen)(void *ctx, const mwl_trace_event *event), void *ctx) {
    vm->listen = listen;
    vm->listen_ctx = ctx;
}

const char *mwl_trace_name(mwl_trace_kind kind) {
    static const char *const names[] = {
#define X(name) #name,
        MWL_TRACE_EVENTS(X)
#undef X
    };
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "UNKNOWN";
}

static const char *name_at(const mwl_program *p, uint32_t k) {
    size_t len;
    return k == MWL_NONE ? "" : mwl_as_text(p->consts[k], &len);
}

void mwl__trace(mwl__frame *f, mwl_trace_kind kind, const char *provider, int phase, int64_t index,
                mwl_value value) {
    static const char *const phases[] = {"onEntry", "onSuccess", "onFailure", "onAlways"};
    mwl_vm *vm = mwl__vm_of(f);
    const mwl_program *p = mwl__program_of(f);
    const mwl__flow_tables *t = &p->tables;
    mwl_trace_event e;
    memset(&e, 0, sizeof e);
    e.kind = kind;
    e.run = f->run;
    mwl_vm_now(vm, &e.at);
    e.depth = f->depth;
    e.flow = name_at(p, t->flows[f->flow].name_k);
    e.step = f->step == MWL_NONE ? "" : name_at(p, t->steps[f->step].name_k);
    e.provider = provider ? provider : "";
    e.phase = phase < 0 ? "" : phases[phase];
    e.index = index;
    e.value = mwl__borrow(value);
    vm->listen(vm->listen_ctx, &e);
}
