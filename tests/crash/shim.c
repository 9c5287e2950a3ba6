/* shim.c: see shim.h. */
#include "tests/crash/shim.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTOR = 512, FULL_FOR = 40, EXIT = 42 };

static struct {
    enum shim_mode mode;
    uint64_t at, n, reads, rng;
    sqlite3_vfs vfs, *real;
} shim;

/* One write or truncate that is not synced: what was there before. */
typedef struct undo {
    struct undo *next; /* older */
    sqlite3_int64 at, size_before;
    int len;
    unsigned char old[];
} undo;

/* A file by its name, however often it is open. */
typedef struct inode {
    char *name;
    undo *log; /* newest first */
    struct inode *next;
} inode;

typedef struct shim_file {
    sqlite3_file base;
    sqlite3_file *real;
    inode *of;
    struct shim_file *next;
} shim_file;

static shim_file *files;
static inode *inodes;

static inode *inode_of(const char *name) {
    inode *i = inodes;
    while (i && strcmp(i->name, name ? name : "") != 0) i = i->next;
    if (i) return i;
    i = calloc(1, sizeof *i);
    if (!i || !(i->name = strdup(name ? name : ""))) abort();
    i->next = inodes;
    inodes = i;
    return i;
}

static uint64_t roll(uint64_t n) {
    shim.rng ^= shim.rng << 13;
    shim.rng ^= shim.rng >> 7;
    shim.rng ^= shim.rng << 17;
    return shim.rng % n;
}

/* ---- power loss ------------------------------------------------------------------------------ */

static void take_back(sqlite3_file *real, const undo *u) {
    for (int at = 0; at < u->len; at += SECTOR) {
        int len = u->len - at < SECTOR ? u->len - at : SECTOR;
        if (shim.mode == SHIM_TORN && roll(2)) continue;
        (void)real->pMethods->xWrite(real, u->old + at, len, u->at + at);
    }
    if (shim.mode == SHIM_DROPPED || roll(2)) (void)real->pMethods->xTruncate(real, u->size_before);
}

static void lose_power(void) {
    for (shim_file *f = files; f; f = f->next) {
        for (const undo *u = f->of->log; u; u = u->next) take_back(f->real, u);
        f->of->log = NULL; /* another handle of it has nothing to do any more */
    }
}

static void end(void) {
    if (shim.mode == SHIM_DROPPED || shim.mode == SHIM_TORN) lose_power();
    _exit(EXIT);
}

/* Counts an operation. Returns what it fails with, or SQLITE_OK. */
static int count(int error) {
    uint64_t n = ++shim.n;
    switch (shim.mode) {
    case SHIM_READ:
    case SHIM_COUNT: return SQLITE_OK;
    case SHIM_FULL: return n >= shim.at && n < shim.at + FULL_FOR ? SQLITE_FULL : SQLITE_OK;
    case SHIM_ERROR: return n == shim.at ? error : SQLITE_OK;
    default:
        if (n == shim.at) end();
        return SQLITE_OK;
    }
}

/* The same for what does not change files. */
static int count_read(int error) {
    return shim.mode == SHIM_READ && ++shim.reads == shim.at ? error : SQLITE_OK;
}

static void note(shim_file *f, sqlite3_int64 at, int len) {
    sqlite3_int64 size = 0;
    if (shim.mode != SHIM_DROPPED && shim.mode != SHIM_TORN) return;
    undo *u = calloc(1, sizeof *u + (size_t)len);
    if (!u) abort();
    f->real->pMethods->xFileSize(f->real, &size);
    u->at = at;
    u->size_before = size;
    u->len = at >= size ? 0 : (int)(size - at < len ? size - at : len);
    if (u->len) (void)f->real->pMethods->xRead(f->real, u->old, u->len, at);
    u->next = f->of->log;
    f->of->log = u;
}

static void forget(inode *i) {
    for (undo *u; (u = i->log);) {
        i->log = u->next;
        free(u);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

#define REAL(file) (((shim_file *)(file))->real)

static int shim_close(sqlite3_file *file) {
    shim_file *f = (shim_file *)file;
    for (shim_file **at = &files; *at; at = &(*at)->next)
        if (*at == f) {
            *at = f->next;
            break;
        }
    int code = f->real->pMethods->xClose(f->real);
    free(f->real);
    return code;
}
static int shim_read(sqlite3_file *f, void *out, int n, sqlite3_int64 at) {
    int error = count_read(SQLITE_IOERR_READ);
    return error ? error : REAL(f)->pMethods->xRead(REAL(f), out, n, at);
}
static int shim_write(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at) {
    int error = count(SQLITE_IOERR_WRITE);
    if (error) return error;
    note((shim_file *)f, at, n);
    return REAL(f)->pMethods->xWrite(REAL(f), bytes, n, at);
}
static int shim_truncate(sqlite3_file *f, sqlite3_int64 size) {
    sqlite3_int64 now = 0;
    int error = count(SQLITE_IOERR_TRUNCATE);
    if (error) return error;
    REAL(f)->pMethods->xFileSize(REAL(f), &now);
    if (now > size) note((shim_file *)f, size, (int)(now - size));
    return REAL(f)->pMethods->xTruncate(REAL(f), size);
}
static int shim_sync(sqlite3_file *f, int flags) {
    int error = count(SQLITE_IOERR_FSYNC);
    if (error) return error;
    int code = REAL(f)->pMethods->xSync(REAL(f), flags);
    if (code == SQLITE_OK) forget(((shim_file *)f)->of);
    return code;
}
static int shim_size(sqlite3_file *f, sqlite3_int64 *out) {
    return REAL(f)->pMethods->xFileSize(REAL(f), out);
}
static int shim_lock(sqlite3_file *f, int n) { return REAL(f)->pMethods->xLock(REAL(f), n); }
static int shim_unlock(sqlite3_file *f, int n) { return REAL(f)->pMethods->xUnlock(REAL(f), n); }
static int shim_reserved(sqlite3_file *f, int *out) {
    return REAL(f)->pMethods->xCheckReservedLock(REAL(f), out);
}
static int shim_control(sqlite3_file *f, int op, void *arg) {
    return REAL(f)->pMethods->xFileControl(REAL(f), op, arg);
}
static int shim_sector(sqlite3_file *f) { return REAL(f)->pMethods->xSectorSize(REAL(f)); }
static int shim_traits(sqlite3_file *f) {
    return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f));
}
static int shim_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    int error = count_read(SQLITE_IOERR_SHMMAP);
    return error ? error : REAL(f)->pMethods->xShmMap(REAL(f), page, size, extend, out);
}
static int shim_shm_lock(sqlite3_file *f, int at, int n, int flags) {
    return REAL(f)->pMethods->xShmLock(REAL(f), at, n, flags);
}
static void shim_barrier(sqlite3_file *f) { REAL(f)->pMethods->xShmBarrier(REAL(f)); }
static int shim_unmap(sqlite3_file *f, int remove) {
    return REAL(f)->pMethods->xShmUnmap(REAL(f), remove);
}

static const sqlite3_io_methods methods = {
    2,           shim_close, shim_read,     shim_write,    shim_truncate, shim_sync,
    shim_size,   shim_lock,  shim_unlock,   shim_reserved, shim_control,  shim_sector,
    shim_traits, shim_map,   shim_shm_lock, shim_barrier,  shim_unmap,    NULL,
    NULL};

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    shim_file *f = (shim_file *)file;
    (void)vfs;
    memset(f, 0, sizeof *f);
    f->real = calloc(1, (size_t)shim.real->szOsFile);
    if (!f->real) return SQLITE_NOMEM;
    int code = shim.real->xOpen(shim.real, name, f->real, flags, out);
    if (code != SQLITE_OK) {
        free(f->real);
        return code;
    }
    f->base.pMethods = &methods;
    f->of = inode_of(name);
    f->next = files;
    files = f;
    return SQLITE_OK;
}

static int shim_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    int error = count(SQLITE_IOERR_DELETE);
    return error ? error : shim.real->xDelete(shim.real, name, sync);
}

void shim_install(enum shim_mode mode, uint64_t at, uint64_t seed) {
    shim.mode = mode;
    shim.at = at;
    shim.rng = seed * 2654435761u + 88172645463325252u;
    shim.real = sqlite3_vfs_find(NULL);
    shim.vfs = *shim.real;
    shim.vfs.zName = "shim";
    shim.vfs.szOsFile = (int)sizeof(shim_file);
    shim.vfs.xOpen = shim_open;
    shim.vfs.xDelete = shim_delete;
    sqlite3_vfs_register(&shim.vfs, 1);
}

uint64_t shim_count(void) { return shim.mode == SHIM_READ ? shim.reads : shim.n; }
