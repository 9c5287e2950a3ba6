/* sqlite_lib.h: SQLite, loaded when a store is first opened, so that a command without one starts
 * as quickly as before. */
#ifndef MWL_DURABLE_SQLITE_LIB_H
#define MWL_DURABLE_SQLITE_LIB_H

#include <sqlite3.h>

#define MWL__SQLITE_LIB(X)                                                                         \
    X(open_v2)                                                                                     \
    X(close_v2)                                                                                    \
    X(busy_timeout)                                                                                \
    X(extended_result_codes)                                                                       \
    X(exec)                                                                                        \
    X(prepare_v3)                                                                                  \
    X(finalize)                                                                                    \
    X(step)                                                                                        \
    X(reset)                                                                                       \
    X(clear_bindings)                                                                              \
    X(errmsg)                                                                                      \
    X(errstr)                                                                                      \
    X(get_autocommit)                                                                              \
    X(changes64)                                                                                   \
    X(last_insert_rowid)                                                                           \
    X(bind_null)                                                                                   \
    X(bind_int64)                                                                                  \
    X(bind_text64)                                                                                 \
    X(bind_blob64)                                                                                 \
    X(column_type)                                                                                 \
    X(column_int64)                                                                                \
    X(column_text)                                                                                 \
    X(column_blob)                                                                                 \
    X(column_bytes)                                                                                \
    X(wal_checkpoint_v2)                                                                           \
    X(db_config)

typedef struct mwl__sqlite_lib {
#define MWL_X(name) __typeof__(&sqlite3_##name) name;
    MWL__SQLITE_LIB(MWL_X)
#undef MWL_X
} mwl__sqlite_lib;

/* Returns the functions, or NULL with the reason in *why (constant). Any thread. */
const mwl__sqlite_lib *mwl__sqlite_lib_load(const char **why);

#endif
