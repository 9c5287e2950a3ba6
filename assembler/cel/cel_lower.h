/* cel_lower.h: from a resolved tree to instructions.
 *
 * Owns: which instructions an expression becomes, registers, constant folding. Refuses to know:
 * which names exist (the caller's resolver) and where the text stands in a document (the caller's
 * positions).
 *
 * The code computes the expression into one register and falls through; the caller appends DATA and
 * END, or whatever uses the value. A fault inside goes to the caller's handler, if there is one. */
#ifndef MWL_CEL_LOWER_H
#define MWL_CEL_LOWER_H

#include "assembler/cel/cel_front.h"
#include "assembler/emit/emit.h"
#include "vm/cel/functions.h"

/* Registers of one expression. The cause: they are 16 bytes each and kept per VM. */
#ifndef MWL__CEL_REGISTERS
#define MWL__CEL_REGISTERS 4096u
#endif

typedef struct mwl__cel_lowering {
    const mwl_alloc *alloc; /* NULL: the default */
    mwl__emit *emit;
    const mwl__functions *functions; /* folded where pure; NULL: no call is folded */
    /* The base that a variable (IDENT with MWL__CEL_REF_VARIABLE) and the members selected from it
     * mean: *used is how many of the members the base takes up; the rest become keys. False: no
     * such base, and the code will raise. */
    bool (*resolve)(void *ctx, const mwl__cel_node *variable, const mwl__cel_text *members,
                    size_t n_members, unsigned *base, size_t *used);
    /* The place of bytes begin .. end of the source; line and column are those of byte `at`. NULL:
     * no positions are recorded. */
    mwl__where (*where)(void *ctx, uint32_t begin, uint32_t end, uint32_t at);
    void *ctx;
    unsigned dest;  /* the register that gets the value */
    unsigned first; /* registers from here on are free; above dest */
    mwl__cel_sink sink;
} mwl__cel_lowering;

/* Tree notes are used and left behind. MWL_E_TOO_BIG after a report, when the expression needs more
 * registers, constants or functions than instructions can name; MWL_E_NOMEM. */
mwl_status mwl__cel_lower(const mwl__cel_lowering *options, const mwl__cel_tree *tree);

#endif
