#!/usr/bin/env python3
"""What tools/dev, its help and CMakePresets.json say about one another."""
import json
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
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


commands()
presets()
print("\n".join(problems + [f"{len(problems)} problems"]))
sys.exit(1 if problems else 0)
