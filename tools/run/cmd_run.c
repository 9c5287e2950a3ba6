/* cmd_run.c: `mwlvm run FILE`: from the command line to the exit status.
 *
 * Owns: the order of things, and what is written when the run has ended. Refuses to know: how
 * programs are made (definition.h), how a run is driven and what its end means (session/). */
#include "tools/base/cmd.h"
#include "tools/durable/durable.h"
#include "tools/host/durable_providers.h"
#include "tools/run/each.h"
#include "tools/base/file_out.h"
#include "tools/run/run_options.h"
#include "tools/run/saved.h"
#include "tools/session/end.h"
#include "tools/session/session.h"
#include "tools/session/values.h"
#include "vm/program/view.h"
#include "tools/test/record.h"
#include "tools/run/watch.h"

#include <signal.h>
#include <string.h>

struct job {
    struct run_options options;
    mwl_program *program;
    struct session *session;
    mwl_start start;
    struct watch watch;
    struct saved saved; /* of `resume` */
    bool resumes;
    mwl__source source; /* the definition, for snippets */
};

/* ---- one run --------------------------------------------------------------------------------- */

/* Starts the run, or loads it. */
static int begin(struct job *s, mwl_run **run) {
    const char *path = s->options.definition.path;
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_limits limits;
    mwl_status status;
    int allowed = session_limits(&s->options.definition.limits, s->session->heap, &limits);
    if (allowed != CMD_OK) return allowed;
    if (s->resumes) { /* the file may come from somewhere else, and its limits with it */
        const mwl_load how = {.program = s->program, .limits = &limits};
        status = mwl_run_load(s->session->vm, s->saved.run, s->saved.size, &how, run, &error);
    } else {
        s->start.limits = &limits;
        status = mwl_run_start(s->session->vm, s->program, &s->start, run, &error);
    }
    if (status < 0) return session_refused(path, status, &error);
    if (s->resumes) watch_loaded(&s->watch, *run);
    return CMD_OK;
}

/* Drives it until it is over, or was saved. */
static int drive(struct job *s, mwl_run *run) {
    const struct run_options *o = &s->options;
    const struct session_shown how = {o, s->session->heap, file_in_name(o->definition.path),
                                      s->source.text ? &s->source : NULL};
    struct save_when when = {o->save, s->program, o->save_at, CMD_OK};
    struct session_beside beside = {.pause = o->save ? save_now : NULL, .pause_ctx = &when};
    enum session_next next = SESSION_OVER;
    int signal_number = 0;
    if (s->watch.shows) {
        beside.tick = live_draw;
        beside.tick_ctx = &s->watch.live;
    }
    if (o->save) save_watch();
    int status = session_drive(s->session, run, &beside, &next, &signal_number);
    watch_stop(&s->watch);
    if (signal_number) cmd_end_by_signal(signal_number);
    if (status != CMD_OK) return status;
    if (next == SESSION_WAITS) {
        cmd_note("saved; `mwlvm resume %s` goes on with it", when.path);
        return CMD_OK;
    }
    status = next == SESSION_STUCK ? session_stuck(&how, run)
                                   : session_end(&how, run, mwl_run_result(run));
    if (when.step) cmd_note("not saved: the run never waited in Step %s", when.step);
    return status == CMD_OK ? when.failed : status;
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
    const struct run_options *o = &s->options;
    mwl_run *run = NULL;
    signal(SIGPIPE, SIG_IGN); /* who reads the trace or the Result does not decide about cleanup */
    if (s->program->source)
        mwl__source_init(&s->source, mwl_alloc_default(), o->definition.path, s->program->source,
                         s->program->source_size);
    int status = check_outputs(o);
    if (status == CMD_OK) status = watch_begin(&s->watch, o, s->session->vm, s->program);
    if (status == CMD_OK) status = begin(s, &run);
    if (status != CMD_OK) return status;
    s->watch.live.run = run;
    status = drive(s, run);
    if (s->watch.record && session_is_over(run)) {
        const struct record_of of = {o->definition.path, &s->start, mwl_run_result(run)};
        int recorded = record_write(s->watch.record, o->record, &of);
        if (recorded != CMD_OK) status = recorded;
    }
    int written = watch_report(&s->watch, &s->options, s->program, run);
    if (status == CMD_OK) status = written;
    mwl_run_free(run);
    return status;
}

static int run_one(struct job *s) {
    const struct session_host host = {.loop = NULL};
    int status = session_open(&s->options, s->program, &host, &s->session);
    if (status == CMD_OK && !s->resumes)
        status = session_start(&s->options, s->session->heap, true, &s->start);
    if (status == CMD_OK) status = run_program(s);
    int watched = watch_end(&s->watch);
    if (status == CMD_OK) status = watched;
    if (s->session) session_drop(s->session->heap, &s->start);
    session_close(s->session);
    mwl__source_free(&s->source);
    return status;
}

/* A run that is durable has its own VM: this heap is for reading its values. */
static int run_durable(struct job *s) {
    mwl_heap *heap = NULL;
    if (mwl_heap_new(NULL, &heap) != MWL_OK) return cmd_no_memory();
    int status = session_start(&s->options, heap, true, &s->start);
    if (status == CMD_OK) status = durable_run(&s->options, s->program, heap, &s->start);
    session_drop(heap, &s->start);
    mwl_heap_free(heap);
    return status;
}

/* A run that is in no store could not be answered. */
static int check_answers(const struct job *s) {
    const char *uri, *document = durable_document(&uri);
    if (document && mwl__view_names(s->program, uri) && !binds_has(&s->options.binds, uri))
        return cmd_usage("%s waits for answers: it needs --store FILE|URL",
                         s->options.definition.path);
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
    int status = run_options_parse(&s.options, argc, argv, resumes);
    s.options.definition.runs = true;
    if (status == CMD_OK) status = run_job(&s);
    run_options_free(&s.options);
    return status;
}

int cmd_run(int argc, char **argv) { return command(argc, argv, false); }
int cmd_resume(int argc, char **argv) { return command(argc, argv, true); }
