/* check_guide.h: texts for people: the explanations of all diagnostics, and the words of other
 * languages with what stands in their place here.
 *
 * They are large, and they only matter where people read diagnostics: so they are not part of the
 * library. A program that shows diagnostics to people includes this file, once in a program, and
 * gives `mwl__guide_all` to the sink (mwl__diags.guide) or to mwl_assemble (mwl_asm_options.guide).
 *
 * The words are for people who come from Step Functions, from GitHub Actions, from a script; each
 * row is a mistake that was seen. A line is "words > name: help" (mwl__word_find). Without a help
 * the word is renamed to the name; without a name there is only the help. */
#ifndef MWL_CHECK_GUIDE_H
#define MWL_CHECK_GUIDE_H

#include "assembler/source/diag.h"

/* ---- words of other languages ---------------------------------------------------------------- */

#define RETRY                                                                                      \
    "Retry is a middleware: \"middleware\": [{ \"provider\": "                                     \
    "\"mwl:provider.middleware/mwl/retry/v1\", \"onEntry\": { \"with\": { \"policies\": [{ "       \
    "\"match\": { \"codes\": [\"*\"] }, \"attempts\": 3 }] } } }]\n"
#define TIMEOUT                                                                                    \
    "Timeout is a middleware: \"middleware\": [{ \"provider\": "                                   \
    "\"mwl:provider.middleware/mwl/timeout/v1\", \"onEntry\": { \"with\": { \"duration\": "        \
    "\"PT30S\" } } }]\n"
#define LOOP                                                                                       \
    "Loop is a middleware: \"middleware\": [{ \"provider\": "                                      \
    "\"mwl:provider.middleware/mwl/loop/v1\", \"onSuccess\": { \"when\": \"{{ ... }}\" } }]\n"
#define FINALLY                                                                                    \
    "Finally is a middleware: \"middleware\": [{ \"provider\": "                                   \
    "\"mwl:provider.middleware/mwl/finally/v1\", \"onAlways\": { \"with\": { \"call\": { ... } } " \
    "} }]\n"
#define IN_CALL                                                                                    \
    "it belongs in the call: \"call\": { \"provider\": ... or \"flow\": ..., \"with\": ... }\n"
#define DOCUMENT "description doc title $comment // note > comment\n"
#define CATCHES                                                                                    \
    "catchers > catch\n"                                                                           \
    "onerror onerrors except rescue errorhandler > catch: write \"catch\": [{ \"match\": { "       \
    "\"codes\": [\"*\"] }, \"next\": ... }]\n"
#define ARGUMENTS                                                                                  \
    "policies attempts maxattempts backoff duration match call delay middleware > with: "          \
    "arguments stand in 'with': \"with\": { ... }\n"                                               \
    "args arguments parameters params options > with\n"                                            \
    "if condition while > when\n"                                                                  \
    "until > when: write the condition under which it goes on: \"when\": \"{{ !( ... ) }}\"\n"     \
    "set vars > assign\n"                                                                          \
    "next >: a phase does not route; 'next' and 'catch' of the Step do\n"

static const char *const mwl__guide_words[MWL__WORDS_COUNT] = {
    [MWL__WORDS_FLOW] =
        "startat start initial initialstate first begin entry main startstep > entrypoint\n"
        "states tasks nodes activities stages jobs > steps\n"
        "subflows workflows functions definitions > flows\n" DOCUMENT
        "version > $schema: the version is in \"$schema\"\n"
        "name id >: the name of a Flow is its key in 'flows'; the root has none\n"
        "params inputschema arguments args inputs > parameters\n"
        "input > parameters: the input is data and is not declared: read step.input; arguments are "
        "declared in 'parameters'\n"
        "vars variables >: variables are assigned by Steps (\"assign\") or are 'parameters' with a "
        "default\n"
        "env >: there is no environment; give values as arguments ('parameters')\n"
        "assign >: variables are assigned by Steps: a Pass Step with \"assign\" at the entrypoint\n"
        "output outputs result return >: the value of a Flow is the 'value' of its Return Step\n"
        "catch onerror >: a Call or a Gather Step has 'catch'; a Flow does not\n"
        "retry retries > middleware: " RETRY "timeout timeoutseconds > middleware: " TIMEOUT
        "finally onexit > middleware: " FINALLY "loop repeat > middleware: " LOOP
        "next >: a Flow ends at its Return or Raise Steps; the Step that calls it has 'next'\n"
        "schema > $schema\n",

    [MWL__WORDS_STEP] =
        "goto then to transition nextstep nextstate > next\n"
        "end final isend > next: a Flow ends at a Return or a Raise Step: write \"next\" with the name "
        "of one\n" DOCUMENT "name id >: the name of a Step is its key in 'steps'\n"
        "vars variables set let export > assign\n"
        "saveas > assign: write \"assign\": { \"name\": \"{{ step.result.value }}\" }\n"
        "when if condition >: a Step always runs; route with a Match Step before it\n",

    [MWL__WORDS_CALL_STEP] =
        "resultselector > output: write \"output\": \"{{ ... }}\"; the action's product is "
        "step.result\n"
        "resultpath > assign: to keep the product, write \"assign\": { \"name\": \"{{ "
        "step.result.value }}\" }\n"
        "outputpath > output: write \"output\": \"{{ step.result.value. ... }}\"\n"
        "inputpath > input: write \"input\": \"{{ step.input. ... }}\"\n" CATCHES
        "retry retries retrypolicy retryon maxattempts > middleware: " RETRY
        "timeout timeoutseconds timeout-minutes heartbeatseconds deadline > middleware: " TIMEOUT
        "loop repeat while > middleware: " LOOP
        "finally cleanup ensure onexit > middleware: " FINALLY
        "provider flow with resource uses run function uri url arguments args params parameters "
        "payload > call: " IN_CALL "task > call\n"
        "onsuccess >: the arms are part of the call: \"call\": { ..., \"onSuccess\": { ... } }\n"
        "onfailure > catch: route with \"catch\": [{ \"match\": { \"codes\": [\"*\"] }, \"next\": "
        "... }]; the arms are part of the call\n"
        "value result > output\n"
        "over >: to call once for each element, use a Gather Step\n"
        "calls >: for several calls at a time, use a Gather Step\n",

    [MWL__WORDS_GATHER] = CATCHES
    "items itemspath foreach in list each > over\n"
    "input > over: the array is 'over'; what each dispatch receives is 'input' in its call\n"
    "iterator itemprocessor do > call\n"
    "provider flow with > call: " IN_CALL "branches parallel > calls\n"
    "steps > call: a dispatch calls a Flow: \"call\": { \"flow\": { \"entrypoint\": ..., "
    "\"steps\": ... } }\n"
    "maxconcurrency parallelism limit > concurrency\n"
    "toleratedfailurecount toleratedfailurepercentage > completion: write \"completion\": { "
    "\"successes\": N }\n"
    "failfast > completion: write \"completion\": { \"successes\": N, \"wait\": false }\n"
    "wait > completion: write \"completion\": { \"successes\": N, \"wait\": ... }\n"
    "successes > completion: write \"completion\": { \"successes\": ... }\n"
    "middleware >: only a Call Step has it: let each dispatch call a Flow, and put the "
    "middleware there\n"
    "retry timeout timeoutseconds >: only a Call Step has middleware, which does this; "
    "call a Flow that has it\n"
    "results value > output\n",

    [MWL__WORDS_MATCH] =
        "choices conditions switch branches rules > cases\n"
        "when if > cases: write \"cases\": [{ \"when\": \"{{ ... }}\", \"next\": ... }]\n"
        "else otherwise fallback > default\n"
        "next > default: a Match goes on in its clauses: \"default\": { \"next\": ... }\n"
        "output >: the clauses have it: { \"when\": ..., \"next\": ..., \"output\": ... }\n"
        "assign >: the clauses have it: { \"when\": ..., \"next\": ..., \"assign\": ... }\n"
        "catch >: a Match cannot be caught; guard its conditions with has()\n"
        "value on expression variable > input\n",

    [MWL__WORDS_PASS] =
        "result value return parameters > output\n"
        "input > output: a Pass only has 'output': write \"output\": \"{{ step.input }}\"\n"
        "inputpath > output: write \"output\": \"{{ step.input. ... }}\"\n"
        "resultpath > assign: to keep a value, write \"assign\": { \"name\": \"{{ ... }}\" }\n"
        "call >: a Step that calls has the action Call\n",

    [MWL__WORDS_SLEEP] = "seconds ms milliseconds > for: write \"for\": \"PT10S\" for ten seconds\n"
                         "secondspath > for: write \"for\": \"{{ ... }}\"\n"
                         "duration delay time period > for\n"
                         "minutes > for: write \"for\": \"PT10M\" for ten minutes\n"
                         "timestamp at date > until\n"
                         "timestamppath > until: write \"until\": \"{{ ... }}\"\n"
                         "output >: a Sleep passes its input on; shape it in a Pass Step\n"
                         "assign >: a Sleep only waits; assign in a Pass Step\n",

    [MWL__WORDS_RETURN] =
        "output result return body input data > value\n"
        "outputpath > value: write \"value\": \"{{ ... }}\"\n"
        "next >: a Return ends the Flow, so nothing comes after it\n"
        "end >: a Return ends the Flow by itself: remove it\n"
        "assign >: nothing can read it after the end; assign in an earlier Step\n",

    [MWL__WORDS_RAISE] =
        "error cause code message type details retryable previous errorpath value output exception "
        "reason > result: write \"result\": { \"code\": \"Order.Rejected\", \"message\": \"...\" }\n"
        "failure > result\n"
        "next >: a Raise ends the Flow, so nothing comes after it\n"
        "end >: a Raise ends the Flow by itself: remove it\n",

    [MWL__WORDS_CATCH] =
        "goto then to handler > next\n"
        "errorequals errors error code > match: write \"match\": { \"codes\": [\"*\"] }, or "
        "name the codes\n"
        "codes > match: it belongs in the matcher: \"match\": { \"codes\": ... }\n"
        "types > match: it belongs in the matcher: \"match\": { \"types\": ... }\n"
        "retryable > match: it belongs in the matcher: \"match\": { \"retryable\": ... }\n"
        "when > match: the failure alone chooses a clause: \"match\": { ... }; route on data with a "
        "Match Step\n"
        "resultpath as > assign: to keep the failure, write \"assign\": { \"name\": "
        "\"{{ failure }}\" }\n"
        "set vars variables > assign\n"
        "value result > output\n" DOCUMENT,

    [MWL__WORDS_CASE] =
        "condition if expression test case match > when\n"
        "variable > when: write the whole condition: \"when\": \"{{ match.input.total > 10.0 }}\"\n"
        "goto then to do > next\n"
        "set vars > assign\n"
        "value > output\n" DOCUMENT,

    [MWL__WORDS_MATCHER] =
        "code error > codes: write \"codes\": [ ... ]\n"
        "errors errorequals > codes\n"
        "type > types: write \"types\": [ ... ]\n"
        "message >: failures are told apart by code, type and retryable, not by their message\n",

    [MWL__WORDS_COMPLETION] = "success minimum min count required quorum > successes\n",

    [MWL__WORDS_RESULT] = "error errorcode name > code\n"
                          "cause reason msg text > message\n"
                          "data info context payload value > details\n"
                          "retry > retryable\n"
                          "kind > type\n",

    [MWL__WORDS_CALL] =
        "uri resource url uses function target name type > provider\n"
        "args arguments params parameters options > with\n"
        "payload body data > input\n"
        "subflow workflow > flow\n"
        "steps entrypoint > flow: a Flow in place is an object: \"flow\": { \"entrypoint\": ..., "
        "\"steps\": ... }\n"
        "onerror > onFailure\n"
        "then > onSuccess\n"
        "middleware catch next >: it belongs on the Step, beside 'call'\n"
        "retry >: " RETRY "timeout timeoutseconds >: " TIMEOUT
        "output value >: shape the value in \"onSuccess\": { \"value\": ... }, or with 'output' on "
        "the Step\n"
        "assign >: assign in \"onSuccess\": { \"assign\": ... }, or on the Step\n"
        "over >: it belongs on a Gather Step, beside 'call'\n" DOCUMENT,

    [MWL__WORDS_ARM] =
        "output result > value\n"
        "set vars > assign\n"
        "next >: an arm shapes and assigns; where to go is 'next' and 'catch' of the Step\n",

    [MWL__WORDS_ENTRY] =
        "name type uri uses > provider\n"
        "with args parameters options config policies attempts maxattempts backoff duration match "
        "> onEntry: arguments belong to a phase: \"onEntry\": { \"with\": { ... } }\n"
        "call > onAlways: a Finally has it in a phase: \"onAlways\": { \"with\": { \"call\": { ... "
        "} } }\n"
        "when >: a phase has it: \"onEntry\": { \"when\": ... }; the condition of a Loop is "
        "onSuccess.when\n"
        "before > onEntry\n"
        "after onexit finally > onAlways\n"
        "onerror > onFailure\n" DOCUMENT,

    [MWL__WORDS_ON_ENTRY] = "input value > output\n" ARGUMENTS,

    [MWL__WORDS_PHASE] = "output result > value\n" ARGUMENTS,

    [MWL__WORDS_ARGUMENTS] = "timeout seconds timeoutseconds limit after > duration\n"
                             "maxattempts max_attempts retries maxretries limit count > attempts\n"
                             "errorequals errors codes on > match\n"
                             "intervalseconds interval delay initialinterval > initial\n"
                             "backoffrate factor multiplier backoffcoefficient exponent > rate\n"
                             "maxdelay maxdelayseconds maximuminterval > max\n"
                             "jitterstrategy > jitter\n"
                             "retry policy retriers > policies\n"
                             "flow provider cleanup > call\n"
                             "result return output > value\n"
                             "error fail raise > failure\n",

    [MWL__WORDS_ACTION] =
        "task invoke http function activity run subflow lambda operation workflow script shell > "
        "Call\n"
        "choice switch if branch condition decision case route > Match\n"
        "wait delay timer pause > Sleep\n"
        "parallel map foreach for fork fanout each batch > Gather\n"
        "succeed success end stop done output exit complete > Return\n"
        "fail throw error failure > Raise\n"
        "set assign inject noop transform let continue > Pass\n",

    [MWL__WORDS_MISSING] =
        "default >: write \"default\": { \"next\": ... }: where to go when no case fits\n"
        "when >: write \"when\": \"{{ ... }}\"; where to go in all other cases is the 'default'\n"
        "code >: write \"code\": \"Order.Failed\": words with a dot between them\n"
        "next >: write \"next\" with the name of a Step; a Flow ends at a Return or a Raise Step\n"
        "call >: write \"call\": { \"provider\": ... } or \"call\": { \"flow\": ... }\n"
        "match >: write \"match\": { \"retryable\": true }, or { \"codes\": [ ... ] }\n"
        "entrypoint >: write \"entrypoint\" with the name of the first Step\n"
        "action >: write \"action\": \"Call\", or Gather, Match, Pass, Sleep, Return, Raise\n",

    [MWL__WORDS_KIND] =
        "next >: name a Step of this Flow; a Flow ends at a Return or a Raise Step\n"
        "entrypoint >: name the Step at which the Flow begins\n"
        "call >: write { \"provider\": \"mwl:...\" } or { \"flow\": ... }\n",

    [MWL__WORDS_COMPUTED] =
        "next >: to choose, go to a Match Step: \"cases\": [{ \"when\": \"{{ ... }}\", \"next\": "
        "... }], \"default\": { \"next\": ... }\n"
        "provider >: to choose, go to a Match Step with a Call Step for each provider\n"
        "flow >: to choose, go to a Match Step with a Call Step for each Flow\n",

    [MWL__WORDS_CEL_FUNCTION] =
        "len length count strlen sizeof > size\n"
        "toupper touppercase upper uppercase > upperAscii\n"
        "tolower tolowercase lower lowercase > lowerAscii\n"
        "tostring str text > string\n"
        "parseint toint tointeger integer > int\n"
        "parsefloat tofloat float tonumber number > double\n"
        "tobool boolean > bool\n"
        "stringify json.stringify json_encode dumps > toJson\n"
        "json.parse parsejson json_decode loads > fromJson\n"
        "any some > exists\n"
        "every > all\n"
        "select collect foreach > map\n"
        "where grep > filter\n"
        "substr mid > substring\n"
        "strip > trim\n"
        "replaceall gsub > replace\n"
        "match test search regex > matches\n"
        "max math.max > math.greatest\n"
        "min math.min > math.least\n"
        "abs > math.abs\nceil > math.ceil\nfloor > math.floor\nround > math.round\nsqrt > math.sqrt\n"
        "range > lists.range\n"
        "unique uniq > distinct\n"
        "orderby sorted > sortBy\n"
        "typeof gettype > type\n"
        "today date.now currenttime > now\n"
        "includes >: write x.contains(y) for a part of a text, y in x for an element of a list\n"
        "haskey containskey has_key get isset defined isdefined > has: has(x.y) asks whether y is there; "
        "x.?y.orValue(z) reads it with a default\n"
        "isnull isempty empty isblank >: write x == null, or size(x) == 0\n"
        "coalesce default ifnull nvl >: write has(x.y) ? x.y : z, or x.?y.orValue(z)\n"
        "concat append push add >: `+` joins texts, and lists: x + [y]\n"
        "iif ternary cond >: write condition ? a : b\n"
        "keys >: x.map(k, k) has the keys of the map x\n"
        "values >: x.map(k, x[k]) has the values of the map x\n"
        "sum reduce fold >: CEL has no sum over a list; let a Loop add up, with assign\n"
        "uuid random rand guid >: an expression has no chance; execution.id and step.id are unique\n",

    [MWL__WORDS_CEL_NAME] =
        "input inputs event payload body > step.input\n"
        "variables var > vars\n"
        "params parameters args arguments > vars\n"
        "error err exception errorinfo > failure\n"
        "context ctx workflow > execution\n"
        "none nil undefined > null\n"
        "result output response >: the action's product is step.result.value, in 'output' and 'assign'\n"
        "steps states tasks >: what an earlier Step gave is kept with 'assign' and read as vars.x\n"
        "item it element each current >: a dispatch of a Gather reads its element as call.input\n"
        "index i >: a dispatch of a Gather reads its number as call.index\n"
        "env secrets config >: there is no environment; pass values as arguments and read vars.x\n"
        "self this >: data is under vars, step, frame, call and others: vars.x, step.input.x\n"
        "data >: data is under vars, step, frame, call and others: vars.x, step.input.x\n"
        "json >: toJson(x) and fromJson(x) convert\n",
};

#undef RETRY
#undef TIMEOUT
#undef LOOP
#undef FINALLY
#undef IN_CALL
#undef DOCUMENT
#undef CATCHES
#undef ARGUMENTS

/* ---- explanations ---------------------------------------------------------------------------- */

/* By the order of mwl__diag_rows. */
static const char *const mwl__guide_texts[MWL__DIAG_COUNT] = {
#define MWL_X(number, ident, name, severity, title, text) text,
#include "assembler/source/diag_codes.h"
#undef MWL_X
};

static const mwl__guide mwl__guide_all = {mwl__guide_texts, mwl__guide_words};

/* Writes what `mwlvm explain` prints. */
static inline void mwl__diag_explain(const mwl__diag_info *row, mwl__buf *out) {
    size_t n;
    mwl__buf_printf(out, "MWL%04d %s (%s)\n%s\n\n%s\n", (int)row->code, row->name,
                    mwl__severity_name(row->severity), row->title,
                    mwl__guide_texts[row - mwl__diag_rows(&n)]);
    if (row->severity == MWL_DIAG_WARNING)
        mwl__buf_printf(out, "\nSilence it with --ignore %s; make it an error with --deny %s.\n",
                        row->name, row->name);
}

#endif
