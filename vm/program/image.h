/* image.h: the .mwlb container: header, section directory, checksum.
 *
 * Owns: the layout of a program file as a set of sections, and its bounds; FORMAT.md has it byte by
 * byte. Refuses to know: what the sections mean (program.h). Equal sections give equal bytes. A
 * view points into the caller's bytes, which are neither copied nor written. */
#ifndef MWL_IMAGE_H
#define MWL_IMAGE_H

#include "vm/base/mem.h"

#define MWL_IMAGE_FORMAT 2u /* of the container and its records; not of the instruction set */

/* Name, id, bytes of one record (1: bytes without records). Ids never change. */
#define MWL_IMAGE_SECTIONS(X)                                                                      \
    X(INFO, 1, 4)       /* u32: registers, root Flow, ... : program.h */                           \
    X(STRINGS, 2, 8)    /* mwl__str records in place, each padded to eight */                      \
    X(CONSTS, 3, 16)    /* mwl__const_rec */                                                       \
    X(TREES, 4, 4)      /* u32 lists behind container constants */                                 \
    X(CODE, 5, 8)       /* mwl__ins */                                                             \
    X(PATHS, 6, 8)      /* mwl__path_rec */                                                        \
    X(KEYS, 7, 4)       /* runs of u32: constants, or call indexes */                              \
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

#define MWL_IMAGE_HEADER 32u /* bytes */
#define MWL_IMAGE_ENTRY 24u  /* bytes of a row of the directory */
#define MWL_IMAGE_BIG 2u     /* flag: the records are big-endian; swap.h */
typedef struct mwl__image {
    const unsigned char *bytes;
    size_t size;
    uint32_t isa;
    bool big; /* MWL_IMAGE_BIG */
    struct {
        const void *data; /* NULL: the section is absent */
        size_t size;
    } section[MWL_SECTION_LIMIT];
} mwl__image;

/* Checks the container and fills the view. The bytes must be 8-byte aligned. Returns E_IMAGE or
 * E_VERSION with the reason and the offset in `error`. The caller checks the instruction set, and
 * whether the records have this machine's byte order (swap.h). */
mwl_status mwl__image_open(const void *bytes, size_t size, mwl__image *out, mwl_error *error);

/* Returns a section as an array of records of `record` bytes; never NULL, also if the section is
 * absent. E_IMAGE if its size is not a multiple of that. */
mwl_status mwl__image_array(const mwl__image *image, unsigned id, size_t record, const void **data,
                            uint32_t *count, mwl_error *error);

/* Checks one record of STRINGS, which has this machine's byte order, in time linear in its size:
 * count 0 (it is never freed), bounds, NUL, padding, hash, and of a text UTF-8 and its code points.
 * *next: where the next one begins. Every record belongs to one constant, and they have the order
 * of the constants; so a walk over the constants checks the whole section. */
mwl_status mwl__image_string(const mwl__image *image, uint64_t offset, bool text, uint64_t *next,
                             mwl_error *error);
/* Appends the record of a string to a STRINGS section that is being made, and returns its offset.
 * text: valid UTF-8, or any bytes if `bytes` is true. If out of memory, the buffer's `failed` is
 * set. */
size_t mwl__image_put_string(mwl__buf *section, const char *text, size_t len, bool bytes);

/* For writing: add the sections, in this machine's byte order, in any order, each at most once;
 * mwl__image_finish then appends the image to out. The data is lent until then. */
typedef struct mwl__image_writer {
    struct {
        const void *data;
        size_t size;
        bool present;
    } section[MWL_SECTION_LIMIT];
} mwl__image_writer;

/* The id must be of the list above. A section of size 0 is present and empty. */
void mwl__image_add(mwl__image_writer *w, unsigned id, const void *data, size_t size);
/* MWL_E_NOMEM, or MWL_E_USAGE if a section is not a whole number of records. Then out is unchanged.
 */
mwl_status mwl__image_finish(const mwl__image_writer *w, uint32_t isa, mwl__buf *out);
/* Computes the checksum of an image again, in place: for tests and fuzzers that change one. */
void mwl__image_reseal(void *bytes, size_t size);

const char *mwl__image_section_name(unsigned id); /* NULL when unknown */
size_t mwl__image_record_size(unsigned id);       /* 0 when unknown */

/* For the other checks, to refuse a program: fills error (may be NULL) and returns status. `at`
 * points into the image and becomes the offset; NULL: offset 0. */
mwl_status mwl__image_refuse(const mwl__image *image, mwl_error *error, mwl_status status,
                             const char *message, const void *at);

#endif
