/* told.h: runs wrong use of the library in a child process, and returns what the library wrote
 * before it stopped the process. For builds without NDEBUG. */
#ifndef TOLD_H
#define TOLD_H

#include <stdbool.h>
#include <stdio.h>

/* Does the C library leave freed memory readable, so that wrong use of it can be recognised? musl
 * gives large blocks back to the system: the process is stopped by SIGSEGV then. */
#if defined(__GLIBC__)
#define FREED_IS_READABLE 1
#else
#define FREED_IS_READABLE 0
#endif

#if defined(_WIN32) || defined(__EMSCRIPTEN__)
#define TOLD_HERE 0 /* a process has no copy that could be stopped in its place */
static inline bool told(void (*wrong)(void *ctx), void *ctx, char *text, size_t size) {
    return (void)wrong, (void)ctx, (void)text, (void)size, false;
}
#else
#define TOLD_HERE 1
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns whether the process was stopped by SIGABRT. text is what it wrote to standard error. */
static inline bool told(void (*wrong)(void *ctx), void *ctx, char *text, size_t size) {
    int ends[2], how = 0;
    size_t n = 0;
    text[0] = '\0';
    fflush(NULL);
    if (pipe(ends) != 0) return false;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        wrong(ctx);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; n < size - 1 && (got = read(ends[0], text + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = '\0';
    close(ends[0]);
    waitpid(child, &how, 0);
    return WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT;
}
#endif

#endif
