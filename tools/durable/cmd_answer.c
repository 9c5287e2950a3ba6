/* cmd_answer.c: `mwlvm answer RUN NAME JSON` and `mwlvm cancel RUN`: messages for a durable run.
 * They are kept in the store, and the command ends: the worker that has the run takes them. */
#include "tools/base/cmd.h"
#include "tools/durable/fits.h"
#include "tools/base/input.h"
#include "tools/base/limit.h"
#include "tools/durable/store.h"

#include <string.h>

struct answer {
    struct store_line line;
    const char *key, *reason;
};

static const char answer_head[] =
    "usage: mwlvm answer --store FILE|URL RUN NAME JSON [OPTIONS]\n\n"
    "Answers a wait of a durable run: a call of the provider mwl:provider.call/mwlvm/answer/v1 with\n"
    "this name. JSON is the value, as for --input of `mwlvm run`. An answer that comes before its\n"
    "wait is kept for it. A second answer to one wait is refused, and one that does not fit the\n"
    "schema of its wait.\n\n";
static const char answer_foot[] =
    "\nExample:\n"
    "  mwlvm run tools/examples/approval.json --store runs.db --id order-42 --detach && \\\n"
    "    mwlvm answer --store runs.db order-42 approval true && \\\n"
    "    mwlvm resume --store runs.db order-42\n" CMD_STATUSES;
static const struct option answer_options[] = {
    {"--key", OPTION_WORD, offsetof(struct answer, key), "KEY",
     "the answer is taken once, however often it is given with this key", NULL},
};

static const char cancel_head[] =
    "usage: mwlvm cancel --store FILE|URL RUN [OPTIONS]\n\n"
    "Asks a durable run to stop. Its cleanup runs in the process that has it or resumes it, and its Result\n"
    "is a cancellation. A run that is over stays as it is.\n\n";
static const char cancel_foot[] =
    "\nExample:\n"
    "  mwlvm run tools/examples/approval.json --store runs.db --id order-42 --detach && \\\n"
    "    mwlvm cancel --store runs.db order-42\n" CMD_STATUSES;
static const struct option cancel_options[] = {
    {"--reason", OPTION_WORD, offsetof(struct answer, reason), "TEXT", "is in the Result", NULL},
};

static int post(struct answer *a, mwl_store_message *m) {
    mwl_store *s = NULL;
    int status = store_open(a->line.path, false, &s);
    if (status == CMD_OK) {
        m->now_wall_ns = store_now();
        mwl_status got = s->ops->post(s, m);
        if (got == MWL_E_NOT_FOUND)
            status = cmd_fail("there is no run '%s'", m->run);
        else if (got != MWL_OK)
            status = store_fail(s, got);
    }
    mwl_store_close(s);
    return status;
}

/* A wrong answer is refused here, with the reason. */
static int check(const struct answer *a, const mwl_store_message *m, mwl_heap *heap, mwl_value v) {
    mwl_store *s = NULL;
    char why[400] = "";
    bool good = true;
    int status = store_open(a->line.path, false, &s);
    if (status == CMD_OK) {
        mwl_status got = fits_wait(s, heap, m->run, m->name, v, &good, why, sizeof why);
        if (got != MWL_OK) status = store_fail(s, got);
    }
    if (status == CMD_OK && !good) status = cmd_fail("%s", why);
    mwl_store_close(s);
    return status;
}

/* The value as JSON text, whatever form it was given in. */
static int post_value(struct answer *a, mwl_store_message *m, mwl_heap *heap, const char *word) {
    struct limits limits = limits_default();
    struct input in = {heap, &limits};
    mwl_value v = mwl_absent();
    char *text = NULL;
    size_t len = 0;
    int status = input_word(&in, "JSON", word, &v);
    if (status != CMD_OK) return status;
    mwl_status got = mwl_json_write(heap, v, MWL_JSON_COMPACT, &text, &len);
    m->body = (mwl_store_text){text, len};
    status = got == MWL_OK ? check(a, m, heap, v) : cmd_status(got);
    if (status == CMD_OK) status = post(a, m);
    mwl_text_free(heap, text, len);
    mwl_value_drop(heap, v);
    return status;
}

int cmd_answer(int argc, char **argv) {
    static const char *const names[] = {"RUN", "NAME", "JSON"};
    struct answer a;
    mwl_heap *heap = NULL;
    memset(&a, 0, sizeof a);
    a.line.most = 3;
    const struct command_line line = {
        answer_head,
        answer_foot,
        {{store_options, STORE_PLACE, &a.line}, {answer_options, 1, &a}},
        store_operand,
        &a.line,
        true};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK) status = store_line_check(&a.line, 3, names);
    if (status == CMD_OK && mwl_heap_new(NULL, &heap) != MWL_OK) status = cmd_no_memory();
    if (status != CMD_OK) return status;
    mwl_store_message m = {.run = a.line.words[0], .name = a.line.words[1], .key = a.key};
    status = post_value(&a, &m, heap, a.line.words[2]);
    mwl_heap_free(heap);
    return status;
}

int cmd_cancel(int argc, char **argv) {
    static const char *const names[] = {"RUN"};
    struct answer a;
    mwl_heap *heap = NULL;
    char *text = NULL;
    size_t len = 0;
    memset(&a, 0, sizeof a);
    a.line.most = 1;
    const struct command_line line = {
        cancel_head,
        cancel_foot,
        {{store_options, STORE_PLACE, &a.line}, {cancel_options, 1, &a}},
        store_operand,
        &a.line,
        false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK) status = store_line_check(&a.line, 1, names);
    if (status == CMD_OK && mwl_heap_new(NULL, &heap) != MWL_OK) status = cmd_no_memory();
    if (status != CMD_OK) return status;
    const char *reason = a.reason ? a.reason : "cancelled";
    mwl_value v = mwl_string(heap, reason, strlen(reason));
    mwl_store_message m = {.run = a.line.words[0], .kind = MWL_STORE_CANCEL, .name = ""};
    mwl_status written = mwl_is_absent(v) ? mwl_heap_why(heap)
                                          : mwl_json_write(heap, v, MWL_JSON_COMPACT, &text, &len);
    if (written != MWL_OK)
        status = written == MWL_E_NOMEM ? cmd_no_memory() : cmd_usage("--reason is not UTF-8");
    m.body = (mwl_store_text){text, len};
    if (status == CMD_OK) status = post(&a, &m);
    mwl_text_free(heap, text, len);
    mwl_value_drop(heap, v);
    mwl_heap_free(heap);
    return status;
}
