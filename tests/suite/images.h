/* images.h: programs and saved runs of another machine. `mwl-suite --images=DIR` writes each
 * program that it assembles to DIR, `--saves=DIR` runs that it saves. If the file is there already,
 * because another build wrote it, the bytes must be the same, and that file's bytes are used. */
#ifndef MWL_SUITE_IMAGES_H
#define MWL_SUITE_IMAGES_H

#include <stddef.h>

/* Compares the bytes with the file of that name, or writes that file. On success *bytes is what
 * the file holds, malloc'd. Returns NULL, or what is wrong. */
const char *images_exchange(const char *dir, const char *name, const void *image, size_t size,
                            char **bytes);

#endif
