/* images.h: programs of another machine. `mwl-suite --images=DIR` writes each program that it
 * assembles to DIR. If the file is there already, because another build wrote it, the bytes must be
 * the same, and that file's bytes are run. */
#ifndef MWL_SUITE_IMAGES_H
#define MWL_SUITE_IMAGES_H

#include "suite.h"

/* Compares the program with the file of the case, or writes that file. On success *bytes is what
 * the file holds, malloc'd. Returns NULL, or what is wrong. */
const char *images_exchange(const char *dir, const char *name, const void *image, size_t size,
                            char **bytes);

#endif
