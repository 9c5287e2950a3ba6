/* position.c: from an instruction to its place in the definition: the rows of POSITIONS
 * (program.h). */
#include "vm/program/program.h"
#include "vm/base/order.h"
#include "vm/program/verify.h"

typedef struct row {
    uint32_t pc, sub;
    mwl__where where;
} row;

typedef struct rows {
    const unsigned char *block; /* pc, offset in the stream, per block */
    uint32_t n_blocks;
    const unsigned char *stream;
    size_t size;
} rows;

static bool rows_open(const mwl_program *p, rows *out) {
    uint32_t n = 0;
    if (p->positions_size < sizeof n) return false;
    n = mwl__load_32(p->positions);
    if (n == 0 || n > (p->positions_size - sizeof n) / (2 * sizeof n)) return false;
    out->block = p->positions + sizeof n;
    out->n_blocks = n;
    out->stream = p->positions + sizeof n + 2 * sizeof n * n;
    out->size = p->positions_size - sizeof n - 2 * sizeof n * n;
    return true;
}

static uint32_t block_pc(const rows *r, uint32_t b) {
    return mwl__load_32(r->block + (size_t)8 * b);
}
static size_t block_begin(const rows *r, uint32_t b) {
    return mwl__load_32(r->block + (size_t)8 * b + 4);
}
static size_t block_end(const rows *r, uint32_t b) {
    return b + 1 < r->n_blocks ? block_begin(r, b + 1) : r->size;
}

static bool take_varint(const rows *r, size_t *at, uint32_t *out) {
    uint32_t v = 0;
    for (unsigned shift = 0; shift < 35 && *at < r->size; shift += 7) {
        uint32_t byte = r->stream[(*at)++];
        v |= (byte & 0x7fu) << shift;
        if (byte < 0x80) {
            *out = v;
            return true;
        }
    }
    return false;
}

static bool take_change(const rows *r, size_t *at, uint32_t *field) {
    uint32_t v;
    if (!take_varint(r, at, &v)) return false;
    *field += v >> 1 ^ (v & 1 ? UINT32_MAX : 0);
    return true;
}

/* Reads the row at *at into *x, which has the row before it (all zeros at the beginning of a
 * block). */
static bool take_row(const rows *r, size_t *at, row *x) {
    uint32_t step;
    if (!take_varint(r, at, &step) || !take_varint(r, at, &x->sub)) return false;
    x->pc += step;
    return take_change(r, at, &x->where.line) && take_change(r, at, &x->where.column) &&
           take_change(r, at, &x->where.offset) && take_varint(r, at, &x->where.len);
}

bool mwl__program_where(const mwl_program *p, uint32_t pc, uint32_t sub, mwl__where *out) {
    rows r;
    if (!rows_open(p, &r) || block_pc(&r, 0) > pc) return false;
    uint32_t low = 0, high = r.n_blocks; /* the last block that begins at or before pc */
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (block_pc(&r, mid) <= pc)
            low = mid;
        else
            high = mid;
    }
    row x = {0, 0, {0, 0, 0, 0}};
    bool found = false;
    for (size_t at = block_begin(&r, low), end = block_end(&r, low); at < end;) {
        if (!take_row(&r, &at, &x) || x.pc > pc) break;
        if (x.pc == pc ? x.sub <= sub : x.sub == 0) {
            *out = x.where;
            found = true;
        }
    }
    return found;
}

mwl_status mwl__verify_positions(const mwl_program *p, mwl_error *error) {
    rows r;
    const char *why = "the positions are damaged";
    if (p->positions_size == 0) return MWL_OK;
    if (!rows_open(p, &r) || block_begin(&r, 0) != 0) goto refuse;
    uint64_t next = 0; /* (pc, sub) must not be before this */
    for (uint32_t b = 0; b < r.n_blocks; b++) {
        row x = {0, 0, {0, 0, 0, 0}};
        size_t at = block_begin(&r, b), end = block_end(&r, b);
        if (at >= end || end > r.size) goto refuse;
        for (bool first = true; at < end; first = false) {
            uint32_t before = x.pc;
            if (!take_row(&r, &at, &x) || x.pc < before || x.pc >= p->n_code) goto refuse;
            uint64_t place = (uint64_t)x.pc << 32 | x.sub;
            if (place < next || (first && (x.pc != block_pc(&r, b) || (b && x.sub)))) goto refuse;
            next = place + 1;
        }
        if (at != end) goto refuse;
    }
    return MWL_OK;
refuse:
    return mwl__image_refuse(&p->image, error, MWL_E_IMAGE, why, p->positions);
}
