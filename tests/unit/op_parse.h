/* op_parse.h: for tests: reads the text of an instruction, as mwl__op_print writes it. */
#ifndef OP_PARSE_H
#define OP_PARSE_H

#include "vm/program/op.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static inline bool op_same_name(const char *row, const char *text, size_t len) {
    if (strlen(row) != len) return false;
    for (size_t i = 0; i < len; i++)
        if (tolower((unsigned char)row[i]) != text[i]) return false;
    return true;
}

static inline bool op_parse_operand(const char **text, const mwl__operand_info *kind,
                                    uint32_t *out) {
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

/* False when the text is not an instruction. */
static inline bool op_parse(const char *text, mwl__ins *out) {
    size_t len = strcspn(text, " ");
    for (unsigned op = 0; op < MWL_OP_COUNT; op++) {
        if (!op_same_name(mwl__op_get(op)->name, text, len)) continue;
        const mwl__op_info *info = mwl__op_get(op);
        const char *p = text + len;
        uint32_t v[3] = {0, 0, 0};
        for (int i = 0; i < 3; i++) {
            if (info->kind[i] == MWL_OPERAND_NONE) continue;
            const mwl__operand_info *kind = mwl__operand_get(info->kind[i]);
            if (!op_parse_operand(&p, kind, &v[i])) return false;
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

#endif
