/* serve_none.c: `mwlvm serve` of a build without durable runs or without libmicrohttpd. */
#include "tools/base/cmd.h"
#include "tools/base/options.h"

int cmd_serve(int argc, char **argv) {
    return options_absent("usage: mwlvm serve\n\nThis build has no server.\n\n",
                          "this build has no server: the header of SQLite or of libmicrohttpd was "
                          "not found",
                          argc, argv);
}
