/* format.c: the list of formats, and the checks that need no file of their own. See format.h. */
#include "vm/schema/format.h"
#include "vm/value/temporal.h"
#include "vm/base/ascii.h"

#include <string.h>

/* ---- dates, times, durations ----------------------------------------------------------------- */

static bool check_date_time(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__temporal_is_date_time(s, len);
}
static bool check_date(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__temporal_is_date(s, len);
}
static bool check_time(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__temporal_is_time(s, len);
}

/* Reads a sequence of components of RFC 3339 appendix A: each is digits and a designator, and after
 * a designator only its neighbour in `order` may follow. Moves *at to the end of the sequence;
 * leaves it unchanged if there are no components. Returns false if something is malformed. */
static bool run_of_components(const char *s, size_t len, size_t *at, const char *order) {
    size_t i = *at;
    const char *expected = NULL; /* after the first component: the designator that must come next */
    while (i < len && mwl__is_digit(s[i])) {
        while (i < len && mwl__is_digit(s[i])) i++;
        if (i == len) return false;
        const char *found = memchr(order, s[i], strlen(order));
        if (!found || (expected && found != expected)) return false;
        expected = found + 1;
        i++;
    }
    *at = i;
    return true;
}

/* duration = "P" (dur-date [dur-time] / dur-time / dur-week), without gaps between units. */
static bool is_rfc3339_duration(const char *s, size_t len) {
    if (len < 3 || s[0] != 'P') return false;
    size_t at = 1;
    if (s[len - 1] == 'W') {
        for (; at < len - 1; at++)
            if (!mwl__is_digit(s[at])) return false;
        return true;
    }
    if (!run_of_components(s, len, &at, "YMD")) return false;
    if (at == len) return true;
    if (s[at++] != 'T') return false;
    size_t time = at;
    return run_of_components(s, len, &at, "HMS") && at > time && at == len;
}

static bool check_duration(const char *s, size_t len, const mwl__format_env *env) {
    return env->rfc3339_duration ? is_rfc3339_duration(s, len)
                                 : mwl__temporal_is_iso_duration(s, len);
}

/* ---- names of hosts and resources: their own files ------------------------------------------- */

static bool check_email(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__format_email(s, len, false);
}
static bool check_idn_email(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__format_email(s, len, true);
}
static bool check_hostname(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__format_hostname(s, len);
}
static bool check_idn_hostname(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__format_idn_host(s, len, false);
}
static bool check_ipv4(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__format_ipv4(s, len);
}
static bool check_ipv6(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__format_ipv6(s, len);
}
static bool check_uri(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__format_uri(s, len, false, false);
}
static bool check_uri_reference(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__format_uri(s, len, false, true);
}
static bool check_iri(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__format_uri(s, len, true, false);
}
static bool check_iri_reference(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__format_uri(s, len, true, true);
}
static bool check_uri_template(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    return mwl__format_uri_template(s, len);
}

/* ---- uuid, pointers, regex ------------------------------------------------------------------- */

static bool check_uuid(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    if (len != 36) return false;
    for (size_t i = 0; i < len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s[i] != '-' : !mwl__is_hex(s[i])) return false;
    }
    return true;
}

static bool check_json_pointer(const char *s, size_t len, const mwl__format_env *env) {
    (void)env;
    if (len == 0) return true;
    if (s[0] != '/') return false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] != '~') continue;
        if (i + 1 == len || (s[i + 1] != '0' && s[i + 1] != '1')) return false;
    }
    return true;
}

static bool check_relative_json_pointer(const char *s, size_t len, const mwl__format_env *env) {
    size_t i = 0;
    while (i < len && mwl__is_digit(s[i])) i++;
    if (i == 0 || (i > 1 && s[0] == '0')) return false;
    if (i < len && s[i] == '#') return i + 1 == len;
    return check_json_pointer(s + i, len - i, env);
}

static bool check_regex(const char *s, size_t len, const mwl__format_env *env) {
    return !env->regex_valid || env->regex_valid(env->ctx, s, len);
}

/* ---- the list -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    bool (*check)(const char *s, size_t len, const mwl__format_env *env);
} formats[MWL__N_FORMATS] = {
#define MWL_X(id, text, fn) {text, fn},
    MWL__FORMAT_LIST(MWL_X)
#undef MWL_X
};

int mwl__format_find(const char *name, size_t len) {
    for (int i = 0; i < MWL__N_FORMATS; i++)
        if (strlen(formats[i].name) == len && memcmp(formats[i].name, name, len) == 0) return i;
    return -1;
}

const char *mwl__format_name(int format) { return formats[format].name; }

bool mwl__format_check(int format, const char *s, size_t len, const mwl__format_env *env) {
    static const mwl__format_env none = {0};
    return formats[format].check(s, len, env ? env : &none);
}
