/* members.h: every member that the objects of a definition have, once.
 *
 * One list for each kind of object, in the order in which the specification's pages write the
 * members; `mwlvm fmt` writes them in this order. A row is
 *
 *     X(name, kinds, flags, shape, text)
 *
 * kinds and flags are those of form.h. The shape says what the value is: an object that has a list
 * here, a container of such objects, or one of the values below. The text is for people: the
 * command shows it (`mwlvm actions`, `mwlvm schema`, hover in an editor), the library does not
 * contain it.
 *
 * Shapes that are not objects with a list:
 *   STEPS, FLOWS                          an object whose members are Steps or Flows
 *   CALLS, ENTRIES, CATCHES, CASES        an array of calls, middleware entries, clauses
 *   STEP                                  a Step; its action says which list it has
 *   VALUE                                 any value; expressions anywhere in it
 *   ARGUMENTS, ASSIGN                     an object whose members are values
 *   CONDITION, LIST, COUNT                true or false, an array, a number; or an expression
 *   DURATION, INSTANT                     text of that form, or an expression
 *   STEP_NAME, CALL_URI, MIDDLEWARE_URI, FLOW_REF, CODES, TYPES   what they are called
 *   LIMIT                                 a whole number from 1, or null
 *   SCHEMA                                a JSON Schema
 *   SCHEMA_URI, ACTION, TEXT, FLAG        fixed text, the action's name, plain text, true or false
 *   FAILURE_TYPE, FAILURE_TEXT, FAILURE_FLAG, FAILURE_LINK   members of a failure */
#ifndef MWL_MEMBERS_H
#define MWL_MEMBERS_H

#include "assembler/source/form.h"

/* A row as mwl__form_field. */
#define MWL__MEMBER_FIELD(name, kinds, flags, shape, text) {name, kinds, flags},

#define MWL__MEMBER_REQ MWL__FORM_REQUIRED
#define MWL__MEMBER_EXPR MWL__FORM_EXPR
#define MWL__MEMBER_LIT MWL__FORM_LITERAL

/* ---- rows that several lists have ------------------------------------------------------------ */

#define MWL__MEMBER_COMMENT(X)                                                                     \
    X("comment", MWL__FORM_STRING, MWL__MEMBER_LIT, TEXT, "A note for people. Nothing reads it.")
#define MWL__MEMBER_ACTION(X)                                                                      \
    X("action", MWL__FORM_ANY, MWL__MEMBER_LIT, ACTION, "What the Step does.")
#define MWL__MEMBER_NEXT(X)                                                                        \
    X("next", MWL__FORM_STRING, 0, STEP_NAME,                                                      \
      "The Step that follows, in the same Flow. It gets what this Step emits as its input.")
#define MWL__MEMBER_ASSIGN(X)                                                                      \
    X("assign", MWL__FORM_OBJECT, 0, ASSIGN,                                                       \
      "Variables that get new values. All expressions read the variables as they were before.")
#define MWL__MEMBER_CATCH(X)                                                                       \
    X("catch", MWL__FORM_ARRAY, 0, CATCHES,                                                        \
      "Where to go if the Step fails. The first clause that matches the failure is used; if "      \
      "none does, the Flow fails.")
#define MWL__MEMBER_WITH(X)                                                                        \
    X("with", MWL__FORM_OBJECT, MWL__MEMBER_EXPR, ARGUMENTS,                                       \
      "Arguments for the provider or the Flow, checked against its parameters. Each value may "    \
      "be an expression, or one expression gives the whole object.")
#define MWL__MEMBER_WHEN(X)                                                                        \
    X("when", MWL__FORM_ANY, MWL__MEMBER_EXPR, CONDITION,                                          \
      "Whether the middleware acts in this phase. If it is false, `with` is not evaluated; the "   \
      "other members are. Default: true.")
#define MWL__MEMBER_CLAUSE_NEXT(X)                                                                 \
    X("next", MWL__FORM_STRING, MWL__MEMBER_REQ, STEP_NAME, "The Step that follows.")
#define MWL__MEMBERS_FAILURE(X)                                                                    \
    X("type", MWL__FORM_ANY, MWL__MEMBER_EXPR, FAILURE_TYPE,                                       \
      "error (the default), timeout, cancellation, skipped, or your own type, which begins "       \
      "with a capital.")                                                                           \
    X("code", MWL__FORM_ANY, MWL__MEMBER_EXPR, FAILURE_TEXT,                                       \
      "What failed, in words with dots between them: Order.NotPaid. Matchers compare it.")         \
    X("message", MWL__FORM_ANY, MWL__MEMBER_EXPR, FAILURE_TEXT, "What happened, for people.")      \
    X("details", MWL__FORM_ANY, MWL__MEMBER_EXPR, VALUE, "Data about the failure.")                \
    X("retryable", MWL__FORM_ANY, MWL__MEMBER_EXPR, FAILURE_FLAG,                                  \
      "Whether trying again can help: true, false, or null for unknown. It is advice; a matcher "  \
      "or a Retry policy may ask for it.")                                                         \
    X("previous", MWL__FORM_ANY, MWL__MEMBER_EXPR, FAILURE_LINK,                                   \
      "The failure that led to this one. If it is not written, the engine links the one that is "  \
      "being handled; null drops it.")

/* ---- Flows ----------------------------------------------------------------------------------- */

#define MWL__MEMBERS_FLOW(X)                                                                       \
    X("$schema", MWL__FORM_ANY, MWL__MEMBER_LIT, SCHEMA_URI,                                       \
      "Says that the document is a definition, and of which version. Only the root has it.")       \
    MWL__MEMBER_COMMENT(X)                                                                         \
    X("parameters", MWL__FORM_OBJECT, 0, SCHEMA,                                                   \
      "A JSON Schema of the arguments that the Flow accepts. They become its first variables. "    \
      "Arguments that it does not declare are refused.")                                           \
    X("middleware", MWL__FORM_ARRAY, 0, ENTRIES,                                                   \
      "Middleware around all Steps of the Flow. The first entry is the outermost.")                \
    X("flows", MWL__FORM_OBJECT, 0, FLOWS,                                                         \
      "Flows that calls in this Flow, and in Flows inside it, can name.")                          \
    X("entrypoint", MWL__FORM_STRING, MWL__MEMBER_REQ, STEP_NAME, "The Step that runs first.")     \
    X("steps", MWL__FORM_OBJECT, MWL__MEMBER_REQ, STEPS, "The Steps of the Flow, by name.")

/* ---- Steps ----------------------------------------------------------------------------------- */

#define MWL__MEMBERS_CALL_STEP(X)                                                                  \
    MWL__MEMBER_ACTION(X)                                                                          \
    MWL__MEMBER_COMMENT(X)                                                                         \
    X("input", MWL__FORM_ANY, MWL__MEMBER_EXPR, VALUE,                                             \
      "The value that enters the middleware and then the call. Default: {{ step.input }}.")        \
    X("call", MWL__FORM_OBJECT, MWL__MEMBER_REQ, CALL, "What to call, and with which arguments.")  \
    X("middleware", MWL__FORM_ARRAY, 0, ENTRIES,                                                   \
      "Middleware around the call. The first entry is the outermost.")                             \
    X("output", MWL__FORM_ANY, MWL__MEMBER_EXPR, VALUE,                                            \
      "The value that the next Step gets. Default: {{ step.result.value }}.")                      \
    MWL__MEMBER_ASSIGN(X)                                                                          \
    MWL__MEMBER_NEXT(X)                                                                            \
    MWL__MEMBER_CATCH(X)

#define MWL__MEMBERS_GATHER_STEP(X)                                                                \
    MWL__MEMBER_ACTION(X)                                                                          \
    MWL__MEMBER_COMMENT(X)                                                                         \
    X("over", MWL__FORM_ANY, MWL__MEMBER_EXPR, LIST,                                               \
      "The array to go through: one dispatch of `call` for each element.")                         \
    X("call", MWL__FORM_OBJECT, 0, CALL,                                                           \
      "The call that is made for each element of `over`. The element is call.input, its place "    \
      "is call.index.")                                                                            \
    X("calls", MWL__FORM_ARRAY, 0, CALLS,                                                          \
      "Calls that are made at the same time, instead of `over` and `call`.")                       \
    X("concurrency", MWL__FORM_ANY, 0, LIMIT,                                                      \
      "How many dispatches may be active at once. Without it, or with null: all of them.")         \
    X("completion", MWL__FORM_OBJECT, 0, COMPLETION,                                               \
      "How many dispatches must succeed. Without it: all of them.")                                \
    X("output", MWL__FORM_ANY, MWL__MEMBER_EXPR, VALUE,                                            \
      "The value that the next Step gets. Default: the values of the dispatches that succeeded.")  \
    MWL__MEMBER_ASSIGN(X)                                                                          \
    MWL__MEMBER_NEXT(X)                                                                            \
    MWL__MEMBER_CATCH(X)

#define MWL__MEMBERS_MATCH_STEP(X)                                                                 \
    MWL__MEMBER_ACTION(X)                                                                          \
    MWL__MEMBER_COMMENT(X)                                                                         \
    X("input", MWL__FORM_ANY, MWL__MEMBER_EXPR, VALUE,                                             \
      "The value that the cases test, as match.input. Default: {{ step.input }}.")                 \
    X("cases", MWL__FORM_ARRAY, MWL__MEMBER_REQ, CASES,                                            \
      "Conditions in their order. The first one that is true decides.")                            \
    X("default", MWL__FORM_OBJECT, MWL__MEMBER_REQ, DEFAULT, "What happens if no case is true.")

#define MWL__MEMBERS_PASS_STEP(X)                                                                  \
    MWL__MEMBER_ACTION(X)                                                                          \
    MWL__MEMBER_COMMENT(X)                                                                         \
    X("output", MWL__FORM_ANY, MWL__MEMBER_EXPR, VALUE,                                            \
      "The value that the next Step gets. Default: {{ step.input }}.")                             \
    MWL__MEMBER_ASSIGN(X)                                                                          \
    MWL__MEMBER_NEXT(X)

#define MWL__MEMBERS_SLEEP_STEP(X)                                                                 \
    MWL__MEMBER_ACTION(X)                                                                          \
    MWL__MEMBER_COMMENT(X)                                                                         \
    X("for", MWL__FORM_ANY, MWL__MEMBER_EXPR, DURATION, "How long, as ISO 8601 writes it: PT90S.") \
    X("until", MWL__FORM_ANY, MWL__MEMBER_EXPR, INSTANT,                                           \
      "The instant at which it ends, as RFC 3339 writes it: 2030-01-01T00:00:00Z.")                \
    MWL__MEMBER_NEXT(X)

#define MWL__MEMBERS_RETURN_STEP(X)                                                                \
    MWL__MEMBER_ACTION(X)                                                                          \
    MWL__MEMBER_COMMENT(X)                                                                         \
    X("value", MWL__FORM_ANY, MWL__MEMBER_EXPR, VALUE,                                             \
      "The value of the Flow's Result. Default: {{ step.input }}.")

#define MWL__MEMBERS_RAISE_STEP(X)                                                                 \
    MWL__MEMBER_ACTION(X)                                                                          \
    MWL__MEMBER_COMMENT(X)                                                                         \
    X("result", MWL__FORM_OBJECT, 0, RESULT,                                                       \
      "The failure. Without it, the failure that is being handled is raised again.")

/* ---- parts of Steps -------------------------------------------------------------------------- */

#define MWL__MEMBERS_CALL(X)                                                                       \
    X("provider", MWL__FORM_STRING, 0, CALL_URI, "The call provider. Either this or `flow`.")      \
    X("flow", MWL__FORM_STRING | MWL__FORM_OBJECT, 0, FLOW_REF,                                    \
      "The Flow to run: the name of one in `flows`, or a Flow that is written here.")              \
    MWL__MEMBER_COMMENT(X)                                                                         \
    X("input", MWL__FORM_ANY, MWL__MEMBER_EXPR, VALUE,                                             \
      "The data that the provider or the Flow gets. Default: {{ call.input }}.")                   \
    MWL__MEMBER_WITH(X)                                                                            \
    X("onSuccess", MWL__FORM_OBJECT, 0, SUCCESS_ARM,                                               \
      "What to keep of a success, while the windows `flow` or `provider` can be read.")            \
    X("onFailure", MWL__FORM_OBJECT, 0, FAILURE_ARM,                                               \
      "What to keep of a failure, while the windows `flow` or `provider` can be read.")

#define MWL__MEMBERS_SUCCESS_ARM(X)                                                                \
    X("value", MWL__FORM_ANY, MWL__MEMBER_EXPR, VALUE,                                             \
      "The value of the call's Result. Default: {{ call.result.value }}.")                         \
    MWL__MEMBER_ASSIGN(X)

#define MWL__MEMBERS_FAILURE_ARM(X) MWL__MEMBER_ASSIGN(X)

#define MWL__MEMBERS_CLAUSE(X)                                                                     \
    X("match", MWL__FORM_OBJECT, MWL__MEMBER_REQ, MATCHER, "Which failures this clause is for.")   \
    MWL__MEMBER_COMMENT(X)                                                                         \
    X("output", MWL__FORM_ANY, MWL__MEMBER_EXPR, VALUE,                                            \
      "The value that the next Step gets. Default: {{ step.input }}.")                             \
    MWL__MEMBER_ASSIGN(X)                                                                          \
    MWL__MEMBER_CLAUSE_NEXT(X)

#define MWL__MEMBERS_DEFAULT(X)                                                                    \
    MWL__MEMBER_COMMENT(X)                                                                         \
    X("output", MWL__FORM_ANY, MWL__MEMBER_EXPR, VALUE,                                            \
      "The value that the next Step gets. Default: {{ match.input }}.")                            \
    MWL__MEMBER_ASSIGN(X)                                                                          \
    MWL__MEMBER_CLAUSE_NEXT(X)

#define MWL__MEMBERS_CASE(X)                                                                       \
    X("when", MWL__FORM_ANY, MWL__MEMBER_REQ | MWL__MEMBER_EXPR, CONDITION,                        \
      "The condition: true or false. If it cannot be evaluated, the Step fails.")                  \
    MWL__MEMBERS_DEFAULT(X)

#define MWL__MEMBERS_MATCHER(X)                                                                    \
    X("codes", MWL__FORM_ARRAY, 0, CODES, "Codes: exact, a beginning (Order.*), or * for all.")    \
    X("types", MWL__FORM_ARRAY, 0, TYPES, "Types: error, timeout, cancellation, skipped, ...")     \
    X("retryable", MWL__FORM_BOOL, 0, FLAG,                                                        \
      "Only failures that say this. One that says nothing matches neither.")

#define MWL__MEMBERS_COMPLETION(X)                                                                 \
    X("successes", MWL__FORM_NUMBER, MWL__MEMBER_REQ | MWL__MEMBER_EXPR, COUNT,                    \
      "How many dispatches must succeed.")                                                         \
    X("wait", MWL__FORM_BOOL, 0, FLAG,                                                             \
      "Whether the others still run when the outcome is certain. If false, they are cancelled. "   \
      "Default: true.")

#define MWL__MEMBERS_RESULT(X) MWL__MEMBERS_FAILURE(X)

/* ---- middleware ------------------------------------------------------------------------------ */

#define MWL__MEMBERS_ENTRY(X)                                                                      \
    X("provider", MWL__FORM_STRING, MWL__MEMBER_REQ, MIDDLEWARE_URI, "The middleware.")            \
    MWL__MEMBER_COMMENT(X)                                                                         \
    X("onEntry", MWL__FORM_OBJECT, 0, ON_ENTRY, "On the way in, once.")                            \
    X("onSuccess", MWL__FORM_OBJECT, 0, ON_SUCCESS, "When a success comes out.")                   \
    X("onFailure", MWL__FORM_OBJECT, 0, ON_FAILURE, "When a failure comes out.")                   \
    X("onAlways", MWL__FORM_OBJECT, 0, ON_ALWAYS,                                                  \
      "At the end in any case, also when what is inside was interrupted: the place for cleanup.")

#define MWL__MEMBERS_ON_ENTRY(X)                                                                   \
    MWL__MEMBER_WHEN(X)                                                                            \
    MWL__MEMBER_WITH(X)                                                                            \
    X("output", MWL__FORM_ANY, MWL__MEMBER_EXPR, VALUE,                                            \
      "The value that goes on inwards. Default: {{ middleware.input }}.")                          \
    MWL__MEMBER_ASSIGN(X)

#define MWL__MEMBERS_ON_SUCCESS(X)                                                                 \
    MWL__MEMBER_WHEN(X)                                                                            \
    MWL__MEMBER_WITH(X)                                                                            \
    X("value", MWL__FORM_ANY, MWL__MEMBER_EXPR, VALUE,                                             \
      "The value that goes on outwards. Default: {{ middleware.result.value }}.")                  \
    MWL__MEMBER_ASSIGN(X)

#define MWL__MEMBERS_ON_FAILURE(X)                                                                 \
    MWL__MEMBER_WHEN(X)                                                                            \
    MWL__MEMBER_WITH(X)                                                                            \
    MWL__MEMBERS_FAILURE(X)                                                                        \
    MWL__MEMBER_ASSIGN(X)

#define MWL__MEMBERS_ON_ALWAYS(X)                                                                  \
    MWL__MEMBER_WHEN(X)                                                                            \
    MWL__MEMBER_WITH(X)                                                                            \
    MWL__MEMBER_ASSIGN(X)

#endif
