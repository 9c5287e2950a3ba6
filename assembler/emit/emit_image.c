/* emit_image.c: handlers, positions, and the image made of all sections. */
#include "assembler/emit/emit_impl.h"

#include "vm/base/order.h"

#include <stdlib.h>

/* ---- handlers -------------------------------------------------------------------------------- */

void mwl__emit_handler(mwl__emit *e, uint32_t begin, uint32_t end, uint32_t target, unsigned reg,
                       mwl__handler_kind kind) {
    if (begin >= end || e->status < 0) return;
    if (reg > 0xffffu) mwl__emit_fail(e, MWL_E_TOO_BIG);
    if (kind == MWL_HANDLER_EXPR) mwl__emit_regs(e, reg + 1);
    void *rows = e->handlers;
    if (mwl__mem_grow(&e->alloc, &rows, &e->cap_handlers, e->n_handlers + 1, sizeof *e->handlers) <
        0)
        mwl__emit_fail(e, MWL_E_NOMEM);
    e->handlers = rows;
    if (e->status < 0) return;
    mwl__handler_rec rec = {begin,         end,           target, (uint32_t)e->n_handlers,
                            (uint16_t)reg, (uint16_t)kind};
    e->handlers[e->n_handlers++] = rec;
}

static int order(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

static int order_handlers(const void *x, const void *y) {
    const mwl__handler_rec *a = x, *b = y;
    if (a->end != b->end) return order(a->end, b->end);
    if (a->begin != b->begin) return order(b->begin, a->begin);
    return order(a->parent, b->parent);
}

/* Sets the parents of sorted rows, from the last one back: the rows around a row are among the row
 * after it and the parents of that. */
static mwl_status link_handlers(mwl__handler_rec *row, uint32_t n) {
    for (uint32_t i = n; i-- > 0;) {
        uint32_t p = i + 1 < n ? i + 1 : MWL_NONE;
        while (p != MWL_NONE && row[p].begin >= row[i].end) p = row[p].parent;
        if (p != MWL_NONE && row[p].begin > row[i].begin) return MWL_E_USAGE; /* they cross */
        row[i].parent = p;
    }
    return MWL_OK;
}

static mwl_status put_handlers(const mwl__emit *e, mwl__buf *out) {
    size_t size = e->n_handlers * sizeof *e->handlers;
    if (size == 0) return MWL_OK;
    mwl__buf_put(out, e->handlers, size);
    if (out->failed) return MWL_E_NOMEM;
    mwl__handler_rec *rows = (mwl__handler_rec *)(void *)out->data;
    qsort(rows, e->n_handlers, sizeof *rows, order_handlers);
    return link_handlers(rows, (uint32_t)e->n_handlers);
}

/* ---- positions ------------------------------------------------------------------------------- */

static bool same_where(mwl__where a, mwl__where b) {
    return a.line == b.line && a.column == b.column && a.offset == b.offset && a.len == b.len;
}

/* A row that tidy_rows would leave out is not kept at all: most instructions of a construct have
 * its place. */
static bool says_nothing(mwl__emit *e, uint32_t pc, mwl__where where) {
    const mwl__emit_row *before = e->whole ? &e->rows[e->whole - 1] : NULL;
    if (before && e->left_to > pc) mwl__emit_fail(e, MWL_E_USAGE);
    if (!before || before->pc >= pc || !same_where(before->where, where)) return false;
    e->left_to = pc;
    return true;
}

/* Is a row for this instruction and sub, or a later one? */
static bool not_before(const mwl__emit_row *row, uint32_t pc, uint32_t sub) {
    return row->pc != pc ? row->pc > pc : row->sub >= sub;
}

/* Rows are kept in order. Code is made from its beginning to its end, so that a row has its place
 * at the end or a few rows before it. */
void mwl__emit_where(mwl__emit *e, uint32_t pc, unsigned sub, mwl__where where) {
    if (e->status < 0 || (sub == 0 && says_nothing(e, pc, where))) return;
    size_t i = e->n_rows;
    while (i > 0 && not_before(&e->rows[i - 1], pc, sub)) i--;
    if (i == e->n_rows || e->rows[i].pc != pc || e->rows[i].sub != sub) {
        void *rows = e->rows;
        if (e->n_rows >= UINT32_MAX) mwl__emit_fail(e, MWL_E_TOO_BIG);
        if (mwl__mem_grow(&e->alloc, &rows, &e->cap_rows, e->n_rows + 1, sizeof *e->rows) < 0)
            mwl__emit_fail(e, MWL_E_NOMEM);
        e->rows = rows;
        if (e->status < 0) return;
        memmove(e->rows + i + 1, e->rows + i, (e->n_rows - i) * sizeof *e->rows);
        e->n_rows++;
        if (e->whole > i) e->whole++;
    }
    e->rows[i] = (mwl__emit_row){pc, sub, where};
    if (sub == 0) e->whole = i + 1;
}

static void put_varint(mwl__buf *out, uint32_t v) {
    while (v >= 0x80) {
        mwl__buf_putc(out, (char)(v | 0x80));
        v >>= 7;
    }
    mwl__buf_putc(out, (char)v);
}

static void put_change(mwl__buf *out, uint32_t now, uint32_t before) {
    uint32_t d = now - before;
    put_varint(out, d << 1 ^ (d >> 31 ? UINT32_MAX : 0));
}

static void put_row(mwl__buf *out, const mwl__emit_row *row, const mwl__emit_row *before) {
    put_varint(out, row->pc - before->pc);
    put_varint(out, row->sub);
    put_change(out, row->where.line, before->where.line);
    put_change(out, row->where.column, before->where.column);
    put_change(out, row->where.offset, before->where.offset);
    put_varint(out, row->where.len);
}

/* Leaves out the rows of whole instructions that have the same place as the one before them. */
static size_t tidy_rows(mwl__emit_row *row, size_t n) {
    size_t kept = 0, whole = SIZE_MAX; /* the last kept row of sub 0 */
    for (size_t i = 0; i < n; i++) {
        if (row[i].sub == 0) {
            if (whole != SIZE_MAX && same_where(row[whole].where, row[i].where)) continue;
            whole = kept;
        }
        row[kept++] = row[i];
    }
    return kept;
}

static mwl_status put_positions(mwl__emit *e, mwl__buf *out) {
    static const mwl__emit_row zeros = {0, 0, {0, 0, 0, 0}};
    if (e->n_rows == 0) return MWL_OK;
    size_t n = e->n_rows = tidy_rows(e->rows, e->n_rows);
    mwl__buf index = mwl__buf_make(e->alloc), stream = mwl__buf_make(e->alloc);
    uint32_t n_blocks = 0;
    size_t first = 0;
    for (size_t i = 0; i < n; i++) {
        const mwl__emit_row *row = &e->rows[i];
        bool opens = i == 0 || (row->sub == 0 && i - first >= MWL_POSITIONS_BLOCK);
        if (opens) {
            const uint32_t block[2] = {mwl__little_32(row->pc),
                                       mwl__little_32((uint32_t)stream.len)};
            mwl__buf_put(&index, block, sizeof block);
            n_blocks++;
            first = i;
        }
        put_row(&stream, row, opens ? &zeros : row - 1);
    }
    mwl_status status = index.failed || stream.failed ? MWL_E_NOMEM : MWL_OK;
    if (stream.len > UINT32_MAX) status = MWL_E_TOO_BIG;
    if (status == MWL_OK) {
        n_blocks = mwl__little_32(n_blocks);
        mwl__buf_put(out, &n_blocks, sizeof n_blocks);
        mwl__buf_put(out, index.data, index.len);
        mwl__buf_put(out, stream.data, stream.len);
        if (out->failed) status = MWL_E_NOMEM;
    }
    mwl__buf_free(&index);
    mwl__buf_free(&stream);
    return status;
}

/* ---- the image ------------------------------------------------------------------------------- */

static void add_section(mwl__image_writer *w, unsigned id, const mwl__buf *b) {
    if (b->len) mwl__image_add(w, id, b->data, b->len);
}

mwl_status mwl__emit_finish(mwl__emit *e, unsigned strip, mwl__buf *out) {
    mwl__emit_info(e, MWL_INFO_REGS, e->n_regs);
    if (e->status < 0) return e->status;
    mwl__buf handlers = mwl__buf_make(e->alloc), positions = mwl__buf_make(e->alloc);
    mwl_status status = put_handlers(e, &handlers);
    if (status == MWL_OK && !(strip & MWL_EMIT_STRIP_POSITIONS))
        status = put_positions(e, &positions);
    if (status == MWL_OK) {
        mwl__image_writer w;
        memset(&w, 0, sizeof w);
        for (unsigned id = 0; id < MWL_SECTION_LIMIT; id++) {
            if (id != MWL_SECTION_SOURCE)
                add_section(&w, id, &e->section[id]);
            else if (e->source_len && !(strip & MWL_EMIT_STRIP_SOURCE))
                mwl__image_add(&w, id, e->source, e->source_len);
        }
        add_section(&w, MWL_SECTION_HANDLERS, &handlers);
        add_section(&w, MWL_SECTION_POSITIONS, &positions);
        status = mwl__image_finish(&w, mwl__op_isa(), out);
    }
    mwl__buf_free(&handlers);
    mwl__buf_free(&positions);
    if (status < 0) mwl__emit_fail(e, status);
    return status;
}
