/* sqlite_ask.c: what every process may do with a SQLite store: programs, starting runs, messages,
 * lists, retention, backup. */
#include "stdlib/durable/sqlite_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TOUCH_NS INT64_C(3600000000000)

/* ---- programs and runs ----------------------------------------------------------------------- */

/* One that is used again is young again: prune removes old ones that no run names, and the run that
 * this is for is not there yet. */
mwl_status mwl__sqlite_put_program(mwl_store *base, const uint8_t *id, const char *name,
                                   const void *image, size_t size, int64_t now_wall_ns) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    int code = SQLITE_OK;
    bool known = false, equal = false;
    if (!mwl__sqlite_do(s, &code, MWL__SQL_BEGIN, "")) return mwl__sqlite_status(s, code);
    int got = mwl__sqlite_run(s, MWL__SQL_PROGRAM_GET, "b", id, (size_t)16);
    if (got == SQLITE_ROW) {
        size_t have;
        const void *bytes = mwl__sqlite_blob(s, MWL__SQL_PROGRAM_GET, 1, &have);
        known = true;
        equal = have == size && memcmp(bytes, image, size) == 0;
        mwl__sqlite_end(s, MWL__SQL_PROGRAM_GET);
    } else if (got != SQLITE_DONE) {
        code = got;
    }
    if (!known)
        mwl__sqlite_do(s, &code, MWL__SQL_PROGRAM_PUT, "bbti", id, (size_t)16, image, size, name,
                       now_wall_ns);
    else
        mwl__sqlite_do(s, &code, MWL__SQL_PROGRAM_TOUCH, "bii", id, (size_t)16, now_wall_ns,
                       now_wall_ns - TOUCH_NS);
    mwl_status status = mwl__sqlite_finish(s, code);
    if (status == MWL_OK && known && !equal)
        return mwl__sqlite_refuse(s, MWL_E_DUPLICATE, "another program has the same id");
    return status;
}

mwl_status mwl__sqlite_get_program(mwl_store *base, const uint8_t *id,
                                   void (*see)(void *ctx, const char *name, const void *image,
                                               size_t size),
                                   void *ctx) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    int code = mwl__sqlite_run(s, MWL__SQL_PROGRAM_GET, "b", id, (size_t)16);
    size_t size;
    if (code == SQLITE_DONE)
        return mwl__sqlite_refuse(s, MWL_E_NOT_FOUND, "%s does not have the program", s->path);
    if (code != SQLITE_ROW) return mwl__sqlite_status(s, code);
    const void *image = mwl__sqlite_blob(s, MWL__SQL_PROGRAM_GET, 1, &size);
    see(ctx, mwl__sqlite_word(s, MWL__SQL_PROGRAM_GET, 0), image, size);
    mwl__sqlite_end(s, MWL__SQL_PROGRAM_GET);
    return MWL_OK;
}

static bool same_start(mwl__sqlite_store *s, const mwl_store_start *start) {
    size_t size;
    const void *program = mwl__sqlite_blob(s, MWL__SQL_RUN_FIND, 2, &size);
    mwl_store_text text = mwl__sqlite_text(s, MWL__SQL_RUN_FIND, 3);
    return size == 16 && memcmp(program, start->program, 16) == 0 && text.at &&
           text.len == start->start.len && memcmp(text.at, start->start.at, text.len) == 0;
}

/* Inside a transaction. False: there is another run with this id. */
static bool start_one(mwl__sqlite_store *s, const mwl_store_start *start, int *code) {
    static const mwl_store_text nothing;
    bool same = true;
    int got = mwl__sqlite_run(s, MWL__SQL_RUN_FIND, "t", start->id);
    if (got == SQLITE_ROW) {
        same = same_start(s, start);
        mwl__sqlite_end(s, MWL__SQL_RUN_FIND);
    } else if (got == SQLITE_DONE) {
        mwl__sqlite_do(s, code, MWL__SQL_RUN_PUT, "tbtix", start->id, start->program, (size_t)16,
                       start->name, start->now_wall_ns, start->start);
        int64_t seq = s->lib->last_insert_rowid(s->db);
        mwl__sqlite_do(s, code, MWL__SQL_EVENT_PUT, "iitx", seq, start->now_wall_ns, "accepted",
                       nothing);
        s->next_due_ns = 0;
    } else if (*code == SQLITE_OK) {
        *code = got;
    }
    return same;
}

mwl_status mwl__sqlite_start_all(mwl_store *base, const mwl_store_start *starts, size_t n,
                                 size_t *which) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    int code = SQLITE_OK;
    bool fine = true;
    if (!mwl__sqlite_do(s, &code, MWL__SQL_BEGIN, "")) return mwl__sqlite_status(s, code);
    for (size_t i = 0; i < n && fine && code == SQLITE_OK; i++) {
        *which = i;
        fine = start_one(s, &starts[i], &code);
    }
    if (fine || code != SQLITE_OK) return mwl__sqlite_finish(s, code);
    (void)mwl__sqlite_run(s, MWL__SQL_ROLLBACK, "");
    return mwl__sqlite_refuse(s, MWL_E_DUPLICATE, "there is a run '%s' already", starts[*which].id);
}

mwl_status mwl__sqlite_start(mwl_store *base, const mwl_store_start *start) {
    size_t which;
    return mwl__sqlite_start_all(base, start, 1, &which);
}

/* ---- messages -------------------------------------------------------------------------------- */

static int64_t count(mwl__sqlite_store *s, mwl__sqlite_statement which, int got, int *code) {
    int64_t n = 0;
    if (got == SQLITE_ROW) {
        n = mwl__sqlite_int(s, which, 0);
        mwl__sqlite_end(s, which);
    } else if (got != SQLITE_DONE && *code == SQLITE_OK) {
        *code = got;
    }
    return n;
}

/* Whether the message has to be refused: MWL_OK if not. */
static mwl_status may_post(mwl__sqlite_store *s, int64_t seq, const mwl_store_message *m,
                           int *code) {
    if (m->key && count(s, MWL__SQL_INBOX_KEY,
                        mwl__sqlite_run(s, MWL__SQL_INBOX_KEY, "it", seq, m->key), code))
        return mwl__sqlite_refuse(s, MWL_E_DUPLICATE, "answered already, with this key");
    if (m->kind != MWL_STORE_ANSWER) return MWL_OK;
    int64_t open = count(s, MWL__SQL_WAIT_COUNT,
                         mwl__sqlite_run(s, MWL__SQL_WAIT_COUNT, "it", seq, m->name), code);
    int64_t there = count(
        s, MWL__SQL_INBOX_KIND,
        mwl__sqlite_run(s, MWL__SQL_INBOX_KIND, "iit", seq, (int64_t)MWL_STORE_ANSWER, m->name),
        code);
    if (open > 0 && there >= open)
        return mwl__sqlite_refuse(s, MWL_E_DUPLICATE, "'%s' of run '%s' is answered already",
                                  m->name, m->run);
    return MWL_OK;
}

/* A run that is stuck is in no memory. */
static mwl_status post_stuck(mwl__sqlite_store *s, int64_t seq, const mwl_store_message *m,
                             int *code) {
    static const char why[] = "cancelled while it was stuck";
    static const mwl_store_text nothing;
    const mwl_store_text text = {why, sizeof why - 1};
    if (m->kind == MWL_STORE_ANSWER)
        return mwl__sqlite_refuse(s, MWL_E_STATE, "run '%s' is stuck", m->run);
    if (m->kind == MWL_STORE_RESUME) {
        mwl__sqlite_do(s, code, MWL__SQL_RUN_AGAIN, "i", seq);
        mwl__sqlite_do(s, code, MWL__SQL_EVENT_PUT, "iitx", seq, m->now_wall_ns, "resumed",
                       nothing);
        s->next_due_ns = 0;
        return MWL_OK;
    }
    mwl__sqlite_do(s, code, MWL__SQL_RUN_AGAIN, "i", seq); /* RUN_END ends no run that is over */
    mwl__sqlite_do(s, code, MWL__SQL_RUN_END, "iiixib", seq, (int64_t)MWL_STORE_ABORTED, INT64_MAX,
                   text, m->now_wall_ns, NULL, (size_t)0);
    mwl__sqlite_do(s, code, MWL__SQL_INBOX_DROP, "i", seq);
    mwl__sqlite_do(s, code, MWL__SQL_WAIT_DROP, "i", seq);
    mwl__sqlite_do(s, code, MWL__SQL_EVENT_PUT, "iitx", seq, m->now_wall_ns, "aborted", text);
    return MWL_OK;
}

static mwl_status post_to(mwl__sqlite_store *s, int64_t seq, int64_t state,
                          const mwl_store_message *m, int *code) {
    if (state == MWL_STORE_STUCK) return post_stuck(s, seq, m, code);
    if (state >= MWL_STORE_DONE) {
        if (m->kind == MWL_STORE_CANCEL) return MWL_OK;
        return mwl__sqlite_refuse(s, MWL_E_STATE, "run '%s' is over", m->run);
    }
    if (m->kind == MWL_STORE_RESUME)
        return mwl__sqlite_refuse(s, MWL_E_STATE, "run '%s' is not stuck", m->run);
    if (m->kind == MWL_STORE_CANCEL &&
        count(s, MWL__SQL_INBOX_KIND,
              mwl__sqlite_run(s, MWL__SQL_INBOX_KIND, "iit", seq, (int64_t)m->kind, ""), code))
        return MWL_OK;
    mwl_status status = may_post(s, seq, m, code);
    if (status != MWL_OK) return status;
    mwl__sqlite_do(s, code, MWL__SQL_INBOX_PUT, "iittxi", seq, (int64_t)m->kind, m->name, m->key,
                   m->body, m->now_wall_ns);
    mwl__sqlite_do(s, code, MWL__SQL_RUN_WAKE, "i", seq);
    s->next_due_ns = 0; /* also when this handle is the worker */
    return MWL_OK;
}

mwl_status mwl__sqlite_post(mwl_store *base, const mwl_store_message *m) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    int code = SQLITE_OK;
    mwl_status refused = MWL_OK;
    if (!mwl__sqlite_do(s, &code, MWL__SQL_BEGIN, "")) return mwl__sqlite_status(s, code);
    int got = mwl__sqlite_run(s, MWL__SQL_RUN_FIND, "t", m->run);
    if (got == SQLITE_ROW) {
        int64_t seq = mwl__sqlite_int(s, MWL__SQL_RUN_FIND, 0);
        int64_t state = mwl__sqlite_int(s, MWL__SQL_RUN_FIND, 1);
        mwl__sqlite_end(s, MWL__SQL_RUN_FIND);
        refused = post_to(s, seq, state, m, &code);
    } else if (got == SQLITE_DONE) {
        refused = mwl__sqlite_refuse(s, MWL_E_NOT_FOUND, "there is no run '%s'", m->run);
    } else {
        code = got;
    }
    if (code == SQLITE_OK && refused != MWL_OK) {
        (void)mwl__sqlite_run(s, MWL__SQL_ROLLBACK, "");
        return refused;
    }
    return mwl__sqlite_finish(s, code);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void read_row(mwl__sqlite_store *s, mwl__sqlite_statement Q, mwl_store_row *r) {
    size_t size;
    const void *program = mwl__sqlite_blob(s, Q, 3, &size);
    memset(r, 0, sizeof *r);
    if (size == sizeof r->program) memcpy(r->program, program, size);
    r->seq = mwl__sqlite_int(s, Q, 0);
    r->id = mwl__sqlite_word(s, Q, 1);
    r->name = mwl__sqlite_word(s, Q, 2);
    r->state = (mwl_store_state)mwl__sqlite_int(s, Q, 4);
    r->due_wall_ns = mwl__sqlite_null(s, Q, 5) ? MWL_NEVER : mwl__sqlite_int(s, Q, 5);
    r->created_wall_ns = mwl__sqlite_int(s, Q, 6);
    r->updated_wall_ns = mwl__sqlite_int(s, Q, 7);
    r->ended_wall_ns = mwl__sqlite_int(s, Q, 8);
    r->version = (uint64_t)mwl__sqlite_int(s, Q, 9);
    r->recoveries = (uint32_t)mwl__sqlite_int(s, Q, 10);
    r->start = mwl__sqlite_text(s, Q, 11);
    r->result = mwl__sqlite_text(s, Q, 12);
    r->n_waits = (size_t)mwl__sqlite_int(s, Q, 13);
    r->n_messages = (size_t)mwl__sqlite_int(s, Q, 14);
    r->bytes = mwl__sqlite_blob(s, Q, 15, &r->size);
}

/* The journal may have a newer state than the row. */
static void read_newest(mwl__sqlite_store *s, mwl_store_row *r, int *code) {
    int got = mwl__sqlite_run(s, MWL__SQL_NEWEST, "i", r->seq);
    if (got != SQLITE_ROW) {
        *code = got;
        return;
    }
    if ((uint64_t)mwl__sqlite_int(s, MWL__SQL_NEWEST, 0) <= r->version) return;
    r->version = (uint64_t)mwl__sqlite_int(s, MWL__SQL_NEWEST, 0);
    r->bytes = mwl__sqlite_blob(s, MWL__SQL_NEWEST, 1, &r->size);
}

mwl_status mwl__sqlite_list(mwl_store *base, const mwl_store_query *query,
                            bool (*see)(void *ctx, const mwl_store_row *row), void *ctx) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    int code = SQLITE_OK;
    bool more = true;
    if (!mwl__sqlite_do(s, &code, MWL__SQL_READ, "")) return mwl__sqlite_status(s, code);
    const mwl__sqlite_statement Q = query->id       ? MWL__SQL_LIST_ONE
                                    : query->newest ? MWL__SQL_LIST_NEWEST
                                                    : MWL__SQL_LIST;
    int got = mwl__sqlite_run(s, Q, query->id ? "iitiit" : "iitii", (int64_t)query->snapshots,
                              (int64_t)query->states, query->name, query->after,
                              query->limit ? (int64_t)query->limit : INT64_C(-1), query->id);
    while (got == SQLITE_ROW && more && code == SQLITE_OK) {
        mwl_store_row row;
        read_row(s, Q, &row);
        if (query->snapshots && row.state < MWL_STORE_DONE) read_newest(s, &row, &code);
        if (code == SQLITE_OK) more = see(ctx, &row);
        if (query->snapshots && row.state < MWL_STORE_DONE) mwl__sqlite_end(s, MWL__SQL_NEWEST);
        if (more) got = mwl__sqlite_next(s, Q);
    }
    if (got == SQLITE_ROW)
        mwl__sqlite_end(s, Q);
    else if (got != SQLITE_DONE && code == SQLITE_OK)
        code = got;
    return mwl__sqlite_finish(s, code);
}

mwl_status mwl__sqlite_waits(mwl_store *base, int64_t seq,
                             bool (*see)(void *ctx, const char *run, const mwl_store_wait *wait),
                             void *ctx) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    const mwl__sqlite_statement Q = seq ? MWL__SQL_WAITS_OF : MWL__SQL_WAITS;
    int got = mwl__sqlite_run(s, Q, seq ? "i" : "", seq);
    for (; got == SQLITE_ROW; got = mwl__sqlite_next(s, Q)) {
        const mwl_store_wait wait = {.number = (uint64_t)mwl__sqlite_int(s, Q, 1),
                                     .name = mwl__sqlite_word(s, Q, 2),
                                     .since_wall_ns = mwl__sqlite_int(s, Q, 3),
                                     .question = mwl__sqlite_text(s, Q, 4),
                                     .provider = mwl__sqlite_word(s, Q, 5)};
        if (see(ctx, mwl__sqlite_word(s, Q, 0), &wait)) continue;
        mwl__sqlite_end(s, Q);
        return MWL_OK;
    }
    return mwl__sqlite_status(s, got);
}

mwl_status mwl__sqlite_events(mwl_store *base, int64_t seq, uint64_t after,
                              bool (*see)(void *ctx, uint64_t n, const char *run,
                                          const mwl_store_event *event),
                              void *ctx) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    const mwl__sqlite_statement which = seq ? MWL__SQL_EVENTS_OF : MWL__SQL_EVENTS;
    int got = seq ? mwl__sqlite_run(s, which, "ii", (int64_t)after, seq)
                  : mwl__sqlite_run(s, which, "i", (int64_t)after);
    for (; got == SQLITE_ROW; got = mwl__sqlite_next(s, which)) {
        const mwl_store_event event = {.at_wall_ns = mwl__sqlite_int(s, which, 2),
                                       .kind = mwl__sqlite_word(s, which, 3),
                                       .text = mwl__sqlite_text(s, which, 4)};
        if (see(ctx, (uint64_t)mwl__sqlite_int(s, which, 0), mwl__sqlite_word(s, which, 1), &event))
            continue;
        mwl__sqlite_end(s, which);
        return MWL_OK;
    }
    return mwl__sqlite_status(s, got);
}

/* ---- retention and backup -------------------------------------------------------------------- */

mwl_status mwl__sqlite_prune(mwl_store *base, const mwl_store_keep *keep, size_t *removed) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    int code = SQLITE_OK;
    *removed = 0;
    if (!mwl__sqlite_do(s, &code, MWL__SQL_BEGIN, "")) return mwl__sqlite_status(s, code);
    while (code == SQLITE_OK && *removed < keep->most) {
        int got = mwl__sqlite_run(s, MWL__SQL_OLD, "iii", keep->done_before_wall_ns,
                                  keep->failed_before_wall_ns, INT64_C(1));
        if (got != SQLITE_ROW) {
            if (got != SQLITE_DONE) code = got;
            break;
        }
        int64_t seq = mwl__sqlite_int(s, MWL__SQL_OLD, 0);
        mwl__sqlite_end(s, MWL__SQL_OLD);
        mwl__sqlite_do(s, &code, MWL__SQL_EVENT_DROP, "i", seq);
        mwl__sqlite_do(s, &code, MWL__SQL_INBOX_DROP, "i", seq);
        mwl__sqlite_do(s, &code, MWL__SQL_WAIT_DROP, "i", seq);
        mwl__sqlite_do(s, &code, MWL__SQL_RUN_DROP, "i", seq);
        ++*removed;
    }
    if (*removed < keep->most)
        mwl__sqlite_do(s, &code, MWL__SQL_PROGRAM_DROP, "i",
                       keep->done_before_wall_ns - 2 * TOUCH_NS);
    mwl_status status = mwl__sqlite_finish(s, code);
    if (status == MWL_OK && *removed < keep->most)
        (void)s->lib->exec(s->db, "pragma incremental_vacuum", NULL, NULL, NULL);
    return status;
}

static int sync_file(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int bad = fd < 0 || fsync(fd) != 0;
    if (fd >= 0) close(fd);
    return bad ? -1 : 0;
}

/* The name of a file is kept when its folder is written. */
static int sync_folder_of(const char *path) {
    char folder[4200];
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) + 1 : 1;
    if (len >= sizeof folder) return -1;
    memcpy(folder, slash ? path : ".", len);
    folder[len] = '\0';
    return sync_file(folder);
}

/* An empty file that its owner alone can read, for what runs hold. */
static int make_empty(const char *path) {
    if (unlink(path) != 0 && errno != ENOENT) return -1;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return fd < 0 ? -1 : close(fd);
}

/* Under another name first, so that a file with this name is always complete. */
mwl_status mwl__sqlite_backup(mwl_store *base, const char *path) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    char part[4200];
    if (access(path, F_OK) == 0)
        return mwl__sqlite_refuse(s, MWL_E_DUPLICATE, "%s exists already", path);
    snprintf(part, sizeof part, "%s.part", path);
    if (make_empty(part) != 0)
        return mwl__sqlite_refuse(s, MWL_E_IO, "%s: %s", part, strerror(errno));
    int code = mwl__sqlite_run(s, MWL__SQL_BACKUP, "t", part);
    if (code != SQLITE_DONE) {
        mwl_status status = mwl__sqlite_status(s, code);
        (void)unlink(part);
        return status;
    }
    if (sync_file(part) != 0 || rename(part, path) != 0 || sync_folder_of(path) != 0)
        return mwl__sqlite_refuse(s, MWL_E_IO, "%s: %s", path, strerror(errno));
    return MWL_OK;
}
