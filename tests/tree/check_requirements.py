#!/usr/bin/env python3
"""Checks that every test named in README.md's table of requirements exists, and that every row names one or says why
not; the same of api/README.md, what hosts rely on; and that each case has its own number."""
import pathlib
import re
import sys

here = pathlib.Path(__file__).resolve().parent.parent
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
        broken.append(f"README.md:{number}: nothing holds '{cells[2]}'")
    for name in re.findall(r"`([^`]+)`", cells[3]):
        there = (here / name).exists() if "/" in name or name.endswith(".sh") else name in tests
        if not there:
            broken.append(f"README.md:{number}: there is no test '{name}'")
promises = 0
entries = (here / "../tools/build/cmake/MwlTests.cmake").read_text()
for number, line in enumerate((here / "api/README.md").read_text().splitlines(), 1):
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if not line.startswith("|") or cells[0] in ("a host relies on", "---"):
        continue
    promises += 1
    names = [name for name in re.findall(r"`([^`]+)`", cells[1]) if " " not in name]
    for name in names: # of a test, or of an entry of ctest; those of the options are made in a loop
        if name not in tests and f"NAME {name} " not in entries and not name.startswith("options_"):
            broken.append(f"api/README.md:{number}: there is no test '{name}'")
    if not names:
        broken.append(f"api/README.md:{number}: no test for '{cells[0]}'")
numbers = [f"{case.parent.name}/{case.name.split('-')[0]}" for case in here.glob("cases/*/[0-9]*")]
for name in sorted({n for n in numbers if numbers.count(n) > 1}): # vm/DECISIONS.md names cases by their numbers
    broken.append(f"cases/{name}: two cases have this number")
for line in broken:
    print(line)
print(f"{rows} requirements, {promises} promises, {len(broken)} broken")
sys.exit(1 if broken or rows < 90 or promises < 25 else 0)
