/* sqlite_api.h: SQLite, loaded when it is first needed, and a database opened inside what is
 * allowed. For call_sqlite.c and mw_cache.c. Any thread. */
#ifndef MWL_IO_SQLITE_API_H
#define MWL_IO_SQLITE_API_H

#include "stdlib/io/io.h"

#include <sqlite3.h>

#define MWL__SQLITE_FUNCTIONS(X)                                                                   \
    X(open_v2)                                                                                     \
    X(close_v2)                                                                                    \
    X(prepare_v2)                                                                                  \
    X(step)                                                                                        \
    X(reset)                                                                                       \
    X(finalize)                                                                                    \
    X(exec)                                                                                        \
    X(errmsg)                                                                                      \
    X(extended_errcode)                                                                            \
    X(busy_handler)                                                                                \
    X(progress_handler)                                                                            \
    X(set_authorizer)                                                                              \
    X(db_config)                                                                                   \
    X(get_autocommit)                                                                              \
    X(changes64)                                                                                   \
    X(last_insert_rowid)                                                                           \
    X(bind_parameter_count)                                                                        \
    X(bind_parameter_name)                                                                         \
    X(bind_null)                                                                                   \
    X(bind_int64)                                                                                  \
    X(bind_double)                                                                                 \
    X(bind_text64)                                                                                 \
    X(bind_blob64)                                                                                 \
    X(column_count)                                                                                \
    X(column_name)                                                                                 \
    X(column_type)                                                                                 \
    X(column_int64)                                                                                \
    X(column_double)                                                                               \
    X(column_text)                                                                                 \
    X(column_blob)                                                                                 \
    X(column_bytes)                                                                                \
    X(limit)

typedef struct mwl__sqlite_api {
#define MWL_X(name) __typeof__(&sqlite3_##name) name;
    MWL__SQLITE_FUNCTIONS(MWL_X)
#undef MWL_X
} mwl__sqlite_api;

/* Returns SQLite, or NULL with the reason in *why (constant). */
const mwl__sqlite_api *mwl__sqlite_load(const char **why);

/* How a connection waits and stops. Lives as long as the connection. */
typedef struct mwl__sqlite_wait {
    const atomic_bool *stop;
    int64_t busy_ms;
} mwl__sqlite_wait;

typedef enum mwl__sqlite_how {
    MWL__SQLITE_WRITE, /* a new file is made if there is none */
    MWL__SQLITE_READ,
    MWL__SQLITE_PRIVATE /* as WRITE; a new file is for its owner alone */
} mwl__sqlite_how;

/* Opens a database for which the policy has the right sqlite. A statement cannot reach another
 * file. Returns 0, a negative errno as mwl__io_file_open() does, or a positive code of SQLite; *out
 * may be set then, for its message. Close it with close_v2. */
int mwl__sqlite_open(const mwl__sqlite_api *s, const mwl_io *io, const char *path,
                     mwl__sqlite_how how, mwl__sqlite_wait *wait, sqlite3 **out);

#endif
