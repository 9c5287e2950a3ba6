/* test_schema_check.c: what the keywords of JSON Schema mean, at the edges that the public suite
 * leaves out: exact decimals, long arrays, limits, and the language's closed parameters. */
#include "utest.h"
#include "tests/unit/schema_kit.h"

#include <stdlib.h>
#include <time.h>

UTEST(schema_check, types) {
    EXPECT_EQ(1, kit_valid("{\"type\":\"integer\"}", "1.0"));
    EXPECT_EQ(1, kit_valid("{\"type\":\"integer\"}", "1e300"));
    EXPECT_EQ(0, kit_valid("{\"type\":\"integer\"}", "1.5"));
    EXPECT_EQ(1, kit_valid("{\"type\":\"number\"}", "1"));
    EXPECT_EQ(1, kit_valid("{\"type\":[\"string\",\"integer\"]}", "7"));
    EXPECT_EQ(0, kit_valid("{\"type\":[\"string\",\"integer\"]}", "7.5"));
    EXPECT_EQ(0, kit_valid("{\"type\":\"object\"}", "[]"));
    EXPECT_EQ(0, kit_valid("{\"type\":\"number\"}", "true"));
}

/* spec of JSON Schema: the division's result must be an integer; decimals are what was written. */
UTEST(schema_check, multiples_are_decimal) {
    EXPECT_EQ(1, kit_valid("{\"multipleOf\":0.0001}", "0.0075"));
    EXPECT_EQ(0, kit_valid("{\"multipleOf\":0.0001}", "0.00751"));
    EXPECT_EQ(1, kit_valid("{\"multipleOf\":0.01}", "19.99"));
    EXPECT_EQ(1, kit_valid("{\"multipleOf\":0.1}", "0.3"));
    EXPECT_EQ(1, kit_valid("{\"multipleOf\":0.1}", "-0.3"));
    EXPECT_EQ(1, kit_valid("{\"multipleOf\":0.1}", "0"));
    EXPECT_EQ(0, kit_valid("{\"multipleOf\":0.123456789}", "1e308"));
    EXPECT_EQ(1, kit_valid("{\"multipleOf\":0.5}", "1e308"));
    EXPECT_EQ(1, kit_valid("{\"multipleOf\":1e-300}", "5e-300"));
    EXPECT_EQ(0, kit_valid("{\"multipleOf\":1e300}", "5e-300"));
    EXPECT_EQ(1, kit_valid("{\"multipleOf\":3}", "9007199254740993e1"));
}

UTEST(schema_check, equality_is_by_value) {
    EXPECT_EQ(1, kit_valid("{\"const\":1}", "1.0"));
    EXPECT_EQ(0, kit_valid("{\"const\":1}", "true"));
    EXPECT_EQ(1, kit_valid("{\"const\":{\"a\":[1,{\"b\":2}]}}", "{\"a\":[1.0,{\"b\":2}]}"));
    EXPECT_EQ(1, kit_valid("{\"enum\":[0,\"a\",null,[]]}", "-0"));
    EXPECT_EQ(1, kit_valid("{\"enum\":[0,\"a\",null,[]]}", "[]"));
    EXPECT_EQ(0, kit_valid("{\"enum\":[0,\"a\",null,[]]}", "\"b\""));
    EXPECT_EQ(0, kit_valid("{\"enum\":[]}", "1"));
}

UTEST(schema_check, long_enumerations) {
    char schema[4096] = "{\"enum\":[", name[16];
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "%s\"w%d\"", i ? "," : "", i);
        strcat(schema, name);
    }
    strcat(schema, "]}");
    struct kit k;
    kit_open(&k, schema, (mwl__schema_options){0});
    for (int i = 0; i < 310; i++) {
        snprintf(name, sizeof name, "\"w%d\"", i);
        EXPECT_EQ(i < 300, kit_check(&k, name, NULL));
    }
    kit_close(&k);
}

UTEST(schema_check, many_members) {
    static char schema[40000], data[40000];
    size_t n = 0, m = 0;
    n += (size_t)sprintf(schema, "{\"additionalProperties\":false,\"properties\":{");
    m += (size_t)sprintf(data, "{");
    for (int i = 0; i < 1000; i++) {
        n += (size_t)sprintf(schema + n, "%s\"p%d\":{\"const\":%d}", i ? "," : "", i, i);
        m += (size_t)sprintf(data + m, "%s\"p%d\":%d", i ? "," : "", 999 - i, 999 - i);
    }
    sprintf(schema + n, "},\"required\":[\"p0\",\"p999\",\"p500\"]}");
    sprintf(data + m, "}");
    struct kit k;
    kit_open(&k, schema, (mwl__schema_options){0});
    EXPECT_EQ(1, kit_check(&k, data, NULL));
    EXPECT_EQ(1, kit_check(&k, "{\"p0\":0,\"p999\":999,\"p500\":500}", NULL));
    EXPECT_EQ(0, kit_check(&k, "{\"p0\":0,\"p999\":999}", NULL));
    EXPECT_EQ(0, kit_check(&k, "{\"p0\":0,\"p999\":999,\"p500\":500,\"p1000\":1}", NULL));
    EXPECT_EQ(0, kit_check(&k, "{\"p0\":0,\"p999\":999,\"p500\":501}", NULL));
    kit_close(&k);
}

/* required names a member that `properties` does not: counted once, and still additional. */
UTEST(schema_check, required_only) {
    const char *schema = "{\"required\":[\"x\"],\"properties\":{\"a\":{}},\"additionalProperties\":"
                         "{\"type\":\"number\"}}";
    EXPECT_EQ(1, kit_valid(schema, "{\"x\":1,\"a\":\"s\"}"));
    EXPECT_EQ(0, kit_valid(schema, "{\"x\":\"s\"}"));
    EXPECT_EQ(0, kit_valid(schema, "{\"a\":1}"));
}

/* Sub-quadratic: pairs of 60000 elements would take many seconds. */
UTEST(schema_check, unique_items_of_long_arrays) {
    size_t n = 60000, len = 0;
    char *text = malloc(n * 16 + 16);
    struct kit k;
    kit_open(&k, "{\"uniqueItems\":true}", (mwl__schema_options){0});
    len += (size_t)sprintf(text, "[");
    for (size_t i = 0; i < n; i++) len += (size_t)sprintf(text + len, "%s[%zu]", i ? "," : "", i);
    strcpy(text + len, "]");
    clock_t before = clock();
    EXPECT_EQ(1, kit_check(&k, text, NULL));
    strcpy(text + len, ",[7.0]]");
    EXPECT_EQ(0, kit_check(&k, text, NULL));
    EXPECT_LT((double)(clock() - before) / CLOCKS_PER_SEC, 5.0);
    EXPECT_EQ(0,
              kit_check(&k, "[1,2,3,4,5,6,7,8,9,10,11,{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]", NULL));
    EXPECT_EQ(1,
              kit_check(&k, "[1,2,3,4,5,6,7,8,9,10,11,{\"a\":1,\"b\":2},{\"b\":1,\"a\":2}]", NULL));
    EXPECT_EQ(1, kit_check(&k, "[1,true,\"1\",[1],0,false,null,\"\",[],{},\"a\",-1]", NULL));
    kit_close(&k);
    free(text);
}

UTEST(schema_check, unevaluated_beyond_one_chunk) {
    static char text[40000];
    size_t len = (size_t)sprintf(text, "{");
    for (int i = 0; i < 1300; i++)
        len += (size_t)sprintf(text + len, "%s\"k%d\":%d", i ? "," : "", i, i);
    struct kit k;
    kit_open(&k,
             "{\"anyOf\":[{\"patternProperties\":{\"^k\":{\"type\":\"number\"}}},false],"
             "\"unevaluatedProperties\":false}",
             (mwl__schema_options){0});
    strcpy(text + len, "}");
    EXPECT_EQ(1, kit_check(&k, text, NULL));
    strcpy(text + len, ",\"z\":0}");
    EXPECT_EQ(0, kit_check(&k, text, NULL));
    kit_close(&k);
    kit_open(
        &k,
        "{\"prefixItems\":[{},{}],\"contains\":{\"type\":\"string\"},\"unevaluatedItems\":false}",
        (mwl__schema_options){0});
    EXPECT_EQ(1, kit_check(&k, "[1,2,\"a\",\"b\"]", NULL));
    EXPECT_EQ(0, kit_check(&k, "[1,2,\"a\",3]", NULL));
    kit_close(&k);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void nest(char *out, int levels) {
    int n = 0;
    for (int i = 0; i < levels; i++) out[n++] = '[';
    for (int i = 0; i < levels; i++) out[n++] = ']';
    out[n] = '\0';
}

UTEST(schema_check, recursion_on_data_is_bounded) {
    char text[2048];
    struct kit k;
    kit_open(&k, "{\"items\":{\"$ref\":\"#\"}}", (mwl__schema_options){0});
    nest(text, 500);
    EXPECT_EQ(1, kit_check(&k, text, NULL));
    kit_close(&k);
    kit_open(&k, "{\"allOf\":[{\"allOf\":[{\"items\":{\"$ref\":\"#\"}}]}]}",
             (mwl__schema_options){0});
    EXPECT_EQ(MWL_E_DEPTH, kit_check(&k, text, NULL));
    nest(text, 100);
    EXPECT_EQ(1, kit_check(&k, text, NULL));
    kit_close(&k);
}

UTEST(schema_check, references_to_themselves_end) {
    EXPECT_EQ(MWL_E_DEPTH, kit_valid("{\"$ref\":\"#\"}", "1"));
    EXPECT_EQ(MWL_E_DEPTH, kit_valid("{\"allOf\":[{\"$ref\":\"#\"}]}", "1"));
    EXPECT_EQ(MWL_E_DEPTH, kit_valid("{\"not\":{\"$ref\":\"#\"}}", "1"));
    EXPECT_EQ(
        MWL_E_DEPTH,
        kit_valid("{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}},"
                  "\"$ref\":\"#/$defs/a\",\"unevaluatedItems\":false}",
                  "[1]"));
}

/* Two ways at every level: 2^60 visits without a limit. */
UTEST(schema_check, fuel) {
    char text[256];
    struct kit k;
    kit_open(&k,
             "{\"anyOf\":[{\"items\":{\"$ref\":\"#\"},\"minItems\":1},{\"items\":{\"$ref\":\"#\"},"
             "\"minItems\":1}]}",
             (mwl__schema_options){0});
    uint64_t fuel = 100000;
    nest(text, 60);
    EXPECT_EQ(MWL_E_FUEL, kit_check(&k, text, &fuel));
    EXPECT_EQ(0u, fuel);
    kit_close(&k);
    kit_open(&k, "{\"items\":{\"type\":\"number\"}}", (mwl__schema_options){0});
    fuel = 1000;
    EXPECT_EQ(1, kit_check(&k, "[1,2,3]", &fuel));
    EXPECT_LT(fuel, 1000u);
    EXPECT_GT(fuel, 900u);
    kit_close(&k);
}

/* Many elements are found by hash: one unit each, one for the schema and the array, and a quarter
 * of one for each place in the table. */
UTEST(schema_check, uniqueItems_is_charged_by_element) {
    struct kit k;
    kit_open(&k, "{\"uniqueItems\":true}", (mwl__schema_options){0});
    mwl__buf b = mwl__buf_make(mwl_alloc_default());
    mwl__buf_putc(&b, '[');
    for (int i = 0; i < 3000; i++) mwl__buf_printf(&b, "[[[[[[[[%d]]]]]]]],", i);
    size_t len = b.len;
    mwl__buf_puts(&b, "1]");
    uint64_t fuel = 3000 * 9 + 3000 / 4 + 100;
    EXPECT_EQ(1, kit_check(&k, mwl__buf_cstr(&b), &fuel));
    EXPECT_LE(fuel, 100u);
    fuel = 3000 * 9 - 1;
    EXPECT_EQ(MWL_E_FUEL, kit_check(&k, mwl__buf_cstr(&b), &fuel));
    b.len = len;
    mwl__buf_puts(&b, "[[[[[[[[7.0]]]]]]]]]");
    EXPECT_EQ(0, kit_check(&k, mwl__buf_cstr(&b), NULL));
    mwl__buf_free(&b);
    kit_close(&k);
}

/* ---- the language's rules -------------------------------------------------------------------- */

static int parameters_valid(const char *schema, const char *json) {
    struct kit k;
    kit_open(&k, schema, mwl__schema_parameters());
    int answer = kit_check(&k, json, NULL);
    kit_close(&k);
    return answer;
}

/* spec: parameters are closed unless additionalProperties is written; the top level only. */
UTEST(schema_check, parameters_are_closed) {
    const char *schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"object\"}}}";
    EXPECT_EQ(1, parameters_valid(schema, "{\"a\":{\"any\":1}}"));
    EXPECT_EQ(0, parameters_valid(schema, "{\"b\":1}"));
    EXPECT_EQ(1, parameters_valid("{\"type\":\"object\"}", "{}"));
    EXPECT_EQ(0, parameters_valid("{\"type\":\"object\"}", "{\"a\":1}"));
    EXPECT_EQ(1,
              parameters_valid("{\"type\":\"object\",\"additionalProperties\":true}", "{\"a\":1}"));
    EXPECT_EQ(1, parameters_valid("{\"type\":\"object\",\"patternProperties\":{\"^x\":{}}}",
                                  "{\"xy\":1}"));
    EXPECT_EQ(0, parameters_valid("{\"type\":\"object\",\"allOf\":[{\"properties\":{\"a\":{}},"
                                  "\"additionalProperties\":true}]}",
                                  "{\"a\":1}"));
}

UTEST(schema_check, duration_has_two_grammars) {
    mwl__schema_options narrow = {.assert_formats = true, .rfc3339_duration = true};
    struct kit k;
    EXPECT_EQ(1, kit_valid("{\"format\":\"duration\"}", "\"PT1H2S\""));
    EXPECT_EQ(1, kit_valid("{\"format\":\"duration\"}", "\"PT0.5S\""));
    EXPECT_EQ(0, kit_valid("{\"format\":\"duration\"}", "\"1h\""));
    kit_open(&k, "{\"format\":\"duration\"}", narrow);
    EXPECT_EQ(0, kit_check(&k, "\"PT0.5S\"", NULL));
    EXPECT_EQ(1, kit_check(&k, "\"PT1H\"", NULL));
    kit_close(&k);
}

UTEST(schema_check, string_lengths_are_code_points) {
    EXPECT_EQ(1, kit_valid("{\"maxLength\":2}", "\"\\ud83d\\ude00\\u00e9\""));
    EXPECT_EQ(0, kit_valid("{\"minLength\":3}", "\"\\ud83d\\ude00\\u00e9\""));
    EXPECT_EQ(0, kit_valid("{\"minLength\":1e300}", "\"a\""));
    EXPECT_EQ(1, kit_valid("{\"maxLength\":1e300}", "\"a\""));
}

UTEST_MAIN()
