/* cel_lower.h: translates a resolved tree into instructions.
 *
 * Owns: the instructions for an expression, registers, constant folding. Refuses to know: which
 * names exist (the caller's resolver) and where the text is in a document (the caller's positions).
 *
 * The code computes the expression into one register and continues after its last instruction. The
 * caller appends DATA and END, or other instructions that use the value. A fault goes to the
 * caller's handler, if there is one. */
#ifndef MWL_CEL_LOWER_H
#define MWL_CEL_LOWER_H

#include "assembler/cel/cel_front.h"
#include "assembler/emit/emit.h"
#include "vm/cel/functions.h"

typedef struct mwl__cel_lowering {
    const mwl_alloc *alloc; /* NULL: the default */
    mwl__emit *emit;
    const mwl__functions *functions; /* folded where pure; NULL: no call is folded */
    /* Finds the base of a variable (IDENT with MWL__CEL_REF_VARIABLE) and the members selected from
     * it. *used is how many of the members belong to the base; the rest become keys. Returns false
     * if there is no such base; then the code raises a fault. */
    bool (*resolve)(void *ctx, const mwl__cel_node *variable, const mwl__cel_text *members,
                    size_t n_members, unsigned *base, size_t *used);
    /* Records the position of bytes begin .. end of the source; line and column are those of byte
     * `at`. NULL: no positions are recorded. */
    mwl__where (*where)(void *ctx, uint32_t begin, uint32_t end, uint32_t at);
    void *ctx;
    unsigned dest;  /* the register that gets the value */
    unsigned first; /* registers from here on are free; above dest */
    uint64_t
        *work; /* what lowering costs beyond its nodes is added to it: folding, patterns; or NULL */
    mwl__cel_sink sink;
} mwl__cel_lowering;

/* Writes the `note` of nodes and leaves it there. Returns MWL_OK, MWL_E_NOMEM, or MWL_E_TOO_BIG
 * after a report if the expression needs more registers, constants or functions than instructions
 * can name. */
mwl_status mwl__cel_lower(const mwl__cel_lowering *options, const mwl__cel_tree *tree);

#endif
