/* words.h: constant string values of the engine: member names, types and codes of Results and
 * failures.
 *
 * Owns: strings that belong to no heap. They are immortal (not counted), contain their hash, and
 * are the same in every VM and thread. Refuses to know: how they are used. */
#ifndef MWL_WORDS_H
#define MWL_WORDS_H

#include "vm/value/value.h"

/* name, text, low 32 bits of XXH3-64 of the text */
#define MWL_WORDS(X)                                                                               \
    X(TYPE, "type", 0xcb310e86u)                                                                   \
    X(CODE, "code", 0x1b2db88eu)                                                                   \
    X(MESSAGE, "message", 0x977554fau)                                                             \
    X(DETAILS, "details", 0xc007d258u)                                                             \
    X(RETRYABLE, "retryable", 0x27fc54dfu)                                                         \
    X(PREVIOUS, "previous", 0x432ba061u)                                                           \
    X(VALUE, "value", 0x9b9df0f0u)                                                                 \
    X(SUCCESS, "success", 0x6943feaau)                                                             \
    X(ERROR, "error", 0x9be28863u)                                                                 \
    X(CANCELLATION, "cancellation", 0xb9c69aa1u)                                                   \
    X(SKIPPED, "skipped", 0x9b3bbd93u)                                                             \
    X(CODES, "codes", 0xdd28989bu)                                                                 \
    X(TYPES, "types", 0xaa9e2d98u)                                                                 \
    X(EXPRESSION, "expression", 0xe3e98c54u)                                                       \
    X(LINE, "line", 0xb247d12bu)                                                                   \
    X(COLUMN, "column", 0xe256203fu)                                                               \
    X(CODE_EXPRESSION, "System.ExpressionEvaluationError", 0x49ca3372u)                            \
    X(CODE_UNREPRESENTABLE, "System.UnrepresentableValue", 0x047d4dbbu)                            \
    X(CODE_PARAMETER, "System.ParameterValidationFailed", 0x5674c184u)                             \
    X(CODE_CANCELLED, "System.Cancelled", 0x891bbaedu)                                             \
    X(CODE_GATHER_CANCELLED, "System.GatherDispatchCancelled", 0xc5e34351u)                        \
    X(CODE_GATHER_SKIPPED, "System.GatherDispatchSkipped", 0x3cc9205au)                            \
    X(CODE_GATHER_UNMET, "System.GatherCompletionUnmet", 0xa799cfefu)                              \
    X(CODE_EMPTY_RAISE, "System.EmptyRaise", 0xd634717cu)                                          \
    X(CODE_CHAIN_TRUNCATED, "System.FailureChainTruncated", 0x2d62acb6u)                           \
    X(CODE_FAN_OUT_LIMIT, "Mwlvm.FanOutLimit", 0x0dc96848u)

typedef enum mwl__word {
#define X(name, text, hash) MWL_WORD_##name,
    MWL_WORDS(X)
#undef X
        MWL_WORD_COUNT
} mwl__word;

extern const mwl_value mwl__word_values[MWL_WORD_COUNT];

static inline mwl_value mwl__word_value(mwl__word w) { return mwl__word_values[w]; }
static inline bool mwl__word_is(mwl_value string, mwl__word w) { /* a STRING */
    return mwl__str_same(string, mwl__word_value(w));
}
/* Returns a member of an object, lent, or absent; also absent if v is not an object. */
mwl_value mwl__word_get(mwl_value object, mwl__word name);
/* Shapes of words: of Results, and of failures by what follows type and code. */
typedef enum mwl__words_shape {
    MWL_SHAPE_SUCCESS,             /* type, value */
    MWL_SHAPE_FAILURE,             /* type, code, message, details, previous */
    MWL_SHAPE_FAILURE_NO_DETAILS,  /* type, code, message, previous */
    MWL_SHAPE_FAILURE_NO_MESSAGE,  /* type, code, details, previous */
    MWL_SHAPE_FAILURE_OF_PREVIOUS, /* type, code, previous */
    MWL_SHAPE_COUNT
} mwl__words_shape;
/* Makes an object of the first n members of a shape, without room for more. Takes over the values.
 * Returns absent, with `why`, if one of them is absent, if out of memory, or at a limit. */
mwl_value mwl__words_object(mwl_heap *h, mwl__words_shape shape, size_t n, const mwl_value *take);

#endif
