/* spawn.c: this program started again, plainly or under callgrind. The only file of bench that
 * knows processes. */
#include "harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORDS = 16 };

static void become(const char *const *words, bool under_callgrind) {
    static char self[4096];
    const char *argv[MAX_WORDS + 8];
    int n = 0;
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len <= 0) _exit(127);
    self[len] = '\0';
    if (under_callgrind) {
        argv[n++] = "valgrind";
        argv[n++] = "--tool=callgrind";
        argv[n++] = "--callgrind-out-file=/dev/null";
    }
    argv[n++] = self;
    for (int i = 0; words[i] && i < MAX_WORDS; i++) argv[n++] = words[i];
    argv[n] = NULL;
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

int bench_spawn(const char *const *words, bool under_callgrind, char *text, size_t size) {
    int ends[2] = {-1, -1}, status = 0;
    fflush(stdout);
    if (text && pipe(ends) != 0) return -1;
    pid_t child = fork();
    if (child == 0) {
        if (text) {
            int nowhere = open("/dev/null", O_WRONLY);
            if (dup2(ends[1], 2) < 0 || dup2(nowhere, 1) < 0) _exit(127);
            close(ends[0]);
            close(ends[1]);
        }
        become(words, under_callgrind);
    }
    if (text) {
        close(ends[1]);
        size_t at = 0;
        char more[512];
        for (;;) { /* what is too much is read and dropped, so that the child never waits */
            ssize_t got = at + 1 < size ? read(ends[0], text + at, size - 1 - at)
                                        : read(ends[0], more, sizeof more);
            if (got <= 0) break;
            if (at + 1 < size) at += (size_t)got;
        }
        text[at] = '\0';
        close(ends[0]);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
