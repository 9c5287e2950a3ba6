/* store_postgres.c: the store on PostgreSQL: opening, the schema, workers and their leases.
 *
 * Any number of workers share a store. Each has one row with its lease, which it renews about four
 * times in its length. A run stays with the worker that claimed it. When the lease of a worker is
 * over, others claim its runs; what it then still writes is refused, because the epoch of the run
 * has gone up. */
#include "stdlib/durable/postgres_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define LEASE_NS INT64_C(4000000000)
enum { NS_PER_US = 1000, SCHEMA_TRIES = 5 };

/* ---- workers --------------------------------------------------------------------------------- */

mwl_status mwl__pg_renew(mwl__pg_store *s, int64_t part) {
    PGresult *r = NULL;
    int64_t now = mwl__pg_mono_ns();
    if (s->renewed_ns && now - s->renewed_ns < s->lease_ns / part) return MWL_OK;
    mwl_status status =
        mwl__pg_run(s, &r, MWL__PG_LEASE, "iti", s->worker, s->who, s->lease_ns / NS_PER_US);
    if (status == MWL_E_REFUSED) status = MWL_E_IO; /* it says nothing about a change */
    if (status != MWL_OK) return status;
    mwl__pg_clock(s, mwl__pg_int(s, r, 0, 0) * NS_PER_US - s->lease_ns, now, mwl__pg_mono_ns());
    s->renewed_ns = now; /* when it was asked for: the lease is not shorter than that */
    if (!s->joined_us) s->joined_us = mwl__pg_int(s, r, 0, 0);
    mwl__pg_clear(s, r);
    return MWL_OK;
}

/* The number is new for each worker, so one that was taken for dead is never mistaken for another.
 */
static mwl_status pg_join(mwl_store *base, const char *who) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    if (!s->worker) {
        uint64_t bits = 0;
        if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
            return mwl__pg_refuse(s, MWL_E_IO, "random numbers: %s", strerror(errno));
        free(s->who);
        s->who = strdup(who);
        if (!s->who) return mwl__pg_refuse(s, MWL_E_NOMEM, "out of memory");
        s->worker = (int64_t)(bits >> 1 | 1);
    }
    s->renewed_ns = 0;
    return mwl__pg_renew(s, 1);
}

/* The runs that it still has are free at once. Its row stays if a connection was lost: a claim of
 * which the outcome is not known may still be made, and then its runs are those of a worker that is
 * dead, which others look for. TIDY removes the row later. */
static void pg_close(mwl_store *base) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    if (s->worker && mwl__pg_run(s, NULL, MWL__PG_GIVE_BACK, "i", s->worker) == MWL_OK)
        (void)mwl__pg_run(s, NULL, s->doubt ? MWL__PG_LEAVE_LATER : MWL__PG_LEAVE, "i", s->worker);
    if (s->lib) mwl__pg_drop(s);
    free(s->uri);
    free(s->who);
    free(s);
}

static int64_t pg_clock(const mwl_store *base) {
    return ((const mwl__pg_store *)base)->clock_base_ns;
}

static const char *pg_why(const mwl_store *base) { return ((const mwl__pg_store *)base)->why; }

/* ---- transactions that are in each other's way ----------------------------------------------- */

#define AGAIN(base, call)                                                                          \
    mwl_status status;                                                                             \
    unsigned tries = 0;                                                                            \
    do status = call;                                                                              \
    while (mwl__pg_again((const mwl__pg_store *)(base), status, &tries));                          \
    return status

static mwl_status pg_put_program(mwl_store *base, const uint8_t *id, const char *name,
                                 const void *image, size_t size, int64_t now_wall_ns) {
    AGAIN(base, mwl__pg_put_program(base, id, name, image, size, now_wall_ns));
}
static mwl_status pg_start(mwl_store *base, const mwl_store_start *start) {
    AGAIN(base, mwl__pg_start(base, start));
}
static mwl_status pg_start_all(mwl_store *base, const mwl_store_start *starts, size_t n,
                               size_t *which) {
    AGAIN(base, mwl__pg_start_all(base, starts, n, which));
}
static mwl_status pg_post(mwl_store *base, const mwl_store_message *message) {
    AGAIN(base, mwl__pg_post(base, message));
}
static mwl_status pg_take_call(mwl_store *base, const mwl_store_call *ask,
                               void (*see)(void *ctx, const char *run, const mwl_store_wait *wait,
                                           uint32_t attempt),
                               void *ctx) {
    AGAIN(base, mwl__pg_take_call(base, ask, see, ctx));
}
static mwl_status pg_set_value(mwl_store *base, const char *key, const char *old,
                               const char *value) {
    AGAIN(base, mwl__pg_set_value(base, key, old, value));
}
static mwl_status pg_prune(mwl_store *base, const mwl_store_keep *keep, size_t *removed) {
    AGAIN(base, mwl__pg_prune(base, keep, removed));
}

static const mwl_store_ops ops = {
    .close = pg_close,
    .why = pg_why,
    .join = pg_join,
    .commit = mwl__pg_commit,
    .poll = mwl__pg_poll,
    .idle = mwl__pg_idle,
    .put_program = pg_put_program,
    .get_program = mwl__pg_get_program,
    .start = pg_start,
    .start_all = pg_start_all,
    .post = pg_post,
    .take_call = pg_take_call,
    .set_value = pg_set_value,
    .values = mwl__pg_values,
    .count = mwl__pg_count,
    .list = mwl__pg_list,
    .waits = mwl__pg_waits,
    .events = mwl__pg_events,
    .prune = pg_prune,
    .backup = mwl__pg_backup,
    .clock = pg_clock,
};

/* ---- opening --------------------------------------------------------------------------------- */

/* Whether the database has a store: MWL_E_NOT_FOUND if not. */
static mwl_status check_version(mwl__pg_store *s) {
    PGresult *r = NULL;
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_SCHEMA_OF, "");
    if (status != MWL_OK && (strcmp(s->state, "42P01") == 0 || strcmp(s->state, "3F000") == 0))
        return mwl__pg_refuse(s, MWL_E_NOT_FOUND,
                              "the database has no store of runs; `mwlvm run "
                              "--store` and `mwlvm worker` make one");
    if (status != MWL_OK) return status;
    if (mwl__pg_rows(s, r) != 1)
        status = mwl__pg_refuse(s, MWL_E_SNAPSHOT, "the schema mwlvm is not a store of runs");
    else if (strcmp(mwl__pg_word(s, r, 0, 0), MWL__PGSQL_VERSION) != 0)
        status = mwl__pg_refuse(s, MWL_E_VERSION,
                                "the store has version %s, and this program reads version %s",
                                mwl__pg_word(s, r, 0, 0), MWL__PGSQL_VERSION);
    mwl__pg_clear(s, r);
    return status;
}

/* Two processes may make it at once: one of them is refused, and finds what the other has made. */
static mwl_status make_schema(mwl__pg_store *s) {
    mwl_status status = mwl__pg_text(s, MWL__PGSQL_SCHEMA);
    if (status == MWL_OK) {
        (void)mwl__pg_text(s, MWL__PGSQL_TUNING);
        return MWL_OK;
    }
    char state[sizeof s->state];
    memcpy(state, s->state, sizeof state);
    if (!s->conn) return status;
    char why[sizeof s->why];
    memcpy(why, s->why, sizeof why);
    (void)mwl__pg_text(s, "rollback");
    memcpy(s->why, why, sizeof why);
    bool there = strcmp(state, "42P06") == 0 || strcmp(state, "23505") == 0;
    return there ? MWL_OK : status;
}

static mwl_status open_schema(mwl__pg_store *s, bool create) {
    mwl_status status = check_version(s);
    for (int i = 0; i < SCHEMA_TRIES && status == MWL_E_NOT_FOUND && create; i++) {
        status = make_schema(s);
        if (status == MWL_OK) status = check_version(s);
    }
    if (status == MWL_E_NOT_FOUND && create)
        return mwl__pg_refuse(s, MWL_E_SNAPSHOT, "the schema mwlvm is not a store of runs");
    return status;
}

mwl_status mwl_store_postgres(const char *uri, bool create, int64_t lease_ns, mwl_store **out) {
    const char *why = NULL;
    mwl__pg_store *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s || !(s->uri = strdup(uri))) {
        free(s);
        return MWL_E_NOMEM;
    }
    s->base.ops = &ops;
    s->lease_ns = lease_ns > 0 ? lease_ns : LEASE_NS;
    *out = &s->base;
    s->lib = mwl__postgres_lib_load(&why);
    if (!s->lib) return mwl__pg_refuse(s, MWL_E_UNSUPPORTED, "%s", why);
    return open_schema(s, create);
}
