/* start.c: where the command begins on Windows: arguments become UTF-8, streams binary. */
#include "tools/windows/streams.h"

#include <wchar.h>

int main(int argc, char **argv); /* of the command */

int wmain(int argc, wchar_t **wide) {
    char **argv = calloc((size_t)argc + 1, sizeof *argv);
    for (int i = 0; argv && i < argc; i++)
        if (!(argv[i] = windows_utf8(wide[i]))) return 2;
    if (!argv) return 2;
    streams_open();
    return main(argc, argv); /* the arguments stay until the process ends */
}
