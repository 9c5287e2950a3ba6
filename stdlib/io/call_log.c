/* call_log.c: log: writes one line to the log of the host and returns its input. */
#include "stdlib/io/io.h"

static mwl_io_level level_of(const char *name) {
    return strcmp(name, "debug") == 0   ? MWL_IO_DEBUG
           : strcmp(name, "warn") == 0  ? MWL_IO_WARN
           : strcmp(name, "error") == 0 ? MWL_IO_ERROR
                                        : MWL_IO_INFO;
}

static void log_start(mwl_call *call, void *user) {
    mwl_io *io = user;
    mwl_value args = mwl_call_arguments(call);
    size_t len = 0;
    const char *message = mwl_as_text(mwl_get(args, "message"), &len);
    size_t n =
        mwl__io_log(io, level_of(mwl__io_arg_text(args, "level", "info")), message ? message : "",
                    len, mwl_get(args, "fields"), mwl_call_run(call));
    (void)mwl_call_charge(call, MWL__LOG_WORK(n) + len / 8);
    mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call)));
}

const mwl_call_provider mwl__io_call_log = {MWL__IO_CALL(log, "log"), .start = log_start};
const mwl__io_life mwl__io_call_log_life = {NULL};
