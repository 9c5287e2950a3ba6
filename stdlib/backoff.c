/* backoff.c: see backoff.h. d, the capped delay of a position, is initial * rate^(position - 1), at
 * most max. */
#include "stdlib/backoff.h"

#include <math.h>
#include <string.h>

static int64_t clamp(double ns) {
    if (ns <= 0) return 0;
    return ns >= 0x1p63 ? INT64_MAX : (int64_t)ns;
}

int64_t mwl__backoff_wait(const mwl__backoff *b, double position, double last_ns, double random) {
    double d = b->initial_ns;
    if (d > 0 && b->rate > 1) d *= pow(b->rate, position - 1); /* 0 stays 0 for every power */
    d = fmin(fmin(d, b->max_ns), 0x1p63);
    switch (b->jitter) {
    case MWL__JITTER_NONE: return clamp(d);
    case MWL__JITTER_FULL: return clamp(random * d);
    case MWL__JITTER_EQUAL: return clamp(d / 2 + random * (d / 2));
    case MWL__JITTER_DECORRELATED: break;
    }
    double low = b->initial_ns, high = 3 * (last_ns < 0 ? low : last_ns);
    if (high < low) high = low; /* a cap below `initial` may have shortened the last wait */
    return clamp(fmin(b->max_ns, low + random * (high - low)));
}

static bool is_text(mwl_value v, const char *text) {
    size_t len;
    const char *s = mwl_as_text(v, &len);
    return s && len == strlen(text) && memcmp(s, text, len) == 0;
}

mwl__jitter mwl__backoff_jitter(mwl_value name) {
    if (is_text(name, "full")) return MWL__JITTER_FULL;
    if (is_text(name, "equal")) return MWL__JITTER_EQUAL;
    return is_text(name, "decorrelated") ? MWL__JITTER_DECORRELATED : MWL__JITTER_NONE;
}

bool mwl__backoff_length(mwl_value text, int64_t *ns) {
    if (mwl_value_kind(text) != MWL_KIND_STRING) return false;
    size_t len;
    const char *s = mwl_as_text(text, &len);
    mwl_status st = mwl_duration_parse(s, len, ns);
    if (st == MWL_E_RANGE) *ns = s[0] == '-' ? INT64_MIN : INT64_MAX;
    return st >= 0 || st == MWL_E_RANGE;
}

bool mwl__backoff_duration(mwl_value text, int64_t *ns) {
    if (!mwl__backoff_length(text, ns)) return false;
    if (*ns < 0) *ns = 0;
    return true;
}
