/* http.h: what the files of the provider http share: one request from its arguments to its Result.
 *
 *   call_http.c      the provider: start, cancel, redirects, the end
 *   http_request.c   from arguments to a request
 *   http_key.c       the idempotency key of a request
 *   http_target.c    where a request may go: URLs, the policy, addresses, proxies
 *   http_loop.c      libcurl's multi interface on the loop
 *   http_reply.c     from a response to a value, metadata or a failure */
#ifndef MWL_IO_HTTP_H
#define MWL_IO_HTTP_H

#include "stdlib/io/codec.h"
#include "stdlib/io/curl.h"
#include "stdlib/io/io.h"

#define MWL__HTTP "Provider.Call.Http."

typedef enum mwl__http_tls_file { TLS_CA, TLS_CERT, TLS_KEY, TLS_FILES } mwl__http_tls_file;

typedef struct mwl__http_loop mwl__http_loop;

typedef struct mwl__http_request {
    mwl__io_job job; /* reads the TLS files; its op is that of the whole call */
    mwl__http_loop *loop;
    mwl__payer payer; /* of all texts */
    CURL *easy;
    bool added; /* to the multi handle */

    /* the request */
    char method[33]; /* the schema allows 32 characters */
    char *url;       /* of the present hop */
    char *shown;     /* the same without a name and a password, for people */
    mwl__bytes body;
    bool has_body;
    struct curl_slist *headers;
    long redirects; /* that may still follow */
    unsigned hops;
    size_t max_bytes;
    bool idempotent; /* sending it twice does what sending it once does */

    /* where it goes */
    bool named, proxied;  /* the policy names this host; a proxy connects to it */
    bool private_address; /* a connection was refused for that */
    char host[256];

    /* TLS */
    char *tls_path[TLS_FILES]; /* a path, or NULL */
    mwl__bytes tls_text[TLS_FILES];
    int tls_failed, tls_errno; /* which file could not be read, and why */

    /* the response */
    mwl__bytes reply, reply_headers;
    bool too_large, no_memory;
    char error[CURL_ERROR_SIZE];
} mwl__http_request;

/* ---- http_request.c */

/* Makes the request from the arguments and the input of the call. Returns false after it has
 * settled the call. */
bool mwl__http_prepare(mwl__http_request *r, mwl_call *call);
/* Prepares the handle for the present hop. Returns false if out of memory. */
bool mwl__http_set_options(mwl__http_request *r, mwl_call *call);
/* Changes the request as a redirect with this status asks. */
void mwl__http_redirect(mwl__http_request *r, long status, bool other_origin);

/* Adds a header. Returns NULL, or what is wrong. */
const char *mwl__http_add_header(mwl__http_request *r, const char *name, size_t n,
                                 const char *value, size_t len);
/* Returns whether the line is that header. */
bool mwl__http_is_header(const char *line, const char *name);

/* ---- http_key.c */

/* Adds the header Idempotency-Key that the parameter asks for, if it does. The request is complete
 * but for that. Returns NULL, or what is wrong. */
const char *mwl__http_add_key(mwl__http_request *r, mwl_call *call, mwl_value wanted);

/* ---- http_target.c */

/* Why a request may not go to its URL. */
typedef enum mwl__http_verdict {
    HTTP_OK,
    HTTP_BAD_URL,
    HTTP_NOT_ALLOWED, /* r->host is "host:port" for the flag */
    HTTP_PROXIED,     /* the same: a proxy resolves the name, so the policy must name the host */
    HTTP_NO_MEMORY
} mwl__http_verdict;
/* Checks the URL of the present hop against the policy, and sets named, proxied and host. */
mwl__http_verdict mwl__http_target(mwl__http_request *r);
/* Returns the URL without a name and a password in it; given, NULL if out of memory. */
char *mwl__http_shown(const char *url);
/* Returns whether the two URLs have the same scheme, host and port. */
bool mwl__http_same_origin(const char *a, const char *b);
/* The proxy of the environment for a URL, or "" for none. */
const char *mwl__http_proxy(const char *scheme, const char *host);
/* CURLOPT_OPENSOCKETFUNCTION: refuses addresses of this machine and of private networks. */
curl_socket_t mwl__http_open_socket(void *request, curlsocktype purpose,
                                    struct curl_sockaddr *address);

/* ---- http_loop.c */

/* Of this mwl_io; made when it is first needed. NULL if out of memory. */
mwl__http_loop *mwl__http_loop_of(mwl_io *io);
void mwl__http_loop_close(mwl_io *io, void *state);
/* A handle of the pool, or NULL; given back after use. */
CURL *mwl__http_take_handle(mwl__http_loop *loop);
void mwl__http_give_handle(mwl__http_loop *loop, CURL *easy);
bool mwl__http_add_request(mwl__http_request *r);
void mwl__http_remove_request(mwl__http_request *r);

/* ---- http_reply.c */

/* Settles the call with the response. */
void mwl__http_settle(mwl__http_request *r, CURLcode code);
/* The value of a header of the last response, or NULL; *len is its length. */
const char *mwl__http_header(const mwl__http_request *r, const char *name, size_t *len);

/* ---- call_http.c */

/* Called by the loop when the present hop has ended. */
void mwl__http_hop_done(mwl__http_request *r, CURLcode code);

#endif
