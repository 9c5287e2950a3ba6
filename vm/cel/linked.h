/* linked.h: a program's code in the form that the interpreter executes, private to one heap.
 *
 * A program is immutable, and VMs share it. Its linked form belongs to one heap (of a VM, or of an
 * expression's context), may be rewritten, and is thrown away with it. What holds for it:
 *
 *   1. code[pc] is the program's instruction at pc, decoded: where its handler is, and its operands
 *      as the handler needs them (mwl__linked_ins). Its handler is that of the program's opcode, or
 *      of one of MWL_LINKED_OPCODES (linked_op.h) whose row begins with that opcode and goes on
 *      with those of the next instructions. These stay where they are, so a jump to them works, and
 *      pc means the same in handlers, tables, positions and saved runs.
 *   2. consts[i] equals the program's constant i. Only the address of a name may differ: it is the
 *      heap's atom (atoms.c), so that names are mostly compared by address.
 *   3. `at` of a key says where the name was found last. It is a guess: nothing depends on it.
 *   4. No run refers to it. A frame has a pc and values; the names in those live as long as the
 * heap.
 *
 * So what the verifier has proved of the program holds for its linked form. mwl__linked_check
 * compares the two; checked builds (MWL_CHECKED) do so for each program that is linked. */
#ifndef MWL_LINKED_H
#define MWL_LINKED_H

#include "vm/program/program.h"

/* An instruction. By the kinds of its operands (opcodes.h) they are: a register: the bytes from the
 * first register; a constant, a path, a shape: the bytes from `code` to it; for SELECT the
 * constant is a mwl__linked_key of its own; a jump: the bytes from this instruction to its target,
 * with a sign, and so for TO, whose target is the STEP; anything else: the number that the program
 * has. x is c, or what is wide. a of a STEP are the flags of its record. */
typedef struct mwl__linked_ins {
    const void *go; /* the handler's label; without labels the opcode */
    uint16_t a, b;
    uint32_t x;
} mwl__linked_ins;

_Static_assert(MWL_REGS_LIMIT * sizeof(mwl_value) <= UINT16_MAX + 1u,
               "the bytes to a register fit into 16 bits");

/* A name that is looked up. `at` is its place in the object that it was found in last; `shape` that
 * object's keys, if they are a shape. */
typedef struct mwl__linked_key {
    const mwl__str *name;
    const mwl__keys *shape;
    uint32_t hash;
    uint32_t at;
} mwl__linked_key;

typedef struct mwl__linked_path {
    uint32_t
        slot; /* bytes from mwl__exec.root to the value of the base; MWL_NONE: it is not there */
    uint32_t n_keys;
    uint32_t ix, unused; /* in the program */
    mwl__linked_key keys[];
} mwl__linked_path;

/* An object literal. blank: the object as it is before it has its values, with its shape; NULL: it
 * has none. */
typedef struct mwl__linked_shape {
    const mwl__map *blank;
    const uint32_t *keys; /* in KEYS */
    uint32_t n_keys;
    uint16_t units; /* of the heap, if it has a blank; else 0 */
    uint16_t tag;   /* of the object's value */
} mwl__linked_shape;

typedef struct mwl__linked {
    const mwl_value *consts;
    const uint32_t *paths; /* by number: the bytes from `code` to the mwl__linked_path */
    const mwl__linked_shape *shapes;
    mwl_program *program; /* kept */
    mwl_value *env;       /* as many as the paths of an expression need */
    struct mwl__linked *next;
    const void *const *labels; /* by opcode; NULL: there are none */
    size_t size;               /* of the block that all of this is in */
    bool in_frames;            /* it is the code of Flows, not a free-standing expression */
    _Alignas(16) mwl__linked_ins code[];
} mwl__linked;

/* The labels of the interpreter's handlers by opcode (those of linked_op.h follow those of
 * opcodes.h), or NULL if it has none. */
typedef const void *const *mwl__labels_fn(void);

static inline mwl__linked_path *mwl__linked_path_at(const mwl__linked *l, uint32_t ix) {
    return (mwl__linked_path *)((uintptr_t)l->code + l->paths[ix]);
}

/* slot: returns the place of a base's value behind mwl__exec.root, or MWL_NONE; NULL: of a
 * free-standing expression, whose root is its variables. labels: of mwl__exec_run, or NULL. NULL is
 * returned if out of memory. */
typedef uint32_t mwl__slot_fn(unsigned base);
mwl__linked *mwl__linked_new(mwl_heap *h, const mwl_program *program, mwl__slot_fn *slot,
                             mwl__labels_fn *labels);
void mwl__linked_free(mwl_heap *h, mwl__linked *take); /* NULL is ignored */
/* Returns the count below which the code at pc re-enters and does nothing else: it is COUNT_GATE,
 * of a count with this name (an atom), and ACT_REENTER. 0: it is other code. */
uint64_t mwl__linked_repeats(const mwl__linked *linked, uint32_t pc, const mwl__str *name);
/* Returns whether 1 and 2 above are true. */
bool mwl__linked_check(const mwl__linked *linked);

#endif
