#!/usr/bin/env python3
"""packaged.py CMAKE BUILD: every file that is installed is in exactly one Debian package, every pattern of
tools/build/package/debian finds a file, and the packages have the library's version and soname. `tools/dev package deb` builds
them; that takes minutes."""
import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEBIAN = ROOT / "tools/build/package/debian"
ELSEWHERE = {"share/doc/mwlvm/LICENSE", "share/doc/mwlvm/CHANGELOG.md"} # Debian has places of its own for them
problems = []


def main():
    cmake, build = sys.argv[1:]
    version = re.search(r'#define MWL_VERSION "((\d+\.\d+)\.\d+)"', (ROOT / "vm/mwl.h").read_text())
    if not (DEBIAN / "changelog").read_text().startswith(f"mwlvm ({version[1]}-"):
        problems.append(f"debian/changelog does not begin with {version[1]}")
    packages = re.findall(r"^Package: (.*)$", (DEBIAN / "control").read_text(), re.M)
    if packages != [f"libmwlvm{version[2]}", "libmwlvm-dev", "mwlvm"]:
        problems.append(f"debian/control has the packages {packages}")
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run([cmake, "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        files = {os.path.relpath(os.path.join(path, name), prefix) for path, _, names in os.walk(prefix) for name in names}
        owner = {}
        for package in packages:
            for line in (DEBIAN / f"{package}.install").read_text().splitlines():
                pattern = line.split()[0].removeprefix("usr/").replace("lib/*/", "lib*/**/", 1)
                found = [os.path.relpath(f, prefix) for f in glob.glob(os.path.join(prefix, pattern), recursive=True)]
                if not found:
                    problems.append(f"{package}.install: nothing is {line}")
                for file in files - ELSEWHERE:
                    if any(file == f or file.startswith(f + "/") for f in found):
                        if owner.setdefault(file, package) != package:
                            problems.append(f"{file} is in {owner[file]} and {package}")
        problems.extend(f"{file} is in no package" for file in sorted(files - ELSEWHERE - set(owner)))
    print("\n".join(problems))
    print(f"{len(owner)} files in {len(packages)} packages, {len(problems)} problems")
    return bool(problems)


sys.exit(main())
