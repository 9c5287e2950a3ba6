/* format_idn.c: internationalised host names, IDNA2008 (RFC 5890 to 5893).
 *
 * With libidn2 (MWL_IDN) each label is checked by its registration rules: normal form, hyphens, no
 * leading combining mark, code points by RFC 5892, contextual rules J and O, Bidi, Punycode that
 * encodes back to itself. The library is loaded when the first label needs it, because it and what
 * it uses take as long to load as all the rest of a small program. The Bidi rule over the whole
 * name is ours. Without the library separators, lengths, hyphens and Punycode are checked, and no
 * code points. */
#include "vm/schema/format.h"
#include "vm/base/ascii.h"
#include "vm/base/utf8.h"

#include "mwl_config.h"
#include "vm/regex/regex.h"
#include "vm/schema/format_bidi.h"

#include <string.h>

#if MWL_IDN
#include <dlfcn.h>
#include <idn2.h>
#include <pthread.h>
#endif

#define NAME_MAX_BYTES 253
#define LABEL_MAX_BYTES 63
#define LABEL_MAX_POINTS 63 /* each code point needs at least one byte of the A-label */

typedef struct {
    uint32_t cp[LABEL_MAX_POINTS];
    size_t n;
    size_t encoded; /* bytes of its ASCII form */
} label;

static inline bool is_ascii_ldh(uint32_t c) { return mwl__is_alnum(c) || c == '-'; }

/* ---- Punycode (RFC 3492) --------------------------------------------------------------------- */

enum { P_BASE = 36, P_TMIN = 1, P_TMAX = 26, P_SKEW = 38, P_DAMP = 700, P_BIAS = 72, P_N = 128 };

static uint32_t adapt(uint32_t delta, uint32_t n_points, bool first) {
    uint32_t k = 0;
    delta = first ? delta / P_DAMP : delta / 2;
    delta += delta / n_points;
    for (; delta > ((P_BASE - P_TMIN) * P_TMAX) / 2; k += P_BASE) delta /= P_BASE - P_TMIN;
    return k + (P_BASE - P_TMIN + 1) * delta / (delta + P_SKEW);
}

static uint32_t threshold(uint32_t k, uint32_t bias) {
    return k <= bias ? P_TMIN : k >= bias + P_TMAX ? P_TMAX : k - bias;
}

static int digit_value(char c) {
    if (mwl__is_letter(c)) return mwl__to_lower(c) - 'a';
    return mwl__is_digit(c) ? c - '0' + 26 : -1;
}

/* Decodes what follows "xn--". Returns false on overflow, a bad digit, or if all characters are
 * ASCII. */
static bool puny_decode(const char *s, size_t len, label *out) {
    size_t basic = 0, at = 0;
    for (size_t i = 0; i < len; i++)
        if (s[i] == '-') basic = i;
    out->n = 0;
    for (; at < basic; at++) out->cp[out->n++] = (unsigned char)mwl__to_lower(s[at]);
    if (basic > 0) at++;
    uint32_t n = P_N, bias = P_BIAS, i = 0;
    if (at >= len) return false;
    while (at < len) {
        uint32_t start = i, w = 1;
        for (uint32_t k = P_BASE;; k += P_BASE) {
            int digit = at < len ? digit_value(s[at++]) : -1;
            if (digit < 0 || (uint32_t)digit > (UINT32_MAX - i) / w) return false;
            i += (uint32_t)digit * w;
            uint32_t t = threshold(k, bias);
            if ((uint32_t)digit < t) break;
            if (w > UINT32_MAX / (P_BASE - t)) return false;
            w *= P_BASE - t;
        }
        uint32_t points = (uint32_t)out->n + 1;
        if (points > LABEL_MAX_POINTS) return false;
        bias = adapt(i - start, points, start == 0);
        if (i / points > MWL__UTF8_MAX - n) return false;
        n += i / points;
        i %= points;
        if (!mwl__utf8_is_scalar(n)) return false;
        memmove(out->cp + i + 1, out->cp + i, (out->n - i) * sizeof out->cp[0]);
        out->cp[i++] = n;
        out->n++;
    }
    return true;
}

/* Writes the Punycode of a label to out. Returns its length, or 0 if it would be too long for a
 * label. */
static size_t puny_encode(const label *l, char out[LABEL_MAX_BYTES]) {
    size_t len = 0;
    for (size_t i = 0; i < l->n; i++)
        if (l->cp[i] < P_N) out[len++] = (char)l->cp[i];
    uint32_t n = P_N, delta = 0, bias = P_BIAS, done = (uint32_t)len, basic = done;
    if (basic > 0) {
        if (len == LABEL_MAX_BYTES) return 0;
        out[len++] = '-';
    }
    while (done < l->n) {
        uint32_t least = UINT32_MAX;
        for (size_t i = 0; i < l->n; i++)
            if (l->cp[i] >= n && l->cp[i] < least) least = l->cp[i];
        delta += (least - n) * (done + 1); /* at most 0x10FFFF * 64: no overflow */
        n = least;
        for (size_t i = 0; i < l->n; i++) {
            if (l->cp[i] < n) delta++;
            if (l->cp[i] != n) continue;
            uint32_t q = delta;
            for (uint32_t k = P_BASE;; k += P_BASE) {
                uint32_t t = threshold(k, bias), d = q < t ? q : t + (q - t) % (P_BASE - t);
                if (len == LABEL_MAX_BYTES) return 0;
                out[len++] = (char)(d < 26 ? 'a' + d : '0' + d - 26);
                if (q < t) break;
                q = (q - t) / (P_BASE - t);
            }
            bias = adapt(delta, done + 1, done == basic);
            delta = 0;
            done++;
        }
        delta++;
        n++;
    }
    return len;
}

/* ---- one label ------------------------------------------------------------------------------- */

/* Checks hyphens: none at either end, and "??--" is reserved for encodings. */
static bool hyphens_stand_well(const label *l) {
    if (l->cp[0] == '-' || l->cp[l->n - 1] == '-') return false;
    return !(l->n >= 4 && l->cp[2] == '-' && l->cp[3] == '-');
}

/* What libidn2 says of a label that is not ASCII: 1 a U-label, 0 not, -1 there is no library. */
#if MWL_IDN

static struct {
    pthread_once_t once;
    int (*register_u8)(const uint8_t *u_label, const uint8_t *a_label, uint8_t **out, int flags);
    void (*free)(void *text);
} idn2 = {.once = PTHREAD_ONCE_INIT};

static void load(void) {
    static const char *const names[] = {"libidn2.so.0", "libidn2.0.dylib", "libidn2.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    void *make = dlsym(library, "idn2_register_u8"), *release = dlsym(library, "idn2_free");
    if (!make || !release) return;
    memcpy(&idn2.register_u8, &make,
           sizeof make); /* POSIX: a function's address fits in a void * */
    memcpy(&idn2.free, &release, sizeof release);
}

static int by_library(const label *l) {
    uint8_t text[LABEL_MAX_POINTS * 4 + 1], *a_label = NULL;
    size_t len = 0;
    if (pthread_once(&idn2.once, load) != 0 || !idn2.register_u8) return -1;
    for (size_t i = 0; i < l->n; i++) len += mwl__utf8_encode(l->cp[i], (char *)text + len);
    text[len] = 0;
    int rc = idn2.register_u8(text, NULL, &a_label, 0);
    if (rc == IDN2_OK) idn2.free(a_label);
    return rc == IDN2_OK;
}

#else

static int by_library(const label *l) {
    (void)l;
    return -1;
}

#endif

/* Returns whether a label that is not ASCII is a U-label, as far as that can be known. */
static bool is_u_label(const label *l) { return by_library(l) != 0; }

static bool has_prefix(const label *l) {
    return l->n >= 4 && (l->cp[0] | 32) == 'x' && (l->cp[1] | 32) == 'n' && l->cp[2] == '-' &&
           l->cp[3] == '-';
}

/* Checks one label. A label in Punycode is replaced by its decoded form. */
static bool judge_label(label *l, bool ascii_host) {
    char puny[LABEL_MAX_BYTES];
    bool ascii = true;
    for (size_t i = 0; i < l->n; i++) ascii &= l->cp[i] < 0x80;
    if (ascii && has_prefix(l)) {
        char text[LABEL_MAX_BYTES];
        size_t len = l->n - 4;
        l->encoded = l->n;
        for (size_t i = 0; i < len; i++) {
            if (!is_ascii_ldh(l->cp[i + 4])) return false;
            text[i] = mwl__to_lower((char)l->cp[i + 4]);
        }
        if (!puny_decode(text, len, l) || !hyphens_stand_well(l) || !is_u_label(l)) return false;
        return puny_encode(l, puny) == len && memcmp(puny, text, len) == 0;
    }
    if (ascii) {
        l->encoded = l->n;
        if (ascii_host) return true;
        for (size_t i = 0; i < l->n; i++)
            if (!is_ascii_ldh(l->cp[i])) return false;
        return hyphens_stand_well(l);
    }
    size_t len = puny_encode(l, puny);
    if (len == 0 || len + 4 > LABEL_MAX_BYTES) return false;
    l->encoded = len + 4;
    return hyphens_stand_well(l) && is_u_label(l);
}

/* ---- Bidi (RFC 5893) ------------------------------------------------------------------------- */

/* The class of a code point of a label: what each label may have is known already. */
static bidi_class bidi_of(uint32_t c) {
    if (c < 0x80) return mwl__is_letter(c) ? BIDI_L : mwl__is_digit(c) ? BIDI_EN : BIDI_NEUTRAL;
    if (mwl__class_category(c) == CATEGORY_MN) return BIDI_NSM;
    size_t lo = 0, hi = sizeof bidi_runs / sizeof *bidi_runs;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (bidi_runs[mid] >> 8 <= c)
            lo = mid;
        else
            hi = mid;
    }
    return (bidi_class)(bidi_runs[lo] & 0xFF);
}

/* Checks for characters that are read from right to left. */
static bool is_rtl(const label *l) {
    for (size_t i = 0; i < l->n; i++)
        if (bidi_of(l->cp[i]) <= BIDI_AN) return true;
    return false;
}

/* The six rules of section 2. They apply to every label of a name if one label has right-to-left
 * characters. libidn2 looks at one label, and not at the digits of two kinds. */
static bool fits_bidi_name(const label *l) {
    bidi_class first = bidi_of(l->cp[0]);
    bool rtl = first == BIDI_R, has_en = false, has_an = false;
    if (!rtl && first != BIDI_L) return false;
    size_t last = l->n - 1;
    while (last > 0 && bidi_of(l->cp[last]) == BIDI_NSM) last--;
    bidi_class end = bidi_of(l->cp[last]);
    if (rtl ? end > BIDI_AN && end != BIDI_EN : end != BIDI_L && end != BIDI_EN) return false;
    for (size_t i = 0; i < l->n; i++) {
        bidi_class b = bidi_of(l->cp[i]);
        has_en = has_en || b == BIDI_EN;
        has_an = has_an || b == BIDI_AN;
        if (b < BIDI_EN && (rtl ? b == BIDI_L : b != BIDI_L)) return false;
    }
    return !(rtl && has_en && has_an);
}

/* ---- the name -------------------------------------------------------------------------------- */

/* The full stop, and the three characters that IDNA treats as a full stop. */
static bool is_separator(uint32_t c) {
    return c == '.' || c == 0x3002 || c == 0xFF0E || c == 0xFF61;
}

bool mwl__format_idn_host(const char *s, size_t len, bool ascii_host) {
    bool any_rtl = false, all_fit = true;
    size_t total = 0;
    label l = {.n = 0};
    for (size_t i = 0;;) {
        uint32_t c = '.';
        if (i < len) {
            size_t width = mwl__utf8_decode(s + i, len - i, &c);
            if (width == 0) return false;
            i += width;
            if (!is_separator(c)) {
                if (l.n == LABEL_MAX_POINTS) return false;
                l.cp[l.n++] = c;
                continue;
            }
            if (i == len) return false; /* a separator at the end leaves an empty label */
        }
        if (l.n == 0 || !judge_label(&l, ascii_host)) return false;
        total += l.encoded + (total ? 1 : 0);
        if (total > NAME_MAX_BYTES) return false;
        any_rtl = any_rtl || is_rtl(&l);
        all_fit = all_fit && fits_bidi_name(&l);
        l.n = 0;
        if (i == len) return !any_rtl || all_fit;
    }
}
