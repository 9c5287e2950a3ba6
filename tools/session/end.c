/* end.c: see end.h.
 *
 * A failure is for a program on standard output and for a person on standard error. */
#include "tools/session/end.h"

#include "tools/base/cmd.h"
#include "tools/base/file_in.h"
#include "tools/base/json_out.h"
#include "tools/show/explain.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool text_is(mwl_value v, const char *text) {
    const char *got = mwl_as_text(v, NULL);
    return got && strcmp(got, text) == 0;
}

static int print_json(const struct session_shown *how, mwl_value v, bool success) {
    const struct run_options *o = how->options;
    bool terminal = isatty(STDOUT_FILENO);
    bool pretty = o->pretty || (!o->compact && terminal);
    const struct json_out out = {stdout, pretty ? MWL_JSON_PRETTY : MWL_JSON_COMPACT, terminal, 0};
    /* a value that shares its parts may be gigabytes as text */
    if (!json_out_fits(how->heap, v, out.style, o->definition.limits.memory)) {
        limits_report(&o->definition.limits, MWL_E_NOMEM, " by the text of the Result");
        return CMD_LIMIT;
    }
    mwl_status status = success ? json_out_value(&out, how->heap, v) : json_out(&out, how->heap, v);
    putchar('\n');
    (void)cmd_flush(); /* before what is said about it */
    if (status == MWL_OK) return CMD_OK;
    cmd_fail("the Result cannot be printed: %s", mwl_status_text(status));
    return CMD_LIMIT;
}

/* Where standard output and standard error are one terminal, the explanation is enough; --result,
 * --pretty or --compact ask for the Result. */
static bool explains_only(const struct run_options *o) {
    return !o->whole_result && !o->pretty && !o->compact && isatty(STDOUT_FILENO) &&
           isatty(STDERR_FILENO);
}

/* Finds the limit that ended a run, as its Result has it; MWL_OK: none did. */
static mwl_status limit_of(mwl_value result) {
    mwl_value limit = mwl_get(mwl_get(result, "details"), "limit");
    if (!text_is(mwl_get(result, "code"), "System.Cancelled")) return MWL_OK;
    return text_is(limit, "fuel")     ? MWL_E_FUEL
           : text_is(limit, "depth")  ? MWL_E_DEPTH
           : text_is(limit, "memory") ? MWL_E_TOO_BIG
                                      : MWL_OK;
}

static int report_limit(const struct session_shown *how, const struct explain *e, mwl_status why) {
    char where[400];
    explain_where(e, where, sizeof where);
    if (why == MWL_E_FUEL || why == MWL_E_TOO_BIG)
        limits_report(&how->options->definition.limits, why, where);
    else
        cmd_note("a limit ended the run%s: %s", where, mwl_status_text(why));
    /* a cleanup's own failure may have taken the place of the cancellation */
    if (limit_of(e->result) == MWL_OK) explain_failure(e);
    return CMD_LIMIT;
}

int session_no_result(const struct session_shown *how, mwl_status why) {
    if (why == MWL_E_FUEL || why == MWL_E_TOO_BIG)
        limits_report(&how->options->definition.limits, why, " twice: the cleanup needed more");
    cmd_fail("the run was ended without a Result%s%s", why < 0 ? ": " : "",
             why < 0 ? mwl_status_text(why) : "");
    return why < 0 ? CMD_LIMIT : CMD_CANCELLED;
}

int session_end(const struct session_shown *how, const mwl_run *run, mwl_value result) {
    const struct explain e = {how->heap, run, result, how->file, how->source};
    if (run && mwl_run_get_state(run) == MWL_RUN_ABORTED)
        return session_no_result(how, mwl_run_why(run));
    mwl_status why = run ? mwl_run_why(run) : limit_of(result);
    mwl_value type = mwl_get(result, "type");
    bool success = text_is(type, "success");
    if (success || !explains_only(how->options)) {
        bool value = success && !how->options->whole_result;
        int status = print_json(how, value ? mwl_get(result, "value") : result, success);
        if (status != CMD_OK) return status;
    }
    if (why < 0) return report_limit(how, &e, why);
    if (success) return CMD_OK;
    explain_failure(&e);
    return text_is(type, "cancellation") ? CMD_CANCELLED
           : text_is(type, "timeout")    ? CMD_TIMEOUT
                                         : CMD_FAILED;
}

int session_stuck(const struct session_shown *how, const mwl_run *run) {
    mwl_where at;
    cmd_fail("the run waits for something that never comes, and virtual time cannot pass");
    if (!mwl_run_where(run, &at) || !*at.step) return CMD_FAILED;
    cmd_note("it is in Step '%s'%s%s%s (%s:%u:%u)%s%s", at.step, *at.flow ? " of Flow '" : "",
             at.flow, *at.flow ? "'" : "", how->file, at.line, at.column,
             *at.provider ? " and waits for " : "", at.provider);
    return CMD_FAILED;
}
