/* http_loop.c: libcurl's multi interface on the libuv loop: one for each mwl_io.
 *
 * libcurl says which sockets it watches and when it wants to be called; the loop does both. */
#include "stdlib/io/http.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { HANDLES_KEPT = 128, CONNECTIONS_MOST = 1024 };

struct mwl__http_loop {
    mwl_io *io;
    CURLM *multi;
    uv_timer_t timer;
    bool closing;
    CURL *spare[HANDLES_KEPT]; /* handles that can be used again */
    size_t n_spare;
};

typedef struct watched {
    uv_poll_t poll;
    mwl_io *io; /* the loop's record may be freed before this handle is closed */
    mwl__http_loop *loop;
    curl_socket_t socket;
} watched;

/* ---- results --------------------------------------------------------------------------------- */

static void read_results(mwl__http_loop *loop) {
    CURLMsg *message;
    int left;
    while ((message = mwl__curl.multi_info_read(loop->multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        CURLcode code = message->data.result; /* the message ends with the handle */
        mwl__http_request *r = NULL;
        mwl__curl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &r);
        mwl__http_remove_request(r);
        mwl__http_hop_done(r, code);
    }
}

/* ---- sockets --------------------------------------------------------------------------------- */

static void on_socket(uv_poll_t *poll, int status, int events) {
    watched *w = poll->data;
    mwl__http_loop *loop = w->loop;
    int flags = status < 0 ? CURL_CSELECT_ERR : 0, running;
    if (events & UV_READABLE) flags |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE) flags |= CURL_CSELECT_OUT;
    mwl__io_hold(loop->io);
    mwl_io *io = loop->io;
    mwl__curl.multi_socket_action(loop->multi, w->socket, flags, &running);
    read_results(loop);
    mwl__io_release(io);
}

static void on_poll_closed(uv_handle_t *handle) {
    watched *w = handle->data;
    mwl_io *io = w->io;
    free(w);
    mwl__io_release(io);
}

static int watch_socket(CURL *easy, curl_socket_t socket, int what, void *user, void *of_socket) {
    mwl__http_loop *loop = user;
    watched *w = of_socket;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (!w) return 0;
        uv_poll_stop(&w->poll);
        mwl__io_hold(loop->io);
        uv_close((uv_handle_t *)&w->poll, on_poll_closed);
        mwl__curl.multi_assign(loop->multi, socket, NULL);
        return 0;
    }
    if (!w) {
        w = calloc(1, sizeof *w);
        if (!w) return -1;
        w->io = loop->io;
        w->loop = loop;
        w->socket = socket;
        w->poll.data = w;
        if (uv_poll_init_socket(mwl__io_loop(loop->io), &w->poll, socket) != 0) {
            free(w);
            return -1;
        }
        mwl__curl.multi_assign(loop->multi, socket, w);
    }
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    return uv_poll_start(&w->poll, events, on_socket) == 0 ? 0 : -1;
}

/* ---- the timer ------------------------------------------------------------------------------- */

static void on_timer(uv_timer_t *timer) {
    mwl__http_loop *loop = timer->data;
    mwl_io *io = loop->io;
    int running;
    mwl__io_hold(io);
    mwl__curl.multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    read_results(loop);
    mwl__io_release(io);
}

static int set_timer(CURLM *multi, long ms, void *user) {
    mwl__http_loop *loop = user;
    (void)multi;
    if (loop->closing) return 0;
    if (ms < 0) {
        uv_timer_stop(&loop->timer);
        return 0;
    }
    uv_update_time(mwl__io_loop(loop->io));
    uv_timer_start(&loop->timer, on_timer, (uint64_t)ms, 0);
    return 0;
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* Half of the descriptors that the process may have; further requests wait for a connection. */
static long connections_most(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur / 2 > CONNECTIONS_MOST)
        return CONNECTIONS_MOST;
    return files.rlim_cur < 8 ? 4 : (long)(files.rlim_cur / 2);
}

mwl__http_loop *mwl__http_loop_of(mwl_io *io) {
    mwl__http_loop *loop = mwl__io_state(io, MWL__IO_CALL_http);
    if (loop) return loop;
    loop = calloc(1, sizeof *loop);
    CURLM *multi = loop ? mwl__curl.multi_init() : NULL;
    if (!multi) {
        free(loop);
        return NULL;
    }
    loop->io = io;
    loop->multi = multi;
    loop->timer.data = loop;
    uv_timer_init(mwl__io_loop(io), &loop->timer);
    mwl__curl.multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    mwl__curl.multi_setopt(multi, CURLMOPT_SOCKETDATA, loop);
    mwl__curl.multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
    mwl__curl.multi_setopt(multi, CURLMOPT_TIMERDATA, loop);
    mwl__curl.multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections_most());
    mwl__io_set_state(io, MWL__IO_CALL_http, loop);
    return loop;
}

static void on_timer_closed(uv_handle_t *handle) {
    mwl__http_loop *loop = handle->data;
    mwl_io *io = loop->io;
    free(loop);
    mwl__io_release(io);
}

void mwl__http_loop_close(mwl_io *io, void *state) {
    mwl__http_loop *loop = state;
    loop->closing = true;
    while (loop->n_spare) mwl__curl.easy_cleanup(loop->spare[--loop->n_spare]);
    mwl__curl.multi_cleanup(loop->multi); /* closes its connections, and so their watches */
    mwl__io_hold(io);
    uv_close((uv_handle_t *)&loop->timer, on_timer_closed);
}

/* ---- requests -------------------------------------------------------------------------------- */

CURL *mwl__http_take_handle(mwl__http_loop *loop) {
    return loop->n_spare ? loop->spare[--loop->n_spare] : mwl__curl.easy_init();
}

void mwl__http_give_handle(mwl__http_loop *loop, CURL *easy) {
    if (loop->n_spare == HANDLES_KEPT) {
        mwl__curl.easy_cleanup(easy);
        return;
    }
    mwl__curl.easy_reset(easy);
    loop->spare[loop->n_spare++] = easy;
}

bool mwl__http_add_request(mwl__http_request *r) {
    r->added = mwl__curl.multi_add_handle(r->loop->multi, r->easy) == CURLM_OK;
    return r->added;
}

void mwl__http_remove_request(mwl__http_request *r) {
    if (r->added) mwl__curl.multi_remove_handle(r->loop->multi, r->easy);
    r->added = false;
}
