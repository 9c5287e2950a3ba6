/* op.c: see op.h. Owns no facts of its own: all of it comes from the rows of opcodes.h. */
#include "vm/program/op.h"
#include "vm/value/value.h"

#include <ctype.h>
#include <stdlib.h>

static const mwl__op_info infos[] = {
#define X(name, a, b, c, flags, text)                                                              \
    {#name, {MWL_OPERAND_##a, MWL_OPERAND_##b, MWL_OPERAND_##c}, (flags), text},
    MWL_OPCODES(X)
#undef X
};

static const mwl__operand_info operands[] = {
#define X(name, letter, bound) {#name, letter, bound, MWL_OPERAND_##name >= MWL_OPERAND_IMMX},
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

static uint32_t operand_value(mwl__ins ins, int place, bool wide) {
    if (wide) return mwl__ins_x(ins);
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
        const mwl__operand_info *kind = mwl__operand_get(info->kind[i]);
        mwl__buf_printf(out, "%s%s%u", between, kind->letter, operand_value(ins, i, kind->wide));
        between = ", ";
    }
}

/* ---- text to instruction --------------------------------------------------------------------- */

static bool same_name(const char *row, const char *text, size_t len) {
    if (strlen(row) != len) return false;
    for (size_t i = 0; i < len; i++)
        if (tolower((unsigned char)row[i]) != text[i]) return false;
    return true;
}

static bool parse_operand(const char **text, const mwl__operand_info *kind, uint32_t *out) {
    const char *p = *text;
    while (*p == ' ' || *p == ',') p++;
    size_t n = strlen(kind->letter);
    if (strncmp(p, kind->letter, n) != 0) return false;
    p += n;
    if (!isdigit((unsigned char)*p)) return false;
    char *end = NULL;
    unsigned long value = strtoul(p, &end, 10);
    if (value > (kind->wide ? 0xffffffffUL : 0xffffUL)) return false;
    *out = (uint32_t)value;
    *text = end;
    return true;
}

bool mwl__op_parse(const char *text, mwl__ins *out) {
    size_t len = strcspn(text, " ");
    for (unsigned op = 0; op < MWL_OP_COUNT; op++) {
        if (!same_name(infos[op].name, text, len)) continue;
        const char *p = text + len;
        uint32_t v[3] = {0, 0, 0};
        for (int i = 0; i < 3; i++) {
            if (infos[op].kind[i] == MWL_OPERAND_NONE) continue;
            const mwl__operand_info *kind = mwl__operand_get(infos[op].kind[i]);
            if (!parse_operand(&p, kind, &v[i])) return false;
            if (kind->wide) {
                v[2] = v[1] >> 16;
                v[1] &= 0xffffu;
                break;
            }
        }
        if (*p) return false;
        *out = mwl__ins_abc((mwl__op)op, v[0], v[1], v[2]);
        return true;
    }
    return false;
}
