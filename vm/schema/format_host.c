/* format_host.c: addresses of hosts and of mailboxes, in ASCII; RFC 1123, 4291, 5321, 6531. */
#include "vm/schema/format.h"
#include "vm/base/ascii.h"

#include <string.h>

#define NAME_MAX_BYTES 253 /* RFC 1035 allows 255 octets on the wire; the text has two less */
#define LABEL_MAX_BYTES 63
#define LOCAL_MAX_BYTES 64 /* RFC 5321, 4.5.3.1.1 */

/* ---- addresses ------------------------------------------------------------------------------- */

bool mwl__format_ipv4(const char *s, size_t len) {
    size_t i = 0;
    for (int part = 0; part < 4; part++) {
        if (part > 0 && (i >= len || s[i++] != '.')) return false;
        size_t first = i;
        int v = 0;
        while (i < len && mwl__is_digit(s[i]) && i - first < 3) v = v * 10 + (s[i++] - '0');
        if (i == first || v > 255 || (i - first > 1 && s[first] == '0')) return false;
    }
    return i == len;
}

bool mwl__format_ipv6(const char *s, size_t len) {
    size_t i = 0;
    int groups = 0;
    bool gap = false;
    if (len >= 2 && s[0] == ':' && s[1] == ':') gap = true, i = 2;
    while (i < len) {
        size_t first = i;
        while (i < len && mwl__is_hex(s[i]) && i - first < 4) i++;
        if (i < len && s[i] == '.') { /* the last 32 bits as a dotted quad */
            groups += 2;
            if (!mwl__format_ipv4(s + first, len - first)) return false;
            break;
        }
        if (i == first) return false;
        groups++;
        if (i == len) break;
        if (s[i++] != ':' || i == len) return false;
        if (s[i] == ':') {
            if (gap) return false;
            gap = true;
            i++;
        }
    }
    return gap ? groups <= 7 : groups == 8;
}

/* ---- host names ------------------------------------------------------------------------------ */

/* Labels of letters, digits and inner hyphens; with `unicode`, of any other code points beyond
 * ASCII. */
static bool is_ldh_name(const char *s, size_t len, bool unicode) {
    size_t first = 0;
    if (len == 0 || len > NAME_MAX_BYTES) return false;
    for (size_t i = 0; i <= len; i++) {
        if (i == len || s[i] == '.') {
            size_t n = i - first;
            if (n == 0 || n > LABEL_MAX_BYTES || s[first] == '-' || s[i - 1] == '-') return false;
            first = i + 1;
        } else if (!mwl__is_alnum(s[i]) && s[i] != '-' &&
                   !(unicode && (unsigned char)s[i] >= 0x80)) {
            return false;
        }
    }
    return true;
}

static bool has_a_label(const char *s, size_t len) {
    for (size_t i = 0; i + 4 <= len; i++)
        if ((i == 0 || s[i - 1] == '.') && mwl__to_lower(s[i]) == 'x' &&
            mwl__to_lower(s[i + 1]) == 'n' && s[i + 2] == '-' && s[i + 3] == '-')
            return true;
    return false;
}

bool mwl__format_hostname(const char *s, size_t len) {
    return is_ldh_name(s, len, false) &&
           (!has_a_label(s, len) || mwl__format_idn_host(s, len, true));
}

/* ---- mailboxes ------------------------------------------------------------------------------- */

static bool is_atext(char c, bool unicode) {
    return mwl__is_alnum(c) || (unicode && (unsigned char)c >= 0x80) ||
           (c != '\0' && strchr("!#$%&'*+-/=?^_`{|}~", c) != NULL);
}

/* Returns the length of the local part at the beginning of s, or 0. */
static size_t local_part(const char *s, size_t len, bool unicode) {
    size_t i = 0;
    if (len && s[0] == '"') {
        for (i = 1; i < len && s[i] != '"'; i++) {
            if (s[i] == '\\' && (++i >= len || (unsigned char)s[i] >= 0x80)) return 0;
            unsigned char c = (unsigned char)s[i];
            if (c < 0x20 || c == 0x7F || (c >= 0x80 && !unicode)) return 0;
        }
        return i < len ? i + 1 : 0;
    }
    bool want_atom = true; /* at the beginning and after a dot */
    for (; i < len; i++) {
        if (s[i] == '.' && !want_atom)
            want_atom = true;
        else if (is_atext(s[i], unicode))
            want_atom = false;
        else
            break;
    }
    return want_atom ? 0 : i;
}

bool mwl__format_email(const char *s, size_t len, bool unicode) {
    size_t n = local_part(s, len, unicode);
    if (n == 0 || n > LOCAL_MAX_BYTES || n >= len || s[n] != '@') return false;
    const char *domain = s + n + 1;
    size_t size = len - n - 1;
    if (size >= 2 && domain[0] == '[' && domain[size - 1] == ']') {
        domain++, size -= 2;
        if (size > 5 && mwl__to_lower(domain[0]) == 'i' && mwl__to_lower(domain[1]) == 'p' &&
            mwl__to_lower(domain[2]) == 'v' && domain[3] == '6' && domain[4] == ':')
            return mwl__format_ipv6(domain + 5, size - 5);
        return mwl__format_ipv4(domain, size);
    }
    /* RFC 6531 allows an internationalised domain and does not demand a normal form. */
    return is_ldh_name(domain, size, unicode);
}
