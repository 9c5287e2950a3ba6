/* cmd.c: messages of the command, and the signal that it ends by; see cmd.h. */
#include "tools/base/cmd.h"

#include "tools/base/term.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *current; /* the subcommand that runs; NULL before it is found */
static int ending_signal;

void cmd_begin(const char *name) { current = name; }
const char *cmd_name(void) { return current ? current : ""; }
void cmd_end_by_signal(int number) { ending_signal = number; }
int cmd_ending_signal(void) { return ending_signal; }

/* An earlier write failed, and its errno is lost. The output has a hole already: one more byte
 * shows why. */
static int lost_errno(void) {
    errno = 0;
    return write(STDOUT_FILENO, "\n", 1) < 0 ? errno : EIO;
}

int cmd_flush(void) {
    static int error;
    errno = 0;
    bool failed = fflush(stdout) != 0;
    int why = errno;
    if ((failed || ferror(stdout)) && !error) error = failed && why ? why : lost_errno();
    return error;
}

static void complain(const char *format, va_list args) {
    term_status_clear();
    fputs("mwlvm: ", stderr);
    term_vprintf(stderr, format, args);
    fputc('\n', stderr);
}

int cmd_usage(const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    fprintf(stderr, "mwlvm: see `mwlvm %s%s--help`\n", cmd_name(), current ? " " : "");
    return CMD_USAGE;
}

int cmd_fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    return CMD_FAILED;
}

int cmd_no_memory(void) {
    cmd_fail("out of memory");
    return CMD_LIMIT;
}

int cmd_file(const char *path, int why) {
    if (why == ENOMEM) return cmd_no_memory();
    cmd_fail("%s: %s", path, strerror(why));
    return CMD_USAGE;
}

int cmd_status(mwl_status status) {
    if (status == MWL_OK) return CMD_OK;
    return status == MWL_E_NOMEM ? cmd_no_memory() : cmd_fail("%s", mwl_status_text(status));
}

void cmd_note(const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
}
