/* disasm.c: see disasm.h. */
#include "assembler/emit/disasm_impl.h"

#include "assembler/emit/disasm.h"
#include "vm/base/ascii.h"
#include "vm/base/num.h"
#include "vm/base/utf8.h"

#include <math.h>

/* The most bytes of a constant or of the source in a comment, because listings are for people. */
#define TEXT_LIMIT 60u
#define CODE_WIDTH 34u /* columns of an instruction before its comment */

/* ---- values ---------------------------------------------------------------------------------- */

/* Writes a text on one line, cut at a code point. */
static void put_cut(mwl__buf *out, const char *s, size_t len) {
    size_t n = len < TEXT_LIMIT ? len : TEXT_LIMIT;
    while (n < len && n > 0 && ((unsigned char)s[n] & 0xC0u) == 0x80u) n--;
    for (size_t i = 0; i < n; i++) mwl__buf_putc(out, (unsigned char)s[i] < 0x20 ? ' ' : s[i]);
    if (n < len) mwl__buf_puts(out, " ...");
}

static void write_number(mwl__buf *out, double d) {
    char text[MWL__NUM_MAX];
    if (isnan(d))
        mwl__buf_puts(out, "NaN");
    else if (isinf(d))
        mwl__buf_puts(out, d < 0 ? "-Infinity" : "Infinity");
    else if (d == 0 && signbit(d))
        mwl__buf_puts(out, "-0.0");
    else
        mwl__buf_put(out, text, mwl__num_write(d, text));
}

static void write_bytes(mwl__buf *out, const mwl__str *s) {
    mwl__buf_puts(out, "b'");
    for (uint32_t i = 0; i < s->len && i < TEXT_LIMIT; i++)
        mwl__buf_printf(out, "%02x", (unsigned)(unsigned char)s->s[i]);
    mwl__buf_putc(out, '\'');
}

static void write_string(mwl__buf *out, const mwl__str *s) {
    size_t n = s->len;
    if (n > TEXT_LIMIT) n = mwl__utf8_valid_prefix(s->s, TEXT_LIMIT);
    mwl__json_quote(out, s->s, n);
    if (n < s->len) mwl__buf_puts(out, "...");
}

/* Writes a constant as text; as JSON if it is in the data model. */
static void write_const(mwl__buf *out, mwl_value v) {
    switch (mwl_value_kind(v)) {
    case MWL_KIND_NUMBER: write_number(out, v.as.d); break;
    case MWL_KIND_INT: mwl__buf_printf(out, "int %lld", (long long)v.as.i); break;
    case MWL_KIND_UINT: mwl__buf_printf(out, "uint %llu", (unsigned long long)v.as.u); break;
    case MWL_KIND_DURATION: mwl__buf_printf(out, "duration %lld ns", (long long)v.as.i); break;
    case MWL_KIND_TIMESTAMP:
        mwl__buf_printf(out, "timestamp %lld.%09u", (long long)v.as.i, (unsigned)v.aux);
        break;
    case MWL_KIND_BYTES: write_bytes(out, mwl__as_str(v)); break;
    case MWL_KIND_TYPE: mwl__buf_printf(out, "type %s", mwl__as_str(v)->s); break;
    case MWL_KIND_STRING: write_string(out, mwl__as_str(v)); break;
    default: { /* a constant may be very large, so only a small one is written whole */
        uint64_t fuel = TEXT_LIMIT;
        mwl_status status = mwl__json_write(v, MWL_JSON_COMPACT, out, &fuel);
        if (status == MWL_E_NOMEM)
            out->failed = true;
        else if (status < 0)
            mwl__buf_printf(out, "%s of %u", mwl_value_kind(v) == MWL_KIND_ARRAY ? "list" : "map",
                            (unsigned)v.aux);
    }
    }
}

void mwl__disasm_const(listing *l, uint32_t k) {
    l->text.len = 0;
    write_const(&l->text, l->p->consts[k]);
    put_cut(l->out, l->text.data, l->text.len);
}

/* Writes a string constant without quotes; `otherwise` for MWL_NONE. */
void mwl__disasm_name(listing *l, uint32_t k, const char *otherwise) {
    if (k == MWL_NONE)
        mwl__buf_puts(l->out, otherwise);
    else
        put_cut(l->out, mwl__as_str(l->p->consts[k])->s, mwl__as_str(l->p->consts[k])->len);
}

/* ---- operands -------------------------------------------------------------------------------- */

static const char *const base_texts[] = {
#define X(name, text) text,
    MWL_BASES(X)
#undef X
};

/* Keys that are names are written with a dot, others as JSON in brackets. */
static bool is_name(const mwl__str *s) {
    if (s->len == 0 || mwl__is_digit(s->s[0])) return false;
    for (uint32_t i = 0; i < s->len; i++) {
        char c = s->s[i];
        if (!mwl__is_alnum(c) && c != '_') return false;
    }
    return true;
}

static void put_path(listing *l, uint32_t index) {
    const mwl__path_rec *path = &l->p->paths[index];
    if (path->base >= MWL_BASE_ENV)
        mwl__buf_printf(l->out, "env%d", path->base - MWL_BASE_ENV);
    else
        mwl__buf_puts(l->out, base_texts[path->base]);
    for (uint32_t i = 0; i < path->n_keys; i++) {
        mwl_value key = l->p->consts[l->p->keys[path->first_key + i]];
        const mwl__str *s = mwl__as_str(key);
        if (is_name(s)) {
            mwl__buf_printf(l->out, ".%s", s->s);
        } else {
            mwl__buf_putc(l->out, '[');
            mwl__json_quote(l->out, s->s, s->len);
            mwl__buf_putc(l->out, ']');
        }
    }
}

static void put_shape(listing *l, uint32_t index) {
    const mwl__shape_rec *shape = &l->p->shapes[index];
    mwl__buf_putc(l->out, '{');
    for (uint32_t i = 0; i < shape->n_keys && i < 8; i++) {
        if (i) mwl__buf_puts(l->out, ", ");
        mwl__disasm_name(l, l->p->keys[shape->first_key + i], "");
    }
    mwl__buf_puts(l->out, shape->n_keys > 8 ? ", ...}" : "}");
}

void mwl__disasm_flow(listing *l, uint32_t flow) {
    bool root = flow == l->p->tables.root_flow;
    mwl__disasm_name(l, l->p->tables.flows[flow].name_k, root ? "root Flow" : "inline Flow");
}

void mwl__disasm_call(listing *l, uint32_t call) {
    const mwl__call_rec *c = &l->p->tables.calls[call];
    if (c->flow != MWL_NONE)
        mwl__disasm_flow(l, c->flow);
    else
        mwl__disasm_name(l, l->p->tables.imports[c->import].uri_k, "");
}

static bool has_meaning(unsigned kind, uint32_t v) {
    if (kind == MWL_OPERAND_IMMX) return v > INT32_MAX; /* reads better with its sign */
    return kind != MWL_OPERAND_NONE && kind != MWL_OPERAND_IMM &&
           mwl__operand_get(kind)->n_regs == 0;
}

static void put_meaning(listing *l, unsigned kind, uint32_t v) {
    static const char *const phases[] = {"onEntry", "onSuccess", "onFailure", "onAlways"};
    const mwl_program *p = l->p;
    switch ((mwl__operand)kind) {
    case MWL_OPERAND_K:
    case MWL_OPERAND_KEY:
    case MWL_OPERAND_KX: mwl__disasm_const(l, v); break;
    case MWL_OPERAND_FN:
        mwl__disasm_name(l, p->funcs[v].name_k, "");
        mwl__buf_printf(l->out, p->funcs[v].member ? "/%u member" : "/%u",
                        (unsigned)p->funcs[v].n_args);
        break;
    case MWL_OPERAND_SHAPE: put_shape(l, v); break;
    case MWL_OPERAND_PHASE: mwl__buf_puts(l->out, phases[v]); break;
    case MWL_OPERAND_IMMX: mwl__buf_printf(l->out, "%d", (int)(int32_t)v); break;
    case MWL_OPERAND_PATHX: put_path(l, v); break;
    case MWL_OPERAND_JUMPX: mwl__buf_printf(l->out, "L%u", (unsigned)v); break;
    case MWL_OPERAND_REGEXX:
        mwl__disasm_const(l, ((const uint32_t *)p->image.section[MWL_SECTION_REGEXES].data)[v]);
        break;
    case MWL_OPERAND_FLOWX: mwl__disasm_flow(l, v); break;
    case MWL_OPERAND_STEPX: mwl__disasm_name(l, p->tables.steps[v].name_k, ""); break;
    case MWL_OPERAND_ENTRYX:
        mwl__disasm_name(l, p->tables.imports[p->tables.entries[v].import].uri_k, "");
        break;
    case MWL_OPERAND_CALLX: mwl__disasm_call(l, v); break;
    case MWL_OPERAND_GATHERX:
        mwl__disasm_name(l, p->tables.steps[p->tables.gathers[v].step].name_k, "");
        break;
    default: break;
    }
}

/* ---- code ------------------------------------------------------------------------------------ */

static void put_spaces(mwl__buf *out, size_t n) {
    while (n--) mwl__buf_putc(out, ' ');
}

static bool same_where(mwl__where a, mwl__where b) {
    return a.line == b.line && a.column == b.column && a.offset == b.offset && a.len == b.len;
}

/* Writes what the operands mean, then the source. The comment begins in the same column, unless the
 * instruction is too long for that. */
static void put_comment(listing *l, uint32_t pc, size_t line_start) {
    mwl__ins ins = l->p->code[pc];
    const mwl__op_info *info = mwl__op_get(ins.op);
    mwl__where where;
    bool placed = mwl__program_where(l->p, pc, 0, &where) && !same_where(where, l->last),
         any = false;
    for (int i = 0; i < 3; i++) {
        uint32_t v = mwl__op_operand(ins, i);
        if (!has_meaning(info->kind[i], v)) continue;
        if (!any) {
            size_t used = l->out->len - line_start;
            put_spaces(l->out, used < CODE_WIDTH + 8 ? CODE_WIDTH + 8 - used : 1);
        }
        mwl__buf_puts(l->out, any ? ", " : "; ");
        put_meaning(l, info->kind[i], v);
        any = true;
    }
    if (!placed) return;
    size_t used = l->out->len - line_start;
    if (!any) put_spaces(l->out, used < CODE_WIDTH + 8 ? CODE_WIDTH + 8 - used : 1);
    mwl__buf_printf(l->out, any ? " | %u:%u" : "; | %u:%u", (unsigned)where.line,
                    (unsigned)where.column);
    l->last = where;
    if (where.offset > l->p->source_size || where.len > l->p->source_size - where.offset) return;
    mwl__buf_putc(l->out, ' ');
    put_cut(l->out, l->p->source + where.offset, where.len);
}

static void put_code(listing *l) {
    for (uint32_t pc = 0; pc < l->p->n_code; pc++) {
        mwl__disasm_heads(l, pc);
        size_t start = l->out->len;
        mwl__buf_printf(l->out, "%6u  ", (unsigned)pc);
        mwl__op_print(l->out, l->p->code[pc]);
        put_comment(l, pc, start);
        mwl__buf_putc(l->out, '\n');
    }
}

static mwl_status mark_code(listing *l) {
    const mwl_program *p = l->p;
    l->marks = mwl__mem_new(&l->out->alloc, (size_t)p->n_code * sizeof *l->marks);
    if (!l->marks) return MWL_E_NOMEM;
    memset(l->marks, 0, (size_t)p->n_code * sizeof *l->marks);
    for (uint32_t pc = 0; pc < p->n_code; pc++)
        if (mwl__op_get(p->code[pc].op)->kind[1] == MWL_OPERAND_JUMPX)
            l->marks[mwl__ins_x(p->code[pc])] = true;
    for (uint32_t i = 0; i < p->n_handlers; i++) l->marks[p->handlers[i].target] = true;
    return MWL_OK;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void put_summary(listing *l) {
    const mwl_program *p = l->p;
    mwl__buf_printf(l->out, "; program of %zu bytes, format %u, instruction set %08x\n", p->size,
                    MWL_IMAGE_FORMAT, (unsigned)p->image.isa);
    mwl__buf_printf(l->out, "; %u registers", (unsigned)p->n_regs);
    if (p->n_env) mwl__buf_printf(l->out, ", %u slots", (unsigned)p->n_env);
    mwl__buf_puts(l->out, p->tables.root_flow == MWL_NONE ? ", an expression\n" : "\n");
    for (unsigned id = 0; id < MWL_SECTION_LIMIT; id++) {
        size_t size = p->image.section[id].size, record = mwl__image_record_size(id);
        if (size == 0) continue;
        mwl__buf_printf(l->out, ";   %-10s %8zu bytes", mwl__image_section_name(id), size);
        if (record > 1) mwl__buf_printf(l->out, " %8zu records", size / record);
        mwl__buf_putc(l->out, '\n');
    }
}

static void put_consts(listing *l) {
    if (l->p->n_consts) mwl__buf_puts(l->out, "\n; constants\n");
    for (uint32_t k = 0; k < l->p->n_consts; k++) {
        mwl__buf_printf(l->out, ";   k%-5u ", (unsigned)k);
        mwl__disasm_const(l, k);
        mwl__buf_putc(l->out, '\n');
    }
}

static void put_handlers(listing *l) {
    if (l->p->n_handlers) mwl__buf_puts(l->out, "\n; handlers\n");
    for (uint32_t i = 0; i < l->p->n_handlers; i++) {
        const mwl__handler_rec *h = &l->p->handlers[i];
        mwl__buf_printf(l->out, ";   %u to %u: L%u", (unsigned)h->begin, (unsigned)h->end - 1,
                        (unsigned)h->target);
        if (h->kind == MWL_HANDLER_EXPR)
            mwl__buf_printf(l->out, ", r%u\n", (unsigned)h->reg);
        else
            mwl__buf_puts(l->out, ", site\n");
    }
}

mwl_status mwl__disasm(const mwl_program *p, unsigned flags, mwl__buf *out) {
    listing l;
    memset(&l, 0, sizeof l);
    l.p = p;
    l.out = out;
    l.text = mwl__buf_make(out->alloc);
    mwl_status status = mark_code(&l);
    if (status == MWL_OK) status = mwl__disasm_note_flow(&l);
    if (status == MWL_OK) {
        if (!(flags & MWL_DISASM_CODE_ONLY)) {
            put_summary(&l);
            put_consts(&l);
            mwl__disasm_tables(&l);
            put_handlers(&l);
            mwl__buf_puts(out, "\n; code\n");
        }
        put_code(&l);
        if (out->failed || l.text.failed) status = MWL_E_NOMEM;
    }
    mwl__mem_free(&out->alloc, l.marks, (size_t)p->n_code * sizeof *l.marks);
    mwl__mem_free(&out->alloc, l.notes, l.cap_notes * sizeof *l.notes);
    mwl__buf_free(&l.text);
    return status;
}
