/* each_in.c: see each_in.h. */
#include "tools/run/each_in.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CHUNK = 64 << 10,
    CHUNKS = 16 /* that the thread reads ahead */
};

struct each_chunk {
    size_t cap;
    uint32_t refs; /* stretches and pieces */
    char text[];
};

/* Lines of a chunk that no worker has. */
struct stretch {
    struct stretch *next;
    struct each_chunk *chunk;
    const char *text;
    size_t size;
    uint64_t first_line; /* 0: the next after all that were given */
    bool too_long;       /* stands for one line that has no text here */
};

/* What was read behind the last line feed so far. Only the thread that reads uses it, or the worker
 * that has the lock. */
struct rest {
    struct each_chunk *chunk;
    size_t len;
    bool skipping; /* inside a line that is too long */
    bool ended;    /* nothing more is read */
};

struct each_in {
    struct each_in_config config;
    struct rest rest;
    bool threaded; /* a thread reads, not the workers */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t room;         /* a chunk was freed, or the thread is to stop */
    struct stretch *head, *tail; /* in the order of lines: those given back, then what was read */
    unsigned n_chunks;           /* in memory, with those that pieces hold */
    unsigned n_pieces;           /* that workers have */
    uint64_t next_line;
    bool ended, stopping;
    int error;
    int stop_pipe[2];
    _Atomic uint64_t position, lines;
};

/* ---- reading --------------------------------------------------------------------------------- */

static struct each_chunk *chunk_new(struct each_chunk **spare, size_t cap) {
    struct each_chunk *c = spare ? *spare : NULL;
    if (c && c->cap >= cap) {
        *spare = NULL;
        return c;
    }
    c = malloc(sizeof *c + cap);
    if (c) *c = (struct each_chunk){.cap = cap};
    return c;
}

/* Bytes that were read, 0 at the end, or -1. Waits for a pipe or a terminal, but not longer than
 * the reader is wanted. */
static ssize_t read_some(struct each_in *in, char *to, size_t size) {
    for (;;) {
        struct pollfd fds[] = {{in->config.fd, POLLIN, 0}, {in->stop_pipe[0], POLLIN, 0}};
        if (in->threaded) {
            if (poll(fds, 2, -1) < 0 && errno != EINTR) return -1;
            if (fds[1].revents) return 0;
            if (!fds[0].revents) continue;
        }
        ssize_t n = read(in->config.fd, to, size);
        if (n >= 0 || (errno != EINTR && errno != EAGAIN)) return n;
    }
}

static const char *last_newline(const char *text, size_t size) {
    while (size && text[size - 1] != '\n') size--;
    return size ? text + size - 1 : NULL;
}

/* Makes room for more text behind the rest, in a chunk of the reader's own. */
static bool make_room(struct rest *r, struct each_chunk **spare) {
    if (r->chunk && r->len < r->chunk->cap) return true;
    struct each_chunk *larger = chunk_new(spare, r->len > CHUNK / 2 ? 2 * r->len : CHUNK);
    if (!larger) return false;
    if (r->chunk) memcpy(larger->text, r->chunk->text, r->len);
    free(r->chunk);
    r->chunk = larger;
    return true;
}

/* Separates the lines that are complete. What is left waits in a small chunk, because another
 * worker may read the rest of that line. Returns false if memory runs out. */
static bool split(struct rest *r, const char *newline, struct stretch *out) {
    struct each_chunk *full = r->chunk, *next = NULL;
    size_t whole = (size_t)(newline - full->text) + 1, left = r->len - whole;
    if (left) {
        next = chunk_new(NULL, left);
        if (!next) return false;
        memcpy(next->text, full->text + whole, left);
    }
    *r = (struct rest){next, left, false, false};
    *out = (struct stretch){.chunk = full, .text = full->text, .size = whole};
    return true;
}

/* The beginning of the text belongs to a line that is being skipped. */
static void skip(struct rest *r) {
    char *newline = memchr(r->chunk->text, '\n', r->len);
    if (!newline) {
        r->len = 0;
        return;
    }
    size_t gone = (size_t)(newline - r->chunk->text) + 1;
    memmove(r->chunk->text, newline + 1, r->len - gone);
    r->len -= gone;
    r->skipping = false;
}

/* Nothing more can be read. A last line without a line feed is left. */
static int end_reading(struct rest *r, int error, struct stretch *out) {
    r->ended = true;
    if (error || !r->len || r->skipping) return error;
    *out = (struct stretch){.chunk = r->chunk, .text = r->chunk->text, .size = r->len};
    r->chunk = NULL;
    r->len = 0;
    return 0;
}

/* Reads until there are whole lines. At the end out->chunk is NULL. Returns 0 or an errno. A line
 * that reaches the limit is dropped as it comes. */
static int read_lines(struct each_in *in, struct each_chunk **spare, struct stretch *out) {
    struct rest *r = &in->rest;
    *out = (struct stretch){.chunk = NULL};
    while (!r->ended) {
        if (r->chunk && r->len == r->chunk->cap && r->len > in->config.line_most) {
            *out = (struct stretch){.chunk = chunk_new(NULL, 0), .too_long = true};
            if (!out->chunk) return end_reading(r, ENOMEM, out);
            r->skipping = true;
            r->len = 0;
            return 0;
        }
        if (!make_room(r, spare)) return end_reading(r, ENOMEM, out);
        ssize_t n = read_some(in, r->chunk->text + r->len, r->chunk->cap - r->len);
        if (n <= 0) return end_reading(r, n < 0 ? errno : 0, out);
        const char *fresh = r->chunk->text + r->len;
        r->len += (size_t)n;
        if (r->skipping) {
            skip(r);
            fresh = r->chunk->text;
        }
        const char *newline = last_newline(fresh, r->len - (size_t)(fresh - r->chunk->text));
        if (newline) return split(r, newline, out) ? 0 : end_reading(r, ENOMEM, out);
    }
    return 0;
}

/* With the lock: puts the lines behind the others; none are the end. */
static void append(struct each_in *in, const struct stretch *lines, int error) {
    struct stretch *s = lines->chunk ? malloc(sizeof *s) : NULL;
    if (!s) {
        in->ended = true;
        in->error = lines->chunk ? ENOMEM : error;
        free(lines->chunk);
        return;
    }
    *s = *lines;
    s->chunk->refs = 1;
    in->n_chunks++;
    if (in->tail)
        in->tail->next = s;
    else
        in->head = s;
    in->tail = s;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void *read_ahead(void *ctx) {
    struct each_in *in = ctx;
    for (bool going = true; going;) {
        struct stretch lines;
        int error = read_lines(in, NULL, &lines);
        pthread_mutex_lock(&in->lock);
        while (in->n_chunks >= CHUNKS && !in->stopping) pthread_cond_wait(&in->room, &in->lock);
        append(in, &lines, error);
        going = !in->stopping && !in->ended;
        pthread_mutex_unlock(&in->lock);
        in->config.more(in->config.ctx);
    }
    return NULL;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* With the lock: one that has the chunk has it no longer. Returns it if that was the last. */
static struct each_chunk *unref(struct each_in *in, struct each_chunk *c) {
    if (--c->refs) return NULL;
    in->n_chunks--;
    if (in->threaded) pthread_cond_signal(&in->room);
    return c;
}

/* Keeps the chunk for the worker's next read, or frees it. Without the lock. NULL is ignored. */
static void keep(struct each_in *in, struct each_piece *piece, struct each_chunk *take) {
    if (take && !in->threaded && !piece->spare && take->cap == CHUNK)
        piece->spare = take;
    else
        free(take);
}

static void remove_head(struct each_in *in) {
    struct stretch *s = in->head;
    in->head = s->next;
    if (!in->head) in->tail = NULL;
    free(s);
}

/* Cuts at most `most` lines off the first stretch. */
static void cut(struct each_in *in, uint32_t most, struct each_piece *out) {
    struct stretch *s = in->head;
    const char *end = s->text + s->size, *p = s->text;
    uint32_t n = 0;
    for (; p < end && n < most; n++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        p = newline ? newline + 1 : end;
    }
    if (s->too_long) n = 1;
    if (!s->first_line) s->first_line = in->next_line;
    *out = (struct each_piece){.chunk = s->chunk,
                               .text = s->text,
                               .size = s->text ? (size_t)(p - s->text) : 0,
                               .first_line = s->first_line,
                               .n_lines = n,
                               .too_long = s->too_long,
                               .spare = out->spare};
    s->text = p;
    s->size -= out->size;
    s->first_line += n;
    in->n_pieces++;
    if (s->first_line > in->next_line) in->next_line = s->first_line;
    if (s->size)
        s->chunk->refs++;
    else
        remove_head(in); /* the piece has its reference */
    atomic_fetch_add_explicit(&in->position, out->size, memory_order_relaxed);
    atomic_fetch_add_explicit(&in->lines, n, memory_order_relaxed);
}

enum each_take each_in_take(struct each_in *in, const struct each_want *want,
                            struct each_piece *piece,
                            void (*opened)(void *ctx, const struct each_piece *piece), void *ctx) {
    enum each_take answer = EACH_NONE_YET;
    bool ended = false;
    pthread_mutex_lock(&in->lock);
    if (!in->head && !in->ended && !in->threaded && want->fresh) {
        struct stretch lines;
        int error = read_lines(in, &piece->spare, &lines);
        append(in, &lines, error);
        ended = in->ended;
    }
    const struct stretch *s = in->head;
    bool given_back = s && s->first_line && s->first_line < in->next_line;
    if (s && (want->fresh || given_back)) {
        cut(in, want->most, piece);
        opened(ctx, piece);
        answer = EACH_TAKEN;
    } else if (!s && in->ended && !in->n_pieces) {
        answer = EACH_END;
    }
    pthread_mutex_unlock(&in->lock);
    if (ended) in->config.more(in->config.ctx); /* others may wait for what never comes */
    return answer;
}

void each_in_release(struct each_in *in, struct each_piece *piece) {
    pthread_mutex_lock(&in->lock);
    struct each_chunk *last = unref(in, piece->chunk);
    in->n_pieces--;
    bool end = in->ended && !in->head && !in->n_pieces;
    pthread_mutex_unlock(&in->lock);
    piece->chunk = NULL;
    keep(in, piece, last);
    if (end) in->config.more(in->config.ctx);
}

/* With the lock: where a stretch that begins with the line belongs. */
static struct stretch **place(struct each_in *in, uint64_t first_line) {
    struct stretch **at = &in->head;
    while (*at && (*at)->first_line && (*at)->first_line < first_line) at = &(*at)->next;
    return at;
}

void each_in_give_back(struct each_in *in, struct each_piece *piece, uint32_t n_kept,
                       const char *at, void (*closed)(void *ctx), void *ctx) {
    struct stretch *s = malloc(sizeof *s);
    if (!s) return;
    *s = (struct stretch){.chunk = piece->chunk, /* with the piece's reference */
                          .text = at,
                          .size = (size_t)(piece->text + piece->size - at),
                          .first_line = piece->first_line + n_kept,
                          .too_long = piece->too_long};
    closed(ctx);
    atomic_fetch_sub_explicit(&in->position, s->size, memory_order_relaxed);
    atomic_fetch_sub_explicit(&in->lines, piece->n_lines - n_kept, memory_order_relaxed);
    pthread_mutex_lock(&in->lock);
    struct stretch **where = place(in, s->first_line);
    s->next = *where;
    *where = s;
    if (!s->next) in->tail = s;
    in->n_pieces--;
    pthread_mutex_unlock(&in->lock);
    piece->chunk = NULL;
    in->config.more(in->config.ctx);
}

void each_in_forget(struct each_piece *piece) {
    free(piece->spare);
    piece->spare = NULL;
}

uint64_t each_in_position(const struct each_in *in) {
    return atomic_load_explicit(&in->position, memory_order_relaxed);
}

uint64_t each_in_lines(const struct each_in *in) {
    return atomic_load_explicit(&in->lines, memory_order_relaxed);
}

int each_in_error(struct each_in *in) {
    pthread_mutex_lock(&in->lock);
    int error = in->error;
    pthread_mutex_unlock(&in->lock);
    return error;
}

/* ---- its life -------------------------------------------------------------------------------- */

/* Whether reading may have to wait for another process or a person. */
static bool may_wait(int fd) {
    struct stat st;
    return fstat(fd, &st) != 0 || !S_ISREG(st.st_mode);
}

struct each_in *each_in_new(const struct each_in_config *config) {
    struct each_in *in = calloc(1, sizeof *in);
    if (!in) return NULL;
    in->config = *config;
    in->next_line = 1;
    in->threaded = may_wait(config->fd);
    if (in->threaded && pipe(in->stop_pipe) != 0) {
        free(in);
        return NULL;
    }
    pthread_mutex_init(&in->lock, NULL);
    pthread_cond_init(&in->room, NULL);
    if (!in->threaded || pthread_create(&in->thread, NULL, read_ahead, in) == 0) return in;
    close(in->stop_pipe[0]);
    close(in->stop_pipe[1]);
    free(in);
    return NULL;
}

static void stop_thread(struct each_in *in) {
    pthread_mutex_lock(&in->lock);
    in->stopping = true;
    pthread_cond_signal(&in->room);
    pthread_mutex_unlock(&in->lock);
    close(in->stop_pipe[1]); /* the other end hangs up: poll returns */
    pthread_join(in->thread, NULL);
    close(in->stop_pipe[0]);
}

void each_in_free(struct each_in *in) {
    if (!in) return;
    if (in->threaded) stop_thread(in);
    while (in->head) {
        free(unref(in, in->head->chunk));
        remove_head(in);
    }
    free(in->rest.chunk);
    pthread_mutex_destroy(&in->lock);
    pthread_cond_destroy(&in->room);
    free(in);
}
