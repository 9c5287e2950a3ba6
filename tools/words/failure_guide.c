/* failure_guide.c: the codes of failures that are not a provider's own, each with its explanation.
 *
 * Codes under System are the specification's, those under Mwlvm are this engine's.
 * tests/tree/pages.py sees that every code in the sources has a row. */
#include "tools/words/failure_guide.h"

#include <ctype.h>
#include <string.h>

static const struct failure_row rows[] = {
    {"System.Cancelled", "The run or its branch was cancelled",
     "Somebody cancelled the run (Ctrl-C, `mwlvm cancel`, the host), or a Timeout or a Gather ended\n"
     "the branch. Its type is `cancellation`. Cleanup calls of Finally have run.\n"},
    {"System.EmptyRaise", "A Raise without a failure to raise",
     "A Raise without `result` raises the failure that is being handled. On this path there was none.\n"
     "Give it a `result` with a `code`, or reach the Step from a catch clause only.\n"},
    {"System.ExpressionEvaluationError", "An expression could not be evaluated",
     "`message` is the reason, and `details` has the expression with its line and column; `having` are\n"
     "the names that there are. Test for what may be missing: `has(x.y)`, `x.?y.orValue(0)`.\n"
     "`mwlvm eval EXPRESSION` tries one alone.\n"},
    {"System.FailureChainTruncated", "Older failures of a chain were left out",
     "A chain of `previous` became longer than the limit. The newest failures are kept; this entry\n"
     "stands in the place of the older ones.\n"},
    {"System.GatherCompletionUnmet", "Too few dispatches of a Gather succeeded",
     "`details` has the failures by index. `completion` of the Gather says how many must succeed.\n"},
    {"System.GatherDispatchCancelled", "A dispatch of a Gather was cancelled",
     "The Gather was decided before this dispatch ended. It is found in `step.results`.\n"},
    {"System.GatherDispatchSkipped", "A dispatch of a Gather was not started",
     "The Gather was decided before this dispatch began. It is found in `step.results`.\n"},
    {"System.ParameterValidationFailed", "Input or arguments do not fit their schema",
     "`message` and `details.errors` say which member, and what the schema wants. `mwlvm check` finds\n"
     "constant arguments that do not fit before anything runs.\n"},
    {"System.UnrepresentableValue", "A value has no form in JSON",
     "An expression made bytes, a duration, a timestamp, NaN or a map with keys that are not texts where\n"
     "data is wanted. Convert it: `string(x)`, `int(x)`, `base64.encode(x)`.\n"},
    {"Mwlvm.Aborted", "The run was ended without cleanup",
     "A second Ctrl-C, or the end of the process, ended the run before its cleanup was done.\n"},
    {"Mwlvm.BoundElapsed", "A bound of a host's middleware elapsed",
     "A middleware of the host bounded this scope and gave no failure.\n"},
    {"Mwlvm.FanOutLimit", "A Gather has more elements than the limit",
     "The host limits how many dispatches a Gather may make. Split the list, or raise the limit.\n"},
    {"Mwlvm.Interrupted", "A call was in flight when its run was saved",
     "The provider says that a call must not be made twice, so it is not repeated on load. Find out\n"
     "whether it had its effect, and catch this code where it matters.\n"},
    {"Mwlvm.InvalidInput", "A line of `run --each` is not JSON",
     "The Result has the line's number. The other lines are not affected.\n"},
    {"Mwlvm.Limit", "A run of `run --each` met a limit",
     "Fuel or memory were used up; `--fuel` and `--memory` change the limits.\n"},
    {"Mwlvm.NeverEnds", "A run of `run --each --virtual-time` waits for something that never comes",
     "No timer is armed and nothing works for it outside, so time cannot pass. Most often a scripted\n"
     "answer is `never`; a Timeout around the call would end the wait.\n"},
    {"Mwlvm.NoStack", "There was no memory for a provider's stack",
     "A provider that blocks needs its own stack. The failure is retryable.\n"},
    {"Mwlvm.NotImplemented", "Nothing implements this provider here",
     "Only its document was given (`--provider`). `--bind URI=FILE.json` answers it with scripted\n"
     "answers, `--bind URI=URI` by another provider.\n"},
    {"Mwlvm.NotSettled", "A provider returned without a Result",
     "A mistake in the provider: its function must settle the call, or keep a token for it.\n"},
    {"Mwlvm.NotStarted", "A line of `run --each` was not started",
     "The command was stopped, or --fail-fast ended it, before the line's turn. Run it again.\n"},
    {"Mwlvm.NotWritten", "The Result of a line could not be written as JSON",
     "The message has the reason, most often memory; `--memory` changes the limit.\n"},
    {"Mwlvm.ProviderWithdrawn", "The host has withdrawn the provider",
     "It was registered when the run began, and is not any more.\n"},
    {"Mwlvm.ResultRefused", "A provider or a middleware handed over what is not allowed",
     "A value without a form in JSON, text that is not UTF-8, a Result without `type` and `code`, or a\n"
     "code that its catalog does not declare. `message` has the reason, `previous` what was refused.\n"},
    {"Mwlvm.StackOverflow", "A provider used more stack than it has",
     "A mistake in the provider, or a stack that is too small for it; the host chooses its size.\n"},
    {"Mwlvm.UnexpectedCall", "Nothing in the script answers this call",
     "The answers of --bind or of `mwlvm test` do not fit this call, or are used up.\n"},
};

const struct failure_row *failure_rows(size_t *n) {
    *n = sizeof rows / sizeof *rows;
    return rows;
}

const struct failure_row *failure_find(const char *code) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].code, code) == 0) return &rows[i];
    return NULL;
}

bool failure_provider(const char *code, char *out, size_t cap) {
    const char *name;
    if (strncmp(code, "Provider.Call.", 14) == 0)
        name = code + 14;
    else if (strncmp(code, "Provider.Middleware.", 20) == 0)
        name = code + 20;
    else
        return false;
    size_t n = 0;
    for (size_t i = 0; name[i] && name[i] != '.' && n + 2 < cap; i++) {
        if (i && isupper((unsigned char)name[i])) out[n++] = '-';
        out[n++] = (char)tolower((unsigned char)name[i]);
    }
    out[n] = '\0';
    return n > 0;
}
