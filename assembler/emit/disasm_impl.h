/* disasm_impl.h: what disasm.c and disasm_flow.c share. */
#ifndef MWL_DISASM_IMPL_H
#define MWL_DISASM_IMPL_H

#include "vm/program/program.h"
#include "vm/base/mem.h"

/* Something of the Flow tables that begins at an instruction, in the order in which it is listed
 * there. */
typedef enum note_kind {
    NOTE_FLOW,
    NOTE_STEP,
    NOTE_CATCH,
    NOTE_OWN_CALL,
    NOTE_INNER,
    NOTE_SUCCESS,
    NOTE_FAILURE,
    NOTE_BOTH,
    NOTE_ALWAYS,
    NOTE_ARM_SUCCESS,
    NOTE_ARM_FAILURE,
    NOTE_ASCENT
} note_kind;
typedef struct note {
    uint32_t pc, kind, ix;
} note;

typedef struct listing {
    const mwl_program *p;
    mwl__buf *out;
    mwl__buf text; /* of one constant */
    bool *marks;   /* a label begins there */
    note *notes;   /* in order of pc */
    size_t n_notes, cap_notes, next_note;
    mwl__where last; /* where the last line came from */
} listing;

/* disasm.c */
void mwl__disasm_const(listing *l, uint32_t k);
void mwl__disasm_name(listing *l, uint32_t k, const char *otherwise);
void mwl__disasm_flow(listing *l, uint32_t flow);
void mwl__disasm_call(listing *l, uint32_t call);

/* disasm_flow.c */
mwl_status mwl__disasm_note_flow(listing *l);    /* collect the notes */
void mwl__disasm_heads(listing *l, uint32_t pc); /* the lines above an instruction */
void mwl__disasm_tables(listing *l);             /* imports, Flows, entries, calls, Gathers */

#endif
