/* swap.h: the byte order of the records of an image.
 *
 * Owns: which fields the records have, by width. Files are little-endian, and records are used in
 * place as C structures; so a big-endian machine works with a copy whose records are turned. Such a
 * copy has MWL_IMAGE_BIG in its flags. The loader accepts one on every machine; nothing writes one
 * to a file. The header, the directory and sections without records are the same in both. */
#ifndef MWL_SWAP_H
#define MWL_SWAP_H

#include "vm/program/image.h"

/* Turns the records of a section in place. big: they are big-endian before. String records that are
 * not valid are left as they are; loading refuses them afterwards. */
void mwl__section_swap(unsigned id, void *data, size_t size, bool big);

/* Turns the records of an image that mwl__image_open has accepted, in place, and its flag, and
 * computes the checksum again. Turning twice gives the same bytes. `bytes` are those of the view.
 */
void mwl__image_swap(void *bytes, const mwl__image *view);

/* Gives an opened image records in the order of this machine. If they have the other one, *own is a
 * copy, turned, of image->size bytes, which the caller frees, and the view is of it; otherwise
 * NULL.
 */
mwl_status mwl__image_to_native(const mwl_alloc *alloc, mwl__image *image, void **own,
                                mwl_error *error);

#endif
