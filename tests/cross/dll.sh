#!/bin/sh
# dll.sh DLL HOST: what the DLL of Windows exports is what the public headers declare, and it needs nothing but Windows;
# HOST, which was compiled with MWL_DLL, imports from it.
dll=$1 host=$2
objdump=x86_64-w64-mingw32-objdump
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() {
    echo "FAIL $*"
    failed=1
}
cat vm/mwl.h vm/mwl_provider.h assembler/mwl_asm.h stdlib/mwl_std.h |
    sed -n 's/^MWL_API.*\b\(mwl_[a-z0-9_]*\)(.*/\1/p' | sort -u >"$work/declared"
$objdump -p "$dll" | sed -n '/Ordinal\/Name Pointer/,/^$/s/^\t*\[ *[0-9]*\] *\(.*\)$/\1/p' | sort >"$work/exported"
[ "$(wc -l <"$work/declared")" -gt 100 ] || complain "the headers cannot be read"
diff "$work/declared" "$work/exported" || complain "< is declared and not exported, > is exported and not declared"
for name in $($objdump -p "$dll" | sed -n 's/.*DLL Name: //p'); do
    case $name in
        [Kk][Ee][Rr][Nn][Ee][Ll]32.dll | msvcrt.dll | ADVAPI32.dll | api-ms-win-*.dll | ucrtbase.dll | bcrypt.dll) ;;
        *) complain "the DLL needs $name" ;;
    esac
done
$objdump -p "$host" | grep -q 'DLL Name: libmwlvm.dll' || complain "the host does not use the DLL"
exit $failed
