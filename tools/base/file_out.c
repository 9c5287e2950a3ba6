/* file_out.c: see file_out.h. */
#include "tools/base/file_out.h"

#include "tools/base/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_out_is_input(const char *path, const char *input) {
    struct stat out, in;
    int found = strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &in) : stat(input, &in);
    return found == 0 && stat(path, &out) == 0 && S_ISREG(out.st_mode) && out.st_dev == in.st_dev &&
           out.st_ino == in.st_ino;
}

static bool write_all(int fd, const char *data, size_t size) {
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* Returns the length of the folder in a path, with its slash. */
static size_t folder_len(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Finds what a chain of symbolic links leads to, also if that does not exist (realpath would fail).
 * Returns false, with errno, if the chain is too long. */
static bool follow(const char *path, char out[PATH_MAX]) {
    char target[PATH_MAX];
    if ((size_t)snprintf(out, PATH_MAX, "%s", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (int hops = 0; hops < 40; hops++) {
        ssize_t n = readlink(out, target, sizeof target - 1);
        if (n < 0) return true;
        target[n] = '\0';
        size_t keep = target[0] == '/' ? 0 : folder_len(out);
        if (keep + (size_t)n >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return false;
        }
        memcpy(out + keep, target, (size_t)n + 1);
    }
    errno = ELOOP;
    return false;
}

static bool write_in_place(const char *path, int flags, const void *data, size_t size) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
    if (fd < 0) return false;
    bool good = write_all(fd, data, size);
    if (close(fd) != 0) good = false;
    return good;
}

static void sync_folder(const char *path) {
    char folder[PATH_MAX];
    size_t len = folder_len(path);
    snprintf(folder, sizeof folder, "%.*s", len ? (int)len : 1, len ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd); /* some file systems cannot; the file itself is safe */
    close(fd);
}

/* `old` is what is there now, NULL for a new file. */
static bool write_beside(const char *path, const struct stat *old, const void *data, size_t size) {
    char name[PATH_MAX];
    int len = snprintf(name, sizeof name, "%s.XXXXXX", path);
    if (len < 0 || (size_t)len >= sizeof name) {
        errno = ENAMETOOLONG;
        return false;
    }
    int fd = mkstemp(name);
    if (fd < 0 && old && errno == EACCES) /* the file may be written, its folder may not */
        return write_in_place(path, O_TRUNC, data, size);
    if (fd < 0) return false;
    mode_t mask = umask(0);
    umask(mask);
    bool good = fchmod(fd, old ? old->st_mode & 07777 : 0666 & ~mask) == 0;
    if (old && (old->st_uid != geteuid() || old->st_gid != getegid()))
        good = fchown(fd, old->st_uid, old->st_gid) == 0 && good;
    good = good && write_all(fd, data, size) && fsync(fd) == 0;
    int why = errno;
    if (close(fd) != 0 && good) {
        why = errno;
        good = false;
    }
    if (good && rename(name, path) != 0) {
        why = errno;
        good = false;
    }
    if (good)
        sync_folder(path);
    else
        unlink(name);
    errno = why;
    return good;
}

static bool write_file(const char *path, const void *data, size_t size) {
    char target[PATH_MAX];
    struct stat st;
    if (!follow(path, target)) return false;
    if (stat(target, &st) != 0) return errno == ENOENT && write_beside(target, NULL, data, size);
    if (S_ISREG(st.st_mode)) return write_beside(target, &st, data, size);
    return write_in_place(target, 0, data, size);
}

/* As write_file would begin. */
static bool possible(const char *path) {
    char target[PATH_MAX], name[PATH_MAX + 8];
    struct stat st;
    if (!follow(path, target)) return false;
    bool there = stat(target, &st) == 0;
    if (!there && errno != ENOENT) return false;
    if (there && !S_ISREG(st.st_mode)) {
        if (S_ISDIR(st.st_mode)) errno = EISDIR;
        return !S_ISDIR(st.st_mode) && access(target, W_OK) == 0;
    }
    snprintf(name, sizeof name, "%s.XXXXXX", target);
    int fd = mkstemp(name);
    if (fd < 0) return there && errno == EACCES && access(target, W_OK) == 0;
    close(fd);
    unlink(name);
    return true;
}

int file_out_possible(const char *path) {
    if (possible(path)) return CMD_OK;
    return cmd_file(path, errno);
}

int file_out(const char *path, const void *data, size_t size) {
    sigset_t ending, before;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    struct stat st;
    bool regular = stat(path, &st) != 0 || S_ISREG(st.st_mode);
    if (regular) sigprocmask(SIG_BLOCK, &ending, &before); /* writing to a pipe may never end */
    signal(SIGXFSZ, SIG_IGN);                              /* an error of write instead */
    bool good = write_file(path, data, size);
    int why = errno;
    if (regular) sigprocmask(SIG_SETMASK, &before, NULL);
    if (good) return CMD_OK;
    cmd_fail("%s: %s", path, strerror(why));
    return CMD_USAGE;
}
