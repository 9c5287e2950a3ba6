/* term.c: see term.h. */
#include "tools/base/term.h"

#include "tools/base/cmd.h"
#include "tools/base/redact.h"
#include "vm/base/mem.h"
#include "vm/base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- text ------------------------------------------------------------------------------------ */

static bool steers(uint32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) ||       /* C0, DEL, C1 */
           c == 0x061C || c == 0x200E || c == 0x200F || /* marks of direction */
           (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x2028 ||
           c == 0x2029 || c == 0xFEFF;
}

static void put_escape(FILE *to, uint32_t c) {
    const char *letter = c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : NULL;
    if (letter)
        fputs(letter, to);
    else
        fprintf(to, "\\u%04x", c);
}

static void put(FILE *to, const char *text, size_t len, bool keep_lines) {
    size_t plain = 0; /* where what can be written as it is begins */
    for (size_t at = 0; at < len;) {
        uint32_t c = 0;
        size_t width = mwl__utf8_decode(text + at, len - at, &c);
        bool keep = width && (!steers(c) || (keep_lines && (c == '\n' || c == '\t')));
        if (!keep) {
            fwrite(text + plain, 1, at - plain, to);
            if (width)
                put_escape(to, c);
            else
                fprintf(to, "\\x%02x", (unsigned char)text[at]);
            plain = at + (width ? width : 1);
        }
        at += width ? width : 1;
    }
    fwrite(text + plain, 1, len - plain, to);
}

/* Standard output gets the text that was asked for; elsewhere secrets are replaced. */
static void put_shown(FILE *to, const char *text, size_t len, bool keep_lines) {
    size_t n = 0;
    char *shown = to == stdout ? NULL : redact_text(text, len, &n);
    put(to, shown ? shown : text, shown ? n : len, keep_lines);
    free(shown);
}

void term_text(FILE *to, const char *text, size_t len) { put_shown(to, text, len, false); }
void term_lines(FILE *to, const char *text, size_t len) { put_shown(to, text, len, true); }

void term_output(const char *text, size_t len) {
    if (isatty(STDOUT_FILENO))
        put(stdout, text, len, true);
    else
        fwrite(text, 1, len, stdout);
}

void term_vprintf(FILE *to, const char *format, va_list args) {
    char small[512];
    va_list again;
    va_copy(again, args);
    int need = vsnprintf(small, sizeof small, format, args);
    if (need >= 0 && (size_t)need < sizeof small) {
        term_text(to, small, (size_t)need);
    } else if (need >= 0) {
        char *large = malloc((size_t)need + 1);
        if (large) vsnprintf(large, (size_t)need + 1, format, again);
        term_text(to, large ? large : small, large ? (size_t)need : sizeof small - 1);
        free(large);
    }
    va_end(again);
}

void term_printf(FILE *to, const char *format, ...) {
    va_list args;
    va_start(args, format);
    term_vprintf(to, format, args);
    va_end(args);
}

/* ---- colour ---------------------------------------------------------------------------------- */

static enum { AUTO, ALWAYS, NEVER } wanted = AUTO;

int term_colour_option(void *ctx, const char *word) {
    (void)ctx;
    if (strcmp(word, "auto") == 0)
        wanted = AUTO;
    else if (strcmp(word, "always") == 0)
        wanted = ALWAYS;
    else if (strcmp(word, "never") == 0)
        wanted = NEVER;
    else
        return cmd_usage("--color is auto, always or never, not '%s'", word);
    return CMD_OK;
}

/* https://no-color.org: the variable is set and not empty; here it must not be this word either. */
static bool is_set(const char *name, const char *but) {
    const char *v = getenv(name);
    return v && *v && strcmp(v, but) != 0;
}

bool term_colour(int stream) {
    if (wanted != AUTO) return wanted == ALWAYS;
    if (is_set("NO_COLOR", "")) return false;
    if (is_set("CLICOLOR_FORCE", "0") || is_set("FORCE_COLOR", "0")) return true;
    return isatty(stream) && is_set("TERM", "dumb");
}

/* ---- the status line ------------------------------------------------------------------------- */

static bool status_shown;

bool term_status_possible(void) {
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

/* Columns of a character: 2 for those of East Asia and pictures, 0 for marks that combine. */
static size_t columns_of(uint32_t c) {
    static const uint32_t wide[][2] = {{0x1100, 0x115F},  {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
                                       {0xF900, 0xFAFF},  {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                                       {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF},
                                       {0x20000, 0x3FFFD}};
    if (c >= 0x300 && c <= 0x36F) return 0;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (c >= wide[i][0] && c <= wide[i][1]) return 2;
    return 1;
}

size_t term_columns(int stream) {
    struct winsize size;
    if (ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col;
    return 80;
}

/* Writes as much of the text as fits in `room` columns. Returns whether that is all. */
static bool put_status(const char *text, size_t room, bool write) {
    static const char *const styles[] = {"", "\033[31m", "\033[32m", "\033[0m"};
    bool colour = term_colour(STDERR_FILENO);
    for (size_t at = 0, used = 0, len = strlen(text); at < len;) {
        uint32_t c = 0;
        size_t width = mwl__utf8_decode(text + at, len - at, &c);
        if (c > 0 && c < sizeof styles / sizeof *styles) {
            if (write && colour) fputs(styles[c], stderr);
        } else {
            bool odd = !width || steers(c);
            used += odd ? 1 : columns_of(c);
            if (used > room) return false;
            if (write) fwrite(odd ? "?" : text + at, 1, odd ? 1 : width, stderr);
        }
        at += width ? width : 1;
    }
    return true;
}

/* The last column stays free: some terminals begin a new line when it is written. */
void term_status(const char *text) {
    size_t room = term_columns(STDERR_FILENO) - 1;
    bool whole = put_status(text, room, false);
    fputs("\r", stderr);
    put_status(text, whole || room < 3 ? room : room - 3, true);
    if (!whole && room >= 3) fputs(term_colour(STDERR_FILENO) ? "\033[0m..." : "...", stderr);
    fputs("\033[K", stderr);
    fflush(stderr);
    status_shown = true;
}

void term_status_clear(void) {
    if (!status_shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    status_shown = false;
}
