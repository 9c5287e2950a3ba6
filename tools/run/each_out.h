/* each_out.h: the Results of `run --each`: in the order of the inputs, or as they come.
 *
 * A block holds the Results of the lines that one worker took at once. In order, the block of the
 * earliest lines is written as far as its Results are there without a gap, then the next. What
 * waits for an earlier Result is limited: workers take no lines while there is no room. Text is
 * collected and written in large pieces. */
#ifndef MWL_TOOLS_EACH_OUT_H
#define MWL_TOOLS_EACH_OUT_H

#include "vm/base/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct each_out;
struct each_block;

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
 * order of lines, by one thread at a time. NULL: out of memory. */
struct each_block *each_out_open(struct each_out *out, uint64_t first_line, uint32_t n_lines,
                                 size_t size);

/* Puts the Results of lines of one block: lock, then for each line write to the text and call done,
 * then unlock. A Result ends with a line feed; a line without a Result has no text. The block is
 * freed when every line of it is done and was written: do not use it after unlocking then. */
mwl__buf *each_out_lock(struct each_block *block);
void each_out_done(struct each_out *out, struct each_block *block, uint64_t line);
void each_out_unlock(struct each_out *out, struct each_block *block);
/* The line will not be run. */
void each_out_skip(struct each_out *out, struct each_block *block, uint64_t line);

/* Moves what is ready to the collected text, and writes that if it is large, or if `now` is set. */
void each_out_flush(struct each_out *out, bool now);
/* The same, unless another thread does it at the moment; then it returns false. `then` is called
 * under the same lock, if it is not NULL. */
bool each_out_try(struct each_out *out, bool now, void (*then)(void *ctx), void *ctx);
/* At the end, when no worker is left. Lines that were not run, in front of one that was, get
 * `missing`, so that each Result stands at the place of its input. Returns how many of them there
 * were. */
uint64_t each_out_finish(struct each_out *out, const char *missing);

/* The errno of a failed write, or 0. Any thread. */
int each_out_error(const struct each_out *out);

#endif
