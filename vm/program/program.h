/* program.h: a loaded program: the tables of an image, checked and ready to run.
 *
 * Owns: what each section's records mean. Refuses to know: how they were made (assembler/emit.c)
 * and what runs them. A program is immutable after loading and shared by VMs on several threads;
 * its constants are immortal values (neither MWL_HEAP nor MWL_OWNED), its strings lie in the image.
 *
 * Section records are little-endian and used in place. An index of MWL_NONE means "not there". */
#ifndef MWL_PROGRAM_H
#define MWL_PROGRAM_H

#include "vm/program/image.h"
#include "vm/program/op.h"
#include "vm/regex/regex.h"
#include "vm/program/tables.h"
#include "vm/value/value.h"

/* CONSTS: one record per constant. Scalars hold their payload; STRING, BYTES and TYPE the offset of
 * a record in STRINGS; ARRAY and OBJECT the offset (in words) of a list in TREES: a count, then
 * constant indexes (for objects key and value in turn), all below the constant's own index, so no
 * cycles. Records of STRINGS and TREES lie in the order of their constants, one each: loading is
 * one walk over all three. aux is zero but for a TIMESTAMP's nanoseconds. */
typedef struct mwl__const_rec {
    uint32_t kind, aux;
    uint64_t payload;
} mwl__const_rec;

/* PATHS: a base (mwl__base, or MWL_BASE_ENV + slot for a free-standing expression) and the keys
 * that follow it: indexes in KEYS, which holds indexes of string constants there. Runs of one
 * table's records ascend in KEYS and do not overlap, so checking all of them is linear. */
typedef struct mwl__path_rec {
    uint16_t base, n_keys;
    uint32_t first_key;
} mwl__path_rec;

/* SHAPES: the keys of an object literal: distinct string constants, in KEYS. */
typedef struct mwl__shape_rec {
    uint32_t first_key, n_keys;
} mwl__shape_rec;

/* FUNCS: a function as called: its name among the imports, and how. */
typedef struct mwl__func_rec {
    uint32_t name_k;
    uint16_t n_args; /* the receiver counts */
    uint16_t member; /* 1: receiver style */
} mwl__func_rec;

/* HANDLERS: faults raised in [begin, end) go to target, which lies at or after end: going back is
 * for loops, which pay fuel. Ranges nest; rows are ordered by end, then by begin descending, and
 * `parent` is the index of the enclosing row. Expression handlers put the fault into `reg`; site
 * handlers make it a failure Result of the construct (kind). */
typedef struct mwl__handler_rec {
    uint32_t begin, end, target, parent;
    uint16_t reg, kind; /* mwl__handler_kind */
} mwl__handler_rec;
typedef enum mwl__handler_kind { MWL_HANDLER_EXPR = 0, MWL_HANDLER_SITE = 1 } mwl__handler_kind;

/* What a path can begin with: one row per member of the binding roots that the machine keeps. The
 * first group lies in the frame, entry or call record as it is; WHOLE ones are built when read. */
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
    MWL_BASE_ENV = 0x8000 /* + slot: a variable of a free-standing expression */
} mwl__base;
/* Bases of a middleware context other than the innermost one (a cleanup call inside its own stack
 * reads its Finally's) are chosen by the machine from the entry that the code belongs to. */

/* A registered function (mwl_provider.h), resolved when a program is linked. */
struct mwl_function_def;

struct mwl_program {
    mwl_alloc alloc;
    _Atomic uint32_t refs;
    mwl__image image; /* the sections as they are */
    const void *bytes;
    size_t size;
    bool owns_bytes;
    const mwl__ins *code;
    uint32_t n_code, n_regs;
    mwl_value *consts; /* immortal */
    uint32_t n_consts;
    const mwl__path_rec *paths;
    uint32_t n_paths;
    uint32_t n_env; /* slots that the paths of a free-standing expression need */
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
    bool patterns_full;             /* more was asked for */
    const unsigned char *positions; /* see mwl__program_where */
    size_t positions_size;
    const char *source; /* the definition, or NULL when stripped */
    size_t source_size;
    mwl_heap trees;   /* memory behind container constants; used by loading and release only */
    mwl_value *owned; /* the containers, counted */
    uint32_t n_owned;
    uint32_t cap_owned;
    mwl__flow_tables tables; /* the Flow half: tables.h */
};

/* A word of INFO, or MWL_NONE. */
uint32_t mwl__program_info(const mwl_program *p, unsigned word);

/* POSITIONS: rows (pc, sub, where) in order of pc and sub, in blocks. First u32 the number of
 * blocks and, per block, the pc of its first row and where in the stream it begins; then the
 * stream. A row is six varints (seven bits each, low first, the top bit says that more follow): pc
 * less the last row's; sub; line, column and offset less the last row's, zigzag (wrapping at 32
 * bits); len. A block starts from a row of zeros. Every block but the first begins with a row of
 * sub 0, and a new one begins at the first such row after MWL_POSITIONS_BLOCK rows. */
#define MWL_POSITIONS_BLOCK 64u

/* Where an instruction comes from in the definition. sub 0 is the whole instruction; for a path sub
 * k is its text up to and with the k-th key. An instruction without a row is where the last one
 * before it with a row of sub 0 is; a sub without one is where the largest smaller sub is. False
 * when positions were stripped. */
typedef struct mwl__where {
    uint32_t line, column; /* 1-based; the column counts code points */
    uint32_t offset, len; /* bytes of the definition; within the expression's own source for eval */
} mwl__where;
bool mwl__program_where(const mwl_program *p, uint32_t pc, uint32_t sub, mwl__where *out);

/* The innermost handler of pc, or NULL. */
const mwl__handler_rec *mwl__program_handler(const mwl_program *p, uint32_t pc);

/* Load, checking everything the interpreter relies on. copy false: bytes stay the caller's and must
 * outlive the program and be 8-byte aligned (else they are copied). */
mwl_status mwl__program_load(const mwl_alloc *alloc, const void *bytes, size_t size, bool copy,
                             mwl_program **out, mwl_error *error);
mwl_program *mwl__program_keep(mwl_program *p); /* one more reference; any thread */
void mwl__program_release(mwl_program *p);      /* one less; any thread; NULL is ignored */

#endif
