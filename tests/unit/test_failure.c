/* test_failure.c: the engine's own codes. tests/cases tests chains, envelopes and matching. */
#include "vm/cel/failure.h"
#include "utest.h"

#include <string.h>

/* Under `System.` the engine uses only the codes of the specification, with their types. */
UTEST(failure, system_codes_are_the_specifications) {
    static const struct {
        const char *code, *type;
    } listed[] = {
        {"System.ExpressionEvaluationError", "error"},
        {"System.UnrepresentableValue", "error"},
        {"System.ParameterValidationFailed", "error"},
        {"System.Cancelled", "cancellation"},
        {"System.GatherCompletionUnmet", "error"},
        {"System.GatherDispatchCancelled", "cancellation"},
        {"System.GatherDispatchSkipped", "skipped"},
        {"System.EmptyRaise", "error"},
        {"System.FailureChainTruncated", "error"},
    };
    size_t found = 0;
    for (int c = 0; c < MWL_FAILURE_COUNT; c++) {
        const char *code = mwl__failure_code_text((mwl__failure_code)c);
        size_t i = 0;
        while (i < sizeof listed / sizeof *listed && strcmp(listed[i].code, code) != 0) i++;
        if (i == sizeof listed / sizeof *listed) {
            EXPECT_TRUE(strncmp(code, "Mwlvm.", 6) == 0); /* a code of the platform */
            continue;
        }
        EXPECT_STREQ(mwl__failure_code_type((mwl__failure_code)c), listed[i].type);
        found++;
    }
    EXPECT_EQ(found, sizeof listed / sizeof *listed);
}

UTEST_MAIN()
