#!/usr/bin/env python3
"""What tools/dev, its help, CMakePresets.json, the workflow and .editorconfig say about one another; no other file names a
folder outside of the tree."""
import json
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
problems = []


def expect(good, problem):
    if not good:
        problems.append(problem)


def commands():
    """The commands, from the script's own branches; each must be in the help and the other way round."""
    script = open("tools/dev").read()
    branches = script[script.index("\ncase $command in") :]
    found = set()
    for label in re.findall(r"^    ([a-z-][a-z| -]*)\)", branches, re.M):
        found.update(word for word in label.split(" | ") if not word.startswith("-"))
    text = subprocess.run(["tools/dev", "help"], capture_output=True, text=True, check=True).stdout
    listed = set(re.findall(r"^  ([a-z]+)\b", text, re.M))
    expect(found == listed, f"tools/dev and its help differ: {sorted(found ^ listed)}")
    return found


def presets():
    """Every preset lies where tools/dev looks for it, and can be built."""
    file = json.load(open("CMakePresets.json"))
    configure = {p["name"]: p for p in file["configurePresets"]}
    visible = {name for name, p in configure.items() if not p.get("hidden")}
    build = {p["name"]: p["configurePreset"] for p in file["buildPresets"]}
    expect(visible == set(build), f"presets without a build: {sorted(visible ^ set(build))}")
    for kind in ("buildPresets", "testPresets"):
        for p in file[kind]:
            expect(p["name"] == p["configurePreset"], f"{kind}: {p['name']} has another's folder")

    def folder(name):
        p = configure[name]
        return p["binaryDir"] if "binaryDir" in p else folder(p["inherits"])

    for name in visible:
        place = folder(name).replace("${sourceDir}/", "").replace("${presetName}", name)
        wanted = "build" if name in ("dev", "command") else "build/" + name
        expect(place == wanted, f"the preset {name} lies in {place}; tools/dev looks in {wanted}")
    used = set(re.findall(r"^\s+build ([a-z]+)\b", open("tools/dev").read(), re.M))
    expect(used <= visible, f"tools/dev builds {sorted(used - visible)}, which is not a preset")


def workflow(known):
    """Each step is a command that there is, on a file that is there; actions have a pinned major version."""
    text = open(".github/workflows/ci.yml").read()
    check_yaml(text)
    matrix = re.search(r"^\s+command: \[(.*)\]$", text, re.M).group(1).split(", ")
    targets = re.search(r"^\s+target: \[(.*)\]$", text, re.M).group(1).split(", ")
    known_targets = re.search(r'^cross_targets="(.*)"$', open("tools/build/cross.sh").read(), re.M).group(1).split()
    expect(targets == known_targets, "the workflow and tools/build/cross.sh name other targets")
    lines = set()
    for line in re.findall(r"^\s+- run: (.*)$", text, re.M):
        if line == "tools/dev cross ${{ matrix.target }}":
            continue
        lines |= {line.replace("${{ matrix.command }}", command) for command in matrix}
    readme = re.findall(r"^    (tools/dev .*?)\s*(?:#.*)?$", open("README.md").read(), re.M)
    expect(len(readme) >= 2, "README.md shows no command of tools/dev")
    for line in readme:
        expect(line in lines, f"the workflow does not run README's `{line}`")
    for line in sorted(lines):
        words = line.split()
        good = words[0] == "tools/dev" and words[1] in known
        expect(good, f"`{line}` is not a command of tools/dev")
        expect(all(os.path.exists(word) for word in words[2:]), f"`{line}` names a file that is not there")
    expect({"clang", "asan", "tsan"} <= set(matrix), "the workflow leaves a compiler or a sanitizer out")
    expect(text.count("run:") == len(re.findall(r"^\s+- run: ", text, re.M)), "a run: of another form")
    for action in re.findall(r"uses: (.*)", text):
        expect(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", action), f"{action}: no major version")


def check_yaml(text):
    """Where Python has a parser of YAML: it is what a runner expects to read."""
    try:
        import yaml
    except ImportError:
        return
    parsed = yaml.safe_load(text)
    for name, job in parsed["jobs"].items():
        expect("runs-on" in job and job["steps"], f"workflow: the job {name} has no machine or no steps")
        for step in job["steps"]:
            expect(len({"run", "uses"} & set(step)) == 1, f"workflow: a step of {name} does not do one thing")


def layout():
    """.editorconfig's rules, where no formatter looks."""
    kinds = (".c", ".h", ".cpp", ".py", ".sh", ".md", ".cmake", ".txt", ".yml", ".awk", ".lua", ".mjs")
    for top in (".", ".github", "vm", "assembler", "stdlib", "tools", "bench", "tests"):
        for path, folders, names in os.walk(top):
            folders[:] = [] if top == "." else [f for f in folders if f != "__pycache__"]
            for name in names:
                if not name.endswith(kinds) and name not in ("dev", "run"):
                    continue
                file = os.path.join(path, name)
                text = open(file, encoding="utf-8", newline="").read()
                expect(text.endswith("\n"), f"{file}: the last line has no end")
                expect("\r" not in text, f"{file}: a carriage return")
                expect("\t" not in text, f"{file}: a tab")
                expect(name.endswith(".md") or not re.search(r" $", text, re.M), f"{file}: space at a line's end")
                outside = re.search(r"\.\./(?:shared|seeds)\b|(?<![\w.])/(?:work|home)/\w", text)
                expect(not outside or file in ("tools/dev", "tests/tree/dev.py"),
                       f"{file}: a folder outside of the tree; tools/dev alone names that of the test data")


presets()
workflow(commands())
layout()
print("\n".join(problems + [f"{len(problems)} problems"]))
sys.exit(1 if problems else 0)
