/* loop.c: see loop.h. */
#include "tools/session/loop.h"

#include "tools/base/cmd.h"

#include <sys/resource.h>
#include <time.h>

enum {
    NS_PER_MS = 1000000,
    FILES_MIN = 16 /* libuv stops the process when it cannot have those it needs */
};

int64_t session_now_ns(void) { return (int64_t)uv_hrtime(); }

static void read_clock(void *ctx, mwl_instant *out) {
    struct timespec wall;
    (void)ctx;
    clock_gettime(CLOCK_REALTIME, &wall);
    out->mono_ns = session_now_ns();
    out->wall_ns = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec;
}

mwl_clock session_clock(void) {
    mwl_clock clock = {read_clock, NULL};
    return clock;
}

int session_own_loop(uv_loop_t **out) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < FILES_MIN) {
        cmd_fail("event loop: %d open files must be allowed (ulimit -n), not %d", FILES_MIN,
                 (int)files.rlim_cur);
        return CMD_USAGE;
    }
    *out = uv_default_loop();
    return *out ? CMD_OK : cmd_no_memory();
}

static void on_bell(uv_async_t *handle) { uv_stop(handle->loop); }
/* uv_run runs timers that are due before it waits for events, and would then wait without one: the
 * thread may have been late. */
static void on_timer(uv_timer_t *handle) { uv_stop(handle->loop); }

int session_loop_open(struct session_loop *l, uv_loop_t *loop) {
    int failed = uv_async_init(loop, &l->bell, on_bell);
    l->loop = loop;
    l->is_open = !failed;
    if (failed) return cmd_file("event loop", -failed);
    uv_timer_init(loop, &l->timer);
    return CMD_OK;
}

static void on_closed(uv_handle_t *handle) { --*(int *)handle->data; }

void session_loop_close(struct session_loop *l) {
    int open = 2;
    if (!l->is_open) return;
    l->timer.data = l->bell.data = &open;
    uv_close((uv_handle_t *)&l->timer, on_closed);
    uv_close((uv_handle_t *)&l->bell, on_closed);
    while (open) uv_run(l->loop, UV_RUN_NOWAIT);
    l->is_open = false;
}

void session_ring(void *ctx) { uv_async_send(&((struct session_loop *)ctx)->bell); }

void session_look(struct session_loop *l) { uv_run(l->loop, UV_RUN_NOWAIT); }

void session_wait(struct session_loop *l, int64_t due_ns) {
    if (due_ns != MWL_NEVER) {
        int64_t left = due_ns - session_now_ns();
        uint64_t ms = left <= 0 ? 0 : (uint64_t)(left - 1) / NS_PER_MS + 1;
        uv_update_time(l->loop);
        uv_timer_start(&l->timer, on_timer, ms, 0);
    }
    uv_run(l->loop, UV_RUN_ONCE);
    uv_timer_stop(&l->timer);
}
