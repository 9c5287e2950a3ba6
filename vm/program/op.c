/* op.c: see op.h. All facts come from the rows of opcodes.h. */
#include "vm/program/op.h"
#include "vm/value/value.h"

#include <ctype.h>

static const mwl__op_info infos[] = {
#define X(name, a, b, c, flags, text)                                                              \
    {#name,                                                                                        \
     {MWL_OPERAND_##a, MWL_OPERAND_##b, MWL_OPERAND_##c},                                          \
     {MWL_OPERAND_USE_##a, MWL_OPERAND_USE_##b, MWL_OPERAND_USE_##c},                              \
     {MWL_OPERAND_REGS_##a, MWL_OPERAND_REGS_##b, MWL_OPERAND_REGS_##c},                           \
     (flags),                                                                                      \
     text},
    MWL_OPCODES(X)
#undef X
};

static const mwl__operand_info operands[] = {
#define X(name, letter, n_regs, use, bound)                                                        \
    {#name, letter, bound, n_regs, MWL_USE_##use, MWL_OPERAND_##name >= MWL_OPERAND_IMMX},
    MWL_OPERAND_KINDS(X)
#undef X
};

const mwl__op_info *mwl__op_get(unsigned op) { return op < MWL_OP_COUNT ? &infos[op] : NULL; }

const mwl__operand_info *mwl__operand_get(unsigned kind) {
    return kind < MWL_OPERAND_COUNT ? &operands[kind] : NULL;
}

uint32_t mwl__op_isa_of(const mwl__op_info *rows, unsigned n) {
    uint64_t h = 0;
    for (unsigned i = 0; i < n; i++) {
        h = mwl__str_hash64(rows[i].name, strlen(rows[i].name), h);
        h = mwl__str_hash64(rows[i].kind, sizeof rows[i].kind, h + rows[i].flags);
    }
    return (uint32_t)(h ^ h >> 32);
}

uint32_t mwl__op_isa(void) { return mwl__op_isa_of(infos, MWL_OP_COUNT); }

static void print_name(mwl__buf *out, const char *name) {
    for (; *name; name++) mwl__buf_putc(out, (char)tolower((unsigned char)*name));
}

uint32_t mwl__op_operand(mwl__ins ins, int place) {
    if (operands[infos[ins.op].kind[place]].wide) return mwl__ins_x(ins);
    return place == 0 ? ins.a : place == 1 ? ins.b : ins.c;
}

void mwl__op_print(mwl__buf *out, mwl__ins ins) {
    const mwl__op_info *info = mwl__op_get(ins.op);
    if (!info) {
        mwl__buf_printf(out, "op_%u %u, %u, %u", ins.op, ins.a, ins.b, ins.c);
        return;
    }
    print_name(out, info->name);
    const char *between = " ";
    for (int i = 0; i < 3; i++) {
        if (info->kind[i] == MWL_OPERAND_NONE) continue;
        const char *letter = operands[info->kind[i]].letter;
        mwl__buf_printf(out, "%s%s%u", between, letter, mwl__op_operand(ins, i));
        between = ", ";
    }
}
