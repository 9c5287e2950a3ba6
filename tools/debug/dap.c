/* dap.c: the messages of the Debug Adapter Protocol. See dap.h.
 *
 * One thread reads messages and looks at the run while it stands; the run is on the machine's
 * thread, which rings a bell when it stops. So a run can be paused or left while it works. */
#include "tools/debug/dap.h"

#include "tools/base/cmd.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

static void deliver(struct dap *d, mwl__buf *out) {
    if (out->failed || !rpc_send(&d->rpc, out->data, out->len)) d->lost = true;
    mwl__buf_free(out);
}

/* An event; `body` is the JSON of its body, or NULL. */
static void send_event(struct dap *d, const char *name, const char *body) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__buf_printf(&out, "{\"seq\":%llu,\"type\":\"event\",\"event\":\"%s\"",
                    (unsigned long long)++d->seq, name);
    if (body) mwl__buf_printf(&out, ",\"body\":%s", body);
    mwl__buf_puts(&out, "}");
    deliver(d, &out);
}

void dap_output(struct dap *d, const char *category, const char *text, size_t len) {
    mwl__buf body = mwl__buf_make(mwl_alloc_default());
    mwl__buf_puts(&body, "{");
    rpc_put_member(&body, "category", category);
    mwl__buf_puts(&body, ",\"output\":");
    rpc_put_text(&body, text, len);
    mwl__buf_puts(&body, "}");
    send_event(d, "output", mwl__buf_cstr(&body));
    mwl__buf_free(&body);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* The run is over: shows the Result and ends the session for the editor. */
static void report_end(struct dap *d) {
    const struct machine *m = &d->walk.machine;
    mwl__buf text = mwl__buf_make(mwl_alloc_default()), body = mwl__buf_make(mwl_alloc_default());
    bool done = m->run && mwl_run_get_state(m->run) == MWL_RUN_DONE;
    if (done)
        inspect_write_result(mwl_vm_heap(m->vm), m->run, &text);
    else
        mwl__buf_puts(&text, m->stuck ? "the run waits for something that never comes"
                                      : "the run was ended without a Result");
    mwl__buf_puts(&text, "\n");
    dap_output(d, done ? "stdout" : "important", text.data ? text.data : "", text.len);
    mwl__buf_printf(&body, "{\"exitCode\":%d}", done && mwl_run_succeeded(m->run) ? 0 : 1);
    send_event(d, "exited", mwl__buf_cstr(&body));
    send_event(d, "terminated", NULL);
    mwl__buf_free(&text);
    mwl__buf_free(&body);
}

static void report_stop(struct dap *d) {
    static const char *const reasons[] = {
        [WHY_BEGIN] = "entry", [WHY_STEP] = "step", [WHY_BREAK] = "breakpoint",
        [WHY_PAUSE] = "pause", [WHY_BACK] = "step", [WHY_OVER] = "step"};
    struct walk *s = &d->walk;
    const struct breakpoint *met =
        s->why == WHY_BREAK ? breaks_find(&s->breaks, s->break_id) : NULL;
    const char *reason = met && met->kind == BREAK_CODE   ? "exception"
                         : met && met->kind != BREAK_LINE ? "function breakpoint"
                                                          : reasons[s->why];
    if (d->stop_on_entry && s->n_stops == 1 && s->why == WHY_STEP) reason = "entry";
    mwl__buf text = mwl__buf_make(mwl_alloc_default()), body = mwl__buf_make(mwl_alloc_default());
    inspect_event(walk_event(s), &text);
    mwl__buf_puts(&body, "{");
    rpc_put_member(&body, "reason", reason);
    rpc_put_member(&body, "description", mwl__buf_cstr(&text));
    mwl__buf_printf(&body, ",\"threadId\":%u,\"allThreadsStopped\":true", dap_thread_here(d));
    if (met) mwl__buf_printf(&body, ",\"hitBreakpointIds\":[%d]", met->id);
    mwl__buf_puts(&body, "}");
    send_event(d, "stopped", mwl__buf_cstr(&body));
    mwl__buf_free(&text);
    mwl__buf_free(&body);
}

/* The bell has rung: the run stands, or is over. */
static void arrive(struct dap *d) {
    if (!d->running) return;
    int status = walk_arrive(&d->walk);
    d->running = false;
    if (status != CMD_OK) {
        dap_output(d, "important", "the run could not be started; standard error says why\n", 54);
        send_event(d, "terminated", NULL);
    } else if (walk_over(&d->walk)) {
        report_end(d);
    } else {
        report_stop(d);
    }
}

static void go(struct dap *d, enum walk_go how) {
    dap_forget(d);
    d->running = d->begun = true;
    walk_go(&d->walk, how);
}

static const char *begin(struct dap *d, mwl_value arguments, mwl__buf *out) {
    (void)arguments, (void)out;
    if (!d->launched) return "launch comes first";
    d->running = d->begun = true;
    walk_go(&d->walk, d->stop_on_entry ? GO_STEP : GO_ON);
    return NULL;
}

/* ---- requests -------------------------------------------------------------------------------- */

static const char capabilities[] =
    "{\"supportsConfigurationDoneRequest\":true,\"supportsFunctionBreakpoints\":true,"
    "\"supportsConditionalBreakpoints\":true,\"supportsEvaluateForHovers\":true,"
    "\"supportsStepBack\":true,\"supportsExceptionInfoRequest\":true,"
    "\"supportsExceptionFilterOptions\":true,\"supportsTerminateRequest\":true,"
    "\"exceptionBreakpointFilters\":[{\"filter\":\"failures\",\"label\":\"Failures\","
    "\"description\":\"Stops at each failure.\"},{\"filter\":\"code\",\"label\":\"Failure code\","
    "\"supportsCondition\":true,\"conditionDescription\":\"A code, such as Http.Throttled or Http.*\"}]}";

static bool is_false(mwl_value arguments, const char *name) {
    mwl_value v = rpc_get(arguments, name);
    return mwl_value_kind(v) == MWL_KIND_BOOL && !mwl_as_bool(v);
}

static const char *initialize(struct dap *d, mwl_value arguments, mwl__buf *out) {
    d->lines_from_0 = is_false(arguments, "linesStartAt1");
    d->columns_from_0 = is_false(arguments, "columnsStartAt1");
    mwl__buf_puts(out, capabilities);
    return NULL;
}

static const char *launch(struct dap *d, mwl_value arguments, mwl__buf *out) {
    (void)out;
    return dap_launch(d, arguments);
}

static const char *pause_run(struct dap *d, mwl_value arguments, mwl__buf *out) {
    (void)arguments, (void)out;
    machine_pause(&d->walk.machine);
    return NULL;
}

static const char *end(struct dap *d, mwl_value arguments, mwl__buf *out) {
    (void)arguments, (void)out;
    d->ends = true;
    return NULL;
}

/* What a request needs. */
enum needs { ANYTIME, LAUNCHED, BEGUN, STANDING };

typedef const char *request_fn(struct dap *d, mwl_value arguments, mwl__buf *out);
static const struct {
    const char *command;
    request_fn *fn;
    enum needs needs;
} requests[] = {
    {"initialize", initialize, ANYTIME},
    {"launch", launch, ANYTIME},
    {"setBreakpoints", dap_set_lines, LAUNCHED},
    {"setFunctionBreakpoints", dap_set_functions, LAUNCHED},
    {"setExceptionBreakpoints", dap_set_failures, LAUNCHED},
    {"configurationDone", begin, LAUNCHED},
    {"threads", dap_threads, ANYTIME},
    {"stackTrace", dap_stack, STANDING},
    {"scopes", dap_scopes, STANDING},
    {"variables", dap_variables, STANDING},
    {"evaluate", dap_evaluate, STANDING},
    {"exceptionInfo", dap_exception, STANDING},
    {"pause", pause_run, BEGUN},
    {"terminate", end, ANYTIME},
    {"disconnect", end, ANYTIME},
};

static const struct {
    const char *command;
    enum walk_go go;
} moves[] = {{"continue", GO_ON}, {"next", GO_NEXT}, {"stepIn", GO_STEP}, {"stepOut", GO_OUT}};

static const char *call_request(struct dap *d, const char *command, mwl_value arguments,
                                mwl__buf *out) {
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        if (strcmp(requests[i].command, command) != 0) continue;
        if (requests[i].needs >= LAUNCHED && !d->launched) return "launch comes first";
        if (requests[i].needs >= BEGUN && !d->begun) return "the run has not begun";
        if (requests[i].needs == STANDING && (d->running || !walk_event(&d->walk)))
            return "the run does not stand";
        return requests[i].fn(d, arguments, out);
    }
    return "there is no such request";
}

/* Moves answer first and move then, so that the answer comes in front of what they cause. */
static bool is_move(const char *command, enum walk_go *how) {
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (strcmp(moves[i].command, command) == 0) {
            *how = moves[i].go;
            return true;
        }
    return false;
}

static void respond(struct dap *d, mwl_value request, const char *why, const mwl__buf *body) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__buf_printf(&out, "{\"seq\":%llu,\"type\":\"response\",\"request_seq\":%u,\"success\":%s",
                    (unsigned long long)++d->seq, rpc_get_number(request, "seq", 0),
                    why ? "false" : "true");
    const char *command = rpc_get_text(request, "command", NULL);
    rpc_put_member(&out, "command", command ? command : "");
    if (why) rpc_put_member(&out, "message", why);
    if (!why && body && body->len) {
        mwl__buf_puts(&out, ",\"body\":");
        mwl__buf_put(&out, body->data, body->len);
    }
    mwl__buf_puts(&out, "}");
    deliver(d, &out);
}

/* Back: the run is started again and stands there when this returns. */
static void go_back(struct dap *d, mwl_value request, bool to_break) {
    bool stands = d->begun && !d->running && walk_event(&d->walk);
    if (!stands) {
        respond(d, request, "the run does not stand", NULL);
        return;
    }
    dap_forget(d);
    const char *why = to_break ? walk_back_to_break(&d->walk) : walk_step_back(&d->walk);
    respond(d, request, why, NULL);
    if (walk_event(&d->walk)) report_stop(d);
}

static void receive_request(struct dap *d, mwl_value request, const char *command) {
    mwl__buf body = mwl__buf_make(mwl_alloc_default());
    enum walk_go how = GO_ON;
    if (strcmp(command, "stepBack") == 0 || strcmp(command, "reverseContinue") == 0) {
        go_back(d, request, command[0] == 'r');
    } else if (is_move(command, &how)) {
        bool stands = d->begun && !d->running && walk_event(&d->walk);
        if (how == GO_ON) mwl__buf_puts(&body, "{\"allThreadsContinued\":true}");
        respond(d, request, stands ? NULL : "the run does not stand", &body);
        if (stands) go(d, how);
    } else {
        const char *why = call_request(d, command, rpc_get(request, "arguments"), &body);
        respond(d, request, why, &body);
        /* breakpoints need the program, so they are asked for when it is there */
        if (!why && strcmp(command, "launch") == 0) send_event(d, "initialized", NULL);
    }
    mwl__buf_free(&body);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void receive(struct dap *d, const char *text, size_t len) {
    mwl_value message = mwl_absent();
    mwl_status status = mwl_json_parse(d->heap, text, len, &message, NULL);
    const char *command = rpc_get_text(message, "command", NULL);
    if (status != MWL_OK)
        respond(d, message, mwl_status_text(status), NULL);
    else if (command)
        receive_request(d, message, command);
    mwl_value_drop(d->heap, message);
}

/* Waits for a message or the bell. Returns false if the bell alone has rung. */
static bool wait_for_message(struct dap *d) {
    struct pollfd fds[2] = {{d->rpc.in, POLLIN, 0}, {d->bell[0], POLLIN, 0}};
    if (!rpc_idle(&d->rpc) && !d->running) return true;
    while (poll(fds, 2, rpc_idle(&d->rpc) ? -1 : 0) < 0)
        if (errno != EINTR) return true;
    if (fds[1].revents & POLLIN) {
        char rung[64];
        ssize_t n = read(d->bell[0], rung, sizeof rung);
        (void)n;
        arrive(d);
    }
    return !rpc_idle(&d->rpc);
}

int dap_serve(struct dap *d) {
    const char *body;
    size_t len;
    while (!d->ends && !d->lost) {
        if (!wait_for_message(d)) continue;
        switch (rpc_read(&d->rpc, &body, &len)) {
        case RPC_MESSAGE: receive(d, body, len); break;
        case RPC_END: return CMD_OK;
        case RPC_BROKEN: return cmd_fail("the editor's messages are broken: %s", d->rpc.why);
        }
    }
    return d->lost ? CMD_FAILED : CMD_OK;
}
