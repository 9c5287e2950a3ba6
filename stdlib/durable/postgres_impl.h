/* postgres_impl.h: the parts of the store on PostgreSQL: the handle, its statements.
 *
 *     postgres_lib.c    libpq
 *     postgres_run.c    the connection; parameters, arrays, results
 *     postgres_sql.h    the schema and every statement
 *     store_postgres.c  opening, schema, workers
 *     postgres_work.c   what a worker does: commit, poll
 *     postgres_ask.c    what everybody does: programs, runs, lists, prune
 *     postgres_post.c   messages
 *     postgres_calls.c  calls for workers outside, small values, counts
 *
 * Each function of the store is one statement, or one short transaction. A statement is a
 * transaction of its own unless it is between BEGIN and COMMIT. No trigger, extension, advisory
 * lock or NOTIFY is used, and no statement changes a table twice, so that other engines which speak
 * this protocol have a chance. Tested on PostgreSQL. */
#ifndef MWL_DURABLE_POSTGRES_IMPL_H
#define MWL_DURABLE_POSTGRES_IMPL_H

#include "mwl_store.h"
#include "stdlib/durable/postgres_lib.h"
#include "stdlib/durable/postgres_sql.h"

typedef enum mwl__pg_statement {
#define MWL_X(name, text) MWL__PG_##name,
    MWL__PG_STATEMENTS(MWL_X)
#undef MWL_X
        MWL__PG_COUNT
} mwl__pg_statement;

typedef struct mwl__pg_store {
    mwl_store base;
    const mwl__postgres_lib *lib;
    PGconn *conn; /* NULL: to be made by the next statement */
    bool prepared[MWL__PG_COUNT];
    bool in_transaction;
    bool unsure;  /* something was written, and may not be safe yet: see mwl__pg_run */
    bool warned;  /* the server has said something with its last reply */
    int reply_ms; /* how long a reply may take */
    _Atomic int64_t clock_base_ns; /* see mwl_store_clock() */
    bool doubt;                    /* a connection was lost, and with it perhaps an outcome */
    char *uri, *who;
    char why[300];
    char state[6]; /* SQLSTATE of the last error; "" if there was none from the server */
    int64_t lease_ns;
    int64_t worker;      /* random; 0: not joined */
    int64_t joined_us;   /* the end of its first lease, by the clock of the database */
    int64_t renewed_ns;  /* when the lease was renewed, monotonic; 0: never */
    int64_t looked_ns;   /* when it was looked for workers that died; 0: to be done at once */
    int64_t tidied_ns;   /* when rows of workers were removed */
    int64_t messages_ns; /* when it is looked into the inbox again, monotonic */
    uint64_t polled;     /* the number of the last poll that may have claimed */
} mwl__pg_store;

/* Keeps a text for people, formatted as by printf(), and returns the status. */
mwl_status mwl__pg_refuse(mwl__pg_store *s, mwl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- arrays: parameters with many elements --------------------------------------------------- */

typedef enum mwl__pg_type {
    MWL__PG_BOOL = 16,
    MWL__PG_BYTEA = 17,
    MWL__PG_INT8 = 20,
    MWL__PG_TEXT = 25
} mwl__pg_type;

typedef struct mwl__pg_array {
    mwl__pg_type type;
    char *at; /* malloc; in the binary form of the protocol */
    size_t len, cap;
    uint32_t n;
    bool failed; /* out of memory */
} mwl__pg_array;

void mwl__pg_array_int(mwl__pg_array *a, int64_t v);
void mwl__pg_array_bool(mwl__pg_array *a, bool v);
void mwl__pg_array_bytes(mwl__pg_array *a, const void *at, size_t len); /* NULL: null */
void mwl__pg_array_free(mwl__pg_array *a);

/* ---- statements ------------------------------------------------------------------------------ */

/* Runs a statement with parameters by the letters of `form`: i an int64_t, t a const char * (or
 * NULL), x a mwl_store_text, b a const void * and a size_t, a a const mwl__pg_array * (or NULL).
 * MWL_OK and *out, which is freed with mwl__pg_clear() (out may be NULL: it is not wanted); or an
 * error. MWL_E_IO: a transaction that was open is rolled back, now or when the server notices. */
mwl_status mwl__pg_run(mwl__pg_store *s, PGresult **out, mwl__pg_statement which, const char *form,
                       ...);
/* Text without parameters, of one or more statements. */
mwl_status mwl__pg_text(mwl__pg_store *s, const char *text);
void mwl__pg_clear(mwl__pg_store *s, PGresult *result);
/* Ends a transaction: with MWL_OK it commits, otherwise it rolls back and returns the status. */
mwl_status mwl__pg_finish(mwl__pg_store *s, mwl_status status);
/* Whether a transaction that was not done has to be repeated, because others were in its way
 * (serialization, deadlock): then it has waited a little. The writer repeats by itself; this is for
 * what people ask. tries: 0 at first. */
bool mwl__pg_again(const mwl__pg_store *s, mwl_status status, unsigned *tries);
/* Ends the connection; the next statement makes a new one. */
void mwl__pg_drop(mwl__pg_store *s);

int mwl__pg_rows(const mwl__pg_store *s, const PGresult *r);
int64_t mwl__pg_int(const mwl__pg_store *s, const PGresult *r, int row, int column); /* null: 0 */
bool mwl__pg_null(const mwl__pg_store *s, const PGresult *r, int row, int column);
/* Lent until the result is cleared, and with a zero behind it. */
const char *mwl__pg_word(const mwl__pg_store *s, const PGresult *r, int row, int column);
mwl_store_text mwl__pg_text_at(const mwl__pg_store *s, const PGresult *r, int row, int column);
const void *mwl__pg_blob(const mwl__pg_store *s, const PGresult *r, int row, int column,
                         size_t *size); /* NULL: null */

int64_t mwl__pg_mono_ns(void);
/* The clock of the database has shown this, between these two instants of the monotonic clock. */
void mwl__pg_clock(mwl__pg_store *s, int64_t wall_ns, int64_t before_ns, int64_t after_ns);

/* ---- the functions of the store -------------------------------------------------------------- */

/* store_postgres.c. Renews the lease if a part of it is over. */
mwl_status mwl__pg_renew(mwl__pg_store *s, int64_t part);

/* postgres_work.c */
mwl_status mwl__pg_commit(mwl_store *base, const mwl_store_change *changes, size_t n, bool *kept);
mwl_status mwl__pg_poll(mwl_store *base, const mwl_store_poll *ask, const mwl_store_polled *sink,
                        int64_t *next_wall_ns);
mwl_status mwl__pg_idle(mwl_store *base, bool *more);

/* postgres_ask.c */
mwl_status mwl__pg_put_program(mwl_store *base, const uint8_t *id, const char *name,
                               const void *image, size_t size, int64_t now_wall_ns);
mwl_status mwl__pg_get_program(mwl_store *base, const uint8_t *id,
                               void (*see)(void *ctx, const char *name, const void *image,
                                           size_t size),
                               void *ctx);
mwl_status mwl__pg_start(mwl_store *base, const mwl_store_start *start);
mwl_status mwl__pg_start_all(mwl_store *base, const mwl_store_start *starts, size_t n,
                             size_t *which);
mwl_status mwl__pg_list(mwl_store *base, const mwl_store_query *query,
                        bool (*see)(void *ctx, const mwl_store_row *row), void *ctx);
mwl_status mwl__pg_waits(mwl_store *base, int64_t seq,
                         bool (*see)(void *ctx, const char *run, const mwl_store_wait *wait),
                         void *ctx);
mwl_status mwl__pg_events(mwl_store *base, int64_t seq, uint64_t after,
                          bool (*see)(void *ctx, uint64_t n, const char *run,
                                      const mwl_store_event *event),
                          void *ctx);
mwl_status mwl__pg_prune(mwl_store *base, const mwl_store_keep *keep, size_t *removed);
mwl_status mwl__pg_backup(mwl_store *base, const char *path);

/* postgres_post.c */
mwl_status mwl__pg_post(mwl_store *base, const mwl_store_message *message);

/* postgres_calls.c */
mwl_status mwl__pg_take_call(mwl_store *base, const mwl_store_call *ask,
                             void (*see)(void *ctx, const char *run, const mwl_store_wait *wait,
                                         uint32_t attempt),
                             void *ctx);
mwl_status mwl__pg_set_value(mwl_store *base, const char *key, const char *old, const char *value);
mwl_status mwl__pg_values(mwl_store *base, const char *prefix,
                          bool (*see)(void *ctx, const char *key, const char *value), void *ctx);
mwl_status mwl__pg_count(mwl_store *base, mwl_store_counts *out);

#endif
