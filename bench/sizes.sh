#!/bin/sh
# sizes.sh BUILD LTO: what the library of the Release build BUILD and small hosts with it inside weigh, and the library of
# LTO, a build with link-time optimisation; writes bench/SIZES.md.
# Each host is run before it is weighed. `tools/dev sizes` builds and calls this.
set -eu
cd "$(dirname "$0")/.."
build=$1
lto=$2
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig"
flags="$(pkg-config --cflags mwlvm) -O2 -Wl,--gc-sections,-z,pack-relative-relocs"
libraries=$(pkg-config --static --libs mwlvm | sed "s|-lmwlvm|$work/prefix/lib/libmwlvm.a|")

kib() { # kib FILE: stripped
    strip -o "$work/stripped" "$1"
    echo "$((($(wc -c <"$work/stripped") + 1023) / 1024)) KiB"
}

host() { # host NAME SOURCE [OPTION...]
    name=$work/$1 source=$2
    shift 2
    # shellcheck disable=SC2086  # flags are words
    "$cc" $flags "$@" "$source" -o "$name" $libraries
}

cat >"$work/hello.json" <<'JSON'
{"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a",
 "steps": {"a": {"action": "Return", "value": "{{ 'Hello, ' + 'world!' }}"}}}
JSON
host assembles tools/examples/hello_host.c
host loads bench/sizes/load.c
host provides bench/sizes/load.c -DHOST_PROVIDER
"$work/prefix/bin/mwlvm" asm "$work/hello.json" -o "$work/hello.mwlb"
for name in assembles loads provides; do
    argument=$work/hello.mwlb
    [ "$name" != assembles ] || argument=world
    [ "$("$work/$name" "$argument")" = "Hello, world!" ] || { echo "the host '$name' does not work"; exit 1; }
done

# The smallest library, which runs programs alone and needs libc alone; and the host with it inside.
small=$build/smallest
cmake -S . -B "$small" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=MinSizeRel -DMWL_ASSEMBLER=OFF -DMWL_STACKS=OFF \
    -DMWL_PCRE2=OFF -DMWL_IDN=OFF -DMWL_COMMAND=OFF -DMWL_BUILD_TESTS=OFF -DMWL_DOWNLOAD=OFF >"$work/log" 2>&1 &&
    cmake --build "$small" >>"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
# shellcheck disable=SC2086
"$cc" $flags bench/sizes/load.c -o "$work/small" "$small/libmwlvm.a" -lm
[ "$("$work/small" "$work/hello.mwlb")" = "Hello, world!" ] || { echo "the host of the smallest library does not work"; exit 1; }

folder() { # folder NAME: bytes of code and constants of its objects
    case $1 in
        stdlib/io) objects=mwlvm_io.dir ;; # with the documents of its providers
        stdlib/durable) objects=mwlvm_durable.dir ;;
        tools/*) objects=mwlvm.dir/$1 ;;
        *) objects=mwl_objects.dir/$1 ;;
    esac
    case $objects in */*) depth='-maxdepth 1' ;; *) depth= ;; esac
    # shellcheck disable=SC2086  # words of find
    find "$build/CMakeFiles/$objects" $depth -name '*.o' -exec size {} + 2>/dev/null |
        awk '$1 + 0 > 0 { sum += $1 } END { if (sum) printf "%.0f KiB", sum / 1024 }'
}

programs() { # what definitions of the conformance suite become, if it is there
    suite=${MWL_SUITES:-}/mwl
    [ -d "$suite" ] || return 0
    python3 - "$work/prefix/bin/mwlvm" "$suite" <<'PYTHON'
import glob, json, os, subprocess, sys, tempfile

mwlvm, suite = sys.argv[1:]
rows = []
with tempfile.TemporaryDirectory() as folder:
    out = os.path.join(folder, "out.mwlb")
    for name in sorted(glob.glob(suite + "/**/definition.json", recursive=True)):
        made = [subprocess.run([mwlvm, "asm", *words, "-o", out, name], capture_output=True).returncode or os.path.getsize(out)
                for words in (["--strip"], [])]
        if min(made) > 8:  # not a status
            text = json.dumps(json.load(open(name)), separators=(",", ":"), ensure_ascii=False).encode()
            rows.append((len(text), *made))
json_size, small, full = (sum(row[i] for row in rows) for i in range(3))
each = sorted(100 * row[1] / row[0] for row in rows)
print(f"""
The programs of {len(rows)} conformance definitions. The minified JSON has {json_size:,} bytes:

| program | bytes | of the JSON |
| --- | ---: | ---: |
| packed, without definition and positions (`mwlvm asm --strip`) | {small:,} | {100 * small / json_size:.0f} % ({each[0]:.0f} % to {each[-1]:.0f} %) |
| as `mwlvm asm` writes it | {full:,} | {100 * full / json_size:.0f} % |""")
PYTHON
}

{
    echo "# Sizes"
    echo
    echo "Written by \`tools/dev sizes\`; do not edit."
    echo
    echo "$(date -u +%F), $(uname -m), $("$cc" --version | head -n 1), a Release build, stripped. The hosts contain libmwlvm.a,"
    echo "linked with \`-Wl,--gc-sections,-z,pack-relative-relocs\`; the libraries below it are shared ones."
    echo
    echo "| what | size |"
    echo "| --- | ---: |"
    echo "| \`libmwlvm.so\` | $(kib "$work/prefix/lib/libmwlvm.so") |"
    echo "| \`libmwlvm.so\` with link-time optimisation, as \`tools/dev bench\` measures it | $(kib "$lto/libmwlvm.so") |"
    echo "| the command \`mwlvm\` | $(kib "$work/prefix/bin/mwlvm") |"
    echo "| a host that assembles and runs a definition (\`tools/examples/hello_host.c\`) | $(kib "$work/assembles") |"
    echo "| a host that loads and runs a program (\`bench/sizes/load.c\`) | $(kib "$work/loads") |"
    echo "| the same with a provider of its own, whose document must be checked | $(kib "$work/provides") |"
    echo "| the smallest \`libmwlvm.so\`: runs programs alone, \`-Os\`, needs libc alone | $(kib "$small/libmwlvm.so") |"
    echo "| a host that loads and runs a program, with the smallest library inside | $(kib "$work/small") |"
    echo
    limit=$(sed -n 's/^limit_kib=//p' tests/install/library.sh)
    echo "The tests \`library\`, \`library_release\` and \`library_lto\` allow $limit KiB for \`libmwlvm.so\` in each build."
    programs
    echo
    echo "Code and constants of each folder's objects, before linking; those of tools/ as they are in the command:"
    echo
    echo "| folder | size |"
    echo "| --- | ---: |"
    for path in vm/*/ assembler/ assembler/*/ stdlib/ stdlib/io/ stdlib/durable/ tools/*/; do
        weight=$(folder "${path%/}")
        [ -z "$weight" ] || echo "| ${path%/} | $weight |"
    done
} >"$work/SIZES.md"
cp "$work/SIZES.md" bench/SIZES.md
cat bench/SIZES.md
