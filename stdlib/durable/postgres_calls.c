/* postgres_calls.c: calls of a store on PostgreSQL that workers outside take; small values; counts.
 * The lease of such a call goes by the clock of the process that gives it out: it is a courtesy,
 * and the attempt decides. */
#include "stdlib/durable/postgres_impl.h"

#include <string.h>

/* ---- calls ----------------------------------------------------------------------------------- */

static mwl_status renew(mwl__pg_store *s, const mwl_store_call *ask) {
    PGresult *r = NULL;
    mwl_status status =
        mwl__pg_run(s, &r, MWL__PG_CALL_RENEW, "tiii", ask->run, (int64_t)ask->number,
                    (int64_t)ask->attempt, ask->now_wall_ns + ask->lease_ns);
    if (status == MWL_OK && mwl__pg_rows(s, r) == 0)
        status =
            mwl__pg_refuse(s, MWL_E_NOT_FOUND, "the call is settled, or another worker has it");
    mwl__pg_clear(s, r);
    return status;
}

mwl_status mwl__pg_take_call(mwl_store *base, const mwl_store_call *ask,
                             void (*see)(void *ctx, const char *run, const mwl_store_wait *wait,
                                         uint32_t attempt),
                             void *ctx) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    PGresult *r = NULL;
    if (ask->run) return renew(s, ask);
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_CALL_TAKE, "tii", ask->provider,
                                    ask->now_wall_ns, ask->now_wall_ns + ask->lease_ns);
    if (status != MWL_OK) return status;
    if (mwl__pg_rows(s, r) == 0) {
        status = mwl__pg_refuse(s, MWL_E_NOT_FOUND, "there is no call for this provider");
    } else {
        const mwl_store_wait wait = {.number = (uint64_t)mwl__pg_int(s, r, 0, 1),
                                     .name = mwl__pg_word(s, r, 0, 2),
                                     .since_wall_ns = mwl__pg_int(s, r, 0, 3),
                                     .question = mwl__pg_text_at(s, r, 0, 4),
                                     .provider = ask->provider};
        see(ctx, mwl__pg_word(s, r, 0, 0), &wait, (uint32_t)mwl__pg_int(s, r, 0, 5));
    }
    mwl__pg_clear(s, r);
    return status;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Whether the value is what it should become: it was set before, and the outcome was not known. */
static mwl_status is_there(mwl__pg_store *s, const char *key, const char *value) {
    PGresult *r = NULL;
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_VALUE_GET, "t", key);
    if (status != MWL_OK) return status;
    const char *now = mwl__pg_rows(s, r) > 0 ? mwl__pg_word(s, r, 0, 0) : NULL;
    bool same = now && value ? strcmp(now, value) == 0 : !now && !value;
    mwl__pg_clear(s, r);
    return same ? MWL_OK : mwl__pg_refuse(s, MWL_E_STATE, "the value '%s' has changed", key);
}

mwl_status mwl__pg_set_value(mwl_store *base, const char *key, const char *old, const char *value) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    PGresult *r = NULL;
    mwl_status status = MWL_OK;
    if (!old && !value) return is_there(s, key, NULL);
    if (!old)
        status = mwl__pg_run(s, &r, MWL__PG_VALUE_PUT, "tt", key, value);
    else if (!value)
        status = mwl__pg_run(s, &r, MWL__PG_VALUE_DROP, "tt", key, old);
    else
        status = mwl__pg_run(s, &r, MWL__PG_VALUE_SET, "ttt", key, old, value);
    if (status != MWL_OK) return status;
    bool done = mwl__pg_rows(s, r) > 0;
    mwl__pg_clear(s, r);
    return done ? MWL_OK : is_there(s, key, value);
}

mwl_status mwl__pg_values(mwl_store *base, const char *prefix,
                          bool (*see)(void *ctx, const char *key, const char *value), void *ctx) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    PGresult *r = NULL;
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_VALUES, "t", prefix);
    if (status != MWL_OK) return status;
    for (int i = 0; i < mwl__pg_rows(s, r); i++)
        if (!see(ctx, mwl__pg_word(s, r, i, 0), mwl__pg_word(s, r, i, 1))) break;
    mwl__pg_clear(s, r);
    return MWL_OK;
}

/* ---- counts ---------------------------------------------------------------------------------- */

mwl_status mwl__pg_count(mwl_store *base, mwl_store_counts *out) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    PGresult *r = NULL;
    memset(out, 0, sizeof *out);
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_COUNT_RUNS, "");
    if (status != MWL_OK) return status;
    for (int i = 0; i < mwl__pg_rows(s, r); i++) {
        int64_t state = mwl__pg_int(s, r, i, 0);
        if (state >= 0 && state <= MWL_STORE_STUCK)
            out->runs[state] = (uint64_t)mwl__pg_int(s, r, i, 1);
    }
    mwl__pg_clear(s, r);
    r = NULL;
    status = mwl__pg_run(s, &r, MWL__PG_COUNT_REST, "");
    if (status != MWL_OK) return status;
    out->waits = (uint64_t)mwl__pg_int(s, r, 0, 0);
    out->messages = (uint64_t)mwl__pg_int(s, r, 0, 1);
    out->due_wall_ns = mwl__pg_null(s, r, 0, 2) ? MWL_NEVER : mwl__pg_int(s, r, 0, 2);
    out->last_event = (uint64_t)mwl__pg_int(s, r, 0, 3);
    mwl__pg_clear(s, r);
    return MWL_OK;
}
