/* coro.c: native stacks; the only file that uses minicoro or ucontext.
 *
 * Owns: mapping, guarding and pooling of stacks, and the switch between them. Refuses to know: why
 * code waits, and what it holds meanwhile. Invariants: a stack is either idle in its pool or
 * belongs to exactly one live coroutine; it is unmapped or reused only when no function uses it.
 *
 * The layout of a stack in its mapping, from low to high addresses; it grows down:
 *
 *   [records]  guard, inaccessible  |  red zone, one page  |  the bytes asked for
 *
 * An overflow into the red zone is noticed when the coroutine has ended (mwl__coro_overran): the
 * page is all zero until something is written to it. An overflow into the guard faults;
 * stack_watch.c explains the fault. */
#include "vm/native/coro.h"
#include "vm/base/mem.h"

#include "mwl_config.h"

#if MWL_STACKS

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#ifndef MAP_STACK
#define MAP_STACK 0
#endif

/* 64 KiB is enough for ordinary provider code with a few buffers; pages that are not used cost no
 * memory. */
#define DEFAULT_STACK_BYTES ((size_t)64 << 10)
/* The smallest size: a small function and a signal frame. */
#define LEAST_STACK_BYTES ((size_t)16 << 10)
/* Larger than a page, because a frame with a large array can jump over a page without touching it.
 * It needs address space only, no memory. */
#define GUARD_BYTES ((size_t)256 << 10)

#if defined(__SANITIZE_ADDRESS__)
#define CORO_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CORO_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define CORO_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CORO_TSAN 1
#endif
#endif

#ifdef MWL_HAVE_MINICORO

/* minicoro uses one block: its records, a storage area for passing bytes, the stack. We pass no
 * bytes, so the guard pages are in the storage area, directly below the stack. */
#define MCO_DEFAULT_STORAGE_SIZE GUARD_BYTES
#define MCO_MIN_STACK_SIZE LEAST_STACK_BYTES
#define MCO_NO_DEFAULT_ALLOCATOR
#define MCO_NO_DEBUG
#define MCO_API static
#ifdef MWL_HAVE_VALGRIND_H
#define MCO_USE_VALGRIND
#endif
#define MINICORO_IMPL
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include "minicoro.h"
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

#else /* ucontext */

#include <ucontext.h>
#ifdef MWL_HAVE_VALGRIND_H
#include <valgrind/valgrind.h>
#endif
#ifdef CORO_ASAN
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *save, const void **bottom, size_t *size);
#endif
#ifdef CORO_TSAN
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
#endif

#endif

struct mwl__coro {
    mwl__coro_pool *pool;
    mwl__coro *next_idle;
    mwl__coro_fn *fn;
    void *user;
    mwl__coro_state state;
    bool overran; /* it wrote to the red zone: not used again */
    const char *name;
    unsigned char *map;               /* the whole mapping, with the guard */
    unsigned char *guard, *guard_end; /* whole pages; the red zone begins at guard_end */
#ifdef MWL_HAVE_MINICORO
    mco_coro *mco; /* at the start of the mapping */
#else
    unsigned char *stack; /* lowest usable byte */
    ucontext_t here, back;
#ifdef MWL_HAVE_VALGRIND_H
    unsigned valgrind_id;
#endif
#ifdef CORO_ASAN
    void *fake_here, *fake_back;
    const void *back_bottom;
    size_t back_size;
#endif
#ifdef CORO_TSAN
    void *tsan_here, *tsan_back;
#endif
#endif
};

struct mwl__coro_pool {
    mwl_alloc alloc;
    size_t stack_bytes, map_bytes, page_bytes;
    size_t n_live, n_idle, max_idle;
    mwl__coro *idle;
};

/* ---- the back ends ---------------------------------------------------------------------------
 * Each has: map_bytes_for, block_prepare (once per mapping), block_retire, start, enter, leave and
 * finish. enter and leave switch; start and finish bracket one coroutine's life on the block. */

#ifdef MWL_HAVE_MINICORO

static void mco_entry(mco_coro *mco) {
    mwl__coro *co = mco_get_user_data(mco);
    co->fn(co, co->user);
    co->state = MWL__CORO_DONE;
}

static mco_desc describe(const mwl__coro_pool *pool) {
    return mco_desc_init(mco_entry, pool->stack_bytes + pool->page_bytes);
}

static size_t map_bytes_for(const mwl__coro_pool *pool) { return describe(pool).coro_size; }

static bool block_prepare(mwl__coro *co) {
    size_t page = co->pool->page_bytes;
    co->mco = (mco_coro *)(void *)co->map;
    mco_desc desc = describe(co->pool);
    if (mco_init(co->mco, &desc) != MCO_SUCCESS) return false;
    uintptr_t from = (uintptr_t)co->mco->storage, to = (uintptr_t)co->mco->stack_base;
    mco_uninit(co->mco);
    from = (from + page - 1) / page * page;
    to = to / page * page;
    if (to <= from) return false;
    co->guard = (unsigned char *)from;
    co->guard_end = (unsigned char *)to;
    return true;
}

static void block_retire(mwl__coro *co) { (void)co; }

static bool start(mwl__coro *co) {
    mco_desc desc = describe(co->pool);
    desc.user_data = co;
    return mco_init(co->mco, &desc) == MCO_SUCCESS;
}

static void enter(mwl__coro *co) {
    if (mco_resume(co->mco) != MCO_SUCCESS) abort();
}

static void leave(mwl__coro *co) {
    mco_result r = mco_yield(co->mco);
    if (r == MCO_SUCCESS) return;
    /* After an overflow that jumped over the guard, or a switch on the wrong stack, the process
     * cannot continue. */
    fprintf(stderr, "mwlvm: a native stack cannot be left: %s\n", mco_result_description(r));
    abort();
}

static void finish(mwl__coro *co) { mco_uninit(co->mco); }

const char *mwl__coro_backend(void) { return "minicoro"; }

#else

static size_t guard_bytes(const mwl__coro_pool *pool) {
    return (GUARD_BYTES + pool->page_bytes - 1) / pool->page_bytes * pool->page_bytes;
}

/* With the red zone. */
static size_t stack_span(const mwl__coro_pool *pool) {
    return pool->stack_bytes + pool->page_bytes;
}

static size_t map_bytes_for(const mwl__coro_pool *pool) {
    return guard_bytes(pool) + stack_span(pool);
}

static bool block_prepare(mwl__coro *co) {
    co->guard = co->map;
    co->guard_end = co->stack = co->map + guard_bytes(co->pool);
#ifdef MWL_HAVE_VALGRIND_H
    co->valgrind_id = VALGRIND_STACK_REGISTER(co->stack, co->stack + stack_span(co->pool));
#endif
    return true;
}

static void block_retire(mwl__coro *co) {
    (void)co;
#ifdef MWL_HAVE_VALGRIND_H
    VALGRIND_STACK_DEREGISTER(co->valgrind_id);
#endif
}

/* Both directions of the switch, with the calls that the sanitizers need. */
static void enter(mwl__coro *co) {
#ifdef CORO_ASAN
    __sanitizer_start_switch_fiber(&co->fake_back, co->stack, stack_span(co->pool));
#endif
#ifdef CORO_TSAN
    co->tsan_back = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(co->tsan_here, 0);
#endif
    if (swapcontext(&co->back, &co->here) != 0) abort();
#ifdef CORO_ASAN
    __sanitizer_finish_switch_fiber(co->fake_back, NULL, NULL);
#endif
}

static void leave(mwl__coro *co) {
#ifdef CORO_ASAN
    /* At the last switch the fake stack is not needed any more: NULL frees it. */
    __sanitizer_start_switch_fiber(co->state == MWL__CORO_DONE ? NULL : &co->fake_here,
                                   co->back_bottom, co->back_size);
#endif
#ifdef CORO_TSAN
    __tsan_switch_to_fiber(co->tsan_back, 0);
#endif
    if (swapcontext(&co->here, &co->back) != 0) abort();
#ifdef CORO_ASAN
    __sanitizer_finish_switch_fiber(co->fake_here, &co->back_bottom, &co->back_size);
#endif
}

/* makecontext passes ints only, so the pointer comes in two halves. */
static void entry(unsigned high, unsigned low) {
    mwl__coro *co = (mwl__coro *)(uintptr_t)(((uint64_t)high << 32) | low);
#ifdef CORO_ASAN
    __sanitizer_finish_switch_fiber(NULL, &co->back_bottom, &co->back_size);
#endif
    co->fn(co, co->user);
    co->state = MWL__CORO_DONE;
    leave(co); /* never returns */
}

static bool start(mwl__coro *co) {
    if (getcontext(&co->here) != 0) return false;
    co->here.uc_stack.ss_sp = co->stack;
    co->here.uc_stack.ss_size = stack_span(co->pool);
    co->here.uc_link = NULL;
    uint64_t p = (uintptr_t)co;
    makecontext(&co->here, (void (*)(void))entry, 2, (unsigned)(p >> 32), (unsigned)p);
#ifdef CORO_TSAN
    co->tsan_here = __tsan_create_fiber(0);
#endif
    return true;
}

static void finish(mwl__coro *co) {
    (void)co;
#ifdef CORO_TSAN
    __tsan_destroy_fiber(co->tsan_here);
#endif
}

const char *mwl__coro_backend(void) { return "ucontext"; }

#endif

/* ---- memory of the system -------------------------------------------------------------------- */

#ifdef _WIN32

static size_t page_size(void) {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}
static void *map_block(size_t bytes) {
    return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}
static bool guard_block(void *at, size_t bytes) {
    DWORD before;
    return VirtualProtect(at, bytes, PAGE_NOACCESS, &before) != 0;
}
static void unmap_block(void *at, size_t bytes) {
    (void)bytes;
    VirtualFree(at, 0, MEM_RELEASE);
}

#else

static size_t page_size(void) {
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? (size_t)page : 4096;
}
static void *map_block(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}
static bool guard_block(void *at, size_t bytes) { return mprotect(at, bytes, PROT_NONE) == 0; }
static void unmap_block(void *at, size_t bytes) { munmap(at, bytes); }

#endif

/* ---- the pool -------------------------------------------------------------------------------- */

mwl_status mwl__coro_pool_new(const mwl_alloc *alloc, size_t stack_size, size_t max_idle,
                              mwl__coro_pool **out) {
    if (stack_size == 0) stack_size = DEFAULT_STACK_BYTES;
    if (stack_size > SIZE_MAX / 4) return MWL_E_TOO_BIG;
    mwl__coro_pool *pool = mwl__mem_zero(alloc, 1, sizeof *pool);
    if (!pool) return MWL_E_NOMEM;
    pool->alloc = *alloc;
    pool->page_bytes = page_size();
    if (stack_size < LEAST_STACK_BYTES) stack_size = LEAST_STACK_BYTES;
    pool->stack_bytes = (stack_size + pool->page_bytes - 1) / pool->page_bytes * pool->page_bytes;
    pool->map_bytes = map_bytes_for(pool);
    pool->max_idle = max_idle;
    *out = pool;
    return MWL_OK;
}

static mwl__coro *block_new(mwl__coro_pool *pool) {
    mwl__coro *co = mwl__mem_zero(&pool->alloc, 1, sizeof *co);
    if (!co) return NULL;
    co->pool = pool;
    co->map = map_block(pool->map_bytes);
    if (!co->map) goto no_map;
    if (!block_prepare(co)) goto not_guarded;
    if (!guard_block(co->guard, (size_t)(co->guard_end - co->guard))) goto not_prepared;
    return co;

not_prepared:
    block_retire(co);
not_guarded:
    unmap_block(co->map, pool->map_bytes);
no_map:
    mwl__mem_free(&pool->alloc, co, sizeof *co);
    return NULL;
}

static void block_free(mwl__coro *co) {
    mwl__coro_pool *pool = co->pool;
    block_retire(co);
    unmap_block(co->map, pool->map_bytes);
    mwl__mem_free(&pool->alloc, co, sizeof *co);
}

mwl_status mwl__coro_pool_free(mwl__coro_pool *pool) {
    if (!pool) return MWL_OK;
    if (pool->n_live) return MWL_E_STATE;
    while (pool->idle) {
        mwl__coro *co = pool->idle;
        pool->idle = co->next_idle;
        block_free(co);
    }
    mwl_alloc alloc = pool->alloc;
    mwl__mem_free(&alloc, pool, sizeof *pool);
    return MWL_OK;
}

/* ---- coroutines ------------------------------------------------------------------------------ */

/* The coroutine on whose stack this thread is, for a handler that explains a fault. */
static _Thread_local mwl__coro *current;

static void keep_or_free(mwl__coro *co) {
    mwl__coro_pool *pool = co->pool;
    if (pool->n_idle >= pool->max_idle || co->overran) {
        block_free(co);
        return;
    }
    co->next_idle = pool->idle;
    pool->idle = co;
    pool->n_idle++;
}

mwl_status mwl__coro_new(mwl__coro_pool *pool, mwl__coro_fn *fn, void *user, mwl__coro **out) {
    mwl__coro *co = pool->idle;
    if (co) {
        pool->idle = co->next_idle;
        pool->n_idle--;
    } else {
        co = block_new(pool);
        if (!co) return MWL_E_NOMEM;
    }
    co->fn = fn;
    co->user = user;
    co->name = "";
    co->next_idle = NULL;
    co->state = MWL__CORO_FRESH;
    if (!start(co)) {
        keep_or_free(co);
        return MWL_E_NOMEM;
    }
    pool->n_live++;
    *out = co;
    return MWL_OK;
}

mwl__coro_state mwl__coro_resume(mwl__coro *co) {
    assert(co->state == MWL__CORO_FRESH || co->state == MWL__CORO_SUSPENDED);
    mwl__coro *outer = current;
    co->state = MWL__CORO_RUNNING;
    current = co;
    enter(co);
    current = outer;
    return co->state;
}

void mwl__coro_yield(mwl__coro *co) {
    assert(co->state == MWL__CORO_RUNNING);
    co->state = MWL__CORO_SUSPENDED;
    leave(co);
}

void mwl__coro_name(mwl__coro *co, const char *name) { co->name = name; }
const char *mwl__coro_name_of(const mwl__coro *co) { return co->name; }
size_t mwl__coro_stack_bytes(const mwl__coro *co) { return co->pool->stack_bytes; }
const mwl__coro *mwl__coro_running(void) { return current; }

bool mwl__coro_in_guard(const mwl__coro *co, const void *address) {
    uintptr_t at = (uintptr_t)address;
    return at >= (uintptr_t)co->guard && at < (uintptr_t)co->guard_end;
}

bool mwl__coro_holds(const mwl__coro *co, const void *address) {
    uintptr_t at = (uintptr_t)address;
    return at >= (uintptr_t)co->guard_end && at < (uintptr_t)co->map + co->pool->map_bytes;
}

/* Frames that have returned were there, and a sanitizer may have marked the memory. */
#ifdef CORO_ASAN
__attribute__((no_sanitize_address))
#endif
bool mwl__coro_overran(mwl__coro *co) {
    const uint64_t *word = (const uint64_t *)(const void *)co->guard_end;
    uint64_t seen = 0;
    for (size_t i = 0; i < co->pool->page_bytes / sizeof *word; i++) seen |= word[i];
    co->overran = seen != 0;
    return co->overran;
}

mwl_status mwl__coro_free(mwl__coro *co) {
    if (!co) return MWL_OK;
    if (co->state != MWL__CORO_FRESH && co->state != MWL__CORO_DONE) return MWL_E_STATE;
    finish(co);
    co->pool->n_live--;
    keep_or_free(co);
    return MWL_OK;
}

#else /* without stacks: nothing asks for one, because blocking providers are refused */

mwl_status mwl__coro_pool_new(const mwl_alloc *alloc, size_t stack_size, size_t max_idle,
                              mwl__coro_pool **out) {
    (void)alloc, (void)stack_size, (void)max_idle, (void)out;
    return MWL_E_UNSUPPORTED;
}
mwl_status mwl__coro_pool_free(mwl__coro_pool *pool) {
    (void)pool;
    return MWL_OK;
}
mwl_status mwl__coro_new(mwl__coro_pool *pool, mwl__coro_fn *fn, void *user, mwl__coro **out) {
    (void)pool, (void)fn, (void)user, (void)out;
    return MWL_E_UNSUPPORTED;
}
mwl__coro_state mwl__coro_resume(mwl__coro *co) {
    (void)co;
    return MWL__CORO_DONE;
}
void mwl__coro_yield(mwl__coro *co) { (void)co; }
void mwl__coro_name(mwl__coro *co, const char *name) { (void)co, (void)name; }
size_t mwl__coro_stack_bytes(const mwl__coro *co) {
    (void)co;
    return 0;
}
bool mwl__coro_overran(mwl__coro *co) {
    (void)co;
    return false;
}
mwl_status mwl__coro_free(mwl__coro *co) {
    (void)co;
    return MWL_OK;
}
bool mwl__coro_holds(const mwl__coro *co, const void *address) {
    return (void)co, (void)address, true;
}
const char *mwl__coro_backend(void) { return "none"; }

#endif
