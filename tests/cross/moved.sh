#!/bin/sh
# moved.sh HERE THERE: a program that one command has assembled is byte by byte what the other one assembles, and runs
# there; a run that one has saved, the other one shows the same and finishes the same. Both ways. HERE is the command of
# this machine, THERE that of another, with its emulator.
here=$1 there=$2
flow=$(dirname "$0")/nap.json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() {
    echo "FAIL $*"
    failed=1
}
program() { # program FROM TO OPTION...: through the file, and through standard output
    from=$1 to=$2
    shift 2
    "$from" asm "$flow" -o "$work/one.mwlb" "$@" || complain "$from does not assemble ($*)"
    "$to" asm "$flow" -o - "$@" >"$work/other.mwlb" || complain "$to does not assemble ($*)"
    cmp "$work/one.mwlb" "$work/other.mwlb" || complain "$to assembles other bytes than $from ($*)"
    [ "$("$to" run "$work/one.mwlb" --input 7 --virtual-time)" = '[5,7]' ] || complain "$to does not run what $from has assembled ($*)"
}
move() { # move FROM TO
    "$1" run "$flow" --input 7 --id job --save "$work/saved" --save-at nap 2>"$work/note" || complain "$1 does not save"
    "$1" show --json "$work/saved" >"$work/show1" || complain "$1 does not show what it has saved"
    "$2" show --json "$work/saved" >"$work/show2" || complain "$2 does not show what $1 has saved"
    cmp "$work/show1" "$work/show2" || complain "$2 shows something else than $1"
    [ "$("$2" resume "$work/saved" --virtual-time)" = '[5,7]' ] || complain "$2 does not finish what $1 has saved"
}
program "$here" "$there"
program "$there" "$here"
program "$here" "$there" --strip
program "$there" "$here" --strip
move "$here" "$there"
move "$there" "$here"
exit $failed
