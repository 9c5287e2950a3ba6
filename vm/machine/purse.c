/* purse.c: the memory that a provider takes outside the VM's heap on behalf of a run.
 *
 * Owns: mwl_purse. Any thread takes and gives, so the run's account is not touched: it has a second
 * part of atomic numbers, which outlives the run while a purse is out. `taken` is subtracted from
 * what the run may have in the heap. `room` is what the heap leaves, as of the last time that the
 * run did something. */
#include "vm/base/mem.h"
#include "vm/machine/account.h"
#include "vm/machine/run.h"

struct mwl__purses {
    _Atomic size_t taken, room;
    _Atomic uint32_t refs;
    mwl_alloc alloc;
};

struct mwl_purse {
    struct mwl__purses *of;
    _Atomic size_t taken; /* by this one */
};

size_t mwl__purse_taken(const mwl_run *run) {
    return run->aside && run->aside->purses ? atomic_load(&run->aside->purses->taken) : 0;
}

void mwl__purse_room(mwl_run *run) {
    if (!run->aside->purses) return;
    const size_t limit = run->limits->memory_bytes, used = run->memory_used;
    atomic_store(&run->aside->purses->room, used < limit ? limit - used : 0);
}

static struct mwl__purses *new_purses(const mwl_vm *vm) {
    struct mwl__purses *s = mwl__mem_new(&vm->config.post_alloc, sizeof *s);
    if (!s) return NULL;
    atomic_init(&s->taken, 0);
    atomic_init(&s->room, 0);
    atomic_init(&s->refs, 1);
    s->alloc = vm->config.post_alloc;
    return s;
}

static void release(struct mwl__purses *s) {
    if (atomic_fetch_sub(&s->refs, 1) > 1) return;
    mwl_alloc alloc = s->alloc;
    mwl__mem_free(&alloc, s, sizeof *s);
}

void mwl__purse_close(mwl_run *run) {
    struct mwl__purses *s = run->aside->purses;
    if (!s) return;
    atomic_store(&s->room, 0);
    run->aside->purses = NULL;
    release(s);
}

/* Those of the run; NULL: out of memory. */
static struct mwl__purses *purses_of(mwl_run *run, mwl_vm *vm) {
    mwl_run *was = mwl__run_open(run, vm);
    mwl__aside *a = mwl__run_aside(run);
    mwl__run_close(run, vm, was);
    if (!a) return NULL;
    if (!a->purses) a->purses = new_purses(vm);
    if (a->purses) mwl__purse_room(run);
    return a->purses;
}

mwl_purse *mwl_call_purse(mwl_call *c) {
    mwl_vm *vm = c->vm;
    mwl_purse *p = mwl__mem_new(&vm->config.post_alloc, sizeof *p);
    if (!p) return NULL;
    /* one that is not awaited any more may have nothing */
    p->of = c->frame ? purses_of(c->frame->run, vm) : new_purses(vm);
    atomic_init(&p->taken, 0);
    if (!p->of)
        mwl__mem_free(&vm->config.post_alloc, p, sizeof *p), p = NULL;
    else if (c->frame)
        atomic_fetch_add(&p->of->refs, 1);
    return p;
}

bool mwl_purse_take(mwl_purse *p, size_t n) {
    struct mwl__purses *s = p->of;
    size_t taken = atomic_load(&s->taken);
    do {
        const size_t room = atomic_load(&s->room);
        if (n > room || taken > room - n) return false;
    } while (!atomic_compare_exchange_weak(&s->taken, &taken, taken + n));
    atomic_fetch_add(&p->taken, n);
    return true;
}

void mwl_purse_give(mwl_purse *p, size_t n) {
    size_t has = atomic_load(&p->taken), back;
    do {
        back = n < has ? n : has;
    } while (!atomic_compare_exchange_weak(&p->taken, &has, has - back));
    atomic_fetch_sub(&p->of->taken, back);
}

void mwl_purse_release(mwl_purse *p) {
    if (!p) return;
    mwl_purse_give(p, SIZE_MAX);
    struct mwl__purses *s = p->of;
    mwl_alloc alloc = s->alloc;
    mwl__mem_free(&alloc, p, sizeof *p);
    release(s);
}

static void *purse_realloc(void *ctx, void *ptr, size_t old_size, size_t new_size) {
    mwl_purse *p = ctx;
    const mwl_alloc *a = &p->of->alloc;
    if (new_size > old_size && !mwl_purse_take(p, new_size - old_size)) return NULL;
    void *out = a->fn(a->ctx, ptr, old_size, new_size);
    if (!out && new_size) { /* unchanged */
        if (new_size > old_size) mwl_purse_give(p, new_size - old_size);
    } else if (new_size < old_size) {
        mwl_purse_give(p, old_size - new_size);
    }
    return out;
}

mwl_alloc mwl_purse_alloc(mwl_purse *p) { return (mwl_alloc){purse_realloc, p}; }
