/* pictures.h: the last pictures of programs, which do not change: a page that is open in many
 * places asks for the same one again and again. Used by all threads of the desks. */
#ifndef MWL_TOOLS_SERVE_PICTURES_H
#define MWL_TOOLS_SERVE_PICTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pictures;
struct pictures *pictures_new(void); /* NULL: out of memory */
void pictures_free(struct pictures *p);

/* Writes the picture of a program, drawn with this name. False: it is not known. */
bool pictures_put(struct pictures *p, const uint8_t id[16], const char *name, FILE *to);
/* Keeps a copy, unless it is large; that which was not asked for the longest is dropped. */
void pictures_keep(struct pictures *p, const uint8_t id[16], const char *name, const char *text,
                   size_t len);

#endif
