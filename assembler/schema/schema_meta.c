/* schema_meta.c: the documents of the dialect, under their published URIs.
 *
 * Owns: the rules of JSON Schema 2020-12 for schemas, as schemas written by us: the meta-schema and
 * one document for each vocabulary. They exist for schemas that refer to them. schema_keyword.c
 * checks the schemas of definitions by the same rules, because it knows the position of each
 * value. */
#include "assembler/schema/schema_build.h"

/* clang-format off: rows of rules, several to a line */
#define BASE "https://json-schema.org/draft/2020-12/"
#define HEAD(path)                                                                                 \
    "{\"$schema\":\"" BASE "schema\",\"$id\":\"" BASE path "\",\"$dynamicAnchor\":\"meta\","
#define SCHEMA "{\"$dynamicRef\":\"#meta\"}"
#define SCHEMAS "{\"type\":\"array\",\"minItems\":1,\"items\":" SCHEMA "}"
#define MAP "{\"type\":\"object\",\"additionalProperties\":" SCHEMA "}"
#define TEXT "{\"type\":\"string\"}"
#define FLAG "{\"type\":\"boolean\"}"
#define NUMBER "{\"type\":\"number\"}"
#define COUNT "{\"type\":\"integer\",\"minimum\":0}"
#define NAMES "{\"type\":\"array\",\"items\":" TEXT ",\"uniqueItems\":true}"
#define REFERENCE "{\"type\":\"string\",\"format\":\"uri-reference\"}"
#define WORD "{\"type\":\"string\",\"pattern\":\"^[A-Za-z_][-A-Za-z0-9._]*$\"}"
#define TYPES "[\"array\",\"boolean\",\"integer\",\"null\",\"number\",\"object\",\"string\"]"
#define BODY "\"type\":[\"object\",\"boolean\"],\"properties\":{"
#define P(name, rule) "\"" name "\":" rule ","
#define LAST(name, rule) "\"" name "\":" rule "}}"

static const char meta_schema[] =
    HEAD("schema") "\"$vocabulary\":{\"" BASE "vocab/core\":true,\"" BASE
                   "vocab/applicator\":true,\"" BASE "vocab/unevaluated\":true,\"" BASE
                   "vocab/validation\":true,\"" BASE "vocab/meta-data\":true,\"" BASE
                   "vocab/format-annotation\":true,\"" BASE "vocab/content\":true},"
                   "\"allOf\":[{\"$ref\":\"meta/core\"},{\"$ref\":\"meta/applicator\"},"
                   "{\"$ref\":\"meta/unevaluated\"},{\"$ref\":\"meta/"
                   "validation\"},{\"$ref\":\"meta/meta-data\"},"
                   "{\"$ref\":\"meta/format-annotation\"},{\"$ref\":\"meta/content\"}]," BODY P(
                       "definitions", MAP)
                       P("dependencies",
                         "{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[" SCHEMA
                         "," NAMES "]}}") P("$recursiveAnchor", WORD)
                           LAST("$recursiveRef", REFERENCE);

static const char core[] = HEAD("meta/core")
    BODY P("$id", "{\"type\":\"string\",\"format\":\"uri-reference\",\"pattern\":\"^[^#]*#?$\"}")
        P("$schema", "{\"type\":\"string\",\"format\":\"uri\"}") P("$ref", REFERENCE)
            P("$dynamicRef", REFERENCE) P("$anchor", WORD) P("$dynamicAnchor", WORD)
                P("$vocabulary",
                  "{\"type\":\"object\",\"propertyNames\":{\"type\":\"string\",\"format\":\"uri\"},"
                  "\"additionalProperties\":" FLAG "}") P("$comment", TEXT) LAST("$defs", MAP);

static const char applicator[] = HEAD("meta/applicator") BODY P("prefixItems", SCHEMAS)
    P("items", SCHEMA) P("contains", SCHEMA) P("additionalProperties", SCHEMA) P("properties", MAP)
        P("patternProperties", "{\"type\":\"object\",\"propertyNames\":{\"format\":\"regex\"},"
                               "\"additionalProperties\":" SCHEMA "}") P("dependentSchemas", MAP)
            P("propertyNames", SCHEMA) P("if", SCHEMA) P("then", SCHEMA) P("else", SCHEMA)
                P("allOf", SCHEMAS) P("anyOf", SCHEMAS) P("oneOf", SCHEMAS) LAST("not", SCHEMA);

static const char unevaluated[] = HEAD("meta/unevaluated") BODY P("unevaluatedItems", SCHEMA)
    LAST("unevaluatedProperties", SCHEMA);

static const char validation[] = HEAD("meta/validation")
    BODY P("type", "{\"anyOf\":[{\"enum\":" TYPES "},{\"type\":\"array\",\"minItems\":1,"
                   "\"uniqueItems\":true,\"items\":{\"enum\":" TYPES
                   "}}]}") P("const", "true") P("enum", "{\"type\":\"array\"}")
        P("multipleOf", "{\"type\":\"number\",\"exclusiveMinimum\":0}") P("maximum", NUMBER)
            P("exclusiveMaximum", NUMBER) P("minimum", NUMBER) P("exclusiveMinimum",
                                                                 NUMBER) P("maxLength", COUNT)
                P("minLength", COUNT) P("pattern", "{\"type\":\"string\",\"format\":\"regex\"}")
                    P("maxItems", COUNT) P("minItems", COUNT) P("uniqueItems", FLAG)
                        P("maxContains", COUNT) P("minContains", COUNT) P("maxProperties", COUNT)
                            P("minProperties", COUNT) P("required", NAMES)
                                LAST("dependentRequired",
                                     "{\"type\":\"object\",\"additionalProperties\":" NAMES "}");

static const char meta_data[] = HEAD("meta/meta-data") BODY P("title", TEXT) P("description", TEXT)
    P("default", "true") P("deprecated", FLAG) P("readOnly", FLAG) P("writeOnly", FLAG)
        LAST("examples", "{\"type\":\"array\"}");

static const char format_annotation[] = HEAD("meta/format-annotation") BODY LAST("format", TEXT);
static const char format_assertion[] = HEAD("meta/format-assertion") BODY LAST("format", TEXT);

static const char content[] = HEAD("meta/content") BODY P("contentEncoding", TEXT)
    P("contentMediaType", TEXT) LAST("contentSchema", SCHEMA);

/* clang-format on */

static const struct document {
    const char *path, *text;
    size_t len;
} documents[] = {
#define DOCUMENT(path, text)                                                                       \
    { path, text, sizeof(text) - 1 }
    DOCUMENT("schema", meta_schema),
    DOCUMENT("meta/core", core),
    DOCUMENT("meta/applicator", applicator),
    DOCUMENT("meta/unevaluated", unevaluated),
    DOCUMENT("meta/validation", validation),
    DOCUMENT("meta/meta-data", meta_data),
    DOCUMENT("meta/format-annotation", format_annotation),
    DOCUMENT("meta/format-assertion", format_assertion),
    DOCUMENT("meta/content", content),
};

static const struct vocabulary {
    const char *path;
    uint32_t bits;
} vocabularies[] = {
    {"vocab/core", MWL__VOC_CORE},
    {"vocab/applicator", MWL__VOC_APPLICATOR},
    {"vocab/unevaluated", MWL__VOC_UNEVALUATED},
    {"vocab/validation", MWL__VOC_VALIDATION},
    {"vocab/meta-data", MWL__VOC_META},
    {"vocab/format-annotation", MWL__VOC_FORMAT},
    {"vocab/format-assertion", MWL__VOC_FORMAT | MWL__VOC_ASSERT_FORMAT},
    {"vocab/content", MWL__VOC_CONTENT},
};

/* Returns the path of the URI below that of the dialect, or NULL. */
static const char *below_base(const char *uri, size_t *len) {
    const size_t n = sizeof BASE - 1;
    if (*len < n || memcmp(uri, BASE, n) != 0) return NULL;
    *len -= n;
    return uri + n;
}

const char *mwl__schema_meta(const char *uri, size_t uri_len, size_t *len) {
    const char *path = below_base(uri, &uri_len);
    for (size_t i = 0; path && i < sizeof documents / sizeof *documents; i++) {
        if (strlen(documents[i].path) != uri_len || memcmp(documents[i].path, path, uri_len) != 0)
            continue;
        *len = documents[i].len;
        return documents[i].text;
    }
    return NULL;
}

uint32_t mwl__schema_vocabulary(const char *uri, size_t len) {
    const char *path = below_base(uri, &len);
    for (size_t i = 0; path && i < sizeof vocabularies / sizeof *vocabularies; i++)
        if (strlen(vocabularies[i].path) == len && memcmp(vocabularies[i].path, path, len) == 0)
            return vocabularies[i].bits;
    return 0;
}
