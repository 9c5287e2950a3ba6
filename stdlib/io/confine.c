/* confine.c: opens files inside the folders that a policy allows.
 *
 * The kernel keeps the path inside the folder (openat2, RESOLVE_BENEATH). Where it cannot, the path
 * is walked by hand, one name at a time from a descriptor: links are read and followed in the text,
 * and ".." never leads above the folder. Both see the same file that is opened, so that a link that
 * is changed meanwhile does not help. Any thread. */
#include "stdlib/io/policy.h"

#include "stdlib/io/io_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/openat2.h>
#include <sys/vfs.h>
#endif

#ifndef O_PATH
#define O_PATH O_RDONLY
#endif

/* ---- the walk -------------------------------------------------------------------------------- */

enum { LINKS_MAX = 40 };

/* Adds what every open needs. O_NONBLOCK: a FIFO does not block; O_PATH refuses it. */
static int with_always(int flags) { return flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NONBLOCK); }

typedef struct walk {
    int stack[PATH_MAX / 2]; /* descriptors of the folders, the root first */
    int depth;
    int links;
    char rest[PATH_MAX]; /* what is still to be walked */
} walk;

static void close_from(walk *w, int depth) {
    while (w->depth > depth) close(w->stack[--w->depth]);
}

/* Puts the target of a link before what is left. An absolute target leads out. */
static int follow(walk *w, int dir, const char *name, const char *rest) {
    char target[PATH_MAX], joined[PATH_MAX * 2];
    if (++w->links > LINKS_MAX) return -ELOOP;
    ssize_t n = readlinkat(dir, name, target, sizeof target - 1);
    if (n < 0) return -errno;
    target[n] = '\0';
    if (target[0] == '/') return -EXDEV;
    int len = snprintf(joined, sizeof joined, "%s/%s", target, rest);
    if (len < 0 || (size_t)len >= sizeof w->rest) return -ENAMETOOLONG;
    memcpy(w->rest, joined, (size_t)len + 1);
    return 0;
}

/* Takes one name off the rest. Returns 1 with *last for the last name, 0 to go on. */
static int step(walk *w, int flags, unsigned mode, int *opened) {
    char name[NAME_MAX + 1], rest[PATH_MAX];
    const char *from = w->rest + strspn(w->rest, "/");
    size_t len = strcspn(from, "/");
    if (len > NAME_MAX) return -ENAMETOOLONG;
    memcpy(name, from, len);
    name[len] = '\0';
    snprintf(rest, sizeof rest, "%s", from + len + strspn(from + len, "/"));
    bool last = rest[0] == '\0';
    if (len == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        if (len == 2) {
            if (w->depth < 2) return -EXDEV;
            close_from(w, w->depth - 1);
        }
        memcpy(w->rest, rest, strlen(rest) + 1);
        if (!last) return 0;
        *opened = openat(w->stack[w->depth - 1], ".", with_always(flags), mode);
        return *opened < 0 ? -errno : 1;
    }
    int dir = w->stack[w->depth - 1];
    int how = last ? flags | O_NOFOLLOW : O_PATH | O_DIRECTORY | O_NOFOLLOW;
    int fd = openat(dir, name, with_always(how), mode);
    int why = fd < 0 ? errno : 0;
    struct stat s;
    bool link = (why == ELOOP || why == ENOTDIR) &&
                fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(s.st_mode);
    if (link) return last && (flags & O_NOFOLLOW) ? -ELOOP : follow(w, dir, name, rest);
    if (fd < 0) return -why;
    if (last) {
        *opened = fd;
        return 1;
    }
    if ((size_t)w->depth == sizeof w->stack / sizeof *w->stack) {
        close(fd);
        return -ENAMETOOLONG;
    }
    w->stack[w->depth++] = fd;
    memcpy(w->rest, rest, strlen(rest) + 1);
    return 0;
}

/* Opens `path` below the folder `root`, a descriptor. */
int mwl__confine_walk(int root, const char *path, int flags, unsigned mode) {
    walk *w = malloc(sizeof *w);
    int opened = -1, result = 0;
    if (!w) return -ENOMEM;
    w->links = 0;
    w->depth = 0;
    if (strlen(path) >= sizeof w->rest) result = -ENAMETOOLONG;
    if (result == 0) {
        memcpy(w->rest, path, strlen(path) + 1);
        int top = dup(root);
        if (top < 0) result = -errno;
        w->stack[w->depth++] = top;
    }
    while (result == 0) result = step(w, flags, mode, &opened);
    close_from(w, 0);
    free(w);
    return result < 0 ? result : opened;
}

static int open_below(int root, const char *path, int flags, unsigned mode) {
#if defined(__linux__) && defined(SYS_openat2)
    struct open_how how = {
        .flags = (unsigned long long)with_always(flags),
        .mode = flags & O_CREAT ? (unsigned long long)mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    long fd = syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof how);
    if (fd >= 0) return (int)fd;
    if (errno != ENOSYS && errno != EPERM && errno != EAGAIN) return -errno;
        /* ENOSYS, and EPERM of a sandbox that forbids openat2; EAGAIN: a folder was moved meanwhile
         */
#endif
    return mwl__confine_walk(root, path, flags, mode);
}

/* ---- allowed folders ------------------------------------------------------------------------- */

/* The path below the entry, "" for the entry itself; NULL if it is not inside. */
static const char *inside(const char *entry, const char *path) {
    size_t n = strlen(entry);
    if (n == 1) return path + 1; /* "/" */
    if (strncmp(entry, path, n) != 0) return NULL;
    return path[n] == '\0' ? path + n : path[n] == '/' ? path + n + 1 : NULL;
}

/* Refuses what the kernel shows of a process: /proc/self/environ has every variable, mem its
 * memory. The policy must name such a file itself, or allow everything. Returns fd, or a negative
 * errno after it has closed fd. */
static int not_of_process(const mwl_io *io, int fd) {
#if defined(__linux__)
    struct statfs s;
    char link[40], path[64];
    enum { PROC = 0x9fa0 };
    if (fd < 0 || io->options.policy->all || fstatfs(fd, &s) < 0 || s.f_type != PROC) return fd;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n < 0 ? 0 : n] = '\0';
    if (n < 0 || (strncmp(path, "/proc/", 6) == 0 && path[6] >= '0' && path[6] <= '9')) {
        close(fd);
        return -EPERM;
    }
#endif
    (void)io;
    return fd;
}

/* Opens `path` (absolute) inside the entry. The entry itself is what the person named: links on the
 * way to it are followed. */
static int open_entry(const char *entry, const char *below, int flags, unsigned mode) {
    if (*below == '\0') {
        int fd = open(entry, with_always(flags), mode);
        return fd < 0 ? -errno : fd;
    }
    int root = open(entry, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) return -errno;
    int fd = open_below(root, below, flags, mode);
    close(root);
    return fd;
}

int mwl__io_file_open(const mwl_io *io, mwl_io_right right, const char *path, int flags,
                      unsigned mode) {
    const mwl__grants *g = &io->options.policy->of[right];
    char whole[PATH_MAX];
    int result = -EPERM;
    if (g->everything) {
        int fd = open(path, with_always(flags), mode);
        return fd < 0 ? -errno : not_of_process(io, fd);
    }
    if (!mwl__path_absolute(NULL, path, whole, sizeof whole)) return -ENAMETOOLONG;
    for (size_t i = 0; i < g->n; i++) {
        const char *below = inside(g->entries[i], whole);
        if (!below) continue;
        result = open_entry(g->entries[i], below, flags, mode);
        if (*below) result = not_of_process(io, result);
        if (result != -EXDEV) return result; /* another entry may reach where the link leads */
    }
    return result;
}

int mwl__io_file_parent(const mwl_io *io, mwl_io_right right, const char *path, const char **name) {
    const mwl__grants *g = &io->options.policy->of[right];
    char whole[PATH_MAX], folder[PATH_MAX];
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') begin--;
    *name = path + begin;
    bool dots = strcmp(*name, ".") == 0 || strcmp(*name, "..") == 0;
    if (begin == end || dots || path[end] != '\0') return -EISDIR;
    if (!mwl__path_absolute(NULL, path, whole, sizeof whole)) return -ENAMETOOLONG;
    char *slash = strrchr(whole, '/');
    snprintf(folder, sizeof folder, "%.*s", slash == whole ? 1 : (int)(slash - whole), whole);
    enum { HOW = O_PATH | O_DIRECTORY };
    if (g->everything) {
        int fd = open(folder, HOW | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
    }
    int result = -EPERM;
    for (size_t i = 0; i < g->n; i++) {
        const char *below = inside(g->entries[i], whole);
        if (!below) continue;
        /* the entry is this file: its folder is what the person named, too */
        result = *below ? open_entry(g->entries[i], inside(g->entries[i], folder), HOW, 0)
                        : open_entry(folder, "", HOW, 0);
        if (result != -EXDEV) return result;
    }
    return result;
}
