/* run.c: see run.h. */
#include "tools/playground/run.h"

#include "tools/base/member.h"
#include "tools/host/answers.h"
#include "tools/playground/lines.h"
#include "tools/playground/reply.h"
#include "tools/report/report.h"
#include "tools/test/control.h"
#include "assembler/provider/provide.h"
#include "vm/explore/look.h"
#include "tools/playground/zone.h"
#include "vm/program/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Limits of a run that does not ask for others. */
#define PLAY_FUEL UINT64_C(2000000000)
#define PLAY_MEMORY ((size_t)256 << 20)

/* A call that waits for an answer from outside. */
struct outside {
    mwl_call *call;
    uint64_t number;
    struct outside *next;
};

struct play_run {
    struct subject *subject;
    mwl_vm *vm;
    mwl_heap *heap;
    mwl_program *program;
    mwl_run *run;
    mwl_instant start;
    struct session_turns turns;
    int64_t due_ns; /* as the last turn said; of the cancellation too */
    bool finished;
    uint32_t slice;
    mwl_value spec; /* the case, in the VM's heap */
    struct control control;
    struct answers *answers;
    struct outside *calls; /* the oldest first */
    char **made;           /* documents of providers that have none */
    size_t n_made;
    mwl__buf unexpected;   /* JSON objects with commas between them */
    struct events *events; /* these four only if the run is recorded */
    struct report *report;
    struct coverage *coverage;
    uint64_t *hits;
    struct lines lines;
    uint64_t n_stops;
};

/* ---- calls that are answered from outside ---------------------------------------------------- */

static void outside_start(mwl_call *call, void *user) {
    struct play_run *r = user;
    struct outside *o = calloc(1, sizeof *o), **at = &r->calls;
    if (!o) {
        mwl_call_succeed(call, mwl_absent()); /* out of memory: the run ends */
        return;
    }
    o->call = call;
    o->number = mwl_call_number(call);
    while (*at) at = &(*at)->next;
    *at = o;
}

/* Takes the record of a call out of the list, and frees it. */
static void forget(struct play_run *r, const mwl_call *call) {
    for (struct outside **at = &r->calls; *at; at = &(*at)->next)
        if ((*at)->call == call) {
            struct outside *o = *at;
            *at = o->next;
            free(o);
            return;
        }
}

static void outside_cancel(mwl_call *call, void *user) {
    forget(user, call);
    mwl_call_succeed(call, mwl_null()); /* the Result of a cancelled call is not used */
}

bool play_run_answer(struct play_run *r, uint64_t number, bool ok, const char *json, size_t len) {
    struct outside *o = r->calls;
    mwl_value v = mwl_absent();
    while (o && o->number != number) o = o->next;
    if (!o || mwl_json_parse(r->heap, json, len, &v, NULL) != MWL_OK) return false;
    mwl_call *call = o->call;
    forget(r, call);
    if (!ok && mwl_value_kind(v) == MWL_KIND_OBJECT && mwl_is_absent(mwl_get(v, "type")))
        v = member_set(r->heap, v, "type", mwl_text(r->heap, "error"));
    if (ok)
        mwl_call_succeed(call, v);
    else
        mwl_call_settle(call, v);
    return true;
}

/* The VM reads a document when a program is linked, so a text that was made here stays. Takes it
 * over; NULL is ignored. */
static mwl_status keep_document(struct play_run *r, char *take_text) {
    char **grown = realloc(r->made, (r->n_made + 1) * sizeof *grown);
    if (grown) r->made = grown;
    if (!take_text) return MWL_OK;
    if (!grown) {
        free(take_text);
        return MWL_E_NOMEM;
    }
    r->made[r->n_made++] = take_text;
    return MWL_OK;
}

/* Provides a call provider whose calls are answered from outside. Any namespace is allowed, because
 * nothing real is behind it. */
static mwl_status provide(struct play_run *r, const char *uri, mwl_error *error) {
    const char *document = subject_document(r->subject, uri);
    char *made = document ? NULL : answers_document(uri);
    const mwl_call_provider p = {.uri = uri,
                                 .document = document ? document : made,
                                 .start = outside_start,
                                 .cancel = outside_cancel};
    mwl_status status = mwl__provide_trusted(r->vm, &p, r, error);
    return status == MWL_OK ? keep_document(r, made) : status;
}

/* Provides what the program imports and the VM does not have, and puts the answers before it. */
static mwl_status bind(struct play_run *r, mwl_error *error) {
    mwl_status status = MWL_OK;
    for (uint32_t i = 0; i < mwl__view_n_imports(r->program) && status == MWL_OK; i++) {
        if (!mwl__view_is_called(r->program, i)) continue;
        const char *uri = mwl__view_uri(r->program, i);
        if (!mwl__look_provides(r->vm, uri)) status = provide(r, uri, error);
    }
    return status == MWL_OK ? answers_bind_program(r->answers, r->program, error) : status;
}

/* ---- what is heard --------------------------------------------------------------------------- */

/* Events at which stepping stops. */
static bool stops(mwl_trace_kind kind) {
    return kind == MWL_TRACE_STEP_ENTERED || kind == MWL_TRACE_CALL_DISPATCHED ||
           kind == MWL_TRACE_CALL_ACCEPTED || kind == MWL_TRACE_ATTEMPT ||
           kind == MWL_TRACE_CAUGHT || kind == MWL_TRACE_INTERRUPTED || kind == MWL_TRACE_RUN_DONE;
}

static void hear(void *ctx, const mwl_trace_event *event) {
    struct play_run *r = ctx;
    if (r->events) events_listen(r->events, event);
    if (r->coverage) coverage_event(r->coverage, r->hits, event);
    lines_event(&r->lines, event);
    if (stops(event->kind)) r->n_stops++;
}

static void hear_unexpected(void *ctx, const struct answers_call *call) {
    struct play_run *r = ctx;
    mwl__buf *out = &r->unexpected;
    if (out->len > (size_t)1 << 20) return;
    mwl__buf_puts(out, out->len ? ",{" : "{");
    reply_member(out, "provider", call->uri);
    reply_member(out, "flow", call->flow);
    reply_member(out, "step", call->step);
    mwl__buf_printf(out, ",\"number\":%" PRIu64, call->number);
    reply_member(out, "why", call->why);
    reply_name(out, "with");
    reply_value(out, r->heap, call->with, LINES_VALUE);
    reply_name(out, "input");
    reply_value(out, r->heap, call->input, LINES_VALUE);
    mwl__buf_putc(out, '}');
}

static mwl_status record(struct play_run *r) {
    r->events = events_new(r->heap);
    r->report = report_new(r->heap);
    r->coverage = coverage_new(r->program);
    if (!r->events || !r->report || !r->coverage) return MWL_E_NOMEM;
    r->hits = calloc(r->coverage->n_items + 1, sizeof *r->hits);
    const struct event_sink sink = report_sink(r->report);
    return r->hits && events_add_sink(r->events, &sink) ? MWL_OK : MWL_E_NOMEM;
}

/* ---- starting -------------------------------------------------------------------------------- */

static bool is_set(mwl_value request, const char *name) {
    mwl_value v = mwl_get(request, name);
    return mwl_value_kind(v) == MWL_KIND_BOOL && mwl_as_bool(v);
}

static uint64_t number_of(mwl_value request, const char *name, uint64_t otherwise) {
    mwl_value v = mwl_get(request, name);
    if (mwl_value_kind(v) != MWL_KIND_NUMBER || !(mwl_as_number(v) >= 1) || mwl_as_number(v) > 9e15)
        return otherwise;
    return (uint64_t)mwl_as_number(v);
}

static void case_problem(struct play_run *r, mwl_value request, const char *why) {
    size_t len = 0;
    const char *text = mwl_as_text(mwl_get(request, "case"), &len);
    subject_problem(r->subject, "case", why, text, len, 0);
}

static mwl_status make_vm(struct play_run *r, mwl_value request) {
    char why[300];
    mwl_config config = mwl_config_default();
    if (!control_read(subject_member(r->subject, "control"), &r->control, why, sizeof why)) {
        case_problem(r, request, why);
        return MWL_E_REJECTED;
    }
    r->slice = (uint32_t)(number_of(request, "slice", 4096) & 0xFFFFFFu);
    config.virtual_time = is_set(request, "virtual");
    config.slice = r->slice;
    config.zone = play_zone;
    config.limits = r->control.limits;
    if (!config.limits.fuel) config.limits.fuel = number_of(request, "fuel", PLAY_FUEL);
    if (!config.limits.memory_bytes)
        config.limits.memory_bytes = (size_t)number_of(request, "memory", PLAY_MEMORY);
    if (!r->control.seed) r->control.seed = number_of(request, "seed", 0);
    config.seed = r->control.seed;
    mwl_status status = session_vm(&config, &r->turns);
    r->vm = r->turns.vm;
    r->turns.stands = true;
    if (r->vm) r->heap = mwl_vm_heap(r->vm);
    return status;
}

static mwl_status script(struct play_run *r, mwl_value request) {
    char why[500];
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_value none = mwl_object(r->heap, 0), given = subject_member(r->subject, "answers");
    r->spec = mwl_is_absent(given) ? none : mwl_value_copy(r->heap, given);
    if (!mwl_is_absent(given)) mwl_value_drop(r->heap, none);
    if (mwl_is_absent(r->spec)) return MWL_E_NOMEM;
    mwl_status status = answers_new(r->vm, r->spec, NULL, &r->answers, why, sizeof why);
    if (status != MWL_OK) {
        case_problem(r, request, why);
        return status;
    }
    answers_listen(r->answers, hear_unexpected, r);
    status = bind(r, &error);
    if (status != MWL_OK)
        case_problem(r, request, error.message ? error.message : mwl_status_text(status));
    return status;
}

/* Whether the answers and the control of a case can be used, without a run. */
void play_run_check(struct subject *s, mwl_value request) {
    struct play_run r = {.subject = s, .spec = mwl_absent()};
    char why[500];
    if (make_vm(&r, request) == MWL_OK) {
        mwl_value given = subject_member(r.subject, "answers");
        mwl_value copy = mwl_is_absent(given) ? given : mwl_value_copy(r.heap, given);
        if (!mwl_is_absent(copy) &&
            answers_new(r.vm, copy, NULL, &r.answers, why, sizeof why) != MWL_OK)
            case_problem(&r, request, why);
        mwl_value_drop(r.heap, copy);
        answers_free(r.answers);
    }
    mwl_vm_free(r.vm);
}

/* Of the request, else of the case. */
static mwl_status data_of(struct play_run *r, mwl_value request, const char *name, mwl_value *out) {
    mwl_status status = subject_json(r->subject, request, name, r->heap, out);
    mwl_value of_case = subject_member(r->subject, name);
    if (status == MWL_OK && mwl_is_absent(*out) && !mwl_is_absent(of_case))
        *out = mwl_value_copy(r->heap, of_case);
    return status;
}

static mwl_status start(struct play_run *r, mwl_value request) {
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_start how = {.id = mwl_as_text(mwl_get(request, "id"), NULL), .seed = r->control.seed};
    mwl_status input = data_of(r, request, "input", &how.input);
    mwl_status status = data_of(r, request, "arguments", &how.arguments);
    if (input != MWL_OK) status = input;
    if (status == MWL_OK) {
        mwl_vm_now(r->vm, &r->start);
        r->lines.start_ns = r->start.mono_ns;
        control_cancels(&r->control, &r->turns);
        mwl_vm_trace(r->vm, hear, r);
        status = mwl_run_start(r->vm, r->program, &how, &r->run, &error);
        if (status != MWL_OK)
            case_problem(r, request, error.message ? error.message : mwl_status_text(status));
    }
    mwl_value_drop(r->heap, how.input);
    mwl_value_drop(r->heap, how.arguments);
    return status;
}

mwl_status play_run_new(struct subject *s, mwl_program *program, mwl_value request,
                        struct play_run **out) {
    struct play_run *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r) return MWL_E_NOMEM;
    r->subject = s;
    r->program = mwl_program_keep(program);
    r->spec = mwl_absent();
    r->unexpected = mwl__buf_make(mwl_alloc_default());
    mwl_status status = make_vm(r, request);
    lines_init(&r->lines, r->heap, is_set(request, "lines"));
    if (status == MWL_OK && is_set(request, "record")) status = record(r);
    if (status == MWL_OK) status = script(r, request);
    if (status == MWL_OK) status = start(r, request);
    if (status == MWL_OK) {
        *out = r;
        return MWL_OK;
    }
    play_run_free(r);
    return status;
}

void play_run_free(struct play_run *r) {
    if (!r) return;
    mwl_run_free(r->run);
    answers_free(r->answers);
    events_free(r->events);
    report_free(r->report);
    coverage_free(r->coverage);
    free(r->hits);
    lines_free(&r->lines);
    mwl__buf_free(&r->unexpected);
    if (r->heap) mwl_value_drop(r->heap, r->spec);
    mwl_vm_free(r->vm);
    while (r->calls) forget(r, r->calls->call);
    for (size_t i = 0; i < r->n_made; i++) free(r->made[i]);
    free(r->made);
    mwl_program_release(r->program);
    free(r);
}

/* ---- going on -------------------------------------------------------------------------------- */

static bool is_over(const struct play_run *r) { return session_is_over(r->run); }

static int64_t now_of(const struct play_run *r) {
    mwl_instant now;
    mwl_vm_now(r->vm, &now);
    return now.mono_ns;
}

/* One turn of the machine. Returns false if there was none: the run waits, or is over. */
static bool turn(struct play_run *r, int64_t fuel) {
    r->turns.fuel = fuel;
    return session_turn(&r->turns, r->run, &r->due_ns) == SESSION_AGAIN;
}

/* Moves virtual time to the next timer. Returns false if nothing is due. */
static bool move_time(struct play_run *r) {
    if (!r->turns.virtual_time || is_over(r) || r->due_ns == MWL_NEVER) return false;
    session_pass(r->vm, r->due_ns);
    return true;
}

void play_run_go(struct play_run *r, enum play_until until, bool advance, int64_t fuel) {
    uint64_t stop = r->n_stops;
    if (until == PLAY_TIMER) {
        while (fuel > 0 && turn(r, 1)) fuel -= r->slice;
        (void)move_time(r);
    }
    while (fuel > 0 && !is_over(r)) {
        fuel -= r->slice;
        if (until == PLAY_STEP && r->n_stops != stop) break;
        if (turn(r, until == PLAY_STEP ? 1 : r->slice)) continue;
        if (until == PLAY_STEP && r->n_stops != stop) break;
        if (until == PLAY_WAIT || until == PLAY_TIMER || !advance || r->calls) break;
        if (!move_time(r)) break;
    }
    if (r->finished || !is_over(r)) return;
    r->finished = true;
    mwl_instant now;
    mwl_vm_now(r->vm, &now);
    if (r->events) events_finish(r->events, &now);
}

void play_run_cancel(struct play_run *r, const char *reason) {
    r->turns.cancels = false;
    (void)mwl_run_cancel(r->run, reason);
}

/* ---- replies --------------------------------------------------------------------------------- */

static void put_where(struct play_run *r, mwl__buf *out) {
    static const char *const words[] = {"nothing", "time", "entry", "call", "gather"};
    mwl_where w;
    if (!mwl_run_where(r->run, &w)) return;
    reply_name(out, "where");
    mwl__buf_putc(out, '{');
    reply_member(out, "flow", w.flow);
    reply_member(out, "step", w.step);
    reply_member(out, "waiting", words[w.waiting]);
    reply_member(out, "provider", w.provider);
    reply_member(out, "phase", w.phase);
    mwl__buf_printf(out,
                    ",\"line\":%" PRIu32 ",\"column\":%" PRIu32 ",\"depth\":%" PRIu32
                    ",\"runs\":%" PRIu64 ",\"total\":%" PRIu32 ",\"done\":%" PRIu32,
                    w.line, w.column, w.depth, w.runs, w.total, w.done);
    mwl__buf_putc(out, '}');
    reply_name(out, "vars");
    reply_value(out, r->heap, mwl_run_vars(r->run, w.depth), LINES_VALUE);
}

static void put_calls(struct play_run *r, mwl__buf *out) {
    reply_name(out, "calls");
    mwl__buf_putc(out, '[');
    for (const struct outside *o = r->calls; o; o = o->next) {
        mwl_place at = {"", "", 0, 0};
        char id[300] = "";
        mwl_call_place(o->call, &at);
        mwl_call_id(o->call, id, sizeof id);
        mwl_wait wait = {.provider = ""};
        for (uint32_t i = 0; mwl_run_waits(r->run, i, &wait) && wait.number != o->number;) i++;
        mwl__buf_printf(out, "%s{\"number\":%" PRIu64, o == r->calls ? "" : ",", o->number);
        reply_member(out, "provider", wait.provider);
        reply_member(out, "flow", at.flow);
        reply_member(out, "step", at.step);
        reply_member(out, "id", id);
        reply_name(out, "with");
        reply_value(out, r->heap, mwl_call_arguments(o->call), 0);
        reply_name(out, "input");
        reply_value(out, r->heap, mwl_call_input(o->call), 0);
        mwl__buf_putc(out, '}');
    }
    mwl__buf_puts(out, "]");
}

static const char *state_word(const struct play_run *r) {
    mwl_run_state state = mwl_run_get_state(r->run);
    if (state == MWL_RUN_ABORTED) return "aborted";
    if (state == MWL_RUN_DONE) return "done";
    return mwl_run_get_state(r->run) == MWL_RUN_READY ? "ready" : "waiting";
}

void play_run_state(struct play_run *r, mwl__buf *out) {
    mwl_status why = mwl_run_why(r->run);
    int64_t now = now_of(r), due = r->due_ns < now ? now : r->due_ns;
    char unused[400];
    reply_member(out, "state", state_word(r));
    reply_name(out, "now");
    reply_ns(out, now - r->start.mono_ns);
    reply_name(out, "due");
    reply_ns(out, is_over(r) || due == MWL_NEVER ? MWL_NEVER : due - r->start.mono_ns);
    mwl__buf_printf(out, ",\"stops\":%" PRIu64, r->n_stops);
    put_where(r, out);
    put_calls(r, out);
    reply_name(out, "unexpected");
    mwl__buf_putc(out, '[');
    mwl__buf_put(out, r->unexpected.data, r->unexpected.len);
    mwl__buf_putc(out, ']');
    if (is_over(r)) {
        reply_name(out, "result");
        reply_value(out, r->heap, mwl_run_result(r->run), 0);
        reply_member(out, "why", why < 0 ? mwl_status_text(why) : NULL);
        bool left = answers_unused(r->answers, r->run, unused, sizeof unused);
        reply_member(out, "unused", left ? unused : NULL);
    }
    lines_reply(&r->lines, out);
}

void play_run_report(struct play_run *r, mwl__buf *out) {
    mwl__buf svg = mwl__buf_make(mwl_alloc_default()), data = svg;
    const struct report_about about = {.file = r->subject->name,
                                       .model = r->subject->drawable ? &r->subject->model : NULL,
                                       .source = r->subject->text,
                                       .source_len = r->subject->len,
                                       .run = r->run,
                                       .virtual_time = r->turns.virtual_time,
                                       .coverage = r->coverage,
                                       .hits = r->hits};
    if (r->report) report_data(r->report, &about, &svg, &data);
    reply_name(out, "svg");
    reply_text(out, svg.len && !svg.failed ? svg.data : NULL, svg.len);
    reply_name(out, "data");
    if (data.len && !data.failed)
        mwl__buf_put(out, data.data, data.len);
    else
        mwl__buf_puts(out, "null");
    if (data.failed) out->failed = true;
    mwl__buf_free(&svg);
    mwl__buf_free(&data);
}
