/* resave.h: a run that is moved through bytes whenever it is at rest: the stress test of saving.
 *
 * It is saved, loaded into a new VM, saved there again (the bytes must be equal), removed from its
 * old VM without a word, and goes on in the new one. A run whose calls are at work outside stays,
 * and only the bytes are compared. */
#ifndef MWL_RESAVE_H
#define MWL_RESAVE_H

#include "vm/machine/state.h"
#include "vm/snapshot/silent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct resave {
    mwl_vm *(*make)(void *ctx); /* a VM like the first one, or NULL */
    void *ctx;
    mwl_vm *home; /* the first VM, which is not freed here */
    mwl_program *program;
    unsigned long moves;
    /* Exchanges the bytes with another machine's, or NULL. *other is what the other one saved here,
     * malloc'd; NULL: nothing was exchanged. Returns NULL, or what is wrong. */
    const char *(*exchange)(void *ctx, const void *bytes, size_t size, char **other);
    char why[160]; /* what went wrong, or "" */
};

static inline bool resave_fails(struct resave *r, const char *what, const char *why) {
    snprintf(r->why, sizeof r->why, "%s: %s", what, why);
    return false;
}

/* Loads the bytes into a new VM at the same instant and compares. */
static inline bool resave_compare(struct resave *r, const mwl_vm *from, const void *bytes,
                                  size_t size, mwl_vm **vm, mwl_run **run) {
    void *again = NULL;
    size_t again_size = 0;
    mwl_error error = {MWL_OK, "", 0};
    const mwl_load how = {.program = r->program};
    *run = NULL;
    *vm = r->make(r->ctx);
    if (!*vm) return resave_fails(r, "resave", "there is no second VM");
    (*vm)->now = from->now;
    if (mwl_run_load(*vm, bytes, size, &how, run, &error) < 0)
        return resave_fails(r, "mwl_run_load", error.message);
    mwl_status st = mwl_run_save(*run, &again, &again_size, NULL);
    if (st < 0) return resave_fails(r, "saving again", mwl_status_text(st));
    bool same = again_size == size && memcmp(again, bytes, size) == 0;
    if (!same && getenv("MWL_RESAVE_DUMP")) {
        FILE *f = fopen("/tmp/resave.1", "wb");
        if (f) fwrite(bytes, 1, size, f), fclose(f);
        f = fopen("/tmp/resave.2", "wb");
        if (f) fwrite(again, 1, again_size, f), fclose(f);
    }
    mwl_bytes_free(*vm, again, again_size);
    return same || resave_fails(r, "resave", "loading and saving gave other bytes");
}

/* Moves the run if it is at rest. Returns false if that went wrong. */
static inline bool resave_move(struct resave *r, mwl_vm **vm, mwl_run **run) {
    void *bytes = NULL;
    size_t size = 0;
    mwl_vm *to = NULL;
    mwl_run *copy = NULL;
    if (!mwl_run_at_rest(*run)) return true;
    mwl_status st = mwl_run_save(*run, &bytes, &size, NULL);
    if (st < 0) return resave_fails(r, "mwl_run_save", mwl_status_text(st));
    char *other = NULL;
    const char *wrong = r->exchange ? r->exchange(r->ctx, bytes, size, &other) : NULL;
    bool good = wrong ? resave_fails(r, "saves", wrong)
                      : resave_compare(r, *vm, other ? other : bytes, size, &to, &copy);
    free(other);
    mwl_bytes_free(*vm, bytes, size);
    if (good && mwl_run_unload(*run) == MWL_OK) {
        if (*vm != r->home) mwl_vm_free(*vm);
        *vm = to;
        *run = copy;
        r->moves++;
        return true;
    }
    if (copy) mwl__run_unload(copy);
    mwl_vm_free(to);
    return good;
}

/* A pump in steps as small as they get, so that every park is seen; *due as mwl_vm_pump returns it.
 * Time moves no further than stop_ns. */
static inline bool resave_pump(struct resave *r, mwl_vm **vm, mwl_run **run, int64_t stop_ns,
                               int64_t *due) {
    *due = mwl_vm_pump(*vm, 0);
    if (!resave_move(r, vm, run)) return false;
    if (*due == 0 || *due == MWL_NEVER || !(*vm)->config.virtual_time) return true;
    int64_t now = (*vm)->now.mono_ns, to = *due < stop_ns ? *due : stop_ns;
    *due = mwl_vm_pump(*vm, to > now ? to - now : 0);
    return resave_move(r, vm, run);
}

#endif
