/* committed.h: does the store know of a call? Loads the snapshot that is committed in a VM whose
 * providers do nothing, and looks for the call: in it, or behind it. For the tests of commit before
 * release. */
#ifndef TESTS_COMMITTED_H
#define TESTS_COMMITTED_H

#include "mwl_store.h"

#include "vm/machine/state.h"

#include <string.h>

struct committed {
    mwl_vm *vm; /* with the providers of the programs, which do nothing; without runs */
    mwl_program *const *programs;
    size_t n_programs;
    uint64_t number;
    bool knows;
};

static inline bool committed_see_wait(void *ctx, const mwl_wait *wait) {
    struct committed *c = ctx;
    c->knows |= wait->number == c->number;
    return !c->knows;
}

static inline bool committed_see_row(void *ctx, const mwl_store_row *row) {
    struct committed *c = ctx;
    mwl_run *run = NULL;
    c->knows = row->state >= MWL_STORE_DONE;
    for (size_t i = 0; !c->knows && row->bytes && i < c->n_programs && !run; i++) {
        uint8_t id[16];
        const mwl_load how = {.program = c->programs[i]};
        mwl_program_id(c->programs[i], id);
        if (memcmp(id, row->program, 16) == 0)
            (void)mwl_run_load(c->vm, row->bytes, row->size, &how, &run, NULL);
    }
    if (!run) return false;
    mwl_run_each_wait(run, committed_see_wait, c);
    if (run->next_call > c->number) c->knows = true; /* it has settled, or was given up */
    mwl_run_free(run);
    return false;
}

/* MWL_OK: *knows. Otherwise the store could not be asked. */
static inline mwl_status committed_knows(mwl_store *s, struct committed *c, const char *run,
                                         uint64_t number, bool *knows) {
    const mwl_store_query query = {.id = run, .snapshots = true};
    c->number = number;
    c->knows = false;
    mwl_status status = s->ops->list(s, &query, committed_see_row, c);
    *knows = c->knows;
    return status;
}

#endif
