/* call_http.c: http: one request, with its redirects, on the loop.
 *
 * Owns: the order of things: what is allowed, reading TLS files on a pool thread, hop after hop,
 * the end, a cancellation at any moment. http.h lists the other files. */
#include "stdlib/io/http.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void empty_request(mwl__http_request *r) {
    if (r->easy) {
        mwl__http_remove_request(r);
        mwl__http_give_handle(r->loop, r->easy);
    }
    mwl__curl.slist_free_all(r->headers);
    for (int i = 0; i < TLS_FILES; i++) {
        free(r->tls_path[i]);
        mwl__bytes_free(&r->tls_text[i]);
    }
    mwl__bytes_free(&r->body);
    mwl__bytes_free(&r->reply);
    mwl__bytes_free(&r->reply_headers);
    free(r->url);
    free(r->shown);
    mwl__payer_close(&r->payer);
}

static void free_request(mwl__http_request *r) {
    empty_request(r);
    free(r);
}

/* The call has settled. The end of the last op may close the loop of http. */
static void end(mwl__http_request *r) {
    empty_request(r);
    mwl__io_op_end(&r->job.op);
    free(r);
}

/* ---- hops ------------------------------------------------------------------------------------ */

/* `--allow-http` allows public addresses, but it is the proxy that knows the address. */
static void refuse_proxied(const mwl__http_request *r, mwl_call *call) {
    char flag[300];
    mwl_heap *heap = mwl_call_heap(call);
    snprintf(flag, sizeof flag, "--allow-http=%s", r->host);
    mwl_value details =
        mwl__io_set(heap, mwl_object(heap, 1), "flag", mwl__io_text(heap, flag, strlen(flag)));
    mwl__io_fail(call, MWL__HTTP "NotPermitted", false, details,
                 "not allowed through a proxy, which may lead to a private address; %s would allow "
                 "it",
                 flag);
}

/* Starts the present hop. Returns false after it has settled the call. */
static bool start_hop(mwl__http_request *r) {
    mwl_call *call = r->job.op.call;
    free(r->shown);
    r->shown = mwl__http_shown(r->url);
    mwl__http_verdict verdict = r->shown ? mwl__http_target(r) : HTTP_NO_MEMORY;
    if (verdict == HTTP_BAD_URL) {
        mwl__io_fail(call, MWL__HTTP "InvalidRequest", false, mwl_absent(),
                     "'%s' is not a URL of http or https", r->shown);
        return false;
    }
    if (verdict == HTTP_PROXIED) {
        refuse_proxied(r, call);
        return false;
    }
    if (verdict == HTTP_NOT_ALLOWED) {
        mwl__io_refuse(call, "Provider.Call.Http", MWL_IO_HTTP, r->host);
        return false;
    }
    if (verdict == HTTP_OK && mwl__http_set_options(r, call) && mwl__http_add_request(r))
        return true;
    mwl_call_succeed(call, mwl_absent()); /* out of memory */
    return false;
}

static bool is_redirect(long status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Goes to the next hop. Returns false after it has settled the call. */
static bool follow(mwl__http_request *r, long status, const char *to) {
    char *next = strdup(to);
    if (!next) {
        mwl_call_succeed(r->job.op.call, mwl_absent());
        return false;
    }
    bool other = !mwl__http_same_origin(r->url, next);
    mwl__http_redirect(r, status, other);
    free(r->url);
    r->url = next;
    r->redirects--;
    r->hops++;
    r->reply.len = r->reply_headers.len = 0;
    r->error[0] = '\0';
    CURL *fresh = r->easy; /* the same handle, with nothing of the last hop */
    mwl__curl.easy_reset(fresh);
    return start_hop(r);
}

void mwl__http_hop_done(mwl__http_request *r, CURLcode code) {
    long status = 0;
    char *to = NULL;
    mwl__curl.easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
    mwl__curl.easy_getinfo(r->easy, CURLINFO_REDIRECT_URL, &to);
    if (code == CURLE_OK && is_redirect(status) && to && r->redirects > 0) {
        if (!follow(r, status, to)) end(r);
        return;
    }
    if (code == CURLE_OK && is_redirect(status) && to && r->hops > 0)
        mwl__io_fail(r->job.op.call, MWL__HTTP "TooManyRedirects", false, mwl_absent(),
                     "%s: more than %u redirects", r->shown, r->hops);
    else
        mwl__http_settle(r, code);
    end(r);
}

/* ---- TLS files ------------------------------------------------------------------------------- */

enum { TLS_FILE_MOST = 4 << 20 };

/* Reads a whole file. Returns 0 or an errno. */
static int read_file(const mwl_io *io, const char *path, mwl__bytes *out) {
    char piece[16384];
    int fd = mwl__io_file_open(io, MWL_IO_READ, path, O_RDONLY, 0);
    if (fd < 0) return -fd;
    int failed = 0;
    for (ssize_t n = 1; n > 0 && !failed;) {
        n = read(fd, piece, sizeof piece);
        if (n < 0)
            failed = errno;
        else if (out->len + (size_t)n > TLS_FILE_MOST)
            failed = EFBIG;
        else if (!mwl__bytes_add(out, piece, (size_t)n))
            failed = ENOMEM;
    }
    close(fd);
    return failed;
}

static void read_files(mwl__io_job *job) {
    mwl__http_request *r = (mwl__http_request *)job;
    for (int i = 0; i < TLS_FILES && r->tls_failed < 0; i++) {
        if (!r->tls_path[i]) continue;
        r->tls_errno = read_file(job->op.io, r->tls_path[i], &r->tls_text[i]);
        if (r->tls_errno) r->tls_failed = i;
    }
}

static void stop(mwl__io_op *op) {
    mwl__http_request *r = (mwl__http_request *)op;
    mwl__http_remove_request(r);
    mwl_call_fail(op->call, NULL, MWL__HTTP "ConnectionFailed", "stopped", mwl_absent());
    end(r);
}

/* Puts the request on the loop; nothing blocks from here on. */
static void begin(mwl__http_request *r, mwl_io *io, mwl_call *call) {
    mwl__io_op_begin(&r->job.op, io, call, stop);
    if (!start_hop(r)) end(r);
}

static void files_read(mwl__io_job *job) {
    mwl__http_request *r = (mwl__http_request *)job;
    mwl_call *call = job->op.call;
    const char *path = r->tls_failed >= 0 ? r->tls_path[r->tls_failed] : NULL;
    if (!atomic_load(&job->stop) && !path) {
        r->payer.call = call;
        mwl_call_leave(call);
        begin(r, job->op.io, call);
        return;
    }
    if (path && (r->tls_errno == EPERM || r->tls_errno == EXDEV))
        mwl__io_refuse(call, "Provider.Call.Http", MWL_IO_READ, path);
    else
        mwl__io_fail(call, MWL__HTTP "TlsFailed", false, mwl_absent(), "%s: %s",
                     path ? path : "stopped", strerror(r->tls_errno));
    free_request(r);
}

/* ---- the provider ---------------------------------------------------------------------------- */

static bool has_tls_path(const mwl__http_request *r) {
    for (int i = 0; i < TLS_FILES; i++)
        if (r->tls_path[i]) return true;
    return false;
}

static void http_start(mwl_call *call, void *user) {
    mwl_io *io = user;
    const char *missing = mwl__curl_load();
    if (missing) {
        mwl__io_fail(call, MWL__HTTP "Unavailable", false, mwl_absent(), "%s", missing);
        return;
    }
    mwl__http_loop *loop = mwl__http_loop_of(io);
    mwl__http_request *r = loop ? calloc(1, sizeof *r) : NULL;
    if (r) r->easy = mwl__http_take_handle(loop);
    if (!r || !r->easy) {
        free(r);
        mwl__io_exceed(call);
        return;
    }
    r->loop = loop;
    for (size_t i = 0; i < TLS_FILES; i++) r->tls_text[i].payer = &r->payer;
    r->body.payer = r->reply.payer = r->reply_headers.payer = &r->payer;
    if (!mwl__payer_open(&r->payer, call)) {
        mwl__io_exceed(call);
        free_request(r);
    } else if (!mwl__http_prepare(r, call)) {
        free_request(r);
    } else if (has_tls_path(r)) {
        mwl__payer_pool(&r->payer);
        r->job.work = read_files;
        r->job.done = files_read;
        mwl__io_job_start(&r->job, io, call);
    } else {
        begin(r, io, call);
    }
}

const mwl_call_provider mwl__io_call_http = {MWL__IO_CALL(http, "http"), .start = http_start,
                                             .cancel = mwl__io_op_cancel};
const mwl__io_life mwl__io_call_http_life = {mwl__http_loop_close};
