/* suggest.c: see suggest.h. */
#include "vm/base/ascii.h"
#include "vm/base/suggest.h"

#include "vm/base/utf8.h"

#include <string.h>

/* Decodes UTF-8 into code points. Returns 0 if the text is empty, too long or not valid. */
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

static uint32_t fold(uint32_t c) { return mwl__is_upper(c) ? c + 32 : c; }

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* A difference in case costs so little that even one at every place of the longest name costs less
 * than an edit. So edits decide first, and case decides between equals. */
#define EDIT (2u * MWL__SUGGEST_MAX)

static unsigned change(uint32_t a, uint32_t b) {
    return a == b ? 0 : fold(a) == fold(b) ? 1 : EDIT;
}

/* Returns the distance of a and b, or any number above `most` if it is above `most`. */
static unsigned distance(const uint32_t *a, unsigned n, const uint32_t *b, unsigned m,
                         unsigned most) {
    unsigned row[3][MWL__SUGGEST_MAX + 1];
    unsigned *before = row[0], *above = row[1], *here = row[2];
    for (unsigned j = 0; j <= m; j++) above[j] = EDIT * j;
    for (unsigned i = 1; i <= n; i++) {
        unsigned smallest = here[0] = EDIT * i;
        for (unsigned j = 1; j <= m; j++) {
            unsigned d = least(above[j - 1] + change(a[i - 1], b[j - 1]),
                               least(above[j], here[j - 1]) + EDIT);
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
                fold(a[i - 2]) == fold(b[j - 1]))
                d = least(d, before[j - 2] + EDIT + change(a[i - 1], b[j - 2]) +
                                 change(a[i - 2], b[j - 1]));
            here[j] = d;
            smallest = least(smallest, d);
        }
        /* A swap needs the row two above. The row above is at most one edit better than this
         * one. */
        if (smallest > most + EDIT) return most + 1;
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

void mwl__suggest_offer(mwl__suggest *s, const char *name, size_t len) {
    /* First the cheap tests: a `steps` map can have ten thousand names. */
    if (s->n_word == 0 || len > (size_t)4 * MWL__SUGGEST_MAX || (s->best && s->distance == 0))
        return;
    uint32_t other[MWL__SUGGEST_MAX];
    unsigned n = decode(name, len, other);
    if (n == 0) return;
    unsigned longer = n > s->n_word ? n : s->n_word, shorter = n + s->n_word - longer;
    unsigned most = EDIT * (longer / 3) + MWL__SUGGEST_MAX;
    if (s->best) most = least(most, s->distance - 1);
    if (EDIT * (longer - shorter) > most) return;
    unsigned d = distance(s->word, s->n_word, other, n, most);
    if (d > most) return;
    s->distance = d;
    s->best = name;
    s->best_len = len;
}

const char *mwl__suggest_among(const char *text, size_t len, const char *const *names, size_t n) {
    mwl__suggest s = mwl__suggest_make(text, len);
    for (size_t i = 0; i < n; i++) mwl__suggest_offer(&s, names[i], strlen(names[i]));
    return s.best;
}

/* ---- words of other languages ---------------------------------------------------------------- */

/* Whether the word is among those from p to `end`, which blanks part. */
static bool among(const char *p, const char *end, const char *word, size_t len) {
    while (p < end) {
        size_t n = 0;
        while (p + n < end && p[n] != ' ') n++;
        size_t i = 0;
        while (i < n && n == len && p[i] == mwl__to_lower(word[i])) i++;
        if (i == n && n == len) return true;
        p += n + 1;
    }
    return false;
}

bool mwl__word_find(const char *words, const char *word, size_t len, mwl__named *out) {
    for (const char *line = words, *end; line && *line; line = end + 1) {
        end = strchr(line, '\n');
        const char *mark = strchr(line, '>');
        memset(out, 0, sizeof *out);
        out->rest = end + 1;
        if (len == 0 || !among(line, mark - 1, word, len)) continue;
        const char *p = mark + 1 + (mark[1] == ' ');
        size_t n = strcspn(p, ":\n");
        if (n) out->name = p, out->name_len = n;
        if (p[n] == ':') out->help = p + n + 2, out->help_len = (size_t)(end - out->help);
        return true;
    }
    return false;
}
