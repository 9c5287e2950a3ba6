/* postgres_post.c: messages for runs on PostgreSQL: answers, cancellations, and taking up a run
 * that is stuck. The row of the run is locked first, so that another one who writes for this run
 * waits. */
#include "stdlib/durable/postgres_impl.h"

struct target {
    int64_t seq, state, last_message;
};

static mwl_status find(mwl__pg_store *s, const char *id, struct target *t) {
    PGresult *r = NULL;
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_RUN_LOCK, "t", id);
    if (status != MWL_OK) return status;
    if (mwl__pg_rows(s, r) == 0)
        status = mwl__pg_refuse(s, MWL_E_NOT_FOUND, "there is no run '%s'", id);
    else
        *t = (struct target){mwl__pg_int(s, r, 0, 0), mwl__pg_int(s, r, 0, 1),
                             mwl__pg_int(s, r, 0, 2)};
    mwl__pg_clear(s, r);
    return status;
}

/* The number that a statement has returned. */
static int64_t number_of(mwl__pg_store *s, mwl_status status, PGresult *r) {
    int64_t n = status == MWL_OK && mwl__pg_rows(s, r) > 0 ? mwl__pg_int(s, r, 0, 0) : 0;
    mwl__pg_clear(s, r);
    return n;
}

static mwl_status check_key(mwl__pg_store *s, const struct target *t, const mwl_store_message *m) {
    PGresult *r = NULL;
    if (!m->key) return MWL_OK;
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_INBOX_KEY, "it", t->seq, m->key);
    if (number_of(s, status, r) > 0)
        return mwl__pg_refuse(s, MWL_E_DUPLICATE, "answered already, with this key");
    return status;
}

static mwl_status check_open(mwl__pg_store *s, const struct target *t, const mwl_store_message *m) {
    PGresult *r = NULL;
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_WAIT_COUNT, "it", t->seq, m->name);
    int64_t open = number_of(s, status, r), there = 0;
    if (status == MWL_OK) {
        r = NULL;
        status = mwl__pg_run(s, &r, MWL__PG_INBOX_KIND, "iit", t->seq, (int64_t)MWL_STORE_ANSWER,
                             m->name);
        there = number_of(s, status, r);
    }
    if (status == MWL_OK && open > 0 && there >= open)
        return mwl__pg_refuse(s, MWL_E_DUPLICATE, "'%s' of run '%s' is answered already", m->name,
                              m->run);
    return status;
}

/* A run that is stuck is in no memory. */
static mwl_status post_stuck(mwl__pg_store *s, const struct target *t, const mwl_store_message *m) {
    static const char why[] = "cancelled while it was stuck";
    static const mwl_store_text nothing;
    const mwl_store_text text = {why, sizeof why - 1};
    if (m->kind == MWL_STORE_ANSWER)
        return mwl__pg_refuse(s, MWL_E_STATE, "run '%s' is stuck", m->run);
    bool resumed = m->kind == MWL_STORE_RESUME;
    mwl_status status =
        resumed ? mwl__pg_run(s, NULL, MWL__PG_RUN_AGAIN, "i", t->seq)
                : mwl__pg_run(s, NULL, MWL__PG_RUN_ABORT, "ixi", t->seq, text, m->now_wall_ns);
    if (!resumed && status == MWL_OK)
        status = mwl__pg_run(s, NULL, MWL__PG_INBOX_DROP, "i", t->seq);
    if (!resumed && status == MWL_OK) status = mwl__pg_run(s, NULL, MWL__PG_WAIT_DROP, "i", t->seq);
    if (status != MWL_OK) return status;
    return mwl__pg_run(s, NULL, MWL__PG_EVENT_PUT, "iitx", t->seq, m->now_wall_ns,
                       resumed ? "resumed" : "aborted", resumed ? nothing : text);
}

static mwl_status put(mwl__pg_store *s, const struct target *t, const mwl_store_message *m) {
    int64_t n = t->last_message + 1;
    mwl_status status = mwl__pg_run(s, NULL, MWL__PG_INBOX_PUT, "iiittxi", t->seq, n,
                                    (int64_t)m->kind, m->name, m->key, m->body, m->now_wall_ns);
    if (status != MWL_OK) return status;
    return mwl__pg_run(s, NULL, MWL__PG_RUN_WAKE, "ii", t->seq, n);
}

static mwl_status cancel(mwl__pg_store *s, const struct target *t, const mwl_store_message *m) {
    PGresult *r = NULL;
    mwl_status status =
        mwl__pg_run(s, &r, MWL__PG_INBOX_KIND, "iit", t->seq, (int64_t)MWL_STORE_CANCEL, "");
    bool asked = number_of(s, status, r) > 0;
    return status != MWL_OK || asked ? status : put(s, t, m);
}

static mwl_status post(mwl__pg_store *s, const mwl_store_message *m) {
    struct target t = {0, 0, 0};
    mwl_status status = find(s, m->run, &t);
    if (status != MWL_OK) return status;
    if (t.state == MWL_STORE_STUCK) return post_stuck(s, &t, m);
    if (t.state >= MWL_STORE_DONE) {
        if (m->kind == MWL_STORE_CANCEL) return MWL_OK;
        return mwl__pg_refuse(s, MWL_E_STATE, "run '%s' is over", m->run);
    }
    if (m->kind == MWL_STORE_RESUME)
        return mwl__pg_refuse(s, MWL_E_STATE, "run '%s' is not stuck", m->run);
    if (m->kind == MWL_STORE_CANCEL) return cancel(s, &t, m);
    status = check_key(s, &t, m);
    if (status == MWL_OK) status = check_open(s, &t, m);
    return status == MWL_OK ? put(s, &t, m) : status;
}

mwl_status mwl__pg_post(mwl_store *base, const mwl_store_message *m) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    mwl_status status = mwl__pg_run(s, NULL, MWL__PG_BEGIN, "");
    return status == MWL_OK ? mwl__pg_finish(s, post(s, m)) : status;
}
