#!/usr/bin/env python3
"""layers.py BUILD: the order of the folders, from the objects and from the includes.

Fails on an edge that MAY_USE does not allow, on a symbol of vm/ that is not public and used by
stdlib/, stdlib/io/ or stdlib/durable/, on a symbol with the public prefix that no public header has, and on a prototype that a
source file declares instead of including its header, and on a setting (#ifndef and #define) outside
of mwl_config.h.
vm/ARCHITECTURE.md draws the same order.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")

# A folder, and those that it may use directly. "public" stands for the headers that hosts include.
MAY_USE = {
    "vm/base": "",
    "vm/value": "vm/base",
    "vm/native": "vm/base",
    "vm/regex": "vm/base",
    "vm/schema": "vm/base vm/value vm/regex",
    "vm/program": "vm/base vm/value vm/regex vm/schema",
    "vm/cel": "vm/base vm/value vm/regex vm/program",
    "vm/machine": "vm/base vm/value vm/native vm/regex vm/schema vm/program vm/cel",
    "vm/snapshot": "vm/base vm/value vm/schema vm/program vm/cel vm/machine",
    "stdlib": "vm/base vm/value vm/cel vm/machine",  # their public functions only, see below
    "stdlib/io": "vm/base vm/value vm/program vm/cel vm/machine assembler assembler/provider",  # public functions only
    "stdlib/durable": "vm/base vm/value vm/program vm/cel vm/machine vm/snapshot",  # public functions only
    "assembler/source": "vm/base vm/value",
    "assembler/emit": "vm/base vm/value vm/program",
    "assembler/schema": "vm/base vm/value vm/regex vm/schema assembler/source assembler/emit",
    "assembler/cel": "vm/base vm/value vm/regex vm/program vm/cel vm/machine assembler/emit",
    "assembler/provider": "vm/base vm/schema vm/machine stdlib assembler/source assembler/schema",
    "assembler/check": "vm/base vm/value vm/regex vm/schema vm/program assembler/source "
    "assembler/schema assembler/cel assembler/provider",
    "assembler/lower": "vm/base vm/value vm/program vm/cel assembler/source assembler/emit "
    "assembler/schema assembler/cel assembler/check",
    "assembler": "vm/base vm/value vm/program vm/cel stdlib assembler/source assembler/emit "
    "assembler/provider assembler/check assembler/lower",
}
ON_PUBLIC = ("stdlib", "stdlib/io", "stdlib/durable")  # use public headers and functions of other folders, nothing else
BESIDE = {"stdlib/io": "mwlvm_io", "stdlib/durable": "mwlvm_durable"}  # libraries beside libmwlvm
PUBLIC_HEADER = re.compile(r"^mwl(_\w+)?\.h$")
PUBLIC_SYMBOL = re.compile(r"^mwl_[^_]")


def allowed(folder, other):
    return other == folder or other in MAY_USE.get(folder, "").split()


def sources():
    for top in ("vm", "assembler", "stdlib"):
        for path, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(path, name), ROOT)


def check_includes(problems):
    for file in sources():
        folder = os.path.dirname(file)
        if folder == "vm":
            continue  # the public headers
        if folder not in MAY_USE:
            problems.append(f"{file}: {folder}/ is not in MAY_USE of tests/layers.py")
            continue
        for line, text in enumerate(open(os.path.join(ROOT, file)), 1):
            found = re.match(r'\s*#\s*include\s+"([^"]+)"', text)
            if not found or PUBLIC_HEADER.match(found.group(1)):
                continue
            other = os.path.dirname(found.group(1)) or folder
            if not allowed(folder, other) or (folder in ON_PUBLIC and other != folder):
                problems.append(f"{file}:{line}: {folder}/ may not include {found.group(1)}")


def check_prototypes(problems):
    """A function of another file is declared by including its header."""
    prototype = re.compile(r"^(?!static\b|typedef\b|return\b|#)[\w][\w\s*]*\bmwl_\w+\([^;{}]*\);", re.M)
    for file in sources():
        if not file.endswith(".c"):
            continue
        text = open(os.path.join(ROOT, file)).read()
        for found in prototype.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            problems.append(f"{file}:{line}: a prototype beside its header: {found.group(0).split(';')[0]}")


def check_settings(problems):
    """What a build may set has its place in mwl_config.h."""
    setting = re.compile(r"^\s*#\s*ifndef\s+(MWL_\w+)\s*\n\s*#\s*define\s+\1[ \t]+\S", re.M)
    for file in sources():
        if os.path.basename(file) == "mwl_config.h":
            continue
        text = open(os.path.join(ROOT, file)).read()
        for found in setting.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            problems.append(f"{file}:{line}: {found.group(1)} belongs into vm/mwl_config.h")


def symbols(object_file):
    """The names that an object defines for others, and those that it wants."""
    defines, wants = set(), set()
    out = subprocess.run(["nm", "-P", object_file], text=True, capture_output=True, check=True).stdout
    for line in out.splitlines():
        name, kind = line.split()[:2]
        if kind in "TDBRVC":
            defines.add(name)
        elif kind == "U":
            wants.add(name)
    return defines, wants


def public_text():
    text = ""
    for top in ("vm", "assembler", "stdlib", "stdlib/io", "stdlib/durable"):
        for name in sorted(os.listdir(os.path.join(ROOT, top))):
            if PUBLIC_HEADER.match(name):
                text += open(os.path.join(ROOT, top, name)).read()
    return set(re.findall(r"\w+", text))


def check_objects(build, problems):
    objects = {}
    public = public_text()
    for file in sources():
        if file.endswith(".c"):
            target = BESIDE.get(os.path.dirname(file), "mwl_objects")
            path = os.path.join(build, f"CMakeFiles/{target}.dir", file + ".o")
            if target != "mwl_objects" and not os.path.exists(os.path.dirname(path)):
                continue  # left out of this build
            objects[file] = symbols(path)
    home = {name: file for file, (defines, _) in objects.items() for name in defines}
    edges = set()
    for file, (defines, wants) in objects.items():
        folder = os.path.dirname(file)
        for name in sorted(defines - public):
            if PUBLIC_SYMBOL.match(name):
                problems.append(f"{file}: {name} is in no public header")
        for name in sorted(wants & home.keys()):
            other = os.path.dirname(home[name])
            edges.add((folder, other))
            if not allowed(folder, other):
                problems.append(f"{file}: {folder}/ may not use {name} of {home[name]}")
            if folder in ON_PUBLIC and other != folder and not PUBLIC_SYMBOL.match(name):
                problems.append(f"{file}: {name} of {home[name]} is not public")
    return edges


def check_order(problems):
    """MAY_USE itself has no cycle."""
    done, open_ = set(), []

    def visit(folder):
        if folder in open_:
            problems.append("a cycle in MAY_USE: " + " -> ".join(open_ + [folder]))
        elif folder not in done:
            open_.append(folder)
            for other in MAY_USE[folder].split():
                visit(other)
            open_.pop()
            done.add(folder)

    for folder in MAY_USE:
        visit(folder)


def main(build):
    problems = []
    check_order(problems)
    check_includes(problems)
    check_prototypes(problems)
    check_settings(problems)
    edges = check_objects(build, problems)
    print("\n".join(problems + [f"{len(MAY_USE)} folders, {len(edges)} edges, {len(problems)} problems"]))
    return 1 if problems else 0


sys.exit(main(sys.argv[1]))
