/* http.h: an HTTP server on the loop of the command: requests come whole, answers may come later,
 * streams go on for as long as the client listens. http_mhd.c alone sees libmicrohttpd.
 *
 * Owns: connections, their limits and times. Refuses to know: what is asked. Everything happens on
 * the thread of the loop. */
#ifndef MWL_TOOLS_SERVE_HTTP_H
#define MWL_TOOLS_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

enum { HTTP_SEGMENTS = 8, HTTP_PARAMETERS = 12 };

/* One request, until it is answered and the client has the answer. */
struct http_request {
    void *user; /* for the function that handles it */
    /* what is asked */
    char *uri;    /* split in place: `segments` and `parameters` point into it, decoded */
    char *method; /* "GET" */
    const char *segments[HTTP_SEGMENTS];
    size_t n_segments; /* of the path; SIZE_MAX: too many, or not valid */
    bool not_text;     /* the path, the query or a header is not UTF-8 */
    struct http_parameter {
        const char *name, *value;
    } parameters[HTTP_PARAMETERS];
    size_t n_parameters;
    char *authorization, *accept, *key, *last_event; /* headers; or NULL */
    char *body;                                      /* with a NUL behind its end */
    size_t len;
    bool trusted; /* by the unix socket, which only its owner can open */
    /* the answer: filled before http_answer */
    unsigned status;
    const char *type;       /* Content-Type; constant */
    const char *header[2];  /* one more header: name and value; constant; or NULL */
    char *out;              /* malloc: taken over */
    const char *out_static; /* or this */
    size_t out_len;
    /* of http_mhd.c */
    struct http *http;
    void *connection;
    struct http_connection *on;
    struct listener *listener;
    size_t room, wanted, held;
    bool too_long, begun, complete, ready, refused, suspended, gone;
    struct http_stream *stream;
    struct http_request *next, *prev;
};

/* Returns the value of a parameter of the query; NULL: there is none. */
const char *http_parameter(const struct http_request *r, const char *name);

struct http_handler {
    void *ctx;
    /* The headers are there. False: it is refused, and the answer is filled in; the body is not
     * read. *most: how long the body may be. */
    bool (*begin)(void *ctx, struct http_request *r, size_t *most);
    /* All of it is there. It is answered now or later, by http_answer or http_stream_begin. */
    void (*complete)(void *ctx, struct http_request *r);
    /* It is over; `user` can be freed, and the request must not be used any more. */
    void (*over)(void *ctx, struct http_request *r);
};

struct http_options {
    const char *listen;    /* HOST:PORT, [HOST]:PORT; NULL: none */
    const char *unix_path; /* or NULL */
    unsigned connections;  /* at most */
    unsigned idle_s;       /* a connection without a whole request is closed after so long */
};

/* Starts to listen. False after a message. *out is given in any case. */
bool http_open(struct http **out, uv_loop_t *loop, const struct http_options *options,
               const struct http_handler *handler);
/* "http://127.0.0.1:7441", as it listens; "" without. */
const char *http_url(const struct http *h);
size_t http_connections(const struct http *h);
/* Answers what is open with 503, and closes. The loop is run for it. NULL is ignored. */
void http_close(struct http *h);

/* Sends the answer. */
void http_answer(struct http_request *r);

/* The answer is a stream: of type r->type. */
void http_stream_begin(struct http_request *r);
/* False: the client is too slow, and the stream is ended. */
bool http_stream_put(struct http_request *r, const char *text, size_t len);
void http_stream_end(struct http_request *r);

#endif
