#!/usr/bin/env python3
"""contents.py MAKE: what the tarball of the npm package has: the files that its package.json names, and nothing else.

The module itself is not needed: an empty one stands in for it."""
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

EXPECTED = {"package.json", "README.md", "LICENSE", "THIRD-PARTY.md", "mwlvm.mjs", "mwlvm.cjs", "mwlvm.d.ts", "mwlvm.d.cts",
            "mwlvm.wasm"}


def named(part):
    """The files that package.json names, in its entries and in `exports`."""
    if isinstance(part, dict):
        return set().union(*map(named, part.values()))
    return {part.removeprefix("./")}


def main():
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "wasm").mkdir()
        (Path(folder) / "wasm" / "mwl-play.wasm").write_bytes(b"\0asm\1\0\0\0")
        subprocess.run([sys.executable, sys.argv[1], "npm", folder], check=True, stdout=subprocess.DEVNULL)
        [tarball] = Path(folder).glob("*.tgz")
        with tarfile.open(tarball) as tar:
            members = tar.getmembers()
            texts = {m.name.removeprefix("package/"): tar.extractfile(m).read() for m in members if m.isfile()}
    assert set(texts) == EXPECTED, sorted(set(texts) ^ EXPECTED)
    assert len(members) == len(EXPECTED), "a folder, a link, or a file twice"
    assert all(m.name.startswith("package/") and m.mode == 0o644 for m in members)
    about = json.loads(texts["package.json"])
    for name in named({k: about[k] for k in ("main", "module", "types", "exports")}):
        assert name in texts, f"package.json names {name}, which is not there"
    assert not any(k in about for k in ("scripts", "dependencies", "bin")), "nothing runs when it is installed"
    for script in ("mwlvm.mjs", "mwlvm.cjs"):
        asked = re.findall(r"(?:import|require)\((\"[^\"]+\")\)|from (\"[^\"]+\")", texts[script].decode())
        for name in {(a or b).strip('"') for a, b in asked}:
            assert name.startswith("node:"), f"{script} needs {name}"


if __name__ == "__main__":
    main()
