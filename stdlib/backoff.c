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

/* So many waits are added one by one; those after them count as much as the last one of all. */
#define EACH 100000

double mwl__backoff_most(const mwl__backoff *b, double n) {
    const bool grows = b->rate > 1 || b->jitter == MWL__JITTER_DECORRELATED;
    double all = 0, last = -1, done = 0;
    while (done < n && done < EACH && (grows || done < 1)) {
        last = (double)mwl__backoff_wait(b, ++done, last, 1);
        all += last;
    }
    if (done < n) {
        last = (double)mwl__backoff_wait(b, n, last, 1);
        all += last * (n - done);
    }
    return last >= 0x1p63 ? (double)INFINITY : all;
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

bool mwl__backoff_read(mwl_value from, mwl__backoff *out) {
    mwl_value max = mwl_get(from, "max"), rate = mwl_get(from, "rate");
    int64_t ns;
    *out = (mwl__backoff){-1, 1, (double)INFINITY, MWL__JITTER_NONE};
    if (!mwl__backoff_duration(mwl_get(from, "initial"), &ns)) return false;
    out->initial_ns = (double)ns;
    if (!mwl_is_absent(max)) {
        if (!mwl__backoff_duration(max, &ns)) return false;
        out->max_ns = (double)ns;
    }
    if (!mwl_is_absent(rate)) out->rate = mwl_as_number(rate);
    out->jitter = mwl__backoff_jitter(mwl_get(from, "jitter"));
    return true;
}
