/* program.h: a loaded program: the tables of an image, checked and ready to run.
 *
 * Owns: what the records of each section mean (FORMAT.md describes the bytes). Refuses to know: how
 * they were made (assembler/emit/) and what runs them. A program does not change after loading, and
 * VMs on several threads may share it. Its constants are never freed (neither MWL_HEAP nor
 * MWL_OWNED); its strings are used in the image. */
#ifndef MWL_PROGRAM_H
#define MWL_PROGRAM_H

#include "vm/program/image.h"
#include "vm/program/op.h"
#include "vm/regex/regex.h"
#include "vm/program/tables.h"
#include "vm/value/value.h"

/* CONSTS: one record per constant. A scalar has its payload here; STRING, BYTES and TYPE the offset
 * of a record in STRINGS; ARRAY and OBJECT the offset (in words) of a list in TREES: a count, then
 * constants (for an object key and value in turn), all with smaller indexes, so there are no
 * cycles. Records of STRINGS and TREES have the order of their constants, one each, so that loading
 * is one walk over all three. aux: the nanoseconds of a TIMESTAMP, else 0. */
typedef struct mwl__const_rec {
    uint32_t kind, aux;
    uint64_t payload;
} mwl__const_rec;

/* PATHS: a base (mwl__base, or MWL_BASE_ENV + slot in a single expression) and the keys after it: a
 * run in KEYS of string constants. The runs of one table ascend in KEYS and do not overlap, so
 * checking all of them takes linear time. */
typedef struct mwl__path_rec {
    uint16_t base, n_keys;
    uint32_t first_key;
} mwl__path_rec;

/* SHAPES: the keys of an object literal: a run in KEYS of string constants, each text once. */
typedef struct mwl__shape_rec {
    uint32_t first_key, n_keys;
} mwl__shape_rec;

/* FUNCS: a function, and how it is called. */
typedef struct mwl__func_rec {
    uint32_t name_k;
    uint16_t n_args; /* a receiver counts */
    uint16_t member; /* 1: called with a receiver, as in a.f(b) */
} mwl__func_rec;

/* HANDLERS: a fault in [begin, end) goes to target, which is not before end: only loops go back,
 * and they charge fuel. Ranges are nested or apart. Rows are ordered by end, then by begin, the
 * largest first; `parent` is the row of the next larger range around this one. EXPR: the handler of
 * an expression; `reg` gets the fault. SITE: the handler of a construct; the fault becomes the
 * construct's failure. */
typedef struct mwl__handler_rec {
    uint32_t begin, end, target, parent;
    uint16_t reg, kind; /* mwl__handler_kind */
} mwl__handler_rec;
typedef enum mwl__handler_kind { MWL_HANDLER_EXPR = 0, MWL_HANDLER_SITE = 1 } mwl__handler_kind;

/* What a path can begin with: members of the binding roots. The machine has the first group in the
 * record of a frame, an entry or a call; it builds the others when they are read. */
#define MWL_BASES(X)                                                                               \
    X(VARS, "vars")                                                                                \
    X(FRAME_INPUT, "frame.input")                                                                  \
    X(STEP_INPUT, "step.input")                                                                    \
    X(STEP_RESULT_VALUE, "step.result.value")                                                      \
    X(STEP_RESULTS, "step.results")                                                                \
    X(CALL_INPUT, "call.input")                                                                    \
    X(CALL_RESULT_VALUE, "call.result.value")                                                      \
    X(MATCH_INPUT, "match.input")                                                                  \
    X(FAILURE, "failure")                                                                          \
    X(MW_INPUT, "middleware.input")                                                                \
    X(MW_RESULT_VALUE, "middleware.result.value")                                                  \
    X(MW_CONTRIBUTED, "middleware.metadata")                                                       \
    X(PROVIDER_INPUT, "provider.input")                                                            \
    X(PROVIDER_META, "provider.metadata")                                                          \
    X(FLOW_INPUT, "flow.input")                                                                    \
    X(FLOW_VARS, "flow.vars")                                                                      \
    /* built when read */                                                                          \
    X(EXECUTION, "execution")                                                                      \
    X(EXECUTION_ID, "execution.id")                                                                \
    X(EXECUTION_ENTERED, "execution.metadata.enteredAt")                                           \
    X(FRAME, "frame")                                                                              \
    X(FRAME_ENTERED, "frame.metadata.enteredAt")                                                   \
    X(STEP, "step")                                                                                \
    X(STEP_NAME, "step.name")                                                                      \
    X(STEP_ID, "step.id")                                                                          \
    X(STEP_ACTION, "step.action")                                                                  \
    X(STEP_RESULT, "step.result")                                                                  \
    X(STEP_META, "step.metadata")                                                                  \
    X(CALL, "call")                                                                                \
    X(CALL_INDEX, "call.index")                                                                    \
    X(CALL_RESULT, "call.result")                                                                  \
    X(CALL_META, "call.metadata")                                                                  \
    X(MATCH, "match")                                                                              \
    X(MATCH_META, "match.metadata")                                                                \
    X(MIDDLEWARE, "middleware")                                                                    \
    X(MW_RESULT, "middleware.result")                                                              \
    X(MW_META, "middleware.metadata")                                                              \
    X(MW_ENTERED, "middleware.metadata.enteredAt")                                                 \
    X(PROVIDER, "provider")                                                                        \
    X(PROVIDER_RESULT, "provider.result")                                                          \
    X(FLOW, "flow")                                                                                \
    X(FLOW_RESULT, "flow.result")                                                                  \
    X(FLOW_META, "flow.metadata")

typedef enum mwl__base {
#define X(name, text) MWL_BASE_##name,
    MWL_BASES(X)
#undef X
        MWL_BASE_COUNT,
    MWL_BASE_ENV = 0x8000 /* + slot: a variable of a single expression */
} mwl__base;
/* The `middleware` that code reads belongs to the entry of that code; the machine finds it. It need
 * not be the innermost entry: a cleanup call has its own stack, and reads the `middleware` of its
 * Finally. */

/* What is around an instruction, on every way to it: verify_nest.c. MWL_NONE: nothing. */
typedef struct mwl__nesting {
    uint32_t flow, step, entry, call, gather;
    uint8_t entry_state, call_state, gather_state; /* mwl__entry_state; the others: verify_nest.c */
    bool in_flight, res;                           /* there is such a value */
} mwl__nesting;

/* Where an entry, a call or a Gather begins; for a Flow, where its Steps are. */
typedef struct mwl__known {
    mwl__nesting outer; /* without a value in flight and without a Result */
    bool begun;         /* false: nothing leads to it */
    uint32_t after; /* what a way leads to, or 0: of an entry, its inner_pc; of a call, behind its
                       DISPATCH */
} mwl__known;

/* What the verifier knows, by index. A saved run is checked against it (vm/snapshot). */
typedef struct mwl__places {
    mwl__known *entries, *calls, *gathers, *flows;
    uint32_t *sleeps;  /* by Step: behind its Sleep, if a way leads there; or 0 */
    uint32_t *actions; /* by entry * 4 + phase: behind its ACTION; or 0 */
} mwl__places;

/* A registered function (mwl_provider.h), resolved when a program is linked. */
struct mwl_function_def;

struct mwl_program {
    mwl_alloc alloc; /* counts in `used`; for loading and release only */
    mwl_alloc inner; /* the host's */
    size_t used, limit;
    bool full; /* it needed more than the limit */
    _Atomic uint32_t refs;
    mwl__image image;  /* the sections as they are */
    const void *bytes; /* the image, little-endian */
    size_t size;
    bool owns_bytes;
    void *native; /* a big-endian machine: the same with its own byte order; otherwise NULL */
    const mwl__ins *code;
    uint32_t n_code, n_regs;
    mwl_value *consts; /* immortal */
    uint32_t n_consts;
    const mwl__path_rec *paths;
    uint32_t n_paths;
    uint32_t n_env; /* slots that the paths of a single expression need */
    const uint32_t *keys;
    uint32_t n_keys;
    const mwl__shape_rec *shapes;
    uint32_t n_shapes;
    const mwl__func_rec *funcs;
    uint32_t n_funcs;
    const mwl__handler_rec *handlers;
    uint32_t n_handlers;
    mwl__regex **regexes; /* compiled at load from REGEXES: constant indexes of the patterns */
    uint32_t n_regexes;
    size_t patterns_used;           /* bytes of compiled patterns; at most MWL_PATTERNS_LIMIT */
    bool patterns_full;             /* they needed more than the limit */
    const unsigned char *positions; /* see mwl__program_where */
    size_t positions_size;
    const char *source; /* the definition, or NULL when stripped */
    size_t source_size;
    mwl_heap trees;   /* memory behind container constants; used by loading and release only */
    mwl_value *owned; /* the containers, with their counts, for release */
    uint32_t n_owned;
    uint32_t cap_owned;
    mwl__flow_tables tables; /* the Flow half: tables.h */
    mwl__places places;
};

/* Returns a word of INFO, or MWL_NONE. */
uint32_t mwl__program_info(const mwl_program *p, unsigned word);

/* POSITIONS: rows (pc, sub, where) in blocks. A new block begins at the first row with sub 0 after
 * this many rows, so that a search reads one block. */
#define MWL_POSITIONS_BLOCK 64u

/* Finds where an instruction comes from in the definition. sub 0 is the whole instruction; for a
 * path sub k is its text up to and with the k-th key. An instruction without a row has the place of
 * the last one before it that has a row with sub 0. A sub without a row has the place of the
 * largest smaller sub. Returns false if positions were stripped. */
typedef struct mwl__where {
    uint32_t line, column; /* 1-based; the column counts code points */
    uint32_t offset, len;  /* bytes of the definition; of the text for a single expression */
} mwl__where;
bool mwl__program_where(const mwl_program *p, uint32_t pc, uint32_t sub, mwl__where *out);

/* Returns the innermost handler of pc, or NULL. */
const mwl__handler_rec *mwl__program_handler(const mwl_program *p, uint32_t pc);

/* Loads a program and checks everything that the interpreter relies on. copy: false lends the
 * bytes, which must then outlive the program. They are copied in any case if they are packed or not
 * 8-byte aligned. max_memory: see mwl_program_load_within(). */
mwl_status mwl__program_load_within(const mwl_alloc *alloc, const void *bytes, size_t size,
                                    bool copy, size_t max_memory, mwl_program **out,
                                    mwl_error *error);
/* The same with the default limit. */
mwl_status mwl__program_load(const mwl_alloc *alloc, const void *bytes, size_t size, bool copy,
                             mwl_program **out, mwl_error *error);
mwl_program *mwl__program_keep(mwl_program *p); /* one reference more; any thread */
void mwl__program_release(mwl_program *p); /* one reference less; any thread; NULL is ignored */

#endif
