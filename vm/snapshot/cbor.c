/* cbor.c: see cbor.h. */
#include "vm/snapshot/cbor.h"

#include <math.h>

/* ---- writing --------------------------------------------------------------------------------- */

static char *put_number(char *at, unsigned first, uint64_t n, unsigned bytes) {
    *at++ = (char)first;
    for (unsigned shift = 8 * bytes; shift > 0; shift -= 8) *at++ = (char)(n >> (shift - 8));
    return at;
}

char *mwl__cbor_long(char *at, unsigned first, uint64_t n) {
    if (n <= 0xff) return put_number(at, first | 24, n, 1);
    if (n <= 0xffff) return put_number(at, first | 25, n, 2);
    if (n <= 0xffffffffu) return put_number(at, first | 26, n, 4);
    return put_number(at, first | 27, n, 8);
}

void mwl__cbor_bytes(mwl__buf *out, mwl__major major, const void *data, size_t len) {
    if (!mwl__buf_reserve(out, MWL_CBOR_HEAD + len)) return;
    char *at = mwl__cbor_head_at(out->data + out->len, major, len);
    if (len) memcpy(at, data, len);
    out->len = (size_t)(at + len - out->data);
}

/* Finds the half-precision number that is exactly this single-precision one. */
static bool as_half(uint32_t bits, uint32_t *half) {
    uint32_t sign = bits >> 16 & 0x8000u, fraction = bits & 0x7fffffu;
    int e = (int)(bits >> 23 & 0xff) - 127;
    if ((bits & 0x7fffffffu) == 0) {
        *half = sign;
        return true;
    }
    if (e == 128) {
        *half = sign | 0x7c00u | (fraction ? 0x200u : 0);
        return true;
    }
    if (e >= -14 && e <= 15) {
        *half = sign | (uint32_t)(e + 15) << 10 | fraction >> 13;
        return (fraction & 0x1fffu) == 0;
    }
    if (e < -24 || e > 15) return false;
    unsigned shift = (unsigned)(-14 - e) + 13; /* a number below the smallest normal one */
    uint32_t whole = fraction | 0x800000u;
    *half = sign | whole >> shift;
    return (whole & ((1u << shift) - 1)) == 0;
}

/* The shortest exact form: 2, 4 or 8 bytes. All NaN are one. */
static unsigned float_form(double d, uint64_t *bits) {
    uint32_t single, half;
    float f = (float)d;
    if (d != d) {
        *bits = 0x7e00;
        return 2;
    }
    if ((double)f != d) {
        memcpy(bits, &d, 8);
        return 8;
    }
    memcpy(&single, &f, 4);
    *bits = single;
    if (!as_half(single, &half)) return 4;
    *bits = half;
    return 2;
}

static bool is_whole(double d) {
    return d >= -9007199254740992.0 && d <= 9007199254740992.0 && (double)(int64_t)d == d &&
           !(d == 0 && signbit(d));
}

void mwl__cbor_double(mwl__buf *out, double d) {
    uint64_t bits;
    if (is_whole(d)) {
        mwl__cbor_int(out, (int64_t)d);
        return;
    }
    unsigned bytes = float_form(d, &bits);
    if (!mwl__buf_reserve(out, MWL_CBOR_HEAD)) return;
    unsigned first = bytes == 2 ? 0xf9 : bytes == 4 ? 0xfa : 0xfb;
    out->len = (size_t)(put_number(out->data + out->len, first, bits, bytes) - out->data);
}

/* ---- reading --------------------------------------------------------------------------------- */

static double half_value(uint32_t half) {
    int e = (int)(half >> 10 & 31);
    double m = half & 0x3ffu;
    double d = e == 0    ? ldexp(m, -24)
               : e == 31 ? (m != 0 ? NAN : INFINITY)
                         : ldexp(m + 1024, e - 25);
    return half & 0x8000u ? -d : d;
}

static bool read_float(uint64_t raw, unsigned bytes, uint64_t *n) {
    double d;
    float f;
    uint32_t single = (uint32_t)raw;
    uint64_t again;
    if (bytes == 2)
        d = half_value((uint32_t)raw);
    else if (bytes == 4)
        memcpy(&f, &single, 4), d = (double)f;
    else
        memcpy(&d, &raw, 8);
    (void)float_form(d, &again); /* the bits differ if the sizes do */
    if (is_whole(d) || again != raw) return false;
    memcpy(n, &d, 8);
    return true;
}

bool mwl__cbor_next(mwl__cbor *c, mwl__major *major, uint64_t *n) {
    if (c->at >= c->end) return false;
    unsigned first = *c->at, low = first & 31;
    *major = (mwl__major)(first >> 5);
    if (low > 27) return false; /* reserved, or of indefinite length */
    unsigned bytes = low < 24 ? 0 : 1u << (low - 24);
    if (bytes > (size_t)(c->end - c->at - 1)) return false;
    uint64_t v = low;
    if (bytes) v = 0;
    for (unsigned i = 0; i < bytes; i++) v = v << 8 | c->at[1 + i];
    if (*major == MWL_CBOR_SIMPLE && bytes >= 2) {
        *major = MWL_CBOR_FLOAT;
        if (!read_float(v, bytes, n)) return false;
    } else {
        static const uint64_t least[9] = {[1] = 24, [2] = 0x100, [4] = 0x10000, [8] = 0x100000000};
        if (v < least[bytes]) return false;
        if (*major == MWL_CBOR_SIMPLE && (bytes || v < MWL_CBOR_FALSE || v > MWL_CBOR_UNDEFINED))
            return false;
        *n = v;
    }
    c->at += 1 + bytes;
    return true;
}
