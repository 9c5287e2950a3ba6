/* diag_codes.h: every diagnostic, once. Included with MWL_X defined, any number of times:
 *
 *     MWL_X(number, IDENT, "name", SEVERITY, "title", "explanation")
 *
 * The number is the digits of the code (301 is MWL0301) and never changes its meaning; the number
 * of a rule that was removed is not used again. --ignore and --deny accept the name. In order of
 * numbers:
 *
 *     01xx  JSON and the document        05xx  schemas
 *     02xx  members, types, forms        06xx  expressions
 *     03xx  names and the graph          07xx  certain to fail when it runs (warnings)
 *     04xx  providers and middleware     08xx  legal, and probably not meant (warnings)
 *
 * An explanation says what the rule is and why, then shows the mistake and its repair in lines that
 * are indented by four. */

/* ---- 01xx: JSON and the document ------------------------------------------------------------- */

MWL_X(101, JSON_SYNTAX, "json-syntax", ERROR, "The text is not JSON",
      "A definition is one JSON document as RFC 8259 describes it. Comments, trailing\n"
      "commas, single quotes, unquoted names, NaN and the like belong to other languages.\n"
      "Reading stops at the first such error, because what follows it cannot be trusted.\n\n"
      "    { \"entrypoint\": \"a\", }      a comma with nothing after it\n"
      "    { \"entrypoint\": \"a\" }       as it should be")

MWL_X(102, INVALID_UTF8, "invalid-utf8", ERROR, "The text is not UTF-8",
      "Definitions are UTF-8. Here are bytes that are not UTF-8. Often the file was saved as\n"
      "Latin-1 or UTF-16, or was cut in the middle of a character. Save it as UTF-8.")

MWL_X(103, BYTE_ORDER_MARK, "byte-order-mark", ERROR, "The text begins with a byte order mark",
      "RFC 8259 forbids a byte order mark before JSON text, and readers differ in what they\n"
      "make of one. Save the file as \"UTF-8\", not as \"UTF-8 with BOM\" or as UTF-16.")

MWL_X(104, DUPLICATE_MEMBER, "duplicate-member", ERROR, "A member name appears twice in one object",
      "Within one object every member name is unique. Many JSON readers keep only the last of two\n"
      "and do not report it, so a part of the definition would be lost. The language wants\n"
      "such a definition to be rejected. Names are compared after escapes are resolved: \"a\" and\n"
      "\"\\u0061\" are the same.\n\n"
      "    \"steps\": { \"load\": {...}, \"load\": {...} }    which one is meant?")

MWL_X(105, NESTED_TOO_DEEPLY, "nested-too-deeply", ERROR,
      "Arrays and objects are nested too deeply",
      "The number of containers inside each other is limited (512 unless the library was\n"
      "built with another bound), so that every walk over a definition needs a known amount\n"
      "of memory. Move inner Flows into the `flows` map and call them by name.")

MWL_X(106, NUMBER_OUT_OF_RANGE, "number-out-of-range", ERROR, "A number is too large for a double",
      "Numbers of the data model are finite IEEE 754 doubles, up to about 1.8e308. The\n"
      "number that was written would become infinity, which no JSON value can be.\n\n"
      "    \"limit\": 1e400")

MWL_X(107, LONE_SURROGATE, "lone-surrogate", ERROR, "An escape is one half of a surrogate pair",
      "Characters above U+FFFF are escaped as two \\u escapes: a high surrogate (D800 to\n"
      "DBFF), then a low one (DC00 to DFFF). One without the other is not a character and has\n"
      "no UTF-8 form.\n\n"
      "    \"\\ud83d\"           half a character\n"
      "    \"\\ud83d\\ude00\"     the whole of it")

MWL_X(108, DEFINITION_TOO_LARGE, "definition-too-large", ERROR, "The definition is too large",
      "A definition has a limit of bytes: 64 MiB unless the host allows more or less\n"
      "(mwl_asm_options). Data does not belong in a definition; pass it as input.")

MWL_X(109, IMPRECISE_NUMBER, "imprecise-number", WARNING, "An integer is not exact as a double",
      "Numbers are doubles. Integers beyond 2^53 (9007199254740992) may have no exact\n"
      "double, and the nearest one is taken. An identifier of that size belongs in a\n"
      "string.\n\n"
      "    \"id\": 12345678901234567891       becomes 12345678901234567000\n"
      "    \"id\": \"12345678901234567891\"     stays what it is")

MWL_X(110, ROOT_NOT_OBJECT, "root-not-object", ERROR, "The document is not an object",
      "The root of a definition is a Flow object; the root of a provider document is an\n"
      "object, too.\n\n"
      "    { \"$schema\": ..., \"entrypoint\": ..., \"steps\": ... }")

MWL_X(111, MISSING_SCHEMA_KEY, "missing-schema-key", ERROR, "The root has no $schema",
      "The root document says by which version of the language it was written. Without\n"
      "`$schema` an engine would have to guess.\n\n"
      "    \"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\"")

MWL_X(112, UNKNOWN_SCHEMA, "unknown-schema", ERROR, "$schema names no version this assembler knows",
      "The value is compared character by character. This assembler knows\n\n"
      "    https://mwl.dev/v0.1/flow/schema.json          for a definition\n"
      "    https://mwl.dev/v0.1/provider/schema.json      for a provider document")

MWL_X(113, MISPLACED_SCHEMA_KEY, "misplaced-schema-key", ERROR, "$schema is not at the root",
      "Only the root document carries `$schema`. Named and inline Flows are parts of that\n"
      "document and follow its version; remove the member there.")

MWL_X(114, ASSEMBLY_LIMIT, "assembly-limit", ERROR, "The definition needs too much to assemble",
      "Assembling has its own limits, so that a definition from somebody else cannot take\n"
      "any time and memory it likes: a number of units of work and a number of bytes. A host\n"
      "sets them in mwl_asm_options, the defaults are in mwl_config.h. The place is where the\n"
      "limit was reached, which need not be where most was used.")

/* ---- 02xx: members, types, forms ------------------------------------------------------------- */

MWL_X(201, UNKNOWN_MEMBER, "unknown-member", ERROR, "An object has a member it cannot have",
      "Every object of the language has a fixed set of members. An unknown one is most\n"
      "often a typing mistake whose effect would be silent: the field that was meant would\n"
      "keep its default.\n\n"
      "    { \"action\": \"Pass\", \"ouput\": 1, \"next\": \"b\" }      `output` is meant\n\n"
      "Documentation has its own place, the `comment` member.")

MWL_X(202, MISSING_MEMBER, "missing-member", ERROR, "A required member is missing",
      "A Flow needs `entrypoint` and `steps`; a Step `action`; a Call Step `call`; a Match\n"
      "`cases` and `default`; a clause `next`, and in `catch` also `match`; a middleware\n"
      "entry `provider`; a completion policy `successes`.\n\n"
      "    { \"action\": \"Match\", \"cases\": [] }                               no default\n"
      "    { \"action\": \"Match\", \"cases\": [], \"default\": { \"next\": \"b\" } }    complete")

MWL_X(203, WRONG_TYPE, "wrong-type", ERROR, "A member has a value of the wrong type",
      "The language fixes the type of its structural members: names are strings, `steps`\n"
      "and `flows` are objects, `cases`, `catch` and `middleware` are arrays, `wait` is a\n"
      "boolean.\n\n"
      "    \"catch\": { \"match\": ..., \"next\": \"b\" }         an object\n"
      "    \"catch\": [ { \"match\": ..., \"next\": \"b\" } ]     the array that is meant")

MWL_X(204, EXPRESSION_NOT_ALLOWED, "expression-not-allowed", ERROR,
      "An expression in a structural member",
      "What decides the shape of a workflow is read before any data exists: `action`,\n"
      "`provider`, `flow`, `next`, `entrypoint`, `match`, `concurrency`, `wait` and all\n"
      "names. These take no expression. Route on data with a Match Step instead.\n\n"
      "    \"next\": \"{{ vars.target }}\"      not possible: the graph is fixed")

MWL_X(205, UNKNOWN_ACTION, "unknown-action", ERROR, "A Step names an action that does not exist",
      "The seven actions are Call, Gather, Match, Pass, Sleep, Return and Raise, written\n"
      "exactly so.\n\n"
      "    \"action\": \"call\"      the first letter is a capital: Call")

MWL_X(206, MEMBER_NOT_OF_ACTION, "member-not-of-action", ERROR,
      "A Step has a member that its action does not carry",
      "Each action has its own set of members. Only Call and Gather have `catch`, only Call\n"
      "has `middleware`, only Call and Match have `input`; Return and Raise end the Flow\n"
      "and so have no `next`; a Match shapes and routes in its clauses.\n\n"
      "    { \"action\": \"Gather\", ..., \"middleware\": [...] }\n\n"
      "To wrap the dispatches of a Gather, let them call a Flow and put the middleware\n"
      "there.")

MWL_X(207, CALL_WITHOUT_TARGET, "call-without-target", ERROR, "A call names no target",
      "A call has exactly one target: `provider`, a provider's URI, or `flow`, the name of\n"
      "a Flow or a Flow written in place.\n\n"
      "    \"call\": { \"with\": { \"path\": \"/a\" } }            of what?\n"
      "    \"call\": { \"flow\": \"Fetch\", \"with\": {...} }")

MWL_X(208, CALL_WITH_TWO_TARGETS, "call-with-two-targets", ERROR, "A call names two targets",
      "A call has exactly one target, `provider` or `flow`. To run both, use two Steps, or\n"
      "a Gather with two entries in `calls`.")

MWL_X(209, GATHER_WITHOUT_FORM, "gather-without-form", ERROR, "A Gather says nothing to gather",
      "A Gather has one of two forms: `over` together with `call` dispatches once per\n"
      "element, `calls` once per entry. Neither is there, or only one half of the first.\n\n"
      "    { \"action\": \"Gather\", \"over\": \"{{ step.input }}\", ... }      `call` is missing")

MWL_X(210, GATHER_WITH_TWO_FORMS, "gather-with-two-forms", ERROR, "A Gather has both forms at once",
      "`over` with `call`, or `calls`: never both. Decide which one describes the work; a\n"
      "Flow that needs both makes two Gathers.")

MWL_X(211, SLEEP_WITHOUT_TIME, "sleep-without-time", ERROR, "A Sleep has neither `for` nor `until`",
      "A Sleep needs to know when to end: `for`, a duration, or `until`, a timestamp.\n\n"
      "    { \"action\": \"Sleep\", \"for\": \"PT30S\", \"next\": \"poll\" }")

MWL_X(212, SLEEP_WITH_TWO_TIMES, "sleep-with-two-times", ERROR,
      "A Sleep has both `for` and `until`",
      "Exactly one of the two is written. To wait for the later or the earlier of two\n"
      "instants, compute it in an expression for `until`.")

MWL_X(213, EMPTY_CALLS, "empty-calls", ERROR, "The `calls` of a Gather are empty",
      "A fan-out that is written down and dispatches nothing is a mistake, and the\n"
      "definition is ill-formed. (An `over` that yields an empty array at run time is\n"
      "fine.)\n\n"
      "    { \"action\": \"Gather\", \"calls\": [], \"next\": \"b\" }")

MWL_X(214, INVALID_CONCURRENCY, "invalid-concurrency", ERROR,
      "`concurrency` is not a positive integer",
      "The cap on dispatches at one time is a whole number from 1 on, or null for no cap.\n"
      "With 0 nothing could ever start.\n\n"
      "    \"concurrency\": 0       leave the member out, or write null, for no cap")

MWL_X(215, EMPTY_MATCHER, "empty-matcher", ERROR, "A failure matcher has no member",
      "A matcher has at least one of `codes`, `types` and `retryable`. To match every\n"
      "failure, say so:\n\n"
      "    \"match\": { \"codes\": [\"*\"] }")

MWL_X(216, EMPTY_MATCHER_LIST, "empty-matcher-list", ERROR, "A matcher's list is empty",
      "`codes` and `types` match when any of their entries does; an empty list could match\n"
      "nothing. Leave the member out to let it match everything, or name what it should\n"
      "match.\n\n"
      "    \"match\": { \"types\": [], \"codes\": [\"System.*\"] }")

MWL_X(217, SUCCESS_IN_MATCHER, "success-in-matcher", ERROR, "A matcher names the type `success`",
      "Matchers choose among failures, and no success ever reaches one. What should happen\n"
      "on success is written in `next`, `output` and `assign`, or in an `onSuccess` block.\n\n"
      "    \"match\": { \"types\": [\"success\", \"timeout\"] }")

MWL_X(218, INVALID_CODE_PATTERN, "invalid-code-pattern", ERROR, "A code pattern is malformed",
      "A pattern is an exact code, a prefix of whole segments followed by `.*`, or `*`\n"
      "alone. An asterisk at another place is not a pattern.\n\n"
      "    \"Provider.*.Throttled\"    no\n"
      "    \"Provider.Call.*\"         yes")

MWL_X(219, RAISE_WITHOUT_CODE, "raise-without-code", ERROR, "The result of a Raise has no code",
      "A Raise builds its failure from nothing, so it must say which: `code` is required in\n"
      "`result`. Without any `result` the Step raises the failure again that is being\n"
      "handled.\n\n"
      "    { \"action\": \"Raise\", \"result\": { \"code\": \"Order.Rejected\" } }\n"
      "    { \"action\": \"Raise\" }")

MWL_X(220, FAILURE_OF_TYPE_SUCCESS, "failure-of-type-success", ERROR,
      "A failure is given the type `success`",
      "Raise and `onFailure` make failures; none of them can turn into a success. To\n"
      "complete with a value, route to a Return.\n\n"
      "    \"result\": { \"type\": \"success\", \"code\": \"Done\" }")

MWL_X(221, WHEN_ON_DEFAULT, "when-on-default", ERROR, "The `default` of a Match has a `when`",
      "`default` is what happens when no case holds, so there is nothing to test. A further\n"
      "condition is one more case.\n\n"
      "    \"default\": { \"when\": \"{{ true }}\", \"next\": \"b\" }")

MWL_X(222, LITERAL_CASE, "literal-case", ERROR, "The `when` of a case is not an expression",
      "A case is chosen by what its expression yields. A literal would choose it always or\n"
      "never, and the language does not accept one there.\n\n"
      "    { \"when\": true, \"next\": \"b\" }      write a default instead\n"
      "    { \"when\": \"{{ match.input.total > 10.0 }}\", \"next\": \"b\" }")

MWL_X(223, EMPTY_STEPS, "empty-steps", ERROR, "A Flow has no Steps",
      "A Flow begins at its entrypoint, so there is at least one Step. The smallest Flow is\n\n"
      "    { \"entrypoint\": \"done\", \"steps\": { \"done\": { \"action\": \"Return\" } } }")

/* ---- 03xx: names and the graph --------------------------------------------------------------- */

MWL_X(301, UNKNOWN_STEP, "unknown-step", ERROR, "No Step of this Flow has this name",
      "`entrypoint` and `next` name Steps of the same `steps` map, exactly as they are\n"
      "written there. A Step of an outer, inner or neighbouring Flow cannot be reached:\n"
      "crossing between Flows is a call.\n\n"
      "    \"entrypoint\": \"strat\", \"steps\": { \"start\": {...} }")

MWL_X(302, UNKNOWN_FLOW, "unknown-flow", ERROR, "No Flow of this name is in scope",
      "A name in `flow` is looked up in the `flows` of the Flow that holds the call, then\n"
      "in those of the Flows around it, out to the root. The `flows` of a caller or of a\n"
      "neighbour are not searched.\n\n"
      "    \"call\": { \"flow\": \"Proces\" }      with \"flows\": { \"Process\": {...} }")

MWL_X(303, STEP_WITHOUT_EXIT, "step-without-exit", ERROR, "A Step has no exit path",
      "Call, Gather, Pass and Sleep go on to the Step in `next`; Return and Raise end the\n"
      "Flow; a Match goes on in its clauses. A Step that can do neither would leave the\n"
      "Flow without an end.\n\n"
      "    { \"action\": \"Pass\" }                      where to?\n"
      "    { \"action\": \"Pass\", \"next\": \"done\" }")

MWL_X(304, FLOW_CYCLE, "flow-cycle", ERROR, "Flows call each other in a circle",
      "No Flow may reach itself through calls, neither directly nor through others; cleanup\n"
      "calls of middleware count, too. Repetition is a `next` that goes back within one\n"
      "Flow, or the Loop middleware.\n\n"
      "    \"flows\": { \"A\": { ... \"call\": { \"flow\": \"B\" } ... },\n"
      "               \"B\": { ... \"call\": { \"flow\": \"A\" } ... } }")

/* ---- 04xx: providers and middleware ---------------------------------------------------------- */

MWL_X(401, MALFORMED_PROVIDER_URI, "malformed-provider-uri", ERROR, "A provider URI is malformed",
      "A provider is named `mwl:<type>/<namespace>/<name...>`. Every segment has letters,\n"
      "digits, `-`, `_` and `.`, and is neither `.` nor `..`; there is no `//`, no query,\n"
      "no fragment and no percent encoding.\n\n"
      "    mwl://provider.call/acme/http/v1      no\n"
      "    mwl:provider.call/acme/http/v1        yes")

MWL_X(402, UNKNOWN_URI_SCHEME, "unknown-uri-scheme", ERROR, "A provider URI has another scheme",
      "This version of the language defines one scheme, `mwl`, written in lower case.\n\n"
      "    \"provider\": \"https://example.com/http\"")

MWL_X(403, UNKNOWN_PROVIDER_TYPE, "unknown-provider-type", ERROR,
      "A provider URI has an unknown type",
      "The first part of the URI is `provider.call` or `provider.middleware`.\n\n"
      "    mwl:provider.function/acme/http/v1")

MWL_X(404, WRONG_PROVIDER_TYPE, "wrong-provider-type", ERROR,
      "A provider of the wrong type for its place",
      "A call needs a provider of type `provider.call`, a middleware entry one of type\n"
      "`provider.middleware`.\n\n"
      "    \"call\": { \"provider\": \"mwl:provider.middleware/mwl/retry/v1\" }\n\n"
      "To retry a call, put the entry into the Step's `middleware`.")

MWL_X(405, UNKNOWN_PROVIDER, "unknown-provider", ERROR, "The catalog has no such provider",
      "A URI is compared as a whole, version and case included, with the catalog: the\n"
      "providers that are built in and those whose documents were given with --provider\n"
      "FILE. The namespace `example` is for documentation and never holds a real provider.")

MWL_X(406, MISPLACED_MIDDLEWARE, "misplaced-middleware", ERROR,
      "A middleware at a level where it may not stand",
      "A middleware's document says where it attaches: around the call of a Step, around a\n"
      "whole Flow, or both. This one does not attach here. Move it to the other level, or\n"
      "choose another.")

MWL_X(407, LOOP_WITHOUT_WHEN, "loop-without-when", ERROR, "A Loop has no onSuccess.when",
      "`onSuccess.when` is what ends a Loop. Left out it would be true, and the Loop could\n"
      "not end; so it must be written.\n\n"
      "    { \"provider\": \"mwl:provider.middleware/mwl/loop/v1\",\n"
      "      \"onSuccess\": { \"when\": \"{{ middleware.metadata.iteration < 10.0 }}\" } }")

MWL_X(408, COMPUTED_STRUCTURE, "computed-structure", ERROR,
      "A structural parameter is not written out",
      "Some parameters are definitions, not values: the `call` and `middleware` of Finally.\n"
      "They are compiled with the Flow, so they stand in `with` as they are; neither they\n"
      "nor the whole `with` can be the result of an expression.\n\n"
      "    \"onAlways\": { \"with\": \"{{ vars.cleanup }}\" }                     no\n"
      "    \"onAlways\": { \"with\": { \"call\": { \"flow\": \"CleanUp\" } } }      yes")

MWL_X(409, INVALID_PROVIDER_DOCUMENT, "invalid-provider-document", ERROR,
      "A provider document breaks the provider schema",
      "A provider is described by a document with its `uri`, `codePrefix`, failure catalog,\n"
      "schemas and metadata, as https://mwl.dev/v0.1/provider/schema.json asks for; a call\n"
      "provider has `parameters`, a middleware has `phases` and `attachment`.")

MWL_X(410, RESERVED_NAMESPACE, "reserved-namespace", ERROR, "A provider in a reserved namespace",
      "The namespace `mwl` belongs to the language's own providers, and `example` to\n"
      "documentation. A provider of yours lives in a namespace of yours.\n\n"
      "    mwl:provider.call/mwl/http/v1       no\n"
      "    mwl:provider.call/acme/http/v1      yes")

MWL_X(411, PROVIDER_REDEFINED, "provider-redefined", ERROR, "Two documents define one provider",
      "A URI is the identity of a provider; the catalog holds it once. Give the second one\n"
      "another name or another version segment.")

MWL_X(412, RESERVED_METADATA, "reserved-metadata", ERROR,
      "Contributed metadata uses a reserved name",
      "`enteredAt` and `exitedAt` are in every metadata record already. A middleware cannot\n"
      "contribute members of these names.")

/* ---- 05xx: schemas --------------------------------------------------------------------------- */

MWL_X(501, PARAMETERS_NOT_OBJECT, "parameters-not-object", ERROR,
      "A parameter schema is not of type object",
      "Arguments are an object with one member per parameter, so the schema says `\"type\":\n"
      "\"object\"` at its top and lists the parameters in `properties`.\n\n"
      "    \"parameters\": { \"limit\": { \"type\": \"number\" } }\n"
      "    \"parameters\": { \"type\": \"object\", \"properties\": { \"limit\": ... } }")

MWL_X(502, INVALID_SCHEMA, "invalid-schema", ERROR, "A schema is not valid JSON Schema",
      "Schemas are JSON Schema 2020-12. A keyword has a value that it cannot have.\n\n"
      "    { \"type\": \"text\" }                  the type is `string`\n"
      "    { \"required\": \"name\" }              an array of names is needed")

MWL_X(503, UNRESOLVED_REFERENCE, "unresolved-reference", ERROR, "A schema reference leads nowhere",
      "A `$ref` or `$dynamicRef` names a place inside the same schema (`#/$defs/item`, an\n"
      "`$anchor`, an `$id` within it) or a published meta-schema. Nothing is fetched from\n"
      "the network.")

MWL_X(504, UNSUPPORTED_DIALECT, "unsupported-dialect", ERROR, "A schema is of another dialect",
      "Every schema is evaluated as JSON Schema 2020-12. A `$schema` inside `parameters`\n"
      "may say just that, and nothing else:\n\n"
      "    https://json-schema.org/draft/2020-12/schema")

MWL_X(505, INVALID_PATTERN, "invalid-pattern", ERROR, "A regular expression does not compile",
      "`pattern` and the names in `patternProperties` are regular expressions of ECMA-262.\n\n"
      "    \"pattern\": \"^[a-z\"       the bracket is not closed")

MWL_X(506, DEFAULT_MISMATCH, "default-mismatch", WARNING, "A default breaks its own schema",
      "A `default` is bound as it is when the caller does not give the parameter. This one\n"
      "would be refused if the caller gave it.\n\n"
      "    \"limit\": { \"type\": \"number\", \"default\": \"ten\" }")

MWL_X(507, REQUIRED_UNDECLARED, "required-undeclared", WARNING,
      "A required parameter is not declared",
      "`required` names a parameter that `properties` does not have. Since undeclared\n"
      "arguments are refused, no call can ever satisfy this schema.\n\n"
      "    \"properties\": { \"limit\": {} }, \"required\": [\"limits\"]")

MWL_X(508, UNKNOWN_KEYWORD, "unknown-keyword", WARNING, "A schema has an unknown keyword",
      "JSON Schema ignores keywords that it does not know, so a typing mistake silently\n"
      "allows everything.\n\n"
      "    { \"type\": \"string\", \"maxlength\": 10 }      `maxLength` is meant")

MWL_X(509, UNKNOWN_FORMAT, "unknown-format", WARNING, "A schema names an unknown format",
      "`format` is checked here, not only noted; but a format that is not known accepts\n"
      "every value.\n\n"
      "    { \"type\": \"string\", \"format\": \"datetime\" }      `date-time` is meant")

/* ---- 06xx: expressions ----------------------------------------------------------------------- */

MWL_X(601, EXPRESSION_SYNTAX, "expression-syntax", ERROR, "An expression does not parse",
      "The text between `{{` and `}}` is one CEL expression.\n\n"
      "    \"{{ vars.a + }}\"             something is missing after the operator\n"
      "    \"{{ vars.a = 1 }}\"           equality is written ==")

MWL_X(602, EMPTY_EXPRESSION, "empty-expression", ERROR, "An expression has no body",
      "There is nothing between `{{` and `}}`. For an empty string write \"\"; for a null\n"
      "write null.")

MWL_X(603, UNCLOSED_EXPRESSION, "unclosed-expression", ERROR,
      "An expression's strings or brackets do not close",
      "A value that begins with `{{` and ends with `}}` is an expression. In this one a\n"
      "string or a bracket is still open where the value ends, so the closing pair belongs\n"
      "to it.\n\n"
      "    \"{{ size(vars.items }}\"\n"
      "    \"{{ 'it's here' }}\"            escape the quote: 'it\\\\'s here'")

MWL_X(604, UNKNOWN_NAME, "unknown-name", ERROR, "An expression uses a name that means nothing",
      "The roots are vars, execution, frame, step, call, flow, provider, match, middleware\n"
      "and failure; data is a member of one of these. Names bound by a macro live inside\n"
      "that macro.\n\n"
      "    \"{{ limit + 1.0 }}\"            not defined\n"
      "    \"{{ vars.limit + 1.0 }}\"       a variable")

MWL_X(605, ROOT_OUT_OF_SCOPE, "root-out-of-scope", ERROR, "A root is not in scope at this place",
      "`vars`, `execution`, `frame` and `failure` can be read everywhere in a Flow; `step`\n"
      "in a Step and its own middleware; `call` in a call's members; `flow` and `provider`\n"
      "in the arms of a call with that target; `match` in the clauses of a Match;\n"
      "`middleware` in a middleware's phases.\n\n"
      "    \"output\": \"{{ call.result.value }}\"      on a Step: use step.result.value")

MWL_X(606, UNKNOWN_FUNCTION, "unknown-function", ERROR, "An expression calls an unknown function",
      "Functions are those of CEL, its extension libraries and of this language (toJson,\n"
      "fromJson, durationToIso8601, durationFromIso8601, now, wallTime). Some are called on\n"
      "a value: `x.size()`, `s.split(',')`.\n\n"
      "    \"{{ len(vars.items) }}\"       the function is size")

MWL_X(607, WRONG_ARGUMENTS, "wrong-arguments", ERROR, "No form of a function takes these arguments",
      "The function exists, but not with this number of arguments, or not called on a\n"
      "value.\n\n"
      "    \"{{ size(vars.a, vars.b) }}\"\n"
      "    \"{{ startsWith(vars.s, 'a') }}\"      it is vars.s.startsWith('a')")

MWL_X(608, INVALID_MACRO, "invalid-macro", ERROR, "A macro is used wrongly",
      "`has` takes a member selection; `all`, `exists`, `exists_one`, `map` and `filter`\n"
      "take a plain name for the element first.\n\n"
      "    \"{{ has(vars) }}\"                          has(vars.limit)\n"
      "    \"{{ vars.items.map(x.id, x) }}\"            vars.items.map(x, x.id)")

MWL_X(609, INVALID_LITERAL, "invalid-literal", ERROR, "A literal in an expression is not valid",
      "An integer must fit 64 bits, a string's escapes must be those of CEL, bytes and\n"
      "characters must be in range.\n\n"
      "    \"{{ 9223372036854775808 }}\"      one too many: write 9223372036854775808u or a double")

MWL_X(610, EXPRESSION_TOO_LARGE, "expression-too-large", ERROR,
      "An expression is too large or deep",
      "Nesting inside an expression and the registers it needs are limited, so that\n"
      "evaluation has a known cost. Split it: assign a part to a variable in an earlier\n"
      "Step.")

MWL_X(611, UNKNOWN_TYPE, "unknown-type", ERROR, "An expression constructs an unknown type",
      "Data is JSON: maps and lists are written `{'a': 1}` and `[1, 2]`. Protocol buffer\n"
      "messages do not exist here.\n\n"
      "    \"{{ Order{id: 1} }}\"       write {'id': 1}")

/* ---- 07xx: certain to fail when it runs ------------------------------------------------------ */

MWL_X(701, INVALID_ARGUMENTS, "invalid-arguments", WARNING, "A literal argument breaks its schema",
      "The arguments are checked when the call or the phase runs, and this one is refused\n"
      "then with System.ParameterValidationFailed. The language makes it a failure at run\n"
      "time, which a `catch` can handle, so the definition is accepted.\n\n"
      "    \"with\": { \"attempts\": 0 }       the schema asks for at least 1")

MWL_X(702, UNDECLARED_ARGUMENT, "undeclared-argument", WARNING, "An argument is not declared",
      "Parameter schemas are closed unless they say otherwise: an argument that they do not\n"
      "name is refused with System.ParameterValidationFailed. A Flow without `parameters`\n"
      "takes none.\n\n"
      "    \"with\": { \"durations\": \"PT1M\" }      the parameter is `duration`")

MWL_X(703, MISSING_ARGUMENT, "missing-argument", WARNING, "A required argument is not given",
      "The target's schema requires a parameter that `with` does not have. The call fails\n"
      "with System.ParameterValidationFailed whenever it runs.")

MWL_X(704, INVALID_DURATION, "invalid-duration", WARNING, "A literal is not an ISO 8601 duration",
      "Durations are written P[nY][nM][nW][nD][T[nH][nM][nS]].\n\n"
      "    \"30s\"       PT30S\n"
      "    \"P5M\"       five months; five minutes are PT5M")

MWL_X(705, INVALID_TIMESTAMP, "invalid-timestamp", WARNING,
      "A literal is not an RFC 3339 timestamp",
      "Timestamps have a date, a `T`, a time with seconds, and an offset or `Z`.\n\n"
      "    \"2026-01-31 12:00\"           \"2026-01-31T12:00:00Z\"")

MWL_X(706, MEMBER_NEVER_THERE, "member-never-there", WARNING,
      "A member can never be there at this place",
      "Some members come into being later than this expression is evaluated, and reading\n"
      "one that is absent faults: `middleware.result` in onEntry, `step.results` inside the\n"
      "fan-out that fills it, `step.result` before the action, `call.index` outside a\n"
      "Gather. `has()` of it is always false.\n\n"
      "    \"onEntry\": { \"output\": \"{{ middleware.result.value }}\" }")

MWL_X(707, EXPRESSION_ALWAYS_FAULTS, "expression-always-faults", WARNING,
      "An expression always faults",
      "Part of this expression is constant and its evaluation fails, each time with\n"
      "System.ExpressionEvaluationError. Or an operator does not take what it is given:\n"
      "a variable is what its parameter declares and what the Flow assigns to it.\n\n"
      "    \"{{ 1 / 0 }}\"\n"
      "    \"{{ int('seven') }}\"\n"
      "    \"{{ 'number ' + vars.count }}\"       'number ' + string(vars.count)")

MWL_X(708, UNREPRESENTABLE_RESULT, "unrepresentable-result", WARNING,
      "An expression yields what JSON cannot hold",
      "Bytes, timestamps, durations, non-finite doubles, integers beyond 2^53 and maps\n"
      "whose keys are not strings have no JSON form; such a result is\n"
      "System.UnrepresentableValue. Convert it.\n\n"
      "    \"{{ now() }}\"                string(now())\n"
      "    \"{{ duration('5m') }}\"       durationToIso8601(duration('5m'))")

MWL_X(709, MIXED_NUMBERS, "mixed-numbers", WARNING, "Arithmetic between a double and an int",
      "Every number that comes from data is a double, a literal without a point is an int,\n"
      "and CEL has no arithmetic between the two: the expression faults. Comparisons are\n"
      "fine.\n\n"
      "    \"{{ vars.count + 1 }}\"       vars.count + 1.0")

MWL_X(710, NON_BOOLEAN_CONDITION, "non-boolean-condition", WARNING,
      "The value of a condition is not a boolean",
      "A `when` that yields something else than true or false is\n"
      "System.ExpressionEvaluationError; nothing is converted.\n\n"
      "    \"when\": \"{{ size(vars.items) }}\"       size(vars.items) > 0")

MWL_X(711, OVER_NOT_ARRAY, "over-not-array", WARNING, "The `over` of a Gather is not an array",
      "A Gather dispatches once per element of an array. Another value fails the Step with\n"
      "System.ParameterValidationFailed.\n\n"
      "    \"over\": \"{{ size(step.input) }}\"       lists.range(size(step.input))")

MWL_X(712, INVALID_SUCCESSES, "invalid-successes", WARNING, "`successes` can never be satisfied",
      "`successes` is an integer, and not above the number of dispatches. The Gather fails\n"
      "each time: with System.ParameterValidationFailed, or with\n"
      "System.GatherCompletionUnmet.\n\n"
      "    \"calls\": [a, b], \"completion\": { \"successes\": 3 }")

MWL_X(713, INVALID_ENVELOPE, "invalid-envelope", WARNING, "A field of a failure has the wrong type",
      "In a failure `type`, `code` and `message` are strings, `retryable` is true, false or\n"
      "null, and `previous` is a failure or null.\n\n"
      "    \"result\": { \"code\": \"A.B\", \"retryable\": \"yes\" }")

MWL_X(714, FINALLY_WITHOUT_CALL, "finally-without-call", WARNING, "A Finally has no call",
      "The cleanup that a Finally dispatches is the `call` in its `onAlways.with`. Without\n"
      "one the phase fails when it runs, and that failure replaces the Result in flight.\n\n"
      "    \"onAlways\": { \"with\": { \"call\": { \"flow\": \"CleanUp\" } } }")

MWL_X(715, EMPTY_RAISE, "empty-raise", WARNING, "A bare Raise without a failure to raise",
      "A Raise without `result` raises the failure that is being handled. No path from a\n"
      "`catch` leads to this Step without a successful Step in between, which ends the\n"
      "handling; so it always completes with System.EmptyRaise.")

MWL_X(716, INVALID_REGEX, "invalid-regex", WARNING, "The pattern of `matches` does not compile",
      "Patterns of CEL's `matches` have RE2's syntax, which has no look-around and no back\n"
      "references. The expression faults each time.\n\n"
      "    \"{{ vars.s.matches('a(?=b)') }}\"")

MWL_X(717, NO_FAILURE_HERE, "no-failure-here", WARNING, "`failure` is null where it is read",
      "`failure` is the failure that is being handled. It is set in the clauses of `catch`\n"
      "and in the Step that a clause leads to; the first Step that succeeds clears it. Where\n"
      "it is null, it has no members, and reading one faults. In the onFailure phase of a\n"
      "middleware the rising failure is `middleware.result`, in the failure arm of a call it\n"
      "is `call.result`.\n\n"
      "    \"onFailure\": { \"assign\": { \"why\": \"{{ failure.code }}\" } }              no\n"
      "    \"onFailure\": { \"assign\": { \"why\": \"{{ middleware.result.code }}\" } }    yes")

MWL_X(718, MEMBER_MAY_BE_ABSENT, "member-may-be-absent", WARNING,
      "An absent member is a fault, not null",
      "Reading a member that is absent faults, and so does has() of a member of it. Many\n"
      "failures have no `details`, and a response may leave a member out. `.?` does not fault\n"
      "if the member is absent.\n\n"
      "    has(middleware.result.details.retryAfter)\n"
      "        middleware.result.?details.?retryAfter.hasValue()\n"
      "    middleware.result.value.nextCursor != null\n"
      "        middleware.result.value.?nextCursor.orValue(null) != null")

/* ---- 08xx: legal, and probably not meant ----------------------------------------------------- */

MWL_X(801, UNREACHABLE_CATCH, "unreachable-catch", WARNING, "A catch clause can never be chosen",
      "Clauses are tried in order, and an earlier one matches everything that this one\n"
      "could. Put the narrower clause first.\n\n"
      "    \"catch\": [ { \"match\": { \"codes\": [\"*\"] }, ... },\n"
      "               { \"match\": { \"codes\": [\"Order.*\"] }, ... } ]")

MWL_X(802, UNREACHABLE_CASE, "unreachable-case", WARNING, "A case of a Match can never be chosen",
      "An earlier case has the same condition, or one that is always true; or this one is\n"
      "never true.\n\n"
      "    { \"when\": \"{{ true }}\", \"next\": \"a\" }, { \"when\": ..., \"next\": \"b\" }")

MWL_X(803, UNREACHABLE_STEP, "unreachable-step", WARNING, "No path leads to a Step",
      "From the entrypoint, along every `next`, clause and `catch`, this Step is never\n"
      "reached. Remove it, or route to it.")

MWL_X(804, NESTED_RETRY, "nested-retry", WARNING, "A Retry or a Loop inside another",
      "Runs multiply: three attempts inside five are up to fifteen runs of the innermost\n"
      "work, and one more layer multiplies again. A Loop counts as a Retry does. Retry at\n"
      "one level, and let the other pass failures on. Where a Loop is meant to run an inner\n"
      "Retry again, limit the runs of both.\n\n"
      "    Flow middleware: Retry, 5 attempts\n"
      "      Step middleware: Retry, 3 attempts      up to 15 calls")

MWL_X(805, TIMEOUT_ORDER, "timeout-order", WARNING, "A Timeout that looks out of order",
      "Outside a Retry or a Loop a Timeout bounds all runs together; inside it bounds each\n"
      "run anew. Here the inner bound is not shorter than the outer one, or a bound shorter\n"
      "than one backoff stands around a Retry: the inner entry cannot do its work.\n\n"
      "    \"middleware\": [ Timeout PT10S, Retry 3 attempts with backoff PT30S ]")

MWL_X(806, SHADOWED_FLOW, "shadowed-flow", WARNING, "A Flow hides another of the same name",
      "An inner `flows` entry has the name of an entry further out; calls inside mean the\n"
      "inner one. That is legal, and easily misread: give one of them another name.")

MWL_X(807, RESERVED_CODE, "reserved-code", WARNING, "A failure code that belongs to someone else",
      "Codes that begin with `System.` are the engine's and `Provider.` those of providers.\n"
      "A failure made by the workflow under such a code misleads everyone who reads or matches\n"
      "it.\n\n"
      "    \"code\": \"System.Rejected\"       \"Order.Rejected\"")

MWL_X(808, UNDECLARED_CODE, "undeclared-code", WARNING, "Nothing here can fail with this code",
      "A pattern matches none of the codes that can reach it: those declared by the\n"
      "providers involved, by the middleware, by the engine, and those raised by the Flow\n"
      "that is called.\n\n"
      "    \"codes\": [\"Provider.Call.Htpp.*\"]")

MWL_X(809, UNUSED_PARAMETER, "unused-parameter", WARNING, "A parameter is never read",
      "No expression of the Flow reads `vars` by this name, nor `vars` as a whole. Remove\n"
      "the parameter, or use it.")

MWL_X(810, UNBOUND_VARIABLE, "unbound-variable", WARNING, "A variable is read that nothing binds",
      "No parameter and no `assign` of this Flow has this name, or none that can have run\n"
      "before: so reading it faults. What a Step assigns is there for the Steps after it, and\n"
      "not for its own `input`, `call` or `output`. Each Flow has its own variables: a caller's\n"
      "are not visible, pass them in `with`.\n\n"
      "    \"assign\": { \"total\": ... }     then     \"{{ vars.totl }}\"")

MWL_X(811, UNUSED_FLOW, "unused-flow", WARNING, "A named Flow is never called",
      "No call in its scope names this entry of `flows`.")

MWL_X(812, ENDLESS_GRAPH, "endless-graph", WARNING, "Steps that can never reach an end",
      "From this Step every path goes in a circle: no Return and no Raise can be reached,\n"
      "so only a failure or an interruption ends the Flow.\n\n"
      "    \"a\": { \"action\": \"Pass\", \"next\": \"b\" },\n"
      "    \"b\": { \"action\": \"Pass\", \"next\": \"a\" }")

MWL_X(813, TEMPLATE_LITERAL, "template-literal", WARNING, "A literal looks like a template",
      "An expression takes up the whole value. A text with `{{ }}` somewhere inside is a\n"
      "literal, braces and all. Build the text in one expression.\n\n"
      "    \"/orders/{{ vars.id }}\"             stays as it is written\n"
      "    \"{{ '/orders/' + vars.id }}\"        is computed")

MWL_X(814, LOWERCASE_TYPE, "lowercase-type", WARNING, "A failure type in lower case of one's own",
      "The types in lower case (error, cancellation, timeout, skipped) are the language's,\n"
      "and later versions may add to them. Your own types are written in PascalCase.\n\n"
      "    \"type\": \"rejected\"       \"Rejected\"")

MWL_X(815, CATCH_EVALUATION_ERROR, "catch-evaluation-error", WARNING,
      "A clause catches evaluation errors",
      "System.ExpressionEvaluationError means a mistake in an expression, or of data\n"
      "that does not have the form it was thought to have. Guard the expression with has()\n"
      "or a conditional instead of catching its fault.")

MWL_X(816, WHEN_WITHOUT_ACTION, "when-without-action", WARNING, "A `when` that gates nothing",
      "`when` decides whether the middleware acts in that phase, and this middleware has no\n"
      "action there. So the condition has no effect: it is not even evaluated. Shaping and\n"
      "`assign` happen regardless of it.\n\n"
      "    { \"provider\": \"...timeout/v1\", \"onFailure\": { \"when\": ... } }")

MWL_X(817, CONSTANT_CONDITION, "constant-condition", WARNING, "A condition is always true or never",
      "The condition reads no data, so it says the same each time.\n\n"
      "    \"when\": \"{{ 1 == 1 }}\"")

MWL_X(818, SINGLE_ATTEMPT, "single-attempt", WARNING, "A Retry policy that never retries",
      "`attempts` counts the first run, too. With 1 there is no retry, and the failure\n"
      "comes back as Provider.Middleware.Retry.Exhausted.\n\n"
      "    \"attempts\": 1       2 for one retry")

MWL_X(819, ENDLESS_LOOP, "endless-loop", WARNING, "A Loop that never ends by itself",
      "`onSuccess.when` is always true, so only a failure or an outer bound ends the Loop.\n"
      "Let it test the Result, a variable or `middleware.metadata.iteration`.")

MWL_X(820, PERHAPS_UNBOUND, "perhaps-unbound", WARNING, "A variable may be read before it is bound",
      "A `catch` leads here past the `assign` that would bind the variable: the assign of a\n"
      "Step takes effect when the Step succeeds. When that way is taken, reading the variable\n"
      "faults. Assign it in the clause too, give it a value in an earlier Step, or guard the\n"
      "read.\n\n"
      "    \"{{ has(vars.total) ? vars.total : 0.0 }}\"")

MWL_X(821, ROOT_IN_VARIABLE, "root-in-variable", WARNING, "A variable's name repeats its root",
      "The members of `assign` are names. `\"vars.count\"` binds a variable with a dot in its\n"
      "name, which no `vars.count` reads.\n\n"
      "    \"assign\": { \"vars.count\": 1 }      no\n"
      "    \"assign\": { \"count\": 1 }           yes")

MWL_X(822, UNDECLARED_TYPE, "undeclared-type", WARNING,
      "A matcher names a type that does not exist",
      "The types of the language are in lower case: error, cancellation, timeout and\n"
      "skipped. A workflow's own types begin with a capital. This one is neither, or it is\n"
      "one of the language's with a capital, so the matcher probably matches nothing.\n\n"
      "    \"match\": { \"types\": [\"Timeout\"] }      \"timeout\" is meant")
