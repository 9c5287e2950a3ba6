/* failure.h: failure codes of the engine, Results and envelopes, `previous` chains, the matcher. */
#ifndef MWL_FAILURE_H
#define MWL_FAILURE_H

#include "vm/value/value.h"

/* name, type; the code is the word MWL_WORD_CODE_name */
#define MWL_FAILURE_CODES(X)                                                                       \
    X(EXPRESSION, ERROR)                                                                           \
    X(UNREPRESENTABLE, ERROR)                                                                      \
    X(PARAMETER, ERROR)                                                                            \
    X(CANCELLED, CANCELLATION)                                                                     \
    X(GATHER_CANCELLED, CANCELLATION)                                                              \
    X(GATHER_SKIPPED, SKIPPED)                                                                     \
    X(GATHER_UNMET, ERROR)                                                                         \
    X(EMPTY_RAISE, ERROR)                                                                          \
    X(CHAIN_TRUNCATED, ERROR)                                                                      \
    X(FAN_OUT_LIMIT, ERROR)

typedef enum mwl__failure_code {
#define X(name, type) MWL_FAILURE_##name,
    MWL_FAILURE_CODES(X)
#undef X
        MWL_FAILURE_COUNT
} mwl__failure_code;

const char *mwl__failure_code_text(mwl__failure_code code);
const char *mwl__failure_code_type(mwl__failure_code code);

/* Makes a fault, of kind MWL_KIND_FAULT, given. `where` is the instruction. Absent if out of
 * memory. */
mwl_value mwl__fault_new(mwl_heap *h, mwl__failure_code code, uint32_t where,
                         mwl_value take_message, mwl_value take_details);

#define MWL_ROSE_STAMPS (UINT64_C(1) << 40) /* of mwl__result.rose */

/* A Result in a record: a success's value, or a failure's envelope. What the machine knows about a
 * failure in flight is here and not in the value, so it ends where the Result is consumed, and
 * equal failures are treated alike. */
#if defined(__MINGW32__) /* by Microsoft's rules, bits do not fill the padding before them */
#define MWL__FILLED __attribute__((gcc_struct))
#else
#define MWL__FILLED
#endif
typedef struct MWL__FILLED mwl__result {
    mwl_value v; /* absent: there is no Result */
    bool ok;
    bool cleanup; /* a failure: that of a failed cleanup, or one that has superseded it */
    bool severed; /* a failure: the author wrote the end of its chain, in this frame */
    /* A failure in flight with a bound around it: the instant at which it began to rise, in units
     * of 2^20 ns of the monotonic clock, modulo 2^40. 0: no bound is around it, or it is not in
     * flight. It fills the padding, because a Gather has many Results. */
    uint64_t rose : 40;
} mwl__result;

/* Both write a Result, and read one, in words, as mwl__move does. */
#define MWL__RESULT_REST offsetof(mwl__result, ok)
_Static_assert(sizeof(mwl__result) == MWL__RESULT_REST + 8, "the rest of a Result is one word");
static inline void mwl__result_set(mwl__result *to, bool ok, mwl_value v) {
    to->v = v;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t rest = ok;
    memcpy((char *)to + MWL__RESULT_REST, &rest, sizeof rest);
#else
    to->ok = ok;
    to->cleanup = to->severed = false;
    to->rose = 0;
#endif
}
/* Sets `rose` alone, which the compiler would write as two pieces. */
static inline void mwl__result_rose(mwl__result *to, uint64_t stamp) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t rest;
    memcpy(&rest, (const char *)to + MWL__RESULT_REST, sizeof rest);
    rest = (rest & 0xffffff) | stamp << 24;
    memcpy((char *)to + MWL__RESULT_REST, &rest, sizeof rest);
#else
    to->rose = stamp & (MWL_ROSE_STAMPS - 1);
#endif
}
static inline void mwl__result_move(mwl__result *to, const mwl__result *from) {
    uint64_t rest;
    mwl__move(&to->v, &from->v);
    memcpy(&rest, (const char *)from + MWL__RESULT_REST, sizeof rest);
    memcpy((char *)to + MWL__RESULT_REST, &rest, sizeof rest);
}

/* Makes a text for people, given. Bytes that are not UTF-8 become U+FFFD. */
mwl_value mwl__message(mwl_heap *h, const char *text);
/* Returns what is wrong with an envelope that a host gave, or NULL: the rules for what an author
 * writes. */
const char *mwl__failure_error(mwl_value failure);

struct mwl__exec;
struct mwl_program;
struct mwl__matcher_rec;
mwl_value mwl__failure_over(mwl_heap *h, mwl__failure_code code, const char *message,
                            mwl_value take_details, mwl_value take_previous);
mwl_value mwl__failure_new(mwl_heap *h, mwl__failure_code code, const char *message,
                           mwl_value take_details);
mwl_value mwl__failure_from_fault(struct mwl__exec *x,
                                  mwl_value take_fault); /* with its position in details */
/* Returns the failure with `older` linked at the end of its `previous` chain, cut at the depth
 * limit. */
mwl_value mwl__failure_chain(mwl_heap *h, mwl_value take_newer, mwl_value older,
                             uint32_t depth_limit);
/* Does the matcher select the failure? Each adds what it looked at, in units of fuel, to *looks:
 * one that the program has, an object, what mwl_matcher_prepare returned. */
bool mwl__failure_matches_rec(const struct mwl_program *p, const struct mwl__matcher_rec *m,
                              mwl_value failure, uint64_t *looks);
bool mwl__failure_matches(mwl_value matcher, mwl_value failure, uint64_t *looks);
bool mwl__matcher_matches(mwl_value prepared, mwl_value failure, uint64_t *looks);
/* So many looks cost nothing by themselves: what leads to them costs more. */
#define MWL__FREE_LOOKS 32u
mwl_value mwl__result_value(mwl_heap *h, const mwl__result *r); /* the Result as an object, given */
/* Builds an envelope from the fields that the author wrote, over a base (absent for Raise). Returns
 * NULL on success. Otherwise returns what is wrong with the field of index *field, for
 * System.ParameterValidationFailed. */
const char *mwl__failure_build(mwl_heap *h, mwl_value base, const struct mwl_program *p,
                               uint32_t shape, const mwl_value *values, mwl_value *out,
                               bool *wrote_previous, uint32_t *field);

#endif
