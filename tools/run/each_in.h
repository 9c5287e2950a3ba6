/* each_in.h: the inputs of `run --each`: a thread that reads lines, and pieces of them for workers.
 *
 * The text is read in chunks and cut into pieces of whole lines when a worker asks for some, so
 * that each worker gets as many as it can use. Only a few chunks are in memory; the reader waits
 * while they are all in use. */
#ifndef MWL_TOOLS_EACH_IN_H
#define MWL_TOOLS_EACH_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct each_in;
struct each_chunk;

/* Some lines, in their order. The text is valid until the piece is released. */
struct each_piece {
    struct each_chunk *chunk;
    const char *text; /* every line but the last of the input ends with a line feed */
    size_t size;
    uint64_t first_line; /* its number, from 1 */
    uint32_t n_lines;
    bool too_long; /* one line that is longer than a line may be; there is no text */
};

enum each_take { EACH_TAKEN, EACH_NONE_YET, EACH_END };

struct each_in_config {
    int fd;
    size_t line_most;        /* bytes that one line may have */
    void (*more)(void *ctx); /* called on the reader's thread: there is more, or the end */
    void *ctx;
};

/* Starts the thread. NULL if memory or threads run out. */
struct each_in *each_in_new(const struct each_in_config *config);
/* Stops the thread and frees. Pieces must be released before. NULL is ignored. */
void each_in_free(struct each_in *in);

/* Gives at most `most` lines. opened is called under the lock that orders pieces. */
enum each_take each_in_take(struct each_in *in, uint32_t most, struct each_piece *out,
                            void (*opened)(void *ctx, const struct each_piece *piece), void *ctx);
void each_in_release(struct each_in *in, struct each_piece *piece);

/* Bytes that were given to workers so far. Any thread. */
uint64_t each_in_position(const struct each_in *in);
/* Lines that were given. Any thread. */
uint64_t each_in_lines(const struct each_in *in);
/* The errno of a failed read, or 0; after EACH_END. */
int each_in_error(struct each_in *in);

#endif
