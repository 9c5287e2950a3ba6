/* readers.c: reading ahead. Windows can look into a pipe without reading from it, but not into a
 * socket that stands for a standard stream, and wine not into a pipe that another system has made.
 * A thread reads those, so that others can see whether there is something.
 *
 * The thread and the reader of its bytes take turns: `some` says that the bytes are there, `wanted`
 * that they were taken. Standard input is not read ahead before the first read() from it: stdio may
 * be what reads it. */
#include "tools/windows/readers.h"

#include <errno.h>
#include <pthread.h>
#include <windows.h>

#undef read

enum { N_FDS = 64, CHUNK = 1 << 16 };

struct reader {
    int fd;
    HANDLE some, wanted;
    size_t at, len;
    int error; /* of the last read */
    char bytes[CHUNK];
};

static struct reader *readers[N_FDS];
static bool stdin_is_read;

static void *read_ahead(void *ctx) {
    struct reader *r = ctx;
    for (;;) {
        int n = read(r->fd, r->bytes, CHUNK);
        r->error = n < 0 ? errno : 0;
        r->at = 0;
        r->len = n < 0 ? 0 : (size_t)n;
        SetEvent(r->some);
        if (n <= 0) return NULL;
        WaitForSingleObject(r->wanted, INFINITE);
    }
}

static struct reader *begin(int fd) {
    struct reader *r = calloc(1, sizeof *r);
    pthread_t thread;
    if (!r) return NULL;
    r->fd = fd;
    r->some = CreateEventW(NULL, TRUE, FALSE, NULL);
    r->wanted = CreateEventW(NULL, FALSE, FALSE, NULL);
    if (r->some && r->wanted && pthread_create(&thread, NULL, read_ahead, r) == 0) {
        pthread_detach(thread);
        return readers[fd] = r;
    }
    if (r->some) CloseHandle(r->some);
    if (r->wanted) CloseHandle(r->wanted);
    free(r);
    return NULL;
}

bool readers_have(int fd) { return fd >= 0 && fd < N_FDS && readers[fd]; }

bool readers_ready(int fd) {
    if (fd < 0 || fd >= N_FDS || (fd == STDIN_FILENO && !stdin_is_read)) return true;
    if (!readers[fd] && !begin(fd)) return true;
    return WaitForSingleObject(readers[fd]->some, 0) == WAIT_OBJECT_0;
}

int readers_read(int fd, void *to, size_t size) {
    if (fd == STDIN_FILENO) stdin_is_read = true;
    if (!readers_have(fd)) return read(fd, to, size > INT32_MAX ? INT32_MAX : (unsigned)size);
    struct reader *r = readers[fd];
    WaitForSingleObject(r->some, INFINITE);
    if (r->len == 0) { /* the end, or an error: it stays */
        errno = r->error;
        return r->error ? -1 : 0;
    }
    size_t n = r->len - r->at < size ? r->len - r->at : size;
    memcpy(to, r->bytes + r->at, n);
    r->at += n;
    if (r->at == r->len) {
        ResetEvent(r->some);
        SetEvent(r->wanted);
    }
    return (int)n;
}
