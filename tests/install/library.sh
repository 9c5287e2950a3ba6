#!/bin/sh
# library.sh SHARED HOST BUILD_TYPE STRESS COMPILER: which libraries the shared library needs, and its size, stripped;
# also the size of HOST, a small host with the static library in it, if it is not "".
set -eu
shared=$1
host=$2
type=$3
stress=$4
compiler=$5
status=0
# What the shared library may weigh, in KiB, stripped, so that a change which adds much is noticed. bench/SIZES.md has what
# it weighs. yyjson, which is compiled into it, counts apart.
limit_kib=800
# The bytes of yyjson in a file that is not stripped: its functions for reading and their tables.
yyjson() { # FILE
    sum=0
    for size in $(nm -S "$1" | awk '$4 ~ /^(yyjson_|read_root_|read_number_raw|is_truncated_end|bigint_set|(pow10_sig|u64_pow10|f64_pow10|char|digi|hex_conv)_table)/ { print $2 }'); do
        sum=$((sum + 0x$size))
    done
    echo $sum
}

needed=$(readelf -d "$shared" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for name in $needed; do
    case $name in
        # libpthread is libc's own, before glibc 2.34
        libc.so.* | libm.so.* | libpthread.so.* | ld-linux*.so.*) ;;
        libpcre2-8.so.*) ;;
        # libidn2 is loaded when a host name needs it.
        *) echo "$name is needed, and should not be"; status=1 ;;
    esac
done
# What mwlvm.pc lists for the static library is what the shared one needs; libc has the other three.
for name in $(sed -n 's/^Libs.private: //p' "${shared%/*}/mwlvm.pc" | tr ' ' '\n' | sed -n 's/^-l//p'); do
    case $name in m | dl | pthread) continue ;; esac
    echo "$needed" | grep -q "^lib$name\.so" || { echo "mwlvm.pc lists $name, which is not used"; status=1; }
done
# Every function that a public header declares can be linked.
exported=$(nm -D --defined-only "$shared" | sed 's/.* //')
for name in $(cat vm/mwl.h vm/mwl_provider.h assembler/mwl_asm.h stdlib/mwl_std.h | sed -n 's/^MWL_API.*\b\(mwl_[a-z0-9_]*\)(.*/\1/p'); do
    echo "$exported" | grep -qx "$name" || {
        echo "$name is in a public header and not in the shared library"
        status=1
    }
done

# shellcheck disable=SC2086  # a list of words
echo "needs:" $needed

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "$shared" ${host:+"$host"}; do
    strip -o "$work/stripped" "$file"
    size=$(($(wc -c <"$work/stripped")))
    of_yyjson=$(yyjson "$file")
    echo "${file##*/}, stripped: $size bytes, $((size / 1024)) KiB; $((of_yyjson / 1024)) of them are yyjson's"
    size=$((size - of_yyjson))
    # The promise is for what people install, as gcc makes it here; other machines' code has other sizes.
    if [ "$file" = "$shared" ] && [ "$size" -ge $((limit_kib * 1024)) ] && [ "$(uname -m)" = x86_64 ] && [ "$compiler" = GNU ]; then
        case $type/$stress in
            Release/OFF | RelWithDebInfo/OFF) echo "that is more than $limit_kib KiB"; status=1 ;;
        esac
    fi
done
exit $status
