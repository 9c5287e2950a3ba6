/* each_show.h: what `run --each` says about itself: numbers, the progress bar, the closing summary.
 */
#ifndef MWL_TOOLS_EACH_SHOW_H
#define MWL_TOOLS_EACH_SHOW_H

#include "mwl.h"

#include <stdatomic.h>

/* Of one worker, which alone writes them; the bar reads them. */
struct each_counts {
    /* lines whose run has ended by itself, or that have none; of these, those that are no success;
     * runs that were ended because all was to stop */
    _Atomic uint64_t done, failed, cancelled;
};
/* Their sums. */
struct each_totals {
    uint64_t done, failed, cancelled;
    uint64_t last_line; /* the last one that was started */
};

/* How often each failure code came. Of very many codes the later ones are counted together. */
enum { EACH_CODES = 256, EACH_CODE_LEN = 96 };
struct each_codes {
    struct each_code {
        char code[EACH_CODE_LEN]; /* cut; "" for a free place */
        uint64_t n;
    } codes[EACH_CODES];
    uint64_t others;
};
void each_codes_add(struct each_codes *codes, const char *code, size_t len, uint64_t n);
void each_codes_merge(struct each_codes *into, const struct each_codes *from);

/* The bar. */
struct each_bar {
    uint64_t size; /* of the input in bytes; 0: not known */
    int64_t start_ns;
    struct each_sample {
        int64_t at_ns;
        uint64_t done, position;
    } samples[32]; /* of the last seconds, round and round: the rate is theirs */
    uint32_t n_samples;
};
/* Shows nothing in the first second. */
void each_bar_draw(struct each_bar *b, const struct each_totals *t, uint64_t position);

/* "mwlvm: 1,000 runs in 1.2 s (833/s): 990 succeeded, 10 failed"; if it was stopped:
 * "mwlvm: interrupted at line 1,100: 1,000 done in 1.2 s (990 succeeded, 10 failed), 100
 * cancelled", where `stopped` is "interrupted". NULL: it was not. */
void each_summary(const struct each_totals *t, const char *stopped, int64_t ns);
/* A line for each code, the most frequent first. */
void each_summary_codes(const struct each_codes *codes);

/* 1234567 as "1,234,567". */
#define EACH_NUMBER 32
const char *each_number(uint64_t n, char out[EACH_NUMBER]);

#endif
