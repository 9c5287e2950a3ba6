/* assembled.h: for tests: assembles and loads a definition; writes its code as a line of
 * instruction names. */
#ifndef ASSEMBLED_H
#define ASSEMBLED_H

#include "mwl_asm.h"
#include "vm/program/program.h"

#include <ctype.h>
#include <stdio.h>

#define FLOW_HEAD "{\"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\", \"entrypoint\": \"a\", "
#define MOCK "\"provider\": \"mwl:provider.call/mwl/mock/v1\""
#define MW(name) "\"provider\": \"mwl:provider.middleware/mwl/" name "/v1\""

struct assembled {
    mwl_asm_result result;
    mwl_program *program;
    mwl_status status;
    char ops[4096];
};

/* Prints the diagnostics of a definition that should have been accepted. */
static inline void assembled_make(struct assembled *a, const char *text, unsigned flags) {
    mwl_asm_options options;
    mwl_error error = {MWL_OK, NULL, 0};
    memset(a, 0, sizeof *a);
    memset(&options, 0, sizeof options);
    options.flags = flags;
    a->status = mwl_assemble(text, strlen(text), &options, &a->result);
    if (a->status == MWL_OK)
        a->status = mwl__program_load(NULL, a->result.image, a->result.image_size, true,
                                      &a->program, &error);
    if (a->status != MWL_OK) {
        printf("%s\n%s\n", a->result.diagnostics ? a->result.diagnostics : "",
               error.message ? error.message : "");
        return;
    }
    size_t at = 0;
    for (uint32_t pc = 0; pc < a->program->n_code && at + 32 < sizeof a->ops; pc++)
        at += (size_t)snprintf(a->ops + at, sizeof a->ops - at, pc ? " %s" : "%s",
                               mwl__op_get(a->program->code[pc].op)->name);
    for (size_t i = 0; i < at; i++) a->ops[i] = (char)tolower((unsigned char)a->ops[i]);
}

static inline void assembled_free(struct assembled *a) {
    mwl__program_release(a->program);
    mwl_asm_free(&a->result);
}

#endif
