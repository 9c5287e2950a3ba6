#!/usr/bin/env python3
"""pages.py: the files and functions that the pages name exist, and lists of files are complete.

In every page of PAGES, a name in back quotes with a slash or a file's ending must be a file, and one
that looks like a function of ours must be defined somewhere; where its file follows, in that file.
Links must lead to a file, and to a heading that is there; in the pages of LINKED, too.
A page of LISTS names every source file of its folders: `NAME.c`, `NAME`, `NAME*` or a name with a place
for a word, `test_<subject>.c`; `folder/` in it stands for all files of a folder that is not in LISTS itself.
Each code of a failure in the sources has its row in tools/words/failure_guide.c, for `mwlvm explain`.
Each code of a diagnostic has a definition in tests/diag that gets it.
vm/HOSTS.md has a row for each status and each public header, BUILDING.md one for each option of the build and each package
that building the command asks for.
"""
import fnmatch
import functools
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
PAGES = ["vm/ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "BUILDING.md", "vm/HOSTS.md", "vm/DECISIONS.md"]
LINKED = ["README.md", "SECURITY.md", "bench/README.md", "tests/README.md", "stdlib/durable/README.md", "vm/program/FORMAT.md", "tools/README.md", "tools/COMMAND.md", "tools/LANGUAGE.md", "tools/TESTING.md", "tools/SERVE.md", "tools/examples/README.md"]
# A page, and the folders whose files it lists.
LISTS = {
    "vm/README.md": ["vm/base", "vm/native", "vm/value", "vm/regex", "vm/schema", "vm/program", "vm/cel", "vm/snapshot", "vm/explore"],
    "vm/machine/state.h": ["vm/machine"],
    "assembler/README.md": ["assembler", "assembler/source", "assembler/provider", "assembler/check", "assembler/cel",
                            "assembler/schema", "assembler/lower", "assembler/emit"],
    "stdlib/README.md": ["stdlib"],
    "bench/README.md": ["bench"],
    "tests/README.md": ["tests", "tests/command", "tests/tree"],
    "tools/README.md": ["tools", "tools/base", "tools/words", "tools/host", "tools/look", "tools/show", "tools/run", "tools/build"],
}
CODE = (".c", ".h", ".py", ".sh", ".pl")
# Diagnostics that no definition alone can get: limits of the host, and two documents of one provider.
ELSEWHERE = {"MWL0108": "tests/unit/test_asm.c", "MWL0114": "tests/unit/test_asm.c", "MWL0411": "tests/command/command.sh"}
ENDINGS = (".c", ".h", ".md", ".py", ".sh", ".txt", ".json", ".cmake")
FILE = re.compile(r"^[\w./-]+$")
FUNCTION = re.compile(r"^mwl_\w+$")


def listed():
    out = subprocess.run(["find", ".", "-path", "./build", "-prune", "-o", "-type", "f", "-print"], cwd=ROOT,
                         text=True, capture_output=True, check=True).stdout
    names = {line[2:] for line in out.splitlines()}
    return names | {os.path.dirname(name) for name in names}


@functools.lru_cache(None)
def text_of(path):
    return open(os.path.join(ROOT, path)).read()


def defines(path, name):
    """Is this function, macro or type defined in the file?"""
    text = text_of(path)
    return name in text and re.search(r"^(?!\s*\*)[^\n;]*\b%s\b[^;]*[({]" % re.escape(name), text, re.M) is not None


def anchors(page):
    """The headings of a page, as GitHub names them."""
    text = re.sub(r"^```.*?^```", "", open(os.path.join(ROOT, page)).read(), flags=re.M | re.S)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.M)}


def check_links(page, files, problems):
    text = open(os.path.join(ROOT, page)).read()
    for link, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text) + re.findall(r'src="([^":]+)()"', text):
        target = os.path.normpath(os.path.join(os.path.dirname(page), link)) if link else page
        if target not in files:
            problems.append(f"{page}: no file {link}")
        elif anchor and anchor not in anchors(target):
            problems.append(f"{page}: {target} has no heading #{anchor}")


def check_page(page, files, problems):
    check_links(page, files, problems)
    text = open(os.path.join(ROOT, page)).read()
    sources = [f for f in files if f.endswith((".c", ".h"))]
    text = re.sub(r"^(    |\t).*$", "", text, flags=re.M)
    for name in re.findall(r"`([^`\n]+)`", text):
        if FILE.match(name) and ("/" in name or name.endswith(ENDINGS)) and name not in files:
            problems.append(f"{page}: no file {name}")
        elif FUNCTION.match(name) and not any(defines(f, name) for f in sources):
            problems.append(f"{page}: no function {name}")
    # `one`, `two` and `three` (`file`...) and `one` in `file`: they are in that file
    list_of_names = r"((?:`\w+`(?:,\s+|\s+and\s+)?)+)\s+(?:\(|in\s+)`([\w/]+\.[ch])`"
    for names, path in re.findall(list_of_names, text):
        for name in re.findall(r"`(\w+)`", names):
            if path in files and not defines(path, name):
                problems.append(f"{page}: {name} is not in {path}")


def names_of(page):
    """The patterns of file names on a page: in back quotes, or of a header the first word of each line of its list."""
    text = open(os.path.join(ROOT, page)).read()
    if page.endswith(".h"):
        names = set(re.findall(r"^ \*   (\w+)  ", text, re.M)) | {os.path.basename(page)}
    else:
        names = set(re.findall(r"`([^`\n]+)`", text))
    names = {re.sub(r"<\w+>", "*", name).replace(".[hc]", ".c") for name in names}
    return names | {name[:-2] for name in names if name.endswith((".c", ".h"))}


def check_lists(files, problems):
    for page, folders in LISTS.items():
        names = names_of(page)
        for file in sorted(files):
            folder, name = os.path.split(file)
            top = next((f for f in folders if folder == f or folder.startswith(f + "/")), None)
            if folder in folders and file.endswith(CODE):
                stem = os.path.splitext(name)[0]
                inside = folder.rpartition("/")[2] + "/"
                words = (name, stem, inside + name, inside + stem)
                if not any(fnmatch.fnmatchcase(word, pattern) for word in words for pattern in names):
                    problems.append(f"{page} does not list {file}")
            elif top in ("tests", "tools") and folder not in folders and file.endswith(CODE):
                below = folder[len(top) + 1 :].split("/")[0]
                if not any(pattern == below or pattern.startswith(below + "/") for pattern in names):
                    problems.append(f"{page} does not list {top}/{below}/")


def check_diagnostics(files, problems):
    rows = re.findall(r"^MWL_X\((\d+),", open(os.path.join(ROOT, "assembler/source/diag_codes.h")).read(), re.M)
    got = set()
    for name in files:
        if name.startswith("tests/diag/") and name.endswith((".json", ".expect", ".txt")):
            text = open(os.path.join(ROOT, name), errors="replace").read()
            wanted = text if name.endswith((".expect", ".txt")) else " ".join(re.findall(r'"expect: ([^"]*)"', text))
            got.update(re.findall(r"MWL\d{4}", wanted))
    for code in ("MWL%04d" % int(row) for row in rows):
        if code in ELSEWHERE and code not in open(os.path.join(ROOT, ELSEWHERE[code])).read():
            problems.append(f"{ELSEWHERE[code]} does not test {code}")
        elif code not in got and code not in ELSEWHERE:
            problems.append(f"tests/diag has no definition that gets {code}")
        elif code in got and code in ELSEWHERE:
            problems.append(f"tests/tree/pages.py: {code} has its definition; remove it from ELSEWHERE")


def check_codes(files, problems):
    code = re.compile(r'"((?:System|Mwlvm)\.[A-Z]\w+)"')
    guide = "tools/words/failure_guide.c"
    explained = set(code.findall(open(os.path.join(ROOT, guide)).read()))
    made = set()
    for name in files:
        if name.startswith(("vm/", "stdlib/", "tools/")) and name.endswith((".c", ".h")) and name != guide:
            made.update(code.findall(open(os.path.join(ROOT, name)).read()))
    problems.extend(f"{guide} does not explain {c}" for c in sorted(made - explained))
    problems.extend(f"{guide} explains {c}, which nothing makes" for c in sorted(explained - made))


def check_rows(files, problems):
    """What has a row on a page because it is in a source."""
    headers = [os.path.basename(f) for f in files if re.fullmatch(r"(vm|assembler|stdlib(/\w+)?)/mwl\w*\.h", f)]
    wanted = {
        "vm/HOSTS.md": headers + ["MWL_" + name for name in re.findall(r"^    X\((\w+), -?\d+,", text_of("vm/mwl.h"), re.M)],
        "BUILDING.md": re.findall(r"^(?:option|  set|set)\((MWL_\w+) \"", text_of("CMakeLists.txt"), re.M) +
                       re.findall(r"want_library ([a-z]\S+)", text_of("tools/dev").split("install_missing\n")[0]),
    }
    for page, words in wanted.items():
        problems.extend(f"{page} does not name {word}" for word in words if word not in text_of(page))


def main():
    files = listed()
    problems = []
    check_rows(files, problems)
    check_codes(files, problems)
    check_lists(files, problems)
    check_diagnostics(files, problems)
    for page in PAGES:
        check_page(page, files, problems)
    for page in LINKED:
        check_links(page, files, problems)
    print("\n".join(problems + [f"{len(PAGES) + len(LINKED)} pages, {len(problems)} problems"]))
    return 1 if problems else 0


sys.exit(main())
