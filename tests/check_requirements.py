#!/usr/bin/env python3
"""Checks that every test named in README.md's table of requirements exists, and that every row names one or says why
not."""
import pathlib
import re
import sys

here = pathlib.Path(__file__).resolve().parent
tests = set()
for source in [*here.glob("unit/test_*.c"), *here.glob("api/test_*.c")]:
    for suite, name in re.findall(r"UTEST(?:_F)?\((\w+),\s*(\w+)\)", source.read_text()):
        tests |= {suite, f"{suite}.{name}"}

broken = []
rows = 0
for number, line in enumerate((here / "README.md").read_text().splitlines(), 1):
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if not line.startswith("|") or len(cells) != 4 or cells[0] in ("level", "---"):
        continue
    rows += 1
    if not cells[3]:
        broken.append(f"{number}: nothing holds '{cells[2]}'")
    for name in re.findall(r"`([^`]+)`", cells[3]):
        there = (here / name).exists() if "/" in name or name.endswith(".sh") else name in tests
        if not there:
            broken.append(f"{number}: there is no test '{name}'")
for line in broken:
    print(f"README.md:{line}")
print(f"{rows} requirements, {len(broken)} broken")
sys.exit(1 if broken or rows < 90 else 0)
