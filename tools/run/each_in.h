/* each_in.h: the inputs of `run --each`: lines, and pieces of them for workers.
 *
 * The text is read in chunks of whole lines, and cut into pieces when a worker asks for some, so
 * that each worker gets as many lines as it can use. Lines that it cannot start soon it gives back.
 * A worker that finds no text reads a file itself: then it is also the one that uses most of that
 * text, and no other thread must have its turn first. What can make a reader wait (a pipe, a
 * terminal) has a thread that reads; it waits while its few chunks are all in use. */
#ifndef MWL_TOOLS_EACH_IN_H
#define MWL_TOOLS_EACH_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct each_in;
struct each_chunk;

/* Some lines, in their order. The text is valid until the piece is released or given back. A worker
 * uses the same piece again and again; it begins with zeros. */
struct each_piece {
    struct each_chunk *chunk; /* NULL: there are no lines */
    const char *text;         /* every line but the last of the input ends with a line feed */
    size_t size;
    uint64_t first_line; /* its number, from 1 */
    uint32_t n_lines;
    bool too_long;            /* one line that is longer than a line may be; there is no text */
    struct each_chunk *spare; /* kept for what this worker reads next, or NULL */
};

/* EACH_END: there are no lines, and none can be given back. */
enum each_take { EACH_TAKEN, EACH_NONE_YET, EACH_END };

/* Which lines a worker may have. */
struct each_want {
    uint32_t most;
    bool fresh; /* false: only lines that were given back */
};

struct each_in_config {
    int fd;
    size_t line_most;        /* bytes that one line may have */
    void (*more)(void *ctx); /* called on any thread: there is more, or the end */
    void *ctx;
};

/* NULL if memory or threads run out. */
struct each_in *each_in_new(const struct each_in_config *config);
/* Stops the thread, if there is one, and frees. Pieces must be released before. NULL is ignored. */
void each_in_free(struct each_in *in);

/* Gives some lines. opened is called under the lock that orders pieces. */
enum each_take each_in_take(struct each_in *in, const struct each_want *want,
                            struct each_piece *piece,
                            void (*opened)(void *ctx, const struct each_piece *piece), void *ctx);
void each_in_release(struct each_in *in, struct each_piece *piece);
/* Gives the lines of the piece behind the first n_kept, whose text begins at `at`, to other
 * workers, and releases the piece. closed is called before another worker can take them. If memory
 * runs out, nothing changes. */
void each_in_give_back(struct each_in *in, struct each_piece *piece, uint32_t n_kept,
                       const char *at, void (*closed)(void *ctx), void *ctx);
/* Frees what a released piece keeps. */
void each_in_forget(struct each_piece *piece);

/* Bytes that were given to workers so far. Any thread. */
uint64_t each_in_position(const struct each_in *in);
/* Lines that were given. Any thread. */
uint64_t each_in_lines(const struct each_in *in);
/* The errno of a failed read, or 0; after EACH_END. */
int each_in_error(struct each_in *in);

#endif
