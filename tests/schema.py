#!/usr/bin/env python3
"""schema.py MWLVM FOLDER...: `mwlvm schema`, `mwlvm actions`, `mwlvm functions`.

The schema is valid against its meta-schema. It accepts every definition that the assembler accepts, and refuses every one
whose form the assembler refuses (codes MWL02xx), but for what a JSON Schema cannot say, which is listed here. Every
member has a description.
"""
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

try:
    import jsonschema
except ImportError:
    print("SKIP: python3-jsonschema is not installed")
    sys.exit(77)

MWLVM = os.path.abspath(sys.argv[1])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
problems = []

# What the assembler refuses by its form and a JSON Schema accepts, with the reason.
BEYOND = {
    "MWL0104": "the reader of Python keeps one of two members with the same name",
    "MWL0218": "what is a pattern of codes: characters and dots, which editors show better by the assembler's message",
}
FORM = re.compile(r"^MWL02\d\d$|^MWL0501$")
INSIDE_ARGUMENTS = "/with/"  # a call in the arguments of a Finally: only its provider's document says that it is one


def mwlvm(*words, text=None):
    return subprocess.run([MWLVM, *words], input=text, capture_output=True, text=True)


def expect(what, is_so, shown=""):
    if not is_so:
        problems.append(f"{what} {shown}")


def definitions(folders):
    for folder in folders:
        for path, dirs, names in os.walk(os.path.join(ROOT, folder)):
            dirs.sort()
            for name in sorted(names):
                file = os.path.join(path, name)
                if name.endswith(".json") and b"mwl.dev/v0.1/flow" in open(file, "rb").read(4096):
                    yield file


def check_definitions(validator):
    files = []
    for file in definitions(sys.argv[2:]):
        try:
            files.append((file, json.load(open(file))))
        except (ValueError, RecursionError):
            pass  # not JSON, or nested more deeply than Python reads
    with ThreadPoolExecutor(2) as pool: # one at a time: a list of diagnostics is cut after some hundreds
        reports = list(pool.map(lambda f: json.loads(mwlvm("check", "--format", "json", f[0]).stdout), files))
    counts = {True: 0, False: 0}
    for (file, definition), report in zip(files, reports):
        errors = [d for d in report if d["severity"] == "error"]
        form = [d for d in errors if FORM.match(d["code"]) and d["code"] not in BEYOND and
                INSIDE_ARGUMENTS not in d.get("pointer", "")]
        accepted = validator.is_valid(definition)
        if not errors:
            counts[True] += 1
            expect(f"{file}: refused", accepted, "" if accepted else best(validator, definition))
        elif form:
            counts[False] += 1
            expect(f"{file}: accepted", not accepted, [d["code"] + " " + d["message"] for d in form])
    return counts


def best(validator, definition):
    error = jsonschema.exceptions.best_match(validator.iter_errors(definition))
    return f"{list(error.absolute_path)}: {error.message[:200]}"


def check_words(schema):
    for name, part in schema["$defs"].items():
        for member, value in part.get("properties", {}).items():
            expect(f"{name}.{member} has no description", value.get("description"))
    for action in mwlvm("actions").stdout.splitlines():
        shown = mwlvm("actions", action.split()[0])
        members = schema["$defs"][action.split()[0].upper() + "_STEP"]["properties"]
        expect(action, shown.returncode == 0 and all(f"\n  {m} " in shown.stdout for m in members), shown.stdout)
    expect("actions flow", "entrypoint" in mwlvm("actions", "flow").stdout)
    wrong = mwlvm("actions", "Cal")
    expect("a wrong action", wrong.returncode == 2 and "did you mean 'Call'" in wrong.stderr, wrong)


def check_functions():
    rows = json.loads(mwlvm("functions", "--json").stdout)
    listed = mwlvm("functions").stdout
    # what diagnostics offer, and what `eval` knows, has a row: an unknown function suggests the nearest of all
    for row in rows:
        expect(f"{row['name']} is not listed", f"  {row['usage']}\n" in listed)
    names = sorted({row["name"] for row in rows})
    with ThreadPoolExecutor(2) as pool:
        shown = list(pool.map(lambda n: mwlvm("functions", n), names))
    for name, done in zip(names, shown):
        expect(f"functions {name}", done.returncode == 0 and "  =>  " in done.stdout, done.stdout + done.stderr)
    split = mwlvm("functions", "split").stdout
    expect("split", '=>  ["a", "b", "c"]' in split, split)
    wrong = mwlvm("functions", "splt")
    expect("a wrong function", wrong.returncode == 2 and "did you mean 'split'" in wrong.stderr, wrong)
    return len(names)


def main():
    schema = json.loads(mwlvm("schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    counts = check_definitions(validator)
    check_words(schema)
    functions = check_functions()
    print("\n".join(problems[:30]))
    print(f"{counts[True]} accepted, {counts[False]} refused, {functions} functions; {len(problems)} problems")
    return 1 if problems or counts[True] < 300 or counts[False] < 50 else 0


sys.exit(main())
