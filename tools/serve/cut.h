/* cut.h: data of runs inside an answer, cut where it is long. A value that shares its parts is
 * small in memory and may be gigabytes as text, and people want its beginning. */
#ifndef MWL_TOOLS_SERVE_CUT_H
#define MWL_TOOLS_SERVE_CUT_H

#include "tools/serve/serve.h"

struct cut {
    FILE *to;
    mwl_heap *heap;
    size_t value, all; /* bytes: of one value, of the answer */
    bool any;          /* something was cut, or left out */
};

/* `full`: as much as one answer may have; without it, as much as people read. */
struct cut cut_make(FILE *to, mwl_heap *heap, bool full);
/* False: the answer is full, and what comes next is left out. */
bool cut_has_room(struct cut *c);
/* A value as JSON; if it is too long, a string with its first characters. */
void cut_value(struct cut *c, mwl_value v);
/* A member whose value is stored as JSON text; nothing if there is none. */
void cut_json(struct cut *c, const char *name, mwl_store_text json);
/* The same for a Result, which stays one: its members are cut, and those of the failures before. */
void cut_result(struct cut *c, const char *name, mwl_store_text json);

#endif
