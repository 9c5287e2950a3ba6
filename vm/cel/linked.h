/* linked.h: a program's code in the form that the interpreter executes, private to one heap.
 *
 * A program is immutable, and VMs share it. Its linked form belongs to one heap (of a VM, or of an
 * expression's context), may be rewritten, and is thrown away with it. What holds for it:
 *
 *   1. code[pc] has the operands of the program's instruction at pc, and its opcode, or one of
 *      MWL_LINKED_OPCODES (linked_op.h) whose row begins with that opcode and goes on with those of
 * the next instructions. These stay where they are, so a jump to them works, and pc means the same
 * in handlers, tables, positions and saved runs.
 *   2. consts[i] equals the program's constant i. Only the address of a name may differ: it is the
 *      heap's atom (atoms.c), so that names are mostly compared by address.
 *   3. `at` and `seen` say where a name was found last. They are guesses: nothing depends on them.
 *   4. No run refers to it. A frame has a pc and values; the names in those live as long as the
 * heap.
 *
 * So what the verifier has proved of the program holds for its linked form. mwl__linked_check
 * compares the two; checked builds (MWL_CHECKED) do so for each program that is linked. */
#ifndef MWL_LINKED_H
#define MWL_LINKED_H

#include "vm/program/program.h"

/* A key of a path. */
typedef struct mwl__linked_key {
    const mwl__str *name;
    uint32_t hash;
    uint32_t at; /* among the members of the object that it was found in last */
} mwl__linked_key;

typedef struct mwl__linked_path {
    uint32_t
        slot; /* bytes from mwl__exec.root to the value of the base; MWL_NONE: it is not there */
    uint32_t n_keys;
    mwl__linked_key *keys;
} mwl__linked_path;

/* An object literal. blank: the object as it is before it has its values; NULL: a large one, whose
 * index is built with it. */
typedef struct mwl__linked_shape {
    const mwl__map *blank;
    const uint32_t *keys; /* in KEYS */
    uint32_t n_keys, size;
} mwl__linked_shape;

typedef struct mwl__linked {
    const mwl__ins *code;
    const mwl_value *consts;
    const mwl__linked_path *paths;
    const mwl__linked_shape *shapes;
    uint32_t *seen;       /* by constant: where SELECT found the name last */
    mwl_program *program; /* kept */
    mwl_value *env;       /* as many as the paths of an expression need */
    struct mwl__linked *next;
    bool in_frames; /* it is the code of Flows, not a free-standing expression */
    size_t size;    /* of the block that all of this is in */
} mwl__linked;

/* slot: returns the place of a base's value behind mwl__exec.root, or MWL_NONE; NULL: of a
 * free-standing expression, whose root is its variables. NULL is returned if out of memory. */
typedef uint32_t mwl__slot_fn(unsigned base);
mwl__linked *mwl__linked_new(mwl_heap *h, const mwl_program *program, mwl__slot_fn *slot);
void mwl__linked_free(mwl_heap *h, mwl__linked *take); /* NULL is ignored */
/* Returns whether 1 and 2 above are true. */
bool mwl__linked_check(const mwl__linked *linked);

#endif
