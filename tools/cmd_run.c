/* cmd_run.c: `mwlvm run FILE`.
 *
 * Until the machine exists it only proves that the file can be read, and says so. */
#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>

int cmd_run(int argc, char **argv) {
    if (argc != 2) return cmd_usage("run takes one FILE");
    size_t size = 0;
    char *text = cmd_read_file(argv[1], &size);
    if (!text) return CMD_FAILED;
    fwrite(text, 1, size, stdout);
    fprintf(stderr, "mwlvm: execution is not built yet; this is the definition as read\n");
    free(text);
    return CMD_OK;
}
