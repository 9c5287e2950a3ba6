/* test_schema_report.c: the report about a value that is not valid: locations, messages, limits. */
#include "utest.h"
#include "tests/unit/schema_kit.h"

#define EXPECT_REASON(expected, schema, json)                                                      \
    do {                                                                                           \
        char found[4096];                                                                          \
        EXPECT_STREQ(expected, kit_reason(schema, json, found, sizeof found));                     \
    } while (0)

#define WITH(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"

UTEST(schema_report, single_keywords) {
    EXPECT_REASON("", WITH("\"a\":{\"type\":\"string\"}"), "{\"a\":\"x\"}");
    EXPECT_REASON("/properties/a/type /a must be a string, is a number",
                  WITH("\"a\":{\"type\":\"string\"}"), "{\"a\":1}");
    EXPECT_REASON("/properties/a/type /a must be a string, a boolean or null, is an array",
                  WITH("\"a\":{\"type\":[\"null\",\"string\",\"boolean\"]}"), "{\"a\":[]}");
    EXPECT_REASON("/properties/a/type /a must be an integer, is 1.5",
                  WITH("\"a\":{\"type\":\"integer\"}"), "{\"a\":1.5}");
    EXPECT_REASON("/properties/a/minimum /a must be at least 1, is 0.5",
                  WITH("\"a\":{\"minimum\":1}"), "{\"a\":0.5}");
    EXPECT_REASON("/properties/a/exclusiveMaximum /a must be less than 1, is 1",
                  WITH("\"a\":{\"exclusiveMaximum\":1}"), "{\"a\":1}");
    EXPECT_REASON("/properties/a/multipleOf /a must be a multiple of 0.01, is 1.001",
                  WITH("\"a\":{\"multipleOf\":0.01}"), "{\"a\":1.001}");
    EXPECT_REASON("/properties/a/minLength /a must have at least 1 character, has 0",
                  WITH("\"a\":{\"minLength\":1}"), "{\"a\":\"\"}");
    EXPECT_REASON("/properties/a/maxItems /a must have at most 2 elements, has 3",
                  WITH("\"a\":{\"maxItems\":2}"), "{\"a\":[1,2,3]}");
    EXPECT_REASON("/properties/a/pattern /a must match the pattern '^x'",
                  WITH("\"a\":{\"pattern\":\"^x\"}"), "{\"a\":\"y\"}");
    EXPECT_REASON("/properties/a/format /a must be an ISO 8601 duration such as PT15M (format "
                  "'duration')",
                  WITH("\"a\":{\"format\":\"duration\"}"), "{\"a\":\"15m\"}");
    EXPECT_REASON("/properties/a/uniqueItems /a must have different elements; those at 0 and 2 are "
                  "equal",
                  WITH("\"a\":{\"uniqueItems\":true}"), "{\"a\":[1,2,1]}");
    EXPECT_REASON("/properties/a/const /a must be {\"x\":1}", WITH("\"a\":{\"const\":{\"x\":1}}"),
                  "{\"a\":2}");
    EXPECT_REASON("/properties/a/not /a must not match the schema under 'not'",
                  WITH("\"a\":{\"not\":{\"type\":\"null\"}}"), "{\"a\":null}");
    EXPECT_REASON("/properties/a/contains /a must contain at least 1 element that matches "
                  "'contains', has 0",
                  WITH("\"a\":{\"contains\":{\"type\":\"null\"}}"), "{\"a\":[1]}");
}

UTEST(schema_report, names_that_were_meant) {
    EXPECT_REASON(
        "/additionalProperties /colour 'colour' is not a declared parameter; did you mean "
        "'color'?",
        WITH("\"color\":{},\"size\":{}"), "{\"colour\":1}");
    EXPECT_REASON("/properties/o/additionalProperties /o/zzz 'zzz' is not allowed here",
                  WITH("\"o\":{\"additionalProperties\":false}"), "{\"o\":{\"zzz\":1}}");
    char found[1024];
    (void)kit_reason(WITH("\"a\":{\"enum\":[\"red\",\"green\",1]}"), "{\"a\":\"gren\"}", found,
                     sizeof found);
    EXPECT_TRUE(strstr(found, "did you mean \"green\"?") != NULL);
}

UTEST(schema_report, all_errors_with_their_places) {
    EXPECT_REASON(
        "/required  'b' is required\n"
        "/properties/a/items/minimum /a/1 must be at least 0, is -1\n"
        "/properties/a/items/type /a/2 must be a number, is a string",
        "{\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":{\"a\":{\"items\":"
        "{\"type\":\"number\",\"minimum\":0}},\"b\":{}}}",
        "{\"a\":[1,-1,\"x\"]}");
    EXPECT_REASON("/properties/x/$ref/properties/a~1b/type /x/a~1b must be null, is a number",
                  "{\"type\":\"object\",\"properties\":{\"x\":{\"$ref\":\"#/$defs/d\"}},\"$defs\":"
                  "{\"d\":{\"properties\":{\"a/b\":{\"type\":\"null\"}}}}}",
                  "{\"x\":{\"a/b\":1}}");
    EXPECT_REASON("/properties/x/dependentRequired/a /x 'b' is required when 'a' is given",
                  WITH("\"x\":{\"dependentRequired\":{\"a\":[\"b\"]}}"), "{\"x\":{\"a\":1}}");
    EXPECT_REASON("/properties/x/then/minimum /x must be at least 10, is 5",
                  WITH("\"x\":{\"if\":{\"exclusiveMinimum\":0},\"then\":{\"minimum\":10}}"),
                  "{\"x\":5}");
    EXPECT_REASON("/properties/x/unevaluatedProperties /x/q 'q' is not allowed here",
                  WITH("\"x\":{\"allOf\":[{\"properties\":{\"p\":{}}}],"
                       "\"unevaluatedProperties\":false}"),
                  "{\"x\":{\"p\":1,\"q\":2}}");
}

UTEST(schema_report, the_closest_alternative) {
    const char *schema = WITH(
        "\"s\":{\"oneOf\":[{\"type\":\"string\"},"
        "{\"type\":\"object\",\"required\":[\"kind\"],\"properties\":{\"kind\":{\"const\":\"a\"},"
        "\"n\":{\"type\":\"number\"}}},"
        "{\"type\":\"object\",\"required\":[\"kind\"],\"properties\":{\"kind\":{\"const\":\"b\"},"
        "\"n\":{\"type\":\"number\"}}}]}");
    EXPECT_REASON("/properties/s/oneOf /s matches none of 3 alternatives; number 3 (oneOf/2) comes "
                  "closest\n"
                  "/properties/s/oneOf/2/properties/n/type /s/n must be a number, is a string",
                  schema, "{\"s\":{\"kind\":\"b\",\"n\":\"x\"}}");
    EXPECT_REASON(
        "/properties/s/oneOf /s must match exactly one of 2 alternatives; numbers 1 and 2 "
        "match",
        WITH("\"s\":{\"oneOf\":[{},{}]}"), "{\"s\":1}");
}

/* The value is what was observed; a large one is only described; at most 16 errors. */
UTEST(schema_report, bounds) {
    struct kit k;
    char json[8192] = "[";
    mwl_value v = mwl_absent(), report = mwl_absent();
    bool valid = true;
    for (int i = 0; i < 2000; i++) strcat(json, i ? ",0" : "0");
    strcat(json, "]");
    kit_open(&k, "{\"items\":{\"type\":\"string\"},\"maxItems\":2}", (mwl__schema_options){0});
    mwl__schema_env env = {.heap = k.heap, .scratch = k.scratch};
    ASSERT_EQ(MWL_OK, mwl_json_parse(k.heap, json, strlen(json), &v, NULL));
    ASSERT_EQ(MWL_OK, mwl__schema_check(k.schema, v, &env, &valid, &report));
    EXPECT_FALSE(valid);
    EXPECT_EQ(16u, mwl_count(mwl_get(report, "errors")));
    size_t len = 0;
    EXPECT_STREQ("(an array of 2000 elements)", mwl_as_text(mwl_get(report, "value"), &len));
    EXPECT_STREQ("/maxItems", mwl_as_text(mwl_get(report, "keywordLocation"), &len));
    mwl_value_drop(k.heap, report);
    mwl_value_drop(k.heap, v);
    kit_close(&k);
}

/* Looking for the closest of two at each of 40 levels would take for ever. */
UTEST(schema_report, ends) {
    struct kit k;
    char json[256], found[4096];
    memset(json, '[', 40);
    json[40] = '1';
    memset(json + 41, ']', 40);
    json[81] = '\0';
    kit_open(&k,
             "{\"$defs\":{\"n\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"$ref\":\"#/$defs/n\"},"
             "{\"$ref\":\"#/$defs/m\"}]}},\"m\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/"
             "n\"}}},"
             "\"$ref\":\"#/$defs/n\"}",
             (mwl__schema_options){0});
    json[12] = '1';
    json[13] = '\0';
    memset(json + 13, ']', 12);
    json[25] = '\0';
    EXPECT_LT(0u, strlen(kit_report(&k, json, found, sizeof found)));
    kit_close(&k);
}

UTEST_MAIN()
