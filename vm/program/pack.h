/* pack.h: the small form of a program file.
 *
 * Owns: its bytes. An image (image.h) is laid out to be used in place: fixed-size records, aligned.
 * The packed form holds the same sections in a third to a quarter of the size, and loading one
 * makes the image of it again, byte by byte as it was, in memory of the program's own. What the
 * sections mean is checked there, once, as for any image; this file knows as much of them as
 * packing needs.
 *
 * "MWLB", u16 format, u16 flags 1 (packed), u32 instruction set, u64 checksum (XXH3-64 of all bytes
 * after this field, seeded with that of those before it); then the body. A number is a varint:
 * seven bits a byte, low first, the top bit says that more follow. The body: per section in
 * ascending order its id, the number of its records, the records; a zero. CONSTS holds what is in
 * STRINGS and TREES too, which are not written. record    its fields less those of the record
 * before, zigzag, wrapping, NONE counting as -1; of sections with one field a record (KEYS, SCHEMAS
 * ...) the field itself plus one CODE      op, then the operands that its row has; a jump as the
 * distance, zigzag CONSTS    a tag: 64 + n, a string of n < 64 bytes; else the kind, plus 128 for a
 * small whole NUMBER; then length and bytes, the number, or count and children (how far before,
 * plus nothing) blobs     their bytes */
#ifndef MWL_PACK_H
#define MWL_PACK_H

#include "vm/program/image.h"

bool mwl__pack_is(const void *bytes, size_t size); /* has the head of a packed program */
/* Append the packed form of an image. E_IMAGE when it is none or not well-formed, E_NOMEM. */
mwl_status mwl__pack(const void *image, size_t size, mwl__buf *out);
/* Append the image of a packed program. Memory and time are linear in its size. E_IMAGE, E_VERSION
 * with the reason and the offset, E_NOMEM. */
mwl_status mwl__unpack(const void *bytes, size_t size, mwl__buf *out, mwl_error *error);
/* Recompute the checksum in place: for tests and fuzzers. */
void mwl__pack_reseal(void *bytes, size_t size);

#endif
