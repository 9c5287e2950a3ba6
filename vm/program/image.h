/* image.h: the .mwlb container: header, section directory, checksum.
 *
 * Owns: the byte layout of a program file as a set of sections, and its bounds. Refuses to know:
 * what the sections mean (program.h). Little-endian, position-independent; sections begin at
 * multiples of eight, lie in ascending order of id without overlap, and padding is zero, so equal
 * sections give equal bytes. A view's pointers lie in the caller's bytes, which are never copied or
 * written. */
#ifndef MWL_IMAGE_H
#define MWL_IMAGE_H

#include "vm/base/mem.h"

#define MWL_IMAGE_FORMAT 2u /* of the container and its records; not of the instruction set */

/* id, name, bytes of one record (1: a blob). Ids are stable; a gap is reserved. */
#define MWL_IMAGE_SECTIONS(X)                                                                      \
    X(INFO, 1, 4)       /* u32: registers, root Flow, ... : program.h */                           \
    X(STRINGS, 2, 8)    /* mwl__str records in place, each padded to eight */                      \
    X(CONSTS, 3, 16)    /* mwl__const_rec */                                                       \
    X(TREES, 4, 4)      /* u32 lists behind container constants */                                 \
    X(CODE, 5, 8)       /* mwl__ins */                                                             \
    X(PATHS, 6, 8)      /* mwl__path_rec */                                                        \
    X(KEYS, 7, 4)       /* runs of u32: constants, or what their user says */                      \
    X(SHAPES, 8, 8)     /* mwl__shape_rec */                                                       \
    X(FUNCS, 9, 8)      /* mwl__func_rec */                                                        \
    X(REGEXES, 10, 4)   /* u32 constant indexes of patterns */                                     \
    X(HANDLERS, 11, 20) /* mwl__handler_rec */                                                     \
    X(IMPORTS, 12, 16)  /* providers, by URI */                                                    \
    X(SCHEMAS, 13, 4)   /* compiled JSON Schemas */                                                \
    X(FLOWS, 14, 24)    /* records of tables.h from here on */                                     \
    X(STEPS, 15, 28)                                                                               \
    X(ENTRIES, 16, 64)                                                                             \
    X(CALLS, 17, 36)                                                                               \
    X(GATHERS, 18, 32)                                                                             \
    X(CATCHES, 19, 8)                                                                              \
    X(MATCHERS, 20, 20)                                                                            \
    X(POSITIONS, 30, 1) /* compressed rows; strippable */                                          \
    X(SOURCE, 31, 1)    /* the definition's text; strippable */

enum {
#define X(name, id, size) MWL_SECTION_##name = (id),
    MWL_IMAGE_SECTIONS(X)
#undef X
        MWL_SECTION_LIMIT = 32
};

/* Header: "MWLB", u16 format, u16 flags (zero), u32 instruction set (mwl__op_isa), u32 section
 * count, u64 total size, u64 checksum: XXH3-64 of all bytes after this field, seeded with the
 * XXH3-64 of those before it; then the directory: u32 id, u32 reserved zero, u64 offset, u64 size,
 * per section. The first section begins where the directory ends, each next one at the next
 * multiple of eight, and the total is the last one's end, rounded up so: there is one way to write
 * down a set of sections. */
#define MWL_IMAGE_HEADER 32u /* bytes */
#define MWL_IMAGE_ENTRY 24u  /* bytes of a row of the directory */
typedef struct mwl__image {
    const unsigned char *bytes;
    size_t size;
    uint32_t isa;
    struct {
        const void *data; /* NULL: the section is absent */
        size_t size;
    } section[MWL_SECTION_LIMIT];
} mwl__image;

/* Check the container and fill the view. The bytes must be 8-byte aligned. Status E_IMAGE or
 * E_VERSION with the reason and the offset in `error`. Whether the instruction set is ours is the
 * caller's question. */
mwl_status mwl__image_open(const void *bytes, size_t size, mwl__image *out, mwl_error *error);

/* A section as an array of records of `record` bytes: E_IMAGE when its size is no multiple of that.
 */
mwl_status mwl__image_array(const mwl__image *image, unsigned id, size_t record, const void **data,
                            uint32_t *count, mwl_error *error);

/* Check one record of STRINGS and answer where the next begins: count 0 (immortal), bounds, NUL,
 * zero padding, hash; a text is UTF-8 with its number of code points, bytes have n_cp 0. Linear in
 * the record. Every record belongs to one constant and they lie in the order of the constants, so
 * who goes through the constants has checked the whole section. */
mwl_status mwl__image_string(const mwl__image *image, uint64_t offset, bool text, uint64_t *next,
                             mwl_error *error);
/* Append the record of a string to a STRINGS section that is being made. text: valid UTF-8, or with
 * `bytes` anything. The answer is its offset; the buffer's `failed` says when memory is out. */
size_t mwl__image_put_string(mwl__buf *section, const char *text, size_t len, bool bytes);

/* Writing: add sections in any order, each at most once, then finish appends the image to out. Data
 * is lent until finish. */
typedef struct mwl__image_writer {
    struct {
        const void *data;
        size_t size;
        bool present;
    } section[MWL_SECTION_LIMIT];
} mwl__image_writer;

/* The id must be of the list above. A section of size 0 is present and empty. */
void mwl__image_add(mwl__image_writer *w, unsigned id, const void *data, size_t size);
/* MWL_E_NOMEM, or MWL_E_USAGE when a section is no whole number of records; then out is as it was.
 */
mwl_status mwl__image_finish(const mwl__image_writer *w, uint32_t isa, mwl__buf *out);
/* Recompute the checksum of an image in place: for tests and fuzzers that must get past it. */
void mwl__image_reseal(void *bytes, size_t size);

const char *mwl__image_section_name(unsigned id); /* NULL when unknown */
size_t mwl__image_record_size(unsigned id);       /* 0 when unknown */

/* How the other checks of a program refuse it: fills error (NULL is allowed) and answers status.
 * `at` points into the image, or is NULL, and becomes the offset. */
mwl_status mwl__image_refuse(const mwl__image *image, mwl_error *error, mwl_status status,
                             const char *message, const void *at);

#endif
