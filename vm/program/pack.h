/* pack.h: the small form of a program file.
 *
 * Owns: its bytes; FORMAT.md describes them. An image (image.h) is laid out to be used in place, so
 * its records are aligned and have fixed sizes. The packed form has the same sections in a third to
 * a quarter of the size. Loading makes the same image from it again, byte by byte, in memory that
 * the program owns. What the sections mean is checked there, once, as for any image. This file
 * knows only what packing needs. */
#ifndef MWL_PACK_H
#define MWL_PACK_H

#include "vm/base/mem.h"

bool mwl__pack_is(const void *bytes, size_t size); /* has the head of a packed program */
/* Appends the packed form of an image. Returns E_IMAGE if the image is not well-formed, or E_NOMEM.
 */
mwl_status mwl__pack(const void *image, size_t size, mwl__buf *out);
/* Appends the image of a packed program. Memory and time are linear in its size. Returns E_IMAGE or
 * E_VERSION with the reason and the offset, or E_NOMEM. */
mwl_status mwl__unpack(const void *bytes, size_t size, mwl__buf *out, mwl_error *error);
/* Computes the checksum again, in place: for tests and fuzzers. */
void mwl__pack_reseal(void *bytes, size_t size);

#endif
