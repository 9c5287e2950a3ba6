/* setup.c: see setup.h. */
#include "tools/debug/setup.h"

#include "tools/base/cmd.h"
#include "vm/program/program.h"

#include <string.h>

void setup_init(struct debug_setup *s) {
    memset(s, 0, sizeof *s);
    definition_init(&s->options.definition);
    s->options.definition.runs = true;
    s->options.virtual_time = true;
    s->cancel_after_ns = -1;
}

void setup_free(struct debug_setup *s) {
    if (s->heap) {
        session_drop(s->heap, &s->start);
        mwl_heap_free(s->heap);
    }
    mwl__source_free(&s->source);
    mwl_program_release(s->program);
    run_options_free(&s->options);
}

int setup_load(struct debug_setup *s) {
    struct run_options *o = &s->options;
    if (!s->heap && mwl_heap_new(NULL, &s->heap) != MWL_OK) return cmd_no_memory();
    int status = binds_read(&o->binds, &o->bind_words, &o->definition);
    if (status == CMD_OK) status = definition_load(&o->definition, o->definition.path, &s->program);
    if (status == CMD_OK)
        status = permissions_check(&o->permissions, o->definition.path, s->program, &o->binds);
    if (status == CMD_OK) status = session_start(o, s->heap, false, &s->start);
    if (status == CMD_OK && s->program->source &&
        mwl__source_init(&s->source, mwl_alloc_default(), o->definition.path, s->program->source,
                         s->program->source_size) != MWL_OK)
        status = cmd_no_memory();
    return status;
}
