/* emit.h: building a program image: constants, code, tables.
 *
 * Owns: interning (equal constants, paths, shapes and function references share one record),
 * labels, the order of sections. Refuses to know: what the code means. After a failure (out of
 * memory, or too many records) further calls do nothing, and mwl__emit_finish returns the failure.
 * The same calls in the same order give the same bytes. */
#ifndef MWL_EMIT_H
#define MWL_EMIT_H

#include "vm/program/program.h"

typedef struct mwl__emit mwl__emit;

mwl__emit *mwl__emit_new(const mwl_alloc *alloc); /* NULL: out of memory */
void mwl__emit_free(mwl__emit *e);
mwl_status mwl__emit_status(const mwl__emit *e);   /* MWL_OK, or the first failure */
void mwl__emit_fail(mwl__emit *e, mwl_status why); /* for the caller; the first failure counts */

/* Can an index be a 16-bit operand (K, FN, SHAPE)? If not, mwl__emit_abc fails with MWL_E_TOO_BIG.
 * So a caller that has another way (LOAD_K and EQ instead of EQ_K) calls this first. */
static inline bool mwl__emit_fits16(uint32_t index) { return index <= 0xffffu; }

/* ---- constants: the index of an equal one, or of a new one ----------------------------------- */
uint32_t mwl__emit_string(mwl__emit *e, const char *text, size_t len);
/* Any value except FAULT, EXT, OPTIONAL; lent. Containers are equal if they have equal contents in
 * the same order. */
uint32_t mwl__emit_const(mwl__emit *e, mwl_value v);
/* Lent until the emitter is freed; absent if there is no such constant. */
mwl_value mwl__emit_const_value(mwl__emit *e, uint32_t k);

/* ---- tables ---------------------------------------------------------------------------------- */
uint32_t mwl__emit_path(mwl__emit *e, unsigned base, const uint32_t *key_consts, unsigned n_keys);
uint32_t mwl__emit_shape(mwl__emit *e, const uint32_t *key_consts, uint32_t n_keys);
uint32_t mwl__emit_func(mwl__emit *e, const char *name, unsigned n_args, bool member);
uint32_t mwl__emit_regex(mwl__emit *e, uint32_t pattern_const);
/* Appends a run of words to KEYS, for other tables; returns the index of the first. */
uint32_t mwl__emit_keys(mwl__emit *e, const uint32_t *words, uint32_t n);
/* For sections without a separate function (FLOWS, STEPS, ENTRIES, CALLS ...): appends a record and
 * returns its index. record_at: the record, to be written until the next one is appended to that
 * section; NULL if there is no such record, and after a failure. */
uint32_t mwl__emit_record(mwl__emit *e, unsigned section, const void *record, size_t size);
void *mwl__emit_record_at(mwl__emit *e, unsigned section, uint32_t index, size_t size);
uint32_t mwl__emit_record_count(const mwl__emit *e, unsigned section);
/* Sets the text of the section SOURCE. It is lent until the last mwl__emit_finish. */
void mwl__emit_source(mwl__emit *e, const char *text, size_t len);
/* Sets a word of INFO (tables.h). Words that are not set are MWL_NONE. */
void mwl__emit_info(mwl__emit *e, unsigned word, uint32_t value);

/* ---- code ------------------------------------------------------------------------------------ */
uint32_t mwl__emit_here(const mwl__emit *e); /* the next instruction's index */
/* Appends an instruction; returns its index. */
uint32_t mwl__emit_abc(mwl__emit *e, mwl__op op, unsigned a, unsigned b, unsigned c);
uint32_t mwl__emit_ax(mwl__emit *e, mwl__op op, unsigned a, uint32_t x);
void mwl__emit_patch(mwl__emit *e, uint32_t pc, uint32_t target); /* sets the wide operand */
mwl__ins mwl__emit_at(const mwl__emit *e, uint32_t pc);
/* Says that the program needs at least n registers. The emitter does this for an operand with one
 * register, but not for one with several. */
void mwl__emit_regs(mwl__emit *e, unsigned n);
/* Ranges must be nested or apart. Empty ones are ignored; of two equal ones the first is inside. */
void mwl__emit_handler(mwl__emit *e, uint32_t begin, uint32_t end, uint32_t target, unsigned reg,
                       mwl__handler_kind kind);
/* Sets where instruction pc comes from (sub as in mwl__program_where). The last call counts. An
 * instruction without a place has the place of the one before it. Whole instructions (sub 0) must
 * come in order: an earlier one than the last is MWL_E_USAGE if places between them were equal,
 * because those are not kept. A place for an earlier instruction takes time for each that follows
 * it. */
void mwl__emit_where(mwl__emit *e, uint32_t pc, unsigned sub, mwl__where where);

/* ---- the image ------------------------------------------------------------------------------- */
enum { MWL_EMIT_STRIP_SOURCE = 1, MWL_EMIT_STRIP_POSITIONS = 2 };
/* Appends the image to out. MWL_E_USAGE if handler ranges cross. May be called again. */
mwl_status mwl__emit_finish(mwl__emit *e, unsigned strip, mwl__buf *out);

#endif
