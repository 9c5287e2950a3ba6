/* suggest.h: finds the name that the author probably meant.
 *
 * Owns: what a near name is. Refuses to know: where names come from.
 *
 *     mwl__suggest s = mwl__suggest_make(text, len);
 *     for each candidate: mwl__suggest_offer(&s, name, name_len);
 *     if (s.best) ... s.best, s.best_len
 *
 * The distance counts insertions, deletions, replacements and swaps of neighbouring code points; no
 * place is edited twice (optimal string alignment). Of names with equal distance, the one with
 * fewer differences in case is nearer, then the one offered first. A name is near if there is at
 * most one edit for every three code points of the longer name. Nothing is allocated. Candidates
 * are lent. */
#ifndef MWL_SUGGEST_H
#define MWL_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MWL__SUGGEST_MAX 64 /* code points; longer names get no suggestion */

typedef struct mwl__suggest {
    uint32_t word[MWL__SUGGEST_MAX];
    unsigned n_word; /* 0: empty, too long or not UTF-8; then no name is near */
    unsigned distance;
    const char *best; /* NULL while no candidate is near */
    size_t best_len;
} mwl__suggest;

mwl__suggest mwl__suggest_make(const char *text, size_t len);
void mwl__suggest_offer(mwl__suggest *s, const char *name, size_t len);

/* A word of another language, from a text whose lines are "words > name: help". The words are in
 * lower case and parted by blanks. */
typedef struct mwl__named {
    const char *name; /* its name in MWL; NULL: MWL does not have it */
    size_t name_len;
    const char *help; /* what to write; NULL: `name` in its place, which is exact */
    size_t help_len;
    const char *rest; /* the text after this line, where the word may come again */
} mwl__named;

/* Look a word up in such a text (or NULL), without regard to case. */
bool mwl__word_find(const char *words, const char *word, size_t len, mwl__named *out);

/* Returns the nearest of `n` names, or NULL. */
const char *mwl__suggest_among(const char *text, size_t len, const char *const *names, size_t n);

#endif
