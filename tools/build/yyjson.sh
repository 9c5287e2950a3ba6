#!/bin/sh
# yyjson.sh DEST: puts yyjson.c and yyjson.h of Debian's source package into DEST, for a Debian release that has no
# libyyjson-dev. The machine's own archive entry is read and its suite is rewritten in a private apt configuration under
# DEST. So nothing of the system changes, nothing is installed, and no root is needed. Who calls it checks the hashes
# (cmake/MwlYyjson.cmake). Fails with one line.
set -eu

fail() {
    echo "yyjson: $*" >&2
    exit 1
}

dest=$1
command -v apt-get >/dev/null 2>&1 || fail "no apt on this machine"
[ -r /etc/os-release ] || fail "no /etc/os-release"
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
case $codename in
    bookworm) next=trixie ;;
    *) next=$codename ;;
esac

apt=$dest/apt
rm -rf "$apt"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts"
trap 'rm -rf "$apt"' EXIT

# The first entry whose suite is the release itself, in either of the two file formats.
signed=
uri=
for file in /etc/apt/sources.list.d/*.sources; do
    [ -r "$file" ] && [ -z "$uri" ] || continue
    found=$(awk -v suite="$codename" 'BEGIN { RS = ""; FS = "\n" }
        {
            uri = signed = ""; hit = 0
            for (i = 1; i <= NF; i++) {
                n = split($i, w, /[ \t]+/)
                if (w[1] == "URIs:") uri = w[2]
                if (w[1] == "Signed-By:") signed = w[2]
                if (w[1] == "Suites:") for (j = 2; j <= n; j++) if (w[j] == suite) hit = 1
            }
            if (hit && uri != "") { print uri, signed; exit }
        }' "$file")
    [ -z "$found" ] || { uri=${found%% *}; signed=${found#* }; }
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -r "$file" ] && [ -z "$uri" ] || continue
    found=$(awk -v suite="$codename" '$1 == "deb" {
            line = $0; signed = ""
            if (match(line, /signed-by=[^] ]+/)) signed = substr(line, RSTART + 10, RLENGTH - 10)
            sub(/\[[^]]*\]/, "", line); split(line, w, /[ \t]+/)
            if (w[3] == suite) { print w[2], signed; exit }
        }' "$file")
    [ -z "$found" ] || { uri=${found%% *}; signed=${found#* }; }
done
[ -n "$uri" ] || fail "apt has no entry for $codename"
case $signed in
    /*) option="[signed-by=$signed]" ;;
    *) option= ;;
esac
echo "deb-src $option $uri $next main" >"$apt/sources.list"

# The machine's settings (proxies, certificates) still apply; only places and indexes differ.
cat >"$apt/apt.conf" <<EOF
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "$apt/parts";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
Acquire::Languages "none";
Acquire::http::Timeout "8";
Acquire::https::Timeout "8";
Acquire::Retries "2";
APT::Get::List-Cleanup "false";
APT::Sandbox::User "";
EOF
export APT_CONFIG="$apt/apt.conf"
apt-get -qq update >"$dest/log" 2>&1 || fail "the archive's list of sources could not be read; see $dest/log"
cd "$apt"
apt-get -qq source --download-only --tar-only yyjson >>"$dest/log" 2>&1 ||
    fail "the source package could not be read; see $dest/log"
mkdir source
tar -xf yyjson_*.orig.tar.* -C source --strip-components=1 >>"$dest/log" 2>&1 && cp source/src/yyjson.c source/src/yyjson.h "$dest/" ||
    fail "the source package could not be unpacked; see $dest/log"
