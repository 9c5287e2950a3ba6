/* values.c: see values.h. */
#include "tools/session/values.h"

#include "tools/base/cmd.h"
#include "tools/base/input.h"

#include <string.h>

int session_values(mwl_heap *heap, struct limits *limits, const struct session_words *words,
                   mwl_start *start) {
    struct input in = {heap, limits};
    size_t n = words->args ? words->args->count : 0;
    int status = CMD_OK;
    if (mwl_is_absent(start->arguments)) start->arguments = mwl_object(heap, 0);
    if (mwl_is_absent(start->input) && words->input)
        status = input_word(&in, "--input", words->input, &start->input);
    else if (mwl_is_absent(start->input) && words->asks)
        status = input_stdin(&in, &start->input);
    if (status == CMD_OK && words->arguments)
        status = input_arguments(&in, words->arguments, &start->arguments);
    for (size_t i = 0; i < n && status == CMD_OK; i++)
        status = input_argument(&in, words->args->words[i], &start->arguments);
    return status;
}

int session_start(struct run_options *o, mwl_heap *heap, bool asks, mwl_start *start) {
    const struct session_words words = {o->input, o->arguments, &o->args, asks && !o->stdin_taken};
    start->id = o->id;
    start->seed = o->seed;
    return session_values(heap, &o->definition.limits, &words, start);
}

void session_drop(mwl_heap *heap, mwl_start *start) {
    if (!heap) return;
    mwl_value_drop(heap, start->input);
    mwl_value_drop(heap, start->arguments);
    start->input = start->arguments = mwl_absent();
}

int session_take_seed(void *base, const char *word) {
    return option_number("--seed", word, 1, UINT64_MAX, &((struct run_options *)base)->seed);
}

int session_limits(const struct limits *l, const mwl_heap *heap, mwl_limits *out) {
    size_t held = l->used + (heap ? mwl_heap_used(heap) : 0);
    memset(out, 0, sizeof *out);
    out->fuel = l->fuel;
    out->memory_bytes = l->memory == SIZE_MAX ? SIZE_MAX : l->memory - held;
    if (held < l->memory) return CMD_OK;
    limits_report(l, MWL_E_NOMEM, heap ? " by the program and its input" : " by the program");
    return CMD_LIMIT;
}

int session_refused(const char *path, mwl_status status, const mwl_error *error) {
    const char *why = error->message && *error->message ? error->message : mwl_status_text(status);
    if (status == MWL_E_NOT_FOUND)
        cmd_fail("%s needs '%s', which this command does not have", path, why);
    else
        cmd_fail("%s: %s", path, why);
    return status == MWL_E_NOMEM ? CMD_LIMIT : CMD_REJECTED;
}
