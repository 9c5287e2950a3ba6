/* http_reply.c: from a response to a value, metadata or a failure. */
#include "stdlib/io/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { BODY_SHOWN = 64 << 10 /* bytes of a body in the details of a failure */ };

/* ---- headers --------------------------------------------------------------------------------- */

/* The next line of the headers: its name and its value. Returns false at the end. */
static bool next_header(const char **at, const char *end, const char **name, size_t *n,
                        const char **value, size_t *len) {
    while (*at < end) {
        const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));
        *at = stop ? stop + 1 : end;
        if (!stop) stop = end;
        const char *colon = memchr(line, ':', (size_t)(stop - line));
        if (!colon) continue;
        *name = line;
        *n = (size_t)(colon - line);
        *value = colon + 1;
        while (*value < stop && (**value == ' ' || **value == '\t')) ++*value;
        while (stop > *value && strchr("\r\n\t ", stop[-1])) stop--;
        *len = (size_t)(stop - *value);
        return true;
    }
    return false;
}

const char *mwl__http_header(const mwl__http_request *r, const char *wanted, size_t *len) {
    const char *at = r->reply_headers.data, *end = at ? at + r->reply_headers.len : at;
    const char *name, *value;
    size_t n;
    while (next_header(&at, end, &name, &n, &value, len))
        if (n == strlen(wanted) && strncasecmp(name, wanted, n) == 0) return value;
    *len = 0;
    return NULL;
}

/* Names in lower case; the values of a name that comes twice are joined by ", ". */
static mwl_value header_object(mwl_heap *heap, const mwl__http_request *r) {
    const char *at = r->reply_headers.data, *end = at ? at + r->reply_headers.len : at;
    const char *name, *value;
    size_t n, len, old_len;
    char lower[128];
    mwl__payer payer = {.heap = heap};
    mwl_value out = mwl_object(heap, 8);
    while (next_header(&at, end, &name, &n, &value, &len)) {
        if (n == 0 || n >= sizeof lower) continue;
        for (size_t i = 0; i < n; i++)
            lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 32 : name[i]);
        lower[n] = '\0';
        const char *old = mwl_as_text(mwl_object_get(out, lower, n), &old_len);
        mwl__bytes joined = {.payer = &payer};
        if (old && mwl__bytes_add(&joined, old, old_len) && mwl__bytes_add(&joined, ", ", 2) &&
            mwl__bytes_add(&joined, value, len))
            out = mwl__io_set(heap, out, lower, mwl__io_text(heap, joined.data, joined.len));
        else
            out = mwl__io_set(heap, out, lower, mwl__io_text(heap, value, len));
        mwl__bytes_free(&joined);
    }
    return out;
}

/* ---- Retry-After ----------------------------------------------------------------------------- */

/* The header as an ISO 8601 duration; null if there is none that can be read. */
static mwl_value retry_after(mwl_heap *heap, mwl_io *io, const mwl__http_request *r) {
    size_t len;
    char text[64], out[32];
    const char *value = mwl__http_header(r, "Retry-After", &len);
    if (!value || len == 0 || len >= sizeof text) return mwl_null();
    memcpy(text, value, len);
    text[len] = '\0';
    int64_t seconds;
    if (strspn(text, "0123456789") == len) {
        seconds = len > 9 ? 999999999 : strtoll(text, NULL, 10);
    } else {
        /* one of the three forms of RFC 9110; all have a time */
        int64_t at = strchr(text, ':') ? mwl__curl.getdate(text, NULL) : -1;
        if (at < 0) return mwl_null();
        mwl_instant now;
        mwl_vm_now(mwl__io_vm(io), &now);
        int64_t left_ns = at * 1000000000 - now.wall_ns;
        seconds = left_ns <= 0 ? 0 : (left_ns - 1) / 1000000000 + 1;
    }
    int n = snprintf(out, sizeof out, "PT%lldS", (long long)seconds);
    return mwl_string(heap, out, (size_t)n);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Bytes of ISO 8859-1 as UTF-8. */
static mwl_value latin1(mwl_heap *heap, const char *data, size_t len) {
    mwl__payer payer = {.heap = heap};
    mwl__bytes out = {.payer = &payer};
    bool good = mwl__bytes_add(&out, "", 0);
    for (size_t i = 0; good && i < len; i++) {
        unsigned char c = (unsigned char)data[i];
        char two[2] = {(char)(0xc0 | c >> 6), (char)(0x80 | (c & 63))};
        good = c < 0x80 ? mwl__bytes_add(&out, data + i, 1) : mwl__bytes_add(&out, two, 2);
    }
    mwl_value text = good ? mwl_string(heap, out.data, out.len) : mwl_absent();
    mwl__bytes_free(&out);
    return text;
}

static bool charset_is_latin1(const mwl__http_request *r) {
    size_t len;
    char type[200];
    const char *value = mwl__http_header(r, "Content-Type", &len);
    if (!value || len >= sizeof type) return false;
    memcpy(type, value, len);
    type[len] = '\0';
    const char *charset = strcasestr(type, "charset=");
    return charset && strncasecmp(charset + 8 + (charset[8] == '"'), "iso-8859-1", 10) == 0;
}

static mwl_value text_of(mwl_heap *heap, const mwl__http_request *r) {
    const char *data = r->reply.data ? r->reply.data : "";
    return charset_is_latin1(r) ? latin1(heap, data, r->reply.len)
                                : mwl_string(heap, data, r->reply.len);
}

static mwl_value lines_of(mwl_heap *heap, mwl_value take_text) {
    size_t len;
    const char *text = mwl_as_text(take_text, &len), *end = text + len;
    if (!text) return mwl_absent();
    mwl_value out = mwl_array(heap, 16);
    for (const char *p = text; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p)), *next = stop ? stop + 1 : end;
        if (!stop) stop = end;
        if (stop > p && stop[-1] == '\r') stop--;
        out = mwl_array_push(heap, out, mwl_string(heap, p, (size_t)(stop - p)));
        p = next;
    }
    mwl_value_drop(heap, take_text);
    return out;
}

/* Returns the form of the body, by its content type. */
static const char *default_form(const mwl__http_request *r) {
    size_t len;
    const char *type = mwl__http_header(r, "Content-Type", &len);
    size_t n = 0;
    while (type && n < len && type[n] != ';' && type[n] != ' ') n++;
    if (n == 16 && strncasecmp(type, "application/json", n) == 0) return "json";
    if (n > 5 && strncasecmp(type + n - 5, "+json", 5) == 0) return "json";
    if (n > 5 && strncasecmp(type, "text/", 5) == 0) return "text";
    if (n > 4 && strncasecmp(type + n - 4, "/xml", 4) == 0) return "text";
    if (n > 4 && strncasecmp(type + n - 4, "+xml", 4) == 0) return "text";
    if (n == 20 && strncasecmp(type, "application/x-ndjson", n) == 0) return "lines";
    return r->reply.len ? "base64" : "text";
}

/* The value of the body, or absent with the reason in *why. */
static mwl_value decode(mwl_heap *heap, const mwl__http_request *r, const char *as,
                        const char **why) {
    mwl_value out = mwl_absent();
    if (!as) as = default_form(r);
    if (strcmp(as, "base64") == 0) {
        char none[MWL__WHY];
        return mwl__decode(heap, MWL__FORM_BASE64, r->reply.data, r->reply.len, NULL, none);
    }
    if (strcmp(as, "json") != 0) {
        *why = "the body is not UTF-8 text";
        out = text_of(heap, r);
        return strcmp(as, "lines") == 0 ? lines_of(heap, out) : out;
    }
    if (r->reply.len == 0) return mwl_null(); /* 204, HEAD */
    mwl_error error = {MWL_OK, NULL, 0};
    *why = "the body is not JSON";
    if (mwl_json_parse(heap, r->reply.data, r->reply.len, &out, &error) != MWL_OK)
        return mwl_absent();
    return out;
}

/* The body in the details of a failure: as far as it can be shown. */
static mwl_value body_shown(mwl_heap *heap, mwl__http_request *r) {
    mwl_error error;
    mwl_value out = mwl_absent();
    if (r->reply.len == 0) return mwl_null();
    if (r->reply.len > BODY_SHOWN)
        return mwl__io_text(heap, r->reply.data,
                            mwl__io_cut(r->job.op.io, r->reply.data, r->reply.len, BODY_SHOWN));
    if (strcmp(default_form(r), "json") == 0 &&
        mwl_json_parse(heap, r->reply.data, r->reply.len, &out, &error) == MWL_OK)
        return out;
    return mwl__io_text(heap, r->reply.data, r->reply.len);
}

/* ---- metadata -------------------------------------------------------------------------------- */

static long status_of(const mwl__http_request *r) {
    long status = 0;
    mwl__curl.easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* Milliseconds from the beginning of the last hop to each event. */
static mwl_value timings(mwl_heap *heap, const mwl__http_request *r) {
    static const struct {
        const char *name;
        CURLINFO info;
    } all[] = {{"dns", CURLINFO_NAMELOOKUP_TIME_T},
               {"connect", CURLINFO_CONNECT_TIME_T},
               {"tls", CURLINFO_APPCONNECT_TIME_T},
               {"firstByte", CURLINFO_STARTTRANSFER_TIME_T},
               {"total", CURLINFO_TOTAL_TIME_T}};
    mwl_value out = mwl_object(heap, 5);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        curl_off_t us = 0;
        mwl__curl.easy_getinfo(r->easy, all[i].info, &us);
        out = mwl__io_set(heap, out, all[i].name, mwl_number((double)us / 1000));
    }
    return out;
}

static const char *version_of(const mwl__http_request *r) {
    long version = 0;
    mwl__curl.easy_getinfo(r->easy, CURLINFO_HTTP_VERSION, &version);
    return version == CURL_HTTP_VERSION_2_0   ? "2"
           : version == CURL_HTTP_VERSION_1_0 ? "1.0"
           : version == CURL_HTTP_VERSION_3   ? "3"
                                              : "1.1";
}

static mwl_value metadata(mwl_heap *heap, const mwl__http_request *r) {
    const char *version = version_of(r);
    mwl_value out =
        mwl__io_set(heap, mwl_object(heap, 6), "status", mwl_number((double)status_of(r)));
    out = mwl__io_set(heap, out, "headers", header_object(heap, r));
    out = mwl__io_set(heap, out, "url", mwl__io_text(heap, r->shown, strlen(r->shown)));
    out = mwl__io_set(heap, out, "version", mwl_string(heap, version, strlen(version)));
    out = mwl__io_set(heap, out, "redirects", mwl_number(r->hops));
    return mwl__io_set(heap, out, "timings", timings(heap, r));
}

/* ---- failures -------------------------------------------------------------------------------- */

/* {status, headers, body, retryAfter} of a response. */
static mwl_value details(mwl_heap *heap, mwl__http_request *r) {
    mwl_value out =
        mwl__io_set(heap, mwl_object(heap, 4), "status", mwl_number((double)status_of(r)));
    out = mwl__io_set(heap, out, "headers", header_object(heap, r));
    out = mwl__io_set(heap, out, "body", body_shown(heap, r));
    return mwl__io_set(heap, out, "retryAfter", retry_after(heap, r->job.op.io, r));
}

/* Whether the same request may well have another answer later, and does no harm if the server has
 * acted on the first one. */
static bool status_retryable(const mwl__http_request *r, long status) {
    if (status == 408 || status == 425 || status == 429 || status == 503) return true;
    return r->idempotent && (status == 500 || status == 502 || status == 504);
}

static bool is_tls_code(CURLcode code) {
    return code == CURLE_SSL_CONNECT_ERROR || code == CURLE_PEER_FAILED_VERIFICATION ||
           code == CURLE_SSL_CERTPROBLEM || code == CURLE_SSL_CIPHER ||
           code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_ISSUER_ERROR ||
           code == CURLE_SSL_CRL_BADFILE || code == CURLE_SSL_INVALIDCERTSTATUS ||
           code == CURLE_SSL_ENGINE_NOTFOUND;
}

/* Whether the server may have got the request. If not, trying again is safe for every method. */
static bool was_sent(const mwl__http_request *r) {
    long bytes = 0;
    mwl__curl.easy_getinfo(r->easy, CURLINFO_REQUEST_SIZE, &bytes);
    return bytes > 0;
}

static bool is_request_code(CURLcode code) {
    return code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL ||
           code == CURLE_BAD_FUNCTION_ARGUMENT;
}

static void fail_transport(mwl__http_request *r, CURLcode code) {
    mwl_call *call = r->job.op.call;
    mwl_heap *heap = mwl_call_heap(call);
    const char *why = r->error[0] ? r->error : mwl__curl.easy_strerror(code);
    if (is_tls_code(code)) {
        mwl__io_fail(call, MWL__HTTP "TlsFailed", false, mwl_absent(), "%s: %s", r->host, why);
    } else if (is_request_code(code)) {
        mwl__io_fail(call, MWL__HTTP "InvalidRequest", false, mwl_absent(), "%s", why);
    } else if (code == CURLE_BAD_CONTENT_ENCODING) {
        mwl__io_fail(call, MWL__HTTP "DecodeFailed", false, details(heap, r), "%s", why);
    } else {
        bool sent = was_sent(r);
        mwl_value about = status_of(r) ? details(heap, r) : mwl_object(heap, 1);
        about = mwl__io_set(heap, about, "sent", mwl_bool(sent));
        mwl__io_fail(call, MWL__HTTP "ConnectionFailed", !sent || r->idempotent, about, "%s: %s",
                     r->host, why);
    }
}

static void fail_status(mwl__http_request *r, long status) {
    mwl_call *call = r->job.op.call;
    bool throttled = status == 429;
    mwl__io_fail(call, throttled ? MWL__HTTP "Throttled" : MWL__HTTP "NonSuccessStatus",
                 status_retryable(r, status), details(mwl_call_heap(call), r), "%s %s: status %ld",
                 r->method, r->shown, status);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void succeed(mwl__http_request *r) {
    mwl_call *call = r->job.op.call;
    mwl_heap *heap = mwl_call_heap(call);
    const char *why = NULL;
    (void)mwl_call_charge(call, r->reply.len / 8);
    mwl_value v = decode(heap, r, mwl__io_arg_text(mwl_call_arguments(call), "as", NULL), &why);
    mwl_status reason = mwl_is_absent(v) ? mwl_heap_why(heap) : MWL_OK;
    bool undecodable = mwl_is_absent(v) && why && reason != MWL_E_NOMEM && reason != MWL_E_TOO_BIG;
    if (undecodable)
        mwl__io_fail(call, MWL__HTTP "DecodeFailed", false, details(heap, r), "%s %s: %s",
                     r->method, r->shown, why);
    else
        mwl_call_succeed(call, v);
}

void mwl__http_settle(mwl__http_request *r, CURLcode code) {
    mwl_call *call = r->job.op.call;
    mwl_heap *heap = mwl_call_heap(call);
    long status = status_of(r);
    mwl_call_enter(call);
    if (r->private_address && code != CURLE_OK) {
        mwl__io_refuse(call, "Provider.Call.Http", MWL_IO_HTTP, r->host);
        return;
    }
    if (status) mwl_call_set_metadata(call, metadata(heap, r));
    if (r->no_memory)
        mwl__io_exceed(call);
    else if (r->too_large)
        mwl__io_fail(call, MWL__HTTP "TooLarge", false, details(heap, r),
                     "%s %s: the body has more than %zu bytes", r->method, r->shown, r->max_bytes);
    else if (code != CURLE_OK)
        fail_transport(r, code);
    else if (status < 200 || status > 299)
        fail_status(r, status);
    else
        succeed(r);
}
