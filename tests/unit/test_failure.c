/* test_failure.c: the engine's own codes, matchers made ready, envelopes. tests/cases tests chains
 * and matching as a definition sees them. */
#include "vm/cel/failure.h"
#include "vm/value/value.h"
#include "mwl_provider.h"
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

static mwl_value parsed(mwl_heap *h, const char *text) {
    mwl_value v = mwl_absent();
    if (mwl_json_parse(h, text, strlen(text), &v, NULL) < 0) printf("not JSON: %s\n", text);
    return v;
}

/* One made ready selects what the same matcher selects as it is written. */
UTEST(failure, a_matcher_made_ready_is_the_same) {
    static const char *const matchers[] = {
        "{}",
        "null",
        "{\"codes\":[]}",
        "{\"codes\":[\"*\"]}",
        "{\"codes\":[\"A.*\"]}",
        "{\"codes\":[\"A.B\"]}",
        "{\"codes\":[\"A*\"]}",
        "{\"codes\":[\".*\"]}",
        "{\"codes\":[\"X\",\"A.B.*\",\"A.B\"]}",
        "{\"codes\":\"A.B\"}",
        "{\"codes\":[1,null]}",
        "{\"codes\":[\"\"]}",
        "{\"types\":[\"error\"]}",
        "{\"types\":[]}",
        "{\"types\":[\"timeout\",\"error\"],\"codes\":[\"A.*\"]}",
        "{\"types\":[\"timeout\"],\"codes\":[\"A.*\"]}",
        "{\"retryable\":true}",
        "{\"retryable\":false}",
        "{\"retryable\":null}",
        "{\"retryable\":1}",
        "{\"codes\":[\"*\"],\"retryable\":true}",
        "{\"other\":[\"A\"]}"};
    static const char *const failures[] = {
        "{\"type\":\"error\",\"code\":\"A.B\"}",
        "{\"code\":\"A.B\",\"type\":\"error\",\"retryable\":true}",
        "{\"type\":\"error\",\"code\":\"A.B.C\",\"retryable\":false}",
        "{\"type\":\"timeout\",\"code\":\"A.\"}",
        "{\"type\":\"error\",\"code\":\"A\"}",
        "{\"type\":\"error\",\"code\":\"\"}",
        "{\"type\":\"error\",\"code\":\"A*\"}",
        "{}"};
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    for (size_t i = 0; i < sizeof matchers / sizeof *matchers; i++) {
        mwl_value matcher = parsed(h, matchers[i]), ready = mwl_matcher_prepare(h, matcher);
        for (size_t k = 0; k < sizeof failures / sizeof *failures; k++) {
            mwl_value failure = parsed(h, failures[k]);
            bool written = mwl_failure_matches(matcher, failure);
            if (written != mwl_matcher_matches(ready, failure))
                printf("%s of %s\n", matchers[i], failures[k]);
            EXPECT_EQ(mwl_matcher_matches(ready, failure), written);
            mwl_value_drop(h, failure);
        }
        mwl_value_drop(h, ready);
        mwl_value_drop(h, matcher);
    }
    mwl_heap_free(h);
}

UTEST(failure, the_first_pattern_that_is_not_one) {
    static const char *const rows[][2] = {
        {"{}", NULL},
        {"{\"types\":[\"A*\"]}", NULL},
        {"{\"codes\":[\"*\",\"A\",\"A.B\",\"A.*\",\"A.B.*\"]}", NULL},
        {"{\"codes\":[\"A.*\",\"A*\",\"*.A\"]}", "A*"},
        {"{\"codes\":[\"*.A\"]}", "*.A"},
        {"{\"codes\":[\"**\"]}", "**"},
        {"{\"codes\":[\".*\"]}", ".*"},
        {"{\"codes\":[\"\"]}", ""}};
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mwl_value matcher = parsed(h, rows[i][0]), wrong = mwl_matcher_wrong(matcher);
        if (rows[i][1])
            EXPECT_STREQ(rows[i][1], mwl_as_text(wrong, NULL));
        else
            EXPECT_TRUE(mwl_is_absent(wrong));
        mwl_value_drop(h, matcher);
    }
    mwl_heap_free(h);
}

/* Every part of an envelope, present or not, and one that cannot be made. */
UTEST(failure, an_envelope_has_the_parts_that_are_given) {
    static const char *const wanted[] = {
        "{\"type\":\"error\",\"code\":\"A\"}",
        "{\"type\":\"error\",\"code\":\"A\",\"message\":\"m\"}",
        "{\"type\":\"error\",\"code\":\"A\",\"details\":[1]}",
        "{\"type\":\"error\",\"code\":\"A\",\"message\":\"m\",\"details\":[1]}",
    };
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    for (unsigned i = 0; i < 8; i++) {
        char text[160];
        const bool chained = (i & 4) != 0;
        mwl_value v =
            mwl_failure(h, NULL, "A", i & 1 ? "m" : NULL, i & 2 ? parsed(h, "[1]") : mwl_absent(),
                        chained ? parsed(h, "{\"type\":\"t\"}") : mwl_absent());
        const char *base = wanted[i & 3];
        snprintf(text, sizeof text, "%.*s%s}", (int)strlen(base) - 1, base,
                 chained ? ",\"previous\":{\"type\":\"t\"}" : "");
        mwl_value same = parsed(h, text);
        EXPECT_TRUE(mwl_value_equal(v, same));
        mwl_value_drop(h, v);
        mwl_value_drop(h, same);
    }
    EXPECT_TRUE(mwl_is_absent(mwl_failure(h, "\xff", "A", "m", parsed(h, "[1]"), mwl_absent())));
    EXPECT_TRUE(mwl_is_absent(mwl_failure(h, NULL, "\xff", NULL, mwl_absent(), parsed(h, "{}"))));
    mwl_heap_free(h);
}

static bool reads(mwl_heap *h, mwl_value v, const char *text) {
    mwl_value same = parsed(h, text);
    bool equal = mwl_value_equal(v, same);
    mwl_value_drop(h, same);
    return equal;
}

/* A heap that keeps failures of the same literals: what one use does with its failure is not seen
 * by the next, and a buffer whose text has changed makes another failure. */
UTEST(failure, a_kept_failure_is_the_same_each_time) {
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    ASSERT_EQ(mwl__heap_share(h), MWL_OK);
    char code[] = "A.B", message[] = "first";
    mwl_value_drop(h, mwl_failure(h, NULL, code, message, mwl_absent(), mwl_absent()));
    const size_t used = mwl_heap_used(h);
    for (int i = 0; i < 3; i++) {
        mwl_value v = mwl_failure(h, NULL, code, message, mwl_absent(), mwl_absent());
        EXPECT_TRUE(reads(h, v, "{\"type\":\"error\",\"code\":\"A.B\",\"message\":\"first\"}"));
        EXPECT_EQ(mwl_heap_used(h), used); /* nothing was made */
        v = mwl_object_set(h, v, "previous", 8, parsed(h, "{\"type\":\"t\",\"code\":\"C\"}"));
        v = mwl_object_set(h, v, "code", 4, mwl_text(h, "D"));
        EXPECT_TRUE(reads(h, v,
                          "{\"type\":\"error\",\"code\":\"D\",\"message\":\"first\","
                          "\"previous\":{\"type\":\"t\",\"code\":\"C\"}}"));
        mwl_value_drop(h, v);
        EXPECT_EQ(mwl_heap_used(h), used); /* what was added to it is gone */
    }
    code[0] = 'Z';
    mwl_value other = mwl_failure(h, NULL, code, message, mwl_absent(), mwl_absent());
    EXPECT_TRUE(reads(h, other, "{\"type\":\"error\",\"code\":\"Z.B\",\"message\":\"first\"}"));
    mwl_value_drop(h, other);
    message[0] = 'F';
    other = mwl_failure(h, NULL, code, message, mwl_absent(), mwl_absent());
    EXPECT_TRUE(reads(h, other, "{\"type\":\"error\",\"code\":\"Z.B\",\"message\":\"First\"}"));
    mwl_value_drop(h, other);
    other = mwl_failure(h, NULL, code, NULL, mwl_absent(), mwl_absent());
    EXPECT_TRUE(reads(h, other, "{\"type\":\"error\",\"code\":\"Z.B\"}"));
    mwl_value_drop(h, other);
    EXPECT_TRUE(mwl_is_absent(mwl_failure(h, NULL, "\xff", NULL, mwl_absent(), mwl_absent())));
    mwl_heap_free(h);
}

UTEST_MAIN()
