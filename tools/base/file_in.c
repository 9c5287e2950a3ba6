/* file_in.c: see file_in.h. */
#include "tools/base/file_in.h"

#include "tools/base/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FIRST_ROOM = 1 << 16 };

const char *file_in_name(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

FILE *file_in_open(const char *path) { return strcmp(path, "-") == 0 ? stdin : fopen(path, "rb"); }

bool file_in_again(FILE *file) {
    struct stat st;
    return fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode) && ftello(file) >= 0;
}

mwl_status file_in_piece(void *ctx, char *into, size_t room, size_t *got) {
    FILE *file = ctx;
    *got = fread(into, 1, room, file);
    return ferror(file) ? MWL_E_STATE : MWL_OK;
}

/* A little more than the size of a regular file, so that its end is found without growing. */
static size_t first_room(FILE *file) {
    struct stat st;
    bool known = fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
                 (uint64_t)st.st_size < SIZE_MAX / 2;
    return known ? (size_t)st.st_size + 2 : FIRST_ROOM;
}

/* Returns false if out of memory. */
static bool grow(struct limits *l, struct file_text *t, size_t room) {
    mwl_alloc alloc = limits_alloc(l);
    char *grown = room > t->room ? alloc.fn(alloc.ctx, t->data, t->room, room) : NULL;
    if (!grown) return false;
    t->data = grown;
    t->room = room;
    return true;
}

void file_in_free(struct limits *l, struct file_text *text) {
    mwl_alloc alloc = limits_alloc(l);
    if (text->data) alloc.fn(alloc.ctx, text->data, text->room, 0);
    memset(text, 0, sizeof *text);
}

static int fail(struct limits *l, const char *path, struct file_text *t, bool full, int why) {
    int status = CMD_USAGE;
    if (full && l->refused) {
        char where[300];
        snprintf(where, sizeof where, " by %s", file_in_name(path));
        limits_report(l, MWL_E_NOMEM, where);
        status = CMD_LIMIT;
    } else {
        status = cmd_file(file_in_name(path), full ? ENOMEM : why ? why : EIO);
    }
    file_in_free(l, t);
    return status;
}

int file_in(struct limits *l, const char *path, struct file_text *out) {
    FILE *file = file_in_open(path);
    bool full = false;
    memset(out, 0, sizeof *out);
    if (!file) return fail(l, path, out, false, errno);
    full = !grow(l, out, first_room(file));
    errno = 0;
    while (!full && !feof(file) && !ferror(file)) {
        if (out->room - out->size < 2) full = !grow(l, out, out->room + out->room / 2);
        if (!full) out->size += fread(out->data + out->size, 1, out->room - out->size - 1, file);
    }
    int why = errno;
    bool failed = full || ferror(file);
    if (file != stdin) fclose(file);
    if (failed) return fail(l, path, out, full, why);
    out->data[out->size] = '\0';
    return CMD_OK;
}
