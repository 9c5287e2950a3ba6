/* schema_code.h: the form of a compiled schema: words, items, instructions.
 *
 * Owns: the layout that assembler/schema_emit.c writes, schema_load.c checks and schema_check.c
 * runs. Nothing outside these and schema_report.c looks inside.
 *
 * A compiled schema is a run of 32-bit words, position-independent: offsets count words from its
 * beginning. A header (MWL__SCHEMA_H_*), items back to back, then the constants it uses (indexes of
 * the program's) and its patterns (which of those constants). An item is a node or a table:
 *
 *   word 0   what it is (low byte); of a node also the mask of types it accepts, in bits 8 to 15
 *   word 1   its length in words, these two included
 *
 * A node goes on with instructions up to END. An instruction is one word (operation, mask of the
 * types it concerns << 8, length << 16) and its operands. A value whose type is outside an
 * instruction's mask passes it. Tables:
 *
 *   ENUM    number of strings n, number of others m; n hashes, ascending; n constants; m constants
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
       MWL__SCHEMA_H_WORDS, /* in all */
       MWL__SCHEMA_H_FLAGS,
       MWL__SCHEMA_H_ROOT, /* a node */
       MWL__SCHEMA_H_CONSTS,
       MWL__SCHEMA_H_PATTERNS,
       MWL__SCHEMA_H_SIZE
};
enum {                                   /* flags */
       MWL__SCHEMA_RFC3339_DURATION = 1, /* `duration` is the narrow grammar */
       MWL__SCHEMA_PARAMETERS = 2        /* the root describes parameters: words of messages */
};

/* Types as bits. A number is NUMBER; INTEGER alone in a node's mask asks for an integral one. */
enum {
    MWL__TYPE_NULL = 1,
    MWL__TYPE_BOOL = 2,
    MWL__TYPE_NUMBER = 4,
    MWL__TYPE_STRING = 8,
    MWL__TYPE_ARRAY = 16,
    MWL__TYPE_OBJECT = 32,
    MWL__TYPE_OTHER = 64, /* kinds that JSON has not */
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
 * In a node they stand in this order, so that cheap ones come first, and what looks at the others'
 * work (UNEVALUATED) last. */
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

/* PROPS, after the two words of an item. The slots are a hash table over the names: (hash * FACTOR)
 * >> SHIFT, then onwards; a slot is an entry's number + 1, or 0; at least one is 0. */
enum {
    MWL__PROPS_ENTRIES = 2, /* their number */
    MWL__PROPS_SHIFT,       /* 32 - log2 of the number of slots; 1 .. 31 */
    MWL__PROPS_FACTOR,
    MWL__PROPS_REQUIRED, /* how many entries are required */
    MWL__PROPS_PATTERNS, /* their number */
    MWL__PROPS_REST,     /* node for members that nothing else names, or NONE */
    MWL__PROPS_SLOTS     /* slots; entries; patterns (pattern, node each) */
};
enum { /* an entry */
       MWL__ENTRY_HASH,
       MWL__ENTRY_KEY,  /* constant, a string */
       MWL__ENTRY_NODE, /* NONE: named by `required` alone */
       MWL__ENTRY_REQUIRED,
       MWL__ENTRY_SIZE
};

struct mwl__schema_own { /* what a schema outside an image owns */
    mwl_heap *heap;      /* of the constants */
    mwl_value *consts;   /* counted; the words' constants are numbers of these */
    uint32_t *words;
    uint32_t n_consts, n_words;
};

struct mwl__schema {
    mwl_alloc alloc;
    const uint32_t *words; /* lent, or own.words */
    mwl_value *consts;     /* those it uses; borrowed from the program or from own */
    mwl__pattern **patterns;
    uint32_t n_consts, n_patterns;
    size_t patterns_used; /* bytes; bounded while loading: MWL__SCHEMA_PATTERNS_LIMIT */
    bool patterns_full;
    struct mwl__schema_own own; /* all zero in a schema of an image */
};

/* A schema of its own: takes over `own`, also when it fails. Its blocks were allocated with alloc.
 */
mwl_status mwl__schema_make(const mwl_alloc *alloc, struct mwl__schema_own take_own,
                            mwl__schema **out, mwl_error *error);

/* ---- evaluation, for schema_report.c -----------------------------------------------------------
 */

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
    mwl_status status; /* not MWL_OK: the evaluation is over, and `false` means nothing */
} mwl__schema_eval;

/* Members or elements first .. first + MWL__MARKS - 1 of a value: which of them were evaluated. */
#define MWL__MARKS 512u
typedef struct mwl__schema_marks {
    uint32_t first;
    uint64_t bit[MWL__MARKS / 64];
} mwl__schema_marks;

/* Whether the value is valid against the node; one instruction of it alone. */
bool mwl__schema_run(mwl__schema_eval *e, uint32_t node, mwl_value v);
bool mwl__schema_step(mwl__schema_eval *e, uint32_t node, const uint32_t *ins, mwl_value v);
bool mwl__schema_type_fits(uint32_t mask, mwl_value v);
/* Marks what the node's instructions before `until` (NULL: all) have evaluated; the value must be
 * valid against those. */
void mwl__schema_mark_before(mwl__schema_eval *e, uint32_t node, const uint32_t *until, mwl_value v,
                             mwl__schema_marks *marks);
static inline bool mwl__schema_marked(const mwl__schema_marks *m, uint32_t i) {
    return m->bit[(i - m->first) / 64] >> ((i - m->first) & 63) & 1;
}
/* The entry of a PROPS table for a key, or NULL; the node that a DYNAMIC leads to; whether the
 * scope gains by entering the resource (then `scope` is filled and to be put in e->scope). */
const uint32_t *mwl__schema_entry(const mwl__schema_eval *e, const uint32_t *props, mwl_value key);
uint32_t mwl__schema_dynamic(const mwl__schema_eval *e, const uint32_t *scopes);
bool mwl__schema_enter(const mwl__schema_eval *e, uint32_t resource,
                       struct mwl__schema_scope *scope);

/* schema_value.c: what keywords ask of values */
extern const uint8_t mwl__schema_type_bits[16]; /* by kind: one MWL__TYPE bit, never INTEGER */
static inline uint32_t mwl__schema_type_of(mwl_value v) {
    return mwl__schema_type_bits[mwl_value_kind(v) & 15u];
}
bool mwl__schema_is_integer(mwl_value v);
bool mwl__schema_is_multiple(mwl_value v, double of);
/* Whether two elements are equal; their places then in at[]. Statuses as mwl__schema_check. */
mwl_status mwl__schema_find_equal(mwl_heap *heap, mwl_value array, uint64_t *fuel, bool *found,
                                  uint32_t at[2]);

/* schema_report.c: why the value is not valid against the node. Given, or absent with e->status. */
mwl_value mwl__schema_explain(mwl__schema_eval *e, uint32_t node, mwl_value v);

#endif
