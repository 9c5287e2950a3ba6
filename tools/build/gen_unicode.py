#!/usr/bin/env python3
"""gen_unicode.py FOLDER: writes the tables of Unicode's data, as libutf8proc has it, below FOLDER (the root of the tree):

  vm/regex/regex_unicode.h   categories and simple case mappings of all code points
  vm/base/columns_table.h    columns of a terminal
  vm/schema/format_bidi.h    Bidi classes of what labels of host names may have

Only who changes the version of Unicode needs that library (Debian: libutf8proc2). A run of one category, width or class
is start << 8 | it; it ends where the next one starts. A row of case mappings is: first and last code point, step, and what
to add for the lower, upper and title case."""
import ctypes
import os
import sys

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

VERSION = lib.utf8proc_unicode_version().decode()


def head(name, what):
    guard = f"MWL_{os.path.basename(name)[:-2].upper()}_H"
    return f"""/* {os.path.basename(name)}: {what}, Unicode {VERSION}. Made by
 * tools/build/gen_unicode.py, which explains them; do not edit. */
#ifndef {guard}
#define {guard}

#include <stdint.h>

"""


def array(name, values):
    rows = ("    " + ", ".join(f"0x{r:x}" for r in values[i:i + 8]) + "," for i in range(0, len(values), 8))
    return f"static const uint32_t {name}[{len(values)}] = {{\n" + "\n".join(rows) + "\n};\n"


def write(name, what, text):
    with open(os.path.join(sys.argv[1], name), "w") as file:
        file.write(head(name, what) + text + "\n#endif\n")


def runs_of(value_of):
    """What has no value does not matter."""
    out, before = [], None
    for c in range(MAX + 1):
        value = value_of(c)
        if value is not None and value != before:
            out.append(c << 8 | value)
            before = value
    return out


cases = f"""
typedef struct unicode_case {{
    uint32_t first, last, step;
    int32_t lower, upper, title;
}} unicode_case;

static const unicode_case unicode_cases[{len(rows)}] = {{
"""
for row in rows:
    cases += "    {" + ", ".join((f"0x{row[0]:x}", f"0x{row[1]:x}", str(row[2] or 1), *map(str, row[3:]))) + "},\n"
write("vm/regex/regex_unicode.h", "categories and simple case mappings", array("unicode_runs", runs) + cases + "};\n")

UNASSIGNED, PRIVATE, SURROGATE = 0, 29, 28
WIDTH_MATTERS = [lib.utf8proc_category(c) not in (UNASSIGNED, PRIVATE, SURROGATE) for c in range(MAX + 1)]
write("vm/base/columns_table.h", "columns of a terminal",
      array("columns_runs", runs_of(lambda c: lib.utf8proc_charwidth(c) if WIDTH_MATTERS[c] else None)))


class Property(ctypes.Structure):
    _fields_ = [("category", ctypes.c_int16), ("combining", ctypes.c_int16), ("bidi", ctypes.c_int16)]


lib.utf8proc_get_property.restype = ctypes.POINTER(Property)
BIDI = {4: 0, 5: 0, 12: 1, 1: 2, 9: 3}  # of utf8proc's: R and AL; AN; L; EN
CATEGORY_MN = 6
IN_LABELS = (2, 4, 5, 7, 9)  # Ll, Lm, Lo, Mc, Nd
EXCEPTIONS = (0xB7, 0x375, 0x5F3, 0x5F4, 0x6FD, 0x6FE, 0xF0B, 0x200C, 0x200D, 0x3007, 0x30FB)


def bidi(c):
    p = lib.utf8proc_get_property(c)[0]
    return BIDI.get(p.bidi, 4) if p.category in IN_LABELS or c in EXCEPTIONS else None


write("vm/schema/format_bidi.h", "Bidi classes of what labels of host names may have, but for marks (Mn)",
      f"""typedef enum bidi_class {{ BIDI_R, BIDI_AN, BIDI_L, BIDI_EN, BIDI_NEUTRAL, BIDI_NSM }} bidi_class;
enum {{ CATEGORY_MN = {CATEGORY_MN} }};

""" + array("bidi_runs", runs_of(bidi)))
