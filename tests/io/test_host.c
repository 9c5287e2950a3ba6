/* test_host.c: a host with a libuv loop: one call adds the providers; everything ends at any
 * moment.
 *
 * A small HTTP server in the same loop answers in pieces, so that the run can be cancelled, aborted
 * or closed between any two turns of the loop. */
#include "utest.h"

#include "mwl_asm.h"
#include "mwl_io.h"
#include "mwl_std.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

/* ---- the server ------------------------------------------------------------------------------ */

typedef struct server {
    uv_tcp_t listener;
    int port, n_open;
} server;

typedef struct client {
    uv_tcp_t tcp;
    uv_timer_t timer;
    server *of;
    int at, n_closed;
    char in[4096];
} client;

static const char *const pieces[] = {"HTTP/1.1 302 X\r\nLocation: /next\r\n",
                                     "Content-Length: 0\r\n\r\n",
                                     "HTTP/1.1 200 X\r\nContent-Type: applica",
                                     "tion/json\r\nContent-Length: 8\r\n\r\n",
                                     "[1, ",
                                     "2]\r\n"};
enum { N_PIECES = sizeof pieces / sizeof *pieces };

static void client_closed(uv_handle_t *handle) {
    client *c = handle->data;
    if (++c->n_closed < 2) return;
    c->of->n_open--;
    free(c);
}

static void client_close(client *c) {
    if (uv_is_closing((uv_handle_t *)&c->tcp)) return;
    uv_close((uv_handle_t *)&c->tcp, client_closed);
    uv_close((uv_handle_t *)&c->timer, client_closed);
}

/* The next piece; the first two answer the first request, the others the second. */
static void on_tick(uv_timer_t *timer) {
    client *c = timer->data;
    uv_buf_t buffer = uv_buf_init((char *)pieces[c->at], (unsigned)strlen(pieces[c->at]));
    if (uv_try_write((uv_stream_t *)&c->tcp, &buffer, 1) < 0) client_close(c);
    if (++c->at == 2 || c->at == N_PIECES) uv_timer_stop(timer);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *out) {
    client *c = handle->data;
    (void)size;
    *out = uv_buf_init(c->in, sizeof c->in);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer) {
    client *c = stream->data;
    (void)buffer;
    if (n < 0)
        client_close(c);
    else if (n > 0)
        uv_timer_start(&c->timer, on_tick, 1, 1);
}

static void on_connection(uv_stream_t *listener, int status) {
    server *s = listener->data;
    if (status < 0) return;
    client *c = calloc(1, sizeof *c);
    c->of = s;
    c->tcp.data = c->timer.data = c;
    uv_tcp_init(listener->loop, &c->tcp);
    uv_timer_init(listener->loop, &c->timer);
    s->n_open++;
    uv_accept(listener, (uv_stream_t *)&c->tcp);
    uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read);
}

static bool server_open(server *s, uv_loop_t *loop) {
    struct sockaddr_in at;
    int len = sizeof at;
    memset(s, 0, sizeof *s);
    uv_ip4_addr("127.0.0.1", 0, &at);
    s->listener.data = s;
    return uv_tcp_init(loop, &s->listener) == 0 &&
           uv_tcp_bind(&s->listener, (const struct sockaddr *)&at, 0) == 0 &&
           uv_listen((uv_stream_t *)&s->listener, 16, on_connection) == 0 &&
           uv_tcp_getsockname(&s->listener, (struct sockaddr *)&at, &len) == 0 &&
           (s->port = ntohs(at.sin_port)) != 0;
}

/* ---- the host -------------------------------------------------------------------------------- */

typedef struct host {
    uv_loop_t loop;
    server server;
    mwl_vm *vm;
    mwl_io *io;
    mwl_io_policy *policy;
    mwl_program *program;
    mwl_run *run;
} host;

static mwl_program *assemble(int port) {
    char text[600];
    mwl_program *program = NULL;
    mwl_asm_result result;
    mwl_asm_options options = {.library = mwl_io_documents()};
    snprintf(
        text, sizeof text,
        "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\",\"steps\":{"
        "\"a\":{\"action\":\"Call\",\"call\":{\"provider\":\"mwl:provider.call/mwlvm/http/v1\","
        "\"with\":{\"url\":\"http://127.0.0.1:%d/\"}},\"next\":\"b\"},"
        "\"b\":{\"action\":\"Return\"}}}",
        port);
    if (mwl_assemble(text, strlen(text), &options, &result) == MWL_OK)
        mwl_program_load(NULL, result.image, result.image_size, MWL_COPY, &program, NULL);
    else
        fputs(result.diagnostics, stderr);
    mwl_asm_free(&result);
    return program;
}

static bool host_open(host *h) {
    memset(h, 0, sizeof *h);
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&h->loop);
    if (!server_open(&h->server, &h->loop) || mwl_io_policy_new(&h->policy) < 0) return false;
    mwl_io_policy_allow_all(h->policy);
    const mwl_io_options options = {.policy = h->policy};
    h->program = assemble(h->server.port);
    return h->program && mwl_vm_new(NULL, &h->vm) == MWL_OK &&
           mwl_std_add(h->vm, MWL_STD_ALL, NULL) == MWL_OK &&
           mwl_io_open(h->vm, &h->loop, &options, &h->io, NULL) == MWL_OK &&
           mwl_run_start(h->vm, h->program, NULL, &h->run, NULL) == MWL_OK;
}

static bool is_over(const host *h) { return mwl_run_get_state(h->run) >= MWL_RUN_DONE; }

/* One turn: the VM, and what is ready in the loop. */
static void turn(host *h) {
    mwl_vm_pump(h->vm, MWL_NO_BUDGET);
    uv_run(&h->loop, UV_RUN_NOWAIT);
}

static void on_closed(void *ctx) { *(bool *)ctx = true; }

static void close_io(host *h) {
    bool closed = false;
    mwl_io_close(h->io, on_closed, &closed);
    h->io = NULL;
    while (!closed) uv_run(&h->loop, UV_RUN_ONCE);
}

/* Returns whether nothing is left in the loop. */
static bool host_close(host *h) {
    if (h->io) close_io(h);
    mwl_run_free(h->run);
    mwl_vm_free(h->vm);
    mwl_program_release(h->program);
    mwl_io_policy_free(h->policy);
    uv_close((uv_handle_t *)&h->server.listener, NULL);
    while (uv_run(&h->loop, UV_RUN_DEFAULT)) continue; /* clients see that their connection ended */
    return h->server.n_open == 0 && uv_loop_close(&h->loop) == 0;
}

UTEST(host, a_request_with_a_redirect) {
    host h;
    ASSERT_TRUE(host_open(&h));
    for (uint64_t until = uv_hrtime() + 20000000000u; uv_hrtime() < until && !is_over(&h);)
        turn(&h);
    ASSERT_TRUE(mwl_run_succeeded(h.run));
    EXPECT_EQ(mwl_count(mwl_run_value(h.run)), 2u);
    EXPECT_EQ(mwl_io_pending(h.io), 0u);
    EXPECT_TRUE(host_close(&h));
}

/* ---- stopping after every turn --------------------------------------------------------------- */

static void cancel(host *h) { mwl_run_cancel(h->run, "test"); }
static void abort_run(host *h) { mwl_run_abort(h->run); }
static void free_run(host *h) {
    mwl_run_free(h->run);
    h->run = NULL;
}

/* So many turns; false if the run ended before. */
static bool reach(host *h, int turns) {
    for (int i = 0; i < turns && !is_over(h); i++) {
        mwl_vm_pump(h->vm, MWL_NO_BUDGET);
        uv_run(&h->loop, UV_RUN_NOWAIT);
        if (i >= 4) uv_sleep(1); /* the next piece */
    }
    return !is_over(h);
}

static void stop_everywhere(int *utest_result, void (*stop)(host *h)) {
    int turns = 0;
    for (bool going = true; going && turns < 60; turns++) {
        host h;
        ASSERT_TRUE(host_open(&h));
        going = reach(&h, turns);
        stop(&h);
        for (int i = 0; h.run && h.io && i < 100000 && !is_over(&h); i++) turn(&h);
        if (h.run && h.io) {
            EXPECT_TRUE(is_over(&h));
            EXPECT_EQ(mwl_io_pending(h.io), 0u);
        }
        EXPECT_TRUE(host_close(&h));
    }
    EXPECT_GT(turns, 8); /* connect, two requests, four pieces and more */
}

UTEST(host, cancelled_after_every_turn) { stop_everywhere(utest_result, cancel); }
UTEST(host, aborted_after_every_turn) { stop_everywhere(utest_result, abort_run); }
UTEST(host, freed_after_every_turn) { stop_everywhere(utest_result, free_run); }
UTEST(host, closed_after_every_turn) { stop_everywhere(utest_result, close_io); }

UTEST_MAIN()
