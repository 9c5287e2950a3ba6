/* trace.h: trace events: what a listener of the VM gets to see. */
#ifndef MWL_TRACE_H
#define MWL_TRACE_H

#include "vm/machine/state.h"

/* Is there a listener? Ask this before calling the functions below, which need one. */
static inline bool mwl__tracing(const mwl_vm *vm) { return vm->listen != NULL; }
/* provider may be NULL, index -1, value absent: the event does not have them. */
MWL__COLD void mwl__trace(mwl__frame *f, mwl_trace_kind kind, const char *provider, int64_t index,
                          mwl_value value);
/* The same for an event with a Result: the value of a success, or the failure. */
MWL__COLD void mwl__trace_result(mwl__frame *f, mwl_trace_kind kind, int64_t index,
                                 mwl__result res);
/* An event about the innermost entry of the frame. phase may be -1. */
MWL__COLD void mwl__trace_entry(mwl__frame *f, mwl_trace_kind kind, int phase, mwl__result res);
/* HIDDEN, of a dispatch of the frame's Gather. It needs no listener. */
MWL__COLD void mwl__trace_hidden(mwl__frame *f, uint32_t index, mwl_value failure);
/* The frame has parked; due_ns is when it wakes by itself, or MWL_NEVER. */
MWL__COLD void mwl__trace_wait(mwl__frame *f, int64_t due_ns);

#endif
