/* rpc.c: see rpc.h. */
#include "tools/base/rpc.h"

#include "assembler/source/diag.h"
#include "vm/value/value.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum { HEADER_MAX = 4096, CHUNK = 65536 };

void rpc_init(struct rpc *r, int in, FILE *out) {
    memset(r, 0, sizeof *r);
    r->in = in;
    r->out = out;
    r->buf = mwl__buf_make(mwl_alloc_default());
}

void rpc_free(struct rpc *r) { mwl__buf_free(&r->buf); }

/* Removes what is done, and gives back memory that one large message needed. */
static void forget(struct rpc *r) {
    if (!r->at) return;
    if (r->at < r->buf.len) memmove(r->buf.data, r->buf.data + r->at, r->buf.len - r->at);
    r->buf.len -= r->at;
    r->at = 0;
    if (!r->buf.len && r->buf.cap > (size_t)16 * CHUNK) mwl__buf_free(&r->buf);
}

/* Reads more bytes. Returns false at the end of the input, and if memory runs out. */
static bool more(struct rpc *r) {
    if (!mwl__buf_reserve(&r->buf, CHUNK)) return false;
    ssize_t n;
    do n = read(r->in, r->buf.data + r->buf.len, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n <= 0) return false;
    r->buf.len += (size_t)n;
    return true;
}

static enum rpc_got broken(struct rpc *r, const char *why) {
    snprintf(r->why, sizeof r->why, "%s", why);
    return RPC_BROKEN;
}

/* Returns where the header ends, behind its empty line; 0 if that has not arrived. */
static size_t header_end(const struct rpc *r) {
    for (size_t i = r->at; i + 3 < r->buf.len; i++)
        if (memcmp(r->buf.data + i, "\r\n\r\n", 4) == 0) return i + 4;
    return 0;
}

/* Finds Content-Length. Returns false if the header does not have a valid one. */
static bool read_length(const char *line, const char *end, size_t *out) {
    static const char name[] = "content-length:";
    while (line < end) {
        const char *stop = memchr(line, '\r', (size_t)(end - line));
        if (!stop) return false;
        if ((size_t)(stop - line) > sizeof name - 1 &&
            strncasecmp(line, name, sizeof name - 1) == 0) {
            const char *p = line + sizeof name - 1;
            size_t n = 0;
            while (p < stop && *p == ' ') p++;
            if (p == stop) return false;
            for (; p < stop && isdigit((unsigned char)*p); p++)
                if ((n = n * 10 + (size_t)(*p - '0')) > RPC_MESSAGE_MAX) return false;
            *out = n;
            return p == stop;
        }
        line = stop + 2;
    }
    return false;
}

enum rpc_got rpc_read(struct rpc *r, const char **body, size_t *len) {
    size_t from;
    forget(r);
    while (!(from = header_end(r))) {
        if (r->buf.len - r->at > HEADER_MAX)
            return broken(r, "the header of a message is too long");
        if (more(r)) continue;
        if (r->buf.failed) return broken(r, "out of memory");
        return r->buf.len == r->at ? RPC_END : broken(r, "the input ends inside a message");
    }
    if (!read_length(r->buf.data + r->at, r->buf.data + from, len))
        return broken(r, "a header has no Content-Length, or one that is too large");
    while (r->buf.len - from < *len)
        if (!more(r))
            return broken(r, r->buf.failed ? "out of memory" : "the input ends inside a message");
    *body = r->buf.data + from;
    r->at = from + *len;
    return RPC_MESSAGE;
}

bool rpc_idle(struct rpc *r) {
    struct pollfd fd = {r->in, POLLIN, 0};
    return r->at >= r->buf.len && poll(&fd, 1, 0) == 0;
}

bool rpc_send(struct rpc *r, const char *body, size_t len) {
    fprintf(r->out, "Content-Length: %zu\r\n\r\n", len);
    fwrite(body, 1, len, r->out);
    return fflush(r->out) == 0 && !ferror(r->out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void rpc_put_text(mwl__buf *out, const char *text, size_t len) {
    mwl__buf_putc(out, '"');
    mwl__json_escape(out, text, len);
    mwl__buf_putc(out, '"');
}

void rpc_put_string(mwl__buf *out, const char *text) { rpc_put_text(out, text, strlen(text)); }

void rpc_put_member(mwl__buf *out, const char *name, const char *text) {
    if (out->len && out->data[out->len - 1] != '{') mwl__buf_putc(out, ',');
    mwl__buf_printf(out, "\"%s\":", name);
    rpc_put_string(out, text);
}

void rpc_put_value(mwl__buf *out, mwl_heap *heap, mwl_value v) {
    char *text = NULL;
    size_t len = 0;
    if (mwl_is_absent(v) || mwl_json_write(heap, v, MWL_JSON_COMPACT, &text, &len) != MWL_OK) {
        mwl__buf_puts(out, "null");
        return;
    }
    mwl__buf_put(out, text, len);
    mwl_text_free(heap, text, len);
}

mwl_value rpc_get(mwl_value v, const char *name) {
    return mwl_value_kind(v) == MWL_KIND_OBJECT ? mwl_get(v, name) : mwl_absent();
}

const char *rpc_get_text(mwl_value v, const char *name, size_t *len) {
    mwl_value m = rpc_get(v, name);
    if (len) *len = 0;
    return mwl_value_kind(m) == MWL_KIND_STRING ? mwl_as_text(m, len) : NULL;
}

uint32_t rpc_get_number(mwl_value v, const char *name, uint32_t otherwise) {
    mwl_value m = rpc_get(v, name);
    if (mwl_value_kind(m) != MWL_KIND_NUMBER || !(mwl_as_number(m) >= 0)) return otherwise;
    return mwl_as_number(m) >= 4294967295.0 ? UINT32_MAX : (uint32_t)mwl_as_number(m);
}
