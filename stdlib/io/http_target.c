/* http_target.c: where a request may go.
 *
 * A host must be allowed by name, at every hop. Its address is checked when the socket is opened,
 * so that a name cannot lead to this machine or to a private network, whatever it resolves to. A
 * proxy of the environment resolves names itself, so that the address is not seen here: then only a
 * host that the policy names itself is allowed. */
#include "stdlib/io/http.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

/* ---- addresses ------------------------------------------------------------------------------- */

typedef struct range {
    unsigned char first[16];
    unsigned bits;
} range;

/* Addresses that are not of the public network: RFC 6890 and what followed it. */
static const range private_v4[] = {
    {{0}, 8},             /* this network */
    {{10}, 8},            /* private */
    {{100, 64}, 10},      /* shared by providers */
    {{127}, 8},           /* loopback */
    {{169, 254}, 16},     /* link-local */
    {{172, 16}, 12},      /* private */
    {{192, 0, 0}, 24},    /* protocol assignments */
    {{192, 0, 2}, 24},    /* documentation */
    {{192, 168}, 16},     /* private */
    {{198, 18}, 15},      /* benchmarks */
    {{198, 51, 100}, 24}, /* documentation */
    {{203, 0, 113}, 24},  /* documentation */
    {{224}, 4},           /* multicast */
    {{240}, 4},           /* reserved, broadcast */
};
static const range private_v6[] = {
    {{0}, 96},                                  /* unspecified, loopback, IPv4-compatible */
    {{0, 0x64, 0xff, 0x9b, 0, 1}, 48},          /* translation, local */
    {{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}, /* IPv4-translated */
    {{1}, 64},                                  /* discard */
    {{0x20, 0x01}, 23},                         /* protocol assignments, Teredo */
    {{0x20, 0x01, 0x0d, 0xb8}, 32},             /* documentation */
    {{0xfc}, 7},                                /* unique local */
    {{0xfe, 0x80}, 10},                         /* link-local */
    {{0xfe, 0xc0}, 10},                         /* site-local, old */
    {{0xff}, 8},                                /* multicast */
};

static bool inside(const unsigned char *address, const range *r) {
    unsigned bytes = r->bits / 8, rest = r->bits % 8;
    if (memcmp(address, r->first, bytes) != 0) return false;
    unsigned mask = rest ? 0xffu << (8 - rest) & 0xffu : 0;
    return (address[bytes < 16 ? bytes : 15] & mask) == (r->first[bytes < 16 ? bytes : 15] & mask);
}

static bool is_private_v4(const unsigned char *address) {
    for (size_t i = 0; i < sizeof private_v4 / sizeof *private_v4; i++)
        if (inside(address, &private_v4[i])) return true;
    return false;
}

static bool is_private_v6(const unsigned char *address) {
    static const range mapped = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96};
    static const range nat64 = {{0, 0x64, 0xff, 0x9b}, 96};
    static const range to4 = {{0x20, 0x02}, 16};
    if (inside(address, &mapped) || inside(address, &nat64)) return is_private_v4(address + 12);
    if (inside(address, &to4)) return is_private_v4(address + 2);
    for (size_t i = 0; i < sizeof private_v6 / sizeof *private_v6; i++)
        if (inside(address, &private_v6[i])) return true;
    return false;
}

static bool is_private(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        return is_private_v4((const unsigned char *)&v4.sin_addr);
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        return is_private_v6(v6.sin6_addr.s6_addr);
    }
    return true; /* of another family */
}

/* Whether the host is an address, and a private one. */
static bool is_private_text(const char *host) {
    unsigned char address[16];
    if (inet_pton(AF_INET, host, address) == 1) return is_private_v4(address);
    return inet_pton(AF_INET6, host, address) == 1 && is_private_v6(address);
}

curl_socket_t mwl__http_open_socket(void *request, curlsocktype purpose,
                                    struct curl_sockaddr *address) {
    mwl__http_request *r = request;
    (void)purpose;
    if (!r->named && !r->proxied && is_private(&address->addr)) {
        r->private_address = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                  address->protocol);
}

/* ---- proxies --------------------------------------------------------------------------------- */

static const char *either(const char *lower, const char *upper) {
    const char *v = getenv(lower);
    if (!v || !*v) v = upper ? getenv(upper) : NULL;
    return v && *v ? v : NULL;
}

/* Whether an entry of no_proxy, "example.org" or ".example.org", is this host or a parent of it. */
static bool is_exempt(const char *entry, size_t len, const char *host) {
    size_t n = strlen(host);
    if (len == 1 && *entry == '*') return true;
    if (len && *entry == '.') entry++, len--;
    if (len == 0 || n < len || strncasecmp(host + n - len, entry, len) != 0) return false;
    return n == len || host[n - len - 1] == '.';
}

const char *mwl__http_proxy(const char *scheme, const char *host) {
    const char *list = either("no_proxy", "NO_PROXY");
    /* HTTP_PROXY in capitals could come from a request to a CGI program: it is not read */
    const char *proxy = strcmp(scheme, "https") == 0 ? either("https_proxy", "HTTPS_PROXY")
                                                     : either("http_proxy", NULL);
    if (!proxy) proxy = either("all_proxy", "ALL_PROXY");
    if (!proxy) return "";
    for (const char *p = list ? list : ""; *p;) {
        p += strspn(p, ", ");
        size_t len = strcspn(p, ", ");
        if (is_exempt(p, len, host)) return "";
        p += len;
    }
    return proxy;
}

/* ---- URLs ------------------------------------------------------------------------------------ */

typedef struct parts {
    char scheme[8], host[256];
    unsigned port;
} parts;

static bool get_part(CURLU *u, CURLUPart part, unsigned flags, char *out, size_t cap) {
    char *text = NULL;
    if (mwl__curl.url_get(u, part, &text, flags) != CURLUE_OK) return false;
    size_t len = strlen(text);
    bool fits = len < cap;
    if (fits) memcpy(out, text, len + 1);
    mwl__curl.free(text);
    return fits;
}

/* Scheme http or https, the host in lower case without brackets or the last dot, the port. */
static bool split_url(const char *url, parts *out) {
    char port[8];
    CURLU *u = mwl__curl.url();
    bool good = u && mwl__curl.url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
                get_part(u, CURLUPART_SCHEME, 0, out->scheme, sizeof out->scheme) &&
                get_part(u, CURLUPART_HOST, 0, out->host, sizeof out->host) &&
                get_part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT, port, sizeof port);
    mwl__curl.url_cleanup(u);
    if (!good || (strcmp(out->scheme, "http") != 0 && strcmp(out->scheme, "https") != 0))
        return false;
    size_t n = strlen(out->host);
    if (n > 1 && out->host[0] == '[') {
        memmove(out->host, out->host + 1, n - 2);
        out->host[n -= 2] = '\0';
    }
    if (n > 1 && out->host[n - 1] == '.') out->host[--n] = '\0';
    for (size_t i = 0; i < n; i++) out->host[i] = (char)tolower((unsigned char)out->host[i]);
    out->port = (unsigned)strtoul(port, NULL, 10);
    return n > 0;
}

char *mwl__http_shown(const char *url) {
    const char *from = strstr(url, "://"), *at = NULL;
    char *shown = malloc(strlen(url) + 1);
    if (!shown) return NULL;
    from = from ? from + 3 : url;
    for (const char *p = from; *p && !strchr("/?#", *p); p++)
        if (*p == '@') at = p + 1;
    size_t before = (size_t)(from - url);
    memcpy(shown, url, before);
    if (at) from = at;
    memcpy(shown + before, from, strlen(from) + 1);
    return shown;
}

bool mwl__http_same_origin(const char *a, const char *b) {
    parts one, other;
    return split_url(a, &one) && split_url(b, &other) && one.port == other.port &&
           strcmp(one.scheme, other.scheme) == 0 && strcmp(one.host, other.host) == 0;
}

mwl__http_verdict mwl__http_target(mwl__http_request *r) {
    parts p;
    if (!split_url(r->url, &p)) return HTTP_BAD_URL;
    bool default_port = p.port == (strcmp(p.scheme, "https") == 0 ? 443u : 80u);
    bool v6 = strchr(p.host, ':') != NULL;
    snprintf(r->host, sizeof r->host, v6 ? "[%s]" : "%s", p.host);
    size_t n = strlen(r->host);
    if (!default_port) snprintf(r->host + n, sizeof r->host - n, ":%u", p.port);
    if (!mwl__io_may_http(r->job.op.io, p.host, p.port, &r->named)) return HTTP_NOT_ALLOWED;
    const char *proxy = mwl__http_proxy(p.scheme, p.host);
    r->proxied = *proxy != '\0';
    r->private_address = false;
    if (!r->named && is_private_text(p.host)) {
        r->private_address = true;
        return HTTP_NOT_ALLOWED;
    }
    if (!r->named && r->proxied) return HTTP_PROXIED;
    mwl__curl.easy_setopt(r->easy, CURLOPT_PROXY, proxy);
    mwl__curl.easy_setopt(r->easy, CURLOPT_NOPROXY, ""); /* that was decided here */
    return HTTP_OK;
}
