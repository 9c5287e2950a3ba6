#!/bin/sh
# moved.sh HERE THERE: a run that one command has saved, the other one shows the same and finishes the same; both ways.
# HERE is the command of this machine, THERE that of another, with its emulator.
here=$1 there=$2
flow=$(dirname "$0")/nap.json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() {
    echo "FAIL $*"
    failed=1
}
move() { # move FROM TO
    "$1" run "$flow" --input 7 --id job --save "$work/saved" --save-at nap 2>"$work/note" || complain "$1 does not save"
    "$1" show --json "$work/saved" >"$work/show1" || complain "$1 does not show what it has saved"
    "$2" show --json "$work/saved" >"$work/show2" || complain "$2 does not show what $1 has saved"
    cmp "$work/show1" "$work/show2" || complain "$2 shows something else than $1"
    [ "$("$2" resume "$work/saved" --virtual-time)" = '[5,7]' ] || complain "$2 does not finish what $1 has saved"
}
move "$here" "$there"
move "$there" "$here"
exit $failed
