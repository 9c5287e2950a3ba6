/* file_out.c: writing a file so that a failure loses nothing, on Windows; see file_out.h. In place
 * of tools/base/file_out.c. */
#include "tools/base/file_out.h"

#include "tools/base/cmd.h"

#include <errno.h>
#include <windows.h>

enum {
    TRIES = 20,
    PAUSE_MS = 25
}; /* while another program, such as a virus scanner, has the file */

bool file_out_is_input(const char *path, const char *input) {
    struct stat out, in;
    int found = strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &in) : stat(input, &in);
    return found == 0 && stat(path, &out) == 0 && S_ISREG(out.st_mode) && S_ISREG(in.st_mode) &&
           out.st_ino && out.st_dev == in.st_dev && out.st_ino == in.st_ino;
}

static bool write_all(int fd, const char *data, size_t size) {
    while (size) {
        int n = write(fd, data, size);
        if (n < 0) return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

static bool write_in_place(const char *path, const void *data, size_t size) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool good = write_all(fd, data, size);
    if (close(fd) != 0) good = false;
    return good;
}

/* Opens a new file whose name is the path and some digits. Returns it, and its name, given. */
static int open_beside(const char *path, char **name) {
    size_t room = strlen(path) + 16;
    *name = malloc(room);
    for (unsigned i = 0; *name && i < 1000; i++) {
        unsigned digits = ((unsigned)GetCurrentProcessId() << 10) ^ (unsigned)GetTickCount() ^ i;
        snprintf(*name, room, "%s.%06x", path, digits & 0xFFFFFF);
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, _S_IREAD | _S_IWRITE);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* One name takes the place of the other at once, and is on the disk when this returns. */
static bool replace(const char *from, const char *to) {
    wchar_t *old = windows_wide(to), *new = windows_wide(from);
    bool good = false;
    for (int i = 0; old && new && !good &&i < TRIES; i++) {
        good = MoveFileExW(new, old, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
        DWORD why = good ? 0 : GetLastError();
        errno = EACCES;
        if (why != ERROR_SHARING_VIOLATION) break;
        Sleep(PAUSE_MS);
    }
    free(old);
    free(new);
    return good;
}

static bool remove_file(const char *path) {
    wchar_t *name = windows_wide(path);
    bool gone = name && DeleteFileW(name);
    free(name);
    return gone;
}

static bool write_beside(const char *path, const void *data, size_t size) {
    char *name = NULL;
    int fd = open_beside(path, &name);
    bool good = fd >= 0 && write_all(fd, data, size) && _commit(fd) == 0;
    int why = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        why = errno;
        good = false;
    }
    if (good && !replace(name, path)) {
        why = errno;
        good = false;
    }
    if (!good && fd >= 0) remove_file(name);
    free(name);
    errno = why;
    return good;
}

/* Follows links, so that the link stays. Returns the name, given. */
static char *target_of(const char *path) {
    enum { ROOM = 32768 };
    char *real = NULL;
    wchar_t *name = windows_wide(path), *full = malloc(ROOM * sizeof *full);
    HANDLE file = name
                      ? CreateFileW(name, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                    NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL)
                      : INVALID_HANDLE_VALUE;
    if (file != INVALID_HANDLE_VALUE) {
        DWORD n = full ? GetFinalPathNameByHandleW(file, full, ROOM, 0) : 0;
        if (n && n < ROOM) real = windows_utf8(full);
        CloseHandle(file);
    }
    free(full);
    free(name);
    return real ? real : _strdup(path);
}

static bool write_file(const char *path, const void *data, size_t size) {
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (strcmp(path, "/dev/null") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
        return write_in_place(path, data, size);
    char *target = target_of(path);
    bool good = target && write_beside(target, data, size);
    int why = errno;
    free(target);
    errno = why;
    return good;
}

int file_out_possible(const char *path) {
    struct stat st;
    size_t len = strlen(path);
    while (len && path[len - 1] != '/' && path[len - 1] != '\\') len--;
    char *folder = len ? _strdup(path) : NULL;
    if (folder) folder[len] = 0;
    if (stat(path, &st) == 0 ? !S_ISDIR(st.st_mode) : !folder || stat(folder, &st) == 0) {
        free(folder);
        return CMD_OK;
    }
    free(folder);
    cmd_fail("%s: %s", path, strerror(stat(path, &st) == 0 ? EISDIR : ENOENT));
    return CMD_USAGE;
}

int file_out(const char *path, const void *data, size_t size) {
    windows_signals_hold();
    bool good = write_file(path, data, size);
    int why = errno;
    windows_signals_release();
    if (good) return CMD_OK;
    cmd_fail("%s: %s", path, strerror(why));
    return CMD_USAGE;
}
