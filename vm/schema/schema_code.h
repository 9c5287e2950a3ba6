/* schema_code.h: the form of a compiled schema: words, items, instructions.
 *
 * Owns: the layout that assembler/schema/schema_words.c writes, schema_load.c checks and
 * schema_check.c runs. No other file except schema_report.c reads it.
 *
 * A compiled schema is an array of 32-bit words. It can be moved: offsets count words from its
 * beginning. It has a header (MWL__SCHEMA_H_*), then items without gaps, then the constants that it
 * uses (indexes into those of the program) and its patterns (indexes into those constants). An item
 * is a node or a table:
 *
 *   word 0   what it is (low byte); of a node also the mask of types it accepts, in bits 8 to 15
 *   word 1   its length in words, these two included
 *
 * After these words a node has instructions up to END. An instruction is one word (operation, mask
 * of the types it concerns << 8, length << 16) and its operands. If the type of a value is not in
 * the mask of an instruction, the value passes. Tables:
 *
 *   ENUM    number of strings n, number of others m; n hashes; n constants, in
 *           the order of mwl__schema_name_order; m constants
 *   LIST    nodes, one or more
 *   ITEMS   node for the rest or NONE; nodes of the prefix
 *   PROPS   see MWL__PROPS_*: members by name, by pattern, and the rest
 *   NEEDS   dependentRequired: per name: constant, number of names, their constants
 *   WHENS   dependentSchemas: per name: constant, node
 *   SCOPES  $dynamicRef: node without a better one; per resource: its number, node */
#ifndef MWL_SCHEMA_CODE_H
#define MWL_SCHEMA_CODE_H

#include "vm/regex/pattern.h"
#include "vm/schema/schema.h"

#define MWL__SCHEMA_MAGIC 0x31534a4du /* "MJS1" */
#define MWL__SCHEMA_NONE 0xffffffffu

enum { /* the header's words */
       MWL__SCHEMA_H_MAGIC,
       MWL__SCHEMA_H_WORDS, /* total number of words */
       MWL__SCHEMA_H_FLAGS,
       MWL__SCHEMA_H_ROOT, /* a node */
       MWL__SCHEMA_H_CONSTS,
       MWL__SCHEMA_H_PATTERNS,
       MWL__SCHEMA_H_SIZE
};
enum {                                   /* flags */
       MWL__SCHEMA_RFC3339_DURATION = 1, /* `duration` is the narrow grammar */
       MWL__SCHEMA_PARAMETERS = 2        /* the root describes parameters, which changes messages */
};

/* Types as bits. A number is NUMBER. INTEGER without NUMBER in the mask of a node demands an
 * integral number. */
enum {
    MWL__TYPE_NULL = 1,
    MWL__TYPE_BOOL = 2,
    MWL__TYPE_NUMBER = 4,
    MWL__TYPE_STRING = 8,
    MWL__TYPE_ARRAY = 16,
    MWL__TYPE_OBJECT = 32,
    MWL__TYPE_OTHER = 64, /* kinds that JSON does not have */
    MWL__TYPE_INTEGER = 128,
    MWL__TYPE_ANY = 255
};

enum {
    MWL__ITEM_NODE = 1,
    MWL__ITEM_ENUM,
    MWL__ITEM_LIST,
    MWL__ITEM_ITEMS,
    MWL__ITEM_PROPS,
    MWL__ITEM_NEEDS,
    MWL__ITEM_WHENS,
    MWL__ITEM_SCOPES,
    MWL__N_ITEMS
};

/* Operation, types it concerns, operands by letter:
 *   N node, M node or NONE, K constant, D constant that is a number, P pattern, U any number,
 *   F format, B 0 or 1; e l i p r w s: table ENUM LIST ITEMS PROPS NEEDS WHENS SCOPES
 * In a node they have this order: cheap ones first, and UNEVALUATED, which depends on the others,
 * last. */
#define MWL__SCHEMA_OPS(X)                                                                         \
    X(END, ANY, "")                                                                                \
    X(CONST, ANY, "K")                                                                             \
    X(ENUM, ANY, "e")                                                                              \
    X(MIN, NUMBER, "DB") /* bound; 1: it is excluded */                                            \
    X(MAX, NUMBER, "DB")                                                                           \
    X(MULTIPLE, NUMBER, "D")                                                                       \
    X(LENGTH, STRING, "UU") /* least, most (NONE: no bound) */                                     \
    X(COUNT, ARRAY, "UU")                                                                          \
    X(MEMBERS, OBJECT, "UU")                                                                       \
    X(PATTERN, STRING, "P")                                                                        \
    X(FORMAT, STRING, "F")                                                                         \
    X(PROPS, OBJECT, "p")                                                                          \
    X(NEEDS, OBJECT, "r")                                                                          \
    X(NAMES, OBJECT, "N")                                                                          \
    X(ITEMS, ARRAY, "i")                                                                           \
    X(CONTAINS, ARRAY, "NUU") /* least, most (NONE: no bound) */                                   \
    X(UNIQUE, ARRAY, "")                                                                           \
    X(WHENS, OBJECT, "w")                                                                          \
    X(ALL, ANY, "l")                                                                               \
    X(ANY, ANY, "l")                                                                               \
    X(ONE, ANY, "l")                                                                               \
    X(NOT, ANY, "N")                                                                               \
    X(IF, ANY, "NMM")                                                                              \
    X(SCOPE, ANY, "UN") /* enters a resource, for SCOPES */                                        \
    X(DYNAMIC, ANY, "s")                                                                           \
    X(REF, ANY, "N")                                                                               \
    X(UNEVALUATED_ITEMS, ARRAY, "N")                                                               \
    X(UNEVALUATED_PROPS, OBJECT, "N")

typedef enum mwl__schema_op {
#define MWL_X(name, types, operands) MWL__SCHEMA_##name,
    MWL__SCHEMA_OPS(MWL_X)
#undef MWL_X
        MWL__N_SCHEMA_OPS
} mwl__schema_op;

extern const char *const mwl__schema_operands[MWL__N_SCHEMA_OPS];
extern const uint8_t mwl__schema_types[MWL__N_SCHEMA_OPS];

/* The first word of an instruction. */
static inline uint32_t mwl__schema_head(mwl__schema_op op) {
    return (uint32_t)op | (uint32_t)mwl__schema_types[op] << 8 |
           (uint32_t)(1 + strlen(mwl__schema_operands[op])) << 16;
}

/* PROPS, after the two words of an item. The slots are a hash table of the names with linear
 * probing from (hash * FACTOR) >> SHIFT. A slot is the number of an entry + 1, or 0; at most
 * MWL__PROPS_RUN that follow each other, the first after the last, are not 0. Names whose hashes do
 * not allow that, because somebody chose them, are sorted instead: FACTOR is 0, and the first slots
 * hold all entries in the order of mwl__schema_name_order. */
#define MWL__PROPS_RUN 128u /* as in map.c: names that were not chosen for it do not reach it */
enum {
    MWL__PROPS_ENTRIES = 2, /* their number */
    MWL__PROPS_SHIFT,       /* 32 - log2 of the number of slots; 1 .. 31 */
    MWL__PROPS_FACTOR,
    MWL__PROPS_REQUIRED, /* how many entries are required */
    MWL__PROPS_PATTERNS, /* their number */
    MWL__PROPS_REST,     /* node for all other members, or NONE */
    MWL__PROPS_SLOTS     /* slots; entries; patterns (pattern, node each) */
};
enum { /* an entry */
       MWL__ENTRY_HASH,
       MWL__ENTRY_KEY,  /* constant, a string */
       MWL__ENTRY_NODE, /* NONE: only `required` names it */
       MWL__ENTRY_REQUIRED,
       MWL__ENTRY_SIZE
};

struct mwl__schema_own { /* what a schema owns that is not part of an image */
    mwl_heap *heap;      /* of the constants */
    mwl_value *consts;   /* counted; the words refer to these by index */
    uint32_t *words;
    uint32_t n_consts, n_words;
};

struct mwl__schema {
    mwl_alloc alloc;
    const uint32_t *words; /* lent, or own.words */
    mwl_value *consts;     /* the constants that it uses; borrowed from the program or from own */
    mwl__pattern **patterns;
    uint32_t n_consts, n_patterns;
    size_t patterns_used; /* bytes; MWL_SCHEMA_PATTERNS_LIMIT limits it while loading */
    bool patterns_full;
    uint64_t patterns_work;     /* of compiling them; MWL_PATTERNS_WORK limits it */
    struct mwl__schema_own own; /* all zero in a schema of an image */
};

/* Makes a schema that is not part of an image. Takes over `own`, also when it fails. The blocks of
 * `own` were allocated with alloc. */
mwl_status mwl__schema_make(const mwl_alloc *alloc, struct mwl__schema_own take_own,
                            mwl__schema **out, mwl_error *error);

/* ---- evaluation, for schema_report.c --------------------------------------------------------- */

struct mwl__schema_scope { /* resources entered, each once, the innermost first */
    const struct mwl__schema_scope *outer;
    uint32_t resource;
};

typedef struct mwl__schema_eval {
    const mwl__schema *schema;
    const uint32_t *words;
    const mwl_value *consts;
    const mwl__schema_env *env;
    const struct mwl__schema_scope *scope;
    uint64_t fuel;
    uint32_t depth;
    mwl_status
        status; /* if not MWL_OK, the evaluation has ended and a result of `false` has no meaning */
} mwl__schema_eval;

/* Which of the members or elements first .. first + MWL__MARKS - 1 of a value were evaluated. */
#define MWL__MARKS 512u
typedef struct mwl__schema_marks {
    uint32_t first;
    uint64_t bit[MWL__MARKS / 64];
} mwl__schema_marks;

/* The first returns whether the value is valid against the node, the second checks only one
 * instruction of it. */
bool mwl__schema_run(mwl__schema_eval *e, uint32_t node, mwl_value v);
bool mwl__schema_step(mwl__schema_eval *e, uint32_t node, const uint32_t *ins, mwl_value v);
bool mwl__schema_type_fits(uint32_t mask, mwl_value v);
/* Marks what the instructions of the node before `until` (NULL: all) have evaluated. The value must
 * be valid against those. */
void mwl__schema_mark_before(mwl__schema_eval *e, uint32_t node, const uint32_t *until, mwl_value v,
                             mwl__schema_marks *marks);
static inline bool mwl__schema_marked(const mwl__schema_marks *m, uint32_t i) {
    return m->bit[(i - m->first) / 64] >> ((i - m->first) & 63) & 1;
}
/* Return: the entry of a PROPS table for a key, or NULL; the node that a DYNAMIC leads to; whether
 * entering the resource changes the scope (then `scope` is filled, and the caller puts it into
 * e->scope). */
const uint32_t *mwl__schema_entry(const mwl__schema_eval *e, const uint32_t *props, mwl_value key);
uint32_t mwl__schema_dynamic(const mwl__schema_eval *e, const uint32_t *scopes);
bool mwl__schema_enter(const mwl__schema_eval *e, uint32_t resource,
                       struct mwl__schema_scope *scope);

/* schema_value.c: properties of values that keywords need */
extern const uint8_t
    mwl__schema_type_bits[16]; /* one MWL__TYPE bit by the kind of the value; never INTEGER */
static inline uint32_t mwl__schema_type_of(mwl_value v) {
    return mwl__schema_type_bits[mwl_value_kind(v) & 15u];
}
bool mwl__schema_is_integer(mwl_value v);
bool mwl__schema_is_multiple(mwl_value v, double of);
/* An order of strings that is quick to decide: by hash, by length, by bytes. Returns -1, 0 or 1. */
int mwl__schema_name_order(mwl_value a, mwl_value b);
/* Finds whether two elements are equal; at[] has their indexes then. Returns the statuses of
 * mwl__schema_check. */
mwl_status mwl__schema_find_equal(mwl_heap *heap, mwl_value array, uint64_t *fuel, bool *found,
                                  uint32_t at[2]);

/* schema_report.c: makes a report of why the value is not valid against the node. Given; if it
 * fails, absent, and e->status is set. */
mwl_value mwl__schema_explain(mwl__schema_eval *e, uint32_t node, mwl_value v);

#endif
