/* http_key.c: the header Idempotency-Key, by which a service recognises a request that is sent
 * again.
 *
 * A key has one content. Otherwise a service answers the second request with what the first one
 * did, or refuses it. */
#include "stdlib/io/http.h"
#include "stdlib/io/sha256.h"

#include <stdlib.h>

/* Headers that say who asks, or that name one attempt; another value is not another request. */
static bool is_about_asking(const char *line) {
    static const char *const names[] = {"Authorization", "Proxy-Authorization", "Cookie",
                                        "Date",          "User-Agent",          "Traceparent",
                                        "Tracestate",    "X-Request-Id"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mwl__http_is_header(line, names[i])) return true;
    return false;
}

static void hash_text(mwl__sha256 *s, const char *text, size_t len) {
    uint64_t n = len;
    mwl__sha256_add(s, &n, sizeof n); /* two texts are never read as two others */
    mwl__sha256_add(s, text, len);
}

/* The key that all attempts of a Retry have in common, as long as they send the same: the id of the
 * call and a hash of the request. Returns "", or NULL if out of memory. */
static char *key_of_attempts(const mwl__http_request *r, const mwl_call *call) {
    enum { DIGEST = 16 };
    uint8_t digest[MWL__SHA256_BYTES];
    mwl__sha256 s;
    mwl__sha256_begin(&s);
    hash_text(&s, r->method, strlen(r->method));
    hash_text(&s, r->url, strlen(r->url));
    hash_text(&s, r->body.data, r->body.len);
    for (const struct curl_slist *h = r->headers; h; h = h->next)
        if (!is_about_asking(h->data)) hash_text(&s, h->data, strlen(h->data));
    mwl__sha256_end(&s, digest);
    for (size_t cap = 512;; cap *= 2) {
        char *key = malloc(cap + 2 * DIGEST + 2);
        size_t n = key ? mwl_call_id(call, key, cap) : 0;
        if (key && n == cap - 1) { /* cut */
            free(key);
            continue;
        }
        if (!key) return NULL;
        key[n] = '/';
        mwl__sha256_hex(digest, DIGEST, key + n + 1);
        return key;
    }
}

/* spec of the document: a key has one content. The key of a call is its own, so it is not the same
 * for the attempts of a Retry, and then sending again is not safe; "attempts" asks for one. */
const char *mwl__http_add_key(mwl__http_request *r, mwl_call *call, mwl_value wanted) {
    const char *wrong = "out of memory";
    size_t len;
    if (mwl_value_kind(wanted) == MWL_KIND_BOOL) {
        if (!mwl_as_bool(wanted)) return NULL;
        mwl_value key = mwl_call_key(call);
        const char *text = mwl_is_absent(key) ? NULL : mwl_as_text(key, &len);
        if (text) wrong = mwl__http_add_header(r, "Idempotency-Key", 15, text, len);
        mwl_value_drop(mwl_call_heap(call), key);
        return wrong;
    }
    const char *text = mwl_as_text(wanted, &len);
    if (!text) return NULL;
    r->idempotent = true;
    if (len != 8 || memcmp(text, "attempts", 8) != 0)
        return mwl__http_add_header(r, "Idempotency-Key", 15, text, len);
    char *key = key_of_attempts(r, call);
    if (key) wrong = mwl__http_add_header(r, "Idempotency-Key", 15, key, strlen(key));
    free(key);
    return wrong;
}
