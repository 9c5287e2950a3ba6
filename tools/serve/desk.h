/* desk.h: threads that ask the store, so that the loop never waits for a disk. Each has its own
 * connection to the store. Jobs are begun in their order; at a desk with one thread they end in it,
 * too. */
#ifndef MWL_TOOLS_SERVE_DESK_H
#define MWL_TOOLS_SERVE_DESK_H

#include "mwl_store.h"
#include "tools/session/session.h"

#include <uv.h>

enum { DESK_THREADS = 4 }; /* of one desk, at most */

/* What a job works with, on a thread of the desk. */
struct desk_tools {
    mwl_store *store;
    mwl_heap *heap;
    const struct run_options *options;
    struct session *session; /* to look into snapshots; see desk_vm */
    uv_loop_t loop;          /* of the VM; is never run */
    bool has_loop;
    char shown[32]; /* whose the secrets of the rows are that the present job shows */
};
/* store_list() for what the present job shows. */
mwl_status desk_list(struct desk_tools *t, const mwl_store_query *query,
                     bool (*see)(void *ctx, const mwl_store_row *row), void *ctx);
/* The VM to look into snapshots; NULL: it cannot be made. */
mwl_vm *desk_vm(struct desk_tools *t);

struct desk_job {
    void (*work)(struct desk_job *job, struct desk_tools *tools); /* on the desk's thread */
    void (*done)(struct desk_job *job);                           /* on the loop's thread */
    bool skipped; /* the desk was closed before: `work` was not called */
    struct desk_job *next;
};

struct desk;
/* Opens the store once more for each thread of the desk. CMD_OK, or a status with a message; *out
 * is given in any case. */
int desk_open(struct desk **out, uv_loop_t *loop, const struct run_options *options,
              size_t n_threads);
void desk_give(struct desk *d, struct desk_job *job);
size_t desk_waiting(const struct desk *d);
/* Waits for the present jobs; calls `done` of all that are left. NULL is ignored. */
void desk_close(struct desk *d);

#endif
