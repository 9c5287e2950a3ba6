/* multi.c URL COUNT CONCURRENCY: the same requests by libcurl's multi interface alone, on libuv:
 * what http of stdlib/io is compared with. Each response is read into memory, as the provider does;
 * nothing is decoded. */
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static uv_loop_t *loop;
static uv_timer_t timer;
static CURLM *multi;
static const char *url;
static long left, done, bad;

typedef struct body {
    char *text;
    size_t len;
} body;

static size_t on_body(char *data, size_t one, size_t len, void *user) {
    body *b = user;
    (void)one;
    b->text = realloc(b->text, b->len + len + 1);
    memcpy(b->text + b->len, data, len);
    b->len += len;
    return len;
}

static void start(CURL *easy) {
    body *b = calloc(1, sizeof *b);
    left--;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, b);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, b);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_multi_add_handle(multi, easy);
}

static void finish(void) {
    CURLMsg *m;
    int n;
    while ((m = curl_multi_info_read(multi, &n))) {
        CURL *easy = m->easy_handle;
        long status = 0;
        body *b;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &b);
        if (m->data.result != CURLE_OK || status != 200 || b->len == 0) bad++;
        done++;
        free(b->text);
        free(b);
        curl_multi_remove_handle(multi, easy);
        if (left > 0) {
            curl_easy_reset(easy);
            start(easy);
        } else {
            curl_easy_cleanup(easy);
        }
    }
}

static void on_socket(uv_poll_t *poll, int status, int events) {
    int running, flags = status < 0 ? CURL_CSELECT_ERR : 0;
    if (events & UV_READABLE) flags |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE) flags |= CURL_CSELECT_OUT;
    curl_multi_socket_action(multi, *(curl_socket_t *)(poll + 1), flags, &running);
    finish();
}

static void on_closed(uv_handle_t *handle) { free(handle); }

static int watch(CURL *easy, curl_socket_t socket, int what, void *user, void *old) {
    uv_poll_t *poll = old;
    (void)easy, (void)user;
    if (what == CURL_POLL_REMOVE) {
        if (!poll) return 0;
        uv_poll_stop(poll);
        uv_close((uv_handle_t *)poll, on_closed);
        curl_multi_assign(multi, socket, NULL);
        return 0;
    }
    if (!poll) {
        poll = malloc(sizeof *poll + sizeof socket);
        uv_poll_init_socket(loop, poll, socket);
        *(curl_socket_t *)(poll + 1) = socket;
        curl_multi_assign(multi, socket, poll);
    }
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    return uv_poll_start(poll, events, on_socket);
}

static void on_timer(uv_timer_t *t) {
    int running;
    (void)t;
    curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    finish();
}

static int set_timer(CURLM *m, long ms, void *user) {
    (void)m, (void)user;
    if (ms < 0) return uv_timer_stop(&timer);
    return uv_timer_start(&timer, on_timer, (uint64_t)ms, 0);
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    url = argv[1];
    left = atol(argv[2]);
    long count = left, together = atol(argv[3]);
    loop = uv_default_loop();
    uv_timer_init(loop, &timer);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
    for (long i = 0; i < together && left > 0; i++) start(curl_easy_init());
    while (done < count) uv_run(loop, UV_RUN_ONCE);
    curl_multi_cleanup(multi);
    return bad ? 1 : 0;
}
