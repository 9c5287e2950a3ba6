/* sqlite_calls.c: calls of a SQLite store that workers outside take; small values; counts. */
#include "stdlib/durable/sqlite_impl.h"

#include <string.h>

/* ---- calls ----------------------------------------------------------------------------------- */

static mwl_status none(mwl__sqlite_store *s, const char *text) {
    return mwl__sqlite_refuse(s, MWL_E_NOT_FOUND, "%s", text);
}

static mwl_status renew(mwl__sqlite_store *s, const mwl_store_call *ask) {
    int got = mwl__sqlite_run(s, MWL__SQL_CALL_RENEW, "tiii", ask->run, (int64_t)ask->number,
                              (int64_t)ask->attempt, ask->now_wall_ns + ask->lease_ns);
    if (got == SQLITE_DONE) return none(s, "the call is settled, or another worker has it");
    if (got != SQLITE_ROW) return mwl__sqlite_status(s, got);
    while (got == SQLITE_ROW) got = mwl__sqlite_next(s, MWL__SQL_CALL_RENEW);
    return mwl__sqlite_status(s, got);
}

/* The row is shown before the transaction ends: its texts are those of the statement. A caller that
 * then gets an error repeats the call, and what it has seen counts for nothing. */
mwl_status mwl__sqlite_take_call(mwl_store *base, const mwl_store_call *ask,
                                 void (*see)(void *ctx, const char *run, const mwl_store_wait *wait,
                                             uint32_t attempt),
                                 void *ctx) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    const mwl__sqlite_statement Q = MWL__SQL_CALL_FIND;
    int code = SQLITE_OK;
    if (ask->run) return renew(s, ask);
    if (!mwl__sqlite_do(s, &code, MWL__SQL_BEGIN, "")) return mwl__sqlite_status(s, code);
    int got = mwl__sqlite_run(s, Q, "ti", ask->provider, ask->now_wall_ns);
    if (got != SQLITE_ROW) {
        mwl_status status = mwl__sqlite_finish(s, got == SQLITE_DONE ? SQLITE_OK : got);
        return status != MWL_OK ? status : none(s, "there is no call for this provider");
    }
    const mwl_store_wait wait = {.number = (uint64_t)mwl__sqlite_int(s, Q, 1),
                                 .name = mwl__sqlite_word(s, Q, 2),
                                 .since_wall_ns = mwl__sqlite_int(s, Q, 3),
                                 .question = mwl__sqlite_text(s, Q, 4),
                                 .provider = ask->provider};
    int64_t run = mwl__sqlite_int(s, Q, 0);
    see(ctx, mwl__sqlite_word(s, Q, 6), &wait, (uint32_t)mwl__sqlite_int(s, Q, 5) + 1);
    mwl__sqlite_end(s, Q);
    mwl__sqlite_do(s, &code, MWL__SQL_CALL_TAKE, "iii", run, (int64_t)wait.number,
                   ask->now_wall_ns + ask->lease_ns);
    return mwl__sqlite_finish(s, code);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : !a && !b; }

mwl_status mwl__sqlite_set_value(mwl_store *base, const char *key, const char *old,
                                 const char *value) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    int code = SQLITE_OK;
    bool fits = false, there = false;
    if (!mwl__sqlite_do(s, &code, MWL__SQL_BEGIN, "")) return mwl__sqlite_status(s, code);
    int got = mwl__sqlite_run(s, MWL__SQL_VALUE_GET, "t", key);
    const char *now = got == SQLITE_ROW ? mwl__sqlite_word(s, MWL__SQL_VALUE_GET, 0) : NULL;
    fits = same(now, old);
    there = same(now, value);
    if (got == SQLITE_ROW)
        mwl__sqlite_end(s, MWL__SQL_VALUE_GET);
    else if (got != SQLITE_DONE)
        code = got;
    if (fits && !there && value)
        mwl__sqlite_do(s, &code, MWL__SQL_VALUE_PUT, "tt", key, value);
    else if (fits && !there)
        mwl__sqlite_do(s, &code, MWL__SQL_VALUE_DROP, "t", key);
    mwl_status status = mwl__sqlite_finish(s, code);
    if (status != MWL_OK || fits || there) return status;
    return mwl__sqlite_refuse(s, MWL_E_STATE, "the value '%s' has changed", key);
}

mwl_status mwl__sqlite_values(mwl_store *base, const char *prefix,
                              bool (*see)(void *ctx, const char *key, const char *value),
                              void *ctx) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    int got = mwl__sqlite_run(s, MWL__SQL_VALUES, "t", prefix);
    for (; got == SQLITE_ROW; got = mwl__sqlite_next(s, MWL__SQL_VALUES)) {
        if (see(ctx, mwl__sqlite_word(s, MWL__SQL_VALUES, 0),
                mwl__sqlite_word(s, MWL__SQL_VALUES, 1)))
            continue;
        mwl__sqlite_end(s, MWL__SQL_VALUES);
        return MWL_OK;
    }
    return mwl__sqlite_status(s, got);
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void count_states(mwl__sqlite_store *s, mwl__sqlite_statement which, mwl_store_counts *out,
                         int *code) {
    int got = *code == SQLITE_OK ? mwl__sqlite_run(s, which, "") : SQLITE_DONE;
    for (; got == SQLITE_ROW; got = mwl__sqlite_next(s, which)) {
        int64_t state = mwl__sqlite_int(s, which, 0);
        if (state >= 0 && state <= MWL_STORE_STUCK)
            out->runs[state] = (uint64_t)mwl__sqlite_int(s, which, 1);
    }
    if (got != SQLITE_DONE) *code = got;
}

static int64_t one(mwl__sqlite_store *s, mwl__sqlite_statement which, int64_t otherwise,
                   int *code) {
    int64_t value = otherwise;
    int got = *code == SQLITE_OK ? mwl__sqlite_run(s, which, "") : SQLITE_DONE;
    if (got == SQLITE_ROW) {
        if (!mwl__sqlite_null(s, which, 0)) value = mwl__sqlite_int(s, which, 0);
        mwl__sqlite_end(s, which);
    } else if (got != SQLITE_DONE) {
        *code = got;
    }
    return value;
}

mwl_status mwl__sqlite_count(mwl_store *base, mwl_store_counts *out) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    int code = SQLITE_OK;
    memset(out, 0, sizeof *out);
    if (!mwl__sqlite_do(s, &code, MWL__SQL_READ, "")) return mwl__sqlite_status(s, code);
    count_states(s, MWL__SQL_COUNT_OPEN, out, &code);
    count_states(s, MWL__SQL_COUNT_OVER, out, &code);
    out->runs[MWL_STORE_STUCK] = (uint64_t)one(s, MWL__SQL_COUNT_STUCK, 0, &code);
    out->waits = (uint64_t)one(s, MWL__SQL_COUNT_WAITS, 0, &code);
    out->messages = (uint64_t)one(s, MWL__SQL_COUNT_INBOX, 0, &code);
    out->due_wall_ns = one(s, MWL__SQL_NEXT_DUE, MWL_NEVER, &code);
    out->last_event = (uint64_t)one(s, MWL__SQL_LAST_EVENT, 0, &code);
    return mwl__sqlite_finish(s, code);
}
