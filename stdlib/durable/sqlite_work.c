/* sqlite_work.c: what the owner of a SQLite store does: commits groups of changes, claims runs,
 * reads messages, folds the journal. */
#include "stdlib/durable/sqlite_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FOLD_ROWS = 2000,     /* of the journal, in one transaction */
    JOURNAL_MOST = 50000, /* rows, before a commit folds by itself */
    WAL_MOST = 64 << 20,  /* bytes, about, before a commit checkpoints by itself */
    PAGES = 8192,         /* bytes that a change writes besides its snapshot, about */
};

/* ---- commit ---------------------------------------------------------------------------------- */

/* The lock makes this the only owner. If the lock failed (a file system without locks), the
 * generation still does. */
static mwl_status begin_owned(mwl__sqlite_store *s) {
    int code = SQLITE_OK;
    if (s->lock < 0) return mwl__sqlite_refuse(s, MWL_E_STATE, "this handle is not a worker");
    if (!mwl__sqlite_do(s, &code, MWL__SQL_BEGIN, "")) return mwl__sqlite_status(s, code);
    uint64_t generation = 0;
    code = mwl__sqlite_run(s, MWL__SQL_META_GET, "t", "generation");
    if (code == SQLITE_ROW) {
        generation = (uint64_t)mwl__sqlite_int(s, MWL__SQL_META_GET, 0);
        mwl__sqlite_end(s, MWL__SQL_META_GET);
    } else if (code != SQLITE_DONE) {
        return mwl__sqlite_finish(s, code);
    }
    if (generation == s->generation) return MWL_OK;
    (void)mwl__sqlite_finish(s, SQLITE_ABORT);
    return mwl__sqlite_refuse(s, MWL_E_STATE, "%s has another owner now", s->path);
}

/* Those that are still open stay as they are: their time and their lease do. */
static void put_waits(mwl__sqlite_store *s, const mwl_store_change *c, int *code) {
    enum { DIGITS = 21 };
    char *numbers = malloc(c->n_waits * DIGITS + 3);
    size_t len = 0;
    if (!numbers) {
        *code = SQLITE_NOMEM;
        return;
    }
    for (size_t i = 0; i < c->n_waits; i++)
        len += (size_t)sprintf(numbers + len, "%c%llu", i ? ',' : '[',
                               (unsigned long long)c->waits[i].number);
    memcpy(numbers + len, c->n_waits ? "]" : "[]", c->n_waits ? 2 : 3);
    mwl__sqlite_do(s, code, MWL__SQL_WAIT_KEEP, "it", c->seq, numbers);
    free(numbers);
    for (size_t i = 0; i < c->n_waits; i++)
        mwl__sqlite_do(s, code, MWL__SQL_WAIT_PUT, "iitixt", c->seq, (int64_t)c->waits[i].number,
                       c->waits[i].name, c->waits[i].since_wall_ns, c->waits[i].question,
                       c->waits[i].provider);
}

/* Most transitions have two, a Step and a call: one statement is cheaper than two. */
static void put_events(mwl__sqlite_store *s, const mwl_store_change *c, int *code) {
    const mwl_store_event *e = c->events, *end = e + c->n_events;
    for (; end - e >= 2; e += 2)
        mwl__sqlite_do(s, code, MWL__SQL_EVENT_PUT2, "iitxitx", c->seq, e[0].at_wall_ns, e[0].kind,
                       e[0].text, e[1].at_wall_ns, e[1].kind, e[1].text);
    if (e < end)
        mwl__sqlite_do(s, code, MWL__SQL_EVENT_PUT, "iitx", c->seq, e->at_wall_ns, e->kind,
                       e->text);
}

static void put_lists(mwl__sqlite_store *s, const mwl_store_change *c, int *code) {
    for (size_t i = 0; i < c->n_taken; i++) {
        mwl__sqlite_do(s, code, MWL__SQL_INBOX_TAKE, "i", (int64_t)c->taken[i]);
        mwl__sqlite_do(s, code, MWL__SQL_INBOX_TAKEN, "i", (int64_t)c->taken[i]);
    }
    if (c->new_waits) put_waits(s, c, code);
    put_events(s, c, code);
}

static void put_change(mwl__sqlite_store *s, const mwl_store_change *c, int *code) {
    put_lists(s, c, code);
    switch (c->kind) {
    case MWL_STORE_SAVE:
        mwl__sqlite_do(s, code, MWL__SQL_JOURNAL_PUT, "iib", c->seq, (int64_t)c->version, c->bytes,
                       c->size);
        s->journal++;
        break;
    case MWL_STORE_PARK:
        mwl__sqlite_do(s, code, MWL__SQL_RUN_PARK, "iiibii", c->seq, c->due_wall_ns,
                       (int64_t)c->version, c->bytes, c->size, c->now_wall_ns, (int64_t)c->seen);
        s->next_due_ns = 0; /* the next poll looks */
        break;
    case MWL_STORE_END:
        mwl__sqlite_do(s, code, MWL__SQL_RUN_END, "iiixib", c->seq, (int64_t)c->state,
                       (int64_t)c->version, c->result, c->now_wall_ns, c->bytes, c->size);
        if (c->state == MWL_STORE_STUCK) break;
        mwl__sqlite_do(s, code, MWL__SQL_INBOX_DROP, "i", c->seq);
        mwl__sqlite_do(s, code, MWL__SQL_WAIT_DROP, "i", c->seq);
        break;
    }
}

mwl_status mwl__sqlite_commit(mwl_store *base, const mwl_store_change *changes, size_t n,
                              bool *kept) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    int code = SQLITE_OK;
    memset(kept, 0, n * sizeof *kept);
    mwl_status status = begin_owned(s);
    if (status != MWL_OK) return status;
    for (size_t i = 0; i < n && code == SQLITE_OK; i++) put_change(s, &changes[i], &code);
    status = mwl__sqlite_finish(s, code);
    for (size_t i = 0; i < n && status == MWL_OK; i++) kept[i] = true;
    s->dirty = true;
    for (size_t i = 0; i < n && status == MWL_OK; i++) s->written += changes[i].size + PAGES;
    if (s->written > WAL_MOST) { /* readers may keep it from all of it: the next one goes on */
        s->written = 0;
        (void)s->lib->wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    }
    if (status == MWL_OK && s->journal > JOURNAL_MOST) {
        bool more;
        (void)mwl__sqlite_fold(s, &more); /* a failure is found again by the next one */
    }
    return status;
}

/* ---- fold ------------------------------------------------------------------------------------ */

static void fold_rows(mwl__sqlite_store *s, int64_t to, int *code) {
    int got = mwl__sqlite_run(s, MWL__SQL_FOLD, "i", to);
    for (; got == SQLITE_ROW && *code == SQLITE_OK; got = mwl__sqlite_next(s, MWL__SQL_FOLD)) {
        size_t size;
        const void *bytes = mwl__sqlite_blob(s, MWL__SQL_FOLD, 2, &size);
        int64_t run = mwl__sqlite_int(s, MWL__SQL_FOLD, 0);
        int64_t version = mwl__sqlite_int(s, MWL__SQL_FOLD, 1);
        mwl_saved saved;
        int64_t at = mwl_saved_read(bytes, size, &saved) == MWL_OK ? saved.at.wall_ns : 0;
        mwl__sqlite_do(s, code, MWL__SQL_FOLD_RUN, "ibii", run, bytes, size, version, at);
    }
    if (got == SQLITE_ROW) mwl__sqlite_end(s, MWL__SQL_FOLD);
    if (*code == SQLITE_OK && got != SQLITE_DONE) *code = got;
    mwl__sqlite_do(s, code, MWL__SQL_FOLD_DROP, "i", to);
}

mwl_status mwl__sqlite_fold(mwl__sqlite_store *s, bool *more) {
    int code = SQLITE_OK;
    int64_t to = 0;
    *more = false;
    code = mwl__sqlite_run(s, MWL__SQL_FOLD_TO, "i", (int64_t)FOLD_ROWS);
    if (code != SQLITE_ROW) return mwl__sqlite_status(s, code);
    to = mwl__sqlite_int(s, MWL__SQL_FOLD_TO, 0);
    mwl__sqlite_end(s, MWL__SQL_FOLD_TO);
    if (to == 0) {
        s->journal = 0;
        return MWL_OK;
    }
    code = SQLITE_OK;
    if (!mwl__sqlite_do(s, &code, MWL__SQL_BEGIN, "")) return mwl__sqlite_status(s, code);
    fold_rows(s, to, &code);
    mwl_status status = mwl__sqlite_finish(s, code);
    *more = status == MWL_OK;
    s->journal -= status == MWL_OK && s->journal >= FOLD_ROWS ? FOLD_ROWS : 0;
    return status;
}

mwl_status mwl__sqlite_idle(mwl_store *base, bool *more) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    *more = false;
    if (s->lock < 0) return MWL_OK;
    if (s->journal > 0) {
        mwl_status status = mwl__sqlite_fold(s, more);
        s->dirty = true;
        if (status != MWL_OK || *more) return status;
    }
    if (!s->dirty) return MWL_OK;
    s->dirty = false;
    s->written = 0;
    int code = s->lib->wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return code == SQLITE_BUSY ? MWL_OK : mwl__sqlite_status(s, code);
}

/* ---- poll ------------------------------------------------------------------------------------ */

struct found {
    int64_t *list;
    size_t n, cap;
    size_t most;
};

/* The rows of a statement that finds runs: seq, recoveries. */
static int collect(mwl__sqlite_store *s, mwl__sqlite_statement which, int got, struct found *f) {
    for (; got == SQLITE_ROW; got = mwl__sqlite_next(s, which)) {
        if (f->n == f->cap) {
            size_t cap = f->cap ? 2 * f->cap : 64;
            int64_t *grown = realloc(f->list, cap * sizeof *grown);
            if (!grown) {
                mwl__sqlite_end(s, which);
                return SQLITE_NOMEM;
            }
            f->list = grown;
            f->cap = cap;
        }
        f->list[f->n++] = mwl__sqlite_int(s, which, 0);
    }
    return got == SQLITE_DONE ? SQLITE_OK : got;
}

static int find(mwl__sqlite_store *s, const mwl_store_poll *ask, struct found *f) {
    int64_t until = ask->now_wall_ns + ask->horizon_ns;
    int code = SQLITE_OK;
    for (size_t i = 0; ask->only && i < ask->n_only && code == SQLITE_OK && f->n < ask->most; i++)
        code = collect(s, MWL__SQL_CLAIM_ONE,
                       mwl__sqlite_run(s, MWL__SQL_CLAIM_ONE, "ti", ask->only[i], until), f);
    if (ask->only || ask->most == 0) return code;
    code = collect(s, MWL__SQL_CLAIM_NEW,
                   mwl__sqlite_run(s, MWL__SQL_CLAIM_NEW, "i", (int64_t)ask->most), f);
    if (code == SQLITE_OK && f->n < ask->most)
        code = collect(s, MWL__SQL_CLAIM_DUE,
                       mwl__sqlite_run(s, MWL__SQL_CLAIM_DUE, "iii", until,
                                       (int64_t)MWL_STORE_SUSPECT, (int64_t)(ask->most - f->n)),
                       f);
    if (code == SQLITE_OK && f->n < ask->most && !ask->no_suspect)
        code = collect(
            s, MWL__SQL_CLAIM_SUSPECT,
            mwl__sqlite_run(s, MWL__SQL_CLAIM_SUSPECT, "ii", until, (int64_t)MWL_STORE_SUSPECT), f);
    return code;
}

static void see_messages(mwl__sqlite_store *s, mwl__sqlite_statement which, int got,
                         const mwl_store_polled *sink, int *code) {
    for (; got == SQLITE_ROW; got = mwl__sqlite_next(s, which)) {
        mwl_store_message m = {.n = (uint64_t)mwl__sqlite_int(s, which, 0),
                               .seq = mwl__sqlite_int(s, which, 1),
                               .kind = (mwl_store_message_kind)mwl__sqlite_int(s, which, 2),
                               .name = mwl__sqlite_word(s, which, 3),
                               .body = mwl__sqlite_text(s, which, 4)};
        if (!sink->message(sink->ctx, &m)) {
            mwl__sqlite_end(s, which);
            *code = SQLITE_NOMEM;
            return;
        }
        if (which == MWL__SQL_INBOX_NEW && m.n > s->seen) s->seen = m.n;
    }
    if (*code == SQLITE_OK && got != SQLITE_DONE) *code = got;
}

static void see_run(mwl__sqlite_store *s, int64_t seq, const mwl_store_polled *sink, int *code) {
    const mwl__sqlite_statement Q = MWL__SQL_CLAIMED;
    int got = mwl__sqlite_run(s, Q, "i", seq);
    if (got != SQLITE_ROW) {
        *code = got == SQLITE_DONE ? *code : got;
        return;
    }
    mwl_store_claimed c = {.seq = seq, .epoch = s->generation};
    size_t size;
    const void *program = mwl__sqlite_blob(s, Q, 2, &size);
    if (program && size == sizeof c.program) memcpy(c.program, program, size);
    c.id = mwl__sqlite_word(s, Q, 0);
    c.name = mwl__sqlite_word(s, Q, 1);
    c.version = (uint64_t)mwl__sqlite_int(s, Q, 3);
    c.recoveries = (uint32_t)mwl__sqlite_int(s, Q, 4);
    c.start = mwl__sqlite_text(s, Q, 5);
    c.bytes = mwl__sqlite_blob(s, Q, 6, &c.size);
    bool taken = sink->run(sink->ctx, &c);
    mwl__sqlite_end(s, Q);
    if (!taken) {
        *code = SQLITE_NOMEM;
        return;
    }
    see_messages(s, MWL__SQL_INBOX_OF, mwl__sqlite_run(s, MWL__SQL_INBOX_OF, "i", seq), sink, code);
}

static bool is_stuck(mwl__sqlite_store *s, int64_t seq, int64_t now, int *code) {
    static const char why[] = "claimed ten times without getting on: what it calls may end the "
                              "process";
    int got = mwl__sqlite_run(s, MWL__SQL_CLAIMED, "i", seq);
    bool stuck =
        got == SQLITE_ROW && mwl__sqlite_int(s, MWL__SQL_CLAIMED, 4) >= MWL_STORE_RECOVERIES;
    if (got == SQLITE_ROW) mwl__sqlite_end(s, MWL__SQL_CLAIMED);
    if (!stuck) return false;
    mwl_store_text text = {why, sizeof why - 1};
    mwl__sqlite_do(s, code, MWL__SQL_STUCK, "iix", seq, now, text);
    mwl__sqlite_do(s, code, MWL__SQL_EVENT_PUT, "iitx", seq, now, "stuck", text);
    return true;
}

/* Claims in one transaction. The runs are shown after it; should that fail, the next poll goes on.
 */
static mwl_status claim(mwl__sqlite_store *s, const mwl_store_poll *ask, struct found *f) {
    int code = SQLITE_OK;
    size_t n = 0;
    mwl_status status = begin_owned(s);
    if (status != MWL_OK) return status;
    for (size_t i = 0; i < f->n && code == SQLITE_OK; i++) {
        if (is_stuck(s, f->list[i], ask->now_wall_ns, &code)) continue;
        mwl__sqlite_do(s, &code, MWL__SQL_CLAIM, "i", f->list[i]);
        f->list[n++] = f->list[i];
    }
    status = mwl__sqlite_finish(s, code);
    if (status != MWL_OK) return status;
    s->claimed = f->list;
    s->n_claimed = n;
    f->list = NULL;
    return MWL_OK;
}

static int show_claimed(mwl__sqlite_store *s, const mwl_store_polled *sink) {
    int code = SQLITE_OK;
    while (s->n_claimed && code == SQLITE_OK) {
        see_run(s, s->claimed[s->n_claimed - 1], sink, &code);
        if (code == SQLITE_OK) s->n_claimed--;
    }
    if (code == SQLITE_OK) {
        free(s->claimed);
        s->claimed = NULL;
    }
    return code;
}

static int next_due(mwl__sqlite_store *s) {
    int code = mwl__sqlite_run(s, MWL__SQL_NEXT_DUE, "");
    if (code != SQLITE_ROW) return code == SQLITE_DONE ? SQLITE_OK : code;
    s->next_due_ns = mwl__sqlite_null(s, MWL__SQL_NEXT_DUE, 0)
                         ? MWL_NEVER
                         : mwl__sqlite_int(s, MWL__SQL_NEXT_DUE, 0);
    mwl__sqlite_end(s, MWL__SQL_NEXT_DUE);
    return SQLITE_OK;
}

static bool nothing_new(mwl__sqlite_store *s, const mwl_store_poll *ask, int *code) {
    *code = mwl__sqlite_run(s, MWL__SQL_DATA_VERSION, "");
    if (*code != SQLITE_ROW) return false;
    int64_t version = mwl__sqlite_int(s, MWL__SQL_DATA_VERSION, 0);
    mwl__sqlite_end(s, MWL__SQL_DATA_VERSION);
    *code = SQLITE_OK;
    bool same = version == s->data_version && !s->n_claimed &&
                s->next_due_ns > ask->now_wall_ns + ask->horizon_ns;
    s->data_version = version;
    return same;
}

mwl_status mwl__sqlite_poll(mwl_store *base, const mwl_store_poll *ask,
                            const mwl_store_polled *sink, int64_t *next_wall_ns) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    struct found f = {NULL, 0, 0, ask->most};
    int code;
    if (s->lock < 0) return mwl__sqlite_refuse(s, MWL_E_STATE, "this handle is not a worker");
    *next_wall_ns = s->next_due_ns;
    if (nothing_new(s, ask, &code)) return MWL_OK;
    mwl_status status = MWL_OK;
    if (code == SQLITE_OK) code = show_claimed(s, sink);
    if (code == SQLITE_OK) code = find(s, ask, &f);
    if (code == SQLITE_OK && f.n) status = claim(s, ask, &f);
    if (code == SQLITE_OK && status == MWL_OK) code = show_claimed(s, sink);
    if (code == SQLITE_OK && status == MWL_OK)
        see_messages(s, MWL__SQL_INBOX_NEW,
                     mwl__sqlite_run(s, MWL__SQL_INBOX_NEW, "i", (int64_t)s->seen), sink, &code);
    if (code == SQLITE_OK && status == MWL_OK) code = next_due(s);
    if (f.n && f.n >= ask->most) s->next_due_ns = 0; /* there may be more */
    *next_wall_ns = s->next_due_ns;
    free(f.list);
    if (status != MWL_OK || code != SQLITE_OK) s->data_version = -1; /* all of it once more */
    return status != MWL_OK ? status : mwl__sqlite_status(s, code);
}
