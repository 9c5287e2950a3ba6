/* providers.h: the list of the providers of this library.
 *
 * A row X(name, uri_name, rights): the provider mwl:provider.call/mwlvm/URI_NAME/v1 in call_NAME.c
 * with its document call_NAME.json; in the second list mwl:provider.middleware/mwlvm/URI_NAME/v1,
 * mw_NAME.c and mw_NAME.json. rights: what a call may ask for. */
#ifndef MWL_IO_PROVIDERS_H
#define MWL_IO_PROVIDERS_H

#define MWL__IO_MAY(right) (1u << MWL_IO_##right)

#define MWL__IO_CALLS(X)                                                                           \
    X(env, "env", MWL__IO_MAY(ENV))                                                                \
    X(exec, "exec", MWL__IO_MAY(EXEC) | MWL__IO_MAY(READ) | MWL__IO_MAY(ENV))                      \
    X(file, "file", MWL__IO_MAY(READ) | MWL__IO_MAY(WRITE))                                        \
    X(hash, "hash", 0)                                                                             \
    X(http, "http", MWL__IO_MAY(HTTP) | MWL__IO_MAY(READ))                                         \
    X(log, "log", 0)                                                                               \
    X(prompt, "prompt", 0)                                                                         \
    X(random, "random", 0)                                                                         \
    X(run, "run", MWL__IO_MAY(READ))                                                               \
    X(sqlite, "sqlite", MWL__IO_MAY(SQLITE))                                                       \
    X(template, "template", 0)                                                                     \
    X(uuid, "uuid", 0)

#define MWL__IO_MIDDLEWARE(X)                                                                      \
    X(cache, "cache", MWL__IO_MAY(SQLITE))                                                         \
    X(circuit_breaker, "circuit-breaker", 0)                                                       \
    X(concurrency, "concurrency", 0)                                                               \
    X(log, "log", 0)                                                                               \
    X(rate_limit, "rate-limit", 0)                                                                 \
    X(redact, "redact", 0)

typedef enum mwl__io_slot {
#define MWL_X(name, uri_name, rights) MWL__IO_CALL_##name,
    MWL__IO_CALLS(MWL_X)
#undef MWL_X
#define MWL_X(name, uri_name, rights) MWL__IO_MW_##name,
        MWL__IO_MIDDLEWARE(MWL_X)
#undef MWL_X
            MWL__IO_N_SLOTS
} mwl__io_slot;

#endif
