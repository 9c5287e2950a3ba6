/* spawn.c: starts this program again, directly or in callgrind. The only file of bench that handles
 * processes. */
#include "bench/harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORDS = 16 };

static void become(const char *const *words, bool under_callgrind) {
    static char path[4096] =
        "/proc/self/exe"; /* still this program if the file was built again meanwhile */
    const char *argv[MAX_WORDS + 8];
    int n = 0;
    if (under_callgrind) {
        ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
        if (len <= 0) _exit(127);
        path[len] = '\0';
        argv[n++] = "valgrind";
        argv[n++] = "--tool=callgrind";
        argv[n++] = "--callgrind-out-file=/dev/null";
    }
    argv[n++] = path;
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
        for (;;) { /* the rest is read and dropped, so that the child never waits */
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

/* Reads until the text has come, then to the end. Returns when it came, or 0. */
static double wait_for(int from, const char *text) {
    char seen[4096];
    size_t at = 0;
    double came = 0;
    for (;;) {
        if (at + 1 >= sizeof seen) at = 0;
        ssize_t got = read(from, seen + at, sizeof seen - 1 - at);
        if (got <= 0) return came;
        at += (size_t)got;
        seen[at] = '\0';
        if (came == 0 && strstr(seen, text)) came = bench_now_ns();
    }
}

bool bench_command(const char *command, const char *const *words, const char *text,
                   double *until_ns, double *end_ns) {
    char path[4096 + 64];
    const char *argv[MAX_WORDS + 2];
    int ends[2], status = 0, n = 0;
    ssize_t len = readlink("/proc/self/exe", path, 4095);
    if (len <= 0) return false;
    path[len] = '\0';
    char *slash = strrchr(path, '/');
    snprintf(slash + 1, 64, "%s", command);
    if (access(path, X_OK) != 0 || pipe(ends) != 0) return false;
    argv[n++] = path;
    for (int i = 0; words[i] && i < MAX_WORDS; i++) argv[n++] = words[i];
    argv[n] = NULL;
    fflush(stdout);
    double start = bench_now_ns();
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_RDWR);
        if (dup2(nowhere, 0) < 0 || dup2(nowhere, 1) < 0 || dup2(ends[1], 2) < 0) _exit(127);
        close(ends[0]);
        close(ends[1]);
        execv(path, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(ends[1]);
    double came = wait_for(ends[0], text);
    close(ends[0]);
    bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
    *end_ns = bench_now_ns() - start;
    *until_ns = came - start;
    return ended && WEXITSTATUS(status) == 0 && came > 0;
}
