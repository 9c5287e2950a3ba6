#!/bin/sh
# run.sh CC LIBRARY HEADERS...: hosts that were compiled with other headers run with the present shared library.
#   released   the headers that a version came with first, tests/api/abi/VERSION; while that version is the present one, its
#              own headers may have grown since
#   shorter    these, without the last member of each struct that can grow: as if it had come later
#   longer     the present ones with one member more in each: the library is older than the header
# A member that the library does not know is refused with MWL_E_VERSION. A host of 0.1, which had no such guard, is
# refused by the loader and by the linker.
set -eu
cc=$1
library=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$(dirname "$library")
all="mwl_config mwl_start mwl_load mwl_call_provider mwl_middleware mwl_asm_options mwl_asm_result mwl_where"
# The first release's mwl_asm_free() needs the last member of mwl_asm_result.
cut="mwl_config mwl_start mwl_load mwl_call_provider mwl_middleware mwl_asm_options mwl_where"

build_and_run() { # NAME INCLUDES FLAGS...
    name=$1
    includes=$2
    shift 2
    "$cc" -std=c11 -Wall -Wextra -Werror -Wno-missing-field-initializers "$@" -I"$includes" "$here/host.c" \
        -o "$work/$name.host" "$library" -Wl,-rpath,"$folder"
    "$work/$name.host" >"$work/out" || { echo "a host with $name headers fails"; exit 1; }
    echo "$name: $(cat "$work/out")"
}

# Removes the last member of each struct, or adds one. A member is what ends with a semicolon.
edit() { # FOLDER HOW STRUCTS
    for struct in $3; do
        for header in "$1"/*.h; do
            awk -v struct="$struct" -v how="$2" '
                { lines[NR] = $0 }
                $0 == "typedef struct " struct " {" { begin = NR }
                begin && !end && $0 == "} " struct ";" { end = NR }
                END {
                    cut = 0
                    if (end && how == "shorter") { # the last statement, with what it goes over
                        for (last = end - 1; lines[last] !~ /;/; last--) continue
                        for (first = last; first - 1 > begin && lines[first - 1] !~ /;|\*\/|\{/; first--) continue
                        cut = 1
                    }
                    for (i = 1; i <= NR; i++) {
                        if (cut && i >= first && i <= last) continue
                        if (end && how == "longer" && i == end) print "    unsigned long from_the_future;"
                        print lines[i]
                    }
                }' "$header" >"$work/edited"
            cp "$work/edited" "$header"
        done
    done
}

for release in "$here"/[0-9]*; do
    build_and_run "released-${release##*/}" "$release"
    mkdir "$work/shorter"
    cp "$release"/*.h "$work/shorter"
    edit "$work/shorter" shorter "$cut"
    if cmp -s "$release/mwl.h" "$work/shorter/mwl.h"; then echo "nothing was cut"; exit 1; fi
    build_and_run shorter "$work/shorter" -DSHORTER
    rm -r "$work/shorter"
done
mkdir "$work/longer"
cp "$@" "$work/longer"
edit "$work/longer" longer "$all"
build_and_run longer "$work/longer" -DTOO_NEW

# What a binary asks the loader for names the minor version.
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
version=$(sed -n 's/^#define MWL_VERSION "\([0-9]*\.[0-9]*\)\..*/\1/p' "$here/../../../vm/mwl.h")
[ "$soname" = "libmwlvm.so.$version" ] || { echo "the soname is $soname"; exit 1; }
for old in mwl_vm_new mwl_run_start mwl_vm_provide mwl_assemble; do
    if nm -D --defined-only "$library" | grep -qw "$old"; then
        echo "$old of 0.1, which did not say its sizes, can be linked"
        exit 1
    fi
done
