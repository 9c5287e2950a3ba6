/* file_work.c: actions on files, on a pool thread. Every path is opened inside what is allowed. */
#include "stdlib/io/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 20 };

mwl_io_right mwl__file_right(mwl__file_action action) {
    bool writes =
        action == MWL__FILE_WRITE || action == MWL__FILE_APPEND || action == MWL__FILE_REMOVE;
    return writes ? MWL_IO_WRITE : MWL_IO_READ;
}

static int open_at(mwl__file_work *w, int flags) {
    return mwl__io_file_open(w->io, mwl__file_right(w->action), w->path, flags, 0666);
}

/* An error of the system after the path was found: EPERM and EXDEV say that the policy refused. */
static int of_system(int error) { return error == EPERM ? EACCES : error == EXDEV ? EIO : error; }
/* The same of an error of writing: EFBIG, a limit of the process, is not about maxBytes. */
static int of_writing(int error) { return error == EFBIG ? ENOSPC : of_system(error); }

static bool stopped(const mwl__file_work *w) { return atomic_load(w->stop); }

/* ---- looking --------------------------------------------------------------------------------- */

static void fill(mwl__file_facts *f, const struct stat *s) {
    f->type = S_ISREG(s->st_mode)   ? "file"
              : S_ISDIR(s->st_mode) ? "folder"
              : S_ISLNK(s->st_mode) ? "link"
                                    : "other";
    f->size = (uint64_t)s->st_size;
    f->modified_ns = (int64_t)s->st_mtim.tv_sec * 1000000000 + s->st_mtim.tv_nsec;
}

static int do_stat(mwl__file_work *w) {
    struct stat s;
    int fd = open_at(w, O_PATH);
    if (fd < 0) return -fd;
    int error = fstat(fd, &s) < 0 ? errno : 0;
    close(fd);
    if (!error) fill(&w->facts, &s);
    return error;
}

static int add_entry(mwl__file_work *w, size_t *cap, int dir, const char *name) {
    struct stat s;
    if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : errno; /* it has just been removed */
    if (w->n_entries == *cap) {
        size_t more = *cap ? *cap * 2 : 64;
        const size_t bytes = (more - *cap) * sizeof *w->entries;
        if (!mwl_purse_take(w->payer.purse, bytes)) return ENOMEM;
        mwl__file_facts *grown = realloc(w->entries, more * sizeof *grown);
        if (!grown) return ENOMEM; /* the purse is released soon */
        w->entries = grown;
        *cap = more;
    }
    mwl__file_facts *f = &w->entries[w->n_entries];
    fill(f, &s);
    f->name_at = w->bytes.len;
    if (!mwl__bytes_add(&w->bytes, name, strlen(name) + 1)) return ENOMEM;
    w->n_entries++;
    return 0;
}

static int by_name(const void *a, const void *b, void *names) {
    const mwl__file_facts *x = a, *y = b;
    return strcmp((const char *)names + x->name_at, (const char *)names + y->name_at);
}

static int do_list(mwl__file_work *w) {
    int fd = open_at(w, O_RDONLY | O_DIRECTORY), error = 0;
    if (fd < 0) return -fd;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        error = errno;
        close(fd);
        return error;
    }
    size_t cap = 0;
    for (struct dirent *d; !error && (errno = 0, d = readdir(dir));) {
        if (stopped(w)) error = ECANCELED;
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0) continue;
        if (!error) error = add_entry(w, &cap, fd, d->d_name);
    }
    if (!error) error = errno;
    closedir(dir);
    if (!error && w->n_entries)
        qsort_r(w->entries, w->n_entries, sizeof *w->entries, by_name, w->bytes.data);
    return error;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* 0 if it is a regular file; pipes and devices may have no end. */
static int must_be_file(int fd) {
    struct stat s;
    if (fstat(fd, &s) < 0) return errno;
    return S_ISREG(s.st_mode) ? 0 : S_ISDIR(s.st_mode) ? EISDIR : ENOTSUP;
}

static int do_read(mwl__file_work *w) {
    int fd = open_at(w, O_RDONLY);
    if (fd < 0) return -fd;
    int error = must_be_file(fd);
    while (!error) {
        size_t left = w->max_bytes - w->bytes.len, want = left < PIECE ? left + 1 : PIECE;
        if (stopped(w)) error = ECANCELED;
        if (!error && !mwl__bytes_room(&w->bytes, want)) error = ENOMEM;
        if (error) break;
        ssize_t n = read(fd, w->bytes.data + w->bytes.len, want);
        if (n < 0) error = errno == EINTR ? 0 : errno;
        if (n == 0) break;
        if (n > 0 && (size_t)n > left) error = EFBIG;
        if (n > 0 && !error) w->bytes.len += (size_t)n;
    }
    close(fd);
    return error;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_all(mwl__file_work *w, int fd, const mwl__bytes *b) {
    for (size_t at = 0; at < b->len;) {
        if (stopped(w)) return ECANCELED;
        size_t piece = b->len - at < PIECE ? b->len - at : PIECE;
        ssize_t n = write(fd, b->data + at, piece);
        if (n < 0 && errno != EINTR) return errno;
        if (n > 0) at += (size_t)n;
    }
    return 0;
}

/* A new file beside the one that it will replace. */
static int open_temporary(int dir, const char *name, char *out, size_t cap, unsigned mode) {
    for (int i = 0; i < 100; i++) {
        uint64_t bits;
        int failed = uv_random(NULL, NULL, &bits, sizeof bits, 0, NULL);
        if (failed) return failed;
        snprintf(out, cap, ".%.200s.%016llx.tmp", name, (unsigned long long)bits);
        int fd = openat(dir, out, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST) return fd < 0 ? -errno : fd;
    }
    return -EEXIST;
}

static void sync_folder(int dir) {
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return; /* not readable: the rename itself is done */
    fsync(fd);
    close(fd);
}

/* Puts the complete temporary file in its place. */
static int put_in_place(const mwl__file_work *w, int dir, const char *temporary, const char *name) {
    struct stat s;
    if (w->exclusive) {
        if (linkat(dir, temporary, dir, name, 0) < 0) return errno;
        return unlinkat(dir, temporary, 0) < 0 ? errno : 0;
    }
    if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(s.st_mode)) return EISDIR;
        if (!S_ISREG(s.st_mode) && !S_ISLNK(s.st_mode)) return ENOTSUP;
    }
    return renameat(dir, temporary, dir, name) < 0 ? errno : 0;
}

static int do_write(mwl__file_work *w) {
    const char *name;
    char temporary[256];
    struct stat s;
    int dir = mwl__io_file_parent(w->io, MWL_IO_WRITE, w->path, &name);
    if (dir < 0) return -dir;
    /* the file that is replaced passes its permissions on, from the first moment */
    bool old = fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode);
    int fd = open_temporary(dir, name, temporary, sizeof temporary, old ? s.st_mode & 0777 : 0666);
    int error = fd < 0 ? -fd : 0;
    if (!error) {
        if (old) (void)!fchmod(fd, s.st_mode & 0777);
        error = write_all(w, fd, &w->bytes);
        if (!error && fsync(fd) < 0) error = errno;
        if (close(fd) < 0 && !error) error = errno;
        if (!error && stopped(w)) error = ECANCELED;
        if (!error) error = put_in_place(w, dir, temporary, name);
        if (error)
            unlinkat(dir, temporary, 0);
        else
            sync_folder(dir);
    }
    close(dir);
    return of_writing(error);
}

/* Another call may hold the lock for long. */
static int lock(mwl__file_work *w, int fd) {
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return errno;
        if (stopped(w)) return ECANCELED;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    return 0;
}

static int do_append(mwl__file_work *w) {
    int fd = open_at(w, O_WRONLY | O_CREAT | O_APPEND);
    if (fd < 0) return -fd;
    struct stat s;
    int error = must_be_file(fd);
    if (!error) error = lock(w, fd);
    if (!error && fstat(fd, &s) < 0) error = errno;
    if (!error) {
        if (s.st_size == 0) error = write_all(w, fd, &w->header);
        if (!error) error = write_all(w, fd, &w->bytes);
        if (!error && fsync(fd) < 0) error = errno;
        /* all or nothing: the lock keeps other calls away */
        if (error) (void)!ftruncate(fd, s.st_size);
    }
    close(fd);
    return of_writing(error);
}

static int do_remove(mwl__file_work *w) {
    const char *name;
    int dir = mwl__io_file_parent(w->io, MWL_IO_WRITE, w->path, &name);
    if (dir == -ENOENT) return 0;
    if (dir < 0) return -dir;
    int error = unlinkat(dir, name, 0) < 0 ? errno : 0;
    if (error == EISDIR || error == EPERM)
        error = unlinkat(dir, name, AT_REMOVEDIR) < 0 ? errno : 0;
    close(dir);
    w->removed = !error;
    return error == ENOENT ? 0 : of_system(error);
}

void mwl__file_do(mwl__file_work *w) {
    static int (*const actions[])(mwl__file_work *) = {
        [MWL__FILE_READ] = do_read,  [MWL__FILE_WRITE] = do_write, [MWL__FILE_APPEND] = do_append,
        [MWL__FILE_LIST] = do_list,  [MWL__FILE_STAT] = do_stat,   [MWL__FILE_REMOVE] = do_remove,
        [MWL__FILE_WATCH] = do_stat,
    };
    w->error = actions[w->action](w);
}

void mwl__file_work_free(mwl__file_work *w) {
    mwl__bytes_free(&w->header);
    mwl__bytes_free(&w->bytes);
    free(w->entries);
    w->entries = NULL;
    mwl__payer_close(&w->payer);
}
