/* posix.h: the part of POSIX that the command uses and mingw's C library does not have, or has
 * differently. Every file of the command is compiled with `-include posix.h` on Windows, so that
 * the command itself is written once, for POSIX.
 *
 *   file_names.c  names of files in UTF-8, what a file is, folders
 *   file_out.c    in place of tools/base/file_out.c
 *   interrupt.c   in place of tools/base/interrupt.c
 *   path.c        in place of tools/base/path.c: backslashes and drive letters
 *   readers.c     what can only be waited for by reading it
 *   processors.c  how many threads are of use
 *   signals.c     Ctrl-C, Ctrl-Break and a closed console as signals
 *   start.c       arguments in UTF-8; streams without translation of line ends
 *   streams.c     terminals, and streams that are written line by line
 *   waits.c       poll, pipes
 *
 * Differences that stay: a write to a pipe that nothing reads is an error, not a signal; a file has
 * no owner and no mode, only a list of rights, which a replaced file takes from its folder. */
#ifndef MWL_TOOLS_WINDOWS_POSIX_H
#define MWL_TOOLS_WINDOWS_POSIX_H

#define _FILE_OFFSET_BITS 64
#define _POSIX_THREAD_SAFE_FUNCTIONS 200112L /* localtime_r */

#include <dirent.h>
#include <fcntl.h>
#include <io.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* ---- names of files (file_names.c) ----------------------------------------------------------- */

#define S_IFLNK 0120000
#define S_ISLNK(mode) (((mode)&0170000) == S_IFLNK)
#define S_ISSOCK(mode) 0
#define O_CLOEXEC O_NOINHERIT

struct windows_stat {
    uint64_t st_dev, st_ino; /* the volume and the number of the file there */
    unsigned st_mode;        /* the kind of file alone */
    int64_t st_size;
    struct timespec st_mtim;
};

enum { WINDOWS_NAME = 4 * 260 }; /* bytes of UTF-8 that a name in a folder may need */
struct windows_dirent {
    char d_name[WINDOWS_NAME];
};

/* As POSIX has them; "/dev/null" is a file too. */
FILE *windows_fopen(const char *path, const char *mode);
FILE *windows_tmpfile(void);
int windows_open(const char *path, int flags, ...);
int windows_access(const char *path, int mode);
int windows_mkdir(const char *path, unsigned mode);
int windows_stat(const char *path, struct windows_stat *out);
int windows_lstat(const char *path, struct windows_stat *out);
int windows_fstat(int fd, struct windows_stat *out);
int windows_scandir(const char *folder, struct windows_dirent ***out,
                    int (*filter)(const struct windows_dirent *),
                    int (*compare)(const struct windows_dirent **, const struct windows_dirent **));
int windows_alphasort(const struct windows_dirent **a, const struct windows_dirent **b);
char *windows_realpath(const char *path, char *out); /* with '/'; out must be NULL */

static inline mode_t windows_umask(mode_t mask) { return (mode_t)umask(mask); }

/* Converts a text. Given, to be freed with free(); NULL with errno if that fails. */
wchar_t *windows_wide(const char *utf8);
char *windows_utf8(const wchar_t *wide);

#define fopen windows_fopen
#define tmpfile windows_tmpfile
#define open windows_open
#define access windows_access
#define mkdir windows_mkdir
#undef stat
#define stat windows_stat
#define lstat windows_lstat
#undef fstat
#define fstat windows_fstat
#define dirent windows_dirent
#define scandir windows_scandir
#define alphasort windows_alphasort
#define realpath windows_realpath
#define umask windows_umask

/* ---- streams (streams.c) --------------------------------------------------------------------- */

/* A console, or a terminal of MSYS2 or Cygwin, which is a pipe with a certain name. */
int windows_isatty(int fd);

/* Microsoft's library has no streams that are written at the end of each line. Here standard error
 * is one, and standard output on a terminal. */
int windows_setvbuf(FILE *stream, char *buffer, int mode, size_t size);
int windows_fflush(FILE *stream);
int windows_fputc(int c, FILE *stream);
int windows_fputs(const char *text, FILE *stream);
size_t windows_fwrite(const void *data, size_t size, size_t n, FILE *stream);
int windows_vfprintf(FILE *stream, const char *format, va_list args);
int windows_fprintf(FILE *stream, const char *format, ...);
int windows_printf(const char *format, ...);
int windows_puts(const char *text);

ssize_t windows_getline(char **line, size_t *cap, FILE *from);
char *windows_strndup(const char *text, size_t most);

#define isatty windows_isatty
#define setvbuf windows_setvbuf
#define fflush windows_fflush
#undef putc
#undef putchar
#define fputc windows_fputc
#define putc windows_fputc
#define putchar(c) windows_fputc(c, stdout)
#define fputs windows_fputs
#define fwrite windows_fwrite
#define vfprintf windows_vfprintf
#define fprintf windows_fprintf
#define printf windows_printf
#define puts windows_puts
#define getline windows_getline
#define strndup windows_strndup

/* ---- signals (signals.c) --------------------------------------------------------------------- */

#undef SIGHUP
#define SIGHUP 1
#define SIGQUIT 3
#define SIGPIPE 13
#define SIGXFSZ 25
#define SA_RESTART 0
#define sigset_t _sigset_t

struct sigaction {
    void (*sa_handler)(int number);
    sigset_t sa_mask;
    int sa_flags;
};

/* A handler runs in a thread of its own, not on top of another, so there is nothing to block.
 * Signals that Windows does not have never come. The process ends with the status 128 + number. */
int sigaction(int number, const struct sigaction *action, struct sigaction *before);
void (*windows_signal(int number, void (*handler)(int)))(int);
int windows_raise(int number);
static inline int sigfillset(sigset_t *set) {
    *set = 0;
    return 0;
}
#undef pthread_sigmask
static inline int pthread_sigmask(int how, const sigset_t *set, sigset_t *before) {
    (void)how;
    if (before) *before = set ? *set : 0;
    return 0;
}

/* Between these two, signals wait. */
void windows_signals_hold(void);
void windows_signals_release(void);

#define signal windows_signal
#define raise windows_raise

/* ---- waiting (waits.c) ----------------------------------------------------------------------- */

#define F_GETFD 1
#define F_SETFL 4
#define O_NONBLOCK 04000

/* F_GETFD: is the descriptor open? F_SETFL with O_NONBLOCK: for pipes. */
int fcntl(int fd, int command, ...);
int windows_pipe(int fds[2]);
int windows_write(int fd, const void *data, size_t size);

int windows_read(int fd, void *to, size_t size);
int windows_close(int fd);

#define pipe windows_pipe
#define write windows_write
#define read windows_read
#define close windows_close

/* ---- processors (processors.c) --------------------------------------------------------------- */

#define _SC_NPROCESSORS_ONLN 84
typedef struct {
    unsigned n;
} cpu_set_t;
#define CPU_COUNT(set) ((int)(set)->n)
int sched_getaffinity(int process, size_t size, cpu_set_t *out);
long sysconf(int name);

#endif
