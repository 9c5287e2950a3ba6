/* http_request.c: from the arguments of a call to a request. */
#include "stdlib/io/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { MAX_BYTES = 16 << 20, CONNECT_S = 30, REDIRECTS = 5 };

/* ---- texts ----------------------------------------------------------------------------------- */

static bool add_escaped(mwl__bytes *t, const char *text, size_t len) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
                     (c && strchr("-._~", c));
        char three[3] = {'%', digits[c >> 4], digits[c & 15]};
        if (!mwl__bytes_add(t, plain ? (const void *)&text[i] : three, plain ? 1 : 3)) return false;
    }
    return true;
}

/* ---- pairs: query and form ------------------------------------------------------------------- */

/* "name=value" for a scalar; null is left out. Returns false if out of memory. */
static bool add_pair(mwl__bytes *t, mwl_heap *heap, mwl_value key, mwl_value v) {
    size_t n, len;
    const char *name = mwl_as_text(key, &n);
    if (mwl_value_kind(v) == MWL_KIND_NULL) return true;
    mwl_value text =
        mwl_value_kind(v) == MWL_KIND_STRING ? mwl_value_keep(v) : mwl_value_text(heap, v);
    const char *value = mwl_as_text(text, &len);
    bool good = value && (t->len == 0 || mwl__bytes_add(t, "&", 1)) && add_escaped(t, name, n) &&
                mwl__bytes_add(t, "=", 1) && add_escaped(t, value, len);
    mwl_value_drop(heap, text);
    return good;
}

/* An array gives one pair for each element. */
static bool add_pairs(mwl__bytes *t, mwl_heap *heap, mwl_value object) {
    mwl_value key, value;
    bool good = true;
    for (size_t i = 0; good && mwl_object_at(object, i, &key, &value); i++) {
        if (mwl_value_kind(value) != MWL_KIND_ARRAY) {
            good = add_pair(t, heap, key, value);
            continue;
        }
        for (size_t k = 0; good && k < mwl_count(value); k++)
            good = add_pair(t, heap, key, mwl_array_at(value, k));
    }
    return good;
}

/* The URL with the query before its fragment. */
static char *make_url(mwl__payer *payer, mwl_heap *heap, const char *url, mwl_value query) {
    mwl__bytes pairs = {.payer = payer}, out = {.payer = payer};
    size_t end = strcspn(url, "#");
    bool good = mwl_is_absent(query) || add_pairs(&pairs, heap, query);
    good = good && mwl__bytes_add(&out, url, end);
    if (good && pairs.len) {
        const char *join = !memchr(url, '?', end) ? "?" : url[end - 1] == '?' ? "" : "&";
        good =
            mwl__bytes_add(&out, join, strlen(join)) && mwl__bytes_add(&out, pairs.data, pairs.len);
    }
    mwl__bytes_free(&pairs);
    if (!good) mwl__bytes_free(&out);
    return out.data;
}

/* ---- headers --------------------------------------------------------------------------------- */

/* Returns whether the text can be the name of a header (RFC 9110, token). */
static bool is_token(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c)) return false;
    }
    return len > 0;
}

bool mwl__http_is_header(const char *line, const char *name) {
    size_t n = strlen(name);
    return strncasecmp(line, name, n) == 0 && (line[n] == ':' || line[n] == ';');
}

static bool has_header(const mwl__http_request *r, const char *name) {
    for (const struct curl_slist *h = r->headers; h; h = h->next)
        if (mwl__http_is_header(h->data, name)) return true;
    return false;
}

const char *mwl__http_add_header(mwl__http_request *r, const char *name, size_t n,
                                 const char *value, size_t len) {
    if (!is_token(name, n)) return "a name of a header is not valid";
    for (size_t i = 0; i < len; i++)
        if (value[i] == '\r' || value[i] == '\n' || value[i] == '\0')
            return "a header has a line break or a NUL";
    mwl__bytes line = {.payer = &r->payer};
    /* libcurl: "Name;" is a header without a value, "Name:" removes one */
    bool good = mwl__bytes_add(&line, name, n) &&
                mwl__bytes_add(&line, len ? ": " : ";", len ? 2 : 1) &&
                mwl__bytes_add(&line, value, len);
    good = good && mwl_purse_take(r->payer.purse, line.len); /* for the copy */
    struct curl_slist *grown = good ? mwl__curl.slist_append(r->headers, line.data) : NULL;
    mwl__bytes_free(&line);
    if (!grown) return "out of memory";
    r->headers = grown;
    return NULL;
}

static const char *add_headers(mwl__http_request *r, mwl_value headers) {
    mwl_value key, value;
    const char *wrong = NULL;
    for (size_t i = 0; !wrong && mwl_object_at(headers, i, &key, &value); i++) {
        size_t n, len, count = mwl_value_kind(value) == MWL_KIND_ARRAY ? mwl_count(value) : 1;
        const char *name = mwl_as_text(key, &n);
        for (size_t k = 0; !wrong && k < count; k++) {
            mwl_value one =
                mwl_value_kind(value) == MWL_KIND_ARRAY ? mwl_array_at(value, k) : value;
            const char *text = mwl_as_text(one, &len);
            wrong = mwl__http_add_header(r, name, n, text, len);
        }
    }
    return wrong;
}

static const char *add_default(mwl__http_request *r, const char *name, const char *value) {
    return has_header(r, name) ? NULL
                               : mwl__http_add_header(r, name, strlen(name), value, strlen(value));
}

/* ---- the body -------------------------------------------------------------------------------- */

/* spec of the document: `form`, `body`, or the input for a method that has a body. */
static const char *make_body(mwl__http_request *r, mwl_call *call) {
    mwl_value args = mwl_call_arguments(call), form = mwl_get(args, "form");
    mwl_value body = mwl_get(args, "body");
    mwl_heap *heap = mwl_call_heap(call);
    if (!mwl_is_absent(form) && !mwl_is_absent(body)) return "`form` and `body` exclude each other";
    bool carries = strcmp(r->method, "POST") == 0 || strcmp(r->method, "PUT") == 0 ||
                   strcmp(r->method, "PATCH") == 0;
    if (mwl_is_absent(form) && mwl_is_absent(body) && carries) {
        body = mwl_call_input(call);
        if (mwl_value_kind(body) == MWL_KIND_NULL) return NULL;
    }
    if (!mwl_is_absent(form)) {
        r->has_body = true;
        if (!mwl__bytes_add(&r->body, "", 0) || !add_pairs(&r->body, heap, form))
            return "out of memory";
        return add_default(r, "Content-Type", "application/x-www-form-urlencoded");
    }
    if (mwl_is_absent(body)) return NULL;
    r->has_body = true;
    if (mwl_value_kind(body) == MWL_KIND_STRING && !mwl_is_absent(mwl_get(args, "body"))) {
        size_t len;
        const char *text = mwl_as_text(body, &len);
        if (!mwl__bytes_add(&r->body, text, len)) return "out of memory";
        return add_default(r, "Content-Type", "text/plain; charset=utf-8");
    }
    if (mwl_json_write_to(heap, body, MWL_JSON_COMPACT, mwl__bytes_sink, &r->body) != MWL_OK)
        return "out of memory";
    return add_default(r, "Content-Type", "application/json");
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const char *take_tls(mwl__http_request *r, mwl_value tls) {
    static const char *const names[TLS_FILES] = {"ca", "cert", "key"};
    for (int i = 0; i < TLS_FILES; i++) {
        const char *text = mwl__io_arg_text(tls, names[i], NULL);
        if (!text) continue;
        if (mwl__io_has_nul(mwl_get(tls, names[i]))) return "a path in tls has a NUL";
        if (strncmp(text, "-----BEGIN ", 11) == 0) {
            if (!mwl__bytes_add(&r->tls_text[i], text, strlen(text))) return "out of memory";
        } else if (!(r->tls_path[i] = strdup(text))) {
            return "out of memory";
        }
    }
    return NULL;
}

static const char *take_arguments(mwl__http_request *r, mwl_call *call) {
    mwl_value args = mwl_call_arguments(call);
    bool sends = !mwl_is_absent(mwl_get(args, "body")) || !mwl_is_absent(mwl_get(args, "form"));
    const char *method = mwl__io_arg_text(args, "method", sends ? "POST" : "GET");
    snprintf(r->method, sizeof r->method, "%s", method);
    r->url = make_url(&r->payer, mwl_call_heap(call), mwl__io_arg_text(args, "url", ""),
                      mwl_get(args, "query"));
    if (!r->url) return "out of memory";
    if (!is_token(method, strlen(method))) return "the method is not valid";
    r->idempotent = strcmp(method, "POST") != 0 && strcmp(method, "PATCH") != 0;
    r->redirects = (long)mwl__io_arg_number(args, "redirects", REDIRECTS);
    r->max_bytes = (size_t)mwl__io_arg_number(args, "maxBytes", MAX_BYTES);
    r->tls_failed = -1;
    static const char *const texts[] = {"method", "url"};
    for (size_t i = 0; i < 2; i++)
        if (mwl__io_has_nul(mwl_get(args, texts[i]))) return "the url or the method has a NUL";
    const char *wrong = add_headers(r, mwl_get(args, "headers"));
    if (!wrong) wrong = make_body(r, call);
    if (!wrong) wrong = mwl__http_add_key(r, call, mwl_get(args, "idempotencyKey"));
    if (!wrong) wrong = add_default(r, "User-Agent", "mwlvm/" MWL_VERSION);
    if (!wrong) wrong = add_default(r, "Accept", "*/*");
    return wrong ? wrong : take_tls(r, mwl_get(args, "tls"));
}

bool mwl__http_prepare(mwl__http_request *r, mwl_call *call) {
    const char *wrong = take_arguments(r, call);
    if (wrong) mwl__io_fail(call, MWL__HTTP "InvalidRequest", false, mwl_absent(), "%s", wrong);
    return !wrong;
}

/* ---- the handle ------------------------------------------------------------------------------ */

static size_t on_body(char *data, size_t one, size_t len, void *user) {
    mwl__http_request *r = user;
    (void)one;
    r->too_large = len > r->max_bytes - r->reply.len;
    if (r->too_large) return 0;
    if (mwl__bytes_add(&r->reply, data, len)) return len;
    r->no_memory = true;
    return 0;
}

/* The headers of the last response; those of "100 Continue" and of a proxy are forgotten. */
static size_t on_header(char *data, size_t one, size_t len, void *user) {
    mwl__http_request *r = user;
    (void)one;
    if (len >= 5 && memcmp(data, "HTTP/", 5) == 0) r->reply_headers.len = 0;
    if (mwl__bytes_add(&r->reply_headers, data, len)) return len;
    r->no_memory = true;
    return 0;
}

static void set_tls(mwl__http_request *r, mwl_value tls) {
    static const CURLoption options[TLS_FILES] = {CURLOPT_CAINFO_BLOB, CURLOPT_SSLCERT_BLOB,
                                                  CURLOPT_SSLKEY_BLOB};
    for (int i = 0; i < TLS_FILES; i++) {
        struct curl_blob blob = {r->tls_text[i].data, r->tls_text[i].len, CURL_BLOB_NOCOPY};
        if (blob.data) mwl__curl.easy_setopt(r->easy, options[i], &blob);
    }
    bool verify = mwl__io_arg_bool(tls, "verify", true);
    mwl__curl.easy_setopt(r->easy, CURLOPT_SSL_VERIFYPEER, verify ? 1L : 0L);
    mwl__curl.easy_setopt(r->easy, CURLOPT_SSL_VERIFYHOST, verify ? 2L : 0L);
}

static void set_method(mwl__http_request *r) {
    CURL *e = r->easy;
    if (r->has_body) {
        mwl__curl.easy_setopt(e, CURLOPT_POSTFIELDS, r->body.data);
        mwl__curl.easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
    } else if (strcmp(r->method, "HEAD") == 0) {
        mwl__curl.easy_setopt(e, CURLOPT_NOBODY, 1L);
    } else if (strcmp(r->method, "POST") == 0) {
        mwl__curl.easy_setopt(e, CURLOPT_POSTFIELDS, "");
        mwl__curl.easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
    } else {
        mwl__curl.easy_setopt(e, CURLOPT_HTTPGET, 1L);
    }
    mwl__curl.easy_setopt(e, CURLOPT_CUSTOMREQUEST, r->method);
}

bool mwl__http_set_options(mwl__http_request *r, mwl_call *call) {
    mwl_value args = mwl_call_arguments(call);
    CURL *e = r->easy;
    int64_t connect_ns =
        mwl__io_arg_duration(args, "connectTimeout", (int64_t)CONNECT_S * 1000000000);
    bool secure = strncasecmp(r->url, "https:", 6) == 0;
    mwl__curl.easy_setopt(e, CURLOPT_URL, r->url);
    mwl__curl.easy_setopt(e, CURLOPT_PRIVATE, r);
    mwl__curl.easy_setopt(e, CURLOPT_ERRORBUFFER, r->error);
    mwl__curl.easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    mwl__curl.easy_setopt(e, CURLOPT_QUICK_EXIT, 1L); /* a cancellation does not wait for DNS */
    mwl__curl.easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    mwl__curl.easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    /* many requests to one host share a connection, where the protocol can do that */
    mwl__curl.easy_setopt(e, CURLOPT_PIPEWAIT, secure ? 1L : 0L);
    mwl__curl.easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    mwl__curl.easy_setopt(e, CURLOPT_ACCEPT_ENCODING, "");
    mwl__curl.easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)(connect_ns / 1000000));
    mwl__curl.easy_setopt(e, CURLOPT_HTTPHEADER, r->headers);
    mwl__curl.easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    mwl__curl.easy_setopt(e, CURLOPT_WRITEDATA, r);
    mwl__curl.easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    mwl__curl.easy_setopt(e, CURLOPT_HEADERDATA, r);
    mwl__curl.easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, mwl__http_open_socket);
    mwl__curl.easy_setopt(e, CURLOPT_OPENSOCKETDATA, r);
    set_method(r);
    set_tls(r, mwl_get(args, "tls"));
    return true;
}

/* ---- redirects ------------------------------------------------------------------------------- */

/* Takes headers off the list: those about the body, or those that only the first host may see, also
 * every one with a secret text in it. */
static void drop_headers(mwl__http_request *r, const char *const *names, bool secrets) {
    for (struct curl_slist **at = &r->headers; *at;) {
        bool found = secrets && mwl__io_has_secret(r->job.op.io, (*at)->data, strlen((*at)->data));
        for (size_t i = 0; names[i] && !found; i++)
            found = mwl__http_is_header((*at)->data, names[i]);
        if (!found) {
            at = &(*at)->next;
            continue;
        }
        struct curl_slist *out = *at;
        *at = out->next;
        out->next = NULL;
        mwl__curl.slist_free_all(out);
    }
}

void mwl__http_redirect(mwl__http_request *r, long status, bool other_origin) {
    /* the key is that of the request with its body */
    static const char *const of_body[] = {"Content-Type", "Content-Length", "Content-Encoding",
                                          "Idempotency-Key", NULL};
    static const char *const secret[] = {"Authorization", "Cookie", "Proxy-Authorization",
                                         "Idempotency-Key", NULL};
    bool post = strcmp(r->method, "POST") == 0;
    bool to_get = (status == 303 && strcmp(r->method, "HEAD") != 0) ||
                  ((status == 301 || status == 302) && post);
    if (to_get) {
        memcpy(r->method, "GET", sizeof "GET");
        r->has_body = false;
        mwl__bytes_free(&r->body);
        drop_headers(r, of_body, false);
    }
    if (other_origin) drop_headers(r, secret, true);
}
