/* mhd_lib.h: libmicrohttpd, loaded when a server first starts, so that the command needs it for
 * `mwlvm serve` alone. */
#ifndef MWL_TOOLS_SERVE_MHD_LIB_H
#define MWL_TOOLS_SERVE_MHD_LIB_H

#include <microhttpd.h>

#define MHD_LIB(X)                                                                                 \
    X(start_daemon)                                                                                \
    X(stop_daemon)                                                                                 \
    X(run)                                                                                         \
    X(get_timeout)                                                                                 \
    X(get_daemon_info)                                                                             \
    X(get_connection_info)                                                                         \
    X(set_connection_option)                                                                       \
    X(get_connection_values)                                                                       \
    X(lookup_connection_value)                                                                     \
    X(create_response_from_buffer)                                                                 \
    X(create_response_from_callback)                                                               \
    X(add_response_header)                                                                         \
    X(queue_response)                                                                              \
    X(destroy_response)                                                                            \
    X(suspend_connection)                                                                          \
    X(resume_connection)

struct mhd_lib {
#define X(name) __typeof__(&MHD_##name) name;
    MHD_LIB(X)
#undef X
};

/* NULL: *why has the reason. */
const struct mhd_lib *mhd_lib_load(const char **why);

#endif
