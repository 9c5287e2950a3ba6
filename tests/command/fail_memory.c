/* fail_memory.c: for LD_PRELOAD. From request number MWL_FAIL_FROM on, the C library has no memory
 * for this process; MWL_COUNT_TO names a file that gets the number of requests. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static _Atomic unsigned long n_requests; /* of all threads */
static unsigned long from;

static int fails(void) {
    static int begun;
    if (!begun) {
        const char *word = getenv("MWL_FAIL_FROM");
        begun = 1;
        from = word ? strtoul(word, NULL, 10) : 0;
    }
    unsigned long number = ++n_requests;
    if (!from || number < from) return 0;
    errno = ENOMEM;
    return 1;
}

#pragma GCC visibility push(default)
void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t size) { return fails() ? NULL : __libc_realloc(p, size); }
#pragma GCC visibility pop

static void __attribute__((destructor)) report(void) {
    char text[32];
    const char *path = getenv("MWL_COUNT_TO");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd < 0) return;
    int len = snprintf(text, sizeof text, "%lu", n_requests);
    if (write(fd, text, (size_t)len) != len) _exit(1);
    close(fd);
}
