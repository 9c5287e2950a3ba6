/* postgres_lib.h: libpq, the client of PostgreSQL, loaded when a store is first opened. Its header
 * is not needed to build: what is used of it is declared here. These functions, and the numbers
 * below, are part of the binary interface of libpq.so.5. */
#ifndef MWL_DURABLE_POSTGRES_LIB_H
#define MWL_DURABLE_POSTGRES_LIB_H

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef struct pg_cancel PGcancel;

enum { MWL__PG_CONNECTED = 0 };                         /* of PQstatus() */
enum { MWL__PG_COMMAND_OK = 1, MWL__PG_TUPLES_OK = 2 }; /* of PQresultStatus() */
enum { MWL__PG_IDLE = 0 };                              /* of PQtransactionStatus() */

/* result, name, parameters */
#define MWL__POSTGRES_LIB(X)                                                                       \
    X(PGconn *, connectdbParams,                                                                   \
      (const char *const *keywords, const char *const *values, int expand))                        \
    X(void, finish, (PGconn * conn))                                                               \
    X(int, status, (const PGconn *conn))                                                           \
    X(int, transactionStatus, (const PGconn *conn))                                                \
    X(int, socket, (const PGconn *conn))                                                           \
    X(char *, errorMessage, (const PGconn *conn))                                                  \
    X(void *, setNoticeReceiver,                                                                   \
      (PGconn * conn, void (*see)(void *ctx, const PGresult *notice), void *ctx))                  \
    X(PGcancel *, getCancel, (PGconn * conn))                                                      \
    X(int, cancel, (PGcancel * what, char *why, int cap))                                          \
    X(void, freeCancel, (PGcancel * what))                                                         \
    X(int, sendQuery, (PGconn * conn, const char *text))                                           \
    X(int, sendPrepare,                                                                            \
      (PGconn * conn, const char *name, const char *text, int n, const unsigned *types))           \
    X(int, sendQueryPrepared,                                                                      \
      (PGconn * conn, const char *name, int n, const char *const *values, const int *lengths,      \
       const int *formats, int result_format))                                                     \
    X(int, consumeInput, (PGconn * conn))                                                          \
    X(int, isBusy, (PGconn * conn))                                                                \
    X(PGresult *, getResult, (PGconn * conn))                                                      \
    X(int, resultStatus, (const PGresult *result))                                                 \
    X(char *, resultErrorField, (const PGresult *result, int field))                               \
    X(int, ntuples, (const PGresult *result))                                                      \
    X(char *, getvalue, (const PGresult *result, int row, int column))                             \
    X(int, getlength, (const PGresult *result, int row, int column))                               \
    X(int, getisnull, (const PGresult *result, int row, int column))                               \
    X(void, clear, (PGresult * result))

typedef struct mwl__postgres_lib {
#define MWL_X(result, name, parameters) result(*name) parameters;
    MWL__POSTGRES_LIB(MWL_X)
#undef MWL_X
} mwl__postgres_lib;

/* Returns the functions, or NULL with the reason in *why (constant). Any thread. */
const mwl__postgres_lib *mwl__postgres_lib_load(const char **why);

#endif
