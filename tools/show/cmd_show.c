/* cmd_show.c: `mwlvm show FILE`: where a saved run is, what it waits for, its variables. Nothing of
 * the run is executed. */
#include "tools/base/cmd.h"
#include "tools/base/member.h"
#include "tools/durable/durable.h"
#include "tools/base/json_out.h"
#include "tools/run/saved.h"
#include "tools/session/session.h"
#include "tools/session/values.h"
#include "tools/show/show_value.h"
#include "tools/base/term.h"
#include "vm/snapshot/silent.h"

#include <stdlib.h>
#include <string.h>

struct show {
    struct run_options options;
    const char *path;    /* the file, or the run */
    const char *durable; /* the store */
    void *bytes;         /* of a run of it */
    bool json;
    struct saved saved;
    struct session *session;
    mwl_run *run;
};

static const char head[] =
    "usage: mwlvm show FILE [OPTIONS]\n"
    "       mwlvm show --store FILE|URL RUN [OPTIONS]\n\n"
    "Describes a run that `mwlvm run --save` saved, or one of a store: in which Steps it is, what\n"
    "it waits for, and its variables; of a run that is over its Result. Nothing is executed.\n\n";

static const char foot[] =
    "\nExample:\n"
    "  mwlvm run tools/examples/nap.json --save saved --save-at nap && mwlvm show saved\n" CMD_STATUSES;

static const struct option options[] = {
    {"--json", OPTION_FLAG, offsetof(struct show, json), "", "print one JSON object", NULL},
    STORE_OPTION(offsetof(struct show, durable), "the store of the run: " STORE_WHERE),
};

static int operand(void *ctx, const char *word) {
    struct show *s = ctx;
    if (s->path) return cmd_usage("too many files: '%s'", word);
    s->path = word;
    return CMD_OK;
}

/* ---- as text --------------------------------------------------------------------------------- */

static void print_value(struct show *s, const char *name, mwl_value o) {
    const struct json_out how = {stdout, MWL_JSON_COMPACT, true, 2000};
    printf("    %s: ", name);
    (void)json_out(&how, s->session->heap, mwl_get(o, name));
    putchar('\n');
}

static void print_text(struct show *s, mwl_value o) {
    mwl_value frames = mwl_get(o, "frames"), calls = mwl_get(o, "calls");
    term_printf(stdout, "run %s", member_text(o, "id"));
    printf(", saved at %s\n", member_text(o, "savedAt"));
    if (*member_text(o, "due")) printf("has work at %s\n", member_text(o, "due"));
    for (size_t i = 0; i < mwl_count(frames); i++) {
        mwl_value f = mwl_array_at(frames, i);
        const char *flow = member_text(f, "flow"), *due = member_text(f, "due");
        printf("  ");
        term_printf(stdout, "Step %s of %s%s: ",
                    *member_text(f, "step") ? member_text(f, "step") : "(none)",
                    *flow ? "the Flow "
                    : i   ? "a Flow without a name"
                          : "the root Flow",
                    flow);
        printf("%s%s%s", member_text(f, "at"), *due ? ", until " : "", due);
        mwl_value line = mwl_get(f, "line");
        if (!mwl_is_absent(line)) printf(" (line %.0f)", mwl_as_number(line));
        putchar('\n');
        mwl_value entries = mwl_get(f, "middleware");
        for (size_t k = 0; k < mwl_count(entries); k++)
            term_printf(stdout, "    in %s", member_text(mwl_array_at(entries, k), "provider")),
                putchar('\n');
        print_value(s, "input", f);
        print_value(s, "vars", f);
    }
    for (size_t i = 0; i < mwl_count(calls); i++) {
        mwl_value c = mwl_array_at(calls, i);
        term_printf(stdout, "  waits for call %.0f: %s", mwl_as_number(mwl_get(c, "number")),
                    member_text(c, "provider"));
        putchar('\n');
    }
    if (!mwl_is_absent(mwl_get(o, "result"))) print_value(s, "result", o);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* By default time goes on, so instants that are still to come keep their wall time. */
static int open_run(struct show *s, mwl_saved *saved) {
    const struct session_host host = {.loop = NULL};
    mwl_error error = {MWL_OK, "", 0};
    mwl_limits limits; /* the file may come from somewhere else, and its limits with it */
    const mwl_load how = {.program = s->saved.program, .limits = &limits};
    int status = session_limits(&s->options.definition.limits, NULL, &limits);
    if (status == CMD_OK) status = session_open(&s->options, s->saved.program, &host, &s->session);
    if (status != CMD_OK) return status;
    mwl_status st =
        mwl__run_load(s->session->vm, s->saved.run, s->saved.size, &how, true, &s->run, &error);
    if (st == MWL_OK) st = mwl_saved_read(s->saved.run, s->saved.size, saved);
    return st == MWL_OK ? CMD_OK : session_refused(s->path, st, &error);
}

static int print(struct show *s, const mwl_saved *saved) {
    mwl_value o = show_value(s->session->vm, s->run, saved, s->saved.size);
    const struct json_out how = {stdout, MWL_JSON_PRETTY, true, 0};
    const struct limits *l = &s->options.definition.limits;
    int status = CMD_OK;
    if (!s->json) {
        print_text(s, o);
    } else if (!json_out_fits(s->session->heap, o, how.style, l->memory)) {
        limits_report(l, MWL_E_NOMEM, " by the text of the run; without --json values are cut");
        status = CMD_LIMIT;
    } else if (json_out(&how, s->session->heap, o) == MWL_OK) {
        putchar('\n');
    }
    mwl_value_drop(s->session->heap, o);
    return status;
}

int cmd_show(int argc, char **argv) {
    struct show s;
    mwl_saved saved;
    memset(&s, 0, sizeof s);
    struct definition *d = &s.options.definition;
    definition_init(d);
    const struct command_line line = {
        head,    foot, {{options, sizeof options / sizeof *options, &s}, DEFINITION_TABLES(d)},
        operand, &s,   false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK && !s.path) status = cmd_usage("no FILE to show");
    if (status == CMD_OK)
        status = s.durable ? durable_saved(s.durable, s.path, s.json, &s.saved, &s.bytes)
                           : saved_read(&d->limits, s.path, &s.saved);
    bool over = !s.saved.run; /* what there is to show was shown */
    if (status == CMD_OK && !over) status = open_run(&s, &saved);
    if (status == CMD_OK && !over) status = print(&s, &saved);
    free(s.bytes);
    if (s.run) mwl__run_unload(s.run);
    session_close(s.session);
    saved_free(&d->limits, &s.saved);
    definition_free(d);
    return status;
}
