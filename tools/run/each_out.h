/* each_out.h: the Results of `run --each`: in the order of the inputs, or as they come.
 *
 * A block holds the Results of the lines that one worker took at once. In order, the block of the
 * earliest lines is written as far as its Results are there without a gap, then the next. What
 * waits for an earlier Result is limited: workers take no lines while there is no room. Small texts
 * are collected and written together.
 *
 * No thread does this for the others: a worker that has finished a block writes what is ready,
 * unless another is writing. The memory of a block goes back to the worker that filled it, because
 * it is still in the cache of that worker's processor. */
#ifndef MWL_TOOLS_EACH_OUT_H
#define MWL_TOOLS_EACH_OUT_H

#include "vm/base/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct each_out;
struct each_block;

/* Blocks that a worker uses again. Begins with zeros. */
struct each_shelf {
    struct each_block *mine;               /* only the worker uses it */
    _Atomic(struct each_block *) returned; /* any thread puts blocks here */
    _Atomic unsigned n;                    /* on both */
};

struct each_out_config {
    int fd;
    bool ordered;
    size_t lines_most, bytes_most;   /* that may wait */
    void (*before_write)(void *ctx); /* a terminal: removes the progress bar */
    void (*room)(void *ctx);         /* there is room again; on any thread */
    void *ctx;
};

struct each_out *each_out_new(const struct each_out_config *config); /* NULL: out of memory */
void each_out_free(struct each_out *out);                            /* NULL is ignored */

/* Whether another block may be opened. Any thread. */
bool each_out_has_room(struct each_out *out);
/* Opens the block of lines first_line and so on, which have `size` bytes. Blocks are opened in the
 * order of lines, except lines that were given back, by one thread at a time. The shelf is the
 * worker's. NULL: out of memory. */
struct each_block *each_out_open(struct each_out *out, struct each_shelf *shelf,
                                 uint64_t first_line, uint32_t n_lines, size_t size);
/* The last line of the block is being started: until then nothing of it is written, unless that is
 * asked for at once. */
void each_out_started(struct each_block *block);
/* Leaves only the first n_lines in the block, because the others were not started and are given
 * back. Do not use the block after that, except for runs that are in flight. */
void each_out_shrink(struct each_out *out, struct each_block *block, uint32_t n_lines);
/* Frees the blocks; when no thread works. */
void each_shelf_free(struct each_shelf *shelf);

/* Puts the Results of lines of one block: lock, then for each line write to the text and call done,
 * then unlock. A Result ends with a line feed; a line without a Result has no text. The block is
 * freed when every line of it is done and was written: do not use it after unlocking then. */
mwl__buf *each_out_lock(struct each_block *block);
void each_out_done(struct each_out *out, struct each_block *block, uint64_t line);
void each_out_unlock(struct each_out *out, struct each_block *block);
/* The line will not be run. */
void each_out_skip(struct each_out *out, struct each_block *block, uint64_t line);

/* Writes what is ready. */
void each_out_flush(struct each_out *out);
/* Moves what is ready to the collected text, and writes that if it is large, unless another thread
 * does it at the moment. */
void each_out_try(struct each_out *out);
/* Writes what is ready, as far as that needs no waiting, and calls `then` under the same lock. If
 * another thread writes at the moment, it returns false. */
bool each_out_tick(struct each_out *out, void (*then)(void *ctx), void *ctx);
/* Writes the Result of a line that was not run. Returns its length, or 0 for none. */
enum { EACH_MISSING = 200 };
typedef size_t each_missing(void *ctx, uint64_t line, char text[EACH_MISSING]);
/* At the end, when no worker is left. Lines that were not run, in front of one that was, get
 * `missing`, so that each Result stands at the place of its input. */
void each_out_finish(struct each_out *out, each_missing *missing, void *ctx);

/* The errno of a failed write, or 0. Any thread. */
int each_out_error(const struct each_out *out);

#endif
