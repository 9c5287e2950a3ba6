#!/bin/sh
# headers.sh: every function that a public header declares is used by a test or an example. NAME_sized is used by NAME,
# which is inline and adds the size of a struct.
cd "$(dirname "$0")/../.." || exit 1
status=0
for header in vm/mwl.h vm/mwl_provider.h assembler/mwl_asm.h stdlib/mwl_std.h; do
    for name in $(sed 's|/\*.*||; /^ \*/d' "$header" | grep -o '\bmwl_[a-z][a-z0-9_]*(' | tr -d '(' | sort -u); do
        grep -rqw "${name%_sized}" tests/api tests/unit tests/install/*.c tools/examples || {
            echo "$header: $name is used by no test and no example"
            status=1
        }
    done
done
exit $status
