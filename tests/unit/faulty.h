/* faulty.h: an allocator for tests. It counts, checks the sizes that it gets, and fails on request.
 *
 * faulty_sweep runs a task with the first allocation failing, then the second, and so on until the
 * task succeeds; once with only that allocation failing, once with all from there on. */
#ifndef FAULTY_H
#define FAULTY_H

#include "mwl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct faulty {
    size_t live_bytes, live_blocks, peak_bytes, calls;
    size_t fail_at; /* the number of the call (from 1) that fails; 0: none */
    bool for_good;  /* and every later one */
    bool wrong;     /* an old_size was not the size of the block */
};

/* As long as malloc() aligns, which on some machines is more than any type needs. */
struct faulty_head {
    _Alignas(16) size_t size;
};

static void *faulty_fn(void *ctx, void *ptr, size_t old_size, size_t new_size) {
    struct faulty *f = ctx;
    struct faulty_head *head = ptr ? (struct faulty_head *)ptr - 1 : NULL;
    if ((head ? head->size : 0) != old_size) f->wrong = true;
    if (new_size == 0) {
        if (head) f->live_blocks--, f->live_bytes -= head->size;
        free(head);
        return NULL;
    }
    f->calls++;
    if (f->fail_at && (f->for_good ? f->calls >= f->fail_at : f->calls == f->fail_at)) return NULL;
    size_t was = head ? head->size : 0;
    struct faulty_head *next = malloc(sizeof *next + new_size); /* always moves */
    if (!next) return NULL;
    if (head) {
        memcpy(next + 1, ptr, was < new_size ? was : new_size);
        memset(ptr, 0xDD, was);
        free(head);
    } else {
        f->live_blocks++;
        memset(next + 1, 0xCC, new_size);
    }
    next->size = new_size;
    f->live_bytes = f->live_bytes - was + new_size;
    if (f->live_bytes > f->peak_bytes) f->peak_bytes = f->live_bytes;
    return next + 1;
}

static inline mwl_alloc faulty_alloc(struct faulty *f) {
    mwl_alloc a = {faulty_fn, f};
    memset(f, 0, sizeof *f);
    return a;
}

/* task returns true if it succeeded, false if an allocation failed. Returns whether it succeeded in
 * the end, and never left memory behind. */
static inline bool faulty_sweep(bool (*task)(mwl_alloc alloc), size_t most) {
    for (int for_good = 0; for_good < 2; for_good++) {
        for (size_t n = 1;; n++) {
            struct faulty f;
            mwl_alloc a = faulty_alloc(&f);
            f.fail_at = n;
            f.for_good = for_good != 0;
            bool through = task(a);
            if (f.live_blocks || f.wrong) {
                printf("allocation %zu failed %s: %zu blocks left, sizes %s\n", n,
                       for_good ? "for good" : "once", f.live_blocks, f.wrong ? "wrong" : "right");
                return false;
            }
            if (through && f.calls < n) break;
            if (n > most) return false;
        }
    }
    return true;
}

#endif
