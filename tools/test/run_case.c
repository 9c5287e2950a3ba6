/* run_case.c: one case of `mwlvm test`, from its file to what it has to say.
 *
 * Owns: the VM of a case: virtual time, scripted answers, a listener that keeps what happens. */
#include "tools/host/answers.h"
#include "tools/base/member.h"
#include "tools/host/io_host.h"
#include "tools/host/testable.h"
#include "tools/test/case_names.h"
#include "tools/test/control.h"
#include "tools/test/expect.h"
#include "tools/test/programs.h"
#include "vm/base/suggest.h"
#include "vm/program/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct running {
    const struct test_run *how;
    const struct test_case *c;
    struct test_outcome *out;
    mwl_heap *reader, *spec_heap; /* the case is read before there is a VM, then copied there */
    mwl_value spec;               /* the case */
    mwl_vm *vm;
    struct session_turns turns; /* of it */
    mwl_heap *heap;
    mwl_run *run;
    struct answers *answers;
    struct io_host io; /* middleware of stdlib/io */
    struct control control;
    struct test_program *program;
    struct seen seen;
    struct trace_lines trace;
    uint64_t *hits;
    bool unexpected;
};

static bool fail(struct running *r, const char *what, const char *why) {
    mwl__buf_printf(&r->out->text, "  %s: %s\n", what, why);
    return false;
}

static mwl_value member(const struct running *r, const char *name) {
    return mwl_get(r->spec, name);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool parse(struct running *r, const char *path, bool optional, mwl_value *out) {
    size_t len = 0;
    char *text = testable_read(path, &len);
    mwl_error error = {MWL_OK, NULL, 0};
    *out = mwl_absent();
    if (!text) return optional || fail(r, path, strerror(errno));
    mwl_status status = mwl_json_parse(r->reader, text, len, out, &error);
    if (status != MWL_OK) {
        unsigned line = 1;
        for (size_t i = 0; i < error.offset && i < len; i++) line += text[i] == '\n';
        mwl__buf_printf(&r->out->text, "  %s:%u: %s\n", path, line,
                        error.message ? error.message : mwl_status_text(status));
    }
    free(text);
    return status == MWL_OK;
}

/* A scenario of the conformance layout as the one file that would mean the same. */
static bool read_scenario(struct running *r) {
    static const struct {
        const char *file, *name;
    } parts[] = {{"input.json", "input"},
                 {"arguments.json", "arguments"},
                 {"answers.json", "answers"},
                 {"control.json", "control"},
                 {"expected-result.json", "result"},
                 {"expected-trace.json", "trace"}};
    mwl_value spec = mwl_object(r->reader, 6), expect = mwl_object(r->reader, 2);
    bool good = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && good; i++) {
        char *path = testable_beside(r->c->file, parts[i].file);
        mwl_value v = mwl_absent();
        good = path && parse(r, path, i != 4, &v);
        free(path);
        if (mwl_is_absent(v)) continue;
        mwl_value *into = i < 4 ? &spec : &expect;
        *into = member_set(r->reader, *into, parts[i].name, v);
    }
    r->spec = member_set(r->reader, spec, "expect", expect);
    return good;
}

static bool read_case(struct running *r) {
    static const char *const names[] = {"definition", "providers", "input",
                                        "arguments",  "answers",   "control",
                                        "expect",     "comment",   "name"};
    mwl_value key;
    if (r->c->dir) return read_scenario(r);
    if (!parse(r, r->c->file, false, &r->spec)) return false;
    for (size_t i = 0; mwl_object_at(r->spec, i, &key, NULL); i++) {
        size_t k = 0, n = sizeof names / sizeof *names;
        while (k < n && strcmp(names[k], mwl_as_text(key, NULL)) != 0) k++;
        if (k < n) continue;
        const char *name = mwl_as_text(key, NULL), *near;
        near = mwl__suggest_among(name, strlen(name), names, n);
        mwl__buf_printf(&r->out->text, "  %s: this is not a member of a case%s%s%s\n", name,
                        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        return false;
    }
    return mwl_value_kind(member(r, "definition")) == MWL_KIND_STRING ||
           fail(r, "definition", "the name of a file is wanted");
}

static bool get_program(struct running *r) {
    mwl_value files = member(r, "providers");
    size_t n = mwl_count(files), k = 0;
    char **paths = calloc(n + 1, sizeof *paths);
    char *path = NULL;
    if (r->c->dir) {
        path = malloc(strlen(r->c->dir) + 32);
        if (path) sprintf(path, "%s/definition.json", r->c->dir);
    } else {
        path = testable_beside(r->c->file, mwl_as_text(member(r, "definition"), NULL));
    }
    for (; paths && k < n; k++) {
        const char *name = mwl_as_text(mwl_array_at(files, k), NULL);
        paths[k] = testable_beside(r->c->file, name ? name : "");
        if (!paths[k]) break;
    }
    if (paths && path && k == n)
        r->program = test_programs_get(r->how->programs, path, (const char *const *)paths, n);
    for (size_t i = 0; i < k; i++) free(paths[i]);
    free(paths);
    free(path);
    if (!r->program) return fail(r, "definition", mwl_status_text(MWL_E_NOMEM));
    if (r->program->status == MWL_OK) return true;
    mwl__buf_put(&r->out->text, r->program->problems.data, r->program->problems.len);
    return false;
}

/* ---- running --------------------------------------------------------------------------------- */

static void listen(void *ctx, const mwl_trace_event *event) {
    struct running *r = ctx;
    seen_event(&r->seen, event);
    trace_lines_event(&r->trace, event);
    if (r->hits) coverage_event(r->program->coverage, r->hits, event);
}

static void unexpected(void *ctx, const struct answers_call *call) {
    struct running *r = ctx;
    struct matcher m = {r->heap, NULL, &r->out->text, 0};
    r->unexpected = true;
    mwl__buf_printf(&r->out->text, "  unexpected call %llu of %s%s%s%s\n",
                    (unsigned long long)call->number, call->uri, *call->step ? " in Step '" : "",
                    call->step, *call->step ? "'" : "");
    mwl__buf_puts(&r->out->text, "    with ");
    match_put(&m, call->with, 1000);
    mwl__buf_puts(&r->out->text, "\n    input ");
    match_put(&m, call->input, 1000);
    mwl__buf_printf(&r->out->text, "\n    %s\n", call->why);
}

static bool bind(struct running *r) {
    const mwl_program *p = r->program->testable.program;
    mwl_error error = {MWL_OK, NULL, 0};
    char why[500];
    mwl_value none = mwl_object(r->heap, 0), given = member(r, "answers");
    mwl_status status =
        answers_new(r->vm, mwl_is_absent(given) ? none : given, NULL, &r->answers, why, sizeof why);
    mwl_value_drop(r->heap, none);
    if (status != MWL_OK) return fail(r, "case", why);
    answers_listen(r->answers, unexpected, r);
    for (uint32_t i = 0; i < mwl__view_n_imports(p) && status == MWL_OK; i++) {
        if (!mwl__view_is_called(p, i)) continue;
        const char *uri = mwl__view_uri(p, i);
        const struct testable_document *d = testable_document(&r->program->testable, uri);
        status = answers_bind(r->answers, uri, d ? d->text : NULL, &error);
    }
    return status == MWL_OK ||
           fail(r, "provider", error.message ? error.message : mwl_status_text(status));
}

/* The VM, with the case's values in its heap. */
static bool make_vm(struct running *r) {
    mwl_config config = mwl_config_default();
    char why[300];
    if (!control_read(member(r, "control"), &r->control, why, sizeof why))
        return fail(r, "case", why);
    config.virtual_time = true;
    config.limits = r->control.limits;
    if (!r->control.seed) r->control.seed = r->how->seed;
    config.seed = r->control.seed;
    mwl_status status = session_vm(&config, &r->turns);
    r->vm = r->turns.vm;
    if (status == MWL_OK) status = io_host_middleware(&r->io, r->vm, r->program->testable.program);
    if (status != MWL_OK) return fail(r, "VM", mwl_status_text(status));
    r->heap = mwl_vm_heap(r->vm);
    mwl_value copy = mwl_value_copy(r->heap, r->spec);
    if (mwl_is_absent(copy)) return fail(r, "case", mwl_status_text(MWL_E_NOMEM));
    mwl_value_drop(r->reader, r->spec);
    r->spec = copy;
    r->spec_heap = r->heap;
    r->control.reason = mwl_as_text(mwl_get(member(r, "control"), "reason"), NULL); /* it moved */
    return bind(r);
}

static const char *drive(struct running *r) {
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_instant now;
    mwl_vm_now(r->vm, &now);
    seen_begin(&r->seen, r->heap, &now);
    r->trace.expected = mwl_get(member(r, "expect"), "trace");
    if (r->program->coverage) r->hits = calloc(r->program->coverage->n_items + 1, sizeof *r->hits);
    mwl_vm_trace(r->vm, listen, r);
    const mwl_start start = {
        .input = member(r, "input"), .arguments = member(r, "arguments"), .seed = r->control.seed};
    control_cancels(&r->control, &r->turns);
    mwl_status status = mwl_run_start(r->vm, r->program->testable.program, &start, &r->run, &error);
    if (status != MWL_OK) {
        fail(r, "start", error.message ? error.message : mwl_status_text(status));
        return "it could not be started";
    }
    if (!session_finish(&r->turns, r->run))
        return "the run waits for an answer that never comes, and nothing bounds the wait";
    if (mwl_run_get_state(r->run) == MWL_RUN_ABORTED)
        return mwl_run_why(r->run) < 0 ? mwl_status_text(mwl_run_why(r->run)) : "it was aborted";
    return NULL;
}

/* ---- judging --------------------------------------------------------------------------------- */

static void write_update(struct running *r, const struct outcome *o) {
    char *text = NULL;
    size_t len = 0;
    mwl_value whole = mwl_absent();
    if (r->c->dir) {
        if (!mwl_is_absent(o->result)) whole = mwl_value_keep(o->result);
    } else {
        mwl_value expect = expect_update(r->heap, member(r, "expect"), o);
        if (mwl_value_equal(expect, member(r, "expect")))
            mwl_value_drop(r->heap, expect); /* what differs cannot be written */
        else
            whole = member_set(r->heap, mwl_value_keep(r->spec), "expect", expect);
    }
    if (!mwl_is_absent(whole) &&
        mwl_json_write(r->heap, whole, MWL_JSON_PRETTY, &text, &len) == MWL_OK) {
        mwl__buf_put(&r->out->updated, text, len);
        mwl__buf_putc(&r->out->updated, '\n');
    }
    mwl_text_free(r->heap, text, len);
    mwl_value_drop(r->heap, whole);
}

/* Prints what the run did, for a person. */
static void narrate(struct running *r, const char *ended) {
    struct matcher m = {r->heap, NULL, &r->out->story, 0};
    mwl_value calls = seen_calls(&r->seen, false);
    for (size_t i = 0; i < mwl_count(calls); i++) {
        mwl_value c = mwl_array_at(calls, i), failure = mwl_get(c, "failure"),
                  value = mwl_get(c, "value");
        mwl__buf_printf(m.out, "%s: Step '%s' calls %s", mwl_as_text(mwl_get(c, "at"), NULL),
                        mwl_as_text(mwl_get(c, "step"), NULL),
                        mwl_as_text(mwl_get(c, "provider"), NULL));
        mwl__buf_puts(m.out, mwl_is_absent(mwl_get(c, "cleanup")) ? "" : " to clean up");
        mwl__buf_puts(m.out, "\n  with ");
        match_put(&m, mwl_get(c, "with"), 200);
        mwl__buf_puts(m.out, "\n  input ");
        match_put(&m, mwl_get(c, "input"), 200);
        mwl__buf_puts(m.out, !mwl_is_absent(failure) ? "\n  failure " : "\n  value ");
        match_put(&m, !mwl_is_absent(failure) ? failure : value, 400);
        mwl__buf_putc(m.out, '\n');
    }
    mwl_value_drop(r->heap, calls);
    mwl_value took = seen_duration(r->heap, r->seen.end.mono_ns - r->seen.start.mono_ns);
    mwl__buf_printf(m.out, "%s: ", mwl_as_text(took, NULL));
    mwl_value_drop(r->heap, took);
    if (ended)
        mwl__buf_puts(m.out, ended);
    else
        match_put(&m, mwl_run_result(r->run), 2000);
    mwl__buf_putc(m.out, '\n');
}

static bool judge(struct running *r, const char *ended) {
    struct expr_env env;
    expr_env_init(&env, r->heap);
    mwl_instant now;
    mwl_vm_now(r->vm, &now);
    r->seen.end = now;
    const struct outcome o = {&r->seen, member(r, "input"),
                              ended ? mwl_absent() : mwl_run_result(r->run), ended};
    struct matcher m = {r->heap, &env, &r->out->text, 0};
    if (r->how->story) narrate(r, ended);
    bool good = expect_check(&m, member(r, "expect"), &o);
    trace_lines_end(&r->trace);
    if (*r->trace.why) good = fail(r, "trace", r->trace.why);
    if ((!good || mwl_count(member(r, "expect")) == 0) && r->how->update && !r->unexpected)
        write_update(r, &o);
    expr_env_free(&env);
    return good && !r->unexpected;
}

static void finish(struct running *r) {
    if (r->hits) test_program_took(r->program, r->hits);
    free(r->hits);
    seen_free(&r->seen);
    mwl_run_free(r->run);
    answers_free(r->answers);
    io_host_close(&r->io);
    if (r->spec_heap) mwl_value_drop(r->spec_heap, r->spec);
    mwl_vm_free(r->vm);
    mwl_heap_free(r->reader);
}

void test_run_case(const struct test_run *how, const struct test_case *c,
                   struct test_outcome *out) {
    struct running r;
    struct timespec from, to;
    memset(&r, 0, sizeof r);
    memset(out, 0, sizeof *out);
    r.how = how;
    r.c = c;
    r.out = out;
    r.spec = mwl_absent();
    out->text = out->updated = out->story = mwl__buf_make(mwl_alloc_default());
    clock_gettime(CLOCK_MONOTONIC, &from);
    bool good = mwl_heap_new(NULL, &r.reader) == MWL_OK;
    r.spec_heap = r.reader;
    good = good && read_case(&r) && get_program(&r);
    good = good && case_names_check(r.program->testable.program, r.spec, &out->text) && make_vm(&r);
    if (good) {
        const char *ended = drive(&r);
        good = r.run ? judge(&r, ended) : false;
    }
    out->status = good ? TEST_PASSED : TEST_FAILED;
    finish(&r);
    clock_gettime(CLOCK_MONOTONIC, &to);
    out->took_ns = (int64_t)(to.tv_sec - from.tv_sec) * 1000000000 + (to.tv_nsec - from.tv_nsec);
}

void test_outcome_free(struct test_outcome *o) {
    mwl__buf_free(&o->text);
    mwl__buf_free(&o->updated);
    mwl__buf_free(&o->story);
}
