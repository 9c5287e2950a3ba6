/* sqlite_impl.h: the parts of the store on SQLite: the handle, its statements, transactions.
 *
 *     store_sqlite.c   opening, schema, owner
 *     sqlite_work.c    what the worker does: commit, poll, fold
 *     sqlite_ask.c     what everybody does: start, post, list, prune, backup
 *     sqlite_calls.c   calls for workers outside; values, counts */
#ifndef MWL_DURABLE_SQLITE_IMPL_H
#define MWL_DURABLE_SQLITE_IMPL_H

#include "mwl_store.h"
#include "stdlib/durable/sqlite_lib.h"

/* What list shows of a run; ?1 is whether snapshots are wanted. */
#define MWL__SQLITE_ROW                                                                            \
    "select r.seq, r.id, r.name, r.program, r.state, r.due_ns, r.created_ns, r.updated_ns, "       \
    "r.ended_ns, r.version, r.recoveries, r.start, r.result, "                                     \
    "(select count(*) from wait w where w.run = r.seq), "                                          \
    "(select count(*) from inbox i where i.run = r.seq and i.kind < 3), "                          \
    "case when ?1 or r.state > 2 then r.snapshot end from run r where "
#define MWL__SQLITE_FILTER "(?2 = 0 or (1 << r.state) & ?2) and (?3 is null or r.name = ?3) and "

/* Every statement, prepared when it is first used. */
#define MWL__SQLITE_STATEMENTS(X)                                                                  \
    X(BEGIN, "begin immediate")                                                                    \
    X(READ, "begin")                                                                               \
    X(COMMIT, "commit")                                                                            \
    X(ROLLBACK, "rollback")                                                                        \
    X(META_GET, "select value from meta where key = ?")                                            \
    X(META_PUT, "insert into meta values(?, ?) on conflict do update set value = excluded.value")  \
    X(DATA_VERSION, "pragma data_version")                                                         \
    X(PROGRAM_GET, "select name, image from program where id = ?")                                 \
    X(PROGRAM_PUT, "insert into program(id, image, name, added_ns) values(?, ?, ?, ?)")            \
    X(RUN_PUT, "insert into run(id, program, name, state, created_ns, updated_ns, start) "         \
               "values(?1, ?2, ?3, 0, ?4, ?4, ?5)")                                                \
    X(PROGRAM_TOUCH, "update program set added_ns = ?2 where id = ?1 and added_ns < ?3")           \
    X(RUN_FIND, "select seq, state, program, start from run where id = ?")                         \
    X(JOURNAL_PUT, "insert into journal(run, version, bytes) values(?, ?, ?)")                     \
    X(RUN_PARK, "update run set state = 2, due_ns = case when exists (select 1 from inbox where "  \
                "run = ?1 and kind < 3 and n > ?6) then 0 else ?2 end, version = ?3, snapshot = "  \
                "?4, updated_ns = ?5, recoveries = 0 where seq = ?1 and state < 3")                \
    X(RUN_END,                                                                                     \
      "update run set state = ?2, due_ns = null, version = ?3, snapshot = case when ?2 "           \
      "= 6 then coalesce((select bytes from journal where run = ?1 and version > "                 \
      "run.version order by version desc limit 1), snapshot) else ?6 end, result = ?4, "           \
      "updated_ns = ?5, ended_ns = case when ?2 = 6 then null else ?5 end where seq = ?1 "         \
      "and state < 3")                                                                             \
    X(INBOX_DROP, "delete from inbox where run = ?")                                               \
    X(INBOX_TAKE, "update inbox set kind = 3, body = null where n = ? and key is not null")        \
    X(INBOX_TAKEN, "delete from inbox where n = ? and key is null")                                \
    X(WAIT_DROP, "delete from wait where run = ?")                                                 \
    X(WAIT_KEEP, "delete from wait where run = ?1 and number not in (select value from "           \
                 "json_each(?2))")                                                                 \
    X(WAIT_PUT, "insert or ignore into wait(run, number, name, since_ns, question, provider) "     \
                "values(?, ?, ?, ?, ?, coalesce(?, ''))")                                          \
    X(CALL_FIND, "select w.run, w.number, w.name, w.since_ns, w.question, w.attempt, r.id from "   \
                 "wait w join run r on r.seq = w.run where w.provider = ?1 and w.provider <> '' "  \
                 "and r.state < 3 and w.lease_ns <= ?2 and not exists (select 1 from inbox i "     \
                 "where i.run = w.run and i.name = w.name and i.kind = 0) order by w.lease_ns, "   \
                 "w.run, w.number limit 1")                                                        \
    X(CALL_TAKE, "update wait set lease_ns = ?3, attempt = attempt + 1 where run = ?1 and number " \
                 "= ?2")                                                                           \
    X(CALL_RENEW, "update wait set lease_ns = ?4 where run = (select seq from run where id = ?1) " \
                  "and number = ?2 and attempt = ?3 and provider <> '' and not exists (select 1 "  \
                  "from inbox i where i.run = wait.run and i.name = wait.name and i.kind = 0) "    \
                  "returning number")                                                              \
    X(VALUE_GET, "select value from value where key = ?")                                          \
    X(VALUE_PUT, "insert into value values(?, ?) on conflict do update set value = "               \
                 "excluded.value")                                                                 \
    X(VALUE_DROP, "delete from value where key = ?")                                               \
    X(VALUES, "select key, value from value where key >= ?1 and substr(key, 1, length(?1)) = ?1 "  \
              "order by key")                                                                      \
    X(COUNT_OPEN, "select state, count(*) from run where state < 3 group by state")                \
    X(COUNT_OVER, "select state, count(*) from run where ended_ns is not null group by state")     \
    X(COUNT_STUCK, "select count(*) from run where state = 6")                                     \
    X(COUNT_WAITS, "select count(*) from wait")                                                    \
    X(COUNT_INBOX, "select count(*) from inbox where kind < 3")                                    \
    X(LAST_EVENT, "select coalesce(max(n), 0) from event")                                         \
    X(EVENT_PUT, "insert into event(run, at_ns, kind, body) values(?, ?, ?, ?)")                   \
    X(EVENT_PUT2, "insert into event(run, at_ns, kind, body) values(?1, ?2, ?3, ?4), (?1, ?5, "    \
                  "?6, ?7)")                                                                       \
    X(CLAIM_NEW, "select seq, recoveries from run where state = 0 and state < 3 order by seq "     \
                 "limit ?") /* both: SQLite takes the index run_live only for its own term */      \
    X(CLAIM_DUE, "select seq, recoveries from run where state = 2 and due_ns <= ? and recoveries " \
                 "< ? order by due_ns limit ?")                                                    \
    X(CLAIM_SUSPECT, "select seq, recoveries from run where state = 2 and due_ns <= ? and "        \
                     "recoveries >= ? order by recoveries, seq limit 1")                           \
    X(CLAIM_ONE, "select seq, recoveries from run where id = ?1 and (state = 0 or (state = 2 "     \
                 "and due_ns <= ?2))")                                                             \
    X(CLAIM, "update run set state = 1, due_ns = null, recoveries = recoveries + 1 where seq = ?") \
    X(CLAIMED, "select id, name, program, version, recoveries, start, snapshot from run "          \
               "where seq = ?")                                                                    \
    X(NEXT_DUE, "select min(due_ns) from run where state = 2 and due_ns is not null")              \
    X(STUCK, "update run set state = 6, due_ns = null, updated_ns = ?2, result = ?3 "              \
             "where seq = ?1")                                                                     \
    X(INBOX_NEW, "select n, run, kind, name, body from inbox where n > ? and kind < 3 order by n") \
    X(INBOX_OF, "select n, run, kind, name, body from inbox where run = ? and kind < 3 order by "  \
                "n")                                                                               \
    X(FOLD_TO, "select max(n) from (select n from journal order by n limit ?)")                    \
    X(FOLD, "select run, max(version), bytes from journal where n <= ? group by run")              \
    X(FOLD_RUN, "update run set snapshot = ?2, version = ?3, recoveries = 0, updated_ns = ?4 "     \
                "where seq = ?1 and version < ?3 and state < 3")                                   \
    X(FOLD_DROP, "delete from journal where n <= ?")                                               \
    X(INBOX_PUT, "insert into inbox(run, kind, name, key, body, at_ns) values(?, ?, ?, ?, ?, ?)")  \
    X(INBOX_KEY, "select n from inbox where run = ? and key = ?")                                  \
    X(INBOX_KIND, "select count(*) from inbox where run = ? and kind = ? and name = ?")            \
    X(WAIT_COUNT, "select count(*) from wait where run = ? and name = ?")                          \
    X(RUN_WAKE, "update run set due_ns = 0 where seq = ? and state = 2")                           \
    X(RUN_AGAIN, "update run set state = 2, due_ns = 0, recoveries = 0, result = null "            \
                 "where seq = ? and state = 6")                                                    \
    X(LIST, MWL__SQLITE_ROW MWL__SQLITE_FILTER "r.seq > ?4 order by r.seq limit ?5")               \
    X(LIST_NEWEST,                                                                                 \
      MWL__SQLITE_ROW MWL__SQLITE_FILTER "(?4 = 0 or r.seq < ?4) order by r.seq desc limit ?5")    \
    X(LIST_ONE, MWL__SQLITE_ROW MWL__SQLITE_FILTER "r.id = ?6 and r.seq > ?4 limit ?5")            \
    X(NEWEST, "select max(version), bytes from journal where run = ?")                             \
    X(WAITS, "select r.id, w.number, w.name, w.since_ns, w.question, w.provider from wait w join " \
             "run r on r.seq = w.run order by w.run, w.number")                                    \
    X(WAITS_OF, "select r.id, w.number, w.name, w.since_ns, w.question, w.provider from wait w "   \
                "join run r on r.seq = w.run where w.run = ?1 order by w.run, w.number")           \
    X(EVENTS, "select e.n, r.id, e.at_ns, e.kind, e.body from event e join run r on r.seq = "      \
              "e.run where e.n > ? order by e.n")                                                  \
    X(EVENTS_OF, "select e.n, r.id, e.at_ns, e.kind, e.body from event e join run r on r.seq = "   \
                 "e.run where e.n > ? and e.run = ? order by e.n")                                 \
    X(OLD, "select seq from run where ended_ns is not null and ((state = 3 and ended_ns < ?1) or " \
           "(state in (4, 5) and ended_ns < ?2)) limit ?3")                                        \
    X(EVENT_DROP, "delete from event where run = ?")                                               \
    X(RUN_DROP, "delete from run where seq = ?")                                                   \
    X(PROGRAM_DROP, "delete from program where added_ns < ? and id not in (select program from "   \
                    "run) and lower(hex(id)) not in (select value from value where key >= "        \
                    "'program/' and key < 'program0')")                                            \
    X(BACKUP, "vacuum into ?")

typedef enum mwl__sqlite_statement {
#define MWL_X(name, text) MWL__SQL_##name,
    MWL__SQLITE_STATEMENTS(MWL_X)
#undef MWL_X
        MWL__SQL_COUNT
} mwl__sqlite_statement;

typedef struct mwl__sqlite_store {
    mwl_store base;
    const mwl__sqlite_lib *lib;
    sqlite3 *db;
    sqlite3_stmt *statements[MWL__SQL_COUNT];
    char *path;
    char why[300];
    int lock;            /* of the owner; -1: not a worker */
    uint64_t generation; /* of this owner: the epoch of its claims */
    uint64_t seen;       /* the last message that poll has brought */
    int64_t data_version;
    int64_t next_due_ns; /* as the last poll found it; before it nothing is due */
    uint64_t journal;    /* rows since the last fold, at most */
    uint64_t written;    /* bytes since the last checkpoint, about */
    bool dirty;          /* something was committed since the last checkpoint */
    int64_t *claimed;    /* runs that are claimed, and were not shown yet */
    size_t n_claimed;
} mwl__sqlite_store;

/* Returns the status that a code of SQLite means, and keeps its text. */
mwl_status mwl__sqlite_status(mwl__sqlite_store *s, int code);
/* Keeps a text for people, formatted as by printf(), and returns the status. */
mwl_status mwl__sqlite_refuse(mwl__sqlite_store *s, mwl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Binds by the letters of `form`: i an int64_t, t a const char * (or NULL), x a mwl_store_text, b a
 * const void * and a size_t. Then takes one step. Returns SQLITE_ROW, SQLITE_DONE or an error. The
 * statement stays open after SQLITE_ROW: read it with `next`, or end it with `end`. */
int mwl__sqlite_run(mwl__sqlite_store *s, mwl__sqlite_statement which, const char *form, ...);
int mwl__sqlite_next(mwl__sqlite_store *s, mwl__sqlite_statement which);
void mwl__sqlite_end(mwl__sqlite_store *s, mwl__sqlite_statement which);
/* The same for a statement without rows: true, or false after an error, which *code holds. If *code
 * is an error already, nothing is done. */
bool mwl__sqlite_do(mwl__sqlite_store *s, int *code, mwl__sqlite_statement which, const char *form,
                    ...);

int64_t mwl__sqlite_int(mwl__sqlite_store *s, mwl__sqlite_statement which, int column);
bool mwl__sqlite_null(mwl__sqlite_store *s, mwl__sqlite_statement which, int column);
mwl_store_text mwl__sqlite_text(mwl__sqlite_store *s, mwl__sqlite_statement which, int column);
const char *mwl__sqlite_word(mwl__sqlite_store *s, mwl__sqlite_statement which, int column);
const void *mwl__sqlite_blob(mwl__sqlite_store *s, mwl__sqlite_statement which, int column,
                             size_t *size);

/* Ends a transaction: commits if code is SQLITE_OK, otherwise rolls back. Returns the status. */
mwl_status mwl__sqlite_finish(mwl__sqlite_store *s, int code);

/* sqlite_work.c */
mwl_status mwl__sqlite_commit(mwl_store *base, const mwl_store_change *changes, size_t n,
                              bool *kept);
mwl_status mwl__sqlite_poll(mwl_store *base, const mwl_store_poll *ask,
                            const mwl_store_polled *sink, int64_t *next_wall_ns);
mwl_status mwl__sqlite_idle(mwl_store *base, bool *more);
mwl_status mwl__sqlite_fold(mwl__sqlite_store *s, bool *more);

/* sqlite_ask.c */
mwl_status mwl__sqlite_put_program(mwl_store *base, const uint8_t *id, const char *name,
                                   const void *image, size_t size, int64_t now_wall_ns);
mwl_status mwl__sqlite_get_program(mwl_store *base, const uint8_t *id,
                                   void (*see)(void *ctx, const char *name, const void *image,
                                               size_t size),
                                   void *ctx);
mwl_status mwl__sqlite_start(mwl_store *base, const mwl_store_start *start);
mwl_status mwl__sqlite_start_all(mwl_store *base, const mwl_store_start *starts, size_t n,
                                 size_t *which);
mwl_status mwl__sqlite_post(mwl_store *base, const mwl_store_message *message);
mwl_status mwl__sqlite_list(mwl_store *base, const mwl_store_query *query,
                            bool (*see)(void *ctx, const mwl_store_row *row), void *ctx);
mwl_status mwl__sqlite_waits(mwl_store *base, int64_t seq,
                             bool (*see)(void *ctx, const char *run, const mwl_store_wait *wait),
                             void *ctx);
mwl_status mwl__sqlite_events(mwl_store *base, int64_t seq, uint64_t after,
                              bool (*see)(void *ctx, uint64_t n, const char *run,
                                          const mwl_store_event *event),
                              void *ctx);
/* sqlite_calls.c */
mwl_status mwl__sqlite_take_call(mwl_store *base, const mwl_store_call *ask,
                                 void (*see)(void *ctx, const char *run, const mwl_store_wait *wait,
                                             uint32_t attempt),
                                 void *ctx);
mwl_status mwl__sqlite_set_value(mwl_store *base, const char *key, const char *old,
                                 const char *value);
mwl_status mwl__sqlite_values(mwl_store *base, const char *prefix,
                              bool (*see)(void *ctx, const char *key, const char *value),
                              void *ctx);
mwl_status mwl__sqlite_count(mwl_store *base, mwl_store_counts *out);

mwl_status mwl__sqlite_prune(mwl_store *base, const mwl_store_keep *keep, size_t *removed);
mwl_status mwl__sqlite_backup(mwl_store *base, const char *path);

#endif
