/* streams.c: standard streams and terminals. See posix.h. */
#include "tools/windows/streams.h"

#include "sys/ioctl.h"

#include <errno.h>
#include <stdbool.h>
#include <wchar.h>
#include <windows.h>

#undef setvbuf
#undef fputc
#undef fputs
#undef fwrite
#undef fflush

/* ---- terminals ------------------------------------------------------------------------------- */

static bool is_console(int fd) {
    DWORD mode;
    return GetConsoleMode((HANDLE)_get_osfhandle(fd), &mode) != 0;
}

/* "\msys-0123456789abcdef-pty0-to-master" and the like. */
static bool is_pty(int fd) {
    struct {
        FILE_NAME_INFO info;
        wchar_t more[MAX_PATH];
    } name;
    HANDLE file = (HANDLE)_get_osfhandle(fd);
    memset(&name, 0, sizeof name);
    if (GetFileType(file) != FILE_TYPE_PIPE ||
        !GetFileInformationByHandleEx(file, FileNameInfo, &name, sizeof name - sizeof(wchar_t)))
        return false;
    const wchar_t *text = name.info.FileName;
    return (wcsncmp(text, L"\\msys-", 6) == 0 || wcsncmp(text, L"\\cygwin-", 8) == 0) &&
           wcsstr(text, L"-pty");
}

int windows_isatty(int fd) { return is_console(fd) || is_pty(fd); }

int ioctl(int fd, int request, struct winsize *out) {
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (request != TIOCGWINSZ || !GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(fd), &info)) {
        errno = ENOTTY;
        return -1;
    }
    out->ws_col = (unsigned short)(info.srWindow.Right - info.srWindow.Left + 1);
    out->ws_row = (unsigned short)(info.srWindow.Bottom - info.srWindow.Top + 1);
    return 0;
}

static UINT pages_before[2]; /* of the console: it outlives the process */
static void restore_pages(void) {
    SetConsoleCP(pages_before[0]);
    SetConsoleOutputCP(pages_before[1]);
}

/* Does the console obey escape sequences? Older ones do not. */
static bool use_sequences(int fd) {
    HANDLE console = (HANDLE)_get_osfhandle(fd);
    DWORD mode;
    return GetConsoleMode(console, &mode) &&
           SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

void streams_open(void) {
    bool console = is_console(STDOUT_FILENO) || is_console(STDERR_FILENO);
    _fmode = _O_BINARY; /* of files that are opened from now on */
    /* A stream that is closed stays useless, except that messages to it are dropped. */
    if (_get_osfhandle(STDIN_FILENO) < 0) freopen("NUL", "wb", stdin);
    if (_get_osfhandle(STDOUT_FILENO) < 0) freopen("NUL", "rb", stdout);
    if (_get_osfhandle(STDERR_FILENO) < 0) freopen("NUL", "wb", stderr);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) _setmode(fd, _O_BINARY);
    if (!console) return;
    pages_before[0] = GetConsoleCP();
    pages_before[1] = GetConsoleOutputCP();
    SetConsoleOutputCP(CP_UTF8);
    atexit(restore_pages);
    bool sequences = use_sequences(STDOUT_FILENO);
    sequences = use_sequences(STDERR_FILENO) || sequences;
    /* Programs of POSIX ask this variable what a terminal can do. */
    if (sequences && !getenv("TERM")) _putenv_s("TERM", "xterm-256color");
}

/* ---- line by line ---------------------------------------------------------------------------- */

static bool by_lines(FILE *stream) {
    static int terminal = -1;
    if (stream == stderr) return true;
    if (stream != stdout) return false;
    if (terminal < 0) terminal = windows_isatty(STDOUT_FILENO);
    return terminal;
}

int windows_setvbuf(FILE *stream, char *buffer, int mode, size_t size) {
    return setvbuf(stream, buffer, mode == _IOLBF ? _IOFBF : mode, size);
}

/* A pipe that nothing reads is EINVAL for Microsoft's library. */
int windows_fflush(FILE *stream) {
    int status = fflush(stream);
    if (status != 0 && errno == EINVAL) errno = EPIPE;
    return status;
}

size_t windows_fwrite(const void *data, size_t size, size_t n, FILE *stream) {
    size_t written = fwrite(data, size, n, stream);
    if (by_lines(stream) && memchr(data, '\n', size * n)) fflush(stream);
    return written;
}

int windows_fputc(int c, FILE *stream) {
    int written = fputc(c, stream);
    if (c == '\n' && by_lines(stream)) fflush(stream);
    return written;
}

int windows_fputs(const char *text, FILE *stream) {
    size_t len = strlen(text);
    return windows_fwrite(text, 1, len, stream) == len ? 0 : EOF;
}

/* Through a text: mingw's own fprintf writes byte by byte. */
int windows_vfprintf(FILE *stream, const char *format, va_list args) {
    char small[512], *text = small;
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(small, sizeof small, format, args);
    if (len >= (int)sizeof small) {
        text = malloc((size_t)len + 1);
        if (text) vsnprintf(text, (size_t)len + 1, format, again);
    }
    va_end(again);
    if (len < 0 || !text) return -1;
    size_t written = windows_fwrite(text, 1, (size_t)len, stream);
    if (text != small) free(text);
    return written == (size_t)len ? len : -1;
}

int windows_fprintf(FILE *stream, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = windows_vfprintf(stream, format, args);
    va_end(args);
    return len;
}

int windows_printf(const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = windows_vfprintf(stdout, format, args);
    va_end(args);
    return len;
}

int windows_puts(const char *text) {
    windows_fputs(text, stdout);
    return windows_fputc('\n', stdout);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A line that a person types, in UTF-8 whatever the console's code page. NULL at the end (Ctrl-Z).
 */
static char *read_console(HANDLE console) {
    enum { ROOM = 8192 };
    wchar_t *wide = malloc((ROOM + 1) * sizeof *wide);
    DWORD n = 0;
    if (!wide || !ReadConsoleW(console, wide, ROOM, &n, NULL) || n == 0 || wide[0] == 26) {
        free(wide);
        return NULL;
    }
    wide[n] = L'\0';
    char *text = windows_utf8(wide);
    free(wide);
    return text;
}

ssize_t windows_getline(char **line, size_t *cap, FILE *from) {
    if (from == stdin && is_console(STDIN_FILENO)) {
        char *text = read_console((HANDLE)_get_osfhandle(STDIN_FILENO));
        if (!text) return -1;
        free(*line);
        *line = text;
        *cap = strlen(text) + 1;
        return (ssize_t)strlen(text);
    }
    size_t len = 0;
    for (int c = 0; c != '\n' && (c = getc(from)) != EOF;) {
        if (len + 2 > *cap) {
            size_t room = *cap ? 2 * *cap : 128;
            char *grown = realloc(*line, room);
            if (!grown) return -1;
            *line = grown;
            *cap = room;
        }
        (*line)[len++] = (char)c;
    }
    if (!len) return -1;
    (*line)[len] = '\0';
    return (ssize_t)len;
}

char *windows_strndup(const char *text, size_t most) {
    size_t len = strnlen(text, most);
    char *copy = malloc(len + 1);
    if (!copy) return NULL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}
