/* setup.c: see setup.h. */
#include "tools/debug/setup.h"

#include "tools/base/cmd.h"
#include "tools/base/input.h"
#include "vm/program/program.h"

#include <string.h>

void setup_init(struct debug_setup *s) {
    memset(s, 0, sizeof *s);
    definition_init(&s->options.definition);
    s->options.definition.runs = true;
    s->options.virtual_time = true;
    s->input = s->arguments = mwl_absent();
    s->cancel_after_ns = -1;
}

void setup_free(struct debug_setup *s) {
    if (s->heap) {
        mwl_value_drop(s->heap, s->input);
        mwl_value_drop(s->heap, s->arguments);
        mwl_heap_free(s->heap);
    }
    mwl__source_free(&s->source);
    mwl_program_release(s->program);
    run_options_free(&s->options);
}

static int read_values(struct debug_setup *s) {
    const struct run_options *o = &s->options;
    struct input in = {s->heap, &s->options.definition.limits};
    int status = CMD_OK;
    if (o->input && mwl_is_absent(s->input))
        status = input_word(&in, "--input", o->input, &s->input);
    if (mwl_is_absent(s->arguments)) s->arguments = mwl_object(s->heap, 0);
    if (status == CMD_OK && o->arguments)
        status = input_arguments(&in, o->arguments, &s->arguments);
    for (size_t i = 0; i < o->args.count && status == CMD_OK; i++)
        status = input_argument(&in, o->args.words[i], &s->arguments);
    return status;
}

int setup_load(struct debug_setup *s) {
    struct run_options *o = &s->options;
    if (!s->heap && mwl_heap_new(NULL, &s->heap) != MWL_OK)
        return cmd_fail("%s", mwl_status_text(MWL_E_NOMEM));
    int status = binds_read(&o->binds, &o->bind_words, &o->definition);
    if (status == CMD_OK) status = definition_load(&o->definition, o->definition.path, &s->program);
    if (status == CMD_OK)
        status = permissions_check(&o->permissions, o->definition.path, s->program, &o->binds);
    if (status == CMD_OK) status = read_values(s);
    if (status == CMD_OK && s->program->source &&
        mwl__source_init(&s->source, mwl_alloc_default(), o->definition.path, s->program->source,
                         s->program->source_size) != MWL_OK)
        status = cmd_fail("%s", mwl_status_text(MWL_E_NOMEM));
    return status;
}
