/* cel_lowerer.h: what cel_lower.c and cel_loop.c share. */
#ifndef MWL_CEL_LOWERER_H
#define MWL_CEL_LOWERER_H

#include "assembler/cel/cel_fold.h"
#include "assembler/cel/cel_lower.h"

typedef struct mwl__cel_local {
    uint16_t reg;
    bool may_fault; /* a bound variable; the fault of its initialiser is raised where it is used */
} mwl__cel_local;

typedef struct lowerer {
    const mwl__cel_lowering *o;
    mwl_alloc alloc;
    mwl__emit *e;
    mwl__cel_fold fold;
    mwl__cel_local *locals; /* by slot */
    unsigned top, max;
    mwl_status status;
} lowerer;

uint32_t mwl__cel_lower_abc(lowerer *l, const mwl__cel_node *n, mwl__op op, unsigned a, unsigned b,
                            unsigned c);
uint32_t mwl__cel_lower_ax(lowerer *l, const mwl__cel_node *n, mwl__op op, unsigned a, uint32_t x);
void mwl__cel_lower_fail(lowerer *l, const mwl__cel_node *n, const char *message);

/* Returns the first of `count` new registers. To free them, restore `top`. */
unsigned mwl__cel_lower_take(lowerer *l, const mwl__cel_node *n, unsigned count);

/* Adds code that puts the value of the node into register d, which is below `top`. */
void mwl__cel_lower_into(lowerer *l, const mwl__cel_node *n, unsigned d);

void mwl__cel_lower_call(lowerer *l, const mwl__cel_node *n, const char *name, unsigned d,
                         unsigned first, uint32_t n_args, bool member);

/* cel_loop.c: comprehensions, sortBy, optMap and optFlatMap: kid 0 is in register src. */
void mwl__cel_lower_loop(lowerer *l, const mwl__cel_node *n, unsigned d, unsigned src);
void mwl__cel_lower_bind(lowerer *l, const mwl__cel_node *n, unsigned d); /* BIND, BLOCK */

#endif
