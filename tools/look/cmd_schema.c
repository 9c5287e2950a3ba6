/* cmd_schema.c: `mwlvm schema`: the JSON Schema of a definition, made from members.h.
 *
 * Owns: how the rows of members.h are written as JSON Schema, and the rules between members of one
 * object that the rows do not have. It refuses what the assembler refuses because of its form; the
 * names of Steps and Flows, arguments and expressions are the assembler's alone. */
#include "tools/base/cmd.h"
#include "tools/words/fmt.h"
#include "tools/host/io_host.h"
#include "tools/words/members.h"
#include "tools/base/options.h"
#include "assembler/source/form.h"
#include "stdlib/documents.h"

#include <stdio.h>
#include <string.h>

static const char head[] =
    "usage: mwlvm schema\n\n"
    "Prints the JSON Schema (2020-12) of a definition, with a description of every member. An editor\n"
    "that knows it completes members and marks mistakes of form while one types.\n\n";

static const char foot[] =
    "\nExample:\n"
    "  mwlvm schema >mwl.schema.json\n"
    "\nFor Visual Studio Code, in .vscode/settings.json:\n"
    "  { \"json.schemas\": [{ \"fileMatch\": [\"*.flow.json\"], \"url\": \"./mwl.schema.json\" }] }\n";

static int operand(void *ctx, const char *word) {
    (void)ctx;
    return cmd_usage("no operand is wanted, not '%s'", word);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A text of ours as a JSON string: ASCII without control characters. */
static void put_text(mwl__buf *out, const char *text) {
    mwl__buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') mwl__buf_putc(out, '\\');
        mwl__buf_putc(out, *text);
    }
    mwl__buf_putc(out, '"');
}

/* The names of the definitions, by shape. */
#define DEF_NAME(id, what) #id,
static const char *const def_names[SHAPE_LISTS] = {MEMBER_LISTS(DEF_NAME)};

#define EXPRESSION "{\"$ref\":\"#/$defs/EXPRESSION\"}"
#define OR_EXPRESSION(schema) "\"anyOf\":[" schema "," EXPRESSION "]"
#define ARRAY_OF(name) "\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/" name "\"}"
/* Text that the language reads before anything runs: no expression. */
#define PLAIN_TEXT "\"type\":\"string\",\"not\":" EXPRESSION

/* The keywords of a shape that is not an object with a list. */
static const char *const shape_keywords[] = {
    [SHAPE_STEP] = "\"$ref\":\"#/$defs/STEP\"",
    [SHAPE_STEPS] =
        "\"type\":\"object\",\"minProperties\":1,\"propertyNames\":{\"not\":" EXPRESSION "},"
        "\"additionalProperties\":{\"$ref\":\"#/$defs/STEP\"}",
    [SHAPE_FLOWS] = "\"type\":\"object\",\"additionalProperties\":{\"$ref\":\"#/$defs/FLOW\"}",
    [SHAPE_CALLS] = ARRAY_OF("CALL") ",\"minItems\":1",
    [SHAPE_ENTRIES] = ARRAY_OF("ENTRY"),
    [SHAPE_CATCHES] = ARRAY_OF("CLAUSE"),
    [SHAPE_CASES] = ARRAY_OF("CASE"),
    [SHAPE_VALUE] = "",
    [SHAPE_ARGUMENTS] = OR_EXPRESSION("{\"type\":\"object\"}"),
    [SHAPE_ASSIGN] = "\"type\":\"object\"",
    [SHAPE_CONDITION] = OR_EXPRESSION("{\"type\":\"boolean\"}"),
    [SHAPE_LIST] = "", /* another literal is certain to fail, which is a warning */
    [SHAPE_COUNT] = OR_EXPRESSION("{\"type\":\"number\"}"),
    [SHAPE_DURATION] = "\"type\":\"string\"",
    [SHAPE_INSTANT] = "\"type\":\"string\"",
    [SHAPE_STEP_NAME] = PLAIN_TEXT,
    [SHAPE_CALL_URI] =
        "\"type\":\"string\",\"pattern\":\"^mwl:provider[.]call/[^/{}]+(/[^/{}]+)+$\"",
    [SHAPE_MIDDLEWARE_URI] =
        "\"type\":\"string\",\"pattern\":\"^mwl:provider[.]middleware/[^/{}]+(/[^/{}]+)+$\"",
    [SHAPE_FLOW_REF] = "\"anyOf\":[{" PLAIN_TEXT "},{\"$ref\":\"#/$defs/FLOW\"}]",
    [SHAPE_CODES] = "\"type\":\"array\",\"minItems\":1,\"items\":{" PLAIN_TEXT "}",
    [SHAPE_TYPES] = "\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"string\","
                    "\"not\":{\"anyOf\":[" EXPRESSION ",{\"const\":\"success\"}]}}",
    [SHAPE_LIMIT] = "\"type\":[\"integer\",\"null\"],\"minimum\":1",
    [SHAPE_SCHEMA] = "\"type\":\"object\",\"required\":[\"type\"],"
                     "\"properties\":{\"type\":{\"const\":\"object\"}}",
    [SHAPE_SCHEMA_URI] = "\"const\":\"https://mwl.dev/v0.1/flow/schema.json\"",
    [SHAPE_ACTION] =
        "\"enum\":[\"Call\",\"Gather\",\"Match\",\"Pass\",\"Sleep\",\"Return\",\"Raise\"]",
    [SHAPE_TEXT] = "\"type\":\"string\"",
    [SHAPE_FLAG] = "\"type\":\"boolean\"",
    [SHAPE_FAILURE_TYPE] = "\"not\":{\"const\":\"success\"}",
    [SHAPE_FAILURE_TEXT] = "",
    [SHAPE_FAILURE_FLAG] = "",
    [SHAPE_FAILURE_LINK] = "",
};

/* What the rows of a list do not say: rules between members, members that are required although a
 * missing one has a report of its own. */
static const char *const list_rules[SHAPE_LISTS] = {
    [SHAPE_CALL_STEP] = ",\"required\":[\"action\",\"call\",\"next\"]",
    [SHAPE_GATHER_STEP] = ",\"required\":[\"action\",\"next\"],\"oneOf\":["
                          "{\"required\":[\"over\",\"call\"],\"not\":{\"required\":[\"calls\"]}},"
                          "{\"required\":[\"calls\"],\"not\":{\"anyOf\":[{\"required\":[\"over\"]},"
                          "{\"required\":[\"call\"]}]}}]",
    [SHAPE_MATCH_STEP] = ",\"required\":[\"action\",\"cases\",\"default\"]",
    [SHAPE_PASS_STEP] = ",\"required\":[\"action\",\"next\"]",
    [SHAPE_SLEEP_STEP] = ",\"required\":[\"action\",\"next\"],"
                         "\"oneOf\":[{\"required\":[\"for\"]},{\"required\":[\"until\"]}]",
    [SHAPE_RETURN_STEP] = ",\"required\":[\"action\"]",
    [SHAPE_RAISE_STEP] = ",\"required\":[\"action\"]",
    [SHAPE_CALL] = ",\"oneOf\":[{\"required\":[\"provider\"]},{\"required\":[\"flow\"]}]",
    [SHAPE_CASE] = ",\"required\":[\"when\",\"next\"]",
    [SHAPE_MATCHER] = ",\"minProperties\":1",
    [SHAPE_RESULT] = ",\"required\":[\"code\"]",
};

/* The providers of this build, so that an editor can offer them. */
static void put_providers(mwl__buf *out, bool middleware) {
    const char *prefix = middleware ? "mwl:provider.middleware/" : "mwl:provider.call/",
               *comma = "";
    mwl__buf_puts(out, ",\"examples\":[");
    const mwl__std_document *d;
    for (size_t i = 0; (d = mwl__std_document_at(i)); i++) {
        if (strncmp(d->uri, prefix, strlen(prefix)) != 0) continue;
        mwl__buf_puts(out, comma);
        put_text(out, d->uri);
        comma = ",";
    }
    for (const mwl_asm_document *io = io_host_documents(); io && io->uri; io++) {
        if (strncmp(io->uri, prefix, strlen(prefix)) != 0) continue;
        mwl__buf_puts(out, comma);
        put_text(out, io->uri);
        comma = ",";
    }
    mwl__buf_puts(out, "]");
}

/* A member: its description, then what its value must be. */
static void put_member(mwl__buf *out, enum member_shape list, const struct member *row) {
    put_text(out, row->name);
    mwl__buf_puts(out, ":{\"description\":");
    put_text(out, row->text);
    const char *keywords = row->shape < SHAPE_LISTS ? NULL : shape_keywords[row->shape];
    if (row->shape == SHAPE_CONDITION && list == SHAPE_CASE)
        mwl__buf_puts(out, ",\"$ref\":\"#/$defs/EXPRESSION\"");
    else if (row->shape < SHAPE_LISTS)
        mwl__buf_printf(out, ",\"$ref\":\"#/$defs/%s\"", def_names[row->shape]);
    else if (*keywords)
        mwl__buf_printf(out, ",%s", keywords);
    if (row->shape == SHAPE_CALL_URI || row->shape == SHAPE_MIDDLEWARE_URI)
        put_providers(out, row->shape == SHAPE_MIDDLEWARE_URI);
    mwl__buf_putc(out, '}');
}

/* An object with a list. A Flow that is not the root has no "$schema". */
static void put_list(mwl__buf *out, enum member_shape shape, bool root) {
    const struct member_list *list = members_of(shape);
    const char *comma = "";
    mwl__buf_puts(out, "{\"type\":\"object\",\"properties\":{");
    for (size_t i = 0; i < list->n_rows; i++) {
        if (list->rows[i].shape == SHAPE_SCHEMA_URI && !root) continue;
        mwl__buf_puts(out, comma);
        put_member(out, shape, &list->rows[i]);
        comma = ",";
    }
    mwl__buf_puts(out, "},\"additionalProperties\":false");
    if (list_rules[shape]) {
        mwl__buf_puts(out, list_rules[shape]);
    } else {
        mwl__buf_puts(out, ",\"required\":[");
        comma = "";
        for (size_t i = 0; i < list->n_rows; i++) {
            bool needed = list->rows[i].flags & MWL__FORM_REQUIRED;
            if (!needed && !(root && list->rows[i].shape == SHAPE_SCHEMA_URI)) continue;
            mwl__buf_puts(out, comma);
            put_text(out, list->rows[i].name);
            comma = ",";
        }
        mwl__buf_putc(out, ']');
    }
    mwl__buf_putc(out, '}');
}

/* A Step: its action chooses the list, so that mistakes are reported against the right one. */
static void put_step(mwl__buf *out) {
    mwl__buf_puts(out, "{\"type\":\"object\",\"required\":[\"action\"],\"properties\":{\"action\":{"
                       "\"description\":\"What the Step does.\",\"oneOf\":[");
    for (size_t i = 0; i < MEMBER_ACTIONS; i++) {
        mwl__buf_printf(out, "%s{\"const\":\"%s\",\"description\":", i ? "," : "",
                        member_actions[i].name);
        put_text(out, member_actions[i].text);
        mwl__buf_putc(out, '}');
    }
    mwl__buf_puts(out, "]}},\"allOf\":[");
    for (size_t i = 0; i < MEMBER_ACTIONS; i++)
        mwl__buf_printf(out,
                        "%s{\"if\":{\"required\":[\"action\"],\"properties\":{\"action\":{"
                        "\"const\":\"%s\"}}},\"then\":{\"$ref\":\"#/$defs/%s\"}}",
                        i ? "," : "", member_actions[i].name, def_names[member_actions[i].shape]);
    mwl__buf_puts(out, "]}");
}

static void put_schema(mwl__buf *out) {
    mwl__buf_puts(out, "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
                       "\"title\":\"A definition of the Metolia Workflow Language\","
                       "\"$ref\":\"#/$defs/ROOT\",\"$defs\":{\"ROOT\":");
    put_list(out, SHAPE_FLOW, true);
    for (unsigned i = 0; i < SHAPE_LISTS; i++) {
        mwl__buf_printf(out, ",\"%s\":", def_names[i]);
        put_list(out, (enum member_shape)i, false);
    }
    mwl__buf_puts(out, ",\"STEP\":");
    put_step(out);
    mwl__buf_puts(out, ",\"EXPRESSION\":{\"description\":\"A CEL expression between {{ and }}.\","
                       "\"type\":\"string\",\"pattern\":\"^[{][{][\\\\s\\\\S]*[}][}]$\"}}}");
}

int cmd_schema(int argc, char **argv) {
    const struct command_line line = {.head = head, .foot = foot, .operand = operand};
    int status = options_parse(&line, argc, argv);
    if (status != CMD_OK) return status;
    mwl_alloc alloc = mwl_alloc_default();
    mwl__buf text = mwl__buf_make(alloc), laid_out = mwl__buf_make(alloc);
    mwl__source source;
    mwl__diags sink;
    put_schema(&text);
    mwl__diags_init(&sink, alloc);
    mwl_status made = mwl__source_init(&source, alloc, "schema", text.data, text.len);
    if (made == MWL_OK) made = fmt_source(&source, alloc, &sink, &laid_out);
    if (text.failed || laid_out.failed) made = MWL_E_NOMEM;
    if (made == MWL_OK) fwrite(laid_out.data, 1, laid_out.len, stdout);
    mwl__source_free(&source);
    mwl__diags_free(&sink);
    mwl__buf_free(&laid_out);
    mwl__buf_free(&text);
    return cmd_status(made);
}
