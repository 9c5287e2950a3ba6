/* raise.c: see raise.h. */
#include "vm/machine/raise.h"

#include <stdio.h>

uint32_t mwl__raise(mwl__frame *f, mwl__failure_code code, const char *message, mwl_value details) {
    mwl_vm *vm = mwl__vm_of(f);
    mwl_value text = mwl_string(&vm->heap, message, strlen(message));
    vm->exec.fault = mwl__fault_new(&vm->heap, code, vm->exec.pc, text, details);
    return mwl_is_absent(vm->exec.fault) ? MWL_PC_NOMEM : MWL_PC_FAULT;
}

uint32_t mwl__raise_parameter(mwl__frame *f, const char *where, mwl_value observed,
                              const char *message) {
    mwl_heap *h = mwl__heap_of(f);
    mwl_value d = mwl_object(h, 3);
    d = mwl_object_set(h, d, "keywordLocation", 15, mwl_string(h, where, strlen(where)));
    d = mwl_object_set(h, d, "value", 5, mwl__keep(observed));
    if (mwl_is_absent(d)) return MWL_PC_NOMEM;
    return mwl__raise(f, MWL_FAILURE_PARAMETER, message, d);
}

uint32_t mwl__raise_envelope(mwl__frame *f, const char *where, uint32_t shape,
                             const mwl_value *values, uint32_t field, const char *wrong) {
    const mwl_program *p = mwl__program_of(f);
    char path[40];
    size_t len;
    const char *name = mwl_as_text(p->consts[p->keys[p->shapes[shape].first_key + field]], &len);
    snprintf(path, sizeof path, "%s/%.*s", where, (int)(len < 16 ? len : 16), name);
    return mwl__raise_parameter(f, path, values[field], wrong);
}

bool mwl__raised_set(mwl__exec *x) {
    mwl_value failure = mwl__failure_from_fault(x, x->fault);
    x->fault = mwl_absent();
    mwl__exec_clear(x, x->program->n_regs);
    if (!x->frame || mwl_is_absent(failure)) return false;
    mwl__replace(x->heap, &x->vm->raised, failure);
    return true;
}
