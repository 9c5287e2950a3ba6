/* each_out.c: see each_out.h. */
#include "tools/run/each_out.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WRITE_AT = 64 << 10, /* collected text is written */
    WRITE_READY = 4 << 10,
    WRITE_ALONE = 16 << 10, /* a text of this size is written without a copy */
    COUNT_AT = 64 << 10,
    EXTRA = 40,       /* bytes of a Result besides its input, as a guess */
    SHELF_BLOCKS = 4, /* kept for a worker, if they are for so many lines, and not larger */
    SHELF_LINES = 256,
    SHELF_BYTES = 512 << 10
};

#define PENDING SIZE_MAX

struct each_block {
    pthread_mutex_t lock; /* its worker adds, the thread that flushes reads */
    struct each_shelf *shelf;
    struct each_block *next;
    uint64_t first_line;
    uint32_t cap_lines;
    uint32_t n_lines, n_done, n_moved; /* lines; with a Result; whose text was moved on */
    bool starting;                     /* some are not started; see each_out_started */
    mwl__buf text;
    size_t began;   /* where the text of the Result that is being written begins */
    size_t counted; /* bytes of text that out->bytes contains */
    struct {
        size_t at, len; /* in text; at PENDING: no Result yet */
    } results[];
};

struct each_out {
    struct each_out_config config;
    pthread_mutex_t lock;  /* of what is moved and written */
    pthread_mutex_t order; /* of the list alone: held for a few instructions, never to write */
    struct each_block *head, *tail; /* in the order of lines; empty if that does not matter */
    uint64_t next_line;             /* the first that is in no block that was written completely */
    mwl__buf collected;
    bool no_wait; /* the thread that has the lock does not wait for the reader of the Results */
    _Atomic size_t lines, bytes; /* of blocks that are not written completely */
    _Atomic int error;
    _Atomic bool wanted; /* a worker found no room */
};

/* ---- blocks ---------------------------------------------------------------------------------- */

bool each_out_has_room(struct each_out *out) {
    if (atomic_load(&out->lines) < out->config.lines_most &&
        atomic_load(&out->bytes) < out->config.bytes_most)
        return true;
    atomic_store(&out->wanted, true);
    return atomic_load(&out->lines) < out->config.lines_most &&
           atomic_load(&out->bytes) < out->config.bytes_most; /* it may have come meanwhile */
}

static struct each_block *block_new(uint32_t n_lines) {
    struct each_block *b = malloc(sizeof *b + n_lines * sizeof *b->results);
    if (!b) return NULL;
    memset(b, 0, sizeof *b);
    pthread_mutex_init(&b->lock, NULL);
    b->cap_lines = n_lines;
    b->text = mwl__buf_make(mwl_alloc_default());
    return b;
}

static void block_free(struct each_block *b) {
    mwl__buf_free(&b->text);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

/* A block of the shelf that is large enough, or a new one, or NULL. */
static struct each_block *block_get(struct each_shelf *shelf, uint32_t n_lines) {
    if (n_lines < SHELF_LINES) return block_new(n_lines);
    if (!shelf->mine) shelf->mine = atomic_exchange(&shelf->returned, NULL);
    struct each_block *b = shelf->mine;
    if (!b) return block_new(n_lines);
    shelf->mine = b->next;
    atomic_fetch_sub(&shelf->n, 1);
    if (b->cap_lines >= n_lines) return b;
    block_free(b);
    return block_new(n_lines);
}

/* Gives the block back to the worker that filled it, or frees it. Any thread. */
static void block_return(struct each_block *b) {
    struct each_shelf *shelf = b->shelf;
    if (b->cap_lines < SHELF_LINES || b->text.cap > SHELF_BYTES || b->text.failed ||
        atomic_load(&shelf->n) >= SHELF_BLOCKS) {
        block_free(b);
        return;
    }
    atomic_fetch_add(&shelf->n, 1);
    b->next = atomic_load(&shelf->returned);
    while (!atomic_compare_exchange_weak(&shelf->returned, &b->next, b)) continue;
}

static void free_list(struct each_block *b) {
    for (struct each_block *next; b; b = next) {
        next = b->next;
        block_free(b);
    }
}

void each_shelf_free(struct each_shelf *shelf) {
    free_list(shelf->mine);
    free_list(atomic_load(&shelf->returned));
}

/* Puts the block at its place: nearly always the end. */
static void enlist(struct each_out *out, struct each_block *b) {
    pthread_mutex_lock(&out->order);
    struct each_block **at = &out->head;
    if (out->tail && out->tail->first_line <= b->first_line) at = &out->tail->next;
    while (*at && (*at)->first_line <= b->first_line) at = &(*at)->next;
    b->next = *at;
    *at = b;
    if (!b->next) out->tail = b;
    pthread_mutex_unlock(&out->order);
}

struct each_block *each_out_open(struct each_out *out, struct each_shelf *shelf,
                                 uint64_t first_line, uint32_t n_lines, size_t size) {
    struct each_block *b = block_get(shelf, n_lines);
    if (!b) return NULL;
    b->shelf = shelf;
    b->next = NULL;
    b->first_line = first_line;
    b->n_lines = n_lines;
    b->n_done = b->n_moved = 0;
    b->starting = true;
    b->text.len = b->began = b->counted = 0;
    mwl__buf_reserve(&b->text, size + (size_t)n_lines * EXTRA); /* so that few grow */
    for (uint32_t i = 0; i < n_lines; i++) b->results[i].at = PENDING;
    atomic_fetch_add(&out->lines, n_lines);
    if (out->config.ordered) enlist(out, b);
    return b;
}

void each_out_started(struct each_block *block) {
    pthread_mutex_lock(&block->lock);
    block->starting = false;
    pthread_mutex_unlock(&block->lock);
}

mwl__buf *each_out_lock(struct each_block *block) {
    pthread_mutex_lock(&block->lock);
    block->began = block->text.len;
    return &block->text;
}

/* The threads share the sum, so a worker adds to it once for many lines: a cache line that two of
 * them write at every Result costs more than the Result. */
static void count_bytes(struct each_out *out, struct each_block *block) {
    atomic_fetch_add_explicit(&out->bytes, block->text.len - block->counted, memory_order_relaxed);
    block->counted = block->text.len;
}

void each_out_done(struct each_out *out, struct each_block *block, uint64_t line) {
    size_t i = (size_t)(line - block->first_line);
    if (block->text.failed) atomic_store(&out->error, ENOMEM);
    block->results[i].at = block->began;
    block->results[i].len = block->text.len - block->began;
    block->began = block->text.len;
    block->n_done++;
    if (block->text.len - block->counted >= COUNT_AT) count_bytes(out, block);
}

static void free_block(struct each_out *out, struct each_block *b) {
    atomic_fetch_sub(&out->lines, b->n_lines);
    atomic_fetch_sub(&out->bytes, b->counted);
    block_return(b);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Writes everything, whatever a pipe takes at once. */
static int write_all(int fd, const char *text, size_t len) {
    while (len) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EAGAIN) {
            struct pollfd p = {fd, POLLOUT, 0};
            poll(&p, 1, -1);
        } else if (n < 0 && errno != EINTR) {
            return errno;
        } else if (n > 0) {
            text += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

static void write_text(struct each_out *out, const char *text, size_t len) {
    if (!len || atomic_load(&out->error)) return;
    if (out->config.before_write) out->config.before_write(out->config.ctx);
    int error = write_all(out->config.fd, text, len);
    if (error) atomic_store(&out->error, error);
}

static void write_collected(struct each_out *out) {
    mwl__buf *b = &out->collected;
    if (b->failed) atomic_store(&out->error, ENOMEM);
    write_text(out, b->data, b->len);
    b->len = 0;
}

/* Writes of the collected text what needs no waiting; the rest stays. A pipe or a terminal that is
 * ready accepts WRITE_READY bytes. */
static void write_ready(struct each_out *out) {
    mwl__buf *b = &out->collected;
    size_t at = 0;
    if (b->failed) atomic_store(&out->error, ENOMEM);
    while (at < b->len && !atomic_load(&out->error)) {
        struct pollfd p = {out->config.fd, POLLOUT, 0};
        if (poll(&p, 1, 0) <= 0) break;
        if (at == 0 && out->config.before_write) out->config.before_write(out->config.ctx);
        ssize_t n =
            write(p.fd, b->data + at, b->len - at < WRITE_READY ? b->len - at : WRITE_READY);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) break;
        if (n < 0)
            atomic_store(&out->error, errno);
        else
            at += (size_t)n;
    }
    if (at) memmove(b->data, b->data + at, b->len - at);
    b->len -= at;
}

static void collect(struct each_out *out, const char *text, size_t len) {
    if (out->no_wait) {
        mwl__buf_put(&out->collected, text, len);
        return;
    }
    if (len >= WRITE_ALONE) {
        write_collected(out);
        write_text(out, text, len);
        return;
    }
    mwl__buf_put(&out->collected, text, len);
    if (out->collected.len >= WRITE_AT || out->collected.failed) write_collected(out);
}

/* Results without a gap, from the first that was not moved. Those that ended in order lie side by
 * side and are moved at once. */
static void move_in_order(struct each_out *out, struct each_block *b) {
    while (b->n_moved < b->n_lines && b->results[b->n_moved].at != PENDING) {
        size_t at = b->results[b->n_moved].at, end = at;
        while (b->n_moved < b->n_lines && b->results[b->n_moved].at == end) {
            end += b->results[b->n_moved].len;
            b->n_moved++;
        }
        collect(out, b->text.data + at, end - at);
    }
}

static struct each_block *first_block(struct each_out *out) {
    pthread_mutex_lock(&out->order);
    struct each_block *b = out->head;
    pthread_mutex_unlock(&out->order);
    return b;
}

/* Removes the first block from the list, frees it, and returns the next. */
static struct each_block *next_block(struct each_out *out, struct each_block *b) {
    pthread_mutex_lock(&out->order);
    struct each_block *next = out->head = b->next;
    if (!next) out->tail = NULL;
    pthread_mutex_unlock(&out->order);
    free_block(out, b);
    return next;
}

/* With the lock. Returns whether room was made. A block that its worker is writing to ends it, and
 * without `now` one that its worker soon has more for: the worker comes here itself afterwards. So
 * do lines that were given back and are in no block. */
static bool move_ready(struct each_out *out, bool now) {
    bool freed = false;
    for (struct each_block *b = first_block(out); b && b->first_line == out->next_line;
         freed = true) {
        if (out->no_wait && out->collected.len >= WRITE_AT) break; /* nothing reads it */
        if (pthread_mutex_trylock(&b->lock) != 0) break;
        if (now || !b->starting) move_in_order(out, b);
        bool over = b->n_moved == b->n_lines;
        uint64_t next_line = b->first_line + b->n_lines;
        pthread_mutex_unlock(&b->lock);
        if (!over) break;
        out->next_line = next_line;
        b = next_block(out, b);
    }
    return freed;
}

static void offer_room(struct each_out *out) {
    if (atomic_exchange(&out->wanted, false)) out->config.room(out->config.ctx);
}

void each_out_unlock(struct each_out *out, struct each_block *block) {
    if (out->config.ordered) {
        count_bytes(out, block);
        pthread_mutex_unlock(&block->lock);
        return;
    }
    pthread_mutex_lock(&out->lock);
    collect(out, block->text.data, block->text.len);
    pthread_mutex_unlock(&out->lock);
    atomic_fetch_sub(&out->bytes, block->counted);
    block->text.len = block->counted = 0;
    bool over = block->n_done == block->n_lines;
    pthread_mutex_unlock(&block->lock);
    if (!over) return;
    free_block(out, block);
    offer_room(out);
}

void each_out_skip(struct each_out *out, struct each_block *block, uint64_t line) {
    if (out->config.ordered) return; /* finish finds it */
    each_out_lock(block);
    each_out_done(out, block, line);
    each_out_unlock(out, block);
}

void each_out_shrink(struct each_out *out, struct each_block *block, uint32_t n_lines) {
    pthread_mutex_lock(&block->lock);
    atomic_fetch_sub(&out->lines, block->n_lines - n_lines);
    block->n_lines = n_lines;
    block->starting = false;
    bool over = block->n_done == n_lines;
    pthread_mutex_unlock(&block->lock);
    if (over && !out->config.ordered) free_block(out, block);
}

/* With the lock. */
static void flush_locked(struct each_out *out, bool now) {
    bool freed = move_ready(out, now);
    if (now) write_collected(out);
    if (freed) offer_room(out);
}

void each_out_flush(struct each_out *out) {
    pthread_mutex_lock(&out->lock);
    flush_locked(out, true);
    pthread_mutex_unlock(&out->lock);
}

void each_out_try(struct each_out *out) {
    if (pthread_mutex_trylock(&out->lock) != 0) return;
    flush_locked(out, false);
    pthread_mutex_unlock(&out->lock);
}

bool each_out_tick(struct each_out *out, void (*then)(void *ctx), void *ctx) {
    if (pthread_mutex_trylock(&out->lock) != 0) return false;
    out->no_wait = true;
    bool freed = move_ready(out, true);
    write_ready(out);
    out->no_wait = false;
    if (freed) offer_room(out);
    then(ctx);
    pthread_mutex_unlock(&out->lock);
    return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The number of the last line that has a Result and was not written, or 0. */
static uint64_t last_result(const struct each_out *out) {
    uint64_t last = 0;
    for (const struct each_block *b = out->head; b; b = b->next)
        for (uint32_t i = b->n_moved; i < b->n_lines; i++)
            if (b->results[i].at != PENDING && b->results[i].len) last = b->first_line + i;
    return last;
}

struct missing {
    each_missing *put;
    void *ctx;
};

/* Puts what is missing for the lines from out->next_line on, up to the line `to` or the last. */
static void put_missing(struct each_out *out, uint64_t to, uint64_t last,
                        const struct missing *missing) {
    char text[EACH_MISSING];
    for (; out->next_line < to && out->next_line <= last; out->next_line++)
        collect(out, text, missing->put(missing->ctx, out->next_line, text));
}

void each_out_finish(struct each_out *out, each_missing *put, void *ctx) {
    const struct missing missing = {put, ctx};
    pthread_mutex_lock(&out->lock);
    uint64_t last = last_result(out);
    for (struct each_block *b = first_block(out); b; b = next_block(out, b)) {
        put_missing(out, b->first_line, last, &missing); /* given back, and in no block */
        out->next_line = b->first_line + b->n_moved;
        for (uint32_t i = b->n_moved; i < b->n_lines && b->first_line + i <= last; i++) {
            if (b->results[i].at == PENDING) {
                put_missing(out, out->next_line + 1, last, &missing);
            } else {
                collect(out, b->text.data + b->results[i].at, b->results[i].len);
                out->next_line++;
            }
        }
    }
    write_collected(out);
    pthread_mutex_unlock(&out->lock);
}

int each_out_error(const struct each_out *out) { return atomic_load(&out->error); }

struct each_out *each_out_new(const struct each_out_config *config) {
    struct each_out *out = calloc(1, sizeof *out);
    if (!out) return NULL;
    out->config = *config;
    out->next_line = 1;
    out->collected = mwl__buf_make(mwl_alloc_default());
    pthread_mutex_init(&out->lock, NULL);
    pthread_mutex_init(&out->order, NULL);
    return out;
}

void each_out_free(struct each_out *out) {
    if (!out) return;
    free_list(out->head);
    mwl__buf_free(&out->collected);
    pthread_mutex_destroy(&out->lock);
    pthread_mutex_destroy(&out->order);
    free(out);
}
