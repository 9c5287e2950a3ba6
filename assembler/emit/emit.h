/* emit.h: building a program image: constants, code, tables.
 *
 * Owns: interning (equal constants, paths, shapes and function references share one record),
 * labels, the order of sections. Refuses to know: what the code means. Failures are sticky: an
 * emitter that ran out of memory or of index space keeps accepting calls and reports at
 * mwl__emit_finish. The same calls in the same order give the same bytes. */
#ifndef MWL_EMIT_H
#define MWL_EMIT_H

#include "vm/program/program.h"

typedef struct mwl__emit mwl__emit;

mwl__emit *mwl__emit_new(const mwl_alloc *alloc); /* NULL when memory is out */
void mwl__emit_free(mwl__emit *e);
mwl_status mwl__emit_status(const mwl__emit *e);   /* MWL_OK, or the first failure */
void mwl__emit_fail(mwl__emit *e, mwl_status why); /* for lowerings: sticky, the first one counts */

/* Whether an index can be a 16-bit operand (K, FN, SHAPE). One that does not fit makes
 * mwl__emit_abc fail with MWL_E_TOO_BIG, so a lowering that has another way (LOAD_K and EQ for
 * EQ_K) asks first. */
static inline bool mwl__emit_fits16(uint32_t index) { return index <= 0xffffu; }

/* ---- constants: the index of an equal one, or of a new one ----------------------------------- */
uint32_t mwl__emit_string(mwl__emit *e, const char *text, size_t len);
/* Any data or CEL value but FAULT, EXT, OPTIONAL; lent. Containers by content, with order. */
uint32_t mwl__emit_const(mwl__emit *e, mwl_value v);
/* Lent, until the emitter is freed; absent when there is no such constant. */
mwl_value mwl__emit_const_value(mwl__emit *e, uint32_t k);

/* ---- tables ---------------------------------------------------------------------------------- */
uint32_t mwl__emit_path(mwl__emit *e, unsigned base, const uint32_t *key_consts, unsigned n_keys);
uint32_t mwl__emit_shape(mwl__emit *e, const uint32_t *key_consts, uint32_t n_keys);
uint32_t mwl__emit_func(mwl__emit *e, const char *name, unsigned n_args, bool member);
uint32_t mwl__emit_regex(mwl__emit *e, uint32_t pattern_const);
/* A run of words in KEYS for other tables (constants, call indexes); answers the first one's index.
 */
uint32_t mwl__emit_keys(mwl__emit *e, const uint32_t *words, uint32_t n);
/* A table of fixed-size records for any section of image.h: appends, answers the record's index.
 * The Flow lowering uses it for FLOWS, STEPS, ENTRIES, CALLS ...; record_at gives a writable view
 * until the next record of that section, or NULL when there is no such record (as after a failure).
 * The tables that have a function of their own are not for these. */
uint32_t mwl__emit_record(mwl__emit *e, unsigned section, const void *record, size_t size);
void *mwl__emit_record_at(mwl__emit *e, unsigned section, uint32_t index, size_t size);
uint32_t mwl__emit_record_count(const mwl__emit *e, unsigned section);
/* A whole section's bytes as they are (SOURCE); copied; replaces what was there. */
void mwl__emit_blob(mwl__emit *e, unsigned section, const void *data, size_t size);
/* A word of INFO (tables.h). Words that nobody sets are MWL_NONE. */
void mwl__emit_info(mwl__emit *e, unsigned word, uint32_t value);

/* ---- code ------------------------------------------------------------------------------------ */
uint32_t mwl__emit_here(const mwl__emit *e); /* the next instruction's index */
/* Append an instruction; answers its index. */
uint32_t mwl__emit_abc(mwl__emit *e, mwl__op op, unsigned a, unsigned b, unsigned c);
uint32_t mwl__emit_ax(mwl__emit *e, mwl__op op, unsigned a, uint32_t x);
void mwl__emit_patch(mwl__emit *e, uint32_t pc, uint32_t target); /* sets the wide operand */
mwl__ins mwl__emit_at(const mwl__emit *e, uint32_t pc);
/* The program needs at least n registers. Operands of kind REG see to it themselves; runs (REGS) do
 * not. */
void mwl__emit_regs(mwl__emit *e, unsigned n);
/* Ranges must nest; empty ones are ignored; of two equal ones the first added is the inner. */
void mwl__emit_handler(mwl__emit *e, uint32_t begin, uint32_t end, uint32_t target, unsigned reg,
                       mwl__handler_kind kind);
/* Where instruction pc (sub as in mwl__program_where) comes from. The last word counts. An
 * instruction that nobody places is placed like the one before it. */
void mwl__emit_where(mwl__emit *e, uint32_t pc, unsigned sub, mwl__where where);

/* ---- the image ------------------------------------------------------------------------------- */
enum { MWL_EMIT_STRIP_SOURCE = 1, MWL_EMIT_STRIP_POSITIONS = 2 };
/* Appends the image to out. MWL_E_USAGE when handler ranges cross. May be called again. */
mwl_status mwl__emit_finish(mwl__emit *e, unsigned strip, mwl__buf *out);

#endif
