#!/usr/bin/env python3
"""pages.py: the files and functions that the pages name exist.

In every page of PAGES, a name in back quotes with a slash or a file's ending must be a file, and one
that looks like a function of ours must be defined somewhere; where its file follows, in that file.
Links must lead to a file, and to a heading that is there; in the pages of LINKED, too.
Each code of a failure in the sources has its row in tools/failure_guide.c, for `mwlvm explain`.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGES = ["vm/ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"]
LINKED = ["README.md", "tools/README.md", "tools/LANGUAGE.md", "tools/TESTING.md", "tools/SERVE.md", "tools/examples/README.md"]
ENDINGS = (".c", ".h", ".md", ".py", ".sh", ".txt", ".json", ".cmake")
FILE = re.compile(r"^[\w./-]+$")
FUNCTION = re.compile(r"^mwl_\w+$")


def listed():
    out = subprocess.run(["find", ".", "-name", "build", "-prune", "-o", "-type", "f", "-print"], cwd=ROOT,
                         text=True, capture_output=True, check=True).stdout
    names = {line[2:] for line in out.splitlines()}
    return names | {os.path.dirname(name) for name in names}


def defines(path, name):
    """Is this function, macro or type defined in the file?"""
    text = open(os.path.join(ROOT, path)).read()
    return re.search(r"^(?!\s*\*)[^\n;]*\b%s\b[^;]*[({]" % re.escape(name), text, re.M) is not None


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


def check_codes(files, problems):
    code = re.compile(r'"((?:System|Mwlvm)\.[A-Z]\w+)"')
    guide = "tools/failure_guide.c"
    explained = set(code.findall(open(os.path.join(ROOT, guide)).read()))
    made = set()
    for name in files:
        if name.startswith(("vm/", "stdlib/", "tools/")) and name.endswith((".c", ".h")) and name != guide:
            made.update(code.findall(open(os.path.join(ROOT, name)).read()))
    problems.extend(f"{guide} does not explain {c}" for c in sorted(made - explained))
    problems.extend(f"{guide} explains {c}, which nothing makes" for c in sorted(explained - made))


def main():
    files = listed()
    problems = []
    check_codes(files, problems)
    for page in PAGES:
        check_page(page, files, problems)
    for page in LINKED:
        check_links(page, files, problems)
    print("\n".join(problems + [f"{len(PAGES) + len(LINKED)} pages, {len(problems)} problems"]))
    return 1 if problems else 0


sys.exit(main())
