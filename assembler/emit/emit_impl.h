/* emit_impl.h: what emit.c, emit_const.c and emit_image.c share. */
#ifndef MWL_EMIT_IMPL_H
#define MWL_EMIT_IMPL_H

#include "assembler/emit/emit.h"
#include "vm/base/table.h"

/* One table for everything that is interned. A key is a letter for what it is, then its bytes. */
typedef struct mwl__intern_entry {
    size_t at; /* offset of the key in `keys` */
    uint32_t len;
    uint32_t index; /* what was interned under it */
} mwl__intern_entry;

typedef struct mwl__emit_row {
    uint32_t pc, sub;
    mwl__where where;
} mwl__emit_row;

struct mwl__emit {
    mwl_alloc alloc;
    mwl_status status;
    mwl__buf section[MWL_SECTION_LIMIT];
    mwl__buf key;  /* the one that is being looked up */
    mwl__buf keys; /* all of them */
    mwl__intern_entry *entry;
    size_t n_entries, cap_entries;
    mwl__table table;  /* of the entries */
    mwl_heap heap;     /* of `values` */
    mwl_value *values; /* the constants, as many as CONSTS has records */
    size_t n_values, cap_values;
    mwl__handler_rec *handlers; /* until finish, parent is the order in which they were added */
    size_t n_handlers, cap_handlers;
    mwl__emit_row *rows; /* in order of pc, then of sub */
    size_t n_rows, cap_rows;
    size_t whole;       /* the last row of a whole instruction, + 1; 0: none */
    uint32_t left_to;   /* the last instruction whose row was left out, because its place is that of
                           `whole`; 0: none */
    const char *source; /* lent */
    size_t source_len;
    uint32_t n_regs;
};

/* To intern: mwl__emit_key begins a key, the caller appends its bytes to e->key, then
 * mwl__emit_intern looks it up. Returns true and its *index if it was there. Returns false if it
 * was added with next_index, or if the emitter has failed; then *index is 0. */
void mwl__emit_key(mwl__emit *e, char letter);
bool mwl__emit_intern(mwl__emit *e, uint32_t next_index, uint32_t *index);

/* Appends to a section. If out of memory, the emitter fails. */
void mwl__emit_put(mwl__emit *e, unsigned section, const void *data, size_t size);
void mwl__emit_const_done(mwl__emit *e); /* frees what emit_const.c owns */

#endif
