/* http_mhd.c: see http.h. libmicrohttpd has no thread here: its epoll descriptor is polled by the
 * loop, and a timer follows its timeouts.
 *
 * A request whose answer is not there yet is suspended; http_answer resumes it. Clients that are
 * slow on purpose are closed by a sweep: the library's own timeout counts from the last byte, and a
 * byte now and then would keep a connection for ever. */
#include "tools/serve/http.h"

#include "tools/base/cmd.h"
#include "tools/serve/mhd_lib.h"
#include "vm/base/utf8.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    BACKLOG = 4096,
    POOL = 16 * 1024, /* of a connection: the request line and the headers fit */
    RESERVE = 64,     /* connections beyond the limit, which are told so */
    OWNER = 1000,     /* connections by the unix socket: they are counted apart */
    OWNER_LEAST = 64, /* where few files may be open */
    SWEEP_MS = 500,
    SEND_TIMES = 2, /* as long as for a request: an answer is fetched within this time */
    FILES = 200,    /* for everything else */
    STREAM_MOST = 1 << 20,
    STREAMS = 64 << 20,     /* what all listeners together have not fetched */
    STREAM_KEPT = 16 << 10, /* room that a listener keeps when it has fetched everything */
    BODIES = 256 << 20,     /* of all requests together */
    ANSWERS = 256 << 20,    /* that clients have not fetched, together */
    DROP =
        8 << 20 /* a body that is so much too long is read to its end: then the client reads why */
};
#define SECOND INT64_C(1000000000)
#define FRAMING                                                                                       \
    "{\"status\":400,\"title\":\"the end of the body is said twice: send one Content-Length, and no " \
    "Transfer-Encoding with it\"}"
#define TOO_LONG "{\"status\":413,\"title\":\"the body is too long\"}"

struct http_stream {
    char *data;
    size_t at, len, cap;
    bool ended;
};

struct http_connection {
    struct listener *listener;
    int fd;
    int64_t since;                /* nothing whole has come; or its answer is on its way */
    struct http_request *request; /* or NULL */
    bool cut;                     /* it is closed as soon as the library sees it */
    struct http_connection *next, *prev;
};

struct listener {
    struct http *http;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    uv_timer_t timer;
    size_t n_connections, n_cut, limit; /* n_cut: of them */
    bool polled, trusted;
};

struct http {
    const struct mhd_lib *lib;
    struct http_handler handler;
    uv_loop_t *loop;
    uv_timer_t sweep;
    struct listener listeners[2];               /* TCP, unix */
    struct http_connection *connections, *last; /* the oldest first */
    struct http_request *requests;
    size_t bodies, answers, streamed; /* bytes of the requests that are there */
    int64_t idle_ns;
    int open_handles;
    bool swept, closing;
    char url[120], *unix_path;
};

static int64_t now_ns(void) { return (int64_t)uv_hrtime(); }

/* ---- the text of a request ------------------------------------------------------------------- */

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_text(const char *s) { return !s || mwl__utf8_valid(s, strlen(s), NULL); }

/* In place. False: a wrong escape, or a NUL. */
static bool decode(struct http_request *r, char *s, bool plus) {
    char *out = s, *begin = s;
    for (; *s; s++) {
        char c = plus && *s == '+' ? ' ' : *s;
        if (c == '%') {
            int high = digit(s[1]), low = high < 0 ? -1 : digit(s[2]);
            if (low < 0 || (high | low) == 0) return false;
            c = (char)(high << 4 | low);
            s += 2;
        }
        *out++ = c;
    }
    *out = '\0';
    r->not_text |= !is_text(begin);
    return true;
}

static bool split_query(struct http_request *r, char *query) {
    for (char *item = query, *next; item && *item; item = next) {
        next = strchr(item, '&');
        if (next) *next++ = '\0';
        char *equals = strchr(item, '=');
        if (equals) *equals++ = '\0';
        if (r->n_parameters == HTTP_PARAMETERS) return false;
        if (!decode(r, item, true) || (equals && !decode(r, equals, true))) return false;
        r->parameters[r->n_parameters++] =
            (struct http_parameter){item, equals ? equals : item + strlen(item)};
    }
    return true;
}

/* A path that does not begin with a slash may have been cut at a NUL before it came here. */
static bool split_path(struct http_request *r, char *path) {
    if (*path != '/') return false;
    char *at = path + 1;
    while (at && (*at || r->n_segments)) {
        char *slash = strchr(at, '/');
        if (slash) *slash++ = '\0';
        if (r->n_segments == HTTP_SEGMENTS || !decode(r, at, false)) return false;
        r->segments[r->n_segments++] = at;
        at = slash;
    }
    return true;
}

static void split(struct http_request *r) {
    char *query = strchr(r->uri, '?');
    if (query) *query++ = '\0';
    if ((query && !split_query(r, query)) || !split_path(r, r->uri)) r->n_segments = SIZE_MAX;
}

const char *http_parameter(const struct http_request *r, const char *name) {
    for (size_t i = 0; i < r->n_parameters; i++)
        if (strcmp(r->parameters[i].name, name) == 0) return r->parameters[i].value;
    return NULL;
}

/* ---- connections ----------------------------------------------------------------------------- */

static void append(struct http *h, struct http_connection *c) {
    c->next = NULL;
    c->prev = h->last;
    if (h->last)
        h->last->next = c;
    else
        h->connections = c;
    h->last = c;
}

static void unlink_connection(struct http *h, struct http_connection *c) {
    if (c->prev)
        c->prev->next = c->next;
    else
        h->connections = c->next;
    if (c->next)
        c->next->prev = c->prev;
    else
        h->last = c->prev;
}

/* The library finds it closed and cleans up. */
static void cut(struct http_connection *c) {
    if (c->cut) return;
    c->cut = true;
    c->listener->n_cut++;
    shutdown(c->fd, SHUT_RDWR);
}

/* Whether the server waits for the client: for the rest of its request, or until it has fetched its
 * answer. A stream that has nothing to send waits for the server. */
static bool is_waited_for(const struct http_connection *c) {
    const struct http_request *r = c->request;
    if (!r || !r->complete) return true;
    return r->ready && !(r->stream && r->stream->at == r->stream->len);
}

static bool is_whole(const struct http_connection *c) { return c->request && c->request->complete; }

/* With too many connections the oldest that has sent no whole request is closed, wherever its
 * request stopped; if there is none, the oldest that does not fetch its answer. */
static void make_room(struct http *h, const struct listener *l) {
    struct http_connection *found = NULL;
    for (struct http_connection *c = h->connections; c; c = c->next) {
        if (c->listener != l || c->cut || !is_waited_for(c)) continue;
        if (!found) found = c;
        if (is_whole(c)) continue;
        found = c;
        break;
    }
    if (found) cut(found);
}

static bool is_full(const struct listener *l) { return l->n_connections - l->n_cut > l->limit; }

static void on_connection(void *ctx, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code) {
    struct listener *l = ctx;
    struct http *h = l->http;
    struct http_connection *c = *socket_context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (!c) return;
        unlink_connection(h, c);
        l->n_connections--;
        l->n_cut -= c->cut;
        free(c);
        return;
    }
    c = calloc(1, sizeof *c);
    *socket_context = c;
    if (!c) return;
    c->listener = l;
    c->fd = h->lib->get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    c->since = now_ns();
    l->n_connections++;
    if (is_full(l)) make_room(h, l);
    append(h, c);
}

/* A stream is slow if there is something to send, and nothing was fetched for that long. */
static bool is_slow(const struct http *h, const struct http_connection *c, int64_t now) {
    return is_waited_for(c) && now - c->since > (is_whole(c) ? SEND_TIMES : 1) * h->idle_ns;
}

static void on_sweep(uv_timer_t *timer) {
    struct http *h = timer->data;
    int64_t now = now_ns();
    for (struct http_connection *c = h->connections; c; c = c->next)
        if (is_slow(h, c, now)) cut(c);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void drop_stream(struct http_request *r) {
    struct http_stream *s = r->stream;
    if (!s) return;
    r->http->streamed -= s->cap;
    free(s->data);
    s->data = NULL;
    s->at = s->len = s->cap = 0;
}

static ssize_t read_stream(void *ctx, uint64_t pos, char *buf, size_t max) {
    struct http_request *r = ctx;
    struct http_stream *s = r->stream;
    (void)pos;
    size_t n = s->len - s->at < max ? s->len - s->at : max;
    if (n) {
        memcpy(buf, s->data + s->at, n);
        s->at += n;
        if (s->at == s->len) {
            s->at = s->len = 0;
            if (s->cap > STREAM_KEPT) drop_stream(r);
        }
        if (r->on) r->on->since = now_ns();
        return (ssize_t)n;
    }
    if (s->ended) return MHD_CONTENT_READER_END_OF_STREAM;
    r->suspended = true;
    r->http->lib->suspend_connection(r->connection);
    return 0;
}

static void add_headers(const struct http *h, struct MHD_Response *response,
                        const struct http_request *r) {
    static const char *const always[][2] = {
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cache-Control", "no-store"},
    };
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        h->lib->add_response_header(response, always[i][0], always[i][1]);
    if (r->type) h->lib->add_response_header(response, "Content-Type", r->type);
    if (r->header[0]) h->lib->add_response_header(response, r->header[0], r->header[1]);
    if (r->refused) h->lib->add_response_header(response, "Connection", "close");
}

/* Clients that do not fetch their answers do not fill the memory. */
static void hold(struct http *h, struct http_request *r) {
    if (r->stream || r->out_static) return;
    if (r->out_len <= ANSWERS - h->answers) {
        h->answers += r->held = r->out_len;
        return;
    }
    free(r->out);
    r->out = NULL;
    r->status = 503;
    r->type = "application/problem+json";
    r->header[0] = "Retry-After";
    r->header[1] = "1";
    r->out_static = "{\"status\":503,\"title\":\"too many answers are not fetched\"}";
    r->out_len = strlen(r->out_static);
}

static enum MHD_Result send_answer(struct http_request *r) {
    struct http *h = r->http;
    struct MHD_Response *response;
    hold(h, r);
    if (r->on) r->on->since = now_ns();
    if (r->stream)
        response =
            h->lib->create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_stream, r, NULL);
    else if (r->out_static)
        response = h->lib->create_response_from_buffer(r->out_len, (void *)(uintptr_t)r->out_static,
                                                       MHD_RESPMEM_PERSISTENT);
    else
        response = h->lib->create_response_from_buffer(r->out_len, r->out, MHD_RESPMEM_MUST_FREE);
    if (!response) return MHD_NO;
    if (!r->stream) r->out = NULL;
    add_headers(h, response, r);
    enum MHD_Result result = h->lib->queue_response(r->connection, r->status, response);
    h->lib->destroy_response(response);
    return result;
}

static void on_timeout(uv_timer_t *timer);

/* A suspended connection goes on in the next round of its daemon. */
static void resume(struct http_request *r) {
    if (!r->suspended) return;
    r->suspended = false;
    r->http->lib->resume_connection(r->connection);
    uv_timer_start(&r->listener->timer, on_timeout, 0, 0);
}

void http_answer(struct http_request *r) {
    r->ready = true;
    resume(r);
}

void http_stream_begin(struct http_request *r) {
    r->stream = calloc(1, sizeof *r->stream);
    if (!r->stream) {
        r->status = 503;
        r->out_static = "";
    }
    http_answer(r);
}

/* A listener that is too far behind is closed; it can come again with Last-Event-ID. */
static void cut_stream(struct http_request *r) {
    drop_stream(r);
    http_stream_end(r);
    if (r->on) cut(r->on); /* it would never fetch the end of the stream */
}

/* All listeners share one pool: the one that is behind the most gives its part back. */
static void make_stream_room(struct http *h, size_t more) {
    while (h->streamed + more > STREAMS) {
        struct http_request *slowest = NULL;
        for (struct http_request *r = h->requests; r; r = r->next)
            if (r->stream && r->stream->cap &&
                (!slowest ||
                 r->stream->len - r->stream->at > slowest->stream->len - slowest->stream->at))
                slowest = r;
        if (!slowest) return;
        cut_stream(slowest);
    }
}

bool http_stream_put(struct http_request *r, const char *text, size_t len) {
    struct http_stream *s = r->stream;
    if (!s || s->ended) return false;
    if (s->len - s->at + len > STREAM_MOST) {
        cut_stream(r);
        return false;
    }
    if (s->at == s->len && r->on) r->on->since = now_ns();
    if (s->cap - s->len < len) {
        if (s->at) memmove(s->data, s->data + s->at, s->len - s->at);
        s->len -= s->at;
        s->at = 0;
        size_t cap = s->cap ? s->cap : 4096;
        while (cap - s->len < len) cap *= 2;
        make_stream_room(r->http, cap - s->cap);
        if (s->ended) return false; /* it was the slowest itself */
        char *grown = realloc(s->data, cap);
        if (!grown) {
            http_stream_end(r);
            return false;
        }
        r->http->streamed += cap - s->cap;
        s->data = grown;
        s->cap = cap;
    }
    memcpy(s->data + s->len, text, len);
    s->len += len;
    resume(r);
    return true;
}

void http_stream_end(struct http_request *r) {
    if (r->stream) r->stream->ended = true;
    resume(r);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void *on_uri(void *ctx, const char *uri, struct MHD_Connection *connection) {
    struct listener *l = ctx;
    struct http_request *r = calloc(1, sizeof *r);
    if (!r || !(r->uri = strdup(uri))) {
        free(r);
        return NULL;
    }
    r->http = l->http;
    r->trusted = l->trusted;
    r->listener = l;
    r->connection = connection;
    const union MHD_ConnectionInfo *info =
        l->http->lib->get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    r->on = info ? info->socket_context : NULL;
    if (r->on) {
        r->on->request = r;
        r->on->since = now_ns();
    }
    r->next = l->http->requests;
    if (r->next) r->next->prev = r;
    l->http->requests = r;
    split(r);
    return r;
}

static void on_over(void *ctx, struct MHD_Connection *connection, void **con_cls,
                    enum MHD_RequestTerminationCode code) {
    struct http_request *r = *con_cls;
    (void)ctx, (void)connection, (void)code;
    if (!r) return;
    struct http *h = r->http;
    if (r->begun) h->handler.over(h->handler.ctx, r);
    h->bodies -= r->room;
    h->answers -= r->held;
    if (r->prev)
        r->prev->next = r->next;
    else
        h->requests = r->next;
    if (r->next) r->next->prev = r->prev;
    if (r->on) {
        r->on->request = NULL;
        r->on->since = now_ns();
    }
    drop_stream(r);
    free(r->stream);
    free(r->uri);
    free(r->method);
    free(r->authorization);
    free(r->accept);
    free(r->key);
    free(r->last_event);
    free(r->body);
    free(r->out);
    free(r);
    *con_cls = NULL;
}

static enum MHD_Result refuse(struct http_request *r, unsigned status, const char *detail) {
    r->status = status;
    r->type = "application/problem+json";
    r->out_static = detail;
    r->out_len = strlen(detail);
    r->ready = r->refused = true;
    return send_answer(r);
}

static char *header(const struct http_request *r, const char *name) {
    const char *value = r->http->lib->lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
    return value ? strdup(value) : NULL;
}

static enum MHD_Result count_length(void *ctx, enum MHD_ValueKind kind, const char *name,
                                    const char *value) {
    (void)kind, (void)value;
    if (strcasecmp(name, "Content-Length") == 0 || strcasecmp(name, "Transfer-Encoding") == 0)
        ++*(size_t *)ctx;
    return MHD_YES;
}

/* A body has one end. A proxy before the server might read the other header, and take the rest for
 * another client's request. */
static bool is_framed(const struct http_request *r) {
    size_t n = 0;
    r->http->lib->get_connection_values(r->connection, MHD_HEADER_KIND, count_length, &n);
    return n <= 1;
}

/* How long the body is; SIZE_MAX: it is not said. */
static size_t body_length(const struct http_request *r) {
    const struct mhd_lib *lib = r->http->lib;
    const char *length =
        lib->lookup_connection_value(r->connection, MHD_HEADER_KIND, "Content-Length");
    if (length) return (size_t)strtoull(length, NULL, 10);
    return lib->lookup_connection_value(r->connection, MHD_HEADER_KIND, "Transfer-Encoding")
               ? SIZE_MAX
               : 0;
}

static enum MHD_Result begin(struct http_request *r, const char *method) {
    struct http *h = r->http;
    size_t most = 0;
    r->method = strdup(method);
    r->authorization = header(r, "Authorization");
    r->accept = header(r, "Accept");
    r->key = header(r, "Idempotency-Key");
    r->last_event = header(r, "Last-Event-ID");
    r->begun = true;
    r->not_text |= !is_text(r->key) || !is_text(r->accept) || !is_text(r->last_event);
    if (!r->method) return MHD_NO;
    if (!is_framed(r)) return refuse(r, 400, FRAMING);
    if (is_full(r->listener) || h->closing)
        return refuse(r, 503, "{\"status\":503,\"title\":\"too many connections\"}");
    if (!h->handler.begin(h->handler.ctx, r, &most)) {
        r->ready = r->refused = true;
        return send_answer(r);
    }
    r->wanted = body_length(r);
    if (r->wanted == SIZE_MAX)
        return refuse(r, 411,
                      "{\"status\":411,\"title\":\"the length of the body is not known: "
                      "send Content-Length\"}");
    r->too_long = r->wanted > most;
    if (r->wanted > most + DROP) return refuse(r, 413, TOO_LONG);
    r->room = r->too_long ? 0 : r->wanted;
    if (r->room > BODIES - h->bodies) {
        r->room = 0;
        r->header[0] = "Retry-After";
        r->header[1] = "1";
        return refuse(r, 503, "{\"status\":503,\"title\":\"too many requests at once\"}");
    }
    h->bodies += r->room;
    r->body = malloc(r->room + 1);
    return r->body ? MHD_YES : MHD_NO;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **con_cls) {
    struct http_request *r = *con_cls;
    (void)ctx, (void)connection, (void)url, (void)version;
    if (!r) return MHD_NO;
    if (!r->begun) return begin(r, method);
    if (*size && r->too_long) {
        *size = 0;
        return MHD_YES;
    }
    if (*size) {
        size_t room = r->wanted - r->len;
        size_t n = *size < room ? *size : room;
        memcpy(r->body + r->len, data, n);
        r->len += n;
        *size = 0;
        return MHD_YES;
    }
    if (r->too_long && !r->ready) return refuse(r, 413, TOO_LONG);
    if (!r->complete) {
        r->complete = true;
        r->body[r->len] = '\0';
        r->http->handler.complete(r->http->handler.ctx, r);
    }
    if (r->ready) return send_answer(r);
    r->suspended = true;
    r->http->lib->suspend_connection(r->connection);
    return MHD_YES;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void serve(struct listener *l) {
    const struct mhd_lib *lib = l->http->lib;
    MHD_UNSIGNED_LONG_LONG ms = 0;
    lib->run(l->daemon);
    if (lib->get_timeout(l->daemon, &ms) == MHD_YES)
        uv_timer_start(&l->timer, on_timeout, ms, 0);
    else
        uv_timer_stop(&l->timer);
}

static void on_ready(uv_poll_t *poll, int status, int events) {
    (void)status, (void)events;
    serve(poll->data);
}
static void on_timeout(uv_timer_t *timer) { serve(timer->data); }

/* Percent signs are decoded after the path was split. */
static size_t keep_escapes(void *ctx, struct MHD_Connection *c, char *s) {
    (void)ctx, (void)c;
    return strlen(s);
}

static bool start(struct http *h, struct listener *l, int fd) {
    l->http = h;
    l->daemon = h->lib->start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, l,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, on_over, l,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, l, MHD_OPTION_URI_LOG_CALLBACK, on_uri, l,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)POOL, MHD_OPTION_CONNECTION_LIMIT, (unsigned)(l->limit + RESERVE),
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (!l->daemon) {
        close(fd);
        cmd_fail("the server cannot start");
        return false;
    }
    int epoll = h->lib->get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    l->polled = uv_poll_init(h->loop, &l->poll, epoll) == 0;
    uv_timer_init(h->loop, &l->timer);
    l->poll.data = l->timer.data = l;
    if (l->polled) uv_poll_start(&l->poll, UV_READABLE, on_ready);
    return l->polled;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static int listen_tcp(struct http *h, const char *word) {
    char host[256], name[100];
    const char *colon = strrchr(word, ':');
    size_t len = colon ? (size_t)(colon - word) : 0;
    if (!colon || len >= sizeof host) {
        cmd_usage("--listen needs HOST:PORT, not '%s'", word);
        return -1;
    }
    bool brackets = len > 2 && word[0] == '[' && word[len - 1] == ']';
    snprintf(host, sizeof host, "%.*s", (int)(brackets ? len - 2 : len), word + brackets);
    struct addrinfo how = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int bad = getaddrinfo(host, colon + 1, &how, &found);
    if (bad) {
        cmd_usage("--listen %s: %s", word, gai_strerror(bad));
        return -1;
    }
    int on = 1, fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool good =
        fd >= 0 && bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0;
    freeaddrinfo(found);
    struct sockaddr_storage own;
    socklen_t size = sizeof own;
    char port[20];
    if (!good || getsockname(fd, (struct sockaddr *)&own, &size) != 0 ||
        getnameinfo((struct sockaddr *)&own, size, name, sizeof name, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        cmd_fail("%s: %s", word, strerror(errno));
        if (fd >= 0) close(fd);
        return -1;
    }
    snprintf(h->url, sizeof h->url, strchr(name, ':') ? "http://[%s]:%s" : "http://%s:%s", name,
             port);
    return fd;
}

/* A socket of that name that no process listens to is left from a process that was killed. */
static bool is_stale(const struct sockaddr_un *address) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool stale = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                 errno == ECONNREFUSED;
    if (fd >= 0) close(fd);
    return stale;
}

static int listen_unix(struct http *h, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len >= sizeof address.sun_path) {
        cmd_fail("%s: the name of a unix socket has at most %zu bytes", path,
                 sizeof address.sun_path - 1);
        return -1;
    }
    memcpy(address.sun_path, path, len + 1);
    if (is_stale(&address)) (void)unlink(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    mode_t old = umask(0177); /* no other user may open it, from the beginning */
    bool good = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                listen(fd, BACKLOG) == 0;
    umask(old);
    h->unix_path = good ? strdup(path) : NULL;
    if (good && h->unix_path) return fd;
    cmd_fail("%s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* As many files as the system allows, and limits that those are enough for. */
static void raise_files(struct http *h, size_t wanted) {
    struct rlimit files;
    h->listeners[0].limit = wanted;
    h->listeners[1].limit = OWNER;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    rlim_t others = 2 * RESERVE + FILES, need = wanted + OWNER + others;
    if (files.rlim_cur < need) {
        files.rlim_cur =
            files.rlim_max == RLIM_INFINITY || files.rlim_max > need ? need : files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    if (files.rlim_cur >= need) return;
    h->listeners[1].limit = OWNER_LEAST;
    others += OWNER_LEAST;
    size_t most = files.rlim_cur > others + 8 ? files.rlim_cur - others : 8;
    if (most >= wanted) return;
    h->listeners[0].limit = most;
    cmd_note("%zu connections at most: only %llu open files are allowed (ulimit -n)", most,
             (unsigned long long)files.rlim_cur);
}

bool http_open(struct http **out, uv_loop_t *loop, const struct http_options *o,
               const struct http_handler *handler) {
    const char *why = NULL;
    struct http *h = calloc(1, sizeof *h);
    *out = h;
    if (!h) return cmd_no_memory(), false;
    h->lib = mhd_lib_load(&why);
    if (!h->lib) return cmd_fail("%s", why), false;
    h->handler = *handler;
    h->loop = loop;
    raise_files(h, o->connections);
    h->idle_ns = o->idle_s * SECOND;
    h->listeners[1].trusted = true;
    if (o->listen) {
        int fd = listen_tcp(h, o->listen);
        if (fd < 0 || !start(h, &h->listeners[0], fd)) return false;
    }
    if (o->unix_path) {
        int fd = listen_unix(h, o->unix_path);
        if (fd < 0 || !start(h, &h->listeners[1], fd)) return false;
    }
    uv_timer_init(loop, &h->sweep);
    h->sweep.data = h;
    h->swept = true;
    uv_timer_start(&h->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
    return true;
}

const char *http_url(const struct http *h) { return h->url; }
size_t http_connections(const struct http *h) {
    return h->listeners[0].n_connections + h->listeners[1].n_connections;
}

static void on_closed(uv_handle_t *handle) { --*(int *)handle->data; }

static void close_handle(uv_handle_t *handle, int *open) {
    ++*open;
    handle->data = open;
    uv_close(handle, on_closed);
}

/* Answers every request that waits: the server stops. */
static void answer_all(struct http *h) {
    h->closing = true;
    for (struct http_request *r = h->requests; r; r = r->next) {
        if (r->stream) {
            http_stream_end(r);
        } else if (!r->ready && r->complete) {
            r->status = 503;
            r->out_static = "{\"status\":503,\"title\":\"the server stops\"}";
            r->out_len = strlen(r->out_static);
            r->type = "application/problem+json";
            http_answer(r);
        }
    }
    for (int i = 0; i < 2; i++)
        for (int round = 0; h->listeners[i].daemon && round < 4; round++)
            h->lib->run(h->listeners[i].daemon);
}

void http_close(struct http *h) {
    int open = 0;
    if (!h) return;
    answer_all(h);
    for (int i = 0; i < 2; i++) {
        struct listener *l = &h->listeners[i];
        if (!l->daemon) continue;
        if (l->polled) {
            uv_poll_stop(&l->poll);
            close_handle((uv_handle_t *)&l->poll, &open);
        }
        close_handle((uv_handle_t *)&l->timer, &open);
        h->lib->stop_daemon(l->daemon);
    }
    if (h->swept) close_handle((uv_handle_t *)&h->sweep, &open);
    while (open) uv_run(h->loop, UV_RUN_NOWAIT);
    if (h->unix_path) (void)unlink(h->unix_path);
    free(h->unix_path);
    free(h);
}
