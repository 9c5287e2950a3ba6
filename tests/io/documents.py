#!/usr/bin/env python3
"""documents.py MWLVM: the provider documents in stdlib/io.

Each is valid, is in the list of providers.h and the other way round, has a URI that its file's name
says, and explains its parameters, its metadata and every failure.
"""
import glob
import json
import os
import re
import subprocess
import tempfile
import unittest

from flow import MWLVM, ROOT, main

FOLDER = os.path.join(ROOT, "stdlib", "io")


def documents():
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.json"))):
        yield os.path.basename(path)[:-5], path, json.load(open(path))


def schemas(document):
    """The schemas of parameters, by phase for a middleware, and of the metadata."""
    if "parameters" in document:
        yield "parameters", document["parameters"]
    for phase, block in document.get("phases", {}).items():
        if "parameters" in block:
            yield phase, block["parameters"]
    if "metadata" in document:
        yield "metadata", document["metadata"]


def undescribed(schema, at):
    for name, member in schema.get("properties", {}).items():
        if not member.get("description"):
            yield f"{at}/{name}"
        yield from undescribed(member, f"{at}/{name}")


class Pages(unittest.TestCase):
    def test_each_is_what_the_command_makes(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([MWLVM, "providers", "--pages", folder], check=True)
            made = sorted(os.listdir(folder))
            there = [os.path.basename(p) for p in sorted(glob.glob(os.path.join(FOLDER, "*_*.md")))]
            self.assertEqual(made, there, "run: build/mwlvm providers --pages stdlib/io")
            for name in made:
                with open(os.path.join(folder, name)) as one, open(os.path.join(FOLDER, name)) as other:
                    self.assertEqual(one.read(), other.read(), "run: build/mwlvm providers --pages stdlib/io")

    def test_the_list_one_in_full_and_json(self):
        def run(*words):
            return subprocess.run([MWLVM, "providers", *words], capture_output=True, text=True)

        table = run().stdout
        for _, _, document in documents():
            self.assertIn(document["uri"], table)
        self.assertIn("mwl:provider.call/mwl/mock/v1", table)
        page = run("mwl:provider.call/mwlvm/uuid/v1").stdout
        self.assertIn("| `version` | `4`, `7`, default `4` |", page)
        self.assertIn("| `Provider.Call.Uuid.NoEntropy` | The system returned no random bits.", page)
        self.assertEqual(run("uuid").stdout, page)
        rows = json.loads(run("--json").stdout)
        self.assertEqual({row["document"]["uri"] for row in rows}, {row["uri"] for row in rows})
        self.assertEqual(run("nothing").returncode, 2)


class Documents(unittest.TestCase):
    def test_each_is_valid(self):
        for name, path, _ in documents():
            done = subprocess.run([MWLVM, "check", "--provider", path], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ""), name)

    def test_one_with_a_mistake_is_not_valid(self):
        _, _, document = next(documents())
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump({**document, "uri": "mwl:nothing"}, f)
            f.flush()
            done = subprocess.run([MWLVM, "check", "--provider", f.name], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done)

    def test_each_is_in_the_list(self):
        text = open(os.path.join(FOLDER, "providers.h")).read()
        calls, middleware = text.split("#define MWL__IO_MIDDLEWARE(X)")
        rows = {}
        for kind, part in (("call", calls), ("mw", middleware)):
            for name, uri_name in re.findall(r'\bX\((\w+), "([\w-]+)",', part):
                rows[f"{kind}_{name}"] = f"mwl:provider.{'call' if kind == 'call' else 'middleware'}/mwlvm/{uri_name}/v1"
        self.assertEqual({name: d["uri"] for name, _, d in documents()}, rows)

    def test_each_explains_its_parameters_and_metadata(self):
        for name, _, document in documents():
            for at, schema in schemas(document):
                self.assertEqual(list(undescribed(schema, at)), [], name)

    def test_each_explains_every_failure(self):
        for name, _, document in documents():
            kind = "Call" if name.startswith("call_") else "Middleware"
            prefix = f"Provider.{kind}.{document['codePrefix']}."
            closed = document["failureCatalog"]["closed"]
            self.assertEqual([c for c in closed if not c.startswith(prefix)], [], name)
            before, _, explained = document["description"].partition("\n\nFailures:\n")
            self.assertTrue(before.strip(), name)
            lines = re.findall(r"^- (\w+): (.+)$", explained, re.M)
            self.assertEqual([prefix + code for code, _ in lines], closed, name)


main()
