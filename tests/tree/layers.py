#!/usr/bin/env python3
"""layers.py BUILD: the order of the folders, from the objects and from the includes.

The table of vm/ARCHITECTURE.md has the folders, from the bottom up, and those that each may use.
"libraries" in it stands for every folder outside of tools/. Fails on an edge that the table does not have, on one that the code does not have, on a symbol of
vm/ that is not public and used by a folder with "public functions" (the stdlib folders), on a symbol
with the public prefix that no public header has, on an opcode in tools/ and on a header of vm/machine in a tool that is
not listed here, on a prototype that a source file declares instead of including its header, on a setting (#ifndef and
#define) outside of mwl_config.h, and on what the command decides in one place (ONE_PLACE) and a second file does too.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
PAGE = "vm/ARCHITECTURE.md"
# Targets beside libmwlvm; the folders of tools/ that are not here are parts of the command.
BESIDE = {"stdlib/io": "mwlvm_io", "stdlib/durable": "mwlvm_durable", "tools/build": "mwl-opdoc", "tools/playground": "mwl-play"}
NOT_HERE = ("tools/windows",)  # not built on the machine that runs this
OTHER = ("tools/examples", "tools/windows/include")  # hosts; headers in place of the system's
PUBLIC_HEADER = re.compile(r"^mwl(_\w+)?\.h$")
PUBLIC_SYMBOL = re.compile(r"^mwl_[^_]")


def used(text):
    """The folders of a cell: "vm: base, value; stdlib; assembler: -, cel" (-: that folder itself)."""
    for part in text.split(";"):
        top, _, names = part.strip().partition(":")
        for name in [name.strip() for name in names.split(",")]:
            yield top if name in ("", "-") else f"{top}/{name}"


def read_table(problems):
    """The folders and those that each may use; and the folders that may use public functions only."""
    may_use, on_public = {}, set()
    text = open(os.path.join(ROOT, PAGE)).read().partition("## The layers")[2].partition("\n## ")[0]
    for folder, cell in re.findall(r"^\| `([\w/]+)` \|[^|]*\| ([^|]+) \|$", text, re.M):
        if cell.startswith("public functions of "):
            on_public.add(folder)
        cell = cell.replace("public functions of ", "")
        may_use[folder] = [] if cell == "nothing of ours" else [name for name in used(cell) if name != "libraries"]
        problems += [f"{PAGE}: {folder} uses {other}, which is not above it" for other in may_use[folder]
                     if other == folder or other not in may_use]
    return may_use, on_public


PROBLEMS = []
MAY_USE, ON_PUBLIC = read_table(PROBLEMS)


def is_tool(folder):
    return folder.split("/")[0] == "tools"


def is_command(file):
    """A subcommand lies beside its subject, and uses what `tools` may: it stands at the top of the order."""
    return is_tool(file) and os.path.basename(file).startswith("cmd_")


def layer_of(file):
    return "tools" if is_command(file) else os.path.dirname(file)


def allowed(folder, other):
    return other == folder or other in MAY_USE.get(folder, []) or is_tool(folder) and not is_tool(other)


def target_of(folder):
    return BESIDE.get(folder, "mwlvm" if is_tool(folder) else "mwl_objects")


def sources():
    for top in ("vm", "assembler", "stdlib", "tools"):
        for path, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith((".c", ".h")) and not os.path.relpath(path, ROOT).startswith(OTHER):
                    yield os.path.relpath(os.path.join(path, name), ROOT)


def check_includes(problems):
    edges = set()
    for file in sources():
        folder = layer_of(file)
        if folder == "vm":
            continue  # the public headers
        if folder not in MAY_USE:
            problems.append(f"{file}: {folder}/ is not in the table of {PAGE}")
            continue
        for line, text in enumerate(open(os.path.join(ROOT, file)), 1):
            found = re.match(r'\s*#\s*include\s+"([^"]+)"', text)
            if not found or PUBLIC_HEADER.match(found.group(1)):
                continue
            other = os.path.dirname(found.group(1))
            if not other:
                continue  # of the build, or of another project; the test `includes` asks for the folders of ours
            edges.add((folder, other))
            if not allowed(folder, other) or (folder in ON_PUBLIC and other != folder):
                problems.append(f"{file}:{line}: {folder}/ may not include {found.group(1)}")
    return edges


# Files of tools/ that read or write records of the machine. The others read a program through vm/program/view.h, a run
# through vm/explore/look.h, and drive one through vm/explore/steer.h. The debugger shows every record of a stopped run and
# a saved run is shown as it is; --bind and scripted answers put a provider in the place of another.
ON_RECORDS = {"tools/debug/dap_look.c", "tools/debug/inspect.c", "tools/debug/journal.c", "tools/debug/machine.c",
              "tools/debug/prompt.c", "tools/show/events_open.c", "tools/show/show_value.c", "tools/host/answers.c",
              "tools/host/bind.c"}
KNOWS_OPCODES = {"tools/build/opdoc.c"}  # it prints the page of them


def check_tools(problems):
    """Tools know no opcode, and records of the machine only where they must."""
    for file in filter(lambda file: is_tool(os.path.dirname(file)), sources()):
        text = open(os.path.join(ROOT, file)).read()
        if ("MWL_OP_" in text) != (file in KNOWS_OPCODES):
            problems.append(f"{file}: it should{'' if file in KNOWS_OPCODES else ' not'} know opcodes: vm/program/view.h")
        on_records = re.search(r'^\s*#\s*include\s+"vm/machine/', text, re.M) is not None
        if on_records != (file in ON_RECORDS):
            problems.append(f"{file}: it should{'' if file in ON_RECORDS else ' not'} include a header of vm/machine: "
                            "vm/explore/look.h, steer.h")


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
            problems.append(f"{file}:{line}: {found.group(1)} belongs in vm/mwl_config.h")


# What is decided in one place of the command, and the file that has it.
ONE_PLACE = {
    r"\bmwl_vm_new\(": ("tools/session/turn.c", "a VM is made by session_vm()"),
    r"\bmwl_vm_pump\w*\(": ("tools/session/turn.c", "a VM gets its turns from tools/session/turn.h"),
    r"\bcmd_fail\(\"out of memory\"": ("tools/base/cmd.c", "cmd_no_memory() reports it, with its exit status"),
    r"\buv_default_loop\(": ("tools/session/loop.c", "the loop of the command is that of tools/session/loop.h"),
}


def check_one_place(problems):
    for file in sources():
        if not is_tool(file):
            continue
        text = open(os.path.join(ROOT, file)).read()
        for pattern, (home, why) in ONE_PLACE.items():
            found = re.search(pattern, text)
            if bool(found) != (file == home):
                problems.append(f"{file}: {found.group(0) if found else pattern}: {why}")


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
            target = target_of(layer_of(file))
            path = os.path.join(build, f"CMakeFiles/{target}.dir", file + ".o")
            if target != "mwl_objects" and not os.path.exists(path):
                continue  # left out of this build
            objects[file] = symbols(path)
    home = {name: file for file, (defines, _) in objects.items() for name in defines}
    edges = set()
    for file, (defines, wants) in objects.items():
        folder = layer_of(file)
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


def check_needed(edges, build, problems):
    """The table has no edge that nothing uses."""
    def is_built(folder):
        return folder not in NOT_HERE and os.path.isdir(f"{build}/CMakeFiles/{target_of(folder)}.dir/{folder}")

    for folder in filter(is_built, MAY_USE):
        problems += [f"{PAGE}: {folder}/ does not use {other}/" for other in filter(is_built, MAY_USE[folder])
                     if (folder, other) not in edges]


def main(build):
    problems = PROBLEMS
    edges = check_includes(problems)
    check_tools(problems)
    check_prototypes(problems)
    check_settings(problems)
    check_one_place(problems)
    edges |= check_objects(build, problems)
    check_needed(edges, build, problems)
    print("\n".join(problems + [f"{len(MAY_USE)} folders, {len(edges)} edges, {len(problems)} problems"]))
    return 1 if problems or not MAY_USE else 0


sys.exit(main(sys.argv[1]))
