/* serve_none.c: `mwlvm serve` of a build without durable runs or without libmicrohttpd. */
#include "cmd.h"

int cmd_serve(int argc, char **argv) {
    (void)argc, (void)argv;
    return cmd_usage("this build has no server: the header of SQLite or of libmicrohttpd was not "
                     "found");
}
