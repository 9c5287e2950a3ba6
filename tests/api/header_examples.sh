#!/bin/sh
# header_examples.sh OUT HEADER...: writes the examples of the public headers to OUT as C code. An
# example is a comment that begins with "/* Example"; its code is indented by five blanks.
set -eu
out=$1
shift
mkdir -p "$(dirname "$out")"
awk '
    /^\/\* Example/ { inside = 1; n++ }
    inside && /^ \*     / {
        if (!placed) { printf "#line %d \"%s\"\n", FNR, FILENAME; placed = 1 }
        print substr($0, 8)
    }
    inside && /^ \*$/ { print "" }
    /\*\/$/ { inside = placed = 0 }
    END { if (n < 9) exit 1 }
' "$@" >"$out" || { echo "header_examples.sh: examples are missing in: $*"; exit 1; }
