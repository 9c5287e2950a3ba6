/* waits.c: waiting for descriptors, and pipes. See posix.h and include/poll.h.
 *
 * Windows cannot wait for a pipe without reading from it, so poll looks at short intervals, which
 * grow while nothing happens. */
#include "poll.h"

#include "tools/windows/readers.h"

#include <errno.h>
#include <windows.h>

#undef write
#undef close

enum { FIRST_MS = 1, LONGEST_MS = 15, PIPE_BYTES = 1 << 16 };

/* Returns what can be done with the descriptor without waiting. */
static short ready(const struct windows_pollfd *p) {
    HANDLE file = (HANDLE)_get_osfhandle(p->fd);
    DWORD n = 0;
    if (!(p->events & POLLIN)) return p->events;
    if (GetFileType(file) == FILE_TYPE_PIPE) {
        if (PeekNamedPipe(file, NULL, 0, NULL, &n, NULL)) return n ? POLLIN : 0;
        if (GetLastError() == ERROR_BROKEN_PIPE) return POLLIN | POLLHUP;
        return readers_ready(p->fd) ? POLLIN : 0;
    }
    if (GetConsoleMode(file, &n)) return WaitForSingleObject(file, 0) == WAIT_OBJECT_0 ? POLLIN : 0;
    return POLLIN;
}

int windows_poll(struct windows_pollfd *fds, unsigned n, int timeout_ms) {
    ULONGLONG begin = GetTickCount64();
    for (DWORD pause = FIRST_MS;; pause = pause < LONGEST_MS ? pause + 1 : pause) {
        int found = 0;
        for (unsigned i = 0; i < n; i++) found += (fds[i].revents = ready(&fds[i])) != 0;
        ULONGLONG passed = GetTickCount64() - begin;
        if (found || (timeout_ms >= 0 && passed >= (ULONGLONG)timeout_ms)) return found;
        ULONGLONG left = timeout_ms < 0 ? pause : (ULONGLONG)timeout_ms - passed;
        Sleep(left < pause ? (DWORD)left : pause);
    }
}

int windows_pipe(int fds[2]) { return _pipe(fds, PIPE_BYTES, _O_BINARY | _O_NOINHERIT); }

int fcntl(int fd, int command, ...) {
    HANDLE file = (HANDLE)_get_osfhandle(fd);
    DWORD mode = PIPE_READMODE_BYTE | PIPE_NOWAIT;
    if (command == F_GETFD && GetFileType(file) != FILE_TYPE_UNKNOWN) return 0;
    if (command == F_SETFL && SetNamedPipeHandleState(file, &mode, NULL, NULL)) return 0;
    errno = EBADF;
    return -1;
}

int windows_read(int fd, void *to, size_t size) { return readers_read(fd, to, size); }

int windows_close(int fd) { return readers_have(fd) ? 0 : close(fd); }

/* A pipe that nothing reads is EINVAL for Microsoft's library. */
int windows_write(int fd, const void *data, size_t size) {
    int n = write(fd, data, size > INT32_MAX ? INT32_MAX : (unsigned)size);
    if (n < 0 && errno == EINVAL && GetFileType((HANDLE)_get_osfhandle(fd)) == FILE_TYPE_PIPE)
        errno = EPIPE;
    return n;
}
