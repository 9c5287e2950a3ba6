/* text.c: finds one text in another, in linear time.
 *
 * Owns: mwl_text_find and mwl_text_find_last. Refuses to know: characters. In valid UTF-8 a match
 * of whole characters is a match of bytes, and a match always starts at a character.
 *
 * It begins with the plain search, which is fastest for ordinary texts. When the bytes compared
 * without success are several times the bytes passed, it switches to the two-way algorithm of
 * Crochemore and Perrin, which needs linear time and constant memory. Both directions use the same
 * code over a view, which may run backward. */
#include "mwl.h"

#include <string.h>

/* The bytes from `at` forward or, if step is -1, backward. */
typedef struct view {
    const unsigned char *at;
    ptrdiff_t step;
    size_t len;
} view;

static unsigned char byte(const view *v, size_t i) { return v->at[v->step * (ptrdiff_t)i]; }

/* Finds the start of the maximal suffix of the needle, in the order of bytes or its reverse, and
 * the period of that suffix. */
static size_t maximal_suffix(const view *n, bool reverse, size_t *period) {
    size_t start = 0, candidate = 1, k = 0, p = 1;
    while (candidate + k < n->len) {
        unsigned char a = byte(n, candidate + k), b = byte(n, start + k);
        if (a == b) {
            if (++k == p) {
                candidate += p;
                k = 0;
            }
        } else if (reverse ? a > b : a < b) {
            candidate += k + 1;
            k = 0;
            p = candidate - start;
        } else {
            start = candidate++;
            k = 0;
            p = 1;
        }
    }
    *period = p;
    return start;
}

static bool is_periodic(const view *n, size_t cut, size_t period) {
    for (size_t i = 0; i < cut; i++)
        if (i + period >= n->len || byte(n, i) != byte(n, i + period)) return false;
    return true;
}

/* The two-way search. It needs 1 < needle->n <= text->n. */
static size_t two_way(const view *t, const view *n) {
    size_t p1, p2;
    size_t s1 = maximal_suffix(n, false, &p1), s2 = maximal_suffix(n, true, &p2);
    size_t cut = s1 > s2 ? s1 : s2, period = s1 > s2 ? p1 : p2;
    bool periodic = is_periodic(n, cut, period);
    if (!periodic) period = (cut > n->len - cut ? cut : n->len - cut) + 1;
    size_t at = 0, known = 0; /* known: how much of the needle's start has matched already */
    while (at + n->len <= t->len) {
        size_t i = cut > known ? cut : known;
        while (i < n->len && byte(n, i) == byte(t, at + i)) i++;
        if (i < n->len) {
            at += i - cut + 1;
            known = 0;
            continue;
        }
        i = cut;
        while (i > known && byte(n, i - 1) == byte(t, at + i - 1)) i--;
        if (i <= known) return at;
        at += period;
        known = periodic ? n->len - period : 0;
    }
    return SIZE_MAX;
}

/* The plain search. Returns SIZE_MAX and sets *gave_up if it stopped before the end. The work that
 * it may waste grows with the bytes that it has passed, so that many searches through one text are
 * linear in total. */
static size_t plain(const view *t, const view *n, size_t *resume, bool *gave_up) {
    size_t wasted = 0, last = t->len - n->len;
    *gave_up = false;
    for (size_t at = 0; at <= last; at++) {
        if (t->step > 0) {
            const unsigned char *hit = memchr(t->at + at, byte(n, 0), last - at + 1);
            if (!hit) return SIZE_MAX;
            at = (size_t)(hit - t->at);
        }
        size_t i = 0;
        while (i < n->len && byte(n, i) == byte(t, at + i)) i++;
        if (i == n->len) return at;
        wasted += i;
        if (wasted > 4 * at + 256) {
            *gave_up = true;
            *resume = at;
            return SIZE_MAX;
        }
    }
    return SIZE_MAX;
}

static size_t find(const view *t, const view *n) {
    bool gave_up;
    size_t resume = 0, at = plain(t, n, &resume, &gave_up);
    if (!gave_up) return at;
    view rest = {t->at + t->step * (ptrdiff_t)resume, t->step, t->len - resume};
    at = two_way(&rest, n);
    return at == SIZE_MAX ? at : at + resume;
}

size_t mwl_text_find(const char *text, size_t len, const char *part, size_t n) {
    if (n == 0) return 0;
    if (n > len) return SIZE_MAX;
    view t = {(const unsigned char *)text, 1, len}, p = {(const unsigned char *)part, 1, n};
    return find(&t, &p);
}

size_t mwl_text_find_last(const char *text, size_t len, const char *part, size_t n) {
    if (n == 0) return len;
    if (n > len) return SIZE_MAX;
    view t = {(const unsigned char *)text + len - 1, -1, len};
    view p = {(const unsigned char *)part + n - 1, -1, n};
    size_t at = find(&t, &p);
    return at == SIZE_MAX ? at : len - at - n;
}
