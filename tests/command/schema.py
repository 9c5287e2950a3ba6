#!/usr/bin/env python3
"""schema.py MWLVM FOLDER...: `mwlvm schema`, `mwlvm actions`, `mwlvm functions`, and the schema of provider documents.

The schema is valid against its meta-schema. It accepts every definition that the assembler accepts, and refuses every one
whose form the assembler refuses (codes MWL02xx), but for what a JSON Schema cannot say, which is listed here. Every
member has a description. The same of tools/provider.schema.json: the documents of stdlib/io, and each with one mistake.
"""
import copy
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

try:
    import jsonschema
except ImportError:
    print("SKIP: python3-jsonschema is not installed")
    sys.exit(77)

MWLVM = os.path.abspath(sys.argv[1])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
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


def mistakes(document):
    """The document with one mistake of form each."""
    def but(change):
        wrong = copy.deepcopy(document)
        change(wrong)
        return wrong

    kind = "middleware" if "phases" in document else "call"
    for member in document:
        if member != "metadata":
            yield f"without {member}", but(lambda d: d.pop(member))
        yield f"{member} is a number", but(lambda d: d.update({member: 7}))
    yield "another member", but(lambda d: d.update({"more": True}))
    yield "another scheme", but(lambda d: d.update({"uri": d["uri"].replace("mwl:", "http:")}))
    yield "a URI without a name", but(lambda d: d.update({"uri": f"mwl:provider.{kind}/acme"}))
    yield "another kind of provider", but(lambda d: d.update({"uri": d["uri"].replace(f"r.{kind}/", "r.flow/")}))
    yield "the other kind", but(lambda d: d.update({"uri": d["uri"].replace(
        f"r.{kind}/", "r.call/" if kind == "middleware" else "r.middleware/")}))
    yield "a small prefix", but(lambda d: d.update({"codePrefix": "small"}))
    yield "no list of open codes", but(lambda d: d["failureCatalog"].pop("open"))
    yield "a code of the engine", but(lambda d: d["failureCatalog"].update({"closed": ["System.Cancelled"]}))
    yield "an open code as a closed one", but(lambda d: d["failureCatalog"].update({"closed": ["Provider.Call.A.*"]}))
    yield "a closed code as an open one", but(lambda d: d["failureCatalog"].update({"open": ["Provider.Call.A.B"]}))
    if kind == "call":
        return
    yield "attached to nothing", but(lambda d: d.update({"attachment": []}))
    yield "attached twice", but(lambda d: d.update({"attachment": ["step", "step"]}))
    yield "attached to a call", but(lambda d: d.update({"attachment": ["call"]}))
    yield "no phase", but(lambda d: d.update({"phases": {}}))
    yield "another phase", but(lambda d: d["phases"].update({"onExit": next(iter(d["phases"].values()))}))
    yield "a phase without an action", but(lambda d: next(iter(d["phases"].values())).pop("action"))
    yield "another kind of action", but(lambda d: next(iter(d["phases"].values()))["action"].update({"kind": "none"}))


def check_documents():
    schema = json.load(open(f"{ROOT}/tools/provider.schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    cases = []
    for file in sorted(glob.glob(f"{ROOT}/stdlib/io/*.json")):
        document = json.load(open(file))
        document["uri"] = document["uri"].replace("/mwlvm/", "/acme/") # the command has these itself
        cases.append((file, "", document))
        if len(cases) == 1 or file.endswith("mw_cache.json"):
            cases += [(file, what, wrong) for what, wrong in mistakes(document)]
    with tempfile.TemporaryDirectory() as folder:
        for i, (_, _, document) in enumerate(cases):
            with open(f"{folder}/{i}.json", "w") as f:
                json.dump(document, f)
        with ThreadPoolExecutor(2) as pool:
            checked = list(pool.map(lambda i: mwlvm("check", "--provider", f"{folder}/{i}.json", f"{ROOT}/tools/examples/hello.json"),
                                    range(len(cases))))
    for (file, what, document), done in zip(cases, checked):
        expect(f"{file} {what}: the assembler", (done.returncode == 0) == (not what), done.stderr + done.stdout)
        expect(f"{file} {what}: the schema", validator.is_valid(document) == (not what),
               "" if what or validator.is_valid(document) else best(validator, document))
    return len(cases)


def main():
    schema = json.loads(mwlvm("schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    counts = check_definitions(validator)
    check_words(schema)
    functions = check_functions()
    documents = check_documents()
    print("\n".join(problems[:30]))
    print(f"{counts[True]} accepted, {counts[False]} refused, {functions} functions, {documents} provider documents; {len(problems)} problems")
    return 1 if problems or counts[True] < 300 or counts[False] < 50 else 0


sys.exit(main())
