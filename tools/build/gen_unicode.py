#!/usr/bin/env python3
"""gen_unicode.py: prints vm/regex/regex_unicode.h: categories and simple case mappings of all code points, as utf8proc
has them. Run: python3 tools/build/gen_unicode.py > vm/regex/regex_unicode.h

A run of one category is start << 8 | category; it ends where the next one starts. A row of case mappings is: first and
last code point, step, and what to add for the lower, upper and title case."""
import ctypes

lib = ctypes.CDLL("libutf8proc.so.2")
lib.utf8proc_unicode_version.restype = ctypes.c_char_p
MAX = 0x10FFFF

runs, last = [], None
for c in range(MAX + 1):
    category = lib.utf8proc_category(c)
    if category != last:
        runs.append(c << 8 | category)
        last = category

rows = []
for c in range(MAX + 1):
    moves = tuple(f(c) - c for f in (lib.utf8proc_tolower, lib.utf8proc_toupper, lib.utf8proc_totitle))
    if moves == (0, 0, 0):
        continue
    for row in reversed(rows[-2:]):  # the one before, or the one before that in alternating ranges
        step = c - row[1]
        if row[3:] == list(moves) and step in (1, 2) and row[2] in (0, step):
            row[1], row[2] = c, step
            break
    else:
        rows.append([c, c, 0, *moves])
rows.sort()

print(f"""/* regex_unicode.h: categories and simple case mappings, Unicode {lib.utf8proc_unicode_version().decode()}. Made by
 * tools/build/gen_unicode.py, which explains them; do not edit. */
#ifndef MWL_REGEX_UNICODE_H
#define MWL_REGEX_UNICODE_H

#include <stdint.h>

static const uint32_t unicode_runs[{len(runs)}] = {{""")
print("\n".join("    " + ", ".join(f"0x{r:x}" for r in runs[i:i + 8]) + "," for i in range(0, len(runs), 8)))
print(f"""}};

typedef struct unicode_case {{
    uint32_t first, last, step;
    int32_t lower, upper, title;
}} unicode_case;

static const unicode_case unicode_cases[{len(rows)}] = {{""")
for row in rows:
    print("    {" + ", ".join((f"0x{row[0]:x}", f"0x{row[1]:x}", str(row[2] or 1), *map(str, row[3:]))) + "},")
print("};\n\n#endif")
