/* emit.c: see emit.h. Creation, interning, tables and code. Constants are in emit_const.c;
 * handlers, positions and the image in emit_image.c. */
#include "assembler/emit/emit_impl.h"
#include "vm/base/hash.h"

#define CODE_LIMIT 0x7fffffffu /* instructions: jump distances stay signed 32-bit numbers */
#define INFO_LIMIT 256u        /* words; a larger index is a mistake of the caller */

mwl__emit *mwl__emit_new(const mwl_alloc *alloc) {
    mwl_alloc a = alloc ? *alloc : mwl_alloc_default();
    mwl__emit *e = mwl__mem_zero(&a, 1, sizeof *e);
    if (!e) return NULL;
    e->alloc = a;
    for (unsigned i = 0; i < MWL_SECTION_LIMIT; i++) e->section[i] = mwl__buf_make(a);
    e->key = mwl__buf_make(a);
    e->keys = mwl__buf_make(a);
    if (mwl__heap_init(&e->heap, &a) < 0) {
        mwl__mem_free(&a, e, sizeof *e);
        return NULL;
    }
    return e;
}

void mwl__emit_free(mwl__emit *e) {
    if (!e) return;
    mwl_alloc a = e->alloc;
    mwl__emit_const_done(e);
    for (unsigned i = 0; i < MWL_SECTION_LIMIT; i++) mwl__buf_free(&e->section[i]);
    mwl__buf_free(&e->key);
    mwl__buf_free(&e->keys);
    mwl__mem_free(&a, e->entry, e->cap_entries * sizeof *e->entry);
    mwl__table_free(&e->table, &a);
    mwl__mem_free(&a, e->handlers, e->cap_handlers * sizeof *e->handlers);
    mwl__mem_free(&a, e->rows, e->cap_rows * sizeof *e->rows);
    mwl__mem_free(&a, e, sizeof *e);
}

mwl_status mwl__emit_status(const mwl__emit *e) { return e->status; }

void mwl__emit_fail(mwl__emit *e, mwl_status why) {
    if (e->status == MWL_OK) e->status = why;
}

void mwl__emit_put(mwl__emit *e, unsigned section, const void *data, size_t size) {
    if (e->status < 0) return;
    mwl__buf_put(&e->section[section], data, size);
    if (e->section[section].failed) mwl__emit_fail(e, MWL_E_NOMEM);
}

/* ---- interning ------------------------------------------------------------------------------- */

void mwl__emit_key(mwl__emit *e, char letter) {
    e->key.len = 0;
    mwl__buf_putc(&e->key, letter);
}

bool mwl__emit_intern(mwl__emit *e, uint32_t next_index, uint32_t *index) {
    *index = 0;
    if (e->key.failed) mwl__emit_fail(e, MWL_E_NOMEM);
    if (e->key.len > UINT32_MAX) mwl__emit_fail(e, MWL_E_TOO_BIG);
    if (e->status < 0) return false;
    void *entries = e->entry;
    mwl_status grown =
        mwl__mem_grow(&e->alloc, &entries, &e->cap_entries, e->n_entries + 1, sizeof *e->entry);
    e->entry = entries;
    if (grown == MWL_OK) grown = mwl__table_reserve(&e->table, &e->alloc, e->n_entries + 1);
    if (grown < 0) {
        mwl__emit_fail(e, grown);
        return false;
    }
    mwl__probe probe = mwl__probe_make(&e->table, mwl__hash_key(e->key.data, e->key.len));
    for (uint32_t i; mwl__table_next(&e->table, &probe, &i);) {
        const mwl__intern_entry *x = &e->entry[i];
        if (x->len != e->key.len || memcmp(e->keys.data + x->at, e->key.data, x->len) != 0)
            continue;
        *index = x->index;
        return true;
    }
    size_t at = e->keys.len;
    mwl__buf_put(&e->keys, e->key.data, e->key.len);
    if (e->keys.failed) {
        mwl__emit_fail(e, MWL_E_NOMEM);
        return false;
    }
    mwl__table_put(&e->table, &probe, (uint32_t)e->n_entries);
    e->entry[e->n_entries++] = (mwl__intern_entry){at, (uint32_t)e->key.len, next_index};
    *index = next_index;
    return false;
}

/* ---- tables ---------------------------------------------------------------------------------- */

uint32_t mwl__emit_record_count(const mwl__emit *e, unsigned section) {
    size_t record = mwl__image_record_size(section);
    return record ? (uint32_t)(e->section[section].len / record) : 0;
}

uint32_t mwl__emit_record(mwl__emit *e, unsigned section, const void *record, size_t size) {
    if (size == 0 || mwl__image_record_size(section) == 0 ||
        size % mwl__image_record_size(section)) {
        mwl__emit_fail(e, MWL_E_USAGE);
        return 0;
    }
    size_t index = e->section[section].len / size;
    if (index >= UINT32_MAX - 1) mwl__emit_fail(e, MWL_E_TOO_BIG);
    mwl__emit_put(e, section, record, size);
    return e->status < 0 ? 0 : (uint32_t)index;
}

void *mwl__emit_record_at(mwl__emit *e, unsigned section, uint32_t index, size_t size) {
    if (section >= MWL_SECTION_LIMIT || size == 0) return NULL;
    mwl__buf *b = &e->section[section];
    return index < b->len / size ? b->data + (size_t)index * size : NULL;
}

void mwl__emit_source(mwl__emit *e, const char *text, size_t len) {
    e->source = text;
    e->source_len = len;
}

void mwl__emit_info(mwl__emit *e, unsigned word, uint32_t value) {
    if (word >= INFO_LIMIT) {
        mwl__emit_fail(e, MWL_E_USAGE);
        return;
    }
    const uint32_t nothing = MWL_NONE;
    mwl__buf *info = &e->section[MWL_SECTION_INFO];
    while (e->status == MWL_OK && info->len / sizeof value <= word)
        mwl__emit_put(e, MWL_SECTION_INFO, &nothing, sizeof nothing);
    if (e->status == MWL_OK) memcpy(info->data + word * sizeof value, &value, sizeof value);
}

uint32_t mwl__emit_keys(mwl__emit *e, const uint32_t *words, uint32_t n) {
    uint32_t first = mwl__emit_record_count(e, MWL_SECTION_KEYS);
    mwl__emit_put(e, MWL_SECTION_KEYS, words, n * sizeof *words);
    return first;
}

static bool are_strings(mwl__emit *e, const uint32_t *k, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (mwl_value_kind(mwl__emit_const_value(e, k[i])) == MWL_KIND_STRING) continue;
        mwl__emit_fail(e, MWL_E_USAGE);
        return false;
    }
    return true;
}

uint32_t mwl__emit_path(mwl__emit *e, unsigned base, const uint32_t *key_consts, unsigned n_keys) {
    if (base > 0xffffu || n_keys > 0xffffu) mwl__emit_fail(e, MWL_E_TOO_BIG);
    if (e->status < 0 || !are_strings(e, key_consts, n_keys)) return 0;
    mwl__path_rec rec = {(uint16_t)base, (uint16_t)n_keys, 0};
    mwl__emit_key(e, 'p');
    mwl__buf_put(&e->key, &rec.base, sizeof rec.base);
    mwl__buf_put(&e->key, key_consts, n_keys * sizeof *key_consts);
    uint32_t index;
    if (mwl__emit_intern(e, mwl__emit_record_count(e, MWL_SECTION_PATHS), &index)) return index;
    rec.first_key = mwl__emit_keys(e, key_consts, n_keys);
    mwl__emit_put(e, MWL_SECTION_PATHS, &rec, sizeof rec);
    return index;
}

uint32_t mwl__emit_shape(mwl__emit *e, const uint32_t *key_consts, uint32_t n_keys) {
    if (e->status < 0 || !are_strings(e, key_consts, n_keys)) return 0;
    mwl__shape_rec rec = {0, n_keys};
    mwl__emit_key(e, 's');
    mwl__buf_put(&e->key, key_consts, n_keys * sizeof *key_consts);
    uint32_t index;
    if (mwl__emit_intern(e, mwl__emit_record_count(e, MWL_SECTION_SHAPES), &index)) return index;
    rec.first_key = mwl__emit_keys(e, key_consts, n_keys);
    mwl__emit_put(e, MWL_SECTION_SHAPES, &rec, sizeof rec);
    return index;
}

uint32_t mwl__emit_func(mwl__emit *e, const char *name, unsigned n_args, bool member) {
    if (n_args > 0xffffu) mwl__emit_fail(e, MWL_E_TOO_BIG);
    mwl__func_rec rec = {mwl__emit_string(e, name, strlen(name)), (uint16_t)n_args, member ? 1 : 0};
    mwl__emit_key(e, 'f');
    mwl__buf_put(&e->key, &rec, sizeof rec);
    uint32_t index;
    if (mwl__emit_intern(e, mwl__emit_record_count(e, MWL_SECTION_FUNCS), &index)) return index;
    mwl__emit_put(e, MWL_SECTION_FUNCS, &rec, sizeof rec);
    return index;
}

uint32_t mwl__emit_regex(mwl__emit *e, uint32_t pattern_const) {
    if (e->status < 0 || !are_strings(e, &pattern_const, 1)) return 0;
    mwl__emit_key(e, 'r');
    mwl__buf_put(&e->key, &pattern_const, sizeof pattern_const);
    uint32_t index;
    if (mwl__emit_intern(e, mwl__emit_record_count(e, MWL_SECTION_REGEXES), &index)) return index;
    mwl__emit_put(e, MWL_SECTION_REGEXES, &pattern_const, sizeof pattern_const);
    return index;
}

/* ---- code ------------------------------------------------------------------------------------ */

uint32_t mwl__emit_here(const mwl__emit *e) { return mwl__emit_record_count(e, MWL_SECTION_CODE); }

static uint32_t put_ins(mwl__emit *e, mwl__ins ins) {
    const mwl__op_info *info = mwl__op_get(ins.op);
    uint32_t pc = mwl__emit_here(e);
    if (pc >= CODE_LIMIT) mwl__emit_fail(e, MWL_E_TOO_BIG);
    const uint16_t v[3] = {ins.a, ins.b, ins.c};
    for (int i = 0; i < 3; i++)
        if (mwl__operand_get(info->kind[i])->n_regs == 1) mwl__emit_regs(e, v[i] + 1u);
    mwl__emit_put(e, MWL_SECTION_CODE, &ins, sizeof ins);
    return e->status < 0 ? 0 : pc;
}

static bool is_wide(mwl__op op) {
    return mwl__operand_get(mwl__op_get((unsigned)op)->kind[1])->wide;
}

uint32_t mwl__emit_abc(mwl__emit *e, mwl__op op, unsigned a, unsigned b, unsigned c) {
    if (!mwl__op_get((unsigned)op) || (is_wide(op) && (b || c))) mwl__emit_fail(e, MWL_E_USAGE);
    if (a > 0xffffu || b > 0xffffu || c > 0xffffu) mwl__emit_fail(e, MWL_E_TOO_BIG);
    return e->status < 0 ? 0 : put_ins(e, mwl__ins_abc(op, a, b, c));
}

uint32_t mwl__emit_ax(mwl__emit *e, mwl__op op, unsigned a, uint32_t x) {
    if (!mwl__op_get((unsigned)op) || !is_wide(op)) mwl__emit_fail(e, MWL_E_USAGE);
    if (a > 0xffffu) mwl__emit_fail(e, MWL_E_TOO_BIG);
    return e->status < 0 ? 0 : put_ins(e, mwl__ins_ax(op, a, x));
}

void mwl__emit_patch(mwl__emit *e, uint32_t pc, uint32_t target) {
    mwl__ins *ins = mwl__emit_record_at(e, MWL_SECTION_CODE, pc, sizeof *ins);
    if (!ins || !is_wide((mwl__op)ins->op)) {
        mwl__emit_fail(e, MWL_E_USAGE);
        return;
    }
    *ins = mwl__ins_ax((mwl__op)ins->op, ins->a, target);
}

mwl__ins mwl__emit_at(const mwl__emit *e, uint32_t pc) {
    mwl__ins ins = {MWL_OP_NOP, 0, 0, 0};
    if (pc < mwl__emit_here(e))
        memcpy(&ins, e->section[MWL_SECTION_CODE].data + pc * sizeof ins, sizeof ins);
    return ins;
}

void mwl__emit_regs(mwl__emit *e, unsigned n) {
    if (n > MWL_REGS_LIMIT) mwl__emit_fail(e, MWL_E_TOO_BIG);
    if (n > e->n_regs) e->n_regs = n;
}
