/* suggest.c: see suggest.h. */
#include "suggest.h"

#include "utf8.h"

#include <string.h>

/* Code points of valid UTF-8; 0 when it is empty, too long or not valid. */
static unsigned decode(const char *s, size_t len, uint32_t out[MWL__SUGGEST_MAX]) {
    unsigned n = 0;
    for (size_t i = 0; i < len;) {
        if (n == MWL__SUGGEST_MAX) return 0;
        size_t width = mwl__utf8_decode(s + i, len - i, &out[n]);
        if (width == 0) return 0;
        i += width;
        n++;
    }
    return n;
}

static uint32_t fold(uint32_t c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* The distance of a and b, or any number above `most` when it is above. Case counts as half an edit,
 * so everything is doubled: an edit is 2. */
static unsigned distance(const uint32_t *a, unsigned n, const uint32_t *b, unsigned m,
                         unsigned most) {
    unsigned row[3][MWL__SUGGEST_MAX + 1];
    unsigned *before = row[0], *above = row[1], *here = row[2];
    for (unsigned j = 0; j <= m; j++) above[j] = 2 * j;
    for (unsigned i = 1; i <= n; i++) {
        unsigned smallest = here[0] = 2 * i;
        for (unsigned j = 1; j <= m; j++) {
            unsigned change = a[i - 1] == b[j - 1] ? 0 : fold(a[i - 1]) == fold(b[j - 1]) ? 1 : 2;
            unsigned d = least(above[j - 1] + change, least(above[j], here[j - 1]) + 2);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d = least(d, before[j - 2] + 2);
            here[j] = d;
            smallest = least(smallest, d);
        }
        /* A swap reaches back two rows, so one row above the bound is not yet the end. */
        if (smallest > most + 2) return most + 1;
        unsigned *oldest = before;
        before = above;
        above = here;
        here = oldest;
    }
    return above[m];
}

mwl__suggest mwl__suggest_make(const char *text, size_t len) {
    mwl__suggest s;
    memset(&s, 0, sizeof s);
    s.n_word = decode(text, len, s.word);
    return s;
}

static bool same_but_case(const uint32_t *a, const uint32_t *b, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if (fold(a[i]) != fold(b[i])) return false;
    return true;
}

void mwl__suggest_offer(mwl__suggest *s, const char *name, size_t len) {
    /* Cheap refusal first: a `steps` map can have ten thousand names. */
    if (s->n_word == 0 || len > 4u * MWL__SUGGEST_MAX) return;
    uint32_t other[MWL__SUGGEST_MAX];
    unsigned n = decode(name, len, other);
    if (n == 0) return;
    unsigned longer = n > s->n_word ? n : s->n_word, shorter = n + s->n_word - longer;
    unsigned most = 2 * (longer / 3); /* doubled, as distances are */
    unsigned d;
    if (n == s->n_word && same_but_case(s->word, other, n)) {
        d = 0;
    } else {
        if (s->best && s->distance == 0) return;
        if (s->best && s->distance - 1 < most) most = s->distance - 1;
        if (2 * (longer - shorter) > most) return;
        d = distance(s->word, s->n_word, other, n, most);
        if (d > most) return;
    }
    if (s->best && d >= s->distance) return;
    s->distance = d;
    s->best = name;
    s->best_len = len;
}

const char *mwl__suggest_among(const char *text, size_t len, const char *const *names, size_t n) {
    mwl__suggest s = mwl__suggest_make(text, len);
    for (size_t i = 0; i < n; i++) mwl__suggest_offer(&s, names[i], strlen(names[i]));
    return s.best;
}
