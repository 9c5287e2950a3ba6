/* cmd_run.c: `mwlvm run FILE`: from the command line to the Result and the exit status.
 *
 * Owns: the order of things and what a run's end means for the shell. Refuses to know: where values
 * come from (input.h), how programs are made (definition.h), time and signals (host_uv.h), wording
 * (explain.h). */
#include "tools/base/cmd.h"
#include "tools/durable/durable.h"
#include "tools/host/durable_providers.h"
#include "tools/run/each.h"
#include "tools/show/explain.h"
#include "tools/run/host_uv.h"
#include "tools/base/file_out.h"
#include "tools/base/input.h"
#include "tools/base/json_out.h"
#include "tools/run/run_options.h"
#include "tools/run/run_vm.h"
#include "tools/run/saved.h"
#include "vm/program/program.h"
#include "tools/test/record.h"
#include "tools/run/watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job {
    struct run_options options;
    mwl_program *program;
    struct run_vm *made;
    mwl_vm *vm; /* its VM */
    mwl_heap *heap;
    mwl_value input, arguments;
    struct watch watch;
    struct saved saved; /* of `resume` */
    bool resumes;
    mwl__source source; /* the definition, for snippets */
};

/* ---- making ready ---------------------------------------------------------------------------- */

static int make_vm(struct job *s) {
    const struct run_vm_host host = {.loop = host_loop()};
    if (!host.loop) return CMD_USAGE;
    int status = run_vm_new(&s->options, s->program, &host, &s->made);
    if (status != CMD_OK) return status;
    s->vm = s->made->vm;
    s->heap = mwl_vm_heap(s->vm);
    return CMD_OK;
}

static int read_values(struct job *s) {
    const struct run_options *o = &s->options;
    struct input in = {s->heap, &s->options.definition.limits};
    int status = CMD_OK;
    if (o->input)
        status = input_word(&in, "--input", o->input, &s->input);
    else if (!o->stdin_taken)
        status = input_stdin(&in, &s->input);
    s->arguments = mwl_object(s->heap, 0);
    if (status == CMD_OK && o->arguments)
        status = input_arguments(&in, o->arguments, &s->arguments);
    for (size_t i = 0; i < o->args.count && status == CMD_OK; i++)
        status = input_argument(&in, o->args.words[i], &s->arguments);
    return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool type_is(mwl_value result, const char *type) {
    size_t len = 0;
    const char *text = mwl_as_text(mwl_object_get(result, "type", 4), &len);
    return text && len == strlen(type) && memcmp(text, type, len) == 0;
}

static int print_json(struct job *s, mwl_value v, bool success) {
    bool terminal = isatty(STDOUT_FILENO);
    bool pretty = s->options.pretty || (!s->options.compact && terminal);
    const struct json_out how = {stdout, pretty ? MWL_JSON_PRETTY : MWL_JSON_COMPACT, terminal, 0};
    /* a value that shares its parts may be gigabytes as text */
    if (!json_out_fits(s->heap, v, how.style, s->options.definition.limits.memory)) {
        limits_report(&s->options.definition.limits, MWL_E_NOMEM, " by the text of the Result");
        return CMD_LIMIT;
    }
    mwl_status status = success ? json_out_value(&how, s->heap, v) : json_out(&how, s->heap, v);
    putchar('\n');
    (void)cmd_flush(); /* before what is said about it */
    if (status == MWL_OK) return CMD_OK;
    cmd_fail("the Result cannot be printed: %s", mwl_status_text(status));
    return CMD_LIMIT;
}

/* A failure is for a program on standard output and for a person on standard error. Where both are
 * one terminal, the explanation is enough; --result, --pretty or --compact ask for the Result. */
static bool explains_only(const struct job *s) {
    const struct run_options *o = &s->options;
    return !o->whole_result && !o->pretty && !o->compact && isatty(STDOUT_FILENO) &&
           isatty(STDERR_FILENO);
}

static int report_limit(const struct job *s, const struct explain *e, mwl_status why) {
    char where[400];
    mwl_value details = mwl_object_get(mwl_run_result(e->run), "details", 7);
    explain_where(e, where, sizeof where);
    if (why == MWL_E_FUEL || why == MWL_E_TOO_BIG)
        limits_report(&s->options.definition.limits, why, where);
    else
        cmd_note("a limit ended the run%s: %s", where, mwl_status_text(why));
    /* a cleanup's own failure may have taken the place of the cancellation */
    if (mwl_is_absent(mwl_object_get(details, "limit", 5))) explain_failure(e);
    return CMD_LIMIT;
}

static int report(struct job *s, const mwl_run *run) {
    mwl_status why = mwl_run_why(run);
    const struct explain e = {s->heap, run, file_in_name(s->options.definition.path),
                              s->source.text ? &s->source : NULL};
    if (mwl_run_get_state(run) == MWL_RUN_ABORTED) {
        if (why == MWL_E_FUEL || why == MWL_E_TOO_BIG)
            limits_report(&s->options.definition.limits, why, " twice: the cleanup needed more");
        cmd_fail("the run was ended without a Result%s%s", why < 0 ? ": " : "",
                 why < 0 ? mwl_status_text(why) : "");
        return why < 0 ? CMD_LIMIT : CMD_CANCELLED;
    }
    mwl_value result = mwl_run_result(run);
    bool success = type_is(result, "success");
    if (success || !explains_only(s)) {
        mwl_value shown = result;
        if (success && !s->options.whole_result) shown = mwl_object_get(result, "value", 5);
        int status = print_json(s, shown, success);
        if (status != CMD_OK) return status;
    }
    if (why < 0) return report_limit(s, &e, why);
    if (success) return CMD_OK;
    explain_failure(&e);
    return type_is(result, "cancellation") ? CMD_CANCELLED
           : type_is(result, "timeout")    ? CMD_TIMEOUT
                                           : CMD_FAILED;
}

/* Finds the limits that are left for the run: the program and the input are there already. */
static bool limit_run(const struct job *s, mwl_limits *out) {
    const struct limits *l = &s->options.definition.limits;
    size_t held = l->used + mwl_heap_used(s->heap);
    memset(out, 0, sizeof *out);
    out->fuel = l->fuel;
    out->memory_bytes = l->memory == SIZE_MAX ? SIZE_MAX : l->memory - held;
    if (held < l->memory) return true;
    limits_report(l, MWL_E_NOMEM, " by the program and its input");
    return false;
}

/* Starts the run, or loads it. */
static mwl_status begin(struct job *s, mwl_run **run, mwl_error *error) {
    mwl_limits limits;
    if (!limit_run(s, &limits)) return MWL_E_TOO_BIG;
    if (s->resumes) { /* the file may come from somewhere else, and its limits with it */
        const mwl_load how = {.program = s->program, .limits = &limits};
        mwl_status status = mwl_run_load(s->vm, s->saved.run, s->saved.size, &how, run, error);
        if (status == MWL_OK) watch_loaded(&s->watch, *run);
        return status;
    }
    const mwl_start start = {
        .id = s->options.id, .input = s->input, .arguments = s->arguments, .limits = &limits};
    return mwl_run_start(s->vm, s->program, &start, run, error);
}

/* Pumps it until it is over, or was saved. */
static int drive(struct job *s, mwl_run *run) {
    struct save_when when = {s->options.save, s->program, s->options.save_at, CMD_OK};
    const struct host_pause pause = {save_now, &when};
    int signal_number = 0;
    if (s->options.save) save_watch();
    mwl_status status =
        host_drive(s->made, run, s->options.virtual_time, s->watch.tick.fn ? &s->watch.tick : NULL,
                   s->options.save ? &pause : NULL, &signal_number);
    watch_stop(&s->watch);
    if (signal_number) cmd_end_by_signal(signal_number);
    if (status < 0) return CMD_USAGE;
    if (mwl_run_get_state(run) < MWL_RUN_DONE) {
        cmd_note("saved; `mwlvm resume %s` goes on with it", when.path);
        return CMD_OK;
    }
    int answer = report(s, run);
    if (when.step) cmd_note("not saved: the run never waited in Step %s", when.step);
    return answer == CMD_OK ? when.failed : answer;
}

/* A file that cannot be written is found before the run has effects, not after it. */
static int check_outputs(const struct run_options *o) {
    const char *const outputs[] = {o->record, o->report, o->save};
    int status = CMD_OK;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs && status == CMD_OK; i++)
        if (outputs[i]) status = file_out_possible(outputs[i]);
    return status;
}

static int run_program(struct job *s) {
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_run *run = NULL;
    signal(SIGPIPE, SIG_IGN); /* who reads the trace or the Result does not decide about cleanup */
    if (s->program->source)
        mwl__source_init(&s->source, mwl_alloc_default(), s->options.definition.path,
                         s->program->source, s->program->source_size);
    int watching = check_outputs(&s->options);
    if (watching == CMD_OK) watching = watch_begin(&s->watch, &s->options, s->vm, s->program);
    if (watching != CMD_OK) return watching;
    mwl_status status = begin(s, &run, &error);
    if (status == MWL_E_TOO_BIG && !error.message) return CMD_LIMIT; /* after a message */
    if (status == MWL_E_NOT_FOUND) {
        cmd_fail("%s needs '%s', which this command does not have", s->options.definition.path,
                 error.message);
        return CMD_REJECTED;
    }
    if (status < 0) {
        cmd_fail("%s: %s", s->options.definition.path,
                 error.message ? error.message : mwl_status_text(status));
        return status == MWL_E_NOMEM ? CMD_LIMIT : CMD_REJECTED;
    }
    s->watch.live.run = run;
    int answer = drive(s, run);
    bool saved = mwl_run_get_state(run) < MWL_RUN_DONE;
    if (s->watch.record && !saved) {
        const struct record_of of = {s->options.definition.path, s->input, s->arguments,
                                     mwl_run_result(run)};
        int recorded = record_write(s->watch.record, s->options.record, &of);
        if (recorded != CMD_OK) answer = recorded;
    }
    int written = watch_report(&s->watch, &s->options, s->program, run);
    if (answer == CMD_OK) answer = written;
    mwl_run_free(run);
    return answer;
}

static int run_one(struct job *s) {
    int status = make_vm(s);
    if (status == CMD_OK && !s->resumes) status = read_values(s);
    if (status == CMD_OK) status = run_program(s);
    int watched = watch_end(&s->watch);
    if (status == CMD_OK) status = watched;
    if (s->vm) {
        mwl_value_drop(s->heap, s->input);
        mwl_value_drop(s->heap, s->arguments);
    }
    if (s->made) {
        run_vm_free(s->made);
        uv_loop_close(host_loop());
    }
    mwl__source_free(&s->source);
    return status;
}

/* A run that is durable has its own VM: this one is for reading its values. */
static int run_durable(struct job *s) {
    int status = CMD_OK;
    if (mwl_heap_new(NULL, &s->heap) != MWL_OK) return cmd_fail("out of memory");
    status = read_values(s);
    if (status == CMD_OK)
        status = durable_run(&s->options, s->program, s->heap, s->input, s->arguments);
    mwl_value_drop(s->heap, s->input);
    mwl_value_drop(s->heap, s->arguments);
    mwl_heap_free(s->heap);
    return status;
}

/* A run that is in no store could not be answered. */
static int check_answers(const struct job *s) {
    const mwl__flow_tables *t = &s->program->tables;
    const char *uri, *document = durable_document(&uri);
    for (uint32_t i = 0; document && i < t->n_imports; i++) {
        const char *import = mwl_as_text(s->program->consts[t->imports[i].uri_k], NULL);
        if (strcmp(import, uri) == 0 && !binds_has(&s->options.binds, uri))
            return cmd_usage("%s waits for answers: it needs --durable FILE or --store URL",
                             s->options.definition.path);
    }
    return CMD_OK;
}

static int run_program_file(struct job *s) {
    struct run_options *o = &s->options;
    if (o->durable) return run_durable(s);
    int status = check_answers(s);
    if (status != CMD_OK) return status;
    return o->each ? each_command(o, s->program) : run_one(s);
}

/* Opens the file of a saved run. Virtual time goes on from the instant of saving: it must not go
 * back for the run. */
static int open_saved(struct job *s) {
    struct run_options *o = &s->options;
    mwl_saved head;
    int status = saved_read(&o->definition.limits, o->definition.path, &s->saved);
    s->program = mwl_program_keep(s->saved.program);
    if (status == CMD_OK && mwl_saved_read(s->saved.run, s->saved.size, &head) == MWL_OK &&
        head.at.wall_ns > 0)
        o->virtual_start_ns = head.at.wall_ns;
    return status;
}

static int run_job(struct job *s) {
    struct run_options *o = &s->options;
    int status = binds_read(&o->binds, &o->bind_words, &o->definition);
    if (status == CMD_OK) status = remotes_read(&o->remotes, &o->remote_words, &o->definition);
    if (status == CMD_OK && s->resumes && o->durable) return durable_resume(o);
    if (status == CMD_OK && s->resumes) {
        status = open_saved(s);
    } else if (status == CMD_OK) {
        status = definition_load(&o->definition, o->definition.path, &s->program);
    }
    if (status == CMD_OK && o->save_at) status = saved_step(s->program, o->save_at);
    if (status == CMD_OK) status = binds_check(&o->binds, o->definition.path, s->program);
    if (status == CMD_OK)
        status = permissions_check(&o->permissions, o->definition.path, s->program, &o->binds);
    if (status == CMD_OK) status = run_program_file(s);
    mwl_program_release(s->program);
    if (s->resumes) saved_free(&o->definition.limits, &s->saved);
    return status;
}

static int command(int argc, char **argv, bool resumes) {
    struct job s;
    memset(&s, 0, sizeof s);
    s.resumes = resumes;
    s.input = s.arguments = mwl_absent();
    int status = run_options_parse(&s.options, argc, argv, resumes);
    s.options.definition.runs = true;
    const struct run_options *o = &s.options;
    if (status == CMD_OK && resumes &&
        (o->input || o->arguments || o->args.count || o->id || o->seed || o->each))
        status = cmd_usage("a saved run has its input, arguments, id and seed already");
    if (status == CMD_OK) status = run_job(&s);
    run_options_free(&s.options);
    return status;
}

int cmd_run(int argc, char **argv) { return command(argc, argv, false); }
int cmd_resume(int argc, char **argv) { return command(argc, argv, true); }
