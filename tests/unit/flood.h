/* flood.h: object keys that have the same 64-bit XXH3 hash without a seed, and with most seeds:
 * what a hostile sender would use against a table that uses the hash stored in strings.
 *
 * Of texts longer than 240 bytes XXH3 multiplies the two halves of each word after joining them
 * with its own fixed secret. In two places the upper half is that secret's, so the product is 0,
 * and what is left of the words is a sum, which is kept the same. */
#ifndef FLOOD_H
#define FLOOD_H

#include <string.h>

#define FLOOD_LEN 577
enum { FLOOD_LETTERS = 50 };
#define FLOOD_MOST (50u * 50u * 50u) /* different keys */

/* From '0' to 'a'; neither it nor its partner to the same sum (0x9e) is '\\', which JSON escapes.
 */
static inline char flood_letter(unsigned i) {
    char c = (char)('0' + i % FLOOD_LETTERS);
    return c == '\\' ? 'b' : c == 0x9e - '\\' ? 'c' : c;
}

/* Key number i: FLOOD_LEN bytes of valid UTF-8 that need no escape in JSON. */
static inline void flood_key(unsigned i, char key[FLOOD_LEN]) {
    char a[3] = {flood_letter(i), flood_letter(i / FLOOD_LETTERS),
                 flood_letter(i / FLOOD_LETTERS / FLOOD_LETTERS)};
    memset(key, '.', FLOOD_LEN);
    memcpy(key + 59, "\xc3\x81\x3a\x26\x4c", 5);
    memcpy(key + 507, "\x41\xcd\xb4\x59\x31", 5);
    for (int k = 0; k < 3; k++) {
        key[56 + k] = a[k];
        key[504 + k] = (char)(0x9e - a[k]);
    }
}

#endif
