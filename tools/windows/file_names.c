/* file_names.c: files by names in UTF-8. See posix.h.
 *
 * The functions of Microsoft's C library that take bytes expect the code page of the machine, which
 * cannot spell most names. So every name goes through the functions that take UTF-16. */
#include <errno.h>
#include <stdbool.h>
#include <wchar.h>
#include <windows.h>

/* ---- text ------------------------------------------------------------------------------------ */

wchar_t *windows_wide(const char *utf8) {
    int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8, -1, NULL, 0);
    wchar_t *wide = n > 0 ? malloc((size_t)n * sizeof *wide) : NULL;
    if (n <= 0) errno = EILSEQ;
    if (wide) MultiByteToWideChar(CP_UTF8, 0, utf8, -1, wide, n);
    return wide;
}

char *windows_utf8(const wchar_t *wide) {
    int n = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *text = n > 0 ? malloc((size_t)n) : NULL;
    if (n <= 0) errno = EILSEQ;
    if (text) WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, n, NULL, NULL);
    return text;
}

static wchar_t *wide_name(const char *path) {
    return windows_wide(strcmp(path, "/dev/null") == 0 ? "NUL" : path);
}

/* Frees the name and keeps errno. For Microsoft's library a folder that is opened is EACCES, and a
 * name with characters that no file has is EINVAL. */
static void done(wchar_t *take_name, bool opening) {
    int why = errno;
    if (opening && why == EINVAL && take_name) why = ENOENT;
    if (opening && why == EACCES && take_name) {
        DWORD is = GetFileAttributesW(take_name);
        if (is != INVALID_FILE_ATTRIBUTES && is & FILE_ATTRIBUTE_DIRECTORY) why = EISDIR;
    }
    free(take_name);
    errno = why;
}

/* ---- opening --------------------------------------------------------------------------------- */

FILE *windows_fopen(const char *path, const char *mode) {
    wchar_t *name = wide_name(path), *how = windows_wide(mode);
    FILE *file = name && how ? _wfopen(name, how) : NULL;
    free(how);
    done(name, !file);
    return file;
}

int windows_open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    wchar_t *name = wide_name(path);
    int fd = name ? _wopen(name, flags | O_BINARY, mode & (_S_IREAD | _S_IWRITE)) : -1;
    done(name, fd < 0);
    return fd;
}

/* Microsoft's tmpfile() wants to write in the root of the drive. */
FILE *windows_tmpfile(void) {
    wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1];
    DWORD n = GetTempPathW(MAX_PATH, folder);
    if (n == 0 || n > MAX_PATH || !GetTempFileNameW(folder, L"mwl", 0, name)) {
        errno = EACCES;
        return NULL;
    }
    return _wfopen(name, L"w+bD"); /* removed when it is closed */
}

int windows_access(const char *path, int mode) {
    wchar_t *name = wide_name(path);
    int found = name ? _waccess(name, mode & (R_OK | W_OK)) : -1;
    done(name, false);
    return found;
}

int windows_mkdir(const char *path, unsigned mode) {
    (void)mode;
    wchar_t *name = wide_name(path);
    int made = name ? _wmkdir(name) : -1;
    done(name, false);
    return made;
}

/* ---- what a file is -------------------------------------------------------------------------- */

enum { TICKS_PER_SECOND = 10000000, NS_PER_TICK = 100 };
#define TICKS_BEFORE_1970 INT64_C(116444736000000000)

static int describe(HANDLE file, struct windows_stat *out) {
    BY_HANDLE_FILE_INFORMATION info;
    DWORD type = GetFileType(file);
    memset(out, 0, sizeof *out);
    if (type == FILE_TYPE_PIPE || type == FILE_TYPE_CHAR) {
        out->st_mode = type == FILE_TYPE_PIPE ? S_IFIFO : S_IFCHR;
        return 0;
    }
    if (type != FILE_TYPE_DISK) {
        errno = EBADF;
        return -1;
    }
    if (!GetFileInformationByHandle(file, &info)) { /* wine cannot describe what a shell opened */
        LARGE_INTEGER size = {.QuadPart = 0};
        out->st_mode = S_IFREG;
        if (GetFileSizeEx(file, &size)) out->st_size = size.QuadPart;
        return 0;
    }
    int64_t ticks = (int64_t)((uint64_t)info.ftLastWriteTime.dwHighDateTime << 32 |
                              info.ftLastWriteTime.dwLowDateTime) -
                    TICKS_BEFORE_1970;
    out->st_dev = info.dwVolumeSerialNumber;
    out->st_ino = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow;
    out->st_size = (int64_t)((uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow);
    out->st_mode = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? S_IFDIR : S_IFREG;
    out->st_mtim.tv_sec = ticks / TICKS_PER_SECOND;
    out->st_mtim.tv_nsec = (long)(ticks % TICKS_PER_SECOND) * NS_PER_TICK;
    return 0;
}

int windows_fstat(int fd, struct windows_stat *out) {
    return describe((HANDLE)_get_osfhandle(fd), out);
}

static int errno_of(DWORD error) {
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH: return ENOENT;
    case ERROR_PATH_NOT_FOUND: return ENOENT;
    case ERROR_FILENAME_EXCED_RANGE: return ENAMETOOLONG;
    case ERROR_TOO_MANY_OPEN_FILES: return EMFILE;
    default: return EACCES;
    }
}

static int stat_name(const char *path, DWORD flags, struct windows_stat *out) {
    wchar_t *name = wide_name(path);
    if (!name) return -1;
    HANDLE file = CreateFileW(name, FILE_READ_ATTRIBUTES,
                              FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
    int why = file == INVALID_HANDLE_VALUE ? errno_of(GetLastError()) : 0;
    free(name);
    if (why) {
        errno = why;
        return -1;
    }
    int found = describe(file, out);
    CloseHandle(file);
    return found;
}

int windows_stat(const char *path, struct windows_stat *out) { return stat_name(path, 0, out); }

int windows_lstat(const char *path, struct windows_stat *out) {
    wchar_t *name = wide_name(path);
    WIN32_FIND_DATAW found;
    HANDLE search = name ? FindFirstFileW(name, &found) : INVALID_HANDLE_VALUE;
    free(name);
    bool link = false;
    if (search != INVALID_HANDLE_VALUE) {
        link = found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT &&
               found.dwReserved0 == IO_REPARSE_TAG_SYMLINK;
        FindClose(search);
    }
    int status = stat_name(path, link ? FILE_FLAG_OPEN_REPARSE_POINT : 0, out);
    if (status == 0 && link) out->st_mode = S_IFLNK;
    return status;
}

char *windows_realpath(const char *path, char *out) {
    struct windows_stat st;
    wchar_t *name = out || windows_stat(path, &st) != 0 ? NULL : wide_name(path);
    wchar_t *full = name ? _wfullpath(NULL, name, 0) : NULL;
    char *text = full ? windows_utf8(full) : NULL;
    for (char *c = text; c && *c; c++)
        if (*c == '\\') *c = '/';
    free(full);
    done(name, false);
    return text;
}

/* ---- folders --------------------------------------------------------------------------------- */

int windows_alphasort(const struct windows_dirent **a, const struct windows_dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

struct listing {
    struct windows_dirent **items;
    size_t n, cap;
};

/* Returns false if out of memory. */
static bool add(struct listing *l, const struct windows_dirent *entry) {
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 16;
        struct windows_dirent **grown = realloc(l->items, cap * sizeof *grown);
        if (!grown) return false;
        l->items = grown;
        l->cap = cap;
    }
    if (!(l->items[l->n] = malloc(sizeof *entry))) return false;
    *l->items[l->n++] = *entry;
    return true;
}

static bool add_all(struct listing *l, HANDLE search, WIN32_FIND_DATAW *found,
                    int (*filter)(const struct windows_dirent *)) {
    do {
        struct windows_dirent entry;
        int n = WideCharToMultiByte(CP_UTF8, 0, found->cFileName, -1, entry.d_name,
                                    sizeof entry.d_name, NULL, NULL);
        if (n > 0 && (!filter || filter(&entry)) && !add(l, &entry)) return false;
    } while (FindNextFileW(search, found));
    return GetLastError() == ERROR_NO_MORE_FILES;
}

typedef int compare_items(const void *, const void *);

int windows_scandir(const char *folder, struct windows_dirent ***out,
                    int (*filter)(const struct windows_dirent *),
                    int (*compare)(const struct windows_dirent **,
                                   const struct windows_dirent **)) {
    WIN32_FIND_DATAW found;
    struct listing l = {NULL, 0, 0};
    size_t len = strlen(folder);
    char *pattern = malloc(len + 3);
    if (pattern) snprintf(pattern, len + 3, "%s/*", folder);
    wchar_t *name = pattern ? windows_wide(pattern) : NULL;
    free(pattern);
    if (!name) return -1;
    HANDLE search = FindFirstFileW(name, &found);
    int why = search == INVALID_HANDLE_VALUE ? errno_of(GetLastError()) : 0;
    free(name);
    if (!why && !add_all(&l, search, &found, filter)) why = ENOMEM;
    if (search != INVALID_HANDLE_VALUE) FindClose(search);
    if (why) {
        while (l.n) free(l.items[--l.n]);
        free(l.items);
        errno = why;
        return -1;
    }
    qsort(l.items, l.n, sizeof *l.items, (compare_items *)(uintptr_t)compare);
    *out = l.items;
    return (int)l.n;
}
