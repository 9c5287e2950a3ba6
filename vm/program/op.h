/* op.h: what follows from the opcode table: the enum, encoding and decoding, names, printing an
 * instruction. */
#ifndef MWL_OP_H
#define MWL_OP_H

#include "vm/base/mem.h"
#include "vm/program/opcodes.h"

typedef enum mwl__op {
#define X(name, a, b, c, flags, text) MWL_OP_##name,
    MWL_OPCODES(X)
#undef X
        MWL_OP_COUNT,
    MWL_OP_MACHINE = MWL_OP_STEP /* the first one of the machine; not in expressions */
} mwl__op;

typedef enum mwl__operand {
#define X(name, letter, n_regs, use, bound) MWL_OPERAND_##name,
    MWL_OPERAND_KINDS(X)
#undef X
        MWL_OPERAND_COUNT
} mwl__operand;

/* What happens to the registers of an operand: opcodes.h has the words. */
typedef enum mwl__use {
    MWL_USE_NOTHING, /* it names no register */
    MWL_USE_READS,
    MWL_USE_FILLS,
    MWL_USE_CHANGES,
    MWL_USE_TAKES,
    MWL_USE_ITERATES
} mwl__use;
enum { /* by kind, for tables made at compile time */
#define X(name, letter, n_regs, use, bound)                                                        \
    MWL_OPERAND_USE_##name = MWL_USE_##use, MWL_OPERAND_REGS_##name = (n_regs),
       MWL_OPERAND_KINDS(X)
#undef X
};

typedef struct mwl__ins {
    uint16_t op, a, b, c;
} mwl__ins;

static inline uint32_t mwl__ins_x(mwl__ins i) { return (uint32_t)i.b | (uint32_t)i.c << 16; }
static inline mwl__ins mwl__ins_abc(mwl__op op, unsigned a, unsigned b, unsigned c) {
    mwl__ins i = {(uint16_t)op, (uint16_t)a, (uint16_t)b, (uint16_t)c};
    return i;
}
static inline mwl__ins mwl__ins_ax(mwl__op op, unsigned a, uint32_t x) {
    mwl__ins i = {(uint16_t)op, (uint16_t)a, (uint16_t)(x & 0xffffu), (uint16_t)(x >> 16)};
    return i;
}

typedef struct mwl__op_info {
    const char *name; /* as the row has it; listings print it in lower case */
    uint8_t kind[3];  /* mwl__operand of a, b, c; a 32-bit kind stands in kind[1] */
    uint8_t use[3];   /* mwl__use, and how many registers, of those kinds */
    uint8_t n_regs[3];
    uint16_t flags; /* MWL_OPF_* */
    const char *meaning;
} mwl__op_info;

typedef struct mwl__operand_info {
    const char *name, *letter, *bound;
    uint8_t n_regs; /* 0, 1, 4, or MWL_RUN */
    uint8_t use;    /* mwl__use */
    bool wide;      /* 32 bits over b and c */
} mwl__operand_info;

const mwl__op_info *mwl__op_get(unsigned op); /* NULL: there is no such opcode */
const mwl__operand_info *mwl__operand_get(unsigned kind);
/* The value of operand a (place 0), b or c of an instruction whose row is known. */
uint32_t mwl__op_operand(mwl__ins ins, int place);

/* The instruction-set number: a hash over the rows. An image made for other rows is refused. */
uint32_t mwl__op_isa(void);
uint32_t mwl__op_isa_of(const mwl__op_info *rows, unsigned n); /* of these rows */

/* "load_path r1, p4": the raw operands, without what they mean in a program. */
void mwl__op_print(mwl__buf *out, mwl__ins ins);

#endif
