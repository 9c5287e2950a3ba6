/* failure.h: failure codes of the engine, Results and envelopes, `previous` chains, the matcher. */
#ifndef MWL_FAILURE_H
#define MWL_FAILURE_H

#include "vm/value/value.h"

/* name, code, type */
#define MWL_FAILURE_CODES(X)                                                     \
    X(EXPRESSION, "System.ExpressionEvaluationError", "error")                   \
    X(UNREPRESENTABLE, "System.UnrepresentableValue", "error")                   \
    X(PARAMETER, "System.ParameterValidationFailed", "error")                    \
    X(CANCELLED, "System.Cancelled", "cancellation")                             \
    X(GATHER_CANCELLED, "System.GatherDispatchCancelled", "cancellation")        \
    X(GATHER_SKIPPED, "System.GatherDispatchSkipped", "skipped")                 \
    X(GATHER_UNMET, "System.GatherCompletionUnmet", "error")                     \
    X(EMPTY_RAISE, "System.EmptyRaise", "error")                                 \
    X(CHAIN_TRUNCATED, "System.FailureChainTruncated", "error")                  \
    X(FAN_OUT_LIMIT, "Mwlvm.FanOutLimit", "error")

typedef enum mwl__failure_code {
#define X(name, code, type) MWL_FAILURE_##name,
    MWL_FAILURE_CODES(X)
#undef X
    MWL_FAILURE_COUNT
} mwl__failure_code;

const char *mwl__failure_code_text(mwl__failure_code code);
const char *mwl__failure_code_type(mwl__failure_code code);

/* A fault in flight: kind MWL_KIND_FAULT, given. `where` is the instruction. Absent when memory is out. */
mwl_value mwl__fault_new(mwl_heap *h, mwl__failure_code code, uint32_t where, mwl_value take_message,
                         mwl_value take_details);

#endif
