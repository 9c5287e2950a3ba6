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

enum { BRANCH_MAX = 32 };

/* The dispatches of Gathers that the frame runs in, outermost first; of very many the innermost. */
static uint32_t branch_of(const mwl__frame *f, uint32_t branch[BRANCH_MAX]) {
    uint32_t n = 0;
    for (; f && n < BRANCH_MAX; f = f->parent)
        if (f->slot) branch[n++] = (uint32_t)(f->slot - mwl__gather_of(f->parent)->slots);
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t other = branch[n - 1 - i];
        branch[n - 1 - i] = branch[i];
        branch[i] = other;
    }
    return n;
}

void mwl__trace(mwl__frame *f, mwl_trace_kind kind, const char *provider, int phase, int64_t index,
                mwl_value value) {
    static const char *const phases[] = {"onEntry", "onSuccess", "onFailure", "onAlways"};
    mwl_vm *vm = mwl__vm_of(f);
    const mwl_program *p = mwl__program_of(f);
    const mwl__flow_tables *t = &p->tables;
    mwl_trace_event e;
    uint32_t branch[BRANCH_MAX];
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
    e.n_branch = branch_of(f, branch);
    e.branch = branch;
    if (kind == MWL_TRACE_CALL_DISPATCHED) {
        const mwl__call_state *r = f->record;
        e.input = mwl__borrow(mwl_is_absent(r->target_input) ? r->input : r->target_input);
    }
    vm->listen(vm->listen_ctx, &e);
}
