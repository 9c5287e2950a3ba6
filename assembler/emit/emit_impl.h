/* emit_impl.h: the emitter's inside, for emit.c, emit_const.c and emit_image.c only. */
#ifndef MWL_EMIT_IMPL_H
#define MWL_EMIT_IMPL_H

#include "assembler/emit/emit.h"
#include "vm/base/table.h"

/* Everything that is shared by content goes through one table: a key is the thing's bytes behind a
 * letter that says which kind of thing it is. */
typedef struct mwl__intern_entry {
    size_t at; /* of the key in `keys` */
    uint32_t len;
    uint32_t index; /* what was interned under it */
} mwl__intern_entry;

typedef struct mwl__emit_row {
    uint32_t pc, sub, seq;
    mwl__where where;
} mwl__emit_row;

struct mwl__emit {
    mwl_alloc alloc;
    mwl_status status;
    mwl__buf section[MWL_SECTION_LIMIT];
    mwl__buf key;  /* the one being asked for */
    mwl__buf keys; /* all that are there */
    mwl__intern_entry *entry;
    size_t n_entries, cap_entries;
    mwl__table table;  /* of the entries */
    mwl_heap heap;     /* of `values` */
    mwl_value *values; /* the constants, as many as CONSTS has records */
    size_t n_values, cap_values;
    mwl__handler_rec *handlers; /* parent: order of arrival until finish */
    size_t n_handlers, cap_handlers;
    mwl__emit_row *rows;
    size_t n_rows, cap_rows;
    uint32_t n_regs;
};

/* The key under construction. Begin, put, then ask: true when it is there (*index set), false when
 * it was added under next_index, or when the emitter has failed (*index is 0 then). */
void mwl__emit_key(mwl__emit *e, char letter);
bool mwl__emit_intern(mwl__emit *e, uint32_t next_index, uint32_t *index);

/* Append to a section, noticing when memory is out. */
void mwl__emit_put(mwl__emit *e, unsigned section, const void *data, size_t size);
void mwl__emit_const_done(mwl__emit *e); /* frees what emit_const.c owns */

#endif
