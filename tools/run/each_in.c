/* each_in.c: see each_in.h. */
#include "tools/run/each_in.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 256 << 10, CHUNKS = 4 };

struct each_chunk {
    struct each_chunk *next;
    size_t size, at;   /* bytes; those given to workers */
    uint32_t n_pieces; /* not released */
    bool taken;        /* all of it was given */
    bool too_long;     /* stands for one line that has no text here */
    char text[];
};

struct each_in {
    struct each_in_config config;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t room;            /* a chunk was freed, or the reader is to stop */
    struct each_chunk *head, *tail; /* read, and not given completely */
    unsigned n_chunks;              /* in memory, with those that pieces hold */
    uint64_t next_line;
    bool ended, stopping;
    int error;
    int stop_pipe[2];
    _Atomic uint64_t position, lines;
};

/* ---- the reader's thread --------------------------------------------------------------------- */

static struct each_chunk *chunk_new(size_t cap) {
    struct each_chunk *c = malloc(sizeof *c + cap);
    if (c) memset(c, 0, sizeof *c);
    return c;
}

/* Appends the chunk for the workers. Returns false if the reader is to stop. */
static bool publish(struct each_in *in, struct each_chunk *take) {
    pthread_mutex_lock(&in->lock);
    while (in->n_chunks >= CHUNKS && !in->stopping) pthread_cond_wait(&in->room, &in->lock);
    bool going = !in->stopping;
    if (going) {
        if (in->tail)
            in->tail->next = take;
        else
            in->head = take;
        in->tail = take;
        in->n_chunks++;
    }
    pthread_mutex_unlock(&in->lock);
    if (going)
        in->config.more(in->config.ctx);
    else
        free(take);
    return going;
}

/* Bytes that were read, 0 at the end, or -1. Waits for a pipe or a terminal, but not longer than
 * the reader is wanted. */
static ssize_t read_some(struct each_in *in, char *to, size_t size) {
    for (;;) {
        struct pollfd fds[] = {{in->config.fd, POLLIN, 0}, {in->stop_pipe[0], POLLIN, 0}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR) return -1;
        if (fds[1].revents) return 0;
        if (!fds[0].revents) continue;
        ssize_t n = read(in->config.fd, to, size);
        if (n >= 0 || (errno != EINTR && errno != EAGAIN)) return n;
    }
}

static const char *last_newline(const char *text, size_t size) {
    while (size && text[size - 1] != '\n') size--;
    return size ? text + size - 1 : NULL;
}

/* What the reader has in hand: the text behind the last line feed so far. */
struct rest {
    struct each_chunk *chunk;
    size_t len, cap;
    bool skipping; /* inside a line that is too long */
};

/* Makes room for more text behind the rest. A line that reaches the limit is dropped as it comes.
 */
static bool make_room(struct each_in *in, struct rest *r, bool *going) {
    if (r->chunk && r->len < r->cap) return true;
    if (r->chunk && r->len > in->config.line_most) {
        struct each_chunk *mark = chunk_new(0);
        if (!mark) return false;
        mark->too_long = true;
        *going = publish(in, mark);
        r->skipping = true;
        r->len = 0;
        return true;
    }
    size_t cap = r->chunk ? 2 * r->cap : CHUNK;
    struct each_chunk *grown = realloc(r->chunk, sizeof *grown + cap);
    if (!grown) return false;
    if (!r->chunk) memset(grown, 0, sizeof *grown);
    r->chunk = grown;
    r->cap = cap;
    return true;
}

/* Gives the lines that are complete to the workers; what is left begins a new chunk. */
static bool give_lines(struct each_in *in, struct rest *r, const char *newline, bool *going) {
    size_t whole = (size_t)(newline - r->chunk->text) + 1, left = r->len - whole;
    size_t cap = left > CHUNK / 2 ? 2 * left : CHUNK;
    struct each_chunk *next = chunk_new(cap), *full = r->chunk;
    if (!next) return false;
    memcpy(next->text, full->text + whole, left);
    full->size = whole;
    *r = (struct rest){next, left, cap, false};
    *going = publish(in, full);
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

/* Reads to the end. Returns 0 or an errno. */
static int read_all(struct each_in *in) {
    struct rest r = {NULL, 0, 0, false};
    bool going = true;
    int error = 0;
    while (going) {
        if (!make_room(in, &r, &going)) {
            error = ENOMEM;
            break;
        }
        ssize_t n = going ? read_some(in, r.chunk->text + r.len, r.cap - r.len) : 0;
        if (n < 0) error = errno;
        if (n <= 0) break;
        const char *fresh = r.chunk->text + r.len;
        r.len += (size_t)n;
        if (r.skipping) {
            skip(&r);
            fresh = r.chunk->text;
        }
        const char *newline = last_newline(fresh, r.len - (size_t)(fresh - r.chunk->text));
        if (newline && !give_lines(in, &r, newline, &going)) error = ENOMEM, going = false;
    }
    if (!error && going && r.len && !r.skipping) { /* a last line without a line feed */
        r.chunk->size = r.len;
        publish(in, r.chunk);
    } else {
        free(r.chunk);
    }
    return error;
}

static void *read_lines(void *ctx) {
    struct each_in *in = ctx;
    int error = read_all(in);
    pthread_mutex_lock(&in->lock);
    in->ended = true;
    in->error = error;
    pthread_mutex_unlock(&in->lock);
    in->config.more(in->config.ctx);
    return NULL;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Cuts at most `most` lines off the chunk. */
static void cut(struct each_in *in, struct each_chunk *c, uint32_t most, struct each_piece *out) {
    const char *begin = c->text + c->at, *end = c->text + c->size, *p = begin;
    uint32_t n = 0;
    for (; p < end && n < most; n++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        p = newline ? newline + 1 : end;
    }
    if (c->too_long) n = 1;
    *out = (struct each_piece){c, begin, (size_t)(p - begin), in->next_line, n, c->too_long};
    c->at += out->size;
    c->n_pieces++;
    c->taken = c->at == c->size;
    in->next_line += n;
    atomic_fetch_add_explicit(&in->position, out->size, memory_order_relaxed);
    atomic_fetch_add_explicit(&in->lines, n, memory_order_relaxed);
}

enum each_take each_in_take(struct each_in *in, uint32_t most, struct each_piece *out,
                            void (*opened)(void *ctx, const struct each_piece *piece), void *ctx) {
    enum each_take answer = EACH_NONE_YET;
    pthread_mutex_lock(&in->lock);
    struct each_chunk *c = in->head;
    if (c) {
        cut(in, c, most, out);
        if (c->taken) {
            in->head = c->next;
            if (!in->head) in->tail = NULL;
        }
        opened(ctx, out);
        answer = EACH_TAKEN;
    } else if (in->ended) {
        answer = EACH_END;
    }
    pthread_mutex_unlock(&in->lock);
    return answer;
}

void each_in_release(struct each_in *in, struct each_piece *piece) {
    struct each_chunk *c = piece->chunk;
    pthread_mutex_lock(&in->lock);
    bool last = --c->n_pieces == 0 && c->taken;
    if (last) {
        in->n_chunks--;
        pthread_cond_signal(&in->room);
    }
    pthread_mutex_unlock(&in->lock);
    if (last) free(c);
    piece->chunk = NULL;
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

struct each_in *each_in_new(const struct each_in_config *config) {
    struct each_in *in = calloc(1, sizeof *in);
    if (!in) return NULL;
    in->config = *config;
    in->next_line = 1;
    if (pipe(in->stop_pipe) != 0) {
        free(in);
        return NULL;
    }
    pthread_mutex_init(&in->lock, NULL);
    pthread_cond_init(&in->room, NULL);
    if (pthread_create(&in->thread, NULL, read_lines, in) == 0) return in;
    close(in->stop_pipe[0]);
    close(in->stop_pipe[1]);
    free(in);
    return NULL;
}

void each_in_free(struct each_in *in) {
    if (!in) return;
    pthread_mutex_lock(&in->lock);
    in->stopping = true;
    pthread_cond_signal(&in->room);
    pthread_mutex_unlock(&in->lock);
    close(in->stop_pipe[1]); /* the other end hangs up: poll returns */
    pthread_join(in->thread, NULL);
    close(in->stop_pipe[0]);
    for (struct each_chunk *c = in->head, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    pthread_mutex_destroy(&in->lock);
    pthread_cond_destroy(&in->room);
    free(in);
}
