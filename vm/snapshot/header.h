/* header.h: the fixed beginning of a saved run. FORMAT.md has it byte by byte. */
#ifndef MWL_HEADER_H
#define MWL_HEADER_H

#include "mwl.h"

#define MWL_SAVED_FORMAT 1u
#define MWL_SAVED_HEADER 64u /* bytes */
#define MWL_SAVED_DONE 1u    /* of flags */

typedef struct mwl__saved_header {
    uint16_t flags;
    uint64_t body; /* bytes */
    uint8_t program[16];
    uint64_t shape;
    mwl_instant at;
} mwl__saved_header;

/* Writes the header in front of the body, which lies behind MWL_SAVED_HEADER bytes. */
void mwl__saved_seal(unsigned char *bytes, size_t size, const mwl__saved_header *h);
/* Checks all of the header and the checksum. On failure *why is the reason. */
mwl_status mwl__saved_open(const unsigned char *bytes, size_t size, mwl__saved_header *h,
                           const char **why);
/* Computes the checksum again, in place: for tests and fuzzers that change the bytes. */
void mwl__saved_reseal(unsigned char *bytes, size_t size);

#endif
