/* image.c: see image.h.
 *
 * The reader trusts nothing: each number is compared with what is left before it is used, so that
 * no sum can wrap. The ids and sizes of the sections determine the layout, so the offsets in the
 * file are only compared with it. */
#include "vm/program/image.h"
#include "vm/base/order.h"
#include "vm/base/utf8.h"
#include "vm/program/swap.h"
#include "vm/value/value.h"

static uint64_t padded(uint64_t n) { return (n + 7u) & ~(uint64_t)7u; }

static uint32_t get_u16(const unsigned char *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t get_u32(const unsigned char *p) { return get_u16(p) | get_u16(p + 2) << 16; }
static uint64_t get_u64(const unsigned char *p) {
    return (uint64_t)get_u32(p) | (uint64_t)get_u32(p + 4) << 32;
}
static void put_uint(unsigned char *p, uint64_t v, size_t width) {
    for (size_t i = 0; i < width; i++) p[i] = (unsigned char)(v >> (8 * i));
}

static uint64_t checksum(const unsigned char *bytes, size_t size) {
    uint64_t seed = mwl__str_hash64(bytes, MWL_IMAGE_HEADER - 8, 0);
    return mwl__str_hash64(bytes + MWL_IMAGE_HEADER, size - MWL_IMAGE_HEADER, seed);
}

const char *mwl__image_section_name(unsigned id) {
    switch (id) {
#define X(name, number, size)                                                                      \
    case number: return #name;
        MWL_IMAGE_SECTIONS(X)
#undef X
    default: return NULL;
    }
}

size_t mwl__image_record_size(unsigned id) {
    switch (id) {
#define X(name, number, size)                                                                      \
    case number: return size;
        MWL_IMAGE_SECTIONS(X)
#undef X
    default: return 0;
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static mwl_status refuse(mwl_error *error, mwl_status status, const char *message, size_t offset) {
    if (error) {
        error->status = status;
        error->message = message;
        error->offset = offset;
    }
    return status;
}

mwl_status mwl__image_refuse(const mwl__image *image, mwl_error *error, mwl_status status,
                             const char *message, const void *at) {
    return refuse(error, status, message,
                  at ? (size_t)((const unsigned char *)at - image->bytes) : 0);
}

static mwl_status bad(mwl_error *error, const char *message, size_t offset) {
    return refuse(error, MWL_E_IMAGE, message, offset);
}

static mwl_status check_header(const unsigned char *b, size_t size, mwl_error *error) {
    if (size < 4 || memcmp(b, "MWLB", 4) != 0)
        return bad(error, "not a program: the magic is missing", 0);
    if (size < MWL_IMAGE_HEADER) return bad(error, "cut off in the header", size);
    if (get_u16(b + 4) != MWL_IMAGE_FORMAT)
        return refuse(error, MWL_E_VERSION, "a program format of another version", 4);
    if (get_u16(b + 6) & ~MWL_IMAGE_BIG) return bad(error, "unknown flags", 6);
    if (get_u32(b + 12) >= MWL_SECTION_LIMIT) return bad(error, "too many sections", 12);
    if (get_u64(b + 16) > size) return bad(error, "cut off: shorter than its header says", 16);
    if (get_u64(b + 16) < size) return bad(error, "longer than its header says", 16);
    if (get_u32(b + 12) > (size - MWL_IMAGE_HEADER) / MWL_IMAGE_ENTRY)
        return bad(error, "the directory is longer than the file", 12);
    if (get_u64(b + 24) != checksum(b, size)) return bad(error, "the checksum does not match", 24);
    return MWL_OK;
}

/* Checks one row of the directory. Its section must begin at *end. Moves *end behind the section
 * and its padding. */
static mwl_status check_section(mwl__image *image, size_t row, uint32_t after, uint64_t *end,
                                mwl_error *error) {
    const unsigned char *b = image->bytes;
    uint32_t id = get_u32(b + row);
    uint64_t offset = get_u64(b + row + 8), size = get_u64(b + row + 16);
    size_t record = mwl__image_record_size(id);
    if (record == 0) return bad(error, "an unknown section", row);
    if (id <= after) return bad(error, "sections out of order", row);
    if (get_u32(b + row + 4) != 0) return bad(error, "a reserved field is not zero", row + 4);
    if (offset != *end) return bad(error, "a section is not where it must be", row + 8);
    if (size > image->size - *end) return bad(error, "a section reaches beyond the end", row + 16);
    if (size % record != 0)
        return bad(error, "a section is not a whole number of records", row + 16);
    if (padded(size) > image->size - *end) return bad(error, "the padding is cut off", row + 16);
    for (uint64_t i = size; i < padded(size); i++)
        if (b[offset + i] != 0) return bad(error, "padding is not zero", (size_t)(offset + i));
    image->section[id].data = b + offset;
    image->section[id].size = (size_t)size;
    *end = offset + padded(size);
    return MWL_OK;
}

mwl_status mwl__image_open(const void *bytes, size_t size, mwl__image *out, mwl_error *error) {
    if (!bytes || !out) return refuse(error, MWL_E_USAGE, "no bytes", 0);
    if ((uintptr_t)bytes % 8 != 0)
        return refuse(error, MWL_E_USAGE, "the bytes are not aligned to eight", 0);
    mwl_status status = check_header(bytes, size, error);
    if (status < 0) return status;
    mwl__image image;
    memset(&image, 0, sizeof image);
    image.bytes = bytes;
    image.size = size;
    image.isa = get_u32(image.bytes + 8);
    image.big = get_u16(image.bytes + 6) & MWL_IMAGE_BIG;
    uint32_t count = get_u32(image.bytes + 12), last = 0;
    uint64_t end = MWL_IMAGE_HEADER + (uint64_t)count * MWL_IMAGE_ENTRY;
    for (uint32_t i = 0; i < count; i++) {
        size_t row = MWL_IMAGE_HEADER + (size_t)i * MWL_IMAGE_ENTRY;
        status = check_section(&image, row, last, &end, error);
        if (status < 0) return status;
        last = get_u32(image.bytes + row);
    }
    if (end != size) return bad(error, "bytes that belong to no section", (size_t)end);
    *out = image;
    return MWL_OK;
}

mwl_status mwl__image_array(const mwl__image *image, unsigned id, size_t record, const void **data,
                            uint32_t *count, mwl_error *error) {
    if (id >= MWL_SECTION_LIMIT || record == 0)
        return refuse(error, MWL_E_USAGE, "no such section", 0);
    const unsigned char *at = image->section[id].data;
    size_t size = image->section[id].size, where = at ? (size_t)(at - image->bytes) : 0;
    if (size % record != 0) return bad(error, "a section is not a whole number of records", where);
    if (size / record >= UINT32_MAX) return bad(error, "too many records in a section", where);
    static const uint64_t nothing; /* so that adding 0 to the array is defined */
    *data = at ? at : (const void *)&nothing;
    *count = (uint32_t)(size / record);
    return MWL_OK;
}

/* ---- strings --------------------------------------------------------------------------------- */

_Static_assert(sizeof(mwl__str) == 16 && offsetof(mwl__str, hash) == 12,
               "the record is that structure");

static uint64_t string_record(uint32_t len) { return padded(sizeof(mwl__str) + (uint64_t)len + 1); }

/* Checks the record at p, of which `left` bytes are in the section. Returns NULL or what is wrong.
 */
static const char *check_string(const unsigned char *p, size_t left, bool is_text) {
    if (left < sizeof(mwl__str)) return "a string record is cut off";
    uint32_t word[4]; /* count, length, code points, hash */
    memcpy(word, p, sizeof word);
    uint32_t len = word[1];
    const char *text = (const char *)p + sizeof(mwl__str);
    size_t n = 0;
    if (word[0] != 0) return "a string record has a reference count";
    if (len > MWL_STRING_LIMIT || string_record(len) > left) return "a string record is cut off";
    for (size_t i = sizeof(mwl__str) + len; i < string_record(len); i++)
        if (p[i] != 0) return "a string record's end is not zero";
    if (word[3] != mwl__str_hash(text, len)) return "a string record's hash does not match";
    if (is_text && !mwl__utf8_valid(text, len, &n)) return "a string record is not UTF-8";
    return n == word[2] ? NULL : "a string record has another number of code points";
}

mwl_status mwl__image_string(const mwl__image *image, uint64_t offset, bool text, uint64_t *next,
                             mwl_error *error) {
    const unsigned char *p = image->section[MWL_SECTION_STRINGS].data;
    size_t size = image->section[MWL_SECTION_STRINGS].size;
    if (offset % 8 || offset >= size)
        return mwl__image_refuse(image, error, MWL_E_IMAGE, "a string record is not there", p);
    const char *wrong = check_string(p + offset, size - (size_t)offset, text);
    if (wrong) return mwl__image_refuse(image, error, MWL_E_IMAGE, wrong, p + offset);
    uint32_t len;
    memcpy(&len, p + offset + 4, sizeof len);
    *next = offset + string_record(len);
    return MWL_OK;
}

size_t mwl__image_put_string(mwl__buf *section, const char *text, size_t len, bool bytes) {
    size_t offset = section->len;
    if (len > MWL_STRING_LIMIT) section->failed = true;
    if (section->failed) return offset;
    size_t record = (size_t)string_record((uint32_t)len);
    if (!mwl__buf_reserve(section, record)) return offset;
    unsigned char *p = (unsigned char *)section->data + offset;
    uint32_t n_cp = bytes ? 0 : (uint32_t)mwl__utf8_count(text, len);
    const uint32_t word[4] = {0, (uint32_t)len, n_cp, mwl__str_hash(text, len)};
    memset(p, 0, record);
    memcpy(p, word, sizeof word);
    if (len) memcpy(p + sizeof(mwl__str), text, len);
    section->len += record;
    return offset;
}

/* ---- writing --------------------------------------------------------------------------------- */

void mwl__image_add(mwl__image_writer *w, unsigned id, const void *data, size_t size) {
    if (mwl__image_record_size(id) == 0) return;
    w->section[id].data = data;
    w->section[id].size = size;
    w->section[id].present = true;
}

/* Writes header and sections, little-endian; b has room for them, and is zero. */
static void put_image(const mwl__image_writer *w, uint32_t isa, uint32_t count, uint64_t total,
                      unsigned char *b) {
    memcpy(b, "MWLB", 4);
    put_uint(b + 4, MWL_IMAGE_FORMAT, 2);
    put_uint(b + 8, isa, 4);
    put_uint(b + 12, count, 4);
    put_uint(b + 16, total, 8);
    unsigned char *row = b + MWL_IMAGE_HEADER;
    uint64_t offset = MWL_IMAGE_HEADER + (uint64_t)count * MWL_IMAGE_ENTRY;
    for (unsigned id = 0; id < MWL_SECTION_LIMIT; id++) {
        if (!w->section[id].present) continue;
        put_uint(row, id, 4);
        put_uint(row + 8, offset, 8);
        put_uint(row + 16, w->section[id].size, 8);
        if (w->section[id].size) memcpy(b + offset, w->section[id].data, w->section[id].size);
        if (MWL__BIG_ENDIAN) mwl__section_swap(id, b + offset, w->section[id].size, true);
        offset += padded(w->section[id].size);
        row += MWL_IMAGE_ENTRY;
    }
    mwl__image_reseal(b, (size_t)total);
}

mwl_status mwl__image_finish(const mwl__image_writer *w, uint32_t isa, mwl__buf *out) {
    uint32_t count = 0;
    uint64_t total = MWL_IMAGE_HEADER;
    for (unsigned id = 0; id < MWL_SECTION_LIMIT; id++) {
        if (!w->section[id].present) continue;
        if (w->section[id].size % mwl__image_record_size(id) != 0) return MWL_E_USAGE;
        if (w->section[id].size > SIZE_MAX / 64) return MWL_E_NOMEM; /* so that no sum wraps */
        count++;
        total += MWL_IMAGE_ENTRY + padded(w->section[id].size);
    }
    if (!mwl__buf_reserve(out, (size_t)total)) return MWL_E_NOMEM;
    unsigned char *b = (unsigned char *)out->data + out->len;
    memset(b, 0, (size_t)total);
    put_image(w, isa, count, total, b);
    out->len += (size_t)total;
    return MWL_OK;
}

void mwl__image_reseal(void *bytes, size_t size) {
    if (size >= MWL_IMAGE_HEADER) put_uint((unsigned char *)bytes + 24, checksum(bytes, size), 8);
}
