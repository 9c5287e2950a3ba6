/* cmd_explore.c: `mwlvm explore FLOW`: tries everything that the providers of a workflow can do.
 *
 * Owns: options, the VM of the search, cases that are written. Refuses to know: the search
 * (explore/). */
#include "tools/base/cmd.h"
#include "tools/explore/report.h"
#include "tools/explore/script.h"
#include "tools/base/file_out.h"
#include "tools/base/input.h"
#include "tools/session/turn.h"
#include "tools/session/values.h"
#include "tools/host/io_host.h"
#include "tools/base/options.h"
#include "tools/base/term.h"
#include "tools/test/test_case.h"
#include "vm/base/suggest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct job {
    const char *flow, *input, *arguments, *answers, *write_case, *replay;
    struct word_list args, documents, invariants, at_end, allow;
    bool no_cancel, no_merge, all;
    enum finding_rank deny; /* findings of this rank and those before it give status 1 */
    struct budget budget;
    struct limits limits;

    struct testable testable;
    struct search search;
    struct observer observer;
    struct ways graph;
    mwl_start start;
    mwl_value answers_value;
};

/* ---- options --------------------------------------------------------------------------------- */

static int take_states(void *base, const char *word) {
    struct budget *b = &((struct job *)base)->budget;
    return option_number("--max-states", word, 1, 1000000000, &b->states);
}

static int take_time(void *base, const char *word) {
    return option_duration("--max-time", word, 1, &((struct job *)base)->budget.wall_ns);
}

static int take_virtual(void *base, const char *word) {
    return option_duration("--max-virtual-time", word, 1, &((struct job *)base)->budget.virtual_ns);
}

static int take_ignore(void *base, const char *word) {
    for (int i = 0; i < FINDING_KINDS; i++)
        if (strcmp(word, finding_kind_name((enum finding_kind)i)) == 0)
            return word_list_add(&((struct job *)base)->allow, word);
    const char *names[FINDING_KINDS], *near;
    for (int i = 0; i < FINDING_KINDS; i++) names[i] = finding_kind_name((enum finding_kind)i);
    near = mwl__suggest_among(word, strlen(word), names, FINDING_KINDS);
    if (near) return cmd_usage("there is no finding '%s'; did you mean '%s'?", word, near);
    return cmd_usage("there is no finding '%s'; --help lists them", word);
}

static int take_deny(void *base, const char *word) {
    for (int i = RANK_WARNING; i < FINDING_RANKS; i++)
        if (strcmp(word, finding_rank_name((enum finding_rank)i)) == 0) {
            ((struct job *)base)->deny = (enum finding_rank)i;
            return CMD_OK;
        }
    return cmd_usage("--deny needs warning or note, not '%s'", word);
}

static const struct option options[] = {
#define AT(field) offsetof(struct job, field)
    {"Used most", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--input", OPTION_WORD, AT(input), "JSON|@FILE|-", "the input; null unless given", NULL},
    {"--arg", OPTION_LIST, AT(args), "NAME=JSON", "one argument of the Flow; may be repeated",
     NULL},
    {"--args", OPTION_WORD, AT(arguments), "JSON|@FILE|-", "arguments: an object", NULL},
    {"--answers", OPTION_WORD, AT(answers), "FILE",
     "what providers may answer, as in a case of `mwlvm test`: its values and failures", NULL},
    {"--provider", OPTION_LIST, AT(documents), "FILE",
     "a provider definition document; may be repeated", NULL},
    {"--invariant", OPTION_LIST, AT(invariants), "CEL",
     "what must hold after every Step and at the end; it sees vars, step, failure, flow, "
     "result and ended; calls('NAME'), succeeded('NAME'), failed('NAME'): how often, of a "
     "Step, Flow/Step or URI; before('NAME', 'NAME'); may be repeated",
     NULL},
    {"--invariant-end", OPTION_LIST, AT(at_end), "CEL",
     "what must hold at the end of every run; may be repeated", NULL},
    {"--write-case", OPTION_WORD, AT(write_case), "DIR",
     "write the way to each finding as a case of `mwlvm test`", NULL},
    {"--replay", OPTION_WORD, AT(replay), "FILE", "run a case that was written, and show it", NULL},
    {"What is searched", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--no-cancel", OPTION_FLAG, AT(no_cancel), "", "do not try cancellations from outside", NULL},
    {"--no-merge", OPTION_FLAG, AT(no_merge), "",
     "visit equal states again: slow; the Results must be the same", NULL},
    {"--max-states", OPTION_CALL, 0, "N", "300000 unless given", take_states},
    {"--max-time", OPTION_CALL, 0, "DURATION", "of the search; PT60S unless given", take_time},
    {"--max-virtual-time", OPTION_CALL, 0, "DURATION", "of one run; P366D unless given",
     take_virtual},
    {"What is reported", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--ignore", OPTION_CALL, 0, "KIND", "do not report findings of this kind; may be repeated",
     take_ignore},
    {"--deny", OPTION_CALL, 0, "RANK", "warning or note: exit with status 1 for these too",
     take_deny},
    {"--all", OPTION_FLAG, AT(all), "",
     "all findings: each by itself, not one for each Step and kind; and the notes", NULL},
    {"--color", OPTION_CALL, 0, "WHEN",
     "auto (on a terminal, unless NO_COLOR is set), always or never", term_colour_option},
#undef AT
};

static const char head[] =
    "usage: mwlvm explore FLOW [OPTIONS]\n"
    "       mwlvm explore --replay FILE\n\n"
    "Tries every answer that the documents of the providers allow: values, each failure of the\n"
    "catalog, no answer until something bounds the wait, answers just before a bound; and a\n"
    "cancellation from outside at every wait. Equal states are visited once. Reports the Results\n"
    "and what is wrong, each with the shortest script that leads there. tools/TESTING.md teaches\n"
    "it.\n\n"
    "Example:\n  mwlvm explore tools/examples/testing/order.json --input '{\"amount\": 12}' \\\n"
    "    --provider tools/examples/testing/pay.provider.json\n\n";

static const char foot[] =
    "\nErrors: invariant, fault, cleanup-fails, cleanup-skipped, never-ends, limit, unreached, attempts.\n"
    "Warnings: unbounded; uncaught, of a Step that catches other failures. Notes: uncaught, of other\n"
    "Steps.\n\n"
    "Exit status: 0 no errors; 1 errors, or what --deny names; 2 wrong usage, or a file that cannot be\n"
    "read or written; 3 rejected; 6 no errors, but the budget was used up, or out of memory.\n";

static int operand(void *ctx, const char *word) {
    struct job *j = ctx;
    if (j->flow) return cmd_usage("one FLOW is wanted, not '%s' and '%s'", j->flow, word);
    j->flow = word;
    return CMD_OK;
}

/* ---- making ready ---------------------------------------------------------------------------- */

static int load(struct job *j) {
    mwl__buf problems = mwl__buf_make(mwl_alloc_default());
    mwl_status status =
        testable_load(&j->testable, j->flow, j->documents.words, j->documents.count, &problems);
    if (problems.len) term_lines(stderr, problems.data, problems.len);
    mwl__buf_free(&problems);
    if (status == MWL_OK || status == MWL_E_NOMEM) return cmd_status(status);
    return status == MWL_E_IO ? CMD_USAGE : CMD_REJECTED;
}

static int read_values(struct job *j) {
    const struct session_words words = {j->input, j->arguments, &j->args, false};
    struct input in = {j->search.heap, &j->limits};
    int status = session_values(in.heap, in.limits, &words, &j->start);
    if (status == CMD_OK && j->answers)
        status = input_word(&in, "--answers", j->answers, &j->answers_value);
    return status;
}

static int make_vm(struct job *j) {
    struct search *s = &j->search;
    mwl_config config = mwl_config_default();
    mwl_error error = {MWL_OK, NULL, 0};
    config.virtual_time = true;
    config.seed = 1;
    s->testable = &j->testable;
    s->program = j->testable.program;
    s->budget = j->budget;
    s->cancels = !j->no_cancel;
    s->no_merge = j->no_merge;
    struct session_turns turns;
    mwl_status status = session_vm(&config, &turns);
    s->vm = turns.vm;
    if (s->vm) s->heap = mwl_vm_heap(s->vm);
    if (status == MWL_OK) status = search_bind(s, &error);
    if (status == MWL_OK || status == MWL_E_NOMEM) return cmd_status(status);
    cmd_fail("%s", error.message ? error.message : mwl_status_text(status));
    return CMD_REJECTED;
}

static int make_watch(struct job *j) {
    char why[300] = "";
    if (!observer_init(&j->observer, &j->search)) return cmd_no_memory();
    j->search.observer = &j->observer;
    for (size_t i = 0; i < j->invariants.count; i++)
        if (observer_invariant(&j->observer, j->invariants.words[i], false, why, sizeof why) != 0)
            return cmd_usage("--invariant '%s': %s", j->invariants.words[i], why);
    for (size_t i = 0; i < j->at_end.count; i++)
        if (observer_invariant(&j->observer, j->at_end.words[i], true, why, sizeof why) != MWL_OK)
            return cmd_usage("--invariant-end '%s': %s", j->at_end.words[i], why);
    mwl_vm_trace(j->search.vm, observer_event, &j->observer);
    j->search.menus = menus_new(&j->testable, j->search.heap, j->answers_value);
    return j->search.menus ? CMD_OK : cmd_no_memory();
}

/* ---- cases ----------------------------------------------------------------------------------- */

static mwl_value document_names(struct job *j) {
    mwl_heap *h = j->search.heap;
    mwl_value list = mwl_array(h, j->documents.count);
    for (size_t i = 0; i < j->documents.count; i++) {
        char *path = realpath(j->documents.words[i], NULL);
        const char *name = path ? path : j->documents.words[i];
        list = mwl_array_push(h, list, mwl_string(h, name, strlen(name)));
        free(path);
    }
    return list;
}

static int write_case(struct job *j, const struct finding *f, size_t number) {
    struct search *s = &j->search;
    uint32_t *edges = malloc(ways_max(&j->graph) * sizeof *edges);
    char *flow = realpath(j->flow, NULL), path[4096], *text = NULL;
    size_t len = 0;
    mwl_value documents = document_names(j), made = mwl_absent();
    int status = CMD_OK;
    if (edges && flow)
        made = script_case(s, &j->start, edges, ways_to(&j->graph, f->edge, f->state, edges), flow,
                           documents, f->text);
    if (!mwl_is_absent(made) && mwl_json_write(s->heap, made, MWL_JSON_PRETTY, &text, &len) == 0) {
        snprintf(path, sizeof path, "%s/%02zu-%s.json", j->write_case, number,
                 finding_kind_name(f->kind));
        text[len] = '\n'; /* in the place of its NUL */
        status = file_out(path, text, len + 1);
        if (status == CMD_OK) term_printf(stdout, "wrote %s", path), putchar('\n');
    } else {
        status = cmd_no_memory();
    }
    mwl_text_free(s->heap, text, len);
    mwl_value_drop(s->heap, made);
    mwl_value_drop(s->heap, documents);
    free(flow);
    free(edges);
    return status;
}

static int write_cases(struct job *j, const struct explore_report *r) {
    int status = CMD_OK;
    size_t n = 0;
    mwl_vm_trace(j->search.vm, NULL, NULL);
    if (mkdir(j->write_case, 0777) != 0 && errno != EEXIST) return cmd_file(j->write_case, errno);
    for (size_t i = 0; i < j->observer.n_findings && status == CMD_OK; i++) {
        const struct finding *f = &j->observer.findings[i];
        if (explore_report_shows(r, i) && (f->edge != MWL_NONE || f->state != MWL_NONE))
            status = write_case(j, f, ++n);
    }
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int explore(struct job *j) {
    char why[300] = "";
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    mwl_status status = search_run(&j->search, &j->start, why, sizeof why);
    clock_gettime(CLOCK_MONOTONIC, &to);
    if (status != MWL_OK || !findings_finish(&j->graph, &j->search)) {
        if (status == MWL_E_NOT_FOUND)
            cmd_fail("%s needs '%s', which explore does not have", j->flow, why);
        else
            cmd_fail("%s: %s", j->flow, *why ? why : mwl_status_text(MWL_E_NOMEM));
        return status == MWL_E_NOT_FOUND || status == MWL_E_NOT_JSON ? CMD_REJECTED : CMD_LIMIT;
    }
    const struct explore_report r = {.search = &j->search,
                                     .graph = &j->graph,
                                     .file = j->flow,
                                     .seconds = (double)(to.tv_sec - from.tv_sec) +
                                                (double)(to.tv_nsec - from.tv_nsec) / 1e9,
                                     .allow = j->allow.words,
                                     .n_allow = j->allow.count,
                                     .all = j->all || j->deny == RANK_NOTE,
                                     .colour = term_colour(STDOUT_FILENO)};
    size_t shown[FINDING_RANKS], n = 0;
    explore_report(&r, shown);
    for (int rank = 0; rank <= (int)j->deny; rank++) n += shown[rank];
    if (search_interrupted()) cmd_end_by_signal(search_interrupted());
    int answer = n ? CMD_FAILED : j->search.stopped || j->search.n_too_long ? CMD_LIMIT : CMD_OK;
    if (j->write_case) {
        int written = write_cases(j, &r);
        if (written != CMD_OK) return written;
    }
    return answer;
}

static void finish(struct job *j) {
    struct search *s = &j->search;
    mwl_vm_trace(s->vm, NULL, NULL);
    search_free(s);
    ways_free(&j->graph);
    menus_free(s->menus);
    if (s->observer) observer_free(s->observer);
    session_drop(s->heap, &j->start);
    mwl_value_drop(s->heap, j->answers_value);
    mwl_vm_free(s->vm);
}

int cmd_explore(int argc, char **argv) {
    struct job j;
    memset(&j, 0, sizeof j);
    j.limits = limits_default();
    j.budget = (struct budget){300000, INT64_C(60000000000), INT64_C(366) * 86400 * 1000000000};
    const struct command_line line = {
        head, foot, {{options, sizeof options / sizeof *options, &j}}, operand, &j, false};
    testable_use(io_host_documents());
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK && !j.flow == !j.replay)
        status = cmd_usage(j.flow ? "FLOW and --replay exclude each other" : "no FLOW to explore");
    if (status == CMD_OK && j.replay) {
        status = test_replay(j.replay);
    } else if (status == CMD_OK) {
        status = load(&j);
        if (status == CMD_OK) status = make_vm(&j);
        if (status == CMD_OK) status = read_values(&j);
        if (status == CMD_OK) status = make_watch(&j);
        if (status == CMD_OK) status = explore(&j);
        if (j.search.vm) finish(&j);
    }
    testable_free(&j.testable);
    word_list_free(&j.args);
    word_list_free(&j.documents);
    word_list_free(&j.invariants);
    word_list_free(&j.at_end);
    word_list_free(&j.allow);
    return status;
}
