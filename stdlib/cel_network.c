/* cel_network.c: IP addresses and prefixes: the types net.IP and net.CIDR.
 *
 * Owns: their texts (RFC 4291 and 5952, dotted quads without leading zeros) and predicates. A value
 * is its canonical text, so that equal addresses are equal values. The bytes are read from the text
 * when they are needed. An IPv4-mapped address is refused if its end is written with dots;
 * otherwise it is the IPv4 address. Zones are refused. */
#include "stdlib/std_tables.h"

#include <stdio.h>
#include <string.h>

#define IP_TYPE "net.IP"
#define CIDR_TYPE "net.CIDR"
#define TEXT_MAX 64 /* 45 for an address, 4 for a prefix length; a longer text is not read */

typedef struct addr {
    bool v6;
    uint8_t b[16]; /* the first 4 for IPv4 */
} addr;

typedef struct prefix {
    addr at;
    unsigned bits;
} prefix;

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_v4(const char *s, size_t len, uint8_t *out) {
    size_t i = 0;
    for (int k = 0; k < 4; k++) {
        unsigned n = 0;
        size_t start = i;
        if (k && (i >= len || s[i] != '.')) return false;
        if (k) start = ++i;
        for (; i < len && i < start + 3 && s[i] >= '0' && s[i] <= '9'; i++)
            n = n * 10 + (unsigned)(s[i] - '0');
        if (i == start || n > 255 || (i - start > 1 && s[start] == '0')) return false;
        out[k] = (uint8_t)n;
    }
    return i == len;
}

static int hex_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads groups into b. *gap is the byte index of "::", or -1. *dotted is true if the end was a
 * dotted quad. */
static bool read_groups(const char *s, size_t len, uint8_t *b, size_t *n_bytes, int *gap,
                        bool *dotted) {
    size_t i = 0, n = 0;
    *gap = -1;
    *dotted = false;
    if (len >= 2 && s[0] == ':' && s[1] == ':') {
        *gap = 0;
        i = 2;
    }
    while (i < len) {
        unsigned group = 0;
        size_t start = i;
        for (; i < len && i < start + 4 && hex_of(s[i]) >= 0; i++)
            group = group << 4 | (unsigned)hex_of(s[i]);
        if (i == start || n == 16) return false;
        if (i < len && s[i] == '.') {
            *dotted = true;
            *n_bytes = n + 4;
            return n <= 12 && (n == 12 || *gap >= 0) && read_v4(s + start, len - start, b + n);
        }
        b[n++] = (uint8_t)(group >> 8);
        b[n++] = (uint8_t)group;
        if (i == len) break;
        if (s[i++] != ':' || i == len) return false;
        if (s[i] == ':') {
            if (*gap >= 0) return false;
            *gap = (int)n;
            i++;
        }
    }
    *n_bytes = n;
    return true;
}

static bool read_v6(const char *s, size_t len, addr *out, bool *dotted) {
    uint8_t b[20];
    size_t n;
    int gap;
    if (!read_groups(s, len, b, &n, &gap, dotted)) return false;
    if (gap < 0 ? n != 16 : n > 14) return false;
    memset(out->b, 0, sizeof out->b);
    size_t head = gap < 0 ? 16 : (size_t)gap;
    memcpy(out->b, b, head);
    if (gap >= 0) memcpy(out->b + 16 - (n - head), b + head, n - head);
    out->v6 = true;
    return true;
}

static bool is_mapped(const addr *a) {
    static const uint8_t lead[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return a->v6 && memcmp(a->b, lead, sizeof lead) == 0;
}

/* Returns NULL, or why the text is refused. */
static const char *read_addr(const char *s, size_t len, addr *out) {
    static const char bad[] = "parse error during conversion from string";
    bool dotted;
    memset(out, 0, sizeof *out);
    if (len > TEXT_MAX) return bad;
    if (memchr(s, '%', len)) return "a zone is not allowed";
    if (!memchr(s, ':', len)) return read_v4(s, len, out->b) ? NULL : bad;
    if (!read_v6(s, len, out, &dotted)) return bad;
    if (is_mapped(out) && dotted) return "IPv4-mapped IPv6 address is not allowed";
    return NULL;
}

static const char *read_ip(const char *s, size_t len, addr *out) {
    const char *why = read_addr(s, len, out);
    if (!why && is_mapped(out)) {
        addr v4 = {false, {out->b[12], out->b[13], out->b[14], out->b[15]}};
        *out = v4;
    }
    return why;
}

static const char *read_prefix(const char *s, size_t len, prefix *out) {
    size_t slash = len <= TEXT_MAX ? len : 0;
    while (slash && s[slash - 1] != '/') slash--;
    if (!slash) return "parse error during conversion from string: no '/'";
    const char *why = read_addr(s, slash - 1, &out->at);
    if (why) return why;
    const char *d = s + slash;
    size_t n = len - slash;
    unsigned bits = 0;
    if (n == 0 || n > 3 || (n > 1 && d[0] == '0')) return "parse error: bad prefix length";
    for (size_t i = 0; i < n; i++) {
        if (d[i] < '0' || d[i] > '9') return "parse error: bad prefix length";
        bits = bits * 10 + (unsigned)(d[i] - '0');
    }
    if (bits > (out->at.v6 ? 128u : 32u)) return "parse error: prefix length out of range";
    out->bits = bits;
    return NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

static size_t write_addr(const addr *a, char out[TEXT_MAX]) {
    if (!a->v6)
        return (size_t)snprintf(out, TEXT_MAX, "%u.%u.%u.%u", a->b[0], a->b[1], a->b[2], a->b[3]);
    unsigned group[8], gap = 8, gap_len = 1;
    for (size_t i = 0; i < 8; i++) group[i] = (unsigned)a->b[2 * i] << 8 | a->b[2 * i + 1];
    for (unsigned i = 0; i < 8; i++) { /* the first of the longest runs of two or more zeros */
        unsigned n = 0;
        while (i + n < 8 && group[i + n] == 0) n++;
        if (n > gap_len) {
            gap = i;
            gap_len = n;
        }
    }
    size_t len = 0;
    for (unsigned i = 0; i < 8; i++) {
        if (i == gap) {
            len += (size_t)snprintf(out + len, TEXT_MAX - len, "::");
            i += gap_len - 1;
            continue;
        }
        const char *lead = i && (gap == 8 || i != gap + gap_len) ? ":" : "";
        len += (size_t)snprintf(out + len, TEXT_MAX - len, "%s%x", lead, group[i]);
    }
    return len;
}

static mwl_value make_ip(mwl_fn *fn, const addr *a) {
    char text[TEXT_MAX];
    size_t len = write_addr(a, text);
    return mwl_ext(mwl_fn_heap(fn), IP_TYPE, text, len);
}

static mwl_value make_cidr(mwl_fn *fn, const prefix *p) {
    char text[TEXT_MAX];
    size_t len = write_addr(&p->at, text);
    len += (size_t)snprintf(text + len, TEXT_MAX - len, "/%u", p->bits);
    return mwl_ext(mwl_fn_heap(fn), CIDR_TYPE, text, len);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static bool get_ip(mwl_value v, addr *out) {
    size_t len;
    const char *s = mwl_ext_text(v, IP_TYPE, &len);
    return s && !read_ip(s, len, out);
}

static bool get_cidr(mwl_value v, prefix *out) {
    size_t len;
    const char *s = mwl_ext_text(v, CIDR_TYPE, &len);
    return s && !read_prefix(s, len, out);
}

static bool get_text(mwl_value v, const char **s, size_t *len) {
    if (mwl_value_kind(v) != MWL_KIND_STRING) return false;
    *s = mwl_as_text(v, len);
    return true;
}

static mwl_value refuse(mwl_fn *fn, const char *what, const char *s, const char *why) {
    return mwl_fn_fail(fn, "%s '%.60s': %s", what, s, why);
}

/* ---- addresses ------------------------------------------------------------------------------- */

static mwl_value ip(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    const char *s, *why;
    size_t len;
    addr a;
    if (!get_text(args[0], &s, &len)) return mwl_fn_no_overload(fn);
    if ((why = read_ip(s, len, &a))) return refuse(fn, "IP address", s, why);
    return make_ip(fn, &a);
}

static mwl_value is_ip(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    const char *s;
    size_t len;
    addr a;
    if (!get_text(args[0], &s, &len)) return mwl_fn_no_overload(fn);
    return mwl_bool(!read_ip(s, len, &a));
}

static mwl_value is_canonical(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    const char *s, *why;
    char text[TEXT_MAX];
    size_t len;
    addr a;
    if (!get_text(args[0], &s, &len)) return mwl_fn_no_overload(fn);
    if ((why = read_addr(s, len, &a))) return refuse(fn, "IP address", s, why);
    return mwl_bool(write_addr(&a, text) == len && memcmp(text, s, len) == 0);
}

static bool is_all_zero(const uint8_t *b, size_t n) {
    while (n && !b[n - 1]) n--;
    return n == 0;
}
static bool is_unspecified(const addr *a) { return is_all_zero(a->b, a->v6 ? 16 : 4); }
static bool is_loopback(const addr *a) {
    return a->v6 ? is_all_zero(a->b, 15) && a->b[15] == 1 : a->b[0] == 127;
}
static bool is_multicast(const addr *a) {
    return a->v6 ? a->b[0] == 0xff : (a->b[0] & 0xf0) == 0xe0;
}
static bool is_link_local_unicast(const addr *a) {
    return a->v6 ? a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80 : a->b[0] == 169 && a->b[1] == 254;
}
static bool is_link_local_multicast(const addr *a) {
    return a->v6 ? a->b[0] == 0xff && (a->b[1] & 0x0f) == 2
                 : a->b[0] == 224 && !a->b[1] && !a->b[2];
}
static bool is_global_unicast(const addr *a) {
    bool broadcast = !a->v6 && (a->b[0] & a->b[1] & a->b[2] & a->b[3]) == 255;
    return !broadcast && !is_unspecified(a) && !is_loopback(a) && !is_multicast(a) &&
           !is_link_local_unicast(a);
}

#define OF_IP(name, result)                                                                        \
    static mwl_value name(mwl_fn *fn, const mwl_value *args, size_t n_args) {                      \
        (void)n_args;                                                                              \
        addr a;                                                                                    \
        if (!get_ip(args[0], &a)) return mwl_fn_no_overload(fn);                                   \
        return result;                                                                             \
    }
OF_IP(ip_family, mwl_int(a.v6 ? 6 : 4))
OF_IP(ip_unspecified, mwl_bool(is_unspecified(&a)))
OF_IP(ip_loopback, mwl_bool(is_loopback(&a)))
OF_IP(ip_global_unicast, mwl_bool(is_global_unicast(&a)))
OF_IP(ip_link_local_unicast, mwl_bool(is_link_local_unicast(&a)))
OF_IP(ip_link_local_multicast, mwl_bool(is_link_local_multicast(&a)))
#undef OF_IP

/* ---- prefixes -------------------------------------------------------------------------------- */

static void mask(addr *a, unsigned bits) {
    for (unsigned i = 0; i < (a->v6 ? 16u : 4u); i++) {
        unsigned keep = bits > 8 * i ? bits - 8 * i : 0;
        if (keep < 8) a->b[i] &= (uint8_t)(0xff00u >> keep);
    }
}

/* Returns whether the address has the same first bits as the prefix. */
static bool covers(const prefix *p, addr a) {
    addr own = p->at;
    if (own.v6 != a.v6) return false;
    mask(&own, p->bits);
    mask(&a, p->bits);
    return memcmp(own.b, a.b, a.v6 ? 16 : 4) == 0;
}

static mwl_value cidr(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    const char *s, *why;
    size_t len;
    prefix p;
    if (!get_text(args[0], &s, &len)) return mwl_fn_no_overload(fn);
    if ((why = read_prefix(s, len, &p))) return refuse(fn, "CIDR", s, why);
    return make_cidr(fn, &p);
}

static mwl_value is_cidr(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    const char *s;
    size_t len;
    prefix p;
    if (!get_text(args[0], &s, &len)) return mwl_fn_no_overload(fn);
    return mwl_bool(!read_prefix(s, len, &p));
}

static mwl_value contains_ip(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    const char *s, *why;
    size_t len;
    prefix p;
    addr a;
    if (!get_cidr(args[0], &p)) return mwl_fn_no_overload(fn);
    if (get_text(args[1], &s, &len)) {
        if ((why = read_ip(s, len, &a))) return refuse(fn, "IP address", s, why);
    } else if (!get_ip(args[1], &a)) {
        return mwl_fn_no_overload(fn);
    }
    return mwl_bool(covers(&p, a));
}

static mwl_value contains_cidr(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    const char *s, *why;
    size_t len;
    prefix p, q;
    if (!get_cidr(args[0], &p)) return mwl_fn_no_overload(fn);
    if (get_text(args[1], &s, &len)) {
        if ((why = read_prefix(s, len, &q))) return refuse(fn, "CIDR", s, why);
    } else if (!get_cidr(args[1], &q)) {
        return mwl_fn_no_overload(fn);
    }
    return mwl_bool(p.bits <= q.bits && covers(&p, q.at));
}

static mwl_value masked_cidr(mwl_fn *fn, const prefix *p) {
    prefix m = *p;
    mask(&m.at, m.bits);
    return make_cidr(fn, &m);
}

static bool is_masked(const prefix *p) {
    prefix m = *p;
    mask(&m.at, m.bits);
    return memcmp(m.at.b, p->at.b, sizeof m.at.b) == 0;
}

#define OF_CIDR(name, result)                                                                      \
    static mwl_value name(mwl_fn *fn, const mwl_value *args, size_t n_args) {                      \
        (void)n_args;                                                                              \
        prefix p;                                                                                  \
        if (!get_cidr(args[0], &p)) return mwl_fn_no_overload(fn);                                 \
        return result;                                                                             \
    }
OF_CIDR(cidr_ip, make_ip(fn, &p.at))
OF_CIDR(cidr_is_mask, mwl_bool(is_masked(&p)))
OF_CIDR(cidr_masked, masked_cidr(fn, &p))
OF_CIDR(cidr_prefix_length, mwl_int((int64_t)p.bits))
#undef OF_CIDR

const mwl_function_def mwl__network_functions[] = {
    {"cidr", cidr, 1, 1, MWL_FN_GLOBAL, "cidr(string) -> net.CIDR"},
    {"containsCIDR", contains_cidr, 2, 2, MWL_FN_MEMBER,
     "cidr.containsCIDR(cidr | string) -> bool"},
    {"containsIP", contains_ip, 2, 2, MWL_FN_MEMBER, "cidr.containsIP(ip | string) -> bool"},
    {"family", ip_family, 1, 1, MWL_FN_MEMBER, "ip.family() -> int, 4 or 6"},
    {"ip", ip, 1, 1, MWL_FN_GLOBAL, "ip(string) -> net.IP"},
    {"ip", cidr_ip, 1, 1, MWL_FN_MEMBER, "cidr.ip() -> net.IP"},
    {"ip.isCanonical", is_canonical, 1, 1, MWL_FN_GLOBAL, "ip.isCanonical(string) -> bool"},
    {"isCIDR", is_cidr, 1, 1, MWL_FN_GLOBAL, "isCIDR(string) -> bool"},
    {"isGlobalUnicast", ip_global_unicast, 1, 1, MWL_FN_MEMBER, "ip.isGlobalUnicast() -> bool"},
    {"isIP", is_ip, 1, 1, MWL_FN_GLOBAL, "isIP(string) -> bool"},
    {"isLinkLocalMulticast", ip_link_local_multicast, 1, 1, MWL_FN_MEMBER,
     "ip.isLinkLocalMulticast() -> bool"},
    {"isLinkLocalUnicast", ip_link_local_unicast, 1, 1, MWL_FN_MEMBER,
     "ip.isLinkLocalUnicast() -> bool"},
    {"isLoopback", ip_loopback, 1, 1, MWL_FN_MEMBER, "ip.isLoopback() -> bool"},
    {"isMask", cidr_is_mask, 1, 1, MWL_FN_MEMBER, "cidr.isMask() -> bool"},
    {"isUnspecified", ip_unspecified, 1, 1, MWL_FN_MEMBER, "ip.isUnspecified() -> bool"},
    {"masked", cidr_masked, 1, 1, MWL_FN_MEMBER, "cidr.masked() -> net.CIDR"},
    {"prefixLength", cidr_prefix_length, 1, 1, MWL_FN_MEMBER, "cidr.prefixLength() -> int"},
};
const size_t mwl__network_count = sizeof mwl__network_functions / sizeof *mwl__network_functions;
